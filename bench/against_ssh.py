#!/usr/bin/env python3
"""A host through gpush against the same host through ssh alone, in one run.

    connect                     `ssh HOST true` until it has ended; both log in each time
    one byte and its echo       in a terminal, until it is back; medians
    bulk down, bulk up          from the first byte to the last, without the time to connect
    processor time a MB         of the whole machine, which is client, gateway, agent and both sshd; and of gpush's parts alone

Usage: bench/against_ssh.py [--bulk MIB] [--rounds 5] [--echoes 1000] [--host h1]      needs root, a built gpush and `src/test/rigs/ssh up`
Rivals are interleaved (ABAB), medians are compared. The first rounds are for the JVM and are dropped.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile

from first_thread import timed
from sides import Gpush
from through_ssh import GPUSH, ROOT, Terminal, WARM, down, up

TICK = os.sysconf("SC_CLK_TCK")


def rig(host):
    status = subprocess.run([os.path.join(ROOT, "src/test/rigs/ssh"), "status"], check=True, stdout=subprocess.PIPE)
    return ["ssh", "-F", status.stdout.decode().strip(), host]


def through_gpush(base, direct):
    os.makedirs(os.path.join(base, "home"))
    with open(os.path.join(base, "home", "config.yaml"), "w") as out:
        out.write("defaults: {backends: [rack]}\nbackends:\n  rack: {kind: ssh, hosts: [%s], ssh-config: %s}\n" % (direct[3], direct[2]))
    return Gpush(GPUSH, base)


def machine():
    """Seconds of processor since boot, without idle ones."""
    with open("/proc/stat") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return (sum(times) - times[3] - times[4]) / TICK


def of(pid):
    with open("/proc/%d/stat" % pid) as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICK


def agent():
    """The process on the node that has used most of all that run the agent's loader."""
    def is_one(pid):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                return b"# The loader" in file.read()
        except OSError:
            return False
    return max((int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_one(pid)), key=of)


class Cost:
    """Of processes before and after some work, a MB."""

    def __init__(self, parts):
        self.parts, self.sums, self.megabytes = parts, dict.fromkeys(parts, 0.0), 0.0

    def of(self, work, size):
        before = {name: read() for name, read in self.parts.items()}
        result = work()
        for name, read in self.parts.items():
            self.sums[name] += read() - before[name]
        self.megabytes += size / 1e6
        return result

    def text(self):
        return ", ".join("%s %.2f ms" % (name, 1000 * seconds / self.megabytes) for name, seconds in self.sums.items())


def client():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(what, ours, theirs, unit, scale=1.0):
    a, b = statistics.median(ours) * scale, statistics.median(theirs) * scale
    print("| %s | %.2f %s | %.2f %s | %.2f |" % (what, a, unit, b, unit, a / b), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bulk", type=int, default=256, help="MiB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--echoes", type=int, default=1000)
    parser.add_argument("--host", default="h1")
    options = parser.parse_args()
    direct = rig(options.host)
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    session = None
    try:
        session = through_gpush(base, direct)
        ours = session.ssh
        said = subprocess.run([GPUSH, "gateway", "status", "--json"], cwd=session.project, env=session.env, check=True, stdout=subprocess.PIPE)
        gateway, node = json.loads(said.stdout.decode())["pid"], agent()
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("| what | gpush | ssh | gpush / ssh |\n|---|---|---|---|")

        pairs = [(timed(ours + ["true"]), timed(direct + ["true"])) for _ in range(WARM + 4 * options.rounds)][WARM:]
        row("connect", [pair[0] for pair in pairs], [pair[1] for pair in pairs], "ms", 1000)

        one, two = Terminal(ours), Terminal(direct)
        pairs = [(one.echo(), two.echo()) for _ in range(options.echoes + 500)][500:]
        one.close()
        two.close()
        row("echo of a byte, p50 of %d" % options.echoes, [pair[0] for pair in pairs], [pair[1] for pair in pairs], "ms", 1000)

        size = options.bulk << 20
        for what, way in (("down", down), ("up", up)):
            whole = Cost({"machine": machine, "client": client, "gateway": lambda: of(gateway), "agent": lambda: of(node)})
            plain = Cost({"machine": machine, "client": client})
            for _ in range(WARM):
                way(ours, size)
                way(direct, size)
            rates = [(whole.of(lambda: way(ours, size), size), plain.of(lambda: way(direct, size), size)) for _ in range(options.rounds)]
            row("bulk %s, %d MiB" % (what, options.bulk), [rate[0] for rate in rates], [rate[1] for rate in rates], "MB/s", 1e-6)
            print("| processor time a MB %s | %s | %s | %.2f |" % (what, whole.text(), plain.text(),
                                                                     whole.sums["machine"] / plain.sums["machine"]), flush=True)
        print("load %.1f at the end" % os.getloadavg()[0])
    finally:
        if session is not None:
            session.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
