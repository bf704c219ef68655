"""Addresses and routes as the kernel tells them over rtnetlink, so that iproute2 need not be installed."""
import os
import socket
import struct

NEW_ADDRESS, GET_ADDRESS, NEW_ROUTE, GET_ROUTE = 20, 22, 24, 26
ERROR, DONE = 2, 3
REQUEST, DUMP = 0x1, 0x300
HEADER = struct.Struct("=IHHII")            # length, type, flags, sequence, port
ADDRESS = struct.Struct("=BBBBI")           # family, prefix length, flags, scope, interface
ROUTE = struct.Struct("=BBBBBBBBI")         # family, prefix length of the destination, and eight that are not asked for
ATTRIBUTE = struct.Struct("=HH")
IFA_ADDRESS, IFA_LOCAL = 1, 2
RTA_DESTINATION, RTA_INTERFACE = 1, 4
SECONDS = 2.0
MAX_ADDRESSES = 1000
BYTES = {socket.AF_INET: 4, socket.AF_INET6: 16}


def addresses():
    """Interface -> ["10.0.0.1/24", …], the link-local ones of IPv6 left out."""
    found, count = {}, 0
    for kind, body in asked(GET_ADDRESS, DUMP, ADDRESS.pack(0, 0, 0, 0, 0)):
        if kind != NEW_ADDRESS or len(body) < ADDRESS.size:
            continue
        family, prefix, _, _, index = ADDRESS.unpack_from(body)
        values = attributes(body[ADDRESS.size:])
        raw = values.get(IFA_LOCAL, values.get(IFA_ADDRESS, b""))       # of a tunnel the second is the other end's
        if len(raw) != BYTES.get(family) or (family == socket.AF_INET6 and raw[0] == 0xfe and raw[1] & 0xc0 == 0x80):
            continue
        try:
            name = socket.if_indextoname(index)
        except OSError:
            continue            # it has gone meanwhile
        found.setdefault(name, []).append("%s/%d" % (socket.inet_ntop(family, raw), prefix))
        count += 1
        if count >= MAX_ADDRESSES:
            break
    return found


def route(peer):
    """The interface to a peer. Raises OSError where there is no route, or no answer."""
    family = socket.AF_INET6 if ":" in peer else socket.AF_INET
    raw = socket.inet_pton(family, peer)
    body = ROUTE.pack(family, len(raw) * 8, 0, 0, 0, 0, 0, 0, 0) + ATTRIBUTE.pack(ATTRIBUTE.size + len(raw), RTA_DESTINATION) + raw
    for kind, answer in asked(GET_ROUTE, 0, body):
        if kind == NEW_ROUTE and len(answer) >= ROUTE.size:
            index = attributes(answer[ROUTE.size:]).get(RTA_INTERFACE, b"")
            if len(index) == 4:
                return socket.if_indextoname(struct.unpack("=I", index)[0])
        break
    raise OSError("no answer")


def asked(kind, flags, body):
    """(type, body) of each message of the answer."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, getattr(socket, "NETLINK_ROUTE", 0)) as sock:
        sock.settimeout(SECONDS)
        sock.bind((0, 0))
        sock.send(HEADER.pack(HEADER.size + len(body), kind, REQUEST | flags, 1, 0) + body)
        while True:
            data = sock.recv(1 << 16)
            while len(data) >= HEADER.size:
                length, kind, flags, _, _ = HEADER.unpack_from(data)
                if not HEADER.size <= length <= len(data):
                    return
                if kind == DONE:
                    return
                if kind == ERROR:
                    number = struct.unpack_from("=i", data, HEADER.size)[0] if length >= HEADER.size + 4 else 0
                    raise OSError(-number, os.strerror(-number))
                yield kind, data[HEADER.size:length]
                data = data[length + 3 & ~3:]


def attributes(data):
    """Type -> bytes."""
    found = {}
    while len(data) >= ATTRIBUTE.size:
        length, kind = ATTRIBUTE.unpack_from(data)
        if not ATTRIBUTE.size <= length <= len(data):
            break
        found[kind] = data[ATTRIBUTE.size:length]
        data = data[length + 3 & ~3:]
    return found
