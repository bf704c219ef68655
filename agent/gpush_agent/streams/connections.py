"""tcp and unix streams: connections from the node's own network namespace; and the pump that accepted ones share."""
import errno
import socket

from ..core.refused import Refused, of_os_error
from ..core.worker import Worker
from ..link.stream import Owner
from . import traffic
from .pumps import Sink, Source

TIMEOUT = 10.0


class Connection(Owner):
    """A connected socket and a stream. END in one direction is a half-close."""

    def __init__(self, agent, stream):
        self.agent, self.loop, self.stream = agent, agent.loop, stream
        stream.owner = self
        self.socket = self.source = self.sink = None
        self.over = False
        self.client = None

    def attach(self, sock):
        self.socket = sock
        fd = sock.fileno()
        if sock.family != socket.AF_UNIX:
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:
                pass
        self.traffic = traffic.Forward(self.loop.clock, self.agent.lease.active)
        self.source = Source(self.loop, fd, self.stream, 0, self.check, self.traffic.went)
        self.sink = Sink(self.loop, fd, self.stream, self.written)

    def data(self, channel, payload):
        self.traffic.came(payload)
        self.sink.data(payload)

    def end(self, channel):
        if channel == 0:
            self.sink.end()

    def room(self):
        if self.source is not None and not self.over:
            self.source.room()

    def written(self):
        if self.socket is not None:
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        self.check()

    def check(self):
        """Both directions at their end: CLOSE."""
        if not self.over and self.source.over and self.sink.over:
            self.over = True
            self.stream.close({})
            self.drop()

    def close(self, value, cut):
        self.over = True
        if self.source is not None:
            self.source.stop()
            if not self.sink.over:
                self.sink.on_end = self.drop
                self.sink.end()     # what was sent before the CLOSE is still written
                return
        self.drop()

    def drop(self):
        if self.socket is not None:
            self.loop.forget(self.socket.fileno())
            self.socket.close()
            self.socket = None


class Dial(Connection):
    """Tries the addresses of a host one after the other, all within ten seconds."""

    def __init__(self, agent, stream, value):
        super().__init__(agent, stream)
        self.client = traffic.client_of(value, "a forward")
        self.addresses = []
        self.trying = None
        self.last = Refused("not-found")
        if value["type"] == "unix":
            self.path = value.get("path")
            if not isinstance(self.path, str) or not self.path or "\0" in self.path[1:] or not is_bytes(self.path):
                raise Refused("bad-request", {"field": "path"})
            self.addresses = [(socket.AF_UNIX, self.path.encode("utf-8", "surrogateescape"))]
        else:
            host, port = value.get("host"), value.get("port")
            if not isinstance(host, str) or not is_bytes(host) or not isinstance(port, int) or not 0 < port < 65536:
                raise Refused("bad-request", {"field": "port"})
            self.addresses = numeric(host, port)
        self.timer = self.loop.after(TIMEOUT, self.late)
        if self.addresses:
            self.next()
        else:
            Worker(self.loop, agent.origin, lambda: resolve(host, port), self.resolved, TIMEOUT)

    def resolved(self, result, refused):
        if self.over or self.stream.own_close:
            return
        if refused is not None:
            self.refuse(refused)
            return
        self.addresses = [(family, tuple(address)) for family, address in result]
        self.next()

    def next(self):
        while self.addresses:
            family, address = self.addresses.pop(0)
            try:
                sock = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:
                self.last = of_os_error(error)
                continue
            sock.setblocking(False)
            try:
                number = sock.connect_ex(address)
            except OSError as error:        # a unix path that is too long
                number = error.errno or errno.ENOENT
            if number == 0:
                self.connected(sock)
                return
            if number in (errno.EINPROGRESS, errno.EALREADY):
                self.trying = sock
                self.loop.write(sock.fileno(), self.tried)
                return
            if number == errno.EAGAIN and family == socket.AF_UNIX:     # its backlog is full: ask again soon
                sock.close()
                self.addresses.insert(0, (family, address))
                self.loop.after(0.02, lambda: None if self.over else self.next())
                return
            self.last = of_os_error(OSError(number, ""))
            sock.close()
        self.refuse(self.last)

    def tried(self):
        sock, self.trying = self.trying, None
        self.loop.forget(sock.fileno())
        number = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number == 0:
            self.connected(sock)
        else:
            self.last = of_os_error(OSError(number, ""))
            sock.close()
            self.next()

    def connected(self, sock):
        self.timer.cancel()
        self.attach(sock)
        self.stream.opened({})
        self.room()

    def late(self):
        self.refuse(Refused("timeout"))

    def refuse(self, refused):
        if self.over:
            return
        self.over = True
        self.timer.cancel()
        self.stop_trying()
        self.stream.refuse(refused.code, refused.facts)

    def stop_trying(self):
        if self.trying is not None:
            self.loop.forget(self.trying.fileno())
            self.trying.close()
            self.trying = None

    def close(self, value, cut):
        self.timer.cancel()
        self.stop_trying()
        super().close(value, cut)


def is_bytes(text):
    """Half of a surrogate pair is no text that a system call could take."""
    try:
        text.encode("utf-8", "surrogateescape")
        return True
    except UnicodeEncodeError:
        return False


def numeric(host, port):
    """The addresses of a host that needs no resolver; empty for any other."""
    if host in ("localhost", ""):
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port))]
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
            return [(family, (host, port))]
        except (OSError, ValueError):
            pass
    return []


def resolve(host, port):
    """In a forked child: getaddrinfo may block for many seconds."""
    try:
        found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Refused("not-found", {"host": host[:255]})
    return [(int(family), list(address)) for family, _, _, _, address in found[:8]]
