"""The runs in progress on this node, and what the processes of their ranks do."""
import os
import re

from ..core import processes
from ..runs import rundir

MAX_RANKS = 256
MAX_DEPTH = 3               # of launchers below launchers
# What launchers tell a rank: the variable with its number, and the beginning of another one that it must have.
RANK = re.compile(br"RANK=([0-9]{1,6})\Z"), b""
MPI_RANK = re.compile(br"(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=([0-9]{1,6})\Z"), b""
TASK = RANK[0], b"SLURM_STEP_NUM_TASKS="    # of srun in a batch script
PATTERNS = {"command": (MPI_RANK, TASK, RANK)}      # a command of ours has RANK, and what it starts inherits that
USUAL = RANK, MPI_RANK
# Of the fields of core.processes.stat_fields.
STATE, USER_TICKS, SYSTEM_TICKS, STARTED, PAGES = 0, 11, 12, 19, 21


def runs(state):
    """Number, mode, first rank and processes of each run in progress. Reads the disk of the state folder, which may hang."""
    found = []
    for number in rundir.alive(state) if state else []:
        folder = rundir.folder_of(state, number)
        lock, spec = rundir.read(folder, "lock"), rundir.read(folder, "spec.json")
        pids = [pid for pid in lock.get("ranks") or [] if isinstance(pid, int)]
        found.append((number, spec.get("mode"), spec.get("first_rank") or 0, pids))
    return found


class Ranks:
    def __init__(self):
        self.ticks = float(os.sysconf("SC_CLK_TCK"))
        self.page = os.sysconf("SC_PAGE_SIZE")
        self.known = {}             # (pattern, pid, start) -> rank
        self.before = {}            # (pid, start) -> (when, ticks)

    def sample(self, found, now):
        """An entry for each run of `runs`."""
        before, self.before = self.before, {}
        known, self.known = self.known, {}
        entries = []
        for number, mode, first, pids in found:
            if mode == "ranks":     # their order is that of the ranks; a fork of a warm interpreter has its parent's variables
                pairs = [(first + at, pid) for at, pid in enumerate(pids)]
            else:
                tried = (self.all_below(pids, known, each) for each in PATTERNS.get(mode, USUAL))
                pairs = next((some for some in tried if some), [(None, pid) for pid in pids])
            entries.append({"run": number, "ranks": [self.one(rank, pid, now, before) for rank, pid in pairs[:MAX_RANKS]]})
        return entries

    def all_below(self, pids, known, pattern):
        return sorted(pair for pid in pids for pair in self.below(pid, known, pattern, MAX_DEPTH))

    def below(self, pid, known, pattern, depth):
        """(rank, pid) of this process if it is a rank, else of those that it has started."""
        key = (pattern, pid, processes.started(pid))
        rank = known[key] if key in known else rank_of(pid, pattern)
        if rank is not None:        # else it may be about to begin, with the variables of its parent
            self.known[key] = rank
            return [(rank, pid)]
        return [pair for child in processes.children(pid)[:MAX_RANKS]
                for pair in self.below(child, known, pattern, depth - 1)] if depth else []

    def one(self, rank, pid, now, before):
        fields = processes.stat_fields(pid)
        if not fields:
            return {"rank": rank, "pid": pid, "state": "ended", "cpu": None, "memory": None}
        key, spent = (pid, int(fields[STARTED])), int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])
        self.before[key] = (now, spent)
        earlier = before.get(key)
        cpu = None
        if earlier is not None and now > earlier[0]:
            cpu = round(100.0 * (spent - earlier[1]) / self.ticks / (now - earlier[0]), 1)
        return {"rank": rank, "pid": pid, "state": fields[STATE].decode("ascii", "replace"), "cpu": cpu,
                "memory": int(fields[PAGES]) * self.page}


def rank_of(pid, pattern):
    variable, needed = pattern
    variables = processes.variables(pid)
    found = [match for match in map(variable.match, variables) if match]
    return int(found[0].group(1)) if found and any(entry.startswith(needed) for entry in variables) else None
