"""call streams: a table from method to function. A function gets (agent, params) and returns a result, or raises Refused;
those that may block run in a worker."""
import importlib
import os
import socket

from . import facts, frames, processes
from .stream import Owner
from .refused import Refused, of_os_error

MAX_PORTS = 64
SECONDS = 30.0


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
            processes.Worker(agent.loop, agent.origin, lambda: SLOW[method](agent, params), self.answer, SECONDS)
        elif method == "release":
            agent.finish("released", lambda kept: self.answer({"kept": kept}, None))
        elif method == "environment":
            agent.environment.when_ready(lambda: self.answer(
                {"env": agent.environment.base, "source": agent.environment.source}, None))
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
    agent.peers.renewed()
    agent.watch_lease()
    return agent.status()


def peers(agent, params):
    return agent.peers.configure(params)


def ports(agent, params):
    """Ports that were free a moment ago, all different."""
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


def alone(agent, params):
    from . import alone as module
    return module.look(agent.workspace, agent.state)


def run(name):
    def call(agent, params):
        if name == "list" and not (agent.state and os.path.isdir(os.path.join(agent.state, "runs"))):
            return []           # a new node: nothing need be loaded for that
        try:
            supervisor = importlib.import_module("gpush_agent.supervisor")
        except ImportError:
            raise Refused("unknown-method", {"method": "run." + name})
        result = getattr(supervisor, name)(agent, params)
        if name == "start":
            agent.peers.failures.started(params.get("run"), params.get("spec"))
        return result
    return call


TABLE = {"status": status, "renew": renew, "ports": ports, "peers": peers, "run.start": run("start"), "run.stop": run("stop"),
         "run.list": run("list"), "run.status": run("status")}
SLOW = {"facts": lambda agent, params: facts.facts("/", [agent.workspace, agent.state, agent.account[1], "/tmp"]),
        "alone": alone}
