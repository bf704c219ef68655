"""Copies stdin to the agent's socket and the socket to stdout until either side ends. All state is in the agent."""
import os
import socket
import threading

SIZE = 1 << 20
F_SETPIPE_SZ = 1031


def copy_plain(source, target):
    buffer = bytearray(SIZE)
    view = memoryview(buffer)
    while True:
        count = os.readv(source, [buffer])
        if count == 0:
            return
        sent = 0
        while sent < count:
            sent += os.write(target, view[sent:count])


def copy(source, target):
    """By splice where the kernel and this Python can (one side must be a pipe), else through a buffer."""
    splice = getattr(os, "splice", None)
    if splice is not None:
        try:
            while splice(source, target, SIZE):
                pass
            return
        except BrokenPipeError:
            return
        except OSError:     # EINVAL at the first call: neither is a pipe
            pass
    try:
        copy_plain(source, target)
    except OSError:
        pass


def run(sock, fd_in, fd_out):
    """Never returns."""
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, SIZE)
    try:
        import fcntl
        fcntl.fcntl(fd_out, F_SETPIPE_SZ, SIZE)
    except OSError:
        pass

    def upwards():
        copy(fd_in, sock.fileno())
        os._exit(0)

    thread = threading.Thread(target=upwards)
    thread.daemon = True
    thread.start()
    copy(sock.fileno(), fd_out)
    os._exit(0)
