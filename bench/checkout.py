#!/usr/bin/env python3
"""`git checkout` between two releases of a real project while gpush watches, and a rebase, on the laptop and on node 0: from the end of the
command until every copy has the same, against rsync over one open connection to each copy.

Usage: bench/checkout.py [--package django] [--old 5.0] [--new 5.1] [--nodes 2] [--rounds 20] [--commits 100]
Fetches the wheels of the two releases with pip. Needs a built gpush and rsync. After each turn all trees are compared whole, and after a
rebase also the branch, which gpush brings along and rsync does not.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from sides import Gpush, Sshd
from switch import equal, git, releases, words

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 120.0           # seconds after which a copy is given up
LOOK = 0.002            # between two looks at the copies
SECOND = 1.1            # rsync takes a file of the same size and second for the same


def contents(project, one, other):
    """What the files that differ between two commits hold in the latter; None is no file."""
    held = {}
    for name in git(project, "diff", "--name-only", "--no-renames", "-z", one, other).decode().split("\0"):
        if name:
            shown = subprocess.run(["git", "-C", project, "show", "%s:%s" % (other, name)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            held[name] = shown.stdout if shown.returncode == 0 else None
    return held


def holds(path, content):
    try:
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return content is None


def wait(copies, held):
    """Until each copy holds all of it."""
    end = time.perf_counter() + LIMIT
    for copy in copies:
        for name, content in held.items():
            while not holds(os.path.join(copy, name), content):
                if time.perf_counter() > end:
                    raise RuntimeError("%s never had the %s that was checked out" % (copy, name))
                time.sleep(LOOK)


def wait_for(what, condition):
    end = time.perf_counter() + LIMIT
    while not condition():
        if time.perf_counter() > end:
            raise RuntimeError(what)
        time.sleep(0.1)


def tip(tree, name):
    """The commit of a branch; empty without one."""
    return subprocess.run(["git", "-C", tree, "rev-parse", "-q", "--verify", name], stdout=subprocess.PIPE).stdout.decode().strip()


def position(tree):
    """The branch and its commit."""
    branch = subprocess.run(["git", "-C", tree, "symbolic-ref", "-q", "--short", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return branch.stdout.decode().strip(), tip(tree, "HEAD")


class Ours:
    name = "gpush"

    def __init__(self, base, options):
        self.side = Gpush(os.path.join(ROOT, "gpush"), os.path.join(base, "gpush"), "--backend", "local", "--nodes", str(options.nodes))
        try:
            self.tree = self.side.project
            releases(base, self.tree, options)
            self.side.run("sync", "--yes", check=True)
            listed = subprocess.run((self.side.program, "nodes", "--json"), cwd=self.tree, env=self.side.env, stdout=subprocess.PIPE, check=True).stdout
            self.copies = [node["workspace"] for node in json.loads(listed)]
            self.follows()
        except BaseException:
            self.close()
            raise

    def follows(self):
        """Until node 0 is on the laptop's branch, at the same commit."""
        wait_for("node 0 does not follow the branch", lambda: position(self.copies[0]) == position(self.tree))

    def comes_home(self):
        """Until the laptop has node 0's branch."""
        branch, commit = position(self.copies[0])
        wait_for("node 0's branch does not come home", lambda: tip(self.tree, "refs/gpush/devbox/" + branch) == commit)

    def away(self):
        pass

    def back(self):
        pass

    def close(self):
        self.side.close()


class Rsync:
    name = "rsync"

    def __init__(self, base, ours, options):
        folder = os.path.join(base, "rsync")
        os.makedirs(folder)
        self.sshd = Sshd(folder)
        self.ssh = "ssh -F %s/ssh_config -o ControlMaster=auto -o ControlPath=%s/master -o ControlPersist=yes" % (folder, folder)
        self.tree = os.path.join(folder, "tree")
        self.copies = [os.path.join(folder, "copy%d" % number) for number in range(options.nodes)]
        shutil.copytree(ours, self.tree, symlinks=True)
        subprocess.run(self.ssh.split() + ["rival", "true"], check=True)
        for copy in self.copies:
            shutil.copytree(self.tree, copy, symlinks=True)
        self.run(self.begun(self.tree + "/", "rival:%s/" % copy) for copy in self.copies)

    def begun(self, source, target):
        return subprocess.Popen(["rsync", "-a", "--delete", "--exclude=.git", "-e", self.ssh, source, target])

    def run(self, processes):
        if any([process.wait() for process in list(processes)]):
            raise RuntimeError("rsync failed")

    def away(self):
        self.run(self.begun(self.tree + "/", "rival:%s/" % copy) for copy in self.copies)

    def back(self):
        self.run([self.begun("rival:%s/" % self.copies[0], self.tree + "/")])
        self.run(self.begun(self.tree + "/", "rival:%s/" % copy) for copy in self.copies[1:])

    def follows(self):
        """By hand: rsync leaves the repositories alone."""
        git(self.copies[0], "fetch", "-q", "--update-head-ok", self.tree, "+work:work")
        git(self.copies[0], "symbolic-ref", "HEAD", "refs/heads/work")
        git(self.copies[0], "reset", "-q")

    def comes_home(self):
        pass

    def close(self):
        subprocess.run(self.ssh.split() + ["-O", "exit", "rival"], stderr=subprocess.DEVNULL)
        self.sshd.close()


def turn(rival, where, held, *words):
    """Seconds from the end of a git command in the tree (or in node 0's copy) until every copy holds what it left there."""
    changed, others = (rival.tree, rival.copies) if where == "laptop" else (rival.copies[0], [rival.tree] + rival.copies[1:])
    time.sleep(SECOND)
    git(changed, *words)
    begun = time.perf_counter()
    rival.away() if where == "laptop" else rival.back()
    wait(others, held)
    took = time.perf_counter() - begun
    for other in others:
        if not equal(changed, other):
            raise RuntimeError("%s: %s and %s differ after git %s" % (rival.name, changed, other, " ".join(words)))
    return took


def commits(tree, count):
    """A branch of this many commits from old, to be moved onto new."""
    time.sleep(SECOND)
    git(tree, "checkout", "-q", "-b", "work", "old")
    for number in range(count):
        with open(os.path.join(tree, "work_%d.py" % (number % 40)), "a") as out:
            out.write("step = %d\n" % number)
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "-m", "step %d" % number)


def said(what, times):
    print("  %-28s %s" % (what, "   ".join("%s %.2f (%.2f to %.2f)" % (name, statistics.median(all_times), min(all_times), max(all_times))
                                           for name, all_times in times.items())), flush=True)
    if len(times) == 2:
        ours, theirs = (statistics.median(times[name]) for name in ("gpush", "rsync"))
        print("  %-28s gpush / rsync %.2f" % ("", ours / theirs), flush=True)


def main():
    parser = words(__doc__, 20)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--commits", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpush-checkout-") as base:
        rivals = [Ours(base, options)]
        try:
            rivals.append(Rsync(base, rivals[0].tree, options))
            checkouts(rivals, options)
            if options.commits:
                rebases(rivals, options)
        finally:
            for rival in rivals:
                rival.close()


def checkouts(rivals, options):
    tree = rivals[0].tree
    names = {"old": tip(tree, "old"), "new": tip(tree, "new")}
    held = {"old": contents(tree, "new", "old"), "new": contents(tree, "old", "new")}
    print("%s %s and %s, %d files differ, %d nodes, %d rounds, load %.1f; seconds from git's end, median (least to most)"
          % (options.package, options.old, options.new, len(held["new"]), options.nodes, options.rounds, os.getloadavg()[0]), flush=True)
    for where in ("laptop", "node 0"):
        times = {rival.name: [] for rival in rivals}
        for number in range((options.rounds + 1) // 2 * 2):
            branch = "new" if number % 2 else "old"
            for rival in rivals if number % 4 < 2 else reversed(rivals):
                # By its commit on node 0, whose repository has the laptop's branch only.
                times[rival.name].append(turn(rival, where, held[branch], "checkout", "-q", branch if where == "laptop" else names[branch]))
        said("checkout on %s, %d times" % (where.replace("laptop", "the laptop"), len(times["gpush"])), times)
    for rival in rivals:
        git(rival.copies[0], "checkout", "-q", "new")       # node 0 follows the laptop again


def rebases(rivals, options):
    """Of a branch from old to new on the laptop, and back on node 0."""
    tree = rivals[0].tree
    old, new = tip(tree, "old"), tip(tree, "new")
    for rival in rivals:
        commits(rival.tree, options.commits)
        rival.away()
    made = contents(tree, old, "work")
    for where, base, other in (("laptop", new, old), ("node 0", old, new)):
        held = dict(contents(tree, other, base), **made)
        times = {rival.name: [] for rival in rivals}
        for rival in rivals:
            wait(rival.copies, dict(contents(tree, base, other), **made))
            rival.follows()
            times[rival.name].append(turn(rival, where, held, "rebase", "-q", "--onto", base, other))
        said("rebase of %d commits on %s" % (options.commits, where.replace("laptop", "the laptop")), times)
    for rival in rivals:
        rival.comes_home()


if __name__ == "__main__":
    sys.exit(main())
