"""How long the agent holds its node: a hard end, idle time, and the time it waits to be claimed at all.
Pure: the clock is given, runs are asked for through a function."""

LOOK_SECONDS = 5.0      # between two checks while something is in progress: its end is found by a check, and starts the idle time


class Lease:
    def __init__(self, clock, limits, runs=lambda: [], using=lambda: None):
        """`runs()` names the runs in progress, `using()` says in words which process uses the node; either keeps the node."""
        self.clock, self.runs, self.using = clock, runs, using
        now = clock()
        self.started = now
        self.hard_end = None if limits.get("hard_s") is None else now + limits["hard_s"]
        self.idle = limits.get("idle_s")
        self.unclaimed = limits.get("unclaimed_s")
        self.renewed = set()        # which of hard_s and idle_s are no longer those of the start
        self.recalled = False       # whether an agent before this one had them
        self.claimed = False
        self.asked = now            # when a gateway last waited for the gang
        self.judge = None           # in a gang: the decision of gang.idle for this node; else None
        self.last = now
        self.touched = now          # when something came or went; not when a process was seen
        self.busy = False           # at the last look
        self.in_runs = False
        self.why = "started"

    def active(self, why):
        """Something happened."""
        self.touched = self.clock()
        self.note(why)

    def note(self, why):
        self.last, self.why = self.clock(), why

    def claim(self):
        """A gateway has said HELLO."""
        if not self.claimed:
            self.claimed = True
            self.active("attached")

    def ask(self):
        """A gateway waits for nodes that start later, as they fetch an image."""
        self.asked = self.clock()

    def renew(self, params):
        """Moves the hard end (null: none), sets the idle time; both count from now. `restore`: the lease that the gang has, for
        an agent that has that of its start. It is no activity, and what was renewed meanwhile stays."""
        restores = params.get("restore") is True
        new = [key for key in ("hard_s", "idle_s") if key in params and not (restores and key in self.renewed)]
        if "hard_s" in new:
            self.hard_end = None if params["hard_s"] is None else self.clock() + params["hard_s"]
        if "idle_s" in new:
            self.idle = params["idle_s"]
        self.renewed.update(new)
        self.claimed = True
        if not restores:
            self.active("renewed")

    def terms(self):
        """Where the hard end comes from."""
        return "renewed" if "hard_s" in self.renewed else "start"

    def noted(self):
        """What `recall` needs, as JSON. Its times are of the machine's own clock. Of node 0 with what the others were doing: it
        decides for them, and the next agent may not hear them at once."""
        last, why = (self.last, self.why) if self.judge is None else self.judge.latest()
        return {"hard_end": self.hard_end, "idle": self.idle, "renewed": sorted(self.renewed), "claimed": self.claimed,
                "started": self.started, "asked": self.asked, "last": last, "why": why}

    def recall(self, noted):
        self.recalled = True
        self.hard_end, self.idle, self.renewed = noted["hard_end"], noted["idle"], set(noted["renewed"])
        self.claimed, self.started, self.last, self.why = noted["claimed"], noted["started"], noted["last"], noted["why"]
        self.touched, self.asked = self.last, noted["asked"]

    def look(self):
        """Notes what is in progress. Returns why it keeps the node, or None."""
        runs = self.runs()
        using = None if runs else self.using()
        was_busy, self.busy, self.in_runs = self.busy, bool(runs or using), bool(runs)
        if self.busy:
            self.note("run " + str(runs[0]) if runs else using)
            return self.why
        if was_busy:
            self.note(self.why)         # it has ended since the last look: the idle time starts now
        return None

    def over(self):
        """Why it is over: "hard", "unclaimed", "idle", or None."""
        return self.own_over() if self.judge is None else self.judge.over()

    def next(self):
        """Seconds until `over` may change, or None for never."""
        return self.own_next() if self.judge is None else self.judge.next()

    def status(self):
        return self.own_status() if self.judge is None else self.judge.status()

    # ---- this node alone

    def own_over(self):
        now = self.clock()
        if self.hard_end is not None and now >= self.hard_end:
            return "hard"
        if self.look():
            return None
        if not self.claimed and self.unclaimed is not None and now >= self.asked + self.unclaimed:
            return "unclaimed"
        if self.claimed and self.idle is not None and now >= self.last + self.idle:
            return "idle"
        return None

    def own_next(self):
        ends = [] if self.hard_end is None else [self.hard_end]
        if not self.claimed and self.unclaimed is not None:
            ends.append(self.asked + self.unclaimed)
        if self.claimed and self.idle is not None:
            ends.append(self.last + (min(self.idle, LOOK_SECONDS) if self.busy else self.idle))
        return max(0.0, min(ends) - self.clock()) if ends else None

    def own_status(self):
        because = self.look()
        now = self.clock()
        return {"hard_left_s": None if self.hard_end is None else round(max(0.0, self.hard_end - now), 3),
                "idle_left_s": None if self.idle is None else round(max(0.0, self.last + self.idle - now), 3),
                "idle_for_s": round(max(0.0, now - self.last), 3), "held_s": round(max(0.0, now - self.started), 3),
                "busy": because is not None,
                "idle_because": because or self.why}
