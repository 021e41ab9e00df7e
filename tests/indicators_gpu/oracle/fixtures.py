"""Writes talib.txt, TA-Lib's values for the C tests: python3 fixtures.py >talib.txt (in a venv with TA-Lib).

The bars, a line each: open, high, low, close, volume, time. `absolute NAME VALUE`: what is allowed a row in addition to a share of
the value (see rows.py), or a value a bar. `column SPEC OUTPUT` and its values, one a bar, on the same line, in 14 digits. """

import numpy as np
import talib
from rows import ABSOLUTE, FIXTURES, compute

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
    "time": 1704063600.0 + 3600.0 * np.arange(BARS),  # five midnights, the first after an hour
}

print(f"# TA-Lib {talib.__ta_version__.decode().split()[0]} (wheel {talib.__version__}): written by fixtures.py")
print(f"bars {BARS}")
for row in zip(*(column.tolist() for column in columns.values())):
    print(*row[:5], int(row[5]))
for name, bound in ABSOLUTE.items():
    print(f"absolute {name}", *(f"{value:.3g}" for value in np.atleast_1d(bound(columns))))
for spec in FIXTURES:
    for output, values in enumerate(compute(spec, columns)):
        print(f"column {spec} {output}", *(f"{value:.14g}" for value in values.tolist()))
