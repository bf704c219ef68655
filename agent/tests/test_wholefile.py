"""Files that are replaced whole."""
import errno
import os
import resource
import tempfile
import unittest

import test_files  # first: it makes gpush_agent known
from gpush_agent.core.wholefile import replace


class ReplaceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "file")
        replace(self.path, "before")

    def test_a_full_disk_keeps_the_file_and_leaves_nothing_else(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            with self.assertRaises(OSError):
                replace(self.path, "x" * 200)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        self.assert_as_before()

    def test_a_folder_in_the_way_leaves_nothing(self):
        place = os.path.join(self.folder, "place")
        os.mkdir(place)
        with self.assertRaises(OSError):
            replace(place, "after")
        os.rmdir(place)
        self.assert_as_before()

    def test_a_file_that_was_removed_while_it_was_written_is_the_error_that_is_told(self):
        self.addCleanup(setattr, os, "rename", os.rename)

        def removed(old, new):
            os.unlink(old)
            raise OSError(errno.EIO, "the disk")
        os.rename = removed
        with self.assertRaises(OSError) as caught:
            replace(self.path, "after")
        self.assertEqual(caught.exception.errno, errno.EIO)
        self.assert_as_before()

    def assert_as_before(self):
        self.assertEqual(os.listdir(self.folder), ["file"])
        with open(self.path) as file:
            self.assertEqual(file.read(), "before")


if __name__ == "__main__":
    unittest.main()
