"""Which environment a command gets: that of the first Python that there is, as activating it would set it; nothing is started."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import client  # the path of the agent

from gpush_agent.node import activation, pythons


class ActivateTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gpa")
        self.addCleanup(shutil.rmtree, self.base)

    def python(self, folder, is_environment=True):
        """A folder with bin/python and bin/python3; of an environment, as venv makes it."""
        path = os.path.join(self.base, folder)
        os.makedirs(os.path.join(path, "bin"))
        for name in ("python", "python3"):
            os.symlink(sys.executable, os.path.join(path, "bin", name))
        if is_environment:
            with open(os.path.join(path, "pyvenv.cfg"), "w") as file:
                file.write("home = %s\n" % os.path.dirname(sys.executable))
        return path

    def activated(self, candidates, env, state=None):
        """What changes."""
        after, values, ahead = dict(env), {}, {}
        activation.set_python(candidates, after, state, values, ahead)
        return {name: after.get(name) for name in list(values) + list(ahead)}

    def test_the_first_that_is_there(self):
        own, active, conda = self.python("own"), self.python("active"), self.python("conda", False)
        env = {"PATH": "/usr/bin:/bin", "HOME": self.base, "VIRTUAL_ENV": active}
        broken = os.path.join(self.base, "broken")
        os.makedirs(os.path.join(broken, "bin"))
        os.symlink("/nowhere/python", os.path.join(broken, "bin", "python"))
        for candidates, prefix in (([own, "@venv"], own), ([own + "/bin/python3"], own), (["~/own"], own), (["/nowhere", "@venv"], active),
                                   ([broken, "@venv"], active), (["@conda", "@venv"], active), ([self.base, "@venv"], active)):
            self.assertEqual(self.activated(candidates, env), {"VIRTUAL_ENV": prefix, "PATH": prefix + "/bin:/usr/bin:/bin"})
        for candidates in ([], ["/nowhere"], ["no-such-python", ""], [conda, own], ["~"]):
            self.assertEqual(self.activated(candidates, env), {})
        self.assertEqual(self.activated(["@conda", own], dict(env, CONDA_PREFIX=conda)), {})

    def test_a_name_is_looked_for_on_the_path(self):
        own = self.python("own")
        env = {"PATH": "%s/bin:/usr/bin" % own}
        self.assertEqual(self.activated(["python3"], env), {"VIRTUAL_ENV": own, "PATH": env["PATH"]})
        self.assertEqual(self.activated(["python3"], {"PATH": "/nowhere"}), {})

    def test_one_that_is_named_is_python3_in_any_case(self):
        venv, other = self.python("venv"), self.python("other", False)
        state = os.path.join(self.base, "state")
        env = {"PATH": venv + "/bin:/usr/bin:/bin", "VIRTUAL_ENV": venv}
        self.assertEqual(self.activated([other], env, state), {"PATH": other + "/bin:" + env["PATH"], "VIRTUAL_ENV": None})
        # A version beside others: python3 of its folder is another one.
        os.unlink(other + "/bin/python3")
        with open(other + "/bin/python3", "w") as file:
            file.write("#!/bin/sh\necho other\n")
        os.chmod(other + "/bin/python3", 0o755)
        path = self.activated([other + "/bin/python"], env, state)["PATH"]
        folder = path.split(":")[0]
        self.assertTrue(path.endswith(":%s/bin:%s" % (other, env["PATH"])), path)
        for name in ("python", "python3"):
            said = subprocess.run([os.path.join(folder, name), "-c", "import sys; print(sys.executable)"], stdout=subprocess.PIPE)
            self.assertEqual(said.stdout.decode().strip(), other + "/bin/python")

    def test_a_conda_environment_by_its_path(self):
        conda = self.python("conda", False)
        os.mkdir(os.path.join(conda, "conda-meta"))
        self.assertEqual(self.activated([conda], {"PATH": "/usr/bin:/bin"}),
                         {"PATH": conda + "/bin:/usr/bin:/bin", "CONDA_PREFIX": conda, "CONDA_DEFAULT_ENV": "conda"})

    def test_it_is_what_python_says_of_itself(self):
        own = self.python("own")
        script = "import sys; print(sys.prefix, sys.prefix != sys.base_prefix)"
        said = subprocess.run([own + "/bin/python", "-I", "-c", script], stdout=subprocess.PIPE).stdout.decode().split()
        self.assertEqual((self.activated([own], {}).get("VIRTUAL_ENV"), "True"), tuple(said))


if __name__ == "__main__":
    unittest.main()
