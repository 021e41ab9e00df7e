"""Writes talib.txt, TA-Lib's values for the C tests: python3 fixtures.py >talib.txt (in a venv with TA-Lib).

A block of bars, then a block for each output: `column NAME` and a value a line.
"""

import numpy as np
import talib
from rows import FIXTURES, compute

BARS = 120
FLAT = slice(70, 90)  # long enough that rsi:4 forgets what was before

random = np.random.default_rng(20240808)
steps = random.normal(0, 0.01, BARS)
steps[FLAT] = 0
close = np.round(100 * np.exp(np.cumsum(steps)), 2)
open_ = np.concatenate([[100.0], close[:-1]])
wick = np.round(np.abs(random.normal(0, 0.5, (2, BARS))), 2)
columns = {
    "open": open_,
    "high": np.round(np.maximum(open_, close) + wick[0], 2),
    "low": np.round(np.minimum(open_, close) - wick[1], 2),
    "close": close,
    "volume": np.round(random.exponential(10, BARS), 3),
}

print(f"# TA-Lib {talib.__ta_version__.decode().split()[0]} (wheel {talib.__version__}): written by fixtures.py")
print(f"bars {BARS}")
for row in zip(*(column.tolist() for column in columns.values())):
    print(*row)
for spec in FIXTURES:
    outputs = compute(spec, columns)
    for output, values in enumerate(outputs):
        print(f"column {spec} {output}")
        for value in values.tolist():
            print(repr(value))
