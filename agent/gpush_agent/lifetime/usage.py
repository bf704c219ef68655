"""Whether processes of the session use the processor or a GPU; which editors are among them; which terminals they have.
Taken from /proc every half minute, and only while nothing else keeps the node: who types or runs is not slowed down by it.
Usage judges two samples, and is pure; the functions below it read them."""
import glob
import os
import re

from ..core import processes
from ..core.worker import Worker
from ..runs import rundir
from ..streams.traffic import TERMINAL

SAMPLE_SECONDS = 30.0       # at most a quarter of the idle time
SHORTEST = 0.25
# Of one core, by all processes of the session together. Measured or known: servers of editors, language servers and kernels that
# wait use 0.02 to 0.1; what computes uses 1, and what only feeds a GPU more than 0.5.
CPU_SHARE = 0.25
GPU_PERCENT = 10            # a display that is drawn by the same GPU stays below it
GPU_SECONDS = 20.0          # nvidia-smi takes seconds where the driver sleeps
LONGEST_NAME = 48
MOST_GPUS = 64
MOST_CLIENTS = 4
PTS_MAJOR = 136
# What the servers of editors and notebooks have in their command lines.
EDITORS = (("/.vscode-server", "VS Code"), ("/.cursor-server", "Cursor"), ("/.windsurf-server", "Windsurf"),
           ("/.vscodium-server", "VSCodium"), ("code-server", "code-server"), ("zed-remote-server", "Zed"), ("/.zed_server", "Zed"),
           ("remote-dev-server", "JetBrains"), ("/JetBrains/", "JetBrains"), ("jupyter-lab", "Jupyter"), ("jupyterlab", "Jupyter"),
           ("jupyter-notebook", "Jupyter"), ("jupyter_server", "Jupyter"), ("jupyter-server", "Jupyter"))
GPU_DEVICE = re.compile(r"/dev/(nvidia[0-9]+|kfd)\Z")


class Process:
    """One process at one moment: its own seconds of processor time, and those with its children that have ended."""

    def __init__(self, pid, start, own, total, tty=0):
        self.pid, self.start, self.own, self.total, self.tty = pid, start, own, total, tty


class Usage:
    def __init__(self, clock, read, name, gpu):
        """`read()` gives (processes of the session, seconds of those that have ended); `name(process)` its name;
        `gpu(processes, answer)` calls `answer(process or None)` with one that uses a GPU."""
        self.clock, self.read, self.name, self.gpu = clock, read, name, gpu
        self.before = None          # (when, {(pid, start): Process}, seconds of all)
        self.why, self.seen = None, clock()
        self.processes = []
        self.ahead = clock()        # when the next sample is due
        self.rounds = 0             # a late answer about GPUs is of an earlier round

    def using(self):
        """What uses the node now, in words, or None."""
        return self.why

    def look(self, interval, quiet):
        """Takes a sample if it is time. `quiet`: nothing else keeps the node."""
        now = self.clock()
        if not quiet:
            self.before, self.why = None, None
            self.ahead = now + interval
        elif now >= self.ahead:
            self.ahead = now + interval
            self.sample(now)

    def sample(self, now):
        self.processes, ended = self.read()
        found = {(process.pid, process.start): process for process in self.processes}
        seconds = ended + sum(process.total for process in self.processes)
        before, self.before = self.before, (now, found, seconds)
        if before is None or now <= before[0]:
            return
        self.rounds += 1
        if seconds - before[2] >= CPU_SHARE * (now - before[0]):
            self.why = "%s uses CPU" % self.name(self.busiest(before[1]))
            return
        round_of_this = self.rounds
        self.gpu(self.processes, lambda process: self.judged(round_of_this, process))

    def judged(self, round_of_this, process):
        if round_of_this == self.rounds and self.before is not None:
            self.why = None if process is None else "%s uses a GPU" % self.name(process)

    def busiest(self, before):
        """The process that used most since then; one that has children that ended counts for them, if they did more."""
        def spent(process, of):
            known = before.get((process.pid, process.start))
            return of(process) - (of(known) if known is not None else 0.0)
        if not self.processes:
            return None
        first = max(self.processes, key=lambda process: spent(process, lambda one: one.own))
        second = max(self.processes, key=lambda process: spent(process, lambda one: one.total))
        if spent(first, lambda one: one.own) * 2 >= spent(second, lambda one: one.total):
            return first
        return second


class Sampling:
    """Usage of a node's agent."""

    def __init__(self, agent):
        self.agent = agent
        self.usage = Usage(agent.loop.clock, self.read, name_of, self.gpu)
        self.editors = []
        self.asking = False         # about the GPUs

    def look(self):
        lease = self.agent.lease
        if not lease.claimed or lease.idle is None or self.agent.ending:
            return
        interval = max(SHORTEST, min(SAMPLE_SECONDS, lease.idle / 4.0))
        quiet = not lease.in_runs and self.agent.loop.clock() >= lease.touched + interval
        self.usage.look(interval, quiet)

    def next(self):
        return max(0.0, self.usage.ahead - self.agent.loop.clock())

    def pids(self):
        """Of the session: below this agent, and what an agent of this node that was killed has left."""
        pids = processes.descendants(os.getpid())
        known = set(pids)
        return pids + [pid for pid in rundir.marked(self.agent.mark)
                       if pid not in known and processes.agent_mark(pid) is None]

    def read(self):
        found = [process for process in map(read_process, self.pids()) if process is not None]
        self.editors = editors_among(found)
        own = read_process(os.getpid())
        return found, own.total - own.own if own is not None else 0.0

    def gpu(self, found, answer):
        users = [process for process in found if opens_gpu(process.pid)]
        if not users:
            answer(None)
        elif not self.asking:
            self.asking = True

            def answered(percent, refused):
                self.asking = False
                known = refused is None and percent is not None and percent >= GPU_PERCENT
                answer(max(users, key=lambda process: process.own) if known else None)
            devices = own_gpus(self.agent)
            Worker(self.agent.loop, self.agent.origin, lambda: gpu_percent(devices), answered, GPU_SECONDS)

    def clients(self):
        """Who is connected: editors by their servers on this node, others by what their stream says."""
        owners = [stream.owner for stream in self.agent.link.streams.values()]
        names = {owner.client for owner in owners if getattr(owner, "client", None)}
        if names - {TERMINAL} and self.editors:
            names = (names & {TERMINAL}) | set(self.editors)
        return sorted(names)[:MOST_CLIENTS]

    def terminals(self):
        """The paths of all terminals in which a process of the session runs: also those that editors and tmux have made."""
        found = []
        for pid in self.pids():
            process = read_process(pid)
            path = terminal_path(process.tty) if process is not None else None
            if path is not None and path not in found:
                found.append(path)
        return found


# ---- reading

def own_gpus(agent):
    """By number or UUID, from the scheduler's variable or from the locks that are held; None where neither names GPUs."""
    if agent.devices is not None:
        return agent.devices
    labels = [str(lock.get("label", "")) for lock in agent.config.get("locks") or []]
    return [label[4:] for label in labels if label.startswith("gpu ")] or None


def read_process(pid):
    """None for one that is gone."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        ticks = float(os.sysconf("SC_CLK_TCK"))
        own = (int(fields[11]) + int(fields[12])) / ticks
        return Process(pid, int(fields[19]), own, own + (int(fields[13]) + int(fields[14])) / ticks, int(fields[4]))
    except (OSError, IndexError, ValueError):
        return None


def words_of(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read(4096).decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return [""]


def name_of(process):
    """"python train.py"."""
    if process is None:
        return "a process"
    words = words_of(process.pid)
    return short_name(words)


def short_name(words):
    """The program, and the script or module that it was given."""
    program = os.path.basename(words[0].split(" ")[0]) or "a process"
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
    text = (program + " " + script).strip()
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:LONGEST_NAME]


def editors_among(found):
    names = []
    for process in found:
        line = " ".join(words_of(process.pid)[:6])
        names += [name for sign, name in EDITORS if sign in line and name not in names]
    return names


def opens_gpu(pid):
    folder = "/proc/%d/fd" % pid
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    for name in names:
        try:
            if GPU_DEVICE.match(os.readlink(os.path.join(folder, name))):
                return True
        except OSError:
            pass
    return False


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
    """In a worker. The busiest of this node's GPUs, or None where no tool knows."""
    found = [int(text) for text in map(read_number, glob.glob("/sys/class/drm/card*/device/gpu_busy_percent")) if text]
    if os.path.exists("/dev/nvidiactl"):
        import subprocess           # late: most nodes need none of this
        out = subprocess.run(["nvidia-smi", "--query-gpu=index,uuid,utilization.gpu", "--format=csv,noheader,nounits"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        found += percents(out.decode("utf-8", "replace"), devices)
    return max(found) if found else None


def percents(text, devices):
    """Of the lines of nvidia-smi; `devices` names ours by number or UUID, None: all."""
    found = []
    for line in text.splitlines()[:MOST_GPUS]:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 3 or not fields[2].isdigit():
            continue
        if devices is None or fields[0] in devices or any(fields[1].startswith(name) for name in devices if name.startswith("GPU-")):
            found.append(int(fields[2]))
    return found


def read_number(path):
    try:
        with open(path) as file:
            return file.read(16).strip()
    except OSError:
        return ""
