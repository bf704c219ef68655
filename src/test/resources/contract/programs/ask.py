"""A client of speaker.py: ask.py PORT [SOCKS_PORT [COUNT]]. COUNT connections are open at a time."""
import socket
import sys

port = int(sys.argv[1])
proxy = int(sys.argv[2]) if len(sys.argv) > 2 else None
count = int(sys.argv[3]) if len(sys.argv) > 3 else 1


def exactly(peer, size):
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        assert part, "closed"
        data += part
    return data


def connected():
    peer = socket.create_connection(("127.0.0.1", proxy or port))
    if proxy:
        peer.sendall(bytes([5, 1, 0]))
        assert exactly(peer, 2) == bytes([5, 0])
        peer.sendall(bytes([5, 1, 0, 1, 127, 0, 0, 1]) + port.to_bytes(2, "big"))
        assert exactly(peer, 10)[1] == 0, "refused"
    return peer


peers = [connected() for _ in range(count)]
said = {exactly(peer, 6) for peer in peers}
for peer in peers:
    peer.sendall(b"x" * 100000)
    peer.shutdown(socket.SHUT_WR)
answers = {peer.makefile().read() for peer in peers}
print(*(text.decode() for text in said), *answers, sep="")
