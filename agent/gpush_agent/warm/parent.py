# A warm parent: goes on the command line as `PYTHON -u -c <this text> SETTINGS`, in the user's own interpreter and with the
# environment of the ranks. It imports what the script begins by importing, if that comes from outside the workspace, and
# forks a supervisor with its ranks for each run (docs/technical/warm.md). Its other end is the agent (pool).
# Python 3.6 syntax. A rank goes on at the very end of this text, so that only one frame of ours is below the user's.
import sys as _sys

_blank = {_name: _value for _name, _value in globals().items() if _name.startswith("__")}
_started_with = set(_sys.modules)
_first_path = list(_sys.path)


def _parent():
    """Returns in ranks only: what they run."""
    import array
    import importlib
    import json
    import os
    import select
    import socket
    import sys
    import time

    settings = json.loads(sys.argv[1])
    channel = socket.socket(fileno=settings["channel"])
    status, sources = settings["status"], settings["sources"]
    captured = (settings["out"], settings["err"])
    watched = set(settings["watched"])
    MOST_OUTPUT = 65536     # of imports, which every rank repeats
    FDS = 4096
    reads = []

    def tell(value):
        try:
            os.write(status, json.dumps(value).encode() + b"\n")
        except OSError:
            pass

    def answering(function):
        """Starts a child that writes a function's JSON; its pid, and where to read. Nothing comes when that fails."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                data = json.dumps(function()).encode()
                while data:
                    data = data[os.write(writer, data):]
            except BaseException:       # the top of a process
                import traceback
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writer)
        return pid, reader

    def in_child(function):
        """A function's JSON from a child of its own; None when that fails."""
        pid, reader = answering(function)
        parts = []
        while True:
            data = os.read(reader, 65536)
            if not data:
                break
            parts.append(data)
        os.close(reader)
        os.waitpid(pid, 0)
        try:
            return json.loads(b"".join(parts).decode())
        except ValueError:
            return None

    # ---- importing

    def threads():
        try:
            return len(os.listdir("/proc/self/task"))
        except OSError:
            return 2        # not known

    def devices():
        """Device files that are open: a driver that has been started does not survive a fork."""
        names = []
        for name in os.listdir("/proc/self/fd"):
            try:
                path = os.readlink("/proc/self/fd/" + name)
            except OSError:
                continue
            if path.startswith("/dev/") and not path.startswith(("/dev/null", "/dev/urandom", "/dev/random", "/dev/zero", "/dev/shm/")):
                names.append(path)
        return names

    def trial():
        """Forks once: libraries that stop their threads before a fork, as OpenBLAS does, do it now. Returns what is left that
        no fork survives, or None."""
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        if threads() > 1:
            return "threads"
        try:
            os.waitpid(-1, os.WNOHANG)
            return "a process"
        except ChildProcessError:
            pass
        opened = devices()
        if opened:
            return opened[0]
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and path.startswith("/") and not program.outside(path):
                return "the workspace's " + name
        return None

    kind = type(os.environ)

    class Name(str):
        """Of a variable that differs between ranks. To look at it does no harm (tqdm looks for its own); to keep it does."""

        def __hash__(self):
            note(str(self))
            return str.__hash__(self)

        def __eq__(self, other):
            if str.__eq__(self, other):
                note(str(self))
                return True
            return False

    class Watched(kind):
        """The environment while importing: tells what differs between ranks and is read all the same."""

        def __getitem__(self, name):
            if type(name) is Name:
                return ""
            if name in watched:
                note(name)
            return kind.__getitem__(self, name)

        def __iter__(self):
            for name in kind.__iter__(self):
                if name not in watched:
                    yield name
            for name in sorted(watched):
                yield Name(name)

    before = [set()]

    def note(name):
        if not reads:
            complete = [other for other, module in list(sys.modules.items()) if other not in before[0]
                        and not getattr(getattr(module, "__spec__", None), "_initializing", False)]
            reads.append((name, complete))

    def load(wanted):
        """Imports in this order. Returns None, or what must not be imported here, and what may be in its place."""
        os.environ.__class__ = Watched
        try:
            for module, names in wanted:
                before[0] = set(sys.modules)
                try:
                    __import__(module, {"__name__": "__main__"}, {}, names or None)
                    # A lazy package loads what a name stands for when the name is asked for.
                    for name in names:
                        if name != "*":
                            getattr(sys.modules[module], name, None)
                except BaseException as error:      # the rank will say it, if it is one there
                    return module, "%s: %s" % (type(error).__name__, str(error)[:200]), []
                if reads:
                    return module, "reads " + reads[0][0], [[name, []] for name in reads[0][1]]
                why = trial()
                if why:
                    return module, why, []
        finally:
            os.environ.__class__ = kind
        return None

    def prepare():
        """The way to the loaded state; ends this process where another one has to try it without a module."""
        kept = [os.dup(1), os.dup(2)]
        skipped = settings["skip"]
        known = memory.places(program, _first_path)
        plan = in_child(program.scan) or {"imports": [], "stop": None}
        wanted = []
        for module, names in plan["imports"]:
            if module not in skipped:
                wanted.append([module, names])
            else:
                wanted += skipped[module]["instead"]
        for number in (0, 1):
            os.dup2(captured[number], number + 1)
        began = time.time()
        bad = load(wanted)
        sys.stdout.flush()
        sys.stderr.flush()
        for number in (0, 1):
            os.dup2(kept[number], number + 1)
            os.close(kept[number])
        if bad:
            # Of what had been loaded inside another module, nothing stays, if even a part of it does harm.
            whole = next((module for module in skipped if [bad[0], []] in skipped[module]["instead"]), None)
            tell({"skip": whole or bad[0], "why": bad[1], "instead": [] if whole else bad[2]})
            os._exit(0)
        output = []
        for number in (0, 1):
            output.append(os.pread(captured[number], MOST_OUTPUT, 0))
            os.close(captured[number])
        return {"output": output, "places": known, "files": memory.loaded(),
                "imports": [[module, names] for module, names in plan["imports"]
                                                                                 if module not in skipped],
                "all": plan["imports"], "stop": plan["stop"], "seconds": time.time() - began}

    # ---- a run

    def adjust(value):
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(value)
            return True
        except OSError:
            return False

    def verdict():
        """In a child: why this process may not be forked for a run now."""
        path = memory.difference(state["places"], memory.places(program, _first_path)) or memory.difference(
            state["files"], {path: memory.mark(path) for path in state["files"]})
        if path:
            return {"why": "changed", "what": path}
        hidden = memory.hiding(program, _first_path, _started_with)
        if hidden:
            return {"why": "hides", "what": hidden}
        found = program.scan()
        if found["is_broken"]:
            return {"why": None, "grown": False}        # the rank ends by saying so
        now = found["imports"]
        if not state["imports"]:
            return {"why": "nothing", "what": found["stop"] or "", "grown": now != state["all"]}
        pairs = {(module, name) for module, names in now for name in names or [""]}
        missing = [module for module, names in state["imports"] for name in names or [""] if (module, name) not in pairs]
        if missing:
            return {"why": "imports", "what": missing[0]}
        return {"why": None, "grown": now != state["all"]}

    def receive():
        """The next request with its descriptors, or None when the agent has closed the channel."""
        fds = array.array("i")
        while True:
            if not select.select([channel], [], [], 5.0)[0]:
                try:
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass
                except ChildProcessError:
                    pass
                continue
            data, extra, flags, address = channel.recvmsg(65536, socket.CMSG_SPACE(FDS * fds.itemsize))
            if not data:
                return None
            for level, sort, part in extra:
                if (level, sort) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    fds.frombytes(part[:len(part) - len(part) % fds.itemsize])
            return data.decode("utf-8", "surrogateescape"), list(fds)

    def serve():
        while True:
            asked = receive()
            if asked is None:
                os._exit(0)
            path, fds = asked
            pid = os.fork()
            if pid == 0:
                work = run(path, fds)
                if work is not None:
                    return work
                os._exit(0)
            for fd in fds:
                os.close(fd)
            if threads() > 1:
                os.kill(pid, 9)

    def run(path, fds):
        """In a child, which becomes the supervisor of one run. Returns in its ranks."""
        channel.close()
        os.setsid()
        adjust(score)
        with open(path) as file:
            job = json.load(file)
        os.unlink(path)
        # The last descriptor is the caller's: it starts the ranks itself unless it hears "ready" and says "go".
        caller = socket.socket(fileno=fds.pop())
        judge, reader = answering(verdict)
        ranks = []
        for local in range(job["procs"]):
            rank = fork_rank(ranks, [reader] + fds, caller)
            if isinstance(rank, tuple):
                return rank
            ranks.append(rank)
        found = b""
        while True:
            if caller in select.select([reader, caller], [], [])[0]:    # it does not wait any longer
                for pid in [judge] + [rank["pid"] for rank in ranks]:
                    os.kill(pid, 9)
                return None
            data = os.read(reader, 65536)
            if not data:
                break
            found += data
        os.close(reader)
        os.waitpid(judge, 0)
        answer = json.loads(found.decode()) if found else {"why": "failed", "what": "", "grown": True}
        if answer.get("grown", True):
            tell({"again": answer})
        try:
            caller.sendall(json.dumps(answer).encode())
            go = caller.recv(2) == b"go" and not answer["why"]
        except OSError:
            go = False
        if not go:
            for rank in ranks:
                os.kill(rank["pid"], 9)
            return None
        caller.close()
        os.close(status)
        supervise(job, fds, ranks)

    def supervise(job, fds, ranks):
        """Goes on as the agent's own code, in this interpreter. Never returns."""
        import gc
        getattr(gc, "freeze", gc.disable)()     # collecting would copy the pages that are shared with the ranks
        from importlib.machinery import ModuleSpec

        class Memory:
            def find_spec(self, name, path=None, target=None):
                if name not in code:
                    return None
                return ModuleSpec(name, self, origin="gpush:" + name, is_package=code[name][1])

            def create_module(self, spec):
                return None

            def exec_module(self, module):
                exec(code[module.__spec__.name][0], module.__dict__)
        sys.meta_path.insert(0, Memory())
        importlib.import_module("gpush_agent.runs.warmstart").supervise(job, fds, ranks)

    def fork_rank(others, fds, caller):
        """A rank that waits for its order; in the rank itself, when the order has come: what it runs."""
        out, err, order = os.pipe(), os.pipe(), os.pipe()
        supervisor = os.getpid()
        pid = os.fork()
        if pid:
            for fd in (out[1], err[1], order[0]):
                os.close(fd)
            return {"pid": pid, "out": out[0], "err": err[0], "order": order[1]}
        os.setsid()
        control(1, 9)       # PR_SET_PDEATHSIG
        if os.getppid() != supervisor:
            os._exit(137)
        caller.close()
        null = os.open(os.devnull, os.O_RDONLY)
        for number, fd in enumerate((null, out[1], err[1])):
            os.dup2(fd, number)
        for fd in [null, status] + list(out) + list(err) + [order[1]] + fds + [
                fd for other in others for fd in (other["out"], other["err"], other["order"])]:
            os.close(fd)
        parts = []
        while True:
            data = os.read(order[0], 65536)
            if not data:
                break
            parts.append(data)
        os.close(order[0])
        if not parts:
            os._exit(137)
        return become(json.loads(b"".join(parts).decode()))

    def control(option, value):
        try:
            import ctypes
            ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
        except (OSError, AttributeError, ImportError):
            pass

    def become(order):
        """Everything that a fresh interpreter would have of its own. Returns (kind, name, code or None)."""
        env = {itself.raw(name): itself.raw(text) for name, text in order["env"].items()}
        first = itself.given()
        kept = {name for name in set(first) | set(os.environb) if first.get(name) != os.environb.get(name)}     # a library's own
        for name in set(os.environb) - set(env) - kept:
            del os.environb[name]
        for name in set(env) - kept:
            os.environb[name] = env[name]
        os.chdir(itself.raw(order["cwd"]))
        words = order["program"]
        itself.rename([order["python"], "-u"] + words, env.get(b"GPUSH_MARK", b""), settings["room"])
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = [order["python"], "-u"] + words
        importlib.invalidate_caches()
        itself.own_chance()
        for number in (0, 1):
            view = state["output"][number]
            while view:
                view = view[os.write(number + 1, view):]
        main = type(sys)("__main__")
        main.__dict__.clear()
        main.__dict__.update(_blank, __name__="__main__")
        state["main"] = sys.modules["__main__"]     # its globals are still in use
        sys.modules["__main__"] = main
        if words[0] == "-m":
            sys.argv[:] = ["-m"] + words[2:]
            sys.path[:0] = program.first_folder() if sys.version_info >= (3, 7) else [""]
            return "module", words[1], main
        sys.argv[:] = words
        path = words[0]
        if sys.version_info >= (3, 9) and not path.startswith("/"):
            path = os.path.join(os.getcwd(), path)
        sys.path[:0] = program.first_folder()
        from importlib.machinery import SourceFileLoader
        main.__dict__.update(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
        return "script", path, main

    def part(name):
        """A module of the agent's that sys.modules does not list, or ranks would see it."""
        module = type(sys)(name)
        exec(code[name][0], module.__dict__)
        return module

    sys.argv[:] = [""]
    if "" in sys.path[:1]:
        del sys.path[0]
    with open("/proc/self/oom_score_adj") as file:
        # As processes.killed_before_parent has it for a rank that is not forked from here.
        score = str(min(int(file.read()) + 100, 1000))
    with os.fdopen(sources, "rb") as file:
        code = {name: (compile(text, "gpush:" + name, "exec", 0, True), is_package)
                for name, (text, is_package) in json.loads(file.read().decode()).items()}
    memory, itself = part("gpush_agent.warm.memory"), part("gpush_agent.warm.itself")
    program = part("gpush_agent.warm.imports").Program(settings["target"], settings["cwd"], settings["root"])
    state = prepare()
    # This memory is needed least, so the kernel takes it first.
    if not (adjust("1000") and adjust(score) and adjust("1000")):
        adjust(score)
    why = trial()
    if why:
        tell({"skip": None, "why": why, "instead": []})
        os._exit(0)
    tell({"ready": True, "imports": sorted({module.split(".")[0] for module, names in state["imports"]}),
          "stop": state["stop"], "seconds": round(state["seconds"], 3)})
    return serve()


_kind, _name, _main = _parent()


def _natural(hook):
    """Tracebacks begin with the user's own frame."""
    def show(kind, error, trace):
        while trace is not None and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next
        error.__traceback__ = trace
        _sys.last_traceback = trace
        _sys.excepthook = hook
        hook(kind, error, trace)
    return show


try:
    if _kind == "module":
        import runpy as _runpy
        _runpy._run_module_as_main(_name, True)
    else:
        with open(_name, "rb") as _file:
            _code = compile(_file.read(), _name, "exec", 0, True)
        exec(_code, _main.__dict__)
except SystemExit:
    raise
except BaseException:
    _sys.excepthook = _natural(_sys.excepthook)
    raise
