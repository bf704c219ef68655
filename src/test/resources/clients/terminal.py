"""A terminal through OpenSSH's client: its size, a change of it, Ctrl-C, and the hang-up when the client is killed.
Called as: terminal.py SSH_CONFIG"""
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios


def size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal:
    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            size(0, 30, 100)
            os.execvp("ssh", ["ssh", "-F", sys.argv[1], "-tt", "devbox", command])
        self.seen = b""

    def wait_for(self, text):
        """Its output up to this text, which must come."""
        while text not in self.seen:
            part = os.read(self.fd, 4096)
            if not part:
                raise AssertionError("%r is missing in %r" % (text, self.seen))
            self.seen += part
        self.seen = self.seen.split(text, 1)[1]

    def write(self, text):
        os.write(self.fd, text)

    def status(self):
        return os.waitpid(self.pid, 0)[1]


first = Terminal("stty size; trap 'stty size; echo resized' WINCH; echo ready; "
                 "read -r line; echo \"[$line]\"; while :; do sleep 0.05; done")
first.wait_for(b"30 100")
first.wait_for(b"ready")
first.write("gr\u00fc\u00dfe\n".encode())
first.wait_for("[gr\u00fc\u00dfe]".encode())
size(first.fd, 41, 123)
first.wait_for(b"41 123")
first.wait_for(b"resized")
first.write(b"\x03")
while True:
    try:
        if not os.read(first.fd, 4096):
            break
    except OSError:
        break
assert os.WEXITSTATUS(first.status()) in (130, 255), "Ctrl-C"

second = Terminal("trap 'echo >hung.up; exit' HUP; echo pid $$; while :; do sleep 0.1; done")
second.wait_for(b"pid ")
os.kill(second.pid, signal.SIGKILL)
second.status()
ask = ["ssh", "-F", sys.argv[1], "devbox", "until [ -e hung.up ]; do sleep 0.05; done; rm hung.up"]
assert subprocess.call(ask, timeout=120) == 0, "no hang-up"
