"""Calls to the end of a copy on a node. A call that was not answered, because a gateway or an agent ended, is made again."""
import threading
import time

from .wire import Failed, Lost

PATIENCE = 60.0             # for a gateway or an agent that comes back
PAUSES = (0.1, 0.3, 1.0, 2.0)


class Stopped(Exception):
    """The user has ended the copy."""


class Far:
    """The other end, for one thread. `opened()` gives a stream and its wire, `wake()` starts what does not run, `notices(why)` hears of
    a connection that is lost."""

    def __init__(self, opened, wake, notices, stop):
        self.opened, self.wake, self.notices, self.stop = opened, wake, notices, stop
        self.stream = self.wire = None
        self.lock = threading.Lock()        # of stream: another thread may cut it

    def call(self, want, data=b""):
        began, tries = None, 0
        while True:
            try:
                self.connect()
                self.wire.send(want, data)
                answer, data = self.wire.receive()
                break
            except Lost as lost:
                self.cut()
                began = began or time.monotonic()
                if self.stop.is_set():
                    raise Stopped()
                if time.monotonic() - began > PATIENCE:
                    raise Failed(str(lost), "over")
                if tries:                   # a connection that was idle may be old news
                    self.notices(str(lost))
                self.stop.wait(PAUSES[min(tries, len(PAUSES) - 1)])
                tries += 1
                self.wake()
        if "refused" in answer:
            raise Failed(answer["refused"], answer.get("code", "failed"))
        return answer, data

    def connect(self):
        if self.wire is not None:
            return
        stream, wire = self.opened()
        with self.lock:
            self.stream, self.wire = stream, wire

    def cut(self):
        """Also by another thread, to wake the one that waits for an answer."""
        with self.lock:
            if self.stream is not None:
                self.stream.cut()
            self.stream = self.wire = None

    close = cut
