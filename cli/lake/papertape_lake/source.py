"""The files of Parquet that are read together: their columns, found by name, and the rows of the symbols that are asked for."""

import pyarrow as pa
import pyarrow.compute as pc

from papertape_lake.common import Refused, open_parquet, words_of
from papertape_lake.files import listing, partitions

TIMES = ("open_time", "timestamp", "unix", "datetime", "date", "time")  # as in a bars file of CSV
NUMBERS = ("open", "high", "low", "close", "volume")
KEY = ("symbol", "venue", "source", "interval")
OTHERS = (*KEY, "session")


def columns_of(schema, path, known):
    """{bars' name: the file's}; a column that is missing is refused. `known`: what the folders say."""
    by_name = {}
    for name in schema.names:
        key = name.lower()
        if key in by_name and key in (*TIMES, *NUMBERS, *OTHERS):
            raise Refused(f"{path}: it has a column {by_name[key]} and a column {name}: names are taken in any case: leave one of them out")
        by_name.setdefault(key, name)
    time = next((name for name in TIMES if name in by_name), None)
    missing = [name for name in NUMBERS if name not in by_name]
    if time is None or missing:
        what = " and ".join((["a time (" + ", ".join(TIMES) + ")"] if time is None else []) + missing)
        raise Refused(f"{path}: {what} is missing; its columns are {listing(schema.names, 20)}")
    return {"open_time": by_name[time]} | {name: by_name[name] for name in (*NUMBERS, *OTHERS) if name in by_name and name not in known}


def check_types(schema, columns, path):
    for name in NUMBERS:
        kind = schema.field(columns[name]).type
        if not (pa.types.is_decimal(kind) or pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise Refused(f"{path}: its column {columns[name]} is {kind}: a decimal, a double or an integer is needed")
    kind = schema.field(columns["open_time"]).type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_integer(kind) or is_text(kind)):
        raise Refused(f"{path}: its column {columns['open_time']} is {kind}: a timestamp, a date or an epoch is needed")


def unreadable(path, error):
    return Refused(f"{path}: it cannot be read as Parquet ({words_of(error)})")


def is_text(kind):
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return str(kind) in ("string", "large_string", "string_view")


def groups_of(file, column, symbols):
    """The row groups that may have one of the symbols, by their statistics: a lake's files are sorted by symbol."""
    metadata, groups = file.metadata, []
    names = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    for i in range(metadata.num_row_groups):
        found = metadata.row_group(i).column(names.index(column)).statistics if column in names else None
        if found is None or not found.has_min_max or any(found.min <= name <= found.max for name in symbols):
            groups.append(i)
    return groups


class Source:
    """The files that are read together, whose columns have the same types."""

    def __init__(self, files, root, symbols):
        self.files, self.root, self.symbols, self.first = files, root, symbols, None
        self.named = {}  # what files' names say, where nothing else does

    def lacking(self):
        """The files whose symbol is in no column and in no folder."""
        schema = self.file_of(self.files[0]).schema_arrow
        if any(name.lower() == "symbol" for name in schema.names):
            return []
        return [path for path in self.files if "symbol" not in partitions(path, self.root)]

    @staticmethod
    def file_of(path):
        try:
            return open_parquet(path)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(path, error) from None

    def open(self, path):
        """(the file, {bars' name: its column}, what its folders say)"""
        file = self.file_of(path)
        known = {name: value for name, value in partitions(path, self.root).items() if name in OTHERS} | self.named.get(path, {})
        columns = columns_of(file.schema_arrow, path, known)
        check_types(file.schema_arrow, columns, path)
        types = {name: "text" if name in OTHERS else str(file.schema_arrow.field(column).type) for name, column in sorted(columns.items())}
        if self.first is None:
            self.first = path, types
        if types != self.first[1]:
            name = next(name for name in sorted({*types, *self.first[1]}) if types.get(name) != self.first[1].get(name))
            raise Refused(f"{path}: its column {name} is {types.get(name, 'missing')}, and in {self.first[0]} it is "
                          f"{self.first[1].get(name, 'missing')}: files that are read together have one schema")
        return file, columns, known

    def read(self, path, names, whole=False):
        """Some columns of a file, of the symbols that are asked for; whole: every row."""
        try:
            file, columns, known = self.open(path)
            groups = list(range(file.num_row_groups))
            if self.symbols and "symbol" in columns and not whole:
                groups = groups_of(file, columns["symbol"], self.symbols)
            table = file.read_row_groups(groups, columns=[columns[name] for name in names if name in columns])
        except (pa.ArrowException, OSError) as error:
            raise unreadable(path, error) from None
        arrays = {}
        for name in names:
            if name in columns:
                array = table.column(columns[name])
                arrays[name] = array.cast(pa.string()) if name in OTHERS else array
            elif name in known:
                arrays[name] = pa.array([known[name]] * table.num_rows, pa.string())
            if name not in OTHERS and arrays[name].null_count:
                row = pc.index(arrays[name].is_null(), True).as_py() + 1
                where = f"row {row}" if len(groups) == file.num_row_groups else "a row"
                raise Refused(f"{path}: {where}: {columns[name]} is null: a bar has all of time, open, high, low, close and volume")
        table = pa.table(arrays)
        if self.symbols and "symbol" in arrays and path not in self.named and not whole:
            table = table.filter(pc.is_in(table.column("symbol"), pa.array(self.symbols)))
        return table
