"""Names in the tree that gpush did not write: new files of an editor, output of programs. The gateway has the rules and decides which of
them it wants; here they are only listed, with what tells the two apart."""
import os
import time

from ..core.filelock import is_locked
from ..core.refused import Refused
from . import history
from .root import FILE, LINK, in_order
from .state import code_of
from .tree import Blocked, OWN, is_file, is_folder, is_link, parents_of, parts_of, stamp_of

MOST_IN_FOLDER = 2000       # names that are looked at in one folder, and those that git tracks; a folder with more holds data
MOST_NAMES = 20000          # of one answer
SECOND_NS = 1000 * 1000 * 1000
AFTER_RUN_NS = 2 * SECOND_NS            # what a run has written may get its last byte after its end
FOLDER, OTHER = "folder", "other"


class Finder:
    def __init__(self, tree, state, held):
        self.tree = tree
        self.state = state
        self.held = held
        self.ended = {}         # run → (start, end): they change no more
        self.tracked = None, frozenset()        # the stamp of git's index, and what it has
        self.left = 0
        self.at = time.monotonic()
        self.behind = []        # [from, to]: times that the clock had again after it was set back
        self.is_behind = False

    def find(self, folders):
        """(folder, [[name, kind, size, stamp, the path it was renamed from or None, whether a run may have made it, whether git tracks it
        or something in it]], whether these are all, the code of why it cannot be read or None) for each of the folders, or for those that
        hold something of gpush when there are none. What was there before gpush is left out; a folder in which nothing is new, too."""
        self.left = MOST_NAMES
        since = os.stat(self.state.of(b"files.lock")).st_mtime_ns
        self.look_at_clock(since)
        runs = list(self.runs())
        known = {}
        for path in self.held.entries:
            known.setdefault(path.rpartition("/")[0], set()).add(path.rpartition("/")[2])
        inodes = dict((entry[4][3], path) for path, entry in self.held.entries.items() if entry[0] == FILE and entry[4])
        ours = self.folders()
        for folder in folders or [""] + in_order(ours):
            parts = parts_of(folder) if folder else []
            try:
                names = self.tree.names(parts)
            except (FileNotFoundError, NotADirectoryError, Blocked):
                continue        # it is gone, or is no folder any more
            except OSError as error:
                yield folder, [], False, code_of(error)
                continue
            found, is_all = self.items(parts, self.unknown(names, parts, known.get(folder, ())), ours, inodes, runs, since)
            if found or not is_all:
                yield folder, found, is_all, None

    def look_at_clock(self, since):
        """Before `since`, it was set back after the last look: what has been made since then has the times from there to now. Then it goes on
        from there until it is set right."""
        now, at = moment(self.state.of(b"tokens")), time.monotonic()
        passed, self.at = int((at - self.at) * SECOND_NS), at
        if self.is_behind:
            self.behind[-1][1] += passed
        self.is_behind = now < since
        if self.is_behind:
            if not self.behind or abs(self.behind[-1][1] - now) > SECOND_NS:
                self.behind.append([now - passed, now])
            self.behind[-1][1] = max(self.behind[-1][1], now)

    def is_new(self, at, since):
        return at >= since or any(begun <= at <= end for begun, end in self.behind)

    def folders(self):
        """Those that hold something of gpush, or were made by it."""
        found = set()
        for path in self.held.entries:
            for folder in parents_of(path):
                if folder in found:
                    break
                found.add(folder)
        return found.union(self.held.folders)

    @staticmethod
    def unknown(names, parts, known):
        for raw in names:
            name = raw.decode("utf-8", "replace")
            if name not in known and (parts or raw != OWN):
                yield raw, name

    def items(self, parts, names, ours, inodes, runs, since):
        items, is_all = [], True
        base = "".join(part.decode("utf-8", "replace") + "/" for part in parts)
        count = 0
        for raw, name in names:
            if base + name in ours and self.is_folder(parts + [raw]):
                continue
            if count == MOST_IN_FOLDER:
                tracked = self.in_index()
            is_one_more = self.left > 0 and (count < MOST_IN_FOLDER or base + name in tracked)
            count += 1
            is_all = is_all and is_one_more
            if not is_one_more:
                continue
            self.left -= 1
            try:
                status = self.tree.look(parts + [raw])
            except Blocked:
                status = None
            except OSError as error:
                items.append([name, OTHER, 0, code_of(error), None, False])
                continue
            if status is None:
                continue        # gone meanwhile
            is_text = name.encode("utf-8") == raw
            if is_text and is_folder(status):
                items.append([name, FOLDER, 0, "", None, False])
            elif self.is_new(status.st_ctime_ns, since):
                items.append(self.item(name, status, inodes, runs) if is_text else [name, OTHER, 0, "", None, False])
        tracked = self.in_index() if any(parts or item[0] != ".git" for item in items) else ()
        return [item + [base + item[0] in tracked] for item in items], is_all

    def is_folder(self, parts):
        try:
            return is_folder(self.tree.look(parts))
        except (OSError, Blocked):
            return False

    def in_index(self):
        """What git tracks, read again only when its index is another."""
        try:
            stamp = stamp_of(os.stat(os.path.join(self.tree.root, b".git", b"index")))
        except OSError:
            return ()
        if stamp != self.tracked[0]:
            found = history.tracked(self.tree.root)
            if found is None:
                return ()       # the next look asks again
            self.tracked = stamp, found
        return self.tracked[1]

    def item(self, name, status, inodes, runs):
        kind = FILE if is_file(status) else LINK if is_link(status) else OTHER
        at = status.st_ctime_ns
        is_of_run = any(start <= at and (end is None or at <= end + AFTER_RUN_NS) for start, end in runs)
        return [name, kind, status.st_size, "-".join(str(number) for number in stamp_of(status)),
                self.renamed(status, inodes) if kind == FILE else None, is_of_run]

    def renamed(self, status, inodes):
        """The path of gpush that this file had: the same inode, size and time, and nothing is at the path any more."""
        path = inodes.get(status.st_ino)
        if path is None or self.held.entries[path][4][:2] != stamp_of(status)[:2]:
            return None
        try:
            return path if self.tree.look(parts_of(path)) is None else None
        except Blocked:
            return path
        except (OSError, Refused):
            return None

    def runs(self):
        """(start, end or None) of the runs on this node (docs/technical/runs.md), by the clock of the file system."""
        top = os.path.join(self.state.path, b"runs")
        try:
            names = os.listdir(top)
        except OSError:
            return              # there was none yet
        for name in names:
            if name in self.ended:
                yield self.ended[name]
                continue
            folder = os.path.join(top, name)
            is_over = os.path.exists(os.path.join(folder, b"exit.json")) or not is_locked(os.path.join(folder, b"lock"))
            times = sorted(times_below(folder))
            if times and is_over:
                self.ended[name] = (times[0], times[-1])
            if times:
                yield times[0], times[-1] if is_over else None


def moment(folder):
    """Now, by the clock of its file system; nothing depends on the time of the folder."""
    try:
        os.utime(folder)
        return os.stat(folder).st_mtime_ns
    except OSError:
        return int(time.time() * 1e9)


def times_below(folder):
    """When the files of a run were changed last; the first of them is made at its start, the last one at its end."""
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                yield os.lstat(os.path.join(at, name)).st_mtime_ns
            except OSError:
                pass            # replaced meanwhile
