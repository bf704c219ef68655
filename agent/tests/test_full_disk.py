"""A run whose node has no room left, on a real small disk where one can be mounted."""
import os
import subprocess
import unittest

import test_supervisor as base
from gpush_agent.runs import rundir


class FullDiskTest(base.RunTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.state)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.state], stderr=subprocess.PIPE)
        if done.returncode:
            super().tearDown()
            self.skipTest("cannot mount a small disk: %s" % done.stderr.decode().strip())

    def tearDown(self):
        self.supervisors, pids = [], self.supervisors
        for pid in pids:
            os.waitpid(pid, 0)
        subprocess.call(["umount", self.state], stderr=subprocess.DEVNULL)
        super().tearDown()

    def test_full_disk_neither_stops_the_run_nor_loses_its_status(self):
        self.script("sys.stdout.write('x' * 5000000)\nsys.stdout.flush()\nopen(os.path.join(os.environ['HERE'], 'through'), "
                    "'w').close()\nsys.exit(5)\n")
        run = self.start(self.spec(procs=1, world=1, slots=["0"], env={"HERE": self.cwd}))
        output = self.follow(run).finish()
        self.assertTrue(os.path.exists(os.path.join(self.cwd, "through")))
        self.assertEqual(self.status(run)["exit"]["exit"], 5)
        self.assertGreater(len(output.of(0)), 500000)
        self.assertEqual(output.of(0).strip(b"x"), b"")
        self.assertEqual(self.refused(self.spec(outputs=os.path.join(self.state, "o"))).code, "no-space")
        self.assertEqual(rundir.numbers(self.state), [run])
        self.supervisors, pids = [], self.supervisors
        for pid in pids:
            os.waitpid(pid, 0)
        self.assertEqual(subprocess.call(["umount", self.state]), 0, "something is still open on the disk")


if __name__ == "__main__":
    unittest.main()
