"""papertape_spark beyond one task that goes well: 50 symbols' backtests in many small partitions, a task that fails at
attempt 0, an executor and a whole job that are killed and run again, a stream, the GPU module's way on a CPU:
python3 run_test.py"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import ready
from checks import SOURCE, check, done, refused, seeded
from ready import in_order, same_bits, session, walk

import numpy as np
import pandas as pd
import papertape_spark
import papertape_spark.job
import pyspark
import reading
import trading
from pyspark.sql import functions as F

ROWS = 400
SPECS = ["sma:20", "rsi:14", "macd:12,26,9", "sar", "obv", "supertrend", "adx:14"]
WAIT_S = 600

rng = seeded("spark/run", 31)
FRAMES = [walk(rng, f"S{number:02d}USDT", ROWS) for number in range(50)]
ALL = pd.concat(FRAMES)


def wait_for(what, condition, alive=lambda: True):
    """Polls until it holds; ends the test where it cannot any more."""
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end or not alive():
            sys.exit(f"{what}: it did not come")
        time.sleep(0.01)


def lake(symbols, rows, name="lake"):
    """Bars in Parquet, partitioned by symbol and day."""
    folder = Path(ready.scratch.name, name)
    for number in range(symbols):
        symbol = f"L{number:03d}USDT"
        bars = walk(rng, symbol, rows)
        bars["timestamp"] = bars.timestamp.dt.tz_localize("UTC").dt.as_unit("us")
        for day, part in bars.groupby(bars.timestamp.dt.date):
            path = folder / f"symbol={symbol}" / f"day={day}"
            path.mkdir(parents=True)
            part.to_parquet(path / "0.parquet", index=False)
    return folder


JOB_CONFIG = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.local.dir": ready.scratch.name,
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}


def job(*words):
    """A job in a process group of its own, by spark-submit."""
    submit = Path(pyspark.__file__).parent / "bin/spark-submit"
    config = [word for key, value in JOB_CONFIG.items() for word in ("--conf", f"{key}={value}")]
    source = SOURCE / "spark/papertape_spark/job.py"
    return subprocess.Popen([submit, *config, source, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)


def ended(process):
    """(exit status, the summary or None, what it said: spark-submit gives a program's stderr to its own stdout)"""
    out, _ = process.communicate(timeout=WAIT_S)
    lines = [line for line in out.splitlines() if line.startswith("{")]
    return process.returncode, json.loads(lines[-1]) if lines else None, out


def parquet_of(folder):
    return {path.name: path.stat().st_mtime_ns for path in Path(folder).glob("*.parquet")}


def killed_job():
    """A job that is killed in the middle continues: the rows of an undisturbed one, each once, no file written again."""
    symbols, rows = 24, 300
    words = ["indicators", "--input", str(lake(symbols, rows)), "--specs", ",".join(SPECS), "--partitions", "24"]
    out, other = f"{ready.scratch.name}/out", f"{ready.scratch.name}/other"
    process = job(*words, "--output", out)
    wait_for("a first file", lambda: parquet_of(out) or process.poll() is not None)
    if process.poll() is not None:
        sys.exit(f"the job ended by itself: {ended(process)}")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = parquet_of(out)
    check(0 < len(before) < symbols, f"{len(before)} files of {symbols} before the job was killed")
    status, summary, err = ended(job(*words, "--output", out))
    check(status == 0 and summary, err[-400:])
    after = parquet_of(out)
    check(all(after.get(name) == written for name, written in before.items()), "a complete file was written again")
    check(summary["symbols"] == symbols and summary["written"] + summary["kept"] == symbols and summary["kept"] >= len(before), f"{summary}")
    check(" tasks, " in err and " stages, " in err, f"no progress: {err[-300:]}")
    check(not [name for name in os.listdir(out) if name.endswith(".unfinished")], "unfinished files are gone")
    status, whole, err = ended(job(*words, "--output", other, "--quiet"))
    check(status == 0 and whole["written"] == symbols and " tasks, " not in err, f"{whole} {err[-300:]}")
    found, expected = (in_order(pd.read_parquet(sorted(Path(folder).glob("*.parquet")))) for folder in (out, other))
    check(len(found) == symbols * rows and found.equals(expected), "the rows are not those of an undisturbed job, each once")
    status, again, _ = ended(job(*words, "--output", out))
    check(status == 0 and again["written"] == 0 and again["kept"] == symbols and parquet_of(out) == after, f"again: {again}")
    return out, words


def other_jobs(out, words):
    """What a job refuses, in words."""
    status, _, err = ended(job(*words[:-4], "--specs", "sma:5", "--output", out))
    check(status == 2 and "holds the rows of another job" in err, err[-300:])
    status, _, err = ended(job("backtest", *words[1:3], "--strategy", "sma-cross", "--output", out + "2", "--cut", "time"))
    check(status == 2 and "a backtest" in err, err[-300:])
    status, _, err = ended(job(*words, "--backend", "gpu", "--output", out + "3"))
    check(status in (1, 2) and "backend gpu: " in err and not os.path.exists(out + "3"), err[-300:])


def changed_input(out, words):
    """A symbol whose bars changed is written again, in place of its old rows."""
    folder = Path(words[2]) / "symbol=L003USDT"
    last = sorted(folder.iterdir())[-1] / "0.parquet"
    bars = pd.read_parquet(last)
    bars.iloc[:-1].to_parquet(last, index=False)
    before = parquet_of(out)
    status, summary, err = ended(job(*words, "--output", out))
    check(status == 0 and summary["written"] == 1, f"{summary} {err[-300:]}")
    after = parquet_of(out)
    gone, new = set(before) - set(after), set(after) - set(before)
    check(len(gone) == len(new) == 1 and all(name.startswith("L003USDT-") for name in gone | new), f"{gone} became {new}")


def executors(spark):
    """The processes of the session's executors."""
    application = spark.sparkContext.applicationId
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if any(b"CoarseGrainedExecutorBackend" in word for word in words) and application.encode() in words:
            found.append(int(entry.name))
    return found


def killed_executor(spark, df):
    """An executor is killed while the job writes: each row once."""
    from papertape_spark import commit
    from papertape_spark.tasks import arrow_schema
    import threading

    folder = f"{ready.scratch.name}/executors"
    os.mkdir(folder)
    frame = papertape_spark.indicators(df, SPECS, partitions=25)
    keys = {bars.symbol.iloc[0]: commit.key_of("x") for bars in FRAMES}
    made = []
    writing = commit.write(frame, folder, keys, {}, arrow_schema(frame.schema))
    worker = threading.Thread(target=lambda: made.extend(writing.collect()))
    worker.start()
    wait_for("a first file", lambda: parquet_of(folder), worker.is_alive)
    victims = executors(spark)
    check(len(victims) == 2, f"{len(victims)} executors")
    os.kill(victims[0], signal.SIGKILL)
    worker.join()
    check(sorted(row.symbol for row in made) == sorted(keys), f"{len(made)} symbols were reported")
    found = in_order(pd.read_parquet(sorted(Path(folder).glob("*.parquet"))))
    expected = in_order(frame.toPandas())
    check(len(parquet_of(folder)) == len(keys) and len(found) == len(ALL), f"{len(found)} rows")
    for name in expected.columns[2:]:
        check(same_bits(found[name], expected[name]), f"after the kill: {name}")


def on_device(df):
    """The GPU module's way, by the module that runs on a CPU: the same bits. Without one the reason."""
    few = df.where(F.col("symbol") < "S03")
    found = in_order(papertape_spark.indicators(few, SPECS, backend="gpu").toPandas())
    expected = in_order(papertape_spark.indicators(few, SPECS).toPandas())
    for name in expected.columns:
        same = same_bits(found[name], expected[name]) if name not in ("symbol", "timestamp") else found[name].equals(expected[name])
        check(same, f"backend gpu: {name}")
    chained = papertape_spark.indicators(papertape_spark.indicators(few, "macd").withColumn("state", F.lit("x")), "sma:20", backend="gpu")
    check(same_bits(in_order(chained.toPandas()).sma_20, expected.sma_20), "backend gpu: behind columns of any names")
    below = few.withColumn("high", F.expr("low - 1"))
    refused("high is below low", lambda: papertape_spark.indicators(below, SPECS, backend="gpu").count())
    refused("it goes with cut='symbol'", lambda: papertape_spark.indicators(few, SPECS, cut="time", backend="gpu"))


def commands(spark):
    """The job's commands write what the functions give; its output is read by any reader of Parquet."""
    folder = str(lake(3, 300, "commands"))
    bars = papertape_spark.read(spark, folder)
    until = "2024-01-03T12:00:00"
    asked = {
        "features": (["--set", "market14", "--fit-until", until, "--interval", "15m"], lambda: papertape_spark.features(bars, papertape_spark.fit(bars, "market14", "15m", until=until), "15m")),
        "bars": (["--interval", "1h"], lambda: papertape_spark.bars(bars, "1h")),
        "sweep": (["--strategy", "sma-cross", "--grid", "fast=3,5", "--grid", "slow=9:15:3", "--option", "fee_taker=0.0005"], lambda: papertape_spark.sweep(bars, "sma-cross", {"fast": [3, 5], "slow": "9:15:3"}, fee_taker=0.0005)),
        "backtest": (["--strategy", "sma-cross", "--set", "fast=3", "--rows", "equity"], lambda: papertape_spark.backtest(bars, "sma-cross", {"fast": 3}, equity=True)),
    }
    for name, (words, function) in asked.items():
        out = f"{ready.scratch.name}/out_{name}"
        check(papertape_spark.job.main([name, "--input", folder, "--output", out, "--quiet", *words]) == 0, f"the job {name} failed")
        key = ["symbol", "rank" if name == "sweep" else "timestamp"]
        found, expected = (frame.sort_values(key).reset_index(drop=True) for frame in (pd.read_parquet(sorted(Path(out).glob("*.parquet"))), function().toPandas()))
        check(list(found.columns) == list(expected.columns) and len(found) > 0, f"{name}: columns {list(found.columns)}")
        plain = [column for column in expected.columns if column != "timestamp"]
        check(found[plain].equals(expected[plain]), f"{name}: the rows differ")


def streams(spark, df, bars):
    sets = papertape_spark.fit(df, "market14", "15m", until="2024-01-03")
    trading.streams(spark, df, bars, "indicators", lambda stream: papertape_spark.stream_indicators(stream, SPECS), lambda whole: papertape_spark.indicators(whole, SPECS))
    trading.streams(spark, df, bars, "features", lambda stream: papertape_spark.stream_features(stream, sets, "15m"), lambda whole: papertape_spark.features(whole, sets, "15m"))


def trades(spark):
    """Trades in Parquet and CSV, partitioned by symbol and day, become the bars that pandas makes of them."""
    made = []
    for number in range(3):
        rows = 3000
        times = pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(np.sort(rng.integers(0, 3 * 86_400_000_000, rows)), unit="us")
        prices = np.round(100 + np.cumsum(rng.normal(0, 0.05, rows)), 2)
        made.append(pd.DataFrame({"symbol": f"T{number}USDT", "timestamp": times.as_unit("us"), "id": np.arange(rows), "price": prices, "qty": np.round(rng.exponential(2, rows), 3)}))
    whole = pd.concat(made)
    expected = whole.groupby(["symbol", pd.Grouper(key="timestamp", freq="5min")]).agg(
        open=("price", "first"), high=("price", "max"), low=("price", "min"), close=("price", "last"), volume=("qty", "sum"), count=("id", "size"))
    expected = expected[expected["count"] > 0].reset_index()
    for kind in ("parquet", "csv"):
        for (symbol, day), rows in whole.groupby(["symbol", whole.timestamp.dt.date]):
            folder = Path(ready.scratch.name, f"trades_{kind}", f"symbol={symbol}", f"day={day}")
            folder.mkdir(parents=True)
            rows = rows.drop(columns="symbol").sample(frac=1, random_state=5)
            if kind == "parquet":
                rows.to_parquet(folder / "0.parquet", index=False)
            else:
                rows.to_csv(folder / "0.csv", index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ")
        df = papertape_spark.read(spark, f"{ready.scratch.name}/trades_{kind}", kind)
        found = in_order(papertape_spark.bars(df, "5m").toPandas())
        check(len(found) == len(expected) and list(found.symbol) == list(expected.symbol), f"bars of trades, {kind}: {len(found)} of {len(expected)}")
        check(list(found.timestamp) == list(expected.timestamp.dt.tz_localize(None)), f"bars of trades, {kind}: times")
        for name in ("open", "high", "low", "close", "count"):
            check(np.array_equal(found[name], expected[name]), f"bars of trades, {kind}: {name}")
        check(np.array_equal(found.volume, np.round(expected.volume, 3)), f"bars of trades, {kind}: volume, exact decimals")


def cluster_home():
    """Spark's own folder, whose `work` can be written."""
    home = Path(ready.scratch.name, "home")
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    return str(home)


def local():
    os.environ["PAPERTAPE_GPU_MODULE"] = os.environ["PAPERTAPE_GPU_ON_CPU"]
    spark = session("local[2,3]")
    df = spark.createDataFrame(ALL).repartition(40, F.rand(7)).cache()
    trading.backtests(df, FRAMES, partitions=50)
    trading.refusals(df)
    trading.short_symbols(df.where("symbol = 'S01USDT'"))
    trading.rows_once(spark, df, FRAMES, f"{ready.scratch.name}/once")
    streams(spark, df.where("symbol < 'S05'"), pd.concat(FRAMES[:5]))
    trades(spark)
    reading.zones(spark)
    for reads in (reading.choices, reading.young, reading.sentences, reading.outputs):
        reads(spark)
    on_device(df)
    commands(spark)
    spark.stop()
    del os.environ["PAPERTAPE_GPU_MODULE"]


def cluster():
    os.environ["SPARK_HOME"] = cluster_home()
    spark = session("local-cluster[2,1,1024]", **{"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"], "spark.executorEnv.PAPERTAPE_SPARK_LIBRARY": os.environ["PAPERTAPE_SPARK_LIBRARY"], "spark.executorEnv.PAPERTAPE_GPU_MODULE": os.environ["PAPERTAPE_GPU_ON_CPU"]})
    df = spark.createDataFrame(ALL).repartition(40, F.rand(7))
    on_device(df)
    killed_executor(spark, df)
    trading.backtests(df, FRAMES[:50], partitions=20)
    spark.stop()
    shutil.rmtree(os.environ.pop("SPARK_HOME"))


def jobs():
    out, words = killed_job()
    other_jobs(out, words)
    changed_input(out, words)


parts = sys.argv[1:] or ["local", "jobs", "cluster"]
for part in parts:
    {"local": local, "jobs": jobs, "cluster": cluster}[part]()
done("spark/run")
