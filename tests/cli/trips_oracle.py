#!/usr/bin/env python3
"""The dashboard's round trips on random records (every kind of event, order, transfer, reset): each trip is one that a naive walk
through the ledger makes here, with the mean prices of its fills; their sums are those of `papertape report --json` of the same
state, to the last unit; a reader that looks while the record grows has what one has that looks at its end.

trips_oracle.py RECORD PRINT PAPERTAPE ORACLE-FOLDER"""

import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from decimal import Decimal

RECORD, PRINT, PAPERTAPE, FOLDER = sys.argv[1:5]
sys.path.insert(0, FOLDER)
import oracle_venv  # noqa: E402

with oracle_venv.imports("empyrical"):
    import report_figures

LONG = bool(os.environ.get("PAPERTAPE_LONG"))
SEEDS = range(1, 41) if LONG else range(1, 4)
EVENTS = 6000
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Reader:
    def __init__(self, database):
        self.program = subprocess.Popen([PRINT, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def look(self, how=""):
        self.program.stdin.write(how + "\n")
        self.program.stdin.flush()
        line = self.program.stdout.readline()
        assert line, "trips-print ended"
        return json.loads(line)

    def close(self):
        self.program.stdin.close()
        assert self.program.wait() == 0
        self.program.stdout.close()


class Trip:
    """What was done since it was flat."""

    def __init__(self, account, symbol, fill, ts_ns, is_short):
        self.account, self.symbol, self.first_fill, self.opened_ns, self.short = account, symbol, fill, ts_ns, is_short
        self.fills = self.held = self.profit_fees = 0
        self.entered, self.left = [0, 0], [0, 0]  # quantity, notional

    def take(self, qty, notional, fee):
        opens = self.held == 0 or (self.held > 0) == (qty > 0)
        into = self.entered if opens else self.left
        into[0] += abs(qty)
        into[1] += notional
        self.held += qty
        self.fills += 1
        self.profit_fees += fee

    def profit(self):
        gained = self.entered[1] - self.left[1] if self.short else self.left[1] - self.entered[1]
        return gained - self.profit_fees


def naive(record):
    """All closed round trips of all accounts: a profit is what was received less what was paid and the fees."""
    open_, closed, last = {}, {}, {}
    for row in record.ledger:
        account = row["account"]
        if row["kind"] == "reset":
            open_ = {key: trip for key, trip in open_.items() if key[0] != account}
        if row["kind"] != "trade" or Decimal(row["amount"]) == 0 or last.get(account) == row["fill_id"]:
            continue
        last[account] = row["fill_id"]
        fill = record.fills[int(row["fill_id"])]
        symbol = record.symbols[fill["symbol"]]
        units = lambda text, scale: int(Decimal(text or "0").scaleb(scale))
        got = units(fill["qty"], symbol["qty_scale"]) - units(fill["fee_base"], symbol["qty_scale"])
        qty = got if fill["side"] == "BUY" else -units(fill["qty"], symbol["qty_scale"])
        rest = (qty, units(fill["notional"], symbol["quote_scale"]), units(fill["fee"], symbol["quote_scale"]))
        key, ident, ts_ns = (account, fill["symbol"]), int(fill["fill"]), int(row["ts_ns"])
        trip = open_.get(key)
        if trip and (trip.held > 0) != (qty > 0):
            part, rest = report_figures.parts(*rest, min(abs(qty), abs(trip.held)))
            trip.take(*part)
            if trip.held == 0:
                trip.closed_ns, closed[ident] = ts_ns, trip
                del open_[key]
        if rest[0]:
            trip = open_.setdefault(key, None) or Trip(account, fill["symbol"], ident, ts_ns, qty < 0)
            open_[key] = trip
            trip.take(*rest)
    return closed


def near(found, wanted):
    return found == wanted or math.isclose(found, wanted, rel_tol=1e-12)


def check_trips(record, found):
    split_ns = {}  # of each symbol's first: what is closed after it is not compared, but in the sums
    for row in record.actions:
        name = record.by_id[row["symbol"]]["name"]
        split_ns[name] = min(row["ts_ns"], split_ns.get(name, row["ts_ns"]))
    wanted = {ident: trip for ident, trip in naive(record).items() if trip.closed_ns < split_ns.get(trip.symbol, math.inf)}
    found = [t for t in found if t["closed_ns"] < split_ns.get(t["symbol"], math.inf)]
    assert [t["id"] for t in found] == sorted(wanted, reverse=True), ([t["id"] for t in found], sorted(wanted))
    for t in found:
        w = wanted[t["id"]]
        symbol = record.symbols[w.symbol]
        size, money = 10.0 ** symbol["qty_scale"], 10.0 ** symbol["quote_scale"]
        for field in ("account", "symbol", "short", "first_fill", "fills", "opened_ns", "closed_ns"):
            assert t[field] == getattr(w, field), (t, field, getattr(w, field))
        assert int(t["profit"]) == w.profit(), (t, w.profit())
        assert int(t["fees"]) == w.profit_fees and t["qty"] == w.entered[0] == w.left[0], (t, vars(w))
        assert near(t["entry"], w.entered[1] / money / (w.entered[0] / size)), (t, vars(w))
        assert near(t["exit"], w.left[1] / money / (w.left[0] / size)), (t, vars(w))
        assert near(t["share"], w.profit() / w.entered[1]), (t, vars(w))
        order = record.orders[t["order"]]
        assert order["id"] == int(record.fills[t["id"]]["order"])
        assert t["reason"] == (order["tag"] or ("by hand" if order["by_hand"] else order["type"])), (t, order)
    return len(found)


def check_sums(state, sums):
    report = json.loads(subprocess.run([PAPERTAPE, "report", "--json", "--from", "1970-01-02", "--state", state], check=True,
                                       capture_output=True, text=True).stdout, parse_float=Decimal)
    n = 0
    for account in report["accounts"]:
        for kind, name, rows in ((True, "symbol", account["symbols"]), (False, "strategy", account["strategies"])):
            mine = {s["name"]: s for s in sums if s["account"] == account["account"] and s["by_symbol"] == kind}
            assert mine.keys() == {row[name] for row in rows}, (account["account"], mine, rows)
            for row in rows:
                s = mine[row[name]]
                for field in ("pnl", "fees"):
                    assert (s[field] is None) == (row[field] is None), (s, row)
                    assert s[field] is None or Decimal(s[field]).scaleb(-s["scale"]) == row[field], (s, row)
                trades = row["trades"]
                assert (s["fills"], s["closed"], s["wins"]) == (row["fills"], trades["closed"], trades["wins"]), (s, row)
                factor = s["won"] / -s["lost"] if s["lost"] else None
                assert trades["profit_factor"] is None if factor is None else near(factor, float(trades["profit_factor"])), (s, row)
                n += 1
    return n


def check_growth(state, whole, rng):
    """The newest part of the ledger comes back in steps, while one reader looks."""
    database = os.path.join(state, "papertape.db")
    copy = os.path.join(state, "grown.db")
    full = sqlite3.connect(database)
    with sqlite3.connect(copy) as target:
        full.backup(target)
    base = sqlite3.connect(copy, isolation_level=None)
    ids = [row[0] for row in base.execute("SELECT id FROM ledger ORDER BY id")]
    cut = sorted(rng.sample(ids, 4))
    base.execute("ATTACH ? AS whole", (database,))
    base.execute("DELETE FROM ledger WHERE id > ?", (cut[0],))
    actions = "corporate_actions WHERE input_seq > (SELECT max(f.input_seq) FROM ledger l JOIN main.fills f ON f.id = l.fill_id)"
    base.execute(f"DELETE FROM {actions}")
    reader, looks = Reader(copy), []
    for until in cut[1:] + [ids[-1]]:
        looks.append(len(reader.look()["trips"]))
        base.execute("BEGIN")
        base.execute("INSERT INTO ledger SELECT * FROM whole.ledger WHERE id > (SELECT max(id) FROM ledger) AND id <= ?", (until,))
        base.execute("DELETE FROM corporate_actions")
        base.execute("INSERT INTO corporate_actions SELECT * FROM whole.corporate_actions")
        if until != ids[-1]:
            base.execute(f"DELETE FROM {actions}")
        base.execute("COMMIT")
    last = reader.look()
    assert last == whole, (looks, len(last["trips"]), len(whole["trips"]))
    base.execute("UPDATE accounts SET strategy = 'renamed' WHERE strategy <> ''")
    again = reader.look()  # names that changed: all is read again
    assert len(again["trips"]) == len(whole["trips"])
    assert any(s["name"] == "renamed" for s in again["sums"]) == any(not s["by_symbol"] and s["name"] == "sma-cross-rsi" for s in whole["sums"])
    reader.close()
    base.close()
    full.close()
    return len(set(looks))


def main():
    trips = sums = steps = 0
    for seed in SEEDS:
        with tempfile.TemporaryDirectory(prefix="papertape-", dir=MEMORY) as state:
            subprocess.run([RECORD, state, str(seed), str(EVENTS)], check=True)
            reader = Reader(os.path.join(state, "papertape.db"))
            whole = reader.look()
            assert reader.look() == whole
            reader.close()
            reader = Reader(os.path.join(state, "papertape.db"))
            assert reader.look("interrupted") == whole
            reader.close()
            trips += check_trips(report_figures.Record(PAPERTAPE, state), whole["trips"])
            sums += check_sums(state, whole["sums"])
            steps += check_growth(state, whole, random.Random(seed))
    assert trips > 20 and sums > 20 and steps > len(SEEDS), (trips, sums, steps)
    print(f"{len(SEEDS)} records: {trips} round trips, {sums} sums equal, {steps} different looks at growing ledgers")


main()
