"""Forking: what a child must be before it becomes a program, and which processes descend from us."""
import os
import pwd
import re
import resource
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36
# glibc keeps these two for itself and refuses them in sigaction(), and its posix_spawn(), which a JVM starts processes with,
# leaves them ignored in the child. Only the system call takes them.
LIBRARY_SIGNALS = (32, 33)
RT_SIGACTION = {"x86_64": 13, "aarch64": 134, "riscv64": 134, "ppc64le": 173, "s390x": 174}
KERNEL_SIGSET_BYTES = 8
KILL_SCORE_STEP = 100       # in thousandths of all memory, as the kernel counts
MOST_KILL_SCORE = 1000
THREADS = 17                # of stat_fields: how many threads a process has
GPU_DEVICE = re.compile(r"/dev/(nvidia[0-9]+|nvidia-uvm|kfd)\Z")


class Settings:
    """Of this process, which a child of it gets."""

    def __init__(self):
        self.umask = os.umask(0o077)
        os.umask(self.umask)
        self.files = resource.getrlimit(resource.RLIMIT_NOFILE)


class Origin(Settings):
    """What the agent changes for itself and gives back to its children. Taken once."""

    def __init__(self):
        super().__init__()
        os.umask(0o077)
        soft, hard = self.files
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536) if hard > 0 else 65536, hard))
        except (ValueError, OSError):
            pass


def raw(text):
    """The bytes of a text, whatever the locale: Python 3.6 in the C locale would refuse anything but ASCII. A byte that is not
    UTF-8 travels as a lone surrogate (surrogateescape; RawText in the gateway)."""
    return text.encode("utf-8", "surrogateescape")


def account(home_instead=None):
    """(user name, home, shell) of this process, also where passwd knows nothing of it; perhaps with a home that was chosen."""
    try:
        entry = pwd.getpwuid(os.getuid())
        name, home, shell = entry.pw_name, entry.pw_dir, entry.pw_shell
    except KeyError:
        name, home, shell = str(os.getuid()), os.environ.get("HOME", "/"), ""
    for candidate in (shell, os.environ.get("SHELL", ""), "/bin/bash", "/bin/sh"):
        if candidate and os.access(candidate, os.X_OK) and not candidate.endswith(("/nologin", "/false")):
            return name, home_instead or home or "/", candidate
    return name, home_instead or home or "/", "/bin/sh"


def become_subreaper():
    """Orphans of our children come to us, so that a release finds every process that it must end. Best effort."""
    if os.getpid() == 1:
        return True         # of a container: they come to us anyway
    import ctypes
    try:
        return ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def ignored_signals():
    """The mask of the signals that this process ignores; 0 where the system does not say."""
    try:
        with open("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(b"SigIgn:"):
                    return int(line.split()[1], 16)
    except (OSError, ValueError, IndexError):
        pass
    return 0


def restore_library_signals():
    """In what this process executes these two have their default action, as under sshd. Only on the systems in the table."""
    mask = ignored_signals()
    ignored = [number for number in LIBRARY_SIGNALS if mask >> (number - 1) & 1]
    call = RT_SIGACTION.get(os.uname().machine)
    if not ignored or call is None or sys.platform != "linux":
        return
    import ctypes               # late: it is slow to load, and an agent that a container starts does not need it
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return
    try:
        default = ctypes.create_string_buffer(64)       # a kernel_sigaction of zeros: SIG_DFL, no flags, no mask
        for number in ignored:
            ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(call), ctypes.c_long(number), default,
                                                      ctypes.c_void_p(None), ctypes.c_size_t(KERNEL_SIGSET_BYTES))
    except (OSError, AttributeError):
        pass


def close_all(keep=()):
    """Closes every descriptor above 2 that is not in `keep`."""
    keep = set(keep)
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        numbers = range(3, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65536))
    for number in numbers:
        if number > 2 and number not in keep:
            try:
                os.close(number)
            except OSError:
                pass


def fork(origin, keep):
    """Returns 0 in the child, where everything is as in a fresh process: signals, umask, no descriptor of ours but 0, 1, 2 (/dev/null,
    /dev/null, the log) and those to be kept. Nothing of the agent may be used there any more."""
    pid = os.fork()
    if pid == 0:
        plain_child(origin)
        close_all(keep)
    return pid


def plain_child(origin):
    """In a forked child: signals, mask, umask and limits as a fresh process has them. Closes nothing."""
    default_signals()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(origin.umask)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, origin.files)
    except (ValueError, OSError):
        pass
    killed_before_parent()


def default_signals():
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError, RuntimeError):
                pass


def killed_before_parent():
    """A kernel that is short of memory kills this process before the one that started it. Any
    process may raise its score."""
    try:
        with open("/proc/self/oom_score_adj", "r+") as file:
            score = int(file.read())
            file.seek(0)
            file.write(str(min(score + KILL_SCORE_STEP, MOST_KILL_SCORE)))
    except (OSError, ValueError):
        pass


def stat_fields(pid):
    """Those of /proc/PID/stat from the state on, which is field 3 of proc(5); None for a process that is gone."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def read_stat(pid):
    """(parent, session, state), or None. A zombie with living threads is no zombie: of a killed process that used a GPU the first
    thread has ended while another one still gives its memory back, for a second or longer."""
    fields = stat_fields(pid)
    if not fields:
        return None
    return int(fields[1]), int(fields[3]), b"D" if fields[0] == b"Z" and int(fields[THREADS]) > 1 else fields[0]


def started(pid):
    """When a process was started, in the kernel's ticks: with its pid it names one process; 0 for one that is gone."""
    fields = stat_fields(pid)
    return int(fields[19]) if fields else 0


def everybody():
    """The process ids of all that are visible; none without /proc."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def table():
    """pid -> (parent, session, state) of everything visible."""
    return {pid: stat for pid, stat in ((pid, read_stat(pid)) for pid in everybody()) if stat is not None}


def opened(pid):
    """What its descriptors are; nothing of another user's process."""
    folder = "/proc/%d/fd" % pid
    try:
        numbers = os.listdir(folder)
    except OSError:
        return []
    found = []
    for number in numbers:
        try:
            found.append(os.readlink(os.path.join(folder, number)))
        except OSError:         # closed meanwhile
            pass
    return found


def opens_gpu(pid):
    return any(GPU_DEVICE.match(path) for path in opened(pid))


def variables(pid):
    """The environment with which a process was executed, as NAME=value; none of another user's. Forks have their parent's."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            return file.read(1 << 20).split(b"\0")
    except OSError:
        return []


def agent_mark(pid):
    """GPUSH_AGENT of a process; None without one."""
    return next((entry for entry in variables(pid) if entry.startswith(b"GPUSH_AGENT=")), None)


def is_marked(pid):
    """Whether this living process was itself started as an agent, a loader or a relay."""
    return agent_mark(pid) == b"GPUSH_AGENT=%d" % pid


def descendants(root):
    """The living processes below `root`, without it, and without other agents and gateways and what is below those:
    as a subreaper we become the parent of what someone started from a terminal of ours, but it is not ours to end."""
    children, own = {}, agent_mark(root)
    everything = table()
    for pid, (parent, _, state) in everything.items():
        if state != b"Z":
            children.setdefault(parent, []).append(pid)
    found, todo = [], [root]
    while todo:
        for pid in children.get(todo.pop(), ()):
            if agent_mark(pid) in (None, own):
                found.append(pid)
                todo.append(pid)
    return found


def children(pid):
    """Those of all its threads; none on kernels that do not list them."""
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as file:
                found += [int(word) for word in file.read().split()]
    except (OSError, ValueError):       # it has ended
        pass
    return found


def catches(pid, number):
    """Whether a process has a handler for this signal; False for one that is gone."""
    try:
        with open("/proc/%d/status" % pid, "rb") as file:
            for line in file:
                if line.startswith(b"SigCgt:"):
                    return bool(int(line[7:], 16) >> (number - 1) & 1)
    except (OSError, ValueError):
        pass
    return False


def members(session):
    """The living processes of one process session."""
    return [pid for pid, (_, sid, state) in table().items() if sid == session and state != b"Z"]


def kill(pids, *numbers):
    for number in numbers:
        for pid in pids:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                pass
