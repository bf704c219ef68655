"""Links through node 0's agent, for a gang with more nodes than its place has pipes for (docs/technical/link.md section 9).

    gateway <== TLS ==> stream of node 0's link <-> agent 0 (copies) <-> connection that agent k dialled <== TLS ==> agent k

The gateway opens a stream of type `tunnel` on node 0's link. Node 0 tells agent k on the peer line, k dials node 0, and node 0
copies bytes that it cannot read. Within TLS the gateway is the server: k compares its certificate with the pin that came over
the peer line, and then says a word that only an agent of this gang can know for this tunnel."""
import os
import socket

from ..core.digest import sha256
from ..core.refused import Refused
from ..link import frames
from ..streams.connections import Connection
from . import peerline

WAIT_SECONDS = 10.0         # node 0 waits so long for the line to node k and then for its connection
LINGER_SECONDS = 5.0        # how long buffered bytes may take to be written once one side has ended
MAX_ENDS = 16               # tunnels of one node; a gateway needs one, and another while it replaces the first
MAX_ANSWER = 1024           # bytes of node 0's answer to our greeting
READ = 131072
FULL = 262144               # bytes that wait for one side before the other is read no further
REFUSALS = ("no-tls", "unreachable", "limit")


class Tunnels:
    """Of one agent: those that wait for node k's connection (on node 0), and the far ends (on the others)."""

    def __init__(self, agent, peers):
        self.agent, self.peers = agent, peers
        self.waiting = {}           # id -> Tunnel
        self.ends = {}              # id -> End

    # ---- node 0

    def add(self, tunnel):
        self.waiting[tunnel.id] = tunnel
        self.ask(tunnel)

    def ask(self, tunnel):
        """Asks node k once, as soon as there is a line to it."""
        line = self.peers.lines.get(tunnel.node)
        if line is not None and not tunnel.asked:
            tunnel.asked = True
            line.send({"tunnel": {"id": tunnel.id, "pin": tunnel.pin}})

    def joined(self, node):
        for tunnel in list(self.waiting.values()):
            if tunnel.node == node:
                self.ask(tunnel)

    def arrived(self, line, value):
        """A peer has connected as the far end of a tunnel."""
        name = value.get("id")
        tunnel = self.waiting.get(name) if isinstance(name, str) else None
        if (tunnel is None or line.buffer or value.get("version") != peerline.VERSION or value.get("node") != tunnel.node
                or not peerline.same(self.prove("tunnel-dials", tunnel.node, tunnel.id, tunnel.pin), value.get("proof"))):
            line.refuse("no-tunnel", {})
            return
        del self.waiting[name]
        sock = line.hand_over()
        try:
            sock.send(b'{"ok":true}\n')
        except OSError:
            sock.close()
            tunnel.refuse(Refused("unreachable"))
            return
        word = self.prove("tunnel-end", tunnel.node, tunnel.id, tunnel.pin)
        tunnel.connected(sock, sha256(word.encode()).hexdigest())

    def abandoned(self, tunnel):
        """The gateway of this tunnel will not come back: node k hangs up what it ran."""
        line = self.peers.lines.get(tunnel.node)
        if line is not None:
            line.send({"tunnel": {"id": tunnel.id, "over": True}})

    # ---- both

    def busy(self):
        """Whether the last bytes are still being written."""
        return any(end.out for end in self.ends.values())

    def heard(self, line, value):
        name, pin = value.get("id"), value.get("pin")
        if not line.dials:
            tunnel = self.waiting.get(name) if isinstance(name, str) else None
            if tunnel is not None and tunnel.node == line.node and value.get("refused") in REFUSALS:
                tunnel.refuse(Refused(value["refused"], {"node": line.node}))
        elif value.get("over") is True:
            if isinstance(name, str) and name in self.ends:
                self.ends[name].abandoned()
        elif peerline.is_nonce(name) and is_pin(pin) and name not in self.ends and not self.agent.ending:
            refused = self.dial(line, name, pin)
            if refused is not None:
                line.send({"tunnel": {"id": name, "refused": refused}})

    def prove(self, what, node, name, pin):
        return peerline.proof(self.peers.secret, what, peerline.VERSION, self.agent.gang, node, name, pin)

    # ---- node k

    def dial(self, line, name, pin):
        """Why not, or None. Where node 0 is we know from the line that it told us on."""
        if len(self.ends) >= MAX_ENDS:
            return "limit"
        tls = context()
        if tls is None:
            return "no-tls"
        node = self.agent.node
        hello = {"do": "tunnel", "version": peerline.VERSION, "node": node, "id": name,
                 "proof": self.prove("tunnel-dials", node, name, pin)}
        try:
            sock = peerline.dial(line.sock.family, line.sock.getpeername())
        except OSError:
            return "unreachable"
        self.ends[name] = End(self.agent, sock, tls, pin, frames.pack_json(hello) + b"\n",
                              self.prove("tunnel-end", node, name, pin).encode() + b"\n", lambda: self.ends.pop(name, None))
        return None


class Tunnel(Connection):
    """Node 0's part: a stream of the link, and the connection of node k. Bytes are copied as they are."""

    def __init__(self, agent, stream, value):
        super().__init__(agent, stream)
        self.node, self.pin = value.get("node"), value.get("pin")
        if isinstance(self.node, bool) or not isinstance(self.node, int) or not 0 < self.node < agent.nodes:
            raise Refused("bad-request", {"field": "node"})
        if not is_pin(self.pin):
            raise Refused("bad-request", {"field": "pin"})
        if agent.node != 0 or agent.peers.secret is None:
            raise Refused("no-key")
        self.id = os.urandom(16).hex()
        self.asked = False
        self.tunnels = agent.peers.tunnels
        self.timer = self.loop.after(WAIT_SECONDS, self.late)
        self.tunnels.add(self)

    def connected(self, sock, expected):
        self.timer.cancel()
        self.attach(sock)
        self.stream.opened({"expect": expected})
        self.room()

    def late(self):
        self.refuse(Refused("timeout" if self.asked else "no-line", {"node": self.node}))

    def refuse(self, refused):
        if not self.over:
            self.over = True
            self.forget()
            self.stream.refuse(refused.code, refused.facts)

    def forget(self):
        self.timer.cancel()
        self.tunnels.waiting.pop(self.id, None)

    def close(self, value, cut):
        self.forget()
        if cut and self.socket is not None:
            self.tunnels.abandoned(self)
        super().close(value, cut)


class End:
    """Node k's part: TLS with the gateway on the connection to node 0, plain frames on a socket of our own agent."""

    def __init__(self, agent, sock, tls, pin, hello, word, forget):
        self.agent, self.loop, self.sock, self.tls, self.pin, self.word, self.forget = agent, agent.loop, sock, tls, pin, word, forget
        self.out = bytearray(hello)     # waits for node 0
        self.inside = bytearray()       # waits for our agent
        self.answer = bytearray()       # what node 0 says to our greeting
        self.plain = self.pipe = None   # our end of a socket pair and the agent's, once the gateway is the one announced
        self.answered = self.full = self.ending = self.closed = False
        self.timer = self.loop.after(WAIT_SECONDS, lambda: self.close("no tunnel in time"))
        self.watch()

    def watch(self):
        """Reads each side only while what comes from it has a place to go."""
        if self.ending and not self.out and not self.inside:
            self.close()
        if self.closed:
            return
        self.loop.read(self.sock.fileno(), None if self.ending or self.full else self.readable)
        self.loop.write(self.sock.fileno(), self.writable if self.out else None)
        if self.plain is not None:
            self.loop.read(self.plain.fileno(), None if self.ending or len(self.out) >= FULL else self.said)
            self.loop.write(self.plain.fileno(), self.deliver if self.inside else None)

    # ---- node 0's side

    def readable(self):
        try:
            chunk = self.sock.recv(READ)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.out.clear()            # it is no longer read
            self.end()
        elif self.answered:
            self.tls.incoming.write(chunk)
            self.turn()
        else:
            self.hear(chunk)

    def hear(self, chunk):
        """Node 0's one line; everything after it is TLS."""
        self.answer += chunk
        line, end, rest = bytes(self.answer).partition(b"\n")
        if not end and len(line) <= MAX_ANSWER:
            return
        if line != b'{"ok":true}':
            self.close("refused by node 0")
            return
        self.answered = True
        self.tls.incoming.write(rest)
        self.turn()

    def writable(self):
        try:
            while self.out:
                del self.out[:self.sock.send(self.out)]
        except BlockingIOError:
            pass
        except OSError:
            self.out.clear()
            self.end()
        self.watch()

    # ---- TLS

    def turn(self):
        """Takes on what came from the gateway, as far as our agent has room for it."""
        try:
            if self.plain is None:
                self.tls.handshake()
                if not self.begin():
                    return
            while len(self.inside) < FULL:
                chunk = self.tls.read(READ)
                if not chunk:
                    raise self.tls.over()
                self.inside += chunk
        except self.tls.wants:
            self.full = False
        except self.tls.over:
            self.end()
        except self.tls.errors as error:
            self.close("TLS: %s" % error)
        else:
            self.full = True            # there is more behind it
        self.speak()
        self.deliver()

    def begin(self):
        """The handshake is done. If the gateway is the announced one, sends the proof to it."""
        if not peerline.same(self.pin, sha256(self.tls.certificate()).hexdigest()):
            self.close("another certificate")
            return False
        self.timer.cancel()
        self.tls.write(self.word)
        self.plain, other = socket.socketpair()
        self.plain.setblocking(False)
        self.pipe = self.agent.adopt(other)
        return True

    def speak(self):
        """Sends the output of TLS to node 0."""
        self.out += self.tls.outgoing.read()
        self.writable()

    # ---- our agent's side

    def said(self):
        try:
            chunk = self.plain.recv(READ)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if chunk:
            self.tls.write(chunk)
        else:
            self.end()
        self.speak()

    def deliver(self):
        try:
            while self.inside:
                del self.inside[:self.plain.send(self.inside)]
        except BlockingIOError:
            pass
        except OSError:                 # our agent has closed the pipe
            self.inside.clear()
            self.end()
        if self.full and not self.inside and not self.ending:
            self.loop.after(0.0, lambda: self.closed or self.turn())
        self.watch()

    # ---- the end

    def abandoned(self):
        """That gateway will not resume: treated as if it had sent that itself."""
        if self.pipe is not None:
            self.agent.left(self.pipe)
        self.close()

    def end(self):
        """One side has ended: buffered bytes are still written."""
        if not self.ending:
            self.ending = True
            self.timer.cancel()
            self.timer = self.loop.after(LINGER_SECONDS, self.close)
            self.watch()

    def close(self, why=""):
        if self.closed:
            return
        self.closed = True
        if why:
            self.agent.log("tunnel: " + why)
        self.timer.cancel()
        for sock in (self.sock, self.plain):
            if sock is not None:
                self.loop.forget(sock.fileno())
                sock.close()
        self.forget()


class Tls:
    """The few functions of Python's ssl module that are needed, between two buffers."""

    def __init__(self, ssl):
        settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        settings.check_hostname = False
        settings.verify_mode = ssl.CERT_NONE        # the certificate is compared with the pin, byte for byte
        if hasattr(settings, "minimum_version"):    # 3.7
            settings.minimum_version = ssl.TLSVersion.TLSv1_2
        else:
            settings.options |= ssl.OP_NO_TLSv1 | ssl.OP_NO_TLSv1_1
        self.wants, self.over, self.errors = ssl.SSLWantReadError, ssl.SSLZeroReturnError, ssl.SSLError
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        end = settings.wrap_bio(self.incoming, self.outgoing)
        self.handshake, self.read, self.write = end.do_handshake, end.read, end.write
        self.certificate = lambda: end.getpeercert(True) or b""


def context():
    """TLS for one tunnel, or None where this Python has no ssl that can be used."""
    try:
        import ssl
        return Tls(ssl)
    except (ImportError, OSError, ValueError, AttributeError):
        return None


def is_pin(value):
    return isinstance(value, str) and len(value) == 64 and all(digit in "0123456789abcdef" for digit in value)
