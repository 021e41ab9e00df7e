"""indicators() and features(): columns computed from bars, symbol by symbol."""

import pyarrow

from .asked import Features, Indicators, Series, check_errors, split
from .bars import checked
from .batches import joined, stretches, without_own
from .library import BadBars, interval_ns
from .slices import by_state, by_warmup
from .tasks import over_symbols

NS_PER_S = 1_000_000_000


def described(asked):
    """The names of its columns; raises for what cannot be computed, before any task does."""
    with asked.open() as run:
        return [asked.vector] if getattr(asked, "vector", "") else run.names()


def computing(asked):
    """What mapInArrow() calls: batches of a partition in order, memory carried from one to the next."""

    def compute(batches):
        with Series(asked) as series:
            for batch in batches:
                if series.one:
                    yield joined(batch, series.at(None).update(without_own(batch)))
                    continue
                for (symbol,), rows in stretches(batch, ("symbol",)):
                    yield joined(rows, series.at(symbol).update(without_own(rows)))

    return compute


def computing_rows(asked, names):
    """The same, of features: a symbol without a set has nulls, and the reason behind them."""
    kind = pyarrow.list_(pyarrow.float32()) if asked.vector else pyarrow.float32()

    def compute(batches):
        with Series(asked) as series:
            for batch in batches:
                for (symbol,), rows in stretches(batch, ("symbol",)):
                    error = asked.missing(symbol)
                    columns = [pyarrow.nulls(rows.num_rows, kind)] * len(names) if error else series.at(symbol).update(without_own(rows)).columns
                    reasons = pyarrow.array([error] * rows.num_rows, pyarrow.string())
                    yield joined(rows, pyarrow.RecordBatch.from_arrays([*columns, reasons], names=[*names, "error"]))

    return compute


def with_columns(df, names, kind):
    """Spark's schema of the bars with these columns; one called `error` is a text."""
    from pyspark.sql import types

    taken = [name for name in names if name in df.columns]
    if taken:
        raise BadBars(f"the DataFrame has a column {taken[0]} already: drop or rename it")
    return types.StructType([*df.schema.fields, *(types.StructField(name, types.StringType() if name == "error" else kind, True) for name in names)])


def add_columns(df, asked, kind, compute):
    """The DataFrame with the columns that compute(df, bars, schema) adds; `bars` is df, checked."""
    names = described(asked) + (["error"] if getattr(asked, "rows", False) else [])
    with_columns(df, names, kind)
    # Spark's mapInArrow() takes a dot in a column's name for a field of a struct.
    dotted = any("." in name for name in df.columns)
    bars = checked(df.toDF(*(name if "." not in name else f"column {k}" for k, name in enumerate(df.columns))) if dotted else df)
    made = compute(df, bars, with_columns(bars, names, kind))
    return made.toDF(*df.columns, *names) if dotted else made


def by_cut(asked, cut, every, warmup, partitions):
    """What add_columns() calls: by symbol, or by slices of one."""

    def compute(df, bars, schema):
        if cut == "symbol":
            if warmup:
                raise BadBars("warmup=True goes with cut='time': cut='symbol' computes each symbol whole, and needs none")
            function = computing_rows(asked, described(asked)) if getattr(asked, "rows", False) else computing(asked)
            return over_symbols(df, bars, function, schema, partitions)
        if cut != "time":
            raise BadBars(f"cut={cut!r} is unknown: 'symbol' or 'time' is needed")
        if getattr(asked, "rows", False):
            raise BadBars("errors='rows' goes with cut='symbol'")
        return (by_warmup if warmup else by_state)(bars, asked, schema, every, partitions)

    return compute


def on_device(specs, cut, warmup, gaps, partitions):
    """What add_columns() calls: indicators by the GPU module."""
    from . import device

    def compute(df, bars, schema):
        if cut != "symbol" or warmup or gaps:
            raise BadBars("backend='gpu' computes whole symbols: it goes with cut='symbol', without warmup and gaps")
        device.check(bars.sparkSession, specs)
        return over_symbols(df, bars, device.computing(specs), schema, partitions)

    return compute


def indicators(df, specs, cut="symbol", *, every="30d", warmup=False, gaps=None, partitions=None, backend="cpu"):
    """The bars with a DOUBLE column for each output, named as `papertape indicators` names them (`sma_20`,
    `macd_12_26_9.signal`), null before the first one: to the bit what `papertape indicators` computes.

    df          symbol, timestamp, open, high, low, close, volume, and others, which stay
    specs       "sma:20,macd:12,26,9", or a list of specifications
    cut         "symbol": one task computes a symbol, its memory carried from batch to batch;
                "time": a task computes `every` of a symbol, with the memory that the slice before hands on
    every       the length of a slice, in days, hours …: "30d", "12h"
    warmup      with cut="time": slices begin with the bars before them in place of a handed memory, so that no
                slice waits for another; within each indicator's float64 tolerance (`papertape indicators --list`),
                and refused for those that never forget their first bar
    gaps        the bars' interval, as "1m": a missing bar is refused; left out, gaps are gaps, as in bars files
    partitions  of the result; Spark's spark.sql.shuffle.partitions where it is left out
    backend     "gpu": by Papertape's GPU module in executors with a device, the same bits; a symbol's bars and columns are
                in a task's memory meanwhile
    """
    from pyspark.sql.types import DoubleType

    if backend not in ("cpu", "gpu"):
        raise BadBars(f"backend={backend!r} is unknown: 'cpu' or 'gpu' is needed")
    asked = Indicators(tuple(split(specs)), gaps or "")
    if backend == "gpu":
        return add_columns(df, asked, DoubleType(), on_device(asked.specs, cut, warmup, gaps, partitions))
    return add_columns(df, asked, DoubleType(), by_cut(asked, cut, every, warmup, partitions))


def features(df, set, interval=None, cut="symbol", *, vector=None, every="30d", warmup=False, gaps=None, partitions=None, errors="raise"):
    """The bars with a FLOAT column for each feature, named as the set names them, null before the first value: to the
    bit the float32 cells of the feature matrix of a live policy.

    set         a fitted set's text; a built-in set's name where that needs no fitting; or what fit() returned, a
                set for each symbol
    interval    of the bars, as "5m": needed where features have timeframes
    vector      a name: one column ARRAY<FLOAT> of all features in their order, NaN before a first value, in place of
                a column each, which is cheaper to carry

    errors      "rows": a symbol without a fitted set has nulls, and why in a column `error`, as fit(…, errors="rows") left
                it; otherwise it ends the job

    The others are those of indicators().
    """
    from pyspark.sql.types import ArrayType, FloatType

    check_errors(errors)
    seconds = interval_ns(interval) // NS_PER_S if interval else 0
    kind = ArrayType(FloatType()) if vector else FloatType()
    asked = Features(set, seconds, gaps or "", None, vector or "", errors == "rows")
    return add_columns(df, asked, kind, by_cut(asked, cut, every, warmup, partitions))
