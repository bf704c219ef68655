"""Bytes that no gateway sends, at the parser, at the link, at a real agent's socket and at the loader: a clear end with a
reason, bounded memory, and nothing else harmed. SEED repeats a run, ROUNDS makes it longer."""
import collections
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tracemalloc
import unittest
import uuid
import zlib

from client import DEADLINE, Client, Cut, usual_sources, text, until
from gpush_agent.link import frames, machine as numbers
from gpush_agent.link.machine import DEFAULT_WINDOW, FRAME_COST, MAX_STREAMS, Link
from gpush_agent.link.stream import SMALL_WINDOW
from gpush_agent.streams.pumps import Sink
from node import NodeTest, alive
from run import slow
from test_link import Pair, Recorder

SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
ROUNDS = int(os.environ.get("ROUNDS") or 1)
MB = 1 << 20
REASONS = frozenset(("length", "reserved", "kind", "sequence", "flags", "stream", "json", "depth", "gap", "ack", "never-opened",
                     "after-close", "after-end", "credit", "direction", "twice", "unexpected", "unacknowledged", "hello",
                     "no hello", "hello twice"))


def setUpModule():
    print("seed of the fuzz: SEED=%d ROUNDS=%d" % (SEED, ROUNDS))


def conversation():
    """The bytes of both directions of a talk in which all kinds of frames occur, in the order in which they were written:
    [(to the agent?, bytes)]."""
    pair, said = Pair(), []

    def run():
        while True:
            pair.now += 0.1
            there, back = b"".join(pair.far.take(MB)), b"".join(pair.near.take(MB))
            if not there and not back:
                return
            said.extend(((True, there), (False, back)))
            pair.pour(there, pair.near)
            pair.pour(back, pair.far)

    for number in range(4):
        owner = Recorder()
        pair.far.open(owner, {"type": "exec", "argv": ["x" * number], "env": {"A": "ä"}})
        run()
        near = pair.opened[-1]
        owner.stream.send(0, b"in" * 300 * number)
        owner.stream.message({"resize": [80, 24 + number]}, urgent=True)
        near.stream.send(0, b"out" * 2000)
        near.stream.send(1, b"err")
        run()
        pair.far.ping(number)
        owner.stream.end(0)
        near.stream.end(0)
        near.stream.close({"exit": number})
        run()
    return said


def mutated(chance, data):
    """A few changes of one kind or another."""
    data = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(data))
        how = chance.randrange(5)
        if how == 0:
            data[at] = chance.randrange(256)
        elif how == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif how == 2:
            del data[at:at + chance.randrange(1, 40)]
        elif how == 3:
            data[at:at] = data[at:at + chance.randrange(1, 60)]
        else:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 30)))
        data = data or bytearray(1)
    return bytes(data)


class Peak:
    """The most that was allocated in a block, in bytes."""

    def __enter__(self):
        tracemalloc.start()
        self.before = tracemalloc.get_traced_memory()[0]
        return self

    def __exit__(self, *failed):
        self.bytes = tracemalloc.get_traced_memory()[1] - self.before
        tracemalloc.stop()


class Near:
    """An agent's link whose peer writes and never reads, unless the test takes."""

    def __init__(self, eats=True, answers=True):
        self.now, self.sequence, self.owners = 0.0, 0, []
        self.link = Link(lambda: self.now, self.accept)
        self.link.bug = self.bug
        self.eats, self.answers = eats, answers

    def bug(self, stream):
        raise AssertionError("a bug: %r" % (sys.exc_info()[1],))

    def accept(self, stream, value):
        owner = Recorder(stream)
        owner.eats = self.eats
        stream.owner = owner
        self.owners.append(owner)
        if self.answers:
            stream.opened({})
        else:
            self.owners.clear()
            stream.owner = None
            stream.refuse("bad-request")

    def put(self, kind, stream, payload=b"", flags=0):
        self.link.receive((kind, flags, stream, self.sequence + 1, payload))
        self.sequence += 1

    def check(self):
        link = self.link
        assert len(link.streams) <= MAX_STREAMS + 1
        assert link.windows == sum(stream.window for stream in link.streams.values())
        assert link.kept_bytes == sum(len(entry[2]) + FRAME_COST for entry in link.kept)
        assert link.kept_others == sum(1 for entry in link.kept if entry[1][4] != frames.DATA)


class LinkFuzzTest(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(SEED)
        self.said = conversation()
        # without ACK: nobody here has sent what the recorded agent had
        self.up = b"".join(frames.encode(*frame) for frame in frames.Parser().feed(
            b"".join(data for upwards, data in self.said if upwards)) if frame[0] != frames.ACK)

    def feed(self, data):
        """Pours bytes in pieces; the reason of the end, or None."""
        near, parser, at = Near(), frames.Parser(), 0
        while at < len(data):
            size = self.chance.randrange(1, 4000)
            for frame in parser.feed(data[at:at + size]):
                try:
                    if isinstance(frame, frames.Bad):
                        raise frame
                    near.link.receive(frame)
                except frames.Bad as bad:
                    self.assertIn(str(bad), REASONS)
                    near.check()
                    return str(bad)
            near.link.take(MB)
            at += size
        near.check()
        return None

    def test_mutations_of_a_real_conversation(self):
        ends = collections.Counter()
        with Peak() as peak:
            for _ in range(400 * ROUNDS):
                ends[self.feed(mutated(self.chance, self.up))] += 1
        self.assertLess(peak.bytes, 8 * MB)
        self.assertGreater(len(ends), 4, ends)

    def test_truncation_at_each_byte(self):
        for end in range(0, len(self.up), 1 if ROUNDS > 1 else 3):
            self.assertIsNone(self.feed(self.up[:end]))

    def test_frames_in_random_order(self):
        ends = collections.Counter()
        for _ in range(100 * ROUNDS):
            near = Near(eats=self.chance.random() < 0.5)
            near.put(frames.OPEN, 1, b"{}")
            try:
                for _ in range(200):
                    kind = self.chance.choice(sorted(frames.SEQUENCED) + [frames.DATA] * 20 + [frames.END] * 4)
                    payload = b"{}" if kind in frames.JSONS else b"" if kind == frames.END else b"x" * self.chance.choice((0, 1, 30000))
                    stream = self.chance.choice((1,) * 20 + (3, 2, 99))
                    near.put(kind, stream, payload, self.chance.randrange(2) if kind in (frames.DATA, frames.END) else 0)
                    if self.chance.random() < 0.3:
                        near.link.take(MB)
            except frames.Bad as bad:
                ends[str(bad)] += 1
            near.check()
        self.assertLessEqual(set(ends), REASONS)
        self.assertGreater(sum(ends.values()), 80, ends)    # test_link has a sure case for each reason


class SmallNumbers(unittest.TestCase):
    """With a pool of 4 MiB and 1024 answers, so that the limits are reached in a moment."""

    def setUp(self):
        self.real = numbers.POOL, numbers.MAX_UNACKNOWLEDGED
        numbers.POOL, numbers.MAX_UNACKNOWLEDGED = 4 * MB, 1024

    def tearDown(self):
        numbers.POOL, numbers.MAX_UNACKNOWLEDGED = self.real


@slow
class FloodTest(SmallNumbers):
    """What a peer that never reads and never acknowledges can make us keep."""

    def end(self, near, count, *puts):
        with Peak() as peak:
            reason = None
            try:
                for number in range(count):
                    for put in puts:
                        put(number)
            except frames.Bad as bad:
                reason = str(bad)
        near.check()
        return reason, peak.bytes

    def test_of_open(self):
        near = Near()
        reason, peak = self.end(near, 10000, lambda n: near.put(frames.OPEN, 2 * n + 1, b"{}"))
        self.assertEqual(reason, "unacknowledged")
        self.assertLess(peak, 2 * MB)

    def test_of_open_that_is_refused_with_numbers_taken(self):
        near = Near(answers=False)
        reason, peak = self.end(near, 10000, lambda n: near.put(frames.OPEN, 2 * n + 1, b"{}"),
                                lambda n: near.link.take(MB))
        self.assertEqual(reason, "unacknowledged")
        self.assertLess(peak, 2 * MB)

    def test_of_open_and_close(self):
        near = Near()
        near.owners = collections.deque(maxlen=1)
        reason, peak = self.end(near, 10000, lambda n: near.put(frames.OPEN, 2 * n + 1, b"{}"),
                                lambda n: near.put(frames.CLOSE, 2 * n + 1, b"{}"))
        self.assertEqual(reason, "unacknowledged")
        self.assertLess(peak, 4 * MB)

    def test_of_ping(self):
        near = Near()
        reason, peak = self.end(near, 10000, lambda n: near.link.receive((frames.PING, 0, 0, 0, struct.pack(">Q", n))))
        self.assertIsNone(reason)
        self.assertEqual(len(near.link.control), 1)
        self.assertLess(peak, MB)

    def test_of_messages_and_credit_and_ack(self):
        near = Near()
        near.put(frames.OPEN, 1, b"{}")
        near.owners[0].message = lambda value, urgent: None
        reason, peak = self.end(near, 20000, lambda n: near.put(frames.MESSAGE, 1, b'{"a":1}', 1),
                                lambda n: near.link.receive((frames.CREDIT, 0, 1, 0, struct.pack(">Q", (1 << 63) + n))),
                                lambda n: near.link.receive((frames.ACK, 0, 0, 0, bytes(8))))
        self.assertIsNone(reason)
        self.assertLess(peak, MB)

    def test_of_tiny_and_empty_data_for_a_process_that_does_not_read(self):
        out, into = os.pipe()
        try:
            os.set_blocking(into, False)
            os.write(into, bytes(65536))
            near = Near()
            near.put(frames.OPEN, 1, b"{}")
            stream = near.owners[0].stream
            loop = type("Loop", (), {"write": lambda self, fd, call: None})()
            sink = Sink(loop, into, stream, lambda: None)
            near.owners[0].data = lambda channel, payload: sink.data(payload)
            reason, peak = self.end(near, DEFAULT_WINDOW + 1, lambda n: near.put(frames.DATA, 1, b""),
                                    lambda n: near.put(frames.DATA, 1, b"x"))
            self.assertEqual(reason, "credit")
            self.assertLess(peak, MB)
            stream.granted += 10
            near.put(frames.DATA, 1, b"the end")
            os.read(out, 65536)
            sink.ready()
            os.read(out, 65536)
            sink.ready()
            self.assertEqual(stream.consumed_total, DEFAULT_WINDOW + 7)
        finally:
            os.close(out)
            os.close(into)

    def test_tiny_frames_of_ours_fill_the_pool_as_what_they_cost(self):
        near = Near()
        near.put(frames.OPEN, 1, b'{"credit":%d}' % (1 << 40))
        stream = near.owners[0].stream
        with Peak() as peak:
            while stream.room():
                stream.send(0, b"x")
                near.link.take(1)
        self.assertLess(len(near.link.kept), numbers.POOL // FRAME_COST + 100)
        self.assertLess(peak.bytes, 2 * numbers.POOL)

    def test_json_that_costs_more_than_its_bytes(self):
        for payload in (b'{"a":' + b"9" * 60000 + b"}", b'{"a":NaN}', b'{"a":' + b"[" * 30000 + b"]" * 30000 + b"}",
                        b'{"a":-Infinity}', b'{"a":"\xed\xa0\x80"}', b'{"\xc3":1}'):
            near = Near()
            near.put(frames.OPEN, 1, b"{}")
            reason, peak = self.end(near, 1, lambda n: near.put(frames.MESSAGE, 1, payload))
            self.assertIn(reason, ("json", "depth"), payload[:20])
            self.assertLess(peak, 4 * MB)


class PoolTest(SmallNumbers):
    def test_a_new_stream_still_works_when_others_have_filled_the_pool(self):
        """Readers that stopped in a slow pipe: queued and kept bytes are at the limit, the next stream gets its share."""
        near = Near()
        number = 1
        while not near.link.full():
            near.put(frames.OPEN, number, b'{"credit":%d}' % (4 * MB))
            stream = near.owners[-1].stream
            stream.send(0, bytes(stream.room()))
            number += 2
        near.put(frames.OPEN, number, b'{"credit":%d}' % (4 * MB))
        late = near.owners[-1].stream
        while near.link.lane:
            near.link.take(1)
        self.assertEqual(late.room(), SMALL_WINDOW)
        self.assertEqual(near.owners[0].stream.room(), 0)
        late.send(0, b"echo")
        order = [frame for frame in frames.Parser().feed(b"".join(near.link.take(1000))) if frame[0] == frames.DATA]
        self.assertEqual((order[0][2], order[0][4]), (number, b"echo"))

    def test_the_share_comes_back_with_the_acknowledgement_while_the_pool_is_full(self):
        near = Near()
        for number in range(1, 17, 2):
            near.put(frames.OPEN, number, b'{"credit":%d}' % (4 * MB))
            near.owners[-1].stream.send(0, bytes(MB))
        near.put(frames.OPEN, 17, b'{"credit":%d}' % (4 * MB))
        late, calls = near.owners[-1].stream, []
        near.owners[-1].room = lambda: calls.append(late.room())
        late.send(0, bytes(late.room()))
        self.assertEqual(late.room(), 0)
        while late.queued:
            near.link.take(1000)
        near.link.receive((frames.ACK, 0, 0, 0, struct.pack(">Q", near.link.last_out)))
        near.link.take(1)
        self.assertTrue(near.link.full())
        self.assertEqual((calls[0], calls[-1]), (0, SMALL_WINDOW))

    def test_windows_grow_from_64_kib_to_4_mib_and_no_further(self):
        """A sender 0.1 s away that always uses what it may: each turn is one round trip."""
        numbers.POOL = self.real[0]
        pair = Pair()
        near, far = pair.stream()
        turns = []
        for _ in range(12):
            pair.now += 0.1
            before = near.stream.received
            while far.stream.room():
                far.stream.send(0, bytes(min(far.stream.room(), 100000)))
            pair.pour(b"".join(pair.far.take(16 * MB)), pair.near)
            pair.pour(b"".join(pair.near.take(16 * MB)), pair.far)
            turns.append(near.stream.received - before)
        self.assertEqual((near.stream.window, turns[0]), (4 * MB, DEFAULT_WINDOW))
        self.assertGreaterEqual(max(turns), MB)     # one queue of the sender a turn
        self.assertEqual(pair.near.windows, 4 * MB)

    def test_chatter_does_not_starve_bulk(self):
        near = Near()
        numbers.POOL = self.real[0]
        for number in range(200):
            near.put(frames.OPEN, 2 * number + 1, b'{"credit":%d}' % (4 * MB))
        streams = [owner.stream for owner in near.owners]
        near.link.take(MB)
        streams[0].send(0, bytes(MB))
        bulk = 0
        for _ in range(10):
            for stream in streams[1:]:
                stream.send(0, b"x" * 4000)
            found = frames.Parser().feed(b"".join(near.link.take(131072)))
            bulk += sum(len(frame[4]) for frame in found if frame[2] == 1)
        self.assertGreater(bulk, 0)


def junk(chance, depth=0):
    kind = chance.randrange(9 if depth < 3 else 7)
    if kind < 7:
        return chance.choice((None, True, False, 0, -1, 1, 22, 65535, 70000, 1 << 63, 10 ** 30, 0.5, 1e308, "", "/", "x", "~", "ä",
                              "\0", "\ud800", "\udcff", "-" * 300, "127.0.0.1", "::1", "localhost", "no.such.invalid"))
    if kind == 7:
        return [junk(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {str(chance.choice(("a", "columns", "rows", "modes", "PATH", "", "A=B", "1", "²"))): junk(chance, depth + 1)
            for _ in range(chance.randrange(4))}


FIELDS = ("argv", "command", "builtin", "args", "cwd", "env", "pty", "stdin", "login", "kill_on_close", "host", "port",
          "path", "method", "params", "credit", "type")


def request(chance):
    """A request with right and wrong fields, harmless to the machine if it is taken."""
    base = chance.choice(({"type": "exec", "argv": ["true"]}, {"type": "exec", "command": "true"},
                          {"type": "exec", "argv": ["true"], "pty": {"term": "x", "columns": 80, "rows": 24, "modes": {}}},
                          {"type": "tcp", "host": "127.0.0.1", "port": 1}, {"type": "unix", "path": "/nothing/here"},
                          {"type": "listen-tcp", "host": "127.0.0.1", "port": 0}, {"type": "call", "method": "status"},
                          {"type": "call", "method": "ports", "params": {"count": 2}},
                          {"type": "call", "method": "run.status", "params": {"run": 1}}, {"type": "x"}))
    base = dict(base, credit=65536)
    for _ in range(chance.randrange(1, 3)):
        name = chance.choice(FIELDS)
        if name not in ("command", "argv") or base.get("type") != "exec":
            base[name] = junk(chance)
        elif name == "argv":
            base[name] = chance.choice(([], ["true", junk(chance)], "true", [["true"]], {"true": 1}, ["true\0"]))
    return base


@slow
class AgentFuzzTest(NodeTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)

    def socket_path(self):
        for root, _, names in os.walk(self.agents):
            if "agent.sock" in names:
                return os.path.join(root, "agent.sock")
        raise AssertionError("no agent")

    def talk(self, data, half_close=True):
        """Says something to the agent's socket and reads to its end; the frames that came."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(DEADLINE)
        parser, found = frames.Parser(), []
        try:
            sock.connect(self.socket_path())
            try:
                sock.sendall(data)
                if half_close:
                    sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass                # it has hung up already; what it said is still there
            while True:
                try:
                    chunk = sock.recv(MB)
                except ConnectionResetError:
                    return found
                if not chunk:
                    return found
                found += parser.feed(chunk)
        finally:
            sock.close()

    def hello(self, **more):
        value = {"version": 2, "holder": "fuzz", "incarnation": uuid.uuid4().hex, "term": 1, "agent": "", "last": 0}
        return frames.encode(frames.HELLO, 0, 0, 0, frames.pack_json(dict(value, **more)))

    def newer_hello(self):
        """One that is let in, whatever term and holder a mutated one has left here."""
        return self.hello(term=self.control("status")["term"], holder="")

    @staticmethod
    def resident(pid):
        with open("/proc/%d/statm" % pid) as file:
            return int(file.read().split()[1]) * 4096

    @staticmethod
    def descriptors(pid):
        """What the agent has open, by name."""
        found = []
        for name in os.listdir("/proc/%d/fd" % pid):
            try:
                found.append(os.readlink("/proc/%d/fd/%s" % (pid, name)))
            except OSError:
                pass
        return sorted(found)

    def test_a_broken_pipe_ends_with_its_reason_and_the_streams_go_on(self):
        """What one pipe says wrongly costs this pipe; the same gateway comes again and has lost nothing."""
        client = self.client()
        stream = client.exec(command="while read x; do echo got $x; done; exit 3").accepted()
        told = set()
        for number in range(10 * ROUNDS):
            stream.send(b"%d\n" % number)
            stream.wait_for(b"got %d\n" % number)
            wrong = (
                struct.pack(">IBBHIQ", MB + 1, frames.OPEN, 0, 0, 1, client.last_out + 1),
                struct.pack(">IBBHIQ", 0, 0x7f, 0, 0, 1, 1), frames.encode(frames.END, 0, 1, client.last_out + 2),
                frames.encode(frames.DATA, 0, 9999, client.last_out + 1, b"x"), os.urandom(64)[:20] + bytes(20),
                frames.encode(frames.OPEN, 0, 1, client.last_out + 1, b"{}"), self.hello(), frames.encode(frames.WELCOME, 0, 0, 0, b"{}"),
                frames.encode(frames.MESSAGE, 0, 1, client.last_out + 1, b"\xff"),
                frames.encode(frames.ACK, 0, 0, 0, b"\xff" * 8))
            client.raw(wrong[number % len(wrong)])
            with self.assertRaises(Cut):
                client.pump(lambda: False)
            self.assertEqual(client.bye["code"], "protocol")
            self.assertIn(client.bye["facts"]["reason"], REASONS)
            told.add(client.bye["facts"]["reason"])
            client.end()
            self.client("attach", client)
            self.assertTrue(client.welcome["resumed"])
        stream.end()
        self.assertEqual(stream.finish(), {"exit": 3})
        self.assertGreater(len(told), 5, told)

    def test_nothing_harms_the_agent(self):
        """Mutated conversations, floods and nonsense, each on a connection of its own."""
        client = self.client()
        pid = client.welcome["pid"]
        client.cut()
        up = b"".join(data for upwards, data in conversation() if upwards)
        memory = self.resident(pid)
        ends = collections.Counter()
        for number in range(60 * ROUNDS):
            good = self.newer_hello()
            attacks = (
                lambda: good + mutated(self.chance, up), lambda: mutated(self.chance, good + up), lambda: os.urandom(500),
                lambda: good[:self.chance.randrange(len(good))], lambda: b'{"do":' + os.urandom(30) + b"\n",
                lambda: b'{"do":"status","x":' + b"[" * 5000 + b"\n", lambda: b"{" * 3000, lambda: b"\n",
                lambda: self.hello(term=self.chance.choice((-1, "x", None, 1 << 70, True, 1.5))),
                lambda: self.hello(holder="h" * 500000, last=self.chance.choice((-1, 1 << 62, "x"))),
                lambda: self.hello(version=junk(self.chance)), lambda: self.hello(incarnation=junk(self.chance)))
            for frame in self.talk(attacks[number % len(attacks)]()):
                if isinstance(frame, tuple) and frame[0] == frames.BYE:
                    said = frames.unpack_json(frame[4])
                    ends[said["code"]] += 1
                    if said["code"] == "protocol":
                        self.assertIn(said["facts"]["reason"], REASONS)
        self.assertGreater(ends["protocol"], 5, ends)
        self.talk(self.newer_hello())       # another gateway: what the last one had opened ends
        self.assertEqual(self.control("status")["streams"], 0)
        self.assertLess(self.resident(pid) - memory, 32 * MB)

    def test_floods_at_a_real_agent(self):
        client = self.client()
        pid = client.welcome["pid"]
        client.cut()
        memory = self.resident(pid)
        count = 20000
        opens = b"".join(frames.encode(frames.OPEN, 0, 2 * n + 1, n + 1, b'{"type":"x"}') for n in range(count))
        pings = frames.encode(frames.PING, 0, 0, 0, bytes(8)) * count
        closed = b"".join(frames.encode(frames.OPEN, 0, 2 * n + 1, 2 * n + 1, b'{"type":"listen-tcp","port":0}')
                          + frames.encode(frames.CLOSE, 0, 2 * n + 1, 2 * n + 2, b"{}") for n in range(2000))
        for flood in (opens, pings, closed):
            self.talk(self.newer_hello() + flood)
        self.assertEqual(self.control("status")["ok"], True)
        self.assertLess(self.resident(pid) - memory, 48 * MB)

    def test_odd_requests_are_answered(self):
        """Every OPEN gets OPENED or REFUSED with a code, whatever is in it; no descriptor is left behind."""
        client = self.client()
        pid = client.welcome["pid"]
        before = self.descriptors(pid)
        codes, asked = collections.Counter(), []
        for _ in range(200 * ROUNDS):
            value = request(self.chance)
            credit = value.pop("credit", None)
            if isinstance(credit, bool) or not isinstance(credit, int) or credit < 0:
                credit = 65536
            value["env"] = dict(value["env"], HOME=self.base) if isinstance(value.get("env"), dict) else value.get("env")
            stream = client.open(json.loads(json.dumps(value)), min(credit, 1 << 20))
            asked.append((stream, value))
            if len(asked) == 20:
                self.settle(client, asked, codes)
        self.settle(client, asked, codes)
        self.assertIsNone(client.bye)
        self.assertGreater(codes["bad-request"], 0)
        self.assertEqual(codes["failed"], 0, codes)
        until(lambda: len(self.descriptors(pid)) <= len(before), what="%s, now %s" % (before, self.descriptors(pid)))

    def settle(self, client, asked, codes):
        for stream, value in asked:
            try:
                stream.accepted()
                if stream.refused is not None:
                    codes[stream.refused["code"]] += 1
                    if stream.refused["code"] == "failed":
                        print("failed: %r %r" % (value, stream.refused))
                elif stream.closed is None:
                    stream.close()
                    stream.finish()
            except (AssertionError, Cut) as failed:
                raise AssertionError("%r: %s, bye %s" % (value, failed, client.bye))
        for stream in client.accepted:      # a listener of one request was dialled by another
            if not stream.own_closed:
                stream.close()
        del asked[:], client.accepted[:]


@slow
class LoaderFuzzTest(unittest.TestCase):
    """Whatever comes on its stdin, the loader says what was wrong in one line of JSON, ends with 96 and stays small."""

    def load(self, data):
        """(exit status, the JSON said) with 128 MiB of address space."""
        process = subprocess.Popen(["sh", "-c", 'ulimit -v 131072; exec "$@"', "sh", sys.executable, "-I", "-S", "-B", "-X",
                                    "utf8", "-u", "-c", text("loader.py")], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0)
        try:
            process.stdin.write(data)
        except BrokenPipeError:
            pass
        process.stdin.close()
        said = process.stderr.read().decode()
        process.stderr.close()
        return process.wait(), json.loads(said.strip().rpartition("\n")[2])

    def whole(self, blob, **more):
        header = json.dumps(dict({"mode": "list", "preamble": "0" * 32, "source": len(blob)}, **more)).encode()
        return b"%08x" % len(header) + header + blob

    def test_bad_input(self):
        chance = random.Random(SEED)
        blob = usual_sources()
        good = self.whole(blob)
        bomb = zlib.compress(b" " * (256 * MB), 9)
        cases = [b"", b"0000", b"zzzzzzzz", b"ffffffff", b"-0000001", b"00000002[]", b"00000002{}", self.whole(bomb), self.whole(b""),
                 self.whole(zlib.compress(b"[]")), self.whole(zlib.compress(b"[" * 100000)), self.whole(zlib.compress(b"\xff")),
                 self.whole(blob[:-1]), self.whole(blob, source=-1), self.whole(blob, source="x"), self.whole(blob, source=1 << 40),
                 b"%08x" % 30000 + b"[" * 30000, self.whole(blob[:1000] + b"\0" * 100 + blob[1100:])]
        cases += [good[:chance.randrange(len(good))] for _ in range(4 * ROUNDS)]
        for data in cases:
            code, said = self.load(data)
            self.assertEqual(code, 96, (data[:60], said))
            self.assertIn(said["code"], ("bad-input", "short-input"))


if __name__ == "__main__":
    unittest.main()
