"""What is compiled once: who may have written it, when it counts, and an agent that starts from it."""
import marshal
import os
import resource
import unittest
import zlib

import client as testclient
from client import Client, spawn, until
from gpush_agent.core.version import PYTHON, VERSION
from gpush_agent.host import compiled
from node import NodeTest

MADE = {"core/version": compile("PYTHON, VERSION = 'kept', %d" % VERSION, "gpush:core/version", "exec")}


class FileTest(NodeTest):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.base, "cache", "gpush", "agent")
        self.file = self.of(testclient.usual_sources())
        self.path = self.file.path

    def of(self, source):
        return compiled.File(source, self.folder)

    def put(self, data, mode=0o600):
        with open(self.path, "wb") as file:
            file.write(data)
        os.chmod(self.path, mode)

    def test_what_was_written_is_read_by_the_same_source_only(self):
        self.assertEqual(self.file.read(), {})
        self.file.write({"a": b"found"}, MADE)
        self.assertEqual(self.file.read(), {"a": b"found", "core/version": marshal.dumps(MADE["core/version"])})
        self.assertEqual([os.stat(path).st_mode & 0o777 for path in (self.folder, self.path)], [0o700, 0o600])
        self.assertEqual(self.of(b"another build").read(), {})

    def test_a_damaged_file_does_not_count(self):
        self.file.write({}, MADE)
        with open(self.path, "rb") as file:
            whole = file.read()
        flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:] for at in range(0, len(whole), 7)]
        short = [whole[:length] for length in range(0, len(whole), 7)]
        invalid = [zlib.crc32(data).to_bytes(4, "big") + data for data in (b"", b"?", b"[", marshal.dumps({})[:-1])]
        for data in flipped + short + invalid + [b"\0" * len(whole), b"\0" * 4, whole + b"\0"]:
            self.put(data)
            self.assertEqual(self.file.read(), {}, data[:40])

    def test_what_another_user_can_have_written_does_not_count(self):
        self.file.write({}, MADE)
        for path, mode in ((self.path, 0o620), (self.path, 0o602), (self.folder, 0o770), (self.folder, 0o707)):
            was = os.stat(path).st_mode & 0o777
            os.chmod(path, mode)
            self.assertEqual(self.file.read(), {}, oct(mode))
            os.chmod(path, was)
        self.assertNotEqual(self.file.read(), {})
        if os.getuid() == 0:
            for path in (self.path, self.folder):
                os.chown(path, 12345, -1)
                self.assertEqual(self.file.read(), {})
                os.chown(path, 0, -1)
        real = os.path.join(self.base, "real")
        os.rename(self.path, real)
        os.symlink(real, self.path)
        self.assertEqual(self.file.read(), {})
        os.unlink(self.path)
        os.mkfifo(self.path, 0o600)
        self.assertEqual(self.file.read(), {})

    def test_nothing_is_kept_in_a_folder_that_is_not_ours_alone(self):
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o777)
        self.file.write({}, MADE)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_full_disk_leaves_nothing(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            with self.assertRaises(OSError):
                self.file.write({}, MADE)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_newest_stay(self):
        for number in range(compiled.MOST_FILES + 3):
            file = self.of(b"%d" % number)
            file.write({}, MADE)
            os.utime(file.path, (number, number))
        os.mkdir(os.path.join(self.folder, "0123456789ab"))
        self.file.write({}, MADE)
        left = {os.path.basename(self.of(b"%d" % number).path) for number in range(4, compiled.MOST_FILES + 3)}
        self.assertEqual(set(os.listdir(self.folder)), left | {os.path.basename(self.path), "0123456789ab"})

    def welcomed(self):
        self.clients.append(Client())
        self.clients[-1].connect(spawn(dict(self.header(), compiled=self.folder)))
        return self.clients[-1]

    def test_an_agent_uses_what_is_kept_and_adds_what_it_compiled(self):
        self.file.write({}, MADE)
        client = self.welcomed()
        self.assertEqual(client.welcome["python"], "kept")
        found = until(lambda: len(self.file.read()) > 1 and self.file.read(), what="the agent's file")
        self.assertLessEqual({"start", "agent", "files/sync", "runs/supervisor"}, set(found))
        self.assertEqual(found["core/version"], marshal.dumps(MADE["core/version"]))
        self.assertEqual(client.call("release"), {"kept": []})

    def test_an_agent_starts_beside_a_damaged_file(self):
        self.file.write({}, MADE)
        self.put(b"damaged")
        client = self.welcomed()
        self.assertEqual((client.welcome["python"], client.run("echo hi")[0]), (PYTHON, b"hi\n"))


if __name__ == "__main__":
    unittest.main()
