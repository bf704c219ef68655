"""One environment of the session: the same in commands, login shells, terminals and runs, whatever profiles do; made again when
what it comes from changes; and a failure of it is no failure of a login."""
import json
import os
import subprocess
import sys
import unittest

import client as clients
from client import until
from node import NodeTest, command

from gpush_agent.node import activation, profiles

SLOW = True

SHOW = "import json, os, sys; print('<<' + json.dumps([sys.executable, os.environ.get('EXTRA'), sys.path]) + '>>')"
PTY = {"term": "xterm", "columns": 200, "rows": 50}


def shown(output):
    return json.loads(output.decode("utf-8", "replace").rpartition("<<")[2].partition(">>")[0])


class EnvironmentTest(NodeTest):
    def setUp(self):
        super().setUp()
        self.workspace = os.path.join(self.base, "ws")
        os.mkdir(self.workspace)
        self.venv = os.path.join(self.base, "venv")
        subprocess.check_call([sys.executable, "-m", "venv", "--without-pip", self.venv])
        # A profile as Debian's: it forgets PATH; and one that activates something else, as conda's `auto_activate_base`.
        self.write(".bash_profile", "PATH=/usr/local/bin:/usr/bin:/bin; [ -f ~/.bashrc ] && . ~/.bashrc\n")

    def write(self, name, text, folder=None):
        path = os.path.join(folder or self.base, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def bash(self, shell="/bin/bash", **more):
        """A client of an agent whose user has bash, or another login shell."""
        return self.client(extra={"core/processes": clients.text("core/processes.py").replace(
            "name, home, shell = entry.pw_name, entry.pw_dir, entry.pw_shell", "name, home, shell = entry.pw_name, %r, %r"
            % (self.base, shell))}, **more)

    def place(self, key, path, **more):
        return dict({"key": "mounts." + key, "path": path, "variable": "GPUSH_" + key.upper()}, **more)

    def test_data_is_found_by_name_everywhere(self):
        client = self.bash()
        os.mkdir(os.path.join(self.base, "c4"))
        said = client.call("environment.use", data=[self.place("data", "~/c4"), self.place("more", "${HOME}/c4")])

        self.assertIsNone(said["problem"])
        self.assertEqual(client.run("echo $GPUSH_DATA $GPUSH_MORE")[0].split(), [os.path.join(self.base, "c4").encode()] * 2)

    def test_data_that_is_not_there_is_named_until_it_is(self):
        client = self.bash()
        missing = os.path.join(self.base, "c4")
        self.assertEqual(client.call("environment.use", data=[self.place("data", "~/c4")])["problem"],
                         {"what": "mounts.data", "because": missing + " does not exist on the node"})
        self.assertEqual(client.run("echo $GPUSH_DATA")[0].strip(), missing.encode())      # it may be made in this shell

        os.mkdir(missing)
        self.assertIsNone(client.call("environment.use", data=[self.place("data", "~/c4")])["problem"])

    def test_a_volume_must_be_mounted(self):
        client = self.bash()
        problem = client.call("environment.use", data=[dict(self.place("data", self.base, volume="pvc/d", mount=self.base))])["problem"]

        self.assertEqual(problem["what"], "mounts.data")
        self.assertIn("pvc/d is not mounted", problem["because"])
        self.assertIsNone(client.call("environment.use", data=[self.place("data", "/proc/self", volume="pvc/p", mount="/proc")])["problem"])
        self.assertIn("/proc/none does not exist in pvc/p", client.call(
            "environment.use", data=[self.place("data", "/proc/none", volume="pvc/p", mount="/proc")])["problem"]["because"])
        self.assertIsNone(client.call("environment.use", data=[{"key": "outputs", "path": "/proc/none", "volume": "pvc/p", "mount": "/proc"}])["problem"])

    def test_a_home_that_was_chosen(self):
        """It gets the startup files of the one it replaces, once."""
        home = os.path.join(self.base, "volume", "ann")
        self.write(".bashrc", "export FROM=image\n")
        client = self.bash(home=home, env_over={"HOME": home})

        self.assertEqual(client.run("cd; pwd; echo $HOME")[0].split(), [home.encode()] * 2)
        with open(os.path.join(home, ".bashrc")) as file:
            self.assertEqual(file.read(), "export FROM=image\n")
        self.assertEqual(os.stat(home).st_mode & 0o777, 0o700)

    def everywhere(self, client):
        """Name of a place -> what Python says there."""
        line = "python3 -c \"%s\"" % SHOW.replace('"', '\\"')
        found = {"command": client.run(line), "ssh": client.run(line, env={"SSH_CLIENT": "::1 1 2"}),
                 "login in ssh": client.run("bash -lc '%s'" % line.replace("'", "'\\''"), env={"SSH_CLIENT": "::1 1 2"}), "login": client.run("bash -lc '%s'" % line.replace("'", "'\\''")),
                 "argv": client.run(None, argv=["python3", "-c", SHOW])}
        for name, options in (("shell", {}), ("terminal", {"pty": PTY})):
            shell = client.exec(**options)
            shell.accepted().send((line + "; exit\n").encode())
            shell.finish()
            found[name] = [bytes(shell.out[0])]
        bash = client.exec(command="bash -l")       # as editors begin
        bash.accepted().send((line + "\n").encode())
        bash.end()
        bash.finish()
        found["bash -l"] = [bytes(bash.out[0])]
        values = {name: shown(answer[0]) for name, answer in found.items()}
        spec = command(self.workspace, line)
        client.call("run.start", run=len(self.runs), spec=spec)
        self.runs.append(spec)
        until(lambda: client.call("run.status", run=len(self.runs) - 1)["exit"], what="the end of the run")
        values["rank"] = self.journal(len(self.runs) - 1)
        return values

    runs = [None]

    def journal(self, run):
        folder = os.path.join(self.base, "ws.gpush", "runs", str(run))
        for root, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(root, name), "rb") as file:
                    data = file.read()
                if b"<<[" in data and b"spec" not in name.encode():
                    return shown(data)
        self.fail("no output below " + folder)

    def same(self, client, executable, extra=None):
        found = self.everywhere(client)
        self.assertEqual({name: value[:2] for name, value in found.items()}, {name: [executable, extra] for name in found})
        self.assertEqual(len({json.dumps(value[2]) for value in found.values()}), 1, found)

    def test_a_venv_is_the_same_everywhere(self):
        client = self.bash()
        self.assertEqual(client.call("environment.use", candidates=[self.venv], env={"EXTRA": "one"}), {"problem": None})
        self.same(client, self.venv + "/bin/python3", "one")

    def test_a_rc_file_that_activates_another_one_does_not_win(self):
        self.write(".bashrc", "export PATH=/opt/other:$PATH VIRTUAL_ENV=/opt/other\nPROMPT_COMMAND=\"true; $PROMPT_COMMAND\"\n")
        client = self.bash()
        client.call("environment.use", candidates=[self.venv])
        self.same(client, self.venv + "/bin/python3")

    def test_an_ssh_command_reads_the_rc_file_as_under_sshd(self):
        self.write(".bashrc", "export PATH=/opt/other:$PATH; RC=1\n")
        client = self.bash()
        client.call("environment.use", candidates=[self.venv])
        said = client.run("echo $RC $SSH_CLIENT $PATH; env | grep -c GPUSH_SSH", env={"SSH_CLIENT": "::1 1 2"})[0].decode().splitlines()
        self.assertTrue(said[0].startswith("1 ::1 1 2 %s/bin:/opt/other:" % self.venv), said)
        self.assertEqual(said[1], "0")
        # VS Code's server asks no login shell then.
        self.assertEqual(client.run("echo $VSCODE_CLI", env={"SSH_CLIENT": "::1 1 2"})[0], b"1\n")
        self.assertEqual(client.run("echo $VSCODE_CLI")[0], b"\n")

    def test_what_a_user_chose_in_a_terminal_stays(self):
        other = os.path.join(self.base, "other")
        subprocess.check_call([sys.executable, "-m", "venv", "--without-pip", other])
        client = self.bash()
        client.call("environment.use", candidates=[self.venv])
        shell = client.exec(pty=PTY)
        shell.accepted().send((". %s/bin/activate\n(exit 3)\necho is $? here\nbash\npython3 -c \"%s\"\nexit\nexit\n" % (other, SHOW)).encode())
        shell.finish()
        self.assertEqual(shown(bytes(shell.out[0]))[0], other + "/bin/python3")
        self.assertIn(b"is 3 here", bytes(shell.out[0]))

    def test_a_file_is_read_once_and_again_when_it_changes(self):
        path = self.write("env.sh", "echo noise; echo x >> %s/count\nexport EXTRA=one PATH=%s/bin:$PATH\n" % (self.base, self.venv),
                          self.workspace)
        client = self.bash()
        for _ in range(2):
            self.assertEqual(client.call("environment.use", file="env.sh"), {"problem": None})
        self.same(client, self.venv + "/bin/python3", "one")
        with open(os.path.join(self.base, "count")) as file:
            self.assertEqual(file.read(), "x\n")
        self.write(path, "export EXTRA=another PATH=%s/bin:$PATH\n" % self.venv)
        client.call("environment.use", file="env.sh")
        self.same(client, self.venv + "/bin/python3", "another")

    def test_a_failure_is_said_on_terminals_and_nowhere_else(self):
        client = self.bash()
        problem = client.call("environment.use", file="missing.sh")["problem"]
        self.assertEqual(problem["what"], "missing.sh")
        self.assertIn("does not exist", problem["because"])
        self.assertEqual(client.run("echo fine"), (b"fine\n", b"", {"exit": 0}))
        self.assertIn(b"gpush: the environment of this session is not active: missing.sh:", client.run("echo fine", pty=PTY)[0])
        self.write("missing.sh", "export EXTRA=there\n", self.workspace)
        self.assertEqual(client.call("environment.use", file="missing.sh"), {"problem": None})
        self.assertEqual(client.run("echo $EXTRA")[0], b"there\n")

    def test_a_python_that_is_missing_is_said_on_terminals(self):
        client = self.bash()
        client.call("environment.use", candidates=["/nowhere/bin/python"])
        self.assertEqual(client.run("echo fine"), (b"fine\n", b"", {"exit": 0}))
        self.assertIn(b"gpush: the Python of this session is not on this node: /nowhere/bin/python", client.run("true", pty=PTY)[0])
        self.assertNotIn(b"gpush:", client.run("true")[1])

    def test_conda_by_its_name(self):
        """With conda's shell function as its own script defines it: this machine has no conda."""
        prefix = os.path.join(self.base, "miniforge3", "envs", "llm")
        os.makedirs(os.path.join(self.base, "miniforge3", "etc", "profile.d"))
        os.makedirs(os.path.join(prefix, "conda-meta"))
        os.symlink(self.venv + "/bin", os.path.join(prefix, "bin"))
        self.write("conda.sh", 'conda() { [ "$2" = llm ] || { echo "no environment $2"; return 1; }; export CONDA_PREFIX=%s EXTRA=conda '
                               'PATH=%s/bin:$PATH; }\n' % (prefix, prefix), os.path.join(self.base, "miniforge3/etc/profile.d"))
        client = self.bash()
        self.assertEqual(client.call("environment.use", conda="llm", candidates=["@conda"]), {"problem": None})
        self.same(client, prefix + "/bin/python3", "conda")
        self.assertEqual(client.call("environment.use", conda="gone", candidates=["@conda"])["problem"],
                         {"what": "conda gone", "because": "no environment gone"})
        self.assertEqual(client.run("echo fine")[0], b"fine\n")

    def test_modules(self):
        """With a module function as a profile defines it: this machine has no modules."""
        with open(os.path.join(self.base, ".bash_profile"), "a") as file:
            file.write('module() { case $2 in cuda) export EXTRA=cuda LD_LIBRARY_PATH=/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH};; '
                       '*) echo "ERROR: no module $2" >&2;; esac; }\n')
        client = self.bash()
        self.assertEqual(client.call("environment.use", modules=["cuda"], candidates=[self.venv]), {"problem": None})
        self.same(client, self.venv + "/bin/python3", "cuda")
        self.assertEqual(client.run("echo $LD_LIBRARY_PATH", env={"LD_LIBRARY_PATH": "/mine"})[0], b"/cuda:/mine\n")
        self.assertEqual(client.call("environment.use", modules=["cuda", "gone"])["problem"],
                         {"what": "modules cuda gone", "because": "ERROR: no module gone"})

    @unittest.skipUnless(os.access("/usr/bin/zsh", os.X_OK), "this machine has no zsh")
    def test_zsh_as_login_shell(self):
        """It begins with the environment, what it runs has no other byte, and its own files may change it afterwards."""
        self.write(".zshrc", "EXTRA=changed\n")
        self.write("env.sh", "export EXTRA=one\n", self.workspace)
        client = self.bash("/usr/bin/zsh")
        self.assertEqual(client.call("environment.use", candidates=[self.venv], file=os.path.join(self.workspace, "env.sh")), {"problem": None})
        self.assertEqual(client.run("echo $0 $EXTRA; command -v python3")[0].decode().split(), ["zsh", "one", self.venv + "/bin/python3"])
        for options, expected in (({}, "one"), ({"pty": PTY}, "changed")):
            shell = client.exec(**options)
            shell.accepted().send(b"echo '<<'$EXTRA $(command -v python3)'>>'; exit\n")
            shell.finish()
            said = bytes(shell.out[0]).decode().rpartition("<<")[2].partition(">>")[0]
            self.assertEqual(said, expected + " " + self.venv + "/bin/python3")

    def test_what_lmod_says_of_a_module_that_is_not_there(self):
        """Lmod 8.6 of Debian 12, word for word."""
        said = ('Lmod has detected the following error: The following module(s) are unknown:\n"gone/2"\n\nPlease check the spelling or version '
                'number. Also try "module spider ..."\n\nAlso make sure that all modulefiles written in TCL start with the string\n#%Module\n\n\n')
        with open(os.path.join(self.base, ".bash_profile"), "a") as file:
            file.write("module() { printf %%s '%s' >&2; return 1; }\n" % said)
        self.assertEqual(self.bash().call("environment.use", modules=["gone/2"])["problem"],
                         {"what": "modules gone/2", "because": 'The following module(s) are unknown: "gone/2"'})

    def test_a_file_that_hangs_or_exits(self):
        self.write("exits.sh", "echo as the file wants; exit 0\n", self.workspace)
        client = self.bash()
        self.assertEqual(client.call("environment.use", file="exits.sh")["problem"],
                         {"what": "exits.sh", "because": "as the file wants"})
        self.write("hangs.sh", "sleep 1000\n", self.workspace)
        hanging = self.client(node=1, state=os.path.join(self.base, "other.gpush"), extra={"node/activation": clients.text(
            "node/activation.py").replace("SECONDS = 120.0", "SECONDS = 0.5")})
        self.assertIn("took longer", hanging.call("environment.use", file="hangs.sh")["problem"]["because"])
        self.assertEqual(hanging.run("echo fine")[0], b"fine\n")

    def test_bad_requests_are_refused(self):
        client = self.bash()
        for spec in ({"candidates": "x"}, {"modules": [1]}, {"conda": 1}, {"file": ["x"]}, {"env": {"a=b": "c"}}, {"env": {"a": 1}}):
            self.assertEqual(client.call("environment.use", **spec).get("code"), "bad-request")


class DifferenceTest(unittest.TestCase):
    def test_lists_keep_what_others_put_there(self):
        for before, after, there, result in (
                ("a:b", "x:a:b", "c:a:b", "x:c:a:b"), ("a:b", "a:b:y", "a:b:c", "a:b:c:y"), ("base:a", "llm:a", "base:a", "llm:a"),
                ("a:b", "b:a", "c:a:b", "b:c:a"), ("", "x", "", "x"), ("a:b", "x:a:y:b", "a:b", "x:a:b:y")):
            env = {"PATH": there}
            activation.apply(activation.difference({"PATH": before}, {"PATH": after}), env, (), {}, {})
            self.assertEqual(env["PATH"], result)

    def test_what_is_set_and_unset(self):
        change = activation.difference({"A": "1", "B": "2", "SHLVL": "1"}, {"A": "2", "SHLVL": "2", "CUDA_PATH": "/c"})
        env = {"A": "0", "B": "2", "D": "4"}
        activation.apply(change, env, (), {}, {})
        self.assertEqual(env, {"A": "2", "D": "4", "CUDA_PATH": "/c"})
        env = {"A": "0", "B": "2"}
        activation.apply(change, env, ("A", "B"), {}, {})
        self.assertEqual(env, {"A": "0", "B": "2", "CUDA_PATH": "/c"})


class HookTest(NodeTest):
    def test_values_that_a_shell_could_take_apart(self):
        odd = "a b'\"$HOME`id`\\ *%s"
        env = {"PATH": odd + ":/usr/bin:/bin", "ODD": odd, "HOME": self.base}
        profiles.keep(env, {"ODD": odd, "NONE": None}, {"PATH": [odd]}, os.path.join(self.base, "st 'ate"))
        with open(os.path.join(self.base, ".bash_profile"), "w") as file:
            file.write("PATH=/bin:/usr/bin ODD=; export NONE=1\n")
        output = subprocess.check_output(["/bin/bash", "-lc", "/usr/bin/env -0"], env=env)
        after = dict(each.split("=", 1) for each in output.decode().split("\0") if each)
        self.assertEqual((after["ODD"], after["PATH"], after.get("NONE")), (odd, odd + ":/bin:/usr/bin", None))

    def test_another_file_of_bash_is_read_as_well(self):
        with open(os.path.join(self.base, "mine"), "w") as file:
            file.write("MINE=1\n")
        env = {"PATH": "/x:/usr/bin:/bin", "HOME": self.base, "BASH_ENV": os.path.join(self.base, "mine")}
        profiles.keep(env, {}, {"PATH": ["/x"]}, self.base)
        for options in ("-c", "-lc"):
            self.assertEqual(subprocess.check_output(["/bin/bash", options, "echo $MINE ${PATH%%:*}"], env=env), b"1 /x\n")

    def test_a_terminal_of_an_editor_has_it_though_the_editor_took_it_away(self):
        """VS Code puts its own folder in front of what `bash -ilc` said, and its own function into the prompt."""
        env = {"PATH": "/x:/usr/bin:/bin", "ONE": "1", "HOME": self.base}
        profiles.keep(env, {"ONE": "1", "NONE": None}, {"PATH": ["/x"]}, self.base)
        with open(os.path.join(self.base, ".bashrc"), "w") as file:
            file.write("case $EDITOR_PROMPT in ?*) before=$PROMPT_COMMAND; own() { eval \"$before\"; }; PROMPT_COMMAND=own ;; esac\n")
        show = "echo \"$PATH $ONE ${NONE-none}\""

        def shows(below="", **more):
            typed = "%s\n%s\nexit\n" % (show, below)
            return subprocess.check_output(["/bin/bash", "-i"], env=dict(env, **more), input=typed.encode(), stderr=subprocess.PIPE).decode()

        self.assertEqual(shows(PATH="/cli:/usr/bin:/bin", ONE="", NONE="1", EDITOR_PROMPT="1"), "/x:/cli:/usr/bin:/bin 1 none\n")
        self.assertEqual(shows(PATH="/cli:/x:/usr/bin"), "/cli:/x:/usr/bin 1 none\n")
        self.assertEqual(shows("PATH=/mine:/usr/bin:/bin ONE=2 bash -i <<<'%s'" % show).splitlines()[-1], "/mine:/usr/bin:/bin 2 none")
        below = shows("env -u EDITOR_PROMPT bash -i <<<'echo [$PROMPT_COMMAND] $PATH'", EDITOR_PROMPT="1", PATH="/cli:/usr/bin")
        self.assertEqual(below.splitlines()[-1], "[] /x:/cli:/usr/bin")


if __name__ == "__main__":
    unittest.main()
