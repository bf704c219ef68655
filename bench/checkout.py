#!/usr/bin/env python3
"""`git checkout` between two releases of a real project while gpush watches, on the laptop and on node 0 in turns, and a rebase on the
laptop: from the end of the command until every copy has the same, against rsync over one open connection to each copy.

Usage: bench/checkout.py [--package django] [--old 5.0] [--new 5.1] [--nodes 2] [--rounds 20] [--commits 100]
Fetches the wheels of the two releases with pip. Needs a built gpush and rsync. All trees are compared whole after each turn.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from sides import Gpush, Sshd
from switch import equal, git, releases

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 120.0           # seconds after which a copy is given up
LOOK = 0.002            # between two looks at the copies


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


class Ours:
    name = "gpush"

    def __init__(self, base, options):
        self.side = Gpush(os.path.join(ROOT, "gpush"), os.path.join(base, "gpush"), "--backend", "local", "--nodes", str(options.nodes))
        self.tree = self.side.project
        releases(base, self.tree, options.package, options.old, options.new)
        self.side.run("sync", "--yes", check=True)
        listed = subprocess.run((self.side.program, "nodes", "--json"), cwd=self.tree, env=self.side.env, stdout=subprocess.PIPE, check=True).stdout
        self.copies = [node["workspace"] for node in json.loads(listed)]
        end = time.time() + LIMIT
        while not holds(os.path.join(self.copies[0], ".git", "HEAD"), b"ref: refs/heads/new\n"):
            if time.time() > end:
                raise RuntimeError("node 0 never had the branch new")
            time.sleep(0.1)

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

    def close(self):
        subprocess.run(self.ssh.split() + ["-O", "exit", "rival"], stderr=subprocess.DEVNULL)
        self.sshd.close()


def turn(rival, where, held, *words):
    """Seconds from the end of a git command in the tree (or in node 0's copy) until every copy holds what it left there."""
    changed, others = (rival.tree, rival.copies) if where == "laptop" else (rival.copies[0], [rival.tree] + rival.copies[1:])
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
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--package", default="django")
    words.add_argument("--old", default="5.0")
    words.add_argument("--new", default="5.1")
    words.add_argument("--nodes", type=int, default=2)
    words.add_argument("--rounds", type=int, default=20)
    words.add_argument("--commits", type=int, default=100)
    options = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpush-checkout-") as base:
        rivals = [Ours(base, options)]
        try:
            rivals.append(Rsync(base, rivals[0].tree, options))
            compare(rivals, options)
        finally:
            for rival in rivals:
                rival.close()


def compare(rivals, options):
    tree = rivals[0].tree
    names = {"old": git(tree, "rev-parse", "old").decode().strip(), "new": git(tree, "rev-parse", "new").decode().strip()}
    held = {"old": contents(tree, "new", "old"), "new": contents(tree, "old", "new")}
    print("%s %s and %s, %d files differ, %d nodes, %d rounds, load %.1f; seconds from git's end, median (least to most)"
          % (options.package, options.old, options.new, len(held["new"]), options.nodes, options.rounds, os.getloadavg()[0]), flush=True)
    for where in ("laptop", "node 0"):
        times = {rival.name: [] for rival in rivals}
        for number in range(options.rounds):
            branch = "new" if number % 2 else "old"
            for rival in rivals if number % 4 < 2 else reversed(rivals):
                # By its commit on node 0, whose repository has the laptop's branch only.
                times[rival.name].append(turn(rival, where, held[branch], "checkout", "-q", branch if where == "laptop" else names[branch]))
        said("checkout on " + where.replace("laptop", "the laptop"), times)
    if not options.commits:
        return
    times = {rival.name: [] for rival in rivals}
    for rival in rivals:
        commits(rival.tree, options.commits)
        before = git(rival.tree, "rev-parse", "work").decode().strip()
        rival.away()
        wait(rival.copies, contents(rival.tree, "new", "work"))
        begun = time.perf_counter()
        git(rival.tree, "rebase", "-q", "new")
        git_took = time.perf_counter() - begun
        times[rival.name].append(turn(rival, "laptop", contents(rival.tree, before, "work"), "status"))
        print("  git rebase itself, %s: %.1f s" % (rival.name, git_took))
    said("rebase of %d commits" % options.commits, times)


if __name__ == "__main__":
    sys.exit(main())
