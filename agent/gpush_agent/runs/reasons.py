"""Why a rank ended, as data: {"code", …facts} (docs/technical/runs.md). Made from how the process ended, the end of what it wrote
to stderr, and what the node knows (evidence). The sentence is made once, in the shell."""
import os
import re
import signal

MOST_TEXT = 300             # of a message: one line of a terminal or two
NEAR_END = 20               # lines of stderr: an older traceback says nothing about an exit status that a program chose
MOST_REASONS = 8            # different ones of a run
FRAMES = 200                # of one traceback: a deep recursion repeats itself

# torch puts it before each line that a rank writes when it fails.
RANK_PREFIX = re.compile(r"^\[rank(\d+)\]:[ ]?")
HEAD = "Traceback (most recent call last):"
FRAME = re.compile(r'^\s*(?:\|\s*)?File "(.+?)", line (\d+)(?:, in (.*))?$')
RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
# What Python reports without ending for it.
HARMLESS = re.compile(r"^(Exception ignored in|Exception in thread|Error in atexit|Error in sys.excepthook)")
# Launchers raise these to say that a rank failed; the rank has said why.
OF_LAUNCHERS = ("ChildFailedError", "CalledProcessError", "ProcessExitedException")
FATAL = re.compile(r"^Fatal Python error: (.+)$", re.MULTILINE)
FAULT_FRAME = re.compile(r'^\s+File "(.+?)", line (\d+) in (.+)$')
TERMINATED = re.compile(r"^terminate called after throwing an instance of '(.+?)'(?:\s+what\(\):\s*(.*))?", re.MULTILINE)

WORKER_KILLED = re.compile(r"DataLoader worker \(pid\(?s?\)? (\d+)[^)]*\) (?:is killed by signal: Killed|exited unexpectedly)")
NO_SHARED_MEMORY = re.compile(
    r"out of shared memory|unable to (?:write to file|open shared memory object|mmap \d+ bytes from file) </?torch_", re.IGNORECASE)
BUS_ERROR = re.compile(r"is killed by signal: Bus error|^Fatal Python error: Bus error", re.MULTILINE)
WATCHDOG = re.compile(
    r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d+), OpType=(\w+)[^)]*?Timeout\(ms\)=(\d+)\)")
GLOO_TIMEOUT = re.compile(r"Timed out waiting (\d+)\s?ms for (?:recv|send) operation|Wait timeout.*?gloo")
CLIENTS = re.compile(r"Timed out after (\d+) seconds waiting for clients\. (\d+)/(\d+) clients joined")
NO_STORE = re.compile(
    r"client socket has (?:timed out after (\d+)\s?ms|failed) .*?(?:connect to|address of) (?:any network address of )?\(([^,()]+), (\d+)\)")
STORE_WAIT = re.compile(r"[Ww]ait timeout after (\d+)\s?ms, keys: (\S+)")
CLOSED = re.compile(
    r"Connection closed by (?:remote )?peer|Connection reset by peer|ncclRemoteError|failed to recv, got 0 bytes"
    r"|Connection was likely closed|Broken pipe.*TCPStore|Read error \[")
OF_TORCH = ("RuntimeError", "DistBackendError", "DistNetworkError", "DistStoreError")
CUDA_MEMORY = re.compile(r"CUDA out of memory|HIP out of memory|CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation"
                         r"|CUDA_ERROR_OUT_OF_MEMORY|RESOURCE_EXHAUSTED: Out of memory .*GPU_")
CUDA = re.compile(r"CUDA error|CUDA driver|CUDA_ERROR_|cudaError|CUBLAS_STATUS|CUDNN_STATUS|HIP error")
NO_SPACE = re.compile(r"\[Errno (28|122)\] [^:]*(?:: '(.*?)')?|No space left on device|Disk quota exceeded")
TORCH_WRITE = re.compile(r"PytorchStreamWriter failed writing|unexpected pos \d+ vs \d+")
FOREIGN = ("/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python")


class Place:
    """Where the user's own code lies: the workspace, and the folder that the run starts in."""

    def __init__(self, workspace, cwd):
        self.cwd = cwd
        self.workspace = os.path.realpath(workspace or cwd)

    def own(self, frames):
        """The innermost frame of the user's own code, by its path in the workspace, or None."""
        for path, line, function in reversed(frames):
            if path.startswith("<"):
                continue
            full = os.path.realpath(os.path.join(self.cwd, path))
            if not os.path.isabs(path) and not os.path.exists(full):
                continue        # Cython names the sources that a library was made of
            if full.startswith(self.workspace + "/") and not any(part in full[len(self.workspace):] for part in FOREIGN):
                return {"file": shown(full[len(self.workspace) + 1:]), "line": line, "function": shown(function or "", 100)}
        return None


class Raised:
    """A traceback that a Python wrote."""

    def __init__(self, before, rank):
        self.before, self.rank = before, rank
        self.frames = []
        self.type = self.message = ""
        self.last = 0               # the number of its last line

    def name(self):
        return self.type.rpartition(".")[2]


def shown(text, most=MOST_TEXT):
    """A text from a program, for people: one line, without control characters."""
    text = "".join(letter if letter.isprintable() else " " for letter in text).strip()
    return text if len(text) <= most else text[:most - 1] + "\u2026"


def tracebacks(lines):
    """All that are complete, in order. Lines of other processes between those of a traceback are passed over."""
    found, block, before = [], None, ""
    for number, line in enumerate(lines):
        prefix = RANK_PREFIX.match(line)
        rank = int(prefix.group(1)) if prefix else None
        line = RANK_PREFIX.sub("", line.rstrip("\r"))
        if line.strip().endswith(HEAD):
            block = Raised(before, rank)
        else:
            frame = FRAME.match(line)
            if frame:
                # A SyntaxError of the script itself has no head.
                block = block or Raised(before, rank)
                if len(block.frames) < FRAMES:
                    block.frames.append((frame.group(1), int(frame.group(2)), frame.group(3)))
                else:
                    block.frames[-1] = (frame.group(1), int(frame.group(2)), frame.group(3))
            elif block is not None and block.frames and line[:1].strip():
                raised = RAISED.match(line)
                if raised and plausible(raised.group(1)):
                    block.type, block.message, block.last = raised.group(1), raised.group(2) or "", number
                    found.append(block)
                    block = None
        if line.strip():
            before = line
    return found


def plausible(name):
    """Whether a name at the beginning of a line is that of an exception."""
    last = name.rpartition(".")[2]
    return last[:1].isupper() or last.endswith(("error", "Error")) or "." in name


def last_raised(lines, rank):
    """The traceback that a process ended with, or None. Of several ranks' in one output: that rank's, where it is marked."""
    found = [one for one in tracebacks(lines) if one.name() not in OF_LAUNCHERS]
    ending = [one for one, after in zip(found, found[1:] + [None]) if not HARMLESS.match(one.before) and not shown_again(one, after)]
    own = [one for one in ending if rank is not None and one.rank == rank]
    return (own or ending or found or [None])[-1]


def shown_again(one, after):
    """Cython shows what it ignores twice, and says only before the second time that it is ignored."""
    return (after is not None and HARMLESS.match(after.before) is not None
            and (one.type, one.message, one.frames) == (after.type, after.message, after.frames))


def tells(text):
    """Whether a text holds a traceback or a report of a fault."""
    return HEAD.encode() in text or b"Fatal Python error" in text or b"terminate called" in text


def of(ended, text, node, place, pids=(), shell=False, rank=None):
    """The reason. `ended` is ("exit" | "signal", number), `text` the end of its stderr as bytes, `node` the Evidence;
    `shell`: an exit status above 128 is a signal of a program that a shell ran; `rank`: of several in one output."""
    text = text.decode("utf-8", "replace")
    lines = text.splitlines()
    number = ended[1] if ended[0] == "signal" else ended[1] - 128 if shell and 128 < ended[1] < 128 + 32 else None
    raised = last_raised(lines, rank)
    if raised is not None and ended[1] != 1 and len(lines) - raised.last > NEAR_END:
        raised = None
    reason = (memory(number, text, node, pids) or shared_memory(number, text, node) or timeout(text, raised)
              or (by_exception(raised, text, node, place) if raised is not None else None)
              or rendezvous(text) or ended_by(ended, number, text, lines, node))
    frame = place.own(raised.frames) if raised is not None else fault(lines, place)
    if frame:
        reason["frame"] = frame
    return reason


def memory(number, text, node, pids):
    worker = WORKER_KILLED.search(text)
    if number != signal.SIGKILL and not worker:
        return None
    found = node.oom(list(pids) + ([int(worker.group(1))] if worker else []), bool(pids) or bool(worker))
    return dict({"code": "memory"}, **found) if found else None


def shared_memory(number, text, node):
    """A process that touches memory for which /dev/shm has no room gets SIGBUS."""
    said = NO_SHARED_MEMORY.search(text)
    if number != signal.SIGBUS and not said and not BUS_ERROR.search(text):
        return None
    room = node.room("/dev/shm")
    if not said and not (room and room["free"] <= room["size"] // 20):
        return None
    return dict({"code": "shared-memory"}, **(room or {}))


def timeout(text, raised):
    watchdog = WATCHDOG.search(text)
    if watchdog:
        return {"code": "collective-timeout", "by": "nccl", "operation": watchdog.group(2).lower(), "sequence": int(watchdog.group(1)),
                "ms": int(watchdog.group(3))}
    gloo = GLOO_TIMEOUT.search(raised.message) if raised is not None else None
    if gloo:
        return dict({"code": "collective-timeout", "by": "gloo"}, **({"ms": int(gloo.group(1))} if gloo.group(1) else {}))
    return None


def rendezvous(text):
    clients, store, wait = CLIENTS.search(text), NO_STORE.search(text), STORE_WAIT.search(text)
    if clients:
        return {"code": "rendezvous", "joined": int(clients.group(2)), "expected": int(clients.group(3)),
                "ms": int(clients.group(1)) * 1000}
    if store:
        return dict({"code": "rendezvous", "address": shown(store.group(2), 100), "port": int(store.group(3))},
                    **({"ms": int(store.group(1))} if store.group(1) else {}))
    if wait:
        return {"code": "rendezvous", "ms": int(wait.group(1))}
    return None


def by_exception(raised, text, node, place):
    name, message = raised.name(), raised.message
    reason = {"code": "exception", "type": shown(raised.type, 100), "message": shown(message)}
    no_space = NO_SPACE.search(message)
    if name in ("ImportError", "ModuleNotFoundError"):
        reason["code"] = "import"
    elif no_space:
        path = os.path.join(place.cwd, no_space.group(2)) if no_space.group(2) else None
        reason = dict({"code": "disk-full", "type": reason["type"], "message": reason["message"]}, **(node.full(path) or {}))
        if no_space.group(1) == "122" or "quota" in message:
            reason["quota"] = True
    elif CUDA_MEMORY.search(message) or (name == "OutOfMemoryError" and "CUDA" in text):
        reason["code"] = "cuda-memory"
    elif CUDA.search(message) or name == "AcceleratorError":
        reason["code"] = "cuda"
        add_xids(reason, node)
    elif name.startswith("Rendezvous") or (name.startswith("Dist") and rendezvous(message)) or STORE_WAIT.search(message):
        reason.update(rendezvous(text) or {"code": "rendezvous"})
    elif name in OF_TORCH and TORCH_WRITE.search(message) and node.full(None):
        reason = dict({"code": "disk-full", "type": reason["type"], "message": reason["message"]}, **node.full(None))
    elif name in OF_TORCH and CLOSED.search(text if name == "DistBackendError" else message):
        reason["code"] = "peer"
    return reason


def ended_by(ended, number, text, lines, node):
    """Without a traceback: what a C library said last is the best there is."""
    if number is None:
        return {"code": "exit", "exit": ended[1], "last": last_line(lines)}
    reason = {"code": "signal", "signal": number}
    said = TERMINATED.search(text)
    fatal = FATAL.search(text)
    if said:
        reason["message"] = shown(said.group(1) + (": " + said.group(2) if said.group(2) else ""))
    elif number == signal.SIGABRT:
        # What aborts says why just before; the report of the signal follows.
        before = lines[:[at for at, line in enumerate(lines) if FATAL.match(line)][0]] if fatal else lines
        reason["message"] = last_line(before) or (shown(fatal.group(1)) if fatal else "")
    if number == signal.SIGBUS:
        room = node.room("/dev/shm")
        if room:
            reason["shm"] = room["size"]
    add_xids(reason, node)
    return reason


def add_xids(reason, node):
    found = node.xids()
    if found:
        reason["xids"] = found


def last_line(lines):
    for line in reversed(lines):
        if line.strip():
            return shown(RANK_PREFIX.sub("", line))
    return ""


def fault(lines, place):
    """The user's own frame of what faulthandler writes, innermost first, or None."""
    frames, inside = [], False
    for line in lines:
        if line.startswith("Current thread "):
            frames, inside = [], True
        elif inside:
            frame = FAULT_FRAME.match(line)
            if frame is None:
                inside = bool(not frames)
                continue
            frames.append((frame.group(1), int(frame.group(2)), frame.group(3)))
    return place.own(list(reversed(frames)))


def same(one, other):
    """Whether two reasons are one and the same on two ranks."""
    return alike(one) == alike(other)


def folded(failures):
    """The failures, those with one reason together."""
    found = []
    for failure in failures:
        for other in found:
            if all(failure[name] == other[name] for name in ("exit", "signal", "asked")) and same(
                    failure.get("reason") or {}, other.get("reason") or {}):
                other["ranks"].append(failure["rank"])
                break
        else:
            found.append(dict({name: value for name, value in failure.items() if name != "rank"}, ranks=[failure["rank"]]))
    return found[:MOST_REASONS]


def alike(reason):
    return {name: value for name, value in reason.items() if name not in ("process", "xids", "free", "last")}
