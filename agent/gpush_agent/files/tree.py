"""A folder as seen through one open descriptor: every path below it is opened component by component, no link is followed."""
import errno
import fcntl
import hashlib
import json
import os
import stat
import struct

from ..core.refused import Refused
from ..core.wholefile import PIECE

MAX_PATH = 4096                 # Linux takes no longer ones
READ_TRIES = 5                  # a file that changes while it is read is read again this often
OWN = b".gpush"                 # our own folder at the root when the state folder is on another file system
FINE_NS = 20 * 1000 * 1000      # two kernel ticks: a change this close to a stamp may not show in it
COARSE_NS = 2 * 1000 * 1000 * 1000  # the same where time stamps have no fractions (FAT, old NFS)
FS_IOC_GETVERSION = 0x80087601  # of Linux on 64 bits
ROOT = b"root-"                 # and a node: which folder it had
BOOT = "/proc/sys/kernel/random/boot_id"
# Other machines write there too, or the kernel says nothing; as in Watchers.java.
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "v9fs", "afs", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "virtiofs",
           "vboxsf", "prl_fs", "drvfs", "wekafs", "fuse")


class Blocked(Exception):
    """A parent of a path exists and is not a folder: `depth` components down."""

    def __init__(self, depth):
        Exception.__init__(self)
        self.depth = depth


def parts_of(path):
    """The components of a relative path as bytes; anything that could lead elsewhere is refused."""
    try:
        raw = path.encode("utf-8")
    except (UnicodeEncodeError, AttributeError):
        raise Refused("bad-path", {"path": repr(path)[:200]})
    parts = raw.split(b"/")
    if len(raw) > MAX_PATH or b"\0" in raw or parts[0] == OWN or any(part in (b"", b".", b"..") for part in parts):
        raise Refused("bad-path", {"path": path[:200]})
    return parts


def parents_of(path):
    """The paths of all folders above a path, the deepest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def stamp_of(status):
    """What changes when a file's content does."""
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def is_settled(stamp, at):
    """Whether a change made after the moment `at` (the file system's clock) would show in the stamp."""
    fine = stamp[1] % 1000000 or stamp[2] % 1000000
    return max(stamp[1], stamp[2]) + (FINE_NS if fine else COARSE_NS) < at


class Tree:
    """Keeps the folders of the last path open, so that going through sorted paths costs about one call each."""

    def __init__(self, root):
        self.root = os.fsencode(root)
        self.fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.open = []  # (name, descriptor) from the root downwards
        self.boot = None    # since which the contents were read, if that is known

    def close(self):
        self.forget()
        os.close(self.fd)

    def is_at_root(self):
        """Whether its path still leads here: the folder may have been renamed, removed or mounted again."""
        try:
            return os.path.samestat(os.stat(self.root), os.fstat(self.fd))
        except OSError:
            return False

    def identity(self):
        """Of the folder. Its number may be used again at once; where the file system counts that, the count is in it, else 0. The device may
        be another one after it was mounted again."""
        status = os.fstat(self.fd)
        try:
            count = struct.unpack("=l", fcntl.ioctl(self.fd, FS_IOC_GETVERSION, bytes(8))[:4])[0]
        except OSError:
            count = 0
        return [status.st_dev, status.st_ino, count]

    def another_since(self, held, node):
        """The generation at which the node had another folder at the root's path than before, which gpush did not make: until the next one,
        or until all is as gpush wrote it, what differs there may be no edit. So it is after another boot: a disk without power may have lost
        what was written last. None when it is the same. Nodes that share it number it differently."""
        before, identity, boot = held.state.read(ROOT + b"%d" % node), self.identity(), boot_of(self.root)
        since, self.boot = None, boot
        if before is not None:
            is_same = before.get("root") == identity and (identity[2] != 0 or self.has_any(held.entries))
            held.is_doubted = boot is not None and before.get("boot") not in (None, boot)
            self.boot = before["boot"] if held.is_doubted else boot
            since = before.get("another") if is_same and not held.is_doubted else held.generation
        if before != {"root": identity, "another": since, "boot": self.boot}:
            self.remember(held.state, node, since)
        return since

    def remember(self, state, node, another):
        try:
            state.write(ROOT + b"%d" % node, json.dumps({"root": self.identity(), "another": another, "boot": self.boot}))
        except OSError:
            pass            # it is found again, until it can be written

    def all_read(self, held, node, another):
        """Every content was, and the manifest on disk has the stamps of those that are as they were written."""
        if held.is_doubted and not held.unsaved:
            held.is_doubted, self.boot = False, boot_of(self.root)
            self.remember(held.state, node, another)

    def has_any(self, entries):
        """Whether a file that gpush wrote is still here: usually the first one is. In a new folder all have another ctime."""
        for path, entry in entries.items():
            try:
                status = self.look(path.encode("utf-8").split(b"/"))
            except (OSError, Blocked):
                continue
            if status and entry[4] and stamp_of(status)[2:] == entry[4][2:]:
                return True
        return False

    def forget(self):
        """Folders may have been moved: nothing is kept open over a pause or over a removal of our own."""
        while self.open:
            os.close(self.open.pop()[1])

    def folder(self, parts, make=False):
        """A descriptor of the folder, valid until the next call; missing ones are made if wanted."""
        depth = 0
        while depth < len(parts) and depth < len(self.open) and self.open[depth][0] == parts[depth]:
            depth += 1
        while len(self.open) > depth:
            os.close(self.open.pop()[1])
        fd = self.open[-1][1] if self.open else self.fd
        for at in range(depth, len(parts)):
            fd = self._enter(fd, parts[at], at + 1, make)
            self.open.append((parts[at], fd))
        return fd

    def _enter(self, fd, name, depth, make):
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(name, flags, dir_fd=fd)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise Blocked(depth)
            if error.errno != errno.ENOENT or not make:
                raise
        try:
            os.mkdir(name, 0o777, dir_fd=fd)
        except FileExistsError:
            pass  # another process made it at the same moment
        return self._enter(fd, name, depth, False)

    def look(self, parts):
        """What is at a path, not following a link; None when nothing does. Blocked when a parent is no folder."""
        try:
            return os.stat(parts[-1], dir_fd=self.folder(parts[:-1]), follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open_file(self, parts):
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.folder(parts[:-1]))

    def size(self, parts):
        status = self.look(parts)
        return status.st_size if is_file(status) else 0

    def small_file(self, parts, most):
        """The content of a file; None when it has more bytes than that, or cannot be read."""
        try:
            fd = self.open_file(parts)
            try:
                content = os.read(fd, most + 1)
                return content if len(content) <= most else None
            finally:
                os.close(fd)
        except (OSError, Blocked):
            return None

    def read_link(self, parts):
        """The target as text, or None when gpush cannot have written it."""
        try:
            return os.readlink(parts[-1], dir_fd=self.folder(parts[:-1])).decode("utf-8")
        except UnicodeDecodeError:
            return None

    def hash_file(self, parts):
        """SHA-256 (hex) of a regular file and the stamp it had all the while; None for the hash when it kept changing."""
        fd = self.open_file(parts)
        try:
            for _ in range(READ_TRIES):
                before = stamp_of(os.fstat(fd))
                os.lseek(fd, 0, os.SEEK_SET)
                digest = hash_rest(fd)
                if stamp_of(os.fstat(fd)) == before:
                    return digest, before
            return None, before
        finally:
            os.close(fd)

    def names(self, parts):
        fd = os.open(parts[-1] if parts else b".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
                     dir_fd=self.folder(parts[:-1]))
        try:
            return sorted(os.fsencode(name) for name in os.listdir(fd))
        finally:
            os.close(fd)

    def remove(self, parts):
        os.unlink(parts[-1], dir_fd=self.folder(parts[:-1]))

    def remove_folder(self, parts):
        """Removes an empty folder; False when it is not empty, not there, or no folder."""
        self.forget()
        try:
            os.rmdir(parts[-1], dir_fd=self.folder(parts[:-1]))
            return True
        except (OSError, Blocked):
            return False

    def remove_bytecode(self, parts):
        """What Python compiled from this source: stale when its mtime did not move by a second, garbage when it is gone."""
        name = parts[-1]
        if not name.endswith(b".py"):
            return
        cache = parts[:-1] + [b"__pycache__"]
        try:
            for other in self.names(cache):
                if other.startswith(name[:-2]) and other.endswith(b".pyc"):
                    self.remove(cache + [other])
        except (OSError, Blocked):
            return  # none there
        self.remove_folder(cache)


def type_of(path):
    """The type of the file system that a folder is on; empty when that is not known."""
    try:
        device = os.stat(path).st_dev
        with open("/proc/self/mountinfo") as file:
            lines = [line.split(" ") for line in file]
    except OSError:
        return ""
    number = "%d:%d" % (os.major(device), os.minor(device))
    for fields in lines:
        if len(fields) > 6 and fields[2] == number and "-" in fields:
            return fields[fields.index("-") + 1]
    return ""


def is_network(kind):
    return kind in NETWORK or kind.startswith("fuse.")


def boot_of(path):
    """Which boot of this machine it is; None where that is not known, or says nothing about the disk."""
    try:
        with open(BOOT) as file:
            return None if is_network(type_of(path)) else file.read().strip() or None
    except OSError:
        return None


def is_gone(path):
    try:
        os.lstat(path)
        return False
    except FileNotFoundError:
        return True


def missing_folders(path):
    """The highest first."""
    if not path or os.path.isdir(path):
        return []
    return missing_folders(os.path.dirname(path)) + [path]


def make_folders(path):
    """Like makedirs; returns what was made, the highest first."""
    made = []
    for folder in missing_folders(path):
        try:
            os.mkdir(folder, 0o755)
            made.append(os.fsdecode(folder))
        except FileExistsError:
            if not stat.S_ISDIR(os.stat(folder).st_mode):
                raise
    return made


def hash_rest(fd):
    digest = hashlib.sha256()
    while True:
        piece = os.read(fd, PIECE)
        if not piece:
            return digest.hexdigest()
        digest.update(piece)


def is_file(status):
    return status is not None and stat.S_ISREG(status.st_mode)


def is_link(status):
    return status is not None and stat.S_ISLNK(status.st_mode)


def is_folder(status):
    return status is not None and stat.S_ISDIR(status.st_mode)


def is_executable(status):
    return 1 if stat.S_ISREG(status.st_mode) and status.st_mode & 0o100 else 0
