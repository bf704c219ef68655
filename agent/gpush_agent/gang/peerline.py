"""The line between two agents of one gang: JSON lines over any stream socket. Both ends prove that they know the gang's
secret before either believes anything, and every message after that carries a proof of what it is and where in the
conversation it stands (docs/technical/link.md section 8). Nothing is hidden from who can read the wire: no secrets go here,
and TLS can be put around the socket (`binding` then ties the proofs to that very connection)."""
import json
import os
import socket
import struct

from ..core.digest import hmac_sha256, same_bytes
from ..link import frames

VERSION = 1
GREETING_SECONDS = 10.0     # how long a peer may take to prove itself
MAX_GREETING = 1024         # bytes of a line from a peer that has not proved itself
MAX_LINE = 16384
MAX_OUT = 65536             # the most bytes that wait for a peer that does not read; then its line is closed
MAX_A_SECOND = 200          # messages; a gang says a few
READ = 16384
DIGEST = 64                 # hex digits of a proof
COUNTER = struct.Struct(">Q")


def proof(secret, *parts):
    """HMAC-SHA256, in hex, of parts that cannot run into each other."""
    return hmac_sha256(secret, json.dumps(("gpush-peer",) + parts).encode())


class Line:
    """One end. `owner` is told joined(line), heard(line, message) and, once in any case, left(line); or tunnel(line, greeting)
    of a caller that wants no line, and left(line) only when the owner did not take the socket."""

    def __init__(self, loop, sock, secret, gang, owner, node=None, hello=None, binding=""):
        """`node`: who we are, when we dial; without it we answer, and learn who calls. `hello`: the caller's first line,
        when it was read already."""
        self.loop, self.sock, self.secret, self.gang, self.owner, self.node = loop, sock, secret, gang, owner, node
        self.binding = binding
        self.dials = node is not None
        self.ready = self.closed = False
        self.why = ""               # it was closed
        self.nonce = os.urandom(16).hex()
        self.theirs = ""
        self.key_in = self.key_out = b""
        self.count_in = self.count_out = 0
        self.second = self.this_second = 0
        self.heard = loop.clock()
        self.buffer, self.out = bytearray(), bytearray()
        self.timer = loop.after(GREETING_SECONDS, lambda: self.close("no proof in time"))
        sock.setblocking(False)
        loop.read(sock.fileno(), self.readable)
        if self.dials:
            self.put({"do": "peer", "version": VERSION, "node": node, "nonce": self.nonce})
        elif hello is not None:
            self.greeted(hello)

    # ---- reading

    def readable(self):
        try:
            chunk = self.sock.recv(READ)
        except BlockingIOError:
            return
        except OSError as error:
            self.close(str(error))
            return
        if not chunk:
            self.close("the other end closed it")
            return
        self.buffer += chunk
        while not self.closed:
            limit = MAX_LINE if self.ready else MAX_GREETING
            end = self.buffer.find(b"\n", 0, limit + 1)
            if end < 0:
                if len(self.buffer) > limit:
                    self.close("line too long")
                return
            line = bytes(self.buffer[:end])
            del self.buffer[:end + 1]
            try:
                if self.ready:
                    self.message(line)
                else:
                    self.greeting(frames.unpack_json(line))
            except frames.Bad:
                self.close("not a message")

    def greeting(self, value):
        if not self.dials and not self.theirs:
            self.greeted(value)
        elif self.dials:
            self.answered(value)
        else:
            self.proved(value)

    def greeted(self, value):
        """We answer: the caller sends its number and a nonce; this end proves itself first, which does not help to guess."""
        node, nonce = value.get("node"), value.get("nonce")
        if value.get("do") == "tunnel":
            self.owner.tunnel(self, value)
        elif value.get("do") != "peer" or value.get("version") != VERSION:
            self.refuse("version", {"version": VERSION})
        elif isinstance(node, bool) or not isinstance(node, int) or not is_nonce(nonce):
            self.refuse("bad-request", {})
        else:
            self.node, self.theirs = node, nonce
            self.put({"ok": True, "nonce": self.nonce, "proof": self.say("answers")})

    def answered(self, value):
        """We dial: the other end has proved itself, or it is not of our gang."""
        if value.get("ok") is not True:
            self.close("refused: %s" % plain(value.get("code"), 40))
            return
        if not is_nonce(value.get("nonce")):
            self.close("not a message")
            return
        self.theirs = value["nonce"]
        if not same(self.say("answers"), value.get("proof")):
            self.close("another key")
            return
        self.put({"proof": self.say("dials")})
        self.begin()

    def proved(self, value):
        if not same(self.say("dials"), value.get("proof")):
            self.close("another key")
            return
        self.begin()

    def say(self, what):
        mine, theirs = (self.nonce, self.theirs) if self.dials else (self.theirs, self.nonce)
        return proof(self.secret, what, VERSION, self.gang, self.node, mine, theirs, self.binding)

    def begin(self):
        self.timer.cancel()
        up, down = bytes.fromhex(self.say("up")), bytes.fromhex(self.say("down"))
        self.key_in, self.key_out = (down, up) if self.dials else (up, down)
        self.ready = True
        self.heard = self.loop.clock()
        self.owner.joined(self)

    def message(self, line):
        """The counter is not on the wire: what is left out, repeated or moved has another number here than there."""
        second = int(self.loop.clock())
        self.this_second = self.this_second + 1 if second == self.second else 1
        self.second = second
        if self.this_second > MAX_A_SECOND:
            self.close("too many messages")
            return
        payload = line[DIGEST + 1:]
        if not same(seal(self.key_in, self.count_in, payload), line[:DIGEST].decode("latin-1")):
            self.close("a message that is not genuine")
            return
        self.count_in += 1
        self.heard = self.loop.clock()
        self.owner.heard(self, frames.unpack_json(payload))

    # ---- writing

    def send(self, message):
        payload = frames.pack_json(message)
        self.write(seal(self.key_out, self.count_out, payload).encode() + b" " + payload + b"\n")
        self.count_out += 1

    def put(self, value):
        self.write(frames.pack_json(value) + b"\n")

    def write(self, data):
        if not self.closed:
            self.out += data
            self.flush()

    def flush(self):
        if self.closed:
            return
        try:
            while self.out:
                del self.out[:self.sock.send(self.out)]
        except BlockingIOError:
            pass
        except OSError as error:
            self.close(str(error))
            return
        if len(self.out) > MAX_OUT:
            self.close("the other end does not read")
            return
        self.loop.write(self.sock.fileno(), self.flush if self.out else None)

    def refuse(self, code, facts):
        self.put({"ok": False, "code": code, "facts": facts})
        self.close("refused: " + code)

    def close(self, why):
        if self.closed:
            return
        self.why = why
        self.hand_over().close()
        self.owner.left(self)

    def hand_over(self):
        """Gives the socket away; it is no longer a line."""
        self.closed = True
        self.timer.cancel()
        self.loop.forget(self.sock.fileno())
        return self.sock


def seal(key, count, payload):
    return hmac_sha256(key, COUNTER.pack(count) + payload)


def same(expected, got):
    return isinstance(got, str) and same_bytes(expected.encode(), got.encode("utf-8", "replace"))


def is_nonce(value):
    return isinstance(value, str) and len(value) == 32 and all(digit in "0123456789abcdef" for digit in value)


def plain(value, size):
    """Text of another machine, safe for a log and a status."""
    return "".join(char for char in str(value)[:size] if char.isprintable())


def dial(family, address):
    """A socket that connects to that address; OSError when that fails at once."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        sock.connect(address)
    except BlockingIOError:
        if family == socket.AF_UNIX:        # its queue is full
            sock.close()
            raise
    except OSError:
        sock.close()
        raise
    return sock
