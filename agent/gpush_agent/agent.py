"""The agent of one node: its pipes, its link, its streams, its lease.

What the packages below may use of it:
    agent.config        the `start` object of the header, with gang and node
    agent.owner, holder, gang, node, nodes, name, workspace, state (None if not given), request
    agent.environment.base          the base environment (a dict; copy it); active() is what the session makes of it. Both are
                                    ready once a call is dispatched with agent.environment.when_ready(function)
    agent.account                   (user, home, login shell)
    agent.tmp                       the TMPDIR of this node, or None
    agent.loop                      read, write, after, child (see core.loop)
    agent.disk.call(…)              waits for a disk, on a thread of its own (see core.disk)
    agent.lease.active("why")       something happened that keeps the node
"""
import errno
import importlib
import json
import os
import resource
import socket
import sys
import traceback

from . import calls
from .core import processes
from .core.disk import Disk
from .core.loop import NO_ROOM, Loop
from .core.refused import Refused
from .core.sockets import peer
from .core.version import PYTHON, VERSION
from .core.wholefile import replace
from .core.worker import Worker
from .gang import peers, tunnels
from .host import compiled, guard, locks, sweep
from .lifetime import lease, notices, usage
from .link import frames
from .link.machine import Link
from .node import environment, temporary
from .pipe import Pipe
from .runs import rundir
from .streams import commands

PING_SECONDS = 5.0
WATCH_SECONDS = 5.0         # how often the folder and the lease are checked
MAX_PIPES = 16              # connections that have not said HELLO yet, or are being closed
MAX_HOLDER = 256            # characters of the name that others see
MAX_TERM = (1 << 63) - 1
MAX_LOG = 1 << 20
LEAVING_SECONDS = 0.25      # between two checks whether there is anything left to wait for
SAME_SECONDS = 2.0          # two signals of a scheduler that come so close together are one
FEW_FILES = 256             # a stream takes up to six descriptors, a pipe two
SOCKET_BUFFER = 131072      # as for pipe.BURST; measured: larger ones carry no more
# Loaded after the start, in the order of their likely use.
LATER = ("gpush_agent.files.sync", "gpush_agent.runs.requests", "gpush_agent.runs.follow", "gpush_agent.lifetime.ending",
         "gpush_agent.streams.connections", "gpush_agent.streams.listeners", "gpush_agent.files.sftp")
LATER_SECONDS = 1.0         # without a frame; a module that is needed sooner is loaded then


class Agent:
    def __init__(self, config, folder, listener, lock_fds, origin, beacon=None, memo=None):
        self.config, self.folder, self.listener, self.lock_fds, self.origin = config, folder, listener, lock_fds, origin
        self.beacon, self.memo = beacon, memo or guard.Memo()
        self.log_bytes = 0
        self.owner, self.holder = config.get("owner", ""), config.get("holder", "")
        self.gang, self.node, self.nodes = config["gang"], config["node"], config.get("nodes", 1)
        self.name, self.request = config.get("name", ""), config.get("request")
        self.workspace, self.state = config.get("workspace"), config.get("state")
        self.bare = not (self.state and os.path.isdir(self.state))     # there are no files of an earlier agent of this node
        self.loop = Loop(log=self.log)
        self.disk = Disk(self.loop)
        self.keeper = locks.Keeper(config.get("locks") or [], lock_fds, self.log)
        self.account = processes.account(config.get("home"))
        self.identity = os.urandom(16).hex()
        self.term, self.incarnation, self.said_at = 0, "", 0
        self.devices = environment.visible_devices(os.environ)
        self.execs = set()
        self.unlinked_since = self.loop.clock()
        self.pipe, self.pipes = None, []
        self.link = self.fresh_link()
        self.ack_timer = None
        self.tmp = None
        self.ending = None          # why the agent ends, once it does
        self.mark = "%s-%s" % (self.gang, self.node)    # in the environment of all child processes, which may outlive the agent
        self.troubles = {}          # code -> facts: features that do not work here
        self.lease = lease.Lease(self.loop.clock, config.get("lease") or {}, self.programs_alive, lambda: self.sampling.usage.using())
        self.sampling = usage.Sampling(self)
        self.taken = self.told = None       # when the scheduler takes the node back, and when it announced that
        self.lease_timer, self.again = None, self.memo.recall(self)     # again: an agent before this one was killed
        self.notices = notices.Notices(self, notices.lengths((config.get("lease") or {}).get("warn_s")))
        self.peers = peers.Peers(self, config.get("peers"))
        self.parents = None         # of warm ranks, once a run asks for them
        self.environment = environment.Environment(self, config.get("env"), config.get("env_over"),
                                                   bool(config.get("env_own")))
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if 0 <= files < FEW_FILES:
            self.cannot("few-files", {"limit": files})

    # ---- life

    def run(self):
        processes.become_subreaper()
        self.loop.catch_signals(lambda: self.loop.after(0, self.terminated))
        self.make_tmp()
        self.keeper.sign(os.getpid())
        self.write_json()
        self.environment.start()
        self.listen()
        self.loop.before_wait = self.before_wait
        self.watch()
        self.watch_lease()
        self.memo.sessions.end(self.loop)
        if self.again:
            self.peers.failures.resume()
        if self.taken is not None:      # announced to the agent before this one
            self.notices.taken = True
            self.leave()
        self.loop.after(self.config.get("sweep_s", sweep.FIRST_SECONDS), self.sweep)
        self.loop.run()

    def listen(self):
        self.listener.setblocking(False)
        self.loop.read(self.listener.fileno(), lambda: self.connected(self.listener))
        if self.beacon is not None:
            self.beacon.setblocking(False)
            self.loop.read(self.beacon.fileno(), self.poked)

    def make_tmp(self):
        """The TMPDIR of this node; the system's if the state folder cannot be written."""
        if not self.state:
            return
        try:
            os.makedirs(self.state, exist_ok=True)
            self.tmp = temporary.of_node(self.state, self.folder.path)
        except OSError as error:
            self.cannot("no-state", {"path": self.state, "errno": errno.errorcode.get(error.errno, "")})

    def sweep(self):
        """Removes what killed agents have left on this host."""
        if not self.ending:
            Worker(self.loop, self.origin, lambda: sweep.dead(self.folder.bases), self.swept, sweep.SECONDS)
            self.loop.after(sweep.EVERY_SECONDS, self.sweep)

    def swept(self, result, refused):
        if result and result["gone"]:
            self.log("removed of killed agents: %d" % len(result["gone"]))

    def cannot(self, code, facts):
        """Records something that this node lacks, for its users; everything else works."""
        if code not in self.troubles:
            self.troubles[code] = facts
            self.log("cannot: %s %s" % (code, json.dumps(facts)))

    def lacks(self):
        return [{"code": code, "facts": facts} for code, facts in sorted(self.troubles.items())]

    def write_json(self):
        value = {"pid": os.getpid(), "gang": self.gang, "node": self.node, "agent": self.identity, "owner": self.owner,
                 "holder": self.holder, "name": self.name, "python": PYTHON, "guard": self.memo.guard,
                 "request": self.request}
        try:
            replace(os.path.join(self.folder.path, "agent.json"), json.dumps(value))
        except OSError as error:
            self.log("agent.json: %s" % error)

    def log(self, text):
        """Sparse, and bounded: a node's log must not fill its disk."""
        self.log_bytes += len(text) + 1
        if self.log_bytes < MAX_LOG:
            try:
                os.write(2, (text.rstrip("\n") + "\n").encode("utf-8", "replace"))
            except OSError:
                pass

    def watch(self):
        """Every few seconds: checks the folder, the locks and the gateway's silence."""
        leave = self.config.get("leave_s")
        # First: it goes on after a failure below.
        self.loop.after(WATCH_SECONDS if leave is None else min(WATCH_SECONDS, max(0.05, leave / 4.0)), self.watch)
        self.check_folder()
        if not self.ending:
            self.keeper.look()
        self.memo.note(self)
        now = self.loop.clock()
        if self.pipe is not None:
            if now - self.pipe.heard >= PING_SECONDS and not self.link.control:
                self.link.ping(int(now * 1000))
            self.unlinked_since = now
        if leave is not None and self.pipe is None and now - self.unlinked_since >= leave:
            self.finish("left")

    def check_folder(self):
        """The folder was removed: makes it again, so that the agent can be found."""
        if self.ending:
            return
        if self.folder.intact(self.listener):
            locks.touch(self.folder.lock_fd)
            self.check_tmp()
            return
        self.log("the folder is gone; binding again")
        try:
            listener = self.folder.rebuild()
        except OSError as error:
            self.log("binding again: %s" % error)
            return
        self.loop.forget(self.listener.fileno())
        self.listener.close()
        self.listener = listener
        self.listener.setblocking(False)
        self.loop.read(self.listener.fileno(), lambda: self.connected(self.listener))
        self.write_json()
        self.check_tmp()

    def check_tmp(self):
        """The short name of TMPDIR is in a folder that cleaners remove; does not touch the disk of the state folder, which may hang."""
        if self.tmp == temporary.below(self.folder.path) and not os.path.lexists(self.tmp):
            self.make_tmp()

    def poked(self):
        """A client uses the abstract name, because it did not find the folder."""
        try:
            sock, _ = self.beacon.accept()
            sock.close()
        except OSError as error:
            if error.errno in NO_ROOM:
                self.loop.rest(self.beacon, self.poked)
            return
        self.check_folder()

    # ---- pipes

    def connected(self, listener):
        try:
            sock, _ = listener.accept()
        except OSError as error:
            if error.errno in NO_ROOM:
                self.cannot("no-descriptors", {"errno": errno.errorcode[error.errno]})
                self.loop.rest(listener, lambda: self.connected(listener))
            return
        pid, uid = peer(sock)
        if uid not in (os.getuid(), 0) or len(self.pipes) >= MAX_PIPES:
            sock.close()
            return
        self.adopt(sock, pid)

    def adopt(self, sock, pid=0):
        """A pipe from now on. `pid`: who connected, if that is a process here."""
        sock.setblocking(False)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, SOCKET_BUFFER)
        self.pipes.append(Pipe(self, sock, pid))
        return self.pipes[-1]

    def pipe_closed(self, pipe):
        if pipe in self.pipes:
            self.pipes.remove(pipe)
        if pipe is self.pipe:
            self.pipe = None        # the link is cut; its state is kept
            self.unlinked_since = self.loop.clock()

    def left(self, pipe):
        """The gateway has ended and will not resume: hangs up what its clients ran here, as the end of sshd would."""
        if pipe is self.pipe:
            link, self.link = self.link, self.fresh_link()
            self.incarnation = ""
            link.cut()

    def before_wait(self):
        pipe = self.pipe
        if pipe is not None and not pipe.out:
            pipe.flush()
            due = self.link.ack_due
            if due is not None and self.ack_timer is None:
                self.ack_timer = self.loop.after(max(0.0, due - self.loop.clock()), self.ack)

    def ack(self):
        self.ack_timer = None

    def fresh_link(self):
        link = Link(self.loop.clock, self.accept)
        link.bug = self.bug
        return link

    def hello(self, pipe, value):
        if self.ending:
            pipe.bye("released", {"why": self.ending})
            return
        if value.get("version") != VERSION:
            pipe.bye("version", {"version": VERSION})
            return
        term, last, incarnation = value.get("term", 0), value.get("last", 0), value.get("incarnation", "")
        said_at = value.get("at", self.said_at)
        if (any(type(number) is not int for number in (term, last, said_at)) or not isinstance(incarnation, str)
                or not 0 <= term <= MAX_TERM):
            raise frames.Bad("hello")
        holder = str(value.get("holder") or "")[:MAX_HOLDER]
        # a term belongs to one holder: a later one needs a higher term
        if term < self.term or (term == self.term and holder and holder != self.holder):
            pipe.bye("term", {"holder": self.holder, "term": self.term})
            return
        if incarnation == self.incarnation and said_at < self.said_at:
            pipe.bye("superseded", {"holder": self.holder})     # it was delayed in a relay that was stopped, and is no longer read
            return
        pipe.timer.cancel()
        old, self.pipe = self.pipe, pipe
        if old is not None:
            old.bye("superseded", {"holder": holder, "term": term})
        resumed = (bool(self.incarnation) and incarnation == self.incarnation and value.get("agent") == self.identity
                   and self.link.resumable(last))
        if not resumed:
            link, self.link = self.link, self.fresh_link()
            link.cut()
        self.term, self.incarnation, self.said_at = term, incarnation, said_at
        self.holder = holder or self.holder
        if not self.lease.claimed:
            self.loop.after(LATER_SECONDS, lambda: self.load_later(list(LATER)))
        self.lease.claim()
        self.memo.note(self)
        self.watch_lease()
        pipe.greeted = True
        pipe.push([frames.encode(frames.WELCOME, 0, 0, 0, frames.pack_json({
            "version": VERSION, "agent": self.identity, "resumed": resumed,
            "last": self.link.last_in if resumed else 0, "term": self.term,
            "python": PYTHON, "pid": os.getpid(), "uid": os.getuid(), "host": socket.gethostname(),
            "bare": self.bare, "again": self.again, "generation": self.generation(), "cannot": self.lacks()}))])
        if resumed:
            self.link.resume(last)
        pipe.flush()

    def generation(self):
        """Of the workspace that is on this node: 0 before the first push, None where that cannot be read."""
        if not self.state:
            return None
        try:
            with open(os.path.join(self.state, "generation"), "rb") as file:
                return int(file.read(64).split()[0])
        except FileNotFoundError:
            return 0
        except (OSError, ValueError, IndexError):
            return None

    # ---- streams

    def accept(self, stream, value):
        try:
            kind = value.get("type")
            if not isinstance(kind, str) or kind not in TYPES:
                raise Refused("bad-request", {"type": str(kind)[:100]})
            if self.ending:
                raise Refused("released", {"why": self.ending})
            TYPES[kind](self, stream, value)
        except Exception as error:      # the top of every stream's start: refused with a code, or a bug that is logged
            if hasattr(error, "code") and hasattr(error, "facts"):
                stream.owner = None
                stream.refuse(error.code, error.facts)
            else:
                self.bug(stream)

    def bug(self, stream):
        self.log(traceback.format_exc())
        if stream is not None:
            stream.refuse("failed", {"reason": type(sys.exc_info()[1]).__name__})

    def load_later(self, names):
        """Loads what was left out at the start, one module a turn, while the agent is idle: a first run need not wait
        for it, and later neither missing descriptors nor a replaced Python can prevent it from being loaded."""
        if self.pipe is not None and self.loop.clock() - self.pipe.heard < LATER_SECONDS:
            self.loop.after(LATER_SECONDS, lambda: self.load_later(names))
            return
        try:
            importlib.import_module(names.pop(0))
        except (ImportError, OSError) as error:     # it is reported when the module is needed
            self.log("loading: %s" % error)
        if names and not self.ending:
            self.loop.after(0, lambda: self.load_later(names))
        elif not self.ending:
            compiled.keep(self, __loader__)

    # ---- control and status

    def warm_parents(self):
        if self.parents is None:
            self.parents = importlib.import_module("gpush_agent.warm.pool").Pool(self)
        return self.parents

    def runs_alive(self):
        """The runs whose supervisor holds its lock."""
        return rundir.alive(self.state) if self.state else []

    def programs_alive(self):
        return rundir.programs(self.state) if self.state else []

    def stop_run(self, run, grace, why=None):
        """For ends and failures: a failure with one run must not keep the node, or close a line."""
        def answered(result, refused):
            if refused is not None:
                self.log("stopping run %s: %s %s" % (run, refused.code, refused.facts))
        calls.runs(self, "run.stop", {"run": run, "signal": "TERM", "grace_s": grace, "why": why}, answered)

    def status(self):
        value = {"gang": self.gang, "node": self.node, "nodes": self.nodes, "owner": self.owner, "holder": self.holder,
                 "name": self.name, "pid": os.getpid(), "guard": self.memo.guard, "python": PYTHON, "agent": self.identity,
                 "term": self.term, "linked": self.pipe is not None, "streams": len(self.link.streams),
                 "runs": self.runs_alive(), "request": self.request, "workspace": self.workspace, "cannot": self.lacks()}
        value["warm"] = self.parents.status() if self.parents is not None else []
        value.update(self.time_left(), clients=self.sampling.clients(), peers=self.peers.status(), devices=self.devices,
                     warn_s=list(self.notices.lengths), lease_from=self.lease.terms())
        return value

    def time_left(self):
        """The end of the lease, or the time at which the scheduler takes the node back, if that is earlier."""
        value = self.lease.status()
        if self.taken is not None:
            seconds = round(max(0.0, self.taken - self.loop.clock()), 3)
            hard = value["hard_left_s"]
            value.update(hard_left_s=seconds if hard is None else min(hard, seconds), taken=True)
        return value

    # ---- the end

    def watch_lease(self):
        """Checks the lease now, and again when it may be over."""
        if self.ending:
            return
        self.sampling.look()
        why = self.lease.over()
        if why is not None:
            self.finish(why)
            return
        left = self.time_left()
        self.notices.look({"hard": left["hard_left_s"], "idle": left["idle_left_s"] if self.lease.claimed else None})
        if self.lease_timer is not None:
            self.lease_timer.cancel()
        ahead = [seconds for seconds in (self.lease.next(), self.notices.next(), self.sampling.next()) if seconds is not None]
        if ahead:
            self.lease_timer = self.loop.after(min(max(min(ahead), 0.01), WATCH_SECONDS), self.watch_lease)

    def terminated(self):
        """SIGTERM. A scheduler that takes the node back sends it to all processes, and gives some time to those that have
        something to save: `taken_s`, given at the start. A second one means now."""
        now, seconds = self.loop.clock(), self.config.get("taken_s")
        if self.ending or (self.told is not None and now - self.told < SAME_SECONDS):
            return
        if not isinstance(seconds, (int, float)) or self.told is not None or not self.in_use():
            self.finish("terminated")
            return
        self.told, self.taken = now, now + seconds
        self.memo.note(self)
        self.notices.take(seconds)
        self.leave()

    def in_use(self):
        return bool(self.runs_alive()) or any(owner.value.get("builtin") is None for owner in self.execs)

    def leave(self):
        if self.ending:
            return
        if self.loop.clock() >= self.taken or not self.in_use():
            self.finish("terminated")
        else:
            self.loop.after(LEAVING_SECONDS, self.leave)

    def finish(self, why, answer=lambda kept, left=(): None):
        """`answer` gets the files that stay, or at once the processes that do not end."""
        from .lifetime.ending import Ending
        if isinstance(self.ending, str):
            self.final.also(answer)
            return
        self.ending = why
        self.log("ending: " + why)
        self.peers.ends(why)
        self.final = Ending(self, why, answer)


def part(module, name):
    """A stream's owner whose module is loaded when it is first needed: most agents never connect or listen."""
    def make(agent, stream, value):
        return getattr(importlib.import_module(module), name)(agent, stream, value)
    return make


DIAL, LISTEN = part("gpush_agent.streams.connections", "Dial"), part("gpush_agent.streams.listeners", "Listen")
TYPES = {"exec": commands.Exec, "call": calls.Call, "tcp": DIAL, "unix": DIAL, "listen-tcp": LISTEN, "listen-unix": LISTEN,
         "tunnel": tunnels.Tunnel}
