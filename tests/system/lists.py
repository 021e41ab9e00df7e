#!/usr/bin/env python3
"""The lists that a state answers with --json and with --csv: the same rows, and in each the same fields, one by one, except a few
that JSON alone has."""

import csv
import io
import json

import harness

# Each has a row at least; of some the daemon is asked, the others are of what it stored.
LIVE = ("alerts prices", "symbol list")
STORED = ("account list", "alerts list", "equity", "fees", "fills", "ledger list", "ledger export", "orders", "positions")
JSON_ALONE = {"acked", "effective_ns", "input_seq", "quote"}
CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 20
[account hand]
cash = 10000
strategy = none
"""


def same(name, text, value):
    """A cell and a value of JSON: a number as far as the cell has digits, a moment or a text as it is; null is an empty cell, or a
    rule's word for none."""
    if value is None or text == "":
        return text in ("", "off", "auto") and value in (None, "", 0, False, [])
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
        assert row.keys() == fields.keys() - JSON_ALONE, f"{verb}: {row.keys() ^ fields.keys()}"
        wrong = {name: (row[name], fields[name]) for name in row
                 if not (float(row[name]) > 0 and fields[name] > 0 if name in moves else same(name, row[name], fields[name]))}
        assert not wrong, f"{verb}: {wrong}"
        compared += len(row)
    print(f"{verb}: {len(rows)} rows, {compared} fields")


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
        daemon.wait_status(lambda s: len(s["symbols"] or ()) == 2 and all(x["book"] == "synced" for x in s["symbols"]), "books")
        for order in (("buy", "BTCUSDT", "0.01"), ("buy", "BTCUSDT", "0.01"), ("buy", "ETHUSDT", "0.5", "--limit", "1000", "--tif", "day"),
                      ("buy", "BTCUSDT", "0.006", "--limit", "30000.00", "--post-only")):
            daemon.papertape("order", *order)
        last = daemon.status_object()["symbols"][0]["last"]
        for symbol, side, price in (("BTCUSDT", "above", 999999.5), ("ETHUSDT", "below", 0.01), ("BTCUSDT", "above", last + 5)):
            daemon.papertape("alerts", "price", symbol, f"--{side}", f"{price:.2f}")
        harness.wait_for(lambda: daemon.query("SELECT 1 FROM alerts WHERE code = 'PRICE'"), "an alert")
        harness.wait_for(lambda: daemon.query("SELECT COUNT(*) FROM fills")[0][0] >= 2, "fills")
        for verb in LIVE:
            compare(daemon, verb, ("last",))
        assert daemon.stop() == 0
        for verb in STORED:
            compare(daemon, verb)


if __name__ == "__main__":
    main()
