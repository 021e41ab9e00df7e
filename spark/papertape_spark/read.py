"""read(): bars or trades of files whose folders or names say whose they are."""

from . import files
from .library import BadBars

HEADERS_DIFFER = ("CSV header does not conform to the schema", "Number of column in CSV header is not equal")  # Spark's words
SUFFIX = r"(_[^/]*)?\.[^/]*$"


def _decoded(text):
    """A column without its %XX; as it is where they are none. A + is no blank in a path."""
    from pyspark.sql import functions as F

    return F.coalesce(F.try_url_decode(F.replace(text, F.lit("+"), F.lit("%2B"))), text)


def _symbol_of(name, named):
    """(of the folder, "" where it has none; of the folder or else, without a column symbol, of the file's name) by a URI."""
    from pyspark.sql import functions as F

    of_folder = F.regexp_extract(name, r"/symbol=([^/]+)/", 1)
    folder = _decoded(_decoded(of_folder))  # whose name has %XX itself, as writers of partitions give it
    of_file = F.lit(None) if named else _decoded(F.regexp_extract(name, r"([^/_]+)" + SUFFIX, 1))
    return of_folder, F.when(of_folder != "", folder).otherwise(of_file)


def _tasks(spark, found, named):
    """The tasks that read these files by themselves; None where Spark must."""
    from pyspark.sql import functions as F

    uris = found.inputFiles()
    if not uris or not all(uri.startswith("file:///") for uri in uris):
        return None
    uris = [uri.replace("///", "/", 1) for uri in uris]  # as _metadata has them
    by_path = spark.createDataFrame([(uri,) for uri in uris], "uri string").select("uri", _symbol_of(F.col("uri"), named)[1].alias("symbol"))
    symbols = {row.uri: row.symbol for row in by_path.collect()}
    return files.planned(spark, uris, dict(found.dtypes), named, [symbols[uri] or None for uri in uris])


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


def read(spark, path, format=None, *, schema=None, in_tasks=True):
    """A DataFrame of the bars or trades below `path` (or a list of paths): Parquet or CSV, partitioned into folders
    `symbol=BTCUSDT/day=2024-01-02` (any names with `symbol=`), or files named SYMBOL_… .

    A file's own column `symbol` must agree with its folder's: two symbols in one file are refused. Files must have the
    columns of the first: one of Parquet that lacks a column gives nulls, which indicators() refuses by symbol and time;
    one whose column has another type, and one of CSV with another header, is refused by its name.

    format  "parquet" or "csv" (with a header; numbers as DOUBLE, timestamp as TIMESTAMP in ISO 8601 or BIGINT); by the
            path's end where it is left out, else parquet
    schema  of CSV, as Spark takes it, where the header's names are not those of bars
    in_tasks  False: Spark reads Parquet files of one symbol each too, which a task otherwise reads by itself (files.py)
    """
    from pyspark.sql import functions as F

    paths = [path] if isinstance(path, str) else list(path)
    if format is None:
        format = "csv" if paths[0].endswith((".csv", ".csv.gz")) else "parquet"
    reader = spark.read.option("recursiveFileLookup", "true")
    if format == "csv":
        reader = reader.option("header", "true").option("enforceSchema", "false")
        reader = reader.schema(schema) if schema else reader.option("inferSchema", "true")
    elif format == "parquet":
        reader = reader.option("mergeSchema", "true")
    else:
        raise BadBars(f"format={format!r} is unknown: 'parquet' or 'csv' is needed")
    try:
        found = reader.format(format).load(paths)
    except Exception as error:  # noqa: BLE001 - Spark's, of which there is no class
        if "CANNOT_MERGE_SCHEMAS" not in str(error):
            raise
        raise BadBars(_other_schema(spark, paths)) from None
    if format == "csv" and schema is None:
        _one_header(found)
    named = "symbol" in found.columns
    own = _tasks(spark, found, named) if in_tasks and format == "parquet" else None
    name = F.col("_metadata.file_path")  # a URI
    of_folder, symbol = _symbol_of(name, named)
    if named:
        wrong = F.concat(F.lit("two symbols in one file: "), name, F.lit(": "), F.coalesce("symbol", F.lit("None")), F.lit(" is in the folder of "), symbol)
        same = (of_folder == "") | (symbol == F.col("symbol"))
        rows = found.withColumn("symbol", F.when(same, F.col("symbol")).otherwise(F.raise_error(wrong).cast("string")))
    else:
        rows = found.withColumn("symbol", symbol).select("symbol", *found.columns)
    return files.attached(rows, own) if own else rows
