"""A run whose ranks come from a warm parent (docs/technical/warm.md): its claims are handed to the parent's fork, which becomes
its supervisor. Whatever is in the way of that, the run starts cold."""
import array
import json
import os
import select
import signal
import socket

from ..core import processes
from . import journal
from .claims import Claims
from .supervisor import Supervisor, main

ANSWER_SECONDS = 3.0        # a cold start takes longer, and this is lost when it comes to nothing
MOST_FDS = 200              # in one message; the kernel takes 253

SENTENCES = {
    "first": "the first run with --warm prepares the next one",
    "importing": "the interpreter for warm starts is still importing, for %s s now",
    "ended": "the interpreter for warm starts ended: %s",
    "left-out": "the interpreter for warm starts could not be prepared: %s",
    "changed": "%s has changed",
    "hides": "%s has the name of a module that is already imported",
    "imports": "the program no longer begins by importing %s",
    "nothing": "nothing that it imports can be imported beforehand",
    "script": "%s is read by a shell first",
    "option": "Python's option %s",
    "refused": "the interpreter for warm starts did not answer: %s",
    "failed": "the interpreter for warm starts failed",
}


def sentence(why):
    text = SENTENCES.get(why.get("why"), "%s")
    return text % why.get("what") if "%s" in text else text


def begin(claims, common, mark, taken_s, parent, why):
    """In the process that was forked for the run: it ends when a fork of the parent (descriptor, process id) has taken over, else
    it is the supervisor."""
    if parent is not None:
        why = hand_over(claims, common, mark, taken_s, parent[0])
        os.close(parent[0])
        if why is not None and why["why"] == "refused":
            # Also a request that it has not read yet holds the claims of this run.
            processes.kill([parent[1]], signal.SIGKILL)
        if why is None:
            os._exit(0)
    note = "started cold: " + sentence(why) if why else None
    main(lambda: Supervisor(claims, common, mark, taken_s, note=note).run())


def hand_over(claims, common, mark, taken_s, channel):
    """None, or why not."""
    fds = claims.slots + ([claims.reserved] if claims.reserved >= 0 else []) + [claims.lock]
    if len(fds) > MOST_FDS:
        return {"why": "refused", "what": "too many slots"}
    path = os.path.join(claims.folder, "warm.json")
    ours = theirs = None
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w") as file:
            json.dump({"run": claims.run, "folder": claims.folder, "state": claims.state, "spec": claims.spec, "common": common,
                       "mark": mark, "tmp": claims.tmp, "started": claims.started, "attempt": claims.attempt,
                       "taken_s": taken_s, "slots": len(claims.slots), "reserved": claims.reserved >= 0, "procs": claims.spec["procs"]}, file)
        ours, theirs = socket.socketpair()
        wanted = array.array("i", fds + [2, theirs.fileno()])
        with socket.socket(fileno=os.dup(channel)) as parent:
            parent.setblocking(False)
            parent.sendmsg([path.encode("utf-8", "surrogateescape")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, wanted)])
        theirs.close()
        if not select.select([ours], [], [], ANSWER_SECONDS)[0]:
            return {"why": "refused", "what": "within %g s" % ANSWER_SECONDS}
        data = ours.recv(65536)
        answer = json.loads(data.decode()) if data else {"why": "failed", "what": ""}
        if answer["why"] is None:
            ours.sendall(b"go")
            return None
        return answer
    except (OSError, ValueError) as error:
        return {"why": "refused", "what": str(error)}
    finally:
        for sock in (ours, theirs):
            if sock is not None:
                sock.close()        # a fork that has not heard "go" ends by that
        try:
            os.unlink(path)
        except OSError:
            pass


class Warm:
    """Ranks that are forked already and wait for their order."""

    def __init__(self, ranks):
        self.ranks = ranks

    def start(self, rank, spec):
        """As ranks.start."""
        given = self.ranks[rank.local]
        rank.pid, rank.fds = given["pid"], {journal.OUT: given["out"], journal.ERR: given["err"]}
        for fd in rank.fds.values():
            os.set_blocking(fd, False)
        try:
            with os.fdopen(given["order"], "wb") as file:
                file.write(json.dumps({"env": rank.env, "cwd": spec["cwd"], "python": spec["python"], "program": spec["program"]}).encode())
        except BrokenPipeError:     # it was killed, and its end is told as that of any rank
            pass
        return None


def supervise(job, fds, ranks):
    """In the fork of a warm parent. Never returns."""
    null = os.open(os.devnull, os.O_RDWR)
    for number, fd in enumerate((null, null, fds.pop())):
        os.dup2(fd, number)
        os.set_inheritable(number, True)
    claims = Claims(job["state"], job["run"], job["folder"], job["spec"])
    claims.lock = fds.pop()
    claims.reserved = fds.pop() if job["reserved"] else -1
    claims.slots, claims.tmp, claims.started, claims.attempt, claims.made = fds, job["tmp"], job["started"], job["attempt"], True
    main(lambda: Supervisor(claims, job["common"], job["mark"], job["taken_s"], warm=Warm(ranks)).run())
