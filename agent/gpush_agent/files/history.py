"""The builtin `history`: a git repository around the workspace of the editors' node, made and kept by the gateway from the one on the
laptop (docs/technical/history.md). One request on standard input, u32 length and JSON, then a pack if the gateway sends one; the answer
is one line of JSON, or a pack. Git itself does the work."""
import glob
import json
import os
import shutil
import struct
import subprocess

from ..core import filelock, moves
from ..core.wholefile import replace

MARK = "gpush.json"         # in .git: it is ours, and what we wrote last
LAPTOP = "refs/remotes/laptop/"
HEADS = "refs/heads/"
FEW = 100                   # objects that are unpacked; more stay a pack
PIECE = 1 << 18
MOST_HEADER = 64 << 20
LOCK_SECONDS = 10.0
ABSENT = ""                 # of a ref that is not there
ENVIRONMENT = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}


class Stopped(Exception):
    """Why the repository stays as it is, in words for the user."""


def main(args, fd_in, fd_out):
    with os.fdopen(fd_in, "rb", closefd=False) as source:
        try:
            asked = json.loads(exactly(source, struct.unpack(">I", exactly(source, 4))[0]).decode("utf-8"))
            repository = Repository(asked["root"])
            if asked["do"] == "give":
                return repository.give(asked, fd_out)
            answer = repository.take(asked, source) if asked["do"] == "take" else repository.look(asked.get("home"))
        except Stopped as stopped:
            answer = {"stopped": str(stopped)}
        except EOFError:
            return 1            # the gateway is gone
    os.write(fd_out, json.dumps(answer).encode("utf-8") + b"\n")
    return 0


def exactly(source, count):
    if count > MOST_HEADER:
        raise EOFError
    data = source.read(count)
    if len(data) < count:
        raise EOFError
    return data


def stamp(workspace):
    """Changes with every commit, checkout, reset and stash in the repository; empty without one. Costs a few looks, and no process."""
    found = []
    for name in (MARK, "HEAD", "logs/HEAD", "logs/refs/stash"):
        try:
            status = os.stat(os.path.join(workspace, ".git", name))
            found.append("%d-%d-%d" % (status.st_ino, status.st_size, status.st_mtime_ns))
        except OSError:
            found.append("")
    return ",".join(found) if found[0] else ""


def is_ours(workspace):
    return os.path.isfile(os.path.join(os.fsdecode(workspace), ".git", MARK))


def is_brought(workspace):
    """Whether it is a repository of gpush, of which the laptop has every commit."""
    try:
        return is_ours(workspace) and Repository(os.fsdecode(workspace)).is_home()
    except (Stopped, OSError):
        return False


def tracked(workspace):
    """The paths that git tracks in a repository of gpush, and the folders above them; None when git could not say it."""
    try:
        repository = Repository(os.fsdecode(workspace))
        listed = repository.git("ls-files", "-z") if is_ours(workspace) and repository.program else ""
    except (Stopped, OSError):
        return None
    found = set()
    for path in listed.split("\0"):
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return found


def is_in_the_way(there, name):
    """Whether git refuses a ref of this name beside the one that is there: fix beside fix/a, and the other way round."""
    return name.startswith(there + "/") or there.startswith(name + "/")


def remove(workspace):
    """When the node is given back: goes if the laptop has every commit. Else it stays, as all that gpush did not make."""
    try:
        if is_brought(workspace):
            shutil.rmtree(Repository(workspace).own)
    except (Stopped, OSError):
        pass                    # it is named as what was kept


class Repository:
    def __init__(self, root):
        self.root = root
        self.own = os.path.join(root, ".git")
        self.mark = os.path.join(self.own, MARK)
        self.program = shutil.which("git")
        self.environment = dict((name, value) for name, value in os.environ.items() if not name.startswith("GIT_"))
        self.environment.update(ENVIRONMENT)

    # ---- git

    def command(self, words):
        return [self.program, "-c", "gc.autoDetach=false", "-c", "core.hooksPath=/dev/null", "--git-dir", self.own, "--work-tree", self.root] + words

    def call(self, *words, given=b""):
        """(status, what it printed, the last line of what it said)."""
        process = subprocess.Popen(self.command(list(words)), env=self.environment, cwd=self.root, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(given)
        said = err.decode("utf-8", "replace").strip().splitlines()
        return process.returncode, out.decode("utf-8", "surrogateescape").rstrip("\n"), said[-1] if said else ""

    def git(self, *words, given=b""):
        """What git printed; Stopped when it failed."""
        status, out, said = self.call(*words, given=given)
        if status != 0:
            raise Stopped("git %s: %s" % (words[0], said or "status %d" % status))
        return out

    def commit_of(self, name):
        status, out, _ = self.call("rev-parse", "-q", "--verify", name + "^{commit}")
        return out if status == 0 else None

    def head(self):
        """The branch, or the commit where there is none."""
        status, out, _ = self.call("symbolic-ref", "-q", "HEAD")
        return out if status == 0 else self.commit_of("HEAD")

    # ---- what is there

    def look(self, home=None):
        """The refs that are there. `home`: commits that the gateway has by now."""
        if self.program is None:
            raise Stopped("it has no git")
        if not os.path.lexists(self.own):
            return {"made": False, "stamp": ""}
        if not is_ours(self.root):
            raise Stopped("it has a repository of its own there")
        if home is not None:
            self.save(dict(self.written(), home=home))
        refs, now = {}, stamp(self.root)        # before the look: what changes meanwhile changes the next one
        for line in self.git("for-each-ref", "--format=%(objectname) %(refname)").splitlines():
            value, _, name = line.partition(" ")
            refs[name] = value
        return {"made": True, "head": self.head(), "refs": refs, "apart": self.apart(), "shallow": self.shallow(),
                "first": self.written().get("first", False), "stamp": now}

    def apart(self):
        """Commits that no branch leads to: of stashes below the newest, and of tags that were made here. By the names that their refs get
        on the laptop."""
        _, stashes, _ = self.call("log", "-g", "--format=%H", "refs/stash")
        found = dict(("stash-" + commit[:10], commit) for commit in stashes.splitlines()[1:])
        written = self.written().get("refs", {})
        tags = [line.partition(" ") for line in self.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags").splitlines()]
        tags = [(name, value) for value, _, name in tags if written.get(name) != value]
        if tags:
            asked = "".join(value + "^{commit}\n" for _, value in tags)
            lines = self.git("cat-file", "--batch-check=%(objectname)", given=asked.encode("ascii")).splitlines()
            commits = [(name, line) for (name, _), line in zip(tags, lines) if " " not in line]     # "... missing": of a tree
            asked = "".join(commit + "\n" for _, commit in commits)
            alone = set(self.git("rev-list", "--stdin", "--not", "--branches", "--remotes", given=asked.encode("ascii")).splitlines())
            found.update((name[len("refs/"):], commit) for name, commit in commits if commit in alone)
        return found

    def shallow(self):
        try:
            with open(os.path.join(self.own, "shallow")) as lines:
                return lines.read().split()
        except OSError:
            return []

    def is_home(self):
        if self.program is None:
            return False
        home = set(self.written().get("home", []))
        commits = set(self.git("for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash").splitlines() + [self.commit_of("HEAD")])
        commits.update(self.apart().values())
        return all(each is None or each in home or self.git("for-each-ref", "--count=1", "--contains=" + each, LAPTOP) for each in commits)

    def give(self, asked, fd_out):
        revisions = "".join(each + "\n" for each in asked["want"] + ["^" + each for each in asked["have"]])
        process = subprocess.Popen(self.command(["pack-objects", "--revs", "--thin", "--stdout", "-q", "--delta-base-offset"]),
                                   env=self.environment, cwd=self.root, stdin=subprocess.PIPE, stdout=fd_out, stderr=subprocess.DEVNULL)
        process.communicate(revisions.encode("ascii"))
        return process.returncode

    # ---- what the laptop has

    def take(self, asked, source):
        if self.program is None:
            raise Stopped("it has no git")
        self.make(asked)
        lock = filelock.take(os.path.join(self.own, "gpush.lock"), LOCK_SECONDS)
        if lock is None:
            raise Stopped("another gateway writes it")
        try:
            self.objects(source, asked.get("pack"))
            self.settings(asked)
            written, before = self.written(), self.written()
            self.write_refs(asked["refs"], written.get("refs", {}))
            written.update(refs=asked["refs"], home=asked.get("home", []), first=asked.get("first", False))
            if written != before:       # else the stamp stays, and what stops the rest is not tried at each question
                self.save(written)
            written.update(self.follow(asked, written))
            self.save(written)
        finally:
            os.close(lock)
        return self.look()

    def make(self, asked):
        if os.path.lexists(self.own) and not is_ours(self.root):
            raise Stopped("it has a repository of its own there")
        if not os.path.lexists(self.own):
            os.mkdir(self.own)
            self.save({})       # first, so that one that is cut off here is known as ours
        if not os.path.exists(os.path.join(self.own, "HEAD")):
            self.git("-c", "init.defaultBranch=main", "init", "-q", "--template=")

    def written(self):
        try:
            with open(self.mark) as there:
                return json.load(there)
        except ValueError:
            return {}           # cut off: as if we had written nothing

    def save(self, written):
        replace(self.mark, json.dumps(written), 0o666)

    def objects(self, source, is_wanted):
        header = source.read(12)
        if not header and not is_wanted:
            return
        if len(header) < 12 or header[:4] != b"PACK":
            raise Stopped("the pack was cut off")
        before = self.unfinished()
        few = struct.unpack(">I", header[8:])[0] <= FEW
        process = subprocess.Popen(self.command(["unpack-objects", "-q"] if few else ["index-pack", "--stdin", "--fix-thin"]),
                                   env=self.environment, cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            piece = header
            while piece:
                process.stdin.write(piece)
                piece = source.read1(PIECE)
        except BrokenPipeError:
            pass                # it says why
        said = process.communicate()[1].decode("utf-8", "replace").strip().splitlines()
        if process.returncode != 0:
            new = [] if few else self.unfinished() - before
            if len(new) == 1:       # git leaves it for weeks, and the next try makes another one; of more, some are another git's
                moves.unlink(new.pop())
            raise Stopped("git: " + (said[-1] if said else "the pack cannot be read"))

    def unfinished(self):
        return set(glob.glob(os.path.join(glob.escape(self.own), "objects", "pack", "tmp_*")))

    def settings(self, asked):
        for name, value in asked["settings"].items():
            if self.call("config", "--local", "--get", name)[0] != 0:
                self.git("config", "--local", name, value)
        for name, lines in (("shallow", asked["shallow"]), (os.path.join("info", "exclude"), asked["exclude"])):
            path = os.path.join(self.own, name)
            text = "".join(line + "\n" for line in lines)
            if text:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                replace(path, text, 0o666)
            elif os.path.exists(path):
                os.unlink(path)

    def write_refs(self, wanted, before):
        """The laptop's branches as those of a remote, its tags, and what it knows of its own remotes. What was moved here stays."""
        there = {}
        for line in self.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes", "refs/tags").splitlines():
            value, _, name = line.partition(" ")
            there[name] = value
        gone = [name for name in before if name not in wanted and there.get(name) == before[name]]
        self.update("delete %s\0\0" % name for name in gone)       # first: one transaction cannot delete fix and make fix/a
        stays = [name for name in there if name not in gone and name not in wanted]
        self.update("update %s\0%s\0\0" % (name, value) for name, value in wanted.items()
                    if there.get(name) != value and (name not in there or name.startswith(LAPTOP) or there[name] == before.get(name))
                    and not any(is_in_the_way(each, name) for each in stays))

    def update(self, lines):
        given = "".join(lines)
        if given:
            self.git("update-ref", "--no-deref", "-z", "--stdin", given=given.encode("utf-8", "surrogateescape"))

    def follow(self, asked, written):
        """Moves HEAD and its branch to where the laptop's are, unless they were moved here. Returns what is new in `written`."""
        head, tip, now = asked["head"], asked["tip"], self.head()
        known = dict(written.get("branches", {}))
        is_born = self.commit_of("HEAD")
        if is_born and now not in (head, written.get("head")):
            return {}           # another branch was checked out here
        if head.startswith("refs/"):
            branches = self.git("for-each-ref", "--format=%(refname)", "refs/heads").splitlines()
            old = self.commit_of(head)
            gone = dict((name, self.commit_of(name)) for name in branches if is_in_the_way(name, head))
            if old not in (None, tip, known.get(head)) and self.call("merge-base", "--is-ancestor", old, tip)[0] != 0:
                return {}       # commits were made here, which the laptop does not have yet
            for name, value in gone.items():
                if value != known.pop(name, None):      # it was made here, or has commits that were
                    raise Stopped("its branch %s is in the way of %s" % (name[len(HEADS):], head[len(HEADS):]))
            known[head] = tip
        if is_born != tip:
            self.index(is_born, tip)
        message = ["-m", "gpush: as on the laptop"]
        try:                    # each only from what was seen: the user may commit at this moment
            if not head.startswith("refs/"):
                self.git("update-ref", *message + ["--no-deref", "HEAD", tip, is_born or ABSENT])
            elif old != tip:
                self.update("delete %s\0%s\0" % each for each in gone.items())
                self.git("update-ref", *message + [head, tip, old or ABSENT])
        except Stopped:
            if is_born and is_born != tip:
                self.call("read-tree", "-i", "-m", tip, is_born)
            raise
        if head.startswith("refs/") and now != head:
            self.git("symbolic-ref", *message + ["HEAD", head])
        return {"head": head, "branches": known}

    def index(self, old, new):
        """Moves the index along; what was added to it here stays. The files are not git's to write: they come with the saves."""
        status, _, said = self.call(*["read-tree", "-i", "-m"] + [each for each in (old, new) if each])
        if status != 0:
            raise Stopped("what was added to its index does not go with the new commit (%s)" % said)
