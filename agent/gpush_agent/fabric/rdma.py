"""RDMA devices and their ports, from /sys/class/infiniband and the device nodes that user space opens."""
import re

CLASS = "sys/class/infiniband"
VERBS = "sys/class/infiniband_verbs"
MAX_DEVICES = 64            # the largest machines have 32
MAX_PORTS = 8
MAX_GIDS = 64               # kept of one port; a machine with more has VLANs or containers by the dozen
EMPTY_GIDS = 16             # empty slots in a row after which no more is read: tables have 256, filled from the beginning
PCI = re.compile(r"[0-9a-f]{4,6}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\Z")
RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) Gb/sec")
GID = re.compile(r"[0-9a-f]{4}(:[0-9a-f]{4}){7}\Z")
ZERO = "0000:0000:0000:0000:0000:0000:0000:0000"


def ports(reader):
    """An entry for each port of each device."""
    verbs = verbs_nodes(reader)
    found = []
    for device in reader.names(CLASS)[:MAX_DEVICES]:
        common = whole(reader, device, verbs.get(device))
        numbers = [name for name in reader.names(CLASS + "/%s/ports" % device) if name.isdigit()][:MAX_PORTS]
        interfaces = netdevs(reader, device)
        for port in numbers:
            found.append(one(reader, device, int(port), common, interfaces if len(numbers) == 1 else
                             [name for name in interfaces if on_port(reader, name, int(port))]))
    return found


def verbs_nodes(reader):
    """Device -> name of its node: uverbs0."""
    return {reader.word("%s/%s/ibdev" % (VERBS, name)): name
            for name in reader.names(VERBS) if name.startswith("uverbs")}


def whole(reader, device, node):
    """What is the same for all ports of a device."""
    folder = "%s/%s/device" % (CLASS, device)
    real = reader.resolved("%s/%s" % (CLASS, device))
    pci = next((part for part in reversed(real.split("/")) if PCI.match(part)), None)
    found = {"vendor": reader.word(folder + "/vendor")}
    if pci and not found["vendor"]:         # of a function below the PCI device
        found["vendor"] = reader.word("sys/bus/pci/devices/%s/vendor" % pci)
    if "/virtual/" in "/%s/" % real:
        found["software"] = True
    found["verbs"] = "missing"
    if node:
        found["verbs"] = reader.device("dev/infiniband/" + node)
    return {name: value for name, value in found.items() if value not in ("", None)}


def netdevs(reader, device):
    return reader.names("%s/%s/device/net" % (CLASS, device)) or [
        name for name in [reader.word("%s/%s/parent" % (CLASS, device))] if name]      # of software RoCE


def on_port(reader, name, port):
    """Of a device with several ports: dev_port counts from 0. IPoIB of older kernels says it in dev_id."""
    number = reader.number("sys/class/net/%s/dev_port" % name) or 0
    if number == 0:
        text = reader.word("sys/class/net/%s/dev_id" % name)
        number = int(text, 16) if re.match(r"0x[0-9a-f]{1,4}\Z", text) else 0
    return number == port - 1


def one(reader, device, port, common, interfaces):
    folder = "%s/%s/ports/%d" % (CLASS, device, port)
    entry = {"device": device, "port": port}
    entry["state"] = reader.word(folder + "/state").rpartition(": ")[2]     # "4: ACTIVE"
    entry["link"] = reader.word(folder + "/link_layer")
    match = RATE.match(reader.word(folder + "/rate"))
    if match:
        entry["gbits"] = plain(float(match.group(1)))
    entry = {name: value for name, value in entry.items() if value != ""}
    entry.update(common)
    gids, others = table(reader, folder)
    interfaces = interfaces + sorted(others - set(interfaces))
    if interfaces:
        entry["interfaces"] = interfaces
    if gids:
        entry["gids"] = gids
    return entry


def table(reader, folder):
    """The GIDs in use, and the interfaces that they name. An empty slot reads as zeros, and its attributes as EINVAL."""
    found, interfaces, empty = [], set(), 0
    for index in sorted(int(name) for name in reader.names(folder + "/gids") if re.match(r"[0-9]{1,4}\Z", name)):
        gid = reader.word("%s/gids/%d" % (folder, index))
        if not GID.match(gid) or gid == ZERO:
            empty += 1
            if empty >= EMPTY_GIDS:
                break
            continue
        empty = 0
        entry = {"index": index, "gid": gid}
        kind = reader.word("%s/gid_attrs/types/%d" % (folder, index))
        if kind:
            entry["type"] = kind
        interfaces.add(reader.word("%s/gid_attrs/ndevs/%d" % (folder, index)))
        found.append(entry)
        if len(found) >= MAX_GIDS:
            break
    return found, interfaces - {""}


def plain(number):
    """400.0 as 400."""
    return int(number) if number == int(number) else number
