#!/usr/bin/env python3
"""What the recording of terminals costs: `cat` of a large text in a terminal over ssh to a local node, with gateway.record and without.

    seconds      from the first byte of the client to the last
    gateway      processor time of the gateway meanwhile
    all          processor time of gateway, agents, ssh and cat

Usage: bench/recording.py [--size MB] [--rounds 5]      needs ssh and a built gpush
Both are interleaved (ABAB); medians. The first rounds are for the JVM and are dropped.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time

from sides import Gpush

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WARM = 2
TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(pid):
    """Of a process and of its children that have ended."""
    with open("/proc/%d/stat" % pid) as stat:
        return sum(int(field) for field in stat.read().rsplit(")", 1)[1].split()[11:15]) / TICKS


class Side:
    def __init__(self, folder, record):
        os.makedirs(os.path.join(folder, "home"))
        with open(os.path.join(folder, "home", "config.yaml"), "w") as config:
            config.write("gateway: {record: %s}\n" % record)
        self.gpush = Gpush(os.path.join(ROOT, "gpush"), folder)
        status = self.json("gateway", "status", "--json")
        self.gateway = status["pid"]
        self.agents = [node["agent_pid"] for node in self.json("nodes", "--json")]
        self.recordings = os.path.join(folder, "home", "logs", "recordings")
        self.results = []

    def json(self, *words):
        out = subprocess.run((self.gpush.program,) + words, cwd=self.gpush.project, env=self.gpush.env, check=True, stdout=subprocess.PIPE)
        return json.loads(out.stdout)

    def measure(self, text, size):
        before = self.times()
        start = time.perf_counter()
        with subprocess.Popen(self.gpush.ssh[:1] + ["-tt"] + self.gpush.ssh[1:] + ["cat " + text], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
            got = 0
            while True:
                count = len(os.read(client.stdout.fileno(), 1 << 20))
                if count == 0:
                    break
                got += count
        seconds = time.perf_counter() - start
        after = self.times()
        if got < size:
            raise RuntimeError("%d of %d bytes came" % (got, size))
        self.results.append([seconds] + [now - then for now, then in zip(after, before)])

    def times(self):
        gateway = processor_time(self.gateway)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return gateway, gateway + sum(map(processor_time, self.agents)) + children.ru_utime + children.ru_stime


def text(path, size):
    """Lines as of a log: some colours, some letters beyond ASCII."""
    line = "2026-11-24 10:00:00 step %d loss \x1b[32m0.%d\x1b[0m lr 3e-4 · 12 345 tokens/s on gpu0 – grün\n"
    with open(path, "w") as out:
        number = 0
        while out.tell() < size:
            out.write("".join(line % (number + i, number + i) for i in range(1000)))
            number += 1000


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=50)
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    size = chosen.size * 1_000_000
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="rec") as folder:
        source = os.path.join(folder, "text")
        text(source, size)
        sides = []
        try:
            for record in ("none", "terminals"):
                sides.append(Side(os.path.join(folder, record), record))
            for _ in range(WARM + chosen.rounds):
                for side in sides:
                    side.measure(source, size)
            recorded = os.listdir(sides[1].recordings)
            print("%d recordings, %.0f MB each" % (len(recorded), sum(
                os.path.getsize(os.path.join(sides[1].recordings, one)) for one in recorded) / len(recorded) / 1e6))
            for name, side in zip(("without", "with   "), sides):
                print(name, "  ".join("%s %.2f" % (what, value) for what, value in zip(
                    ("seconds", "gateway", "all"), map(statistics.median, zip(*side.results[WARM:])))))
        finally:
            for side in sides:
                side.gpush.close()


if __name__ == "__main__":
    main()
