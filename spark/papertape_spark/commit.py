"""Rows of a DataFrame into Parquet files, one a symbol: a name that says the symbol and what the rows follow from, written
under another name and then renamed. A task that runs again, or a second one beside it, makes the same file in the same
place; what is there is not written again.
"""

import hashlib
import os
import posixpath
import urllib.parse
import uuid

import pyarrow
import pyarrow.parquet
from pyarrow import fs

from . import tasks
from .batches import stretches

SUFFIX = ".parquet"
UNFINISHED = ".unfinished"
GROUP_ROWS = 1 << 17  # rows of a row group, which are in memory meanwhile
KEY_DIGITS = 16
STEM_MOST = 170  # bytes; a file's name has 255, of which an unfinished one's other parts are 70
REPORT = "symbol string, file string, rows bigint, written boolean"


def stem(symbol):
    """A symbol in a file's name: letters that a path or a pattern may read otherwise are %XX; so is a leading . or _, whose
    files readers take for no data. Of a long one its beginning and its digest."""
    text = urllib.parse.quote(symbol, safe="")
    if text[:1] in (".", "_"):
        text = f"%{ord(text[0]):02X}{text[1:]}"
    if len(text) > STEM_MOST:
        text = text[: STEM_MOST - 2 - KEY_DIGITS].rsplit("%", 1)[0] + "~" + key_of(symbol)[:KEY_DIGITS]
    return text


def file_name(symbol, key):
    """BTCUSDT-0123456789abcdef.parquet"""
    return f"{stem(symbol)}-{key[:KEY_DIGITS]}{SUFFIX}"


def key_of(*parts):
    """What rows follow from, as hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(str(part).encode() + b"\0")
    return digest.hexdigest()


class Place:
    """The output's folder: a path, or a URI that pyarrow.fs takes (file, hdfs, s3, gs)."""

    def __init__(self, where):
        if "://" in where:
            self.system, self.path = fs.FileSystem.from_uri(where)
        else:
            self.system, self.path = fs.LocalFileSystem(), os.path.abspath(where)
        self.local = isinstance(self.system, fs.LocalFileSystem)

    def at(self, name):
        return posixpath.join(self.path, name)

    def names(self):
        found = self.system.get_file_info(fs.FileSelector(self.path, allow_not_found=True))
        return [info.base_name for info in found if info.type == fs.FileType.File]

    def has(self, name):
        return self.system.get_file_info(self.at(name)).type == fs.FileType.File

    def make(self):
        self.system.create_dir(self.path, recursive=True)

    def delete(self, name):
        try:
            self.system.delete_file(self.at(name))
        except FileNotFoundError:
            pass

    def _sync(self, path):
        if self.local:
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def commit(self, unfinished, name):
        """Renames it, once its bytes are on the disk."""
        self._sync(self.at(unfinished))
        try:
            self.system.move(self.at(unfinished), self.at(name))
        except OSError:
            if not self.has(name):  # else another task has made the same file
                raise
            self.delete(unfinished)
        self._sync(self.path)

    def rows(self, name):
        return pyarrow.parquet.read_metadata(self.at(name), filesystem=self.system).num_rows


class Writing:
    """A symbol's file, while it is written."""

    def __init__(self, place, name, schema):
        self.place, self.name = place, name
        self.unfinished = f".{name}.{uuid.uuid4().hex}{UNFINISHED}"
        self.batches, self.waiting, self.rows = [], 0, 0
        # A dictionary of numbers that hardly repeat is made, found too long and thrown away: three quarters of the time.
        words = [field.name for field in schema if pyarrow.types.is_string(field.type)]
        self.writer = pyarrow.parquet.ParquetWriter(place.at(self.unfinished), schema, filesystem=place.system, compression="zstd", use_dictionary=words)

    def add(self, batch):
        self.batches.append(batch)
        self.waiting += batch.num_rows
        self.rows += batch.num_rows
        if self.waiting >= GROUP_ROWS:
            self.flush()

    def flush(self):
        if self.batches:
            self.writer.write_table(pyarrow.Table.from_batches(self.batches))
        self.batches, self.waiting = [], 0

    def commit(self, stale=()):
        """What it replaces goes first: at no moment are there rows of both."""
        self.flush()
        self.writer.close()
        for name in stale:
            self.place.delete(name)
        self.place.commit(self.unfinished, self.name)

    def drop(self):
        self.writer.close()
        self.place.delete(self.unfinished)


def write_empty(place, name, schema, stale=()):
    Writing(place, name, schema).commit(stale)


def stale_files(names, keys):
    """Which of the folder's files are a symbol's whose rows follow from something else now: {symbol: [name]}."""
    symbols = {stem(symbol): symbol for symbol in keys}
    found = {}
    for name in names:
        symbol = symbols.get(stem_of(name))
        if symbol is not None and name != file_name(symbol, keys[symbol]):
            found.setdefault(symbol, []).append(name)
    return found


def stem_of(name):
    """What stem() gave; None of a file that is none of ours."""
    return name[: -len(SUFFIX) - KEY_DIGITS - 1] if name.endswith(SUFFIX) and not name.startswith((".", "_")) else None


def gone_files(names, symbols):
    """Which of the folder's files are of symbols that are not among these."""
    stems = {stem(symbol) for symbol in symbols}
    return [name for name in names if stem_of(name) is not None and stem_of(name) not in stems]


def writing(where, keys, stale, schema, counter=None):
    """What mapInArrow() calls: rows of a partition in, each symbol's together; a row of REPORT for each file out. `keys` has
    the key of each symbol, `stale` the files that its new one replaces, `counter` counts rows. Columns other than the symbol
    may have any names: they are the schema's."""

    def write(batches):
        place = Place(where)
        current, symbol, report = None, None, []

        def end():
            nonlocal current
            if current:
                current.commit(stale.get(symbol, ()))
                report.append((symbol, current.name, current.rows, True))
            current = None

        try:
            for batch in batches:
                for (key,), rows in stretches(batch, ("symbol",)):
                    if key != symbol:
                        end()
                        symbol, name = key, file_name(key, keys[key])
                        if place.has(name):
                            report.append((key, name, place.rows(name), False))
                        else:
                            current = Writing(place, name, schema)
                    if current:
                        current.add(rows.rename_columns(schema.names).cast(schema))
                if counter is not None:
                    counter.add(batch.num_rows)
            end()
        except BaseException:
            if current:
                current.drop()
            raise
        yield _reported(report)

    return write


def _reported(report):
    symbols, files, rows, written = zip(*report) if report else ((), (), (), ())
    return pyarrow.RecordBatch.from_arrays(
        [
            pyarrow.array(symbols, pyarrow.string()),
            pyarrow.array(files, pyarrow.string()),
            pyarrow.array(rows, pyarrow.int64()),
            pyarrow.array(written, pyarrow.bool_()),
        ],
        names=["symbol", "file", "rows", "written"],
    )


def write(frame, where, keys, stale, schema, counter=None, around=lambda write: write):
    """The DataFrame of REPORT's rows; its action writes. A name with a dot is none that mapInArrow() takes: columns go by
    their places. Where tasks make the frame from files on, they write it too. `around` is what a test wraps the writing in."""
    step = around(writing(where, keys, stale, schema, counter))
    own = tasks.of(frame)
    if own and own.steps:
        return own.then(step).frame(REPORT)
    names = [name if name == "symbol" else f"c{k}" for k, name in enumerate(frame.columns)]
    return frame.toDF(*names).mapInArrow(step, REPORT)
