#!/usr/bin/env python3
"""From a save in a workspace to its bytes in the copy of each node, in one run with rivals, each with a tree and a copy of its own.

    gpush           a session of N nodes on this machine, saves sent by themselves
    mutagen         `mutagen sync create` between local folders, a session for each node (no ssh between them: less than it usually has to do),
                    with --rtt over ssh
    rsync           `rsync -a --delete -e ssh` in a loop without a pause, over one open connection to an sshd, one copy after the other
    lsyncd          lsyncd with a delay of 0, the same rsync over ssh, to one copy

Usage: bench/save.py [--back] [--nodes 1] [--git] [--saves 200] [--files 1000] [--rtt 0] [--pause 0.3] [--mutagen PROGRAM] [--rivals gpush,mutagen,rsync,lsyncd]
       bench/save.py --back ...                       saved on node 0 (in mutagen's copy), to the workspace here and the other nodes
       bench/save.py --idle 600 --files 100000        what a watched session costs while nothing changes, after --settle 240 seconds
       bench/save.py --cost 60 --sizes 2000,20000,100000      processor time of a save, by the number of files; with --back of one on node 0
Needs a built gpush; a rival that is not installed is left out. A save writes a file beside and renames it, as editors do. Rivals take turns
after each save (ABAB), so that all see the same machine; the first two of each are for warming up and are dropped.
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

from sides import Gpush, Sshd

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SLOW = os.path.join(ROOT, "bench", "slow.py")
LIMIT = 60.0            # seconds after which a save is given up
LOOK = 0.0005           # between two looks at the copies
WARM = 2
LATE = 250.0            # milliseconds that a person would notice


def make_tree(folder, files):
    chance = random.Random(1)
    for i in range(files):
        path = os.path.join(folder, "pkg%d" % (i // 40), "m%d.py" % i)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write("".join("value_%d = %d\n" % (n, chance.randrange(10 ** 9)) for n in range(chance.randrange(5, 120))))


def save(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".tmp", "w") as out:
        out.write(text)
    os.rename(path + ".tmp", path)


def measure(rival, name, text, back=False):
    """Milliseconds until each copy has the text; the last one counts. Back: it is saved in the first copy."""
    begun = time.perf_counter()
    save(rival.copies[0] if back else rival.tree, name, text)
    for copy in [rival.tree] + rival.copies[1:] if back else rival.copies:
        path = os.path.join(copy, name)
        while True:
            try:
                with open(path) as file:
                    if file.read() == text:
                        break
            except OSError:
                pass
            if time.perf_counter() - begun > LIMIT:
                return None
            time.sleep(LOOK)
    return (time.perf_counter() - begun) * 1000


def far(folder, options):
    """An sshd that is the round trip away."""
    keys = os.path.join(folder, "sshd")
    os.makedirs(keys)
    sshd = Sshd(keys)
    with open(os.path.join(keys, "ssh_config"), "a") as out:
        if options.rtt:
            out.write(" ProxyCommand %s %s %g 1000 127.0.0.1 %d\n" % (sys.executable, SLOW, options.rtt, sshd.port))
    return sshd


class Ours:
    name = "gpush"

    def __init__(self, base, options):
        folder = os.path.join(base, "gpush")
        os.makedirs(os.path.join(folder, "home"))
        self.sshd = None
        if options.rtt:
            self.sshd = far(folder, options)
            with open(os.path.join(folder, "home", "config.yaml"), "w") as out:
                out.write("backends:\n  far: {kind: ssh, hosts: [rival], ssh-config: %s, scratch: %s/scratch}\n"
                          % (os.path.join(self.sshd.folder, "ssh_config"), folder))
        where = ("--backend", "far") if options.rtt else ("--backend", "local", "--nodes", str(options.nodes))
        self.side = Gpush(os.path.join(ROOT, "gpush"), folder, *where)
        self.tree = self.side.project
        make_tree(self.tree, options.files)
        if options.git:
            for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=bench", "-c", "user.email=bench", "commit", "-qm", "all")):
                subprocess.run(("git",) + words, cwd=self.tree, check=True)
        self.side.run("sync", "--yes", check=True)
        nodes = json.loads(self.ask("nodes", "--json"))
        self.copies = [node["workspace"] for node in nodes]

    def ask(self, *words):
        return subprocess.run((self.side.program,) + words, cwd=self.tree, env=self.side.env, stdout=subprocess.PIPE, check=True).stdout

    def gateway(self):
        status = json.loads(self.ask("gateway", "status", "--json"))
        return status["pid"]

    def close(self):
        self.side.close()
        if self.sshd:
            self.sshd.close()


class Rival:
    def __init__(self, base, options):
        self.folder = os.path.join(base, self.name)
        self.tree = os.path.join(self.folder, "tree")
        self.copies = [os.path.join(self.folder, "copy%d" % node) for node in range(options.nodes)]
        for folder in [self.tree] + self.copies:
            os.makedirs(folder)
        make_tree(self.tree, options.files)


class Mutagen(Rival):
    name = "mutagen"

    def __init__(self, base, options):
        super().__init__(base, options)
        self.program = options.mutagen
        self.env = dict(os.environ, MUTAGEN_DATA_DIRECTORY=os.path.join(self.folder, "data"))
        self.sshd = far(self.folder, options) if options.rtt else None
        if self.sshd:
            self.env["MUTAGEN_SSH_PATH"] = os.path.join(self.folder, "bin")
            os.makedirs(self.env["MUTAGEN_SSH_PATH"])
            for name in ("ssh", "scp"):
                path = os.path.join(self.folder, "bin", name)
                with open(path, "w") as out:
                    out.write('#!/bin/sh\nexec %s -F %s/ssh_config "$@"\n' % (shutil.which(name), self.sshd.folder))
                os.chmod(path, 0o755)
        self.run("daemon", "start")
        for copy in self.copies:
            self.run("sync", "create", "-m", "two-way-safe", self.tree, ("rival:" if self.sshd else "") + copy)
        self.run("sync", "flush", "--all")

    def run(self, *words):
        subprocess.run((self.program,) + words, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def close(self):
        self.run("sync", "terminate", "--all")
        self.run("daemon", "stop")
        if self.sshd:
            self.sshd.close()


class Rsync(Rival):
    name = "rsync"

    def __init__(self, base, options):
        super().__init__(base, options)
        self.sshd = far(self.folder, options)
        self.ssh = "ssh -F %s/ssh_config -o ControlMaster=auto -o ControlPath=%s/master -o ControlPersist=yes" % ((self.sshd.folder,) * 2)
        subprocess.run(self.ssh.split() + ["rival", "true"], check=True)
        self.begin()

    def begin(self):
        loop = 'while true; do for copy in "$@"; do rsync -a --delete -e "$SSH" "$TREE/" "rival:$copy/"; done; done'
        self.process = subprocess.Popen(["sh", "-c", loop, "sh"] + self.copies, env=dict(os.environ, SSH=self.ssh, TREE=self.tree), stderr=subprocess.DEVNULL)

    def close(self):
        self.process.terminate()
        self.process.wait()
        subprocess.run(self.ssh.split() + ["-O", "exit", "rival"], stderr=subprocess.DEVNULL)
        self.sshd.close()


class Lsyncd(Rsync):
    name = "lsyncd"

    def begin(self):
        config = os.path.join(self.folder, "lsyncd.lua")
        with open(config, "w") as out:
            out.write('settings { nodaemon = true, statusFile = "%s/status", insist = true }\n'
                      'sync { default.rsync, source = "%s", target = "rival:%s", delay = 0, rsync = { archive = true, rsh = "%s" } }\n'
                      % (self.folder, self.tree, self.copies[0], self.ssh))
        del self.copies[1:]
        self.process = subprocess.Popen(["lsyncd", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def chosen(options):
    there = {"gpush": True, "mutagen": options.mutagen and shutil.which(options.mutagen), "rsync": shutil.which("rsync"), "lsyncd": shutil.which("lsyncd")}
    for kind in (Ours, Mutagen, Rsync, Lsyncd):
        if kind.name in options.rivals.split(",") and (kind in (Ours, Mutagen) or not options.back):
            if there[kind.name]:
                yield kind
            else:
                print("%s is not installed" % kind.name)


def compare(options, base):
    rivals = [kind(base, options) for kind in chosen(options)]
    times = {rival.name: [] for rival in rivals}
    lost = {rival.name: 0 for rival in rivals}
    try:
        for number in range(options.saves + WARM):
            for rival in rivals:
                # A file of the tree, another one each time, as in work on several.
                turn = 0 if options.same else number
                name = "pkg%d/m%d.py" % (turn % 7, (turn % 7) * 40 + turn % 5)
                took = measure(rival, name, "saved = %d\n" % number * 20, options.back)
                if took is None:
                    lost[rival.name] += 1
                elif number >= WARM:
                    times[rival.name].append(took)
                time.sleep(options.pause)
    finally:
        for rival in rivals:
            rival.close()
    print("save %sto visible, %d saves each%s, %d files, gpush on %d nodes, round trip %g ms, ms; load %.1f"
          % ("on node 0 " if options.back else "", options.saves, " of one file" if options.same else "", options.files, options.nodes, options.rtt,
             os.getloadavg()[0]))
    for name, all_times in times.items():
        if not all_times:
            print("  %-8s no save arrived" % name)
            continue
        ordered = sorted(all_times)
        median = statistics.median(ordered)
        late = sum(1 for one in ordered if one > LATE)
        print("  %-8s median %7.1f   p90 %7.1f   p99 %7.1f   most %7.1f   over %d ms: %d   lost: %d"
              % (name, median, ordered[int(len(ordered) * .9)], ordered[int(len(ordered) * .99)], ordered[-1], LATE, late, lost[name]))
    if times.get("gpush") and times.get("mutagen"):
        print("  gpush / mutagen, medians: %.2f" % (statistics.median(times["gpush"]) / statistics.median(times["mutagen"])))


def cost(pid):
    """Processor seconds and resident MiB of a process."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open("/proc/%d/status" % pid) as file:
        memory = [line for line in file if line.startswith("VmRSS")][0].split()[1]
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(memory) / 1024


def agents(base, gateway):
    """The processes of the session's nodes: those that have files of its home open."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (gateway, os.getpid()):
            folder = "/proc/%s/fd" % name
            try:
                if any(os.readlink(os.path.join(folder, fd)).startswith(base + "/home/") for fd in os.listdir(folder)):
                    found.append(int(name))
            except OSError:
                pass        # it has ended, or is another user's
    return found


def times(base, gateway):
    """Processor milliseconds of the gateway and of its agents."""
    spent = 0.0
    for pid in agents(base, gateway):
        try:
            spent += cost(pid)[0]
        except (OSError, IndexError):
            pass            # it has ended
    return cost(gateway)[0] * 1000, spent * 1000


def spent(pids):
    """Processor milliseconds of these, finer than a clock tick; those of a thread that has ended are missing."""
    nanos = 0
    for pid in pids:
        for task in os.listdir("/proc/%d/task" % pid):
            try:
                with open("/proc/%d/task/%s/schedstat" % (pid, task)) as file:
                    nanos += int(file.read().split()[0])
            except OSError:
                pass        # it has ended
    return nanos / 1e6


def idle(options, base):
    """The same session with and without a watcher: the difference is what watching costs."""
    for mode in ("live", "manual"):
        ours = Ours(tempfile.mkdtemp(dir=base), options)
        try:
            save(ours.tree, "gpush.yaml", "sync: {mode: %s}\n" % mode)
            ours.ask("gateway", "stop")
            ours.ask("sync", "--yes")
            time.sleep(options.settle)
            gateway = ours.gateway()
            before = times(ours.side.folder, gateway)
            time.sleep(options.idle)
            after = times(ours.side.folder, gateway)
            memory = sum(cost(pid)[1] for pid in agents(ours.side.folder, gateway))
            print("%-6s %d files, %d nodes: gateway %.3f %%, agents %.3f %% of a core over %d s; gateway %.0f MiB, agents %.0f MiB"
                  % ((mode, options.files, options.nodes) + tuple((b - a) / options.idle / 10 for a, b in zip(before, after))
                     + (options.idle, cost(gateway)[1], memory)), flush=True)
        finally:
            ours.close()


def log_to(path, seconds, is_reopened):
    """Lines into a file that a rule ignores, a hundred in a second."""
    end = time.time() + seconds
    out = open(path, "a")
    while time.time() < end:
        out.write("step: loss 0.1\n")
        out.flush()
        if is_reopened:
            out.close()
            out = open(path, "a")
        time.sleep(0.01)
    out.close()


def work(options, base, files):
    """What saves, a log that a rule ignores, and doing nothing cost with this many files."""
    options.files = files
    ours = Ours(tempfile.mkdtemp(dir=base), options)
    try:
        save(ours.tree, ".gpushignore", "*.log\n")
        gateway = ours.gateway()

        def saves(count):
            nodes = agents(ours.side.folder, gateway)
            each = []
            for number in range(count):
                before = spent([gateway]), spent(nodes)
                name = "pkg%d/m%d.py" % (number % 7, (number % 7) * 40 + number % 5)
                if measure(ours, name, "saved = %d\n" % random.randrange(10 ** 9) * 20, options.back) is None:
                    raise RuntimeError("a save did not arrive")
                time.sleep(options.pause)
                each.append((spent([gateway]) - before[0], spent(nodes) - before[1]))
            return [statistics.median(side) for side in zip(*each)]

        def share(what, seconds, action):
            before = times(ours.side.folder, gateway)
            action()
            after = times(ours.side.folder, gateway)
            print("  %-38s gateway %6.2f %%, agents %6.2f %% of a core" % ((what,) + tuple((b - a) / seconds / 10 for a, b in zip(before, after))), flush=True)

        saves(options.cost)
        time.sleep(3)
        before = times(ours.side.folder, gateway)
        medians = saves(options.cost)
        after = times(ours.side.folder, gateway)
        print("%d files, %d nodes; load %.1f" % (files, options.nodes, os.getloadavg()[0]))
        # The mean has the look at everything in it, if one fell into this time.
        print("  %-38s gateway %6.2f, agents %6.2f ms" % (("a save, median",) + tuple(medians)))
        print("  %-38s gateway %6.2f, agents %6.2f ms" % (("a save, mean",) + tuple((b - a) / options.cost for a, b in zip(before, after))), flush=True)
        seconds = options.seconds
        time.sleep(seconds)
        share("nothing", seconds, lambda: time.sleep(seconds))
        for where, folder in (("here", ours.tree), ("on node 0", ours.copies[0])):
            for how, is_reopened in (("kept open", False), ("opened for each line", True)):
                share("an ignored log %s, %s" % (where, how), seconds, lambda: log_to(os.path.join(folder, "train.log"), seconds, is_reopened))
                time.sleep(2)
    finally:
        ours.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--saves", type=int, default=200)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--back", action="store_true", help="saved on node 0")
    parser.add_argument("--same", action="store_true", help="always the same file, which is what mutagen watches best")
    parser.add_argument("--git", action="store_true", help="the tree of gpush is a git repository, as a project is")
    parser.add_argument("--rtt", type=float, default=0, help="milliseconds to the copies, which are behind an sshd then, mutagen's too")
    parser.add_argument("--pause", type=float, default=0.3)
    parser.add_argument("--mutagen", default=shutil.which("mutagen"))
    parser.add_argument("--rivals", default="gpush,mutagen,rsync,lsyncd")
    parser.add_argument("--idle", type=int, default=0)
    parser.add_argument("--settle", type=int, default=240)
    parser.add_argument("--cost", type=int, default=0)
    parser.add_argument("--sizes", default="2000,20000,100000")
    parser.add_argument("--seconds", type=int, default=20, help="of a log, and of doing nothing")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-save-")
    try:
        if options.cost:
            for files in options.sizes.split(","):
                work(options, base, int(files))
        elif options.idle:
            idle(options, base)
        else:
            compare(options, base)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
