#!/usr/bin/env python3
"""A whole record as beancount's input: bean-check accepts it (every transaction balances, every lot that is reduced is there, every
balance is what the ledger has), and bean-query finds the ledger's balances, the lots at what they cost, and the gains that
`gains` lists. So does the input of a period. A fee of the base asset balances. Names that its grammar does not
have are mapped, each to its own.
beancount.py TEST-DB-BOOKS PAPERTAPE"""

import collections
import csv
import decimal
import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from exports import LONG, costs, expected, nonzero, period, run, seeds, verified

BOOKS, PAPERTAPE = sys.argv[1:3]
EVENTS = 20000 if LONG else 12000
UNIT = decimal.Decimal("0.00000001")
PLACES = {"Assets": "assets", "Equity:Deposits": "equity:deposits", "Equity:Transfers": "equity:transfers",
          "Equity:Resets": "equity:resets", "Equity:Splits": "equity:splits", "Income:Dividends": "income:dividends",
          "Income:Gains": "income:gains", "Expenses:Fees": "expenses:fees", "Expenses:Interest": "expenses:interest",
          "Liabilities:Loans": "liabilities:loans", "Equity:Conversion": "equity:conversion"}


def export(state, path, *options):
    run(PAPERTAPE, "ledger", "export", "--beancount", "--state", state, "--output", path, *options)
    with open(path) as file:
        return file.read()


def check(path):
    """What bean-check says; nothing when it accepts it."""
    done = subprocess.run(["bean-check", path], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode or done.stderr else ""


def query(path, text):
    lines = run("bean-query", "-f", "csv", path, text).splitlines()
    return list(csv.DictReader(io.StringIO("\n".join(line for line in lines if line.strip()))))


def ours(account):
    """The name that hledger's export has."""
    place = max((place for place in PLACES if account.startswith(place)), key=len)
    names = account[len(place):].split(":")[1:3]
    if names:
        names[0] = names[0].lower()
    return ":".join([PLACES[place], *names])


def balances(path, where=""):
    """By account without symbols, as `expected` has them. What splits change is in lots, and has no counterpart."""
    sums = collections.defaultdict(decimal.Decimal)
    for row in query(path, f"SELECT account, currency, sum(number) AS n {where} GROUP BY account, currency"):
        row = {key.strip(): value.strip() for key, value in row.items()}
        sums[ours(row["account"]), row["currency"]] += decimal.Decimal(row["n"])
    return nonzero(sums)


def lots(path):
    sums = collections.defaultdict(decimal.Decimal)
    for row in query(path, "SELECT account, currency, cost_currency, sum(number * cost_number) AS n "
                           "WHERE cost_number != NULL GROUP BY account, currency, cost_currency"):
        row = {key.strip(): value.strip() for key, value in row.items()}
        name = row["account"].split(":")[1].lower()
        sums[name, row["currency"], row["cost_currency"]] += decimal.Decimal(row["n"])
    return nonzero({key: amount.quantize(UNIT) for key, amount in sums.items()})


def without_splits(sums):
    return {key: amount for key, amount in sums.items() if not key[0].startswith("equity:splits")}


def equal(theirs, mine):
    assert theirs == mine, set(theirs.items()) ^ set(mine.items())


def check_altered(path, text):
    """It does look: a unit more in one posting is refused."""
    lines = text.splitlines()
    at = max(i for i, line in enumerate(lines) if line.startswith("  Assets:") and "{{" not in line)
    words = lines[at].split()
    words[1] = f"{decimal.Decimal(words[1]) + UNIT:f}"
    lines[at] = "  " + "  ".join(words)
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    assert "does not balance" in check(path)


def check_base_fee(state, path):
    """A fee that the venue took of what was bought: the record ends with it. The lot is smaller, its cost is not."""
    database = sqlite3.connect(os.path.join(state, "papertape.db"))
    last, fill = database.execute("SELECT max(l.id), f.id FROM ledger l JOIN fills f ON f.id = l.fill_id JOIN symbols s ON s.id = f.symbol "
                                  "WHERE f.side = 'BUY' AND s.base = l.asset GROUP BY f.id HAVING count(*) = 1 AND min(l.balance) > 7 "
                                  "ORDER BY f.id DESC").fetchone()
    end, = database.execute("SELECT max(id) FROM ledger WHERE fill_id = ?", (fill,)).fetchone()
    database.execute("DELETE FROM ledger WHERE id > ?", (end,))
    database.execute("UPDATE fills SET fee_base = 7 WHERE id = ?", (fill,))
    database.execute("INSERT INTO ledger (id, ts_ns, account, asset, scale, kind, amount, balance, order_id, fill_id, hash) SELECT ? + 1, ts_ns, "
                     "account, asset, scale, 'fee', -7, balance - 7, order_id, fill_id, hash FROM ledger WHERE id = ?", (end, last))
    database.commit()
    database.close()
    text = export(state, path)
    assert check(path) == "", check(path)[:2000]
    assert text.count("Equity:Conversion  -0.00000007") == 1
    mine = without_splits(expected(PAPERTAPE, state))
    equal({key: n for key, n in without_splits(balances(path)).items() if key[0] != "equity:conversion"}, mine)
    run(PAPERTAPE, "ledger", "export", "--hledger", "--state", state, "--output", path)
    if shutil.which("hledger"):
        run("hledger", "-f", path, "check", "--strict")


def check_names(state, path):
    """Assets and accounts whose names are none of beancount's."""
    database = sqlite3.connect(os.path.join(state, "papertape.db"))
    for name, other in ("alice", "my account"), ("bob", "my.account"), ("carol", "Ünï"), ("dave", "dave"):
        database.execute("UPDATE accounts SET name = ? WHERE name = ?", (other, name))
    for asset, other in ("BTC", "1000sats"), ("ETH", "F"):
        database.execute("UPDATE ledger SET asset = ? WHERE asset = ?", (other, asset))
        for column in "base", "quote":
            database.execute(f"UPDATE symbols SET {column} = ? WHERE {column} = ?", (other, asset))
    database.commit()
    database.close()
    text = export(state, path)
    assert check(path) == "", check(path)[:2000]
    for name in "Assets:My-account:", "Assets:My-account-2:", "Assets:X--n--:", ' commodity X1000SATS\n  name: "1000sats"', \
            ' commodity XF\n  name: "F"':
        assert name in text, name


def main():
    if not shutil.which("bean-check") or not shutil.which("bean-query"):
        print("skipped: no beancount")
        return 77
    os.environ["LC_ALL"] = "C.UTF-8"
    for seed in seeds(1, 200):
        with tempfile.TemporaryDirectory(prefix="papertape-") as state:
            run(BOOKS, os.path.join(state, "papertape.db"), str(seed), str(EVENTS))
            path = os.path.join(state, "ledger.beancount")
            text = export(state, path)
            assert check(path) == "", check(path)[:2000]
            theirs = balances(path)
            equal(without_splits(theirs), without_splits(expected(PAPERTAPE, state)))
            equal({key: n for key, n in theirs.items() if key[0].startswith("assets:")}, verified(PAPERTAPE, state))
            equal(lots(path), costs(PAPERTAPE, state))
            assert " price " in text and "{{" in text
            options = period(PAPERTAPE, state)
            export(state, path, *options)
            assert check(path) == "", check(path)[:2000]
            equal(without_splits(balances(path, "WHERE narration != 'opening balances'")),
                  without_splits(expected(PAPERTAPE, state, *options)))
            check_altered(path, text)
            check_base_fee(state, path)
            check_names(state, path)
            print(f"seed {seed}: {text.count(' * ')} transactions, {len(theirs)} balances equal, "
                  f"{text.count('{{')} postings of lots")
    return 0


if __name__ == "__main__":
    sys.exit(main())
