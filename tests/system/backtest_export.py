#!/usr/bin/env python3
"""`papertape backtest --export`: its bars are the file's, its indicators those of `papertape indicators`, equity, trades, fills and orders
those of the CSV files, in Parquet and in Arrow; the examples of docs/backtest.md run as they stand there; and where it cannot be written,
or has no room, nothing of it is left, and the file of before stays."""

import contextlib
import csv
import gzip
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("pyarrow"):
    import duckdb  # noqa: F401
    import pandas
    import pyarrow as pa
    import pyarrow.parquet as pq

import made_bars  # noqa: E402
import lake  # noqa: E402

os.environ["PAPERTAPE_PYTHON"] = sys.executable
STRATEGIES = ("--strategy", "sma-cross:fast=3,slow=8", "--strategy", "sma-cross-rsi:fast=4,slow=8")
FILES = {"trade": "rounds", "fill": "trades", "order": "orders", "equity": "equity"}
TIMES = {"entry": "entry_ns", "exit": "exit_ns", "ts": "ts_ns", "created": "created_ns", "updated": "updated_ns", "expires": "expires_ns"}


def backtest(folder, files, path, *more, status=0, **kwargs):
    words = [harness.PAPERTAPE, "backtest", *STRATEGIES, "--bars", ",".join(files), "--no-cache", "--cash", "1000000", "--export", path, *more]
    done = subprocess.run(words, capture_output=True, text=True, timeout=harness.PATIENCE, cwd=folder, **kwargs)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def value_of(value):
    """As a CSV has it: a number, a time's nanoseconds, text; None: it is empty."""
    if value is None or value is pandas.NaT:
        return None
    return value.value if isinstance(value, pandas.Timestamp) else int(value) if isinstance(value, bool) else value


def rows_of(table, record):
    part = table.filter(pa.compute.equal(table["record"], record))
    columns = {name: [value_of(value) for value in part[name].to_pylist()] for name in part.schema.names}
    return columns, part.num_rows


def check_csv(table, record, path):
    """Every cell of the CSV is there, and nothing that it does not have."""
    with open(path) as file:
        rows = [{name: text for name, text in row.items() if not name.endswith("_iso")} for row in csv.DictReader(file)]
    columns, n = rows_of(table, record)
    assert n == len(rows) > 20, (record, n, len(rows))
    names = {TIMES.get(name, name): values for name, values in columns.items() if TIMES.get(name, name) in rows[0]}
    assert names.keys() == rows[0].keys(), (names.keys(), rows[0].keys())
    for name, values in names.items():
        for value, row in zip(values, rows, strict=True):
            wanted = row[name] or None
            if wanted is None or isinstance(value, str):
                assert value == wanted, (record, name, value, row)
            else:
                assert value is not None and math.isclose(value, float(wanted), rel_tol=1e-15) or str(value) == wanted, (record, name, value, row)
    others = set(columns) - {name for name in columns if TIMES.get(name, name) in rows[0]} - {"record"}
    assert all(value is None for name in others for value in columns[name]), (record, others)


def check_bars(table, files):
    columns, n = rows_of(table, "bar")
    at = 0
    for path in files:
        symbol = os.path.basename(path).split("_")[0].split("-")[0]
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
            bars = [row for row in csv.reader(file) if row[0].isdigit()]
        for bar in bars:
            shown = [columns[name][at] for name in ("symbol", "open_time", "open", "high", "low", "close", "volume")]
            assert shown == [symbol, int(bar[0]) * 10**6, *map(float, bar[1:6])], (shown, bar)
            at += 1
        specs = ("sma:3", "sma:8", "rsi:14")
        names = [spec.replace(":", "_") for spec in specs]
        printed = harness.run([harness.PAPERTAPE, "indicators", path, *specs]).stdout
        for i, row in enumerate(csv.reader(printed.splitlines()[1:])):
            for name, cell in zip(names, row[1:], strict=True):
                if name in columns:
                    value = columns[name][at - len(bars) + i]
                    assert value == (float(cell) if cell else None), (symbol, name, i, value, cell)
    assert at == n and {"sma_3", "sma_8", "rsi_14"} <= columns.keys(), (at, n, columns.keys())


def check_forms(folder, files):
    outputs = [word for record, name in FILES.items() for word in (f"--{name}", os.path.join(folder, record + ".csv"))]
    backtest(folder, files, "run.parquet", *outputs)
    backtest(folder, files, "run.arrow")
    table = pq.read_table(os.path.join(folder, "run.parquet"))
    with pa.OSFile(os.path.join(folder, "run.arrow")) as file:
        assert pa.ipc.open_file(file).read_all().equals(table), "the two forms"
    for record in FILES:
        check_csv(table, record, os.path.join(folder, record + ".csv"))
    check_bars(table, files)
    return table


def check_examples(folder, table):
    """Those of pandas, DuckDB and Arrow find the same sum of profits."""
    with open(os.path.join(harness.SOURCE, "docs/backtest.md"), encoding="utf-8") as file:
        found = dict(re.findall(r"^<!-- example: (\w+) -->\n```python\n(.*?)^```$", file.read(), re.M | re.S))
    assert found.keys() == {"pandas", "DuckDB", "Arrow"}, found.keys()
    columns, _ = rows_of(table, "trade")
    wanted = {}
    for account, profit, exit_ in zip(columns["account"], columns["profit"], columns["exit"]):
        wanted[account] = wanted.get(account, 0) + (profit if exit_ else 0)
    here = os.getcwd()
    os.chdir(folder)
    for name, text in found.items():
        names = {}
        exec(compile(text, f"docs/backtest.md {name}", "exec"), names)
        profits = {account: float(profit) for account, profit in names["profits"].items()}
        assert profits.keys() == wanted.keys() and all(math.isclose(profits[key], wanted[key], rel_tol=1e-9) for key in wanted), (name, profits, wanted)
    os.chdir(here)


def check_refused(folder, files):
    def left():
        return sorted(name for name in os.listdir(folder) if name.startswith(("no", "kept")))

    for path, status, words in (("no.csv", 2, "a name that ends in .parquet or .arrow is needed"), ("no/such.parquet", 1, "No such file or directory"),
                                ("no.parquet", 1, "Is a directory"), ("no.arrow", 1, "it is no regular file")):
        if path == "no.parquet":
            os.mkdir(os.path.join(folder, path))
        if path == "no.arrow":
            os.symlink("/dev/full", os.path.join(folder, path))
        done = backtest(folder, files, path, status=status)
        assert words in done.stderr and done.stdout == "", (path, done.stderr)
    for path in ("kept.parquet", "kept.arrow"):
        with open(os.path.join(folder, path), "w") as file:
            file.write("as it was")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # more than the scripts in memory take
        done = backtest(folder, files, path, status=1, preexec_fn=limit)
        assert f"{path}: File too large" in done.stderr, done.stderr
        with open(os.path.join(folder, path)) as file:
            assert file.read() == "as it was"
    assert left() == ["kept.arrow", "kept.parquet", "no.arrow", "no.parquet"], left()
    done = backtest(folder, files, "no-python.parquet", status=1, env=os.environ | {"PAPERTAPE_PYTHON": "/no/python"})
    assert "pip install pyarrow" in done.stderr, done.stderr


def check_full(folder, files):
    """On a disk that is full, of a page and of an export: one sentence, and nothing is left."""
    small = os.path.join(folder, "small")
    os.mkdir(small)
    prefix = harness.with_mounts(f"mount -t tmpfs -o size=48k none {small}")
    if not harness.works(prefix):
        print("not tried on a full disk: no tmpfs can be mounted here")
        return
    for option, name in (("--export", "no.parquet"), ("--export", "no.arrow"), ("--report", "no.html")):
        path = os.path.join(small, name)
        words = [harness.PAPERTAPE, "backtest", *STRATEGIES, "--bars", ",".join(files), "--no-cache", option, path]
        script = f'"$@"; status=$?; ls -A {small}; exit $status'
        done = subprocess.run([*prefix, "sh", "-c", script, "sh", *words], capture_output=True, text=True, timeout=harness.PATIENCE)
        assert done.returncode == 1 and done.stdout == "" and f"{path}: No space left on device" in done.stderr, (name, done)


def check_interrupted(folder, files):
    """Ctrl-C at any time: the file is whole, or nothing of it is left."""
    path = os.path.join(folder, "stopped.parquet")
    words = [harness.PAPERTAPE, "backtest", *STRATEGIES, "--bars", ",".join(files), "--no-cache", "--export", path]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    here = lambda: [name for name in os.listdir(folder) if name.startswith("stopped.parquet.new-")]
    harness.wait_for(lambda: here() or process.poll() is not None, "the file beside")
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    process.wait(harness.PATIENCE)
    harness.wait_for(lambda: not here(), "the file beside to go")
    assert not os.path.exists(path) or pq.read_table(path).num_rows > 1000


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = lake.days_of_bars(folder, minutes=1 if harness.LONG else 5)
        table = check_forms(folder, files)
        check_examples(folder, table)
        check_refused(folder, files)
        check_full(folder, files)
        check_interrupted(folder, files)
        print(f"backtest_export: {table.num_rows} rows of {len(table.schema.names)} columns")


if __name__ == "__main__":
    main()
