"""The program that `gpush cp` starts on the user's machine, with the user's rights and in the user's folder. Its arguments, all JSON,
are what the gateway has understood of the command, the sources, and the target."""
import json
import os
import signal
import sys
import threading
import time

from . import gateway
from .far import Far, Stopped
from .job import Job
from .report import Report
from .serve import Ends
from .wire import Failed

INTERRUPTED, TERMINATED = 130, 143
GRACE = 5.0                 # for a file that is just being written
LOOK = 0.05                 # a killed client must not leave a copy that is in the way of the next
NOTICE = 10.0               # between two sentences about a connection that is lost


def main(arguments):
    words = [json.loads(os.fsencode(word).decode("utf-8")) for word in arguments]
    spec, sources, target = words[0], words[1:-1], words[-1]
    stop, status = threading.Event(), []

    def end(number, frame):
        status.append(INTERRUPTED if number == signal.SIGINT else TERMINATED)
        stop.set()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    threading.Thread(target=watch_client, args=(stop,), daemon=True).start()
    failed = 0
    for node in spec["nodes"]:
        one = Copy(spec, node, stop)
        failed |= one.run(sources, target)
        if stop.is_set() or one.is_over:
            break
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status[0] if status else failed)      # threads may still wait for an answer


def watch_client(stop):
    """Ends this program with the client that started it: one that was killed cannot say so."""
    parent = os.getppid()
    while not stop.wait(LOOK):
        if os.getppid() != parent:
            os._exit(TERMINATED)


class Copy:
    """A copy to or from one node."""

    def __init__(self, spec, node, stop):
        self.spec, self.node, self.stop = spec, node, stop
        self.is_up = spec["up"]
        self.name = spec["session"] + ("-%d" % node if node else "")
        self.report = Report(spec["options"], self.name)
        self.ends, self.noticed, self.is_over = [], 0.0, False

    def far(self):
        place = self.spec["place"]
        end = Far(lambda: gateway.open_wire(place, self.spec["session"], self.node), lambda: gateway.wake(place), self.notices, self.stop)
        self.ends.append(end)
        return end

    def notices(self, why):
        """All streams are lost at once: says it once."""
        now = time.monotonic()
        if now - self.noticed > NOTICE:
            self.noticed = now
            self.report.note("%s is not reached (%s); gpush waits and goes on" % (self.name, why))

    def run(self, sources, target):
        source, there = (Ends, self.far) if self.is_up else (self.far, Ends)
        job = Job(source, there, self.spec["options"], self.report, self.stop)
        where = "%s:%s" % (self.name, target) if self.is_up else target
        done = threading.Event()
        threading.Thread(target=self.cut, args=(done,), daemon=True).start()
        try:
            job.run(sources, target)
        except Stopped:
            self.report.interrupted(where, job.unfinished())
            return 1
        except Failed as failed:
            self.is_over = failed.code == "over"
            self.report.broken(where, sources, failed, job.unfinished())
            return 1
        finally:
            done.set()
            self.report.close()
        self.report.summary()
        return 1 if self.report.failures else 0

    def cut(self, done):
        """After an interrupt, waits a moment for files that are just being written, then wakes threads that wait for the node."""
        self.stop.wait()
        if not done.wait(GRACE if not self.is_up else 0):
            for end in list(self.ends):
                end.cut()
