"""Runs bench/spark_runs.py with one core and with two, and prints the figures: python3 bench/spark_figures.py BUILD_FOLDER.

Predicted, a row and core. Through Spark's shuffle: 0.3 us to read Parquet by the JVM, twice since the ranges are sampled first; 80 bytes
written, compressed, read and sorted, 2 us; to Arrow and Python 0.5 us, and back again 0.5 us: 4 us, the identity's. A step of SMA or RSI
is 0.03 us, a column more to carry back 0.1 us: 0.95 of the identity. In tasks that read files by themselves: 56 bytes by pyarrow, 0.1 us,
and back to the JVM 0.5 us: six times the identity.

wide110: 110 streams are 5 us; 440 bytes back to the JVM as one column of lists 1 us, as 110 columns 3 us, into Parquet 4 us (zstd at
100 MB/s). pandas takes some 100 passes of 30 ns, loops of Python for KAMA, SAR, Supertrend and Heikin-Ashi, 4 us, and rolling().apply() at
1 us a call and row, 15 us: 22 us, or with NumPy's windows instead 12 us, then its 110 columns to the JVM: four times ours, and twice.

A backtest by the engine is 0.25 us (of which 0.05 us the bars' decimals, 0.05 us two hashes of the ledger's rows), in a task that reads its
file 0.35 us. The loop by itertuples() is 0.7 us, iterrows() 25 us, backtesting.py 5 us, backtrader 60 us, and 2.5 us more to get the
bars into pandas, which never come in less: ten, 75, 20 and 180 times ours."""

import json
import os
import subprocess
import sys
import tempfile

import figures
from figures import BUILD, ROOT, say

PEERS = {
    "pandas": "pandas 2.3 in applyInPandas", "windows": "pandas 2.3 and NumPy's windows in applyInPandas", "sql": "Spark SQL's window",
    "shuffled": "ours, through Spark's shuffle", "columns": "ours, a column each", "loop": "a loop by itertuples() in applyInPandas",
    "kept": "a loop with orders, fills, a ledger and figures in applyInPandas", "rows": "a loop by iterrows() in applyInPandas",
    "backtesting": "backtesting.py 0.6.6 in applyInPandas", "backtrader": "backtrader 1.9.78 in applyInPandas"}
# From Parquet to Parquet: the peer of `job`.
JOBS = {"wide110": ("pandas_job", "windows_job"), "backtest": ("loop", "kept")}
# What must be met: the share of the identity's rate, by ours through the same shuffle; times the peer's.
OF_LIMIT = {"sma": 0.8, "rsi": 0.8}
TIMES = {("wide110", "pandas"): 5.0} | {("backtest", loop): 20.0 for loop in ("loop", "kept", "rows", "backtesting", "backtrader")}

unmet = []  # cases below what they must be, in words


def figure(case, rate, peer=None, limit=None, least=None, **more):
    """One line; `least`: what the rate must be at least, from which follows `met`."""
    if least is not None:
        more["met"] = rate >= least
    figures.figure("spark", case, rate, "rows/s", peer, limit, load=round(os.getloadavg()[0], 1), **more)
    if more.get("met") is False:
        unmet.append(f"{case}: {rate:,.0f} rows/s, at least {least:,.0f}")


def print_parts(cores, ways):
    """Microseconds of processors a row of each."""
    for way, found in ways.items():
        figures.figure("spark", f"parts_{cores}_cores_{way}", found["cpu_us"], "us", rate=found["rate"], fixed_s=found["fixed_s"])


def print_figures(cores, found):
    """found: {what: {way: its figures}}"""
    print_parts(cores, found.pop("parts", {}))
    for what, ways in found.items():
        case, ours = f"{what}_{cores}_cores", ways["ours"]["rate"]
        more = {key: ways["ours"][key] for key in ("cpu_us", "fixed_s")} | {"computing_alone": ways["alone"]["rate"]}
        limit = ways.get("identity", {}).get("rate")
        figure(case, ours, None, limit, **more)
        if what in OF_LIMIT:
            figure(f"{case}_identity", ways["shuffled"]["rate"], None, limit, OF_LIMIT[what] * limit, identity_cpu_us=ways["identity"]["cpu_us"])
        for way, peer in PEERS.items():
            least = TIMES.get((what, way))
            if least and way not in ways:
                unmet.append(f"{case}_{way}: not measured")
            for end, mine in (("", ours), ("_alone", ways["alone"]["rate"])):
                if way + end in ways:
                    rate, name = ways[way + end]["rate"], peer.replace("in applyInPandas", "without Spark") if end else peer
                    figure(f"{case}{end}_{way}", mine, (name, rate), None, least * rate if least else None, peer_cpu_us=ways[way + end]["cpu_us"])
        for way in (way for way in JOBS.get(what, ()) if way in ways):
            figure(f"{case}_job_{way.removesuffix('_job')}", ways["job"]["rate"], (PEERS[way.removesuffix("_job")] + ", written", ways[way]["rate"]), None,
                   cpu_us=ways["job"]["cpu_us"], fixed_s=ways["job"]["fixed_s"])


def main():
    python = BUILD / "spark-peers/bin/python"
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        environment = {**os.environ, "PAPERTAPE_SPARK_LIBRARY": str(BUILD / "spark/libpapertape-spark.so"), "PYSPARK_PYTHON": str(python),
                       "PYTHONPATH": f"{ROOT / 'spark'}:{ROOT / 'bench'}", "TZ": "UTC", "SPARK_LOCAL_HOSTNAME": "localhost"}
        for cores in (1, 2):
            say(f"{cores} of the cores")
            printed = subprocess.run([python, ROOT / "bench/spark_runs.py", str(cores), folder], env=environment, stdout=subprocess.PIPE,
                                     text=True, check=True).stdout
            print_figures(cores, json.loads(printed.splitlines()[-1]))
    for words in unmet:
        say(f"bench/spark: {words}")
    return int(bool(unmet))


if __name__ == "__main__":
    sys.exit(main())
