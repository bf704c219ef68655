"""What killed agents leave: removed when nobody lives in it, and nothing else ever is."""
import fcntl
import json
import os
import shutil
import signal
import socket
import tempfile
import time
import unittest

from client import after_preamble, spawn, until
from gpush_agent.host import folder, sweep
from node import NodeTest, alive

OLD = 2 * sweep.AGE_SECONDS


def backdate(path, seconds=OLD):
    """As if nobody had touched it, or anything in it, for so long."""
    then = time.time() - seconds
    if os.path.isdir(path):
        for name in os.listdir(path):
            os.utime(os.path.join(path, name), (then, then))
    os.utime(path, (then, then))


class SweepTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gps")
        self.bases = [self.base]
        self.user = folder.user_folders(self.bases)[0]
        os.mkdir(self.user, 0o700)
        self.open = []

    def tearDown(self):
        for thing in self.open:
            thing.close()
        shutil.rmtree(self.base)

    def left(self, name="0123456789ab", seconds=OLD, mode=0o700):
        """The folder of an agent that was killed so long ago."""
        path = os.path.join(self.user, name)
        os.mkdir(path, mode)
        for file in ("lock", "agent.json", "log"):
            with open(os.path.join(path, file), "w") as out:
                out.write("{}")
        dead = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        dead.bind(os.path.join(path, "agent.sock"))
        dead.close()
        backdate(path, seconds)
        return path

    def swept(self):
        return sweep.dead(self.bases)["gone"]

    def holds(self, path):
        file = open(path, "a")
        self.open.append(file)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def listens(self, address):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.open.append(sock)
        sock.bind(address)
        sock.listen(1)

    def test_what_nobody_lives_in_goes(self):
        one, two = self.left("0123456789ab"), self.left("ba9876543210")
        self.assertEqual(self.swept(), [one, two])
        self.assertEqual(os.listdir(self.user), [])
        self.assertEqual(self.swept(), [])

    def test_a_folder_that_was_touched_a_moment_ago_stays(self):
        path = self.left(seconds=sweep.AGE_SECONDS / 2)
        self.assertEqual(self.swept(), [])
        backdate(path)
        os.utime(os.path.join(path, "lock"))
        self.assertEqual(self.swept(), [])
        self.assertEqual(os.listdir(self.user), [os.path.basename(path)])

    def test_a_folder_whose_lock_is_held_stays(self):
        path = self.left()
        self.holds(os.path.join(path, "lock"))
        backdate(path)
        self.assertEqual(self.swept(), [])
        self.assertEqual(len(os.listdir(path)), 4)

    def test_a_folder_whose_agent_is_being_started_stays(self):
        path = self.left()
        self.holds(path + ".start")
        backdate(path + ".start")
        self.assertEqual(self.swept(), [])
        self.assertEqual(sorted(os.listdir(self.user)), [os.path.basename(path), os.path.basename(path) + ".start"])

    def test_an_agent_whose_lock_was_deleted_by_others_keeps_its_folder(self):
        path = self.left()
        os.unlink(os.path.join(path, "lock"))
        self.listens(folder.abstract(os.path.basename(path), self.bases))
        backdate(path)
        self.assertEqual(self.swept(), [])
        os.unlink(os.path.join(path, "agent.sock"))
        self.open.pop().close()
        self.listens(os.path.join(path, "agent.sock"))
        backdate(path)
        self.assertEqual(self.swept(), [])
        self.assertNotIn("lock", os.listdir(path))

    def test_what_is_not_a_folder_of_an_agent_of_ours_stays(self):
        others = self.left("gateway-0123456789ab"), self.left("0123456789abc"), self.left("0123456789aB"), \
            self.left("0123456789a0", mode=0o755)
        elsewhere = os.path.join(self.base, "elsewhere")
        shutil.copytree(self.left("aaaaaaaaaaaa", seconds=0), elsewhere, ignore=shutil.ignore_patterns("agent.sock"))
        backdate(elsewhere)
        os.symlink(elsewhere, os.path.join(self.user, "bbbbbbbbbbbb"))
        os.utime(os.path.join(self.user, "bbbbbbbbbbbb"), (0, 0), follow_symlinks=False)
        self.assertEqual(self.swept(), [])
        self.assertTrue(all(os.path.isdir(path) for path in others + (elsewhere,)))

    def test_a_user_folder_that_others_can_write_is_left_alone(self):
        path = self.left()
        os.chmod(self.user, 0o777)
        self.assertEqual(self.swept(), [])
        self.assertTrue(os.path.isdir(path))

    def test_a_start_file_that_nobody_holds_goes(self):
        held, free = (os.path.join(self.user, name + ".start") for name in ("0123456789ab", "ba9876543210"))
        for path in (held, free):
            open(path, "w").close()
        self.holds(held)
        for path in (held, free):
            backdate(path)
        self.assertEqual(self.swept(), [free])
        self.assertEqual(os.listdir(self.user), [os.path.basename(held)])


class SweepingAgentTest(NodeTest):
    def start(self, node, **config):
        out, code, error = after_preamble(spawn(self.header(node=node, hold_only=True, **config)))
        self.assertEqual(code, 0, error)
        value = json.loads(out.decode())
        self.foreign.append(value["pid"])
        return value["pid"]

    def path(self, node):
        return os.path.join(folder.user_folders([self.agents])[0], folder.digest(self.gang, node))

    def swept(self, node):
        with open(os.path.join(self.path(node), "log")) as file:
            return "removed of killed agents: 1\n" in file.read()

    def test_an_agent_removes_the_folder_of_a_killed_one_and_its_own_name_can_begin_again(self):
        killed, young, old = self.start(0), self.start(1), self.start(2)
        for pid in (killed, young):
            os.kill(pid, signal.SIGKILL)
            until(lambda: not alive(pid), what="its end")
        for node in (0, 2):
            backdate(self.path(node))

        self.start(3, sweep_s=0.0)

        until(lambda: self.swept(3), what="the sweep")
        self.assertFalse(os.path.exists(self.path(0)))
        self.assertTrue(os.path.isdir(self.path(1)), "it was killed a moment ago")
        self.assertEqual(self.control("status", node=2)["pid"], old, "it lives, however old its folder looks")
        self.assertNotEqual(self.start(0), killed)
        self.assertTrue(self.control("status", node=0)["ok"])


if __name__ == "__main__":
    unittest.main()
