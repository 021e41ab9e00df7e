#!/usr/bin/env python3
"""What a venue changes, forbids or garbles while the daemon runs: halts, filters, a delisting; a ban, which the next run knows of;
and frames that cannot be read, reported when they are many."""

import signal
import sys
import time

import harness

CONFIG = """[market]
symbols = {symbols}
interval = 1s
history = 10
[feed]
refresh_s = 0.3
[engine]
latency_ms = 0
[account hand]
strategy = none
"""


def codes(daemon):
    return [row[0] for row in daemon.query("SELECT code FROM alerts")]


def symbol(status, name):
    return next(x for x in status["symbols"] if x["symbol"] == name)


def changes(folder):
    """A halt and its end, other filters, and a delisting with a position and an order in it."""
    place = folder.within("changes")
    replay = folder.start(harness.Replay(place, "--synthetic", "5", "--fault", "status@3s:BTCUSDT=HALT", "--fault",
                                         "status@9s:BTCUSDT=TRADING", "--fault", "filters@10s:BTCUSDT", "--fault", "delist@14s:ETHUSDT"))
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT, ETHUSDT")))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" for x in s["symbols"]), "both books")
    order = {"account": "hand", "symbol": "ETHUSDT", "side": "buy", "qty": "0.1"}
    assert harness.control(daemon, "order", order)["ok"]
    assert harness.control(daemon, "order", dict(order, limit="1000"))["ok"]
    least = daemon.query("SELECT qty_min FROM symbols WHERE name = 'BTCUSDT'")[0][0]

    def halted():
        refused = harness.control(daemon, "order", dict(order, symbol="BTCUSDT", qty="0.001"))
        return refused.get("error", {}).get("code") == "SYMBOL_HALTED" and symbol(daemon.status_object(), "BTCUSDT")["trading"] == "halted"
    harness.wait_for(halted, "an order that is refused for the halt, which the status shows too")
    harness.wait_for(lambda: harness.control(daemon, "order", dict(order, symbol="BTCUSDT", qty="0.001"))["ok"], "the halt's end")
    assert symbol(daemon.status_object(), "BTCUSDT")["trading"] == "trades", daemon.status_object()["symbols"]
    harness.wait_for(lambda: daemon.query("SELECT qty_min FROM symbols WHERE name = 'BTCUSDT'")[0][0] != least, "other filters")
    status = daemon.wait_status(lambda s: symbol(s, "ETHUSDT")["trading"] == "ended", "the delisting")
    assert [p["symbol"] for p in status["positions"] if p["symbol"] == "ETHUSDT"], status["positions"]
    daemon.wait_status(lambda s: not [o for o in s["orders"] if o["symbol"] == "ETHUSDT"], "its orders cancelled")
    assert "not closed ETHUSDT account hand: the venue lists it no longer\n" in daemon.papertape("flatten", "--yes", status=1)
    harness.wait_for(lambda: {"symbol-trading", "symbol-filters", "delisted"} <= set(codes(daemon)), "the alerts")
    assert daemon.stop() == 0

    # The next run's venue does not know it at all: what is held of it is kept and shown.
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT, ETHUSDT"), name="next"))
    status = daemon.wait_status(lambda s: s["symbols"] and symbol(s, "BTCUSDT")["book"] == "synced", "the next run")
    assert symbol(status, "ETHUSDT")["trading"] == "ended", status["symbols"]
    assert [p["symbol"] for p in status["positions"] if p["symbol"] == "ETHUSDT"], status["positions"]
    assert daemon.stop() == 0 and replay.stop() == 0
    print("changes: a halt and its end, other filters, a delisting with a position in it")


def ban(folder):
    """The address is banned for seconds: nothing is asked meanwhile, by the next run neither; then all continues."""
    place = folder.within("ban")
    replay = folder.start(harness.Replay(place, "--synthetic", "5", "--fault", "ban@12+5s"))
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT")))
    status = daemon.wait_status(lambda s: s["venues"][0]["banned_until_ns"], "the ban")
    until = status["venues"][0]["banned_until_ns"]
    assert harness.wait_for(lambda: daemon.query("SELECT venue, until_ns FROM venue_bans"), "its row") == [("binance", until)]
    harness.wait_for(lambda: "banned" in codes(daemon), "its alert")
    daemon.stop(signal.SIGKILL)

    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT"), name="next"))
    status = daemon.wait_status(lambda s: True, "the next run")
    if time.time_ns() < until - 10**9:
        venue = status["venues"][0]
        assert venue["banned_until_ns"] == until and venue["requests"] == 0 and venue["connects"] == 0, venue
    status = daemon.wait_status(lambda s: s["symbols"] and symbol(s, "BTCUSDT")["book"] == "synced", "the ban's end")
    assert status["now_ns"] >= until - 10**9, (status["now_ns"], until)
    harness.wait_for(lambda: daemon.query("SELECT until_ns FROM venue_bans") in ([], [(0,)]), "a ban that is forgotten")
    assert daemon.stop() == 0 and replay.stop() == 0
    print("ban: known to the next run, over at", until)


def garbled(folder):
    """One bad frame is reported once; many are another alert."""
    place = folder.within("garbled")
    replay = folder.start(harness.Replay(place, "--synthetic", "5", "--speed", "60", "--fault", "garbage"))
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT, ETHUSDT")))
    status = daemon.wait_status(lambda s: s["venues"][0]["bad_per_minute"] >= 10, "ten bad frames")
    harness.wait_for(lambda: {"bad-frame", "bad-frames"} <= set(codes(daemon)), "both alerts")
    assert codes(daemon).count("bad-frames") == 1, codes(daemon)
    assert daemon.stop() == 0 and replay.stop() == 0
    print("garbled:", status["venues"][0]["bad_frames"], "bad frames")


def main():
    with harness.Folder() as folder:
        harness.together(folder, changes, ban, garbled)


if __name__ == "__main__":
    sys.exit(main())
