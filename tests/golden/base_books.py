#!/usr/bin/env python3
"""A record that was rebuilt from a log without its beginning: gains and journals build upon its base. hledger and bean-check
accept them and come to the balances that `ledger verify` prints; what the base held was opened by no known fill.
base_books.py GOLDEN-STATE PAPERTAPE"""

import csv
import glob
import io
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../db"))
import beancount  # noqa: E402
import hledger  # noqa: E402
from exports import LONG, run, verified  # noqa: E402

MAKER, PAPERTAPE = sys.argv[1:3]


def check(state, folder):
    mine = verified(PAPERTAPE, state)
    for options in [(), ("--from", "2024-08-09T15:00:00Z")][:1 + LONG]:
        journal = os.path.join(folder, "ledger.journal")
        hledger.export(state, journal, *options)
        run("hledger", "-f", journal, "check", "--strict", "ordereddates")
        assert hledger.balances("hledger", journal, "assets") == mine
        path = os.path.join(folder, "ledger.beancount")
        beancount.export(state, path, *options)
        assert beancount.check(path) == "", beancount.check(path)[:2000]
        theirs = beancount.balances(path, "WHERE account ~ '^Assets'")
        assert theirs == mine, set(theirs.items()) ^ set(mine.items())


def main():
    if not shutil.which("hledger") or not shutil.which("bean-query"):
        print("skipped: no hledger, or no beancount")
        return 77
    os.environ["LC_ALL"] = "C.UTF-8"
    with tempfile.TemporaryDirectory(prefix="papertape-") as folder:
        run(MAKER, folder)
        state = os.path.join(folder, "base")
        shutil.copytree(os.path.join(folder, "run", "events"), os.path.join(state, "events"))
        os.unlink(min(glob.glob(os.path.join(state, "events", "*.journal"))))
        subprocess.run([PAPERTAPE, "restore", "--from-events", "--state", state], check=True, capture_output=True)
        check(state, folder)
        gains = list(csv.DictReader(io.StringIO(run(PAPERTAPE, "gains", "--csv", "--state", state))))
        unknown = sum(row["fills"].startswith("- ") for row in gains)
        assert 0 < unknown < len(gains), (unknown, len(gains))
        print(f"{len(gains)} gains, {unknown} of lots that the base has")
    return 0


sys.exit(main())
