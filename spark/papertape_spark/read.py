"""read(): bars or trades of files whose folders or names say whose they are."""

from . import files, lake, times
from .library import BadBars, symbol_in

HEADERS_DIFFER = ("CSV header does not conform to the schema", "Number of column in CSV header is not equal")  # Spark's words
PLAIN = r"/([A-Z0-9]+)(_[^/]*)?\.[^/]*$"  # a name whose symbol Spark finds by itself
NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"


def _decoded(text):
    """A column without its %XX; as it is where they are none. A + is no blank in a path."""
    from pyspark.sql import functions as F

    return F.coalesce(F.try_url_decode(F.replace(text, F.lit("+"), F.lit("%2B"))), text)


def _by_names(uris):
    """The column of the symbol by a file's name, of a column of URIs; the rule is the library's."""
    import re

    from pyspark.sql import functions as F

    found = {}
    for uri in uris:
        if "/symbol=" not in uri:
            path = files.path_of(uri)
            found[path] = symbol_in(path)
    plain = (re.search(PLAIN, path) for path in found)
    if all(name and name[1] == symbol for name, symbol in zip(plain, found.values())):
        return lambda name: F.regexp_extract(name, PLAIN, 1)
    import pandas as pd

    def symbols(names: pd.Series) -> pd.Series:
        return names.map({uri: found.get(files.path_of(uri)) for uri in names.unique()})

    return F.pandas_udf(symbols, "string")


def _symbol_of(name, of_name):
    """(of the folder, "" where it has none; of the folder or else, where no column has it, of the file's name) by a URI."""
    from pyspark.sql import functions as F

    of_folder = F.regexp_extract(name, r"/symbol=([^/]+)/", 1)
    folder = _decoded(_decoded(of_folder))  # whose name has %XX itself, as writers of partitions give it
    return of_folder, F.when(of_folder != "", folder).otherwise(of_name(name) if of_name else F.lit(None))


def _tasks(spark, uris, types, of_name):
    """The tasks that read these files by themselves; None where Spark must."""
    from pyspark.sql import functions as F

    if not uris or not all(uri.startswith("file:///") for uri in uris):
        return None
    uris = [uri.replace("///", "/", 1) for uri in uris]  # as _metadata has them
    by_path = spark.createDataFrame([(uri,) for uri in uris], "uri string").select("uri", _symbol_of(F.col("uri"), of_name)[1].alias("symbol"))
    symbols = {row.uri: row.symbol for row in by_path.collect()}
    return files.planned(spark, uris, types, of_name is None, [symbols[uri] or None for uri in uris])


def _other_schema(spark, paths):
    """The first file whose schema does not go with those of the files before it, in words."""
    listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(paths).select("path")
    files = sorted(row.path for row in listed.collect() if not row.path.rsplit("/", 1)[1].startswith(("_", ".")))

    def merged(n):
        """Of the first n files; None: they do not go together."""
        try:
            return spark.read.option("mergeSchema", "true").parquet(*files[:n]).schema
        except Exception:  # noqa: BLE001
            return None

    good, bad = 1, len(files)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if merged(middle) else (good, middle)
    before, own = merged(good), spark.read.parquet(files[bad - 1]).schema
    kinds = {field.name: field.dataType.simpleString() for field in before or ()}
    other = [field for field in own if kinds.get(field.name, field.dataType.simpleString()) != field.dataType.simpleString()]
    if not other:
        return f"{files[bad - 1]}: its columns do not go with those of the files before it: one schema is needed"
    return f"{files[bad - 1]}: {other[0].name} is of type {other[0].dataType.simpleString()}, and {kinds[other[0].name]} in the files before it: one type is needed"


def _one_header(found):
    """A header that is not the first file's is a row of texts to Spark when it looks for types: it is looked for where there are texts."""
    kinds = dict(found.dtypes)
    figures = [name for name in ("timestamp", "open", "price") if kinds.get(name) == "string"]
    if not figures:
        return
    try:
        found.write.format("noop").mode("overwrite").save()
    except Exception as error:  # noqa: BLE001
        text = str(error)
        at = max(map(text.find, HEADERS_DIFFER))
        if at >= 0:
            raise BadBars(" ".join(text[at:].split("SQLSTATE")[0].split("\tat ")[0].split()) + ": the header of the first file is needed") from None


def _loaded(spark, paths, format, schema):
    """What Spark reads there."""
    reader = spark.read.option("recursiveFileLookup", "true")
    if format == "csv":
        reader = reader.option("header", "true").option("enforceSchema", "false").option("timeZone", "UTC")
        reader = reader.schema(schema) if schema else reader.option("inferSchema", "true")
    elif format == "parquet":
        reader = reader.option("mergeSchema", "true")
    else:
        raise BadBars(f"format={format!r} is unknown: 'parquet' or 'csv' is needed")
    try:
        found = reader.format(format).load(paths)
    except Exception as error:  # noqa: BLE001 - Spark's, of which there is no class
        text = str(error)
        if "NANOS" in text and spark.conf.get(NANOS_AS_LONG, "false") != "true":
            spark.conf.set(NANOS_AS_LONG, "true")
            return _loaded(spark, paths, format, schema)
        if "CANNOT_MERGE_SCHEMAS" not in text:
            raise
        raise BadBars(_other_schema(spark, paths)) from None
    if format == "csv" and schema is None:
        _one_header(found)
    return found


def read(spark, path, format=None, *, schema=None, source=None, interval=None, venue=None, in_tasks=True):
    """A DataFrame of the bars or trades below `path` (or a list of paths): Parquet or CSV, partitioned into folders
    `symbol=BTCUSDT/day=2024-01-02` (any names with `symbol=`), or files named as the program takes them (BTCUSDT_5m.parquet,
    BTCUSDT-5m-2025-04.csv), or with a column `symbol`; or a lake of `papertape export --parquet`.

    The time is the column open_time, open_time_ms, timestamp, unix, datetime, date or time, the first that is there: it is
    `timestamp` in the result. Without a zone it is UTC's, whatever the session's zone is.

    A file's own column `symbol` must agree with its folder's: two symbols in one file are refused. Files must have the
    columns of the first: one of Parquet that lacks a column gives nulls, which indicators() refuses by symbol and time;
    one whose column has another type, and one of CSV with another header, is refused by its name.

    format    "parquet" or "csv" (with a header; numbers as DOUBLE, timestamp as TIMESTAMP in ISO 8601 or BIGINT); by the
              path's end where it is left out, else parquet
    schema    of CSV, as Spark takes it, where the header's names are not those of bars
    source, interval, venue
              of a lake, or bars with such columns: left out, the venue's bars (source "venue") where there are trades' too,
              and what there is one of; of several intervals, or venues of one symbol, one must be named
    in_tasks  False: Spark reads Parquet files of one symbol each too, which a task otherwise reads by itself (files.py)

    Parquet's times of nanoseconds are read as BIGINT, for which spark.sql.legacy.parquet.nanosAsLong is set in the session.
    """
    from pyspark.sql import functions as F

    paths = [path] if isinstance(path, str) else list(path)
    if format is None:
        format = "csv" if paths[0].endswith((".csv", ".csv.gz")) else "parquet"
    found_lakes = [lake.bars_of(spark, one) for one in paths]
    paths = [one for one, _ in found_lakes]
    found = _loaded(spark, paths, format, schema)
    if len(paths) == 1 and found_lakes[0][1]:
        found = _loaded(spark, lake.of_interval(paths[0], found.inputFiles(), interval), format, schema)
    uris = found.inputFiles()
    has_symbol = "symbol" in found.columns
    of_name = None if has_symbol else _by_names(uris)
    name = F.col("_metadata.file_path")  # a URI
    of_folder, symbol = _symbol_of(name, of_name)
    if has_symbol:
        wrong = F.concat(F.lit("two symbols in one file: "), name, F.lit(": "), F.coalesce("symbol", F.lit("None")), F.lit(" is in the folder of "), symbol)
        same = (of_folder == "") | (symbol == F.col("symbol"))
        rows = found.withColumn("symbol", F.when(same, F.col("symbol")).otherwise(F.raise_error(wrong).cast("string")))
    else:
        rows = found.withColumn("symbol", symbol).select("symbol", *found.columns)
    meant = lake.chosen(times.named(rows), paths[0], source=source, interval=interval, venue=venue)
    own = None
    if in_tasks and format == "parquet" and not {"interval", "source", "venue"} & set(found.columns):
        own = _tasks(spark, uris, dict(found.dtypes), of_name)
    return files.attached(meant, own) if own else meant
