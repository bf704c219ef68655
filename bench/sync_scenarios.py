#!/usr/bin/env python3
"""What live sync promises, as ratios in one run, with a real project (Django 5.0, about 3,700 files):

    first    the first copy to one node through ssh, over each line, against rsync and unison
    nodes    the first copy to 8 and 64 nodes of this machine, against one node
    edit     from the save of one line to its bytes there: over the slow line `office`, and on 1, 8 and 64 nodes of this machine
    burst    300 files written at once, 1,000 new files, and their folder deleted: gpush by itself, against one run of rsync and of unison
    saves    1,000 saves on this machine, against mutagen

Usage: bench/sync_scenarios.py [--scenarios first,nodes,edit,burst,saves] [--rounds 5] [--edits 30] [--saves 1000] [--nodes 1,8,64]
                               [--lines loopback,office,far,dsl] [--mutagen PROGRAM]
Needs a built gpush, pip, ssh, sshd and rsync. Rivals that are not installed are left out and named.
Lines are slow.py, as ssh's ProxyCommand. Everything here goes over connections that are open before the clock starts; unison starts its
server through the open one. Rivals take turns (ABAB). A first copy starts with an empty folder on the node each time, and the session and
its gateway stay; the first round, when the gateway's JVM is cold, is shown apart and is not in the median. Trees are compared after each copy.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import types

import save
from sides import Gpush, Sshd
from switch import SLOW, equal, releases

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINES = {"loopback": None, "office": (20, 100), "far": (100, 100), "dsl": (20, 10)}     # round trip in ms, Mbit/s
LIMIT = 60.0            # seconds after which a change is given up
BURST, FOLDER = 300, 1000
OUTLIER = 10            # times the median


class Line:
    """An sshd on this machine that is reached over a line, with an open connection for rivals."""

    def __init__(self, base, name):
        self.name, self.keys = name, os.path.join(base, "sshd")
        os.makedirs(self.keys)
        self.sshd = Sshd(self.keys, "MaxSessions 100")
        self.config = os.path.join(self.keys, "ssh_config")
        if LINES[name]:
            with open(self.config, "a") as out:
                out.write(" ProxyCommand %s %s %g %g 127.0.0.1 %d\n" % ((sys.executable, SLOW) + LINES[name] + (self.sshd.port,)))
        self.words = ["-F", self.config, "-o", "ControlMaster=auto", "-o", "ControlPath=%s/master" % self.keys, "-o", "ControlPersist=yes"]
        subprocess.run(["ssh"] + self.words + ["rival", "true"], check=True)

    def close(self):
        subprocess.run(["ssh"] + self.words + ["-O", "exit", "rival"], stderr=subprocess.DEVNULL)
        self.sshd.close()


class Ours:
    """A session on nodes of this machine, or on one host over a line."""
    name = "gpush"

    def __init__(self, base, line=None, nodes=1):
        os.makedirs(os.path.join(base, "home"))
        words = ["--backend", "local", "--nodes", str(nodes)]
        if line:
            with open(os.path.join(base, "home", "config.yaml"), "w") as out:
                out.write("backends:\n  slow: {kind: ssh, hosts: [rival], ssh-config: %s, scratch: %s/scratch}\n" % (line.config, base))
            words = ["--backend", "slow", "--yes"]
        self.side = Gpush(os.path.join(ROOT, "gpush"), base, *words)
        self.tree = self.side.project
        self.copies = [node["workspace"] for node in json.loads(self.ask("nodes", "--json"))]
        self.ask("sync", "pause")

    def ask(self, *words):
        return subprocess.run((self.side.program,) + words, cwd=self.tree, env=self.side.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout

    def empty(self):
        clear(self.tree)
        self.ask("sync", "--yes")

    def send(self):
        self.ask("sync", "--yes")

    def live(self):
        self.ask("sync", "resume")

    def close(self):
        self.side.close()


class Rsync:
    def __init__(self, base, line, *flags):
        self.name = " ".join(("rsync",) + flags)
        self.tree, self.copies = os.path.join(base, "tree"), [os.path.join(base, "copy")]
        os.makedirs(self.tree)
        self.start = ["rsync"] + list(flags) + ["--delete", "-e", " ".join(["ssh"] + line.words)]

    def empty(self):
        clear(self.tree)
        shutil.rmtree(self.copies[0], True)

    def send(self, name=None):
        """All of the tree, or one path that is known to have changed."""
        words = self.start + [self.tree + "/", "rival:%s/" % self.copies[0]]
        if name:
            words = [word for word in self.start if word != "--delete"] + [os.path.join(self.tree, name), "rival:" + os.path.join(self.copies[0], name)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

    def live(self):
        pass

    def close(self):
        pass


class Unison(Rsync):
    def __init__(self, base, line):
        super().__init__(base, line)
        self.name, self.own, self.line = "unison", [os.path.join(base, "here"), os.path.join(base, "there")], line

    def empty(self):
        super().empty()
        os.makedirs(self.copies[0])
        for folder in self.own:
            shutil.rmtree(folder, True)

    def send(self, name=None):
        subprocess.run(["unison", self.tree, "ssh://rival/" + self.copies[0], "-batch", "-auto", "-silent", "-confirmbigdel=false",
                        "-servercmd", "env UNISON=%s unison" % self.own[1], "-sshargs", " ".join(self.line.words)],
                       check=True, env=dict(os.environ, UNISON=self.own[0]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def clear(folder):
    """Removes all but gpush's own file."""
    for name in os.listdir(folder):
        if name != "gpush.yaml":
            path = os.path.join(folder, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def seconds(action, *words):
    begun = time.perf_counter()
    action(*words)
    return time.perf_counter() - begun


class Report:
    """Rows of one table, and gates; in milliseconds."""

    def __init__(self):
        self.gates = []

    def row(self, what, name, times, lost=0):
        first, rest = times[0], sorted(times[1:] or times)
        middle = statistics.median(rest)
        print("| %s | %s | %.0f | %.1f | %.1f | %.1f | %d | %d | %d | %.1f |"
              % (what, name, first, middle, rest[int(len(rest) * .9)], rest[-1], sum(one > OUTLIER * middle for one in rest), lost, len(rest),
                 os.getloadavg()[0]), flush=True)
        return middle

    def gate(self, what, ours, theirs, most=1.0):
        self.gates.append("| %s | %.1f | %.1f | %.2f | %.2f | %s |" % (what, ours, theirs, ours / theirs, most, "holds" if ours <= most * theirs else "fails"))


def first_copies(sides, source, rounds):
    """Milliseconds of each side, each time into an empty folder."""
    times = {side: [] for side in sides}
    for number in range(rounds + 1):
        for side in sides if number % 2 else reversed(sides):
            side.empty()
            shutil.copytree(source, side.tree, dirs_exist_ok=True, symlinks=True)
            times[side].append(seconds(side.send) * 1000)
            print("%s: %.2f s" % (side.name, times[side][-1] / 1000), file=sys.stderr)
            for copy in side.copies:
                assert equal(side.tree, copy), "%s: %s differs" % (side.name, copy)
    return times


def over(base, name, report, scenarios, source, options):
    """All that goes over one line."""
    opened = []

    def made(kind, *words):
        opened.append(kind(*words))
        return opened[-1]

    def place(of):
        os.makedirs(os.path.join(base, of))
        return os.path.join(base, of)

    try:
        line = made(Line, base, name)
        sides = [made(Ours, place("gpush"), line), made(Rsync, place("rsync-az"), line, "-az"), made(Rsync, place("rsync-a"), line, "-a")]
        if options.unison:
            sides.append(made(Unison, place("unison"), line))
        rounds = options.rounds if "first" in scenarios else 0
        times = first_copies(sides, source, rounds)
        if rounds:
            medians = {side.name: report.row("first copy, " + name, side.name, times[side]) for side in sides}
            report.gate("first copy, %s: gpush / rsync's best" % name, medians["gpush"], min(medians["rsync -az"], medians["rsync -a"]))
        sides.pop(2)            # -a sends more and was there for first copies only
        for side in sides:
            side.live()
        if "edit" in scenarios and name in ("office", "loopback"):
            edits(sides, name, report, options)
        if "burst" in scenarios and name in ("office", "loopback"):
            bursts(sides, name, report, options)
    finally:
        for one in reversed(opened):
            one.close()


def python_files(tree):
    found = [os.path.relpath(os.path.join(at, name), tree) for at, _, names in os.walk(tree) for name in names if name.endswith(".py")]
    return sorted(name for name in found if os.path.getsize(os.path.join(tree, name)) > 400)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, content):
    with open(path, "wb") as out:
        out.write(content)


def wait_for(found, what):
    begun = time.perf_counter()
    while not found():
        if time.perf_counter() - begun > LIMIT:
            raise RuntimeError("not there after %.0f s: %s" % (LIMIT, what))
        time.sleep(save.LOOK)


def is_there(side, name, content):
    def found():
        paths = [os.path.join(copy, name) for copy in side.copies]
        return all(os.path.exists(path) and read(path) == content for path in paths)
    return found


def edits(sides, what, report, options):
    """One line more in a file, another file each time, written beside and renamed, as editors do."""
    names = python_files(sides[0].tree)
    random.Random(2).shuffle(names)
    times = {side: [] for side in sides}
    for number in range(options.edits + 1):
        for side in sides:
            time.sleep(0.2)
            path = os.path.join(side.tree, names[number])
            content = read(path) + b"# edit %d\n" % number
            begun = time.perf_counter()
            put(path + ".tmp", content)
            os.rename(path + ".tmp", path)
            if isinstance(side, Rsync):
                side.send(names[number] if side.name.startswith("rsync") else None)
            wait_for(is_there(side, names[number], content), names[number])
            times[side].append((time.perf_counter() - begun) * 1000)
    label = "one edit, " + what
    for side in sides:
        known = " (its path is known)" if side.name.startswith("rsync") else ""
        middle = report.row(label, side.name + known, times[side])
        if isinstance(side, Ours):
            report.gate(label + ": gpush / (round trip + 10 ms)", middle, (LINES.get(what) or (0,))[0] + 10)


def bursts(sides, line, report, options):
    changes = ("%d files written" % BURST, "%d new files" % FOLDER, "their folder deleted")
    times = {(change, side): [] for change in changes for side in sides}
    for side in sides:          # stays, so that the deletion is less than a fifth of all: gpush asks before more
        os.makedirs(os.path.join(side.tree, "kept"))
        for k in range(2 * FOLDER):
            put(os.path.join(side.tree, "kept", "k%d.py" % k), b"kept = %d\n" % k)
        side.send()
    for number in range(options.rounds + 1):
        for side in sides if number % 2 else reversed(sides):
            names = python_files(side.tree)[:BURST]
            new = {os.path.join("many", "d%d" % (k % 20), "f%d.py" % k): b"value = %d\n" % (number * 10000 + k) * 20 for k in range(FOLDER)}
            written = {name: read(os.path.join(side.tree, name)) + b"# formatted %d\n" % number for name in names}

            def write(content):
                for name, text in content.items():
                    os.makedirs(os.path.dirname(os.path.join(side.tree, name)), exist_ok=True)
                    put(os.path.join(side.tree, name), text)

            def there(content):
                for name, text in content.items():
                    wait_for(is_there(side, name, text), name)

            gone = [os.path.join(copy, "many") for copy in side.copies]
            acts = ((lambda: write(written), lambda: there(written)), (lambda: write(new), lambda: there(new)),
                    (lambda: shutil.rmtree(os.path.join(side.tree, "many")),
                     lambda: wait_for(lambda: not any(os.path.exists(path) for path in gone), "the deletion")))
            for change, (act, arrived) in zip(changes, acts):
                time.sleep(1)
                begun = time.perf_counter()
                act()
                if isinstance(side, Rsync):
                    side.send()
                arrived()
                times[change, side].append((time.perf_counter() - begun) * 1000)
    for change in changes:
        medians = {side.name: report.row("%s, %s" % (change, line), side.name, times[change, side]) for side in sides}
        for name in list(medians)[1:]:
            report.gate("%s, %s: gpush / %s" % (change, line, name), medians["gpush"], medians[name])


def on_nodes(base, report, scenarios, source, options):
    counts = [int(count) for count in options.nodes.split(",")]
    sides = []
    try:
        for count in counts:
            folder = os.path.join(base, "nodes-%d" % count)
            os.makedirs(folder)
            sides.append(Ours(folder, nodes=count))
        times = first_copies(sides, source, options.many_rounds if "nodes" in scenarios else 0)
        if "nodes" in scenarios:
            medians = [report.row("first copy, %d nodes here" % count, "gpush", times[side]) for count, side in zip(counts, sides)]
            for count, middle in list(zip(counts, medians))[1:]:
                report.gate("first copy: %d nodes / %d" % (count, counts[0]), middle, medians[0], 1.5)
        if "edit" in scenarios:
            for count, side in zip(counts, sides):
                side.live()
                edits([side], "%d nodes here" % count, report, options)
    finally:
        for side in sides:
            side.close()


def saves(base, report, options):
    given = types.SimpleNamespace(nodes=1, files=1000, mutagen=options.mutagen)
    sides = [save.Ours(base, given)] + ([save.Mutagen(base, given)] if options.mutagen else [])
    times, lost = {side: [] for side in sides}, {side: 0 for side in sides}
    try:
        for number in range(options.saves + 1):
            for side in sides:
                took = save.measure(side, "pkg%d/m%d.py" % (number % 7, number % 7 * 40 + number % 5), "saved = %d\n" % number * 20)
                if took is None:
                    lost[side] += 1
                else:
                    times[side].append(took)
                time.sleep(options.pause)
    except KeyboardInterrupt:
        print("stopped early", file=sys.stderr)
    finally:
        for side in sides:
            side.close()
    medians = [report.row("saves, 1000 files", side.name, times[side], lost[side]) for side in sides]
    if len(medians) > 1:
        report.gate("saves: gpush / mutagen", *medians)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--scenarios", default="first,nodes,edit,burst,saves")
    words.add_argument("--lines", default=",".join(LINES))
    words.add_argument("--nodes", default="1,8,64")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--many-rounds", type=int, default=3, help="rounds of the first copy to many nodes here")
    words.add_argument("--edits", type=int, default=30)
    words.add_argument("--saves", type=int, default=1000)
    words.add_argument("--pause", type=float, default=0.05, help="seconds after each of the saves")
    words.add_argument("--mutagen", default=shutil.which("mutagen"))
    words.add_argument("--unison", default=shutil.which("unison"), help="empty: without it")
    options = words.parse_args()
    for name, there in (("unison (apt-get install unison)", options.unison), ("mutagen (--mutagen PROGRAM; built with go)", options.mutagen)):
        if not there:
            print("left out: " + name)
    scenarios, report = options.scenarios.split(","), Report()
    base = tempfile.mkdtemp(prefix="gpush-scenarios-")

    def place(name):
        os.makedirs(os.path.join(base, name))
        return os.path.join(base, name)

    print("machine: %d cores, %s, load %.1f at the start; milliseconds\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
    print("| what | with | first time | median | p90 | most | over %d medians | lost | n | load |\n|---|---|---|---|---|---|---|---|---|---|" % OUTLIER)
    try:
        if set(scenarios) - {"saves"}:
            releases(place("django"), types.SimpleNamespace(package="django", old="5.0", new="5.1"))
            source = os.path.join(base, "django", "old", "top")
            for line in options.lines.split(","):
                if {"first", "edit", "burst"} & set(scenarios) and ("first" in scenarios or line in ("loopback", "office")):
                    over(place("line-" + line), line, report, scenarios, source, options)
            if {"nodes", "edit"} & set(scenarios):
                on_nodes(place("nodes"), report, scenarios, source, options)
        if "saves" in scenarios:
            saves(place("saves"), report, options)
    finally:
        print("\n| gate | gpush, ms | against, ms | ratio | at most | |\n|---|---|---|---|---|---|\n" + "\n".join(report.gates))
        print("\nload %.1f at the end" % os.getloadavg()[0])
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
