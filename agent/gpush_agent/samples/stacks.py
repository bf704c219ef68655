"""The builtin `stacks`: where the ranks of a run are in their code, for `gpush why` (docs/technical/why.md). One line of JSON, then it
ends. Runs in a forked child, so it may block; the gateway waits no longer than it wants to.

py-spy is asked with --nonblocking, which never stops a rank. Without that it would send SIGSTOP, and a rank in a file system that hangs
takes that only later: if py-spy had been killed by then, the rank would stay stopped."""
import json
import os
import re
import shutil
import subprocess
import time

from ..core import processes as table
from ..core.wholefile import write_all
from ..runs import journal, reasons, rundir
from . import processes, sampler

PAUSE_S = 1.0               # between two looks: a rank whose stack has changed is not stuck
DUMP_S = 4.0                # for all of a look; one takes a tenth of a second
MOST_S = 30.0
MAX_RANKS = 64
AT_ONCE = 16                # each takes a processor for as long as it reads symbols
MAX_FRAMES = 40             # the innermost ones
MAX_WORKERS = 4             # of a data loader
MOST_OUTPUT = 4 << 20
MOST_TEXT = 160
NAME = "py-spy"
NONE, DENIED, LATE, FAILED = "none", "denied", "late", "failed"
REFUSAL = re.compile(r"permission denied|operation not permitted|\bEPERM\b|\bEACCES\b", re.I)
OF_LIBRARY = re.compile(r".*/(?:site-packages|dist-packages|lib(?:64)?/python[0-9.]+)/(.+)")
LOADER = "torch/utils/data/dataloader.py"
CAP_SYS_PTRACE = 19
YAMA = "/proc/sys/kernel/yama/ptrace_scope"


def main(args, stdin_fd, stdout_fd):
    value = look(args, lambda seconds: sampler.gone(stdout_fd, seconds))
    if value is not None:
        write_all(stdout_fd, (json.dumps(value) + "\n").encode("ascii"))
    return 0


def look(args, pause):
    """Twice, with a pause between, so that what moves is seen. None if nobody waits for it any more: `pause(seconds)` says so."""
    run, state = args.get("run"), args.get("state")
    seconds = [number if isinstance(number, (int, float)) and 0 <= number <= MOST_S else default
               for number, default in ((args.get("pause_s"), PAUSE_S), (args.get("dump_s"), DUMP_S))]
    if run is None:
        found = [(None, "hand", 0, by_hand(os.environ.get("GPUSH_MARK", "")))]
    else:
        found = [entry for entry in processes.runs(state) if entry[0] == run]
    seen, begun = processes.Ranks(), time.monotonic()
    ranks = ranks_of(seen, found)[:MAX_RANKS]
    pids = {rank["pid"]: interpreter(rank["pid"]) for rank in ranks}
    first = dumps(list(pids.values()), seconds[1])
    if ranks and pause(max(0.0, begun + seconds[0] - time.monotonic())):
        return None
    second = dumps(list(pids.values()), seconds[1])
    again = {rank["pid"]: rank for rank in ranks_of(seen, found)}
    took = time.monotonic() - begun
    entries = [described(dict(rank, **again.get(rank["pid"], {"state": "ended"})), pids[rank["pid"]], first, second, args)
               for rank in ranks]
    add_workers([rank for rank in entries if any(frame["file"] == LOADER for frame in rank["frames"] or [])], seconds[1], args)
    return {"run": run, "seconds": round(took, 2), "quiet_s": quiet(state, run), "ptrace": rights(), "ranks": entries}


def ranks_of(seen, found):
    return [rank for entry in seen.sample(found, time.monotonic()) for rank in entry["ranks"]]


def by_hand(mark):
    """Ranks that were started in a terminal or by an editor, by their variables; what has RANK from its parent is part of that one."""
    ranks = {pid: processes.rank_of(pid) for pid in (rundir.marked(mark) if mark else [])}
    parents = {pid: (table.read_stat(pid) or (0,))[0] for pid in ranks}
    return sorted(pid for pid, rank in ranks.items() if rank is not None and ranks.get(parents[pid]) != rank)


def described(rank, python, first, second, args):
    """Adds what is known of the rank's code and of what it waits for."""
    place = place_of(python, args)
    (before, _), (after, problem) = first[python], second[python]
    known = after or before
    return dict(rank, python=python, wait=wait_of(python), frames=shown(known, place),
                moved=None if before is None or after is None else before != after, problem=None if known is not None else problem)


def add_workers(waiting, seconds, args):
    """To ranks that wait for their data loader: what that does."""
    pids = {rank["pid"]: [child for child in processes.children(rank["python"]) if is_python(child)][:MAX_WORKERS] for rank in waiting}
    found = dumps([pid for some in pids.values() for pid in some], seconds)
    for rank in waiting:
        rank["workers"] = [{"pid": pid, "wait": wait_of(pid), "frames": shown(found[pid][0], place_of(pid, args))}
                           for pid in pids[rank["pid"]] if found[pid][0]]


# ---- processes

def interpreter(pid):
    """The Python of a rank that a shell or another program has started."""
    level = [pid]
    for _ in range(processes.MAX_DEPTH):
        for each in level:
            if is_python(each):
                return each
        level = [child for each in level for child in processes.children(each)]
    return pid


def is_python(pid):
    try:
        return os.path.basename(os.readlink("/proc/%d/exe" % pid)).startswith("python")
    except OSError:
        return False


def wait_of(pid):
    """What in the kernel it waits in; None where that is not shown."""
    try:
        with open("/proc/%d/wchan" % pid) as file:
            word = file.read(MOST_TEXT).strip()
    except OSError:
        return None
    return word if re.match(r"[A-Za-z_][\w.]*\Z", word) else None


def place_of(pid, args):
    """Where the code of its user lies."""
    try:
        folder = os.readlink("/proc/%d/cwd" % pid)
    except OSError:
        folder = "/"
    return reasons.Place(variable(pid, "GPUSH_WORKSPACE") or args.get("workspace"), folder)


def variable(pid, name):
    begin = name.encode() + b"="
    return next((os.fsdecode(entry[len(begin):]) for entry in table.variables(pid) if entry.startswith(begin)), "")


def quiet(state, run):
    """Seconds since the run wrote anything on this node."""
    folder = rundir.folder_of(state, run)
    found = journal.segments(folder) if folder else []
    try:
        return round(max(0.0, time.time() - os.stat(found[-1][1]).st_mtime), 1) if found else None
    except OSError:
        return None


def rights():
    """What decides whether one process of a user may read another one's memory."""
    scope, capable = None, False
    try:
        with open(YAMA) as file:
            scope = int(file.read())
    except (OSError, ValueError):
        pass
    try:
        with open("/proc/self/status") as file:
            mask = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", file.read(), re.M)
        capable = bool(mask and int(mask.group(1), 16) >> CAP_SYS_PTRACE & 1)
    except OSError:
        pass
    return {"scope": scope, "capable": capable}


# ---- py-spy

def program(pid):
    """That of the rank's own environment, else of this one's; None where there is none."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            own = os.path.dirname(os.fsdecode(file.read(4096).split(b"\0")[0]))
    except OSError:
        own = ""
    folders = [own] + variable(pid, "PATH").split(":") + os.environ.get("PATH", "").split(":")
    return shutil.which(NAME, path=":".join(folder for folder in folders if folder.startswith("/")))


def dumps(pids, seconds):
    """pid -> (frames, None) or (None, {"code", "said"}); frames are (name, file, line), the innermost first."""
    found, end = {}, time.monotonic() + seconds
    for at in range(0, len(pids), AT_ONCE):
        some = [(pid, start(pid)) for pid in pids[at:at + AT_ONCE]]
        for pid, process in some:
            found[pid] = (None, problem(NONE)) if process is None else answer(pid, process, end)
    return found


def start(pid):
    path = program(pid)
    if path is None:
        return None
    try:
        return subprocess.Popen([path, "dump", "--json", "--nonblocking", "--full-filenames", "--pid", str(pid)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError:
        return None


def answer(pid, process, end):
    try:
        out, error = process.communicate(timeout=max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, problem(LATE)
    frames = parsed(out, pid) if process.returncode == 0 and len(out) <= MOST_OUTPUT else None
    if frames is not None:
        return frames, None
    text = error.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return None, problem(DENIED if REFUSAL.search(text) else FAILED, lines[0] if lines else "")


def problem(code, said=""):
    return {"code": code, "said": reasons.shown(said, MOST_TEXT)}


def parsed(out, pid):
    """The frames of the first thread, in which a training has its loop; None of what is no answer."""
    try:
        threads = [thread for thread in json.loads(out.decode("utf-8", "replace")) if isinstance(thread, dict)]
        chosen = ([thread for thread in threads if thread.get("os_thread_id") == pid]
                  or [thread for thread in threads if thread.get("thread_name") == "MainThread"] or threads)[0]
        return [(str(frame["name"]), str(frame["filename"]), int(frame["line"])) for frame in chosen["frames"]]
    except (ValueError, TypeError, KeyError, IndexError):
        return None


def shown(frames, place):
    """None without frames. Own ones are of the workspace; of a program that lies elsewhere, those of no library."""
    if frames is None:
        return None
    known, found = {}, []
    for name, file, line in frames[:MAX_FRAMES]:
        if file not in known:
            known[file] = place.own([(file, line, name)])
        own, library = known[file], OF_LIBRARY.match(file)
        path = own["file"] if own else library.group(1) if library else file
        found.append({"name": reasons.shown(name, MOST_TEXT), "file": reasons.shown(path, MOST_TEXT), "line": line,
                      "own": bool(own), "library": bool(library) or file.startswith("<")})
    has_own = any(frame["own"] for frame in found)
    for frame in found:
        is_library = frame.pop("library")
        frame["own"] = frame["own"] or (not has_own and not is_library)
    return found
