"""The builtin `follow`: gives the output of a run from an offset on, until the run is over (docs/technical/runs.md).
Runs in a forked child of its own, so it may block."""
import os
import select
import time

from ..core import inotify
from ..core.wholefile import write_all
from . import journal, rundir

CHUNK = 1 << 20
LOOK = 0.25         # seconds: a killed supervisor writes nothing, so this checks whether it lives
POLL = 0.02         # seconds between two checks if the kernel does not report changes
MUCH = 32768        # a read that finds so much: the run prints a lot, and what follows is gathered
REST = 0.002        # for so long. Each piece costs the same on its way to the user's terminal, whatever its size


def main(args, stdin_fd, stdout_fd):
    folder = rundir.folder_of(args.get("state"), args.get("run"))
    try:
        # The folder itself, not its name: the next attempt of the run takes that.
        fd, folder = opened(rundir.attempt_of(folder or "", args.get("before") or 0))
    except (FileNotFoundError, NotADirectoryError):     # another failure says nothing about the run: it is not handled
        os.write(2, b'{"code": "not-found", "facts": {}}\n')
        return 3
    if args.get("attempt") is not None:
        later = rundir.read(folder, "lock").get("attempt", 0) - args["attempt"]
        earlier = rundir.attempt_of(folder, later)
        if later < 0 or not os.path.isdir(earlier):
            os.close(fd)
            return 4        # it is not kept; or the next one has no number yet, and the reader comes again
        present, (fd, folder) = fd, opened(earlier)
        os.close(present)
    offset = args.get("offset") or 0
    if args.get("ranks") is not None or args.get("events") or args.get("since_s") is not None:
        source = Picked(folder, offset, args)
    else:
        source = Whole(folder, offset)
    watch = Watch(folder) if args.get("follow", True) else None
    try:
        copy(folder, source, stdout_fd, watch)
    except BrokenPipeError:         # it is no longer read
        pass
    finally:
        source.tail.close()
        os.close(fd)
        if watch is not None:
            watch.close()
    return 0


def opened(folder):
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return fd, "/proc/self/fd/%d" % fd


def copy(folder, source, out, watch, rest=lambda: time.sleep(REST)):
    while True:
        # Checked before reading, so that everything written before the end is read.
        over = watch is None or rundir.is_over(folder)
        data = source.read()
        if data:
            write_all(out, data)
            if MUCH <= len(data) < CHUNK and not over:
                rest()
        elif over:
            return
        elif not watch.wait(out):
            return


def jump(offset, dropped=0):
    """Tells the reader, who counts what it gets, where the next record is, and how much before it was dropped."""
    return journal.event(dict({"event": "at", "offset": offset}, **({"dropped": dropped} if dropped else {})), 0)


class Whole:
    """All bytes unchanged."""

    def __init__(self, folder, offset):
        self.tail = journal.Tail(folder, offset)

    def read(self):
        before = self.tail.offset
        data, jumped = self.tail.read(CHUNK)
        return jump(self.tail.offset, self.tail.offset - before) if jumped else data


class Picked:
    """Whole records of some ranks, of the last `since_s` seconds, or only the events; the launcher's are always among
    them, and how the run ended."""

    def __init__(self, folder, offset, args):
        self.ranks = None if args.get("ranks") is None else set(args["ranks"])
        self.events = bool(args.get("events"))
        self.from_ms = 0
        self.rest = b""         # of a record that is not there as a whole yet
        self.skipped = False
        self.dropped = 0        # bytes that were asked for and are gone
        if args.get("since_s") is not None:
            started = rundir.read(folder, "lock").get("started")
            if isinstance(started, (int, float)):
                self.from_ms = (time.monotonic() - args["since_s"] - started) * 1000
            first = journal.written_since(folder, args["since_s"])
            if first > offset:
                offset, self.skipped = first, True
        self.tail = journal.Tail(folder, offset)

    def read(self):
        while True:
            before = self.tail.offset
            data, jumped = self.tail.read(CHUNK)
            if jumped:
                self.rest, self.skipped = b"", True
                if not self.events and not self.from_ms:
                    self.dropped += self.tail.offset - before
                continue
            if not data:
                return b""
            out = self.pick(self.rest + data)
            if out:
                return out
            if len(data) == CHUNK and not self.from_ms:      # a reader that comes back does not begin before all this again
                self.skipped, dropped, self.dropped = False, self.dropped, 0
                return jump(self.tail.offset - len(self.rest), dropped)

    def pick(self, data):
        offset = self.tail.offset - len(data)
        out, at = [], 0
        while at + journal.HEADER.size <= len(data):
            length, rank, channel, _, ms = journal.HEADER.unpack_from(data, at)
            after = at + journal.HEADER.size + length
            if after > len(data):
                break
            if self.wants(rank, channel, ms, data, at, after):
                if self.skipped:
                    out.append(jump(offset + at, self.dropped))
                    self.skipped, self.dropped = False, 0
                out.append(data[at:after])
            else:
                self.skipped = True
            at = after
        self.rest = data[at:]
        return b"".join(out)

    def wants(self, rank, channel, ms, data, at, after):
        if ms < self.from_ms:
            return channel == journal.EVENT and data.find(b'"ended"', at, after) >= 0
        return channel == journal.EVENT or (not self.events and (
            self.ranks is None or rank == journal.LAUNCHER or rank in self.ranks))


class Watch:
    """Waits for something to happen in the folder: inotify where there is one."""

    def __init__(self, folder):
        self.events, self.fd = None, -1
        try:
            self.events = inotify.Inotify()
            self.events.add(os.fsencode(folder + "/."), inotify.MODIFY | inotify.CLOSE_WRITE | inotify.MOVED_TO | inotify.CREATE)
            self.fd = self.events.fd
        except OSError:             # the kernel gives none
            self.close()

    def close(self):
        if self.events is not None:
            self.events.close()
        self.events, self.fd = None, -1

    def wait(self, out):
        """False when the reader of `out` has gone."""
        poll = select.poll()
        poll.register(out, 0)
        if self.fd >= 0:
            poll.register(self.fd, select.POLLIN)
        ready = poll.poll((LOOK if self.fd >= 0 else POLL) * 1000)
        for fd, _ in ready:
            if fd == out:
                return False
            os.read(self.fd, 65536)
        return True
