"""TCP from this node to the others and back: the answer to the call check.pairs.

All nodes are asked at once. Each listens on its port until every other node has come or the time is over, and dials the
others again until they listen. An answer must have the check's mark, so that another program is not taken for a node."""
import errno
import selectors
import socket
import time

from ..core.refused import Refused

MOST_SECONDS = 20.0         # a worker of calls.py ends after 30
MOST_PEERS = 256
AGAIN_SECONDS = 0.1         # between two dials of one node; its listener may not be there yet
LINE = 200                  # bytes of a greeting
BACKLOG = 512


def answer(params):
    """`params`: {"node": own number, "port": to listen on, "from": own address ("" for any), "mark": text of this check,
    "peers": [{"node", "address", "port"}], "seconds"}."""
    peers, seconds = params.get("peers"), params.get("seconds", 5)
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not 0 < seconds <= MOST_SECONDS:
        raise Refused("bad-request", {"field": "seconds"})
    if not isinstance(peers, list) or len(peers) > MOST_PEERS or not all(
            isinstance(peer, dict) and number(peer.get("node")) and number(peer.get("port")) and text(peer.get("address"))
            for peer in peers):
        raise Refused("bad-request", {"field": "peers"})
    for field, fits in (("node", number), ("port", number), ("mark", text)):
        if not fits(params.get(field)):
            raise Refused("bad-request", {"field": field})
    if not isinstance(params.get("from", ""), str):
        raise Refused("bad-request", {"field": "from"})
    return Pairs(params, time.monotonic() + seconds).run()


def number(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 65536


def text(value):
    return isinstance(value, str) and 0 < len(value) < 256 and value.isprintable()


def code(error):
    return errno.errorcode.get(error.errno, "EIO")


class Dial:
    """The connection to one other node, made again until it answers or the time is over."""

    def __init__(self, pairs, peer):
        self.pairs, self.peer = pairs, peer
        self.sock, self.got, self.why, self.ms, self.next = None, b"", "timeout", None, 0.0

    def start(self, now):
        try:
            address = socket.getaddrinfo(self.peer["address"], self.peer["port"], 0, socket.SOCK_STREAM, 0,
                                         socket.AI_NUMERICHOST)[0]
        except (OSError, UnicodeError):
            self.why = "name"
            self.next = float("inf")
            return
        self.next, self.got, self.begun = now + AGAIN_SECONDS, b"", now
        self.sock = socket.socket(address[0], socket.SOCK_STREAM)
        self.sock.setblocking(False)
        try:
            if self.pairs.own:
                self.sock.bind((self.pairs.own, 0))
            self.sock.connect(address[4])
        except BlockingIOError:
            self.why = "timeout"
        except OSError as error:
            self.failed(code(error))
            return
        self.pairs.selector.register(self.sock, selectors.EVENT_WRITE, self.connected)

    def connected(self):
        error = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            self.failed(errno.errorcode.get(error, "EIO"))
            return
        self.pairs.selector.modify(self.sock, selectors.EVENT_READ, self.readable)
        try:
            self.sock.send(self.pairs.greeting(self.pairs.node))
        except OSError as broken:
            self.failed(code(broken))

    def readable(self):
        try:
            data = self.sock.recv(LINE)
        except OSError as error:
            self.failed(code(error))
            return
        self.got += data
        if self.got == self.pairs.greeting(self.peer["node"]):
            self.ms = (time.monotonic() - self.begun) * 1000
            self.close()
        elif not data or len(self.got) >= LINE or not self.pairs.greeting(self.peer["node"]).startswith(self.got):
            self.failed("foreign")

    def failed(self, why):
        self.why = why
        self.close()

    def close(self):
        if self.sock is not None:
            try:
                self.pairs.selector.unregister(self.sock)
            except KeyError:
                pass
            self.sock.close()
            self.sock = None

    def result(self):
        if self.ms is not None:
            return {"node": self.peer["node"], "ms": round(self.ms, 3)}
        return {"node": self.peer["node"], "why": self.why}


class Pairs:
    def __init__(self, params, end):
        self.node, self.mark, self.own, self.end = params["node"], params["mark"], params.get("from", ""), end
        self.selector = selectors.DefaultSelector()
        self.missing = {peer["node"] for peer in params["peers"]}      # have not dialled us yet
        self.dials = [Dial(self, peer) for peer in params["peers"]]
        self.port = params["port"]

    def greeting(self, node):
        return ("%s %d\n" % (self.mark, node)).encode()

    def run(self):
        with socket.socket(socket.AF_INET6 if ":" in self.own else socket.AF_INET, socket.SOCK_STREAM) as listener:
            try:
                self.listen(listener)
            except OSError as error:
                return {"listen": code(error)}
            return self.connect(listener)

    def connect(self, listener):
        self.selector.register(listener, selectors.EVENT_READ, lambda: self.accept(listener))
        while True:
            now = time.monotonic()
            open_dials = [dial for dial in self.dials if dial.ms is None and dial.next != float("inf")]
            if now >= self.end or not (open_dials or self.missing):
                break
            for dial in open_dials:
                if dial.sock is None and now >= dial.next:
                    dial.start(now)
            for key, _ in self.selector.select(min(AGAIN_SECONDS, max(0.0, self.end - time.monotonic()))):
                key.data()
        for dial in self.dials:
            dial.close()
        return {"pairs": [dial.result() for dial in self.dials]}

    def listen(self, listener):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.own, self.port))
        listener.listen(BACKLOG)
        listener.setblocking(False)

    def accept(self, listener):
        try:
            sock = listener.accept()[0]
        except OSError:
            return
        sock.setblocking(False)
        got = []

        def readable():
            try:
                data = sock.recv(LINE)
            except OSError:
                data = b""
            got.append(data)
            line = b"".join(got)
            if data and not line.endswith(b"\n") and len(line) < LINE:
                return
            self.selector.unregister(sock)
            for node in list(self.missing):
                if line == self.greeting(node):
                    self.missing.discard(node)
            if line.startswith(self.mark.encode() + b" "):
                try:
                    sock.send(self.greeting(self.node))
                except OSError:
                    pass
            sock.close()

        self.selector.register(sock, selectors.EVENT_READ, readable)
