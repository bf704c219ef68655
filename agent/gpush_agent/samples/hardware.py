"""Processors, memory and devices of the whole machine, from /proc and /sys. What counts up is turned into rates between two
samples; a first sample has none."""
import re

from ..fabric import rdma
from ..network import counters

MAX_DEVICES = 64
NET = "sys/class/net"
OWN = re.compile(r"lo\Z|veth|docker|br-|cni|flannel|cali")      # of this machine only


class Machine:
    def __init__(self, reader):
        """`reader`: of the fabric package."""
        self.reader = reader
        self.before = {}            # name -> (when, values)
        self.net = self.interfaces()
        self.ports = self.rdma_ports()

    def interfaces(self):
        """Cards; in a container, where none is seen, all that lead out of it."""
        names = [name for name in self.reader.names(NET) if not OWN.match(name)]
        cards = [name for name in names if self.reader.exists("%s/%s/device" % (NET, name))]
        return (cards or names)[:MAX_DEVICES]

    def rdma_ports(self):
        """Those that are up and can be counted."""
        found = []
        for device in self.reader.names(rdma.CLASS)[:MAX_DEVICES]:
            for number in self.reader.names("%s/%s/ports" % (rdma.CLASS, device))[:rdma.MAX_PORTS]:
                folder = "%s/%s/ports/%s/" % (rdma.CLASS, device, number)
                if not number.isdigit() or not self.reader.word(folder + "state").endswith("ACTIVE"):
                    continue
                port = {"device": device, "port": int(number)}
                port["pair"] = counters.pair_of(self.reader, port)
                rate = rdma.RATE.match(self.reader.word(folder + "rate"))
                port["gbits"] = float(rate.group(1)) if rate else None
                if port["pair"] is not None:
                    found.append(port)
        return found[:MAX_DEVICES]

    def rates(self, name, now, values):
        """Of each value a second since the last sample; None for the first one, and when a counter was reset."""
        known = self.before.get(name)
        self.before[name] = (now, values)
        if known is None or None in values or None in known[1] or now <= known[0]:
            return [None] * len(values)
        return [(value - before) / (now - known[0]) if value >= before else None for value, before in zip(values, known[1])]

    def sample(self, now):
        return {"cpu": self.processors(now), "memory": self.memory(), "net": self.network(now), "rdma": self.remote(now)}

    def processors(self, now):
        """Per cent of all processors; what waits for a disk is idle."""
        lines = self.reader.text("proc/stat").splitlines()
        ticks = [int(word) for word in lines[0].split()[1:9]] if lines and lines[0].startswith("cpu ") else []
        count = sum(1 for line in lines if re.match(r"cpu[0-9]", line))
        load = self.reader.word("proc/loadavg").split(" ")[0]
        percent = None
        if len(ticks) >= 5:
            idle, total = self.rates("cpu", now, [ticks[3] + ticks[4], sum(ticks)])
            if idle is not None and total:
                percent = round(100.0 * max(0.0, 1.0 - idle / total), 1)
        return {"percent": percent, "count": count, "load": float(load) if re.match(r"[0-9]+\.[0-9]+\Z", load) else None}

    def memory(self):
        found = {name: int(size) * 1024 for name, size in
                 re.findall(r"^(MemTotal|MemAvailable):\s+([0-9]{1,15}) kB$", self.reader.text("proc/meminfo"), re.M)}
        total, left = found.get("MemTotal"), found.get("MemAvailable")
        return {"total": total, "used": None if total is None or left is None else max(0, total - left)}

    def network(self, now):
        """All are in one file, which is one read."""
        rows = {}
        for line in self.reader.text("proc/net/dev").splitlines()[2:]:
            name, _, rest = line.partition(":")
            fields = rest.split()
            if len(fields) >= 9 and fields[0].isdigit() and fields[8].isdigit():
                rows[name.strip()] = [int(fields[0]), int(fields[8])]
        return [self.device(name, now, "net " + name, rows[name]) for name in self.net if name in rows]

    def remote(self, now):
        found = []
        for port in self.ports:
            pair = counters.PAIRS[port["pair"]]
            values = [None if value is None or value == counters.SATURATED else value * pair[2]
                      for value in counters.port_values(self.reader, port, pair)]
            name = counters.key(port)
            found.append(dict(self.device(name, now, "rdma " + name, [values[1], values[0]]), gbits=port["gbits"]))
        return found

    def device(self, name, now, key, values):
        came, went = self.rates(key, now, values)
        return {"name": name, "in": None if came is None else int(came), "out": None if went is None else int(went)}
