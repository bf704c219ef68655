#!/usr/bin/env python3
"""What ssh connections leave behind: memory and descriptors of the gateway and of a node's agent, after each thousand
connections with one command each, four at a time. Test 39 of the contract for ssh.

Usage: bench/many_connections.py [--connections 5000]      needs a built gpush, Go and the rig clients
The Java heap is measured after a collection (jcmd GC.run): it is what is still referenced.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import time

from sides import Gpush

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STEP = 1000


def memory(pid):
    with open("/proc/%d/status" % pid) as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def heap(pid):
    jcmd = os.path.join(os.path.dirname(os.readlink("/proc/%d/exe" % pid)), "jcmd")
    subprocess.check_output([jcmd, str(pid), "GC.run"])
    said = subprocess.check_output([jcmd, str(pid), "GC.heap_info"]).decode()
    return sum(int(used) for used in re.findall(r"total \d+K, used (\d+)K", said)) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=5000)
    count = parser.parse_args().connections
    rig = subprocess.check_output([os.path.join(ROOT, "src/test/rigs/clients"), "up"]).decode().strip()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "connects")
        subprocess.check_call(
            ["go", "build", "-o", program, os.path.join(ROOT, "src/test/resources/clients/connects.go")],
            cwd=os.path.join(rig, "go"), env=dict(os.environ, GOFLAGS="-mod=mod"))
        gpush = Gpush(os.path.join(ROOT, "gpush"), folder)
        try:
            measure(gpush, program, os.path.join(folder, "home"), count)
        finally:
            gpush.close()


def measure(gpush, program, home, count):
    def asked(*words):
        return json.loads(subprocess.check_output((gpush.program,) + words, cwd=gpush.project, env=gpush.env))

    gateway = asked("gateway", "status", "--json")["pid"]
    agent = asked("nodes", "--json")[0]["agent_pid"]
    with open(os.path.join(home, "ssh_port")) as file:
        port = file.read().strip()
    client = [program, port, "devbox", home + "/keys/id_ed25519", home + "/keys/ssh_host_ed25519_key.pub"]
    print("connections   heap MB   gateway MB   descriptors   agent MB   descriptors   ms each")

    def row(done, each):
        used = heap(gateway)
        print("%11d %9.1f %12.0f %13d %10.1f %13d %9.1f" % (
            done, used, memory(gateway), descriptors(gateway), memory(agent), descriptors(agent), each), flush=True)

    row(0, 0)
    for done in range(STEP, count + 1, STEP):
        begin = time.monotonic()
        subprocess.check_call(client + [str(STEP)], stdout=subprocess.DEVNULL)
        row(done, (time.monotonic() - begin) * 1000 / STEP)


main()
