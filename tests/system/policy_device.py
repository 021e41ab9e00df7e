#!/usr/bin/env python3
"""`[policies] inference = gpu`: a daemon whose trained policies a device computes (the GPU module whose device is the CPU) stores
what `papertape backtest` gives, byte by byte, and its orders name what computed them. Where there is no module, and where the
device fails in the middle, the CPU does it, an alert says so, and nothing else changes."""

import csv
import json
import os
import sys

import harness
import policy_three_ways as recorded
import trained_three_ways as trained

KIND = "recurrent"


def stored(daemon):
    return {"trades": daemon.papertape("fills", "--csv"), "orders": daemon.papertape("orders", "--csv"),
            "ledger": daemon.papertape("ledger", "export")}


def backends(daemon):
    """Of some of its orders, oldest first."""
    orders = [row["order"] for row in csv.DictReader(daemon.papertape("orders", "--csv").splitlines()) if row["tag"] == "policy"]
    explained = (json.loads(daemon.papertape("explain", order, "--json"))["orders"][0] for order in orders[:: max(1, len(orders) // 12)])
    return [json.dumps(one) for one in explained]


def live(folder, place, name, path, files, last_s, **environment):
    before = {key: os.environ.get(key) for key in environment}
    os.environ.update(environment)
    os.mkdir(os.path.join(place, name))
    config = recorded.configuration([path], files, "1m", 0.0002) + "[policies]\ninference = gpu\ndevice_wait_ms = 60000\n"
    daemon = recorded.part_of_it(folder, os.path.join(place, name), config, files, "1m", last_s, 60, [])
    for key, value in before.items():
        if value is None:
            del os.environ[key]
        else:
            os.environ[key] = value
    return daemon


def alerts(daemon):
    return [alert for alert in json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"] if alert["code"] == "POLICY_DEVICE"]


def main():
    module = os.path.join(harness.BUILD, "tests/indicators_gpu/libgpu-on-cpu.so")
    with harness.Folder() as folder:
        place, files = trained.made(folder.path, "device", False)
        path, *_ = trained.acting(place, KIND, KIND, files, **trained.KINDS[KIND])
        _, _, right = recorded.by_backtest(place, [path], files)
        with open(files[0]) as file:
            last_s = int(file.readlines()[-1].split(",", 1)[0]) // 1000
        for name, words, environment in (("device", None, {"PAPERTAPE_GPU_MODULE": module}),
                                         ("none", "none.so", {"PAPERTAPE_GPU_MODULE": os.path.join(place, "none.so")}),
                                         ("fails", "the test makes it fail", {"PAPERTAPE_GPU_MODULE": module, "POLICY_FAILS": "1"})):
            daemon = live(folder, place, name, path, files, last_s, **environment)
            got = stored(daemon)
            for what in ("orders", "trades", "ledger"):
                assert got[what] == right[what], f"{name}: {what} of daemon and backtest are others"
            by = backends(daemon)
            there = sum('"gpu: the CPU"' in one for one in by)
            here = sum('"cpu-' in one for one in by)
            assert len(by) > 5 and there + here == len(by) and (there > 0) == (words is None), (name, there, here, len(by))
            reported = alerts(daemon)
            assert len(reported) == 1 and words in reported[0]["text"] if words else reported == [], (name, reported)
            print(f"{name}: orders, fills and ledger as of the backtest; of {len(by)} orders the device computed {there}, the CPU {here}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
