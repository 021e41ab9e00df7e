"""Moving averages: see rows.py for what a family gives."""

import talib

ROWS = {
    "ema": lambda o, c: [talib.EMA(c["close"], timeperiod=int(o[0]))],
    "sma": lambda o, c: [talib.SMA(c["close"], timeperiod=int(o[0]))],
}
SPECS = ["ema:2", "ema:14", "ema:200", "sma:2", "sma:20", "sma:200", "sma:5000"]
FIXTURES = ["ema:14", "ema:5", "sma:20", "sma:7"]
ABSOLUTE = {}
