#!/usr/bin/python3
"""The synthetic stock bars (fixtures/stock_bars.py): stock_bars.py. Their days, sessions and half days in UTC, both changes of
clocks, bars that hold together, and that a seed always gives the same."""

import datetime
import hashlib
import os
import sys
import tempfile

SOURCE = os.environ.get("PAPERTAPE_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(SOURCE, "fixtures"))
import stock_bars  # noqa: E402

WEEK = datetime.date(2025, 11, 24), datetime.date(2025, 11, 29)
WEEK_SHA256 = "dafdc272ea23cd4903691cd0190278e57601d4a8e5972263da1530bb0781251a"


def utc(second):
    return datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime("%m-%d %H:%M")


def check_days():
    days = {str(day.date): [utc(second)[6:] for second in day[1:]] for day in stock_bars.trading_days()}
    assert len(days) == 23 + 19 + 22 + 20 + 19 + 22 + 21, len(days)
    assert days["2025-10-31"] == ["08:00", "13:30", "20:00", "00:00"]  # summer
    assert days["2025-11-03"] == ["09:00", "14:30", "21:00", "01:00"]  # winter
    assert days["2026-03-06"] == days["2025-11-03"] and days["2026-03-09"] == days["2025-10-31"]
    assert days["2025-11-28"] == days["2025-12-24"] == ["09:00", "14:30", "18:00", "22:00"]
    for closed in ("2025-11-27", "2025-12-25", "2026-01-01", "2026-01-19", "2026-02-16", "2026-04-03", "2025-11-01"):
        assert closed not in days, closed


def check_bars(bars, days, length):
    at = iter(days)
    day, before = next(at), 0
    for bar in bars:
        while bar.second >= day.late:
            day = next(at)
        start = {"pre": day.early, "regular": day.open, "post": day.close}[day.session(bar.second)]
        assert bar.second > before and (bar.second - start) % length == 0
        assert 0 < bar.low <= min(bar.open, bar.close) and max(bar.open, bar.close) <= bar.high and bar.volume > 0
        before = bar.second


def check_week():
    days = list(stock_bars.trading_days(*WEEK))
    assert [day.date.day for day in days] == [24, 25, 26, 28]
    bars = stock_bars.bars_of("AAPL", *WEEK)
    regular = stock_bars.bars_of("AAPL", *WEEK, regular=True)
    sessions = {bar.second: day.session(bar.second) for day in days for bar in bars if day.early <= bar.second < day.late}
    assert len(sessions) == len(bars) and set(sessions.values()) == set(stock_bars.SESSIONS)
    assert regular == [bar for bar in bars if sessions[bar.second] == "regular"]
    minutes = 3 * 390 + 210
    assert 0.97 * minutes < len(regular) < minutes
    assert len(stock_bars.bars_of("AAPL", *WEEK, regular=True, complete=True)) == minutes
    for interval, length in stock_bars.INTERVALS.items():
        check_bars(stock_bars.bars_of("AAPL", *WEEK, interval), days, length)
    hours = stock_bars.bars_of("AAPL", *WEEK, "1h", regular=True)
    assert [utc(bar.second) for bar in hours if utc(bar.second)[:5] == "11-28"] == [
        "11-28 14:30", "11-28 15:30", "11-28 16:30", "11-28 17:30"]
    assert sum(bar.volume for bar in hours) == sum(bar.volume for bar in regular)
    assert max(bar.high for bar in hours) == max(bar.high for bar in regular)
    first, middle, last = (sum(bar.volume for bar in regular if from_ <= bar.second - days[0].open < to)
                           for from_, to in ((0, 1200), (10800, 12000), (22200, 23400)))
    assert first > 3 * middle and last > 3 * middle, (first, middle, last)


def check_files(folder):
    paths = stock_bars.write_all(folder, ["AAPL", "BRK.B"], *WEEK, intervals=("1m", "1h"))
    assert [os.path.basename(path) for path in paths] == ["AAPL_1m.csv", "AAPL_1h.csv", "BRK.B_1m.csv", "BRK.B_1h.csv"]
    sums = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            sums.update(file.read())
    assert sums.hexdigest() == WEEK_SHA256, sums.hexdigest()
    text = {}
    for local in (False, True):
        stock_bars.write(paths[0], stock_bars.bars_of("AAPL", *WEEK, "1h", regular=True), local)
        with open(paths[0], encoding="ascii") as file:
            text[local] = file.read().splitlines()[1]
    assert text[False].startswith("2025-11-24 14:30:00+00:00,") and text[True].startswith("2025-11-24 09:30:00,")


def main():
    check_days()
    check_week()
    with tempfile.TemporaryDirectory(prefix="papertape-") as folder:
        check_files(folder)
    other = stock_bars.bars_of("AAPL", *WEEK, seed=2)
    assert other != stock_bars.bars_of("AAPL", *WEEK)
    print("stock bars: 146 days, 4 in the week, all of a seed")


if __name__ == "__main__":
    main()
