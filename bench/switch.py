#!/usr/bin/env python3
"""A branch switch of a real project until a node has it, and back, over a slow line: `gpush sync` on an ssh host, and
`rsync -az --delete` over one open ssh connection, to the same sshd, in turns.

Usage: bench/switch.py --package django --old 5.0 --new 5.1 [--rtt 20] [--mbit 10] [--rounds 5]
Fetches the wheels of the two releases with pip and makes a git repository of them. Needs a built gpush and rsync. Trees are compared after each.
"""
import argparse
import filecmp
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

from sides import Sshd

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SLOW = os.path.join(ROOT, "bench", "slow.py")


def git(folder, *words):
    return subprocess.run(("git", "-C", folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0") + words, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def words(text, rounds):
    """The options of a comparison of two releases; more may be added."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="django")
    parser.add_argument("--old", default="5.0")
    parser.add_argument("--new", default="5.1")
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser


def releases(base, project, options):
    """Makes a repository of the folder, with the branches old and new; what gpush.yaml says stays."""
    git(project, "init", "-q")
    for branch, version in (("old", options.old), ("new", options.new)):
        folder = os.path.join(base, branch)
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder,
                        "%s==%s" % (options.package, version)], check=True, stdout=subprocess.DEVNULL)
        wheel = next(name for name in os.listdir(folder) if name.endswith(".whl"))
        top = os.path.join(folder, "top")
        with zipfile.ZipFile(os.path.join(folder, wheel)) as file:
            file.extractall(top)
        git(project, "checkout", "-q", "-b", branch)
        for name in os.listdir(project):
            if name not in (".git", "gpush.yaml"):
                path = os.path.join(project, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        shutil.copytree(top, project, dirs_exist_ok=True)
        git(project, "add", "-A", "-f")
        git(project, "commit", "-q", "-m", version)


def equal(one, other):
    """Whether two trees have the same files, without .git."""
    seen = filecmp.dircmp(one, other, ignore=[".git", "__pycache__", ".gpush"])
    if seen.left_only or seen.right_only or seen.funny_files:
        return False
    if any(not filecmp.cmp(os.path.join(one, name), os.path.join(other, name), shallow=False) for name in seen.common_files):
        return False
    return all(equal(os.path.join(one, name), os.path.join(other, name)) for name in seen.common_dirs)


def main():
    parser = words(__doc__, 5)
    parser.add_argument("--rtt", type=float, default=20)
    parser.add_argument("--mbit", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpush-switch-") as base:
        project = os.path.join(base, "project")
        os.makedirs(project)
        with open(os.path.join(project, "gpush.yaml"), "w") as out:
            out.write("nodes: 1\nsync: {mode: manual}\n")
        releases(base, project, options)
        keys = os.path.join(base, "sshd")
        os.makedirs(keys)
        sshd = Sshd(keys)
        try:
            compare(base, project, sshd, keys, options)
        finally:
            sshd.close()


def compare(base, project, sshd, keys, options):
    with open(os.path.join(keys, "ssh_config"), "a") as out:
        out.write(" ProxyCommand %s %s %g %g 127.0.0.1 %d\n" % (sys.executable, SLOW, options.rtt, options.mbit, sshd.port))
    home = os.path.join(base, "home")
    os.makedirs(home)
    with open(os.path.join(home, "config.yaml"), "w") as out:
        out.write("defaults: {backends: [slow]}\nbackends:\n  slow: {kind: ssh, hosts: [rival], ssh-config: %s/ssh_config, scratch: %s/scratch}\n"
                  % (keys, base))
    env = dict(os.environ, GPUSH_HOME=home)
    program = os.path.join(ROOT, "gpush")

    def gpush(*given):
        return subprocess.run((program,) + given, cwd=project, env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    ssh = "ssh -F %s/ssh_config -o ControlMaster=auto -o ControlPath=%s/master -o ControlPersist=yes" % (keys, keys)
    copy = os.path.join(base, "copy")
    rsync = ["rsync", "-az", "--delete", "--exclude=.git", "-e", ssh, project + "/", "rival:" + copy + "/"]
    subprocess.run(ssh.split() + ["rival", "true"], check=True)
    times = {(rival, way): [] for rival in ("gpush", "rsync") for way in ("first copy", "there", "back")}

    def measured(rival, way, action, there):
        begun = time.perf_counter()
        action()
        times[rival, way].append(time.perf_counter() - begun)
        assert equal(project, there), "%s, %s: the trees differ" % (rival, way)

    try:
        git(project, "checkout", "-q", "old")
        gpush("up", "--yes")            # reserves, links and sends: its time is not a copy's alone
        node = json.loads(gpush("nodes", "--json"))[0]["workspace"]
        measured("rsync", "first copy", lambda: subprocess.run(rsync, check=True), copy)
        for number in range(options.rounds):
            for way, branch in (("there", "new"), ("back", "old")):
                git(project, "checkout", "-q", branch)
                turns = [("gpush", lambda: gpush("sync", "--yes"), node), ("rsync", lambda: subprocess.run(rsync, check=True), copy)]
                for rival, action, there in turns if number % 2 else reversed(turns):
                    measured(rival, way, action, there)
    finally:
        subprocess.run((program, "down", "--discard"), cwd=project, env=env, stderr=subprocess.DEVNULL)
        subprocess.run((program, "gateway", "stop"), cwd=project, env=env, stderr=subprocess.DEVNULL)
        subprocess.run(ssh.split() + ["-O", "exit", "rival"], stderr=subprocess.DEVNULL)
    files = len(git(project, "diff", "--name-only", "old", "new").splitlines())
    print("%s %s to %s, %d files differ; round trip %g ms, %g Mbit/s; %d rounds, load %.1f; seconds, median (least to most)"
          % (options.package, options.old, options.new, files, options.rtt, options.mbit, options.rounds, os.getloadavg()[0]))
    for way in ("there", "back"):
        for rival in ("gpush", "rsync"):
            one = times[rival, way]
            print("  %-6s %-6s %6.2f (%.2f to %.2f)" % (way, rival, statistics.median(one), min(one), max(one)))
        first = [statistics.median(times[rival, way][:1]) for rival in ("gpush", "rsync")]
        later = [statistics.median(times[rival, way][1:] or times[rival, way]) for rival in ("gpush", "rsync")]
        print("  %-6s gpush / rsync: the first time %.2f, later %.2f" % (way, first[0] / first[1], later[0] / later[1]))


if __name__ == "__main__":
    main()
