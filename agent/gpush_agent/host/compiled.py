"""What an earlier agent has compiled of the same source with the same Python: compiling is half of a start. Only on the user's own
machine, where the gateway names a folder for it.

    <folder>/compiled-<24 hex>    the hex is of SHA-256 of source and Python; in it a CRC-32 (4 bytes, big-endian) and what
                                  marshal makes of {"package/module": what marshal makes of its code}

This is code that will run, so it is read only where no other user can have written it, and only when it is whole. In all other
cases the source is compiled. The loader imports this module before it can use such a file, so it imports little."""
import marshal
import os
import stat
import sys
import zlib

from ..core.digest import sha256
from . import relay

PREFIX = "compiled-"
MOST_FILES = 8              # one for each build of gpush and each Python; half a megabyte each
MOST_BYTES = 16 << 20
KEEP_SECONDS = 30.0


class File:
    def __init__(self, source, folder):
        """`source`: all of it, as the gateway sent it."""
        self.folder = folder
        self.path = os.path.join(folder, PREFIX + sha256(source + sys.version.encode()).hexdigest()[:24])

    def read(self):
        """{name of a module: bytes for marshal.loads}; empty when there is no file that can be trusted."""
        try:
            return load(self.path) if relay.own_folder(self.folder) else {}
        except (OSError, ValueError, EOFError, TypeError):
            return {}

    def write(self, found, made):
        """What was found, and the code objects that were made since then."""
        from ..core.wholefile import replace
        from .folder import own_folder
        data = marshal.dumps(dict(found, **{name: marshal.dumps(code) for name, code in made.items()}))
        os.makedirs(os.path.dirname(self.folder), 0o700, True)
        if own_folder(self.folder, True):
            replace(self.path, zlib.crc32(data).to_bytes(4, "big") + data)
            remove_oldest(self.folder)


def keep(agent, loader):
    """For the next start; one that finds nothing takes longer, no more."""
    from ..core.worker import Worker
    if loader.file and loader.made:
        Worker(agent.loop, agent.origin, lambda: loader.file.write(loader.found, loader.made),
               lambda result, refused: refused and agent.log("compiled: %s %s" % (refused.code, refused.facts)), KEEP_SECONDS)


def load(path):
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & relay.OTHERS:
            raise ValueError("not ours alone")
        data = file.read(MOST_BYTES)
    if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "big"):
        raise ValueError("damaged")
    return marshal.loads(data[4:])


def remove_oldest(folder):
    """Also what a writer that was killed has left."""
    ages = []
    for name in os.listdir(folder):
        if name.startswith(PREFIX):
            path = os.path.join(folder, name)
            try:
                ages.append((os.lstat(path).st_mtime, path))
            except FileNotFoundError:       # another agent does the same
                pass
    for _, path in sorted(ages, reverse=True)[MOST_FILES:]:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
