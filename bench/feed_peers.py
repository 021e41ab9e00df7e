"""What bench/feed compares with: the same frames through Python's own json, without and with a book and bars of
Decimals. Standard library only, one core."""

import gzip
import json
import statistics
import time
from decimal import Decimal

ROUNDS = 5


def read_frames(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rt") as file:
        return [line.rstrip("\n").split(" ", 1)[1] for line in file]


def loads(frames):
    for frame in frames:
        json.loads(frame)


class Market:
    """The book by the venue's rule, the best quote, and bars of a minute from trades."""

    def __init__(self):
        self.bids, self.asks, self.last_id = {}, {}, None
        self.buffered, self.quote, self.bars = [], None, {}

    def depth(self, data):
        for side, levels in ((self.bids, data["b"]), (self.asks, data["a"])):
            for price, qty in levels:
                price, qty = Decimal(price), Decimal(qty)
                if qty:
                    side[price] = qty
                else:
                    side.pop(price, None)
        self.last_id = data["u"]

    def snapshot(self, reply):
        self.bids = {Decimal(price): Decimal(qty) for price, qty in reply["bids"]}
        self.asks = {Decimal(price): Decimal(qty) for price, qty in reply["asks"]}
        self.last_id = reply["lastUpdateId"]
        for data in self.buffered:
            if data["u"] > self.last_id:
                self.depth(data)

    def trade(self, data):
        price, qty, minute = Decimal(data["p"]), Decimal(data["q"]), data["T"] // 60000 * 60000
        bar = self.bars.get(minute)
        if bar is None:
            self.bars[minute] = [price, price, price, price, qty, 1]
            return
        if price > bar[1]:
            bar[1] = price
        if price < bar[2]:
            bar[2] = price
        bar[3] = price
        bar[4] += qty
        bar[5] += 1

    def frame(self, text):
        frame = json.loads(text)
        data = frame.get("data")
        if data is None:
            self.snapshot(frame)
            return
        kind = frame["stream"].split("@", 1)[1]
        if kind == "bookTicker":
            self.quote = (Decimal(data["b"]), Decimal(data["B"]), Decimal(data["a"]), Decimal(data["A"]))
        elif kind == "trade":
            self.trade(data)
        elif kind == "depth@100ms":
            if self.last_id is None:
                self.buffered.append(data)
            elif data["u"] > self.last_id:
                self.depth(data)


def book_bars(frames):
    market = Market()
    for frame in frames:
        market.frame(frame)
    return market


def state(market):
    """As feed_frames --state prints it."""
    lines = [f"book {market.last_id}"]
    lines += [f"bid {price:.8f} {market.bids[price]:.8f}" for price in sorted(market.bids, reverse=True)]
    lines += [f"ask {price:.8f} {market.asks[price]:.8f}" for price in sorted(market.asks)]
    for minute, bar in sorted(market.bars.items()):
        lines.append(f"bar {minute} " + " ".join(f"{value:.8f}" for value in bar[:5]) + f" {bar[5]}")
    return lines


def rate(run, frames):
    """Frames a second of processor time: the median of some rounds."""
    rates = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        run(frames)
        rates.append(len(frames) / (time.process_time() - begin))
    return statistics.median(rates)
