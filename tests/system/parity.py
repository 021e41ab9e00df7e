#!/usr/bin/env python3
"""Parity: the log of a live run over TLS at full speed gives what is stored, row by row, also with a stop and a kill in the
middle (backtest.py has the recordings and the faults); the daemon's own check says so, and finds and names a difference;
and what --record keeps plays as a venue does, with the same ledger."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys

import harness

START = "2024-01-01T00:00:00Z"
START_MS = 1704067200000
SECONDS = 1800 if harness.LONG else 120
TRADING = """
[market]
symbols = {symbols}
interval = 1s
history = 100
[engine]
latency_ms = 20
equity_interval_s = 5
[account main]
cash = 100000
strategy = sma-cross-rsi
strategy.fast = 3
strategy.slow = 8
strategy.rsi_max = 95
strategy.fraction = 0.3
[account short]
cash = 50000
strategy = sma-cross-rsi
strategy.fast = 4
strategy.slow = 9
shorts = on
[account hand]
cash = 100000
strategy = none
"""


def equal_when_played(daemon, name):
    """`backtest --events` gives what is stored, row by row; so says `parity`. The daemon has stopped."""
    path = os.path.join(daemon.state, "played.csv")
    played = json.loads(daemon.papertape_on("backtest", "--events", daemon.state, "--ledger", path, "--json"))
    with open(path) as file:
        ledger = file.read().splitlines()
    live = daemon.papertape("ledger", "export", "--csv").splitlines()
    assert len(live) > 1, "nothing was traded: the comparison would say nothing"
    assert ledger == live, next(((a, b) for a, b in zip(ledger, live) if a != b), (len(ledger), len(live)))
    assert played["fills"] == daemon.query("SELECT count(*) FROM fills")[0][0], played
    assert played["orders"] == daemon.query("SELECT count(*) FROM orders")[0][0], played
    parity = json.loads(daemon.papertape("parity", "--json"))
    assert parity["ok"] is True and parity["difference"] is None, parity
    for count, table in (("orders", "orders"), ("fills", "fills"), ("ledger_rows", "ledger")):
        stored = daemon.query(f"SELECT count(*) FROM {table}")[0][0]
        assert parity[count] + (parity["unsettled"] if table == "orders" else 0) == stored, (parity, table, stored)
    print(f"{name}: {parity['events']} events in {parity['runs']} runs, {parity['orders']} orders, {parity['fills']} fills, "
          f"{parity['ledger_rows']} ledger rows equal", flush=True)
    return parity


class Daemon(harness.Daemon):
    def papertape_on(self, *arguments):
        """A verb that takes no --state."""
        done = subprocess.run([harness.PAPERTAPE, *arguments], capture_output=True, text=True,
                                      timeout=harness.PATIENCE)
        assert done.returncode == 0, (arguments, done.returncode, done.stderr)
        return done.stdout


def start(folder, replay, symbols, name, *arguments):
    return folder.start(Daemon(folder.path, replay, TRADING.format(symbols=symbols), ["--clock", "feed", *arguments],
                               name=name, state=name))


def venue(folder, *arguments, seconds=None):
    span = ("--from", START, "--to", end_of(seconds)) if seconds else ()
    return folder.start(harness.Replay(folder.path, *arguments, *span))


def end_of(seconds):
    return f"2024-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


def until(daemon, milliseconds, what):
    daemon.wait_status(lambda s: s["now_ns"] // 1000000 >= milliseconds, what)


def synthetic(folder):
    replay = venue(folder, "--synthetic", "7", "--speed", "max", seconds=SECONDS)
    daemon = start(folder, replay, "BTCUSDT, ETHUSDT", "synthetic")
    until(daemon, START_MS + SECONDS * 1000 - 1500, "the end of the market")
    assert daemon.stop() == 0
    assert replay.stop() == 0
    equal_when_played(daemon, "synthetic")
    return daemon


def stopped_in_between(folder):
    """The market continues meanwhile; the second time it is killed."""
    replay = venue(folder, "--synthetic", "8", "--speed", "60", "--from", START)
    for number, how in enumerate(("stop", "kill", "stop")):
        daemon = start(folder, replay, "BTCUSDT, ETHUSDT", "restarted")
        first = daemon.wait_status(lambda s: s["symbols"] and s["feed"]["frames"] > 100, "frames")
        assert first["recovery"]["from"] == ("log" if number else "nothing"), first["recovery"]
        fills = first["counters"]["fills"]
        daemon.wait_status(lambda s: s["counters"]["fills"] >= fills + 4, f"run {number}: fills")
        harness.wait_for(lambda: len(json.loads(daemon.papertape("fills", "--json"))["fills"]) >= fills + 4,
                         f"run {number}: fills in the log and the database")
        if how == "stop":
            assert daemon.stop() == 0
        else:
            daemon.popen.kill()
            daemon.popen.wait()
    assert replay.stop() == 0
    parity = equal_when_played(daemon, "a stop, a kill, and starts in the middle")
    assert parity["runs"] == 3, parity


def trails(folder):
    """Stops that trail by a share of the price, over a stop and a start: what is stored of each is what the log gives,
    though the best trade moved and the stop stayed on its tick."""
    replay = venue(folder, "--synthetic", "9", "--speed", "30")
    daemon = start(folder, replay, "BTCUSDT", "trails")
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book")
    daemon.papertape("order", "buy", "BTCUSDT", "0.2", "--account", "hand")
    daemon.wait_status(lambda s: any(p["account"] == "hand" for p in s["positions"]), "a position")
    for share in ("90%", "75%", "60%", "50%", "40%", "25%"):
        daemon.papertape("order", "sell", "BTCUSDT", "0.01", "--trail", share, "--account", "hand")
    rests = "SELECT count(*) FROM orders WHERE type = 'TRAILING_STOP' AND state = 'OPEN'"
    harness.wait_for(lambda: daemon.query(rests)[0][0] == 6, "six stops at rest")
    frames = daemon.status_object()["feed"]["frames"]
    daemon.wait_status(lambda s: s["feed"]["frames"] > frames + 2000, "trades")
    assert daemon.stop() == 0
    points = "SELECT count(*) FROM equity"
    before = daemon.query(points)[0][0]
    daemon = start(folder, replay, "BTCUSDT", "trails")
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book again")
    harness.wait_for(lambda: daemon.query(points)[0][0] > before, "a row of the second run, which parity then reaches")
    assert daemon.stop() == 0
    assert replay.stop() == 0
    parity = equal_when_played(daemon, "six trails over a stop and a start")
    assert parity["runs"] == 2, parity


def own_check(folder):
    """By command, as at night: the status says ok; with a fill altered it says where, and an alert does."""
    replay = venue(folder, "--synthetic", "12", "--speed", "20")
    daemon = start(folder, replay, "BTCUSDT", "checked")
    daemon.wait_status(lambda s: s["counters"] and s["counters"]["fills"] >= 4 and s["rests_on_database"] is not None, "fills")
    assert daemon.status_object()["parity"]["state"] == "none"

    def ask():
        client = harness.control(daemon, "parity", {})
        assert client["ok"] and client["result"]["state"] == "running", client
        return daemon.wait_status(lambda s: s["parity"]["state"] != "running", "the check")["parity"]

    found = ask()
    assert found["state"] == "ok" and found["days"] == 0 and found["seq"] > 0 and found["error"] is None, found
    assert daemon.stop() == 0

    alone, path, program = os.path.join(folder.path, "papertaped"), os.environ["PATH"], harness.DAEMON
    shutil.copy(program, alone)
    os.environ["PATH"], harness.programs.DAEMON = folder.path, alone
    daemon = start(folder, replay, "BTCUSDT", "checked")
    os.environ["PATH"], harness.programs.DAEMON = path, program
    daemon.wait_status(lambda s: s["symbols"] and s["rests_on_database"] is not None, "the engine, and what its log has")
    kept = ask()
    assert {**kept, "error": None} == found, (found, kept)
    assert "papertape must be beside papertaped" in kept["error"], kept
    harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'parity' AND text LIKE '%could not run%'"),
                     "the alert that nothing was compared")
    assert daemon.stop() == 0
    daemon = start(folder, replay, "BTCUSDT", "checked")
    daemon.wait_status(lambda s: s["symbols"] and s["parity"]["state"] == "ok", "what was found before")
    database = sqlite3.connect(os.path.join(daemon.state, "papertape.db"), timeout=harness.PATIENCE)
    first = database.execute("SELECT min(id) FROM fills").fetchone()[0]

    def change(by):
        database.execute("UPDATE fills SET price = price + ? WHERE id = ?", (by, first))
        database.commit()

    change(1)
    found = ask()
    assert found["state"] == "failed" and f"fills {first} price" in found["detail"], found
    harness.wait_for(lambda: daemon.query(f"SELECT text FROM alerts WHERE code = 'parity' AND severity = 'error' AND "
                                          f"text LIKE '%fills {first}%'"), "the alert")
    change(-1)
    database.close()
    assert ask()["state"] == "ok"
    assert daemon.stop() == 0

    # Days of agreement are of a log that is there.
    events = os.path.join(daemon.state, "events")
    shutil.rmtree(events)
    daemon = start(folder, replay, "BTCUSDT", "checked")
    lost = daemon.wait_status(lambda s: s["symbols"], "the engine without its log")["parity"]
    assert lost["state"] == "none" and lost["days"] is None and lost["since_ns"] is None, lost
    # Until the first event is in the new log there is no time to count from.
    second = harness.wait_for(lambda: next((reported for reported in [ask()] if reported["since_ns"]), None), "days of the new log")
    assert second["state"] == "ok" and second["since_ns"] > kept["since_ns"], (kept, second)

    fills = daemon.status_object()["counters"]["fills"]
    daemon.wait_status(lambda s: s["counters"]["fills"] >= fills + 2, "more of the log")
    segment = os.path.join(events, sorted(f for f in os.listdir(events) if f.endswith(".journal"))[0])
    with open(segment, "r+b") as file:
        file.seek(os.path.getsize(segment) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    altered = ask()
    assert altered["state"] == "failed" and "altered" in altered["detail"] and altered["days"] is None, altered
    harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'parity' AND severity = 'error' AND text "
                                          "LIKE '%altered%'"), "the alert of an altered log")
    daemon.stop()
    assert replay.stop() == 0
    print(f"its own check: ok; {kept['error']}; a changed price: {found['detail']}; {altered['detail']}")


def recorded_and_played(folder):
    """--record keeps frames and replies; papertape-replay plays them, and the ledger is the same."""
    replay = venue(folder, "--synthetic", "14", "--speed", "max", seconds=SECONDS)
    directory = os.path.join(folder.path, "frames")
    daemon = start(folder, replay, "BTCUSDT, ETHUSDT", "recorded", "--record", directory)
    until(daemon, START_MS + SECONDS * 1000 - 1500, "the end of the market")
    events = daemon.status_object()["events"]
    assert events["recording"]["state"] == "ok" and events["state"] == "ok", events
    assert daemon.stop() == 0
    assert replay.stop() == 0
    equal_when_played(daemon, "recorded with its frames")
    last_ns = daemon.query("SELECT max(ts_ns) FROM ledger")[0][0]
    live = daemon.papertape("ledger", "export", "--csv").splitlines()

    replay = venue(folder, "--venue", "binance", "--recording", directory, "--speed", "max")
    again = start(folder, replay, "BTCUSDT, ETHUSDT", "again")
    until(again, last_ns // 1000000, "the last of the recording's trades")
    assert again.stop() == 0
    assert replay.stop() == 0
    played = again.papertape("ledger", "export", "--csv").splitlines()
    common = [line for line in played if int(line.split(",")[1] if line[0].isdigit() else 0) < last_ns - 10**9]
    assert len(common) > 10 and common == live[:len(common)], next((a, b) for a, b in zip(common, live) if a != b)
    print(f"a recording with its frames played as a venue: {len(common) - 1} ledger rows equal")


def main():
    print(f"counts: {SECONDS} s of the synthetic market" + ("" if harness.LONG else " (--long: 1800 s)"), flush=True)
    with harness.Folder() as folder:
        synthetic(folder)
        stopped_in_between(folder)
        trails(folder)
        own_check(folder)
        recorded_and_played(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
