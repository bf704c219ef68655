"""The manifest on disk: `manifest.json`, whole, and `manifest.log` with what has changed since, a line for each save, so that a save
of one file does not write all of them. Only the holder of the folder's lock writes."""
import json
import os

from ..core.wholefile import write_all
from .tree import stamp_of

WHOLE, LOG = b"manifest.json", b"manifest.log"
LEAST_LOGGED = 64           # entries that a log may always have; beyond, half as many as the manifest
VERSION = 2


def pack(value):
    return json.dumps(value, separators=(",", ":"))


class ManifestFile:
    def __init__(self, state):
        self.state = state
        self.ident = None       # of the whole file that we know; a log is of one
        self.logged = None      # entries in the log; None: it must not be continued
        self.stamps = None      # of both files as we know them

    def is_known(self):
        return self.stamps == self.look()

    def look(self):
        return self.stamp(WHOLE), self.stamp(LOG)

    def stamp(self, name):
        try:
            return stamp_of(os.stat(self.state.of(name)))
        except FileNotFoundError:
            return None

    def load(self):
        """(manifest, when it was saved by the clock of the file system); of a log's last line that is not complete nothing is used:
        its journal is still there."""
        self.stamps = self.look()
        value = self.state.read(WHOLE) or {}
        value["entries"] = dict((item[0], item[1:]) for item in value.get("entries", []))
        value["folders"] = set(value.get("folders", []))
        self.ident, self.logged = value.get("id"), 0
        at = self.stamps[0][1] if self.stamps[0] else 0
        for change in self.changes():
            self.logged += apply(value, change)
            at = max(at, self.stamps[1][1])
        return value, at

    def changes(self):
        if self.ident is None or self.stamps[1] is None:
            return
        try:
            with open(self.state.of(LOG), "rb") as file:
                lines = file.read().split(b"\n")
            if json.loads(lines[0].decode("utf-8")) != {"of": self.ident}:
                self.logged = None
                return                  # of a manifest that was written whole since
            changes = [json.loads(line.decode("utf-8")) for line in lines[1:-1]]
        except (OSError, ValueError):
            self.logged = None
            return
        for change in changes:
            yield change
        if lines[-1]:
            self.logged = None

    def save_whole(self, value):
        """Returns the moment by the file system's clock."""
        self.logged = None
        ident = os.urandom(8).hex()
        at = self.state.write(WHOLE, pack(dict(value, version=VERSION, id=ident)))
        try:
            os.unlink(self.state.of(LOG))
        except FileNotFoundError:
            pass
        self.ident, self.logged, self.stamps = ident, 0, self.look()
        return at

    def has_room(self, changed, entries):
        """Whether so many changed entries may be added to the log. `entries`: how many the manifest has."""
        return self.ident is not None and self.logged is not None and self.logged + changed <= max(LEAST_LOGGED, entries // 2)

    def append(self, change):
        """As `save_whole`, with {"generation", "put": [[path] + entry], "drop": [path], "made": [folder], "gone": [folder]}."""
        logged, self.logged = self.logged, None         # until it is complete
        lines = [change] if self.stamps[1] else [{"of": self.ident}, change]
        text = "".join(pack(line) + "\n" for line in lines)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        fd = os.open(self.state.of(LOG), flags, 0o600)
        try:
            write_all(fd, text.encode("utf-8"))
            at = os.fstat(fd).st_mtime_ns
        finally:
            os.close(fd)
        self.logged, self.stamps = logged + len(change["put"]) + len(change["drop"]), self.look()
        return at


def apply(value, change):
    """Returns how many entries it has."""
    for item in change["put"]:
        value["entries"][item[0]] = item[1:]
    for path in change["drop"]:
        value["entries"].pop(path, None)
    value["folders"].update(change["made"])
    value["folders"].difference_update(change["gone"])
    value["generation"] = change["generation"]
    return len(change["put"]) + len(change["drop"])
