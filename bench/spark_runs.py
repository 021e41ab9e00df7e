"""Measures papertape_spark and its peers in one Spark of so many cores: spark_runs.py CORES FOLDER, in the venv of bench/spark.
Prints {what: {way: rows a second}} as its last line; the rows lie in FOLDER. Wants PAPERTAPE_SPARK_LIBRARY.
PAPERTAPE_BENCH_ROWS: other than a million; wide110 and iterrows() have a tenth of them, 80,000 or more."""

import json
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import spark_peers
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

import papertape_spark
from papertape_spark.asked import Features, Indicators
from papertape_spark.trading import options_of, trading

CORES, FOLDER = int(sys.argv[1]), Path(sys.argv[2])
ROWS, SYMBOLS, TIMES = int(os.environ.get("PAPERTAPE_BENCH_ROWS", 1_000_000)), 20, 3
WIDE_ROWS = max(ROWS // 10, 4000 * SYMBOLS)  # wide110 has a first value after 2,400 bars of 5 minutes
PARTITIONS = 8
MINUTES = 5
STRATEGY, PARAMS = "sma-cross", {"fast": 10, "slow": 30}


def say(text):
    print(text, file=sys.stderr, flush=True)


def bars(rows):
    """Bars of 5 minutes of SYMBOLS symbols that walk at random."""
    rng = np.random.default_rng(31)
    each = rows // SYMBOLS
    for symbol in range(SYMBOLS):
        path = 100 * np.exp(np.cumsum(rng.normal(0, 0.002, each + 1)))
        opens, closes = path[:-1], path[1:]
        yield pd.DataFrame({
            "symbol": f"S{symbol:02}", "timestamp": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(each) * MINUTES, unit="min"),
            "open": opens, "high": np.maximum(opens, closes) * 1.001, "low": np.minimum(opens, closes) * 0.999, "close": closes,
            "volume": rng.exponential(10, each)})


def stored(rows):
    path = FOLDER / f"{rows}.parquet"
    if not path.exists():
        pd.concat(bars(rows)).astype({"timestamp": "datetime64[us]"}).to_parquet(path, row_group_size=rows // 8)
    return str(path)


def rates(rows, ways):
    """{way: rows a second} of DataFrames to a sink that keeps nothing, in turns, so that a busy machine is so for all of them;
    the first turn warms up."""
    took = {way: [] for way in ways}
    for _ in range(TIMES + 1):
        for way, made in ways.items():
            begun = time.monotonic()
            made.write.format("noop").mode("overwrite").save()
            took[way].append(time.monotonic() - begun)
    for way, each in took.items():
        say(f"{way}: {rows / statistics.median(each[1:]):,.0f} rows/s of {[round(one, 2) for one in each]} s")
    return {way: rows / statistics.median(each[1:]) for way, each in took.items()}


def alone(rows, asked):
    """Rows a second of the library in one thread, batches of 10,000 rows as Spark gives them."""
    table = pyarrow.Table.from_pandas(pd.concat(bars(rows)), preserve_index=False)
    batches = table.combine_chunks().to_batches(max_chunksize=10_000)
    took = []
    for _ in range(TIMES):
        begun = time.process_time()
        with asked.open() as run:
            for batch in batches:
                run.update(batch)
        took.append(time.process_time() - begun)
    return rows / statistics.median(took)


def in_pandas(df, function, names, kind):
    schema = ", ".join(f"{name} {type_}" for name, type_ in df.dtypes) + "".join(f", `{name}` {kind}" for name in names)
    return df.groupBy("symbol").applyInPandas(lambda frame: function(frame.sort_values("timestamp")), schema)


def identity(df):
    ordered = df.repartitionByRange(PARTITIONS, "symbol").sortWithinPartitions("symbol", "timestamp")
    return ordered.mapInArrow(lambda batches: batches, df.schema)


def windowed(df, what):
    """SQL's moving mean; SQL has no Wilder's average, so that its RSI is Cutler's, of plain means."""
    symbol = Window.partitionBy("symbol").orderBy("timestamp")
    if what == "sma":
        return df.withColumn("sma_20", F.avg("close").over(symbol.rowsBetween(-19, 0)))
    move = df.withColumn("move", F.col("close") - F.lag("close").over(symbol))
    last = symbol.rowsBetween(-13, 0)
    gain, loss = F.avg(F.greatest("move", F.lit(0.0))).over(last), F.avg(F.greatest(-F.col("move"), F.lit(0.0))).over(last)
    return move.withColumn("rsi_14", F.try_divide(100 * gain, gain + loss)).drop("move")


def cheap(spark):
    df, found = spark.read.parquet(stored(ROWS)), {}
    for what, spec, function in (("sma", "sma:20", spark_peers.sma), ("rsi", "rsi:14", spark_peers.rsi)):
        say(what)
        found[what] = rates(ROWS, {
            "identity": identity(df),
            "ours": papertape_spark.indicators(df, spec, partitions=PARTITIONS),
            "pandas": in_pandas(df, function, [spec.replace(":", "_")], "double"),
            "sql": windowed(df, what),
        }) | {"alone": alone(ROWS, Indicators((spec,)))}
    return found


def wide(spark):
    df = spark.read.parquet(stored(WIDE_ROWS))
    fitted = next(iter(papertape_spark.fit(df.where("symbol = 'S00'"), "wide110", f"{MINUTES}m").values()))
    say("wide110")
    return {"wide110": rates(WIDE_ROWS, {
        "identity": identity(df),
        "ours": papertape_spark.features(df, fitted, f"{MINUTES}m", vector="features", partitions=PARTITIONS),
        "columns": papertape_spark.features(df, fitted, f"{MINUTES}m", partitions=PARTITIONS),
        "pandas": in_pandas(df, spark_peers.wide110, spark_peers.names(), "float"),
    }) | {"alone": alone(WIDE_ROWS, Features(fitted, 60 * MINUTES))}}


def priced(rows):
    """The same bars with prices of two digits, as venues have them."""
    path = FOLDER / f"priced_{rows}.parquet"
    if not path.exists():
        frame = pd.concat(bars(rows)).astype({"timestamp": "datetime64[us]"})
        frame.round({name: 2 for name in ("open", "high", "low", "close", "volume")}).to_parquet(path, row_group_size=rows // 8)
    return str(path)


def loop_alone(rows, backtest):
    """Rows a second of a loop of Python in one thread, without Spark."""
    frames = [frame for _, frame in pd.read_parquet(priced(rows)).groupby("symbol")]
    begun = time.process_time()
    for frame in frames:
        backtest(frame)
    return rows / (time.process_time() - begun)


def trading_alone(rows):
    """Rows a second of the library in one thread: from Arrow batches to the figures."""
    table = pyarrow.Table.from_pandas(pd.read_parquet(priced(rows)), preserve_index=False)
    batches = table.combine_chunks().to_batches(max_chunksize=10_000)
    took = []
    for _ in range(TIMES):
        begun = time.process_time()
        made = list(trading("figures", options_of(STRATEGY, PARAMS, None, {}))(batches))
        took.append(time.process_time() - begun)
        assert sum(batch.num_rows for batch in made) == SYMBOLS
    return rows / statistics.median(took)


def backtested(spark):
    """The same strategy, sma-cross, on the same bars: the engine with orders, ledger and every figure, and loops of Python over
    the bars with cash, fees, equity and three figures; the slower one, iterrows(), on fewer of them."""
    df = spark.read.parquet(priced(ROWS))
    few = spark.read.parquet(priced(WIDE_ROWS))
    schema = "symbol string, equity double, return double, max_drawdown double, sharpe double, fills bigint"
    say("backtest")
    return {"backtest": rates(ROWS, {
        "identity": identity(df),
        "ours": papertape_spark.backtest(df, STRATEGY, PARAMS, partitions=PARTITIONS),
        "loop": df.groupBy("symbol").applyInPandas(lambda frame: spark_peers.backtest(frame), schema),
    }) | rates(WIDE_ROWS, {
        "rows": few.groupBy("symbol").applyInPandas(lambda frame: spark_peers.backtest_by_rows(frame), schema),
    }) | {
        "alone": trading_alone(ROWS),
        "loop_alone": loop_alone(WIDE_ROWS, spark_peers.backtest),
        "rows_alone": loop_alone(WIDE_ROWS, spark_peers.backtest_by_rows),
    }}


def main():
    builder = SparkSession.builder.master(f"local[{CORES}]")
    for key, value in {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
                       "spark.local.dir": str(FOLDER), "spark.sql.session.timeZone": "UTC", "spark.driver.memory": "4g",
                       "spark.sql.shuffle.partitions": str(PARTITIONS), "spark.ui.showConsoleProgress": "false",
                       "spark.driver.extraJavaOptions": "-Duser.timezone=UTC"}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print(json.dumps({**cheap(spark), **wide(spark), **backtested(spark)}))
    spark.stop()


main()
