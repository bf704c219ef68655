#!/usr/bin/env python3
"""The interactive shell as a person at a terminal sees it, on a session on this machine, in one run with a bare loop of JLine.

    prompt      from `gpush` and Enter to its first prompt, the gateway being up, against `gpush version`
    keys        a hundred keys at 60 a second, each until its letter is on the terminal: in the shell with nothing going on, in the shell while
                a file is saved 100 times a second (the prompt moves with each), and in a program that only reads lines with JLine
    idle        processor time of shell, gateway and agent while the shell shows nothing new

Usage: bench/shell.py [--times 11] [--keys 100] [--rounds 5] [--idle 60] [--settle 15]
Needs a built gpush. Each key of a round is another letter, so its first appearance is its echo, and none may be missing.
"""
import argparse
import fcntl
import glob
import json
import os
import pty
import select
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from save import agents, cost
from sides import Gpush

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LETTERS = "".join(chr(code) for code in list(range(0xC0, 0xD7)) + list(range(0xD8, 0xF7)) + list(range(0xF8, 0x132)) + list(range(0x134, 0x149)))
BARE = """
import org.jline.reader.LineReaderBuilder;
import org.jline.terminal.TerminalBuilder;

class Bare {
  public static void main(String[] words) throws Exception {
    try (var terminal = TerminalBuilder.builder().system(true).build()) {
      var reader = LineReaderBuilder.builder().terminal(terminal).build();
      while (true) {
        reader.readLine("bare > ");
      }
    } catch (org.jline.reader.EndOfFileException over) {
      // Ctrl-D
    }
  }
}
"""


class Screen:
    """A program on a terminal of 100 by 30; a thread keeps what it writes, with the time."""

    def __init__(self, words, folder, env):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, env)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.text, self.seen = "", {}
        self.more = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while True:
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                return
            if not part:
                return
            now = time.perf_counter()
            rest += part
            text = rest.decode("utf-8", "ignore")
            rest = rest[len(text.encode("utf-8")):] if len(rest) - len(text.encode("utf-8")) < 4 else b""
            with self.more:
                self.text += text
                for letter in text:
                    self.seen.setdefault(letter, now)
                self.more.notify_all()

    def wait_for(self, done, limit=60):
        with self.more:
            if not self.more.wait_for(done, limit):
                raise RuntimeError("it did not come: " + self.text[-500:])

    def type(self, text):
        os.write(self.terminal, text.encode())

    def clear_line(self):
        self.type("\x15")           # Ctrl-U
        time.sleep(0.3)
        with self.more:
            self.text, self.seen = "", {}

    def close(self):
        self.type("\x15\x04")
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def keys(screen, count):
    """Milliseconds from each key to its letter on the terminal."""
    screen.clear_line()
    sent = {}
    begun = time.perf_counter()
    for number, letter in enumerate(LETTERS[:count]):
        due = begun + number / 60
        time.sleep(max(0, due - time.perf_counter()))
        sent[letter] = time.perf_counter()
        screen.type(letter)
    screen.wait_for(lambda: all(letter in screen.seen for letter in sent))
    return [(screen.seen[letter] - sent[letter]) * 1000 for letter in sent]


def saving(folder, stop):
    number = 0
    while not stop.is_set():
        number += 1
        path = os.path.join(folder, "saved.py")
        with open(path + ".tmp", "w") as out:
            out.write("saved = %d\n" % number)
        os.rename(path + ".tmp", path)
        stop.wait(0.01)


def row(name, times):
    ordered = sorted(times)
    print("  %-34s median %6.1f   p99 %6.1f   most %6.1f   later than 50 ms: %d of %d"
          % (name, statistics.median(ordered), ordered[int(len(ordered) * .99)], ordered[-1], sum(1 for one in ordered if one > 50), len(ordered)), flush=True)


def first_prompt(side, times):
    prompts, versions = [], []
    for number in range(times + 2):
        begun = time.perf_counter()
        subprocess.run([side.program, "version"], cwd=side.project, env=side.env, stdout=subprocess.DEVNULL, check=True)
        version = time.perf_counter() - begun
        begun = time.perf_counter()
        screen = Screen([side.program], side.project, side.env)
        screen.wait_for(lambda: " > " in screen.text or " >\x1b" in screen.text)
        prompt = time.perf_counter() - begun
        screen.close()
        if number >= 2:
            prompts.append(prompt * 1000)
            versions.append(version * 1000)
    print("first prompt: median %.0f ms, most %.0f; gpush version %.0f; ratio %.2f" % (statistics.median(prompts), max(prompts), statistics.median(versions),
                                                                                      statistics.median(prompts) / statistics.median(versions)), flush=True)


def compare_keys(side, base, options):
    with open(os.path.join(base, "Bare.java"), "w") as out:
        out.write(BARE)
    java = os.path.join(subprocess.run([os.path.join(ROOT, "scripts/jdk25")], stdout=subprocess.PIPE, check=True).stdout.decode().strip(), "bin/java")
    jars = ":".join(sorted(glob.glob(os.path.expanduser("~/.m2/repository/org/jline/jline*/*/*.jar"))))
    bare = Screen([java, "--enable-native-access=ALL-UNNAMED", "-cp", jars, os.path.join(base, "Bare.java")], base, side.env)
    shell = Screen([side.program], side.project, side.env)
    bare.wait_for(lambda: "bare > " in bare.text)
    shell.wait_for(lambda: " > " in shell.text or " >\x1b" in shell.text)
    times = {"bare loop of JLine": [], "shell": [], "shell, 100 saves a second": []}
    for number in range(options.rounds + 1):
        for name, screen in zip(times, (bare, shell, shell)):
            stop = threading.Event()
            saver = threading.Thread(target=saving, args=(side.project, stop))
            if "saves" in name:
                saver.start()
                time.sleep(0.5)
            took = keys(screen, options.keys)
            stop.set()
            if "saves" in name:
                saver.join()
            if number:              # the first round is for the compilers
                times[name] += took
    bare.close()
    shell.close()
    print("keys, %d a round at 60 a second, ms; load %.1f" % (options.keys, os.getloadavg()[0]))
    for name, took in times.items():
        row(name, took)


def idle(side, seconds, settle):
    gateway = json.loads(subprocess.run([side.program, "gateway", "status", "--json"], cwd=side.project, env=side.env, stdout=subprocess.PIPE, check=True).stdout)["pid"]
    shell = Screen([side.program], side.project, side.env)
    shell.wait_for(lambda: " > " in shell.text or " >\x1b" in shell.text)
    time.sleep(settle)          # the compilers of both go on for some minutes

    def now():
        nodes = [pid for pid in agents(side.folder, gateway) if pid != shell.pid]
        return cost(shell.pid)[0], cost(gateway)[0], sum(cost(pid)[0] for pid in nodes)

    before = now()
    time.sleep(seconds)
    after = now()
    shell.close()
    print("idle for %d s, %% of a core: shell %.2f, gateway %.2f, agents %.2f" % ((seconds,) + tuple((b - a) * 100 / seconds for a, b in zip(before, after))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=11, help="first prompts")
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle", type=int, default=60, help="seconds")
    parser.add_argument("--settle", type=int, default=15, help="seconds that the shell is open before")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="gpush-shell-")
    try:
        side = Gpush(os.path.join(ROOT, "gpush"), os.path.join(base, "gpush"), "--backend", "local", "--nodes", "1")
        side.env.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        try:
            first_prompt(side, options.times)
            compare_keys(side, base, options)
            idle(side, options.idle, options.settle)
        finally:
            side.close()
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
