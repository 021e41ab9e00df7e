#!/usr/bin/env python3
"""What devices used, by a fake NVML (tests/daemon/fake_nvml.c): stored while the daemon runs, shown while it does and after
it: stopped, killed at any moment, on another clock's hour. Where there is no device, one line says so. Two minutes in the
long run."""

import csv
import datetime
import io
import json
import os
import re
import signal
import sqlite3
import subprocess

import harness

SAMPLES = 57 if harness.LONG else 3  # of each device: one every 2 s
CONFIG = "[market]\nsymbols = BTCUSDT\ninterval = 1m\n"
HEADER = ("ts_ns,device,name,util_percent,memory_used_bytes,memory_total_bytes,memory_util_percent,power_w,power_limit_w,"
          "clock_mhz,memory_clock_mhz,temperature_c,fan_percent,throttle_power,throttle_thermal,throttle_hardware,"
          "pcie_rx_bytes_s,pcie_tx_bytes_s,period_s,statistic,n,ts_iso")


def start(folder, replay, nvml):
    """With NVIDIA's library, "": none, and with no other vendor's device."""
    settings = os.path.join(folder.path, "fake-nvml")
    with open(settings, "w") as file:
        file.write("1.throttle=0x24\n")
    environment = {**os.environ, "PAPERTAPE_NVML": nvml, "PAPERTAPE_SYSFS": os.path.join(folder.path, "no-sysfs"),
                   "PAPERTAPE_FAKE_NVML": settings}
    return folder.start(harness.Daemon(folder.path, replay, CONFIG, env=environment))


def stored(daemon):
    """Samples of each device, as SQL has them."""
    try:
        rows = daemon.query("SELECT device, count(*) FROM device_samples WHERE period_s = 0 GROUP BY device")
        return min((n for _, n in rows), default=0)
    except sqlite3.OperationalError:  # no database, or none of its tables yet
        return 0


def samples(daemon, *arguments):
    """{name: rows} of papertape gpu --csv."""
    text = daemon.papertape("gpu", "--csv", "--from", "-1h", *arguments)
    assert text.splitlines()[0] == HEADER, text.splitlines()[0]
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        found.setdefault(row["name"], []).append(row)
    return found


def screen(daemon, size, later_s=0):
    """Tab 3, or with no daemon what it was, so many seconds later."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if later_s:
        shift = os.path.join(daemon.state, "shift")
        with open(shift, "w") as file:
            file.write(str(later_s))
        environment |= {"LD_PRELOAD": harness.SHIFTED_CLOCK, "SHIFTED_CLOCK": shift}
    done = subprocess.run([harness.PAPERTAPE, "--state", daemon.state, "--dump-screen", size, "--tab", "3"],
                          capture_output=True, text=True, env=environment, timeout=harness.PATIENCE)
    width, height = (int(n) for n in size.split("x"))
    lines = done.stdout.splitlines()
    assert len(lines) == height and max(len(line) for line in lines) <= width, done.stdout + done.stderr
    return done.stdout


def check_samples(daemon, least):
    found = samples(daemon)
    assert set(found) == {"Fake 0", "Fake 1"}, found.keys()
    for rows in found.values():
        assert len([row for row in rows if row["period_s"] == "0"]) >= least, (len(rows), least)
        times = [int(row["ts_ns"]) for row in rows]
        assert times == sorted(set(times))
        for row in rows:
            assert (row["util_percent"], row["temperature_c"], row["power_w"]) == ("97", "71", "612.345"), row
            assert row["memory_used_bytes"] == str(61 << 30), row
    return {device: len(rows) for device, rows in found.items()}


def check_live(daemon):
    status = daemon.status_now()["gpu"]
    assert status["state"] == "ok" and len(status["devices"]) == 2, status
    assert status["devices"][0]["device"].startswith("nvidia:") and status["devices"][0]["util_pct"] == 97, status
    lines = [line for line in daemon.papertape("status").splitlines() if line.startswith("device ")]
    assert lines[0].startswith("device    Fake 0: util 97 %, memory 61.0 of 151.0 GiB, 612 of 650 W"), lines
    assert "throttled" not in lines[0] and ", throttled by power+thermal, " in lines[1], lines
    assert "sampled" in screen(daemon, "100x30")


def check_greatest(folder, daemon):
    """A sample is in the span's greatest as soon as it is the last, not once its minute is over."""
    with open(os.path.join(folder.path, "fake-nvml"), "a") as file:
        file.write("0.fan=55\n")

    def faster():
        device = json.loads(daemon.papertape("gpu", "--json"))["devices"][0]
        assert device["max"]["fan_percent"] >= device["last"]["fan_percent"], device
        assert device["min"]["fan_percent"] == 30 <= device["mean"]["fan_percent"], device
        return device["last"]["fan_percent"] == 55 and device["mean"]["fan_percent"] > 30
    harness.wait_for(faster, "a faster fan")
    device = json.loads(daemon.papertape("--json"))["devices"][0]
    assert device["max"]["fan_percent"] == device["last"]["fan_percent"] == 55, device


def check_old(daemon):
    """Half an hour later."""
    shown = screen(daemon, "100x30", later_s=1800)
    for words in ("GPU (2)", "Fake 0", "Fake 1", "last use 30m ago", " 97%  mean  97 max  97", "61.0/151.0 GiB max 61.0",
                  "612/650 W mean 612 max 612", "71 C max 71"):
        assert words in shown, (words, shown)
    shown = screen(daemon, "80x24", later_s=1800)
    assert "last use 30m ago" in shown and "power+thermal" in shown and "own processes" in shown, shown


def check_after(daemon, least):
    """Without a daemon: the last use and its age, mean and maximum; the rows; the object."""
    if not harness.SANITIZED:  # its runtime comes first, before the shifted clock
        check_old(daemon)
    rows = check_samples(daemon, least)
    gpu = json.loads(daemon.papertape("gpu", "--json"))
    assert gpu["schema"] == "papertape.gpu/1" and gpu["reason"] is None, gpu
    for device in gpu["devices"]:
        assert device["last"]["util_percent"] == device["mean"]["util_percent"] == device["max"]["util_percent"] == 97
        assert device["age_ms"] >= 0
    assert [process["role"] for process in gpu["processes"]] == ["daemon"], gpu["processes"]
    assert gpu["processes"][0]["max"]["resident_bytes"] > 1 << 20
    assert "Fake 0" in daemon.papertape("gpu") and len(gpu["samples"]) == sum(rows.values())
    assert "role,pid,cpu_percent" in daemon.papertape("gpu", "--csv", "--processes")
    check_table(daemon)
    check_span(daemon)
    check_period(daemon)
    return rows


def check_period(daemon):
    """--to is not included, --at is; each time stands in ISO 8601 too."""
    whole = samples(daemon)["Fake 0"]
    first, last = whole[0]["ts_ns"], whole[-1]["ts_ns"]
    of = lambda *options: [row for row in csv.DictReader(io.StringIO(daemon.papertape("gpu", "--csv", *options))) if row["name"] == "Fake 0"]
    assert of("--from", first, "--to", last) == whole[:-1] and of("--from", last) == whole[-1:]
    assert of("--from", first, "--at", whole[1]["ts_ns"]) == whole[:2]
    for row in whole:
        seconds, part = divmod(int(row["ts_ns"]), 10**9)
        assert row["ts_iso"] == f"{datetime.datetime.fromtimestamp(seconds, datetime.UTC):%Y-%m-%dT%H:%M:%S}.{part:09}Z", row


def check_table(daemon):
    """Why each device is slowed; figures of processes to a tenth; --statistic not ignored; which units there are."""
    head, *lines = [line.split() for line in daemon.papertape("gpu").split("\n\n")[0].splitlines()]
    throttled = head[::-1].index("throttled")  # from the end: a device's name has a blank
    for line, words in zip([line for line in lines if line[0].startswith("nvidia:")], ("-", "power+thermal")):
        assert line[::-1][throttled - 1] == words, (head, line)  # the last column, the reason, is empty
    head, *lines = [line.split() for line in daemon.papertape("gpu", "--processes").splitlines()]
    at, end = head.index("cpu_percent"), head.index("written_bytes_s")
    assert lines
    for line in lines:
        assert all(re.fullmatch(r"n/a|\d+(\.\d)?", cell) for cell in line[at:end + 1]), line
    assert "it goes with --csv, --json or --processes" in refused(daemon, "--statistic", "max")
    assert "s, m, h, d, w or y" in refused(daemon, "--from", "-1h30m")


def check_span(daemon):
    """Processes on devices are those of the span; the last sample is the newest."""
    now = json.loads(daemon.papertape("gpu", "--json"))
    before = json.loads(daemon.papertape("gpu", "--json", "--from", "-2h", "--to", "-1h"))
    assert now["device_processes"] and not before["device_processes"], (now, before)
    assert not before["phases"] and all(device["n"] == 0 for device in before["devices"]), before
    assert [device["last"] for device in before["devices"]] == [device["last"] for device in now["devices"]]


def refused(daemon, *arguments):
    done = subprocess.run([harness.PAPERTAPE, "gpu", *arguments, "--state", daemon.state], capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout, done
    return done.stderr


def run_broken(folder):
    """A database that cannot be read: which file it is."""
    state = folder.within("broken")
    path = os.path.join(state, "papertape.db")
    with open(path, "w") as file:
        file.write("not a database, but a text that is long enough to be read as one's header\n" * 20)
    done = subprocess.run([harness.PAPERTAPE, "--state", state, "--dump-screen", "100x30", "--tab", "3"],
                          capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    shown = " ".join(done.stdout.split())
    assert f"{path}: file is not a database" in shown, done


def run(folder):
    replay = folder.start(harness.Replay(folder.path, "--venue", "binance", "--synthetic", "7"))
    daemon = start(folder, replay, harness.FAKE_NVML)
    harness.wait_for(lambda: stored(daemon) >= SAMPLES, "samples")
    daemon.status_object()
    check_live(daemon)
    check_greatest(folder, daemon)
    assert daemon.stop() == 0
    before = check_after(daemon, SAMPLES)

    daemon = start(folder, replay, harness.FAKE_NVML)
    harness.wait_for(lambda: stored(daemon) >= min(before.values()) + 1, "more samples")
    daemon.stop(signal.SIGKILL)
    after = check_after(daemon, min(before.values()) + 1)
    assert all(after[device] > before[device] for device in before)
    print(f"rows of a device: {before} stopped, {after} killed")


def run_without(folder):
    replay = folder.start(harness.Replay(folder.path, "--venue", "binance", "--synthetic", "7"))
    none = subprocess.run([harness.PAPERTAPE, "gpu", "--state", folder.within("empty")], capture_output=True, text=True)
    assert none.returncode == 3 and "there is no database yet" in none.stderr, none
    daemon = start(folder, replay, "")
    daemon.status_object()

    def said():
        return any(key == "gpu_reason" and value for key, value in daemon.query("SELECT key, value FROM meta"))
    harness.wait_for(said, "the reason")
    for _ in range(2):  # with the daemon, and without
        lines = [line for line in screen(daemon, "100x30").splitlines() if "GPU" in line]
        assert len(lines) == 3 and lines[2].startswith(" no GPU"), lines  # the tab's name, the rule, and one line
        harness.wait_for(lambda: daemon.papertape("gpu").splitlines()[0].startswith("no GPU"), "the line")
        assert daemon.papertape("gpu", "--csv") == HEADER + "\n"
        if daemon.alive():
            assert daemon.stop() == 0
    print("without a device:", lines[2].strip())


if __name__ == "__main__":
    with harness.Folder() as folder:
        run(folder)
    with harness.Folder() as folder:
        run_without(folder)
    with harness.Folder() as folder:
        run_broken(folder)
