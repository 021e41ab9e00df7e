#!/usr/bin/env python3
"""`papertape fetch --interval 1M` and `1mo` from the replay of bars of a day that are made here, from 2023-11 to 2025-06, of which three months have none:
months equal the days joined here, to the digit; the month that is not over is left out; gaps are counted by calendar months; a file compared; the archive's
`1mo` files, with times in milliseconds and microseconds, of which bad ones are named; and what takes no months says why."""

import datetime
import decimal
import gzip
import json
import os
import random
import re

import archives
import harness
import made_bars

SEED = int(os.environ.get("PAPERTAPE_SEED", "29"))
DAY, NAME, LATER = 86400 * 1000, "BTCUSDT", "ETHUSDT"
FIRST, LAST, NOW = datetime.date(2023, 11, 1), datetime.date(2025, 6, 14), datetime.date(2025, 6, 12)  # the first is whole
HOLES = {(2024, 2), (2024, 3), (2025, 1)}


def ms(date):
    return int(datetime.datetime(date.year, date.month, date.day, tzinfo=datetime.timezone.utc).timestamp()) * 1000


def make(chance, first):
    days, price, day = {}, decimal.Decimal(chance.randrange(1000, 99999)) / 100, first
    while day <= LAST:
        if (day.year, day.month) not in HOLES:
            values = [max(price + decimal.Decimal(chance.randrange(-500, 501)) / 100, decimal.Decimal("0.01")) for _ in range(4)]
            days[day] = (values[0], max(values), min(values), values[3], decimal.Decimal(chance.randrange(1, 10**7)) / 10**5)
            price = values[3]
        day += datetime.timedelta(1)
    return days


def months_of(days):
    """{open time: values} of the months that are over."""
    found = {}
    for day, (o, h, l, c, v) in days.items():
        month = ms(day.replace(day=1))
        have = found.get(month)
        found[month] = (have[0], max(have[1], h), min(have[2], l), c, have[4] + v) if have else (o, h, l, c, v)
    return {at: values for at, values in found.items() if at < ms(NOW.replace(day=1))}


def begin(year, month):
    return ms(datetime.date(year, month, 1))


def fetched(folder, common, months):
    """Both names are one series; of the month that runs, and of one that begins before --from, there is no bar."""
    line = [harness.PAPERTAPE, "fetch", "--symbol", f"{NAME},{LATER}", "--from", "2023-10-15", "-o", f"{folder.path}/out/", *common, "--json", "--interval"]
    shown = json.loads(harness.run([*line, "1M"]).stdout)
    assert shown["interval"] == "1mo" and shown["from_ns"] == begin(2023, 11) * 10**6, shown
    for symbol in shown["symbols"]:
        want = months[symbol["symbol"]]
        assert os.path.basename(symbol["file"]) == f"{symbol['symbol']}_1mo.csv.gz" and made_bars.read(symbol["file"]) == want, (symbol, want)
        assert symbol["bars"] == symbol["fetched"] == len(want) and symbol["to_ns"] == begin(2025, 6) * 10**6, symbol
        gaps = [(m["from_ns"] // 10**6, m["to_ns"] // 10**6, m["bars"]) for m in symbol["missing"] if m["why"] == "gap"]
        assert gaps == [(begin(2024, 2), begin(2024, 4), 2), (begin(2025, 1), begin(2025, 2), 1)], gaps
        before = [m["bars"] for m in symbol["missing"] if m["why"] == "before the listing"]
        assert before == ([2] if symbol["symbol"] == LATER else []), (symbol["symbol"], before)
    again = json.loads(harness.run([*line, "1mo"]).stdout)["symbols"]
    assert all(symbol["fetched"] == 0 and made_bars.read(symbol["file"]) == months[symbol["symbol"]] for symbol in again), again
    part = json.loads(harness.run([*line, "1mo", "--from", "2024-11-02", "--to", "2025-03-02"]).stdout)["symbols"]
    assert [symbol["bars"] for symbol in part] == [3, 3], part  # December, February and March, which opens before --to
    harness.run([*line, "1mo"])
    return [symbol["file"] for symbol in shown["symbols"]]


def checked(folder, common, path, months):
    line = [harness.PAPERTAPE, "fetch", *common, "--check"]
    assert harness.run([*line, path]).stdout.endswith(f" {len(months)} rows compared, 0 differences\n")
    altered = os.path.join(folder.path, os.path.basename(path).removesuffix(".gz"))
    with gzip.open(path, "rt") as file:
        rows = file.read().splitlines()
    cells = rows[5].split(",")
    with open(altered, "w", encoding="utf-8") as file:
        file.write("\n".join([*rows[:5], ",".join([*cells[:5], "1"]), *rows[6:8], *rows[9:]]) + "\n")
    found = json.loads(harness.run([*line, altered, "--json"], 1).stdout)
    assert [(d["open_ns"] // 10**6, d["column"]) for d in found["differences"]] == [(int(cells[0]), "volume"), (int(rows[8].split(",")[0]), None)], found


def zipped(place, name, month, bars, unit=1, wrong=None, inner=None, columns=12):
    at, end = begin(*month), begin(month[0] + month[1] // 12, month[1] % 12 + 1)
    cells = archives.kline(at, end, bars[at], unit)
    cells[0] += 60000 if wrong == "grid" else 0
    of = f"-1mo-{month[0]}-{month[1]:02}"
    return archives.write(place, name + of, [cells[:columns]], None, inner and inner + of, wrong)


def archived(folder, common, months):
    place = folder.within("archive")
    bars = months[NAME]
    zipped(place, NAME, (2024, 11), bars)
    zipped(place, NAME, (2024, 12), bars)
    zipped(place, NAME, (2025, 2), bars, unit=1000)
    bad = [(zipped(place, NAME, (2025, 3), bars, unit=1000, wrong="sum"), "another sum"),
           (zipped(place, NAME, (2025, 4), bars, unit=1000, wrong="truncated"), "cut off"),
           (zipped(place, NAME, (2025, 5), bars, unit=1000, inner=LATER), "of another symbol"),
           (zipped(place, NAME, (2024, 10 - 4), bars, columns=11), "line 1: bars have twelve columns"),
           (zipped(place, NAME, (2024, 7), bars, wrong="grid"), "line 1: its time is no bar's")]
    line = [harness.PAPERTAPE, "fetch", "--symbol", NAME, "--interval", "1mo", "--from", "2024-06-01", "-o", place + "/", "--json", "--archive", place, *common,
            "--cache", place]
    done = harness.run(line)
    (symbol,) = json.loads(done.stdout)["symbols"]
    assert made_bars.read(symbol["file"]) == {at: values for at, values in bars.items() if at >= begin(2024, 6)} and symbol["archived"] == 3, symbol
    said = done.stderr.splitlines()
    assert len(said) == len(bad), said
    for path, words in bad:
        assert os.path.exists(path) and any(path in text and words in text for text in said), (path, words, said)


def halves(folder, path):
    """Two files of months that follow each other."""
    rows = list(made_bars.read(path).items())
    return ",".join(made_bars.write(folder.within(f"half-{n}"), NAME, dict(part), "1mo")
                    for n, part in enumerate((rows[:len(rows) // 2], rows[len(rows) // 2:])))


def across(folder, path):
    """Indicators are computed across months, and days, that have no bar: by a calendar those count that a session opens in, the last bar's too."""
    lacks, dates = (6, 14), [datetime.date(2024, 3, day) for day in range(4, 16)]
    bars = {ms(date): (decimal.Decimal(1),) * 5 for date in dates if date.weekday() < 5 and date.day not in lacks}
    days = made_bars.write(folder.within("weekdays"), NAME, bars, "1d")
    for file, missing in ((path, len(HOLES)), (days, len(lacks))):
        for session in ("regular", "all"):
            done = harness.run([harness.PAPERTAPE, "indicators", file, "sma:2", "--calendar", "nyse", "--straddle", "keep", "--session", session])
            assert f": {missing} bars of the session are missing: computed across\n" in done.stderr, (file, session, done.stderr)


def refused(folder, common, path):
    """Rows of a backtest have one length, whatever --interval says, in one file or several, by a calendar or without; a stock's bars are of a day at most."""
    why = r"rows have one length here, and months have several: (bars of )?1d or 1w"
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--bars"]
    parts = halves(folder, path)
    for more, status in (([path], 1), ([f"binance:{NAME}", "--interval", "1M", "--from", "2024-01-01"], 2), ([path, "--interval", "1mo"], 2),
                         ([path, "--interval", "1d"], 1), ([parts, "--interval", "1d"], 1), ([parts], 1),
                         ([path, "--interval", "1h", "--calendar", "nyse", "--straddle", "keep"], 1)):
        done = harness.run([*line, *more], status)
        assert re.search(why, done.stderr) and done.stderr.count("\n") == 1, done
    replay = folder.start(harness.Alpaca(folder.within("alpaca"), "--synthetic", "5", "--from", "2025-12-10T18:00:00Z"))
    stock = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--interval", "1M", "--from", "2025-01-01", "-o", f"{folder.path}/stock/", "--keys", replay.keys,
             "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca, "--cache", folder.path, "--symbol"]
    assert harness.run([*stock, "AAPL"], 1).stderr == "papertape: fetch: AAPL: bars of a stock are of a day at most\n"
    assert harness.run([*stock, "BTC/USD"], 1).stderr == "papertape: fetch: BTC/USD: the venue has no bars of this interval\n"
    assert replay.stop() == 0
    assert "1mo" in harness.run([harness.PAPERTAPE, "fetch", "--symbol", NAME, "--interval", "2mo", "--from", "2024-01-01", "-o", "x", *common], 2).stderr


def main():
    chance = random.Random(SEED)
    with harness.Folder() as folder:
        days = {NAME: make(chance, FIRST), LATER: make(chance, datetime.date(2024, 1, 9))}
        months = {name: months_of(each) for name, each in days.items()}
        source = folder.within("source")
        files = [made_bars.write(source, name, {ms(day): values for day, values in each.items()}, "1d") for name, each in days.items()]
        replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--from", str(ms(NOW))))
        common = ["--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca]
        cached = [*common, "--cache", folder.within("cache")]
        paths = fetched(folder, cached, months)
        checked(folder, common, paths[0], months[NAME])
        archived(folder, common, months)
        across(folder, paths[0])
        refused(folder, common, paths[0])
        assert replay.stop() == 0
        print(f"{len(months[NAME])} months of {NAME}, {len(months[LATER])} of {LATER}")


main()
