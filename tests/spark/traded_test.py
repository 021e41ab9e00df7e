"""Backtests and sweeps of papertape_spark's library, batch by batch, against the program on bars files with the same numbers:
figures, fills, rounds, equity and runs equal to the last digit, whatever the options; no Spark is needed:
python3 traded_test.py"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from checks import check, done, seeded

import numpy as np
import pyarrow
from papertape_spark.trading import Trading, options_of

PAPERTAPE = os.environ["PAPERTAPE"]
ROWS = 3000
MINUTE_US = 60_000_000


def walk(rng, symbol, rows, digits):
    """Columns of bars that walk at random, with gaps, of so many digits after the point."""
    path = np.round(rng.uniform(1, 500) * np.exp(np.cumsum(rng.normal(0, 0.004, rows + 1))), digits)
    path = np.maximum(path, 10.0**-digits)
    opens, closes = path[:-1], path[1:]
    steps = np.where(rng.random(rows) < 0.02, rng.integers(2, 9, rows), 1)
    return {
        "symbol": [symbol] * rows,
        "timestamp": 1_704_067_200_000_000 + 5 * MINUTE_US * np.cumsum(steps),
        "open": opens,
        "high": np.round(np.maximum(opens, closes) + rng.exponential(10.0**-digits, rows), digits),
        "low": np.maximum(np.round(np.minimum(opens, closes) - rng.exponential(10.0**-digits, rows), digits), 10.0**-digits),
        "close": closes,
        "volume": np.round(rng.exponential(10, rows), int(rng.integers(0, 6))),
    }


def batch_of(bars):
    return pyarrow.RecordBatch.from_pydict({
        name: pyarrow.array(column, pyarrow.string() if name == "symbol" else pyarrow.timestamp("us", "UTC") if name == "timestamp" else pyarrow.float64())
        for name, column in bars.items()
    })


def file_of(bars, folder):
    path = Path(folder, f"{bars['symbol'][0]}_5m.csv")
    with open(path, "w", encoding="utf-8") as out:
        out.write("timestamp,open,high,low,close,volume\n")
        for row in zip(*(bars[name] for name in ("timestamp", "open", "high", "low", "close", "volume"))):
            out.write(",".join([str(int(row[0])), *(repr(float(cell)) for cell in row[1:])]) + "\n")
    return path


def traded(what, batches, pairs):
    """Rows as dictionaries, by symbol, and the symbols in their order."""
    found = []
    with Trading(what, pairs) as run:
        for batch in batches:
            run.give(batch)
            found += [row for rows in run.rows() for row in rows.to_pylist()]
        run.end()
        found += [row for rows in run.rows() for row in rows.to_pylist()]
    return found


def by_symbol(rows):
    ret = {}
    for row in rows:
        ret.setdefault(row["symbol"], []).append(row)
    return ret


def printed(words, json_too=True):
    done = subprocess.run([PAPERTAPE, *words, "--no-cache", *(["--json"] if json_too else [])], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    return json.loads(done.stdout) if json_too else done.stdout


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def same_cell(text, value):
    """A cell of CSV and a value of Arrow: exact."""
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == str(int(value))
    if isinstance(value, Decimal):
        return text != "" and Decimal(text) == value
    return text == str(value) if not isinstance(value, float) else text != "" and float(text) == value


def compare_rows(name, expected, mine):
    check(len(expected) == len(mine), f"{name}: {len(mine)} rows, not {len(expected)}")
    for left, right in zip(expected, mine):
        for key, value in right.items():
            if key in left:
                check(same_cell(left[key], value), f"{name}: {key} is {value!r}, not {left[key]!r}")
        # of a fill, what follows from its other columns; of times, their texts
        missing = {key for key in left if not key.endswith("_iso")} - set(right) - {"account", "rate", "base", "liquidity", "sec_fee", "taf_fee"}
        check(not missing, f"{name}: without {missing}")


def compare_figures(name, result, mine):
    account = result["accounts"][0]
    for key, value in mine.items():
        if key in ("symbol", "error"):
            continue
        expected = account.get(key, result.get(key))
        if key in ("bars_missing",):
            expected = result["symbols"][0][key]
        if key in ("deposits", "cash"):
            check(float(value) == expected, f"{name}: {key} is {value}, not {expected}")
            continue
        if key not in account and key not in result and key != "bars_missing":
            check(False, f"{name}: {key} is not the program's")
        check(value == expected and type(value) is type(expected), f"{name}: {key} is {value!r}, not {expected!r}")
    lost = {key for key, value in account.items() if not isinstance(value, (list, dict))} - set(mine) - {"account"}
    check(not lost, f"{name}: without {lost}")


CASES = [
    ("sma-cross", {}, {}, []),
    ("sma-cross", {"fast": 5, "slow": 40}, {"cash": "500.5", "fee_maker": 0.0002, "slippage": 0.001, "latency_ms": 200}, "--cash 500.5 --fee-maker 0.0002 --slippage 0.001 --latency-ms 200".split()),
    ("sma-cross", {"fast": 4, "average": "ema"}, {"shorts": True, "collateral": 1.7, "risk": {"drawdown": 0.2}}, "--shorts --collateral 1.7 --risk drawdown=0.2".split()),
    ("day-trade", {}, {"way": "engine"}, "--way engine".split()),
    ("buy-and-hold", {}, {"lot": "0.01", "tick": "0.0001", "quote": "eur", "benchmark": "none"}, "--lot 0.01 --tick 0.0001 --quote eur --benchmark none".split()),
    ("triple-confirmation", {}, {"from_": "2024-01-04T00:00:00Z", "to": "2024-01-09T12:00:00Z", "interval": "5m"}, "--from 2024-01-04T00:00:00Z --to 2024-01-09T12:00:00Z --interval 5m".split()),
]


def backtests(batches, files, scratch):
    for number, (strategy, params, options, words) in enumerate(CASES):
        pairs = options_of(strategy, params, None, options)
        mine = {what: by_symbol(traded(what, batches, pairs)) for what in ("figures", "trades", "rounds", "equity")}
        check(list(mine["figures"]) == sorted(files), f"case {number}: the symbols are {list(mine['figures'])}")
        for symbol, path in files.items():
            outputs = {what: Path(scratch, f"{what}.csv") for what in ("trades", "rounds", "equity")}
            given = ["backtest", "--strategy", strategy, "--bars", path, *(word for key, value in params.items() for word in ("--set", f"{key}={value}")), *words]
            result = printed([*given, *(word for what, out in outputs.items() for word in (f"--{what}", out))])
            name = f"case {number}, {symbol}"
            compare_figures(name, result, mine["figures"][symbol][0])
            for what, out in outputs.items():
                compare_rows(f"{name}, {what}", rows_of(out), mine[what].get(symbol, []))


def sweeps(batches, files, scratch):
    grid = {"fast": "4:20:4", "slow": [10, 25, 60], "average": ["sma", "ema"]}
    pairs = options_of("sma-cross", {"fraction": 0.5}, grid, {"metric": "sortino", "fee_taker": 0.0005})
    mine = by_symbol(traded("sweep", batches, pairs))
    top = by_symbol(traded("sweep", batches, [*pairs, ("top", "3")]))
    for symbol, path in files.items():
        out = Path(scratch, "sweep.csv")
        words = ["sweep", "--strategy", "sma-cross", "--set", "fraction=0.5", "--fee-taker", "0.0005", "--bars", path, "--metric", "sortino", "--csv", out, "--min-trades", "0"]
        printed([*words, "--grid", "fast=4:20:4", "--grid", "slow=10,25,60", "--grid", "average=sma,ema"])
        of_program = [{key: value for key, value in row.items() if key not in ("dsr", "exact", "stopped")} for row in rows_of(out)]  # those of all runs' luck
        compare_rows(f"sweep, {symbol}", of_program, mine[symbol])
        check([row["rank"] for row in mine[symbol]] == list(range(1, len(mine[symbol]) + 1)), f"ranks of {symbol}")
        check(top[symbol] == mine[symbol][:3], f"the best three of {symbol}")


def main():
    rng = seeded("spark/traded", 31)
    made = [walk(rng, symbol, ROWS, digits) for symbol, digits in (("ADAUSDT", 4), ("BTCUSDT", 2), ("XYZ", 6))]
    whole = pyarrow.Table.from_batches([batch_of(bars) for bars in made]).combine_chunks().to_batches()[0]
    cuts = sorted({0, whole.num_rows, *rng.integers(0, whole.num_rows, 12).tolist()})
    batches = [whole.slice(low, high - low) for low, high in zip(cuts, cuts[1:])]
    with tempfile.TemporaryDirectory(prefix="papertape-traded-") as scratch:
        files = {bars["symbol"][0]: file_of(bars, scratch) for bars in made}
        backtests(batches, files, scratch)
        sweeps(batches, files, scratch)
    done("spark/traded")


if __name__ == "__main__":
    main()
