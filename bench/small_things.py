#!/usr/bin/env python3
"""Small things through ssh to a local node, against OpenSSH's own sshd with the same cipher, or another build of gpush, in one run.

    sftp                        stat; create, write and close a file; each as one request after the other, and stat with 32 in flight
    rsync                       a folder of small files into a new one, the whole command
    a forwarded connection      through `-L`, until the first byte is back
    bulk through `-L`           from the first byte to the last, to the client
    ControlMaster               `ssh host true` over an open connection, the whole command

Usage: bench/small_things.py [--rounds 5] [--files 5000] [--bulk MIB] [--against OTHER/gpush]     needs ssh, sshd, rsync and a built gpush
Rivals are interleaved (ABAB), medians of rounds are compared, the first round is for the JVM and is dropped.
"""
import argparse
import os
import shutil
import socket
import statistics
import struct
import subprocess
import tempfile
import threading
import time

from sides import Gpush, Sshd

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUSH = os.path.join(ROOT, "gpush")
OPERATIONS = 400        # of sftp in a round
CONNECTIONS = 60
COMMANDS = 15
IN_FLIGHT = 32
OPEN, CLOSE, WRITE, STAT, HANDLE, STATUS = 3, 4, 6, 17, 102, 101
CREATE = 0x2 | 0x8 | 0x10


class Sftp:
    """A client of SFTP version 3 over `ssh -s`."""

    def __init__(self, host):
        self.process = subprocess.Popen(host[:1] + ["-s"] + host[1:] + ["sftp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ident = 0
        self.process.stdin.write(struct.pack(">IBI", 5, 1, 3))
        self.process.stdin.flush()
        self.answer()

    def ask(self, kind, body):
        self.ident += 1
        self.process.stdin.write(struct.pack(">IBI", len(body) + 5, kind, self.ident) + body)
        self.process.stdin.flush()

    def answer(self):
        out = self.process.stdout
        return out.read(struct.unpack(">I", out.read(4))[0])

    def stat(self, path):
        self.ask(STAT, text(path))
        self.answer()

    def create(self, path, content):
        self.ask(OPEN, text(path) + struct.pack(">II", CREATE, 0))
        opened = self.answer()
        if opened[0] != HANDLE:
            raise RuntimeError("open: %r" % opened)
        handle = opened[5:]
        for kind, body in ((WRITE, handle + struct.pack(">Q", 0) + text(content)), (CLOSE, handle)):
            self.ask(kind, body)
            done = self.answer()
            if done[0] != STATUS or done[5:9] != bytes(4):
                raise RuntimeError("write: %r" % done)

    def stats_in_flight(self, path, count):
        for number in range(count + IN_FLIGHT):
            if number < count:
                self.ask(STAT, text(path))
            if number >= IN_FLIGHT:
                self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack(">I", len(value)) + value


class Target:
    """A server on this machine: one byte asks for its echo, or for that many MiB."""

    def __init__(self, mebibytes):
        self.mebibytes = mebibytes
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(peer,), daemon=True).start()

    def answer(self, peer):
        with peer:
            asked = peer.recv(1)
            if asked == b"b":
                block = bytes(1 << 20)
                for _ in range(self.mebibytes):
                    peer.sendall(block)
            elif asked:
                peer.sendall(asked)

    def close(self):
        self.socket.close()


class Side:
    def __init__(self, host, base, target, files):
        self.host, self.files = host, files
        self.folder = tempfile.mkdtemp(dir=base)
        self.sftp = Sftp(host)
        self.count = 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.control = os.path.join(self.folder, "control")
        own = ["-o", "ControlPath=" + self.control]
        self.muxed = host[:1] + own + host[1:]
        self.master = subprocess.Popen(host[:1] + own + ["-M", "-N", "-L", "127.0.0.1:%d:127.0.0.1:%d" % (self.port, target.port)] + host[1:],
                                       stdin=subprocess.DEVNULL)
        while subprocess.run(self.muxed[:1] + own + ["-O", "check"] + host[1:], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            if self.master.poll() is not None:
                raise RuntimeError("the master ended")
            time.sleep(0.02)

    def stat(self):
        return each(OPERATIONS, lambda _: self.sftp.stat(self.folder))

    def stat_in_flight(self):
        start = time.perf_counter()
        self.sftp.stats_in_flight(self.folder, OPERATIONS)
        return (time.perf_counter() - start) / OPERATIONS

    def create(self):
        self.count += 1
        return each(OPERATIONS, lambda number: self.sftp.create("%s/f%d-%d" % (self.folder, self.count, number), b"x" * 1000))

    def rsync(self):
        self.count += 1
        start = time.perf_counter()
        subprocess.run(["rsync", "-a", "-e", " ".join(self.host[:-1]), self.files + "/", "%s:%s/r%d" % (self.host[-1], self.folder, self.count)],
                       check=True)
        took = time.perf_counter() - start
        shutil.rmtree("%s/r%d" % (self.folder, self.count))
        return took

    def connection(self):
        def once(_):
            with socket.create_connection(("127.0.0.1", self.port)) as through:
                through.sendall(b"x")
                if through.recv(1) != b"x":
                    raise RuntimeError("no echo")
        return each(CONNECTIONS, once)

    def bulk(self):
        """Seconds for each MiB."""
        got, block = 0, bytearray(1 << 20)
        with socket.create_connection(("127.0.0.1", self.port)) as through:
            through.sendall(b"b")
            got = first = through.recv_into(block)
            start, count = time.perf_counter(), first
            while count:
                count = through.recv_into(block)
                got += count
        return (time.perf_counter() - start) / ((got - first) / 2**20)

    def command(self):
        return each(COMMANDS, lambda _: subprocess.run(self.muxed + ["true"], check=True, stdin=subprocess.DEVNULL))

    def close(self):
        self.sftp.close()
        self.master.terminate()
        self.master.wait()


def each(times, action):
    """The median of an action's seconds."""
    taken = []
    for number in range(times):
        start = time.perf_counter()
        action(number)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--bulk", type=int, default=256, help="MiB")
    parser.add_argument("--against", help="the gpush of another build, in place of sshd")
    asked = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    open_ones = []
    try:
        target = Target(asked.bulk)
        open_ones.append(target)
        files = os.path.join(base, "files")
        for number in range(asked.files):
            folder = os.path.join(files, "d%d" % (number % 50))
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "f%d" % number), "w") as out:
                out.write("%d\n" % number * 100)
        open_ones.append(Gpush(GPUSH, os.path.join(base, "ours")))
        rival = os.path.join(base, "rival")
        os.makedirs(rival, mode=0o700)
        open_ones.append(Gpush(asked.against, rival) if asked.against else Sshd(rival))
        name = "other" if asked.against else "sshd"
        sides = []
        for one in open_ones[1:3]:
            sides.append(Side(one.ssh, base, target, files))
            open_ones.append(sides[-1])
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("| what | gpush | %s | gpush / %s |\n|---|---|---|---|" % (name, name))
        whats = (("sftp stat", Side.stat, "%.2f ms", 1000), ("sftp stat, %d in flight" % IN_FLIGHT, Side.stat_in_flight, "%.3f ms", 1000),
                 ("sftp create, write, close", Side.create, "%.2f ms", 1000), ("a connection through -L", Side.connection, "%.2f ms", 1000),
                 ("bulk through -L, a MiB", Side.bulk, "%.2f ms", 1000), ("ControlMaster true", Side.command, "%.1f ms", 1000),
                 ("rsync of %d files" % asked.files, Side.rsync, "%.2f s", 1))
        for what, way, form, factor in whats:
            rounds = [tuple(way(side) for side in sides) for _ in range(asked.rounds + 1)][1:]
            a, b = (statistics.median(each_round[k] for each_round in rounds) * factor for k in (0, 1))
            print("| %s | %s | %s | %.2f |" % (what, form % a, form % b, a / b), flush=True)
        print("\nload %.1f at the end" % os.getloadavg()[0])
    finally:
        for one in reversed(open_ones):
            one.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
