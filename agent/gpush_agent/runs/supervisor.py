"""The process of one run: forked from the agent, it owns the ranks of this node and outlives agent, link and gateway."""
import os
import signal
import socket
import time
import traceback

from ..core import processes
from ..core.loop import Loop
from . import journal, ranks, rundir, warning
from .claims import bind

KEPT_RUNS = 50              # folders of runs that are over
KEPT_BYTES = 8 << 30        # and their output together
READ = 65536
DRAIN = 64                  # reads of one pipe after its rank has ended: more than any pipe holds
TO_KILL = 5.0               # seconds between TERM and KILL of a run that was asked to stop
LEFT_BEHIND = 2.0           # the same for what outlives all ranks
POLL = 0.05
TAIL = 65536                # of what torchrun says last
EARLY_MS = 60000            # an address that is in use shows within this time (importing torch may take most of it)


def main(run):
    """Never returns."""
    code = 70
    try:
        run()
        code = 0
    except BaseException:       # the top of a process; the kernel now kills the ranks
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(code)


class Supervisor:
    def __init__(self, claims, common, mark, taken_s=None):
        """`taken_s`: what a scheduler gives that has said TERM to all processes of the node."""
        self.claims, self.spec, self.folder, self.mark = claims, claims.spec, claims.folder, mark
        self.taken_s = taken_s
        self.is_taken = False
        self.warnings = warning.Warnings(self)
        self.torchrun = self.spec["mode"] == "torchrun"
        self.ranks = ranks.processes_of(self.spec, common, claims.tmp)
        self.first = None           # the first failure: {"rank", "exit" | "signal", "at_ms", "asked"}
        self.asked = None           # the signal of the request to stop
        self.timers = []
        self.said = b""             # the end of what torchrun said on stderr
        self.quiet = {}             # torchrun: local rank -> when its output ended
        self.in_use = False         # a process reported early that an address is in use
        self.fifos = {}

    def run(self):
        os.setsid()
        processes.become_subreaper()
        ranks.name_process("gpush-run-%d" % self.claims.run)
        self.loop = Loop(log=lambda text: os.write(2, text.encode("utf-8", "replace")))
        for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT, signal.SIGUSR2):
            signal.signal(number, signal.SIG_IGN)
        self.loop.catch_signals(lambda: self.loop.after(0, self.look))
        signal.signal(signal.SIGUSR1, lambda number, frame: self.loop.after(0, self.warnings.look))
        self.journal = journal.Journal(self.folder, self.elapsed)
        # From here on a signal announces a stop; an earlier request is in stop.json already.
        self.claims.sign({"pid": os.getpid(), "started": self.claims.started, "mark": self.mark, "tmp": self.claims.tmp})
        self.begin()
        if os.path.exists(os.path.join(self.folder, "stop.json")):
            self.look()
        self.warnings.look()
        self.loop.run()
        rundir.prune(self.claims.state, KEPT_RUNS, KEPT_BYTES)

    def elapsed(self):
        return int((time.monotonic() - self.claims.started) * 1000)

    # ---- starting

    def begin(self):
        numbers = [self.spec["first_rank"] + local for local in range(self.spec.get("procs", 1))]
        self.journal.event({"event": "started", "pid": os.getpid(), "ranks": numbers,
                            "python": self.spec.get("python"), "mode": self.spec["mode"]})
        if self.torchrun:
            for local, number in enumerate(numbers):
                for channel, name in ((journal.OUT, "out"), (journal.ERR, "err")):
                    self.fifo(os.path.join(self.claims.tmp, "%d.%s" % (local, name)), local, number, channel)
        wanted, self.ranks = self.ranks, []
        for rank in wanted:
            if not self.launch(rank):
                break
        if not self.ranks:
            self.loop.after(0, self.sweep)

    def launch(self, rank):
        """False when not even a process could be made; a program that cannot be executed is a rank that exits with 127."""
        try:
            problem = ranks.start(rank, self.spec["cwd"])
        except OSError as error:        # no more processes, memory, descriptors
            problem = error
        if problem is not None:
            text = "gpush: %s: %s\n" % (rank.argv[0], problem.strerror)
            self.journal.write(journal.LAUNCHER, journal.ERR, text.encode("utf-8", "replace"))
        if not rank.pid:
            self.failed(rank.number, ("exit", 126))
            return False
        self.ranks.append(rank)
        for channel, fd in rank.fds.items():
            self.watch(fd, rank.number, channel, lambda fd=fd: self.close(fd, rank))
        self.loop.child(rank.pid, lambda status: self.exited(rank, status))
        return True

    def watch(self, fd, number, channel, on_end):
        self.loop.read(fd, lambda: self.ready(fd, number, channel) or on_end())

    def fifo(self, path, local, number, channel):
        """Its writers come and go. At the end of one it is opened again before it is closed, because one that has had a
        writer would report its end again and again."""
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

        def at_end():
            self.quiet[local] = self.elapsed()
            self.fifo(path, local, number, channel)
            self.loop.forget(fd)
            os.close(fd)
        self.fifos[(local, channel)] = (fd, number)
        self.watch(fd, number, channel, at_end)

    # ---- output

    def ready(self, fd, number, channel):
        """Reads once; False at the end."""
        try:
            data = os.read(fd, READ)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if channel == journal.ERR:
            self.listen(number, data)
        self.journal.write(number, channel, data)
        return bool(data)

    def listen(self, number, data):
        if number == journal.LAUNCHER:
            self.said = (self.said + data)[-TAIL:]
        if not self.in_use and ranks.IN_USE.search(data) and self.elapsed() < EARLY_MS:
            self.in_use = True

    def drain(self, fd, number, channel):
        """What is there now, without waiting for more."""
        for _ in range(DRAIN):
            try:
                data = os.read(fd, READ)
            except OSError:
                return
            if not data:
                return
            if channel == journal.ERR:
                self.listen(number, data)
            self.journal.write(number, channel, data)

    def drain_all(self):
        for rank in self.ranks:
            for channel, fd in rank.fds.items():
                self.drain(fd, rank.number, channel)
        for (_, channel), (fd, number) in self.fifos.items():
            self.drain(fd, number, channel)

    def close(self, fd, rank):
        self.loop.forget(fd)
        rank.fds = {channel: other for channel, other in rank.fds.items() if other != fd}
        os.close(fd)

    # ---- ends

    def exited(self, rank, status):
        rank.ended = ("signal", os.WTERMSIG(status)) if os.WIFSIGNALED(status) else ("exit", os.WEXITSTATUS(status))
        self.drain_all()
        if self.torchrun:
            self.torchrun_ended(rank)
        elif rank.ended[1] == 0:
            self.journal.event({"event": "rank-exit", "rank": rank.number, "exit": 0})
        else:
            self.failed(rank.number, rank.ended)
        if all(other.ended for other in self.ranks):
            self.sweep()

    def torchrun_ended(self, launcher):
        """torchrun's own exit status has no details; its report has the rank and how it ended."""
        first = self.spec["first_rank"]
        if launcher.ended == ("exit", 0):
            for local in range(self.spec["procs"]):
                self.journal.event({"event": "rank-exit", "rank": first + local, "exit": 0})
            return
        found = ranks.torch_failure(self.said)
        if found:
            self.failed(first + found[0], found[1:], self.quiet.get(found[0]))
        else:
            self.failed(-1, ("signal", self.asked) if self.asked else launcher.ended)

    def failed(self, number, ended, at_ms=None):
        how = {"rank": number, ended[0]: ended[1]}
        self.journal.event(dict(how, event="rank-exit"))
        if self.first is None:
            self.first = {"rank": number, "exit": None, "signal": None, "at_ms": self.elapsed() if at_ms is None else at_ms,
                          "asked": self.asked is not None}
            self.first.update(how)
            self.tell_failure()
            if self.asked is None and any(not rank.ended for rank in self.ranks):
                self.order("rank %d failed" % number, signal.SIGTERM, self.spec.get("stop_grace_s", 10))

    def tell_failure(self):
        """For the agent, which reports it to the other nodes; if it cannot be written now, exit.json has it at the end."""
        if self.asked is None:
            try:
                rundir.write(self.folder, "failed.json", self.first)
            except OSError:
                pass

    # ---- stopping

    def look(self):
        """A signal came: stop.json has the request."""
        word = rundir.read(self.folder, "stop.json")
        if not word and self.taken_s is not None:
            self.taken()
            return
        word = word or {"signal": "TERM", "grace_s": TO_KILL, "why": "terminated"}
        number = getattr(signal, "SIG" + str(word.get("signal")), signal.SIGTERM)
        self.asked = int(number)
        self.order(str(word.get("why")), number, word.get("grace_s", 10))

    def taken(self):
        """A scheduler's TERM: the ranks got it too, so they get no second one before the time is over."""
        if self.asked is None:
            self.asked, self.is_taken = int(signal.SIGTERM), True
            self.journal.event({"event": "stopping", "why": "the scheduler takes the node back"})
            self.timers.append(self.loop.after(self.taken_s, lambda: self.order("terminated", signal.SIGTERM, TO_KILL)))

    def order(self, why, number, grace):
        self.journal.event({"event": "stopping", "why": why})
        for timer in self.timers:
            timer.cancel()
        self.timers = []
        if number == signal.SIGKILL:
            self.kill()
            return
        self.send(number)
        if number == signal.SIGTERM:
            self.timers.append(self.loop.after(grace, self.kill))
        else:
            self.timers.append(self.loop.after(grace, lambda: self.send(signal.SIGTERM, True)))
            self.timers.append(self.loop.after(grace + TO_KILL, self.kill))

    def send(self, number, all_below=False):
        """To the processes of every rank. torchrun passes signals on itself; twice would be one too many."""
        for rank in self.ranks:
            if rank.ended:
                continue
            wanted = [rank.pid] if self.torchrun and not all_below else processes.members(rank.pid) or [rank.pid]
            processes.kill(wanted, number, signal.SIGCONT)
        if all_below:
            processes.kill(processes.descendants(os.getpid()), number)

    def kill(self):
        """Until nothing is left: what is killed may have forked meanwhile."""
        alive = [rank.pid for rank in self.ranks if not rank.ended]
        processes.kill(alive, signal.SIGKILL)
        processes.kill(processes.descendants(os.getpid()), signal.SIGKILL)
        if alive:
            self.timers.append(self.loop.after(POLL, self.kill))

    def sweep(self, until=None):
        """All ranks have ended. What they left behind is asked to end, then killed; then the run is over."""
        self.loop.reap()
        alive = processes.descendants(os.getpid())
        if not alive:
            self.finish()
            return
        if until is None:
            processes.kill(alive, signal.SIGTERM, signal.SIGCONT)
            until = self.loop.clock() + LEFT_BEHIND
        elif self.loop.clock() >= until:
            processes.kill(alive, signal.SIGKILL)
        self.loop.after(POLL, lambda: self.sweep(until))

    def finish(self):
        self.drain_all()
        for timer in self.timers:
            timer.cancel()
        self.claims.free()
        first = self.first
        value = {"exit": first["exit"] if first else 0, "signal": first["signal"] if first else None, "first": first,
                 "stopped": self.asked is not None, "ms": self.elapsed()}
        if self.port_taken():
            value["port_taken"] = self.spec["master"]["port"]
        self.journal.event(dict(value, event="ended"))
        rundir.write_exit(self.folder, value)
        self.loop.running = False

    def port_taken(self):
        """Whether the run failed because another program has the rendezvous port: an early report of an address in
        use, and the port is in use now although all of ours have ended."""
        if not (self.first and self.asked is None and self.in_use and self.spec["node_rank"] == 0):
            return False
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        free = bind(sock, self.spec["master"]["port"])
        sock.close()
        return not free
