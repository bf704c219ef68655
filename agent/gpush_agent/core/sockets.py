"""Unix sockets: who is at the other end."""
import os
import socket
import struct


def peer(sock):
    """The process and the user at the other end; 0 and -1 where the system does not tell."""
    try:
        return struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[:2]
    except (OSError, AttributeError):
        return 0, os.getuid() if not hasattr(socket, "SO_PEERCRED") else -1
