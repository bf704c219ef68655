"""The process of one run: forked from the agent, it owns the ranks of this node and outlives agent, link and gateway."""
import json
import os
import signal
import time
import traceback

from ..core import processes
from ..core.loop import Loop
from ..network import observer
from . import evidence, journal, leftovers, ranks, rundir, torchranks, warning
from .claims import is_free

KEPT_RUNS = 50              # folders of runs that are over
KEPT_BYTES = 8 << 30        # and their output together
READ = 65536
DRAIN = 64                  # reads of one pipe after its rank has ended: more than any pipe holds
TO_KILL = 5.0               # seconds between TERM and KILL of a run that was asked to stop
LEFT_BEHIND = 2.0           # the same for what outlives all ranks
GRACE = 3.0                 # from the first failure to the end by force of all other ranks, unless the specification says another
SETTLE = 0.2                # of this, for ranks that fail for the same reason: they end by themselves, and tell why
STUCK = 10.0                # seconds after KILL: what is still there waits in the kernel, and is named
POLL = 0.05
TAIL = 65536                # of what a rank or torchrun says last
RESULT_SECONDS = 60.0       # a disk that does not take the result of a run is asked again for so long
RESULT_PAUSE = 1.0
ASKED = "asked"             # the reason of a stop on request
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
    def __init__(self, claims, common, mark, taken_s=None, warm=None, note=None):
        """`taken_s`: what a scheduler gives that has said TERM to all processes of the node. `warm`: has the ranks' processes
        already (warmstart). `note`: the launcher's own first line."""
        self.claims, self.spec, self.folder, self.mark = claims, claims.spec, claims.folder, mark
        self.taken_s, self.warm, self.note = taken_s, warm, note
        self.is_taken = False
        self.warnings = warning.Warnings(self)
        self.torchrun = self.spec["mode"] == "torchrun"
        self.common = common
        self.ranks = ranks.processes_of(self.spec, common, claims.tmp)
        self.first = None           # the first failure: {"rank", "exit" | "signal", "at_ms", "asked"}
        self.asked = None           # the signal of the request to stop
        self.is_named = False       # a request came without stop.json
        self.timers = []
        self.failures = []          # each {"rank", "exit" | "signal", "at_ms", "asked", "reason"}
        self.deadline = None        # when all ranks end by force, because one failed
        self.is_terminated = False  # the ranks have had a TERM because of a failure
        self.said = {}              # rank -> the end of what it said on stderr
        self.told = {}              # the same of stdout, of commands: "2>&1 | tee" is common there
        self.quiet = {}             # torchrun: local rank -> when its output ended
        self.torch_ranks = None
        self.late = b""             # what torchrun said when its ranks had ended; None after its own end
        self.ours = set()           # names in /dev/shm that our processes had mapped
        self.pids = set()           # all that were ever seen of this run
        self.left = {}
        self.in_use = False         # a rank reported early that an address was in use
        self.fifos = {}
        self.keeper = None          # of a run with a snapshot
        self.has_printed = False

    def run(self):
        if os.getsid(0) != os.getpid():     # a warm parent's fork has one already
            os.setsid()
        processes.become_subreaper()
        ranks.name_process("gpush-run-%d" % self.claims.run)
        self.loop = Loop(log=lambda text: os.write(2, text.encode("utf-8", "replace")))
        for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT, signal.SIGUSR2):
            signal.signal(number, signal.SIG_IGN)
        self.loop.catch_signals(lambda: self.loop.after(0, self.look))
        for name, number in rundir.UNWRITTEN.items():
            signal.signal(number, lambda _number, _frame, name=name: self.loop.after(0, lambda: self.obey_name(name)))
        signal.signal(signal.SIGUSR1, lambda number, frame: self.loop.after(0, self.warnings.look))
        self.journal = journal.Journal(self.folder, self.elapsed)
        self.evidence = evidence.Evidence([self.spec["cwd"], self.claims.tmp, self.spec["outputs"]])
        self.shm = leftovers.names()
        self.network = observer.Observer(self.spec, self.common, self.loop,
                                         lambda facts: self.journal.event(dict(facts, event="transport")))
        # From here on a stop reaches us by signal; one that came earlier lies there already.
        self.claims.sign({"pid": os.getpid(), "mark": self.mark})
        if self.spec.get("snapshot") is not None:
            from . import keeper        # a warm parent, whose runs have none, does not know what it needs
            self.keeper = keeper.Keeper(self.loop, os.fsencode(self.spec["snapshot"]["folder"]), self.claims.lock, self.mark)
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
        if self.note:
            self.journal.write(journal.LAUNCHER, journal.ERR, ("gpush: %s\n" % self.note).encode("utf-8", "replace"))
        if self.torchrun:
            for local, number in enumerate(numbers):
                for channel, name in ((journal.OUT, "out"), (journal.ERR, "err")):
                    self.fifo(os.path.join(self.claims.tmp, "%d.%s" % (local, name)), local, number, channel)
            if not torchranks.restarts(self.spec):
                self.torch_ranks = torchranks.TorchRanks(self.loop, os.path.join(self.claims.tmp, "ranks"), self.torch_rank_ended)
        wanted, self.ranks = self.ranks, []
        for rank in wanted:
            if not self.launch(rank):
                break
        # With the ranks' process ids the memory files of a supervisor that was killed are found.
        self.claims.sign({"pid": os.getpid(), "mark": self.mark, "ranks": [rank.pid for rank in self.ranks]})
        if not self.ranks:
            self.loop.after(0, self.sweep)

    def launch(self, rank):
        """False when not even a process could be made; a program that cannot be executed is a rank that exits with 127."""
        try:
            problem = self.warm.start(rank, self.spec) if self.warm else ranks.start(rank, self.spec["cwd"])
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
        self.keep(number, channel, data)
        return bool(data)

    def keep(self, number, channel, data):
        if data and number != journal.LAUNCHER and not self.has_printed:
            self.has_printed = self.journal.event({"event": "printed", "ms": self.elapsed()})
        self.listen(number, channel, data)
        is_late = self.torch_ranks and self.late is not None and len(self.quiet) == self.spec["procs"]
        if is_late and (number, channel) == (journal.LAUNCHER, journal.ERR):
            self.late += data
        else:
            self.journal.write(number, channel, data)

    def listen(self, number, channel, data):
        self.network.hear(number, channel, data)
        if channel != journal.ERR:
            if self.spec["mode"] == "command":
                self.told[number] = (self.told.get(number, b"") + data)[-TAIL:]
            return
        self.said[number] = (self.said.get(number, b"") + data)[-TAIL:]
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
            self.keep(number, channel, data)

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
            self.failed(rank.number, rank.ended, pids=[rank.pid])
        if all(other.ended for other in self.ranks):
            self.sweep()

    def torch_rank_ended(self, local, pid, how):
        """Before torchrun tells, which first ends its other ranks."""
        self.drain_all()
        self.quiet.setdefault(local, self.elapsed())
        if how is not None and how[1] != 0:
            self.failed(self.spec["first_rank"] + local, how, pids=[pid])

    def torchrun_ended(self, launcher):
        """torchrun's own exit status has no details; its report has the rank and how it ended."""
        first = self.spec["first_rank"]
        late, self.late = self.late, None
        if late and not (launcher.ended == ("exit", 0) and torchranks.of_exit_barrier(late)):
            self.journal.write(journal.LAUNCHER, journal.ERR, late)
        if launcher.ended == ("exit", 0):
            for local in range(self.spec["procs"]):
                self.journal.event({"event": "rank-exit", "rank": first + local, "exit": 0})
            return
        if any(failure["rank"] >= 0 for failure in self.failures):
            return
        found = ranks.torch_failure(self.said.get(journal.LAUNCHER, b""))
        if found:
            known = self.torch_ranks.pids.get(found[0]) if self.torch_ranks else None
            self.failed(first + found[0], found[1:], self.quiet.get(found[0]), [known] if known else [])
        else:
            self.failed(-1, ("signal", self.asked) if self.asked else launcher.ended)

    def failed(self, number, ended, at_ms=None, pids=()):
        how = {"rank": number, ended[0]: ended[1]}
        self.journal.event(dict(how, event="rank-exit"))
        failure = dict({"exit": None, "signal": None, "at_ms": self.elapsed() if at_ms is None else at_ms,
                        "asked": self.asked is not None}, **how)
        # Those that ended because they were told to say nothing about why.
        if not (self.asked or self.is_terminated) or ended not in (("signal", signal.SIGTERM), ("signal", signal.SIGKILL),
                                                                  ("signal", self.asked)):
            reason = self.reason(number, ended, pids)
            if reason:
                failure["reason"] = reason
            self.failures.append(failure)
        if self.first is None:
            self.first = failure
            self.tell_failure()
            if self.asked is None:
                self.end_others(number)

    def reason(self, number, ended, pids):
        """{} when it cannot be found out: that must not cost the exit status."""
        from . import reasons
        try:
            variables = self.common
            place = reasons.Place(variables.get("GPUSH_WORKSPACE"), self.spec["cwd"])
            text = self.said.get(journal.LAUNCHER if number < 0 else number, b"")
            if self.spec["mode"] == "command":
                cause = ranks.torch_cause(text)
                if cause and ended[0] == "exit":
                    found = reasons.of(cause[2], text, self.evidence, place, [cause[1]] if cause[1] else (), False, cause[0])
                    return dict(found, of_rank=cause[0])
                if not reasons.tells(text):
                    text = self.told.get(number, b"") if reasons.tells(self.told.get(number, b"")) else text
                rank = ranks.mpi_rank(self.said.get(number, b""), self.claims.tmp)
                found = reasons.of(ended, text, self.evidence, place, pids if ended[0] == "signal" else (), True)
                if rank is None and self.spec.get("mpi"):
                    rank = -1           # which one mpirun has not said
                return found if rank is None else dict(found, of_rank=rank, mpi=True)
            return reasons.of(ended, text, self.evidence, place, pids, rank=number)
        except Exception:       # whatever a program writes
            os.write(2, traceback.format_exc().encode("utf-8", "replace"))
            return {}

    def end_others(self, number):
        """TERM a moment later, KILL when the time is over, counted from the failure. torchrun sends TERM itself."""
        grace = self.spec.get("stop_grace_s", GRACE)
        self.deadline = self.loop.clock() + grace
        if not any(not rank.ended for rank in self.ranks):
            return
        why = "rank %d failed" % number
        self.timers.append(self.loop.after(grace, self.kill))
        if self.torchrun:
            self.remember_shared_memory()
            self.journal.event({"event": "stopping", "why": why, "grace_s": grace})
            self.is_terminated = True
        else:
            self.timers.append(self.loop.after(min(SETTLE, grace), lambda: self.terminate(why, grace)))

    def terminate(self, why, grace):
        if any(not rank.ended for rank in self.ranks) and not self.is_terminated:
            self.is_terminated = True
            self.journal.event({"event": "stopping", "why": why, "grace_s": grace})
            self.send(signal.SIGTERM)

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
        self.obey(word or {"signal": "TERM", "grace_s": TO_KILL, "why": "terminated"})

    def obey_name(self, name):
        """A stop whose stop.json the disk refuses: its grace is the run's own, and begins once."""
        if name == "KILL" or not self.is_named:
            self.is_named = True
            self.obey({"signal": name, "grace_s": max(TO_KILL, self.spec.get("stop_grace_s", 0)), "why": "terminated"})

    def obey(self, word):
        number = getattr(signal, "SIG" + str(word.get("signal")), signal.SIGTERM)
        why = str(word.get("why"))
        if number == signal.SIGTERM and why != ASKED and self.is_terminated:
            return              # this node's own failure has begun to end it, and does so in time
        self.asked = int(number)
        grace = word.get("grace_s", 10)
        if number == signal.SIGTERM and why != ASKED:
            self.deadline = self.loop.clock() + grace
        self.order(why, number, grace)

    def taken(self):
        """A scheduler's TERM: the ranks got it too, so they get no second one before the time is over."""
        if self.asked is None:
            self.asked, self.is_taken = int(signal.SIGTERM), True
            self.journal.event({"event": "stopping", "why": "the scheduler takes the node back"})
            self.timers.append(self.loop.after(self.taken_s, lambda: self.order("terminated", signal.SIGTERM, TO_KILL)))

    def order(self, why, number, grace):
        self.journal.event(dict({"event": "stopping", "why": why}, **({} if why == ASKED else {"grace_s": grace})))
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
        self.remember_shared_memory()
        for rank in self.ranks:
            if rank.ended:
                continue
            wanted = [rank.pid] if self.torchrun and not all_below else processes.members(rank.pid) or [rank.pid]
            processes.kill(wanted, number, signal.SIGCONT)
        if all_below:
            processes.kill(self.below(), number)

    def kill(self):
        """Until nothing is left: what is killed may have forked meanwhile."""
        self.remember_shared_memory()
        alive = [rank.pid for rank in self.ranks if not rank.ended]
        processes.kill(alive, signal.SIGKILL)
        processes.kill(self.below(), signal.SIGKILL)
        if alive:
            self.timers.append(self.loop.after(POLL, self.kill))

    def remember_shared_memory(self):
        """Called before the processes are ended: afterwards it is not known which of them owned it."""
        pids = self.below()
        self.pids.update(pids)
        self.ours |= leftovers.mapped(pids)

    def sweep(self, until=None):
        """All ranks have ended. What they left behind is asked to end, then killed; then the run is over."""
        self.loop.reap()
        alive = self.below()
        if not alive:
            self.bring_home()
            return
        now = self.loop.clock()
        if until is None:
            self.remember_shared_memory()
            processes.kill(alive, signal.SIGTERM, signal.SIGCONT)
            until = now + LEFT_BEHIND if self.deadline is None else min(now + LEFT_BEHIND, max(now, self.deadline))
        elif now >= until + STUCK:
            self.left["processes"] = [leftovers.who(pid) for pid in alive[:leftovers.MOST_NAMED]]
            self.bring_home()
            return
        elif now >= until:
            processes.kill(alive, signal.SIGKILL)
        self.loop.after(POLL, lambda: self.sweep(until))

    def below(self):
        """The processes of the run."""
        return [pid for pid in processes.descendants(os.getpid()) if self.keeper is None or pid != self.keeper.pid]

    def bring_home(self):
        """What the run has made in its snapshot. The next attempt of a run that is started again finds it there, too."""
        if self.keeper is None:
            self.finish()
            return

        def told(lines):
            for line in lines:
                self.journal.write(journal.LAUNCHER, journal.ERR, ("gpush: %s\n" % line).encode("utf-8", "replace"))
            self.finish()
        self.keeper.end(bool(self.first and self.asked is None and self.spec["snapshot"].get("again")), told)

    def finish(self):
        self.drain_all()
        self.network.finish()
        for timer in self.timers:
            timer.cancel()
        self.claims.free()
        first = self.first
        value = {"exit": first["exit"] if first else 0, "signal": first["signal"] if first else None, "first": first,
                 "stopped": self.asked is not None, "ms": self.elapsed()}
        if self.port_taken():
            value["port_taken"] = self.spec["master"]["port"]
        if first:
            from . import reasons
            value["failures"] = reasons.folded(self.failures)
            value["left"] = self.look_around()
            while len(json.dumps(value)) > rundir.EXIT_ROOM - 64 and value["failures"]:
                value["failures"].pop()
        self.journal.event(dict(value, event="ended"))
        self.write_result(value, self.loop.clock() + RESULT_SECONDS)

    def write_result(self, value, until):
        """A disk that does not take it must not keep the node: then the lock's file has it."""
        try:
            rundir.write_exit(self.folder, value)
        except OSError:
            self.claims.sign_end(value)
            if self.loop.clock() < until:
                self.loop.after(RESULT_PAUSE, lambda: self.write_result(value, until))
                return
        self.loop.running = False

    def look_around(self):
        """What is left of a run that failed: that must not cost its exit status."""
        left = dict(self.left)
        try:
            self.pids.update(rank.pid for rank in self.ranks)
            shm = leftovers.clean_shared_memory(self.shm, self.ours, self.pids)
            if shm:
                left["shm"] = shm
            if self.spec["node_rank"] == 0 and not is_free(self.spec["master"]["port"]):
                left["port"] = leftovers.holder(self.spec["master"]["port"])
            if self.spec.get("visible"):
                gpus = leftovers.gpu_holders(self.spec["visible"])
                if gpus:
                    left["gpus"] = gpus
        except Exception:       # whatever /proc says
            os.write(2, traceback.format_exc().encode("utf-8", "replace"))
        return left

    def port_taken(self):
        """Whether the run failed because another program has the rendezvous port: an early report of an address in
        use, and the port is in use now although all of ours have ended."""
        if not (self.first and self.asked is None and self.in_use and self.spec["node_rank"] == 0):
            return False
        return not is_free(self.spec["master"]["port"])
