"""Inotify: the kernel's events about names in folders. Without ctypes or inotify, an OSError says so."""
import errno
import os
import struct

CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x100, 0x200, 0x400, 0x800
MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
UNMOUNT, Q_OVERFLOW, IGNORED, ISDIR = 0x2000, 0x4000, 0x8000, 0x40000000
ONLYDIR, DONT_FOLLOW, EXCL_UNLINK = 0x1000000, 0x2000000, 0x4000000
MOST_READ = 64 << 10        # of one read
MOST_READS = 64             # at once; when events come faster than that, the kernel reports Q_OVERFLOW
HEAD = struct.Struct("iIII")


class Inotify:
    def __init__(self):
        try:
            import ctypes
        except ImportError:
            raise OSError(errno.ENOSYS, "this Python has no ctypes")
        self.errno = ctypes.get_errno
        try:
            library = ctypes.CDLL(None, use_errno=True)
            self.add_watch, self.rm_watch, start = library.inotify_add_watch, library.inotify_rm_watch, library.inotify_init1
        except (OSError, AttributeError):
            raise OSError(errno.ENOSYS, "this system has no inotify")
        self.add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
        self.rm_watch.argtypes = [ctypes.c_int, ctypes.c_int]
        self.fd = self.checked(start(os.O_NONBLOCK | os.O_CLOEXEC))

    def checked(self, result):
        if result < 0:
            raise OSError(self.errno(), os.strerror(self.errno()))
        return result

    def add(self, folder, mask):
        """The number of the watch; a folder that is watched already keeps its number."""
        return self.checked(self.add_watch(self.fd, folder, mask | ONLYDIR | DONT_FOLLOW | EXCL_UNLINK))

    def remove(self, number):
        self.rm_watch(self.fd, number)      # fails when the kernel has removed it already

    def read(self):
        """(number of the watch, mask, name) of each event that waits."""
        for _ in range(MOST_READS):
            try:
                data = os.read(self.fd, MOST_READ)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, length = HEAD.unpack_from(data, at)
                at += HEAD.size
                yield number, mask, data[at:at + length].rstrip(b"\0")
                at += length

    def close(self):
        os.close(self.fd)


def most_folders():
    """How many folders to watch at most: half of the user's limit, for other programs need watches too."""
    try:
        with open("/proc/sys/fs/inotify/max_user_watches") as file:
            return int(file.read()) // 2
    except (OSError, ValueError):
        return 4096
