"""Checks of backtest(), sweep(), the streams and the job, on a session that the test has."""

import json
import os
import subprocess
from pathlib import Path

import ready
from checks import check, refused
from ready import in_order, same_bits

import papertape_spark
from papertape_spark import commit
from papertape_spark.tasks import arrow_schema
from papertape_spark.trading import CUT_BY_TIME

STRATEGY, PARAMS = "sma-cross", {"fast": 4, "slow": 15}


def file_of(bars):
    """A bars file with the same numbers."""
    path = Path(ready.scratch.name, f"{bars.symbol.iloc[0]}_x.csv")
    bars.drop(columns="symbol").to_csv(path, index=False, date_format="%Y-%m-%dT%H:%M:%SZ")
    return path


def printed(bars):
    """(figures, fills) of one symbol by `papertape backtest`, on this machine alone."""
    fills = Path(ready.scratch.name, "fills.csv")
    words = ["backtest", "--strategy", STRATEGY, "--bars", file_of(bars), "--no-cache", "--json", "--trades", fills]
    done = subprocess.run([os.environ["PAPERTAPE"], *words, *(word for key, value in PARAMS.items() for word in ("--set", f"{key}={value}"))], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    return {**result, **result["accounts"][0]}, len(fills.read_text(encoding="utf-8").splitlines()) - 1


def same_figures(name, found, expected):
    """Every figure of a row, to the bit; the hash of the ledger stands for every fill of it."""
    for key, value in found.items():
        if key in expected and key not in ("symbol", "deposits", "cash"):
            check(value == expected[key], f"{name}: {key} is {value!r}, not {expected[key]!r}")
    check("sharpe" in found and "ledger_hash" in found, f"{name}: figures are missing")


def backtests(df, frames, partitions=None):
    """Each symbol's figures equal those of the single machine."""
    rows = {row.symbol: row.asDict() for row in papertape_spark.backtest(df, STRATEGY, PARAMS, partitions=partitions).collect()}
    check(sorted(rows) == sorted(bars.symbol.iloc[0] for bars in frames), f"symbols: {sorted(rows)}")
    fills = {row.symbol: row["count"] for row in papertape_spark.backtest(df, STRATEGY, PARAMS, trades=True, partitions=partitions).groupBy("symbol").count().collect()}
    for bars in frames:
        symbol = bars.symbol.iloc[0]
        expected, n_fills = printed(bars)
        same_figures(symbol, rows[symbol], expected)
        check(fills.get(symbol, 0) == n_fills, f"{symbol}: {fills.get(symbol)} fills, not {n_fills}")


def refused_at_once(df):
    """Before any task begins."""
    refused(CUT_BY_TIME, lambda: papertape_spark.backtest(df, STRATEGY, cut="time"))
    refused("did you mean sma-cross?", lambda: papertape_spark.backtest(df, "sma-cros"))
    refused("did you mean cash?", lambda: papertape_spark.backtest(df, STRATEGY, csh=3))
    refused("fast is in params and in grid", lambda: papertape_spark.sweep(df, STRATEGY, {"fast": [3, 4]}, {"fast": 5}))
    refused("column close is missing", lambda: papertape_spark.backtest(df.drop("close"), STRATEGY))
    refused("symbol is of type bigint", lambda: papertape_spark.backtest(df.selectExpr("1L as symbol", "timestamp", "open", "high", "low", "close", "volume"), STRATEGY))


def refusals(df):
    refused_at_once(df)
    refused("at least two bars, or interval=", lambda: papertape_spark.backtest(df.limit(1), STRATEGY).collect())
    twice = df.union(df.limit(1))
    refused("one row a bar, not two of one time", lambda: papertape_spark.backtest(twice, STRATEGY).collect())
    nothing = df.selectExpr("symbol", "timestamp", "open", "high", "low", "if(timestamp > '2024-01-02', null, close) as close", "volume")
    refused("close is null", lambda: papertape_spark.backtest(nothing, STRATEGY).collect())


def short_symbols(df):
    """A symbol of one bar is a row with the reason, where that is wanted."""
    one = df.limit(1).selectExpr("'ZZZ' as symbol", "timestamp", "open", "high", "low", "close", "volume")
    rows = {row.symbol: row for row in papertape_spark.backtest(df.union(one), STRATEGY, errors="rows").collect()}
    check(rows["ZZZ"].error is not None and rows["ZZZ"].error.startswith("no interval: ZZZ"), f"{rows['ZZZ'].error}")
    check(all(row.error is None for symbol, row in rows.items() if symbol != "ZZZ"), "others have no error")


def streams(spark, df, bars, name, streamed, whole, files=4):
    """A folder's files, one after the other, give what the whole DataFrame gives; a query that ended in the middle continues
    from its checkpoint."""
    folder = Path(ready.scratch.name, f"stream {name}")
    folder.mkdir()
    ordered = bars.sort_values("timestamp", kind="stable")
    out, checkpoint = f"{ready.scratch.name}/streamed {name}", f"{ready.scratch.name}/checkpoint {name}"
    for k in range(files):
        part = ordered.iloc[k * len(ordered) // files : (k + 1) * len(ordered) // files].sample(frac=1, random_state=k)
        path = folder / f"{k}.parquet"
        part.assign(timestamp=part.timestamp.dt.tz_localize("UTC").dt.as_unit("us")).to_parquet(path, index=False)
        os.utime(path, (1_700_000_000 + k, 1_700_000_000 + k))
        if k + 1 in (files // 2, files):
            stream = spark.readStream.schema(df.schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
            writer = streamed(stream).writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
            writer.trigger(availableNow=True).start().awaitTermination()
            there = spark.read.parquet(out).count()
            check(there == (k + 1) * len(ordered) // files, f"streamed {name}: {there} rows of {k + 1} files")
    found = in_order(spark.read.parquet(out).toPandas())
    expected = in_order(whole(df).toPandas())
    check(list(found.columns) == list(expected.columns), f"columns: {list(found.columns)}")
    check(len(found) == len(expected), f"{len(found)} rows, not {len(expected)}")
    check(found[["symbol", "timestamp"]].equals(expected[["symbol", "timestamp"]]), "symbols and times")
    for column in expected.columns[2:]:
        check(same_bits(found[column], expected[column]), f"streamed {name}: {column}")


def failing(write):
    """What mapInArrow() calls: the same, but at a task's attempt 0 its rows end with a failure, before the last symbol is
    written."""

    def broken(batches):
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().attemptNumber() == 0:
            raise RuntimeError("failed on purpose")

    def fail(batches):
        yield from write(broken(batches))

    return fail


def rows_once(spark, df, frames, folder):
    """Each task that writes fails once, when all but its last symbol are written: each row is there once."""
    frame = papertape_spark.backtest(df, STRATEGY, PARAMS, equity=True, partitions=2)
    keys = {bars.symbol.iloc[0]: commit.key_of(bars.symbol.iloc[0]) for bars in frames}
    schema = arrow_schema(frame.schema)
    Path(folder).mkdir()
    reported = commit.write(frame, folder, keys, {}, schema, around=failing).collect()
    names = sorted(os.listdir(folder))
    check(names == sorted(commit.file_name(symbol, key) for symbol, key in keys.items()), f"files: {names}")
    check(sorted(row.symbol for row in reported) == sorted(keys), "each symbol is reported once")
    check(sum(row.written for row in reported) == 2, f"{sum(row.written for row in reported)} symbols were written by the second attempts, not the last one of both tasks")
    found = spark.read.parquet(folder).groupBy("symbol").count().collect()
    check({row.symbol: row["count"] for row in found} == {bars.symbol.iloc[0]: len(bars) for bars in frames}, f"rows: {found}")
