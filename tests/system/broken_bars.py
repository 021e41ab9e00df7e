#!/usr/bin/env python3
"""Both ways of `papertape backtest` over random bars files with broken rows of every kind, in every form that files have:
refused by both with the same words, which name the file and the row, or equal to the bit. 2,000 files with PAPERTAPE_LONG,
fewer without; the seed is printed, and PAPERTAPE_SEED sets it."""

import contextlib
import gzip
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import harness

SEED = int(os.environ.get("PAPERTAPE_SEED", "20261125"))
FILES = int(os.environ.get("PAPERTAPE_FILES") or (2000 if harness.LONG else 100))
START_MS = 1704067200000  # 2024-01-01, a Monday
STRATEGIES = ("buy-and-hold", "day-trade", "sma-cross:fast=3,slow=9", "sma-cross-rsi", "sma-cross-rsi-risk", "triple-confirmation")
TIME, OPEN, HIGH, LOW, CLOSE, VOLUME = range(6)


def iso(ms, zone):
    import datetime

    moment = datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%d %H:%M:%S") + zone


# ---- Faults: each changes a row and says what the refusal must name; None: the file is still good. ----


def outside(rng, row, column, times):
    high, low = float(row[HIGH]), float(row[LOW])
    value = high * times if rng.random() < 0.5 else low / times
    row[column] = f"{value:.2f}"
    return not low <= float(row[column]) <= high


def fault_open(rng, rows, i, _):
    return "open is outside low to high" if outside(rng, rows[i], OPEN, 1.01) else None


def fault_close(rng, rows, i, _):
    return "close is outside low to high" if outside(rng, rows[i], CLOSE, 1.02) else None


def fault_high(rng, rows, i, _):
    rows[i][HIGH] = f"{float(rows[i][LOW]) * 0.99:.2f}"
    return "high is below low"


def fault_number(rng, rows, i, _):
    rows[i][rng.choice((OPEN, HIGH, LOW, CLOSE, VOLUME))] = rng.choice(("nan", "NaN", "inf", "-inf", "1e400", "", "null", "0x1p3", "1.2.3", "abc"))
    return "bad number"


def fault_volume(rng, rows, i, _):
    rows[i][VOLUME] = "-0.5"
    return "negative volume"


def fault_huge_volume(rng, rows, i, _):
    rows[i][VOLUME] = rng.choice(("1e19", "1e300"))
    return "volume is no volume"


def fault_zero(rng, rows, i, _):
    """No price can be 0: in all columns, so that the bar is otherwise consistent."""
    for column in (OPEN, HIGH, LOW, CLOSE):
        rows[i][column] = rng.choice(("0", "0.00", "1e-400"))
    return "price is not above 0"


def fault_negative(rng, rows, i, _):
    for column in (OPEN, HIGH, LOW, CLOSE):
        rows[i][column] = "-3.25"
    return "price is not above 0"


def fault_large(rng, rows, i, _):
    for column in (OPEN, HIGH, LOW, CLOSE):
        rows[i][column] = "1e300"
    return "more digits than a double holds"


def fault_same_time(rng, rows, i, _):
    if i == 0:
        return None
    rows[i][TIME] = rows[i - 1][TIME]
    return "time does not rise"


def fault_back(rng, rows, i, _):
    if i < 2:
        return None
    rows[i][TIME] = rows[i - 2][TIME] - 60000
    return "time does not rise"


def fault_twice(rng, rows, i, _):
    rows.insert(i, list(rows[i]))
    return "time does not rise"  # at the row after


def fault_off_grid(rng, rows, i, _):
    rows[i][TIME] += 7000
    return "bar is off the grid"


def fault_short(rng, rows, i, form):
    if form != "csv":
        return None
    del rows[i][rng.randrange(2, 5) :]
    return "bad row"


def fault_time(rng, rows, i, form):
    rows[i][TIME] = "yesterday"
    return "bad time"


def good_large_volume(rng, rows, i, _):
    rows[i][VOLUME] = "98765432109876.5"  # more than 9.2e18 units of 1e-8: a coin of tiny price
    return None


def good_flat(rng, rows, i, _):
    for column in (HIGH, LOW, CLOSE):
        rows[i][column] = rows[i][OPEN]
    return None


def good_gap(rng, rows, i, _):
    del rows[i : i + rng.randrange(1, 9)]
    return None


FAULTS = [value for name, value in sorted(globals().items()) if name.startswith(("fault_", "good_"))]
REPAIRED = ("open is outside low to high", "close is outside low to high")


def fault_row(fault, i):
    return i + 1 if fault is fault_twice else i


# ---- Files. ----


def made_rows(rng, n, digits):
    price, rows = rng.choice((0.0123, 1.5, 97.0, 42000.0)), []
    unit = max(digits, 2 if price > 1 else 6)

    def text(value):
        return f"{value:.{unit}f}"

    for i in range(n):
        close = float(text(price * math.exp(rng.gauss(0, 0.004))))
        high = max(price, close) * (1 + rng.random() * 0.002)
        low = min(price, close) * (1 - rng.random() * 0.002)
        # rounded outwards, so that the bar is good
        high, low = math.ceil(high * 10**unit) / 10**unit, math.floor(low * 10**unit) / 10**unit
        high, low = text(max(high, float(text(price)), close)), text(min(low, float(text(price)), close))
        rows.append([START_MS + i * 60000, text(price), high, low, text(close), str(round(rng.random() * 90, rng.randrange(0, 6)))])
        price = close
    return rows


# name: the header's line, the order of columns, and how a time is written
HEADERS = {
    "none": (None, range(6), str),
    "open_time": ("open_time,open,high,low,close,volume", range(6), str),
    "yfinance": ("Datetime,Open,High,Low,Close,Volume", range(6), lambda ms: iso(ms, "+00:00")),
    "pandas": (",open,high,low,close,volume", range(6), lambda ms: iso(ms, "")),
    "pandas_numbered": (",date,open,high,low,close,volume", ["n", *range(6)], lambda ms: iso(ms, "+00:00")),
    "unnamed": ("Unnamed: 0,Open,High,Low,Close,Adj Close,Volume", [0, 1, 2, 3, 4, 4, 5], lambda ms: iso(ms, "")),
    "feather": ("date,open,high,low,close,volume", range(6), lambda ms: iso(ms, "+00:00")),
    "shuffled": ("volume,Close,LOW,High,oPen,Timestamp", [5, 4, 3, 2, 1, 0], lambda ms: str(ms * 1000)),
    "yfinance_new": ("Price,Close,High,Low,Open,Volume", [0, 4, 2, 3, 1, 5], lambda ms: iso(ms, "+00:00")),
}


def write_csv(rng, rows, at):
    """The text and the number of the line of row `at`."""
    name = rng.choice(sorted(HEADERS))
    header, order, time_text = HEADERS[name]
    end, between = rng.choice(("\n", "\n", "\r\n")), rng.choice((",", ",", ",", ";", "\t"))
    lines, line_of = [], None
    if header:
        lines.append(("\ufeff" if rng.random() < 0.2 else "") + header.replace(",", between))
    if name == "yfinance_new":
        lines += [line.replace(",", between) for line in ("Ticker,BTC-USD,BTC-USD,BTC-USD,BTC-USD,BTC-USD", "Datetime,,,,,")]
    for n, row in enumerate(rows):
        if rng.random() < 0.02:
            lines.append(rng.choice(("", "   ")))
        time = row[TIME] if isinstance(row[TIME], str) else time_text(row[TIME])
        fields = [str(n) if c == "n" else time if c == TIME else row[c] if c < len(row) else None for c in order]
        while fields and fields[-1] is None:
            fields.pop()
        if None in fields:  # a missing field in the middle cannot be left out: empty
            fields = ["" if field is None else field for field in fields]
        lines.append(between.join(fields))
        if n == at:
            line_of = len(lines)
    return name, end.join(lines) + (end if rng.random() < 0.8 else ""), line_of


def write_json(rng, rows):
    text = rng.random() < 0.3  # as Binance's REST has them: prices are strings

    def value(word):
        return f'"{word}"' if text or word == "" or word == "abc" else word

    arrays = [f"[{row[TIME]},{','.join(value(word) for word in row[1:])}]" for row in rows]
    return rng.choice(("[", "[ ", "\n[\n")) + rng.choice((",", ", ", ",\n")).join(arrays) + rng.choice(("]", "]\n", " ] "))


def made_file(rng, folder, number):
    """A path, options, and what must be refused: words and row, or None."""
    digits = rng.choice((2, 2, 2, 5, 8, 9, 10, 12, 15))
    rows = made_rows(rng, rng.randrange(60, 260), digits)
    form = "json" if rng.random() < 0.2 else "csv"
    fault = rng.choice(FAULTS) if rng.random() < 0.8 else None
    at, says = None, None
    if fault:
        at = rng.randrange(2, len(rows) - 12)
        says = fault(rng, rows, at, form)
        at = fault_row(fault, at)
    if form == "json":
        name, text, line = "json", write_json(rng, rows), None if at is None else at + 1
    else:
        name, text, line = write_csv(rng, rows, at)
        if fault is fault_short and name in ("shuffled", "yfinance_new"):
            says = "bad"  # what is missing is in the middle: an empty field, whichever
    symbol = rng.choice(("GAPUSDT", "FOOXYZ", "ETHBTC"))
    path = os.path.join(folder, f"{symbol}_{number}.{'json' if form == 'json' else 'csv'}")
    opener = gzip.open if rng.random() < 0.2 else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        file.write(text)
    options = ["--cash", rng.choice(("1000", "10000", "99999.5"))]
    repair = rng.random() < 0.4
    if repair:
        options.append("--repair")
    if symbol == "FOOXYZ" and rng.random() < 0.5:
        options += ["--quote", "XYZ"]
    if rng.random() < 0.3:
        options += ["--lot", rng.choice(("0.001", "1"))]
    if rng.random() < 0.2:
        options += ["--slippage", "0.001"]
    if says in REPAIRED and repair:
        says = None
    return path, options, says, line, f"{name}: {fault.__name__ if fault else 'good'}"


# ---- Runs. ----


def run(path, options, strategy, way, folder):
    equity = os.path.join(folder, f"{way}.csv")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(equity)
    words = [harness.PAPERTAPE, "backtest", "--strategy", strategy, "--bars", path, "--no-cache", "--way", way, "--json", "--equity", equity]
    done = subprocess.run(words + options, capture_output=True, text=True, timeout=harness.PATIENCE)
    if done.returncode != 0:
        assert done.returncode == 1 and done.stdout == "", (words, options, done.returncode, done.stdout, done.stderr)
        return None, done.stderr
    report = json.loads(done.stdout)
    account = report["accounts"][0]
    assert account.pop("way") == way and report["ledger_ok"] is True
    with open(equity) as file:
        curve = file.read()
    kept = (account, report["symbols"], report["ledger_hash"], report["ledger_rows"], report["orders"], report["fills"], curve)
    return kept, done.stderr


def check_refused(words, path, says, line, what):
    lines = [text for text in words.splitlines() if ": note: " not in text]
    assert len(lines) == 1 and says in lines[0] and path in lines[0], (what, says, words)
    by_row = says.startswith(("more digits", "volume", "bar is off"))  # where bars, not lines, are known
    named = ": bar " if by_row else f": row {line}: " if path.endswith(".json") else f":{line}: "
    assert named in lines[0], (what, named, words)


def main():
    rng = random.Random(SEED)
    refused = equal = traded = repaired = 0
    kinds = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            path, options, says, line, what = made_file(rng, folder, number)
            strategy = rng.choice(STRATEGIES)
            engine, engine_words = run(path, options, strategy, "engine", folder)
            columns, columns_words = run(path, options, strategy, "columns", folder)
            what = f"seed {SEED}, file {number}, {what}, {strategy} {' '.join(options)}"
            assert engine_words == columns_words, (what, engine_words, columns_words)
            assert engine == columns, (what, engine, columns)
            assert (engine is None) == (says is not None), (what, says, engine_words)
            os.unlink(path)
            kinds[says or "equal"] = kinds.get(says or "equal", 0) + 1
            if says:
                check_refused(engine_words, path, says, line, what)
                refused += 1
                continue
            equal += 1
            traded += engine[0]["fills"] > 0
            repaired += engine[1][0]["bars_repaired"] > 0
    for kind, n in sorted(kinds.items()):
        print(f"  {n:5d} {kind}")
    print(f"broken_bars: seed {SEED}: {FILES} files: {refused} refused by both ways in the same words, {equal} equal to the bit "
          f"({traded} of them traded, {repaired} repaired)")
    assert refused > FILES / 4 and traded > FILES / 8 and repaired > 0


if __name__ == "__main__":
    sys.exit(main())
