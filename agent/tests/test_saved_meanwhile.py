"""A file is saved in the moment in which a commit writes, replaces or deletes it."""
import errno
import os
import shutil
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.core.moves import place  # noqa: E402
from gpush_agent.files.commit import Commit  # noqa: E402
from gpush_agent.files.root import FILE, LINK  # noqa: E402
from gpush_agent.files.state import Held, Stage, State  # noqa: E402
from gpush_agent.files.tree import Tree  # noqa: E402
from gpush_agent.lifetime.release import release  # noqa: E402
from test_files import FilesTest, digest  # noqa: E402

CALLS = ("link", "rename", "unlink")


class Killed(BaseException):
    """As a signal that nothing handles."""


class SavedMeanwhileTest(FilesTest):
    def setUp(self):
        super().setUp()
        node = self.gateway().open()
        node.push({"a.py": b"1", "l": "a.py"})
        node.end()
        state = State(self.state)
        self.addCleanup(state.close)
        held = Held(state)
        held.load()
        tree = Tree(self.root)
        self.addCleanup(tree.close)
        self.commit = Commit(tree, state, held, Stage(os.path.join(self.state.encode(), b"stage")), self.state.encode())

    def prepare(self, wanted, deletes=()):
        writes = [[path, LINK, 0, 0, value] if isinstance(value, str) else [path, FILE, 0, len(value), digest(value)]
                  for path, value in wanted.items()]
        for value in wanted.values():
            if isinstance(value, bytes):
                self.commit.stage.receive(digest(value), True, value)
        held = self.commit.held
        answer = self.commit.prepare({"generation": held.generation + 1, "from": held.root, "root": held.root_after(deletes, writes),
                                      "write": writes, "delete": list(deletes)})
        self.assertEqual(answer, {"ok": True})

    def push(self, wanted, deletes=()):
        """(late, kept)"""
        self.prepare(wanted, deletes)
        return self.end()

    def end(self):
        answer = self.commit.commit(self.commit.held.generation + 1)
        self.commit.finish()
        return answer["late"], answer["kept"]

    def around(self, name, **steps):
        """The user does `before_2` before the second of the calls that link, rename or remove this name, and so on."""
        count = [0]

        def seen(call):
            def changed(*args, **keywords):
                if name.encode() not in args:
                    return call(*args, **keywords)
                count[0] += 1
                at = count[0]
                steps.get("before_%d" % at, lambda: None)()
                try:
                    return call(*args, **keywords)
                finally:
                    steps.get("after_%d" % at, lambda: None)()
            return changed
        for each in CALLS:
            patch = mock.patch.object(os, each, seen(getattr(os, each)))
            patch.start()
            self.addCleanup(patch.stop)

    def saves(self, path, data, is_whole=False):
        """In place, or as editors do that write a file beside and rename it."""
        def save():
            self.write(path + ".tmp" if is_whole else path, data)
            if is_whole:
                os.rename(os.path.join(self.root, path + ".tmp"), os.path.join(self.root, path))
        return save

    def in_trash(self):
        return self.tree(os.path.join(self.state, "trash"))

    def nothing_is_left(self):
        self.assertEqual(os.listdir(self.commit.stage.folder), [])

    # ---- new

    def test_a_new_file_that_has_come_stays(self):
        self.around("n.py", before_1=self.saves("n.py", b"saved"))
        self.assertEqual(self.push({"n.py": b"2"}), (["n.py"], []))
        self.assertEqual(self.tree(), {"a.py": b"1", "l": "a.py", "n.py": b"saved"})
        self.assertEqual(self.in_trash(), {})
        self.nothing_is_left()

    def test_an_empty_folder_that_has_come_makes_way(self):
        self.prepare({"new": b"2"})
        os.mkdir(os.path.join(self.root, "new"))
        self.assertEqual(([], []), self.end())
        self.assertEqual(self.tree(), {"a.py": b"1", "l": "a.py", "new": b"2"})

    def test_also_where_a_link_is_wanted(self):
        self.around("n", before_1=self.saves("n", b"saved"))
        self.assertEqual(self.push({"n": "a.py"}), (["n"], []))
        self.assertEqual(self.tree()["n"], b"saved")

    def test_also_where_no_file_can_have_two_names(self):
        self.without_links()
        self.around("n.py", before_1=self.saves("n.py", b"saved"))
        self.assertEqual(self.push({"n.py": b"2", "o.py": b"3"}), (["n.py"], []))
        self.assertEqual(self.tree(), {"a.py": b"1", "l": "a.py", "n.py": b"saved", "o.py": b"3"})
        self.nothing_is_left()

    def without_links(self):
        patch = mock.patch.object(os, "link", side_effect=PermissionError(errno.EPERM, os.strerror(errno.EPERM)))
        patch.start()
        self.addCleanup(patch.stop)

    def test_an_answer_that_was_lost_is_no_save(self):
        """NFS asks twice: the second time the name is there."""
        link = os.link

        def twice(*args, **keywords):
            link(*args, **keywords)
            link(*args, **keywords)
        with mock.patch.object(os, "link", twice):
            self.assertEqual(self.push({"n.py": b"2"}), ([], []))
        self.assertEqual(self.tree()["n.py"], b"2")
        self.nothing_is_left()

    def test_also_on_another_file_system(self):
        if os.stat("/dev/shm").st_dev == os.stat(self.base).st_dev:
            self.skipTest("needs a second file system")
        there = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, there)
        folder = os.open(there, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        source = os.path.join(self.root, "source").encode()
        for data, is_new, is_placed in ((b"1", True, True), (b"2", True, False), (b"3", False, True)):
            self.write("source", data)
            os.chmod(source, 0o640)
            self.assertEqual(place(source, folder, b"a", is_new), is_placed, data)
            self.assertEqual(os.path.exists(source), not is_placed)
            self.assertEqual(os.stat(os.path.join(there, "a")).st_mode & 0o777, 0o640)
        self.assertEqual(self.tree(there), {"a": b"3"})

    # ---- replaced

    def test_what_is_replaced_while_it_is_saved_is_put_back(self):
        for data in (b"saved", b"3"):       # also of the same size
            with self.subTest(data):
                self.around("a.py", before_2=self.saves("a.py", data))
                self.assertEqual(self.push({"a.py": b"2"}), (["a.py"], []))
                self.assertEqual(self.tree()["a.py"], data)
                self.doCleanups()
                self.tearDown()
                self.setUp()

    def test_also_what_was_saved_as_a_whole(self):
        self.around("a.py", before_1=self.saves("a.py", b"saved", is_whole=True))
        self.assertEqual(self.push({"a.py": b"2"}), (["a.py"], []))
        self.assertEqual(self.tree()["a.py"], b"saved")
        self.nothing_is_left()

    def test_also_what_was_saved_by_an_editor_that_moves_the_former_away_first(self):
        self.around("a.py", before_1=lambda: os.rename(os.path.join(self.root, "a.py"), os.path.join(self.root, "a.py~")),
                    after_1=self.saves("a.py", b"saved"))
        self.assertEqual(self.push({"a.py": b"2"}), (["a.py"], []))
        self.assertEqual(self.tree()["a.py"], b"saved")
        self.nothing_is_left()

    def test_also_a_link(self):
        def save():
            os.unlink(os.path.join(self.root, "l"))
            os.symlink("of the user", os.path.join(self.root, "l"))
        self.around("l", before_1=save)
        self.assertEqual(self.push({"l": "b.py"}), (["l"], []))
        self.assertEqual(self.tree()["l"], "of the user")
        self.nothing_is_left()

    def test_where_no_file_can_have_two_names_what_was_saved_before_stays(self):
        self.without_links()
        self.around("a.py", before_1=self.saves("a.py", b"saved"))
        self.assertEqual(self.push({"a.py": b"2", "l": "b.py"}), (["a.py"], []))
        self.assertEqual(self.tree(), {"a.py": b"saved", "l": "b.py"})

    def test_a_later_save_is_not_replaced_by_an_earlier_one(self):
        self.around("a.py", before_2=self.saves("a.py", b"saved"), after_2=self.saves("a.py", b"later"))
        self.assertEqual(self.push({"a.py": b"2"}), (["a.py"], []))
        self.assertEqual(self.tree()["a.py"], b"later")
        self.assertEqual(self.in_trash(), {"G2/a.py": b"saved"})

    # ---- deleted

    def test_what_is_deleted_while_it_is_saved_is_put_back_and_told(self):
        for is_whole in (False, True):
            with self.subTest(is_whole):
                self.around("a.py", before_1=self.saves("a.py", b"saved", is_whole))
                self.assertEqual(self.push({}, ["a.py"]), ([], ["a.py"]))
                self.assertEqual(self.tree()["a.py"], b"saved")
                self.nothing_is_left()
                self.doCleanups()
                self.tearDown()
                self.setUp()

    def test_also_where_an_editor_moves_the_former_away_first(self):
        self.around("a.py", before_1=lambda: os.rename(os.path.join(self.root, "a.py"), os.path.join(self.root, "a.py~")),
                    after_1=self.saves("a.py", b"saved"))
        self.assertEqual(self.push({}, ["a.py"]), ([], ["a.py"]))
        self.assertEqual(self.tree(), {"a.py": b"saved", "a.py~": b"1", "l": "a.py"})

    def test_what_was_saved_since_prepare_is_told(self):
        self.prepare({}, ["a.py", "l"])
        self.write("a.py", b"saved")
        self.assertEqual(self.end(), ([], ["a.py"]))
        self.assertEqual(self.tree(), {"a.py": b"saved"})

    def test_a_later_save_of_what_is_deleted_stays(self):
        self.around("a.py", before_1=self.saves("a.py", b"saved"), after_1=self.saves("a.py", b"later"))
        self.assertEqual(self.push({}, ["a.py"]), ([], ["a.py"]))
        self.assertEqual(self.tree()["a.py"], b"later")
        self.assertEqual(self.in_trash(), {"G2/a.py": b"saved"})

    def test_a_folder_that_has_come_in_its_place_stays(self):
        def replace():
            os.unlink(os.path.join(self.root, "a.py"))
            self.write("a.py/of/user", b"x")
        self.around("a.py", before_1=replace)
        self.assertEqual(self.push({}, ["a.py"]), ([], ["a.py"]))
        self.assertEqual(self.tree(), {"a.py/of/user": b"x", "l": "a.py"})

    # ---- cut off

    def after_each_crash(self, look):
        """Of a commit that has moved a save aside: one that writes the file, and one that deletes it."""
        for wanted, deletes, step in (({"a.py": b"2"}, [], 2), ({}, ["a.py"], 1)):
            with self.subTest(deletes):
                self.around("a.py", **{"before_%d" % step: self.saves("a.py", b"saved"), "after_%d" % step: self.kill})
                with self.assertRaises(Killed):
                    self.push(wanted, deletes)
                look()
                self.tearDown()
                self.setUp()

    def test_a_crash_before_it_is_put_back_does_not_lose_it(self):
        def look():
            self.commit.stage.drop()    # as on a full disk
            self.doCleanups()
            node = self.gateway().open()
            self.assertEqual(self.tree()["a.py"], b"saved")
            node.end()
            self.nothing_is_left()
        self.after_each_crash(look)

    def test_a_release_after_a_crash_does_not_lose_it(self):
        def look():
            self.doCleanups()
            self.assertEqual(release(self.root, self.state), ["a.py"])
            self.assertEqual(self.tree(), {"a.py": b"saved"})
        self.after_each_crash(look)

    def kill(self):
        raise Killed()

    def test_nor_does_a_later_save(self):
        def later():
            self.write("a.py", b"later")
            raise Killed()
        self.around("a.py", before_2=self.saves("a.py", b"saved"), after_2=later)
        with self.assertRaises(Killed):
            self.push({"a.py": b"2"})
        self.doCleanups()
        self.gateway().open().end()
        self.assertEqual(self.tree()["a.py"], b"later")
        self.assertEqual(self.in_trash(), {"G2/a.py": b"saved"})

    def test_a_copy_with_a_name_in_the_tree_is_not_written_to(self):
        unlink, fails = os.unlink, [True]

        def fail(path, **more):
            if b"/copy" in path and os.lstat(path).st_nlink > 1 and fails:
                raise OSError(fails.pop() and errno.EIO, "once")
            unlink(path, **more)
        self.prepare({"x": b"same", "y": b"same", "z": b"same"})
        with mock.patch.object(os, "unlink", fail), self.assertRaises(OSError):
            self.end()
        with open(os.path.join(self.root, "x"), "r+b") as file:
            file.write(b"S")
        self.commit.roll_forward()
        self.assertEqual(self.tree(), {"a.py": b"1", "l": "a.py", "x": b"Same", "y": b"same", "z": b"same"})

    def test_a_content_with_a_name_in_the_tree_is_no_other_file(self):
        self.push({"x": b"same"})
        os.link(os.path.join(self.root, "x"), self.commit.stage.of(digest(b"same")))
        writes = [["y", FILE, 0, 4, digest(b"same")]]
        held = self.commit.held
        self.assertEqual({"ok": True}, self.commit.prepare({"generation": 3, "from": held.root, "root": held.root_after([], writes),
                                                            "write": writes, "delete": []}))
        self.end()
        self.assertEqual(self.tree()["y"], b"same")
        self.assertFalse(os.path.samefile(os.path.join(self.root, "x"), os.path.join(self.root, "y")))

    def test_else_nothing_of_it_is_left(self):
        self.assertEqual(self.push({"a.py": b"2", "l": "b.py"}), ([], []))
        self.assertEqual(self.tree(), {"a.py": b"2", "l": "b.py"})
        self.assertEqual(self.push({}, ["a.py", "l"]), ([], []))
        self.assertEqual(self.tree(), {})
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main()
