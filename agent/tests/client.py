"""A small blocking client of the protocol, for tests only: what the gateway does, in a hundred lines."""
import functools
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import sys
import time
import uuid
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(HERE), "gpush_agent")
sys.path.insert(0, os.path.dirname(HERE))

from gpush_agent.link import frames

DEADLINE = 120.0        # ends a test that hangs; no machine that works is so slow
WINDOW = 4 << 20
COMPILED = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gpush", "agent")


@functools.lru_cache(None)
def usual_sources():
    return sources({})


def sources(extra):
    """As the build joins them; `extra`: texts of modules by their names, as in "core/clock"."""
    modules = {name[:-3]: text(name) for name in files() if name.endswith(".py") and name != "loader.py"}
    missing = set(extra).difference(modules)
    if missing:
        raise AssertionError("no such modules: %s" % sorted(missing))
    modules.update(extra)
    return zlib.compress(json.dumps(modules).encode())


def files():
    """The names of the agent's files, below its package."""
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), PACKAGE)


def text(name):
    with open(os.path.join(PACKAGE, name)) as file:
        return file.read()


def spawn(header, env=None, interpreters=None, extra=None, prefix=(), **options):
    """Starts the loader as a backend does and writes its input. `prefix`: a command that makes the place and execs the rest."""
    blob = sources(extra) if extra else usual_sources()
    env = dict(os.environ, LC_ALL="C") if env is None else env      # the poorest locale that a node can have
    header = dict(header, preamble=header.get("preamble") or uuid.uuid4().hex, source=len(blob))
    if not extra:
        header.setdefault("compiled", COMPILED)
    encoded = json.dumps(header).encode()
    command = ["sh", "-c", text("probe.sh"), "sh", text("loader.py")] + (interpreters or [sys.executable])
    process = subprocess.Popen(list(prefix) + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               bufsize=0, env=env, **options)
    process.preamble = header["preamble"]
    try:
        process.stdin.write(b"%08x" % len(encoded) + encoded + blob)
    except BrokenPipeError:
        pass
    return process


def relay(name, base, interpreters=None, seconds=0):
    """Starts the relay's own program as a gateway does that comes back; `base`: where agents of tests have their folders."""
    shell = text("host/relay.sh").replace('"$relay" "$name"', '"$relay" "$name" "%s"' % base)
    command = ["sh", "-c", shell, "sh", text("host/relay.py"), name, "wait=%d" % seconds] + (interpreters or [sys.executable])
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    process.preamble = uuid.uuid4().hex
    try:
        process.stdin.write((process.preamble + "\n").encode())
    except BrokenPipeError:     # it has ended already
        pass
    return process


def after_preamble(process):
    """Everything on stdout after the preamble, once the process has ended; (bytes, exit code, last line of stderr)."""
    process.stdin.close()
    out = process.stdout.read()
    err = process.stderr.read().decode().strip()
    code = process.wait()
    process.stdout.close()
    process.stderr.close()
    return out.partition((process.preamble + "\n").encode())[2], code, err.rpartition("\n")[2]


def free_port():
    """A port that is free, and that the kernel gives to nobody who asks for any: those are above 32767."""
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(20000, 32000)
        with socket.socket() as sock:
            try:
                sock.bind(("", port))
                return port
            except OSError:
                pass


def until(condition, seconds=DEADLINE, what="condition"):
    """Polls; there is no other waiting in these tests."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("not within %s s: %s" % (seconds, what))
        select.select([], [], [], 0.01)


class Stream:
    def __init__(self, client, number, credit):
        self.client, self.number = client, number
        self.out = [bytearray(), bytearray()]
        self.ended = [False, False]
        self.messages = []
        self.opened = self.refused = self.closed = None
        self.own_closed = False
        self.granted = credit
        self.received = 0
        self.allowed = 0
        self.sent = 0
        self.auto_credit = True
        self.sink = None            # called with every payload instead of keeping it

    def send(self, data, channel=0):
        view = memoryview(data)
        while view:
            self.client.pump(lambda: self.allowed > self.sent or self.closed is not None)
            if self.closed is not None:
                return
            piece = view[:min(self.allowed - self.sent, frames.MAX_DATA)]
            self.sent += len(piece)
            self.client.sequenced(frames.DATA, channel, self.number, bytes(piece))
            view = view[len(piece):]

    def end(self):
        if self.accepted().refused is None:
            self.client.sequenced(frames.END, 0, self.number)

    def message(self, value, urgent=True):
        if self.accepted().refused is None:
            self.client.sequenced(frames.MESSAGE, 1 if urgent else 0, self.number, frames.pack_json(value))

    def close(self):
        self.own_closed = True
        self.client.sequenced(frames.CLOSE, 0, self.number, b"{}")

    def accepted(self):
        self.client.pump(lambda: self.opened is not None or self.refused is not None)
        return self

    def finish(self, seconds=DEADLINE):
        """Until the peer's CLOSE or REFUSED; returns it."""
        self.client.pump(lambda: self.closed is not None or self.refused is not None, seconds)
        return self.closed if self.closed is not None else self.refused

    def wait_for(self, data, seconds=DEADLINE):
        self.client.pump(lambda: data in self.out[0], seconds)


class Cut(Exception):
    """The pipe ended."""


class Client:
    def __init__(self, incarnation=None, holder="me@here", term=1):
        self.incarnation = incarnation or uuid.uuid4().hex
        self.holder, self.term = holder, term
        self.at = 0                 # when it says HELLO, by its own clock
        self.agent, self.last_in, self.last_out = "", 0, 0
        self.kept = []
        self.streams = {}
        self.next = 1
        self.bye = self.welcome = None
        self.process = None
        self.accepted = []
        self.numbers = set()

    # ---- the pipe

    def connect(self, process):
        """Uses a freshly spawned loader; says HELLO at once, before the preamble is there (None: it has come)."""
        self.process = process
        self.waiting, self.arrived, self.handling = [], [], False
        self.parser = frames.Parser()
        self.bye = self.welcome = None
        self.fd_in, self.fd_out = process.stdout.fileno(), process.stdin.fileno()
        self.raw(frames.encode(frames.HELLO, 0, 0, 0, frames.pack_json(
            {"version": 2, "holder": self.holder, "incarnation": self.incarnation, "term": self.term,
             "agent": self.agent, "last": self.last_in, "at": self.at})))
        head = b""
        mark = b"" if process.preamble is None else (process.preamble + "\n").encode()
        while mark not in head:
            part = os.read(self.fd_in, 1)
            if not part:
                raise Cut(process.stderr.read().decode())
            head += part
        self.pump(lambda: self.welcome is not None or self.bye is not None)
        if self.bye is not None:
            return self
        self.agent = self.welcome["agent"]
        if self.welcome["resumed"]:
            last = self.welcome["last"]
            for sequence, frame in self.kept:
                if sequence > last:
                    self.raw(frame)
            for stream in self.streams.values():
                self.credit(stream)
        else:
            self.last_in = self.last_out = 0
            self.kept, self.streams = [], {}
        return self

    def raw(self, data):
        """Writes, and reads meanwhile when the pipe is full; what reading wants written waits for its turn."""
        self.waiting.append(data)
        if len(self.waiting) > 1:
            return
        os.set_blocking(self.fd_out, False)
        while self.waiting:
            view = memoryview(self.waiting[0])
            while view:
                try:
                    view = view[os.write(self.fd_out, view):]
                except BlockingIOError:
                    if select.select([self.fd_in], [self.fd_out], [], 1.0)[0]:
                        self.read(0)
                except BrokenPipeError:
                    break           # the relay has ended; what it still had for us, a BYE say, is read first
            self.waiting.pop(0)

    def sequenced(self, kind, flags, stream, payload=b""):
        self.last_out += 1
        frame = frames.encode(kind, flags, stream, self.last_out, payload)
        self.kept.append((self.last_out, frame))
        self.raw(frame)

    def credit(self, stream):
        if stream.auto_credit:
            stream.granted = stream.received + WINDOW
        self.raw(frames.encode(frames.CREDIT, 0, stream.number, 0, frames.NUMBER.pack(stream.granted)))

    def read(self, seconds):
        """One read of the pipe, if something comes within that time."""
        if not select.select([self.fd_in], [], [], seconds)[0]:
            return
        chunk = os.read(self.fd_in, 1 << 20)
        if not chunk:
            raise Cut("read, bye: %s" % self.bye)
        self.arrived.extend(self.parser.feed(chunk))
        if self.handling:
            return              # called while a frame is handled: the order of frames must stay
        self.handling = True
        try:
            while self.arrived:
                frame = self.arrived.pop(0)
                if isinstance(frame, frames.Bad):
                    raise frame
                self.frame(*frame)
        finally:
            self.handling = False

    def pump(self, condition, seconds=DEADLINE):
        end = time.monotonic() + seconds
        while not condition():
            left = end - time.monotonic()
            if left <= 0:
                raise AssertionError("nothing came within %s s" % seconds)
            self.read(left)

    def frame(self, kind, flags, number, sequence, payload):
        if kind in frames.SEQUENCED:
            if sequence <= self.last_in:
                return
            assert sequence == self.last_in + 1, "gap: %d after %d" % (sequence, self.last_in)
            self.last_in = sequence
            if sequence % 64 == 0:
                self.raw(frames.encode(frames.ACK, 0, 0, 0, frames.NUMBER.pack(sequence)))
        if kind == frames.WELCOME:
            self.welcome = frames.unpack_json(payload)
        elif kind == frames.BYE:
            self.bye = frames.unpack_json(payload)
        elif kind == frames.ACK:
            value = frames.NUMBER.unpack(payload)[0]
            self.kept = [item for item in self.kept if item[0] > value]
        elif kind == frames.PING:
            self.raw(frames.encode(frames.PONG, 0, 0, 0, payload))
        elif kind == frames.PONG:
            self.pong = payload
        elif kind == frames.OPEN:
            value = frames.unpack_json(payload)
            stream = Stream(self, number, WINDOW)
            stream.allowed, stream.value, stream.opened = value["credit"], value, {}
            self.streams[number] = stream
            self.sequenced(frames.OPENED, 0, number, frames.pack_json({"credit": WINDOW}))
            self.accepted.append(stream)
        else:
            stream = self.streams.get(number)
            if stream is not None:
                self.on_stream(stream, kind, flags, payload)

    def on_stream(self, stream, kind, flags, payload):
        if kind == frames.CREDIT:
            stream.allowed = max(stream.allowed, frames.NUMBER.unpack(payload)[0])
        elif kind == frames.OPENED:
            stream.opened = frames.unpack_json(payload)
            stream.allowed = max(stream.allowed, stream.opened["credit"])
        elif kind == frames.REFUSED:
            stream.refused = frames.unpack_json(payload)
            del self.streams[stream.number]
        elif kind == frames.DATA:
            assert not stream.ended[flags], "DATA after END"
            stream.received += len(payload)
            assert stream.received <= stream.granted, "beyond credit"
            if stream.sink is not None:
                stream.sink(payload)
            else:
                stream.out[flags] += payload
            if stream.auto_credit and stream.granted - stream.received < WINDOW // 2:
                self.credit(stream)
        elif kind == frames.END:
            stream.ended[flags] = True
        elif kind == frames.MESSAGE:
            stream.messages.append(frames.unpack_json(payload))
        elif kind == frames.CLOSE:
            stream.closed = frames.unpack_json(payload)
            if not stream.own_closed:
                stream.close()
            del self.streams[stream.number]

    # ---- streams

    def open(self, value, credit=WINDOW):
        number, self.next = self.next, self.next + 2
        stream = Stream(self, number, credit)
        self.streams[number] = stream
        self.sequenced(frames.OPEN, 0, number, frames.pack_json(dict(value, credit=credit)))
        return stream

    def exec(self, **value):
        return self.open(dict({"type": "exec", "stdin": True}, **value), value.pop("credit", WINDOW))

    def run(self, command, stdin=b"", **value):
        """(stdout, stderr, the CLOSE) of a command."""
        stream = self.exec(command=command, **value)
        stream.accepted()
        if stream.refused is None:
            stream.send(stdin)
            if stream.closed is None:
                stream.end()
            stream.finish()
        return bytes(stream.out[0]), bytes(stream.out[1]), stream.closed or stream.refused

    def call(self, method, **params):
        stream = self.open({"type": "call", "method": method, "params": params})
        stream.finish()
        return stream.refused or stream.messages[0]["result"]

    def cut(self):
        """Kills the relay, as a broken network would."""
        self.process.kill()
        self.end()

    def end(self):
        if self.process is not None:
            for file in (self.process.stdin, self.process.stdout, self.process.stderr):
                try:
                    file.close()
                except OSError:
                    pass
            self.process.wait()
            self.process = None
