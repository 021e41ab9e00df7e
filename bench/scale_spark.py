"""Papertape's job on Spark, measured: processor time of the JVM, Python and its workers, rows through a shuffle, bytes that are
written. Needs pyspark, pyarrow and numpy, and PAPERTAPE_SPARK_LIBRARY; scale_usage.adopt() first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import scale_usage

ROOT = Path(__file__).resolve().parent.parent
JOB = ROOT / "spark/papertape_spark/job.py"
CORES, MEMORY, ATTEMPTS = 2, "4g", 4  # of local Spark; of a task, as on a cluster: a worker has 10 s to start, on a busy machine too
ERRORS_MOST = 4000  # characters of what a job that failed said
SPECS, SET = ("sma:20", "rsi:14"), "wide110"
FIT_UNTIL = "2014-01-11T00:00:00"  # ten days; wide110 has its first value after 2,400 bars of 5m
STRATEGY, PARAMS, GRID = "sma-cross", {"fast": 10, "slow": 30}, {"fast": "5:30:5", "slow": "40,80"}


def given(option, values):
    return [word for key, value in values.items() for word in (option, f"{key}={value}")]


STAGES = {
    "indicators": ["indicators", "--specs", ",".join(SPECS)],
    "wide110": ["features", "--set", SET, "--fit-until", FIT_UNTIL, "--interval", "1m"],
    "backtest": ["backtest", "--strategy", STRATEGY, *given("--set", PARAMS)],
    "sweep": ["sweep", "--strategy", STRATEGY, *given("--grid", GRID)],
}


def settings(folder, partitions):
    found = {
        "spark.master": f"local[{CORES},{ATTEMPTS}]",
        "spark.driver.memory": MEMORY,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.python.use.daemon": "false",  # it does not wait for its workers, whose processor time is lost then
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": folder,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": partitions,
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file:{folder}/events",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }
    return given("--conf", found)


def tasks_of(folder):
    """Sums over the tasks of the jobs whose events lie there."""
    found = dict.fromkeys(("tasks", "jvm_cpu_s", "shuffle_rows"), 0)
    for path in Path(folder).iterdir():
        with open(path, encoding="utf-8") as file:
            for line in file:
                event = json.loads(line)
                if event["Event"] != "SparkListenerTaskEnd" or "Task Metrics" not in event:
                    continue
                metrics = event["Task Metrics"]
                found["tasks"] += 1
                found["jvm_cpu_s"] += metrics["Executor CPU Time"] * 1e-9
                found["shuffle_rows"] += metrics["Shuffle Write Metrics"]["Shuffle Records Written"]
    return found


def run(stage, lake, folder, partitions):
    """A stage over a lake, in a new folder that has its output as `out` then: what it cost."""
    folder = Path(folder)
    (folder / "events").mkdir(parents=True)
    environment = {**os.environ, "TZ": "UTC", "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_HOSTNAME": "localhost",
                   "PYTHONPATH": str(ROOT / "spark")}
    submit = Path(pyspark.__file__).parent / "bin/spark-submit"
    words = [submit, *settings(folder, partitions), JOB, *STAGES[stage], "--quiet", "--input", lake, "--output", folder / "out"]
    with open(folder / "stderr", "w", encoding="utf-8") as said:
        try:
            printed, cpu_s, largest = scale_usage.measured(words, env=environment, stderr=said)
        except subprocess.CalledProcessError:
            print(Path(said.name).read_text(encoding="utf-8", errors="replace")[-ERRORS_MOST:], file=sys.stderr)
            raise
    files = list((folder / "out").glob("*.parquet"))
    summary = json.loads([line for line in printed.splitlines() if line.startswith("{")][-1])
    return {"stage": stage, "cpu_s": cpu_s, "process_bytes": largest, "files": len(files), "written_bytes": sum(path.stat().st_size for path in files),
            **{key: summary[key] for key in ("symbols", "written", "rows")}, **tasks_of(folder / "events")}
