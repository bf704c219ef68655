#!/usr/bin/env python3
"""Whether a stranger learns from the time of a refusal which sessions there are: a wrong key for a session that exists
and for one that does not, in turn. Test 33 of the contract for ssh.

Usage: bench/unknown_user.py [--rounds 200]      needs a built gpush and the rig clients (it runs itself in their Python)
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def refusal(port, user, key):
    """Seconds from the request with a signature-less key to its refusal."""
    transport = paramiko.Transport(("127.0.0.1", port))
    try:
        transport.start_client(timeout=60)
        begin = time.perf_counter()
        try:
            transport.auth_publickey(user, key)
        except paramiko.SSHException:
            return time.perf_counter() - begin
        raise RuntimeError("a wrong key was accepted")
    finally:
        transport.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        gpush = Gpush(os.path.join(ROOT, "gpush"), folder)
        try:
            with open(os.path.join(folder, "home", "ssh_port")) as file:
                port = int(file.read())
            path = os.path.join(folder, "wrong")
            subprocess.check_call(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path])
            key = paramiko.Ed25519Key.from_private_key_file(path)
            times = {"devbox": [], "nosuch": []}
            for number in range(rounds + 20):
                for user in sorted(times, reverse=number % 2 == 1):
                    seconds = refusal(port, user, key)
                    if number >= 20:        # the first are for the JVM
                        times[user].append(seconds * 1000)
        finally:
            gpush.close()
    for user, each in times.items():
        print("%-7s n=%d  median %.3f ms  mean %.3f ms  deviation %.3f ms" % (
            user, len(each), statistics.median(each), statistics.mean(each), statistics.stdev(each)))
    print("difference of the medians: %.3f ms" % abs(statistics.median(times["devbox"]) - statistics.median(times["nosuch"])))


try:
    import paramiko
except ImportError:
    rig = subprocess.check_output([os.path.join(ROOT, "src/test/rigs/clients"), "up"]).decode().strip()
    os.execv(rig + "/bin/python", [rig + "/bin/python", os.path.abspath(__file__)] + sys.argv[1:])
from sides import Gpush
main()
