"""Between a file descriptor and a stream: a Source reads the one and sends on the other, a Sink the other way round.
Both obey the stream's credit: a Source stops reading when there is no room, a Sink grants what it has written."""
import fcntl
import os
from collections import deque

CHUNK = 131072
FULL_PIPE = 65536       # what Linux gives a pipe; a read that brings so much found it full
FAST = 1024 * 1024      # bytes after which a pipe that is found full is made wider, once
WIDE = 4 * CHUNK        # fewer switches between its writer and us; never from the start: a user may have 64 MiB of pipes
F_SETPIPE_SZ = 1031
TINY = 4096     # pieces up to this that wait are joined: each alone would cost many times its bytes


class Source:
    def __init__(self, loop, fd, stream, channel, on_end, went):
        """`went(count)` is told what was read."""
        self.loop, self.fd, self.stream, self.channel, self.on_end = loop, fd, stream, channel, on_end
        self.went = went
        self.over = self.widened = False
        self.bytes = 0

    def room(self):
        """Starts or continues reading."""
        if not self.over and self.stream.room() > 0:
            self.loop.read(self.fd, self.ready)

    def ready(self):
        room = self.stream.room()
        if room <= 0:
            self.loop.read(self.fd, None)
            return
        try:
            data = os.read(self.fd, room if room < CHUNK else CHUNK)
        except BlockingIOError:
            return
        except OSError:     # EIO: the last holder of the pty is gone; ECONNRESET: so is the peer of a socket
            data = b""
        if data:
            self.bytes += len(data)
            if not self.widened and self.bytes > FAST and len(data) == FULL_PIPE:
                self.widen()
            self.went(len(data))
            self.stream.send(self.channel, data)
        else:
            self.stop()
            self.stream.end(self.channel)
            self.on_end()

    def widen(self):
        self.widened = True
        try:
            fcntl.fcntl(self.fd, F_SETPIPE_SZ, WIDE)
        except OSError:     # no pipe, or the user has no more
            pass

    def stop(self):
        if not self.over:
            self.over = True
            self.loop.read(self.fd, None)


class Sink:
    def __init__(self, loop, fd, stream, on_end):
        """`on_end()` is called once: when all was written after end(), or when the other side accepts no more."""
        self.loop, self.fd, self.stream, self.on_end = loop, fd, stream, on_end
        self.waiting = deque()
        self.ending = self.over = False

    def data(self, payload):
        if self.over:
            self.stream.consumed(len(payload))
            return
        if len(payload) > TINY or not self.waiting:
            self.waiting.append(memoryview(payload))
        elif len(self.waiting) > 1 and isinstance(self.waiting[-1], bytearray):
            self.waiting[-1] += payload
        else:
            self.waiting.append(bytearray(payload))
        if len(self.waiting) == 1:
            self.ready()

    def end(self):
        self.ending = True
        if not self.waiting:
            self._finish()

    def ready(self):
        while self.waiting:
            view = self.waiting[0]
            try:
                count = os.write(self.fd, view)
            except BlockingIOError:
                self.loop.write(self.fd, self.ready)
                return
            except OSError:         # it is no longer read; what still comes is dropped
                self.drop()
                return
            if count == len(view):
                self.waiting.popleft()
            else:
                self.waiting[0] = memoryview(view)[count:]
            self.stream.consumed(count)
        self.loop.write(self.fd, None)
        if self.ending:
            self._finish()

    def drop(self):
        rest = sum(len(view) for view in self.waiting)
        self.waiting.clear()
        self._finish()
        if rest:
            self.stream.consumed(rest)

    def _finish(self):
        if not self.over:
            self.over = True
            self.loop.write(self.fd, None)
            self.on_end()
