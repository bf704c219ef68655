"""RFC 6455, as much of it as an editor's server needs.
websockets.py serve 0|SOCKET_FILE        echoes messages, to many clients at a time; says where it listens
websockets.py ask PORT|SOCKET_FILE [SOCKS_PORT]  200 messages of all sizes there and back"""
import base64
import hashlib
import os
import random
import socket
import struct
import sys
import threading


def exactly(peer, size):
    data = bytearray()
    while len(data) < size:
        part = peer.recv(min(size - len(data), 1 << 16))
        if not part:
            raise EOFError("closed")
        data += part
    return bytes(data)


def head(peer):
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        data += exactly(peer, 1)
    return data


def answer_to(key):
    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


def send(peer, data, mask=None):
    bit = 0x80 if mask else 0
    if len(data) < 126:
        size = struct.pack(">B", bit | len(data))
    elif len(data) < 65536:
        size = struct.pack(">BH", bit | 126, len(data))
    else:
        size = struct.pack(">BQ", bit | 127, len(data))
    peer.sendall(b"\x82" + size + (mask or b"") + (masked(data, mask) if mask else data))


def masked(data, mask):
    pad = (mask * (len(data) // 4 + 1))[:len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(data), "big")


def receive(peer):
    first, second = exactly(peer, 2)
    size = second & 127
    if size == 126:
        size = struct.unpack(">H", exactly(peer, 2))[0]
    elif size == 127:
        size = struct.unpack(">Q", exactly(peer, 8))[0]
    mask = exactly(peer, 4) if second & 128 else None
    data = exactly(peer, size)
    return masked(data, mask) if mask else data


def serve_one(peer):
    try:
        key = [line for line in head(peer).split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")][0].split()[1]
        peer.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Accept: " + answer_to(key) + b"\r\n\r\n")
        while True:
            send(peer, receive(peer))
    except (EOFError, OSError):
        peer.close()


def serve(where):
    if where.startswith("/"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(where)
    else:
        server = socket.socket()
        server.bind(("127.0.0.1", int(where)))
    server.listen(16)
    print(where if where.startswith("/") else server.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve_one, args=(server.accept()[0],), daemon=True).start()


def connected(where, proxy):
    if where.startswith("/"):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(where)
        return peer
    peer = socket.create_connection(("127.0.0.1", int(proxy or where)))
    if proxy:
        peer.sendall(bytes([5, 1, 0]))
        assert exactly(peer, 2) == bytes([5, 0])
        peer.sendall(bytes([5, 1, 0, 1, 127, 0, 0, 1]) + int(where).to_bytes(2, "big"))
        assert exactly(peer, 10)[1] == 0, "refused"
    return peer


def ask(where, proxy=None):
    peer = connected(where, proxy)
    key = base64.b64encode(os.urandom(16))
    peer.sendall(b"GET / HTTP/1.1\r\nHost: node\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n")
    said = head(peer)
    assert said.startswith(b"HTTP/1.1 101 ") and answer_to(key) in said, said
    for _ in range(200):
        data = os.urandom(random.choice((0, 1, 125, 126, 1000, 65535, 65536, 100000)))
        send(peer, data, os.urandom(4))
        assert receive(peer) == data
    print("200 messages")


{"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
