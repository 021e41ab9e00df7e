"""DataFrames of bars and trades: the columns that are needed, and their types."""

import pyarrow

from .batches import by_text
from .library import BadBars

PRICES = ("open", "high", "low", "close", "volume")
KEYS = ("symbol", "timestamp")


def widened(column):
    """A FLOAT column as DOUBLE by each number's shortest text, as the program reads it: 81771.56, and not 81771.5625."""
    import pandas as pd
    from pyspark.sql import functions as F

    def widen(values: pd.Series) -> pd.Series:
        return pd.Series(by_text(pyarrow.array(values.to_numpy("float32"))).to_numpy(zero_copy_only=False))

    return F.when(column.isNull(), F.lit(None)).otherwise(F.pandas_udf(widen, "double")(column))


def _checked(df, figures, what):
    from pyspark.sql import functions as F
    from pyspark.sql import types

    have = dict(df.dtypes)
    for name in (*KEYS, *figures):
        if name not in have:
            raise BadBars(f"column {name} is missing among {', '.join(df.columns)}: {what} needs {', '.join((*KEYS, *figures))}")
    if have["symbol"] != "string":
        raise BadBars(f"symbol is of type {have['symbol']}: a string is needed")
    if have["timestamp"] not in ("timestamp", "timestamp_ntz", "bigint"):
        raise BadBars(f"timestamp is of type {have['timestamp']}: a timestamp, or an epoch in s, ms, µs or ns as bigint, is needed")
    for name in figures:
        kind = df.schema[name].dataType
        if not isinstance(kind, types.NumericType):
            raise BadBars(f"{name} is of type {have[name]}: a number is needed, as by .cast('double')")
        if isinstance(kind, types.FloatType):
            df = df.withColumn(name, widened(F.col(name)))
        elif not isinstance(kind, types.DoubleType):
            df = df.withColumn(name, F.col(name).cast("double"))
    return df


def checked(df):
    """The bars with prices as DOUBLE; raises for a column that is missing or cannot be one."""
    return _checked(df, PRICES, "a DataFrame of bars")


def sorted_by_symbol(df, partitions=None, *, last=()):
    """Each symbol's rows in one partition, in the order of time, and within it of the columns `last`."""
    ranged = df.repartitionByRange(partitions, "symbol") if partitions else df.repartitionByRange("symbol")
    return ranged.sortWithinPartitions("symbol", "timestamp", *last)


def checked_trades(df):
    """The trades with price and qty as DOUBLE, and an id, if there is one, as BIGINT."""
    from pyspark.sql import functions as F
    from pyspark.sql import types

    trades = _checked(df, ("price", "qty"), "a DataFrame of trades")
    if "id" in trades.columns and not isinstance(trades.schema["id"].dataType, types.IntegralType):
        raise BadBars(f"id is of type {dict(trades.dtypes)['id']}: a bigint is needed, so that trades of one time have an order")
    return trades.withColumn("id", F.col("id").cast("bigint")) if "id" in trades.columns else trades
