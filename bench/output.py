#!/usr/bin/env python3
"""Ranks that print as fast as a pipe takes it: processor time of supervisors, agents, gateway and client; and how late a single line is.

usage: bench/output.py [--seconds 5] [--rounds 3] [--mbytes 100] [--nodes 1] [--line 100] [--against COMMIT|CHECKOUT]

Each round is a run on local nodes whose ranks print `--mbytes` MB/s together, in lines of `--line` bytes, and then one whose ranks print
a line with the time every 20 ms. The client writes into a pipe. With `--against` the other build does the same in turns (ABAB): a folder
is a checkout of gpush, anything else a commit of this repository, which is checked out and built in a temporary folder.
The first round is for the JVM and is dropped; medians are shown. Uses a GPUSH_HOME of its own.
"""
import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from sides import Gpush

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TICK = os.sysconf("SC_CLK_TCK")
FLOOD = """
import os, sys, time
line, rate, seconds = b"x" * (%d - 1) + b"\\n", %d * 1000000, %d
piece = line * max(1, 65536 // len(line))
begun, sent = time.monotonic(), 0
while time.monotonic() - begun < seconds:
    at = 0
    while at < len(piece):
        at += os.write(1, piece[at:])
    sent += len(piece)
    time.sleep(max(0, sent / rate - (time.monotonic() - begun)))
sys.stderr.write("sent %%d\\n" %% sent)
"""
SINGLE = """
import sys, time
for _ in range(%d):
    sys.stdout.write("at %%.6f\\n" %% time.monotonic())
    sys.stdout.flush()
    time.sleep(0.02)
"""
PARTS = ("supervisors", "agents and followers", "gateway", "client")


def table():
    """pid -> (name, parent, seconds of processor)"""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                text = file.read()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        rest = text[text.rindex(")") + 2:].split()
        found[int(text.split()[0])] = (name, int(rest[1]), (int(rest[11]) + int(rest[12])) / TICK)
    return found


def command(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


class Side:
    """One build with a gang of its own."""

    def __init__(self, name, program, folder, asked):
        self.name = name
        os.mkdir(folder)
        self.gpush = Gpush(program, folder, "--nodes", str(asked.nodes), "--yes")
        for script, text in (("flood.py", FLOOD % (asked.line, asked.mbytes // asked.nodes, asked.seconds)), ("single.py", SINGLE % asked.singles)):
            with open(os.path.join(self.gpush.project, script), "w") as file:
                file.write(text)
        said = subprocess.run([program, "gateway", "status", "--json"], cwd=self.gpush.project, env=self.gpush.env, check=True, stdout=subprocess.PIPE)
        self.gateway = json.loads(said.stdout.decode())["pid"]
        self.rounds = []

    def start(self, script):
        return subprocess.Popen([self.gpush.program, "run", script], cwd=self.gpush.project, env=self.gpush.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def flood(self):
        """What a run took: MB that were printed, MB that arrived, seconds, and seconds of processor of each part."""
        before = table()
        begun = time.monotonic()
        run = self.start("flood.py")
        arrived, seen, looked = 0, {}, 0
        while True:
            data = os.read(run.stdout.fileno(), 1 << 20)
            if not data:
                break
            arrived += len(data)
            if time.monotonic() - looked > 0.25:
                looked = time.monotonic()
                seen.update(table())
        took = time.monotonic() - begun
        seen.update({pid: row for pid, row in table().items() if pid in before})
        errors = run.stderr.read().decode()
        run.wait()
        for line in errors.splitlines():
            if line.startswith("gpush:"):
                print("  %s: %s" % (self.name, line))
        sent = sum(int(line.split()[-1]) for line in errors.splitlines() if " sent " in line or line.startswith("sent"))
        used = dict.fromkeys(PARTS, 0)
        for pid, row in seen.items():
            part = self.part(pid, row, run.pid)
            if part:
                used[part] += max(0, row[2] - before.get(pid, ("", 0, 0))[2])
        return sent / 1e6, arrived / 1e6, took, used

    def part(self, pid, row, client):
        """The part that a process belongs to. The other side's agents are asleep and take nothing."""
        name, parent, _ = row
        if pid == self.gateway:
            return "gateway"
        if name.startswith("gpush-run"):
            return "supervisors"
        if name.startswith("gpush-") or "gpush_agent" in command(pid):
            return "agents and followers"
        return "client" if client in (pid, parent) else None

    def single(self):
        """Milliseconds from the print of a line to its arrival, sorted."""
        run, late = self.start("single.py"), []
        for line in run.stdout:
            late.append((time.monotonic() - float(line.split()[-1])) * 1000)
        said = run.stderr.read().decode()
        if run.wait():
            raise RuntimeError(said)
        return sorted(late)

    def measure(self):
        self.rounds.append((self.flood(), self.single()))

    def rows(self):
        """{what: median}"""
        floods = [flood for flood, _ in self.rounds[1:]]
        singles = [single for _, single in self.rounds[1:]]
        rows = {"printed, MB/s": statistics.median(sent / took for sent, _, took, _ in floods)}
        for part in PARTS:
            rows[part + ", ms per MB"] = statistics.median(1000 * used[part] / sent for sent, _, _, used in floods)
        rows["all of these, ms per MB"] = statistics.median(1000 * sum(used.values()) / sent for sent, _, _, used in floods)
        rows["a single line, p50, ms"] = statistics.median(each[len(each) // 2] for each in singles)
        rows["a single line, p90, ms"] = statistics.median(each[len(each) * 9 // 10] for each in singles)
        return rows


def checkout(against, base):
    """The program of another build."""
    if os.path.isdir(against):
        return os.path.join(os.path.abspath(against), "gpush")
    folder = os.path.join(base, "checkout")
    subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", folder, against], check=True)
    return os.path.join(folder, "gpush")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mbytes", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--line", type=int, default=100)
    parser.add_argument("--singles", type=int, default=200)
    parser.add_argument("--against", help="a checkout or a commit, measured in turns with this build")
    asked = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    sides = []
    try:
        sides.append(Side("this build", os.path.join(ROOT, "gpush"), os.path.join(base, "ours"), asked))
        if asked.against:
            sides.append(Side(asked.against, checkout(asked.against, base), os.path.join(base, "other"), asked))
        print("machine: %d cores, %s, load %.1f" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("%d node(s), lines of %d bytes, %d MB/s for %d s, %d rounds" % (asked.nodes, asked.line, asked.mbytes, asked.seconds, asked.rounds))
        for _ in range(asked.rounds + 1):
            for side in sides:
                side.measure()
        for side in sides:
            sent, arrived = (sum(flood[k] for flood, _ in side.rounds) for k in (0, 1))
            print("%s: %.0f MB printed, %.0f MB arrived, prefixes and line feeds counted" % (side.name, sent, arrived))
        all_rows = [side.rows() for side in sides]
        print("\n| what |%s%s" % ("".join(" %s |" % side.name for side in sides), " ratio |" if len(sides) > 1 else ""))
        print("|---" * (len(sides) + (2 if len(sides) > 1 else 1)) + "|")
        for what, value in all_rows[0].items():
            values = [rows[what] for rows in all_rows]
            print("| %s |%s%s" % (what, "".join(" %.2f |" % each for each in values), " %.2f |" % (value / values[1]) if len(values) > 1 else ""))
        print("\nload %.1f at the end" % os.getloadavg()[0])
    finally:
        for side in sides:
            side.gpush.close()
        if asked.against and not os.path.isdir(asked.against):
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", os.path.join(base, "checkout")], stderr=subprocess.DEVNULL)
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
