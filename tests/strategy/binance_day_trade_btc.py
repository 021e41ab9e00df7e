#!/usr/bin/env python3
"""binance-day-trade by `papertape backtest` against its rules written again: python3 binance_day_trade_btc.py PAPERTAPE SOURCE

On BTC's hours of 2023, made from the 5m file ($PAPERTAPE_SHARED/data), or on bars made here: the cross of two EMA, stop
and profit in ATR, the size at risk, and an account that is long and short, in whole units of its currency, with its fees
and its interest, filled by docs/fills.md's rules of bars. Every fill must be the same: time, side, price, quantity, what
was paid, fee, reason; and so must what is left at the end. With the defaults and with random parameters, with an account
that may be short and with one that may not. PAPERTAPE_SEED pins the seed.
"""

import csv
import gzip
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal

PAPERTAPE, SOURCE = sys.argv[1:3]
SHARED = os.environ.get("PAPERTAPE_SHARED") or os.path.join(SOURCE, "../shared")
HOUR = 3600 * 10**9
UNIT = 10**8  # of prices, quantities and money
STEP, TICK = UNIT // 10**5, UNIT // 100
FEE_E6 = 1000
DEFAULTS = {"fast": 8, "slow": 21, "atr": 14, "stop_atr": 1.5, "profit_atr": 3, "risk": 0.01, "fraction_max": 1}
ROUNDS = 40 if "PAPERTAPE_LONG" in os.environ else 8


def ceil(a, b):
    return -(-a // b)


def real_hours(path):
    """Hours of the 5m bars that exist; an hour without any is missing."""
    hours = {}
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            o, h, l, c, v = (Decimal(row[k]) for k in ("open", "high", "low", "close", "volume"))
            hour = hours.setdefault(int(row["open_time"]) // 3600000, [o, h, l, c, v * 0])
            hour[1:] = [max(hour[1], h), min(hour[2], l), c, hour[4] + v]
    return [(hour * HOUR, *bar) for hour, bar in sorted(hours.items())]


def made_hours(rng, n=3000):
    """Hours with trends, gaps between close and open, and some that are missing."""
    bars, price, drift = [], 2000000, 0.0
    for i in range(n):
        drift = rng.gauss(0, 0.002) if rng.random() < 0.03 else drift
        o = max(round(price * (1 + (rng.gauss(0, 0.01) if rng.random() < 0.05 else 0))), 1000)
        c = max(round(o * (1 + drift + rng.gauss(0, 0.006))), 1000)
        h, l = round(max(o, c) * (1 + abs(rng.gauss(0, 0.003)))), round(min(o, c) * (1 - abs(rng.gauss(0, 0.003))))
        price = c
        if rng.random() > 0.01:
            bars.append(((460000 + i) * HOUR, *(Decimal(x) / 100 for x in (o, h, l, c)), Decimal(1)))
    return bars


def ema(values, n):
    out, mean = [None] * (n - 1), sum(values[:n]) / n
    out.append(mean)
    for value in values[n:]:
        mean += (value - mean) * (2 / (n + 1))
        out.append(mean)
    return out


def atr(bars, n):
    ranges = [max(h, c0) - min(l, c0) for (_, _, _, _, c0), (_, _, h, l, _) in zip(bars, bars[1:])]
    out, mean = [None] * n, sum(ranges[:n]) / n
    out.append(mean)
    for value in ranges[n:]:
        mean = (mean * (n - 1) + value) / n
        out.append(mean)
    return out


def on_tick(number, up):
    units = round(Decimal(number) * UNIT)
    return ceil(units, TICK) * TICK if up else units // TICK * TICK


class Account:
    """Money, the position and its two exits; what it does at each bar's open, inside it, and on its close."""

    def __init__(self, p, cash, shorts):
        self.p, self.cash, self.qty, self.shorts = p, cash * UNIT, 0, shorts  # shorts: None, or (collateral, rate)
        self.stop = self.profit = self.hour = None
        self.side, self.last, self.fills, self.wanted = 0, 0, [], []

    def trade(self, t, qty, price, tag, maker=False):
        notional = ceil(price * qty, UNIT) if qty > 0 else price * -qty // UNIT
        fee = ceil(notional * FEE_E6, 10**6)
        self.cash -= (notional if qty > 0 else -notional) + fee
        self.qty += qty
        self.fills.append((t, "BUY" if qty > 0 else "SELL", price, abs(qty), notional, fee, tag, maker))

    def value(self):
        return self.last * self.qty // UNIT  # towards less: a liability is not made smaller

    def charge(self, hour):
        if self.qty < 0 and self.hour is not None:
            rate_e6 = round(self.shorts[1] * 10**6)
            self.cash -= ceil(-self.value() * rate_e6 * (hour - self.hour), 10**6 * 8760)
        self.hour = hour

    def leave(self, t, price, tag, maker=False):
        self.trade(t, -self.qty, price, tag, maker)
        self.stop = self.profit = None

    def can(self, qty, price):
        """Is it paid for, or the short covered: its collateral by the cash and what it brings?"""
        notional = ceil(price * qty, UNIT) if qty > 0 else price * -qty // UNIT
        fee = ceil(notional * FEE_E6, 10**6)
        if qty > 0:
            return notional + fee <= self.cash
        needed = ceil(ceil(self.last * -qty, UNIT) * round(self.shorts[0] * 10**4), 10**4)
        return self.cash + notional - fee >= needed

    def affordable(self, qty, price):
        """The most of a quantity, by halves."""
        side, fits, fails = (1 if qty > 0 else -1), 0, abs(qty) // STEP + 1
        while fails - fits > 1:
            middle = (fits + fails) // 2
            fits, fails = (middle, fails) if self.can(side * middle * STEP, price) else (fits, middle)
        return side * fits * STEP

    def at_open(self, t, o):
        """The exits that rest, then what was decided: out, and in; then the new exits meet the open."""
        long = self.qty > 0
        if self.qty and (o <= self.stop if long else o >= self.stop):
            self.leave(t, o, "stop")
        elif self.qty and self.profit and (o > self.profit if long else o < self.profit):
            self.leave(t, self.profit, "profit", True)
        for kind, tag, qty, stop, profit in self.wanted:
            if kind == "exit":
                if self.qty:
                    self.leave(t, o, tag)
                continue
            qty = self.affordable(qty, o)
            if qty == 0:
                continue
            self.trade(t, qty, o, tag)
            self.stop, self.profit = stop, profit
            if o <= stop if qty > 0 else o >= stop:
                self.leave(t, o, "stop")
            elif profit and (o >= profit if qty > 0 else o <= profit):
                self.leave(t, o, "profit")
        self.wanted = []

    def inside(self, t, h, l):
        long = self.qty > 0
        if self.qty and (l <= self.stop if long else h >= self.stop):
            self.leave(t, self.stop, "stop")
        elif self.qty and self.profit and (h > self.profit if long else l < self.profit):
            self.leave(t, self.profit, "profit", True)

    def size(self, fraction):
        """At risk, capped at the cash; what an exit at the last price leaves is cash, less its fee."""
        equity = self.cash + self.value()
        free = equity - ceil(abs(self.value()) * FEE_E6, 10**6) if self.qty else self.cash
        if self.side < 0 and self.shorts[0] > 2:
            free = free * 10**4 // (round(self.shorts[0] * 10**4) - 10**4)
        notional = max(min(int(float(equity) * fraction), free), 0) * 10**6 // (10**6 + FEE_E6)
        return notional * UNIT // self.last // STEP * STEP

    def decide(self, c, fast, slow, atr_now):
        p, before = self.p, self.side
        if fast is None or slow is None or atr_now is None:
            return
        self.side = 1 if fast > slow else -1 if fast < slow else before
        side, tag = self.side, "cross up" if self.side > 0 else "cross down"
        out = self.qty * side < 0
        if out:
            self.wanted.append(("exit", tag, 0, 0, 0))
        if before * side != -1 or (self.qty and not out) or (side < 0 and not self.shorts):
            return
        stop, profit = c - side * p["stop_atr"] * atr_now, c + side * p["profit_atr"] * atr_now
        if side > 0 and stop <= 0 or stop == c:
            return
        qty = self.size(min(p["fraction_max"], p["risk"] * c / abs(c - stop)))
        profit = on_tick(profit, side > 0) if p["profit_atr"] and profit > 0 else 0
        if qty:
            self.wanted.append(("enter", tag, side * qty, on_tick(stop, side < 0), profit))


def expected(bars, p, cash, shorts):
    floats = [(t, *(float(x) for x in (o, h, l, c))) for t, o, h, l, c, _ in bars]
    closes = [bar[4] for bar in floats]
    fast, slow, atrs = ema(closes, p["fast"]), ema(closes, p["slow"]), atr(floats, p["atr"])
    account = Account(p, cash, shorts)
    for i, (t, *prices, _) in enumerate(bars):
        o, h, l, c = (int(x * UNIT) for x in prices)
        account.charge(t // HOUR)
        account.at_open(t, o)
        account.inside(t + HOUR - 1, h, l)
        account.last = c
        account.decide(closes[i], fast[i], slow[i], atrs[i])
    return account


def units(text):
    return int(Decimal(text) * UNIT)


def backtest(folder, bars_file, p, cash, shorts, way):
    fills, orders, equity = (os.path.join(folder, name) for name in ("fills.csv", "orders.csv", "equity.csv"))
    sets = ",".join(f"{key}={value!r}" for key, value in p.items())
    options = ["--shorts", "--collateral", repr(shorts[0]), "--borrow-rate", repr(shorts[1])] if shorts else []
    subprocess.run(
        [PAPERTAPE, "backtest", "--strategy", f"binance-day-trade:{sets}", "--bars", bars_file, "--interval", "1h",
         "--cash", str(cash), "--fee-maker", "0.001", "--fee-taker", "0.001", "--no-cache", "--way", way, *options,
         "--fills", fills, "--orders", orders, "--equity", equity],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with open(orders, encoding="utf-8") as file:
        tags = {row["order"]: row["tag"] for row in csv.DictReader(file)}
    with open(fills, encoding="utf-8") as file:
        got = [(int(row["ts_ns"]), row["side"], units(row["price"]), units(row["qty"]), units(row["notional"]),
                units(row["fee"]), tags[row["order"]], row["maker"] == "1") for row in csv.DictReader(file)]  # fmt: skip
    with open(equity, encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    return got, units(last["equity"]), units(last["cash"])


def compare(folder, bars_file, bars, p, cash, shorts, way="auto"):
    """How many fills of each reason."""
    account = expected(bars, p, cash, shorts)
    got, equity, money = backtest(folder, bars_file, p, cash, shorts, way)
    label = f"{p} cash {cash} shorts {shorts} {way}"
    for k, (ours, theirs) in enumerate(zip(got + [None], account.fills + [None])):
        assert ours == theirs, f"{label}: fill {k + 1}:\n  is     {ours}\n  wanted {theirs}"
    assert len(got) == len(account.fills), f"{label}: {len(got)} fills, wanted {len(account.fills)}"
    assert equity == account.cash + account.value(), f"{label}: equity {equity}"
    assert money == account.cash, f"{label}: cash {money}, wanted {account.cash}"
    counts = {}
    for fill in account.fills:
        counts[fill[6]] = counts.get(fill[6], 0) + 1
    return counts


def random_params(rng):
    p = {"fast": rng.randint(1, 12), "slow": rng.randint(13, 40), "atr": rng.randint(2, 30),
         "stop_atr": round(rng.uniform(0.3, 4), 3), "profit_atr": rng.choice([0, round(rng.uniform(0.3, 6), 3)]),
         "risk": round(rng.uniform(0.001, 0.05), 4), "fraction_max": rng.choice([1, round(rng.uniform(0.1, 1), 3)])}  # fmt: skip
    shorts = rng.choice([None, (1.5, 0.05), (round(rng.uniform(1.3, 4), 3), round(rng.uniform(0, 1), 4))])
    return p, rng.choice([10000, 500, 123456]), shorts


def main():
    seed = int(os.environ.get("PAPERTAPE_SEED", "20261127"))
    rng = random.Random(seed)
    print(f"strategy/binance_day_trade_btc: PAPERTAPE_SEED={seed}")
    path = os.path.join(SHARED, "data/bars/BTCUSDT_5m_2023.csv.gz")
    real = os.path.exists(path)
    bars = real_hours(path) if real else made_hours(rng)
    print(f"{len(bars)} hours {'of BTC in 2023' if real else f'made here: there is no {path}'}")
    with tempfile.TemporaryDirectory() as folder:
        bars_file = os.path.join(folder, "BTCUSDT_1h.csv")
        with open(bars_file, "w", encoding="utf-8") as file:
            file.write("open_time,open,high,low,close,volume\n")
            file.writelines(f"{t // 10**6},{o},{h},{l},{c},{v}\n" for t, o, h, l, c, v in bars)
        both = compare(folder, bars_file, bars, DEFAULTS, 10000, (1.5, 0.05))
        assert all(both.get(tag, 0) > 20 for tag in ("cross up", "cross down", "stop", "profit")), both
        print("long and short:", both)
        for way in ("engine", "columns"):
            print(f"long only, {way}:", compare(folder, bars_file, bars, DEFAULTS, 10000, None, way))
        for _ in range(ROUNDS):
            compare(folder, bars_file, bars, *random_params(rng))
    print(f"{ROUNDS} runs with random parameters: every fill is the same")


if __name__ == "__main__":
    main()
