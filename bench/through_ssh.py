#!/usr/bin/env python3
"""What goes through an open ssh connection to a local node, against OpenSSH's own sshd, in one run.

    bulk down, bulk up          from the first byte to the last, without the time to connect
    one byte and its echo       in a terminal, until it is back; medians

Usage: bench/through_ssh.py [--bulk MIB] [--rounds 5] [--echoes 2000]      needs ssh, sshd and a built gpush
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

from rival import Sshd

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
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-bench-")
    project = os.path.join(base, "proj")
    os.makedirs(project)
    open(os.path.join(project, "gpush.yaml"), "w").close()
    env = dict(os.environ, GPUSH_HOME=os.path.join(base, "home"))
    folder = os.path.join(base, "sshd")
    os.makedirs(folder, mode=0o700)
    sshd = None
    try:
        subprocess.run([GPUSH, "up"], cwd=project, env=env, check=True, stdin=subprocess.DEVNULL)
        sshd = Sshd(folder)
        ours = ["ssh", "-F", os.path.join(base, "home", "ssh_config"), "devbox"]
        rival = ["ssh", "-F", os.path.join(folder, "ssh_config"), "rival"]
        print("machine: %d cores, %s, load %.1f\n" % (os.cpu_count(), os.uname().release, os.getloadavg()[0]))
        print("| what | gpush | sshd | gpush / sshd |\n|---|---|---|---|")
        size = options.bulk << 20
        for name, way in (("bulk down", down), ("bulk up", up)):
            rates = [(way(ours, size), way(rival, size)) for _ in range(WARM + options.rounds)][WARM:]
            a, b = (statistics.median(rate[k] for rate in rates) / 1e6 for k in (0, 1))
            print("| %s, %d MiB | %.0f MB/s | %.0f MB/s | %.2f |" % (name, options.bulk, a, b, a / b), flush=True)
        one, two = Terminal(ours), Terminal(rival)
        pairs = [(one.echo(), two.echo()) for _ in range(options.echoes + 500)][500:]
        one.close()
        two.close()
        a, b = (statistics.median(pair[k] for pair in pairs) * 1000 for k in (0, 1))
        print("| echo of a byte, p50 of %d | %.2f ms | %.2f ms | +%.2f ms |" % (options.echoes, a, b, a - b), flush=True)
    finally:
        subprocess.run([GPUSH, "down", "--discard"], cwd=project, env=env, check=False, stdin=subprocess.DEVNULL)
        subprocess.run([GPUSH, "gateway", "stop"], cwd=project, env=env, check=False, stdin=subprocess.DEVNULL)
        if sshd:
            sshd.close()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
