"""Runs bench/fetch and prints its figures: python3 bench/fetch_figures.py BUILD_FOLDER [DAYS]."""

import csv
import gzip
import json
import os
import random
import subprocess
import sys
import time

import figures
from figures import BUILD, ROOT, say

os.environ["PAPERTAPE_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "fixtures"))

import programs  # noqa: E402

DAYS = int(sys.argv[2]) if len(sys.argv) > 2 else 330
NAMES = [f"{base}USDT" for base in ("BTC", "ETH", "BNB", "XRP", "ADA", "SOL", "DOT", "LTC")]
MINUTE = 60000
BEGIN = 1704067200000  # 2024-01-01
END = BEGIN + DAYS * 1440 * MINUTE

CCXT = """
import json, os, sys, time
os.environ["REQUESTS_CA_BUNDLE"] = sys.argv[2]
import ccxt
names, begin, end, limited = json.loads(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6] == "limited"
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
print(json.dumps([bars / (time.monotonic() - started), bars, last]))
"""


def write(folder, name):
    """A walk, a day longer than what is fetched, so that all of that is settled."""
    chance, path = random.Random(name), os.path.join(folder, f"{name}_1m.csv.gz")
    price = chance.randrange(10**4, 10**6)
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("open_time_ms,open,high,low,close,volume\n")
        for at in range(BEGIN, END + 2880 * MINUTE, MINUTE):
            noise = chance.getrandbits(48)
            first, price = price, max(price + (noise & 31) - 15, 100)
            high, low, volume = max(first, price) + (noise >> 8 & 15), min(first, price) - (noise >> 16 & 15), noise >> 24
            file.write(f"{at},{first / 100:.2f},{high / 100:.2f},{low / 100:.2f},{price / 100:.2f},{volume // 10**5}.{volume % 10**5:05}\n")
    return path


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


def by_ccxt(python, folder, replay, limited, bars):
    """Bars a second; None where there is no ccxt, or the venue refused it."""
    if not python:
        return None
    say(f"ccxt, {limited}")
    done = subprocess.run([python, "-c", CCXT, replay.urls["rest_url"], replay.ca, json.dumps(NAMES), str(BEGIN), str(END), limited],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        say(f"ccxt, {limited}: {done.stderr.strip().splitlines()[-1][:200]}")
        return None
    rate, count, last = json.loads(done.stdout)
    if count != bars or last != last_bar(folder):
        raise SystemExit(f"bench/fetch: ccxt ({limited}) has {count} bars, ours are {bars}: {last}, {last_bar(folder)}")
    return rate


def main():
    with programs.Folder() as folder:
        source = os.path.join(folder.path, "source")
        os.mkdir(source)
        files = [write(source, name) for name in NAMES]
        python = figures.peers_python("fetch", ["ccxt==4.5.90"])
        case = f"{len(NAMES)} symbols, {DAYS} days of 1m"
        for weights, limited, more in (("the venue's weights", "limited", ()), ("no weights", "free", ("--limit", "weight=1000000000"))):
            say(weights)
            # The market stands still until a client subscribes.
            replay = folder.start(programs.Replay(folder.path, "--bars", *files, "--from", str(END + 1440 * MINUTE), *more))
            cache = os.path.join(folder.path, limited)
            rate, bars = fetch(folder.path, replay, cache)
            peer = by_ccxt(python, folder.path, replay, limited, bars)
            name = "ccxt, its rate limit" if limited == "limited" else "ccxt, no rate limit"
            figures.figure("fetch", f"{case}, {weights}", rate, "bars/s", (name, peer))
            if limited == "free":
                figures.figure("fetch", f"{case}, kept", fetch(folder.path, replay, cache)[0], "bars/s")
            if replay.stop() != 0:
                raise SystemExit("bench/fetch: the replay failed")


main()
