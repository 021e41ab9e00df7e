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


ROWS = {
    "dema": lambda o, c: [talib.DEMA(c["close"], timeperiod=int(o[0]))],
    "ema": lambda o, c: [talib.EMA(c["close"], timeperiod=int(o[0]))],
    "hma": lambda o, c: [talib.HMA(c["close"], timeperiod=int(o[0]))],
    "kama": lambda o, c: [talib.KAMA(c["close"], timeperiod=int(o[0]))],
    "sma": lambda o, c: [talib.SMA(c["close"], timeperiod=int(o[0]))],
    "tema": lambda o, c: [talib.TEMA(c["close"], timeperiod=int(o[0]))],
    "wma": lambda o, c: [talib.WMA(c["close"], timeperiod=int(o[0]))],
}
SPECS = ["ema:2", "ema:14", "ema:200", "sma:2", "sma:20", "sma:200", "sma:5000"]
SPECS += ["wma:1", "dema:1", "tema:1", "wma:2", "wma:30", "wma:200", "dema:2", "dema:30", "dema:100", "tema:2", "tema:30", "tema:100"]
SPECS += ["kama:2", "kama:10", "kama:30", "hma:2", "hma:16", "hma:100"]
FIXTURES = ["ema:14", "ema:5", "sma:20", "sma:7", "wma:9", "dema:6", "tema:5", "kama:10", "hma:16"]
ABSOLUTE = {}

# Written once for all backends: see docs/indicators.md.
ROWS |= {
    "trima": lambda o, c: [talib.TRIMA(c["close"], timeperiod=int(o[0]))],
    "t3": lambda o, c: [talib.T3(c["close"], timeperiod=int(o[0]), vfactor=o[1])],
}
SPECS += ["trima:2", "trima:14", "trima:31", "t3:2,0", "t3:5,0.7", "t3:50,1"]
FIXTURES += ["trima:30", "trima:7", "t3:5,0.7"]

ROWS |= {"rma": lambda o, c: [talib.RMA(c["close"], int(o[0]))]}
SPECS += ["rma:1", "rma:30"]
FIXTURES += ["rma:30", "rma:5"]

ROWS |= {"zlema": lambda o, c: [talib.ZLEMA(c["close"], int(o[0]))]}
SPECS += ["zlema:1", "zlema:2", "zlema:30", "zlema:101"]
FIXTURES += ["zlema:30", "zlema:7"]
