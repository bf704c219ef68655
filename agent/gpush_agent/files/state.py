"""The state of a synced folder on this node: the manifest of what we wrote, and the staged contents that wait to be used."""
import errno
import fcntl
import hashlib
import json
import os
import time
import zlib

from ..core.refused import Refused
from ..core.wholefile import copy_all, replace, write_all
from .manifest import ManifestFile
from .root import FILE, LINK, Root, in_order
from .tree import Blocked, OWN, ROOT, hash_rest, is_executable, is_file, is_folder, is_link, is_settled, stamp_of

LOCK_WAIT_S, LOCK_PAUSE_S = 10, 0.02    # another conversation on the same folder ends its commit within this time
MAX_READ = 64 << 20             # a changed file up to this is read to see whether it is what the gateway wants anyway
MAX_STAGED = 4096               # staged contents named in HOLDS
LARGE_FOLDER = 64 << 10         # bytes of a folder itself: ext4 never makes one smaller, and each look at it reads all of it
BEFORE = b"before-"             # and the hash of a path
WRITTEN = (b"manifest.json", b"generation", b"txn.prepared", ROOT)     # each whole, by `State.write`
UNREADABLE = ("denied", "failed")       # codes of failures that are those of one file or folder
OURS, CHANGED, MISSING, MODE = "ours", "changed", "missing", "mode"


def code_of(error):
    """The code for an OSError of this folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "no-space"
    if error.errno == errno.EROFS:
        return "read-only"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "denied"
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENAMETOOLONG, errno.ELOOP, errno.EMLINK):
        return "limit"
    return "failed"


def facts_of(error, path=""):
    return {"path": path, "errno": errno.errorcode.get(error.errno, str(error.errno)), "detail": os.strerror(error.errno or 0)}


class Live:
    """What is at a path now: absent, file, link, folder, other, or blocked (a parent is no folder)."""

    def __init__(self, kind, x=0, content=None, stamp=None, depth=0):
        self.kind = kind
        self.x = x
        self.content = content
        self.stamp = stamp
        self.depth = depth

    def is_content(self, kind, content):
        return self.kind == kind and self.content is not None and self.content == content


class State:
    """The state folder of one synced folder; ours alone, so it is opened by its name."""

    def __init__(self, path):
        self.path = os.fsencode(path)
        self.lock_fd = -1
        self.locked = False
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            status = os.stat(self.path)
            if os.geteuid() not in (0, status.st_uid) and status.st_uid != 0:
                raise Refused("denied", {"path": path, "detail": "belongs to another user"})

    def of(self, name):
        return os.path.join(self.path, name)

    def lock(self, to_read=False, wait=LOCK_WAIT_S):
        """One conversation at a time changes the folder; on a shared file system that is one of all nodes, and the others may look."""
        if self.locked:
            return
        if self.lock_fd < 0:
            self.lock_fd = os.open(self.of(b"files.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        until = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(self.lock_fd, (fcntl.LOCK_SH if to_read else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL):
                    break  # a file system without locks: the gateway's election of one writer must do
                if time.monotonic() > until:
                    raise Refused("held", {"path": os.fsdecode(self.of(b"files.lock"))})
            time.sleep(LOCK_PAUSE_S)
        self.locked = True

    def try_lock(self):
        """To read, if nothing is being written."""
        try:
            self.lock(to_read=True, wait=0)
            return True
        except Refused:
            return False

    def alone(self):
        """Whether this conversation may write now. Where another one reads or there are no locks it may not, and may not hold its lock
        any more."""
        try:
            fcntl.flock(self.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            return False

    def unlock(self):
        if self.locked and self.lock_fd >= 0:
            fcntl.flock(self.lock_fd, fcntl.LOCK_UN)
        self.locked = False

    def close(self):
        self.unlock()
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
        self.lock_fd = -1

    def write(self, name, text, moment=None):
        """Returns the modification time."""
        return replace(self.of(name), text, moment=moment)

    def remove_cut_off(self):
        """What writers that were killed have left. Only ROOT is written without this lock, and again after it failed."""
        for name in os.listdir(self.path):
            if b".new-" in name and name.startswith(WRITTEN):
                self.remove(name)

    def remove(self, name):
        try:
            os.unlink(self.of(name))
        except FileNotFoundError:
            pass

    def read(self, name):
        """A JSON file of gpush; None when it is missing or incomplete."""
        try:
            with open(self.of(name), "rb") as file:
                return json.loads(file.read().decode("utf-8"))
        except (OSError, ValueError):
            return None

    def names_fold(self):
        """Whether this file system takes two names that differ in case for one."""
        return os.path.exists(self.of(b"FILES.LOCK"))


class Held:
    """What we wrote here: path → [kind, x, size, hash or target, stamp or None], and for a path that is held perhaps the entry that it
    had before, of which the content is still there. `at`: since when unchanged stamps are to be trusted."""

    def __init__(self, state):
        self.state = state
        self.file = ManifestFile(state)
        self.entries = {}       # changed by `put` and `drop` only
        self.generation = 0
        self.folders = set()    # made by us below the root; changed by `made` and `unmade` only
        self.above = []         # made by us above it and the root itself
        self.at = 0
        self.is_dirty = False   # differs from the file in more than stamps
        self.is_doubted = False     # no stamp proves a content until each was read
        self.changed = {}       # path → (stamp, hash): large files that differ are read once
        self.now = None         # the root but for these paths; None: not known
        self.moved = set()
        self.unsaved = set()    # paths whose entries the file does not have, and what else it has
        self.unsaved_folders = set()
        self.saved_above = []

    @property
    def root(self):
        return self.current().value

    def current(self):
        if self.now is None:
            self.now = Root.of(self.entries)
        elif self.moved:
            self.now = self.now.after(self.moved, self.entries.get)
        self.moved = set()
        return self.now

    def root_after(self, forget, write):
        """The root when these entries are gone and those written."""
        after = dict.fromkeys(forget)
        after.update((item[0], item[1:]) for item in write)
        return self.current().after(after, lambda path: after[path] if path in after else self.entries.get(path)).value

    def put(self, path, entry):
        self.entries[path] = entry
        self.moved.add(path)
        self.unsaved.add(path)

    def hold(self, path, entry):
        """Another entry, and what is there stays. No stamp proves it to be this; what we wrote there earlier is still ours."""
        former = self.entries.get(path)
        if former is None:
            self.put(path, entry + [[0, 0, 0, 0]])
        elif former[:4] != entry:
            self.put(path, entry + [[0, 0, 0, 0], former[5] if len(former) > 5 else former])

    def is_ours(self, path, live):
        """Whether we wrote what is there, for this entry or for the one before a hold."""
        entry = self.entries.get(path)
        return entry is not None and (live.is_content(entry[0], entry[3]) or
                                      len(entry) > 5 and live.is_content(entry[5][0], entry[5][3]))

    def drop(self, path):
        if self.entries.pop(path, None) is not None:
            self.moved.add(path)
            self.unsaved.add(path)

    def clear(self):
        self.entries, self.folders, self.generation, self.now = {}, set(), 0, None
        self.save_whole()

    def made(self, folders):
        self.folders.update(folders)
        self.unsaved_folders.update(folders)

    def unmade(self, folder):
        self.folders.discard(folder)
        self.unsaved_folders.add(folder)

    def load(self):
        """Reads what another process has written since; whether there was something. A commit that was not saved here is in it or in its
        journal."""
        if self.file.is_known():
            return False
        if self.is_dirty:
            self.file.forget()
        whole, changes, self.at = self.file.load()
        if whole is not None:
            self.entries = dict((item[0], item[1:]) for item in whole.get("entries", []))
            self.generation = whole.get("generation", 0)
            self.folders = set(whole.get("folders", []))
            self.above = whole.get("above", [])
            self.now = None
        for change in changes:
            for item in change["put"]:
                self.put(item[0], item[1:])
            for path in change["drop"]:
                self.drop(path)
            self.folders.update(change["made"])
            self.folders.difference_update(change["gone"])
            self.generation = change["generation"]
        self._is_saved()
        return True

    def _is_saved(self):
        self.unsaved, self.unsaved_folders, self.saved_above, self.is_dirty = set(), set(), list(self.above), False

    def save(self):
        if self.above == self.saved_above and self.file.has_room(len(self.unsaved), len(self.entries)):
            put = [[path] + self.entries[path] for path in self.unsaved if path in self.entries]
            self.at = self.file.append({"generation": self.generation, "put": put,
                                        "drop": [path for path in self.unsaved if path not in self.entries],
                                        "made": list(self.unsaved_folders & self.folders),
                                        "gone": list(self.unsaved_folders - self.folders)})
            self.tell()
            self._is_saved()
        else:
            self.save_whole()

    def has_long_log(self):
        return self.file.is_long(len(self.entries))

    def save_whole(self, is_wanted=lambda: True, at=None):
        """As ManifestFile does."""
        head = {"generation": self.generation, "folders": list(self.folders), "above": self.above}
        self.at = self.file.save_whole(head, self.entries, is_wanted, at)
        self.tell()
        self._is_saved()

    def tell(self):
        """Reports the generation without reading the manifest."""
        self.state.write(b"generation", "%d %s\n" % (self.generation, self.root))

    def live(self, tree, path, parts, size=None):
        """What is at the path. A content is read only when its stamp does not prove it and its size may be right: ours, or `size`."""
        try:
            status = tree.look(parts)
            if status is None:
                return Live("absent")
            if is_link(status):
                return Live(LINK, 0, tree.read_link(parts), stamp_of(status))
            if is_folder(status):
                return Live("folder")
            if not is_file(status):
                return Live("other")
            return self._live_file(tree, path, parts, status, size)
        except Blocked as blocked:
            return Live("blocked", depth=blocked.depth)
        except FileNotFoundError:
            return Live("absent")
        except OSError as error:
            if code_of(error) not in UNREADABLE:
                raise
            return Live(FILE)       # what cannot be looked at was not deleted: there, and unknown

    def _live_file(self, tree, path, parts, status, size):
        x = is_executable(status)
        stamp = stamp_of(status)
        entry = self.entries.get(path)
        is_proven = is_settled(stamp, self.at)
        if entry and entry[0] == FILE and entry[4] == stamp and is_proven and not self.is_doubted:
            return Live(FILE, x, entry[3], stamp)
        before = entry[5] if entry and len(entry) > 5 and entry[5][0] == FILE else None
        if before and before[4] == stamp and is_proven and not self.is_doubted:
            return Live(FILE, x, before[3], stamp)
        known = self.changed.get(path)
        if known and known[0] == stamp and is_proven:
            return Live(FILE, x, known[1], stamp)
        sizes = (size, entry[2] if entry and entry[0] == FILE else None, before[2] if before else None)
        if stamp[0] not in sizes and (size is not None or stamp[0] > MAX_READ):
            return Live(FILE, x, None, stamp)  # it differs; its hash is not needed
        try:
            content, stamp = tree.hash_file(parts)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                raise FileNotFoundError()
            return Live(FILE, x, None, stamp)
        if entry and entry[0] == FILE and content == entry[3]:
            entry[4] = stamp
            self.unsaved.add(path)
        elif entry and entry[0] == FILE and entry[4] and entry[4][1:] == stamp[1:] and is_proven:
            # A disk has lost what was there, for an edit has another time: it is unknown, and read again each time.
            entry[4] = [-1] + stamp[1:]
            self.unsaved.add(path)
            return Live(FILE, x, None, stamp)
        else:
            self.changed[path] = (stamp, content)
        return Live(FILE, x, content, stamp)

    def survey(self, tree, paths=None):
        """(path, state, what is there now if it is changed) of everything we wrote, or of these paths, in order: [kind, x, size, hash or
        target, seconds]; the hash is None for what is large or cannot be read."""
        for path in in_order(self.entries if paths is None else set(paths).intersection(self.entries)):
            entry = self.entries[path]
            live = self.live(tree, path, path.encode("utf-8").split(b"/"))
            if live.kind in ("absent", "blocked"):
                yield path, MISSING, None
            elif live.is_content(entry[0], entry[3]):
                yield (path, OURS, None) if live.x == entry[1] else (path, MODE, now_of(live))
            elif self.is_ours(path, live):
                yield path, MISSING, None       # a version that may be replaced, as nothing may
            else:
                yield path, CHANGED, now_of(live)


def now_of(live):
    stamp = live.stamp or [0, 0]
    return [live.kind, live.x, stamp[0], live.content, stamp[1] // 1000000000]


class Stage:
    """Contents on their way, each in a file named by its hash, on the file system of the tree so that a rename puts it in place."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, 0o700, exist_ok=True)
        self.verified = set()
        self.failure = None     # (code, facts) of the first failure; reported at PREPARE
        self.hash = None
        self.fd = -1
        self.part = "part-%d" % os.getpid()

    def of(self, name):
        return os.path.join(self.folder, name.encode("ascii"))

    def before(self, path):
        """The second name of what a commit replaces or deletes: it may have to be put back."""
        return os.path.join(self.folder, BEFORE + hashlib.sha256(path.encode("utf-8")).hexdigest().encode("ascii"))

    def staged(self):
        names = [os.fsdecode(name) for name in os.listdir(self.folder)]
        return [name for name in names if len(name) == 64][:MAX_STAGED]

    def receive(self, hash_hex, is_last, data):
        """One piece; after a failed write later pieces are dropped."""
        if self.failure:
            return
        try:
            if self.fd >= 0 and hash_hex != self.hash:
                os.close(self.fd)  # the gateway could not read the rest of that file
                self.fd = -1
            if self.fd < 0:
                self.fd = os.open(self.of(self.part), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                self.hash = hash_hex
                self.digest = hashlib.sha256()
            write_all(self.fd, data)
            self.digest.update(data)
            if is_last:
                self._finish()
        except OSError as error:
            self.failure = (code_of(error), facts_of(error))
            self.drop()

    def cut(self):
        """What has come of a content leads to nothing; it may come again."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _finish(self):
        os.close(self.fd)
        self.fd = -1
        if self.digest.hexdigest() == self.hash:
            os.rename(self.of(self.part), self.of(self.hash))
            self.verified.add(self.hash)
        else:
            os.unlink(self.of(self.part))  # PREPARE will say that it is missing

    def has(self, hash_hex):
        """Whether this content is here; what an earlier conversation left is read before it counts."""
        if hash_hex in self.verified:
            return True
        try:
            fd = os.open(self.of(hash_hex), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            # A commit that was cut off may have given it a name in the tree already.
            good = hash_rest(fd) == hash_hex and os.fstat(fd).st_nlink < 2
        finally:
            os.close(fd)
        if good:
            self.verified.add(hash_hex)
        else:
            os.unlink(self.of(hash_hex))
        return good

    def copy(self, fd, hash_hex):
        """Stages what can be read from a descriptor, if it has this hash."""
        digest = hashlib.sha256()
        out = os.open(self.of(self.part), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            copy_all(fd, out, digest.update)
        finally:
            os.close(out)
        if digest.hexdigest() != hash_hex:
            os.unlink(self.of(self.part))
            return False
        os.rename(self.of(self.part), self.of(hash_hex))
        self.verified.add(hash_hex)
        return True

    def drop(self):
        """Removes everything staged, to free space, and not what a commit may have to put back."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1
        self.verified.clear()
        try:
            for name in os.listdir(self.folder):
                if not name.startswith(BEFORE):
                    os.unlink(os.path.join(self.folder, name))
            if os.stat(self.folder).st_size > LARGE_FOLDER:
                self._renew()
        except OSError:
            pass  # what stays is found, verified or removed the next time

    def _renew(self):
        """Another folder takes the place of the empty one at once, so that none is ever missing; one that is not empty stays."""
        fresh = self.folder + b".new"
        try:
            os.rmdir(fresh)     # of a process that ended in the middle
        except FileNotFoundError:
            pass
        os.mkdir(fresh, 0o700)
        try:
            os.rename(fresh, self.folder)
        except OSError:
            os.rmdir(fresh)
            raise


def inflate(data, limit):
    """zlib, but never more than the limit: a megabyte on the wire must not become a terabyte here."""
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, limit)
    except zlib.error as error:
        raise Refused("protocol", {"detail": "zlib: %s" % error})
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise Refused("limit", {"detail": "a message of more than %d bytes" % limit})
    return text


def own_folder(root, state):
    """The folder of stage and trash: the state folder, or a folder at the root when the two are on different file systems."""
    if os.stat(root).st_dev == os.stat(state).st_dev:
        return state
    own = os.path.join(root, OWN)
    try:
        os.mkdir(own, 0o700)
    except FileExistsError:
        if os.path.islink(own) or not os.path.isdir(own):
            raise Refused("denied", {"path": os.fsdecode(own), "detail": "is in the way"})
    return own
