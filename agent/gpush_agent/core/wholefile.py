"""Bytes to descriptors, and files that are replaced whole: a reader sees the old one or the new one."""
import fcntl
import os

FICLONE = 0x40049409        # a copy that shares its blocks, where the file system can
PIECE = 1 << 20             # a megabyte at a time: hashing is then bound by SHA-256, not by calls


def write_all(fd, data):
    """For pipes and files that block."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:PIECE]):]


def copy_all(fd, out, seen=lambda piece: None):
    """What is left to be read of one goes to the other; `seen` is given each piece."""
    piece = os.read(fd, PIECE)
    while piece:
        seen(piece)
        write_all(out, piece)
        piece = os.read(fd, PIECE)


def copy_file(fd, target, mode, folder=None):
    """What is at `target` must not be there yet. `folder`: the descriptor of the one that it is in."""
    out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=folder)
    try:
        try:
            fcntl.ioctl(out, FICLONE, fd)
        except OSError:
            copy_all(fd, out)
    finally:
        os.close(out)


def replace(path, content, mode=0o600, moment=None):
    """Also when several processes do it at the same time; the last one counts. `content`: a text, bytes, or pieces of a text. Returns
    the modification time, which is the file system's clock or `moment`. When that fails, as on a full disk, nothing is left."""
    new = os.fsencode(path) + b".new-%d" % os.getpid()
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        try:
            for piece in [content] if isinstance(content, (str, bytes)) else content:
                write_all(fd, piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece)
            if moment is not None:
                os.utime(fd, ns=(moment, moment))
            moment = os.fstat(fd).st_mtime_ns
        finally:
            os.close(fd)
        os.rename(new, path)
    except Exception:
        try:
            os.unlink(new)
        except FileNotFoundError:
            pass
        raise
    return moment
