#!/usr/bin/env python3
"""session_rows.py PROGRAM: the rows and the features of a session's bars, against NumPy.

Rows are the bars of the session, one after the other, over both changes of clocks, half days and holidays, by the generator's own
calendar (fixtures/stock_bars.py); a minute that has no bar is a row. Closes are the true ones. Features skip the night: what is
computed here never chains a price. A return of a day's first bar is from its own open, returns over more bars are their sums,
an average of prices is scaled to the day's prices at each open, and so is a true range's, whose first one of a day is high - low."""

import csv
import datetime
import io
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../oracle"), os.path.join(HERE, "../../fixtures")]
import oracle_venv  # noqa: E402
import stock_bars  # noqa: E402

with oracle_venv.imports("numpy"):
    import numpy as np

SET = "set gaps\nlog_return:1\nlog_return:12\nema:20 /close-1\nnatr:14\nrealvol:48\nrsi:14 /100\nvolume log1p\n"
AUTUMN = datetime.date(2025, 10, 27), datetime.date(2025, 12, 3)  # summer time ends; a holiday, a half day
SPRING = datetime.date(2026, 2, 23), datetime.date(2026, 3, 14)  # it begins


def grid(session, seconds, days):
    """When its rows open, and their bits: the last of a day, and the one before."""
    opens, bits = [], []
    for day in stock_bars.trading_days(*days):
        spans = [(day.open, day.close)] if session == "regular" else [(day.early, day.open), (day.open, day.close), (day.close, day.late)]
        rows = [second for start, end in spans for second in range(start, end, seconds)]
        opens += rows
        bits += [0] * (len(rows) - 2) + [2, 1]
    return np.array(opens), np.array(bits)


def features(bars, days):
    """Of the bars that there are: [n, 7]; NaN before there are enough. `days`: each one's day."""
    o, h, l, c, v = (np.array([bar[k] for bar in bars], float) for k in range(1, 6))
    first = np.concatenate([[False], days[1:] != days[:-1]])
    before = np.where(first, o, np.concatenate([[np.nan], c[:-1]]))
    before[0] = np.nan
    r = np.log(c / before)
    r12 = np.array([np.nan if i < 12 else math.fsum(r[i - 11:i + 1]) for i in range(len(c))])
    vol = np.array([np.nan if i < 48 else np.std(r[i - 47:i + 1], ddof=1) for i in range(len(c))])
    scale = np.where(first, o / np.concatenate([[np.nan], c[:-1]]), 1.0)  # of what is remembered, at a day's first bar
    tr = np.maximum(h - l, np.maximum(abs(h - before), abs(l - before)))
    moved = c - before
    out = np.full((len(c), 7), np.nan)
    out[:, 0], out[:, 1], out[:, 4], out[:, 6] = r, r12, vol, np.log1p(v)
    ema = atr = up = down = math.nan
    for i in range(len(c)):
        if i > 0:
            ema, atr, up, down = (x * scale[i] for x in (ema, atr, up, down))
        # of its first values, which are in their own days' prices, each scaled to this one's
        factor = np.cumprod(np.concatenate([scale[1:i + 1], [1.0]])[::-1])[::-1] if i in (14, 19) else None
        if i == 19:
            ema = np.mean(c[:20] * factor)
        elif i > 19:
            ema += 2 / 21 * (c[i] - ema)
        if i == 14:
            atr = np.mean(tr[1:15] * factor[1:])
            up, down = (np.mean(np.maximum(sign * moved[1:15], 0) * factor[1:]) for sign in (1, -1))
        elif i > 14:
            atr = (atr * 13 + tr[i]) / 14
            up, down = (up * 13 + max(moved[i], 0)) / 14, (down * 13 + max(-moved[i], 0)) / 14
        out[i, 2], out[i, 3], out[i, 5] = ema / c[i] - 1, 100 * atr / c[i], up / (up + down)
    return out


def check(program, folder, session, interval, when):
    seconds = stock_bars.INTERVALS[interval]
    path, text = os.path.join(folder, f"ABC_{interval}.csv"), os.path.join(folder, "gaps.set")
    bars = stock_bars.bars_of("ABC", *when, interval, seed=3)
    bars = [bar for i, bar in enumerate(bars) if i == 0 or i % 13]  # days' first ones among those that are missing
    stock_bars.write(path, bars)
    with open(text, "w", encoding="ascii") as file:
        file.write(SET)
    done = subprocess.run([program, path, session, text], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = np.array([[float(cell) for cell in row] for row in csv.reader(io.StringIO(done.stdout))])
    opens, bits = grid(session, seconds, when)
    kept = [bar for bar in bars if bar.second in set(opens)]
    begins, ends = np.searchsorted(opens, kept[0].second), np.searchsorted(opens, kept[-1].second) + 1
    opens, bits = opens[begins:ends], bits[begins:ends]
    assert np.array_equal(rows[:, 0], opens), (session, interval, len(rows), len(opens))
    assert np.array_equal(rows[:, 1], bits), (session, interval)
    there = np.isin(opens, [bar.second for bar in kept])
    assert np.array_equal(rows[:, 2], there) and not there.all(), (session, interval)
    closes = np.array([bar.close / 100 for bar in kept])
    assert np.array_equal(rows[there, 3], closes)
    edges = [(day.early, day.late) for day in stock_bars.trading_days(*when)]
    days = np.searchsorted([late for _, late in edges], [bar.second for bar in kept], side="right")
    right, ours = features([(0, bar.open / 100, bar.high / 100, bar.low / 100, bar.close / 100, bar.volume) for bar in kept], days), rows[there, 4:11]
    since = int(rows[0, 11]) - (len(opens[:int(rows[0, 11])]) - there[:int(rows[0, 11])].sum())
    assert since == 48, since  # realvol is the last that has a value
    off = np.abs(ours[since:] - right[since:]) / np.maximum(np.abs(right[since:]), 1e-3)
    nights = np.flatnonzero(days[1:] != days[:-1]) + 1
    assert off.max() < 2e-6, (session, interval, off.max(axis=0))
    gaps = np.abs(np.log(closes[nights] / closes[nights - 1]) - ours[nights, 0])[nights > since]
    assert gaps.max() > 0.005  # there were gaps to be skipped
    print(f"{session} {interval}: {len(opens)} rows of {days[-1] + 1} days, {len(kept)} bars; seven features within {off.max():.2g}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check(sys.argv[1], folder, "regular", "5m", AUTUMN)
        check(sys.argv[1], folder, "regular", "1h", AUTUMN)
        check(sys.argv[1], folder, "extended", "30m", SPRING)


if __name__ == "__main__":
    main()
