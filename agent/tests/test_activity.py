"""What keeps a node: bytes that pass, processes that compute; and what does not. On clocks of the test's own, and short, for real."""
import os
import socket
import sys
import unittest

import client as testclient
from client import until
from gpush_agent.core.refused import Refused
from gpush_agent.lifetime import ending, usage
from gpush_agent.lifetime.usage import Process, Usage
from gpush_agent.samples import sampler
from gpush_agent.streams import traffic
from node import alive
from run import slow
from test_life import LifeTest

PTY = {"term": "xterm", "columns": 80, "rows": 24}
KEEPALIVE = b"\x82\x0d" + b"\x09" + b"\0" * 12      # of VS Code's protocol, every 5 s


class TrafficTest(unittest.TestCase):
    def setUp(self):
        self.now, self.told = 0.0, []

    def clock(self):
        return self.now

    def forward(self):
        return traffic.Forward(self.clock, self.told.append)

    def test_keepalives_of_a_day_are_no_activity(self):
        forward = self.forward()
        for _ in range(17280):
            self.now += 5.0
            forward.came(KEEPALIVE)
            forward.went(len(KEEPALIVE))
            forward.came(KEEPALIVE)         # an acknowledgement now and then
        self.assertEqual(self.told, [])

    def test_slow_typing_is_activity_within_a_minute(self):
        forward = self.forward()
        while not self.told and self.now < 60.0:
            self.now += 0.5
            for _ in range(3):              # what a key is in VS Code: several small pieces in both directions
                forward.came(b"x" * 18)
                forward.went(20)
        self.assertEqual(self.told, ["data through a forward"])
        self.assertLess(self.now, 30.0)

    def test_one_opened_file_is_activity(self):
        forward = self.forward()
        forward.came(b"\x82read")
        forward.went(20000)
        self.assertEqual(len(self.told), 1)

    def test_pages_that_ask_again_and_again_are_not(self):
        forward = self.forward()
        for _ in range(1000):
            self.now += 10.0
            forward.came(b"GET /api/kernels?1 HTTP/1.1\r\nHost: localhost:8888\r\n" + b"Cookie: x\r\n" * 60)
            forward.went(50000)
        self.assertEqual(self.told, [])
        forward.came(b"PUT /api/contents/a.ipynb HTTP/1.1\r\n\r\n" + b"x" * 9000)
        self.assertEqual(len(self.told), 1)

    def test_what_follows_an_upgrade_to_a_websocket_counts(self):
        forward = self.forward()
        forward.came(b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n")
        forward.went(20000)
        self.assertEqual(self.told, [])
        forward.came(b"\x82\xfe")
        forward.went(20000)
        self.assertEqual(len(self.told), 1)

    def test_a_meter_forgets_and_starts_again(self):
        meter = traffic.Meter(self.clock, 100)
        self.assertEqual([meter.passes(60), meter.passes(40), meter.passes(1), meter.passes(99)], [False, False, True, False])
        self.now = 60.0
        self.assertFalse(meter.passes(100))
        self.assertTrue(meter.passes(1))

    def test_every_key_counts_and_a_status_line_does_not(self):
        terminal = traffic.Terminal(self.clock, self.told.append)
        for _ in range(1000):
            self.now += 15.0
            terminal.went(300)
        self.assertEqual(self.told, [])
        terminal.came(b"a")
        self.assertEqual(self.told, ["keys in a terminal"])
        terminal.went(5000)
        self.assertEqual(self.told[1:], ["output of a terminal"])

    def test_output_counts_no_longer_than_a_working_day_after_the_last_key(self):
        terminal = traffic.Terminal(self.clock, self.told.append)
        self.now = traffic.TERMINAL_SECONDS - 1
        terminal.went(5000)
        self.now += 2
        terminal.went(5000)
        self.assertEqual(len(self.told), 1)

    def test_sync_does_not_count_by_itself(self):
        sync = traffic.of_program(self.clock, self.told.append, {"builtin": "files"})
        sync.came(b"\0" * 100000)
        self.assertEqual(self.told, [])

    def test_names_of_clients_are_untrusted(self):
        self.assertEqual([traffic.client_of(value, "ssh") for value in
                          ({}, {"client": "JetBrains"}, {"client": "a\x1b[2J"}, {"client": 7}, {"client": ""}, {"client": "x" * 50})],
                         ["ssh", "JetBrains", "ssh", "ssh", "ssh", "x" * 40])


class LateWorkerTest(unittest.TestCase):
    """A driver that hangs keeps nvidia-smi, whatever signal it gets."""

    def test_no_other_is_started_while_one_is_stuck(self):
        begun, answers, stuck = [], [], [[7]]

        class Stuck:
            def __init__(self, loop, origin, function, answer, seconds):
                begun.append(answer)

            def left(self):
                return stuck[0]

        class Agent:
            class loop:
                clock = staticmethod(lambda: 0.0)
            origin = None
        self.addCleanup(setattr, usage, "Worker", usage.Worker)
        usage.Worker = Stuck
        sampling = usage.Sampling(Agent)
        sampling.work("gpu", None, answers.append, 20.0)
        begun[0](None, Refused("timeout", {}))
        sampling.work("gpu", None, answers.append, 20.0)
        self.assertEqual((len(begun), answers), (1, [None, None]))
        stuck[0] = []
        sampling.work("gpu", None, answers.append, 20.0)
        begun[1]([1], None)
        self.assertEqual(answers, [None, None, [1]])


class EndingTest(unittest.TestCase):
    def test_what_does_not_end_is_named_and_looked_at_less_often(self):
        pauses, answers = [], []

        class Agent:
            execs = ()
            log = print

            class loop:
                clock = staticmethod(lambda: 1000.0 + sum(pauses))
                reap = staticmethod(lambda: None)
                after = staticmethod(lambda seconds, call: pauses.append(seconds))

            runs_alive = staticmethod(lambda: [])
        stuck = ending.Ending.__new__(ending.Ending)
        stuck.agent, stuck.loop, stuck.until = Agent, Agent.loop, 0.0
        stuck.descendants, stuck.orphans = lambda: [1 << 30], lambda: []
        stuck.left, stuck.answers = [], [lambda kept, left: answers.append((kept, left, sum(pauses)))]
        stuck.wait_for_runs()
        for _ in range(200):
            stuck.wait_for_children()
        [(kept, left, after)] = answers
        self.assertEqual((kept, left), ([], ["a process (pid %d)" % (1 << 30)]))
        self.assertGreater(after, ending.KILL_SECONDS)
        self.assertLess(after, 2 * ending.KILL_SECONDS)
        stuck.also(lambda kept, left: answers.append(left))
        self.assertEqual(answers[1:], [left])
        self.assertEqual(pauses[1:10], [ending.POLL] * 9)
        self.assertEqual(pauses[-1], ending.LONGEST_POLL)


class UsageTest(unittest.TestCase):
    """Samples of a table that the test writes."""

    def setUp(self):
        self.now, self.table, self.ended, self.asked = 0.0, {}, 0.0, []
        self.on_gpu = None
        self.waits = {}             # pid: share of the time
        self.usage = Usage(lambda: self.now, self.read, self.gpu)

    def read(self, answer):
        answer([Process(pid, start, own, total, ["process", str(pid)], self.now * self.waits.get(pid, 0.0))
                for (pid, start), (own, total) in sorted(self.table.items())], self.ended)

    def gpu(self, processes, answer):
        self.asked.append(answer)
        answer(self.on_gpu)

    def sample(self, quiet=True):
        self.now += 30.0
        self.usage.look(30.0, quiet)
        return self.usage.using()

    def spend(self, pid, seconds, start=1):
        own, total = self.table.get((pid, start), (0.0, 0.0))
        self.table[pid, start] = (own + seconds, total + seconds)

    def rounds(self, count, shares):
        """Returns what each sample answers while processes use these shares of a core."""
        found = []
        for _ in range(count):
            for pid, share in shares.items():
                self.spend(pid, 30.0 * share)
            found.append(self.sample())
        return found

    def test_a_kernel_that_trains_is_named(self):
        self.assertEqual(self.rounds(3, {7: 1.0, 8: 0.02}), [None, "process 7 uses CPU", "process 7 uses CPU"])

    def test_an_editor_with_its_language_servers_is_not(self):
        self.assertEqual(set(self.rounds(100, {1: 0.02, 2: 0.05, 3: 0.08, 4: 0.03})), {None})

    def test_many_short_processes_count_by_who_waits_for_them(self):
        self.table = {(1, 1): (0.1, 0.1)}
        self.sample()
        self.table = {(1, 1): (0.2, 25.0)}
        self.assertEqual(self.sample(), "process 1 uses CPU")

    def test_an_end_is_no_use(self):
        """What a process used in its life moves to who waits for it, or to the agent."""
        self.table = {(1, 1): (0.1, 0.1), (2, 1): (900.0, 900.0), (3, 1): (500.0, 500.0)}
        self.sample()
        self.table, self.ended = {(1, 1): (0.1, 900.1)}, 500.0
        self.assertIsNone(self.sample())

    def test_a_number_that_is_used_again_is_another_process(self):
        self.table = {(1, 1): (0.0, 0.0), (2, 1): (100.0, 100.0)}
        self.sample()
        self.table, self.ended = {(1, 1): (0.0, 0.0), (2, 9): (20.0, 20.0)}, 100.0
        self.assertEqual(self.sample(), "process 2 uses CPU")

    def test_a_gpu_counts_where_the_processor_does_not(self):
        self.on_gpu = Process(5, 1, 0.0, 0.0, ["process", "5"])
        self.assertEqual(self.rounds(2, {5: 0.01}), [None, "process 5 uses a GPU"])
        self.on_gpu = None
        self.assertEqual(self.rounds(1, {5: 0.01}), [None])

    def test_a_late_answer_about_gpus_is_dropped(self):
        self.rounds(3, {5: 0.01})
        self.asked[0](Process(5, 1, 0.0, 0.0))
        self.assertIsNone(self.usage.using())
        self.sample(quiet=False)
        self.asked[-1](Process(5, 1, 0.0, 0.0))
        self.assertIsNone(self.usage.using())

    def test_while_something_else_keeps_the_node_nothing_is_read(self):
        self.rounds(2, {7: 1.0})
        self.spend(7, 30.0)
        self.assertIsNone(self.sample(quiet=False))
        self.assertEqual(self.rounds(2, {7: 1.0}), [None, "process 7 uses CPU"])    # the first is only to compare with

    def test_a_sample_that_fails_or_comes_late_changes_nothing(self):
        self.rounds(2, {7: 1.0})
        good, late = self.usage.read, []
        self.usage.read = lambda answer: answer(None, 0.0)
        self.assertEqual(self.sample(), "process 7 uses CPU")
        self.usage.read = late.append
        self.sample()
        self.usage.read = good
        self.sample(quiet=False)
        late[0]([], 0.0)
        self.assertEqual(len(self.usage.processes), 1)

    def test_a_slow_answer_counts_and_is_waited_for(self):
        """On a full machine each takes longer than the interval."""
        self.sample()
        slow = []
        self.usage.read = slow.append
        self.sample()
        self.sample()
        self.assertEqual(len(slow), 1)
        slow[0]([Process(7, 1, 0.0, 0.0)], 0.0)
        self.spend(7, 30.0)
        self.sample()
        slow[1]([Process(7, 1, 60.0, 60.0, ["train"])], 0.0)
        self.assertEqual(self.usage.using(), "train uses CPU")

    def test_what_would_compute_but_has_to_wait_counts(self):
        self.waits = {7: 0.8}
        self.assertEqual(self.rounds(2, {7: 0.1}), [None, "process 7 waits for CPU"])

    def test_what_wakes_up_now_and_then_and_waits_for_long_does_not(self):
        self.waits = {1: 0.9, 2: 0.5, 3: 0.5}
        self.assertEqual(set(self.rounds(5, {1: 0.01, 2: 0.04, 3: 0.04})), {None})

    def test_no_more_than_a_sample_each_interval(self):
        self.sample()
        at = self.usage.ahead
        self.now += 1.0
        self.usage.look(30.0, True)
        self.assertEqual(self.usage.ahead, at)


class NamesTest(unittest.TestCase):
    def test_names_of_processes(self):
        for words, name in ((["/usr/bin/python3", "-u", "/home/me/train.py", "--lr", "3"], "python3 train.py"),
                            (["python", "-m", "http.server"], "python -m http.server"),
                            (["/v/bin/python", "-m", "ipykernel_launcher", "-f", "k.json"], "a notebook's kernel"),
                            (["sh", "-c", "while :; do :; done"], "sh"),
                            (["nginx: worker process"], "nginx:"), ([""], "a process"), ([], "a process"), (["a\x1b[2Jb"], "a?[2Jb"),
                            (["x" * 100], "x" * usage.LONGEST_NAME)):
            self.assertEqual(usage.short_name(words), name)

    def test_the_busiest_gpu_of_the_session_counts(self):
        asked = []

        class Gpus:
            def __init__(self, slots, reader):
                asked.append(slots)

            def sample(self):
                return [{"gpu": "0", "util": 3}, {"gpu": "1", "util": 97}, {"gpu": "2", "util": None}, {"gpu": "3", "problem": "GPU_IS_LOST"}]
        self.addCleanup(setattr, sampler, "Gpus", sampler.Gpus)
        sampler.Gpus = Gpus
        self.assertEqual(usage.gpu_percent(["0", "1"]), 97)
        self.assertEqual(usage.gpu_percent(None), 97)
        self.assertEqual((asked[0], len(asked[1])), (["0", "1"], usage.MOST_GPUS))
        Gpus.sample = lambda self: []
        self.assertIsNone(usage.gpu_percent([]))

    def test_terminals_by_number(self):
        self.assertIsNone(usage.terminal_path(0))
        self.assertIsNone(usage.terminal_path(4 << 8 | 1))
        master, slave = os.openpty()
        try:
            self.assertEqual(usage.terminal_path(os.fstat(slave).st_rdev), os.ttyname(slave))
        finally:
            os.close(master)
            os.close(slave)


@slow
class IdleEndTest(LifeTest):
    """Of a real agent, whose time the test moves."""

    LEASE = {"hard_s": None, "idle_s": 3600, "unclaimed_s": 600}

    def begin(self):
        client = self.client(extra=self.own_time(), lease=self.LEASE)
        return client, client.welcome["pid"]

    def at(self, seconds):
        self.advance(seconds)
        return self.control("status")       # wakes the loop, which waits by the system's time

    def editor(self, client):
        """A shell without a terminal, which waits, and a connection to a server on the node."""
        shell = client.exec(argv=None, command=None, client="ssh").accepted()
        server = socket.socket()
        self.addCleanup(server.close)
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        forward = client.open({"type": "tcp", "host": "127.0.0.1", "port": server.getsockname()[1],
                               "client": "JetBrains"}).accepted()
        connection, _ = server.accept()
        self.addCleanup(connection.close)
        return shell, forward, connection

    def test_an_editor_that_is_open_and_silent_lets_go(self):
        client, pid = self.begin()
        _, forward, connection = self.editor(client)
        for minute in range(5, 60, 5):      # the time that this takes is added, and must not reach the end
            forward.send(KEEPALIVE * 5)
            connection.sendall(KEEPALIVE * 5)
            client.pump(lambda: len(forward.out[0]) == minute * len(KEEPALIVE))
            status = self.at(60 * minute)
            self.assertEqual(status["clients"], ["JetBrains", "ssh"])
        self.assertGreaterEqual(status["idle_for_s"], 55 * 60)
        self.assertFalse(status["busy"])
        self.at(3605)
        until(lambda: not alive(pid), what="end of the lease")

    def test_one_that_types_does_not(self):
        client, pid = self.begin()
        _, forward, connection = self.editor(client)
        self.at(3000)
        for _ in range(40):                 # not at once: the answer shows that it went through
            forward.send(b"x" * 300)
        connection.settimeout(10)
        taken = b""
        while len(taken) < 12000:
            taken += connection.recv(65536)
        status = self.at(3605)
        self.assertTrue(alive(pid))
        self.assertEqual(status["idle_because"], "data through a forward")
        self.assertGreater(status["idle_left_s"], 2900)

    def test_a_terminal_that_is_only_open_lets_go_and_a_key_does_not(self):
        client, pid = self.begin()
        terminal = client.exec(pty=PTY).accepted()
        self.at(3000)
        terminal.send(b"echo here$((1+1))\n")
        terminal.wait_for(b"here2")
        self.at(6000)
        self.assertTrue(alive(pid))
        self.at(6605)
        until(lambda: not alive(pid), what="end of the lease")

    def test_an_editor_is_known_by_its_server(self):
        client, _ = self.begin()
        self.editor(client)
        folder = os.path.join(self.base, ".vscode-server", "bin")
        os.makedirs(folder)
        path = os.path.join(folder, "server.py")
        with open(path, "w") as file:
            file.write("import sys\nprint('up', flush=True)\nsys.stdin.read()\n")
        client.exec(argv=[sys.executable, path]).accepted().wait_for(b"up")
        self.at(60)
        until(lambda: self.control("status")["clients"] == ["VS Code"], what="the server is seen")

    def test_warnings_are_no_activity_and_reach_terminals_that_programs_made(self):
        client, pid = self.begin()
        script = ("import os, pty, sys\n"
                  "pid, master = pty.fork()\n"
                  "if pid == 0:\n    os.execvp('sleep', ['sleep', '1000'])\n"
                  "sys.stdout.write('ready\\n'); sys.stdout.flush()\n"
                  "while True:\n    os.write(1, os.read(master, 4096))\n")
        made = client.exec(argv=[sys.executable, "-c", script]).accepted()
        made.wait_for(b"ready")
        terminal = client.exec(pty=PTY).accepted()
        self.at(1700)
        self.at(1801)
        for stream in (terminal, made):
            stream.wait_for(b"gpush: devbox is given back in 30m if nothing happens")
        self.at(2705)
        terminal.wait_for(b"in 15m")
        self.at(3605)
        until(lambda: not alive(pid), what="end of the lease")


@slow
class RealTest(LifeTest):
    """Short, and for real."""

    LEASE = {"hard_s": None, "idle_s": 600, "unclaimed_s": 600}

    def test_a_command_that_waits_lets_go(self):
        client = self.client(lease=self.LEASE)
        waits = client.exec(command="cat").accepted()
        pid, cat = client.welcome["pid"], waits.opened["pid"]
        client.call("renew", idle_s=1.5)
        client.cut()
        until(lambda: not alive(pid), what="end of the lease")
        self.assertFalse(alive(cat))

    def test_a_process_that_computes_keeps_the_node_as_long_as_it_does(self):
        # A busy machine gives it less than a quarter of a core.
        modest = testclient.text("lifetime/usage.py").replace("CPU_SHARE = 0.25", "CPU_SHARE = 0.01")
        client = self.client(lease=self.LEASE, extra={"lifetime/usage": modest})
        go = os.path.join(self.base, "go")
        script = "import os\nwhile not os.path.exists(%r) and os.getppid() > 1:\n    sum(range(10000))\n" % go
        path = os.path.join(self.base, "train.py")
        with open(path, "w") as file:
            file.write(script)
        client.exec(argv=[sys.executable, path]).accepted()
        pid = client.welcome["pid"]
        client.call("renew", idle_s=4)
        client.cut()
        because = os.path.basename(sys.executable) + " train.py uses CPU"
        until(lambda: self.control("status")["idle_because"] == because, what="the process is seen")
        begun = self.control("status")
        self.assertTrue(begun["busy"])
        now = os.times().elapsed
        until(lambda: os.times().elapsed > now + 8, what="twice the idle time")
        status = self.control("status")
        self.assertEqual((status["idle_because"], status["busy"]), (because, True))
        with open(go, "w"):
            pass
        until(lambda: not alive(pid), what="end of the lease")


if __name__ == "__main__":
    unittest.main()
