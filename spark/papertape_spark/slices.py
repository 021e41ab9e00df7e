"""cut="time": a symbol's history in slices, which tasks of their own compute.

A slice is a whole multiple of its length since 1970 UTC. by_state() reads each symbol once, in order, only to learn its
memory at the beginning of each slice, and then computes all slices side by side. by_warmup() lets each slice begin with as
many bars before it as its specifications need, and reads nothing in order.
"""

import pyarrow
import pyarrow.compute

from .asked import Series
from .bars import KEYS, PRICES, sorted_by_symbol
from .batches import OWN, joined, stretches, without_own
from .library import BadBars, interval_ns
from .times import EPOCH


def sliced(df, every):
    """The bars with their slice's number."""
    from pyspark.sql import functions as F

    taken = [name for name in OWN if name in df.columns]
    if taken:
        raise BadBars(f"cut='time' needs the column name {taken[0]} for itself: rename that column")
    kind = dict(df.dtypes)["timestamp"]
    micros = "unix_micros(cast(timestamp as timestamp))"
    if kind == "bigint":  # an epoch, recognised by its size as in native/batch.c
        micros = EPOCH.format("timestamp")
    length = interval_ns_of(every) // 1000
    return df.withColumn("slice", F.expr(f"(({micros}) - pmod(({micros}), {length})) div {length}"))


def interval_ns_of(every):
    """The nanoseconds of "30d": a number and an interval's letter; or an interval by its name."""
    count, unit = str(every)[:-1], str(every)[-1:]
    if not count.isdigit() or int(count) == 0:
        raise BadBars(f"every={every!r}: a length is needed, as 30d, 12h or 1w")
    return int(count) * interval_ns("1" + unit)


def handing(asked):
    """What mapInArrow() calls: bars of a partition in order in, (symbol, slice, state) of each slice but a first out."""

    def hand(batches):
        with Series(asked) as series:
            before = None
            for batch in batches:
                states = []
                for key, rows in stretches(batch, ("symbol", "slice")):
                    run = series.at(key[0])
                    if before and before[0] == key[0] and before[1] != key[1]:
                        states.append((*key, run.save()))
                    run.skip(without_own(rows))
                    before = key
                symbols, numbers, memories = zip(*states) if states else ((), (), ())
                yield pyarrow.RecordBatch.from_arrays(
                    [pyarrow.array(symbols, pyarrow.string()), pyarrow.array(numbers, pyarrow.int64()), pyarrow.array(memories, pyarrow.binary())],
                    names=["symbol", "slice", "state"],
                )

    return hand


def computing(asked):
    """What mapInArrow() calls: slices of a partition, each behind the state or the warm-up that it begins with."""

    def compute(batches):
        with Series(asked) as series:
            for batch in batches:
                for (symbol,), rows in [((None,), batch)] if series.one else stretches(batch, ("symbol",)):
                    columns = series.at(symbol).update(rows)
                    kept = rows.column("state").is_null() if "state" in rows.schema.names else pyarrow.compute.invert(rows.column("warm"))
                    yield joined(without_own(rows), columns).filter(kept)

    return compute


def by_state(df, asked, schema, every, partitions):
    from pyspark.sql import functions as F

    bars = sliced(df, every)
    needed = bars.select(*KEYS, "slice", *PRICES)
    states = sorted_by_symbol(needed).mapInArrow(handing(asked), "symbol string, slice bigint, state binary")
    nothing = bars.withColumn("state", F.lit(None).cast("binary"))
    rows = nothing.unionByName(states, allowMissingColumns=True)
    parted = rows.repartition(partitions, "slice", "symbol") if partitions else rows.repartition("slice", "symbol")
    ordered = parted.sortWithinPartitions("slice", "symbol", F.col("state").isNull(), "timestamp")
    return ordered.mapInArrow(computing(asked), schema)


def by_warmup(df, asked, schema, every, partitions):
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    with asked.open() as run:
        need = run.warmup()
    bars = sliced(df, every)
    history = Window.partitionBy("symbol").orderBy("slice").rowsBetween(Window.unboundedPreceding, -1)
    counts = bars.groupBy("symbol", "slice").count()
    counts = counts.withColumn("before", F.coalesce(F.sum("count").over(history), F.lit(0)))
    later = counts.select("symbol", F.col("slice").alias("to"), (F.col("before") - need).alias("first"))
    wanted = counts.join(later, "symbol").where("`to` > slice and `before` + `count` > first").select("symbol", "slice", "to", "first", "before")
    place = F.row_number().over(Window.partitionBy("symbol", "slice").orderBy("timestamp")) - 1
    lent = bars.withColumn("place", place).join(wanted, ["symbol", "slice"]).where("`before` + place >= first")
    lent = lent.withColumn("slice", F.col("to")).select(*bars.columns).withColumn("warm", F.lit(True))
    rows = bars.withColumn("warm", F.lit(False)).unionByName(lent)
    parted = rows.repartition(partitions, "slice", "symbol") if partitions else rows.repartition("slice", "symbol")
    return parted.sortWithinPartitions("slice", "symbol", "timestamp").mapInArrow(computing(asked), schema)
