#!/usr/bin/env python3
"""A member's shadow account and its Sharpe ratio, computed again from docs/policies.md, in plain Python."""

import math
import statistics
import subprocess
import sys

CLOSE = 1e-9


class Asset:
    def __init__(self, least, unit):
        self.least, self.unit = least, unit
        self.qty = self.seen = self.peak = 0.0
        self.bars = self.wait = 0


class Account:
    def __init__(self, rules, assets):
        self.rules, self.cash = rules, rules["capital"]
        self.assets = [Asset(*asset) for asset in assets]
        self.equities = []

    def mark(self, closes):
        self.equities.append(self.cash + sum(a.qty * close for a, close in zip(self.assets, closes)))

    def count(self, a, close):
        """Bars held since the purchase from flat or the last sale, the highest close, the wait after an end."""
        a.wait = max(a.wait - 1, 0)
        if a.qty > 0:
            a.bars = 1 if a.seen <= 0 or a.qty < a.seen else a.bars + 1
            a.peak = max(a.peak, close)
        else:
            if a.seen > 0:
                a.wait = self.rules["cooldown_bars"]
            a.bars, a.peak = 0, 0.0
        a.seen = a.qty

    def wanted(self, a, action, close):
        r, equity = self.rules, self.equities[-1]
        wanted, sale, purchase = action * a.unit, 0.0, 0.0
        if r["max_position"] > 0:
            wanted = min(wanted, max(r["max_position"] * equity - a.qty * close, 0) / close)
        if wanted < -a.least and a.qty > 0:
            sale = min(a.qty, -wanted)
        elif 0 < r["exit_bars"] <= a.bars:
            sale = r["exit_share"] * a.qty
        if wanted > a.least and a.wait == 0:
            free = max(self.cash - r["min_cash"] * r["capital"], 0)
            purchase = min(wanted, free / (1 + r["fee"]) * 0.99 / close)
            purchase = purchase if purchase >= a.least else 0.0
        return purchase - sale

    def trade(self, a, action, close):
        r = self.rules
        self.count(a, close)
        stopped = r["trailing_stop"] > 0 and a.qty > 0 and close <= a.peak * (1 - r["trailing_stop"])
        wanted = -a.qty if stopped else self.wanted(a, action, close)
        if wanted > 0:
            cost = close * (1 + r["slippage"]) * (1 + r["fee"])
            wanted = min(wanted, self.cash / cost)
            a.peak = close if a.qty <= 0 else a.peak
            self.cash -= wanted * cost
        else:
            self.cash -= wanted * close * (1 - r["slippage"]) * (1 - r["fee"])
        a.qty += wanted
        return 1 if stopped else 0

    def sharpe(self):
        window = int(self.rules["window"])
        returns = [b / a - 1 for a, b in zip(self.equities, self.equities[1:])][-window:]
        if len(returns) < window:
            return math.nan
        return statistics.fmean(returns) / statistics.stdev(returns)


def near(a, b):
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= CLOSE * (1 + abs(b))


def main():
    lines = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.split("\n")
    account, rules, assets, runs, rows, stops, known = None, {}, [], 0, 0, 0, 0
    for line in filter(None, lines):
        if line == "run":
            account, rules, assets, runs = None, {}, [], runs + 1
        elif line.startswith("asset="):
            assets.append([float.fromhex(word) for word in line[6:].split()])
        elif "=" in line:
            rules[line.split("=")[0]] = float.fromhex(line.split("=")[1])
        else:
            account = account or Account(rules, assets)
            words = [float.fromhex(word) for word in line.split()]
            ours, theirs = words[: 3 * len(assets)], words[3 * len(assets):]
            account.mark(ours[0::3])
            for a, close, action, there in zip(account.assets, ours[0::3], ours[1::3], ours[2::3]):
                if there:
                    stops += account.trade(a, action, close)
            said = [account.cash, *(a.qty for a in account.assets), account.sharpe()]
            assert all(near(a, b) for a, b in zip(said, theirs)) and len(said) == len(theirs), (runs, rows, said, theirs)
            rows, known = rows + 1, known + (not math.isnan(said[-1]))
    assert runs == 6 and rows == 2400 and known == 2400 - 6 * 50 and stops > 20, (runs, rows, known, stops)
    print(f"{runs} shadow accounts over {rows} rows: cash, quantities and {known} Sharpe ratios within {CLOSE:g}; {stops} stops")
    return 0


if __name__ == "__main__":
    sys.exit(main())
