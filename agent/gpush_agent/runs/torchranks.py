"""The ranks that torchrun starts, seen while torchrun is still busy ending the others, which may take it 30 s. Each rank says its
process id before it becomes the program; a pidfd then tells of its end, and /proc how it ended, until torchrun asks for it. What
cannot be seen so (an older kernel, torchrun was faster) is in torchrun's report, later."""
import ctypes
import os

from ..core import processes

PIDFD_OPEN = 434            # the same number on all machines
EXIT_CODE = 49              # field 52 of /proc/PID/stat, counted behind the name
EXIT_BARRIER = (b"exit_barrier", b"exit barrier", b"TCPStore")


def of_exit_barrier(text):
    """Whether torchrun complains that the node with the store was gone first, when all had ended well: nobody can use that."""
    return any(mark in text for mark in EXIT_BARRIER)


def restarts(spec):
    """Whether torchrun may start failed ranks again: then the first failure is not the end."""
    words = spec.get("torchrun") or []
    found = 0
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in ("--max-restarts", "--max_restarts"):
            value = value or (words[at + 1] if at + 1 < len(words) else "")
            found = int(value) if value.isdigit() else 1
    return found > 0


def open_pidfd(pid):
    """A descriptor that can be read from when the process has ended; None where there is none."""
    if hasattr(os, "pidfd_open"):
        try:
            return os.pidfd_open(pid)
        except OSError:
            return None
    try:
        fd = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(PIDFD_OPEN), ctypes.c_int(pid), ctypes.c_uint(0))
    except (OSError, AttributeError):
        return None
    if fd < 0:
        return None
    os.set_inheritable(fd, False)
    return fd


def how_ended(pid):
    """("exit" | "signal", number) of a process that its parent has not asked for yet, or None."""
    fields = processes.stat_fields(pid)
    if not fields or fields[0] != b"Z":
        return None
    status = int(fields[EXIT_CODE])
    return ("signal", status & 0x7f) if status & 0x7f else ("exit", status >> 8)


class TorchRanks:
    """Calls `on_end(local rank, pid, how or None)` once for each rank that has ended."""

    def __init__(self, loop, path, on_end):
        self.loop, self.on_end = loop, on_end
        self.pids = {}
        self.rest = b""
        os.mkfifo(path, 0o600)
        # Ours is a writer, too, so that the pipe never ends.
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        loop.read(self.fd, self.started)

    def started(self):
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            words = line.split()
            if len(words) == 2 and words[0].isdigit() and words[1].isdigit():
                self.watch(int(words[0]), int(words[1]))

    def watch(self, local, pid):
        self.pids[local] = pid
        fd = open_pidfd(pid)
        if fd is None:
            return

        def ended():
            how = how_ended(pid)
            self.loop.forget(fd)
            os.close(fd)
            self.on_end(local, pid, how)
        self.loop.read(fd, ended)
