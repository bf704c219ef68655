"""The end of a gang whose agents talk to each other, in real seconds. Beside test_peers, so that they wait side by side."""
import os
import signal
import unittest

from client import free_port, until
from node import alive
from run import slow
from test_peers import LONG, GangTest

IDLE = 4        # of a gang that shall end; its agents must hear each other, and its run begin, within this


@slow
class IdleTest(GangTest):
    LEASE = {"hard_s": 600, "idle_s": IDLE, "unclaimed_s": 120}

    def test_the_node_that_works_keeps_the_other_one(self):
        """Two gangs side by side: in one node 1 works, in the other node 0."""
        gangs, pids = [], []
        for worker, because in ((1, "run 3 on node 1"), (0, "run 3")):
            self.gang = "%d%s" % (worker, os.urandom(8).hex())
            pids += [self.start(node, lease=self.LEASE) for node in (0, 1)]
            self.lined(1)
            client = self.attach(worker)
            self.run_on(client, worker, 3, free_port(), "while [ ! -e stop ] && kill -0 %d; do sleep 0.1; done" % os.getpid())
            client.cut()                            # nobody looks on: no gateway, no link
            gangs.append((self.gang, worker, because))
        for self.gang, worker, because in gangs:
            until(lambda: self.control("status", node=1 - worker)["idle_because"] == because, LONG, because)
            first = self.control("status", node=1 - worker)["hard_left_s"]
            until(lambda: self.control("status", node=1 - worker)["hard_left_s"] < first - IDLE - 1, LONG, "an idle time")
            status = self.control("status", node=1 - worker)
            self.assertEqual(status["idle_because"], because)
            self.assertGreater(status["idle_left_s"], 0)
        for self.gang, worker, _ in gangs:
            with open(os.path.join(self.path(worker), "stop"), "w"):
                pass
        for pid in pids:
            self.gone(pid)
        self.assertEqual(os.listdir(self.agents), [])

    def test_node_0_killed_ends_the_others_only_when_their_run_is_over(self):
        pids = [self.start(node, nodes=3, lease=self.LEASE) for node in (0, 1, 2)]
        self.lined(1, 2)
        client = self.attach(1)
        self.run_on(client, 1, 3, free_port(), "while [ ! -e stop ] && kill -0 %d; do sleep 0.1; done" % os.getpid())
        until(lambda: self.control("status", node=2)["idle_because"] == "run 3 on node 1", LONG, "word")
        os.kill(pids[0], signal.SIGKILL)
        self.gone(pids[2])                          # idle, and nobody to ask
        status = self.control("status", node=1)
        self.assertEqual((status["peers"]["line"], status["idle_because"]), ("down", "run 3"))
        with open(os.path.join(self.path(1), "stop"), "w"):
            pass
        self.gone(pids[1])

    def test_an_agent_without_peers_judges_alone(self):
        quiet = self.start(1, peers=None)
        node0 = self.start(0)
        self.assertEqual(self.control("status", node=1)["peers"], {"line": "none"})
        self.attach(1).call("renew", hard_s=600, idle_s=0.5)
        self.gone(quiet)
        self.assertTrue(alive(node0))

    def test_extending_node_0_extends_all_at_once(self):
        for node in (0, 1):
            self.start(node)
        self.lined(1)
        self.attach(0)
        self.assertTrue(self.control("renew", node=0, hard_s=5000, idle_s=4000)["ok"])
        until(lambda: self.control("status", node=1)["hard_left_s"] > 4000, LONG, "the new end")
        self.assertGreater(self.control("status", node=1)["idle_left_s"], 3000)


if __name__ == "__main__":
    unittest.main()
