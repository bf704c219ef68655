"""Locks of a gang while others look at them, label them, touch them and remove them."""
import fcntl
import json
import os
import shutil
import tempfile
import threading
import time
import unittest

import client as testclient
from client import until
from gpush_agent.core.filelock import same
from gpush_agent.core.refused import Refused
from gpush_agent.host import locks
from node import NodeTest

OURS = {"gang": "ours", "node": 0, "holder": "me", "label": "gpu 2", "pid": 7}
LONG = 20.0         # patience that a busy machine cannot exhaust; tests end it earlier


def is_locked(path):
    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except OSError:
            return True


def opened(path):
    """How many descriptors of this process lead to the file."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink("/proc/self/fd/" + name) == path
        except OSError:
            pass
    return count


class LockFile(unittest.TestCase):
    def setUp(self):
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="gpk"))
        self.addCleanup(shutil.rmtree, self.base, True)
        self.path = os.path.join(self.base, "locks", "gpu-2")
        self.fds = []
        self.addCleanup(lambda: [os.close(fd) for fd in self.fds])
        self.said = []

    def hold(self, how, label=None):
        """Opens the file as somebody else does; `label` is what lies in it."""
        locks.make_folder(os.path.dirname(self.path))
        fd = locks.open_file(self.path)
        self.fds.append(fd)
        fcntl.flock(fd, how)
        if label is not None:
            locks.sign(fd, label)
        return fd

    def let_go(self, fd):
        self.fds.remove(fd)
        os.close(fd)

    def in_background(self, before_end):
        """What take gives when it finds the lock busy and `before_end` happens while it asks again."""
        found = []

        def take():
            try:
                found.append(locks.take(self.path, OURS, LONG))
            except Refused as refused:
                found.append(refused)

        busy = opened(self.path)
        thread = threading.Thread(target=take)
        thread.start()
        try:
            until(lambda: opened(self.path) > busy, what="first attempt")
        finally:
            before_end()
            thread.join()
        self.fds.extend(fd for fd in found if isinstance(fd, int))
        return found[0]

    def test_who_only_looks_is_waited_for(self):
        looker = self.hold(fcntl.LOCK_SH, {"gang": "theirs", "node": 0})
        fd = self.in_background(lambda: self.let_go(looker))
        self.assertTrue(is_locked(self.path))
        self.assertEqual(locks.read(fd), OURS)

    def test_an_old_label_of_our_own_is_no_lock(self):
        looker = self.hold(fcntl.LOCK_SH, OURS)
        self.in_background(lambda: self.let_go(looker))
        self.assertTrue(is_locked(self.path))

    def test_held_is_said_soon(self):
        theirs = {"gang": "theirs", "node": 0, "holder": "her"}
        self.hold(fcntl.LOCK_EX, theirs)
        begin = time.monotonic()
        with self.assertRaises(Refused) as caught:
            locks.take(self.path, OURS)
        self.assertGreaterEqual(time.monotonic() - begin, locks.PATIENCE)
        self.assertEqual((caught.exception.code, caught.exception.facts),
                         ("held", {"path": self.path, "label": "gpu 2", "holder": theirs}))
        self.assertEqual(opened(self.path), 1)

    def test_the_lock_is_on_the_file_that_is_there(self):
        self.hold(fcntl.LOCK_EX)
        fd = self.in_background(lambda: os.unlink(self.path))
        self.assertTrue(same(fd, self.path))
        self.assertTrue(is_locked(self.path))

    # ---- while it is held

    def keeper(self):
        fd = locks.take(self.path, OURS)
        self.fds.append(fd)
        return locks.Keeper([{"path": self.path}], [fd], self.said.append), fd

    def test_held_files_look_used(self):
        keeper, _ = self.keeper()
        os.utime(self.path, (1, 1))
        keeper.look()
        self.assertLess(abs(time.time() - os.stat(self.path).st_mtime), locks.TOUCH_SECONDS)
        recent = time.time() - locks.TOUCH_SECONDS / 2
        os.utime(self.path, (recent, recent))
        keeper.look()
        self.assertAlmostEqual(os.stat(self.path).st_mtime, recent, places=2)   # no write every few seconds
        self.assertEqual(self.said, [])

    def test_a_removed_file_is_locked_again(self):
        keeper, fd = self.keeper()
        for remove in (lambda: os.unlink(self.path), lambda: shutil.rmtree(os.path.dirname(self.path))):
            remove()
            keeper.look()
            self.assertTrue(same(fd, self.path) and is_locked(self.path))
            self.assertEqual(locks.read(fd), OURS)
            self.assertIn("locked again", self.said.pop())
        keeper.look()
        self.assertEqual(self.said, [])

    def test_who_was_faster_is_told_once(self):
        keeper, _ = self.keeper()
        os.unlink(self.path)
        other = self.hold(fcntl.LOCK_EX, {"gang": "theirs", "node": 0, "holder": "her"})
        keeper.look()
        keeper.look()
        self.assertEqual(len(self.said), 1)
        self.assertIn("her", self.said[0])
        self.let_go(other)
        keeper.look()
        self.assertIn("locked again", self.said[1])

    def test_the_label_names_the_agent(self):
        keeper, fd = self.keeper()
        keeper.sign(4711)
        self.assertEqual(locks.read(fd), dict(OURS, pid=4711))


class AgentTest(NodeTest):
    def test_it_does_so_where_it_cannot_say_that_its_folder_is_in_use(self):
        lock = {"path": os.path.join(self.base, "locks", "gpu-2"), "label": "gpu"}
        read_only = testclient.text("host/locks.py").replace("    os.utime(fd)", "    raise OSError(errno.EROFS, 'read only')").replace(
            "TOUCH_SECONDS = ", "TOUCH_SECONDS = -1 or ")
        quick = testclient.text("agent.py").replace("WATCH_SECONDS = 5.0", "WATCH_SECONDS = 0.05")
        self.client(locks=[lock], extra={"agent": quick, "host/locks": read_only})
        for _ in range(2):
            os.unlink(lock["path"])
            until(lambda: os.path.exists(lock["path"]) and is_locked(lock["path"]), what="lock")

    def test_an_agent_looks_after_its_locks(self):
        wanted = [{"path": os.path.join(self.base, "locks", "gpu-%d" % number), "label": "gpu"} for number in (2, 3)]
        quick = testclient.text("agent.py").replace("WATCH_SECONDS = 5.0", "WATCH_SECONDS = 0.05")
        client = self.client(locks=wanted, extra={"agent": quick})
        for lock in wanted:
            with open(lock["path"]) as file:
                self.assertEqual(json.load(file)["pid"], client.welcome["pid"])
        os.utime(wanted[0]["path"], (1, 1))
        until(lambda: os.stat(wanted[0]["path"]).st_mtime > 1, what="touch")
        os.unlink(wanted[1]["path"])
        until(lambda: os.path.exists(wanted[1]["path"]) and is_locked(wanted[1]["path"]), what="lock")
        self.assertTrue(self.control("release")["ok"])
        until(lambda: not any(is_locked(lock["path"]) for lock in wanted), what="locks let go")


if __name__ == "__main__":
    unittest.main()
