#!/usr/bin/env python3
"""A stopped reader beside a fast one, and many of everything, on one gateway.

    fast reader alone / beside   a download through `ssh devbox` alone, and while another ssh client on the same node is suspended; ratio in one run
    memory                       of the gateway, before and with the suspended readers
    channels                     TCP connections through `ssh -L` that are open at once, each echoing its own bytes
    nodes                        agents on one gateway

Usage: bench/beside.py [--bulk MIB] [--rounds 5] [--channels 2000] [--nodes 256]      needs ssh and a built gpush; 0 leaves a part out
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


def channels(home, count):
    server = subprocess.Popen(home.ssh + ["devbox", "exec python3 -c '%s'" % ECHO], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    port = int(server.stdout.readline())
    forwards, clients = [], []
    try:
        for _ in range(-(-count // PER_CONNECTION)):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                local = free.getsockname()[1]
            forwards.append((local, subprocess.Popen(home.ssh + ["-N", "-o", "ExitOnForwardFailure=yes", "-L", "127.0.0.1:%d:127.0.0.1:%d" % (local, port), "devbox"])))
        start = time.perf_counter()
        for number in range(count):
            local = forwards[number // PER_CONNECTION][0]
            while True:
                try:
                    clients.append(socket.create_connection(("127.0.0.1", local), 20))
                    break
                except ConnectionRefusedError:
                    time.sleep(0.05)
        for number, client in enumerate(clients):
            client.sendall(b"%08d" % number)
        for number, client in enumerate(clients):
            got = b""
            while len(got) < 8:
                piece = client.recv(8)
                if not piece:
                    raise RuntimeError("channel %d ended" % number)
                got += piece
            if int(got) != number:
                raise RuntimeError("channel %d echoed %r" % (number, got))
        seconds = time.perf_counter() - start
        print("| %d channels, each opened and echoing its own bytes | %.1f s | the gateway: %.0f MiB | |" % (count, seconds, home.memory()), flush=True)
    finally:
        for client in clients:
            client.close()
        for _, forward in forwards:
            forward.terminate()
            forward.wait()
        server.terminate()
        server.wait()


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
            channels(home, options.channels)
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
