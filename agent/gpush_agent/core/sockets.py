"""Unix sockets: who is at the other end."""
import os
import socket
import struct


def peer_uid(sock):
    """The user at the other end; -1 where the system does not tell."""
    try:
        return struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    except (OSError, AttributeError):
        return os.getuid() if not hasattr(socket, "SO_PEERCRED") else -1
