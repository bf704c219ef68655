"""What becomes of the project's folder when the node is given back: what is gpush's goes, everything else stays and is named."""
import os
import shutil

from ..core.refused import Refused
from ..files import snapshot
from ..files.commit import Commit
from ..files.root import in_order
from ..files.state import Held, Stage, State, own_folder
from ..files.tree import Blocked, OWN, Tree, is_folder, parents_of, parts_of

MAX_KEPT = 1000     # names that are reported


def release(root, state):
    """Removes what is ours, then the empty folders, then the state folder. Returns what was kept: names below the root, full ones of trash."""
    kept = []
    try:
        if os.path.isdir(state):
            Release(root, state, kept).run()
        elif os.path.isdir(root) and os.listdir(root):
            kept.append(root)
    except (Refused, OSError, ValueError, Blocked) as error:
        kept.append("%s (%s)" % (root, getattr(error, "code", None) or error))
    return kept[:MAX_KEPT]


class Release:
    """Done step by step: what cannot be removed is kept and named."""

    def __init__(self, root, state, kept):
        self.root = os.fsencode(root)
        self.kept = kept
        self.state = State(state)
        self.held = Held(self.state)

    def run(self):
        try:
            self.state.lock()
        except Refused:
            pass  # a conversation that hangs must not keep the node
        self.held.load()
        above = list(self.held.above)
        own = None
        try:
            if os.path.isdir(self.root):
                snapshot.clean(self.root, self.state.path, (), is_last=True)
                own = own_folder(self.root, self.state.path)
                self.remove_ours(own)
        finally:
            self.state.close()
        for folder in set([own or self.state.path, self.state.path]):
            self.remove_own(folder)
        for folder in reversed(above):
            try:
                os.rmdir(folder)
            except OSError:
                pass  # it holds files that gpush did not write

    def remove_ours(self, own):
        tree = Tree(self.root)
        try:
            self.adopt_journal(tree, own)
            for path in in_order(self.held.entries):
                self.remove(tree, path)
            tree.forget()
            folders = set(self.held.folders)
            for path in self.held.entries:
                folders.update(parents_of(path))
            for folder in reversed(in_order(folders)):
                tree.remove_folder(folder.encode("utf-8").split(b"/"))
            self.name_rest(tree, [], folders)
        finally:
            tree.close()

    def adopt_journal(self, tree, own):
        """After a commit that was cut short, the files that it had written are gpush's; a save that it had moved aside is not."""
        plan = self.state.read(b"txn")
        if plan is None:
            return
        Commit(tree, self.state, self.held, Stage(os.path.join(own, b"stage")), own).put_back_all(plan)
        self.held.made(plan["make"])
        for path, kind, x, size, content in plan["write"]:
            old = self.held.entries.get(path)
            live = self.held.live(tree, path, parts_of(path), size)
            if old is None or live.is_content(kind, content):
                self.held.put(path, [kind, x, size, content, None])

    def remove(self, tree, path):
        try:
            parts = parts_of(path)
            if self.held.is_ours(path, self.held.live(tree, path, parts)):
                tree.remove(parts)
                tree.remove_bytecode(parts)
        except (OSError, Refused, Blocked):
            pass  # still there: the walk below names it

    def name_rest(self, tree, parts, folders):
        """Names what is left; a folder that was never ours is named as one."""
        for name in tree.names(parts):
            child = parts + [name]
            path = b"/".join(child).decode("utf-8", "replace")
            if len(self.kept) >= MAX_KEPT or child == [OWN]:
                continue
            try:
                has_names = is_folder(tree.look(child))
                if has_names and path in folders:
                    self.name_rest(tree, child, folders)
                else:
                    self.kept.append(path + "/" if has_names else path)
            except (OSError, Blocked):
                self.kept.append(path)

    def remove_own(self, folder):
        """Removes the state; the user's files in the trash stay, and so do results of runs, also those that could not be brought home."""
        stays = []
        for name in (b"trash", b"outputs"):
            self.keep_full(os.path.join(folder, name))
            if os.path.isdir(os.path.join(folder, name)):
                stays.append(name)
        left = snapshot.names_left(os.path.join(folder, b"snapshots"))
        if left:
            stays.append(b"snapshots")
            self.kept += [os.fsdecode(path) for path in left[:max(0, MAX_KEPT - len(self.kept))]]
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            if name in stays:
                continue
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        try:
            os.rmdir(folder)
        except OSError:
            if not stays and os.path.isdir(folder):
                self.kept.append(os.fsdecode(folder))

    def keep_full(self, top):
        for folder, folders, files in os.walk(top, topdown=False):
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for name in files + links:
                if len(self.kept) < MAX_KEPT:
                    self.kept.append(os.fsdecode(os.path.join(folder, name)))
            if not files and not links:
                try:
                    os.rmdir(folder)
                except OSError:
                    pass  # not empty
