#!/usr/bin/env python3
"""The books of a daemon, from its exports alone: each row of the ledger joins a cause, and that a fill, an action, another account or a
command; fees and interest are computed again in Decimal; an account's terms and epochs stay; a closed account takes no command."""

import csv
import decimal
import io
import json
import os
import sys
from decimal import ROUND_CEILING, Decimal

import harness

decimal.getcontext().prec = 60
HOURS = Decimal(24 * 365)

COINS = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1m
history = 5
[engine]
latency_ms = 0
clock = feed
[risk]
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
orders_per_second = 0
[account main]
cash = 100000
strategy = none
shorts = on
{more}
[account other]
cash = 1000
strategy = none
"""

STOCKS = harness.NO_LIMITS + """[account reg]
currency = USD
cash = 5000
margin = regt
borrow_rate = 0.08
regulatory_fees = on
strategy = none
"""


def rows(daemon, *verb):
    return list(csv.DictReader(io.StringIO(daemon.papertape(*verb, "--csv"))))


def up(value, text):
    """Rounded up to the last decimal that `text` has."""
    return value.quantize(Decimal(text), rounding=ROUND_CEILING)


def order(daemon, account, *words):
    daemon.papertape("order", *words, "--account", account)
    daemon.wait_status(lambda s: not s["orders"], f"{words} of {account}")


def kinds(daemon):
    return {row["cause"] for row in rows(daemon, "ledger", "causes")}


# ---- from the exports ----

def check_fees(fills):
    liquidity = set()
    for fill in fills:
        assert Decimal(fill["base"]) == Decimal(fill["notional"]), fill
        sales = Decimal(fill["sec_fee"] or 0) + Decimal(fill["taf_fee"] or 0)
        assert up(Decimal(fill["base"]) * Decimal(fill["rate"]), fill["fee"]) + sales == Decimal(fill["fee"]), fill
        assert fill["liquidity"] == ("maker" if fill["maker"] in ("1", "true") else "taker"), fill
        liquidity.add(fill["liquidity"])
    return liquidity


def check_interest(row, terms):
    base, rate = Decimal(row["base"]), Decimal(row["rate"])
    if row["price"]:
        assert Decimal(row["qty"]) < 0 and up(-Decimal(row["qty"]) * Decimal(row["price"]), row["base"]) == base, row
    due = up(base * rate * Decimal(row["hours"]) / HOURS, row["due"])
    assert due == Decimal(row["due"]) == -Decimal(row["amount"]), (row, due)
    then = [t for t in terms if t["account"] == row["account"] and int(t["event"]) < int(row["event"])]
    assert Decimal(then[-1]["borrow_rate"]) == rate, (row, then)


def check_joins(daemon):
    """Every row of the ledger with its cause, and that with what it names."""
    fills, terms = rows(daemon, "fills"), rows(daemon, "account", "terms")
    causes = {row["id"]: row for row in rows(daemon, "ledger", "causes")}
    commands = {row["id"]: row for row in rows(daemon, "commands")}
    actions = {(row["symbol"], row["id"]) for row in rows(daemon, "actions")}
    ledger = rows(daemon, "ledger", "export")
    by_fill = {fill["fill"]: fill for fill in fills}
    assert len(causes) == len(ledger)
    for entry in ledger:
        row = causes[entry["id"]]
        assert row["cause"] and row["event"] and row["derived"] in ("0", "false"), row
        assert all(row[a] == entry[b] for a, b in (("account", "account"), ("amount", "amount"), ("fill", "fill_id"), ("order", "order_id")))
        if row["cause"] == "fill":
            fill = by_fill[row["fill"]]
            assert fill["symbol"] == row["symbol"] and fill["account"] == row["account"], (row, fill)
        if row["cause"] == "interest":
            check_interest(row, terms)
        if row["cause"] in ("dividend", "split"):
            assert (row["symbol"], row["action"]) in actions and row["qty"], (row, actions)
        if row["cause"] == "transfer":
            assert any(other["account"] == row["counterparty"] and Decimal(other["amount"]) == -Decimal(row["amount"])
                       and other["counterparty"] == row["account"] and other["event"] == row["event"] for other in causes.values()), row
        if row["cause"] in ("deposit", "withdrawal", "transfer", "reset"):
            command = commands[row["command"]]
            assert command["uid"] == row["uid"] == str(os.getuid()) and command["event"] == row["event"], (row, command)
            assert command["key"] == row["key"] and command["state"] == "done", (row, command)
            given = json.loads(command["args"])
            if "amount" in given and entry["kind"] != "borrow":
                assert abs(Decimal(given["amount"])) == abs(Decimal(row["amount"])), (row, given)
    return causes.values(), fills, terms


def fifo(fills):
    """Realized gain of fills, oldest first, without fees."""
    lots, gain = [], Decimal(0)
    for fill in fills:
        qty, price = Decimal(fill["qty"]), Decimal(fill["price"])
        sign = 1 if fill["side"] == "BUY" else -1
        while qty > 0 and lots and lots[0][0] * sign < 0:
            part = min(qty, abs(lots[0][0]))
            gain += part * (price - lots[0][1]) * -sign
            lots[0][0] += part * sign
            qty -= part
            if lots[0][0] == 0:
                lots.pop(0)
        if qty > 0:
            lots.append([sign * qty, price])
    return gain


def check_epochs(daemon, causes, fills):
    epoch_of = {row["fill"]: row["epoch"] for row in causes if row["fill"]}
    epochs = rows(daemon, "account", "epochs")
    for row in epochs:
        mine = [c for c in causes if c["account"] == row["account"] and c["epoch"] == row["epoch"]]
        if row["symbol"]:
            traded = [f for f in fills if f["account"] == row["account"] and f["symbol"] == row["symbol"]
                      and epoch_of[f["fill"]] == row["epoch"]]
            assert sum(Decimal(f["fee"]) for f in traded) == Decimal(row["fees"]), row
            if row["account"] != "reg":  # a split is no fill
                assert abs(fifo(traded) - Decimal(row["fifo_realized"])) <= Decimal("0.00001"), (row, fifo(traded))
        else:
            flows = [Decimal(c["amount"]) for c in mine if c["kind"] in ("deposit", "withdrawal", "transfer")]
            fees = [Decimal(c["amount"]) for c in mine if c["kind"] == "fee"]
            assert sum(flows) == Decimal(row["flows"]) and -sum(fees) == Decimal(row["fees"]), (row, flows, fees)
    return epochs


def check_books(daemon):
    causes, fills, terms = check_joins(daemon)
    check_fees(fills)
    epochs = check_epochs(daemon, causes, fills)
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    assert json.loads(daemon.papertape("parity", "--json"))["ok"] is True
    return causes, terms, epochs


# ---- coins: shorts, money, a reset, a close ----

def trade_coins(daemon):
    daemon.wait_status(lambda s: s["symbols"] and len(s["symbols"]) == 2 and all(x["last"] and x["ask"] for x in s["symbols"]), "prices")
    order(daemon, "main", "sell", "BTCUSDT", "0.5")
    for words in (("transfer", "main", "other", "500", "--key", "move-1"), ("deposit", "main", "250", "--key", "pay-1"),
                  ("withdraw", "main", "100.5")):
        daemon.papertape("account", *words)
    order(daemon, "main", "buy", "ETHUSDT", "1.5")
    order(daemon, "main", "sell", "ETHUSDT", "0.7")
    order(daemon, "other", "buy", "ETHUSDT", "0.2")
    order(daemon, "other", "sell", "ETHUSDT", "0.1")
    daemon.papertape("account", "reset", "other", "--cash", "2000", "--key", "again-1")
    order(daemon, "other", "buy", "ETHUSDT", "0.1")
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM ledger WHERE kind = 'interest'")[0][0] >= 1, "interest")


def close_coins(daemon):
    text = daemon.papertape("account", "close", "other", status=1)
    assert "ACCOUNT_IN_USE" in text or "position of 0.1 ETHUSDT" in text, text
    order(daemon, "other", "sell", "ETHUSDT", "0.1")
    assert "closed other" in daemon.papertape("account", "close", "other", "--key", "end-1")
    assert "done before" in daemon.papertape("account", "close", "other", "--key", "end-1")
    for words in (("account", "deposit", "other", "5"), ("account", "reset", "other"), ("account", "transfer", "main", "other", "5"),
                  ("order", "buy", "ETHUSDT", "0.1", "--account", "other")):
        text = daemon.papertape(*words, status=1)
        assert "closed" in text, (words, text)


def coins(folder):
    replay = folder.start(harness.Replay(folder.within("coins"), "--synthetic", "7", "--speed", "1200", "--rate", "1", "--from", "2026-01-20T10:45:00Z"))
    daemon = folder.start(harness.Daemon(folder.path, replay, COINS.format(more="borrow_rate = 0.5")))
    trade_coins(daemon)
    close_coins(daemon)
    assert daemon.stop() == 0
    again = folder.start(harness.Daemon(folder.path, replay, COINS.format(more="fee_taker = 0.002\nborrow_rate = 0.4"), name="again"))
    again.wait_status(lambda s: s["symbols"] and s["symbols"][0]["ask"], "a price again")
    order(again, "main", "buy", "BTCUSDT", "0.25")
    assert again.stop() == 0
    assert "account other is closed" in again.log_text(), again.log_text()[-2000:]
    causes, terms, epochs = check_books(again)
    assert {c["cause"] for c in causes} >= {"opening", "deposit", "withdrawal", "transfer", "reset", "fill", "interest"}
    mine = [(t["why"], t["epoch"], t["key"]) for t in terms if t["account"] == "other"]
    assert mine == [("opened", "1", ""), ("reset", "2", "again-1"), ("closed", "2", "end-1")], mine
    rates = [(t["why"], t["fee_taker"], t["borrow_rate"]) for t in terms if t["account"] == "main"]
    assert len(rates) == 2 and rates[1][0] == "configured" and float(rates[1][1]) == 0.002 and float(rates[1][2]) == 0.4, rates
    of_other = {(e["epoch"], e["symbol"]): e for e in epochs if e["account"] == "other"}
    assert of_other["1", "ETHUSDT"]["ended"] == "reset" and Decimal(of_other["1", "ETHUSDT"]["qty"]) == Decimal("0.1"), of_other
    assert of_other["2", "ETHUSDT"]["ended"] == "closed" and Decimal(of_other["2", "ETHUSDT"]["qty"]) == 0, of_other
    listed = next(a for a in rows(again, "account", "list") if a["account"] == "other")
    assert listed["closed_ns"] and Decimal(listed["cash"]) == 0, listed
    print(f"coins: {len(causes)} rows of the ledger joined, {len([c for c in causes if c['cause'] == 'interest'])} of interest")
    return again


# ---- stocks: a loan, a split, a dividend ----

def check_arrears(daemon, causes):
    """What the currency did not suffice for is paid later, to the unit."""
    owed = Decimal(0)
    events = [(int(a["event"]), 1, 0, a) for a in rows(daemon, "ledger", "accruals")]
    events += [(int(c["event"]), 0 if c["cause"] == "arrears" else 2, int(c["id"]), c) for c in causes if c["due"] and c["kind"] != "borrow"]
    for _, _, row_id, row in sorted(events, key=lambda e: e[:3]):
        if row["base"]:
            assert up(Decimal(row["base"]) * Decimal(row["rate"]) * Decimal(row["hours"]) / HOURS, row["due"]) == Decimal(row["due"]), row
        paid = abs(Decimal(row["amount"])) if row_id else Decimal(0)
        if row["cause"] == "arrears":
            assert Decimal(row["due"]) == owed, (row, owed)
            owed = Decimal(0)
        if Decimal(row["due"]) > 0 and row["cause"] != "dividend":
            owed += Decimal(row["due"]) - paid
    assert owed == 0, owed
    return len(events)


def stocks(folder):
    def day(name, start, to, *more):
        replay = folder.start(harness.Replay(folder.within(name), "--venue", "alpaca", "--synthetic", "5", "--speed", "120", "--from", start, "--to", to,
                                             *more))
        daemon = folder.start(harness.Daemon(folder.path, replay, config, name=name, state="stocks"))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last"] and s["symbols"][0]["ask"], "a price")
        return replay, daemon

    def end(replay, daemon):
        assert daemon.stop() == 0 and replay.stop() == 0

    config = harness.alpaca_config(harness.write_keys(folder.path, "keys", "hush"), STOCKS)
    replay, daemon = day("tuesday", "2026-03-10T17:55:00Z", "2026-03-10T19:50:00Z")
    order(daemon, "reg", "buy", "AAPL", str(int(9000 / daemon.status_object()["symbols"][0]["ask"])))
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM ledger_accruals")[0][0] >= 1, "interest of the loan")
    end(replay, daemon)
    actions = ("--action", "split:AAPL:4:1:2026-03-11", "--action", "dividend:AAPL:0.24:2026-03-11:2026-03-11")
    replay, daemon = day("morning", "2026-03-11T13:29:00Z", "2026-03-11T13:50:00Z", *actions)
    harness.wait_for(lambda: daemon.query("SELECT count(DISTINCT kind) FROM ledger WHERE kind IN ('split', 'dividend')")[0][0] == 2, "both actions")
    daemon.papertape("account", "deposit", "reg", "100", "--key", "pay-2")
    while qty := round(sum(p["qty"] for p in daemon.status_object()["positions"])):
        order(daemon, "reg", "sell", "AAPL", str(qty))
    end(replay, daemon)
    replay, daemon = day("noon", "2026-03-11T13:59:00Z", "2026-03-11T16:00:00Z", *actions)
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM ledger_causes WHERE cause = 'arrears'")[0][0] >= 1, "the interest to be paid")
    end(replay, daemon)
    causes, _, _ = check_books(daemon)
    assert any(Decimal(fill["taf_fee"] or 0) > 0 for fill in rows(daemon, "fills"))
    assert {c["cause"] for c in causes} >= {"opening", "deposit", "fill", "arrears", "dividend", "split"}, {c["cause"] for c in causes}
    paid_back = [c for c in causes if c["kind"] == "borrow" and c["cause"] == "deposit"]
    assert paid_back and Decimal(paid_back[0]["amount"]) == -100, paid_back
    print(f"stocks: {len(causes)} rows joined, {check_arrears(daemon, causes)} of interest and dividends; the deposit paid back 100")


def rebuilt(daemon):
    """From the log alone: the same causes and terms."""
    before = [rows(daemon, *verb) for verb in (("ledger", "causes"), ("account", "terms"), ("commands",))]
    os.rename(os.path.join(daemon.state, "papertape.db"), os.path.join(daemon.state, "aside.db"))
    daemon.papertape("restore", "--from-events", timeout=60)
    after = [rows(daemon, *verb) for verb in (("ledger", "causes"), ("account", "terms"), ("commands",))]
    assert before[0] == after[0]
    strip = [[{k: v for k, v in row.items() if k not in ("since_ns", "id")} for row in table[1]] for table in (before, after)]
    assert strip[0] == strip[1], strip
    assert [(c["cmd"], c["event"], c["uid"], c["key"]) for c in before[2] if c["event"]] == \
        [(c["cmd"], c["event"], c["uid"], c["key"]) for c in after[2] if c["event"]]
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True


def main():
    with harness.Folder() as folder:
        daemon = coins(folder)
        rebuilt(daemon)
        stocks(folder)


if __name__ == "__main__":
    sys.exit(main())
