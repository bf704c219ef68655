"""A stream to a node through the gateway's control socket (docs/technical/control.md), for the end of a copy that the user started.
When the gateway is gone it is started again, as by any other command."""
import os
import socket
import struct
import subprocess

from .wire import Failed, Lost, Wire

FRAME = struct.Struct(">IB")
MAGIC, PROTOCOL = 0x67707368, 1
HELLO, REQUEST, INPUT = 1, 2, 3
OUTPUT, ERROR, WANT, EXIT, REFUSED = 32, 33, 36, 38, 39
LARGEST = 64 << 10          # of a frame of input
MAX_FRAME = 4 << 20
GREETING_SECONDS = 60.0
AGAIN = 75                  # the status of __copy when the same may work a moment later
MAX_COMPLAINT = 4096


def string(value):
    encoded = value.encode("utf-8", "surrogateescape")
    return struct.pack(">I", len(encoded)) + encoded


class Stream:
    """One process on a node; read and write as a Wire wants them."""

    def __init__(self, place, session, node):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.credit, self.output, self.complaint = 0, memoryview(b""), b""
        self.buffer = bytearray(256 << 10)
        self.start = self.end = 0
        try:
            self.socket.settimeout(GREETING_SECONDS)
            self.socket.connect(place["socket"])
            self.frame(HELLO, struct.pack(">II", MAGIC, PROTOCOL) + string(place["build"]) + string(place["home"])
                       + struct.pack(">q", os.getpid()))
            words = ["__copy", session, str(node)]
            request = struct.pack(">I", len(words)) + b"".join(map(string, words)) + string("/") + struct.pack(">I", 0)
            facts = b"\0\0\0" + struct.pack(">II", 0, 0) + string("") + struct.pack(">I", 0)
            self.frame(REQUEST, request + facts + struct.pack(">q", os.getpid()))
            self.socket.settimeout(None)
        except OSError as error:
            self.close()
            raise Lost("no gateway answers: %s" % (error.strerror or error))

    def close(self):
        self.socket.close()

    def cut(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass                # it is cut already
        self.socket.close()

    def frame(self, kind, payload):
        views = [FRAME.pack(len(payload), kind), payload]
        count = self.socket.sendmsg(views)
        for view in views:
            skip = min(count, len(view))
            count -= skip
            if skip < len(view):
                self.socket.sendall(memoryview(view)[skip:])

    # ---- for the wire

    def write(self, views):
        try:
            for view in views:
                view = memoryview(view)
                while len(view):
                    while self.credit <= 0:
                        self.next()
                    piece = view[:min(LARGEST, self.credit)]
                    self.credit -= len(piece)
                    self.frame(INPUT, piece)
                    view = view[len(piece):]
        except OSError as error:
            raise Lost(self.why(error.strerror or str(error)))

    def read(self, view):
        try:
            while not len(self.output):
                self.next()
        except OSError as error:
            raise Lost(self.why(error.strerror or str(error)))
        count = min(len(view), len(self.output))
        view[:count] = self.output[:count]
        self.output = self.output[count:]
        return count

    def next(self):
        """Takes one frame; output must have been read."""
        kind, payload = self.receive()
        if kind == OUTPUT:
            self.output = memoryview(bytes(self.output) + bytes(payload) if len(self.output) else bytes(payload))
        elif kind == WANT:
            self.credit += struct.unpack(">i", payload)[0]
        elif kind == ERROR:
            self.complaint = (self.complaint + bytes(payload))[-MAX_COMPLAINT:]
        elif kind == EXIT:
            status = struct.unpack(">i", payload)[0]
            if status not in (0, AGAIN):
                raise Failed(self.why("the node ended it with status %d" % status), "over")
            raise Lost(self.why("the node ended it"))
        elif kind == REFUSED:
            raise Lost("the gateway refused")

    def why(self, otherwise):
        """What the gateway said, as one line."""
        said = " ".join(self.complaint.decode("utf-8", "replace").split())
        return said or otherwise

    def receive(self):
        while True:
            size = self.end - self.start
            if size >= FRAME.size:
                length, kind = FRAME.unpack_from(self.buffer, self.start)
                if length > MAX_FRAME:
                    raise Lost("a frame of %d bytes" % length)
                if size >= FRAME.size + length:
                    at = self.start + FRAME.size
                    self.start = at + length
                    return kind, memoryview(self.buffer)[at:self.start]
                if FRAME.size + length > len(self.buffer):
                    self.buffer = self.buffer + bytearray(FRAME.size + length - len(self.buffer))
            if self.start and len(self.buffer) - self.end < LARGEST:
                rest = bytes(memoryview(self.buffer)[self.start:self.end])
                self.buffer = bytearray(len(self.buffer))
                self.buffer[:len(rest)] = rest
                self.start, self.end = 0, len(rest)
            count = self.socket.recv_into(memoryview(self.buffer)[self.end:])
            if not count:
                raise Lost(self.why("the gateway ended"))
            self.end += count


def open_wire(place, session, node):
    """(stream, wire) to a process on the node, which says hello when it has begun."""
    stream = Stream(place, session, node)
    return stream, Wire(stream.read, stream.write)


def wake(place):
    """Starts the gateway if none runs."""
    try:
        subprocess.call(place["launcher"] + ["__wake"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                        env=dict(os.environ, GPUSH_HOME=place["home"]))
    except OSError:
        pass                # the next connection says what is wrong
