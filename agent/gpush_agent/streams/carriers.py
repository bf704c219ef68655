"""Sockets that a gateway on this machine has connected for bytes of its streams, until the OPEN of each takes its own."""

SECONDS = 5.0       # between the two, which come through different sockets
MOST = 64           # that wait
MOST_ID = 64


class Carriers:
    def __init__(self, loop):
        self.loop = loop
        self.came_first = {}        # id -> socket
        self.expected = {}          # id -> call

    def came(self, ident, sock):
        call = self.expected.pop(ident, None) if isinstance(ident, str) else None
        if call is not None:
            call(sock)
        elif not isinstance(ident, str) or len(ident) > MOST_ID or len(self.came_first) >= MOST or ident in self.came_first:
            sock.close()
        else:
            self.came_first[ident] = sock
            self.loop.after(SECONDS, lambda: self.late(ident, sock))

    def late(self, ident, sock):
        if self.came_first.get(ident) is sock:
            del self.came_first[ident]
            sock.close()

    def take(self, ident, call):
        """Calls with the socket, or with None when it does not come in time."""
        if ident in self.came_first:
            call(self.came_first.pop(ident))
        elif len(self.expected) >= MOST or ident in self.expected:
            call(None)
        else:
            self.expected[ident] = call
            self.loop.after(SECONDS, lambda: self.expected.get(ident) is call and self.expected.pop(ident)(None))
