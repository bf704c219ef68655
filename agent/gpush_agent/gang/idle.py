"""Whether a gang is idle. Node 0's agent decides for all (Decides), the others ask it (Asks). Pure: the lease has the clock,
and what a line says comes in through functions. Only durations cross machines, each counted by its receiver from when it came.

A node lets go when node 0 says so; or at the hard end that node 0 told last; or when node 0 has been silent for longer than the
idle time and the node's own idle time is over. A run, or a process that uses a node, keeps that node in any case but the hard
end."""
from .peerline import plain

ASK_SECONDS = 5.0           # before an end the others are asked, and have this time to answer
RETURN_SECONDS = 40.0       # after an agent before this one: in this time the others dial again (peers.RETRY_SECONDS) and report
MOST = 10 * 365 * 86400.0   # a longer duration counts as none
MOST_WORDS = 80
MOST_CLIENTS = 4
WORDS = ("idle", "unclaimed", "hard")


def names(value):
    """A few short texts."""
    return [plain(name, MOST_WORDS) for name in value[:MOST_CLIENTS]] if isinstance(value, list) else []


def duration(value):
    """Seconds, or None."""
    good = not isinstance(value, bool) and isinstance(value, (int, float)) and 0 <= value <= MOST
    return float(value) if good else None


class Member:
    """What node 0 knows of another node."""

    def __init__(self):
        self.last = None
        self.why, self.there, self.busy = "", False, False
        self.clients = []           # who is connected to it
        self.answered = 0           # the newest question that it answered


class Decides:
    """Node 0."""

    def __init__(self, lease, ask):
        """`ask(number)` wants a fresh report, with that number, from every node that is there."""
        self.lease, self.ask = lease, ask
        self.members = {}
        self.asked = None           # when, while answers are waited for
        self.number = 0
        self.alone_until = lease.clock() + (RETURN_SECONDS if lease.recalled else 0.0)

    def member(self, node):
        return self.members.setdefault(node, Member())

    def joined(self, node):
        self.member(node).there = True

    def left(self, node):
        """Its line is gone. Its last report counts until its time, no longer."""
        self.member(node).there = False

    def report(self, node, value):
        member, now = self.member(node), self.lease.clock()
        since = duration(value.get("idle_for_s"))
        if since is None:
            return
        member.busy = value.get("busy") is True
        member.last, member.why = now - (0.0 if member.busy else since), plain(value.get("why"), MOST_WORDS)
        member.clients = names(value.get("clients"))
        if value.get("ask") == self.number:
            member.answered = self.number
        if value.get("claimed") is True:
            self.lease.claim()

    def latest(self):
        """(when, why) something happened last in the gang."""
        last, why, _ = self.newest()
        return last, why

    def newest(self):
        """With whether it is still in progress."""
        last, why, busy = self.lease.last, self.lease.why, self.lease.busy
        for node, member in sorted(self.members.items()):
            if member.last is not None and member.last > last:
                last, why, busy = member.last, "%s on node %d" % (member.why, node), member.busy and member.there
        return last, why, busy

    def over(self):
        lease, now = self.lease, self.lease.clock()
        why = lease.own_over()
        if why == "hard":
            return why
        if why is None or self.kept(why) or now < self.alone_until:
            self.asked = None
            return None
        if self.asked is None:
            self.asked = now
            self.number += 1
            self.ask(self.number)
        if now < self.asked + ASK_SECONDS and any(
                member.there and member.answered != self.number for member in self.members.values()):
            return None
        return None if self.kept(why) else why

    def kept(self, why):
        """Another node's activity is later than our own."""
        return why == "idle" and self.lease.clock() < self.latest()[0] + self.lease.idle

    def next(self):
        own = self.lease.own_next()
        if self.asked is not None:
            return max(0.0, self.asked + ASK_SECONDS - self.lease.clock())
        if own is None or own > 0.0:
            return own
        idle_end = self.alone_until if self.lease.idle is None else self.latest()[0] + self.lease.idle
        return max(0.0, max(idle_end, self.alone_until) - self.lease.clock())

    def status(self):
        value, now = self.lease.own_status(), self.lease.clock()
        last, why, busy = self.newest()
        nodes = {"0": {"idle_for_s": value["idle_for_s"], "busy": value["busy"], "why": value["idle_because"]}}
        for node, member in sorted(self.members.items()):
            if member.last is not None:
                since = 0.0 if member.busy and member.there else round(max(0.0, now - member.last), 3)
                nodes[str(node)] = {"idle_for_s": since, "busy": member.busy and member.there, "why": member.why,
                                    "clients": member.clients}
        value.update(idle_because=why, idle_for_s=round(max(0.0, now - last), 3), busy=busy, nodes_idle=nodes)
        if self.lease.idle is not None:
            value["idle_left_s"] = round(max(0.0, last + self.lease.idle - now), 3)
        return value

    def told(self):
        """The message for the others."""
        value = self.status()
        del value["nodes_idle"]
        value.update(idle_s=self.lease.idle, claimed=self.lease.claimed)
        return value


class Asks:
    """Every other node."""

    def __init__(self, lease, ask, clients=lambda: []):
        """`ask()` requests a message of node 0; returns whether it can be asked. `clients()` names who is connected."""
        self.lease, self.ask, self.clients = lease, ask, clients
        self.heard = lease.clock()      # when node 0 was last heard; initially the time of the start
        self.lines = 0
        self.word = None
        self.asked = None
        self.gang = None                # what node 0 sent, and when

    def latest(self):
        return self.lease.last, self.lease.why

    def report(self):
        lease = self.lease
        busy = lease.look() is not None
        return {"busy": busy, "idle_for_s": round(max(0.0, lease.clock() - lease.last), 3), "why": lease.why,
                "claimed": lease.claimed, "clients": self.clients()}

    def tell(self, value):
        """Takes over node 0's numbers."""
        lease, now = self.lease, self.lease.clock()
        self.heard = now
        hard, idle = duration(value.get("hard_left_s")), duration(value.get("idle_s"))
        lease.hard_end = None if hard is None else now + hard
        if idle is not None or value.get("idle_s", 0) is None:
            lease.idle = idle
        if value.get("claimed") is True:
            lease.claim()
        self.asked = None
        if hard == 0.0:
            self.word = "hard"
        self.gang = (now, duration(value.get("idle_left_s")), plain(value.get("idle_because"), 100),
                     duration(value.get("idle_for_s")), value.get("busy") is True)

    def let_go(self, word):
        self.heard = self.lease.clock()
        if word in WORDS:
            self.word = word

    def over(self):
        lease, now = self.lease, self.lease.clock()
        if self.word == "hard":
            return "hard"
        own = lease.own_over()
        if own == "hard":
            # it may have been moved at node 0, and the message has not arrived yet
            if self.asked is None:
                self.asked = now
                if not self.ask():
                    self.asked = None
                    return own
            return None if self.asked is None or now < self.asked + ASK_SECONDS else own
        self.asked = None
        if lease.look() or (self.word == "unclaimed" and lease.claimed):
            self.word = None            # node 0 did not know of this when it decided
            return None
        if self.word is not None:
            return self.word
        if own == "idle":
            return own if now >= self.heard + lease.idle else None
        if own == "unclaimed":
            return own if now >= self.heard + lease.unclaimed else None
        return None

    def next(self):
        now = self.lease.clock()
        own = self.lease.own_next()
        if own is None or own > 0.0:
            return own
        ends = [self.asked + ASK_SECONDS if self.asked is not None else None,
                self.heard + self.lease.idle if self.lease.idle is not None else None,
                self.heard + self.lease.unclaimed if self.lease.unclaimed is not None else None]
        ends = [end - now for end in ends if end is not None and end > now]
        return min(ends) if ends else 0.0

    def status(self):
        """The gang's numbers while node 0 is heard, else this node's own."""
        value, now = self.lease.own_status(), self.lease.clock()
        if self.gang is not None and self.lease.idle is not None and now < self.heard + self.lease.idle:
            at, left, why, since, busy = self.gang
            left = None if left is None else round(left - (now - at), 3)
            if left is not None and left > value["idle_left_s"]:
                value.update(idle_left_s=left, idle_because=why, busy=busy)
                if since is not None:
                    value["idle_for_s"] = since if busy else round(since + (now - at), 3)
        return value
