#!/usr/bin/env python3
"""Devices in the status of a whole daemon: a fake NVIDIA device whose figures change, and that hangs; a fake tree of an RX
7900's files, of which one is missing; a machine without a device, for which one line is said."""

import os
import signal

import harness

CONFIG = "[gpu]\nsample_s = 1\n[account hand]\nstrategy = none\n"
RX7900 = {
    "vendor": "0x1002", "device": "0x744c", "uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0", "gpu_busy_percent": "97",
    "mem_info_vram_total": str(24 << 30), "mem_info_vram_used": str(6 << 30), "pp_dpm_sclk": "0: 500Mhz\n1: 2304Mhz *",
    "hwmon/hwmon1/power1_average": "303000000"}


def put(path, text):
    """Replaces a file whole, as a reader at any moment must see it."""
    with open(path + ".next", "w") as file:
        file.write(text)
    os.rename(path + ".next", path)


def tree(folder):
    """An empty /sys for one that has no device; with the card's folder."""
    card = os.path.join(folder.within("sys"), "class/drm/card0/device")
    return os.path.join(folder.path, "sys"), card


def fill(card):
    for name, text in RX7900.items():
        os.makedirs(os.path.dirname(os.path.join(card, name)), exist_ok=True)
        put(os.path.join(card, name), text + "\n")


def start(folder, name, nvml, sysfs, figures=""):
    path = os.path.join(folder.path, f"{name}.nvml")
    put(path, figures)
    environment = {**os.environ, "PAPERTAPE_NVML": nvml, "PAPERTAPE_SYSFS": sysfs, "PAPERTAPE_FAKE_NVML": path}
    return folder.start(harness.Daemon(folder.path, None, CONFIG, name=name, state=name, env=environment)), path


def gpu_of(daemon, condition, what):
    return daemon.wait_status(lambda status: condition(status["gpu"]), what)["gpu"]


def known(devices):
    """Their figures that are not n/a."""
    return [{key: value for key, value in device.items() if value is not None} for device in devices]


def nvidia(folder, sysfs):
    daemon, figures = start(folder, "nvidia", harness.FAKE_NVML, sysfs, "temperature=81\n")
    gpu = gpu_of(daemon, lambda gpu: gpu["state"] == "ok", "a sample")
    assert gpu["reason"] == "" and len(gpu["devices"]) == 2, gpu
    assert gpu["devices"][0] == {"name": "Fake 0", "util_pct": 97, "mem_used_mib": 62464, "mem_total_mib": 154624,
                                 "power_w": 612.345, "power_limit_w": 650, "clock_mhz": 1980, "temp_c": 81,
                                 "device": "nvidia:GPU-00000000-0000-4000-8000-00000000fa4e", "driver": "999.42.01",
                                 "profile": None, "mem_util_pct": 40, "mem_clock_mhz": 2619, "fan_pct": 30,
                                 "throttle_power": 0, "throttle_thermal": 0, "throttle_hardware": 0,
                                 "pcie_rx_bytes_s": 1200000, "pcie_tx_bytes_s": 800000, "index": 0}, gpu
    put(figures, "temperature=86\n1.power=unsupported\n")
    gpu = gpu_of(daemon, lambda gpu: gpu["devices"][0]["temp_c"] == 86, "86 degrees")
    assert gpu["devices"][0]["power_w"] == 612.345 and gpu["devices"][1]["power_w"] is None, gpu

    # One does not answer, then one is gone: it is named, and the other is sampled.
    key = "nvidia:GPU-00000001-0000-4000-8000-00000000fa4e"
    put(figures, "1.lost=1\n")
    gpu = gpu_of(daemon, lambda gpu: gpu["reason"], "a device that does not answer")
    assert gpu["state"] == "ok" and gpu["reason"] == f"{key}: it does not answer" and len(gpu["devices"]) == 2, gpu
    shown = daemon.papertape("status")
    assert f"gpu       ok: {key}: it does not answer\n" in shown, shown
    assert f" W, n/a MHz, n/a C, {key}, index 1\n" in shown, shown
    put(figures, "devices=1\n")
    gpu = gpu_of(daemon, lambda gpu: len(gpu["devices"]) == 1, "a device that is gone")
    assert gpu["state"] == "ok" and gpu["reason"] == f"{key}: the device is gone", gpu
    assert gpu["devices"][0]["util_pct"] == 97, gpu
    put(figures, "")
    gpu_of(daemon, lambda gpu: len(gpu["devices"]) == 2 and not gpu["reason"], "the device again")

    put(figures, "hang=1\n")
    gpu = gpu_of(daemon, lambda gpu: gpu["state"] == "stalled", "a driver that hangs")
    assert gpu["reason"].startswith("the driver has not answered since "), gpu
    assert [device["name"] for device in gpu["devices"]] == ["Fake 0", "Fake 1"], gpu
    assert all(value is None for key, value in gpu["devices"][0].items()
               if key not in ("name", "device", "driver", "index")), gpu
    put(figures, "fails=1\n")
    gpu = gpu_of(daemon, lambda gpu: gpu["state"] == "n/a", "a driver that fails")
    assert gpu == {"state": "n/a", "reason": "NVML: GPU is lost", "devices": []}, gpu
    assert daemon.stop() == 0

    daemon, figures = start(folder, "hangs", harness.FAKE_NVML, sysfs, "hang=1\n")
    gpu_of(daemon, lambda gpu: gpu["state"] == "stalled", "a driver that hangs from the start")
    assert daemon.stop() == 0, daemon.log_text()  # at once, though the driver still hangs


def amd(folder, sysfs, card):
    fill(card)
    daemon, _ = start(folder, "amd", "", sysfs)
    gpu = gpu_of(daemon, lambda gpu: gpu["state"] == "ok", "a sample of the files")
    assert known(gpu["devices"]) == [{"name": "AMD 1002:744c", "util_pct": 97, "mem_used_mib": 6144, "mem_total_mib": 24576,
                                      "power_w": 303, "clock_mhz": 2304, "device": "amd:0000:03:00.0", "driver": "amdgpu"}], gpu
    assert daemon.stop() == 0


def none(folder, sysfs):
    daemon, _ = start(folder, "none", "", sysfs)
    gpu = gpu_of(daemon, lambda gpu: gpu["reason"] != "not sampled yet", "a sample without a device")
    assert gpu == {"state": "n/a", "reason": "no GPU", "devices": []}, gpu
    assert daemon.stop(signal.SIGTERM) == 0


def main():
    with harness.Folder() as folder:
        sysfs, card = tree(folder)
        none(folder, sysfs)
        nvidia(folder, sysfs)
        amd(folder, sysfs, card)
    print("devices: as their drivers say")


if __name__ == "__main__":
    main()
