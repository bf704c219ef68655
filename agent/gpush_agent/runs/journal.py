"""The output of a run on one node: records in segment files (docs/technical/runs.md). Each segment's name says at which
offset of the whole it begins, so a reader finds its place again when the oldest ones are gone."""
import json
import os
import struct
import time

HEADER = struct.Struct(">IHBBQ")
LAUNCHER = 65535            # the rank of output of no rank
OUT, ERR, EVENT = 0, 1, 2
PAYLOAD = 65536
SEGMENT = 64 << 20
KEPT = 16                   # segments: one run may fill 1 GiB, then the oldest goes
PREFIX = "journal."


def record(rank, channel, payload, ms):
    return HEADER.pack(len(payload), rank, channel, 0, ms) + payload


def event(value, ms):
    return record(LAUNCHER, EVENT, json.dumps(value).encode(), ms)


def segments(folder):
    """[(first offset, path)], the oldest first; none of a folder that cannot be read."""
    try:
        return read_segments(folder)
    except OSError:
        return []


def read_segments(folder):
    """The same, but a folder that cannot be read raises: it may have output."""
    found = []
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return found
    for name in names:
        if name.startswith(PREFIX) and name[len(PREFIX):].isdigit():
            found.append((int(name[len(PREFIX):]), os.path.join(folder, name)))
    return sorted(found)


def written_since(folder, seconds):
    """The offset of the first segment that was written to in this time; the last one counts in any case."""
    found = segments(folder)
    at, now = 0, time.time()
    for (_, path), (after, _) in zip(found, found[1:]):
        try:
            if os.stat(path).st_mtime < now - seconds:
                at = after
        except OSError:         # deleted just now
            at = after
    return at


def end(folder):
    """The offset behind the last byte."""
    found = segments(folder)
    try:
        return found[-1][0] + os.stat(found[-1][1]).st_size if found else 0
    except OSError:
        return 0


class Journal:
    """Writes. Never raises and never waits: output that the disk does not accept is counted, and a `gap` records it later."""

    def __init__(self, folder, elapsed, segment=SEGMENT, kept=KEPT):
        """`elapsed()` is the time since the start in milliseconds."""
        self.folder, self.elapsed, self.segment, self.kept = folder, elapsed, segment, kept
        self.start, self.size = 0, 0    # of the present segment; size counts what of a record is still to be written, too
        self.rest = b""                 # of a record that was written in part: nothing else may come before it
        self.lost = 0
        self.fd = -1
        self.has_ended = False
        self._open(0)

    def write(self, rank, channel, payload):
        ms = self.elapsed()
        for at in range(0, len(payload), PAYLOAD):
            piece = payload[at:at + PAYLOAD]
            if not self._settle(ms) or not self._put(record(rank, channel, piece, ms)):
                self.lost += len(piece)

    def event(self, value):
        """Nothing comes behind `ended`."""
        if self.has_ended:
            return False
        self.has_ended = value["event"] == "ended"
        ms = self.elapsed()
        return self._settle(ms) and self._put(event(value, ms))

    def _settle(self, ms):
        """Writes first what is due: the rest of a record, then the gap."""
        if self.rest:
            self.rest = self.rest[self._out(self.rest):]
            if self.rest:
                return False
        if self.lost:
            if not self._put(event({"event": "gap", "bytes": self.lost}, ms)):
                return False
            self.lost = 0
        return not self.rest

    def _put(self, data):
        if self.fd < 0 or (self.size and self.size + len(data) > self.segment):
            if not self._open(self.start + self.size):
                return False
        count = self._out(data)
        if count == 0:
            return False
        self.size += len(data)
        self.rest = data[count:]
        return True

    def _out(self, data):
        try:
            return os.write(self.fd, data)
        except OSError:
            return 0

    def _open(self, start):
        try:
            fd = os.open(os.path.join(self.folder, PREFIX + str(start)),
                         os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        if self.fd >= 0:
            os.close(self.fd)
        self.fd, self.start, self.size = fd, start, 0
        for _, path in segments(self.folder)[:-self.kept]:
            try:
                os.unlink(path)
            except OSError:
                pass
        return True


class Tail:
    """Reads from an offset on, over segments, what is there now."""

    def __init__(self, folder, offset):
        self.folder, self.offset = folder, offset
        self.fd = -1
        self.start = -1

    def read(self, size):
        """(bytes, jumped): b"" at the end of what is there; jumped when the bytes before self.offset are gone."""
        if self.fd >= 0:
            data = os.read(self.fd, size)
            if data:
                self.offset += len(data)
                return data, False
        jumped = self._next()
        if jumped is None or jumped:
            return b"", bool(jumped)
        data = os.read(self.fd, size)
        self.offset += len(data)
        return data, False

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _next(self):
        """Opens the segment that holds self.offset, if it is another one than before: whether bytes were jumped over.
        None: there is no other."""
        found = read_segments(self.folder)
        if not found:
            return None
        start, path = found[0]
        for item in found:
            if item[0] <= self.offset:
                start, path = item
        if start == self.start:
            return None
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:   # deleted just now: next time
            return None
        if self.fd >= 0:
            os.close(self.fd)
        self.fd, self.start = fd, start
        jumped = start > self.offset
        self.offset = max(self.offset, start)
        os.lseek(fd, self.offset - start, os.SEEK_SET)
        return jumped
