"""Requests about the runs of this node: start, and stop, list and status, which wait for the disk of the state folder. Each run has its
own process (supervisor)."""
import json
import os
import signal

from ..core import processes
from ..core.refused import Refused, of_os_error
from ..core.worker import Worker
from ..files import snapshot
from ..network import observer
from . import keeper, ranks, rundir, warmstart
from .claims import Claims
from .supervisor import Supervisor, main

START_SECONDS = 30.0
LIST_BYTES = 48 * 1024      # an answer has 64 KiB


def start(agent, params, answer):
    """Forks the supervisor, which claims and writes down, answers, and then starts the ranks. `answer` as a Worker's."""
    run, spec = params.get("run"), params.get("spec")
    ranks.check(spec)
    if rundir.folder_of(agent.state, run) is None:
        raise Refused("bad-request", {"field": "run"})
    if agent.environment.base is None or agent.environment.activation.pending:
        raise Refused("starting", {})
    begun = Start(agent, run, spec, bool(params.get("again")))
    Worker(agent.loop, agent.origin, begun.claim, answer, START_SECONDS, begun.keep, begun.supervise)


class Start:
    """A run that starts."""

    def __init__(self, agent, run, spec, again):
        self.agent, self.run, self.spec, self.again = agent, run, spec, again
        self.mark = "%s-%s-%d-%s" % (agent.gang, agent.node, run, os.urandom(8).hex())
        self.parent = self.why = None
        if spec.get("warm") is not None:        # which parent fits depends on all variables
            self.parent, self.why = agent.warm_parents().take(spec, self.variables())
        self.keep = agent.lock_fds + ([self.parent[0]] if self.parent else [])

    def variables(self):
        agent = self.agent
        common = ranks.environment(self.spec, agent.environment.base, self.run, self.mark, agent.environment.activation)
        common.update(observer.variables(self.spec, rundir.folder_of(agent.state, self.run)))
        return common

    # ---- in the child

    def claim(self):
        agent, run = self.agent, self.run
        os.umask(0o077)
        if self.spec.get("snapshot") is not None:
            self.spec = keeper.moved(agent.workspace, agent.state, run, self.spec)
            if self.spec is None:
                raise Refused("not-found", {"what": "snapshot", "path": agent.workspace})
        self.common = self.variables()
        self.claims = Claims(agent.state, run, rundir.folder_of(agent.state, run), self.spec)
        try:
            ranks.check_files(self.spec, self.common)
            rundir.clean_lost(agent.state)
            self.claims.take(self.mark, self.again)
        except OSError as error:
            self.claims.remove()
            raise of_os_error(error, error.filename if isinstance(error.filename, str) else None)
        except Refused:
            self.claims.remove()
            raise
        os.umask(agent.origin.umask)
        return {"pid": os.getpid()}

    def supervise(self):
        taken_s = self.agent.config.get("taken_s")
        if self.spec.get("warm") is not None:
            warmstart.begin(self.claims, self.common, self.mark, taken_s, self.parent, self.why)
        main(lambda: Supervisor(self.claims, self.common, self.mark, taken_s).run())


def take_snapshot(agent, params):
    """In a worker: before its start, on all nodes of a run."""
    run, generation = params.get("run"), params.get("generation")
    if rundir.folder_of(agent.state, run) is None or not agent.workspace:
        raise Refused("bad-request", {"field": "run"})
    if isinstance(generation, bool) or not isinstance(generation, int):
        raise Refused("bad-request", {"field": "generation"})
    if not params.get("again") and os.path.isdir(rundir.folder_of(agent.state, run)):
        raise Refused("exists", {"run": run})   # its snapshot is in use, or has what it made
    snapshot.clean(agent.workspace, agent.state, set(rundir.alive(agent.state)) | {run})
    return {"folder": snapshot.make(agent.workspace, agent.state, run, generation, bool(params.get("again")))}


def stop(agent, params):
    """Writes stop.json and wakes the supervisor; does not wait for its end. A disk that refuses it must not keep ranks running:
    then the signal itself is the request, unless the agent only lacks descriptors or memory for a moment."""
    folder = _known(agent, params)
    name, why = params.get("signal", "INT"), str(params.get("why") or "asked")[:200]
    # A failure elsewhere gives as much time as one here, unless a peer knows how much of it is over.
    given = 10 if why == "asked" else rundir.read(folder, "spec.json").get("stop_grace_s", 10)
    grace = params.get("grace_s", given)
    if name not in ranks.SIGNALS:
        raise Refused("bad-request", {"field": "signal"})
    if isinstance(grace, bool) or not isinstance(grace, (int, float)) or not 0 <= grace <= 86400:
        raise Refused("bad-request", {"field": "grace_s"})
    if rundir.is_over(folder):
        rundir.clean_lost(agent.state)
        if params.get("forget") and rundir.has_ended(folder):
            rundir.forget(folder)
        return {}
    word = {"signal": name, "grace_s": grace, "why": why}
    known = rundir.read(folder, "stop.json")
    if why != "asked" and (known.get("signal"), known.get("why")) == (name, why):
        return {}               # a failure elsewhere is told by the gateway and by the other nodes
    refused, number = None, signal.SIGTERM
    try:
        rundir.write_stop(folder, word)
    except OSError as error:
        refused, number = of_os_error(error, folder), rundir.UNWRITTEN["KILL" if name == "KILL" else "TERM"]
    # No pid yet: it has not looked for stop.json yet, either.
    pid = rundir.read(folder, "lock").get("pid")
    if refused and (refused.code == "limit" and name != "KILL" or not (isinstance(pid, int) and processes.catches(pid, number))):
        raise refused
    if isinstance(pid, int):
        processes.kill([pid], number)
    return {}


def list(agent, params):
    """The newest first, as many as an answer holds; `alive`: only those in progress; `before`: only older ones than this number."""
    before = params.get("before", rundir.MAX_RUN + 1)
    if isinstance(before, bool) or not isinstance(before, int):
        raise Refused("bad-request", {"field": "before"})
    if not agent.state:
        return []
    rundir.clean_lost(agent.state)
    found, size = [], 0
    for run in reversed(rundir.numbers(agent.state)):
        if run >= before or params.get("alive") and not rundir.is_alive(rundir.folder_of(agent.state, run)):
            continue
        view = _view(agent.state, run)
        length = len(json.dumps(view))
        if length > LIST_BYTES:         # it must not hide older ones, and its slots are taken
            view["spec"] = {"slots": view["spec"].get("slots", [])}
            length = len(json.dumps(view))
        size += length
        if size > LIST_BYTES:
            break
        found.append(view)
    return found


def status(agent, params):
    folder = _known(agent, params)
    refused = rundir.clean_lost(agent.state) if rundir.is_over(folder) else ()
    view = _view(agent.state, params["run"])
    return dict(view, exit=rundir.LOST) if folder in refused and not view["exit"] else view


def _known(agent, params):
    folder = rundir.folder_of(agent.state, params.get("run"))
    if folder is None or not os.path.isdir(folder):
        raise Refused("not-found", {"run": params.get("run")})
    return folder


def _view(state, run):
    folder = rundir.folder_of(state, run)
    spec = rundir.read(folder, "spec.json")
    spec.pop("env", None)           # may hold secrets, and is long
    spec.pop("defaults", None)
    alive = rundir.is_alive(folder)
    exit = rundir.read(folder, "exit.json") if alive else rundir.result(folder)
    return {"run": run, "alive": alive, "exit": exit or None, "spec": spec,
            "attempt": rundir.read(folder, "lock").get("attempt"), "before": rundir.earlier(folder)}
