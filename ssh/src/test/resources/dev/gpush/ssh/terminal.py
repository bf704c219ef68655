"""Runs a program in a pseudo terminal as a person would: python3 terminal.py STEPS PROGRAM ARGUMENT...

STEPS is a JSON list, done in turn: {"expect": text} waits until the text has come (each byte counts once),
{"send": text} types it, {"resize": [columns, rows]}, {"signal": "KILL"} to the program. All that came goes to stdout;
the exit status is the program's, or 99 when a text did not come."""
import fcntl
import json
import os
import select
import signal
import struct
import sys
import termios
import time

LIMIT = 120         # seconds: ends a test that hangs

steps, argv = json.loads(sys.argv[1]), sys.argv[2:]
pid, master = os.forkpty()
if pid == 0:
    os.execvp(argv[0], argv)
seen = b""


def resize(columns, rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def more(until):
    """Reads what comes; false at the end."""
    global seen
    if not select.select([master], [], [], max(0, until - time.monotonic()))[0]:
        return False
    try:
        data = os.read(master, 65536)
    except OSError:
        return False
    seen += data
    os.write(1, data)
    return bool(data)


resize(80, 24)
for step in steps:
    if "expect" in step:
        until, text = time.monotonic() + LIMIT, step["expect"].encode()
        while text not in seen:
            if not more(until):
                os.write(2, b"did not come: " + text + b"\n")
                os.kill(pid, signal.SIGKILL)
                sys.exit(99)
        seen = seen[seen.index(text) + len(text):]
    if "send" in step:
        os.write(master, step["send"].encode())
    if "resize" in step:
        resize(*step["resize"])
    if "signal" in step:
        os.kill(pid, getattr(signal, "SIG" + step["signal"]))
until = time.monotonic() + LIMIT
while more(until):
    pass
if time.monotonic() > until:
    os.write(2, b"did not end\n")
    os.kill(pid, signal.SIGKILL)
_, status = os.waitpid(pid, 0)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
