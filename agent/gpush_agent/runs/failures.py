"""Runs that failed, reported from node to node: a rank that fails on one node stops the run's ranks on all, with or without a
gateway. This module watches the runs that this agent, or one before it, started and keeps, for each, the earliest failure of any node."""
import collections
import os
import time

from . import rundir

LOOK_SECONDS = 0.25         # how soon a failure is seen; only while runs are in progress
KEPT = 64                   # runs whose first failure is remembered, for lines that come later
GRACE_SECONDS = 3           # of ranks that must end because another node's did, where the run says nothing; from that failure on
WIDEST = 2 ** 31
DISK_SECONDS = 60.0         # a look that takes longer has found nothing, and is repeated
LATEST_SECONDS = 60.0       # a guard starts another agent sooner; a failure that is reported twice changes nothing


def whole(value, low, high):
    return not isinstance(value, bool) and isinstance(value, int) and low <= value <= high


def latest(state):
    """The runs that have not ended, or not for long."""
    found = []
    for run in rundir.numbers(state):
        try:
            if time.time() - os.stat(os.path.join(rundir.folder_of(state, run), "exit.json")).st_mtime <= LATEST_SECONDS:
                found.append(run)
        except FileNotFoundError:
            found.append(run)
    return found


def fate(state, run):
    """Whether the run is over on this node, and when it failed here by itself, or None. The clock is the one that supervisors use."""
    folder = rundir.folder_of(state, run)
    ended = rundir.is_over(folder)          # asked first: what it writes last is then there to be read
    found = rundir.read(folder, "failed.json")
    if not found and ended:
        exit = rundir.result(folder)
        if not exit:
            rundir.clean_lost(state)
            exit = rundir.result(folder) or rundir.LOST
        found = {"lost": True} if exit.get("lost") else exit.get("first")
    if not found or found.get("asked"):
        return ended, None
    started, at_ms = rundir.read(folder, "lock").get("started"), found.get("at_ms")
    known = isinstance(started, (int, float)) and isinstance(at_ms, (int, float))
    return ended, started + at_ms / 1000.0 if known else time.monotonic()


def grace_of(state, run, port):
    """How long the ranks of this try of a run have for their end, in seconds; None where none of them runs, or has to be stopped."""
    folder = rundir.folder_of(state, run)
    if folder is None or rundir.is_over(folder) or any(
            os.path.exists(os.path.join(folder, name)) for name in ("stop.json", "failed.json")):
        return None
    spec = rundir.read(folder, "spec.json")
    return spec.get("stop_grace_s", GRACE_SECONDS) if (spec.get("master") or {}).get("port") == port else None


class Failures:
    """Everything that waits for the state folder's disk is a call on the disk's thread."""

    def __init__(self, agent, tell):
        """`tell(failure, apart_from)` sends it to the other nodes."""
        self.agent, self.tell = agent, tell
        self.watched = {}                           # run -> port: those that are in progress here
        self.first = collections.OrderedDict()      # (run, port) -> the earliest failure known: {"run", "port", "node", "at"}
        self.timer = None

    def started(self, run, spec):
        """A run that starts here. Run and rendezvous port together name one try of it: another try has another port."""
        if self.agent.nodes < 2 or not spec:
            return
        port = spec["master"]["port"]
        self.watched[run] = port
        known = self.first.get((run, port))
        if known is not None:
            self.obey(known)
        if self.timer is None:
            self.timer = self.agent.loop.after(LOOK_SECONDS, self.look)

    def resume(self):
        """After an agent of this node that was killed: the runs that it watched, and those that ended before it could look again."""
        def found(result, refused):
            for run, spec in result or []:
                self.started(run, spec)
            if refused is not None:
                self.agent.log("runs of the agent before: %s %s" % (refused.code, refused.facts))
        state = self.agent.state
        if state and self.agent.nodes > 1:
            self.agent.disk.call(lambda: [(run, rundir.read(rundir.folder_of(state, run), "spec.json")) for run in latest(state)],
                                 found, DISK_SECONDS)

    def look(self):
        watched = list(self.watched.items())
        self.agent.disk.call(lambda: [(run, port, fate(self.agent.state, run)) for run, port in watched], self.looked, DISK_SECONDS)

    def looked(self, result, refused):
        for run, port, (ended, failed_at) in result or []:
            if self.watched.get(run) == port:       # no other try has begun meanwhile
                if failed_at is not None:
                    self.note({"run": run, "port": port, "node": self.agent.node, "at": failed_at}, None)
                if ended:
                    del self.watched[run]
        self.timer = self.agent.loop.after(LOOK_SECONDS, self.look) if self.watched else None

    # ---- between nodes

    def message(self, failure):
        """The message: how long ago, not when."""
        value = {name: failure[name] for name in ("run", "port", "node")}
        value["ago_ms"] = max(0, int((time.monotonic() - failure["at"]) * 1000))
        return value

    def heard(self, value, line):
        """From a peer. Node 0 gets each from its own node; the others get all from node 0."""
        node = line.node if self.agent.node == 0 else value.get("node")
        if (whole(value.get("run"), 1, rundir.MAX_RUN) and whole(value.get("port"), 1, 65535)
                and whole(value.get("ago_ms"), 0, WIDEST) and whole(node, 0, self.agent.nodes - 1)):
            self.note({"run": value["run"], "port": value["port"], "node": node,
                       "at": time.monotonic() - value["ago_ms"] / 1000.0}, line)

    def note(self, failure, line):
        """The earliest counts; each that is earlier than the known one is passed on, but not back."""
        key = (failure["run"], failure["port"])
        known = self.first.get(key)
        if known is not None and (known["node"] == failure["node"] or known["at"] <= failure["at"]):
            return
        self.first[key] = failure
        while len(self.first) > KEPT:
            self.first.popitem(last=False)
        self.obey(failure)
        self.tell(self.message(failure), line)

    def obey(self, failure):
        """Stops what runs here. All nodes' time is over at once, however late one hears of it."""
        agent, run, port = self.agent, failure["run"], failure["port"]

        def answered(grace, refused):
            if grace is not None:
                left = grace - max(0, time.monotonic() - failure["at"])
                agent.stop_run(run, max(0, left), "node %d failed" % failure["node"])
        if failure["node"] != agent.node:
            agent.disk.call(lambda: grace_of(agent.state, run, port), answered, DISK_SECONDS)
