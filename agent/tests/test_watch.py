"""What the files conversation says by itself when something in the tree is not as gpush wrote it."""
import base64
import errno
import json
import os
import shutil
import subprocess
import sys
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.core.inotify import Inotify  # noqa: E402
from gpush_agent.files import gitwork, sync, watch  # noqa: E402
from gpush_agent.files.root import Root  # noqa: E402
from gpush_agent.files.state import Held, State  # noqa: E402
from gpush_agent.files.tree import Tree, stamp_of  # noqa: E402
from test_files import FilesTest, digest  # noqa: E402


class Full(Inotify):
    """A kernel that has no room for more watches."""

    room = 2

    def add(self, folder, mask):
        self.room -= 1
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().add(folder, mask)


def without_inotify():
    raise OSError(errno.ENOSYS, "this system has no inotify")


class WatchTest(FilesTest):
    """The watch with a clock that only the test moves, beside conversations that are real processes."""

    def setUp(self):
        super().setUp()
        self.now = 100.0
        self.said = []
        self.changes = 0
        self.paths = None
        self.watch = None

    def tearDown(self):
        if self.watch:
            self.watch.close()
            self.watch.tree.close()
            self.watch.state.close()
        super().tearDown()

    def begin(self, kernel=Inotify):
        state = State(self.state)
        held = Held(state)
        held.load()
        self.watch = watch.Watch(Tree(self.root), state, held, lambda by, why: self.said.append((by, why)), self.count, kernel,
                                 lambda: self.now)
        self.watch.begin()
        self.watch.scan_at = self.now

    def pushed(self, files):
        """A conversation that has written these, and the manifest."""
        node = self.gateway().open()
        node.push(files)
        self.check(node)
        return node

    def check(self, node):
        """Until the lock is free again."""
        node.check()
        state = State(self.state)
        state.lock()
        state.close()

    def count(self, paths):
        self.changes += 1
        self.paths = paths

    def heard(self, after=1.0):
        """How often it has told since, when that much time has passed."""
        before = self.changes
        self.watch.drain()
        self.now += after
        self.watch.look()
        self.now += after
        self.watch.look()
        return self.changes - before

    def replace(self, path, data):
        self.write("../new", data)
        os.rename(os.path.join(self.base, "new"), os.path.join(self.root, path))

    def test_a_commit_that_was_not_saved_stays_known_when_another_saves(self):
        node = self.pushed({"a.py": b"1"})
        self.begin()
        held = self.watch.held
        held.generation, held.is_dirty = 3, True
        node.push({"a.py": b"other"})
        self.check(node)
        self.assertFalse(held.file.is_known())
        self.assertTrue(self.watch.refresh())
        self.assertEqual(held.generation, 3)

    # ---- with events

    def test_tells_of_what_is_edited_made_deleted_renamed_and_made_executable(self):
        self.pushed({"a.py": b"1", "p/b.py": b"2", "p/c.py": b"3", "l": "a.py"})
        self.begin()
        self.assertEqual(self.said, [("events", "")])

        def relink():
            os.unlink(os.path.join(self.root, "l"))
            os.symlink("p/b.py", os.path.join(self.root, "l"))
        for change in (lambda: self.write("a.py", b"other"),
                       lambda: self.replace("p/b.py", b"other"),
                       lambda: self.write("p/new.py", b"new"),
                       lambda: os.unlink(os.path.join(self.root, "a.py")),
                       lambda: os.rename(os.path.join(self.root, "p/c.py"), os.path.join(self.root, "p/d.py")),
                       lambda: os.chmod(os.path.join(self.root, "p/d.py"), 0o755),
                       relink):
            self.assertEqual(self.heard(), 0)
            change()
            self.assertEqual(self.heard(), 1)

    def test_many_events_are_told_once_and_what_was_told_not_again(self):
        self.pushed(dict(("%d.py" % number, b"1") for number in range(50)))
        self.begin()
        for number in range(50):
            self.write("%d.py" % number, b"edited")
        self.assertEqual(self.heard(), 1)
        os.utime(os.path.join(self.root, "1.py"), ns=(1, 1))    # a new stamp
        self.assertEqual(self.heard(), 1)
        os.rename(os.path.join(self.root, "2.py"), os.path.join(self.root, "x"))
        os.rename(os.path.join(self.root, "x"), os.path.join(self.root, "2.py"))
        os.unlink(os.path.join(self.root, "3.py"))
        self.heard()
        os.mkdir(os.path.join(self.root, "3.py"))
        os.rmdir(os.path.join(self.root, "3.py"))
        self.assertEqual(self.heard(), 0)

    def test_names_what_is_edited_and_nothing_when_something_else_has_happened(self):
        files = dict(("%d.py" % number, b"1") for number in range(watch.MOST_PATHS + 1))
        files["l"] = "0.py"
        self.pushed(files)
        self.begin()
        self.write("0.py", b"edited")
        os.chmod(os.path.join(self.root, "1.py"), 0o755)
        self.assertEqual(self.heard(), 1)
        self.assertEqual(self.paths, ["0.py", "1.py"])

        def change_kind():
            os.unlink(os.path.join(self.root, "3.py"))
            os.mkdir(os.path.join(self.root, "3.py"))
        for change in (lambda: self.write("new.py", b"1"), lambda: os.unlink(os.path.join(self.root, "2.py")), change_kind):
            self.write("0.py", b"edited %d" % self.changes)
            change()
            self.assertEqual(self.heard(), 1)
            self.assertEqual(self.paths, [])
        for path in files:
            if path not in ("2.py", "3.py", "l"):
                self.write(path, b"formatted")
        self.write("2.py", b"formatted")
        self.write("4.py", b"formatted")
        self.assertEqual(self.heard(), 1)
        self.assertEqual(len(self.paths), watch.MOST_PATHS)
        for path in files:
            if path not in ("3.py", "l"):
                self.write(path, b"formatted again")
        os.unlink(os.path.join(self.root, "l"))
        os.symlink("1.py", os.path.join(self.root, "l"))
        self.assertEqual(self.heard(), 1)
        self.assertEqual(self.paths, [])

    def test_a_save_that_is_complete_is_told_at_once_and_half_of_one_is_not(self):
        self.pushed({"a.py": b"1", "b.py": b"1"})
        self.begin()
        self.write("a.py", b"edited")
        self.assertEqual(self.told_within(watch.SAVED_S), 1)
        os.rename(os.path.join(self.root, "a.py"), os.path.join(self.root, "a.py~"))    # as vim does
        self.write("b.py", b"edited")
        self.assertEqual(self.told_within(watch.SAVED_S), 0)
        self.write("a.py", b"edited again")
        self.assertEqual(self.told_within(watch.SAVED_S), 1)
        for number in range(watch.FEW):
            self.write("%d.py" % number, b"new")
        self.write("a.py", b"of many")
        self.assertEqual(self.told_within(watch.SAVED_S), 0)
        self.assertEqual(self.told_within(watch.QUIET_S), 1)

    def test_a_file_that_was_emptied_waits_for_its_new_content(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        self.write("a.py", b"")
        self.assertEqual(self.told_within(watch.QUIET_S), 0)
        self.write("a.py", b"edited")
        self.assertEqual(self.told_within(watch.SAVED_S), 1)
        self.write("a.py", b"")
        self.assertEqual(self.told_within(watch.MOST_S), 1)

    def told_within(self, seconds):
        before = self.changes
        self.watch.drain()
        self.now += seconds + 0.001
        self.watch.look()
        return self.changes - before

    def test_what_is_ignored_says_nothing_until_a_commit_writes_rules(self):
        self.pushed({"a.py": b"1", "tracked.log": b"1"})
        self.begin()
        self.watch.ignored = frozenset(["x.log", "tracked.log", "build/"])
        self.write("x.log", b"1")
        os.mkdir(os.path.join(self.root, "build"))
        self.watch.drain()
        self.assertEqual((self.watch.suspects, self.watch.first), (set(), None))
        self.write("tracked.log", b"edited")
        self.assertEqual(self.heard(), 1)
        self.watch.written(["a.py"])
        self.write("x.log", b"2")
        self.assertEqual(self.heard(), 0)
        self.watch.written(["sub/.gitignore"])
        self.write("x.log", b"3")
        self.assertEqual(self.heard(), 1)
        self.watch.drain()
        self.write("x.log", b"4")       # seen before the gateway says so
        self.watch.drain()
        self.watch.ignored = frozenset(["x.log"])
        self.assertEqual(self.heard(), 0)

    def test_a_folder_that_a_rule_ignores_is_watched_again_while_it_has_a_file_of_gpush(self):
        self.pushed({"a.py": b"1", "build/tracked.py": b"1"})
        self.begin()
        self.watch.ignored = frozenset(["build/", "other/"])
        shutil.rmtree(os.path.join(self.root, "build"))
        self.assertEqual(self.heard(), 1)
        self.write("build/tracked.py", b"made again")
        self.assertEqual(self.heard(), 1)
        self.write("build/tracked.py", b"edited")
        self.assertEqual(self.heard(), 1)
        os.mkdir(os.path.join(self.root, "other"))
        self.assertEqual(self.heard(), 0)

    def test_waits_for_the_end_of_several_events_but_not_for_long(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        for step in range(9):
            self.write("new.py", b"%d" % step)
            self.watch.drain()
            self.now += 0.025
            self.watch.look()
            self.assertEqual(self.changes, 1 if step >= 7 else 0, step)

    def test_an_edit_where_a_save_was_missed_is_told(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        self.watch.held.hold("a.py", ["file", 0, 1, digest(b"2")])
        self.write("a.py", b"edited")
        self.assertEqual(self.heard(), 1)
        self.watch.held.hold("a.py", ["file", 0, 6, digest(b"edited")])
        self.write("a.py", b"edited")
        self.heard()            # that it is as it should be, again
        self.write("a.py", b"edited")
        self.assertEqual(self.heard(), 0)

    def test_what_is_told_and_undone_is_told_once_more(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        for data, times in ((b"edited", 1), (b"1", 1), (b"1", 0), (b"edited", 1)):
            self.replace("a.py", data)
            self.assertEqual(self.heard(), times, data)
            self.assertEqual(self.paths, ["a.py"])
        other = State(self.state)
        other.lock()
        self.replace("a.py", b"1")
        self.assertEqual(self.heard(), 0)
        other.close()
        self.assertEqual(self.heard(), 1)
        self.assertEqual(self.paths, ["a.py"])

    def test_what_is_as_it_was_is_no_news(self):
        self.pushed({"a.py": b"1", "p/b.py": b"2"})
        self.begin()
        os.utime(os.path.join(self.root, "a.py"))
        self.write("p/b.py", b"2")
        self.write("p/4913", b"")
        os.unlink(os.path.join(self.root, "p/4913"))
        self.assertEqual(self.heard(), 0)

    def test_what_another_conversation_writes_is_no_news(self):
        node = self.pushed({"a.py": b"1", "p/b.py": b"2", "q/c.py": b"3"})
        self.begin()
        node.push({"a.py": b"new", "p/b.py": b"2", "r/s/d.py": b"4"})
        self.check(node)
        self.assertEqual(self.heard(), 0)
        self.write("r/s/d.py", b"edited")
        self.assertEqual(self.heard(), 1)

    def test_says_nothing_while_another_conversation_writes(self):
        node = self.pushed({"a.py": b"1"})
        self.begin()
        self.assertEqual(node.prepare({"a.py": b"2", "b.py": b"1"}), {"ok": True})
        self.write("new.py", b"")
        self.assertEqual(self.heard(), 0)
        node.commit()
        self.check(node)
        self.assertEqual(self.heard(), 1)
        self.assertEqual(self.heard(), 0)

    def test_a_folder_that_vanishes_and_comes_back_is_watched_again(self):
        self.pushed({"p/q/a.py": b"1"})
        self.begin()
        os.rename(os.path.join(self.root, "p"), os.path.join(self.base, "away"))
        self.assertEqual(self.heard(), 1)
        with open(os.path.join(self.base, "away/q/a.py"), "w") as file:
            file.write("not in the tree")
        self.assertEqual(self.heard(), 0)
        os.rename(os.path.join(self.base, "away"), os.path.join(self.root, "p"))
        self.assertEqual(self.heard(), 1)
        self.write("p/q/a.py", b"again")
        self.assertEqual(self.heard(), 1)

    def test_a_new_folder_is_told_and_watched_when_the_gateway_looks_into_it(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        self.write("new/deep/b.py", b"")
        self.assertEqual(self.heard(), 1)
        self.write("new/c.py", b"")
        self.assertEqual(self.heard(), 0)
        self.watch.look_into(["new"])
        self.write("new/c.py", b"1")
        self.assertEqual(self.heard(), 1)

    def test_a_log_that_grows_is_told_when_it_stops(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        for step in range(watch.BURST[False]):
            self.write("train.log", b"." * step)
            self.assertEqual(self.heard(), 1)
        for step in range(400):
            self.write("train.log", b"more " * step)
            self.heard(0.25)
            if step == 40:      # 20 s
                first = self.changes
        self.assertLess(first, watch.BURST[False] + 3)
        self.assertIn(self.changes - first, range(3, 8))        # it does not wait for ever
        self.write("a.py", b"edited")
        self.assertEqual(self.heard(0.25), 1)
        self.assertEqual(self.paths, ["a.py"])
        self.now += 5
        self.assertEqual(self.heard(), 1)       # its last state is not forgotten

    def test_saves_of_an_editor_are_reported_at_once_however_long_they_go_on(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        for step in range(100):
            self.write("a.py", b"edit %d" % step)
            self.assertEqual(self.told_within(watch.SAVED_S), 1, step)
            self.assertEqual(self.paths, ["a.py"])
            self.now += 0.4

    def test_a_file_of_gpush_that_grows_all_the_time_is_reported_once_a_second(self):
        self.pushed({"a.py": b"1", "train.log": b"1"})
        self.begin()
        for step in range(3000):        # a minute
            self.write("train.log", b"line %d" % step)
            self.told_within(0.019)
        self.assertIn(self.changes - watch.BURST[True], range(40, 62))
        self.write("a.py", b"edited")
        self.assertEqual(self.told_within(watch.SAVED_S), 1)
        self.now += 1
        self.assertEqual(self.heard(), 1)       # its last state is not forgotten

    def test_a_folder_of_gpush_is_no_log(self):
        self.pushed({"p/a.py": b"1"})
        self.begin()
        for _ in range(watch.BURST[False]):
            os.rename(os.path.join(self.root, "p"), os.path.join(self.base, "away"))
            self.assertEqual(self.heard(0.01 + watch.QUIET_S), 1)
            os.rename(os.path.join(self.base, "away"), os.path.join(self.root, "p"))
            self.assertEqual(self.heard(0.01 + watch.QUIET_S), 1)

    def test_more_events_than_the_kernel_keeps_are_told(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        self.watch.event(-1, watch.inotify.Q_OVERFLOW, b"")
        self.assertEqual(self.heard(), 1)

    def test_a_folder_that_was_made_again_among_lost_events_is_watched(self):
        self.pushed({"p/a.py": b"1"})
        self.begin()
        shutil.rmtree(os.path.join(self.root, "p"))
        self.write("p/a.py", b"other")
        list(self.watch.events.read())
        self.watch.event(-1, watch.inotify.Q_OVERFLOW, b"")
        self.assertEqual(self.heard(), 1)
        self.write("p/a.py", b"again")
        self.assertEqual(self.heard(), 1)

    def test_names_that_cannot_be_sent_say_nothing(self):
        self.pushed({"a.py": b"1"})
        self.begin()
        self.write(b"bad-\xff".decode("utf-8", "surrogateescape"), b"")
        self.assertEqual(self.heard(), 0)

    # ---- git

    def git(self, *words):
        subprocess.run(self.command(words), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def command(self, words):
        return ["git", "-C", os.fsdecode(self.root), "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "gc.auto=0"] + list(words)

    def held_git(self, *words):
        """Runs it; at each of its steps, which print a line and read one, this much time passes, and what is told by then counts."""
        said, stops = os.pipe()
        steps, go = os.pipe()
        script = "exec 3<&%d 4>&%d; exec \"$@\"" % (steps, stops)
        process = subprocess.Popen(["sh", "-c", script, "sh"] + self.command(words), pass_fds=(steps, stops), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        os.close(stops)
        os.close(steps)
        before = self.changes
        while os.read(said, 1):
            self.assertEqual(self.heard(0.3), 0)
            os.write(go, b"\n")
        os.close(said)
        os.close(go)
        self.assertEqual(process.wait(), 0)
        self.told_within(watch.MOST_S)
        return self.changes - before

    STOP = "printf x >&4; read go <&3"

    def repository(self):
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-qm", "one")

    @unittest.skipIf(shutil.which("git") is None, "there is no git")
    def test_a_rebase_is_told_once(self):
        self.pushed({"a.py": b"1", "b.py": b"1"})
        self.repository()
        self.git("checkout", "-qb", "topic")
        for number in range(5):
            self.write("%d.py" % number, b"new")
            self.git("add", ".")
            self.git("commit", "-qm", "topic")
        self.git("checkout", "-q", "main")
        self.write("b.py", b"2")
        self.git("commit", "-qam", "main")
        self.git("checkout", "-q", "topic")
        self.begin()
        self.assertEqual(self.held_git("rebase", "-q", "-x", self.STOP, "main"), 1)

    @unittest.skipIf(shutil.which("git") is None, "there is no git")
    def test_a_checkout_is_told_once(self):
        files = dict(("%d.py" % number, b"1") for number in range(300))
        files.update(("%d.held" % number, b"1") for number in range(6))
        files[".gitattributes"] = b"*.held filter=held\n"
        self.pushed(files)
        self.repository()
        self.git("config", "filter.held.smudge", self.STOP + "; cat")
        self.git("checkout", "-qb", "other")
        for path in files:
            if path != ".gitattributes":
                self.write(path, b"other")
        self.git("commit", "-qam", "other")
        self.git("config", "filter.held.smudge", "cat")
        self.git("checkout", "-q", "main")
        self.git("config", "filter.held.smudge", self.STOP + "; cat")
        self.begin()
        self.assertEqual(self.held_git("checkout", "-q", "other"), 1)

    def test_what_git_has_left_over_holds_up_an_edit_once(self):
        self.pushed({"a.py": b"1"})
        os.makedirs(os.path.join(self.root, ".git/rebase-merge"))
        self.write(".git/index.lock", b"")
        self.begin()
        self.write("a.py", b"edited")
        self.assertEqual(self.heard(0.5), 0)
        self.now += gitwork.STILL_S
        self.assertEqual(self.heard(0.5), 1)
        self.write("a.py", b"edited again")
        self.assertEqual(self.told_within(watch.SAVED_S), 1)

    def test_edits_that_go_on_beside_a_lock_that_was_left_over_are_told(self):
        self.pushed({"a.py": b"1"})
        os.mkdir(os.path.join(self.root, ".git"))
        self.write(".git/index.lock", b"")
        self.begin()
        for step in range(int(gitwork.LONGEST_S)):
            self.write("a.py", b"%d" % step)
            self.assertEqual(self.heard(0.5), 0, step)
        self.write("a.py", b"edited")
        self.assertEqual(self.heard(0.5), 1)

    # ---- without

    def test_without_room_for_more_watches_it_looks_at_the_files(self):
        self.pushed({"a/x.py": b"1", "b/y.py": b"2", "c/z.py": b"3"})
        self.begin(Full)
        self.assertEqual([by for by, _ in self.said], ["scan"])
        self.assertIn("max_user_watches", self.said[0][1])
        self.write("c/z.py", b"edited")
        self.assertEqual(self.heard(3), 1)

    def test_room_that_is_used_up_later_has_the_files_looked_at_from_then_on(self):
        node = self.pushed({"a/x.py": b"1"})
        self.begin(Full)
        self.assertEqual([by for by, _ in self.said], ["events"])
        self.watch.look_into(["b"])
        self.assertEqual([by for by, _ in self.said], ["events", "scan"])
        self.write("a/x.py", b"edited")
        self.assertEqual(self.heard(3), 1)

    def test_a_scan_finds_edits_deletions_and_new_names_once(self):
        node = self.pushed({"a.py": b"1", "p/b.py": b"2", "p/c.py": b"3"})
        self.begin(without_inotify)
        self.assertEqual(self.said, [("scan", "this system has no inotify")])
        self.assertEqual(self.heard(3), 0)
        for change in (lambda: self.write("a.py", b"other"),
                       lambda: os.unlink(os.path.join(self.root, "p/b.py")),
                       lambda: self.write("p/new.py", b"new"),
                       lambda: self.write("new/folder.py", b"new")):
            change()
            self.assertEqual(self.heard(3), 1)
            self.assertEqual(self.heard(3), 0)
        node.push({"a.py": b"other", "p/c.py": b"pushed", "p/new.py": b"new"})
        self.check(node)
        self.assertEqual(self.heard(3), 0)

    def test_a_scan_finds_a_name_that_is_made_in_the_same_tick_as_the_change_before_it(self):
        self.pushed({"p/b.py": b"1", "p/c.py": b"2"})
        self.begin(without_inotify)
        self.assertEqual(self.heard(3), 0)
        tick = 4000000000 * 10 ** 9         # not over when the folder is looked at
        for change in (lambda: os.unlink(os.path.join(self.root, "p/b.py")), lambda: self.write("p/new.py", b"new")):
            change()
            os.utime(os.path.join(self.root, "p"), ns=(tick, tick))
            self.assertEqual(self.heard(3), 1)
        self.assertEqual(self.heard(3), 0)

    def test_a_scan_tells_what_has_stopped_though_others_are_made_beside_it(self):
        self.pushed({"a.py": b"1"})
        self.begin(without_inotify)

        def look(step):
            self.write("%d.new" % step, b"")
            os.utime(self.root, (step, step))
            self.told_within(watch.SCAN_S + 0.1)
        for step in range(10):
            self.write("x.log", b"." * step)
            look(step)
        for step in range(10, 20):
            look(step)
        self.assertEqual(self.watch.told["x.log"], self.watch.stamp("x.log"))

    def test_a_scan_looks_at_no_more_than_its_share_at_once(self):
        self.pushed(dict(("%d.py" % number, b"1") for number in range(30)))
        most, watch.MOST_SCANNED = watch.MOST_SCANNED, 10
        try:
            self.begin(without_inotify)
            self.write("9.py", b"edited")       # the last one
            told = [self.heard(2.5) for _ in range(4)]
        finally:
            watch.MOST_SCANNED = most
        self.assertEqual(sum(told), 1)
        self.assertEqual(told[0], 0)


class ConversationTest(FilesTest):
    def test_a_conversation_tells_and_goes_on_with_its_requests(self):
        node = self.gateway().open()
        node.push({"a.py": b"1", "p/b.py": b"2"})
        node.send(sync.WATCH, {})
        self.assertEqual(node.expect(sync.WATCHING), {"by": "events", "why": ""})

        self.save("p/b.py", b"edited")
        self.assertEqual(self.told(node), {"p/b.py": b"edited"})
        self.assertEqual(node.check(node.root)["index"]["p/b.py"][4], "changed")
        self.assertEqual(list(node.check(node.root, ["p/b.py", "none"])["index"]), ["p/b.py"])
        self.assertEqual(list(node.check(node.root, ["a.py"])["index"]), [])
        node.send(sync.IGNORE, {"paths": ["train.log"]})
        self.save("train.log", b"1")
        node.push({"a.py": b"1", "p/b.py": b"edited", "new/c.py": b"3"})
        self.save("new/c.py", b"edited")
        self.assertEqual(self.told(node), {"new/c.py": b"edited"})
        os.rename(self.root, self.root + "-away")
        shutil.copytree(self.root + "-away", self.root)
        self.write("../%s-away/p/b.py" % os.path.basename(self.root), b"in the folder that is away")
        self.assertEqual(self.told(node), {})
        self.assertEqual(node.end(), 0)

    def told(self, node):
        """The files that come with the next CHANGED."""
        said = node.expect(sync.CHANGED)
        files = {}
        for file in said["files"]:
            blob = base64.b64decode(file["blob"])
            content = zlib.decompress(blob[33:]) if blob[32] & 1 else blob[33:]
            self.assertEqual(file["now"][:4], ["file", 0, len(content), digest(content)])
            self.assertEqual(blob[:32].hex(), digest(content))
            files[file["path"]] = content
        self.assertIn(sorted(files), (said["paths"], []))
        self.assertEqual(said["root"], node.root)
        return files

    def test_files_come_along_only_if_all_are_small_and_as_check_says(self):
        node = self.gateway().open()
        files = dict((name, b"1") for name in ("a", "b", "kept", "l", "large", "lost", "pipe"))
        node.push(files)
        self.assertEqual(node.end(), 0)
        for name in ("a", "b", "lost"):
            self.write(name, b"2")
        self.write("large", bytes(sync.MAX_TOLD + 1))
        for name in ("l", "pipe"):
            os.unlink(os.path.join(self.root, name))
        os.symlink("a", os.path.join(self.root, "l"))
        os.mkfifo(os.path.join(self.root, "pipe"))
        with open(os.devnull, "rb") as nothing:
            talk = sync.Conversation(nothing.fileno(), nothing.fileno())
        state = State(self.state)
        self.addCleanup(state.close)
        talk.held, talk.tree = Held(state), Tree(self.root)
        self.addCleanup(talk.tree.close)
        talk.held.load()
        lost = stamp_of(os.stat(os.path.join(self.root, "lost")))
        talk.held.entries["lost"][4] = [5] + lost[1:]       # a disk that had no power has its former time
        talk.held.at = lost[2] + 10 ** 10
        self.assertEqual([file["path"] for file in talk.edited(["b", "a"])], ["a", "b"])
        for other in ("kept", "l", "large", "lost", "pipe", "none"):
            self.assertEqual(talk.edited(["a", other]), [], other)

    def test_a_second_watch_breaks_the_protocol(self):
        node = self.gateway().open()
        node.send(sync.WATCH, {})
        node.expect(sync.WATCHING)
        node.send(sync.WATCH, {})
        self.assertEqual(node.expect(sync.FAILED)["code"], "protocol")

    def test_what_its_own_commit_writes_does_not_even_wake_it(self):
        self.write("../out", b"")
        with open(os.path.join(self.base, "out"), "wb") as out, open(os.devnull, "rb") as nothing:
            talk = sync.Conversation(nothing.fileno(), out.fileno())
            self.ask(talk, sync.TREE, {"root": self.root, "state": self.state, "node": 0})
            self.ask(talk, sync.WATCH, {})
            self.commit(talk, 1, {"a.py": b"1", "p/q/b.py": b"2"})
            self.commit(talk, 2, {"a.py": b"other", "p/q/b.py": b"2", "r/c.py": b"3"})
            self.assertEqual((talk.watch.suspects, talk.watch.first), (set(), None))
            talk.watch.drain()
            self.assertEqual((talk.watch.suspects, talk.watch.first), (set(), None))

            self.save("r/c.py", b"edited")
            talk.watch.drain()
            self.assertEqual(talk.watch.suspects, {"r/c.py"})
            talk.close()

    def test_a_long_log_becomes_part_of_the_whole_when_no_request_comes(self):
        idle, sync.IDLE_S = sync.IDLE_S, 0
        log = os.path.join(self.state, "manifest.log")
        source, requests = os.pipe()
        try:
            talk = sync.Conversation(source, os.open(os.devnull, os.O_WRONLY))
            self.ask(talk, sync.TREE, {"root": self.root, "state": self.state, "node": 0})
            for generation in (1, 2, 3):
                self.commit(talk, generation, dict(("f%d" % number, b"%d" % generation) for number in range(40)))
            talk.shorten(lambda: False)
            os.write(requests, b"x")
            talk.idle(source)
            self.assertTrue(os.path.exists(log))

            os.read(source, 1)
            os.utime(log, ns=(10 ** 9, 10 ** 9))
            os.utime(os.path.join(self.state, "manifest.json"), ns=(1, 1))
            talk.idle(source)
            self.assertFalse(os.path.exists(log))
            self.assertEqual(talk.held.at, 10 ** 9)     # it has looked at no file
        finally:
            sync.IDLE_S = idle
            talk.close()
            for fd in (source, requests, talk.out):
                os.close(fd)

    @staticmethod
    def ask(talk, kind, value):
        talk.handle(kind, json.dumps(value).encode())

    def commit(self, talk, generation, files):
        entries = dict((path, ["file", 0, len(data), digest(data)]) for path, data in files.items())
        for data in files.values():
            talk.handle(sync.BLOB, bytes.fromhex(digest(data)) + b"\2" + data)
        plan = {"generation": generation, "from": talk.held.root, "root": Root.of(entries).value, "overwrite": False, "verify": False,
                "write": [[path] + entry for path, entry in entries.items()], "delete": []}
        talk.handle(sync.PREPARE, zlib.compress(json.dumps(plan).encode()))
        self.ask(talk, sync.COMMIT, {"generation": generation})
        self.assertEqual(talk.held.generation, generation)

    def save(self, path, data):
        """With one event in the tree, as editors that replace a file."""
        self.write("../saved", data)
        os.rename(os.path.join(self.base, "saved"), os.path.join(self.root, path))


if __name__ == "__main__":
    unittest.main()
