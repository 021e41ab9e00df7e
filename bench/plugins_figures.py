"""Runs the parts of bench/plugins and prints their figures: python3 bench/plugins_figures.py BUILD_FOLDER.

What to expect. A vectorised backtest computes the same indicators for both, 100,000 bars of four; marks take one pass over four
columns; then on_bar() is called at some four of a hundred bars, where the shared object's structs cost two copies of 200 bytes, 20 ns.
By the engine each bar is such a call, beside some 500 ns of the engine's own work."""

import json
import statistics
import sys
from functools import partial

import figures
from figures import BUILD

BARS, ROUNDS, LIMIT = 100_000, 15, 1.1
BUILT_IN = "sma-cross-rsi-risk"

figure = partial(figures.figure, "plugins")
program = partial(figures.program, "backtest_runs")


def measure(way, path, cache):
    """The medians of both, and of the ratios of runs that followed one another; the order changes with each pair."""
    names = {"built_in": BUILT_IN, "shared": f"lib:{BUILD / 'bench/plugin-example.so'}"}
    seconds, ratios, fills = {name: [] for name in names}, [], set()
    for pair in range(ROUNDS):
        order = list(names)[:: 1 if pair % 2 == 0 else -1]
        for name in order:
            done = json.loads(program("cpu", names[name], way, cache, path))
            seconds[name].append(done["cpu_s"])
            fills.add((done["fills"], done["final_equity"]))
        ratios.append(seconds["shared"][-1] / seconds["built_in"][-1])
    if len(fills) != 1:
        raise SystemExit(f"bench/plugins: the two trade differently: {fills}")
    return statistics.median(seconds["shared"]), statistics.median(seconds["built_in"]), statistics.median(ratios), fills.pop()[0]


def main():
    folder = BUILD / "plugins-bars"
    folder.mkdir(exist_ok=True)
    path = folder / "BTCUSDT_1m.csv"
    if not path.exists():
        program("walk", path, BARS, 7)
    missed = False
    for way in ("columns", "engine"):
        shared, built_in, ratio, fills = measure(way, path, folder / "cache")
        missed |= ratio > LIMIT
        figure(f"cpu_{way}", shared, "s", (BUILT_IN, built_in), times_built_in=ratio, times_limit=LIMIT, met=ratio <= LIMIT, fills=fills, bars=BARS)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
