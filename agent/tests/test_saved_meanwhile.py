"""A file is saved in place in the moment in which a commit replaces or deletes it."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gpush_agent.files.commit import Commit  # noqa: E402
from gpush_agent.files.root import FILE  # noqa: E402
from gpush_agent.files.state import Held, Stage, State  # noqa: E402
from gpush_agent.files.tree import Tree  # noqa: E402
from test_files import FilesTest, digest  # noqa: E402


class SavedMeanwhileTest(FilesTest):
    def setUp(self):
        super().setUp()
        node = self.gateway().open()
        node.push({"a.py": b"1"})
        node.end()
        state = State(self.state)
        held = Held(state)
        held.load()
        tree = Tree(self.root)
        self.addCleanup(tree.close)
        stage = Stage(os.path.join(self.state.encode(), b"stage"))
        stage.receive(digest(b"2"), True, b"2")
        self.commit = Commit(tree, state, held, stage, os.path.join(self.state.encode(), b"stage"))

    def saves_before(self, owner, name):
        """The user, after the commit has looked at the file."""
        moves = getattr(owner, name)

        def moved(*args):
            self.write("a.py", b"saved")
            return moves(*args)
        setattr(owner, name, moved)

    def replace(self):
        return self.commit._write_all([["a.py", FILE, 0, 1, digest(b"2")]])

    def test_what_is_replaced_while_it_is_saved_is_put_back(self):
        self.saves_before(self.commit, "_move")
        self.assertEqual(self.replace(), ["a.py"])
        self.assertEqual(self.tree(), {"a.py": b"saved"})

    def test_what_is_deleted_while_it_is_saved_is_put_back(self):
        self.saves_before(self.commit.tree, "remove")
        self.commit._delete("a.py")
        self.assertEqual(self.tree(), {"a.py": b"saved"})

    def test_else_nothing_of_it_is_left(self):
        self.assertEqual(self.replace(), [])
        self.assertEqual(self.tree(), {"a.py": b"2"})
        self.commit._delete("a.py")
        self.assertEqual(self.tree(), {})
        self.assertEqual(self.commit.stage.staged() + os.listdir(self.commit.stage.folder), [])


if __name__ == "__main__":
    unittest.main()
