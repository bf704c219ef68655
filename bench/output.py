#!/usr/bin/env python3
"""Ranks that print as fast as a pipe takes it: processor time of supervisors, agents, gateway and client.

usage: bench/output.py [--seconds 10] [--mbytes 100] [--nodes 1] [--line 100]

One run on local nodes; each node's rank prints `--mbytes` MB/s in lines of `--line` bytes for some seconds. The client
writes to /dev/null. Prints what arrived and the processor time that each part took. Uses a GPUSH_HOME of its own."""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TICK = os.sysconf("SC_CLK_TCK")
RANK = """
import os, sys, time
line, rate, seconds = b"x" * (%d - 1) + b"\\n", %d * 1000000, %d
piece = line * max(1, 65536 // len(line))
begun, sent = time.monotonic(), 0
while time.monotonic() - begun < seconds:
    at = 0
    while at < len(piece):
        at += os.write(1, piece[at:])
    sent += len(piece)
    time.sleep(max(0, sent / rate - (time.monotonic() - begun)))
sys.stderr.write("sent %%d\\n" %% sent)
"""


def table():
    """pid -> (name, parent, seconds of processor)"""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                text = file.read()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        rest = text[text.rindex(")") + 2:].split()
        found[int(text.split()[0])] = (name, int(rest[1]), (int(rest[11]) + int(rest[12])) / TICK)
    return found


def command(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--mbytes", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--line", type=int, default=100)
    args = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpo")
    project = os.path.join(base, "p")
    os.mkdir(project)
    with open(os.path.join(project, "flood.py"), "w") as file:
        file.write(RANK % (args.line, args.mbytes, args.seconds))
    env = dict(os.environ, GPUSH_HOME=os.path.join(base, "home"))
    gpush = os.path.join(ROOT, "gpush")

    def call(*words):
        return subprocess.run([gpush] + list(words), cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)
    try:
        up = call("up", "--nodes", str(args.nodes), "--yes")
        if up.returncode:
            sys.exit(up.stderr)
        gateway = json.loads(call("gateway", "status", "--json").stdout)["pid"]
        call("run", "true")
        before = table()
        begun = time.monotonic()
        run = subprocess.Popen([gpush, "run", "flood.py"], cwd=project, env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        arrived, seen = 0, {}
        looked = 0
        while True:
            data = os.read(run.stdout.fileno(), 1 << 20)
            if not data:
                break
            arrived += len(data)
            if time.monotonic() - looked > 0.5:
                looked = time.monotonic()
                seen.update(table())
        took = time.monotonic() - begun
        seen.update({pid: row for pid, row in table().items() if pid in before})
        errors = run.stderr.read().decode()
        run.wait()
        used = {}
        for pid, (name, parent, seconds) in seen.items():
            seconds -= before.get(pid, ("", 0, 0))[2]
            words = command(pid)
            if pid == gateway:
                part = "gateway"
            elif name.startswith("gpush-run"):
                part = "supervisors"
            elif name.startswith("gpush-") or "gpush_agent" in words or base in words and "python" in name:
                part = "agents and followers"
            elif pid == run.pid or parent == run.pid:
                part = "client"
            else:
                continue
            used[part] = used.get(part, 0) + max(0, seconds)
        sent = sum(int(line.split()[-1]) for line in errors.splitlines() if " sent " in line or line.startswith("sent"))
        print("%d node(s), lines of %d bytes: %.0f MB printed, %.0f MB arrived in %.1f s (%.0f MB/s)" % (
            args.nodes, args.line, sent / 1e6, arrived / 1e6, took, sent / 1e6 / took))
        for part in sorted(used):
            print("  %-22s %6.2f s of processor, %.1f ms per MB" % (part, used[part], 1000 * used[part] / (sent / 1e6)))
        for line in errors.splitlines():
            if line.startswith("gpush:"):
                print("  " + line)
    finally:
        call("down", "--yes", "--discard")
        call("gateway", "stop")
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
