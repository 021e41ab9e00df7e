"""Arrow batches of a partition: cut into stretches of one key, joined with columns. No loop over rows."""

import numpy
import pyarrow

OWN = ("slice", "state", "warm")  # columns that cut="time" adds, and the library reads


def joined(batch, columns):
    """The batch with these columns behind its own."""
    return pyarrow.RecordBatch.from_arrays([*batch.columns, *columns.columns], names=[*batch.schema.names, *columns.schema.names])


def _codes(column):
    """Whole numbers that differ where the column's neighbours do."""
    if pyarrow.types.is_integer(column.type):
        return column.to_numpy(zero_copy_only=False)
    return column.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)


def stretches(batch, keys):
    """(key, rows) of each stretch of rows that agree in all columns of `keys`, in order."""
    if batch.num_rows == 0:
        return
    columns = [batch.column(name) for name in keys]
    differs = numpy.zeros(batch.num_rows - 1, dtype=bool)
    for column in columns:
        differs |= numpy.diff(_codes(column)) != 0
    begins = [0, *(numpy.flatnonzero(differs) + 1).tolist(), batch.num_rows]
    for begin, end in zip(begins, begins[1:]):
        yield tuple(column[begin].as_py() for column in columns), batch.slice(begin, end - begin)


def without_own(batch):
    """The batch without the columns OWN."""
    return batch.select([name for name in batch.schema.names if name not in OWN])


def by_text(column):
    """An Arrow array of float32 as float64, each number as its shortest text says."""
    return column.cast(pyarrow.string()).cast(pyarrow.float64())
