"""The state of one link: sequences, acknowledgements, replay, credit, priorities and limits. Pure: no sockets, no
clock of its own. The loop feeds it frames and takes buffers from it.

    process pipe -> Stream.send -> queues -> take() -> numbered, kept until ACK -> socket
    socket -> receive() -> the stream's owner -> Stream.consumed() -> CREDIT"""
from collections import deque

from . import frames
from .frames import Bad, CREDIT, ACK, PING, PONG, OPEN, OPENED, DATA, END, MESSAGE, CLOSE
from .stream import POOL, QUEUE, SMALL_WINDOW, Stream

MAX_STREAMS = 4096
DEFAULT_WINDOW = 64 * 1024      # what a stream may have under way before it has shown that it is fast
LANE_IN_A_ROW = 64              # after so many small and urgent frames one piece of bulk goes
FRAME_COST = 256                # what a kept frame costs beside its payload: a flood of tiny ones fills the pool, too
MAX_UNACKNOWLEDGED = 32768      # frames other than DATA; the pipe of a peer that causes answers and reads none is closed
ACK_FRAMES, ACK_BYTES, ACK_SECONDS = 64, 256 * 1024, 0.05


class Link:
    """One link, over as many pipes as needed."""

    def __init__(self, clock, accept):
        """`accept(stream, value)` is called for every OPEN; it sets stream.owner and answers at once or later."""
        self.clock, self.accept = clock, accept
        self.streams = {}
        self.last_in = 0            # last sequence received
        self.last_out = 0           # last sequence given
        self.last_acked = 0
        self.kept = deque()         # (sequence, header, payload, stream of DATA) until acknowledged
        self.kept_bytes = 0
        self.kept_others = 0        # frames in `kept` that are no DATA
        self.in_a_row = 0           # frames of the fast lane since the last of the ring
        self.queued = 0             # DATA bytes without a number, all streams
        self.windows = 0
        self.replay = deque()       # of the kept, what this pipe has not carried yet
        self.control = deque()      # ready unsequenced frames
        self.lane = deque()         # (stream, item): urgent and small ones
        self.ring = deque()         # streams with a queue, round robin
        self.dirty = set()          # streams that owe a CREDIT
        self.unacked_frames = self.unacked_bytes = 0
        self.ack_due = None         # clock reading at which ACK must be sent
        self.highest = 0            # highest odd number ever opened by the peer
        self.next_own = 2
        self.was_full = False
        self.relieved = []          # starved streams whose queue has drained
        self.bug = _raise           # called in an except clause, with the stream, when an owner raised an unexpected exception

    # ---- sending

    def full(self):
        full = self.kept_bytes + self.queued >= POOL
        if full:
            self.was_full = True
        return full

    def open(self, owner, value):
        """Opens a stream of ours (even number). The owner hears `opened` or `refused`."""
        while self.next_own in self.streams:
            self.next_own += 2
        number = self.next_own
        self.next_own += 2
        stream = self._new(number, owner, 0)
        stream.answered = True
        stream.begin(OPEN, dict(value, credit=stream.window))
        return stream

    def ping(self, token):
        self.control.append((PING, 0, frames.NUMBER.pack(token)))

    def has_output(self):
        return bool(self.control or self.replay or self.lane or self.dirty or self.relieved
                    or (self.ring and self._ring_can_send()) or self._ack_now())

    def _ring_can_send(self):
        for stream in self.ring:
            item = stream.queue[0]
            if item[0] != DATA or stream.sent < stream.allowed:
                return True
        return False

    def _ack_now(self):
        return (self.unacked_frames >= ACK_FRAMES or self.unacked_bytes >= ACK_BYTES
                or (self.ack_due is not None and self.clock() >= self.ack_due))

    def take(self, limit):
        """Buffers to write now, in order, about `limit` bytes of them; everything in them has its number."""
        out, size = [], 0
        if self.unacked_frames and (self._ack_now() or self.lane or self.ring or self.dirty):
            self.control.append((ACK, 0, frames.NUMBER.pack(self.last_in)))
            self.unacked_frames = self.unacked_bytes = 0
            self.ack_due = None
        while self.control:
            kind, number, payload = self.control.popleft()
            out.append(frames.header(kind, 0, number, 0, len(payload)) + payload)
        for stream in self.dirty:
            # of a stream of ours the peer may not know yet: OPEN, which says the same, may be behind this in a replay
            if not stream.peer_close and (stream.number & 1 or stream.accepted):
                out.append(frames.header(CREDIT, 0, stream.number, 0, 8) + frames.NUMBER.pack(stream.granted))
        self.dirty.clear()
        while self.replay and size < limit:
            sequence, head, payload, _ = self.replay.popleft()
            if sequence > self.last_acked:
                out.append(head)
                if len(payload):
                    out.append(payload)
                size += frames.HEADER_SIZE + len(payload)
        while self.lane and size < limit:
            if self.in_a_row >= LANE_IN_A_ROW:
                self.in_a_row = 0
                size += self._turn(out)
                continue
            self.in_a_row += 1
            stream, item = self.lane.popleft()
            stream.ahead -= 1
            if item[0] == DATA:
                stream.in_lane = False
                self._count(stream, len(item[2]))
            size += self._number(stream, item[0], item[1], item[2], out)
        while size < limit:
            took = self._turn(out)
            if not took:
                break
            size += took
        if self.relieved:
            relieved, self.relieved = self.relieved, []
            for stream in relieved:
                if stream.owner is not None and not stream.own_close:
                    stream.owner.room()
        return out

    def _turn(self, out):
        """Numbers one frame of the first stream of the ring that has one to send. Returns the bytes."""
        for _ in range(len(self.ring)):
            stream = self.ring.popleft()
            took = self._piece(stream, out)
            if stream.queue:
                self.ring.append(stream)
            else:
                stream.waiting = False
            if took:
                self.in_a_row = 0
                return took
        return 0

    def _piece(self, stream, out):
        """Numbers the next frame of a stream, or nothing without credit or behind the lane. Returns the bytes."""
        if stream.ahead or not stream.queue:
            return 0
        item = stream.queue[0]
        kind, flags, payload = item
        if kind == DATA:
            may = min(stream.allowed - stream.sent, frames.MAX_DATA)
            if may <= 0:
                return 0
            if len(payload) > may:
                view = memoryview(payload)
                item[2] = view[may:]
                payload = view[:may]
            else:
                stream.queue.popleft()
            self._count(stream, len(payload))
        else:
            stream.queue.popleft()
        return self._number(stream, kind, flags, payload, out)

    def _count(self, stream, length):
        stream.sent += length
        stream.queued -= length
        self.queued -= length
        if stream.starved and stream.queued <= QUEUE // 2:
            stream.starved = False
            self.relieved.append(stream)

    def _number(self, stream, kind, flags, payload, out):
        self.last_out += 1
        length = len(payload)
        head = frames.header(kind, flags, stream.number, self.last_out, length)
        self.kept.append((self.last_out, head, payload, stream if kind == DATA else None))
        self.kept_bytes += length + FRAME_COST
        if kind == DATA:
            stream.kept += FRAME_COST
        else:
            self.kept_others += 1
        out.append(head)
        if length:
            out.append(payload)
        return length + frames.HEADER_SIZE

    # ---- resuming

    def resumable(self, last):
        """Whether a peer that received everything up to `last` can be served from what is kept."""
        return self.last_acked <= last <= self.last_out

    def resume(self, last):
        """A new pipe: forgets up to `last`, owes what is left again, and CREDIT everywhere."""
        self._acknowledge(last)
        self.control.clear()
        self.unacked_frames = self.unacked_bytes = 0    # WELCOME told the peer what we have
        self.ack_due = None
        self.replay = deque(self.kept)
        for stream in self.streams.values():
            self.dirty.add(stream)

    def cut(self):
        """The link is replaced: every stream's owner is told, nothing more is sent."""
        streams = list(self.streams.values())
        self.streams.clear()
        for stream in streams:
            stream.own_close = stream.peer_close = True
            if stream.owner is not None:
                stream.owner.close({}, True)

    # ---- receiving

    def receive(self, frame):
        """One parsed frame (not HELLO, WELCOME or BYE); raises Bad when the pipe must end."""
        kind, flags, number, sequence, payload = frame
        if kind in frames.SEQUENCED:
            if sequence <= self.last_in:
                return
            if sequence != self.last_in + 1:
                raise Bad("gap")
            try:
                self._sequenced(kind, flags, number, payload)
            except Bad:
                raise
            except Exception:       # the top of all stream owners: one of them has a bug, the link has none
                self.bug(self.streams.get(number))
            self.last_in = sequence
            self.unacked_frames += 1
            self.unacked_bytes += len(payload)
            if self.ack_due is None:
                self.ack_due = self.clock() + ACK_SECONDS
        elif kind == ACK:
            value = frames.NUMBER.unpack(payload)[0]
            if value > self.last_out:
                raise Bad("ack")
            self._acknowledge(value)
        elif kind == CREDIT:
            stream = self.streams.get(number)
            if stream is not None:
                value = frames.NUMBER.unpack(payload)[0]
                if value > stream.allowed:
                    stream.allowed = value
                    stream.starved = False
                    if stream.owner is not None and not stream.own_close:
                        stream.owner.room()
        elif kind == PING:
            # the last one is enough: a peer that sends PING and does not read must not fill the memory
            self.control = deque(entry for entry in self.control if entry[0] != PONG)
            self.control.append((PONG, 0, payload))
        elif kind != PONG:
            raise Bad("kind")

    def _acknowledge(self, value):
        while self.kept and self.kept[0][0] <= value:
            _, head, payload, stream = self.kept.popleft()
            self.kept_bytes -= len(payload) + FRAME_COST
            if head[4] != DATA:
                self.kept_others -= 1
                continue
            stream.kept -= len(payload) + FRAME_COST
            if self.was_full and stream.starved and stream.kept <= SMALL_WINDOW // 2:
                stream.starved = False
                self.relieved.append(stream)
        self.last_acked = max(self.last_acked, value)
        if self.was_full and self.kept_bytes + self.queued < POOL // 2:
            self.was_full = False
            for stream in list(self.streams.values()):
                stream.starved = False
                if stream.owner is not None and not stream.own_close:
                    stream.owner.room()

    def _sequenced(self, kind, flags, number, payload):
        if kind == OPEN:
            self._open(number, payload)
            return
        stream = self.streams.get(number)
        if stream is None:
            if number > self.highest if number & 1 else number >= self.next_own:
                raise Bad("never-opened")
            return      # was open once: what we refused or both closed
        if stream.peer_close:
            raise Bad("after-close")
        if kind in (DATA, END, MESSAGE) and not (stream.answered if number & 1 else stream.accepted):
            raise Bad("before-opened")
        if kind in (DATA, END) and stream.peer_ended >> flags & 1:
            raise Bad("after-end")
        if kind == DATA:
            if stream.received + len(payload) > stream.granted:
                raise Bad("credit")
            stream.received += len(payload)
            if stream.own_close or stream.owner is None:
                stream.consumed(len(payload))
            elif payload:
                stream.owner.data(flags, payload)
        elif kind == END:
            stream.peer_ended |= 1 << flags
            if not stream.own_close and stream.owner is not None:
                stream.owner.end(flags)
        elif kind == MESSAGE:
            value = frames.unpack_json(payload)
            if not stream.own_close and stream.owner is not None:
                stream.owner.message(value, flags == 1)
        elif kind == CLOSE:
            value = frames.unpack_json(payload)
            stream.peer_close = True
            if not stream.own_close:
                stream.discard()
                if stream.owner is not None:
                    stream.owner.close(value, False)
                stream.close({})
            self.settle(stream)
        else:
            self._answered(stream, kind, payload)

    def _answered(self, stream, kind, payload):
        if stream.number & 1:
            raise Bad("direction")
        if stream.accepted:
            raise Bad("unexpected")
        value = frames.unpack_json(payload)
        if kind == OPENED:
            stream.accepted = True
            stream.allowed = max(stream.allowed, _credit(value))
            if not stream.own_close and stream.owner is not None:
                stream.owner.opened(value)
                stream.owner.room()
        else:
            was_closed = stream.own_close
            stream.own_close = stream.peer_close = True
            self.forget(stream)
            if not was_closed and stream.owner is not None:
                stream.owner.refused(value)

    def _open(self, number, payload):
        if not number & 1:
            raise Bad("direction")
        if number in self.streams:
            raise Bad("twice")
        if self.kept_others + len(self.lane) + len(self.ring) > MAX_UNACKNOWLEDGED:
            raise Bad("unacknowledged")
        value = frames.unpack_json(payload)
        self.highest = max(self.highest, number)
        stream = self._new(number, None, _credit(value))
        if len(self.streams) > MAX_STREAMS:
            stream.refuse("limit", {"streams": MAX_STREAMS})
        else:
            self.accept(stream, value)

    def _new(self, number, owner, allowed):
        window = DEFAULT_WINDOW if self.windows + DEFAULT_WINDOW <= POOL else SMALL_WINDOW
        stream = Stream(self, number, owner, allowed, window)
        self.windows += window
        self.streams[number] = stream
        return stream

    def settle(self, stream):
        if stream.own_close and stream.peer_close:
            self.forget(stream)

    def forget(self, stream):
        if self.streams.get(stream.number) is stream:
            del self.streams[stream.number]
            self.windows -= stream.window
            self.dirty.discard(stream)


def _raise(stream):
    raise


def _credit(value):
    credit = value.get("credit", 0)
    if not isinstance(credit, int) or isinstance(credit, bool) or credit < 0:
        raise Bad("credit")
    return credit
