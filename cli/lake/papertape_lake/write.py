"""write DIR VERSION SOURCE: writes the files of a lake for papertape export.

It is the only writer of DIR. A request is a line of JSON with what a file is to hold: its table, name and day, and how many rows and
bytes of CSV, with their SHA-256. The answer is {"rows": …, "kept": …, "written": false} where the manifest has a file of the same rows,
else {"send": true}: then come a line with the columns and their types and with which rows of an older file stay ("keep"), and the CSV,
whose answer is the same, "written" where the file is not what it was; with "damaged", "why" and "aside" where it could not be read,
and was renamed. The request {"end": true} closes the manifest.

A file is written under a temporary name, synced and renamed, and then is a line of DIR/_manifest.jsonl. A process that is killed in
between leaves nothing that the next one does not replace by the same bytes."""

import errno
import fcntl
import json
import os
import sys

import pyarrow as pa

from papertape_lake.common import Refused, answer, words_of
from papertape_lake.manifest import LOCK, MANIFEST, SCHEMA, TABLES, TEMPORARY, Manifest, make_folder, put, sync_folder
from papertape_lake.rows import Damaged, merge, read_old, read_rows, write_table

ASIDE = "_damaged-"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def set_aside(path):
    """Under a name that is no data: what it may hold alone, since the database no longer has it, is not lost. Where it is now."""
    folder, name = os.path.split(path)
    number, place = 1, os.path.join(folder, ASIDE + name)
    while os.path.exists(place):
        number, place = number + 1, os.path.join(folder, f"{ASIDE}{number + 1}-{name}")
    os.rename(path, place)
    sync_folder(folder)
    return place


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


def main(root, version, source):
    try:
        Lake(root, version, source).serve(sys.stdin.buffer)
    except Refused as error:
        answer(error=str(error))
    except OSError as error:
        after = ": the files that were written stay, and the same command continues" if error.errno in NO_ROOM else ""
        answer(error=f"{error.filename or root}: {error.strerror or error}{after}")
    except pa.ArrowException as error:
        answer(error=f"{root}: pyarrow {pa.__version__}: {words_of(error)}")
    except EOFError:
        pass  # the program has gone, and nothing reads an answer
    else:
        return 0
    return 1
