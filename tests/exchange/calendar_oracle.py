"""The built-in calendar against exchange_calendars' XNYS: every day's opening and close from 2000 to 2027.

    calendar_oracle.py CALENDAR_LINES
"""
import datetime
import os
import subprocess
import sys
import zoneinfo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("exchange_calendars"):
    import exchange_calendars

START, END = "2000-01-01", "2027-12-31"
SESSIONS, HALF_DAYS = 7041, 61
ZONE = zoneinfo.ZoneInfo("America/New_York")


def local(date, hour, minute=0):
    return int(datetime.datetime.combine(date, datetime.time(hour, minute), ZONE).timestamp())


def expected():
    """Rows as calendar-lines writes them; the extended hours are the venue's, which the package does not have."""
    schedule = exchange_calendars.get_calendar("XNYS", start=START, end=END).schedule
    for date, opening, close in zip(schedule.index, schedule["open"], schedule["close"]):
        half = close.tz_convert(ZONE).hour < 16
        yield (local(date.date(), 4), int(opening.timestamp()), int(close.timestamp()), local(date.date(), 17 if half else 20))


def main(lines):
    out = subprocess.run([lines, "nyse"], capture_output=True, text=True, check=True).stdout.splitlines()
    bounds = [local(datetime.date(2000, 1, 1), 0), local(datetime.date(2028, 1, 1), 0)]
    rows = [tuple(map(int, line.split())) for line in out[1:]]
    want = list(expected())
    halves = sum(late - close == 4 * 3600 and close - opening < 6 * 3600 for _, opening, close, late in rows)
    wrong = [(ours, theirs) for ours, theirs in zip(rows, want) if ours != theirs]
    for ours, theirs in wrong[:10]:
        print(f"{datetime.datetime.fromtimestamp(theirs[1], ZONE)}: {ours}, not {theirs}")
    good = (not wrong and len(rows) == len(want) == SESSIONS and halves == HALF_DAYS and
            out[0].split() == ["nyse", *map(str, bounds)])
    print(f"{len(rows)} sessions, {halves} half days, of {len(want)}; {len(wrong)} differ; {out[0]}")
    return 0 if good else 1


sys.exit(main(*sys.argv[1:]))
