"""Runs the parts of bench/plugins_process and prints their figures: python3 bench/plugins_process_figures.py BUILD_FOLDER.

What to expect. A line of a bar has some 480 bytes and 35 values. The echo reads and writes them all; the strategy reads them, decides,
and writes a short line, with its memory where that changed. Both wait for two wake-ups a bar, by far the most of the time. The engine
and the writing of the line cost two microseconds."""

import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial

import figures
from figures import BUILD, ROOT

BARS, ROUNDS, LEAST = 50_000, 7, 0.7
STRATEGY = ROOT / "trainer/python/examples/sma_cross_rsi_risk.py"

figure = partial(figures.figure, "plugins_process")
program = partial(figures.program)


def backtest(command, path, folder):
    """Seconds of a backtest, with the start of its process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "trainer/python"), "XDG_CACHE_HOME": str(folder / "cache")}
    line = [BUILD / "tui/papertape", "backtest", "--strategy", f"exec:{command}", "--bars", path]
    started = time.perf_counter()
    subprocess.run(line, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main():
    folder = BUILD / "plugins-process"
    folder.mkdir(exist_ok=True)
    path, lines, only_bars = folder / "BTCUSDT_1m.csv", folder / "lines", folder / "bars"
    if not path.exists():
        program("backtest_runs", "walk", path, BARS, 7)
    backtest(f"sh -c 'tee -a {lines}.all | {sys.executable} {STRATEGY}'", path, folder)
    with open(f"{lines}.all", encoding="utf-8") as every, open(only_bars, "w", encoding="utf-8") as bars:
        bars.writelines(line for line in every if line.startswith('{"type":"bar"'))
    os.remove(f"{lines}.all")
    rates, echoes, ratios = [], [], []
    for _ in range(ROUNDS):
        echo = json.loads(program("plugins_lines", f"{sys.executable} {ROOT / 'bench/plugins_echo.py'}", only_bars))
        if echo["lines"] != BARS:
            raise SystemExit(f"bench/plugins_process: {echo['lines']} lines of {BARS} bars")
        rates.append(BARS / backtest(f"{sys.executable} {STRATEGY}", path, folder))
        echoes.append(echo["per_s"])
        ratios.append(rates[-1] / echoes[-1])
    ratio = statistics.median(ratios)
    figure("python_backtest", statistics.median(rates), "bars/s", ("echo", statistics.median(echoes)), LEAST * statistics.median(echoes),
           of_echo=ratio, of_echo_least=LEAST, met=ratio >= LEAST, bars=BARS, line_bytes=only_bars.stat().st_size / BARS)
    return int(ratio < LEAST)


if __name__ == "__main__":
    sys.exit(main())
