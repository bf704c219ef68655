"""exec streams: programs, commands, login shells and builtins, with pipes or a pty, ending as sshd ends them."""
import fcntl
import importlib
import os
import select
import signal
import traceback

from ..core import processes
from ..core.processes import raw
from ..core.refused import Refused, of_os_error
from ..link.stream import Owner
from ..node import profiles
from . import terminal, traffic
from .pumps import Sink, Source

BUILTINS = {"sftp": "gpush_agent.files.sftp", "files": "gpush_agent.files.sync", "follow": "gpush_agent.runs.follow",
            "copy": "gpush_agent.copies.serve", "history": "gpush_agent.files.history", "sample": "gpush_agent.samples.sampler",
            "stacks": "gpush_agent.samples.stacks"}
LINGER = 0.25           # seconds after the process's end until we say that it ended although its pipes are still open
KILL_AFTER = 5.0
PIPE_SIZE = 256 * 1024  # larger than the kernel's 64 KiB: fewer turns of the loop for bulk
F_SETPIPE_SZ = 1031


def request(value):
    """Checks an OPEN; raises Refused("bad-request")."""
    chosen = [name for name in ("argv", "command", "builtin") if value.get(name) is not None]
    if len(chosen) > 1:
        raise Refused("bad-request", {"field": chosen[1]})
    argv, env, pty = value.get("argv"), value.get("env") or {}, value.get("pty")
    if argv is not None and not (isinstance(argv, list) and argv and all(isinstance(word, str) for word in argv)):
        raise Refused("bad-request", {"field": "argv"})
    if not isinstance(value.get("command") or "", str) or not isinstance(value.get("cwd") or "", str):
        raise Refused("bad-request", {"field": "command"})
    builtin = value.get("builtin")
    if builtin is not None and (not isinstance(builtin, str) or builtin not in BUILTINS):
        raise Refused("not-found", {"builtin": str(builtin)[:100]})
    if not isinstance(value.get("args") or {}, dict):
        raise Refused("bad-request", {"field": "args"})
    if not isinstance(env, dict) or not all(isinstance(word, str) for word in env.values()):
        raise Refused("bad-request", {"field": "env"})
    if pty is not None and not (isinstance(pty, dict) and isinstance(pty.get("modes") or {}, dict)
                                and all(isinstance(pty.get(name) or 0, int) for name in ("columns", "rows"))):
        raise Refused("bad-request", {"field": "pty"})
    texts = (argv or []) + list(env) + list(env.values()) + [value.get("command") or "", value.get("cwd") or ""]
    if any("\0" in text for text in texts) or any("=" in name or not name for name in env):
        raise Refused("bad-request", {"field": "nul"})
    try:
        for text in texts:
            raw(text)
    except UnicodeEncodeError:      # half of a surrogate pair: no bytes mean it
        raise Refused("bad-request", {"field": "text"})


def load(builtin):
    """Its module. Loaded before the fork, so that the next child has it already."""
    return importlib.import_module(BUILTINS[builtin])


def words(value, shell, logs_in=True):
    """(file to execute, argv). `logs_in`: shells may read profiles, which would change a container's environment."""
    base = os.path.basename(shell)
    login = ("-" if logs_in else "") + base
    if value.get("argv") is not None:
        return value["argv"][0], value["argv"]
    if value.get("command") is not None:
        return shell, [login if value.get("login") else base, "-c", value["command"]]
    return shell, [login]


def environment_of(agent, value, tty):
    """The base, then what sshd adds, then the requested variables. The session's environment is laid over in the child."""
    env = dict(agent.environment.base, GPUSH_MARK=agent.mark)
    if value.get("builtin") is None:
        env.update(agent.environment.activation.variables())
    if agent.tmp is not None:
        env["TMPDIR"] = agent.tmp
    asked = value.get("env") or {}
    pty = value.get("pty")
    if pty is not None:
        env["TERM"] = str(pty.get("term") or "xterm-256color")
    env.update(asked)
    if tty is not None and ("SSH_CONNECTION" in env or "SSH_CLIENT" in env):
        env["SSH_TTY"] = tty
    return env


class Exec(Owner):
    def __init__(self, agent, stream, value):
        request(value)
        self.agent, self.stream, self.value, self.loop = agent, stream, value, agent.loop
        stream.owner = self
        self.pid = 0
        self.status = None          # wait status, when the process has ended
        self.sources, self.sink = [], None
        self.fds = set()            # ours, to be closed
        self.master = -1
        self.tty = None             # the path of its terminal
        self.error_fd = -1
        self.errors = b""
        self.timer = None
        self.over = False
        self.traffic = traffic.of_program(agent.loop.clock, agent.lease.active, value)
        self.client = traffic.client_of_program(value)
        environment = agent.environment
        (environment.when_ready if value.get("builtin") is None else environment.when_based)(self.begin)

    # ---- starting

    def begin(self):
        if self.stream.own_close:
            return
        child = [None, None, None, None]    # its ends: 0, 1, 2 and the error pipe's
        try:
            self.spawn(child)
        except OSError as error:
            for fd in set(child) - {None}:
                os.close(fd)
            self.error_fd = -1
            self.release_fds()
            refused = of_os_error(error)
            self.stream.refuse(refused.code, refused.facts)
        except ImportError:         # the Python of this node was changed under us
            self.stream.refuse("not-found", {"builtin": self.value["builtin"]})

    def spawn(self, child):
        value, pty = self.value, self.value.get("pty")
        if value.get("builtin") is not None:
            load(value["builtin"])
        if pty is not None:
            self.master, slave = terminal.open_pty(pty.get("columns") or 80, pty.get("rows") or 24, pty.get("modes"))
            self.fds.add(self.master)
            child[:3] = [slave, slave, slave]
            tty = self.tty = os.ttyname(slave)
            ours = [self.master, self.master]
        else:
            tty = None
            if value.get("stdin", True):
                child[0], into = self.pipe()
                self.fds.add(into)
                os.set_blocking(into, False)
            else:
                child[0], into = os.open(os.devnull, os.O_RDONLY), -1
            ours = [into]
            for index in (1, 2):
                out, child[index] = self.pipe()
                self.fds.add(out)
                os.set_blocking(out, False)
                ours.append(out)
        self.error_fd, child[3] = os.pipe()
        self.fds.add(self.error_fd)
        os.set_blocking(self.error_fd, False)
        env = environment_of(self.agent, value, tty)
        self.pid = os.fork()
        if self.pid == 0:
            self.child(child[:3], pty is not None, child[3], env)
        for fd in set(child):
            os.close(fd)
        child[:] = [None]
        self.loop.child(self.pid, self.ended)
        self.agent.execs.add(self)
        if value.get("kill_on_close"):
            self.agent.memo.sessions.add(self.pid)
        if pty is not None:
            self.sink = Sink(self.loop, self.master, self.stream, lambda: None)
            self.sources = [Source(self.loop, self.master, self.stream, 0, self.check, self.traffic.went)]
        else:
            if ours[0] >= 0:
                self.sink = Sink(self.loop, ours[0], self.stream, lambda: self.close_fd(ours[0]))
            self.sources = [Source(self.loop, ours[index], self.stream, index - 1, self.check, self.traffic.went)
                            for index in (1, 2)]
        self.loop.read(self.error_fd, self.executed)

    def pipe(self):
        ends = os.pipe()
        if not self.value.get("builtin"):
            return ends
        try:
            fcntl.fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE)
        except OSError:
            pass
        return ends

    def child(self, stdio, has_pty, error_out, env):
        """In the forked child; never returns."""
        try:
            os.setsid()
            if has_pty:
                terminal.take_control(stdio[0])
            for target, fd in enumerate([os.dup(fd) if fd < 3 else fd for fd in stdio]):
                os.dup2(fd, target)
            processes.plain_child(self.agent.origin)
            self.enter()
            if self.value.get("builtin"):
                processes.close_all(keep=(error_out,))
                if self.agent.config.get("taken_s") is not None:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)       # a scheduler says it to all; what is read then goes on
                os.environ.clear()
                os.environb.update({raw(name): raw(text) for name, text in env.items()})
                main = load(self.value["builtin"]).main
                args = dict(self.value.get("args") or {})
                args.setdefault("state", self.agent.state)
                os.close(error_out)
                error_out = -1
                os._exit(main(args, 0, 1) or 0)
            activation = self.agent.environment.activation
            shell = self.agent.account[2]
            is_kept = activation.lay_over(env)
            if is_kept and env.get("SSH_CLIENT"):
                profiles.keep_in_editor(env)
            if is_kept and self.value.get("command") is not None and os.path.basename(shell) == "bash" and not self.value.get("login"):
                profiles.keep_in_command(env)
            warning = activation.warning(env) if has_pty else None
            if warning:
                os.write(2, (warning + "\n").encode("utf-8", "replace"))
            file, argv = words(self.value, shell, self.agent.environment.source != "own")
            os.execvpe(raw(file), [raw(word) for word in argv], {raw(name): raw(text) for name, text in env.items()})
        except OSError as error:
            if error_out >= 0:
                os.write(error_out, b"%d" % (error.errno or 0))
            else:                   # of a builtin, which has begun
                os.write(2, traceback.format_exc().encode()[-4096:])
            os._exit(127)
        except SystemExit as exit:
            os._exit(exit.code if isinstance(exit.code, int) else 1 if exit.code else 0)
        except BaseException:       # the top of a process
            try:
                os.write(2, traceback.format_exc().encode()[-4096:])
            except OSError:
                pass
            os._exit(70)
        finally:
            os._exit(70)

    def enter(self):
        cwd = self.value.get("cwd")
        home = self.agent.account[1]
        if cwd:
            if cwd == "~" or cwd.startswith("~/"):
                cwd = home + cwd[1:]
            try:
                os.chdir(raw(cwd if cwd.startswith("/") else os.path.join(home, cwd)))
                return
            except OSError:
                pass
        for folder in (home, "/"):
            try:
                os.chdir(folder)
                return
            except OSError:
                pass

    def executed(self):
        """The error pipe: empty at its end means that exec worked."""
        data = os.read(self.error_fd, 256)
        if data:
            self.errors += data
            return
        self.close_fd(self.error_fd)
        self.error_fd = -1
        if self.stream.own_close:
            return
        if self.errors:
            refused = of_os_error(OSError(int(self.errors), ""))
            self.over = True
            self.release_fds()
            self.stream.refuse(refused.code, refused.facts)
            return
        self.stream.opened({"pid": self.pid})
        self.room()
        self.check()

    # ---- the stream's owner

    def data(self, channel, payload):
        self.traffic.came(payload)
        if self.sink is None:
            self.stream.consumed(len(payload))
        else:
            self.sink.data(payload)

    def end(self, channel):
        if self.master < 0 and self.sink is not None:     # a pty has no end of file, as with sshd
            self.sink.end()

    def message(self, value, urgent):
        size = value.get("resize")
        if self.master >= 0 and isinstance(size, list) and len(size) == 2 and all(isinstance(n, int) for n in size):
            try:
                terminal.resize(self.master, size[0], size[1])
            except OSError:
                pass
        number = getattr(signal, "SIG" + str(value.get("signal")), None)
        if isinstance(number, signal.Signals) and not self.over:
            if self.status is None:
                try:
                    os.killpg(self.pid, number)
                except OSError:
                    pass
            else:
                processes.kill(self.left(), number)

    def room(self):
        if self.error_fd < 0:
            for source in self.sources:
                source.room()

    def close(self, value, cut):
        """The client is gone: pipes are closed, a terminal is hung up, the process is ended only if that was asked."""
        was_over, self.over = self.over, True
        self.cancel_timer()
        for source in self.sources:
            source.stop()
        if self.master >= 0:
            self.hang_up()
        elif self.sink is not None and not self.sink.over:
            for fd in list(self.fds):
                if fd != self.sink.fd:
                    self.close_fd(fd)
            self.sink.end()                 # what was sent before the CLOSE still reaches the process
        self.release_fds(keep=self.sink.fd if self.sink is not None and not self.sink.over and self.master < 0 else -1)
        if self.value.get("kill_on_close") and self.pid and (self.status is None or not was_over):
            self.stop()
        if self.status is not None:
            self.forget()

    # ---- ending

    def ended(self, status):
        self.status = status
        if self.over:
            self.forget()
        if self.sink is not None and self.master < 0:
            self.sink.drop()        # as sshd: the remaining reader of the pipe is not the program that was addressed
        if not self.over:
            self.check()

    def forget(self):
        self.agent.execs.discard(self)
        self.agent.memo.sessions.remove(self.pid)

    def check(self):
        """Ends when the process has ended and its pipes are closed: processes that inherited them may still write. A terminal is
        hung up by the kernel with its session's leader, and waits for no one else."""
        if self.over or self.status is None or self.error_fd >= 0:
            return
        if all(source.over for source in self.sources):
            self.finish()
        elif self.timer is None and self.master >= 0:
            self.linger()
        elif self.timer is None:
            self.timer = self.loop.after(LINGER, lambda: self.over or self.stream.message(self.how()))

    def linger(self):
        seen = sum(source.bytes for source in self.sources)

        def again():
            self.timer = None
            if self.over:
                return
            if (self.stream.queued or self.stream.room() <= 0 or seen != sum(source.bytes for source in self.sources)
                    or self.has_more()):
                self.room()
                self.linger()
            else:
                self.finish()
        self.timer = self.loop.after(LINGER, again)

    def has_more(self):
        """Whether something waits to be read: the credit for it may have come only just now."""
        poll = select.poll()
        for source in self.sources:
            if not source.over:
                poll.register(source.fd, select.POLLIN)
        return bool(poll.poll(0))

    def finish(self):
        self.over = True
        self.forget()
        self.cancel_timer()
        for source in self.sources:
            source.stop()
        self.stream.end(0)
        self.stream.end(1)
        self.stream.close(self.how())
        if self.sink is not None:
            self.sink.drop()
        self.release_fds()

    def how(self):
        """How the process has ended."""
        if not os.WIFSIGNALED(self.status):
            return {"exit": os.WEXITSTATUS(self.status)}
        number = os.WTERMSIG(self.status)
        try:
            name = signal.Signals(number).name[3:]
        except ValueError:
            name = str(number)
        return {"signal": name, "core": os.WCOREDUMP(self.status)}

    def cancel_timer(self):
        if self.timer is not None:
            self.timer.cancel()

    def hang_up(self):
        group = terminal.foreground(self.master)
        if group > 1:
            for number in (signal.SIGHUP, signal.SIGCONT):
                try:
                    os.killpg(group, number)
                except OSError:
                    pass

    def notice(self, text):
        """A line for the user of this terminal. A stream without a terminal gets none, because a program reads it."""
        if self.tty is None or self.status is not None or self.over:
            return
        try:
            terminal.write_line(self.tty, text)
        except OSError:
            pass            # closed, or its reader does not read

    def stop(self):
        """Ends the whole process session: TERM (a terminal's shell heeds only HUP), and KILL after 5 s."""
        processes.kill(self.left(), signal.SIGTERM)
        self.loop.after(KILL_AFTER, lambda: processes.kill(self.left(), signal.SIGKILL))

    def left(self):
        """The living processes of its process session. When its leader has ended, the number may be reused: only
        descendants count."""
        found = processes.members(self.pid)
        if self.status is None or not found:
            return found
        below = set(processes.descendants(os.getpid()))
        return [pid for pid in found if pid in below]

    def close_fd(self, fd):
        if fd in self.fds:
            self.fds.discard(fd)
            self.loop.forget(fd)
            os.close(fd)

    def release_fds(self, keep=-1):
        for fd in list(self.fds):
            if fd != keep:
                self.close_fd(fd)
        self.master = -1 if self.master not in self.fds else self.master
