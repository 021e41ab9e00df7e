#!/usr/bin/env python3
"""Live and played again: a synthetic market and both recordings over TLS at full speed, with stops and a kill in the
middle, and with silence, gaps and closed connections. Each time `backtest --events` gives the orders, fills and ledger of
the database, row by row, and reads no database for it. With --week: a synthetic week, with a stop in the middle."""

import csv
import io
import json
import os
import signal
import subprocess
import sys

import harness

START, START_NS = "2024-01-01T00:00:00Z", 1704067200 * 10**9
WEEK = "--week" in sys.argv
SECONDS = 7 * 86400 if WEEK else 7200 if harness.LONG else 300
WAIT = 7200.0 if WEEK else 600.0 if harness.LONG else 2 * harness.PATIENCE
CONFIG = """
[market]
symbols = {symbols}
interval = {interval}
[feed]
stale_s = 2
stale_trade_s = 4
silence_s = 2
[engine]
latency_ms = 20
[account main]
cash = 100000
strategy = sma-cross-rsi
strategy.fast = 3
strategy.slow = 8
strategy.rsi_max = 95
strategy.fraction = 0.3
[account quick]
cash = 50000
strategy = sma-cross-rsi
strategy.fast = 2
strategy.slow = 4
strategy.rsi_max = 100
strategy.stop_atr = 1
strategy.fraction = 0.1
[account hand]
cash = 200000
strategy = none
"""


def compare(name, daemon):
    """The log against the database of a daemon that was stopped."""
    moved = os.path.join(daemon.state, "papertape.db"), os.path.join(daemon.state, "away.db")
    stored = {"ledger": daemon.papertape("ledger", "export"), "trades": daemon.papertape("fills", "--csv"),
              "orders": daemon.papertape("orders", "--csv")}
    os.rename(*moved)  # nothing may come from it
    paths = {what: os.path.join(daemon.state, f"{what}.csv") for what in stored}
    done = subprocess.run([harness.PAPERTAPE, "backtest", "--events", daemon.state, "--json"] +
                          [word for what, path in paths.items() for word in (f"--{what}", path)],
                          capture_output=True, text=True, timeout=WAIT)
    os.rename(*reversed(moved))
    assert done.returncode == 0 and not done.stderr, (name, done.stderr)
    report = json.loads(done.stdout)
    for what, text in stored.items():
        with open(paths[what], newline="") as file:
            got, want = file.read().splitlines(), text.splitlines()
        for i, (a, b) in enumerate(zip(got, want)):
            assert a == b, f"{name}: {what}: line {i + 1}: the log gives\n{a}\nthe database has\n{b}"
        assert len(got) == len(want), (name, what, len(got), len(want))
    assert report["events_missing"] == 0 and report["ledger_rows_before"] == 0, report
    rows, fills = len(stored["ledger"].splitlines()) - 1, len(stored["trades"].splitlines()) - 1
    assert (report["ledger_rows"], report["fills"]) == (rows, fills), report
    assert report["ledger_hash"] == list(csv.DictReader(io.StringIO(stored["ledger"])))[-1]["hash"]
    print(f"{name}: {report['events']} events of {report['runs']} runs at {report['events_per_s'] / 1e6:.2f} million "
          f"a second: {report['orders']} orders, {fills} fills, {rows} ledger rows equal")
    return report


def by_hand(daemon, symbol):
    """Some orders that rest, trail, belong together, or are refused."""
    last = next(s["last"] for s in daemon.status_object()["symbols"] if s["symbol"] == symbol)
    hand = ("--account", "hand")
    for words in (("buy", symbol, "0.05"), ("sell", symbol, "0.01", "--trail", "0.01%"),
                  ("buy", symbol, "0.02", "--limit", f"{last * 0.999:.2f}", "--client-id", "near"),
                  ("oco", "sell", symbol, "0.01", "--take-profit", f"{last * 1.001:.2f}", "--stop", f"{last * 0.999:.2f}"),
                  ("buy", symbol, "0.01", "--bracket-take-profit", f"{last * 1.002:.2f}", "--bracket-stop",
                   f"{last * 0.998:.2f}"),
                  ("buy", symbol, "0.01", "--limit", f"{last * 0.9:.2f}"), ("buy", symbol, "900"),
                  ("cancel", "near")):
        # The market runs on meanwhile: a price that was near may be anywhere by now, and an order may be refused.
        daemon.papertape("order", *words, *hand, status=None)


def start(folder, replay, name, run, symbols, interval, arguments=("--clock", "feed")):
    return folder.start(harness.Daemon(folder.path, replay, CONFIG.format(symbols=symbols, interval=interval),
                                       list(arguments), name=f"{name}-{run}", state=name))


def trading(daemon):
    daemon.wait_status(lambda s: s["symbols"] and all(x["last"] for x in s["symbols"]), "prices", WAIT)


def synthetic(folder, name, ends, seconds):
    """`ends`: how each run but the last one ends."""
    end = f"{(START_NS // 10**9) + seconds}"
    replay = folder.start(harness.Replay(folder.within(f"{name}-market"), "--synthetic", "31", "--from", START, "--to", end, "--speed", "max"))
    for run, number in enumerate([*ends, signal.SIGTERM]):
        daemon = start(folder, replay, name, run, "BTCUSDT, ETHUSDT", "1m" if WEEK else "1s")
        trading(daemon)
        by_hand(daemon, "BTCUSDT")
        part = START_NS + seconds * 10**9 * (run + 1) // (len(ends) + 1)
        daemon.wait_status(lambda s, part=part: s["now_ns"] >= part - 2 * 10**9, f"a part of {seconds} s of market", WAIT)
        assert daemon.stop(number) == (0 if number == signal.SIGTERM else -number)
    assert replay.stop() == 0
    report = compare(name, daemon)
    assert report["runs"] == len(ends) + 1 and report["fills"] > 5, report


def recorded(folder, symbol):
    name, path = f"recorded-{symbol}", harness.recording(f"{symbol.lower()}_2024-08-08.jsonl.gz")
    if not path:
        print(f"no recording of {symbol} here (PAPERTAPE_SHARED)")
        return
    replay = folder.start(harness.Replay(folder.within(f"{name}-market"), "--venue", "binance", "--recording", path, "--speed", "max"))
    daemon = start(folder, replay, name, 0, symbol, "1s")
    trades = sum(f'"stream":"{symbol.lower()}@trade"' in line for line in harness.lines(path))
    trading(daemon)
    by_hand(daemon, symbol)
    daemon.frames(symbol, "trade", trades)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    assert compare(name, daemon)["fills"] > 5


def faulty(folder, name, fault, condition, what):
    """On the wall's clock, so that the daemon's own watchdogs decide."""
    replay = folder.start(harness.Replay(folder.within(f"{name}-market"), "--synthetic", "21", "--speed", "1", "--fault", fault))
    daemon = start(folder, replay, name, 0, "BTCUSDT", "1s", ())
    trading(daemon)
    by_hand(daemon, "BTCUSDT")
    daemon.wait_status(condition, what)
    daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["symbols"][0]["book"] == "synced", "all in step again")
    by_hand(daemon, "BTCUSDT")
    assert daemon.stop() == 0
    assert replay.stop() == 0
    compare(name, daemon)


def main():
    print(f"counts: {SECONDS} s of market" + ("" if harness.LONG or WEEK else " (--long: 7200 s, and a week)"))
    with harness.Folder() as folder:
        if WEEK:
            synthetic(folder, "week", [signal.SIGTERM], SECONDS)
            return 0
        harness.together(folder,
                         lambda folder: synthetic(folder, "synthetic", [], SECONDS),
                         lambda folder: synthetic(folder, "stopped-and-killed", [signal.SIGTERM, signal.SIGKILL, signal.SIGTERM], SECONDS),
                         lambda folder: recorded(folder, "BTCUSDT"),
                         lambda folder: recorded(folder, "ETHUSDT"))
        harness.together(folder,
                         lambda folder: faulty(folder, "close", "close@2000", lambda s: s["feed"]["connects"] >= 2, "closed connections"),
                         lambda folder: faulty(folder, "gap", "gap@book", lambda s: s["symbols"][0]["book_gaps"] >= 1, "a gap in the book"),
                         lambda folder: faulty(folder, "silence", "silence@3s+8s", lambda s: s["feed"]["connects"] >= 2,
                                               "a silence that was noticed"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
