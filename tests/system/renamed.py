#!/usr/bin/env python3
"""A stock whose name changes in the middle: position, order, bars and account continue under the new name, in the next runs and in
a database built from the log too, though the configuration has the old name. One that is listed no longer ends, in words."""

import datetime
import os
import shutil
import subprocess
import sys

import harness
import stock_bars

FIRST, END = datetime.date(2025, 11, 28), datetime.date(2025, 12, 2)
RENAME = ("--action", "rename:OLD:NEW:2025-12-01")


def begin(folder, name, paths, state, *arguments, fate=RENAME):
    replay = folder.start(harness.Alpaca(folder.within(name), "--bars", *paths, *fate, *arguments))
    config = harness.alpaca_config(replay.keys, harness.IDLE_ACCOUNT, symbols="OLD, STAYS")
    return replay, folder.start(harness.Daemon(folder.path, replay, config, name=name, state=state))


def names(status):
    return [x["symbol"] for x in status["symbols"]]


def held(daemon):
    """What is held and what rests, by name."""
    return daemon.query("SELECT s.name, p.qty > 0 FROM positions p JOIN symbols s ON s.id = p.symbol WHERE p.qty != 0") + \
        daemon.query("SELECT s.name, o.state FROM orders o JOIN symbols s ON s.id = o.symbol WHERE o.type = 'LIMIT'")


def whole(daemon):
    for verb in (("ledger", "verify"), ("events", "verify"), ("parity",)):
        daemon.papertape(*verb)


def before(folder, paths):
    """Bought, and a limit order that rests, under the first name."""
    replay, daemon = begin(folder, "before", paths, "state", "--speed", "60", "--from", "2025-11-28T14:31:00Z")
    daemon.frames("OLD", "bookTicker", 2)
    for order in ({"side": "buy", "qty": "10"}, {"side": "buy", "qty": "5", "type": "limit", "limit": "1", "tif": "gtc"}):
        placed = harness.control(daemon, "order", {"account": "usd", "symbol": "OLD", **order})
        assert placed["ok"], placed
    daemon.wait_status(lambda s: s["positions"], "a position")
    assert daemon.stop() == 0 and replay.stop() == 0
    assert held(daemon) == [("OLD", 1), ("OLD", "OPEN")], held(daemon)


def change(folder, paths):
    """The day on which the name changes, at its first moment."""
    replay, daemon = begin(folder, "change", paths, "state", "--speed", "max", "--from", "2025-12-01T08:50:00Z", "--to", "2025-12-01T15:00:00Z")
    status = daemon.wait_status(lambda s: s["now_ns"] >= 1764601100 * 10**9 and s["symbols"], "three in the afternoon")
    assert names(status) == ["NEW", "STAYS"] and status["symbols"][0]["last"] and status["positions"][0]["symbol"] == "NEW", status
    assert all(x["frames"] > 50 for x in status["feed"]["streams"]), status["feed"]["streams"]
    sent = harness.control(daemon, "streams", {"venue": "alpaca"})["result"]["streams"]
    assert "trades:NEW" in sent and "trades:OLD" not in sent, sent
    assert daemon.stop() == 0 and replay.stop() == 0
    assert held(daemon) == [("NEW", 1), ("NEW", "OPEN")], held(daemon)
    assert not daemon.query("SELECT text FROM alerts WHERE code IN ('delisted', 'SYMBOL_GONE', 'left-out', 'symbol')")
    said = daemon.query("SELECT text FROM alerts WHERE code = 'renamed'")
    assert said == [("alpaca: OLD is NEW from now on: its position, orders and bars continue",)], said
    events = daemon.papertape("events", "show", "--seq", "1", "--n", "1000000")
    assert events.count("SYMBOL OLD: its name is NEW from now on") == 1, events[-2000:]
    stored = daemon.query("SELECT s.name, s.base, count(*) > 20, min(b.open_ns) < 1764550000000000000 FROM bars b JOIN symbols s ON s.id = b.symbol GROUP BY s.id")
    assert stored == [("NEW", "OLD", 1, 1), ("STAYS", "STAYS", 1, 1)], stored
    whole(daemon)


def after(folder, paths):
    """The next run, of a configuration with the old name; then a database that is made from the log alone, and one more run."""
    replay, daemon = begin(folder, "after", paths, "state", "--speed", "max", "--from", "2025-12-01T15:01:00Z", "--to", "2025-12-01T15:30:00Z")
    status = daemon.wait_status(lambda s: s["now_ns"] >= 1764602900 * 10**9 and s["symbols"], "half past three")
    assert names(status) == ["NEW", "STAYS"] and status["positions"][0]["symbol"] == "NEW", status
    assert daemon.stop() == 0 and replay.stop() == 0
    assert held(daemon) == [("NEW", 1), ("NEW", "OPEN")], held(daemon)
    whole(daemon)
    os.unlink(f"{daemon.state}/papertape.db")
    done = subprocess.run([harness.DAEMON, "--rebuild", "--config", daemon.config, "--state", daemon.state], capture_output=True, text=True)
    assert done.returncode == 0, done
    replay, daemon = begin(folder, "rebuilt", paths, "state", "--speed", "max", "--from", "2025-12-01T15:31:00Z", "--to", "2025-12-01T15:40:00Z")
    status = daemon.wait_status(lambda s: s["now_ns"] >= 1764603500 * 10**9 and s["symbols"], "nearly forty past three")
    assert names(status) == ["NEW", "STAYS"], status
    assert daemon.stop() == 0 and replay.stop() == 0
    assert held(daemon) == [("NEW", 1), ("NEW", "OPEN")], held(daemon)


def ended(folder, paths):
    """The venue lists it no longer, and says nothing of another name."""
    replay, daemon = begin(folder, "ended", paths, "ended-state", "--speed", "max", "--from", "2025-11-28T15:00:00Z", "--to", "2025-12-01T15:00:00Z",
                           fate=("--fault", "delist@600s:OLD"))
    status = daemon.wait_status(lambda s: s["now_ns"] >= 1764601100 * 10**9 and s["symbols"], "three in the afternoon")
    assert names(status) == ["OLD", "STAYS"] and status["positions"][0]["symbol"] == "OLD", status
    assert daemon.stop() == 0 and replay.stop() == 0
    assert held(daemon) == [("OLD", 1), ("OLD", "CANCELED")], held(daemon)
    said = dict(daemon.query("SELECT code, text FROM alerts WHERE code IN ('delisted', 'SYMBOL_GONE')"))
    assert said == {"delisted": "alpaca: OLD is listed no longer",
                    "SYMBOL_GONE": "OLD is listed no longer: its orders are cancelled, what is held of it stays"}, said
    whole(daemon)


def main():
    with harness.Folder() as folder:
        paths = stock_bars.write_all(folder.path, ["OLD", "STAYS"], FIRST, END)
        before(folder, paths)
        shutil.copytree(os.path.join(folder.path, "state"), os.path.join(folder.path, "ended-state"))
        ended(folder, paths)
        change(folder, paths)
        after(folder, paths)
    print("renamed: one position, one order and one series of bars, under the new name")


if __name__ == "__main__":
    sys.exit(main())
