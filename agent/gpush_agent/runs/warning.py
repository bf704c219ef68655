"""Warnings to the ranks of a run before an end. They end no process. A warning goes to those processes of the ranks that catch its
signal, now or later; a program that does not handle it never gets it, and is not killed by it."""
import signal

from ..core import processes
from . import rundir

AGAIN = 0.5                 # between two checks for ranks that handle it now


def leave_word(agent, run, word):
    """The agent's side: {"signal", "why", "left_s"}; does not wait for anything."""
    folder = rundir.folder_of(agent.state, run)
    rundir.write(folder, "warn.json", word)
    # No pid yet: it has not looked for warn.json yet, either.
    pid = rundir.read(folder, "lock").get("pid")
    if isinstance(pid, int):
        processes.kill([pid], signal.SIGUSR1)


class Warnings:
    """The supervisor's side."""

    def __init__(self, supervisor):
        self.supervisor = supervisor
        self.told = set()           # the ranks, by their first process, that have had the last one
        self.count = 0              # a later warning replaces an earlier one

    def look(self):
        """A signal came: warn.json has the warning to pass on."""
        word = rundir.read(self.supervisor.folder, "warn.json")
        number = getattr(signal, "SIG" + str(word.get("signal")), None)
        if not isinstance(number, signal.Signals):
            return
        self.supervisor.journal.event({"event": "warned", "signal": word["signal"], "why": word.get("why"),
                                       "left_s": word.get("left_s")})
        self.told = set()
        self.count += 1
        self.pass_on(number, self.count)

    def pass_on(self, number, count):
        supervisor = self.supervisor
        if count != self.count or (supervisor.asked is not None and not supervisor.is_taken):
            return
        groups = self.groups()
        for leader, pids in groups.items():
            found = [pid for pid in pids if leader not in self.told and processes.catches(pid, number)]
            processes.kill(found, number)
            if found:
                self.told.add(leader)
        if not groups or not self.told.issuperset(groups):
            supervisor.loop.after(AGAIN, lambda: self.pass_on(number, count))

    def groups(self):
        """The ranks' process sessions by their first process; torchrun itself is none, it would take its ranks down."""
        alive = [rank.pid for rank in self.supervisor.ranks if not rank.ended]
        if self.supervisor.torchrun:
            alive = [pid for pid, (parent, _, state) in processes.table().items() if parent in alive and state != b"Z"]
        return {pid: processes.members(pid) or [pid] for pid in alive}
