"""What an earlier agent of this user has compiled of the same source with the same Python: compiling is half of a start.

    <base>/gpush-<uid>/compiled-<24 hex>    the hex is of SHA-256 of source and Python; in it a CRC-32 (4 bytes, big-endian)
                                            and what marshal makes of {"package/module": what marshal makes of its code}

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
    def __init__(self, source, bases=None):
        """`source`: all of it, as the gateway sent it. `bases`: in tests, other folders than the system's."""
        self.name = PREFIX + sha256(source + sys.version.encode()).hexdigest()[:24]
        self.folders = [os.path.join(base, "gpush-%d" % os.getuid()) for base in bases or relay.BASES]

    def read(self):
        """{name of a module: bytes for marshal.loads}; empty when there is no file that can be trusted."""
        for folder in self.folders:
            if relay.own_folder(folder):
                try:
                    return load(os.path.join(folder, self.name))
                except (OSError, ValueError, EOFError, TypeError):
                    pass
        return {}

    def write(self, found, made):
        """What was found, and the code objects that were made since then."""
        from ..core.wholefile import replace
        from .folder import own_folder
        data = marshal.dumps(dict(found, **{name: marshal.dumps(code) for name, code in made.items()}))
        folder = next((folder for folder in self.folders if own_folder(folder, True)), None)
        if folder is not None:
            replace(os.path.join(folder, self.name), zlib.crc32(data).to_bytes(4, "big") + data)
            remove_oldest(folder)


def keep(agent, loader):
    """For the next start on this host; one that finds nothing takes longer, no more."""
    from ..core.worker import Worker
    if set(loader.made).difference(loader.found):
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
