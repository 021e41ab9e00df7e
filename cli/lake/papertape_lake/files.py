"""Which files --bars of a file, a folder or a lake means, what their folders say of them, and what they are known by."""

import os
import urllib.parse

from papertape_lake.common import Refused, files_below, hash_of, visible
from papertape_lake.manifest import MANIFEST, is_of_file, lines_of

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def listing(names, most=8):
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def partitions(path, root):
    """What a file's folders below `root` say: {"symbol": "A/B"} of symbol=A%2FB, as DuckDB, Spark and pyarrow write it."""
    words = os.path.relpath(path, root).split(os.sep)[:-1]
    found = {name: urllib.parse.unquote(value) for name, value in (word.split("=", 1) for word in words if "=" in word)}
    if found.get("symbol") in ("", NULL_PARTITION):
        raise Refused(f"{path}: the folder symbol={found['symbol']} has the bars without a symbol: give them one, or move it out")
    return found


def of_lake(folder, interval):
    """(the files of one interval of papertape export's, day by day; the interval); None: it is no such folder."""
    if not os.path.exists(manifest_of(folder)):
        return None
    found = {}
    for day in sorted(name for name in os.listdir(folder) if name.startswith("date=") and os.path.isdir(os.path.join(folder, name))):
        for name in os.listdir(os.path.join(folder, day)):
            if visible(name) and name.endswith(".parquet"):
                found.setdefault(name.removesuffix(".parquet"), []).append(os.path.join(folder, day, name))
    if interval is None and len(found) > 1:
        raise Refused(f"{folder}: it has bars of {listing(sorted(found))}: --interval names one")
    if interval is not None and found and interval not in found:
        raise Refused(f"{folder}: it has no bars of {interval}, and has those of {listing(sorted(found))}")
    name = interval or next(iter(found), None)
    return found.get(name, []), name


def manifest_of(folder):
    return os.path.join(os.path.dirname(os.path.abspath(folder)), MANIFEST)


def above_partitions(folder):
    """The folder that partitions are below, of one that may be one itself, as t of t/symbol=BTCUSDT/date=2024-08-07."""
    folder = os.path.abspath(folder)
    while "=" in os.path.basename(folder):
        folder = os.path.dirname(folder)
    return folder


def choose(path, interval):
    """(files, the folder that their partitions are below, whether all of its symbols are taken, the interval)"""
    if not os.path.isdir(path):
        return [path], above_partitions(os.path.dirname(path)), False, interval
    path = os.path.normpath(path)
    if os.path.exists(os.path.join(path, MANIFEST)):
        path = os.path.join(path, "bars")
        if not os.path.isdir(path):
            raise Refused(f"{path}: it is not there: papertape export --table bars writes it")
    found, interval = of_lake(path, interval) or (files_below(path), interval)
    if not found:
        raise Refused(f"{path}: it has no file NAME.parquet")
    return found, above_partitions(path), True, interval


def digests(files, root):
    """Each file's SHA-256: the manifest's of a file that has not changed since, else that of its bytes."""
    known, listed = {}, manifest_of(root)
    if os.path.exists(listed):
        rows = filter(is_of_file, lines_of(listed)[0])  # and not the lake's own line, nor another program's
        known = {os.path.abspath(os.path.join(os.path.dirname(listed), row["file"])): row for row in rows}
        written_ns = os.stat(listed).st_mtime_ns
    for name in files:
        row, stat = known.get(os.path.abspath(name)), os.stat(name)
        same = row is not None and row["bytes"] == stat.st_size and stat.st_mtime_ns <= written_ns
        yield row["sha256"] if same else hash_of(name)
