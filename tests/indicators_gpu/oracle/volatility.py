"""Volatility and channels: see rows.py for what a family gives."""

import numpy as np
import talib
from numpy.lib.stride_tricks import sliding_window_view


def windows(x, period, function):
    """function of the windows, a row each; NaN before the first."""
    out = np.full(len(x), np.nan)
    if len(x) >= period:
        out[period - 1 :] = function(sliding_window_view(x, period))
    return out


def bbands(o, c):
    return list(talib.BBANDS(c["close"], timeperiod=int(o[0]), nbdevup=o[1], nbdevdn=o[1]))


def keltner(o, c):
    """TA-Lib refuses an average of 1: the typical price itself then."""
    high, low, close, width = c["high"], c["low"], c["close"], o[2]
    if o[0] > 1:
        return list(talib.KC(high, low, close, timeperiod=int(o[0]), atrperiod=int(o[1]), nbdev=width))
    middle, width = (high + low + close) / 3, width * talib.ATR(high, low, close, timeperiod=int(o[1]))
    return [middle + width, middle + 0 * width, middle - width]


def donchian(o, c):
    """TA-Lib refuses a period of 1: the bar itself then."""
    if o[0] > 1:
        return list(talib.DONCHIAN(c["high"], c["low"], timeperiod=int(o[0])))
    return [c["high"], (c["high"] + c["low"]) / 2, c["low"]]


def realvol(o, c):
    returns = np.diff(np.log(c["close"].astype(np.longdouble))).astype(np.float64)
    return [np.concatenate([[np.nan], windows(returns, int(o[0]), lambda w: w.std(axis=1, ddof=1))])]


def log_ratio(a, b):
    return np.log(a.astype(np.longdouble) / b.astype(np.longdouble)).astype(np.float64)


def parkinson(o, c):
    variance = windows(log_ratio(c["high"], c["low"]) ** 2, int(o[0]), lambda w: w.mean(axis=1)) / (4 * np.log(2))
    return [np.sqrt(variance)]


def garman_klass(o, c):
    terms = 0.5 * log_ratio(c["high"], c["low"]) ** 2 - (2 * np.log(2) - 1) * log_ratio(c["close"], c["open"]) ** 2
    return [np.sqrt(windows(terms, int(o[0]), lambda w: w.mean(axis=1)))]


ROWS = {
    "atr": lambda o, c: [talib.ATR(c["high"], c["low"], c["close"], timeperiod=int(o[0]))],
    "bbands": bbands,
    "donchian": donchian,
    "garman_klass": garman_klass,
    "keltner": keltner,
    "natr": lambda o, c: [talib.NATR(c["high"], c["low"], c["close"], timeperiod=int(o[0]))],
    "parkinson": parkinson,
    "realvol": realvol,
    "trange": lambda o, c: [talib.TRANGE(c["high"], c["low"], c["close"])],
}
SPECS = [
    *("atr:1", "atr:14", "atr:100", "natr:2", "natr:14", "natr:100", "trange"),
    *("bbands:20,2", "bbands:2,0", "bbands:5,2", "bbands:200,3.5", "keltner:20,10,2", "keltner:5,50,1.5", "keltner:1,1,0"),
    *("donchian:20", "donchian:1", "donchian:2", "donchian:200"),
    *("realvol:20", "realvol:2", "realvol:100", "parkinson:20", "parkinson:1", "garman_klass:20", "garman_klass:1"),
]
FIXTURES = [
    *("atr:14", "atr:3", "natr:14", "natr:3", "trange", "bbands:20,2", "bbands:5,2", "keltner:20,10,2", "keltner:4,9,1.5"),
    *("donchian:20", "donchian:5", "realvol:20", "realvol:5", "parkinson:20", "parkinson:5"),
    *("garman_klass:20", "garman_klass:5"),
]
# A band's distance from the price may take it through 0. A quotient of prices beside 1 is rounded to 2^-53, and so is
# its logarithm, however small.
ABSOLUTE = {
    **{name: lambda c: 1e-14 * c["high"].max() for name in ("bbands", "keltner")},
    **{name: lambda c: 2.0**-51 for name in ("realvol", "parkinson", "garman_klass")},
}

# Written once for all backends: see docs/indicators.md.
ROWS |= {
    "accbands": lambda o, c: list(talib.ACCBANDS(c["high"], c["low"], c["close"], timeperiod=int(o[0]))),
}
SPECS += ["accbands:2", "accbands:20"]
FIXTURES += ["accbands:20", "accbands:5"]

ROWS |= {"adr": lambda o, c: [talib.ADR(c["high"], c["low"], int(o[0]))]}
SPECS += ["adr:1", "adr:14"]
FIXTURES += ["adr:14"]

ROWS |= {
    "cvi": lambda o, c: [talib.CVI(c["high"], c["low"], *map(int, o))],
    "massi": lambda o, c: [talib.MASSI(c["high"], c["low"], *map(int, o))],
    "rvi": lambda o, c: [talib.RVI(c["close"], *map(int, o))],
}
SPECS += ["cvi:10,10", "cvi:3,1", "cvi:30,100", "massi:9,25", "massi:2,2", "massi:30,100", "rvi:14,10", "rvi:1,2", "rvi:50,30"]
FIXTURES += ["cvi:10,10", "cvi:4,3", "massi:9,25", "massi:4,5", "rvi:14,10", "rvi:5,4"]
# An average of 2 fades below 1e-290 in a halt, which counts as 0 here. A change that passes through 0; and TA-Lib's deviations are of running sums.
ABSOLUTE |= {"cvi": lambda c: 1e-11, "rvi": lambda c: 1e-9}
