"""What is kept of files that are replaced: what goes to the trash or stays, which generations go, and what never does."""
import base64
import io
import os
import shutil
import tarfile
import tempfile
import time
import unittest

import test_files  # first: it makes gpush_agent known
from gpush_agent.files import trash
from gpush_agent.lifetime import unsaved


class SurplusTest(unittest.TestCase):
    """What is beyond the limit, by name."""

    def setUp(self):
        self.own = os.fsencode(tempfile.mkdtemp(prefix="gpush-trash-"))
        self.addCleanup(shutil.rmtree, self.own)

    def put(self, name, kilobytes, age):
        folder = os.path.join(self.own, b"trash", name, b"d")
        os.makedirs(folder)
        with open(os.path.join(folder, b"x"), "wb") as file:
            file.write(b"x" * (kilobytes << 10))
        os.utime(os.path.dirname(folder), (10**9 - age, 10**9 - age))

    def surplus(self, newest, most_bytes=100 << 10, most_generations=9):
        before = trash.MOST_BYTES, trash.MOST_GENERATIONS
        trash.MOST_BYTES, trash.MOST_GENERATIONS = most_bytes, most_generations
        try:
            return trash.Trash(self.own).surplus(newest)
        finally:
            trash.MOST_BYTES, trash.MOST_GENERATIONS = before

    def test_goes_by_size_and_number_and_never_the_newest(self):
        for name, kilobytes, age in ((b"G1", 40, 5), (b"G2", 40, 4), (b"G3", 40, 3), (b"G9", 4000, 2)):
            self.put(name, kilobytes, age)

        self.assertEqual(self.surplus(9), [b"G1"])
        self.assertEqual(self.surplus(9, most_bytes=1 << 20), [])
        self.assertEqual(self.surplus(9, most_generations=1), [b"G1", b"G2"])
        self.assertEqual(self.surplus(9, most_bytes=0), [b"G1", b"G2", b"G3"])
        self.assertEqual(self.surplus(10), [b"G1", b"G2", b"G3", b"G9"])

    def test_a_large_old_one_takes_those_that_are_older_with_it(self):
        for name, kilobytes, age in ((b"G1", 1, 5), (b"G2", 4000, 4), (b"G3", 1, 3)):
            self.put(name, kilobytes, age)

        self.assertEqual(self.surplus(9), [b"G1", b"G2"])

    def test_removes_only_folders_of_generations(self):
        precious = os.path.join(self.own, b"precious")
        os.makedirs(os.path.join(precious, b"G1"))
        self.put(b"G2", 1, 5)
        os.makedirs(os.path.join(self.own, b"trash", b"mine"))
        os.symlink(precious, os.path.join(self.own, b"trash", b"G3"))
        self.assertEqual(self.surplus(9, most_generations=0), [b"G2"])

        os.rename(os.path.join(self.own, b"trash"), os.path.join(self.own, b"aside"))
        os.symlink(precious, os.path.join(self.own, b"trash"))
        self.assertEqual(self.surplus(9, most_generations=0), [])

    def test_nothing_there_is_nothing_too_much(self):
        self.assertEqual(self.surplus(1), [])


class CommitTest(test_files.FilesTest):
    """The same through a conversation, as a gateway would have it."""

    def test_the_oldest_of_the_trash_goes_when_it_is_too_much(self):
        node = self.gateway().open()
        node.push({"a": b"1"})
        old = self.trashed(trash.MOST_GENERATIONS + 2)
        self.write("a", b"edited here")

        answer = node.push({"a": b"2"}, overwrite=True)
        node.end()

        self.assertEqual((answer["generation"], answer["emptied"]), (2, old[:2]))
        self.assertEqual(sorted(os.listdir(os.path.dirname(answer["trash"]))), sorted(old[2:] + ["G2"]))
        with open(os.path.join(answer["trash"], "a"), "rb") as file:
            self.assertEqual(file.read(), b"edited here")

    def test_what_a_commit_has_just_put_into_the_trash_stays_whatever_its_size(self):
        node = self.gateway(trash_bytes=100 << 10).open()
        node.push({"a": b"1"})
        old = self.trashed(2)
        for name in ("a", "b"):
            self.write(name, os.urandom(60 << 10))
        first = node.push({"a": b"2", "b": b"2"}, overwrite=True)
        self.write("a", b"edited again")
        second = node.push({"a": b"3", "b": b"2"}, overwrite=True)
        node.end()

        self.assertEqual((first["emptied"], second["emptied"]), ([], old + ["G2"]))
        self.assertEqual(os.listdir(os.path.dirname(second["trash"])), ["G3"])

    def trashed(self, count):
        """Names of so many generations of the trash, the oldest first, all older than what comes now."""
        names = ["G%d" % (1000 - at) for at in range(count)]    # numbers that began again say nothing of age
        for at, name in enumerate(names):
            folder = os.path.join(self.state, "trash", name)
            os.makedirs(folder)
            with open(os.path.join(folder, "x"), "wb") as file:
                file.write(b"theirs")
            os.utime(folder, (1000 + at, 1000 + at))
        return names


class KeptTest(test_files.FilesTest):
    """What a plan keeps, or leaves as it is."""

    def test_what_is_to_be_kept_goes_to_the_trash_whoever_wrote_it(self):
        node = self.gateway().open()
        node.push({"a": b"1", "b": b"1", "c": b"1", "d/e": b"1", "f": b"1", "same": b"1"})
        self.write("c", b"edited")
        self.write("f", b"edited")

        answer = node.push({"a": b"2", "d": b"a file now", "same": b"1"}, trash=["a", "b", "c", "d/e", "same", "no such"])

        self.assertEqual(self.tree(), {"a": b"2", "d": b"a file now", "f": b"edited", "same": b"1"})
        self.assertEqual(answer["kept"], ["f"])
        self.assertEqual(self.tree(answer["trash"]), {"a": b"1", "b": b"1", "c": b"edited", "d/e": b"1"})
        self.assertEqual(node.check()["index"]["a"][4], "ours")

    def test_only_what_is_named_goes_to_the_trash(self):
        node = self.gateway().open()
        node.push({"a": b"1", "b": b"1"})
        self.write("a", b"edited")
        self.write("b", b"edited")

        self.assertEqual(node.prepare({"a": b"2", "b": b"2"}, trash=["a"]), {"conflicts": [["b", "changed"]]})
        self.assertEqual(self.tree(), {"a": b"edited", "b": b"edited"})

    def test_what_is_small_is_told_whole_to_a_gateway_that_ends_the_node(self):
        os.makedirs(os.path.join(self.state, "trash/G3/p"))
        with open(os.path.join(self.state, "trash/G3/p/a.py"), "wb") as file:
            file.write(b"replaced")
        self.write(".gpush/trash/G4/large", os.urandom(trash.MOST_TOLD))

        small, large = unsaved.look(self.root, self.state)["trash"]

        self.assertEqual((small["files"], small["bytes"]), (1, 8))
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(small["tar"]))) as tar:
            self.assertEqual(tar.extractfile("G3/p/a.py").read(), b"replaced")
        self.assertEqual(large, {"files": 1, "bytes": trash.MOST_TOLD, "tar": None})

    def test_two_looks_at_the_same_are_the_same(self):
        os.makedirs(os.path.join(self.state, "trash/G3"))
        self.addCleanup(setattr, time, "time", time.time)
        time.time = iter(range(10 ** 9, 2 * 10 ** 9)).__next__

        packed = trash.Trash(os.fsencode(self.state)).packed()

        self.assertIsNotNone(packed)
        self.assertEqual(trash.Trash(os.fsencode(self.state)).packed(), packed)

    def test_a_held_path_stays_while_its_entry_moves(self):
        node = self.gateway().open()
        node.push({"a": b"1", "b": b"1"})
        self.write("a", b"edited")

        node.push({"a": b"1", "b": b"2"}, verify=True, hold=["a"])
        index = node.check()["index"]
        self.assertEqual((self.tree(), index["a"][4], index["a"][5][:4]),
                         ({"a": b"edited", "b": b"2"}, "changed", ["file", 0, 6, test_files.digest(b"edited")]))
        node.push({"a": b"never here", "b": b"2", "c": b"never here, too"}, hold=["a", "c"])

        self.assertEqual({path: item[4] for path, item in node.check()["index"].items()}, {"a": "changed", "b": "ours", "c": "missing"})
        node.end()
        again = self.gateway().open()
        self.assertEqual({path: item[4] for path, item in again.holds["index"].items()}, {"a": "changed", "b": "ours", "c": "missing"})
