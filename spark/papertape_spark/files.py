"""Parquet files of one symbol each: a task reads its symbols' files by pyarrow and computes them, so that no row of the input
passes through the JVM and a shuffle. read() finds such files; tasks() says whether a DataFrame is of them."""

import dataclasses
import datetime
import os
import urllib.parse

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from .batches import by_text
from .library import BadBars

ATTRIBUTE = "_papertape_tasks"  # of a DataFrame: its Tasks
ROWS = 10000  # in a batch
FOOTERS_MOST = 10000  # files whose footers the driver reads for their symbols
EXACT = {"double": ("double", "float", "int", "smallint", "tinyint")}  # each value is a double
CARRIED = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "date", "binary", "timestamp", "timestamp_ntz")


def path_of(uri):
    return urllib.parse.unquote(urllib.parse.urlparse(uri).path)


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
        return dataclasses.replace(self, plan=tuple(entry for entry in self.plan if entry[0] in set(symbols)))

    def stated(self):
        """{symbol: [(path, size, time of change)]}, times as Spark gives them: local, of milliseconds."""

        def of(uri):
            info = os.stat(path_of(uri))
            ms = info.st_mtime_ns // 1_000_000
            return uri, info.st_size, datetime.datetime.fromtimestamp(ms // 1000).replace(microsecond=ms % 1000 * 1000)

        return {symbol: [of(uri) for uri in uris] for symbol, uris in self.plan}

    def frame(self, schema):
        """The DataFrame of what the last step gives."""
        most = self.partitions or int(self.spark.conf.get("spark.sql.shuffle.partitions"))
        numbers = self.spark.range(0, len(self.plan), 1, max(1, min(most, len(self.plan))))
        return attached(numbers.mapInArrow(running(self.plan, self.columns, self.last, self.steps), schema), self)


def attached(df, tasks):
    setattr(df, ATTRIBUTE, tasks)
    return df


def tasks(df, rows=None, partitions=None, last=()):
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


def over_symbols(df, rows, function, schema, partitions, last=()):
    """mapInArrow() of the function over each symbol's rows together, in the order of time and then of the columns `last`. `rows`
    are df's, with the columns that the function needs."""
    from .bars import sorted_by_symbol

    own = tasks(df, rows, partitions, last)
    if own:
        return own.then(function).frame(schema)
    return sorted_by_symbol(rows, partitions, last=last).mapInArrow(function, schema)


def symbol_of_footer(path):
    """The one symbol of a file with a column symbol, by the statistics of its row groups; None: it cannot be seen."""
    metadata = pyarrow.parquet.read_metadata(path)
    found = set()
    for group in range(metadata.num_row_groups):
        column = _column(metadata.row_group(group), "symbol")
        known = column.statistics if column else None
        if not known or not known.has_min_max or known.min != known.max or known.null_count:
            return None
        found.add(known.min)
    return found.pop() if len(found) == 1 else None


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


def _column(group, name):
    return next((column for column in map(group.column, range(group.num_columns)) if column.path_in_schema == name), None)


def _exact(kind, wanted):
    """May a column of a file be cast: does each value stay what it is?"""
    types = pyarrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if kind == wanted:
        return True
    if types.is_string(wanted):
        return types.is_large_string(kind) or types.is_string_view(kind)
    if types.is_float64(wanted):
        return types.is_float32(kind) or (types.is_integer(kind) and kind.bit_width <= 32)
    if types.is_timestamp(wanted):
        return types.is_timestamp(kind) and (kind.tz is None) == (wanted.tz is None)
    return types.is_integer(wanted) and types.is_integer(kind)


class Group:
    """A row group of a file."""

    def __init__(self, symbol, uri, file, number):
        self.symbol, self.uri, self.number = symbol, uri, number
        self.metadata = file.metadata.row_group(number)
        self.rows = self.metadata.num_rows

    def span(self, columns):
        """Its first and last time; None where a time is null."""
        column = _column(self.metadata, "timestamp")
        known = column.statistics if column else None
        if known and known.has_min_max and known.has_null_count and known.physical_type == "INT64":
            return None if known.null_count else (known.min, known.max)
        times = self.read(pyarrow.schema([columns.field("timestamp")])).column(0)
        return None if times.null_count else tuple(pyarrow.compute.min_max(times).as_py().values())

    def read(self, columns):
        """Its rows, as a table of these columns; one that the file lacks is null."""
        file = pyarrow.parquet.ParquetFile(path_of(self.uri), coerce_int96_timestamp_unit="us", pre_buffer=False)
        table = file.read_row_group(self.number, columns=[name for name in columns.names if name in file.schema_arrow.names], use_threads=False)
        instants = [file.schema.column(k).path for k in range(len(file.schema)) if file.schema.column(k).physical_type == "INT96"]
        return pyarrow.Table.from_arrays([self._as(table, field, field.name in instants) for field in columns], schema=columns)

    def _as(self, table, field, instant):
        if field.name == "symbol":
            self._check_symbol(table)
            return pyarrow.repeat(pyarrow.scalar(self.symbol, field.type), self.rows)
        if field.name not in table.schema.names:
            return pyarrow.nulls(self.rows, field.type)
        column = table.column(field.name)
        if instant and pyarrow.types.is_timestamp(field.type):  # INT96: of UTC, without saying so
            column = column.cast(pyarrow.timestamp("us", field.type.tz))
        if not _exact(column.type, field.type):
            raise BadBars(f"{self.uri}: column {field.name} is of type {column.type}: {field.type} is needed, as in the other files")
        if pyarrow.types.is_float32(column.type) and pyarrow.types.is_float64(field.type):
            return by_text(column)
        return column if column.type == field.type else column.cast(field.type)

    def _check_symbol(self, table):
        column = table.column("symbol") if "symbol" in table.schema.names else []
        for other in pyarrow.compute.unique(column) if len(column) else ():
            if other.as_py() != self.symbol:
                raise BadBars(f"two symbols in one file: {self.uri}: {other.as_py()} is in the folder of {self.symbol}")


def _groups(symbol, uris):
    for uri in uris:
        file = pyarrow.parquet.ParquetFile(path_of(uri))
        yield from (Group(symbol, uri, file, number) for number in range(file.num_row_groups))


def _together(groups, columns):
    """Lists of row groups, each wholly before the next; those whose times overlap in one."""
    spans = [(group.span(columns), group) for group in groups if group.rows]
    try:
        spans.sort(key=lambda spanned: spanned[0][0])
    except TypeError:  # a null, or times of other types, which are refused when they are read
        return [[group for _, group in spans]]
    found = []
    for (first, last), group in spans:
        if found and first <= newest:
            found[-1].append(group)
            newest = max(last, newest)
        else:
            found.append([group])
            newest = last
    return found


def _in_order(table, last):
    """The rows sorted by time and `last`; most files are."""
    keys = [table.column(name) for name in ("timestamp", *last)]
    if not any(key.null_count for key in keys):
        rises, same = False, True
        for key in keys:
            values = key.cast(pyarrow.int64()).to_numpy()
            rises |= same & (values[1:] > values[:-1])
            same = same & (values[1:] == values[:-1])
        if numpy.all(rises | same):
            return table
    return table.sort_by([(name, "ascending") for name in ("timestamp", *last)])


def rows_of(symbol, uris, columns, last=()):
    """Batches of a symbol's rows, in the order of time; a row group is in memory meanwhile, or those whose times overlap."""
    for groups in _together(_groups(symbol, uris), columns):
        table = pyarrow.concat_tables([group.read(columns) for group in groups])
        yield from _in_order(table, last).combine_chunks().to_batches(max_chunksize=ROWS)


def running(plan, columns, last, steps):
    """What mapInArrow() calls over the numbers of symbols."""

    def run(batches):
        rows = (batch for numbers in batches for number in numbers.column("id").to_pylist() for batch in rows_of(*plan[number], columns, last))
        for step in steps:
            rows = step(rows)
        return rows

    return run
