"""The files with which runs began, so that a later run can have them again: a list of its paths for each generation, and the contents by
their hashes, each once. What is still in the workspace is taken from there, so only small files need be kept."""
import hashlib
import json
import os
import re
import time

from ..core import filelock
from ..core.refused import Refused
from ..core.wholefile import copy_all, copy_file, replace
from .root import FILE, in_order
from .state import CHANGED, Held, MISSING, State, own_folder
from .tree import Blocked, Tree, parts_of, stamp_of

MOST_FILE = 16 << 20        # code is smaller; what is larger is rarely changed, and found in the workspace then
MOST_BYTES = 1 << 30        # of all generations, and of one
MOST_GENERATIONS = 100
LEAST_FREE = 1 << 30        # bytes that a disk keeps for its owner
LOCK_SECONDS = 5.0
LOOK_SECONDS = 5.0          # the gateway waits 10 for the answer
WRITTEN_SECONDS = 600.0     # a list is written by then: that is done without the lock
PART = re.compile(r"part-")
LIST = re.compile(r"G([0-9]{1,18})\.json\Z")
CONTENT = re.compile(r"[0-9a-f]{64}\Z")


class Kept:
    """On the file system of the workspace, where copies can share blocks."""

    def __init__(self, root, state):
        self.folder = os.path.join(own_folder(os.fsencode(root), os.fsencode(state)), b"kept")

    def of(self, name):
        return os.path.join(self.folder, os.fsencode(name))

    def use(self, generation):
        """Whether it is kept; what was used longest ago goes first."""
        try:
            os.utime(self.of("G%d.json" % generation))
        except OSError:
            return False
        return True

    def list_of(self, generation):
        """(path -> [kind, x, size, hash or target], folders); (None, None) where it is not kept. Counts as a use."""
        return self.read(generation) if self.use(generation) else (None, None)

    def read(self, generation):
        try:
            with open(self.of("G%d.json" % generation), "rb") as file:
                value = json.loads(file.read().decode("utf-8"))
            return {item[0]: item[1:] for item in value["entries"]}, set(value["folders"])
        except (OSError, ValueError, KeyError):
            return None, None

    def copy_to(self, content, target, mode):
        """Whether it is there, as it was."""
        try:
            fd = os.open(self.of(content), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        digest = hashlib.sha256()
        try:
            out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            try:
                copy_all(fd, out, digest.update)
            finally:
                os.close(out)
        finally:
            os.close(fd)
        if digest.hexdigest() == content:
            return True
        os.unlink(target)
        try:
            os.unlink(self.of(content))     # damaged, as by a loss of power: then it is kept again when it is there again
        except OSError:
            pass
        return False

    # ---- writing

    def put(self, held, tree):
        """The list is written first: what of it is not kept is then known by its name."""
        os.makedirs(self.folder, 0o700, exist_ok=True)
        until = time.monotonic() + LOCK_SECONDS
        entries = [[path] + held.entries[path][:4] for path in in_order(held.entries)]
        replace(self.of("G%d.json" % held.generation), json.dumps({"folders": in_order(held.folders), "entries": entries}))
        lock = filelock.take(self.of("lock"), LOCK_SECONDS / 2)
        if lock is None:
            return              # another node of the same file system does it, or another run, which may have other files
        try:
            names = set(os.fsdecode(name) for name in os.listdir(self.folder))
            left = MOST_BYTES
            for path, kind, _, size, content in entries:
                if time.monotonic() > until:
                    held.state.unlock()     # a save waits no longer; what it replaces first is not kept
                if kind == FILE and size <= MOST_FILE:
                    left -= size
                    if content not in names and (left < 0 or not self.put_content(held, tree, path, content)):
                        continue
                    names.add(content)
            self.forget()
        finally:
            os.close(lock)

    def put_content(self, held, tree, path, content):
        """Whether it is there now: only what still is what gpush wrote, and not on a disk that is nearly full."""
        space, part = os.statvfs(self.folder), self.of("part-%d" % os.getpid())
        if space.f_bavail * space.f_frsize < LEAST_FREE:
            return False
        parts = parts_of(path)
        try:
            live = held.live(tree, path, parts)
            if not live.is_content(FILE, content):
                return False
            fd = tree.open_file(parts)
            try:
                copy_file(fd, part, 0o600)
                is_same = stamp_of(os.fstat(fd)) == live.stamp
            finally:
                os.close(fd)
            if is_same:
                os.rename(part, self.of(content))
            return is_same
        except (OSError, Blocked):
            return False        # it is gone, or the disk is full
        finally:
            if os.path.lexists(part):
                os.unlink(part)

    def forget(self):
        """What is beyond the limits, beginning with what was used longest ago; the newest stays."""
        lists, contents, total = [], set(), 0
        for name in os.listdir(self.folder):
            text = os.fsdecode(name)
            try:
                status = os.stat(self.of(name))
            except FileNotFoundError:           # a list that was written has its own name now
                continue
            if LIST.match(text):
                lists.append((status.st_mtime_ns, int(LIST.match(text).group(1)), status.st_size))
            elif CONTENT.match(text):
                contents.add(text)
            elif text != "lock":
                if PART.match(text) or status.st_mtime < time.time() - WRITTEN_SECONDS:
                    os.unlink(self.of(name))    # of one that was killed
                continue
            total += status.st_size
        if total <= MOST_BYTES and len(lists) <= MOST_GENERATIONS:
            return
        wanted, left = set(), MOST_BYTES
        for count, (_, generation, size) in enumerate(sorted(lists, reverse=True)):
            entries = (self.read(generation)[0] or {}).values() if left > 0 else ()
            own = {entry[3]: entry[2] for entry in entries if entry[0] == FILE and entry[3] in contents and entry[3] not in wanted}
            left -= size + sum(own.values())
            if count and (left <= 0 or count >= MOST_GENERATIONS):
                left = 0        # older ones go with it
                os.unlink(self.of("G%d.json" % generation))
            else:
                wanted.update(own)
        for name in contents - wanted:
            os.unlink(self.of(name))


class Keeping:
    """Of what the nodes have now, while a run starts; in a child that goes on when it has answered."""

    def __init__(self, root, state, generation, also=(), verify=False, clock=time.monotonic):
        self.place, self.generation, self.also, self.verify = (root, state), generation, also, verify
        self.clock, self.is_there = clock, False

    def begin(self):
        """Nothing is replaced by a commit from here on."""
        root, state = self.place
        if not root or not state:
            raise Refused("not-found", {"what": "folder"})
        self.state = State(state)
        self.state.lock(to_read=True)
        self.held = Held(self.state)
        self.held.load()
        kept = Kept(root, self.state.path)
        for generation in self.also:
            kept.use(generation)        # runs that wait need these
        found = self.changed() if self.verify else {}
        if self.held.generation != self.generation:
            if not kept.use(self.generation) and not self.verify:
                raise Refused("moved", {"generation": self.held.generation})
            return dict(found, generation=self.held.generation)
        self.is_there = True
        return found

    def changed(self):
        """The first path whose content is not as it was sent, or that was not looked at in time."""
        tree, until = Tree(self.place[0]), self.clock() + LOOK_SECONDS
        try:
            for path, state, _ in self.held.survey(tree):
                if state in (CHANGED, MISSING) or self.clock() > until:
                    return {"changed": path}
            return {}
        finally:
            tree.close()

    def keep(self):
        if not self.is_there:
            self.state.close()
            return
        os.nice(10)             # the ranks come first
        tree = Tree(self.place[0])
        try:
            Kept(self.place[0], self.state.path).put(self.held, tree)
        finally:
            tree.close()
            self.state.close()
