"""A disk that ignores the case of names, as those of macOS and Windows do: FUSE, spoken to the kernel.
usage: folding_disk.py MOUNTPOINT FOLDER. What is written there lies in FOLDER, under the names that it was made with.
Prints "ready" once it is mounted, and ends when it is unmounted. Needs root and /dev/fuse."""
import ctypes
import errno
import os
import struct
import sys

IN, OUT = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
ATTR, ENTRY = struct.Struct("<QQQQQQ10I"), struct.Struct("<QQQQII")
SETATTR = struct.Struct("<IIQQQQQQIIIIIIII")
READ, WRITE = struct.Struct("<QQIIQII"), struct.Struct("<QQIIQII")
ROOT, BUFFER = 1, 1 << 20
MODE, SIZE = 1, 8       # of SETATTR; nothing else of it is used


def text(payload):
    return payload.split(b"\0")


class Disk:
    def __init__(self, folder, device):
        self.device = device
        self.paths = {ROOT: folder}     # by node id
        self.next = ROOT + 1

    def find(self, node, name):
        """The path of this name, as the disk has it; of a new one as it is written."""
        folder = self.paths[node]
        for known in os.listdir(folder):
            if known.decode().casefold() == name.decode().casefold():
                return os.path.join(folder, known)
        return os.path.join(folder, name)

    def attributes(self, path):
        found = os.lstat(path)
        return ATTR.pack(found.st_ino, found.st_size, found.st_blocks, int(found.st_atime), int(found.st_mtime),
                         int(found.st_ctime), 0, found.st_mtime_ns % 10**9, 0, found.st_mode, found.st_nlink, 0, 0, 0, 4096, 0)

    def entry(self, path):
        attributes = self.attributes(path)
        for node, known in self.paths.items():
            if known == path:
                return ENTRY.pack(node, 0, 0, 0, 0, 0) + attributes
        self.paths[self.next] = path
        self.next += 1
        return ENTRY.pack(self.next - 1, 0, 0, 0, 0, 0) + attributes

    def init(self, node, payload):
        return struct.pack("<IIIIHHIIHHIII", 7, 31, 65536, 0, 12, 9, 131072, 1, 32, 0, 0, 0, 0) + bytes(20)

    def lookup(self, node, payload):
        return self.entry(self.find(node, text(payload)[0]))

    def getattr(self, node, payload):
        return bytes(16) + self.attributes(self.paths[node])

    def setattr(self, node, payload):
        fields = SETATTR.unpack_from(payload)
        if fields[0] & MODE:
            os.chmod(self.paths[node], fields[11] & 0o7777)
        if fields[0] & SIZE:
            os.truncate(self.paths[node], fields[3])
        return self.getattr(node, payload)

    def readlink(self, node, payload):
        return os.readlink(self.paths[node])

    def symlink(self, node, payload):
        name, target = text(payload)[:2]
        path = self.find(node, name)
        os.symlink(target, path)
        return self.entry(path)

    def mkdir(self, node, payload):
        path = self.find(node, text(payload[8:])[0])
        os.mkdir(path, struct.unpack_from("<I", payload)[0] & 0o777)
        return self.entry(path)

    def unlink(self, node, payload):
        os.unlink(self.find(node, text(payload)[0]))
        return b""

    def rmdir(self, node, payload):
        os.rmdir(self.find(node, text(payload)[0]))
        return b""

    def rename(self, node, payload, head=8):
        to = struct.unpack_from("<Q", payload)[0]
        old, new = text(payload[head:])[:2]
        old, new = self.find(node, old), self.find(to, new)
        os.rename(old, new)
        for known, path in list(self.paths.items()):
            if path == new:
                del self.paths[known]
            elif path == old or path.startswith(old + b"/"):
                self.paths[known] = new + path[len(old):]
        return b""

    def rename2(self, node, payload):
        return self.rename(node, payload, 16)

    def open(self, node, payload):
        flags = struct.unpack_from("<I", payload)[0]
        return struct.pack("<QII", os.open(self.paths[node], flags & ~os.O_NOFOLLOW), 0, 0)

    def create(self, node, payload):
        flags, mode = struct.unpack_from("<II", payload)
        path = self.find(node, text(payload[16:])[0])
        fd = os.open(path, flags | os.O_CREAT, mode & 0o777)
        return self.entry(path) + struct.pack("<QII", fd, 0, 0)

    def read(self, node, payload):
        fd, offset, size = READ.unpack_from(payload)[:3]
        return os.pread(fd, size, offset)

    def write(self, node, payload):
        fd, offset, size = WRITE.unpack_from(payload)[:3]
        return struct.pack("<II", os.pwrite(fd, payload[WRITE.size:WRITE.size + size], offset), 0)

    def release(self, node, payload):
        os.close(struct.unpack_from("<Q", payload)[0])
        return b""

    def nothing(self, node, payload):
        return b""

    def opendir(self, node, payload):
        return bytes(16)

    def readdir(self, node, payload):
        _, offset, size = READ.unpack_from(payload)[:3]
        out = b""
        for at, name in enumerate(sorted(os.listdir(self.paths[node]))):
            if at >= offset:
                one = struct.pack("<QQII", 1, at + 1, len(name), 0) + name
                one += bytes(-len(one) % 8)
                if len(out) + len(one) > size:
                    break
                out += one
        return out

    def statfs(self, node, payload):
        return struct.pack("<QQQQQIIII", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0) + bytes(24)

    CALLS = {1: lookup, 3: getattr, 4: setattr, 5: readlink, 6: symlink, 9: mkdir, 10: unlink, 11: rmdir, 12: rename, 14: open,
             15: read, 16: write, 17: statfs, 18: release, 25: nothing, 26: init, 27: opendir, 28: readdir, 29: nothing,
             35: create, 45: rename2}
    WITHOUT_ANSWER = (2, 36, 42)    # FORGET, INTERRUPT, BATCH_FORGET

    def serve(self):
        while True:
            try:
                request = os.read(self.device, BUFFER + 4096)
            except OSError as error:
                if error.errno in (errno.ENODEV, errno.EBADF):
                    return          # unmounted
                continue
            _, call, unique, node = IN.unpack_from(request)[:4]
            if call in self.WITHOUT_ANSWER:
                continue
            try:
                answer, failed = self.CALLS[call](self, node, request[IN.size:]), 0
            except OSError as error:
                answer, failed = b"", -error.errno
            except KeyError:
                answer, failed = b"", -errno.ENOSYS
            os.write(self.device, OUT.pack(OUT.size + len(answer), failed, unique) + answer)


def main(mountpoint, folder):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0" % device
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"folding", os.fsencode(mountpoint), b"fuse", 0, options.encode()) != 0:
        sys.exit("cannot mount: " + os.strerror(ctypes.get_errno()))
    print("ready", flush=True)
    Disk(os.fsencode(folder), device).serve()


main(*sys.argv[1:])
