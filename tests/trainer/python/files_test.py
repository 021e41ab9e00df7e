"""Market.from_files(): bars files through the market store, against this script's own reading; feature sets; what is
refused; and the library that was built without the store: python3 files_test.py LIBRARY_WITHOUT_STORE"""

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import ready
from ready import MINUTE_NS, check, done, refused, seeded, walk

import numpy as np
from papertape.env import Market, PapertapeVectorEnv

START_MS, ROWS = 1_735_689_600_000, 4000
rng = seeded("trainer/python/files", 29)
scratch = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = scratch.name
BARS = walk(rng, ROWS, 2, move=0.003)
MISSING = rng.random(ROWS) < 0.02
MISSING[[0, -1]] = False


def write(name, asset, rows, damaged=None):
    lines = ["open_time,open,high,low,close,volume"]
    for row in rows:
        price = damaged if row == 100 and damaged else f"{BARS['low'][row, asset]:.2f}"
        columns = [f"{BARS[key][row, asset]:.2f}" for key in ("open", "high")]
        columns += [price, f"{BARS['close'][row, asset]:.2f}", f"{BARS['volume'][row, asset]:.3f}"]
        lines.append(f"{START_MS + 60_000 * row}," + ",".join(columns))
    path = Path(scratch.name, name)
    with gzip.open(path, "wt") if name.endswith(".gz") else open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


first = write("BTCUSDT_1m.csv", 0, range(ROWS))
second = write("ETHUSDT_1m.csv.gz", 1, np.flatnonzero(~MISSING))
paths = [first, second]


def grid():
    market = Market.from_files(paths)
    check(market.names == ("BTCUSDT", "ETHUSDT") and market.rows == ROWS, f"{market}")
    check(np.array_equal(market.times, START_MS * 1_000_000 + np.arange(ROWS) * MINUTE_NS), "times")
    for key, values in BARS.items():
        mine = market._columns[key]
        check(np.array_equal(mine[0], values[:, 0]), f"{key} of the first")
        check(np.array_equal(mine[1][~MISSING], values[~MISSING, 1]), f"{key} of the second")
    arrays = Market(BARS, market.names, times=market.times, present=np.stack([~(MISSING & False), ~MISSING], axis=1))
    check(np.array_equal(market._present, arrays._present), "which bars are there")
    envs = [PapertapeVectorEnv(source, 3, preset="market", infos=("buys", "sells")) for source in (market, arrays)]
    seen = [each.reset(seed=1)[0] for each in envs]
    check(np.array_equal(seen[0], seen[1]), "observations are those of the arrays")
    for _ in range(500):
        actions = rng.normal(0, 4, (3, 2)).astype(np.float32)
        seen = [each.step(actions) for each in envs]
    check(seen[0][4]["buys"].min() > 0, "trades on files")


def common():
    market = Market.from_files(paths, common=True)
    kept = np.flatnonzero(~MISSING)
    check(market.rows == len(kept), f"{market.rows} rows that both have, not {len(kept)}")
    check(np.array_equal(market._columns["close"].T, BARS["close"][kept]), "closes of both")
    part = Market.from_files(paths, common=True, first_row=50, rows=200, min_order_qty={"BTCUSDT": 1, "ETHUSDT": 2})
    expected = kept[kept >= 50][:200]
    check(np.array_equal(part._columns["close"].T, BARS["close"][expected]), "closes of a part")
    envs = PapertapeVectorEnv(part, 2, preset="reference")
    check(envs.reset()[0].shape == (2, 1 + 2 + 3 * 4), "observations of a part")


def sets():
    market = Market.from_files(paths, features="market14", fit=(0, 2000))
    check(market.features.shape == (ROWS, 2 * 14) and market.first_row > 0, f"{market.features.shape}")
    values = market.features[market.first_row :]
    check(np.isfinite(values).all() and values.std() > 0, "features")
    envs = PapertapeVectorEnv(market, 4, preset="market", random_start=True, episode_bars=100, norm_tech=1.0, lookback=2)
    observations, _ = envs.reset(seed=1)
    rows = envs._core.info(("row",))["row"]
    for copy, row in enumerate(rows):
        newest = market.features[[row, row - 1]].ravel()
        check(np.array_equal(observations[copy, 3:], newest), f"what copy {copy} sees of row {row}")


def mistakes():
    refused(ValueError, "none.csv", Market.from_files, [Path(scratch.name, "none.csv")])
    refused(ValueError, "XRPUSDT", Market.from_files, [write("XRPUSDT_1m.csv", 0, range(200), damaged="x")])
    refused(ValueError, "BTCUSDT", Market.from_files, [first, first])
    refused(ValueError, "market15", Market.from_files, paths, features="market15", fit=(0, 100))
    refused(ValueError, "market14", Market.from_files, paths, features="market14")
    refused(ValueError, "first_row: -1", Market.from_files, paths, first_row=-1)
    refused(ValueError, str(ROWS), Market.from_files, paths, first_row=ROWS)
    refused(ValueError, "", Market.from_files, [])
    refused(TypeError, "fitted", Market.from_files, paths, fitted=True)
    reported = subprocess.run(
        [sys.executable, "-c", f"from papertape.env import Market; Market.from_files([{str(first)!r}])"],
        env={**os.environ, "PAPERTAPE_ENV_LIBRARY": sys.argv[1], "PYTHONPATH": str(ready.SOURCE / "trainer/python")},
        capture_output=True,
        text=True,
    )
    last = reported.stderr.strip().splitlines()[-1]
    check(last.startswith("ValueError: ") and "built without the market store" in last, f"without the store: {last}")


for part in (grid, common, sets, mistakes):
    before = ready.checked()
    part()
    check(ready.checked() > before, f"{part.__name__} checked nothing")
scratch.cleanup()
done("trainer/python/files")
