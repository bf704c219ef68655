"""passing streams: a gateway on this machine connects to servers itself, and says what passes through those connections."""
import collections
import os

from ..link.stream import Owner
from . import traffic

NETWORK = "/proc/self/ns/net"
MOST_CONNECTIONS = 4096     # the oldest is forgotten, and begins again from 0


class Passing(Owner):
    def __init__(self, agent, stream, value):
        self.agent, self.client = agent, traffic.client_of(value, "a forward")
        self.meters = collections.OrderedDict()     # number of a connection -> its traffic
        stream.owner = self
        stream.opened({"net": network()})

    def message(self, value, urgent):
        number, count = value.get("connection"), value.get("passed")
        if not isinstance(number, int) or not isinstance(count, int) or count <= 0:
            return
        meter = self.meters.get(number)
        if meter is None:
            meter = self.meters[number] = traffic.Bytes(self.agent.loop.clock, self.agent.lease.active, traffic.FORWARD)
            if len(self.meters) > MOST_CONNECTIONS:
                self.meters.popitem(last=False)
        meter.went(count)


def network():
    """Names the network that this process is in; None where the system does not tell."""
    try:
        return os.readlink(NETWORK)
    except OSError:
        return None
