"""Folders of agents that were killed (see folder.py): an agent that ends removes its own, one that is killed cannot. Whoever lives
on the same host removes them, an agent long after its start and then every hour, in a worker.

A folder goes only if it is ours, has its name, has not been touched for minutes (a living agent touches its lock), nobody is
starting its agent, nobody answers at its socket or its abstract name, and nobody holds its lock; the last three are looked at
under its start lock, for which whoever starts it meanwhile waits."""
import os
import re
import socket
import time

from ..core.filelock import same, take
from . import folder

FIRST_SECONDS = 60.0        # not while all agents start
EVERY_SECONDS = 3600.0
SECONDS = 30.0              # for one sweep; the rest waits for the next
AGE_SECONDS = 1200.0        # twice as long as a living agent leaves its lock untouched
NAME = re.compile(r"[0-9a-f]{12}\Z")
START = ".start"


def dead(bases):
    """Removes what was left; the folders and start files that are gone now."""
    gone = []
    for parent in folder.user_folders(bases):
        if not folder.own_folder(parent, False):
            continue
        for entry in sorted(os.listdir(parent)):
            name = entry[:-len(START)] if entry.endswith(START) else entry
            if not NAME.match(name):
                continue
            path = os.path.join(parent, entry)
            try:
                if is_old(path) and (remove_start(path) if entry != name else remove(path, bases)):
                    gone.append(path)
            except OSError:     # it is being removed, or cannot be removed
                pass
    return {"gone": gone}


def is_old(path):
    """Whether it and its files were not touched for so long."""
    newest = os.lstat(path).st_mtime
    for name in ("lock", "agent.json", "agent.sock"):
        try:
            newest = max(newest, os.lstat(os.path.join(path, name)).st_mtime)
        except OSError:
            pass
    return time.time() - newest > AGE_SECONDS


def remove_start(path):
    """A start file is empty, and held for as long as the start takes."""
    fd = take(path, 0)
    if fd is None:
        return False
    try:
        os.unlink(path)
        return True
    finally:
        os.close(fd)


def remove(path, bases):
    if not folder.own_folder(path, False):
        return False
    start = take(path + START, 0)
    if start is None:
        return False
    try:
        if not is_old(path) or answers(path, bases):
            return False
        lock = take(os.path.join(path, "lock"), 0)
        if lock is None:
            return False
        try:
            import shutil       # late: slow to load, and wanted in a worker only
            shutil.rmtree(path)
            return True
        finally:
            os.close(lock)
    finally:
        if same(start, path + START):
            os.unlink(path + START)
        os.close(start)


def answers(path, bases):
    """Whether an agent lives, also one whose lock was deleted by others a moment ago."""
    for address in (os.path.join(path, "agent.sock"), folder.abstract(os.path.basename(path), bases)):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(2.0)
            sock.connect(address)
            return True
        except socket.timeout:      # a full backlog belongs to a living process
            return True
        except OSError:
            pass
        finally:
            sock.close()
    return False
