"""What papertape-replay makes of the shared recordings, against an independent reading of the same files: klines of
two intervals, aggregates, the book.

usage: recorded.py PROGRAM SHARED
Skipped (77) without the recordings."""

import collections
import gzip
import json
import os
import sys
from decimal import Decimal

from venue import Venue

PROGRAM, SHARED = sys.argv[1], os.environ.get("PAPERTAPE_SHARED", sys.argv[2])
MS = {"1s": 1000, "1m": 60000}


def read(path):
    """The trades of a recording, and the book at its end."""
    trades, sides, last, pending = [], None, None, []

    def apply(d):
        nonlocal last
        if d["u"] <= last:
            return
        for side, key in zip(sides, "ba"):
            for p, q in d[key]:
                side[Decimal(p)] = Decimal(q)
                if not side[Decimal(p)]:
                    del side[Decimal(p)]
        last = d["u"]

    with gzip.open(path, "rt") as f:
        for line in f:
            frame = json.loads(line.split(" ", 1)[1])
            if "lastUpdateId" in frame:
                sides = [{Decimal(p): Decimal(q) for p, q in frame[key]} for key in ("bids", "asks")]
                last = frame["lastUpdateId"]
                for d in pending:
                    apply(d)
            elif frame["stream"].endswith("@trade"):
                trades.append(frame["data"])
            elif "@depth" in frame["stream"]:
                pending.append(frame["data"]) if sides is None else apply(frame["data"])
    return trades, sides, last


def candles(trades, ms):
    bars = {}
    for t in trades:
        p, q = Decimal(t["p"]), Decimal(t["q"])
        b = bars.setdefault(t["T"] // ms * ms, {"o": p, "h": p, "l": p, "v": 0, "q": 0, "V": 0, "Q": 0, "n": 0, "f": t["t"]})
        b.update(h=max(b["h"], p), l=min(b["l"], p), c=p, L=t["t"])
        b["v"] += q
        b["q"] += p * q
        b["V"] += 0 if t["m"] else q
        b["Q"] += 0 if t["m"] else p * q
        b["n"] += 1
    return bars


def aggregates(trades):
    out = []
    for t in trades:
        key = (t["p"], t["T"], t["m"])
        if out and out[-1][0] == key:
            out[-1][1] += Decimal(t["q"])
            out[-1][3] = t["t"]
        else:
            out.append([key, Decimal(t["q"]), t["t"], t["t"]])
    return out


def check(path, symbol):
    trades, sides, last = read(path)
    lower = symbol.lower()
    with Venue(PROGRAM, "--recording", path, "--speed", "max") as v:
        names = [f"{lower}@{k}" for k in ("kline_1s", "kline_1m", "aggTrade", "trade", "depth@100ms")]
        s = v.streams(*names)
        received, last_received, closed = collections.Counter(), None, {"1s": {}, "1m": {}}
        aggs = []
        want = aggregates(trades)
        while len(aggs) < len(want) or last_received != last:
            m = s.message()
            d = m["data"]
            received[m["stream"]] += 1
            if d["e"] == "aggTrade":
                aggs.append([(d["p"], d["T"], d["m"]), Decimal(d["q"]), d["f"], d["l"]])
            elif d["e"] == "kline" and d["k"]["x"]:
                assert d["k"]["t"] not in closed[d["k"]["i"]], "closed twice"
                closed[d["k"]["i"]][d["k"]["t"]] = d["k"]
            elif d["e"] == "depthUpdate":
                last_received = d["u"]
        assert aggs == want
        rest, first = [], None
        while page := v.rest(f"/api/v3/aggTrades?symbol={symbol}&limit=1000&fromId={first if first is not None else 0}"):
            rest += [[(a["p"], a["T"], a["m"]), Decimal(a["q"]), a["f"], a["l"]] for a in page]
            first = page[-1]["a"] + 1
        assert rest == want[-len(rest):] and len(rest) == min(len(want), 10000), (len(rest), len(want))
        for interval, ms in MS.items():
            bars = candles(trades, ms)
            for t, b in list(bars.items())[:-1]:  # the last one is still forming
                k = closed[interval].pop(t)
                got = {key: Decimal(k[key]) for key in "ohlcvqVQ"} | {key: k[key] for key in "nfL"}
                assert got == b, (interval, t, got, b)
            for t, k in closed[interval].items():  # what is left had no trades
                assert t not in bars and k["n"] == 0 and k["f"] == -1 and k["o"] == k["h"] == k["l"] == k["c"], k
            rows = {r[0]: r for r in v.rest(f"/api/v3/klines?symbol={symbol}&interval={interval}&limit=1000")}
            for t, b in bars.items():
                r = rows[t]
                assert [Decimal(x) for x in (*r[1:6], r[7], *r[9:11])] == [b[k] for k in "ohlcvqVQ"] and r[8] == b["n"], r
        depth = v.rest(f"/api/v3/depth?symbol={symbol}&limit=5000")
        assert depth["lastUpdateId"] == last
        for side, key in zip(sides, ("bids", "asks")):
            best = sorted(side.items(), reverse=key == "bids")[:5000]
            assert [(Decimal(p), Decimal(q)) for p, q in depth[key]] == best, key
        print(symbol, dict(received), f"{len(aggs)} aggregates, {len(bars)} minutes, {len(sides[0])}+{len(sides[1])} levels: equal")


def main():
    found = False
    for symbol in ("BTCUSDT", "ETHUSDT"):
        path = os.path.join(SHARED, "data", "recorded", "binance", f"{symbol.lower()}_2024-08-08.jsonl.gz")
        if os.path.exists(path):
            check(path, symbol)
            found = True
    if not found:
        print(f"skipped: no recordings in {SHARED}")
        sys.exit(77)


main()
