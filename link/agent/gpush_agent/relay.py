"""Copies stdin to the agent's socket and the socket to stdout until either side ends. All state is in the agent."""
import fcntl
import os
import socket
import threading

from .refused import Refused

SIZE = 131072     # small on purpose: what lies in buffers here, nothing urgent can overtake any more
F_SETPIPE_SZ = 1031


def copy(source, target):
    """Through one buffer. Not by os.splice: from a socket it waits for data while it holds the pipe's lock, and the
    reader of the pipe then hangs on bytes that are already there (seen on Linux 6.18)."""
    buffer = bytearray(SIZE)
    view = memoryview(buffer)
    try:
        while True:
            count = os.readv(source, [buffer])
            if count == 0:
                return
            sent = 0
            while sent < count:
                sent += os.write(target, view[sent:count])
    except OSError:
        pass


def run(sock, fd_in, fd_out, preamble):
    """Never returns, once it has begun; Refused when there can be no second thread."""
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, SIZE)

    try:
        fcntl.fcntl(fd_out, F_SETPIPE_SZ, SIZE)
    except OSError:         # not a pipe
        pass

    def upwards():
        copy(fd_in, sock.fileno())
        os._exit(0)

    thread = threading.Thread(target=upwards)
    thread.daemon = True
    try:
        thread.start()
    except RuntimeError:
        raise Refused("limit", {"errno": "EAGAIN"})
    os.write(fd_out, preamble)
    copy(sock.fileno(), fd_out)
    os._exit(0)
