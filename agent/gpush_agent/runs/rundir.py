"""The folder of a run, <state>/runs/<run> (docs/technical/runs.md): it holds everything about the run. The run is alive as long as
`lock` is held, over when there is exit.json, and lost when there is neither."""
import errno
import json
import os
import shutil
import signal

from ..core import processes
from ..core.filelock import is_locked, take
from ..core.wholefile import replace
from . import leftovers

MAX_RUN = 10 ** 9
EXIT_ROOM = 16384           # exit.json's space is taken at the start: a full disk must not cost the exit status
STOP_ROOM = 4096
# To a supervisor, where the disk refuses stop.json. Not INT or QUIT, which a scheduler may send to the whole job.
UNWRITTEN = {"TERM": signal.SIGRTMIN + 4, "KILL": signal.SIGRTMIN + 5}
EARLIER = 4                 # attempts of a run that was started again; each has its output
BEFORE = "before"           # the folder of the attempt before, inside that of the next one
ASIDE = ".aside"
CLAIMS = "claims"           # locked while a run claims: until it has its own lock, it looks like one that is lost
CLAIM_SECONDS = 20.0
PROGRAM, NOTEBOOK = KINDS = ("program", "notebook")
LOST = {"exit": None, "signal": None, "first": None, "stopped": False, "lost": True}
SWEEPS = 5                  # what is killed may have forked meanwhile


def folder_of(state, run):
    """None where there cannot be one."""
    if not state or isinstance(run, bool) or not isinstance(run, int) or not 0 < run <= MAX_RUN:
        return None
    return os.path.join(state, "runs", str(run))


def attempt_of(folder, before):
    """The folder of an earlier attempt; 1 is the one before this one."""
    return os.path.join(folder, *[BEFORE] * before)


def earlier(folder):
    """How many attempts before the present one are kept."""
    count = 0
    while count < EARLIER and os.path.isdir(attempt_of(folder, count + 1)):
        count += 1
    return count


def set_aside(folder):
    """Makes room for the next attempt; `adopt` or `forget` must follow."""
    shutil.rmtree(folder + ASIDE, ignore_errors=True)
    os.rename(folder, folder + ASIDE)


def adopt(folder):
    """The new folder gets the attempt that was set aside, and the oldest one goes."""
    os.rename(folder + ASIDE, attempt_of(folder, 1))
    shutil.rmtree(attempt_of(folder, EARLIER + 1), ignore_errors=True)


def forget(folder):
    """Removes the last attempt, which never began on all nodes: the one before is the run again."""
    if os.path.isdir(attempt_of(folder, 1)):
        os.rename(attempt_of(folder, 1), folder + ASIDE)
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder + ASIDE):
        os.rename(folder + ASIDE, folder)


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


def programs(state):
    """The runs of these that keep their node by being there. A notebook waits for its user most of the time, so what it uses is
    looked at as for everything that people have open."""
    return [run for run in alive(state) if not is_notebook(folder_of(state, run))]


def notebooks(state):
    """The supervisors of those that do not."""
    locks = [read(folder_of(state, run), "lock") for run in alive(state)] if state else []
    return [lock["pid"] for lock in locks if lock.get("kind") == NOTEBOOK and isinstance(lock.get("pid"), int)]


def is_notebook(folder):
    return read(folder, "lock").get("kind") == NOTEBOOK


def is_alive(folder):
    """Whether a supervisor holds the lock."""
    return is_locked(os.path.join(folder, "lock"))


def has_ended(folder):
    return os.path.exists(os.path.join(folder, "exit.json"))


def result(folder):
    """How a run that is over ended; {} when that is not known: then it is lost."""
    return read(folder, "exit.json") or read(folder, "lock").get("ended") or {}


def is_over(folder):
    """Whether nothing more will be written."""
    return has_ended(folder) or not is_alive(folder)


def claiming(state):
    """A descriptor that is the right to claim, or to call a run lost; None when another process has it for too long."""
    return take(os.path.join(state, CLAIMS), CLAIM_SECONDS)


def read(folder, name):
    """The object in one of the folder's files; {} when there is none that can be read."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            value = json.loads(file.read().decode("utf-8", "replace"))
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}


def write(folder, name, value):
    replace(os.path.join(folder, name), json.dumps(value))


def reserve(folder):
    """Room for what a full disk must not cost: the exit status, and a request to stop."""
    for name, size in (("exit.json", EXIT_ROOM), ("stop.json", STOP_ROOM)):
        with open(os.path.join(folder, name + ".new"), "w") as file:
            file.write(" " * size)


def write_exit(folder, value):
    """If the folder was removed, nothing is written."""
    try:
        write_reserved(folder, "exit.json", value, EXIT_ROOM)
    except FileNotFoundError:
        pass


def write_stop(folder, value):
    """Whole if there is room; else into what was reserved, or over the one before, which then lies there."""
    try:
        write(folder, "stop.json", value)
    except OSError:
        has_room = os.path.exists(os.path.join(folder, "stop.json.new"))
        write_reserved(folder, "stop.json", value, STOP_ROOM, ".new" if has_room else "")


def write_reserved(folder, name, value, room, at=".new"):
    """Blanks at the end are JSON, too."""
    path = os.path.join(folder, name)
    data = json.dumps(value).encode().ljust(room)
    fd = os.open(path + at, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.pwrite(fd, data, 0) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(fd)
    os.rename(path + at, path)


def clean_lost(state):
    """Supervisors that were killed: what they left is ended and removed. Their ranks were killed with them by the kernel;
    what those had started is found by a variable in its environment. Returns the folders in which that could not be written down,
    as on a full disk: next time."""
    if not lost(state):
        return []
    claims = claiming(state)
    if claims is None:
        return []               # next time
    try:
        return end_lost(state)
    finally:
        os.close(claims)


def lost(state):
    folders = [folder_of(state, run) for run in numbers(state)]
    return [folder for folder in folders if not is_alive(folder) and not has_ended(folder)]


def end_lost(state):
    refused = []
    for folder in lost(state):
        lock = read(folder, "lock")
        pids = set(lock.get("ranks", ()))
        if not lock.get("mark") or sweep(lock["mark"], pids):
            if lock.get("tmp"):
                shutil.rmtree(lock["tmp"], ignore_errors=True)
            leftovers.clean_shared_memory({}, set(), pids)
            try:
                write_exit(folder, lock.get("ended") or LOST)
            except OSError:
                if lock.get("mark"):        # else the lock could not be read, or the run never began
                    refused.append(folder)
    return refused


def sweep(mark, pids):
    """Kills all that have the mark in their environment, and adds them to the process ids; whether none is left."""
    for _ in range(SWEEPS):
        found = marked(mark)
        if not found:
            return True
        pids.update(found)
        processes.kill(found, signal.SIGKILL)
    return False


def marked(mark):
    wanted = ("GPUSH_MARK=%s" % mark).encode()
    return [pid for pid, (_, _, state) in processes.table().items() if state != b"Z" and wanted in processes.variables(pid)]


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
            shutil.rmtree(folder, ignore_errors=True)


def folder_size(folder):
    """Of its files: journal and logs of NCCL, also of earlier attempts."""
    size = 0
    for before in range(earlier(folder) + 1):
        attempt = attempt_of(folder, before)
        try:
            size += sum(file_size(os.path.join(attempt, name)) for name in os.listdir(attempt))
        except OSError:         # removed meanwhile
            pass
    return size


def file_size(path):
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
