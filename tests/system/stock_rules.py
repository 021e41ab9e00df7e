#!/usr/bin/env python3
"""Accounts by the rules for stocks, on a replay of Alpaca's: a loan and its limit, day trades, cash that is not settled yet, as
`order`, `account list`, the status and the dashboard say it; the ledger, a restart and the log agree."""

import json

import harness

CONFIG = """[market]
venue = alpaca
symbols = AAPL
interval = 1m
history = 5
streams = trade, kline, bookTicker
[engine]
clock = feed
latency_ms = 0
[risk]
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
orders_per_second = 0
[venue alpaca]
keys = {keys}
feed = sip
[account reg]
currency = USD
cash = 100000
margin = regt
settlement = by-date
shorts = on
strategy = none
[account cash]
currency = USD
cash = 10000
settlement = strict
strategy = none
"""


def account(daemon, name):
    return next(a for a in daemon.status_object()["accounts"] if a["account"] == name)


def listed(daemon, name):
    return next(a for a in json.loads(daemon.papertape("account", "list", "--json"))["accounts"] if a["account"] == name)


def order(daemon, name, side, qty, status=0):
    said = daemon.papertape("order", side, "AAPL", str(qty), "--account", name, "--json" if status == 0 else "--yes", status=status)
    return said


def trade(daemon, name, side, qty):
    before = sum(p["qty"] for p in daemon.status_object()["positions"] if p["account"] == name)
    daemon.papertape("order", side, "AAPL", str(qty), "--account", name)
    want = before + (qty if side == "buy" else -qty)
    daemon.wait_status(lambda s: abs(sum(p["qty"] for p in s["positions"] if p["account"] == name) - want) < 1e-9, f"{side} {qty} of {name}")


def refused(daemon, name, side, qty):
    return daemon.papertape("order", side, "AAPL", str(qty), "--account", name, status=1)


def main():
    with harness.Folder() as folder:
        keys = harness.write_keys(folder.path, "keys", "hush")
        replay = folder.start(harness.Replay(folder.path, "--venue", "alpaca", "--synthetic", "5", "--speed", "1", "--keys", "PKTEST:hush",
                                             "--from", "2026-03-10T15:00:00Z", "--to", "2026-03-10T19:00:00Z"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(keys=keys)))
        price = daemon.wait_status(lambda s: s["symbols"][0]["last"] and s["symbols"][0]["ask"], "a price")["symbols"][0]["ask"]
        most = int(200000 / price)
        assert "INITIAL_MARGIN" in refused(daemon, "reg", "buy", int(most * 1.05))
        trade(daemon, "reg", "buy", int(most * 0.9))
        now = account(daemon, "reg")
        assert now["margin"] == "regt" and 70000 < now["debt"] < 90000 and now["cash"] == 0, now
        assert abs(now["excess"] - (now["equity"] - now["maintenance_margin"])) < 0.02, now
        assert abs(now["initial_margin"] - 2 * now["maintenance_margin"]) < 0.02 and 0 < now["buying_power"] < 40000, now
        assert "INITIAL_MARGIN" in refused(daemon, "reg", "buy", int(most * 0.3))
        trade(daemon, "reg", "sell", int(most * 0.9))
        now = account(daemon, "reg")
        assert now["debt"] == 0 and now["day_trades"] == 1 and not now["day_trader"], now
        trade(daemon, "cash", "buy", int(9000 / price))
        trade(daemon, "cash", "sell", int(9000 / price))
        now = account(daemon, "cash")
        assert now["unsettled"] > 8000 and now["settled"] < 2000 and now["settles_ns"], now
        assert "UNSETTLED_CASH" in refused(daemon, "cash", "buy", int(8000 / price))
        assert "UNSETTLED_CASH" in daemon.papertape("account", "withdraw", "cash", "5000", status=1)
        for name in ("reg", "cash"):
            row, now = harness.wait_for(lambda: same(daemon, name), f"the list's {name} as the status has it")
            assert row["settlement"] == now["settlement"], (row, now)
        table = daemon.papertape("account", "list")
        assert "maintenance_margin" in table and "2026-03-11" in table, table
        for size in ("80x24", "160x50"):
            screen = daemon.papertape("--dump-screen", size, status=None)
            assert "regt" in screen and "unsettled" in screen and "buys" in screen, screen
        assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
        before = {name: account(daemon, name) for name in ("reg", "cash")}
        assert daemon.stop() == 0
        assert json.loads(daemon.papertape("parity", "--json"))["ok"] is True
        again = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(keys=keys)))
        again.wait_status(lambda s: s["accounts"], "the accounts")
        for name, was in before.items():
            now = account(again, name)
            for field in ("day_trades", "unsettled", "settles_ns", "debt"):
                assert now[field] == was[field], (name, field, now, was)
        assert again.stop() == 0
        print(f"bought {int(most * 0.9)} of {most} at {price}; one day trade, {before['cash']['unsettled']} unsettled; the log agrees")


def same(daemon, name):
    row, now = listed(daemon, name), account(daemon, name)
    fields = ("initial_margin", "maintenance_margin", "debt", "day_trades", "unsettled", "settles_ns", "violations")
    return (row, now) if all(row[f] == now[f] or now[f] is None for f in fields) else None


main()
