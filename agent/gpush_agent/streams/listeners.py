"""listen-tcp and listen-unix: every connection becomes a stream that the agent opens."""
import errno
import os
import socket
import stat

from ..core.loop import NO_ROOM
from ..core.refused import Refused, of_os_error
from ..link.machine import MAX_STREAMS
from ..link.stream import Owner
from .connections import Connection, is_bytes, numeric

BACKLOG = 128
PER_TURN = 16       # connections taken at once, so that a flood does not starve the streams


class Accepted(Connection):
    def __init__(self, agent, link, sock, value):
        self.agent, self.loop = agent, agent.loop
        self.socket = self.source = self.sink = None
        self.over = False
        self.client = "a forward"
        self.stream = link.open(self, value)
        self.attach(sock)

    def refused(self, value):
        self.over = True
        self.drop()


class Listen(Owner):
    def __init__(self, agent, stream, value):
        self.agent, self.loop, self.stream = agent, agent.loop, stream
        self.path = None
        self.inode = None
        try:
            self.socket = self.bind_unix(value) if value["type"] == "listen-unix" else self.bind_tcp(value)
        except OSError as error:
            raise Refused("in-use", {}) if error.errno == errno.EADDRINUSE else of_os_error(error)
        stream.owner = self
        self.socket.setblocking(False)
        self.loop.read(self.socket.fileno(), self.ready)
        stream.opened({"port": 0 if self.path else self.socket.getsockname()[1]})

    def bind_tcp(self, value):
        host, port = value.get("host") or "127.0.0.1", value.get("port")
        if not isinstance(host, str) or not is_bytes(host) or not isinstance(port, int) or not 0 <= port < 65536:
            raise Refused("bad-request", {"field": "port"})
        if host == "*":
            host = "0.0.0.0"
        addresses = numeric(host, port)
        if not addresses:
            raise Refused("not-found", {"host": host[:255]})
        family, address = addresses[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(BACKLOG)
        except OSError:
            sock.close()
            raise
        return sock

    def bind_unix(self, value):
        path = value.get("path")
        if not isinstance(path, str) or not path.startswith("/") or "\0" in path or not is_bytes(path):
            raise Refused("bad-request", {"field": "path"})
        path = path.encode("utf-8", "surrogateescape")
        remove_stale(path)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.bind(path)         # the umask of the agent is 077: the socket is the user's own
            sock.listen(BACKLOG)
            self.inode = os.lstat(path).st_ino
        except OSError:
            sock.close()
            raise
        self.path = path
        return sock

    def ready(self):
        for _ in range(PER_TURN):
            try:
                sock, address = self.socket.accept()
            except OSError as error:
                if error.errno in NO_ROOM:
                    self.agent.loop.rest(self.socket, self.ready)
                return
            sock.setblocking(False)
            link = self.stream.link
            if len(link.streams) >= MAX_STREAMS:
                sock.close()
                continue
            tcp = isinstance(address, tuple)
            Accepted(self.agent, link, sock, {"type": "accepted", "listener": self.stream.number,
                                              "host": address[0] if tcp else "", "port": address[1] if tcp else 0})

    def close(self, value, cut):
        self.loop.forget(self.socket.fileno())
        self.socket.close()
        if self.path is not None:
            try:
                if os.lstat(self.path).st_ino == self.inode:
                    os.unlink(self.path)
            except OSError:
                pass


def remove_stale(path):
    """Removes a socket of this user without a listener."""
    try:
        found = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        return
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    probe.setblocking(False)
    try:
        if probe.connect_ex(path) == errno.ECONNREFUSED:
            os.unlink(path)
    except OSError:
        pass
    finally:
        probe.close()
