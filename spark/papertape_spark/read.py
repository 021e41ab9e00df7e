"""read(): bars or trades of files whose folders or names say whose they are."""

from . import lake, symbols, tasks, times
from .library import BadBars

HEADERS_DIFFER = ("CSV header does not conform to the schema", "Number of column in CSV header is not equal")  # Spark's words
NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"


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


def _with_symbol(found, of_files):
    """With a column symbol by the files' paths, or with its own, checked against them."""
    from pyspark.sql import functions as F

    name = F.col("_metadata.file_path")  # a URI
    if "symbol" not in found.columns:
        return found.withColumn("symbol", symbols.column(name, of_files)).select("symbol", *found.columns)
    if not any(of_files.values()):
        return found
    folder = symbols.column(name, of_files)
    wrong = F.concat(F.lit("two symbols in one file: "), name, F.lit(": "), F.coalesce("symbol", F.lit("None")), F.lit(" is in the folder of "), folder)
    same = folder.isNull() | (folder == F.col("symbol"))
    return found.withColumn("symbol", F.when(same, F.col("symbol")).otherwise(F.raise_error(wrong).cast("string")))


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
    in_tasks  False: Spark reads Parquet files of one symbol each too, which a task otherwise reads by itself (tasks.py)

    Parquet's times of nanoseconds are read as BIGINT, for which spark.sql.legacy.parquet.nanosAsLong is set in the session.
    """
    paths = [path] if isinstance(path, str) else list(path)
    if format is None:
        format = "csv" if paths[0].endswith((".csv", ".csv.gz")) else "parquet"
    found_lakes = [lake.bars_of(spark, one) for one in paths]
    paths = [one for one, _ in found_lakes]
    found = _loaded(spark, paths, format, schema)
    if len(paths) == 1 and found_lakes[0][1]:
        found = _loaded(spark, lake.of_interval(paths[0], found.inputFiles(), interval), format, schema)
    has_symbol = "symbol" in found.columns
    of_files = symbols.of_files(found.inputFiles(), has_symbol)
    meant = lake.chosen(times.named(_with_symbol(found, of_files)), paths[0], source=source, interval=interval, venue=venue)
    own = None
    if in_tasks and format == "parquet" and not {"interval", "source", "venue"} & set(found.columns):
        own = tasks.planned(spark, of_files, dict(found.dtypes), has_symbol)
    return tasks.attached(meant, own) if own else meant
