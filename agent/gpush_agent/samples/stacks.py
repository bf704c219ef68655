"""The builtin `stacks`: where the ranks of a run are in their code, for `gpush why` (docs/technical/why.md). One line of JSON, then it
ends. Runs in a forked child. What a file system that hangs could hold up is done by threads that are not waited for longer than a limit:
what the kernel tells of the ranks is then still known.

py-spy is asked with --nonblocking, which never stops a rank. Without that it would send SIGSTOP, and a rank in a file system that hangs
takes that only later: if py-spy had been killed by then, the rank would stay stopped."""
import json
import os
import re
import shutil
import time

from ..core import processes as table, programs
from ..core.programs import within
from ..core.wholefile import write_all
from ..runs import journal, reasons, rundir
from . import processes, progress, sampler

LOOKS = 4                   # a rank that makes many short steps is at one line most of the time
PAUSE_S = 1.0               # between the first look and the last one
DUMP_S = 3.0                # for one look, and half of what all have; one takes a tenth of a second
FILES_SHARE = 0.5           # of the time for one look: for names of files and for the journal
MOST_S = 60.0               # of what a test asks for
MAX_RANKS = 64
MAX_FRAMES = 40
MAX_WORKERS = 4             # of a data loader
MOST_TEXT = 160
NAME = "py-spy"
NONE, DENIED, LATE, FAILED = "none", "denied", "late", "failed"
REFUSAL = re.compile(r"permission denied|operation not permitted|\bEPERM\b|\bEACCES\b", re.I)
OF_LIBRARY = re.compile(r".*/(?:site-packages|dist-packages|lib(?:64)?/python[0-9.]+)/(.+)")
LOADER = "torch/utils/data/dataloader.py"
YAMA = "/proc/sys/kernel/yama/ptrace_scope"


def main(args, stdin_fd, stdout_fd):
    value = look(args, lambda seconds: sampler.gone(stdout_fd, seconds))
    if value is not None:
        write_all(stdout_fd, (json.dumps(value) + "\n").encode("ascii"))
        os.close(stdout_fd)         # a thread in a file system that hangs may keep this process
    return 0


def look(args, pause):
    """Several looks with pauses between, so that what moves is seen. None if nobody waits for it any more: `pause(seconds)` says so."""
    run, state = args.get("run"), args.get("state")
    pause_s, dump_s = [number if isinstance(number, (int, float)) and 0 <= number <= MOST_S else default
                       for number, default in ((args.get("pause_s"), PAUSE_S), (args.get("dump_s"), DUMP_S))]
    if run is None:
        found = [(None, "hand", 0, by_hand(os.environ.get("GPUSH_MARK", "")))]
    else:
        found = [entry for entry in processes.runs(state) if entry[0] == run]
    seen, begun = processes.Ranks(), time.monotonic()
    ranks = [(rank["rank"], interpreter(rank["pid"])) for entry in seen.sample(found, begun) for rank in entry["ranks"]][:MAX_RANKS]
    sample(seen, ranks)
    answers = {pid: [] for _, pid in ranks}
    for at in range(LOOKS if ranks else 0):
        now = time.monotonic()
        if at > 0 and now >= begun + 2 * dump_s:
            break
        for pid, answer in dumps(list(answers), min(dump_s, begun + 2 * dump_s - now)).items():
            answers[pid].append(answer)
        if at < LOOKS - 1 and pause(max(0.0, now + pause_s / (LOOKS - 1) - time.monotonic())):
            return None
    took = time.monotonic() - begun
    entries = described(sample(seen, ranks), answers, dump_s, args)
    add_workers([rank for rank in entries if any(frame["file"] == LOADER for frame in rank["frames"] or [])], dump_s, args)
    quiet_s = within(lambda number: quiet(state, number), [run], FILES_SHARE * dump_s).get(run)
    return {"run": run, "seconds": round(took, 2), "quiet_s": quiet_s, "ptrace_scope": ptrace_scope(), "ranks": entries,
            "progress": steps(state, run, args.get("workspace"), FILES_SHARE * dump_s)}


def sample(seen, ranks):
    """What the kernel tells of each, since the last time."""
    before, seen.before = seen.before, {}
    return [seen.one(rank, pid, time.monotonic(), before) for rank, pid in ranks]


def by_hand(mark):
    """Ranks that were started in a terminal or by an editor, by their variables; what has its rank from its parent is part of that one.
    Those of a launcher that has ended or was stopped count only if there are no others."""
    pids = rundir.marked(mark) if mark else []
    parents = {pid: (table.read_stat(pid) or (0,))[0] for pid in pids}
    for pattern in processes.USUAL:
        ranks = {pid: processes.rank_of(pid, pattern) for pid in pids}
        found = sorted(pid for pid, rank in ranks.items() if rank is not None and ranks.get(parents[pid]) != rank)
        if found:
            return [pid for pid in found if launches(parents[pid])] or found
    return []


def launches(parent):
    """Whether a process is the one that started its children, and goes on; the agent and process 1 get those of others."""
    return parent not in (0, 1, os.getppid()) and (table.read_stat(parent) or (0, 0, b"T"))[2] not in (b"T", b"t")


def described(ranks, answers, seconds, args):
    """Adds what is known of their code and of what they wait for."""
    good = {pid: [frames for frames, _ in some if frames is not None] for pid, some in answers.items()}
    found = texts({pid: some for pid, some in good.items() if some}, seconds, args)
    entries = []
    for rank in ranks:
        pid = rank["pid"]
        moved = any(frames != good[pid][0] for frames in good[pid]) if len(good[pid]) > 1 else None
        why = None if pid in found else problem(LATE) if good[pid] else answers[pid][-1][1]
        frames, spots = usual(found[pid]) if pid in found else (None, [])
        entries.append(dict(rank, wait=wait_of(pid), frames=frames, spots=spots, moved=moved, problem=why))
    return entries


def texts(stacks, seconds, args):
    """pid -> its stacks as they are shown, unless the file system of its code hangs."""
    def of(pid):
        place = place_of(pid, args)
        return [shown(frames, place) for frames in stacks[pid]]
    return within(of, list(stacks), FILES_SHARE * seconds)


def usual(looks):
    """The newest stack at the own line where it was most often; and, if the looks differ there, the spot of each: its frames from the
    innermost to the own line."""
    own = [next((at for at, frame in enumerate(frames) if frame["own"]), None) for frames in looks]
    lines = [(frames[at or 0]["file"], frames[at or 0]["line"]) for frames, at in zip(looks, own)]
    spots = [frames if at is None else frames[:at + 1] for frames, at in zip(looks, own)]
    newest = max(range(len(looks)), key=lambda index: (lines.count(lines[index]), index))
    return looks[newest], spots if any(spot != spots[0] for spot in spots) else []


def add_workers(waiting, seconds, args):
    """To ranks that wait for their data loader: what that does."""
    pids = {rank["pid"]: [child for child in table.children(rank["pid"]) if is_python(child)][:MAX_WORKERS] for rank in waiting}
    answers = dumps([pid for some in pids.values() for pid in some], seconds)
    found = texts({pid: [frames] for pid, (frames, _) in answers.items() if frames is not None}, seconds, args)
    for rank in waiting:
        rank["workers"] = [{"pid": pid, "wait": wait_of(pid), "frames": found[pid][0]} for pid in pids[rank["pid"]] if pid in found]


# ---- processes

def interpreter(pid):
    """The Python of a rank that a shell or another program has started."""
    level = [pid]
    for _ in range(processes.MAX_DEPTH):
        for each in level:
            if is_python(each):
                return each
        level = [child for each in level for child in table.children(each)]
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


def steps(state, run, workspace, seconds):
    """How fast it makes its steps, and, if there is time for that, too, how fast runs before it did; None while it prints none."""
    folder = rundir.folder_of(state, run)
    watched = progress.Progress(folder) if folder else None
    found = within(lambda each: each.look(), [watched] if watched else [], seconds).get(watched)
    if found is None:
        return None
    before = within(lambda series: progress.earlier(state, run, workspace, series), [watched.series], seconds)
    return dict(found, earlier=before.get(watched.series, []))


def ptrace_scope():
    """Of Yama, which decides whether one process of a user may read another one's memory."""
    try:
        with open(YAMA) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


# ---- py-spy

def program(pid):
    """That of the rank's own environment, else of this one's; None where there is none. What another user has put there is not executed."""
    folders = os.environ.get("PATH", "").split(":")
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            own = os.path.dirname(os.fsdecode(file.read(4096).split(b"\0")[0]))
        if os.stat("/proc/%d" % pid).st_uid == os.geteuid():
            folders = [own] + variable(pid, "PATH").split(":") + folders
    except OSError:
        pass
    return shutil.which(NAME, path=":".join(folder for folder in folders if folder.startswith("/")))


def dumps(pids, seconds):
    """pid -> (frames, None) or (None, {"code", "said"}); frames are (name, file, line), the innermost first."""
    end = time.monotonic() + seconds
    found = within(lambda pid: dump(pid, end), pids, seconds + programs.KILLED_SECONDS)
    return {pid: found.get(pid, (None, problem(LATE))) for pid in pids}


def dump(pid, end):
    path = program(pid)
    if path is None:
        return None, problem(NONE)
    command = [path, "dump", "--json", "--nonblocking", "--full-filenames", "--pid", str(pid)]
    output = programs.one(command, None, end)
    frames = parsed(output.text, pid) if output.why is None else None
    if frames is not None:
        return frames, None
    if output.why == "timeout":
        return None, problem(LATE)
    lines = [line.strip() for line in output.error.splitlines() if line.strip()]
    return None, problem(DENIED if REFUSAL.search(output.error) else FAILED, lines[0] if lines else "")


def problem(code, said=""):
    return {"code": code, "said": reasons.shown(said, MOST_TEXT)}


def parsed(text, pid):
    """The frames of the first thread, in which a training has its loop; None of what is no answer, and where that thread has none."""
    try:
        threads = [thread for thread in json.loads(text) if isinstance(thread, dict)]
        chosen = ([thread for thread in threads if thread.get("os_thread_id") == pid]
                  or [thread for thread in threads if thread.get("thread_name") == "MainThread"])[0]
        return [(str(frame["name"]), str(frame["filename"]), int(frame["line"])) for frame in chosen["frames"]] or None
    except (ValueError, TypeError, KeyError, IndexError):
        return None


def shown(frames, place):
    """Own ones are of the workspace; of a program that lies elsewhere, those of no library."""
    known, found = {}, []
    for name, file, line in frames:
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
    return cut(found)


def cut(frames):
    """The innermost ones, and those from the user's own line on: what is left out lies between."""
    half = MAX_FRAMES // 2
    own = next((at for at, frame in enumerate(frames) if frame["own"]), 0)
    begin = max(half, min(own, len(frames) - half))
    return frames[:half] + frames[begin:begin + half]
