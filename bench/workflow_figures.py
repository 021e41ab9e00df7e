"""Runs `papertape rank` and prints its figures: python3 bench/workflow_figures.py BUILD_FOLDER.

What to expect. 64 million bar-steps in 0.5 s on two cores are 15 ns of processor time each, where the page of ten curves of a million
points, and the figures' quantiles (a sort of a million returns a strategy, 0.08 s), are in it. The five strategies that mark their bars
take 1 to 3 ns a bar with their indicators in chunks (0.02 s of the 0.25 s of `five` in bench/backtest are the account's): 0.6 s together.
`equal-weight`, `day-trade` and `trend-4h-1h` mark none, so they are called at each of 8 million bars, with equity and an input made for
each: 60 ns, 0.5 s each; and the ten outputs of `trend-4h-1h` of higher bars are columns of the whole history, 640 MB, whose pages the
kernel clears: 0.5 s more. Together 2.6 s of processor time, 1.3 s on two cores: the limit of 0.5 s is missed until these three mark
their bars, and outputs of higher bars are written in chunks. Cold from CSV 2 s more, as bench/backtest has it."""

import json
import shutil
import subprocess
import sys
import time
from functools import partial

import figures
from figures import BUILD

BARS, SYMBOLS, RUNS = 1_000_000, 8, 3
EIGHT = ("buy-and-hold", "day-trade", "equal-weight", "sma-cross", "sma-cross-rsi", "sma-cross-rsi-risk", "trend-4h-1h", "triple-confirmation")
LIMIT_S = 0.5
REFERENCE_S = 2.5  # load, indicators, signals and the backtest of one strategy on a million bars, as issue 32 has it

figure = partial(figures.figure, "workflow")


def walk(path, seed):
    if not path.exists():
        figures.program("backtest_runs", "walk", path.with_suffix(".new"), BARS, seed)
        path.with_suffix(".new").rename(path)
    return path


def rank(folder, files, strategies, *more):
    """Seconds of the whole process, and what it says."""
    line = [BUILD / "tui/papertape", "rank", "--bars", ",".join(map(str, files)), "--json", *(more if "--no-cache" in more else ("--cache", folder / "cache", *more))]
    for name in strategies:
        line += ["--strategy", name]
    started = time.monotonic()
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return time.monotonic() - started, json.loads(done.stdout)


def best(*arguments):
    """The quickest of some runs, since others may share the machine."""
    return min((rank(*arguments) for _ in range(RUNS)), key=lambda one: one[0])


def show(case, measured, limit=None, **more):
    seconds, result = measured
    figure(case, seconds, "s", limit=limit, cached=result["cached"], strategies=len(result["strategies"]), stages=result["seconds_by_stage"], **more)


def main():
    folder = BUILD / "workflow-bars"
    folder.mkdir(exist_ok=True)
    files = [walk(folder / f"S{i}USDT_1m.csv", 100 + i) for i in range(SYMBOLS)]
    page = ("--report", folder / "ranking.html")
    shutil.rmtree(folder / "cache", ignore_errors=True)
    show("rank_8x8x1000000_cold_csv", rank(folder, files, EIGHT, *page), csv_bytes=sum(file.stat().st_size for file in files))
    show("rank_8x8x1000000", best(folder, files, EIGHT, *page), LIMIT_S)
    show("rank_8x8x1000000_no_page", best(folder, files, EIGHT))
    for name in EIGHT:
        show(f"rank_1x8x1000000_{name}", best(folder, files, [name]))
    show("rank_all_8x1000000", best(folder, files, [], *page))
    cold = rank(folder, files[:1], ["sma-cross-rsi"], "--no-cache")
    show("rank_1x1x1000000_cold_csv", cold, reference_s=REFERENCE_S)
    best(folder, files[:1], ["sma-cross-rsi"])  # which puts it into the cache
    show("rank_1x1x1000000", best(folder, files[:1], ["sma-cross-rsi"]), reference_s=REFERENCE_S)
    return 0


if __name__ == "__main__":
    sys.exit(main())
