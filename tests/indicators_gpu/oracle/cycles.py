"""Cycles: see rows.py for what a family gives."""

import numpy as np
import talib

ROWS = {
    "ht_dcperiod": lambda o, c: [talib.HT_DCPERIOD(c["close"])],
    "ht_dcphase": lambda o, c: [talib.HT_DCPHASE(c["close"])],
    "ht_phasor": lambda o, c: list(talib.HT_PHASOR(c["close"])),
    "ht_sine": lambda o, c: list(talib.HT_SINE(c["close"])),
    "ht_trendline": lambda o, c: [talib.HT_TRENDLINE(c["close"])],
    "ht_trendmode": lambda o, c: [from_first(talib.HT_TRENDMODE(c["close"]).astype(float))],
    "mama": lambda o, c: list(talib.MAMA(c["close"], fastlimit=o[0], slowlimit=o[1])),
}


def from_first(values):
    """NaN where there is no output yet: TA-Lib gives 0 there."""
    values[:63] = float("nan")
    return values


SPECS = ["ht_dcperiod", "ht_dcphase", "ht_phasor", "ht_sine", "ht_trendline", "ht_trendmode", "mama:0.5,0.05", "mama:0.9,0.1"]
FIXTURES = ["ht_dcperiod", "ht_dcphase", "ht_phasor", "ht_sine", "ht_trendline", "ht_trendmode", "mama:0.5,0.05"]


def by_rounding(name, options):
    """What a bar may differ by, one by one: the filters' sums cancel in a flat or evenly rising market, and the period is
    then that of their rounding errors, in TA-Lib as here. So as much as TA-Lib's own answers differ where its prices are
    changed in the last digits, one by one or all alike, which leaves a flat market flat; and what float64 has of a price."""

    def allowed(c):
        random, expected = np.random.default_rng(7), ROWS[name](options, c)
        spread, n = np.zeros(len(c["close"])), len(c["close"])
        for k in range(16):
            changes = random.integers(-2, 3, n) if k % 2 else np.full(n, k + 2)
            near = {**c, "close": c["close"] * (1 + 2.0**-51 * changes)}
            for theirs, own in zip(ROWS[name](options, near), expected):
                spread = np.maximum(spread, np.nan_to_num(np.abs(theirs - own)))
        of_price = 1e-12 * c["high"].max() if name in ("ht_phasor", "ht_trendline", "mama") else 1e-9
        return 8 * spread + of_price

    return allowed


ABSOLUTE = {name: by_rounding(name, [0.5, 0.05] if name == "mama" else []) for name in ROWS}
