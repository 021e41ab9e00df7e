"""A lake's manifest, which has each file's rows and SHA-256, and how a file is put into a lake whole."""

import json
import os

from papertape_lake.common import Refused, hash_of

MANIFEST = "_manifest.jsonl"
SCHEMA = "papertape.lake/1"
TABLES = ("bars", "fills", "orders", "ledger", "equity")
LOCK = "_lock"
TEMPORARY = ".tmp-"
FIELDS = {"file", "rows", "bytes", "sha256", "source_rows", "source_sha256"}  # of a file's line


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
        size, content = os.path.getsize(temporary), hash_of(temporary)
        os.replace(temporary, path)
        sync_folder(folder)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return size, content


def line_of(text):
    try:
        row = json.loads(text)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def lines_of(path):
    """(a manifest's lines, None for one that is no object of JSON; whether a kill cut the last one off, which is not among them)"""
    with open(path, "rb") as file:
        *lines, rest = file.read().split(b"\n")
    return [line_of(line) for line in lines], rest != b""


def is_of_file(row):
    return row is not None and FIELDS <= row.keys()


def read_manifest(path):
    """(its line of the lake, {name: the last line of that file}, whether a kill cut its end off); (None, {}, …) of an empty one."""
    lines, torn = lines_of(path)
    schema = lines[0].get("schema") if lines and lines[0] else SCHEMA
    if schema != SCHEMA:
        raise Refused(f"{path}: it is of {schema}, and this program writes {SCHEMA}: export into another folder")
    for number, row in enumerate(lines, 1):
        if row is None or (number > 1 and not is_of_file(row)):
            raise Refused(f"{path}:{number}: no line of a file: the manifest was changed by another program: move it aside, and all days "
                          "that the database has are written again")
    return lines[0] if lines else None, {row["file"]: row for row in lines[1:]}, torn


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
        head, files, self.changed = read_manifest(self.path)
        if head is None:
            self.changed = True
            return
        source = head.get("source", "")
        if source and self.source and source != self.source:
            raise Refused(f"{root}: it holds the rows of another database (its ledger began with {source[:12]}, and this one's with "
                          f"{self.source[:12]}): export into another folder")
        self.changed |= source != (self.source or source)
        self.source = self.source or source
        self.files = {name: row for name, row in files.items() if os.path.exists(os.path.join(root, name))}  # others went by a user's hand
        self.changed |= len(self.files) < len(files)

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
