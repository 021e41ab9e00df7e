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

# The difference of two sizes is what a bar costs, without the job's beginning, whose 20 s scatter by a second: ten years of what
# costs less than a microsecond a bar.
SYMBOLS, SMALL, LARGE = 2, 20_000, 10 * scale_bars.YEAR_BARS
LARGE_OF = {"wide110": scale_bars.YEAR_BARS}
PARTITIONS = 2
WRITTEN = {"indicators", "wide110"}  # of others the result is rows a symbol


def lakes(folder, sizes):
    """({bars: lake}, bytes a bar, microseconds a bar) of a lake of each size; made here, in this process."""
    found, took, size = {}, 0, 0
    for bars in sorted(sizes):
        begun = time.process_time()
        found[bars] = Path(folder, f"lake{bars}")
        size = scale_bars.lake(found[bars], SYMBOLS, bars)
        took = time.process_time() - begun
    return found, size / SYMBOLS / bars, took / SYMBOLS / bars * 1e6


def costs(folder, stages=scale_model.STAGES):
    """{cost: value}, and what was measured: [(bars, what scale_spark.run() gave)]."""
    larges = {name: LARGE_OF.get(name, LARGE) for name in stages}
    of_size, lake_b, lake_us = lakes(folder, {SMALL, *larges.values()})
    found, runs = {"lake_b": lake_b, "lake_us": lake_us}, []

    def measured(name, bars):
        place = Path(folder, f"{name}{bars}")
        cost = scale_spark.run(name, of_size[bars], place, PARTITIONS)
        shutil.rmtree(place)
        print(f"{name}, {SYMBOLS} symbols of {bars} bars: {json.dumps(cost)}", file=sys.stderr, flush=True)
        runs.append((bars, cost))
        return cost

    measured(next(iter(larges)), SMALL)  # warms up: the first job's beginning is a fifth dearer
    for name, large in larges.items():
        one = [measured(name, bars) for bars in (SMALL, large)]
        job_s, a_bar_s = scale_model.line(one[0]["cpu_s"], one[1]["cpu_s"], SYMBOLS * SMALL, SYMBOLS * large)
        found[f"{name}_job_s"], found[f"{name}_us"] = job_s, a_bar_s * 1e6
        found[f"{name}_written_b"] = one[1]["written_bytes"] / SYMBOLS / large if name in WRITTEN else 0
    one_year = Path(of_size[max(of_size)], f"symbol={scale_bars.name_of(0)}", f"year={scale_bars.FIRST_YEAR}", "0.parquet")
    return found | scale_alone.costs(one_year), runs


def main():
    scale_usage.adopt()
    print(json.dumps(costs(sys.argv[1])[0]))


if __name__ == "__main__":
    main()
