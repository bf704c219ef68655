"""The manifest on disk, whole and as a log, and its root."""
import errno
import hashlib
import json
import os
import random
import shutil
import tempfile
import unittest

import client  # noqa: F401  makes the agent importable
from gpush_agent.files import manifest, sync
from gpush_agent.files.manifest import GivesWay, LEAST_LOGGED, LOG, WHOLE
from gpush_agent.files.root import Root
from gpush_agent.files.state import Held, LARGE_FOLDER, Stage, State
from test_files import FilesTest

CONTENTS = ["%064x" % number for number in range(4)]


def entry(number):
    return ["file", number % 2, number, CONTENTS[number % 4], [number, number, number, number]]


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class ManifestTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpush-manifest-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.held = self.loaded()

    def loaded(self):
        held = Held(State(self.folder))
        self.addCleanup(held.state.close)
        held.load()
        return held

    def path(self, name):
        return os.path.join(self.folder, os.fsdecode(name))

    def many(self, count=1000):
        for number in range(count):
            self.held.put("d%d/f%d" % (number % 7, number), entry(number))
        self.held.save()

    def test_one_change_does_not_write_the_whole_again(self):
        self.many()
        before = os.stat(self.path(WHOLE))
        self.held.put("d1/f1", entry(500))
        self.held.drop("d2/f2")
        self.held.made(["new", "old"])
        self.held.save()
        self.held.generation = 7
        self.held.unmade("old")
        self.held.save()
        self.assertEqual(os.stat(self.path(WHOLE)), before)
        self.assertLess(os.path.getsize(self.path(LOG)), 500)
        again = self.loaded()
        self.assertEqual((again.entries, again.generation, again.folders, again.root),
                         (self.held.entries, 7, {"new"}, Root.of(self.held.entries).value))

    def test_a_clock_that_was_set_back_does_not_settle_what_is_written_now(self):
        self.many()
        os.utime(self.path(WHOLE), (4e9, 4e9))
        self.held.load()
        self.held.put("d1/f1", entry(500))
        self.held.save()
        self.assertLess(self.held.at, 4 * 10**18)
        self.assertEqual(self.loaded().at, self.held.at)

    def test_many_changes_are_written_whole(self):
        self.many(20)
        for number in range(LEAST_LOGGED + 1):
            self.held.put("x%d" % number, entry(number))
        self.held.save()
        self.assertFalse(os.path.exists(self.path(LOG)))
        self.assertEqual(self.loaded().entries, self.held.entries)

    def test_a_log_of_another_manifest_does_not_count(self):
        self.many()
        self.held.drop("d1/f1")
        self.held.save()
        shutil.copy(self.path(LOG), self.path(b"kept"))
        self.many(3000)
        os.rename(self.path(b"kept"), self.path(LOG))
        again = self.loaded()
        self.assertIn("d1/f1", again.entries)
        again.drop("d2/f2")
        again.save()
        self.assertNotIn("d2/f2", self.loaded().entries)

    def test_another_process_sees_what_was_logged(self):
        self.many()
        other = self.loaded()
        self.held.put("d1/f1", entry(9))
        self.held.save()
        other.load()
        self.assertEqual(other.entries["d1/f1"], entry(9))
        other.put("d1/f1", entry(11))
        other.save()
        self.held.load()
        self.assertEqual(self.held.entries["d1/f1"], entry(11))

    def test_a_log_with_two_heads_is_read(self):
        self.many()
        other = self.loaded()
        self.held.put("d1/f1", entry(9))
        other.put("d2/f2", entry(11))
        self.held.save()
        other.save()
        self.held.put("d2/f2", entry(11))
        again = self.loaded()
        self.assertEqual(again.entries, self.held.entries)
        again.drop("d1/f1")
        again.save()
        self.assertEqual(self.loaded().entries, again.entries)

    def test_another_process_reads_only_what_is_new(self):
        self.many()
        other = self.loaded()
        for number in range(3):
            self.held.put("d1/f%d" % number, entry(9 + number))
            self.held.drop("d2/f2")
            self.held.made(["made", "folder-%d" % number])
            self.held.unmade("folder-1")
            self.held.generation += 1
            self.held.save()
            other.state.read = None     # of the whole file
            self.assertTrue(other.load())
            self.assertFalse(other.load())
            self.assertEqual((other.entries, other.folders, other.generation, other.root, other.at),
                             (self.held.entries, self.held.folders, self.held.generation, self.held.root, self.held.at))
        other.put("d1/f7", entry(70))
        other.save()
        self.held.load()
        self.assertEqual(self.held.root, Root.of(other.entries).value)
        self.assertEqual(self.loaded().root, self.held.root)

    def test_another_process_knows_a_new_log_with_an_old_number(self):
        """Where it is shown the old stamp of the whole file, too."""
        self.many()
        self.held.put("d1/f1", entry(10))
        self.held.save()
        other = self.loaded()
        os.link(self.path(LOG), self.path(b"kept"))
        self.held.save_whole()
        for number in range(11, 15):
            self.held.put("d1/f%d" % number, entry(number))
            self.held.save()
        with open(self.path(LOG), "rb") as log, open(self.path(b"kept"), "wb") as kept:
            kept.write(log.read())
        os.rename(self.path(b"kept"), self.path(LOG))
        other.file.stamps = (other.file.stamp(WHOLE), other.file.stamps[1])
        other.load()
        self.assertEqual(other.entries, self.held.entries)

    def test_a_long_log_becomes_part_of_the_whole_unless_there_is_something_else_to_do(self):
        self.many()
        self.logged()
        files = self.files()
        for pieces in range(2):
            wanted = [True] * pieces + [False]
            with self.assertRaises(GivesWay):
                self.held.save_whole(lambda: wanted.pop(0))
            self.assertEqual(self.files(), files)
        self.held.state.write = full_disk
        with self.assertRaises(OSError):
            self.held.save_whole()
        del self.held.state.write
        self.held.put("d1/f1", entry(3))
        self.held.save()
        self.assertEqual(self.files()[os.fsdecode(WHOLE)], files[os.fsdecode(WHOLE)])       # the log goes on
        self.assertTrue(self.held.has_long_log())

        self.held.save_whole()
        self.assertEqual(sorted(os.listdir(self.folder)), ["generation", os.fsdecode(WHOLE)])
        self.assertFalse(self.held.has_long_log())
        self.assertEqual((self.loaded().entries, self.loaded().folders), (self.held.entries, {"new"}))

    def test_what_could_not_be_saved_goes_nowhere_when_another_has_saved_it(self):
        """As a commit whose journal another node has finished, and written the manifest whole."""
        for is_logged in (False, True):
            self.many()
            if is_logged:
                self.held.put("d1/f1", entry(9))
                self.held.save()
            self.not_saved()
            self.held.load()
            self.assertEqual((self.held.entries["d2/f2"], self.held.generation), (entry(10), 2))
            other = self.loaded()
            other.put("d2/f2", entry(10))
            other.generation = 2
            other.save_whole()
            other.put("d3/f3", entry(11))
            other.generation = 3
            if is_logged:
                other.save_whole()
            else:
                other.save()
            self.held.load()
            self.held.put("d4/f4", entry(12))
            self.held.save()
            other.load()
            for held in (other, self.loaded()):
                self.assertEqual((held.entries, held.generation, held.root), (self.held.entries, 3, self.held.root), is_logged)
            self.assertEqual((other.entries["d3/f3"], other.entries["d4/f4"]), (entry(11), entry(12)))

    def not_saved(self):
        """A commit of which half a line was written."""
        self.held.put("d2/f2", entry(10))
        self.held.generation, self.held.is_dirty = 2, True

        def half(fd, data):
            os.write(fd, data[:len(data) // 2])
            full_disk()
        before, manifest.write_all = manifest.write_all, half
        try:
            with self.assertRaises(OSError):
                self.held.save()
        finally:
            manifest.write_all = before

    def test_one_that_is_killed_while_it_does_that_has_changed_nothing(self):
        """Also where it is killed while it gives way."""
        self.many()
        self.logged()
        known = self.held.entries, self.held.generation, self.held.folders, self.held.root
        for is_wanted, least in (True, 7), (False, 2):
            at = 0
            while self.killed_at(at, is_wanted):
                again = self.loaded()
                self.assertEqual((again.entries, again.generation, again.folders, again.root), known, at)
                at += 1
            self.assertGreaterEqual(at, least)
        self.loaded().save_whole()
        self.assertEqual(sorted(os.listdir(self.folder)), ["generation", os.fsdecode(WHOLE)])

    def logged(self):
        """More than half of what a log may have."""
        self.held.made(["new"])
        for number in range(251):
            self.held.put("d%d/f%d" % (number % 7, number), entry(number + 1))
        self.held.generation = 8
        self.held.save()
        self.assertTrue(self.held.has_long_log())

    def files(self):
        return dict((name, os.stat(self.path(os.fsencode(name))).st_mtime_ns) for name in os.listdir(self.folder))

    def killed_at(self, at, is_wanted):
        """Whether it was, before that change to the file system."""
        pid = os.fork()
        if pid == 0:
            left = [at]

            def counted(call):
                def change(*args, **more):
                    if left[0] == 0:
                        os._exit(9)
                    left[0] -= 1
                    return call(*args, **more)
                return change

            for name in ("write", "rename", "unlink"):
                setattr(os, name, counted(getattr(os, name)))
            try:
                self.loaded().save_whole(lambda: is_wanted)
            except GivesWay:
                pass
            finally:
                os._exit(0)
        return os.waitpid(pid, 0)[1] >> 8 == 9

    def test_random_saves_and_a_log_that_is_cut_anywhere(self):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        for round_number in range(40):
            states = [(dict(self.held.entries), self.held.generation)]
            for _ in range(chance.randrange(1, 9)):
                for _ in range(chance.choice((1, 3, 20))):
                    path = "d%d/f%d" % (chance.randrange(4), chance.randrange(60))
                    if chance.random() < 0.3:
                        self.held.drop(path)
                    else:
                        self.held.put(path, entry(chance.randrange(100)))
                self.held.generation += 1
                self.held.save()
                states.append((dict(self.held.entries), self.held.generation))
                again = self.loaded()
                self.assertEqual((again.entries, again.generation, again.root), states[-1] + (Root.of(again.entries).value,), seed)
                self.assertEqual(self.held.root, again.root, seed)
            if os.path.exists(self.path(LOG)) and chance.random() < 0.5:
                with open(self.path(LOG), "r+b") as file:
                    file.truncate(chance.randrange(os.path.getsize(self.path(LOG)) + 1))
                self.held = self.loaded()
                known = (self.held.entries, self.held.generation)
                if round_number == 0:
                    self.assertIn(known, states, seed)
                self.held.put("after", entry(round_number))
                self.held.save()
                again = self.loaded()
                self.assertEqual(again.entries, self.held.entries, seed)

    def test_an_empty_stage_is_a_small_folder_again(self):
        stage = Stage(os.fsencode(self.path(b"stage")))
        for number in range(2000):
            open(stage.of("%064x" % number), "w").close()
        stage.drop()
        self.assertEqual(os.listdir(stage.folder), [])
        self.assertLessEqual(os.stat(stage.folder).st_size, LARGE_FOLDER)
        self.assertFalse(os.path.exists(self.path(b"stage.new")))
        stage.receive(hashlib.sha256(b"x").hexdigest(), True, b"x")
        self.assertIsNone(stage.failure)


class SharedTest(FilesTest):
    """Nodes that share the folder; those that only look hold the lock together."""

    def touch(self):
        os.utime(os.path.join(self.root, "a"), ns=(1, 1))

    def saved(self):
        held = Held(State(self.state))
        held.load()
        return held

    def test_what_a_look_finds_is_saved_by_one_that_looks_alone(self):
        self.gateway().open().push({"a": b"1"})
        other = State(self.state)
        self.addCleanup(other.close)
        other.lock(to_read=True)        # after the commit
        before = self.saved().entries
        self.touch()
        self.gateway().open().end()
        self.assertEqual(self.saved().entries, before)
        other.unlock()
        self.gateway().open().end()
        self.assertEqual(self.saved().entries["a"][4][1], 1)

    def test_what_another_has_left_in_the_middle_of_a_commit_is_finished_before_the_next_one(self):
        node = self.gateway().open()
        node.push({"a": b"1", "b": b"1"})
        other = self.gateway(node=1).open()
        other.prepare({"a": b"2", "c": b"2"})
        other.end()
        os.rename(os.path.join(self.state, "txn.prepared"), os.path.join(self.state, "txn"))
        holds = node.check()
        self.assertEqual((holds["generation"], sorted(holds["index"])), (2, ["a", "c"]))
        node.push({"a": b"3", "b": b"1"})
        self.assertEqual(self.tree(), {"a": b"3", "b": b"1"})

    def test_a_commit_that_could_not_be_saved_is_no_news_when_another_saves_stamps(self):
        """And the other node knows it, too."""
        node = self.gateway().open()
        node.push({"a": b"1"})
        other = self.gateway(node=1).open()
        for generation, kind in ((2, sync.CHECK), (3, sync.FIND)):
            files = {"a": b"1", "b": b"%d" % generation, "new%d" % generation: b""}
            self.assertEqual(node.prepare(files), {"ok": True})
            root = self.commit_on_a_full_disk(node)
            saved = self.saved()
            self.assertEqual(saved.generation, generation - 1)
            saved.entries["a"][4] = [1, 1, 1, 1]
            self.save_whole(saved)
            if kind == sync.FIND:
                node.send(kind, {"folders": []})
                self.assertEqual(node.read_packed(), (sync.FOUND, {"folders": [], "last": True}))
            for each in (node, other):
                holds = each.check()
                self.assertEqual((holds["generation"], holds["root"]), (generation, root))
            saved = self.saved()
            self.assertEqual(saved.generation, generation)
            self.assertFalse(os.path.exists(os.path.join(self.state, "txn")))
            self.save_whole(saved)

    def save_whole(self, held):
        held.state.lock()
        held.save_whole()
        held.state.close()

    def commit_on_a_full_disk(self, node):
        """A folder in the place of the log stands for it. Returns the root."""
        log = os.path.join(self.state, os.fsdecode(LOG))
        if os.path.exists(log):
            os.rename(log, log + ".kept")
        os.mkdir(log)
        root = node.commit()["root"]
        state = State(self.state)
        state.lock()        # until it has tried to save
        os.rmdir(log)
        if os.path.exists(log + ".kept"):
            os.rename(log + ".kept", log)
        state.close()
        return root

    def test_what_a_look_finds_is_not_saved_over_what_was_written_since(self):
        self.gateway().open().push({"a": b"1"})
        out = os.open(os.devnull, os.O_RDWR)
        self.addCleanup(os.close, out)
        talk = sync.Conversation(out, out)
        self.addCleanup(talk.close)
        talk.handle(sync.TREE, json.dumps({"root": self.root, "state": self.state, "node": 1}).encode())
        other = self.saved()
        other.put("b", entry(9))
        talk.state.alone = lambda: other.save() is None     # another node had the lock in between
        self.touch()
        talk.handle(sync.CHECK, b"{}")
        self.assertEqual(self.saved().entries, other.entries)


if __name__ == "__main__":
    unittest.main()
