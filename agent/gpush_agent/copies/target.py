"""The end of a copy that writes. Every path is opened component by component below the folder that the user named, and no link is
followed on it. Each call can be repeated: after a cut the other end sends again what was not answered."""
import fcntl
import hashlib
import os
import stat

from ..core.wholefile import write_all
from ..files.tree import Blocked, Tree, is_file, is_folder, is_link
from . import parts
from .parts import Part
from .source import expanded
from .wire import BLOCK, Failed, of_os_error, raw, text

MOST_OPEN = 8
SECOND = 1000000000


def split(rel):
    names = raw(rel).split(b"/") if rel else []
    if any(name in (b"", b".", b"..") or b"\0" in name for name in names):
        raise Failed("%s is no path below the target" % rel)
    return names


def is_same_time(there, here):
    """File systems keep nanoseconds, microseconds or seconds."""
    return any(there % unit == 0 and there == here // unit * unit for unit in (1, 1000, SECOND))


class Target:
    def __init__(self):
        self.trees = {}         # root -> Tree
        self.open = {}          # (root, rel, token) -> Part
        self.space = bytearray(0)

    def close(self):
        while self.open:
            self.open.popitem()[1].close()
        while self.trees:
            self.trees.popitem()[1].close()

    def forget(self):
        """Folders may be moved between two calls."""
        for tree in self.trees.values():
            tree.forget()

    def tree(self, want):
        root = raw(want["root"])
        if root not in self.trees:
            self.trees[root] = Tree(root)
        return self.trees[root]

    # ---- before the first byte

    def begin(self, want, data):
        """Where each source goes: {root, names}; an empty name means that the root itself is the copy of a folder."""
        path, sources = expanded(raw(want["path"])), want["sources"]
        is_into = (len(sources) > 1 or path.endswith((b"/", b"/.", b"/..")) or path in (b".", b"..")
                   or (want["path"].startswith("~") and "/" not in want["path"]))
        there = stat_of(path)
        if there is not None and not is_folder(there) and (is_into or sources[0]["kind"] == "d"):
            raise Failed("%s is there and is no folder" % text(path))
        if not is_into and sources[0]["kind"] == "d":
            if there is not None and not want.get("force"):
                self.require_copy(path, sources[0])
            root, names = path, [""]
        elif is_into or is_folder(there):
            root, names = path, [source["name"] for source in sources]
        else:
            root, names = os.path.split(path)
            root, names = root or b".", [text(names)]
        root = os.path.realpath(root)
        room = os.statvfs(existing(root))
        return {"root": text(root), "names": names, "free": room.f_bavail * room.f_frsize}, b""

    @staticmethod
    def require_copy(path, source):
        """A folder that is not an earlier copy of this one must not get its files mixed with ours."""
        there = [name for name in os.listdir(path) if not parts.is_ours(name)]
        if there and source["inside"] and not set(map(text, there)).intersection(source["inside"]):
            raise Failed("%s is a folder with other files: with a / behind it, %s is copied into it; --force mixes them"
                         % (text(path), source["name"]))

    def plan(self, want, data):
        try:
            tree = self.tree(want)
        except FileNotFoundError:
            return {"verdicts": [["new"] for _ in want["entries"]]}, b""
        verdicts = []
        for entry in want["entries"]:
            try:
                verdicts.append(self.verdict(tree, entry, want))
            except Blocked as blocked:
                verdicts.append(["no", "%s there is no folder, and a link is not followed"
                                 % text(b"/".join(split(entry[0])[:blocked.depth]))])
            except OSError as error:
                verdicts.append(["no", os.strerror(error.errno)])
        return {"verdicts": verdicts}, b""

    def verdict(self, tree, entry, want):
        """new, same, mode (only that differs), look (its content has to be compared), part (continues), again (the part is of another
        source), no (and why)."""
        rel, kind, stamp, mode, link = entry[:5]
        names, force = split(rel), want.get("force")
        there = tree.look(names) if names else os.fstat(tree.fd)
        if kind == "d":
            return ["new"] if there is None else ["same"] if is_folder(there) else ["no", "there is a file or link of this name there"]
        if there is None:
            return self.of_part(tree, names, stamp) if kind == "f" else ["new"]
        if is_folder(there):
            return ["no", "there is a folder of this name there"]
        if kind == "l":
            if is_link(there) and os.readlink(names[-1], dir_fd=tree.folder(names[:-1])) == raw(link):
                return ["same"]
            is_alike = is_link(there)
        else:
            is_alike = is_file(there)
            if is_alike and there.st_size == stamp[0] and is_same_time(there.st_mtime_ns, stamp[1]):
                if want.get("checksum"):
                    return ["look"]
                return ["same"] if stat.S_IMODE(there.st_mode) & 0o777 == mode else ["mode"]
            if is_alike and there.st_size == stamp[0] and want.get("checksum"):
                return ["look"]
        if not force and not is_alike:
            return ["no", "there is a file of another kind there; --force replaces it"]
        if not force and there.st_mtime_ns > stamp[1]:
            return ["no", "it is newer there; --force replaces it"]
        return self.of_part(tree, names, stamp) if kind == "f" else ["new"]

    @staticmethod
    def of_part(tree, names, stamp):
        if stamp[0] <= BLOCK:
            return ["new"]
        try:
            part = Part.find(names[-1], tree.folder(names[:-1]))
        except FileNotFoundError:
            part = None             # the folder is still to be made
        if part is None:
            return ["new"]
        try:
            if part.head["stamp"] != stamp:
                return ["again"]
            return ["part", sum(parts.length_of(stamp[0], index) for index in part.done())]
        finally:
            part.close()

    # ---- folders, links and small files

    def make(self, want, data):
        """Folders, the upper ones first, for us alone until all is in them; links."""
        os.makedirs(raw(want["root"]), exist_ok=True)
        tree = self.tree(want)
        failed = []
        for rel in want.get("folders", ()):
            try:
                self.folder(tree, split(rel))
            except (OSError, Failed) as error:
                failed.append([rel, reason(error)])
        for rel, link, mtime in want.get("links", ()):
            try:
                self.link(tree, split(rel), raw(link), mtime)
            except (OSError, Failed) as error:
                failed.append([rel, reason(error)])
        return {"failed": failed}, b""

    def folder(self, tree, names):
        if not names:
            return
        try:
            os.mkdir(names[-1], 0o700, dir_fd=self.above(tree, names))
        except FileExistsError:
            if not is_folder(tree.look(names)):
                raise

    def link(self, tree, names, link, mtime):
        folder, temporary = self.above(tree, names), parts.stem(names[-1]) + parts.SUFFIX
        parts.remove(temporary, folder)
        os.symlink(link, temporary, dir_fd=folder)
        os.utime(temporary, ns=(mtime, mtime), dir_fd=folder, follow_symlinks=False)
        os.replace(temporary, names[-1], src_dir_fd=folder, dst_dir_fd=folder)

    @staticmethod
    def above(tree, names):
        try:
            return tree.folder(names[:-1])
        except Blocked as blocked:
            raise Failed("%s there is no folder, and a link is not followed" % text(b"/".join(names[:blocked.depth])))

    def put(self, want, data):
        """Small files, whole: None or [reason, code] for each."""
        tree, answers, at, view = self.tree(want), [], 0, memoryview(data)
        for rel, size, mtime, mode, sha in want["files"]:
            content, at = view[at:at + size], at + size
            try:
                if hashlib.sha256(content).hexdigest() != sha:
                    raise Failed("other bytes came than were sent")
                self.put_one(tree, split(rel), content, mtime, mode)
                answers.append(None)
            except (OSError, Failed) as error:
                failed = error if isinstance(error, Failed) else of_os_error(error)
                answers.append([failed.text, failed.code])
        return {"files": answers}, b""

    def put_one(self, tree, names, content, mtime, mode):
        folder, temporary = self.above(tree, names), parts.stem(names[-1]) + parts.SUFFIX
        fd = own_file(temporary, folder)
        try:
            write_all(fd, content)
            os.fchmod(fd, mode)
            os.utime(fd, ns=(mtime, mtime))
            os.replace(temporary, names[-1], src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            parts.remove(temporary, folder)
            raise
        finally:
            os.close(fd)

    # ---- large files

    def start(self, want, data):
        """A part of this source, continued if there is one: {token, done}."""
        tree, names = self.tree(want), split(want["rel"])
        folder = self.above(tree, names)
        part = None if want.get("again") else Part.find(names[-1], folder)
        if part is not None and part.head["stamp"] != want["stamp"]:
            part.close()
            part = None
        try:
            part = part or Part.make(names[-1], folder, want["stamp"])
            return {"token": part.claim(), "done": part.done()}, b""
        finally:
            if part is not None:
                part.close()

    def part(self, want):
        key = (want["root"], want["rel"], want["token"])
        part = self.open.pop(key, None)
        if part is None:
            while len(self.open) >= MOST_OPEN:
                self.open.pop(next(iter(self.open))).close()
            names = split(want["rel"])
            part = Part.find(names[-1], self.above(self.tree(want), names))
            if part is None:
                raise Failed("its part was removed", "taken")
        self.open[key] = part
        part.require(want["token"])
        return part

    def block(self, want, data):
        part, index = self.part(want), want["index"]
        if not 0 <= index < parts.blocks_of(part.size):
            raise Failed("block %d does not exist" % index)
        size = parts.length_of(part.size, index)
        content = parts.ZEROS[:size] if want.get("zeros") else data
        digest = hashlib.sha256(content).digest()
        if len(content) != size or digest.hex() != want["sha"]:
            raise Failed("other bytes came than were sent")
        part.put(index, None if want.get("zeros") else content, digest, self.block_space() if want.get("zeros") else None)
        return {}, b""

    def block_space(self):
        self.space = self.space or bytearray(BLOCK)
        return self.space

    def check(self, want, data):
        """What the blocks of a part, or of the file itself, really hold; None for one that cannot be read whole."""
        if want.get("token"):
            fd, close = self.part(want).data, None
        else:
            names = split(want["rel"])
            self.above(self.tree(want), names)
            fd = close = self.tree(want).open_file(names)
        try:
            found = []
            for index in want["indices"]:
                data = parts.read_block(fd, want["size"], index, self.block_space())
                found.append(hashlib.sha256(data).hexdigest() if len(data) == parts.length_of(want["size"], index) else None)
            return {"sha": found}, b""
        finally:
            if close is not None:
                os.close(close)

    def finish(self, want, data):
        """The part becomes the file, if it has all blocks and they are those of the source."""
        tree, names = self.tree(want), split(want["rel"])
        folder = self.above(tree, names)
        for key in [key for key in self.open if key[:2] == (want["root"], want["rel"])]:
            self.open.pop(key).close()
        part = Part.find(names[-1], folder)
        if part is None:
            there = tree.look(names)
            if is_file(there) and there.st_size == want["size"] and is_same_time(there.st_mtime_ns, want["mtime"]):
                return {}, b""      # the answer to an earlier call was lost
            raise Failed("its part was removed", "taken")
        try:
            part.require(want["token"])
            slots = part.all_slots()
            if len(part.done()) != parts.blocks_of(want["size"]) or hashlib.sha256(slots).hexdigest() != want["sha"]:
                raise Failed("the copy is not the same as the source")
            os.fchmod(part.data, want["mode"])
            os.utime(part.data, ns=(want["mtime"], want["mtime"]))
            os.fsync(part.data)
        finally:
            part.close()
        folder = self.above(tree, names)
        os.replace(parts.stem(names[-1]) + parts.SUFFIX, names[-1], src_dir_fd=folder, dst_dir_fd=folder)
        parts.remove(parts.stem(names[-1]) + parts.MAP, folder)
        os.fsync(folder)
        return {}, b""

    def end(self, want, data):
        """Modes and times: those of folders change with everything that is put into them."""
        tree, failed = self.tree(want), []
        for rel, kind, mode, mtime in want["entries"]:
            try:
                names = split(rel)
                fd = os.dup(tree.folder(names)) if kind == "d" else tree.open_file(names)
                try:
                    os.utime(fd, ns=(mtime, mtime))
                    os.fchmod(fd, mode)
                finally:
                    os.close(fd)
            except (OSError, Failed, Blocked) as error:
                failed.append([rel, reason(error)])
        return {"failed": failed}, b""

    CALLS = {"begin": begin, "plan": plan, "make": make, "put": put, "start": start, "block": block, "check": check,
             "finish": finish, "end": end}


def reason(error):
    if isinstance(error, OSError):
        return of_os_error(error).text
    return error.text if isinstance(error, Failed) else "a link is not followed"


def stat_of(path):
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failed("%s: %s" % (text(path), os.strerror(error.errno)))


def existing(path):
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def own_file(name, folder):
    """A new or left over temporary file that no other copy writes, open and empty."""
    flags = os.O_WRONLY | os.O_CREAT | parts.OPEN
    try:
        fd = os.open(name, flags, 0o600, dir_fd=folder)
    except OSError:             # read-only, or no file: what a killed copy has left
        parts.remove(name, folder)
        fd = os.open(name, flags | os.O_EXCL, 0o600, dir_fd=folder)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed("another gpush cp writes it now", "taken")
        except OSError:
            pass                # a file system without locks
        found = os.fstat(fd)
        if os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino != found.st_ino:
            raise Failed("another gpush cp writes it now", "taken")
        if found.st_size:
            os.ftruncate(fd, 0)
        return fd
    except BaseException:
        os.close(fd)
        raise
