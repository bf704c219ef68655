"""TMPDIR of what runs on this node: below the state folder, which goes with the node and is on the disk that was chosen for it,
and by a short path. Programs put unix sockets there (multiprocessing, VS Code, torch), and a socket's path ends at 107 bytes.
Where the state folder's own path is too long, a link in the agent's folder leads there."""
import os
import socket

MAX_SOCKET = 107        # sun_path has 108 bytes, one of them the NUL at the end
# The longest sockets that are known to be made below TMPDIR: of a run's rank with torch, and of an editor in a session.
LONGEST = ("/r12345678/1023/torch-shm-dir-123456/manager.sock", "/vscode-ipc-01234567-89ab-cdef-0123-456789abcdef.sock")
MAX_STATE = MAX_SOCKET - len("/tmp") - max(len(name) for name in LONGEST)


def below(state):
    return os.path.join(state, "tmp")


def is_short(state):
    return len(os.fsencode(state)) <= MAX_STATE


def try_socket(folder):
    """OSError when sockets cannot be made there: the path is too long, or it is a file system without them."""
    trial = os.path.join(folder, "s" + os.urandom(4).hex())     # tempfile takes milliseconds of each start to load
    os.mkdir(trial, 0o700)
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(os.path.join(trial, "s"))
        os.unlink(os.path.join(trial, "s"))
    finally:
        os.rmdir(trial)


def of_node(state, folder):
    """The TMPDIR of everything but runs; made if it does not exist. `folder` is the agent's own, whose path is short.
    OSError if the state folder accepts no files."""
    own = below(state)
    os.makedirs(own, mode=0o700, exist_ok=True)
    try:
        path = own if is_short(state) else linked(own, folder)
        try_socket(path)
        return path
    except OSError:
        return plain(folder)


def linked(own, folder):
    path = below(folder)
    if os.path.islink(path):
        if os.readlink(path) == own:
            return path
        os.unlink(path)
    elif os.path.isdir(path):
        os.rmdir(path)          # an agent of this node that was killed may have left one that is in use: OSError
    os.symlink(own, path)
    return path


def plain(folder):
    """In the agent's folder itself: the state folder is on a file system without sockets."""
    path = below(folder)
    if os.path.islink(path):
        os.unlink(path)
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path
