"""Where a commit finds the contents of files that have another name now."""
import types
import unittest

import client                   # puts the agent on the path
from gpush_agent.files import commit
from gpush_agent.files.root import FILE

assert client


def digest(number):
    return "%064x" % number


class RenameTest(unittest.TestCase):
    class Walks(dict):
        """Counts who goes through all of it."""
        walks = 0

        def items(self):
            self.walks += 1
            return super().items()

    def setUp(self):
        self.entries = self.Walks(("old/%d" % number, [FILE, 0, 1, digest(number), None]) for number in range(100))
        self.staged, self.opened = set(), []
        held = types.SimpleNamespace(entries=self.entries)
        stage = types.SimpleNamespace(has=self.staged.__contains__)
        self.commit = commit.Commit(None, None, held, stage, b"/nowhere")
        self.commit._copy = self.copy

    def copy(self, path, content):
        self.opened.append(path)
        return path != "old/7"      # it is not what it was

    def test_the_entries_are_gone_through_once_for_all_renamed_files(self):
        found = [self.commit._obtain(digest(number)) for number in range(100)]

        self.assertEqual([number for number in range(100) if not found[number]], [7])
        self.assertEqual(self.opened, ["old/%d" % number for number in range(100)])
        self.assertEqual(self.entries.walks, 1)

    def test_a_content_is_found_under_another_name_that_has_it(self):
        self.entries["new/7"] = self.entries["old/7"]

        self.assertTrue(self.commit._obtain(digest(7)))
        self.assertEqual(self.opened, ["old/7", "new/7"])
