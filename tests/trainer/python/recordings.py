"""The recorded trajectories of $PAPERTAPE_SHARED/data/env, with the bars that they were made on."""

import csv
import gzip
import json
import os
from datetime import datetime
from pathlib import Path

import numpy as np

SHARED = Path(os.environ.get("PAPERTAPE_SHARED", "../shared"))


def names():
    """Of the recordings at hand; none without the sample data."""
    return sorted(path.stem for path in (SHARED / "data/env").glob("*.json"))


def _bars(symbol):
    """{time: (close, volume)} of SYMBOLUSDT_5m.csv.gz."""
    with gzip.open(SHARED / f"data/bars/{symbol}USDT_5m.csv.gz", "rt", newline="") as file:
        rows = csv.reader(file)
        header = [name.strip().lower() for name in next(rows)]
        at = [header.index(name) for name in ("timestamp", "close", "volume")]
        return {datetime.fromisoformat(row[at[0]]): (float(row[at[1]]), float(row[at[2]])) for row in rows}


class Recording:
    """setup: the JSON; columns: the CSV's, [steps] each; close, volume: [bars, assets]; actions: [steps, assets]."""

    def __init__(self, name):
        self.setup = json.loads((SHARED / f"data/env/{name}.json").read_text())
        self.symbols, self.params = self.setup["symbols"], self.setup["params"]
        with open(SHARED / f"data/env/{name}.csv", newline="") as file:
            rows = csv.reader(file)
            header = next(rows)
            table = np.array([[float(cell) for cell in row] for row in rows])
        self.columns = dict(zip(header, table.T, strict=True))
        self.actions = np.stack([self.columns[f"action_{symbol}"] for symbol in self.symbols], axis=1)
        files = [_bars(symbol) for symbol in self.symbols]
        times = sorted(set.intersection(*map(set, files)))
        first = times.index(datetime.fromisoformat(self.setup["first_bar"]))
        times = times[first : first + self.setup["bars"]]
        self.close, self.volume = np.array([[file[time] for file in files] for time in times]).transpose(2, 0, 1)


def outside(got, expected):
    """By how many tolerances of docs/environment.md a column is off; NaN where anything is."""
    expected = np.asarray(expected, np.float64)
    tolerance = 1e-4 * np.abs(expected) + 2e-5 * np.abs(expected).max(initial=0)
    off = np.abs(np.asarray(got, np.float64) - expected)
    return np.max(np.where(off == 0, 0, off / np.maximum(tolerance, 1e-300)), initial=0)
