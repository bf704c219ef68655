"""The end of a command, on a clock of the test's own and turn by turn."""
import os
import socket
import unittest

import client
from gpush_agent.core.loop import Loop
from gpush_agent.core.processes import Origin
from gpush_agent.host import guard
from gpush_agent.link import frames
from gpush_agent.link.machine import Link
from gpush_agent.node.activation import Activation
from gpush_agent.streams import commands


class Place:
    """As much of an agent as a command needs."""

    def __init__(self, loop):
        self.loop, self.execs, self.environment = loop, set(), self
        self.origin, self.state, self.lease = Origin(), "", self
        self.memo = guard.Memo()
        self.account = ("me", "/", "/bin/sh")
        self.source, self.mark, self.tmp = "given", "mark", None
        self.base = {"PATH": os.environ["PATH"]}
        self.activation = Activation(self)

    def when_ready(self, call):
        call()

    def active(self, why):
        pass


class EndTest(unittest.TestCase):
    def setUp(self):
        self.now, self.number = 0.0, 0
        self.loop = Loop(clock=lambda: self.now)
        self.place = Place(self.loop)
        self.link = Link(lambda: self.now, self.accept)
        self.ours, self.theirs = socket.socketpair()

    def tearDown(self):
        self.ours.close()
        self.theirs.close()

    def accept(self, stream, value):
        self.command = commands.Exec(self.place, stream, value)

    def turns(self, done):
        """Until it is so; what the link wants to say is taken meanwhile."""
        said = []
        parser = frames.Parser()
        while not done():
            self.loop.reap()
            if self.loop.selector.select(0.01) or self.loop.timers:
                self.loop.turn()
            for piece in self.link.take(1 << 20):
                said.extend(parser.feed(bytes(piece)))
        return said

    def in_the_same_turn(self, call):
        """Before the timers, as what came over the pipe is."""
        self.loop.read(self.ours.fileno(), lambda: (self.loop.forget(self.ours.fileno()), call()))
        self.theirs.send(b"x")

    def test_credit_that_comes_with_the_end_of_patience_still_counts(self):
        value = {"type": "exec", "command": "head -c 60000 /dev/zero", "credit": 1000}
        self.link.receive((frames.OPEN, 0, 1, 1, frames.pack_json(value)))
        stream = self.link.streams[1]
        self.turns(lambda: stream.sent == 1000 and self.command.timer is not None)

        def late():
            self.link.receive((frames.CREDIT, 0, 1, 0, frames.NUMBER.pack(100000)))
            self.now += 2 * commands.LINGER
        self.in_the_same_turn(late)
        said = self.turns(lambda: stream.own_close and not stream.queue)

        self.assertEqual(sum(len(frame[4]) for frame in said if frame[0] == frames.DATA), 59000)
        self.assertEqual(frames.unpack_json(said[-1][4]), {"exit": 0})


if __name__ == "__main__":
    unittest.main()
