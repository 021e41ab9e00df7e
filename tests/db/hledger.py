#!/usr/bin/env python3
"""A whole record as a journal: hledger accepts it (every transaction balances, every commodity and account is declared, every
balance asserted is the running one), comes to the balances that the ledger has and the gains that `gains` lists, and holds
positions at what they cost. So does a journal of one account's days. hledger.py TEST-DB-BOOKS PAPERTAPE"""

import csv
import decimal
import io
import os
import shutil
import subprocess
import sys
import tempfile

from exports import costs, expected, nonzero, period, run, seeds, verified

BOOKS, PAPERTAPE = sys.argv[1:3]
EVENTS = 20000


def balances(hledger, journal, *options):
    """{(account, commodity): amount} of every account that is not at nothing."""
    found = {}
    rows = csv.reader(io.StringIO(run(hledger, "-f", journal, "balance", "--flat", "--no-total", "-O", "csv",
                                      "--layout", "bare", *options)))
    next(rows)
    for account, commodity, amount in rows:
        found[account, commodity] = decimal.Decimal(amount)
    return nonzero(found)


def export(state, journal, *options):
    run(PAPERTAPE, "ledger", "export", "--hledger", "--state", state, "--output", journal, *options)
    with open(journal) as file:
        return file.read()


def check_costs(hledger, journal, state):
    """At cost, what is held is worth what its lots cost."""
    held = {}
    for (account, commodity), amount in balances(hledger, journal, "-B", "assets").items():
        _, name, asset = account.split(":")
        if commodity != asset:
            held[name, asset, commodity] = amount
    assert held == costs(PAPERTAPE, state), set(held.items()) ^ set(costs(PAPERTAPE, state).items())


def check_period(hledger, journal, state):
    """One account's days: what they posted, upon what there was."""
    options = "--account", "dave", *period(PAPERTAPE, state)
    text = export(state, journal, *options)
    run(hledger, "-f", journal, "check", "--strict", "ordereddates")
    theirs = balances(hledger, journal, "not:desc:opening balances")
    ours = expected(PAPERTAPE, state, *options)
    assert theirs == ours, set(theirs.items()) ^ set(ours.items())
    assert "opening balances" in text


def check_altered(hledger, journal, text):
    """It does look: a unit more in one posting is refused."""
    lines = text.splitlines()
    at = max(i for i, line in enumerate(lines) if "@@" in line and " = " in line)
    words = lines[at].split()
    words[1] = f"{decimal.Decimal(words[1]) + decimal.Decimal('0.00000001'):f}"
    lines[at] = f"    {words[0]}  {' '.join(words[1:])}"
    with open(journal, "w") as file:
        file.write("\n".join(lines) + "\n")
    assert subprocess.run([hledger, "-f", journal, "check"], capture_output=True).returncode != 0


def main():
    hledger = shutil.which("hledger")
    if not hledger:
        print("skipped: no hledger")
        return 77
    os.environ["LC_ALL"] = "C.UTF-8"
    for seed in seeds(1, 200):
        with tempfile.TemporaryDirectory(prefix="papertape-") as state:
            run(BOOKS, os.path.join(state, "papertape.db"), str(seed), str(EVENTS))
            journal = os.path.join(state, "ledger.journal")
            text = export(state, journal)
            run(hledger, "-f", journal, "check", "--strict", "ordereddates")
            theirs, ours = balances(hledger, journal), expected(PAPERTAPE, state)
            assert theirs == ours, set(theirs.items()) ^ set(ours.items())
            assets = {key: amount for key, amount in theirs.items() if key[0].startswith("assets:")}
            assert assets == verified(PAPERTAPE, state), set(assets.items()) ^ set(verified(PAPERTAPE, state).items())
            assert "\nP " in text
            check_costs(hledger, journal, state)
            check_period(hledger, journal, state)
            check_altered(hledger, journal, text)
            gains = sum(key[0].startswith("income:gains:") for key in theirs)
            print(f"seed {seed}: {text.count(' * ')} transactions, {len(theirs)} balances equal, {gains} of gains")
    return 0


if __name__ == "__main__":
    sys.exit(main())
