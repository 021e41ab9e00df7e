"""Checks of read() and the types that it takes, on a session that the test has: names, times, numbers as the program reads them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import ready
from checks import check, refused
from ready import in_order

import numpy as np
import pandas as pd
import papertape_spark
import papertape_spark.job
from papertape_spark import commit, symbols
from papertape_spark.library import symbol_in
from pyspark.sql import functions as F

NAMES = ["BTCUSDT-5m-2025-04", "BTCUSDT-5m-2025-05", "BTCUSDT_5m", "ethusdt-1h-2025-04", "BTC_USDT-5m", "Kraken_BTCUSDT_1h", "kraken-BTCUSDT-5m", "BRK-B_1d", "BRK.B_1d", "BTC-USD", "SPY_1d-raw"]


def folder(name):
    place = Path(ready.scratch.name, "reading", name)
    place.mkdir(parents=True)
    return place


def hours(rows=30, begin="2025-04-30T12:00:00"):
    times = pd.Timestamp(begin) + pd.to_timedelta(np.arange(rows), unit="h")
    closes = np.round(81771.56 + np.arange(rows) * 0.13, 2)
    return pd.DataFrame({"timestamp": times.as_unit("us"), "open": closes, "high": closes + 1, "low": closes - 1, "close": closes, "volume": 1.5})


def program(path, *words):
    """What `papertape indicators` prints of a file: rows of cells."""
    printed = subprocess.run([os.environ["PAPERTAPE"], "indicators", path, *words], capture_output=True, text=True, check=True, env=os.environ | {"PAPERTAPE_PYTHON": sys.executable}).stdout
    return [row.split(",") for row in printed.splitlines()]


def figures_of(path):
    """What `papertape backtest` says of a file."""
    words = ["backtest", "--strategy", "sma-cross:fast=3,slow=8", "--bars", path, "--no-cache", "--json"]
    result = json.loads(subprocess.run([os.environ["PAPERTAPE"], *words], capture_output=True, text=True, check=True, env=os.environ | {"PAPERTAPE_PYTHON": sys.executable}).stdout)
    return {**result, **result["accounts"][0]}


def names(spark):
    """A venue's archives of months are one symbol, by one rule for both."""
    bars, place = hours(), folder("names")
    bars.iloc[:12].to_parquet(place / "BTCUSDT-1h-2025-04.parquet", index=False)
    bars.iloc[12:].to_parquet(place / "BTCUSDT-1h-2025-05.parquet", index=False)
    found = papertape_spark.indicators(papertape_spark.read(spark, str(place)), "sma:5").collect()
    check({row.symbol for row in found} == {"BTCUSDT"} and len(found) == 30, f"archives: {sorted({row.symbol for row in found})}")
    through = papertape_spark.read(spark, str(place), in_tasks=False).groupBy("symbol").count().collect()
    check([tuple(row) for row in through] == [("BTCUSDT", 30)], f"archives by Spark: {through}")
    place = folder("names_none")
    bars.to_parquet(place / "-1h.parquet", index=False)
    refused("no symbol is in its name", lambda: papertape_spark.read(spark, str(place)))


def paths(spark):
    """The symbol that Spark finds in a row's path is the one that was found once for its file."""
    folders = ["symbol=ADA/0", "symbol=ADA/day=1/0", "symbol=A%252FB/0", "symbol=A+B/0", "symbol=50%25/symbol_/0", "symbol=A%2520B/x_y"]
    twice = ["symbol=OLD/symbol=NEW/0", "symbol=/symbol=X/0", "symbol=Y/symbol=0"]
    names = ["ADA", "ADA_1h", "ADA_1h.old", "X/BTC_5m"]
    for case in (folders[:2], folders, folders + twice, names, NAMES, names + NAMES, folders + names, folders + twice + NAMES):
        uris = [f"file:/data/{path}.parquet" for path in case]
        for named in (False, True):
            expected = symbols.of_files(uris, named)
            found = spark.createDataFrame([(uri,) for uri in uris], "uri string").select("uri", symbols.column(F.col("uri"), expected)).collect()
            check({tuple(row) for row in found} == set(expected.items()), f"{found}, and once {expected}")
    check(symbols.of_files(["file:/symbol=A%252FB/0", "file:/ADA"], True) == {"file:/symbol=A%252FB/0": "A/B", "file:/ADA": None}, "symbols of folders")


def names_as_program():
    """Each name's symbol is the program's, which its figures have."""
    place = folder("names_program")
    for name in NAMES:
        path = place / f"{name}.csv"
        hours().to_csv(path, index=False, date_format="%Y-%m-%dT%H:%M:%SZ")
        symbol = figures_of(path)["symbols"][0]["symbol"]
        check(symbol_in(str(path)) == symbol == symbol_in(f"x/{name}.parquet"), f"{name}: {symbol_in(str(path))}, and the program's {symbol}")


def zones(spark):
    """A time of CSV without a zone is UTC's, whatever the session's zone is; so is one of a text in Parquet, and a date."""
    bars, place = hours(), folder("zones")
    bars.to_csv(place / "AAA_1h.csv", index=False, date_format="%Y-%m-%d %H:%M:%S")
    texts = bars.assign(timestamp=bars.timestamp.dt.strftime("%Y-%m-%dT%H:%M:%S"))
    texts.iloc[::2] = texts.iloc[::2].assign(timestamp=texts.timestamp.iloc[::2] + "Z")
    texts.rename(columns={"timestamp": "datetime", "close": "Close"}).to_parquet(place / "BBB.parquet", index=False)
    days = bars.assign(timestamp=(pd.Timestamp("2025-01-01") + pd.to_timedelta(np.arange(30), unit="D")).date).rename(columns={"timestamp": "Date"})
    days.to_parquet(place / "CCC.parquet", index=False)
    days.to_csv(place / "CCC_1d.csv", index=False)
    seconds = bars.assign(timestamp=bars.timestamp.astype("datetime64[s]").astype("int64")).rename(columns={"timestamp": "unix"})
    seconds.to_csv(place / "DDD.csv", index=False)
    expected = {"AAA_1h.csv": bars.timestamp, "BBB.parquet": bars.timestamp, "DDD.csv": bars.timestamp, "CCC.parquet": pd.to_datetime(days.Date), "CCC_1d.csv": pd.to_datetime(days.Date)}
    before = spark.conf.get("spark.sql.session.timeZone")
    for zone in ("UTC", "America/New_York"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        for name, times in expected.items():
            made = papertape_spark.read(spark, str(place / name))
            kind = dict(made.dtypes)["timestamp"]
            micros = {"timestamp": "unix_micros(timestamp)", "timestamp_ntz": "timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01', timestamp)", "bigint": "timestamp * 1000000"}[kind]
            found = sorted(row[0] for row in made.selectExpr(micros).collect())
            check(found == list(times.astype("datetime64[us]").astype("int64")), f"{zone}: {name}: {kind} {found[:2]}")
            check("close" in made.columns, f"{name}: {made.columns}")
    spark.conf.set("spark.sql.session.timeZone", before)
    texts.assign(timestamp="soon").to_parquet(place / "EEE.parquet", index=False)
    refused("timestamp is soon: a time in ISO 8601", lambda: papertape_spark.indicators(papertape_spark.read(spark, str(place / "EEE.parquet")), "sma").count())
    texts.assign(open_time=1).to_parquet(place / "FFF.parquet", index=False)
    refused("open_time and timestamp are both a time", lambda: papertape_spark.read(spark, str(place / "FFF.parquet")))


def floats(spark):
    """float32 is the number that its shortest text says, as it is to the program."""
    place, path = folder("floats"), None
    bars = hours().astype({name: "float32" for name in ("open", "high", "low", "close", "volume")})
    path = place / "AAA_1h.parquet"
    bars.to_parquet(path, index=False)
    expected = [float(row[1] or "nan") for row in program(path, "sma:5")[1:]]
    ledger = figures_of(path)["ledger_hash"]
    for in_tasks in (True, False):
        df = papertape_spark.read(spark, str(path), in_tasks=in_tasks)
        found = in_order(papertape_spark.indicators(df, "sma:5").toPandas())
        check(ready.same_bits(found.sma_5, expected), f"float32: {found.sma_5.iloc[4]!r}, and the program's {expected[4]!r}")
        check(found.close.iloc[0] == 81771.56, f"float32: close is {found.close.iloc[0]!r}")
        row = papertape_spark.backtest(df, "sma-cross", {"fast": 3, "slow": 8}).collect()[0]
        check(row.ledger_hash == ledger, "float32: another ledger than the program's")
    lacking = df.selectExpr("symbol", "timestamp", "open", "high", "low", "nullif(close, close) close", "volume")
    refused("close is null", lambda: papertape_spark.indicators(lacking, "sma:5").count())
    df.createOrReplaceTempView("floats")
    papertape_spark.register(spark)
    found = in_order(spark.sql("SELECT * FROM papertape_indicators('sma:5', TABLE(floats) PARTITION BY symbol ORDER BY timestamp)").toPandas())
    check(ready.same_bits(found.sma_5, expected), f"float32 by SQL: {found.sma_5.iloc[4]!r}")
    named = in_order(spark.sql("SELECT * FROM papertape_indicators(bars => TABLE(floats) PARTITION BY symbol ORDER BY timestamp, specs => 'sma:5')").toPandas())
    check(named.equals(found), "arguments by their names")


def steps(spark):
    """Bars of a shorter interval than the input's are none."""
    place = folder("steps")
    hours().to_parquet(place / "AAA_1h.parquet", index=False)
    df = papertape_spark.read(spark, str(place))
    refused("AAA: its bars open 3600 s apart", lambda: papertape_spark.bars(df, "5m").count())
    check(papertape_spark.bars(df, "1h").count() == 30, "an interval of the input's own")


def choices(spark):
    """Of bars of several sources the venue's, of each symbol that has them; of several intervals or venues one is named."""
    place, bars = folder("choices"), hours().assign(interval="1h", venue="a", source="venue")
    mixed = [bars.assign(symbol="AAA"), bars.iloc[:20].assign(symbol="AAA", source="trades", close=bars.close + 0.5), bars.iloc[:9].assign(symbol="BBB", source="trades")]
    pd.concat(mixed).rename(columns={"timestamp": "open_time"}).to_parquet(place / "1.parquet", index=False)
    read = lambda **asked: {tuple(row) for row in papertape_spark.read(spark, str(place), **asked).groupBy("symbol", "source", "interval").count().collect()}  # noqa: E731
    check(read() == {("AAA", "venue", "1h", 30), ("BBB", "trades", "1h", 9)}, f"sources: {read()}")
    check(read(source="trades") == {("AAA", "trades", "1h", 20), ("BBB", "trades", "1h", 9)}, f"source trades: {read(source='trades')}")
    refused("it has no bars of the source mine, and has those of trades, venue", lambda: read(source="mine"))
    expected = {row[0]: row[1:] for row in program(place, "sma:5", "--symbol", "AAA")[1:]}
    found = papertape_spark.indicators(papertape_spark.read(spark, str(place)), "sma:5").where("symbol = 'AAA'").collect()
    check(sorted(row.sma_5 for row in found if row.sma_5) == sorted(float(cells[0]) for cells in expected.values() if cells[0]), "sma of the venue's bars")
    bars.iloc[:5].assign(symbol="AAA", interval="4h").rename(columns={"timestamp": "open_time"}).to_parquet(place / "2.parquet", index=False)
    refused("it has bars of the intervals 1h, 4h: interval= names one", read)
    check(read(interval="4h") == {("AAA", "venue", "4h", 5)}, "interval 4h")
    bars.iloc[:5].assign(symbol="AAA", interval="4h", venue="b").rename(columns={"timestamp": "open_time"}).to_parquet(place / "3.parquet", index=False)
    refused("AAA: it has bars of the venues a, b: venue= names one", lambda: read(interval="4h"))
    check(read(interval="4h", venue="b") == {("AAA", "venue", "4h", 5)}, "venue b")
    out = folder("choices-out")
    words = ["indicators", "--specs", "sma:5", "--input", str(place), "--output", str(out), "--quiet", "--input-interval", "4h", "--venue", "b"]
    check(papertape_spark.job.main(words) == 0 and set(pd.read_parquet(out).venue) == {"b"}, "the job, venue b")


def young(spark):
    """A symbol of too few bars to fit on is left out of the sets, by its reason, or ends the job."""
    old, few = hours(400).assign(symbol="OLD"), hours(20).assign(symbol="YOUNG")
    df = spark.createDataFrame(pd.concat([old, few]))
    refused("YOUNG: it has 20 bars to fit on, and the set needs ", lambda: papertape_spark.fit(df, "market14", "1h"))
    refused("YOUNG: it has 20 bars, none of which is within since and until", lambda: papertape_spark.fit(df, "market14", "1h", since="2025-05-10"))
    sets = papertape_spark.fit(df, "market14", "1h", errors="rows")
    check(list(sets) == ["OLD"] and list(sets.errors) == ["YOUNG"] and "it has 20 bars" in sets.errors["YOUNG"], f"sets: {list(sets)}, {sets.errors}")
    needed = int(sets.errors["YOUNG"].split("the set needs ")[1].split(":")[0])
    for rows, works in ((needed, True), (needed - 1, False)):
        some = spark.createDataFrame(hours(rows).assign(symbol="SOME"))
        check(bool(papertape_spark.fit(some, "market14", "1h", errors="rows")) == works, f"{rows} bars of {needed} needed")
    refused("YOUNG: it has 20 bars to fit on", lambda: papertape_spark.features(df, sets, "1h").count())
    for vector in (None, "cells"):
        found = papertape_spark.features(df, sets, "1h", errors="rows", vector=vector).toPandas()
        apart = papertape_spark.features(df.where("symbol = 'OLD'"), sets, "1h", vector=vector).toPandas()
        mine, other = (found[found.symbol == symbol] for symbol in ("OLD", "YOUNG"))
        check(mine.error.isna().all() and in_order(mine.drop(columns="error")).astype(str).equals(in_order(apart).astype(str)), f"{vector}: a symbol beside one without a set")
        check(len(other) == 20 and other.iloc[:, 7:-1].isna().all().all() and (other.error == sets.errors["YOUNG"]).all(), f"{vector}: a symbol without a set")


def sentences(spark):
    """What is refused says what is right."""
    df = spark.createDataFrame(hours().assign(symbol="AAA"))
    refused("fees: unknown option: did you mean fee_maker or fee_taker?", lambda: papertape_spark.backtest(df, "sma-cross", fees=0.1))
    for symbol in ("", "  "):
        blank = df.selectExpr(f"'{symbol}' symbol", *df.columns[:-1])
        refused("a symbol is empty, or blanks", lambda: papertape_spark.indicators(blank, "sma").count())
        refused("a symbol is empty, or blanks", lambda: papertape_spark.backtest(blank, "sma-cross").count())
    mixed = df.selectExpr("symbol", "if(hour(timestamp) < 14, unix_micros(timestamp), unix_millis(timestamp)) timestamp", *df.columns[1:-1])
    refused("and the one before it one in ms: one unit a column is needed", lambda: papertape_spark.indicators(mixed, "sma").count())
    row = papertape_spark.backtest(df.limit(1), "sma-cross", errors="rows").collect()[0]
    check("interval=" in row.error and "--" not in row.error, f"an error's text: {row.error}")
    tiny = df.selectExpr("symbol", "timestamp", "open", "high", "low", "close", "1.25e-18D volume")
    refused("digits=18 is needed", lambda: papertape_spark.bars(tiny, "4h", digits=17).count())
    refused("there are no more", lambda: papertape_spark.bars(tiny, "4h", digits=18).count())


def outputs(spark):
    """The job's files are seen by readers, and are those of one input: a symbol that it has no more goes, another input is refused."""
    place, out = folder("outputs"), Path(ready.scratch.name, "reading", "outputs_out")
    symbols = [".A", "_B", "..", "A/B", "L" * 300, "M" * 299 + "N", "PLAIN"]
    for number, symbol in enumerate(symbols):
        hours().assign(symbol=symbol).to_parquet(place / f"{number}.parquet", index=False)

    def job(*words, source=place, of=0):
        lines = []
        papertape_spark.job.print, status = lambda text, **_: lines.append(text), None
        status = papertape_spark.job.main(["indicators", "--specs", "sma:5", "--input", str(source), "--output", str(out), "--quiet", *words])
        del papertape_spark.job.print
        check(status == of, f"the job ended with {status}: {lines}")
        return json.loads(lines[-1]) if of == 0 else lines[-1]

    summary = job()
    check(summary["written"] == len(symbols) and summary["removed"] == 0, f"{summary}")
    seen = lambda: {row.symbol: row["count"] for row in spark.read.parquet(str(out)).groupBy("symbol").count().collect()}  # noqa: E731
    check(seen() == dict.fromkeys(symbols, 30), f"readers see {sorted(seen())}")
    check(job()["kept"] == len(symbols), "again")
    (place / "1.parquet").unlink()
    check(job("--symbols", "PLAIN")["removed"] == 0 and len(seen()) == len(symbols), "one symbol of the input")
    summary = job()
    check(summary["removed"] == 1 and summary["kept"] == len(symbols) - 1 and "_B" not in seen(), f"a symbol that is gone: {summary}")
    other = folder("outputs_other")
    hours().assign(symbol="OTHER").to_parquet(other / "0.parquet", index=False)
    check(f"holds the rows of another job (of the input {place})" in job(source=other, of=2), "another input")
    check(len(seen()) == len(symbols) - 1, "a refused job leaves what is there")
    check(len({commit.file_name(symbol, "k" * 16) for symbol in symbols}) == len(symbols) and max(len(commit.file_name(symbol, "k" * 16)) for symbol in ["é" * 200, *symbols]) < 210, "names of files")
