"""Warm ranks: what a run sees is what it sees when it starts cold. Real interpreters, started the way the agent starts them."""
import json
import os
import re
import signal
import sys
import unittest

import test_supervisor
from client import free_port
from gpush_agent.core import processes
from gpush_agent.runs import journal, requests, rundir
from gpush_agent.warm import pool
from test_supervisor import SECONDS, Output, until

SLOW = True

# What a rank can see of itself. What differs between any two processes is left out.
LOOK = r"""
import json, os, sys
import heavy
out = {
    "env": {k: v for k, v in os.environ.items() if k not in ("GPUSH_MARK", "GPUSH_RUN", "TMPDIR", "MASTER_PORT", "GPUSH_OUTPUT")},
    "argv": sys.argv, "orig": getattr(sys, "orig_argv", None), "path": sys.path, "flags": str(sys.flags), "cwd": os.getcwd(),
    "file": __file__, "name": __name__, "spec": __spec__ and __spec__.name, "package": __package__,
    "loader": type(__loader__).__name__, "main": sys.modules["__main__"].__dict__ is globals(),
    "names": sorted(n for n in globals() if n.startswith("__")),
    "session": os.getsid(0) == os.getpid(), "umask": os.umask(0),
    "std": [(f.mode, f.encoding, f.errors, f.line_buffering, f.isatty(), f.seekable(), f.fileno()) for f in (sys.stdin, sys.stdout, sys.stderr)],
    "signals": [str(__import__("signal").getsignal(n)) for n in range(1, 32)],
    "cmdline": open("/proc/self/cmdline", "rb").read().rstrip(b"\0").decode(), "comm": open("/proc/self/comm").read(),
    "mark": ("GPUSH_MARK=" + os.environ["GPUSH_MARK"]).encode() in open("/proc/self/environ", "rb").read().split(b"\0"),
    "limits": [__import__("resource").getrlimit(n) for n in range(10)],
    "fds": sorted(int(n) for n in os.listdir("/proc/self/fd"))[:3], "more": len(os.listdir("/proc/self/fd")),
    "threads": len(os.listdir("/proc/self/task")), "tmp": __import__("tempfile").gettempdir() == os.environ["TMPDIR"],
    "score": open("/proc/self/oom_score_adj").read(), "heavy": heavy.VALUE,
}
print(json.dumps(out))
"""


class CountedPool(pool.Pool):
    forks = 0

    def fork(self, parent):
        self.forks += 1
        super().fork(parent)


class WarmAgent(test_supervisor.StubAgent):
    def __init__(self, state):
        super().__init__(state)
        self.ending = None
        self.said = ""
        self.parents = CountedPool(self)

    def warm_parents(self):
        return self.parents

    def log(self, text):
        self.said += text + "\n"


class WarmTest(test_supervisor.RunTest):
    agent_of = WarmAgent

    def setUp(self):
        super().setUp()
        os.makedirs(self.state, exist_ok=True)
        self.packages = os.path.join(self.base, "packages")
        os.makedirs(os.path.join(self.packages, "__pycache__"))     # made later, it would be a change of the folder
        self.agent.environment.base["PYTHONPATH"] = self.packages
        self.package("heavy", "VALUE = 1\n")

    def tearDown(self):
        self.forget()
        self.agent.ending = "test"
        for pid in processes.descendants(os.getpid()):
            processes.kill([pid], signal.SIGKILL)
        super().tearDown()

    def forget(self):
        parents = self.agent.parents.parents
        ended = [parents.pop(key) for key in list(parents)]
        for parent in ended:
            self.agent.parents.end(parent)
        until(lambda: self.turn() or not any(parent.pid for parent in ended))

    def package(self, name, text):
        with open(os.path.join(self.packages, name + ".py"), "w") as file:
            file.write(text)

    def write(self, text, name="train.py"):
        with open(os.path.join(self.cwd, name), "w") as file:
            file.write(text)

    def turn(self, seconds=0.05):
        self.agent.loop.after(seconds, lambda: None)
        self.agent.loop.turn()
        self.agent.loop.reap()

    def ready(self):
        """Until every parent is ready, or will not be."""
        def look():
            self.turn()
            parents = list(self.agent.parents.parents.values())
            return parents and all(parent.ready or parent.why for parent in parents) and parents
        return until(look)[0]

    def launch(self, warm=True, **more):
        self.run_number += 1
        spec = self.spec(**dict(more, warm={} if warm is True else warm or None))
        self.agent.start({"run": self.run_number, "spec": spec})
        return self.run_number

    def finish(self, run):
        folder = rundir.folder_of(self.state, run)
        until(lambda: self.turn() or rundir.read(folder, "exit.json"), what="the end of run %d" % run)
        return rundir.read(folder, "exit.json"), Output(self.state, run, follow=False).finish()

    def run_it(self, **more):
        return self.finish(self.launch(**more))

    def prepare(self, **more):
        """A first run, which starts cold, and what it leads to."""
        end, output = self.run_it(**more)
        self.assertIn(b"started cold: the first run", output.of(journal.LAUNCHER, journal.ERR))
        return self.ready()

    def assert_warm(self, output):
        self.maxDiff = None
        self.assertEqual(output.of(journal.LAUNCHER, journal.ERR).decode(), "", self.agent.said)

    def cold_line(self, output):
        found = re.search(rb"gpush: started cold: (.*)\n", output.of(journal.LAUNCHER, journal.ERR))
        self.assertTrue(found, output.records())
        return found.group(1).decode()


class SameTest(WarmTest):
    maxDiff = None

    def compare(self, **more):
        cold_end, cold = self.run_it(warm=False, **more)
        self.prepare(**more)
        end, output = self.run_it(**more)
        self.assert_warm(output)
        self.assertEqual((end["exit"], end["signal"], end["stopped"]), (cold_end["exit"], cold_end["signal"], cold_end["stopped"]))
        return cold_end, cold, end, output

    def test_a_script_sees_what_it_sees_cold(self):
        self.write(LOOK)
        _, cold, _, warm = self.compare(program=["train.py", "--lr", "1"])
        for rank in (0, 1):
            self.assertEqual(json.loads(warm.of(rank).decode()), json.loads(cold.of(rank).decode()))
            self.assertEqual(warm.of(rank, journal.ERR), b"")

    def test_a_module_sees_what_it_sees_cold(self):
        os.mkdir(os.path.join(self.cwd, "pack"))
        self.write("", "pack/__init__.py")
        self.write(LOOK, "pack/train.py")
        _, cold, _, warm = self.compare(program=["-m", "pack.train", "--lr", "1"])
        for rank in (0, 1):
            seen, expected = json.loads(warm.of(rank).decode()), json.loads(cold.of(rank).decode())
            self.assertEqual(seen, expected)

    def test_a_script_in_a_folder_with_a_point(self):
        os.mkdir(os.path.join(self.cwd, "sub"))
        self.write("OWN = 5\n", "sub/own.py")
        self.write(LOOK + "import own\nprint(own.OWN)\n", "sub/train.py")
        _, cold, _, warm = self.compare(program=["./sub/train.py"])
        self.assertEqual(json.loads(warm.of(0).split(b"\n")[0].decode()), json.loads(cold.of(0).split(b"\n")[0].decode()))
        self.assertIn(b"\n5\n", warm.of(0))

    def test_endings(self):
        for text, channel in (("import sys\nsys.exit(7)", None), ("raise SystemExit('why')", journal.ERR),
                              ("def f():\n  return 1 / 0\nf()", journal.ERR), ("import os\nos.kill(os.getpid(), 11)", None), ("raise KeyboardInterrupt", journal.ERR),
                              ("import atexit\natexit.register(print, 'bye')\nimport threading\n"
                               "threading.Thread(target=lambda: print('thread')).start()", journal.OUT),
                              ("import sys\nsys.excepthook = lambda *a: print('mine', a[2].tb_frame.f_code.co_name)\n1 / 0", journal.OUT)):
            with self.subTest(text=text):
                self.write("import heavy\n" + text + "\n")
                self.forget()
                cold_end, cold, end, warm = self.compare(procs=1, world=1)
                if channel is not None:
                    self.assertEqual(warm.of(0, channel), cold.of(0, channel))
                if cold_end["first"]:
                    self.assertEqual(dict(end["first"], at_ms=0), dict(cold_end["first"], at_ms=0))

    def test_an_edit_that_does_not_compile(self):
        self.write("import heavy\n")
        self.prepare()
        self.write("import heavy\nx = = 1\n")
        _, warm = self.run_it()
        self.assert_warm(warm)
        _, cold = self.run_it(warm=False)
        self.assertEqual(warm.of(0, journal.ERR), cold.of(0, journal.ERR))
        self.write("import heavy\nprint('good')\n")
        _, warm = self.run_it()
        self.assert_warm(warm)
        self.assertEqual(warm.of(0), b"good\n")

    def test_what_an_import_prints_is_printed_by_each_rank(self):
        self.package("loud", "import sys, warnings\nprint('hello')\nwarnings.warn('old')\n")
        self.write("import loud\nprint('script')\n")
        _, cold, _, warm = self.compare()
        for rank in (0, 1):
            self.assertEqual((warm.of(rank), warm.of(rank, journal.ERR)), (cold.of(rank), cold.of(rank, journal.ERR)))
        self.assertEqual(warm.of(0), b"hello\nscript\n")

    def test_chance_is_each_ranks_own(self):
        self.package("lucky", "import random, multiprocessing.process\nrandom.random()\n")
        self.write("import lucky, random, multiprocessing.process, os, uuid\n"
                   "print(random.random(), multiprocessing.process.current_process().authkey.hex(), uuid.uuid4())\n")
        self.prepare()
        seen = set()
        for _ in range(2):
            _, output = self.run_it()
            self.assert_warm(output)
            seen.update(word for rank in (0, 1) for word in output.of(rank).split())
        self.assertEqual(len(seen), 12)

    def test_seeds_are_those_that_the_script_sets(self):
        self.write("import random\nrandom.seed(3)\nprint(random.random())\n")
        _, cold, _, warm = self.compare()
        self.assertEqual(warm.of(1), cold.of(1))

    def test_a_variable_that_a_library_sets_is_kept(self):
        self.package("setter", "import os\nos.environ['OWN'] = 'library'\nos.environ.setdefault('MADE', 'too')\n")
        self.write("import setter, os\nprint(os.environ['OWN'], os.environ['MADE'])\n")
        _, cold, _, warm = self.compare(env={"OWN": "user"})
        self.assertEqual((warm.of(0), cold.of(0)), (b"library too\n",) * 2)


class FitsTest(WarmTest):
    """When a parent is not used, or is made again."""

    def test_the_workspaces_code_is_never_imported_beforehand(self):
        self.write("import heavy\nprint('imported')\n", "own.py")
        self.write("import heavy, own\nprint('first')\n")
        parent = self.prepare()
        self.assertEqual(parent.ready["imports"], ["heavy"])
        self.write("import heavy\nprint('changed')\n", "own.py")
        _, output = self.run_it()
        self.assert_warm(output)
        self.assertEqual(output.of(0), b"changed\nfirst\n")

    def test_a_changed_package_starts_cold_and_warm_again(self):
        self.write("import heavy\nprint(heavy.VALUE)\n")
        self.prepare()
        self.package("heavy", "VALUE = 22\n")
        _, output = self.run_it()
        self.assertIn("heavy.py has changed", self.cold_line(output))
        self.assertEqual(output.of(0), b"22\n")
        self.ready()
        _, output = self.run_it()
        self.assert_warm(output)
        self.assertEqual(output.of(0), b"22\n")

    def test_an_installed_package_starts_cold(self):
        self.package("maybe", "try:\n    import extra\n    VALUE = 'extra'\nexcept ImportError:\n    VALUE = 'none'\n")
        self.write("import maybe\nprint(maybe.VALUE)\n")
        self.prepare()
        self.package("extra", "")
        _, output = self.run_it()
        self.assertIn("packages has changed", self.cold_line(output))
        self.assertEqual(output.of(0), b"extra\n")

    def test_a_file_that_hides_a_module_starts_cold(self):
        self.write("import heavy\nprint(heavy.VALUE)\n")
        self.prepare()
        self.write("VALUE = 'own'\n", "heavy.py")
        _, output = self.run_it()
        self.assertIn("heavy.py has the name of a module", self.cold_line(output))
        self.assertEqual(output.of(0), b"own\n")

    def test_an_import_that_is_gone_starts_cold(self):
        self.package("second", "")
        self.write("import heavy\nimport second\n")
        self.prepare()
        self.write("import heavy, sys\nprint('second' in sys.modules)\n")
        _, output = self.run_it()
        self.assertIn("no longer begins by importing second", self.cold_line(output))
        self.assertEqual(output.of(0), b"False\n")

    def test_another_variable_is_another_parent(self):
        self.package("reader", "import os\nVALUE = os.environ.get('KNOB')\n")
        self.write("import reader\nprint(reader.VALUE)\n")
        self.prepare()
        _, output = self.run_it(env={"KNOB": "2"})
        self.assertIn("first run", self.cold_line(output))
        self.assertEqual(output.of(0), b"2\n")

    def test_what_reads_a_ranks_variable_is_left_to_the_ranks(self):
        self.package("deep", "VALUE = 1\n")
        self.package("numbered", "import deep, os\nRANK = os.environ.get('RANK')\n")
        self.write("import heavy, numbered\nprint(numbered.RANK)\n")
        parent = self.prepare()
        self.assertEqual(parent.skip["numbered"]["why"], "reads RANK")
        self.assertEqual([name for name, _ in parent.skip["numbered"]["instead"]], ["deep"])
        _, output = self.run_it()
        self.assert_warm(output)
        self.assertEqual((output.of(0), output.of(1)), (b"0\n", b"1\n"))

    def test_what_starts_threads_or_processes_or_fails_is_left_to_the_ranks(self):
        self.package("threaded", "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n")
        self.package("parental", "import subprocess\nCHILD = subprocess.Popen(['sleep', '100'])\n")
        self.package("leaving", "import os\nif 'RAN' not in os.environ: raise ValueError('no')\n")
        self.package("copying", "import os\nCOPY = dict(os.environ)\n")
        self.package("filtering", "import os\nOWN = {k: v for k, v in os.environ.items() if k.startswith('OWN_')}\n")
        self.write("import heavy, threaded, parental, copying, filtering\nprint(copying.COPY['RANK'])\nparental.CHILD.kill()\nimport leaving")
        parent = self.prepare()
        self.assertEqual({name: skip["why"] for name, skip in parent.skip.items()},
                         {"threaded": "threads", "parental": "a process", "copying": "reads CUDA_VISIBLE_DEVICES"})
        _, output = self.run_it()
        self.assert_warm(output)
        self.assertEqual(output.of(1), b"1\n")

    def test_only_what_comes_before_the_programs_own_code_is_imported(self):
        self.package("late", "import os\nVALUE = os.environ.get('KNOB')\n")
        for text, expected in (("import os\nos.environ['KNOB'] = '1'\nimport late\nprint(late.VALUE)\n", []),
                               ("import own\nimport late\nprint(late.VALUE)\n", []),
                               ("import heavy\nx = heavy.VALUE\nL = [int('1')]\nif x: y = 2\ntry:\n  import nothing\n"
                                "except ImportError: pass\nclass A: pass\nimport late\nprint(late.VALUE)\n", ["heavy", "late"]),
                               ("def f(): pass\nx = f()\nimport late\nprint(late.VALUE)\n", [])):
            with self.subTest(text=text):
                self.forget()
                self.write("import os\nos.environ.update(KNOB='1')\n", "own.py")
                self.write(text)
                parent = self.prepare()
                self.assertEqual([name for name in parent.ready["imports"] if name != "os"], expected)

    def test_a_parent_that_died(self):
        self.write("import heavy\nprint('ok')\n")
        parent = self.prepare()
        os.kill(parent.pid, signal.SIGKILL)
        until(lambda: self.turn() or not parent.pid)
        _, output = self.run_it()
        self.assertIn("ended: signal 9", self.cold_line(output))
        self.assertEqual(output.of(0), b"ok\n")
        self.ready()
        _, output = self.run_it()
        self.assert_warm(output)

    def test_a_parent_that_hangs(self):
        self.write("import heavy\nprint('ok')\n")
        parent = self.prepare()
        os.kill(parent.pid, signal.SIGSTOP)
        end, output = self.run_it()
        self.assertIn("did not answer: within", self.cold_line(output))
        self.assertEqual((output.of(0), end["exit"]), (b"ok\n", 0))
        until(lambda: self.turn() or not parent.pid)
        end, output = self.run_it()
        self.assertEqual((output.of(0), output.of(1), end["exit"]), (b"ok\n", b"ok\n", 0))

    def test_a_python_that_cannot_start(self):
        broken = os.path.join(self.base, "python")
        with open(broken, "w") as file:
            file.write("#!/bin/sh\n[ \"$2\" != -c ] || exit 3\nexec %s \"$@\"\n" % sys.executable)
        os.chmod(broken, 0o755)
        self.write("import heavy\nprint('ok')\n")
        self.prepare(python=broken)
        end, output = self.run_it(python=broken)
        self.assertIn("ended: exit status 3", self.cold_line(output))
        self.assertEqual((output.of(0), end["exit"]), (b"ok\n", 0))
        for _ in range(2):          # said once, and not tried again until something has changed
            tried = self.agent.parents.forks
            end, output = self.run_it(python=broken)
            self.assertEqual(output.of(journal.LAUNCHER, journal.ERR), b"")
            self.assertEqual((output.of(0), self.agent.parents.forks - tried), (b"ok\n", 0))
        with open(broken, "w") as file:
            file.write("#!/bin/sh\nexec %s \"$@\"\n" % sys.executable)
        self.prepare(python=broken)
        _, output = self.run_it(python=broken)
        self.assert_warm(output)

    def test_it_ends_when_no_run_comes_and_gives_way_to_others(self):
        self.write("import heavy\n")
        parent = self.prepare()
        parent.used -= pool.IDLE_SECONDS
        self.agent.parents.look()
        until(lambda: self.turn() or not parent.pid)
        self.assertEqual(self.agent.parents.parents, {})
        for number in range(pool.MOST + 1):
            self.prepare(env={"NUMBER": str(number)})
        self.assertEqual(sorted(other.env["NUMBER"] for other in self.agent.parents.parents.values()), ["1", "2"])
        seen = self.agent.parents.status()
        self.assertEqual([(value["program"], value["ready"], value["bytes"] > 0) for value in seen],
                         [("train.py", True, True)] * pool.MOST)

    def test_a_start_that_fails_leaves_no_descriptor_open(self):
        self.write("pass\n")
        for owner, name, at in ((processes, "fork", 0), (os, "pipe", 1)):
            real, calls = getattr(owner, name), []

            def fails(*arguments):
                calls.append(arguments)
                if len(calls) > at:
                    raise OSError(11, "no more")
                return real(*arguments)
            parent = pool.Parent("key", self.spec(program=["train.py"]), {})
            before = os.listdir("/proc/self/fd")
            setattr(owner, name, fails)
            try:
                self.agent.parents.start(parent)
            finally:
                setattr(owner, name, real)
            self.assertEqual((parent.why, os.listdir("/proc/self/fd")), ({"why": "ended", "what": "no more"}, before), name)

    def test_it_ends_with_the_agent(self):
        self.write("import heavy\n")
        parent = self.prepare()
        pid, null = parent.pid, os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, parent.channel)       # as if the agent's end were gone
        os.close(null)
        until(lambda: self.turn() or not test_supervisor.alive(pid))


class WarmRunTest(WarmTest):
    """A warm run is supervised as a cold one."""

    def test_failure_grace_and_leftovers(self):
        self.write("import heavy, os, signal, subprocess, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                   "subprocess.Popen(['setsid', 'sleep', '1000'])\nprint('up', flush=True)\n"
                   "if os.environ['RANK'] == '1':\n    time.sleep(0.2)\n    import missing_module\ntime.sleep(1000)\n")
        self.prepare(stop_grace_s=1)
        end, output = self.run_it(stop_grace_s=1)
        self.assert_warm(output)
        self.assertEqual((end["exit"], end["first"]["rank"], end["first"]["reason"]["code"]), (1, 1, "import"))
        self.assertEqual(end["first"]["reason"]["frame"]["file"].rpartition("/")[2], "train.py")
        self.assertEqual(rundir.marked(rundir.read(rundir.folder_of(self.state, 2), "lock")["mark"]), [])

    def test_the_next_attempt_has_the_next_number(self):
        self.write("import heavy, sys\nsys.exit(3)\n")
        self.prepare()
        run = self.launch()
        self.finish(run)
        self.agent.start({"run": run, "spec": self.spec(warm={}), "again": True})
        self.assert_warm(self.finish(run)[1])
        self.assertEqual(rundir.read(rundir.folder_of(self.state, run), "lock")["attempt"], 2)

    def test_stop(self):
        self.write("import heavy, sys, time\nprint('up', flush=True)\ntry:\n    time.sleep(1000)\n"
                   "except KeyboardInterrupt:\n    sys.exit(5)\n")
        run = self.launch()
        self.wait_for(run, b"up")
        self.ready()
        requests.stop(self.agent, {"run": run})
        self.finish(run)
        run = self.launch()
        self.wait_for(run, b"up")
        requests.stop(self.agent, {"run": run})
        end, output = self.finish(run)
        self.assert_warm(output)
        self.assertEqual((end["exit"], end["stopped"]), (5, True))

    def wait_for(self, run, text):
        def said():
            self.turn()
            output = Output(self.state, run, follow=False).finish()
            return output.of(0).startswith(text) and output.of(1).startswith(text)
        until(said)

    def test_a_killed_supervisor_takes_its_ranks_with_it(self):
        self.write("import heavy, os, time\nif os.fork() == 0: os.setsid()\nprint('up', flush=True)\ntime.sleep(1000)\n")
        run = self.launch()
        self.wait_for(run, b"up")
        requests.stop(self.agent, {"run": run, "signal": "KILL"})
        self.finish(run)
        self.ready()
        run = self.launch()
        self.wait_for(run, b"up")
        folder = rundir.folder_of(self.state, run)
        lock = rundir.read(folder, "lock")
        self.assertTrue(len(rundir.marked(lock["mark"])) >= 4)
        os.kill(lock["pid"], signal.SIGKILL)
        until(lambda: self.turn() or not rundir.is_alive(folder))
        requests.list(self.agent, {})
        self.assertEqual(rundir.marked(lock["mark"]), [])
        self.assertTrue(rundir.read(folder, "exit.json")["lost"])

    def test_a_run_outlives_its_parent_and_claims_are_held(self):
        self.write("import heavy, time, os\nprint('up', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('on')\n")
        open(os.path.join(self.cwd, "go"), "w").close()
        self.prepare()
        os.unlink(os.path.join(self.cwd, "go"))
        run = self.launch()
        self.wait_for(run, b"up")
        parent = self.ready()
        self.agent.parents.end(parent)
        until(lambda: self.turn() or not parent.pid)
        with self.assertRaises(test_supervisor.Refused) as caught:
            self.launch(warm=False)
        self.assertEqual(caught.exception.facts, {"slot": "0", "run": run})
        open(os.path.join(self.cwd, "go"), "w").close()
        end, output = self.finish(run)
        self.assert_warm(output)
        self.assertEqual((end["exit"], output.of(1)), (0, b"up\non\n"))
        self.run_number += 1
        _, output = self.run_it(warm=False, master={"addr": "127.0.0.1", "port": free_port()})
        self.assertEqual(output.of(0), b"up\non\n")

    def test_torchruns_variables(self):
        self.write("import heavy, os, json\nprint(json.dumps({k: v for k, v in os.environ.items() if 'ROLE' in k or 'ELASTIC' in k}))\n")
        cold_end, cold = self.run_it(warm={"torch": True})
        self.ready()
        end, output = self.run_it(warm={"torch": True})
        self.assert_warm(output)
        seen, expected = json.loads(output.of(1).decode()), json.loads(cold.of(1).decode())
        self.assertEqual(expected["ROLE_RANK"], "1")
        for value in (seen, expected):
            self.assertTrue(value.pop("TORCHELASTIC_ERROR_FILE").endswith("/1/error.json"))
        self.assertEqual(seen, expected)

    def test_bad_requests(self):
        for spec in (self.spec(warm=1), self.spec(mode="torchrun", warm={})):
            with self.assertRaises(test_supervisor.Refused) as caught:
                self.agent.start({"run": 99, "spec": spec})
            self.assertEqual(caught.exception.facts, {"field": "warm"})


if __name__ == "__main__":
    unittest.main()
