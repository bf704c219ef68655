#!/usr/bin/env python3
"""Whole-program times of the first thread, as ratios against what a user would use instead, in one run.

    gpush ps                    wall time of the whole process
    gpush run (no change)       until the first rank's line, against starting the same two ranks by hand
    ssh devbox true             against OpenSSH to a local sshd with the same key type and ciphers
    ssh devbox, bulk            256 MiB down and up, against the same sshd

Usage: bench/first_thread.py [--rounds 15] [--bulk MIB] [--against OTHER/gpush]      needs ssh, sshd and a built gpush
Everything runs in a temporary home and is ended, by pid, when done. Rivals are interleaved (ABAB), medians are compared, the first round is dropped.
"""
import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from sides import Gpush, Sshd

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUSH = os.path.join(ROOT, "gpush")


def timed(command, env=None, cwd=None):
    start = time.perf_counter()
    subprocess.run(command, env=env, cwd=cwd, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def first_line(command, mark, env=None, cwd=None):
    """Seconds until the first line of output that holds the mark; the program is then waited for."""
    start = time.perf_counter()
    with subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        seen = None
        for line in process.stdout:
            if seen is None and mark in line:
                seen = time.perf_counter() - start
        process.wait()
    if seen is None or process.returncode:
        raise RuntimeError("%s gave no %r (exit %s)" % (command, mark, process.returncode))
    return seen


def by_hand(script, folder):
    """What a user types without gpush: two ranks with the environment contract, on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.perf_counter()
    ranks = []
    for rank in range(2):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK="0", WORLD_SIZE="2", LOCAL_WORLD_SIZE="1", MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(port), PYTHONUNBUFFERED="1")
        ranks.append(subprocess.Popen([sys.executable, script], cwd=folder, env=env, stdout=subprocess.PIPE))
    ranks[0].stdout.readline()
    seen = time.perf_counter() - start
    for rank in ranks:
        rank.communicate()
    return seen


def compare(name, ours, rival, rounds, unit="ms"):
    mine, theirs = [], []
    for _ in range(rounds + 1):
        mine.append(ours())
        theirs.append(rival())
    mine, theirs = mine[1:], theirs[1:]
    a, b = statistics.median(mine), statistics.median(theirs)
    print("| %s | %.0f %s | %.0f %s | %+.0f %s | %.2f |" % (name, a * 1000, unit, b * 1000, unit, (a - b) * 1000, unit, a / b), flush=True)


def against(ours, other, rounds):
    """The same commands by this build and by another one."""
    print("| what | this build | the other | added | ratio |\n|---|---|---|---|---|")
    both = (ours, other)
    for name, words, mark in (("`gpush ps`", ["ps"], None), ("`gpush run`, no change, to the first rank's line", ["run", "train.py"], b"rank"),
                              ("`gpush exec true`", ["exec", "true"], None)):
        def measure(each, words=words, mark=mark):
            command = [each.program] + words
            return first_line(command, mark, each.env, each.project) if mark else timed(command, each.env, each.project)
        compare(name, *(lambda each=each: measure(each) for each in both), rounds)
    compare("`ssh devbox true`", *(lambda each=each: timed(each.ssh + ["true"], each.env) for each in both), rounds)


def instead(ours, sshd, rounds, bulk):
    """What a user would use instead."""
    ps = [timed([GPUSH, "ps"], ours.env, ours.project) for _ in range(rounds + 1)][1:]
    print("`gpush ps`, whole process: median %.0f ms, fastest %.0f ms\n" % (statistics.median(ps) * 1000, min(ps) * 1000))
    print("| what | gpush | instead | added | ratio |\n|---|---|---|---|---|")
    compare("`gpush run`, no change, to the first rank's line, against two ranks by hand",
            lambda: first_line([GPUSH, "run", "train.py"], b"rank", ours.env, ours.project), lambda: by_hand("train.py", ours.project), rounds)
    compare("`ssh devbox true`, against OpenSSH's sshd", lambda: timed(ours.ssh + ["true"], ours.env), lambda: timed(sshd.ssh + ["true"]), rounds)
    if bulk:
        down = ["head -c %dM /dev/zero" % bulk]
        compare("%d MiB down" % bulk, lambda: timed(ours.ssh + down), lambda: timed(sshd.ssh + down), max(3, rounds // 3))
        up = "head -c %dM /dev/zero | %s 'cat > /dev/null'"
        compare("%d MiB up" % bulk, lambda: timed(["sh", "-c", up % (bulk, " ".join(ours.ssh))]),
                lambda: timed(["sh", "-c", up % (bulk, " ".join(sshd.ssh))]), max(3, rounds // 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bulk", type=int, default=256, help="MiB; 0 leaves it out")
    parser.add_argument("--against", help="the gpush of another build, in place of what a user would use instead")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    open_ones = []

    def gang(program, folder):
        each = Gpush(program, os.path.join(base, folder), "--nodes", "2")
        open_ones.append(each)
        shutil.copy(os.path.join(ROOT, "examples/hello/train.py"), each.project)
        return each

    try:
        ours = gang(GPUSH, "ours")
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        if options.against:
            against(ours, gang(options.against, "other"), options.rounds)
        else:
            folder = os.path.join(base, "sshd")
            os.makedirs(folder, mode=0o700)
            sshd = Sshd(folder)
            open_ones.append(sshd)
            instead(ours, sshd, options.rounds, options.bulk)
    finally:
        for each in open_ones:
            each.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
