"""Runs the parts of bench/scale, prints their figures and the table of docs/scale.md: python3 bench/scale_figures.py BUILD_FOLDER
[--write].

What the figures are of: a bar of 1m is read and computed by a task in the library's own time and 0.1 us (bench/spark's parts). A trial
of three splits without training is some 36 waits for the server, those of the machine's supervisor among them. A look at the study reads
each trial that runs again: 35 rows of 250 bytes, at 1 us a row on either side. TPE goes over the parameters of each trial that has ended."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import figures
import scale_model
from figures import BUILD, ROOT

PAGE = ROOT / "docs/scale.md"
UNITS = {"_us": "us", "_s": "s", "_b": "B", "_trips": "round trips"}
WORDS = {
    "lake_b": "a bar in the lake, Parquet with zstd, files of a symbol and year",
    "lake_us": "a bar written to it by pyarrow, with its making",
    "job_s": "a job over whatever it has: Spark's start, the JVM's compiling",
    "us": "a bar: read, computed and written by a task",
    "written_b": "a bar in what the job writes, Parquet with zstd; 0 where that is rows a symbol",
    "computing_us": "a bar computed, likewise",
    "read_us": "a bar read from the lake by a task",
    "planned_s": "the planned trial: ten splits of 20,480 steps, 64x64, 20,000 hours of two assets",
    "trial_round_trips": "a trial's waits for the server, apart from its splits",
    "split_round_trips": "likewise, each split (its report)",
    "trial_sent_b": "a trial to the server, apart from its splits", "split_sent_b": "each split",
    "trial_wal_b": "a trial in the server's log of writes, apart from its splits", "split_wal_b": "each split",
    "artifact_b": "the planned trial's returns in the artifact store, one object",
    "trial_client_s": "a trial of three splits without training, 24 parameters: the trainer",
    "trial_server_s": "likewise, the server",
    "start_client_s": "a machine that joins: the trainer", "start_server_s": "likewise, the server",
    "running_client_us": "each trial that runs elsewhere, in each look at the study: the trainer",
    "running_server_us": "likewise, the server", "running_b": "likewise, bytes from the server",
    "finished_us": "each trial that has ended, in each draw (TPE)",
    "join_b": "each trial that has ended, when a machine of one worker joins: bytes from the server",
    "finished_b": "each trial that has ended, in a process's memory",
    "stored_b": "a trial of three splits in the database, with its indexes",
}


def figure(case, value, unit):
    figures.figure("scale", case, value, unit, load=round(os.getloadavg()[0], 1))


def words_of(key):
    if key in WORDS:
        return WORDS[key]
    stage, _, what = key.partition("_")
    return f"{stage}: {WORDS[what]}"


def unit_of(key):
    return next(unit for end, unit in UNITS.items() if key.endswith(end))


def table(costs):
    rows = [f"| `{key}` | {scale_model.number(value)} | {unit_of(key)} | {words_of(key)} |" for key, value in costs.items()]
    return "\n\n" + "\n".join(["| | measured | | of |", "|---|---|---|---|", *rows]) + "\n\n"


def printed(words, **more):
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **more})
    return json.loads(done.stdout.splitlines()[-1])


def main():
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        spark, trials = Path(folder, "spark"), Path(folder, "trials")
        spark.mkdir()
        trials.mkdir()
        costs = printed([BUILD / "spark-peers/bin/python", ROOT / "bench/scale_spark_costs.py", spark.resolve()],
                        PAPERTAPE_SPARK_LIBRARY=str(BUILD / "spark/libpapertape-spark.so"))
        costs |= printed([sys.executable, ROOT / "bench/scale_trials_costs.py", BUILD / "trainer/papertape-trainer", trials.resolve()])
    for key, value in costs.items():
        figure(key, value, unit_of(key))
    figures.say(table(costs))
    if "--write" in sys.argv:
        head, _, tail = scale_model.section(PAGE.read_text(encoding="utf-8"), "costs")
        PAGE.write_text(head + table(costs) + tail, encoding="utf-8")
        return scale_model.main("write", PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
