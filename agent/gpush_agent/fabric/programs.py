"""Runs programs side by side, each up to a time and a number of bytes, and never waits for one that cannot be killed."""
import collections
import errno
import os
import select
import signal
import time

MAX_OUTPUT = 1 << 20
KILLED_SECONDS = 0.5        # until a program that was killed is gone
Output = collections.namedtuple("Output", "text why")       # why: None, "timeout", "exit 9", "too long", the name of an errno


def run(commands, seconds):
    """`commands`: [(argv, environment)]. An Output for each, in their order."""
    running = [Running(*command) for command in commands]
    end = time.monotonic() + seconds
    while True:
        waiting = {one.fd: one for one in running if one.fd >= 0}
        left = end - time.monotonic()
        if not waiting or left <= 0:
            break
        for fd in select.select(list(waiting), [], [], left)[0]:
            waiting[fd].read()
    return [one.finish(end) for one in running]


class Running:
    def __init__(self, argv, environment):
        import subprocess           # late: a machine without GPUs needs no program
        self.fd, self.parts, self.size, self.why = -1, [], 0, None
        try:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, env=environment, cwd="/")
        except (OSError, ValueError) as error:
            self.process = None
            self.why = errno.errorcode.get(getattr(error, "errno", None), "not started")
            return
        self.fd = self.process.stdout.fileno()

    def read(self):
        data = os.read(self.fd, 65536)
        self.parts.append(data)
        self.size += len(data)
        if self.size > MAX_OUTPUT:
            self.why = "too long"
        if not data or self.why:
            self.fd = -1

    def finish(self, end):
        """A program whose driver hangs cannot be killed: it is left to the worker's end."""
        if self.process is None:
            return Output("", self.why)
        if self.fd >= 0:
            self.why = "timeout"
        elif self.why is None and not self.gone(max(KILLED_SECONDS, end - time.monotonic())):
            self.why = "timeout"
        self.process.stdout.close()
        if self.why is not None:
            self.process.send_signal(signal.SIGKILL)
            self.gone(KILLED_SECONDS)       # one that waits for its driver is not
        elif self.process.returncode:
            self.why = "exit %d" % self.process.returncode
        return Output(b"".join(self.parts).decode("utf-8", "replace"), self.why)

    def gone(self, seconds):
        """Whether the program has ended within that time."""
        import subprocess
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False
