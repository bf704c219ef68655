"""Lists the keys of the forwarded agent and lets the first one sign, as ssh does; without OpenSSH's programs."""
import os
import socket
import struct

agent = socket.socket(socket.AF_UNIX)
agent.connect(os.environ["SSH_AUTH_SOCK"])


def text(data):
    return struct.pack(">I", len(data)) + data


def exactly(size):
    data = b""
    while len(data) < size:
        part = agent.recv(size - len(data))
        assert part, "the agent has closed"
        data += part
    return data


def ask(kind, data=b""):
    agent.sendall(text(bytes([kind]) + data))
    answer = exactly(struct.unpack(">I", exactly(4))[0])
    return answer[0], answer[1:]


kind, keys = ask(11)
assert kind == 12 and struct.unpack(">I", keys[:4])[0] >= 1, keys
size = struct.unpack(">I", keys[4:8])[0]
key, rest = keys[8:8 + size], keys[8 + size:]
comment = rest[4:4 + struct.unpack(">I", rest[:4])[0]].decode()
kind, _ = ask(13, text(key) + text(b"to be signed") + struct.pack(">I", 0))
print(comment, "signs" if kind == 14 else "does not sign: %d" % kind)
