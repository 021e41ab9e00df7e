#!/usr/bin/env python3
"""`papertape sweep --periods K --period-days N`: each Sharpe ratio is that of `papertape backtest` of that period, to the bit; the seed decides
the periods, and those of Sobol's sequence lie evenly; --csv, --report and --json have the same figures; what is refused.

    sweep_periods.py PAPERTAPE
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures"))
from hourly_bars import write_market  # noqa: E402

DAY_NS, HOUR_NS, K = 86400 * 10**9, 3600 * 10**9, 3
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
              row["periods_above_0"] == sum(value > 0 for value in each) and
              row["periods_above_0_pct"] == 100 * (row["periods_above_0"] / K), f"figures: {row}")
    return found


def test_seed(papertape, folder, found):
    check(periods(papertape, folder, "--seed", "5")["periods"] == found["periods"], "the same seed has the same periods")
    check(periods(papertape, folder)["periods"]["windows"] != found["periods"]["windows"], "another seed has others")
    text = sweep(papertape, folder, "--periods", str(K), "--period-days", "6").stdout
    table = text.partition(f"\nperiods   {K} of 6 days, drawn by seed 1\n")[2].partition("\n\n")[0].splitlines()
    check(len(table) == 5 and table[0].split()[:3] == ["rank", "median", "worst"] and all(f"/{K} " in line for line in table[1:]), f"text: {text}")
    check("periods" not in sweep(papertape, folder).stdout, "without --periods there are none")


def values(page, rank):
    """All digits of the numbers in that row of the best runs' table."""
    row = page.partition(f"<td>{rank}</td>")[2].partition("</tr>")[0]
    return [float(part.partition('"')[0]) for part in row.split('<data value="')[1:]]


def test_files(papertape, folder):
    """The two that are listed have the figures of --json, the other two none; without --periods the columns are not there."""
    found = periods(papertape, folder, "--csv", "runs.csv", "--report", "page.html")
    with open(os.path.join(folder, "runs.csv"), newline="") as file:
        table = list(csv.DictReader(file))
    names = ("periods_sharpe_median", "periods_sharpe_worst", "periods_above_0_share")
    check(len(table) == 4 and tuple(table[0])[-3:] == names, f"columns: {list(table[0])}")
    for row, listed in zip(table, found["top"]):
        check(float(row["fast"]) == listed["params"]["fast"] and float(row[names[0]]) == listed[names[0]] and float(row[names[1]]) == listed[names[1]] and
              float(row[names[2]]) == listed["periods_above_0"] / K, f"csv: {row}")
    check(all(row[name] == "" for row in table[2:] for name in names), f"csv: {table[2:]}")
    with open(os.path.join(folder, "page.html")) as file:
        page = file.read()
    heads = [part.partition("</th>")[0] for part in page.split("<th>")[1:]]
    check(heads[-3:] == ["periods_sharpe_median", "periods_sharpe_worst", "periods_above_0_pct"], f"page: {heads[-3:]}")
    check(f"{K} of 6 days, drawn by seed 1" in page, "page: its periods")
    for rank, best in enumerate(found["top"], 1):
        check(values(page, rank)[-3:] == [best[name] for name in heads[-3:]], f"page: {values(page, rank)[-3:]} {best}")
    sweep(papertape, folder, "--csv", "none.csv", "--report", "none.html")
    check(all("periods" not in open(os.path.join(folder, name)).read() for name in ("none.csv", "none.html")), "without --periods there are none")


def test_sobol(papertape, folder):
    """Each eighth of the hours in which a period may begin has one of eight."""
    words = ("--periods", "8", "--sampling", "sobol")
    found, again = (periods(papertape, folder, *words)["periods"] for _ in range(2))
    check(found == again and found["sampling"] == "sobol" and periods(papertape, folder)["periods"]["sampling"] == "random", f"sobol: {found}")
    # 900 hours; the slowest average of 40 has its first value at the 40th.
    first, starts = 1704067200 * 10**9 + 39 * HOUR_NS, 900 - 39 - 6 * 24 + 1
    places = sorted((window["from_ns"] - first) // HOUR_NS for window in found["windows"])
    check(all(int(k * starts / 8) - 1 <= place < (k + 1) * starts / 8 for k, place in enumerate(places)), f"sobol: {places} of {starts}")
    check(periods(papertape, folder, *words, "--seed", "2")["periods"]["windows"] != found["windows"], "sobol: another seed")
    text = sweep(papertape, folder, *words, "--period-days", "6").stdout
    check("\nperiods   8 of 6 days, drawn by Sobol's sequence, seed 1\n" in text, f"text: {text}")


def test_refused(papertape, folder):
    for words, status, said in ((("--periods", "3"), 2, "--periods: it goes with --period-days"), (("--period-days", "3"), 2, "it goes with --periods"),
                                (("--seed", "3"), 2, "--seed: it goes with --samples or --periods"),
                                (("--sampling", "sobol"), 2, "--sampling: it goes with --samples or --periods"),
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
        test_files(papertape, folder)
        test_sobol(papertape, folder)
        test_refused(papertape, folder)
    print(f"periods of a sweep: {checks} checks, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
