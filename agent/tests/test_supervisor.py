"""Runs with real processes, started the way the agent starts them. The agent itself is a stub: what a supervisor needs of it
is a state folder, an environment and a fork."""
import fcntl
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest

from client import DEADLINE, free_port      # puts the agent on the path, too
from gpush_agent.core import processes
from gpush_agent.core.loop import Loop
from gpush_agent.core.refused import Refused
from gpush_agent.lifetime import ending
from gpush_agent.node.activation import Activation
from gpush_agent.runs import follow, journal, ranks, requests, rundir

SLOW = True

SECONDS = DEADLINE


def until(condition, seconds=SECONDS, what="it"):
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited %d s for %s" % (seconds, what))
        time.sleep(0.01)


def alive(pid):
    stat = processes.read_stat(pid)
    return stat is not None and stat[2] != b"Z"


F_SETPIPE_SZ = 1031         # fcntl has it from 3.10 on


class StubEnvironment:
    base = None


class StubAgent:
    def __init__(self, state):
        self.state, self.gang, self.node = state, "gang", 0
        self.config, self.lock_fds, self.workspace = {}, [], None
        self.loop = Loop()
        self.environment = StubEnvironment()
        self.environment.activation = Activation(self)
        self.environment.base = {"PATH": os.environ["PATH"], "HOME": "/tmp", "BASE": "yes"}
        self.origin = processes.Origin()
        os.umask(self.origin.umask)

    def start(self, params):
        """The answer to run.start; Refused when it is one."""
        answers = []
        requests.start(self, params, lambda *answer: answers.append(answer))
        while not answers:
            self.loop.turn()
        result, refused = answers[0]
        if refused is not None:
            raise refused
        return result


class Output:
    """The journal of a run, read by the real `follow` in a thread."""

    def __init__(self, state, run, **args):
        self.raw = b""
        reader, writer = os.pipe()

        def write():
            self.code = follow.main(dict(args, state=state, run=run), -1, writer)
            os.close(writer)

        def read():
            while True:
                data = os.read(reader, 65536)
                if not data:
                    break
                self.raw += data
            os.close(reader)
        self.threads = [threading.Thread(target=write), threading.Thread(target=read)]
        for thread in self.threads:
            thread.daemon = True
            thread.start()

    def finish(self):
        for thread in self.threads:
            thread.join(SECONDS)
            if thread.is_alive():
                raise AssertionError("follow does not end")
        return self

    def records(self):
        found, at, raw = [], 0, self.raw
        while at + journal.HEADER.size <= len(raw):
            length, rank, channel, zero, ms = journal.HEADER.unpack_from(raw, at)
            if zero:
                raise AssertionError("not a record at %d" % at)
            at += journal.HEADER.size
            if at + length > len(raw):
                break
            found.append((rank, channel, raw[at:at + length], ms))
            at += length
        return found

    def of(self, rank, channel=journal.OUT):
        return b"".join(payload for number, at, payload, _ in self.records() if (number, at) == (rank, channel))

    def events(self, name=None):
        found = [json.loads(payload.decode()) for _, channel, payload, _ in self.records() if channel == journal.EVENT]
        return [value for value in found if name is None or value["event"] == name]


def open_files():
    """Of this process."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink("/proc/self/fd/" + fd))
        except OSError:         # closed meanwhile
            pass
    return found


class RunTest(unittest.TestCase):
    agent_of = StubAgent

    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gps")
        self.state = os.path.join(self.base, "ws.gpush")
        self.cwd = os.path.join(self.base, "ws")
        os.mkdir(self.cwd)
        self.agent = self.agent_of(self.state)
        self.supervisors = []
        self.run_number = 0

    def tearDown(self):
        self.end_supervisors()
        rundir.clean_lost(self.state)
        shutil.rmtree(self.base, ignore_errors=True)
        loop = self.agent.loop      # closed here, not by the collector in some later child
        for part in (loop.selector, loop.wake_in, loop.wake_out):
            part.close()

    def end_supervisors(self):
        for pid in self.supervisors:
            for other in processes.descendants(pid) + [pid]:
                processes.kill([other], signal.SIGKILL)
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                pass

    def script(self, text, name="train.py"):
        with open(os.path.join(self.cwd, name), "w") as file:
            file.write("import os, signal, subprocess, sys, time\nrank = int(os.environ['RANK'])\n" + text)
        return name

    def spec(self, mode="ranks", **more):
        spec = {"mode": mode, "python": sys.executable, "program": ["train.py"], "cwd": self.cwd, "env": {}, "nodes": 1,
                "node_rank": 0, "procs": 2, "first_rank": 0, "world": 2, "master": {"addr": "127.0.0.1", "port": free_port()},
                "slots": ["0", "1"], "visible": None, "outputs": os.path.join(self.state, "outputs", "run"),
                "stop_grace_s": 5}
        if mode == "command":
            spec.update(procs=1, world=1, slots=["0"])
        spec.update(more)
        return spec

    def start(self, spec, **params):
        self.run_number += 1
        pid = self.agent.start(dict(params, run=self.run_number, spec=spec))["pid"]
        self.supervisors.append(pid)
        return self.run_number

    def follow(self, run, **args):
        return Output(self.state, run, **args)

    def status(self, run):
        return requests.status(self.agent, {"run": run})

    def stop(self, run, name="INT", grace=5):
        requests.stop(self.agent, {"run": run, "signal": name, "grace_s": grace})

    def pids(self, run, name):
        """What a rank wrote into a file of this name, once it is there."""
        path = os.path.join(self.cwd, name)

        def read():
            try:
                with open(path) as file:
                    text = file.read()
                return [int(word) for word in text.split()] if text.endswith("\n") else None
            except FileNotFoundError:
                return None
        return until(read, what=name)

    def refused(self, spec, **params):
        with self.assertRaises(Refused) as caught:
            self.start(spec, **params)
        return caught.exception


class RanksTest(RunTest):
    def test_two_ranks_get_both_families_of_variables_and_their_own_output(self):
        self.script("names = 'RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK MASTER_ADDR NNODES GPUSH_RUN '"
                    "'GPUSH_NODES GPUSH_NODE BASE MINE WEAK STRONG CUDA_VISIBLE_DEVICES PYTHONUNBUFFERED'\n"
                    "print(*[os.environ[name] for name in names.split()])\n"
                    "assert os.path.isdir(os.environ['TMPDIR']) and os.path.isdir(os.environ['GPUSH_OUTPUT'])\n"
                    "print('err', rank, os.getcwd(), file=sys.stderr)\n")
        run = self.start(self.spec(env={"MINE": "m", "STRONG": "s"}, defaults={"WEAK": "w", "BASE": "no", "STRONG": "no"},
                                   visible="4,5"))
        output = self.follow(run).finish()
        for rank in (0, 1):
            self.assertEqual(output.of(rank).decode(), "%d %d 2 2 0 0 127.0.0.1 1 1 1 0 yes m w s 4,5 1\n" % (rank, rank))
            self.assertEqual(output.of(rank, journal.ERR).decode(), "err %d %s\n" % (rank, self.cwd))
        self.assertEqual(output.events()[0]["event"], "started")
        self.assertEqual(output.events()[0]["ranks"], [0, 1])
        self.assertEqual(sorted(value["rank"] for value in output.events("rank-exit")), [0, 1])
        self.assertEqual(output.events()[-1]["event"], "ended")
        self.assertEqual(self.status(run)["exit"]["exit"], 0)

    def test_a_run_on_some_gpus_of_an_amd_node_sees_only_those(self):
        """HIP takes its own variable, which names all the node's, before CUDA's."""
        self.script("print(os.environ['CUDA_VISIBLE_DEVICES'], os.environ.get('HIP_VISIBLE_DEVICES'))\n")
        base = self.agent.environment.base
        for has, visible, expected in (("0,1,2,3", "2", "2 2\n"), (None, "2", "2 None\n")):
            if has is not None:
                base["HIP_VISIBLE_DEVICES"] = has
            else:
                del base["HIP_VISIBLE_DEVICES"]
            self.assertEqual(self.follow(self.start(self.spec(visible=visible))).finish().of(0).decode(), expected)

    def test_the_first_that_any_rank_prints_is_an_event_before_it(self):
        self.script("print(rank)\nprint(rank)\n")
        output = self.follow(self.start(self.spec())).finish()
        self.assertEqual(len(output.events("printed")), 1)
        records = [(rank, json.loads(payload.decode()).get("event") if channel == journal.EVENT else payload, ms)
                   for rank, channel, payload, ms in output.records()]
        at = [what for _, what, _ in records].index("printed")
        self.assertTrue(records[at + 1][1].startswith(b"%d" % records[at + 1][0]), records)
        self.assertLessEqual(output.events("printed")[0]["ms"], records[at][2])
        self.script("pass\n")
        self.assertEqual(self.follow(self.start(self.spec())).finish().events("printed"), [])

    def test_memory_that_is_short_costs_a_rank_before_its_supervisor(self):
        self.script("scores = [int(open('/proc/%s/oom_score_adj' % pid).read()) for pid in ('self', os.getppid())]\n"
                    "print(scores[0] > scores[1])\n")
        run = self.start(self.spec())
        output = self.follow(run).finish()
        self.assertEqual([output.of(rank) for rank in (0, 1)], [b"True\n"] * 2)

    def test_leaves_nothing_but_its_folder(self):
        self.script("print(os.environ['TMPDIR'])\n")
        output = self.follow(self.start(self.spec())).finish()
        for rank in (0, 1):
            self.assertFalse(os.path.exists(output.of(rank).decode().strip()))
        until(lambda: not rundir.is_alive(rundir.folder_of(self.state, 1)), what="the end of the supervisor")
        self.assertEqual(sorted(os.listdir(rundir.folder_of(self.state, 1))), ["exit.json", "journal.0", "lock", "spec.json", "stop.json.new"])

    def test_exit_code_of_the_first_failing_rank_and_the_others_are_stopped(self):
        self.script("if rank == 1:\n    sys.exit(7)\ntime.sleep(1000)\n")
        run = self.start(self.spec(stop_grace_s=1000))
        output = self.follow(run).finish()
        ended = self.status(run)["exit"]
        self.assertEqual((ended["exit"], ended["signal"], ended["stopped"]), (7, None, False))
        self.assertEqual((ended["first"]["rank"], ended["first"]["exit"]), (1, 7))
        self.assertIn({"event": "rank-exit", "rank": 0, "signal": int(signal.SIGTERM)}, output.events())

    def test_signal_of_a_rank(self):
        self.script("if rank == 0:\n    os.kill(os.getpid(), signal.SIGSEGV)\ntime.sleep(1000)\n")
        run = self.start(self.spec())
        output = self.follow(run).finish()
        ended = self.status(run)["exit"]
        self.assertEqual((ended["exit"], ended["signal"], ended["first"]["rank"]), (None, signal.SIGSEGV, 0))
        self.assertIn({"event": "rank-exit", "rank": 0, "signal": int(signal.SIGSEGV)}, output.events())

    def test_rank_that_ignores_term_is_killed_after_the_grace(self):
        self.script("if rank == 1:\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    open('ready', 'w').close()\n"
                    "    time.sleep(1000)\n"
                    "while not os.path.exists('ready'):\n    time.sleep(0.01)\nsys.exit(3)\n")
        run = self.start(self.spec(stop_grace_s=0.3))
        output = self.follow(run).finish()
        self.assertEqual(self.status(run)["exit"]["exit"], 3)
        self.assertIn({"event": "rank-exit", "rank": 1, "signal": 9}, output.events())

    def test_program_that_cannot_be_executed_is_status_127(self):
        path = os.path.join(self.cwd, "broken")
        with open(path, "w") as file:
            file.write("#!/nothing/here\n")
        os.chmod(path, 0o755)
        run = self.start(self.spec("command", argv=["./broken"]))
        output = self.follow(run).finish()
        self.assertEqual(self.status(run)["exit"]["exit"], 127)
        self.assertIn(b"No such file", output.of(journal.LAUNCHER, journal.ERR))

    def test_command_runs_once_with_node_rank(self):
        run = self.start(self.spec("command", command="echo $RANK $NODE_RANK $WORLD_SIZE $LOCAL_RANK; echo no >&2; exit 4",
                                   nodes=3, node_rank=2, first_rank=2, world=3))
        output = self.follow(run).finish()
        self.assertEqual((output.of(2), output.of(2, journal.ERR)), (b"2 2 3 0\n", b"no\n"))
        self.assertEqual(self.status(run)["exit"]["exit"], 4)

    def test_words_that_are_not_utf8_reach_the_program_as_they_are(self):
        word = b"caf\xe9".decode("utf-8", "surrogateescape")
        run = self.start(self.spec("command", argv=["printf", "%s %s", word, "\u00e9"]))
        self.assertEqual(self.follow(run).finish().of(0), b"caf\xe9 \xc3\xa9")

    def test_carries_much_output_whole(self):
        self.script("sys.stdout.write(''.join('%d %d\\n' % (rank, i) for i in range(300000)))\n")
        output = self.follow(self.start(self.spec())).finish()
        for rank in (0, 1):
            self.assertEqual(output.of(rank), "".join("%d %d\n" % (rank, i) for i in range(300000)).encode())


class TemporaryTest(RunTest):
    """What a run has in TMPDIR goes with it."""
    READY = "open(os.environ['TMPDIR'] + '/left', 'w').close()\n"

    def tmp_of(self, run):
        """Once its rank has written there."""
        tmp = until(lambda: rundir.read(rundir.folder_of(self.agent.state, run), "lock").get("tmp"), what="tmp")
        until(lambda: os.path.exists(os.path.join(tmp, "0", "left")), what="rank")
        return tmp

    def stopped(self):
        self.script(self.READY + "time.sleep(1000)\n")
        run = self.start(self.spec(procs=1, world=1))
        tmp = self.tmp_of(run)
        requests.stop(self.agent, {"run": run, "signal": "INT", "grace_s": 5})
        until(lambda: rundir.has_ended(rundir.folder_of(self.agent.state, run)), what="end")
        self.assertFalse(os.path.exists(tmp))
        return tmp

    def test_below_a_short_state_folder_and_gone_when_stopped(self):
        self.assertEqual(os.path.dirname(self.stopped()), os.path.join(self.state, "tmp"))

    def test_elsewhere_when_sockets_would_not_fit(self):
        self.agent.state = self.state = os.path.join(self.base, "long" * 12, "ws.gpush")
        tmp = self.stopped()
        self.assertIn(os.path.dirname(tmp), ranks.SYSTEM_TMP)
        self.assertLess(len(tmp), len(self.state))

    def test_gone_with_the_node_when_the_supervisor_was_killed(self):
        self.agent.state = self.state = os.path.join(self.base, "long" * 12, "ws.gpush")
        self.script(self.READY + "time.sleep(1000)\n")
        for keeps_files in (True, False):
            run = self.start(self.spec(procs=1, world=1, slots=[str(keeps_files)]))
            tmp = self.tmp_of(run)
            os.kill(self.supervisors[-1], signal.SIGKILL)
            until(lambda: not alive(self.supervisors[-1]), what="end")
            ending.release_files(self.cwd, self.state, keeps_files)
            self.assertFalse(os.path.exists(tmp))


class StopTest(RunTest):
    def test_interrupt_gives_130_and_says_that_it_was_asked(self):
        self.script("open('up%d' % rank, 'w').close()\ntime.sleep(1000)\n")
        run = self.start(self.spec())
        until(lambda: len(os.listdir(self.cwd)) == 3)
        self.stop(run)
        output = self.follow(run).finish()
        ended = self.status(run)["exit"]
        self.assertEqual((ended["signal"], ended["stopped"]), (signal.SIGINT, True))
        self.assertIn({"event": "stopping", "why": "asked"}, output.events())
        self.stop(run)      # of a run that is over: nothing
        requests.stop(self.agent, {"run": run, "forget": True})
        self.assertEqual(requests.list(self.agent, {}), [])

    def test_rank_that_ends_properly_on_interrupt_is_a_success(self):
        self.script("signal.signal(signal.SIGINT, lambda *_: (print('saved'), sys.exit(0)))\n"
                    "open('up%d' % rank, 'w').close()\ntime.sleep(1000)\n")
        run = self.start(self.spec())
        until(lambda: len(os.listdir(self.cwd)) == 3)
        self.stop(run)
        output = self.follow(run).finish()
        self.assertEqual((output.of(0), output.of(1)), (b"saved\n", b"saved\n"))
        self.assertEqual((self.status(run)["exit"]["exit"], self.status(run)["exit"]["stopped"]), (0, True))

    def test_who_ignores_everything_is_killed(self):
        self.script("for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n    signal.signal(name, signal.SIG_IGN)\n"
                    "open('up%d' % rank, 'w').close()\nwhile True:\n    time.sleep(1000)\n")
        run = self.start(self.spec())
        until(lambda: len(os.listdir(self.cwd)) == 3)
        self.stop(run, grace=0.2)
        self.stop(run, "TERM", 0.2)     # asked again, more firmly: what was planned before is replaced
        output = self.follow(run).finish()
        self.assertEqual([value.get("signal") for value in output.events("rank-exit")], [9, 9])

    def test_stop_right_after_start_is_not_lost(self):
        self.script("time.sleep(1000)\n")
        for _ in range(10):
            run = self.start(self.spec())
            self.stop(run, "KILL")
            self.follow(run).finish()
            self.assertTrue(self.status(run)["exit"]["stopped"])

    def test_grandchildren_end_with_the_run(self):
        self.script("if rank == 0:\n"
                    "    child = subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 1000 & setsid sleep 1001 & wait'],\n"
                    "                             start_new_session=True)\n"
                    "    time.sleep(0.3)\n"
                    "    with open('pids', 'w') as file:\n        file.write('%d\\n' % child.pid)\n")
        run = self.start(self.spec())
        self.follow(run).finish()
        self.assertFalse(any(alive(pid) for pid in self.pids(run, "pids")))
        self.assertEqual(self.status(run)["exit"]["exit"], 0)
        self.assertEqual(processes.descendants(self.supervisors[-1]), [])

    def test_a_schedulers_signal_leaves_the_ranks_their_time(self):
        self.agent.config["taken_s"] = 1000
        self.script("while not os.path.exists('go'):\n    time.sleep(0.01)\n")
        for number in (signal.SIGTERM, signal.SIGINT):
            run = self.start(self.spec())
            output = self.follow(run)
            until(lambda: output.events("started"), what="the ranks")
            os.kill(self.supervisors[-1], number)
            until(lambda: output.events("stopping"), what="the signal")
            open(os.path.join(self.cwd, "go"), "w").close()
            output.finish()
            self.assertEqual(output.events("stopping")[0]["why"], "the scheduler takes the node back")
            self.assertEqual(self.status(run)["exit"]["exit"], 0)
            os.unlink(os.path.join(self.cwd, "go"))


class ClaimTest(RunTest):
    def test_slots_are_claimed_by_one_run_and_free_afterwards(self):
        self.script("time.sleep(1000)\n")
        first = self.start(self.spec(procs=1, world=1, slots=["0"]))
        second = self.start(self.spec(procs=1, world=1, slots=["1"]))
        refused = self.refused(self.spec(slots=["2", "1"]))
        self.assertEqual((refused.code, refused.facts), ("busy", {"slot": "1", "run": second}))
        self.assertEqual([value["run"] for value in requests.list(self.agent, {}) if value["alive"]], [second, first])
        self.stop(first, "KILL")
        self.follow(first).finish()
        self.script("pass\n")
        third = self.start(self.spec(procs=1, world=1, slots=["0"]))      # at once after `ended`
        self.follow(third).finish()
        self.assertEqual(self.status(third)["exit"]["exit"], 0)

    def test_refuses_what_cannot_be_and_leaves_nothing(self):
        self.script("pass\n")
        cases = [(dict(program=["nothing.py"]), "not-found"), (dict(python="/nothing/python"), "not-found"),
                 (dict(cwd="/nothing"), "not-found"), (dict(python="no-such-python-here"), "not-found"),
                 (dict(mode="fast"), "bad-request"), (dict(slots=["../x"]), "bad-request"), (dict(slots=[".."]), "bad-request"),
                 (dict(procs=0), "bad-request"), (dict(program=[]), "bad-request"), (dict(env={"A=B": "c"}), "bad-request"),
                 (dict(first_rank=1), "bad-request"), (dict(master={"addr": "x", "port": 0}), "bad-request"),
                 (dict(mode="command", procs=1, argv=["./nothing"]), "not-found")]
        for change, code in cases:
            self.assertEqual(self.refused(self.spec(**change)).code, code, change)
        self.assertEqual(rundir.numbers(self.state), [])
        for params in ({"run": 0}, {"run": "1"}, {"run": True}, {}):
            with self.assertRaises(Refused):
                self.agent.start(dict(params, spec=self.spec()))
        with self.assertRaises(Refused):
            requests.stop(self.agent, {"run": 99})

    def test_number_is_used_once_unless_the_run_is_to_start_again(self):
        self.script("print('once')\n")
        run = self.start(self.spec())
        self.follow(run).finish()
        self.run_number = 0
        self.assertEqual(self.refused(self.spec()).code, "exists")
        self.run_number = 0
        self.assertEqual(self.follow(self.start(self.spec(), again=True)).finish().of(1), b"once\n")

    def test_output_of_earlier_attempts_is_kept(self):
        self.script("print('try' + os.environ['TRY'])\nsys.exit(3)\n")
        for attempt in range(7):
            self.run_number = 0
            run = self.start(self.spec(env={"TRY": str(attempt)}), again=attempt > 0)
            self.follow(run).finish()
        status = self.status(run)
        self.assertEqual((status["attempt"], status["before"]), (7, rundir.EARLIER))
        for before in range(rundir.EARLIER + 1):
            old = self.follow(run, before=before).finish()
            self.assertEqual(old.of(0), b"try%d\n" % (6 - before))
            self.assertEqual(old.events("ended")[0]["exit"], 3)
            self.assertEqual(self.follow(run, attempt=7 - before).finish().of(0), b"try%d\n" % (6 - before))
        self.assertEqual(self.follow(run, before=rundir.EARLIER + 1).finish().code, 3)
        self.assertEqual([self.follow(run, attempt=attempt).finish().code for attempt in (2, 8)], [4, 4])

    def test_an_attempt_that_is_refused_or_forgotten_leaves_the_one_before(self):
        self.script("print('try' + os.environ['TRY'])\n")
        run = self.start(self.spec(env={"TRY": "0"}))
        self.follow(run).finish()
        self.run_number = 0
        self.refused(self.spec(slots=["0", "0"]), again=True)
        self.assertEqual(self.follow(run).finish().of(0), b"try0\n")
        self.run_number = 0
        self.start(self.spec(env={"TRY": "1"}), again=True)
        self.follow(run).finish()
        requests.stop(self.agent, {"run": run, "signal": "KILL", "forget": True})
        self.assertEqual(self.follow(run).finish().of(0), b"try0\n")
        self.assertEqual(os.listdir(os.path.join(self.state, "runs")), [str(run)])

    def test_a_reader_of_an_attempt_is_not_given_the_next_one(self):
        self.script("print('try' + os.environ['TRY'])\n")
        run = self.start(self.spec(env={"TRY": "0"}))
        self.follow(run).finish()
        reader, writer = os.pipe()
        fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
        os.write(writer, b"\0" * 4096)     # it has to wait for its reader

        def read():
            follow.main({"state": self.state, "run": run}, -1, writer)
            os.close(writer)
        slow = threading.Thread(target=read)
        slow.daemon = True
        slow.start()
        until(lambda: any("/%d/journal.0" % run in path for path in open_files()), what="reading")
        self.run_number = 0
        self.start(self.spec(env={"TRY": "1"}), again=True)
        self.follow(run).finish()
        with open(reader, "rb") as pipe:
            data = pipe.read()
        self.assertIn(b"try0", data)
        self.assertNotIn(b"try1", data)

    def test_port_that_is_taken_refuses_the_start(self):
        self.script("pass\n")
        with socket.socket() as thief:
            thief.bind(("", 0))
            thief.listen(1)
            spec = self.spec(master={"addr": "127.0.0.1", "port": thief.getsockname()[1]})
            self.assertEqual(self.refused(spec).code, "port-taken")
        self.assertEqual(requests.list(self.agent, {}), [])

    def test_port_that_is_stolen_after_the_start_is_told_apart_from_other_failures(self):
        self.script("import socket\n"
                    "while not os.path.exists('go'):\n    time.sleep(0.01)\n"
                    "sock = socket.socket()\nsock.bind(('', int(os.environ['MASTER_PORT'])))\n")
        for stolen in (True, False):
            spec = self.spec(procs=1, world=1, slots=["0"])
            run = self.start(spec)
            with socket.socket() as thief:
                thief.bind(("", spec["master"]["port"]))
                thief.listen(1)
                if not stolen:      # another address is in use: no reason to start again
                    self.script("import socket\nsock = socket.socket()\nsock.bind(('', %d))\n" % spec["master"]["port"])
                    other = self.start(self.spec(procs=1, world=1, slots=["1"]))
                    self.follow(other).finish()
                    self.assertNotIn("port_taken", self.status(other)["exit"])
                open(os.path.join(self.cwd, "go"), "w").close()
                self.follow(run).finish()
                self.assertEqual(self.status(run)["exit"].get("port_taken"), spec["master"]["port"])


class ListTest(RunTest):
    def old(self, number, **spec):
        folder = rundir.folder_of(self.state, number)
        os.makedirs(folder)
        rundir.write(folder, "spec.json", spec)
        rundir.write(folder, "exit.json", {"exit": 0})

    def numbers(self, **params):
        return [view["run"] for view in requests.list(self.agent, params)]

    def test_older_runs_than_an_answer_holds_are_given_when_asked_for(self):
        for number in range(1, 8):
            self.old(number, program=["x" * 12000])
        self.assertEqual(self.numbers(), [7, 6, 5, 4])
        self.assertEqual(self.numbers(before=4), [3, 2, 1])
        self.assertEqual(self.numbers(before=1), [])
        with self.assertRaises(Refused):
            self.numbers(before="4")

    def test_a_run_that_fills_an_answer_hides_no_other(self):
        self.old(1, program=["train.py"])
        self.old(2, program=["x" * 60000], slots=["0"])
        newest, oldest = requests.list(self.agent, {})
        self.assertEqual((newest["run"], newest["spec"]), (2, {"slots": ["0"]}))
        self.assertEqual(oldest["run"], 1)


class LostTest(RunTest):
    def test_killed_supervisor_is_lost_and_nothing_of_the_run_stays(self):
        self.script("child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
                    "for pid in (os.getpid(), child.pid):\n    open('/dev/shm/torch_%d_gpush' % pid, 'w').close()\n"
                    "with open('pids%d' % rank, 'w') as file:\n    file.write('%d %d\\n' % (os.getpid(), child.pid))\n"
                    "time.sleep(1000)\n")
        run = self.start(self.spec())
        pids = self.pids(run, "pids0") + self.pids(run, "pids1")
        memory = ["/dev/shm/torch_%d_gpush" % pid for pid in pids]
        for path in memory:
            self.addCleanup(lambda path=path: os.path.exists(path) and os.unlink(path))
        output = self.follow(run)
        os.kill(self.supervisors[-1], signal.SIGKILL)
        output.finish()
        until(lambda: not alive(pids[0]) and not alive(pids[2]), what="the ranks, which the kernel kills")
        until(lambda: self.status(run)["exit"] is not None, what="the agent sees the end of the supervisor")
        self.assertTrue(self.status(run)["exit"]["lost"])
        until(lambda: not any(alive(pid) for pid in pids), what="what the ranks had started")
        self.assertEqual([path for path in memory if os.path.exists(path)], [])
        self.assertFalse(self.status(run)["alive"])
        self.assertEqual(output.events("ended"), [])
        self.script("pass\n")
        self.follow(self.start(self.spec())).finish()       # the slots are free

    def test_ends_though_its_folder_was_removed(self):
        self.script("with open('pid%d' % rank, 'w') as file:\n    file.write('%d\\n' % os.getpid())\ntime.sleep(1000)\n")
        run = self.start(self.spec())
        ranks_ = self.pids(run, "pid0") + self.pids(run, "pid1")
        shutil.rmtree(self.state)
        processes.kill(ranks_, signal.SIGKILL)
        until(lambda: not alive(self.supervisors[-1]), what="the end of the supervisor")

    def test_run_survives_whoever_started_it(self):
        self.script("open('up%d' % rank, 'w').close()\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\nprint('on')\n")
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            self.agent.start({"run": 1, "spec": self.spec()})
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(pid, 0)
        until(lambda: len(os.listdir(self.cwd)) == 3)
        self.assertTrue(self.status(1)["alive"])
        open(os.path.join(self.cwd, "go"), "w").close()
        self.assertEqual(self.follow(1).finish().of(1), b"on\n")
        os.close(reader)
        os.close(writer)


class FollowTest(RunTest):
    def test_from_any_offset_while_the_run_goes_on(self):
        self.script("for i in range(200):\n    print(rank, i)\n    time.sleep(0.002)\n")
        run = self.start(self.spec())
        whole = self.follow(run)
        until(lambda: len(whole.raw) > 2000)
        later = [(offset, self.follow(run, offset=offset)) for offset in (0, 1, 16, 777, len(whole.raw), 10 ** 6)]
        whole.finish()
        for offset, other in later:
            self.assertEqual(other.finish().raw, whole.raw[offset:])
        self.assertEqual(self.follow(run, follow=False).finish().raw, whole.raw)

    def test_output_that_cannot_be_opened_is_not_output_that_is_not_there(self):
        self.assertEqual(self.follow(7, follow=False).finish().code, 3)
        folder = os.path.join(self.state, "runs", "7")
        os.makedirs(os.path.dirname(folder))
        os.symlink(folder, folder)
        with self.assertRaises(OSError):        # which ends the builtin with another status
            follow.main({"state": self.state, "run": 7, "follow": False}, -1, 1)

    def test_without_follow_ends_at_what_is_there(self):
        self.script("print('early')\nopen('up%d' % rank, 'w').close()\ntime.sleep(1000)\n")
        run = self.start(self.spec())
        until(lambda: len(os.listdir(self.cwd)) == 3)
        until(lambda: b"early" in self.follow(run, follow=False).finish().of(1))

    def test_only_some_ranks_and_the_offset_stays_exact(self):
        self.script("for i in range(50):\n    print(rank, i)\n")
        run = self.start(self.spec())
        whole = self.follow(run).finish()
        one = self.follow(run, ranks=[1]).finish()
        self.assertEqual((one.of(0), one.of(1)), (b"", whole.of(1)))
        events = self.follow(run, events=True).finish()
        self.assertEqual((events.of(0), events.of(1)), (b"", b""))
        self.assertEqual([value["event"] for value in events.events() if value["event"] != "at"],
                         [value["event"] for value in whole.events()])
        offset = 0
        for rank, channel, payload, ms in one.records():
            value = json.loads(payload.decode()) if channel == journal.EVENT else {}
            if value.get("event") == "at":
                offset = value["offset"]
                continue
            data = journal.record(rank, channel, payload, ms)
            self.assertEqual(whole.raw[offset:offset + len(data)], data)
            offset += len(data)

    def test_output_of_the_last_seconds_only(self):
        self.script("""
if rank == 0:
    print('old')
    os.kill(os.getpid(), signal.SIGSTOP)
    print('new')
""")
        run = self.start(self.spec(procs=1, world=1, slots=["0"]))
        until(lambda: b"old" in self.follow(run, follow=False).finish().of(0))
        folder = rundir.folder_of(self.state, run)
        lock = rundir.read(folder, "lock")
        child = processes.descendants(lock["pid"])[0]
        # An hour ago, as far as the journal knows.
        with open(os.path.join(folder, "lock"), "r+") as file:
            file.write(json.dumps(dict(lock, started=lock["started"] - 3600)))
            file.truncate()
        self.assertEqual(self.follow(run, follow=False, since_s=60).finish().raw, b"")
        self.assertEqual(self.follow(run, follow=False, since_s=4000).finish().of(0), b"old\n")
        os.kill(child, signal.SIGCONT)
        self.follow(run).finish()
        recent = self.follow(run, since_s=60).finish()
        self.assertEqual([value["event"] for value in recent.events()], ["at", "ended"])

    def test_segments_that_were_not_written_to_for_long_are_not_read(self):
        self.script("print('x')\n")
        run = self.start(self.spec())
        self.follow(run).finish()
        folder = rundir.folder_of(self.state, run)
        size = journal.end(folder)
        os.rename(os.path.join(folder, "journal.0"), os.path.join(folder, "journal.100"))
        with open(os.path.join(folder, "journal.0"), "wb") as file:
            file.write(b"\0" * 100)
        os.utime(os.path.join(folder, "journal.0"), (1, 1))
        recent = self.follow(run, since_s=3600).finish()
        self.assertEqual(recent.events("at")[0], {"event": "at", "offset": 100})
        self.assertEqual(recent.of(0), b"x\n")
        self.assertEqual(journal.end(folder), 100 + size)

    def test_unknown_run(self):
        self.assertEqual(self.follow(12).finish().code, 3)
