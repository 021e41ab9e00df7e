"""Momentum: see rows.py for what a family gives."""

import talib

ROWS = {
    "macd": lambda o, c: list(
        talib.MACD(c["close"], fastperiod=int(o[0]), slowperiod=int(o[1]), signalperiod=int(o[2]))
    ),
    "rsi": lambda o, c: [talib.RSI(c["close"], timeperiod=int(o[0]))],
}
SPECS = ["macd:12,26,9", "macd:26,12,9", "macd:5,35,5", "macd:3,10,1", "rsi:2", "rsi:14", "rsi:100"]
FIXTURES = ["macd:12,26,9", "macd:10,4,3", "rsi:14", "rsi:4"]
# Differences of prices pass through 0, where 1e-14 of the highest price is all that float64 has; TA-Lib itself gives
# other last bits there on a CPU without fused multiply-adds, which its wheel takes up at run time.
ABSOLUTE = {"macd": lambda c: 1e-14 * c["high"].max()}
