"""Agents where much is broken: each says what it cannot do, and does the rest."""
import ctypes
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import unittest

import client as testclient
from client import Client, after_preamble, spawn, until
from gpush_agent.core import processes
from node import NodeTest, alive, command
from test_life import CLOCK

SLOW = True

NOBODY = 50000 + os.getpid() % 10000        # a user that passwd does not know, and no other checkout's tests either


class PlaceTest(NodeTest):
    def spawned(self, mode="start", place=None, extra=None, control=None, **options):
        """A loader in a place: `place` is shell text that mounts things, in a mount namespace of its own."""
        start = options.pop("start", {})
        if place is not None:
            if os.getuid() != 0 or subprocess.call(["unshare", "-m", "true"], stderr=subprocess.DEVNULL) != 0:
                self.skipTest("needs root and unshare -m to mount over the system's folders")
            options["prefix"] = ["unshare", "-m", "sh", "-ec", place + '\nexec "$@"', "sh"]
        return spawn(self.header(mode, control=control, **start), extra=extra, **options)

    def agent(self, **options):
        client = Client()
        self.clients.append(client)
        client.connect(self.spawned(**options))
        self.foreign.append(client.welcome["pid"])
        return client

    def refused(self, **options):
        _, code, error = after_preamble(self.spawned(**options))
        return code, json.loads(error)

    def works(self, client):
        self.assertEqual(client.run("echo out; exit 3", argv=None)[::2], (b"out\n", {"exit": 3}))
        self.assertEqual(client.call("status")["gang"], self.gang)

    def release(self, **options):
        out, code, error = after_preamble(self.spawned("control", control={"do": "release"}, **options))
        self.assertEqual((code, error), (0, ""))
        return json.loads(out.decode())

    def anybodys(self):
        """A Python that every user may execute; ours may be root's own."""
        python = next((path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if os.path.exists(path)), None)
        return [python] if python else self.skipTest("no Python in /usr/bin")

    def cannot(self, client):
        return [trouble["code"] for trouble in client.call("status")["cannot"]]


class EnvironmentTest(PlaceTest):
    def test_nonsense_for_pythons_and_a_preload_that_is_not_there(self):
        environ = dict(os.environ, PYTHONHOME="/no/where", PYTHONPATH="/no/where:/dev/null", PYTHONSTARTUP="/no/where",
                       PYTHONSAFEPATH="", PYTHONMALLOC="nonsense", LD_PRELOAD="/no/where/lib.so", LC_ALL="xx_XX.nonsense")
        client = self.agent(env=environ, start={"env": {}})
        self.works(client)
        found = client.call("environment")
        self.assertEqual((found["source"], found["env"]["PYTHONHOME"]), ("captured", "/no/where"))   # it is the user's own
        self.assertEqual(self.cannot(client), [])

    def with_shell(self, text, **options):
        """An agent whose user has this login shell."""
        shell, passwd = os.path.join(self.base, "shell"), os.path.join(self.base, "passwd")
        with open(shell, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(shell, 0o755)
        with open(passwd, "w") as file:
            file.write("root:x:0:0:root:%s:%s\n" % (self.base, shell))
        return self.agent(place="mount --bind %s /etc/passwd" % passwd, start={"env": {}},
                          env={"PATH": os.environ["PATH"], "LEFT": "over"}, **options)

    def given_up(self, text, until_then=lambda: True, extra=None):
        """An agent whose login shell hangs, once it has been waited for in vain: on a clock that jumps then."""
        time = os.path.join(self.base, "time")
        client = self.with_shell(text, extra=dict(extra or {}, **{"core/clock": CLOCK % time}))
        until(until_then, what="the shell hangs")
        with open(time + ".new", "w") as file:
            file.write("60")
        os.rename(time + ".new", time)
        self.assertEqual(client.call("environment")["source"], "inherited")
        return client

    def argv(self, client):
        stream = client.exec(argv=["/bin/echo", "still"])
        self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"still\n"))

    def test_a_login_shell_that_talks(self):
        client = self.with_shell('echo Welcome; echo "{\\"code\\": 1}" >&2; export FROM=profile; exec /bin/sh "$@"')
        found = client.call("environment")
        self.assertEqual((found["source"], found["env"]["FROM"]), ("captured", "profile"))
        self.assertEqual(self.cannot(client), [])

    def test_a_login_shell_that_fails(self):
        client = self.with_shell("echo no more quota >&2; exit 1")
        found = client.call("environment")
        self.assertEqual((found["source"], found["env"]["LEFT"]), ("inherited", "over"))
        self.assertEqual(self.cannot(client), ["no-environment"])
        self.argv(client)

    def test_a_login_shell_that_hangs(self):
        client = self.given_up("sleep 98765; exit 0")
        self.assertEqual(self.cannot(client), ["no-environment"])
        self.argv(client)
        until(lambda: not processes.descendants(client.welcome["pid"]), what="the end of the login shell")

    def test_a_login_shell_that_hangs_with_a_lock(self):
        lock, taken = os.path.join(self.base, "lock"), os.path.join(self.base, "taken")
        waits = "touch %s %s; trap 'rm %s' EXIT; while :; do sleep 0.05; done" % (lock, taken, lock)
        patient = testclient.text("core/worker.py").replace("LATE_SECONDS = 1.0", "LATE_SECONDS = 1000.0")
        self.given_up('exec bash -c "%s"' % waits, lambda: os.path.exists(taken), {"core/worker": patient})
        until(lambda: not os.path.exists(lock), what="the shell's giving back of what it holds")

    def test_a_user_without_name_and_home(self):
        for path in (self.base, self.agents):
            os.chown(path, NOBODY, NOBODY)

        def become():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        client = self.agent(env={"PATH": os.environ["PATH"], "HOME": "/root"}, start={"env": {}}, preexec_fn=become,
                            interpreters=self.anybodys())
        self.assertEqual(client.run("echo $USER $HOME; pwd")[0], b"%d /root\n/\n" % NOBODY)
        self.assertEqual(client.welcome["uid"], NOBODY)

    if os.getuid() != 0:
        test_a_user_without_name_and_home = unittest.skip("needs root to become another user")(
            test_a_user_without_name_and_home)

    def test_nothing_in_the_environment(self):
        client = self.agent(env={}, start={"env": {}}, interpreters=[sys.executable])
        self.works(client)
        self.assertIn("HOME", client.call("environment")["env"])


class DiskTest(PlaceTest):
    """/tmp of its own, without the test's folder; the agent is sought where it always is."""
    START = {"folder": None, "workspace": "/tmp/ws", "state": "/tmp/ws.gpush"}

    def test_nothing_may_be_executed_in_tmp(self):
        client = self.agent(place="mount -t tmpfs -o noexec,mode=1777 tmpfs /tmp", start=self.START)
        self.works(client)
        self.assertEqual(client.run("echo $TMPDIR")[0], b"/tmp/ws.gpush/tmp\n")

    def test_tmp_is_read_only(self):
        client = self.agent(place="mount -t tmpfs -o ro tmpfs /tmp", start=self.START)
        self.works(client)
        self.assertEqual(self.cannot(client), ["no-state"])
        self.assertEqual(client.welcome["cannot"][0]["facts"], {"path": "/tmp/ws.gpush", "errno": "EROFS"})
        self.assertEqual(client.run("echo $TMPDIR")[0], b"\n")
        self.assertEqual(client.call("run.start", run=1, spec=command("/tmp", "true"))["code"], "denied")
        self.release(start={"folder": None})

    def test_all_is_read_only(self):
        every = "; ".join("mount -t tmpfs -o ro tmpfs " + path for path in ("/tmp", "/var/tmp", "/dev/shm"))
        code, said = self.refused(place=every, start=self.START)
        self.assertEqual((code, said["code"], os.path.dirname(said["facts"]["path"])), (96, "no-folder", "/dev/shm"))

    def test_only_dev_shm_is_left_and_without_it_the_rest_goes_on(self):
        two = "mount -t tmpfs -o ro tmpfs /tmp; mount -t tmpfs -o ro tmpfs /var/tmp; mount -t tmpfs tmpfs /dev/shm; chmod 1777 /dev/shm"
        self.works(self.agent(place=two, start=self.START))
        client = self.agent(place="mount -t tmpfs -o ro,size=4k tmpfs /dev/shm", start=dict(self.START, folder=[self.agents]))
        self.works(client)

    def test_tmp_is_full(self):
        full = "mount -t tmpfs -o size=64k,mode=1777 tmpfs /tmp; cat /dev/zero >/tmp/fill 2>/dev/null || true"
        lock = {"path": "/tmp/gpush-gpus/gpu-0", "label": "gpu 0"}
        client = self.agent(place=full, start=dict(self.START, locks=[lock]))
        self.works(client)
        self.assertEqual(client.run("flock -n /tmp/gpush-gpus/gpu-0 true", cwd="/")[2], {"exit": 1})
        self.assertEqual(client.call("run.start", run=1, spec=command("/tmp", "true"))["code"], "no-space")
        client.run("rm /tmp/fill")
        self.foreign.append(client.call("run.start", run=2, spec=command("/tmp", "true"))["pid"])

    def test_tmp_has_no_inodes(self):
        client = self.agent(place="mount -t tmpfs -o nr_inodes=1,mode=1777 tmpfs /tmp", start=self.START)
        self.works(client)
        self.assertEqual(self.cannot(client), ["no-state"])
        self.release(start={"folder": None})


class LimitTest(PlaceTest):
    def test_few_files(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        client = self.agent(preexec_fn=few)
        self.assertEqual(self.cannot(client), ["few-files"])
        client.call("unsaved")
        streams = [client.exec(command="echo up; cat", credit=4096).accepted() for _ in range(40)]
        refused = [stream.refused["code"] for stream in streams if stream.refused]
        self.assertEqual(set(refused), {"limit"})
        doors = []
        while not doors or not doors[-1].refused:       # takes the last descriptors one by one
            doors.append(client.open({"type": "listen-tcp", "host": "127.0.0.1", "port": 0}).accepted())
        self.assertEqual(doors[-1].refused["code"], "limit")
        self.assertEqual(client.call("unsaved")["code"], "limit")
        waiting = self.spawned("control", control={"do": "status"})      # waits at the door until there is room
        until(lambda: b"no-descriptors" in self.log(), what="the one at the door is seen")
        self.assertLess(len(self.log()), 4096)
        self.works_after(client, [stream for stream in streams if not stream.refused])
        out, code, error = after_preamble(waiting)
        self.assertEqual((code, error), (0, ""))
        self.works(client)
        self.assertEqual(client.run("ulimit -n")[0], b"64\n")

    def log(self):
        for root, _, names in os.walk(self.agents):
            if "log" in names:
                with open(os.path.join(root, "log"), "rb") as file:
                    return file.read()

    def works_after(self, client, streams):
        self.assertGreater(len(streams), 5)
        for stream in streams:
            stream.end()
            self.assertEqual((stream.finish(), bytes(stream.out[0])), ({"exit": 0}, b"up\n"))

    @unittest.skipUnless(os.getuid() == 0, "needs root to become another user")
    def test_few_processes(self):
        user = NOBODY + 10000       # its processes are counted: those of an earlier test may still be ending
        for path in (self.base, self.agents):
            os.chown(path, user, user)

        def few(count):
            def become():
                os.setgroups([])
                os.setgid(user)
                resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
                os.setuid(user)
            return become
        python = self.anybodys()
        code, said = self.refused(preexec_fn=few(2), interpreters=python)
        self.assertEqual((code, said["code"], said["facts"]["errno"]), (96, "limit", "EAGAIN"))
        client = self.agent(preexec_fn=few(5), interpreters=python)
        streams = [client.exec(argv=["cat"]).accepted() for _ in range(6)]
        refused = [stream.refused["code"] for stream in streams if stream.refused]
        self.assertEqual(set(refused), {"limit"})
        self.assertEqual(client.call("unsaved")["code"], "limit")
        for stream in streams:
            if not stream.refused:
                stream.end()
                self.assertEqual(stream.finish(), {"exit": 0})
        self.works(client)

    def test_masks(self):
        for umask in (0, 0o077, 0o777):
            self.gang += "x"
            client = self.agent(preexec_fn=lambda: os.umask(umask))
            self.assertEqual(client.run("umask")[0].decode().strip(), "%04o" % umask)
            for root, folders, files in os.walk(self.agents):
                for name in folders + files:
                    mode = os.lstat(os.path.join(root, name)).st_mode & 0o777
                    self.assertEqual(mode & 0o077, 0, name)
                    self.assertEqual(mode & 0o600, 0o600, name)
            client.end()


class InheritedTest(PlaceTest):
    @staticmethod
    def ignore_library_signals():
        """Signals 32 and 33, which posix_spawn() of a JVM leaves ignored; issue 14, line 21."""
        ignored = ctypes.create_string_buffer(struct.pack("P", 1) + bytes(56))
        for number in processes.LIBRARY_SIGNALS:
            ctypes.CDLL(None).syscall(ctypes.c_long(processes.RT_SIGACTION[os.uname().machine]), ctypes.c_long(number), ignored,
                                      ctypes.c_void_p(None), ctypes.c_size_t(processes.KERNEL_SIGSET_BYTES))

    def test_signals_that_the_parent_ignores_or_blocks(self):
        def deaf():
            self.ignore_library_signals()
            for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1])
        client = self.agent(preexec_fn=deaf, restore_signals=False, start={"env": {}})
        self.works(client)
        self.assertEqual(client.call("environment")["source"], "captured")
        for mask in client.run("grep -E 'SigBlk|SigIgn' /proc/self/status")[0].split()[1::2]:
            self.assertEqual(int(mask, 16), 0, mask)
        self.assertEqual(client.run("sleep 60 & kill $!; wait $!; echo $?")[0], b"143\n")
        os.kill(client.welcome["pid"], signal.SIGTERM)
        until(lambda: not alive(client.welcome["pid"]), what="end by SIGTERM")

    def test_standard_error_is_closed(self):
        client = self.agent(preexec_fn=lambda: os.close(2))
        self.works(client)
        self.assertEqual(client.run("echo to the log >&2; echo $?")[1], b"to the log\n")
        process = self.spawned("control", control={"do": "status"}, preexec_fn=lambda: os.close(2))
        self.assertEqual(after_preamble(process)[1], 0)
        self.gang = "nobody"
        process = self.spawned("control", control={"do": "status"}, preexec_fn=lambda: os.close(2))
        self.assertEqual(after_preamble(process)[1:], (94, ""))

    def test_standard_input_or_output_is_closed(self):
        for closed in (0, 1):
            _, code, _ = after_preamble(self.spawned(preexec_fn=lambda: os.close(closed)))
            self.assertEqual(code, 96)
            self.assertEqual(self.agent_pids(), [])


if __name__ == "__main__":
    unittest.main()
