#!/usr/bin/env python3
"""What goes through an open ssh connection to a local node, against OpenSSH's own sshd or another build of gpush, in one run.

    bulk down, bulk up          from the first byte to the last, without the time to connect
    one byte and its echo       in a terminal, until it is back; medians

Usage: bench/through_ssh.py [--bulk MIB] [--rounds 5] [--echoes 2000] [--against OTHER/gpush]      needs ssh, sshd and a built gpush
Rivals are interleaved (ABAB). The first rounds are for the JVM and are dropped.
"""
import argparse
import os
import pty
import shutil
import statistics
import subprocess
import tempfile
import time
import tty

from sides import Gpush, Sshd

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUSH = os.path.join(ROOT, "gpush")
WARM = 3


def down(host, size):
    """Bytes a second."""
    with subprocess.Popen(host + ["head -c %d /dev/zero" % size], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        got = len(os.read(process.stdout.fileno(), 1 << 20))
        first, start = got, time.perf_counter()
        while True:
            count = len(os.read(process.stdout.fileno(), 1 << 20))
            if count == 0:
                break
            got += count
        seconds = time.perf_counter() - start
    if got != size:
        raise RuntimeError("%d of %d bytes came" % (got, size))
    return (got - first) / seconds


def up(host, size):
    with subprocess.Popen(host + ["read go; echo ready; head -c %d | wc -c" % size], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"go\n")
        process.stdin.flush()
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError("not ready")
        block = bytes(1 << 20)
        start = time.perf_counter()
        for _ in range(size // len(block)):
            process.stdin.write(block)
        process.stdin.close()
        count = process.stdout.readline()
        seconds = time.perf_counter() - start
    if int(count) != size:
        raise RuntimeError("%s of %d bytes arrived" % (count, size))
    return size / seconds


class Terminal:
    """`cat` behind a terminal in raw mode at both ends."""

    def __init__(self, host):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.process = subprocess.Popen(host[:1] + ["-tt"] + host[1:] + ["stty raw -echo; echo ready; exec cat"],
                                        stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(slave)
        seen = b""
        while not seen.rstrip().endswith(b"ready"):
            seen += os.read(self.master, 4096)

    def echo(self):
        start = time.perf_counter()
        os.write(self.master, b"x")
        while b"x" not in os.read(self.master, 4096):
            pass
        return time.perf_counter() - start

    def close(self):
        self.process.terminate()    # a raw terminal has no end of file
        self.process.wait()
        os.close(self.master)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bulk", type=int, default=512, help="MiB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--echoes", type=int, default=2000)
    parser.add_argument("--against", help="the gpush of another build, in place of sshd")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    open_ones = []
    try:
        open_ones.append(Gpush(GPUSH, os.path.join(base, "ours")))
        rival = os.path.join(base, "rival")
        os.makedirs(rival, mode=0o700)
        open_ones.append(Gpush(options.against, rival) if options.against else Sshd(rival))
        ours, other = (each.ssh for each in open_ones)
        name = "other" if options.against else "sshd"
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("| what | gpush | %s | gpush / %s |\n|---|---|---|---|" % (name, name))
        size = options.bulk << 20
        for what, way in (("bulk down", down), ("bulk up", up)):
            rates = [(way(ours, size), way(other, size)) for _ in range(WARM + options.rounds)][WARM:]
            a, b = (statistics.median(rate[k] for rate in rates) / 1e6 for k in (0, 1))
            print("| %s, %d MiB | %.0f MB/s | %.0f MB/s | %.2f |" % (what, options.bulk, a, b, a / b), flush=True)
        one, two = Terminal(ours), Terminal(other)
        pairs = [(one.echo(), two.echo()) for _ in range(options.echoes + 500)][500:]
        one.close()
        two.close()
        a, b = (statistics.median(pair[k] for pair in pairs) * 1000 for k in (0, 1))
        print("| echo of a byte, p50 of %d | %.2f ms | %.2f ms | %+.2f ms |" % (options.echoes, a, b, a - b), flush=True)
        print("load %.1f at the end" % os.getloadavg()[0])
    finally:
        for each in open_ones:
            each.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
