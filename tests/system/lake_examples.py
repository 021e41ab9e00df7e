#!/usr/bin/env python3
"""The examples of docs/lake.md, run as they stand there on a lake of papertape export's: DuckDB, pandas and Polars, and Spark where
this Python has it; or those that are named: lake_examples.py Spark. Each agrees with what SQLite computes from the state's bars."""

import os
import re
import sys
from decimal import Decimal

import harness
import lake

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("pyarrow"):
    import pyarrow  # noqa: F401

os.environ["PAPERTAPE_PYTHON"] = sys.executable
ROWS = {"DuckDB": ("duckdb", lambda days: days.fetchall()), "pandas": ("pandas", lambda days: days.itertuples(index=False, name=None)),
        "Polars": ("polars", lambda days: days.rows()), "Spark": ("pyspark", lambda days: [tuple(row) for row in days.collect()])}


def examples():
    with open(os.path.join(harness.SOURCE, "docs/lake.md"), encoding="utf-8") as file:
        found = dict(re.findall(r"^### (\w+)$.*?^```python\n(.*?)^```$", file.read(), re.M | re.S))
    assert found.keys() == ROWS.keys(), found.keys()
    return found


def expected(state):
    rows = harness.query(os.path.join(state, "papertape.db"), "SELECT date(open_ns / 1000000000, 'unixepoch'), s.name, open_ns, close, volume, price_scale, qty_scale FROM "
                         "bars JOIN symbols s ON s.id = symbol WHERE source = 'venue' AND interval_ns = 900000000000 ORDER BY 1, 2, 3")
    days = {}
    for date, symbol, _, close, volume, price, qty in rows:
        total = days.get((date, symbol), (0, 0))[1]
        days[date, symbol] = (Decimal(close).scaleb(-price), total + Decimal(volume).scaleb(-qty))
    return [(*key, *values) for key, values in sorted(days.items())]


def main():
    with harness.Folder() as folder:
        state, _ = lake.make_state(folder.path)
        lake.export(state, os.path.join(folder.path, "lake"))
        wanted = expected(state)
        assert len(wanted) == 6, wanted
        os.chdir(folder.path)
        for name, text in examples().items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            package, rows_of = ROWS[name]
            try:
                module = __import__(package)
            except ImportError:
                assert name == "Spark" and not sys.argv[1:], f"{name}: this Python lacks {package}"
                print("Spark: skipped: no pyspark here")
                continue
            names = {}
            exec(compile(text, f"docs/lake.md {name}", "exec"), names)
            found = [(str(row[0]), *row[1:]) for row in rows_of(names["days"])]
            assert found == wanted, (name, found, wanted)
            print(f"{name} {module.__version__}: {len(found)} days")


if __name__ == "__main__":
    main()
