#!/usr/bin/env python3
"""Whole-program times of the first thread, as ratios against what a user would use instead, in one run.

    gpush ps                    wall time of the whole process
    gpush run (no change)       until the first rank's line, against starting the same two ranks by hand
    ssh devbox true             against OpenSSH to a local sshd with the same key type and ciphers
    ssh devbox, bulk            256 MiB down and up, against the same sshd

Usage: bench/first_thread.py [--rounds 15] [--bulk MIB]      needs ssh, sshd and a built gpush
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

from rival import Sshd

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bulk", type=int, default=256, help="MiB; 0 leaves it out")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    project = os.path.join(base, "proj")
    os.makedirs(project)
    for name in ("gpush.yaml", "train.py"):
        if name == "train.py":
            shutil.copy(os.path.join(ROOT, "examples/hello/train.py"), project)
        else:
            open(os.path.join(project, name), "w").close()
    env = dict(os.environ, GPUSH_HOME=os.path.join(base, "home"))
    sshd_folder = os.path.join(base, "sshd")
    os.makedirs(sshd_folder, mode=0o700)
    sshd = None
    try:
        subprocess.run([GPUSH, "up", "--nodes", "2"], cwd=project, env=env, check=True, stdin=subprocess.DEVNULL)
        sshd = Sshd(sshd_folder)
        ours = ["ssh", "-F", os.path.join(base, "home", "ssh_config"), "devbox"]
        rival = ["ssh", "-F", os.path.join(sshd_folder, "ssh_config"), "rival"]
        ps = [timed([GPUSH, "ps"], env, project) for _ in range(options.rounds + 1)][1:]
        print("machine: %d cores, %s\n" % (os.cpu_count(), os.uname().release))
        print("`gpush ps`, whole process: median %.0f ms, fastest %.0f ms\n" % (statistics.median(ps) * 1000, min(ps) * 1000))
        print("| what | gpush | instead | added | ratio |\n|---|---|---|---|---|")
        compare("`gpush run`, no change, to the first rank's line, against two ranks by hand",
                lambda: first_line([GPUSH, "run", "train.py"], b"rank", env, project), lambda: by_hand("train.py", project), options.rounds)
        compare("`ssh devbox true`, against OpenSSH's sshd", lambda: timed(ours + ["true"], env), lambda: timed(rival + ["true"]), options.rounds)
        if options.bulk:
            down = ["head -c %dM /dev/zero" % options.bulk]
            compare("%d MiB down" % options.bulk, lambda: timed(ours + down), lambda: timed(rival + down), max(3, options.rounds // 3))
            up = "head -c %dM /dev/zero | %s 'cat > /dev/null'"
            compare("%d MiB up" % options.bulk, lambda: timed(["sh", "-c", up % (options.bulk, " ".join(ours))]),
                    lambda: timed(["sh", "-c", up % (options.bulk, " ".join(rival))]), max(3, options.rounds // 3))
    finally:
        subprocess.run([GPUSH, "down", "--discard"], cwd=project, env=env, check=False, stdin=subprocess.DEVNULL)
        subprocess.run([GPUSH, "gateway", "stop"], cwd=project, env=env, check=False, stdin=subprocess.DEVNULL)
        if sshd:
            sshd.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
