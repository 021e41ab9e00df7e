"""indicators() and features(): columns computed from bars, symbol by symbol."""

import re

import pyarrow

from .bars import checked
from .library import BadBars, Run

KEY = ("symbol", "timestamp")


def split(specs):
    """["sma:20", "macd:12,26,9"] of a list, or of a text with commas, semicolons or blanks between."""
    if isinstance(specs, str):
        specs = re.split(r"[;\s]+|,\s*(?=[A-Za-z])", specs.strip())
    return [spec.strip() for spec in specs if spec.strip()]


def described(asked):
    """The names of its columns; raises for what cannot be computed, before any task does."""
    with Run.of(asked) as run:
        return run.names()


def joined(batch, columns):
    """The batch with these columns behind its own."""
    return pyarrow.RecordBatch.from_arrays([*batch.columns, *columns.columns], names=[*batch.schema.names, *columns.schema.names])


def computing(asked):
    """What mapInArrow() calls: batches of a partition in order, memory carried from one to the next."""

    def compute(batches):
        with Run.of(asked) as run:
            for batch in batches:
                yield joined(batch, run.update(batch))

    return compute


def schema_of(df, names, kind):
    """Spark's schema of the bars with these columns; what was not null may be so."""
    from pyspark.sql import types

    taken = {name for name in names if name in df.columns}
    if taken:
        raise BadBars(f"the DataFrame has a column {sorted(taken)[0]} already: drop or rename it")
    return types.StructType([*df.schema.fields, *(types.StructField(name, kind, True) for name in names)])


def sorted_by_symbol(df, partitions):
    """Each symbol's bars in one partition, in order."""
    ranged = df.repartitionByRange(partitions, "symbol") if partitions else df.repartitionByRange("symbol")
    return ranged.sortWithinPartitions(*KEY)


def add_columns(df, asked, kind, partitions):
    names = described(asked)
    bars = checked(df)
    return sorted_by_symbol(bars, partitions).mapInArrow(computing(asked), schema_of(bars, names, kind))


def indicators(df, specs, cut="symbol", partitions=None):
    """The bars with a DOUBLE column for each output, named as `papertape indicators` names them (`sma_20`,
    `macd_12_26_9.signal`), null before the first one: to the bit what `papertape indicators` computes.

    df          symbol, timestamp, open, high, low, close, volume, and others, which stay
    specs       "sma:20,macd:12,26,9", or a list of specifications
    cut         "symbol": one task computes a symbol, its memory carried from batch to batch
    partitions  of the result; Spark's spark.sql.shuffle.partitions where it is left out
    """
    from pyspark.sql.types import DoubleType

    if cut != "symbol":
        raise BadBars(f"cut={cut!r} is unknown: 'symbol' is there")
    return add_columns(df, ("indicators", split(specs)), DoubleType(), partitions)


def features(df, set, interval=0, cut="symbol", partitions=None):
    """The bars with a FLOAT column for each feature of a fitted set (its text, or a built-in's name where that needs no
    fitting), named as the set names them. `interval`, in seconds, is needed where features have timeframes."""
    from pyspark.sql.types import FloatType

    if cut != "symbol":
        raise BadBars(f"cut={cut!r} is unknown: 'symbol' is there")
    return add_columns(df, ("features", set, interval), FloatType(), partitions)
