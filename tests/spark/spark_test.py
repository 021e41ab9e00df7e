"""papertape_spark on local[2]: indicators and wide110 of several symbols, by DataFrame and by SQL, equal to the bit to
`papertape indicators` and to the library's own feature matrix; by tasks that read their files; and what is refused:
python3 spark_test.py. A Java and its processes cost tens of seconds: without PAPERTAPE_LONG a job of each way, and not all.
"""

import os
from pathlib import Path

import ready
from checks import check, done, refused, seeded
from ready import computed, feature_matrix, in_order, same_bits, session, walk

import numpy as np
import pandas as pd
import papertape_spark
import reading
import trading
from papertape_spark import job
from pyspark.sql import functions as F

SPECS = ["sma:20", "macd:12,26,9", "rsi:14", "ema:50", "bbands:20,2", "adx:14", "sar", "obv", "supertrend", "vwap"]
ROWS, FITTED = 2600, 2500
LONG = "PAPERTAPE_LONG" in os.environ

rng = seeded("spark/spark", 31)
BARS = [walk(rng, "ADA", ROWS), walk(rng, "BTCUSDT", ROWS), walk(rng, "ONE", 1)]
spark = session()
papertape_spark.register(spark)
df = spark.createDataFrame(pd.concat(BARS)).repartition(7, F.rand(3))  # rows in any order
df.createOrReplaceTempView("bars")


EXPECTED = {bars.symbol.iloc[0]: computed(bars, SPECS) for bars in BARS}


def equal(made, way, expected):
    found = in_order(made.toPandas())
    check(len(found) == sum(len(bars) for bars in BARS if bars.symbol.iloc[0] in expected), f"{way}: {len(found)} rows")
    for symbol, columns in expected.items():
        mine = found[found.symbol == symbol]
        check(list(mine.columns[7:]) == list(columns), f"{way}: columns {list(mine.columns)}")
        for name, column in columns.items():
            check(same_bits(mine[name], column), f"{way}: {symbol} {name}")


def indicators():
    ways = {
        "DataFrame": papertape_spark.indicators(df, SPECS),
        "SQL, text first": LONG and spark.sql(f"SELECT * FROM papertape_indicators('{','.join(SPECS)}', TABLE(bars) PARTITION BY symbol ORDER BY timestamp) WHERE symbol <> 'BTCUSDT'"),
        "SQL": spark.sql(f"SELECT * FROM papertape_indicators(TABLE(bars) PARTITION BY symbol ORDER BY (timestamp), '{','.join(SPECS)}')"),
    }
    for way, made in ways.items():
        if made:
            equal(made, way, {symbol: EXPECTED[symbol] for symbol in EXPECTED if symbol != "BTCUSDT" or "first" not in way})


def shuffles(made):
    return "Exchange" in made._jdf.queryExecution().executedPlan().toString()


def write(bars, path):
    bars.sample(frac=1, random_state=5).assign(timestamp=bars.timestamp.dt.tz_localize("UTC").dt.as_unit("us")).to_parquet(path, index=False)


def files():
    """A folder of one symbol each, which tasks read by themselves, their rows in any order: by days; in one file, or as Spark writes."""
    lake = Path(ready.scratch.name, "lake")
    for day, part in BARS[0].groupby(BARS[0].timestamp.dt.date):
        folder = lake / "symbol=ADA" / f"day={day}"
        folder.mkdir(parents=True)
        write(part, folder / "0.parquet")
    if LONG:
        df.where("symbol = 'BTCUSDT'").write.parquet(str(lake / "symbol=BTCUSDT"))
    else:
        (lake / "symbol=BTCUSDT").mkdir()
        write(BARS[1].drop(columns="symbol"), lake / "symbol=BTCUSDT/0.parquet")
    return str(lake)


def tasks(lake):
    own = papertape_spark.read(spark, lake)
    made = papertape_spark.indicators(own, SPECS)
    check(not shuffles(made), "tasks read the files")
    equal(made, "tasks", {symbol: EXPECTED[symbol] for symbol in ("ADA", "BTCUSDT")})
    renamed = own.withColumnRenamed("volume", "amount")
    refused("column volume is missing", lambda: papertape_spark.indicators(renamed, "sma"))


def tasks_beside_shuffles(lake):
    """What tasks make of the files is what comes through Spark's own reading of them."""
    for zone in ("UTC", "Asia/Tokyo"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        own, through_spark = papertape_spark.read(spark, lake), papertape_spark.read(spark, lake, in_tasks=False)
        made, shuffled = (papertape_spark.indicators(bars, SPECS) for bars in (own, through_spark))
        check(not shuffles(made) and shuffles(shuffled), "who reads the files")
        check(made.schema == shuffled.schema and not made.exceptAll(shuffled).count(), f"{zone}: rows differ from those through the shuffle")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    some = papertape_spark.indicators(own.where("symbol = 'ADA'"), SPECS)
    check(shuffles(some), "rows of another DataFrame are read by Spark")
    equal(some, "where", {"ADA": EXPECTED["ADA"]})
    check(papertape_spark.fit(own, "market14", "15m") == papertape_spark.fit(through_spark, "market14", "15m"), "sets fitted by tasks")
    check(job.keys_of(own) == job.keys_of(through_spark), "what a symbol's rows follow from")
    trading.backtests(own, BARS[:2])
    longer, expected = (in_order(papertape_spark.bars(bars, "4h").toPandas()) for bars in (own, through_spark))
    check(longer.equals(expected) and len(longer) > 0, "longer bars by tasks")


def features():
    matrices = {bars.symbol.iloc[0]: feature_matrix(bars, "wide110", 900, FITTED) for bars in BARS[:2]}
    many = df.where("symbol != 'ONE'")
    until = BARS[0].timestamp.iloc[FITTED].to_pydatetime()
    sets = papertape_spark.fit(many, "wide110", "15m", until=until)
    check(sets == {symbol: text for symbol, (text, _) in matrices.items()}, "fitted sets")
    found = in_order(papertape_spark.features(many, sets, "15m").toPandas())
    check(found.shape[1] == 7 + 110, f"{found.shape[1]} columns")
    for symbol, (_, matrix) in matrices.items():
        mine = found[found.symbol == symbol]
        check(same_bits(mine.iloc[:, 7:], matrix, np.float32), f"wide110 of {symbol}")


def vector():
    """One column of lists: the cells of the columns."""
    one = df.where("symbol = 'ADA'")
    sets = papertape_spark.fit(one, "market14", "15m")
    apart = in_order(papertape_spark.features(one, sets, "15m").toPandas())
    together = in_order(papertape_spark.features(one, sets, "15m", vector="cells").toPandas())
    check(list(together.columns[7:]) == ["cells"], f"columns {list(together.columns)}")
    check(same_bits(np.stack(together.cells), apart.iloc[:, 7:], np.float32), "market14 as a vector")


def refusals():
    refused("the nearest are", lambda: papertape_spark.indicators(df, "smaa:20"))
    refused("column volume is missing", lambda: papertape_spark.indicators(df.drop("volume"), "sma"))
    refused("sar:0.02,0.2 remembers its first bar for ever", lambda: papertape_spark.indicators(df, "sma,sar", cut="time", warmup=True))


def refused_in_tasks():
    twice = df.union(df.where("symbol = 'ADA'").limit(1))
    refused("two bars have this time", lambda: papertape_spark.indicators(twice, "sma").count())


indicators()
lake = files()
tasks(lake)
features()
refusals()
trading.backtests(df.where("symbol != 'ONE'"), BARS[:2])
trading.refused_at_once(df)
reading.names_as_program()
if LONG:
    tasks_beside_shuffles(lake)
    vector()
    refused_in_tasks()
    reading.names(spark)
    reading.paths(spark)
    reading.floats(spark)
    reading.steps(spark)
else:
    print("counts: 3 of 4 ways to indicators, a lake in one zone, refusals before a task (PAPERTAPE_LONG: in tasks too, beside shuffles, two zones, a vector, files' names and FLOAT)")
spark.stop()
done("spark/spark")
