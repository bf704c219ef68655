"""The folder of a run, <state>/runs/<run> (docs/technical/runs.md): it holds everything about the run. The run is alive as long as
`lock` is held, over when there is exit.json, and lost when there is neither."""
import json
import os
import signal

from ..core import processes
from ..core.filelock import is_locked
from . import journal

MAX_RUN = 10 ** 9
EXIT_ROOM = 16384           # exit.json's space is taken at the start: a full disk must not cost the exit status
SWEEPS = 5                  # what is killed may have forked meanwhile


def folder_of(state, run):
    """None where there cannot be one."""
    if not state or isinstance(run, bool) or not isinstance(run, int) or not 0 < run <= MAX_RUN:
        return None
    return os.path.join(state, "runs", str(run))


def numbers(state):
    """The runs that there are, in order."""
    try:
        names = os.listdir(os.path.join(state, "runs"))
    except OSError:
        return []
    return sorted(int(name) for name in names if name.isdigit())


def alive(state):
    """The runs whose supervisor holds its lock, in order."""
    return [run for run in numbers(state) if is_alive(os.path.join(state, "runs", str(run)))]


def is_alive(folder):
    """Whether a supervisor holds the lock."""
    return is_locked(os.path.join(folder, "lock"))


def has_ended(folder):
    return os.path.exists(os.path.join(folder, "exit.json"))


def is_over(folder):
    """Whether nothing more will be written."""
    return has_ended(folder) or not is_alive(folder)


def read(folder, name):
    """The object in one of the folder's files; {} when there is none that can be read."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            value = json.loads(file.read().decode("utf-8", "replace"))
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}


def write(folder, name, value):
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as file:
        json.dump(value, file)
    os.rename(path + ".new", path)


def reserve_exit(folder):
    with open(os.path.join(folder, "exit.json.new"), "w") as file:
        file.write(" " * EXIT_ROOM)


def write_exit(folder, value):
    """Into the room that was reserved; blanks at the end are JSON, too. If the folder was removed, nothing is written."""
    path = os.path.join(folder, "exit.json")
    try:
        fd = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(fd, json.dumps(value).encode(), 0)
        finally:
            os.close(fd)
        os.rename(path + ".new", path)
    except FileNotFoundError:
        pass


def clean_lost(state):
    """Supervisors that were killed: what they left is ended and removed. Their ranks were killed with them by the kernel;
    what those had started is found by a variable in its environment."""
    for run in numbers(state):
        folder = folder_of(state, run)
        if not is_over(folder) or has_ended(folder):
            continue
        lock = read(folder, "lock")
        if not lock.get("mark") or sweep(lock["mark"]):
            if lock.get("tmp"):
                import shutil
                shutil.rmtree(lock["tmp"], ignore_errors=True)
            try:
                write_exit(folder, {"exit": None, "signal": None, "first": None, "stopped": False, "lost": True})
            except OSError:     # a full disk: next time
                pass


def sweep(mark):
    """Kills all that have the mark in their environment; whether none is left."""
    for _ in range(SWEEPS):
        found = marked(mark)
        if not found:
            return True
        processes.kill(found, signal.SIGKILL)
    return False


def marked(mark):
    wanted = ("GPUSH_MARK=%s" % mark).encode()
    found = []
    for pid, (_, _, state) in processes.table().items():
        try:
            with open("/proc/%d/environ" % pid, "rb") as file:
                if state != b"Z" and wanted in file.read(1 << 20).split(b"\0"):
                    found.append(pid)
        except OSError:         # gone, or another user's
            pass
    return found


def prune(state, runs, size):
    """Removes the oldest ended runs, until both limits hold: their number, and the bytes of their output and logs."""
    kept = total = 0
    for run in reversed(numbers(state)):
        folder = folder_of(state, run)
        if not has_ended(folder) or is_alive(folder):
            continue
        kept += 1
        total += folder_size(folder)
        if kept > runs or (total > size and kept > 1):
            import shutil
            shutil.rmtree(folder, ignore_errors=True)


def folder_size(folder):
    """Of its files: journal and logs of NCCL."""
    try:
        return sum(file_size(os.path.join(folder, name)) for name in os.listdir(folder))
    except OSError:             # removed meanwhile
        return 0


def file_size(path):
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
