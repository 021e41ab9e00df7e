#!/usr/bin/env python3
"""Pages of runs that trade through a 2:1 split and a dividend (--report, --save and compare, papertape report, the dashboard of a saved run).
The same market without the split, whose prices are in new shares throughout, says what is right: equity, drawdown, exposure, the benchmark
and the test on luck are its own, no row jumps, marks and trades have the prices of their time, and the pages say that there was a split."""

import csv
import datetime
import json
import math
import os
import random
import re
import subprocess
import sys

import harness
import reports
import saved_backtest

SEED = int(os.environ.get("PAPERTAPE_SEED", "20261129"))
START = datetime.datetime(2024, 3, 1, tzinfo=datetime.timezone.utc)
ROWS, SPLIT_ROW = 24 * 40, 24 * 17  # hours; the split at midnight
STRATEGIES = ("--strategy", "sma-cross:fast=5,slow=20,fraction=0.5", "--strategy", "buy-and-hold:fraction=0.5")
CASH = "--cash=100000"
MOVES = ("return_pct", "max_drawdown_pct", "exposure_pct", "sharpe", "benchmark_return_pct", "alpha_pct", "beta", "trades", "fills")


def write_market(folder, name, factor_before):
    """Closes in whole cents of new shares; before the split each is factor_before times as much, and volumes a part of it."""
    chance, price, path = random.Random(f"{SEED}"), 5000, os.path.join(folder, name, "SPLIT.csv")
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(ROWS):
            close = max(100, round(price * math.exp(chance.gauss(0, 0.002))))
            factor = factor_before if i < SPLIT_ROW else 1
            low, high = min(price, close) - 2, max(price, close) + 2
            at = START + datetime.timedelta(hours=i)
            values = [f"{value * factor / 100:.2f}" for value in (price, high, low, close)]
            file.write(",".join([at.strftime("%Y-%m-%dT%H:%M:%SZ"), *values, f"{chance.randint(100, 999) * 1000 / factor:.4f}"]) + "\n")
            price = close
    return path


def write_actions(folder, name, split):
    path = os.path.join(folder, name + ".csv")
    with open(path, "w") as file:
        file.write("symbol,kind,ex_date,shares,per,cash\n")
        file.write(f"SPLIT,split,{(START + datetime.timedelta(hours=SPLIT_ROW)).date()},2,1,\n" if split else "")
        file.write(f"SPLIT,dividend,{(START + datetime.timedelta(hours=SPLIT_ROW + 48)).date()},,,0.25\n")
    return path


def trade(folder, name, bars, actions):
    """What the run prints, its page, the rows of its equity and rounds, and its state directory."""
    out = {"state": os.path.join(folder, name + "-state"), "page": os.path.join(folder, name + ".html"),
           "equity": os.path.join(folder, name + "-equity.csv"), "rounds": os.path.join(folder, name + "-rounds.csv")}
    done = reports.run("backtest", "--bars", bars, "--corporate-actions", actions, "--no-cache", *STRATEGIES, CASH, "--lot", "0.0001", "--quote", "USD",
                       "--fees", "0.001:0.001", "--json", "--save", out["state"], "--report", out["page"], "--equity", out["equity"],
                       "--rounds", out["rounds"])
    out["accounts"] = json.loads(done.stdout)["accounts"]
    return out


def near(a, b, what, rel=2e-6):
    """Lots and cents are other ones in old shares: equal except for that."""
    known = isinstance(a, (int, float)), isinstance(b, (int, float))
    assert known[0] == known[1], (what, a, b)
    assert not known[0] or math.isclose(a, b, rel_tol=rel, abs_tol=1e-4), (what, a, b)


def no_jump(run):
    with open(run["equity"]) as file:
        points = list(csv.DictReader(file))
    by_account = {}
    for point in points:
        by_account.setdefault(point["account"], []).append(float(point["equity"]))
    assert len(by_account) == 2 and all(len(values) == ROWS for values in by_account.values()), by_account.keys()
    for values in by_account.values():
        assert max(abs(b / a - 1) for a, b in zip(values, values[1:])) < 0.01
    return by_account


def charts(root):
    return {svg.find("title").text: svg for svg in root.iter("svg")}


def check_page(split, whole):
    """One page of two accounts each: the table of what happened, the sentence, and luck's figures."""
    root, plain = reports.read(split["page"]), reports.read(whole["page"])
    text, facts = "".join(root.itertext()), [facts_of(page) for page in (root, plain)]
    assert "Prices are as traded: a fall or rise at a split is no loss or gain." in text
    assert "at a split" not in "".join(plain.itertext()).replace("Bars, fills and trades have the prices and shares of their time: at a split", "")
    tables = reports.tables(root, "Symbol")
    assert len(tables) == 2, len(tables)
    for table in tables:
        kinds = [row[1:4:2] for row in table[1:]]
        assert kinds == [["split", "2 for 1"], ["dividend", "0.25 USD a share"]], table
    assert tables[1][1][4] > 100 and tables[1][2][5] > 50, tables[1]  # bought and held
    for mine, theirs in zip(*facts, strict=True):
        for name in ("Above holding", "p", "Exposed, %", "Dividends", "Fees", "Gain before fees"):
            near(mine[name], theirs[name], name, 1e-4)
    listed = [row for table in reports.tables(root, "Trade") for row in table[1:]]
    with open(split["rounds"]) as file:
        rounds = list(csv.DictReader(file))
    assert len(listed) == len(rounds) > 10
    for row, wanted in zip(listed, rounds, strict=True):
        assert row[6:11] == [float(wanted[key]) for key in ("qty", "cost", "proceeds", "fees", "profit")], (row, wanted)


def facts_of(root):
    """The named figures of each run of a page."""
    runs = []
    for table in root.iter("table"):
        if table.get("class") != "facts":
            continue
        rows = [[reports.cell_of(cell) for cell in row] for row in table.iter("tr")]
        if rows[0][0] == "Strategy":
            runs.append({})
        if runs:
            runs[-1].update({row[0]: row[1] for row in rows})
    assert len(runs) == 2, len(runs)
    return runs


def check_compare(folder, split, whole):
    """A saved run has the figures that it had when it ran, and those of the market without the split."""
    page = os.path.join(folder, "compared.html")
    done = reports.run("compare", split["state"], whole["state"], "--json")
    reports.run("compare", split["state"], whole["state"], "--report", page)
    runs = json.loads(done.stdout)["runs"]
    for run, account in zip(runs, split["accounts"] + whole["accounts"], strict=True):
        for name, value in run.items():
            if name in account and isinstance(value, float) and name != "return_year_pct":
                near(value, account[name], (run["run"], name), 1e-9)
    for mine, theirs in zip(runs[:2], runs[2:], strict=True):
        for name in MOVES:
            near(mine[name], theirs[name], name, 1e-4)
    root = reports.read(page)
    assert len(reports.tables(root, "Symbol")) == 4
    assert "2 for 1" in "".join(root.itertext())


def check_report(folder, run, whole, values):
    """`papertape report` and the dashboard of the saved run."""
    span = ("--from", START.strftime("%Y-%m-%d"), "--to", (START + datetime.timedelta(hours=ROWS)).strftime("%Y-%m-%dT%H:%M:%SZ"))
    page = os.path.join(folder, "report.html")
    both = [json.loads(reports.run("report", "--state", one["state"], *span, "--json").stdout)["accounts"] for one in (run, whole)]
    for mine, theirs, account in zip(*both, run["accounts"], strict=True):
        near(mine["return_share"] * 100, account["return_pct"], "return", 1e-9)
        near(mine["max_drawdown_share"] * 100, account["max_drawdown_pct"], "drawdown", 1e-9)
        near(mine["benchmark_streamed"]["return_share"], theirs["benchmark_streamed"]["return_share"], "benchmark", 1e-6)
        near(mine["trades"]["profit_factor"], theirs["trades"]["profit_factor"], "profit factor", 1e-4)  # without dividends
    reports.run("report", "--state", run["state"], *span, "--html", page)
    root = reports.read(page)
    assert "Prices are as traded" in "".join(root.itertext())
    shown = json.loads(reports.run("--state", run["state"], "--once", "--json").stdout)["accounts"]
    for seen, account in zip(shown, run["accounts"], strict=True):
        for name in ("return_pct", "max_drawdown_pct", "equity", "cash"):
            near(seen[name], account[name], name, 1e-9)
    screen = reports.run("--state", run["state"], "--dump-screen", "200x60", "--tab", "5").stdout
    for account in run["accounts"]:
        shown = re.escape(f"{account['equity']:.2f}") + " +" + re.escape(f"{account['return_pct']:+.2f}%")
        assert re.search(shown, screen), (account["equity"], screen)
    # What is held at the end, at its average price in new shares.
    held = json.loads(reports.run("positions", "--state", run["state"], "--json").stdout)["positions"]
    other = json.loads(reports.run("positions", "--state", whole["state"], "--json").stdout)["positions"]
    assert [row["account"] for row in held] == [row["account"] for row in other] != []
    for mine, theirs in zip(held, other, strict=True):
        for name in ("qty", "entry", "fifo_entry", "mark", "cost", "value", "upnl"):
            near(mine[name], theirs[name], name, 1e-4)
        assert mine["qty"] > 900, mine
    held = [saved_backtest.shown_holding(folder, one["state"], "SPLIT") for one in (run, whole)]
    assert abs(held[0] - 100 * both[0][0]["benchmark_streamed"]["return_share"]) <= 0.0051 and abs(held[0] - held[1]) < 0.011, held
    # Split bars in new shares, where nothing is to be booked.
    again = subprocess.run([harness.PAPERTAPE, "backtest", "--bars", run["state"], "--corporate-actions", "none", *STRATEGIES, CASH, "--json",
                            "--fees", "0.001:0.001"], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert again.returncode == 0, again.stderr
    for account, curve in zip(json.loads(again.stdout)["accounts"], values.values(), strict=True):
        assert abs(account["equity"] / curve[-1] - 1) < 0.02, (account["equity"], curve[-1])  # without the dividend


def check_chart(folder, markets):
    """The chart is in new shares, marks too: the same picture as of the market without the split."""
    until = (START + datetime.timedelta(hours=SPLIT_ROW + 40)).strftime("%Y-%m-%dT%H:%M:%SZ")
    pictures = []
    for name, (bars, actions) in markets.items():
        state = os.path.join(folder, name + "-chart")
        reports.run("backtest", "--bars", bars, "--corporate-actions", actions, "--no-cache", *STRATEGIES[:2], CASH, "--lot", "0.0001", "--quote", "USD",
                    "--to", until, "--save", state)
        screen = reports.run("--state", state, "--dump-screen", "200x60", "--tab", "4").stdout
        pictures.append(re.search(r"^─SPLIT 1h─.*?^(?=─Positions)", screen, re.DOTALL | re.MULTILINE)[0])
    assert pictures[0] == pictures[1] and pictures[0].count("▲") + pictures[0].count("▼") > 6, "\n".join(pictures)


def main():
    with harness.Folder() as folder:
        markets = {"split": (write_market(folder.path, "raw", 2), write_actions(folder.path, "both", True)),
                   "whole": (write_market(folder.path, "adjusted", 1), write_actions(folder.path, "one", False))}
        split, whole = (trade(folder.path, name, *market) for name, market in markets.items())
        values = no_jump(split)
        no_jump(whole)
        for mine, theirs in zip(split["accounts"], whole["accounts"], strict=True):
            for name in MOVES:
                near(mine[name], theirs[name], name, 1e-4)
        check_page(split, whole)
        check_compare(folder.path, split, whole)
        check_report(folder.path, split, whole, values)
        check_chart(folder.path, markets)
        print(f"seed {SEED}: {sum(account['trades'] for account in split['accounts'])} trades through a split")


if __name__ == "__main__":
    sys.exit(main())
