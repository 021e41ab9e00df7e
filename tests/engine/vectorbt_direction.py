#!/usr/bin/env python3
"""sma-cross long, short and both ways against vectorbt's own signals (Portfolio.from_signals) on real 5m bars: the signals are
pandas', decided at a close and traded at the next open.

Of a fixed size, what the venue takes of a market order, the two have the same trades: bars of entry and exit, sides, quantities
and profits, whether they fill in one order, as vectorbt, or in an exit and an entry. Compounding, with all that there is in each
position, the final returns differ by less than 5e-4: vectorbt sizes at the open, we at the close before, in whole lots.
Without the sample data: on bars made here.

Wants vectorbt from the venv in $PAPERTAPE_VENV; exits 77 without it."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from vectorbt_oracle import PAPERTAPE, SHARED, closes_ns, made  # noqa: E402  (it exits 77 without vectorbt)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from vectorbt.portfolio.base import Portfolio  # noqa: E402

FEE = 0.0002
FIXED = 120.0  # that the venue takes of a market order, at most
FIXED_CASH = 10**9
COINS = 40  # that the cash buys at first, compounding: it must not grow beyond that
PERIODS = ((10, 50), (20, 100), (5, 400))
RETURN, PROFIT = 5e-4, 1e-8


def crosses(close, fast, slow):
    """The bars at which the fast average comes above the slow one, and below it, shifted to the bar that trades."""
    difference = (close.rolling(fast).mean() - close.rolling(slow).mean()).round(9)
    side = np.sign(difference.to_numpy())
    side = pd.Series(np.where(np.isnan(side) | (side == 0), np.nan, side)).ffill().to_numpy()
    before = np.concatenate([[np.nan], side[:-1]])
    up, down = (before == -1) & (side == 1), (before == 1) & (side == -1)
    return [np.concatenate([[False], mask[:-1]]) for mask in (up, down)]


def run(folder, path, direction, fast, slow, fraction, cash):
    fills, equity = (os.path.join(folder, name) for name in ("fills.csv", "equity.csv"))
    done = subprocess.run([PAPERTAPE, "backtest", "--strategy", "sma-cross", "--bars", path, "--shorts", "--borrow-rate", "0",
                           "--cash", str(cash), "--fee-maker", str(FEE), "--fee-taker", str(FEE), "--no-cache", "--json",
                           "--trades", fills, "--equity", equity] +
                          [word for key, value in (("direction", direction), ("fast", fast), ("slow", slow), ("fraction", fraction))
                           for word in ("--set", f"{key}={value}")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accounts"][0]["way"] == "columns"
    return pd.read_csv(fills), pd.read_csv(equity)


def trades_of(fills, opens_ns):
    """(bar of entry, bar of exit, side, quantity, profit) of each trade, flat to flat; a fill never passes through zero."""
    bar = {ns: i for i, ns in enumerate(opens_ns)}
    held, entered, flow, trades = 0.0, None, 0.0, []
    for fill in fills.itertuples():
        sign = 1 if fill.side == "BUY" else -1
        if held == 0:
            entered, flow = (bar[fill.ts_ns], sign, fill.qty), 0.0
        held = round(held + sign * fill.qty, 8)
        flow += -sign * fill.notional - fill.fee
        assert held * entered[1] >= 0, fill
        if held == 0:
            trades.append((entered[0], bar[fill.ts_ns], entered[1], entered[2], flow))
    return trades


def theirs(bars, direction, up, down, **how):
    signals = {"long": (up, down, "longonly"), "short": (down, up, "shortonly"), "both": (up, down, "both")}[direction]
    return Portfolio.from_signals(bars["close"], signals[0], signals[1], direction=signals[2], price=bars["open"], fees=FEE,
                                  freq="5min", upon_opposite_entry="reverse", **how)


def compare_fixed(folder, path, bars, direction, fast, slow):
    fills, _ = run(folder, path, direction, fast, slow, 1, FIXED_CASH)
    ours = trades_of(fills, closes_ns(bars) - 300 * 10**9)
    book = theirs(bars, direction, *crosses(bars["close"], fast, slow), size=FIXED, init_cash=FIXED_CASH)
    records = book.trades.values
    closed = records[records["status"] == 1]
    want = list(zip(closed["entry_idx"], closed["exit_idx"], np.where(closed["direction"] == 0, 1, -1), closed["size"], closed["pnl"]))
    assert len(ours) == len(want) and len(want) > 20, (len(ours), len(want))
    for k, (a, b) in enumerate(zip(ours, want)):
        assert a[:3] == tuple(b[:3]) and abs(a[3] - b[3]) < 1e-9, (k, a, b)
        assert abs(a[4] - b[4]) <= PROFIT * FIXED * bars["open"].iloc[a[0]], (k, a, b)
    sides = [trade[2] for trade in ours]
    return f"{len(ours)} trades equal, {sides.count(1)} long, {sides.count(-1)} short"


def compare_compounding(folder, path, bars, direction, fast, slow):
    cash = COINS * int(bars["open"].iloc[0])
    _, equity = run(folder, path, direction, fast, slow, 1, cash)
    book = theirs(bars, direction, *crosses(bars["close"], fast, slow), size=np.inf, lock_cash=True, init_cash=cash)
    ours, want = equity["equity"].iloc[-1] / cash - 1, book.value().iloc[-1] / cash - 1
    assert abs(ours - want) <= RETURN, (ours, want)
    return f"return {ours:.6f}, vectorbt {want:.6f}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        names = ["BTCUSDT_5m.csv.gz", "ETHUSDT_5m.csv.gz", "BTCUSDT_5m_2023.csv.gz"]
        paths = [path for path in (os.path.join(SHARED, "data/bars", name) for name in names) if os.path.exists(path)]
        if not paths:
            paths = [os.path.join(folder, "BTCUSDT_5m.csv")]
            made(paths[0])
        for path in paths:
            bars = pd.read_csv(path)
            bars.columns = [column.lower() for column in bars.columns]
            for direction in ("both", "short", "long"):
                for fast, slow in PERIODS:
                    label = f"{os.path.basename(path)} {direction} {fast}/{slow}"
                    print(f"{label}: {compare_fixed(folder, path, bars, direction, fast, slow)}")
                    print(f"{label}: {compare_compounding(folder, path, bars, direction, fast, slow)}")


if __name__ == "__main__":
    main()
