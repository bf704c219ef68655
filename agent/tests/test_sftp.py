"""The sftp builtin against OpenSSH's own client: `sftp -D` runs a program as the server, here our module over pipes."""
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

import client
from gpush_agent.files import sftp

PROGRAM = "import sys; sys.path.insert(0, %r); from gpush_agent.files import sftp; sys.exit(sftp.main({}, 0, 1))" % os.path.dirname(client.PACKAGE)


class SftpClientTest(unittest.TestCase):
    def setUp(self):
        if shutil.which("sftp") is None:
            self.skipTest("no OpenSSH sftp here")
        self.folder = tempfile.mkdtemp(prefix="gps")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.far, self.near = os.path.join(self.folder, "far"), os.path.join(self.folder, "near")
        os.mkdir(self.far)
        os.mkdir(self.near)
        self.server = os.path.join(self.folder, "server")
        with open(self.server, "w") as file:
            file.write("#!%s\n%s\n" % (sys.executable, PROGRAM))
        os.chmod(self.server, 0o755)

    def batch(self, *lines, fails=False):
        process = subprocess.run(["sftp", "-q", "-b", "-", "-D", self.server], input="\n".join(lines).encode() + b"\n",
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.near, timeout=client.DEADLINE,
                                 env=dict(os.environ, HOME=self.near))
        self.assertEqual(process.returncode != 0, fails, process.stdout.decode())
        return process.stdout.decode()

    def test_files_come_and_go_whole(self):
        data = os.urandom(5000001)
        with open(os.path.join(self.near, "a b"), "wb") as file:
            file.write(data)
        self.batch("cd " + self.far, 'put "a b" c', "chmod 640 c", "get -p c back")
        with open(os.path.join(self.near, "back"), "rb") as file:
            self.assertEqual(file.read(), data)
        self.assertEqual(os.stat(os.path.join(self.far, "c")).st_mode & 0o777, 0o640)

    def test_names_links_and_folders(self):
        self.batch("cd " + self.far, "mkdir d", "put %s d/x" % self.server, "ln -s x d/link", "ln d/x d/hard", "rename d/x d/y",
                         "ls -la d", "df -h", "rm d/hard", "ls d")
        self.assertEqual(os.readlink(os.path.join(self.far, "d", "link")), "x")
        self.assertEqual(sorted(os.listdir(os.path.join(self.far, "d"))), ["link", "y"])
        self.batch("get " + self.far + "/nothing", fails=True)
        self.batch("mkdir " + self.far + "/d", fails=True)

    def test_recursive_and_resume(self):
        os.makedirs(os.path.join(self.near, "t", "u"))
        for number in range(250):
            with open(os.path.join(self.near, "t", "u", "f%d" % number), "w") as file:
                file.write(str(number))
        self.batch("put -R t " + self.far, "get -R %s/t got" % self.far)
        self.assertEqual(len(os.listdir(os.path.join(self.near, "got", "u"))), 250)
        with open(os.path.join(self.far, "part"), "wb") as file:
            file.write(b"0123456789" * 100000)
        with open(os.path.join(self.near, "part"), "wb") as file:
            file.write(b"0123456789" * 1000)
        self.batch("reget %s/part part" % self.far)
        self.assertEqual(os.path.getsize(os.path.join(self.near, "part")), 1000000)


class NamesTest(unittest.TestCase):
    def test_a_time_that_no_calendar_has_does_not_hide_the_file(self):
        found = list(os.stat(__file__))
        for at in (1764 * 10 ** 15, -10 ** 30, 0):
            found[stat.ST_MTIME] = at
            line = sftp.Names().line(b"data", os.stat_result(found))
            self.assertRegex(line, b" (Dec 31  1969|Jan  1  1970) data$")


class SftpPacketTest(unittest.TestCase):
    """Packets by hand, for what no client sends."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gps")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        cwd=self.folder)
        self.addCleanup(self.stop)
        self.ident = 0

    def stop(self):
        self.process.stdin.close()
        self.process.wait(client.DEADLINE)
        self.process.stdout.close()

    def ask(self, kind, body):
        self.ident += 1
        data = bytes([kind]) + struct.pack(">I", self.ident) + body
        self.process.stdin.write(struct.pack(">I", len(data)) + data)
        self.process.stdin.flush()
        answer = self.process.stdout.read(struct.unpack(">I", self.process.stdout.read(4))[0])
        self.assertEqual(struct.unpack(">I", answer[1:5])[0], self.ident)
        return answer[0], answer[5:]

    def status(self, kind, body):
        answer = self.ask(kind, body)
        self.assertEqual(answer[0], sftp.STATUS)
        return struct.unpack(">I", answer[1][:4])[0]

    def open(self, path, flags):
        kind, rest = self.ask(sftp.OPEN, sftp.text(path) + struct.pack(">II", flags, 0))
        self.assertEqual(kind, sftp.HANDLE)
        return rest

    def test_append_ignores_the_offset(self):
        handle = self.open(b"x", sftp.F_WRITE | sftp.F_CREATE | sftp.F_APPEND)
        for part in (b"ab", b"cd"):
            self.assertEqual(self.status(sftp.WRITE, handle + struct.pack(">Q", 0) + sftp.text(part)), sftp.OK)
        with open(os.path.join(self.folder, "x"), "rb") as file:
            self.assertEqual(file.read(), b"abcd")

    def test_errors_are_mapped(self):
        self.assertEqual(self.status(sftp.REMOVE, sftp.text(b"no")), sftp.NO_SUCH_FILE)
        self.assertEqual(self.status(77, b""), sftp.UNSUPPORTED)
        self.assertEqual(self.status(sftp.EXTENDED, sftp.text(b"what@ever")), sftp.UNSUPPORTED)
        self.assertEqual(self.status(sftp.OPEN, b"\0\0\0\x09ab"), sftp.BAD_MESSAGE)
        self.assertEqual(self.status(sftp.READ, sftp.text(b"zzzz") + struct.pack(">QI", 0, 10)), sftp.FAILURE)
        self.assertEqual(self.status(sftp.REMOVE, sftp.text(b"a\0b")), sftp.NO_SUCH_FILE)
        handle = self.open(b"new", sftp.F_READ | sftp.F_WRITE | sftp.F_CREATE)
        self.assertEqual(self.status(sftp.READ, handle + struct.pack(">QI", 0, 10)), sftp.EOF)
        self.assertEqual(self.status(sftp.READ, handle + struct.pack(">QI", 1 << 63, 10)), sftp.BAD_MESSAGE)

    def test_rename_never_replaces_but_posix_rename_does(self):
        for name in ("a", "b"):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(name)
        self.assertEqual(self.status(sftp.RENAME, sftp.text(b"a") + sftp.text(b"b")), sftp.FAILURE)
        self.assertEqual(self.status(sftp.EXTENDED, sftp.text(b"posix-rename@openssh.com") + sftp.text(b"a") + sftp.text(b"b")), sftp.OK)
        self.assertEqual(os.listdir(self.folder), ["b"])

    def test_names_that_are_not_utf8(self):
        self.open(b"\xff\xfe", sftp.F_WRITE | sftp.F_CREATE)
        kind, rest = self.ask(sftp.REALPATH, sftp.text(b"\xff\xfe"))
        self.assertEqual(kind, sftp.NAME)
        self.assertIn(b"\xff\xfe", rest)

    def test_setstat_truncates_and_sets_times(self):
        self.open(b"x", sftp.F_WRITE | sftp.F_CREATE)
        body = sftp.text(b"x") + struct.pack(">IQIII", sftp.A_SIZE | sftp.A_MODE | sftp.A_TIMES, 100, 0o600, 5, 7)
        self.assertEqual(self.status(sftp.SETSTAT, body), sftp.OK)
        found = os.stat(os.path.join(self.folder, "x"))
        self.assertEqual((found.st_size, found.st_mode & 0o777, int(found.st_atime), int(found.st_mtime)), (100, 0o600, 5, 7))


if __name__ == "__main__":
    unittest.main()
