"""Runs a program on the first node of a run, and on the other nodes the processes that it asks for.

The beginning of one text: ask.py, srun.py (batch scripts), mpi.py, ray.py and begin.py follow it. Started on each node of the
run with a specification, JSON {"kind": "batch" | "mpi" | "ray", ...}; each kind has more fields, see there.
The first node listens at MASTER_PORT and the others connect to it; both prove with an HMAC that they know GPUSH_GANG_KEY.
The program gets commands (srun, and what mpirun takes for ssh) that ask the first node, over a socket in a folder of the
user's, to start processes on the others. What these write goes to their own node's output, unless the output of the command
was redirected: then it comes back. Python 3.6, standard library only.
"""
import base64
import fcntl
import glob
import hashlib
import hmac
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

MEET = 60           # seconds for all nodes to come: they are started at the same time
TOLD = threading.Event()        # this process was asked to end
END = 3             # seconds for processes to end after TERM
LINE = 4 << 20      # a request has the command's whole environment
GREETING = 1024     # bytes of a line from a connection that has not proved the key
UNPROVEN = 32       # such connections, beside one of each node; the oldest goes
# Of a node, and not of the command that asks for a process there.
OWN = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "TMPDIR", "HOSTNAME", "PWD", "OLDPWD",
       "SHLVL", "_", "CUDA_VISIBLE_DEVICES")


def proof(key, text):
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


class Lines:
    """JSON lines over a socket; any thread may send."""

    def __init__(self, sock):
        self.sock, self.lock, self.file = sock, threading.Lock(), sock.makefile("rb")

    def send(self, **message):
        data = (json.dumps(message) + "\n").encode()
        with self.lock:
            self.sock.sendall(data)

    def read(self, most=LINE):
        """None at the end."""
        try:
            line = self.file.readline(most)
            return json.loads(line.decode()) if line.endswith(b"\n") else None
        except (OSError, ValueError):
            return None

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def status_of(code):
    return 128 - code if code < 0 else code


def say(text):
    sys.stderr.write("gpush: " + text + "\n")
    sys.stderr.flush()


class Step:
    """The processes of one request on one node. It is there before they are, so that a stop is never lost."""

    def __init__(self):
        self.children, self.first, self.isStopped, self.lock = [], 0, False, threading.RLock()
        self.threads = []

    def start(self, argv, envs, cwd, back=None):
        """`back` is given output, or None where it is the node's own."""
        for env in envs:
            pipe = subprocess.PIPE if back else None
            try:
                with self.lock:
                    if self.isStopped:
                        break
                    # A group of its own, so that what it has started is ended with it.
                    child = subprocess.Popen(argv, env=env, cwd=cwd, stdout=pipe, stderr=pipe, preexec_fn=os.setpgrp,
                                             stdin=subprocess.DEVNULL if back else None)
                    self.children.append(child)
            except OSError as error:
                sys.stderr.write("%s: %s\n" % (argv[0], error.strerror or error))
                self.first = self.first or 127
                self.stop()
                break
            if back:
                for channel, stream in ((1, child.stdout), (2, child.stderr)):
                    thread = threading.Thread(target=self.copy, args=(stream, channel, back), daemon=True)
                    thread.start()
                    self.threads.append(thread)
        return self

    @staticmethod
    def copy(stream, channel, back):
        while True:
            data = os.read(stream.fileno(), 65536)
            if not data:
                return
            back(channel, data)

    def wait(self):
        """The status of the one that failed first; the others are stopped then."""
        left = list(self.children)
        while left:
            for child in list(left):
                try:
                    code = child.wait(0.05 if len(left) > 1 else None)
                except subprocess.TimeoutExpired:
                    continue
                left.remove(child)
                if code and not self.first and not self.isStopped:
                    self.first = status_of(code)
                    self.stop()
        for thread in self.threads:
            thread.join()
        return self.first

    def stop(self):
        with self.lock:
            if self.isStopped:
                return
            self.isStopped = True
        self.send(signal.SIGTERM)
        timer = threading.Timer(END, self.send, (signal.SIGKILL,))
        timer.daemon = True
        timer.start()

    def send(self, number):
        for child in self.children:
            try:
                os.killpg(child.pid, number)
            except OSError:
                pass


def node_names():
    """One name per node. Nodes that are all this machine get addresses of their own, which all mean this machine."""
    names = os.environ["GPUSH_NODE_ADDRS"].split(",")
    return ["127.0.0.%d" % (node + 1) for node in range(len(names))] if set(names) == {"127.0.0.1"} else names


def free_port():
    with socket.socket() as free:
        free.bind(("", 0))
        return str(free.getsockname()[1])


# ---- the first node

class Leader:
    def __init__(self, spec):
        self.spec, self.key, self.start = spec, os.environ.pop("GPUSH_GANG_KEY"), {}
        self.nodes = int(os.environ["GPUSH_NODES"])
        self.followers, self.unproven, self.met = {}, [], threading.Condition()
        self.steps, self.number = {}, 0         # id -> what takes a message of a follower
        self.folder = tempfile.mkdtemp(prefix="gang-")
        self.isElsewhere = False                # another node ends with the failure

    def run(self):
        server = socket.socket(socket.AF_INET6 if ":" in os.environ["MASTER_ADDR"] else socket.AF_INET)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("", int(os.environ["MASTER_PORT"])))
        server.listen(self.nodes)
        threading.Thread(target=self.accept, args=(server, self.meet), daemon=True).start()
        with self.met:
            if not self.met.wait_for(lambda: len(self.followers) == self.nodes - 1, MEET):
                missing = sorted(set(range(1, self.nodes)) - set(self.followers))
                say("node %s did not reach node 0 at %s:%s within %d s" % (
                    ", ".join(map(str, missing)), os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"], MEET))
                return 1
        server.close()
        status = PROGRAMS[self.spec["kind"]](self)
        for lines in list(self.followers.values()):
            try:
                lines.send(op="over", status=status)
            except OSError:
                pass
        with self.met:
            self.met.wait_for(lambda: not self.followers, END)
        if self.isElsewhere:
            TOLD.wait(END)      # the node that failed is the first one then, whatever the clocks say
        return status

    @staticmethod
    def accept(server, handle):
        while server.fileno() >= 0:
            sock = None
            try:
                sock, _ = server.accept()
                threading.Thread(target=handle, args=(sock,), daemon=True).start()
            except (OSError, RuntimeError):     # there is no descriptor or no thread until a command ends
                if sock is not None:
                    sock.close()
                time.sleep(0.1)

    def greet(self, sock):
        """The node of a connection that proves the key; None of another one."""
        sock.settimeout(MEET)
        lines = Lines(sock)
        with self.met:
            self.unproven.append(lines)
            if len(self.unproven) > UNPROVEN + self.nodes:
                self.unproven.pop(0).close()
        nonce = os.urandom(16).hex()
        answer = None
        try:
            lines.send(nonce=nonce)
            answer = lines.read(GREETING)
        except (OSError, RecursionError):       # it hung up, or nests too deeply
            pass
        node = answer.get("node") if isinstance(answer, dict) else None
        with self.met:
            isCut = lines not in self.unproven
            if not isCut:
                self.unproven.remove(lines)
        if (isCut or not isinstance(node, int) or not 0 < node < self.nodes or node in self.followers
                or not hmac.compare_digest(ascii(answer.get("proof")), ascii(proof(self.key, "node %d %s" % (node, nonce))))):
            return None
        try:
            lines.send(proof=proof(self.key, "lead " + str(answer.get("nonce"))))
        except OSError:
            return None
        return node, lines

    def meet(self, sock):
        greeted = self.greet(sock)
        if greeted is None:
            sock.close()
            return
        node, lines = greeted
        sock.settimeout(None)
        with self.met:
            self.followers[node] = lines
            self.met.notify_all()
        while True:
            message = lines.read()
            if message is None:
                break
            self.isElsewhere = self.isElsewhere or message.get("op") == "failed"
            take = self.steps.get((node, message.get("id")))
            if take:
                take(message)
        with self.met:
            self.followers.pop(node, None)
            self.met.notify_all()
        for (of, id), take in list(self.steps.items()):
            if of == node:
                take({"op": "end", "status": 137})

    def prepare(self, commands, **variables):
        """The program's environment, and the commands that it finds."""
        text = os.path.join(self.folder, "gang.py")
        with open(text, "w") as file:
            file.write(SOURCE)
        programs = os.path.join(self.folder, "bin")
        os.mkdir(programs)
        for name in commands:
            path = os.path.join(programs, name)
            with open(path, "w") as file:
                file.write("#!/bin/sh\nexec %s %s %s \"$@\"\n" % (shlex.quote(sys.executable), shlex.quote(text), name))
            os.chmod(path, 0o700)
        out = os.fstat(1)
        # MASTER_PORT is this gang's own; the program gets another one.
        self.start = dict(os.environ, PATH=programs + ":" + os.environ.get("PATH", os.defpath), MASTER_PORT=free_port(),
                          GPUSH_GANG=json.dumps({"socket": os.path.join(self.folder, "s"), "names": node_names(),
                                                 "tasks": self.spec.get("tasks"), "out": [out.st_dev, out.st_ino]}), **variables)
        self.listen_here()

    def failed_ranks(self):
        """Of all other nodes, as failed_ranks() of mpi.py."""
        with self.met:
            asked = dict(self.followers)
        ranks, left, answered = [], set(asked), threading.Event()

        def take(node, message):
            ranks.extend(message.get("ranks", ()))
            left.discard(node)
            if not left:
                answered.set()

        for node, lines in asked.items():
            self.steps[(node, "failed-ranks")] = lambda message, node=node: take(node, message)
            try:
                lines.send(op="failed-ranks")
            except OSError:
                take(node, {})
        if asked:
            answered.wait(END)
        return ranks

    def program(self, argv):
        return Step().start(argv, [self.start], os.getcwd()).wait()

    def listen_here(self):
        server = socket.socket(socket.AF_UNIX)
        server.bind(os.path.join(self.folder, "s"))
        server.listen(64)
        threading.Thread(target=self.accept, args=(server, self.serve), daemon=True).start()

    def serve(self, sock):
        """One command of the program: its request, then what happens; its end ends what it started."""
        client = Lines(sock)
        request = client.read() or {}
        counts = {int(node): count for node, count in (request.get("counts") or {}).items()}
        remote = [node for node in sorted(counts) if node]
        left, lock = set(remote), threading.Lock()
        with self.met:
            self.number += 1
            number = self.number
        env = self.start if request["env"] is None else request["env"]
        asked = {name: text for name, text in env.items() if self.start.get(name) != text and name not in OWN}
        asked["MASTER_PORT"] = env.get("MASTER_PORT", self.start["MASTER_PORT"])
        gone = [name for name in self.start if name not in env and name not in OWN]

        def take(node, message):
            try:
                client.send(node=node, **{name: message[name] for name in ("op", "channel", "data", "status") if name in message})
            except OSError:
                pass
            if message["op"] == "end":
                with lock:
                    left.discard(node)
                self.steps.pop((node, number), None)

        for node in remote:
            self.steps[(node, number)] = lambda message, node=node: take(node, message)
            lines = self.followers.get(node)
            try:
                if lines is None:
                    raise OSError("gone")
                lines.send(op="start", id=number, argv=request["argv"], env=asked, gone=gone, cwd=request["cwd"],
                           workspace=os.environ.get("GPUSH_WORKSPACE", ""), back=request["back"], counts=counts,
                           tasks=request["env"] is not None, given={name: text for name, text in self.start.items() if name.startswith("SLURM_")})
            except OSError:
                say("node %d is gone" % node)
                take(node, {"op": "end", "status": 137})
        while client.read() is not None:
            self.stop(remote, number)
        if left:
            self.stop(remote, number)

    def stop(self, nodes, number):
        for node in nodes:
            lines = self.followers.get(node)
            if lines:
                try:
                    lines.send(op="stop", id=number)
                except OSError:
                    pass


# ---- the other nodes

class Follower:
    def __init__(self):
        self.key = os.environ.pop("GPUSH_GANG_KEY")
        self.node, self.steps, self.failed, self.ray = int(os.environ["GPUSH_NODE"]), {}, 0, None

    def run(self):
        self.lines = self.meet()
        if self.lines is None:
            say("node 0 cannot be reached at %s:%s" % (os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]))
            return 1
        status = None
        while True:
            message = self.lines.read()
            if message is None:
                break
            if message["op"] == "start":
                step = self.steps[message["id"]] = Step()
                threading.Thread(target=self.step, args=(message, step), daemon=True).start()
            elif message["op"] == "join":
                threading.Thread(target=self.join, args=(message,), daemon=True).start()
            elif message["op"] == "stop":
                for step in [self.steps.get(message["id"])]:
                    if step:
                        step.stop()
            elif message["op"] == "failed-ranks":
                self.lines.send(op="failed-ranks", id="failed-ranks", ranks=failed_ranks())
            elif message["op"] == "over":
                status = message["status"]
                break
        for step in list(self.steps.values()):
            step.stop()
        if self.ray:
            self.ray.end()
        if status is None:
            say("the connection to node 0 has ended")
            return 1
        # The program ended as this node's last failure did: then that was the first one.
        if status and status == self.failed:
            self.lines.send(op="failed")
            return status
        return 0

    def meet(self):
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        end = time.monotonic() + MEET
        while time.monotonic() < end:
            try:
                lines = Lines(socket.create_connection(address, MEET))
                nonce = os.urandom(16).hex()
                theirs = (lines.read() or {}).get("nonce")
                lines.send(node=self.node, nonce=nonce, proof=proof(self.key, "node %d %s" % (self.node, theirs)))
                answer = lines.read() or {}
                if hmac.compare_digest(str(answer.get("proof")), proof(self.key, "lead " + nonce)):
                    lines.sock.settimeout(None)
                    return lines
            except OSError:
                pass
            time.sleep(0.1)
        return None

    def join(self, message):
        """This node's part of Ray."""
        self.ray = RayNode(message["folder"], self.key)
        status = self.ray.start(message["argv"])
        self.lines.send(op="end", id=message["id"], status=status)

    def step(self, message, step):
        id, workspace, own = message["id"], message["workspace"], os.environ.get("GPUSH_WORKSPACE", "")

        def here(text):
            return text.replace(workspace, own) if workspace and own else text

        base = {name: text for name, text in os.environ.items() if name not in message["gone"]}
        base.update({name: here(text) for name, text in message["given"].items()})
        base.update({name: here(text) for name, text in message["env"].items()})
        counts = {int(node): count for node, count in message["counts"].items()}
        envs = []
        for local in range(counts[self.node]):
            own_of_task = slurm_variables(self.node, node_names(), local, counts) if message["tasks"] else {}
            envs.append(dict(base, **own_of_task))

        def back(channel, data):
            self.lines.send(op="out", id=id, channel=channel, data=base64.b64encode(data).decode())

        status = 1
        try:
            cwd = here(message["cwd"])
            argv = [here(word) for word in message["argv"]] if message["tasks"] else message["argv"]
            step.start(argv, envs, cwd if os.path.isdir(cwd) else own or None, back if message["back"] else None)
            status = step.wait()
        except OSError as error:
            say(str(error))
        finally:
            self.steps.pop(id, None)
            # Of mpirun's own process here a failure is only a consequence.
            self.failed = (status if message["tasks"] else 0) or self.failed
            try:
                self.lines.send(op="end", id=id, status=status)
            except OSError:
                pass
