"""The manifest on disk: `manifest.json`, whole, and `manifest.log` with what has changed since, a line for each save, so that a save
of one file does not write all of them. A long log becomes part of the whole while there is nothing else to do. Only the holder of the
folder's lock writes."""
import itertools
import json
import os

from ..core.wholefile import write_all
from .tree import stamp_of

WHOLE, LOG = b"manifest.json", b"manifest.log"
LEAST_LOGGED = 64           # entries that a log may always have; beyond, half as many as the manifest
PIECE = 1000                # entries that are written at once, in a few milliseconds
VERSION = 2


class GivesWay(Exception):
    """There is something else to do."""


def pack(value):
    return json.dumps(value, separators=(",", ":"))


class ManifestFile:
    def __init__(self, state):
        self.state = state
        self.ident = None       # of the whole file that we know; a log is of one
        self.logged = None      # entries in the log; None: it must not be continued
        self.end = 0            # of what we know of the log
        self.stamps = (None, None)      # of both files as we know them

    def is_known(self):
        return self.stamps == self.look()

    def forget(self):
        """The next load reads all of it."""
        self.logged = None

    def look(self):
        return self.stamp(WHOLE), self.stamp(LOG)

    def stamp(self, name):
        try:
            return stamp_of(os.stat(self.state.of(name)))
        except FileNotFoundError:
            return None

    def load(self):
        """(manifest, changes, when it was saved by the clock of the file system). The manifest is None where the log of the one that we
        know has only become longer; then the changes are those that are new."""
        before, self.stamps = self.stamps, self.look()
        whole = None
        if self.logged is None or self.stamps[0] != before[0] or not self.is_longer(before[1]):
            whole = self.state.read(WHOLE) or {}
            self.ident, self.logged, self.end = whole.get("id"), 0, 0
        changes = self.changes()
        last = self.stamps[1 if changes else 0]     # not the later one: the clock may have been set back
        return whole, changes, last[1] if last else 0

    def is_longer(self, before):
        """Whether the log is the one that we know, perhaps with more lines. Stamps alone do not say so: a network file system may show
        an old one of the whole file, and a new log may have the number of an old one."""
        now = self.stamps[1]
        if now is None or before and (now[3] != before[3] or now[0] < self.end):
            return now is before
        try:
            with open(self.state.of(LOG), "rb") as file:
                return json.loads(file.readline().decode("utf-8")) == {"of": self.ident}
        except (OSError, ValueError):
            return False

    def changes(self):
        """Those that are not known yet. Of a last line that is not complete nothing is used: its journal is still there."""
        if self.ident is None or self.stamps[1] is None:
            return []
        try:
            with open(self.state.of(LOG), "rb") as file:
                file.seek(self.end)
                lines = file.read().split(b"\n")
            changes = [json.loads(line.decode("utf-8")) for line in lines[:-1]]
            if self.end == 0 and (not changes or changes.pop(0) != {"of": self.ident}):
                raise ValueError("of a manifest that was written whole since")
            changes = [change for change in changes if "put" in change]     # no second head, which agents once wrote at the same time
        except (OSError, ValueError):
            self.logged = None
            return []
        self.end += sum(len(line) + 1 for line in lines[:-1])
        self.logged = None if lines[-1] else self.logged + sum(map(count, changes))
        return changes

    def save_whole(self, head, entries, is_wanted, at):
        """Returns the moment by the file system's clock; `at`: that of the save that is written again. GivesWay, and nothing is done,
        when it is not wanted any more."""
        ident, logged = os.urandom(8).hex(), self.logged
        self.logged = None
        try:
            self.state.remove_cut_off()
            at = self.state.write(WHOLE, pieces(dict(head, version=VERSION, id=ident), entries, is_wanted), at)
        except (OSError, GivesWay):
            self.logged = logged if self.is_known() else None
            raise
        try:
            os.unlink(self.state.of(LOG))
        except FileNotFoundError:
            pass
        self.ident, self.logged, self.end, self.stamps = ident, 0, 0, self.look()
        return at

    def has_room(self, changed, entries):
        """Whether so many changed entries may be added to the log. `entries`: how many the manifest has."""
        return self.ident is not None and self.logged is not None and self.logged + changed <= most_logged(entries)

    def is_long(self, entries):
        """Whether half of the room is used."""
        return not self.has_room(most_logged(entries) // 2, entries)

    def append(self, change):
        """As `save_whole`, with {"generation", "put": [[path] + entry], "drop": [path], "made": [folder], "gone": [folder]}."""
        logged, self.logged = self.logged, None         # until it is complete
        lines = [change] if self.stamps[1] else [{"of": self.ident}, change]
        text = "".join(pack(line) + "\n" for line in lines)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        fd = os.open(self.state.of(LOG), flags, 0o600)
        try:
            write_all(fd, text.encode("utf-8"))
            status = os.fstat(fd)
        finally:
            os.close(fd)
            self.stamps = self.look()       # also of half a line: it is nothing that another process has written
        self.logged, self.end = logged + count(change), status.st_size
        return status.st_mtime_ns


def most_logged(entries):
    return max(LEAST_LOGGED, entries // 2)


def pieces(head, entries, is_wanted):
    """The text of a whole manifest."""
    yield pack(head)[:-1] + ',"entries":['
    items, between = iter(entries.items()), ""
    while True:
        some = [[path] + entry for path, entry in itertools.islice(items, PIECE)]
        if not is_wanted():
            raise GivesWay()
        if not some:
            break
        yield between + pack(some)[1:-1]
        between = ","
    yield "]}"


def count(change):
    """How many entries it has."""
    return len(change["put"]) + len(change["drop"])
