"""Network interfaces, from /sys/class/net, and by which of them the other nodes are reached."""
import re

from .rdma import plain

CLASS = "sys/class/net"
MAX_INTERFACES = 256
MAX_ADDRESSES = 16          # of one interface
MAX_PEERS = 1024
MAX_MEGABITS = 10000000     # more is the unsigned -1 of older kernels: unknown
ETHERNET, INFINIBAND, LOOPBACK = 1, 32, 772
TUNNELS = frozenset((512, 768, 769, 776, 778, 823, 65534))     # PPP, IP in IP, SIT, GRE, and devices without a link layer
WIRELESS = frozenset((801, 802, 803))
KINDS = {"bond": "bond", "bridge": "bridge", "vlan": "vlan", "wlan": "wireless", "vxlan": "tunnel", "wireguard": "tunnel",
         "gre": "tunnel", "gretap": "tunnel", "geneve": "tunnel", "ppp": "tunnel"}
PARTS = (("bonding", "bond"), ("bridge", "bridge"), ("tun_flags", "tunnel"), ("wireless", "wireless"), ("phy80211", "wireless"))
PEER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}\Z|[0-9a-fA-F:]*:[0-9a-fA-F:.]*\Z")
UP, REJECT = 0x1, 0x200


def interfaces(reader, addresses):
    """An entry for each; the host's ends of containers (veth without an address) are left out."""
    found = []
    names = [name for name in reader.names(CLASS) if name != "bonding_masters"]
    for name in names + sorted(set(addresses) - set(names)):
        folder = "%s/%s" % (CLASS, name)
        parts = set(reader.listed(folder))
        entry = {"name": name, "state": reader.word(folder + "/operstate"), "kind": kind(reader, folder, parts, name)}
        if entry["kind"] == "veth" and name not in addresses:
            continue
        found.append(complete(reader, entry, folder, parts, addresses.get(name, [])))
        if len(found) >= MAX_INTERFACES:
            break
    return found


def complete(reader, entry, folder, parts, addresses):
    megabits, mtu = reader.number(folder + "/speed"), reader.number(folder + "/mtu")
    if megabits is not None and 0 < megabits <= MAX_MEGABITS:
        entry["gbits"] = plain(megabits / 1000.0)
    if mtu is not None and mtu > 0:
        entry["mtu"] = mtu
    if "master" in parts:
        entry["master"] = reader.target(folder + "/master")
    if addresses:
        entry["addresses"] = addresses[:MAX_ADDRESSES]
    return {key: value for key, value in entry.items() if value not in ("", [])}


def kind(reader, folder, parts, name):
    number = reader.number(folder + "/type")
    if number == LOOPBACK or (number is None and name == "lo"):
        return "loopback"
    for part, found in PARTS:
        if part in parts:
            return found
    match = re.search(r"^DEVTYPE=(\w+)$", reader.text(folder + "/uevent"), re.M)
    if match:
        return KINDS.get(match.group(1), "other")           # macvlan, ipvlan, dummy of newer kernels …
    if number in WIRELESS:
        return "wireless"
    if number == INFINIBAND:
        return "ipoib"
    if number in TUNNELS:
        return "tunnel"
    if number == ETHERNET and "device" in parts:
        return "ethernet"
    if number == ETHERNET and reader.number(folder + "/iflink") not in (None, reader.number(folder + "/ifindex")):
        return "veth"       # it is linked to an interface that is not itself, in another namespace
    return "other"


def routes(reader, peers, addresses):
    """By which interface each peer is reached."""
    found = []
    for peer in peers[:MAX_PEERS]:
        if not PEER.match(peer):
            reader.cannot("route to " + peer, "not an address")
            continue
        route = reader.route(peer, addresses)
        if route is not None:
            found.append({"to": peer, "interface": route})
    return found


def default_route(reader):
    """The interface of the default route with the lowest metric, of IPv4 where there is one; None without."""
    return default4(reader.text("proc/net/route")) or default6(reader.text("proc/net/ipv6_route"))


def default4(text):
    found = []
    for line in text.splitlines()[1:]:
        fields = line.split()       # Iface Destination Gateway Flags RefCnt Use Metric Mask …
        if len(fields) >= 8 and fields[1] == fields[7] == "00000000" and usable(fields[3]) and fields[6].isdigit():
            found.append((int(fields[6]), len(found), fields[0]))
    return min(found)[2] if found else None


def default6(text):
    found = []
    for line in text.splitlines():
        fields = line.split()       # destination, length, source, length, next hop, metric, references, use, flags, interface
        if len(fields) == 10 and fields[0].strip("0") == "" and fields[1] == "00" and usable(fields[8]) and fields[9] != "lo":
            if re.match(r"[0-9a-f]{8}\Z", fields[5]):
                found.append((int(fields[5], 16), len(found), fields[9]))
    return min(found)[2] if found else None


def usable(flags):
    return bool(re.match(r"[0-9A-Fa-f]{1,8}\Z", flags)) and int(flags, 16) & UP and not int(flags, 16) & REJECT
