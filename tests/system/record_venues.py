#!/usr/bin/env python3
"""`papertaped --record` of two venues at once: a journal of each, played by papertape-replay as that venue, to a daemon that has
it alone: the same bars, the same last prices; msgpack and JSON; a coin's book that begins whole."""

import csv
import io
import os
import subprocess
import sys

import harness
from harness import together, write_keys

FROM, END_NS = "2026-01-15T15:00:00Z", 1768489440 * 10**9  # a Thursday, 10:00 in New York; four minutes of it
BOTH = """[market]
symbols = BTCUSDT
interval = 1m
history = 20
ca_file = {ca}
ws_url = {coins[ws_url]}
rest_url = {coins[rest_url]}
[engine]
clock = feed
[venue alpaca]
symbols = AAPL, BTC/USD
streams = trade, kline, bookTicker, depth
feed = sip
keys = {keys}
ws_url = {stocks[ws_url]}
rest_url = {stocks[rest_url]}
[account main]
strategy = none
"""
ALONE = """[market]
venue = {venue}
symbols = {symbols}
interval = 1m
history = 20
streams = trade, kline, bookTicker, depth
[engine]
clock = feed
[account hand]
currency = {currency}
strategy = none
"""
KEYS = """[venue alpaca]
feed = sip
encoding = {encoding}
keys = {keys}
"""


def bars(daemon, symbol):
    """The venue's bars, by their time; none while the database does not know the symbol."""
    rows = csv.reader(io.StringIO(daemon.papertape("bars", symbol, "1m", status=None)))
    return {row[0]: row[1:6] for row in rows if row[0].isdigit()}


def record(folder, keys):
    coins = folder.start(harness.Replay(folder.within("coins"), "--synthetic", "5", "--speed", "60", "--from", FROM))
    stocks = folder.start(harness.Replay(folder.within("stocks"), "--venue", "alpaca", "--synthetic", "5", "--speed", "60", "--from", FROM))
    ca = os.path.join(folder.path, "both.pem")
    with open(ca, "w") as file:
        file.write(open(coins.ca).read() + open(stocks.ca).read())
    log = os.path.join(folder.path, "log")
    config = BOTH.format(ca=ca, coins=coins.urls, stocks=stocks.urls, keys=keys)
    daemon = folder.start(harness.Daemon(folder.path, None, config, ["--record", log], name="recording", state="recording"))
    daemon.wait_status(lambda s: s["symbols"] and all(x["last"] and x["last_bar"] and x["last_bar"]["open_time_ms"] * 10**6 >
                                                      END_NS - 120 * 10**9 for x in s["symbols"]), "two minutes")
    assert daemon.stop() == 0 and coins.stop() == 0 and stocks.stop() == 0
    reported = {symbol: bars(daemon, symbol) for symbol in ("BTCUSDT", "AAPL", "BTC/USD")}
    for path in (log, os.path.join(log, "alpaca")):
        verified = subprocess.run([harness.PAPERTAPE, "events", "verify", path], capture_output=True, text=True)
        assert verified.returncode == 0, verified
    return log, reported


def play(folder, name, reported, venue, symbols, log, more):
    """A daemon that has the venue alone hears what was recorded of it."""
    replay = folder.start(harness.Replay(folder.within(name), "--venue", venue, "--recording", log, "--speed", "60"))
    config = ALONE.format(venue=venue, symbols=", ".join(symbols), currency="USDT" if venue == "binance" else "USD") + more
    daemon = folder.start(harness.Daemon(folder.path, replay, config, name=name, state=name))
    wanted = {symbol: max(map(int, reported[symbol])) for symbol in symbols}
    def there(status):
        return status["symbols"] and all(max(map(int, bars(daemon, s)), default=0) >= wanted[s] for s in symbols)
    status = daemon.wait_status(there, f"{name}: the bars up to {wanted}")
    assert status["venues"][0]["bad_frames"] == 0, status["venues"]
    n = 0
    for symbol in symbols:
        again = bars(daemon, symbol)
        both = sorted(set(reported[symbol]) & set(again))
        assert len(both) > 20 and int(both[-1]) == wanted[symbol], (symbol, both)
        both.pop()  # it may come again, with a late trade
        assert [again[at] for at in both] == [reported[symbol][at] for at in both], (name, symbol)
        n += len(both)
    for symbol in status["symbols"]:
        assert symbol["last"] and symbol["book"] == ("none" if symbol["symbol"] == "AAPL" else "synced"), symbol
    assert daemon.stop() == 0 and replay.stop() == 0
    return n


def main():
    with harness.Folder() as folder:
        keys = write_keys(folder.path, "keys", "hush")
        log, reported = record(folder, keys)
        own = os.path.join(log, "alpaca")
        plays = [("binance-again", reported, "binance", ["BTCUSDT"], log, ""),
                 ("alpaca-again", reported, "alpaca", ["AAPL", "BTC/USD"], own, KEYS.format(encoding="msgpack", keys=keys)),
                 ("alpaca-json", reported, "alpaca", ["AAPL", "BTC/USD"], own, KEYS.format(encoding="json", keys=keys))]
        counts = []
        together(folder, *[lambda folder, p=p: counts.append(play(folder, *p)) for p in plays])
        print(f"two venues: {counts} bars, the same when each was played")


if __name__ == "__main__":
    sys.exit(main())
