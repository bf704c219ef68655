"""Keeps the agent of a node alive. The guard is the process that the loader started: it holds what must outlive an agent (the
socket, the locks, the folder) and starts another agent from the same source when one is killed or fails. Runs, their journals
and files do not depend on the agent; what the next one must know besides is in memory that they share. In a pod that memory
outlives the container, too.

The guard does nothing but wait, so it stays small, and its children are killed first when memory is short (core.processes). Its
signals are the agent's: a scheduler and the starter of a container know only the guard."""
import json
import mmap
import os
import signal
import struct
import sys
import time
import zlib

from ..core import processes

ENDED = (0, 143)            # exit statuses of an agent that has ended by itself
MOST_DEATHS = 5             # within DEATHS_SECONDS; more of them have a reason that stays
DEATHS_SECONDS = 300.0
FORWARDED = (signal.SIGTERM, signal.SIGINT)
WAITED_FOR = FORWARDED + (signal.SIGCHLD,)
FORK_PAUSE = 5.0
SLOT_BYTES = 4096
HEAD = struct.Struct("<IIQ")    # length, CRC, number
SESSION = struct.Struct("<QQ")  # the pid of a process session's leader, and when that was started
MOST_SESSIONS = 1024            # more of them live on after the agent, as everything did before there was this table
HANDLED_SECONDS = 2.0           # a signal is handled by then; an agent takes two within this time for one (agent.SAME_SECONDS)
END_SECONDS = 5.0               # from SIGTERM to SIGKILL


class Sessions:
    """The process sessions that end with their client (`kill_on_close`), in memory that outlives the agent: after its death
    their clients are gone, and the next agent ends them."""

    def __init__(self):
        self.memory = mmap.mmap(-1, MOST_SESSIONS * SESSION.size)
        self.places = {}                # pid -> place in the table
        self.free = list(range(MOST_SESSIONS - 1, -1, -1))

    def add(self, pid):
        if self.free:
            self.places[pid] = self.free.pop()
            self._put(self.places[pid], pid, processes.started(pid))

    def remove(self, pid):
        place = self.places.pop(pid, None)
        if place is not None:
            self._put(place, 0, 0)
            self.free.append(place)

    def end(self, loop):
        """Of the agent before this one: SIGTERM (a terminal's shell heeds only HUP), and SIGKILL after a while."""
        left = [SESSION.unpack_from(self.memory, place * SESSION.size) for place in range(MOST_SESSIONS)]
        self.memory[:] = bytes(len(self.memory))
        left = [entry for entry in left if entry[0]]
        if left:
            processes.kill(living(left), signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)
            loop.after(END_SECONDS, lambda: processes.kill(living(left), signal.SIGKILL))

    def _put(self, place, pid, started):
        SESSION.pack_into(self.memory, place * SESSION.size, pid, started)


def living(sessions):
    """Their processes. A number belongs to no other session as long as one of them lives: without its leader, too."""
    return [member for pid, started in sessions if processes.started(pid) in (0, started) for member in processes.members(pid)]


class Memo:
    """A JSON value in memory. There are two places for it, written in turns: one that was being written when the writer was
    killed is recognised by its checksum, and the one before is still there."""

    def __init__(self, guard=None, path=None):
        """`guard`: its process id; nobody reads what an agent without one has noted.
        `path`: of a file in memory which the next container of this node finds."""
        self.guard = guard
        self.memory = kept_memory(path, 2 * SLOT_BYTES) or mmap.mmap(-1, 2 * SLOT_BYTES)
        self.had_agent = False      # whether this guard has started one before
        self.sessions = Sessions()

    def recall(self, agent):
        """Gives this agent the terms of one before it. Returns whether that was one of the same guard."""
        noted = self.read()
        if noted:
            agent.term, agent.holder = noted["term"], noted["holder"]
            agent.lease.recall(noted["lease"])
            if self.had_agent:      # else the container has ended, and with it what was announced to it
                agent.told, agent.taken = noted["told"], noted["taken"]
        return bool(noted) and self.had_agent

    def note(self, agent):
        self.write({"term": agent.term, "holder": agent.holder, "told": agent.told, "taken": agent.taken,
                    "lease": agent.lease.noted()})

    def read(self):
        """The last value; empty before the first."""
        found = [slot for slot in (self._slot(0), self._slot(1)) if slot is not None]
        return max(found)[1] if found else {}

    def write(self, value):
        data = json.dumps(value).encode()
        if len(data) > SLOT_BYTES - HEAD.size:
            return
        number = max([slot[0] for slot in (self._slot(0), self._slot(1)) if slot is not None] or [0]) + 1
        at = number % 2 * SLOT_BYTES
        head = HEAD.pack(len(data), zlib.crc32(data), number)
        self.memory[at:at + HEAD.size + len(data)] = head + data

    def _slot(self, index):
        at = index * SLOT_BYTES
        length, checksum, number = HEAD.unpack(self.memory[at:at + HEAD.size])
        data = self.memory[at + HEAD.size:at + HEAD.size + min(length, SLOT_BYTES)]
        if not number or zlib.crc32(data) != checksum:
            return None
        return number, json.loads(data.decode())


def kept_memory(path, size):
    """The memory of a file; None if it cannot be had. All of it is reserved: writing to memory that is full later would kill."""
    if path is None:
        return None
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(fd).st_uid != os.getuid():
                return None
            os.posix_fallocate(fd, 0, size)
            return mmap.mmap(fd, size)
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return None


def keep(serve, path=None):
    """Runs `serve(memo)`, which returns an exit status, in a child, and again after a death. Returns the last status.
    `path`: of the memory that they share, if it must outlive this process.

    The signals are blocked and taken one by one, also in the first process of a container, which would never get them otherwise:
    so none is lost between two agents, and none is sent to a process that was reaped."""
    memo, deaths, waiting = Memo(os.getpid(), path), [], []
    processes.become_subreaper()    # the orphans of a killed agent come here, not to the machine's first process
    signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
    while True:
        try:
            pid = os.fork()
        except OSError as error:        # no memory, or too many processes: the node must not be lost for that
            sys.stderr.write("starting an agent: %s\n" % error)
            sys.stderr.flush()
            if signal.sigtimedwait(FORWARDED, FORK_PAUSE) is not None:
                return 143
            continue
        if pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])    # the loop takes the others when it can handle them
            processes.killed_before_parent()
            os._exit(serve(memo))
        memo.had_agent = True
        status = end_of(pid, waiting)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) in ENDED:
            return os.WEXITSTATUS(status)
        now = time.monotonic()
        deaths = [at for at in deaths if now - at < DEATHS_SECONDS] + [now]
        how = "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "status %d" % os.WEXITSTATUS(status)
        again = len(deaths) <= MOST_DEATHS
        sys.stderr.write("agent %d ended by %s; %s\n" % (pid, how, "another one begins" if again else "too often"))
        sys.stderr.flush()
        if not again:
            return 1


def end_of(agent, waiting):
    """The wait status of the agent, which gets our signals meanwhile. `waiting`: those that the one before it did not live to
    handle; afterwards those for the next one."""
    sent = [(number, time.monotonic()) for number in waiting]
    for number in waiting:
        os.kill(agent, number)
    while True:
        number = signal.sigwait(WAITED_FOR)
        ended = reaped()
        if number != signal.SIGCHLD:
            sent.append((number, time.monotonic()))
            if agent not in ended:
                os.kill(agent, number)
        if agent in ended:
            waiting[:] = [number for number, at in sent if time.monotonic() - at < HANDLED_SECONDS]
            return ended[agent]


def reaped():
    """pid -> wait status of the children that have ended: those of killed agents come to us, and leave no zombies."""
    ended = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status
