"""A run whose node has no room left, on a real small disk where one can be mounted, or whose disk refuses some files."""
import contextlib
import os
import resource
import subprocess
import unittest

import test_supervisor as base
from gpush_agent.core.refused import Refused
from gpush_agent.runs import failures, rundir, supervisor


@contextlib.contextmanager
def limited(what, number):
    """This process has no more than that of it."""
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


class FullDiskTest(base.RunTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.state)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.state], stderr=subprocess.PIPE)
        if done.returncode:
            super().tearDown()
            self.skipTest("cannot mount a small disk: %s" % done.stderr.decode().strip())

    def tearDown(self):
        self.end_supervisors()
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
        self.unmount()

    def test_full_disk_does_not_keep_a_run_from_being_stopped(self):
        self.script("signal.signal(signal.SIGINT, lambda number, frame: open('asked', 'w').close())\n"
                    "with open(os.environ['FULL'], 'wb', 0) as file:\n"
                    "    for size in (4096, 1):\n"
                    "        try:\n            while True:\n                file.write(b'x' * size)\n"
                    "        except OSError:\n            pass\n"
                    "open('full', 'w').close()\nwhile True:\n    time.sleep(1)\n")
        run = self.start(self.spec(procs=1, world=1, slots=["0"], env={"FULL": os.path.join(self.state, "full")}))
        base.until(lambda: os.path.exists(os.path.join(self.cwd, "full")), what="the full disk")
        self.stop(run, grace=1000)
        base.until(lambda: os.path.exists(os.path.join(self.cwd, "asked")), what="the signal")
        self.stop(run, "KILL")
        self.follow(run).finish()
        ended = self.status(run)["exit"]
        self.assertEqual((ended["stopped"], ended["signal"]), (True, 9))
        self.unmount()

    def unmount(self):
        self.supervisors, pids = [], self.supervisors
        for pid in pids:
            os.waitpid(pid, 0)
        self.assertEqual(subprocess.call(["umount", self.state]), 0, "something is still open on the disk")


class RefusedTest(base.RunTest):
    """A folder in the place of a file is refused as by a quota or a lost file server, also where room was reserved."""

    def in_place_of(self, run, name):
        path = os.path.join(rundir.folder_of(self.state, run), name)
        if os.path.exists(path):
            os.unlink(path)
        os.mkdir(path)
        return path

    def starting(self, exit=5, **numbers):
        """A run whose ranks wait for the file `go`."""
        for name, value in numbers.items():
            self.addCleanup(setattr, supervisor, name, getattr(supervisor, name))
            setattr(supervisor, name, value)
        self.script("while not os.path.exists('go'):\n    time.sleep(0.01)\nsys.exit(%d)\n" % exit)
        run = self.start(self.spec(procs=1, world=1, slots=["0"]))
        base.until(lambda: rundir.read(rundir.folder_of(self.state, run), "lock").get("ranks"), what="the rank")
        return run

    def go(self):
        open(os.path.join(self.cwd, "go"), "w").close()

    def test_a_result_that_is_refused_for_a_moment_is_written_later(self):
        run = self.starting(RESULT_PAUSE=0.02)
        refusing = self.in_place_of(run, "exit.json.new")
        output = self.follow(run)
        self.go()
        base.until(lambda: output.events("ended"), what="the record of the end")
        self.stop(run)
        os.rmdir(refusing)
        self.assertEqual(output.finish().events()[-1]["event"], "ended")
        self.assertEqual(self.status(run)["exit"]["exit"], 5)

    def test_a_result_that_is_refused_for_good_does_not_keep_the_node(self):
        run = self.starting(RESULT_PAUSE=0.02, RESULT_SECONDS=0.1)
        refusing = self.in_place_of(run, "exit.json.new")
        self.go()
        self.follow(run).finish()
        status = self.status(run)
        self.assertEqual((status["alive"], status["exit"]["exit"], status["exit"]["first"]["rank"]), (False, 5, 0))
        self.assertIsNotNone(failures.fate(self.state, run)[1])
        os.rmdir(refusing)
        self.assertEqual(self.status(run)["exit"], status["exit"])
        self.assertTrue(rundir.has_ended(rundir.folder_of(self.state, run)))

    def test_an_agent_that_has_no_descriptor_left_takes_no_run_for_lost(self):
        run = self.starting()
        with limited(resource.RLIMIT_NOFILE, 3):
            status = self.status(run)
            with self.assertRaises(Refused) as refused:
                self.stop(run)
        self.assertEqual((status["alive"], status["exit"], refused.exception.code), (True, None, "limit"))
        self.go()
        self.follow(run).finish()
        self.assertEqual(self.status(run)["exit"]["signal"], None)

    def test_a_result_that_is_taken_in_part_is_refused(self):
        rundir.reserve(self.cwd)
        with limited(resource.RLIMIT_FSIZE, 100), self.assertRaises(OSError):
            rundir.write_exit(self.cwd, rundir.LOST)
        self.assertFalse(rundir.has_ended(self.cwd))

    def test_a_good_result_that_is_refused_is_no_failure_to_the_other_nodes(self):
        run = self.starting(0, RESULT_PAUSE=0.02, RESULT_SECONDS=0.1)
        self.in_place_of(run, "exit.json.new")
        self.go()
        self.follow(run).finish()
        self.assertEqual(failures.fate(self.state, run), (True, None))

    def test_a_stop_that_a_broken_disk_refuses_ends_the_ranks(self):
        for word in ("INT", "KILL"):
            self.script("print('ready', flush=True)\nwhile True:\n    time.sleep(1)\n")
            run = self.start(self.spec(procs=1, world=1, slots=["0"]))
            output = self.follow(run)
            base.until(lambda: b"ready" in output.of(0), what="the rank")
            for name in ("stop.json.new", "stop.json"):
                self.in_place_of(run, name)
            self.stop(run, word)
            output.finish()
            ended = self.status(run)["exit"]
            self.assertEqual((ended["stopped"], ended["signal"]), (True, 9 if word == "KILL" else 15))

    def test_a_full_disk_that_refuses_a_stop_gives_the_grace_of_the_run_once(self):
        self.agent.config["taken_s"] = 1000     # without stop.json it must not look like the end of a Slurm job
        self.script("def asked(*_):\n    print('asked', flush=True)\nsignal.signal(signal.SIGTERM, asked)\n"
                    "print('ready', flush=True)\nwhile True:\n    signal.pause()\n")
        run = self.start(self.spec(procs=1, world=1, slots=["0"], stop_grace_s=1000))
        output = self.follow(run)
        base.until(lambda: b"ready" in output.of(0), what="the rank")
        self.in_place_of(run, "stop.json")
        reserved = os.path.join(rundir.folder_of(self.state, run), "stop.json.new")
        os.unlink(reserved)
        os.symlink("/dev/full", reserved)
        for _ in range(2):
            self.stop(run, "TERM", grace=0)
            base.until(lambda: b"asked" in output.of(0), what="the signal")
        self.stop(run, "KILL")
        output.finish()
        ended = self.status(run)["exit"]
        self.assertEqual((ended["stopped"], ended["signal"]), (True, 9))
        self.assertEqual(output.of(0), b"ready\nasked\n")
        self.assertEqual([event["grace_s"] for event in output.events("stopping")], [1000, 1000])


if __name__ == "__main__":
    unittest.main()
