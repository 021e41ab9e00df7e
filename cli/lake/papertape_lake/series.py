"""A symbol's bars out of Parquet on their way into a file of CSV, and back to the row that a bar came from."""

import os

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from papertape_lake.source import KEY, NUMBERS
from papertape_lake.symbols import one_of


class WrongBar(Exception):
    """A series' bar, by its number from 0 on, and what is wrong with it."""


class Series:
    """A symbol's bars on their way into a file of bars."""

    def __init__(self, path, symbol, groups, out, interval, number):
        self.where = f"{path}: {symbol}"
        self.symbol = symbol
        groups = one_of(groups, 1, "venues", self.where)
        groups = one_of(groups, 2, "sources", self.where, prefer="venue")
        groups = one_of(groups, 3, "intervals", self.where, remedy="--interval names one")
        self.key = next(iter(groups))
        interval = interval or self.key[3]
        self.path = os.path.join(out, f"{number}_{interval}.csv" if interval else f"{number}.csv")  # its symbol is answered beside it
        self.file, self.rows, self.last = None, 0, []  # last: the newest time, as a chunk
        self.parts = []  # (file, its rows)

    def of(self, table):
        """Its rows."""
        for name, value in zip(KEY, self.key):
            if value is not None and name in table.column_names:
                table = table.filter(pc.equal(table.column(name), value))
        return table

    def check_times(self, times):
        """Rising, without the same time twice."""
        before = times.slice(0, len(times) - 1)
        before = pa.chunked_array([*self.last, *before.chunks], times.type)
        later = pc.greater(times.slice(0 if self.rows else 1), before)
        if pc.all(later).as_py() is False:
            at = pc.index(later, False).as_py()
            row, now, then = at + (0 if self.rows else 1), times[at + (0 if self.rows else 1)], before[at]
            why = ("the same time as the bar before it: a bar comes twice" if now.equals(then) else
                   f"before {then}, the bar before it: sort them by time")
            raise WrongBar(self.rows + row, f" is of {now}, {why}")

    def place(self, bar):
        """(the file of the bar of that number from 0 on, which of its bars there it is)"""
        for path, rows in self.parts:
            if bar < rows:
                return path, bar
            bar -= rows
        return None

    def words_of(self, bar, source):
        """Where the bar of that number from 0 on is: "FILE: row 7 (row group 0)"."""
        path, left = self.place(bar) or (None, 0)
        if path is None:
            return self.where
        table = source.read(path, ("open_time", *KEY), whole=True)
        mask = pa.chunked_array([pa.array([True] * table.num_rows)])
        for name, value in zip(KEY, self.key):
            if value is not None and name in table.column_names:
                mask = pc.and_(mask, pc.equal(table.column(name), value))
        row = pc.indices_nonzero(mask)[left].as_py()
        metadata, group, first = source.file_of(path).metadata, 0, 0
        while row >= first + metadata.row_group(group).num_rows:
            first, group = first + metadata.row_group(group).num_rows, group + 1
        return f"{path}: row {row + 1} (row group {group}), {self.symbol}"

    def add(self, table, path):
        table = self.of(table)
        if table.num_rows == 0:
            return
        self.parts.append((path, table.num_rows))
        times = table.column("open_time")
        self.check_times(times)
        columns = {"open_time": time_texts(times)}
        columns |= {name: self.number_texts(table.column(name), name) for name in NUMBERS}
        if "session" in table.column_names:
            columns["session"] = table.column("session").fill_null("none")
        made = pa.table(columns)
        if self.file is None:
            self.file = pa_csv.CSVWriter(self.path, made.schema, write_options=pa_csv.WriteOptions(quoting_style="none"))
        self.file.write_table(made)
        self.rows, self.last = self.rows + table.num_rows, times.slice(len(times) - 1).chunks

    def number_texts(self, array, name):
        if pa.types.is_floating(array.type):
            wrong = pc.invert(pc.is_finite(array))
            if pc.any(wrong).as_py():
                row = pc.index(wrong, True).as_py()
                raise WrongBar(self.rows + row, f": {name} is {array[row]}: a number is needed")
        return array.cast(pa.string())

    def end(self):
        if self.file is not None:
            self.file.close()


def time_texts(array):
    """As a bars file has them: nanoseconds where the zone is known."""
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return array.cast(pa.timestamp("ns", tz=kind.tz)).cast(pa.int64()).cast(pa.string())
    if pa.types.is_timestamp(kind):
        return pc.strftime(array.cast(pa.timestamp("ns")), "%Y-%m-%dT%H:%M:%S")
    return array.cast(pa.string())
