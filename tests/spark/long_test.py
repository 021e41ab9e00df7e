"""papertape_spark at length: all indicators and wide110 of 50 symbols in many small partitions, by symbol and by time, equal
to one machine to the bit; a task that fails and an executor that is killed leave each row once; bars, files and warm-up:
python3 long_test.py local|cluster"""

import json
import os
import subprocess
import sys
from pathlib import Path

import ready
from checks import check, done, refused, seeded
from ready import computed, feature_matrix, in_order, same_bits, scratch, session, walk

import numpy as np
import pandas as pd
import papertape_spark
import pyspark
from faults import failing, killing
from pyspark.sql import functions as F

MODE = sys.argv[1]
SYMBOLS, ROWS, FITTED = 50, 1500, 1400
NEVER = {"ad": "ad", "obv": "obv", "sar": "sar:0.02,0.2", "supertrend": "supertrend:10,3"}  # no warm-up ends


def home():
    """A copy of Spark's folder, by links, that can be written below: local-cluster's workers do."""
    folder = Path(scratch.name, "spark")
    folder.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (folder / entry.name).symlink_to(entry)
    return str(folder)


if MODE == "cluster":
    os.environ["SPARK_HOME"] = home()
    carried = {f"spark.executorEnv.{key}": os.environ[key] for key in ("PYTHONPATH", "PAPERTAPE_SPARK_LIBRARY", "TZ", "PYSPARK_PYTHON")}
    spark = session("local-cluster[2,1,1024]", **carried)
else:
    spark = session("local[2,4]")  # four attempts
spark.conf.set("spark.sql.shuffle.partitions", "23")
spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
rng = seeded(f"spark/long {MODE}", 51)
BARS = [walk(rng, f"S{k:02}USDT", ROWS if k else 1) for k in range(SYMBOLS)]
whole = pd.concat(BARS)
df = spark.createDataFrame(whole).repartition(97, F.rand(5))
listed = subprocess.run([os.environ["PAPERTAPE"], "indicators", "--list", "--json"], capture_output=True, text=True, check=True).stdout
ROWS_OF_REGISTRY = json.loads(listed)["indicators"]
SPECS = [row["name"] for row in ROWS_OF_REGISTRY]
EXPECTED = {bars.symbol.iloc[0]: computed(bars, SPECS) for bars in BARS}


def equal(found, what, expected=EXPECTED):
    found = in_order(found)
    check(len(found) == len(whole) and not found.duplicated(["symbol", "timestamp"]).any(), f"{what}: {len(found)} rows")
    for symbol, columns in expected.items():
        mine = found[found.symbol == symbol]
        bad = [name for name, column in columns.items() if not same_bits(mine[name], column)]
        check(not bad, f"{what}: {symbol}: {bad[:3]}")


def spoiled(made, fault):
    """Through a function of faults.py; without the dots in names, which mapInArrow() takes for fields of structs."""
    plain = made.toDF(*(name.replace(".", "|") for name in made.columns))
    return plain.mapInArrow(fault, plain.schema).toDF(*made.columns)


def written(made, name):
    path = f"{scratch.name}/{name}.parquet"
    made.write.mode("overwrite").parquet(path)
    return pd.read_parquet(path)


def indicators():
    check(len(SPECS) == 51, f"{len(SPECS)} indicators")
    made = papertape_spark.indicators(df, SPECS)
    equal(written(made, "symbol"), "cut by symbol")
    equal(written(spoiled(made, failing), "failing"), "a task that fails")
    equal(written(papertape_spark.indicators(df, SPECS, cut="time", every="3d"), "time"), "cut by time")
    if MODE == "cluster":
        marker = Path(scratch.name, "killed")
        equal(written(spoiled(made, killing(str(marker))), "killing"), "an executor that is killed")
        check(marker.exists(), "an executor was killed")


def features():
    many = df.where("symbol != 'S00USDT'")
    sets = papertape_spark.fit(many, "wide110", "15m", until=BARS[1].timestamp.iloc[FITTED].to_pydatetime())
    for cut in ("symbol", "time"):
        found = in_order(papertape_spark.features(many, sets, "15m", cut=cut, every="3d").toPandas())
        check(len(found) == (SYMBOLS - 1) * ROWS, f"wide110 by {cut}: {len(found)} rows")
        for bars in BARS[1:]:
            text, matrix = feature_matrix(bars, "wide110", 900, FITTED)
            symbol = bars.symbol.iloc[0]
            check(text == sets[symbol], f"set of {symbol}")
            check(same_bits(found[found.symbol == symbol].iloc[:, 7:], matrix, np.float32), f"wide110 by {cut}: {symbol}")


def allowed(row, column, price):
    """The registry's tolerance at each value."""
    of = {"value": np.abs(column), "price": price, "column": np.nanmax(np.abs(column), initial=0), "absolute": 1}[row["tolerance"]["of"]]
    times = max([1.0, *(option["value"] for option in row["options"] if option["name"] in ("deviations", "factor"))])
    return row["tolerance"]["f64"] * times * of


def warmup():
    """Within the tolerance that the registry states; what never forgets is refused, each by its name."""
    ends = [row for row in ROWS_OF_REGISTRY if row["warmup_bars"]["f64"] is not None]
    check(len(ends) == 51 - len(NEVER), f"{len(ends)} rows have an end")
    found = in_order(papertape_spark.indicators(df, [row["name"] for row in ends], cut="time", every="3d", warmup=True).toPandas())
    check(len(found) == len(whole), f"warm-up: {len(found)} rows")
    apart = 0
    for bars in BARS:
        symbol = bars.symbol.iloc[0]
        mine = found[found.symbol == symbol]
        for row in ends:
            for name in row["columns"]:
                values, column = mine[name].to_numpy(), EXPECTED[symbol][name]
                near = np.abs(values - column) <= allowed(row, column, bars.high.max())
                check(np.array_equal(np.isnan(values), np.isnan(column)) and (near | np.isnan(column)).all(), f"warm-up: {symbol} {name}")
                apart += not same_bits(values, column)
    print(f"warm-up: {apart} columns of {len(BARS) * sum(len(row['columns']) for row in ends)} differ in last digits")
    whole_run, papertape_spark.library.Run.warmup = papertape_spark.library.Run.warmup, lambda self: 40
    one = df.where("symbol = 'S01USDT'")
    found = in_order(papertape_spark.indicators(one, "ema", cut="time", every="3d", warmup=True).toPandas())
    papertape_spark.library.Run.warmup = whole_run
    check(len(found) == ROWS and not same_bits(found.ema_30, EXPECTED["S01USDT"]["ema_30"]), "too few bars to warm up change digits")
    for row in ROWS_OF_REGISTRY:
        if row["warmup_bars"]["f64"] is None:
            refused(f"{NEVER[row['name']]} remembers its first bar for ever", lambda name=row["name"]: papertape_spark.indicators(df, name, cut="time", warmup=True))


def chained():
    """Columns behind columns whose names have dots."""
    one = df.where("symbol = 'S01USDT'")
    found = in_order(papertape_spark.indicators(papertape_spark.indicators(one, "macd"), "sma,adx", cut="time", every="3d").toPandas())
    expected = {name: EXPECTED["S01USDT"][name] for name in ("macd_12_26_9.signal", "macd_12_26_9.hist", "sma_30", "adx_14")}
    check(all(same_bits(found[name], column) for name, column in expected.items()), f"chained: {list(found.columns)}")
    others = one.withColumn("slice", F.monotonically_increasing_id()).withColumn("state", F.lit("x"))
    found = in_order(papertape_spark.indicators(others, "macd").toPandas())
    check(same_bits(found["macd_12_26_9.signal"], expected["macd_12_26_9.signal"]), "columns called slice and state are the user's own")
    refused("cut='time' needs the column name slice for itself", lambda: papertape_spark.indicators(others, "macd", cut="time"))


def bars():
    """pandas' resampling of the same bars."""
    found = in_order(papertape_spark.bars(df, "4h").toPandas())
    rules = {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum", "symbol": "count"}
    expected = whole.set_index("timestamp").groupby(whole.symbol.to_numpy()).resample("4h", origin="epoch").agg(rules).reset_index(names=["symbol_", "timestamp"])
    check(len(found) == len(expected) and list(found.symbol) == list(expected.symbol_), f"bars: {len(found)} of {len(expected)}")
    check((found["count"] == expected.symbol).all() and (found.timestamp == expected.timestamp).all(), "bars: times and counts")
    for name in ("open", "high", "low", "close"):
        check(np.array_equal(found[name], expected[name]), f"bars: {name}")
    check(np.array_equal(found.volume, np.round(expected.volume, 3)), "bars: volume, exact decimals")


def named_folders():
    """Symbols that a folder's name has as %XX, by two writers of partitions, with the column symbol in the files too or not."""
    symbols = ["A B", "A+B", "A/B", "A:B=C", "50%", "A%20B", "BTC\u00dc"]
    rows = pd.concat([BARS[1].iloc[:3].assign(symbol=symbol) for symbol in symbols])
    df = spark.createDataFrame(rows)
    df.write.partitionBy("symbol").parquet(f"{scratch.name}/by_spark")
    df.withColumn("folder", F.col("symbol")).write.partitionBy("folder").parquet(f"{scratch.name}/by_spark_twice")
    for folder in Path(scratch.name, "by_spark_twice").glob("folder=*"):
        folder.rename(folder.with_name(folder.name.replace("folder=", "symbol=")))
    rows.astype({"timestamp": "datetime64[us]"}).to_parquet(f"{scratch.name}/by_pyarrow", partition_cols=["symbol"])
    for name in ("by_spark", "by_spark_twice", "by_pyarrow"):
        found = papertape_spark.read(spark, f"{scratch.name}/{name}").groupBy("symbol").count().collect()
        check({row.symbol: row["count"] for row in found} == dict.fromkeys(symbols, 3), f"{name}: {found}")


def files():
    """Partitions by symbol and day, and what a lake may hold by mistake."""
    lake = Path(scratch.name, "lake")
    for kind in ("parquet", "csv"):
        place = lake / kind
        for one in BARS[:4]:
            for day, rows in one.groupby(one.timestamp.dt.date):
                folder = place / f"symbol={one.symbol.iloc[0]}" / f"day={day}"
                folder.mkdir(parents=True)
                rows = rows.drop(columns="symbol").astype({"timestamp": "datetime64[us]"})
                rows.to_parquet(folder / "0.parquet") if kind == "parquet" else rows.to_csv(folder / "0.csv", index=False)
        found = in_order(papertape_spark.indicators(papertape_spark.read(spark, str(place), kind), SPECS).toPandas())
        for one in BARS[:4]:
            mine = found[found.symbol == one.symbol.iloc[0]]
            bad = [name for name, column in EXPECTED[one.symbol.iloc[0]].items() if not same_bits(mine[name], column)]
            check(len(mine) == len(one) and not bad, f"{kind}: {one.symbol.iloc[0]}: {len(mine)} rows, {bad[:3]}")

    first = BARS[1].iloc[:20]

    def one_file(name, rows, folder="symbol=S01USDT", kind="parquet"):
        place = lake / name / folder
        place.mkdir(parents=True)
        for k, part in enumerate(rows):
            part = part.astype({"timestamp": "datetime64[us]"})
            part.to_parquet(place / f"{k}.parquet") if kind == "parquet" else part.drop(columns="symbol").to_csv(place / f"{k}.csv", index=False)
        return lambda: papertape_spark.indicators(papertape_spark.read(spark, str(lake / name), kind), "sma:3").count()

    check(one_file("flat", [first], ".")() == 20, "a file that names its symbol itself")
    refused("two symbols in one file", one_file("two", [pd.concat([first, BARS[2].iloc[:20]])]))
    refused("volume is null", one_file("lacking", [first, BARS[1].iloc[20:40].drop(columns="volume")]))
    others = [BARS[1].iloc[20 * k : 20 * k + 20] for k in range(5)]
    drift = [rows.astype({"volume": str}) if k == 3 else rows for k, rows in enumerate(others)]
    refused("drift/symbol=S01USDT/3.parquet: volume is of type string, and double in the files before it", one_file("drift", drift))
    header = [rows[["symbol", "timestamp", "close", "open", "high", "low", "volume"]] if k == 3 else rows for k, rows in enumerate(others)]
    refused("header/symbol=S01USDT/3.csv: the header of the first file", one_file("header", header, kind="csv"))
    lacking = [rows.drop(columns="volume") if k == 3 else rows for k, rows in enumerate(others)]
    refused("fewer/symbol=S01USDT/3.csv: the header of the first file", one_file("fewer", lacking, kind="csv"))
    refused("two bars have this time", one_file("twice", [first, first.iloc[7:8]]))
    refused("bars missing between it and", lambda: papertape_spark.indicators(df.where("hour(timestamp) != 3"), "sma:3", gaps="15m").count())


indicators()
features()
if MODE == "local":
    warmup()
    chained()
    bars()
    named_folders()
    files()
spark.stop()
done(f"spark/long {MODE}")
