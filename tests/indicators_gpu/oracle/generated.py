"""Generated bars for compare.py: columns as rows.py describes them."""

import numpy as np


def bars(close, wick, volume):
    """Each bar opens at the close before; `wick` above and below, a line each."""
    open_ = np.concatenate([close[:1], close[:-1]])
    return {
        "time": 1600000000.0 + 60.0 * np.arange(len(close)),
        "open": open_,
        "high": np.maximum(open_, close) + wick[0],
        "low": np.maximum(np.minimum(open_, close) - wick[1], close * 1e-3),
        "close": close,
        "volume": volume,
    }


def walk(n, seed):
    """A random walk with a flat stretch and a fall of nine tenths."""
    random = np.random.default_rng(seed)
    steps = random.normal(0, 0.001, n)
    steps[n // 3 : n // 3 + 50] = 0
    steps[n // 2] = -2.3
    close = np.round(30000 * np.exp(np.cumsum(steps)), 2)
    wick = np.round(close * np.abs(random.normal(0, 0.0005, (2, n))), 2)
    wick[:, n // 3 : n // 3 + 50] = 0
    return bars(close, wick, np.round(random.exponential(10, n), 5))


def kinds(n, seed):
    """name -> columns of the shapes that formulas stumble over."""
    random = np.random.default_rng(seed)
    at, none = np.arange(n), np.zeros((2, n))
    steps, wick = np.exp(np.cumsum(random.normal(0, 0.001, n))), np.abs(random.normal(0, 0.0005, (2, n)))
    volume = np.round(random.exponential(10, n), 5)
    halt = (at >= n // 3) & (at < 2 * n // 3)
    return {
        "flat": bars(np.full(n, 123.45), none, volume),
        "flat without volume": bars(np.full(n, 0.1), none, np.zeros(n)),
        "rising": bars(100 + 0.01 * at, none + 0.05, volume),
        "falling": bars(100 + 0.01 * at[::-1], none + 0.05, volume),
        "huge": bars(5e15 * steps, 5e15 * wick, volume * 1e6),
        "tiny": bars(5e-12 * steps, 5e-12 * wick, volume),
        "halted": bars(np.where(halt, steps[n // 3], steps), np.where(halt, 0.0, wick), volume),
        "alternating": bars(100.0 + at % 2, none + 0.5, volume),
    }
