"""An independent definition of each row of the registry: TA-Lib's function where it has one, else plain NumPy written
from the source that the row names. A row without one fails the oracle.

Each family's module gives
  ROWS      name -> function of (options, columns), which returns a list of float64 arrays, NaN before the first output;
            columns are open, high, low, close, volume (float64) and time (seconds since 1970)
  SPECS     what compare.py tries, on real and generated bars
  FIXTURES  what fixtures.py writes to talib.txt for the C tests: at least one a row
  ABSOLUTE  name -> function of columns: what is allowed in addition to 1e-9 of the value, with the reason in a comment; a number, or
            one a bar
"""

import candles
import cycles
import momentum
import moving_averages
import prices
import statistics_rows
import trend
import volatility
import volume

FAMILIES = [moving_averages, momentum, trend, volatility, volume, statistics_rows, prices, cycles, candles]
ROWS = {name: row for family in FAMILIES for name, row in family.ROWS.items()}
SPECS = [spec for family in FAMILIES for spec in family.SPECS]
FIXTURES = [spec for family in FAMILIES for spec in family.FIXTURES]
ABSOLUTE = {name: bound for family in FAMILIES for name, bound in family.ABSOLUTE.items()}


def split(spec):
    """ "macd:12,26,9" as ("macd", [12.0, 26.0, 9.0]); "obv" as ("obv", [])."""
    name, _, options = spec.partition(":")
    return name, [float(option) for option in options.split(",") if option]


def compute(spec, columns):
    name, options = split(spec)
    return ROWS[name](options, columns)
