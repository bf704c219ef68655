"""The codec: 20-byte headers and payloads, exactly as docs/technical/link.md section 2 has them. Pure."""
import json
import struct

HEADER = struct.Struct(">IBBHIQ")
HEADER_SIZE = 20
NUMBER = struct.Struct(">Q")

MAX_PAYLOAD = 1 << 20
MAX_DATA = 131072       # DATA is sent in pieces of at most this, so that streams share the pipe fairly
MAX_MESSAGE = 65536
MAX_DEPTH = 32
MAX_DIGITS = 400        # of a number: turning text into a long one takes the square of its length

HELLO, WELCOME, ACK, CREDIT, PING, PONG, BYE = 1, 2, 3, 4, 5, 6, 7
OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16

NAMES = {HELLO: "HELLO", WELCOME: "WELCOME", ACK: "ACK", CREDIT: "CREDIT", PING: "PING", PONG: "PONG", BYE: "BYE",
         OPEN: "OPEN", OPENED: "OPENED", REFUSED: "REFUSED", DATA: "DATA", END: "END", MESSAGE: "MESSAGE",
         CLOSE: "CLOSE"}
SEQUENCED = frozenset((OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE))
NUMBERS = frozenset((ACK, CREDIT, PING, PONG))
JSONS = frozenset((HELLO, WELCOME, BYE, OPEN, OPENED, REFUSED, MESSAGE, CLOSE))
ON_LINK = frozenset((HELLO, WELCOME, ACK, PING, PONG, BYE))


class Bad(Exception):
    """The peer broke the protocol; the pipe ends with BYE `protocol` and this reason among its facts."""


def header(kind, flags, stream, sequence, length):
    return HEADER.pack(length, kind, flags, 0, stream, sequence)


def encode(kind, flags, stream, sequence, payload=b""):
    return header(kind, flags, stream, sequence, len(payload)) + bytes(payload)


def pack_json(value):
    """Bytes of a name or an environment that are not UTF-8 are lone surrogates here, and go out as JSON escapes (u and four digits)."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")


def unpack_json(payload):
    """A JSON object within the depth limit, or Bad. Lone bytes that are not UTF-8 are refused, not guessed."""
    try:
        value = json.loads(bytes(payload).decode("utf-8"), parse_int=_integer, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise Bad("json")
    if not isinstance(value, dict):
        raise Bad("json")
    _check_depth(value, MAX_DEPTH)
    return value


def _integer(text):
    if len(text) > MAX_DIGITS:
        raise ValueError("digits")
    return int(text)


def _constant(text):
    """NaN and Infinity are Python's, not JSON's."""
    raise ValueError(text)


def _check_depth(value, left):
    if isinstance(value, (dict, list)):
        if left == 0:
            raise Bad("depth")
        for child in (value.values() if isinstance(value, dict) else value):
            _check_depth(child, left - 1)


def check(kind, flags, zero, stream, sequence, length):
    """Everything that can be said of a header alone; raises Bad."""
    if length > MAX_PAYLOAD:
        raise Bad("length")
    if zero:
        raise Bad("reserved")
    if kind not in NAMES:
        if kind < 0x80:
            raise Bad("kind")
        if sequence:
            raise Bad("sequence")
        return
    if (kind in SEQUENCED) != (sequence > 0):
        raise Bad("sequence")
    if flags and not (flags == 1 and kind in (DATA, END, MESSAGE)):
        raise Bad("flags")
    if (kind in ON_LINK) != (stream == 0):
        raise Bad("stream")
    if kind in NUMBERS and length != 8:
        raise Bad("length")
    if kind == END and length:
        raise Bad("length")
    if kind == MESSAGE and length > MAX_MESSAGE:
        raise Bad("length")
    if kind == DATA and length > MAX_DATA:
        raise Bad("length")


class Parser:
    """Turns bytes as they come into frames (kind, flags, stream, sequence, payload)."""

    def __init__(self):
        self.buffer = bytearray()

    def feed(self, chunk):
        """The frames completed by this chunk, as a list; raises Bad, after which the parser is of no more use.
        Frames that were complete before the bad one are delivered first, with the Bad as the last element."""
        buffer = self.buffer
        buffer += chunk
        frames = []
        offset, size = 0, len(buffer)
        view = memoryview(buffer)
        try:
            while size - offset >= HEADER_SIZE:
                length, kind, flags, zero, stream, sequence = HEADER.unpack_from(buffer, offset)
                check(kind, flags, zero, stream, sequence, length)
                end = offset + HEADER_SIZE + length
                if end > size:
                    break
                if kind < 0x80:
                    frames.append((kind, flags, stream, sequence, bytes(view[offset + HEADER_SIZE:end])))
                offset = end
        except Bad as bad:
            frames.append(bad)
        finally:
            view.release()
        if offset:
            del buffer[:offset]
        return frames
