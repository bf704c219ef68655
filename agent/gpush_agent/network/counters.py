"""What network devices have sent and received, from sysfs below a root folder, so that a recorded tree can stand in."""
from ..fabric import rdma
from ..fabric.reader import Reader


def rate(devices, root="/"):
    """Gbit/s of a port of the first of these RDMA devices that says it; None where none does."""
    reader = Reader(root)
    for device in devices:
        for port in reader.names("%s/%s/ports" % (rdma.CLASS, device)):
            match = rdma.RATE.match(reader.word("%s/%s/ports/%s/rate" % (rdma.CLASS, device, port)))
            if match:
                return rdma.plain(float(match.group(1)))
    return None
