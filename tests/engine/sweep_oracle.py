#!/usr/bin/env python3
"""What `papertape sweep` says of luck against NumPy and SciPy, from the returns that it writes: the deflated Sharpe ratio of
each set, what luck would show, PBO by all 12,870 half splits; and its Sobol sequence against SciPy's.

Wants NumPy and SciPy from the venv in $PAPERTAPE_VENV; exits 77 without them."""

import csv
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("numpy, scipy"):
    import numpy as np
    from scipy import stats

SWEEP_TEST, PAPERTAPE = sys.argv[1:]
BLOCKS, YEAR = 16, 365 * 24  # rows of an hour
TOLERANCE = 1e-9


def made(path, seed, n):
    rng, price = random.Random(seed), 2500.0
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(n):
            close = round(price * math.exp(rng.gauss(0, 0.006) * (3 if i % 500 < 60 else 1)), 2)
            file.write(f"{1704067200000 + i * 3600000},{price},{max(price, close)},{min(price, close)},{close},7.31\n")
            price = close
    return path


def deflated(returns):
    """Bailey and López de Prado (2014): of each column, and what the best of so many would show."""
    rows, sets = returns.shape
    deviations = returns.std(axis=0, ddof=1)
    sharpes = np.where(deviations > 0, returns.mean(axis=0) / np.where(deviations > 0, deviations, 1), 0)
    variance = min(sharpes.var(ddof=1), 1 / (rows - 1))
    quantiles = stats.norm.ppf([1 - 1 / sets, 1 - 1 / (sets * math.e)])
    expected = math.sqrt(variance) * ((1 - np.euler_gamma) * quantiles[0] + np.euler_gamma * quantiles[1])
    skew, kurtosis = stats.skew(returns), stats.kurtosis(returns, fisher=False)
    errors = np.sqrt(1 - skew * sharpes + (kurtosis - 1) / 4 * sharpes**2)
    return stats.norm.cdf((sharpes - expected) * math.sqrt(rows - 1) / errors), expected * math.sqrt(YEAR), sharpes.std(ddof=1) * math.sqrt(YEAR)


def overfit(returns):
    """PBO and the probability of loss; ties of the median count half."""
    rows, sets = returns.shape
    length = rows // BLOCKS
    cut = returns[rows % BLOCKS:].reshape(BLOCKS, length, sets)
    sums, squares = cut.sum(axis=1), (cut**2).sum(axis=1)
    halves = np.array(list(itertools.combinations(range(BLOCKS), BLOCKS // 2)))
    chosen = np.zeros((len(halves), BLOCKS))
    chosen[np.arange(len(halves))[:, None], halves] = 1
    n = length * BLOCKS // 2

    def sharpe(which):
        mean = which @ sums / n
        return mean / np.sqrt((which @ squares - n * mean**2) / (n - 1))

    inside, outside = sharpe(chosen), sharpe(1 - chosen)
    best = outside[np.arange(len(halves)), inside.argmax(axis=1)]
    ranks = (outside < best[:, None]).sum(axis=1) + ((outside == best[:, None]).sum(axis=1) + 1) / 2
    return float((ranks <= (sets + 1) / 2).mean()), float((best < 0).mean())


def compare(folder, seed, n, *words):
    bars, path, table = (os.path.join(folder, name) for name in ("ETHUSDT_1h.csv", "returns.csv", "all.csv"))
    line = [PAPERTAPE, "sweep", *words, "--bars", made(bars, seed, n), "--no-cache", "--min-trades", "0", "--top", "1000", "--metric", "return", "--returns",
            path, "--csv", table, "--json"]
    said = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    returns = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:]
    assert returns.shape == (n, said["runs"]) and said["runs"] > 50, (returns.shape, said["runs"])
    ratios, expected, deviation = deflated(returns)
    pbo, loss = overfit(returns)
    luck = said["luck"]
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    for i, row in enumerate(rows):  # both are in the order of the metric
        assert abs(float(row["dsr"]) - ratios[i]) <= TOLERANCE, (i, row["dsr"], ratios[i])
        assert math.isclose(said["top"][i]["dsr"], float(row["dsr"]), rel_tol=1e-12)
    for name, ours, theirs in (("expected", luck["expected_sharpe"], expected), ("deviation", luck["sharpe_deviation"], deviation), ("pbo", luck["pbo"], pbo),
                               ("loss", luck["probability_of_loss"], loss)):
        assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9), (name, ours, theirs)
    print(f"{said['runs']} sets of {words[1]}: PBO {pbo:.4f}, expected Sharpe {expected:.3f}, deflated Sharpe of the best {ratios.max():.4f}")


def sobol():
    said = subprocess.run([SWEEP_TEST, "sobol"], check=True, capture_output=True, text=True).stdout.split()
    points = stats.qmc.Sobol(32, scramble=False, bits=32).random(1024) * 2.0**32
    assert (points.astype(np.uint64).ravel() == np.array(said, dtype=np.uint64)).all()
    print("Sobol: 1,024 points of 32 dimensions")


def main():
    sobol()
    with tempfile.TemporaryDirectory() as folder:
        compare(folder, 1, 3001, "--strategy", "sma-cross", "--grid", "fast=2:20:2", "--grid", "slow=25:85:10")
        compare(folder, 2, 2000, "--strategy", "sma-cross-rsi", "--grid", "fast=3:12", "--grid", "slow=20:60", "--grid", "stop_atr=1:4", "--samples", "90",
                "--fee-maker", "0", "--fee-taker", "0")
    return 0


if __name__ == "__main__":
    sys.exit(main())
