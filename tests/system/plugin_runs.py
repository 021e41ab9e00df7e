"""Runs of papertape (sys.argv[1]) on synthetic bars, for the tests of strategies from outside."""

import glob
import gzip
import itertools
import json
import math
import os
import random
import subprocess
import sys

PAPERTAPE = os.path.abspath(sys.argv[1])
BUILT_IN = "sma-cross-rsi-risk"
OUTPUTS = ("trades", "orders", "ledger")


def run(*words, status=0, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=1200, **options)
    assert done.returncode == status, (words, done.returncode, done.stdout[-800:], done.stderr[-800:])
    return done


def synthetic(folder, name, n, seed, price=100.0):
    rng = random.Random(seed)
    path = folder / f"{name}USDT_5m.csv"
    with open(path, "w", encoding="ascii") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(n):
            close = round(max(1.0, price * math.exp(rng.gauss(0, 0.003))), 2)
            high, low = round(max(price, close) * (1 + rng.random() * 0.002), 2), round(min(price, close) * (1 - rng.random() * 0.002), 2)
            file.write(f"{1704067200000 + i * 300000},{price},{high},{low},{close},{round(rng.random() * 9, 3)}\n")
            price = close
    return path


def bars_files(folder, source):
    """Five of the sample data, or made here."""
    shared = os.environ.get("PAPERTAPE_SHARED") or os.path.join(source, "../shared")
    found = sorted(glob.glob(os.path.join(shared, "data/bars/*USDT_5m.csv.gz")), key=os.path.getsize)[:5]
    return found if len(found) == 5 else [synthetic(folder, f"S{i}", 8000, i) for i in range(5)]


def first_bars(folder, source, most):
    """Of each of those at most so many bars."""
    paths = []
    for name in bars_files(folder, source):
        paths.append(folder / f"part-{len(paths)}" / os.path.basename(name).removesuffix(".gz"))
        paths[-1].parent.mkdir()
        with (gzip.open if str(name).endswith(".gz") else open)(name, "rt", encoding="ascii") as whole, open(paths[-1], "w", encoding="ascii") as part:
            part.writelines(itertools.islice(whole, most + 1))
    return paths


def outputs(folder, strategy, bars, *options, **environment):
    """A backtest's files as bytes, by name."""
    paths = {name: folder / f"{name}.csv" for name in OUTPUTS}
    files = [word for name, path in paths.items() for word in (f"--{name}", path)]
    run(PAPERTAPE, "backtest", "--strategy", strategy, "--bars", bars, "--no-cache", *options, *files, **environment)
    return {name: path.read_bytes() for name, path in paths.items()}


def saved(folder, strategy, bars, *options, **environment):
    """The account of a saved run is tried again on its bars, with its strategy and parameters. The command line of that."""
    state = folder / "saved"
    words = (PAPERTAPE, "backtest", "--account", BUILT_IN, "--state", state, "--bars", bars, "--no-cache", "--json")
    first = run(PAPERTAPE, "backtest", "--strategy", strategy, *options, "--bars", bars, "--no-cache", "--json", "--save", state, **environment)
    found, expected = (json.loads(done.stdout)["accounts"][0] for done in (run(*words, **environment), first))
    assert found["fills"] == expected["fills"] > 10 and found["equity"] == expected["equity"], (found, expected)
    return words
