"""Candlestick patterns: see rows.py for what a family gives. The bars for these are whole numbers of a tick (ticks()),
where sums are exact: TA-Lib carries running sums, and compares bodies with them."""

import numpy as np
import talib
from talib import abstract

# With the penetration where there is one.
PENETRATIONS = {
    **dict.fromkeys(("abandonedbaby", "eveningdojistar", "eveningstar", "morningdojistar", "morningstar"), 0.3),
    **dict.fromkeys(("darkcloudcover", "mathold"), 0.5),
}
NAMES = sorted(name[3:].lower() for name in talib.get_function_groups()["Pattern Recognition"])
LOOKBACKS = {name: abstract.Function(f"CDL{name.upper()}").lookback for name in NAMES}


def pattern(name):
    """TA-Lib's integers, 0 before the first output, where ours are NaN."""
    function = getattr(talib, f"CDL{name.upper()}")

    def values(o, c):
        options = {"penetration": o[0]} if name in PENETRATIONS else {}
        found = function(c["open"], c["high"], c["low"], c["close"], **options).astype(float)
        found[: LOOKBACKS[name]] = np.nan
        return [found]

    return values


def ticks(columns):
    """The same bars with whole prices, up to 10^7: float32 holds them, too."""
    top = np.max(columns["high"], initial=1e-300)
    return {name: np.round(column / top * 1e7) if name in ("open", "high", "low", "close") else column for name, column in columns.items()}


# Open and close of a mat hold, which chance does not bring: from the first bar's open.
MATHOLD = [(0, 60), (66, 63), (61, 58), (59, 56), (57, 130)]


def candles(n, seed):
    """Bars of small whole numbers, so that bodies are equal, doji or gaps often enough for every pattern."""
    random = np.random.default_rng(seed)
    size = random.choice([0, 1, 2, 5, 10, 20, 40], n, p=[0.12, 0.12, 0.14, 0.16, 0.2, 0.18, 0.08])
    sign = random.choice([-1, 1], n)
    same = random.random(n) < 0.7  # runs of one colour
    for i in range(1, n):
        sign[i] = sign[i - 1] if same[i] else sign[i]
    gap = random.choice([-25, -12, -6, -3, -1, 0, 1, 3, 6, 12, 25], n)
    back = random.random(n) < 0.3  # opens within the body before
    open_, close, now = np.empty(n), np.empty(n), 1_000_000.0
    for i in range(n):
        pull = -1 if now > 1_000_500 else 1 if now < 999_500 else 0
        start = now - sign[i - 1] * random.integers(0, size[i - 1] + 2) if back[i] and i > 0 else now + gap[i] + pull
        open_[i], now = start, start + sign[i] * size[i]
        close[i] = now
    for i in range(20, n - len(MATHOLD), 500):
        base = open_[i]
        for j, (begin, end) in enumerate(MATHOLD):
            open_[i + j], close[i + j] = base + begin, base + end
    wick = random.choice([0, 0, 0, 1, 2, 6, 15, 40], (2, n))
    return {
        "time": 1600000000.0 + 60.0 * np.arange(n),
        "open": open_,
        "high": np.maximum(open_, close) + wick[0],
        "low": np.minimum(open_, close) - wick[1],
        "close": close,
        "volume": np.ones(n),
    }


ROWS = {f"cdl{name}": pattern(name) for name in NAMES}
SPECS = [f"cdl{name}:{PENETRATIONS[name]}" if name in PENETRATIONS else f"cdl{name}" for name in NAMES]
FIXTURES = SPECS
SPECS = SPECS + [f"cdl{name}:0" for name in PENETRATIONS] + ["cdlmorningstar:0.8", "cdldarkcloudcover:1.5"]
ABSOLUTE = {}
