"""stream_indicators() and stream_features(): the columns of indicators() and features() over a stream of bars, each symbol's
memory kept by Spark from one micro-batch to the next."""

import pyarrow

from .asked import Features, Indicators, split
from .bars import KEYS, PRICES, checked
from .batches import joined
from .columns import described, with_columns
from .library import BadBars, interval_ns

STATE = "state binary"


def _in_order(frame):
    """The frame's rows in the order of time."""
    frame = frame.sort_values("timestamp", kind="stable")
    return pyarrow.RecordBatch.from_arrays(
        [
            pyarrow.array(frame["symbol"], pyarrow.string()),
            pyarrow.array(frame["timestamp"], pyarrow.int64()).cast(pyarrow.timestamp("us")),
            *(pyarrow.array(frame[name], pyarrow.float64(), from_pandas=True) for name in PRICES),
        ],
        names=[*KEYS, *PRICES],
    )


REMEDY = "a stream takes a symbol's bars as they rise in time, each once: leave it out of the files, or start again without the checkpoint"


def _of_stream(sentence):
    """A micro-batch's rows are sorted: one that does not rise came late, or again."""
    late, again = "it comes after a later bar: ", "two bars have this time: "
    for mark, what in ((late, "it comes after a later bar, late: "), (again, "a bar of this time was there: ")):
        if mark in sentence:
            return sentence.split(mark)[0] + what + REMEDY
    return sentence


def computing(asked):
    """What applyInPandasWithState() calls: a symbol's bars of a micro-batch in, the same with their columns out."""
    import pandas

    def compute(key, frames, state):
        with asked.of(key[0]).open() as run:
            if state.exists:
                run.load(key[0], state.get[0])
            batch = _in_order(pandas.concat(list(frames)))
            try:
                columns = run.update(batch)
            except BadBars as refused:
                raise BadBars(_of_stream(str(refused))) from None
            memory = run.save()
        state.update((memory,))
        frame = joined(batch, columns).to_pandas()
        frame["timestamp"] = batch.column("timestamp").cast(pyarrow.int64()).to_pandas()
        yield frame

    return compute


# Whole numbers cross to Python and back, which no zone touches.
TO_MICROS = {
    "timestamp": "unix_micros(timestamp)",
    "timestamp_ntz": "timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01', timestamp)",
}
OF_MICROS = {
    "timestamp": "timestamp_micros(timestamp)",
    "timestamp_ntz": "timestampadd(MICROSECOND, timestamp, timestamp_ntz'1970-01-01')",
}


def _stream(df, asked, kind):
    from pyspark.sql import functions as F
    from pyspark.sql import types
    from pyspark.sql.streaming.state import GroupStateTimeout

    bars = checked(df).select(*KEYS, *PRICES)
    time = dict(bars.dtypes)["timestamp"]
    if time not in TO_MICROS:
        raise BadBars(f"timestamp is of type {time}: a stream needs a timestamp, as of timestamp_micros(timestamp)")
    schema = with_columns(bars, described(asked), kind)
    crossing = [types.StructField("timestamp", types.LongType()) if field.name == "timestamp" else field for field in schema]
    whole = bars.withColumn("timestamp", F.expr(TO_MICROS[time]))
    made = whole.groupBy("symbol").applyInPandasWithState(computing(asked), types.StructType(crossing), STATE, "append", GroupStateTimeout.NoTimeout)
    return made.withColumn("timestamp", F.expr(OF_MICROS[time]))


def stream_indicators(df, specs, *, gaps=None):
    """The bars of a streaming DataFrame, as of spark.readStream.schema(…).parquet(folder), with the columns that
    indicators() has, to the bit: each micro-batch's bars as they come, each symbol's memory in the query's checkpoint.

    A symbol's bars must rise in time from file to file; within a micro-batch they may be in any order. One that comes
    again, or late, is refused, and the query ends with the sentence that names it. Columns other than symbol, timestamp and
    the prices are not carried. `specs` and `gaps` are those of indicators()."""
    from pyspark.sql.types import DoubleType

    return _stream(df, Indicators(tuple(split(specs)), gaps or ""), DoubleType())


def stream_features(df, set, interval=None, *, gaps=None):
    """The same of features(), whose `set` and `interval` it takes."""
    from pyspark.sql.types import FloatType

    return _stream(df, Features(set, interval_ns(interval) // 1_000_000_000 if interval else 0, gaps or ""), FloatType())
