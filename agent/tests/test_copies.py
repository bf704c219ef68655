"""Copies between two ends: what arrives, what continues, what is refused; and that a killed end never leaves a wrong file."""
import contextlib
import hashlib
import io
import json
import os
import random
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

import client
from gpush_agent.copies import gateway, parts
from gpush_agent.copies.far import Far, Stopped
from gpush_agent.copies.job import Job
from gpush_agent.copies.report import Report
from gpush_agent.copies.serve import Ends
from gpush_agent.copies.target import Target
from gpush_agent.copies.wire import BLOCK, Failed, over_descriptors
from run import slow

SERVER = "import sys; sys.path.insert(0, %r); from gpush_agent.copies import serve; sys.exit(serve.main({}, 0, 1))" % os.path.dirname(client.PACKAGE)


class Process:
    """An end in a process of its own, as on a node."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-X", "utf8", "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        into, out = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.wire = over_descriptors(out, into)
        self.wire.write = lambda views: self.write(into, views)

    @staticmethod
    def write(fd, views):
        from gpush_agent.copies.wire import Lost, write_all
        try:
            for view in views:
                write_all(fd, view)
        except OSError as error:
            raise Lost(str(error))

    def cut(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin = None if self.process.stdin is None else self.close(self.process.stdin)
        self.process.stdout = None if self.process.stdout is None else self.close(self.process.stdout)

    @staticmethod
    def close(file):
        try:
            file.close()
        except OSError:
            pass


def snapshot(root):
    """Everything about a tree that a copy keeps."""
    found = {}
    root = os.fsencode(root)
    for folder, folders, files in os.walk(root):
        for name in folders + files + [b"."]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            what = [stat.S_IFMT(status.st_mode)]
            if stat.S_ISLNK(status.st_mode):
                what += [os.readlink(path)]
            else:
                what += [stat.S_IMODE(status.st_mode), status.st_mtime_ns]
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    what += [hashlib.sha256(file.read()).hexdigest()]
            found[os.path.relpath(path, root)] = what
    return found


class CopiesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpc")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.source, self.target = os.path.join(self.folder, "source"), os.path.join(self.folder, "target")
        self.said = io.StringIO()

    def write(self, name, data, mode=0o644, when=1000000000123456789):
        path = os.path.join(os.fsencode(self.source), name if isinstance(name, bytes) else os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        aside = os.fsencode(self.source) + b".aside"     # a copy in progress sees it whole, or as it was
        with open(aside, "wb") as file:
            file.write(data)
        os.chmod(aside, mode)
        os.utime(aside, ns=(when, when))
        os.replace(aside, path)
        return path

    def copy(self, sources=None, target=None, source_end=Ends, target_end=Ends, stop=None, **options):
        options = dict({"streams": 3}, **options)
        report = Report(options, "devbox")
        job = Job(source_end, target_end, options, report, stop or threading.Event())
        with contextlib.redirect_stderr(self.said):
            try:
                job.run(sources or [self.source], target or self.target)
            finally:
                report.close()
            report.summary()
        return report

    def left(self, root=None):
        return [name for _, folders, files in os.walk(root or self.target) for name in folders + files if ".gpush-part" in name]

    def test_a_tree_arrives_as_it_is(self):
        self.write("a/small", b"x" * 1000, 0o640)
        self.write("a/b/empty", b"", 0o600, 12345)
        self.write("large", os.urandom(3 * BLOCK + 17), 0o755)
        self.write("n" * 250, os.urandom(BLOCK + 1))
        self.write(b"\xff\xfe caf\xc3\xa9\n", b"not UTF-8")
        with open(self.write("hole", b"x"), "r+b") as file:
            file.truncate(5 * BLOCK)
        os.symlink("../large", os.path.join(self.source, "a", "link"))
        os.symlink("/nothing", os.path.join(self.source, "dangling"))
        os.chmod(os.path.join(self.source, "a", "b"), 0o555)
        for folder in ("a/b", "a", ""):
            os.utime(os.path.join(self.source, folder), ns=(5 * 10 ** 9, 6 * 10 ** 9))
        first = self.copy()
        self.assertEqual(snapshot(self.source), snapshot(self.target))
        self.assertLess(os.stat(os.path.join(self.target, "hole")).st_blocks * 512, 3 * BLOCK)
        self.assertEqual((first.failures, self.left()), ([], []))
        again = self.copy()
        self.assertEqual((again.copied, again.bytes, again.failures), (0, 0, []))
        self.assertEqual(snapshot(self.source), snapshot(self.target))

    @slow
    def test_many_small_files(self):
        for number in range(1500):
            self.write("%d/%d" % (number % 7, number), b"%d" % number * (number % 50))
        self.copy(target_end=self.far())
        self.assertEqual(snapshot(self.source), snapshot(self.target))

    def far(self, opened=None, notices=lambda why: None, stop=None):
        """An end as near.py makes it, over processes."""
        def open_process():
            process = Process()
            self.addCleanup(process.cut)
            if opened is not None:
                opened(process)
            return process, process.wire
        return lambda: Far(open_process, lambda: None, notices, stop or threading.Event())

    @slow
    def test_a_killed_end_comes_back_and_the_copy_is_whole(self):
        seed = int(os.environ.get("GPUSH_SEED", random.randrange(1 << 30)))
        print("test_copies seed %d (GPUSH_SEED)" % seed, file=sys.stderr)
        chance = random.Random(seed)
        for number in range(4):
            self.write("large%d" % number, bytes(bytearray(chance.getrandbits(8) for _ in range(5000))) * 2000)
        for number in range(400):
            self.write("small/%d" % number, b"%d" % number * 500)
        for is_up in (True, False):
            shutil.rmtree(self.target, True)
            mine, most = [], [12]

            def opened(process):
                """Twelve processes are killed, each after a few messages."""
                if most[0] > 0:
                    most[0] -= 1
                    calls, send = [chance.randrange(1, 12)], process.wire.send

                    def sent(*message):
                        calls[0] -= 1
                        if calls[0] <= 0:
                            threading.Timer(chance.random() * 0.005, process.process.kill).start()
                        send(*message)
                    process.wire.send = sent
                    mine.append(process)
            far = self.far(opened)
            self.copy(source_end=Ends if is_up else far, target_end=far if is_up else Ends)
            self.assertEqual(snapshot(self.source), snapshot(self.target), "seed %d" % seed)
            self.assertEqual(self.left(), [], "seed %d" % seed)

    def interrupted(self, blocks):
        """A copy that is stopped after `blocks` blocks."""
        stop, lock, count = threading.Event(), threading.Lock(), [blocks]

        class Stopping(Ends):
            def call(self, want, data=b""):
                if want["do"] == "block":
                    with lock:
                        count[0] -= 1
                        if count[0] < 0:
                            stop.set()
                            raise Stopped()
                return Ends.call(self, want, data)
        with self.assertRaises(Stopped):
            self.copy(target_end=Stopping, stop=stop)

    def test_an_interrupted_copy_continues(self):
        path = self.write("large", os.urandom(9 * BLOCK + 5))
        self.interrupted(5)
        self.assertEqual(sorted(os.listdir(self.target)), ["large.gpush-part", "large.gpush-part.map"])
        with open(os.path.join(self.target, "large.gpush-part"), "r+b") as file:
            there = [at for at in range(9) if file.seek(at * BLOCK) >= 0 and any(file.read(64))]
            file.seek(there[0] * BLOCK + 77)
            file.write(b"damaged by a power cut")
        report = self.copy()
        self.assertEqual(report.again, (len(there) - 1) * BLOCK)
        self.assertEqual((snapshot(self.source), self.left()), (snapshot(self.target), []))
        self.assertEqual(os.stat(path).st_size, report.bytes)

    def test_an_interrupt_ends_the_wait_for_a_node(self):
        """While a link is cut, the gateway takes the connection, and no node answers."""
        place = {"socket": os.path.join(self.folder, "s"), "build": "b", "home": "h"}
        stop, ended = threading.Event(), []
        end = Far(lambda: gateway.open_wire(place, "devbox", 0), lambda: None, lambda why: None, stop)

        def call():
            try:
                end.call({"do": "find"})
            except Stopped:
                ended.append(True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place["socket"])
            listener.listen(1)
            thread = threading.Thread(target=call, daemon=True)
            thread.start()
            with listener.accept()[0] as taken:
                taken.recv(1)
                stop.set()
                end.cut()
                thread.join(client.DEADLINE)
                self.assertEqual(ended, [True])

    def test_a_source_that_has_changed_starts_again(self):
        self.write("large", os.urandom(6 * BLOCK))
        self.interrupted(3)
        self.write("large", os.urandom(6 * BLOCK), when=1000000001000000000)
        report = self.copy()
        self.assertEqual((report.again, snapshot(self.source)), (0, snapshot(self.target)))
        self.assertIn("large changed since the copy was interrupted", self.said.getvalue())

    def test_a_source_that_changes_meanwhile_is_copied_as_it_is_then(self):
        path, test = self.write("large", os.urandom(4 * BLOCK)), self

        class Changing(Ends):
            times = 2

            def call(self, want, data=b""):
                if want["do"] == "read" and want["index"] == 2 and Changing.times:
                    Changing.times -= 1
                    test.write("large", os.urandom((4 + Changing.times % 2) * BLOCK), when=2000000000000000000 + Changing.times)
                return Ends.call(self, want, data)
        report = self.copy(source_end=Changing)
        self.assertEqual((report.failures, snapshot(self.source)[b"large"]), ([], snapshot(self.target)[b"large"]))
        os.unlink(os.path.join(self.target, "large"))
        Changing.times = 1000
        report = self.copy(source_end=Changing)
        self.assertEqual([failure[0] for failure in report.failures], ["large"])
        self.assertFalse(os.path.exists(os.path.join(self.target, "large")))
        self.assertTrue(os.path.exists(path))

    def test_what_is_there_is_not_harmed(self):
        self.write("newer", b"ours")
        self.write("folder", b"x")
        self.write("link", b"x")
        self.write("out/x", b"x")
        self.write("same", b"x")
        outside = os.path.join(self.folder, "outside")
        os.makedirs(outside)
        os.makedirs(os.path.join(self.target, "folder"))
        with open(os.path.join(self.target, "newer"), "w") as file:
            file.write("theirs")
        os.symlink("newer", os.path.join(self.target, "link"))
        os.symlink(outside, os.path.join(self.target, "out"))
        report = self.copy()
        why = dict(report.failures)
        self.assertEqual(sorted(why), ["folder", "link", "newer", "out", "out/x"])
        self.assertIn("newer there", why["newer"])
        self.assertIn("a link is not followed", why["out/x"])
        self.assertEqual(os.listdir(outside), [])
        why = dict(self.copy(force=True).failures)
        self.assertEqual(sorted(why), ["folder", "out", "out/x"])
        for name in ("newer", "link"):
            with open(os.path.join(self.target, name), "rb") as file:
                self.assertEqual(file.read(), b"ours" if name == "newer" else b"x")
        self.assertEqual(os.listdir(outside), [])

    def test_a_dry_run_says_what_would_be_copied_and_writes_nothing(self):
        for number in range(10):
            self.write("f%d" % number, b"x")
        self.write("same", b"x")
        self.write("newer", b"ours")
        os.symlink("same", os.path.join(self.source, "link"))
        self.write("large", os.urandom(BLOCK + 1))
        os.makedirs(self.target)
        with open(os.path.join(self.target, "newer"), "w") as file:
            file.write("theirs")
        shutil.copy2(os.path.join(self.source, "same"), self.target)
        before = snapshot(self.target)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            report = self.copy(dry_run=True)
            self.copy([os.path.join(self.source, "same")], dry_run=True)
            self.copy([os.path.join(self.source, "same")], dry_run=True, checksum=True)
            with self.assertRaisesRegex(Failed, "nothing"):
                self.copy([self.source + "/nothing"], dry_run=True)
        self.assertEqual(out.getvalue(), "devbox: would copy 12 files, 4.0 MiB: f0, f1, f2, f3, f4, f5, f6, f7 and 4 more\n"
                                         "devbox: nothing to copy; 1 file unchanged\n"
                                         "devbox: would compare 1 file, 1 B: same\n")
        self.assertEqual(self.said.getvalue(), "gpush: 1 file would not be copied\n  newer: it is newer there; --force replaces it\n")
        self.assertEqual([path for path, _ in report.failures], ["newer"])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.copy([os.path.join(self.source, "f0"), os.path.join(self.source, "same")], dry_run=True, checksum=True, json=True)
        self.assertEqual([json.loads(line) for line in out.getvalue().splitlines()],
                         [{"type": "plan", "node": "devbox", "files": 1, "bytes": 1, "same": 0},
                          {"type": "would", "node": "devbox", "do": "copy", "path": "f0", "bytes": 1},
                          {"type": "would", "node": "devbox", "do": "compare", "path": "same", "bytes": 1}])
        self.assertEqual(snapshot(self.target), before)

    def test_a_dry_run_that_did_not_end_speaks_of_no_copy(self):
        report = Report({"dry_run": True}, "devbox")
        with contextlib.redirect_stderr(self.said):
            report.interrupted("devbox:/x", [])
            report.broken("devbox:/x", ["a"], Failed("the node ended it", "over"), [])
            report.broken("devbox:/x", ["a"], Failed("9 bytes are needed, and 5 are free there", "full"), [])
        self.assertEqual(self.said.getvalue(), "gpush: the preview of the copy to devbox:/x is not complete\n"
                                               "  because it was interrupted\n    nothing was written\n"
                                               "  try: the same command\n"
                                               "gpush: the preview of the copy to devbox:/x is not complete\n"
                                               "  because the node ended it\n    nothing was written\n"
                                               "  try: gpush ps, then the same command\n"
                                               "gpush: cannot copy to devbox:/x\n"
                                               "  because 9 bytes are needed, and 5 are free there\n    nothing was written\n"
                                               "  try: make room there, or another folder\n")

    def test_where_it_goes(self):
        self.write("one", b"1")
        self.write("two", b"2")
        one, two = os.path.join(self.source, "one"), os.path.join(self.source, "two")
        self.copy([one], self.target)
        self.assertTrue(os.path.isfile(self.target))
        with self.assertRaisesRegex(Failed, "is no folder"):
            self.copy([one, two])
        os.unlink(self.target)
        self.copy([one, two])
        self.copy([self.source], self.target + "/")
        self.copy([one], self.target + "/source")
        self.assertEqual(sorted(os.listdir(self.target)), ["one", "source", "two"])
        self.assertEqual(sorted(os.listdir(self.target + "/source")), ["one", "two"])
        other = os.path.join(self.folder, "other")
        os.makedirs(os.path.join(other, "theirs"))
        with self.assertRaisesRegex(Failed, "is a folder with other files"):
            self.copy([self.source], other)
        self.copy([os.path.join(self.source, "t*")], other)
        self.assertEqual(sorted(os.listdir(other)), ["theirs", "two"])
        for missing in ("nothing", "n*g"):
            with self.assertRaisesRegex(Failed, "nothing"[:1]):
                self.copy([os.path.join(self.source, missing)], other)

    def test_checksum_finds_what_size_and_time_do_not(self):
        self.write("a", b"same")
        self.write("large", os.urandom(2 * BLOCK + 1))
        self.copy()
        for name in ("a", "large"):
            path = os.path.join(self.target, name)
            when = os.stat(path).st_mtime_ns
            with open(path, "r+b") as file:
                file.write(b"dame")
            os.utime(path, ns=(when, when))
        self.assertEqual(self.copy().copied, 0)
        report = self.copy(checksum=True)
        self.assertEqual((report.copied, snapshot(self.source)), (2, snapshot(self.target)))
        self.assertEqual(self.copy(checksum=True).copied, 0)

    def test_of_two_copies_to_one_file_the_later_one_goes_on(self):
        os.makedirs(self.target)
        want = {"root": self.target, "rel": "x", "stamp": [2 * BLOCK, 1, 2]}
        first, second = Target(), Target()
        one = dict(want, token=first.start(want, b"")[0]["token"])
        data = os.urandom(BLOCK)
        sha = hashlib.sha256(data).hexdigest()
        first.block(dict(one, index=0, sha=sha), data)
        two = dict(want, token=second.start(want, b"")[0]["token"])
        for call in (first.block, first.finish):
            with self.assertRaisesRegex(Failed, "another gpush cp"):
                call(dict(one, index=1, sha=sha, size=2 * BLOCK, mtime=1, mode=0o644), data)
        again = dict(want, token=second.start(dict(want, again=True), b"")[0]["token"])
        with self.assertRaisesRegex(Failed, "another gpush cp"):
            second.block(dict(two, index=1, sha=sha), data)
        for index in (0, 1):
            second.block(dict(again, index=index, sha=sha), data)
        digest = hashlib.sha256(bytes.fromhex(sha) * 2).hexdigest()
        last = dict(again, size=2 * BLOCK, mtime=7, mode=0o600, sha=digest)
        second.finish(last, b"")
        second.finish(last, b"")        # its answer was lost
        self.assertEqual((os.listdir(self.target), os.stat(self.target + "/x").st_size), (["x"], 2 * BLOCK))
        first.close()
        second.close()

    def test_bytes_that_are_others_are_refused(self):
        os.makedirs(self.target)
        target = Target()
        answer = target.put({"root": self.target, "files": [["x", 1, 1, 0o644, "00"]]}, b"x")[0]
        self.assertIn("other bytes", answer["files"][0][0])
        for rel in ("../x", "/x", "a/../x", "."):
            answer = target.put({"root": self.target, "files": [[rel, 1, 1, 0o644, hashlib.sha256(b"x").hexdigest()]]}, b"x")[0]
            self.assertIn("no path below", answer["files"][0][0])
        self.assertEqual((os.listdir(self.target), os.listdir(self.folder)), ([], ["target"]))
        target.close()

    def test_a_full_disk_ends_the_copy_before_it_begins(self):
        with open(self.write("large", b""), "r+b") as file:
            file.truncate(2 * BLOCK)

        class Small(Ends):
            def call(self, want, data=b""):
                answer, data = Ends.call(self, want, data)
                if want["do"] == "begin":
                    answer["free"] = 1000
                if want["do"] == "plan":        # a hole needs nothing
                    answer["verdicts"] = [["new"] for _ in answer["verdicts"]]
                return answer, data
        self.write("other", os.urandom(3000))
        with self.assertRaisesRegex(Failed, "3000 bytes are needed|4096 bytes are needed|are free there"):
            self.copy(target_end=Small)
        self.assertFalse(os.path.exists(self.target))

    def test_names_of_parts_fit(self):
        self.assertEqual(parts.stem(b"x"), b"x")
        self.assertLessEqual(len(parts.stem(b"x" * 255)) + len(parts.MAP), 255)
        self.assertNotEqual(parts.stem(b"x" * 255), parts.stem(b"x" * 254))


if __name__ == "__main__":
    unittest.main()
