"""The end of a copy that reads. Nothing here changes a file, and no link below a named one is followed."""
import glob
import hashlib
import json
import os
import stat
import zlib

from . import parts
from .wire import BLOCK, Failed, of_os_error, raw, text

MOST = 1000000                  # files and folders; the list is in memory at both ends
OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CHANGED = "it changed while it was read"
MOST_OPEN = 8


def stamp_of(found):
    """What is different when a file's content is; `gpush cp` goes on with a part only if it is the same."""
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def expanded(path):
    """With the home folder for a ~, as a shell does it; a relative path begins in the process's folder."""
    return os.path.expanduser(path) if path.startswith(b"~") else path or b"."


class Source:
    def __init__(self):
        self.open = {}          # path -> descriptor, the latest last
        self.space = bytearray(0)

    def close(self):
        while self.open:
            os.close(self.open.popitem()[1])

    # ---- what there is

    def find(self, want, data):
        """All files and folders of the named paths: [{name, base, entries}], errors and what is left out, as packed JSON."""
        listing = Listing()
        for path in want["paths"]:
            listing.add(raw(path))
        return {}, zlib.compress(json.dumps({"sources": listing.sources, "skipped": listing.skipped}).encode("ascii"), 1)

    def stat(self, want, data):
        try:
            found = os.lstat(raw(want["path"]))
        except FileNotFoundError:
            raise Failed("it was removed meanwhile")
        if not stat.S_ISREG(found.st_mode):
            raise Failed("it is no file any more")
        return {"stamp": stamp_of(found)}, b""

    # ---- contents

    def file(self, path, stamp):
        """A descriptor of the file, if it is still the one of this stamp."""
        fd = self.open.pop(path, None)
        if fd is not None and stamp_of(os.fstat(fd)) != stamp:
            os.close(fd)                # of the file that was replaced since
            fd = None
        if fd is None:
            while len(self.open) >= MOST_OPEN:
                os.close(self.open.pop(next(iter(self.open))))
            fd = opened(path)
        self.open[path] = fd
        if stamp_of(os.fstat(fd)) != stamp or stamp_of(os.lstat(path)) != stamp:
            self.forget(path)
            raise Failed(CHANGED, "changed")
        return fd

    def forget(self, path):
        os.close(self.open.pop(path))

    def block(self, want, index):
        path = raw(want["path"])
        self.space = self.space or bytearray(BLOCK)
        data = parts.read_block(self.file(path, want["stamp"]), want["stamp"][0], index, self.space)
        if len(data) != parts.length_of(want["stamp"][0], index) or stamp_of(os.fstat(self.open[path])) != want["stamp"]:
            self.forget(path)
            raise Failed(CHANGED, "changed")
        return data

    def read(self, want, data):
        data = self.block(want, want["index"])
        answer = {"size": len(data), "sha": hashlib.sha256(data).hexdigest()}
        if parts.is_zeros(data):
            return dict(answer, zeros=True), b""
        return answer, data

    def hash(self, want, data):
        return {"sha": [hashlib.sha256(self.block(want, index)).hexdigest() for index in want["indices"]]}, b""

    def get(self, want, data):
        """Small files, whole: [sha] or [None, reason, code] for each, and the bytes of those that could be read."""
        answers, contents = [], []
        for path, stamp in want["files"]:
            try:
                content = whole(raw(path), stamp)
                answers.append([hashlib.sha256(content).hexdigest()])
                contents.append(content)
            except OSError as error:
                failed = of_os_error(error)
                answers.append([None, failed.text, failed.code])
            except Failed as failed:
                answers.append([None, failed.text, failed.code])
        return {"files": answers}, b"".join(contents)

    CALLS = {"find": find, "stat": stat, "read": read, "hash": hash, "get": get}


def opened(path):
    try:
        return os.open(path, OPEN)
    except FileNotFoundError:
        raise Failed("it was removed meanwhile")


def whole(path, stamp):
    fd = opened(path)
    try:
        content = os.read(fd, stamp[0] + 1)
        while 0 < len(content) < stamp[0]:
            more = os.read(fd, stamp[0] + 1 - len(content))
            if not more:
                break
            content += more
        if len(content) != stamp[0] or stamp_of(os.fstat(fd)) != stamp:
            raise Failed(CHANGED, "changed")
        return content
    finally:
        os.close(fd)


class Listing:
    """Entries are [path below the base, kind, stamp, mode, target of a link, bytes on disk]; the kinds are f, d and l."""

    def __init__(self):
        self.sources, self.skipped, self.count = [], [], 0

    def add(self, path):
        path = expanded(path)
        found = [path]
        if not os.path.lexists(path) and glob.has_magic(path):
            found = sorted(glob.glob(path))
            if not found:
                raise Failed("nothing matches %s" % text(path))
        for one in found:
            self.add_one(one)

    def add_one(self, path):
        """A link that is named is followed, as scp and cp -H do it."""
        try:
            os.stat(path)
        except OSError as error:
            raise Failed("%s: %s" % (text(path), os.strerror(error.errno)))
        base = os.path.realpath(path)
        name = os.path.basename(os.path.normpath(path))
        if name in (b".", b"..", b""):
            name = os.path.basename(base)
        entries = []
        self.look(base, b"", entries)
        if not entries:
            raise Failed("%s is neither a file nor a folder" % text(path))
        self.sources.append({"name": text(name), "base": text(base), "entries": entries})

    def look(self, base, below, entries):
        pending = [below]
        while pending:
            at = pending.pop()
            path = os.path.join(base, at) if at else base
            try:
                entry = self.entry(path, at)
                names = sorted(os.listdir(path), reverse=True) if entry is not None and entry[1] == "d" else []
            except OSError as error:
                self.skipped.append([text(path), os.strerror(error.errno), True])
                continue
            if entry is None:
                self.skipped.append([text(path), "it is neither a file, a folder nor a link", False])
                continue
            entries.append(entry)
            self.count += 1
            if self.count > MOST:
                raise Failed("there are more than %d files; copy the folders below one by one" % MOST)
            for name in names:
                if parts.is_ours(name):
                    self.skipped.append([text(os.path.join(path, name)), "an interrupted copy has left it", False])
                else:
                    pending.append(os.path.join(at, name) if at else name)

    @staticmethod
    def entry(path, below):
        found = os.lstat(path)
        mode = stat.S_IMODE(found.st_mode) & 0o777
        if stat.S_ISREG(found.st_mode):
            return [text(below), "f", stamp_of(found), mode, None, min(found.st_size, found.st_blocks * 512)]
        if stat.S_ISDIR(found.st_mode):
            return [text(below), "d", stamp_of(found), mode, None, 0]
        if stat.S_ISLNK(found.st_mode):
            return [text(below), "l", stamp_of(found), mode, text(os.readlink(path)), 0]
        return None
