"""The rows of a lake's file: out of the program's CSV, out of an older file, both as one, and into Parquet."""

import errno
import hashlib
import io
import os

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from papertape_lake.common import HAS_CHECKSUMS, Refused, open_parquet, words_of

GROUP_ROWS = 65536
# Spark's own default for decimals; 18 digits after the point are as many as any scale of Papertape's.
DECIMAL = pa.decimal128(38, 18)
TYPES = {"time": pa.timestamp("ns", tz="UTC"), "decimal": DECIMAL, "text": pa.string(), "int": pa.int64(), "real": pa.float64(),
         "bool": pa.bool_()}


class Damaged(Exception):
    """What is wrong with a file."""


class Body(io.RawIOBase):
    """The bytes of CSV that follow a request, hashed as they are read. Reads are whole, so that what is made of them does not depend on
    how the pipe divides them."""

    def __init__(self, source, size, digest):
        super().__init__()
        self.source, self.left, self.digest = source, size, digest

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self.source.read(min(len(buffer), self.left))
        if len(data) < min(len(buffer), self.left):
            raise EOFError
        self.left -= len(data)
        self.digest.update(data)
        buffer[:len(data)] = data
        return len(data)


def schema_of(columns, types=TYPES):
    return pa.schema([pa.field(name, types[kind]) for name, kind in columns])


def cell_options(columns, types=TYPES):
    """How cells of the program's CSV are read: times as nanoseconds, until they are cast; what is empty is null."""
    return pa_csv.ConvertOptions(
        column_types={name: pa.int64() if kind == "time" else types[kind] for name, kind in columns}, null_values=[""],
        true_values=["1"], false_values=["0"], strings_can_be_null=True, quoted_strings_can_be_null=False)


def read_rows(stream, request):
    """The rows of the CSV that follows a request."""
    digest = hashlib.sha256()
    body = Body(stream, request["bytes"], digest)
    columns = request["columns"]
    table = pa_csv.read_csv(
        pa.PythonFile(io.BufferedReader(body, 1 << 20), mode="r"),
        read_options=pa_csv.ReadOptions(column_names=[name for name, _ in columns], skip_rows=1, use_threads=True),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True), convert_options=cell_options(columns))
    if digest.hexdigest() != request["sha256"] or table.num_rows != request["rows"]:
        raise Refused(f"{request['table']} of {request['date']}: what came through the pipe is not what was sent: {table.num_rows} rows of "
                      f"{request['rows']}")
    return table.cast(schema_of(columns))


def conform(old, schema, path):
    """The older file's rows with the columns of now; a column that it lacks is null."""
    by = (old.schema.metadata or {}).get(b"papertape.version", b"another program").decode()
    for field in old.schema:
        at = schema.get_field_index(field.name)
        if at < 0 or schema.field(at).type != field.type:
            expected = "no column of that name is known" if at < 0 else f"{schema.field(at).type} is expected"
            raise Refused(f"{path}: its column {field.name} is {field.type}, and {expected}: it was written by {by}: move it aside, or "
                          "export into another folder")
    columns = [old.column(field.name) if field.name in old.schema.names else pa.nulls(old.num_rows, field.type) for field in schema]
    return pa.table(columns, schema=schema)


def read_old(path, schema):
    """What an older file holds; None: there is none. Damaged where it cannot be read."""
    if not os.path.exists(path):
        return None
    try:
        old = open_parquet(path).read()
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EIO):  # of memory or rights, and not of the file
            raise Refused(f"{path}: it cannot be read ({error.strerror})") from None
        raise Damaged(words_of(error)) from None
    return conform(old, schema, path)


def values(table, names):
    """Its rows' values of some columns, times as numbers."""
    columns = [table.column(name) for name in names]
    columns = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in columns]
    return list(zip(*(column.to_pylist() for column in columns)))


def stays(old, new, keep):
    """Which rows of an older file the database no longer has, since they were pruned, and not since they were corrected: those before
    the first row that it has of their series, or, where rows in between are thinned, all."""
    here = set(values(new, keep["key"]))
    floors = {tuple(floor[:-1]): floor[-1] for floor in keep.get("floors", [])}
    groups = values(old, keep["group"]) if keep.get("group") else [()] * old.num_rows
    mask = []
    for key, group in zip(values(old, keep["key"]), groups):
        pruned = keep.get("all", False) or group not in floors or key[-1] < floors[group]
        mask.append(pruned and key not in here)
    return pa.array(mask, pa.bool_())


def merge(old, new, keep):
    """(the rows that a file is to hold, how many of them only the older file has)"""
    kept = old.filter(stays(old, new, keep))
    if kept.num_rows == 0:
        return new, 0
    return pa.concat_tables([new, kept]).sort_by([(name, "ascending") for name in keep["key"]]), kept.num_rows


def parquet_writer(file, schema):
    checksums = {"write_page_checksum": True} if HAS_CHECKSUMS else {}
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return pq.ParquetWriter(file, schema, version="2.6", compression="zstd", compression_level=3, use_dictionary=texts, write_statistics=True,
                            **checksums)


def write_table(file, table, metadata):
    with parquet_writer(file, table.schema.with_metadata(metadata)) as writer:
        for at in range(0, table.num_rows, GROUP_ROWS):  # each without its chunks, which depend on how it was read
            writer.write_table(table.slice(at, GROUP_ROWS).replace_schema_metadata(metadata).combine_chunks(), row_group_size=GROUP_ROWS)
