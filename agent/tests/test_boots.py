"""A node that has lost its power: what its disk has is perhaps not what its stamps say."""
import fcntl
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.files import tree  # noqa: E402
from gpush_agent.files.state import Held, State  # noqa: E402
from test_files import FilesTest  # noqa: E402

SECOND = 1000 * 1000 * 1000


class BootTest(FilesTest):
    def setUp(self):
        super().setUp()
        if tree.boot_of(self.base) is None:
            self.skipTest("the boot is not known here")
        self.sent = {"a.py": b"one", "b.py": b"two", "c.py": b"three"}
        node = self.gateway().open()
        node.push(self.sent)
        node.end()

    def loses(self, path, data):
        """A content that the disk has instead of the one that was written, with its times."""
        self.write(path, data)
        status = os.stat(os.path.join(self.root, path))
        held = Held(State(self.state))
        held.load()
        held.entries[path][4] = [len(self.sent[path])] + tree.stamp_of(status)[1:]
        held.save_whole(at=status.st_ctime_ns + SECOND)

    def boots(self, boot="another"):
        path = os.path.join(self.state, "root-0")
        with open(path) as file:
            value = json.load(file)
        with open(path, "w") as file:
            json.dump(dict(value, boot=boot), file)

    def states(self, node):
        return {path: item[4:] for path, item in node.check(node.root)["index"].items()}

    def test_a_content_of_another_size_with_the_same_times_is_no_edit(self):
        self.loses("a.py", b"")
        node = self.gateway().open()
        for _ in range(2):
            state, now = self.states(node)["a.py"]
            self.assertEqual((state, now[:4]), ("changed", ["file", 0, 0, None]))
        node.end()
        self.assertEqual(self.gateway().open().check()["index"]["a.py"][5][3], None)
        self.write("a.py", b"edited")
        self.assertNotEqual(self.states(self.gateway().open())["a.py"][1][3], None)

    def test_all_is_read_again_after_another_boot(self):
        self.loses("a.py", b"ONE")
        node = self.gateway().open()
        self.assertEqual((self.states(node), node.holds["another"]), ({}, False))
        node.end()
        self.boots()
        node = self.gateway().open()
        self.assertTrue(node.holds["another"])
        self.assertEqual(self.states(node)["a.py"][1][3], None)
        node.end()

        node = self.gateway().open()
        self.assertEqual(list(self.states(node)), ["a.py"])
        self.assertTrue(node.holds["another"])
        node.push(self.sent, trash=["a.py"])
        self.assertEqual((self.tree(), self.states(node)), (self.sent, {}))

    def test_after_a_boot_that_has_lost_nothing_all_is_as_it_was(self):
        for boot, is_another in (("another", True), (None, False)):
            self.boots(boot)
            node = self.gateway().open()
            self.assertEqual((node.holds["another"], node.check()["another"]), (is_another, is_another))
            self.assertFalse(node.check()["another"])
            node.end()
            self.assertFalse(self.gateway().open().holds["another"])

    def test_what_cannot_be_noted_while_another_looks_is_noted_by_the_next_look(self):
        self.boots()
        with open(os.path.join(self.state, "files.lock")) as other:
            fcntl.flock(other, fcntl.LOCK_SH)
            node = self.gateway().open()
            node.check()
        node.check()
        node.end()
        with open(os.path.join(self.state, "root-0")) as file:
            self.assertEqual(json.load(file)["boot"], tree.boot_of(self.base))

    def test_an_agent_that_is_killed_before_all_was_read_leaves_that_to_the_next(self):
        self.loses("a.py", b"ONE")
        self.boots()
        at, is_over = 0, False
        while not is_over:
            at += 1
            try:
                self.gateway(crash_at=at).open().end()
                is_over = True
            except (EOFError, OSError):
                pass
            self.assertEqual(list(self.states(self.gateway().open())), ["a.py"])
            self.loses("a.py", b"ONE")
            self.boots()
        self.assertGreater(at, 2)

    def test_the_boot_says_nothing_about_a_disk_that_is_elsewhere(self):
        self.addCleanup(setattr, tree, "type_of", tree.type_of)
        for kind in ("nfs4", "fuse.sshfs"):
            tree.type_of = lambda _, kind=kind: kind
            self.assertIsNone(tree.boot_of(self.root))


if __name__ == "__main__":
    unittest.main()
