"""Agents of one gang with lines between them, as processes, without any gateway."""
import hashlib
import json
import os
import signal
import socket
import struct
import unittest

from client import DEADLINE, Client, after_preamble, free_port, spawn, until
from gpush_agent import start
from gpush_agent.host.folder import Folder
from gpush_agent.runs import rundir
from node import NodeTest, alive

SLOW = True

LONG = DEADLINE


class GangTest(NodeTest):
    def setUp(self):
        super().setUp()
        self.key = os.urandom(32).hex()

    def start(self, node, nodes=2, lease=None, peers="own", modules=None, **more):
        """The pid of an agent that is there, held only; `modules` in place of its own."""
        peers = {"key": self.key, "node0": "same-host"} if peers == "own" else peers
        header = self.header(
            node=node, nodes=nodes, hold_only=True, lease=lease or {"hard_s": 600, "idle_s": 300, "unclaimed_s": 120},
            workspace=self.path(node), state=self.path(node, ".gpush"),
            **dict(more, **({"peers": peers} if peers else {})))
        out, code, error = after_preamble(spawn(header, extra=modules))
        self.assertEqual(code, 0, error)
        return json.loads(out.decode())["pid"]

    def path(self, node, more=""):
        return os.path.join(self.base, "%s-%d%s" % (self.gang[:6], node, more))

    def control(self, do, node=0, **params):
        """Without a process for each question."""
        return start.ask(Folder(self.gang, node, [self.agents]).find(), dict(params, do=do), LONG)

    def lined(self, *nodes, **more):
        for node in nodes:
            until(lambda: self.control("status", node=node)["peers"]["line"] == more.get("line", "up"), LONG,
                  lambda: self.control("status", node=node)["peers"])

    def attach(self, node):
        client = Client()
        self.clients.append(client)
        return client.connect(spawn(self.header("attach", node=node)))

    def gone(self, pid):
        until(lambda: not alive(pid), LONG, "end of agent %d" % pid)

    def spec(self, node, port, program, nodes=2, **more):
        """A run of two nodes; the program is given to sh."""
        workspace = self.path(node)
        os.makedirs(workspace, exist_ok=True)
        return dict({"mode": "command", "command": program, "cwd": workspace, "env": {}, "nodes": nodes, "node_rank": node, "procs": 1,
                     "first_rank": node, "world": nodes, "master": {"addr": "127.0.0.1", "port": port}, "slots": ["0"],
                     "visible": None, "outputs": self.path(node, ".out"), "stop_grace_s": 5}, **more)

    def run_on(self, client, node, run, port, program, **more):
        spec = self.spec(node, port, program, **more)
        until(lambda: client.call("run.start", run=run, spec=spec).get("code") != "starting", LONG, "start")

    def why(self, node, run):
        """The reason for which the run was stopped on this node."""
        return rundir.read(rundir.folder_of(self.path(node, ".gpush"), run), "stop.json").get("why")

    def exit_of(self, client, run):
        return until(lambda: client.call("run.status", run=run)["exit"], LONG, "end of the run")


class FailureTest(GangTest):
    def nodes(self, count, **more):
        for node in range(count):
            self.start(node, nodes=count, **more)
        self.lined(*range(1, count))
        return [self.attach(node) for node in range(count)]

    def test_a_rank_that_fails_on_one_node_stops_all_the_others(self):
        clients = self.nodes(3)
        port = free_port()
        for node, program in ((0, "exec sleep 1000"), (2, "exec sleep 1000"), (1, "sleep 0.5; exit 7")):
            self.run_on(clients[node], node, 4, port, program, nodes=3)
        for node in (0, 2):
            end = self.exit_of(clients[node], 4)
            self.assertTrue(end["stopped"] and end["first"]["asked"], end)
            self.assertEqual(self.why(node, 4), "node 1 failed")
        self.assertIsNone(self.why(1, 4))
        # the gateway's own stop comes too, and changes nothing
        for client in clients:
            self.assertEqual(client.call("run.stop", run=4, signal="TERM", grace_s=10, why="node 1 failed"), {})

    def test_node_0_fails_and_a_run_that_starts_later_is_stopped_too(self):
        clients = self.nodes(2)
        port = free_port()
        self.run_on(clients[0], 0, 4, port, "exit 3")
        self.exit_of(clients[0], 4)
        other = free_port()
        self.run_on(clients[1], 1, 4, port, "exec sleep 1000")
        self.assertTrue(self.exit_of(clients[1], 4)["stopped"])
        # another try of the same run is another run
        self.assertNotEqual(port, other)
        spec = self.spec(1, other, "sleep 1; exit 0")
        self.assertIn("pid", clients[1].call("run.start", run=4, spec=spec, again=True))
        self.assertEqual(self.exit_of(clients[1], 4)["exit"], 0)

    def test_a_killed_supervisor_counts_as_a_failure(self):
        clients = self.nodes(2)
        port = free_port()
        for node in (0, 1):
            self.run_on(clients[node], node, 4, port, "exec sleep 1000")
        folder = os.path.join(self.path(1, ".gpush"), "runs", "4")
        os.kill(until(lambda: rundir.read(folder, "lock").get("pid"), LONG, "supervisor"), signal.SIGKILL)
        self.assertTrue(self.exit_of(clients[0], 4)["stopped"])
        self.assertEqual(self.why(0, 4), "node 1 failed")

    def test_a_failure_after_an_agent_was_killed_is_told_by_the_next_one(self):
        clients = self.nodes(2, guard=True)
        go, port = os.path.join(self.base, "go"), free_port()
        self.run_on(clients[0], 0, 4, port, "exec sleep 1000")
        self.run_on(clients[1], 1, 4, port, "while [ ! -e %s ]; do sleep 0.05; done; exit 7" % go)
        os.kill(clients[1].welcome["pid"], signal.SIGKILL)
        self.gone(clients[1].welcome["pid"])
        self.assertTrue(self.attach(1).welcome["again"])
        open(go, "w").close()
        self.assertTrue(self.exit_of(clients[0], 4)["stopped"])
        self.assertEqual(self.why(0, 4), "node 1 failed")

    def test_and_so_is_one_while_there_was_none(self):
        clients = self.nodes(2, guard=True)
        go, port = os.path.join(self.base, "go"), free_port()
        self.run_on(clients[0], 0, 4, port, "exec sleep 1000")
        self.run_on(clients[1], 1, 4, port, "while [ ! -e %s ]; do sleep 0.05; done; exit 7" % go)
        guard = self.control("status", node=1)["guard"]
        os.kill(guard, signal.SIGSTOP)
        os.kill(clients[1].welcome["pid"], signal.SIGKILL)
        self.gone(clients[1].welcome["pid"])
        open(go, "w").close()
        until(lambda: rundir.has_ended(os.path.join(self.path(1, ".gpush"), "runs", "4")), LONG, "its end")
        os.kill(guard, signal.SIGCONT)
        self.assertTrue(self.exit_of(clients[0], 4)["stopped"])

    def test_a_run_that_is_asked_to_stop_on_one_node_goes_on_elsewhere(self):
        clients = self.nodes(2)
        port = free_port()
        for node in (0, 1):
            self.run_on(clients[node], node, 4, port, "exec sleep 1000")
        clients[1].call("run.stop", run=4, signal="TERM", grace_s=5)
        self.exit_of(clients[1], 4)
        port = free_port()              # what is told later is told after that
        self.run_on(clients[0], 0, 5, port, "exec sleep 1000", slots=["1"])
        self.run_on(clients[1], 1, 5, port, "exit 9")
        self.assertTrue(self.exit_of(clients[0], 5)["stopped"])
        self.assertTrue(clients[0].call("run.status", run=4)["alive"])


class StrangersTest(GangTest):
    def test_two_gangs_on_one_host_do_not_hear_each_other(self):
        gangs = []
        for _ in range(2):
            self.gang, self.key = os.urandom(8).hex(), os.urandom(32).hex()
            pids = [self.start(node) for node in (0, 1)]
            self.lined(1)
            self.assertEqual(len(set(pids)), 2)
            gangs.append((self.gang, [self.attach(0), self.attach(1)]))
        port = free_port()
        for number in (1, 0):
            self.gang, clients = gangs[number]
            for node in (0, 1):
                self.run_on(clients[node], node, 4, port, "exec sleep 1000" if number or not node else "exit 5")
        self.exit_of(gangs[0][1][0], 4)
        spared = gangs[1][1][0].call("run.status", run=4)
        self.assertTrue(spared["alive"])

    def test_a_wrong_key_is_refused_and_a_new_key_heals(self):
        self.start(0)
        self.start(1, peers={"key": os.urandom(32).hex(), "node0": "same-host"})
        until(lambda: self.control("status", node=1)["peers"].get("problem") == "another key", LONG, "refusal")
        self.assertEqual(self.control("status", node=0)["peers"]["nodes"], [])
        self.assertTrue(self.control("peers", node=1, key=self.key)["ok"])
        self.lined(1)
        self.assertEqual(self.control("status", node=0)["peers"]["nodes"], [1])

    def test_bad_parts_are_refused_and_the_key_is_shown_nowhere(self):
        self.start(0)
        self.start(1)
        self.lined(1)
        for params in ({"key": "short"}, {"key": 7}, {"node0": "elsewhere"}, {"node0": {"host": "x", "port": 0}},
                       {"listen": {"host": 3, "port": 1}}):
            self.assertEqual(self.control("peers", node=1, **params)["code"], "bad-request", params)
        self.lined(1)
        shown = json.dumps([self.control("status", node=node) for node in (0, 1)]) + json.dumps(self.listed())
        for root, _, names in os.walk(self.base):
            for name in names:
                path = os.path.join(root, name)
                if os.path.isfile(path):
                    with open(path, errors="replace") as file:
                        shown += file.read()
        self.assertNotIn(self.key, shown)
        pids = self.agent_pids()
        self.assertEqual(len(pids), 2)
        for pid in pids:
            for name in ("cmdline", "environ"):
                with open("/proc/%d/%s" % (pid, name), errors="replace") as file:
                    self.assertNotIn(self.key, file.read())

    def test_over_tcp_with_the_addresses_told_later_and_floods_at_the_port(self):
        self.start(0, peers={"key": self.key})
        self.start(1, peers={"key": self.key})
        port = self.attach(0).call("peers", listen={"host": "127.0.0.1", "port": 0})["port"]
        flood = []
        for number in range(100):
            sock = socket.create_connection(("127.0.0.1", port))
            flood.append(sock)
            try:
                sock.sendall((b"GET / HTTP/1.0\r\n\r\n", os.urandom(50000), b'{"do":"status"}\n', b"")[number % 4])
            except OSError:
                pass
        self.assertEqual(self.attach(1).call("peers", node0={"host": "localhost", "port": port}), {"port": None})
        self.lined(1)
        for sock in flood:          # a reset, too
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
        client = self.attach(0)
        self.assertEqual(client.run("echo fine")[0], b"fine\n")
        self.assertEqual(client.call("status")["peers"]["nodes"], [1])

    def test_a_line_on_the_agents_socket_that_is_no_peer(self):
        """Node 0's socket takes both; floods there harm neither."""
        self.start(0, peers=None)
        name = hashlib.sha256(("%s/0" % self.gang).encode()).hexdigest()[:12]
        path = os.path.join(self.agents, "gpush-%d" % os.getuid(), name, "agent.sock")
        hello = b'{"do":"peer","version":1,"node":1,"nonce":"' + b"ab" * 16 + b'"}\n'
        for _ in range(50):
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(LONG)
                sock.connect(path)
                sock.sendall(hello)
                self.assertIn(b"no-key", sock.recv(1000))
        self.assertTrue(self.control("status", node=0)["ok"])


if __name__ == "__main__":
    unittest.main()
