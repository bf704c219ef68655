"""What is left of a run that failed, after all its processes have ended: memory files, GPU memory, its port. Files of libraries
that this run's processes had mapped are removed; what belongs to other programs is named and left alone."""
import os
import pwd
import re
import subprocess

from ..core import processes

SHM = "/dev/shm"
# Names that libraries give to shared memory; files of other names are the user's data.
OF_LIBRARIES = re.compile(r"(torch_|nccl-|psm_|sem\.(mp-|loky-)|__KMP_REGISTERED_LIB_|gloo_|loky-|cuda\.shm\.)")
PID_IN_NAME = re.compile(r"[_.-](\d+)(?=[_.-]|$)")
MOST_NAMED = 8
SMI_SECONDS = 2.0
SMI = ["nvidia-smi", "--query-compute-apps=gpu_bus_id,pid,process_name,used_memory", "--format=csv,noheader,nounits"]
LISTENS = "0A"


def names():
    """{name: inode} of the plain files in shared memory."""
    found = {}
    try:
        with os.scandir(SHM) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    found[entry.name] = entry.inode()
    except OSError:
        pass
    return found


def mapped(pids):
    """The names in shared memory that these processes have mapped or opened."""
    found = set()
    start = SHM + "/"
    for pid in pids:
        try:
            with open("/proc/%d/maps" % pid, "rb") as file:
                for line in file:
                    at = line.find(start.encode())
                    if at >= 0:
                        found.add(line[at + len(start):].rstrip(b"\n").decode("utf-8", "surrogateescape"))
        except OSError:
            pass
        for target in processes.opened(pid):
            if target.startswith(start):
                found.add(target[len(start):])
    return found


def others():
    return [pid for pid in processes.everybody() if pid != os.getpid()]


def clean_shared_memory(before, ours, pids):
    """Removes what libraries made in this run and no process uses now. Returns {"removed", "files", "bytes"}: files that came
    during the run and stay because another program may own them, or None."""
    removed = stay = size = 0
    in_use = None
    for name, inode in names().items():
        if before.get(name) == inode:
            continue
        path = os.path.join(SHM, name)
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if status.st_uid != os.getuid():
            continue
        if in_use is None:
            in_use = mapped(others())
        if name in in_use:
            continue
        pid = PID_IN_NAME.search(name) if OF_LIBRARIES.match(name) else None
        if pid and name not in ours and int(pid.group(1)) not in pids:
            continue            # of another run, or of this run on another node of the same host
        if OF_LIBRARIES.match(name) and (name in ours or pid):
            try:
                os.unlink(path)
                removed += 1
                continue
            except OSError:
                pass
        stay += 1
        size += status.st_size
    return {"removed": removed, "files": stay, "bytes": size} if removed or stay else None


def holder(port):
    """{"port", "pid", "name", "user"} of who listens there, as far as it can be known."""
    value = {"port": port}
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as file:
                for line in file.read().splitlines()[1:]:
                    fields = line.split()
                    if fields[3] == LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                        inodes.add("socket:[%s]" % fields[9])
        except (OSError, ValueError, IndexError):
            pass
    for pid in others() if inodes else []:
        if inodes.intersection(processes.opened(pid)):
            return dict(value, **who(pid))
    return value


def gpu_holders(visible):
    """[{"gpu", "pid", "name", "mb", "user"}]: who holds memory of these GPUs now. They are named as in CUDA_VISIBLE_DEVICES, by
    their numbers or by names, which nvidia-smi also understands. (It finds no parts of a GPU, so nothing is said of those.)"""
    try:
        done = subprocess.run(SMI + ["--id=" + visible], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, timeout=SMI_SECONDS)
        lines = done.stdout.decode("utf-8", "replace").splitlines()
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in lines[:64]:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4 and fields[1].isdigit():
            pid = int(fields[1])
            value = {"pid": pid, "gpu": fields[0][:32]}
            if fields[2] == "[No data]":        # of a process that is ending
                value.update(who(pid))
            elif fields[2][:1] not in ("", "["):
                value.update(who(pid), name=os.path.basename(fields[2])[:64])
            # [Not Found]: of one in another container, where the number means another process than here
            if fields[3].isdigit():
                value["mb"] = int(fields[3])
            found.append(value)
    return found[:MOST_NAMED]


def who(pid):
    """{"pid", "name", "user"} of a process."""
    value = {"pid": pid}
    try:
        with open("/proc/%d/comm" % pid, errors="replace") as file:
            value["name"] = file.read().strip()[:64]
        uid = os.stat("/proc/%d" % pid).st_uid
        value["user"] = str(uid)
        value["user"] = pwd.getpwuid(uid).pw_name
    except (OSError, KeyError):
        pass
    return value
