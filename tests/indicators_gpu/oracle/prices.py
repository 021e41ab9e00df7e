"""Prices: see rows.py for what a family gives."""

import numpy as np
import talib
from moving_averages import windowed


def since(function, argument):
    """The age of an extreme, the oldest of equals; TA-Lib's index, from the first bar, is that of an equal value."""

    def ages(o, c):
        period, x = int(o[0]), c["close"]
        age = windowed(x, period, lambda w: period - 1.0 - argument(w, axis=1))
        at = np.arange(len(x))[period - 1 :]
        theirs = function(x, timeperiod=period)[period - 1 :]
        assert np.array_equal(x[theirs], x[at - age[period - 1 :].astype(int)]), f"{function.__name__}: TA-Lib differs"
        return [age]

    return ages


ROWS = {
    "avgprice": lambda o, c: [talib.AVGPRICE(c["open"], c["high"], c["low"], c["close"])],
    "max": lambda o, c: [talib.MAX(c["close"], timeperiod=int(o[0]))],
    "medprice": lambda o, c: [talib.MEDPRICE(c["high"], c["low"])],
    "midpoint": lambda o, c: [talib.MIDPOINT(c["close"], timeperiod=int(o[0]))],
    "midprice": lambda o, c: [talib.MIDPRICE(c["high"], c["low"], timeperiod=int(o[0]))],
    "min": lambda o, c: [talib.MIN(c["close"], timeperiod=int(o[0]))],
    "minmax": lambda o, c: list(talib.MINMAX(c["close"], timeperiod=int(o[0]))),
    "since_max": since(talib.MAXINDEX, np.argmax),
    "since_min": since(talib.MININDEX, np.argmin),
    "typprice": lambda o, c: [talib.TYPPRICE(c["high"], c["low"], c["close"])],
    "wclprice": lambda o, c: [talib.WCLPRICE(c["high"], c["low"], c["close"])],
}
SPECS = ["avgprice", "medprice", "typprice", "wclprice", "midpoint:2", "midpoint:14", "midprice:2", "midprice:14", "max:2", "max:30"]
SPECS += ["min:30", "minmax:5", "minmax:100", "since_max:2", "since_max:30", "since_min:30", "since_min:100"]
FIXTURES = ["avgprice", "medprice", "typprice", "wclprice", "midpoint:14", "midprice:14", "max:30", "min:30", "minmax:30"]
FIXTURES += ["since_max:30", "since_min:30"]
ABSOLUTE = {}
