"""What a host has, who holds it and who else uses it: one JSON line. Takes nothing and changes nothing.

argv: folder of the locks, scratch folder or "", how many nodes without GPUs it is good for
"""
import fcntl
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import time

SECONDS = 15            # a driver that wakes its GPUs takes seconds; one that takes longer hangs
MOST_LABEL = 4096
MOST_LINES = 4096

locks, scratch, cpu_nodes = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def start(command):
    """A program whose output is read later; None when it is not installed. It ends by itself if we are killed."""
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                preexec_fn=lambda: signal.alarm(SECONDS + 5))
    except OSError:
        return None


def rows(process, deadline):
    """The rows of its CSV, and what is wrong with it."""
    if process is None:
        return [], ""
    try:
        output = process.communicate(timeout=max(0.0, deadline - time.monotonic()))[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        return [], "no answer within %d s" % SECONDS
    if process.returncode != 0:
        return [], "exit status %d" % process.returncode
    return [[part.strip() for part in line.split(",")] for line in output.splitlines()[:MOST_LINES] if line.strip()], ""


def nvidia(process, deadline):
    found, problem = rows(process, deadline)
    return [{"index": row[0], "uuid": row[1], "name": row[2]} for row in found if len(row) >= 3], problem


def amd():
    """rocm-smi is slow, and is asked only where nvidia-smi names no GPU. Its rows are `card0,0x1a2b`."""
    found, problem = rows(start(["rocm-smi", "--showuniqueid", "--csv"]), time.monotonic() + SECONDS)
    return [{"index": row[0][4:], "uuid": row[1], "name": "AMD"}
            for row in found if len(row) >= 2 and row[0].startswith("card")], problem


def gpus(process, deadline):
    cards, problem = nvidia(process, deadline)
    if problem:
        return cards, "nvidia-smi: " + problem
    if cards:
        return cards, ""
    cards, problem = amd()
    return cards, problem and "rocm-smi: " + problem


def user_name(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def app(uuid, pid, name):
    """A process of another container is not seen here, and so has no user."""
    try:
        uid = os.stat("/proc/%d" % pid).st_uid
    except OSError:
        return {"uuid": uuid, "pid": pid, "name": name, "user": "", "own": False}
    return {"uuid": uuid, "pid": pid, "name": name, "user": user_name(uid), "own": uid == os.getuid()}


def apps(process, deadline):
    found, _ = rows(process, deadline)
    return [app(row[0], int(row[1]), row[2]) for row in found if len(row) >= 3 and row[1].isdigit()]


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


asked = start(["nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"])
asked_apps = start(["nvidia-smi", "--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv,noheader"])
deadline = time.monotonic() + SECONDS
cards, problem = gpus(asked, deadline)
os.environ.setdefault("USER", user_name(os.getuid()))
print(json.dumps({
    "system": os.uname().sysname,
    "host": socket.gethostname(),
    # Where sshd took our connection: the network that this host shares with whoever reaches it.
    "address": (os.environ.get("SSH_CONNECTION", "").split() + ["", "", ""])[2],
    "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    "base": base(), "gpus": cards, "problem": problem, "apps": apps(asked_apps, deadline), "held": held(), "cpu_nodes": cpu_nodes}))
