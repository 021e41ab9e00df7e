"""Columns that strategies read, from NumPy and TA-Lib; longer bars as docs/strategies.md forms them."""

import numpy as np
import talib

MINUTE_NS = 60 * 10**9
HOUR_NS = 60 * MINUTE_NS


def sma(values, period):
    """Every window summed again, the oldest value first: equal averages are then equal to the bit."""
    out = np.full(len(values), np.nan)
    if len(values) >= period:
        total = np.zeros(len(values) - period + 1)
        for k in range(period):
            total += values[k : len(values) - period + 1 + k]
        out[period - 1 :] = total / period
    return out


def ema(values, period):
    return values.copy() if period == 1 else talib.EMA(values, period)




class Frame:
    """Bars of a longer interval: those that are closed at each bar of the run."""

    def __init__(self, bars, interval_ns, frame_ns):
        opens = bars["open_ns"]
        group = opens // frame_ns
        firsts = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
        lasts = np.append(firsts[1:], len(opens)) - 1
        rows, closed_at = [], []
        for first, last in zip(firsts, lasts):
            begin = group[first] * frame_ns
            if first == 0 and opens[0] != begin:
                continue  # the history begins in the midst of it
            ends = opens[last] + interval_ns >= begin + frame_ns
            at = last if ends else last + 1
            if at >= len(opens):
                continue
            part = slice(first, last + 1)
            rows.append((bars["high"][part].max(), bars["low"][part].min(), bars["close"][last]))
            closed_at.append(at)
        table = np.array(rows, dtype=float).reshape(-1, 3)
        self.high, self.low, self.close = (np.ascontiguousarray(table[:, k]) for k in range(3))
        self.last = np.searchsorted(np.array(closed_at, dtype=int), np.arange(len(opens)), side="right") - 1

    def at_base(self, column):
        out = np.full(len(self.last), np.nan)
        known = self.last >= 0
        out[known] = column[self.last[known]]
        return out
