"""Clients that are not ours, unmodified, against papertape-replay: python-binance and cryptofeed.

usage: clients.py PROGRAM SHARED
Skipped (77) without the venv that PAPERTAPE_VENV names, the versions below in it, or the shared client scripts."""

import json
import os
import subprocess
import sys

from venue import Venue

VERSIONS = {"python-binance": "1.0.37", "cryptofeed": "2.4.1"}
SKIP = 77
PROGRAM, SHARED = sys.argv[1], os.environ.get("PAPERTAPE_SHARED", sys.argv[2])


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def find_python():
    venv = os.environ.get("PAPERTAPE_VENV")
    if not venv:
        skip("PAPERTAPE_VENV is not set")
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python):
        skip(f"no {python}")
    ask = "import importlib.metadata as m, sys; print(*(m.version(n) for n in sys.argv[1:]))"
    p = subprocess.run([python, "-c", ask, *VERSIONS], capture_output=True, text=True)
    if p.returncode != 0 or p.stdout.split() != list(VERSIONS.values()):
        skip(f"{venv} has not " + " ".join(f"{n}=={v}" for n, v in VERSIONS.items()))
    return python


PYTHON = find_python()


def client(venue, script, **env):
    """Runs one of the shared scripts; what it printed, as JSON."""
    p = subprocess.run([PYTHON, os.path.join(SHARED, "clients", script)], capture_output=True, text=True, timeout=120,
                       env={**os.environ, "PT_URL": f"127.0.0.1:{venue.port}", "PT_CA": venue.ca, **env})
    if p.returncode != 0 or not p.stdout.strip():
        raise AssertionError(f"{script}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    out = json.loads(p.stdout.strip().splitlines()[-1])
    print(script, {k: v if not isinstance(v, list) else f"{len(v)} values" for k, v in out.items()}, flush=True)
    return out


def check_binance(out, symbols, klines, low, high):
    assert out["symbols"] == symbols, out
    assert klines[0] <= out["klines"] <= klines[1], out["klines"]
    assert all(low < float(c) < high for c in out["kline_closes"]), out["kline_closes"]
    assert out["depth"] == 100 and out["frames"] == 20, out
    assert out["streams"] and set(out["streams"]) <= {"btcusdt@trade", "btcusdt@bookTicker"}, out["streams"]


def check_cryptofeed(out, *channels):
    assert set(out["counts"]) == set(channels) and min(out["counts"].values()) >= 3, out


def test_synthetic():
    with Venue(PROGRAM, "--synthetic", "7", "--speed", "20") as v:
        check_binance(client(v, "python_binance.py"), 2, (100, 100), 50000, 70000)
        check_cryptofeed(client(v, "cryptofeed_client.py"), "book", "trades", "ticker")
        check_cryptofeed(client(v, "cryptofeed_client.py", PT_CHANNELS="candles,trades"), "candles", "trades")


def test_full_speed():
    with Venue(PROGRAM, "--synthetic", "7", "--speed", "max") as v:
        check_binance(client(v, "python_binance.py"), 2, (100, 100), 50000, 70000)
        check_cryptofeed(client(v, "cryptofeed_client.py"), "book", "trades", "ticker")


def test_recordings():
    files = [os.path.join(SHARED, "data", "recorded", "binance", f"{s}usdt_2024-08-08.jsonl.gz") for s in ("btc", "eth")]
    if not all(map(os.path.exists, files)):
        print("the shared recordings are absent: synthetic market only")
        return
    for speed in ("20", "max"):
        with Venue(PROGRAM, "--recording", *files, "--speed", speed) as v:
            check_binance(client(v, "python_binance.py"), 2, (0, 7), 61000, 62500)
        with Venue(PROGRAM, "--recording", *files, "--speed", speed) as v:
            check_cryptofeed(client(v, "cryptofeed_client.py"), "book", "trades", "ticker")


def main():
    if not os.path.exists(os.path.join(SHARED, "clients", "python_binance.py")):
        skip(f"no client scripts in {SHARED}")
    for test in (test_synthetic, test_full_speed, test_recordings):
        test()
        print(f"{test.__name__}: ok", flush=True)


main()
