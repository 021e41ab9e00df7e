"""Strategies that are called once for the bars of all symbols, as docs/strategies.md has them, and a simple account of
several symbols that they trade with."""

import numpy as np


class Account:
    """Orders fill at the next round's open, one in ten a round later; some are refused, and some positions end by
    hand."""

    def __init__(self, random, n, shorts):
        self.random, self.n, self.shorts = random, n, shorts
        self.qty, self.orders, self.live = [0.0] * n, [], [False] * n

    def open(self, row):
        waiting = []
        for kind, symbol, fraction in self.orders:
            if not row[symbol]["fresh"] or self.random.random() < 0.1:
                waiting.append((kind, symbol, fraction))
            elif kind == "exit":
                self.qty[symbol] = 0.0
            elif self.random.random() > 0.05:
                price = row[symbol]["open"]
                self.qty[symbol] += (1 if kind == "enter" else -1) * fraction * 10000 / price
        self.orders = waiting
        for symbol in range(self.n):
            if self.random.random() < 0.003:
                self.qty[symbol] = 0.0
            self.live[symbol] = any(order[1] == symbol for order in waiting)

    def take(self, intents):
        self.orders += [(kind, symbol, fraction) for kind, symbol, fraction, _ in intents]


class Pairs:
    symbols = 2

    def __init__(self, p, interval_ns):
        self.p, self.spreads = p, []

    def leave(self, account, why):
        return [("exit", k, 0.0, why) for k in (0, 1) if account.qty[k] != 0]

    def at(self, row, open_ns, account):
        p, (a, b) = self.p, row[:2]
        if not (a["fresh"] and b["fresh"]):
            return []
        self.spreads.append(np.log(a["close"]) - p["hedge"] * np.log(b["close"]))
        last = np.array(self.spreads[-int(p["period"]) :])
        if any(account.live[:2]) or len(last) < p["period"] or last.std() == 0:
            return []
        z = (last[-1] - last.mean()) / last.std()
        if account.qty[0] != 0 or account.qty[1] != 0:
            if np.sign(account.qty[0]) != -np.sign(account.qty[1]):
                return self.leave(account, "leg is alone")
            distance = z if account.qty[0] < 0 else -z
            if distance <= p["leave"]:
                return self.leave(account, "spread is back")
            return self.leave(account, "spread runs away") if 0 < p["stop"] <= distance else []
        dear, cheap = (0, 1) if z > 0 else (1, 0)
        if abs(z) < p["enter"] or 0 < p["stop"] <= abs(z) or not account.shorts[dear]:
            return []
        return [("short", dear, p["fraction"], "spread is wide"), ("enter", cheap, p["fraction"], "spread is wide")]


class RankMomentum:
    symbols = 5

    def __init__(self, p, interval_ns):
        self.p, self.interval_ns, self.chosen = p, interval_ns, None
        self.closes = [[] for _ in range(self.symbols)]

    def rank(self, row):
        n, gains = int(self.p["lookback"]), []
        for k, closes in enumerate(self.closes):
            if row[k]["fresh"] and len(closes) > n:
                gain = closes[-1] / closes[-1 - n] - 1
                if gain > 0 or self.p["only"] == "any":
                    gains.append((-gain, k))
        self.chosen = {k for _, k in sorted(gains)[: int(self.p["hold"])]}

    def at(self, row, open_ns, account):
        for k, closes in enumerate(self.closes):
            if row[k]["fresh"]:
                closes.append(row[k]["close"])
        if (open_ns // self.interval_ns + 1) % int(self.p["every"]) == 0:
            self.rank(row)
        if self.chosen is None:
            return []
        others = [k for k in range(self.symbols) if k not in self.chosen]
        if any(account.qty[k] != 0 or account.live[k] for k in others):
            return [
                ("exit", k, 0.0, "out of the best")
                for k in others
                if account.qty[k] != 0 and not account.live[k] and row[k]["fresh"]
            ]
        share = self.p["fraction"] / self.p["hold"]
        return [
            ("enter", k, share, "among the best")
            for k in sorted(self.chosen)
            if account.qty[k] == 0 and not account.live[k] and row[k]["fresh"]
        ]


TOGETHER = {"pairs": Pairs, "rank-momentum": RankMomentum}


def rounds(random, n, symbols, interval_ns):
    """(open_ns, rows): bars of several symbols that move together, some of them missing, never all."""
    shared = np.cumsum(random.normal(0, 0.003, n))
    apart = np.zeros((symbols, n))
    for k in range(symbols):
        for i in range(1, n):
            apart[k][i] = 0.98 * apart[k][i - 1] + random.normal(0, 0.004)
    close = np.round(100 * np.exp(shared + apart), 2)
    open_ = np.concatenate([close[:, :1], close[:, :-1]], axis=1)
    high = np.round(np.maximum(open_, close) * 1.001, 2)
    low = np.round(np.minimum(open_, close) * 0.999, 2)
    fresh = random.random((symbols, n)) > 0.02
    fresh[0] |= ~fresh.any(axis=0)
    begin = 1_700_000_000 * 10**9 // interval_ns + int(random.integers(0, 1000))
    opens = (begin + np.cumsum(1 + (random.random(n) < 0.01))) * interval_ns
    names = ("open", "high", "low", "close")
    rows = [
        [
            {name: float(column[k][i]) for name, column in zip(names, (open_, high, low, close))}
            | {"volume": 1.0, "fresh": bool(fresh[k][i])}
            for k in range(symbols)
        ]
        for i in range(n)
    ]
    return [int(ns) for ns in opens], rows


def expected(rule, opens, rows, account):
    """The lines for tests/strategy/rounds.c, and what is wanted: (row, kind, symbol, fraction, why)."""
    lines, wanted = [], []
    for i, (open_ns, row) in enumerate(zip(opens, rows)):
        account.open(row)
        words = [
            f"{int(bar['fresh'])} {bar['open']!r} {bar['high']!r} {bar['low']!r} {bar['close']!r} {bar['volume']!r} "
            f"{account.qty[k]!r} {int(account.live[k])} {int(account.shorts[k])}"
            for k, bar in enumerate(row)
        ]
        lines.append(f"{open_ns} " + " ".join(words))
        intents = rule.at(row, open_ns, account)
        wanted += [(i, *intent) for intent in intents]
        account.take(intents)
    return "\n".join(lines) + "\n", wanted


def parse(line):
    row, kind, symbol, fraction, why = line.split(" ", 4)
    return int(row), kind, int(symbol), float(fraction), why


def same(ours, theirs):
    return ours[:3] == theirs[:3] and ours[4] == theirs[4] and abs(ours[3] - theirs[3]) <= 1e-12
