#!/usr/bin/env python3
"""gpush cp against scp and rsync, all to one node of this machine through one gateway: one large file and many small ones, both ways.

Usage: bench/copy.py [--mib 1024] [--files 10000] [--rounds 3]      needs ssh, scp, rsync, a built gpush, and twice the space in the temporary folder
Rivals are interleaved (ABCABC) and every copy goes to a new place; the first round is for the JVM and is dropped.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from sides import Gpush

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = ("gpush", "scp", "rsync")


def command(tool, ours, source, target):
    if tool == "gpush":
        return [ours.program, "cp", "-q", source, target]
    config = ours.ssh[2]
    if tool == "scp":
        return ["scp", "-q", "-r", "-p", "-F", config, source, target]
    return ["rsync", "-a", "-e", "ssh -F " + config, source + ("/" if os.path.isdir(source.rpartition(":")[2]) else ""), target]


def seconds(tool, ours, source, target, place):
    shutil.rmtree(place, True)
    start = time.perf_counter()
    subprocess.run(command(tool, ours, source, target), cwd=ours.project, env=ours.env, check=True, stdin=subprocess.DEVNULL)
    spent = time.perf_counter() - start
    if os.path.isdir(place):
        shutil.rmtree(place)
    else:
        os.unlink(place)
    return spent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--files", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    ours = None
    try:
        large, small, place = (os.path.join(base, name) for name in ("large", "small", "place"))
        with open(large, "wb") as out:
            for _ in range(options.mib):
                out.write(os.urandom(1 << 20))
        os.mkdir(small)
        for number in range(options.files):
            with open(os.path.join(small, str(number)), "wb") as out:
                out.write(os.urandom(number % 8000))
        ours = Gpush(os.path.join(ROOT, "gpush"), os.path.join(base, "ours"))
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("| what | gpush cp | scp | rsync | scp / gpush | rsync / gpush |\n|---|---|---|---|---|---|")
        for what, source in (("%d MiB" % options.mib, large), ("%d files" % options.files, small)):
            for way in ("up", "down"):
                far, near = ("", "devbox:") if way == "up" else ("devbox:", "")
                rows = [[seconds(tool, ours, far + source, near + place, place) for tool in TOOLS] for _ in range(1 + options.rounds)][1:]
                a, b, c = (statistics.median(row[k] for row in rows) for k in range(len(TOOLS)))
                print("| %s, %s | %.2f s | %.2f s | %.2f s | %.2f | %.2f |" % (what, way, a, b, c, b / a, c / a), flush=True)
        print("\nload %.1f at the end" % os.getloadavg()[0])
    finally:
        if ours is not None:
            ours.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
