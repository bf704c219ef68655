"""Copies stdin to the agent's socket and the socket to stdout until either side ends. All state is in the agent.

This text is also a program of its own, so that coming back costs little: sent on the command line, without the rest of
the agent, it finds the socket of an agent that runs. It therefore imports next to nothing, and nothing of ours."""
import _socket
import _thread
import fcntl
import os
import sys
import time

SIZE = 131072     # small on purpose: urgent frames cannot overtake bytes in these buffers
F_SETPIPE_SZ = 1031
BASES = ("/tmp", "/var/tmp", "/dev/shm")
NOT_FOUND = 94
PREAMBLE_SIZE = 33      # of hex digits and the end of their line
FOLDER, KINDS, OTHERS = 0o040000, 0o170000, 0o077      # of st_mode
FIRST_PAUSE, LAST_PAUSE = 0.05, 0.25    # between two checks for an agent that is starting
SECONDS = "wait="


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


def discard(source):
    """Reads to the end."""
    try:
        while os.read(source, SIZE):
            pass
    except OSError:
        pass


def run(sock, fd_in, fd_out, preamble):
    """Never returns, once it has begun; RuntimeError when there can be no second thread."""
    for option in (_socket.SO_SNDBUF, _socket.SO_RCVBUF):
        sock.setsockopt(_socket.SOL_SOCKET, option, SIZE)

    try:
        fcntl.fcntl(fd_out, F_SETPIPE_SZ, SIZE)
    except OSError:         # not a pipe
        pass

    def upwards():
        copy(fd_in, sock.fileno())
        discard(fd_in)      # the agent may have closed its end, and its last frames are still on their way down
        os._exit(0)

    _thread.start_new_thread(upwards, ())
    os.write(fd_out, preamble)
    copy(sock.fileno(), fd_out)
    os._exit(0)


def own_folder(path):
    """Whether `path` is a folder that only we can use."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return found.st_mode & KINDS == FOLDER and found.st_uid == os.getuid() and not found.st_mode & OTHERS


def connect(folder, kind):
    """A connection to the agent at this folder, or None. `kind`: of socket."""
    sock = kind(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        sock.settimeout(5.0)
        sock.connect(os.path.join(folder, "agent.sock"))
        sock.settimeout(None)
        return sock
    except OSError:
        sock.close()
        return None


def find(name, bases, kind=_socket.socket):
    """A connection to the agent whose folder has this name, or None. `kind`: of socket."""
    for base in bases:
        user = os.path.join(base, "gpush-%d" % os.getuid())
        folder = os.path.join(user, name)
        if own_folder(user) and own_folder(folder):
            sock = connect(folder, kind)
            if sock is not None:
                return sock
    return None


def wait(name, bases, seconds):
    """As find; an agent that does not run yet may come within so many seconds."""
    until = time.monotonic() + seconds
    pause = FIRST_PAUSE
    sock = find(name, bases)
    while sock is None and time.monotonic() < until:
        time.sleep(pause)
        pause = min(2 * pause, LAST_PAUSE)
        sock = find(name, bases)
    return sock


def main(name, bases, seconds=0.0):
    """The preamble comes on stdin. Unusual cases are left to the loader, which reports them."""
    preamble = b""
    while len(preamble) < PREAMBLE_SIZE:
        part = os.read(0, PREAMBLE_SIZE - len(preamble))
        if not part:
            os._exit(NOT_FOUND)
        preamble += part
    sock = wait(name, bases, seconds)
    if sock is not None:
        run(sock, 0, 1, preamble)


if __name__ == "__main__":
    try:
        words = [word for word in sys.argv[2:] if not word.startswith(SECONDS)]
        main(sys.argv[1], words or BASES, sum(float(word[len(SECONDS):]) for word in sys.argv[2:] if word not in words))
    except (OSError, RuntimeError):
        pass
    os._exit(NOT_FOUND)
