"""The builtin history: a repository that follows the laptop's, and what someone does in it stays."""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, AGENT)

from gpush_agent.files import history  # noqa: E402
from gpush_agent.lifetime import unsaved  # noqa: E402

SLOW = True

BUILTIN = "import sys; sys.path.insert(0, sys.argv[1]); from gpush_agent.files import history; sys.exit(history.main({}, 0, 1))"
MAIN = "refs/heads/main"
LAPTOP = history.LAPTOP


class Folder:
    """A work tree with its own git settings."""

    def __init__(self, path):
        self.path = path
        self.environment = dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)

    def git(self, *words, **more):
        return subprocess.run(["git", "-C", self.path, "-c", "user.name=Ann", "-c", "user.email=ann@example.org"] + list(words),
                              env=self.environment, input=more.get("given"), stdout=subprocess.PIPE, check=True).stdout

    def said(self, *words):
        return self.git(*words).decode().strip()

    def commit(self, name, text):
        with open(os.path.join(self.path, name), "w") as out:
            out.write(text)
        self.git("add", name)
        self.git("commit", "-qm", name + " " + text)
        return self.said("rev-parse", "HEAD")


class Counted(history.Repository):
    """How often it has called git."""
    count = 0

    def call(self, *words, **more):
        self.count += 1
        return super().call(*words, **more)


@unittest.skipIf(shutil.which("git") is None, "there is no git")
class HistoryTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.base)
        self.laptop = Folder(os.path.join(self.base, "laptop"))
        self.node = Folder(os.path.join(self.base, "node"))
        os.mkdir(self.laptop.path)
        os.mkdir(self.node.path)
        self.laptop.git("init", "-q", "-b", "main")

    def ask(self, given=b"", **asked):
        asked.setdefault("root", self.node.path)
        text = json.dumps(asked).encode()
        process = subprocess.run([sys.executable, "-c", BUILTIN, AGENT], env=self.node.environment,
                                 input=struct.pack(">I", len(text)) + text + given, stdout=subprocess.PIPE, check=True)
        return process.stdout if asked["do"] == "give" else json.loads(process.stdout.decode())

    def files(self):
        """As saves bring them."""
        for name in os.listdir(self.node.path):
            if name != ".git":
                os.unlink(os.path.join(self.node.path, name))
        for name in os.listdir(self.laptop.path):
            if name != ".git":
                shutil.copy(os.path.join(self.laptop.path, name), self.node.path)

    def send(self, have=(), **more):
        """What the gateway sends for the laptop's repository as it is now."""
        self.files()
        heads = [line.split() for line in self.laptop.said("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads").splitlines()]
        refs = {"refs/remotes/laptop/" + name[len("refs/heads/"):]: value for value, name in heads}
        revisions = "".join(value + "\n" for value in refs.values()) + "".join("^%s\n" % each for each in have)
        pack = self.laptop.git("pack-objects", "--revs", "--thin", "--stdout", "-q", given=revisions.encode())
        asked = dict(do="take", head=self.laptop.said("symbolic-ref", "HEAD"), tip=self.laptop.said("rev-parse", "HEAD"), refs=refs,
                     shallow=[], exclude=["*.secret"], settings={"user.name": "Ann", "user.email": "ann@example.org"})
        asked.update(more)
        return self.ask(pack, **asked)

    def test_follows_commits_and_branches(self):
        first = self.laptop.commit("a", "1")
        self.assertIs(False, self.ask(do="look")["made"])
        self.assertEqual("", history.stamp(self.node.path))
        answer = self.send()
        self.assertEqual((MAIN, first), (answer["head"], answer["refs"][MAIN]))
        self.assertEqual("", self.node.said("status", "--porcelain"))
        before = history.stamp(self.node.path)

        second = self.laptop.commit("b", "2")
        self.assertEqual(second, self.send([first])["refs"][MAIN])
        self.assertEqual("", self.node.said("status", "--porcelain"))
        self.assertNotEqual(before, history.stamp(self.node.path))
        self.assertEqual("b 2\na 1", self.node.said("log", "--format=%s"))

        self.laptop.git("checkout", "-qb", "other")
        third = self.laptop.commit("a", "3")
        answer = self.send([second])
        self.assertEqual(("refs/heads/other", third), (answer["head"], answer["refs"]["refs/heads/other"]))
        self.assertEqual("", self.node.said("status", "--porcelain"))

    def test_a_rewritten_branch_is_followed(self):
        self.laptop.commit("a", "1")
        second = self.laptop.commit("b", "2")
        self.send()
        self.laptop.git("reset", "-q", "--hard", "HEAD~1")
        rewritten = self.laptop.commit("b", "other")

        self.assertEqual(rewritten, self.send([second])["refs"][MAIN])
        self.assertEqual("", self.node.said("status", "--porcelain"))

    def test_a_branch_that_becomes_a_folder_is_followed(self):
        first = self.laptop.commit("a", "1")
        self.laptop.git("branch", "dev")
        self.laptop.git("checkout", "-qb", "fix")
        self.send()
        self.laptop.git("branch", "-m", "fix", "fix/a")
        self.laptop.git("branch", "-m", "dev", "dev/b")
        second = self.laptop.commit("b", "2")

        answer = self.send([first])
        self.assertEqual(("refs/heads/fix/a", second), (answer["head"], answer["refs"].get("refs/heads/fix/a")))
        self.assertEqual({"main": first, "dev/b": first, "fix/a": second},
                         {name[len(LAPTOP):]: value for name, value in answer["refs"].items() if name.startswith(LAPTOP)})
        self.assertEqual("", self.node.said("status", "--porcelain"))

    def test_and_stays_while_it_has_commits_of_its_own(self):
        first = self.laptop.commit("a", "1")
        self.laptop.git("checkout", "-qb", "fix")
        self.send()
        made = self.node.commit("here", "1")
        self.laptop.git("branch", "-m", "fix", "fix/a")

        self.assertEqual("its branch fix is in the way of fix/a", self.send([first])["stopped"])
        answer = self.ask(do="look")
        self.assertEqual(("refs/heads/fix", made), (answer["head"], answer["refs"]["refs/heads/fix"]))
        self.assertEqual(first, answer["refs"][LAPTOP + "fix/a"])

    def test_a_branch_that_was_made_here_is_never_deleted(self):
        first = self.laptop.commit("a", "1")
        self.send()
        self.node.git("branch", "fix/before")
        self.laptop.git("checkout", "-qb", "fix")
        second = self.laptop.commit("b", "2")

        self.assertEqual("its branch fix/before is in the way of fix", self.send([first])["stopped"])
        self.assertEqual(first, self.node.said("rev-parse", "fix/before"))
        answer = self.ask(do="look")
        self.assertEqual((MAIN, first), (answer["head"], answer["refs"][MAIN]))
        self.assertIn("b", self.node.said("status", "--porcelain"))
        self.send([second])
        self.assertEqual(answer["stamp"], history.stamp(self.node.path))
        self.node.git("branch", "-D", "fix/before")
        self.assertEqual(("refs/heads/fix", second), (self.send([second])["head"], self.node.said("rev-parse", "HEAD")))

    def test_a_tag_that_was_made_here_stops_no_other_ref(self):
        first = self.laptop.commit("a", "1")
        self.send()
        self.node.git("tag", "best")
        self.node.git("tag", "old/run")
        second = self.laptop.commit("b", "2")
        refs = {LAPTOP + "main": second, "refs/tags/best/run": second, "refs/tags/old": second, "refs/tags/new": second}

        answer = self.send([first], refs=refs)
        self.assertEqual(second, answer["refs"][MAIN])
        self.assertEqual({"best": first, "old/run": first, "new": second},
                         {name[len("refs/tags/"):]: value for name, value in answer["refs"].items() if name.startswith("refs/tags/")})

    def test_commits_made_here_stay_and_can_be_had(self):
        first = self.laptop.commit("a", "1")
        self.send()
        made = self.node.commit("here", "1")

        second = self.laptop.commit("b", "2")
        answer = self.send([first])
        self.assertEqual((MAIN, made), (answer["head"], answer["refs"][MAIN]))
        self.assertEqual(second, answer["refs"]["refs/remotes/laptop/main"])

        pack = self.ask(do="give", want=[made], have=[first])
        self.laptop.git("unpack-objects", "-q", "--strict", given=pack)
        self.laptop.git("merge", "-q", "-m", "merged", made)
        merged = self.laptop.said("rev-parse", "HEAD")
        self.assertEqual(merged, self.send([second, made])["refs"][MAIN])
        self.assertEqual("", self.node.said("status", "--porcelain"))

    def test_a_branch_chosen_here_stays(self):
        first = self.laptop.commit("a", "1")
        self.send()
        self.node.git("checkout", "-qb", "mine")
        second = self.laptop.commit("b", "2")

        answer = self.send([first])
        self.assertEqual(("refs/heads/mine", first), (answer["head"], answer["refs"]["refs/heads/mine"]))
        self.assertEqual(second, answer["refs"]["refs/remotes/laptop/main"])
        self.node.git("checkout", "-q", "-f", "main")
        self.assertEqual(second, self.send([second])["refs"][MAIN])

    def test_what_was_added_here_stays(self):
        first = self.laptop.commit("a", "1")
        self.send()
        with open(os.path.join(self.node.path, "new"), "w") as out:
            out.write("new\n")
        self.node.git("add", "new")
        self.laptop.commit("b", "2")

        self.assertEqual("b 2", self.send([first]) and self.node.said("log", "-1", "--format=%s"))
        self.assertIn("new", self.node.said("diff", "--cached", "--name-only"))

    def test_a_commit_made_at_the_same_moment_stays(self):
        first = self.laptop.commit("a", "1")
        self.send()
        second = self.laptop.commit("b", "2")
        self.files()
        pack = self.laptop.git("pack-objects", "--revs", "--stdout", "-q", given=("%s\n^%s\n" % (second, first)).encode())
        self.node.git("unpack-objects", "-q", given=pack)
        repository = history.Repository(self.node.path)
        made, move = [], repository.index

        def commits(old, new):
            made.append(self.node.commit("here", "1"))
            move(old, new)

        repository.index = commits
        with self.assertRaises(history.Stopped):
            repository.follow({"head": MAIN, "tip": second}, repository.written())
        self.assertEqual(made, [self.node.said("rev-parse", MAIN)])
        self.assertEqual("", self.node.said("diff", "--cached", "--name-only"))

    def test_a_repository_of_someone_else_is_left_alone(self):
        self.laptop.commit("a", "1")
        self.node.git("init", "-q", "-b", "main")
        self.assertIn("of its own", self.ask(do="look")["stopped"])
        self.assertIn("of its own", self.send()["stopped"])
        self.assertEqual(b"", self.node.git("for-each-ref"))

    def test_a_pack_that_is_cut_off_changes_nothing(self):
        first = self.laptop.commit("a", "1")
        self.send()
        second = self.laptop.commit("b", "2")
        pack = self.laptop.git("pack-objects", "--revs", "--stdout", "-q", given=("%s\n^%s\n" % (second, first)).encode())
        asked = dict(do="take", head=MAIN, tip=second, refs={"refs/remotes/laptop/main": second}, shallow=[], exclude=[], settings={},
                     pack=True)
        for end in (0, 4, 11, 20, len(pack) - 1):
            self.assertIn("stopped", self.ask(pack[:end], **asked))
            self.assertEqual(first, self.ask(do="look")["refs"][MAIN])
        many = pack[:8] + struct.pack(">I", 1000) + pack[12:]
        self.assertIn("stopped", self.ask(many, **asked))
        self.assertEqual([], glob.glob(os.path.join(self.node.path, ".git", "objects", "pack", "tmp_*")))
        self.assertEqual(second, self.ask(pack, **asked)["refs"][MAIN])

    def test_without_git(self):
        self.laptop.commit("a", "1")
        self.node.environment["PATH"] = self.base
        self.assertEqual("it has no git", self.ask(do="look")["stopped"])
        self.assertEqual([], os.listdir(self.node.path))

    def test_remote_branches_that_were_fetched_here_stay(self):
        first = self.laptop.commit("a", "1")
        self.send(refs={"refs/remotes/laptop/main": first, "refs/remotes/origin/main": first})
        made = self.node.commit("here", "1")
        self.node.git("update-ref", "refs/remotes/origin/main", made)
        answer = self.send([first], refs={"refs/remotes/laptop/main": first})
        self.assertEqual(made, answer["refs"]["refs/remotes/origin/main"])

    def test_is_not_lost_work(self):
        self.laptop.commit("a", "1")
        self.send()
        names = unsaved.look(self.node.path, None)["paths"]
        self.assertEqual(["a"], names)


    def test_goes_when_every_commit_is_on_the_laptop(self):
        first = self.laptop.commit("a", "1")
        self.send()
        made = self.node.commit("here", "1")
        history.remove(self.node.path)
        self.assertEqual(made, self.ask(do="look")["refs"][MAIN])

        self.ask(do="look", home=[made])
        self.node.git("checkout", "-q", "--detach")
        detached = self.node.commit("here", "2")
        history.remove(self.node.path)
        self.assertEqual(detached, self.ask(do="look", home=[made, detached])["head"])

        history.remove(self.node.path)
        self.assertEqual(["a", "here"], sorted(os.listdir(self.node.path)))
        self.assertNotEqual(first, made)

    def stash(self, text):
        with open(os.path.join(self.node.path, "a"), "w") as out:
            out.write(text)
        self.node.git("stash", "-q")
        return self.node.said("rev-parse", "refs/stash")

    def test_stays_while_the_laptop_lacks_a_stash_below_the_newest(self):
        self.laptop.commit("a", "1")
        self.send()
        first, second = self.stash("2"), self.stash("3")
        answer = self.ask(do="look", home=[second])
        self.assertEqual({"stash-" + first[:10]: first}, answer["apart"])
        self.assertFalse(history.is_brought(self.node.path))
        self.ask(do="look", home=[first, second])
        self.assertTrue(history.is_brought(self.node.path))

    def test_and_a_commit_that_only_a_tag_has(self):
        self.laptop.commit("a", "1")
        self.laptop.git("tag", "ours")
        self.send(refs={"refs/remotes/laptop/main": self.laptop.said("rev-parse", "main"),
                        "refs/tags/ours": self.laptop.said("rev-parse", "ours")})
        self.node.git("tag", "at-home")
        self.node.git("checkout", "-q", "--detach")
        made = self.node.commit("here", "1")
        self.node.git("tag", "-m", "of the best run", "best/run")
        self.node.git("checkout", "-q", "main")
        self.assertEqual({"tags/best/run": made}, self.ask(do="look")["apart"])
        self.assertFalse(history.is_brought(self.node.path))
        self.ask(do="look", home=[made])
        self.assertTrue(history.is_brought(self.node.path))

    def test_many_tags_cost_no_more_than_one(self):
        self.laptop.commit("a", "1")
        self.send()
        self.node.git("tag", "tree", "HEAD^{tree}")
        self.node.git("tag", "-m", "there", "there")
        self.node.git("tag", "-m", "of a tag", "again", "there")
        self.node.git("checkout", "-q", "--detach")
        made = self.node.commit("here", "1")
        self.node.git("tag", "here")
        counted = Counted(self.node.path)
        self.assertEqual({"tags/here": made}, counted.apart())
        count = counted.count
        for at in range(50):
            self.node.git("tag", "here-%d" % at)

        self.assertEqual(51, len(counted.apart()))
        self.assertEqual(2 * count, counted.count)

    def test_a_repository_that_only_follows_goes(self):
        self.laptop.commit("a", "1")
        self.send()
        history.remove(self.node.path)
        self.assertEqual(["a"], os.listdir(self.node.path))


if __name__ == "__main__":
    unittest.main()
