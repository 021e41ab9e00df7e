"""Measures papertape_spark and its peers in one Spark of so many cores: spark_runs.py CORES FOLDER, in the venv of bench/spark.
Prints {what: {way: {"rate", "cpu_us", "fixed_s"}}} as its last line; the rows lie in FOLDER. Wants PAPERTAPE_SPARK_LIBRARY.

A way runs over few bars and over many; from the difference follow rows a second of wall time and microseconds of processor time a
row, of the JVM and all Python workers; `fixed_s` is what a job of no rows would take. PAPERTAPE_BENCH_ROWS: other than a
million; slower ways have a part of them, and tasks that read their files more, so that the difference is seconds."""

import json
import os
import shutil
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
import papertape_spark.job
from papertape_spark import tasks
from papertape_spark.asked import Features, Indicators
from papertape_spark.trading import options_of, trading

CORES, FOLDER = int(sys.argv[1]), Path(sys.argv[2])
ROWS, SYMBOLS, TIMES = int(os.environ.get("PAPERTAPE_BENCH_ROWS", 1_000_000)), 20, 2
FEW = 2500 * SYMBOLS  # wide110 has a first value after 2,400 bars of 5 minutes
MANY, MEDIUM, SLOW = 8 * ROWS, max(2 * ROWS // 5, 2 * FEW), max(ROWS // 5, 4 * FEW)
PARTITIONS = 8
MINUTES = 5
STRATEGY, PARAMS = "sma-cross", {"fast": 10, "slow": 30}
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def say(text):
    print(text, file=sys.stderr, flush=True)


def bars(rows):
    """Bars of 5 minutes of SYMBOLS symbols that walk at random: prices and volumes of two digits, as venues have them."""
    rng = np.random.default_rng(31)
    each = rows // SYMBOLS
    for symbol in range(SYMBOLS):
        path = 100 * np.exp(np.cumsum(rng.normal(0, 0.002, each + 1)))
        opens, closes = path[:-1], path[1:]
        times = pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(np.arange(each) * MINUTES, unit="min")
        yield pd.DataFrame({
            "symbol": f"S{symbol:02}", "timestamp": times.as_unit("us"), "open": opens, "high": np.maximum(opens, closes) * 1.001,
            "low": np.minimum(opens, closes) * 0.999, "close": closes, "volume": rng.exponential(10, each)}).round(2)


def stored(rows):
    """The folder of the bars, a file a symbol."""
    lake = FOLDER / f"lake_{rows}"
    if not lake.exists():
        for frame in bars(rows):
            folder = lake / f"symbol={frame.symbol.iloc[0]}"
            folder.mkdir(parents=True)
            frame.drop(columns="symbol").to_parquet(folder / "bars.parquet", index=False)
    return str(lake)


def processor_s():
    """Processor seconds of this process and all below it: the JVM, Python's workers."""
    times, children = {}, {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "stat").read_text().rsplit(")", 1)[1].split() if entry.name.isdigit() else None
        except OSError:
            continue
        if words:
            times[int(entry.name)] = sum(map(int, words[11:15]))
            children.setdefault(int(words[1]), []).append(int(entry.name))
    below = [os.getpid()]
    for process in below:
        below += children.get(process, [])
    return sum(times.get(process, 0) for process in below) * TICK_S


def took(way, rows):
    """(wall, processor) seconds of a way over so many rows."""
    start_s, before = time.monotonic(), processor_s()
    made = way(rows)
    if made is not None:
        made.write.format("noop").mode("overwrite").save()
    return time.monotonic() - start_s, processor_s() - before


def rates(many, ways, times=TIMES):
    """{way: its figures}, without those whose many rows took no longer than the few; in turns, so that a busy machine is so for all.
    A way takes a number of rows, and gives a DataFrame, which goes to a sink that keeps nothing, or ran by itself and gives None."""
    found = {name: ([], []) for name in ways}
    for _ in range(2):  # warms up
        for way in ways.values():
            took(way, FEW)
    for _ in range(times):
        for name, way in ways.items():
            for turns, rows in zip(found[name], (FEW, many)):
                turns.append(took(way, rows))
    figures = {}
    for name, (few, all_) in found.items():
        (wall_few, cpu_few), (wall, cpu) = (map(statistics.median, zip(*turns)) for turns in (few, all_))
        if wall <= wall_few:
            say(f"{name}: not measured: {FEW:,} rows took {wall_few:.2f} s, {many:,} rows {wall:.2f} s")
            continue
        rate = (many - FEW) / (wall - wall_few)
        figures[name] = {"rate": rate, "cpu_us": 1e6 * (cpu - cpu_few) / (many - FEW), "fixed_s": wall_few - FEW / rate}
        say(f"{name}: {rate:,.0f} rows/s, {figures[name]['cpu_us']:.2f} us of processors a row; {FEW:,} rows {wall_few:.2f} s, {many:,} rows {wall:.2f} s")
    return figures


def alone(rows, run):
    """Rows a second of a function in this thread, without Spark, in processor time."""
    taken = []
    for _ in range(TIMES):
        start_s = time.process_time()
        run()
        taken.append(time.process_time() - start_s)
    return {"rate": rows / statistics.median(taken), "cpu_us": 1e6 * statistics.median(taken) / rows, "fixed_s": 0.0}


def batches(rows):
    """As Spark gives them: 10,000 rows each."""
    return pyarrow.Table.from_pandas(pd.concat(bars(rows)), preserve_index=False).combine_chunks().to_batches(max_chunksize=10_000)


def computed(asked, given):
    with asked.open() as run:
        for batch in given:
            run.update(batch)


def lake(spark, rows):
    """The bars as a DataFrame of Spark's own reader."""
    return spark.read.parquet(stored(rows))


def own(spark, rows, in_tasks=True):
    """The bars as papertape_spark reads them: by tasks, or by Spark and through its shuffle."""
    return papertape_spark.read(spark, stored(rows), in_tasks=in_tasks)


def in_pandas(df, function, names, kind):
    schema = ", ".join(f"{name} {type_}" for name, type_ in df.dtypes) + "".join(f", `{name}` {kind}" for name in names)
    return df.groupBy("symbol").applyInPandas(lambda frame: function(frame.sort_values("timestamp")), schema)


def ordered(df):
    return df.repartitionByRange(PARTITIONS, "symbol").sortWithinPartitions("symbol", "timestamp")


def identity(df):
    return ordered(df).mapInArrow(lambda batches: batches, df.schema)


def swallowed(batches):
    """What mapInArrow() calls: takes all, gives nothing."""
    for _ in batches:
        pass
    yield pyarrow.RecordBatch.from_arrays([pyarrow.array([], pyarrow.int64())], names=["n"])


def windowed(df, what):
    """SQL's moving mean; SQL has no Wilder's average, so that its RSI is Cutler's, of plain means."""
    symbol = Window.partitionBy("symbol").orderBy("timestamp")
    if what == "sma":
        return df.withColumn("sma_20", F.avg("close").over(symbol.rowsBetween(-19, 0)))
    move = df.withColumn("move", F.col("close") - F.lag("close").over(symbol))
    last = symbol.rowsBetween(-13, 0)
    gain, loss = F.avg(F.greatest("move", F.lit(0.0))).over(last), F.avg(F.greatest(-F.col("move"), F.lit(0.0))).over(last)
    return move.withColumn("rsi_14", F.try_divide(100 * gain, gain + loss)).drop("move")


def parts(spark):
    """Where the time of a row goes: each way has one part more than the one before."""
    say("parts")

    def tasks_read(rows):
        df = own(spark, rows)
        return tasks.over_symbols(df, df, swallowed, "n bigint", PARTITIONS)

    return {"parts": rates(ROWS, {
        "jvm_read": lambda rows: lake(spark, rows),
        "jvm_read_to_python": lambda rows: lake(spark, rows).mapInArrow(swallowed, "n bigint"),
        "hashed": lambda rows: lake(spark, rows).repartition(PARTITIONS, "symbol"),
        "ranged": lambda rows: lake(spark, rows).repartitionByRange(PARTITIONS, "symbol"),
        "sorted": lambda rows: ordered(lake(spark, rows)),
        "to_python": lambda rows: ordered(lake(spark, rows)).mapInArrow(swallowed, "n bigint"),
    }, 1) | rates(MANY, {"tasks_read": tasks_read}, 1)}


def cheap(spark):
    found, same = {}, None
    for what, spec, function in (("sma", "sma:20", spark_peers.sma), ("rsi", "rsi:14", spark_peers.rsi)):
        say(what)
        by_tasks = {"ours": lambda rows, spec=spec: papertape_spark.indicators(own(spark, rows), spec, partitions=PARTITIONS)}
        ways = {
            "shuffled": lambda rows, spec=spec: papertape_spark.indicators(own(spark, rows, False), spec, partitions=PARTITIONS),
            "pandas": lambda rows, spec=spec, function=function: in_pandas(lake(spark, rows), function, [spec.replace(":", "_")], "double"),
            "sql": lambda rows, what=what: windowed(lake(spark, rows), what),
        }
        if same is None:
            ways["identity"] = lambda rows: identity(own(spark, rows, False))
        found[what] = rates(ROWS, ways) | rates(MANY // 2, by_tasks)
        same = found[what].setdefault("identity", same)
        given = batches(ROWS)
        found[what]["alone"] = alone(ROWS, lambda given=given, spec=spec: computed(Indicators((spec,)), given))
    return found


def job(*words):
    """The command, whose output of the run before goes first."""
    out = FOLDER / "out"
    shutil.rmtree(out, ignore_errors=True)
    status = papertape_spark.job.main([*words, "--output", str(out), "--partitions", str(PARTITIONS), "--quiet"])
    assert status == 0, f"the job ended with {status}"


def kept(df):
    """Written by Spark, as a job of pandas does."""
    out = FOLDER / "out"
    shutil.rmtree(out, ignore_errors=True)
    df.write.parquet(str(out))


def wide(spark):
    one = own(spark, FEW).where("symbol = 'S00'")
    fitted = next(iter(papertape_spark.fit(one, "wide110", f"{MINUTES}m").values()))
    text = FOLDER / "wide110.txt"
    text.write_text(fitted, encoding="utf-8")
    names = spark_peers.names()

    def ours(rows, in_tasks=True, vector="features"):
        return papertape_spark.features(own(spark, rows, in_tasks), fitted, f"{MINUTES}m", vector=vector, partitions=PARTITIONS)

    def pandas(rows, function=spark_peers.wide110):
        return in_pandas(lake(spark, rows), function, names, "float")

    say("wide110")
    quick = rates(MEDIUM, {
        "ours": ours,
        "shuffled": lambda rows: ours(rows, False),
        "columns": lambda rows: ours(rows, True, None),
        "job": lambda rows: job("features", "--input", stored(rows), "--set", str(text), "--interval", f"{MINUTES}m"),
    })
    slow = rates(SLOW, {
        "pandas": pandas,
        "windows": lambda rows: pandas(rows, spark_peers.wide110_windows),
        "pandas_job": lambda rows: kept(pandas(rows)),
        "windows_job": lambda rows: kept(pandas(rows, spark_peers.wide110_windows)),
    }, 1)
    given, frame = batches(FEW), next(bars(FEW))
    return {"wide110": quick | slow | {
        "alone": alone(FEW, lambda: computed(Features(fitted, 60 * MINUTES), given)),
        "pandas_alone": alone(len(frame), lambda: spark_peers.wide110(frame)),
        "windows_alone": alone(len(frame), lambda: spark_peers.wide110_windows(frame)),
    }}


LOOPS = {"loop": spark_peers.backtest, "kept": spark_peers.backtest_kept, "rows": spark_peers.backtest_by_rows,
         "backtesting": spark_peers.backtest_by_backtesting, "backtrader": spark_peers.backtest_by_backtrader}


def backtested(spark):
    """The same strategy, sma-cross, on the same bars: the engine with orders, ledger and every figure, and its peers."""

    def ours(rows, in_tasks=True):
        return papertape_spark.backtest(own(spark, rows, in_tasks), STRATEGY, PARAMS, partitions=PARTITIONS)

    def peer(name):
        function = LOOPS[name]
        return lambda rows: lake(spark, rows).groupBy("symbol").applyInPandas(lambda frame: function(frame), spark_peers.FIGURES)

    say("backtest")
    words = [word for key, value in PARAMS.items() for word in ("--set", f"{key}={value}")]
    quick = rates(MANY, {
        "ours": ours,
        "job": lambda rows: job("backtest", "--input", stored(rows), "--strategy", STRATEGY, *words),
    }) | rates(ROWS, {"shuffled": lambda rows: ours(rows, False), "loop": peer("loop"), "kept": peer("kept")})
    slow = rates(SLOW, {name: peer(name) for name in ("rows", "backtesting", "backtrader")}, 1)
    given, frame = batches(ROWS), next(bars(FEW))
    return {"backtest": quick | slow | {"alone": alone(ROWS, lambda: list(trading("figures", options_of(STRATEGY, PARAMS, None, {}))(given)))}
            | {f"{name}_alone": alone(len(frame), lambda function=function: function(frame)) for name, function in LOOPS.items()}}


def main():
    builder = SparkSession.builder.master(f"local[{CORES}]")
    for key, value in {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
                       "spark.local.dir": str(FOLDER), "spark.sql.session.timeZone": "UTC", "spark.driver.memory": "4g",
                       "spark.sql.shuffle.partitions": str(PARTITIONS), "spark.ui.showConsoleProgress": "false",
                       "spark.driver.extraJavaOptions": "-Duser.timezone=UTC"}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    wanted = os.environ.get("PAPERTAPE_BENCH_CASES", "parts,cheap,wide,backtested").split(",")
    found = {}
    for case in (parts, cheap, wide, backtested):
        if case.__name__ in wanted and (case is not parts or CORES == 1):
            found |= case(spark)
    print(json.dumps(found))
    spark.stop()


main()
