#!/usr/bin/env python3
"""The limits of live policies a second time, in plain Python, from the words of docs/policies.md ("Limits"): what is
traded by actions on bars, by `papertape-trainer env-replay` and by `papertape backtest --policy`, on series made by
hand, one for each limit, and on random bars, actions and limits.

    limits.py PAPERTAPE_TRAINER PAPERTAPE

PAPERTAPE_LONG: more of the random ones; PAPERTAPE_SEED."""
import csv
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

TRAINER, PAPERTAPE = sys.argv[1:3]
LONG = "PAPERTAPE_LONG" in os.environ
SEED = int(os.environ.get("PAPERTAPE_SEED", "20261124"))
MARGIN, UNIT, LOOKBACK, START = 0.99, 10**8, 2, 1704067200  # a Monday's midnight
LIMITS = {"exposure": 0.0, "exposure_symbol": 0.0, "daily_loss": 0.0, "stop_loss": 0.0, "trailing_stop": 0.0,
          "portfolio_trailing_stop": 0.0, "cooldown": 0, "take_profit": (0.0, 0.0)}
failures = checks = 0


def check(condition, what):
    global failures, checks
    checks += 1
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class Asset:
    """Prices with two digits, quantities with four; both, and money, are counted in 1e-8."""

    LOT, TICK, LEAST_WORTH = 10**4, 10**6, 5 * UNIT

    def __init__(self, capital, norm, first):
        self.scale = capital * (UNIT / self.LOT) / (first * norm)  # lots in an action of 1
        self.qty = self.cost = self.peak = self.seen = 0
        self.taken, self.stop, self.stop_qty, self.order, self.reserve = False, 0, 0, 0, 0

    def worth(self, price):
        return price * self.qty // UNIT

    def lots(self, qty):
        return int(qty) // self.LOT * self.LOT


class Account:
    def __init__(self, bars, p, limits):
        self.p, self.limits, self.bars = p, limits, bars
        self.fee = round(p["buy_cost_pct"] * 10**6)
        self.cash = self.capital = round(p["initial_capital"] * UNIT)
        self.assets = [Asset(self.capital, p["norm_action"], series[0][3]) for series in bars]
        self.trades = []
        self.peak, self.until, self.day, self.opening, self.lost = 0, 0, None, 0, False

    def fee_of(self, notional):
        return -(-notional * self.fee // 10**6)

    def sell(self, i, qty, price, when):
        a = self.assets[i]
        qty = min(qty, a.qty)
        if qty <= 0:
            return
        notional = price * qty // UNIT
        self.cash += notional - self.fee_of(notional)
        a.cost -= a.cost * qty // a.qty
        a.qty -= qty
        if a.qty == 0:
            a.stop = a.stop_qty = 0
        self.trades.append((when, i, "SELL", price, qty, self.fee_of(notional)))

    def buy(self, i, qty, price, when):
        a = self.assets[i]
        free = self.cash - sum(b.reserve for b in self.assets)
        while qty > 0:
            notional = -(-price * qty // UNIT)
            if notional + self.fee_of(notional) <= free:
                break
            qty = min(qty - 1, free * 10**6 // (10**6 + self.fee) * UNIT // price) // a.LOT * a.LOT
        if qty > 0:
            self.cash -= notional + self.fee_of(notional)
            a.cost += notional
            a.qty += qty
            self.trades.append((when, i, "BUY", price, qty, self.fee_of(notional)))

    def bar(self, row, seconds):
        """What waits fills at the open, the stop before it; then the stop inside."""
        begin, end = (START + row * seconds) * 10**9, (START + (row + 1) * seconds) * 10**9 - 1
        for i, a in enumerate(self.assets):
            open_, _, low, _ = self.bars[i][row]
            order, a.order, a.reserve = a.order, 0, 0
            if a.stop and open_ <= a.stop:
                qty, a.stop, a.stop_qty = a.stop_qty, 0, 0
                self.sell(i, qty, open_, begin)
            if order < 0:
                self.sell(i, -order, open_, begin)
            elif order > 0:
                self.buy(i, order, open_, begin)
            if a.stop and low <= a.stop:
                qty, price, a.stop, a.stop_qty = a.stop_qty, a.stop, 0, 0
                self.sell(i, qty, price, end)

    def close(self, row, seconds, actions):
        lim, closes = self.limits, [series[row][3] for series in self.bars]
        equity = self.cash + sum(a.worth(c) for a, c in zip(self.assets, closes))
        exposed = equity - self.cash + sum(a.reserve for a in self.assets)
        buys, cash_only, keeps = True, False, 1.0
        if lim["daily_loss"] > 0:
            day = (START + (row + 1) * seconds) // 86400
            if day != self.day:
                self.day, self.opening, self.lost = day, equity, False
            self.lost = self.lost or equity <= (1 - lim["daily_loss"]) * self.opening
            buys = not self.lost
        if lim["portfolio_trailing_stop"] > 0:
            if self.until > row:
                cash_only = True
            else:
                if self.until:
                    self.until, self.peak = 0, equity
                self.peak = max(self.peak, equity)
                if equity <= (1 - lim["portfolio_trailing_stop"]) * self.peak:
                    cash_only, self.until = True, row + max(1, -(-lim["cooldown"] // seconds))
        if lim["exposure"] > 0 and exposed > lim["exposure"] * equity:
            keeps = max(MARGIN * (lim["exposure"] * equity) / exposed, 0)
        for i, (a, action) in enumerate(zip(self.assets, actions)):
            self.decide(a, closes[i], equity, action, buys and not cash_only, cash_only, keeps)

    def decide(self, a, close, equity, action, buys, cash_only, keeps):
        lim = self.limits
        if a.qty > 0:
            a.peak = max(a.peak, close)
        else:
            a.peak, a.taken = 0, False
        free = self.cash - sum(b.reserve for b in self.assets)
        exposed = equity - free
        qty = a.qty / a.LOT  # in lots, as the rules count
        price = close * (a.LOT / UNIT)
        per = 1 / price
        lots = a.lots(a.qty)
        dust = lots <= 0 or lots / a.LOT * price < a.LEAST_WORTH + 1
        entry = a.cost / qty * (UNIT / a.LOT) if qty > 0 else 0.0
        wanted = f32(action) * a.scale
        if not buys:
            wanted = min(wanted, 0)
        if lim["exposure_symbol"] > 0:
            wanted = min(wanted, max(MARGIN * (lim["exposure_symbol"] * equity) - qty * price, 0) * per)
        if lim["exposure"] > 0:
            wanted = min(wanted, max(MARGIN * (lim["exposure"] * equity) - exposed, 0) * per)
        change = 0.0
        if wanted < 0:
            change = -min(qty, -wanted)
        elif wanted > 0:
            change = min(free * (MARGIN / (1 + self.fee / 1e6)) * per, wanted)
        # what limits sell: the most of it
        part = 0.0
        above, share = lim["take_profit"]
        if above > 0 and not a.taken and not dust and close >= entry * (1 + above):
            part = share * qty
            change = min(change, -part) if part > 0 else change
        left = qty
        if lim["exposure_symbol"] > 0 and qty * price > lim["exposure_symbol"] * equity:
            left = MARGIN * (lim["exposure_symbol"] * equity) * per
        if keeps < 1:
            left = min(left, keeps * qty)
        if left < qty:
            left = max(min(left, qty - (a.LEAST_WORTH + 1) * per), 0)
            change = min(change, -(qty - math.floor(left)))
        trails = [x for x in (lim["trailing_stop"], self.p.get("trailing_stop_pct", 0)) if x > 0]
        level = a.peak * (1 - min(trails)) if trails else 0.0
        if lim["stop_loss"] > 0:
            level = max(level, entry * (1 - lim["stop_loss"]))
        stop = int(level) // a.TICK * a.TICK
        if level > 0 and not dust:
            if close <= stop:
                change = -lots / a.LOT
            elif stop > 0 and lots / a.LOT * (stop * (a.LOT / UNIT)) >= a.LEAST_WORTH + 1:
                a.stop, a.stop_qty = stop, lots
        if cash_only and qty > 0:
            change = -lots / a.LOT
        size = math.floor(abs(change))
        if size <= 0 or size * price < a.LEAST_WORTH + 1:
            return
        size *= a.LOT
        if change < 0:
            a.order, a.taken = -size, a.taken or part > 0
            return
        notional = -(-close * size // UNIT)
        reserve = notional + self.fee_of(notional)
        if reserve <= free:
            a.order, a.reserve = size, reserve
            if dust:
                a.peak, a.taken = close, False


def simulate(bars, actions, seconds, p, limits):
    """All trades, and the account."""
    account, rows = Account(bars, p, limits), len(bars[0])
    for row in range(LOOKBACK - 1, rows - LOOKBACK - 1):
        account.close(row, seconds, actions[row - LOOKBACK + 1])
        account.bar(row + 1, seconds)
    return account


# ---- the programs


def text_of(value):
    return f"{value // 10**6 // 100}.{value // 10**6 % 100:02d}"


def write(place, bars, actions, seconds, p, limits):
    names, rows = [f"AA{chr(65 + i)}" for i in range(len(bars))], len(bars[0])
    interval = {300: "5m", 3600: "1h", 60: "1m"}[seconds]
    files = []
    for name, series in zip(names, bars):
        files.append(os.path.join(place, f"{name}USDT_{interval}.csv"))
        with open(files[-1], "w") as file:
            file.write("timestamp,open,high,low,close,volume\n")
            for row, four in enumerate(series):
                file.write(f"{(START + row * seconds) * 1000},{','.join(map(text_of, four))},1000000.0001\n")
    given = {key: value for key, value in limits.items() if value and key not in ("take_profit", "cooldown")}
    if limits["cooldown"]:
        given["cooldown"] = f"{limits['cooldown']}s"
    if limits["take_profit"][0]:
        given["take_profit"] = "{!r}:{!r}".format(*limits["take_profit"])
    with open(os.path.join(place, "params.json"), "w") as file:
        json.dump({"symbols": names, "interval": interval, "first_bar": "2024-01-01T00:00:00+00:00", "bars": rows,
                   "min_order_qty": [0] * len(names), "params": {**p, **given}}, file)
    with open(os.path.join(place, "actions.csv"), "w") as file:
        file.write("t," + ",".join(f"action_{name}" for name in names) + "\n")
        for k, row in enumerate(actions):
            file.write(f"{LOOKBACK + k}," + ",".join(f"{a:.9g}" for a in row) + "\n")
    return names, files


def trades_of(path, names):
    with open(path) as file:
        return [(int(r["ts_ns"]), names.index(r["symbol"].removesuffix("USDT")), r["side"].upper(),
                 round(float(r["price"]) * UNIT), round(float(r["qty"]) * UNIT), round(float(r["fee"]) * UNIT))
                for r in csv.DictReader(file)]


def both(what, bars, actions, seconds, limits, p=None, backtest=True):
    """Three accounts must trade the same; returns the one of this file."""
    p = {"lookback": LOOKBACK, "norm_action": 10.0, "initial_capital": 10000.0, "buy_cost_pct": 0.001, "sell_cost_pct": 0.001,
         "forced_exit_bars": 0, "random_start": False, **(p or {})}
    limits = {**LIMITS, **limits}
    account = simulate(bars, actions, seconds, p, limits)
    with tempfile.TemporaryDirectory() as place:
        names, files = write(place, bars, actions, seconds, p, limits)
        given = [os.path.join(place, name) for name in ("params.json", "actions.csv")]
        ways = {"env-replay": [TRAINER, "env-replay", *given, "--bars", place, "--preset", "market"]}
        if backtest:
            ways["backtest"] = [PAPERTAPE, "backtest", "--policy", given[0], "--actions", given[1], "--bars",
                                ",".join(files), "--no-cache"]
        for way, argv in ways.items():
            path = os.path.join(place, way + ".csv")
            done = subprocess.run([*argv, "--trades", path], capture_output=True, text=True)
            check(done.returncode == 0, f"{what}: {way}: {done.stderr}")
            if done.returncode != 0:
                continue
            got = trades_of(path, names)
            last = (START + (len(bars[0]) - LOOKBACK) * seconds) * 10**9
            got = [trade for trade in got if trade[0] < last]
            for k, (a, b) in enumerate(zip(got, account.trades)):
                if a != b:
                    check(False, f"{what}: {way}: trade {k + 1} is {a}, and not {b}")
                    break
            else:
                check(len(got) == len(account.trades), f"{what}: {way}: {len(got)} trades, and not {len(account.trades)}")
    return account


# ---- one limit each, by hand


def flat(rows, price=100.0):
    return [[round(price * UNIT)] * 4 for _ in range(rows)]


def put(series, row, open_, high=None, low=None, close=None):
    high, low, close = high or open_, low or open_, close or open_
    series[row] = [round(x * UNIT) for x in (open_, high, low, close)]


def actions_for(rows, at=None, value=100.0):
    n = rows - 2 * LOOKBACK
    return [[value if at is None or k in at else 0.0] for k in range(n)]


def rows_of(account, side):
    return [(trade[0] // 10**9 - START, trade[3] / UNIT, trade[4] / UNIT) for trade in account.trades if trade[2] == side]


def test_exposure_symbol():
    rows, series, limits = 200, flat(200), {"exposure_symbol": 0.3}
    for row in range(rows):  # up and down by 4 % and more, slowly
        price = round(100 + 30 * math.sin(row / 15), 2)
        put(series, row, price)
    account = both("exposure_symbol", [series], actions_for(rows), 300, limits)
    check(rows_of(account, "SELL") and rows_of(account, "BUY"), "exposure_symbol: it buys and sells")
    cash, qty = 10000.0, 0.0
    for (when, _, side, price, units, fee) in account.trades:
        row = (when // 10**9 - START) // 300
        move = series[row][3] / series[row - 1][3]
        cash += (price * units / UNIT - fee) / UNIT if side == "SELL" else -(price * units / UNIT + fee) / UNIT
        qty += units / UNIT if side == "BUY" else -units / UNIT
        share = qty * price / UNIT / (cash + qty * price / UNIT)
        check(share <= 0.3 * max(move, 1.0), f"exposure_symbol: {share} of equity after {side} in row {row}")


def test_exposure():
    rows, chance = 120, random.Random(5)
    bars = [flat(rows), flat(rows, 20.0)]
    for series in bars:
        price = series[0][3] / UNIT
        for row in range(1, rows):
            price = round(price * math.exp(chance.gauss(0.002, 0.01)), 2)
            put(series, row, price)
    both("exposure", bars, [row * 2 for row in actions_for(rows)], 300, {"exposure": 0.5})
    both("exposure, both", bars, [row * 2 for row in actions_for(rows)], 300, {"exposure": 0.5, "exposure_symbol": 0.3})


def test_stop_loss():
    rows = 40
    inside = flat(rows)
    put(inside, 10, 99, 99, 94, 97)  # through 95 inside the bar
    account = both("stop_loss inside", [inside], actions_for(rows, {0}), 300, {"stop_loss": 0.05})
    check(rows_of(account, "SELL")[0][:2] == (10 * 300 + 299, 95.0), f"stop_loss inside: {account.trades}")
    gap = flat(rows)
    put(gap, 10, 90, 91, 89, 90)
    account = both("stop_loss, a gap", [gap], actions_for(rows, {0}), 300, {"stop_loss": 0.05})
    check(rows_of(account, "SELL")[0][:2] == (10 * 300, 90.0), f"stop_loss, a gap: {account.trades}")
    higher = flat(rows)
    for row in range(8, rows):
        put(higher, row, 120)
    put(higher, 20, 120, 120, 100, 110)  # the trailing one, at 108, is the higher of the two
    account = both("both stops", [higher], actions_for(rows, {0}), 300, {"stop_loss": 0.05, "trailing_stop": 0.1})
    check([x[1] for x in rows_of(account, "SELL")] == [108.0], f"both stops: {account.trades}")
    tighter = both("the tighter trail", [higher], actions_for(rows, {0}), 300, {"trailing_stop": 0.15},
                   {"trailing_stop_pct": 0.1})
    check([x[1] for x in rows_of(tighter, "SELL")] == [108.0], f"the tighter trail: {tighter.trades}")


def test_portfolio():
    rows, series = 60, flat(60)
    for row in range(10, rows):
        put(series, row, 80)
    for cooldown, bars in ((0, 1), (3600, 12), (1000, 4)):
        account = both(f"portfolio, {cooldown} s", [series], actions_for(rows), 300,
                       {"portfolio_trailing_stop": 0.1, "cooldown": cooldown})
        (sold,), bought = rows_of(account, "SELL"), rows_of(account, "BUY")
        check(sold[0] == 11 * 300, f"portfolio: all is sold at the next open: {sold}")
        again = [x[0] for x in bought if x[0] > sold[0]]
        check(again and again[0] == (11 + bars) * 300, f"portfolio, {cooldown} s: bought again: {again}, sold {sold}")


def test_daily_loss():
    rows, series = 100, flat(100)
    for row in range(rows):  # hours; it loses 20 % in row 30, of the second day, and comes back before it ends
        put(series, row, 80 if 30 <= row < 40 else 100)
    account = both("daily_loss", [series], actions_for(rows, value=0.1), 3600, {"daily_loss": 0.01})
    hours = {x[0] // 3600 for x in rows_of(account, "BUY")}
    check(30 in hours and not hours & set(range(31, 48)), f"daily_loss: nothing until midnight: {sorted(hours)}")
    check(48 in hours, f"daily_loss: the day that begins buys again: {sorted(hours)}")
    check(not rows_of(account, "SELL"), "daily_loss: positions stay")


def test_take_profit():
    rows, series = 60, flat(60)
    for row in range(10, 30):
        put(series, row, 112)
    for row in range(40, rows):
        put(series, row, 130)
    actions = [[100.0 if k == 0 or k == 34 else -1000.0 if k == 32 else 0.0] for k in range(rows - 2 * LOOKBACK)]
    account = both("take_profit", [series], actions, 300, {"take_profit": (0.1, 0.5)})
    sold = rows_of(account, "SELL")
    check(len(sold) == 3, f"take_profit: once, all by the action, once again: {sold}")
    check(sold[0][0] == 11 * 300 and sold[2][0] == 41 * 300, f"take_profit: at the open after: {sold}")
    check(abs(sold[0][2] - sold[1][2]) < 0.001, f"take_profit: a half, then the other half: {sold}")


# ---- at random


def random_case(chance, k):
    n, rows, seconds = chance.randint(1, 3), chance.randint(60, 400), chance.choice((300, 3600))
    bars = []
    for _ in range(n):
        price, series, swing = chance.uniform(5, 500), [], chance.uniform(0.001, 0.03)
        for _ in range(rows):
            open_ = price * math.exp(chance.gauss(0, swing / 3))
            close = open_ * math.exp(chance.gauss(0, swing))
            high, low = max(open_, close) * (1 + abs(chance.gauss(0, swing))), min(open_, close) / (1 + abs(chance.gauss(0, swing)))
            four = [max(1, round(x * 100)) * 10**6 for x in (open_, high, low, close)]
            series.append([four[0], max(four), min(four), four[3]])
            price = max(close, 2.0)
        bars.append(series)
    actions = [[round(chance.gauss(0.3, 5), 3) if chance.random() < 0.3 else 0.0 for _ in range(n)] for _ in range(rows - 2 * LOOKBACK)]

    def some(most):
        return round(chance.uniform(0.001, most), 4) if chance.random() < 0.4 else 0.0

    limits = {"exposure": some(1), "exposure_symbol": some(1), "daily_loss": some(0.1), "stop_loss": some(0.1),
              "trailing_stop": some(0.1), "portfolio_trailing_stop": some(0.15)}
    if limits["exposure"]:
        limits["exposure_symbol"] = min(limits["exposure_symbol"], limits["exposure"])
    limits["cooldown"] = chance.randint(0, 20) * 700 if limits["portfolio_trailing_stop"] else 0
    limits["take_profit"] = (some(0.1), 0.0)
    if limits["take_profit"][0]:
        limits["take_profit"] = (limits["take_profit"][0], round(chance.uniform(0.01, 1), 2))
    account = both(f"random {k}: {limits}", bars, actions, seconds, limits, backtest=k % 4 == 0)
    return len(account.trades)


def main():
    for test in (test_exposure_symbol, test_exposure, test_stop_loss, test_portfolio, test_daily_loss, test_take_profit):
        test()
    chance, runs = random.Random(SEED), 1000 if LONG else 40
    trades = sum(random_case(chance, k) for k in range(runs))
    check(trades > 20 * runs, f"{trades} trades in {runs} runs")
    print(f"PAPERTAPE_SEED={SEED}: {runs} random runs, {trades} trades, {checks} checks, {failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
