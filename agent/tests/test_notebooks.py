"""A notebook is a run that does not keep its node by being there: only what it computes does."""
import os
import sys
import unittest

from client import until
from gpush_agent.runs import rundir
from node import alive, command
from run import slow
from test_life import LifeTest


@slow
class NotebookTest(LifeTest):
    """Short, and for real."""

    LEASE = {"hard_s": None, "idle_s": 600, "unclaimed_s": 600}

    def begin(self, text, **more):
        """A notebook on a node of its own, whose gateway is gone; the agent's process id."""
        client = self.client(lease=self.LEASE)
        os.makedirs(os.path.join(self.base, "ws"), exist_ok=True)
        spec = dict(command(os.path.join(self.base, "ws"), text), kind="notebook", **more)
        client.call("run.start", run=1, spec=spec)
        return client

    def folder(self):
        return rundir.folder_of(self.config()["state"], 1)

    def test_one_that_waits_lets_go_and_ends_with_its_node(self):
        client = self.begin("sleep 1000")
        pid = client.welcome["pid"]
        self.assertEqual(self.control("status")["runs"], [1])
        self.assertEqual(rundir.programs(self.config()["state"]), [])
        client.call("renew", idle_s=1.5)
        client.cut()
        until(lambda: not alive(pid), what="end of the lease")
        until(lambda: not rundir.is_alive(self.folder()), what="end of the notebook")

    def test_one_that_computes_keeps_the_node_as_long_as_it_does(self):
        go, path = os.path.join(self.base, "go"), os.path.join(self.base, "kernel.py")
        with open(path, "w") as file:
            file.write("import os\nwhile not os.path.exists(%r):\n    sum(range(10000))\nos.execvp('sleep', ['sleep', '1000'])\n" % go)
        client = self.begin("exec %s %s" % (sys.executable, path))
        pid = client.welcome["pid"]
        client.call("renew", idle_s=4)
        client.cut()
        # On a busy machine it gets less than a quarter of a core, and waits for the rest.
        program = os.path.basename(sys.executable) + " kernel.py"
        because = (program + " uses CPU", program + " waits for CPU")
        until(lambda: self.control("status")["idle_because"] in because, what="the kernel is seen")
        now = os.times().elapsed
        until(lambda: os.times().elapsed > now + 8, what="twice the idle time")
        status = self.control("status")
        self.assertIn(status["idle_because"], because)
        self.assertTrue(status["busy"])
        with open(go, "w"):
            pass
        until(lambda: not alive(pid), what="end of the lease")

    def test_a_program_keeps_the_node(self):
        client = self.begin("sleep 1000")
        client.call("run.start", run=2, spec=dict(command(os.path.join(self.base, "ws"), "sleep 1000"), slots=["1"],
                                                  master={"addr": "127.0.0.1", "port": 29501}))
        self.assertEqual(rundir.programs(self.config()["state"]), [2])
        self.assertEqual(self.control("status")["idle_because"], "run 2")

    def test_supervisors_of_notebooks_are_known_to_an_agent_that_did_not_start_them(self):
        self.begin("sleep 1000")
        lock = rundir.read(self.folder(), "lock")
        until(lambda: rundir.notebooks(self.config()["state"]) == [rundir.read(self.folder(), "lock").get("pid")],
              what="the supervisor is known")
        self.assertEqual(lock["kind"], "notebook")

    def test_other_kinds_are_refused(self):
        answer = self.client().call("run.start", run=1, spec=dict(command(self.base, "true"), kind="banquet"))
        self.assertEqual((answer["code"], answer["facts"]), ("bad-request", {"field": "kind"}))


if __name__ == "__main__":
    unittest.main()
