"""The provider's scripts are read by a rank's own shell: with each shell, with values and names that a shell could take apart."""
import os
import shutil
import subprocess
import tempfile
import unittest

import client  # the path of the agent

from gpush_agent.core.refused import Refused
from gpush_agent.runs import ranks

SHOW = ["/usr/bin/env", "-0"]


class SourceTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gpa")
        self.addCleanup(shutil.rmtree, self.base)
        self.shells = ranks.SHELLS
        self.addCleanup(setattr, ranks, "SHELLS", self.shells)

    def script(self, name, text):
        path = os.path.join(self.base, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def after(self, paths, keep, env, argv=SHOW):
        """(environment of the program, what was said on stderr) with the first shell."""
        argv = ranks.sourced({"source": {"paths": paths, "keep": keep}}, env, argv)
        done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(each.split("=", 1) for each in done.stdout.decode().split("\0") if each), done.stderr.decode()

    def test_what_is_kept_wins_and_the_rest_is_the_scripts(self):
        one = self.script("one.sh", 'export A=script B=script LD_LIBRARY_PATH=/opt/x:$LD_LIBRARY_PATH DIR="$NCCL_LIB_DIR"\n')
        two = self.script("two.sh", "export C=$B B=two\n")
        odd = "a b\n'\"$HOME`id`\\ *"
        env = {"PATH": "/usr/bin:/bin", "A": odd, "B": "mine", "LD_LIBRARY_PATH": "/usr/l", "UID": "7"}
        for shell in ("/bin/bash", "/bin/sh"):
            ranks.SHELLS = (shell,)
            found, said = self.after([one, two], ["A", "UID", "UNSET"], env)
            self.assertEqual([found.get(name) for name in ("A", "B", "C", "LD_LIBRARY_PATH", "DIR", "UNSET")],
                             [odd, "two", "script", "/opt/x:/usr/l", self.base, None])
            self.assertEqual(said, "")

    def test_a_script_that_is_gone_is_named_and_the_program_starts(self):
        found, said = self.after([self.base + "/gone.sh"], [], {"PATH": "/usr/bin:/bin"})
        self.assertEqual(said, "gpush: cannot read %s/gone.sh\n" % self.base)
        self.assertIn("PATH", found)

    def test_the_program_gets_its_words_as_they_are(self):
        script = self.script("s.sh", "export A=1\n")
        words = ["a b", "", "*", "-x", "$A"]
        argv = ranks.sourced({"source": {"paths": [script], "keep": []}}, {}, ["/usr/bin/printf", "[%s]"] + words)
        self.assertEqual(subprocess.check_output(argv).decode(), "".join("[%s]" % word for word in words))

    def test_no_value_is_an_argument(self):
        argv = ranks.sourced({"source": {"paths": ["/s.sh"], "keep": ["KEY"]}}, {"KEY": "hidden"}, SHOW)
        self.assertNotIn("hidden", " ".join(argv))
        self.assertEqual(ranks.sourced({}, {}, SHOW), SHOW)

    def test_what_a_shell_would_take_apart_is_refused(self):
        spec = {"mode": "ranks", "python": "python3", "program": ["x.py"], "procs": 1, "cwd": "/", "outputs": "/o", "nodes": 1, "node_rank": 0,
                "world": 1, "first_rank": 0, "master": {"addr": "a", "port": 1}, "slots": []}
        ranks.check(dict(spec, source={"paths": ["/usr/local/gib/scripts/set_nccl_env.sh"], "keep": ["NCCL_NET"]}))
        for source in ({"paths": []}, {"paths": ["x.sh"]}, {"paths": ["/a;b"]}, {"paths": ["/a b"]}, {"paths": ["/a"], "keep": ["A;id"]},
                       {"paths": ["/a"], "keep": ["1"]}, {"paths": ["/a"], "keep": "A"}, []):
            with self.assertRaises(Refused):
                ranks.check(dict(spec, source=source))


if __name__ == "__main__":
    unittest.main()
