#!/usr/bin/env python3
"""Accounts by the rules for stocks, on a replay of Alpaca's: a loan and its limit, day trades, cash that is not settled yet, as
`order`, `account list`, the status and the dashboard say it; the ledger, a restart and the log agree."""

import json
import re

import harness

ACCOUNTS = """[account reg]
currency = USD
cash = 5000
margin = regt
settlement = by-date
shorts = on
strategy = none
[account cash]
currency = USD
cash = 3000
settlement = strict
strategy = none
"""


def account(daemon, name):
    return next(a for a in daemon.status_object()["accounts"] if a["account"] == name)


def listed(daemon, name):
    return next(a for a in json.loads(daemon.papertape("account", "list", "--json"))["accounts"] if a["account"] == name)


def held(status, name):
    return round(sum(p["qty"] for p in status["positions"] if p["account"] == name))


def trade(daemon, name, side, qty):
    """At market, again for what a quote did not offer."""
    sign = 1 if side == "buy" else -1
    want = held(daemon.status_object(), name) + sign * qty
    while (left := sign * (want - held(daemon.status_object(), name))) > 0:
        daemon.papertape("order", side, "AAPL", str(left), "--account", name)
        daemon.wait_status(lambda s: not [o for o in s["orders"] if o["account"] == name], f"{side} {left} of {name}")


def refused(daemon, name, side, qty):
    return daemon.papertape("order", side, "AAPL", str(qty), "--account", name, status=1)


def amounts(text, reason, needed, available, asset):
    """The refusal names them, about those of the price that it was asked at."""
    found = re.search(r"([0-9.]+) (\S+) needed, ([0-9.]+) available", text)
    assert reason in text and found and found[2] == asset, text
    for figure, about in ((float(found[1]), needed), (float(found[3]), available)):
        assert abs(figure - about) <= 0.03 * about, (text, needed, available)


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Alpaca(folder.path, "--synthetic", "5", "--speed", "20", "--from", "2026-03-10T15:00:00Z",
                                             "--to", "2026-03-10T19:00:00Z"))
        config = harness.alpaca_config(replay.keys, harness.NO_LIMITS + ACCOUNTS)
        daemon = folder.start(harness.Daemon(folder.path, replay, config))
        price = daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last"] and s["symbols"][0]["ask"], "a price")["symbols"][0]["ask"]
        most = int(10000 / price)
        amounts(refused(daemon, "reg", "buy", int(most * 1.05)), "INITIAL_MARGIN", int(most * 1.05) * price, 10000, "USD")
        amounts(refused(daemon, "cash", "buy", int(most * 0.5)), "INSUFFICIENT_BALANCE", int(most * 0.5) * price, 3000, "USD")
        amounts(refused(daemon, "cash", "sell", 7), "INSUFFICIENT_BALANCE", 7, 0, "AAPL")
        amounts(daemon.papertape("account", "withdraw", "cash", "3500", status=1), "INSUFFICIENT_BALANCE", 3500, 3000, "USD")
        at_close = ("order", "buy", "AAPL", "1", "--tif", "cls", "--account", "cash")
        waits = "waits for the close, 2026-03-10 16:00 New York (20:00Z)\n"
        dry, given = daemon.papertape(*at_close, "--dry-run"), daemon.papertape(*at_close)
        assert "\n" + waits in dry and re.search(r"\norder \d+ " + re.escape(waits), given), (dry, given)
        daemon.papertape("order", "cancel", "--all", "--account", "cash")
        trade(daemon, "reg", "buy", int(most * 0.9))
        now = account(daemon, "reg")
        assert now["margin"] == "regt" and 3000 < now["debt"] < 5000 and now["cash"] == 0, now
        assert abs(now["excess"] - (now["equity"] - now["maintenance_margin"])) < 0.02, now
        assert abs(now["initial_margin"] - 2 * now["maintenance_margin"]) < 0.02 and 0 < now["buying_power"] < 2500, now
        assert "INITIAL_MARGIN" in refused(daemon, "reg", "buy", int(most * 0.3))
        lent = now["debt"]
        daemon.papertape("account", "deposit", "reg", "100")
        harness.wait_for(lambda: abs(account(daemon, "reg")["debt"] - (lent - 100)) < 0.01, "the deposit to pay back")
        trade(daemon, "reg", "sell", int(most * 0.9))
        now = account(daemon, "reg")
        assert now["debt"] == 0 and now["day_trades"] == 1 and not now["day_trader"], now
        trade(daemon, "cash", "buy", int(2800 / price))
        trade(daemon, "cash", "sell", int(2800 / price))
        now = account(daemon, "cash")
        assert now["unsettled"] > 2000 and now["settled"] < 800 and now["settles_ns"], now
        text = refused(daemon, "cash", "buy", int(2000 / price))
        amounts(text, "UNSETTLED_CASH", int(2000 / price) * price, now["settled"], "USD")
        assert f"{now['unsettled']:.2f}"[:-1] in text and "not settled" in text, (text, now)
        assert "UNSETTLED_CASH" in daemon.papertape("account", "withdraw", "cash", "2000", status=1)
        for name in ("reg", "cash"):
            row, now = harness.wait_for(lambda: same(daemon, name), f"the list's {name} as the status has it")
            assert row["settlement"] == now["settlement"], (row, now)
        table = daemon.papertape("account", "list")
        assert "maintenance_margin" in table and "2026-03-11" in table, table
        for size in ("80x24", "160x50"):
            screen = daemon.papertape("--dump-screen", size, "--tab", "5", status=None)
            assert "regt" in screen and "unsettled" in screen and "buys" in screen, screen
        assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
        before = {name: account(daemon, name) for name in ("reg", "cash")}
        assert daemon.stop() == 0
        assert json.loads(daemon.papertape("parity", "--json"))["ok"] is True
        again = folder.start(harness.Daemon(folder.path, replay, config))
        again.wait_status(lambda s: s["accounts"], "the accounts")
        for name, was in before.items():
            now = account(again, name)
            for field in ("day_trades", "unsettled", "settles_ns", "debt"):
                assert now[field] == was[field], (name, field, now, was)
        again.wait_status(lambda s: s["symbols"] and s["symbols"][0]["ask"], "a price again")
        trade(again, "reg", "buy", int(most * 0.8))
        again.papertape("account", "reset", "reg")
        now = harness.wait_for(lambda: account(again, "reg")["cash"] == 5000 and account(again, "reg"), "the reset")
        assert now["debt"] == 0 and now["day_trades"] == 0, now
        assert json.loads(again.papertape("ledger", "verify", "--json"))["ok"] is True
        assert again.stop() == 0
        print(f"bought {int(most * 0.9)} of {most} at {price}; one day trade, {before['cash']['unsettled']} unsettled; the log agrees")


def same(daemon, name):
    row, now = listed(daemon, name), account(daemon, name)
    fields = ("initial_margin", "maintenance_margin", "debt", "day_trades", "unsettled", "settles_ns", "violations")
    return (row, now) if all(row[f] == now[f] or now[f] is None for f in fields) else None


main()
