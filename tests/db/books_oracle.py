#!/usr/bin/env python3
"""Statements of random records (shorts, margin calls, splits, dividends, transfers, resets, two currencies): of random
periods each line equals, to the unit, what Decimal makes of `ledger export`, `fills`, `actions` and `receivables`, with
the marks that the statement names, and these are the closes of bars or the marks of clean stops; what the last stop left
is its equity; a period's closing is the next one's opening.
books_oracle.py BOOKS-RUNS PAPERTAPE

The ledger says what an account has: its balance less what it borrowed. A position is worth its quantity at its mark. All
lines but the marks are differences of sums from the record's beginning."""

import collections
import csv
import decimal
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from decimal import Decimal

RUNS, PAPERTAPE = sys.argv[1:3]
LONG = bool(os.environ.get("PAPERTAPE_LONG"))
RECORDS, EVENTS, PERIODS = (1000, 1500, 4) if LONG else (50, 1500, 4)
BARS_EVERY = 1 if LONG else 10  # of so many records one has its marks compared with its bars
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
PAIRS = {"BTCUSDT": ("BTC", "USDT"), "ETHUSDT": ("ETH", "USDT"), "ETHBTC": ("ETH", "BTC")}
UNIT = Decimal("0.00000001")  # of every asset and price
LINES = ("deposits", "withdrawals", "transfers", "resets", "exchanged", "realized", "unrealized_change", "fees", "interest", "dividends", "withheld")
SECOND = 10**9
decimal.getcontext().prec = 60


def run(*argv):
    return subprocess.run([PAPERTAPE, *argv], check=True, capture_output=True, text=True).stdout


def rows(state, *argv):
    return list(csv.DictReader(io.StringIO(run(*argv, "--csv", "--state", state))))


def down(value):
    return value.quantize(UNIT, decimal.ROUND_FLOOR)


# ---- positions ----

class Position:
    """By average cost and first in, first out; a short's cost is what it was sold for."""

    def __init__(self):
        self.qty = self.cost = self.realized = self.fifo_realized = Decimal(0)
        self.lots = []  # quantity, cost, when it was opened

    def fill(self, change, notional, ts_ns):
        against = min(abs(change), abs(self.qty)) if self.qty and (self.qty > 0) != (change > 0) else Decimal(0)
        if against:
            part = notional if against == abs(change) else down(notional * against / abs(change))
            self.close(against, part)
            notional -= part
        opened = abs(change) - against
        if opened:
            self.qty += opened if change > 0 else -opened
            self.cost += notional
            self.lots.append([opened, notional, ts_ns])

    def close(self, size, worth):
        sign = 1 if self.qty > 0 else -1
        left = self.cost if size == abs(self.qty) else down(self.cost * size / abs(self.qty))
        self.cost -= left
        self.realized += sign * (worth - left)
        self.qty -= sign * size
        fifo = Decimal(0)
        while size:
            lot = self.lots[0]
            part = min(size, lot[0])
            cost = lot[1] if part == lot[0] else down(lot[1] * part / lot[0])
            lot[0], lot[1], size, fifo = lot[0] - part, lot[1] - cost, size - part, fifo + cost
            if not lot[0]:
                self.lots.pop(0)
        self.fifo_realized += sign * (worth - fifo)

    def split(self, shares, per, ex_ns):
        """By how much it grows; of a short, shrinks."""
        sign = 1 if self.qty > 0 else -1
        old = sum(lot[0] for lot in self.lots if lot[2] <= ex_ns)
        new = down(old * shares / per)
        if old and not new:
            self.close(old, Decimal(0))
        elif old:
            had = given = carried = Decimal(0)
            kept = []
            for qty, cost, opened_ns in self.lots:
                if opened_ns <= ex_ns:
                    had += qty
                    end = down(had * shares / per)
                    qty, given = end - given, end
                cost, carried = cost + carried, Decimal(0)
                if qty:
                    kept.append([qty, cost, opened_ns])
                else:
                    carried = cost
            if carried:
                kept[-1][1] += carried
            self.lots = kept
            self.qty += sign * (new - old)
        return sign * (new - old)

    def book(self, fifo):
        cost = sum((lot[1] for lot in self.lots), Decimal(0)) if fifo else self.cost
        return cost if self.qty > 0 else -cost

    def worth(self, mark):
        return down(self.qty * mark)  # away from zero for a short


# ---- an account, from the record's beginning ----

class Sums:
    """What there is after some rows of the ledger."""

    def __init__(self):
        self.cash = collections.Counter()
        self.receivable = collections.Counter()
        self.lines = collections.defaultdict(collections.Counter)  # currency: line
        self.gone = collections.defaultdict(Decimal)  # currency, fifo: gains of what a reset took
        self.gone_unrealized = collections.defaultdict(Decimal)
        self.positions = collections.defaultdict(Position)

    def realized(self, currency, fifo):
        held = (p for symbol, p in self.positions.items() if PAIRS[symbol][1] == currency)
        return self.gone[currency, fifo] + sum((p.fifo_realized if fifo else p.realized for p in held), Decimal(0))

    def value(self, currency, marks):
        held = ((symbol, p) for symbol, p in self.positions.items() if PAIRS[symbol][1] == currency and p.qty)
        return sum((p.worth(marks[symbol]) for symbol, p in held), Decimal(0))

    def unrealized(self, currency, fifo, marks):
        held = ((symbol, p) for symbol, p in self.positions.items() if PAIRS[symbol][1] == currency and p.qty)
        return self.gone_unrealized[currency, fifo] + sum((p.worth(marks[symbol]) - p.book(fifo) for symbol, p in held), Decimal(0))


class Account:
    def __init__(self, record, name, currency):
        self.record, self.name, self.currency = record, name, currency

    def reset(self, sums, ts_ns, marks):
        for currency in {self.currency} | set(sums.cash) | {PAIRS[symbol][1] for symbol in sums.positions}:
            sums.lines[currency]["resets"] -= sums.cash[currency] + sums.value(currency, marks)
            for fifo in (False, True):
                gone = sums.unrealized(currency, fifo, marks)
                sums.gone[currency, fifo] = sums.realized(currency, fifo)
                sums.gone_unrealized[currency, fifo] = gone
            sums.cash[currency] = Decimal(0)
        sums.positions.clear()

    def split(self, sums, row):
        for symbol, position in sums.positions.items():
            for action in self.record.splits:
                if PAIRS[symbol][0] == row["asset"] and action["symbol"] == symbol and action["ts_ns"] == row["ts_ns"] and \
                        (self.name, action["action"]) not in self.done:
                    self.done.add((self.name, action["action"]))
                    change = position.split(int(action["shares"]), int(action["per"]), int(action["ex_ns"]))
                    assert change == Decimal(row["amount"]), (row, change)
                    return
        raise AssertionError(("no split asks for", row))

    def receivables_until(self, until_ns):
        """Those of before: by their times, or since the ledger's rows of before come after the row that they name."""
        mine, n = [row for row in self.record.receivables if row["account"] == self.name], 0
        before = [int(row["id"]) for row in self.record.ledger[:self.record.first_row(until_ns)] if row["account"] == self.name]
        for i, row in enumerate(mine):
            if row["ledger"] and before and int(row["ledger"]) <= before[-1] - (row["kind"] == "booked"):
                n = i + 1
        while n < len(mine) and int(mine[n]["ts_ns"]) < until_ns:
            n += 1
        return mine[:n]

    def accrue(self, sums, until_ns, resets):
        """Dividends between ex-date and payment: those that are open then, and those that a reset took."""
        mine = self.receivables_until(until_ns)
        ended = {row["booked"] for row in mine if row["kind"] != "booked"}
        for row in mine:
            asset, amount = row["asset"], Decimal(row["amount"])
            if not row["booked"]:  # of one that is booked or paid at once
                sums.lines[asset]["withheld"] += Decimal(row["withheld"])
                assert amount + Decimal(row["withheld"]) == Decimal(row["gross"]), row
            if row["kind"] == "booked" and row["receivable"] not in ended:
                sums.receivable[asset] += amount
                sums.lines[asset]["dividends"] += amount
            elif row["kind"] == "written-off" and row["ts_ns"] in resets:
                sums.lines[asset]["dividends"] += amount
                sums.lines[asset]["resets"] -= amount

    def upto(self, until_ns, reset_marks):
        """Of what was before; reset_marks(ts_ns): of the positions that a reset took."""
        sums, filled, reset_ns, resets, self.done = Sums(), set(), None, set(), set()
        end = self.record.first_row(until_ns)
        for row in self.record.ledger[:end]:
            if row["account"] != self.name or row["kind"] == "borrow":
                continue
            asset, kind, amount, fill = row["asset"], row["kind"], Decimal(row["amount"]), self.record.fills.get(row["fill_id"])
            if kind == "reset":
                if asset == self.currency:
                    self.reset(sums, row["ts_ns"], reset_marks(row["ts_ns"]))
                    reset_ns = row["ts_ns"]
                    resets.add(reset_ns)
                continue
            if kind == "split":
                self.split(sums, row)
            if fill and kind == "trade" and row["fill_id"] not in filled:
                filled.add(row["fill_id"])
                sign = 1 if fill["side"] == "BUY" else -1
                sums.positions[fill["symbol"]].fill(sign * Decimal(fill["qty"]), Decimal(fill["notional"]), int(row["ts_ns"]))
            of_base = kind == "split" or (fill and asset == PAIRS[fill["symbol"]][0])
            if of_base and asset != self.currency:
                continue
            sums.cash[asset] += amount
            lines = sums.lines[asset]
            if of_base:
                lines["exchanged"] += amount
            elif kind in ("deposit", "withdrawal"):
                lines["resets" if row["ts_ns"] == reset_ns else kind + "s"] += amount
            elif kind == "transfer":
                lines["transfers"] += amount
            elif kind in ("fee", "interest"):
                lines[kind + ("s" if kind == "fee" else "")] -= amount
            elif kind == "dividend":
                lines["dividends"] += amount
        self.accrue(sums, until_ns, resets)
        return sums

    def has(self, end):
        """Of its currency, by the balances that the ledger states."""
        mine = [row for row in self.record.ledger[:end] if row["account"] == self.name and row["asset"] == self.currency]
        borrowed = sum((Decimal(row["amount"]) for row in mine if row["kind"] == "borrow"), Decimal(0))
        return (Decimal(mine[-1]["balance"]) if mine else Decimal(0)) - borrowed


# ---- a record ----

class Record:
    def __init__(self, state):
        self.state = state
        self.ledger = rows(state, "ledger", "export")
        self.fills = {row["fill"]: row for row in rows(state, "fills")}
        self.splits = [row for row in rows(state, "actions") if row["kind"] == "split"]
        self.receivables = rows(state, "receivables")
        self.stops = collections.defaultdict(list)  # account, symbol: marks at clean stops
        for row in rows(state, "equity", "--marks"):
            if row["mark"] and Decimal(row["mark"]) > 0:
                self.stops[row["account"], row["symbol"]].append(row)
        self.whole = self.statement("--method", "fifo")
        self.accounts = {}
        for one in self.whole["accounts"]:  # the account's own currency is its first
            self.accounts.setdefault(one["account"], Account(self, one["account"], one["currency"]))
        self.resets = collections.defaultdict(dict)
        for one in self.whole["accounts"]:
            for mark in one["marks"]:
                if mark["moment"] == "reset":
                    self.resets[one["account"], str(mark["ts_ns"])][mark["symbol"]] = Decimal(mark["mark"])
        self.periods = self.checks = self.at_stops = 0

    def statement(self, *argv):
        return json.loads(run("statement", "--json", "--state", self.state, *argv))

    def first_row(self, ts_ns):
        return next((i for i, row in enumerate(self.ledger) if int(row["ts_ns"]) >= ts_ns), len(self.ledger))

    def times(self, rng):
        """Around what happened, and at whole seconds, where bars close."""
        moments = [int(row["ts_ns"]) for row in self.ledger] + [int(row["ts_ns"]) for row in self.splits] * 3
        first, last = min(moments), max(moments)
        near = [rng.choice(moments) + rng.choice((-1, 0, 0, 0, 1)) for _ in range(PERIODS)]
        near.append(rng.choice((first - SECOND, rng.randrange(first, last), last // SECOND * SECOND, last + SECOND)))
        return sorted(set(near))


def check_account(record, statement, frm, to, name, fifo):
    account = record.accounts[name]
    listed = {one["currency"]: one for one in statement["accounts"] if one["account"] == name}
    reset_marks = lambda ts_ns: record.resets[name, ts_ns]
    start, end = (account.upto(at, reset_marks) for at in (frm, to))
    marks = {moment: {mark["symbol"]: Decimal(mark["mark"]) for one in listed.values() for mark in one["marks"] if mark["moment"] == moment}
             for moment in ("opening", "closing")}
    assert start.cash[account.currency] == account.has(record.first_row(frm)) and end.cash[account.currency] == account.has(record.first_row(to))
    for currency in set(listed) | set(end.cash) | set(end.lines) | {PAIRS[symbol][1] for symbol in end.positions}:
        one = listed.get(currency, collections.defaultdict(lambda: "0"))
        wanted = {line: end.lines[currency][line] - start.lines[currency][line] for line in LINES}
        wanted["realized"] = end.realized(currency, fifo) - start.realized(currency, fifo)
        wanted["unrealized_change"] = end.unrealized(currency, fifo, marks["closing"]) - start.unrealized(currency, fifo, marks["opening"])
        wanted["opening"] = start.cash[currency] + start.receivable[currency] + start.value(currency, marks["opening"])
        wanted["closing"] = end.cash[currency] + end.receivable[currency] + end.value(currency, marks["closing"])
        wanted["flows"] = sum(wanted[line] for line in ("deposits", "withdrawals", "transfers", "resets", "exchanged"))
        wanted["opening_cash"], wanted["closing_cash"] = start.cash[currency], end.cash[currency]
        wanted["opening_receivable"], wanted["closing_receivable"] = start.receivable[currency], end.receivable[currency]
        found = {line: Decimal(one[line]) for line in wanted}
        assert found == wanted, (record.state, name, currency, frm, to, fifo, {k: (found[k], v) for k, v in wanted.items() if found[k] != v})
        assert found["opening"] + found["flows"] + found["realized"] + found["unrealized_change"] - found["fees"] - found["interest"] + \
            found["dividends"] == found["closing"], (record.state, name, currency, found)
        record.checks += len(wanted) + 1


def key_of(one):
    return one["account"], one["currency"]


def check_chained(before, after):
    """What one ends with the next one begins with, and by the same marks."""
    ends, begins = ({key_of(one): one for one in statement["accounts"]} for statement in (before, after))
    shown = lambda one, moment: [{k: v for k, v in mark.items() if k not in ("moment", "cost")} for mark in one["marks"] if mark["moment"] == moment]
    for key in set(ends) | set(begins):
        end, begin = ends.get(key), begins.get(key)
        assert Decimal(end["closing"] if end else 0) == Decimal(begin["opening"] if begin else 0), (key, end, begin)
        if end and begin:
            assert shown(end, "closing") == shown(begin, "opening"), (key, end["marks"], begin["marks"])


def check_positions(record):
    """Gains of the whole record are those of `positions`, of accounts that were never reset."""
    reset = {row["account"] for row in record.ledger if row["kind"] == "reset"}
    average = {key_of(one): Decimal(one["realized"]) for one in record.statement()["accounts"]}
    fifo = {key_of(one): Decimal(one["realized"]) for one in record.whole["accounts"]}
    sums = collections.defaultdict(lambda: [Decimal(0), Decimal(0)])
    for row in rows(record.state, "positions", "--all"):
        sums[row["account"], PAIRS[row["symbol"]][1]][0] += Decimal(row["realized"])
        sums[row["account"], PAIRS[row["symbol"]][1]][1] += Decimal(row["fifo_realized"])
    for key, (one, other) in sums.items():
        assert key[0] in reset or (average.get(key, 0), fifo.get(key, 0)) == (one, other), (record.state, key, one, other)


def check_equity(record, stopped_ns):
    """What the last stop left: each account's closing is its point of equity there; interest that is not booked yet is in that alone."""
    last = {row["account"]: Decimal(row["equity"]) for row in rows(record.state, "equity") if int(row["ts_ns"]) == stopped_ns}
    charged = {row["account"] for row in record.ledger if row["kind"] == "interest"}
    for name, account in record.accounts.items():
        closing = next(Decimal(one["closing"]) for one in record.whole["accounts"] if key_of(one) == (name, account.currency))
        assert closing >= last[name] if name in charged else closing == last[name], (record.state, name, closing, last[name])
        record.checks += 1


def in_shares(record, price, made_ns, symbol, ts_ns):
    """A price that was made before `made_ns`, in the shares of a moment; its own, where no split came between."""
    close, closes = Decimal(price), {Decimal(price)}
    for split in record.splits:
        if split["symbol"] == symbol and int(split["ts_ns"]) <= ts_ns and made_ns < int(split["ex_ns"]):
            close = (close * int(split["per"]) / int(split["shares"])).quantize(UNIT, decimal.ROUND_HALF_UP)
            closes.add(close)  # it came before the split, or after it
    return closes


def check_marks(record, statements):
    bars = {(symbol, source): rows(record.state, "bars", symbol, "1s", "--source", source)
            for symbol in PAIRS for source in ("venue", "trades")}
    ends = {key: [int(bar["open_time_ms"]) * 10**6 + SECOND for bar in each] for key, each in bars.items()}
    for statement in statements:
        for account, mark in ((one["account"], mark) for one in statement["accounts"] for mark in one["marks"]):
            at = mark["ts_ns"]
            stop = max((row for row in record.stops[account, mark["symbol"]] if int(row["ts_ns"]) <= at), key=lambda row: int(row["ts_ns"]), default=None)
            newest = max((end for key, each in ends.items() if key[0] == mark["symbol"] for end in each if end <= at), default=None)
            if mark["source"] == "fill":
                assert newest is None and stop is None, mark
                continue
            record.checks += 1
            if mark["source"] == "stop":
                assert newest is None or newest <= int(stop["ts_ns"]), (mark, stop, newest)
                assert int(stop["mark_ns"]) == mark["mark_ns"], (mark, stop)
                record.at_stops += 1
                splits = [int(split["ts_ns"]) for split in record.splits if split["symbol"] == mark["symbol"]]
                if not any(int(stop["ts_ns"]) <= ts_ns <= at for ts_ns in splits):
                    assert Decimal(mark["mark"]) == Decimal(stop["mark"]), (mark, stop)
                continue
            assert stop is None or int(stop["ts_ns"]) < newest, (mark, stop)
            assert mark["source"] in ("venue", "trades") and mark["interval"] == "1s" and mark["mark_ns"] == newest, (mark, newest)
            key = mark["symbol"], mark["source"]
            bar = bars[key][ends[key].index(newest)]
            assert Decimal(mark["mark"]) in in_shares(record, bar["close"], int(bar["open_time_ms"]) * 10**6, mark["symbol"], at), (mark, bar)


def moment(text):
    """A time of either form: JSON has no more digits than it needs, CSV all nine."""
    whole, _, part = text.rstrip("Z").partition(".")
    return whole, part.ljust(9, "0")


def check_csv(record, statement, *argv):
    listed = rows(record.state, "statement", *argv)
    assert len(listed) == len(statement["accounts"])
    for row, one in zip(listed, statement["accounts"]):
        iso = {name + "_iso": moment(one[name]) for name in ("from", "to")}
        assert all(iso[name] == moment(cell) if name in iso else str(one[name]) == cell for name, cell in row.items()), (row, one)
    marks = rows(record.state, "statement", "--marks", *argv)
    mine = [mark for one in statement["accounts"] for mark in one["marks"]]
    assert sorted((row["symbol"], row["moment"], moment(row["ts_iso"]), row["mark"], moment(row["mark_iso"])) for row in marks) == \
        sorted((mark["symbol"], mark["moment"], moment(mark["time"]), mark["mark"], moment(mark["mark_time"])) for mark in mine)


def check_page(record, statement, *argv):
    """It is well formed, and has each closing and each mark's time."""
    path = os.path.join(record.state, "page.html")
    assert run("statement", "--html", path, "--state", record.state, *argv) == ""
    with open(path) as file:
        page = file.read()
    words = " ".join(xml.etree.ElementTree.fromstring(page.partition("<!DOCTYPE html>")[2]).itertext())
    for one in statement["accounts"]:
        assert one["closing"] in words and all(mark["mark_time"] in words for mark in one["marks"]), one
    text = run("statement", "--state", record.state, *argv)
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert all(one["closing"] in text and all(mark["mark_time"] in text for mark in one["marks"]) for one in statement["accounts"]), text


def check(state, seed, stopped_ns):
    record, rng = Record(state), random.Random(seed)
    times, statements = record.times(rng), []
    for frm, to in zip(times, times[1:]):
        fifo = rng.random() < 0.5
        period = ("--from", str(frm), "--to", str(to), "--method", "fifo" if fifo else "average")
        statements.append(record.statement(*period))
        for name in record.accounts:
            check_account(record, statements[-1], frm, to, name, fifo)
        record.periods += 1
    for before, after in zip(statements, statements[1:]):
        check_chained(before, after)
    check_positions(record)
    check_equity(record, stopped_ns)
    if seed % BARS_EVERY == 0:
        check_marks(record, statements + [record.whole])
        check_csv(record, statements[-1], *period)
        check_page(record, statements[-1], *period)
    return record


def main():
    first = random.SystemRandom().randrange(1, 10**9) if LONG else 1
    first = int(os.environ.get("PAPERTAPE_SEED", first))
    print(f"seeds from {first}")
    happened, periods, checks, at_stops = collections.Counter(), 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="papertape-", dir=MEMORY) as folder:
        with subprocess.Popen([RUNS, folder, str(first), str(RECORDS), str(EVENTS)], stdout=subprocess.PIPE, text=True) as made:
            for line in made.stdout:
                made_of = json.loads(line)
                seed, stopped_ns = made_of.pop("seed"), made_of.pop("stopped_ns")
                happened.update(made_of)
                state = os.path.join(folder, str(seed))
                record = check(state, seed, stopped_ns)
                periods, checks, at_stops = periods + record.periods, checks + record.checks, at_stops + record.at_stops
                for name in os.listdir(state):
                    os.unlink(os.path.join(state, name))
        assert made.returncode == 0
    assert all(happened[kind] > 0 for kind in happened), happened
    assert periods >= 3 * RECORDS and at_stops > 0, (periods, at_stops)
    print(f"{RECORDS} records, {periods} periods, {checks} figures equal, {at_stops} marks at stops: " + ", ".join(f"{n} {kind}" for kind, n in happened.items()))


main()
