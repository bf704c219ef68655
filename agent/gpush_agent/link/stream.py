"""One stream of a link: its queue, its credit, and what it belongs to. Pure, as the link is.

An owner is any object with these methods (see `Owner`): data, end, message, close, room, opened, refused."""
from collections import deque

from . import frames
from .frames import OPENED, REFUSED, DATA, END, MESSAGE, CLOSE

MAX_WINDOW = 4 * 1024 * 1024
SMALL_WINDOW = 16 * 1024        # for new streams, when the pool is used up
POOL = 64 * 1024 * 1024         # all receive windows together; also the most that is queued or kept for replay
QUEUE = 1024 * 1024             # the most that one stream reads ahead of the pipe
INTERACTIVE = 4096              # DATA up to this goes ahead of bulk, when its stream has nothing else waiting


class Owner:
    """What a stream belongs to; the base class ignores everything."""

    def data(self, channel, payload):
        """Bytes came; call stream.consumed(n) when they were delivered."""

    def end(self, channel):
        """No more DATA on this channel."""

    def message(self, value, urgent):
        """A MESSAGE came."""

    def close(self, value, cut):
        """The peer's CLOSE came, or (cut) the whole link was replaced; nothing can be sent any more if cut."""

    def room(self):
        """stream.room() may have grown."""

    def opened(self, value):
        """The stream that we opened was accepted."""

    def refused(self, value):
        """The stream that we opened was not accepted; it is over."""


class Stream:
    __slots__ = ("link", "number", "owner", "queue", "queued", "sent", "allowed", "window", "received", "consumed_total",
                 "granted", "mark", "mark_at", "own_close", "peer_close", "answered", "ended", "in_lane", "ahead", "waiting",
                 "starved", "kept", "accepted", "peer_ended")

    def __init__(self, link, number, owner, allowed, window):
        self.link, self.number, self.owner = link, number, owner
        self.queue = deque()        # [kind, flags, payload] that have no number yet
        self.queued = 0             # DATA bytes in it
        self.sent = 0               # DATA bytes numbered
        self.allowed = allowed      # DATA bytes the peer allows in total
        self.window = window
        self.received = 0
        self.consumed_total = 0
        self.granted = window
        self.mark, self.mark_at = 0, None
        self.own_close = self.peer_close = False
        self.answered = False       # OPENED or REFUSED was sent, or it was we who opened it
        self.ended = [False, False]
        self.in_lane = False        # one frame of DATA of ours waits in the fast lane
        self.ahead = 0              # all frames of ours in the fast lane; until they are out the queue waits
        self.waiting = False        # we are in the round robin
        self.starved = False        # the owner was told to stop reading; `room` must be called
        self.kept = 0               # DATA bytes queued or not acknowledged, with their frames' cost
        self.accepted = False       # it is ours, and the peer has said OPENED
        self.peer_ended = 0         # one bit per channel

    def room(self):
        """How many DATA bytes may be queued now; 0 means: stop reading the source until owner.room() is called."""
        if self.own_close:
            return 0
        room = min(self.allowed - self.sent - self.queued, QUEUE - self.queued)
        if self.link.full():        # a keystroke's echo still goes; bulk waits
            room = min(room, SMALL_WINDOW - self.kept)
        if room <= 0:               # only `owner.room` ends this: another source of the stream may find room before
            self.starved = True
        return max(0, room)

    def send(self, channel, payload):
        if self.own_close or not payload:
            return
        self.queued += len(payload)
        self.kept += len(payload)
        self.link.queued += len(payload)
        item = [DATA, channel, payload]
        if not self.queue and not self.in_lane and len(payload) <= INTERACTIVE and self.sent + len(payload) <= self.allowed:
            self.in_lane = True
            self._in_fast_lane(item)
        else:
            self._wait(item)

    def end(self, channel):
        if not self.own_close and not self.ended[channel]:
            self.ended[channel] = True
            self._wait([END, channel, b""])

    def message(self, value, urgent=False):
        if self.own_close:
            return
        item = [MESSAGE, 1 if urgent else 0, frames.pack_json(value)]
        if urgent:
            self._in_fast_lane(item)
        else:
            self._wait(item)

    def opened(self, facts=None):
        if not self.answered and not self.own_close:
            self.answered = True
            value = {"credit": self.granted}
            value.update(facts or {})
            self.begin(OPENED, value)

    def begin(self, kind, value):
        """Sends the first frame of this side."""
        self._in_fast_lane([kind, 0, frames.pack_json(value)])

    def refuse(self, code, facts=None):
        """Answers an OPEN with REFUSED; after OPENED it is a CLOSE with the same content."""
        value = {"code": code, "facts": facts or {}}
        if self.answered:
            self.close(value)
            return
        if not self.own_close:
            self.answered = True
            self.own_close = self.peer_close = True
            self._in_fast_lane([REFUSED, 0, frames.pack_json(value)])
            self.link.forget(self)

    def close(self, value=None):
        """Sends CLOSE after what is queued."""
        if self.own_close:
            return
        if not self.answered:
            self.refuse("closed")
            return
        self._wait([CLOSE, 0, frames.pack_json(value or {})])
        self.own_close = True
        self.link.settle(self)

    def discard(self):
        """Forgets what is queued and has no number: the peer has closed and would only drop it."""
        self.link.queued -= self.queued
        self.kept -= self.queued
        self.queued = 0
        self.queue.clear()
        if self.in_lane:
            self.link.lane = deque(entry for entry in self.link.lane if entry[0] is not self or entry[1][0] != DATA)
            self.in_lane = False
            self.ahead -= 1

    def consumed(self, count):
        """`count` received DATA bytes have reached their end; grants more when half the window was used."""
        self.consumed_total += count
        if self.peer_close:
            return
        total = self.consumed_total + self.window
        if total - self.granted >= self.window // 2:
            self._grow()
            self.granted = self.consumed_total + self.window
            self.link.dirty.add(self)

    def _grow(self):
        """Doubles the window of a stream whose far end consumed a whole one within a second."""
        now = self.link.clock()
        if self.mark_at is None or now - self.mark_at > 1.0:
            self.mark, self.mark_at = self.consumed_total, now
        elif self.consumed_total - self.mark >= self.window:
            more = min(MAX_WINDOW, self.window * 2) - self.window
            if more > 0 and self.link.windows + more <= POOL:
                self.window += more
                self.link.windows += more
            self.mark, self.mark_at = self.consumed_total, now

    def _in_fast_lane(self, item):
        self.ahead += 1
        self.link.lane.append((self, item))

    def _wait(self, item):
        self.queue.append(item)
        if not self.waiting:
            self.waiting = True
            self.link.ring.append(self)
