"""Runs bench/book_layouts on the recordings and prints its figures: python3 bench/book_figures.py BUILD_FOLDER.

The peer is the book that cryptofeed keeps: order_book, sorted dictionaries in C, with Decimals that were parsed before; it sorts only when
it is asked for the best price, and is not asked here."""

import os
import pathlib
import subprocess
import sys
import tempfile

import figures

RECORDINGS = ("btcusdt_2024-08-08", "ethusdt_2024-08-08")

PEER = """
import gzip, json, statistics, sys, time
from decimal import Decimal
from order_book import OrderBook

def keep(side, levels):
    return [(Decimal(price), Decimal(qty)) for price, qty in levels]

path = sys.argv[1]
frames = []
with open(path, "rb") as file:
    packed = file.read(2) == b"\\x1f\\x8b"
with (gzip.open if packed else open)(path, "rt") as file:
    frames = [json.loads(line.split(" ", 1)[1]) for line in file]
snapshot = next(frame for frame in frames if "lastUpdateId" in frame)
diffs = [frame["data"] for frame in frames if frame.get("stream", "").endswith("@depth@100ms")]
diffs = [(keep("bids", d["b"]), keep("asks", d["a"])) for d in diffs if d["u"] > snapshot["lastUpdateId"]]
levels = sum(len(bids) + len(asks) for bids, asks in diffs)
rounds = []
for _ in range(5):
    book = OrderBook()
    book.bids = {price: qty for price, qty in keep("bids", snapshot["bids"])}
    book.asks = {price: qty for price, qty in keep("asks", snapshot["asks"])}
    begin = time.process_time()
    for bids, asks in diffs:
        for side, changes in ((book.bids, bids), (book.asks, asks)):
            for price, qty in changes:
                if qty:
                    side[price] = qty
                elif price in side:
                    del side[price]
    rounds.append((time.process_time() - begin) / levels * 1e9)
print(statistics.median(rounds))
"""


def measure(name, path, peer):
    peer_value = None
    if peer:
        done = subprocess.run([peer, "-c", PEER, path], stdout=subprocess.PIPE, text=True, check=True)
        peer_value = float(done.stdout)
    for line in figures.program("book_layouts", path).splitlines():
        case, value, unit = line.split("\t")
        compared = ("order_book", peer_value) if peer_value and case == "book" else None
        figures.figure("book", f"{case}_{name}", float(value), unit, compared)


def main():
    peer = figures.peers_python("book", ["order-book==0.6.1"])
    folder = pathlib.Path(os.environ.get("PAPERTAPE_SHARED", "../shared")) / "data/recorded/binance"
    recordings = [folder / f"{name}.jsonl.gz" for name in RECORDINGS if (folder / f"{name}.jsonl.gz").exists()]
    for path in recordings:
        measure(path.name[:3], path, peer)
    if not recordings:
        figures.say("no recordings here (PAPERTAPE_SHARED): the synthetic market instead")
        with tempfile.TemporaryDirectory(prefix="papertape-book-") as scratch:
            path = os.path.join(scratch, "synthetic.jsonl")
            subprocess.run([figures.BUILD / "bench/feed_frames", "--synthetic", path], check=True)
            measure("synthetic", path, peer)


if __name__ == "__main__":
    sys.exit(main())
