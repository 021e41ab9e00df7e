#!/usr/bin/env python3
"""`papertape sweep --periods K --period-days N`: each Sharpe ratio is that of `papertape backtest` of that period, to the bit; the seed decides
the periods; what is refused.

    sweep_periods.py PAPERTAPE
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures"))
from hourly_bars import write_market  # noqa: E402

DAY_NS, K = 86400 * 10**9, 3
checks = failures = 0


def check(condition, what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def sweep(papertape, folder, *words):
    return subprocess.run([papertape, "sweep", "--strategy", "sma-cross", "--bars", "AAAUSDT_1h.csv", "--grid", "fast=4,8", "--grid", "slow=20,40",
                           "--no-cache", "--min-trades", "1", *words], cwd=folder, capture_output=True, text=True)


def periods(papertape, folder, *words):
    ran = sweep(papertape, folder, "--periods", str(K), "--period-days", "6", "--top", "2", "--json", *words)
    check(ran.returncode == 0, f"{words}: {ran.stderr}")
    return json.loads(ran.stdout)


def test_equal(papertape, folder):
    found = periods(papertape, folder, "--seed", "5")
    said, top = found["periods"], found["top"]
    check(said["days"] == 6 and said["seed"] == 5 and len(said["windows"]) == K and len(top) == 2, f"periods: {said}")
    names = ["sma-cross:" + ",".join(f"{key}={int(value)}" for key, value in row["params"].items()) for row in top]
    for k, window in enumerate(said["windows"]):
        check(window["to_ns"] - window["from_ns"] == 6 * DAY_NS, f"period {k}: {window}")
        ran = subprocess.run([papertape, "backtest", *[word for name in names for word in ("--strategy", name)], "--bars", "AAAUSDT_1h.csv", "--from",
                              str(window["from_ns"]), "--to", str(window["to_ns"]), "--no-cache", "--json"], cwd=folder, capture_output=True, text=True)
        for row, account in zip(top, json.loads(ran.stdout)["accounts"]):
            check(row["periods_sharpe"][k] == account["sharpe"], f"period {k}: {row['params']} {row['periods_sharpe'][k]} {account['sharpe']}")
    for row in top:
        each = [value or 0 for value in row["periods_sharpe"]]
        check(row["periods_sharpe_median"] == statistics.median(each) and row["periods_sharpe_worst"] == min(each) and
              row["periods_above_0"] == sum(value > 0 for value in each), f"figures: {row}")
    return found


def test_seed(papertape, folder, found):
    check(periods(papertape, folder, "--seed", "5")["periods"] == found["periods"], "the same seed has the same periods")
    check(periods(papertape, folder)["periods"]["windows"] != found["periods"]["windows"], "another seed has others")
    text = sweep(papertape, folder, "--periods", str(K), "--period-days", "6").stdout
    table = text.partition(f"\nperiods   {K} of 6 days, drawn by seed 1\n")[2].partition("\n\n")[0].splitlines()
    check(len(table) == 5 and table[0].split()[:3] == ["rank", "median", "worst"] and all(f"/{K} " in line for line in table[1:]), f"text: {text}")
    check("periods" not in sweep(papertape, folder).stdout, "without --periods there are none")


def test_refused(papertape, folder):
    for words, status, said in ((("--periods", "3"), 2, "--periods: it goes with --period-days"), (("--period-days", "3"), 2, "it goes with --periods"),
                                (("--seed", "3"), 2, "--seed: it goes with --samples or --periods"),
                                (("--periods", "3", "--period-days", "0"), 2, "--period-days"),
                                (("--periods", "3", "--period-days", "90"), 1, "--period-days: 90: ")):
        ran = sweep(papertape, folder, *words)
        check(ran.returncode == status and said in ran.stderr.splitlines()[-1], f"{words}: {ran.returncode} {ran.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        papertape = os.path.abspath(sys.argv[1])
        write_market(folder)
        found = test_equal(papertape, folder)
        test_seed(papertape, folder, found)
        test_refused(papertape, folder)
    print(f"periods of a sweep: {checks} checks, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
