"""A terminal through OpenSSH's client: its size, a change of it, Ctrl-C, and the hang-up when the client is killed;
Ctrl-Z in the shell of the account, and vim. Called as: terminal.py SSH_CONFIG"""
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
    def __init__(self, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            size(0, 30, 100)
            os.environ["TERM"] = "xterm"
            os.execvp("ssh", ["ssh", "-F", sys.argv[1], "-tt", "devbox", *command])
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
        """At its end, however much it still says."""
        try:
            while os.read(self.fd, 4096):
                pass
        except OSError:
            pass
        return os.waitpid(self.pid, 0)[1]


def ssh(command):
    return subprocess.check_output(["ssh", "-F", sys.argv[1], "devbox", command], timeout=240).decode()


folder = ssh("mktemp -d").strip()
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
assert os.WEXITSTATUS(first.status()) in (130, 255), "Ctrl-C"

second = Terminal("cd " + folder + "; trap 'echo >hung.up; exit' HUP; echo pid $$; while :; do sleep 0.1; done")
second.wait_for(b"pid ")
os.kill(second.pid, signal.SIGKILL)
second.status()
ssh("until [ -e %s/hung.up ]; do sleep 0.05; done" % folder)

third = Terminal()
third.write(b"PS1=; echo rea''dy\n")
third.wait_for(b"ready")
third.write(b"sh -c 'echo beg\"\"un; exec sleep 600'\n")
third.wait_for(b"begun")
third.write(b"\x1a")
third.wait_for(b"topped")       # bash and dash: Stopped; no other shell is at a rig's nodes
third.write(b"echo ba''ck; fg\n")
third.wait_for(b"back")
third.wait_for(b"sleep 600")    # it is in the foreground again
third.write(b"\x03")
third.write(b"echo en''d; exit 4\n")
third.wait_for(b"end")
assert os.WEXITSTATUS(third.status()) == 4, "the status of a shell"

if ssh("command -v vim || true"):
    fourth = Terminal("vim -u NONE -N %s/written" % folder)
    fourth.wait_for(b"~")
    fourth.write("igr\u00fc\u00dfe\x1b".encode())
    fourth.write(b":wq\r")
    assert fourth.status() == 0, "vim"
    assert ssh("cat %s/written" % folder) == "gr\u00fc\u00dfe\n", "what vim has written"
else:
    print("no vim on the node", file=sys.stderr)
ssh("rm -r " + folder)
