#!/usr/bin/env python3
"""gpush on the Kubernetes rig, against what a user of kubectl types instead, side by side in one run.

    up                 `gpush up` of two nodes until it has returned, against `kubectl create` of the same Job until its pods run
    down               until nothing is there any more, against `kubectl delete job --cascade=foreground`
    ssh devbox true    against `kubectl exec POD -- true`
    echo               a byte there and back through an open `ssh devbox cat`, against `kubectl exec -i POD -- cat`
    bulk               up and down, against the same

Usage: bench/kubernetes.py [--rounds 7] [--bulk MIB]      needs root, a built gpush and `src/test/rigs/kubernetes up`
Rivals are interleaved (ABAB), medians are compared, the first round is dropped. Everything is in a namespace and a home of its own, and is ended when done.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from first_thread import GPUSH, ROOT, timed

RIG = os.path.join(ROOT, "src/test/rigs/kubernetes")


class Cluster:
    def __init__(self, profile="plain"):
        self.kubeconfig = subprocess.run([RIG, "status", profile], check=True, stdout=subprocess.PIPE).stdout.decode().strip()
        self.kubectl_program = os.path.join(os.path.dirname(os.path.dirname(self.kubeconfig)), "build/bin/kubectl")
        self.base = tempfile.mkdtemp(prefix="gpush-bench-")
        self.namespace = "bench-" + os.path.basename(self.base)[-6:].lower().replace("_", "x")
        self.project, self.home = os.path.join(self.base, "proj"), os.path.join(self.base, "home")
        os.makedirs(self.project)
        os.makedirs(self.home)
        with open(os.path.join(self.project, "gpush.yaml"), "w") as file:
            file.write("# a workspace\n")
        self.kubectl("create", "namespace", self.namespace)
        self.env = dict(os.environ, GPUSH_HOME=self.home)
        with open(os.path.join(self.home, "config.yaml"), "w") as file:
            file.write("defaults: {backends: [k8s]}\nbackends:\n  k8s:\n    kind: kubernetes\n    kubeconfig: %s\n    namespace: %s\n"
                       "    image: rig.local/node:1\n    cpus: 1\n" % (self.kubeconfig, self.namespace))

    def command(self, *words):
        return [self.kubectl_program, "--kubeconfig", self.kubeconfig, "-n", self.namespace] + list(words)

    def kubectl(self, *words, check=True):
        return subprocess.run(self.command(*words), check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode()

    def gpush(self, *words, check=True):
        return subprocess.run([GPUSH] + list(words), cwd=self.project, env=self.env, check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode()

    def ssh(self, *words):
        return ["ssh", "-F", os.path.join(self.home, "ssh_config"), "devbox"] + list(words)

    def close(self):
        self.gpush("down", "--discard", check=False)
        self.gpush("gateway", "stop", check=False)
        self.kubectl("delete", "namespace", self.namespace, "--wait=false", check=False)
        shutil.rmtree(self.base, ignore_errors=True)


def same_job(cluster):
    """What gpush has made, as a file for kubectl: the same pods without an agent."""
    job = json.loads(cluster.kubectl("get", "job", "-o", "json"))["items"][0]
    spec = job["spec"]
    for name in ("selector", "manualSelector"):
        spec.pop(name, None)
    spec["suspend"] = False
    pod = spec["template"]
    pod["metadata"] = {}
    pod["spec"].pop("subdomain", None)
    pod["spec"]["terminationGracePeriodSeconds"] = 1
    pod["spec"]["volumes"] = [volume for volume in pod["spec"]["volumes"] if "secret" not in volume]
    container = pod["spec"]["containers"][0]
    container["command"] = ["sleep", "100000"]
    container["volumeMounts"] = [mount for mount in container["volumeMounts"] if "/run/" not in mount["mountPath"]]
    path = os.path.join(cluster.base, "job.json")
    with open(path, "w") as file:
        json.dump({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "rival"}, "spec": spec}, file)
    return path


def life(cluster, path, rounds):
    times = {"up": [], "up rival": [], "down": [], "down rival": []}
    for _ in range(rounds):
        times["up"].append(timed([GPUSH, "up", "--nodes", "2", "--gpus", "H100:8"], env=cluster.env, cwd=cluster.project))
        times["down"].append(timed([GPUSH, "down"], env=cluster.env, cwd=cluster.project))
        start = time.perf_counter()
        cluster.kubectl("create", "-f", path)
        cluster.kubectl("wait", "--for=jsonpath={.status.ready}=2", "job/rival", "--timeout=60s")
        times["up rival"].append(time.perf_counter() - start)
        times["down rival"].append(timed(cluster.command("delete", "job", "rival", "--cascade=foreground", "--timeout=60s")))
    return times


def echo(command, count):
    """Seconds of one byte there and back, each."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as process:
        times = []
        for number in range(count + 20):
            start = time.perf_counter()
            process.stdin.write(b"x")
            process.stdout.read(1)
            if number >= 20:
                times.append(time.perf_counter() - start)
        process.stdin.close()
        process.kill()
    return times


def bulk(cluster, pod, mib, rounds):
    path = os.path.join(cluster.base, "bulk")
    with open(path, "wb") as file:
        for _ in range(mib):
            file.write(os.urandom(1 << 20))
    times = {"bulk up": [], "bulk up rival": [], "bulk down": [], "bulk down rival": []}
    rival = cluster.command("exec", "-i", pod, "--")
    for _ in range(rounds):
        for name, command in (("bulk up", cluster.ssh("cat >/tmp/bulk")), ("bulk up rival", rival + ["sh", "-c", "cat >/tmp/bulk"])):
            with open(path, "rb") as file:
                start = time.perf_counter()
                subprocess.run(command, check=True, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                times[name].append(time.perf_counter() - start)
        for name, command in (("bulk down", cluster.ssh("cat /tmp/bulk")), ("bulk down rival", rival + ["cat", "/tmp/bulk"])):
            times[name].append(timed(command))
    return times


def show(times, unit=1.0, digits=2):
    for name, ours in times.items():
        if not name.endswith(" rival"):
            mine, theirs = statistics.median(ours[1:]) * unit, statistics.median(times[name + " rival"][1:]) * unit
            print("| %s | %.*f | %.*f | %.2f |" % (name, digits, mine, digits, theirs, mine / theirs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bulk", type=int, default=200)
    options = parser.parse_args()
    cluster = Cluster()
    try:
        cluster.gpush("up", "--nodes", "2", "--gpus", "H100:8")
        path = same_job(cluster)
        cluster.gpush("down")
        print("| what | gpush | kubectl | ratio |\n|---|---|---|---|")
        show(life(cluster, path, options.rounds))
        cluster.gpush("up", "--nodes", "2", "--gpus", "H100:8")
        pod = cluster.kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.name}")
        times = {"ssh devbox true": [], "ssh devbox true rival": []}
        for _ in range(options.rounds):
            times["ssh devbox true"].append(timed(cluster.ssh("true")))
            times["ssh devbox true rival"].append(timed(cluster.command("exec", pod, "--", "true")))
        show(times)
        print("in ms:")
        show({"echo": echo(cluster.ssh("cat"), 300), "echo rival": echo(cluster.command("exec", "-i", pod, "--", "cat"), 300)}, 1000.0, 3)
        show(bulk(cluster, pod, options.bulk, max(3, options.rounds // 2)))
        cluster.gpush("down", "--discard")
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
