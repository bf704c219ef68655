"""What a host has, who holds it and who else uses it: one JSON line. Takes nothing and changes nothing.

argv: folder of the locks, scratch folder or "", how many nodes without GPUs it is good for
"""
import fcntl
import json
import os
import pwd
import socket
import subprocess
import sys
import threading

SECONDS = 15            # a driver that wakes its GPUs takes seconds; one that takes longer hangs
MOST_LABEL = 4096
MOST_LINES = 4096

locks, scratch, cpu_nodes = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def said(command, into, key):
    """In a thread: the rows of a program's CSV; None when it is not installed, text when it fails."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        into[key] = None
        return
    try:
        output = process.communicate(timeout=SECONDS)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        into[key] = "no answer within %d s" % SECONDS
        return
    if process.returncode != 0:
        into[key] = "exit status %d" % process.returncode
        return
    into[key] = [[part.strip() for part in line.split(",")] for line in output.splitlines()[:MOST_LINES] if line.strip()]


def gpus(found):
    """[{"index", "uuid", "name"}], and what is wrong with the driver."""
    rows = found.get("gpus")
    if isinstance(rows, str):
        return [], "nvidia-smi: " + rows
    if rows is None:
        return [], ""
    return [{"index": row[0], "uuid": row[1], "name": row[2]} for row in rows if len(row) >= 3], ""


def owner(pid):
    try:
        return pwd.getpwuid(os.stat("/proc/%d" % pid).st_uid).pw_name
    except (OSError, KeyError):
        return ""


def apps(found):
    rows = found.get("apps")
    if not isinstance(rows, list):
        return []
    return [{"uuid": row[0], "pid": int(row[1]), "name": row[2], "user": owner(int(row[1]))}
            for row in rows if len(row) >= 3 and row[1].isdigit()]


def age(pid):
    """Seconds since a process began, on this host's own clock."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            ticks = int(file.read().rsplit(")", 1)[1].split()[19])
        with open("/proc/uptime") as file:
            return max(0, int(float(file.read().split()[0]) - ticks / float(os.sysconf("SC_CLK_TCK"))))
    except (OSError, ValueError, IndexError):
        return None


def held():
    """By the name of the lock: the label of whoever holds it, and for how long."""
    result = {}
    try:
        names = os.listdir(locks)
    except OSError:
        return result
    for name in names[:MOST_LINES]:
        try:
            # Without O_CREAT: the kernel refuses it on other users' files in a sticky folder (fs.protected_regular).
            # O_NONBLOCK: whatever another user put there, such as a pipe, must not make us wait.
            lock = os.open(os.path.join(locks, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError as error:
            result[name] = {"label": {"name": "unusable lock file (%s)" % error.strerror}, "age": None}
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            result[name] = signed(os.read(lock, MOST_LABEL))
        os.close(lock)
    return result


def signed(text):
    try:
        label = json.loads(text.decode("utf-8", "replace"))
    except ValueError:
        label = {}
    if not isinstance(label, dict):
        label = {}
    pid = label.get("pid")
    return {"label": label, "age": age(pid) if isinstance(pid, int) and pid > 0 else None}


def base():
    """Where workspaces go, as a path that every process there understands."""
    path = os.path.expanduser(os.path.expandvars(scratch)) if scratch else os.path.join(os.path.expanduser("~"), "gpush")
    return os.path.abspath(path)


found = {}
threads = [
    threading.Thread(target=said, args=(
        ["nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"], found, "gpus")),
    threading.Thread(target=said, args=(
        ["nvidia-smi", "--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv,noheader"], found, "apps"))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
cards, problem = gpus(found)
os.environ.setdefault("USER", pwd.getpwuid(os.getuid()).pw_name)
print(json.dumps({
    "system": os.uname().sysname,
    "host": socket.gethostname(),
    # Where sshd took our connection: the network that this host shares with whoever reaches it.
    "address": (os.environ.get("SSH_CONNECTION", "").split() + ["", "", ""])[2],
    "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    "base": base(), "gpus": cards, "problem": problem, "apps": apps(found), "held": held(), "cpu_nodes": cpu_nodes}))
