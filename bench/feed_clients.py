"""Other readers of the same frames, for bench/feed: feed_clients.py RECORDING, by the Python of a venv that has orjson and
cryptofeed. Prints one JSON object: frames a second of processor time by reader, one core, the median of some rounds.

- json, orjson: loads() alone
- cryptofeed: its Binance handler as it is, with its book of Decimals, its trades and its ticker, and callbacks that do
  nothing. It knows no `trade` stream: such frames are given to it as the aggTrade of one trade, which has two members
  more; the snapshot, which it would ask for, is given when it asks."""

import asyncio
import json
import logging
import statistics
import sys
import time

import orjson
from cryptofeed.defines import L2_BOOK, TICKER, TRADES
from cryptofeed.exchanges.binance import Binance
from cryptofeed.symbols import Symbol, Symbols

import feed_peers

ROUNDS = 5


def as_agg_trade(text):
    frame = json.loads(text)
    data = frame.get("data", {})
    if data.get("e") != "trade":
        return text
    data = {"e": "aggTrade", "E": data["E"], "s": data["s"], "a": data["t"], "p": data["p"], "q": data["q"],
            "f": data["t"], "l": data["t"], "T": data["T"], "m": data["m"], "M": True}
    return json.dumps({"stream": frame["stream"].replace("@trade", "@aggTrade"), "data": data}, separators=(",", ":"))


class Snapshot:
    def __init__(self, text):
        self.text = text

    async def read(self, _address, **_):
        return self.text


async def nothing(*_args, **_kwargs):
    pass


async def handle(name, frames, snapshot):
    base, quote = name[:-4], name[-4:]
    Symbols.set(Binance.id, {f"{base}-{quote}": name}, {"instrument_type": {f"{base}-{quote}": "spot"}})
    feed = Binance(symbols=[Symbol(base, quote).normalized], channels=[L2_BOOK, TRADES, TICKER],
                   callbacks={L2_BOOK: nothing, TRADES: nothing, TICKER: nothing})
    feed.http_conn = Snapshot(snapshot)
    begin = time.process_time()
    for text in frames:
        await feed.message_handler(text, None, 0.0)
    spent = time.process_time() - begin
    book = feed._l2_book[f"{base}-{quote}"].book
    return spent, (len(book.bids), len(book.asks), str(book.bids.index(0)), str(book.asks.index(0)))


def rate(run, frames):
    rates = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for text in frames:
            run(text)
        rates.append(len(frames) / (time.process_time() - begin))
    return statistics.median(rates)


def main():
    logging.disable(logging.CRITICAL)
    frames = feed_peers.read_frames(sys.argv[1])
    snapshot = next(text for text in frames if text.startswith('{"lastUpdateId"'))
    streamed = [as_agg_trade(text) for text in frames if not text.startswith('{"lastUpdateId"')]
    name = next(json.loads(text) for text in streamed)["stream"].split("@")[0].upper()
    rounds = [asyncio.run(handle(name, streamed, snapshot)) for _ in range(ROUNDS)]
    bids, asks, bid, ask = rounds[0][1]
    json.dump({"json": rate(json.loads, frames), "orjson": rate(orjson.loads, frames),
               "cryptofeed": len(streamed) / statistics.median(spent for spent, _ in rounds),
               "book": {"bids": bids, "asks": asks, "bid": bid, "ask": ask}}, sys.stdout)


if __name__ == "__main__":
    main()
