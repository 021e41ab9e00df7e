#!/usr/bin/env python3
"""Bars of more than half an hour of a venue that streams minutes: the daemon on papertape-replay --venue alpaca --bars stores,
from the stream and as history by REST, what Python joins from the 1m file by New York's sessions: each begins at its session's
start, a session's last one ends with it, half days and a change of clocks included. Crypto's are by the clock. Fills of a
strategy on them are within the regular session."""

import bisect
import csv
import datetime
import os
import sys

import harness
import stock_bars

ZONE = stock_bars.ZONE
ACCOUNT = """[account stocks]
currency = USD
cash = 100000
strategy = sma-cross
strategy.fast = 1
strategy.slow = 2
strategy.fraction = 0.1
"""
SECONDS = {"1h": 3600, "2h": 7200, "4h": 14400}
SPANS = {"half-day": (datetime.date(2025, 11, 25), datetime.date(2025, 12, 3)),
         "clocks": (datetime.date(2025, 10, 30), datetime.date(2025, 11, 6))}


def sessions(first, end):
    """(start, end) of each session, in seconds; by the file's own days."""
    for day in stock_bars.trading_days(first, end):
        yield from ((day.early, day.open), (day.open, day.close), (day.close, day.late))


def joined(minutes, seconds, spans):
    """{second: Bar} of so many seconds from each span's start; without spans by the clock."""
    starts, made = [start for start, _ in spans], {}
    for bar in minutes:
        start = starts[bisect.bisect_right(starts, bar.second) - 1] if spans else 0
        second = bar.second - (bar.second - start) % seconds
        old = made.get(second)
        made[second] = bar._replace(second=second) if not old else old._replace(
            high=max(old.high, bar.high), low=min(old.low, bar.low), close=bar.close, volume=old.volume + bar.volume)
    return made


def stored(daemon, symbol, interval):
    rows = csv.DictReader(daemon.papertape("bars", symbol, interval).splitlines())
    return {int(row["open_time_ms"]) // 1000: row for row in rows}


def cents(text):
    return round(float(text) * 100)


def compare(label, rows, expected, symbol):
    for second, row in rows.items():
        bar = expected.get(second)
        assert bar, f"{label}: {symbol}: a bar at {stock_bars.text_of(second, True)} in New York"
        got = tuple(cents(row[key]) for key in ("open", "high", "low", "close"))
        assert got == bar[1:5] and round(float(row["volume"])) == bar.volume, (label, symbol, row, bar)


def within(daemon, spans):
    """Every fill of the stock is in a regular session."""
    rows = [row for row in csv.DictReader(daemon.papertape("fills", "--csv").splitlines()) if row["symbol"] == "AAPL"]
    for row in rows:
        at = int(row["ts_ns"]) // 10**9
        assert any(start <= at < end for start, end in spans), f"a fill at {stock_bars.text_of(at, True)} in New York"
    return len(rows)


def run(folder, label, interval, first, end, since):
    """By the stream from `since` on, a second of UTC within a bar; what was before is history."""
    place = folder.within(f"{label}-{interval}")
    minutes = {"AAPL": stock_bars.bars_of("AAPL", first, end), "BTC-USD": stock_bars.bars_of("BTC-USD", first, end, seed=2)}
    files = [os.path.join(place, f"{name}_1m.csv") for name in minutes]
    for path, bars in zip(files, minutes.values()):
        stock_bars.write(path, bars)
    at = datetime.datetime.fromtimestamp(since, datetime.timezone.utc)
    replay = folder.start(harness.Alpaca(place, "--bars", *files, "--speed", "max", "--from", at.strftime("%Y-%m-%dT%H:%M:%SZ")))
    daemon = folder.start(harness.Daemon(place, replay, harness.alpaca_config(
        replay.keys, ACCOUNT, symbols="AAPL, BTC/USD", interval=interval, history=12)))
    last = max(bars[-1].second for bars in minutes.values())
    daemon.wait_status(lambda status: status["now_ns"] >= last * 10**9, "the last minute", 300)
    assert daemon.stop() == 0 and replay.stop() == 0
    daemon.papertape("parity")
    spans = list(sessions(first, end))
    found = {}
    for name, symbol in (("AAPL", "AAPL"), ("BTC-USD", "BTC/USD")):
        expected = joined(minutes[name], SECONDS[interval], spans if name == "AAPL" else ())
        rows = found[name] = stored(daemon, symbol, interval)
        compare(label, rows, expected, symbol)
        assert min(rows) < since - 6 * 3600, (label, symbol, "no history")
        missing = [second for second in sorted(expected)[:-1] if second not in rows and second > min(rows)]
        assert not missing, (label, symbol, [stock_bars.text_of(second, True) for second in missing])
    fills = within(daemon, [span for i, span in enumerate(spans) if i % 3 == 1])
    print(f"{label}, {interval}: {len(found['AAPL'])} bars of AAPL by session, {len(found['BTC-USD'])} of BTC/USD by the clock, "
          f"{fills} fills")
    return fills


def main():
    fills = 0
    with harness.Folder() as folder:
        for label, (first, end) in SPANS.items():
            fills += run(folder, label, "1h", first, end, stock_bars.at(first, 10, 10))
        first, end = SPANS["clocks"]
        tuesday = stock_bars.at(datetime.date(2025, 11, 4), 10, 10)
        for interval in ("1h", "4h"):
            fills += run(folder, "history", interval, first, end, tuesday)
    assert fills > 10, fills


if __name__ == "__main__":
    sys.exit(main())
