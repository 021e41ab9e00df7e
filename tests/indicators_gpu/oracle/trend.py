"""Trend: see rows.py for what a family gives."""

import numpy as np
import talib
from numpy.lib.stride_tricks import sliding_window_view


def of_bars(function):
    """TA-Lib's function of high, low, close and a period."""
    return lambda o, c: [function(c["high"], c["low"], c["close"], timeperiod=int(o[0]))]


def supertrend(o, c):
    """TA-Lib refuses a period of 1: its rules then, in Python's own floats. The first bar is a rising one."""
    period, multiplier = int(o[0]), o[1]
    if period > 1:
        value, trend = talib.SUPERTREND(c["high"], c["low"], c["close"], timeperiod=period, multiplier=multiplier)
        return [value, np.where(np.isnan(value), np.nan, trend)]
    high, low, close = (c[name].tolist() for name in ("high", "low", "close"))
    atr = talib.TRANGE(c["high"], c["low"], c["close"]).tolist()
    value, direction = np.full(len(close), np.nan), np.full(len(close), np.nan)
    up = down = None
    trend = 1
    for i in range(1, len(close)):
        upper = (high[i] + low[i]) / 2 + multiplier * atr[i]
        lower = (high[i] + low[i]) / 2 - multiplier * atr[i]
        if up is not None:
            up = min(up, upper) if close[i - 1] <= up else upper
            down = max(down, lower) if close[i - 1] >= down else lower
            if trend < 0 and close[i] > up:
                trend = 1
            elif trend > 0 and close[i] < down:
                trend = -1
        else:
            up, down = upper, lower
        value[i], direction[i] = (down if trend > 0 else up), trend
    return [value, direction]


def middle(c, period):
    """Between the highest high and the lowest low of so many bars."""
    out = np.full(len(c["high"]), np.nan)
    if len(out) >= period:
        out[period - 1 :] = sliding_window_view(c["high"], period).max(axis=1)
        out[period - 1 :] += sliding_window_view(c["low"], period).min(axis=1)
    return out / 2


def ichimoku(o, c):
    tenkan, kijun, senkou, displacement = (int(option) for option in o)
    n = len(c["high"])
    first = max(tenkan, kijun, senkou) - 1 + displacement

    def shifted(x):
        return np.concatenate([np.full(min(displacement, n), np.nan), x])[:n]

    lines = [middle(c, tenkan), middle(c, kijun)]
    spans = [shifted((lines[0] + lines[1]) / 2), shifted(middle(c, senkou))]
    outputs = [line.copy() for line in lines + spans]
    for output in outputs:
        output[:first] = np.nan
    return outputs


ROWS = {
    "adx": of_bars(talib.ADX),
    "adxr": of_bars(talib.ADXR),
    "aroon": lambda o, c: list(talib.AROON(c["high"], c["low"], timeperiod=int(o[0]))),
    "dx": of_bars(talib.DX),
    "heikin_ashi": lambda o, c: list(talib.HA(c["open"], c["high"], c["low"], c["close"])),
    "ichimoku": ichimoku,
    "minus_di": of_bars(talib.MINUS_DI),
    "plus_di": of_bars(talib.PLUS_DI),
    "sar": lambda o, c: [talib.SAR(c["high"], c["low"], acceleration=o[0], maximum=o[1])],
    "supertrend": supertrend,
}
SPECS = [
    *("adx:2", "adx:14", "adx:50", "adxr:2", "adxr:14", "adxr:50", "dx:2", "dx:14", "dx:50"),
    *("plus_di:2", "plus_di:14", "plus_di:100", "minus_di:2", "minus_di:14", "minus_di:100"),
    *("aroon:2", "aroon:14", "aroon:100", "sar:0.02,0.2", "sar:0.1,0.05", "sar:0.015,0.5", "sar:0,0", "sar:1,1"),
    *("supertrend:10,3", "supertrend:1,0", "supertrend:50,1.5", "heikin_ashi"),
    *("ichimoku:9,26,52,26", "ichimoku:1,1,1,0", "ichimoku:40,20,10,5", "ichimoku:7,22,44,22"),
]
FIXTURES = [
    *("adx:14", "adx:4", "adxr:14", "adxr:4", "dx:14", "dx:4", "plus_di:14", "plus_di:4", "minus_di:14", "minus_di:4"),
    *("aroon:14", "aroon:5", "sar:0.02,0.2", "sar:0.1,0.5", "supertrend:10,3", "supertrend:4,1", "heikin_ashi"),
    *("ichimoku:9,26,52,26", "ichimoku:3,8,13,5"),
]
# Of 100: DX takes one DI from the other, so that float64's last digits of 100 are all that is left where they are equal.
ABSOLUTE = {name: lambda c: 1e-12 for name in ("dx", "adx", "adxr")}

# Written once for all backends: see docs/indicators.md.
ROWS |= {
    "aroonosc": lambda o, c: [talib.AROONOSC(c["high"], c["low"], timeperiod=int(o[0]))],
    "plus_dm": lambda o, c: [talib.PLUS_DM(c["high"], c["low"], timeperiod=int(o[0]))],
    "minus_dm": lambda o, c: [talib.MINUS_DM(c["high"], c["low"], timeperiod=int(o[0]))],
}
SPECS += ["aroonosc:2", "aroonosc:14", "aroonosc:100", "plus_dm:1", "plus_dm:14", "minus_dm:1", "minus_dm:2", "minus_dm:50"]
FIXTURES += ["aroonosc:14", "plus_dm:14", "minus_dm:4"]

ROWS |= {"vortex": lambda o, c: list(talib.VORTEX(c["high"], c["low"], c["close"], int(o[0])))}
SPECS += ["vortex:1", "vortex:14"]
FIXTURES += ["vortex:14"]
