"""A file that is being received: its bytes beside its final name (NAME.gpush-part) and a map of the blocks that are there
(NAME.gpush-part.map): a header of fixed size that says of which source they are, and the SHA-256 of each block, zeros for one that has
not come. Several processes write blocks of one part at the same time; each has a slot of its own, so none needs a lock.

A copy that starts or continues a part writes a new token into the header, and every block says for which token it is: of two copies to one
file the later one goes on, and the earlier one ends. A part that starts again is a new file, so a late block of the earlier one cannot
get into it."""
import hashlib
import json
import os
import stat

from .wire import BLOCK, PIECE, Failed

SUFFIX, MAP = b".gpush-part", b".gpush-part.map"
HEADER = 256
SLOT = 32
NONE = bytes(SLOT)
LONGEST = 255 - len(MAP)
PAGE = 4096
ZEROS = bytes(BLOCK)
OPEN = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def is_ours(name):
    return name.endswith(SUFFIX) or name.endswith(MAP)


def stem(name):
    """A name that leaves room for the suffixes."""
    if len(name) <= LONGEST:
        return name
    return name[:LONGEST - 17] + b"-" + hashlib.sha256(name).hexdigest()[:16].encode()


def blocks_of(size):
    return -(-size // BLOCK)


def length_of(size, index):
    return min(BLOCK, size - index * BLOCK)


def read_block(fd, size, index, space):
    """A block of a file, in the first bytes of `space`; shorter when the file is."""
    view, done = memoryview(space)[:length_of(size, index)], 0
    os.lseek(fd, index * BLOCK, os.SEEK_SET)        # no one else reads by this descriptor
    while done < len(view):
        count = os.readv(fd, [view[done:]])
        if not count:
            break
        done += count
    return view[:done]


def is_zeros(view):
    """The first page says no for nearly all others."""
    return view[:PAGE] == ZEROS[:min(PAGE, len(view))] and bytes(view) == ZEROS[:len(view)]


def remove(name, folder):
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass


class Part:
    def __init__(self, data, slots, head):
        self.data, self.slots, self.head = data, slots, head

    @classmethod
    def find(cls, name, folder):
        """That of a name in a folder (a descriptor); None when there is none that can be continued."""
        opened = []
        try:
            for suffix in (SUFFIX, MAP):
                opened.append(os.open(stem(name) + suffix, os.O_RDWR | OPEN, dir_fd=folder))
            head = json.loads(os.pread(opened[1], HEADER, 0).decode("ascii"))
            isinstance(head["stamp"], list) and isinstance(head["token"], str)
            whole = all(stat.S_ISREG(os.fstat(fd).st_mode) for fd in opened)
            if whole and os.fstat(opened[0]).st_size == head["stamp"][0] and head["block"] == BLOCK:
                part = cls(opened[0], opened[1], head)
                opened = []
                return part
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            pass
        finally:
            for fd in opened:
                os.close(fd)
        return None

    @classmethod
    def make(cls, name, folder, stamp):
        data_name, map_name = stem(name) + SUFFIX, stem(name) + MAP
        remove(map_name, folder)
        remove(data_name, folder)
        data = os.open(data_name, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN, 0o600, dir_fd=folder)
        try:
            os.ftruncate(data, stamp[0])
            slots = os.open(map_name, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN, 0o600, dir_fd=folder)
        except OSError:
            os.close(data)
            remove(data_name, folder)
            raise
        return cls(data, slots, {"stamp": stamp, "block": BLOCK})

    @property
    def size(self):
        return self.head["stamp"][0]

    def claim(self):
        """From now on only blocks with the token that this returns are taken."""
        self.head["token"] = os.urandom(8).hex()
        encoded = json.dumps(self.head).encode("ascii")
        os.pwrite(self.slots, encoded + b" " * (HEADER - len(encoded)), 0)
        return self.head["token"]

    def require(self, token):
        try:
            head = json.loads(os.pread(self.slots, HEADER, 0).decode("ascii"))
        except ValueError:
            head = {}
        if head.get("token") != token:
            raise Failed("another gpush cp writes it now", "taken")

    def done(self):
        """The numbers of the blocks that are there."""
        slots = self.all_slots()
        return [index for index in range(blocks_of(self.size)) if slots[index * SLOT:(index + 1) * SLOT] not in (NONE, b"")]

    def all_slots(self):
        return os.pread(self.slots, blocks_of(self.size) * SLOT, HEADER)

    def put(self, index, data, digest, space):
        """Zeros leave a hole where there is one, so files with holes keep them."""
        if data is None:
            data = b"" if is_zeros(read_block(self.data, self.size, index, space)) else ZEROS[:length_of(self.size, index)]
        if len(data):
            view, at = memoryview(data), index * BLOCK
            while len(view):
                count = os.pwrite(self.data, view[:PIECE], at)
                view, at = view[count:], at + count
        os.pwrite(self.slots, digest, HEADER + index * SLOT)

    def close(self):
        os.close(self.data)
        os.close(self.slots)
