"""Recomputes the verdict's two tests in NumPy: python3 verdict_oracle.py COLUMNS_PROGRAM

From strategy/metrics/verdict.h alone: Philox, the shifts, the stationary bootstrap and its length are written again. p must be
the same number, the interval within 1e-9 of itself. Then the level: of policies that know nothing, at most 5 in 100 may be better.
Wants NumPy from the venv in $PAPERTAPE_VENV; exits 77 without it. PAPERTAPE_SEED pins the seeds' base; PAPERTAPE_LONG: more of all.
"""

import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("numpy"):
    import numpy as np

PROGRAM = sys.argv[1]
LONG = "PAPERTAPE_LONG" in os.environ
SEED = int(os.environ.get("PAPERTAPE_SEED", "25"), 0)
KEY = 0x76657264696374
SHIFTS, RESAMPLES, NEAR = 999, 1999, 20
M32 = np.uint64(0xFFFFFFFF)


def philox(c0, c1, c3):
    """Philox4x32-10 of counters {c0, c1, 0, c3}, arrays: four words each."""
    c0, c1 = np.broadcast_arrays(np.asarray(c0, np.uint64), np.asarray(c1, np.uint64))
    c2, c3 = np.zeros_like(c0), np.full_like(c0, c3)
    k0, k1 = KEY & 0xFFFFFFFF, KEY >> 32
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (b >> np.uint64(32)) ^ c1 ^ np.uint64(k0), b & M32, (a >> np.uint64(32)) ^ c3 ^ np.uint64(k1), a & M32
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


def shifts_of(n):
    near = -(-n // NEAR)
    there = n - 2 * near + 1
    count = min(there, SHIFTS)
    word = philox(np.arange(count), 0, 2 << 24)[0]
    parts = [(k * there // count, (k + 1) * there // count) for k in range(count)]
    return [near + a + (int(w) * (b - a) >> 32) for w, (a, b) in zip(word, parts)]


def order_of(n, k):
    """For each step the one whose exposures it takes before the shift: blocks in a drawn order, the rest in place."""
    block = min(1024, max(128, -(-(n // 16) // 128) * 128))
    blocks = np.arange(n // block * block).reshape(-1, block)
    words = philox(np.full(len(blocks), k), np.arange(len(blocks)), 3 << 24)[0]
    for i in range(len(blocks) - 1, 0, -1):
        at = int(words[i]) * (i + 1) >> 32
        blocks[[i, at]] = blocks[[at, i]]
    return np.concatenate([blocks.ravel(), np.arange(blocks.size, n)])


def p_value(weights, moves, returns):
    n = len(returns)
    rest = returns - (weights * moves).sum(axis=0)

    def growth(shift, order):
        with np.errstate(divide="ignore"):
            factor = 1 + (np.roll(weights, shift, axis=1)[:, order] * moves).sum(axis=0) + np.roll(rest, shift)[order]
            return np.log(np.maximum(factor, 0)).sum()

    own, shifts = growth(0, np.arange(n)), shifts_of(n)
    return (1 + sum(growth(s, order_of(n, k)) >= own - 1e-9 for k, s in enumerate(shifts))) / (1 + len(shifts)), len(shifts)


def block_of(d):
    n = len(d)
    x = d - d.mean()
    quiet = int(max(5, np.ceil(np.sqrt(np.log10(n)))))
    lags = int(np.ceil(np.sqrt(n))) + quiet
    g = np.array([(x[k:] * x[: n - k]).sum() / n for k in range(lags + 1)])
    least, most = np.cbrt(n), max(1, min(3 * np.sqrt(n), n / 3))
    if not g[0] > 0:
        return min(least, most)
    significant = np.abs(g / g[0]) > 2 * np.sqrt(np.log10(n) / n)
    last = next((m for m in range(lags - quiet + 1) if not significant[m + 1 : m + 1 + quiet].any()), None)
    if last is None:
        last = max(k for k in range(1, lags + 1) if significant[k])
    m = min(2 * max(last, 1), lags)
    k = np.arange(1, m + 1)
    window = np.minimum(1, 2 * (1 - k / m))
    slope, density = 2 * (window * k * g[1 : m + 1]).sum(), g[0] + 2 * (window * g[1 : m + 1]).sum()
    return min(max(np.cbrt(2 * slope**2 / (2 * density**2) * n), least), most)


def interval(d, block, benchmark_return):
    n = len(d)
    sums = np.empty(RESAMPLES)
    pairs = int(3 * n / block + 60)
    twice = np.concatenate([d, d])
    for number in range(RESAMPLES):
        w0, w1, w2, w3 = philox(number, np.arange(pairs), 1 << 24)
        start = np.stack([w0, w2], axis=1).ravel() * np.uint64(n) >> np.uint64(32)
        length = 1 + np.floor(np.log((np.stack([w1, w3], axis=1).ravel() + 1.0) * 2.0**-32) / np.log1p(-1 / block))
        ends = np.minimum(np.cumsum(length), n).astype(int)
        lengths = np.diff(np.concatenate([[0], ends]))
        at = np.repeat(start.astype(int) - np.concatenate([[0], ends[:-1]]), lengths) + np.arange(n)
        sums[number] = twice[at].sum()
    sums.sort()
    outside = round(0.005 * (RESAMPLES + 1))
    return [(1 + benchmark_return) * np.expm1(s) for s in (sums[outside - 1], sums[-outside])]


def run(weights, moves, fee):
    """The program's figures for an episode that holds these shares, and the returns."""
    assets, n = moves.shape
    changed = np.abs(np.diff(weights, axis=1, prepend=0))
    grows = np.abs(weights) > np.abs(np.concatenate([np.zeros((assets, 1)), weights[:, :-1]], axis=1))
    returns = (weights * moves).sum(axis=0) - fee * changed.sum(axis=0)
    held = moves.mean(axis=0)
    equity, benchmark = 1000 * np.cumprod(1 + returns), 1000 * np.cumprod(1 + held)
    before = np.concatenate([[1000], equity[:-1]])
    money = changed * before
    opened, closed = money[grows].sum(), money[~grows].sum()
    head = [n, assets, 1000, fee * money.sum(), opened, closed, (changed > 0).sum(), 0]
    with tempfile.NamedTemporaryFile() as file:
        np.concatenate([head, equity, benchmark, weights.ravel(), moves.ravel()]).tofile(file)
        file.flush()
        out = subprocess.run([PROGRAM, file.name], check=True, capture_output=True, text=True).stdout.split("\n")
    return out[0], [float(x) for x in out[1].split()], out[2], equity, benchmark


def near(name, got, wanted):
    if not abs(got - wanted) <= 1e-9 * max(1, abs(wanted)):
        sys.exit(f"{name}: {got!r}, not {wanted!r}")


def compare(rng, n, assets, fee, kind):
    moves = rng.standard_t(4, (assets, n)) * 0.004
    weights = {
        "coins": lambda: rng.integers(0, 2, (assets, n)) / assets,
        "skill": lambda: np.where(rng.random((assets, n)) < 0.1, moves > 0, rng.integers(0, 2, (assets, n))) / assets,
        "long": lambda: (np.cumsum(rng.random((assets, n)) < 0.01, axis=1) % 2) / assets,
        "shorts": lambda: rng.integers(-1, 2, (assets, n)) / assets,
    }[kind]()
    word, figures, text, equity, benchmark = run(weights, moves, fee)
    total, held, low, high, block, p, n_random, gain = figures
    before = np.concatenate([[1000], equity[:-1]])
    d = np.log(equity / before) - np.log(benchmark / np.concatenate([[1000], benchmark[:-1]]))
    near("return", total, equity[-1] / 1000 - 1)
    near("block", block, block_of(d))
    wanted = interval(d, block, benchmark[-1] / 1000 - 1)
    near("low", low, wanted[0])
    near("high", high, wanted[1])
    if word != "only_holds":
        p_wanted, count = p_value(weights, moves, equity / before - 1)
        near("shifts", n_random, count)
        near("p", p, p_wanted)
    print(f"{n} steps, {assets} assets, {kind}: {word}, p {p}, block {block:.1f}: {text}")


def level(rng, walks, n):
    """How many of policies that know nothing are better than holding: coins, long holdings, followers of the past."""
    better = 0
    for walk in range(walks):
        moves = rng.standard_normal((1, n)) * 0.002
        past = np.concatenate([[0], np.cumsum(moves[0])[:-1]])
        span = int(rng.integers(5, n // 10))
        follows = past > np.concatenate([np.zeros(span), past[:-span]])
        weights = [
            rng.integers(0, 2, (1, n)).astype(float),
            np.cumsum(rng.random((1, n)) < 1 / span, axis=1) % 2,
            follows[None, :].astype(float),
            (~follows)[None, :].astype(float),
        ][walk % 4]
        better += run(weights, moves, 0)[0] == "better"
    print(f"{better} of {walks} without skill are called better")
    if better > walks * 0.05:
        sys.exit("more than 5 in 100")


def main():
    rng = np.random.default_rng(SEED)
    for n, assets, fee, kind in [(20, 1, 0, "coins"), (33, 1, 0.001, "coins"), (700, 2, 0.0005, "skill"), (1500, 1, 0, "long"),
                                 (1999, 3, 0.0001, "shorts"), (4001, 1, 0, "skill")] * (4 if LONG else 1):
        compare(rng, n, assets, fee, kind)
    level(rng, 1000 if LONG else 100, 2000)


main()
