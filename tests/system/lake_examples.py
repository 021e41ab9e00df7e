#!/usr/bin/env python3
"""The examples of docs/lake.md, run as they stand there on a lake of papertape export's: DuckDB, pandas and Polars, each of which
agrees with what SQLite computes from the state's bars; or with the argument Spark, in Spark's virtual environment, Spark's, and that
of papertape_spark, whose columns are those of `papertape indicators`."""

import csv
import json
import os
import re
import shutil
import sys
from decimal import Decimal

import harness
import lake

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/oracle"))
import oracle_venv  # noqa: E402

SPARK = sys.argv[1:] == ["Spark"]
with oracle_venv.imports("PySpark" if SPARK else "pyarrow", "PAPERTAPE_SPARK_VENV" if SPARK else "PAPERTAPE_VENV"):
    import pyarrow  # noqa: F401
    if SPARK:
        import pyspark  # noqa: F401
if SPARK and not shutil.which("java"):
    oracle_venv.skip("java is missing, which Spark runs on: openjdk-17-jre-headless")

os.environ["PAPERTAPE_PYTHON"] = sys.executable
if SPARK:  # of Spark's tasks too
    os.environ |= {"PYTHONPATH": os.path.join(harness.SOURCE, "spark"), "PYSPARK_PYTHON": sys.executable}
    sys.path.insert(0, os.environ["PYTHONPATH"])
ROWS = {"DuckDB": ("duckdb", lambda days: days.fetchall()), "pandas": ("pandas", lambda days: days.itertuples(index=False, name=None)),
        "Polars": ("polars", lambda days: days.rows()), "Spark": ("pyspark", lambda days: [tuple(row) for row in days.collect()])}


def examples():
    with open(os.path.join(harness.SOURCE, "docs/lake.md"), encoding="utf-8") as file:
        page = file.read()
    found = dict(re.findall(r"^### (\w+)$.*?^```python\n(.*?)^```$", page, re.M | re.S))
    assert found.keys() == ROWS.keys(), found.keys()
    return found, re.search(r"^```python\n(import papertape_spark\n.*?)^```$", page, re.M | re.S)[1]


def expected(state):
    rows = harness.query(os.path.join(state, "papertape.db"), "SELECT date(open_ns / 1000000000, 'unixepoch'), s.name, open_ns, close, volume, price_scale, qty_scale FROM "
                         "bars JOIN symbols s ON s.id = symbol WHERE source = 'venue' AND interval_ns = 900000000000 ORDER BY 1, 2, 3")
    days = {}
    for date, symbol, _, close, volume, price, qty in rows:
        total = days.get((date, symbol), (0, 0))[1]
        days[date, symbol] = (Decimal(close).scaleb(-price), total + Decimal(volume).scaleb(-qty))
    return [(*key, *values) for key, values in sorted(days.items())]


def run_columns(text, names):
    """That of papertape_spark, behind Spark's: each symbol's columns are the program's."""
    exec(compile(text, "docs/lake.md papertape_spark", "exec"), names)
    found = {}
    for row in names["columns"].orderBy("symbol", "timestamp").collect():
        found.setdefault(row.symbol, []).append((row.sma_20, row.rsi_14))
    for symbol, rows in found.items():
        printed = harness.run([harness.PAPERTAPE, "indicators", "lake", "sma:20", "rsi:14", "--interval", "15m", "--symbol", symbol]).stdout
        wanted = [tuple(float(cell) if cell else None for cell in row[1:]) for row in list(csv.reader(printed.splitlines()))[1:]]
        assert rows == wanted, (symbol, rows[:30], wanted[:30])
    assert len(found) == 2, found.keys()
    print(f"papertape_spark: {sum(map(len, found.values()))} bars")
    return found


def refused(part, call):
    try:
        call()
    except ValueError as error:
        assert part in str(error), (part, str(error))
    else:
        raise AssertionError(f"no error with {part!r}")


def run_read(spark, columns):
    """Which bars of the lake read(), the job and a backtest take: those of `--bars lake`."""
    import papertape_spark
    import papertape_spark.job

    refused("lake/bars: it has bars of the intervals 15m, ", lambda: papertape_spark.read(spark, "lake"))
    refused("it has no bars of the interval 7m, and has those of 15m", lambda: papertape_spark.read(spark, "lake/bars", interval="7m"))
    refused("it has no bars of the source x, and has those of venue", lambda: papertape_spark.read(spark, "lake", interval="15m", source="x"))
    words = ["--input", "lake", "--output", "out", "--specs", "sma:20,rsi:14", "--quiet"]
    assert papertape_spark.job.main(["indicators", *words]) == 2
    assert papertape_spark.job.main(["indicators", *words, "--input-interval", "15m"]) == 0
    found = {}
    for row in spark.read.parquet("out").orderBy("symbol", "timestamp").collect():
        found.setdefault(row.symbol, []).append((row.sma_20, row.rsi_14))
    assert found == columns, "the job's columns"
    rows = papertape_spark.backtest(papertape_spark.read(spark, "lake", interval="15m"), "sma-cross", {"fast": 3, "slow": 8}).collect()
    for row in rows:
        printed = harness.run([harness.PAPERTAPE, "backtest", "--strategy", "sma-cross:fast=3,slow=8", "--bars", "lake", "--interval", "15m", "--symbol", row.symbol, "--no-cache",
                               "--json"]).stdout
        assert json.loads(printed)["ledger_hash"] == row.ledger_hash, row.symbol
    assert len(rows) == 2, rows
    print(f"papertape_spark.read: {len(rows)} ledgers")


def run_sql():
    """Those of SQL, in DuckDB, each of which has rows; the month that the last one writes has the lake's bars for the program."""
    import duckdb
    with open(os.path.join(harness.SOURCE, "docs/lake.md"), encoding="utf-8") as file:
        texts = re.findall(r"^```sql\n(.*?)^```$", file.read(), re.M | re.S)
    assert len(texts) == 3 and "COPY" in texts[2], texts
    for text in texts[:2]:
        rows = duckdb.sql(text).fetchall()
        assert len(rows) >= 2 and all(row[-1] > 0 for row in rows), (text, rows)
    duckdb.sql(texts[2])
    line = [harness.PAPERTAPE, "indicators", "lake", "sma:5", "--interval", "15m", "--symbol", "BTCUSDT"]
    month = [word if word != "lake" else "bars-2024-08-15m.parquet" for word in line]
    assert harness.run(line).stdout == harness.run(month).stdout != ""
    print(f"SQL: {len(texts)}")


def main():
    with harness.Folder() as folder:
        state, _ = lake.make_state(folder.path)
        lake.export(state, os.path.join(folder.path, "lake"))
        wanted = expected(state)
        assert len(wanted) == 6, wanted
        os.chdir(folder.path)
        if not SPARK:
            run_sql()
        texts, columns = examples()
        for name, text in texts.items():
            if (name == "Spark") != SPARK:
                continue
            package, rows_of = ROWS[name]
            module, names = __import__(package), {}
            exec(compile(text, f"docs/lake.md {name}", "exec"), names)
            found = [(str(row[0]), *row[1:]) for row in rows_of(names["days"])]
            assert found == wanted, (name, found, wanted)
            print(f"{name} {module.__version__}: {len(found)} days")
            if SPARK:
                run_read(names["spark"], run_columns(columns, names))
                names["spark"].stop()


if __name__ == "__main__":
    main()
