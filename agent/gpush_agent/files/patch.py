"""A content that is made of a file of the tree and of what the gateway sends: a patch, as the gateway's Patch writes it.

First the file's path (u16 length, UTF-8), then steps: u8 0, u32 length and these bytes; u8 1, u64 offset and u32 length of a part
of the file. Whether the result is right is known by its hash; where it is not, PREPARE says that the content is missing."""
import os
import struct

from ..core.refused import Refused
from .tree import Blocked, parts_of

PATH = struct.Struct(">H")
LITERAL, COPY = 0, 1
LENGTH = struct.Struct(">I")
PART = struct.Struct(">QI")
PIECE = 1 << 18             # of a part that is copied


class Patch:
    def __init__(self, tree, put):
        """`put(bytes)` takes the content."""
        self.tree = tree
        self.put = put
        self.came = b""         # of the patch; understood up to `at`
        self.at = 0
        self.literal = 0        # bytes that are still to come of one
        self.fd = -1
        self.broken = False

    def add(self, data):
        self.came, self.at = self.came[self.at:] + data, 0
        while not self.broken and self.step():
            pass

    def end(self):
        """Whether all of it was there."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        return not self.broken and self.at == len(self.came) and not self.literal

    def step(self):
        """Whether there may be another."""
        left = len(self.came) - self.at
        if self.fd < 0:
            return self.open(left)
        if self.literal:
            length = min(left, self.literal)
            self.put(self.came[self.at:self.at + length])
            self.literal -= length
            self.at += length
            return length < left
        if not left:
            return False
        kind = self.came[self.at]
        head = LENGTH if kind == LITERAL else PART
        if kind not in (LITERAL, COPY):
            self.broken = True
        elif left > head.size:
            numbers = head.unpack_from(self.came, self.at + 1)
            self.at += 1 + head.size
            if kind == COPY:
                self.copy(*numbers)
            else:
                self.literal = numbers[0]
            return True
        return False

    def open(self, left):
        length = PATH.unpack_from(self.came, self.at)[0] if left >= PATH.size else left
        if left < PATH.size + length:
            return False
        self.at += PATH.size
        try:
            self.fd = self.tree.open_file(parts_of(self.came[self.at:self.at + length].decode("utf-8")))
        except (OSError, Blocked, Refused, ValueError):
            self.broken = True
        self.at += length
        return True

    def copy(self, offset, length):
        try:
            while length and not self.broken:
                piece = os.pread(self.fd, min(length, PIECE), offset)
                self.broken = not piece
                self.put(piece)
                offset += len(piece)
                length -= len(piece)
        except (OSError, OverflowError):
            self.broken = True
