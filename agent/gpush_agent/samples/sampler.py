"""The builtin `sample`: a line of JSON for each sample, at an interval, as long as its stream is open (docs/technical/top.md). Runs in a
forked child of its own, so that a driver or a disk that hangs holds up nothing else."""
import array
import fcntl
import json
import os
import select
import termios
import threading
import time

from ..core.wholefile import write_all
from ..fabric.reader import Reader
from ..runs import rundir
from . import amd, hardware, processes, progress

LEAST_S, MOST_S, DEFAULT_S = 0.1, 3600.0, 1.0
DISK_S = 2.0                # between two looks at what lies on a disk
STALE_S = 10.0              # a disk that has said nothing for so long hangs


class DiskLook(threading.Thread):
    """Room in the workspace, and the runs of this node: on a thread of its own, because a network disk may hang."""

    def __init__(self, workspace, state):
        super().__init__(daemon=True)
        self.workspace, self.state = workspace, state
        self.over = threading.Event()
        self.first = threading.Event()
        self.found = (None, None, [], {})       # when, room, runs, what they have come to
        self.progress = {}

    def run(self):
        while not self.over.is_set():
            runs = processes.runs(self.state)
            self.found = (time.monotonic(), self.room(), runs, self.steps([entry[0] for entry in runs]))
            self.first.set()
            self.over.wait(DISK_S)

    def steps(self, numbers):
        self.progress = {number: self.progress.get(number) or progress.Progress(rundir.folder_of(self.state, number))
                         for number in numbers}
        return {number: self.look(each) for number, each in self.progress.items()}

    @staticmethod
    def look(run):
        try:
            return run.look()
        except Exception:       # what a program prints must not cost the rest of the sample
            return None

    def room(self):
        try:
            found = os.statvfs(self.workspace)
        except OSError:
            return None
        return {"total": found.f_frsize * found.f_blocks, "free": found.f_frsize * found.f_bavail}

    def now(self):
        """(room or None, runs, progress); what is older than a moment is not known."""
        return self.found[1:] if self.found[0] is not None and time.monotonic() - self.found[0] < STALE_S else (None, [], {})


class Gpus:
    """Those of the session, by whatever can read them."""

    def __init__(self, slots, reader, load=None):
        self.problem, self.nvml, self.devices, self.amd = None, None, [], None
        if not slots:
            return
        if reader.exists("sys/class/kfd/kfd/topology/nodes") and not reader.exists("proc/driver/nvidia"):
            self.amd = amd.Amd(reader, slots)
            return
        try:
            from . import nvml
        except ImportError:
            self.problem = "no ctypes in this Python"
            return
        try:
            self.nvml = (load or nvml.Nvml)()
            self.devices = self.nvml.devices(slots)
        except OSError:
            self.problem = "no %s" % nvml.LIBRARY
        except nvml.Failed as failed:
            self.problem = "NVML: " + failed.name()

    def sample(self):
        return self.amd.samples() if self.amd else [device.sample() for device in self.devices]


class Sampler:
    def __init__(self, args, reader):
        slots = [slot for slot in args.get("gpus") or [] if isinstance(slot, str)]
        self.disk = DiskLook(args.get("workspace") or "/", args.get("state"))
        self.disk.start()
        self.machine = hardware.Machine(reader)
        self.gpus = Gpus(slots, reader)
        self.ranks = processes.Ranks()
        self.number, self.cost = 0, None

    def sample(self):
        begun = time.process_time()
        now = time.monotonic()
        self.number += 1
        room, runs, steps = self.disk.now()
        value = {"n": self.number, "cost_ms": self.cost, "gpus": self.gpus.sample(), "gpu_problem": self.gpus.problem,
                 "disk": room, "runs": [dict(entry, progress=steps.get(entry["run"])) for entry in self.ranks.sample(runs, now)]}
        value.update(self.machine.sample(now))
        line = (json.dumps(value) + "\n").encode("ascii")
        self.cost = round((time.process_time() - begun) * 1000, 2)
        return line

    def close(self):
        self.disk.over.set()
        if self.gpus.nvml is not None:
            self.gpus.nvml.close()


def main(args, stdin_fd, stdout_fd):
    interval = args.get("interval_s")
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        interval = DEFAULT_S
    interval = min(max(interval, LEAST_S), MOST_S)
    sampler = Sampler(args, Reader())
    try:
        sampler.disk.first.wait(interval)
        repeat(sampler.sample, stdout_fd, interval)
    finally:
        sampler.close()
    return 0


def repeat(sample, out, interval, clock=time.monotonic):
    """Until nobody reads. A sample that waits for its reader is enough: no other is taken."""
    due = clock()
    while True:
        if not unread(out):
            line = sample()
            try:
                write_all(out, line)
            except BrokenPipeError:
                return
        due = max(due + interval, clock())
        if gone(out, due - clock()):
            return


def unread(out):
    """How many bytes of the last samples are still in the pipe."""
    size = array.array("i", [0])
    try:
        fcntl.ioctl(out, termios.FIONREAD, size)
    except OSError:             # no pipe
        return 0
    return size[0]


def gone(out, seconds):
    """Waits, and says whether the reader is gone: a pipe without one is an error, which is reported at once."""
    poll = select.poll()
    poll.register(out, 0)
    return bool(poll.poll(max(0, int(seconds * 1000))))
