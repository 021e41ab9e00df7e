#!/usr/bin/env python3
"""The lists that a state answers with --json and with --csv: the same rows, and in each the same fields, one by one, except a few
that JSON alone has, and the ISO times of CSV. --account, --from, --to and --at on each list that takes them: the same rows as of the
whole list filtered here; refusals of the others. A stop's points of equity, recomputed of its marks."""

import csv
import datetime
import decimal
import io
import json
import subprocess

import harness

# Each has a row at least; of some the daemon is asked, the others are of what it stored.
LIVE = ("alerts prices", "symbol list")
STORED = ("account list", "account terms", "alerts list", "commands", "equity", "equity --marks", "fees", "fills", "ledger causes",
          "ledger list", "ledger export", "orders", "positions")
JSON_ALONE = {"acked", "effective_ns", "input_seq", "quote"}
# Lists by the column of their times, and whether rows have an account.
SELECTED = {"fills": ("ts_ns", True), "orders": ("created_ns", True), "equity": ("ts_ns", True), "equity --marks": ("ts_ns", True),
            "ledger list": ("ts_ns", True), "ledger export": ("ts_ns", True), "alerts list": ("ts_ns", False),
            "bars BTCUSDT 1s": ("open_time_ms", False), "revisions": ("ts_ns", False), "actions": ("ts_ns", False),
            "account terms": ("since_ns", True), "ledger causes": ("ts_ns", True), "ledger accruals": ("ts_ns", True),
            "gains": ("disposed_ns", True), "receivables": ("ts_ns", True), "fee-rates": ("ts_ns", True), "commands": ("ts_ns", False)}
REFUSED = {"alerts list": ("account",), "bars BTCUSDT 1s": ("account",), "revisions": ("account",), "actions": ("account",),
           "gpu": ("account",), "events list": ("account", "at"), "train list": ("account",), "positions": ("from", "to"),
           "account list": ("from", "to"), "policy list": ("from", "to"), "report": ("at",), "alerts prices": ("account", "from", "to", "at"),
           "symbol list": ("account", "from", "to", "at"), "venues": ("account", "from", "to", "at"),
           "fees": ("account", "from", "to", "at"), "study list": ("account", "from", "to", "at"),
           "account epochs": ("from", "to"), "commands": ("account",), "statement": ("at",)}
ACCOUNTS = ("hand", "short")
CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 20
[account hand]
cash = 10000
strategy = none
[account short]
cash = 5000
strategy = none
shorts = on
borrow_rate = 0
"""


def same(name, text, value):
    """A cell and a value of JSON: a number as far as the cell has digits, a moment or a text as it is; null is an empty cell, or a
    rule's word for none."""
    if value is None or text == "":
        return text in ("", "off", "auto") and value in (None, "", 0, False, [])
    if isinstance(value, dict):
        return json.loads(text) == value
    if isinstance(value, bool):
        return text in (("yes", "true", "1") if value else ("no", "false", "0"))
    if isinstance(value, (int, float)) and not name.endswith("_ns"):
        return abs(float(text) - value) <= 0.51 * 10.0 ** -len(text.partition(".")[2]) + 1e-9 * abs(value) if "." in text else float(text) == value
    return text == str(value)


def compare(daemon, verb, moves=()):
    answer = json.loads(daemon.papertape(*verb.split(), "--json"))
    rows = list(csv.DictReader(io.StringIO(daemon.papertape(*verb.split(), "--csv"))))
    objects = next(value for value in answer.values() if isinstance(value, list))
    assert len(rows) == len(objects), (verb, rows, objects)
    compared = 0
    for row, fields in zip(rows, objects):
        times = {name for name in row if name.endswith("_iso")}
        assert row.keys() - times == fields.keys() - JSON_ALONE, f"{verb}: {row.keys() ^ fields.keys()}"
        assert times == {name[:-2] + "iso" for name in fields.keys() - JSON_ALONE if name.endswith("_ns")}, verb
        assert all(row[name] == iso(row[name[:-3] + "ns"]) for name in times), f"{verb}: {row}"
        wrong = {name: (row[name], fields[name]) for name in row.keys() - times
                 if not (float(row[name]) > 0 and fields[name] > 0 if name in moves else same(name, row[name], fields[name]))}
        assert not wrong, f"{verb}: {wrong}"
        compared += len(row)
    print(f"{verb}: {len(rows)} rows, {compared} fields")


def iso(cell):
    """Nanoseconds as ISO 8601 with all digits."""
    if not cell or int(cell) == 0:
        return ""
    seconds, part = divmod(int(cell), 10**9)
    return f"{datetime.datetime.fromtimestamp(seconds, datetime.UTC):%Y-%m-%dT%H:%M:%S}.{part:09}Z"


def listed(daemon, verb, *options):
    return list(csv.DictReader(io.StringIO(daemon.papertape(*verb.split(), "--csv", *options))))


def by_options(daemon, verb, column, has_account):
    """Filtered lists against the whole one, filtered here: with limits that are the times of rows, so that an end that is included differs from one that is not."""
    whole = listed(daemon, verb)
    unit = 10**6 if column.endswith("_ms") else 1
    moment = lambda row: int(row[column]) * unit  # noqa: E731
    times = sorted({moment(row) for row in whole})
    compared = 0
    limits = [(times[len(times) // 4], times[3 * len(times) // 4]), (times[0], times[-1]), (times[-1], times[-1] + 1)] if times else [(1, 2)]
    for low, high in limits if harness.LONG else limits[:1]:
        for accounts in (None, *ACCOUNTS) if has_account else (None,):
            of = [] if accounts is None else ["--account", accounts]
            mine = [row for row in whole if accounts is None or row["account"] == accounts]
            for options, expected in ((["--from", iso(low)], [row for row in mine if moment(row) >= low]),
                                      (["--to", iso(high)], [row for row in mine if moment(row) < high]),
                                      (["--from", iso(low), "--to", iso(high)], [row for row in mine if low <= moment(row) < high]),
                                      ([], mine)):
                got = listed(daemon, verb, *of, *options)
                assert got == expected, f"{verb} {of} {options}: {len(got)} rows, {len(expected)} are right"
                compared += 1
    if has_account:
        done = subprocess.run([harness.PAPERTAPE, *verb.split(), "--state", daemon.state, "--account", "hond"], capture_output=True, text=True)
        assert done.returncode == 1 and "hond" in done.stderr and "hand" in done.stderr, done
    # As of a moment: rows that change later are compared by what never does.
    for at in times[:: max(1, len(times) // (3 if harness.LONG else 1))]:
        got = listed(daemon, verb, "--at", iso(at))
        fixed = ("fill", "order", "id", "alert", column, "account") if verb in ("orders", "alerts list") else whole[0].keys()
        until = at - 10**9 if verb.startswith("bars") else at  # a bar is there once it is over
        expected = [row for row in whole if moment(row) <= until]
        assert sorted([row.get(name) for name in fixed] for row in got) == sorted([row.get(name) for name in fixed] for row in expected), \
            f"{verb} --at {iso(at)}: {len(got)} rows, {len(expected)} are right"
        compared += 1
    print(f"{verb}: {compared} selections")


def as_of(daemon):
    """Positions, orders and accounts of a past moment against the fills and points of equity until then."""
    fills, points = listed(daemon, "fills"), listed(daemon, "equity")
    for at in sorted({int(row["ts_ns"]) for row in fills})[:: 1 if harness.LONG else 2]:
        until = [row for row in fills if int(row["ts_ns"]) <= at]
        held, filled = {}, {}
        for row in until:
            key, qty = (row["account"], row["symbol"]), decimal.Decimal(row["qty"])
            held[key] = held.get(key, 0) + (qty if row["side"] == "BUY" else -qty)
            filled[row["order"]] = filled.get(row["order"], 0) + qty
        got = {(row["account"], row["symbol"]): decimal.Decimal(row["qty"]) for row in listed(daemon, "positions", "--at", iso(at))}
        assert got == {key: qty for key, qty in held.items() if qty}, (at, got, held)
        for account in ACCOUNTS:
            some = listed(daemon, "positions", "--at", iso(at), "--account", account)
            assert {row["symbol"] for row in some} == {symbol for name, symbol in got if name == account}, some
        for row in listed(daemon, "orders", "--at", iso(at)):
            assert decimal.Decimal(row["filled"]) == filled.get(row["order"], 0), (at, row)
        for row in listed(daemon, "account list", "--at", iso(at)):
            newest = [point for point in points if point["account"] == row["account"] and int(point["ts_ns"]) <= at][-1]
            assert (row["equity"], row["cash"], row["at_ns"]) == (newest["equity"], newest["cash"], newest["ts_ns"]), (at, row, newest)


def epochs(daemon):
    """Epochs of one account, and of a past moment the money that had come until then."""
    whole, rows = listed(daemon, "account epochs"), listed(daemon, "ledger list")
    for account in ACCOUNTS:
        mine = listed(daemon, "account epochs", "--account", account)
        assert mine and mine == [row for row in whole if row["account"] == account] == listed(daemon, f"account epochs {account}")
    for at in sorted({int(row["ts_ns"]) for row in rows})[:: 1 if harness.LONG else 2]:
        came = {}
        for row in rows:
            if int(row["ts_ns"]) <= at and row["kind"] == "deposit":
                came[row["account"]] = came.get(row["account"], 0) + decimal.Decimal(row["amount"])
        got = {row["account"]: decimal.Decimal(row["flows"]) for row in listed(daemon, "account epochs", "--at", iso(at)) if row["flows"]}
        assert {name: flows for name, flows in got.items() if flows} == came, (at, got, came)


def periods(daemon):
    """A statement of one account, and one whose period is that of its options."""
    whole = listed(daemon, "statement")
    for account in ACCOUNTS:
        mine = listed(daemon, "statement", "--account", account)
        known = lambda rows: [{name: row[name] for name in row if not name.startswith("to")} for row in rows]  # noqa: E731 (until now)
        assert mine and known(mine) == known([row for row in whole if row["account"] == account]), (mine, whole)
    last = max(int(row["ts_ns"]) for row in listed(daemon, "ledger list"))
    first = listed(daemon, "statement", "--to", iso(last))
    assert all(row["to_ns"] == str(last) for row in first), first
    second = listed(daemon, "statement", "--from", iso(last))
    assert all(row["from_ns"] == str(last) for row in second), second


def segments(daemon):
    """Segments of the log that reach into a period, and trainings and policies of no period."""
    whole = listed(daemon, "events list")
    for limit in {int(row[name]) for row in whole for name in ("first_ns", "last_ns")}:
        assert listed(daemon, "events list", "--from", iso(limit)) == [row for row in whole if int(row["last_ns"]) >= limit]
        assert listed(daemon, "events list", "--to", iso(limit)) == [row for row in whole if int(row["first_ns"]) < limit]
    for verb in ("train list", "policy list"):  # as of a moment they are no daemon's, and so the exit status is 0
        assert listed(daemon, verb, "--at", iso(limit)) == []


def refusals(daemon):
    values = {"account": "hand", "from": "2024-01-01", "to": "2024-01-02", "at": "2024-01-01"}
    for verb, options in REFUSED.items():
        for option in options:
            done = subprocess.run([harness.PAPERTAPE, *verb.split(), f"--{option}", values[option], "--state", daemon.state],
                                  capture_output=True, text=True)
            assert done.returncode == 2 and not done.stdout and f"--{option}: " in done.stderr and "unknown option" not in done.stderr, (verb, done)
    for verb in ("policy list", "positions", "account list", "account epochs", "statement"):
        done = subprocess.run([harness.PAPERTAPE, *verb.split(), "--account", "hond", "--state", daemon.state], capture_output=True, text=True)
        assert done.returncode == 1 and not done.stdout and "did you mean hand?" in done.stderr, done
    for options in (("--at", "yesterday-ish"), ("--from", "2024-01-02", "--to", "2024-01-01"), ("--at", "1960-01-01")):
        done = subprocess.run([harness.PAPERTAPE, "fills", *options, "--state", daemon.state], capture_output=True, text=True)
        assert done.returncode == 2 and options[-2] in done.stderr, done


def stopped(daemon):
    """The last points of equity are of one moment, and each is its cash and its positions at its marks, to the unit."""
    points, marks = listed(daemon, "equity"), listed(daemon, "equity --marks")
    positions = {(row["account"], row["symbol"]): row for row in listed(daemon, "positions")}
    accounts = {row["account"]: row for row in listed(daemon, "account list")}
    assert marks and {row["account"] for row in marks} == set(ACCOUNTS), marks
    last = max(int(row["ts_ns"]) for row in points)
    for account in ACCOUNTS:
        point = [row for row in points if row["account"] == account][-1]
        assert int(point["ts_ns"]) == last, (point, last)
        equity, unit = decimal.Decimal(point["cash"]), decimal.Decimal(1).scaleb(decimal.Decimal(point["cash"]).as_tuple().exponent)
        mine = [row for row in marks if row["account"] == account and int(row["ts_ns"]) == last]
        for row in mine:
            value = decimal.Decimal(row["qty"]) * decimal.Decimal(row["mark"])
            # down: what is held is not made more, and what is short not less
            equity += (value / unit).to_integral_value(decimal.ROUND_FLOOR) * unit
            held = positions[account, row["symbol"]]
            assert (held["qty"], held["mark"], held["mark_ts_ns"]) == (row["qty"], row["mark"], row["mark_ns"]), (held, row)
            assert 0 < int(row["mark_ns"]) <= last and held["mark_ts_iso"] == iso(row["mark_ns"]), row
        assert mine and equity == decimal.Decimal(point["equity"]) == decimal.Decimal(accounts[account]["equity"]), (equity, point, accounts[account])
        assert len(mine) == sum(name == account for name, _ in positions), (mine, positions)
    print(f"stop: {len(marks)} marks, {len(accounts)} accounts")


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
        daemon.wait_status(lambda s: len(s["symbols"] or ()) == 2 and all(x["book"] == "synced" for x in s["symbols"]), "books")
        for order in (("buy", "BTCUSDT", "0.01"), ("buy", "BTCUSDT", "0.01"), ("buy", "ETHUSDT", "0.5", "--limit", "1000", "--tif", "day"),
                      ("buy", "BTCUSDT", "0.006", "--limit", "30000.00", "--post-only")):
            daemon.papertape("order", *order)
        harness.wait_for(lambda: daemon.query("SELECT COUNT(*) FROM fills")[0][0] >= 2, "what is bought")
        daemon.papertape("order", "sell", "BTCUSDT", "0.004")
        daemon.papertape("order", "sell", "ETHUSDT", "0.3", "--account", "short")
        daemon.papertape("order", "buy", "ETHUSDT", "0.1", "--account", "hand")
        last = daemon.status_object()["symbols"][0]["last"]
        for symbol, side, price in (("BTCUSDT", "above", 999999.5), ("ETHUSDT", "below", 0.01), ("BTCUSDT", "above", last + 5),
                                    ("BTCUSDT", "below", last - 5)):
            daemon.papertape("alerts", "price", symbol, f"--{side}", f"{price:.2f}")
        harness.wait_for(lambda: daemon.query("SELECT 1 FROM alerts WHERE code = 'PRICE'"), "an alert")
        harness.wait_for(lambda: daemon.query("SELECT COUNT(*) FROM fills")[0][0] >= 5, "fills")
        for verb in LIVE:
            compare(daemon, verb, ("last",))
        assert daemon.stop() == 0
        for verb in STORED:
            compare(daemon, verb)
        stopped(daemon)
        for verb, (column, has_account) in SELECTED.items():
            by_options(daemon, verb, column, has_account)
        as_of(daemon)
        epochs(daemon)
        periods(daemon)
        segments(daemon)
        refusals(daemon)
        assert harness.run([harness.PAPERTAPE, "ledger", "verify", "--state", daemon.state])
        assert harness.run([harness.PAPERTAPE, "parity", "--state", daemon.state])


if __name__ == "__main__":
    main()
