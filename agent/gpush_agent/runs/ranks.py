"""What a run starts on its node: argv and environment of each process, for the three modes (docs/technical/runs.md)."""
import ctypes
import os
import re
import shutil
import signal
import tempfile

from ..core.processes import default_signals, killed_before_parent, raw
from ..core.refused import Refused
from ..node import temporary
from . import journal, rundir

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
MODES = ("ranks", "torchrun", "command")
MAX_PROCS = 1024
SIGNALS = ("INT", "TERM", "KILL", "HUP", "QUIT", "USR1", "USR2")
LONGEST_WARNING = 31 * 86400
SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")        # providers write for bash
SHELL_OWN = ("UID", "EUID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO", "_")        # bash lets nobody set them
SYSTEM_TMP = ["/tmp", "/var/tmp", "/dev/shm"]
# Each rank of torchrun goes through this: its output goes to its own pipes, then it becomes the program.
REDIRECT = ('d=$GPUSH_RUN_TMP TMPDIR=$GPUSH_RUN_TMP/$LOCAL_RANK; unset GPUSH_RUN_TMP; export TMPDIR; '
            '[ ! -p "$d/ranks" ] || echo "$LOCAL_RANK $$" >"$d/ranks"; '
            'exec "$@" >"$d/$LOCAL_RANK.out" 2>"$d/$LOCAL_RANK.err"')
# A rank's process begins as this shell where the provider's scripts are read first: arguments are how many scripts, how many
# names that keep their values, these, and the program. Values are never arguments: all users can see those.
SOURCE = r"""
gpush_scripts=$1 gpush_keep=$2 gpush_paths= gpush_names=; shift 2
for gpush_path do
    [ "$gpush_scripts" -gt 0 ] || break
    gpush_scripts=$((gpush_scripts - 1)); shift
    gpush_paths="$gpush_paths $gpush_path"
done
for gpush_name do
    [ "$gpush_keep" -gt 0 ] || break
    gpush_keep=$((gpush_keep - 1)); shift
    gpush_names="$gpush_names $gpush_name"
    eval "gpush_was_$gpush_name=\$$gpush_name"
done
for gpush_path in $gpush_paths; do
    NCCL_LIB_DIR=${NCCL_LIB_DIR:-${gpush_path%/*}}      # TCPXO's script asks for it
    if [ -r "$gpush_path" ]; then . "$gpush_path"; else echo "gpush: cannot read $gpush_path" >&2; fi
done
for gpush_name in $gpush_names; do eval "export $gpush_name=\"\$gpush_was_$gpush_name\""; done
exec "$@"
"""
# What torchrun reports at its end; the second is logged when the first cannot be found.
ROOT_CAUSE = re.compile(rb"Root Cause \(first observed failure\):\s*\[\d+\]:(.*?)(?:\n=====|\Z)", re.DOTALL)
CAUSE_RANK = re.compile(rb"\(local_rank: (\d+)\)")
CAUSE_WORLD_RANK = re.compile(rb"rank\s*: (\d+) \(local_rank")
CAUSE_PID = re.compile(rb"exitcode\s*: -?\d+ \(pid: (\d+)\)")
CAUSE_EXIT = re.compile(rb"exitcode\s*: (-?\d+)")
LOGGED = re.compile(rb"failed \(exitcode: (-?\d+)\) local_rank: (\d+)")
# Of a script and of a variable, as a shell takes them without quotes.
PLAIN_PATH = re.compile(r"/[A-Za-z0-9_./+-]+\Z")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# What mpirun says of the rank that failed first: it aborted, ended with a status (Open MPI), or by a signal (Open MPI).
MPI_RANK = re.compile(rb"MPI_ABORT was invoked on rank (\d+) |Abort\(-?\d+\) on node (\d+) "
                      rb"|Process name:\s*\[\S*,(\d+)\]\s+Exit code|process rank (\d+) with PID")
IN_USE = re.compile(rb"EADDRINUSE|[Aa]ddress already in use")


class Rank:
    """One process that we start, and how it ended."""

    def __init__(self, number, local, argv, env):
        self.number, self.local, self.argv, self.env = number, local, argv, env
        self.pid = 0
        self.fds = {}           # channel -> our end of its pipe
        self.ended = None       # ("exit" | "signal", number), when it has


def check(spec):
    """Raises Refused("bad-request") with the name of the field."""
    def need(field, good):
        if not good:
            raise Refused("bad-request", {"field": field})

    def number(value, low, high):
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    def words(value):
        return isinstance(value, list) and value and all(isinstance(word, str) and "\0" not in word for word in value)

    def variables(value):
        return isinstance(value, dict) and all(
            isinstance(text, str) and "\0" not in text and name and not set("=\0") & set(name)
            for name, text in value.items())

    need("spec", isinstance(spec, dict))
    need("mode", spec.get("mode") in MODES)
    need("kind", spec.get("kind", rundir.PROGRAM) in rundir.KINDS)
    if spec["mode"] == "command":
        need("command", words(spec.get("argv")) if spec.get("argv") is not None else isinstance(spec.get("command"), str))
        need("procs", spec.get("procs", 1) == 1)
    else:
        need("python", isinstance(spec.get("python"), str) and spec["python"])
        need("program", words(spec.get("program")))
        need("procs", number(spec.get("procs"), 1, MAX_PROCS))
    for name in ("cwd", "outputs"):
        need(name, isinstance(spec.get(name), str) and spec[name].startswith("/"))
    for name in ("env", "defaults"):
        need(name, variables(spec.get(name) or {}))
    need("nodes", number(spec.get("nodes"), 1, 65535))
    need("node_rank", number(spec.get("node_rank"), 0, spec["nodes"] - 1))
    need("world", number(spec.get("world"), 1, journal.LAUNCHER))
    need("first_rank", number(spec.get("first_rank"), 0, spec["world"] - spec.get("procs", 1)))
    master = spec.get("master")
    need("master", isinstance(master, dict) and isinstance(master.get("addr"), str) and number(master.get("port"), 1, 65535))
    need("slots", isinstance(spec.get("slots"), list) and all(
        isinstance(slot, str) and re.match(r"[A-Za-z0-9_.:-]{1,100}\Z", slot) and slot.strip(".") for slot in spec["slots"]))
    need("visible", spec.get("visible") is None or isinstance(spec["visible"], str))
    need("stop_grace_s", isinstance(spec.get("stop_grace_s", 10), (int, float)) and 0 <= spec.get("stop_grace_s", 10) <= 86400)
    warn = spec.get("warn")
    need("warn", warn is None or (isinstance(warn, dict) and warn.get("signal") in SIGNALS
                                  and isinstance(warn.get("before_s"), (int, float)) and 0 < warn["before_s"] <= LONGEST_WARNING))
    source = spec.get("source")
    need("source", source is None or (isinstance(source, dict) and words(source.get("paths"))
                                      and all(PLAIN_PATH.match(path) for path in source["paths"])
                                      and isinstance(source.get("keep") or [], list)
                                      and all(isinstance(name, str) and NAME.match(name) for name in source.get("keep") or [])))
    need("activate", spec.get("activate") is None or words(spec["activate"]))
    warm = spec.get("warm")
    need("warm", warm is None or (isinstance(warm, dict) and spec["mode"] == "ranks"))
    need("snapshot", spec.get("snapshot") is None or (isinstance(spec["snapshot"], dict) and warm is None))
    need("transport", spec.get("transport") in (None, "log", "counters"))
    need("own", spec.get("own") is None or spec["own"] == [] or words(spec["own"]))
    need("torchrun", spec.get("torchrun") is None or spec["torchrun"] == [] or words(spec["torchrun"]))


def check_files(spec, env):
    """Raises Refused("not-found" | "denied") for what cannot be started anyway, so that no node starts."""
    if not os.path.isdir(spec["cwd"]):
        raise Refused("not-found", {"what": "folder", "path": spec["cwd"]})
    if spec["mode"] == "command":
        if spec.get("argv") is not None:
            find("program", spec["argv"][0], spec["cwd"], env)
        return
    find("python", spec["python"], spec["cwd"], env)
    script = spec["program"][0]
    if not script.startswith("-") and not os.path.exists(os.path.join(spec["cwd"], script)):
        raise Refused("not-found", {"what": "script", "path": script})


def find(what, name, cwd, env):
    if "/" in name:
        path = os.path.join(cwd, name)
        if not os.path.exists(path):
            raise Refused("not-found", {"what": what, "path": name})
        if os.path.isdir(path) or not os.access(path, os.X_OK):
            raise Refused("denied", {"what": what, "path": name})
        return
    for folder in env.get("PATH", os.defpath).split(":"):
        path = os.path.join(cwd, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return
    raise Refused("not-found", {"what": what, "path": name})


def environment(spec, base, run, mark, activation):
    """What all processes of the run on this node have in common. `activation`: what the session's environment sets."""
    # A rank that a signal ends says where it was: the only trace of a fault in a C library.
    env = {"PYTHONFAULTHANDLER": "1"}
    env.update(spec.get("defaults") or {})
    env.update(base)
    if spec.get("visible") is not None and "HIP_VISIBLE_DEVICES" in env:
        env["HIP_VISIBLE_DEVICES"] = spec["visible"]        # the node's has all its GPUs, and counts before CUDA's name on AMD's
    env.update(activation.variables())
    env.update(spec.get("env") or {})
    nodes, node = str(spec["nodes"]), str(spec["node_rank"])
    env.update({
        "PYTHONUNBUFFERED": "1", "GPUSH_RUN": str(run), "GPUSH_NODES": nodes, "GPUSH_NODE": node, "GPUSH_MARK": mark,
        "GPUSH_OUTPUT": spec["outputs"], "NNODES": nodes, "NODE_RANK": node, "GROUP_RANK": node,
        "WORLD_SIZE": str(spec["world"]), "LOCAL_WORLD_SIZE": str(spec.get("procs", 1)),
        "MASTER_ADDR": spec["master"]["addr"], "MASTER_PORT": str(spec["master"]["port"])})
    if spec.get("visible") is not None:
        env["CUDA_VISIBLE_DEVICES"] = spec["visible"]
    activation.lay_over(env, spec.get("own") or [], spec.get("activate"))
    return env


def processes_of(spec, common, tmp):
    """The processes to start. Of torchrun, which starts the ranks itself, it is one whose rank is the launcher's."""
    if spec["mode"] == "torchrun":
        env = {name: text for name, text in common.items() if name not in ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK")}
        env.update(TMPDIR=tmp, GPUSH_RUN_TMP=tmp)
        return [Rank(journal.LAUNCHER, 0, sourced(spec, env, torchrun(spec)), env)]
    ranks = []
    for local in range(spec.get("procs", 1)):
        number = spec["first_rank"] + local
        env = dict(common, RANK=str(number), LOCAL_RANK=str(local), TMPDIR=os.path.join(tmp, str(local)))
        if spec["mode"] == "ranks":
            if (spec.get("warm") or {}).get("torch"):
                env.update(elastic(spec, local, number, env))
            argv = [spec["python"], "-u"] + spec["program"]
        else:
            argv = spec["argv"] if spec.get("argv") is not None else ["/bin/sh", "-c", spec["command"]]
        ranks.append(Rank(number, local, sourced(spec, env, argv), env))
    return ranks


def elastic(spec, local, number, env):
    """What torchrun would tell this rank. Without its agent, rank 0 has the store."""
    world, procs = str(spec["world"]), str(spec.get("procs", 1))
    return {"GROUP_WORLD_SIZE": str(spec["nodes"]), "LOCAL_WORLD_SIZE": procs, "ROLE_NAME": "default", "ROLE_RANK": str(number),
            "ROLE_WORLD_SIZE": world, "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "0",
            "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_USE_AGENT_STORE": "False",
            "TORCHELASTIC_ERROR_FILE": os.path.join(env["TMPDIR"], "error.json"),
            "TORCH_NCCL_ASYNC_ERROR_HANDLING": env.get("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1")}


def sourced(spec, env, argv):
    """The same program, after a shell has read the provider's scripts. What `keep` names and is set keeps its value."""
    source = spec.get("source")
    if not source:
        return argv
    kept = [name for name in source.get("keep") or [] if name in env and name not in SHELL_OWN]
    shell = next((path for path in SHELLS if os.access(path, os.X_OK)), SHELLS[-1])
    return [shell, "-c", SOURCE, "sh", str(len(source["paths"])), str(len(kept))] + source["paths"] + kept + argv


def torchrun(spec):
    master = spec["master"]
    return [spec["python"], "-u", "-m", "torch.distributed.run",
            "--nnodes", str(spec["nodes"]), "--node-rank", str(spec["node_rank"]), "--nproc-per-node", str(spec["procs"]),
            "--rdzv-backend", "static", "--master-addr", master["addr"], "--master-port", str(master["port"]),
            "--max-restarts", "0"] + (spec.get("torchrun") or []) + [
                "--no-python", "/bin/sh", "-c", REDIRECT, "sh", spec["python"], "-u"] + spec["program"]


def make_tmp(state, spec):
    """A short path of our own for TMPDIR and pipes: multiprocessing puts sockets there, and their paths end at 107 bytes.
    Below the state folder, which goes with the node, if that is short; it may also be a file system without pipes or
    sockets."""
    wanted = (spec.get("env") or {}).get("TMPDIR")
    own = temporary.below(state)
    last = None
    for folder in ([wanted] if wanted else []) + ([own] if temporary.is_short(state) else []) + SYSTEM_TMP:
        try:
            if folder == own:
                os.makedirs(own, mode=0o700, exist_ok=True)
                return fill_tmp(tempfile.mkdtemp(prefix="r", dir=own), spec, True)
            return fill_tmp(tempfile.mkdtemp(prefix="gpush-%d-" % os.getuid(), dir=folder), spec, False)
        except OSError as error:
            last = error
    raise last


def fill_tmp(tmp, spec, tries_socket):
    try:
        for local in range(spec.get("procs", 1)):
            os.mkdir(os.path.join(tmp, str(local)), 0o700)
            if spec["mode"] == "torchrun":
                for channel in ("out", "err"):
                    os.mkfifo(os.path.join(tmp, "%d.%s" % (local, channel)), 0o600)
        if tries_socket:
            temporary.try_socket(tmp)
    except OSError:
        shutil.rmtree(tmp, ignore_errors=True)
        raise
    return tmp


def start(rank, cwd):
    """Forks and execs; sets pid and fds. OSError when the program cannot be executed."""
    ends = []
    try:
        for _ in range(3):
            ends.append(os.pipe())
        supervisor = os.getpid()
        pid = os.fork()
        if pid == 0:
            become(rank, cwd, ends, supervisor)
    except OSError:
        for reader, writer in ends:
            os.close(reader)
            os.close(writer)
        raise
    for _, writer in ends:
        os.close(writer)
    failed = b""
    while True:
        data = os.read(ends[2][0], 64)
        if not data:
            break
        failed += data
    os.close(ends[2][0])
    rank.pid = pid
    rank.fds = {journal.OUT: ends[0][0], journal.ERR: ends[1][0]}
    for fd in rank.fds.values():
        os.set_blocking(fd, False)
    return OSError(int(failed), os.strerror(int(failed))) if failed else None


def become(rank, cwd, ends, supervisor):
    """In the forked child; never returns. If the supervisor is killed, the kernel kills the rank."""
    try:
        os.setsid()
        control(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
        if os.getppid() != supervisor:
            os._exit(137)
        default_signals()
        killed_before_parent()
        null = os.open(os.devnull, os.O_RDONLY)
        for target, fd in enumerate((null, ends[0][1], ends[1][1])):
            os.dup2(fd, target)
        os.chdir(raw(cwd))
        os.execvpe(raw(rank.argv[0]), [raw(word) for word in rank.argv],
                   {raw(name): raw(text) for name, text in rank.env.items()})
    except OSError as error:
        os.write(ends[2][1], str(error.errno or 1).encode())
    except BaseException as error:      # the top of a process
        os.write(2, repr(error).encode())
    finally:
        os._exit(127)


def control(option, value):
    """prctl, where there is one."""
    zero = ctypes.c_ulong(0)
    try:
        return ctypes.CDLL(None, use_errno=True).prctl(option, value, zero, zero, zero) == 0
    except (OSError, AttributeError):
        return False


def torch_failure(text):
    """(local rank, "exit" | "signal", number) of the first failure that torchrun reports, or None."""
    cause = ROOT_CAUSE.search(text)
    if cause:
        rank, exit = CAUSE_RANK.search(cause.group(1)), CAUSE_EXIT.search(cause.group(1))
        if rank and exit:
            return (int(rank.group(1)),) + ended(int(exit.group(1)))
    logged = LOGGED.search(text)
    return (int(logged.group(2)),) + ended(int(logged.group(1))) if logged else None


def torch_cause(text):
    """(global rank, pid or None, ("exit" | "signal", number)) of the first failure in a report that stands anywhere in a text,
    for launchers that run torchrun themselves (accelerate); None without one."""
    cause = ROOT_CAUSE.search(text)
    if not cause:
        return None
    rank, exit, pid = (pattern.search(cause.group(1)) for pattern in (CAUSE_WORLD_RANK, CAUSE_EXIT, CAUSE_PID))
    return (int(rank.group(1)), int(pid.group(1)) if pid else None, ended(int(exit.group(1)))) if rank and exit else None


def mpi_rank(text, tmp):
    """Which rank failed first: as it was noted (mpi.py of the gateway), or as mpirun says it in a text; None without it."""
    try:
        with open(os.path.join(tmp, "0", "failed-rank")) as file:
            return int(file.read())
    except (OSError, ValueError):
        pass
    said = MPI_RANK.search(text)
    return int(next(group for group in said.groups() if group)) if said else None


def ended(number):
    return ("signal", -number) if number < 0 else ("exit", number)


def name_process(name):
    """What ps shows; argv stays the agent's."""
    control(PR_SET_NAME, ctypes.c_char_p(name.encode()[:15]))
