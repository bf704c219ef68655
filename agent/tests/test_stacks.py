"""Where ranks are in their code, for `gpush why`: with a py-spy that prints what the real one (0.4.3) printed."""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

import client
from gpush_agent.core import processes, programs
from gpush_agent.samples import stacks
from node import NodeTest, command

LIBRARY = "/envs/llm/lib/python3.11/site-packages/torch/"
DENIED = """Permission Denied: Try running again with elevated permissions by going 'sudo env "PATH=$PATH" !!'\n"""
NO_PYTHON = "Error: Failed to find python version from target process\n\nStack backtrace:\n   0: anyhow::error::<impl anyhow::Error>::msg\n"
# A rank is told by its variable; PID is the one that is asked for. What is printed is in a file of the rank, of one call of it in RANK.CALL.
PY_SPY = """#!/bin/sh
cd %s
for pid; do :; done
echo "$@" >> asked
rank=$(tr '\\0' '\\n' < /proc/$pid/environ | sed -n 's/^RANK=//p')
echo >> $rank.asked
call=$rank.$(($(wc -l < $rank.asked)))
[ -e $rank.do ] && . ./$rank.do
[ -e $rank.error ] && { cat $rank.error >&2; exit 1; }
[ -e $call ] || call=$rank
sed "s/PID/$pid/" $call
"""


def frame(name, file, line):
    return {"name": name, "filename": file, "module": None, "short_filename": file, "line": line, "locals": None, "is_entry": False,
            "is_shim_entry": False}


def printed(*frames):
    """As py-spy does; PID is put in where it is asked for."""
    other = {"pid": "PID", "thread_id": 2, "thread_name": "pin", "os_thread_id": 1, "active": True, "owns_gil": False, "frames": []}
    main = dict(other, thread_name="MainThread", os_thread_id="PID", frames=[frame(*each) for each in frames], process_info=None)
    return json.dumps([other, main], indent=2).replace('"PID"', "PID")


class FakeTest(NodeTest):
    def setUp(self):
        super().setUp()
        self.work = os.path.realpath(os.path.join(self.base, "ws"))
        self.bin = os.path.join(self.base, "bin")
        os.makedirs(self.work)
        os.makedirs(self.bin)
        self.put("py-spy", PY_SPY % self.bin)
        os.chmod(os.path.join(self.bin, "py-spy"), stat.S_IRWXU)
        self.program = os.path.join(self.bin, "python3")
        os.symlink(os.path.realpath(sys.executable), self.program)

    def put(self, name, text):
        with open(os.path.join(self.bin, name), "w") as file:
            file.write(text)

    def in_all_reduce(self):
        return printed(("all_reduce", LIBRARY + "distributed/distributed_c10d.py", 2931),
                       ("_exception_logger.<locals>.wrapper", LIBRARY + "distributed/c10d_logger.py", 81),
                       ("step", self.work + "/train.py", 9), ("<module>", self.work + "/train.py", 17))

    def in_load_batch(self, line=3):
        return printed(("Event.wait", "/usr/lib/python3.11/threading.py", 629), ("load_batch", self.work + "/data.py", line),
                       ("<module>", self.work + "/train.py", 17))

    def start(self, **variables):
        process = subprocess.Popen([self.program, "-c", "import sys; print(1, flush=True); sys.stdin.read()"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, cwd=self.work, env=dict({"PATH": "/bin:/usr/bin"}, **variables))
        self.addCleanup(process.communicate)
        process.stdout.readline()           # its command line is there
        self.until_it_sleeps(process.pid)
        return process.pid

    @staticmethod
    def until_it_sleeps(pid):
        client.until(lambda: (processes.read_stat(pid) or (0, 0, b""))[2] == b"S", what="a process that sleeps")

    def dump(self, pid, seconds=60.0):
        return stacks.dumps([pid], seconds)[pid]

    def set(self, owner, name, value):
        self.addCleanup(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)

    def blocking(self):
        """A function that does not return before the test is over, as in a file system that hangs."""
        over = threading.Event()
        self.addCleanup(over.set)

        def wait(*_):
            over.wait()
            sys.exit()          # of this thread
        return wait

    def look_by_hand(self, ranks=1):
        """In this process, at ranks that it starts."""
        os.environ["GPUSH_MARK"] = self.gang
        self.addCleanup(os.environ.pop, "GPUSH_MARK")
        for rank in range(ranks):
            self.start(RANK=str(rank), GPUSH_MARK=self.gang, GPUSH_WORKSPACE=self.work)
        return stacks.look({"run": None, "pause_s": 0, "dump_s": 60}, lambda seconds: False)["ranks"]


class DumpTest(FakeTest):
    def test_the_first_thread_counts_and_is_never_stopped(self):
        pid = self.start(RANK="0")
        self.put("0", self.in_load_batch())
        frames, problem = self.dump(pid)
        self.assertIsNone(problem)
        self.assertEqual(frames[:2], [("Event.wait", "/usr/lib/python3.11/threading.py", 629), ("load_batch", self.work + "/data.py", 3)])
        with open(os.path.join(self.bin, "asked")) as file:
            self.assertIn("--nonblocking", file.read())

    def test_why_there_is_no_stack(self):
        pid = self.start(RANK="0")
        for error, code, said in ((DENIED, "denied", DENIED.strip()), (NO_PYTHON, "failed", NO_PYTHON.splitlines()[0]),
                                  ("Error: EPERM: Operation not permitted", "denied", "Error: EPERM: Operation not permitted"),
                                  ("", "failed", "")):
            self.put("0.error", error)
            self.assertEqual(self.dump(pid), (None, {"code": code, "said": said}))
        self.put("0.do", "exec sleep 600")
        self.assertEqual(self.dump(pid, 0.1), (None, {"code": "late", "said": ""}))
        os.unlink(os.path.join(self.bin, "0.do"))
        os.unlink(os.path.join(self.bin, "0.error"))
        for text in ("", "null", "[]", "[1]", "{}", '[{"frames": 1}]', '[{"frames": [{"name": "x"}]}]', printed()):
            self.put("0", text)
            self.assertEqual(self.dump(pid), (None, {"code": "failed", "said": ""}), text)

    def test_one_that_hangs_keeps_no_other_waiting(self):
        self.set(programs, "AT_ONCE", 2)
        os.mkfifo(os.path.join(self.bin, "fifo"))
        self.put("0.do", "cat fifo\n")
        self.put("2.do", "echo > fifo\n")
        pids = [self.start(RANK=str(rank)) for rank in range(3)]
        for rank in range(3):
            self.put(str(rank), self.in_load_batch())
        self.assertEqual([problem for _, problem in stacks.dumps(pids, 60.0).values()], [None, None, None])

    def test_a_file_system_that_hangs_loses_stacks_and_nothing_else(self):
        self.set(stacks, "program", self.blocking())
        self.assertEqual(self.dump(self.start(RANK="0"), 0.1), (None, {"code": "late", "said": ""}))

    def test_output_without_end_is_no_answer(self):
        self.put("0.do", "exec yes\n")
        self.assertEqual(self.dump(self.start(RANK="0")), (None, {"code": "failed", "said": ""}))

    def test_the_first_thread_is_that_of_the_process_else_the_one_with_its_name(self):
        def thread(name, number, line):
            return {"thread_name": name, "os_thread_id": number, "frames": [frame("f", "x.py", line)]}
        for threads, line in (([thread("pin", 8, 1), thread("MainThread", 9, 2), thread(None, 7, 3)], 3),
                              ([thread("pin", 8, 1), thread("MainThread", None, 2)], 2), ([thread("pin", 8, 1)], None)):
            self.assertEqual(stacks.parsed(json.dumps(threads), 7), line and [("f", "x.py", line)])

    def test_a_rank_that_differs_in_one_look_has_moved_and_of_one_that_was_seen_once_it_is_not_known(self):
        for rank, text in (("0", self.in_load_batch()), ("1", self.in_load_batch()), ("1.3", self.in_load_batch(4)), ("2", ""),
                           ("2.2", self.in_load_batch())):
            self.put(rank, text)
        self.assertEqual([(rank["moved"], rank["frames"][1]["line"], rank["problem"]) for rank in self.look_by_hand(3)],
                         [(False, 3, None), (True, 3, None), (None, 3, None)])

    def test_a_rank_is_where_it_was_most_often_and_all_its_spots_are_listed_if_they_differ(self):
        self.put("0", self.in_all_reduce())
        self.put("0.4", self.in_load_batch())
        rank, = self.look_by_hand()
        self.assertEqual((rank["moved"], rank["frames"][0]["name"]), (True, "all_reduce"))
        self.assertEqual([[frame["name"] for frame in spot] for spot in rank["spots"]],
                         [["all_reduce", "_exception_logger.<locals>.wrapper", "step"]] * 3 + [["Event.wait", "load_batch"]])

    def test_a_spot_without_own_code_is_the_whole_stack(self):
        def stack(*names):
            return [{"name": name, "file": "torch/x.py", "line": line, "own": False} for line, name in enumerate(names)]
        for looks, at in (((stack("wait", "all_reduce"), stack("backward", "step")), 1), ((stack("wait", "all_reduce"),) * 2, 1),
                          ((stack("wait", "step"), stack("wait", "main"), stack("wait", "step")), 2)):
            spots = list(looks) if looks[0] != looks[1] else []
            self.assertEqual(stacks.usual(list(looks)), (looks[at], spots))

    def test_where_the_code_lies_in_a_file_system_that_hangs_the_kernel_still_tells(self):
        self.put("0", self.in_load_batch())
        self.set(stacks, "FILES_SHARE", 0.002)
        self.set(stacks, "place_of", self.blocking())
        rank, = self.look_by_hand()
        self.assertEqual((rank["state"], rank["frames"], rank["problem"]["code"]), ("S", None, "late"))
        self.assertIsNotNone(rank["cpu"])

    def test_without_a_program_there_is_none(self):
        pid = self.start(RANK="0")
        os.unlink(os.path.join(self.bin, "py-spy"))
        if shutil.which("py-spy"):
            self.skipTest("this machine has one on PATH")
        self.assertEqual(self.dump(pid), (None, {"code": "none", "said": ""}))

    def test_it_is_found_beside_the_python_of_the_rank_or_on_its_path(self):
        other = os.path.join(self.base, "other")
        os.makedirs(other)
        beside = self.start()
        self.assertEqual(stacks.program(beside), os.path.join(self.bin, "py-spy"))
        os.rename(os.path.join(self.bin, "py-spy"), os.path.join(other, "py-spy"))
        pid = self.start(PATH="bin:" + other)
        self.assertEqual(stacks.program(pid), os.path.join(other, "py-spy"))
        self.set(os, "geteuid", lambda: 1 << 20)
        self.assertEqual(stacks.program(pid), shutil.which("py-spy"))      # not that of another user

    def test_frames_of_the_user_are_those_of_the_workspace_else_of_no_library(self):
        frames = [("wait", "/usr/lib/python3.11/threading.py", 1), ("go", "/elsewhere/x.py", 2), ("<module>", self.work + "/train.py", 3)]
        place = stacks.place_of(self.start(), {"workspace": self.work})
        self.assertEqual([(each["file"], each["own"]) for each in stacks.shown(frames, place)],
                         [("threading.py", False), ("/elsewhere/x.py", False), ("train.py", True)])
        self.assertEqual([(each["file"], each["own"]) for each in stacks.shown(frames[:2], place)],
                         [("threading.py", False), ("/elsewhere/x.py", True)])
        for inner, outer in ((0, 1000), (10, 1000), (1000, 0), (1000, 1000), (1000, 5)):
            found = stacks.shown(frames[:1] * inner + frames[2:] + frames[:1] * outer, place)
            self.assertEqual((len(found), sum(each["own"] for each in found)), (stacks.MAX_FRAMES, 1), (inner, outer))


class AgentTest(FakeTest):
    def spec(self, **more):
        """Three ranks that wait until they are stopped."""
        with open(os.path.join(self.work, "train.py"), "w") as file:
            file.write("import os, threading; print(os.getpid(), file=open(os.environ['RANK'] + '.there', 'w')); threading.Event().wait()\n")
        return dict(command(self.work, ""), mode="ranks", argv=None, python=self.program, program=["train.py"], procs=3, world=3,
                    slots=["0", "1", "2"], **more)

    def ask(self, connected, **args):
        stream = connected.exec(builtin="stacks", args=dict({"pause_s": 0, "dump_s": 60}, **args), stdin=False,
                                kill_on_close=True).accepted()
        stream.finish()
        return json.loads(bytes(stream.out[0]).decode())

    def test_a_rank_that_is_elsewhere_and_one_that_moves(self):
        connected = self.client()
        connected.call("run.start", run=7, spec=self.spec())
        self.put("0", self.in_all_reduce())
        self.put("1", self.in_load_batch())
        self.put("2", self.in_load_batch())
        self.put("2.3", self.in_load_batch(4))
        marks = [os.path.join(self.work, "%d.there" % rank) for rank in range(3)]
        client.until(lambda: all(os.path.exists(mark) and os.path.getsize(mark) for mark in marks), what="the ranks")
        for mark in marks:
            with open(mark) as file:
                self.until_it_sleeps(int(file.read()))
        found = self.ask(connected, run=7, workspace=self.work)
        self.assertEqual([(rank["rank"], rank["moved"], rank["problem"]) for rank in found["ranks"]],
                         [(0, False, None), (1, False, None), (2, True, None)])
        self.assertEqual(found["ranks"][0]["frames"][0],
                         {"name": "all_reduce", "file": "torch/distributed/distributed_c10d.py", "line": 2931, "own": False})
        self.assertEqual(found["ranks"][0]["frames"][2], {"name": "step", "file": "train.py", "line": 9, "own": True})
        self.assertEqual(found["ranks"][2]["frames"][1]["line"], 3)
        self.assertEqual(found["ranks"][0]["state"], "S")
        self.assertGreaterEqual(found["quiet_s"], 0)
        self.assertIn("ptrace_scope", found)
        self.assertEqual(self.ask(connected, run=8)["ranks"], [])

    def test_of_a_rank_that_waits_for_its_data_loader_the_processes_of_that_are_looked_at(self):
        # It says its number itself: its variables are there by then.
        loads = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
        script = ("import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', %r], env=dict(os.environ, RANK='10'), "
                  "stdin=subprocess.PIPE).wait()" % loads)
        process = subprocess.Popen([self.program, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.work,
                                   env={"RANK": "9", "PATH": "/bin:/usr/bin"})
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        child = int(process.stdout.readline())
        self.addCleanup(os.kill, child, 9)
        if processes.stat_fields(child) is None or not os.path.exists("/proc/self/task/%d/children" % os.getpid()):
            self.skipTest("this kernel does not list children")
        self.put("10", self.in_load_batch())
        ranks = [{"pid": process.pid, "frames": []}]
        stacks.add_workers(ranks, 60.0, {"workspace": self.work})
        self.assertEqual([(each["pid"], each["frames"][1]["name"]) for each in ranks[0]["workers"]], [(child, "load_batch")])

    def test_it_keeps_no_node_and_ends_with_its_stream(self):
        connected = self.client()
        connected.call("run.start", run=7, spec=self.spec())
        stream = connected.exec(builtin="stacks", args={"run": 7, "pause_s": 30, "dump_s": 0}, stdin=False, kill_on_close=True).accepted()
        pid = stream.opened["pid"]
        stream.close()
        client.until(lambda: processes.stat_fields(pid) in (None, []), what="end of the look")

    def test_ranks_that_were_started_by_hand_are_found_and_those_of_runs_are_not_among_them(self):
        connected = self.client()
        connected.call("run.start", run=7, spec=self.spec())
        python = "%s -c \"import threading; print(1, flush=True); threading.Event().wait()\"" % self.program

        def begin(script, ranks=1):
            stream = connected.exec(command=script, env={"GPUSH_WORKSPACE": self.work}).accepted()
            connected.pump(lambda: stream.out[0].count(b"\n") == ranks)
        begin("RANK=5 %s & RANK=4 %s &" % (python, python), 2)    # their launcher ends
        self.put("4", self.in_load_batch())
        self.put("5", self.in_load_batch())
        self.assertEqual(sorted(rank["rank"] for rank in self.ask(connected)["ranks"]), [4, 5])
        begin("RANK=3 %s & kill -STOP $$; :" % python)
        begin("RANK=6 sh -c '%s; :'; :" % python)
        self.put("6", self.in_load_batch())
        found = self.ask(connected)
        self.assertEqual(found["run"], None)
        self.assertEqual([(rank["rank"], rank["frames"][1]["name"]) for rank in found["ranks"]], [(6, "load_batch")])
        self.assertTrue(stacks.is_python(found["ranks"][0]["pid"]))         # not the shell
        self.assertIsNone(found["quiet_s"])


class RealTest(unittest.TestCase):
    def test_a_real_py_spy_tells_where_a_real_process_waits(self):
        real = shutil.which("py-spy")
        if real is None:
            self.skipTest("no py-spy on PATH")
        with tempfile.TemporaryDirectory(prefix="gpa") as folder:
            with open(os.path.join(folder, "train.py"), "w") as file:
                file.write("import sys\ndef load_batch():\n    print(1, flush=True)\n    sys.stdin.read()\nload_batch()\n")
            process = subprocess.Popen([sys.executable, "train.py"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                process.stdout.readline()
                frames, problem = stacks.dumps([process.pid], 60.0)[process.pid]
                if problem is not None and problem["code"] == stacks.DENIED:
                    self.skipTest("no right to read stacks here")
                found = stacks.shown(frames, stacks.place_of(process.pid, {"workspace": folder}))
                self.assertIn({"name": "load_batch", "file": "train.py", "line": 4, "own": True}, found)
            finally:
                process.communicate()


if __name__ == "__main__":
    unittest.main()
