#!/usr/bin/env python3
"""What the book was as indicators of the daemon's charts: each stored value against plain sums over the stored measures of
the book's bars, over a kill and a clean stop; what is refused."""

import math
import os
import signal
import sqlite3
import struct
import subprocess

import harness

CONFIG = """
[market]
interval = 1s
[indicators]
specs = sma:3@imbalance sma:2 trange@microprice sma:4@spread
timeframes = 1s 1m
[account hand]
strategy = none
"""
NAMES = ["sma_2", "sma_4@spread", "sma_3@imbalance", "trange@microprice"]
BAR_NS = 10**9


def read(state, symbol):
    """{open time: outputs}, and {open time: (measure's name and which of its prices: value)}, as they are stored."""
    database = sqlite3.connect(f"file:{os.path.join(state, 'papertape.db')}?mode=ro", uri=True, timeout=harness.PATIENCE)
    number = database.execute("SELECT id FROM symbols WHERE name = ?", (symbol,)).fetchone()[0]
    names = database.execute("SELECT names FROM chart_series WHERE symbol = ? AND interval_ns = ?", (number, BAR_NS)).fetchone()[0]
    charts = {at: struct.unpack(f"<{len(NAMES)}d", outputs) for at, outputs in database.execute(
        "SELECT open_ns, outputs FROM chart_bars WHERE symbol = ? AND interval_ns = ?", (number, BAR_NS))}
    cursor = database.execute("SELECT * FROM book_bars WHERE symbol = ? AND interval_ns = ?", (number, BAR_NS))
    columns = [column[0] for column in cursor.description]
    books = {row["open_ns"]: row for row in (dict(zip(columns, values)) for values in cursor)}
    minutes = database.execute("SELECT outputs FROM chart_bars WHERE symbol = ? AND interval_ns = ?", (number, 60 * BAR_NS)).fetchall()
    database.close()
    assert names.split() == NAMES, names
    return charts, books, [struct.unpack(f"<{len(NAMES)}d", outputs) for outputs, in minutes]


def expect(books):
    """{open time: (mean spread of 4, mean imbalance of 3, true range of the microprice)} at each book, of the books so far."""
    out, seen = {}, []
    for at in sorted(books):
        seen.append(books[at])
        spread = [book["spread_close"] for book in seen[-4:]]
        imbalance = [book["imbalance_close"] for book in seen[-3:]]
        now, before = seen[-1], seen[-2]["microprice_close"] if len(seen) > 1 else math.nan
        ranges = [now["microprice_high"] - now["microprice_low"], abs(now["microprice_high"] - before),
                  abs(now["microprice_low"] - before)]
        out[at] = (sum(spread) / 4 if len(seen) >= 4 else math.nan, sum(imbalance) / 3 if len(seen) >= 3 else math.nan,
                   max(ranges) if len(seen) > 1 else math.nan)
    return out


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(b)) or (math.isnan(a) and math.isnan(b))


def compare(daemon):
    """How many values are as they must be, of both symbols."""
    n = 0
    for symbol in ("BTCUSDT", "ETHUSDT"):
        charts, books, minutes = read(daemon.state, symbol)
        expected = expect(books)
        for at, outputs in charts.items():
            wanted = expected.get(at, (math.nan,) * 3)
            assert all(map(near, outputs[1:], wanted)), (symbol, at, outputs, wanted)
            n += sum(not math.isnan(value) for value in outputs[1:])
        assert all(math.isnan(value) for outputs in minutes for value in outputs[1:]), minutes
    return n


def wait_values(daemon, count):
    def there():
        try:
            return compare(daemon) >= count
        except (sqlite3.OperationalError, TypeError):  # not there yet
            return False
    harness.wait_for(there, f"{count} values of measures")


def refused(folder, specs, reason):
    path = os.path.join(folder.path, "bad.ini")
    with open(path, "w") as file:
        file.write(f"[indicators]\nspecs = {specs}\n")
    done = subprocess.run([harness.DAEMON, "--check-config", "--config", path], capture_output=True, text=True)
    assert done.returncode != 0 and reason in done.stderr, (done.returncode, done.stderr)


def main():
    with harness.Folder() as folder:
        refused(folder, "sma:20@imbalanced", "behind the @ spread, imbalance or microprice is needed")
        refused(folder, "obv@spread", "obv reads volumes, and a measure of the book has none")
        refused(folder, "sma:20@spread ema:3 sma:20@spread", "sma@spread is named twice".replace("sma", "sma:20"))
        bars = os.path.join(folder.path, "BARS_x.csv")
        with open(bars, "w") as file:
            file.write("open_time,open,high,low,close,volume\n0,1,1,1,1,1\n")
        done = subprocess.run([harness.PAPERTAPE, "indicators", bars, "sma:2@spread"], capture_output=True, text=True)
        assert done.returncode != 0 and "no order book" in done.stderr and done.stdout == "", done

        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--speed", "20"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"]))
        wait_values(daemon, 100)
        daemon.stop(signal.SIGKILL)
        for name in ("again", "thrice"):
            before = sum(len(read(daemon.state, symbol)[1]) for symbol in ("BTCUSDT", "ETHUSDT"))
            daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"], name=name))
            wait_values(daemon, 3 * before + 60)
            assert daemon.stop() == 0
        print(f"{compare(daemon)} values of the book's measures, over a kill and a stop")
        replay.stop()


main()
