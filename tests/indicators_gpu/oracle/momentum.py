"""Momentum: see rows.py for what a family gives."""

import numpy as np
import talib

ROWS = {
    "cci": lambda o, c: [talib.CCI(c["high"], c["low"], c["close"], timeperiod=int(o[0]))],
    "macd": lambda o, c: list(
        talib.MACD(c["close"], fastperiod=int(o[0]), slowperiod=int(o[1]), signalperiod=int(o[2]))
    ),
    "mom": lambda o, c: [talib.MOM(c["close"], timeperiod=int(o[0]))],
    "ppo": lambda o, c: [talib.PPO(c["close"], fastperiod=int(o[0]), slowperiod=int(o[1]), matype=int(o[2]))],
    "roc": lambda o, c: [talib.ROC(c["close"], timeperiod=int(o[0]))],
    "rsi": lambda o, c: [talib.RSI(c["close"], timeperiod=int(o[0]))],
    "stoch": lambda o, c: list(
        talib.STOCH(
            c["high"], c["low"], c["close"], fastk_period=int(o[0]), slowk_period=int(o[1]), slowd_period=int(o[2])
        )
    ),
    "stochf": lambda o, c: list(
        talib.STOCHF(c["high"], c["low"], c["close"], fastk_period=int(o[0]), fastd_period=int(o[1]))
    ),
    "stochrsi": lambda o, c: list(
        talib.STOCHRSI(c["close"], timeperiod=int(o[0]), fastk_period=int(o[1]), fastd_period=int(o[2]))
    ),
    "trix": lambda o, c: [talib.TRIX(c["close"], timeperiod=int(o[0]))],
    "ultosc": lambda o, c: [
        talib.ULTOSC(
            c["high"], c["low"], c["close"], timeperiod1=int(o[0]), timeperiod2=int(o[1]), timeperiod3=int(o[2])
        )
    ],
    "willr": lambda o, c: [talib.WILLR(c["high"], c["low"], c["close"], timeperiod=int(o[0]))],
}
SPECS = ["cci:2", "cci:14", "cci:100", "macd:12,26,9", "macd:26,12,9", "macd:5,35,5", "macd:3,10,1", "mom:1", "mom:10"]
SPECS += ["ppo:12,26,0", "ppo:12,26,1", "ppo:35,5,0", "ppo:35,5,1", "roc:1", "roc:10", "rsi:2", "rsi:14", "rsi:100"]
SPECS += ["stoch:5,3,3", "stoch:14,1,6", "stochf:5,3", "stochf:14,1", "stochrsi:14,5,3", "stochrsi:14,14,3"]
SPECS += ["trix:1", "trix:9", "trix:30", "ultosc:7,14,28", "ultosc:30,2,10", "willr:2", "willr:14"]
FIXTURES = ["macd:12,26,9", "macd:10,4,3", "rsi:14", "rsi:4"]
FIXTURES += ["cci:14", "cci:5", "mom:10", "ppo:12,26,0", "ppo:10,4,1", "roc:10", "stoch:5,3,3", "stochf:5,3"]
FIXTURES += ["stochrsi:14,5,3", "stochrsi:4,6,2", "trix:30", "trix:4", "ultosc:7,14,28", "willr:14", "willr:3"]
# Differences of prices pass through 0, where 1e-14 of the highest price is all that float64 has; TA-Lib itself gives
# other last bits there on a CPU without fused multiply-adds, which its wheel takes up at run time. The rest are numbers
# of the order of 100 that pass through 0 too. TA-Lib's simple averages are running sums, which keep the rounding of what
# left them long ago (ppo, stoch, stochf: it gives -1e-12 where the window's values all are 0) and drift with every bar. CCI divides a difference
# of prices, known to 1e-16 of them, by 0.015 of their mean deviation, which may be 1e-5 of them or less; STOCHRSI one of
# RSI's, known to 1e-14, by its range in the window.
ABSOLUTE = {
    "cci": lambda c: 1e-9,
    "macd": lambda c: 1e-14 * c["high"].max(),
    "ppo": lambda c: 1e-11 * max(1.0, len(c["close"]) / 50000),
    "stoch": lambda c: 1e-11,
    "stochf": lambda c: 1e-11,
    "stochrsi": lambda c: 1e-9,
}

# Written once for all backends: see docs/indicators.md.
ROWS |= {
    "apo": lambda o, c: [talib.APO(c["close"], fastperiod=int(o[0]), slowperiod=int(o[1]), matype=int(o[2]))],
    "bop": lambda o, c: [talib.BOP(c["open"], c["high"], c["low"], c["close"])],
    "cmo": lambda o, c: [talib.CMO(c["close"], timeperiod=int(o[0]))],
    "imi": lambda o, c: [talib.IMI(c["open"], c["close"], timeperiod=int(o[0]))],
    "macdext": lambda o, c: list(talib.MACDEXT(c["close"], int(o[0]), 0, int(o[1]), 0, int(o[2]), 0)),
    "macdfix": lambda o, c: list(talib.MACDFIX(c["close"], signalperiod=int(o[0]))),
    "rocp": lambda o, c: [talib.ROCP(c["close"], timeperiod=int(o[0]))],
    "rocr": lambda o, c: [talib.ROCR(c["close"], timeperiod=int(o[0]))],
    "rocr100": lambda o, c: [talib.ROCR100(c["close"], timeperiod=int(o[0]))],
}
SPECS += ["apo:12,26,0", "apo:12,26,1", "apo:35,5,1", "bop", "cmo:2", "cmo:14", "imi:2", "imi:14", "macdext:12,26,9", "macdext:26,5,3"]
SPECS += ["macdfix:9", "macdfix:1", "rocp:1", "rocp:10", "rocr:10", "rocr100:1", "rocr100:10"]
FIXTURES += ["apo:12,26,1", "apo:10,4,0", "bop", "cmo:14", "cmo:4", "imi:14", "macdext:12,26,9", "macdfix:9", "rocp:10", "rocr:10", "rocr100:10"]
# Differences that pass through 0, again; those of simple averages drift in TA-Lib with every bar.
ABSOLUTE |= {
    "apo": lambda c: 1e-14 * c["high"].max() * max(1.0, len(c["close"]) / 1000),
    "cmo": lambda c: 1e-11,
    "imi": lambda c: 1e-9,
    "macdext": lambda c: 1e-14 * c["high"].max() * max(1.0, len(c["close"]) / 1000),
    "macdfix": lambda c: 1e-14 * c["high"].max(),
    "rocp": lambda c: 3e-16,
}


def fractal(o, c):
    """TA-Lib's integers, 0 before the first output, where ours are NaN."""
    found = [values.astype(float) for values in talib.FRACTAL(c["high"], c["low"], int(o[0]), int(o[1]))]
    for values in found:
        values[: int(o[0] + o[1])] = np.nan
    return found


# TA-Lib 0.8's newer ones. Means and sums are running ones there: off by a digit of the price more with every bar.
ROWS |= {
    "ao": lambda o, c: [talib.AO(c["high"], c["low"], int(o[0]), int(o[1]))],
    "ac": lambda o, c: [talib.AC(c["high"], c["low"], int(o[0]), int(o[1]), int(o[2]))],
    "cmou": lambda o, c: [talib.CMOU(c["close"], int(o[0]))],
    "coppock": lambda o, c: [talib.COPPOCK(c["close"], int(o[0]), int(o[1]), int(o[2]))],
    "dpo": lambda o, c: [talib.DPO(c["close"], int(o[0]))],
    "er": lambda o, c: [talib.ER(c["close"], int(o[0]))],
    "fosc": lambda o, c: [talib.FOSC(c["close"], int(o[0]))],
    "fractal": fractal,
    "qstick": lambda o, c: [talib.QSTICK(c["open"], c["close"], int(o[0]))],
    "vhf": lambda o, c: [talib.VHF(c["close"], int(o[0]))],
}
SPECS += ["ao:5,34", "ao:34,5", "ac:5,34,5", "ac:2,3,2", "cmou:2", "cmou:14", "coppock:10,11,14", "coppock:1,5,2", "dpo:2", "dpo:3", "dpo:20"]
SPECS += ["er:2", "er:10", "fosc:2", "fosc:5", "fosc:30", "fractal:2,2", "fractal:1,3", "qstick:1", "qstick:10", "vhf:2", "vhf:28"]
FIXTURES += ["ao:5,34", "ac:5,34,5", "cmou:14", "coppock:10,11,14", "dpo:20", "er:10", "fosc:5", "fractal:2,2", "qstick:10", "vhf:28"]
ABSOLUTE |= {
    **{name: lambda c: 1e-14 * c["high"].max() * max(1.0, len(c["close"]) / 1000) for name in ("ao", "ac", "dpo", "qstick")},
    **{name: lambda c: 1e-9 for name in ("cmou", "coppock", "fosc")},
}

# Those that average as they go. The distance of a price from its average passes through 0.
ROWS |= {
    "eri": lambda o, c: list(talib.ERI(c["high"], c["low"], c["close"], int(o[0]))),
    "wad": lambda o, c: [talib.WAD(c["high"], c["low"], c["close"])],
}
SPECS += ["eri:1", "eri:13", "eri:100", "wad"]
FIXTURES += ["eri:13", "wad"]
ABSOLUTE |= {"eri": lambda c: 1e-14 * c["high"].max()}

ROWS |= {
    "kdj": lambda o, c: list(talib.KDJ(c["high"], c["low"], c["close"], int(o[0]), int(o[1]), talib.MA_Type.RMA, int(o[2]), talib.MA_Type.RMA)),
    "smi": lambda o, c: list(talib.SMI(c["high"], c["low"], c["close"], *map(int, o))),
    "tsi": lambda o, c: [talib.TSI(c["close"], *map(int, o))],
}
SPECS += ["kdj:9,3,3", "kdj:1,1,1", "kdj:50,9,20", "smi:13,2,25,9", "smi:3,3,3,2", "smi:60,25,5,30", "tsi:25,13", "tsi:3,2", "tsi:13,60"]
FIXTURES += ["kdj:9,3,3", "kdj:5,2,4", "smi:13,2,25,9", "smi:5,3,2,4", "tsi:25,13", "tsi:5,3"]
# Averages of 2 fade below 1e-290 in a halt, which counts as 0 here. Per cent that pass through 0, as J, and fade to it in a flat market, as K and D.
ABSOLUTE |= {name: lambda c: 1e-11 for name in ("kdj", "smi", "tsi")}
