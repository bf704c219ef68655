"""Bulk through the pipes of a program, when the gateway is on this machine: it opens them through /proc and copies itself, so that
neither the link nor this process has to. Each pipe is offered once a MiB has passed; a short command never gets there."""
import os

PID_SPACE = "/proc/self/ns/pid"
BULK = 1024 * 1024      # bytes of input; for output, a Source says when


class Direct:
    def __init__(self, stream, sources, sink):
        self.stream, self.sources, self.sink = stream, sources, sink
        self.bytes, self.gives = 0, False
        for source in sources:
            source.take = self.take

    def where(self, fd, **more):
        """A descriptor, for a process that has the same numbers of processes as this one."""
        return dict(more, pid=os.getpid(), fd=fd, space=os.readlink(PID_SPACE))

    def take(self, source):
        """True: from now on the gateway reads this, until it says that it is over or that it cannot."""
        try:
            self.stream.message({"take": self.where(source.fd, channel=source.channel)})
            return True
        except OSError:
            return False

    def came(self, count):
        self.bytes += count
        if self.bytes > BULK and not self.gives and not self.sink.over:
            self.gives = True
            try:
                self.stream.message({"give": self.where(self.sink.fd)})
            except OSError:
                pass

    def message(self, value):
        for source in self.sources:
            if source.taken and not source.over and source.channel == value.get("over"):
                source.finish()
            elif source.taken and source.channel == value.get("back"):
                source.back()
        if value.get("gives") and self.sink is not None:     # nothing more comes through the link
            self.sink.give(lambda: self.stream.message({"given": True}))
