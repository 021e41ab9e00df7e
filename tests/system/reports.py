#!/usr/bin/env python3
"""Pages of backtests (`--report`): well formed, with the figures of --json, the trades of --rounds and the months of --monthly in their text;
several strategies compared; no trade, one row, names that HTML would take for its own; paths that cannot be written. With --long half a
million rows, below 2 MB, and each page in Chromium, without a message on its console."""

import csv
import json
import math
import os
import re
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/report"))
import strict  # noqa: E402

START_MS = 1_701_388_800_000  # 2023-12-01
ROWS = 500_000 if harness.LONG else 30_000
PAGE_MOST = 2_000_000
SLIPPAGE = 0.0002
pages = []


def bars(folder, name, n, minutes=15, seed=3):
    """A walk with a gap of missing bars; n 1: one bar."""
    chance, price, path = random.Random(f"{seed} {name}"), 100.0, os.path.join(folder, name + ".csv")
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(n):
            close = max(1.0, round(price * math.exp(chance.gauss(0, 0.004)), 2))
            if not 500 <= i < 520:
                file.write(f"{START_MS + 60_000 * minutes * i},{price:.2f},{max(price, close) + 0.05:.2f},{min(price, close) - 0.05:.2f},{close:.2f},"
                           f"{chance.random() * 10:.5f}\n")
            price = close
    return path


def run(*words, status=0, **kwargs):
    done = subprocess.run([harness.PAPERTAPE, *words], capture_output=True, text=True, timeout=harness.PATIENCE, **kwargs)
    assert done.returncode == status, (words, done.returncode, done.stdout[-500:], done.stderr)
    return done


def backtest(files, page, *more, **kwargs):
    words = ["backtest", "--bars", ",".join(files), "--no-cache", "--slippage", str(SLIPPAGE), *more]
    return run(*words, *(["--report", page] if page else []), **kwargs)


def read(path):
    """The page as a tree, checked as every page is."""
    pages.append(path)
    assert os.path.getsize(path) < PAGE_MOST, os.path.getsize(path)
    root = strict.check_page(path)
    assert not strict.faults, strict.faults[:5]
    return root


def cell_of(cell):
    """A cell's number with all its digits, else its text."""
    data = cell.find("data")
    return float(data.get("value")) if data is not None else "".join(cell.itertext())


def tables(root, first):
    """The rows of the tables whose first heading is `first`: {name of the row: cells}, a table each."""
    found = []
    for table in root.iter("table"):
        rows = [[cell_of(cell) for cell in row] for row in table.iter("tr")]
        if rows and rows[0] and rows[0][0] == first:
            found.append(rows)
    return found


def same(shown, value):
    return shown == "n/a" if value is None else math.isclose(shown, value, rel_tol=1e-15, abs_tol=1e-300)


def check_figures(rows, accounts):
    """Each column of a table of figures is an account's: every figure that --json has, by its name."""
    named = {row[0]: row[1:] for row in rows[1:]}
    assert len(named) == 35, len(named)
    for name, values in named.items():
        for shown, account in zip(values, accounts, strict=True):
            assert same(shown, account[name]), (name, shown, account[name])


def check_page(root, account, files, folder):
    check_figures(tables(root, "Figure, as --json names it")[0], [account])
    facts = {row[0]: row[1] for table in root.iter("table") if table.get("class") == "facts" for row in
             ([cell_of(cell) for cell in row] for row in table.iter("tr"))}
    assert facts["Closed trades"] == account["trades"] and facts["Fills"] == account["fills"], facts
    assert math.isclose(facts["Fees"], account["fees"]) and facts["Cash"] == account["deposits"], facts
    excess = account["return_pct"] - account["benchmark_return_pct"]
    assert math.isclose(facts["Above holding"], excess, rel_tol=1e-9) and 0 < facts["p"] <= 1 and facts["Steps"] == ROWS, facts
    with open(os.path.join(folder, "fills.csv")) as file:
        taken = [(1 if row["side"] == "BUY" else -1, float(row["notional"])) for row in csv.DictReader(file) if row["maker"] == "0"]
    assert math.isclose(facts["Slippage"], sum(notional * SLIPPAGE / (1 + sign * SLIPPAGE) for sign, notional in taken), rel_tol=1e-9), facts
    with open(os.path.join(folder, "rounds.csv")) as file:
        rounds = list(csv.DictReader(file))
    listed = tables(root, "Trade")[0][1:]
    assert len(listed) == min(500, len(rounds)) > 10, (len(listed), len(rounds))
    for row, trade in zip(listed, rounds[-500:], strict=True):
        assert row[1:3] == [trade["symbol"], trade["side"]] and row[5] == float(trade["bars"]), (row, trade)
        assert row[6:11] == [float(trade[key]) for key in ("qty", "cost", "proceeds", "fees", "profit")], (row, trade)
    months = {(int(row[0]), month): value / 100 for row in tables(root, "%")[0][1:] for month, value in enumerate(row[1:13], 1) if value != ""}
    with open(os.path.join(folder, "monthly.csv")) as file:
        wanted = {(int(row["year"]), int(row["month"])): float(row["return"]) for row in csv.DictReader(file)}
    assert months.keys() == wanted.keys() and all(math.isclose(months[key], wanted[key], rel_tol=1e-12) for key in wanted), (months, wanted)
    charts = [svg.find("title").text for svg in root.iter("svg")]
    assert [title.split(" ")[0] for title in charts] == ["Equity", "Drawdown", "Exposure", "Returns", "Returns", "Trades", "Fees"], charts
    sentence = root.find(".//p[@class]")
    assert sentence is not None and "sentence" in sentence.get("class") and "%" in sentence.text, "the verdict"


def check_one(folder, file):
    page = os.path.join(folder, "one.html")
    done = backtest([file], page, "--strategy", "sma-cross:fast=5,slow=20", "--json", "--rounds", os.path.join(folder, "rounds.csv"),
                    "--monthly", os.path.join(folder, "monthly.csv"), "--fills", os.path.join(folder, "fills.csv"))
    check_page(read(page), json.loads(done.stdout)["accounts"][0], [file], folder)


def check_several(folder, file):
    page = os.path.join(folder, "several.html")
    done = backtest([file], page, "--strategy", "sma-cross:fast=5,slow=20", "--strategy", "sma-cross:fast=8,slow=40", "--strategy", "buy-and-hold",
                    "--benchmark", "none", "--from", "2023-12-05", "--to", "2023-12-20", "--json")
    root, accounts = read(page), json.loads(done.stdout)["accounts"]
    check_figures(tables(root, "Figure")[0], accounts)
    less = {row[0]: row[1:] for row in tables(root, "Figure")[1][1:]}
    assert math.isclose(less["return_pct"][1], accounts[2]["return_pct"] - accounts[0]["return_pct"], rel_tol=1e-12), less["return_pct"]
    assert len(tables(root, "Figure, as --json names it")) == 3
    assert "No verdict on luck" in "".join(root.itertext()) and accounts[0]["alpha_pct"] is None


def check_little(folder, file):
    """No trade; no row more than one; a symbol with what is markup in HTML."""
    page = os.path.join(folder, "little.html")
    backtest([file], page, "--strategy", "sma-cross", "--risk", "exposure_account=0.0000001", "--from", "2023-12-05", "--to", "2023-12-08")
    text = "".join(read(page).itertext())
    assert "No trade was made" in text and "Trades of" not in text and "n/a" in text, text[:3000]
    backtest([bars(folder, "ONEUSDT", 1)], page, "--strategy", "buy-and-hold", "--interval", "15m")
    assert "No trade was made" in "".join(read(page).itertext())
    odd = os.path.join(folder, 'A<b>&"USDT.csv')
    shutil.copy(file, odd)
    done = backtest([odd], page, "--strategy", "buy-and-hold", "--symbol", 'A<B>&"USDT', "--from", "2023-12-05", "--to", "2023-12-08")
    root = read(page)
    assert 'A<B>&"USDT' in root.find(".//h1").text, (root.find(".//h1").text, done.stderr)


def sweep(file, page, *more, **kwargs):
    return run("sweep", "--strategy", "sma-cross", "--bars", file, "--no-cache", "--from", "2023-12-05", "--to", "2024-01-05", "--report", page, *more, **kwargs)


def check_sweep(folder, file):
    """Each run's Sharpe ratio is in its cell; the best runs are those of --json, with all their figures."""
    page, table = os.path.join(folder, "sweep.html"), os.path.join(folder, "sweep.csv")
    done = sweep(file, page, "--grid", "fast=4:12:2", "--grid", "slow=8:40:8", "--csv", table, "--top", "7", "--json", "--metric", "sharpe", "--min-trades", "0")
    root, best = read(page), json.loads(done.stdout)["top"]
    said = " ".join("".join(root.itertext()).split())
    assert all(sentence in said for sentence in json.loads(done.stdout)["luck"]["words"]), said
    with open(table) as opened:
        runs = {(int(row["fast"]), int(row["slow"])): float(row["sharpe"]) for row in csv.DictReader(opened)}
    (map_,) = [svg for svg in root.iter("svg") if svg.find("title").text == "sharpe by fast and slow"]
    shown = sorted((text.text for text in map_.find("g").iter("text")), key=float)
    assert shown == sorted((f"{value:.2f}" for value in runs.values()), key=float) and len(shown) == len(runs) == 22, (shown, runs)
    names, *rows = tables(root, "Rank")[0]
    assert len(rows) == len(best) == 7 and names[1:3] == ["fast", "slow"], names
    assert {"beside", "beside_hold", "sharpe_fees_twice", "sharpe_more_slippage"} < set(names), names
    assert any(one["sharpe_fees_twice"] for one in best) and any(one["beside"] for one in best), best
    for row, wanted in zip(rows, best, strict=True):
        assert row[1:3] == [f"{wanted['params'][key]:g}" for key in ("fast", "slow")], (row, wanted)
        for name, value in zip(names[3:], row[3:], strict=True):
            assert same(value, wanted[name]), (name, value, wanted[name])
    sweep(file, page, "--grid", "fast=2:50:1", "--grid", "slow=60:61:1", "--grid", "fraction=0.5,1", "--metric", "return")
    titles = [svg.find("title").text for svg in read(page).iter("svg")]
    assert titles == ["return_pct by fast and slow", "return_pct by fast and fraction", "return_pct by slow and fraction", "return_pct of all runs"], titles
    sweep(file, page, "--grid", "fast=2:9:1")
    assert [svg.find("title").text for svg in read(page).iter("svg")][0] == "dsr by fast"
    sweep(file, page, "--grid", "fast=4:12:4", "--grid", "slow=20:40:10", "--csv", table, "--min-trades", "0")
    with open(table) as opened:
        values = [float(row["dsr"]) for row in csv.DictReader(opened)]
    map_ = next(svg for svg in read(page).iter("svg") if svg.find("title").text == "dsr by fast and slow")
    shown = sorted(float(text.text) for text in map_.find("g").iter("text"))
    assert len(values) == 9 and all(abs(a - b) <= 0.005 for a, b in zip(shown, sorted(values), strict=True)), (shown, values)
    assert "are both to be written there" in sweep(file, page, "--grid", "fast=2:9:1", "--csv", page, status=2).stderr
    assert "Is a directory" in sweep(file, folder, "--grid", "fast=2:9:1", status=1).stderr


def check_chart(folder, file):
    """In characters: the extremes are those of --equity; nothing wider than 80 columns; ASCII alone where the locale has no more."""
    few = ("--strategy", "sma-cross:fast=5,slow=20", "--from", "2023-12-05", "--to", "2024-02-05", "--chart")
    curve = os.path.join(folder, "equity.csv")
    printed = backtest([file], None, *few, "--equity", curve, env=os.environ | {"LC_ALL": "C.UTF-8", "TERM": "xterm"}).stdout
    plain = backtest([file], None, *few, env=os.environ | {"LC_ALL": "C"}).stdout
    assert all(len(line) <= 80 for text in (printed, plain) for line in text.splitlines())
    chart = plain[plain.index("  equity USDT, sma-cross"):]
    assert chart.isascii() and "#" in chart and any(0x2800 < ord(c) < 0x2900 for c in printed) and "█" in printed
    with open(curve) as opened:
        equity = [10000.0] + [float(row["equity"]) for row in csv.DictReader(opened)]
    highest, lowest = 0.0, 0.0
    for value in equity:
        highest = max(highest, value)
        lowest = min(lowest, 100 * (value / highest - 1))
    labels = [line.split()[0] for line in chart.split("drawdown, %")[1].splitlines() if line.startswith(" " * 4) and line[:10].strip()]
    assert labels[:2] == ["0.00", f"{lowest:.2f}"], (labels, lowest)
    assert "--json" in backtest([file], None, *few, "--json", status=2).stderr
    flat = backtest([file], None, "--strategy", "buy-and-hold", "--benchmark", "none", "--from", "2023-12-05", "--to", "2023-12-05T00:15", "--chart").stdout
    assert "equity USDT" in flat


def below(printed, begins=r"\n\n  (?=\S)"):
    """The charts below a text: from the first chart on, nowhere wider than 80 columns, without a colour."""
    at = re.search(begins, printed).start()
    assert "\x1b" not in printed and all(len(line) <= 80 for line in printed[at:].splitlines()), printed
    return printed[at:]


def part(chart, title):
    """The lines of the chart whose title begins so."""
    lines = chart.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  " + title))
    last = next((i for i in range(first, len(lines) - 1) if not lines[i] and lines[i + 1][2:3].isalpha()), len(lines))
    return lines[first:last]


def ends(lines):
    """What stands beside the highest and the lowest row of curves."""
    labels = [line.split()[0] for line in lines[1:-1] if line[:10].strip()]
    assert len(labels) == 2, lines
    return [float(label) for label in labels]


def refused_json(*words):
    said = run(*words, "--chart", "--json", status=2).stderr
    assert "--chart" in said and "--json" in said, said


def check_sweep_chart(folder, file):
    """Cells, the line and the legend have the figures of --csv; the pairs are the page's; no room in 80 columns: values share a place."""
    table = os.path.join(folder, "chart.csv")
    words = ("sweep", "--strategy", "sma-cross", "--bars", file, "--no-cache", "--from", "2023-12-05", "--to", "2024-01-05", "--min-trades", "0", "--metric", "sharpe")
    grid = (*words, "--grid", "fast=4:12:2", "--grid", "slow=8:40:8")
    plain, braille = (below(run(*grid, "--chart", "--csv", table, env=os.environ | {"LC_ALL": one, "NO_COLOR": "1"}).stdout) for one in ("C", "C.UTF-8"))
    with open(table) as opened:
        runs = {(int(row["fast"]), int(row["slow"])): float(row["sharpe"]) for row in csv.DictReader(opened)}
    assert plain.isascii() and set("░▒▓█") & set(braille) and "#" in plain
    for chart, shades in ((plain, ".:+#"), (braille, "░▒▓█")):
        head, *rows = part(chart, "sharpe by fast and slow  across fast, up slow")
        for row, slow in zip(rows[:5], (40, 32, 24, 16, 8), strict=True):
            label, *cells = row.translate(str.maketrans(shades, " " * 4) if shades != ".:+#" else str.maketrans(":+#", "   ")).split()
            shown = [float(cell.strip(".")) if cell.strip(".") not in ("", "-") else None for cell in cells if cell != "."]
            wanted = [runs.get((fast, slow)) for fast in (4, 6, 8, 10, 12)]
            assert label == str(slow) and len(shown) == 5, row
            for one, value in zip(shown, wanted, strict=True):
                assert (one is None) is (value is None) and (value is None or abs(one - value) <= (0.00051 if abs(value) < 10 else 0.051)), (row, wanted)
        assert rows[5].split() == ["4", "6", "8", "10", "12"], rows[5]
        least, most = min(runs.values()), max(runs.values())
        said = [float(word) for word in rows[6].split() if word.strip("-").replace(".", "").isdigit()]
        assert len(said) == 5 and abs(said[0] - least) < 0.06 and abs(said[-1] - most) < 0.06, rows[6]
        assert part(chart, "sharpe of all runs")
    one = below(run(*words, "--grid", "fast=2:30:1", "--chart", "--csv", table, env=os.environ | {"LC_ALL": "C"}).stdout)
    with open(table) as opened:
        line = {int(row["fast"]): float(row["sharpe"]) for row in csv.DictReader(opened)}
    values = line.values()
    assert ends(part(one, "sharpe by fast")) == [round(max(values), 4), round(min(values), 4)], (one, max(values), min(values))
    assert [row for row in part(one, "sharpe by fast") if row][-1].split() == [str(min(line)), str(max(line))] and len(line) > 20, one
    many = below(run(*words, "--grid", "fast=2:90:1", "--grid", "slow=100:101:1", "--grid", "fraction=0.5,1", "--chart", "--screen", env=os.environ | {"LC_ALL": "C"}).stdout)
    titles = [line.split("  ")[1] for line in many.splitlines() if line.startswith("  sharpe ")]
    assert titles == ["sharpe by fast and slow", "sharpe by fast and fraction", "sharpe by slow and fraction", "sharpe of all runs"], titles
    said = " ".join(many.split())
    assert "Neighbouring values share a place" in said and "Each cell is the median of its runs" in said, said
    refused_json(*grid)
    for other in (("--walk-forward", "10d:5d"), ("--dry-run",)):
        assert "--chart" in run(*grid, "--chart", *other, status=2).stderr


def check_compare_chart(saved, runs):
    """Of three runs each is its number; of two a line and dots. The lowest and highest are those of the runs."""
    env = os.environ | {"LC_ALL": "C", "NO_COLOR": "1"}
    plain = below(run("compare", *saved, "--chart", env=env).stdout)
    braille = below(run("compare", *saved, "--chart", env=os.environ | {"LC_ALL": "C.UTF-8"}).stdout)
    assert plain.isascii() and "· AAAUSDT" in braille and ": AAAUSDT" in plain
    equity, drops = part(plain, "equity, USDT"), part(plain, "drawdown, %")
    assert "1 fast & <slow>   2 two:sma-cross   3 two:buy-and-hold" in equity[1] and "1 fast & <slow>" in drops[1], plain
    assert set("123") <= set("".join(equity[2:-1])) and abs(ends(drops[1:])[1] + max(abs(one["max_drawdown_pct"]) for one in runs)) < 0.006, drops
    assert any(c in "123:" for c in drops[-2][11:]), drops  # the lowest point is drawn
    assert ends(drops[1:])[0] == 0 and ends(equity[1:])[0] >= max(10000, *(one["equity"] for one in runs)) - 0.01, equity
    refused_json("compare", *saved)


def check_compare_scaled(folder, file, first):
    """Other cash: 100 at the beginning, as the page has it, and no benchmark: a line and dots."""
    rich, page = os.path.join(folder, "rich"), os.path.join(folder, "rich.html")
    backtest([file], None, "--strategy", "buy-and-hold", "--cash", "50000", "--from", "2023-12-05", "--to", "2024-01-05", "--save", rich)
    plain = below(run("compare", first, rich, "--chart", "--report", page, env=os.environ | {"LC_ALL": "C"}).stdout)
    equity = part(plain, "equity, 100 at the beginning")
    assert equity[1].strip() == "line fast & <slow>   dotted (:) rich" and "100 at the beginning" in "".join(read(page).itertext()), equity
    assert ends(equity[1:])[0] >= 100 >= ends(equity[1:])[1] and any(":" in line for line in equity[2:-1]), equity


def check_report_chart(report, state_json):
    """A live account's: the drawdown of --json, a month's return, days; nothing where nothing is known."""
    plain = below(run(*report, "--chart", env=os.environ | {"LC_ALL": "C", "NO_COLOR": "1"}).stdout, "\n\n  equity USDT, ")
    braille = below(run(*report, "--chart", env=os.environ | {"LC_ALL": "C.UTF-8"}).stdout, "\n\n  equity USDT, ")
    account = state_json["accounts"][0]
    assert plain.isascii() and any(0x2800 < ord(c) < 0x2900 for c in braille), plain
    assert part(plain, "equity USDT, sma-cross") and part(plain, "not cash, % of equity") and part(plain, "returns of days, %")
    top, low = ends(part(plain, "drawdown, %"))
    deepest = 100 * account["max_drawdown_share"]
    assert top == 0 and deepest - 0.006 < low < deepest + 0.3, (low, deepest)  # the page's points, too, are thinned
    product = {}
    for day in account["days"]:
        product[day["day"][:7]] = product.get(day["day"][:7], 1.0) * (1 + (day["return_share"] or 0))
    months = part(plain, "return by month, %")
    shown = {(row.split()[0], cell) for row in months[2:] for cell in row.split()[1:]}
    assert shown == {(key[:4], f"{100 * (value - 1):.1f}") for key, value in product.items()}, (months, product)
    refused_json(*report)
    assert "--chart" in run(*report, "--chart", "--summary", status=2).stderr


def check_rank(folder, file):
    """The page of a ranking is one of those that Chromium opens; system/rank compares its figures."""
    page = os.path.join(folder, "rank.html")
    run("rank", "--bars", file, "--no-cache", "--strategy", "sma-cross", "--strategy", "buy-and-hold", "--from", "2023-12-05", "--to", "2024-01-05", "--report", page)
    titles = [svg.find("title").text for svg in read(page).iter("svg")]
    assert titles[:2] == ["Equity", "Drawdown"], titles


def check_compare(folder, file):
    """Saved runs have the figures of their --json, as far as equity of eight digits has them, on the page too."""
    few, accounts, page = ("--from", "2023-12-05", "--to", "2024-01-05", "--json"), [], os.path.join(folder, "compare.html")
    for name, strategies in (("fast & <slow>", ["sma-cross:fast=5,slow=20"]), ("two", ["sma-cross:fast=8,slow=40", "buy-and-hold"])):
        words = [word for strategy in strategies for word in ("--strategy", strategy)]
        accounts += json.loads(backtest([file], None, *words, *few, "--save", os.path.join(folder, name)).stdout)["accounts"]
    saved = [os.path.join(folder, name) for name in ("fast & <slow>", "two")]
    done = run("compare", *saved, "--report", page, "--json")
    runs = json.loads(done.stdout)["runs"]
    assert [one["run"] for one in runs] == ["fast & <slow>", "two:sma-cross", "two:buy-and-hold"], runs
    root, shown = read(page), {}
    for row in tables(root, "Figure")[0][1:]:
        shown[row[0]] = row[1:]
    for at, (one, account) in enumerate(zip(runs, accounts, strict=True)):
        for name in set(one) & set(account) - {"account", "strategy", "currency", "params"}:
            near = one[name] is account[name] is None or math.isclose(one[name], account[name], rel_tol=1e-9, abs_tol=1e-12)
            assert near, (one["run"], name, one[name], account[name])
            assert name not in shown or same(shown[name][at], one[name]), (name, shown[name], one[name])
    assert len(shown) == 35 and len(set(runs[0]) & set(accounts[0])) > 38
    titles = [svg.find("title").text for svg in root.iter("svg")]
    assert titles[:2] == ["Equity", "Drawdown"] and [svg for svg in root.iter("svg")][0].findall("polyline")[0] is not None
    assert "fast & <slow>" in "".join(root.itertext())
    assert "fast & <slow>" in run("compare", *saved).stdout.splitlines()[1]
    check_compare_chart(saved, runs)
    check_compare_scaled(folder, file, saved[0])
    assert "a second run is needed" in run("compare", saved[0], status=2).stderr
    assert "it is there twice" in run("compare", saved[0], saved[1], saved[0] + "/.", status=2).stderr
    late, apart = os.path.join(folder, "late"), "The runs are not of the same times and interval"
    backtest([file], None, "--strategy", "buy-and-hold", "--from", "2023-12-06", "--to", "2024-01-05", "--save", late)
    assert apart in run("compare", saved[0], late).stdout and apart not in run("compare", *saved).stdout
    assert "no state directory is there" in run("compare", saved[0], os.path.join(folder, "none"), status=1).stderr
    check_outside(folder, file, saved[0])
    other = os.path.join(folder, "other")
    os.mkdir(other)
    sqlite3.connect(os.path.join(other, "papertape.db")).execute("CREATE TABLE of_another_program (x)").connection.close()
    assert "it is no saved backtest" in run("compare", saved[0], other, status=1).stderr


def check_outside(folder, file, beside):
    """A strategy from outside has its name and its parameters, though nothing of it is run: its file is away."""
    mine, state, page = os.path.join(folder, "mine.py"), os.path.join(folder, "outside"), os.path.join(folder, "outside.html")
    shutil.copy(os.path.join(harness.SOURCE, "trainer/python/examples/sma_cross_rsi_risk.py"), mine)
    backtest([file], None, "--strategy", f"exec:{sys.executable} {mine}", "--set", "fast=7", "--from", "2023-12-05", "--to", "2023-12-08",
             "--save", state, env=os.environ | {"PYTHONPATH": os.path.join(harness.SOURCE, "trainer/python")})
    os.remove(mine)
    done = run("compare", state, beside, "--report", page, "--json")
    assert json.loads(done.stdout)["runs"][0]["strategy"] == f"exec:{sys.executable} {mine}", done.stdout[:500]
    (runs, *_) = tables(read(page), "Run")
    assert runs[1][1].startswith("exec:") and "fast=7" in runs[2][1].split() and "orders by hand" not in str(runs), runs


def check_live(folder, file):
    """The report of a state has the same charts, and the trades that the run listed one by one."""
    state, page, rounds = os.path.join(folder, "state"), os.path.join(folder, "live.html"), os.path.join(folder, "rounds.csv")
    backtest([file], None, "--strategy", "sma-cross:fast=5,slow=20", "--from", "2023-12-05", "--to", "2024-01-05", "--save", state, "--rounds", rounds)
    report = ("report", "--state", state, "--from", "2023-12-05", "--to", "2024-01-06")
    run(*report, "--html", page)
    root = read(page)
    titles = [svg.find("title").text for svg in root.iter("svg")]
    assert titles == ["Equity of sma-cross", "Drawdown of sma-cross", "Exposure of sma-cross", "Returns of days", "Trades of sma-cross on AAAUSDT"], titles
    with open(rounds) as opened:
        wanted = [trade for trade in csv.DictReader(opened) if trade["exit_ns"]]
    listed = tables(root, "Closed trade")[0][1:]
    assert len(listed) == len(wanted) > 50
    for row, trade in zip(listed, wanted, strict=True):
        assert row[:3] == ["AAAUSDT", trade["side"], "sma-cross"] and row[8:10] == [float(trade["fees"]), float(trade["profit"])], (row, trade)
        assert math.isclose(row[6] * row[5], float(trade["cost"]), rel_tol=1e-9), (row, trade)
    check_report_chart(report, json.loads(run(*report, "--json").stdout))
    assert "Is a directory" in run(*report, "--html", folder, status=1).stderr
    assert "No space left on device" in run(*report, "--html", "/dev/full", status=1).stderr and not os.path.isfile("/dev/full")


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def check_refused(folder, file):
    """A path that cannot be written is named before the run; without room the file of before stays."""
    few = ("--strategy", "sma-cross", "--from", "2023-12-05", "--to", "2023-12-08")
    assert "Is a directory" in backtest([file], folder, *few, status=1).stderr
    assert "No such file" in backtest([file], os.path.join(folder, "no/such.html"), *few, status=1).stderr
    page = os.path.join(folder, "kept.html")
    with open(page, "w") as kept:
        kept.write("as it was")
    done = backtest([file], page, *few, status=1, preexec_fn=limit_files)
    assert done.stderr.splitlines()[-1].endswith("kept.html: File too large"), done.stderr
    assert open(page).read() == "as it was" and [name for name in os.listdir(folder) if name.startswith("kept")] == ["kept.html"]
    assert "/dev/full: No space left on device" in backtest([file], "/dev/full", *few, status=1).stderr
    done = backtest([file], page, *few, "--equity", page, status=2)
    assert "--equity and --report are both to be written there" in done.stderr, done.stderr


def check_browser(folder):
    if not harness.LONG:
        return "not opened: --long opens them in Chromium"
    browser = shutil.which("chromium")
    assert browser, "no chromium: ./deps long installs it"
    for path in dict.fromkeys(pages):
        shot = path + ".png"
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--window-size=1100,2000",
                               f"--user-data-dir={folder}/profile", f"--screenshot={shot}", f"file://{path}"],
                              capture_output=True, text=True, timeout=300)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        assert done.returncode == 0 and not said and os.path.getsize(shot) > 10000, (path, done.returncode, said, done.stderr[-2000:])
    return f"{len(set(pages))} opened in Chromium without a message"


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = bars(folder, "AAAUSDT", ROWS)
        check_one(folder, file)
        check_several(folder, file)
        check_little(folder, file)
        check_sweep(folder, file)
        check_chart(folder, file)
        check_sweep_chart(folder, file)
        check_rank(folder, file)
        check_compare(folder, file)
        check_live(folder, file)
        check_refused(folder, file)
        print("reports:", check_browser(folder))


if __name__ == "__main__":
    main()
