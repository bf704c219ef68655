"""The judgement of a gang and the line between its agents, on a clock of the test's own: no process, no waiting."""
import json
import os
import socket
import unittest

import client                   # puts the agent on the path
from gpush_agent.core.loop import Loop
from gpush_agent.gang import idle, peerline, peers
from gpush_agent.lifetime import lease

assert client


class JudgeTest(unittest.TestCase):
    """Three nodes; what the lines would carry is carried by the test."""

    def setUp(self):
        self.now = 100.0
        self.runs = [[], [], []]
        self.linked = {1, 2}
        self.leases = [lease.Lease(lambda: self.now, {"hard_s": None, "idle_s": 60, "unclaimed_s": 30},
                                   lambda node=node: self.runs[node]) for node in range(3)]
        self.zero = idle.Decides(self.leases[0], self.asked)
        self.others = {node: idle.Asks(self.leases[node], lambda node=node: self.talk(node)) for node in (1, 2)}
        self.leases[0].judge = self.zero
        for node, judge in self.others.items():
            self.leases[node].judge = judge
            self.zero.joined(node)

    def talk(self, node, **more):
        if node in self.linked:
            self.zero.report(node, dict(self.others[node].report(), **more))
            self.others[node].tell(self.zero.told())
        return node in self.linked

    def asked(self, number):
        for node in list(self.linked):
            self.talk(node, ask=number)

    def cut(self, node):
        self.linked.discard(node)
        self.zero.left(node)

    def step(self, seconds):
        """Time passes; every node reports now and then, and each looks at its lease."""
        end = self.now + seconds
        while self.now < end:
            self.now += 1
            for node in (1, 2):
                if self.now % 5 == 0:
                    self.talk(node)
        return [found.over() for found in self.leases]

    def test_a_claim_of_one_node_is_a_claim_of_all(self):
        self.leases[2].claim()
        self.assertEqual(self.step(50), [None, None, None])
        self.assertTrue(all(found.claimed for found in self.leases))

    def test_nobody_comes(self):
        self.assertEqual(self.step(29), [None, None, None])
        self.assertEqual(self.step(1)[0], "unclaimed")
        self.others[1].let_go("unclaimed")
        self.assertEqual(self.leases[1].over(), "unclaimed")

    def test_a_run_on_one_node_keeps_all(self):
        for worker in range(3):
            self.setUp()
            self.leases[0].claim()
            self.runs[worker] = [7]
            self.assertEqual(self.step(1000), [None, None, None])
            expected = "run 7 on node %d" % worker if worker else "run 7"
            self.assertEqual(self.leases[0].status()["idle_because"], expected)
            other = self.leases[1 if worker != 1 else 2].status()
            self.assertEqual(other["idle_because"], expected)
            self.assertGreater(other["idle_left_s"], 50)
            self.runs[worker] = []
            self.assertEqual(self.step(50), [None, None, None])
            self.assertEqual(self.step(15), ["idle", None, None])
            self.others[1].let_go("idle")
            self.assertEqual(self.leases[1].over(), "idle")

    def test_the_others_never_let_go_before_node_0_says_so(self):
        self.leases[0].claim()
        for _ in range(20):
            self.leases[0].active("typing")
            self.assertEqual(self.step(50), [None, None, None])

    def test_node_0_asks_before_it_decides(self):
        self.leases[0].claim()
        self.step(57)
        self.leases[2].active("typing")     # and no report is due
        self.now = self.zero.latest()[0] + 60
        self.assertIsNone(self.leases[0].over())
        self.assertEqual(self.leases[0].status()["idle_because"], "typing on node 2")

    def test_who_does_not_answer_is_not_waited_for_long(self):
        self.leases[0].claim()
        self.step(55)
        self.linked.discard(2)              # the line is there, nothing comes
        self.now = self.zero.latest()[0] + 60
        self.assertIsNone(self.leases[0].over())
        self.assertEqual(self.leases[0].next(), 5.0)
        self.now += 5
        self.assertEqual(self.leases[0].over(), "idle")

    def test_node_0_lost(self):
        self.leases[0].claim()
        self.runs[1] = [3]
        self.step(20)
        heard = self.others[2].heard
        self.linked.clear()
        self.assertEqual(self.step(55)[1:], [None, None])
        self.now = heard + 60
        self.assertEqual(self.leases[2].over(), "idle")             # both: its own idle time, and the silence
        self.assertEqual(self.step(10000)[1], None)                 # its run goes on
        self.runs[1] = []
        self.assertEqual(self.step(5)[1], None)                     # it looks that often while a run is in progress
        self.assertEqual(self.step(55)[1], None)
        self.assertEqual(self.step(10)[1], "idle")

    def restart_zero(self, seconds):
        """Another agent takes over on node 0, so long after the last note of the one before. The others must dial again."""
        noted = self.leases[0].noted()
        self.now += seconds
        for node in (1, 2):
            self.cut(node)
        self.leases[0] = lease.Lease(lambda: self.now, {"hard_s": None, "idle_s": 60, "unclaimed_s": 30}, lambda: self.runs[0])
        self.leases[0].recall(noted)
        self.zero = self.leases[0].judge = idle.Decides(self.leases[0], self.asked)

    def test_another_agent_of_node_0_knows_what_the_others_did(self):
        self.leases[0].claim()
        self.runs[1] = [7]
        self.step(1000)
        self.restart_zero(20)
        self.assertEqual(self.step(38)[0], None)
        status = self.leases[0].status()
        self.assertTrue(0 < status["idle_left_s"] <= 5, status)
        self.assertEqual(status["idle_because"], "run 7 on node 1")

    def test_another_agent_of_node_0_waits_for_the_others(self):
        """It did not run for longer than the idle time."""
        self.leases[0].claim()
        self.runs[1] = [7]
        self.step(50)
        self.restart_zero(300)
        self.assertIsNone(self.leases[0].over())
        self.assertEqual(self.leases[0].next(), 40.0)
        self.now += 39
        self.assertIsNone(self.leases[0].over())
        self.linked.add(1)
        self.zero.joined(1)
        self.talk(1)
        self.assertEqual(self.step(55)[0], None)
        self.runs[1] = []
        self.assertEqual(self.step(70)[0], "idle")

    def test_another_agent_of_node_0_does_not_wait_for_ever(self):
        for claimed, why in ((True, "idle"), (False, "unclaimed")):
            self.setUp()
            if claimed:
                self.leases[0].claim()
            self.restart_zero(300)
            self.assertEqual(self.step(39)[0], None)
            self.assertEqual(self.step(1)[0], why)

    def test_another_agent_of_node_0_knows_whether_its_lease_is_that_of_the_start(self):
        """That of another pod is given again; a second agent there hid that it was not yet."""
        self.leases[0].claim()
        self.restart_zero(20)
        self.assertEqual(self.leases[0].terms(), "start")
        self.leases[0].renew({"hard_s": 500, "idle_s": 90, "restore": True})
        self.restart_zero(20)
        self.assertEqual(self.leases[0].terms(), "renewed")

    def test_a_lease_that_is_given_again_is_no_activity_and_replaces_no_renewed_one(self):
        self.leases[0].claim()
        self.step(50)
        self.leases[0].renew({"hard_s": 500, "idle_s": 90, "restore": True})
        status = self.leases[0].own_status()
        self.assertEqual((status["hard_left_s"], status["idle_left_s"], status["idle_because"]), (500.0, 40.0, "attached"))
        self.leases[0].renew({"hard_s": 700, "idle_s": 60})
        self.leases[0].renew({"hard_s": 500, "idle_s": 90, "restore": True})
        self.assertEqual(self.leases[0].own_status()["hard_left_s"], 700.0)

    def test_an_idle_time_that_was_renewed_stays_when_the_hard_end_is_given_again(self):
        self.leases[0].renew({"idle_s": 40})
        self.assertEqual(self.leases[0].terms(), "start")
        self.leases[0].renew({"hard_s": 500, "idle_s": 90, "restore": True})
        status = self.leases[0].own_status()
        self.assertEqual((status["hard_left_s"], status["idle_left_s"], self.leases[0].terms()), (500.0, 40.0, "renewed"))

    def test_idle_time_begins_with_the_end_of_a_run(self):
        now, runs = [0.0], [1]
        alone = lease.Lease(lambda: now[0], {"idle_s": 60}, runs=lambda: runs)
        alone.claim()
        now[0] = 59.0
        self.assertIsNone(alone.over())
        self.assertEqual(alone.next(), 5.0)
        runs.clear()
        now[0] = 64.0
        self.assertIsNone(alone.over())
        self.assertEqual(alone.next(), 60.0)
        now[0] = 123.9
        self.assertIsNone(alone.over())
        now[0] = 124.0
        self.assertEqual(alone.over(), "idle")

    def test_silence_alone_is_no_reason_to_go(self):
        self.leases[0].claim()
        self.step(20)
        self.linked.clear()
        self.step(50)
        self.leases[1].active("typing")
        self.assertEqual(self.step(50)[1:], [None, "idle"])

    def test_a_lost_node_keeps_node_0_no_longer_than_its_idle_time(self):
        self.leases[0].claim()
        self.runs[1] = [3]
        self.step(200)
        self.cut(1)
        self.assertEqual(self.step(55)[0], None)
        self.assertEqual(self.step(10)[0], "idle")

    def test_the_hard_end_is_node_0s(self):
        self.leases[0].claim()
        self.leases[0].renew({"hard_s": 1000})
        self.runs = [[1], [1], [1]]
        self.step(500)
        self.assertEqual([found.status()["hard_left_s"] for found in self.leases], [500.0] * 3)
        self.leases[0].renew({"hard_s": 1000})
        self.now += 501                     # nobody has told the others
        self.assertIsNone(self.leases[1].over())
        self.assertEqual(self.leases[1].status()["hard_left_s"], 499.0)
        self.linked.discard(1)
        self.now += 498
        self.assertEqual([found.over() for found in self.leases], [None, None, None])
        self.now += 1
        self.assertEqual([found.over() for found in self.leases], ["hard", "hard", None])   # node 2 asks first
        self.assertEqual(self.leases[2].over(), "hard")

    def test_let_go_is_not_obeyed_during_a_run(self):
        self.leases[0].claim()
        self.step(5)
        self.runs[1] = [9]
        self.others[1].let_go("idle")
        self.assertIsNone(self.leases[1].over())
        self.others[1].let_go("hard")
        self.assertEqual(self.leases[1].over(), "hard")
        self.others[2].let_go("nonsense")
        self.assertIsNone(self.leases[2].over())

    def test_bad_numbers_change_nothing(self):
        self.leases[0].claim()
        self.step(5)
        before = self.zero.told()
        for value in ({"idle_for_s": -1}, {"idle_for_s": "x"}, {"idle_for_s": True}, {"idle_for_s": 1e300}, {}):
            self.zero.report(1, value)
        self.assertEqual(self.zero.told(), before)
        self.others[1].tell({"hard_left_s": "x", "idle_s": [], "idle_left_s": -4, "idle_because": "a\x1b[2Jb"})
        self.assertEqual(self.leases[1].idle, 60)
        self.assertNotIn("\x1b", str(self.leases[1].status()))


class Ear:
    def __init__(self):
        self.messages, self.joins, self.whys = [], 0, []

    def joined(self, line):
        self.joins += 1

    def heard(self, line, message):
        self.messages.append(message)

    def left(self, line):
        self.whys.append(line.why)


class LineTest(unittest.TestCase):
    KEY = bytes(range(32))

    def setUp(self):
        self.now = 0.0
        self.loop = Loop(clock=lambda: self.now)
        self.addCleanup(self.loop.selector.close)
        self.addCleanup(self.loop.wake_in.close)
        self.addCleanup(self.loop.wake_out.close)
        self.addCleanup(lambda: [line.close("end of test") for line in self.lines])
        self.lines = []
        self.zero, self.one = Ear(), Ear()

    def turn(self, times=6):
        for _ in range(times):
            self.loop.after(0, lambda: None)
            self.loop.turn()

    def answers(self, sock, key=KEY, gang_name="g"):
        self.lines.append(peerline.Line(self.loop, sock, key, gang_name, self.zero))
        return self.lines[-1]

    def dials(self, sock, key=KEY, gang_name="g"):
        self.lines.append(peerline.Line(self.loop, sock, key, gang_name, self.one, node=1))
        return self.lines[-1]

    def pair(self, **other):
        a, b = socket.socketpair()
        lines = self.answers(a), self.dials(b, **other)
        self.turn()
        return lines

    def tapped(self):
        """Two lines and a man in the middle: (answering, dialling, carry); carry(change) moves what there is."""
        a, a_tap = socket.socketpair()
        b, b_tap = socket.socketpair()
        lines = self.answers(a), self.dials(b)
        for tap in (a_tap, b_tap):
            tap.setblocking(False)
            self.addCleanup(tap.close)

        def carry(change=lambda data: data, times=6):
            for _ in range(times):
                self.turn(1)
                for source, target, own in ((b_tap, a_tap, change), (a_tap, b_tap, lambda data: data)):
                    try:
                        data = source.recv(65536)
                        target.sendall(own(data))
                    except OSError:
                        pass
        return lines[0], lines[1], carry

    def test_both_ways(self):
        zero, one = self.pair()
        self.assertEqual((zero.ready, one.ready, zero.node), (True, True, 1))
        one.send({"report": 1})
        one.send({"report": "\u4e16"})
        zero.send({"lease": None})
        self.turn()
        self.assertEqual(self.zero.messages, [{"report": 1}, {"report": "\u4e16"}])
        self.assertEqual(self.one.messages, [{"lease": None}])

    def test_another_key_or_gang_is_refused_before_anything_is_heard(self):
        for other in ({"key": b"x" * 32}, {"gang_name": "h"}):
            self.setUp()
            zero, one = self.pair(**other)
            one.send({"report": 1})
            self.turn()
            self.assertEqual((self.zero.joins, self.one.joins, self.zero.messages), (0, 0, []))
            self.assertEqual(self.one.whys, ["another key"])
            self.assertTrue(zero.closed)

    def test_who_skips_the_proof_is_refused(self):
        a, b = socket.socketpair()
        self.addCleanup(b.close)
        self.answers(a)
        hello = {"do": "peer", "version": 1, "node": 1, "nonce": "ab" * 16}
        b.sendall(json.dumps(hello).encode() + b"\n" + json.dumps({"proof": "0" * 64}).encode() + b"\n")
        self.turn()
        self.assertEqual((self.zero.joins, self.zero.whys), (0, ["another key"]))

    def test_a_recorded_greeting_is_worth_nothing(self):
        recorded = []
        zero, one, carry = self.tapped()
        carry(lambda data: recorded.append(data) or data)
        self.assertTrue(zero.ready and one.ready)
        one.send({"report": 1})
        carry(lambda data: recorded.append(data) or data)
        self.assertEqual(len(self.zero.messages), 1)
        a, b = socket.socketpair()
        self.addCleanup(b.close)
        again = self.answers(a)
        b.sendall(b"".join(recorded))
        self.turn()
        self.assertEqual((again.ready, again.why, len(self.zero.messages)), (False, "another key", 1))

    def test_repeated_moved_missing_and_changed_messages_cut_the_line(self):
        def swap(data):
            first, second = data.splitlines(True)
            return second + first
        for change in (lambda data: data + data, swap, lambda data: data.split(b"\n", 1)[1],
                       lambda data: data.replace(b'"a"', b'"b"')):
            self.setUp()
            zero, one, carry = self.tapped()
            carry()
            one.send({"n": 1, "v": "a"})
            one.send({"n": 2, "v": "a"})
            carry(change)
            self.assertEqual(self.zero.whys, ["a message that is not genuine"])
            self.assertIn([message["n"] for message in self.zero.messages], ([], [1, 2]))

    def test_an_answer_is_no_question(self):
        """What goes down is sealed by another key than what goes up."""
        zero, one, carry = self.tapped()
        carry()
        zero.send({"lease": 1})
        recorded = []
        one.send({"report": 1})
        carry(lambda data: recorded.append(data) or data)
        zero.sock.send(b"")
        a_line = peerline.seal(one.key_in, 0, b"{}")
        one.sock.sendall(a_line.encode() + b" {}\n")
        carry()
        self.assertEqual(self.zero.whys, ["a message that is not genuine"])

    def test_garbage_and_floods_are_bounded(self):
        for data, why in ((b"\0" * 100000, "line too long"), (b"x" * 3000, "line too long"), (b"GET / HTTP/1.1\r\n\r\n", "not a message"),
                          (b"{}\n", "refused: version"), (b'{"do":"peer","version":1,"node":true,"nonce":1}\n', "refused: bad-request"),
                          (b"[" * 900 + b"\n", "not a message"), (b"\xff\xfe\n", "not a message")):
            self.setUp()
            a, b = socket.socketpair()
            self.addCleanup(b.close)
            b.setblocking(False)
            line = self.answers(a)
            try:
                b.sendall(data)
            except BlockingIOError:
                pass
            self.turn()
            self.assertEqual(self.zero.whys, [why], data[:20])
            self.assertLessEqual(len(line.buffer), peerline.MAX_GREETING + peerline.READ)

    def test_a_stranger_has_ten_seconds(self):
        a, b = socket.socketpair()
        self.addCleanup(b.close)
        self.answers(a)
        for second in range(10):
            self.assertEqual(self.zero.whys, [])
            b.sendall(b"{")
            self.now = second + 1.0
            self.turn(2)
        self.assertEqual(self.zero.whys, ["no proof in time"])

    def test_a_peer_that_floods_or_does_not_read_is_cut(self):
        zero, one = self.pair()
        for number in range(peerline.MAX_A_SECOND + 10):
            one.send({"n": number})
        self.turn(20)
        self.assertEqual((self.zero.whys, len(self.zero.messages)), (["too many messages"], peerline.MAX_A_SECOND))
        self.setUp()
        zero, one = self.pair()
        self.loop.read(one.sock.fileno(), None)
        for _ in range(10000):
            if not zero.closed:
                zero.send({"pad": "x" * 1000})
                self.assertLessEqual(len(zero.out), peerline.MAX_OUT + 2000)
        self.assertEqual(self.zero.whys, ["the other end does not read"])

    def test_random_bytes_never_join(self):
        seed = int(os.environ.get("GPUSH_SEED", "0")) or int.from_bytes(os.urandom(4), "big")
        print("test_random_bytes_never_join GPUSH_SEED=%d" % seed)
        import random
        chance = random.Random(seed)
        pieces = [b"{", b"}", b"\n", b'"do":"peer"', b'"version":1', b",", b'"node":1', b'"nonce":"' + b"0" * 32 + b'"', b"\xff", b"0" * 64,
                  b'{"do":"peer","version":1,"node":1,"nonce":"' + b"0" * 32 + b'"}\n', b'{"proof":"' + b"0" * 64 + b'"}\n']
        for _ in range(200):
            a, b = socket.socketpair()
            line = self.answers(a)
            try:
                b.sendall(b"".join(chance.choice(pieces) for _ in range(chance.randrange(1, 60))))
            except OSError:
                pass
            self.turn(2)
            self.assertFalse(line.ready)
            line.close("next")
            b.close()
        self.assertEqual((self.zero.joins, self.zero.messages), (0, []))


class NoSampling:
    @staticmethod
    def clients():
        return []


class StubAgent:
    def __init__(self, loop, node):
        self.loop, self.node, self.nodes, self.gang = loop, node, 2, "g"
        self.ending, self.sampling, self.config, self.state = None, NoSampling, {}, None
        self.lease = lease.Lease(loop.clock, {"idle_s": 60})

    def log(self, text):
        pass

    def watch_lease(self):
        pass


class AddressTest(unittest.TestCase):
    """Two nodes in one process, and real sockets between them."""

    def setUp(self):
        self.loop = Loop()
        self.addCleanup(self.loop.selector.close)
        self.addCleanup(self.loop.wake_in.close)
        self.addCleanup(self.loop.wake_out.close)
        self.zero, self.one = [peers.Peers(StubAgent(self.loop, node), {"key": "ab" * 32}) for node in (0, 1)]
        self.port = self.zero.configure({"listen": {"host": "::", "port": 0}})["port"]
        self.addCleanup(self.close)

    def close(self):
        self.zero.listener.close()
        for side in (self.zero, self.one):
            for line in list(side.lines.values()) + side.unproven:
                line.close("end of test")

    def turn_until(self, condition):
        for _ in range(1000):
            if condition():
                return
            self.loop.turn()        # waits for the next event
        self.fail("nothing came of it")

    def is_up(self):
        return 0 in self.one.lines and 1 in self.zero.lines

    @staticmethod
    def is_here(host):
        try:
            with socket.socket(socket.AF_INET6) as some:
                some.bind((host, 0))
            return True
        except OSError:
            return False

    @staticmethod
    def at(host, port):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return family, socket.SOCK_STREAM, 0, "", (host, port)

    def test_every_family_leads_to_node_0(self):
        for host in ("127.0.0.1", "::1"):
            if host == "::1" and not self.is_here(host):
                self.skipTest("this machine has no IPv6")
            self.one.try_found([self.at(host, self.port)])
            self.turn_until(self.is_up)
            self.one.lines[0].close("the next one")

    def test_addresses_that_lead_nowhere_are_passed(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            refuses = self.at("127.0.0.1", nobody.getsockname()[1])
        found = [self.at("255.255.255.255", self.port), refuses, self.at("127.0.0.1", self.port)]

        self.one.try_found(found)           # the first fails at once
        self.turn_until(lambda: not self.one.unproven)
        self.assertEqual(self.one.passed, 2)
        self.one.try_found(found)
        self.turn_until(self.is_up)
        self.one.lines[0].close("cut")
        self.one.try_found(found)           # begins with the one that was good
        self.turn_until(self.is_up)
        self.assertEqual(self.one.passed, 2)


if __name__ == "__main__":
    unittest.main()
