"""Locks on files (flock). A lock counts only if the path still leads to the locked file: others may delete files at any moment."""
import errno
import fcntl
import os
import time


def private(path):
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def take(path, wait, opened=private):
    """An open descriptor with a flock on the file that `path` leads to, or None if it is held (wait: seconds)."""
    until = time.monotonic() + wait
    while True:
        fd = opened(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if same(fd, path):
                return fd
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                os.close(fd)
                raise
            if time.monotonic() >= until:
                os.close(fd)
                return None
            time.sleep(0.02)
        os.close(fd)


def same(fd, path):
    try:
        there = os.lstat(path)
    except OSError:
        return False
    here = os.fstat(fd)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def is_locked(path):
    """Whether someone holds a flock on this file; True also when that cannot be found out (no descriptor is free, a file server is
    away), because what is not held is ended and removed."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)
