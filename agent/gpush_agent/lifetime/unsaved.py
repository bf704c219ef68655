"""What exists only on this node: files of the workspace that were not sent, or that differ from what was sent, and results of
runs, also those in their snapshots. Needed before a node is released whose disk ends with it. Reads only; changes during the walk may be missed."""
import os
import time

from ..core.refused import Refused
from ..files import history, snapshot
from ..files.state import Held, State
from ..files.trash import Trash
from ..files.tree import Blocked, OWN, Tree, parts_of

MOST_NAMED = 8
MOST_FILES = 200000     # then it is enough to know that there are many
SECONDS = 20.0
MADE_AGAIN = frozenset((b"__pycache__", OWN))


def look(workspace, state):
    """{"files": n, "bytes": n, "paths": [...], "whole": bool, "trash": [...]}; `whole` is false when there was too much to read. What a
    user has replaced is not counted among these; of each trash that has something {"files": n, "bytes": n, "tar": text or None}."""
    found = Found()
    if state and os.path.isdir(state):
        found.outputs(os.path.join(os.fsencode(state), b"outputs"))
        found.snapshots(os.path.join(os.fsencode(state), b"snapshots"))
    if workspace and os.path.isdir(workspace):
        found.snapshots(os.path.join(os.fsencode(workspace), OWN, b"snapshots"))
        found.workspace(os.fsencode(workspace), held(state))
    return {"files": found.files, "bytes": found.bytes, "paths": found.paths, "whole": found.whole, "trash": trashes(workspace, state)}


def trashes(workspace, state):
    found = []
    for own in ([os.fsencode(state)] if state else []) + ([os.path.join(os.fsencode(workspace), OWN)] if workspace else []):
        trash = Trash(own)
        there = trash.contents()
        if there["files"]:
            found.append({"files": there["files"], "bytes": there["bytes"], "tar": trash.packed()})
    return found


def held(state):
    if not state or not os.path.isdir(state):
        return None         # reading creates nothing
    try:
        sent = Held(State(state))
        sent.load()
        return sent
    except (Refused, OSError, ValueError):
        return None


class Found:
    def __init__(self):
        self.files, self.bytes, self.paths, self.whole = 0, 0, [], True
        self.looked, self.until = 0, time.monotonic() + SECONDS
        self.places = ()

    def add(self, path, name):
        self.files += 1
        try:
            self.bytes += os.lstat(path).st_size
        except OSError:
            pass
        if len(self.paths) < MOST_NAMED:
            self.paths.append(name.decode("utf-8", "replace"))

    def below(self, root):
        """(path, name below root) of every file."""
        brought = root if history.is_brought(root) else None
        for folder, folders, files in os.walk(root, onerror=lambda error: self.unread(error, root)):
            folders[:] = sorted(name for name in folders if name not in MADE_AGAIN and not (folder == brought and name == b".git"))
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for name in sorted(files) + links:
                self.looked += 1
                if self.looked > MOST_FILES or time.monotonic() > self.until:
                    self.whole = False
                    return
                path = os.path.join(folder, name)
                yield path, os.path.relpath(path, root)

    def unread(self, error, root):
        """What is in a folder that cannot be read is perhaps only there."""
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            self.add(error.filename, os.path.relpath(error.filename, root))

    def outputs(self, root):
        for path, name in self.below(root):
            self.add(path, b"outputs/" + name)

    def snapshots(self, place):
        """Of runs in progress, and what could not be brought home."""
        left = snapshot.Left(place)
        for path, name in self.below(place):
            if left.is_alone(name):
                self.add(path, b"snapshots/" + name)
        self.places += (place + b"/",)

    def workspace(self, root, sent):
        tree = Tree(root) if sent is not None else None
        try:
            for path, name in self.below(root):
                if (snapshot.target_of(path) or b"").startswith(self.places):
                    continue        # shows what is in a snapshot
                if tree is None or not self.is_sent(tree, sent, name):
                    self.add(path, name)
        finally:
            if tree is not None:
                tree.close()

    @staticmethod
    def is_sent(tree, sent, name):
        try:
            path = name.decode("utf-8")
            entry = sent.entries.get(path)
            return entry is not None and sent.is_ours(path, sent.live(tree, path, parts_of(path)))
        except (OSError, Refused, ValueError, Blocked):
            return False
