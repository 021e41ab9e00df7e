#!/usr/bin/env python3
"""`--bars` of Parquet: backtest, sweep and indicators of a lake, of its files and of what other programs write (doubles, integers, µs,
days, partitions by symbol) give what the same bars as CSV give, to the bit. Two symbols in one file, unsorted bars, a bar twice, a
missing column, a null, a NaN, another schema in one of the files, a damaged file: refused in words, and no file is left behind."""

import csv
import decimal
import gzip
import json
import os
import re
import subprocess
import sys

import harness
import lake

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("pyarrow"):
    import pyarrow as pa
    import pyarrow.parquet as pq

STRATEGY = ("--strategy", "sma-cross:fast=3,slow=8,fraction=0.4")
NAMES = ("open", "high", "low", "close", "volume")


def run(verb, *arguments, status=0):
    done = subprocess.run([harness.PAPERTAPE, *verb.split(), *arguments], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == status, done
    return done.stdout if status == 0 else done.stderr


def backtest(bars, *more):
    """All that it computes: its figures, without times and sizes, and the curve and trades."""
    folder = os.environ["TMPDIR"]
    places = [os.path.join(folder, name) for name in ("trades.csv", "equity.csv", "ledger.csv")]
    answer = json.loads(run("backtest", *STRATEGY, "--no-cache", "--bars", bars, "--json", *more, "--trades", places[0], "--equity", places[1], "--ledger", places[2]))
    for name in ("seconds_by_stage", "peak_bytes", "source_bytes", "cached"):
        del answer[name]
    found = [answer]
    for path in places:
        with open(path, encoding="utf-8") as file:
            found.append(file.read())
        os.unlink(path)
    assert answer["fills"] > 0, answer
    return found


class Reader:
    """The script that the programs pass to Python, asked as they ask it, without a start for each file."""

    def __init__(self, folder):
        self.out, self.number = os.path.join(folder, "read"), 0
        self.process = subprocess.Popen([sys.executable, lake.SCRIPTS, "read"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def ask(self, path, symbols=None, interval=None):
        """Files of bars, with commas between, or the words of a refusal."""
        self.number += 1
        out = os.path.join(self.out, str(self.number))
        os.makedirs(out)
        self.process.stdin.write(json.dumps({"path": path, "symbols": symbols, "interval": interval, "out": out}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "names" in answer:
            said = [{"symbol": os.path.basename(name).split("_")[0], "specific": True} for name in answer["names"]]
            self.process.stdin.write(json.dumps({"names": said}) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            return answer["error"]
        files = [file["path"] for file in answer["files"]]
        assert not any(map(os.path.exists, files))
        symbols = [file["symbol"] for file in answer["files"]]
        self.process.stdin.write('{"write": true}\n')
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            return answer["error"]
        for i, (file, symbol) in enumerate(zip(files, symbols)):
            files[i] = os.path.join(out, f"{symbol}_15m.csv")
            os.rename(file, files[i])
        return ",".join(files)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(harness.PATIENCE) == 0


def sweep(bars, *more):
    path = os.path.join(os.environ["TMPDIR"], "sweep.csv")
    run("sweep", "--strategy", "sma-cross", "--grid", "fast=2:4:1", "--grid", "slow=8:10:1", "--csv", path, "--no-cache", "--bars", bars, *more)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    os.unlink(path)
    return text


def as_csv(state, folder, symbol, interval, *more):
    path = os.path.join(folder, f"{symbol}_{interval}.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(run("bars", symbol, interval, *more, "--state", state))
    return path


def of_lake(state, files, folder, reader):
    """A lake, its bars, one symbol of it, one of its files, as a sweep and as indicators."""
    path = os.path.join(folder, "lake")
    lake.export(state, path, "--table", "bars")
    stored = [as_csv(state, folder, symbol, "15m") for symbol in ("BTCUSDT", "ETHUSDT")]
    both = backtest(",".join(stored))
    assert both == backtest(",".join(files))  # as the state was made
    assert backtest(path, "--interval", "15m") == both
    assert backtest(os.path.join(path, "bars"), "--interval", "15m", "--symbol", "BTCUSDT,ethusdt") == both
    assert backtest(reader.ask(path, ["ethusdt"], "15m")) == backtest(stored[1]) != both
    sweeps = [sweep(stored[0]), sweep(path, "--interval", "15m", "--symbol", "BTCUSDT")]
    assert sweeps[0] == sweeps[1] and sweeps[0].count("\n") == 10, sweeps
    day = os.path.join(path, "bars/date=2024-08-07/1m.parquet")
    of_trades = as_csv(state, folder, "ETHUSDT", "1m", "--source", "trades")
    assert run("indicators", day, "rsi:14", "sma:5", "--symbol", "ETHUSDT") == run("indicators", of_trades, "rsi:14", "sma:5")
    assert run("indicators", path, "sma:5", "--interval", "15m", "--symbol", "BTCUSDT") == run("indicators", stored[0], "sma:5")
    assert "bars of 15m, 1m: --interval names one" in run("indicators", path, "sma:5", "--symbol", "BTCUSDT", status=1)
    assert "--interval: it is one of Parquet's: a bars file has one" in run("indicators", stored[0], "sma:5", "--interval", "15m", status=2)
    for more, words in (((), "it has bars of 15m, 1m: --interval names one"), ((None, "4h"), "it has no bars of 4h, and has those of 15m, 1m"),
                        ((["SOLUSDT"], "15m"), "it has no bar of SOLUSDT"), ((["BTCUSDT", "SOLUSDT"], "15m"), "it has no bars of SOLUSDT, and has those of BTCUSDT")):
        assert words in reader.ask(path, *more), more
    assert "it has the symbols BTCUSDT, ETHUSDT: --symbol names one" in reader.ask(os.path.join(path, "bars/date=2024-08-07/15m.parquet"))
    return stored


def columns_of(path):
    """A bars file as numbers of Python."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        rows = list(csv.DictReader(file))
    return {"time": [int(row["open_time_ms"]) for row in rows]} | {name: [row[name] for row in rows] for name in NAMES}


def floats(columns, name="timestamp", unit="ms"):
    """As pandas writes it."""
    return pa.table({name: pa.array(columns["time"], pa.timestamp("ms", tz="UTC")).cast(pa.timestamp(unit, tz="UTC"))}
                    | {column: pa.array([float(text) for text in columns[column]]) for column in NAMES})


def in_cache(state, folder):
    """The market store's cache has what was read before, as long as the lake is the same."""
    path, cache = os.path.join(folder, "lake"), os.path.join(folder, "cache")

    def cached(*more):
        answer = json.loads(run("backtest", *STRATEGY, "--cache", cache, "--bars", path, "--interval", "15m", "--json", *more))
        return answer["cached"], answer["ledger_hash"]

    first = cached()
    assert not first[0] and cached() == (True, first[1])
    if harness.LONG:
        assert cached("--symbol", "ETHUSDT")[0] is False and cached("--symbol", "ETHUSDT")[0] is True
    lake.change(state, ("UPDATE bars SET close = low WHERE interval_ns = 900000000000 AND open_ns % 3600000000000 = 0", ()))
    assert lake.written(lake.export(state, path, "--table", "bars")) == {"bars": 3}
    changed = cached()
    assert not changed[0] and changed[1] != first[1]
    name = os.path.join(path, "bars/date=2024-08-09/15m.parquet")  # and behind the manifest's back
    with open(name, "rb") as file:
        content = file.read()
    table = pq.ParquetFile(name).read()
    pq.write_table(table.slice(0, table.num_rows // 2), name)
    assert cached()[0] is False
    with open(name, "wb") as file:
        file.write(content)
    with open(os.path.join(path, "_manifest.jsonl"), "a") as file:
        file.write("{no JSON}\n[]\n")  # says nothing of any file
    assert cached() == (True, changed[1])


def of_both(stored, place, reader):
    """Two symbols in one file, sorted by symbol: of one of them only its row groups are read."""
    made = [floats(columns_of(path)).append_column("symbol", pa.array([os.path.basename(path)[:7]] * len(columns_of(path)["time"]))) for path in stored]
    pq.write_table(pa.concat_tables(made), place, row_group_size=100)
    assert backtest(reader.ask(place, ["ETHUSDT"])) == backtest(stored[1])
    file = pq.ParquetFile(place)
    groups = [lake.script("source").groups_of(file, "symbol", [symbol]) for symbol in ("BTCUSDT", "ETHUSDT", "SOLUSDT")]
    assert groups == [[0, 1, 2], [2, 3, 4, 5], []], groups


def of_others(stored, folder, reader):
    """What other programs write."""
    one, columns = backtest(stored[0]), columns_of(stored[0])
    table, place = floats(columns), os.path.join(folder, "BTCUSDT_15m.parquet")
    times = pa.array(columns["time"], pa.timestamp("ms"))
    small = pa.decimal128(18, 8)
    for made in (table, floats(columns, "Open_Time", "us"), table.set_column(0, "date", times), table.set_column(0, "time", pa.array(columns["time"])),
                 table.set_column(0, "datetime", pa.array([f"{text}Z" for text in times.cast(pa.string()).to_pylist()])),
                 pa.table([times, *(pa.array(map(decimal.Decimal, columns[name]), small) for name in NAMES)], ["unix", *map(str.upper, NAMES)])):
        pq.write_table(made, place)
        assert backtest(reader.ask(place)) == one, made.schema
    of_both(stored, place, reader)
    split = os.path.join(folder, "by-symbol")  # as Spark's partitionBy writes it
    for symbol, source in zip(("BTCUSDT", "ETHUSDT"), stored):
        os.makedirs(os.path.join(split, f"symbol={symbol}"))
        made = floats(columns_of(source))
        for i, part in enumerate((made.slice(0, 100), made.slice(100))):
            pq.write_table(part, os.path.join(split, f"symbol={symbol}", f"part-{i:05}.snappy.parquet"), compression="snappy")
    open(os.path.join(split, "_SUCCESS"), "w").close()
    assert backtest(split) == backtest(",".join(stored))
    assert backtest(reader.ask(split, ["ETHUSDT"])) == backtest(stored[1])
    return table, split


def refusals(table, split, folder, reader):
    place = os.path.join(folder, "BTCUSDT_15m.parquet")
    close = table.column("close").to_pylist()
    rows = table.num_rows
    swapped = table.take(pa.array([0, 1, 3, 2, *range(4, rows)]))
    twice = pa.concat_tables([table.slice(0, 5), table.slice(4)])

    def with_close(values, kind=pa.float64()):
        return table.set_column(4, "close", pa.array(values, kind))

    for made, words in (
            (table.append_column("symbol", pa.array(["BTCUSDT"] * 5 + ["ETHUSDT"] * (rows - 5))), r": it has the symbols BTCUSDT, ETHUSDT: --symbol names one"),
            (swapped, r": bar 4 is of 2024-08-07 00:30:00\S*, before 2024-08-07 00:45:00\S*, the bar before it: sort them by time"),
            (twice, r": bar 6 is of 2024-08-07 01:00:00\S*, the same time as the bar before it: a bar comes twice"),
            (table.drop_columns(["close"]), r": close is missing; its columns are timestamp, open, high, low, volume"),
            (table.drop_columns(["timestamp", "low"]), r": a time \(open_time, timestamp, .*\) and low is missing"),
            (with_close([None, *close[1:]]), r": row 1: close is null: a bar has all of"),
            (with_close([close[0], float("nan"), *close[2:]]), r": bar 2: close is nan: a number is needed"),
            (with_close(list(map(str, close)), pa.string()), r": its column close is string: a decimal, a double or an integer is needed"),
            (table.set_column(0, "timestamp", pa.array([1.5] * rows)), r": its column timestamp is double: a timestamp, a date or an epoch is needed"),
            (table.slice(0, 0), r": it has no bar")):
        pq.write_table(made, place)
        error = reader.ask(place)
        assert error.startswith(place + ": ") and re.search(words, error) and error.count("\n") == 0, (words, error)
    assert run("backtest", *STRATEGY, "--bars", place, status=1) == f"papertape: backtest: {reader.ask(place)}\n"
    with open(place, "wb") as file:
        file.write(b"PAR1, and nothing else")
    assert "BTCUSDT_15m.parquet: it cannot be read as Parquet (" in run("indicators", place, "sma:3", status=1)
    parts = os.path.join(folder, "parts")
    os.mkdir(parts)
    for name, part in (("a", table.slice(0, 10)), ("b", table.slice(9))):
        pq.write_table(part, os.path.join(parts, f"BTCUSDT_{name}.parquet"))
    assert re.search(r"/parts: BTCUSDT: bar 11 is of 2024-08-07 02:15:00\S*, the same time as the bar before it: a bar comes twice \(\S*/BTCUSDT_b\.parquet: row 1 \(row group 0\), BTCUSDT\)$", reader.ask(parts))
    part = os.path.join(split, "symbol=ETHUSDT/part-00001.snappy.parquet")
    whole = pq.ParquetFile(part).read()
    pq.write_table(whole.set_column(4, "close", whole.column("close").cast(pa.float32())), part)
    assert re.search(r"part-00001\.snappy\.parquet: its column close is float, and in \S*symbol=BTCUSDT/part-00000\.snappy\.parquet it is double",
                     reader.ask(split))
    python = os.environ["PAPERTAPE_PYTHON"]
    os.environ["PAPERTAPE_PYTHON"] = "/nonexistent/python3"
    assert "/nonexistent/python3: there is no such program: Parquet is written and read by Python 3" in run("backtest", *STRATEGY, "--bars", split, status=1)
    os.environ["PAPERTAPE_PYTHON"] = python


def main():
    with harness.Folder() as folder, lake.OnePython(os.path.join(folder.path, "python")) as python:
        os.environ["PAPERTAPE_PYTHON"] = python.path
        state, files = lake.make_state(folder.path)
        os.environ["TMPDIR"] = os.path.join(folder.path, "tmp")
        os.mkdir(os.environ["TMPDIR"])
        reader = Reader(folder.path)
        stored = of_lake(state, files, folder.path, reader)
        table, split = of_others(stored, folder.path, reader)
        refusals(table, split, folder.path, reader)
        in_cache(state, folder.path)
        reader.end()
        assert os.listdir(os.environ["TMPDIR"]) == []


if __name__ == "__main__":
    main()
