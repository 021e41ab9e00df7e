"""Parquet files of one symbol, read by pyarrow: its rows in the order of time, whatever the order of files, row groups and rows."""

import urllib.parse

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

from .batches import by_text
from .library import BadBars

ROWS = 10000  # in a batch


def path_of(uri):
    return urllib.parse.unquote(urllib.parse.urlparse(uri).path)


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
