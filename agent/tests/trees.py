"""Recorded gangs: text files that stand for machines, written out into folders that the agent reads as its root.

    title: what this gang is                        nodes: a0 a1
    # a comment                                     [all] or [a0 a1]: the lines that follow are of these nodes
    path = content                                  path -> target (a folder that is made when it ends with /)
    path /                                          path ! EINVAL: reading it fails like that
    path :      and  $ command      take the following lines that begin with "| "; \\t and \\e are tab and escape
    $ command ! timeout                             $ command ! exit 9 (with output as well)
    @home, @session NAME=VALUE, @image NAME=VALUE (of process 1), @address interface address
    @peers interface    the other nodes are known, and reached, by their addresses on it; @route peer interface source
    @python torch=… nccl=… cuda=…       what the interpreter's probe says there: no fact of the agent, for the plan's tests
    @pci, @hca, @gid, @net, @gpus, @kfd       what the kernel has for one device, see the functions of these names
    {0..7} and {a,b,c}  in a line: it is repeated, with the next of each; <n> <n+11>: the number of the node, and more
"""
import errno
import json
import os
import re
import shlex

FOLDER = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "launch", "src", "test",
                                       "resources", "dev", "gpush", "launch", "fabric"))
QUERY = "nvidia-smi --query-gpu=index,name,driver_version,mig.mode.current --format=csv,noheader,nounits"
ZERO = ":".join(["0000"] * 8)


# Thousands of small files: in memory where there is room for them.
WRITTEN = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def names():
    return sorted(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".tree"))


def expanded(line, number):
    """The line once for each of what its braces hold, all at the same time."""
    line = re.sub(r"<n(?:\+([0-9]+))?>", lambda match: str(number + int(match.group(1) or 0)), line)
    parts = re.split(r"(\{[^{}]*(?:\.\.|,)[^{}]*\})", line)
    lists = []
    for part in parts[1::2]:
        ends = re.match(r"\{([0-9]+)\.\.([0-9]+)\}\Z", part)
        lists.append([str(at) for at in range(int(ends.group(1)), int(ends.group(2)) + 1)] if ends else part[1:-1].split(","))
    if len({len(items) for items in lists}) > 1:
        raise ValueError("lists of different lengths: " + line)
    for at in range(len(lists[0]) if lists else 1):
        yield "".join(part if index % 2 == 0 else lists[index // 2][at] for index, part in enumerate(parts))


class Gang:
    def __init__(self, name):
        with open(os.path.join(FOLDER, name + ".tree"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        head = dict(line.split(": ", 1) for line in lines[:2])
        self.title, self.nodes = head["title"], [Node(number, name) for number, name in enumerate(head["nodes"].split())]
        chosen = []
        for line in lines[2:]:
            if line.startswith("["):
                words = line.strip("[]").split()
                chosen = [node for node in self.nodes if node.name in words or words == ["all"]]
                if not chosen or (words != ["all"] and len(chosen) != len(words)):
                    raise ValueError(line)
            elif line.startswith("| "):
                for node in chosen:
                    node.output(line[2:])
            elif line.strip() and not line.startswith("#"):
                for node in chosen:
                    for one in expanded(line, node.number):
                        node.line(one)
        for node in self.nodes:
            node.meet(self.nodes)


class Node:
    def __init__(self, number, name):
        self.number, self.name = number, name
        self.files, self.links, self.folders = {}, {}, []
        self.answers = {"errors": {}, "addresses": {}, "routes": {}, "commands": {}, "session": {}, "home": "/root"}
        self.meeting, self.peers, self.sink = None, [], None
        self.places, self.indexes = {}, 1
        self.versions = {}

    # ---- reading the text

    def line(self, line):
        self.sink = None
        if line.startswith("@"):
            words = shlex.split(line[1:])
            option = re.compile(r"[a-z]+=" if words[0] not in ("session", "image") else r"\Z.")
            DIRECTIVES[words[0]](self, *[word for word in words[1:] if not option.match(word)],
                                 **dict(word.split("=", 1) for word in words[1:] if option.match(word)))
        elif line.startswith("$ "):
            command, sign, why = line[2:].partition(" ! ")
            entry = self.answers["commands"][command] = {"text": ""}
            if sign:
                entry["why"] = why
            self.sink = entry
        else:
            self.path(line)

    def path(self, line):
        for pattern, take in ((r"(\S+) = (.*)\Z", self.file), (r"(\S+) -> (\S+)\Z", self.link), (r"(\S+) ! (E[A-Z]+)\Z", self.error),
                              (r"(\S+) /()\Z", lambda path, _: self.folders.append(path)), (r"(\S+) :()\Z", self.begin)):
            match = re.match(pattern, line)
            if match:
                take(*match.groups())
                return
        raise ValueError("not understood: " + line)

    def file(self, path, text):
        self.answers["errors"].pop(path, None)
        self.files[path] = text + "\n"

    def link(self, path, target):
        self.links[path] = target

    def error(self, path, name):
        """The file itself need not be there: whoever opens it fails before."""
        getattr(errno, name)
        self.answers["errors"][path] = name

    def begin(self, path, _):
        self.files[path] = ""
        self.sink = path

    def output(self, text):
        for one in expanded(text, self.number):
            one = one.replace("\\t", "\t").replace("\\e", "\x1b") + "\n"
            if isinstance(self.sink, str):
                self.files[self.sink] += one
            else:
                self.sink["text"] += one

    # ---- what is not a file

    def python(self, **versions):
        self.versions = versions

    def home(self, path):
        self.answers["home"] = path

    def session(self, pair):
        self.answers["session"].update([pair.split("=", 1)])

    def image(self, pair):
        self.files["proc/1/environ"] = self.files.get("proc/1/environ", "") + pair + "\0"

    def address(self, interface, address):
        self.answers["addresses"].setdefault(interface, []).append(address)

    def route(self, peer, interface, source):
        self.peers.append(peer)
        self.answers["routes"][peer] = [interface, source]

    def lost(self, peer):
        """A peer to which there is no route."""
        self.peers.append(peer)

    def peers_on(self, interface):
        self.meeting = interface

    def own(self):
        return self.answers["addresses"][self.meeting][0].partition("/")[0] if self.meeting else None

    def meet(self, nodes):
        for other in nodes:
            if other is not self and other.own() and self.own():
                self.route(other.own(), self.meeting, self.own())

    # ---- what the kernel has for a device

    def pci(self, address, vendor="0x15b3", driver="", numa="0", bridge="pci0000:00"):
        """A function of the bus: /sys/devices, and what leads to it."""
        place = "sys/devices/%s/%s" % (bridge, address)
        self.places[address] = place
        self.file(place + "/vendor", vendor)
        self.file(place + "/numa_node", numa)
        if driver:
            self.link(place + "/driver", "../../../bus/pci/drivers/%s/" % driver)
        self.link("sys/bus/pci/devices/" + address, "../../../%s/" % place[4:])

    def hca(self, device, link, rate, pci="", state="4: ACTIVE", phys="5: LinkUp", fw="28.39.1002", uverbs="", slots="4", port="1",
            node="open"):
        """An RDMA device with one port. `uverbs`: the number of its node; `node`: open, none, or how opening it fails."""
        place = (self.places[pci] if pci else "sys/devices/virtual") + "/infiniband/" + device
        self.link("sys/class/infiniband/" + device, "../../%s/" % place[4:])
        if pci:
            self.link(place + "/device", "../../../%s/" % pci)
        self.file(place + "/fw_ver", fw)
        own = "sys/class/infiniband/%s/ports/%s" % (device, port)
        for name, text in (("state", state), ("phys_state", phys), ("link_layer", link), ("rate", rate)):
            self.file("%s/%s" % (own, name), text)
        for index in range(int(slots)):
            self.file("%s/gids/%d" % (own, index), ZERO)
            self.error("%s/gid_attrs/types/%d" % (own, index), "EINVAL")
            self.error("%s/gid_attrs/ndevs/%d" % (own, index), "EINVAL")
        if uverbs:
            self.file("sys/class/infiniband_verbs/uverbs%s/ibdev" % uverbs, device)
            if node != "none":
                self.file("dev/infiniband/uverbs" + uverbs, "")
                if node != "open":
                    self.error("dev/infiniband/uverbs" + uverbs, node)

    def gid(self, device, index, kind, gid, interface="", port="1"):
        own = "sys/class/infiniband/%s/ports/%s" % (device, port)
        self.file("%s/gids/%s" % (own, index), gid)
        self.file("%s/gid_attrs/types/%s" % (own, index), kind)
        if interface:
            self.file("%s/gid_attrs/ndevs/%s" % (own, index), interface)

    def net(self, name, pci="", speed="", mtu="1500", type="1", state="up", devtype="", master="", peer="", part=""):
        """A network device. `peer`: the other end of a veth; `part`: what only its kind has, such as bridge or tun_flags."""
        place = (self.places[pci] if pci else "sys/devices/virtual") + "/net/" + name
        index, self.indexes = self.indexes, self.indexes + 1
        self.link("sys/class/net/" + name, "../../%s/" % place[4:])
        own = "sys/class/net/" + name
        for key, text in (("operstate", state), ("mtu", mtu), ("type", type), ("ifindex", str(index)), ("iflink", peer or str(index)),
                          ("dev_port", "0")):
            self.file("%s/%s" % (own, key), text)
        self.files[own + "/uevent"] = ("DEVTYPE=%s\n" % devtype if devtype else "") + "INTERFACE=%s\nIFINDEX=%d\n" % (name, index)
        if speed:
            self.file(own + "/speed", speed)
        else:
            self.error(own + "/speed", "EINVAL")
        if pci:
            self.link(place + "/device", "../../../%s/" % pci)
        if master:
            self.link(place + "/master", "../../../../virtual/net/" + master)
        if part:
            self.folders.append("%s/%s" % (own, part))

    def gpus(self, count, name, driver, pci="", link="", nics="", near="", mig="Disabled", numas="2"):
        """What nvidia-smi says of so many equal GPUs. `pci`, `nics`: lists of words; `near`: the GPU that each of these is beside."""
        count, addresses, nics = int(count), pci.split(), nics.split()
        near = [int(word) for word in near.split()] or list(range(len(nics)))
        half = max(1, count // int(numas))
        rows = []
        for gpu, address in enumerate(addresses):
            rows.append("%d, %s, %s, %s\n" % (gpu, name, driver, mig))
            self.pci(address, vendor="0x10de", driver="nvidia", numa=str(gpu // half))
        self.answers["commands"][QUERY] = {"text": "".join(rows)}
        heads = ["GPU%d" % gpu for gpu in range(count)] + ["NIC%d" % nic for nic in range(len(nics))]
        text = "\t\x1b[4m%s\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" % "\t".join(heads)
        for gpu in range(count):
            cells = [" X " if other == gpu else link or "SYS" for other in range(count)]
            cells += ["PIX" if beside == gpu else "NODE" if beside >= 0 and beside // half == gpu // half else "SYS" for beside in near]
            text += "\t".join(["GPU%d" % gpu] + cells + ["0-47", str(gpu // half), "\tN/A"]) + "\n"
        text += "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect\n"
        if nics:
            text += "\nNIC Legend:\n\n" + "".join("  NIC%d: %s\n" % pair for pair in enumerate(nics))
        self.answers["commands"]["nvidia-smi topo -m"] = {"text": text}
        self.file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build" % driver)

    def kfd(self, pci="", hidden="", first="2"):
        """AMD's GPUs as nodes of the kernel's topology, after the processors, all linked to each other. `hidden`: those whose
        properties a container may not read."""
        first, addresses, top = int(first), pci.split(), "sys/class/kfd/kfd/topology/nodes/%d/"
        for node in range(first):
            self.files[top % node + "properties"] = "cpu_cores_count 48\nsimd_count 0\nio_links_count 8\n"
        for gpu, address in enumerate(addresses):
            node, folder = first + gpu, top % (first + gpu)
            domain, bus, rest = address.split(":")
            device, _, function = rest.partition(".")
            location = int(bus, 16) << 8 | int(device, 16) << 3 | int(function)
            self.files[folder + "properties"] = ("cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90402\nvendor_id 4098\n"
                                                 "device_id 29857\nlocation_id %d\ndomain %d\n" % (location, int(domain, 16)))
            if address in hidden.split():
                self.error(folder + "properties", "EPERM")
            others = [0] + [first + other for other in range(len(addresses)) if other != gpu]
            for number, other in enumerate(others):
                self.files["%sio_links/%d/properties" % (folder, number)] = "type %d\nnode_from %d\nnode_to %d\nweight 15\n" % (
                    11 if other >= first else 2, node, other)

    # ---- writing it out

    def write(self, root):
        """Links first, so that what is below them goes where the kernel has it."""
        for path, target in self.links.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            if os.path.lexists(full):
                os.unlink(full)
            os.symlink(target.rstrip("/"), full)
            if target.endswith("/"):
                os.makedirs(os.path.normpath(os.path.join(os.path.realpath(os.path.dirname(full)), target)), exist_ok=True)
        for path in self.folders:
            os.makedirs(os.path.join(root, path), exist_ok=True)
        for path, text in self.files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(root, ".answers.json"), "w", encoding="utf-8") as file:
            json.dump(self.answers, file)


DIRECTIVES = {"home": Node.home, "session": Node.session, "image": Node.image, "address": Node.address,
              "route": Node.route, "lost": Node.lost, "peers": Node.peers_on, "pci": Node.pci, "hca": Node.hca, "gid": Node.gid, "python": Node.python,
              "net": Node.net, "gpus": Node.gpus, "kfd": Node.kfd}
