"""The folder of a conversation is renamed, removed or made again on its node."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.files import sync, tree  # noqa: E402
from gpush_agent.lifetime import release  # noqa: E402
from gpush_agent.files.state import Held, State  # noqa: E402
from test_files import FilesTest  # noqa: E402


class MovedTest(FilesTest):
    def pushed(self):
        node = self.gateway().open()
        node.push({"a.py": b"1", "p/b.py": b"2"})
        return node

    def assert_over(self, node, kind, value):
        node.send(kind, value)
        self.assertRaises(EOFError, node.read)
        self.assertEqual(node.end(), 0)

    def test_another_folder_of_the_name_is_the_one_that_counts(self):
        for kind, value in ((sync.CHECK, {}), (sync.FIND, {"folders": []}), (sync.PULL, {"path": "a.py"}), (sync.PREPARE, {})):
            node = self.pushed()
            shutil.copytree(self.root, self.root + ".new")
            os.rename(self.root, self.root + ".old")
            os.rename(self.root + ".new", self.root)
            self.write("a.py", b"edited")
            self.assert_over(node, kind, value)

            node = self.gateway().open()
            index = node.holds["index"]
            self.assertEqual({path: item[4] for path, item in index.items()}, {"a.py": "changed", "p/b.py": "ours"})
            node.push({"a.py": b"edited", "p/b.py": b"3"})
            node.end()
            self.assertEqual(self.tree(), {"a.py": b"edited", "p/b.py": b"3"})
            shutil.rmtree(self.root + ".old")

    def renew(self, **files):
        """Another folder of the name, as after a clone."""
        os.rename(self.root, self.root + ".old")
        os.mkdir(self.root)
        shutil.rmtree(self.root + ".old")
        for name, data in files.items():
            self.write(name, data)

    def test_another_folder_is_said_until_something_is_committed_there(self):
        node = self.pushed()
        self.assertFalse(node.holds["another"])
        node.end()
        self.assertFalse(self.gateway().open().holds["another"])
        self.renew(a=b"2")

        for _ in range(2):
            node = self.gateway().open()
            self.assertTrue(node.holds["another"])
            self.assertTrue(node.check(node.root, ["p/c.py"])["another"])
            self.assertTrue(node.check()["another"])
        node.push({"a": b"2"})
        self.assertFalse(node.check()["another"])
        node.end()
        self.assertFalse(self.gateway().open().holds["another"])

    def test_another_folder_with_all_that_was_written_is_soon_like_the_one_before(self):
        self.pushed().end()
        self.renew(**{"a.py": b"1", "p/b.py": b"2"})
        node = self.gateway().open()
        self.assertTrue(node.holds["another"])
        self.assertTrue(node.check()["another"])
        os.unlink(os.path.join(self.root, "a.py"))
        self.assertFalse(node.check()["another"])
        node.end()
        self.assertFalse(self.gateway().open().holds["another"])

    def test_a_folder_with_the_number_of_the_one_before_is_another_if_no_file_is_as_it_was(self):
        self.addCleanup(setattr, tree, "FS_IOC_GETVERSION", tree.FS_IOC_GETVERSION)
        tree.FS_IOC_GETVERSION = 0      # as where a file system does not count
        self.pushed().end()
        held = Held(State(self.state))
        held.load()
        held.state.remove(b"root-0")
        folder = tree.Tree(self.root)
        self.addCleanup(folder.close)

        self.assertIsNone(folder.another_since(held, 0))
        self.write("a.py", b"edited")
        self.assertIsNone(folder.another_since(held, 0))
        os.unlink(os.path.join(self.root, "p/b.py"))
        self.write("p/b.py", b"2")
        self.assertEqual(folder.another_since(held, 0), 1)

    def killed_at_each_change(self, change):
        """The numbers of the changes at which an agent was killed that opened the folder after this change, and then one that was not."""
        at, is_over = 0, False
        while not is_over:
            at += 1
            node = self.gateway().open()
            node.push({"a": b"%d" % at})
            node.end()
            change(at)
            try:
                self.gateway(crash_at=at).open()
                is_over = True
            except (EOFError, OSError):
                pass
            yield at
        self.assertGreater(at, 3)

    def test_another_folder_is_said_after_a_kill_at_any_change(self):
        for at in self.killed_at_each_change(lambda at: self.renew(a=b"edited %d" % at)):
            self.assertTrue(self.gateway().open().holds["another"])
            self.renew(a=b"%d" % at)

    def test_a_folder_that_could_not_be_made_is_filled_after_a_kill_at_any_change(self):
        for _ in self.killed_at_each_change(lambda _: shutil.rmtree(self.root)):
            node = self.gateway().open()
            self.assertEqual((node.holds["generation"], node.holds["index"]), (0, {}))

    def test_a_folder_that_cannot_be_reached_is_not_gone(self):
        self.pushed().end()
        for put in (lambda: os.symlink("missing", self.root), lambda: open(self.root, "w").close()):
            os.rename(self.root, self.root + ".away")
            put()
            kind, answer = self.gateway().read()
            self.assertEqual((kind, answer["code"], answer["fatal"]), (sync.FAILED, "failed", True))
            os.unlink(self.root)
            os.rename(self.root + ".away", self.root)
            holds = self.gateway().open().holds
            self.assertEqual((holds["generation"], {item[4] for item in holds["index"].values()}), (1, {"ours"}))

    def test_a_folder_that_cannot_be_made_is_not_removed_when_a_user_has_made_it(self):
        disk = os.path.join(self.base, "disk")
        self.root = os.path.join(disk, "me", "project")
        os.symlink("missing", disk)     # as where a disk is not mounted
        self.assertEqual(self.gateway().read()[0], sync.FAILED)
        os.unlink(disk)
        os.makedirs(self.root)
        self.gateway().open().end()
        self.assertEqual(release.release(self.root, self.state), [])
        self.assertTrue(os.path.isdir(self.root))

    def test_a_folder_that_is_gone_is_filled_and_nothing_counts_as_deleted(self):
        node = self.pushed()
        shutil.rmtree(self.root)
        self.assert_over(node, sync.CHECK, {})

        node = self.gateway().open()
        self.assertEqual((node.holds["generation"], node.holds["index"]), (0, {}))
        node.push({"a.py": b"1", "p/b.py": b"2"})
        node.end()
        self.assertEqual(self.tree()["p/b.py"], b"2")

    def test_a_commit_of_which_the_folder_is_gone_is_forgotten(self):
        node = self.pushed()
        self.assertEqual(node.prepare({"a.py": b"2", "new.py": b"3"}), {"ok": True})
        shutil.rmtree(self.root)
        node.send(sync.COMMIT, {"generation": node.generation + 1})
        kind, answer = node.read()
        self.assertEqual((kind, answer["code"], answer["fatal"]), (sync.FAILED, "failed", False))
        self.assert_over(node, sync.CHECK, {})

        node = self.gateway().open()
        self.assertEqual((node.holds["generation"], self.tree()), (0, {}))
        node.push({"a.py": b"4"})


if __name__ == "__main__":
    unittest.main()
