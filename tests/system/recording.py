#!/usr/bin/env python3
"""The real recordings of 2024-08-08 over TLS through the daemon: bars built from trades equal those of the plain
Python below, to the last digit; the final book equals an independent book; and the same recording twice gives
the same ledger. Without the sample data the test is skipped; synthetic.py does the same on generated data."""

import json
import sys
from decimal import Decimal

import harness

CONFIG = """
[market]
symbols = {symbol}
interval = {interval}
[engine]
latency_ms = 20
[account main]
cash = 100000
strategy = sma-cross-rsi
strategy.fast = 3
strategy.slow = 8
strategy.rsi_max = 90
strategy.fraction = 0.3
"""


def independent(path):
    """Bars by minute from the trades, and the book from the snapshot and the differences, as the venue describes it."""
    bars, bids, asks, buffered, last_id, counts = {}, None, None, [], None, {}

    def apply(data):
        nonlocal last_id
        for side, levels in ((bids, data["b"]), (asks, data["a"])):
            for price, qty in levels:
                if Decimal(qty) == 0:
                    side.pop(Decimal(price), None)
                else:
                    side[Decimal(price)] = Decimal(qty)
        last_id = data["u"]

    for line in harness.lines(path):
        frame = json.loads(line.split(" ", 1)[1])
        if "lastUpdateId" in frame:
            if bids is None:
                bids = {Decimal(p): Decimal(q) for p, q in frame["bids"]}
                asks = {Decimal(p): Decimal(q) for p, q in frame["asks"]}
                last_id = frame["lastUpdateId"]
                for data in buffered:
                    if data["u"] > last_id:
                        apply(data)
            continue
        stream, data = frame["stream"].split("@", 1)[1], frame["data"]
        counts[stream] = counts.get(stream, 0) + 1
        if stream == "trade":
            price, qty = Decimal(data["p"]), Decimal(data["q"])
            minute = data["T"] // 60000 * 60000
            bar = bars.setdefault(minute, [price, price, price, price, Decimal(0)])
            bar[1], bar[2], bar[3] = max(bar[1], price), min(bar[2], price), price
            bar[4] += qty
        elif stream.startswith("depth"):
            if bids is None:
                buffered.append(data)
            elif data["u"] > last_id:
                assert data["U"] <= last_id + 1, "the recording has a gap"
                apply(data)
    best = ([(p, bids[p]) for p in sorted(bids, reverse=True)], [(p, asks[p]) for p in sorted(asks)])
    return bars, best, counts


def play(folder, path, symbol, interval, name, counts):
    replay = folder.start(harness.Replay(folder.path, "--venue", "binance", "--recording", path, "--speed", "max"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(symbol=symbol, interval=interval),
                                         ["--clock", "feed"], name=name, state=name))
    daemon.frames(symbol, "trade", counts["trade"])
    daemon.frames(symbol, "depth", counts["depth@100ms"])
    daemon.frames(symbol, "bookTicker", counts["bookTicker"])
    return replay, daemon


def check_bars_and_book(folder, path, symbol):
    bars, (bids, asks), counts = independent(path)
    replay, daemon = play(folder, path, symbol, "1m", f"{symbol}-1m", counts)

    book = json.loads(daemon.papertape("book", symbol, "--json"), parse_float=Decimal)
    assert book["state"] == "synced", book["state"]
    assert [tuple(level) for level in book["bids"]] == bids, "bids differ"
    assert [tuple(level) for level in book["asks"]] == asks, "asks differ"

    status = daemon.status_object()
    assert status["feed"]["bad_frames"] == 0 and status["feed"]["connects"] == 1, status["feed"]
    assert daemon.stop() == 0, "the daemon did not drain"
    assert replay.stop() == 0

    rows = daemon.papertape("bars", symbol, "1m", "--source", "trades").splitlines()
    assert rows[0] == "open_time_ms,open,high,low,close,volume,session,open_time_iso", rows[0]
    closed = sorted(bars)[:-1]  # the last minute never closed
    got = {int(row.split(",")[0]): [Decimal(x) for x in row.split(",")[1:6]] for row in rows[1:]}
    assert sorted(got) == closed, (sorted(got), closed)
    for minute in closed:
        assert got[minute] == bars[minute], (minute, got[minute], bars[minute])
    print(f"{symbol}: {len(closed)} bars of 1m and a book of {len(bids)} + {len(asks)} levels equal, "
          f"{sum(counts.values())} frames")


def stamped(path):
    """Lines "SECONDS: {json}" and "URL -> SECONDS: {json}" as pairs of URL and object; the first may name a connection only."""
    for line in harness.lines(path):
        head, brace, rest = line.partition(": {")
        if brace:
            yield head.split(" -> ")[0] if " -> " in head else "", json.loads("{" + rest)


def by_the_rule(ws, http):
    """Each symbol's last book: its REST snapshot, without the differences that it holds, then the others without a gap;
    and the frames of each stream."""
    snapshots = {url.split("symbol=")[1].split("&")[0]: reply for url, reply in stamped(http) if "/depth?" in url}
    books, counts, first = {}, {}, {}
    for symbol, reply in snapshots.items():
        books[symbol] = [{Decimal(p): Decimal(q) for p, q in reply[side]} for side in ("bids", "asks")] + [reply["lastUpdateId"]]
    for _, frame in stamped(ws):
        if "stream" not in frame:
            continue
        symbol, stream = frame["stream"].upper().split("@")[0], frame["stream"].split("@", 1)[1]
        counts[symbol, stream] = counts.get((symbol, stream), 0) + 1
        data, book = frame["data"], books[symbol]
        if not stream.startswith("depth") or data["u"] <= book[2]:
            continue
        assert data["U"] <= book[2] + 1, f"{symbol}: a gap in the recording"
        first.setdefault(symbol, data["U"] <= snapshots[symbol]["lastUpdateId"] + 1 <= data["u"])
        for side, levels in zip(book, (data["b"], data["a"])):
            for price, qty in levels:
                side.pop(Decimal(price), None)
                if Decimal(qty) != 0:
                    side[Decimal(price)] = Decimal(qty)
        book[2] = data["u"]
    assert all(first.values()) and len(first) == len(books), first
    return {s: (sorted(b.items(), reverse=True), sorted(a.items()), u) for s, (b, a, u) in books.items()}, counts


def four_books(folder, ws, http):
    books, counts = by_the_rule(ws, http)
    replay = folder.start(harness.Replay(folder.path, "--venue", "binance", "--recording", ws, http, "--speed", "max"))
    config = f"[market]\nsymbols = {' '.join(books)}\n[account main]\ncurrency = USDT\ncash = 1000\n"
    daemon = folder.start(harness.Daemon(folder.path, replay, config, ["--clock", "feed"], name="four", state="four"))
    for (symbol, stream), count in counts.items():
        if stream.startswith("depth"):
            daemon.frames(symbol, "depth", count)
    for symbol, (bids, asks, last_id) in books.items():
        book = json.loads(daemon.papertape("book", symbol, "--json"), parse_float=Decimal)
        assert (book["state"], book["last_id"]) == ("synced", last_id), (symbol, book["state"], book["last_id"], last_id)
        assert [tuple(level) for level in book["bids"]] == bids, f"{symbol}: bids differ"
        assert [tuple(level) for level in book["asks"]] == asks, f"{symbol}: asks differ"
    feed = daemon.status_object()["feed"]
    assert feed["bad_frames"] == 0, feed
    assert daemon.stop() == 0 and replay.stop() == 0
    levels = sum(len(b) + len(a) for b, a, _ in books.values())
    print(f"four symbols of 2021: {sum(counts.values())} frames, books of {levels} levels equal")


def ledger_of_a_run(folder, path, symbol, name, counts):
    replay, daemon = play(folder, path, symbol, "1s", name, counts)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    verified = json.loads(daemon.papertape("ledger", "verify", "--json"))
    assert verified["ok"] is True, verified
    fills = len(json.loads(daemon.papertape("fills", "--json"))["fills"])
    return verified["hash"], fills


def main():
    btc, eth = (harness.recording(f"{name}usdt_2024-08-08.jsonl.gz") for name in ("btc", "eth"))
    if not btc or not eth:
        harness.skip("no sample data (PAPERTAPE_SHARED)")
    ws, http = (harness.recording(f"book_sync_2021-10.{kind}.gz") for kind in ("ws", "http"))
    with harness.Folder() as folder:
        if ws and http:
            four_books(folder, ws, http)
        check_bars_and_book(folder, btc, "BTCUSDT")
        check_bars_and_book(folder, eth, "ETHUSDT")
        counts = independent(btc)[2]
        first = ledger_of_a_run(folder, btc, "BTCUSDT", "first", counts)
        second = ledger_of_a_run(folder, btc, "BTCUSDT", "second", counts)
        assert first[1] > 0, "nothing was traded: the comparison would say nothing"
        assert first == second, (first, second)
        print(f"the same recording twice: {first[1]} fills, ledger {first[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
