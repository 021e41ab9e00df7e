"""What is computed: plain values, which travel to the executors with the task, and open a run of the library there."""

import ctypes
import re
from dataclasses import dataclass, field

from .library import BadBars, Run


def split(specs):
    """["sma:20", "macd:12,26,9"] of a list, or of a text with commas, semicolons or blanks between."""
    if isinstance(specs, str):
        specs = re.split(r"[;\s]+|,\s*(?=[A-Za-z])", specs.strip())
    return [spec.strip() for spec in specs if spec.strip()]


def check_errors(errors):
    if errors not in ("raise", "rows"):
        raise BadBars(f"errors={errors!r} is unknown: 'raise' or 'rows' is needed")


@dataclass(frozen=True)
class Indicators:
    specs: tuple
    gaps: str = ""  # an interval: a bar that is missing is refused

    def open(self):
        return _strict(Run("indicators", "\n".join(self.specs).encode()), self.gaps)

    def of(self, _symbol):
        return self


@dataclass(frozen=True)
class Features:
    """`sets` is one set for all symbols, or one for each."""

    sets: object
    interval_s: int = 0
    gaps: str = ""
    symbol: str = field(default=None)
    vector: str = ""  # the name of one column of lists
    rows: bool = False  # a symbol without a set has nulls, and the reason in a column `error`

    def missing(self, symbol):
        """Why a symbol has no set; None: it has one."""
        if isinstance(self.sets, str) or symbol in self.sets:
            return None
        why = getattr(self.sets, "errors", {}).get(symbol)
        return why or f"{symbol} has no fitted set: fit() its bars too, or give one set for all symbols"

    def text(self):
        if isinstance(self.sets, str):
            return self.sets
        if not self.sets:
            raise BadBars("no symbol has a fitted set" + "".join(f": {why}" for why in [*getattr(self.sets, "errors", {}).values()][:1]))
        if self.symbol is None:
            return next(iter(self.sets.values()))
        if self.missing(self.symbol):
            raise BadBars(self.missing(self.symbol))
        return self.sets[self.symbol]

    def open(self):
        return _strict(Run("features", self.text().encode(), ctypes.c_int64(self.interval_s)), self.gaps, self.vector)

    def of(self, symbol):
        """The computation of one symbol."""
        return self if isinstance(self.sets, str) else Features(self.sets, self.interval_s, self.gaps, symbol, self.vector, self.rows)


def _strict(run, gaps, vector=""):
    try:
        if gaps:
            run.refuse_gaps(gaps)
        if vector:
            run.as_vector(vector)
    except BadBars:
        run.close()
        raise
    return run


class Series:
    """The run of each symbol after the other: one for all of them, or, where their sets differ, one each."""

    def __init__(self, asked):
        self.asked, self.run, self.symbol = asked, None, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.run:
            self.run.close()

    def at(self, symbol):
        """The run for bars of this symbol."""
        mine = self.asked.of(symbol)
        if self.run is None or (mine is not self.asked and symbol != self.symbol):
            if self.run:
                self.run.close()
                self.run = None
            self.run = mine.open()
        self.symbol = symbol
        return self.run

    @property
    def one(self):
        """Does one run serve all symbols?"""
        return self.asked.of(None) is self.asked
