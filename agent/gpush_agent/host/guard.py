"""Keeps the agent of a node alive. The guard is the process that the loader started: it holds what must outlive an agent (the
socket, the locks, the folder) and starts another agent from the same source when one is killed or fails. Runs, their journals
and files do not depend on the agent; what the next one must know besides is in memory that they share.

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
SLOT_BYTES = 4096
HEAD = struct.Struct("<IIQ")    # length, CRC, number


class NoMemo:
    """Of an agent without a guard."""

    guard = None

    def recall(self, agent):
        return False

    def note(self, agent):
        pass


class Memo:
    """A JSON value in memory. There are two places for it, written in turns: one that was being written when the writer was
    killed is recognised by its checksum, and the one before is still there."""

    def __init__(self):
        self.guard = os.getpid()
        self.memory = mmap.mmap(-1, 2 * SLOT_BYTES)

    def recall(self, agent):
        """Gives this agent the terms of one before it. Returns whether there was one."""
        noted = self.read()
        if noted:
            agent.term, agent.holder = noted["term"], noted["holder"]
            agent.lease.recall(noted["lease"])
        return bool(noted)

    def note(self, agent):
        self.write({"term": agent.term, "holder": agent.holder, "lease": agent.lease.noted()})

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


def keep(serve):
    """Runs `serve(memo)`, which returns an exit status, in a child, and again after a death. Returns the last status."""
    memo, deaths = Memo(), []
    processes.become_subreaper()    # the orphans of a killed agent come here, not to the machine's first process
    while True:
        signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
        pid = os.fork()
        if pid == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
            for number in FORWARDED:
                signal.signal(number, signal.SIG_DFL)
            processes.killed_before_parent()
            os._exit(serve(memo))
        for number in FORWARDED:
            signal.signal(number, lambda number, frame, to=pid: os.kill(to, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        status = reaped(pid)
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


def reaped(pid):
    """Waits for this child; those of killed agents, which end meanwhile, leave no zombies."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return status
