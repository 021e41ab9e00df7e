"""DataFrames of Parquet files of one symbol each: a task reads its symbols' files (files.py) and computes them, so that no row
of the input passes through the JVM and a shuffle. planned() finds such files; of() says whether a DataFrame is of them."""

import dataclasses
import datetime
import os

from .bars import sorted_by_symbol
from .files import path_of, rows_of, symbol_of_footer

ATTRIBUTE = "_papertape_tasks"  # of a DataFrame: its Tasks
FOOTERS_MOST = 10000  # files whose footers the driver reads for their symbols
EXACT = {"double": ("double", "float", "int", "smallint", "tinyint")}  # each value is a double
CARRIED = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "date", "binary", "timestamp", "timestamp_ntz")


def arrow_schema(schema):
    """Arrow's for Spark's: timestamps are in UTC. Spark 4.3 asks for their zone, and 4.0 takes none."""
    import inspect

    from pyspark.sql.pandas.types import to_arrow_schema

    zoned = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(schema, **zoned)


@dataclasses.dataclass(frozen=True)
class Tasks:
    """What tasks do from files on: each reads its symbols one after the other, and `steps` take the batches and give others."""

    spark: object
    plan: tuple  # (symbol, its files' URIs) each, in the order of symbols
    types: dict  # of the files' columns, as DataFrame.dtypes has them
    columns: object = None  # Arrow's schema of what is read
    last: tuple = ()  # columns that order rows of one time
    partitions: int = None
    steps: tuple = ()

    def then(self, step):
        return dataclasses.replace(self, steps=(*self.steps, step))

    def only(self, symbols):
        wanted = set(symbols)
        return dataclasses.replace(self, plan=tuple(entry for entry in self.plan if entry[0] in wanted))

    def stated(self):
        """{symbol: [(path, size, time of change)]}, times as Spark gives them: local, of milliseconds."""

        def file(uri):
            info = os.stat(path_of(uri))
            ms = info.st_mtime_ns // 1_000_000
            return uri, info.st_size, datetime.datetime.fromtimestamp(ms // 1000).replace(microsecond=ms % 1000 * 1000)

        return {symbol: [file(uri) for uri in uris] for symbol, uris in self.plan}

    def frame(self, schema):
        """The DataFrame of what the last step gives."""
        most = self.partitions or int(self.spark.conf.get("spark.sql.shuffle.partitions"))
        numbers = self.spark.range(0, len(self.plan), 1, max(1, min(most, len(self.plan))))
        return attached(numbers.mapInArrow(running(self.plan, self.columns, self.last, self.steps), schema), self)


def attached(df, tasks):
    setattr(df, ATTRIBUTE, tasks)
    return df


def of(df, rows=None, partitions=None, last=()):
    """The Tasks of a DataFrame that read() gave, for the columns of `rows`; None where Spark must read them: rows of
    another DataFrame, or of types that pyarrow might give in another way."""
    found = getattr(df, ATTRIBUTE, None)
    if found is None or rows is None:
        return found
    for name, kind in rows.dtypes:
        mine = found.types.get(name)
        if name != "symbol" and (kind not in CARRIED or mine not in EXACT.get(kind, (kind,))):
            return None
    return dataclasses.replace(found, columns=arrow_schema(rows.schema), partitions=partitions, last=tuple(last))


def planned(spark, symbols, types, named):
    """Tasks for the files of {URI: symbol}, None where the path gives none, and, `named`, a column may; None where a task cannot
    read them by itself."""
    if not symbols or not all(uri.startswith("file:///") for uri in symbols):
        return None
    if not all(symbols.values()) and len(symbols) > FOOTERS_MOST:
        return None
    plan = {}
    for uri, symbol in symbols.items():
        symbol = symbol_of_footer(path_of(uri)) if named and not symbol else symbol
        if not symbol:
            return None
        plan.setdefault(symbol, []).append(uri.replace("///", "/", 1))  # as _metadata has it
    return Tasks(spark, tuple(sorted(((symbol, tuple(sorted(uris))) for symbol, uris in plan.items()), key=lambda entry: entry[0].encode())), types)


def running(plan, columns, last, steps):
    """What mapInArrow() calls over the numbers of symbols."""

    def run(batches):
        rows = (batch for numbers in batches for number in numbers.column("id").to_pylist() for batch in rows_of(*plan[number], columns, last))
        for step in steps:
            rows = step(rows)
        return rows

    return run


def over_symbols(df, rows, function, schema, partitions, last=()):
    """mapInArrow() of the function over each symbol's rows together, in the order of time and then of the columns `last`. `rows`
    are df's, with the columns that the function needs."""
    own = of(df, rows, partitions, last)
    if own:
        return own.then(function).frame(schema)
    return sorted_by_symbol(rows, partitions, last=last).mapInArrow(function, schema)
