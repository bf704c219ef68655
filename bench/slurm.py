#!/usr/bin/env python3
"""gpush on the Slurm rig, against what a user of Slurm types instead, side by side in one run.

    up                 `gpush up` on an idle cluster until it has returned, against `salloc --no-shell` of the same nodes
    run (no change)    until the first rank's line, against `srun --overlap -N2` of the same script in the same job
    ssh devbox true    against `ssh login srun --overlap … true` in the same job
    ps                 while the controller answers, and while it is stopped

Usage: bench/slurm.py [--rounds 7] [--profile default]      needs root, a built gpush and `src/test/rigs/slurm up`
The rival's ssh has a connection that is open already, as gpush has, but where it says plain: there it logs in, as `ssh devbox` does at the gateway. Rivals are interleaved (ABAB), medians are compared, the first
round is dropped. Everything runs in a temporary home and is ended when done.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from first_thread import GPUSH, ROOT, first_line, timed

RIG = os.path.join(ROOT, "src/test/rigs/slurm")
RANK = "import os\nprint('rank', os.environ.get('RANK', os.environ.get('SLURM_PROCID')), flush=True)\n"
GPUS = 8


class Cluster:
    def __init__(self, profile):
        self.profile = profile
        self.config = subprocess.run([RIG, "status", profile], check=True, stdout=subprocess.PIPE).stdout.decode().strip()
        self.base = tempfile.mkdtemp(prefix="gpush-bench-")
        self.project = os.path.join(self.base, "proj")
        self.home = os.path.join(self.base, "home")
        os.makedirs(self.project)
        os.makedirs(self.home)
        with open(os.path.join(self.project, "gpush.yaml"), "w") as file:
            file.write("# a workspace\n")
        with open(os.path.join(self.project, "rank.py"), "w") as file:
            file.write(RANK)
        with open(os.path.join(self.home, "config.yaml"), "w") as file:
            file.write("defaults: {backends: [hpc]}\nbackends:\n  hpc: {kind: slurm, login: login, ssh-config: %s}\n" % self.config)
        self.env = dict(os.environ, GPUSH_HOME=self.home)
        self.master = os.path.join(self.base, "master")
        self.ssh = ["ssh", "-F", self.config, "-S", self.master, "login"]
        subprocess.run(["ssh", "-F", self.config, "-M", "-S", self.master, "-f", "-N", "login"], check=True, stdin=subprocess.DEVNULL)

    def gpush(self, *words, check=True):
        return subprocess.run([GPUSH] + list(words), cwd=self.project, env=self.env, check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode()

    def at_login(self, *words):
        return subprocess.run(self.ssh + list(words), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()

    def await_idle(self):
        """No job, no node that still completes one, and a scheduler that has rested: a job that ends keeps batch jobs waiting for
        batch_sched_delay (3 s unless configured), and salloc not."""
        while self.at_login("squeue", "-h") or "idle" != "".join(sorted(set(self.at_login("sinfo", "-h", "-o", "%t").split()))):
            time.sleep(0.1)
        time.sleep(3.5)

    def batch(self):
        """Slurm's own share of `up`: it holds its nodes by a batch job, which must outlive whoever has asked for it."""
        start = time.perf_counter()
        self.at_login("sbatch", "-J", "bench", "-N2", "--gpus-per-node=h100:%d" % GPUS, "--wrap", "'sleep 60'")
        while self.at_login("squeue", "-h", "-n", "bench", "-o", "%T").strip() != "RUNNING":
            pass
        taken = time.perf_counter() - start
        self.at_login("scancel", "-n", "bench")
        return taken

    def controller(self, signal):
        subprocess.run([RIG, "enter", "ctl", self.profile, "--", "pkill", "-" + signal, "slurmctld"], check=True)

    def close(self):
        self.gpush("down", "--discard", check=False)
        self.gpush("gateway", "stop", check=False)
        subprocess.run(["ssh", "-F", self.config, "-S", self.master, "-O", "exit", "login"], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.base, ignore_errors=True)


def row(name, ours, theirs, aim):
    a, b = statistics.median(ours), statistics.median(theirs)
    print("| %s | %.2f s | %.2f s | %+.2f s | %s | %.2f–%.2f, %.2f–%.2f |" % (name, a, b, a - b, aim, min(ours), max(ours), min(theirs), max(theirs)), flush=True)


def ups(cluster, rounds):
    ours, theirs, batch = [], [], []
    for _ in range(rounds + 1):
        cluster.await_idle()
        ours.append(timed([GPUSH, "up", "--nodes", "2", "--gpus", "H100:%d" % GPUS], cluster.env, cluster.project))
        cluster.gpush("down", "--discard")
        cluster.await_idle()
        start = time.perf_counter()
        cluster.at_login("salloc", "--no-shell", "-J", "bench", "-N2", "--gpus-per-node=h100:%d" % GPUS)
        theirs.append(time.perf_counter() - start)
        cluster.at_login("scancel", "-n", "bench")
        cluster.await_idle()
        batch.append(cluster.batch())
    row("`up` of 2×%d on an idle cluster, against `salloc --no-shell`" % GPUS, ours[1:], theirs[1:], "+1.5 s")
    row("the same, against `sbatch` of an empty holder, until squeue says that it runs", ours[1:], batch[1:], "")


def inside(cluster, rounds):
    cluster.await_idle()
    cluster.gpush("up", "--nodes", "2", "--gpus", "H100:%d" % GPUS)
    job = cluster.at_login("squeue", "-h", "-o", "%i").strip()
    workspace = cluster.gpush("exec", "pwd").strip()
    run = [GPUSH, "run", "--nodes", "2", "--gpus", "1", "rank.py"]
    srun = cluster.ssh + ["srun", "--jobid", job, "--overlap", "-N2", "-n2", "python3", workspace + "/rank.py"]
    devbox = ["ssh", "-F", os.path.join(cluster.home, "ssh_config"), "devbox", "true"]
    step = cluster.ssh + ["srun", "--jobid", job, "--overlap", "-N1", "-n1", "true"]
    plain = ["ssh", "-F", cluster.config, "login", "srun", "--jobid", job, "--overlap", "-N1", "-n1", "true"]
    pairs = {"run": ([], []), "ssh": ([], []), "open": ([], [])}
    for _ in range(rounds + 1):
        pairs["run"][0].append(first_line(run, b"rank", cluster.env, cluster.project))
        pairs["run"][1].append(first_line(srun, b"rank"))
        pairs["ssh"][0].append(timed(devbox, cluster.env))
        pairs["ssh"][1].append(timed(plain))
        pairs["open"][0].append(timed(devbox, cluster.env))
        pairs["open"][1].append(timed(step))
    row("`run`, no change, two nodes, to the first rank's line, against `srun --overlap -N2`", pairs["run"][0][1:], pairs["run"][1][1:], "+0.3 s")
    row("`ssh devbox true`, against plain `ssh login srun --overlap`", pairs["ssh"][0][1:], pairs["ssh"][1][1:], "not slower")
    row("the same, against a connection that is open already", pairs["open"][0][1:], pairs["open"][1][1:], "")


def ps(cluster, rounds):
    quick = [timed([GPUSH, "ps"], cluster.env, cluster.project) for _ in range(rounds + 1)][1:]
    cluster.controller("STOP")
    try:
        slow = [timed([GPUSH, "ps"], cluster.env, cluster.project) for _ in range(rounds + 1)][1:]
        state = json.loads(cluster.gpush("ps", "--json"))[0]["state"]
    finally:
        cluster.controller("CONT")
    row("`ps` while the controller is stopped (says %s), against `ps` while it answers" % state, slow, quick, "the same")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--profile", default="default")
    options = parser.parse_args()
    cluster = Cluster(options.profile)
    try:
        print("machine: %d cores, %s, load %.1f" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("%d rounds on %s\n" % (options.rounds, cluster.at_login("sinfo", "-V").strip()))
        print("| what | gpush | instead | added | aim | ranges |\n|---|---|---|---|---|---|", flush=True)
        ups(cluster, options.rounds)
        inside(cluster, options.rounds)
        ps(cluster, options.rounds)
        print("\nload at the end: %.1f" % os.getloadavg()[0])
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
