#!/usr/bin/env python3
"""Which symbols --bars of Parquet has: by files' names, as of a folder of CSV, where no column and no folder says it, and never by the
folder's name; each symbol exactly as its column or folder has it, alone and beside others, so that none becomes another's series, and
lots, ticks and ledger are the same. What the program cannot take, or what says nothing, is refused by name."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import urllib.parse

import harness
import lake

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("pyarrow"):
    import pyarrow as pa
    import pyarrow.parquet as pq

STRATEGY = ("--strategy", "buy-and-hold")
NAMES = ("open", "high", "low", "close", "volume")


def table_of(price, n=40, minutes=5, begin=0):
    """Bars as a user's program has them; `begin` is how many bars after 2025-03-31."""
    times = [1_743_379_200_000 + (begin + i) * minutes * 60_000 for i in range(n)]
    values = [price + (i * 7 % 11) / 4 for i in range(n)]
    return pa.table({"timestamp": pa.array(times, pa.timestamp("ms", tz="UTC")), "open": values, "high": [v + 1 for v in values],
                     "low": [v - 1 for v in values], "close": values, "volume": [3.5 + i % 3 for i in range(n)]})


def with_symbol(table, symbol):
    return table.append_column("symbol", pa.array([symbol] * table.num_rows))


def backtest(bars, *more, status=0):
    """({symbol: its terms}, how many rows, the ledger's hash), or the line of a refusal."""
    done = subprocess.run([harness.PAPERTAPE, "backtest", *STRATEGY, "--no-cache", "--json", "--bars", bars, *more], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == status, done
    if status:
        assert done.stderr.count("papertape: backtest: ") == 1 and done.stderr.count("\n") == 1, done.stderr
        return done.stderr
    answer = json.loads(done.stdout)
    return {row["symbol"]: row for row in answer["symbols"]}, answer["rows"], answer["ledger_hash"]


def symbols(bars, *more):
    return sorted(backtest(bars, *more)[0])


class Folder:
    """A folder of files {name: table}."""

    def __init__(self, root, name, files):
        self.path = os.path.join(root, name)
        shutil.rmtree(self.path, ignore_errors=True)
        for file, table in files.items():
            place = os.path.join(self.path, file)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            pq.write_table(table, place)


def of_files(root):
    """Names of files, as of CSV."""
    files = {"BTCUSDT_5m": table_of(81000), "ETHUSDT_5m": table_of(1700)}
    path = Folder(root, "two", {f"{name}.parquet": table for name, table in files.items()}).path
    as_csv = os.path.join(root, "csv")
    os.makedirs(as_csv)
    for name, table in files.items():
        with open(os.path.join(as_csv, f"{name}.csv"), "w", encoding="utf-8") as file:
            file.write(",".join(table.column_names) + "\n")
            for row in table.to_pylist():
                file.write(",".join([str(int(row["timestamp"].timestamp() * 1000)), *(f"{row[name]:.15g}" for name in NAMES)]) + "\n")
    for words, names in (((), ["BTCUSDT", "ETHUSDT"]), (("--symbol", "BTCUSDT"), ["BTCUSDT"]), (("--symbol", "ethusdt"), ["ETHUSDT"])):
        found = backtest(path, *words)
        assert sorted(found[0]) == names and found == backtest(as_csv, *words), found
    assert "it has no bars of SOLUSDT, and has those of BTCUSDT, ETHUSDT" in backtest(path, "--symbol", "SOLUSDT", status=1)
    solo = Folder(root, "solo", {"BTCUSDT_5m.parquet": table_of(81000)}).path
    assert symbols(solo) == ["BTCUSDT"]
    months = Folder(root, "months", {"BTCUSDT-5m-2025-03.parquet": table_of(81000, 30), "BTCUSDT-5m-2025-04.parquet": table_of(80000, 30, 5, 30),
                                     "BTCUSDT-aggTrades-2025-04.parquet": table_of(1, 3)}).path
    found = backtest(months)
    assert list(found[0]) == ["BTCUSDT"] and found[1] == 60, found
    assert symbols(f"{path}/BTCUSDT_5m.parquet,{as_csv}/ETHUSDT_5m.csv") == ["BTCUSDT", "ETHUSDT"]
    several = Folder(root, "several", {"BTCUSDT_5m.parquet": table_of(81000), "BTCUSDT_1h.parquet": table_of(81000, 40, 60)}).path
    assert "--interval names one" in backtest(several, status=1) and symbols(several, "--interval", "1h") == ["BTCUSDT"]
    dashed = Folder(root, "dashed", {"BTC-USD_5m.parquet": table_of(81000), "BRK-B_5m.parquet": table_of(400)}).path
    assert symbols(dashed, "--quote", "USD") == ["BRK-B", "BTC-USD"] and symbols(dashed, "--symbol", "btc/usd") == ["BTC-USD"]
    dated = Folder(root, "dated", {f"date=2025-03-3{i}/{name}.parquet": table_of(price, 10, 5, 10 * i)
                                   for i in (0, 1) for name, price in (("BTCUSDT", 81000), ("ETHUSDT", 1700))}).path
    found = backtest(dated)
    assert sorted(found[0]) == ["BTCUSDT", "ETHUSDT"] and found[1] == 20, found


def silent(root):
    """Names that say nothing, in a folder whose name is not asked."""
    for names in (("part-0", "part-1"), ("0", "BTCUSDT_5m"), ("3f2a" * 8 + "-0",), ("data_0",), ("00000000",), ("5m",), ("part-00000-9cd2-c000.snappy",)):
        files = {f"{name}.parquet": table_of(81000, 20, 5, 20 * i) for i, name in enumerate(names)}
        path = Folder(root, "MSFT", files).path
        error = backtest(path, status=1)
        assert f"{path}/{names[0]}.parquet: no column, folder or file's name has its symbol" in error, error
        if "BTCUSDT_5m" in names:
            assert "no column, folder" in backtest(path, "--symbol", "BTCUSDT", status=1)
        else:
            assert symbols(path, "--symbol", "BTCUSDT") == ["BTCUSDT"], names
    one = os.path.join(root, "two/BTCUSDT_5m.parquet")
    assert symbols(one) == ["BTCUSDT"] and symbols(one, "--symbol", "XBT") == ["XBT"]
    path = Folder(root, "MSFT", {"date=2025-03-31/part-0.parquet": table_of(81000)}).path
    assert "date=2025-03-31/part-0.parquet: no column, folder or file's name has its symbol" in backtest(path, status=1)


# What a rule for files' names makes one of, side by side.
DISTINCT = ("BTCUSDT_250328", "BTCUSDT_250627", "ES 202503", "ES 202506", "A B", "A C", "A/B", "A-B", "A%2FB", "BTC_USDT", "BTC_EUR", "BTC", "BTC/USD", "BTCUSD", "5m", "1h")


def distinct(root, way):
    """Each a series of its own, with the same terms alone as together."""
    tables = {name: table_of(100 * (i + 1)) for i, name in enumerate(DISTINCT)}
    if way == "column":
        path = Folder(root, "column", {"all.parquet": pa.concat_tables([with_symbol(table, name) for name, table in sorted(tables.items())])}).path
    else:  # as DuckDB, Spark and pyarrow write a folder's name
        path = Folder(root, "by-symbol", {f"symbol={urllib.parse.quote(name, safe=' ')}/part-0.parquet": table for name, table in tables.items()}).path
    together = backtest(path, "--quote", "USD")[0]
    assert sorted(together) == sorted(map(str.upper, DISTINCT)), together
    if way == "folder":  # a folder of the table, and a file in it
        assert symbols(os.path.join(path, "symbol=A%2FB")) == symbols(os.path.join(path, "symbol=A%2FB/part-0.parquet")) == ["A/B"]
    for name in DISTINCT:
        alone = backtest(path, "--quote", "USD", "--symbol", name)[0]
        assert alone == {name.upper(): together[name.upper()]}, (name, alone, together)


def alone_and_among(root):
    """The ledger of one that is read by its symbol is that of a folder with it alone."""
    tables = [with_symbol(table_of(100), "ES 202503"), with_symbol(table_of(300), "ES 202506")]
    both = Folder(root, "both", {"all.parquet": pa.concat_tables(tables)}).path
    one = Folder(root, "one", {"all.parquet": tables[1]}).path
    assert backtest(both, "--symbol", "ES 202506") == backtest(one) == backtest(one, "--symbol", "es 202506")
    state = os.path.join(root, "saved")
    backtest(both, "--quote", "USD", "--save", state)
    assert harness.query(os.path.join(state, "papertape.db"), "SELECT name FROM symbols ORDER BY name") == [("ES 202503",), ("ES 202506",)]
    place = os.path.join(root, "sweep.csv")
    sweeps = []
    for bars, more in ((both, ("--symbol", "ES 202506")), (one, ())):
        harness.run([harness.PAPERTAPE, "sweep", "--strategy", "sma-cross", "--grid", "fast=2:3:1", "--grid", "slow=8:9:1", "--csv", place,
                     "--no-cache", "--bars", bars, *more])
        with open(place, encoding="utf-8") as file:
            sweeps.append(file.read())
    assert sweeps[0] == sweeps[1] and sweeps[0].count("\n") == 5, sweeps


def untakable(root):
    """Refused by name."""
    read = lake.script("symbols")
    for names, words in ((("BTCUSDT_PERPETUAL_250627",), r"x: the symbol 'BTCUSDT_PERPETUAL_250627': it has 24 bytes, and 23 can be taken"),
                         (("A,B", "C"), r"the symbol 'A,B': a comma"), ((" A",), r"the symbol ' A': .* a space at an end"), (("A\nB",), r"the symbol 'A\\nB': ")):
        try:
            read.check_symbols(names, "x")
        except read.Refused as error:
            assert re.search(words, str(error)), (words, error)
        else:
            raise AssertionError(f"not refused: {names}")
    for names, words in ((("ABC", "abc"), r"the symbol 'abc': it differs from 'ABC' in case alone"), (("", "BTC"), r"all\.parquet: row 1: its symbol is empty")):
        path = Folder(root, "odd", {"all.parquet": pa.concat_tables([with_symbol(table_of(100), name) for name in names])}).path
        error = backtest(path, status=1)
        assert re.search(words, error), (words, error)
    path = Folder(root, "odd", {"symbol=__HIVE_DEFAULT_PARTITION__/part-0.parquet": table_of(100)}).path
    assert "symbol=__HIVE_DEFAULT_PARTITION__ has the bars without a symbol" in backtest(path, status=1)


def where(root):
    """An error of the loader names the Parquet file and the row; one of the way there the folder and TMPDIR."""
    tables = [with_symbol(table_of(price), name) for name, price in (("AAA", 10), ("BBB", 20), ("CCC", 30))]
    close = tables[1].column("close").to_pylist()
    tables[1] = tables[1].set_column(4, "close", pa.array([*close[:7], -1.0, *close[8:]]))
    path = Folder(root, "negative", {"a.parquet": with_symbol(table_of(5, 30, 5, -30), "BBB")}).path
    pq.write_table(pa.concat_tables(tables), os.path.join(path, "b.parquet"), row_group_size=45)
    for more in ((), ("--symbol", "BBB")):
        error = backtest(path, *more, status=1)
        assert f"{path}/b.parquet: row 48 (row group 1), BBB" in error and "papertape-bars" not in error, error
    done = harness.run([harness.PAPERTAPE, "indicators", path, "sma:3", "--symbol", "BBB"], status=1)
    assert f"{path}/b.parquet: row 48 (row group 1), BBB" in done.stderr and "papertape-bars" not in done.stderr, done
    twice = table_of(10).append_column("Close", tables[0].column("close"))
    path = Folder(root, "twice", {"BTCUSDT.parquet": twice}).path
    assert "it has a column close and a column Close: " in backtest(path, status=1)
    fine = Folder(root, "fine", {"BTCUSDT_5m.parquet": table_of(81000, 3000)}).path
    line = [harness.PAPERTAPE, "backtest", *STRATEGY, "--no-cache", "--bars", fine]
    words = "bars of Parquet are CSV there while they are loaded"
    os.environ["PAPERTAPE_PYTHON"] = sys.executable  # of its own: what is asked of them ends it
    done = harness.run(line, status=1, env=os.environ | {"TMPDIR": os.path.join(root, "none")})
    assert f"{root}/none/papertape-bars-" in done.stderr and f"No such file or directory: {words}: TMPDIR names another place" in done.stderr, done
    done = harness.run(line, status=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
    assert f"{os.environ['TMPDIR']}/papertape-bars-" in done.stderr and f"File too large: {words}" in done.stderr, done
    done = harness.run(line, status=1, env=os.environ | {"PAPERTAPE_PYTHON": "/bin/true"})
    assert "/bin/true: it ended with status 0 and no answer: Python 3 with pyarrow is needed: PAPERTAPE_PYTHON, or --python of export, names it" in done.stderr, done


def main():
    with harness.Folder() as folder, lake.OnePython(os.path.join(folder.path, "python")) as python:
        os.environ["PAPERTAPE_PYTHON"] = python.path
        os.environ["TMPDIR"] = os.path.join(folder.path, "tmp")
        os.mkdir(os.environ["TMPDIR"])
        of_files(folder.path)
        silent(folder.path)
        distinct(folder.path, "column")
        distinct(folder.path, "folder")
        alone_and_among(folder.path)
        untakable(folder.path)
        where(folder.path)
        assert os.listdir(os.environ["TMPDIR"]) == []


if __name__ == "__main__":
    main()
