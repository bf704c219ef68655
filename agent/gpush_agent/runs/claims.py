"""What a run holds of its node, from before its start until after its end: folder, lock, slots, rendezvous port."""
import errno
import json
import os
import shutil
import socket
import time

from ..core.filelock import take
from ..core.refused import Refused
from . import ranks, rundir


class Claims:
    """All that a run takes on a node before it starts; given back as a whole when a part is not available."""

    def __init__(self, state, run, folder, spec):
        self.state, self.run, self.folder, self.spec = state, run, folder, spec
        self.slots = []         # descriptors
        self.reserved = self.lock = -1
        self.tmp = None
        self.made = False
        self.attempt = 1
        self.again = False      # the attempt before was set aside

    def take(self, mark, again):
        os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
        claims = rundir.claiming(self.state)
        if claims is None:
            raise Refused("timeout", {})
        try:
            self.take_alone(mark, again)
        finally:
            os.close(claims)

    def take_alone(self, mark, again):
        if again and rundir.has_ended(self.folder):
            self.attempt += rundir.read(self.folder, "lock").get("attempt", 1)
            rundir.set_aside(self.folder)
            self.again = True
        try:
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            raise Refused("exists", {"run": self.run})
        self.made = True
        if self.again:
            rundir.adopt(self.folder)
        for slot in self.spec["slots"]:
            self.claim(slot)
        self.reserve()
        self.lock = take(os.path.join(self.folder, "lock"), rundir.CLAIM_SECONDS)     # a look at it holds it for a moment
        if self.lock is None:
            raise Refused("timeout", {})
        self.tmp = ranks.make_tmp(self.state, self.spec)
        self.started = time.monotonic()
        self.sign({"mark": mark})
        rundir.write(self.folder, "spec.json", self.spec)
        rundir.reserve(self.folder)
        os.makedirs(self.spec["outputs"], exist_ok=True)

    def claim(self, slot):
        path = os.path.join(self.state, "slots", slot)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fd = take(path, 0)
        if fd is None:
            raise Refused("busy", {"slot": slot, "run": self.holder(path)})
        self.slots.append(fd)       # first of all: a full disk must not leave it claimed
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(self.run).encode(), 0)

    @staticmethod
    def holder(path):
        try:
            with open(path) as file:
                return int(file.read(20))
        except (OSError, ValueError):
            return None

    def reserve(self):
        """The rendezvous port must be free. For torchrun it is also kept: bound and not listening, it is never given to
        programs that ask for any port, and torch, which reuses addresses, can still listen on it."""
        if self.spec["node_rank"] != 0:
            return
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        port = self.spec["master"]["port"]
        if not bind(sock, port):
            raise Refused("port-taken", {"port": port})
        if self.spec["mode"] == "torchrun" or (self.spec.get("warm") or {}).get("torch"):
            self.reserved = sock.detach()
        else:
            sock.close()

    def sign(self, value):
        self.signed = value
        known = {"started": self.started, "tmp": self.tmp, "attempt": self.attempt, "kind": self.spec.get("kind", rundir.PROGRAM)}
        os.pwrite(self.lock, json.dumps(dict(value, **known)).encode(), 0)

    def sign_end(self, value):
        """The result where the disk refuses exit.json: here it needs no room. Without the reasons, which are long."""
        ended = {name: part for name, part in value.items() if name not in ("failures", "left")}
        if ended["first"]:
            ended["first"] = {name: part for name, part in ended["first"].items() if name != "reason"}
        try:
            self.sign(dict(self.signed, ended=ended))
        except OSError:
            pass

    def fds(self):
        return self.slots + [fd for fd in (self.reserved, self.lock) if fd is not None and fd >= 0]

    def free(self):
        """Everything but the lock."""
        for fd in self.slots + ([self.reserved] if self.reserved >= 0 else []):
            try:
                os.close(fd)
            except OSError:     # NFS says here what it could not write; it is closed
                pass
        self.slots, self.reserved = [], -1
        if self.tmp is not None:
            shutil.rmtree(self.tmp, ignore_errors=True)

    def close(self):
        for fd in self.fds():
            os.close(fd)

    def remove(self):
        self.close()
        if self.made or self.again:
            rundir.forget(self.folder)
        if self.tmp is not None:
            shutil.rmtree(self.tmp, ignore_errors=True)


def bind(sock, port):
    """False when it is in use; True also when we cannot tell."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("", port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sock.close()
            return False
    return True


def is_free(port):
    """As `bind`."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    free = bind(sock, port)
    sock.close()
    return free
