"""Cutting the relay: nothing is lost, nothing comes twice; new gateways, older terms, two pipes at once."""
import hashlib
import json
import os
import random
import socket
import unittest

from client import DEADLINE, Client, Cut, after_preamble, relay, until
from gpush_agent.host.folder import digest
from gpush_agent.link import frames
from node import NodeTest, alive
from run import slow


class ResumeTest(NodeTest):
    @slow
    def test_bulk_survives_cuts(self):
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        print("seed of the cuts: SEED=%d" % seed)
        chance = random.Random(seed)
        client = self.client()
        path = os.path.join(self.base, "bulk")
        wanted = hashlib.sha256()
        with open(path, "wb") as file:
            for _ in range(40):
                part = os.urandom(1 << 20)
                wanted.update(part)
                file.write(part)
        stream = client.exec(command="cat " + path)
        got = hashlib.sha256()
        stream.sink = got.update
        cuts = 0
        while stream.closed is None:
            goal = stream.received + chance.randrange(1 << 20, 8 << 20)
            client.pump(lambda: stream.closed is not None or stream.received >= goal)
            if stream.closed is None:
                client.cut()
                cuts += 1
                self.client("attach", client)
                self.assertTrue(client.welcome["resumed"])
        self.assertGreater(cuts, 3)
        self.assertEqual((stream.closed, got.hexdigest()), ({"exit": 0}, wanted.hexdigest()))

    def test_the_relay_alone_is_enough_to_come_back(self):
        client = self.client()
        stream = client.exec(command="cat")
        for number in range(3):
            client.cut()
            client.connect(relay(digest(self.gang, 0), self.agents))
            self.assertTrue(client.welcome["resumed"])
            stream.send(b"%d\n" % number)
        stream.end()
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"0\n1\n2\n"))

    def test_the_relay_finds_nothing_where_nothing_or_not_only_we_are(self):
        name = digest(self.gang, 0)
        self.assertEqual(after_preamble(relay(name, self.agents))[:2], (b"", 94))
        self.client()
        self.assertEqual(after_preamble(relay(name, self.agents, ["no-such-python"]))[:2], (b"", 97))
        for folder in (os.path.join(self.agents, "gpush-%d" % os.getuid()), os.path.join(self.agents, "gpush-%d" % os.getuid(), name)):
            os.chmod(folder, 0o711)
            self.assertEqual(after_preamble(relay(name, self.agents))[:2], (b"", 94), folder)
            os.chmod(folder, 0o700)
        self.assertEqual(after_preamble(relay(name, self.agents))[1], 0)

    def test_status_first_and_the_link_on_the_same_relay(self):
        self.client().end()
        process = relay(digest(self.gang, 0), self.agents)
        self.assertEqual(process.stdout.read(33).decode().strip(), process.preamble)
        process.stdin.write(json.dumps({"do": "status", "then": "link"}).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += process.stdout.read(1)
        status = json.loads(answer.decode())
        self.assertEqual((status["ok"], status["gang"], status["devices"]), (True, self.gang, None))

        process.preamble = None
        client = Client()
        self.clients.append(client)
        client.connect(process)
        self.assertEqual(client.run("echo hi")[0], b"hi\n")

    def test_the_relay_waits_for_an_agent_that_starts_later(self):
        process = relay(digest(self.gang, 0), self.agents, seconds=int(DEADLINE))
        self.client().end()
        client = Client()
        self.clients.append(client)
        client.connect(process)
        self.assertEqual(client.run("echo hi")[0], b"hi\n")

    def test_the_relay_waits_no_longer_than_asked(self):
        self.assertEqual(after_preamble(relay(digest(self.gang, 0), self.agents, seconds=1))[:2], (b"", 94))

    def test_what_an_agent_said_last_arrives_although_it_reads_no_more(self):
        """The relay once ended with the first byte that the agent would not take, and a BYE was lost with it."""
        name, said = digest(self.gang, 0), os.urandom(200000)      # more than a pipe holds
        folder = os.path.join(self.agents, "gpush-%d" % os.getuid(), name)
        os.makedirs(folder, 0o700)
        os.chmod(os.path.dirname(folder), 0o700)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(os.path.join(folder, "agent.sock"))
            listener.listen(1)
            process = relay(name, self.agents)
            agent = listener.accept()[0]
        agent.sendall(said)
        agent.close()
        try:
            process.stdin.write(bytes(1 << 20))     # comes back when the relay has tried to pass it on
        except BrokenPipeError:
            pass
        self.assertEqual(process.stdout.read()[33:], said)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()

    @slow
    def test_typing_survives_cuts(self):
        client = self.client()
        stream = client.exec(command="sha256sum").accepted()
        wanted = hashlib.sha256()
        for number in range(60):
            part = os.urandom(20000)
            wanted.update(part)
            try:
                stream.send(part)
            except Cut:
                self.fail("cut by the agent: %s" % client.bye)
            if number % 10 == 9:
                client.cut()
                self.client("attach", client)
        stream.end()
        self.assertEqual(stream.finish(), {"exit": 0})
        self.assertEqual(bytes(stream.out[0]).split()[0].decode(), wanted.hexdigest())

    def test_output_made_while_cut_arrives(self):
        client = self.client()
        done = os.path.join(self.base, "done")
        stream = client.exec(command="read x; sleep 0.2; seq 1 50000; touch " + done).accepted()
        stream.send(b"go\n")
        until(lambda: (client.read(0.01), not client.kept)[1], what="ACK")
        client.cut()
        until(lambda: os.path.exists(done), what="the process ends alone, within its credit")
        self.client("attach", client)
        self.assertEqual(stream.finish(), {"exit": 0})
        self.assertEqual(bytes(stream.out[0]).split()[-1], b"50000")

    def test_a_new_gateway_hangs_up_what_the_old_one_ran(self):
        client = self.client()
        pty = client.exec(command="sleep 1000", pty={"term": "xterm", "columns": 80, "rows": 24}).accepted()
        pid = pty.opened["pid"]
        client.cut()
        other = self.client("attach")
        self.assertFalse(other.welcome["resumed"])
        self.assertEqual(other.welcome["agent"], client.agent)
        until(lambda: not alive(pid), what="hangup")
        self.assertEqual(other.run("echo ok")[0], b"ok\n")
        again = self.client("attach", client)
        self.assertFalse(again.welcome["resumed"])

    def test_a_lower_term_is_refused_and_a_newer_pipe_supersedes(self):
        first = self.client(client=Client(term=5, holder="her@desk"))
        low = self.client("attach", Client(term=4))
        self.assertEqual(low.bye, {"code": "term", "facts": {"holder": "her@desk", "term": 5}})
        second = self.client("attach", Client(term=6))
        with self.assertRaises(Cut):
            first.pump(lambda: False)
        self.assertEqual(first.bye["code"], "superseded")
        self.assertEqual(second.run("echo ok")[0], b"ok\n")

    def test_a_hello_that_lay_in_a_stopped_relay_changes_nothing(self):
        """The gateway has given that pipe up long ago; what it said then must not end the streams of today."""
        client = Client()
        client.at = 7
        self.client(client=client)
        stream = client.exec(command="cat").accepted()
        stream.send(b"whole")
        with self.raw_socket() as sock:
            sock.sendall(frames.encode(frames.HELLO, 0, 0, 0, frames.pack_json(
                {"version": 2, "incarnation": client.incarnation, "term": 1, "agent": "", "last": 0, "at": 6})))
            self.assertEqual(self.answer(sock)["code"], "superseded")
        stream.end()
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"whole"))

    def test_an_other_version_is_refused(self):
        client = self.client()
        version = frames.pack_json({"version": 1})
        for payload, code in ((version, "version"), (b"{}", "version"), (b"[]", "protocol")):
            with self.raw_socket() as sock:
                sock.sendall(frames.encode(frames.HELLO, 0, 0, 0, payload))
                self.assertEqual(self.answer(sock)["code"], code)
        with self.raw_socket() as sock:
            sock.sendall(b"\xff" * 40)
            self.assertEqual(self.answer(sock)["code"], "protocol")
        self.assertEqual(client.run("echo ok")[0], b"ok\n")

    def test_a_gap_ends_the_pipe_and_the_link_goes_on_with_the_next(self):
        client = self.client()
        stream = client.exec(command="cat").accepted()
        client.raw(frames.encode(frames.DATA, 0, stream.number, client.last_out + 2, b"x"))
        with self.assertRaises(Cut):
            client.pump(lambda: False)
        self.assertEqual((client.bye["code"], client.bye["facts"]["reason"]), ("protocol", "gap"))
        client.end()
        self.client("attach", client)
        self.assertTrue(client.welcome["resumed"])
        stream.send(b"whole")
        stream.end()
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"whole"))

    def raw_socket(self):
        import socket
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(DEADLINE)
        for root, _, names in os.walk(self.agents):
            if "agent.sock" in names:
                sock.connect(os.path.join(root, "agent.sock"))
        return sock

    def answer(self, sock):
        data = b""
        while True:
            part = sock.recv(4096)
            if not part:
                break
            data += part
        return frames.unpack_json(frames.Parser().feed(data)[-1][4])


class NonsenseTest(NodeTest):
    def test_a_seeded_storm_leaves_the_agent_standing(self):
        """Random well-formed and broken frames on many pipes; afterwards an honest gateway is served as ever."""
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        print("seed of the storm: SEED=%d" % seed)
        chance = random.Random(seed)
        self.client().end()
        pid = self.agent_pids()[0]
        for _ in range(60):
            with ResumeTest.raw_socket(self) as sock:
                sock.settimeout(0.02)
                hello = {"version": 2, "incarnation": "x", "term": 1, "last": chance.choice((0, 0, 5)), "agent": ""}
                data = frames.encode(frames.HELLO, 0, 0, 0, frames.pack_json(hello))
                sequence = 0
                for _ in range(chance.randrange(40)):
                    kind = chance.choice(list(frames.NAMES) + [0x80, 0x17])
                    stream = 0 if kind in frames.ON_LINK else chance.randrange(1, 9)
                    number = 0
                    if kind in frames.SEQUENCED:
                        sequence += 1
                        number = sequence if chance.random() < 0.97 else chance.randrange(1 << 40)
                    payload = chance.choice((b"{}", b'{"type":"exec","command":"echo x","credit":100}', b"12345678",
                                             b'{"type":"call","method":"status","credit":1}', b'{"signal":"KILL"}',
                                             b'{"type":"tcp","host":"127.0.0.1","port":1}', b"[", b"",
                                             b'{"type":"exec","argv":[1]}', b'{"type":"listen-tcp","port":0}'))
                    data += frames.encode(kind, chance.choice((0, 0, 0, 1)) if kind in (
                        frames.DATA, frames.END, frames.MESSAGE) else 0, stream, number, payload)
                data = data[:chance.randrange(len(data) + 1)]
                try:
                    sock.sendall(data)
                    while sock.recv(65536):
                        pass
                except OSError:
                    pass
        self.assertTrue(alive(pid))
        client = self.client("attach", Client(term=2))
        self.assertEqual(client.run("echo ok")[0], b"ok\n")
        log = ""
        for root, _, names in os.walk(self.agents):
            if "log" in names:
                with open(os.path.join(root, "log")) as file:
                    log += file.read()
        self.assertNotIn("Traceback", log)


if __name__ == "__main__":
    unittest.main()
