#!/usr/bin/env python3
"""A stopped reader beside a fast one, and many of everything, on one gateway.

    fast reader alone / beside   a download through `ssh devbox` alone, and while another ssh client on the same node is suspended; ratio in one run
    memory                       of the gateway, before and with the suspended readers
    channels                     TCP connections through `ssh -L` that are open at once, each echoing its own bytes; against OpenSSH's own sshd
    nodes                        agents on one gateway

Usage: bench/beside.py [--bulk MIB] [--rounds 5] [--channels 2000] [--nodes 256]      needs ssh, sshd and a built gpush; 0 leaves a part out
"""
import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

from logins import children, memory
from sides import Sshd
from through_ssh import GPUSH, down

PER_CONNECTION = 500        # an ssh connection may have 512 channels
ECHO = """
import selectors, socket
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(4096)
print(server.getsockname()[1], flush=True)
loop = selectors.DefaultSelector(); loop.register(server, 1)
while True:
    for key, _ in loop.select():
        if key.fileobj is server:
            loop.register(server.accept()[0], 1)
        else:
            data = key.fileobj.recv(65536)
            if data: key.fileobj.sendall(data)
            else: loop.unregister(key.fileobj); key.fileobj.close()
"""


class Home:
    def __init__(self, nodes):
        self.base = tempfile.mkdtemp(prefix="gpush-bench-")
        self.project = os.path.join(self.base, "proj")
        os.makedirs(self.project)
        open(os.path.join(self.project, "gpush.yaml"), "w").close()
        self.env = dict(os.environ, GPUSH_HOME=os.path.join(self.base, "home"))
        start = time.perf_counter()
        self.gpush("up", "--nodes", str(nodes))
        self.seconds = time.perf_counter() - start
        self.ssh = ["ssh", "-F", os.path.join(self.base, "home", "ssh_config")]
        status = subprocess.run([GPUSH, "gateway", "status", "--json"], cwd=self.project, env=self.env, check=True, stdout=subprocess.PIPE)
        self.pid = json.loads(status.stdout)["pid"]

    def gpush(self, *words, check=True):
        subprocess.run([GPUSH] + list(words), cwd=self.project, env=self.env, check=check, stdin=subprocess.DEVNULL)

    def memory(self, what="VmRSS"):
        """MiB."""
        with open("/proc/%d/status" % self.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith(what)) / 1024

    def close(self):
        self.gpush("down", "--discard", check=False)
        self.gpush("gateway", "stop", check=False)
        shutil.rmtree(self.base, ignore_errors=True)


class Suspended:
    """An ssh client that reads an endless file and is stopped in the middle of it."""

    def __init__(self, home):
        self.process = subprocess.Popen(home.ssh + ["devbox", "cat /dev/zero"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        os.read(self.process.stdout.fileno(), 1 << 16)
        self.process.send_signal(signal.SIGSTOP)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def fairness(home, size, rounds):
    fast = home.ssh + ["devbox"]
    for _ in range(3):
        down(fast, size)
    before = home.memory()
    pairs, within = [], []
    for _ in range(rounds):
        alone = down(fast, size)
        stopped = [Suspended(home), Suspended(home)]
        pairs.append((alone, down(fast, size)))
        within.append(home.memory())
        for each in stopped:
            each.close()
    alone, beside = (statistics.median(pair[k] for pair in pairs) / 1e6 for k in (0, 1))
    print("| a fast reader beside two suspended ones | %.0f MB/s | %.0f MB/s alone | %.2f |" % (beside, alone, beside / alone), flush=True)
    print("| the gateway's memory with them | %.0f MiB | %.0f MiB before | |" % (max(within), before), flush=True)


class Side:
    """An echo server on the node, and connections to it through `ssh -L`."""

    def __init__(self, ssh, used):
        """`used()`: KiB of what serves the connections."""
        self.ssh, self.used = ssh, used
        self.server = subprocess.Popen(ssh + ["exec python3 -c '%s'" % ECHO], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.port = int(self.server.stdout.readline())
        self.forwards, self.clients = [], []

    def forward(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            local = free.getsockname()[1]
        words = ["-N", "-o", "ExitOnForwardFailure=yes", "-L", "127.0.0.1:%d:127.0.0.1:%d" % (local, self.port)]
        self.forwards.append((local, subprocess.Popen(self.ssh[:1] + words + self.ssh[1:])))
        while True:
            try:
                socket.create_connection(("127.0.0.1", local), 20).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.05)

    def fill(self, count):
        """Opens them one by one, then each gets its own bytes back. Seconds, and KiB of each."""
        for _ in range(-(-count // PER_CONNECTION)):
            self.forward()
        before, start = self.used(), time.perf_counter()
        for number in range(count):
            local = self.forwards[number // PER_CONNECTION][0]
            self.clients.append(socket.create_connection(("127.0.0.1", local), 20))
        for number, client in enumerate(self.clients):
            client.sendall(b"%08d" % number)
        for number, client in enumerate(self.clients):
            got = b""
            while len(got) < 8:
                piece = client.recv(8)
                if not piece:
                    raise RuntimeError("channel %d ended" % number)
                got += piece
            if int(got) != number:
                raise RuntimeError("channel %d echoed %r" % (number, got))
        seconds = time.perf_counter() - start
        return seconds, (self.used() - before) / count

    def empty(self):
        for client in self.clients:
            client.close()
        for _, forward in self.forwards:
            forward.terminate()
            forward.wait()
        self.forwards, self.clients = [], []

    def close(self):
        self.empty()
        self.server.terminate()
        self.server.wait()


def channels(home, count, rounds):
    status = subprocess.run(home.ssh + ["devbox", "echo $PPID"], stdin=subprocess.DEVNULL, check=True, stdout=subprocess.PIPE)
    gateway, agent = home.pid, int(status.stdout)
    rival = os.path.join(home.base, "rival")
    os.makedirs(rival, mode=0o700)
    sshd = Sshd(rival)
    sides = []
    try:
        sides.append(Side(home.ssh + ["devbox"], lambda: memory({gateway, agent}, "java", "python3")))
        sides.append(Side(sshd.ssh, lambda: memory(children({sshd.process.pid}), "sshd")))
        found = []
        for _ in range(1 + rounds):
            found.append([])
            for side in sides:
                found[-1].append(side.fill(count))
                side.empty()
        for number, what, form in ((0, "%d channels, each opened and echoing its own bytes" % count, "%.2f s"), (1, "memory of each", "%.1f KiB")):
            a, b = (statistics.median(each[k][number] for each in found[1:]) for k in (0, 1))
            print("| %s | %s | %s of sshd | %.2f |" % (what, form % a, form % b, a / b), flush=True)
    finally:
        for side in sides:
            side.close()
        sshd.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bulk", type=int, default=512, help="MiB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--channels", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=256)
    options = parser.parse_args()
    print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
    print("| what | | | ratio |\n|---|---|---|---|")
    home = Home(1)
    try:
        if options.bulk:
            fairness(home, options.bulk << 20, options.rounds)
        if options.channels:
            channels(home, options.channels, options.rounds)
    finally:
        home.close()
    if options.nodes:
        home = Home(options.nodes)
        try:
            print("| `gpush up --nodes %d` | %.1f s | the gateway: %.0f MiB, at most %.0f | |"
                  % (options.nodes, home.seconds, home.memory(), home.memory("VmHWM")), flush=True)
        finally:
            home.close()


if __name__ == "__main__":
    main()
