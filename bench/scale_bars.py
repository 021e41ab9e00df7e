"""A lake of bars of 1m that walk at random, for bench/scale and its test: SYMBOL's year Y is symbol=SYMBOL/year=Y/0.parquet."""

from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

YEAR_BARS = 525_600  # minutes of 365 days; a US share has 98,280 of regular sessions (252 of 390 minutes)
FIRST_YEAR = 2014
FIRST_US = 1_388_534_400_000_000  # 2014-01-01
MINUTE_US = 60_000_000
START_CENTS = 1_000_000


def name_of(number):
    return f"S{number:04}USDT"


def year_of(rng, start_us, bars, cents):
    """(a table of bars with two digits of price and three of volume, the last close in cents)"""
    path = np.maximum(cents + np.cumsum(rng.integers(-500, 501, bars)), 1000)
    opens = np.concatenate(([cents], path[:-1]))
    wick = rng.integers(0, 200, (2, bars))
    columns = {
        "timestamp": pyarrow.array(start_us + MINUTE_US * np.arange(bars), pyarrow.timestamp("us", "UTC")),
        "open": opens / 100,
        "high": (np.maximum(opens, path) + wick[0]) / 100,
        "low": (np.minimum(opens, path) - wick[1]) / 100,
        "close": path / 100,
        "volume": rng.integers(0, 100_000, bars) / 1000,
    }
    return pyarrow.table(columns), int(path[-1])


def make(folder, number, bars):
    """A symbol's files; their bytes."""
    rng, cents, size = np.random.default_rng([31, number]), START_CENTS, 0
    for year, first in enumerate(range(0, bars, YEAR_BARS)):
        table, cents = year_of(rng, FIRST_US + MINUTE_US * first, min(YEAR_BARS, bars - first), cents)
        place = Path(folder, f"symbol={name_of(number)}", f"year={FIRST_YEAR + year}")
        place.mkdir(parents=True)
        pyarrow.parquet.write_table(table, place / "0.parquet", compression="zstd", row_group_size=1 << 17)
        size += (place / "0.parquet").stat().st_size
    return size


def lake(folder, symbols, bars):
    """Files of so many symbols, each of so many bars; their bytes."""
    return sum(make(folder, number, bars) for number in range(symbols))
