"""call streams: a table from method to function. A function gets (agent, params) and returns a result, or raises Refused;
those that may block run in a worker. Control lines offer a few of them without a link."""
import importlib
import socket

from .core.refused import Refused, of_os_error
from .core.worker import Worker
from .link import frames
from .link.stream import Owner
from .runs import rundir

MAX_PORTS = 64
SECONDS = 30.0


def released(kept, left):
    return {"kept": kept, "left": left} if left else {"kept": kept}


class Call(Owner):
    def __init__(self, agent, stream, value):
        self.agent, self.stream = agent, stream
        stream.owner = self
        method, params = value.get("method"), value.get("params") or {}
        if not isinstance(params, dict):
            raise Refused("bad-request", {"field": "params"})
        if not isinstance(method, str):
            raise Refused("bad-request", {"field": "method"})
        if method in SLOW:
            Worker(agent.loop, agent.origin, lambda: SLOW[method](agent, params), self.answer, LONGEST.get(method, SECONDS))
        elif method == "fabric.facts":
            agent.environment.when_ready(lambda: Worker(agent.loop, agent.origin, lambda: fabric(agent, params), self.answer, SECONDS))
        elif method == "release":
            agent.finish("released", lambda kept, left=(): self.answer(released(kept, left), None))
        elif method == "environment":
            agent.environment.when_ready(lambda: self.answer(
                dict(agent.environment.activation.status(), env=agent.environment.active(), source=agent.environment.source), None))
        elif method == "environment.use":
            activation = agent.environment.activation
            activation.use(params, lambda: self.answer(activation.status(), None))
        elif method in RUNS:
            RUNS[method](agent, method, params, self.answer)
        elif method in TABLE:
            try:
                result = TABLE[method](agent, params)
            except OSError as error:
                raise of_os_error(error)
            self.answer(result, None)
        else:
            raise Refused("unknown-method", {"method": str(method)[:100]})

    def answer(self, result, refused):
        if self.stream.own_close:
            return
        if refused is None and len(frames.pack_json({"result": result})) > frames.MAX_MESSAGE:
            refused = Refused("limit", {"bytes": frames.MAX_MESSAGE})
        if refused is not None:
            self.stream.refuse(refused.code, refused.facts)
            return
        self.stream.opened({})
        self.stream.message({"result": result})
        self.stream.close({})


def status(agent, params):
    return agent.status()


def renew(agent, params):
    for name in ("hard_s", "idle_s"):
        value = params.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
            raise Refused("bad-request", {"field": name})
    agent.lease.renew(params)
    agent.memo.note(agent)
    agent.peers.renewed()
    agent.watch_lease()
    return agent.status()


def active(agent, params):
    agent.lease.active("files")
    return {}


def peers(agent, params):
    return agent.peers.configure(params)


def ports(agent, params):
    """Different ports that were just free."""
    count = params.get("count", 1)
    if not isinstance(count, int) or not 0 < count <= MAX_PORTS:
        raise Refused("bad-request", {"field": "count"})
    sockets = []
    try:
        for _ in range(count):
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            sockets.append(sock)
            sock.bind(("", 0))
        return {"ports": [sock.getsockname()[1] for sock in sockets]}
    finally:
        for sock in sockets:
            sock.close()


def unsaved_files(agent, params):
    from .lifetime import unsaved       # late: most agents are never asked
    return unsaved.look(agent.workspace, agent.state)


def history(agent, params):
    from .files import history as repository    # late: only the editors' node is asked
    return {"stamp": repository.stamp(agent.workspace) if agent.workspace else ""}


def fabric(agent, params):
    gather = importlib.import_module("gpush_agent.fabric.gather")       # in the worker: the agent itself never needs it
    return gather.answer(params, agent.environment.active(), agent.account[1])


def pairs(agent, params):
    return importlib.import_module("gpush_agent.fabric.pairs").answer(params)


def snapshot(agent, params):
    return importlib.import_module("gpush_agent.runs.requests").take_snapshot(agent, params)


def runs(agent, method, params, answer):
    """Loaded here: the disk's thread imports nothing."""
    requests = importlib.import_module("gpush_agent.runs.requests")
    agent.disk.call(lambda: getattr(requests, method[4:])(agent, params), answer, SECONDS)


def list_runs(agent, method, params, answer):
    def numbers(found, refused):
        if found:
            runs(agent, method, params, answer)
        else:
            answer(found, refused)      # a new node: no module is loaded for that
    agent.disk.call(lambda: rundir.numbers(agent.state) if agent.state else [], numbers, SECONDS)


def start_run(agent, method, params, answer):
    def started(result, refused):
        if refused is None:
            agent.peers.failures.started(params["run"], params["spec"])
        answer(result, refused)
    importlib.import_module("gpush_agent.runs.requests").start(agent, params, started)


def keep_files(agent, method, params, answer):
    """Of the generation with which runs begin now or later; it goes on in the child after the answer."""
    also = [each for each in params.get("also") or () if isinstance(each, int)]
    keeping = importlib.import_module("gpush_agent.files.kept").Keeping(
        agent.workspace, agent.state, params.get("generation"), also, bool(params.get("verify")))
    Worker(agent.loop, agent.origin, keeping.begin, answer, SECONDS, then=keeping.keep)


TABLE = {"status": status, "renew": renew, "active": active, "ports": ports, "peers": peers, "history": history}
RUNS = {"run.start": start_run, "run.keep": keep_files, "run.stop": runs, "run.list": list_runs, "run.status": runs}
SLOW = {"unsaved": unsaved_files, "check.pairs": pairs, "run.snapshot": snapshot}
LONGEST = {"run.snapshot": 600.0}      # as many files as there are


def control(agent, pipe, line):
    """One line of JSON at the agent's socket, without a link; the answer is one, too."""
    def answer(value, is_last=False):
        if not pipe.closed:
            pipe.push([frames.pack_json(value) + b"\n"])
            pipe.end(lingers=is_last)

    try:
        value = frames.unpack_json(line)
        do = value.get("do")
        if do == "status" and (value.get("waits") is True or value.get("then") == "link"):
            agent.lease.ask()       # not in other questions: a list of all agents of a host must keep none
        if do == "status" and value.get("then") == "link":
            pipe.become_link(frames.pack_json(dict(agent.status(), ok=True)) + b"\n")
        elif do == "status":
            answer(dict(agent.status(), ok=True))
        elif do == "renew":
            answer(dict(renew(agent, value), ok=True))
        elif do == "peers":
            answer(dict(agent.peers.configure(value), ok=True))
        elif do in ("peer", "tunnel"):
            agent.peers.answer(pipe.hand_over(), value)
        elif do == "release":
            # With the first process of a container all others end, also the one that passes this answer on.
            agent.finish("released", lambda kept, left=(): answer(dict(released(kept, left), ok=True), is_last=True))
        else:
            answer({"ok": False, "code": "bad-request", "facts": {"do": str(do)[:100]}})
    except frames.Bad:
        answer({"ok": False, "code": "bad-request", "facts": {}})
    except Refused as refused:
        answer({"ok": False, "code": refused.code, "facts": refused.facts})
