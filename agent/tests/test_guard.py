"""An agent that is killed: another one takes over, and what does not depend on it goes on."""
import os
import signal
import socket
import sys
import unittest

from client import Client, Cut, until
from gpush_agent.host import guard
from node import NodeTest, alive, command

SLOW = True


class MemoTest(unittest.TestCase):
    def test_has_the_last_value(self):
        memo = guard.Memo()
        self.assertEqual(memo.read(), {})
        for number in range(5):
            memo.write({"number": number})
            self.assertEqual(memo.read(), {"number": number})

    def test_a_value_that_was_cut_short_leaves_the_one_before(self):
        memo = guard.Memo()
        memo.write({"number": 1})
        memo.write({"number": 2})
        at = 2 % 2 * guard.SLOT_BYTES + guard.HEAD.size
        memo.memory[at + 3:at + 5] = b"??"
        self.assertEqual(memo.read(), {"number": 1})
        memo.write({"number": 3})
        self.assertEqual(memo.read(), {"number": 3})

    def test_what_is_too_long_is_not_written(self):
        memo = guard.Memo()
        memo.write({"number": 1})
        memo.write({"text": "x" * guard.SLOT_BYTES})
        self.assertEqual(memo.read(), {"number": 1})


class ForkTest(unittest.TestCase):
    def test_a_fork_that_fails_is_tried_again(self):
        pid = os.fork()
        if pid == 0:
            fork, failures, guard.FORK_PAUSE = os.fork, [OSError(12, "no memory")] * 2, 0.0

            def fails_first():
                if failures:
                    raise failures.pop()
                return fork()
            try:
                sys.stderr = open(os.devnull, "w")
                os.fork = fails_first
                os._exit(guard.keep(lambda memo: 0))
            finally:
                os._exit(70)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


class GuardTest(NodeTest):
    def config(self, **more):
        return dict(super().config(**more), guard=True)

    def kill(self, client):
        """Ends the agent of this client, and returns one of its successor."""
        os.kill(client.welcome["pid"], signal.SIGKILL)
        until(lambda: not alive(client.welcome["pid"]), what="its end")
        again = self.client("attach", client=Client(client.incarnation))
        self.assertNotEqual(again.welcome["agent"], client.welcome["agent"])
        self.assertFalse(again.welcome["resumed"])
        self.assertTrue(again.welcome["again"])
        return again

    def test_runs_go_on_and_their_end_is_known(self):
        client = self.client()
        go = os.path.join(self.base, "go")
        spec = command(self.base, "echo one; while [ ! -e %s ]; do sleep 0.05; done; echo two" % go)
        client.call("run.start", run=1, spec=spec)
        again = self.kill(client)
        self.assertEqual([run["alive"] for run in again.call("run.list")], [True])
        self.assertEqual(again.call("run.start", run=2, spec=spec)["code"], "busy")
        open(go, "w").close()
        until(lambda: again.call("run.status", run=1)["exit"] is not None, what="the end of the run")
        self.assertEqual(again.call("run.status", run=1)["exit"]["exit"], 0)

    def test_a_server_is_reached_through_the_next_agent(self):
        client = self.client()
        text = ("import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(5); print(s.getsockname()[1], flush=True)\n"
                "while True: c = s.accept()[0]; c.sendall(b'here'); c.close()")
        stream = client.exec(argv=["setsid", "python3", "-c", text])
        stream.wait_for(b"\n")
        port = int(bytes(stream.out[0]))
        again = self.kill(client)
        with socket.create_connection(("127.0.0.1", port)) as sock:
            self.assertEqual(sock.recv(10), b"here")
        self.assertEqual(self.control("release")["ok"], True)
        until(lambda: not self.agent_pids(), what="the release of all, the server of the first agent too")
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
        self.assertIsNotNone(again)

    def test_a_command_without_its_client_ends(self):
        client = self.client()
        kept = client.exec(argv=["sh", "-c", "trap '' HUP; sleep 600 & echo $!; wait"], kill_on_close=True)
        free = client.exec(argv=["sh", "-c", "sleep 600 & echo $!; wait"])
        over = client.exec(argv=["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"], kill_on_close=True)
        pids = []
        for stream in (kept, free, over):
            stream.wait_for(b"\n")
            pids.append(int(bytes(stream.out[0])))
        self.foreign += pids
        self.kill(client)
        until(lambda: not alive(pids[0]), what="the end of the command")
        self.assertEqual([alive(pid) for pid in pids[1:]], [True, True])
        self.assertEqual(self.control("release")["ok"], True)
        until(lambda: not any(alive(pid) for pid in pids), what="the end of all")

    def test_a_command_that_heeds_no_signal_is_killed(self):
        client = self.client()
        stream = client.exec(argv=["sh", "-c", "trap '' HUP TERM; echo $$; while :; do sleep 600; done"], kill_on_close=True)
        stream.wait_for(b"\n")
        pid = int(bytes(stream.out[0]))
        self.kill(client)
        until(lambda: not alive(pid), what="the end of the command")

    def test_an_announced_end_is_known_to_the_next_agent(self):
        client = self.client(taken_s=600)
        go = os.path.join(self.base, "go")
        client.call("run.start", run=1, spec=command(self.base, "while [ ! -e %s ]; do sleep 0.05; done" % go))
        os.kill(self.agent_pids("guard")[0], signal.SIGTERM)
        until(lambda: client.call("status").get("taken"), what="the announcement")
        again = self.kill(client)
        left = again.call("status")
        self.assertTrue(left["taken"] and 500 < left["hard_left_s"] <= 600, left)
        open(go, "w").close()
        again.pump(lambda: again.bye is not None)
        self.assertEqual((again.bye["code"], again.bye["facts"]["why"]), ("released", "terminated"))

    def test_a_terminate_signal_between_two_agents_is_not_lost(self):
        client = self.client()
        keeper = self.agent_pids("guard")[0]
        os.kill(keeper, signal.SIGSTOP)
        os.kill(client.welcome["pid"], signal.SIGKILL)
        os.kill(keeper, signal.SIGTERM)
        os.kill(keeper, signal.SIGCONT)
        until(lambda: not alive(keeper), what="the end of the guard")
        self.assertEqual(self.agent_pids(), [])

    def test_terms_and_the_lease_go_on(self):
        client = self.client(client=Client(holder="other@there", term=7), lease={"hard_s": 600, "idle_s": 300})
        self.assertEqual(client.call("status")["lease_from"], "start")
        self.assertEqual(client.call("renew", hard_s=500, idle_s=77)["lease_from"], "renewed")
        os.kill(client.welcome["pid"], signal.SIGKILL)
        old = self.client("attach", client=Client(term=6))
        self.assertEqual(old.bye["code"], "term")
        again = self.client("attach", client=Client(holder="other@there", term=7))
        lease = again.call("status")
        self.assertTrue(300 < lease["hard_left_s"] <= 500, lease)
        self.assertTrue(lease["idle_left_s"] <= 77, lease)
        self.assertEqual(lease["lease_from"], "renewed")

    def end_container(self, client):
        """As the kernel does when the memory of a container is full."""
        pids = self.agent_pids("guard") + [client.welcome["pid"]]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        until(lambda: not any(alive(pid) for pid in pids), what="the end of all")

    def test_the_next_container_goes_on_with_the_lease(self):
        first = self.client(client=Client(holder="other@there", term=7), memory=self.base)
        first.call("renew", hard_s=5000, idle_s=77)
        self.end_container(first)
        again = self.client(client=Client(holder="other@there", term=7), memory=self.base)
        lease = again.call("status")
        self.assertTrue(4000 < lease["hard_left_s"] <= 5000 and lease["idle_left_s"] <= 77, lease)
        self.assertEqual(lease["lease_from"], "renewed")
        self.assertFalse(again.welcome["again"])
        old = self.client("attach", client=Client(term=6))
        self.assertEqual(old.bye["code"], "term")

    def test_what_was_announced_to_a_container_ends_with_it(self):
        first = self.client(taken_s=600, memory=self.base)
        first.call("run.start", run=1, spec=command(self.base, "sleep 600"))
        os.kill(self.agent_pids("guard")[0], signal.SIGTERM)
        until(lambda: first.call("status").get("taken"), what="the announcement")
        self.end_container(first)
        again = self.client(taken_s=600, memory=self.base)
        self.assertNotIn("taken", again.call("status"))

    def test_a_folder_without_room_for_the_memory_is_done_without(self):
        client = self.client(memory="/proc")
        client.call("renew", hard_s=5000, idle_s=77)
        again = self.kill(client)
        self.assertGreater(again.call("status")["hard_left_s"], 4000)

    def test_locks_are_held_all_the_time(self):
        lock = os.path.join(self.base, "gpu0")
        client = self.client(locks=[{"path": lock, "what": "gpu 0"}])
        self.kill(client)
        self.gang = "another"
        with self.assertRaises(Cut) as refused:
            self.client(locks=[{"path": lock, "what": "gpu 0"}])
        self.assertIn('"held"', str(refused.exception))

    def test_a_terminate_signal_of_the_guard_ends_all(self):
        client = self.client()
        keeper = self.agent_pids("guard")[0]
        self.assertTrue(alive(keeper))
        os.kill(keeper, signal.SIGTERM)
        client.pump(lambda: client.bye is not None)
        self.assertEqual(client.bye["code"], "released")
        until(lambda: not alive(keeper), what="the end of the guard")

    def test_release_ends_the_guard(self):
        self.client()
        keeper = self.agent_pids("guard")[0]
        self.assertEqual(self.control("release")["ok"], True)
        until(lambda: not alive(keeper), what="the end of the guard")

    def test_what_kills_every_agent_ends_it(self):
        client = self.client()
        keeper = self.agent_pids("guard")[0]
        for _ in range(guard.MOST_DEATHS):
            client = self.kill(client)
        os.kill(client.welcome["pid"], signal.SIGKILL)
        until(lambda: not alive(keeper), what="the end of the guard")


if __name__ == "__main__":
    unittest.main()
