"""Runs bench/spark_runs.py with one core and with two, and prints the figures: python3 bench/spark_figures.py BUILD_FOLDER.

Predicted: transport is the limit of cheap rows. Measured before on two cores: identity mapInArrow after a sort 345,000 rows/s, so
5.8 us a row and core; a step of SMA or RSI is 0.03 us, and one more column of eight bytes to carry back among eight is 0.2 us: 0.95
of the identity. wide110 steps 110 streams, 5 us, and carries back 110 columns, 440 bytes, some 6 us: 110,000 rows/s. pandas takes
about 100 passes of 30 ns a row, and loops of Python for KAMA, SAR, Supertrend and Heikin-Ashi, 4 us: 15,000 rows/s."""

import json
import os
import subprocess
import sys
import tempfile

import figures
from figures import BUILD, ROOT, say

PEERS = {"pandas": "pandas 2.3 in applyInPandas", "sql": "Spark SQL's window", "columns": "ours, a column each",
         "loop": "a loop of Python over itertuples() in applyInPandas",
         "rows": "a loop of Python over iterrows() in applyInPandas"}
# What must be met: the share of the identity's rate, or times the peer's.
OF_LIMIT, TIMES = {"sma": 0.8, "rsi": 0.8}, {("wide110", "pandas"): 5.0, ("backtest", "loop"): 20.0, ("backtest", "rows"): 20.0}


unmet = []  # cases below what they must be, in words


def figure(case, rate, peer=None, limit=None, least=None, **more):
    """One line; `least`: what the rate must be at least, from which follows `met`."""
    if least is not None:
        more["met"] = rate >= least
    figures.figure("spark", case, rate, "rows/s", peer, limit, load=round(os.getloadavg()[0], 1), **more)
    if more.get("met") is False:
        unmet.append(f"{case}: {rate:,.0f} rows/s, at least {least:,.0f}")


def print_figures(cores, rates):
    """rates: {what: {way: rows a second}}"""
    for what, ways in rates.items():
        case, ours, limit = f"{what}_{cores}_cores", ways["ours"], ways.get("identity")
        figure(case, ours, None, limit, OF_LIMIT[what] * limit if what in OF_LIMIT else None, computing_alone=ways.get("alone"))
        for way, peer in PEERS.items():
            times = TIMES.get((what, way))
            if way in ways:
                figure(f"{case}_{way}", ours, (peer, ways[way]), None, times * ways[way] if times else None)
            if f"{way}_alone" in ways:
                apart = (peer.replace("in applyInPandas", "without Spark"), ways[f"{way}_alone"])
                figure(f"{case}_alone_{way}", ways["alone"], apart, None, times * apart[1])


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
