"""What waits for a disk and is asked too often for a worker of its own: one thread, so that a file system that hangs holds up the loop
of nothing else. It imports nothing and takes no lock that a fork of the agent could inherit."""
import queue
import threading

from .refused import Refused, of_error


class Disk:
    """Calls of functions, one after the other, in their order."""

    def __init__(self, loop):
        self.loop = loop
        self.calls = None           # and no thread before the first

    def call(self, function, answer, seconds):
        """`answer(result, refused)` is called once, by the loop, with one of the two None."""
        if self.calls is None:
            self.calls = queue.Queue()
            threading.Thread(target=self.work, daemon=True).start()
        waiting = [answer]

        def done(result, refused):
            if waiting:
                timer.cancel()
                waiting.pop()(result, refused)
        timer = self.loop.after(seconds, lambda: done(None, Refused("timeout")))
        self.calls.put((function, done))

    def work(self):
        while True:
            self.make(*self.calls.get())

    def make(self, function, done):
        result = refused = None
        try:
            result = function()
        except Exception as error:      # the top of a thread: the caller gets the reason
            refused = of_error(error)
        self.loop.post(lambda: done(result, refused))
