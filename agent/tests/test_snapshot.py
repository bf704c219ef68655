"""Runs from a snapshot: real files that the real conversation has written, and real supervisors."""
import json
import os
import shutil
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.core.loop import Loop  # noqa: E402
from gpush_agent.core.refused import Refused  # noqa: E402
from gpush_agent.files import kept, snapshot  # noqa: E402
from gpush_agent.lifetime import unsaved  # noqa: E402
from gpush_agent.lifetime.release import release  # noqa: E402
from gpush_agent.runs import journal, keeper, requests, rundir  # noqa: E402
from test_files import FilesTest, Gateway  # noqa: E402
from test_supervisor import RunTest, until  # noqa: E402

SLOW = True

CODE = {"train.py": b"print(1)\n", "pkg/model.py": b"x = 1\n", "pkg/deep/a.txt": b"a\n"}


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def put(data, *parts):
    path = os.path.join(*parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


class SnapshotTest(FilesTest):
    def make(self, files=CODE, run=7):
        self.node = self.gateway().open()
        self.node.push(files)
        self.tree = snapshot.make(self.root, self.state, run, 1)
        return self.load(run)

    def load(self, run=7):
        return snapshot.Snapshot.load(snapshot.folder_of(self.root, self.state, run))

    def names(self, folder=""):
        return sorted(os.listdir(os.path.join(self.root, folder)))

    def test_has_the_files_of_its_generation_whatever_comes_later(self):
        self.write("data/words.txt", b"mine")
        self.make()
        self.assertEqual(os.path.basename(self.tree), "project")
        self.assertEqual(os.stat(self.tree + "/train.py").st_mtime_ns, os.stat(self.root + "/train.py").st_mtime_ns)
        self.node.push({"train.py": b"print(2)\n", "pkg/new.py": b""})
        put(b"in place", self.root, "pkg/model.py")     # an editor on the node

        for path, content in CODE.items():
            self.assertEqual(read(self.tree, path), content)
        self.assertFalse(os.path.exists(self.tree + "/pkg/new.py"))
        self.assertEqual(read(self.tree, "data/words.txt"), b"mine")
        put(b"more", self.tree, "data/more.txt")
        self.assertEqual(read(self.root, "data/more.txt"), b"more")

    def test_is_of_one_generation_or_is_not(self):
        node = self.gateway().open()
        node.push(CODE)
        for generation, before in ((2, lambda: None), (1, lambda: put(b"other", self.root, "pkg/model.py"))):
            before()
            with self.assertRaises(Refused) as refused:
                snapshot.make(self.root, self.state, 7, generation)
            self.assertEqual(refused.exception.code, "moved" if generation == 2 else "changed")
            self.assertEqual(os.listdir(snapshot.place_of(self.root, self.state)), [])

    def test_a_link_and_a_program_are_what_they_were(self):
        self.make({"train.sh": b"#!/bin/sh\n", "link": "train.sh"})
        self.assertTrue(os.access(self.tree + "/train.sh", os.X_OK))
        self.assertEqual(os.readlink(self.tree + "/link"), "train.sh")

    def test_what_it_makes_is_in_the_workspace_at_once(self):
        made = self.make()
        put(b"1", self.tree, "out/step-1/model.pt")
        put(b"log", self.tree, "pkg/log.txt")
        put(b"", self.tree, "pkg/__pycache__/model.pyc")
        made.show()
        self.assertEqual(self.names(), ["out", "pkg", "train.py"])
        self.assertEqual(self.names("pkg"), ["deep", "log.txt", "model.py"])
        put(b"2", self.tree, "out/step-2/model.pt")
        self.assertEqual(read(self.root, "out/step-2/model.pt"), b"2")
        os.unlink(self.tree + "/pkg/log.txt")
        made.show()
        self.assertEqual(self.names("pkg"), ["deep", "model.py"])

    def test_and_stays_there(self):
        made = self.make()
        put(b"1", self.tree, "out/model.pt")
        put(b"results", self.tree, "pkg/deep/results.csv")
        made.show()
        self.assertEqual(self.load().bring(False), [])
        self.assertFalse(os.path.islink(self.root + "/out"))
        self.assertEqual(read(self.root, "out/model.pt"), b"1")
        self.assertEqual(read(self.root, "pkg/deep/results.csv"), b"results")
        self.assertEqual(os.listdir(snapshot.place_of(self.root, self.state)), [])

    def test_beside_what_others_have_put_there(self):
        made = self.make()
        put(b"run", self.tree, "out/model.pt")
        put(b"mine", self.root, "out/model.pt")
        put(b"before", self.root, "out.run-7")
        put(b"run", self.tree, "train.py")
        self.node.push(dict(CODE, **{"train.py": b"print(2)\n"}))
        put(b"changed by the run\n", self.tree, "pkg/model.py")
        made.show()
        told = made.bring(False)
        self.assertEqual(read(self.root, "out/model.pt"), b"mine")
        self.assertEqual(read(self.root, "out.run-7-2/model.pt"), b"run")
        self.assertEqual((read(self.root, "train.py"), read(self.root, "train.py.run-7")), (b"print(2)\n", b"run"))
        self.assertEqual(read(self.root, "pkg/model.py"), b"changed by the run\n")
        self.assertEqual(told, ["out has changed meanwhile; this run's is out.run-7-2",
                                "train.py has changed meanwhile; this run's is train.py.run-7"])

    def test_also_where_its_folder_is_gone(self):
        made = self.make()
        put(b"x", self.tree, "pkg/deep/x")
        self.node.push({"train.py": CODE["train.py"]})
        self.assertEqual(self.names(), ["train.py"])
        made.show()
        made.bring(False)
        self.assertEqual(read(self.root, "pkg/deep/x"), b"x")

    def test_the_next_attempt_finds_what_the_one_before_has_made(self):
        made = self.make()
        put(b"1", self.tree, "out/model.pt")
        made.bring(True)
        self.node.push({"train.py": b"print(2)\n"})
        self.assertEqual(snapshot.make(self.root, self.state, 7, 1, again=True), self.tree)
        self.assertEqual(read(self.tree, "train.py"), CODE["train.py"])
        self.assertEqual(read(self.tree, "out/model.pt"), b"1")
        self.load().show()
        self.assertFalse(os.path.islink(self.root + "/out"))
        self.assertEqual(self.load().bring(False), [])
        self.assertEqual(read(self.root, "out/model.pt"), b"1")

    def test_also_where_another_has_its_place(self):
        made = self.make()
        put(b"1", self.tree, "out/model.pt")
        put(b"other", self.root, "out/model.pt")
        made.bring(True)
        self.assertEqual(read(self.tree, "out/model.pt"), b"1")
        self.load().bring(False)
        self.assertEqual(read(self.root, "out.run-7/model.pt"), b"1")
        self.assertEqual(self.names(), ["out", "out.run-7", "pkg", "train.py"])

    def elsewhere(self):
        """Data of others, outside the workspace."""
        scratch = os.path.join(os.path.dirname(self.root), "scratch")
        for name in ("shard-0", "a.txt", "deep/a.txt"):
            put(b"theirs", scratch, name)
        return scratch

    def test_a_link_to_data_in_the_place_of_a_folder_comes_home_as_the_link(self):
        scratch = self.elsewhere()
        made = self.make()
        shutil.rmtree(self.tree + "/pkg")
        os.symlink(scratch, self.tree + "/pkg")
        made.show()
        self.assertEqual(self.names("pkg"), ["deep", "model.py"])

        self.assertEqual(made.bring(True), ["pkg has changed meanwhile; this run's is pkg.run-7"])
        self.assertEqual(read(self.tree, "pkg/shard-0"), b"theirs")     # for the next attempt
        self.assertEqual(self.load().bring(False), [])

        self.assertEqual(sorted(os.listdir(scratch)), ["a.txt", "deep", "shard-0"])
        self.assertEqual(os.listdir(scratch + "/deep"), ["a.txt"])
        self.assertEqual(os.readlink(self.root + "/pkg.run-7"), scratch)
        self.assertEqual(self.names("pkg"), ["deep", "model.py"])
        self.assertEqual(self.names("pkg/deep"), ["a.txt"])

    def test_a_file_in_the_place_of_a_folder_comes_home(self):
        made = self.make()
        shutil.rmtree(self.tree + "/pkg/deep")
        put(b"packed", self.tree, "pkg/deep")
        left = snapshot.Left(os.path.dirname(snapshot.folder_of(self.root, self.state, 7)))
        self.assertTrue(left.is_alone(b"7/project/pkg/deep"))
        self.assertEqual(made.bring(False), ["pkg/deep has changed meanwhile; this run's is pkg/deep.run-7"])
        self.assertEqual(read(self.root, "pkg/deep.run-7"), b"packed")

    def test_links_by_whole_paths_lead_to_where_things_are_now(self):
        made = self.make()
        put(b"5", self.tree, "out/step-5/model.pt")
        os.symlink(self.tree + "/out/step-5", self.tree + "/out/latest")
        os.symlink(self.tree + "/out/latest", self.tree + "/best")
        os.symlink("step-5", self.tree + "/out/relative")
        os.symlink(self.tree + "/train.py", self.tree + "/script")
        self.assertEqual(made.bring(False), [])
        self.assertFalse(os.path.exists(self.tree))
        for place in ("out/latest", "out/relative", "best"):
            self.assertEqual(read(self.root, place, "model.pt"), b"5")
        self.assertEqual(read(self.root, "script"), CODE["train.py"])

    def test_a_node_that_is_given_back_keeps_the_results_and_no_snapshot(self):
        made = self.make()
        put(b"1", self.tree, "out/model.pt")
        made.show()
        self.node.end()
        self.assertEqual(release(self.root, self.state), ["out/"])
        self.assertEqual(read(self.root, "out/model.pt"), b"1")
        self.assertFalse(os.path.exists(self.state))

    def stuck(self):
        """What it has made cannot be brought home: its name is taken there, and too long for another one beside it."""
        name = "x" * 253
        made = self.make()
        self.write("data/words.txt", b"mine")
        put(b"only here", self.tree, name)
        put(b"mine", self.root, name)
        self.assertIn("stays in " + self.tree, made.bring(False)[0])
        return name

    def left(self, name):
        return os.path.join(os.fsdecode(snapshot.place_of(self.root, self.state)), "7/project", name)

    def test_what_cannot_be_brought_home_stays_when_the_node_is_given_back(self):
        name = self.stuck()
        self.node.end()
        kept_names = release(self.root, self.state)
        self.assertIn(self.left(name), kept_names)
        self.assertEqual(read(self.left(name)), b"only here")
        self.assertEqual(os.listdir(os.path.dirname(self.left(name))).count("train.py"), 0)
        self.assertEqual(sorted(kept_names), sorted(["data/", name, self.left(name)]))

    def test_and_counts_as_unsaved(self):
        name = self.stuck()
        put(b"changed", self.left("train.py"))
        found = unsaved.look(self.root, self.state)
        self.assertEqual(found["paths"], ["snapshots/7/project/train.py", "snapshots/7/project/" + name, name, "data/words.txt"])

    def test_and_so_does_what_cannot_be_looked_at(self):
        self.make()
        folder = os.fsdecode(snapshot.folder_of(self.root, self.state, 7))
        value = json.loads(read(folder, "made.json").decode())
        name = "x" * 256        # no file system has that
        value["copied"][name] = value["copied"]["train.py"]
        put(json.dumps(value).encode(), folder, "made.json")
        left = snapshot.Left(os.path.dirname(os.fsencode(folder)))
        self.assertTrue(left.is_alone(b"7/project/" + name.encode()))
        self.assertFalse(left.is_alone(b"7/project/train.py"))

    def test_what_a_run_makes_is_counted_once(self):
        made = self.make()
        put(b"12345", self.tree, "out")
        made.show()
        self.assertEqual(unsaved.look(self.root, self.state),
                         {"files": 1, "bytes": 5, "paths": ["snapshots/7/project/out"], "whole": True, "trash": []})

    def test_what_it_changed_needs_no_room_on_the_disk(self):
        made = self.make()
        put(b"longer than before", self.tree, "train.py")
        moved = os.stat(self.tree + "/train.py").st_ino
        self.assertEqual(made.bring(False), [])
        self.assertEqual(os.stat(self.root + "/train.py").st_ino, moved)

    def test_one_that_cannot_be_read_stays(self):
        self.make()
        put(b"only here", self.tree, "results.csv")
        place = os.path.join(os.fsdecode(snapshot.folder_of(self.root, self.state, 7)), "made.json")
        whole = read(place)
        for damage in (lambda: os.symlink("made.json", place), lambda: put(b"{", place)):
            os.unlink(place)
            damage()
            self.assertEqual(snapshot.clean(self.root, self.state, (), is_last=True), [])
            with self.assertRaises(Refused) as refused:
                snapshot.make(self.root, self.state, 7, 1)
            self.assertEqual(refused.exception.code, "exists")
            with self.assertRaises(OSError):
                snapshot.make(self.root, self.state, 7, 1, again=True)
            self.assertIn("snapshots/7/project/results.csv", unsaved.look(self.root, self.state)["paths"])
            self.assertEqual(read(self.tree, "results.csv"), b"only here")
        os.unlink(place)
        put(whole, place)
        snapshot.clean(self.root, self.state, (), is_last=True)
        self.assertEqual(read(self.root, "results.csv"), b"only here")

    def test_of_a_number_that_was_used_before_nothing_is_replaced(self):
        name = self.stuck()
        with self.assertRaises(Refused) as refused:
            snapshot.make(self.root, self.state, 7, 1)
        self.assertEqual(refused.exception.code, "exists")
        self.assertEqual(read(self.left(name)), b"only here")

    def test_one_that_is_not_whole_is_none(self):
        self.make()
        os.unlink(os.path.join(snapshot.folder_of(self.root, self.state, 7), snapshot.MADE))
        folder = snapshot.folder_of(self.root, self.state, 7)
        for alive, is_last, changed_ago, stays in (({7}, False, snapshot.KEPT_S + 9, True), ((), False, 9, True),
                                                   ((), True, 9, False), ((), False, snapshot.KEPT_S + 9, False)):
            os.makedirs(self.tree, exist_ok=True)
            os.utime(folder, (time.time() - changed_ago,) * 2)
            self.assertEqual(snapshot.clean(self.root, self.state, alive, is_last), [])
            self.assertEqual(os.path.exists(self.tree), stays, (alive, is_last, changed_ago))

    def test_another_run_leaves_that_of_a_long_attempt_to_the_next_one(self):
        made = self.make()
        put(b"1", self.tree, "out/model.pt")
        os.utime(os.path.join(made.folder, snapshot.MADE), (time.time() - 2 * snapshot.KEPT_S,) * 2)
        made.bring(True)
        self.assertEqual(snapshot.clean(self.root, self.state, {8}), [])
        self.assertTrue(os.path.exists(self.tree))      # its start follows when run.snapshot has made sure of it
        self.assertEqual(snapshot.make(self.root, self.state, 7, 1, again=True), self.tree)
        self.assertEqual(read(self.tree, "out/model.pt"), b"1")

    def test_a_keeper_that_is_killed_before_it_reads_that_the_run_is_over(self):
        made, loop, told = self.make(), Loop(), []
        self.addCleanup(loop.selector.close)
        self.addCleanup(loop.wake_in.close)
        self.addCleanup(loop.wake_out.close)
        lock = os.open(os.path.join(self.base, "lock"), os.O_RDWR | os.O_CREAT)
        self.addCleanup(os.close, lock)
        one = keeper.Keeper(loop, made.folder, lock, "mark")
        os.kill(one.pid, signal.SIGSTOP)
        os.waitpid(one.pid, os.WUNTRACED)
        one.end(True, told.append)
        os.kill(one.pid, signal.SIGKILL)
        os.waitpid(one.pid, 0)
        loop.turn()
        self.assertEqual([len(lines) for lines in told], [1])


class KeptTest(FilesTest):
    """Snapshots of a generation that the node no longer has."""

    def setUp(self):
        FilesTest.setUp(self)
        self.node = self.gateway().open()

    def keep(self, files):
        """Generation by generation, as launches do."""
        self.node.push(files)
        keeping = kept.Keeping(self.root, self.state, self.node.generation)
        self.assertEqual(keeping.begin(), {})
        keeping.keep()
        return self.node.generation

    def tree(self, generation, run=9):
        return snapshot.make(self.root, self.state, run, generation)

    def contents(self):
        return sorted(name for name in os.listdir(os.path.join(self.state, "kept")) if len(name) == 64)

    def test_has_what_was_changed_deleted_and_made_since(self):
        first = self.keep(dict(CODE, **{"run.sh": b"#!/bin/sh\n"}))
        self.node.push({"train.py": b"print(2)\n", "pkg": b"a file now", "new/module.py": b"", "run.sh": b"#!/bin/sh\n"})
        self.write("data/words.txt", b"mine")
        put(b"in place", self.root, "run.sh")           # an editor on the node

        tree = self.tree(first)

        for path, content in CODE.items():
            self.assertEqual(read(tree, path), content)
        self.assertEqual(read(tree, "run.sh"), b"#!/bin/sh\n")
        self.assertTrue(os.access(tree + "/run.sh", os.X_OK))
        self.assertEqual(sorted(os.listdir(tree)), ["data", "pkg", "run.sh", "train.py"])
        self.assertEqual(read(self.root, "train.py"), b"print(2)\n")

    def verify(self, generation, **more):
        keeping = kept.Keeping(self.root, self.state, generation, verify=True, **more)
        try:
            return keeping.begin()
        finally:
            keeping.keep()

    def test_says_when_a_file_is_no_longer_as_it_was_sent(self):
        first = self.keep(dict(CODE, **{"run.sh": b"#!/bin/sh\n"}))
        self.write("data/words.txt", b"mine")
        self.assertEqual(self.verify(first), {})
        put(b"in place", self.root, "pkg/model.py")     # an editor on the node
        self.assertEqual(self.verify(first), {"changed": "pkg/model.py"})
        put(CODE["pkg/model.py"], self.root, "pkg/model.py")
        self.assertEqual(self.verify(first), {})
        os.chmod(os.path.join(self.root, "run.sh"), 0o644)
        self.assertEqual(self.verify(first), {})
        os.unlink(os.path.join(self.root, "run.sh"))
        self.assertEqual(self.verify(first), {"changed": "run.sh"})
        self.node.push(CODE)
        self.assertEqual((self.verify(first), self.verify(9)), ({"generation": 2}, {"generation": 2}))
        put(b"in place", self.root, "train.py")
        self.assertEqual(self.verify(9), {"changed": "train.py", "generation": 2})

    def test_a_slow_disk_is_not_looked_at_for_longer_than_the_gateway_waits(self):
        first = self.keep({"a": b"", "b": b"", "c": b""})
        self.assertEqual(self.verify(first, clock=iter((0.0, 1.0, 4.9, 5.0)).__next__), {})
        self.assertEqual(self.verify(first, clock=iter((0.0, 1.0, 5.1)).__next__), {"changed": "b"})

    def test_has_the_data_of_others_in_folders_that_gpush_has_sent_to_since(self):
        first = self.keep(CODE)
        self.write("data/words.txt", b"theirs")
        self.node.push(dict(CODE, **{"data/README": b"new", "docs/README": b"new"}))
        tree = self.tree(first)
        self.assertEqual(sorted(os.listdir(tree)), ["data", "pkg", "train.py"])
        self.assertEqual(os.listdir(tree + "/data"), ["words.txt"])
        self.assertEqual(read(tree, "data/words.txt"), b"theirs")

    def test_what_it_changes_is_beside_what_is_newer(self):
        first = self.keep(CODE)
        self.node.push(dict(CODE, **{"train.py": b"print(2)\n"}))
        put(b"changed by the run", self.tree(first), "train.py")
        made = snapshot.Snapshot.load(snapshot.folder_of(self.root, self.state, 9))
        self.assertEqual(made.bring(False), ["train.py has changed meanwhile; this run's is train.py.run-9"])
        self.assertEqual(read(self.root, "train.py"), b"print(2)\n")

    def test_of_a_generation_without_a_run_there_is_none(self):
        self.keep(CODE)
        self.node.push({"train.py": b"print(2)\n"})
        self.node.push({"train.py": b"print(3)\n"})
        self.assertEqual(self.refused(2).code, "moved")
        with self.assertRaises(Refused):
            kept.Keeping(self.root, self.state, 2).begin()

    def refused(self, generation):
        with self.assertRaises(Refused) as refused:
            self.tree(generation)
        self.assertEqual(os.listdir(snapshot.place_of(self.root, self.state)), [])
        return refused.exception

    def test_large_files_are_only_in_the_workspace(self):
        self.addCleanup(setattr, kept, "MOST_FILE", kept.MOST_FILE)
        kept.MOST_FILE = 10
        first = self.keep({"train.py": b"x = 1\n", "data.bin": b"0" * 11})
        self.assertEqual(len(self.contents()), 1)
        self.node.push({"train.py": b"x = 2\n", "data.bin": b"0" * 11})
        self.assertEqual(read(self.tree(first), "data.bin"), b"0" * 11)
        snapshot.clean(self.root, self.state, ())
        self.node.push({"train.py": b"x = 2\n", "data.bin": b"1" * 11})
        refused = self.refused(first)
        self.assertEqual((refused.code, refused.facts["path"]), ("changed", "data.bin"))

    def test_the_oldest_go_when_there_is_too_much(self):
        self.addCleanup(setattr, kept, "MOST_BYTES", kept.MOST_BYTES)
        same = {"lib.py": b"0" * 100}
        first = self.keep(dict(same, **{"train.py": b"1" * 100}))
        second = self.keep(dict(same, **{"train.py": b"2" * 100}))
        os.utime(os.path.join(self.state, "kept/G%d.json" % first), (1, 1))
        for name in ("kept/part-1", "kept/G9.json.new-1", "kept/G9.json.new-2"):
            put(b"", self.state, name)                  # of some that were killed, and one that is written now
        os.utime(os.path.join(self.state, "kept/G9.json.new-1"), (1, 1))
        kept.MOST_BYTES = 350 + 2 * os.stat(os.path.join(self.state, "kept/G%d.json" % second)).st_size
        third = self.keep(dict(same, **{"train.py": b"3" * 100}))
        self.assertEqual(sorted(name for name in os.listdir(os.path.join(self.state, "kept")) if len(name) < 64),
                         ["G%d.json" % second, "G%d.json" % third, "G9.json.new-2", "lock"])
        self.assertEqual(len(self.contents()), 3)
        self.assertEqual(self.refused(first).code, "moved")
        self.assertEqual(read(self.tree(second), "train.py"), b"2" * 100)

    def test_what_a_run_waits_for_goes_last(self):
        self.addCleanup(setattr, kept, "MOST_GENERATIONS", kept.MOST_GENERATIONS)
        kept.MOST_GENERATIONS = 2
        first = self.keep(CODE)
        second = self.keep({"train.py": b"print(2)\n"})
        for number, generation in enumerate((first, second), 1):
            os.utime(os.path.join(self.state, "kept/G%d.json" % generation), (number, number))
        keeping = kept.Keeping(self.root, self.state, first)
        self.assertEqual(keeping.begin(), {"generation": second})
        keeping.keep()
        os.utime(os.path.join(self.state, "kept/G%d.json" % first), (1, 1))
        self.node.push({"train.py": b"print(3)\n"})
        keeping = kept.Keeping(self.root, self.state, self.node.generation, [first])
        keeping.begin()
        keeping.keep()
        self.assertEqual(read(self.tree(first), "train.py"), CODE["train.py"])
        self.assertEqual(self.refused_of(second), "moved")

    def refused_of(self, generation):
        with self.assertRaises(Refused) as refused:
            snapshot.make(self.root, self.state, 10, generation)
        return refused.exception.code

    def test_a_content_that_was_damaged_is_not_there(self):
        first = self.keep(CODE)
        self.node.push({})
        put(b"other", self.state, "kept", self.contents()[0])
        self.assertEqual(self.refused(first).code, "changed")

    def test_a_full_disk_keeps_nothing_and_says_which(self):
        self.addCleanup(setattr, kept, "LEAST_FREE", kept.LEAST_FREE)
        kept.LEAST_FREE = 1 << 62
        first = self.keep(CODE)
        self.assertEqual(self.contents(), [])
        self.node.push({})
        self.assertEqual(self.refused(first).code, "changed")

    def test_goes_with_the_node(self):
        self.keep(CODE)
        self.node.end()
        self.assertEqual(release(self.root, self.state), [])
        self.assertFalse(os.path.exists(self.state))


class RunFromSnapshotTest(RunTest):
    def setUp(self):
        RunTest.setUp(self)
        self.agent.workspace = self.cwd
        self.files = Gateway(self.cwd, self.state).open()

    def tearDown(self):
        self.files.end()
        RunTest.tearDown(self)

    def begin(self, script, again=False, **more):
        if not again:
            self.files.push({"train.py": b"import os, sys, time\n" + script, "lib.py": b"def word():\n    return 'old'\n"})
        run = 1
        self.run_number = 0
        requests.take_snapshot(self.agent, {"run": run, "generation": self.files.generation if not again else 0, "again": again})
        return self.start(self.spec(procs=1, world=1, slots=["0"], snapshot={"again": True}, **more), again=again)

    def test_runs_the_files_of_its_start_and_leaves_what_it_makes(self):
        run = self.begin(b"open('ready', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)\nimport lib\n"
                         b"os.mkdir('out')\nopen('out/word', 'w').write(lib.word())\nprint(os.environ['GPUSH_WORKSPACE'] == os.getcwd())\n")
        until(lambda: os.path.lexists(os.path.join(self.cwd, "ready")), what="what the run has made in the workspace")
        self.files.push({"train.py": b"", "lib.py": b"def word():\n    return 'new'\n"})
        tree = os.path.join(snapshot.place_of(self.cwd, self.state).decode(), "1/ws")
        put(b"", tree, "go")
        output = self.follow(run).finish()
        self.assertEqual(output.of(0), b"True\n")
        self.assertEqual(self.status(run)["exit"]["exit"], 0)
        self.assertEqual(read(self.cwd, "out/word"), b"old")
        self.assertFalse(os.path.exists(tree))

    def test_a_script_by_its_whole_path_is_that_of_the_snapshot(self):
        run = self.begin(b"print(os.path.abspath(__file__).startswith(os.environ['GPUSH_WORKSPACE']))\n",
                         program=[os.path.join(self.cwd, "train.py")])
        self.assertEqual(self.follow(run).finish().of(0), b"True\n")

    def test_another_run_of_its_number_leaves_it_alone(self):
        run = self.begin(b"open('ready', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)\n")
        until(lambda: os.path.lexists(os.path.join(self.cwd, "ready")), what="what the run has made in the workspace")
        with self.assertRaises(Refused) as refused:
            requests.take_snapshot(self.agent, {"run": run, "generation": self.files.generation})
        self.assertEqual(refused.exception.code, "exists")
        put(b"", snapshot.place_of(self.cwd, self.state).decode(), "1/ws/go")
        self.follow(run).finish()
        self.assertEqual(self.status(run)["exit"]["exit"], 0)

    def test_without_its_snapshot_it_does_not_start(self):
        self.files.push({"train.py": b""})
        self.assertEqual(self.refused(self.spec(snapshot={})).code, "not-found")

    def test_an_attempt_after_a_failure_runs_the_same_files(self):
        run = self.begin(b"seen = os.path.exists('checkpoint')\nopen('checkpoint', 'w').close()\nsys.exit(0 if seen else 3)\n")
        self.follow(run).finish()
        self.assertEqual(self.status(run)["exit"]["exit"], 3)
        until(lambda: not rundir.is_alive(rundir.folder_of(self.state, run)), what="the end of the supervisor")
        self.files.push({"train.py": b"sys.exit(9)\n"})
        self.begin(b"", again=True)
        self.follow(run).finish()
        self.assertEqual(self.status(run)["exit"]["exit"], 0)
        self.assertFalse(os.path.islink(os.path.join(self.cwd, "checkpoint")))

    def test_what_a_run_has_made_comes_home_when_its_supervisor_is_killed(self):
        run = self.begin(b"os.mkdir('out')\nopen('out/pid', 'w').write('%d\\n' % os.getpid())\ntime.sleep(1000)\n")
        until(lambda: os.path.exists(os.path.join(self.cwd, "out/pid")), what="the link")
        os.kill(self.supervisors[0], signal.SIGKILL)
        os.waitpid(self.supervisors[0], 0)
        until(lambda: not rundir.is_alive(rundir.folder_of(self.state, run)), what="the end of the keeper")
        self.assertFalse(os.path.islink(os.path.join(self.cwd, "out")))
        self.assertTrue(os.path.exists(os.path.join(self.cwd, "out/pid")))

    def test_is_told_where_its_results_are(self):
        run = self.begin(b"os.mkdir('out')\nopen('out/word', 'w').close()\nopen('ready', 'w').close()\n"
                         b"while not os.path.exists('go'): time.sleep(0.01)\n")
        until(lambda: os.path.lexists(os.path.join(self.cwd, "out")), what="the link")
        os.unlink(os.path.join(self.cwd, "out"))
        put(b"", self.cwd, "out/mine")
        put(b"", snapshot.place_of(self.cwd, self.state).decode(), "1/ws/go")
        output = self.follow(run).finish()
        self.assertIn(b"gpush: out has changed meanwhile; this run's is out.run-1\n", output.of(journal.LAUNCHER, journal.ERR))
        self.assertTrue(os.path.exists(os.path.join(self.cwd, "out.run-1/word")))


if __name__ == "__main__":
    unittest.main()
