#!/usr/bin/env python3
"""A host through gpush against the same host through ssh alone, in one run.

    connect                     `ssh HOST true` until it has ended; both log in each time
    one byte and its echo       in a terminal, until it is back; medians
    bulk down, bulk up          from the first byte to the last, without the time to connect
    processor time a MB         of the whole machine, which is client, gateway, agent and both sshd; and of gpush's parts alone

Usage: bench/against_ssh.py [--bulk MIB] [--rounds 5] [--echoes 1000] [--host h1] [--against OTHER/gpush [--other-host h2]]
Needs root, a built gpush and `src/test/rigs/ssh up`. Another build of gpush is a third rival, to a host of its own.
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


class Ours:
    """A host through a gpush with a gateway of its own."""

    def __init__(self, name, program, base, direct):
        self.name = name
        os.makedirs(os.path.join(base, "home"))
        with open(os.path.join(base, "home", "config.yaml"), "w") as out:
            out.write("defaults: {backends: [rack]}\nbackends:\n  rack: {kind: ssh, hosts: [%s], ssh-config: %s}\n" % (direct[3], direct[2]))
        before = agents()
        self.side = Gpush(program, base)
        self.ssh = self.side.ssh
        said = subprocess.run([program, "gateway", "status", "--json"], cwd=self.side.project, env=self.side.env, check=True, stdout=subprocess.PIPE)
        gateway, node = json.loads(said.stdout.decode())["pid"], max(agents() - before, key=of)
        self.parts = {"machine": machine, "client": client, "gateway": lambda: of(gateway), "agent": lambda: of(node)}


class Direct:
    name = "ssh"

    def __init__(self, ssh):
        self.ssh, self.parts = ssh, {"machine": machine, "client": client}


def machine():
    """Seconds of processor since boot, without idle ones."""
    with open("/proc/stat") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return (sum(times) - times[3] - times[4]) / TICK


def of(pid):
    with open("/proc/%d/stat" % pid) as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICK


def agents():
    """The processes that run the agent's loader; of one node, the one that has used most is its agent."""
    def is_one(pid):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                return b"# The loader" in file.read()
        except OSError:
            return False
    return {int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_one(pid)}


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


def row(what, values, unit, scale=1.0):
    """One value a rival; the last one is ssh."""
    print("| %s | %s | %s |" % (what, " | ".join("%.2f %s" % (value * scale, unit) for value in values),
                                " | ".join("%.2f" % (value / values[-1]) for value in values[:-1])), flush=True)


def medians(rounds):
    return [statistics.median(values) for values in zip(*rounds)]


def measure(rivals, options):
    names = [rival.name for rival in rivals]
    print("| what | %s | %s |" % (" | ".join(names), " | ".join(name + " / ssh" for name in names[:-1])))
    print("|---" * (2 * len(names)) + "|")

    rounds = [[timed(rival.ssh + ["true"]) for rival in rivals] for _ in range(WARM + 4 * options.rounds)][WARM:]
    row("connect", medians(rounds), "ms", 1000)

    terminals = [Terminal(rival.ssh) for rival in rivals]
    rounds = [[terminal.echo() for terminal in terminals] for _ in range(options.echoes + 500)][500:]
    for terminal in terminals:
        terminal.close()
    row("echo of a byte, p50 of %d" % options.echoes, medians(rounds), "ms", 1000)

    size = options.bulk << 20
    for what, way in (("down", down), ("up", up)):
        costs = [Cost(rival.parts) for rival in rivals]
        for _ in range(WARM):
            for rival in rivals:
                way(rival.ssh, size)
        rounds = [[cost.of(lambda: way(rival.ssh, size), size) for rival, cost in zip(rivals, costs)] for _ in range(options.rounds)]
        row("bulk %s, %d MiB" % (what, options.bulk), medians(rounds), "MB/s", 1e-6)
        print("| processor time a MB %s | %s | %s |" % (what, " | ".join(cost.text() for cost in costs), " | ".join(
            "%.2f" % (cost.sums["machine"] / costs[-1].sums["machine"]) for cost in costs[:-1])), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bulk", type=int, default=256, help="MiB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--echoes", type=int, default=1000)
    parser.add_argument("--host", default="h1")
    parser.add_argument("--against", help="the gpush of another build, as a third rival")
    parser.add_argument("--other-host", default="h2", help="of the other build")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    rivals = []
    try:
        rivals.append(Ours("gpush", GPUSH, os.path.join(base, "ours"), rig(options.host)))
        if options.against:
            rivals.append(Ours("other", os.path.abspath(options.against), os.path.join(base, "other"), rig(options.other_host)))
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        measure(rivals + [Direct(rig(options.host))], options)
        print("load %.1f at the end" % os.getloadavg()[0])
    finally:
        for rival in rivals:
            rival.side.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
