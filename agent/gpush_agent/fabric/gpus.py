"""GPUs: NVIDIA's from nvidia-smi, else from /proc; AMD's from the kernel's own list."""
import errno
import json
import re

from . import topology

MAX_GPUS = 64
FIELDS = ("index", "name", "driver_version", "mig.mode.current")
TOPOLOGY = ("nvidia-smi", "topo", "-m")
PROC = "proc/driver/nvidia"
KFD = "sys/class/kfd/kfd/topology/nodes"
ROCM = ("rocm-smi", "--showproductname", "--showbus", "--json")
NO_VALUE = re.compile(r"\[.*\]\Z|ERR!\Z|N/A\Z|\Z")      # [N/A], [Not Supported], [Unknown Error], [GPU requires reset] …
DENIED = (errno.EPERM, errno.EACCES)
XGMI = 11                   # type of a link between two GPUs


def query(fields):
    return ("nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits")


def facts(reader):
    """What this node says of its GPUs, as keys of the answer; {} where it has none."""
    if reader.exists(PROC) or reader.exists("dev/nvidiactl") or reader.exists("dev/dxg"):
        return nvidia(reader)
    if reader.exists(KFD) or reader.exists("dev/kfd"):
        return amd(reader)
    return {}


# ---- NVIDIA

def nvidia(reader):
    output, matrix = reader.run(query(FIELDS), TOPOLOGY)
    if "is not a valid field" in (output or ""):        # a driver of before 2020 does not know MIG
        reader.unreadable = [entry for entry in reader.unreadable if entry["path"] != " ".join(query(FIELDS))]
        output = reader.run(query(FIELDS[:-1]))[0]
    gpus = listed(reader, output or "") or from_proc(reader)
    found = {"gpu_vendor": "nvidia", "gpus": gpus}
    links = topology.parse(matrix or "")
    if links:
        found["topology"] = links
    channels = reader.names("dev/nvidia-caps-imex-channels")[:MAX_GPUS]
    if channels:
        found["imex"] = channels
    return found


def listed(reader, text):
    """The rows of nvidia-smi; a line that is none is what it says of a GPU that is lost."""
    found = []
    for line in text.splitlines()[:MAX_GPUS]:
        fields = [field.strip() for field in topology.plain(line).split(",")]
        if not row(fields):
            if line.strip():
                reader.cannot("nvidia-smi", topology.plain(line).strip()[:200])
            continue
        found.append(gpu_of(fields))
    return found


def row(fields):
    return len(fields) in (len(FIELDS) - 1, len(FIELDS)) and re.match(r"[0-9]{1,3}\Z", fields[0]) is not None


def gpu_of(fields):
    gpu = {key: value[:200] for key, value in zip(("name", "driver", "mig"), fields[1:]) if not NO_VALUE.match(value)}
    if "mig" in gpu:
        gpu["mig"] = gpu["mig"] == "Enabled"
    return gpu


def from_proc(reader):
    """Where nvidia-smi is missing or hangs."""
    found = []
    version = re.search(r"Kernel Module(?: for \w+)?\s+([0-9.]+)", reader.text(PROC + "/version"))
    for name in reader.names(PROC + "/gpus")[:MAX_GPUS]:
        lines = reader.text("%s/gpus/%s/information" % (PROC, name)).splitlines()
        fields = {key.strip(): topology.plain(value).strip()[:200] for key, _, value in (line.partition(":") for line in lines)}
        gpu = {"name": fields.get("Model"), "driver": version.group(1) if version else None}
        found.append({key: value for key, value in gpu.items() if value not in (None, "")})
    return found


# ---- AMD

def amd(reader):
    """The nodes of the kernel's topology that compute; a container may read those of its own GPUs only."""
    gpus, nodes, places = [], {}, {}
    driver = reader.word("sys/module/amdgpu/version")
    for node in reader.names(KFD)[:MAX_GPUS * 2]:
        properties = table(reader.text("%s/%s/properties" % (KFD, node), normal=DENIED))
        if not properties.get("simd_count"):
            continue            # a processor, or a GPU that is not ours
        pci = amd_bus(properties)
        gpu = {"name": reader.word("sys/bus/pci/devices/%s/product_name" % pci), "driver": driver}
        gpu = {key: value for key, value in gpu.items() if value}
        nodes[node], places[pci] = len(gpus), gpu
        gpus.append(gpu)
        if len(gpus) >= MAX_GPUS:
            break
    if any("name" not in gpu for gpu in gpus):
        name_by_tool(reader, places)
    found = {"gpu_vendor": "amd", "gpus": gpus}
    links = amd_links(reader, nodes)
    if links:
        found["topology"] = links
    return found


def table(text):
    """Lines of a name and a number."""
    return {name: int(value) for name, value in re.findall(r"^(\w{1,40}) ([0-9]{1,20})$", text, re.M)}


def amd_bus(properties):
    location = properties.get("location_id", 0)
    return "%04x:%02x:%02x.%d" % (properties.get("domain", 0) & 0xffffffff, location >> 8 & 0xff, location >> 3 & 0x1f, location & 7)


def name_by_tool(reader, places):
    try:
        cards = json.loads(reader.run(ROCM)[0] or "{}")
    except (ValueError, RecursionError):
        return
    names = {}
    for card in cards.values() if isinstance(cards, dict) else ():
        if isinstance(card, dict):
            fields = {key.lower(): value for key, value in card.items() if isinstance(value, str)}
            names[fields.get("pci bus", "").lower()] = topology.plain(fields.get("card series", ""))[:200]
    for pci, gpu in places.items():
        if names.get(pci):
            gpu.setdefault("name", names[pci])


def amd_links(reader, nodes):
    """GPU -> GPU -> "XGMI" or "PCIE", as rocm-smi calls them."""
    found = {}
    for node, index in sorted(nodes.items(), key=lambda pair: pair[1]):
        for link in reader.names("%s/%s/io_links" % (KFD, node))[:MAX_GPUS]:
            properties = table(reader.text("%s/%s/io_links/%s/properties" % (KFD, node, link), normal=DENIED))
            other = nodes.get(str(properties.get("node_to")))
            if other is not None and other != index:
                found.setdefault("GPU%d" % index, {})["GPU%d" % other] = "XGMI" if properties.get("type") == XGMI else "PCIE"
    return found
