"""One agent per gang and node whatever races; its end, on a clock of the test's own and on the real one."""
import json
import os
import random
import shutil
import signal
import socket
import unittest

from client import Client, after_preamble, spawn, until
from gpush_agent.core import processes
from gpush_agent.host.folder import digest
from node import NodeTest, alive, command
from run import slow

# Sent along instead of core/clock.py: the time goes on, and jumps by what the test writes into a file.
CLOCK = """
import time

def now():
    try:
        with open(%r) as file:
            return time.monotonic() + float(file.read())
    except FileNotFoundError:
        return time.monotonic()
"""
JUMPY = """
import random, time
now, jumps = time.monotonic, random.Random(5)
time.time = lambda: jumps.choice((0.0, 1e9, 4e9)) + jumps.random()
"""


class LifeTest(NodeTest):
    def setUp(self):
        super().setUp()
        self.time = os.path.join(self.base, "time")

    def advance(self, seconds):
        with open(self.time + ".new", "w") as file:
            file.write(str(seconds))
        os.rename(self.time + ".new", self.time)

    def own_time(self):
        return {"core/clock": CLOCK % self.time}

    def start(self, count=1, **config):
        """So many loaders at once; the answers."""
        answers = [after_preamble(process) for process in [spawn(self.header(hold_only=True, **config)) for _ in range(count)]]
        for _, code, error in answers:
            self.assertEqual(code, 0, error)
        values = [json.loads(out.decode()) for out, _, _ in answers]
        self.foreign.extend(value["pid"] for value in values)
        return values

    def one(self, values):
        pids = {value["pid"] for value in values}
        self.assertEqual(len(pids), 1, values)
        return pids.pop()


@slow
class RaceTest(LifeTest):
    def test_ten_loaders_get_one_agent_also_after_harm(self):
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        print("seed of the races: SEED=%d" % seed)
        chance = random.Random(seed)
        pid = self.one(self.start(10))
        harm = chance.choice(("kill", "folder", "socket", "lock"))
        if harm == "kill":
            os.kill(pid, signal.SIGKILL)
        else:
            (parent,) = os.listdir(self.agents)
            (name,) = os.listdir(os.path.join(self.agents, parent))
            folder = os.path.join(self.agents, parent, name)
            if harm == "folder":
                shutil.rmtree(folder)
            else:
                os.unlink(os.path.join(folder, {"socket": "agent.sock", "lock": "lock"}[harm]))
        before, pid = pid, self.one(self.start(10))
        self.assertEqual(pid == before, harm != "kill", harm)
        self.assertEqual([other for other in set(self.foreign) if alive(other)], [pid])

    def test_killed_in_the_middle_of_a_race(self):
        before = self.one(self.start())
        loaders = [spawn(self.header(hold_only=True)) for _ in range(4)]
        os.kill(before, signal.SIGKILL)
        loaders += [spawn(self.header(hold_only=True)) for _ in range(4)]
        answers = [after_preamble(loader) for loader in loaders]
        # who had the old one on the line when it was killed says that it died; nobody else fails
        self.assertEqual({code for _, code, _ in answers} - {0, 95}, set())
        pids = {json.loads(out.decode())["pid"] for out, code, _ in answers if code == 0} | {self.one(self.start())}
        self.foreign.extend(pids)
        self.assertLessEqual(len(pids - {before}), 1)
        until(lambda: not alive(before), what="end of the killed")

    def test_what_a_killed_agent_has_left_is_hung_up_or_ends_with_the_node(self):
        client = self.client()
        terminal = client.exec(command="sleep 1000", pty={"term": "xterm", "columns": 80, "rows": 24}).accepted().opened["pid"]
        command = client.exec(command="trap '' HUP; sleep 1000; sleep 1001").accepted().opened["pid"]
        client.run("setsid sleep 1002 >/dev/null 2>&1 &")
        detached = [pid for pid in processes.descendants(client.welcome["pid"]) if pid not in (terminal, command)]
        self.foreign.extend([command] + detached)
        os.kill(client.welcome["pid"], signal.SIGKILL)
        until(lambda: not alive(terminal), what="hangup by the kernel")
        self.one(self.start(10))
        self.assertTrue(alive(command))
        self.assertTrue(self.control("release")["ok"])
        until(lambda: not any(alive(pid) for pid in [command] + detached), what="end of what was left")

    def test_a_stale_socket_of_a_killed_agent(self):
        os.kill(self.one(self.start()), signal.SIGKILL)
        self.assertEqual(self.control("status"), (94, {"code": "no-agent", "facts": {"gang": self.gang, "node": 0}}))
        self.assertTrue(self.start()[0]["started"])


class WelcomeTest(LifeTest):
    def test_the_welcome_says_which_generation_of_the_workspace_is_here(self):
        path = os.path.join(self.base, "ws.gpush", "generation")
        for text, says in [(None, 0), ("42 0011aabb\n", 42), ("", None), ("a b\n", None)]:
            if text is not None:
                with open(path, "w") as file:
                    file.write(text)
            client = self.client()
            self.assertEqual(client.welcome["generation"], says)
            client.cut()


class ReleaseTest(LifeTest):
    def test_an_agent_that_lets_go_stays_until_its_answer_was_taken(self):
        self.client().end()
        pid = self.control("status")["pid"]
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(os.path.join(self.agents, "gpush-%d" % os.getuid(), digest(self.gang, 0), "agent.sock"))
            sock.sendall(b'{"do": "release"}\n')
            answer = b""
            while not answer.endswith(b"\n"):
                answer += sock.recv(4096)
            self.assertEqual(json.loads(answer.decode())["ok"], True)
            sock.settimeout(1.0)
            with self.assertRaises(socket.timeout):     # no end: with it a container ends, and whoever passes the answer on
                sock.recv(1)
        until(lambda: not alive(pid))


class LeaseEndTest(LifeTest):
    LEASE = {"hard_s": 7200, "idle_s": 3600, "unclaimed_s": 600}

    def status(self):
        return self.control("status")

    def test_ends_at_its_lease_when_no_gateway_comes_back(self):
        client = self.client(extra=self.own_time(), lease=self.LEASE)
        pid = client.welcome["pid"]
        shell = client.exec(pty={"term": "xterm", "columns": 80, "rows": 24}).accepted().opened["pid"]
        client.cut()
        self.advance(3000)
        self.assertLessEqual(self.status()["idle_left_s"], 600)
        self.advance(3600)
        self.status()               # wakes the loop, which waits by the system's time
        until(lambda: not alive(pid), what="end of the lease")
        self.assertFalse(alive(shell))
        self.assertEqual(os.listdir(self.agents), [])

    def test_never_claimed_ends_too(self):
        _, code, _ = after_preamble(spawn(self.header(hold_only=True, lease=self.LEASE), extra=self.own_time()))
        pid = self.status()["pid"]
        self.advance(500)
        self.assertTrue(self.control("status", waits=True)["ok"])
        self.advance(1000)
        self.assertTrue(self.status()["ok"])
        self.advance(1200)
        self.status()
        until(lambda: not alive(pid), what="end")

    def begin_run(self, client):
        go = os.path.join(self.base, "go")
        # A test that was killed must not leave a loop behind.
        spec = command(self.base, "while [ ! -e %s ] && kill -0 %d; do sleep 0.02; done" % (go, os.getpid()))
        self.foreign.append(client.call("run.start", run=1, spec=spec)["pid"])
        return go

    def test_a_run_is_waited_for_and_then_the_idle_time(self):
        client = self.client(extra=self.own_time(), lease=dict(self.LEASE, hard_s=None))
        pid = client.welcome["pid"]
        go = self.begin_run(client)
        client.cut()
        self.advance(100000)
        status = self.status()
        self.assertEqual((status["idle_because"], round(status["idle_left_s"])), ("run 1", 3600))
        open(go, "w").close()
        until(lambda: self.status()["runs"] == [], what="end of the run")
        self.advance(100000 + 3000)
        self.assertTrue(self.status()["ok"])
        self.advance(100000 + 3600)
        self.status()
        until(lambda: not alive(pid), what="end of the lease")

    def test_a_hub_leaves_after_its_pipe(self):
        client = self.client(extra=self.own_time(), lease={}, leave_s=3600)
        pid = client.welcome["pid"]
        self.advance(100000)
        self.assertEqual(client.run("echo still")[0], b"still\n")
        client.end()
        until(lambda: not self.status()["linked"], what="the cut is seen")
        self.advance(200000)
        self.status()
        until(lambda: not alive(pid), what="the end of the hub")

    def test_the_hard_end_stops_a_run(self):
        client = self.client(extra=self.own_time(), lease=self.LEASE)
        pid = client.welcome["pid"]
        self.begin_run(client)
        supervisor = self.foreign[-1]
        client.cut()
        self.advance(7200)
        self.status()
        until(lambda: not alive(supervisor), what="end of the run")
        until(lambda: not alive(pid), what="end of the agent")

    def test_the_same_in_real_seconds(self):
        client = self.client(lease={"hard_s": None, "idle_s": 600, "unclaimed_s": 600})
        pid = client.welcome["pid"]
        go = self.begin_run(client)
        client.call("renew", idle_s=0.5)        # not before: the run might begin too late
        client.cut()
        until(lambda: self.status()["idle_because"] == "run 1", what="the run is seen")
        self.assertTrue(alive(pid))
        open(go, "w").close()
        until(lambda: not alive(pid), what="end after the run")
        self.assertEqual(os.listdir(self.agents), [])

    def test_the_clock_of_the_wall_is_nobodys(self):
        client = self.client(extra={"core/clock": JUMPY}, locks=[{"path": os.path.join(self.base, "lock"), "label": "gpu 0"}])
        for _ in range(5):
            self.assertEqual(client.run("echo ok")[0], b"ok\n")
            left = client.call("status")
            self.assertTrue(500 < left["hard_left_s"] <= 600 and 200 < left["idle_left_s"] <= 300, left)
        client.cut()
        self.client("attach", client)
        self.assertTrue(client.welcome["resumed"])


if __name__ == "__main__":
    unittest.main()
