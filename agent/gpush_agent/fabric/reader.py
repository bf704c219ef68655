"""What the facts of network and GPUs are read from: files, the kernel, and programs such as nvidia-smi. Everything has a limit, and what
cannot be read is named once, with the reason."""
import errno
import os
import re
import socket
import stat

from ..core import programs
from . import netlink

MAX_FILE = 65536            # bytes of one file: the largest that counts is the routing table of a host with many routes
MAX_NAMES = 20000           # names of one folder: a folder of libraries has a few thousand
MAX_WORD = 200              # characters of one attribute
MAX_UNREADABLE = 50
PROGRAM_SECONDS = 5.0       # nvidia-smi needs two where no persistence daemon runs
SOURCE = '. "$1" >/dev/null 2>&1 </dev/null; exec env -0'
PROGRAM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/nvidia/bin", "/opt/rocm/bin")
# Errors of an attribute that this machine does not have: no such file, no such device, an empty slot, a link that is down.
NORMAL = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO, errno.EINVAL, errno.EOPNOTSUPP))
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
SURROGATE = re.compile(r"[\ud800-\udfff]")
NUMBER = re.compile(r"-?[0-9]{1,15}\Z")


def natural(name):
    """mlx5_2 comes before mlx5_10. Digits of other alphabets are no numbers here."""
    return [(0, int(part), "") if re.match(r"[0-9]{1,15}\Z", part) else (1, 0, part)
            for part in re.split(r"([0-9]+)", name)]


class Reader:
    """Of the machine that the agent runs on. Paths have no slash at their beginning."""

    def __init__(self, session=None, home=""):
        """`session`: the environment that a run's process gets. `home`: of the account."""
        self.home = home
        self.session = {name: value for name, value in (session or {}).items() if encodable(name + value)}
        self.unreadable = []

    # ---- files

    def cannot(self, path, why):
        entry = {"path": path[:MAX_WORD], "why": why}
        if entry not in self.unreadable and len(self.unreadable) < MAX_UNREADABLE:
            self.unreadable.append(entry)

    def cannot_read(self, path, error, normal=()):
        if error.errno not in NORMAL and error.errno not in normal:
            self.cannot("/" + path, errno.errorcode.get(error.errno, str(error.errno)))

    def at(self, path):
        return "/" + path

    def open(self, path):
        """Never waits, not for the other end of a FIFO either."""
        return os.open(self.at(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)

    def data(self, path, normal=(), limit=MAX_FILE):
        """The bytes of a file up to the limit; None where it cannot be read."""
        try:
            fd = self.open(path)
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    self.cannot("/" + path, "not a file")
                    return None
                parts, left = [], limit
                while left:
                    part = os.read(fd, left)
                    if not part:
                        break
                    parts.append(part)
                    left -= len(part)
                return b"".join(parts)
            finally:
                os.close(fd)
        except OSError as error:
            self.cannot_read(path, error, normal)
            return None

    def text(self, path, normal=(), limit=MAX_FILE):
        """The same as text, "" where it cannot be read."""
        return (self.data(path, normal, limit) or b"").decode("utf-8", "replace")

    def word(self, path):
        """The first line of an attribute, as it may be shown; "" without one."""
        lines = self.text(path, limit=4096).splitlines()
        return CONTROL.sub("", lines[0]).strip()[:MAX_WORD] if lines else ""

    def number(self, path):
        word = self.word(path)
        return int(word) if NUMBER.match(word) else None

    def listed(self, path, normal=()):
        """The names in a folder, in no order; [] where there is none."""
        try:
            found = os.listdir(self.at(path))
        except OSError as error:
            self.cannot_read(path, error, normal)
            return []
        return [name for name in found[:MAX_NAMES] if encodable(name) and not CONTROL.search(name)]

    def names(self, path, normal=()):
        """The same in an order that people expect."""
        return sorted(self.listed(path, normal), key=natural)

    def target(self, path):
        """The last name of what a link leads to, "" where there is none: a driver, a bond's name."""
        try:
            return os.path.basename(os.readlink(self.at(path)))[:MAX_WORD]
        except OSError:
            return ""

    def resolved(self, path):
        """Where a file lies once all links are followed."""
        return os.path.realpath(self.at(path)).lstrip("/")

    def exists(self, path):
        return os.path.exists(self.at(path))

    # ---- what files do not say

    def device(self, path):
        """Whether a device node can be used: in a container it may exist and still be denied by the cgroup."""
        try:
            os.close(os.open(self.at(path), os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
            return "open"
        except OSError as error:
            return self.closed(path, error.errno)

    def closed(self, path, number):
        if number in (errno.ENOENT, errno.ENOTDIR, errno.ENXIO, errno.ENODEV):
            return "missing"
        if number not in (errno.EACCES, errno.EPERM):
            self.cannot("/" + path, errno.errorcode.get(number, str(number)))
        return "denied"

    def addresses(self):
        """Interface -> its addresses with their prefix lengths."""
        try:
            return netlink.addresses()
        except OSError as error:
            self.cannot("addresses", errno.errorcode.get(error.errno, str(error)[:MAX_WORD]))
            return {}

    def route(self, peer, addresses):
        """The interface by which packets to this address leave; None without a route."""
        try:
            return netlink.route(peer)
        except OSError:
            pass
        try:
            return connected(peer, addresses)
        except OSError as error:
            self.cannot("route to " + peer, errno.errorcode.get(error.errno, str(error)[:MAX_WORD]))
            return None

    def environment_of(self, pid):
        """NAME -> value of another process, as it was started."""
        found = {}
        for entry in (self.data("proc/%s/environ" % pid, limit=1 << 20) or b"").split(b"\0"):
            name, sign, value = entry.decode("utf-8", "replace").partition("=")
            if sign:
                found.setdefault(name, value)
        return found

    # ---- programs

    def find(self, name):
        """The path of a program; None where there is none."""
        for folder in self.session.get("PATH", "").split(":") + list(PROGRAM_FOLDERS):
            if folder.startswith("/") and os.access(os.path.join(folder, name), os.X_OK):
                return os.path.join(folder, name)
        return None

    def run(self, *commands):
        """The output of each of these commands, which run side by side; None for one that failed."""
        environment = dict(self.session, LC_ALL="C", TERM="dumb")
        found = [self.find(command[0]) for command in commands]
        ready = [([path] + list(command[1:]), environment) for path, command in zip(found, commands) if path]
        outputs = iter(programs.run(ready, PROGRAM_SECONDS))
        return [self.judged(" ".join(command), next(outputs)) if path else None for path, command in zip(found, commands)]

    def judged(self, name, output):
        if output.why is None:
            return output.text
        self.cannot(name, output.why)
        # what it printed before it failed names the GPU that is lost
        return output.text if output.why.startswith("exit ") else None

    def sourced(self, path, environment):
        """The environment after a shell script was sourced; {} where that fails."""
        shell = self.find("bash") or self.find("sh")
        if not shell:
            return {}
        output = programs.run([([shell, "-c", SOURCE, "sh", self.at(path)], environment)], PROGRAM_SECONDS)[0]
        if output.why is not None:
            self.cannot("source /" + path, output.why)
            return {}
        return dict(entry.partition("=")[::2] for entry in output.text.split("\0") if "=" in entry)


def connected(peer, addresses):
    """By connecting a datagram socket, which sends nothing: where netlink does not answer."""
    family = socket.AF_INET6 if ":" in peer else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect((peer, 9))
        source = sock.getsockname()[0]
    for name, own in addresses.items():
        if any(address.partition("/")[0] == source for address in own):
            return name
    return None


def encodable(text):
    """Bytes that are not UTF-8 cannot travel in JSON; neither the kernel nor NCCL has such names."""
    return SURROGATE.search(text) is None
