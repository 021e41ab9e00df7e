"""Measures what stages of the job cost: scale_spark_costs.py FOLDER, in the venv of bench/scale; prints {cost: value}. A bar's cost is
that of a task's own work, its reading, computing and writing, here in one thread and without Spark: a job's beginning of 20 processor
seconds scatters by more than ten million bars cost. That beginning is a job's over a few bars. Wants PAPERTAPE_SPARK_LIBRARY."""

import datetime
import json
import shutil
import sys
import time
from pathlib import Path

import pyarrow
import scale_bars
import scale_model
import scale_spark
import scale_usage

sys.path.insert(0, str(scale_spark.ROOT / "spark"))
from papertape_spark import files  # noqa: E402
from papertape_spark.asked import Features, Indicators  # noqa: E402
from papertape_spark.build import fitting  # noqa: E402
from papertape_spark.columns import computing  # noqa: E402
from papertape_spark.commit import writing  # noqa: E402
from papertape_spark.trading import options_of, trading  # noqa: E402

SYMBOLS, SMALL = 2, 20_000  # of a job that is little but its beginning
PARTITIONS = 2
SYMBOL, MINUTE_S = scale_bars.name_of(0), 60
COLUMNS = pyarrow.schema([("symbol", pyarrow.string()), ("timestamp", pyarrow.timestamp("us", "UTC")),
                          *((name, pyarrow.float64()) for name in ("open", "high", "low", "close", "volume"))])
FIT_NS = int(datetime.datetime.fromisoformat(scale_spark.FIT_UNTIL + "+00:00").timestamp()) * 10**9


def steps_of(bars):
    """{stage: what a task does with its batches}"""
    (fitted,) = fitting(scale_spark.SET, MINUTE_S, (0, FIT_NS))(iter(bars))
    strategy = scale_spark.STRATEGY
    return {"indicators": computing(Indicators(scale_spark.SPECS)), "wide110": computing(Features(fitted["set"][0].as_py(), MINUTE_S)),
            "backtest": trading("figures", options_of(strategy, scale_spark.PARAMS, None, {})),
            "sweep": trading("sweep", options_of(strategy, {}, scale_spark.GRID, {}))}


def took(batches, bars):
    """(the batches, microseconds a bar)"""
    start_s = time.process_time()
    made = list(batches)
    return made, (time.process_time() - start_s) / bars * 1e6


def of_tasks(file, folder):
    """What a bar costs a task that has this file of one symbol; stages write into the folder."""
    bars = pyarrow.parquet.read_metadata(file).num_rows
    batches, read_us = took(files.rows_of(SYMBOL, [str(file)], COLUMNS), bars)
    found = {"read_us": read_us}
    for name, step in steps_of(batches).items():
        rows, computing_us = took(step(iter(batches)), bars)
        written = Path(folder, f"{name}-task")
        written.mkdir()
        _, writing_us = took(writing(str(written), {SYMBOL: name}, {}, rows[0].schema)(iter(rows)), bars)
        size = sum(path.stat().st_size for path in written.iterdir()) if len(rows) == len(batches) else 0  # else it is rows a symbol
        shutil.rmtree(written)
        found |= {f"{name}_computing_us": computing_us, f"{name}_us": read_us + computing_us + writing_us, f"{name}_written_b": size / bars}
    return found


def costs(folder, stages=scale_model.STAGES):
    """{cost: value}; of the job's beginning those of these stages."""
    start_s, year, small = time.process_time(), Path(folder, "year"), Path(folder, "small")
    size = scale_bars.lake(year, 1, scale_bars.YEAR_BARS)
    found = {"lake_b": size / scale_bars.YEAR_BARS, "lake_us": (time.process_time() - start_s) / scale_bars.YEAR_BARS * 1e6}
    scale_bars.lake(small, SYMBOLS, SMALL)
    for name in (stages[0], *stages):  # the first warms up: its beginning is a fifth dearer
        place = Path(folder, name)
        run = scale_spark.run(name, small, place, PARTITIONS)
        shutil.rmtree(place)
        print(f"{name}, {SYMBOLS} symbols of {SMALL} bars: {json.dumps(run)}", file=sys.stderr, flush=True)
        found[f"{name}_job_s"] = run["cpu_s"]
    for _ in range(2):  # likewise
        tasks = of_tasks(year / f"symbol={SYMBOL}" / f"year={scale_bars.FIRST_YEAR}" / "0.parquet", folder)
    return found | tasks


def main():
    scale_usage.adopt()
    print(json.dumps(costs(sys.argv[1])))


if __name__ == "__main__":
    main()
