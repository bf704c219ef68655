"""The journal of a run: segments, readers at any place, and a disk that takes no more."""
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import tempfile
import unittest

from gpush_agent.runs import follow, journal


class JournalTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpj")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def journal(self, **more):
        return journal.Journal(self.folder, lambda: 5, **more)

    def read(self, offset=0, size=1 << 20):
        """(bytes, offset of the first of them) until the end of what is there."""
        tail, out, first = journal.Tail(self.folder, offset), b"", offset
        while True:
            data, jumped = tail.read(size)
            if jumped:
                out, first = b"", tail.offset
            elif not data:
                return out, first
            out += data

    def records(self, data):
        found, at = [], 0
        while at < len(data):
            length, rank, channel, _, ms = journal.HEADER.unpack_from(data, at)
            at += journal.HEADER.size
            found.append((rank, channel, data[at:at + length]))
            at += length
        return found

    def test_record_is_what_the_specification_says(self):
        self.journal().write(3, journal.ERR, b"ab")
        with open(os.path.join(self.folder, "journal.0"), "rb") as file:
            self.assertEqual(file.read(), b"\0\0\0\2\0\3\1\0\0\0\0\0\0\0\0\5ab")

    def test_segments_read_as_one_from_any_offset(self):
        seed = random.randrange(1 << 30)
        choice = random.Random(seed)
        written = self.journal(segment=500, kept=1000)
        for _ in range(200):
            written.write(choice.randrange(8), choice.randrange(2), os.urandom(choice.randrange(1, 300)))
        whole, _ = self.read()
        self.assertGreater(len(journal.segments(self.folder)), 20)
        self.assertEqual(journal.end(self.folder), len(whole))
        for offset in [choice.randrange(len(whole)) for _ in range(50)]:
            self.assertEqual(self.read(offset, choice.randrange(1, 700)), (whole[offset:], offset), "seed %d" % seed)

    def test_output_that_cannot_be_read_is_not_its_end(self):
        folder = os.path.join(self.folder, "folder")
        os.symlink(folder, folder)
        with self.assertRaises(OSError):
            journal.Tail(folder, 0).read(100)
        self.journal().write(0, 0, b"abc")
        os.symlink("journal.19", os.path.join(self.folder, "journal.19"))
        tail = journal.Tail(self.folder, 0)
        self.assertEqual(len(tail.read(100)[0]), 19)
        with self.assertRaises(OSError):
            tail.read(100)
        tail.close()

    def test_oldest_segments_go_and_a_late_reader_is_told_where_it_is(self):
        written = self.journal(segment=100, kept=3)
        for number in range(40):
            written.write(0, 0, b"%50d" % number)
        found = journal.segments(self.folder)
        self.assertEqual(len(found), 3)
        data, first = self.read(0)
        self.assertEqual(first, found[0][0])
        self.assertEqual([int(payload) for _, _, payload in self.records(data)], [37, 38, 39])
        source = follow.Whole(self.folder, 0)
        told = source.read() + source.read()
        self.assertEqual(json.loads(self.records(told)[0][2].decode()), {"event": "at", "offset": found[0][0], "dropped": found[0][0]})

    def test_reader_that_is_overtaken_goes_on_behind_the_gap(self):
        written = self.journal(segment=100, kept=3)
        written.write(0, 0, b"%50d" % 0)
        tail = journal.Tail(self.folder, 0)
        first, _ = tail.read(1000)
        for number in range(1, 40):
            written.write(0, 0, b"%50d" % number)
        self.assertEqual(len(first), 66)
        self.assertEqual(tail.read(1000), (b"", True))
        self.assertEqual(tail.offset, journal.segments(self.folder)[0][0])

    def test_reader_of_much_output_rests_so_that_more_comes_at_once(self):
        """Each rest lets the run print more; single lines are passed on without one."""
        written = self.journal()
        due = [[b"x" * 60000] * 5, [b"line\n"], [b"line\n"], [b"y" * 60000], []]
        given, pieces, rests = [], [], []

        class Stopped(Exception):
            pass

        def more():
            if not due:
                raise Stopped
            for payload in due.pop(0):
                written.write(0, 0, payload)
                given.append(payload)

        def rest():
            rests.append(len(pieces))
            more()

        class Waits:
            def wait(self, out):
                more()
                return True

        class Counted(follow.Whole):
            def read(self):
                data = follow.Whole.read(self)
                if data:
                    pieces.append(data)
                return data

        written.write(0, 0, b"z" * 60000)
        given.append(b"z" * 60000)
        out = os.open(os.devnull, os.O_WRONLY)
        supervisor = os.open(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CREAT)
        fcntl.flock(supervisor, fcntl.LOCK_EX)
        source = Counted(self.folder, 0)
        try:
            self.assertRaises(Stopped, follow.copy, self.folder, source, out, Waits(), rest)
        finally:
            os.close(out)
            os.close(supervisor)
            source.tail.close()
        self.assertEqual([payload for _, _, payload in self.records(b"".join(pieces))], given)
        self.assertEqual([len(self.records(piece)) for piece in pieces], [1, 5, 1, 1, 1])
        self.assertEqual(rests, [1, 2, 5])

    def test_reader_of_events_is_told_how_far_it_is_in_much_output(self):
        """Else each of its streams that breaks begins before all of it again."""
        written = self.journal()
        written.write(3, journal.EVENT, b"{}")
        for _ in range(40):
            written.write(1, 0, b"x" * 60000)
        written.write(3, journal.EVENT, b"[]")
        source, given = follow.Picked(self.folder, 0, {"events": True}), []
        data = source.read()
        while data:
            given += [json.loads(payload.decode()) for _, _, payload in self.records(data)]
            data = source.read()
        source.tail.close()
        record = journal.HEADER.size + 60000
        place = 18 + (2 * follow.CHUNK - 18) // record * record
        self.assertEqual(given, [{}, {"event": "at", "offset": place}, {"event": "at", "offset": 18 + 40 * record}, []])

    def test_large_payload_is_cut_at_64_kib(self):
        self.journal().write(1, 0, b"x" * 150000)
        self.assertEqual([len(payload) for _, _, payload in self.records(self.read()[0])], [65536, 65536, 18928])

    def test_full_disk_costs_output_and_never_a_whole_record(self):
        """The limit on file size stands for the full disk: it, too, takes a part of a write and then nothing."""
        old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        written = self.journal()
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
            for number in range(100):
                written.write(0, 0, b"%84d" % number)
            self.assertEqual(len(self.read()[0]), 1000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, old)
        written.write(0, 0, b"again")
        found = self.records(self.read()[0])
        self.assertEqual([int(payload) for _, _, payload in found[:10]], list(range(10)))
        self.assertEqual(json.loads(found[10][2].decode()), {"event": "gap", "bytes": 90 * 84})
        self.assertEqual(found[11:], [(0, 0, b"again")])

    def test_disk_that_takes_nothing_from_the_start(self):
        written = self.journal()
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, written.fd)
        os.close(full)
        self.assertFalse(written.event({"event": "ended"}))
        written.write(0, 0, b"12345")
        self.assertEqual(written.lost, 5)


if __name__ == "__main__":
    unittest.main()
