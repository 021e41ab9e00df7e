#!/usr/bin/env python3
"""The equity of `papertape backtest` against vectorbt's account (from_order_func: vectorbt holds the cash, the position,
the fees and the equity) on real bars, with the same fees: buying and holding, and a plain moving-average cross whose
signals are pandas'. Orders decided at a close trade at the next open; lots are floored as the symbol's step asks. Without the
sample data: on bars made here.

Wants vectorbt from the venv in $PAPERTAPE_VENV; exits 77 without it.

The cross invests 95 % of its equity: vectorbt takes cash that is less than 1e-9 of an order for none, and would drop it."""

import math
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("vectorbt"):
    import numpy as np
    import pandas as pd
    from numba import njit
    from vectorbt.portfolio import nb
    from vectorbt.portfolio.base import Portfolio
    from vectorbt.portfolio.enums import NoOrder

PAPERTAPE, SOURCE = sys.argv[1], sys.argv[2]
SHARED = os.environ.get("PAPERTAPE_SHARED") or os.path.join(SOURCE, "../shared")
FEE = 0.001
COINS = 60  # that the cash buys at first: a market order of 120 is the most that the venue takes
STEP = {"BTCUSDT": 1e-5, "ETHUSDT": 1e-4}
TOLERANCE = 1e-9


@njit
def order(c, decide, opens, fee, step, fraction):
    i = c.i
    if i == 0:
        return NoOrder
    if decide[i - 1] > 0 and c.position_now == 0:
        wanted = math.floor(c.cash_now * fraction / (1 + fee) / c.close[i - 1, 0] / step + 1e-9) * step
        paid = math.floor(c.cash_now / (1 + fee) / opens[i] / step + 1e-9) * step
        return nb.order_nb(size=min(wanted, paid), price=opens[i], fees=fee)
    if decide[i - 1] < 0 and c.position_now > 0:
        return nb.order_nb(size=-c.position_now, price=opens[i], fees=fee)
    return NoOrder


def cross(close, fast, slow):
    """1 where the fast average crosses above the slow one, -1 where it is below."""
    side = np.sign((close.rolling(fast).mean() - close.rolling(slow).mean()).to_numpy())
    decide, before = np.zeros(len(close)), 0.0
    for i, s in enumerate(side):
        if math.isnan(s):
            continue
        now = s if s != 0 else before
        if now < 0:
            decide[i] = -1
        elif before < 0 < now:
            decide[i] = 1
        before = now
    return decide


def closes_ns(bars):
    times = bars["timestamp" if "timestamp" in bars else "open_time"]
    opens = times * 1_000_000 if times.dtype.kind == "i" else pd.to_datetime(times).dt.as_unit("ns").astype("int64")
    return opens + 300 * 1_000_000_000


def made(path):
    chance = np.random.default_rng(20261121)
    close = np.round(60000 * np.exp(np.cumsum(chance.normal(0, 0.001, 20000))), 2)
    opens = np.round(np.roll(close, 1) * np.exp(chance.normal(0, 0.0001, 20000)), 2)
    opens[0] = close[0]
    high, low = np.maximum(opens, close) + 1, np.minimum(opens, close) - 1
    times = 1735689600000 + 300000 * np.arange(20000)
    pd.DataFrame({"timestamp": times, "open": opens, "high": high, "low": low, "close": close, "volume": 1.5}).to_csv(
        path, index=False, float_format="%.2f")


def compare(path, symbol, name, options, decide, bars, folder):
    fraction, cash = options["fraction"], COINS * int(bars["open"].iloc[0])
    equity = os.path.join(folder, "equity.csv")
    subprocess.run([PAPERTAPE, "backtest", "--strategy", name, "--bars", path, "--cash", str(cash), "--fee-maker",
                    str(FEE), "--fee-taker", str(FEE), "--no-cache", "--equity", equity, "--json"] +
                   [word for key, value in options.items() for word in ("--set", f"{key}={value}")],
                   check=True, stdout=subprocess.PIPE)
    curve = pd.read_csv(equity)
    ours = curve["equity"][curve["ts_ns"].isin(closes_ns(bars))].to_numpy()  # a gap has rows and no bars
    book = Portfolio.from_order_func(bars["close"], order, decide, bars["open"].to_numpy(), FEE, STEP[symbol],
                                     fraction,
                                     init_cash=cash)
    theirs = book.value().to_numpy()
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    worst = np.max(np.abs(ours - theirs) / theirs)
    trades = book.orders.count()
    print(f"{os.path.basename(path)} {name}: {len(theirs)} bars, {trades} orders of vectorbt, equity {theirs[-1]:.4f}, "
          f"largest relative difference {worst:.1e}")
    assert trades >= 1 and worst <= TOLERANCE, (name, worst, int(np.argmax(np.abs(ours - theirs) / theirs)))


def main():
    with tempfile.TemporaryDirectory() as folder:
        names = ["BTCUSDT_5m.csv.gz", "ETHUSDT_5m.csv.gz", "BTCUSDT_5m_2023.csv.gz"]
        paths = [os.path.join(SHARED, "data/bars", name) for name in names]
        paths = [path for path in paths if os.path.exists(path)]
        if not paths:
            paths = [os.path.join(folder, "BTCUSDT_5m.csv")]
            made(paths[0])
        for path in paths:
            symbol = os.path.basename(path).split("_")[0]
            bars = pd.read_csv(path)
            bars.columns = [column.lower() for column in bars.columns]
            hold = np.zeros(len(bars))
            hold[0] = 1
            compare(path, symbol, "buy-and-hold", {"fraction": 1}, hold, bars, folder)
            for fast, slow in ((10, 50), (20, 100)):
                compare(path, symbol, "sma-cross", {"fast": fast, "slow": slow, "fraction": 0.95},
                        cross(bars["close"], fast, slow), bars, folder)


if __name__ == "__main__":
    main()
