"""Volatility and channels: see rows.py for what a family gives."""

import talib

ROWS = {
    "atr": lambda o, c: [talib.ATR(c["high"], c["low"], c["close"], timeperiod=int(o[0]))],
}
SPECS = ["atr:1", "atr:14", "atr:100"]
FIXTURES = ["atr:14", "atr:3"]
ABSOLUTE = {}
