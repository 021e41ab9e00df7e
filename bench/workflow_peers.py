"""What bench/workflow compares with: vectorbt runs two of the strategies, a moving-average cross and the same with an RSI below 70, on
the same eight symbols, one account's cash shared by all, and ranks them by Sharpe ratio; orders fill at the next open, 0.1 % fee.

    PYTHON bench/workflow_peers.py BARS.csv…

prints one JSON object: seconds of reading the CSV files, of reading the same columns from NumPy's files, mapped, and of the quickest
repetition of indicators, signals, portfolios and ranking, once the functions are compiled."""

import json
import sys
import tempfile
import time

import numpy as np
import pandas as pd
import vectorbt as vbt

FAST, SLOW, RSI, RSI_MAX, CASH, FEE = 10, 30, 14, 70, 10_000.0, 0.001


def columns(paths):
    frames = [pd.read_csv(path) for path in paths]
    index = pd.to_datetime(frames[0].open_time, unit="ms")
    return index, {name: np.column_stack([frame[name].to_numpy() for frame in frames]) for name in ("open", "close")}


def portfolio(frames, entries, exits):
    return vbt.Portfolio.from_signals(frames["close"], entries.vbt.fshift(1), exits.vbt.fshift(1), price=frames["open"], init_cash=CASH, fees=FEE,
                                      size=1 / frames["close"].shape[1], size_type="percent", freq="1min", cash_sharing=True, group_by=True)


def workflow(frames):
    close = frames["close"]
    fast, slow = vbt.MA.run(close, FAST, short_name="fast"), vbt.MA.run(close, SLOW, short_name="slow")
    above, below = fast.ma_crossed_above(slow), fast.ma_crossed_below(slow)
    above.columns = below.columns = close.columns
    calm = vbt.RSI.run(close, RSI).rsi_below(RSI_MAX)
    calm.columns = close.columns
    figures = {}
    for name, entries in (("sma-cross", above), ("sma-cross-rsi", above & calm)):
        of = portfolio(frames, entries, below)
        figures[name] = (of.sharpe_ratio(), of.total_return(), of.sortino_ratio(), of.max_drawdown(), of.trades.count())
    return sorted(figures, key=lambda name: -figures[name][0])


def main():
    started = time.perf_counter()
    index, arrays = columns(sys.argv[1:])
    csv_s = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        for name, array in arrays.items():
            np.save(f"{folder}/{name}.npy", array)
        started = time.perf_counter()
        frames = {name: pd.DataFrame(np.array(np.load(f"{folder}/{name}.npy", mmap_mode="r")), index=index) for name in arrays}
        load_s = time.perf_counter() - started
    workflow({name: frame.iloc[:2000] for name, frame in frames.items()})  # compiles
    best = float("inf")
    for _ in range(2):
        started = time.perf_counter()
        workflow(frames)
        best = min(best, time.perf_counter() - started)
    print(json.dumps({"strategies": 2, "csv_s": csv_s, "load_s": load_s, "seconds": best}))


if __name__ == "__main__":
    main()
