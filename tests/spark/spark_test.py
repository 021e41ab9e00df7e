"""papertape_spark on local[2]: indicators and wide110 of several symbols, by DataFrame and by SQL, equal to the bit to
`papertape indicators` and to the library's own feature matrix; and what is refused: python3 spark_test.py"""

import ready
from ready import check, computed, done, feature_matrix, in_order, refused, same_bits, seeded, session, walk

import numpy as np
import pandas as pd
import papertape_spark
import trading
from pyspark.sql import functions as F

SPECS = ["sma:20", "macd:12,26,9", "rsi:14", "ema:50", "bbands:20,2", "adx:14", "sar", "obv", "supertrend", "vwap"]
ROWS, FITTED = 2600, 2500

rng = seeded("spark/spark", 31)
BARS = [walk(rng, "ADA", ROWS), walk(rng, "BTCUSDT", ROWS), walk(rng, "ONE", 1)]
spark = session()
papertape_spark.register(spark)
df = spark.createDataFrame(pd.concat(BARS)).repartition(7, F.rand(3))  # rows in any order
df.createOrReplaceTempView("bars")


def indicators():
    expected = {bars.symbol.iloc[0]: computed(bars, SPECS) for bars in BARS}
    ways = {
        "DataFrame": papertape_spark.indicators(df, SPECS),
        "SQL": spark.sql(f"SELECT * FROM papertape_indicators(TABLE(bars) PARTITION BY symbol ORDER BY (timestamp), '{','.join(SPECS)}')"),
    }
    for way, made in ways.items():
        found = in_order(made.toPandas())
        check(len(found) == sum(map(len, BARS)), f"{way}: {len(found)} rows")
        for symbol, columns in expected.items():
            mine = found[found.symbol == symbol]
            check(list(mine.columns[7:]) == list(columns), f"{way}: columns {list(mine.columns)}")
            for name, column in columns.items():
                check(same_bits(mine[name], column), f"{way}: {symbol} {name}")


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
    twice = df.union(df.where("symbol = 'ADA'").limit(1))
    refused("two bars have this time", lambda: papertape_spark.indicators(twice, "sma").count())


indicators()
features()
vector()
refusals()
trading.backtests(df.where("symbol != 'ONE'"), BARS[:2])
trading.refused_at_once(df)
spark.stop()
done("spark/spark")
