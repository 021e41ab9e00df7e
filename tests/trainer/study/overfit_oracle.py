"""Compares PBO and the deflated Sharpe ratio with NumPy and SciPy: python3 overfit_oracle.py OVERFIT_PRINT

Each half split's matrices are cut out and computed again, from the definitions in trainer/study/overfit.h. Random matrices,
with ties (columns twice, halved, with the same numbers in another order) and level columns among them. All within 1e-12;
exits 77 without the venv in $PAPERTAPE_VENV. PAPERTAPE_SEED pins the seed.
"""

import itertools
import os
import struct
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("scipy"):
    import numpy as np
    import scipy.stats

PROGRAM = sys.argv[1]
LONG = "PAPERTAPE_LONG" in os.environ
SEED = int(os.environ.get("PAPERTAPE_SEED", "11"), 0)
TOLERANCE = 1e-12


def sharpes(returns):
    level = returns.max(axis=0) == returns.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = returns.mean(axis=0) / returns.std(axis=0, ddof=1)
    rounding = np.abs(returns.mean(axis=0)) <= 1e-14 * np.abs(returns).mean(axis=0)  # levels that add up to nothing
    return np.where(level | rounding, 0.0, ratio)


def expect(returns, blocks):
    """Figures, and [split][lambda, in, out, chosen]."""
    returns = returns[len(returns) % blocks:]
    parts, rows = np.split(returns, blocks), []
    for half in itertools.combinations(range(blocks), blocks // 2):
        inside = sharpes(np.concatenate([parts[b] for b in half]))
        outside = sharpes(np.concatenate([parts[b] for b in range(blocks) if b not in half]))
        best = int(np.argmax(inside))
        omega = scipy.stats.rankdata(outside)[best] / (returns.shape[1] + 1)
        tied = omega == 0.5 and np.sum(outside == outside[best]) > 1
        rows.append((np.log(omega / (1 - omega)), inside[best], outside[best], best, 0.5 if tied else omega <= 0.5))
    table = np.array(rows)
    lam, x, y = table[:, 0], table[:, 1], table[:, 2]
    if x.max() == x.min():
        line = (np.nan, np.nan, np.nan)
    else:
        slope, intercept = np.linalg.lstsq(np.stack([x, np.ones_like(x)], 1), y, rcond=None)[0]
        line = (slope, intercept, np.nan if y.max() == y.min() else np.corrcoef(x, y)[0, 1] ** 2)
    return [len(rows), np.mean(table[:, 4]), np.mean(y < 0), *line], table[:, :4]


def expect_deflated(returns, trials, variance):
    if returns.max() == returns.min():
        sharpe = 0.0
        skew = kurtosis = np.nan
    else:
        sharpe = returns.mean() / returns.std(ddof=1)
        skew, kurtosis = scipy.stats.skew(returns), scipy.stats.kurtosis(returns, fisher=False)
    gamma, norm = np.euler_gamma, scipy.stats.norm
    expected = 0.0 if trials == 1 else np.sqrt(variance) * ((1 - gamma) * norm.isf(1 / trials) + gamma * norm.isf(1 / (trials * np.e)))

    def psr(above):
        return norm.cdf((sharpe - above) * np.sqrt(len(returns) - 1) / np.sqrt(1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe**2))
    return [sharpe, expected, psr(0), psr(expected)]


def matrix(rng):
    blocks = int(rng.choice([2, 4, 6, 8, 10, 14] if LONG else [2, 4, 6, 8]))
    columns, rows = int(rng.integers(2, 12)), int(rng.integers(2 * blocks, 60 * blocks))
    returns = rng.standard_t(4, (rows, columns)) * 0.01 + rng.normal(0, 0.002, columns)
    kind = rng.integers(0, 5)
    if kind == 1:  # twice, and halved: exactly the same Sharpe
        returns[:, rng.integers(columns)] = returns[:, 0]
        returns[:, rng.integers(columns)] = returns[:, 0] / 2
    elif kind == 2:  # level: all the time, or some of it; of numbers that a mean would round
        returns[:, rng.integers(columns)] = 0
        returns[:, rng.integers(columns)] = 0.1
        returns[: rows // 2, rng.integers(columns)] = -0.3
    elif kind == 3:  # the same numbers in another order, of which no sum is rounded
        length = 2 ** int(rng.integers(1, 5))
        blocks = 4
        returns = rng.integers(-64, 64, (blocks * length, columns)) / 1024.0
        for start in range(0, len(returns), length):
            returns[start: start + length, -1] = rng.permutation(returns[start: start + length, 0])
    elif kind == 4:
        returns[:] = 0.1 * rng.integers(0, 2, columns)
    return np.ascontiguousarray(returns), blocks


def main():
    rng = np.random.default_rng(SEED)
    count, failures, splits, worst = 400 if LONG else 60, 0, 0, 0.0
    cases, data = [], []
    for i in range(count):
        returns, blocks = matrix(rng)
        if i == 0:
            returns, blocks = rng.normal(0, 0.01, (1001, 30)), 14
        trials, variance = int(rng.choice([1, 2, 3, 10, 167, 10000, 10**9])), float(rng.uniform(0, 0.01))
        cases.append((returns, blocks, trials, variance))
        data += [struct.pack("<4qd", *returns.shape, blocks, trials, variance), returns.tobytes()]
    out = subprocess.run([PROGRAM], input=b"".join(data), capture_output=True, check=True).stdout.decode().splitlines()
    at = 0
    for i, (returns, blocks, trials, variance) in enumerate(cases):
        figures, table = expect(returns, blocks)
        figures += expect_deflated(returns[:, 0], trials, variance)
        found = np.array(out[at].split(), dtype=np.float64)
        rows = np.array([line.split() for line in out[at + 1: at + 1 + int(found[0])]], dtype=np.float64)
        at, splits = at + 1 + int(found[0]), splits + int(found[0])
        right = np.concatenate([figures, table.ravel()])
        ours = np.concatenate([found, rows.ravel()])
        if ours.shape != right.shape or not np.array_equal(np.isnan(ours), np.isnan(right)):
            print(f"matrix {i} {returns.shape}, {blocks} blocks: {found} is not {figures}")
            failures += 1
            continue
        known = ~np.isnan(right)
        apart = np.abs(ours - right)[known] / np.maximum(1, np.abs(right[known]))
        worst = max(worst, apart.max())
        if not apart.max() <= TOLERANCE:
            print(f"matrix {i} {returns.shape}, {blocks} blocks: differs by {apart.max():.3g}: {found} is not {figures}")
            failures += 1
    if at != len(out):
        print(f"{len(out) - at} lines too many")
        failures += 1
    print(f"{count} matrices, {splits} half splits: largest difference {worst:.1e}, {failures} failed (seed {SEED})")
    return 1 if failures else 0


sys.exit(main())
