"""Runs `papertape rank` and prints its figures: python3 bench/workflow_figures.py BUILD_FOLDER.

What to expect of eight strategies on eight symbols of a million bars, from the mapped cache, on two cores. The bars are 320 MB, checked
once: 25 ms. Five strategies mark their bars from 18 columns of indicators in chunks that stay in the caches: 144 million values at 1.2 ns,
0.17 s of processor time. Columns that several strategies have in common are computed again: written once and read twice, 64 MB each take
longer than 8 million values in the cache. Marks and time call a strategy at some 3 million bars, with the input, and mostly an order that
is refused, since on a walk all but two are ruined soon: 80 ns, 0.25 s. `equal-weight`, `day-trade` and `trend-4h-1h` say until when they
do nothing, and are called at 0.3 million bars of 24: 0.1 s, with 256 MB read twice for bars of 1h and 4h. Equity, 8 MB a strategy, and its
figures (moments, quantiles, a regression whose every row waits for a division, blocks): 25 ms each, 0.2 s. 40,000 pages are cleared: 0.05 s.
Together 0.8 s, on two cores 0.4 s, before the load and a page of 40 ms: at the limit of 0.5 s. Cold from CSV 2 s more, as bench/backtest
has it."""

import json
import shutil
import subprocess
import sys
import time
from functools import partial

import figures
from figures import BUILD, ROOT

BARS, SYMBOLS, RUNS = 1_000_000, 8, 3
EIGHT = ("buy-and-hold", "day-trade", "equal-weight", "sma-cross", "sma-cross-rsi", "sma-cross-rsi-risk", "trend-4h-1h", "triple-confirmation")
LIMIT_S = 0.5
REFERENCE_S = 2.5  # load, indicators, signals and the backtest of one strategy on a million bars: given, not measured here

PEERS = ("vectorbt==1.2.0", "numpy==2.4.6", "pandas==3.1.1", "numba==0.68.1")

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
    met = {} if limit is None else {"met": seconds <= limit}
    figure(case, seconds, "s", limit=limit, **met, cached=result["cached"], strategies=len(result["strategies"]), stages=result["seconds_by_stage"], **more)


def peers(files):
    """vectorbt with two of the strategies on the same bars; nothing where it cannot be had."""
    python = figures.peers_python("workflow", PEERS)
    if python is None:
        return
    done = subprocess.run([python, ROOT / "bench/workflow_peers.py", *files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        figures.say("no figures of vectorbt")
        return
    ran = json.loads(done.stdout)
    for name, seconds in (("", ran["load_s"] + ran["seconds"]), ("_cold_csv", ran["csv_s"] + ran["seconds"])):
        figure(f"vectorbt_2x8x1000000{name}", seconds, "s", strategies=ran["strategies"], stages={"load": ran["csv_s" if name else "load_s"]})


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
    show("rank_2x8x1000000", best(folder, files, ["sma-cross", "sma-cross-rsi"]))
    show("rank_all_8x1000000", rank(folder, files, [], *page))
    cold = rank(folder, files[:1], ["sma-cross-rsi"], "--no-cache")
    show("rank_1x1x1000000_cold_csv", cold, reference_s=REFERENCE_S)
    best(folder, files[:1], ["sma-cross-rsi"])  # which puts it into the cache
    show("rank_1x1x1000000", best(folder, files[:1], ["sma-cross-rsi"]), reference_s=REFERENCE_S)
    peers(files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
