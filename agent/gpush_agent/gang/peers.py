"""The other nodes of the gang, as this agent knows them: node 0 answers, the others dial it and stay (peerline). Over these
lines the gang agrees on its idle time (idle) and stops failing runs everywhere (runs.failures). An agent without a key,
or whose gang is one node, judges alone."""
import os
import socket

from ..core.loop import NO_ROOM
from ..core.refused import Refused
from ..core.worker import Worker
from ..host import folder as places
from ..link import frames
from ..runs.failures import Failures
from . import idle, peerline, tunnels

REPORT_SECONDS = 5.0        # between two reports of a node; at most a quarter of the idle time
SILENT_SECONDS = 15.0       # and three reports: a line that is silent for so long is dialled again
RETRY_SECONDS = (0.5, 20.0)     # between two tries; doubles from the first to the second
MAX_UNPROVEN = 32           # connections that have not proved themselves, beside one of each node; the oldest goes
MAX_PROBLEMS = 50           # lines in the log about lines
RESOLVE_SECONDS = 10.0
BACKLOG = 256               # all nodes of the largest gang dial at the same moment
ANY = "::"                  # every address of a node, of IPv4, too


class Peers:
    def __init__(self, agent, config):
        self.agent, self.loop = agent, agent.loop
        self.secret = None
        self.address = None         # where node 0 is: "same-host", {"host", "port"}, or not known yet
        self.lines = {}             # node -> line that is ready; of node k: {0: line}
        self.unproven = []          # lines that are not ready, in the order they came
        self.listener = None
        self.judge = None
        self.dialling = False       # a name is being looked up
        self.passed = 0             # addresses of node 0 that did not lead to it, since one did
        self.pause = RETRY_SECONDS[0]
        self.timer = None
        self.problem, self.problems = "", 0
        self.failures = Failures(agent, self.tell)
        self.tunnels = tunnels.Tunnels(agent, self)
        if isinstance(config, dict) and agent.nodes > 1:
            try:
                self.configure(config)
            except (Refused, OSError) as refused:
                agent.log("peers: %s %s" % (refused, getattr(refused, "facts", "")))

    # ---- what is known from start, or by the call `peers`

    def configure(self, params):
        """Everything is checked before anything is used. Returns where this node listens for the others."""
        key, where, listen = params.get("key"), params.get("node0"), params.get("listen")
        if key is not None and not is_key(key):
            raise Refused("bad-request", {"field": "key"})
        if where is not None and where != "same-host" and not is_address(where, 1):
            raise Refused("bad-request", {"field": "node0"})
        if listen is not None and not is_address(listen, 0):
            raise Refused("bad-request", {"field": "listen"})
        if self.agent.nodes < 2:
            return {"port": None}
        if key is None and self.secret is None:
            raise Refused("no-key", {})
        if listen is not None and self.agent.node == 0:
            self.listen(listen)
        moved = where is not None and where != self.address
        if where is not None:
            self.address = where
        if key is not None and bytes.fromhex(key) != self.secret:
            self.secret = bytes.fromhex(key)
            moved = True
        if moved:
            self.problem, self.pause = "", RETRY_SECONDS[0]
            for line in list(self.lines.values()) + list(self.unproven):
                line.close("configured again")
        if self.judge is None:
            lease = self.agent.lease
            self.judge = (idle.Decides(lease, self.ask) if self.agent.node == 0
                          else idle.Asks(lease, self.report, clients=self.agent.sampling.clients))
            lease.judge = self.judge
        self.soon(0.0)
        return {"port": self.listener.getsockname()[1] if self.listener is not None else None}

    def listen(self, where):
        if self.listener is not None:
            return
        try:
            self.listener = bound(where["host"], where["port"])
        except OSError:
            if where["host"] != ANY:
                raise
            self.listener = bound("0.0.0.0", where["port"])     # the node has no IPv6
        self.loop.read(self.listener.fileno(), self.connected)

    # ---- lines

    def connected(self):
        try:
            sock, _ = self.listener.accept()
        except OSError as error:
            if error.errno in NO_ROOM:
                self.loop.rest(self.listener, self.connected)
            return
        self.admit(sock, None)

    def answer(self, sock, hello):
        """A peer has connected to the agent's own socket."""
        self.admit(sock, hello)

    def admit(self, sock, hello):
        if self.secret is None or self.agent.node != 0 or self.agent.ending:
            try:
                sock.send(frames.pack_json({"ok": False, "code": "no-key", "facts": {}}) + b"\n")
            except OSError:
                pass
            sock.close()
            return
        if len(self.unproven) >= MAX_UNPROVEN + self.agent.nodes:
            self.unproven[0].close("too many connections without a proof")
        self.take(sock, hello=hello)

    def take(self, sock, **how):
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line = peerline.Line(self.loop, sock, self.secret, self.agent.gang, self, **how)
        if not (line.closed or line.ready):
            self.unproven.append(line)

    def joined(self, line):
        if line in self.unproven:
            self.unproven.remove(line)
        node = 0 if line.dials else line.node
        if not line.dials and not 0 < node < self.agent.nodes:
            line.close("no such node")
            return
        old = self.lines.get(node)
        self.lines[node] = line
        if old is not None:
            old.close("there is a newer line")
        if line.dials:
            self.report()
        else:
            self.judge.joined(node)
            self.tunnels.joined(node)
        for failure in list(self.failures.first.values()):
            if not line.dials or failure["node"] == self.agent.node:
                line.send({"failed": self.failures.message(failure)})

    def tunnel(self, line, greeting):
        """A peer has connected for a tunnel, not for a line."""
        if line in self.unproven:
            self.unproven.remove(line)
        self.tunnels.arrived(line, greeting)

    def left(self, line):
        if line in self.unproven:
            self.unproven.remove(line)
        node = 0 if line.dials else line.node
        if self.lines.get(node) is line:
            del self.lines[node]
            if not line.dials:
                self.judge.left(node)
        if self.problems < MAX_PROBLEMS and line.why != self.problem:
            self.problems += 1
            self.agent.log("line to node %s: %s" % (node, line.why))
        if line.dials:
            self.passed += 0 if line.ready else 1
            self.problem = line.why
            self.soon(self.next_pause())

    def next_pause(self):
        """With jitter: all nodes of a gang lose node 0 at the same moment."""
        pause, self.pause = self.pause, min(self.pause * 2, RETRY_SECONDS[1])
        return pause * (0.7 + 0.6 * os.urandom(1)[0] / 255)

    def dial(self):
        if self.address is None or self.dialling or self.unproven:
            return
        if self.address == "same-host":
            self.try_unix()
            return
        host, port = self.address["host"], self.address["port"]
        try:
            self.try_found(socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST))
        except socket.gaierror:
            # a host name: resolving it may take long
            self.dialling = True
            Worker(self.loop, self.agent.origin, lambda: lookup(host, port), self.looked_up, RESOLVE_SECONDS)

    def looked_up(self, found, refused):
        self.dialling = False
        if refused is not None:
            self.failed(refused.code)
        elif not self.lines and not self.unproven:
            self.try_found([(family, 0, 0, "", tuple(address)) for family, address in found])

    def try_found(self, found):
        """The next one of its addresses: a name may have some that lead nowhere from here."""
        problem = "it has no address"
        for _ in found:
            family, _, _, _, address = found[self.passed % len(found)]
            try:
                self.take(peerline.dial(family, address), node=self.agent.node)
                return
            except OSError as error:
                self.passed += 1
                problem = str(error)
        self.failed(problem)

    def try_unix(self):
        place = places.Folder(self.agent.gang, 0, self.agent.config.get("folder"))
        problem = "no agent of node 0 is here"
        for parent in places.user_folders(place.bases):
            path = os.path.join(parent, place.name)
            if not (places.own_folder(parent, False) and places.own_folder(path, False)):
                continue
            try:
                self.take(peerline.dial(socket.AF_UNIX, os.path.join(path, "agent.sock")), node=self.agent.node)
                return
            except OSError as error:
                problem = str(error)
        self.failed(problem)

    def failed(self, problem):
        self.problem = problem
        self.soon(self.next_pause())

    # ---- talk

    def interval(self):
        idle = self.agent.lease.idle
        return REPORT_SECONDS if idle is None else max(0.05, min(REPORT_SECONDS, idle / 4.0))

    def soon(self, seconds):
        if self.timer is not None:
            self.timer.cancel()
        self.timer = self.loop.after(seconds, self.turn)

    def turn(self):
        """Of node k: reports, or dials. Of node 0: closes lines that are silent."""
        self.timer = None
        if self.agent.ending:
            return
        self.soon(self.interval())
        limit = max(SILENT_SECONDS, 3 * self.interval())
        for line in list(self.lines.values()):
            if self.loop.clock() - line.heard > limit:
                line.close("nothing heard for %d s" % limit)
        if self.agent.node != 0 and not self.report():
            self.dial()

    def report(self, **more):
        """Whether there is a line to report on."""
        line = self.lines.get(0)
        if line is None or self.agent.node == 0:
            return False
        line.send({"report": dict(self.judge.report(), **more)})
        return not line.closed

    def ask(self, number):
        self.tell({"ask": number}, None, plain=True)

    def tell(self, value, apart_from, plain=False):
        """To every line but one; a failure, unless `plain`."""
        for line in list(self.lines.values()):
            if line is not apart_from:
                line.send(value if plain else {"failed": value})

    def renewed(self):
        """The numbers of the lease have changed: sends them to the others at once."""
        if self.agent.node == 0 and self.lines:
            self.tell({"lease": self.judge.told()}, None, plain=True)
        else:
            self.report()

    def ends(self, why):
        """This agent ends. Node 0 sends its decision to the others."""
        if self.agent.node == 0 and why in idle.WORDS:
            self.tell({"let_go": why}, None, plain=True)

    def heard(self, line, message):
        if isinstance(message.get("failed"), dict):
            self.failures.heard(message["failed"], line)
        if isinstance(message.get("tunnel"), dict):
            self.tunnels.heard(line, message["tunnel"])
        if line.dials:
            self.problem, self.pause = "", RETRY_SECONDS[0]     # not before: it may have proved itself and still refuse
            if isinstance(message.get("lease"), dict):
                self.judge.tell(message["lease"])
            if is_number(message.get("ask")):
                self.report(ask=message["ask"])
            if isinstance(message.get("let_go"), str):
                self.judge.let_go(message["let_go"])
        elif isinstance(message.get("report"), dict):
            self.judge.report(line.node, message["report"])
            line.send({"lease": self.judge.told()})
        if line.dials or self.judge.asked is not None:
            self.agent.watch_lease()

    def status(self):
        if self.judge is None:
            return {"line": "none"}
        if self.agent.node == 0:
            value = {"line": "decides", "nodes": sorted(self.lines)}
            if self.listener is not None:
                value["port"] = self.listener.getsockname()[1]
            return value
        value = {"line": "up" if 0 in self.lines else "down"}
        if self.problem and 0 not in self.lines:
            value["problem"] = self.problem
        return value


def is_key(value):
    try:
        return isinstance(value, str) and len(bytes.fromhex(value)) == 32
    except ValueError:
        return False


def is_number(value):
    return not isinstance(value, bool) and isinstance(value, int) and 0 < value < 2 ** 53


def is_address(value, low):
    return (isinstance(value, dict) and isinstance(value.get("host"), str) and len(value["host"]) < 256
            and not isinstance(value.get("port"), bool) and isinstance(value.get("port"), int)
            and low <= value["port"] <= 65535)


def bound(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind((host, port))
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def lookup(host, port):
    return [[found[0], list(found[4])] for found in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)]
