"""read(): bars or trades of files whose folders or names say whose they are."""

from .library import BadBars

SUFFIX = r"(_[^/]*)?\.[^/]*$"


def _decoded(text):
    """A column without its %XX; as it is where they are none. A + is no blank in a path."""
    from pyspark.sql import functions as F

    return F.coalesce(F.try_url_decode(F.replace(text, F.lit("+"), F.lit("%2B"))), text)


def read(spark, path, format=None, *, schema=None):
    """A DataFrame of the bars or trades below `path` (or a list of paths): Parquet or CSV, partitioned into folders
    `symbol=BTCUSDT/day=2024-01-02` (any names with `symbol=`), or files named SYMBOL_… .

    A file's own column `symbol` must agree with its folder's: two symbols in one file are refused. Files must have the
    columns of the first: one that lacks a column gives nulls, which indicators() refuses by symbol and time; one whose
    column has another type is refused by Spark, which names the file.

    format  "parquet" or "csv" (with a header; numbers as DOUBLE, timestamp as TIMESTAMP in ISO 8601 or BIGINT); by the
            path's end where it is left out, else parquet
    schema  of CSV, as Spark takes it, where the header's names are not those of bars
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
    found = reader.format(format).load(paths)
    name = F.col("_metadata.file_path")  # a URI
    of_folder = F.regexp_extract(name, r"/symbol=([^/]+)/", 1)
    folder = _decoded(_decoded(of_folder))  # whose name has %XX itself, as writers of partitions give it
    if "symbol" not in found.columns:
        of_file = _decoded(F.regexp_extract(name, r"([^/_]+)" + SUFFIX, 1))
        return found.withColumn("symbol", F.when(of_folder != "", folder).otherwise(of_file)).select("symbol", *found.columns)
    wrong = F.concat(F.lit("two symbols in one file: "), name, F.lit(": "), F.col("symbol"), F.lit(" is in the folder of "), folder)
    same = (of_folder == "") | (folder == F.col("symbol"))
    return found.withColumn("symbol", F.when(same, F.col("symbol")).otherwise(F.raise_error(wrong).cast("string")))
