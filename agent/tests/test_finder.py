"""Names that gpush did not write, as the files conversation lists them for a gateway that wants an editor's new files."""
import os
import shutil
import subprocess
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.files import history, sync  # noqa: E402
from gpush_agent.files.finder import Finder  # noqa: E402
from gpush_agent.files.tree import Tree  # noqa: E402
from run import slow  # noqa: E402
from test_files import FilesTest  # noqa: E402


class FinderTest(FilesTest):
    def found(self, node, folders=()):
        """folder → (name → item, whether these are all)"""
        node.send(sync.FIND, {"folders": list(folders)})
        found = {}
        while True:
            kind, payload = node.read_packed()
            self.assertEqual(kind, sync.FOUND)
            for folder, items, is_all, _ in payload["folders"]:
                names = found.setdefault(folder, ({}, is_all))[0]
                names.update((item[0], item[1:]) for item in items)
            if payload["last"]:
                return found

    def names(self, node, folders=()):
        return dict((folder, sorted(items)) for folder, (items, _) in self.found(node, folders).items())

    def test_lists_what_is_new_in_folders_of_gpush_and_in_those_that_are_named(self):
        node = self.gateway().open()
        node.push({"a.py": b"1", "p/q/c.py": b"3"})
        self.assertEqual(self.names(node), {})

        self.write("new.py", b"12")
        self.write("p/q/new.py", b"")
        self.write("data/x/y", b"")
        os.symlink("a.py", os.path.join(self.root, "link"))
        os.mkfifo(os.path.join(self.root, "p/pipe"))
        self.write(b"bad-\xff".decode("utf-8", "surrogateescape"), b"")

        found = self.found(node)
        self.assertEqual(self.names(node), {"": ["bad-\ufffd", "data", "link", "new.py"], "p": ["pipe"], "p/q": ["new.py"]})
        self.assertEqual(found[""][0]["new.py"][:2], ["file", 2])
        self.assertEqual([found[""][0][name][0] for name in ("data", "link")], ["folder", "link"])
        self.assertEqual(found["p"][0]["pipe"][0], "other")
        self.assertEqual(self.names(node, ["data", "gone"]), {"data": ["x"]})
        self.assertEqual(self.names(node, ["data/x"]), {"data/x": ["y"]})

    def test_what_was_there_before_gpush_is_not_new(self):
        node = self.gateway().open()
        node.push({"a.py": b"1"})
        self.write("b.py", b"")
        at = os.stat(os.path.join(self.root, "b.py")).st_ctime_ns
        for first, names in ((at, {"": ["b.py"]}), (at + 1, {})):
            os.utime(os.path.join(self.state, "files.lock"), ns=(first, first))
            self.assertEqual(self.names(node), names)

    def test_what_was_made_while_the_clock_was_behind_is_new(self):
        self.write("before.py", b"")
        node = self.gateway().open()
        node.push({"a.py": b"1"})
        lock = os.path.join(self.state, "files.lock")
        ahead = os.stat(lock).st_mtime + 3600
        os.utime(lock, (ahead, ahead))      # as if the clock had been set back since
        self.write("one.py", b"")
        self.assertEqual(self.names(node), {"": ["one.py"]})
        self.write("two.py", b"")
        at = os.stat(os.path.join(self.root, "two.py")).st_ctime_ns + 1
        os.utime(lock, ns=(at, at))         # and then set right
        self.assertEqual(self.names(node), {"": ["one.py", "two.py"]})
        os.utime(lock, (ahead, ahead))
        self.write("three.py", b"")
        self.assertEqual(self.names(node), {"": ["one.py", "three.py", "two.py"]})

    def test_a_renamed_file_has_the_name_that_it_had(self):
        node = self.gateway().open()
        node.push({"a.py": b"1", "b.py": b"2", "c.py": b"3"})
        os.rename(os.path.join(self.root, "a.py"), os.path.join(self.root, "moved.py"))
        os.link(os.path.join(self.root, "b.py"), os.path.join(self.root, "linked.py"))
        os.unlink(os.path.join(self.root, "c.py"))
        self.write("new.py", b"3")
        node.check()

        items = self.found(node)[""][0]

        self.assertEqual([items[name][3] for name in ("moved.py", "linked.py", "new.py")], ["a.py", None, None])

    def test_a_stamp_is_another_one_after_each_change(self):
        node = self.gateway().open()
        node.push({"a.py": b"1"})
        stamps = set()
        for data in (b"1", b"12", b"123"):
            self.write("new.py", data)
            stamps.add(self.found(node)[""][0]["new.py"][2])
        self.assertEqual(len(stamps), 3)

    def test_says_what_a_run_may_have_made(self):
        node = self.gateway().open()
        node.push({"a.py": b"1"})
        run = os.path.join(self.state, "runs", "1")
        os.makedirs(run)
        self.write("early", b"")
        early = os.stat(os.path.join(self.root, "early")).st_ctime
        for name, at in (("lock", early + 5), ("exit.json", early + 10)):
            with open(os.path.join(run, name), "w") as file:
                file.write("{}")
            os.utime(os.path.join(run, name), (at, at))
        self.assertFalse(self.found(node)[""][0]["early"][4])

        for name in ("lock", "exit.json"):
            os.utime(os.path.join(run, name), (early - 1, early - 1))
        other = self.gateway(node=1).open()
        self.assertTrue(self.found(other)[""][0]["early"][4])

    def git(self, *words):
        subprocess.run(["git", "-C", self.root] + list(words), check=True)

    @unittest.skipIf(shutil.which("git") is None, "there is no git")
    def test_says_what_git_tracks_in_a_repository_of_gpush(self):
        node = self.gateway().open()
        node.push({"a.py": b"1"})

        def tracked():
            found = dict((folder + "/" + name, item[5]) for folder, (items, _) in self.found(node, ["", "new"]).items()
                         for name, item in items.items() if name != ".git")
            return sorted(path for path in found if found[path])

        self.git("init", "-q")
        for name in ("b.py", "new/é.py", "new/c.py"):
            self.write(name, b"1")
        self.git("add", "b.py", "new/é.py")
        self.assertEqual(tracked(), [])
        self.write(".git/gpush.json", b"{}")
        os.utime(os.path.join(self.root, ".git", "index"))
        self.assertEqual(tracked(), ["/b.py", "/new", "new/é.py"])
        self.git("add", "new/c.py")
        self.assertEqual(tracked(), ["/b.py", "/new", "new/c.py", "new/é.py"])

    def test_a_git_that_fails_is_asked_again_and_none_for_its_own_folder(self):
        answers = [None, {"a.py"}]
        before, history.tracked = history.tracked, lambda _: answers.pop(0)
        self.addCleanup(setattr, history, "tracked", before)
        self.write("a.py", b"1")
        self.write(".git/index", b"")
        tree = Tree(os.fsencode(self.root))
        self.addCleanup(tree.close)
        finder = Finder(tree, None, None)
        finder.left = 10
        for name, is_tracked, left in (("a.py", False, 1), (".git", False, 1), ("a.py", True, 0), ("a.py", True, 0)):
            items, _ = finder.items([], [(name.encode(), name)], (), {}, [], 0)
            self.assertEqual((items[0][-1], len(answers)), (is_tracked, left))

    def test_folders_of_gpush_are_not_counted_as_new_names(self):
        with mock.patch("gpush_agent.files.finder.MOST_IN_FOLDER", 2):
            names = ["p1", "p2", "p3", "z.py"]
            for name in names[:3]:
                os.makedirs(os.path.join(self.root, name))
            self.write("z.py", b"1")
            tree = Tree(os.fsencode(self.root))
            self.addCleanup(tree.close)
            finder = Finder(tree, None, None)
            finder.left = 10
            pairs = [(name.encode(), name) for name in names]
            for ours, found in ((["p1", "p2", "p3"], (["z.py"], True)), (["p1", "p2", "z.py"], (["p3", "z.py"], True)), ([], (["p1", "p2"], False))):
                items, is_all = finder.items([], pairs, ours, {}, [], 0)
                self.assertEqual(([item[0] for item in items], is_all), found)

    @slow
    def test_a_folder_with_very_many_names_is_said_to_have_more(self):
        node = self.gateway().open()
        node.push({"a.py": b"1"})
        for number in range(2100):
            self.write("many/%d" % number, b"")
        self.assertEqual(self.names(node), {"": ["many"]})
        items, is_all = self.found(node, ["many"])["many"]
        self.assertEqual((len(items), is_all), (2000, False))
        self.git("init", "-q")
        self.write(".git/gpush.json", b"{}")
        self.git("add", "many")
        self.write("many/untracked", b"")
        items, is_all = self.found(node, ["many"])["many"]
        self.assertEqual(len(set(items) - {"untracked"}), 2100)
        shutil.rmtree(os.path.join(self.root, ".git"))
        shutil.rmtree(os.path.join(self.root, "many"))
        self.assertEqual(self.names(node), {})

    def test_no_folder_outside_is_listed(self):
        node = self.gateway().open()
        node.push({"a.py": b"1"})
        os.symlink("/etc", os.path.join(self.root, "etc"))
        self.assertEqual(self.names(node, ["etc"]), {})
        for folder in ("..", "/etc", "a/../.."):
            node.send(sync.FIND, {"folders": [folder]})
            self.assertEqual(node.expect(sync.FAILED)["code"], "bad-path")


if __name__ == "__main__":
    unittest.main()
