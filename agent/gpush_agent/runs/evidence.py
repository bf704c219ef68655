"""What a node knows of the end of a process besides its exit status: processes that the kernel killed for memory, GPU errors in
the kernel's log, file systems without room. Taken once at a run's start, so that only what is new counts."""
import os
import re

ROOT = "/"                  # a recorded tree in tests
MOST_LOG = 4 << 20          # bytes of the kernel's log that are read for one run
MOST_XIDS = 4
OOM = re.compile(r"oom-kill:constraint=(\w+),(?:.*?,oom_memcg=([^,]*))?.*?,task=(.*?),pid=(\d+),uid=(\d+)")
KILLED = re.compile(r"(Memory cgroup out of memory|Out of memory)[^:]*: Kill(?:ed)? process (\d+) \((.*?)\)(?:.*?anon-rss:(\d+)kB)?")
XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d+)(?:, (?:pid=[^,]*, )?(?:name=[^,]*, )?(.*))?")
FIRST_PIDS = "pid:[4026531836]"     # the namespace whose process ids the kernel's log has
NO_LIMIT = 1 << 62          # cgroup v1 writes about this where there is none


class Evidence:
    def __init__(self, candidates=()):
        """`candidates`: folders that a run writes to, for an error that does not name its file."""
        self.candidates = list(candidates)
        self.log, self.log_rest = [], b""
        self.kernel = self.open_log()
        self.groups = memory_groups()
        self.before = {folder: counts(kind, folder) for kind, folder in self.groups}
        self.killed_before = machine_kills()

    # ---- the kernel's log

    def open_log(self):
        """At its end; None where it cannot be read."""
        try:
            fd = os.open(at("dev/kmsg"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            os.lseek(fd, 0, os.SEEK_END)
        except OSError:
            os.close(fd)
            return None
        return fd

    def new_lines(self):
        """All since the start."""
        total = 0
        while self.kernel is not None and total < MOST_LOG:
            try:
                data = os.read(self.kernel, 8192)
            except BrokenPipeError:     # lines were overwritten before we came; the next ones are there
                continue
            except OSError:
                break
            if not data:
                break
            total += len(data)
            lines = (self.log_rest + data).split(b"\n")
            self.log_rest = lines.pop()
            self.log += [line.partition(b";")[2].decode("utf-8", "replace") for line in lines if line[:1] != b" "]
        return self.log

    def xids(self):
        """GPU errors: [{"xid", "gpu", "text"}]."""
        found = []
        for line in self.new_lines():
            xid = XID.search(line)
            if xid:
                value = {"xid": int(xid.group(2)), "gpu": xid.group(1), "text": (xid.group(3) or "")[:200]}
                if value not in found:
                    found.append(value)
        return found[:MOST_XIDS]

    # ---- memory

    def oom(self, pids, direct=False):
        """{"scope": "cgroup" | "machine" | "unknown", "limit", "used", "process"} of a kill for memory since the start, or None.
        The kernel's log names the process; without it there are counters. `direct`: it must be one of `pids`."""
        by_pid, by_user = {}, None
        for line in self.new_lines():
            oom, killed = OOM.search(line), KILLED.search(line)
            if oom:
                value = {"scope": "cgroup" if "MEMCG" in oom.group(1) else "machine", "process": oom.group(3)[:64]}
                limit = self.limit_of(oom.group(2)) if value["scope"] == "cgroup" and oom.group(2) else None
                if limit:
                    value["limit"] = limit
                by_pid[int(oom.group(4))] = value
                if int(oom.group(5)) == os.getuid():
                    by_user = value
            elif killed:
                scope = "cgroup" if killed.group(1).startswith("Memory") else "machine"
                value = by_pid.setdefault(int(killed.group(2)), {"scope": scope, "process": killed.group(3)[:64]})
                if killed.group(4):
                    value["used"] = int(killed.group(4)) * 1024
        for pid in pids:
            if pid in by_pid:
                return by_pid[pid]
        if direct and self.names_processes():
            return None
        return by_user or self.counted()

    def names_processes(self):
        """Whether the kernel's log can be read, and has the process ids that we see."""
        try:
            return self.kernel is not None and os.readlink(at("proc/self/ns/pid")) == FIRST_PIDS
        except OSError:
            return False

    def counted(self):
        now = {folder: counts(kind, folder) for kind, folder in self.groups}
        if any(now[folder][0] > self.before[folder][0] for folder in now):
            for kind, folder in self.groups:        # the nearest first: it is the one whose limit was met
                if now[folder][1] > self.before[folder][1]:
                    limit = limit_in(kind, folder)
                    return dict({"scope": "cgroup"}, **({"limit": limit} if limit else {}))
            return {"scope": "machine"}
        return {"scope": "unknown"} if machine_kills() > self.killed_before else None

    def limit_of(self, group):
        """Of a cgroup by its path in the kernel's log."""
        for kind, mount, _ in mounts():
            limit = limit_in(kind, os.path.join(mount, group.lstrip("/")))
            if limit:
                return limit
        return None

    # ---- file systems

    def room(self, path):
        """{"path", "size", "free"} of the file system of a folder, or None."""
        try:
            found = os.statvfs(at(path))
        except OSError:
            return None
        return {"path": path, "size": found.f_frsize * found.f_blocks, "free": found.f_frsize * found.f_bavail}

    def full(self, path):
        """The file system that has no room: of this file, else of a folder that the run writes to."""
        for folder in [os.path.dirname(path)] if path else self.candidates + ["/tmp", "/dev/shm"]:
            room = self.room(folder)
            if room and (path or room["free"] <= room["size"] // 1000):
                return room
        return None


def at(path):
    return os.path.join(ROOT, path.lstrip("/"))


def machine_kills():
    return number_after(at("proc/vmstat"), "oom_kill")


def mounts():
    """[(1 | 2, folder, which part of the tree is mounted there)] of the cgroup hierarchies that count memory."""
    found = []
    try:
        with open(at("proc/self/mountinfo")) as file:
            lines = file.read().splitlines()
    except (OSError, ValueError):
        return found
    for line in lines:
        fields, _, kind = line.partition(" - ")
        fields, kind = fields.split(), kind.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        if kind[0] == "cgroup" and "memory" in kind[2].split(","):
            found.append((1, at(fields[4]), fields[3]))
        elif kind[0] == "cgroup2":
            found.append((2, at(fields[4]), fields[3]))
    return found


def memory_groups():
    """[(1 | 2, folder)] of the cgroups that this process is in, the innermost first."""
    try:
        with open(at("proc/self/cgroup")) as file:
            lines = [line.split(":", 2) for line in file.read().splitlines()]
    except (OSError, ValueError):
        return []
    own = {}
    for line in lines:
        if len(line) == 3:
            if line[0] == "0" and not line[1]:
                own[2] = line[2]
            elif "memory" in line[1].split(","):
                own[1] = line[2]
    found = []
    for kind, mount, top in mounts():
        path = own.get(kind)
        if path is None:
            continue
        inside = path[len(top):] if top != "/" and path.startswith(top) else path if top == "/" else ""
        folder = os.path.normpath(mount + "/" + inside.strip("/"))
        while folder.startswith(mount.rstrip("/")):
            if readable(kind, folder):
                found.append((kind, folder))
            if folder == mount.rstrip("/"):
                break
            folder = os.path.dirname(folder)
    return found


def readable(kind, folder):
    return os.path.exists(os.path.join(folder, "memory.events" if kind == 2 else "memory.oom_control"))


def counts(kind, folder):
    """(processes killed for memory, times that the limit was met)."""
    if kind == 2:
        events = os.path.join(folder, "memory.events")
        return number_after(events, "oom_kill"), number_after(events, "oom")
    return number_after(os.path.join(folder, "memory.oom_control"), "oom_kill"), number_in(os.path.join(folder, "memory.failcnt"))


def limit_in(kind, folder):
    value = number_in(os.path.join(folder, "memory.max" if kind == 2 else "memory.limit_in_bytes"))
    return value if 0 < value < NO_LIMIT else None


def number_in(path):
    try:
        with open(path) as file:
            return int(file.read(32))
    except (OSError, ValueError):
        return 0


def number_after(path, word):
    try:
        with open(path) as file:
            for line in file:
                fields = line.split()
                if len(fields) == 2 and fields[0] == word:
                    return int(fields[1])
    except (OSError, ValueError):
        pass
    return 0
