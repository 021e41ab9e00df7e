#!/usr/bin/env python3
"""What fills cost beside a fixed rate and what dividends bring, recomputed in decimal from exports alone, by definitions of its own:

- rates by the volume of 30 days, by UTC day, of a backtest of two months of hours: every fill's rate and fee, and each row of
  `papertape fee-rates`;
- the regulatory fees of every sale of stocks, by its date in New York, of sales of nine years;
- dividends with ex and pay dates, tax withheld, long and short, across a split: receivables, cash and the ledger's rows.

A daemon that is killed before and after a dividend is paid: it is paid once, and the rates of the tier hold.

The saved runs verify; a cell of each new table that was altered, and sealed again, is named."""

import csv
import datetime
import decimal
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import zoneinfo

import harness

D = decimal.Decimal
decimal.getcontext().prec = 60
SEED = int(os.environ.get("PAPERTAPE_SEED", "33"))
UTC, NEW_YORK = datetime.timezone.utc, zoneinfo.ZoneInfo("America/New_York")
DAYS = 90 if harness.LONG else 66
STEPS = [(0, D("0.001"), D("0.002")), (400000, D("0.0008"), D("0.0015")), (900000, D("0.0005"), D("0.001")), (1500000, D("0"), D("0.0004"))]


def run(*words, code=0):
    done = subprocess.run([harness.PAPERTAPE, *words], capture_output=True, text=True, timeout=600)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + (done.stderr if code else "")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def day_of(ns):
    return int(ns) // 86_400_000_000_000


def up(value, unit):
    return (value / unit).to_integral_value(decimal.ROUND_CEILING) * unit


def bars(path, first, count, seconds, price, seed, swing):
    """A path that goes up and down, so that averages cross."""
    rng = random.Random(seed)
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(count):
            at = first + datetime.timedelta(seconds=i * seconds)
            close = max(D(1), (price + D(rng.randint(-swing, swing)) / 100).quantize(D("0.01")))
            high, low = max(price, close) + D("0.05"), min(price, close) - D("0.05")
            file.write(f"{at.isoformat()},{price},{high},{low},{close},1000\n")
            price = close
    return path


def export(folder, name, *words):
    state = os.path.join(folder, name)
    run("backtest", *words, "--save", state)
    assert "ledger ok" in run("ledger", "verify", "--state", state)
    return state, {what: rows(run(*what.split(), "--state", state, "--csv")) for what in ("fills", "fee-rates", "receivables", "actions")} | {
        "ledger": rows(run("ledger", "export", "--state", state))}


# ---- rates by volume ----


def tiers(folder):
    path = bars(os.path.join(folder, "BTCUSDT_1h.csv"), datetime.datetime(2025, 1, 1, tzinfo=UTC), DAYS * 24, 3600, D(20000), SEED, 15000)
    text = ", ".join(f"{volume} {maker} {taker * 100}%" for volume, maker, taker in STEPS)
    state, got = export(folder, "tiers", "--strategy", "sma-cross:fast=4,slow=9", "--bars", path, "--cash", "20000", "--fee-tiers", text)
    by_day = {}
    changes = []
    for fill in got["fills"]:
        day = day_of(fill["ts_ns"])
        volume = sum(by_day.get(day - k, D(0)) for k in range(1, 31))
        rates = [step for step in STEPS if step[0] <= volume][-1][1:]
        rate = rates[0] if fill["maker"] in ("1", "true") else rates[1]
        assert D(fill["fee"]) == up(D(fill["notional"]) * rate, D("1e-8")), fill
        by_day[day] = by_day.get(day, D(0)) + D(fill["notional"])
    for day in range(day_of(got["fee-rates"][0]["ts_ns"]), day_of(got["fills"][-1]["ts_ns"]) + 1):
        volume = sum(by_day.get(day - k, D(0)) for k in range(1, 31))
        step = [step for step in STEPS if step[0] <= volume][-1]
        if not changes or changes[-1][2:] != step[1:]:
            changes.append((day, volume, *step[1:]))
    listed = [(day_of(row["ts_ns"]), D(row["volume"]), D(row["maker"]), D(row["taker"])) for row in got["fee-rates"]]
    listed = [row for row in listed if row[0] <= day_of(got["fills"][-1]["ts_ns"])]
    assert listed == changes, (listed, changes)
    assert len({row[3] for row in changes}) >= 3 and changes[-1][3] != changes[0][3], changes
    altered(state, "fee_rates", "UPDATE fee_rates SET volume = volume + 1 WHERE id = 2", "seal(2, id, ts_ns, account, day, volume, last_fill, tiers, "
            "maker_e6, taker_e6, input_seq)", "fee_rates: row 2: the volume is")
    print(f"tiers: {len(got['fills'])} fills, {len(changes)} changes of rates")


# ---- regulatory fees ----

SEC = [("2014-03-18", "22.10"), ("2015-02-14", "18.40"), ("2016-02-16", "21.80"), ("2017-07-04", "23.10"), ("2018-05-22", "13.00"),
       ("2019-04-16", "20.70"), ("2020-02-18", "22.10"), ("2021-02-25", "5.10"), ("2022-05-14", "22.90"), ("2023-02-27", "8.00"),
       ("2024-05-22", "27.80"), ("2025-05-14", "0")]
TAF = [("2014-03-18", "0.000119", "5.95"), ("2022-01-01", "0.000130", "6.49"), ("2023-01-01", "0.000145", "7.27"), ("2024-01-01", "0.000166", "8.30")]


def regulatory(folder):
    """Hours of the session, on every third business day from 2017 to 2025; by the exchange's calendar."""
    path = os.path.join(folder, "FAKE_1h.csv")
    rng = random.Random(SEED + 1)
    price, day = D(30), datetime.date(2017, 1, 3)
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        while day < datetime.date(2025, 12, 1):
            for hour in range(10, 15):
                close = max(D(5), (price + D(rng.randint(-120, 120)) / 100).quantize(D("0.01")))
                at = datetime.datetime.combine(day, datetime.time(hour), NEW_YORK).astimezone(UTC)
                if day.weekday() < 5:
                    file.write(f"{at.isoformat()},{price},{max(price, close)},{min(price, close)},{close},1000\n")
                    price = close
            day += datetime.timedelta(days=3)
    state, got = export(folder, "regulatory", "--strategy", "sma-cross:fast=2,slow=5", "--bars", path, "--cash", "40000000", "--quote", "USD", "--calendar",
                        "nyse", "--venue", "alpaca", "--session", "all", "--lot", "1", "--regulatory-fees")
    sales = 0
    for fill in got["fills"]:
        sec, taf = D(fill["sec_fee"] or 0), D(fill["taf_fee"] or 0)
        assert D(fill["rate"]) == 0 and D(fill["base"]) == D(fill["notional"]), fill
        assert D(fill["fee"]) == sec + taf, fill  # stocks are free of commission
        if fill["side"] == "BUY":
            assert sec == taf == 0, fill
            continue
        sales += 1
        date = datetime.datetime.fromtimestamp(int(fill["ts_ns"]) // 10**9, NEW_YORK).date().isoformat()
        dollars = [D(rate) for since, rate in SEC if since <= date][-1]
        share, most = [(D(share), D(most)) for since, share, most in TAF if since <= date][-1]
        assert sec == up(D(fill["notional"]) * dollars / 10**6, D("0.01")), (fill, dollars)
        assert taf == min(up(D(fill["qty"]) * share, D("0.01")), most), fill
    assert sales > 40 and any(D(fill["taf_fee"] or 0) == D("5.95") for fill in got["fills"]), sales
    altered(state, "fills", "UPDATE fills SET fee = fee + 1000000, taf_fee = taf_fee + 1000000 WHERE id = (SELECT min(id) FROM fills WHERE taf_fee > 0)",
            None, "its regulatory fees are")
    print(f"regulatory fees: {sales} sales")


# ---- dividends ----


def dividends(folder):
    first = datetime.datetime(2025, 3, 3, tzinfo=UTC)
    path = bars(os.path.join(folder, "ACME_1h.csv"), first, 40 * 24, 3600, D(100), SEED + 2, 150)
    lines = ["symbol,kind,ex_date,shares,per,cash,id,record_date,pay_date"]
    rng = random.Random(SEED + 3)
    for i in range(30):
        ex = first + datetime.timedelta(days=1 + i, hours=rng.randint(0, 23))
        pay = ex + datetime.timedelta(days=rng.randint(1, 6), hours=rng.randint(0, 5))
        lines.append(f"ACME,dividend,{ex.isoformat()},,,{rng.randint(1, 999999999)}e-9,d{i},{ex.isoformat()},{'' if i % 7 == 3 else pay.isoformat()}")
    lines = [line.replace(line.split(",")[5], f"{D(line.split(',')[5]):f}") if "dividend" in line else line for line in lines]
    lines.append(f"ACME,split,{(first + datetime.timedelta(days=15, hours=6)).isoformat()},3,1,,s,,")
    actions = os.path.join(folder, "actions.csv")
    with open(actions, "w") as file:
        file.write("\n".join(lines) + "\n")
    state, got = export(folder, "dividends", "--strategy", "sma-cross:fast=5,slow=15,direction=both", "--bars", path, "--quote", "USD", "--corporate-actions", actions,
                        "--withholding", "15%", "--shorts", "--cash", "50000", "--fee-maker", "0", "--fee-taker", "0")
    unit = D("1e-8")
    held, at = D(0), 0
    expected, now = [], {}
    for action in got["actions"]:
        while at < len(got["fills"]) and int(got["fills"][at]["ts_ns"]) < int(action["ts_ns"]):
            held += D(got["fills"][at]["qty"]) * (1 if got["fills"][at]["side"] == "BUY" else -1)
            at += 1
        if action["kind"] == "split":
            held = (held * int(action["shares"]) / int(action["per"])).quantize(unit, decimal.ROUND_DOWN)
            continue
        gross = (held * D(action["cash"]) / unit).to_integral_value(decimal.ROUND_FLOOR) * unit
        kept = up(gross * D("0.15"), unit) if gross > 0 else D(0)
        later = int(action["pay_ns"] or 0) > int(action["ts_ns"])
        if held != 0 and (later or kept > 0):
            expected.append((action["id"], "booked" if later else "paid", held, gross, kept))
        now[action["id"]] = (later, gross - kept, int(action["pay_ns"] or 0))
    booked = [row for row in got["receivables"] if row["booked"] in ("", "0")]
    assert [(row["id"], row["kind"], D(row["qty"]), D(row["gross"]), D(row["withheld"])) for row in booked] == expected, (booked[:3], expected[:3])
    by_number = {row["receivable"]: row for row in got["receivables"]}
    ledger = {row["id"]: row for row in got["ledger"]}
    paid = [row for row in got["receivables"] if row["kind"] == "paid"]
    for row in paid:
        later, amount, pay_ns = now[row["id"]]
        assert D(row["paid"]) == D(row["amount"]) == amount, row
        assert D(ledger[row["ledger"]]["amount"]) == amount and ledger[row["ledger"]]["kind"] == "dividend", row
        if later:
            assert by_number[row["booked"]]["id"] == row["id"] and pay_ns <= int(row["ts_ns"]) < pay_ns + 3600 * 10**9, row
    end_ns = int((first + datetime.timedelta(days=40)).timestamp()) * 10**9 - 3600 * 10**9
    due = [entry for entry in expected if not now[entry[0]][0] or now[entry[0]][2] <= end_ns]
    assert len(paid) == len(due), (len(paid), len(due))
    moved = sum(D(row["amount"]) for row in got["ledger"] if row["kind"] == "dividend")
    at_once = sum(now[action["id"]][1] for action in got["actions"] if action["kind"] == "dividend" and not now[action["id"]][0])
    assert moved == sum(D(row["paid"]) for row in paid if row["booked"] not in ("", "0")) + at_once, (moved, at_once)
    assert any(row[2] < 0 for row in expected) and any(row[2] > 0 for row in expected) and any(row[1] == "paid" for row in expected)
    seal = ("seal(2, id, ts_ns, account, kind, symbol, action, asset, scale, qty_scale, ex_ns, pay_ns, qty, gross, withheld, amount, paid, booked, "
            "ledger_id, input_seq)")
    for change, says in (("withheld = withheld + 1", "are not"), ("qty = qty + 1", "its account held"), ("ledger_id = ledger_id + 1", "no corporate action asks for a dividend"),
                         ("booked = 1", "row 1")):
        which = "kind = 'booked' AND gross > 0" if "qty" in change or "withheld" in change else "kind = 'paid' AND booked > 1"
        altered(state, "receivables", f"UPDATE receivables SET {change} WHERE id = (SELECT max(id) FROM receivables WHERE {which})", seal, says)
    account = json.loads(run("backtest", "--strategy", "sma-cross:fast=5,slow=15,direction=both", "--bars", path, "--quote", "USD", "--corporate-actions", actions,
                             "--withholding", "15%", "--shorts", "--cash", "50000", "--fee-maker", "0", "--fee-taker", "0", "--json"))["accounts"][0]
    assert abs(D(str(account["actions"]["paid"])) - sum(entry[3] - entry[4] for entry in expected) - sum(
        amount for later, amount, _ in now.values() if not later and amount < 0)) < D("0.01"), account["actions"]
    print(f"dividends: {len(expected)} booked, {len(paid)} paid")


# ---- a daemon that is killed between ex and pay date ----

LIVE = harness.NO_LIMITS + """[account main]
currency = USD
cash = 20000
strategy = none
fee_tiers = 0 0.1% 0.2%, 3000 0.02% 0.05%
regulatory_fees = on
withholding = 15%
"""
RATES = [(0, D("0.001"), D("0.002")), (3000, D("0.0002"), D("0.0005"))]
EX, PAY, CASH = "2026-03-11", "2026-03-12", D("0.24")


def of(daemon, *verb):
    return rows(daemon.papertape(*verb, "--csv"))


def trade(daemon, side, qty):
    daemon.papertape("order", side, "AAPL", str(qty), "--account", "main")
    daemon.wait_status(lambda s: not s["orders"], f"{side} {qty}")


def check_rates(daemon):
    """Every fill's rate, base and fee; and each change of rates, which the account's terms have too."""
    by_day, used = {}, set()
    for fill in of(daemon, "fills"):
        day = day_of(fill["ts_ns"])
        volume = sum(by_day.get(day - k, D(0)) for k in range(1, 31))
        step = [step for step in RATES if step[0] <= volume][-1]
        rate = step[1] if fill["liquidity"] == "maker" else step[2]
        assert D(fill["rate"]) == rate and D(fill["base"]) == D(fill["notional"]), (fill, step)
        whole = up(D(fill["base"]) * rate, D("1e-8")) + D(fill["sec_fee"] or 0) + D(fill["taf_fee"] or 0)
        assert D(fill["fee"]) == whole, (fill, whole)
        by_day[day] = by_day.get(day, D(0)) + D(fill["notional"])
        used.add(step)
    assert len(used) == 2, used
    changes = [(D(row["maker"]), D(row["taker"])) for row in of(daemon, "fee-rates")]
    assert changes == [step[1:] for step in RATES], changes
    terms = [(row["why"], D(row["fee_maker"]), D(row["fee_taker"])) for row in of(daemon, "account", "terms")]
    assert terms == [("opened", *RATES[0][1:]), ("volume", *RATES[1][1:])], terms


def check_dividend(daemon):
    """Booked once and paid once, of the shares that were held at the ex-date."""
    ex_ns = int(of(daemon, "actions")[0]["ts_ns"])
    held = sum(D(fill["qty"]) * (1 if fill["side"] == "BUY" else -1) for fill in of(daemon, "fills") if int(fill["ts_ns"]) < ex_ns)
    gross = held * CASH
    kept = up(gross * D("0.15"), D("1e-8"))
    listed = [(row["kind"], D(row["qty"]), D(row["gross"]), D(row["withheld"]), D(row["amount"]), D(row["paid"])) for row in of(daemon, "receivables")]
    assert listed == [("booked", held, gross, kept, gross - kept, 0), ("paid", held, gross, kept, gross - kept, gross - kept)], (listed, gross)
    paid = [row for row in rows(daemon.papertape("ledger", "export")) if row["kind"] == "dividend"]
    at = datetime.datetime.fromtimestamp(int(paid[0]["ts_ns"]) // 10**9, NEW_YORK)
    assert len(paid) == 1 and D(paid[0]["amount"]) == gross - kept and at.date().isoformat() == PAY, paid
    return gross - kept


def named(daemon, table, change, back, says):
    """An altered row, which the log contradicts."""
    for statement, status in ((change, 1), (back, 0)):
        with sqlite3.connect(os.path.join(daemon.state, "papertape.db"), timeout=harness.PATIENCE) as database:
            assert database.execute(f"UPDATE {table} SET {statement}").rowcount == 1, statement
        database.close()
        said = daemon.papertape("parity", status=status)
        assert status == 0 or says in said, said


def killed(folder):
    config = harness.alpaca_config(harness.write_keys(folder.path, "keys", "hush"), LIVE)

    def venue(name, start, to):
        return folder.start(harness.Replay(folder.within(name), "--venue", "alpaca", "--synthetic", "5", "--speed", "120", "--from", start, "--to", to,
                                           "--action", f"dividend:AAPL:{CASH}:{EX}:{PAY}"))

    def daemon_of(replay, name):
        daemon = folder.start(harness.Daemon(folder.path, replay, config, name=name, state="live"))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last"] and s["symbols"][0]["ask"], "a price")
        return daemon

    def kill(daemon):
        daemon.popen.kill()
        daemon.popen.wait()

    def paid(daemon):
        return daemon.query("SELECT count(*) FROM receivables WHERE kind = 'paid'")[0][0]

    replay = venue("before", f"2026-03-10T18:00:00Z", "2026-03-10T19:50:00Z")
    daemon = daemon_of(replay, "before")
    trade(daemon, "buy", int(8000 / daemon.status_object()["symbols"][0]["ask"]))
    trade(daemon, "sell", 3)
    assert daemon.stop() == 0 and replay.stop() == 0
    replay = venue("ex", f"{EX}T14:00:00Z", f"{EX}T19:50:00Z")
    daemon = daemon_of(replay, "ex")
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM receivables")[0][0] == 1, "the receivable")
    trade(daemon, "sell", 4)
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM fills WHERE side = 'SELL'")[0][0] >= 2, "the sale in the database")
    kill(daemon)
    daemon = daemon_of(replay, "again")
    trade(daemon, "sell", 5)
    assert paid(daemon) == 0
    kill(daemon)
    assert replay.stop() == 0
    replay = venue("pay", f"{PAY}T14:00:00Z", f"{PAY}T19:50:00Z")
    daemon = daemon_of(replay, "pay")
    harness.wait_for(lambda: paid(daemon) == 1, "the dividend")
    kill(daemon)
    daemon = daemon_of(replay, "end")
    trade(daemon, "sell", 6)
    assert daemon.stop() == 0 and replay.stop() == 0
    check_rates(daemon)
    amount = check_dividend(daemon)
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    parity = json.loads(daemon.papertape("parity", "--json"))
    assert parity["ok"] is True and parity["runs"] == 5, parity
    named(daemon, "receivables", "withheld = withheld + 1 WHERE id = 2", "withheld = withheld - 1 WHERE id = 2", "receivables 2: of.withheld")
    named(daemon, "fee_rates", "volume = volume + 1 WHERE id = 2", "volume = volume - 1 WHERE id = 2", "fee_rates 2: volume")
    print(f"killed three times: {amount} paid once, the rates of the tier in both days after")


# ---- what was altered ----


def altered(state, table, change, seal, says):
    """In a copy, whose seal is made again: the contradiction is named."""
    copy = state + ".altered"
    subprocess.run(["cp", "-r", state, copy], check=True)
    name = os.path.join(copy, "papertape.db")
    import hashlib

    def sealed(rule, *values):
        def spell(value):
            if value is None:
                return "n"
            if isinstance(value, int):
                return str(value)
            return f"t{len(value.encode())}:{value}"
        words = [spell(value) for value in values[:rule if rule > 2 else len(values)]]
        words += [f"{i + 1}={spell(value)}" for i, value in enumerate(values) if rule > 2 and i >= rule and value not in (None, 0, "")]
        return hashlib.sha256("|".join(words).encode()).digest()
    db = sqlite3.connect(name)
    db.create_function("seal", -1, sealed)
    db.execute(change)
    assert db.total_changes == 1, change
    if seal is None:
        columns = ("id, order_id, account, symbol, side, ts_ns, price, qty, notional, fee, fee_e6, maker, input_seq, basis, fee_base, sec_fee, taf_fee")
        seal = f"seal(13, {columns})"
    db.execute(f"UPDATE {table} SET hash = {seal}")
    db.commit()
    db.close()
    said = run("ledger", "verify", "--state", copy, code=1)
    assert says in said, (change, said)
    subprocess.run(["rm", "-r", copy], check=True)


def main():
    with harness.Folder() as folder:
        tiers(folder.path)
        regulatory(folder.path)
        dividends(folder.path)
        killed(folder)


if __name__ == "__main__":
    sys.exit(main())
