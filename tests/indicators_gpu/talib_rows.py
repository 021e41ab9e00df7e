"""TA-Lib's function for each row of the registry. A row without one fails the oracle."""

import talib

ROWS = {
    "atr": lambda o, c: [talib.ATR(c["high"], c["low"], c["close"], timeperiod=o[0])],
    "ema": lambda o, c: [talib.EMA(c["close"], timeperiod=o[0])],
    "macd": lambda o, c: list(talib.MACD(c["close"], fastperiod=o[0], slowperiod=o[1], signalperiod=o[2])),
    "rsi": lambda o, c: [talib.RSI(c["close"], timeperiod=o[0])],
    "sma": lambda o, c: [talib.SMA(c["close"], timeperiod=o[0])],
}

# TA-Lib takes periods from 2 (ATR and MACD's signal from 1): those at 1 are checked in reference.c.
SPECS = [
    "atr:1", "atr:14", "atr:100",
    "ema:2", "ema:14", "ema:200",
    "macd:12,26,9", "macd:26,12,9", "macd:5,35,5", "macd:3,10,1",
    "rsi:2", "rsi:14", "rsi:100",
    "sma:2", "sma:20", "sma:200", "sma:5000",
]  # fmt: skip


def split(spec):
    """ "macd:12,26,9" as ("macd", [12, 26, 9])."""
    name, options = spec.split(":")
    return name, [int(option) for option in options.split(",")]


def compute(spec, columns):
    name, options = split(spec)
    return ROWS[name](options, columns)
