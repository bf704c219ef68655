"""What the two ends of a copy say to each other: a request or an answer is a JSON header and bytes behind it. Names are bytes on both
machines; in a header they are text, in which a byte that is not UTF-8 is a surrogate."""
import errno
import json
import os
import struct

from ..core.processes import raw
from ..core.wholefile import PIECE, write_all

HEAD = struct.Struct(">II")     # length of the header, of the bytes
MAX_HEADER = 64 << 20
MAX_BYTES = 256 << 20           # a list of files; everything else has a block at most
BLOCK = 4 << 20                 # what is lost at most, for each stream, when a copy is interrupted
FULL = (errno.ENOSPC, errno.EDQUOT)


class Failed(Exception):
    """Something that cannot be done, with the reason as a sentence without its subject. `code` says what the other end may do about it:
    full (nothing more can be written), changed (the source), taken (by another copy), lost (the connection), failed."""

    def __init__(self, text, code="failed"):
        super().__init__(text)
        self.text, self.code = text, code


def of_os_error(error):
    return Failed(os.strerror(error.errno) if error.errno else str(error), "full" if error.errno in FULL else "failed")


def text(raw):
    return raw.decode("utf-8", "surrogateescape")


class Lost(Exception):
    """The other end is gone."""


class Wire:
    """Over `read(view)`, which gives the count and 0 at the end, and `write(views)`, which writes all of them."""

    def __init__(self, read, write):
        self.read, self.write = read, write
        self.space = bytearray(0)       # for the bytes: new memory for every block costs more than copying it

    def send(self, header, data=b""):
        encoded = json.dumps(header, separators=(",", ":")).encode("ascii")
        self.write([HEAD.pack(len(encoded), len(data)) + encoded, data])

    def receive(self):
        """(header, bytes, which are valid until the next call); Lost at the end."""
        head, size = HEAD.unpack(self.take(HEAD.size))
        if head > MAX_HEADER or size > MAX_BYTES:
            raise Lost("a message of %d bytes" % (head + size))
        header = json.loads(bytes(self.take(head)).decode("ascii"))
        if size > BLOCK:
            return header, self.take(size)
        if size > len(self.space):
            self.space = bytearray(BLOCK if size > PIECE else PIECE)
        done, view = 0, memoryview(self.space)[:size]
        while done < size:
            count = self.read(view[done:done + PIECE])
            if not count:
                raise Lost("end of input")
            done += count
        return header, view

    def take(self, size):
        space = bytearray(min(size, BLOCK))     # a length is a promise: memory comes with the bytes
        done = 0
        while done < size:
            if done == len(space):
                space.extend(bytes(min(size - done, BLOCK)))
            with memoryview(space) as view:
                count = self.read(view[done:min(len(space), done + PIECE)])
            if not count:
                raise Lost("end of input")
            done += count
        return space


def over_descriptors(source, target):
    def write(views):
        for view in views:
            write_all(target, view)
    return Wire(lambda view: os.readv(source, [view]), write)
