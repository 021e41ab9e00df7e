"""Table functions of Spark SQL: papertape_indicators('sma:20,rsi:14', TABLE(bars) PARTITION BY symbol ORDER BY timestamp).

Spark's parser takes a text behind ORDER BY timestamp for a second column of it: with the table first, the order is in
parentheses: papertape_indicators(TABLE(bars) PARTITION BY symbol ORDER BY (timestamp), 'sma:20,rsi:14').
"""

import dataclasses

import pyarrow

from .asked import Indicators, split
from .bars import KEYS, PRICES
from .batches import by_text
from .library import BadBars

NEEDED = "papertape_indicators: a text of specifications, as 'sma:20,rsi:14', and TABLE(bars) PARTITION BY symbol ORDER BY timestamp are needed"
ROWS = 10_000  # that are computed at once; the memory is carried on


class _Table:
    """Rows come one by one from Spark, and are computed ROWS at a time. One of these is for one PARTITION BY's value."""

    def __init__(self, analyzed):
        self.floats, self.rows, self.run, self.symbol = analyzed.floats, [], None, None

    def eval(self, *given, **named):
        first, second = _two(given, named)
        row, specs = (second, first) if isinstance(first, str) else (first, second)
        if self.run is None:
            self.run, self.symbol = Indicators(tuple(split(specs))).open(), row["symbol"]
        if row["symbol"] != self.symbol:
            raise BadBars(f"papertape_indicators: {row['symbol']} and {self.symbol} are in one partition: PARTITION BY symbol is needed")
        self.rows.append(row)
        if len(self.rows) == ROWS:
            yield from self.flush()

    def terminate(self):
        if self.rows:
            yield from self.flush()

    def cleanup(self):
        if self.run:
            self.run.close()

    def flush(self):
        rows, self.rows = self.rows, []
        columns = [pyarrow.array([row["symbol"] for row in rows], pyarrow.string()), _times([row["timestamp"] for row in rows])]
        columns += [_numbers([row[name] for row in rows], name in self.floats) for name in PRICES]
        found = self.run.update(pyarrow.RecordBatch.from_arrays(columns, names=[*KEYS, *PRICES]))
        for row, *values in zip(rows, *(column.to_pylist() for column in found.columns)):
            yield (*row, *values)


def _numbers(values, single):
    """As float64; of a FLOAT column by their shortest text."""
    values = [None if value is None else float(value) for value in values]
    return by_text(pyarrow.array(values, pyarrow.float32())) if single else pyarrow.array(values, pyarrow.float64())


def _two(given, named):
    """The text and the table, by place or by any name, in either order."""
    both = (*given, *named.values())
    if len(both) != 2:
        raise BadBars(NEEDED)
    return both


def _times(values):
    """Spark gives a timestamp as a datetime without a zone, in the zone of the process."""
    if values and isinstance(values[0], int):
        return pyarrow.array(values, pyarrow.int64())
    return pyarrow.array([None if value is None else round(value.timestamp() * 1e6) for value in values], pyarrow.int64()).cast(pyarrow.timestamp("us", tz="UTC"))


class PapertapeIndicators(_Table):
    @staticmethod
    def analyze(*given, **named):
        from pyspark.sql.types import DoubleType, FloatType, StructType
        from pyspark.sql.udtf import AnalyzeResult

        @dataclasses.dataclass
        class Analyzed(AnalyzeResult):
            floats: tuple = ()  # the prices that are FLOAT

        first, second = _two(given, named)
        bars, specs = (first, second) if first.isTable else (second, first)
        if not bars.isTable or not isinstance(specs.value, str):
            raise BadBars(NEEDED)
        lacking = [name for name in (*KEYS, *PRICES) if name not in bars.dataType.fieldNames()]
        if lacking:
            raise BadBars(f"papertape_indicators: column {lacking[0]} is missing: {', '.join((*KEYS, *PRICES))} are needed")
        schema = StructType(list(bars.dataType.fields))
        with Indicators(tuple(split(specs.value))).open() as run:
            for name in run.names():
                schema = schema.add(name, DoubleType())
        return Analyzed(schema=schema, floats=tuple(name for name in PRICES if isinstance(bars.dataType[name].dataType, FloatType)))


def register(spark):
    """Makes papertape_indicators known to this session's SQL."""
    from pyspark.sql.functions import udtf

    spark.udtf.register("papertape_indicators", udtf(PapertapeIndicators))
