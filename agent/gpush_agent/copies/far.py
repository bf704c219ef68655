"""Calls to the end of a copy on a node. A call that was not answered, because a gateway or an agent ended, is made again."""
import threading
import time

from .wire import Failed, Lost

PATIENCE = 60.0             # for a gateway or an agent that comes back
PAUSES = (0.1, 0.3, 1.0, 2.0)


class Stopped(Exception):
    """The user has ended the copy."""


class Far:
    """The other end, for one thread. `opened()` gives a stream and its wire and does not wait for the node, `wake()` starts the gateway
    if none runs, `notices(why)` is called when a connection is lost. Once `stop` is set, no connection is made."""

    def __init__(self, opened, wake, notices, stop):
        self.opened, self.wake, self.notices, self.stop = opened, wake, notices, stop
        self.stream = self.wire = None
        self.lock = threading.Lock()        # of stream: another thread may cut it

    def call(self, want, data=b""):
        began, tries = None, 0
        while True:
            try:
                wire = self.wire or self.connect()
                wire.send(want, data)
                answer, data = wire.receive()
                break
            except Lost as lost:
                self.cut()
                began = began or time.monotonic()
                if self.stop.is_set():
                    raise Stopped()
                if time.monotonic() - began > PATIENCE:
                    raise Failed(str(lost), "over")
                if tries:                   # an idle connection may have ended long ago
                    self.notices(str(lost))
                if self.stop.wait(PAUSES[min(tries, len(PAUSES) - 1)]):
                    raise Stopped()
                tries += 1
                self.wake()
        if "refused" in answer:
            raise Failed(answer["refused"], answer.get("code", "failed"))
        return answer, data

    def connect(self):
        stream, wire = self.opened()
        with self.lock:
            self.stream = stream            # first: the node may not answer for long
        if self.stop.is_set():
            self.cut()
            raise Stopped()
        if wire.receive()[0].get("copy") != 1:
            raise Failed("the node's gpush is of another release", "over")
        self.wire = wire
        return wire

    def cut(self):
        """Also by another thread, to wake the one that waits for an answer."""
        with self.lock:
            if self.stream is not None:
                self.stream.cut()
            self.stream = self.wire = None

    close = cut
