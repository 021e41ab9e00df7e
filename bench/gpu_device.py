"""What NVIDIA's driver says of the first device, by NVML: bench/gpu's line on it, and what it did during a step.

Every figure is None where the library, the driver or the device does not give it. $PAPERTAPE_NVML names another library; empty: none."""
import ctypes
import os
import threading
from statistics import mean

SM, MEMORY = 1, 2  # clocks
GRAPHICS_TEMPERATURE = 0
SAMPLE_S = 0.5


def load():
    """As daemon/gpu/nvml.h has it. OSError: there is none."""
    named = os.environ.get("PAPERTAPE_NVML")
    if named == "":
        raise OSError("PAPERTAPE_NVML is empty")
    if named:
        return ctypes.CDLL(named)
    try:
        return ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return ctypes.CDLL("libnvidia-ml.so")


class Device:
    def __init__(self):
        self.handle = ctypes.c_void_p()
        try:
            self.library = load()
            started = self.library.nvmlInit_v2() == 0
            if not started or self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle)) != 0:
                self.library = None
        except (OSError, AttributeError):
            self.library = None

    def known(self):
        return self.library is not None

    def call(self, function, *arguments):
        """Did it do what was asked for?"""
        try:
            return self.library is not None and getattr(self.library, function)(*arguments) == 0
        except AttributeError:  # an older library has no such function
            return False

    def text(self, function, *first):
        value = ctypes.create_string_buffer(100)
        return value.value.decode(errors="replace") if self.call(function, *first, value, len(value)) else None

    def number(self, function, *arguments, scale=1, kind=ctypes.c_uint):
        value = kind()
        return value.value * scale if self.call(function, self.handle, *arguments, ctypes.byref(value)) else None

    def memory(self):
        """Bytes: total, used of all processes."""
        value = (ctypes.c_ulonglong * 3)()
        return (value[0], value[2]) if self.call("nvmlDeviceGetMemoryInfo", self.handle, ctypes.byref(value)) else (None, None)

    def utilisation(self):
        """The share of the last moments in which a kernel ran, of any process."""
        percent = (ctypes.c_uint * 2)()  # of kernels, of memory
        return percent[0] / 100 if self.call("nvmlDeviceGetUtilizationRates", self.handle, ctypes.byref(percent)) else None

    def facts(self):
        cuda = ctypes.c_int()
        known = self.call("nvmlSystemGetCudaDriverVersion_v2", ctypes.byref(cuda))
        total, used = self.memory()
        return {"value": self.text("nvmlDeviceGetName", self.handle),
                "driver": self.text("nvmlSystemGetDriverVersion"),
                "cuda_of_driver": None if not known else f"{cuda.value // 1000}.{cuda.value % 1000 // 10}",
                "bytes": total, "bytes_used": used,
                "sm_mhz_limit": self.number("nvmlDeviceGetMaxClockInfo", SM),
                "memory_mhz_limit": self.number("nvmlDeviceGetMaxClockInfo", MEMORY),
                "watts_limit": self.number("nvmlDeviceGetEnforcedPowerLimit", scale=1e-3), **self.state()}

    def state(self):
        return {"sm_mhz": self.number("nvmlDeviceGetClockInfo", SM),
                "memory_mhz": self.number("nvmlDeviceGetClockInfo", MEMORY),
                "celsius": self.number("nvmlDeviceGetTemperature", GRAPHICS_TEMPERATURE),
                "watts": self.number("nvmlDeviceGetPowerUsage", scale=1e-3),
                "utilisation": self.utilisation(),
                "throttled": self.number("nvmlDeviceGetCurrentClocksThrottleReasons", kind=ctypes.c_ulonglong)}


class Watch:
    """Samples the device while a step runs: its least and highest clock, how busy it was, and what else may explain a figure."""

    def __init__(self, device):
        self.device, self.samples, self.used, self.ended = device, [], [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while True:
            self.samples.append(self.device.state())
            self.used.append(self.device.memory()[1])
            if self.ended.wait(SAMPLE_S):
                return

    def __enter__(self):
        if self.device.known():
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.thread.ident:
            self.thread.join()

    def figures(self):
        def known(name):
            return [sample[name] for sample in self.samples if sample[name] is not None]

        found = {}
        for name, (key, pick) in {"sm_mhz_least": ("sm_mhz", min), "sm_mhz_most": ("sm_mhz", max), "celsius_most": ("celsius", max),
                                  "watts_most": ("watts", max), "utilisation_most": ("utilisation", max),
                                  "utilisation_mean": ("utilisation", mean)}.items():
            if known(key):
                found[name] = pick(known(key))
        reasons = 0
        for mask in known("throttled"):
            reasons |= mask
        if known("throttled"):
            found["throttled"] = reasons
        used = [value for value in self.used if value is not None]
        if used:
            found["bytes_used_most"] = max(used)
        return found
