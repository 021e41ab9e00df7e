"""Writes the files of a lake for papertape export, which passes this script to Python: write.py DIR VERSION SOURCE [verify].

It is the only writer of DIR. A request is a line of JSON with what a file is to hold: its table, name and day, and how many rows and
bytes of CSV, with their SHA-256. The answer is {"rows": …, "kept": …, "written": false} where the manifest has a file of the same rows,
else {"send": true}: then come a line with the columns and their types and with which rows of an older file stay ("keep"), and the CSV,
whose answer is the same, "written" where the file is not what it was; with "damaged", "why" and "aside" where it could not be read,
and was renamed. The request {"end": true} closes the manifest.

A file is written under a temporary name, synced and renamed, and then is a line of DIR/_manifest.jsonl. A process that is killed in
between leaves nothing that the next one does not replace by the same bytes.

With the word verify it writes nothing, and its only answer is {"files": how many the manifest has, "wrong": [{"file", "why"}, …],
"unlisted": [names]}."""

import errno
import fcntl
import hashlib
import io
import json
import os
import signal
import sys


def answer(**fields):
    print(json.dumps(fields), flush=True)


try:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq
except ImportError as missing:
    answer(error=f"{sys.executable} (Python {sys.version.split()[0]}) lacks the package pyarrow ({missing}): install it, for example by "
                 f"{sys.executable} -m pip install pyarrow in a virtual environment; --python PATH or PAPERTAPE_PYTHON names another "
                 "Python")
    sys.exit(1)

SCHEMA = "papertape.lake/1"
TABLES = ("bars", "fills", "orders", "ledger", "equity")
MANIFEST = "_manifest.jsonl"
LOCK = "_lock"
TEMPORARY = ".tmp-"
ASIDE = "_damaged-"
GROUP_ROWS = 65536
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Spark's own default for decimals; 18 digits after the point are as many as any scale of Papertape's.
DECIMAL = pa.decimal128(38, 18)
TYPES = {"time": pa.timestamp("ns", tz="UTC"), "decimal": DECIMAL, "text": pa.string(), "int": pa.int64(), "real": pa.float64(),
         "bool": pa.bool_()}
HAS_CHECKSUMS = int(pa.__version__.split(".")[0]) >= 15  # of pages: 14 has none
WRITE_CHECKSUMS, VERIFY_CHECKSUMS = ({"write_page_checksum": True}, {"page_checksum_verification": True}) if HAS_CHECKSUMS else ({}, {})
READ_AS = {"time": pa.int64()}


class Refused(Exception):
    """A sentence for the user."""


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


def sync_folder(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_folder(path):
    """With those above it, each of which is synced, so that a power cut does not take the folder with its files."""
    if path and not os.path.isdir(path):
        make_folder(os.path.dirname(path))
        os.mkdir(path)
        sync_folder(os.path.dirname(path) or ".")


def put(path, write):
    """Writes a file whole or not at all: its size and SHA-256."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, TEMPORARY + name)
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        with open(temporary, "rb") as file:
            content = hashlib.sha256()
            while block := file.read(1 << 20):
                content.update(block)
        size = os.path.getsize(temporary)
        os.replace(temporary, path)
        sync_folder(folder)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return size, content.hexdigest()


class Manifest:
    """A line for the lake, then one for each file. While files are written lines are added behind them, of which the last one of a file
    counts; a line that a kill cut off is of a file that is written again."""

    def __init__(self, root, source):
        self.path, self.files, self.changed, self.log = os.path.join(root, MANIFEST), {}, False, None
        self.source = source
        if os.path.exists(self.path):
            self.read(root)
        else:
            self.changed = True

    def read(self, root):
        with open(self.path, "rb") as file:
            lines = file.read().split(b"\n")
        torn = lines.pop() != b""
        rows = []
        for number, line in enumerate(lines, 1):
            try:
                rows.append(json.loads(line))
            except ValueError:
                raise Refused(f"{self.path}:{number}: no line of JSON: the manifest was changed by another program: move it aside, and "
                              "all days that the database has are written again") from None
        self.changed = torn
        if not rows:
            self.changed = True
            return
        schema, source = rows[0].get("schema"), rows[0].get("source", "")
        if schema != SCHEMA:
            raise Refused(f"{self.path}: it is of {schema}, and this program writes {SCHEMA}: export into another folder")
        if source and self.source and source != self.source:
            raise Refused(f"{root}: it holds the rows of another database (its ledger began with {source[:12]}, and this one's with "
                          f"{self.source[:12]}): export into another folder")
        self.changed |= source != (self.source or source)
        self.source = self.source or source
        for row in rows[1:]:
            self.files[row["file"]] = row
        gone = [name for name in self.files if not os.path.exists(os.path.join(root, name))]
        for name in gone:  # by a user's hand
            del self.files[name]
        self.changed |= bool(gone)

    def head(self):
        return {"schema": SCHEMA, "source": self.source}

    def add(self, row):
        self.files[row["file"]] = row
        if self.log is None:
            self.rewrite()
            self.log = open(self.path, "ab")
            return
        self.log.write(json.dumps(row).encode() + b"\n")
        self.log.flush()
        os.fsync(self.log.fileno())
        self.changed = True

    def rewrite(self):
        rows = [self.head(), *(self.files[name] for name in sorted(self.files))]
        put(self.path, lambda file: file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
        self.changed = False

    def end(self):
        if self.log is not None:
            self.log.close()
        if self.changed:
            self.rewrite()


def schema_of(request):
    return pa.schema([pa.field(name, TYPES[kind]) for name, kind in request["columns"]])


def read_rows(stream, request):
    """The rows of the CSV that follows a request."""
    digest = hashlib.sha256()
    body = Body(stream, request["bytes"], digest)
    kinds = dict(request["columns"])
    table = pa_csv.read_csv(
        pa.PythonFile(io.BufferedReader(body, 1 << 20), mode="r"),
        read_options=pa_csv.ReadOptions(column_names=list(kinds), skip_rows=1, use_threads=True),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types={name: READ_AS.get(kind, TYPES[kind]) for name, kind in kinds.items()}, null_values=[""],
            true_values=["1"], false_values=["0"], strings_can_be_null=True, quoted_strings_can_be_null=False))
    if digest.hexdigest() != request["sha256"] or table.num_rows != request["rows"]:
        raise Refused(f"{request['table']} of {request['date']}: what came through the pipe is not what was sent: {table.num_rows} rows of "
                      f"{request['rows']}")
    return table.cast(schema_of(request))


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
        old = pq.ParquetFile(path, **VERIFY_CHECKSUMS).read()
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EIO):  # of memory or rights, and not of the file
            raise Refused(f"{path}: it cannot be read ({error.strerror})") from None
        raise Damaged(str(error).splitlines()[0]) from None
    return conform(old, schema, path)


def set_aside(path):
    """Under a name that is no data: what it may hold alone, since the database no longer has it, is not lost. Where it is now."""
    folder, name = os.path.split(path)
    number, place = 1, os.path.join(folder, ASIDE + name)
    while os.path.exists(place):
        number, place = number + 1, os.path.join(folder, f"{ASIDE}{number + 1}-{name}")
    os.rename(path, place)
    sync_folder(folder)
    return place


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


def write_table(file, table, metadata):
    schema = table.schema.with_metadata(metadata)
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    with pq.ParquetWriter(file, schema, version="2.6", compression="zstd", compression_level=3, use_dictionary=texts,
                          write_statistics=True, **WRITE_CHECKSUMS) as writer:
        for at in range(0, table.num_rows, GROUP_ROWS):  # each without its chunks, which depend on how it was read
            writer.write_table(table.slice(at, GROUP_ROWS).replace_schema_metadata(metadata).combine_chunks(), row_group_size=GROUP_ROWS)


def lake_above(root):
    """The folder above with a manifest; None: there is none."""
    path = os.path.dirname(os.path.realpath(root))
    while not os.path.exists(os.path.join(path, MANIFEST)):
        if path == os.path.dirname(path):
            return None
        path = os.path.dirname(path)
    return path


class Lake:
    def __init__(self, root, version, source):
        self.root, self.version = os.path.normpath(root), version
        if os.path.exists(root) and not os.path.isdir(root):
            raise Refused(f"{root}: it is no folder")
        if within := lake_above(self.root):
            raise Refused(f"{root}: it is within the lake {within}, whose tables would be mixed with this one's: --parquet {within}, or a "
                          "folder beside it")
        make_folder(self.root)
        self.lock = open(os.path.join(self.root, LOCK), "ab")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"{root}: another papertape export writes there: wait until it has ended") from None
        self.remove_temporary()
        self.manifest = Manifest(self.root, source)

    def remove_temporary(self):
        """What processes that were killed left."""
        folders = [self.root]
        for table in TABLES:
            path = os.path.join(self.root, table)
            days = os.listdir(path) if os.path.isdir(path) else []
            folders += [os.path.join(path, day) for day in days if day.startswith("date=")]
        for folder in folders:
            for name in os.listdir(folder):
                if name.startswith(TEMPORARY) and (folder != self.root or name == TEMPORARY + MANIFEST):
                    os.unlink(os.path.join(folder, name))

    def has(self, name, request):
        """The manifest's line of a file of these rows; None: there is none, or its file is gone, or of another size."""
        row, path = self.manifest.files.get(name), os.path.join(self.root, name)
        same = (row is not None and row["source_sha256"] == request["sha256"] and os.path.isfile(path)
                and os.path.getsize(path) == row["bytes"])
        return row if same else None

    def write(self, name, request, table):
        path = os.path.join(self.root, name)
        kept, more = 0, {}
        try:
            old = read_old(path, table.schema)
        except Damaged as why:
            old, more = None, {"damaged": path, "why": str(why), "aside": set_aside(path)}
        if old is not None:
            table, kept = merge(old, table, request["keep"])
        row = {"file": name, "rows": table.num_rows, "source_rows": request["rows"], "source_sha256": request["sha256"]}
        listed = self.manifest.files.get(name)
        same = old is not None and listed is not None and listed["bytes"] == os.path.getsize(path) and old.equals(table)
        if same:
            row |= {"bytes": listed["bytes"], "sha256": listed["sha256"]}
        else:
            metadata = {"papertape.version": self.version, "papertape.layout": f"{SCHEMA} {request['table']}",
                        "papertape.source": self.manifest.source}
            make_folder(os.path.dirname(path))
            row["bytes"], row["sha256"] = put(path, lambda file: write_table(file, table, metadata))
        self.manifest.add(row)
        return {"rows": table.num_rows, "kept": kept, "written": not same} | more

    def serve(self, stream):
        """Answers requests until the end; of a stream that ends before it, what was written stays."""
        for line in iter(stream.readline, b""):
            request = json.loads(line)
            if "end" in request:
                self.manifest.end()
                answer(end=True)
                return
            name = f"{request['table']}/date={request['date']}/{request['name']}.parquet"
            if row := self.has(name, request):
                answer(rows=row["rows"], kept=row["rows"] - row["source_rows"], written=False)
                continue
            answer(send=True)
            request |= json.loads(stream.readline() or b"{}")
            if "columns" not in request:
                raise EOFError
            answer(**self.write(name, request, read_rows(stream, request)))


# ---- verify ----

MENDED = ("move it aside, and papertape export writes it again of what the database has; what only the lake has of it ([retention]) is in a "
          "copy of the lake alone")


def hash_of(path):
    content = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            content.update(block)
    return content.hexdigest()


def wrong_with(path, row):
    """None: it is as the manifest says."""
    if not os.path.exists(path):
        return "it is missing: papertape export writes it again"
    size = os.path.getsize(path)
    if size != row["bytes"]:
        return f"it has {size} bytes, and had {row['bytes']}: {MENDED}"
    found = hash_of(path)
    return None if found == row["sha256"] else f"its SHA-256 is {found[:12]}…, and was {row['sha256'][:12]}…: {MENDED}"


def listed_files(path):
    """{name: its last line} of a manifest; a last line that a kill cut off is of a file that is written again."""
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    found = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            row = json.loads(line)
            found[row["file"]] = {key: row[key] for key in ("bytes", "sha256")}
        except (ValueError, KeyError, TypeError):
            raise Refused(f"{path}:{number}: no line of a file: the manifest was changed by another program") from None
    return found


def verify(root):
    path = os.path.join(root, MANIFEST)
    if not os.path.exists(path):
        raise Refused(f"{root}: it has no {MANIFEST}: a folder that papertape export wrote is needed")
    with open(os.path.join(root, LOCK), "rb") if os.path.exists(os.path.join(root, LOCK)) else open(path, "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"{root}: a papertape export writes there: wait until it has ended") from None
        listed = listed_files(path)
        found = {name: wrong_with(os.path.join(root, name), row) for name, row in sorted(listed.items())}
        here = sorted(os.path.relpath(os.path.join(folder, name), root) for table in TABLES for folder, _, names in os.walk(os.path.join(root, table))
                      for name in names if name.endswith(".parquet") and not name.startswith((".", "_")))
    answer(files=len(listed), wrong=[{"file": name, "why": why} for name, why in found.items() if why],
           unlisted=[name for name in here if name not in listed])


def main(root, version, source, what="write"):
    answer(executable=sys.executable, python=sys.version.split()[0], pyarrow=pa.__version__)
    try:
        if what == "verify":
            verify(os.path.normpath(root))
        else:
            Lake(root, version, source).serve(sys.stdin.buffer)
    except Refused as error:
        answer(error=str(error))
    except OSError as error:
        after = ": the files that were written stay, and the same command continues" if error.errno in NO_ROOM else ""
        answer(error=f"{error.filename or root}: {error.strerror or error}{after}")
    except pa.ArrowException as error:
        answer(error=f"{root}: pyarrow {pa.__version__}: {str(error).splitlines()[0]}")
    except EOFError:
        sys.exit(1)  # the program has gone, and nothing reads an answer
    else:
        return 0
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(*sys.argv[1:]))
