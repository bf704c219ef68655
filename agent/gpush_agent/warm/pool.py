"""The warm parents of this node (docs/technical/warm.md): started interpreters of the user that have imported what a script
begins by importing, and fork its ranks. Belongs to the agent and its loop; nothing here may cost a run more than its time."""
import contextlib
import hashlib
import importlib.util
import json
import os
import socket
import sys
import tempfile

from ..core import processes

MOST = 2                    # parents at a time: each may hold a gigabyte
IDLE_SECONDS = 1800.0       # without a run
LOOK_SECONDS = 30.0
SCARCE = 0.05               # of the memory: below that a parent is in the way
MOST_TRIES = 12             # starts of one parent, each without a module more than the one before
RETRY_SECONDS = 300.0       # for a parent that never became ready: what it imports may be another one by then
MOST_WORDS = 65536          # that it says on its status pipe at once
ROOM = 255                  # for the mark of a run in its environment
# What differs between ranks, runs or launches, and may therefore not be known while modules are imported.
WATCHED = frozenset((
    "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK GROUP_WORLD_SIZE ROLE_RANK ROLE_WORLD_SIZE ROLE_NAME NNODES "
    "MASTER_ADDR MASTER_PORT TMPDIR CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES NCCL_DEBUG_FILE GPUSH_RUN GPUSH_MARK GPUSH_OUTPUT "
    "GPUSH_NODE GPUSH_NODES GPUSH_NODE_ADDRS GPUSH_RESTART TORCHELASTIC_RUN_ID TORCHELASTIC_USE_AGENT_STORE TORCHELASTIC_RESTART_COUNT "
    "TORCHELASTIC_MAX_RESTARTS TORCHELASTIC_ERROR_FILE").split())
# The supervisor's modules that it loads late; the others are in memory when it is forked.
OF_PARENT = ("gpush_agent.warm.imports", "gpush_agent.warm.memory", "gpush_agent.warm.itself")
LATE = ("gpush_agent.runs.reasons", "gpush_agent.runs.warmstart", "gpush_agent.network.logs", "gpush_agent.network.nccl",
        "gpush_agent.network.counters")
PACKAGES = ("gpush_agent.core", "gpush_agent.runs", "gpush_agent.network", "gpush_agent.node")


class Parent:
    """One interpreter."""

    def __init__(self, key, spec, env):
        self.key, self.spec, self.env = key, spec, env
        self.made_of = files(spec)
        self.told = False           # a run has said why it will not be ready
        self.skip = {}              # module -> {"why", "instead"}: what it leaves to the ranks
        self.tries = 0
        self.pid, self.channel, self.listen = 0, -1, lambda: None
        self.said = b""
        self.ready = None           # what it said when it was
        self.why = None             # it will not be ready: because of this
        self.used = self.began = 0.0

    def has_failed(self):
        """Whether it ended before it was ready; another one would end in the same way."""
        return self.why is not None and not self.pid and self.ready is None


class Pool:
    def __init__(self, agent):
        self.agent, self.loop = agent, agent.loop
        self.parents = {}           # by key
        self.timer = None

    # ---- for a run

    def take(self, spec, common):
        """((descriptor, process id) of a parent that is ready, None), or (None, code and facts): why the run starts cold; (None,
        None) when a run before has said so. Where there is no parent, one is started for the next run."""
        words = spec["program"]
        if spec.get("source"):
            return None, {"why": "script", "what": spec["source"]["paths"][0]}
        if words[0].startswith("-") and (words[0] != "-m" or len(words) < 2):
            return None, {"why": "option", "what": words[0]}
        env = {name: text for name, text in common.items() if name not in WATCHED}
        key = hashlib.sha256(json.dumps([spec["python"], spec["cwd"], target(words), env], sort_keys=True).encode()).hexdigest()
        parent = self.parents.get(key)
        if parent is not None and parent.has_failed():
            if parent.made_of == files(spec) and self.loop.clock() - parent.began < RETRY_SECONDS:
                why, parent.told = None if parent.told else parent.why, True
                return None, why
            parent = None
        if parent is None or (parent.why and not parent.pid):
            why = {"why": parent.why["why"], "what": parent.why["what"]} if parent else {"why": "first", "what": ""}
            self.loop.after(0, lambda: self.renew(key, spec, env))
            return None, why
        parent.used = self.loop.clock()
        if parent.ready is None:
            return None, {"why": "importing", "what": str(int(self.loop.clock() - parent.began))}
        return (parent.channel, parent.pid), None

    def status(self):
        """What the node holds, for ps."""
        return [{"program": target(parent.spec["program"])[-1], "ready": parent.ready is not None, "bytes": resident(parent.pid)}
                for parent in self.parents.values() if parent.pid]

    # ---- life

    def renew(self, key, spec, env):
        self.end(self.parents.pop(key, None))
        while len(self.parents) >= MOST:
            self.end(self.parents.pop(min(self.parents, key=lambda other: self.parents[other].used)))
        if self.agent.ending or scarce():
            return
        parent = self.parents[key] = Parent(key, spec, env)
        parent.used = self.loop.clock()
        self.start(parent)
        if self.timer is None:
            self.timer = self.loop.after(LOOK_SECONDS, self.look)

    def start(self, parent):
        parent.tries += 1
        parent.began, parent.ready, parent.said = self.loop.clock(), None, b""
        try:
            self.fork(parent)
        except OSError as error:
            parent.why = {"why": "ended", "what": str(error.strerror)}

    def fork(self, parent):
        with contextlib.ExitStack() as own, contextlib.ExitStack() as its:
            self.fork_with(parent, own, its)

    def fork_with(self, parent, own, its):
        """`own`: closes our ends, unless all goes well; `its`: those of the parent."""
        sources, out, err = [its.enter_context(tempfile.TemporaryFile(dir=self.agent.state)) for _ in range(3)]
        sources.write(json.dumps(modules()).encode())
        sources.seek(0)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own.enter_context(ours)
        its.enter_context(theirs)
        reader, writer = piped(own, its)
        talk, said = piped(own, its)    # what it prints itself: as a pipe, because a rank's streams are pipes, too
        settings = {"channel": theirs.fileno(), "status": writer, "sources": sources.fileno(), "out": out.fileno(), "err": err.fileno(),
                    "watched": sorted(WATCHED), "root": root(parent.spec, parent.env), "target": target(parent.spec["program"]),
                    "cwd": parent.spec["cwd"], "skip": parent.skip, "room": ROOM}
        keep = [theirs.fileno(), writer, sources.fileno(), out.fileno(), err.fileno(), said]
        pid = processes.fork(self.agent.origin, keep)
        if pid == 0:
            execute(parent.spec, parent.env, settings, keep)
        own.pop_all()
        # A number, because an object would close it again in a child that has closed all descriptors.
        parent.pid, parent.channel = pid, ours.detach()
        self.loop.child(pid, lambda status: self.ended(parent, pid, status))
        self.watch(talk, lambda data: self.agent.log("warm: " + data.decode("utf-8", "replace")))
        parent.listen = self.watch(reader, lambda data: self.heard(parent, pid, data))

    def watch(self, fd, hear):
        """Returns a function that reads now what is there."""
        os.set_blocking(fd, False)
        is_open = [True]

        def ready():
            try:
                data = os.read(fd, MOST_WORDS) if is_open[0] else b""
            except BlockingIOError:
                return
            if data:
                hear(data)
            elif is_open[0]:
                is_open[0] = False
                self.loop.forget(fd)
                os.close(fd)
        self.loop.read(fd, ready)
        return ready

    def heard(self, parent, pid, data):
        parent.said = (parent.said + data)[-MOST_WORDS:]
        *lines, parent.said = parent.said.split(b"\n")
        for line in lines:
            try:
                value = json.loads(line.decode())
            except ValueError:
                continue
            if pid != parent.pid:
                continue
            if value.get("ready"):
                parent.ready = value
            elif "skip" in value:
                parent.why = {"why": "left-out", "what": "%s: %s" % (value["skip"], value["why"])}
                if value["skip"] and parent.tries < MOST_TRIES:
                    parent.skip[value["skip"]] = {"why": value["why"], "instead": value["instead"]}
                    parent.why = None
            elif value.get("again"):
                self.loop.after(0, lambda: self.again(parent))

    def again(self, parent):
        """Its memory is no longer what a cold start would have: the next one takes its place."""
        if self.parents.get(parent.key) is parent:
            self.renew(parent.key, parent.spec, parent.env)

    def ended(self, parent, pid, status):
        if pid != parent.pid:
            return
        parent.listen()         # its last words say why
        parent.pid = 0
        os.close(parent.channel)
        is_current = self.parents.get(parent.key) is parent and not self.agent.ending
        if is_current and parent.ready is None and parent.why is None and parent.skip and status == 0:
            self.start(parent)      # without the module that it named
            return
        if parent.why is None:
            how = "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "exit status %d" % os.WEXITSTATUS(status)
            parent.why = {"why": "ended", "what": how}

    def look(self):
        self.timer = None
        now, is_scarce = self.loop.clock(), scarce()
        for key, parent in list(self.parents.items()):
            if is_scarce or now - parent.used >= IDLE_SECONDS:
                self.end(self.parents.pop(key))
        if self.parents:
            self.timer = self.loop.after(LOOK_SECONDS, self.look)

    def end(self, parent):
        """Runs that it has forked go on: their supervisors become children of the agent."""
        if parent is not None and parent.pid:
            processes.kill([parent.pid], 9)


def piped(own, its):
    reader, writer = os.pipe()
    own.callback(os.close, reader)
    its.callback(os.close, writer)
    return reader, writer


def target(words):
    return words[:2] if words[0] == "-m" else words[:1]


def files(spec):
    """Of the interpreter and the script: whether another parent could come further."""
    found = []
    for path in (spec["python"], os.path.join(spec["cwd"], target(spec["program"])[-1])):
        try:
            status = os.stat(path)
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return found


def root(spec, env):
    return os.path.realpath(env.get("GPUSH_WORKSPACE") or spec["cwd"])


def execute(spec, env, settings, keep):
    """In the forked child; never returns."""
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        for target_fd, fd in enumerate((null, keep[-1], keep[-1])):
            os.dup2(fd, target_fd)
        for fd in keep[:-1]:
            os.set_inheritable(fd, True)
        os.close(keep[-1])
        os.chdir(processes.raw(spec["cwd"]))
        own = {processes.raw(name): processes.raw(text) for name, text in env.items()}
        own[b"GPUSH_MARK"] = b"-" * ROOM
        os.execvpe(processes.raw(spec["python"]), [processes.raw(word) for word in (
            spec["python"], "-u", "-c", text_of("gpush_agent.warm.parent"), json.dumps(settings))], own)
    except BaseException as error:      # the top of a process
        os.write(2, repr(error).encode())
    finally:
        os._exit(127)


def text_of(name):
    return importlib.util.find_spec(name).loader.get_source(name)


def modules():
    """{name: [text, whether it is a package]} of what a supervisor is made of."""
    for name in LATE:
        importlib.import_module(name)
    names = ["gpush_agent"] + sorted(name for name in list(sys.modules) if any(
        name == package or name.startswith(package + ".") for package in PACKAGES))
    found = {name: [text_of(name) or "", hasattr(sys.modules[name], "__path__")] for name in names}
    found.update((name, [text_of(name), False]) for name in OF_PARENT)
    return found


def resident(pid):
    try:
        with open("/proc/%d/statm" % pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def scarce():
    """Whether the machine has hardly any memory left; False where it does not say."""
    try:
        values = {}
        with open("/proc/meminfo") as file:
            for line in file:
                name, _, value = line.partition(":")
                values[name] = int(value.split()[0])
        return values["MemAvailable"] < SCARCE * values["MemTotal"]
    except (OSError, ValueError, IndexError, KeyError):
        return False
