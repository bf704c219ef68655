"""Locks that an agent holds for its gang (a GPU, a port range): all or nothing, between users too."""
import errno
import json
import os
import time

from ..core import filelock
from ..core.filelock import same
from ..core.refused import Refused, of_os_error

FOLDER_MODE, FILE_MODE = 0o1777, 0o666
PATIENCE = 0.3              # seconds: a process that only reads a lock holds it for a moment
TOUCH_SECONDS = 600         # cleaners of /tmp count in days


def take_all(wanted, label):
    """Descriptors of the locks in `wanted` ([{"path", "label"}]), in order; Refused("held") with none taken.
    `label` is a dict that identifies the holder; it is written into each file for others."""
    taken = []
    try:
        for lock in wanted:
            taken.append(take(lock["path"], dict(label, label=lock.get("label", ""))))
    except BaseException:
        for fd in taken:
            os.close(fd)
        raise
    return taken


def take(path, label, patience=PATIENCE):
    """Tries again for so many seconds: a lock is also busy while it is read, and its label is then an old one."""
    try:
        fd = filelock.take(path, patience, open_file)
        if fd is not None:
            try:
                sign(fd, label)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    os.close(fd)
                    raise
                # on a full disk a lock without a label still works
            return fd
        fd = open_file(path)
    except OSError as error:
        raise of_os_error(error, path)
    holder = read(fd)
    # a run of a dead agent of this node still holds it, so it belongs to this node already
    if is_of(holder, label):
        return fd
    os.close(fd)
    raise Refused("held", {"path": path, "label": label.get("label", ""), "holder": holder})


def sign(fd, label):
    os.ftruncate(fd, 0)
    os.pwrite(fd, json.dumps(label).encode(), 0)


def is_of(holder, label):
    """Whether a label is one of this node of this gang."""
    return bool(holder.get("gang")) and all(holder.get(key) == label.get(key) for key in ("gang", "node"))


class Keeper:
    """Watches the held locks as long as the agent lives. Never waits."""

    def __init__(self, wanted, fds, log):
        self.paths = [lock["path"] for lock in wanted]
        self.fds, self.log = fds, log
        self.told = set()

    def sign(self, pid):
        """The starter took them; now they name the agent's process."""
        for path, fd in zip(self.paths, self.fds):
            label = read(fd)
            try:
                if label.get("pid") != pid:
                    sign(fd, dict(label, pid=pid))
            except OSError as error:
                self.tell(path, error)

    def look(self):
        for path, fd in zip(self.paths, self.fds):
            try:
                if not same(fd, path):
                    self.restore(path, fd)
                touch(fd)
                self.told.discard(path)
            except OSError as error:
                self.tell(path, error)
            except Refused as refused:
                self.tell(path, "another file than we have locked: %s %s" % (refused.code, refused.facts))

    def restore(self, path, fd):
        """The file was replaced, so the lock is invisible: takes it again, under the same descriptor number, if it is free."""
        new = take(path, read(fd), 0)
        os.dup2(new, fd, False)
        os.close(new)
        self.log("lock %s: another file than we had locked; locked again" % path)

    def tell(self, path, problem):
        """Logs it once, until it works again."""
        if path not in self.told:
            self.told.add(path)
            self.log("lock %s: %s" % (path, problem))


def touch(fd):
    """Updates its time, because cleaners remove old files. Where that fails, as on a read-only disk, the lock is held all the same."""
    if abs(time.time() - os.fstat(fd).st_mtime) > TOUCH_SECONDS:
        try:
            os.utime(fd)
        except OSError:
            pass


def open_file(path):
    """World-writable in a sticky folder: another user's file must be lockable by us and ours by them."""
    make_folder(os.path.dirname(path))
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        pass
    old = os.umask(0)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    except FileExistsError:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    finally:
        os.umask(old)


def make_folder(path):
    if os.path.isdir(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    old = os.umask(0)
    try:
        os.mkdir(path, FOLDER_MODE)
        os.chmod(path, FOLDER_MODE)
    except FileExistsError:
        pass
    finally:
        os.umask(old)


def read(fd):
    """What the holder wrote, or {} when it is not JSON of the expected size."""
    try:
        value = json.loads(os.pread(fd, 4096, 0).decode())
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}
