#!/usr/bin/env python3
"""After a clean stop every total agrees everywhere, exactly: of accounts in two currencies that traded and hold positions, `account list`,
the last points of `equity`, `positions` and `equity --marks`, the closing of `statement`, `report`, the balances of `ledger verify`,
`ledger export`, its journal for hledger where that is installed, --once, and the realized gains of `positions`, `gains` and `statement`."""

import collections
import csv
import decimal
import io
import json
import os
import shutil
import subprocess

import harness
import totals

CONFIG = totals.CONFIG[:totals.CONFIG.index("[account one]")] + """[account coins]
cash = 10000.5
strategy = none
[account more]
cash = 20000
strategy = none
shorts = on
[account dollars]
currency = USD
cash = 148545
strategy = none
"""
CURRENCIES = {"coins": "USDT", "more": "USDT", "dollars": "USD"}
decimal.getcontext().prec = 60
D = decimal.Decimal


def rows(daemon, *verb):
    return list(csv.DictReader(io.StringIO(daemon.papertape(*verb, "--csv"))))


def objects(daemon, *verb):
    return json.loads(daemon.papertape(*verb, "--json"), parse_float=D, parse_int=D)


def trade(daemon):
    for account, side, symbol, qty in (("coins", "buy", "BTCUSDT", "0.05"), ("coins", "sell", "BTCUSDT", "0.02"), ("coins", "buy", "ETHUSDT", "0.7"),
                                       ("more", "sell", "ETHUSDT", "1.5"), ("more", "buy", "ETHUSDT", "0.4"), ("dollars", "buy", "BTC/USD", "0.31"),
                                       ("dollars", "sell", "BTC/USD", "0.11")):
        daemon.papertape("order", side, symbol, qty, "--account", account)
        daemon.wait_status(lambda s: not s["orders"], f"{side} of {account}")
    daemon.papertape("account", "transfer", "more", "coins", "250")
    daemon.papertape("account", "withdraw", "dollars", "45.25")


def by(rows, value, *keys):
    """Sums of a column."""
    sums = collections.Counter()
    for row in rows:
        sums[tuple(row[key] for key in keys)] += D(row[value])
    return dict(sums)


def check_marks(daemon, positions):
    """Each position is at its mark of the stop: what it is worth follows."""
    newest = {}
    for mark in rows(daemon, "equity", "--marks"):
        newest[mark["account"], mark["symbol"]] = mark
    held = {(p["account"], p["symbol"]): p for p in positions if D(p["qty"])}
    assert set(newest) == set(held) and len(held) == 4, (newest, held)
    for key, mark in newest.items():
        position = held[key]
        assert all(D(mark[name]) == D(position[name]) for name in ("qty", "mark")) and mark["mark_ns"] == position["mark_ts_ns"], (mark, position)
    return newest


def check_ledger(daemon, cash):
    """Cash, and every other asset."""
    assets = by(rows(daemon, "ledger", "export"), "amount", "account", "asset")
    verified = {(b["account"], b["asset"]): D(b["balance"]) for b in objects(daemon, "ledger", "verify")["balances"]}
    assert {key: total for key, total in verified.items() if total} == {key: total for key, total in assets.items() if total}, (verified, assets)
    borrowed = by([row for row in rows(daemon, "ledger", "export") if row["kind"] == "borrow"], "amount", "account", "asset")
    for name, currency in CURRENCIES.items():
        assert assets[name, currency] - borrowed.get((name, currency), 0) == cash[name], (name, assets, borrowed, cash)
    if not shutil.which("hledger"):
        print("no hledger: its balances are not compared")
        return assets
    journal = os.path.join(daemon.state, "books.journal")
    daemon.papertape("ledger", "export", "--hledger", "--output", journal)
    subprocess.run(["hledger", "-f", journal, "check", "--strict"], check=True, timeout=harness.PATIENCE)
    listed = subprocess.run(["hledger", "-f", journal, "balance", "--flat", "--no-total", "-O", "csv", "--layout", "bare", "^assets:"], check=True,
                            capture_output=True, text=True, timeout=harness.PATIENCE).stdout
    theirs = {tuple(account.split(":")[1:]): D(amount) for account, _, amount in list(csv.reader(io.StringIO(listed)))[1:]}
    assert theirs == {key: total for key, total in assets.items() if total}, (theirs, assets)
    return assets


def check_gains(daemon, positions, statement):
    """By average cost and first in, first out."""
    average, fifo = (by(positions, name, "account") for name in ("realized", "fifo_realized"))
    gains = by(rows(daemon, "gains"), "gain", "account")
    first = {one["account"]: D(one["realized"]) for one in objects(daemon, "statement", "--method", "fifo")["accounts"]}
    for name in CURRENCIES:
        assert average[name,] == D(statement[name]["realized"]), (name, average, statement[name])
        assert fifo[name,] == first[name] == gains.get((name,), 0), (name, fifo, first, gains)
        assert by(positions, "fees", "account")[name,] == D(statement[name]["fees"]), name
    assert all(average.values()), average


def check_shown(daemon, equity):
    """--once and `account list` have the sum of each currency."""
    sums = {currency: sum(equity[name] for name in CURRENCIES if CURRENCIES[name] == currency) for currency in set(CURRENCIES.values())}
    listed = {total["currency"]: D(total["equity"]) for total in objects(daemon, "account", "list")["totals"]}
    assert listed == sums, (listed, sums)
    once = daemon.papertape("--once", status=3)
    for currency, total in sums.items():
        line = next(line.split() for line in once.splitlines() if line.startswith(f"total     {currency} "))
        assert D(line[3].replace(",", "")) == total.quantize(D("0.01"), decimal.ROUND_HALF_EVEN), (line, total)
    return sums


def agrees(daemon):
    equity = {row["account"]: D(row["equity"]) for row in rows(daemon, "equity")}
    cash = {row["account"]: D(row["cash"]) for row in rows(daemon, "equity")}
    positions = rows(daemon, "positions", "--all")
    statement = {one["account"]: one for one in objects(daemon, "statement")["accounts"]}
    report = {one["account"]: one for one in objects(daemon, "report")["accounts"]}
    marks = check_marks(daemon, positions)
    assert set(equity) == set(CURRENCIES) == set(statement) == set(report)
    listed = {one["account"]: D(one["equity"]) for one in objects(daemon, "account", "list")["accounts"]}
    values = by(positions, "value", "account")
    for name in CURRENCIES:
        stated = statement[name]
        assert equity[name] == listed[name] == D(stated["closing"]) == D(report[name]["closing"]) == cash[name] + values[name,], \
            (name, equity, listed, stated["closing"], report[name]["closing"], cash, values)
        assert D(stated["closing_cash"]) == cash[name], (stated, cash)
        assert {(mark["symbol"], D(mark["mark"]), mark["mark_ns"]) for mark in stated["marks"] if mark["moment"] == "closing"} == \
            {(symbol, D(mark["mark"]), D(mark["mark_ns"])) for (account, symbol), mark in marks.items() if account == name}, (stated, marks)
    check_ledger(daemon, cash)
    check_gains(daemon, positions, statement)
    sums = check_shown(daemon, equity)
    print("agree after a clean stop: " + ", ".join(f"{total} {currency}" for currency, total in sorted(sums.items())))


def main():
    with harness.Folder() as scratch:
        daemon = totals.start(scratch, CONFIG)
        daemon.wait_status(totals.priced, "prices")
        trade(daemon)
        assert daemon.stop() == 0, daemon.log_text()
        agrees(daemon)


if __name__ == "__main__":
    main()
