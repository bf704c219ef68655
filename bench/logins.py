#!/usr/bin/env python3
"""Logins to a local node, against OpenSSH's own sshd with the same cipher, in one run.

    connect and exec            `ssh host true`, the whole command, one after the other
    logins at once              that number of the same command started together, until the last has ended
    memory                      of a connection with a command that waits: what gateway and agent grow by, against the processes of sshd

Usage: bench/logins.py [--rounds 15] [--logins 100] [--connections 200]      needs ssh, sshd and a built gpush
Rivals are interleaved (ABAB), medians are compared, the first round is for the JVM and is dropped.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from sides import Gpush, Sshd

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUSH = os.path.join(ROOT, "gpush")


def login(host):
    start = time.perf_counter()
    subprocess.run(host + ["true"], stdin=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def at_once(host, count):
    start = time.perf_counter()
    clients = [subprocess.Popen(host + ["true"], stdin=subprocess.DEVNULL) for _ in range(count)]
    failed = sum(client.wait() != 0 for client in clients)
    if failed:
        raise RuntimeError("%d of %d logins failed" % (failed, count))
    return time.perf_counter() - start


def children(pids):
    """These processes and all that descend from them."""
    found, new = set(), set(pids)
    while new:
        found |= new
        below = set()
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open("/proc/%s/stat" % entry) as file:
                        parent = int(file.read().rsplit(")", 1)[1].split()[1])
                except OSError:
                    continue
                if parent in new:
                    below.add(int(entry))
        new = below - found
    return found


def memory(pids, *names):
    """Proportional memory in KiB of those of the processes that have one of these names."""
    total = 0
    for pid in pids:
        try:
            with open("/proc/%d/comm" % pid) as file:
                if file.read().strip() not in names:
                    continue
            with open("/proc/%d/smaps_rollup" % pid) as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except OSError:
            pass
    return total


def growth(host, count, used):
    """KiB of a connection, while COUNT of them have a command that waits."""
    before = used()
    clients = [subprocess.Popen(host + ["echo ready; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(count)]
    for client in clients:
        if client.stdout.readline() != b"ready\n":
            raise RuntimeError("not ready")
    grown = used() - before
    for client in clients:
        client.stdin.close()
        client.stdout.close()
        client.wait()
    return grown / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--logins", type=int, default=100)
    parser.add_argument("--connections", type=int, default=200)
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    open_ones = []
    try:
        gpush = Gpush(GPUSH, os.path.join(base, "ours"))
        open_ones.append(gpush)
        rival = os.path.join(base, "rival")
        os.makedirs(rival, mode=0o700)
        # Its own limits would refuse most of a hundred logins.
        sshd = Sshd(rival, "MaxStartups 1000")
        open_ones.append(sshd)
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("| what | gpush | sshd | gpush / sshd |\n|---|---|---|---|")
        for what, measure, rounds in (("`ssh host true`", login, options.rounds),
                                      ("%d of them at once" % options.logins, lambda host: at_once(host, options.logins), 3)):
            pairs = [(measure(gpush.ssh), measure(sshd.ssh)) for _ in range(1 + rounds)][1:]
            a, b = (statistics.median(pair[k] for pair in pairs) * 1000 for k in (0, 1))
            print("| %s | %.0f ms | %.0f ms | %.2f |" % (what, a, b, a / b), flush=True)
        status = subprocess.run([GPUSH, "gateway", "status", "--json"], cwd=gpush.project, env=gpush.env, check=True, stdout=subprocess.PIPE)
        gateway = json.loads(status.stdout)["pid"]
        nodes = subprocess.run(gpush.ssh + ["echo $PPID"], stdin=subprocess.DEVNULL, check=True, stdout=subprocess.PIPE)
        agent = int(nodes.stdout)
        a = growth(gpush.ssh, options.connections, lambda: memory({gateway, agent}, "java", "python3"))
        b = growth(sshd.ssh, options.connections, lambda: memory(children({sshd.process.pid}), "sshd"))
        print("| memory of a connection, of %d | %.0f KiB | %.0f KiB | %.2f |" % (options.connections, a, b, a / b), flush=True)
        print("load %.1f at the end" % os.getloadavg()[0])
    finally:
        for each in open_ones:
            each.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
