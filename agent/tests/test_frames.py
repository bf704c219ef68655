"""The codec: every golden vector, and seeded nonsense that may only ever give frames or Bad."""
import glob
import json
import os
import random
import struct
import unittest

import client
from gpush_agent.link import frames

GOLDEN = os.path.join(client.HERE, "..", "..", "link", "src", "test", "resources", "golden", "*.json")
KINDS = {name: kind for kind, name in frames.NAMES.items()}


def vectors():
    for path in sorted(glob.glob(GOLDEN)):
        with open(path) as file:
            for vector in json.load(file):
                yield os.path.basename(path), vector


def payload(frame):
    """The payload that a golden vector describes: payload_hex, json, or none."""
    if "payload_hex" in frame:
        return bytes.fromhex(frame["payload_hex"])
    return None


class RawTest(unittest.TestCase):
    def test_bytes_that_are_not_utf8_come_back(self):
        for data in (b"caf\xe9", b"\xff\x00\xc3", "\u00e9\u20ac\U0001f600".encode() + b"\xf0\x9f"):
            text = data.decode("utf-8", "surrogateescape")
            packed = frames.pack_json({"path": text})
            packed.decode("utf-8")
            self.assertEqual(frames.unpack_json(packed)["path"].encode("utf-8", "surrogateescape"), data)


class GoldenTest(unittest.TestCase):
    def test_every_vector(self):
        self.assertGreater(len(list(vectors())), 10)
        for file, vector in vectors():
            with self.subTest(file=file, name=vector["name"]):
                data = bytes.fromhex(vector["hex"])
                found = frames.Parser().feed(data)
                if vector.get("ignored"):
                    self.assertEqual(found, [])
                    continue
                if "error" in vector:
                    with self.assertRaises(frames.Bad) as caught:
                        self.assertEqual(len(found), 1)
                        if isinstance(found[0], frames.Bad):
                            raise found[0]
                        if found[0][0] in frames.JSONS:
                            frames.unpack_json(found[0][4])
                    self.assertEqual(str(caught.exception), vector["error"])
                    continue
                wanted = vector["frame"]
                kind = wanted["kind"] if isinstance(wanted["kind"], int) else KINDS[wanted["kind"]]
                self.assertEqual(len(found), 1)
                self.assertEqual(found[0][:4], (kind, wanted["flags"], wanted["stream"], wanted["sequence"]))
                if payload(wanted) is not None:
                    self.assertEqual(found[0][4], payload(wanted))
                elif "json" in wanted:
                    self.assertEqual(frames.unpack_json(found[0][4]), wanted["json"])
                self.assertEqual(frames.encode(*found[0]), data)


class ParserTest(unittest.TestCase):
    def test_round_trip_in_pieces_of_every_size(self):
        sent = [(frames.DATA, 1, 5, 9, b"x" * 70), (frames.END, 0, 5, 10, b""), (frames.PING, 0, 0, 0, b"12345678"),
                (frames.CLOSE, 0, 5, 11, b"{}")]
        data = b"".join(frames.encode(*frame) for frame in sent)
        for size in range(1, len(data) + 1):
            parser, found = frames.Parser(), []
            for start in range(0, len(data), size):
                found += parser.feed(data[start:start + size])
            self.assertEqual(found, sent)

    def test_bad_headers(self):
        for name, header in (
                ("length", struct.pack(">IBBHIQ", frames.MAX_PAYLOAD + 1, frames.OPEN, 0, 0, 1, 1)),
                ("reserved", struct.pack(">IBBHIQ", 0, frames.END, 0, 1, 1, 1)),
                ("kind", struct.pack(">IBBHIQ", 0, 0x17, 0, 0, 1, 1)),
                ("kind", struct.pack(">IBBHIQ", 0, 0, 0, 0, 0, 0)),
                ("sequence", struct.pack(">IBBHIQ", 0, frames.END, 0, 0, 1, 0)),
                ("sequence", struct.pack(">IBBHIQ", 8, frames.PING, 0, 0, 0, 1)),
                ("flags", struct.pack(">IBBHIQ", 0, frames.END, 2, 0, 1, 1)),
                ("stream", struct.pack(">IBBHIQ", 0, frames.END, 0, 0, 0, 1)),
                ("length", struct.pack(">IBBHIQ", 7, frames.ACK, 0, 0, 0, 0))):
            found = frames.Parser().feed(header)
            self.assertEqual(len(found), 1)
            self.assertEqual(str(found[0]), name)

    def test_frames_before_a_bad_one_are_delivered(self):
        good = frames.encode(frames.END, 0, 1, 1)
        found = frames.Parser().feed(good + b"\xff" * 20)
        self.assertEqual(found[0][0], frames.END)
        self.assertIsInstance(found[1], frames.Bad)

    def test_unknown_high_kinds_are_ignored(self):
        data = struct.pack(">IBBHIQ", 3, 0x80, 0, 0, 0, 0) + b"abc"
        self.assertEqual(frames.Parser().feed(data + frames.encode(frames.END, 0, 1, 1))[0][0], frames.END)

    def test_json_limits(self):
        for text in (b"[]", b"1", b"{", b"\xff", b"", b'{"a":' * 40 + b"1" + b"}" * 40, b"[" * 60000):
            with self.assertRaises(frames.Bad):
                frames.unpack_json(text)
        self.assertEqual(frames.unpack_json(b'{"a":' * 32 + b"1" + b"}" * 32)["a"] is not None, True)

    def test_nonsense(self):
        seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
        print("seed of the frame fuzz: SEED=%d" % seed)
        chance = random.Random(seed)
        good = b"".join(frames.encode(frames.DATA, 0, 1, number, b"abc" * number) for number in range(1, 9))
        for _ in range(3000):
            data = bytearray(good)
            for _ in range(chance.randrange(4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            data = bytes(data[:chance.randrange(len(data))])
            parser, start = frames.Parser(), 0
            while start < len(data):
                end = start + chance.randrange(1, 60)
                found = parser.feed(data[start:end])
                start = end
                if found and isinstance(found[-1], frames.Bad):
                    break


if __name__ == "__main__":
    unittest.main()
