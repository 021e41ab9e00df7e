"""Runs the parts of bench/backtest and prints their figures: python3 bench/backtest_figures.py BUILD_FOLDER.

What to expect. The cross on 100,000 bars reads the closes once for the crosses (0.8 MB; three loads, some ten operations for
eight bars), and again where something is held; it writes 0.8 MB of equity and reads that twice, for the metrics and for the drawdowns:
3.2 MB at 40 GB/s are 0.08 ms. Between lie some 2,700 orders, each with its sizing, checks and fill in exact integers: six divisions of
128 bits and a few hundred other instructions, 50 ns, 0.14 ms together. A processor that reads four instructions a cycle at 4
GHz has the rest of the 0.3 ms to spare.

Eight symbols of a million bars: closes, highs and lows are read once, 192 MB; seven outputs of five indicators take some 40
vector operations a bar of eight symbols, 70 with the windows: 20 ms on one core.

Saving 525,600 rows of two symbols: 1,051,200 bars and 525,600 points of equity, each point hashed, some twenty thousand other rows. SQLite
takes some 2.5 us for the row of a table with one key, as much again to find that a point is new and to hash it: 1.6 million rows, 6 s;
reading 60 MB of CSV and the run itself under 1 s. The pages are written twice, to the log and from there: 270 MB, 0.2 s."""

import json
import resource
import shutil
import subprocess
import sys
from functools import partial

import figures
from figures import BUILD, ROOT

PEERS = ("vectorbt==1.2.0", "backtesting==0.6.6", "backtrader==1.9.78.123", "numpy==2.4.6", "pandas==3.1.1", "numba==0.68.1")
CROSS_BARS, FIVE_BARS, FIVE_SYMBOLS = 100_000, 1_000_000, 8
SAVE_BARS, SAVE_SYMBOLS = 525_600, 2  # a year of minutes
CROSS_LIMIT_S, FIVE_LIMIT_S, SAVE_LIMIT_S = 0.3e-3, 0.2, 10.0

figure = partial(figures.figure, "backtest")
program = partial(figures.program, "backtest_runs")


def walk(path, bars, seed):
    if not path.exists():
        program("walk", path.with_suffix(".new"), bars, seed)
        path.with_suffix(".new").rename(path)
    return path


def run(strategy, threads, cache, *files):
    return json.loads(program("run", strategy, threads, cache, *files))


def peers(path):
    """What each peer takes on the same bars: {name: result}; empty where they cannot be had."""
    python = figures.peers_python("backtest", PEERS)
    if not python:
        return {}
    found = {}
    for name in ("vectorbt", "backtesting", "backtrader"):
        done = subprocess.run([python, ROOT / "bench/backtest_peers.py", path, name], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True)
        found[name] = json.loads(done.stdout.splitlines()[-1])
    return found


def cross(folder):
    path = walk(folder / "BTCUSDT_1m.csv", CROSS_BARS, 7)
    others = peers(path)
    ours = min((run("sma-cross", 1, folder / "cache", path) for _ in range(3)), key=lambda one: one["best_s"])
    stages = {name: ours[name] for name in ("indicators_s", "signals_s", "simulate_s", "metrics_s")}
    for name in others or (None,):
        peer = (name, others[name]["seconds"]) if name else None
        figure("cross_100000" if name in (None, "vectorbt") else f"cross_100000_{name}", ours["best_s"], "s", peer,
               CROSS_LIMIT_S, way=ours["way"], trades=ours["trades"], final_equity=ours["final_equity"],
               peer_trades=others[name]["trades"] if name else None,
               peer_final_equity=others[name]["final_equity"] if name else None, **stages)


def five(folder):
    files = [walk(folder / f"S{i}USDT_1m.csv", FIVE_BARS, 100 + i) for i in range(FIVE_SYMBOLS)]
    shutil.rmtree(folder / "cache", ignore_errors=True)
    cold = run("five", 2, folder / "cache", *files)
    warm = min((run("five", 2, folder / "cache", *files) for _ in range(3)), key=lambda one: one["load_s"] + one["first_s"])
    stages = {name: warm[name] for name in ("load_s", "indicators_s", "signals_s", "simulate_s", "metrics_s")}
    figure("five_8x1000000", warm["load_s"] + warm["first_s"], "s", limit=FIVE_LIMIT_S, cached=warm["cached"],
           way=warm["way"], trades=warm["trades"], **stages)
    figure("five_8x1000000_cold_csv", cold["load_s"] + cold["first_s"], "s", cached=cold["cached"],
           csv_bytes=sum(file.stat().st_size for file in files))
    figure("five_8x1000000_peak_bytes", warm["peak_bytes"], "B", market_bytes=warm["market_bytes"],
           times_market=warm["peak_bytes"] / warm["market_bytes"])


def save(folder):
    """Seconds of processor time of `papertape backtest --save`, the reading of the files and the run in it."""
    files = [walk(folder / f"Y{i}USDT_1m.csv", SAVE_BARS, 200 + i) for i in range(SAVE_SYMBOLS)]
    state = folder / "saved"
    shutil.rmtree(state, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([BUILD / "tui/papertape", "backtest", "--strategy", "sma-cross", "--bars", ",".join(map(str, files)), "--no-cache",
                           "--json", "--save", state], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(done.stdout)
    figure("save_2x525600_cpu", after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "s", limit=SAVE_LIMIT_S,
           rows=report["rows"], fills=report["fills"], database_bytes=(state / "papertape.db").stat().st_size)
    shutil.rmtree(state)


def main():
    folder = BUILD / "backtest-bars"
    folder.mkdir(exist_ok=True)
    cross(folder)
    five(folder)
    save(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
