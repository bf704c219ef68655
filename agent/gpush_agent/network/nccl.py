"""What NCCL says of its network in its own log (NCCL_DEBUG=INFO, subsystems INIT and NET), as facts. RCCL and the plugins of
providers write the same form. Lines go in and facts come out: nothing is read here."""
import re

MOST_DEVICES = 64           # the largest machines have 32
MOST_REASONS = 4
MOST_TEXT = 200
SAID = re.compile(r"NCCL (INFO|WARN) (.*)")
# "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>"
LISTED = re.compile(r"NET/([\w -]+?) ?: Using (.*)")
BOUND = re.compile(r"\[(\d+)\]=\{([^}]*)\}")        # several ports as one device, since 2.21
PORT = re.compile(r"(?:\[(\d+)\] ?)?([\w.-]+):(\d+)/(\w+)")
SOCKET = re.compile(r"\[(\d+)\]([\w.@-]+):[0-9a-fA-F.:%\w]+<\d+>")
MERGED = re.compile(r"Made virtual device \[(\d+)\] name=(\S+)")
# Versions before 2.27 say the first, later ones both or only the second.
CHOSEN = re.compile(r"(?:Using network|Assigned NET plugin) ([\w .-]+?)(?: to comm\b.*)?\Z")
CHANNEL = re.compile(r"Channel \d+(?:/\d+)? : .* via NET/([^/]+)/(\d+)((?:[(/].*)?)\Z")
INSIDE = re.compile(r"Channel \d+(?:/\d+)? : .* via (P2P/[A-Za-z]+|SHM)")
# "NET/OFI Selected provider is efa, fabric is efa (found 32 nics)"
PROVIDER = re.compile(r"NET/OFI Selected [Pp]rovider is ([\w;-]+).*?(?:\(found (\d+) nics\))?\Z")
SIZE = re.compile(r"\bnRanks (\d+) nNodes (\d+)\b")
COMPLETE = re.compile(r"\bInit COMPLETE\b")
# Why it does not use what is there; the first of each code counts.
REASONS = (
    ("libibverbs", re.compile(r"(?:Failed to open|Could not load|dlopen.*) ?libibverbs\.so\S*")),
    ("disabled", re.compile(r"NCCL_IB_DISABLE set by environment to [1-9]\S*")),
    ("open", re.compile(r"NET/IB : Unable to open device (\S+)|ibv_open_device failed.*")),
    ("memlock", re.compile(r"ibv_(?:reg_mr|create_cq|create_qp)\S* failed.*(?:Cannot allocate memory|errno 12)")),
    ("no-device", re.compile(r"NET/\w+ ?: No device found")),
    ("provider", re.compile(r"NET/OFI .*(?:No eligible providers|[Cc]ouldn't find any optimal provider|Failed to initialize).*")),
    ("plugin", re.compile(r"NET/Plugin ?: (?:Could not find|No plugin found|dlerror=).*")),
)


class ProcessLog:
    """What one process has said so far."""

    def __init__(self):
        self.network = self.provider = None
        self.providers = 0          # devices of the provider
        self.ports = {}             # index of NCCL -> [(device, port, link)]
        self.sockets = {}           # index -> interface
        self.used = {}              # index -> whether with GPUDirect RDMA
        self.inside = set()
        self.reasons = {}           # code -> words
        self.nodes = self.complete = self.lines = 0

    def line(self, text):
        said = SAID.search(text)
        if not said:
            return
        self.lines += 1
        words = said.group(2).strip()
        for take in (self.listed, self.chosen, self.other):
            if take(words):
                return

    def listed(self, words):
        found = LISTED.search(words)
        if not found:
            return False
        devices = found.group(2).partition("; OOB ")[0]
        sockets = SOCKET.findall(devices)
        if sockets:
            self.sockets = {int(index): name[:MOST_TEXT] for index, name in sockets[:MOST_DEVICES]}
            return True
        bound = {int(index): [port[1:] for port in PORT.findall(inner)] for index, inner in BOUND.findall(devices)}
        single = {int(index): [(name, port, link)] for index, name, port, link in PORT.findall(devices) if index}
        self.ports = dict(list((bound or single).items())[:MOST_DEVICES])
        return True

    def chosen(self, words):
        found = CHOSEN.search(words)
        if found:
            self.network = found.group(1).strip()[:MOST_TEXT]
            return True
        found = CHANNEL.search(words)
        if found:
            self.network = found.group(1)[:MOST_TEXT]
            index = int(found.group(2))
            if len(self.used) < MOST_DEVICES or index in self.used:
                self.used[index] = self.used.get(index, False) or "/GDRDMA" in found.group(3)
            return True
        found = INSIDE.search(words)
        if found:
            self.inside.add(found.group(1))
        return bool(found)

    def other(self, words):
        if COMPLETE.search(words):
            self.complete += 1
        size = SIZE.search(words)
        if size:
            self.nodes = max(self.nodes, int(size.group(2)))
        merged = MERGED.search(words)
        if merged and len(self.ports) < MOST_DEVICES:
            known = {port[0]: port for ports in self.ports.values() for port in ports}
            self.ports[int(merged.group(1))] = [known.get(name, (name, "1", "")) for name in merged.group(2).split("+")]
        provider = PROVIDER.search(words)
        if provider:
            self.provider, self.providers = provider.group(1)[:MOST_TEXT], int(provider.group(2) or 0)
        for code, pattern in REASONS:
            reason = pattern.search(words)
            if reason and code not in self.reasons and len(self.reasons) < MOST_REASONS:
                self.reasons[code] = reason.group(0).strip()[:MOST_TEXT]

    def is_connected(self):
        """It has said all that is wanted: a network is chosen, and on several nodes channels use it."""
        return bool(self.complete) and (self.nodes < 2 or bool(self.used))


def together(logs):
    """The facts of a node from the logs of its processes; {} when none has said anything. Each process names all devices and uses
    those near its GPU, so what is used is what any of them uses."""
    logs = [log for log in logs if log.lines]
    if not logs:
        return {}
    first = max(logs, key=lambda log: (bool(log.used), log.network is not None, bool(log.ports), log.lines))
    used = {}
    for log in logs:
        for index, direct in log.used.items():
            used[index] = used.get(index, False) or direct
    by_index = {index: [name for name, _, _ in ports] for index, ports in first.ports.items()} or {
        index: [name] for index, name in first.sockets.items()}
    names = sorted({name for index in used for name in by_index.get(index, [])})
    facts = {
        "network": first.network,
        "ports": [{"device": name, "port": int(port), "link": link}
                  for name, port, link in unique(port for _, ports in sorted(first.ports.items()) for port in ports)],
        "interfaces": unique(name for _, name in sorted(first.sockets.items())),
        "used": names,
        "provider": first.provider,
        "provider_devices": first.providers,
        "direct": any(used.values()) if used else None,
        "inside": sorted(set().union(*[log.inside for log in logs])),
        "nodes": max(log.nodes for log in logs),
        "reasons": [{"code": code, "said": said} for code, said in sorted(first.reasons.items())],
    }
    return {name: value for name, value in facts.items() if value is False or value not in (None, [], 0)}


def unique(items):
    found = []
    for item in items:
        if item not in found:
            found.append(item)
    return found[:MOST_DEVICES]
