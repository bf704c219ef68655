"""Which environment a command gets: that of the first Python that there is, as activating it would set it; nothing is started."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import client  # the path of the agent

from gpush_agent.runs import ranks


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

    def test_the_first_that_is_there(self):
        own, active, conda = self.python("own"), self.python("active"), self.python("conda", False)
        env = {"PATH": "/usr/bin:/bin", "HOME": self.base, "VIRTUAL_ENV": active}
        broken = os.path.join(self.base, "broken")
        os.makedirs(os.path.join(broken, "bin"))
        os.symlink("/nowhere/python", os.path.join(broken, "bin", "python"))
        for candidates, prefix in (([own, "@venv"], own), ([own + "/bin/python3"], own), (["~/own"], own), (["/nowhere", "@venv"], active),
                                   ([broken, "@venv"], active), (["@conda", "@venv"], active), ([self.base, "@venv"], active)):
            self.assertEqual(ranks.activate(candidates, env), {"VIRTUAL_ENV": prefix, "PATH": prefix + "/bin:/usr/bin:/bin"})
        for candidates in ([], ["/nowhere"], ["no-such-python", ""], [conda, own], ["~"]):
            self.assertEqual(ranks.activate(candidates, env), {})
        self.assertEqual(ranks.activate(["@conda", own], dict(env, CONDA_PREFIX=conda)), {})

    def test_a_name_is_looked_for_on_the_path(self):
        own = self.python("own")
        env = {"PATH": "%s/bin:/usr/bin" % own}
        self.assertEqual(ranks.activate(["python3"], env), {"VIRTUAL_ENV": own, "PATH": env["PATH"]})
        self.assertEqual(ranks.activate(["python3"], {"PATH": "/nowhere"}), {})

    def test_it_is_what_python_says_of_itself(self):
        own = self.python("own")
        script = "import sys; print(sys.prefix, sys.prefix != sys.base_prefix)"
        said = subprocess.run([own + "/bin/python", "-I", "-c", script], stdout=subprocess.PIPE).stdout.decode().split()
        self.assertEqual((ranks.activate([own], {}).get("VIRTUAL_ENV"), "True"), tuple(said))


if __name__ == "__main__":
    unittest.main()
