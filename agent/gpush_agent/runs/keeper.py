"""The process that keeps the workspace in step with a run that has a snapshot of its files: it outlives a supervisor that is killed, and
then brings home what the run has made."""
import json
import os
import select
import signal
import socket
import time

from ..core import processes
from ..files.snapshot import Snapshot, folder_of
from . import ranks, rundir

SHORTEST, LONGEST = 1.0, 30.0   # seconds between two looks
SHARE = 500                     # as long as a look took, times this, but within these limits
KEEP, REMOVE = b"k", b"r"


def moved(workspace, state, run, spec):
    """The specification as it is in the snapshot, which is there."""
    snapshot = Snapshot.load(folder_of(workspace, state, run))
    if snapshot is None:
        return None
    tree = os.fsdecode(snapshot.tree)

    def inside(text, always=False):
        if text == workspace or text.startswith(workspace + "/"):
            place = tree + text[len(workspace):]
            return place if always or os.path.lexists(place) else text
        return text
    # A folder that is newer than these files is none for the run.
    spec = dict(spec, cwd=inside(spec["cwd"], always=True), env=dict(spec.get("env") or {}, GPUSH_WORKSPACE=tree))
    spec["snapshot"] = dict(spec["snapshot"], folder=os.fsdecode(snapshot.folder))
    for words in ("program", "argv"):
        if spec.get(words):
            spec[words] = [inside(word) for word in spec[words]]
    return spec


class Keeper:
    def __init__(self, loop, folder, lock, mark):
        """Forks it. It holds the lock of the run, so that the run is not over before it is."""
        self.loop = loop
        self.socket, theirs = socket.socketpair()
        self.parts = []
        self.pid = os.fork()
        if self.pid == 0:
            _keep(folder, theirs, lock, mark)
        theirs.close()
        loop.child(self.pid, lambda status: None)

    def end(self, keeps, told):
        """All ranks have ended; calls `told` with lines for the user."""
        try:
            self.socket.sendall(KEEP if keeps else REMOVE)
        except OSError:
            pass                # it was killed: its end is there to be read

        def ready():
            try:
                data = self.socket.recv(65536)
            except OSError:     # it was killed before it read what it was sent
                data = b""
            if data:
                self.parts.append(data)
                return
            self.loop.forget(self.socket.fileno())
            self.socket.close()
            try:
                told(json.loads(b"".join(self.parts).decode()))
            except ValueError:
                told(["what keeps the workspace in step was killed; what the run has made comes when the node is given back"])
        self.loop.read(self.socket.fileno(), ready)


def _keep(folder, talk, lock, mark):
    """In the forked child; never returns."""
    code = 70
    try:
        os.setsid()
        ranks.name_process("gpush-snapshot")
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)
        processes.close_all(keep=(talk.fileno(), lock))
        snapshot = Snapshot.load(folder)
        pause = SHORTEST
        while not select.select([talk], [], [], pause)[0]:
            begun = time.monotonic()
            try:
                snapshot.show()
            except OSError:
                pass            # a full disk, say; what it does not show comes home all the same
            pause = min(LONGEST, max(SHORTEST, SHARE * (time.monotonic() - begun)))
        word = talk.recv(1)
        if not word:            # the supervisor was killed, and the kernel has killed its ranks; these may have had children
            rundir.sweep(mark, set())
        told = snapshot.bring(word == KEEP)
        talk.sendall(json.dumps(told).encode())
        code = 0
    except OSError:
        pass                    # the supervisor is gone: there is no one to tell
    finally:
        os._exit(code)
