#!/usr/bin/env python3
"""`papertape rank` as a user meets it: each strategy's figures are those of a backtest of it alone, to the digit, on any number of
threads and both ways, through splits, in a universe and with external columns, too; the deflated Sharpe ratios and the order are computed again here from the backtests' curves; CSV and page have
the same figures; strategies that cannot run are left out and named, or refused where they were asked for."""

import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/report"))
import strict  # noqa: E402

START_MS = 1_704_067_200_000  # 2024-01-01
NORMAL = statistics.NormalDist()
EULER = 0.57721566490153286061
MIN_TRADES = 10


# Long while col:mood is above 0.
MOOD = r"""import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "describe":
        answer = {"type": "strategy", "protocol": 1, "name": "mood", "history": 0, "params": []}
    elif ask["type"] == "hello":
        answer = {"type": "ready", "indicators": ["col:mood"]}
    else:
        wanted, held = (ask["indicators"][0] or 0) > 0, ask["qty"] > 0
        kind = None if wanted == held else {"kind": "enter", "fraction": 0.3} if wanted else {"kind": "exit"}
        answer = {"type": "intents", "bar": ask["time"], "symbol": ask["symbol"], "intents": [kind] if kind else []}
    print(json.dumps(answer), flush=True)
"""


def bars(folder, name, n, minutes=5, gap=range(700, 730)):
    """A walk with trends, and some bars that are missing."""
    chance, price, drift, path = random.Random(name), 100.0, 0.0, os.path.join(folder, name + ".csv")
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(n):
            drift = chance.gauss(0, 0.0006) if i % 200 == 0 else drift
            close = max(1.0, round(price * math.exp(chance.gauss(drift, 0.003)), 2))
            if i not in gap:
                file.write(f"{START_MS + 60_000 * minutes * i},{price:.2f},{max(price, close) + 0.05:.2f},{min(price, close) - 0.05:.2f},{close:.2f},"
                           f"{chance.random() * 10:.5f}\n")
            price = close
    return path


def run(*words, status=0):
    return harness.run([harness.PAPERTAPE, *map(str, words)], status)


def ranked(*words):
    result = json.loads(run("rank", *words, "--json").stdout)
    assert result["schema"] == "papertape.rank/1"
    return result


def figures(result):
    """What does not depend on how long it took."""
    return {key: value for key, value in result.items() if key not in ("seconds_by_stage", "cached")}


def alone(folder, strategy, *words):
    """The account of a backtest of it alone, and its equity at each row."""
    curve = os.path.join(folder, "equity.csv")
    result = json.loads(run("backtest", "--strategy", strategy, *words, "--equity", curve, "--json").stdout)
    with open(curve, newline="") as file:
        equity = [float(row["equity"]) for row in csv.DictReader(file)]
    return result["accounts"][0], equity


def moments(start, equity):
    """A row's Sharpe ratio, skew and kurtosis, by a direct formula."""
    values = [start, *equity]
    returns = [b / a - 1 for a, b in zip(values, values[1:])]
    mean = math.fsum(returns) / len(returns)
    second, third, fourth = (math.fsum((r - mean) ** k for r in returns) / len(returns) for k in (2, 3, 4))
    if second == 0:
        return None
    deviation = math.sqrt(second * len(returns) / (len(returns) - 1))
    return mean / deviation, third / second ** 1.5, fourth / second ** 2


def deflated(curves, start):
    """The deflated Sharpe ratio of each (Bailey, López de Prado 2014), as docs/metrics.md has it."""
    found = [moments(start, equity) for equity in curves]
    rows, n = len(curves[0]), len(curves)
    variance = statistics.variance([of[0] if of else 0 for of in found])
    luck = math.sqrt(min(variance, 1 / (rows - 1)))
    expected = luck * ((1 - EULER) * NORMAL.inv_cdf(1 - 1 / n) + EULER * NORMAL.inv_cdf(1 - 1 / (n * math.e)))
    ratios = []
    for of in found:
        if of is None:
            ratios.append(None)
            continue
        sharpe, skew, kurtosis = of
        ratios.append(NORMAL.cdf((sharpe - expected) * math.sqrt(rows - 1) / math.sqrt(1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe ** 2)))
    return ratios


def same_as_alone(folder, words):
    """Every built-in strategy: the backtest's account object, and the luck of all."""
    result = ranked(*words)
    rows, curves = result["strategies"], []
    for row in rows:
        account, equity = alone(folder, row["strategy"], *words)
        del account["orders"]  # which a ranking does not keep
        assert {key: row[key] for key in account} == account, (row["strategy"], [key for key in account if row[key] != account[key]])
        assert set(row) - set(account) == {"rank", "dsr", "rejected"}
        curves.append(equity)
    ratios = deflated(curves, rows[0]["deposits"])
    for row, ratio in zip(rows, ratios):
        assert row["dsr"] is None if ratio is None else math.isclose(row["dsr"], ratio, rel_tol=1e-6, abs_tol=1e-12), (row["strategy"], ratio)
    places = [row["rank"] for row in rows]
    enough = [row["trades"] >= MIN_TRADES for row in rows]
    n = sum(enough)
    assert n > 4 and enough == [True] * n + [False] * (len(rows) - n) and places == [*range(1, n + 1), *[None] * (len(rows) - n)], places
    for part in (rows[:n], rows[n:]):
        values = [row["dsr"] for row in part if row["dsr"] is not None]
        assert values == sorted(values, reverse=True) and [row["dsr"] for row in part][len(values):] == [None] * (len(part) - len(values))
    assert result["few_trades"] == len(rows) - n and result["luck"]["trials"] == len(rows)
    return result


def ways(words, result):
    """Threads and the engine's way make no difference; nor does what was named instead of taken."""
    for more in (["--threads", 1], ["--threads", 3]):
        assert figures(ranked(*words, *more)) == figures(result), more
    by_engine = figures(ranked(*words, "--way", "engine"))
    for row in by_engine["strategies"] + result["strategies"]:
        del row["way"]
    assert by_engine == figures(result)


def chosen(folder, words):
    """Strategies with sets, two of one name, by another metric."""
    sets = ["sma-cross:fast=5,slow=20", "sma-cross:fast=10,slow=60,direction=both", "buy-and-hold"]
    choices = [word for name in sets for word in ("--strategy", name)]
    result = ranked(*choices, *words, "--shorts", "--metric", "return", "--min-trades", 0)
    rows = result["strategies"]
    assert sorted(row["account"] for row in rows) == ["buy-and-hold", "sma-cross-1", "sma-cross-2"] and result["left_out"] == []
    returns = [row["return_pct"] for row in rows]
    assert returns == sorted(returns, reverse=True) and [row["rank"] for row in rows] == [1, 2, 3]
    for row in rows:
        text = {"sma-cross-1": sets[0], "sma-cross-2": sets[1], "buy-and-hold": sets[2]}[row["account"]]
        account, _ = alone(folder, text, *words, "--shorts")
        del account["orders"], account["account"]
        assert {key: row[key] for key in account} == account, row["account"]
    assert rows != ranked(*choices, *words, "--metric", "return", "--min-trades", 0)["strategies"]  # shorts count


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def terms(folder, words):
    """Splits and dividends, a universe and external columns count as in a backtest."""
    choices = ["--strategy", "sma-cross", "--strategy", "buy-and-hold"]
    plain = ranked(*choices, *words, "--min-trades", 0)
    actions = write(folder, "actions.csv", "symbol,kind,ex_date,shares,per,cash\nBTCUSDT,split,2024-01-04,2,1,\nETHUSDT,dividend,2024-01-05,,,0.5\n")
    rule = "top 1 by volume; every 1d"
    mood = f"exec:{sys.executable} -S {write(folder, 'mood.py', MOOD)}"
    rows = "".join(f"{START_MS + 3_600_000 * i},{START_MS + 3_600_000 * i},{1 if i % 5 < 2 else -1}\n" for i in range(240))
    columns = write(folder, "columns.csv", "timestamp,published,mood\n" + rows)
    for more in (["--corporate-actions", actions], ["--universe", rule], ["--columns", columns]):
        names = [*choices, "--strategy", mood] if "--columns" in more else choices
        result = ranked(*names, *words, *more, "--min-trades", 0)
        for row in result["strategies"]:
            account, _ = alone(folder, row["strategy"], *words, *more)
            del account["orders"]
            assert {key: row[key] for key in account} == account, (more, row["strategy"])
            assert row["fills"] > 20 or row["strategy"] != mood, row
        assert "--columns" in more or [row["equity"] for row in result["strategies"]] != [row["equity"] for row in plain["strategies"]], more
        assert ("universe" in result) == ("--universe" in more) and result.get("universe", {}).get("rule", rule) == rule, result.get("universe")
    refused(*words, "--strategy", mood, says="col:mood", status=1)
    refused(*words, "--corporate-actions", os.path.join(folder, "gone.csv"), says="gone.csv", status=1)


def forms(folder, words, result):
    """CSV, page and text have what --json has."""
    table, page = os.path.join(folder, "ranking.csv"), os.path.join(folder, "ranking.html")
    text = run("rank", *words, "--csv", table, "--report", page).stdout
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(result["strategies"])
    for row, of in zip(rows, result["strategies"]):
        assert row["strategy"] == of["strategy"] and row["rank"] == ("" if of["rank"] is None else str(of["rank"])), row
        for name, key, times in (("sharpe", "sharpe", 1), ("return", "return_pct", 100), ("profit_factor", "profit_factor", 1), ("dsr", "dsr", 1)):
            assert row[name] == "" if of[key] is None else math.isclose(times * float(row[name]), of[key], rel_tol=1e-15), (name, row, of[key])
        assert float(row["equity"]) == of["equity"] and int(row["fills"]) == of["fills"]
    assert [line.split()[-1] for line in text.splitlines() if line[:4].strip().isdigit() or line.startswith("   - ")] == \
        [of["strategy"] for of in result["strategies"]], text
    verdict = {"luck": "No more than luck", "more_than_luck": "More than luck"}[result["luck"]["verdict"]]
    assert (result["luck"]["verdict"] == "more_than_luck") == (result["strategies"][0]["dsr"] > result["luck"]["level"])
    assert verdict in text and "left out: pairs opens nothing" in text and "ranking " in text, text
    root = strict.check_page(page)
    assert not strict.faults, strict.faults[:5]
    words_of_page = "".join(root.itertext()) if hasattr(root, "itertext") else open(page).read()
    said = " ".join(words_of_page.split())
    for needed in ("Ranking", verdict, "Differences", *(of["strategy"] for of in result["strategies"]), *result["luck"]["words"]):
        assert needed in said, needed
    with open(page) as file:
        source = file.read()
    best = result["strategies"][0]
    for key in ("dsr", "sharpe", "return_pct", "profit_factor"):
        assert f'value="{best[key]:.17g}"' in source or repr(best[key]) in source, (key, best[key])
    os.unlink(page)


def refused(*words, says, status=2):
    done = run("rank", *words, status=status)
    lines = [line for line in done.stderr.splitlines() if ": note: " not in line]
    assert done.stdout == "" and len(lines) == 1 and says in lines[0], done


def left_out(folder, words):
    """What the bars do not suffice for is named; a strategy that was asked for is an error."""
    days = bars(folder, "DAYUSDT_1d", 300, 1440, gap=())
    result = ranked("--bars", days, "--no-cache")
    why = {of["strategy"]: of["why"] for of in result["left_out"]}
    assert "pairs" in why and "needs 2 symbols quoted in USDT, and there is 1" in why["pairs"], why
    assert "trend-4h-1h" in why and {of["strategy"] for of in result["strategies"]}.isdisjoint(why), why
    assert len(why) + len(result["strategies"]) == 11, why
    refused("--strategy", "sma-cross", "--strategy", "trend-4h-1h", "--bars", days, "--no-cache", says="trend-4h-1h", status=1)
    refused("--strategy", "pairs", *words, says="pairs opens nothing in an account that may not be short", status=1)
    assert "pairs" in {of["strategy"] for of in ranked(*words, "--shorts")["strategies"]}


def bad(folder, words):
    few = bars(folder, "FEWUSDT_5m", 3, gap=())
    refused(says="--bars")
    refused(*words, "--strategy", "sma-corss", says="did you mean sma-cross?")
    refused(*words, "--strategy", "sma-cross:fast=0", says="fast")
    refused(*words, "--metric", "shrape", says="did you mean sharpe?")
    refused(*words, "--min-trades", -1, says="min-trades")
    refused("--bars", os.path.join(folder, "none.csv"), says="none.csv", status=1)
    refused("--bars", few, "--no-cache", "--strategy", "sma-cross", says="there are 3 bars", status=1)
    refused(*words, "--report", folder, says=folder, status=1)
    refused(*words, "--csv", os.path.join(folder, "no", "place.csv"), says="place.csv", status=1)
    report = os.path.join(folder, "kept.html")
    refused(*words, "--csv", report, "--report", report, says="--csv and --report are both to be written there")
    with open(report, "w") as file:
        file.write("before")
    refused("--bars", few, "--no-cache", "--strategy", "sma-cross", "--report", report, says="there are 3 bars", status=1)
    with open(report) as file:
        assert file.read() == "before"
    full = subprocess.run([harness.PAPERTAPE, "rank", *map(str, words), "--strategy", "buy-and-hold", "--csv", "/dev/full"], capture_output=True, text=True)
    assert full.returncode == 1 and "No space left on device" in full.stderr, full


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = [bars(folder, f"{name}USDT_5m", 9000 if harness.LONG else 3000) for name in ("BTC", "ETH", "SOL")]
        words = ["--bars", ",".join(files), "--no-cache"]
        result = same_as_alone(folder, words)
        forms(folder, words, result)
        chosen(folder, words)
        terms(folder, words)
        left_out(folder, words)
        bad(folder, words)
        ways(words, result)
    print(f"rank: {len(result['strategies'])} strategies as their own backtests have them")


if __name__ == "__main__":
    main()
