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

SYMBOLS, SIZES = 2, (20_000, scale_bars.YEAR_BARS)  # the difference is what a bar costs, without the job's beginning
PARTITIONS = 2
WRITTEN = {"indicators", "wide110"}  # of others the result is rows a symbol


def lakes(folder):
    """({bars: lake}, bytes a bar, microseconds a bar) of two lakes; made here, in this process."""
    found, took, size = {}, 0, 0
    for bars in SIZES:
        begun = time.process_time()
        found[bars] = Path(folder, f"lake{bars}")
        size = scale_bars.lake(found[bars], SYMBOLS, bars)
        took = time.process_time() - begun
    return found, size / SYMBOLS / SIZES[-1], took / SYMBOLS / SIZES[-1] * 1e6


def costs(folder, stages=scale_model.STAGES):
    """{cost: value}, and what was measured: [(bars, what scale_spark.run() gave)]."""
    of_size, lake_b, lake_us = lakes(folder)
    found, runs = {"lake_b": lake_b, "lake_us": lake_us}, []
    for name in stages:
        one = []
        for bars, lake in of_size.items():
            place = Path(folder, f"{name}{bars}")
            one.append(scale_spark.run(name, lake, place, PARTITIONS))
            shutil.rmtree(place)
            print(f"{name}, {SYMBOLS} symbols of {bars} bars: {json.dumps(one[-1])}", file=sys.stderr, flush=True)
        runs += zip(SIZES, one)
        rows = [SYMBOLS * bars for bars in SIZES]
        job_s, a_bar_s = scale_model.line(one[0]["cpu_s"], one[1]["cpu_s"], *rows)
        found[f"{name}_job_s"], found[f"{name}_us"] = job_s, a_bar_s * 1e6
        found[f"{name}_written_b"] = one[1]["written_bytes"] / rows[1] if name in WRITTEN else 0
    one_year = Path(of_size[SIZES[-1]], f"symbol={scale_bars.name_of(0)}", f"year={scale_bars.FIRST_YEAR}", "0.parquet")
    return found | scale_alone.costs(one_year), runs


def main():
    scale_usage.adopt()
    print(json.dumps(costs(sys.argv[1])[0]))


if __name__ == "__main__":
    main()
