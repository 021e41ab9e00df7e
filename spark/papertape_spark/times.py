"""The time of bars and trades: which column it is, and that column as Spark's TIMESTAMP or an epoch, whatever the session's zone."""

from .library import BadBars

# Of bars files, as exchange/bars_columns.c lists them: the first that is there.
NAMES = ("open_time", "open_time_ms", "timestamp", "unix", "datetime", "date", "time")
FIGURES = ("open", "high", "low", "close", "volume", "price", "qty")

EPOCH = (
    "case when {0} < 100000000000 then {0} * 1000000 when {0} < 100000000000000 then {0} * 1000 "
    "when {0} < 100000000000000000 then {0} else {0} div 1000 end"
)  # in microseconds, of one that its size recognises, as native/batch.c does


def column_of(columns):
    """The column that is the time; None: there is none."""
    by_name = {}
    for name in columns:
        by_name.setdefault(name.lower(), name)
    found = next((by_name[name] for name in NAMES if name in by_name), None)
    if found and found.lower() != "timestamp" and "timestamp" in by_name:
        raise BadBars(f"the columns {found} and {by_name['timestamp']} are both a time: one of them is needed")
    return found


def _of_text(name):
    """ISO 8601, which without a zone is UTC's, or an epoch. Spark's own cast takes the session's zone."""
    from pyspark.sql import functions as F

    quoted = "`" + name.replace("`", "``") + "`"
    text = f"trim({quoted})"
    parsed = F.expr(
        f"case when {text} rlike '^[0-9]{{1,18}}$' then timestamp_micros({EPOCH.format(f'try_cast({text} as bigint)')}) "
        f"when {text} rlike '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$' then try_cast(concat({text}, 'T00:00:00Z') as timestamp) "
        f"when {text} rlike '(Z|UTC|[+-][0-9]{{2}}(:?[0-9]{{2}})?)$' then try_cast({text} as timestamp) "
        f"else try_cast(concat({text}, 'Z') as timestamp) end"
    )
    wrong = F.raise_error(F.concat(F.lit(f"{name} is "), F.col(quoted), F.lit(": a time in ISO 8601, as 2024-01-02T00:05:00Z, or an epoch is needed")))
    return F.when(F.col(quoted).isNull(), F.lit(None)).otherwise(F.coalesce(parsed, wrong.cast("timestamp")))


def named(df):
    """The DataFrame with the names that papertape_spark has: its time as `timestamp`, prices in lower case."""
    from pyspark.sql import functions as F

    time = column_of(df.columns)
    kind = dict(df.dtypes).get(time)
    if time and kind in ("tinyint", "smallint", "int"):
        df = df.withColumn(time, F.col(time).cast("bigint"))
    elif time and kind == "date":
        df = df.withColumn(time, F.col(time).cast("timestamp_ntz"))  # of no zone
    elif time and kind == "string":
        df = df.withColumn(time, _of_text(time))
    wanted = {time: "timestamp"} if time else {}
    for name in df.columns:
        if name.lower() in FIGURES and name.lower() not in df.columns:
            wanted[name] = name.lower()
    return df.withColumnsRenamed({name: new for name, new in wanted.items() if name != new})
