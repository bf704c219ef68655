"""Runs that failed, reported from node to node: a rank that fails on one node stops the run's ranks on all, with or without a
gateway. This module watches the runs that this agent, or one before it, started and keeps, for each, the earliest failure of any node."""
import collections
import json
import os
import time

from . import rundir

LOOK_SECONDS = 0.25         # how soon a failure is seen; only while runs are in progress
KEPT = 64                   # runs whose first failure is remembered, for lines that come later
GRACE_SECONDS = 3           # of ranks that must end because another node's did, where the run says nothing; from that failure on
MOST_REASON = 4096          # bytes of a reason that a peer tells
WIDEST = 2 ** 31
LATEST_SECONDS = 60.0       # a guard starts another agent sooner; a failure that is reported twice changes nothing


def whole(value, low, high):
    return not isinstance(value, bool) and isinstance(value, int) and low <= value <= high


def reason_of(value):
    """The reason, from this node's supervisor or from another node; {} if there is none."""
    reason = value.get("reason")
    return reason if isinstance(reason, dict) and len(json.dumps(reason)) <= MOST_REASON else {}


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


class Failures:
    def __init__(self, agent, tell, clock=time.monotonic):
        """`tell(failure, apart_from)` sends it to the other nodes. The clock is the one that supervisors use."""
        self.agent, self.tell, self.clock = agent, tell, clock
        self.watched = {}                           # run -> port: those that are in progress here
        self.first = collections.OrderedDict()      # (run, port) -> the earliest failure known
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
                                 found, LATEST_SECONDS)

    def look(self):
        self.timer = self.agent.loop.after(LOOK_SECONDS, self.look)     # first: one run that cannot be read must not end it
        for run, port in list(self.watched.items()):
            folder = rundir.folder_of(self.agent.state, run)
            ended = rundir.is_over(folder)          # asked first: what it writes last is then there to be read
            failure = self.own(run, port, folder, ended)
            if failure is not None:
                self.note(failure, None)
            if ended:
                del self.watched[run]
        if not self.watched:
            self.timer.cancel()
            self.timer = None

    def own(self, run, port, folder, ended):
        """How the run failed on this node by itself, or None."""
        if (self.first.get((run, port)) or {}).get("node") == self.agent.node:
            return None
        found = rundir.read(folder, "failed.json")
        if not found and ended:
            exit = rundir.read(folder, "exit.json")
            if not exit:
                rundir.clean_lost(self.agent.state)
                exit = rundir.read(folder, "exit.json") or {"lost": True}
            found = {"rank": None, "lost": True} if exit.get("lost") else exit.get("first")
        if not found or found.get("asked"):
            return None
        started, at_ms = rundir.read(folder, "lock").get("started"), found.get("at_ms")
        known = isinstance(started, (int, float)) and isinstance(at_ms, (int, float))
        return {"run": run, "port": port, "node": self.agent.node, "rank": found.get("rank"), "exit": found.get("exit"),
                "signal": found.get("signal"), "lost": found.get("lost") is True, "reason": reason_of(found),
                "at": started + at_ms / 1000.0 if known else self.clock()}

    # ---- between nodes

    def message(self, failure):
        """The message: how long ago, not when."""
        value = {name: failure[name] for name in ("run", "port", "node", "rank", "exit", "signal", "lost")}
        if failure["reason"]:
            value["reason"] = failure["reason"]
        value["ago_ms"] = max(0, int((self.clock() - failure["at"]) * 1000))
        return value

    def heard(self, value, line):
        """From a peer. Node 0 gets each from its own node; the others get all from node 0."""
        node = line.node if self.agent.node == 0 else value.get("node")
        good = (whole(value.get("run"), 1, rundir.MAX_RUN) and whole(value.get("port"), 1, 65535)
                and whole(value.get("ago_ms"), 0, WIDEST) and whole(node, 0, self.agent.nodes - 1)
                and all(value.get(name) is None or whole(value[name], -1, WIDEST) for name in ("rank", "exit", "signal")))
        if good:
            self.note({"run": value["run"], "port": value["port"], "node": node, "rank": value.get("rank"),
                       "exit": value.get("exit"), "signal": value.get("signal"), "lost": value.get("lost") is True,
                       "reason": reason_of(value), "at": self.clock() - value["ago_ms"] / 1000.0}, line)

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
        """Writes down in the run's folder which node failed first, and stops what runs here."""
        run, agent = failure["run"], self.agent
        folder = rundir.folder_of(agent.state, run)
        if folder is None or (rundir.read(folder, "spec.json").get("master") or {}).get("port") != failure["port"]:
            return
        try:
            word = {name: failure[name] for name in ("node", "rank", "exit", "signal", "lost")}
            rundir.write(folder, "first.json", dict(word, reason=failure["reason"]) if failure["reason"] else word)
        except OSError as error:
            agent.log("run %d: %s" % (run, error))
        if failure["node"] == agent.node or rundir.is_over(folder) or any(
                os.path.exists(os.path.join(folder, name)) for name in ("stop.json", "failed.json")):
            return
        grace = rundir.read(folder, "spec.json").get("stop_grace_s", GRACE_SECONDS)
        # All nodes' time is over at once, however late one hears of it.
        agent.stop_run(run, max(0, grace - max(0, self.clock() - failure["at"])), "node %d failed" % failure["node"])
