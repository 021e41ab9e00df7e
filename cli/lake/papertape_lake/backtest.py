"""backtest FILE VERSION: writes the records of a backtest into one file, Parquet or, of FILE.arrow, an Arrow file (Feather).

The first request is {"look": true}, whose answer says whether FILE can be written; the next {"schema": [[name, type], …]}, the columns of
all records, of which `record` says what a row is. Then {"record": …, "columns": [[name, type], …], "bytes": …} with so many bytes of CSV
without a line of names, any number of times, each answered; a column that a record lacks is null there. {"end": true} puts FILE in its
place, whole, and is answered with its size. Without that request, or after an error, nothing is left of it."""

import io
import json
import os
import signal
import stat
import sys

import pyarrow as pa
import pyarrow.csv as pa_csv

from papertape_lake import rows
from papertape_lake.common import Refused, answer, words_of
from papertape_lake.manifest import sync_folder

# Numbers that are measured with, not booked: the exact ones are --trades, --orders and --ledger.
TYPES = rows.TYPES | {"decimal": pa.float64()}


def read_part(content, columns):
    return pa_csv.read_csv(
        io.BytesIO(content), read_options=pa_csv.ReadOptions(column_names=[name for name, _ in columns]),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=rows.cell_options(columns, TYPES)).cast(rows.schema_of(columns, TYPES))


def open_writer(file, path, schema):
    if path.endswith(".arrow"):
        return pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    return rows.parquet_writer(file, schema)


def place_of(path):
    """Where it goes, links followed."""
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise Refused(f"{path}: Is a directory" if os.path.isdir(path) else f"{path}: it is no regular file, and a file is put in its place whole")
    return os.path.realpath(path)


class Export:
    def __init__(self, path, version):
        self.path, self.version, self.rows = place_of(path), version, 0
        self.temporary = f"{self.path}.new-{os.getpid()}"
        self.file = open(self.temporary, "xb")

    def begin(self, columns):
        self.schema = rows.schema_of(columns, TYPES).with_metadata({"papertape.version": self.version, "papertape.layout": "papertape.backtest/1"})
        self.writer = open_writer(self.file, self.path, self.schema)

    def add(self, request, content):
        part = read_part(content, request["columns"])
        names = part.schema.names
        columns = [part.column(f.name) if f.name in names else pa.array([request["record"]] * part.num_rows, pa.string()) if f.name == "record"
                   else pa.nulls(part.num_rows, f.type) for f in self.schema]
        self.writer.write_table(pa.table(columns, schema=self.schema).combine_chunks())
        self.rows += part.num_rows

    def end(self):
        self.writer.close()
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        size = os.path.getsize(self.temporary)
        os.replace(self.temporary, self.path)
        sync_folder(os.path.dirname(self.path))
        return size

    def drop(self):
        if os.path.exists(self.temporary):
            os.unlink(self.temporary)


def serve(export, stream):
    for line in iter(stream.readline, b""):
        request = json.loads(line)
        if "schema" in request:
            export.begin(request["schema"])
            answer(columns=len(request["schema"]))
            continue
        if "end" in request:
            answer(bytes=export.end(), rows=export.rows)
            return
        content = stream.read(request["bytes"])
        if len(content) < request["bytes"]:
            return
        export.add(request, content)
        answer(rows=export.rows)


def main(path, version):
    export, stream = None, sys.stdin.buffer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program ends by it, and then its requests do
    try:
        if not stream.readline():
            return 0
        export = Export(path, version)
        answer(opened=True)
        serve(export, stream)
    except Refused as error:
        answer(error=str(error))
    except OSError as error:
        answer(error=f"{path}: {os.strerror(error.errno) if error.errno else words_of(error)}")
    except pa.ArrowException as error:
        answer(error=f"{path}: pyarrow {pa.__version__}: {words_of(error)}")
    else:
        return 0
    finally:
        if export:
            export.drop()
    return 1
