"""The builtin files, spoken to as a gateway would: rules of docs/technical/sync.md, one by one."""
import hashlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, AGENT)
from gpush_agent.core.refused import Refused  # noqa: E402
from gpush_agent.core.wholefile import write_all  # noqa: E402
from gpush_agent.files import sync, trash  # noqa: E402
from gpush_agent.files.root import Root  # noqa: E402
from gpush_agent.files.tree import is_settled, parts_of  # noqa: E402
from gpush_agent.lifetime import release, unsaved  # noqa: E402
from run import slow  # noqa: E402

# Runs the real conversation; with a count it kills itself before that many changes to the file system were made.
CRASHING = r"""
import os, signal, sys
sys.path.insert(0, sys.argv[1])
left = int(sys.argv[2])
def counted(call):
    def change(*args, **keywords):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **keywords)
    return change
from gpush_agent.files import sync, trash
trash.MOST_BYTES = int(sys.argv[4])
user = int(sys.argv[3])
if user:
    os.setgid(user)
    os.setuid(user)
if left:
    for name in ("rename", "link", "unlink", "mkdir", "rmdir", "symlink", "write", "chmod", "utime"):
        setattr(os, name, counted(getattr(os, name)))
sys.exit(sync.main({}, 0, 1))
"""


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Gateway:
    """The other end of one conversation, and what it remembers of the node's manifest."""

    def __init__(self, root, state, node=0, crash_at=0, user=0, trash_bytes=trash.MOST_BYTES, begins=True):
        command = [sys.executable, "-I", "-S", "-B", "-c", CRASHING, AGENT, str(crash_at), str(user), str(trash_bytes)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.generation = 0
        self.holds = None
        if begins:
            self.send(sync.TREE, {"root": root, "state": state, "node": node})

    def open(self):
        self.holds = self.read_holds()
        return self

    def send(self, kind, value):
        self.send_bytes(kind, json.dumps(value).encode())

    def send_bytes(self, kind, payload):
        write_all(self.process.stdin.fileno(), struct.pack(">IB", len(payload), kind) + payload)

    def read(self):
        head = self.exactly(5)
        length, kind = struct.unpack(">IB", head)
        payload = self.exactly(length)
        if kind == sync.INDEX:
            payload = zlib.decompress(payload)
        return kind, payload if kind == sync.BLOB else json.loads(payload.decode())

    def read_packed(self):
        length, kind = struct.unpack(">IB", self.exactly(5))
        return kind, json.loads(zlib.decompress(self.exactly(length)).decode())

    def exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.process.stdout.read(size - len(data))
            if not piece:
                raise EOFError()
            data += piece
        return data

    def expect(self, kind):
        found, value = self.read()
        assert found == kind, (found, value)
        return value

    def read_holds(self):
        holds = self.expect(sync.HOLDS)
        holds["index"] = {}
        while True:
            part = self.expect(sync.INDEX)
            holds["index"].update((item[0], item[1:]) for item in part["entries"])
            if part["last"]:
                break
        self.generation = max(self.generation, holds["generation"])
        self.root = holds["root"]
        return holds

    def check(self, known=None, paths=None):
        self.send(sync.CHECK, {"known": known} if paths is None else {"known": known, "paths": paths})
        return self.read_holds()

    def blob(self, data, name=None):
        self.send_bytes(sync.BLOB, bytes.fromhex(name or digest(data)) + b"\3" + zlib.compress(data))

    def patch(self, name, base, steps, pieces=1):
        """`steps`: bytes, or (offset, length) of the file `base`; `pieces`: how many messages the patch is sent in."""
        text = struct.pack(">H", len(base)) + base.encode()
        for step in steps:
            text += struct.pack(">BI", 0, len(step)) + step if isinstance(step, bytes) else struct.pack(">BQI", 1, *step)
        size = -(-len(text) // pieces)
        for at in range(0, len(text), size):
            flags = 4 | (2 if at + size >= len(text) else 0)
            self.send_bytes(sync.BLOB, bytes.fromhex(name) + bytes([flags]) + text[at:at + size])

    def prepare(self, wanted, overwrite=False, blobs=True, verify=False, root=None, trash=(), hold=()):
        """wanted: path → bytes, or text for a link; everything else that the node holds goes. hold: those of wanted that only the
        manifest gets."""
        index = self.check()["index"]
        entries = {}
        for path, value in wanted.items():
            if isinstance(value, str):
                entries[path] = ["link", 0, 0, value]
            else:
                entries[path] = ["file", 1 if path.endswith(".sh") else 0, len(value), digest(value)]
        write = [[path] + entry for path, entry in entries.items()
                 if path not in hold and (path not in index or index[path][:4] != entry or index[path][4] != "ours")]
        for path, kind, _, _, content in write:
            if blobs and kind == "file":
                self.blob(wanted[path])
        plan = {"generation": self.generation + 1, "from": self.root, "root": root or Root.of(entries).value, "overwrite": overwrite,
                "verify": verify, "write": write, "delete": [path for path in index if path not in wanted], "trash": list(trash),
                "hold": [[path] + entries[path] for path in hold]}
        self.send_bytes(sync.PREPARE, zlib.compress(json.dumps(plan).encode()))
        kind, answer = self.read()
        for conflict in answer.get("conflicts", ()):
            assert isinstance(conflict.pop(), int), conflict    # when it was changed
        return answer

    def commit(self):
        self.send(sync.COMMIT, {"generation": self.generation + 1})
        answer = self.expect(sync.COMMITTED)
        self.generation, self.root = answer["generation"], answer["root"]
        return answer

    def push(self, wanted, overwrite=False, **more):
        answer = self.prepare(wanted, overwrite, **more)
        assert answer == {"ok": True}, answer
        return self.commit()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait()


class FilesTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gpush-files-")
        self.root = os.path.join(self.base, "project")
        self.state = self.root + ".gpush"
        self.gateways = []

    def tearDown(self):
        for gateway in self.gateways:
            if gateway.process.poll() is None:
                gateway.process.kill()
            gateway.process.stdin.close()
            gateway.process.stdout.close()
            gateway.process.wait()
        shutil.rmtree(self.base)

    def gateway(self, **options):
        self.gateways.append(Gateway(self.root, self.state, **options))
        return self.gateways[-1]

    def write(self, path, data):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)

    def tree(self, root=None):
        found = {}
        for folder, folders, names in os.walk((root or self.root)):
            for name in names + folders:
                full = os.path.join(folder, name)
                path = os.path.relpath(full, (root or self.root))
                if os.path.islink(full):
                    found[path] = os.readlink(full)
                elif os.path.isfile(full):
                    with open(full, "rb") as file:
                        found[path] = file.read()
        return found


class WriteTest(FilesTest):
    def test_writes_what_is_wanted_and_deletes_what_is_not(self):
        node = self.gateway().open()
        node.push({"a": b"1", "d/e/f.sh": b"#!/bin/sh\n", "l": "d/e", "empty": b"", "ü/日本\n": b"x"})
        self.assertEqual(self.tree(), {"a": b"1", "d/e/f.sh": b"#!/bin/sh\n", "l": "d/e", "empty": b"", "ü/日本\n": b"x"})
        self.assertTrue(os.access(os.path.join(self.root, "d/e/f.sh"), os.X_OK))
        self.assertFalse(os.stat(os.path.join(self.root, "a")).st_mode & 0o111)

        node.push({"a": b"2"})

        self.assertEqual(self.tree(), {"a": b"2"})
        self.assertEqual(os.listdir(self.root), ["a"])
        self.assertEqual(node.end(), 0)
        self.assertEqual(os.listdir(os.path.join(self.state, "stage")), [])

    def test_remembers_over_conversations(self):
        first = self.gateway().open()
        first.push({"a": b"1", "b": b"2"})
        first.end()

        again = self.gateway().open()

        self.assertEqual(again.holds["generation"], 1)
        self.assertEqual({path: item[4] for path, item in again.holds["index"].items()}, {"a": "ours", "b": "ours"})
        self.assertEqual(again.check(again.root)["index"], {})

    def test_changes_only_the_mode_when_only_the_mode_changed(self):
        node = self.gateway().open()
        node.push({"run": b"x"})
        inode = os.stat(os.path.join(self.root, "run")).st_ino
        os.chmod(os.path.join(self.root, "run"), 0o755)
        self.assertEqual(node.check(node.root)["index"]["run"][4], "mode")

        node.push({"run": b"x"})

        status = os.stat(os.path.join(self.root, "run"))
        self.assertEqual((status.st_ino, status.st_mode & 0o111), (inode, 0))

    def test_takes_contents_from_other_names_and_uses_one_for_many(self):
        node = self.gateway().open()
        node.push({"a": b"same" * 1000})

        self.assertEqual(node.prepare({"b": b"same" * 1000, "c/d": b"same" * 1000}, blobs=False), {"ok": True})
        node.commit()

        self.assertEqual(self.tree(), {"b": b"same" * 1000, "c/d": b"same" * 1000})

    def test_turns_a_folder_into_a_file_and_back(self):
        node = self.gateway().open()
        node.push({"p/q/r": b"1", "p/s": b"2"})
        node.push({"p": b"file"})
        self.assertEqual(self.tree(), {"p": b"file"})
        node.push({"p/q/r": b"1"})
        self.assertEqual(self.tree(), {"p/q/r": b"1"})
        node.push({"p": "q"})
        self.assertEqual(self.tree(), {"p": "q"})

    def test_moves_mtime_forward_or_drops_the_bytecode(self):
        node = self.gateway().open()
        node.push({"m.py": b"A = 1"})
        self.write("__pycache__/m.cpython-311.pyc", b"compiled")
        before = os.stat(os.path.join(self.root, "m.py"))

        node.push({"m.py": b"A = 2"})

        after = os.stat(os.path.join(self.root, "m.py"))
        self.assertGreater(after.st_mtime_ns, before.st_mtime_ns)
        if int(after.st_mtime) == int(before.st_mtime):
            self.assertFalse(os.path.exists(os.path.join(self.root, "__pycache__")))

    def test_a_future_mtime_still_moves_forward_and_its_bytecode_goes(self):
        node = self.gateway().open()
        node.push({"m.py": b"A = 1"})
        self.write("__pycache__/m.cpython-311.pyc", b"compiled")
        os.utime(os.path.join(self.root, "m.py"), (4e9, 4e9))

        node.push({"m.py": b"A = 2"})

        self.assertGreater(os.stat(os.path.join(self.root, "m.py")).st_mtime_ns, 4 * 10 ** 18)
        self.assertFalse(os.path.exists(os.path.join(self.root, "__pycache__")))

    def test_a_bad_blob_is_missing_not_written(self):
        node = self.gateway().open()
        node.blob(b"something else", name=digest(b"right"))
        answer = node.prepare({"a": b"right"}, blobs=False)
        self.assertEqual(answer, {"missing": [digest(b"right")]})
        self.assertEqual(self.tree(), {})
        self.assertEqual(node.prepare({"a": b"right"}), {"ok": True})

    def test_a_patch_makes_a_content_of_a_file_of_the_tree(self):
        node = self.gateway().open()
        old = os.urandom(100000)
        node.push({"a": old})
        new = old[:5000] + b"new" + old[5000:90000] + b"end"

        node.patch(digest(new), "a", [(0, 5000), b"new", (5000, 85000), b"end"], pieces=7)

        self.assertEqual(node.prepare({"a": new}, blobs=False), {"ok": True})
        node.commit()
        self.assertEqual(self.tree()["a"], new)

    def test_a_patch_that_leads_to_nothing_is_missing_and_the_content_can_come_whole(self):
        node = self.gateway().open()
        node.push({"a": b"x" * 5000})
        with open(os.path.join(self.base, "outside"), "wb") as file:
            file.write(b"y" * 5000)
        new = b"x" * 10 + b"z"
        for base, steps in (("a", [(0, 9), b"z"]), ("a", [(4990, 20)]), ("none", [(0, 10), b"z"]), ("../outside", [(0, 5), b"z"]),
                            ("", [b"z"]), ("a", [(1 << 63, 10)]), ("a", [(0, 10), b"z", b"more"])):
            node.patch(digest(new), base, steps, pieces=2)
            self.assertEqual(node.prepare({"a": new}, blobs=False), {"missing": [digest(new)]}, (base, steps))
        node.send_bytes(sync.BLOB, bytes.fromhex(digest(new)) + b"\4" + struct.pack(">H", 1) + b"a" + struct.pack(">BQI", 1, 0, 10))

        self.assertEqual(node.prepare({"a": new}), {"ok": True})
        node.commit()
        self.assertEqual(self.tree()["a"], new)

    def test_a_commit_without_prepare_is_refused_and_the_conversation_goes_on(self):
        node = self.gateway().open()
        node.send(sync.COMMIT, {"generation": 1})
        self.assertEqual(node.expect(sync.FAILED)["code"], "not-prepared")
        node.push({"a": b"1"})

    def test_abort_leaves_everything_as_it_was(self):
        node = self.gateway().open()
        node.push({"a": b"1"})
        self.assertEqual(node.prepare({"b": b"2"}), {"ok": True})
        node.send(sync.ABORT, {})
        node.expect(sync.ABORTED)
        self.assertEqual(self.tree(), {"a": b"1"})
        self.assertFalse(os.path.exists(os.path.join(self.state, "txn.prepared")))

    def test_a_plan_on_an_old_manifest_or_with_a_wrong_root_is_refused(self):
        node = self.gateway().open()
        self.assertEqual(node.prepare({"a": b"1"}, root="0" * 64)["code"], "moved")
        node.push({"a": b"1"})
        os.unlink(os.path.join(self.root, "a"))
        index = node.check()["index"]
        self.assertEqual(index["a"][4], "missing")

    def test_verify_finds_what_the_plan_does_not_name(self):
        node = self.gateway().open()
        node.push({"a": b"1", "b": b"1"})
        self.write("a", b"edited")
        plan = {"generation": 2, "from": node.root, "root": Root.of({"a": ["file", 0, 1, digest(b"1")]}).value, "verify": True,
                "write": [], "delete": ["b"]}
        node.send_bytes(sync.PREPARE, zlib.compress(json.dumps(plan).encode()))
        self.assertEqual(node.expect(sync.FAILED)["code"], "moved")


class KeepTest(FilesTest):
    """Bytes that we did not write are never replaced or deleted."""

    def test_a_foreign_file_is_a_conflict_unless_it_is_equal(self):
        self.write("a", b"theirs")
        self.write("b", b"equal")
        node = self.gateway().open()
        self.assertEqual(node.prepare({"a": b"ours", "b": b"equal"}), {"conflicts": [["a", "foreign"]]})
        self.assertEqual(self.tree(), {"a": b"theirs", "b": b"equal"})

    def test_a_changed_file_is_a_conflict_and_overwrite_keeps_it_in_the_trash(self):
        node = self.gateway().open()
        node.push({"a": b"1", "d/b": b"1"})
        self.write("a", b"edited here")

        self.assertEqual(node.prepare({"a": b"2", "d/b": b"2"}), {"conflicts": [["a", "changed"]]})
        self.assertEqual(self.tree(), {"a": b"edited here", "d/b": b"1"})
        answer = node.push({"a": b"2", "d/b": b"2"}, overwrite=True)

        self.assertEqual(self.tree(), {"a": b"2", "d/b": b"2"})
        with open(os.path.join(answer["trash"], "a"), "rb") as file:
            self.assertEqual(file.read(), b"edited here")

    def test_same_size_edit_in_the_same_moment_is_seen(self):
        node = self.gateway().open()
        node.push({"a": b"1"})
        with open(os.path.join(self.root, "a"), "r+b") as file:
            file.write(b"2")
        self.assertEqual(node.check()["index"]["a"][4], "changed")

    def test_a_deleted_path_that_was_changed_stays_and_is_told(self):
        node = self.gateway().open()
        node.push({"d/a": b"1", "d/b": b"1"})
        self.write("d/a", b"edited")
        answer = node.push({})
        self.assertEqual((self.tree(), answer["kept"]), ({"d/a": b"edited"}, ["d/a"]))

    def test_a_deleted_path_that_is_gone_here_too_is_not_kept(self):
        node = self.gateway().open()
        node.push({"a": b"1", "d/b": b"1", "c": b"1"})
        os.unlink(os.path.join(self.root, "a"))
        shutil.rmtree(os.path.join(self.root, "d"))
        self.write("d", b"a file now")

        self.assertEqual(node.push({"c": b"1"})["kept"], [])
        self.assertEqual(self.tree(), {"c": b"1", "d": b"a file now"})

    def test_folders_files_and_links_in_the_way_are_conflicts(self):
        node = self.gateway().open()
        self.write("folder/theirs", b"x")
        self.write("file", b"x")
        os.makedirs(os.path.join(self.base, "elsewhere"))
        os.symlink(os.path.join(self.base, "elsewhere"), os.path.join(self.root, "link"))
        wanted = {"folder": b"1", "file/below": b"1", "file/two": b"1", "link/below": b"1"}

        self.assertEqual(node.prepare(wanted)["conflicts"], [["file", "parent"], ["folder", "type"], ["link", "parent"]])
        answer = node.push(wanted, overwrite=True)

        self.assertEqual(self.tree(), wanted)
        self.assertEqual(sorted(os.listdir(answer["trash"])), ["file", "folder", "link"])
        self.assertEqual(os.listdir(os.path.join(self.base, "elsewhere")), [])

    def test_what_changes_between_prepare_and_commit_stays(self):
        node = self.gateway().open()
        node.push({"a": b"1"})
        self.assertEqual(node.prepare({"a": b"2", "b": b"2"}), {"ok": True})
        self.write("a", b"edited")
        self.write("b", b"made")
        answer = node.commit()
        self.assertEqual((answer["late"], self.tree()), (["a", "b"], {"a": b"edited", "b": b"made"}))
        self.assertEqual({path: item[4] for path, item in node.check()["index"].items()}, {"a": "changed", "b": "changed"})


class EscapeTest(FilesTest):
    def test_no_path_leads_out(self):
        outside = os.path.join(self.base, "outside")
        for path in ("../outside", "/etc/x", "a/../../outside", "a/./b", "", "a//b", "a/", "x" * 5000, "a\0b", ".gpush/x", "\udc80", "..", "."):
            node = self.gateway().open()
            content = digest(b"evil")
            node.blob(b"evil")
            plan = {"generation": 1, "from": node.root, "root": "0" * 64, "write": [[path, "file", 0, 4, content]], "delete": []}
            node.send_bytes(sync.PREPARE, zlib.compress(json.dumps(plan).encode()))
            self.assertEqual(node.expect(sync.FAILED)["code"], "bad-path", path)
            plan["write"], plan["delete"] = [], [path]
            node.send_bytes(sync.PREPARE, zlib.compress(json.dumps(plan).encode()))
            self.assertEqual(node.expect(sync.FAILED)["code"], "bad-path", path)
            if path:
                node.send(sync.PULL, {"path": path})
                self.assertEqual(node.expect(sync.FAILED)["code"], "bad-path", path)
            node.end()
        self.assertFalse(os.path.exists(outside))

    def test_nothing_is_before_the_tree(self):
        for kind in (sync.PREPARE, sync.COMMIT, sync.ABORT, sync.CHECK):
            node = self.gateway(begins=False)
            node.send(kind, {})
            answer = {"code": "protocol", "facts": {"detail": "message %d before TREE" % kind}, "fatal": True}
            self.assertEqual(node.expect(sync.FAILED), answer)
            self.assertEqual(node.end(), 0)

    def test_a_content_is_a_hash_and_nothing_else(self):
        node = self.gateway().open()
        plan = {"generation": 1, "from": node.root, "root": "0" * 64, "write": [["a", "file", 0, 4, "../../evil"]], "delete": []}
        node.send_bytes(sync.PREPARE, zlib.compress(json.dumps(plan).encode()))
        self.assertEqual(node.expect(sync.FAILED), {"code": "protocol", "facts": {"detail": "'file' with '../../evil'"}, "fatal": True})
        self.assertEqual(node.end(), 0)

    def test_links_planted_on_the_way_are_not_followed(self):
        outside = os.path.join(self.base, "outside")
        os.makedirs(outside)
        node = self.gateway().open()
        node.push({"d/a": b"1"})
        self.assertEqual(node.prepare({"d/a": b"2", "d/n": b"2"}), {"ok": True})
        shutil.rmtree(os.path.join(self.root, "d"))
        os.symlink(outside, os.path.join(self.root, "d"))
        self.assertEqual(node.commit()["late"], ["d/a", "d/n"])
        self.assertEqual(os.listdir(outside), [])
        node.push({})
        self.assertTrue(os.path.islink(os.path.join(self.root, "d")))

    def test_a_bomb_is_refused(self):
        node = self.gateway().open()
        node.send_bytes(sync.BLOB, bytes(32) + b"\3" + zlib.compress(bytes(50 << 20)))
        self.assertEqual(node.expect(sync.FAILED)["code"], "limit")

    def test_garbage_ends_the_conversation_with_a_word(self):
        for kind, payload in ((99, b"{}"), (sync.PREPARE, b"not zlib"), (sync.COMMIT, b"{]"), (sync.CHECK, b"[]"), (sync.BLOB, b"x")):
            node = self.gateway().open()
            node.send_bytes(kind, payload)
            answer = node.expect(sync.FAILED)
            self.assertEqual((answer["code"], answer["fatal"]), ("protocol", True), kind)
            self.assertEqual(node.end(), 0)


class TroubleTest(FilesTest):
    @slow
    def test_converges_after_a_crash_at_any_change(self):
        seed = int(os.environ.get("GPUSH_SEED", "7"))
        chance = random.Random(seed)
        first = {"a": b"1", "b/c": b"2", "b/d/e": b"3", "l": "a", "same1": b"s", "same2": b"s"}
        second = {"a": b"9", "b": b"file now", "n/m/o": b"new", "l": "n", "same3": b"s", "same4": b"s"}
        for at in sorted(chance.sample(range(1, 120), 24)):
            shutil.rmtree(self.root, ignore_errors=True)
            shutil.rmtree(self.state, ignore_errors=True)
            node = self.gateway().open()
            node.push(first)
            node.end()
            self.write("foreign", b"theirs")
            crashed = self.gateway(crash_at=at)
            try:
                crashed.open()
                crashed.push(second)
            except (EOFError, BrokenPipeError):
                self.assertEqual(crashed.process.wait(), -signal.SIGKILL)
            again = self.gateway().open()
            found = self.tree()
            for path, content in found.items():
                self.assertIn(content, (first.get(path), second.get(path), b"theirs"), (seed, at, path))
            again.push(second)
            self.assertEqual(self.tree(), dict(second, foreign=b"theirs"), (seed, at))
            again.end()
            self.assertEqual(release.release(self.root, self.state), ["foreign"], (seed, at))
            self.assertEqual(self.tree(), {"foreign": b"theirs"}, (seed, at))

    @slow
    def test_overwriting_loses_nothing_at_any_crash(self):
        for at in range(21, 80, 6):
            shutil.rmtree(self.base)
            os.makedirs(self.base)
            node = self.gateway().open()
            node.push({"a": b"1", "p": b"1"})
            node.end()
            self.write("a", b"theirs a")
            self.write("d/x", b"theirs x")
            wanted = {"a": b"2", "d": b"file", "p/q": b"3"}
            crashed = self.gateway(crash_at=at)
            try:
                crashed.open()
                crashed.push(wanted, overwrite=True)
            except (EOFError, BrokenPipeError):
                crashed.process.wait()
            else:
                crashed.end()
            again = self.gateway().open()
            again.push(wanted, overwrite=True)
            again.end()
            self.assertEqual(self.tree(), wanted, at)
            trashed = {}
            for folder, _, names in os.walk(os.path.join(self.state, "trash")):
                for name in names:
                    with open(os.path.join(folder, name), "rb") as file:
                        trashed[name] = file.read()
            self.assertEqual(trashed, {"a": b"theirs a", "x": b"theirs x"}, at)

    @slow
    def test_release_after_a_crash_leaves_nothing_of_ours(self):
        for at in range(10, 60, 7):
            shutil.rmtree(self.base)
            os.makedirs(self.base)
            crashed = self.gateway(crash_at=at)
            try:
                crashed.open()
                crashed.push({"a": b"1", "b/c": b"2", "l": "a"})
            except (EOFError, BrokenPipeError):
                crashed.process.wait()
            else:
                crashed.end()
            self.assertEqual(release.release(self.root, self.state), [], at)
            self.assertEqual(os.listdir(self.base), [], at)

    def test_waits_for_the_lock_of_another_conversation(self):
        one = self.gateway().open()
        self.assertEqual(one.prepare({"a": b"1"}), {"ok": True})
        two = self.gateway(node=1)
        one.commit()
        two.open()
        self.assertEqual(two.holds["generation"], 1)
        self.assertIn(two.holds["token"]["mine"], two.holds["token"]["seen"])
        self.assertIn(one.holds["token"]["mine"], two.holds["token"]["seen"])

    def test_a_folder_that_cannot_be_written_is_told(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        os.chmod(self.base, 0o755)
        os.makedirs(self.root)
        node = self.gateway(user=65534)
        answer = node.expect(sync.FAILED)
        self.assertEqual((answer["code"], answer["fatal"]), ("denied", True))

    def test_a_folder_that_was_made_read_only_is_told_at_prepare(self):
        node = self.node_of_nobody()
        node.push({"d/a": b"1"})
        os.chmod(os.path.join(self.root, "d"), 0o555)
        for wanted in ({"d/a": b"2"}, {"d/new/x": b"1", "d/a": b"1"}, {}):
            answer = node.prepare(wanted)
            self.assertEqual((answer.get("code"), answer["facts"]["path"]), ("denied", "d"))
        self.assertEqual(self.tree(), {"d/a": b"1"})
        os.chmod(os.path.join(self.root, "d"), 0o755)
        node.push({})

    def test_a_commit_that_fails_half_way_is_finished_later(self):
        node = self.node_of_nobody()
        node.push({"c/a": b"1", "d/a": b"1"})
        self.assertEqual(node.prepare({"c/a": b"2", "d/a": b"2"}), {"ok": True})
        os.chmod(os.path.join(self.root, "d"), 0o555)
        node.send(sync.COMMIT, {"generation": 2})
        self.assertEqual(node.expect(sync.FAILED)["code"], "denied")
        os.chmod(os.path.join(self.root, "d"), 0o755)
        again = node.check()
        self.assertEqual(again["generation"], 2)
        self.assertEqual(self.tree(), {"c/a": b"2", "d/a": b"2"})

    def node_of_nobody(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        os.chmod(self.base, 0o777)
        return self.gateway(user=65534).open()


class PullTest(FilesTest):
    def pull(self, node, path):
        node.send(sync.PULL, {"path": path})
        head = node.expect(sync.PULLED)
        data = b""
        while head.get("kind") == "file":
            piece = node.expect(sync.BLOB)
            data += zlib.decompress(piece[33:]) if piece[32] & 1 else piece[33:]
            if piece[32] & 2:
                self.assertEqual(piece[:32].hex(), digest(data))
                break
        return head, data

    def test_gives_files_links_and_folders(self):
        node = self.gateway().open()
        large = os.urandom(700000) + bytes(700000)
        self.write("out/large", large)
        self.write("out/empty", b"")
        os.symlink("large", os.path.join(self.root, "out/link"))
        self.assertEqual(self.pull(node, "out/large"), ({"kind": "file", "x": 0, "size": 1400000}, large))
        self.assertEqual(self.pull(node, "out/empty"), ({"kind": "file", "x": 0, "size": 0}, b""))
        self.assertEqual(self.pull(node, "out/link")[0], {"kind": "link", "target": "large"})
        self.assertEqual(self.pull(node, "out")[0], {"kind": "folder", "names": ["empty", "large", "link"], "all": True})
        self.assertEqual(self.pull(node, "nothing/here")[0], {"code": "not-found"})


class AloneTest(FilesTest):
    def test_counts_what_nobody_sent_and_what_was_changed(self):
        self.assertEqual(unsaved.look(self.root, self.state), {"files": 0, "bytes": 0, "paths": [], "whole": True, "trash": []})
        self.assertFalse(os.path.exists(self.state))
        node = self.gateway().open()
        node.push({"a.py": b"1", "p/b.py": b"2", "l": "a.py", "edited": b"1"})
        node.end()
        self.assertEqual(unsaved.look(self.root, self.state)["files"], 0)
        self.write("edited", b"by hand")
        self.write("p/out/ckpt", b"weights")
        self.write("p/__pycache__/b.cpython-311.pyc", b"compiled")
        os.makedirs(os.path.join(self.state, "outputs/run-1"))
        with open(os.path.join(self.state, "outputs/run-1/loss"), "wb") as file:
            file.write(b"0.1")
        self.assertEqual(unsaved.look(self.root, self.state),
                         {"files": 3, "bytes": 17, "paths": ["outputs/run-1/loss", "edited", "p/out/ckpt"], "whole": True, "trash": []})

    def test_too_much_is_said_to_be_so(self):
        for number in range(5):
            self.write("d/%d" % number, b"x")
        most, unsaved.MOST_FILES = unsaved.MOST_FILES, 3
        try:
            found = unsaved.look(self.root, self.state)
        finally:
            unsaved.MOST_FILES = most
        self.assertEqual((found["files"], found["whole"]), (3, False))


class ReleaseTest(FilesTest):
    def test_removes_what_is_ours_and_names_the_rest(self):
        node = self.gateway().open()
        node.push({"a.py": b"1", "p/b.py": b"2", "p/q/c": b"3", "l": "a.py", "edited": b"1"})
        self.write("edited", b"by hand")
        self.write("p/out/ckpt", b"weights")
        self.write("__pycache__/a.cpython-311.pyc", b"compiled")
        self.write("p/__pycache__/b.cpython-311.pyc", b"compiled")
        node.end()

        self.assertEqual(release.release(self.root, self.state), ["edited", "p/out/"])

        self.assertEqual(self.tree(), {"edited": b"by hand", "p/out/ckpt": b"weights"})
        self.assertFalse(os.path.exists(self.state))

    def test_removes_the_folders_above_that_it_made(self):
        self.root = os.path.join(self.base, "x/y/project")
        self.state = self.root + ".gpush"
        node = self.gateway().open()
        node.push({"a": b"1"})
        node.end()
        self.assertEqual(release.release(self.root, self.state), [])
        self.assertEqual(os.listdir(self.base), [])

    def test_keeps_the_trash(self):
        self.write("a", b"theirs")
        node = self.gateway().open()
        trash = node.push({"a": b"ours"}, overwrite=True)["trash"]
        node.end()
        self.assertEqual(release.release(self.root, self.state), [os.path.join(trash, "a")])
        self.assertEqual(os.listdir(self.state), ["trash"])

    def test_keeps_what_runs_have_put_out(self):
        node = self.gateway().open()
        node.push({"a": b"ours"})
        node.end()
        os.makedirs(os.path.join(self.state, "outputs/run-1"))
        os.makedirs(os.path.join(self.state, "outputs/run-2"))
        result = os.path.join(self.state, "outputs/run-2/loss")
        with open(result, "wb") as file:
            file.write(b"0.1")
        self.assertEqual(release.release(self.root, self.state), [result])
        self.assertEqual(os.listdir(os.path.join(self.state, "outputs")), ["run-2"])

    def test_is_not_troubled_by_nothing_garbage_or_a_second_time(self):
        self.assertEqual(release.release(self.root, self.state), [])
        os.makedirs(self.state)
        for name in ("manifest.json", "txn"):
            with open(os.path.join(self.state, name), "wb") as file:
                file.write(b"{torn")
        self.write("theirs", b"x")
        self.assertEqual(release.release(self.root, self.state), ["theirs"])
        self.assertEqual(release.release(self.root, self.state), [self.root])


class PathTest(unittest.TestCase):
    def test_a_stamp_vouches_only_for_what_came_well_before(self):
        second = 10 ** 9
        for stamp, at, settled in (
                ([1, 5 * second, 5 * second, 1], 6 * second, False),                # whole seconds: two of them
                ([1, 5 * second, 5 * second, 1], 7 * second + 1, True),
                ([1, 5 * second + 1, 5 * second, 1], 5 * second + 10 ** 6, False),  # fractions: two ticks
                ([1, 5 * second + 1, 5 * second, 1], 5 * second + 3 * 10 ** 7, True),
                ([1, 1, 5 * second + 1, 1], 5 * second, False)):                    # ctime counts, too
            self.assertEqual(is_settled(stamp, at), settled, (stamp, at))

    def test_parts(self):
        self.assertEqual(parts_of("a/b c/ü\n"), [b"a", b"b c", "ü\n".encode()])
        for path in (None, 7, "", "/", "..", "a/..", ".gpush"):
            with self.assertRaises(Refused):
                parts_of(path)


if __name__ == "__main__":
    unittest.main()
