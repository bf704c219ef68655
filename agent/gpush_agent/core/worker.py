"""A function in a forked child, for everything that may block."""
import json
import os
import signal
import sys

from . import processes
from .refused import Refused, of_error, of_os_error
from .wholefile import write_all

LATE_SECONDS = 1.0
LATE_ROUNDS = 10        # a shell that starts processes faster than we find them ends with its loop


class Worker:
    """A function in a forked child, its JSON answer read by the loop: for everything that may block."""

    def __init__(self, loop, origin, function, answer, seconds, keep=(), then=None):
        """`answer(result, refused)` is called once, with one of the two None. The child has the descriptors in `keep`, and goes on
        with `then()` when it has given a result."""
        self.loop, self.answer = loop, answer
        self.parts, self.size = [], 0
        self.fd = -1
        try:
            self.fd, out = os.pipe()
            self.pid = os.fork()
        except OSError as error:
            refused = of_os_error(error)
            if self.fd >= 0:
                os.close(self.fd)
                os.close(out)
            loop.after(0, lambda: answer(None, refused))
            return
        os.set_blocking(self.fd, False)
        if self.pid == 0:
            _work(origin, function, out, keep, then)
        os.close(out)
        loop.child(self.pid, lambda status: None)
        loop.read(self.fd, self.ready)
        self.timer = loop.after(seconds, self.late)

    def ready(self):
        data = os.read(self.fd, 65536)
        if data:
            self.parts.append(data)
            self.size += len(data)
            if self.size > 8 << 20:
                self.late()
            return
        try:
            value = json.loads(b"".join(self.parts).decode())
        except ValueError:
            value = {"code": "failed", "facts": {"reason": "worker died"}}
        self.done(value)

    def late(self):
        """First SIGTERM, then SIGKILL: a login shell may hold a lock, as pyenv's does, and would leave it behind."""
        processes.kill(processes.members(self.pid) or [self.pid], signal.SIGTERM)
        self.loop.after(LATE_SECONDS, lambda: self.kill(LATE_ROUNDS))
        self.done({"code": "timeout", "facts": {}})

    def kill(self, rounds):
        """Ends what is left of its process session, and what was started meanwhile. The number of a session that has
        ended may be reused: only descendants count."""
        left = self.left()
        processes.kill(left, signal.SIGKILL)
        if left and rounds > 1:
            self.loop.after(LATE_SECONDS, lambda: self.kill(rounds - 1))

    def left(self):
        below = set(processes.descendants(os.getpid()))
        return [pid for pid in processes.members(self.pid) if pid in below]

    def done(self, value):
        if self.fd < 0:
            return
        self.timer.cancel()
        self.loop.forget(self.fd)
        os.close(self.fd)
        self.fd = -1
        if "code" in value:
            self.answer(None, Refused(value["code"], value.get("facts")))
        else:
            self.answer(value["result"], None)


def _work(origin, function, out, keep, then):
    try:
        processes.plain_child(origin)
        os.setsid()
        processes.close_all(keep=[out] + list(keep))
        value = {"result": function()}
    except BaseException as error:      # the top of a process: the caller gets the reason
        refused = of_error(error)
        value = {"code": refused.code, "facts": refused.facts}
    try:
        write_all(out, json.dumps(value).encode())
        if then is not None and "result" in value:
            os.close(out)
            then()
    finally:
        sys.stderr.flush()
        os._exit(0)
