"""torchrun, the real one, when the torch rig is up."""
import os
import tempfile
import subprocess
import sys
import unittest

from run import slow
import test_supervisor as base
from client import free_port
from gpush_agent.runs import journal, ranks

RIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "test", "rigs", "torch")
EXAMPLE = os.path.join(os.path.dirname(RIG), "..", "..", "..", "examples", "ddp", "train.py")
MUST = bool({"all", "torch"} & set(os.environ.get("GPUSH_REQUIRE_RIGS", "").split()))


def torch_python():
    done = subprocess.run([RIG, "up" if MUST else "status"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode().strip(), done.stderr.decode().strip()


PYTHON, PROBLEM = torch_python()


@slow
@unittest.skipUnless(PYTHON or MUST, PROBLEM)
class TorchrunTest(base.RunTest):
    def setUp(self):
        self.assertTrue(PYTHON, PROBLEM)
        super().setUp()

    def torchrun(self, **more):
        return self.start(self.spec("torchrun", python=PYTHON, defaults={"OMP_NUM_THREADS": "1"}, **more))

    def test_trains_and_each_rank_has_its_own_output(self):
        run = self.torchrun(program=[EXAMPLE, "--steps", "3"])
        output = self.follow(run).finish()
        said = output.of(journal.LAUNCHER, journal.ERR).decode()
        self.assertEqual(self.status(run)["exit"]["exit"], 0, said + output.of(0, journal.ERR).decode())
        self.assertIn("step 3 loss", output.of(0).decode())
        for rank in (0, 1):
            self.assertIn("rank %d of 2" % rank, output.of(rank).decode())
        self.assertEqual(said, "")
        self.assertEqual(sorted(value["rank"] for value in output.events("rank-exit")), [0, 1])

    def test_two_nodes_meet(self):
        self.script("import torch.distributed as d\nd.init_process_group('gloo')\n"
                    "print(rank, d.get_world_size(), os.environ['LOCAL_RANK'], os.environ['NODE_RANK'])\n"
                    "d.barrier()\nd.destroy_process_group()\n")
        master = {"addr": "127.0.0.1", "port": free_port()}
        runs = [self.torchrun(nodes=2, node_rank=node, procs=1, first_rank=node, world=2, master=master, slots=[str(node)])
                for node in (0, 1)]
        for node, run in enumerate(runs):
            said = self.follow(run).finish().of(node).decode().splitlines()
            self.assertEqual(said[-1], "%d 2 0 %d" % (node, node))      # gloo says something, too

    def test_a_store_that_is_gone_when_all_has_ended_well_is_not_reported(self):
        with open(os.path.join(self.cwd, "sitecustomize.py"), "w") as file:
            file.write("import os, sys\nif 'torch.distributed.run' in sys.orig_argv:\n"
                       "    from torch.distributed.elastic.utils import store\n"
                       "    def barrier(*_, **__):\n        open('asked', 'w').close()\n        raise RuntimeError('gone')\n"
                       "    store.barrier = barrier\n")
        self.script("print('done')\nsys.exit(rank if os.path.exists('fail') else 0)\n")
        run = self.torchrun(env={"PYTHONPATH": self.cwd})
        output = self.follow(run).finish()
        self.assertEqual(self.status(run)["exit"]["exit"], 0)
        self.assertEqual(output.of(journal.LAUNCHER, journal.ERR), b"")
        self.assertEqual(output.of(1), b"done\n")
        self.assertTrue(os.path.exists(os.path.join(self.cwd, "asked")))
        open(os.path.join(self.cwd, "fail"), "w").close()
        run = self.torchrun(env={"PYTHONPATH": self.cwd})
        self.assertIn(b"ChildFailedError", self.follow(run).finish().of(journal.LAUNCHER, journal.ERR))

    def test_exit_code_is_the_failing_rank_s_own(self):
        self.script("if rank == 1:\n    print('bad', file=sys.stderr)\n    sys.exit(7)\ntime.sleep(1000)\n")
        run = self.torchrun()
        output = self.follow(run).finish()
        ended = self.status(run)["exit"]
        self.assertEqual((ended["exit"], ended["first"]["rank"]), (7, 1))
        self.assertEqual(output.of(1, journal.ERR), b"bad\n")
        self.assertIn(b"Root Cause", output.of(journal.LAUNCHER, journal.ERR))

    def test_signal_of_a_rank(self):
        self.script("if rank == 0:\n    os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(1000)\n")
        run = self.torchrun()
        self.follow(run).finish()
        ended = self.status(run)["exit"]
        self.assertEqual((ended["exit"], ended["signal"], ended["first"]["rank"]), (None, 9, 0))

    def test_stop_ends_all_ranks(self):
        self.script("with open('pid%d' % rank, 'w') as file:\n    file.write('%d\\n' % os.getpid())\ntime.sleep(1000)\n")
        run = self.torchrun()
        pids = self.pids(run, "pid0") + self.pids(run, "pid1")
        self.stop(run)
        self.follow(run).finish()
        self.assertEqual((self.status(run)["exit"]["signal"], self.status(run)["exit"]["stopped"]), (2, True))
        self.assertFalse(any(base.alive(pid) for pid in pids))

    def test_killed_supervisor_leaves_nothing(self):
        self.script("with open('pid%d' % rank, 'w') as file:\n    file.write('%d\\n' % os.getpid())\n"
                    "while True:\n    time.sleep(1000)\n")
        run = self.torchrun()
        pids = self.pids(run, "pid0") + self.pids(run, "pid1")
        os.kill(self.supervisors[-1], 9)
        # The kernel kills torchrun; its ranks are found by their mark as soon as somebody asks for the run.
        self.assertTrue(base.until(lambda: self.status(run)["exit"])["lost"])
        base.until(lambda: not any(base.alive(pid) for pid in pids))


class MpiTest(unittest.TestCase):
    """What mpirun of Open MPI 4 and 5 and of MPICH said."""

    def test_which_rank_failed_first(self):
        for text, rank in ((b"""\
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[18616,1],3]
  Exit code:    5
""", 3), (b"mpirun noticed that process rank 13 with PID 10478 on node 127.0.0.2 exited on signal 11 (Segmentation fault).", 13),
                           (b"MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\n  Proc: [[39848,1],3]\n  Errorcode: 1", 0),
                           (b"Abort(1) on node 3 (rank 3 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3", 3),
                           (b"=   PID 10647 RUNNING AT 127.0.0.2\n=   EXIT CODE: 9", None), (b"", None)):
            self.assertEqual(ranks.mpi_rank(text, "/absent"), rank, text)

    def test_what_was_noted_counts(self):
        with tempfile.TemporaryDirectory() as tmp:
            os.mkdir(os.path.join(tmp, "0"))
            with open(os.path.join(tmp, "0", "failed-rank"), "w") as file:
                file.write("3")
            self.assertEqual(ranks.mpi_rank(b"MPI_ABORT was invoked on rank 0 in", tmp), 3)


class ReportTest(unittest.TestCase):
    REPORT = (b"E1121 08:00:00 123 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 3) local_rank: 1 "
              b"(pid: 9) of binary: /bin/sh\nTraceback ...\n"
              b"------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
              b"  time      : 2026-11-21_08:00:00\n  host      : vm\n  rank      : 5 (local_rank: 1)\n"
              b"  exitcode  : -9 (pid: 9)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 9\n"
              b"============================================================\n")

    def test_reads_the_root_cause(self):
        self.assertEqual(ranks.torch_failure(self.REPORT), (1, "signal", 9))

    def test_reads_the_log_line_when_the_report_is_cut(self):
        self.assertEqual(ranks.torch_failure(self.REPORT[:200]), (1, "exit", 3))

    def test_says_nothing_of_other_text(self):
        for text in (b"", b"exitcode  : 3", b"Root Cause (first observed failure):\n[0]:\n"):
            self.assertIsNone(ranks.torch_failure(text))


if __name__ == "__main__":
    print(PYTHON or PROBLEM, file=sys.stderr)
    unittest.main()
