#!/usr/bin/env python3
"""300 minutes with 101 missing, as the program draws them: a saved backtest's market at three sizes, compared with golden screens
and with the bars: where each column, the gap and the labels must be. gap_bars.py PAPERTAPE FOLDER; PAPERTAPE_GOLDEN=write writes them."""

import datetime
import os
import random
import re
import subprocess
import sys
import tempfile

BARS, FIRST_MISSING, LAST_MISSING = 300, 140, 240
START_S, MINUTE_S = 1700000040, 60
AXIS = 15  # columns of prices, with the word of the position's line
SHARED = os.environ.get("PAPERTAPE_SHARED", "../shared")


def make_bars():
    """The lines of GAPUSDT_1m.csv."""
    rng, price = random.Random(3), 100.0
    rows = ["open_time,open,high,low,close,volume"]
    for i in range(BARS):
        close = round(price * (1 + rng.gauss(0, 0.001)), 2)
        if not FIRST_MISSING <= i <= LAST_MISSING:
            high, low = max(price, close) + 0.02, min(price, close) - 0.02
            rows.append(f"{(START_S + MINUTE_S * i) * 1000},{price:.2f},{high:.2f},{low:.2f},{close:.2f},10.5")
        price = close
    return rows


def compare_shared(folder, rows):
    """The sample data's own generator makes the same file, where it is there."""
    script = os.path.join(SHARED, "repro/gap_bars.py")
    if not os.path.exists(script):
        return "not compared with the sample data's"
    subprocess.run([sys.executable, os.path.abspath(script)], cwd=folder, check=True)
    with open(os.path.join(folder, "GAPUSDT_1m.csv")) as file:
        assert file.read().splitlines() == rows, script
    return "the sample data's file"


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout


def check_drawn(screen, columns, opens):
    """The row of volume, which is the same in every bar, has a mark where a bar is; labels stand at the columns of their times."""
    shown = opens[-columns:]  # one bar a column, as many as there are columns
    start, end = shown[0], shown[-1] + MINUTE_S

    def column(second):
        return (second - start) / (end - start) * columns

    lines = screen.splitlines()
    at = max(i for i, line in enumerate(lines) if line.startswith(" ") and re.search(r"└\d\d", line))
    marks = lines[at - 1].ljust(columns + 1)[1:columns + 1]
    for second in shown:
        x = int(column(second + MINUTE_S / 2))
        assert marks[x] != " ", (x, second, screen)
    empty = max(re.findall(" +", marks), key=len)
    assert shown[0] < opens[FIRST_MISSING - 1], "the gap is not in view"
    missing = column(opens[FIRST_MISSING]) - column(opens[FIRST_MISSING - 1] + MINUTE_S)
    assert abs(len(empty) - missing) <= 1, (len(empty), missing, screen)
    labels = [(match.start() - 1, match[1]) for match in re.finditer(r"└((?:\d\d-\d\d )?\d\d:\d\d)", lines[at])]
    assert len(labels) >= 4, labels
    for x, text in labels:
        clock = datetime.datetime.strptime(text[-5:], "%H:%M")
        seconds = [s for s in range(start // MINUTE_S * MINUTE_S, end, MINUTE_S)
                   if s // 60 % 1440 == clock.hour * 60 + clock.minute]
        assert len(seconds) == 1 and abs(x + 0.5 - column(seconds[0] + MINUTE_S / 2)) <= 1.5, (text, x, column(seconds[0]), screen)


def main():
    papertape, golden = sys.argv[1:]
    rows = make_bars()
    opens = [int(row.split(",")[0]) // 1000 for row in rows[1:]]
    with tempfile.TemporaryDirectory() as folder:
        what, state = compare_shared(folder, rows), os.path.join(folder, "gap")
        path = os.path.join(folder, "GAPUSDT_1m.csv")
        with open(path, "w") as file:
            file.write("\n".join(rows) + "\n")
        run(papertape, "backtest", "--strategy", "sma-cross", "--set", "fast=5", "--set", "slow=15", "--bars", path, "--save", state)
        ended = datetime.datetime.fromtimestamp(opens[-1] + MINUTE_S, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
        wrong = []
        for width, height in ((80, 24), (120, 40), (200, 60)):
            screen = run(papertape, "--state", state, "--at", ended, "--tab", "4", "--glyphs", "braille", "--dump-screen", f"{width}x{height}")
            check_drawn(screen, width - 2 - AXIS, opens)
            name = os.path.join(golden, f"gap-bars-{width}x{height}.txt")
            if os.environ.get("PAPERTAPE_GOLDEN") == "write":
                with open(name, "w", encoding="utf-8") as file:
                    file.write(screen)
            with open(name, encoding="utf-8") as file:
                wrong += [name] if file.read() != screen else []
        assert not wrong, f"{wrong} differ: PAPERTAPE_GOLDEN=write {sys.argv[0]} {papertape} {golden}"
    print(f"3 screens, {what}")


main()
