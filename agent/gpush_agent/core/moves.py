"""One file or link on its way to or from its name in the tree, where a user may save at that moment. Folders are descriptors."""
import errno
import os

from .wholefile import copy_file


def look(folder, name):
    """What has the name, not following a link; None when nothing does."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def unlink(path, folder=None):
    try:
        os.unlink(path, dir_fd=folder)
    except FileNotFoundError:
        pass


def name_twice(folder, name, aside, stamp):
    """Gives a file that is about to be replaced a second name, because a user may be writing into it. On a file system without hard links it
    keeps only its first name. False when the file has gone, or its size and time are not those of the stamp."""
    for _ in range(2):
        try:
            os.link(name, aside, src_dir_fd=folder, follow_symlinks=False)
            return True
        except FileExistsError:
            unlink(aside)           # of a commit that was cut off, or of this call: NFS repeats a request
        except OSError:
            there = look(folder, name)
            return there is not None and [there.st_size, there.st_mtime_ns] == stamp
    return False


def place(source, folder, name, is_new):
    """Moves it there. If it is new it replaces nothing: False when something has the name by now."""
    try:
        return _move(source, None, folder, name, is_new)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    # A mount inside the tree: a copy beside the target, then a rename.
    near = b".gpush-" + os.urandom(6).hex().encode("ascii")
    if os.path.islink(source):
        os.symlink(os.readlink(source), near, dir_fd=folder)
    else:
        with open(source, "rb") as file:
            status = os.fstat(file.fileno())
            copy_file(file.fileno(), near, 0o600, folder)
        os.chmod(near, status.st_mode & 0o777, dir_fd=folder)
        os.utime(near, ns=(status.st_mtime_ns, status.st_mtime_ns), dir_fd=folder)
    is_placed = _move(near, folder, folder, name, is_new)
    if is_placed:
        os.unlink(source)
    else:
        os.unlink(near, dir_fd=folder)
    return is_placed


def _move(source, at, folder, name, is_new):
    if not is_new:
        os.rename(source, name, src_dir_fd=at, dst_dir_fd=folder)
        return True
    try:
        os.link(source, name, src_dir_fd=at, dst_dir_fd=folder, follow_symlinks=False)     # a rename would replace what has come
    except OSError:
        there = look(folder, name)
        if there is None:           # a file system without hard links
            os.rename(source, name, src_dir_fd=at, dst_dir_fd=folder)
            return True
        if not os.path.samestat(there, os.stat(source, dir_fd=at, follow_symlinks=False)):
            return False            # else the link is ours: NFS repeats a request
    unlink(source, at)
    return True
