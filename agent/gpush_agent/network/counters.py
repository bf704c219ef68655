"""What network devices have sent and received, from sysfs, and which of them carries the traffic of a run. Counters
are of the whole machine: what counts is a lot of traffic in both directions on one kind of device and little on the other, because collectives send about as much as they receive, and files and packages do not."""
from ..fabric import interfaces, rdma

LEAST_RDMA = 64 << 20       # bytes each way: the first steps of any training; a barrier or a broadcast of settings is less
LEAST_TCP = 256 << 20       # more, because other programs talk over TCP, too
MANY = 4                    # times as much as on the other kind of device
CARRIES = 0.05              # of the busiest rail: a rail with less is not used
SATURATED = (1 << 32) - 1   # where counters of 32 bits stop
WORD = 4                    # bytes: in these the data of a port are counted
EFA = "0x1d0f"
# The counters of a port, sent and received, and the size of their unit. The first pair that can be read counts.
PAIRS = (("counters/port_xmit_data", "counters/port_rcv_data", WORD),
         ("hw_counters/tx_rdma_ucast_bytes", "hw_counters/rx_rdma_ucast_bytes", 1),     # ionic
         ("hw_counters/tx_bytes", "hw_counters/rx_bytes", 1))                           # efa, bnxt_re
IPOIB = 32
LOCAL = ("loopback", "tunnel", "bridge")
LINKS = {"InfiniBand": "IB", "Ethernet": "RoCE"}     # as NCCL calls them


def devices(reader):
    """What there is to count: ports of RDMA devices that can be used, those that cannot, and interfaces with an address."""
    ports = [facts for facts in rdma.ports(reader) if not facts.get("software") and facts.get("state") == "ACTIVE"]
    addresses = reader.addresses()
    names = [entry["name"] for entry in interfaces.interfaces(reader, addresses)
             if entry.get("addresses") and entry["kind"] not in LOCAL and "master" not in entry]
    usable = []
    for facts in ports:
        link = facts.get("link", "")
        # On InfiniBand the counters of a port contain what IP sends over it.
        ip = [name for name in facts.get("interfaces", ()) if link == "InfiniBand"
              and reader.number("%s/%s/type" % (interfaces.CLASS, name)) == IPOIB]
        if facts.get("verbs") == "open":
            usable.append({"device": facts["device"], "port": facts["port"], "link": LINKS.get(link, link), "ip": ip,
                           "efa": facts.get("vendor") == EFA, "gbits": facts.get("gbits"), "pair": pair_of(reader, facts)})
    closed = [{"device": facts["device"], "verbs": facts.get("verbs")} for facts in ports if facts.get("verbs") != "open"]
    return {"ports": usable, "closed": closed, "interfaces": names}


def pair_of(reader, facts):
    """Which counters the port has; None where none can be read."""
    for number, pair in enumerate(PAIRS):
        if None not in port_values(reader, facts, pair):
            return number
    return None


def port_values(reader, port, pair):
    folder = "%s/%s/ports/%d/" % (rdma.CLASS, port["device"], port["port"])
    return tuple(reader.number(folder + name) for name in pair[:2])


def sample(reader, known):
    """Port or "net " and interface -> (sent, received) in bytes; None where they cannot be read, or stand at their end."""
    found = {}
    for port in known["ports"]:
        values = (None,) if port["pair"] is None else port_values(reader, port, PAIRS[port["pair"]])
        usable = None not in values and SATURATED not in values
        found[key(port)] = [value * PAIRS[port["pair"]][2] for value in values] if usable else None
    for name in sorted(set(known["interfaces"]).union(*[port["ip"] for port in known["ports"]])):
        values = [reader.number("%s/%s/statistics/%s" % (interfaces.CLASS, name, way)) for way in ("tx_bytes", "rx_bytes")]
        found["net " + name] = None if None in values else values
    return found


def key(port):
    return "%s:%d" % (port["device"], port["port"])


class Counters:
    """Of devices from a first sample on. Reads nothing: reading a device whose driver hangs takes as long as it hangs."""

    def __init__(self, known, first):
        self.known, self.first = known, dict(first)
        self.ports = known["ports"]

    def carried(self, now):
        """The same names as in a sample -> bytes since the first one, in the direction with less; None where it is not known."""
        found = {}
        for name, values in now.items():
            before = self.first.get(name)
            if values is None or before is None:
                self.first[name] = values
                found[name] = None
            elif values[0] < before[0] or values[1] < before[1]:        # they were reset
                self.first[name] = values
                found[name] = 0
            else:
                found[name] = min(values[0] - before[0], values[1] - before[1])
        for port in self.ports:
            if found.get(key(port)):
                ip = sum(found.get("net " + name) or 0 for name in port["ip"])
                found[key(port)] = max(0, found[key(port)] - ip)
        return found

    def facts(self, now):
        """Which network carries what, in the words of nccl.together; {} while that cannot be told."""
        carried = self.carried(now)
        over = {key(port): carried.get(key(port)) or 0 for port in self.ports}
        by_ip = {name: carried.get("net " + name) or 0 for name in self.known["interfaces"]}
        fast, slow = sum(over.values()), max(by_ip.values()) if by_ip else 0
        if fast >= LEAST_RDMA and fast >= MANY * slow:
            most = max(over.values())
            return self.rails([port for port in self.ports if over[key(port)] >= CARRIES * most])
        is_blind = any(carried.get(key(port)) is None for port in self.ports)
        if slow >= LEAST_TCP and slow >= MANY * fast and not is_blind:
            return self.sockets([name for name, count in sorted(by_ip.items()) if count >= slow / 2])
        return {}

    def rails(self, used):
        names = [port["device"] for port in used]
        if used[0]["efa"]:
            return {"network": "Libfabric", "used": names, "provider": "efa", "provider_devices": len(used)}
        return {"network": "IB", "used": names, "ports": [{name: port[name] for name in ("device", "port", "link")}
                                                          for port in self.ports]}

    def sockets(self, used):
        found = {"network": "Socket", "used": used, "interfaces": used}
        if self.known["closed"] and not self.ports:
            first = self.known["closed"][0]
            found["reasons"] = [{"code": "open", "said": "%s: %s" % (first["device"], first["verbs"])}]
        return found


def gbits(known, names):
    """Of the first of these devices that is known."""
    return next((port["gbits"] for port in known["ports"] if port["device"] in names and port["gbits"]), None)
