"""Whether processes of the session use the processor or a GPU; which editors are among them; which terminals they have.
Taken from /proc every half minute, in a worker, and only while nothing else keeps the node. Usage compares two samples, and is
pure."""
import os

from ..core import processes
from ..core.worker import Worker
from ..runs import rundir
from ..streams import terminal
from ..streams.traffic import TERMINAL

SAMPLE_SECONDS = 30.0       # at most a quarter of the idle time
SHORTEST = 0.25
# Of one core, by all processes of the session together (decision 0062): servers and kernels that wait use a few hundredths, what
# computes uses 1.
CPU_SHARE = 0.25
# Or of one core by one process, with the time in which it was ready and had to wait for others: on a full machine what computes
# gets less, but wants all. What only wakes up now and then waits, too, but computes almost nothing.
WANTED_SHARE, LEAST_SHARE = 0.75, 0.02
MOST_THREADS = 256
GPU_PERCENT = 10            # a display that is drawn by the same GPU stays below it
GPU_SECONDS = 20.0          # it takes seconds where the driver sleeps
READ_SECONDS = 20.0
LONGEST_NAME = 48
LONGEST_COMMAND = 4096
LONGEST_WORD = 200
MOST_WORDS = 6              # of a command line: programs and scripts are among the first
MOST_GPUS = 64
MOST_CLIENTS = 4
PTS_MAJOR = 136
# What the servers of editors and notebooks have in their command lines.
EDITORS = (("/.vscode-server", "VS Code"), ("/.cursor-server", "Cursor"), ("/.windsurf-server", "Windsurf"),
           ("/.vscodium-server", "VSCodium"), ("/code-server", "code-server"), ("zed-remote-server", "Zed"), ("/.zed_server", "Zed"),
           ("remote-dev-server", "JetBrains"), ("/JetBrains/", "JetBrains"), ("jupyter-lab", "Jupyter"), ("jupyterlab", "Jupyter"),
           ("jupyter-notebook", "Jupyter"), ("jupyter_server", "Jupyter"), ("jupyter-server", "Jupyter"))


class Process:
    """One process at one moment: its own seconds of processor time, those with its children that have ended, and the seconds for
    which its threads have waited for a processor."""

    def __init__(self, pid, start, own, total, words=(), waited=0.0):
        self.pid, self.start, self.own, self.total, self.words, self.waited = pid, start, own, total, words, waited


class Usage:
    def __init__(self, clock, read, gpu):
        """`read(answer)` calls `answer(processes of the session, seconds of those that have ended)`, or answer(None, 0) if it
        cannot; `gpu(processes, answer)` calls `answer(process or None)` with one that uses a GPU."""
        self.clock, self.read, self.gpu = clock, read, gpu
        self.before = None          # (when, {(pid, start): Process}, seconds of all)
        self.why = None
        self.processes = []
        self.ahead = clock()        # when the next sample is due
        self.rounds = 0             # an answer counts only if nothing else has kept the node since the question
        self.waiting = False        # for the answer of this round

    def using(self):
        """What uses the node now, in words, or None."""
        return self.why

    def look(self, interval, quiet):
        """Takes a sample if it is time. `quiet`: nothing else keeps the node."""
        now = self.clock()
        if not quiet:
            self.rounds += 1
            self.before, self.why, self.waiting = None, None, False
            self.ahead = now + interval
        elif now >= self.ahead:
            self.ahead = now + interval
            if not self.waiting:
                self.rounds += 1
                self.waiting = True
                number = self.rounds
                self.read(lambda found, ended: self.compare(number, now, found, ended))

    def compare(self, number, now, processes, ended):
        if number != self.rounds:
            return
        self.waiting = False
        if processes is None:
            return
        self.processes = processes
        found = {(process.pid, process.start): process for process in processes}
        seconds = ended + sum(process.total for process in processes)
        before, self.before = self.before, (now, found, seconds)
        if before is None or now <= before[0]:
            return
        if seconds - before[2] >= CPU_SHARE * (now - before[0]):
            self.why = "%s uses CPU" % name_of(self.busiest(before[1]))
            return
        starved = self.starved(before[1], now - before[0])
        if starved is not None:
            self.why = "%s waits for CPU" % name_of(starved)
            return
        self.waiting = True
        self.gpu(processes, lambda process: self.judged(number, process))

    def judged(self, number, process):
        if number == self.rounds:
            self.waiting = False
            self.why = None if process is None else "%s uses a GPU" % name_of(process)

    def starved(self, before, seconds):
        """A process that computed or was ready to for almost all of these seconds, or None."""
        for process in self.processes:
            known = before.get((process.pid, process.start))
            if known is not None:
                own = process.own - known.own
                if own >= LEAST_SHARE * seconds and own + process.waited - known.waited >= WANTED_SHARE * seconds:
                    return process
        return None

    def busiest(self, before):
        """The process that used most since then; one whose children have ended counts for them, if they did more."""
        def spent(process, of):
            known = before.get((process.pid, process.start))
            return of(process) - (of(known) if known is not None else 0.0)
        if not self.processes:
            return None
        first = max(self.processes, key=lambda process: spent(process, lambda one: one.own))
        second = max(self.processes, key=lambda process: spent(process, lambda one: one.total))
        return first if spent(first, lambda one: one.own) * 2 >= spent(second, lambda one: one.total) else second


class Sampling:
    """Usage of a node's agent. What may take long is done in workers."""

    def __init__(self, agent):
        self.agent = agent
        self.usage = Usage(agent.loop.clock, self.read, self.gpu)
        self.editors = []
        self.left = None            # processes of an agent of this node that was killed; looked for once
        self.working = set()        # which workers have not answered
        self.late = {}              # purpose → a worker that did not answer in time: what it waits for may not even end by KILL

    def look(self):
        lease = self.agent.lease
        if not lease.claimed or lease.idle is None or self.agent.ending:
            return
        interval = max(SHORTEST, min(SAMPLE_SECONDS, lease.idle / 4.0))
        quiet = not lease.in_runs and self.agent.loop.clock() >= lease.touched + interval
        self.usage.look(interval, quiet)

    def next(self):
        lease = self.agent.lease
        if not lease.claimed or lease.idle is None:
            return None
        return max(0.0, self.usage.ahead - self.agent.loop.clock())

    def work(self, what, function, answer, seconds):
        """One worker at a time for each purpose; `answer(None)` when it fails."""
        if what in self.working or what in self.late and self.late[what].left():
            answer(None)
            return
        self.late.pop(what, None)

        def answered(result, refused):
            self.working.discard(what)
            if refused is not None and refused.code == "timeout":
                self.late[what] = worker
            answer(None if refused is not None else result)
        self.working.add(what)
        worker = Worker(self.agent.loop, self.agent.origin, function, answered, seconds)

    def read(self, answer):
        root, mark, left, state = os.getpid(), self.agent.mark, self.left, self.agent.state

        def answered(value):
            if value is None:
                answer(None, 0.0)
                return
            self.left = value["left"]
            found = [Process(*fields) for fields in value["processes"]]
            self.editors = editors_among(found)
            answer(found, value["ended"])
            self.agent.watch_lease()
        self.work("processes", lambda: sample(root, mark, left, state), answered, READ_SECONDS)

    def gpu(self, found, answer):
        pids, devices = [process.pid for process in found], own_gpus(self.agent)

        def answered(users):
            answer(max((process for process in found if process.pid in (users or ())), key=lambda process: process.own,
                       default=None))
        if os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/kfd"):
            self.work("gpu", lambda: gpu_users(pids, devices), answered, GPU_SECONDS)
        else:
            answer(None)

    def clients(self):
        """Who is connected: editors by their servers on this node, others by what their stream says."""
        owners = [stream.owner for stream in self.agent.link.streams.values()]
        names = {owner.client for owner in owners if getattr(owner, "client", None)}
        if names - {TERMINAL} and self.editors:
            names = (names & {TERMINAL}) | set(self.editors)
        return sorted(names)[:MOST_CLIENTS]

    def write_line(self, text, apart_from):
        """Into all terminals in which processes of the session run: also those that editors and tmux have made."""
        roots, state = [os.getpid()] + (self.left or []), self.agent.state
        self.work("terminals", lambda: write_lines(roots + rundir.notebooks(state), text, apart_from), lambda result: None, READ_SECONDS)


# ---- in workers

def sample(root, mark, left, state):
    """Of notebooks, too: their supervisors are children of the agent that started them, and of no other."""
    if left is None:
        below = set(descendants([root]))
        left = [pid for pid in rundir.marked(mark) if pid not in below and pid != os.getpid() and processes.agent_mark(pid) is None]
    own = read_stat(root)
    found = []
    for pid in descendants([root] + left + [pid for pid in rundir.notebooks(state) if pid not in left]):
        stat = read_stat(pid)
        if stat is not None and pid != os.getpid():
            found.append([pid, stat["start"], stat["own"], stat["total"], words_of(pid), waited(pid)])
    return {"processes": found, "ended": own["total"] - own["own"] if own is not None else 0.0, "left": left}


def descendants(roots):
    """As processes.descendants, for several roots, which are in it but for the first. Where the kernel lists the children of a
    process, only those of ours are read: a large machine has thousands of processes."""
    if not os.path.exists("/proc/self/task/%d/children" % os.getpid()):
        return [pid for root in roots for pid in processes.descendants(root)] + roots[1:]
    own, found, todo = processes.agent_mark(roots[0]), list(roots[1:]), list(roots)
    while todo:
        for pid in processes.children(todo.pop()):
            if pid not in found and processes.agent_mark(pid) in (None, own):
                found.append(pid)
                todo.append(pid)
    return found


def read_stat(pid):
    """None for one that is gone."""
    fields = processes.stat_fields(pid)
    if not fields:
        return None
    ticks = float(os.sysconf("SC_CLK_TCK"))
    own = (int(fields[11]) + int(fields[12])) / ticks
    return {"start": int(fields[19]), "own": own, "total": own + (int(fields[13]) + int(fields[14])) / ticks, "tty": int(fields[4])}


def waited(pid):
    """Seconds for which its threads were ready and had no processor; 0 where the kernel does not count them."""
    nanoseconds = 0
    try:
        for task in os.listdir("/proc/%d/task" % pid)[:MOST_THREADS]:
            with open("/proc/%d/task/%s/schedstat" % (pid, task)) as file:
                nanoseconds += int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        pass
    return nanoseconds / 1e9


def words_of(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            words = file.read(LONGEST_COMMAND).decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return []
    return [word[:LONGEST_WORD] for word in words[:MOST_WORDS]]


def write_lines(roots, text, apart_from):
    paths = []
    for pid in descendants(roots):
        stat = read_stat(pid)
        path = terminal_path(stat["tty"]) if stat is not None else None
        if path is not None and path not in paths and path not in apart_from:
            paths.append(path)
    for path in paths:
        try:
            terminal.write_line(path, text)
        except OSError:
            pass            # closed, or its reader does not read
    return len(paths)


def gpu_users(pids, devices):
    """Those that have a GPU open, if our GPUs are at work."""
    users = [pid for pid in pids if processes.opens_gpu(pid)]
    percent = gpu_percent(devices) if users else None
    return users if percent is not None and percent >= GPU_PERCENT else []


# ---- names

def own_gpus(agent):
    """By number or UUID, from the scheduler's variable or from the locks that are held; None where neither names GPUs."""
    if agent.devices is not None:
        return agent.devices
    labels = [str(lock.get("label", "")) for lock in agent.config.get("locks") or []]
    return [label[4:] for label in labels if label.startswith("gpu ")] or None


def name_of(process):
    return short_name(process.words) if process is not None else "a process"


def short_name(words):
    """"python train.py": the program, and the script or module that it was given."""
    program = os.path.basename(words[0].split(" ")[0]) if words else ""
    if any("ipykernel" in word for word in words[1:4]):
        return "a notebook's kernel"
    script = ""
    for index, word in enumerate(words[1:], 1):
        if word == "-m" and index + 1 < len(words):
            script = "-m " + words[index + 1]
            break
        if word in ("-c", "-e"):
            break
        if not word.startswith("-"):
            script = os.path.basename(word.rstrip("/"))
            break
    text = ((program or "a process") + " " + script).strip()
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:LONGEST_NAME]


def editors_among(found):
    names = []
    for process in found:
        line = " ".join(process.words)
        names += [name for sign, name in EDITORS if sign in line and name not in names]
    return names


def terminal_path(number):
    """Of a stat's tty_nr: a pseudo terminal of this user, or None."""
    major, minor = number >> 8 & 0xfff, number & 0xff | number >> 12 & 0xfff00
    if major != PTS_MAJOR:
        return None
    path = "/dev/pts/%d" % minor
    try:
        return path if os.stat(path).st_uid == os.getuid() else None
    except OSError:
        return None


def gpu_percent(devices):
    """The busiest of this node's GPUs, or None where it is not known. `devices` names ours by number or UUID, None: all."""
    from ..fabric.reader import Reader      # late: most nodes need none of this
    from ..samples.sampler import Gpus
    slots = [str(number) for number in range(MOST_GPUS)] if devices is None else devices
    return max((gpu["util"] for gpu in Gpus(slots, Reader()).sample() if gpu.get("util") is not None), default=None)
