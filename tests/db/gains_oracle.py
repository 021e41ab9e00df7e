#!/usr/bin/env python3
"""Every realized gain of a random record, computed a second time from the exports alone (fills, the ledger, splits and dividends)
by docs/gains.md: lots first in first out and at average cost, over splits and resets. Then they sum to what positions say they
realized since the last reset. gains_oracle.py TEST-DB-BOOKS PAPERTAPE"""

import collections
import decimal
import json
import os
import sys
import tempfile

from exports import rows, run, seeds

BOOKS, PAPERTAPE = sys.argv[1:3]
EVENTS = 30000
SCALE = 8  # of all symbols of the record, in quantity and quote
DAY_NS = 86400 * 10**9


def units(text):
    return int(decimal.Decimal(text).scaleb(SCALE))


class Lot:
    def __init__(self, fill, opened, qty, cost, fee):
        self.fill, self.opened, self.qty, self.cost, self.fee = fill, opened, qty, cost, fee


class Position:
    """`qty` signed; lots have sizes above 0."""

    def __init__(self):
        self.qty = self.cost = 0
        self.lots = []


def parts(total, sizes):
    """Shares of a total by size: differences of the running sums, rounded down."""
    given, had, whole, found = 0, 0, sum(sizes), []
    for size in sizes:
        had += size
        found.append(total * had // whole - given)
        given += found[-1]
    return found


def close(position, qty, value, fee, closed_by, ts, ret):
    """`qty` of the oldest lots, for `value`."""
    sign = 1 if position.qty > 0 else -1
    average = position.cost * qty // abs(position.qty)
    taken, left = [], qty
    for lot in position.lots:
        part = min(left, lot.qty)
        cost, of_fee = lot.cost * part // lot.qty, lot.fee * part // lot.qty
        lot.qty, lot.cost, lot.fee, left = lot.qty - part, lot.cost - cost, lot.fee - of_fee, left - part
        taken.append((lot.fill, lot.opened, part, cost, of_fee))
        if left == 0:
            break
    position.lots = [lot for lot in position.lots if lot.qty]
    position.qty -= sign * qty
    position.cost -= average
    sizes = [part for _, _, part, _, _ in taken]
    for (fill, opened, part, cost, of_fee), got, at_average, closing in zip(
            taken, parts(value, sizes), parts(average, sizes), parts(fee, sizes)):
        for method, was in ("fifo", cost), ("average", at_average):
            ret[method].append({"qty": part, "proceeds": got if sign > 0 else was, "cost": was if sign > 0 else got,
                                "fees": of_fee + closing, "opened": opened, "closed": ts, "opened_by": fill,
                                "closed_by": closed_by, "short": sign < 0})


def take_fill(position, fill, ret):
    sign = 1 if fill["side"] == "BUY" else -1
    qty, value, fee = (units(fill[name]) for name in ("qty", "notional", "fee"))
    ts, number = int(fill["ts_ns"]), int(fill["fill"])
    against = max(0, -sign * position.qty)
    closed = min(against, qty)
    of_value, of_fee = value * closed // qty, fee * closed // qty
    if closed:
        close(position, closed, of_value, of_fee, number, ts, ret)
    if qty > closed:
        position.lots.append(Lot(number, ts, qty - closed, value - of_value, fee - of_fee))
        position.qty += sign * (qty - closed)
        position.cost += value - of_value


def take_split(position, action, ret):
    shares, per, ex, ts = (int(action[name]) for name in ("shares", "per", "ex_ns", "ts_ns"))
    old = sum(lot.qty for lot in position.lots if lot.opened <= ex)
    if old == 0:
        return
    if old * shares // per == 0:
        close(position, old, 0, 0, 0, ts, ret)
        return
    had = given = cost = fee = 0
    kept = []
    for lot in position.lots:
        if lot.opened <= ex:
            had += lot.qty
            lot.qty = had * shares // per - given
            given += lot.qty
        lot.cost, lot.fee = lot.cost + cost, lot.fee + fee
        cost, fee = (0, 0) if lot.qty else (lot.cost, lot.fee)
        if lot.qty:
            kept.append(lot)
    kept[-1].cost += cost
    kept[-1].fee += fee
    sign = 1 if position.qty > 0 else -1
    position.lots, position.qty = kept, sign * sum(lot.qty for lot in kept)


def recomputed(state):
    """{method: [(account, symbol, epoch, gain…)]}, in the order of the ledger."""
    fills = {int(row["fill"]): row for row in json.loads(run(PAPERTAPE, "fills", "--json", "--state", state),
                                                         parse_float=str, parse_int=str)["fills"]}
    splits = [row for row in json.loads(run(PAPERTAPE, "actions", "--json", "--state", state))["actions"] if row["kind"] == "split"]
    currency = {row["account"]: row["currency"] for row in rows(PAPERTAPE, state, "account", "list")}
    positions, epochs = collections.defaultdict(Position), collections.Counter()
    found = {"fifo": [], "average": []}

    def note(account, symbol, part):
        for method, gains in part.items():
            found[method] += [(account, symbol, epochs[account] + 1, gain) for gain in gains]

    def split():
        action = splits.pop(0)
        changes.clear()
        for (account, symbol), position in sorted(positions.items()):
            if symbol == action["symbol"]:
                part, before = {"fifo": [], "average": []}, position.qty
                take_split(position, action, part)
                note(account, symbol, part)
                changes[account] = position.qty - before

    seen, changes = set(), {}
    for row in rows(PAPERTAPE, state, "ledger", "export"):
        if row["kind"] == "split":
            while changes.pop(row["account"], None) != units(row["amount"]):
                split()
        elif row["fill_id"]:
            while splits and splits[0]["input_seq"] < int(fills[int(row["fill_id"])]["input_seq"]):
                split()
        if row["kind"] == "reset" and row["asset"] == currency[row["account"]]:
            for key in [key for key in positions if key[0] == row["account"]]:
                del positions[key]
            epochs[row["account"]] += 1
        elif row["kind"] == "trade" and row["fill_id"] not in seen:
            seen.add(row["fill_id"])
            fill = fills[int(row["fill_id"])]
            part = {"fifo": [], "average": []}
            take_fill(positions[row["account"], fill["symbol"]], fill, part)
            note(row["account"], fill["symbol"], part)
    return found, epochs


def listed(state, *options):
    return list(rows(PAPERTAPE, state, "gains", *options))


def compare(mine, theirs):
    assert len(mine) == len(theirs), (len(mine), len(theirs))
    for (account, symbol, epoch, gain), row in zip(mine, theirs):
        acquired, disposed = (gain["closed"], gain["opened"]) if gain["short"] else (gain["opened"], gain["closed"])
        expected = {"account": account, "symbol": symbol, "epoch": str(epoch), "side": "short" if gain["short"] else "long",
                    "acquired_ns": str(acquired), "disposed_ns": str(disposed),
                    "days": str(abs(disposed // DAY_NS - acquired // DAY_NS)),
                    "opened_by": str(gain["opened_by"]), "closed_by": str(gain["closed_by"] or ""),
                    "fills": f"{gain['opened_by']} {gain['closed_by'] or '-'}"}
        assert {name: row[name] for name in expected} == expected, (row, expected)
        for name in "qty", "proceeds", "cost", "fees":
            assert units(row[name]) == gain[name], (name, row, gain)
        assert units(row["gain"]) == gain["proceeds"] - gain["cost"]


def check_positions(state, gains, epochs, column):
    """What positions realized since the last reset is the sum of the epoch's gains."""
    sums = collections.Counter()
    for row in gains:
        if int(row["epoch"]) == epochs[row["account"]] + 1:
            sums[row["account"], row["symbol"]] += units(row["gain"])
    for row in rows(PAPERTAPE, state, "positions", "--all"):
        assert units(row[column]) == sums[row["account"], row["symbol"]], (row, sums)


def main():
    for seed in seeds(1, 200):
        with tempfile.TemporaryDirectory(prefix="papertape-") as state:
            run(BOOKS, os.path.join(state, "papertape.db"), str(seed), str(EVENTS))
            mine, epochs = recomputed(state)
            fifo, average = listed(state), listed(state, "--method", "average")
            compare(mine["fifo"], fifo)
            compare(mine["average"], average)
            check_positions(state, fifo, epochs, "fifo_realized")
            check_positions(state, average, epochs, "realized")
            shorts = sum(row["side"] == "short" for row in fifo)
            before = sum(int(row["epoch"]) <= epochs[row["account"]] for row in fifo)
            print(f"seed {seed}: {len(fifo)} gains equal by both methods, {shorts} of shorts, {before} of before a reset")
    return 0


sys.exit(main())
