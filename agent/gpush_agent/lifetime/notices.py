"""Warnings before an end. Ends and Warned are pure: the time left is given in seconds of the agent's own monotonic clock.
Notices tells: a line into every terminal of the session, those of editors and tmux too, a signal to the ranks of runs that
want one. No gateway is needed."""
from ..runs import rundir, warning

LENGTHS = (1800.0, 900.0, 300.0)    # before an end: long enough to save, to extend, to finish a thought
MOST_LENGTHS = 16
LONGEST = 31 * 86400.0
EARLY = 0.02                        # timers are no more exact than that


def lengths(value):
    """The lengths of a lease's `warn_s`; the default ones when it is not usable."""
    good = isinstance(value, list) and len(value) <= MOST_LENGTHS and all(
        not isinstance(item, bool) and isinstance(item, (int, float)) and 0 < item <= LONGEST for item in value)
    return tuple(sorted((float(item) for item in value), reverse=True)) if good else LENGTHS


class Ends:
    """One end that comes nearer, and may move away again. Each length is reported once when it is passed; an end that moved away
    is reported again. A lease that was never longer than a length does not report it."""

    def __init__(self, lengths):
        self.lengths = lengths
        self.armed = set()

    def look(self, left):
        """Whether a length was passed since the last call."""
        if left is None:
            self.armed.clear()
            return False
        passed = [length for length in self.armed if left <= length + EARLY]
        self.armed.difference_update(passed)
        self.armed.update(length for length in self.lengths if left > length + EARLY)
        return bool(passed)

    def next(self, left):
        """Seconds until the next is passed, or None."""
        ahead = [left - length for length in self.armed if left is not None]
        return max(0.0, min(ahead)) if ahead else None


class Notices:
    def __init__(self, agent, lengths):
        self.agent = agent
        self.lengths = lengths
        self.ends = {"hard": Ends(lengths), "idle": Ends(lengths)}
        self.wanted = {}            # run -> (signal, seconds before the end), or None where it wants none
        self.warned = set()
        self.taken = False          # the scheduler has announced that it takes the node back
        self.now = {"hard": None, "idle": None}

    def look(self, left):
        """`left`: {"hard": seconds or None, "idle": the same}. Sends the warnings that are due."""
        hard, idle = left["hard"], left["idle"]
        if hard is not None and idle is not None and idle >= hard:
            idle = None             # the hard end comes first
        self.now = {"hard": hard, "idle": idle}
        # updates both, even if only one is reported
        told = [what for what in ("hard", "idle") if self.ends[what].look(self.now[what])]
        if told:
            self.line(told[0], self.now[told[0]])
        self.warn_runs(hard)

    def next(self):
        """Seconds until `look` may have something to tell, or None."""
        ahead = [self.ends[what].next(self.now[what]) for what in self.ends]
        if self.now["hard"] is not None:
            ahead += [max(0.0, self.now["hard"] - wish[1]) for run, wish in self.wanted.items()
                      if wish is not None and run not in self.warned]
        ahead = [seconds for seconds in ahead if seconds is not None]
        return min(ahead) if ahead else None

    def take(self, seconds):
        """The scheduler takes the node back, in so many seconds."""
        self.taken = True
        self.line("taken", seconds)
        self.warn_runs(seconds)

    # ---- terminals

    def line(self, what, left):
        name = self.agent.name or "this session"
        text = {"idle": "%s is given back in %s if nothing happens; \"gpush extend\" keeps it",
                "hard": "%s ends in %s, whatever runs; \"gpush extend --for 2h\" moves that where it can be moved",
                "taken": "the scheduler takes the nodes of %s back, in %s at the latest"}[what] % (plain(name), words(left))
        self.agent.log("notice: " + text)
        for owner in list(self.agent.execs):
            owner.notice("gpush: " + text)
        self.agent.sampling.write_line("gpush: " + text, {owner.tty for owner in self.agent.execs})

    # ---- runs

    def warn_runs(self, hard):
        alive = self.agent.runs_alive()
        for run in set(self.wanted) - set(alive):
            del self.wanted[run]
            self.warned.discard(run)
        for run in alive:
            if run not in self.wanted:
                self.wanted[run] = wish(rundir.read(rundir.folder_of(self.agent.state, run), "spec.json").get("warn"))
            wanted = self.wanted[run]
            if wanted is None:
                continue
            if not self.taken and (hard is None or hard > wanted[1] + EARLY):
                self.warned.discard(run)
            elif run not in self.warned:
                self.warned.add(run)
                self.warn(run, wanted[0], hard)

    def warn(self, run, signal, left):
        try:
            warning.leave_word(self.agent, run, {"signal": signal, "why": "taken" if self.taken else "end", "left_s": int(left + 0.5)})
        except Exception as error:      # a failure with one run must not prevent the warnings of the others
            self.agent.log("warning run %s: %r" % (run, error))


def wish(value):
    """(signal, seconds) of a specification's `warn`; ranks.check has seen it."""
    return (value["signal"], float(value["before_s"])) if isinstance(value, dict) else None


def words(seconds):
    """"5m", "1h30m", "12s"."""
    if seconds < 119.5:
        return "%ds" % max(0, int(seconds + 0.5))
    hours, minutes = divmod(int(seconds / 60.0 + 0.5), 60)
    return ("%dh" % hours if hours else "") + ("%dm" % minutes if minutes or not hours else "")


def plain(text):
    """Safe for a terminal."""
    return "".join(sign if sign.isprintable() else "?" for sign in str(text))[:100]
