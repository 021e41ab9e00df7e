"""Files that tasks of papertape_spark read by themselves: rows cut into files and row groups anywhere, in any order and of
other types, come in the order of time, each once; what is refused; no Spark is needed: python3 files_test.py"""

import tempfile
from pathlib import Path

from checks import check, done, refused, seeded

import numpy as np
import pyarrow
import pyarrow.parquet
from papertape_spark import BadBars, files
from papertape_spark.batches import by_text

COLUMNS = pyarrow.schema([("symbol", pyarrow.string()), ("timestamp", pyarrow.timestamp("us", "UTC")), ("close", pyarrow.float64()), ("id", pyarrow.int64())])
ROUNDS, ROWS = 60, 900


def rows(rng, rises=True):
    """Rows of one symbol in order; without `rises` some have one time and ids in order."""
    steps = rng.integers(1 if rises else 0, 5, ROWS)
    times = 1_704_067_200_000 + np.cumsum(steps)  # ms
    return pyarrow.table([pyarrow.array(["X"] * ROWS), pyarrow.array(times * 1000, COLUMNS.field("timestamp").type), by_text(pyarrow.array(rng.normal(100, 1, ROWS).astype(np.float32))), np.arange(ROWS)], schema=COLUMNS)


def dressed(rng, table):
    """The same values in other types."""
    kinds = {"symbol": [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), None],
             "timestamp": [pyarrow.timestamp("us", "UTC"), pyarrow.timestamp("ms", "UTC")], "close": [pyarrow.float64(), pyarrow.float32()], "id": [pyarrow.int64(), pyarrow.int32()]}
    for name, choices in kinds.items():
        kind = choices[rng.integers(len(choices))]
        at = table.schema.get_field_index(name)
        table = table.drop_columns(name) if kind is None else table.set_column(at, name, table.column(name).cast(kind))
    return table


def stored(rng, folder, table, shuffled, options):
    """The table in files of some row groups, dealt in order or at random: their URIs, and how many groups there are."""
    folder.mkdir()
    order = rng.permutation(ROWS) if shuffled else np.arange(ROWS)
    cuts = [0, *sorted(rng.integers(0, ROWS, rng.integers(0, 6))), ROWS]
    uris, groups = [], 0
    for k in rng.permutation(len(cuts) - 1):
        path = folder / f"{len(uris)} %.parquet"
        part = dressed(rng, table.take(order[cuts[k] : cuts[k + 1]]))
        pyarrow.parquet.write_table(part, path, row_group_size=int(rng.integers(50, ROWS)), **options)
        metadata = pyarrow.parquet.read_metadata(path)
        groups += sum(metadata.row_group(group).num_rows > 0 for group in range(metadata.num_row_groups))
        uris.append(path.as_uri())
    return uris, groups


def any_files(rng, scratch):
    for turn in range(ROUNDS):
        rises, shuffled = turn % 3 > 0, turn % 2 > 0
        options = [{}, {"write_statistics": False}, {"use_deprecated_int96_timestamps": True}, {"compression": "zstd", "data_page_size": 512}][turn // 4 % 4]
        table = rows(rng, rises)
        uris, groups = stored(rng, scratch / str(turn), table, shuffled, options)
        found = pyarrow.Table.from_batches(list(files.rows_of("X", uris, COLUMNS, () if rises else ("id",))), COLUMNS)
        check(found.equals(table), f"round {turn}: {options}, shuffled {shuffled}: the rows differ")
        if not shuffled and rises:  # a row group is in memory at once, no more
            together = files._together(files._groups("X", uris), COLUMNS)
            check([len(one) for one in together] == [1] * groups, f"round {turn}: {[len(one) for one in together]} row groups together of {groups}")


def wrong_files(rng, scratch):
    table, fields = rows(rng), COLUMNS.names

    def of(name, changed):
        path = scratch / name
        pyarrow.parquet.write_table(changed, path)
        return lambda symbol="X": list(files.rows_of(symbol, [path.as_uri()], COLUMNS))

    def bad(part, call):
        refused(part, call, BadBars)

    bad(f"two symbols in one file: {(scratch / 'one').as_uri()}: X is in the folder of Y", lambda: of("one", table)("Y"))
    part = pyarrow.array(["X"] * (ROWS - 1) + ["Z"])
    bad("Z is in the folder of X", of("two", table.set_column(0, "symbol", part)))
    bad("in the folder of X", of("null", table.set_column(0, "symbol", pyarrow.array(["X"] * (ROWS - 1) + [None]))))
    for name, kind in (("close", pyarrow.string()), ("close", pyarrow.int64()), ("timestamp", pyarrow.timestamp("us"))):
        at = fields.index(name)
        bad(f"column {name} is of type {kind}", of(f"{name} {kind}", table.set_column(at, name, table.column(name).cast(kind, safe=False))))
    lacking = pyarrow.Table.from_batches(of("lacking", table.drop_columns("close"))())
    check(lacking.column("close").null_count == ROWS, "a column that a file lacks is null")
    check(of("none", table.slice(0, 0))() == [], "a file without rows")
    check(files.symbol_of_footer(scratch / "one") == "X" and files.symbol_of_footer(scratch / "two") is None, "a file's symbol by its footer")


rng = seeded("spark/files", 41)
with tempfile.TemporaryDirectory(prefix="papertape-spark-") as folder:
    any_files(rng, Path(folder))
    wrong_files(rng, Path(folder))
done("spark/files")
