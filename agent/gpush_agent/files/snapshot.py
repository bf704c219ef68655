"""The project's files as one run has them, in a folder of its own, so that the workspace may go on changing meanwhile. What is not
gpush's is there as links into the workspace. What the run makes is in the workspace as links while it runs, and for good afterwards."""
import errno
import json
import os
import shutil
import stat
import time

from ..core.refused import Refused
from ..core.wholefile import copy_file, replace
from .kept import Kept
from .root import FILE, LINK, in_order
from .state import Held, State
from .tree import Blocked, COARSE_NS, OWN, Tree, hash_rest, parents_of, parts_of, stamp_of

MADE = b"made.json"             # written last: with it the snapshot is whole
MADE_AGAIN = frozenset((b"__pycache__",))
KEPT_S = 3600                   # of a run that is started again after failures: its next attempt has begun by then
MOST_TOLD = 20
UNKNOWN = object()


def folder_of(root, state, run):
    """On the file system of the workspace, so that what a run has made is moved home by its name."""
    return os.path.join(place_of(root, state), b"%d" % run)


def place_of(root, state):
    root, state = os.fsencode(root), os.fsencode(state)
    own = state if os.stat(root).st_dev == os.stat(state).st_dev else os.path.join(root, OWN)
    return os.path.join(own, b"snapshots")


def make(root, state, run, generation, again=False):
    """The files of this generation; with `again` those that the attempt before has left. The path of the tree."""
    root = os.path.abspath(os.fsencode(root))
    folder = folder_of(root, state, run)
    try:
        known = Snapshot.load(folder)
    except OSError:
        if again:
            raise
        raise Refused("exists", {"run": run})           # what a run of before has made may be in it
    if known is not None and not again:
        known.bring(False)      # of a run that did not start
        if look(folder) is not None:
            raise Refused("exists", {"run": run})       # of a run of before, of which not everything could be brought home
        known = None
    if known is None:
        shutil.rmtree(folder, ignore_errors=True)       # cut short before a run could begin in it
        tree = os.path.join(folder, os.path.basename(root))
        try:
            os.makedirs(tree, 0o700)
            replace(os.path.join(folder, MADE), json.dumps(copy(root, state, tree, generation)))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        known = Snapshot.load(folder)
    return os.fsdecode(known.tree)


def copy(root, state, tree, generation):
    """While nothing may be committed; what `made.json` holds."""
    shown = State(os.fsdecode(state))
    there = Tree(root)
    try:
        shown.lock(to_read=True)
        held = Held(shown)
        held.load()
        kept = Kept(root, shown.path)
        entries, folders = (held.entries, held.folders) if held.generation == generation else kept.list_of(generation)
        if entries is None:
            raise Refused("moved", {"generation": held.generation})
        folders = with_parents(folders, entries)
        # Where gpush has sent something since then: what others have there is data, too.
        later = {folder for folder in with_parents(held.folders, held.entries) - folders
                 if not any(path in entries for path in [folder] + list(parents_of(folder)))}
        for folder in in_order(folders | later):
            os.makedirs(os.path.join(tree, folder.encode("utf-8")), exist_ok=True)
        copied = {}
        for path in in_order(entries):
            copied[path] = copy_entry(there, held, kept, path, entries[path], tree)
        # What gpush has sent since then is no data of others.
        known = folders | later | set(entries) | set(held.entries)
        for folder in [""] + in_order(folders | later):
            link_rest(there, folder, known, root, tree)
        for folder in reversed(in_order(later)):
            try:
                os.rmdir(os.path.join(tree, folder.encode("utf-8")))
            except OSError:
                folders.add(folder)     # others have something in it
        return {"root": os.fsdecode(root), "generation": generation, "folders": in_order(folders), "copied": copied}
    finally:
        there.close()
        shown.close()


def with_parents(folders, entries):
    found = set(folders)
    for path in entries:
        found.update(parents_of(path))
    return found


def copy_entry(there, held, kept, path, entry, tree):
    """[kind, size, mtime, hash or target] of the copy: of what is there, if it still is that, else of what was kept."""
    kind, x, size, content = entry[:4]
    parts, target = parts_of(path), os.path.join(tree, path.encode("utf-8"))
    if kind == LINK:
        os.symlink(content.encode("utf-8"), target)
        return [LINK, 0, 0, content]
    mode = 0o777 if x else 0o666
    live = held.live(there, path, parts, size)
    if live.is_content(kind, content):
        fd = there.open_file(parts)
        try:
            copy_file(fd, target, mode)
            status = os.fstat(fd)
        finally:
            os.close(fd)
        if stamp_of(status) == live.stamp:
            # The same time as there: what Python has compiled from it is not stale, and make builds nothing again.
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
            return [FILE, status.st_size, status.st_mtime_ns, content]
        os.unlink(target)
    if not kept.copy_to(content, target, mode):
        raise Refused("changed", {"path": path, "bytes": size})
    status = os.stat(target)
    return [FILE, status.st_size, status.st_mtime_ns, content]


def link_rest(there, folder, known, root, tree):
    """Links to what others have in a folder: data, results of earlier runs, virtual environments."""
    parts = parts_of(folder) if folder else []
    try:
        names = there.names(parts)
    except (OSError, Blocked):
        return
    for name in names:
        path = b"/".join(parts + [name])
        text = path.decode("utf-8", "replace")
        if text in known or name in MADE_AGAIN or path == OWN:
            continue
        os.symlink(os.path.join(root, path), os.path.join(tree, path))


class Snapshot:
    def __init__(self, folder, value):
        self.folder = folder
        self.run = os.path.basename(folder).decode()
        self.root = os.fsencode(value["root"])
        self.tree = os.path.join(folder, os.path.basename(self.root))
        self.folders = [b""] + [path.encode("utf-8") for path in value["folders"]]
        self.copied = {path.encode("utf-8"): entry for path, entry in value["copied"].items()}
        self.known = set(self.folders) | set(self.copied)
        self.shown = {}         # path → whether its place in the workspace is a link of ours
        self.seen = {}          # folder → its time when it was looked at
        self.told = []
        self.is_stuck = False   # something could not be brought

    @classmethod
    def load(cls, folder):
        """None where there is none that is whole. An OSError where that cannot be seen now, or no longer: then a run may have
        left something in it."""
        try:
            with open(os.path.join(folder, MADE), "rb") as file:
                return cls(folder, json.loads(file.read().decode("utf-8")))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise OSError(errno.EILSEQ, "made.json is damaged", folder)

    def made(self, folders=None):
        """The paths of what the run has made at places that gpush did not know."""
        for folder in self.folders if folders is None else folders:
            if not self.is_folder(folder):
                continue        # the run has removed it
            for name in names_in(os.path.join(self.tree, folder)):
                path = os.path.join(folder, name) if folder else name
                if not self.is_known(path) and name not in MADE_AGAIN and not self.leads_home(path):
                    yield path

    def is_folder(self, folder):
        """Whether it still is one. A run may put a link to data in its place or above it: what is behind that is not the run's."""
        parts = folder.split(b"/") if folder else []
        return all(is_real_folder(os.path.join(self.tree, *parts[:count])) for count in range(len(parts) + 1))

    def is_known(self, path):
        """What the run has put in the place of a folder of gpush's is not."""
        return path in self.copied or path in self.known and is_real_folder(os.path.join(self.tree, path))

    def leads_home(self, path):
        """A link to what others have at the place, or to what an attempt before has brought beside that."""
        target, there = target_of(os.path.join(self.tree, path)) or b"", os.path.join(self.root, path)
        return target == there or target.startswith(there + b".run-")

    def is_alone(self, path):
        """Whether a file of the tree is only here: the run has made or changed it."""
        entry = self.copied.get(path)
        if entry is None:
            return not self.leads_home(path)
        return self.is_changed(path, entry) and not self.is_touched(path, entry)

    def changed(self):
        """The folders in which names may have come or gone since the last time."""
        now = time.time_ns() if hasattr(time, "time_ns") else int(time.time() * 1e9)
        for folder in self.folders:
            status = look(os.path.join(self.tree, folder))
            if status is not None and self.seen.get(folder) != status.st_mtime_ns:
                # A change in the same tick of the clock would not show.
                if now - status.st_mtime_ns > COARSE_NS:
                    self.seen[folder] = status.st_mtime_ns
                yield folder

    # ---- while it runs

    def show(self):
        """Links in the workspace to what is new; those to what is gone are removed."""
        for path in self.made(self.changed()):
            if path not in self.shown:
                try:
                    os.symlink(os.path.join(self.tree, path), os.path.join(self.root, path))
                    self.shown[path] = True
                except FileExistsError:
                    self.shown[path] = target_of(os.path.join(self.root, path)) == os.path.join(self.tree, path)
                except OSError:
                    pass        # its folder is not there now
        for path in [path for path in self.shown if look(os.path.join(self.tree, path)) is None]:
            if self.shown.pop(path):
                self.hide(path)

    def hide(self, path):
        """Removes the link in the workspace, if it is ours; whether the place is free now."""
        there = os.path.join(self.root, path)
        if target_of(there) == os.path.join(self.tree, path):
            os.unlink(there)
        return look(there) is None

    # ---- at its end

    def bring(self, keeps):
        """What the run has made and changed goes to the workspace, beside what others have put there. With `keeps` the snapshot stays
        for the next attempt, which finds what this one has made. Returns lines for the user."""
        for folder in self.folders:
            self.each(folder, lambda folder=folder: self.bring_folder(folder, keeps))
        for path, entry in self.copied.items():
            self.each(path, lambda path=path, entry=entry: self.bring_changed(path, entry, keeps))
        self.hide_rest()
        if keeps:
            self.each(b"", lambda: os.utime(os.path.join(self.folder, MADE)))       # see KEPT_S
        elif not self.is_stuck:
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.told[:MOST_TOLD] + (["and %d more" % (len(self.told) - MOST_TOLD)] if len(self.told) > MOST_TOLD else [])

    def each(self, path, action):
        """A failure with one must not keep the others."""
        try:
            action()
        except OSError as error:
            self.is_stuck = True
            self.told.append("%s stays in %s: %s" % (text(path) or "what it made", os.fsdecode(self.tree), error.strerror))

    def bring_folder(self, folder, keeps):
        for path in list(self.made([folder])):
            self.each(path, lambda path=path: self.bring_new(path, keeps))

    def bring_new(self, path, keeps):
        there = os.path.join(self.root, path)
        if not self.hide(path):
            there = self.beside(path)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        move(os.path.join(self.tree, path), there)
        self.lead_there(path, there)
        if keeps:
            os.symlink(there, os.path.join(self.tree, path))

    def lead_there(self, path, there):
        """Links of the run with a whole path, such as `latest` to a checkpoint, lead to where that is now."""
        links = [there] if os.path.islink(there) else [
            os.path.join(at, name) for at, folders, files in os.walk(there) for name in folders + files
            if os.path.islink(os.path.join(at, name))]
        own = os.path.join(self.tree, path)
        for link in links:
            target = target_of(link) or b""
            if target == own or target.startswith(own + b"/"):
                target = there + target[len(own):]
            elif target.startswith(self.tree + b"/"):
                target = self.root + target[len(self.tree):]
            else:
                continue
            os.unlink(link)
            os.symlink(target, link)

    def is_changed(self, path, entry):
        status = look(os.path.join(self.tree, path))
        if status is None or not self.is_folder(os.path.dirname(path)):
            return False
        if entry[0] == LINK:
            return target_of(os.path.join(self.tree, path)) != entry[3].encode("utf-8")
        return not stat.S_ISREG(status.st_mode) or [status.st_size, status.st_mtime_ns] != entry[1:3]

    def is_touched(self, path, entry):
        """Its content is still that of the workspace."""
        ours = os.path.join(self.tree, path)
        status = look(ours)
        return entry[0] == FILE and status is not None and status.st_size == entry[1] and content_of(ours) == entry[3]

    def bring_changed(self, path, entry, keeps):
        """In the place of what it was made from; not if that has changed, too."""
        if not self.is_changed(path, entry) or self.is_touched(path, entry):
            return
        ours, there = os.path.join(self.tree, path), os.path.join(self.root, path)
        is_file = entry[0] == FILE and stat.S_ISREG(os.lstat(ours).st_mode)
        if not (is_file and content_of(there) == entry[3]):
            there = self.beside(path)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        fresh = there + b".gpush-%d" % os.getpid()
        if is_file and keeps:   # the next attempt begins with it; else it is moved, which a full disk does not prevent
            try:
                shutil.copy2(ours, fresh)
                os.rename(fresh, there)
            except OSError:
                if look(fresh) is not None:
                    os.unlink(fresh)
                raise
        else:
            move(ours, there)

    def beside(self, path):
        name = path + b".run-" + self.run.encode()
        count = 1
        while look(os.path.join(self.root, name)) is not None:
            count += 1
            name = path + b".run-%s-%d" % (self.run.encode(), count)
        self.told.append("%s has changed meanwhile; this run's is %s" % (text(path), text(name)))
        return os.path.join(self.root, name)

    def hide_rest(self):
        """Links that lead nowhere, also those of a keeper that was killed."""
        for folder in self.folders:
            try:
                names = os.listdir(os.path.join(self.root, folder))
            except OSError:
                continue
            for name in names:
                path = os.path.join(folder, name) if folder else name
                try:
                    if look(os.path.join(self.tree, path)) is None:
                        self.hide(path)
                except OSError:
                    pass        # only the link stays


def clean(root, state, alive, is_last=False):
    """Brings home what snapshots of runs that are over still have; those that a next attempt may want stay for a while. With
    `is_last`, because the node is given back, none stays. Returns lines for the user."""
    told = []
    try:
        place = place_of(root, state)
        names = os.listdir(place)
    except OSError:
        return told
    for name in names:
        if not name.isdigit() or int(name) in alive:
            continue
        folder = os.path.join(place, name)
        try:
            found = Snapshot.load(folder)
            since = os.stat(os.path.join(folder, MADE) if found is not None else folder).st_mtime
            if not is_last and time.time() - since <= KEPT_S:
                continue
            if found is None:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                told += found.bring(False)
        except OSError:
            pass                # it stays
    try:
        os.rmdir(place)
    except OSError:
        pass                    # some are left
    return told


class Left:
    """What of the snapshots of a place is only there. `name`: of a file, below the place."""

    def __init__(self, place):
        self.place = place
        self.snapshots = {}     # run → its snapshot, None where no run has begun in it, UNKNOWN

    def is_alone(self, name):
        run, path = name.split(b"/", 1) if b"/" in name else (name, b"")
        found = self.of(run)
        if path == MADE or found is None:
            return False
        try:
            return found is UNKNOWN or found.is_alone(path.partition(b"/")[2])
        except OSError:
            return True         # it may be

    def of(self, run):
        if run not in self.snapshots:
            try:
                self.snapshots[run] = Snapshot.load(os.path.join(self.place, run))
            except OSError:
                self.snapshots[run] = UNKNOWN
        return self.snapshots[run]


def names_left(place):
    """The node is given back: copies of what gpush has sent go, and what is only there stays. Its paths."""
    left, found = Left(place), []
    if look(place) is None:
        return found
    for folder, folders, files in os.walk(place, topdown=False, onerror=lambda error: found.append(os.fsencode(error.filename))):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for path in (os.path.join(folder, name) for name in sorted(files) + links):
            try:
                if left.is_alone(os.path.relpath(path, place)):
                    found.append(path)
                elif os.path.basename(path) != MADE:
                    os.unlink(path)
            except OSError:
                found.append(path)
    return found


def move(path, there):
    try:
        os.rename(path, there)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(os.fsdecode(path), os.fsdecode(there))


def look(path):
    """None where nothing is, and only there."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def names_in(folder):
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_real_folder(path):
    status = look(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def target_of(path):
    try:
        return os.readlink(path)
    except OSError:
        return None


def content_of(path):
    """The hash of a file; None where there is none that can be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return hash_rest(fd) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    finally:
        os.close(fd)


def text(path):
    return path.decode("utf-8", "replace")
