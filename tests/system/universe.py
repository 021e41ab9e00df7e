#!/usr/bin/env python3
"""--universe over real 5m files (synthetic ones without them): which symbols are in at which times, by a plain Python that knows bars and
definitions alone, equals --members to the row; no order opens anything in a symbol that is out; refusals have their reason; a sweep's run
is the backtest's; lookahead passes; rules that are wrong, and rules that no symbol fulfils, are named."""

import bisect
import csv
import datetime
import glob
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import sys

import harness

DAY = 86_400_000
MONDAY = 4 * DAY
FIVE = 300_000
FILES = 5
FEES = ("--fees", "0.001:0.001")


def milliseconds(row):
    """Of "open_time" in milliseconds, or of "timestamp" as a text."""
    if "open_time" in row:
        return int(row["open_time"])
    return round(datetime.datetime.fromisoformat(row["timestamp"]).timestamp() * 1000)


def read(path):
    """(open ms, close, volume) of each bar."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        return [(milliseconds(row), float(row["close"]), float(row["volume"])) for row in csv.DictReader(file)]


def measure(name, bars, at, over):
    """Of the bars that have closed; None: there is none."""
    closed = bars[:bisect.bisect_right(bars, at - FIVE, key=lambda bar: bar[0])]
    window = range(bisect.bisect_left(closed, at - over, key=lambda bar: bar[0]), len(closed))
    if name == "age":
        return at - closed[0][0] if closed else None
    if not window:
        return None
    if name == "volume":
        total = 0.0
        for i in window:
            total += closed[i][1] * closed[i][2]
        return total / (over / DAY)
    if name == "price":
        return closed[-1][1]
    if name == "change":
        return closed[-1][1] / closed[window[0] - 1][1] - 1 if window[0] > 0 else None
    returns = [math.log(closed[i][1] / closed[i - 1][1]) for i in window if i > 0]
    if len(returns) < 2:
        return None
    mean = sum(returns) / len(returns)
    return math.sqrt(sum((one - mean) ** 2 for one in returns) / (len(returns) - 1) * DAY / FIVE)


def members(market, conditions, rank, over, every, at):
    """The changes, (time in ns, symbol, 1 or 0), and how many are in at each time."""
    first = min(bars[0][0] for bars in market.values())
    last = max(bars[-1][0] for bars in market.values()) + FIVE
    time = first + (MONDAY + at - first) % every
    was, changes, counts = set(), [], []
    while time <= last:
        fits = []
        for symbol, bars in market.items():
            values = [measure(name, bars, time, over) for name, _, _ in conditions]
            if all(value is not None and (value > bound if op == ">" else value < bound) for value, (_, op, bound) in zip(values, conditions)):
                fits.append(symbol)
        if rank:
            most, name, sign = rank
            ranked = [(sign * value, i, symbol) for i, symbol in enumerate(fits) if (value := measure(name, market[symbol], time, over)) is not None]
            fits = [symbol for _, _, symbol in sorted(ranked)[:most]]
        for symbol in market:
            if (symbol in fits) != (symbol in was):
                changes.append((time * 1_000_000, symbol, int(symbol in fits)))
        was = set(fits)
        if time < last:  # at the end nothing is traded any more
            counts.append(len(fits))
        time += every
    return changes, counts


def synthetic(folder, number, n=8000):
    path, rng, price = folder / f"S{number}USDT_5m.csv", random.Random(number), 100.0 * (number + 1)
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(n):
            close = round(max(1.0, price * math.exp(rng.gauss(0, 0.002 + 0.001 * math.sin(i / 900 + number)))), 2)
            file.write(f"{1704067200000 + i * FIVE},{price},{max(price, close)},{min(price, close)},{close},{round(rng.random() * 9, 3)}\n")
            price = close
    return str(path)


def bars_files(folder):
    """The smallest of the sample data, or made here."""
    found = sorted(glob.glob(os.path.join(harness.SHARED, "data/bars/*USDT_5m.csv.gz")), key=os.path.getsize)[:FILES]
    return found if len(found) == FILES else [synthetic(folder, i) for i in range(FILES)]


def run(*words, status=0):
    done = subprocess.run([harness.PAPERTAPE, *words], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == status, (words, done.returncode, done.stdout[-500:], done.stderr)
    return done


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def check_gate(orders, fills, changes, from_ns):
    """What is ordered while a symbol is out closes what is held, or is refused. A change at a time holds for what is decided after it."""
    refused = closing = opening = 0
    for order in orders:
        made = int(order["created_ns"])
        symbol_changes = [change for change in changes if change[1] == order["symbol"] and change[0] <= max(made - 1, from_ns)]
        is_in = bool(symbol_changes) and symbol_changes[-1][2] == 1
        if order["reason"] == "RISK_UNIVERSE":
            assert not is_in and float(order["filled"]) == 0, order
            refused += 1
            continue
        opening += is_in and float(order["filled"]) > 0
        if is_in or order["parent"] not in ("", "0") or order["state"] == "REJECTED":
            continue
        held = sum((1 if fill["side"] == "BUY" else -1) * float(fill["qty"]) for fill in fills
                   if fill["symbol"] == order["symbol"] and fill["account"] == order["account"] and int(fill["ts_ns"]) <= made
                   and int(fill["order"]) < int(order["order"]))
        assert (held < 0) == (order["side"] == "BUY") and float(order["qty"]) <= abs(held) * (1 + 1e-9), (order, held)
        closing += 1
    return refused, closing, opening


def check_rule(folder, market, files, text, rule, strategy):
    paths = {name: str(folder / f"{name}.csv") for name in ("members", "orders", "trades")}
    done = run("backtest", "--strategy", strategy, "--bars", ",".join(files), *FEES, "--no-cache", "--json", "--universe", text,
               *(word for name, path in paths.items() for word in (f"--{name}", path)))
    wanted, counts = members(market, *rule)
    shown = [(int(row["time_ns"]), row["symbol"], int(row["in"])) for row in rows(paths["members"])]
    assert shown == wanted, (text, [pair for pair in zip(shown, wanted) if pair[0] != pair[1]][:3], len(shown), len(wanted))
    said = json.loads(done.stdout)
    universe, account = said["universe"], said["accounts"][0]
    assert universe["rule"] == text and universe["times"] == len(counts) and universe["times_empty"] == counts.count(0), (universe, counts)
    assert math.isclose(universe["mean_symbols"], sum(counts) / len(counts)), (universe, counts)
    refused, closing, opening = check_gate(rows(paths["orders"]), rows(paths["trades"]), wanted, said["first_ns"])
    assert refused == account["refused"].get("RISK_UNIVERSE", 0) and account["way"] == "engine", (refused, account["refused"])
    return len(wanted), refused, closing, opening


def check_sweep(folder, files, text):
    path = str(folder / "sweep.csv")
    words = ["--bars", ",".join(files), *FEES, "--no-cache", "--universe", text]
    run("sweep", "--strategy", "sma-cross", "--set", "slow=60", *words, "--grid", "fast=10,20", "--csv", path, "--min-trades", "0")
    for row in rows(path):
        done = run("backtest", "--strategy", "sma-cross", "--set", f"fast={row['fast']}", "--set", "slow=60", *words, "--json")
        assert abs(float(row["return"]) * 100 - json.loads(done.stdout)["accounts"][0]["return_pct"]) < 1e-9, row
    page = folder / "page.html"
    assert f"universe  {text}" in run("backtest", "--strategy", "sma-cross", *words, "--report", str(page)).stdout
    assert text in page.read_text() and f"of {len(files)} symbols in, the mean of" in page.read_text()


def check_bad(files):
    words = ("backtest", "--strategy", "sma-cross", "--bars", ",".join(files), "--no-cache")
    for text, says in (("volum>1e6", "--universe: \"volum\": unknown measure: did you mean volume?"), ("every 1d", "a condition or a rank is needed"),
                       ("volume>many", "volume is a number, as 1e6"), ("top 0 by volume", "at least 1 symbol is needed")):
        assert says in run(*words, "--universe", text, status=2).stderr, (text, says)
    assert "more often than the bars" in run(*words, "--universe", "price>0; every 1m", status=1).stderr
    done = run(*words, "--universe", "volume>1e30", "--json")
    assert "no symbol is in at any of its times, so that nothing is entered: the highest volume of all is " in done.stderr, done.stderr
    assert json.loads(done.stdout)["accounts"][0]["fills"] == 0
    assert "times no symbol is in" in run(*words, "--universe", "age>2d").stderr
    assert "papertape lookahead takes it" in run("warmup", "sma-cross", "--bars", files[0], "--universe", "price>0", status=2).stderr
    assert "--universe" in run("backtest", "--strategy", "sma-cross", "--bars", files[0], "--members", "/tmp/never", status=2).stderr


def main():
    with harness.Folder() as folder:
        path = pathlib.Path(folder.path)
        files = bars_files(path)
        market = {os.path.basename(file).split("_")[0].removesuffix(".csv"): read(file) for file in files}
        last = {symbol: measure("volume", bars, bars[-1][0], DAY) for symbol, bars in market.items()}
        middle = sorted(last.values())[len(last) // 2]
        hour = 3_600_000
        rules = [
            (f"volume>{middle!r}; every 1d", ([("volume", ">", middle)], None, DAY, DAY, 0), "sma-cross"),
            ("top 2 by volume; over 12h; every 4h", ([], (2, "volume", -1), 12 * hour, 4 * hour, 0), "sma-cross-rsi-risk"),
            ("age>1d & price>0.01; bottom 2 by volatility; over 6h; every 6h at 01:30",
             ([("age", ">", DAY), ("price", ">", 0.01)], (2, "volatility", 1), 6 * hour, 6 * hour, 90 * 60_000), "sma-cross"),
            ("change>-0.5%; top 3 by change; every 12h", ([("change", ">", -0.005)], (3, "change", -1), DAY, 12 * hour, 0), "sma-cross"),
        ]
        sums = [0, 0, 0, 0]
        for text, rule, strategy in rules:
            sums = [a + b for a, b in zip(sums, check_rule(path, market, files, text, rule, strategy))]
        assert sums[0] > 20 and sums[1] > 5 and sums[2] > 1 and sums[3] > 20, sums
        check_sweep(path, files, rules[1][0])
        lines = run("backtest", "--strategy", "sma-cross", "--bars", ",".join(files), "--no-cache", "--universe", rules[2][0]).stdout.splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("universe  "))
        assert " ".join(line[10:] for line in lines[at:at + 2]) == rules[2][0] and max(map(len, lines)) <= 80, lines[at:at + 3]
        done = run("lookahead", "sma-cross", "--bars", ",".join(files), "--no-cache", "--universe", rules[1][0], "--cuts", "4")
        assert "lookahead ok" in done.stdout, done.stdout
        check_bad(files)
        print("universe: {} changes, {} orders refused, {} closed while out, {} while in".format(*sums))


if __name__ == "__main__":
    sys.exit(main())
