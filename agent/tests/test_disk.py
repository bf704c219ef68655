"""A disk that hangs below the runs of a node: what asks for it waits, and nothing else."""
import fcntl
import os
import shutil
import signal
import tempfile
import threading
import time
import types
import unittest

from client import text, until
from gpush_agent.core import filelock
from gpush_agent.runs import failures, rundir
from gpush_agent.runs.claims import Claims
from node import NodeTest, command


class DiskTest(NodeTest):
    def hanging(self, path):
        """A file that nobody can read from before the function that this returns was called."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkfifo(path)
        os.link(path, path + ".end")

        def goes_on(content):
            with open(path + ".new", "w") as file:
                file.write(content)
            os.rename(path + ".new", path)
            fd = os.open(path + ".end", os.O_RDWR)
            os.write(fd, content.encode())
            os.close(fd)
        return goes_on

    def test_calls_about_runs_keep_no_stream_waiting(self):
        state, gate = os.path.join(self.base, "ws.gpush"), os.path.join(self.base, "gate")
        spec_goes_on, claims_go_on = self.hanging(os.path.join(state, "runs", "1", "spec.json")), self.hanging(gate)
        with open(os.path.join(state, "runs", "1", "exit.json"), "w") as file:
            file.write('{"exit": 0}')
        claims = text("runs/claims.py").replace("        if again and", "        open(%r).close()\n        if again and" % gate)
        client = self.client(extra={"runs/claims": claims})
        asked = [client.open({"type": "call", "method": "run." + method, "params": params}) for method, params in (
            ("list", {}), ("status", {"run": 1}), ("stop", {"run": 1, "why": "node 1 failed"}),
            ("start", {"run": 2, "spec": command(self.base, "true")}))]

        echo = client.exec(argv=["cat"]).accepted()
        echo.send(b"still here")
        echo.wait_for(b"still here")
        self.assertEqual([stream.opened or stream.refused for stream in asked], [None] * 4)

        spec_goes_on('{"cwd": "/"}')
        claims_go_on("")
        for stream in asked:
            stream.finish()
            self.assertIsNone(stream.refused)
        listed, status, stopped, started = [stream.messages[0]["result"] for stream in asked]
        self.foreign.append(started["pid"])
        self.assertEqual(([view["run"] for view in listed if view["run"] == 1], status["spec"], stopped), ([1], {"cwd": "/"}, {}))
        until(lambda: client.call("run.status", run=2)["exit"], what="the end of the run")

    def test_a_run_that_is_lost_while_another_claims_keeps_no_stream_waiting(self):
        client = self.client(nodes=2)
        state = os.path.join(self.base, "ws.gpush")
        supervisor = client.call("run.start", run=1, spec=dict(command(self.base, "sleep 1000"), nodes=2))["pid"]
        claims = rundir.claiming(state)
        os.kill(supervisor, signal.SIGKILL)
        until(lambda: rundir.lost(state), what="the end of its supervisor")
        end = time.monotonic() + 4 * failures.LOOK_SECONDS
        looked = 0
        while looked < 5 or time.monotonic() < end:
            self.assertEqual(client.run("echo hi")[0], b"hi\n")
            looked += 1
        self.assertLess(time.monotonic() - end, rundir.CLAIM_SECONDS / 2)
        self.assertFalse(rundir.has_ended(rundir.folder_of(state, 1)))
        os.close(claims)
        until(lambda: rundir.has_ended(rundir.folder_of(state, 1)), what="the end of the run")


class ClaimsTest(unittest.TestCase):
    def test_a_run_that_claims_is_not_called_lost(self):
        state = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, state)
        folder, asked, claiming = rundir.folder_of(state, 1), threading.Event(), rundir.claiming

        def told(state):
            asked.set()
            return claiming(state)
        os.makedirs(folder)
        claims = claiming(state)
        rundir.claiming = told
        self.addCleanup(setattr, rundir, "claiming", claiming)
        cleaning = threading.Thread(target=rundir.clean_lost, args=(state,))
        cleaning.start()
        self.assertTrue(asked.wait(60))
        lock = filelock.take(os.path.join(folder, "lock"), 0)
        os.close(claims)
        cleaning.join()

        self.assertFalse(rundir.has_ended(folder))
        os.close(lock)
        rundir.clean_lost(state)
        self.assertTrue(rundir.read(folder, "exit.json")["lost"])

    def test_a_look_at_the_lock_of_a_new_run_does_not_fail_it(self):
        state, looks = tempfile.mkdtemp(), []
        self.addCleanup(shutil.rmtree, state)

        class LookedAt(Claims):
            def reserve(self):
                looks.append(os.open(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CREAT))
                fcntl.flock(looks[0], fcntl.LOCK_SH)
        self.addCleanup(setattr, filelock, "time", time)
        filelock.time = types.SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: os.close(looks.pop()))
        claims = LookedAt(state, 1, rundir.folder_of(state, 1), command(state, "true"))
        claims.take(None, False)
        self.assertEqual((looks, rundir.is_alive(claims.folder)), ([], True))
        claims.remove()


if __name__ == "__main__":
    unittest.main()
