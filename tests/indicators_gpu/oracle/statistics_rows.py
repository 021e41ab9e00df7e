"""Statistics: see rows.py for what a family gives."""

import numpy as np
import talib
from moving_averages import windowed


def held_to(expected, theirs, allowed, name):
    """The expected values, once TA-Lib's are found within `allowed` of them."""
    assert np.array_equal(np.isnan(expected), np.isnan(theirs)), f"{name}: TA-Lib has other empty cells"
    assert not (np.abs(expected - theirs) > allowed).any(), f"{name}: TA-Lib differs"
    return expected


def slope(x, period):
    """The covariance with 0, 1, ... over that one's variance. TA-Lib carries running sums along, and takes the
    difference of their products: that loses digits of the price."""
    t = np.arange(period) - (period - 1) / 2
    expected = windowed(x, period, lambda w: (w - w[:, -1:]) @ t / (t @ t))
    theirs = talib.LINEARREG_SLOPE(x, timeperiod=period)
    return held_to(expected, theirs, 1e-12 * np.max(x, initial=0), "LINEARREG_SLOPE")


def angle(o, c):
    x, period = c["close"], int(o[0])
    expected = np.degrees(np.arctan(slope(x, period)))
    return [held_to(expected, talib.LINEARREG_ANGLE(x, timeperiod=period), 6e-11 * np.max(x, initial=0), "LINEARREG_ANGLE")]


def zscore(o, c):
    def scores(w):
        w = w - w[:, -1:]  # from the newest on: a mean of prices would lose their differences
        flat = np.ptp(w, axis=1) == 0
        return np.where(flat, 0.0, (w[:, -1] - w.mean(axis=1)) / np.where(flat, 1.0, w.std(axis=1)))

    return [windowed(c["close"], int(o[0]), scores)]


def log_return(o, c):
    x, bars = c["close"], int(o[0])
    result = np.full(len(x), np.nan)
    result[bars:] = np.log(x[bars:] / x[: max(len(x) - bars, 0)])
    return [result]


def rank(o, c):
    def ranks(w):
        newest = w[:, -1:]
        return ((w < newest).sum(axis=1) + ((w == newest).sum(axis=1) + 1) / 2) / w.shape[1]

    return [windowed(c["close"], int(o[0]), ranks)]


ROWS = {
    "linreg_angle": angle,
    "linreg_slope": lambda o, c: [slope(c["close"], int(o[0]))],
    "log_return": log_return,
    "quantile": lambda o, c: [windowed(c["close"], int(o[0]), lambda w: np.quantile(w, o[1], axis=1))],
    "rank": rank,
    "stddev": lambda o, c: [talib.STDDEV(c["close"], timeperiod=int(o[0]), nbdev=o[1])],
    "var": lambda o, c: [talib.VAR(c["close"], timeperiod=int(o[0]))],
    "zscore": zscore,
}
SPECS = ["stddev:5,1", "stddev:20,2", "stddev:200,1", "var:1", "var:5", "var:100"]
SPECS += ["linreg_slope:2", "linreg_slope:14", "linreg_slope:100", "linreg_angle:14", "linreg_angle:50"]
SPECS += ["log_return:1", "log_return:20", "zscore:2", "zscore:20", "zscore:100"]
SPECS += ["quantile:1,0.5", "quantile:20,0.5", "quantile:14,0.9", "quantile:100,0.05", "rank:2", "rank:20", "rank:100"]
FIXTURES = ["stddev:5,2", "var:10", "linreg_slope:14", "linreg_angle:8", "log_return:1", "log_return:5", "zscore:20"]
FIXTURES += ["quantile:20,0.5", "quantile:9,0.8", "rank:10"]
# A deviation, a slope and a logarithm of a quotient near 1 pass through 0, where the last digit of what they are made
# of is all that float64 has: of the price, and of 1. TA-Lib carries its sums of squares from window to window.
ABSOLUTE = {
    "linreg_angle": lambda c: 6e-14 * c["high"].max(),
    "linreg_slope": lambda c: 1e-15 * c["high"].max(),
    "log_return": lambda c: 3e-16,
    "stddev": lambda c: 1e-14 * c["high"].max(),
    "var": lambda c: 1e-20 * c["high"].max() ** 2,
    "zscore": lambda c: 1e-12,
}

# Written once for all backends: see docs/indicators.md.
ROWS |= {
    "linearreg": lambda o, c: [talib.LINEARREG(c["close"], timeperiod=int(o[0]))],
    "linearreg_intercept": lambda o, c: [talib.LINEARREG_INTERCEPT(c["close"], timeperiod=int(o[0]))],
    "tsf": lambda o, c: [talib.TSF(c["close"], timeperiod=int(o[0]))],
    "avgdev": lambda o, c: [talib.AVGDEV(c["close"], timeperiod=int(o[0]))],
    "sum": lambda o, c: [talib.SUM(c["close"], timeperiod=int(o[0]))],
    "beta": lambda o, c: [talib.BETA(c["high"], c["low"], timeperiod=int(o[0]))],
    "correl": lambda o, c: [talib.CORREL(c["high"], c["low"], timeperiod=int(o[0]))],
}
SPECS += ["linearreg:2", "linearreg:14", "linearreg_intercept:14", "tsf:14", "tsf:50", "avgdev:2", "avgdev:14", "sum:2", "sum:30"]
SPECS += ["beta:5", "beta:50", "correl:5", "correl:30"]
FIXTURES += ["linearreg:14", "linearreg_intercept:14", "tsf:14", "avgdev:14", "sum:30", "beta:5", "correl:30"]
# TA-Lib takes both from running sums of squares and products.
ABSOLUTE |= {
    "beta": lambda c: 1e-8,
    "correl": lambda c: 1e-8,
}

ROWS |= {"percentrank": lambda o, c: [talib.PERCENTRANK(c["close"], int(o[0]))]}
SPECS += ["percentrank:2", "percentrank:100"]
FIXTURES += ["percentrank:14"]
