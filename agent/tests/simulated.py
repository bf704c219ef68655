"""The agent's link without sockets or a clock, for the simulator of the Java side (LinkSimulatorTest): one request for each
line on stdin, one answer for each on stdout. The link is the real one, and so are the greeting (Agent.hello) and the
sources of streams (pumps.Source). The argument is a fault to put in, as `AgentFault` names them."""
import json
import sys

import client   # finds gpush_agent
from gpush_agent.agent import Agent
from gpush_agent.link import frames, machine as link_module, stream as stream_module
from gpush_agent.link.machine import Link
from gpush_agent.link.stream import Owner, Stream
from gpush_agent.streams import pumps
from gpush_agent.streams.pumps import Source

NOT_WATCHED, AT_END = -1, -2
FIRST_DESCRIPTOR = 1000000      # above all real ones


class Ordered(dict):
    """A set that is walked in one order, so that a schedule gives the same bytes each time."""

    def add(self, key):
        self[key] = True

    def discard(self, key):
        self.pop(key, None)


class Descriptors:
    """Stands for `os` in streams/pumps.py: gives what the request said there is to read."""

    def __init__(self):
        self.ready, self.at_end, self.count = b"", False, 0

    def read(self, fd, limit):
        if not self.ready and not self.at_end:
            raise BlockingIOError()
        data = self.ready[:limit]
        self.count = len(data)
        return data


class Loop:
    """Which descriptors are watched."""

    def __init__(self):
        self.watched, self.next = {}, FIRST_DESCRIPTOR

    def descriptor(self):
        self.next += 1
        return self.next

    def read(self, fd, call):
        if call is None:
            self.watched.pop(fd, None)
        else:
            self.watched[fd] = call


class StreamOwner(Owner):
    """Reports its calls; its sources are those of a command (streams/commands.py)."""

    def __init__(self, side, number):
        self.side, self.number, self.sources = side, number, []
        self.starts_when_opened = None  # the stream, for sources of a stream of ours

    def start_sources(self, stream):
        loop = self.side.loop
        self.sources = [Source(loop, loop.descriptor(), stream, channel, lambda: None, lambda count: None) for channel in (0, 1)]
        self.room()

    def read_source(self, channel, ready, at_end):
        source, descriptors = self.sources[channel], self.side.descriptors
        call = self.side.loop.watched.get(source.fd)
        if call is None:
            return NOT_WATCHED
        descriptors.ready, descriptors.at_end, descriptors.count = ready, at_end, 0
        call()
        return AT_END if source.over else descriptors.count

    def stop_sources(self):
        for source in self.sources:
            source.stop()

    def room(self):
        for source in self.sources:
            source.room()

    def report(self, kind, channel=0, payload=b"", value=None):
        self.side.events.append([kind, self.number, channel, payload.hex(), value or {}])

    def data(self, channel, payload):
        self.report("DATA", channel, payload)

    def end(self, channel):
        self.report("END", channel)

    def message(self, value, urgent):
        self.report("MESSAGE", 1 if urgent else 0, value=value)

    def close(self, value, cut):
        self.stop_sources()
        self.report("CUT" if cut else "CLOSE", value=value)

    def opened(self, value):
        self.report("OPENED", value=value)
        if self.starts_when_opened is not None:
            self.start_sources(self.starts_when_opened)

    def refused(self, value):
        self.report("REFUSED", value=value)


class Nothing:
    """Stands for the parts of an agent that a greeting touches and a link does not."""

    claimed = True

    def claim(self):
        pass

    def note(self, agent):
        pass

    def cancel(self):
        pass


class Pipe:
    """What agent.Pipe does with frames; the bytes go through the simulated network."""

    def __init__(self, side):
        self.side, self.parser, self.out = side, frames.Parser(), []
        self.greeted = self.closing = self.closed = False
        self.timer = Nothing()

    def push(self, buffers):
        for buffer in buffers:
            value = frames.unpack_json(buffer[frames.HEADER_SIZE:])
            known = ("version", "agent", "resumed", "last", "term")    # not what differs between machines
            payload = frames.pack_json({key: value[key] for key in known})
            self.out.append(frames.encode(buffer[4], 0, 0, 0, payload))

    def flush(self):
        pass

    def bye(self, code, facts=None):
        if not self.closing:
            self.closing = True
            self.out = [frames.encode(frames.BYE, 0, 0, 0, frames.pack_json({"code": code, "facts": facts or {}}))]


class Side:
    """One agent: what Agent.hello needs of it, and its pipes."""

    def __init__(self):
        self.now, self.events, self.pipes = 0.0, [], {}
        self.loop, self.descriptors = Loop(), Descriptors()
        pumps.os = self.descriptors

    def start(self, identity, sizes):
        window, small, largest, pool, queue, self.burst, pumps.CHUNK = sizes
        link_module.DEFAULT_WINDOW, link_module.SMALL_WINDOW, link_module.POOL = window, small, pool
        stream_module.SMALL_WINDOW, stream_module.MAX_WINDOW = small, largest
        stream_module.POOL, stream_module.QUEUE, link_module.QUEUE = pool, queue, queue
        self.identity, self.incarnation, self.said_at = identity, "", 0
        self.ending, self.term, self.holder = None, 0, ""
        self.boot, self.bare, self.again, self.lease = "", True, False, Nothing()
        self.memo = Nothing()
        self.pipe, self.pipes, self.events = None, {}, []
        self.streams = {}
        self.link = self.fresh_link()

    def fresh_link(self):
        link = Link(lambda: self.now, self.accept)
        link.dirty = Ordered()
        return link

    def watch_lease(self):
        pass

    def lacks(self):
        return []

    def generation(self):
        return 0

    def accept(self, stream, value):
        stream.owner = StreamOwner(self, stream.number)
        self.streams[stream.number] = stream
        stream.owner.report("OFFERED", value=value)

    def connected(self, pipe):
        self.pipes[pipe] = Pipe(self)

    def received(self, number, chunk):
        pipe = self.pipes[number]
        for frame in pipe.parser.feed(chunk):
            if pipe.closing or number not in self.pipes:
                return
            try:
                if isinstance(frame, frames.Bad):
                    raise frame
                self.frame(number, pipe, frame)
            except frames.Bad as bad:
                pipe.bye("protocol", {"reason": str(bad)})

    def frame(self, number, pipe, frame):
        if not pipe.greeted:
            if frame[0] != frames.HELLO:
                raise frames.Bad("no hello")
            Agent.hello(self, pipe, frames.unpack_json(frame[4]))
        elif frame[0] == frames.BYE:
            if frames.unpack_json(frame[4]).get("code") == "gateway-stopped":
                Agent.left(self, pipe)
            self.disconnected(number)
        else:
            self.link.receive(frame)

    def disconnected(self, number):
        pipe = self.pipes.pop(number, None)
        if pipe is not None and pipe is self.pipe:
            self.pipe = None

    def take(self, number):
        pipe = self.pipes[number]
        if pipe.out:
            out, pipe.out = pipe.out, []
            if pipe.closing:
                self.disconnected(number)
        else:
            out = self.link.take(self.burst) if pipe.greeted and not pipe.closing else []
        return b"".join(bytes(buffer) for buffer in out)

    def do(self, name, *arguments):
        if name == "start":
            self.start(*arguments)
        elif name == "connected":
            self.connected(*arguments)
        elif name == "received":
            self.now = arguments[2] / 1e9
            self.received(arguments[0], bytes.fromhex(arguments[1]))
        elif name == "disconnected":
            self.disconnected(arguments[0])
        elif name == "take":
            self.now = arguments[1] / 1e9
            return self.take(arguments[0]).hex()
        elif name == "isOpen":
            return arguments[0] in self.pipes
        elif name == "ack":
            return self.link.ack_due
        elif name == "ping":
            self.link.ping(arguments[0])
        elif name == "holds":
            return [len(self.link.streams), len(self.link.kept), self.link.kept_bytes + self.link.queued]
        elif name == "open":
            owner = StreamOwner(self, 0)
            stream = self.link.open(owner, arguments[0])
            owner.number = stream.number
            if arguments[1]:
                owner.starts_when_opened = stream
            self.streams[stream.number] = stream
            return stream.number
        else:
            return self.of_stream(name, self.streams[arguments[0]], *arguments[1:])
        return None

    def of_stream(self, name, stream, *arguments):
        if name == "accept":
            stream.opened()
        elif name == "refuse":
            stream.owner = None
            stream.refuse(arguments[0])
        elif name == "room":
            return stream.room()
        elif name == "send":
            stream.send(arguments[0], bytes.fromhex(arguments[1]))
        elif name == "end":
            stream.end(arguments[0])
        elif name == "message":
            stream.message(arguments[0], arguments[1])
        elif name == "close":
            stream.owner.stop_sources()
            stream.close(arguments[0])
        elif name == "sources":
            stream.owner.start_sources(stream)
        elif name == "read":
            return stream.owner.read_source(arguments[0], bytes.fromhex(arguments[1]), arguments[2])
        elif name == "consumed":
            self.now = arguments[1] / 1e9
            if self.link.streams.get(stream.number) is stream:
                stream.consumed(arguments[0])
        else:
            raise ValueError(name)
        return None


def put_in(fault):
    """Puts a fault into the agent's modules."""
    room, piece = Stream.room, Link._piece

    def room_that_forgets(stream):
        found = room(stream)
        if found > 0:
            stream.starved = False
        return found

    def piece_that_overtakes(link, stream, out):
        ahead, stream.ahead = stream.ahead, 1 if stream.in_lane else 0
        try:
            return piece(link, stream, out)
        finally:
            stream.ahead = ahead

    if fault == "FORGET_SOURCE":
        Stream.room = room_that_forgets
    elif fault == "OVERTAKE_OPENED":
        Link._piece = piece_that_overtakes


def main():
    put_in(sys.argv[1] if len(sys.argv) > 1 else "NONE")
    side = Side()
    for line in sys.stdin:
        result = side.do(*json.loads(line))
        events, side.events = side.events, []
        sys.stdout.write(json.dumps([result, events], separators=(",", ":")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
