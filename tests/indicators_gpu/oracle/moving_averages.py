"""Moving averages: see rows.py for what a family gives."""

import numpy as np
import talib
from numpy.lib.stride_tricks import sliding_window_view


def windowed(x, period, function):
    """function(windows, one a line) with NaN before the first full one; in pieces, which fit into memory."""
    result = np.full(len(x), np.nan)
    if len(x) >= period:
        windows = sliding_window_view(x, period)
        for i in range(0, len(windows), 10000):
            result[i + period - 1 : i + period - 1 + 10000] = function(windows[i : i + 10000])
    return result


def wma(x, period):
    return windowed(x, period, lambda w: np.average(w, axis=1, weights=np.arange(1.0, period + 1)))


def hma(o, c):
    """Alan Hull (2005), in the words of his page: integers of period / 2 and of the square root of the period."""
    n, x = int(o[0]), c["close"]
    raw = 2 * wma(x, n // 2) - wma(x, n)
    result = np.full(len(x), np.nan)
    result[n - 1 :] = wma(raw[n - 1 :], int(np.sqrt(n)))
    return [result]


def kama(o, c):
    """TA-Lib's formula with each window's path summed anew. TA-Lib keeps a running sum of the path: what rounding
    leaves in it when a market stands still decides between an efficiency of 1 and one of 0, and the average keeps the
    difference for hundreds of bars. So TA-Lib itself must agree up to the first such window."""
    n, x = int(o[0]), c["close"]
    result = np.full(len(x), np.nan)
    if len(x) <= n:
        return [result]
    path = windowed(np.abs(np.diff(x)), n, lambda w: w.sum(axis=1))[n - 1 :]
    change = np.abs(x[n:] - x[:-n])
    still = path < 1e-14
    efficiency = np.where(still, 1.0, np.minimum(change / np.where(still, 1.0, path), 1.0))
    factor = (efficiency * (2 / 3 - 2 / 31) + 2 / 31) ** 2
    values, y = [], float(x[n - 1])
    for k, price in zip(factor.tolist(), x[n:].tolist()):
        y += k * (price - y)
        values.append(y)
    result[n:] = values
    if n >= 2:
        before = n + int(np.argmax(path < 1e-9 * x[n:])) if (path < 1e-9 * x[n:]).any() else len(x)
        theirs = talib.KAMA(x, timeperiod=n)
        assert np.allclose(result[:before], theirs[:before], rtol=1e-9, atol=0, equal_nan=True), "TA-Lib's KAMA differs"
    return [result]


ROWS = {
    "dema": lambda o, c: [talib.DEMA(c["close"], timeperiod=int(o[0]))],
    "ema": lambda o, c: [talib.EMA(c["close"], timeperiod=int(o[0]))],
    "hma": hma,
    "kama": kama,
    "sma": lambda o, c: [talib.SMA(c["close"], timeperiod=int(o[0]))],
    "tema": lambda o, c: [talib.TEMA(c["close"], timeperiod=int(o[0]))],
    "wma": lambda o, c: [talib.WMA(c["close"], timeperiod=int(o[0]))],
}
SPECS = ["ema:2", "ema:14", "ema:200", "sma:2", "sma:20", "sma:200", "sma:5000"]
SPECS += ["wma:2", "wma:30", "wma:200", "dema:2", "dema:30", "dema:100", "tema:2", "tema:30", "tema:100"]
SPECS += ["kama:2", "kama:10", "kama:30", "hma:2", "hma:16", "hma:100"]
FIXTURES = ["ema:14", "ema:5", "sma:20", "sma:7", "wma:9", "dema:6", "tema:5", "kama:10", "hma:16"]
ABSOLUTE = {}
