"""Measures what stages of the job cost a bar: scale_spark_costs.py FOLDER, in the venv of bench/scale; prints {cost: value}."""

import json
import shutil
import sys
import time
from pathlib import Path

import scale_alone
import scale_bars
import scale_model
import scale_spark
import scale_usage

SYMBOLS, SMALL = 2, 20_000  # of a job that is little but its beginning
PARTITIONS = 2


def costs(folder, stages=scale_model.STAGES):
    """{cost: value}, and what the jobs cost. A bar's cost is that of a task's own work: a job's beginning of 20 processor seconds
    scatters by more than ten million bars cost."""
    begun, year, small = time.process_time(), Path(folder, "year"), Path(folder, "small")
    size = scale_bars.lake(year, 1, scale_bars.YEAR_BARS)
    lake_us = (time.process_time() - begun) / scale_bars.YEAR_BARS * 1e6
    scale_bars.lake(small, SYMBOLS, SMALL)
    runs = []
    for name in (stages[0], *stages):  # the first warms up: its beginning is a fifth dearer
        place = Path(folder, name)
        runs.append(scale_spark.run(name, small, place, PARTITIONS))
        shutil.rmtree(place)
        print(f"{name}, {SYMBOLS} symbols of {SMALL} bars: {json.dumps(runs[-1])}", file=sys.stderr, flush=True)
    found = {"lake_b": size / scale_bars.YEAR_BARS, "lake_us": lake_us} | {f"{name}_job_s": run["cpu_s"] for name, run in zip(stages, runs[1:])}
    return found | scale_alone.costs(year / f"symbol={scale_bars.name_of(0)}" / f"year={scale_bars.FIRST_YEAR}" / "0.parquet"), runs


def main():
    scale_usage.adopt()
    print(json.dumps(costs(sys.argv[1])[0]))


if __name__ == "__main__":
    main()
