"""Runs the parts of bench/engine and prints their figures: python3 bench/engine_figures.py BUILD_FOLDER."""

import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / sys.argv[1]
os.environ["PAPERTAPE_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "fixtures"))

import programs  # noqa: E402

RECORDING = "btcusdt_2024-08-08.jsonl.gz"
PEER = "nautilus_trader==1.221.0"  # the last for Python 3.11
PEER_CASES = {"book": "book", "bars5": "bars5", "trades_orders": "trades_orders"}
ASKED = {"book": 2e6, "market": 2e6, "bars5": 5e5, "bars5_50": 5e5}


def say(text):
    print(text, file=sys.stderr, flush=True)


def figure(case, value, unit, peer=None, limit=None, **more):
    """peer: its name and its value."""
    name, peer_value = peer or (None, None)
    line = {"bench": "engine", "case": case, "value": value, "unit": unit, "peer": name, "peer_value": peer_value,
            "ratio": None, "limit": limit, "of_limit": None, **more}
    if peer_value:
        line["ratio"] = value / peer_value if unit.endswith("/s") else peer_value / value
    if limit:
        line["of_limit"] = value / limit
    print(json.dumps(line), flush=True)


def run(program, *arguments):
    """The rows of a program that prints figures between tabs."""
    done = subprocess.run([BUILD / "bench" / program, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def peer_python():
    """The interpreter of a venv with the peer, or None where it cannot be had."""
    folder = BUILD / "engine-peers"
    python = folder / "bin/python"
    marker = folder / PEER
    if not marker.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, stdout=sys.stderr)
            subprocess.run([python, "-m", "pip", "install", "-q", PEER], check=True, stdout=sys.stderr)
        except (subprocess.CalledProcessError, OSError) as error:
            say(f"no {PEER}: {error}; the engine is not compared")
            return None
        marker.touch()
    return python


def peer_rate(python, path, case):
    if python is None:
        return None
    done = subprocess.run([python, ROOT / "bench/engine_peers.py", path, case], stdout=subprocess.PIPE, text=True,
                          check=True)
    return PEER.replace("==", " "), float(done.stdout)


def rates(path, python):
    rows = run("engine_events", path)
    floor = next(float(row[1]) for row in rows if row[0] == "floor")
    for case, median, best, unit in rows:
        peer = peer_rate(python, path, PEER_CASES[case]) if case in PEER_CASES else None
        asked = ASKED.get(case)
        figure(case, float(median), unit, peer, floor if case in ("book", "market") else None, best=float(best),
               asked=asked, of_asked=float(median) / asked if asked else None)


def log(folder, path, python):
    """The log's cost and recovery; the peer keeps the same events in its catalogue of Parquet files."""
    kept = None
    if python:
        done = subprocess.run([python, ROOT / "bench/engine_peers.py", path, "log"], stdout=subprocess.PIPE,
                              text=True, check=True)
        kept = dict(zip(("s", "B"), map(float, done.stdout.split())))
    for case, value, unit in run("engine_log", folder, path):
        name = PEER.replace("==", " ") + " catalog"
        peer = (name, kept["B"]) if kept and case == "log_bytes" else None
        figure(case, float(value), unit, peer)
        if case == "log_encode":
            encode_s = float(value)
        elif case == "log_write":  # both threads together
            figure("log_cpu", encode_s + float(value), "s", (name, kept["s"]) if kept else None)


def raw_frames(folder, path):
    """What --record costs, a frame; the peers keep lines of JSON, as recorders of market data do."""
    rows = {case: (float(value), unit) for case, value, unit in
            run("engine_log_peers", os.path.join(folder, "frames"), path)}
    for what, case in (("write", "frames_cpu"), ("bytes", "frames_bytes")):
        value, unit = rows[f"frames_{what}"]
        others = {f"{name}_{level}": rows[f"{name}_{level}_{what}"][0] for name, level in
                  (("gzip", 1), ("gzip", 6), ("zstd", 1))}
        figure(case, value, unit, ("gzip -6 of JSON lines", others["gzip_6"]), **others)


def plain_commits(folder):
    """The peer of commits: the same rows by Python's sqlite3, an order a transaction, one after the other."""
    database = sqlite3.connect(os.path.join(folder, "plain.db"), isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    for table in ("orders", "fills", "ledger"):
        database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h, i)")
    row, took = (1, 2, 3, 4, 5, 6, 7, 8, "text"), []
    for _ in range(500):
        begin = time.perf_counter()
        database.execute("BEGIN IMMEDIATE")
        for table in ("orders", "fills", "ledger", "ledger", "ledger"):
            database.execute(f"INSERT INTO {table} (a, b, c, d, e, f, g, h, i) VALUES (?,?,?,?,?,?,?,?,?)", row)
        database.execute("COMMIT")
        took.append(time.perf_counter() - begin)
    database.close()
    cuts = statistics.quantiles(took, n=100)
    return {"p50": cuts[49], "p99": cuts[98], "max": max(took), "rate": len(took) / sum(took)}


def commits(folder):
    plain = plain_commits(folder)
    for case, value, unit in run("engine_commits", os.path.join(folder, "commits")):
        peer = ("python sqlite3, a transaction an order", plain[case.rsplit("_", 1)[1]]) if "_10_" in case and \
            not case.endswith("rate") else None
        figure(case, float(value), unit, peer)


def main():
    recording = programs.recording(RECORDING)
    cores = os.sched_getaffinity(0)
    folder = tempfile.mkdtemp(prefix="papertape-engine-", dir=BUILD)  # on a real disk
    try:
        path = recording or os.path.join(folder, "synthetic.jsonl")
        if not recording:
            say("no recordings here (PAPERTAPE_SHARED): the synthetic market instead")
            subprocess.run([BUILD / "bench/feed_frames", "--synthetic", path], check=True)
        python = peer_python()
        os.sched_setaffinity(0, {max(cores)})
        rates(path, python)
        log(folder, path, python)
        raw_frames(folder, path)
        os.sched_setaffinity(0, cores)
        commits(folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
