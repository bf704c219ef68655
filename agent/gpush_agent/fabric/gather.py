"""The facts of one node, put together: the answer to the call fabric.facts."""
import json
import re

from ..core.refused import Refused
from . import conf, gpus, interfaces, provider, rdma, variables
from .reader import Reader

IPC_LOCK = 14               # the capability by which no limit of locked memory counts
MAX_BYTES = 60000           # of the answer: it is one message of the link (frames.MAX_MESSAGE)
# What goes first from an answer that is too long, and is named as missing: a key, and how many GIDs of each port stay.
LEAST = (("plugins_off_path", 0), ("scripts", 0), ("plugins", 0), ("gids", 8), ("topology", 0), ("environment", 0), ("gids", 4),
         ("conf", 0), ("gids", 0), ("interfaces", 0), ("routes", 0), ("rdma", 0), ("gpus", 0))


def answer(params, session, home):
    """`params`: {"peers": addresses of the other nodes}."""
    peers = params.get("peers") or []
    if not isinstance(peers, list) or not all(isinstance(peer, str) and len(peer) < 64 for peer in peers):
        raise Refused("bad-request", {"field": "peers"})
    return facts(Reader(session, home), peers)


def facts(reader, peers):
    addresses = reader.addresses()
    image = reader.environment_of(1)
    found = {"hostname": reader.word("proc/sys/kernel/hostname"),
             "rdma": rdma.ports(reader), "memlock": memlock(reader),
             "interfaces": interfaces.interfaces(reader, addresses),
             "routes": interfaces.routes(reader, peers, addresses),
             "default_route": interfaces.default_route(reader)}
    found.update(gpus.facts(reader))
    found.update(conf=conf.files(reader, image), provider=provider.facts(reader), scripts=provider.scripts(reader),
                 environment={"image": variables.of(image), "session": variables.of(reader.session)})
    found.update(provider.plugins(reader))
    found["unreadable"] = reader.unreadable
    return fitting({name: value for name, value in found.items() if value not in (None, "", [], {})})


def memlock(reader):
    """Bytes that a child of ours may lock, -1 for any number."""
    capabilities = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", reader.text("proc/self/status"), re.M)
    if capabilities and int(capabilities.group(1), 16) >> IPC_LOCK & 1:
        return -1
    limit = re.search(r"^Max locked memory\s+(unlimited|[0-9]{1,19})\s", reader.text("proc/self/limits"), re.M)
    if not limit:
        return None
    return -1 if limit.group(1) == "unlimited" else int(limit.group(1))


def fitting(found):
    """Cut down to what one message holds. Only a machine of nonsense needs it."""
    for name, kept in LEAST:
        if size(found) <= MAX_BYTES:
            break
        if name == "gids":
            cut = [port for port in found.get("rdma", ()) if len(port.get("gids", ())) > kept]
            for port in cut:
                port["gids"] = port["gids"][:kept]
        else:
            cut = found.pop(name, None)
        missing = {"path": name, "why": "too much"}
        if cut and missing not in found.setdefault("unreadable", []):
            found["unreadable"].insert(0, missing)
    return found


def size(found):
    return len(json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode())
