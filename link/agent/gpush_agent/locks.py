"""Locks that an agent holds for its gang (a GPU, a port range): all or nothing, between users too."""
import fcntl
import json
import os

from .refused import Refused, of_os_error

FOLDER_MODE, FILE_MODE = 0o1777, 0o666


def take_all(wanted, label):
    """Descriptors of the locks in `wanted` ([{"path", "label"}]), in order; Refused("held") with none taken.
    `label` is a dict that says who we are; it is written into each file for whoever meets it."""
    taken = []
    try:
        for lock in wanted:
            taken.append(take(lock["path"], dict(label, label=lock.get("label", ""))))
    except BaseException:
        for fd in taken:
            os.close(fd)
        raise
    return taken


def take(path, label):
    try:
        make_folder(os.path.dirname(path))
        fd = open_file(path)
    except OSError as error:
        raise of_os_error(error, path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = read(fd)
        # the run of a dead agent of this very node still holds it: ours already, and never two agents of one node
        if holder.get("gang") == label.get("gang") and holder.get("node") == label.get("node") and holder.get("gang"):
            return fd
        os.close(fd)
        raise Refused("held", {"path": path, "label": label.get("label", ""), "holder": holder})
    os.ftruncate(fd, 0)
    os.pwrite(fd, json.dumps(label).encode(), 0)
    return fd


def open_file(path):
    """World-writable in a sticky folder: another user's file must be lockable by us and ours by them."""
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
