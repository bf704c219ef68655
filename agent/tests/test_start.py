"""Starting, finding, locks, folders, leases and release: never one agent too many, and nothing left behind."""
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest

import client as testclient
from client import Client, Cut, after_preamble, spawn, text, until
from gpush_agent.core.refused import Refused
from gpush_agent.host import locks
from gpush_agent.host.folder import Folder, user_folders
from gpush_agent.lifetime import lease
from gpush_agent.link import frames
from node import NodeTest, alive, command

SLOW = True


class StartTest(NodeTest):
    def test_modes(self):
        _, code, error = after_preamble(spawn(self.header("attach")))
        self.assertEqual((code, json.loads(error)["code"]), (94, "no-agent"))
        self.assertEqual(self.control("status")[0], 94)
        self.assertEqual(self.listed()["agents"], [])
        self.client()
        status = self.control("status")
        self.assertTrue(status["ok"] and status["linked"])
        listed = self.listed()["agents"]
        self.assertEqual([(agent["gang"], agent["request"]) for agent in listed], [(self.gang, {"gpus": 0})])
        self.assertGreater(self.control("renew", hard_s=5000, idle_s=100)["hard_left_s"], 4000)
        self.assertEqual(self.control("what")["code"], "bad-request")
        self.assertEqual(self.control("renew", hard_s=-1)["code"], "bad-request")

    def test_an_agent_that_is_still_starting_is_waited_for(self):
        asking = spawn(dict(self.header("control", control={"do": "status"}), wait_s=20))
        self.client()
        out, code, _ = after_preamble(asking)
        self.assertEqual((code, json.loads(out.decode())["ok"]), (0, True))
        header = dict(self.header("control", node=1, control={"do": "status"}), wait_s=0.2)
        self.assertEqual(after_preamble(spawn(header))[1], 94)

    def test_nodes_of_one_gang_have_an_agent_each(self):
        pids = {json.loads(after_preamble(spawn(self.header(node=node, hold_only=True)))[0].decode())["pid"] for node in range(3)}
        self.assertEqual(len(pids), 3)
        self.assertEqual(len(self.listed()["agents"]), 3)

    def test_the_scheduler_says_which_node_this_is(self):
        header = dict(self.header(hold_only=True), node_from="SLURM_NODEID")
        del header["node"]
        header["start"].update(under=os.path.join(self.base, "gang"), project="proj", env={}, env_over={"COLOUR": "red"})
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES="4,5")
        for node in range(2):
            answer = after_preamble(spawn(header, env=dict(environment, SLURM_NODEID=str(node))))[0]
            status = json.loads(answer.decode())
            self.assertEqual((status["node"], status["devices"]), (node, ["4", "5"]))
            self.assertEqual(status["workspace"], os.path.join(self.base, "gang", str(node), "proj"))
        self.assertEqual(after_preamble(spawn(header, env=dict(environment, SLURM_NODEID="x")))[1], 96)
        self.assertEqual(self.client("attach", node=1).run("echo $COLOUR")[0], b"red\n")

    def test_a_container_gives_its_own_environment_and_no_profile_takes_it_away(self):
        with open(os.path.join(self.base, ".profile"), "w") as file:
            file.write("export PATH=/nowhere COLOUR=profile\n")
        header = self.header(hold_only=True, env={}, env_own=True, env_over={"OVER": "1"})
        environment = dict(os.environ, HOME=self.base, COLOUR="image", SHELL="/bin/sh")
        self.assertEqual(after_preamble(spawn(header, env=environment))[1], 0)
        client = self.client("attach")
        self.assertEqual(client.run("echo $COLOUR $OVER $PATH")[0].decode(), "image 1 %s\n" % os.environ["PATH"])

    def test_release_over_the_link_is_answered_before_the_end(self):
        client = self.client()
        path = os.path.join(self.base, "ws", "mine.txt")
        os.makedirs(os.path.dirname(path))
        open(path, "w").close()
        pid = client.call("status")["pid"]
        self.assertEqual(client.call("release"), {"kept": ["mine.txt"]})
        client.pump(lambda: client.bye is not None)
        self.assertEqual((client.bye["code"], client.bye["facts"]["why"]), ("released", "released"))
        until(lambda: not alive(pid))

    def test_a_pipe_may_ask_first_and_say_hello_later(self):
        asked = spawn(dict(self.header("start")))
        asked.stdin.write(json.dumps({"do": "status", "then": "link"}).encode() + b"\n")
        head = asked.stdout.read(33)
        status = json.loads(asked.stdout.readline().decode())
        self.assertEqual((head.decode().strip(), status["ok"], status["linked"]), (asked.preamble, True, False))
        asked.preamble = None
        client = Client()
        self.clients.append(client)
        self.assertEqual(client.connect(asked).run("echo hi")[0], b"hi\n")

    def begun(self, pythons):
        """The first process of a container whose files are in a folder."""
        folder = os.path.join(self.base, "agent")
        os.makedirs(folder, exist_ok=True)
        blob = testclient.usual_sources()
        header = dict(self.header(foreground=True), preamble="ab" * 16, source=len(blob))
        encoded = json.dumps(header).encode()
        for name, data in (("start", b"%08x" % len(encoded) + encoded + blob), ("probe.sh", testclient.text("probe.sh").encode()),
                           ("loader.py", testclient.text("loader.py").encode())):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        text = "import os\nos.dup2(os.open('%s/start', os.O_RDONLY), 0)\nexec(compile(open('%s/loader.py').read(), 'loader', 'exec'))"
        return subprocess.Popen(["/bin/sh", os.path.join(folder, "probe.sh"), text % (folder, folder)] + pythons,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def python(self, name, script):
        """A program that stands for a Python."""
        path = os.path.join(self.base, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, 0o755)
        return path

    def test_a_container_begins_with_the_first_python_that_is_fit(self):
        unfit = self.python("python3", "exec '%s' -c 'import sys; sys.version_info = (3, 5); exec(sys.argv[1])' \"$5\"" % sys.executable)
        no_python = self.python("python", "exit 2")
        process = self.begun(["no-such-python", self.base, no_python, unfit, sys.executable])
        self.assertEqual(process.stdout.readline(), b"ab" * 16 + b"\n")
        value = json.loads(process.stdout.readline().decode())
        self.assertEqual(value["pid"], process.pid)
        self.assertEqual(self.client("attach").run("echo hi")[0], b"hi\n")
        self.assertEqual(self.control("release")["ok"], True)
        self.assertEqual(process.wait(testclient.DEADLINE), 0)
        for file in (process.stdout, process.stderr):
            file.close()
        for pythons, code, word in ((["no-such-python"], 97, "no-python"), ([no_python], 97, "python-broken"),
                                    ([unfit], 98, "python-too-old"), ([unfit, "no-such-python"], 98, "python-too-old")):
            process = self.begun(pythons)
            _, error = process.communicate()
            value = json.loads(error.decode().splitlines()[-1])
            self.assertEqual((process.returncode, value["code"]), (code, word), pythons)
            self.assertEqual(value["facts"], {"found": "3.5"} if code == 98 else {}, pythons)

    def test_noise_of_a_login_shell_is_no_harm(self):
        blob = testclient.usual_sources()
        header = dict(self.header(), preamble="ab" * 16, source=len(blob))
        encoded = json.dumps(header).encode()
        process = subprocess.Popen(["sh", "-c", "echo Welcome to HPC; " + testclient.text("probe.sh"), "sh",
                                    testclient.text("loader.py"), "no-such-python", sys.executable],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        process.preamble = header["preamble"]
        process.stdin.write(b"%08x" % len(encoded) + encoded + blob)
        client = Client()
        self.clients.append(client)
        self.assertEqual(client.connect(process).run("echo hi")[0], b"hi\n")

    def test_no_python_a_broken_one_and_one_that_is_too_old(self):
        _, code, error = after_preamble(spawn(self.header(), interpreters=["no-such-python"]))
        self.assertEqual((code, json.loads(error)["code"]), (97, "no-python"))
        old = os.path.join(self.base, "old")
        with open(old, "w") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(old, 0o644)
        for there in (old, self.base):
            _, code, error = after_preamble(spawn(self.header(), interpreters=[there]))
            self.assertEqual((code, json.loads(error)["code"]), (97, "no-python"), there)
        os.chmod(old, 0o755)
        _, code, error = after_preamble(spawn(self.header(), interpreters=[old]))
        self.assertEqual((code, json.loads(error)["code"]), (97, "python-broken"))
        with open(old, "w") as file:
            # As Python 2: it does not know -I, and says its version when it is asked without.
            file.write("#!/bin/sh\n[ \"$1\" != -I ] || exit 2\nprintf 2.7.18\n")
        _, code, error = after_preamble(spawn(self.header(), interpreters=[old]))
        self.assertEqual((code, json.loads(error)), (98, {"code": "python-too-old", "facts": {"found": "2.7.18"}}))
        self.assertEqual(self.client(interpreters=[old, sys.executable]).run("echo hi")[0], b"hi\n")

    def test_a_python_without_its_library(self):
        bare = self.python("bare", "exec '%s' -I -S -B -c 'import sys\nsys.path = [path for path in sys.path if \"dynload\" in path]\n"
                           "exec(sys.argv[1])' \"$5\"" % sys.executable)
        _, code, error = after_preamble(spawn(self.header(), interpreters=[bare]))
        self.assertEqual((code, json.loads(error)["code"]), (97, "python-broken"))
        self.assertEqual(self.client(interpreters=[bare, sys.executable]).run("echo hi")[0], b"hi\n")

    def test_read_only_and_foreign_folders(self):
        closed = os.path.join(self.base, "closed")
        os.mkdir(closed)
        open_to_all = os.path.join(closed, "gpush-%d" % os.getuid())
        os.mkdir(open_to_all)
        os.chmod(open_to_all, 0o755)
        nothing = os.path.join(self.base, "nothing")
        _, code, error = after_preamble(spawn(self.header(folder=[nothing, closed])))
        self.assertEqual((code, json.loads(error)["code"]), (96, "no-folder"))
        client = self.client(folder=[nothing, closed, self.agents])
        self.assertEqual(client.run("echo hi")[0], b"hi\n")

    def test_no_home_and_no_state(self):
        client = self.client(env={"PATH": os.environ["PATH"], "HOME": "/nothing/here"}, state="/proc/nothing", workspace=None)
        self.assertEqual(client.run("pwd")[2], {"exit": 0})
        self.assertEqual(client.run("echo $HOME; echo $TMPDIR")[0], b"/nothing/here\n\n")

    def test_binds_again_when_its_folder_vanishes(self):
        client = self.client()
        pid = client.call("status")["pid"]
        self.foreign.append(pid)
        for name in os.listdir(self.agents):
            shutil.rmtree(os.path.join(self.agents, name))
        value = json.loads(after_preamble(spawn(self.header(hold_only=True)))[0].decode())
        self.assertEqual((value["pid"], value["started"]), (pid, False))
        self.assertEqual(client.run("echo still")[0], b"still\n")

    def test_a_killed_agent_is_started_again(self):
        pid = self.client().call("status")["pid"]
        os.kill(pid, signal.SIGKILL)
        until(lambda: not alive(pid), what="end")
        self.assertEqual(self.listed()["agents"], [])
        self.assertNotEqual(self.client().call("status")["pid"], pid)

    def test_an_agent_that_does_not_answer_is_listed(self):
        answered = self.client().call("status")
        os.kill(answered["pid"], signal.SIGSTOP)
        try:
            listed = self.listed()
        finally:
            os.kill(answered["pid"], signal.SIGCONT)
        for key in ("gang", "node", "owner", "holder", "name", "request"):
            self.assertEqual([agent[key] for agent in listed["agents"]], [answered[key]], key)

    def test_foreground_is_the_agent_itself(self):
        process = spawn(self.header(foreground=True, lease={"hard_s": 600, "unclaimed_s": 600}))
        head = process.stdout.read(33)
        value = json.loads(process.stdout.readline().decode())
        self.assertEqual(value["pid"], process.pid)
        self.assertEqual(self.client("attach").run("echo hi")[0], b"hi\n")
        self.assertEqual(self.control("release")["ok"], True)
        self.assertEqual(process.wait(testclient.DEADLINE), 0)
        for file in (process.stdin, process.stdout, process.stderr):
            file.close()


class LockTest(NodeTest):
    def locks(self):
        return [{"path": os.path.join(self.base, "locks", "gpu-%d" % number), "label": "gpu %d" % number} for number in (2, 3)]

    def test_held_locks_refuse_the_start_and_name_the_holder(self):
        self.client(locks=self.locks(), holder="her@desk", name="hers")
        other, self.gang = self.gang, "another gang"
        first = {"path": os.path.join(self.base, "locks", "gpu-1"), "label": "gpu 1"}
        _, code, error = after_preamble(spawn(self.header(locks=[first] + self.locks())))
        found = json.loads(error)
        self.assertEqual((code, found["code"], found["facts"]["label"]), (96, "held", "gpu 2"))
        self.assertEqual((found["facts"]["holder"]["holder"], found["facts"]["holder"]["name"]), ("her@desk", "hers"))
        with open(first["path"]) as file:       # the gang is all or nothing
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.assertEqual(os.stat(first["path"]).st_mode & 0o777, 0o666)
        self.assertEqual(os.stat(os.path.dirname(first["path"])).st_mode & 0o7777, 0o1777)
        self.assertEqual(len(self.listed()["agents"]), 1)
        self.gang = other
        self.assertTrue(self.control("release")["ok"])
        self.gang = "another gang"
        self.assertEqual(self.client(locks=self.locks()).run("echo mine")[0], b"mine\n")

    @unittest.skipUnless(os.getuid() == 0, "needs two users")
    def test_two_users_exclude_each_other(self):
        os.chmod(self.base, 0o755)
        wanted = self.locks()[0]
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.mkdir(os.path.dirname(wanted["path"]), 0o1777)
                os.chmod(os.path.dirname(wanted["path"]), 0o1777)
                os.setuid(65534)
                locks.take(wanted["path"], {"holder": "nobody", "label": "gpu 2", "gang": "theirs", "node": 0})
                code = 0
                signal.pause()
            finally:
                os._exit(code)
        try:
            until(lambda: os.path.exists(wanted["path"]) and os.path.getsize(wanted["path"]), what="their lock")
            with self.assertRaises(Refused) as caught:
                locks.take(wanted["path"], {"holder": "me", "label": "gpu 2", "gang": "ours", "node": 0})
            self.assertEqual((caught.exception.code, caught.exception.facts["holder"]["holder"]), ("held", "nobody"))
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(locks.take(wanted["path"], {"holder": "me", "label": "gpu 2", "gang": "ours", "node": 0}))

    def test_children_do_not_keep_the_locks(self):
        client = self.client(locks=self.locks())
        client.exec(command="sleep 1000").accepted()
        os.kill(client.call("status")["pid"], signal.SIGKILL)
        self.foreign.extend(stream.opened["pid"] for stream in client.streams.values() if stream.opened)
        until(lambda: self.free(self.locks()[0]["path"]), what="lock let go")

    def test_the_run_of_a_dead_agent_does_not_lock_its_own_node_out(self):
        claims = text("runs/claims.py").replace("        if again and", "        return\n        if again and")
        supervisor = "class Supervisor:\n    pass\ndef main(run):\n    import time\n    time.sleep(1000)\n"
        client = self.client(locks=self.locks(), extra={"runs/claims": claims, "runs/supervisor": supervisor})
        run = client.call("run.start", run=7, spec=command("/", "true"))["pid"]
        self.foreign.append(run)
        pid = client.call("status")["pid"]
        os.kill(pid, signal.SIGKILL)
        until(lambda: not alive(pid), what="end")
        self.assertFalse(self.free(self.locks()[0]["path"]))
        self.assertNotEqual(self.client(locks=self.locks()).call("status")["pid"], pid)

    @staticmethod
    def free(path):
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                return False


class EndTest(NodeTest):
    def test_release_leaves_nothing(self):
        client = self.client()
        pid = client.call("status")["pid"]
        client.run("exec >/dev/null 2>&1; setsid sleep 1000 & (setsid sleep 1001 &); trap '' TERM; sleep 1002 & sleep 0.05")
        stream = client.exec(command="trap '' TERM; echo $$; sleep 1000; sleep 1000")
        stream.wait_for(b"\n")
        from gpush_agent.core import processes
        children = processes.descendants(pid)
        self.assertGreaterEqual(len(children), 3)
        self.assertEqual(self.control("release"), {"ok": True, "kept": []})
        until(lambda: not any(alive(child) for child in children + [pid]), what="end of all")
        self.assertEqual(os.listdir(self.agents), [])
        self.assertFalse(os.path.exists(os.path.join(self.base, "ws.gpush", "tmp")))
        with self.assertRaises(Cut):
            client.pump(lambda: False)
        self.assertEqual(client.bye["code"], "released")
        self.assertEqual(client.bye["facts"]["why"], "released")

    def test_the_end_waits_for_relays_that_still_pass_something_on(self):
        ending = testclient.text("lifetime/ending.py").replace("LAST_SECONDS = 5.0", "LAST_SECONDS = 120.0")
        client = self.client(extra={"lifetime/ending": ending})
        pid = client.call("status")["pid"]
        os.kill(client.process.pid, signal.SIGSTOP)
        self.assertTrue(self.control("release")["ok"])
        self.assertEqual(self.control("status")[1]["code"], "no-agent")
        self.assertTrue(alive(pid))
        os.kill(client.process.pid, signal.SIGCONT)
        with self.assertRaises(Cut):
            client.pump(lambda: False)
        self.assertEqual(client.bye["code"], "released")
        until(lambda: not alive(pid), what="end of the agent")

    def test_the_end_does_not_wait_for_a_relay_that_nothing_was_asked_through(self):
        self.client()
        idle = spawn(self.header("start"))
        self.addCleanup(after_preamble, idle)
        self.assertEqual(idle.stdout.readline().decode().strip(), idle.preamble)
        self.assertTrue(self.control("release")["ok"])
        (kind, _, _, _, payload), = frames.Parser().feed(idle.stdout.read())
        self.assertEqual((kind, frames.unpack_json(payload)["code"]), (frames.BYE, "released"))

    def test_release_spares_another_agent_that_was_started_from_a_terminal_of_ours(self):
        client = self.client()
        blob = testclient.usual_sources()
        header = dict(self.header(node=1, hold_only=True), preamble="cd" * 16, source=len(blob))
        encoded = json.dumps(header).encode()
        stream = client.exec(argv=["sh", "-c", testclient.text("probe.sh"), "sh", testclient.text("loader.py"), sys.executable])
        stream.accepted().send(b"%08x" % len(encoded) + encoded + blob)
        self.assertEqual(stream.finish(), {"exit": 0})
        other = json.loads(bytes(stream.out[0]).split(b"\n")[1].decode())["pid"]
        sleeper = client.exec(command="setsid sleep 1000 >/dev/null 2>&1 & echo $!")
        sleeper.finish()
        self.assertTrue(self.control("release")["ok"])
        until(lambda: not alive(int(sleeper.out[0])), what="end of ours")
        self.assertTrue(alive(other))
        self.assertTrue(self.control("release", node=1)["ok"])

    def ends(self, client, why):
        pid = client.welcome["pid"]
        with self.assertRaises(Cut):
            client.pump(lambda: False)
        self.assertEqual((client.bye["code"], client.bye["facts"]["why"]), ("released", why))
        until(lambda: not alive(pid), what="exit")
        self.assertEqual(os.listdir(self.agents), [])

    def brief(self, client, **lease):
        """Only now that the client is there: a lease that is short from the start may end before."""
        client.call("renew", **lease)
        return client

    def test_hard_end(self):
        self.ends(self.brief(self.client(), hard_s=0.4, idle_s=100), "hard")

    def test_idle_end(self):
        self.ends(self.brief(self.client(), hard_s=100, idle_s=0.4), "idle")

    def test_the_end_takes_the_folders_that_were_made_for_the_node(self):
        for has_foreign in (False, True):
            folder = os.path.join(self.base, self.gang, "0")
            client = self.client(workspace=os.path.join(folder, "ws"),
                                 state=os.path.join(folder, "ws.gpush"))
            os.makedirs(os.path.join(folder, "ws.gpush"), exist_ok=True)
            if has_foreign:
                open(os.path.join(self.base, self.gang, "result"), "w").close()
            self.ends(self.brief(client, idle_s=0.4), "idle")
            self.assertFalse(os.path.exists(folder))
            self.assertEqual(os.path.exists(os.path.dirname(folder)), has_foreign)

    def test_unclaimed_end(self):
        _, code, error = after_preamble(spawn(self.header(hold_only=True, lease={"hard_s": 100, "unclaimed_s": 0.4})))
        self.assertIn(code, (0, 95), error)         # it may have ended before the loader asked it for its status
        until(lambda: os.listdir(self.agents) == [], what="exit")

    def test_a_run_keeps_the_node(self):
        client = self.client(lease={"idle_s": 600})
        folder = os.path.join(self.base, "ws.gpush", "runs", "7")
        os.makedirs(folder)
        with open(os.path.join(folder, "lock"), "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            client.call("renew", idle_s=0.3)
            seen = [client.call("status")]
            until(lambda: client.call("status")["hard_left_s"] is None and seen.append(1) or len(seen) > 40)
            self.assertEqual(client.call("status")["idle_because"], "run 7")
            self.assertEqual(client.call("status")["runs"], [7])
        self.ends(client, "idle")

    def test_terminate_signal_ends_it_properly(self):
        client = self.client()
        os.kill(client.call("status")["pid"], signal.SIGTERM)
        self.ends(client, "terminated")


class NobodyThereTest(NodeTest):
    """Who only asks makes no folder."""

    def folder(self):
        return Folder(self.gang, 0, [self.agents])

    def test_asking_nobody_leaves_nothing(self):
        for mode in ("attach", "control"):
            _, code, error = after_preamble(spawn(self.header(mode, control={"do": "status"})))
            self.assertEqual((code, json.loads(error)["code"]), (94, "no-agent"))
            self.assertEqual(os.listdir(self.agents), [])

    def test_asking_one_who_is_leaving_leaves_nothing(self):
        for mode in ("attach", "control"):
            with self.folder().bind_beacon() as beacon:     # its folder is gone, it is not
                beacon.settimeout(testclient.DEADLINE)
                process = spawn(self.header(mode, control={"do": "release"}))
                beacon.accept()[0].close()
            _, code, error = after_preamble(process)
            self.assertEqual((code, json.loads(error)["code"]), (94, "no-agent"))
            self.assertEqual(os.listdir(self.agents), [])

    def test_asking_one_who_must_make_its_folder_again(self):
        self.client()
        for name in os.listdir(self.agents):
            shutil.rmtree(os.path.join(self.agents, name))
        self.assertTrue(self.control("status")["ok"])

    def test_release_leaves_nothing_in_tmp(self):
        folder = Folder(self.gang, 0, None)
        paths = [os.path.join(parent, folder.name + end) for parent in user_folders(folder.bases) for end in ("", ".start")]
        header = dict(self.header("start", hold_only=True, folder=None))
        pid = json.loads(after_preamble(spawn(header))[0].decode())["pid"]
        self.foreign.append(pid)
        self.assertEqual(len([path for path in paths if os.path.exists(path)]), 1)
        header = self.header("control", control={"do": "release"}, folder=None)
        self.assertEqual(json.loads(after_preamble(spawn(header))[0].decode()), {"ok": True, "kept": []})
        self.assertEqual(after_preamble(spawn(header))[1], 94)
        until(lambda: not alive(pid), what="exit")
        self.assertEqual([path for path in paths if os.path.exists(path)], [])


class LeaseTest(unittest.TestCase):
    """The lease alone, on a clock of its own."""

    def setUp(self):
        self.now = 0.0
        self.runs, self.commands = [], []

    def lease(self, **limits):
        return lease.Lease(lambda: self.now, limits, lambda: self.runs, lambda: self.commands)

    def test_idle_starts_with_the_claim_and_moves_with_activity(self):
        found = self.lease(hard_s=1000, idle_s=10, unclaimed_s=5)
        self.assertEqual(found.next(), 5)
        found.claim()
        self.now = 9
        self.assertIsNone(found.over())
        found.active("typing")
        self.now = 18.9
        self.assertIsNone(found.over())
        self.assertEqual(found.status()["idle_because"], "typing")
        self.now = 19
        self.assertEqual(found.over(), "idle")

    def test_unclaimed_while_a_gateway_asks(self):
        found = self.lease(hard_s=100, idle_s=3, unclaimed_s=5)
        self.now = 4
        found.ask()
        self.now = 8
        self.assertIsNone(found.over())
        self.assertEqual(found.next(), 1)
        self.assertEqual(found.status()["held_s"], 8)
        self.now = 9
        self.assertEqual(found.over(), "unclaimed")

    def test_unclaimed_and_hard(self):
        found = self.lease(hard_s=8, idle_s=3, unclaimed_s=5)
        self.now = 4.9
        self.assertIsNone(found.over())
        self.now = 5
        self.assertEqual(found.over(), "unclaimed")
        found.claim()
        self.runs = [7]
        self.now = 7.9
        self.assertIsNone(found.over())
        self.now = 8
        self.assertEqual(found.over(), "hard")
        found.renew({"hard_s": 10})
        self.assertIsNone(found.over())
        found.renew({"hard_s": None})
        self.now = 1e6
        self.assertIsNone(found.over())

    def test_no_numbers_no_end(self):
        found = self.lease()
        self.now = 1e9
        self.assertIsNone(found.over())
        self.assertIsNone(found.next())


if __name__ == "__main__":
    unittest.main()
