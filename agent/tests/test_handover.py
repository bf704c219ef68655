"""A command gives the agent its own streams: nothing runs between but a shell that waits, and a relay where that cannot be."""
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import unittest

from client import DEADLINE, Client, Cut, after_preamble, handover, until
from gpush_agent.host import handover as agents_side
from gpush_agent.host.folder import digest
from node import NodeTest, alive

SLOW = True


def program(pid):
    with open("/proc/%d/cmdline" % pid, "rb") as file:
        return file.read().split(b"\0")[0].decode()


@unittest.skipUnless(os.path.isdir("/proc/self/fd"), "no /proc")
class HandoverTest(NodeTest):
    def taken(self, client=None, **more):
        client = client or Client()
        self.clients.append(client)
        process = handover(digest(self.gang, 0), self.agents, **more)
        client.connect(process)
        return client, process

    def folder(self):
        return os.path.join(self.agents, "gpush-%d" % os.getuid(), digest(self.gang, 0))

    def test_the_agent_itself_has_the_streams_and_no_python_is_between(self):
        self.client().end()
        client, process = self.taken()
        self.assertEqual(program(process.pid), "sh")
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
            self.assertEqual(file.read(), "")
        data = os.urandom(8 << 20)
        out, _, close = client.run("tee /dev/stderr | sha256sum", data)
        self.assertEqual((out.split()[0].decode(), close), (hashlib.sha256(data).hexdigest(), {"exit": 0}))

    def test_any_shell_of_an_image_will_do(self):
        self.client().end()
        for shell in (["bash"], ["bash", "--posix"], ["busybox", "sh"]):
            if shutil.which(shell[0]) is None:
                continue
            client, process = self.taken(shell=shell)
            self.assertEqual(os.path.basename(program(process.pid)), shell[0])
            self.assertEqual(client.run("echo hi")[0], b"hi\n")
            process.stdin.close()
            self.assertEqual(process.wait(DEADLINE), 0)

    def test_a_link_goes_on_over_the_next_command(self):
        client = self.client()
        stream = client.exec(command="cat")
        for number in range(3):
            client.cut()
            self.taken(client)
            self.assertTrue(client.welcome["resumed"])
            stream.send(b"%d\n" % number)
        stream.end()
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"0\n1\n2\n"))

    def test_the_end_of_its_input_ends_the_command_and_the_agent_stays(self):
        self.client().end()
        client, process = self.taken()
        process.stdin.close()
        self.assertEqual(process.wait(DEADLINE), 0)
        until(lambda: not self.control("status")["linked"])
        self.assertEqual([name for name in os.listdir(self.folder()) if name.startswith("reply.")], [])

    def test_a_command_that_is_killed_ends_its_pipe(self):
        self.client().end()
        client, process = self.taken()
        process.kill()
        with self.assertRaises(Cut):
            client.pump(lambda: False)
        until(lambda: not self.control("status")["linked"])

    def test_the_end_of_the_agent_ends_the_command(self):
        self.client().end()
        for stop in (lambda: self.control("release"), lambda: os.kill(self.agent_pids()[0], signal.SIGKILL)):
            self.client().end()
            _, process = self.taken()
            stop()
            self.assertEqual(process.wait(DEADLINE), 0)
        # What the killed one has left is not taken for an agent.
        self.assertEqual(after_preamble(handover(digest(self.gang, 0), self.agents))[:2], (b"", 94))

    def test_status_first_and_the_link_on_the_same_streams(self):
        self.client().end()
        process = handover(digest(self.gang, 0), self.agents)
        self.assertEqual(process.stdout.read(33).decode().strip(), process.preamble)
        process.stdin.write(json.dumps({"do": "status", "then": "link"}).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += process.stdout.read(1)
        status = json.loads(answer.decode())
        self.assertEqual((status["ok"], status["gang"], status["devices"]), (True, self.gang, None))

        process.preamble = None
        client = Client()
        self.clients.append(client)
        client.connect(process)
        self.assertEqual(client.run("echo hi")[0], b"hi\n")

    def test_an_agent_that_starts_later_is_waited_for(self):
        process = handover(digest(self.gang, 0), self.agents, seconds=int(DEADLINE))
        self.client().end()
        client = Client()
        self.clients.append(client)
        client.connect(process)
        self.assertEqual(client.run("echo hi")[0], b"hi\n")

    def test_without_an_agent_it_ends(self):
        name = digest(self.gang, 0)
        self.assertEqual(after_preamble(handover(name, self.agents))[:2], (b"", 94))
        self.assertEqual(after_preamble(handover(name, self.agents, seconds=1))[:2], (b"", 94))

    def test_sockets_cannot_be_opened_again_so_the_relay_copies(self):
        self.client().end()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = handover(digest(self.gang, 0), self.agents, stdin=theirs, stdout=theirs)
            theirs.close()
            ours.sendall((process.preamble + "\n").encode())
            head = b""
            while len(head) < 33:
                head += ours.recv(33 - len(head))
            self.assertEqual(head.decode().strip(), process.preamble)
            self.assertEqual(program(process.pid), sys.executable)
            ours.shutdown(socket.SHUT_RDWR)
            process.wait(DEADLINE)
            process.stderr.close()

    def test_without_mkfifo_the_relay_copies(self):
        self.client().end()
        client, process = self.taken(text_of=lambda shell: shell.replace("mkfifo", "no-such-mkfifo"))
        self.assertEqual(program(process.pid), sys.executable)
        self.assertEqual(client.run("echo hi")[0], b"hi\n")

    def test_a_process_that_is_not_the_one_is_not_taken(self):
        self.client().end()
        reply = os.path.join(self.folder(), "reply.%d" % os.getpid())
        os.mkfifo(reply, 0o600)
        fd = os.open(reply, os.O_RDWR)
        try:
            name = [name for name in os.listdir(self.folder()) if name.startswith("handover.")][0]
            with open(os.path.join(self.folder(), name), "w") as fifo:
                fifo.write("x\n%d\n99999999999999\n" % os.getpid())
            self.assertEqual(os.read(fd, 10), agents_side.NO)       # our descriptor 5 is another file
            self.assertFalse(os.path.exists(reply))
        finally:
            os.close(fd)
        self.assertEqual(self.control("status")["ok"], True)

    def test_a_cleaned_folder_takes_streams_again(self):
        client = self.client()
        pid = client.call("status")["pid"]
        self.foreign.append(pid)
        for name in os.listdir(self.agents):
            shutil.rmtree(os.path.join(self.agents, name))
        self.assertEqual(self.control("status")["pid"], pid)
        client.end()
        other, process = self.taken()
        self.assertEqual((program(process.pid), other.call("status")["pid"]), ("sh", pid))


if __name__ == "__main__":
    unittest.main()
