"""The agent's link without sockets or a clock, for the simulator of the Java side (LinkSimulatorTest): one request for each
line on stdin, one answer for each on stdout. The link is the real one, and so is the greeting (Agent.hello)."""
import json
import sys

import client   # finds gpush_agent
from gpush_agent import frames, link as link_module, stream as stream_module
from gpush_agent.agent import Agent
from gpush_agent.link import Link
from gpush_agent.stream import Owner

BURST = 262144


class Ordered(dict):
    """A set that is walked in one order, so that a schedule gives the same bytes each time."""

    def add(self, key):
        self[key] = True

    def discard(self, key):
        self.pop(key, None)


class Told(Owner):
    def __init__(self, side, number):
        self.side, self.number = side, number

    def say(self, kind, channel=0, payload=b"", value=None):
        self.side.told.append([kind, self.number, channel, payload.hex(), value or {}])

    def data(self, channel, payload):
        self.say("DATA", channel, payload)

    def end(self, channel):
        self.say("END", channel)

    def message(self, value, urgent):
        self.say("MESSAGE", 1 if urgent else 0, value=value)

    def close(self, value, cut):
        self.say("CUT" if cut else "CLOSE", value=value)

    def opened(self, value):
        self.say("OPENED", value=value)

    def refused(self, value):
        self.say("REFUSED", value=value)


class Nothing:
    """Stands for the parts of an agent that a greeting touches and a link does not."""

    def claim(self):
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
            known = ("version", "minor", "agent", "resumed", "last", "term")    # not what differs between machines
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
        self.now, self.told, self.pipes = 0.0, [], {}

    def start(self, identity, sizes):
        window, small, largest, pool, queue = sizes
        link_module.DEFAULT_WINDOW, link_module.SMALL_WINDOW, link_module.POOL = window, small, pool
        stream_module.SMALL_WINDOW, stream_module.MAX_WINDOW = small, largest
        stream_module.POOL, stream_module.QUEUE = pool, queue
        self.identity, self.incarnation, self.said_at = identity, "", 0
        self.ending, self.term, self.holder = None, 0, ""
        self.boot, self.bare, self.lease = "", True, Nothing()
        self.pipe, self.pipes, self.told = None, {}, []
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
        stream.owner = Told(self, stream.number)
        self.streams[stream.number] = stream
        stream.owner.say("OFFERED", value=value)

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
            out = self.link.take(BURST) if pipe.greeted and not pipe.closing else []
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
            owner = Told(self, 0)
            stream = self.link.open(owner, arguments[0])
            owner.number = stream.number
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
            stream.close(arguments[0])
        elif name == "consumed":
            self.now = arguments[1] / 1e9
            if self.link.streams.get(stream.number) is stream:
                stream.consumed(arguments[0])
        else:
            raise ValueError(name)
        return None


def main():
    side = Side()
    for line in sys.stdin:
        result = side.do(*json.loads(line))
        told, side.told = side.told, []
        sys.stdout.write(json.dumps([result, told], separators=(",", ":")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
