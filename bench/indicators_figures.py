"""Runs the parts of bench/indicators and prints their figures: python3 bench/indicators_figures.py BUILD_FOLDER.

What to expect, per bar. The five read 3 columns and write 7: 40 bytes in float32, 80 in float64, once each. At a copy rate of
40 bytes a nanosecond that is 1.0 and 2.0 ns. Their seven recurrences take 7 x (4 shuffles + 5 multiply-adds) for 16 bars of
float32 with AVX-512, and 7 x (3 + 4) for 8 of float64: at two operations a cycle and 4 GHz 0.5 and 0.8 ns, much of it while
the memory is waited for."""

import re
import subprocess
import sys
from functools import partial

import figures
from figures import ROOT

PEERS = ("TA-Lib==0.8.2", "numpy==2.4.6", "Bottleneck==1.6.0")
FIVE = ("sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14")
BARS = 1_000_000
SECONDS = 0.25  # of repetitions, of which the fastest counts
LIMIT_NS = {("f32", "avx512"): 1.8, ("f64", "avx512"): 3.0, ("f32", "avx2"): 2.8, ("f64", "avx2"): 4.0}
TIMES_PEER, TIMES_FLOOR = 2.0, 1.5  # a row alone: at least so much faster, or within so much of its bytes' copy

figure = partial(figures.figure, "indicators")
program = partial(figures.program, "indicators_fast")


def timed(precision, isa, bars, *specs, seconds=SECONDS):
    return float(program(precision, isa, bars, seconds, *specs))


def peers():
    """What the peers take for each row: {name: (which, ns)}; empty where they cannot be had."""
    python = figures.peers_python("indicators", PEERS)
    if not python:
        return {}
    done = subprocess.run([python, ROOT / "bench/indicators_peers.py", str(BARS)], stdout=subprocess.PIPE, text=True,
                          check=True)
    return {name: (which, float(ns)) for name, which, ns in (line.split("\t") for line in done.stdout.splitlines())}


def five(isas, others, rate):
    together = sum(others[spec.split(":")[0] + "_five"][1] for spec in FIVE) if others else None
    peer = ("TA-Lib 0.8.1, five calls", together) if others else None
    for precision, bytes_moved in (("f32", 40), ("f64", 80)):
        for isa in isas:
            figure(f"five_{precision}_{isa}", timed(precision, isa, BARS, *FIVE, seconds=1.0), "ns", peer,
                   LIMIT_NS.get((precision, isa)), floor=bytes_moved / rate)
        for isa in isas[-1:]:
            for bars in (1_000, 10_000, 100_000, 10_000_000):
                figure(f"five_{precision}_{bars}", timed(precision, isa, bars, *FIVE, seconds=0.5), "ns",
                       floor=bytes_moved / rate)


def written_once():
    """The rows without vectors, in float64 alone: their figures have no limit."""
    text = (ROOT / "indicators_gpu/indicator_rows.h").read_text()
    return set(re.findall(r"X\(\d+, \w+, (\w+), (?:WINDOW|STEPS)\)", text))


def rows(isa, others, rate):
    """Each limit is the easier of two, and the line says which."""
    once = written_once()
    for line in program("rows").splitlines():
        name, bytes_f64, bytes_f32 = line.split("\t")
        if name in once:
            figure(f"{name}_f64", timed("f64", isa, BARS, name), "ns", others.get(name), floor=int(bytes_f64) / rate)
            continue
        for precision, moved in (("f64", int(bytes_f64)), ("f32", int(bytes_f32))):
            value, floor = timed(precision, isa, BARS, name), moved / rate
            limit, by = TIMES_FLOOR * floor, f"{TIMES_FLOOR} x floor"
            if name in others and others[name][1] / TIMES_PEER > limit:
                limit, by = others[name][1] / TIMES_PEER, f"peer / {TIMES_PEER:g}"
            figure(f"{name}_{precision}", value, "ns", others.get(name), limit, floor=floor, limit_is=by)


def matrices(others):
    """A million bars of features. The peer is what the others take for the set's indicators alone, at their default
    options: neither scaled nor written as rows."""
    for line in figures.program("indicators_features").splitlines():
        name, features, threads, seconds = line.split("\t")
        listed = figures.program("indicators_features", "indicators", name).splitlines()
        alone = sum(others[row][1] / int(bars) for row, bars in (entry.split("\t") for entry in listed)) if others else 0
        peer = ("TA-Lib and the others, indicators alone", alone * BARS * 1e-9) if others else None
        figure(f"{name}_{threads}", float(seconds), "s", peer, 1.0 if (name, threads) == ("wide110", "2") else None,
               features=int(features), threads=int(threads))


def main():
    isas = program("isas").split()
    rate = max(float(program("copy")) for _ in range(3))
    figure("copy", rate, "B/ns")
    others = peers()
    five(isas, others, rate)
    rows(isas[-1], others, rate)
    matrices(others)
    figure("copy_after", float(program("copy")), "B/ns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
