"""Finds out which network the ranks of a run use on this node, and tells it once, as an event of the run's journal
(docs/technical/runs.md). Belongs to the run's supervisor and its loop; nothing here may cost the run."""
import os
import sys
import time
import traceback

from ..core import processes
from ..core.worker import Worker

LOG = "nccl.%h.%p.log"      # in the run's folder; NCCL puts in the host's name and the process id
VARIABLES = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}
# Seconds between two looks at logs and at counters: in the first half minute, in the first ten, then.
PAUSES = ((30.0, 0.25, 1.0), (600.0, 1.0, 5.0), (float("inf"), 5.0, 30.0))
QUIET = 1.0                 # without a new line of a log: the processes have said what they use
ALONE = 10.0                # the same where some processes of the node have said nothing
SETTLE = 3.0                # from the first verdict of counters to the one that is told: slow rails begin later
CLOCKS = 2.0                # a file system's clock may be this much behind
READING = 30.0              # seconds: a firmware that does not answer
MOST_PROCESSES = 256        # that are asked for their GPUs; ranks come before the workers that they start


def is_asked(spec):
    return spec.get("transport") == "log"


def variables(spec, folder):
    """What makes NCCL write its log into the run's folder, where that is asked. What the user set is kept."""
    if not is_asked(spec):
        return {}
    wanted = dict(VARIABLES, NCCL_DEBUG_FILE=os.path.join(folder.replace("%", "%%"), LOG))
    return {name: value for name, value in wanted.items() if name not in (spec.get("env") or {})}


class Observer:
    """`tell` takes the facts. `read(known, answer)`, in tests, stands for reading the devices. What reads logs and devices is
    loaded for runs that are observed only, devices are read in a child, because a driver may hang, and for the first time when
    the ranks have been started."""

    def __init__(self, spec, env, loop, tell, read=None):
        self.spec, self.loop, self.tell = spec, loop, tell
        self.read = read or self.read_devices
        self.is_reading, self.known = False, None
        self.began = self.grew = self.looked = loop.clock()
        self.done = not spec.get("transport")
        self.level = env.get("NCCL_DEBUG")
        self.source = self.counters = None
        self.is_heard = False
        self.counted, self.since = {}, None     # what counters say, and since when
        if self.done:
            return
        self.safely(lambda: self.open_logs(env))
        self.again()

    def open_logs(self, env):
        from . import logs
        if logs.is_talkative(env):
            name = env.get("NCCL_DEBUG_FILE")
            self.source = logs.Files(name, self.spec["cwd"], time.time() - CLOCKS) if name else logs.Heard()
            self.is_heard = not name

    def read_devices(self, known, answer):
        Worker(self.loop, processes.Settings(), lambda: look_at_devices(known), lambda found, _: self.safely(lambda: answer(found)), READING)

    def again(self):
        if not self.done:
            self.loop.after(self.pauses()[0], self.look)

    def pauses(self):
        age = self.loop.clock() - self.began
        return next((log, count) for until, log, count in PAUSES if age < until)

    def hear(self, number, channel, data):
        """What a rank printed."""
        if not self.done and self.is_heard:
            self.safely(lambda: self.source.hear((number, channel), data))

    def look(self):
        if not self.done:
            self.safely(self.check)
            self.again()

    def check(self):
        now = self.loop.clock()
        if self.source is not None:
            self.check_logs(now)
        is_time = self.known is None or now - self.looked >= self.pauses()[1]
        if self.spec["nodes"] > 1 and is_time and not (self.done or self.is_reading):
            self.looked, self.is_reading = now, True
            self.read(self.known, self.counted_now)

    def check_logs(self, now):
        if self.source.read():
            self.grew = now
            return
        quiet = now - self.grew
        connected = [log for log in self.source.logs.values() if log.is_connected()]
        expected = self.spec.get("procs", 1) if self.spec["mode"] != "command" else 1
        if connected and quiet >= (QUIET if len(connected) >= expected else ALONE):
            self.say(self.source.facts(), "nccl")

    def counted_now(self, found):
        """`found`: the devices and what they have carried, None where they cannot be read in time: then they are not read again."""
        if self.done or found is None:
            return
        self.is_reading = False
        if self.known is None:
            from .counters import Counters
            self.known = found["known"]
            self.counters = Counters(self.known, found["sample"])
        self.check_counters(self.loop.clock(), self.counters.facts(found["sample"]))

    def check_counters(self, now, found):
        if found.get("network") != self.counted.get("network"):
            self.since = now
        self.counted = found
        # NCCL's own lines say more, and come before the traffic.
        if found and self.source is None and now - self.since >= SETTLE:
            self.say_counted()

    def finish(self):
        """The run has ended: what is known by now."""
        if not self.done:
            self.safely(self.last)

    def last(self):
        found = {}
        if self.source is not None:
            while self.source.read():
                pass
            found = self.source.facts()
        if self.counted and not found:
            self.say_counted()
        elif found or is_asked(self.spec):
            self.say(found, "nccl")

    def say_counted(self):
        self.say(dict(self.counted, nodes=self.spec["nodes"], gpu=uses_gpu()), "counters")

    def say(self, found, by):
        self.done = True
        facts = dict(found, by=by, asked=is_asked(self.spec))
        if self.known is not None and found.get("ports"):
            from .counters import gbits
            rate = gbits(self.known, found.get("used") or [port["device"] for port in found["ports"]])
            if rate:
                facts["gbits"] = rate
        if not found:
            facts["level"] = (self.level or "").upper()[:20]
        if self.source is not None and self.source.shown:
            facts["logs"] = self.source.shown[:1024]
        self.tell(facts)

    def safely(self, call):
        try:
            call()
        except Exception:       # whatever a library or a device writes
            self.done = True
            sys.stderr.write(traceback.format_exc())


def look_at_devices(known):
    """In a child."""
    from ..fabric.reader import Reader
    from . import counters
    reader = Reader()
    known = known or counters.devices(reader)
    return {"known": known, "sample": counters.sample(reader, known)}


def uses_gpu():
    """Whether a process of the run has a GPU open."""
    return any(processes.opens_gpu(pid) for pid in processes.descendants(os.getpid())[:MOST_PROCESSES])
