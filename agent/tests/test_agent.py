"""A real agent behind a real pipe: starting, streams, calls."""
import errno
import hashlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import sys
import unittest

from client import DEADLINE, Client, Cut, after_preamble, spawn, text, until
from gpush_agent.core import refused
from node import NodeTest, alive

SLOW = True


def read(path):
    with open(path) as file:
        return file.read()


class ExecTest(NodeTest):
    def test_keeps_stdout_and_stderr_apart_and_tells_the_exit_code(self):
        out, err, end = self.client().run("echo o; echo e >&2; exit 7")
        self.assertEqual((out, err, end), (b"o\n", b"e\n", {"exit": 7}))

    def test_tells_the_signal(self):
        _, _, end = self.client().run("kill -TERM $$")
        self.assertEqual(end, {"signal": "TERM", "core": False})

    def test_carries_50_mb_both_ways(self):
        client = self.client()
        data = os.urandom(1 << 20) * 50
        stream = client.exec(command="cat")
        stream.send(data)
        stream.end()
        self.assertEqual(stream.finish(), {"exit": 0})
        self.assertEqual(hashlib.sha256(stream.out[0]).digest(), hashlib.sha256(data).digest())

    def test_executes_argv_as_it_is(self):
        stream = self.client().exec(argv=["printf", "%s|", "a b", "$HOME", "'"])
        self.assertEqual(stream.finish(), {"exit": 0})
        self.assertEqual(bytes(stream.out[0]), b"a b|$HOME|'|")

    def test_refuses_what_is_not_there(self):
        client = self.client()
        self.assertEqual(client.exec(argv=["/nothing/here"]).finish()["code"], "not-found")
        self.assertEqual(client.exec(argv=["/etc/passwd"]).finish()["code"], "denied")
        self.assertEqual(client.exec(argv=["true"], command="x").finish()["code"], "bad-request")
        self.assertEqual(client.run("pwd", cwd="/nothing")[2], {"exit": 0})

    def test_login_shell_without_pty_reads_stdin(self):
        stream = self.client().exec()
        stream.accepted().send(b"echo hi; echo $0; exit 3\n")
        self.assertEqual(stream.finish(), {"exit": 3})
        self.assertTrue(bytes(stream.out[0]).startswith(b"hi\n-"), stream.out)

    def test_half_close(self):
        out, _, end = self.client().run("cat; echo eof", b"data\n")
        self.assertEqual((out, end), (b"data\neof\n", {"exit": 0}))

    def test_background_child_without_the_pipes_does_not_hold_the_stream(self):
        stream = self.client().exec(command="sleep 1000 </dev/null >/dev/null 2>&1 & echo $!")
        self.assertEqual(stream.finish(5), {"exit": 0})
        pid = int(stream.out[0])
        self.assertTrue(alive(pid))
        os.kill(pid, signal.SIGKILL)

    def gate(self):
        """A fifo that a background child waits at, so that it says something when the test wants it and not before."""
        path = os.path.join(self.base, "gate")
        os.mkfifo(path)
        return path

    @staticmethod
    def open_gate(path):
        with open(path, "w"):
            pass

    # issue 14, line 20: bytes that are not UTF-8 stay what they are

    def test_bytes_that_are_not_utf8_in_command_words_and_variables(self):
        word = b"caf\xe9 \xff\xc3".decode("utf-8", "surrogateescape")
        client = self.client()
        for value in ({"command": "printf %s '" + word + "'"}, {"argv": ["printf", "%s", word]},
                      {"command": "printf %s \"$LC_TEST\"", "env": {"LC_TEST": word}}):
            stream = client.exec(**value)
            self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"caf\xe9 \xff\xc3"))

    def test_a_folder_that_is_not_utf8(self):
        folder = os.path.join(os.fsencode(self.base), b"d\xe9")
        os.mkdir(folder)
        self.assertEqual(self.client().run("pwd", cwd=folder.decode("utf-8", "surrogateescape"))[0], folder + b"\n")

    # issue 14, line 19: without a pty a channel ends when the last writer closes, as with sshd

    def test_output_of_a_background_child_comes_after_the_command_has_ended(self):
        gate = self.gate()
        stream = self.client().exec(command="(read x < %s; echo late; echo err >&2) & echo hi; exit 7" % gate)
        stream.client.pump(lambda: stream.messages)
        self.assertEqual((stream.messages, stream.closed), ([{"exit": 7}], None))
        self.open_gate(gate)
        self.assertEqual(stream.finish(), {"exit": 7})
        self.assertEqual((bytes(stream.out[0]), bytes(stream.out[1])), (b"hi\nlate\n", b"err\n"))

    def test_output_through_a_process_that_the_shell_does_not_wait_for(self):
        gate = self.gate()
        stream = self.client().exec(argv=["bash", "-c", "exec > >(read x < %s; cat); echo through" % gate])
        stream.client.pump(lambda: stream.messages)
        self.open_gate(gate)
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"through\n"))

    def test_a_signal_that_ended_the_command_is_told_while_a_background_child_writes(self):
        gate = self.gate()
        stream = self.client().exec(command="(read x < %s; echo late) & kill -KILL $$" % gate)
        stream.client.pump(lambda: stream.messages)
        self.assertEqual(stream.messages, [{"signal": "KILL", "core": False}])
        self.open_gate(gate)
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"signal": "KILL", "core": False}, b"late\n"))

    def test_input_of_a_background_child_ends_with_the_command(self):
        stream = self.client().exec(command="exec 3<&0; (cat <&3; echo end) & exit 3")
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 3}, b"end\n"))

    def test_a_background_child_hears_the_signals_and_the_close_that_its_command_would(self):
        for act in (lambda stream: stream.message({"signal": "INT"}), lambda stream: stream.close()):
            stream = self.client().exec(command="python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
                                                "print(os.getpid(), flush=True); signal.pause()' & exit 0", kill_on_close=True)
            stream.client.pump(lambda: stream.messages and b"\n" in stream.out[0])
            pid = int(stream.out[0])
            self.assertTrue(alive(pid))
            act(stream)
            stream.finish()
            until(lambda: not alive(pid), what="end of the background child")

    def test_yes_is_stopped_by_close(self):
        client = self.client()
        stream = client.exec(command="yes")
        client.pump(lambda: len(stream.out[0]) > 1000)
        pid = stream.opened["pid"]
        stream.close()
        stream.finish()
        until(lambda: not alive(pid), what="end of yes")

    def test_signal_message(self):
        client = self.client()
        stream = client.exec(command="trap 'echo got; exit 5' INT; echo ready; while :; do sleep 0.05; done")
        stream.wait_for(b"ready")
        stream.message({"signal": "INT"})
        self.assertEqual(stream.finish(), {"exit": 5})
        self.assertIn(b"got", stream.out[0])

    def test_kill_on_close(self):
        client = self.client()
        stream = client.exec(command="sleep 1000 & echo $!; wait", kill_on_close=True)
        stream.wait_for(b"\n")
        pids = [stream.opened["pid"], int(stream.out[0])]
        stream.close()
        until(lambda: not any(alive(pid) for pid in pids), what="end of the process session")

    def test_close_without_pty_does_not_kill(self):
        client = self.client()
        stream = client.exec(command="echo $$; exec sleep 1000")
        stream.wait_for(b"\n")
        pid = int(stream.out[0])
        stream.close()
        stream.finish()
        client.run("true")
        self.assertTrue(alive(pid))

    def test_close_at_once_reaches_the_process_as_end_of_input(self):
        client = self.client()
        path = os.path.join(self.base, "got")
        for number in range(10):
            stream = client.exec(command="cat > %s; echo done >> %s" % (path, path))
            if number % 2:
                stream.accepted().send(b"x" * 50000)
            stream.close()
            until(lambda: os.path.exists(path) and read(path).endswith("done\n"), what="end of input")
            with open(path) as file:
                self.assertEqual(len(file.read()), 50005 if number % 2 else 5)
            os.remove(path)

    def test_names_beyond_ascii_in_the_c_locale(self):
        client = self.client(env={"PATH": os.environ["PATH"], "HOME": self.base, "LC_ALL": "C"})
        stream = client.exec(argv=["sh", "-c", "echo $1 $A; pwd", "sh", "gr\u00fc\u00df"], env={"A": "\u4e16"}, cwd=self.base)
        stream.finish()
        self.assertEqual(bytes(stream.out[0]).decode(), "gr\u00fc\u00df \u4e16\n%s\n" % self.base)

    def test_command_of_100_kb(self):
        word = "x" * 100000
        self.assertEqual(self.client().run("echo " + word + " | wc -c")[0].strip(), b"100001")

    def test_credit_is_obeyed(self):
        client = self.client()
        stream = client.exec(command="yes", credit=1000)
        stream.auto_credit = False
        client.pump(lambda: stream.received == 1000)
        client.run("true")
        self.assertEqual(stream.received, 1000)
        stream.granted = 3000
        client.credit(stream)
        client.pump(lambda: stream.received == 3000)

    def test_sixty_at_once(self):
        client = self.client()
        streams = [client.exec(command="cat; echo %d" % number) for number in range(60)]
        for stream in streams:
            stream.end()
        for number, stream in enumerate(streams):
            self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"%d\n" % number))

    def test_environment(self):
        client = self.client(env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": "7", "SLURM_NTASKS": "3", "SSH_TTY": "x",
                                  "PMIX_RANK": "0"})
        out = client.run("env", env={"A": "b c"})[0].decode().splitlines()
        self.assertIn("A=b c", out)
        self.assertIn("SLURM_JOB_ID=7", out)
        self.assertIn("TMPDIR=" + os.path.join(self.base, "ws.gpush", "tmp"), out)
        self.assertFalse([line for line in out if line.startswith(("SLURM_NTASKS", "PMIX_", "SSH_TTY", "TERM="))])

    def test_environment_is_captured_once(self):
        client = self.client(env=None)
        self.assertEqual(client.call("environment")["source"], "captured")
        self.assertEqual(client.run("echo $HOME")[2], {"exit": 0})

    def test_descriptors_signals_and_umask_of_a_child_are_clean(self):
        client = self.client()
        out = client.run("ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status; umask; pwd")[0].decode()
        self.assertIn("0 1 2 3 ", out)
        self.assertNotIn("4 ", out.splitlines()[0].partition("Sig")[0])
        for line in out.splitlines():
            if line.startswith("Sig"):
                self.assertEqual(int(line.split()[1], 16), 0, line)

    def test_memory_that_is_short_costs_a_command_before_the_agent(self):
        client = self.client()
        score = int(client.run("cat /proc/self/oom_score_adj")[0])
        with open("/proc/%d/oom_score_adj" % client.welcome["pid"]) as file:
            agent = int(file.read())
        self.assertGreater(score, agent)


class TemporaryTest(NodeTest):
    """Issue 14, line 18: TMPDIR of all that a session starts is short enough for unix sockets, however deep its folder."""
    MANAGER = "import multiprocessing as m; print(m.Manager().list([1]))"

    def setUp(self):
        super().setUp()
        self.state = os.path.join(self.base, "deep" * 20, "ws.gpush")

    def deep(self, **more):
        return self.client(state=self.state, **more)

    def test_sockets_fit_for_commands_shells_and_terminals(self):
        client = self.deep()
        tmp = client.run("echo $TMPDIR")[0].decode().strip()
        self.assertLess(len(tmp) - len(self.agents), len("/gpush-4294967295/0123456789ab/tmp") + 1)
        self.assertEqual(os.path.realpath(tmp), os.path.realpath(os.path.join(self.state, "tmp")))
        command = "%s -c '%s'" % (sys.executable, self.MANAGER)
        self.assertEqual(client.run(command)[::2], (b"[1]\n", {"exit": 0}))
        shell = client.exec()
        shell.accepted().send((command + "\n").encode())
        shell.end()
        self.assertEqual((shell.finish(), bytes(shell.out[0])), ({"exit": 0}, b"[1]\n"))
        self.assertIn(b"[1]", client.run(command, pty={"term": "xterm", "columns": 80, "rows": 24})[0])
        self.assertEqual(client.run("ls -A $TMPDIR")[0], b"")

    def test_nothing_is_left_when_the_session_ends(self):
        client = self.deep()
        client.run("mkdir $TMPDIR/left; echo > $TMPDIR/left/file")
        self.assertTrue(os.path.exists(os.path.join(self.state, "tmp", "left", "file")))
        self.control("release")
        until(lambda: not os.listdir(self.agents), what="the end of the agent's folders")
        self.assertFalse(os.path.exists(self.state))

    def test_a_cleaner_that_takes_the_short_name_away_gets_another_one(self):
        client = self.deep(extra={"agent": text("agent.py").replace(
            "WATCH_SECONDS = 5.0", "WATCH_SECONDS = 0.05")})
        tmp = client.run("echo $TMPDIR")[0].decode().strip()
        os.unlink(tmp)
        until(lambda: os.path.isdir(tmp), what="the short name")
        shutil.rmtree(os.path.dirname(tmp), ignore_errors=True)
        until(lambda: os.path.isdir(tmp), what="the short name")

    def test_a_file_system_without_sockets(self):
        client = self.deep(extra={"node/temporary": text("node/temporary.py").replace(
            "    trial =", "    raise OSError(1, 'no sockets')\n    trial =")})
        tmp = client.run("echo $TMPDIR; echo > $TMPDIR/left")[0].decode().strip()
        self.assertFalse(os.path.islink(tmp))
        self.assertEqual(os.listdir(tmp), ["left"])
        self.control("release")
        until(lambda: not os.listdir(self.agents), what="the end of the agent's folders")

    def test_an_agent_after_one_that_was_killed_has_the_same(self):
        client = self.deep()
        tmp = client.run("echo $TMPDIR")[0]
        os.kill(client.welcome["pid"], signal.SIGKILL)
        until(lambda: not alive(client.welcome["pid"]), what="the end of the agent")
        self.assertEqual(self.deep().run("echo $TMPDIR; echo > $TMPDIR/file")[::2], (tmp, {"exit": 0}))


class PtyTest(NodeTest):
    PTY = {"term": "xterm-256color", "columns": 100, "rows": 30, "modes": {}}

    def test_size_and_resize(self):
        client = self.client()
        stream = client.exec(command="trap 'stty size; exit 0' WINCH; stty size; echo ready; while :; do sleep 0.05; done",
                             pty=self.PTY)
        stream.wait_for(b"ready")
        self.assertIn(b"30 100", stream.out[0])
        stream.message({"resize": [120, 40]})
        self.assertEqual(stream.finish(), {"exit": 0})
        self.assertIn(b"40 120", stream.out[0])

    def test_login_shell_ctrl_c_and_exit(self):
        client = self.client()
        stream = client.exec(pty=self.PTY)
        stream.accepted().send(b"tty; echo $TERM; sh -c 'echo rea\"\"dy; exec sleep 1000'\n")
        stream.wait_for(b"ready")
        self.assertIn(b"xterm-256color", stream.out[0])
        self.assertIn(b"/dev/pts/", stream.out[0])
        stream.send(b"\x03")
        stream.send(b"exit 4\n")
        self.assertEqual(stream.finish(), {"exit": 4})
        self.assertEqual(stream.ended, [True, True])

    def test_close_hangs_up(self):
        client = self.client()
        stream = client.exec(command="echo ready; sleep 1000", pty=self.PTY)
        stream.wait_for(b"ready")
        pid = stream.opened["pid"]
        stream.close()
        until(lambda: not alive(pid), what="hangup")

    def test_modes(self):
        pty = dict(self.PTY, modes={"53": 0, "1": 7, "72": 0})
        out, _, _ = self.client().run("stty -a", pty=pty)
        self.assertIn(b"-echo ", out)
        self.assertIn(b"-onlcr", out)
        self.assertIn(b"intr = ^G", out)


class DialTest(NodeTest):
    def serve(self, family, address):
        sock = socket.socket(family, socket.SOCK_STREAM)
        self.addCleanup(sock.close)
        sock.bind(address)
        sock.listen(5)
        sock.settimeout(DEADLINE)
        return sock

    def exchange(self, client, server, stream):
        peer, _ = server.accept()
        with peer:
            peer.settimeout(DEADLINE)
            peer.sendall(b"server first\n")
            stream.wait_for(b"server first\n")
            stream.send(b"question")
            stream.end()
            got = b""
            while True:
                part = peer.recv(100)
                if not part:
                    break
                got += part
            self.assertEqual(got, b"question")
            peer.sendall(b"answer after half-close")
        self.assertEqual(stream.finish(), {})
        self.assertTrue(bytes(stream.out[0]).endswith(b"answer after half-close"))

    def test_tcp(self):
        client = self.client()
        server = self.serve(socket.AF_INET, ("127.0.0.1", 0))
        port = server.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            self.exchange(client, server, client.open({"type": "tcp", "host": host, "port": port}).accepted())

    def test_name_that_needs_a_resolver(self):
        client = self.client()
        server = self.serve(socket.AF_INET, ("127.0.0.1", 0))
        port = server.getsockname()[1]
        stream = client.open({"type": "tcp", "host": "127.1", "port": port}).accepted()
        self.exchange(client, server, stream)
        stream = client.open({"type": "tcp", "host": "nothing.invalid", "port": 1})
        self.assertEqual(stream.finish()["code"], "not-found")

    def test_unix(self):
        client = self.client()
        path = os.path.join(self.base, "s")
        server = self.serve(socket.AF_UNIX, path)
        self.exchange(client, server, client.open({"type": "unix", "path": path}).accepted())

    def test_a_connection_that_is_reset_while_it_is_made_is_refused(self):
        """A nonblocking connect() ends like this when the listener closes the connection at once."""
        server = self.serve(socket.AF_INET, ("127.0.0.1", 0))
        with socket.socket() as dialled:
            dialled.connect(server.getsockname())
            peer = server.accept()[0]
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()
            until(lambda: select.select([dialled], [], [], 0)[0])
            code = dialled.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        self.assertEqual(code, errno.ECONNRESET)
        self.assertEqual(refused.of_os_error(OSError(code, "reset")).code, "refused")

    def test_refusals(self):
        client = self.client()
        server = self.serve(socket.AF_INET, ("127.0.0.1", 0))
        port = server.getsockname()[1]
        server.close()
        self.assertEqual(client.open({"type": "tcp", "host": "localhost", "port": port}).finish()["code"], "refused")
        self.assertEqual(client.open({"type": "unix", "path": self.base + "/no"}).finish()["code"], "not-found")
        self.assertEqual(client.open({"type": "tcp", "host": "x", "port": 0}).finish()["code"], "bad-request")
        self.assertEqual(client.open({"type": "what"}).finish()["code"], "bad-request")

    def test_listen(self):
        client = self.client()
        for kind in ("listen-tcp", "listen-unix"):
            path = os.path.join(self.base, "l")
            listener = client.open({"type": kind, "host": "127.0.0.1", "port": 0, "path": path}).accepted()
            address = ("127.0.0.1", listener.opened["port"]) if kind == "listen-tcp" else path
            with socket.socket(socket.AF_INET if kind == "listen-tcp" else socket.AF_UNIX) as sock:
                sock.settimeout(DEADLINE)
                sock.connect(address)
                client.pump(lambda: client.accepted)
                stream = client.accepted.pop()
                self.assertEqual(stream.value["listener"], listener.number)
                self.assertEqual(stream.value["type"], "accepted")
                sock.sendall(b"in")
                stream.wait_for(b"in")
                stream.send(b"out")
                self.assertEqual(sock.recv(10), b"out")
                sock.shutdown(socket.SHUT_WR)
                client.pump(lambda: stream.ended[0])
                stream.end()
                self.assertEqual(sock.recv(10), b"")
                stream.finish()
            listener.close()
            listener.finish()
            with socket.socket(socket.AF_INET if kind == "listen-tcp" else socket.AF_UNIX) as sock:
                with self.assertRaises(OSError):
                    sock.connect(address)
            self.assertFalse(os.path.exists(path))


class RawPathTest(NodeTest):
    """Issue 14, line 20: the path of a forwarded socket that is not UTF-8."""

    def test_a_socket_is_dialled_and_listened_on_under_its_own_name(self):
        path = os.path.join(os.fsencode(self.base), b"s\xe9").decode("utf-8", "surrogateescape")
        client = self.client()
        listener = client.open({"type": "listen-unix", "path": path})
        self.assertIsNotNone(listener.accepted().opened)
        self.assertIn(b"s\xe9", os.listdir(os.fsencode(self.base)))
        dialled = client.open({"type": "unix", "path": path})
        self.assertIsNotNone(dialled.accepted().opened)
        client.pump(lambda: client.accepted)
        dialled.send(b"hello")
        client.accepted[0].wait_for(b"hello")


class CallTest(NodeTest):
    def test_status_and_ports(self):
        client = self.client()
        status = client.call("status")
        self.assertEqual((status["gang"], status["node"], status["linked"]), (self.gang, 0, True))
        ports = client.call("ports", count=5)["ports"]
        self.assertEqual(len(set(ports)), 5)
        self.assertEqual(client.call("nothing")["code"], "unknown-method")
        self.assertEqual(client.call("ports", count=5000)["code"], "bad-request")

    def test_run_calls_go_to_the_supervisor(self):
        fake = ("from gpush_agent.core.refused import Refused\n"
                "def start(agent, params, answer):\n    answer({'pid': agent.node + params['run']}, None)\n"
                "def status(agent, params):\n    raise Refused('not-found', {'run': 1})\n")
        client = self.client(extra={"runs/requests": fake})
        self.assertEqual(client.call("run.start", run=7, spec={}), {"pid": 7})
        self.assertEqual(client.call("run.status", run=7)["code"], "not-found")

    def test_a_builtin_that_fails_says_why(self):
        client = self.client(extra={"runs/follow": "def main(args, fd_in, fd_out):\n    raise OSError(28, 'No room here')\n"})
        stream = client.exec(builtin="follow", stdin=False)
        self.assertEqual(stream.finish(), {"exit": 127})
        self.assertIn(b"No room here", bytes(stream.out[1]))

    def test_builtin_gets_its_descriptors(self):
        fake = ("import os\ndef main(args, fd_in, fd_out):\n    data = b''\n    while True:\n"
                "        part = os.read(fd_in, 100)\n        if not part:\n            break\n        data += part\n"
                "    os.write(fd_out, data.upper() + repr(sorted(args)).encode() + ' '.join(os.listdir('/proc/self/fd')).encode())\n"
                "    return 3\n")
        client = self.client(extra={"runs/follow": fake})
        stream = client.exec(builtin="follow", args={"run": 7})
        stream.accepted().send(b"abc")
        stream.end()
        self.assertEqual(stream.finish(), {"exit": 3})
        self.assertEqual(bytes(stream.out[0]), b"ABC['run', 'state']0 1 2 3")


if __name__ == "__main__":
    unittest.main()
