#!/usr/bin/env python3
"""A whole record as a journal: hledger accepts it (every transaction balances, every commodity and account is declared, every
balance asserted is the running one) and comes to the balances that the ledger has. hledger.py TEST-DB-BOOKS PAPERTAPE"""

import collections
import csv
import decimal
import io
import os
import shutil
import subprocess
import sys
import tempfile

BOOKS, PAPERTAPE = sys.argv[1:3]
RECORDS, EVENTS = 3, 5000


def run(*argv, **kwargs):
    return subprocess.run(argv, check=True, capture_output=True, text=True, **kwargs).stdout


def balances(hledger, journal):
    """{(account, commodity): amount} of every account that is not at nothing."""
    found = {}
    rows = csv.reader(io.StringIO(run(hledger, "-f", journal, "balance", "--flat", "--no-total", "-O", "csv",
                                      "--layout", "bare")))
    next(rows)
    for account, commodity, amount in rows:
        if decimal.Decimal(amount) != 0:
            found[account, commodity] = decimal.Decimal(amount)
    return found


def expected(state):
    """The same from the ledger's rows, by their kinds."""
    sums = collections.Counter()
    contra = {"deposit": "equity:deposits:{0}", "withdrawal": "equity:deposits:{0}", "fee": "expenses:fees:{0}", "transfer": "equity:transfers",
              "borrow": "liabilities:loans:{0}:{1}", "interest": "expenses:interest:{0}", "reset": "equity:resets:{0}",
              "split": "equity:splits:{0}", "dividend": "income:dividends:{0}"}
    for row in csv.DictReader(io.StringIO(run(PAPERTAPE, "ledger", "export", "--csv", "--state", state))):
        amount = decimal.Decimal(row["amount"])
        sums[f"assets:{row['account']}:{row['asset']}", row["asset"]] += amount
        if row["kind"] != "trade":
            sums[contra[row["kind"]].format(row["account"], row["asset"]), row["asset"]] -= amount
    return {key: amount for key, amount in sums.items() if amount != 0}


def verified(state):
    """assets:… as ledger verify prints them."""
    found = {}
    for line in run(PAPERTAPE, "ledger", "verify", "--state", state).splitlines()[2:]:
        name, amount, asset = line.split()
        if decimal.Decimal(amount) != 0:
            found[f"assets:{name}:{asset}", asset] = decimal.Decimal(amount)
    return found


def main():
    hledger = shutil.which("hledger")
    if not hledger:
        print("skipped: no hledger")
        return 77
    os.environ["LC_ALL"] = "C.UTF-8"
    for seed in range(1, RECORDS + 1):
        with tempfile.TemporaryDirectory(prefix="papertape-") as state:
            run(BOOKS, os.path.join(state, "papertape.db"), str(seed), str(EVENTS))
            journal = os.path.join(state, "ledger.journal")
            text = run(PAPERTAPE, "ledger", "export", "--hledger", "--state", state)
            with open(journal, "w") as file:
                file.write(text)
            run(hledger, "-f", journal, "check", "--strict", "ordereddates")
            theirs = balances(hledger, journal)
            assert theirs == expected(state), set(theirs.items()) ^ set(expected(state).items())
            assets = {key: amount for key, amount in theirs.items() if key[0].startswith("assets:")}
            assert assets == verified(state), set(assets.items()) ^ set(verified(state).items())

            # It does look: a unit more in one posting is refused.
            lines = text.splitlines()
            at = max(i for i, line in enumerate(lines) if "@@" in line)
            words = lines[at].split()
            words[1] = str(decimal.Decimal(words[1]) + decimal.Decimal("0.00000001"))
            lines[at] = f"    {words[0]}  {' '.join(words[1:])}"
            with open(journal, "w") as file:
                file.write("\n".join(lines) + "\n")
            assert subprocess.run([hledger, "-f", journal, "check"], capture_output=True).returncode != 0
            print(f"seed {seed}: {text.count(' * ')} transactions, {len(theirs)} balances equal")
    return 0


sys.exit(main())
