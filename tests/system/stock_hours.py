#!/usr/bin/env python3
"""Bars of more than half an hour of a venue that streams minutes: the daemon on papertape-replay --venue alpaca --bars stores,
from the stream and as history by REST, what Python joins from the 1m file by New York's sessions: each begins at its session's
start, a session's last one ends with it, half days and a change of clocks included. Crypto's are by the clock. Fills of a
strategy on them are within the regular session. So are the chart's longer bars, which the daemon joins from minutes: those of a
day have the regular session; what a daemon of before joined by the clock is joined again."""

import bisect
import csv
import datetime
import os
import sqlite3
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
CHART = """[indicators]
specs = sma:2
timeframes = 1m 1h 4h 1d
"""
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


def charted(daemon, symbol, seconds):
    """{second: (open, high, low, close, volume)}, in units of the symbol's scales."""
    database = sqlite3.connect(f"file:{os.path.join(daemon.state, 'papertape.db')}?mode=ro", uri=True, timeout=harness.PATIENCE)
    rows = database.execute("SELECT open_ns, open, high, low, close, volume, price_scale, qty_scale FROM chart_bars JOIN symbols "
                            "ON id = symbol WHERE name = ? AND interval_ns = ?", (symbol, seconds * 10**9)).fetchall()
    database.close()
    return {row[0] // 10**9: (*(round(value * 100 / 10**row[6]) for value in row[1:5]), round(int(row[5]) / 10**row[7]))
            for row in rows}


def compare_charts(label, daemon, minutes, spans):
    """Each longer bar of the stock is what Python joins, without a gap from the first on; how many."""
    days = [(start - start % 86400, end) for i, (start, end) in enumerate(spans) if i % 3 == 1]
    regular = [bar for bar in minutes if any(start <= bar.second < end for start, end in spans[1::3])]
    n = 0
    for timeframe, seconds in {"1h": 3600, "4h": 14400, "1d": 86400}.items():
        rows = charted(daemon, "AAPL", seconds)
        expected = joined(regular, seconds, days) if seconds == 86400 else joined(minutes, seconds, spans)
        for second, row in rows.items():
            bar = expected.get(second)
            assert bar, f"{label}: a bar of {timeframe} at {stock_bars.text_of(second, True)} in New York"
            assert row == tuple(bar[1:6]), (label, timeframe, row, bar)
        missing = [second for second in sorted(expected)[:-1] if second not in rows and rows and second > min(rows)]
        assert rows and not missing, (label, timeframe, [stock_bars.text_of(second, True) for second in missing])
        n += len(rows)
    return n


def shift(state):
    """As a daemon that joined by the clock left it."""
    database = sqlite3.connect(os.path.join(state, "papertape.db"), timeout=harness.PATIENCE)
    with database:
        changed = database.execute(
            "UPDATE OR REPLACE chart_bars SET open_ns = open_ns - 1800000000000 WHERE interval_ns = 3600000000000 "
            "AND open_ns % 3600000000000 AND symbol = (SELECT id FROM symbols WHERE name = 'AAPL')").rowcount
    database.close()
    assert changed > 3, changed


def charts(folder, label, first, end):
    place = folder.within(f"charts-{label}")
    minutes, path = stock_bars.bars_of("AAPL", first, end), os.path.join(place, "AAPL_1m.csv")
    stock_bars.write(path, minutes)
    at = datetime.datetime.fromtimestamp(minutes[0].second, datetime.timezone.utc)
    replay = folder.start(harness.Alpaca(place, "--bars", path, "--speed", "max", "--from", at.strftime("%Y-%m-%dT%H:%M:%SZ")))
    config = harness.alpaca_config(replay.keys, CHART, symbols="AAPL", interval="1m", history=60)
    daemon = folder.start(harness.Daemon(place, replay, config))
    daemon.wait_status(lambda status: status["now_ns"] >= minutes[-1].second * 10**9 and not status["compute"]["behind"],
                       "the last minute", 300)
    assert daemon.stop() == 0
    spans = list(sessions(first, end))
    n = compare_charts(label, daemon, minutes, spans)
    shift(daemon.state)
    daemon = folder.start(harness.Daemon(place, replay, config))
    daemon.wait_status(lambda status: status["compute"]["updates"] > 0 and not status["compute"]["behind"], "the chart again")
    assert daemon.stop() == 0 and replay.stop() == 0
    again = compare_charts(f"{label}, again", daemon, minutes, spans)
    assert again >= n, (label, n, again)
    print(f"{label}: {n} longer bars of the chart by session, {again} after those by the clock were joined again")


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
            charts(folder, label, first, end)
        first, end = SPANS["clocks"]
        tuesday = stock_bars.at(datetime.date(2025, 11, 4), 10, 10)
        for interval in ("1h", "4h"):
            fills += run(folder, "history", interval, first, end, tuesday)
    assert fills > 10, fills


if __name__ == "__main__":
    sys.exit(main())
