"""What a gateway on this machine does without the link: sockets for programs, pipes in bulk, and what it says of connections."""
import os
import socket
import unittest

import node  # noqa: F401  (finds the agent)
from gpush_agent.core.loop import Loop
from gpush_agent.streams import carriers, passing, traffic
from gpush_agent.streams.direct import Direct
from gpush_agent.streams.pumps import Sink, Source


class FakeStream:
    def __init__(self):
        self.sent, self.messages, self.ended = [], [], []

    def room(self):
        return 1 << 20

    def send(self, channel, data):
        self.sent.append(data)

    def end(self, channel):
        self.ended.append(channel)

    def message(self, value, urgent=False):
        self.messages.append(value)

    def consumed(self, count):
        pass

    def opened(self, facts=None):
        self.facts = facts


class CarriersTest(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.loop = Loop(clock=lambda: self.now)
        self.carriers = carriers.Carriers(self.loop)
        self.ours, self.theirs = socket.socketpair()
        self.addCleanup(self.ours.close)
        self.addCleanup(self.theirs.close)

    def late(self):
        self.now += carriers.SECONDS
        self.loop.after(0, lambda: None)
        self.loop.turn()

    def test_a_socket_waits_for_its_open(self):
        taken = []
        self.carriers.came("a", self.ours)
        self.carriers.take("a", taken.append)
        self.late()
        self.assertEqual([self.ours], taken)
        self.assertGreaterEqual(self.ours.fileno(), 0)

    def test_an_open_waits_for_its_socket(self):
        taken = []
        self.carriers.take("a", taken.append)
        self.assertEqual([], taken)
        self.carriers.came("a", self.ours)
        self.late()
        self.assertEqual([self.ours], taken)

    def test_neither_waits_for_ever(self):
        taken = []
        self.carriers.came("a", self.ours)
        self.carriers.take("b", taken.append)
        self.late()
        self.assertEqual([None], taken)
        self.assertEqual(-1, self.ours.fileno())

    def test_a_name_that_is_none_is_refused(self):
        self.carriers.came(["a"], self.ours)
        self.assertEqual(-1, self.ours.fileno())


class DirectTest(unittest.TestCase):
    def setUp(self):
        self.loop, self.stream = Loop(), FakeStream()
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.reading, False)
        self.ends = []
        self.source = Source(self.loop, self.reading, self.stream, 0, lambda: self.ends.append(0), lambda count: None)
        self.sink = Sink(self.loop, self.writing, self.stream, lambda: None)
        self.direct = Direct(self.stream, [self.source], self.sink)
        self.addCleanup(lambda: [os.close(fd) for fd in (self.reading, self.writing)])

    def bulk(self):
        """As much as makes the source offer its pipe."""
        self.source.bytes, self.source.widened = 2 << 20, True
        os.write(self.writing, b"x" * 100)
        self.source.ready()

    def test_a_pipe_in_bulk_is_offered_and_no_longer_read(self):
        self.bulk()
        os.write(self.writing, b"y")
        self.source.room()
        self.assertEqual([{"take": {"channel": 0, "pid": os.getpid(), "fd": self.reading,
                                    "space": os.readlink("/proc/self/ns/pid")}}], self.stream.messages)
        self.assertEqual([b"x" * 100], self.stream.sent)
        self.assertNotIn(self.reading, self.loop.watched)

    def test_the_reader_says_that_it_is_over(self):
        self.bulk()
        self.direct.message({"over": 0})
        self.direct.message({"over": 0})
        self.assertEqual([0], self.ends)
        self.assertEqual([0], self.stream.ended)

    def test_a_pipe_that_could_not_be_taken_is_read_again(self):
        self.bulk()
        self.direct.message({"back": 0})
        os.write(self.writing, b"y")
        self.source.ready()
        self.assertEqual([b"x" * 100, b"y"], self.stream.sent)
        self.assertEqual(1, len(self.stream.messages))

    def test_input_is_given_when_all_that_came_is_written(self):
        os.set_blocking(self.writing, False)
        self.direct.came(2 << 20)
        self.direct.came(1)
        self.sink.data(b"z" * 200000)       # more than the pipe holds
        self.direct.message({"gives": True})
        self.assertEqual(["give"], [key for message in self.stream.messages for key in message])
        while os.read(self.reading, 200000) and self.sink.waiting:
            self.sink.ready()
        self.assertEqual({"given": True}, self.stream.messages[-1])


class PassingTest(unittest.TestCase):
    def test_each_connection_counts_for_itself(self):
        seen = []

        class Agent:
            class loop:
                clock = staticmethod(lambda: 0.0)

            class lease:
                active = staticmethod(seen.append)
        stream = FakeStream()
        owner = passing.Passing(Agent, stream, {"client": "VS Code"})
        for number in range(20):
            owner.message({"connection": number, "passed": traffic.STREAM_BYTES // 2}, False)
        self.assertEqual([], seen)
        owner.message({"connection": 3, "passed": traffic.STREAM_BYTES}, False)
        owner.message({"connection": "x", "passed": -1}, False)
        self.assertEqual(["data through a forward"], seen)
        self.assertEqual("VS Code", owner.client)
        self.assertEqual({"net": os.readlink("/proc/self/ns/net")}, stream.facts)


if __name__ == "__main__":
    unittest.main()
