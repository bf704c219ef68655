"""Notices that something in the tree is not as gpush has written it, while the conversation waits for a request. It only says where: what
it is, the gateway asks. Events of the kernel say it, or a look at a part of the files now and then where there are none."""
import errno
import os
import select
import time

from ..core import inotify
from ..core.inotify import Inotify
from ..core.refused import Refused
from .gitwork import GitWork
from .root import FILE, LINK
from .tree import Blocked, OWN, is_executable, is_file, is_folder, is_link, is_network, is_settled, parents_of, parts_of, stamp_of, type_of

SAVED_S = 0.005             # after the last event, when few files were saved and all are complete …
QUIET_S = 0.03              # … or otherwise: an editor that saves makes several events
FEW = 4                     # paths with events in one save: the file, one beside it, a copy of the former content
MOST_S = 0.2                # after the first one
LOCKED_S = 0.1              # while something is being written
BURST = {True: 20, False: 5}            # a file of gpush is reported so often at once, and another, …
PER_SECOND = {True: 3.0, False: 0.2}    # … and then so often: no person saves faster for long
LONGEST_S = {True: 1.0, False: 30.0}    # what changes more often, such as a log, is reported when that pauses, or after this time
MOST_PATHS = 100            # of edited files that are named; with more, all is looked at
MOST_NAMES = 10000          # remembered; more are forgotten, and told again
MOST_FOLDERS = 50000
SCAN_S = 2.0                # without events, a look takes a fiftieth of the time and comes at most so often
SCAN_SHARE = 50
MOST_SCANNED = 20000        # files and folders of one look; the next one goes on
SMALL = 1 << 20             # a file that was changed so lately that its stamp may hide it is read up to this size
RULES = (".gitignore", ".gpushignore")
BEGINS = inotify.CREATE | inotify.DELETE | inotify.MOVED_FROM       # of a save, perhaps: the file is away, or not complete
ENDS = inotify.CLOSE_WRITE | inotify.MOVED_TO
EVENTS = (inotify.CREATE | inotify.DELETE | inotify.DELETE_SELF | inotify.MOVE_SELF | inotify.ATTRIB | inotify.CLOSE_WRITE
          | inotify.MOVED_FROM | inotify.MOVED_TO)


class Watch:
    """`tell(by, why)` says how it notices, again when that changes; `changed(paths)` that files of gpush were edited, or, without paths,
    that something else has happened."""

    def __init__(self, tree, state, held, tell, changed, kernel=Inotify, clock=time.monotonic):
        self.tree, self.state, self.held = tree, state, held
        self.tell, self.changed, self.clock, self.kernel = tell, changed, clock, kernel
        self.git = GitWork(tree.root)
        self.most = 0               # of them
        self.wanted = set()         # folders that are watched, or will be when they are there
        self.events = None
        self.numbers = {}           # folder → its watch
        self.folders = {}           # and back
        self.suspects = set()       # paths with events; those of folders end with a slash
        self.saves = {}             # those of gpush → how long after the last event they may be complete
        self.ignored = frozenset()  # paths that the gateway does not want to hear of, while gpush does not write them
        self.own = self.touched = frozenset()   # paths of a commit, and those of them that have had events
        self.is_all = False         # something has changed, and it is not known what
        self.first = self.last = None   # when there was an event that is not dealt with
        self.event_at = 0.0         # when there was one at all
        self.told = {}              # path → its stamp when it was told
        self.budgets = {}           # path → (how often it may be told, when)
        self.waits = {}             # path → since when it grows
        self.scan = None            # what is left of a look that is under way
        self.scan_at = 0.0
        self.times = {}             # folder → its stamp at the last look

    def begin(self):
        self.wanted = self.held_folders()
        self.most = min(MOST_FOLDERS, inotify.most_folders())
        kind = type_of(self.tree.root)
        if is_network(kind):
            return self.without_events("%s reports no changes of other machines" % kind)
        try:
            self.events = self.kernel()
        except OSError as error:
            return self.without_events(error.strerror)
        if self.add(self.wanted):
            self.tell("events", "")

    def close(self):
        if self.events:
            self.events.close()
            self.events = None

    def held_folders(self):
        folders = set([""]).union(self.held.folders)
        for path in self.held.entries:
            for folder in parents_of(path):
                if folder in folders:
                    break
                folders.add(folder)
        return folders

    def without_events(self, why):
        self.close()
        self.numbers, self.folders = {}, {}
        self.scan_at = self.clock() + SCAN_S
        self.times = {}
        self.tell("scan", why)

    # ---- folders

    def add(self, folders):
        """Watches these as well; False when that is not possible, and all is looked at from now on."""
        if self.events is None:
            return False
        for folder in folders:
            if len(self.numbers) >= self.most:
                self.without_events("the limit of watches is reached (fs.inotify.max_user_watches)")
                return False
            try:
                number = self.events.add(os.path.join(self.tree.root, folder.encode("utf-8")), EVENTS)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.ENOMEM):
                    self.without_events("the limit of watches is reached (fs.inotify.max_user_watches)")
                    return False
                continue            # not there now, or not to be read
            former = self.folders.get(number)
            if former is not None and former != folder:
                self.numbers.pop(former, None)      # it was renamed
            self.numbers[folder], self.folders[number] = number, folder
        return True

    def look_into(self, folders):
        """Watches new folders in which the gateway finds files that it wants."""
        new = [folder for folder in folders if folder not in self.wanted and len(self.wanted) < MOST_FOLDERS]
        self.wanted.update(new)
        self.add(new)

    def written(self, paths):
        """A commit has just written these. Their events are no news, even before the stamps can be relied on."""
        paths, was_all = set(paths), self.is_all
        if any(path.rpartition("/")[2] in RULES for path in paths):
            self.ignored = frozenset()      # the next look says what is ignored now
        for path in paths:
            self.told.pop(path, None)
        self.own = paths.union(folder + "/" for path in paths for folder in parents_of(path))
        self.touched = set()
        self.drain()
        new = set()
        for path in paths:
            for folder in parents_of(path):
                if folder in self.numbers and folder in self.wanted:
                    break
                new.add(folder)
                self.touched.add(path)      # it may have changed before there was a watch
        self.wanted.update(new)
        self.add(new)
        self.drain()
        touched, self.own, self.touched = self.touched, frozenset(), frozenset()
        if self.is_all and not was_all:     # more events than the kernel keeps
            self.is_all, touched = False, set(self.held.entries)
        for path in touched:
            if path.endswith("/"):
                continue
            status, entry = self.status(path), self.held.entries.get(path)
            if status is None or entry is None or entry[4] != stamp_of(status):
                self.suspect(path)
        self.tree.forget()

    def unwatch(self, folder):
        base = folder + "/"
        for each in [each for each in self.numbers if each == folder or each.startswith(base)]:
            number = self.numbers.pop(each)
            self.folders.pop(number, None)
            self.events.remove(number)

    # ---- waiting

    def wait(self, fd, seconds=None):
        """Whether there is something to read, within that time."""
        until = None if seconds is None else self.clock() + seconds
        while True:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            if self.events:
                poll.register(self.events.fd, select.POLLIN)
            ready = [each for each, _ in poll.poll(self.timeout(until))]
            self.drain()
            if fd in ready:
                return True
            if until is not None and self.clock() >= until:
                return False
            self.look()

    def timeout(self, until):
        """Milliseconds until something is due; None: only an event or a request is."""
        now = self.clock()
        due = [] if until is None else [until]
        if self.first is not None:
            due.append(self.due())
        if self.events is None:
            due.append(self.scan_at)
        return max(0, int((min(due) - now) * 1000) + 1) if due else None

    def is_due(self):
        """Whether there may be something to tell now."""
        self.drain()
        return self.first is not None and self.clock() >= self.due()

    def due(self):
        return min(self.last + self.quiet(), self.first + MOST_S)

    def quiet(self):
        are_few = self.saves and len(self.suspects) <= FEW and not self.is_all
        return max(self.saves.values()) if are_few else QUIET_S

    def look(self):
        """Deals with what is due."""
        now = self.clock()
        if self.events is None and now >= self.scan_at:
            self.look_at_some()
        if self.first is None or now < self.due():
            return
        if self.state.locked or self.git.is_busy(self.event_at, now):
            return self.again(now + LOCKED_S)       # prepared: the commit follows
        suspects, self.suspects, self.saves = self.suspects, set(), {}
        is_all, self.is_all = self.is_all, False
        self.first = self.last = None
        try:
            news = set(path for path in suspects if self.is_wanted(path) and self.is_news(path))
            if news and not is_all:
                if not self.refresh():
                    self.suspects |= news
                    return self.again(now + LOCKED_S)
                news = set(path for path in news if self.is_news(path))
            told, over, later = [], set(), []
            for path in news:
                wait = self.budget(path, now)
                if wait:
                    later.append(now + wait)
                    self.suspects.add(path)
                else:
                    told.append(path)
                    if self.is_over(path):
                        over.add(path)
                        self.told.pop(path)
                    else:
                        self.remember(path)
            if later:
                self.again(min(later))
        finally:
            self.tree.forget()
        if is_all or told:
            are_edits = not is_all and len(told) <= MOST_PATHS and all(path in over or self.is_edit(path) for path in told)
            self.changed(sorted(told) if are_edits else [])

    def is_edit(self, path):
        """Whether a file or link of gpush was there when it was told; what is new or gone has to do with other paths, too."""
        return path in self.held.entries and isinstance(self.told.get(path), list)

    def again(self, at):
        self.first = self.last = at - self.quiet()

    def refresh(self):
        """The manifest may have been written by another conversation; False while one writes."""
        if not self.state.try_lock():
            return False
        try:
            if not self.held.is_dirty and self.held.load():     # else the next request finds in the journal what was not saved
                more = self.held_folders() - self.wanted
                self.wanted |= more
                self.add(more)
        finally:
            self.state.unlock()
        return True

    def is_growing(self, path):
        """Whether it waits for its report, which comes when it has been quiet for a while, or after LONGEST_S."""
        left, _ = self.budgets.get(path, (1, 0))
        if left >= 1 or path not in self.suspects:
            return False
        now = self.clock()
        if now - self.waits.setdefault(path, now) < LONGEST_S[self.is_ours(path)]:
            self.budgets[path] = (left, now)
        return True

    def is_ours(self, path):
        return path[:-1] in self.wanted if path.endswith("/") else path in self.held.entries

    def budget(self, path, now):
        """Seconds until this path may be told; 0: now, and that is counted."""
        is_ours = self.is_ours(path)
        rate, most = PER_SECOND[is_ours], BURST[is_ours]
        left, at = self.budgets.get(path, (most, now))
        left = min(most, left + (now - at) * rate)
        if left < 1:
            self.budgets[path] = (left, now)
            return (1 - left) / rate
        if len(self.budgets) >= MOST_NAMES:
            self.budgets.clear()
            self.waits.clear()
        self.budgets[path] = (left - 1, now)
        self.waits.pop(path, None)
        return 0

    def remember(self, path):
        if len(self.told) >= MOST_NAMES:
            self.told.clear()
        self.told[path] = self.stamp(path)
        if path[:-1] in self.wanted and path.endswith("/"):     # it was away, and is perhaps back
            self.add([path[:-1]] + [each for each in self.wanted if each.startswith(path)])

    # ---- events

    def drain(self):
        if self.events is None:
            return
        for number, mask, name in self.events.read():
            self.event(number, mask, name)

    def event(self, number, mask, name):
        if mask & inotify.Q_OVERFLOW:
            self.numbers, self.folders = {}, {}     # folders may have been made again meanwhile
            self.add(self.wanted)
            return self.everything()
        folder = self.folders.get(number)
        if folder is None:
            return
        if mask & inotify.IGNORED:
            self.folders.pop(number)
            if self.numbers.get(folder) == number:
                self.numbers.pop(folder)
            return
        if mask & (inotify.DELETE_SELF | inotify.MOVE_SELF | inotify.UNMOUNT):
            self.unwatch(folder)
            return self.everything() if folder == "" else None
        try:
            path = (folder + "/" if folder else "") + name.decode("utf-8")
        except UnicodeDecodeError:
            return              # no such name can be sent
        if not name or path == OWN.decode("ascii"):
            return
        is_folder_event = bool(mask & inotify.ISDIR)
        if is_folder_event and not mask & (inotify.CREATE | inotify.DELETE | inotify.MOVED_FROM | inotify.MOVED_TO):
            return
        if is_folder_event and mask & (inotify.DELETE | inotify.MOVED_FROM):
            self.unwatch(path)
        suspect = path + "/" if is_folder_event else path
        if suspect not in self.own and self.is_growing(suspect):
            return
        if mask & (BEGINS | ENDS) and path in self.held.entries and path not in self.own:
            self.saves[path] = QUIET_S if mask & BEGINS else MOST_S if self.is_emptied(path) else SAVED_S
        self.suspect(suspect)

    def everything(self):
        self.is_all = True
        if not self.own:
            self.note()

    def suspect(self, path):
        if path in self.own:
            self.touched.add(path)
            return
        if not self.is_wanted(path):
            return
        if len(self.suspects) >= MOST_NAMES:
            self.is_all = True
        else:
            self.suspects.add(path)
        self.note()

    def note(self):
        self.last = self.event_at = self.clock()
        if self.first is None:
            self.first = self.last

    def is_wanted(self, path):
        """A folder that a rule ignores may hold files of gpush that git tracks."""
        return self.is_ours(path) or path not in self.ignored

    def is_emptied(self, path):
        """As by `: > file`, after which its new content is written."""
        status = self.status(path)
        self.tree.forget()
        return is_file(status) and status.st_size == 0

    # ---- what is new

    def is_news(self, path):
        """Whether the path is not as it was written and not as it was told."""
        try:
            return self.is_other(path, self.status(path))
        except (OSError, Blocked):
            return path not in self.told        # it cannot be read, or changes at this moment

    def is_other(self, path, status):
        if path.endswith("/"):
            return self.is_news_of_folder(path[:-1], status)
        entry = self.held.entries.get(path)
        if entry is None and (status is None or is_folder(status)):
            self.told.pop(path, None)
            return False
        if entry and self.is_as_written(path, entry, status):
            return path in self.told
        return path not in self.told or self.told[path] != self.stamp_of(status)

    def is_over(self, path):
        """Whether it was told, and is as gpush wrote it again."""
        entry = self.held.entries.get(path)
        try:
            return entry is not None and path in self.told and self.is_as_written(path, entry, self.status(path))
        except (OSError, Blocked):
            return False

    def is_news_of_folder(self, folder, status):
        is_there = is_folder(status)
        if folder in self.wanted:
            if is_there and folder in self.numbers:
                return False        # a commit has made it
            base = folder + "/"
            if is_there or any(path.startswith(base) for path in self.held.entries):
                return True
            self.wanted.discard(folder)
            return False
        return is_there and self.told.get(folder + "/") != self.stamp_of(status)

    def status(self, path):
        try:
            return self.tree.look(parts_of(path.rstrip("/")))
        except (OSError, Blocked, Refused):
            return None

    def stamp(self, path):
        return self.stamp_of(self.status(path))

    @staticmethod
    def stamp_of(status):
        """Of a folder only which one it is: what changes in it has events of its own."""
        return None if status is None else status.st_ino if is_folder(status) else stamp_of(status)

    def is_as_written(self, path, entry, status):
        kind, x, _, content, stamp = entry[:5]     # one that is held may have a former version behind these
        if kind == LINK:
            return is_link(status) and self.tree.read_link(parts_of(path)) == content
        if kind != FILE or not is_file(status) or is_executable(status) != x:
            return False
        now = stamp_of(status)
        if now == stamp and (is_settled(now, self.held.at) or status.st_size > SMALL):
            return True
        return self.held.live(self.tree, path, parts_of(path)).is_content(kind, content)

    # ---- without events

    def look_at_some(self):
        """A part of the files, and the folders whose names have changed since the last look."""
        begun = time.monotonic()
        if self.scan is None:
            self.scan = iter([(folder, True) for folder in sorted(self.wanted)] + [(path, False) for path in sorted(self.held.entries)])
        for _ in range(MOST_SCANNED):
            path, is_of_folders = next(self.scan, (None, False))
            if path is None:
                self.scan = None
                break
            if is_of_folders:
                self.look_at_names(path)
            elif path in self.held.entries and self.is_news(path):
                self.suspect(path)
        self.tree.forget()
        self.scan_at = self.clock() + max(SCAN_S, (time.monotonic() - begun) * SCAN_SHARE)

    def look_at_names(self, folder):
        parts = parts_of(folder) if folder else []
        try:
            status = self.tree.look(parts) if parts else os.fstat(self.tree.fd)
            if status is None:
                return
            before, now = self.times.get(folder), (status.st_ino, status.st_mtime_ns)
            # What is made in the same tick of the clock does not show in the stamp: the names are looked at once more.
            self.times[folder] = now if is_settled(stamp_of(status), int(time.time() * 1e9)) else (status.st_ino, None)
            if before is None or before == now:
                return
            names = self.tree.names(parts)[:MOST_NAMES]
        except (OSError, Blocked):
            return              # gone meanwhile: its files say it
        for name in names:
            try:
                path = (folder + "/" if folder else "") + name.decode("utf-8")
            except UnicodeDecodeError:
                continue
            if path in self.held.entries or path in self.wanted or path == OWN.decode("ascii"):
                continue
            self.suspect(path + "/" if is_folder(self.status(path)) else path)
