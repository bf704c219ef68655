"""Word of an end before it comes: when, to whom, and to whom not. Ends on a clock of the test's own; agents on theirs."""
import os
import signal
import unittest

import client as testclient
from client import until
from gpush_agent.lifetime import notices
from node import alive, command
from test_life import LifeTest

SLOW = True

PTY = {"term": "xterm", "columns": 200, "rows": 24}
WAITS = "import os, signal, time\n%s\nopen('ready', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.02)\n"


class EndsTest(unittest.TestCase):
    def setUp(self):
        self.ends = notices.Ends(notices.LENGTHS)

    def looks(self, *lefts):
        return [self.ends.look(left) for left in lefts]

    def test_each_length_is_told_once(self):
        self.assertEqual(self.looks(4000, 1801, 1800, 1799, 901, 900, 10, 300, 0),
                         [False, False, True, False, False, True, True, False, False])

    def test_several_at_once_are_one(self):
        self.assertEqual(self.looks(4000, 200, 100), [False, True, False])

    def test_a_lease_that_was_never_so_long_says_nothing_of_it(self):
        self.assertEqual(self.looks(1200, 1100, 900, 850), [False, False, True, False])
        self.assertEqual(notices.Ends((30.0,)).look(29), False)

    def test_an_end_that_moved_away_is_told_again(self):
        self.assertEqual(self.looks(4000, 1700, 4000, 1700), [False, True, False, True])

    def test_no_end_no_word(self):
        self.assertEqual(self.looks(4000, None, 100), [False, False, False])

    def test_when_to_look_again(self):
        self.assertIsNone(self.ends.next(None))
        self.looks(2000)
        self.assertEqual(self.ends.next(2000), 200.0)
        self.looks(1800)
        self.assertEqual(self.ends.next(1800), 900.0)
        self.looks(100)
        self.assertIsNone(self.ends.next(100))

    def test_lengths_that_cannot_be_meant(self):
        self.assertEqual(notices.lengths([1, 3.5, 2]), (3.5, 2.0, 1.0))
        self.assertEqual(notices.lengths([]), ())
        for bad in (None, "30m", 5, [0], [-1], [True], ["5"], [1e12], [1] * 17, {}):
            self.assertEqual(notices.lengths(bad), notices.LENGTHS, bad)

    def test_words(self):
        self.assertEqual([notices.words(seconds) for seconds in (0, 11.6, 119, 120, 299.6, 3599, 5400, 90000)],
                         ["0s", "12s", "119s", "2m", "5m", "1h", "1h30m", "25h"])


class NoticesTest(LifeTest):
    LEASE = {"hard_s": None, "idle_s": 3600, "unclaimed_s": 600}

    def at(self, seconds):
        self.advance(seconds)
        return self.control("status")       # wakes the loop, which waits by the system's time

    def test_terminals_hear_of_the_idle_end_and_pipes_do_not(self):
        client = self.client(extra=self.own_time(), lease=self.LEASE)
        terminal = client.exec(pty=PTY).accepted()
        pipe = client.exec(command=None, argv=None).accepted()
        self.at(1700)
        self.at(1801)
        terminal.wait_for(b"gpush: devbox is given back in 30m if nothing happens; \"gpush extend\" keeps it\r")
        self.at(3301)
        terminal.wait_for(b"in 5m if nothing happens")
        self.assertNotIn(b"in 15m", terminal.out[0])
        pipe.send(b"echo only this; exit\n")
        pipe.finish()
        self.assertEqual((bytes(pipe.out[0]), bytes(pipe.out[1])), (b"only this\n", b""))

    def test_a_command_with_a_terminal_hears_it_and_the_other_does_not(self):
        client = self.client(extra=self.own_time(), lease=dict(self.LEASE, hard_s=4000))
        terminal = client.exec(command="read line; echo got $line", pty=PTY).accepted()
        pipe = client.exec(command="read line; echo got $line").accepted()
        self.at(2300)
        terminal.wait_for(b"gpush: devbox ends in 2")
        pipe.send(b"it\n")
        pipe.finish()
        self.assertEqual(bytes(pipe.out[0]), b"got it\n")

    def test_extending_arms_them_again(self):
        client = self.client(extra=self.own_time(), lease=dict(self.LEASE, hard_s=4000, idle_s=9000, warn_s=[60]))
        terminal = client.exec(pty=PTY).accepted()
        self.at(3950)
        terminal.wait_for(b"devbox ends in ")
        self.assertEqual(round(client.call("renew", hard_s=1000, idle_s=9000)["hard_left_s"]), 1000)
        self.at(3950 + 970)
        client.pump(lambda: terminal.out[0].count(b"devbox ends in ") == 2)

    def test_its_lengths_are_in_its_status(self):
        client = self.client(lease=dict(self.LEASE, warn_s=[60, 7200]))
        self.assertEqual(client.call("status")["warn_s"], [7200.0, 60.0])

    def test_a_terminal_that_takes_nothing_keeps_nobody(self):
        client = self.client(extra=self.own_time(), lease=dict(self.LEASE, idle_s=9000, warn_s=[60]))
        stuck = client.exec(command="stty raw; exec yes", pty=PTY, credit=1000).accepted()
        stuck.auto_credit = False
        other = client.exec(pty=PTY).accepted()
        self.control("renew", hard_s=3600, idle_s=9000)
        self.at(3550)
        other.wait_for(b"devbox ends in ")

    def spec(self, script, **more):
        with open(os.path.join(self.base, "x.py"), "w") as file:
            file.write(WAITS % script)
        spec = command(self.base, "exec python3 x.py")
        spec.update(warn={"signal": "USR1", "before_s": 600}, **more)
        return spec

    def begin(self, client, spec, run=1):
        self.foreign.append(client.call("run.start", run=run, spec=spec)["pid"])
        until(lambda: os.path.exists(os.path.join(self.base, "ready")), what="the rank is ready")

    def saved(self):
        return os.path.exists(os.path.join(self.base, "saved"))

    SAVES = "signal.signal(signal.SIGUSR1, lambda number, frame: open('saved', 'a').write('x'))"

    def test_ranks_get_their_signal_before_the_hard_end_without_a_gateway(self):
        client = self.client(extra=self.own_time(), lease=dict(self.LEASE, hard_s=4000))
        pid = client.welcome["pid"]
        self.begin(client, self.spec(self.SAVES))
        client.cut()
        self.at(3300)
        self.assertFalse(self.saved())
        self.at(3401)
        until(self.saved, what="the signal")
        self.at(3500)
        open(os.path.join(self.base, "go"), "w").close()
        until(lambda: self.control("status")["runs"] == [], what="end of the run")
        with open(os.path.join(self.base, "saved")) as file:
            self.assertEqual(file.read(), "x")
        self.assertTrue(alive(pid))

    def test_a_rank_that_does_not_wait_for_it_is_not_killed_by_it(self):
        client = self.client(extra=self.own_time(), lease=dict(self.LEASE, hard_s=4000))
        self.begin(client, self.spec("pass"))
        follow = client.exec(builtin="follow", args={"run": 1, "offset": 0, "follow": True}, command=None).accepted()
        self.at(3401)
        follow.wait_for(b'"event": "warned"')
        open(os.path.join(self.base, "go"), "w").close()
        follow.finish()
        self.assertEqual(client.call("run.status", run=1)["exit"]["exit"], 0)

    def test_a_handler_that_comes_late_gets_it_all_the_same(self):
        client = self.client(extra=self.own_time(), lease=dict(self.LEASE, hard_s=300))
        late = "open('ready', 'w').close()\nwhile not os.path.exists('more'): time.sleep(0.02)\n" + self.SAVES
        self.begin(client, self.spec(late))
        self.assertFalse(self.saved())
        open(os.path.join(self.base, "more"), "w").close()
        until(self.saved, what="the signal")

    def test_warn_is_checked(self):
        client = self.client()
        for bad in ({"signal": "NONE", "before_s": 5}, {"signal": "USR1"}, {"signal": "USR1", "before_s": 0}, "USR1@5m", 7):
            spec = dict(command(self.base, "true"), warn=bad)
            self.assertEqual(client.call("run.start", run=1, spec=spec)["facts"], {"field": "warn"}, bad)


class TakenTest(LifeTest):
    """A scheduler says TERM to every process of a node, and KILL some time later."""

    LEASE = {"hard_s": 4000, "idle_s": 3600, "unclaimed_s": 600}

    def term(self, client):
        os.kill(client.welcome["pid"], signal.SIGTERM)

    def test_terminals_and_ranks_hear_of_it_and_the_agent_waits(self):
        client = self.client(lease=self.LEASE, taken_s=60)
        terminal = client.exec(pty=PTY).accepted()
        script = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + NoticesTest.SAVES
        with open(os.path.join(self.base, "x.py"), "w") as file:
            file.write(WAITS % script)
        spec = dict(command(self.base, "exec python3 x.py"), warn={"signal": "USR1", "before_s": 600})
        supervisor = client.call("run.start", run=1, spec=spec)["pid"]
        self.foreign.append(supervisor)
        until(lambda: os.path.exists(os.path.join(self.base, "ready")), what="the rank is ready")
        os.kill(supervisor, signal.SIGTERM)
        self.term(client)
        terminal.wait_for(b"gpush: the scheduler takes the nodes of devbox back, in 60s at the latest")
        until(lambda: os.path.exists(os.path.join(self.base, "saved")), what="the signal")
        status = client.call("status")
        self.assertEqual((status["taken"], status["runs"]), (True, [1]))
        self.assertTrue(0 < status["hard_left_s"] <= 60)
        open(os.path.join(self.base, "go"), "w").close()
        until(lambda: client.call("status")["runs"] == [], what="end of the run")
        pid = client.welcome["pid"]
        terminal.close()
        until(lambda: not alive(pid), what="nothing is left to wait for")

    def test_without_anything_to_save_it_goes_at_once(self):
        client = self.client(lease=self.LEASE, taken_s=60)
        pid = client.welcome["pid"]
        self.term(client)
        until(lambda: not alive(pid), what="end")

    def test_at_the_end_of_the_time_it_goes_in_any_case(self):
        client = self.client(extra=self.own_time(), lease=self.LEASE, taken_s=60)
        pid, terminal = client.welcome["pid"], client.exec(pty=PTY).accepted()
        self.term(client)
        terminal.wait_for(b"the scheduler takes")
        self.advance(61)
        until(lambda: not alive(pid), what="end")

    def test_said_again_it_means_now(self):
        slow = testclient.text("agent.py").replace("SAME_SECONDS = 2.0", "SAME_SECONDS = 1000.0")
        client = self.client(extra=dict(self.own_time(), agent=slow), lease=self.LEASE, taken_s=3000)
        pid, terminal = client.welcome["pid"], client.exec(pty=PTY).accepted()
        self.term(client)
        terminal.wait_for(b"the scheduler takes")
        self.term(client)
        self.assertEqual(client.call("status")["taken"], True)
        self.advance(2000)
        self.term(client)
        until(lambda: not alive(pid), what="end")

    def test_on_a_machine_without_a_scheduler_it_means_now(self):
        client = self.client(lease=self.LEASE)
        pid = client.welcome["pid"]
        client.exec(pty=PTY).accepted()
        self.term(client)
        until(lambda: not alive(pid), what="end")


if __name__ == "__main__":
    unittest.main()
