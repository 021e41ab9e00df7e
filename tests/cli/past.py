#!/usr/bin/env python3
"""The past as the record has it later is what it was when it was now: random records (every kind of event, order, transfer, reset) are
cut off after some events, and `papertape --json --at T` of the whole one is compared with `papertape --json` of the one that was cut
off at T: accounts, positions, equity, orders, fills, alerts. What the database keeps only the newest of is left out, and counted:
what an order that was amended, or split, or trails, asked for.

past.py RECORD PAPERTAPE"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

RECORD, PAPERTAPE = sys.argv[1:3]
CUTS = {1: (700, 1500), 3: (300, 1500, 2600), 4: (1500,), 6: (2600,), 8: (300, 1500)}
if os.environ.get("PAPERTAPE_LONG"):
    CUTS = {seed: tuple(range(200, 3000, 400)) for seed in range(1, 13)}
MORE = 1200  # events after the cut
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
TABLES = {"orders": ("created_ns", "updated_ns"), "fills": ("ts_ns",), "ledger": ("ts_ns",), "equity": ("ts_ns",)}
# Valued at the close of the bar before, where the daemon has the newest price; a database says no return.
NOT_COMPARED = {"positions": {"mark", "mark_ts_ns", "upnl", "age_ms"}, "accounts": {"return_pct"}}
NEWEST_ALONE = {"orders": {"price", "stop", "qty", "trail", "trail_pct", "updated_ns"}, "positions": {"stop"}}


def ask(database, sql):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        return db.execute(sql).fetchall()


def shown(state, *options):
    done = subprocess.run([PAPERTAPE, "--json", "--state", state, *options], check=False, capture_output=True, text=True)
    assert done.returncode == (0 if options else 3), done
    return json.loads(done.stdout)


def record(folder, name, seed, events):
    state = os.path.join(folder, name)
    os.mkdir(state)
    subprocess.run([RECORD, state, str(seed), str(events)], check=True)
    return state


def last_moment(database):
    return max(ask(database, f"SELECT max({column}) FROM {table}")[0][0] or 0 for table, columns in TABLES.items() for column in columns)


def ends_a_moment(cut, whole, moment):
    """Whether the cut does not fall between two events of the same time."""
    counts = [[ask(state, f"SELECT count(*) FROM {table} WHERE {columns[0]} <= {moment}") for table, columns in TABLES.items()]
              for state in (cut, whole)]
    return counts[0] == counts[1]


def expected(cut, moment):
    """An order that has arrived by its time, while no event has come at which the engine notices it, is there."""
    was = shown(cut)
    arrived = dict(ask(os.path.join(cut, "papertape.db"),
                       f"SELECT id, effective_ns FROM orders WHERE state = 'PENDING' AND effective_ns <= {moment}"))
    for order in was["orders"]:
        if order["order"] in arrived:
            order.update(state="OPEN", updated_ns=arrived[order["order"]])
    return was


def moved(whole):
    """Orders whose numbers have changed, or that a split made others."""
    rows = ask(os.path.join(whole, "papertape.db"), "SELECT id FROM orders WHERE amends > 0 OR type = 'TRAILING_STOP'")
    splits = ask(os.path.join(whole, "papertape.db"), "SELECT count(*) FROM corporate_actions WHERE kind = 'split'")[0][0]
    return {row[0] for row in rows}, splits > 0


def compare(was, then, whole):
    """How many rows there are, and how many cells of them are left out."""
    orders, split = moved(whole)
    moved_of = {(row["account"], row["symbol"]) for row in then["orders"] if row["order"] in orders}
    rows = left = 0
    for name in ("accounts", "positions", "equity", "orders", "fills", "alerts"):
        assert len(was[name]) == len(then[name]), (name, len(was[name]), len(then[name]))
        for one, other in zip(was[name], then[name]):
            rows += 1
            for key in one.keys() - NOT_COMPARED.get(name, set()):
                if one[key] == other[key]:
                    continue
                newest = key in NEWEST_ALONE.get(name, ()) and (
                    split or (one["order"] in orders if name == "orders" else (one["account"], one["symbol"]) in moved_of))
                assert newest, (name, key, one, other)
                left += 1
    return rows, left


def main():
    rows = left = moments = 0
    for seed, cuts in CUTS.items():
        for events in cuts:
            with tempfile.TemporaryDirectory(prefix="papertape-", dir=MEMORY) as folder:
                cut, whole = record(folder, "cut", seed, events), record(folder, "whole", seed, events + MORE)
                moment = last_moment(os.path.join(cut, "papertape.db"))
                if not ends_a_moment(os.path.join(cut, "papertape.db"), os.path.join(whole, "papertape.db"), moment):
                    continue
                then = shown(whole, "--at", f"{moment // 10**9}.{moment % 10**9:09}")
                assert then["at_ns"] == moment and not then["daemon"], then["at_ns"]
                more, skipped = compare(expected(cut, moment), then, whole)
                rows, left, moments = rows + more, left + skipped, moments + 1
    assert moments >= 6 and rows > 1000 and left < rows / 20, (moments, rows, left)
    print(f"cli/past: {rows} rows at {moments} moments as they were; {left} cells of moved orders left out")


main()
