"""What cannot be read on a node, or has no name that can be sent, is held or named, and stops nothing else."""
import errno
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.files import sync  # noqa: E402
from gpush_agent.lifetime import unsaved  # noqa: E402
from gpush_agent.files.state import Held, State  # noqa: E402
from gpush_agent.files.tree import Tree  # noqa: E402
from test_files import FilesTest  # noqa: E402

NOBODY = 65534


def found_on(node, folders=()):
    """folder → (name → kind, whether these are all, why it cannot be read)"""
    node.send(sync.FIND, {"folders": list(folders)})
    kind, payload = node.read_packed()
    assert kind == sync.FOUND and payload["last"], (kind, payload)
    return {folder: ({item[0]: item[1] for item in items}, is_all, why) for folder, items, is_all, why in payload["folders"]}


class UnreadableTest(FilesTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        os.chmod(self.base, 0o777)
        self.node = self.gateway(user=NOBODY).open()
        self.sent = {"a.py": b"1", "d/e/x.py": b"2", "f/y.py": b"3"}
        self.node.push(self.sent)

    def close(self, path, mode=0):
        os.chmod(os.path.join(self.root, path), mode)

    def deviations(self):
        index = self.node.check(self.node.root)["index"]
        return dict((path, item[4:]) for path, item in index.items())

    def test_a_file_in_a_closed_folder_is_there_and_unknown(self):
        for path, mode in (("d", 0), ("d/e", 0), ("d/e", 0o444)):
            self.close(path, mode)
            self.assertEqual(self.deviations(), {"d/e/x.py": ["changed", ["file", 0, 0, None, 0]]}, (path, mode))
            os.chmod(os.path.join(self.root, path), 0o755)
        self.assertEqual(self.deviations(), {})

    def test_what_is_in_it_is_held_and_the_rest_is_written(self):
        self.close("d")
        self.sent.update({"a.py": b"4", "b.py": b"5"})
        self.node.push(self.sent, hold=["d/e/x.py"], verify=True)
        self.assertEqual((self.tree()["a.py"], self.tree()["b.py"]), (b"4", b"5"))

    def test_a_file_that_is_to_go_there_has_a_conflict(self):
        self.close("d")
        self.sent["d/new.py"] = b"6"
        self.assertEqual(self.node.prepare(self.sent, hold=["d/e/x.py"]), {"conflicts": [["d/new.py", "foreign"]]})

    def test_a_file_that_is_to_be_deleted_there_stays_and_is_named(self):
        self.close("d")
        del self.sent["d/e/x.py"]
        self.assertEqual(self.node.push(self.sent)["kept"], ["d/e/x.py"])
        self.assertEqual(self.tree()["d/e/x.py"], b"2")

    def test_a_folder_in_the_place_of_a_file_that_cannot_be_looked_into_stays(self):
        for mode in (0, 0o444):
            self.close("d/e", mode)
            self.assertEqual(self.node.prepare({"a.py": b"1", "f/y.py": b"3", "d": b"4"}), {"conflicts": [["d", "type"]]})

    def test_a_file_in_a_folder_that_is_closed_before_the_commit_is_late(self):
        self.sent.update({"d/e/x.py": b"7", "a.py": b"8"})
        self.assertEqual(self.node.prepare(self.sent), {"ok": True})
        self.close("d")
        self.assertEqual(self.node.commit()["late"], ["d/e/x.py"])
        self.assertEqual((self.tree()["a.py"], self.tree()["d/e/x.py"]), (b"8", b"2"))

    def test_find_names_what_it_cannot_read_and_goes_on(self):
        self.write("new.py", b"1")
        self.write("d/seen/x", b"1")
        self.write("d/not/x", b"1")
        self.write("f/shown", b"1")
        self.close("d/not")
        self.close("f", 0o444)
        found = found_on(self.node, ["", "d", "d/seen", "d/not", "d/gone", "f"])
        self.assertEqual(found, {"": ({"new.py": "file"}, True, None), "d": ({"not": "folder", "seen": "folder"}, True, None),
                                 "d/seen": ({"x": "file"}, True, None), "d/not": ({}, False, "denied"), "f": ({"shown": "other"}, True, None)})

    def test_what_is_only_there_is_named_as_a_folder(self):
        self.write("mine/x", b"1")
        self.close("mine")
        self.node.end()     # it saves what it has once it has answered
        pid = os.fork()
        if pid == 0:
            os.setuid(NOBODY)
            os._exit(unsaved.look(self.root, self.state)["paths"] != ["mine"])
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_a_disk_that_fails_is_like_a_closed_folder(self):
        held = Held(State(self.state))
        held.load()
        tree = Tree(self.root)
        self.addCleanup(tree.close)
        for number, kind in ((errno.EIO, "file"), (errno.ENOTCONN, "file"), (errno.ENOENT, "absent"), (errno.EMFILE, None)):
            def look(_, number=number):
                raise OSError(number, "")
            tree.look = look
            if kind:
                self.assertEqual(held.live(tree, "a.py", [b"a.py"]).kind, kind)
            else:
                self.assertRaises(OSError, held.live, tree, "a.py", [b"a.py"])


class NameTest(FilesTest):
    def test_names_that_are_not_utf_8_are_named_as_no_file(self):
        node = self.gateway().open()
        node.push({"a.py": b"1", "d/b.py": b"2"})
        bad = b"bad-\xff".decode("utf-8", "surrogateescape")
        self.write(bad + ".py", b"1")
        self.write("d/" + bad + "/x.py", b"1")
        found = found_on(node)
        self.assertEqual({folder: names for folder, (names, _, _) in found.items()},
                         {"": {"bad-\ufffd.py": "other"}, "d": {"bad-\ufffd": "other"}})


if __name__ == "__main__":
    unittest.main()
