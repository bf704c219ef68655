"""An SFTP server, version 3 with OpenSSH's extensions (draft-ietf-secsh-filexfer-02, OpenSSH PROTOCOL section 4).
Blocking code over two descriptors, in a process of its own; paths are bytes from end to end."""
import errno
import grp
import os
import pwd
import stat
import struct
import time

INIT, VERSION, OPEN, CLOSE, READ, WRITE, LSTAT, FSTAT, SETSTAT, FSETSTAT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
OPENDIR, READDIR, REMOVE, MKDIR, RMDIR, REALPATH, STAT, RENAME, READLINK, SYMLINK = 11, 12, 13, 14, 15, 16, 17, 18, 19, 20
STATUS, HANDLE, DATA, NAME, ATTRS, EXTENDED, EXTENDED_REPLY = 101, 102, 103, 104, 105, 200, 201

OK, EOF, NO_SUCH_FILE, DENIED, FAILURE, BAD_MESSAGE, UNSUPPORTED = 0, 1, 2, 3, 4, 5, 8
TEXTS = {OK: b"Success", EOF: b"End of file", NO_SUCH_FILE: b"No such file", DENIED: b"Permission denied",
         FAILURE: b"Failure", BAD_MESSAGE: b"Bad message", UNSUPPORTED: b"Operation unsupported"}
CODES = {errno.ENOENT: NO_SUCH_FILE, errno.ENOTDIR: NO_SUCH_FILE, errno.EBADF: NO_SUCH_FILE, errno.ELOOP: NO_SUCH_FILE,
         errno.EPERM: DENIED, errno.EACCES: DENIED, errno.EFAULT: DENIED, errno.EROFS: DENIED,
         errno.ENAMETOOLONG: BAD_MESSAGE, errno.EINVAL: BAD_MESSAGE, errno.ENOSYS: UNSUPPORTED}

MAX_PACKET = 256 * 1024
MAX_READ = MAX_PACKET - 1024
MAX_HANDLES = 1000
MAX_BATCH = 1 << 20         # answers gathered before they are written, while requests are at hand
NAMES_AT_ONCE = 100

A_SIZE, A_OWNER, A_MODE, A_TIMES, A_EXTENDED = 1, 2, 4, 8, 0x80000000
F_READ, F_WRITE, F_APPEND, F_CREATE, F_TRUNCATE, F_EXCLUSIVE = 1, 2, 4, 8, 16, 32

U32, U64 = struct.Struct(">I"), struct.Struct(">Q")
HEAD = struct.Struct(">IB")                 # of a packet: length and kind
ATTRIBUTES = struct.Struct(">IQIIIII")
EXTENSIONS = ((b"posix-rename@openssh.com", b"1"), (b"statvfs@openssh.com", b"2"), (b"fstatvfs@openssh.com", b"2"),
              (b"hardlink@openssh.com", b"1"), (b"fsync@openssh.com", b"1"), (b"lsetstat@openssh.com", b"1"),
              (b"limits@openssh.com", b"1"), (b"expand-path@openssh.com", b"1"), (b"copy-data", b"1"))


class Failed(Exception):
    """Answered with this status code."""

    def __init__(self, code, text=None):
        super().__init__(code)
        self.code, self.text = code, text


class End(Exception):
    """The client is gone or broke the protocol."""


class Fields:
    """Reads the fields of one packet."""

    def __init__(self, data, offset=0):
        self.data, self.offset = data, offset

    def u32(self):
        return self._take(U32, 4)

    def u64(self):
        return self._take(U64, 8)

    def _take(self, form, size):
        if self.offset + size > len(self.data):
            raise Failed(BAD_MESSAGE)
        value = form.unpack_from(self.data, self.offset)[0]
        self.offset += size
        return value

    def view(self):
        size = self.u32()
        if self.offset + size > len(self.data):
            raise Failed(BAD_MESSAGE)
        view = self.data[self.offset:self.offset + size]
        self.offset += size
        return view

    def bytes(self):
        return bytes(self.view())

    def path(self):
        path = self.bytes()
        if b"\0" in path:
            raise Failed(NO_SUCH_FILE)
        return path or b"."

    def attributes(self):
        """{"size", "owner", "mode", "times"}, each only when given."""
        flags, found = self.u32(), {}
        if flags & A_SIZE:
            found["size"] = self.u64()
        if flags & A_OWNER:
            found["owner"] = (self.u32(), self.u32())
        if flags & A_MODE:
            found["mode"] = self.u32()
        if flags & A_TIMES:
            found["times"] = (self.u32(), self.u32())
        if flags & A_EXTENDED:
            for _ in range(min(self.u32(), 64)):
                self.bytes()
                self.bytes()
        return found


def text(value):
    return U32.pack(len(value)) + value


def attributes(found):
    """The wire form of an os.stat_result."""
    return ATTRIBUTES.pack(A_SIZE | A_OWNER | A_MODE | A_TIMES, found.st_size, found.st_uid & 0xffffffff,
                           found.st_gid & 0xffffffff, found.st_mode, int(found.st_atime) & 0xffffffff,
                           int(found.st_mtime) & 0xffffffff)


class Names:
    """User and group names, each looked up once."""

    def __init__(self):
        self.users, self.groups = {}, {}

    def user(self, number):
        if number not in self.users:
            try:
                self.users[number] = pwd.getpwuid(number).pw_name
            except (KeyError, OverflowError):
                self.users[number] = str(number)
        return self.users[number]

    def group(self, number):
        if number not in self.groups:
            try:
                self.groups[number] = grp.getgrgid(number).gr_name
            except (KeyError, OverflowError):
                self.groups[number] = str(number)
        return self.groups[number]

    def line(self, name, found):
        """As `ls -l` prints it, with the first of all dates for a time that no calendar has."""
        at = found.st_mtime
        try:
            when = time.localtime(at)
        except (OverflowError, ValueError, OSError):
            at, when = 0, time.localtime(0)
        recent = -86400 < time.time() - at < 182 * 86400
        date = time.strftime("%b %e %H:%M" if recent else "%b %e  %Y", when)
        head = "%s %4d %-8s %-8s %8d %s " % (stat.filemode(found.st_mode), found.st_nlink, self.user(found.st_uid),
                                             self.group(found.st_gid), found.st_size, date)
        return head.encode("utf-8", "surrogateescape") + name


class Server:
    def __init__(self, fd_in, fd_out):
        self.fd_in, self.fd_out = fd_in, fd_out
        self.handles = {}           # bytes -> ["file", fd, append] or ["folder", path, iterator]
        self.next = 0
        self.names = Names()
        self.answers, self.size = [], 0
        self.space = memoryview(bytearray(MAX_READ))

    # ---- packets

    def run(self):
        """Always reads into one buffer: new memory for every megabyte costs more than copying it."""
        buffer = bytearray(4 * MAX_PACKET)
        view = memoryview(buffer)
        start = end = 0
        try:
            while True:
                while end - start >= 5:
                    length = U32.unpack_from(buffer, start)[0]
                    if not 1 <= length <= MAX_PACKET + 1024:
                        raise End()
                    if end - start - 4 < length:
                        break
                    self.packet(buffer[start + 4], view[start + 5:start + 4 + length])
                    start += 4 + length
                self.flush()
                if start == end:
                    start = end = 0
                elif len(buffer) - start < 2 * MAX_PACKET:
                    rest = bytes(view[start:end])
                    view[:len(rest)] = rest
                    start, end = 0, len(rest)
                count = os.readv(self.fd_in, [view[end:]])
                if not count:
                    return 0
                end += count
        except End:
            return 1
        except BrokenPipeError:
            return 0
        finally:
            for handle in self.handles.values():
                self.drop(handle)

    def flush(self):
        while self.answers:
            count = os.writev(self.fd_out, self.answers[:512])
            done = 0
            while done < len(self.answers) and count >= len(self.answers[done]):
                count -= len(self.answers[done])
                done += 1
            del self.answers[:done]
            if count:
                self.answers[0] = memoryview(self.answers[0])[count:]
        self.size = 0

    def send(self, kind, head, data=b""):
        length = 1 + len(head) + len(data)
        self.answers.append(HEAD.pack(length, kind) + head)
        if data:
            self.answers.append(data)
        self.size += length
        if self.size >= MAX_BATCH:
            self.flush()

    def status(self, ident, code, words=None):
        self.send(STATUS, ident + U32.pack(code) + text(words or TEXTS[code]) + text(b""))

    def packet(self, kind, data):
        if kind == INIT:
            self.send(VERSION, U32.pack(3) + b"".join(text(name) + text(value) for name, value in EXTENSIONS))
            return
        if len(data) < 4:
            raise End()
        ident, fields = bytes(data[:4]), Fields(data, 4)
        try:
            call = CALLS.get(kind)
            if call is None:
                raise Failed(UNSUPPORTED)
            if call(self, ident, fields) is not True:
                self.status(ident, OK)
        except Failed as failed:
            self.status(ident, failed.code, failed.text)
        except OSError as error:
            code = CODES.get(error.errno, FAILURE)
            words = os.strerror(error.errno).encode() if error.errno and code == FAILURE else None
            self.status(ident, code, words)
        except (OverflowError, ValueError):
            self.status(ident, BAD_MESSAGE)

    # ---- handles

    def grant(self, ident, handle):
        if len(self.handles) >= MAX_HANDLES:
            self.drop(handle)
            raise Failed(FAILURE, b"Too many open handles")
        key = U32.pack(self.next)
        self.next = (self.next + 1) & 0xffffffff
        self.handles[key] = handle
        self.send(HANDLE, ident + text(key))
        return True

    def handle(self, fields, kind):
        handle = self.handles.get(fields.bytes())
        if handle is None or handle[0] != kind:
            raise Failed(FAILURE, b"Invalid handle")
        return handle

    def drop(self, handle):
        if handle[0] == "file":
            os.close(handle[1])
        elif hasattr(handle[2], "close"):
            handle[2].close()

    def open(self, ident, fields):
        path, flags, given = fields.path(), fields.u32(), fields.attributes()
        mode = {F_READ: os.O_RDONLY, F_WRITE: os.O_WRONLY}.get(flags & 3, os.O_RDWR)
        for flag, bit in ((F_APPEND, os.O_APPEND), (F_CREATE, os.O_CREAT), (F_TRUNCATE, os.O_TRUNC), (F_EXCLUSIVE, os.O_EXCL)):
            if flags & flag:
                mode |= bit
        fd = os.open(path, mode | os.O_CLOEXEC, given.get("mode", 0o666) & 0o7777)
        return self.grant(ident, ["file", fd, bool(flags & F_APPEND)])

    def close(self, ident, fields):
        handle = self.handles.pop(fields.bytes(), None)
        if handle is None:
            raise Failed(FAILURE, b"Invalid handle")
        self.drop(handle)

    def read(self, ident, fields):
        fd = self.handle(fields, "file")[1]
        offset, size = fields.u64(), fields.u32()
        size = min(size, MAX_READ)
        view = self.space[:size]        # no new memory: it is written before it is used again
        try:
            os.lseek(fd, offset, os.SEEK_SET)
        except OSError as error:
            if error.errno != errno.ESPIPE:
                raise
        count = os.readv(fd, [view])
        if not count and size:
            raise Failed(EOF)
        self.send(DATA, ident + U32.pack(count), view[:count])
        self.flush()
        return True

    def write(self, ident, fields):
        handle = self.handle(fields, "file")
        offset, data = fields.u64(), fields.view()
        while data:
            if handle[2]:
                count = os.write(handle[1], data)
            else:
                try:
                    count = os.pwrite(handle[1], data, offset)
                except OSError as error:
                    if error.errno != errno.ESPIPE:
                        raise
                    count = os.write(handle[1], data)
            offset += count
            data = data[count:]

    # ---- attributes

    def attrs(self, ident, found):
        self.send(ATTRS, ident + attributes(found))
        return True

    def lstat(self, ident, fields):
        return self.attrs(ident, os.lstat(fields.path()))

    def stat(self, ident, fields):
        return self.attrs(ident, os.stat(fields.path()))

    def fstat(self, ident, fields):
        return self.attrs(ident, os.fstat(self.handle(fields, "file")[1]))

    def setstat(self, ident, fields):
        self.change(fields.path(), fields.attributes(), True)

    def lsetstat(self, ident, fields):
        self.change(fields.path(), fields.attributes(), False)

    def fsetstat(self, ident, fields):
        self.change(self.handle(fields, "file")[1], fields.attributes(), True)

    def change(self, where, given, follow):
        if "size" in given:
            os.truncate(where, given["size"])
        options = {} if follow else {"follow_symlinks": False}
        if "mode" in given:
            if follow or not os.path.islink(where):
                os.chmod(where, given["mode"] & 0o7777)
        if "times" in given:
            os.utime(where, given["times"], **options)
        if "owner" in given:
            os.chown(where, given["owner"][0], given["owner"][1], **options)

    # ---- folders and names

    def opendir(self, ident, fields):
        path = fields.path()
        names = iter([b".", b".."] + os.listdir(path))
        return self.grant(ident, ["folder", path, names])

    def readdir(self, ident, fields):
        handle = self.handle(fields, "folder")
        parts, count = [], 0
        for name in handle[2]:
            try:
                found = os.lstat(os.path.join(handle[1], name))
            except OSError:
                continue
            parts.append(text(name) + text(self.names.line(name, found)) + attributes(found))
            count += 1
            if count == NAMES_AT_ONCE:
                break
        if not count:
            raise Failed(EOF)
        self.send(NAME, ident + U32.pack(count) + b"".join(parts))
        return True

    def name(self, ident, name):
        self.send(NAME, ident + U32.pack(1) + text(name) + text(name) + U32.pack(0))
        return True

    def realpath(self, ident, fields):
        path = os.path.realpath(fields.path())
        if not os.path.isdir(os.path.dirname(path)):
            raise Failed(NO_SUCH_FILE)
        return self.name(ident, path)

    def expand(self, ident, fields):
        path = fields.path()
        if path == b"~" or path.startswith(b"~/"):
            path = os.fsencode(os.environ.get("HOME", "/")) + path[1:]
        elif path.startswith(b"~"):
            user, slash, rest = path[1:].partition(b"/")
            try:
                path = os.fsencode(pwd.getpwnam(os.fsdecode(user)).pw_dir) + slash + rest
            except KeyError:
                raise Failed(NO_SUCH_FILE)
        return self.name(ident, os.path.realpath(path))

    def readlink(self, ident, fields):
        return self.name(ident, os.readlink(fields.path()))

    def symlink(self, ident, fields):
        target, path = fields.path(), fields.path()     # OpenSSH's order, not the draft's
        os.symlink(target, path)

    def hardlink(self, ident, fields):
        source, path = fields.path(), fields.path()
        os.link(source, path)

    def remove(self, ident, fields):
        os.unlink(fields.path())

    def mkdir(self, ident, fields):
        path, given = fields.path(), fields.attributes()
        os.mkdir(path, given.get("mode", 0o777) & 0o7777)

    def rmdir(self, ident, fields):
        os.rmdir(fields.path())

    def rename(self, ident, fields):
        """Version 3: never replaces what is there."""
        source, target = fields.path(), fields.path()
        if stat.S_ISREG(os.lstat(source).st_mode):
            try:
                os.link(source, target)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EPERM, errno.EMLINK):
                    raise
            else:
                os.unlink(source)
                return
        if os.path.lexists(target):
            raise Failed(FAILURE, b"File exists")
        os.rename(source, target)

    # ---- extensions

    def extended(self, ident, fields):
        call = EXTENDED_CALLS.get(fields.bytes())
        if call is None:
            raise Failed(UNSUPPORTED)
        return call(self, ident, fields)

    def posix_rename(self, ident, fields):
        source, target = fields.path(), fields.path()
        os.rename(source, target)

    def statvfs(self, ident, fields):
        return self.vfs(ident, os.statvfs(fields.path()))

    def fstatvfs(self, ident, fields):
        return self.vfs(ident, os.fstatvfs(self.handle(fields, "file")[1]))

    def vfs(self, ident, found):
        flags = (1 if found.f_flag & os.ST_RDONLY else 0) | (2 if found.f_flag & os.ST_NOSUID else 0)
        self.send(EXTENDED_REPLY, ident + struct.pack(
            ">11Q", found.f_bsize, found.f_frsize, found.f_blocks, found.f_bfree, found.f_bavail, found.f_files,
            found.f_ffree, found.f_favail, 0, flags, found.f_namemax))
        return True

    def fsync(self, ident, fields):
        os.fsync(self.handle(fields, "file")[1])

    def limits(self, ident, fields):
        self.send(EXTENDED_REPLY, ident + struct.pack(">4Q", MAX_PACKET, MAX_READ, MAX_READ, MAX_HANDLES))
        return True

    def copy_data(self, ident, fields):
        """length 0 means: to the end of the file."""
        source = self.handle(fields, "file")[1]
        offset, length = fields.u64(), fields.u64()
        target = self.handle(fields, "file")[1]
        to = fields.u64()
        left = length or None
        while left is None or left:
            data = os.pread(source, MAX_PACKET if left is None else min(left, MAX_PACKET), offset)
            if not data:
                return
            offset += len(data)
            left = None if left is None else left - len(data)
            view = memoryview(data)
            while view:
                count = os.pwrite(target, view, to)
                to += count
                view = view[count:]


CALLS = {OPEN: Server.open, CLOSE: Server.close, READ: Server.read, WRITE: Server.write, LSTAT: Server.lstat,
         FSTAT: Server.fstat, SETSTAT: Server.setstat, FSETSTAT: Server.fsetstat, OPENDIR: Server.opendir,
         READDIR: Server.readdir, REMOVE: Server.remove, MKDIR: Server.mkdir, RMDIR: Server.rmdir,
         REALPATH: Server.realpath, STAT: Server.stat, RENAME: Server.rename, READLINK: Server.readlink,
         SYMLINK: Server.symlink, EXTENDED: Server.extended}
EXTENDED_CALLS = {b"posix-rename@openssh.com": Server.posix_rename, b"statvfs@openssh.com": Server.statvfs,
                  b"fstatvfs@openssh.com": Server.fstatvfs, b"hardlink@openssh.com": Server.hardlink,
                  b"fsync@openssh.com": Server.fsync, b"lsetstat@openssh.com": Server.lsetstat,
                  b"limits@openssh.com": Server.limits, b"expand-path@openssh.com": Server.expand,
                  b"copy-data": Server.copy_data}


def main(args, fd_in, fd_out):
    """The builtin `sftp`. Starts in the home folder, or in args["folder"] where that can be entered."""
    folder = args.get("folder")
    if folder:
        try:
            os.chdir(folder)
        except OSError:
            pass
    return Server(fd_in, fd_out).run()
