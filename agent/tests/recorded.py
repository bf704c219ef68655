"""A recorded tree in place of a machine: files below its root, and the answers of kernel and programs in one file beside
them. The tests' trees (docs/technical/fabric.md) are read by it, with the same code as real machines. AgentGang of the
module launch sends it to agents, too."""
import errno
import json
import os

from gpush_agent.fabric.reader import Reader

ANSWERS = ".answers.json"


class Tree(Reader):
    """Files below a root; all else is this machine's."""

    def __init__(self, root, session=None, home=""):
        Reader.__init__(self, session, home)
        self.root = root

    def at(self, path):
        return os.path.join(self.root, path)

    def resolved(self, path):
        real, root = os.path.realpath(self.at(path)), os.path.realpath(self.root)
        return real[len(root):].lstrip("/") if real.startswith(root) else ""


class Recorded(Tree):
    def __init__(self, root, session=None, home=""):
        Tree.__init__(self, root, session, home)
        with open(os.path.join(root, ANSWERS), encoding="utf-8") as file:
            self.answers = json.load(file)
        self.session.update(self.answers.get("session", {}))
        self.home = self.answers.get("home", self.home)

    def open(self, path):
        self.fail(path)
        return Reader.open(self, path)

    def listed(self, path, normal=()):
        try:
            self.fail(path)
        except OSError as error:
            self.cannot_read(path, error, normal)
            return []
        return Reader.listed(self, path, normal)

    def fail(self, path):
        """As the kernel fails there; by the path as it is asked for, or as it is without links."""
        errors = self.answers.get("errors", {})
        name = errors.get(path) or errors.get(self.resolved(path))
        if name:
            raise OSError(getattr(errno, name), name, path)

    def device(self, path):
        if not self.exists(path):
            return "missing"
        name = self.answers.get("errors", {}).get(path)
        return self.closed(path, getattr(errno, name)) if name else "open"

    def addresses(self):
        return self.answers.get("addresses", {})

    def route(self, peer, addresses):
        found = self.answers.get("routes", {}).get(peer)
        if found is None:
            self.cannot("route to " + peer, "ENETUNREACH")
            return None
        return found[0]

    def find(self, name):
        return name

    def run(self, *commands):
        return [self.output(" ".join(command)) for command in commands]

    def output(self, name):
        found = self.answers.get("commands", {}).get(name)
        if found is None:
            return None         # there is no such program here
        why = found.get("why")
        if why is not None:
            self.cannot(name, why)
        return found.get("text", "") if why is None or why.startswith("exit ") else None

    def sourced(self, path, environment):
        text = self.output("source /" + path)
        return dict(environment, **dict(line.partition("=")[::2] for line in (text or "").splitlines() if "=" in line))
