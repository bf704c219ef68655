"""One pipe of the agent: a connection to its socket. Speaks frames, or a control line."""
import collections

from . import calls
from .link import frames

BURST = 131072              # bytes numbered at once; more would make urgent frames wait
GREETING_SECONDS = 20.0
WAITING_SECONDS = 600.0     # between the answer to a status and HELLO, as long as an unclaimed agent lives
MAX_VECTORS = 512           # below every IOV_MAX


class Pipe:
    """One connection to our socket: a peer that sends frames, or a control line."""

    def __init__(self, agent, sock, pid):
        self.agent, self.loop, self.socket, self.peer = agent, agent.loop, sock, pid
        self.parser = frames.Parser()
        self.out = collections.deque()
        self.left = 0               # bytes of the frame that is being written, not yet written
        self.greeted = False
        self.closing = self.closed = False
        self.lingers = False        # once everything is written the peer closes
        self.line = None            # bytes of a control line
        self.heard = agent.loop.clock()
        self.timer = self.loop.after(GREETING_SECONDS, self.late)
        self.loop.read(sock.fileno(), self.ready)

    def ready(self):
        try:
            chunk = self.socket.recv(262144)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
            return
        if self.line is None and not self.greeted and not self.parser.buffer and chunk[:1] == b"{":
            self.line = b""
        if self.line is not None:
            self.line += chunk
            if b"\n" in self.line:
                line, _, rest = self.line.partition(b"\n")
                self.line = b""         # it stays a line's pipe
                self.timer.cancel()
                calls.control(self.agent, self, line)
                if self.line is None and rest:
                    self.take(rest)
            elif len(self.line) > frames.MAX_PAYLOAD:
                self.close()
            return
        self.take(chunk)

    def take(self, chunk):
        self.heard = self.loop.clock()
        for frame in self.parser.feed(chunk):
            if self.closing or self.closed:
                return
            try:
                if isinstance(frame, frames.Bad):
                    raise frame
                self.frame(frame)
            except frames.Bad as bad:
                self.agent.log("protocol: %s" % bad)
                self.bye("protocol", {"reason": str(bad)})

    def frame(self, frame):
        kind = frame[0]
        if not self.greeted:
            if kind != frames.HELLO:
                raise frames.Bad("no hello")
            self.agent.hello(self, frames.unpack_json(frame[4]))
        elif kind == frames.BYE:
            if frames.unpack_json(frame[4]).get("code") == "gateway-stopped":
                self.agent.left(self)
            self.close()
        elif kind in (frames.HELLO, frames.WELCOME):
            raise frames.Bad("hello twice")
        else:
            self.agent.link.receive(frame)

    def late(self):
        self.bye("protocol", {"reason": "no hello"})

    def become_link(self, answer):
        """Sends the answer at once; then the pipe waits for HELLO: the gateway may still wait for other nodes."""
        try:
            if self.socket.send(answer) == len(answer):
                self.line = None
                self.timer = self.loop.after(WAITING_SECONDS, self.late)
                return
        except OSError:
            pass
        self.close()

    # ---- writing

    def push(self, buffers):
        self.out.extend(buffers)

    def flush(self):
        """Writes what can be written without waiting; asks the link for more when everything is written. At most one burst a turn,
        so that writing never starves reading."""
        if self.closed:
            return
        link = self.agent.link
        if not self.out and self.greeted and not self.closing:
            self.out.extend(link.take(BURST))
        while self.out:
            vectors = [self.out[i] for i in range(min(len(self.out), MAX_VECTORS))]
            try:
                count = self.socket.sendmsg(vectors)
            except BlockingIOError:
                break
            except OSError:
                self.close()
                return
            while count:
                first = self.out[0]
                size = len(first)
                if self.left == 0:
                    self.left = size if self.line is not None else frames.HEADER_SIZE + frames.HEADER.unpack_from(first)[0]
                if count >= size:
                    self.out.popleft()
                    self.left -= size
                    count -= size
                else:
                    self.out[0] = memoryview(first)[count:]
                    self.left -= count
                    count = 0
        if self.out:
            self.loop.write(self.socket.fileno(), self.flush)
        elif self.closing and self.lingers:
            self.loop.write(self.socket.fileno(), None)
            self.loop.read(self.socket.fileno(), self.wait_for_end)
        elif self.closing:
            self.close()
        else:
            more = self.greeted and link.has_output()
            self.loop.write(self.socket.fileno(), self.flush if more else None)

    def bye(self, code, facts_=None):
        if self.closing or self.closed:
            return
        # a frame that is partly written is finished first; everything else that waited is dropped
        keep, left = [], self.left
        while left > 0:
            keep.append(self.out.popleft())
            left -= len(keep[-1])
        self.out.clear()
        self.out.extend(keep)
        self.out.append(frames.encode(frames.BYE, 0, 0, 0, frames.pack_json({"code": code, "facts": facts_ or {}})))
        self.end()

    def wait_for_end(self):
        try:
            if self.socket.recv(4096):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.close()

    def end(self, lingers=False):
        """Closes once everything is written, or once the peer has closed then."""
        self.closing, self.lingers = True, lingers
        self.loop.read(self.socket.fileno(), None)
        self.timer.cancel()
        self.timer = self.loop.after(GREETING_SECONDS, self.close)
        self.flush()

    def close(self):
        if not self.closed:
            self.hand_over().close()

    def hand_over(self):
        """Gives its socket away."""
        self.closed = True
        self.timer.cancel()
        self.loop.forget(self.socket.fileno())
        self.agent.pipe_closed(self)
        return self.socket
