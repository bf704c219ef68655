"""Runs on this node. The calls start, stop, list and status are the agent's side: quick, nothing in them waits. Each run has
a process of its own, the Supervisor: forked from the agent, it owns the ranks and outlives agent, link and gateway.

A run is its folder <state>/runs/<run>, see docs/technical/runs.md: whoever finds the folder knows the run. It is alive as
long as `lock` is held, over when there is exit.json, and lost when there is neither."""
import builtins
import errno
import fcntl
import json
import os
import shutil
import signal
import socket
import time

from . import folder as locking
from . import journal, processes, ranks
from .refused import Refused, of_os_error

LISTED = 50                 # the newest; an answer has a limit, too
KEPT_RUNS = 50              # folders of runs that are over
KEPT_BYTES = 8 << 30        # and their output together
MAX_RUN = 10 ** 9
SIGNALS = ("INT", "TERM", "KILL", "HUP", "QUIT", "USR1", "USR2")
EXIT_ROOM = 4096            # exit.json's space is taken at the start: a full disk must not cost the exit status


# ---- the agent's side


def folder_of(state, run):
    """The folder of a run, or None where there cannot be one."""
    if not state or isinstance(run, bool) or not isinstance(run, int) or not 0 < run <= MAX_RUN:
        return None
    return os.path.join(state, "runs", str(run))


def is_alive(folder):
    """Whether a supervisor holds the lock."""
    try:
        fd = os.open(os.path.join(folder, "lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)


def is_over(folder):
    """Whether nothing more will be written."""
    return os.path.exists(os.path.join(folder, "exit.json")) or not is_alive(folder)


def read_json(path):
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read().decode("utf-8", "replace"))
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}


def write_json(path, value):
    with open(path + ".new", "w") as file:
        json.dump(value, file)
    os.rename(path + ".new", path)


def start(agent, params):
    """Claims, writes down and forks. The ranks start a moment later, in the supervisor."""
    run, spec = params.get("run"), params.get("spec")
    ranks.check(spec)
    folder = folder_of(agent.state, run)
    if folder is None:
        raise Refused("bad-request", {"field": "run"})
    if agent.environment.base is None:
        raise Refused("starting", {})
    mark = "%s-%d-%d-%s" % (agent.gang, agent.node, run, os.urandom(8).hex())
    common = ranks.environment(spec, agent.environment.base, run, mark)
    if params.get("only_check"):
        ranks.check_files(spec, common)
        return {}
    fds, made, tmp = [], False, None
    try:
        ranks.check_files(spec, common)
        clean_lost(agent.state)
        retry(folder)
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            raise Refused("exists", {"run": run})
        made = True
        for slot in spec["slots"]:
            fds.append(claim(agent.state, slot, run))
        reserved = reserve(spec)
        if reserved is not None:
            fds.append(reserved)
        lock = locking.take(os.path.join(folder, "lock"), 0)
        fds.append(lock)
        tmp = ranks.make_tmp(agent.state, spec)
        started = time.monotonic()
        os.write(lock, json.dumps({"started": started, "mark": mark, "tmp": tmp}).encode())
        write_json(os.path.join(folder, "spec.json"), spec)
        with open(os.path.join(folder, "exit.json.new"), "w") as file:
            file.write(" " * EXIT_ROOM)
        os.makedirs(spec["outputs"], exist_ok=True)
        pid = agent.fork(keep=fds, keep_locks=True)
    except BaseException as error:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        if tmp is not None:
            shutil.rmtree(tmp, ignore_errors=True)
        if isinstance(error, OSError):
            raise of_os_error(error, getattr(error, "filename", None))
        raise
    finally:
        if fds and not (made and tmp is not None and "pid" in locals() and pid == 0):
            for fd in fds:
                os.close(fd)
    if pid == 0:
        main(agent.state, run, folder, spec, common, tmp, lock, reserved, started)
    return {"pid": pid}
