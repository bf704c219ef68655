"""Finds out which network the ranks of a run use on this node, and tells it once, as an event of the run's journal
(docs/technical/runs.md). Belongs to the run's supervisor and its loop; nothing here may cost the run."""
import os
import sys
import time
import traceback

from . import logs

FIRST, LATER, LATE = 0.25, 1.0, 5.0     # seconds between two looks: in the first half minute, in the first ten, then
EARLY, BEGINNING = 30.0, 600.0
QUIET = 1.0                 # without a new line of a log: the processes have said what they use
ALONE = 10.0                # the same where some processes of the node have said nothing
CLOCKS = 2.0                # a file system's clock may be this much behind


def is_asked(spec):
    return spec.get("transport") == "log"


def variables(spec, folder):
    """What the run's processes get for it."""
    return logs.variables(is_asked(spec), spec.get("env") or {}, folder)


class Observer:
    """`tell` takes the facts."""

    def __init__(self, spec, env, loop, tell):
        self.spec, self.loop, self.tell = spec, loop, tell
        self.began, self.grew = loop.clock(), loop.clock()
        self.done = not spec.get("transport")
        self.level = env.get("NCCL_DEBUG")
        self.source = None
        if not self.done and logs.is_talkative(env):
            name = env.get("NCCL_DEBUG_FILE")
            self.source = logs.Files(name, spec["cwd"], time.time() - CLOCKS) if name else logs.Heard()
        if not self.done:
            self.loop.after(FIRST, self.look)

    def hear(self, number, channel, data):
        """What a rank printed."""
        if not self.done and isinstance(self.source, logs.Heard):
            self.source.hear((number, channel), data)

    def look(self):
        if self.done:
            return
        self.safely(self.check)
        if not self.done:
            age = self.loop.clock() - self.began
            self.loop.after(FIRST if age < EARLY else LATER if age < BEGINNING else LATE, self.look)

    def check(self):
        if self.source is None:
            return
        now = self.loop.clock()
        if self.source.read():
            self.grew = now
            return
        quiet = now - self.grew
        connected = [log for log in self.source.logs.values() if log.is_connected()]
        expected = self.spec.get("procs", 1) if self.spec["mode"] != "command" else 1
        if connected and quiet >= (QUIET if len(connected) >= expected else ALONE):
            self.say(logs.facts(self.source))

    def finish(self):
        """The run has ended: what is known by now."""
        if not self.done:
            self.safely(self.last)

    def last(self):
        found = {}
        if self.source is not None:
            while self.source.read():
                pass
            found = logs.facts(self.source)
        if found or is_asked(self.spec):
            self.say(found)

    def say(self, found):
        self.done = True
        facts = dict(found, by="nccl", asked=is_asked(self.spec))
        from . import counters
        rate = counters.rate(found.get("used") or [port["device"] for port in found.get("ports", [])])
        if rate:
            facts["gbits"] = rate
        if not found:
            facts["level"] = (self.level or "").upper()[:20]
        if self.source is not None and self.source.shown and os.path.isabs(self.source.shown):
            facts["logs"] = self.source.shown[:1024]
        self.tell(facts)

    def safely(self, call):
        try:
            call()
        except Exception:       # whatever a library writes
            self.done = True
            sys.stderr.write(traceback.format_exc())
