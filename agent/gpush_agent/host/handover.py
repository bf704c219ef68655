"""Streams of a command on this node that become a pipe of the agent, so that nothing between has to copy (handover.sh is the
command). The folder of the agent holds

    handover.<pid>.<n>      a FIFO that the agent reads; pid and n: the agent, and its descriptor of the folder's lock
    reply.<pid>             a FIFO of the command with this pid, which has it open as descriptor 5

The command writes its pid into the first. The agent opens /proc/<pid>/fd/3 and 4, which are the command's standard input and
output, answers yes or no in the second, and keeps it open until it closes the streams: the end of it is the end of the command.
The check of descriptor 5 tells whether this pid means the same process to the agent as to the command: in another PID namespace
it does not."""
import os
import stat

PREFIX, REPLY = "handover.", "reply."
INPUT, OUTPUT = 3, 4        # descriptors of the command
KNOWN_BY = 5                # the descriptor of the command that is its reply's FIFO
MOST_READ = 4096
MOST_DIGITS = 10
PIPE_SIZE = 131072          # as the relay's: urgent frames cannot overtake bytes that are in the pipe
F_SETPIPE_SZ = 1031
YES, NO = b"yes\n", b"no\n"


def make(folder, pid, lock_fd):
    """The FIFO that the agent with this pid reads, open; -1 where there can be none. Removes those of killed agents."""
    try:
        for name in os.listdir(folder):
            if name.startswith((PREFIX, REPLY)):
                os.unlink(os.path.join(folder, name))
        path = os.path.join(folder, "%s%d.%d" % (PREFIX, pid, lock_fd))
        os.mkfifo(path, 0o600)
        return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return -1


def callers(fd):
    """The pids that were written since. Each comes as one line in one write, which a FIFO does not tear."""
    try:
        data = os.read(fd, MOST_READ)
    except OSError:
        return []
    return [int(line) for line in data.split() if line.isdigit() and len(line) <= MOST_DIGITS]


def take(folder, pid, has_room=True):
    """Ends, or None when these streams cannot be taken; the command gets an answer in either case."""
    path = os.path.join(folder, "%s%d" % (REPLY, pid))
    opened = []
    try:
        reply = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:             # it has ended
        return None
    try:
        try:
            process = "/proc/%d/" % pid
            if not has_room or not is_own(process) or not same(process + "fd/%d" % KNOWN_BY, path):
                raise OSError("no room, or another process")
            for number, flags in ((INPUT, os.O_RDONLY), (OUTPUT, os.O_WRONLY)):
                if not stat.S_ISFIFO(os.stat(process + "fd/%d" % number).st_mode):
                    raise OSError("no pipe")
                opened.append(os.open(process + "fd/%d" % number, flags | os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError:
            try:
                os.unlink(path)
            finally:
                os.write(reply, NO)
            raise
        os.write(reply, YES)
        return Ends(opened[0], opened[1], reply, path)
    except OSError:
        for fd in opened + [reply]:
            os.close(fd)
        return None


def is_own(process):
    return os.stat(process).st_uid == os.geteuid()


def same(one, other):
    one, other = os.stat(one), os.lstat(other)
    return stat.S_ISFIFO(other.st_mode) and (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


class Ends:
    """The two pipes of a command, as the agent uses a socket. `fd_end` is ready when the command has ended before them."""

    def __init__(self, fd_in, fd_out, reply, path):
        import fcntl
        self.fd_in, self.fd_out, self.fd_end, self.path = fd_in, fd_out, reply, path
        try:
            fcntl.fcntl(fd_out, F_SETPIPE_SZ, PIPE_SIZE)
        except OSError:             # the user has many pipes
            pass

    def read(self, size):
        return os.read(self.fd_in, size)

    def write(self, buffers):
        return os.writev(self.fd_out, buffers)

    def close(self):
        try:
            os.unlink(self.path)
        except OSError:
            pass
        for fd in (self.fd_in, self.fd_out, self.fd_end):
            os.close(fd)


class SocketEnds:
    """A connection to the agent's socket, used in the same way."""

    def __init__(self, sock):
        self.socket = sock
        self.fd_in = self.fd_out = sock.fileno()
        self.fd_end = -1

    def read(self, size):
        return self.socket.recv(size)

    def write(self, buffers):
        return self.socket.sendmsg(buffers)

    def close(self):
        self.socket.close()
