"""AMD's GPUs from sysfs, as the kernel lists them; a container may read those of its own only."""
from ..fabric import gpus

PCI = "sys/bus/pci/devices/%s/"


class Amd:
    def __init__(self, reader, slots):
        """`reader`: of the fabric package, so that recorded trees can be read."""
        self.reader = reader
        self.devices = []
        for node in reader.names(gpus.KFD)[:gpus.MAX_GPUS * 2]:
            properties = gpus.table(reader.text("%s/%s/properties" % (gpus.KFD, node), normal=gpus.DENIED))
            if properties.get("simd_count"):
                folder = PCI % gpus.amd_bus(properties)
                sensors = reader.names(folder + "hwmon")[:1]
                self.devices.append((folder, folder + "hwmon/%s/" % sensors[0] if sensors else None,
                                     reader.word(folder + "product_name")))
        if len(self.devices) <= len(slots):
            self.slots = slots
        else:
            self.slots = [str(number) for number in range(len(self.devices))]
        self.wanted = frozenset(slots)

    def samples(self):
        return [self.sample(slot, *device) for slot, device in zip(self.slots, self.devices) if slot in self.wanted]

    def sample(self, slot, folder, sensors, name):
        number = self.reader.number

        def sensor(names, unit):
            values = [number(sensors + each) for each in names] if sensors else []
            value = next((each for each in values if each is not None), None)
            return None if value is None else value / unit

        degrees, hertz = sensor(("temp1_input",), 1000.0), sensor(("freq1_input",), 1e6)
        return {"gpu": slot, "name": name, "util": number(folder + "gpu_busy_percent"),
                "memory_used": number(folder + "mem_info_vram_used"), "memory_total": number(folder + "mem_info_vram_total"),
                "power_w": sensor(("power1_average", "power1_input"), 1e6), "power_limit_w": sensor(("power1_cap",), 1e6),
                "temperature": None if degrees is None else int(degrees), "sm_mhz": None if hertz is None else int(hertz),
                "memory_mhz": None, "throttled": None}
