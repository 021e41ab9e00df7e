"""Bars of several intervals, sources and venues in one folder, as `papertape export --parquet` writes them: which are meant."""

import posixpath
import urllib.parse

from .library import BadBars

MANIFEST = "_manifest.jsonl"
PREFERRED = "venue"  # of sources: the venue's own bars, beside those built of trades


def listing(words):
    words = sorted(words)
    return ", ".join(words[:8]) + (f" and {len(words) - 8} more" if len(words) > 8 else "")


def _there(spark, path):
    """Is it there, for the file system that Spark reads it by? Of Spark Connect, which has no JVM here, nothing is seen."""
    try:
        place = spark._jvm.org.apache.hadoop.fs.Path(path)
        return bool(place.getFileSystem(spark._jsc.hadoopConfiguration()).exists(place))
    except Exception:  # noqa: BLE001
        return False


def bars_of(spark, path):
    """(the folder of bars where `path` is a lake, else itself; whether it is a lake's)"""
    whole = path.rstrip("/")
    if _there(spark, posixpath.join(whole, MANIFEST)):
        return posixpath.join(whole, "bars"), True
    return path, posixpath.basename(whole) == "bars" and _there(spark, posixpath.join(posixpath.dirname(whole) or ".", MANIFEST))


def of_interval(path, uris, interval):
    """A lake's files of one interval, by which they are named."""
    found = {posixpath.basename(uri).removesuffix(".parquet") for uri in uris}
    interval = _one(path, "interval", found, interval)
    return [urllib.parse.unquote(uri) for uri in uris if posixpath.basename(uri) == f"{interval}.parquet"]


def _one(where, what, found, asked, preferred=None):
    """The one of them that is meant."""
    if asked is not None and asked not in found:
        raise BadBars(f"{where}: it has no bars of the {what} {asked}, and has those of {listing(found)}")
    if asked is None and len(found) > 1 and preferred not in found:
        raise BadBars(f"{where}: it has bars of the {what}s {listing(found)}: {what}= names one")
    return asked if asked is not None else preferred if preferred in found else next(iter(found), None)


def chosen(rows, where, **asked):
    """The rows of one interval, and of each symbol one source (the venue's where there are several) and one venue."""
    from pyspark.sql import functions as F

    have = [what for what in ("interval", "source", "venue") if dict(rows.dtypes).get(what) == "string"]
    for what in ("source", "venue"):
        if asked[what] is not None and what not in have:
            raise BadBars(f"{where}: its bars have no column {what}: {what}= is for a lake")
    groups = rows.select("symbol", *have).distinct().collect() if have and "symbol" in rows.columns else []
    if not groups:
        return rows
    for what in have:
        by_symbol = {}
        for group in groups:
            by_symbol.setdefault(group.symbol if what != "interval" else None, set()).add(group[what] or "")
        if asked[what] is not None:  # a symbol may lack it, and has no bars then
            meant = dict.fromkeys(by_symbol, _one(where, what, set().union(*by_symbol.values()), asked[what]))
        else:
            meant = {symbol: _one(f"{where}: {symbol}" if symbol else where, what, found, None, PREFERRED if what == "source" else None) for symbol, found in by_symbol.items()}
        value = F.coalesce(F.col(what), F.lit(""))
        if asked[what] is not None or what == "interval":
            rows = rows.where(value == next(iter(meant.values())))
        elif any(len(found) > 1 for found in by_symbol.values()):  # then each of several is PREFERRED
            others = [symbol for symbol, one in meant.items() if one != PREFERRED]
            rows = rows.where((value == PREFERRED) | F.col("symbol").isin(others) if others else value == PREFERRED)
        groups = [group for group in groups if (group[what] or "") == meant[group.symbol if what != "interval" else None]]
    return rows
