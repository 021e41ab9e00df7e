#!/usr/bin/env python3
"""session_columns.py PROGRAM: the columns of a row's session, as the environment and a policy's runtime observe them (which PROGRAM
compares to the bit, with everything else of an observation), against the days of the generator, computed here: pre, regular, post, and
the part of the session that has passed at the bar's close, in NumPy's float32. Over both changes of clocks, holidays, half days, rows
without a bar, a day without any, and an hour's last bar, which is shorter than its interval."""

import csv
import datetime
import io
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

SET = "set gaps\nlog_return:3\nrsi:14 /100\nvolume log1p\n"
AUTUMN = datetime.date(2025, 10, 27), datetime.date(2025, 12, 3)
SPRING = datetime.date(2026, 2, 23), datetime.date(2026, 3, 14)
WITHOUT = datetime.date(2025, 11, 12)  # a day of which no symbol has a bar


def columns(second, day, seconds):
    session = day.session(second)
    start, end = {"pre": (day.early, day.open), "regular": (day.open, day.close), "post": (day.close, day.late)}[session]
    elapsed = np.float64(min(second + seconds, end) - start) / np.float64(end - start)
    return [float(session == name) for name in ("pre", "regular", "post")] + [float(np.float32(elapsed))]


def check(program, folder, session, interval, when, with_set, wanted):
    seconds, days = stock_bars.INTERVALS[interval], list(stock_bars.trading_days(*when))
    paths = []
    for k, symbol in enumerate(("ABC", "XYZ")):
        bars = stock_bars.bars_of(symbol, *when, interval, seed=5)
        # each lacks some, both lack some rows, and that day
        bars = [bar for i, bar in enumerate(bars) if i == 0 or ((i + 4 * k) % 9 and i % 31 != 5 and
                                                                not stock_bars.at(WITHOUT, 0) <= bar.second < stock_bars.at(WITHOUT, 23))]
        paths.append(os.path.join(folder, f"{symbol}_{interval}.csv"))
        stock_bars.write(paths[-1], bars)
    text = os.path.join(folder, "gaps.set")
    with open(text, "w", encoding="ascii") as file:
        file.write(SET)
    done = subprocess.run([program, "nyse", session, text if with_set else "-", *paths], capture_output=True, text=True, check=False,
                          timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [[float(cell) for cell in row] for row in csv.reader(io.StringIO(done.stdout))]
    seen, halves = set(), 0
    for second, bars, *values in rows:
        day = next(day for day in days if day.early <= second < day.late)
        right = columns(second, day, seconds)
        assert all(np.float32(a) == np.float32(b) for a, b in zip(values, right)), (session, interval, second, values, right)
        seen.add((day.session(second), bars > 0))
        halves += day.date in stock_bars.HALF_DAYS
    assert {name for name, _ in seen} == wanted and any(not there for _, there in seen), seen
    assert (halves > 0) == (when == AUTUMN)
    print(f"{session} {interval}{', with a set' if with_set else ''}: {len(rows)} rows in environment and runtime to the bit, their "
          f"sessions as computed; {halves} of half days")


def main():
    three, one = {"pre", "regular", "post"}, {"regular"}
    with tempfile.TemporaryDirectory() as folder:
        check(sys.argv[1], folder, "extended", "30m", AUTUMN, False, three)
        check(sys.argv[1], folder, "extended", "30m", SPRING, True, three)
        check(sys.argv[1], folder, "regular", "5m", AUTUMN, True, one)
        check(sys.argv[1], folder, "regular", "1h", AUTUMN, False, one)


if __name__ == "__main__":
    main()
