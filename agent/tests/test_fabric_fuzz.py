"""Nonsense in the files of a machine and in what programs print: the facts are still facts, of the types that the page says, in
one message. SEED repeats a run, ROUNDS makes it longer."""
import json
import os
import random
import shutil
import tempfile
import unittest

from run import slow
import trees
from gpush_agent.fabric import conf, gather, gpus, interfaces, topology
from gpush_agent.link import frames
from recorded import Recorded

SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
ROUNDS = int(os.environ.get("ROUNDS") or 1)
READINGS = 12               # of each tree, every one after more damage
DAMAGES = 12                # between two of them
WORDS = ("", "\n", "0", "-1", "4294967295", "9" * 400, "nan", "1e999 Gb/sec", "inf Gb/sec (4X)", "9999999.9999 Gb/sec", "0x", "4: ACTIVE\x1b[31m", "\0",
         "\ud7ff\u0663\u0664", ",", ", , , , , , ,", "[N/A]", "7, \x1b[4m, [, ], x, y, z", "GPU0\tGPU0\tGPU0", "\tGPU0\tNIC0\tA B", "{", "[" * 5000, "=", "A=B", "A\tB", "a: b")
TEXT, NUMBER, FLAG = str, (int, float), bool
LIST, TABLE = "list", "table"
VARIABLES = {TABLE: TEXT}
SHAPE = {
    "hostname": TEXT, "memlock": int, "default_route": TEXT, "gpu_vendor": TEXT,
    "imex": {LIST: TEXT}, "plugins": {LIST: TEXT}, "plugins_off_path": {LIST: TEXT}, "topology": {TABLE: {TABLE: TEXT}},
    "unreadable": {LIST: {"path": TEXT, "why": TEXT}}, "routes": {LIST: {"to": TEXT, "interface": TEXT}},
    "rdma": {LIST: {"device": TEXT, "port": int, "state": TEXT, "link": TEXT, "gbits": NUMBER, "vendor": TEXT,
                    "software": FLAG, "interfaces": {LIST: TEXT},
                    "verbs": TEXT, "gids": {LIST: {"index": int, "type": TEXT, "gid": TEXT}}}},
    "interfaces": {LIST: {"name": TEXT, "state": TEXT, "gbits": NUMBER, "mtu": int, "kind": TEXT, "master": TEXT,
                          "addresses": {LIST: TEXT}}},
    "gpus": {LIST: {"name": TEXT, "driver": TEXT, "mig": FLAG}},
    "conf": {LIST: {"path": TEXT, "variables": VARIABLES, "mistakes": {LIST: TEXT}}}, "scripts": {LIST: {"path": TEXT, "variables": VARIABLES}},
    "environment": {"image": VARIABLES, "session": VARIABLES},
    "provider": {"files": {LIST: TEXT}, "product": {TABLE: TEXT}}}


def setUpModule():
    print("seed of the fabric's fuzz: SEED=%d ROUNDS=%d" % (SEED, ROUNDS))


def wrong(value, shape, at="facts"):
    """Where a value is not of its shape; None where all of it is."""
    if not isinstance(shape, dict):
        good = isinstance(value, shape) and (isinstance(value, bool) == (shape is FLAG))
        if good and shape is TEXT:
            good = not any(letter < " " or letter == "\x7f" for letter in value)
        return None if good else "%s: %r" % (at, value)
    if LIST in shape:
        if not isinstance(value, list):
            return "%s: %r" % (at, value)
        pairs = [(item, shape[LIST], "%s[%d]" % (at, index)) for index, item in enumerate(value)]
    elif not isinstance(value, dict):
        return "%s: %r" % (at, value)
    elif TABLE in shape:
        pairs = [(item, shape[TABLE], "%s[%r]" % (at, key)) for key, item in value.items()]
    else:
        unknown = sorted(set(value) - set(shape))
        if unknown:
            return "%s has %s" % (at, unknown)
        pairs = [(item, shape[key], at + "." + key) for key, item in value.items()]
    return next((found for found in (wrong(*pair) for pair in pairs) if found), None)


@slow
class NonsenseTest(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(SEED)

    def text(self):
        chance = self.chance
        how = chance.randrange(4)
        if how == 0:
            return bytes(chance.randrange(256) for _ in range(chance.randrange(300)))
        if how == 1:
            return chance.choice(WORDS).encode() * chance.choice((1, 1, 1, 40, 3000))
        if how == 2:
            return b"".join(chance.choice(WORDS).encode() + chance.choice((b"\n", b"\t", b" ", b"")) for _ in range(chance.randrange(60)))
        return b"x" * chance.choice((4095, 4096, 65536, 300000))

    def changed(self, text):
        """A text of the machine with some of its bytes replaced."""
        data = bytearray(text.encode())
        for _ in range(self.chance.randrange(1, 6)):
            at = self.chance.randrange(len(data) + 1)
            data[at:at + self.chance.randrange(20)] = self.text()[:self.chance.randrange(30)]
        return data.decode("utf-8", "replace")

    def damage(self, root, files, answers):
        chance = self.chance
        if chance.randrange(5) == 0 and answers["commands"]:
            entry = answers["commands"][chance.choice(sorted(answers["commands"]))]
            entry["text"] = self.changed(entry["text"]) if chance.randrange(2) else self.text().decode("utf-8", "replace")
            return
        path = os.path.join(root, chance.choice(files))
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            return              # it was damaged before
        how = chance.randrange(8)
        if how == 7:
            name = bytes(chance.randrange(1, 256) for _ in range(8)).replace(b"/", b"_")
            for _ in range(chance.randrange(4)):
                folder = os.path.dirname(folder) if len(folder) > len(root) else folder
            path = os.path.join(os.fsencode(folder), name)
            how = chance.choice((0, 7))
        elif os.path.isdir(path):
            return
        if os.path.lexists(path) and not os.path.isdir(path):
            os.unlink(path)
        if how == 0:
            os.mkdir(path)
        elif how == 1:
            os.symlink(path, path)
        elif how == 2:
            os.mkfifo(path)
        elif how > 3 and not os.path.isdir(path):
            with open(path, "wb") as file:
                file.write(self.text())

    def test_facts_stay_facts(self):
        for name in self.chance.sample(trees.names(), min(len(trees.names()), 5 * ROUNDS)):
            node = self.chance.choice(trees.Gang(name).nodes)
            root = tempfile.mkdtemp(prefix="gpt", dir=trees.WRITTEN)
            self.addCleanup(shutil.rmtree, os.fsencode(root))
            node.write(root)
            files = sorted(node.files)
            for reading in range(READINGS):
                found = gather.facts(Recorded(root, {"PATH": "/bin"}, "/root"), node.peers)
                place = "%s, reading %d" % (name, reading)
                self.assertIsNone(wrong(found, SHAPE), place)
                json.dumps(found, allow_nan=False)
                self.assertLess(len(frames.pack_json({"result": found})), frames.MAX_MESSAGE, place)
                for _ in range(DAMAGES):
                    self.damage(root, files, node.answers)
                with open(os.path.join(root, ".answers.json"), "w") as file:
                    json.dump(node.answers, file)

    def test_parsers_take_anything(self):
        for _ in range(300 * ROUNDS):
            text = self.text().decode("utf-8", "replace")
            self.assertIsNone(wrong({"topology": topology.parse(text)}, SHAPE))
            self.assertIsNone(wrong({"conf": [conf.parse("/x", text)]}, SHAPE))
            for route in (interfaces.default4, interfaces.default6):
                self.assertIsInstance(route(text) or "", str)
            gpus.table(text)

    def test_a_wrong_shape_is_seen(self):
        for bad in ({"memlock": "1"}, {"memlock": True}, {"rdma": {}}, {"rdma": [{"device": None}]}, {"new": 1}, {"hostname": "a\nb"}):
            self.assertIsNotNone(wrong(bad, SHAPE), bad)


if __name__ == "__main__":
    unittest.main()
