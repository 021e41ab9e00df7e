#!/usr/bin/env python3
"""`papertape report` on random records (every kind of event, order, transfer, reset): each figure equals the one that
tests/oracle/report_figures.py computes from the ledger. report_oracle.py RECORD PAPERTAPE ORACLE-FOLDER"""

import os
import random
import subprocess
import sys
import tempfile

RECORD, PAPERTAPE, FOLDER = sys.argv[1:4]
sys.path.insert(0, FOLDER)
import oracle_venv  # noqa: E402

with oracle_venv.imports("empyrical"):
    import report_figures

LONG = bool(os.environ.get("PAPERTAPE_LONG"))
SEEDS = range(1, 61) if LONG else range(1, 3)
EVENTS = 6000 if LONG else 2000
PERIODS = 12 if LONG else 3
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main():
    checks = accounts = trades = 0
    for seed in SEEDS:
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory(prefix="papertape-", dir=MEMORY) as state:
            subprocess.run([RECORD, state, str(seed), str(EVENTS)], check=True)
            record = report_figures.Record(PAPERTAPE, state)
            times = sorted(ts for points in record.points.values() for ts, *_ in points)
            periods = [(), ("--day", "2024-08-08"), ("--day", "2024-08-09"), ("--from", "2024-01-01")]
            for _ in range(PERIODS):
                first, last = sorted(rng.sample(range(times[0] - 10**12, times[-1] + 10**12), 2))
                periods.append(("--from", str(first), "--to", str(last)))
            for period in periods:
                report, n = report_figures.check(PAPERTAPE, state, *period, record=record)
                checks += n
                accounts += len(report["accounts"])
                trades += sum(a["trades"]["closed"] for a in report["accounts"])
    assert trades > 30 and accounts > 30, (trades, accounts)
    print(f"{len(SEEDS)} records: {checks} figures of {accounts} accounts' periods equal, {trades} trades")


main()
