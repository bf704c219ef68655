#!/usr/bin/env python3
"""From an edit to the first line of the first rank: ranks that are forked from warm interpreters, against the same run cold.

Each round edits the script and runs it three times, in turns: cold (torchrun, as without an option), by hand (the same torchrun
without gpush), and warm. The line that counts is the first of any rank. Medians are compared; the first round is dropped.

Usage: bench/warm_ranks.py PYTHON [--rounds 7] [--ranks 2]      a Python with torch, and a built gpush
Everything runs in a temporary home and is ended when done.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUSH = os.path.join(ROOT, "gpush")
SCRIPT = """import torch
import torch.nn as nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
print("edit %d", torch.ones(2).sum().item())
"""
MOST_TRIES = 60         # runs until the interpreters are warm


def first_line(command, mark, env, folder):
    """(seconds until a line with the mark, all that was said)."""
    said, seen, start = [], None, time.perf_counter()
    with subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            if seen is None and mark in line:
                seen = time.perf_counter() - start
            said.append(line.decode("utf-8", "replace"))
    text = "".join(said)
    if seen is None or process.returncode:
        raise RuntimeError("%s: exit %s\n%s" % (command, process.returncode, text))
    return seen, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ranks", type=int, default=2)
    asked = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    folder = os.path.join(base, "project")
    os.mkdir(folder)
    env = dict(os.environ, GPUSH_HOME=os.path.join(base, "home"))
    edits = 0

    def edit():
        nonlocal edits
        edits += 1
        with open(os.path.join(folder, "train.py"), "w") as file:
            file.write(SCRIPT % edits)
        return b"edit %d" % edits

    def gpush(*options):
        mark = edit()
        return first_line([GPUSH, "run", "--nproc", str(asked.ranks), "--python", asked.python] + list(options) + ["train.py"], mark, env, folder)

    def by_hand():
        mark = edit()
        return first_line([asked.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(asked.ranks), "train.py"], mark,
                          dict(env, OMP_NUM_THREADS="1"), folder)

    try:
        for _ in range(MOST_TRIES):
            if "started cold" not in gpush("--warm")[1]:
                break
        else:
            raise RuntimeError("the interpreters do not become warm: " + gpush("--warm")[1])
        times = {"torchrun by hand": [], "gpush run": [], "gpush run --warm": []}
        for number in range(asked.rounds + 1):
            taken = {"torchrun by hand": by_hand()[0], "gpush run": gpush()[0]}
            taken["gpush run --warm"], text = gpush("--warm")
            if "started cold" in text:
                raise RuntimeError(text)
            if number:
                for name, seconds in taken.items():
                    times[name].append(seconds)
        print("edit -> first line, %d ranks, %d rounds: median (least to most), seconds" % (asked.ranks, asked.rounds))
        for name, values in times.items():
            print("%-18s %6.2f  (%.2f to %.2f)" % (name, statistics.median(values), min(values), max(values)))
        warm = statistics.median(times["gpush run --warm"])
        print("warm is %.1f times faster than cold" % (statistics.median(times["gpush run"]) / warm))
    finally:
        subprocess.run([GPUSH, "down"], env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([GPUSH, "gateway", "stop"], env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
