#!/usr/bin/env python3
"""From Enter to the moment in which the ranks' programs begin: `gpush run` in an open session, against the same ranks started by ssh.

    gpush run               on local nodes; the whole command, with its look for edits and its journal
    ssh, one after another  a loop over the hosts; each ssh returns when its rank was started in the background
    ssh, side by side       the same with `&`: all logins at once
    ssh over open masters   the same with a ControlMaster to each host that was open before Enter

Each rank writes the time with its first statement. The ranks are the same program with the same variables on both sides: plain Python, or
with `--torch PYTHON` torchrun with one rank a node, as gpush starts it where torch is installed. All hosts are one sshd on this machine, as
gpush's nodes are agents on it, so both sides share its processors; a network would add its round trips to both. The shells of the logins
read no startup files: what a ~/.bashrc takes is the machine's, and gpush starts ranks without one.

Usage: bench/launch.py [--nodes 1,8,64] [--rounds 5] [--torch PYTHON]      needs ssh, sshd and a built gpush
All four take turns; medians are compared, the first round is dropped. Everything runs in a temporary home and is ended when done.
"""
import argparse
import os
import shlex
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
RANK = """import time
begun = time.time()
import os
path = os.path.join(%r, os.environ["RANK"])
with open(path + ".new", "w") as file:
    file.write(repr(begun))
os.rename(path + ".new", path)
"""
# As many logins at once as there are nodes; and bash takes itself for a shell within another one, which reads no startup files.
FAIR = ("MaxStartups 1000", "SetEnv SHLVL=1")
LONGEST = 300       # seconds until all ranks have begun


class Stamps:
    """When each rank began."""

    def __init__(self, folder, ranks):
        self.folder, self.ranks = folder, ranks

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)

    def wait(self):
        """When the first and the last one began."""
        paths = [os.path.join(self.folder, str(rank)) for rank in range(self.ranks)]
        until = time.time() + LONGEST
        while not all(os.path.exists(path) for path in paths):
            if time.time() > until:
                raise RuntimeError("%d of %d ranks began" % (sum(map(os.path.exists, paths)), self.ranks))
            time.sleep(0.005)
        begun = []
        for path in paths:
            with open(path) as file:
                begun.append(float(file.read()))
        return min(begun), max(begun)


class Hands:
    """What a user does with ssh and as many hosts."""

    def __init__(self, sshd, nodes, python, with_torch, script):
        self.nodes, self.python, self.with_torch, self.script = nodes, python, with_torch, script
        self.config = os.path.join(sshd.folder, "ssh_config_many")
        with open(os.path.join(sshd.folder, "ssh_config")) as given:
            options = given.read().replace("Host rival\n", "Host n*\n")
        with open(self.config, "w") as out:
            out.write("Host m*\n ControlPath %s/%%n\n" % sshd.folder + options + options.replace("Host n*\n", "Host m*\n"))
        self.masters = []

    def open_masters(self):
        for node in range(self.nodes):
            self.masters.append(subprocess.Popen(["ssh", "-F", self.config, "-M", "-N", "m%d" % node], stdin=subprocess.DEVNULL))
            while subprocess.run(["ssh", "-F", self.config, "-O", "check", "m%d" % node], stderr=subprocess.DEVNULL).returncode:
                if self.masters[-1].poll() is not None:
                    raise RuntimeError("a master ended")
                time.sleep(0.02)

    def close(self):
        for master in self.masters:
            master.terminate()
            master.wait()

    def command(self, node, port):
        """For the shell of a host. The rank outlives its login."""
        if self.with_torch:
            words = [self.python, "-m", "torch.distributed.run", "--nnodes", str(self.nodes), "--node-rank", str(node), "--nproc-per-node", "1",
                     "--master-addr", "127.0.0.1", "--master-port", str(port), self.script]
        else:
            words = ["env", "RANK=%d" % node, "LOCAL_RANK=0", "WORLD_SIZE=%d" % self.nodes, "LOCAL_WORLD_SIZE=1", "NODE_RANK=%d" % node,
                     "MASTER_ADDR=127.0.0.1", "MASTER_PORT=%d" % port, "PYTHONUNBUFFERED=1", "OMP_NUM_THREADS=1", self.python, self.script]
        return "setsid %s </dev/null >/dev/null 2>&1 &" % " ".join(shlex.quote(word) for word in words)

    def logins(self, host):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return [["ssh", "-F", self.config, "%s%d" % (host, node), self.command(node, port)] for node in range(self.nodes)]

    def in_turn(self):
        for login in self.logins("n"):
            subprocess.run(login, check=True, stdin=subprocess.DEVNULL)

    def at_once(self, host="n"):
        for each in [subprocess.Popen(login, stdin=subprocess.DEVNULL) for login in self.logins(host)]:
            if each.wait():
                raise RuntimeError("a login failed")


def compare(nodes, asked, base, sshd):
    folder = os.path.join(base, "nodes%d" % nodes)
    os.mkdir(folder)
    python = asked.torch or sys.executable
    stamps = Stamps(os.path.join(folder, "stamps"), nodes)
    gpush = Gpush(GPUSH, folder, "--nodes", str(nodes), "--yes", "--python", python)
    script = os.path.join(gpush.project, "rank.py")
    with open(script, "w") as file:
        file.write(RANK % stamps.folder)
    hands = Hands(sshd, nodes, python, bool(asked.torch), script)

    def ours():
        said = subprocess.run([GPUSH, "run", "rank.py"], cwd=gpush.project, env=gpush.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if said.returncode:
            raise RuntimeError(said.stdout.decode())

    sides = {"gpush run": ours, "ssh, one after another": hands.in_turn, "ssh, side by side": hands.at_once,
             "ssh over open masters": lambda: hands.at_once("m")}
    times = {name: [] for name in sides}
    try:
        hands.open_masters()
        for number in range(asked.rounds + 1):
            for name, start in sides.items():
                stamps.clear()
                enter = time.time()
                start()
                first, last = stamps.wait()
                if number:
                    times[name].append((first - enter, last - enter))
    finally:
        hands.close()
        gpush.close()
    own = statistics.median(last for _, last in times["gpush run"])
    for name, pairs in times.items():
        first, last = (statistics.median(pair[k] for pair in pairs) for k in (0, 1))
        print("| %d | %s | %.0f ms | %.0f ms (%.0f to %.0f) | %.2f |" % (
            nodes, name, first * 1000, last * 1000, min(pair[1] for pair in pairs) * 1000, max(pair[1] for pair in pairs) * 1000, own / last),
            flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="1,8,64")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--torch", metavar="PYTHON", help="a Python with torch: the ranks are torchrun's")
    asked = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    try:
        rival = os.path.join(base, "sshd")
        os.makedirs(rival, mode=0o700)
        sshd = Sshd(rival, *FAIR)
        try:
            print("machine: %d cores, %s, load %.1f" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
            print("%s, %d rounds\n" % ("torchrun, one rank a node" if asked.torch else "plain Python, one rank a node", asked.rounds))
            print("| nodes | what | first rank begins | last rank begins: median (least to most) | gpush / this |\n|---|---|---|---|---|")
            for nodes in asked.nodes.split(","):
                compare(int(nodes), asked, base, sshd)
            print("\nload %.1f at the end" % os.getloadavg()[0])
        finally:
            sshd.close()
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
