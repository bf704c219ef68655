"""The logs of NCCL on this node: where a run's processes write them, and what is new in them."""
import os
import re
import socket
import stat

from .nccl import ProcessLog, together

TALKATIVE = ("INFO", "TRACE")
MOST_LOGS = 1024            # processes of one node
MOST_BYTES = 4 << 20        # read of one log: what counts is said at its beginning
READ = 1 << 18              # of one log at a time: the loop must not wait
LONGEST_LINE = 1 << 16      # all devices of the largest machines fill 2 KiB


def is_talkative(env):
    """Whether NCCL says with these variables which network it uses."""
    subsystems = env.get("NCCL_DEBUG_SUBSYS", "INIT,NET").upper()
    return env.get("NCCL_DEBUG", "").upper() in TALKATIVE and (
        subsystems.startswith("^") or bool({"INIT", "NET", "ALL"}.intersection(subsystems.split(","))))


class Source:
    """Logs of processes, by any name of theirs."""

    def __init__(self):
        self.logs, self.rests = {}, {}
        self.shown = ""         # where they are, for people

    def facts(self):
        return together(list(self.logs.values()))


class Files(Source):
    """The files that the variables name, as far as they were written since `began` (seconds of the file system's clock)."""

    def __init__(self, pattern, cwd, began):
        Source.__init__(self)
        host = socket.gethostname().split(".")[0]
        parts = re.split(r"(%[%hp])", os.path.join(cwd, pattern))
        text = "".join({"%%": "%", "%h": host}.get(part, "*" if part == "%p" else part) for part in parts)
        self.folder, self.shown = os.path.dirname(text), text
        names = re.split(r"(%[%hp])", os.path.basename(pattern))
        self.pattern = re.compile("".join({"%%": "%", "%h": re.escape(host), "%p": "[0-9]+"}.get(part) or re.escape(part)
                                          for part in names) + r"\Z")
        self.began = began
        self.offsets = {}

    def read(self):
        """Reads what is new; how many bytes that was."""
        total = 0
        for name in self.names():
            try:
                total += self.one(name)
            except OSError:
                pass            # gone, or not ours
        return total

    def names(self):
        try:
            return sorted(name for name in os.listdir(self.folder) if self.pattern.match(name))[:MOST_LOGS]
        except OSError:
            return []

    def one(self, name):
        fd = os.open(os.path.join(self.folder, name), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            status, offset = os.fstat(fd), self.offsets.get(name, 0)
            if not stat.S_ISREG(status.st_mode) or status.st_mtime < self.began or offset >= MOST_BYTES:
                return 0
            data = os.pread(fd, READ, offset)
        finally:
            os.close(fd)
        self.offsets[name] = offset + len(data)
        self.rests[name] = feed(self.logs.setdefault(name, ProcessLog()), self.rests.get(name, b"") + data)
        return len(data)


class Heard(Source):
    """The same of what ranks print, where the user has NCCL write onto the terminal."""

    def __init__(self):
        Source.__init__(self)
        self.count, self.bytes = 0, {}

    def hear(self, key, data):
        if self.bytes.get(key, 0) < MOST_BYTES and len(self.logs) < MOST_LOGS:
            self.bytes[key] = self.bytes.get(key, 0) + len(data)
            self.count += len(data) if b"NCCL " in data else 0
            self.rests[key] = feed(self.logs.setdefault(key, ProcessLog()), self.rests.get(key, b"") + data)

    def read(self):
        found, self.count = self.count, 0
        return found


def feed(log, data):
    """Gives whole lines to the log; returns the beginning of the next one."""
    lines = data.split(b"\n")
    rest = lines.pop()
    for line in lines:
        if b"CCL " in line:
            log.line(line[:LONGEST_LINE].decode("utf-8", "replace").rstrip("\r"))
    return rest[:LONGEST_LINE]
