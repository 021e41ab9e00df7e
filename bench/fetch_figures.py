"""Runs bench/fetch and prints its figures: python3 bench/fetch_figures.py BUILD_FOLDER [DAYS [SYMBOLS]]."""

import csv
import gzip
import json
import os
import subprocess
import sys
import time

import figures
from figures import BUILD, ROOT, say

os.environ["PAPERTAPE_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "fixtures"))

import programs  # noqa: E402

DAYS, SYMBOLS = (int(value) for value in (sys.argv[2:] + ["30", "8"][len(sys.argv) - 2:]))
NAMES = ["BTCUSDT", "ETHUSDT", "XAAAUSDT", "XAABUSDT", "XAACUSDT", "XAADUSDT", "XAAEUSDT", "XAAFUSDT"][:SYMBOLS]
END = 1710028800000  # 2024-03-10
BEGIN = END - DAYS * 86400000

CCXT = """
import json, os, sys, time
os.environ["REQUESTS_CA_BUNDLE"] = sys.argv[2]
import ccxt
names, begin, end = json.loads(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
figures = {}
for limited in (True, False):
    exchange = ccxt.binance({"enableRateLimit": limited, "requests_trust_env": True,
                             "options": {"fetchMarkets": {"types": ["spot"]}, "fetchMargins": False, "fetchCurrencies": False}})
    exchange.urls["api"].update(public=sys.argv[1] + "/api/v3", private=sys.argv[1] + "/api/v3")
    exchange.load_markets()
    ids = {market["id"]: market["symbol"] for market in exchange.markets.values()}
    started, bars, last = time.monotonic(), 0, []
    for name in names:
        since = begin
        while since < end:
            page = [row for row in exchange.fetch_ohlcv(ids[name], "1m", since=since, limit=1000) if row[0] < end]
            if not page:
                break
            bars += len(page)
            since, last = page[-1][0] + 60000, page[-1]
    figures[limited] = (bars / (time.monotonic() - started), bars, last)
print(json.dumps({"limited": figures[True], "free": figures[False]}))
"""


def fetch(folder, replay, cache):
    """Bars a second, and how many there were."""
    started = time.monotonic()
    done = subprocess.run([programs.PAPERTAPE, "fetch", "--symbol", ",".join(NAMES), "--interval", "1m", "--from", str(BEGIN), "--to", str(END),
                           "-o", os.path.join(folder, "out"), "--cache", cache, "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca,
                           "--json"], capture_output=True, text=True)
    seconds = time.monotonic() - started
    if done.returncode != 0:
        raise SystemExit(f"bench/fetch: {done.stderr}")
    bars = sum(symbol["bars"] for symbol in json.loads(done.stdout)["symbols"])
    return bars / seconds, bars


def last_bar(folder):
    with gzip.open(os.path.join(folder, "out", f"{NAMES[-1]}_1m.csv.gz"), "rt") as file:
        row = list(csv.reader(file))[-1]
    return [float(value) for value in row]


def main():
    with programs.Folder() as folder:
        replay = folder.start(programs.Replay(folder.path, "--synthetic", "5", "--symbols", str(max(SYMBOLS, 2)), "--from", str(END)))
        rate, bars = fetch(folder.path, replay, os.path.join(folder.path, "cache"))
        again, _ = fetch(folder.path, replay, os.path.join(folder.path, "cache"))
        python = figures.peers_python("fetch", ["ccxt==4.5.90"])
        peers = {"limited": (None,), "free": (None,)}
        if python:
            say("ccxt, with its rate limit and without")
            done = subprocess.run([python, "-c", CCXT, replay.urls["rest_url"], replay.ca, json.dumps(NAMES), str(BEGIN), str(END)],
                                  stdout=subprocess.PIPE, text=True, check=True)
            peers = json.loads(done.stdout)
            for name, (_, count, last) in peers.items():
                if count != bars or last != last_bar(folder.path):
                    raise SystemExit(f"bench/fetch: ccxt ({name}) has {count} bars, ours are {bars}: {last}, {last_bar(folder.path)}")
        case = f"{SYMBOLS} symbols, {DAYS} days of 1m"
        figures.figure("fetch", case, rate, "bars/s", ("ccxt, its rate limit", peers["limited"][0]))
        figures.figure("fetch", f"{case}, ccxt free", rate, "bars/s", ("ccxt, no rate limit", peers["free"][0]))
        figures.figure("fetch", f"{case}, kept", again, "bars/s")
        if replay.stop() != 0:
            raise SystemExit("bench/fetch: the replay failed")


main()
