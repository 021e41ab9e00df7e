"""The plan of docs/scale.md, at 1/1,000: 5 symbols x 10 years of bars of 1m through the job on local[2], predicted from what a task's
parts cost in the same run. Rows and files are exact, no bar goes through a shuffle, bytes a bar within BYTES; processor time, of the JVM
and all of Python's processes, within TIMES in both directions: a small job is little but the JVM's compiling, and other work
beside a test takes the processor's caches. `wide110` and `sweep`, whose bars cost several times those of the others, have a
year each. scale_test.py

PAPERTAPE_SCALE_SYMBOLS=50 is 1/100: 7 GB of bars, whose making takes some five minutes, and 9 GB of indicators in $TMPDIR;
PAPERTAPE_SCALE_STAGES=backtest,indicators chooses."""

import json
import os
import shutil
import sys
from pathlib import Path

import ready
from checks import SOURCE, check, done

sys.path.append(str(SOURCE / "bench"))
import scale_bars  # noqa: E402
import scale_model  # noqa: E402
import scale_spark  # noqa: E402
import scale_spark_costs  # noqa: E402
import scale_usage  # noqa: E402

SYMBOLS = int(os.environ.get("PAPERTAPE_SCALE_SYMBOLS", "5"))
YEARS = {"indicators": 10, "wide110": 1, "backtest": 10, "sweep": 1}
CHOSEN = os.environ.get("PAPERTAPE_SCALE_STAGES", ",".join(YEARS)).split(",")
BYTES, TIMES = 0.1, 2.5
RUNS = 12  # of the sweep's grid


def rows_of(name, bars):
    """What a job writes."""
    return SYMBOLS * {"backtest": 1, "sweep": RUNS}.get(name, bars)


def near(found, predicted, share, what):
    print(f"{what}: predicted {predicted:,.0f}, measured {found:,.0f}: {found / predicted:.2f}")
    check(predicted * (1 - share) <= found <= predicted * (1 + share), f"{what}: {found}, not within {share} of {predicted}")


def stage(name, lake, lake_bytes, costs):
    bars = YEARS[name] * scale_bars.YEAR_BARS
    predicted = scale_model.stage(costs, name, SYMBOLS, bars)
    found = scale_spark.run(name, lake, Path(ready.scratch.name, name), SYMBOLS)
    print(json.dumps(found))
    what = f"{name}, {SYMBOLS} symbols, {YEARS[name]} years"
    check(found["symbols"] == found["written"] == found["files"] == SYMBOLS, f"{what}: {found['files']} files")
    check(found["rows"] == rows_of(name, bars), f"{what}: {found['rows']} rows")
    check(found["shuffle_rows"] < 1000, f"{what}: {found['shuffle_rows']} rows went through the shuffle, not some sums alone")
    near(lake_bytes, predicted["read_bytes"], BYTES, f"{what}: bytes of the lake")
    if predicted["written_bytes"]:
        near(found["written_bytes"], predicted["written_bytes"], BYTES, f"{what}: bytes written")
    ratio = found["cpu_s"] / predicted["cpu_s"]
    print(f"{what}: processor seconds: predicted {predicted['cpu_s']:.0f}, measured {found['cpu_s']:.0f}: {ratio:.2f}")
    check(1 / TIMES <= ratio <= TIMES, f"{what}: processor seconds: {found['cpu_s']}, {ratio} times {predicted['cpu_s']}")
    shutil.rmtree(Path(ready.scratch.name, name))


def main():
    scale_usage.adopt()
    costs = scale_spark_costs.costs(ready.scratch.name, CHOSEN)
    for years in sorted({YEARS[name] for name in CHOSEN}):
        lake = Path(ready.scratch.name, f"years{years}")
        size = scale_bars.lake(lake, SYMBOLS, years * scale_bars.YEAR_BARS)
        for name in (name for name in CHOSEN if YEARS[name] == years):
            stage(name, lake, size, costs)
        shutil.rmtree(lake)
    done("spark/scale")


main()
