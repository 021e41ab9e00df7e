"""`papertape indicators FILE X@T` has the values that a strategy has, and that pandas' resampling has: weeks from Monday, and
with a calendar hours from the opening of the session. frames_oracle.py PROGRAM SOURCE

Wants pandas from the venv in $PAPERTAPE_VENV; exits 77 without it.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("pandas"):
    import pandas as pd

PROGRAM, SOURCE = sys.argv[1:]
SPECS = ("sma:1", "avgprice", "ema:3", "atr:2", "obv")
ZONE = "America/New_York"
STRATEGY = """
import json, sys
from papertape.strategy import Strategy, run

class Watcher(Strategy):
    name, summary = "watcher", "writes what it reads"

    def indicators(self):
        return {specs!r}

    def on_bar(self, bar):
        with open({seen!r}, "a") as file:
            file.write(json.dumps([bar.time, *bar.indicators]) + "\\n")

run(Watcher)
"""


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "trainer/python")})
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def computed(path, specs, *options):
    """Bar by bar: the time of its opening and its values, None before the first."""
    lines = run("indicators", *options, path, *specs).splitlines()
    return [[int(time), *(float(cell) if cell else None for cell in cells)] for time, *cells in (line.split(",") for line in lines[1:])]


def seen_by_strategy(folder, path, specs, *options):
    program, seen = os.path.join(folder, "watcher.py"), os.path.join(folder, "seen")
    with open(program, "w") as file:
        file.write(STRATEGY.format(specs=list(specs), seen=seen))
    run("backtest", "--strategy", f"exec:{sys.executable} {program}", "--bars", path, "--state", folder, *options)
    with open(seen) as file:
        rows = [json.loads(line) for line in file]
    os.remove(seen)
    return [[time, *(None if value is None or value != value else value for value in values)] for time, *values in rows]


def write(folder, name, rows):
    """Bars at these times, in seconds: a random walk, from a fixed seed."""
    draw, price, path = random.Random(34), 100.0, os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("time,open,high,low,close,volume\n")
        for time in rows:
            close = round(price * (1 + draw.gauss(0, 0.01)), 2)
            high, low = round(max(price, close) + draw.random(), 2), round(min(price, close) - draw.random(), 2)
            file.write(f"{time},{price},{high},{low},{close},{draw.randrange(1, 90)}\n")
            price = close
    frame = pd.read_csv(path)
    frame.index = pd.to_datetime(frame.pop("time"), unit="s", utc=True)
    return path, frame


HOW = {"open": "first", "high": "max", "low": "min", "close": "last"}


def length(rule):
    """Of hours also where it is of days, which pandas takes for a calendar's."""
    hours = {"m": 1 / 60, "h": 1, "d": 24, "w": 168}
    return pd.Timedelta(hours=int(rule[:-1]) * hours[rule[-1]])


def by_clock(bars, rule):
    """Higher bars and when each closes."""
    cut = {"rule": "W-MON"} if rule == "1w" else {"rule": length(rule), "origin": "epoch"}
    frames = bars.resample(**cut, label="left", closed="left").agg(HOW).dropna()
    return frames.assign(ends=frames.index + length(rule))


def by_session(bars, rule):
    """The same, a day at a time from its first bar's opening to its last bar's end."""
    days = []
    for _, day in bars.groupby(bars.index.tz_convert(ZONE).date):
        opening = day.index[0]
        close = opening.normalize() + pd.Timedelta(hours=18 if opening.date().isoformat() == "2025-11-28" else 21)
        frames = day.resample(length(rule), origin=opening, label="left", closed="left").agg(HOW).dropna()
        ends = (frames.index + length(rule)).to_series(index=frames.index)
        days.append(frames.assign(ends=ends.where(ends < close, close)))
    return pd.concat(days)


def by_pandas(bars, frames, interval):
    """Close and mean price of the newest frame that is over when the bar is; one that the bars begin within has none."""
    if frames.index[0] != bars.index[0]:
        frames = frames.iloc[1:]
    values = frames.assign(mean=(frames.open + frames.high + frames.low + frames.close) / 4)[["ends", "close", "mean"]]
    ends = pd.DataFrame({"ends": bars.index + length(interval)})
    return pd.merge_asof(ends, values, on="ends")[["close", "mean"]].to_numpy().tolist()


def compare(folder, path, bars, interval, rule, higher, *options):
    specs = [f"{spec}@{rule}" for spec in SPECS]
    found = computed(path, specs, *options)
    wanted = seen_by_strategy(folder, path, specs, *options)
    differ = [pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]]
    assert not differ, (rule, options, len(differ), differ[:1])
    count = 0
    for row, oracle in zip(found, by_pandas(bars, higher(bars, rule), interval), strict=True):
        for value, other in zip(row[1:3], oracle):
            assert (value is None and other != other) or abs(value - other) <= 1e-9, (rule, row, oracle)
            count += value is not None
    assert count > len(found), (rule, count)
    print(f"{rule} of {interval}{' by the calendar' if options else ''}: {len(found)} bars, those of a strategy and of pandas")


def main():
    with tempfile.TemporaryDirectory() as folder:
        hours = [1744372800 + 3600 * i for i in range(1000) if i % 97 not in (3, 4) and i not in range(240, 290)]  # from a Friday, 12:00
        path, bars = write(folder, "CLOCK_1h.csv", hours)
        for rule in ("1h", "4h", "1d", "3d", "1w"):
            compare(folder, path, bars, "1h", rule, by_clock)
        days = [(pd.Timestamp(f"2025-11-{day} 14:30Z"), 14 if day == 28 else 26) for day in (25, 26, 28)]  # Thanksgiving, a half day
        quarters = [int(opening.timestamp()) + 900 * i for opening, n in days for i in range(n) if i != 7]
        path, bars = write(folder, "SESSION_15m.csv", quarters)
        for rule in ("15m", "30m", "1h", "2h", "4h"):
            compare(folder, path, bars, "15m", rule, by_session, "--calendar", "nyse")
        compare(folder, path, bars, "15m", "1h", by_clock)


if __name__ == "__main__":
    main()
