"""A node in a test: a folder of its own, agents started in it, and the certainty that all of them are gone afterwards."""
import json
import os
import shutil
import signal
import tempfile
import unittest
import uuid

from client import Client, after_preamble, spawn, until
from gpush_agent.core import processes


class NodeTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gpa")
        os.chmod(self.base, 0o700)
        self.agents = os.path.join(self.base, "a")
        os.mkdir(self.agents, 0o700)
        self.gang = uuid.uuid4().hex
        self.clients = []
        self.foreign = []

    def config(self, **more):
        config = {"owner": "me", "holder": "me@here", "nodes": 1, "name": "devbox", "folder": [self.agents],
                  "workspace": os.path.join(self.base, "ws"), "state": os.path.join(self.base, "ws.gpush"),
                  "env": {"PATH": os.environ["PATH"], "HOME": self.base, "LANG": "C.UTF-8"},
                  "lease": {"hard_s": 600, "idle_s": 300, "unclaimed_s": 120}, "request": {"gpus": 0}}
        config.update(more)
        return config

    def header(self, mode="start", node=0, control=None, **more):
        return {"mode": mode, "gang": self.gang, "node": node, "start": self.config(**more), "control": control or {}}

    def client(self, mode="start", client=None, **more):
        client = client or Client()
        self.clients.append(client)
        options = {name: more.pop(name) for name in ("env", "extra", "interpreters") if name in more and name != "env"}
        return client.connect(spawn(self.header(mode, **more), **options))

    def control(self, do, node=0, **params):
        out, code, error = after_preamble(spawn(self.header("control", node=node, control=dict(params, do=do))))
        return json.loads(out.decode()) if code == 0 else (code, json.loads(error))

    def listed(self):
        out, code, _ = after_preamble(spawn(self.header("list")))
        return json.loads(out.decode())

    def agent_pids(self, key="pid"):
        """From the folders, so that an agent that nobody can reach any more is found too. Its guard's, with another key."""
        found = []
        for root, _, names in os.walk(self.agents):
            if "agent.json" in names:
                try:
                    with open(os.path.join(root, "agent.json")) as file:
                        found.append(json.load(file)[key])
                except (OSError, ValueError):
                    pass
        return found

    def tearDown(self):
        for client in self.clients:
            client.end()
        guards = {pid for pid in self.agent_pids("guard") if pid is not None}
        pids = set(self.agent_pids()) | set(self.foreign) | guards
        for pid in pids:
            tree = processes.descendants(pid) + [pid]
            processes.kill(tree, signal.SIGKILL)
            until(lambda: not any(alive(other) for other in tree), what="end of %s" % tree)
        shutil.rmtree(self.base, ignore_errors=True)


def command(cwd, text):
    """The specification of a run of one shell command."""
    return {"mode": "command", "argv": ["sh", "-c", text], "cwd": cwd, "outputs": os.path.join(cwd, "outputs"), "env": {}, "nodes": 1,
            "node_rank": 0, "procs": 1, "first_rank": 0, "world": 1, "master": {"addr": "127.0.0.1", "port": 29500}, "slots": ["0"]}


def alive(pid):
    stat = processes.read_stat(pid)
    return stat is not None and stat[2] != b"Z"
