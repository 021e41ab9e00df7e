"""DataFrames of bars: the columns that are needed, and their types."""

from .library import BadBars

PRICES = ("open", "high", "low", "close", "volume")


def checked(df):
    """The bars with prices as DOUBLE; raises for a column that is missing or cannot be one."""
    from pyspark.sql import functions as F
    from pyspark.sql import types

    have = dict(df.dtypes)
    for name in ("symbol", "timestamp", *PRICES):
        if name not in have:
            raise BadBars(f"column {name} is missing among {', '.join(df.columns)}: symbol, timestamp, open, high, low, close, volume are needed")
    if have["symbol"] != "string":
        raise BadBars(f"symbol is of type {have['symbol']}: a string is needed")
    if have["timestamp"] not in ("timestamp", "timestamp_ntz", "bigint"):
        raise BadBars(f"timestamp is of type {have['timestamp']}: a timestamp, or an epoch in s, ms, µs or ns as bigint, is needed")
    for name in PRICES:
        kind = df.schema[name].dataType
        if not isinstance(kind, types.NumericType):
            raise BadBars(f"{name} is of type {have[name]}: a number is needed, as by .cast('double')")
        if not isinstance(kind, types.DoubleType):
            df = df.withColumn(name, F.col(name).cast("double"))
    return df
