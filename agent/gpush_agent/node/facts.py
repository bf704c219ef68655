"""Facts about a node. A pure function of a root folder (tests give their own tree); runs in a worker."""
import os
import socket
import struct
import sys

from ..core.version import PYTHON

NVIDIA_SMI_SECONDS = 10


def facts(root="/", folders=()):
    system = os.uname()
    return {"host": socket.gethostname(), "kernel": system.release, "machine": system.machine,
            "python": PYTHON, "executable": sys.executable, "boot": boot(root),
            "os": os_name(root), "cpus": cpus(), "cpu_limit": cpu_limit(root), "memory": memory(root),
            "addresses": addresses(), "gpus": gpus(root), "shm": space(os.path.join(root, "dev/shm")),
            "disks": {folder: space(folder) for folder in folders if folder}}


def text(root, path):
    try:
        with open(os.path.join(root, path)) as file:
            return file.read(1 << 20)
    except (OSError, UnicodeDecodeError):
        return ""


def boot(root="/"):
    return text(root, "proc/sys/kernel/random/boot_id").strip()


def generation(state):
    """Of the workspace that is on this node: 0 before the first push, None where that cannot be read."""
    if not state:
        return None
    try:
        with open(os.path.join(state, "generation"), "rb") as file:
            return int(file.read(64).split()[0])
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, IndexError):
        return None


def os_name(root):
    for line in text(root, "etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line[12:].strip().strip('"')
    return os.uname().sysname


def cpus():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def cpu_limit(root):
    """CPUs by the cgroup's quota, or None."""
    quota = text(root, "sys/fs/cgroup/cpu.max").split()
    if len(quota) == 2 and quota[0].isdigit() and int(quota[1]):
        return int(quota[0]) / int(quota[1])
    old = text(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us").strip()
    period = text(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us").strip()
    if old.isdigit() and period.isdigit() and int(period):
        return int(old) / int(period)
    return None


def memory(root):
    """Bytes: the machine's, what is available, and the cgroup's limit or None."""
    found = {}
    for line in text(root, "proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()
        if number and number[0].isdigit():
            found[name] = int(number[0]) * 1024
    limit = None
    for path in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        value = text(root, path).strip()
        if value.isdigit() and int(value) < 1 << 60:
            limit = int(value)
            break
    return {"total": found.get("MemTotal"), "available": found.get("MemAvailable"), "limit": limit}


def addresses():
    """interface -> IPv4 addresses, by ioctl; loopback is left out."""
    found = {}
    try:
        import fcntl
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _, name in socket.if_nameindex():
                try:
                    answer = fcntl.ioctl(sock.fileno(), 0x8915, struct.pack("256s", name.encode()[:15]))    # SIOCGIFADDR
                except OSError:
                    continue
                address = socket.inet_ntoa(answer[20:24])
                if not address.startswith("127."):
                    found.setdefault(name, []).append(address)
    except (OSError, AttributeError):
        pass
    return found


def space(folder):
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return {"total": found.f_blocks * found.f_frsize, "free": found.f_bavail * found.f_frsize}


def gpus(root):
    """[{index, uuid, name, memory, driver}], from nvidia-smi, else the few facts in /proc."""
    if root == "/":
        import subprocess
        try:
            output = subprocess.run(
                ["nvidia-smi", "--query-gpu=index,uuid,name,memory.total,driver_version", "--format=csv,noheader,nounits"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                timeout=NVIDIA_SMI_SECONDS).stdout.decode("utf-8", "replace")
            found = parse_smi(output)
            if found:
                return found
        except (OSError, subprocess.SubprocessError):
            pass
    return proc_gpus(root)


def parse_smi(output):
    found = []
    for line in output.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            found.append({"index": int(fields[0]), "uuid": fields[1], "name": fields[2],
                          "memory": int(fields[3]) << 20 if fields[3].isdigit() else None, "driver": fields[4]})
    return found


def proc_gpus(root):
    folder = os.path.join(root, "proc/driver/nvidia/gpus")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = []
    for index, name in enumerate(names):
        fields = dict(line.partition(":")[::2] for line in text(folder, name + "/information").splitlines())
        found.append({"index": index, "uuid": fields.get("GPU UUID", "").strip(), "name": fields.get("Model", "").strip(),
                      "memory": None, "driver": None})
    return found
