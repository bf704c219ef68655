"""Moving a folder from one generation to the next: decided at PREPARE, written down in a journal, done at COMMIT, finished after a crash."""
import errno
import json
import os
import re
import time

from ..core.moves import look, name_twice, place, unlink
from ..core.refused import Refused
from ..core.wholefile import copy_file
from .root import FILE, LINK, in_order
from .state import OURS
from .trash import Trash
from .tree import Blocked, MAX_PATH, Tree, is_file, is_folder, parents_of, parts_of, stamp_of

MAX_ENTRIES = 1000 * 1000       # of one manifest
FREE_BYTES = 64 << 10           # room that must be left for the journal and the manifest …
FREE_PER_ENTRY = 300            # … and for each of its entries
FREE_PER_FOLDER = 4096


def require_content(kind, content):
    """A hash becomes a file name in the stage, a target becomes a link: both are checked first."""
    if kind == FILE and re.match(r"[0-9a-f]{64}\Z", content):
        return
    if kind == LINK and 0 < len(content.encode("utf-8")) <= MAX_PATH and "\0" not in content:
        return
    raise Refused("protocol", {"detail": "%r with %r" % (kind, content[:200])})


class Commit:
    """One folder with its manifest and stage. At most one plan is prepared at a time."""

    def __init__(self, tree, state, held, stage, own):
        self.tree = tree
        self.state = state
        self.held = held
        self.stage = stage
        self.own = own              # the folder of stage and trash, on the tree's file system
        self.trash = Trash(own)
        self.surplus = []           # of the trash: removed once the commit is done
        self.plan = None
        self.into = None            # the folder in the trash of this commit, …
        self.has_trash = False      # … and whether something is in it
        self.names = None           # content -> its paths: made when a content is not staged, of one plan and of one commit
        self.is_unfinished = False  # a journal is on disk whose commit failed half way

    # ---- PREPARE

    def prepare(self, want):
        """The answer to PREPARE; nothing in the tree is touched."""
        self.plan = self.names = None
        failure, self.stage.failure = self.stage.failure, None      # of these contents, whatever the answer is
        if self.is_left():
            self.roll_forward()
        if want["from"] != self.held.root:
            raise Refused("moved", {"root": self.held.root})
        writes, deletes = want["write"], want["delete"]
        trash, hold = set(want.get("trash", ())), want.get("hold", [])
        if len(writes) + len(self.held.entries) > MAX_ENTRIES:
            raise Refused("limit", {"detail": "more than %d entries" % MAX_ENTRIES})
        if want.get("verify"):
            self._require_untouched(set(deletes).union(item[0] for item in writes + hold))
        plan = {"generation": want["generation"], "root": want["root"], "write": writes, "forget": deletes, "delete": [], "trash": [],
                "vanish": [], "make": [], "hold": hold}
        going = self._going(deletes, trash)
        plan["delete"] = in_order(going)
        conflicts, needed = {}, set()
        for write in writes:
            self._weigh(write, going, trash, plan, conflicts, needed)
        for item in hold:
            parts_of(item[0])
            require_content(item[1], item[4])
        blocked = [path for path in in_order(conflicts) if path not in trash]
        if blocked and not want.get("overwrite"):
            return {"conflicts": [[path, conflicts[path], self._seconds(path)] for path in blocked]}
        plan["trash"] = [[path, self._inode(path)] for path in in_order(trash.intersection(going).union(conflicts))]
        self._require_root(plan)
        missing = [content for content in sorted(needed) if not self._obtain(content)]
        if failure:
            return {"code": failure[0], "facts": failure[1]}
        if missing:
            return {"missing": missing}
        plan["make"] = in_order(self._folders_to_make(writes))
        self._require_writable([write[0] for write in writes] + plan["delete"])
        self._require_room(plan)
        if self.held.is_dirty:
            self.save()
        self.state.write(b"txn.prepared", json.dumps(plan, separators=(",", ":")))
        self.plan = plan
        return {"ok": True}

    def _require_untouched(self, named):
        """The gateway's plan relies on its last state: if a path that it did not name differs, it must check again."""
        for path, state, _ in self.held.survey(self.tree):
            if path not in named and state != OURS:
                raise Refused("moved", {"path": path})

    def _going(self, deletes, trash):
        """Of the paths to delete those that still are what we wrote, and all that go to the trash; the others stay and become theirs."""
        going = set()
        for path in deletes:
            parts = parts_of(path)
            live = self.held.live(self.tree, path, parts)
            if self.held.is_ours(path, live) or path in trash and live.kind not in ("absent", "blocked"):
                going.add(path)
        return going

    def _weigh(self, write, going, trash, plan, conflicts, needed):
        path, kind, _, size, content = write
        parts = parts_of(path)
        require_content(kind, content)
        live = self.held.live(self.tree, path, parts, size)
        if live.is_content(kind, content):
            return
        if kind == FILE:
            needed.add(content)
        if live.kind == "blocked":
            parent = b"/".join(parts[:live.depth]).decode("utf-8")
            if parent not in going:
                conflicts[parent] = "parent"
        elif live.kind == "folder":
            folders = []
            if self._vanishes(parts, going, folders):
                plan["vanish"].extend(folders)
            else:
                conflicts[path] = "type"
        elif live.kind == "other":
            conflicts[path] = "type"
        elif live.kind != "absent" and not self.held.is_ours(path, live):
            conflicts[path] = "changed" if path in self.held.entries else "foreign"
        elif live.kind != "absent" and path in trash:
            conflicts[path] = "ours"    # of another machine, perhaps: it is kept as if it were not

    def _vanishes(self, parts, going, folders):
        """Whether a folder is empty once what goes is gone; the folders in it are noted, the deepest first."""
        try:
            names = [(name, is_folder(self.tree.look(parts + [name]))) for name in self.tree.names(parts)]
        except OSError:
            return False
        for name, is_below in names:
            child = parts + [name]
            if is_below:
                if not self._vanishes(child, going, folders):
                    return False
            elif b"/".join(child).decode("utf-8", "replace") not in going:
                return False
        folders.append(b"/".join(parts).decode("utf-8", "replace"))
        return True

    def _is_there(self, path):
        return self.held.live(self.tree, path, parts_of(path)).kind not in ("absent", "blocked")

    def _inode(self, path):
        status = self.tree.look(path.encode("utf-8").split(b"/"))
        return status.st_ino if status else 0

    def _seconds(self, path):
        try:
            status = self.tree.look(path.encode("utf-8").split(b"/"))
        except OSError:
            return 0
        return int(status.st_mtime) if status else 0

    def _require_root(self, plan):
        if self.held.root_after(plan["forget"], plan["write"] + plan["hold"]) != plan["root"]:
            raise Refused("moved", {"root": self.held.root})

    def _obtain(self, content):
        """The content is staged, or is under some other name in the tree and can be copied from there."""
        if self.stage.has(content):
            return True
        if self.names is None:
            self.names = {}
            for path, entry in self.held.entries.items():
                if entry[0] == FILE:
                    self.names.setdefault(entry[3], []).append(path)
        return any(self._copy(path, content) for path in self.names.get(content, ()))

    def _copy(self, path, content):
        try:
            fd = self.tree.open_file(path.encode("utf-8").split(b"/"))
        except (OSError, Blocked):
            return False
        try:
            return is_file(os.fstat(fd)) and self.stage.copy(fd, content)  # a folder may be there now
        finally:
            os.close(fd)

    def _folders_to_make(self, writes):
        """Those that are ours afterwards; in the journal, because a crash may come between a folder and what goes into it."""
        folders = set()
        for write in writes:
            folders.update(parents_of(write[0]))
        make = set()
        for folder in in_order(folders - self.held.folders):
            try:
                if not is_folder(self.tree.look(folder.encode("utf-8").split(b"/"))):
                    make.add(folder)
            except Blocked:
                make.add(folder)
        return make

    def _require_writable(self, paths):
        """Checks that the folders of all changed names are writable, before anything changes."""
        seen = set()
        for path in paths:
            parts = path.encode("utf-8").split(b"/")[:-1]
            while tuple(parts) not in seen:
                seen.add(tuple(parts))
                try:
                    self._require_writable_folder(parts)
                    break
                except (FileNotFoundError, Blocked):
                    parts = parts[:-1]  # it will be made in the one above

    def _require_writable_folder(self, parts):
        fd = self.tree.folder(parts)
        if os.access(".", os.W_OK | os.X_OK, dir_fd=fd, effective_ids=True):
            return
        name = b"/".join(parts) or b"."
        number = errno.EROFS if os.fstatvfs(fd).f_flag & os.ST_RDONLY else errno.EACCES
        raise OSError(number, os.strerror(number), name)

    def _require_room(self, plan):
        room = os.statvfs(self.own)
        need = FREE_BYTES + FREE_PER_ENTRY * (len(plan["write"]) + len(self.held.entries)) + FREE_PER_FOLDER * len(plan["make"])
        if room.f_bavail * room.f_frsize < need:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    # ---- COMMIT

    def commit(self, generation):
        """Does what was prepared; the manifest is saved by `finish`, after the gateway has its answer."""
        if self.plan is None or self.plan["generation"] != generation:
            raise Refused("not-prepared")
        os.rename(self.state.of(b"txn.prepared"), self.state.of(b"txn"))
        plan, self.plan = self.plan, None
        self.is_unfinished = True
        answer = self._apply(plan)
        self.is_unfinished = False
        try:
            self.held.tell()        # before the answer: the next gateway must not get the former generation
        except OSError:
            pass                    # `finish` tries again
        return answer

    def finish(self):
        """The manifest takes over from the journal. When that fails the journal stays, and the next look or PREPARE tries again."""
        self.save()
        self.stage.drop()
        surplus, self.surplus = self.surplus, []
        self.trash.remove(surplus)

    def save(self):
        is_of_commit = self.held.is_dirty
        self.held.save()
        if is_of_commit:
            self.state.remove(b"txn")

    def abort(self):
        self.plan = None
        self.stage.failure = None
        self.state.remove(b"txn.prepared")

    def was_interrupted(self):
        return os.path.exists(self.state.of(b"txn")) or os.path.exists(self.state.of(b"txn.prepared"))

    def is_left(self):
        """Whether a crash left a commit that has to be finished, and that the manifest which was read does not contain."""
        return self.is_unfinished or self.plan is None and not self.held.is_dirty and self.was_interrupted()

    def roll_forward(self):
        """Finishes what a crash interrupted: every step checks whether it was done already."""
        self.state.remove(b"txn.prepared")
        plan = self.state.read(b"txn")
        if plan is not None:
            self._apply(plan, is_again=True)
            self.finish()
        self.is_unfinished = False

    def _apply(self, plan, is_again=False):
        held, tree = self.held, self.tree
        tree.forget()
        self.names = None
        self.has_trash, self.into = False, self.trash.of(plan["generation"])
        if is_again:
            self.put_back_all(plan)
        for path, inode in plan["trash"]:
            self._to_trash(path, inode)
        stayed = [path for path in plan["delete"] if not self._delete(path)]
        for folder in plan["vanish"]:
            tree.remove_folder(folder.encode("utf-8").split(b"/"))
            held.unmade(folder)
        late = self._write_all(plan["write"])
        held.made(plan["make"])
        for path in plan["forget"]:
            held.drop(path)
        for path, kind, x, size, content in plan.get("hold", ()):
            held.hold(path, [kind, x, size, content])
        self.prune(plan["delete"])
        tree.forget()
        held.generation = plan["generation"]
        held.is_dirty = True
        kept = [path for path in in_order(set(plan["forget"]).difference(plan["delete"]).union(stayed)) if self._is_there(path)]
        answer = {"generation": held.generation, "root": held.root, "late": late, "kept": kept[:1000]}
        if self.has_trash:
            answer["trash"] = os.fsdecode(self.into)
            self.trash.counted.pop(b"G%d" % plan["generation"], None)
            self.surplus = self.trash.surplus(plan["generation"])
            answer["emptied"] = [name.decode("ascii") for name in self.surplus]
        answer["kept_in"] = self.trash.contents()
        return answer

    def _delete(self, path):
        """Whether nothing of it stays."""
        parts = path.encode("utf-8").split(b"/")
        live = self.held.live(self.tree, path, parts)
        if live.kind in ("absent", "blocked"):
            return True
        if not self.held.is_ours(path, live):
            return False
        aside = self.stage.before(path)
        try:
            os.rename(parts[-1], aside, src_dir_fd=self.tree.folder(parts[:-1]))    # then it is seen what this is
        except FileNotFoundError:
            return not self._is_there(path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self.tree.remove(parts)     # a mount inside the tree
        if not self._is_spared(aside, live, path):
            return False
        self.tree.remove_bytecode(parts)
        return True

    def prune(self, deleted):
        """Folders that we made and that are empty now go."""
        folders = set()
        for path in deleted:
            folders.update(parent for parent in parents_of(path) if parent in self.held.folders)
        for folder in reversed(in_order(folders)):
            if self.tree.remove_folder(folder.encode("utf-8").split(b"/")):
                self.held.unmade(folder)

    def _to_trash(self, path, inode):
        """Moves files that gpush did not write out of the way; after a crash it is in the trash already, and another inode is in its place."""
        parts = path.encode("utf-8").split(b"/")
        try:
            if self._inode(path) == inode:
                self._rename(parts, self._name_in_trash(parts))
        except Blocked:
            pass

    def _name_in_trash(self, parts):
        self.has_trash = True
        target = os.path.join(self.into, *parts)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        return target + b".%d" % time.time() if os.path.lexists(target) else target

    def _rename(self, parts, target):
        folder = self.tree.folder(parts[:-1])
        try:
            os.rename(parts[-1], target, src_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # A mount inside the tree: it stays where it is under another name.
            os.rename(parts[-1], parts[-1] + b".gpush-trash-%d" % time.time(), src_dir_fd=folder, dst_dir_fd=folder)
        self.tree.forget()

    def _write_all(self, writes):
        """Returns the paths that were changed between PREPARE and now; these files stay."""
        uses = {}
        for write in writes:
            uses[write[4]] = uses.get(write[4], 0) + 1
        late = []
        for write in sorted(writes, key=lambda write: write[0].encode("utf-8")):
            path, kind, x, size, content = write
            parts = path.encode("utf-8").split(b"/")
            uses[content] -= 1
            try:
                live = self.held.live(self.tree, path, parts, size)
                if live.is_content(kind, content):
                    stamp = self._set_mode(parts, x) if kind == FILE and live.x != x else live.stamp
                elif (live.kind == "absent" or live.kind in (FILE, LINK) and self.held.is_ours(path, live)
                      or live.kind == "folder" and self.tree.remove_folder(parts)):     # empty, and made after PREPARE
                    stamp = self._place(write, parts, live, uses[content] > 0)
                else:
                    stamp = None
            except Blocked:
                stamp = None
            if stamp is None:
                late.append(path)
            self.held.put(path, [kind, x, size, content, stamp])
            if self.names is not None and kind == FILE:
                self.names.setdefault(content, []).append(path)
        return late

    def _set_mode(self, parts, x):
        fd = self.tree.open_file(parts)
        try:
            os.fchmod(fd, self.mode(x))
            return stamp_of(os.fstat(fd))
        finally:
            os.close(fd)

    umask = None

    def mode(self, x):
        if self.umask is None:
            self.umask = os.umask(0o077)
            os.umask(self.umask)
        return (0o777 if x else 0o666) & ~self.umask

    def _place(self, write, parts, live, is_used_again):
        path, kind, x, _, content = write
        self.tree.folder(parts[:-1], make=True)
        if kind == LINK:
            source = self.stage.of("link-%d" % os.getpid())
            unlink(source)
            os.symlink(content.encode("utf-8"), source)
        else:
            source = self._source(content, x, is_used_again)
            if source is None:
                return None
            self._date(source, parts, live)
        before = os.lstat(source)
        folder = self.tree.folder(parts[:-1])
        aside = None if live.kind in ("absent", "folder") else self.stage.before(path)
        is_new = aside is None or not name_twice(folder, parts[-1], aside, live.stamp[:2])
        if not place(source, folder, parts[-1], is_new) or not is_new and not self._is_spared(aside, live, *write):
            return None
        after = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            return [0, 0, 0, 0]  # it was changed just now, so no stamp proves its content
        return stamp_of(after)

    def _source(self, content, x, is_used_again):
        """A staged file that may be moved away, with its mode."""
        source = self.stage.of(content)
        if not self.stage.has(content) and not self._obtain(content):
            return None
        if is_used_again:
            source = self.stage.of("copy-%d" % os.getpid())
            unlink(source)      # it may have a name in the tree, too, since a commit that was cut off
            with open(self.stage.of(content), "rb") as file:
                copy_file(file.fileno(), source, 0o600)
        else:
            self.stage.verified.discard(content)
        os.chmod(source, self.mode(x))
        return source

    def _date(self, source, parts, live):
        """The node's clock, and later than before. Python looks at whole seconds and the size: where neither moves, its cache goes."""
        now = int(time.time() * 1e9)
        if live.kind == FILE:
            old = live.stamp[1]
            if os.stat(source).st_size == live.stamp[0] and now // 1000000000 <= old // 1000000000:
                self.tree.remove_bytecode(parts)
            now = max(now, old + 1)
        os.utime(source, ns=(now, now))

    def _is_spared(self, aside, live, *write):
        """Whether what was there is as it was looked at, and is gone; else it is put back. Through its second name its ctime is another one, and
        its inode, too, on some file systems."""
        there = look(None, aside)
        if there is None:
            return True     # a file system without hard links
        if stamp_of(there)[:2] == live.stamp[:2]:
            unlink(aside)
            return True
        self._put_back(aside, *write)
        return False

    def _put_back(self, aside, path, kind=None, _=0, size=None, content=None):
        """Gives a save its name back, unless a later one has that: then it goes to the trash. The rest is what this commit writes there."""
        parts = path.encode("utf-8").split(b"/")
        try:
            is_written = self.held.live(self.tree, path, parts, size).is_content(kind, content)
            if place(aside, self.tree.folder(parts[:-1], make=True), parts[-1], not is_written):
                return
        except Blocked:
            pass
        os.rename(aside, self._name_in_trash(parts))

    def put_back_all(self, plan):
        """A crash may have left a save under its second name only; what gpush wrote goes."""
        self.into = self.trash.of(plan["generation"])
        stage = Tree(self.stage.folder)
        try:
            for write in plan["write"] + [[path] for path in plan["delete"]]:
                aside = self.stage.before(write[0])
                live = self.held.live(stage, write[0], [os.path.basename(aside)])
                if self.held.is_ours(write[0], live):
                    os.unlink(aside)
                elif live.kind != "absent":
                    self._put_back(aside, *write)
        finally:
            stage.close()
