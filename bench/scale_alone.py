"""What a bar costs in one thread, as a task of the job has it: reading it from the lake's Parquet, the library's computing of each stage
from Arrow's batches, and writing. Wants PAPERTAPE_SPARK_LIBRARY."""

import sys
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "spark"))
from papertape_spark.asked import Features, Indicators  # noqa: E402
from papertape_spark.build import fitting  # noqa: E402
from papertape_spark.columns import computing  # noqa: E402
from papertape_spark.trading import options_of, trading  # noqa: E402

BATCH = 10_000  # Spark's maxRecordsPerBatch
FITTED_NS = 1_389_398_400_000_000_000  # 2014-01-11, as scale_spark.FIT_UNTIL
GRID = {"fast": "5:30:5", "slow": [40, 80]}


def stretched(asked):
    def run(batches):
        with asked.open() as running:
            for batch in batches:
                running.update(batch)

    return run


def traded(what, params, grid):
    function = trading(what, options_of("sma-cross", params, grid, {}))
    return lambda batches: list(function(batches))


def us_a_bar(bars, function, *arguments):
    begun = time.process_time()
    made = function(*arguments)
    return made, (time.process_time() - begun) / bars * 1e6


def read(path):
    return pyarrow.parquet.ParquetFile(path).read(use_threads=False)


def into_parquet(batches, path):
    """As a task of the job writes a symbol's rows."""
    pyarrow.parquet.write_table(pyarrow.Table.from_batches(batches), path, compression="zstd", use_dictionary=["symbol"])


def costs(path):
    """{cost: value} of a file of one symbol's bars; what stages write is beside it."""
    bars = pyarrow.parquet.read_metadata(path).num_rows
    table, read_us = us_a_bar(bars, read, path)
    batches = table.add_column(0, "symbol", pyarrow.array(["S"] * bars)).combine_chunks().to_batches(max_chunksize=BATCH)
    (fitted,) = fitting("wide110", 60, (0, FITTED_NS))(batches)
    columns = {"indicators": Indicators(("sma:20", "rsi:14")), "wide110": Features(fitted["set"][0].as_py(), 60)}
    ways = {**{name: stretched(asked) for name, asked in columns.items()},
            "backtest": traded("figures", {"fast": 10, "slow": 30}, None), "sweep": traded("sweep", {}, GRID)}
    found = {"read_alone_us": read_us, **{f"{name}_alone_us": us_a_bar(bars, way, batches)[1] for name, way in ways.items()}}
    for name in ways:
        write_us = size = 0
        if name in columns:
            made, place = list(computing(columns[name])(iter(batches))), Path(path).with_name(f"{name}.parquet")
            write_us, size = us_a_bar(bars, into_parquet, made, place)[1], place.stat().st_size
            place.unlink()
        found |= {f"{name}_us": read_us + found[f"{name}_alone_us"] + write_us, f"{name}_written_b": size / bars}
    return found
