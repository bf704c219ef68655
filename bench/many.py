#!/usr/bin/env python3
"""64 pods' links on one gateway, against 64 `kubectl exec`, side by side in one run on the Kubernetes rig's profile kwok.

    up                  `gpush up --nodes N` until it returns, and within it until all pods run, and until the last agent is there;
                        against `kubectl create` of the same Job until its pods run, and then N `kubectl exec -i POD -- cat` until all echo
    memory, threads     of the gateway with 2 links and with N; of the N kubectl; resident, proportional, and of Java's heap what is in use
    idle                a minute with nothing to do: processor seconds of the gateway, of N kubectl, and of agents and relays
    exec, run           `true` on all nodes
    API server          killed and started again: how long until all links are back; what of N kubectl is left

Usage: bench/many.py [--nodes 64] [--rounds 4] [--idle 60] [--restarts 3]      needs root, a built gpush and `src/test/rigs/kubernetes up kwok`
No rounds leave out all that is timed before memory is looked at.
The nodes are pretended, their pods' processes are real; all of it is on this machine, and what starts 64 Pythons here is its own processor.
Rivals are interleaved (ABAB), medians are compared, the first round is dropped. Ends what it began.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import time

from first_thread import GPUSH, timed
from kubernetes import RIG, Cluster, same_job

TICK = os.sysconf("SC_CLK_TCK")


class Process:
    """What the kernel says of some processes, all together."""

    def __init__(self, pids):
        self.pids = list(pids)

    def rollup(self, word):
        """MB."""
        return sum(int(re.search(r"^%s:\s+(\d+) kB" % word, self.text(pid, "smaps_rollup"), re.M).group(1)) for pid in self.pids) * 1024 / 1e6

    def threads(self):
        return sum(int(re.search(r"^Threads:\s+(\d+)", self.text(pid, "status"), re.M).group(1)) for pid in self.pids)

    def seconds(self, first=11):
        """Of the processor."""
        fields = [self.text(pid, "stat").rsplit(")", 1)[1].split() for pid in self.pids]
        return sum(int(each[first]) + int(each[first + 1]) for each in fields) / TICK

    def children(self):
        """The same of those of their children that have ended."""
        return self.seconds(13)

    @staticmethod
    def text(pid, name):
        with open("/proc/%d/%s" % (pid, name)) as file:
            return file.read()


def gateway(cluster):
    return json.loads(cluster.gpush("gateway", "status", "--json"))["pid"]


def heap(pid):
    """MB in use when nothing is there that nobody wants, as the program that is beside its java says."""
    jcmd = os.path.join(os.path.dirname(os.readlink("/proc/%d/exe" % pid)), "jcmd")
    for _ in range(2):
        subprocess.run([jcmd, str(pid), "GC.run"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said = subprocess.run([jcmd, str(pid), "GC.heap_info"], check=True, stdout=subprocess.PIPE).stdout.decode()
    return sum(int(kib) for kib in re.findall(r"total \d+K, used (\d+)K", said)) * 1024 / 1e6


def words(cluster):
    """Of the rig's own program for containers: of each pod of ours the moments in which it ran, and in which its agent spoke."""
    said = {}
    with open(os.path.join(os.path.dirname(cluster.kubeconfig), "log/pods.log")) as file:
        for line in file:
            found = re.match(r"([\d.]+) %s/(\S+) (running|speaks)$" % cluster.namespace, line)
            if found:
                said.setdefault(found.group(3), {})[found.group(2)] = float(found.group(1))
    return said


def ours(cluster, since):
    """The last pod's, in seconds."""
    said = words(cluster)
    return [max(at for at in said[word].values() if at > since) - since for word in ("running", "speaks")]


class Execs:
    """One `kubectl exec -i POD -- cat` for each pod, all begun at once."""

    def __init__(self, cluster, pods):
        self.start = time.perf_counter()
        self.open = [subprocess.Popen(cluster.command("exec", "-i", pod, "--", "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, bufsize=0) for pod in pods]
        for each in self.open:
            each.stdin.write(b"x")
        for each in self.open:
            if each.stdout.read(1) != b"x":
                raise RuntimeError("a kubectl exec ended")
        self.seconds = time.perf_counter() - self.start
        self.process = Process(each.pid for each in self.open)

    def living(self):
        return sum(each.poll() is None for each in self.open)

    def close(self):
        for each in self.open:
            each.stdin.close()
        for each in self.open:
            each.kill()
            each.wait()
            each.stdout.close()


def pods(cluster, job):
    return cluster.kubectl("get", "pods", "-l", "job-name=" + job, "-o", "jsonpath={.items[*].metadata.name}").split()


def up(cluster, nodes):
    began = time.time()
    start = time.perf_counter()
    cluster.gpush("up", "--nodes", str(nodes))
    return began, time.perf_counter() - start


def ups(cluster, path, nodes, rounds):
    times = {name: [] for name in ("up", "until all pods run", "until the last agent is there", "after that", "exec", "run", "down",
                                   "processor: gateway", "processor: agents", "processor: what is run in pods",
                                   "rival up", "rival links", "rival exec", "rival down")}
    mine, theirs = Process([gateway(cluster)]), rig_process(cluster, "pods")
    for number in range(rounds):
        before, before_there = mine.seconds(), theirs.children()
        began, whole = up(cluster, nodes)
        times["processor: gateway"].append(mine.seconds() - before)
        times["processor: agents"].append(agents(cluster).seconds())
        times["processor: what is run in pods"].append(theirs.children() - before_there)
        run, speak = ours(cluster, began)
        for name, value in (("up", whole), ("until all pods run", run), ("until the last agent is there", speak), ("after that", whole - speak)):
            times[name].append(value)
        times["exec"].append(timed([GPUSH, "exec", "--all", "true"], env=cluster.env, cwd=cluster.project))
        times["run"].append(timed([GPUSH, "run", "true"], env=cluster.env, cwd=cluster.project))
        times["down"].append(timed([GPUSH, "down", "--discard"], env=cluster.env, cwd=cluster.project))
        start = time.perf_counter()
        cluster.kubectl("create", "-f", path)
        cluster.kubectl("wait", "--for=jsonpath={.status.ready}=%d" % nodes, "job/rival", "--timeout=120s")
        times["rival up"].append(time.perf_counter() - start)
        names = pods(cluster, "rival")
        execs = Execs(cluster, names)
        times["rival links"].append(execs.seconds)
        execs.close()
        start = time.perf_counter()
        for each in [subprocess.Popen(cluster.command("exec", name, "--", "true"), stdin=subprocess.DEVNULL) for name in names]:
            each.wait()
        times["rival exec"].append(time.perf_counter() - start)
        times["rival down"].append(timed(cluster.command("delete", "job", "rival", "--cascade=foreground", "--timeout=120s")))
        print("# round %d: %s" % (number, ", ".join("%s %.2f" % (name, all_[-1]) for name, all_ in times.items())), flush=True)
    return {name: statistics.median(all_[1:]) for name, all_ in times.items()}


def weigh(pid):
    one = Process([pid])
    before = one.rollup("Rss")
    live = heap(pid)
    return {"resident, as it stood": before, "resident": one.rollup("Rss"), "proportional": one.rollup("Pss"), "heap in use": live, "threads": one.threads()}


def idle(seconds, parts):
    before = {name: process.seconds() for name, process in parts.items()}
    time.sleep(seconds)
    return {name: process.seconds() - before[name] for name, process in parts.items()}


def rig_process(cluster, name):
    """The program of that name in the rig's rack, as this machine numbers it."""
    with open(os.path.join(os.path.dirname(cluster.kubeconfig), "rack.pid")) as file:
        rack = int(file.read().split()[0])
    wanted = os.readlink("/proc/%d/ns/pid" % rack)
    return Process(pid for pid in numbers() if namespace(pid) == wanted and command(pid)[:1] == [name])


def numbers():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def namespace(pid):
    try:
        return os.readlink("/proc/%d/ns/pid" % pid)
    except OSError:
        return ""


def command(pid):
    try:
        return Process.text(pid, "cmdline").split("\0")
    except OSError:
        return []


def agents(cluster):
    """Every process of every pod: their process namespaces are children of the rack's."""
    with open(os.path.join(os.path.dirname(cluster.kubeconfig), "rack.pid")) as file:
        rack = int(file.read().split()[0])
    mine, machine = namespace(rack), namespace(os.getpid())
    depth = len(re.search(r"^NSpid:(.*)$", Process.text(rack, "status"), re.M).group(1).split())
    found = []
    for pid in numbers():
        try:
            deep = len(re.search(r"^NSpid:(.*)$", Process.text(pid, "status"), re.M).group(1).split())
        except (OSError, AttributeError):
            continue
        if deep == depth + 1 and namespace(pid) not in (mine, machine) and b"".join(c.encode() for c in command(pid)).find(b"python") >= 0:
            found.append(pid)
    return Process(found)


def links(cluster):
    return [node["link"] for node in json.loads(cluster.gpush("nodes", "--json", check=False) or "[]")]


def restart(cluster, nodes, execs):
    subprocess.run([RIG, "off", "apiserver", "kwok"], check=True)
    time.sleep(3)
    left = execs.living()
    subprocess.run([RIG, "on", "apiserver", "kwok"], check=True)
    start = time.perf_counter()
    while subprocess.run(cluster.command("get", "--raw", "/readyz"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.1)
    ready = time.perf_counter() - start
    while [state for state in links(cluster) if state != "up"] or not links(cluster):
        if time.perf_counter() - start > 180:
            raise RuntimeError("not all links are back: %s" % links(cluster))
        time.sleep(0.1)
    back = time.perf_counter() - start
    again = Execs(cluster, pods_of(cluster))
    again.close()
    return left, ready, back, again.seconds


def pods_of(cluster):
    return cluster.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.name}").split()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--idle", type=int, default=60)
    parser.add_argument("--restarts", type=int, default=3)
    options = parser.parse_args()
    cluster = Cluster("kwok")
    n = options.nodes
    try:
        print("# load %s" % open("/proc/loadavg").read().strip())
        if options.rounds:
            cluster.gpush("up", "--nodes", str(n))
            path = same_job(cluster)
            cluster.gpush("down", "--discard")
            for name, value in ups(cluster, path, n, options.rounds).items():
                print("| %s | %.2f s |" % (name, value))
            cluster.gpush("gateway", "stop")
        cluster.gpush("up", "--nodes", "2")
        pid = gateway(cluster)
        few = weigh(pid)
        cluster.gpush("down", "--discard")
        cluster.gpush("gateway", "stop")
        cluster.gpush("up", "--nodes", str(n))
        pid = gateway(cluster)
        many = weigh(pid)
        execs = Execs(cluster, pods_of(cluster))
        print("| gateway | 2 links | %d links | of each | one kubectl |" % n)
        rival = {"resident": execs.process.rollup("Rss") / n, "proportional": execs.process.rollup("Pss") / n,
                 "threads": execs.process.threads() / n}
        for name in few:
            print("| %s | %.1f | %.1f | %.2f | %s |" % (name, few[name], many[name], (many[name] - few[name]) / (n - 2),
                                                  "%.2f" % rival[name] if name in rival else ""))
        print("| %d kubectl, proportional | %.0f MB |" % (n, execs.process.rollup("Pss")))
        print("| agents and relays in the pods, proportional | %.0f MB |" % agents(cluster).rollup("Pss"))
        time.sleep(15)
        spent = idle(options.idle, {"the gateway": Process([pid]), "%d kubectl" % n: execs.process, "agents and relays": agents(cluster)})
        for name, value in spent.items():
            print("| %d s idle: %s | %.2f s |" % (options.idle, name, value))
        for _ in range(options.restarts):
            left, ready, back, again = restart(cluster, n, execs)
            print("| API server again: it answers after %.2f s, all links after %.2f s; kubectl: %d of %d left, new ones take %.2f s |"
                  % (ready, back, left, n, again), flush=True)
            execs.close()
            execs = Execs(cluster, pods_of(cluster))
        execs.close()
        print("# load %s" % open("/proc/loadavg").read().strip())
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
