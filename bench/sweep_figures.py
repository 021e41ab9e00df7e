"""Runs the parts of bench/sweep and prints their figures: python3 bench/sweep_figures.py BUILD_FOLDER.

bench/sweep_runs.c has the prediction. Rates on one core are of processor time, the quickest of several repetitions, since the
machine may be shared; those on two cores, and vectorbt's, are by the clock."""

import json
import subprocess
import sys
from functools import partial

import figures
from figures import BUILD, ROOT

PEERS = ("vectorbt==1.2.0", "numpy==2.4.6", "pandas==3.1.1", "numba==0.68.1")
BARS, MILLION_BARS = 100_000, 5_000
CROSS_LEAST, BRACKETS_LEAST, LEAN_LEAST = 2.5e9, 1.5e9, 0.6  # bar-steps/s, and the share of the lean kernel's
MEMORY_MOST = 1 << 30

figure = partial(figures.figure, "sweep")


def walk(path, bars, seed):
    if not path.exists():
        figures.program("backtest_runs", "walk", path.with_suffix(".new"), bars, seed)
        path.with_suffix(".new").rename(path)
    return path


def run(case, threads, folder, path):
    return json.loads(figures.program("sweep_runs", case, threads, folder / "cache", path))


def rate(one, seconds="cpu_seconds"):
    return one["steps"] / one[seconds]


def fastest(case, folder, path, times=3):
    return min((run(case, 1, folder, path) for _ in range(times)), key=lambda one: one["cpu_seconds"])


def peer(path):
    """What vectorbt does a second on the same bars: {"plain", "statistics"}; empty where it cannot be had."""
    python = figures.peers_python("sweep", PEERS)
    if not python:
        return {}
    done = subprocess.run([python, ROOT / "bench/sweep_peers.py", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=True)
    return json.loads(done.stdout.splitlines()[-1])


def kernels(folder, path):
    other = peer(path)
    cross, lean = fastest("cross", folder, path), fastest("lean", folder, path)
    share = rate(cross) / rate(lean)
    statistics = ("vectorbt, its statistics", other["statistics"]) if other else None
    plain = ("vectorbt, none", other["plain"]) if other else None
    figure("cross_20000", rate(cross), "bar-steps/s", statistics, CROSS_LEAST, met=rate(cross) >= CROSS_LEAST, isa=cross["isa"],
           orders_per_1000=cross["orders_per_1000"])
    figure("lean_20000", rate(lean), "bar-steps/s", plain)
    figure("cross_of_lean", share, "1", limit=LEAN_LEAST, met=share >= LEAN_LEAST)
    for case, least in (("risk", BRACKETS_LEAST), ("triple", None)):
        one = fastest(case, folder, path, 2)
        figure(f"{case}_20000", rate(one), "bar-steps/s", limit=least, orders_per_1000=one["orders_per_1000"],
               **({"met": rate(one) >= least} if least else {}))
    return cross


def scaling(folder, path):
    one = min((run("cross", 1, folder, path) for _ in range(2)), key=lambda one: one["seconds"])
    two = min((run("cross", 2, folder, path) for _ in range(2)), key=lambda one: one["seconds"])
    figure("cross_20000_two_cores", rate(two, "seconds"), "bar-steps/s", one_core=rate(one, "seconds"),
           times=one["seconds"] / two["seconds"])


def million(folder):
    path = walk(folder / "MILUSDT_1m.csv", MILLION_BARS, 11)
    one = run("million", 2, folder, path)
    figure("million_peak_bytes", one["peak_bytes"], "B", limit=MEMORY_MOST, met=one["peak_bytes"] < MEMORY_MOST, sets=one["sets"],
           bars=one["bars"], seconds=one["seconds"], run_exactly=one["exact"])


def main():
    folder = BUILD / "sweep-bars"
    folder.mkdir(exist_ok=True)
    path = walk(folder / "BTCUSDT_1m.csv", BARS, 7)
    kernels(folder, path)
    scaling(folder, path)
    million(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
