"""The builtin `files`: keeps the project's folder on this node as the gateway wants it (docs/technical/sync.md)."""
import base64
import hashlib
import io
import json
import os
import select
import struct
import zlib

from ..core.refused import Refused
from ..core.wholefile import write_all
from .commit import Commit
from .finder import Finder
from .manifest import GivesWay
from .patch import Patch
from .root import FILE
from .state import Held, OURS, Stage, State, code_of, facts_of, inflate, own_folder
from .tree import Blocked, Tree, is_executable, is_file, is_folder, is_gone, is_link, make_folders, missing_folders, parts_of
from .watch import Watch

TREE, HOLDS, INDEX, BLOB, PREPARE, PREPARED, COMMIT, COMMITTED, ABORT, ABORTED, CHECK, PULL, PULLED, FAILED, FIND, FOUND = range(1, 17)
WATCH, WATCHING, CHANGED, IGNORE = range(17, 21)
BY_PATH = (CHECK, PREPARE, PULL, FIND)     # of the folder that has the path at that moment, as ranks find it
MAX_MESSAGE = 1 << 20           # on the wire
MAX_TEXT = 16 << 20             # of one message once inflated
MAX_PIECE = 256 << 10           # of a content, inflated
INDEX_TEXT = 512 << 10          # an INDEX message is closed at this many characters: deflated it is always below MAX_MESSAGE
INDEX_ENTRIES = 4096
FOUND_ITEMS = 500               # of one folder, before it is seen whether the message is full
MAX_NAMES = 10000               # of a folder that is pulled
MAX_TOLD = 64 << 10             # bytes of the files that go with CHANGED
IDLE_S = 3.0                    # without a request: then the manifest may be written whole
HEAD = struct.Struct(">IB")


def main(args, stdin_fd, stdout_fd):
    """Serves one conversation until its end; the exit status."""
    conversation = Conversation(stdin_fd, stdout_fd)
    try:
        conversation.run()
        return 0
    except (EOFError, BrokenPipeError):
        return 0  # the gateway is gone: a prepared plan is not committed, a committed one is done
    finally:
        conversation.close()


class Input(io.RawIOBase):
    """Reads from a descriptor. While there is nothing to read, `idle` does other work; it returns as soon as there is something."""

    def __init__(self, fd, idle):
        io.RawIOBase.__init__(self)
        self.fd = fd
        self.idle = idle

    def readable(self):
        return True

    def readinto(self, target):
        self.idle(self.fd)
        data = os.read(self.fd, len(target))
        target[:len(data)] = data
        return len(data)


def is_readable(fd, seconds=0):
    """Within that time."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def blob_of(head, piece, is_last):
    packed = zlib.compress(piece, 1)
    is_packed = len(packed) < len(piece) * 9 // 10
    return head + bytes([(1 if is_packed else 0) | (2 if is_last else 0)]) + (packed if is_packed else piece)


class Conversation:
    """Requests are answered one by one, in order; BLOB and IGNORE have no answer. WATCHING and CHANGED come between answers."""

    def __init__(self, stdin_fd, stdout_fd):
        self.input = io.BufferedReader(Input(stdin_fd, self.idle), MAX_PIECE)
        self.out = stdout_fd
        self.tree = None
        self.state = None
        self.finder = None
        self.watch = None
        self.partial = None     # PREPARE messages that came so far
        self.patch = None       # of a content, with its hash
        self.has_committed = False      # since the manifest was written whole
        self.is_open = False    # TREE was answered: the gateway knows of another folder
        self.is_over = False

    def run(self):
        while not self.is_over:
            head = self.input.read(HEAD.size)
            if len(head) < HEAD.size:
                raise EOFError()
            length, kind = HEAD.unpack(head)
            if length > MAX_MESSAGE:
                return self.send(FAILED, {"code": "protocol", "facts": {"detail": "%d bytes" % length}, "fatal": True})
            payload = self.input.read(length)
            if len(payload) < length:
                raise EOFError()
            self.handle(kind, payload)

    def close(self):
        if self.watch:
            self.watch.close()
        if self.tree:
            self.tree.close()
            self.tree = None
        if self.state:
            self.state.close()
            self.state = None

    def handle(self, kind, payload):
        try:
            if self.tree is None and kind != TREE:
                raise Refused("protocol", {"detail": "message %d before TREE" % kind})
            handler = self.HANDLERS.get(kind)
            if handler is None:
                raise Refused("protocol", {"detail": "message %d" % kind})
            if kind in BY_PATH and not self.tree.is_at_root():
                raise EOFError()    # the gateway begins another conversation, with the folder that is there now
            handler(self, payload)
        except Refused as refused:
            self.fail(kind, refused.code, refused.facts)
        except Blocked:
            self.fail(kind, "not-found", {})
        except (EOFError, BrokenPipeError):
            raise
        except OSError as error:
            path = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
            self.fail(kind, code_of(error), facts_of(error, path))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            self.fail(kind, "protocol", {"detail": "%s: %s" % (type(error).__name__, error)})
        if self.tree:
            self.tree.forget()

    def fail(self, kind, code, facts):
        if self.state and kind in (PREPARE, COMMIT, ABORT):
            self.partial = None
            self.state.unlock()
        if kind == PREPARE and code == "no-space":
            self.stage.drop()
        fatal = kind == TREE or code == "protocol"
        if kind == PREPARE and not fatal and code in ("no-space", "read-only", "denied", "limit", "failed"):
            self.send(PREPARED, {"code": code, "facts": facts})
        else:
            self.send(FAILED, {"code": code, "facts": facts, "fatal": fatal})
        self.is_over = fatal

    # ---- between messages

    def idle(self, fd):
        """Before each read of a message or a part of it: returns when there is something to read."""
        if self.has_committed and not self.state.locked and self.held.has_long_log():
            wait = self.watch.wait if self.watch else is_readable
            if not wait(fd, IDLE_S):
                self.shorten(lambda: not is_readable(fd) and not (self.watch and self.watch.is_due()))
        if self.watch:
            self.watch.wait(fd)

    def shorten(self, is_wanted):
        """The manifest's log becomes part of the whole; later, when there is something else to do. On a shared file system only the node
        that writes does it."""
        try:
            self.state.lock(wait=0)
            self.held.load()
            self.held.save_whole(is_wanted, self.held.at)       # no file was looked at
            self.has_committed = False
        except GivesWay:
            pass
        except (Refused, OSError):
            self.has_committed = False      # the log has room left; the next commit lets it try again
        finally:
            self.state.unlock()

    # ---- messages out

    def send(self, kind, value):
        self.send_bytes(kind, json.dumps(value, separators=(",", ":")).encode("ascii"))

    def send_bytes(self, kind, payload):
        write_all(self.out, HEAD.pack(len(payload), kind) + payload)

    def send_holds(self, known, paths=None):
        """HOLDS and INDEX: all entries, or only those (of these paths) that are not as written when the gateway knows our manifest."""
        held = self.held
        is_all = known != held.root
        self.send(HOLDS, {"generation": held.generation, "root": held.root, "token": {"mine": self.token, "seen": self.seen()},
                          "all": is_all, "staged": self.stage.staged(), "folds": self.folds,
                          "trash": self.commit.trash.contents(), "another": held.generation == self.another and held.generation > 0})
        items, size, is_whole = [], 0, is_all or paths is None
        for path, state, now in held.survey(self.tree, None if is_all else paths):
            is_whole = is_whole and state == OURS
            if not is_all and state == OURS:
                continue
            items.append([path] + held.entries[path][:4] + [state, now])
            size += len(path) + 128
            if len(items) == INDEX_ENTRIES or size > INDEX_TEXT:
                self.send_index(items, False)
                items, size = [], 0
        self.send_index(items, True)
        if is_whole and self.another is not None and self.is_open:
            self.another = None
            self.tree.remember(self.state, self.node, None)
        if held.unsaved and self.state.alone() and held.file.is_known():
            try:
                self.commit.save()
            except OSError:
                pass  # the answer is given: on a full disk the stamps are only not remembered

    def send_index(self, items, is_last):
        self.send_packed(INDEX, {"entries": items, "last": is_last})

    def send_packed(self, kind, value):
        self.send_bytes(kind, zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"), 1))

    def seen(self):
        """The tokens of the nodes that share this folder: a node that sees another's token shares a file system with it."""
        try:
            return sorted(os.fsdecode(name) for name in os.listdir(self.state.of(b"tokens")))
        except OSError:
            return []

    # ---- messages in

    def on_tree(self, payload):
        if self.tree:
            raise Refused("protocol", {"detail": "a second TREE"})
        want = json.loads(payload.decode("utf-8"))
        for path in (want["root"], want["state"]):
            if not path.startswith("/") or "\0" in path:
                raise Refused("bad-path", {"path": path})
        self.root = os.fsencode(want["root"].rstrip("/") or "/")
        above = make_folders(os.path.dirname(os.fsencode(want["state"])))
        self.state = State(want["state"])
        self.state.lock(to_read=True)
        self.node = int(want["node"])
        self.write_token(self.node)
        self.folds = self.state.names_fold()
        self.held = Held(self.state)
        self.held.load()
        self.make_root(above)
        self.tree = Tree(self.root)
        own = own_folder(self.root, self.state.path)
        self.stage = Stage(os.path.join(own, b"stage"))
        self.commit = Commit(self.tree, self.state, self.held, self.stage, own)
        self.finder = Finder(self.tree, self.state, self.held)
        if above or self.commit.was_interrupted():
            self.state.unlock()
            self.state.lock()
            self.held.load()
            self.commit.roll_forward()
        self.another = self.tree.another_since(self.held, self.node)
        self.note_above(above)
        self.send_holds(want.get("known"))
        self.tree.all_read(self.held, self.node, self.another)
        self.is_open = True
        self.state.unlock()

    def make_root(self, above):
        """What was in a folder that is gone was not deleted: it is filled like that of a new node. It is forgotten first, so that no failure
        leaves an empty folder and a manifest. One that cannot be looked at, as of a file server that is away, is not gone."""
        if is_gone(self.root):
            self.state.unlock()
            self.state.lock()
            self.held.load()
            if is_gone(self.root):
                self.state.remove(b"txn")
                if self.held.entries:
                    self.held.clear()
                self.make_noted(above)
        make_folders(self.root)

    def make_noted(self, above):
        self.note_above(above)
        before = self.held.above
        self.note_above([os.fsdecode(path) for path in missing_folders(self.root)])
        try:
            make_folders(self.root)
        except OSError:
            self.held.above = before        # a user may make them
            self.held.save()
            raise

    def note_above(self, folders):
        """Those are removed with the rest. The root's are noted before they are made, so that a crash leaves none."""
        new = [path for path in folders if path not in self.held.above]
        if new:
            self.held.above = self.held.above + new
            self.held.save()

    def write_token(self, node):
        folder = self.state.of(b"tokens")
        os.makedirs(folder, 0o700, exist_ok=True)
        for name in os.listdir(folder):
            if name.startswith(b"%d-" % node):
                os.unlink(os.path.join(folder, name))
        self.token = "%d-%s" % (node, os.urandom(16).hex())
        os.close(os.open(os.path.join(folder, self.token.encode("ascii")), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def on_check(self, payload):
        want = json.loads(payload.decode("utf-8"))
        self.state.lock(to_read=True)
        try:
            self.load()
            self.send_holds(want.get("known"), want.get("paths"))
            if want.get("paths") is None:
                self.tree.all_read(self.held, self.node, self.another)
        finally:
            if self.commit.plan is None:
                self.state.unlock()

    def load(self):
        """With what is in a journal only. Where a file system has no locks, another node may be in the middle of that commit."""
        self.held.load()
        if not self.commit.is_left():
            return
        self.state.unlock()
        self.state.lock()
        self.held.load()
        if self.commit.is_unfinished or self.commit.is_left() and self.state.alone():
            try:
                self.commit.roll_forward()
            except OSError:
                if not self.held.is_dirty:
                    raise
                # On a full disk it is done, and not saved.

    def on_blob(self, payload):
        if len(payload) < 33:
            raise Refused("protocol", {"detail": "a blob of %d bytes" % len(payload)})
        flags = payload[32]
        data = payload[33:]
        if flags & 1:
            data = inflate(data, MAX_PIECE)
        name, is_last = payload[:32].hex(), bool(flags & 2)
        if self.patch is not None and not (flags & 4 and self.patch[0] == name):
            self.end_patch(False)       # the gateway could not read the rest of that file
        if not flags & 4:
            self.stage.receive(name, is_last, data)
            return
        if self.patch is None:
            self.patch = name, Patch(self.tree, lambda piece: self.stage.receive(name, False, piece))
        self.patch[1].add(data)
        if is_last:
            self.end_patch(True)

    def end_patch(self, is_last):
        (name, patch), self.patch = self.patch, None
        if patch.end() and is_last:
            self.stage.receive(name, True, b"")
        else:
            self.stage.cut()

    def on_prepare(self, payload):
        part = json.loads(inflate(payload, MAX_TEXT).decode("utf-8"))
        if self.partial is None:
            self.partial = part
        else:
            for name in ("write", "delete", "trash", "hold"):
                self.partial.setdefault(name, []).extend(part.get(name, ()))
        if part.get("more"):
            return
        want, self.partial = self.partial, None
        self.state.lock()
        self.held.load()
        answer = self.commit.prepare(want)
        if "ok" not in answer:
            self.state.unlock()
        if answer.get("code") == "no-space":
            self.stage.drop()  # frees the space of the stage on a full node
        self.send(PREPARED, answer)

    def on_commit(self, payload):
        plan, self.has_committed = self.commit.plan, False
        answer = self.commit.commit(json.loads(payload.decode("utf-8"))["generation"])
        self.send(COMMITTED, answer)
        try:
            self.commit.finish()
            self.has_committed = True
        except OSError:
            pass  # the journal stays until the manifest can be saved: the next look or PREPARE tries again
        self.state.unlock()
        if self.watch:
            self.watch.written(item[0] for item in plan["write"])

    def on_abort(self, payload):
        self.partial = None
        self.commit.abort()
        self.state.unlock()
        self.send(ABORTED, {})

    def on_find(self, payload):
        """Names that are not gpush's, in folders that are or in those that are named; in parts, a folder's names perhaps in several."""
        folders = json.loads(payload.decode("utf-8"))["folders"]
        if self.watch:
            self.watch.look_into(folders)       # first: what changes while they are listed is not missed
        self.state.lock(to_read=True)
        try:
            self.load()
            part, size = [], 0
            for folder, items, is_all, why in self.finder.find(folders):
                for at in range(0, max(len(items), 1), FOUND_ITEMS):
                    part.append([folder, items[at:at + FOUND_ITEMS], is_all, why])
                    size += sum(len(item[0]) + 128 for item in part[-1][1]) + len(folder)
                    if size > INDEX_TEXT:
                        self.send_packed(FOUND, {"folders": part, "last": False})
                        part, size = [], 0
            self.send_packed(FOUND, {"folders": part, "last": True})
        finally:
            if self.commit.plan is None:
                self.state.unlock()

    def on_pull(self, payload):
        path = json.loads(payload.decode("utf-8"))["path"]
        parts = [] if path == "" else parts_of(path)
        status = self.tree.look(parts) if parts else os.fstat(self.tree.fd)
        if is_folder(status):
            names = [name.decode("utf-8", "replace") for name in self.tree.names(parts)]
            self.send(PULLED, {"kind": "folder", "names": names[:MAX_NAMES], "all": len(names) <= MAX_NAMES})
        elif is_link(status):
            self.send(PULLED, {"kind": "link", "target": self.tree.read_link(parts) or ""})
        elif is_file(status):
            self.send_file(parts)
        else:
            self.send(PULLED, {"code": "not-found" if status is None else "other"})

    def send_file(self, parts):
        """The hash goes with the last piece: a large file is read only once."""
        fd = self.tree.open_file(parts)
        try:
            status = os.fstat(fd)
            self.send(PULLED, {"kind": "file", "x": is_executable(status), "size": status.st_size})
            digest = hashlib.sha256()
            piece = os.read(fd, MAX_PIECE)
            while True:
                digest.update(piece)
                after = os.read(fd, MAX_PIECE) if piece else b""
                self.send_bytes(BLOB, blob_of(bytes(32) if after else digest.digest(), piece, not after))
                if not after:
                    return
                piece = after
        finally:
            os.close(fd)

    def on_watch(self, _):
        """From now on says by itself when something changes that gpush does not write."""
        if self.watch:
            raise Refused("protocol", {"detail": "a second WATCH"})
        self.watch = Watch(self.tree, self.state, self.held, lambda by, why: self.send(WATCHING, {"by": by, "why": why}),
                           lambda paths: self.send(CHANGED, {"paths": paths, "root": self.held.root, "files": self.edited(paths)}))
        self.watch.begin()

    def edited(self, paths):
        """What CHECK and PULL answer of these files, if they are small: over a slow link nobody has to ask then."""
        files = []
        try:
            if not self.tree.is_at_root() or sum(self.tree.size(parts_of(path)) for path in paths) > MAX_TOLD:
                return []
            for path, _, now in self.held.survey(self.tree, paths):
                content = self.tree.small_file(parts_of(path), MAX_TOLD) if now and now[0] == FILE and now[3] else None
                if content is None or hashlib.sha256(content).hexdigest() != now[3]:
                    break           # it is no file, as gpush wrote it, or changes at this moment
                blob = blob_of(bytes.fromhex(now[3]), content, True)
                files.append({"path": path, "now": now, "blob": base64.b64encode(blob).decode("ascii")})
        except (OSError, Blocked):
            return []
        finally:
            self.tree.forget()
        return files if len(files) == len(paths) else []

    def on_ignore(self, payload):
        """What happens at these paths is not told; folders end with a slash."""
        if self.watch:
            self.watch.ignored = frozenset(json.loads(payload.decode("utf-8"))["paths"])

    HANDLERS = {TREE: on_tree, CHECK: on_check, BLOB: on_blob, PREPARE: on_prepare, COMMIT: on_commit, ABORT: on_abort, PULL: on_pull,
                FIND: on_find, WATCH: on_watch, IGNORE: on_ignore}
