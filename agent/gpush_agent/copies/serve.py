"""The builtin `copy`: an end of a copy that is asked by the other one. Each stream of a copy has a process of its own."""
from .source import Source
from .target import Target
from .wire import Failed, Lost, of_os_error, over_descriptors


class Ends:
    """Both ends of this machine, of which a copy uses one; calls are those of the two classes."""

    def __init__(self):
        self.source, self.target = Source(), Target()

    def call(self, want, data=b""):
        """(answer, bytes); raises Failed."""
        end = self.source if want.get("do") in Source.CALLS else self.target
        handler = end.CALLS.get(want.get("do"))
        if handler is None:
            raise Failed("the other end is of another release: it has no %s" % want.get("do"))
        try:
            return handler(end, want, data)
        except OSError as error:
            raise of_os_error(error)
        finally:
            self.target.forget()

    def close(self):
        self.source.close()
        self.target.close()


def main(args, fd_in, fd_out):
    wire, ends = over_descriptors(fd_in, fd_out), Ends()
    try:
        wire.send({"copy": 1})
        while True:
            want, data = wire.receive()
            try:
                answer, data = ends.call(want, data)
            except Failed as failed:
                answer, data = {"refused": failed.text, "code": failed.code}, b""
            wire.send(answer, data)
    except (Lost, BrokenPipeError, ConnectionError):
        return 0
    finally:
        ends.close()
