"""NVIDIA's GPUs through the driver's own library, without a program: a process for each sample would cost forty times as much.
Never asks for the highest clock, the energy in total or the rates of PCIe: each of them costs more than all that is read here
(bench/results/2026-11-27-h200.md)."""
import ctypes

LIBRARY = "libnvidia-ml.so.1"
MAX_GPUS = 64
TEXT = 96                   # bytes of a name or UUID
SUCCESS, NO_PERMISSION, NOT_SUPPORTED = 0, 4, 3
CODES = {1: "UNINITIALIZED", 2: "INVALID_ARGUMENT", 3: "NOT_SUPPORTED", 4: "NO_PERMISSION", 6: "NOT_FOUND", 9: "DRIVER_NOT_LOADED",
         10: "TIMEOUT", 11: "IRQ_ISSUE", 12: "LIBRARY_NOT_FOUND", 13: "FUNCTION_NOT_FOUND", 15: "GPU_IS_LOST", 16: "RESET_REQUIRED",
         17: "OPERATING_SYSTEM", 18: "LIB_RM_VERSION_MISMATCH", 19: "IN_USE", 20: "MEMORY", 999: "UNKNOWN"}
NORMAL = (NOT_SUPPORTED, NO_PERMISSION)     # of one value: it is not known
TEMPERATURE_GPU, CLOCK_SM, CLOCK_MEMORY = 0, 1, 2
# Why a clock is lower than it could be, by the bits of nvmlClocksEventReasons.
REASONS = ("idle", "clocks-set", "power-cap", "hw-slowdown", "sync-boost", "sw-thermal", "hw-thermal", "power-brake", "display-clocks")


class Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Failed(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code

    def name(self):
        return CODES.get(self.code, "code %d" % self.code)


class Nvml:
    """Loaded and begun; raises OSError where there is no library, Failed where it does not begin."""

    def __init__(self, load=ctypes.CDLL):
        self.library = load(LIBRARY)
        self.begun = False
        self.call("nvmlInit_v2")
        self.begun = True

    def call(self, name, *arguments):
        try:
            function = getattr(self.library, name)
        except AttributeError:          # an old driver
            raise Failed(13)
        code = function(*arguments)
        if code != SUCCESS:
            raise Failed(code)

    def close(self):
        if self.begun:
            self.begun = False
            self.library.nvmlShutdown()

    def devices(self, slots):
        """Those of these slots, which are the numbers or UUIDs of GPUs. A container has its own only, with other numbers."""
        count = ctypes.c_uint()
        self.call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        numbers = range(min(count.value, MAX_GPUS))
        found = []
        for number in numbers:
            device = Device(self, number)
            slot = str(number)
            named = [each for each in slots if each.startswith("GPU-") and device.uuid.startswith(each)]    # CUDA takes a part of it
            if named:
                slot = named[0]
            elif len(numbers) <= len(slots):
                slot = slots[number]
            if slot in slots:
                found.append(device.of_slot(slot))
        return found


class Device:
    """One GPU. A value that the driver does not give, or not to this user, is None."""

    def __init__(self, nvml, number):
        self.nvml, self.number, self.slot = nvml, number, str(number)
        self.handle = ctypes.c_void_p()
        self.why = None             # it cannot be asked at all
        self.name = self.uuid = ""
        try:
            nvml.call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(number), ctypes.byref(self.handle))
            self.name, self.uuid = self.text("nvmlDeviceGetName"), self.text("nvmlDeviceGetUUID")
        except Failed as failed:
            self.why = failed.name()

    def of_slot(self, slot):
        self.slot = slot
        return self

    def text(self, function):
        buffer = ctypes.create_string_buffer(TEXT)
        try:
            self.nvml.call(function, self.handle, buffer, ctypes.c_uint(TEXT))
        except Failed as failed:
            if failed.code not in NORMAL:
                raise
        return buffer.value.decode("utf-8", "replace")

    def get(self, function, value, *arguments):
        """The value filled in; None where this GPU does not have it."""
        try:
            self.nvml.call(function, self.handle, *(arguments + (ctypes.byref(value),)))
        except Failed as failed:
            if failed.code not in NORMAL:
                raise
            return None
        return value

    def number_of(self, function, *arguments):
        value = self.get(function, ctypes.c_uint(), *[ctypes.c_uint(argument) for argument in arguments])
        return None if value is None else value.value

    def sample(self):
        found = {"gpu": self.slot, "name": self.name}
        if self.why is not None:
            return dict(found, problem=self.why)
        try:
            busy = self.get("nvmlDeviceGetUtilizationRates", Utilization())
            memory = self.get("nvmlDeviceGetMemoryInfo", Memory())
            milliwatts, limit = self.number_of("nvmlDeviceGetPowerUsage"), self.number_of("nvmlDeviceGetEnforcedPowerLimit")
            found.update(
                util=busy and busy.gpu, memory_used=memory and memory.used, memory_total=memory and memory.total,
                power_w=watts(milliwatts), power_limit_w=watts(limit),
                temperature=self.number_of("nvmlDeviceGetTemperature", TEMPERATURE_GPU),
                sm_mhz=self.number_of("nvmlDeviceGetClockInfo", CLOCK_SM),
                memory_mhz=self.number_of("nvmlDeviceGetClockInfo", CLOCK_MEMORY), throttled=self.throttled())
        except Failed as failed:
            found["problem"] = failed.name()
        return found

    def throttled(self):
        try:
            bits = self.get("nvmlDeviceGetCurrentClocksEventReasons", ctypes.c_ulonglong())
        except Failed as failed:
            if failed.code != 13:
                raise
            bits = self.get("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong())     # before driver 535
        return None if bits is None else [name for bit, name in enumerate(REASONS) if bits.value >> bit & 1]


def watts(milliwatts):
    return None if milliwatts is None else round(milliwatts / 1000.0, 1)
