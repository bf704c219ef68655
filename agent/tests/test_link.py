"""The state of a link without sockets: two links talk through lists of bytes that may be cut anywhere."""
import os
import random
import struct
import unittest

import client
from gpush_agent.link import frames
from gpush_agent.link.machine import DEFAULT_WINDOW, LANE_IN_A_ROW, MAX_STREAMS, Link
from gpush_agent.link.stream import POOL, QUEUE, Owner, Stream
from run import slow


class Recorder(Owner):
    def __init__(self, stream=None):
        self.stream = stream
        self.bytes = {0: b"", 1: b""}
        self.events = []
        self.eats = True

    def data(self, channel, payload):
        self.bytes[channel] += payload
        if self.eats:
            self.stream.consumed(len(payload))

    def end(self, channel):
        self.events.append(("end", channel))

    def message(self, value, urgent):
        self.events.append(("message", value))

    def close(self, value, cut):
        self.events.append(("cut" if cut else "close", value))

    def opened(self, value):
        self.events.append(("opened", value))

    def refused(self, value):
        self.events.append(("refused", value))


class Far(Link):
    """The gateway's half, as far as these tests need it: the same state, but its streams are odd."""

    def __init__(self, clock):
        super().__init__(clock, None)
        self.next_own = 1

    def open(self, owner, value):
        number, self.next_own = self.next_own, self.next_own + 2
        stream = self._new(number, owner, 0)
        stream.answered = True
        owner.stream = stream
        stream.begin(frames.OPEN, dict(value, credit=stream.window))
        return stream

    def _answered(self, stream, kind, payload):
        stream_number, stream.number = stream.number, 0     # the check of direction is the agent's
        try:
            super()._answered(stream, kind, payload)
        finally:
            stream.number = stream_number
            if kind == frames.REFUSED:
                self.forget(stream)


class Pair:
    def __init__(self):
        self.now = 0.0
        self.opened = []
        self.near = Link(lambda: self.now, self.accept)
        self.far = Far(lambda: self.now)
        self.refuse = None

    def accept(self, stream, value):
        owner = Recorder(stream)
        stream.owner = owner
        self.opened.append(owner)
        if self.refuse:
            stream.refuse(self.refuse)
        else:
            stream.opened({})

    def stream(self):
        owner = Recorder()
        self.far.open(owner, {"type": "exec"})
        self.run()
        return self.opened[-1], owner

    @staticmethod
    def pour(data, link):
        for frame in frames.Parser().feed(data):
            if isinstance(frame, frames.Bad):
                raise frame
            link.receive(frame)

    def run(self):
        while True:
            self.now += 0.1
            there, back = b"".join(self.far.take(1 << 20)), b"".join(self.near.take(1 << 20))
            if not there and not back:
                return
            self.pour(there, self.near)
            self.pour(back, self.far)


class StreamTest(unittest.TestCase):
    def setUp(self):
        self.pair = Pair()

    def test_data_end_and_close_in_order(self):
        near, far = self.pair.stream()
        near.stream.send(0, b"out")
        near.stream.send(1, b"err")
        near.stream.end(0)
        near.stream.close({"exit": 3})
        self.pair.run()
        self.assertEqual(far.bytes, {0: b"out", 1: b"err"})
        self.assertEqual(far.events[1:], [("end", 0), ("close", {"exit": 3})])
        self.assertEqual((self.pair.near.streams, self.pair.far.streams, self.pair.near.windows), ({}, {}, 0))
        self.assertEqual(self.pair.near.kept_bytes, 0)

    def test_refused(self):
        self.pair.refuse = "not-found"
        owner = Recorder()
        stream = self.pair.far.open(owner, {"type": "x"})
        stream.message({"a": 1})        # on its way before the answer: dropped, not an error
        stream.close()
        self.pair.run()
        self.assertEqual(self.pair.near.streams, {})

    def test_a_window_is_never_exceeded_and_follows_consumption(self):
        near, far = self.pair.stream()
        far.eats = False
        near.stream.send(0, b"x" * (3 * DEFAULT_WINDOW))
        self.pair.run()
        self.assertEqual(len(far.bytes[0]), DEFAULT_WINDOW)
        self.assertEqual(near.stream.room(), 0)
        far.stream.consumed(DEFAULT_WINDOW)
        far.eats = True
        self.pair.run()
        self.assertEqual(len(far.bytes[0]), 3 * DEFAULT_WINDOW)

    @slow
    def test_a_fast_stream_gets_a_larger_window(self):
        near, far = self.pair.stream()
        step = 0.0001
        for _ in range(200):
            near.stream.send(0, b"x" * min(65536, near.stream.room() or 1))
            self.pair.now += step
            self.pair.pour(b"".join(self.pair.near.take(1 << 20)), self.pair.far)
            self.pair.pour(b"".join(self.pair.far.take(1 << 20)), self.pair.near)
        self.assertGreater(far.stream.window, DEFAULT_WINDOW * 4)

    def test_small_data_overtakes_bulk_of_others_but_not_its_own(self):
        bulk, _ = self.pair.stream()
        small, _ = self.pair.stream()
        bulk.stream.send(0, b"b" * 60000)
        small.stream.send(0, b"one")
        small.stream.send(0, b"two")
        bulk.stream.message({"m": 1}, urgent=True)
        data = b"".join(self.pair.near.take(1 << 20))
        order = [(frame[2], frame[0], frame[4][:3]) for frame in frames.Parser().feed(data) if frame[0] >= 0x10]
        self.assertEqual(order, [(3, frames.DATA, b"one"), (1, frames.MESSAGE, b'{"m'), (1, frames.DATA, b"bbb"),
                                 (3, frames.DATA, b"two")])

    def test_nothing_of_a_stream_overtakes_its_opened(self):
        for before in range(LANE_IN_A_ROW + 2):
            with self.subTest(before=before):
                pair = Pair()
                busy, _ = pair.stream()
                for _ in range(before):
                    busy.stream.message({"urgent": True}, urgent=True)
                pair.far.open(Recorder(), {"type": "call"})
                pair.pour(b"".join(pair.far.take(1 << 20)), pair.near)
                answering = pair.opened[-1].stream
                answering.message({"result": 1})
                answering.close({})
                sent = frames.Parser().feed(b"".join(pair.near.take(1 << 20)))
                self.assertEqual([kind for kind, _, number, _, _ in sent if number == answering.number],
                                 [frames.OPENED, frames.MESSAGE, frames.CLOSE])

    def test_the_end_of_a_stream_does_not_overtake_its_urgent_message(self):
        for before in range(LANE_IN_A_ROW + 2):
            with self.subTest(before=before):
                pair = Pair()
                busy, _ = pair.stream()
                near, _ = pair.stream()
                for _ in range(before):
                    busy.stream.message({"urgent": True}, urgent=True)
                near.stream.message({"last": True}, urgent=True)
                near.stream.close({})
                sent = frames.Parser().feed(b"".join(pair.near.take(1 << 20)))
                self.assertEqual([kind for kind, _, number, _, _ in sent if number == near.stream.number],
                                 [frames.MESSAGE, frames.CLOSE])

    def test_a_source_that_found_no_room_is_called_although_another_of_its_stream_found_some(self):
        near, far = self.pair.stream()
        near.room = lambda: near.events.append("room")
        far.eats = False
        far.stream.granted = near.stream.allowed = 4 * QUEUE
        while near.stream.room():       # the one that reads stdout, say; then stderr's finds no room
            near.stream.send(0, b"x" * 100000)
        self.pair.near.take(1)
        self.assertGreater(near.stream.room(), 0)
        self.assertEqual(near.events, [])
        while near.stream.queued:
            self.pair.near.take(1)
        self.assertEqual(near.events, ["room"])

    def test_bulk_streams_share_fairly(self):
        owners = [self.pair.stream()[0] for _ in range(3)]
        for owner in owners:
            for _ in range(4):
                owner.stream.send(0, b"x" * 10000)
        data = b"".join(self.pair.near.take(1 << 20))
        order = [frame[2] for frame in frames.Parser().feed(data) if frame[0] == frames.DATA]
        self.assertEqual(order, [1, 3, 5] * 4)

    def test_no_credit_goes_for_a_stream_of_ours_before_it_was_accepted(self):
        """Found by the simulator: after a cut it went before the OPEN that was sent again, and the gateway ended the pipe."""
        self.pair.stream()
        self.pair.near.open(Recorder(), {"type": "accepted"})
        self.pair.near.take(1 << 20)        # which is lost
        self.pair.near.resume(1)
        data = b"".join(self.pair.near.take(1 << 20))
        of_two = [frame[0] for frame in frames.Parser().feed(data) if frame[2] == 2]
        self.assertEqual(of_two, [frames.OPEN])

    def test_data_for_a_stream_that_we_closed_is_counted(self):
        near, far = self.pair.stream()
        near.stream.close()
        far.stream.send(0, b"x" * DEFAULT_WINDOW)
        self.pair.run()
        self.assertEqual(self.pair.near.streams, {})

    def test_ack_after_frames_bytes_or_time(self):
        near, far = self.pair.stream()
        far.stream.send(0, b"x")
        self.pair.pour(b"".join(self.pair.far.take(1 << 20)), self.pair.near)
        self.assertFalse(self.pair.near._ack_now())
        self.pair.now += 0.051
        self.assertTrue(self.pair.near.has_output())
        self.assertEqual(frames.Parser().feed(b"".join(self.pair.near.take(100)))[0][0], frames.ACK)

    def test_too_many_streams(self):
        for _ in range(MAX_STREAMS + 1):
            last = Recorder()
            self.pair.far.open(last, {"type": "exec"})
        self.pair.run()
        self.assertEqual(last.events, [("refused", {"code": "limit", "facts": {"streams": MAX_STREAMS}})])
        self.assertEqual(len(self.pair.near.streams), MAX_STREAMS)
        self.assertLessEqual(self.pair.near.windows, POOL * 2)

    def test_streams_of_our_own(self):
        self.pair.stream()
        far_accepts = []

        def accept(stream, value):
            stream.owner = Recorder(stream)
            far_accepts.append(value)
            stream.opened({})
        self.pair.far.accept = accept
        owner = Recorder()
        owner.stream = self.pair.near.open(owner, {"type": "accepted"})
        data = b"".join(self.pair.near.take(1 << 20))
        found = frames.Parser().feed(data)
        self.assertEqual(found[-1][2], 2)
        answer = frames.encode(frames.OPENED, 0, 2, self.pair.far.last_out + 1, b'{"credit":10}')
        self.pair.pour(answer, self.pair.near)
        self.assertEqual(owner.events[0][0], "opened")
        self.assertEqual(owner.stream.room(), 10)


class ViolationTest(unittest.TestCase):
    def setUp(self):
        self.pair = Pair()
        self.near, self.far = self.pair.stream()
        self.next = self.pair.near.last_in + 1

    def bad(self, kind, stream, sequence, payload=b"", flags=0):
        with self.assertRaises(frames.Bad) as caught:
            self.pair.pour(frames.encode(kind, flags, stream, sequence, payload), self.pair.near)
        return str(caught.exception)

    def test_all(self):
        self.assertEqual(self.bad(frames.END, 1, self.next + 1), "gap")
        self.assertEqual(self.bad(frames.END, 99, self.next), "never-opened")
        self.assertEqual(self.bad(frames.DATA, 2, self.next, b"x"), "never-opened")
        self.assertEqual(self.bad(frames.OPEN, 2, self.next, b"{}"), "direction")
        self.assertEqual(self.bad(frames.OPEN, 1, self.next, b"{}"), "twice")
        self.assertEqual(self.bad(frames.OPENED, 1, self.next, b"{}"), "direction")
        self.assertEqual(self.bad(frames.OPEN, 3, self.next, b'{"credit":-1}'), "credit")
        self.assertEqual(self.bad(frames.ACK, 0, 0, struct.pack(">Q", 1 << 40)), "ack")
        self.assertEqual(self.bad(frames.MESSAGE, 1, self.next, b"[]"), "json")

    def test_data_beyond_credit(self):
        self.near.eats = False
        self.pair.pour(frames.encode(frames.DATA, 0, 1, self.next, b"x" * DEFAULT_WINDOW), self.pair.near)
        self.assertEqual(self.bad(frames.DATA, 1, self.next + 1, b"x"), "credit")

    def test_nothing_but_a_close_comes_before_opened(self):
        self.pair.near.accept = lambda stream, value: None      # which answers later
        self.pair.pour(frames.encode(frames.OPEN, 0, 3, self.next, b"{}"), self.pair.near)
        ours = self.pair.near.open(Recorder(), {"type": "accepted"}).number
        for number in (3, ours):
            for kind, payload in ((frames.DATA, b"x"), (frames.END, b""), (frames.MESSAGE, b"{}")):
                self.assertEqual(self.bad(kind, number, self.next + 1, payload), "before-opened")
        self.pair.pour(frames.encode(frames.CLOSE, 0, 3, self.next + 1, b"{}"), self.pair.near)
        self.assertNotIn(3, self.pair.near.streams)

    def test_replays_are_dropped(self):
        frame = frames.encode(frames.DATA, 0, 1, self.next, b"once")
        for _ in range(3):
            self.pair.pour(frame, self.pair.near)
        self.assertEqual(self.near.bytes[0], b"once")


class ResumeTest(unittest.TestCase):
    def test_at_every_frame_boundary_and_inside_frames(self):
        reference = None
        for cut in range(0, 700, 7):
            pair = Pair()
            near, far = pair.stream()
            for number in range(12):
                near.stream.send(number % 2, b"%03d" % number * 9)
                far.stream.send(0, b"up%d" % number)
            near.stream.end(0)
            near.stream.close({"exit": 0})
            down, up = b"".join(pair.near.take(1 << 20)), b"".join(pair.far.take(1 << 20))
            pair.pour(down[:cut], pair.far)
            pair.pour(up[:cut // 3], pair.near)
            self.resume(pair)
            result = (far.bytes, near.bytes[0], far.events)
            reference = reference or result
            self.assertEqual(result, reference, "cut at %d of %d" % (cut, len(down)))
            self.assertEqual(pair.near.kept_bytes + pair.far.kept_bytes, 0)

    def resume(self, pair):
        near_last, far_last = pair.near.last_in, pair.far.last_in
        self.assertTrue(pair.near.resumable(far_last))
        pair.near.resume(far_last)
        pair.far.resume(near_last)
        pair.run()

    def test_an_answer_does_not_wait_for_a_long_replay(self):
        pair = Pair()
        near, _ = pair.stream()
        near.stream.allowed = 1 << 20
        near.stream.send(0, bytes(1 << 20))
        while pair.near.has_output():
            pair.near.take(1 << 18)
        pair.near.resume(pair.far.last_in)
        pair.near.take(1 << 18)
        pair.near.receive((frames.PING, 0, 0, 0, bytes(8)))
        self.assertEqual(frames.HEADER.unpack_from(pair.near.take(1 << 18)[0])[1], frames.PONG)
        self.assertTrue(pair.near.replay)

    def test_many_cuts_at_random(self):
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        print("seed of the link fuzz: SEED=%d" % seed)
        chance = random.Random(seed)
        for _ in range(30):
            self.session(chance)

    def session(self, chance):
        pair = Pair()
        streams = [pair.stream() for _ in range(4)]
        sent = {}
        for _ in range(80):
            index = chance.randrange(4)
            near, far = streams[index]
            side, owner = chance.choice((("down", near), ("up", far)))
            data = bytes([chance.randrange(256)]) * chance.randrange(1, 30000)
            if len(data) <= owner.stream.room():
                owner.stream.send(0, data)
                sent[side, index] = sent.get((side, index), b"") + data
            pair.now += chance.random() * 0.1
            if chance.random() < 0.5:
                down, up = b"".join(pair.near.take(40000)), b"".join(pair.far.take(40000))
                if chance.random() < 0.3:
                    pair.pour(down[:chance.randrange(len(down) + 1)], pair.far)
                    pair.pour(up[:chance.randrange(len(up) + 1)], pair.near)
                    self.resume(pair)
                else:
                    pair.pour(down, pair.far)
                    pair.pour(up, pair.near)
        pair.run()
        for index, (near, far) in enumerate(streams):
            self.assertEqual(far.bytes[0], sent.get(("down", index), b""))
            self.assertEqual(near.bytes[0], sent.get(("up", index), b""))

    def test_what_was_acknowledged_cannot_be_asked_for_again(self):
        pair = Pair()
        near, far = pair.stream()
        near.stream.send(0, b"x")
        pair.run()
        self.assertFalse(pair.near.resumable(0))
        self.assertFalse(pair.near.resumable(pair.near.last_out + 1))

    def test_a_new_gateway_cuts_the_owners(self):
        pair = Pair()
        near, _ = pair.stream()
        pair.near.cut()
        self.assertEqual(near.events, [("cut", {})])
        near.stream.send(0, b"late")
        near.stream.close()


if __name__ == "__main__":
    unittest.main()
