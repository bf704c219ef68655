"""The loader's second half: finds or starts the agent of (gang, node) and becomes a relay to it, or asks it one thing."""
import json
import os
import signal
import socket
import sys

from .core import processes
from .core.refused import Refused, of_os_error
from .core.version import PYTHON
from .core.wholefile import write_all
from .host import locks, relay
from .host.folder import Folder, connect, own_folder, user_folders

NOT_FOUND, DIED, CANNOT = 94, 95, 96
CONTROL_SECONDS = 600.0     # a release may have to stop runs and let files go
LIST_SECONDS = 2.0
ALIVE = b"alive"


def main(header):
    """Never returns. From here on output to descriptor 1 is dropped, because the pipe belongs to the protocol."""
    try:
        origin, fd_in, fd_out = prepare()
        code = modes(header, origin, fd_in, fd_out)
    except Refused as refused:
        code = fail(CANNOT, refused)
    except OSError as error:
        code = fail(CANNOT, of_os_error(error))
    except Exception as error:      # the top of the process
        import traceback
        traceback.print_exc()
        code = fail(CANNOT, Refused("failed", {"reason": "%s: %s" % (type(error).__name__, error)}))
    sys.stderr.flush()
    os._exit(code)


def prepare():
    """Undoes closed descriptors and ignored or blocked signals that the agent's parent may have left."""
    null = os.open(os.devnull, os.O_RDWR)
    while null <= 2:
        null = os.dup(null)     # the closed ones among 0, 1, 2 are /dev/null now
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    processes.restore_library_signals()
    fd_in, fd_out = os.dup(0), os.dup(1)
    if os.path.samestat(os.fstat(fd_out), os.fstat(null)):
        raise Refused("closed", {"descriptor": 1})
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return processes.Origin(), fd_in, fd_out


def fail(code, refused):
    sys.stderr.write(json.dumps({"code": refused.code, "facts": refused.facts}) + "\n")
    return code


def modes(header, origin, fd_in, fd_out):
    preamble = (header["preamble"] + "\n").encode()
    config = dict(header.get("start") or {})
    config["gang"], config["node"] = header.get("gang", config.get("gang")), header.get("node", config.get("node"))
    if header.get("node_from") is not None:
        settle(config, header["node_from"])
    folder = Folder(config["gang"], config["node"], config.get("folder"))
    mode = header["mode"]
    if mode == "list":
        write_all(fd_out, preamble + line(agents(folder)))
        return 0
    if mode == "start":
        return start(folder, config, origin, preamble, fd_in, fd_out)
    sock = folder.wait(header.get("wait_s") or 0)
    if sock is None:
        return fail(NOT_FOUND, Refused("no-agent", {"gang": config["gang"], "node": config["node"]}))
    if mode == "attach":
        relay_to(sock, fd_in, fd_out, preamble)
    if mode == "control":
        answer = ask(sock, header.get("control") or {}, CONTROL_SECONDS)
        if answer is None:
            return fail(NOT_FOUND, Refused("no-agent", {"gang": config["gang"], "node": config["node"]}))
        write_all(fd_out, preamble + line(answer))
        sock.close()        # an agent that releases ends then, and in a container this process with it
        return 0
    raise Refused("bad-request", {"mode": str(mode)})


def settle(config, variable):
    """For one header for all nodes of a gang: a variable of the scheduler has the number of this node."""
    number = os.environ.get(str(variable), "")
    if not number.isdigit():
        raise Refused("bad-request", {"node_from": str(variable)})
    config["node"] = int(number)
    if config.get("under"):
        config["workspace"] = os.path.join(config["under"], number, config["project"])
        config["state"] = config["workspace"] + ".gpush"


def start(folder, config, origin, preamble, fd_in, fd_out):
    if config.get("foreground"):
        config["hold_only"] = True
    sock, made = folder.find_or_create(lambda: Launch(folder, config, origin))
    if made is not None:
        if config.get("foreground"):
            write_all(fd_out, preamble + line({"ok": True, "pid": os.getpid(), "started": True}))
            os.close(fd_in)
            os.close(fd_out)
            made.become()
            return 0
        sock = made.connect()
    if config.get("hold_only"):
        answer = ask(sock, {"do": "status"}, 20.0)
        sock.close()
        if answer is None:
            return fail(DIED, Refused("died", {}))
        write_all(fd_out, preamble + line(dict(answer, started=made is not None)))
        return 0
    relay_to(sock, fd_in, fd_out, preamble)


def relay_to(sock, fd_in, fd_out, preamble):
    try:
        relay.run(sock, fd_in, fd_out, preamble)
    except RuntimeError:
        raise Refused("limit", {"errno": "EAGAIN"})


class Launch:
    """Under the start lock: takes the locks, binds the socket, and forks the agent, which inherits both."""

    def __init__(self, folder, config, origin):
        self.folder, self.config, self.origin = folder, config, origin
        label = {"owner": config.get("owner", ""), "holder": config.get("holder", ""), "name": config.get("name", ""),
                 "gang": config["gang"], "node": config["node"], "host": socket.gethostname(), "pid": os.getpid()}
        self.log_fd = -1
        try:
            self.lock_fds = locks.take_all(config.get("locks") or [], label)
            self.listener = folder.bind()
            self.beacon = folder.bind_beacon()
            self.log_fd = self.open_log()
            if not config.get("foreground"):
                self.fork()
        except (Refused, OSError):
            folder.remove()
            raise

    def open_log(self):
        path = os.path.join(self.folder.path, "log")
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError:         # a full disk: the agent runs without the file
            return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)

    def fork(self):
        """Forks twice, with a new session between: so no terminal and no parent can end the agent."""
        ready, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                try:
                    is_agent = os.fork() == 0
                except OSError as error:
                    os.write(told, b"%d" % error.errno)
                    os._exit(1)
                if is_agent:
                    os.close(ready)
                    os.write(told, ALIVE)
                    os.close(told)
                    self.become()
            except BaseException:       # the top of a process
                import traceback
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(told)
        os.waitpid(pid, 0)
        said = os.read(ready, 16)
        os.close(ready)
        if said and said != ALIVE:
            raise OSError(int(said), "fork")
        self.alive = said == ALIVE

    def become(self):
        """This process is the agent from here on; never returns."""
        os.chdir("/")
        os.dup2(self.log_fd, 2)
        processes.close_all(self.lock_fds + [self.folder.lock_fd, self.listener.fileno()]
                            + ([self.beacon.fileno()] if self.beacon is not None else []))
        if self.config.get("guard"):
            from .host import guard
            folder = self.config.get("memory")
            path = os.path.join(folder, ".gpush-%s-%s" % (self.config["gang"], self.config["node"])) if folder else None
            os._exit(guard.keep(self.serve, path))
        os._exit(self.serve(None))

    def serve(self, memo):
        """Runs an agent to its end. Returns its exit status."""
        from .agent import Agent
        code = 1
        try:
            agent = Agent(self.config, self.folder, self.listener, self.lock_fds, self.origin, self.beacon, memo)
            agent.run()
            code = 143 if agent.ending == "terminated" else 0       # so that a scheduler's script sees the difference
        except BaseException:           # the top of the agent
            import traceback
            traceback.print_exc()
            sys.stderr.flush()
        return code

    def connect(self):
        """Closes what the agent has inherited, and connects to it."""
        self.listener.close()
        if self.beacon is not None:
            self.beacon.close()
        for fd in self.lock_fds + [self.folder.lock_fd, self.log_fd]:
            os.close(fd)
        sock = connect(self.folder.path) if self.alive else None
        if sock is None:
            sys.stderr.flush()
            os._exit(fail(DIED, Refused("died", {"folder": self.folder.path})))
        return sock


def ask(sock, value, seconds):
    """One JSON line there, one back; None without an answer. The caller owns the socket."""
    try:
        sock.settimeout(seconds)
        sock.sendall(line(value))
        parts = b""
        while not parts.endswith(b"\n"):
            part = sock.recv(65536)
            if not part:
                return None
            parts += part
        return json.loads(parts.decode())
    except (OSError, ValueError):
        return None


def agents(folder):
    """Every agent of this user on this host, one that lives and does not answer by what it has written."""
    found = []
    for parent in user_folders(folder.bases):
        if not own_folder(parent, False):
            continue
        for name in sorted(os.listdir(parent)):
            path = os.path.join(parent, name)
            if not os.path.isdir(path):
                continue
            sock = connect(path)
            answer = None
            if sock is not None:
                answer = ask(sock, {"do": "status"}, LIST_SECONDS) or written(path)
                sock.close()
            if answer is not None:
                found.append(dict(answer, folder=path))
    return {"ok": True, "host": socket.gethostname(), "python": PYTHON, "agents": found}


def written(path):
    """What an agent that lives and does not answer has written about itself, so that it is not taken for one that ended."""
    sock = connect(path)
    if sock is None:
        return None
    sock.close()
    try:
        with open(os.path.join(path, "agent.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def line(value):
    return json.dumps(value).encode() + b"\n"
