"""Where an agent is found: its folder, lock and socket, and the abstract name that outlives a cleaned /tmp.

    <base>/gpush-<uid>/<12 hex>.start     taken by whoever starts an agent, for as long as that takes
    <base>/gpush-<uid>/<12 hex>/lock      held by the agent as long as it lives
    <base>/gpush-<uid>/<12 hex>/agent.sock, agent.json, log
"""
import errno
import os
import socket
import time

from ..core.digest import sha256
from ..core.filelock import same, take
from ..core.refused import Refused
from ..core.sockets import peer
from . import relay

START_SECONDS = 20.0
LOCK_SECONDS = 5.0
WAIT_SECONDS = 10.0         # for an agent that lives and must make its folder again
BACKLOG = 64


def digest(gang, node):
    return sha256(("%s/%s" % (gang, node)).encode()).hexdigest()[:12]


def own_folder(path, create):
    """Whether `path` is a folder that only we can use; makes it if asked."""
    if create:
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        except OSError:
            return False
    return relay.own_folder(path) and os.access(path, os.W_OK | os.X_OK)


def take_in(folder, path, wait):
    """The same, in a folder that only we can use, which is made; OSError if it cannot be ours. An agent that is leaving
    may remove it between the two."""
    for last in (False, False, True):
        if not own_folder(folder, True):
            raise OSError(errno.EACCES, "folder", folder)
        try:
            return take(path, wait)
        except FileNotFoundError:
            if last:
                raise


def user_folders(bases):
    """The gpush-<uid> folders that there may be."""
    return [os.path.join(base, "gpush-%d" % os.getuid()) for base in bases]


def abstract(name, bases):
    """The abstract name of the agent whose folder has this name."""
    mark = "" if list(bases) == list(relay.BASES) else sha256("\n".join(bases).encode()).hexdigest()[:12]
    return "\0gpush-%d-%s%s" % (os.getuid(), name, mark)


def connect(path):
    """A connection to the agent at this folder, or None."""
    is_own = relay.own_folder(os.path.dirname(path)) and relay.own_folder(path)
    return relay.connect(path, socket.socket) if is_own else None


class Folder:
    def __init__(self, gang, node, bases):
        self.name = digest(gang, node)
        self.bases = [bases] if isinstance(bases, str) else list(bases or relay.BASES)
        self.abstract = abstract(self.name, self.bases)
        self.path = None
        self.lock_fd = -1
        self.inode = None

    def find(self):
        """A connection to the living agent, or None."""
        return relay.find(self.name, self.bases, socket.socket)

    def beacon_alive(self):
        """Whether an agent of ours holds the abstract name; it is poked to bind its folder again."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(2.0)
            sock.connect(self.abstract)
            return peer(sock)[1] == os.getuid()
        except OSError:
            return False
        finally:
            sock.close()

    def wait(self, seconds=0.0):
        """A connection to the living agent, or None. One that does not live yet may come within `seconds`. One whose folder
        was removed makes it again when it is poked; one that is leaving does not. Makes nothing itself."""
        sock = self.find()
        begun = time.monotonic()
        while sock is None and (time.monotonic() < begun + seconds
                                or time.monotonic() < begun + WAIT_SECONDS and self.beacon_alive()):
            time.sleep(0.05)
            sock = self.find()
        return sock

    def find_or_create(self, create):
        """(connection, None) of the agent found, or (None, create()) made under the start lock. Never both, never two:
        another process that starts the same agent waits for the lock and then finds this one."""
        sock = self.find()
        if sock is not None:
            return sock, None
        last = None
        for parent in user_folders(self.bases):
            start = os.path.join(parent, self.name + ".start")
            try:
                fd = take_in(parent, start, START_SECONDS)
            except OSError:
                last = parent
                continue
            if fd is None:
                raise Refused("busy", {"path": start})
            try:
                sock = self.wait()
                if sock is not None:
                    return sock, None
                self.path = os.path.join(parent, self.name)
                try:
                    self.lock_fd = take_in(self.path, os.path.join(self.path, "lock"), LOCK_SECONDS)
                except OSError:
                    last = self.path
                    continue
                if self.lock_fd is None:
                    raise Refused("busy", {"path": self.path})
                return None, create()
            finally:
                if same(fd, start):
                    os.unlink(start)
                os.close(fd)
        raise Refused("no-folder", {"path": last})

    def bind(self):
        """The listening socket in our folder."""
        path = os.path.join(self.path, "agent.sock")
        try:
            os.unlink(path)
        except OSError:
            pass
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.bind(path)
            sock.listen(BACKLOG)
        except OSError:
            sock.close()
            raise
        self.inode = os.lstat(path).st_ino
        return sock

    def bind_beacon(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.bind(self.abstract)
            sock.listen(4)
            return sock
        except OSError:         # not Linux, or another process has the name: only the folder's lock is used
            sock.close()
            return None

    def intact(self, listener):
        try:
            return os.lstat(os.path.join(self.path, "agent.sock")).st_ino == self.inode and same(
                self.lock_fd, os.path.join(self.path, "lock"))
        except OSError:
            return False

    def rebuild(self):
        """Makes the folder again after it or its files were removed; OSError if it cannot be private."""
        if not own_folder(os.path.dirname(self.path), True) or not own_folder(self.path, True):
            raise OSError(errno.EACCES, "folder", self.path)
        lock = os.path.join(self.path, "lock")
        if not same(self.lock_fd, lock):
            fd = take(lock, 0)
            if fd is None:
                raise OSError(errno.EAGAIN, "lock", lock)
            os.close(self.lock_fd)
            self.lock_fd = fd
        return self.bind()

    def remove(self):
        """Our folder, if it is still ours, and the user's when it is empty then."""
        if self.path and same(self.lock_fd, os.path.join(self.path, "lock")):
            import shutil
            shutil.rmtree(self.path, ignore_errors=True)
            try:
                os.rmdir(os.path.dirname(self.path))
            except OSError:
                pass
