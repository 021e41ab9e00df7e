#!/usr/bin/env python3
"""`papertape fetch --trades` of four symbols from the replay of recordings that are made here: trades on both sides of 2025-01-01, from when
times have microseconds; hundreds to the millisecond, more of one time than a page has, ids that are left out, one symbol that was listed
later. Through 429, 418, 5xx, answers that end half way and slow ones, killed at seeded pages: what is in the files is what the source has,
to the digit; each gap is listed; the venue's limit is never passed. The venue's archive files in both units, of which bad ones are named; a
file checked; a backtest of one, and of an archive file as it is. Alpaca's trades, of stocks and coins, without those that were cancelled.
And what is refused."""

import csv
import datetime
import decimal
import gzip
import json
import os
import random
import signal
import subprocess
import urllib.parse
import zipfile

import archives
import harness

SEED = int(os.environ.get("PAPERTAPE_SEED", "29"))
SCALE = 12 if harness.LONG else 1
KILLS = 10 if harness.LONG else 4
NEW_YEAR = 1735689600 * 10**6  # 2025-01-01, in microseconds
HOUR = 3600 * 10**6
BEGIN, END = NEW_YEAR - 3 * HOUR, NEW_YEAR + 3 * HOUR
NOW = END + 48 * HOUR  # what is older than a day is settled
NAMES = ["BTCUSDT", "ETHUSDT", "BNBUSDT", "LTCUSDT"]
LISTED_LATER, WHOLE_PAGE = NAMES[3], NAMES[0]
FAULTS = (["half-answer"], ["429:1s", "5xx"], ["slow-answer:400kB/s"], ["418:1s", "half-answer"])
HEAD = "agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker"


def make(chance, name):
    """[(id, price, quantity, first trade, last trade, microseconds, maker)]: milliseconds alone before 2025."""
    rows, number, trade, price = [], chance.randrange(1, 10**9), chance.randrange(1, 10**9), decimal.Decimal(chance.randrange(10**4, 10**6)) / 100
    at, n = BEGIN + (HOUR * 5 // 4 if name == LISTED_LATER else 0), (6000 if name == WHOLE_PAGE else 2500) * SCALE
    gaps = {n // 7: 1, n // 3: 300, n // 3 * 2: 7}
    step = (END - at) // (n // 40 + 1)
    for i in range(n):
        if not (name == WHOLE_PAGE and n // 2 < i < n // 2 + 1500) and i % 40 == 0:  # bursts, one of which has more than a page
            at += chance.randrange(step * 3 // 4, step * 5 // 4)
        elif chance.random() < 0.5 and not n // 2 < i < n // 2 + 1500:
            at += chance.randrange(0, 300)
        number += 1 + gaps.get(i, 0)
        price = max(price + decimal.Decimal(chance.randrange(-5, 6)) / 100, decimal.Decimal("0.01"))
        last = trade + chance.randrange(0, 3)
        rows.append((number, price, decimal.Decimal(chance.randrange(1, 10**8)) / 10**5, trade, last, at if at >= NEW_YEAR else at // 1000 * 1000,
                     chance.random() < 0.5))
        trade = last + 1
    return [row for row in rows if row[5] < END]


def frame(name, row, at):
    number, price, quantity, first, last, time, maker = row
    data = {"e": "aggTrade", "E": time, "s": name, "a": number, "p": str(price), "q": str(quantity), "f": first, "l": last, "T": time,
            "m": maker, "M": True}
    return f"{at * 1000} {json.dumps({'stream': f'{name.lower()}@aggTrade', 'data': data}, separators=(',', ':'))}\n"


def write(folder, name, rows):
    """A recording; two more trades are behind the range: the market's time, and what is played."""
    path = os.path.join(folder, f"{name.lower()}.jsonl.gz")
    last = rows[-1]
    more = [(last[0] + i, *last[1:3], last[4] + i, last[4] + i, NOW + at, True) for i, at in ((1, -1000), (2, 60 * 10**6))]
    with gzip.open(path, "wt", compresslevel=1) as file:
        for i, row in enumerate(rows + more):
            file.write(frame(name, row, row[5]) * (2 if i % 100 == 7 else 1))  # some come twice, as of two connections
    return path


def read(path):
    with gzip.open(path, "rt") as file:
        lines = list(csv.reader(file))
    assert ",".join(lines[0]) == HEAD, lines[0]
    return [(int(a), decimal.Decimal(p), decimal.Decimal(q), int(f), int(l), int(t), {"true": True, "false": False}[m])
            for a, p, q, f, l, t, m in lines[1:]]


def command(replay, folder, *more):
    return [harness.PAPERTAPE, "fetch", "--trades", "--symbol", ",".join(NAMES), "--from", f"{BEGIN}", "--to", f"{END}", "-o",
            os.path.join(folder, "out"), "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca,
            *([] if "--cache" in more else ["--cache", os.path.join(folder, "cache")]), *more]


def asked(transcript):
    """(path, status) of each request of trades so far."""
    with open(transcript, encoding="utf-8") as file:
        lines = [line.split(maxsplit=5) for line in file]
    return [(words[3], words[4]) for words in lines if len(words) > 4 and words[1] == "rest" and "/aggTrades" in words[3]]


def good(transcript):
    return sum(status == "200" for _, status in asked(transcript))


def kill_at(replay, folder, transcript, page):
    """True: it was killed then; it may also have been over."""
    process = subprocess.Popen(command(replay, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    harness.wait_for(lambda: process.poll() is not None or good(transcript) >= page, f"page {page}")
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def holes(rows):
    return [(a, b) for a, b in zip(rows, rows[1:]) if b[0] != a[0] + 1]


def compare(source, shown):
    for symbol in shown["symbols"]:
        name, rows = symbol["symbol"], source[symbol["symbol"]]
        got = read(symbol["file"])
        assert got == rows, (name, len(got), len(rows), sorted(set(got) ^ set(rows))[:5])
        assert symbol["trades"] == len(rows), symbol
        gaps = [(m["from_ns"], m["to_ns"], m["trades"]) for m in symbol["missing"] if m["why"] == "gap"]
        assert gaps == [(a[5] * 1000, b[5] * 1000, b[0] - a[0] - 1) for a, b in holes(rows)] and len(gaps) == 3, (name, gaps)
        before = [m["to_ns"] for m in symbol["missing"] if m["why"] == "before the venue's first trade"]
        assert before == [rows[0][5] * 1000], (name, before)


def replayed(folder, files, transcript, port, *faults, kept=10**7):
    """History is what lies before the position, which stands until a client subscribes; always the same server, by its name."""
    more = [word for fault in faults for word in ("--fault", fault)]
    return folder.start(harness.Replay(folder.path, "--recording", *files, "--from", str(NOW), "--aggregates", str(kept), "--transcript",
                                       transcript, "--listen", f"127.0.0.1:{port}", *more))


def through_faults(folder, chance, source, files, port):
    killed, pages, whole = 0, [], sum(map(len, source.values())) // 1000 + len(NAMES) * (END - BEGIN) // HOUR
    for n in range(KILLS + 1):
        transcript = os.path.join(folder.path, f"transcript-{n}")
        replay = replayed(folder, files, transcript, port, *FAULTS[n % len(FAULTS)])
        if n < KILLS:
            killed += kill_at(replay, folder.path, transcript, chance.randrange(4, max(5, whole // KILLS)))
        else:
            shown = json.loads(harness.run(command(replay, folder.path, "--json")).stdout)
        pages.append(good(transcript))
        assert replay.stop() == 0
    compare(source, shown)
    assert killed > KILLS / 2, killed
    return killed, sum(pages)


def without_faults(folder, replay, source):
    """What is there is not asked for again; from nothing, the venue has to refuse nothing. How many pages that takes."""
    again = json.loads(harness.run(command(replay, folder.path, "--json")).stdout)
    assert all(symbol["fetched"] == 0 for symbol in again["symbols"]), again
    shown = json.loads(harness.run(command(replay, folder.path, "--json", "--cache", folder.within("other"))).stdout)
    compare(source, shown)
    assert all(symbol["fetched"] == symbol["trades"] for symbol in shown["symbols"]), shown
    text = harness.run(command(replay, folder.path)).stdout
    assert "gap of 300 trades" in text and f"{LISTED_LATER}: before the venue's first trade, " in text, text
    return sum(symbol["requests"] for symbol in shown["symbols"])


def zipped(place, name, day, rows, header=False, columns=8, wrong=None, inner=None, month=False):
    """A day of the venue's archive, or the month that it is in, with its sum; `wrong` spoils it. Its path."""
    begin, length = NEW_YEAR + (day - 1) * 24 * HOUR, 24 * HOUR
    if month:
        begin, length = NEW_YEAR + (day - 1) * 31 * 24 * HOUR, 31 * 24 * HOUR
    written = "%Y-%m" if month else "%Y-%m-%d"
    unit = 1000 if begin < NEW_YEAR else 1
    heading = "agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker,is_best_match"
    cells = [[number, format(price, ".8f"), format(quantity, ".8f"), first, last, time // unit, maker, True][:columns]
             for number, price, quantity, first, last, time, maker in rows if begin <= time < begin + length]
    of = f"-aggTrades-{datetime.datetime.fromtimestamp(begin / 10**6, datetime.timezone.utc):{written}}"
    return archives.write(place, name + of, cells, heading if header else None, inner and inner + of, wrong)


def archived(folder, source, replay):
    """Both units of time are read; what is left out in a file, and files that are not right, are asked for; these are named, and kept."""
    place, (btc, eth, bnb, ltc) = folder.within("archive"), NAMES
    inner = os.path.join(place, "data/spot/daily/aggTrades")
    os.makedirs(inner)
    zipped(inner, btc, 0, source[btc])
    zipped(place, btc, 1, source[btc], header=True)
    bad = [(zipped(place, eth, 0, source[eth], wrong="sum"), "another sum"),
           (zipped(place, eth, 1, source[eth], wrong="truncated"), "cut off"),
           (zipped(place, bnb, 0, source[bnb], columns=7), "line 1: aggregate trades have eight columns"),
           (zipped(place, bnb, 1, source[bnb], wrong="no sum"), "no .CHECKSUM file"),
           (zipped(place, ltc, 0, [(*row[:5], row[5] - 24 * HOUR, row[6]) for row in source[ltc]] + source[ltc]), "line "),
           (zipped(place, ltc, 1, source[bnb], inner=bnb), "of another symbol")]
    done = harness.run(command(replay, folder.path, "--json", "--cache", folder.within("archive-cache"), "--archive", place))
    shown = json.loads(done.stdout)
    compare(source, shown)
    edges = {t for a, b in holes(source[btc]) for t in (a[5], b[5])}  # all of these times is asked for
    want = sum(row[5] not in edges for row in source[btc])
    have = {symbol["symbol"]: symbol["archived"] for symbol in shown["symbols"]}
    assert have == {each: want if each == btc else 0 for each in NAMES} and 0 < want < len(source[btc]), (have, want)
    said = done.stderr.splitlines()
    assert len(said) == len(bad), said
    for path, words in bad:
        assert os.path.exists(path) and any(path in line and words in line and "trades are asked for" in line for line in said), (path, words, said)
    print(f"archive: {want} trades from 2 files, {len(bad)} others named and left alone", flush=True)
    archived_months(folder, source, replay, want)


def archived_months(folder, source, replay, want):
    """The same of files of a month: December has milliseconds, January microseconds."""
    place, (btc, eth, bnb, ltc) = folder.within("months"), NAMES
    for day in (0, 1):
        zipped(place, btc, day, source[btc], header=day == 0, month=True)
    bad = [(zipped(place, eth, 0, source[eth], wrong="sum", month=True), "another sum"),
           (zipped(place, eth, 1, source[eth], wrong="truncated", month=True), "cut off"),
           (zipped(place, bnb, 0, source[bnb], columns=7, month=True), "line 1: aggregate trades have eight columns"),
           (zipped(place, ltc, 1, source[bnb], inner=bnb, month=True), "of another symbol")]
    done = harness.run(command(replay, folder.path, "--json", "--cache", folder.within("months-cache"), "--archive", place))
    shown = json.loads(done.stdout)
    compare(source, shown)
    assert {symbol["symbol"]: symbol["archived"] for symbol in shown["symbols"]} == {each: want if each == btc else 0 for each in NAMES}, shown
    said = done.stderr.splitlines()
    assert len(said) == len(bad), said
    for path, words in bad:
        assert os.path.exists(path) and any(path in line and words in line for line in said), (path, words, said)


def checked(folder, replay, source, chance):
    """A file as it was fetched agrees; one altered trade, one that lacks and one too many are named."""
    name = NAMES[1]
    path = os.path.join(folder.path, "out", f"{name}_trades.csv.gz")
    with gzip.open(path, "rt") as file:
        rows = file.read().splitlines()
    line = [harness.PAPERTAPE, "fetch", "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca, "--check"]
    assert harness.run([*line, path]).stdout.endswith(f" {len(rows) - 1} rows compared, 0 differences\n")
    part = [rows[100].split(",")[5], rows[300].split(",")[5]]
    assert f" {sum(part[0] <= row.split(',')[5] < part[1] for row in rows[1:])} rows compared, 0 differences\n" in harness.run(
        [*line, path, "--from", part[0], "--to", part[1]]).stdout
    altered = os.path.join(folder.path, f"{name}_trades.csv")
    at = chance.randrange(2, len(rows) - 3)
    number, price, quantity, *rest = rows[at].split(",")
    other = ",".join([number, price, str(decimal.Decimal(quantity) + decimal.Decimal("0.00000001")), *rest])
    gap = holes(source[name])[0][0]
    more = rows.index(next(row for row in rows if row.startswith(f"{gap[0]},")))
    extra = ",".join([str(gap[0] + 1), *rows[more].split(",")[1:]])
    for change, who, column in (([*rows[:at], other, *rows[at + 1:]], int(number), "quantity"), ([*rows[:at], *rows[at + 1:]], int(number), None),
                                ([*rows[:more + 1], extra, *rows[more + 1:]], gap[0] + 1, None)):
        with open(altered, "w", encoding="utf-8") as file:
            file.write("\n".join(change) + "\n")
        shown = json.loads(harness.run([*line, altered, "--json"], status=1).stdout)
        assert shown["different"] == 1 and [(d["agg_trade_id"], d["column"]) for d in shown["differences"]] == [(who, column)], shown
    with open(altered, "w", encoding="utf-8") as file:
        file.write(f"{rows[0]}\n{rows[2]}\n{rows[1]}\n")
    assert f"{altered}:3: the ids do not rise" in harness.run([*line, altered], status=1).stderr
    print(f"check: {len(rows) - 1} rows, one altered, one that lacks and one too many are named", flush=True)


def backtested(folder, source):
    """--ticks reads the file as it reads a venue's trades, and its archive's aggregates, which have no header and both units of time."""
    name = NAMES[0]
    plain = os.path.join(folder.within("plain"), f"{name}-trades-2024-12-31.csv")
    with open(plain, "w", encoding="utf-8") as file:
        for number, price, quantity, _, _, time, maker in source[name]:
            file.write(f"{number},{price},{quantity},{price * quantity},{time},{maker}\n")
    archive = os.path.join(folder.path, f"{name}-aggTrades-2024-12-31.csv")
    with open(archive, "w", encoding="utf-8") as file:
        for number, price, quantity, first, last, time, maker in source[name]:
            file.write(f"{number},{price},{quantity},{first},{last},{time if time >= NEW_YEAR else time // 1000},{maker},True\n")
    packed = zipped(folder.path, name, 0, source[name]), zipped(folder.path, name, 1, source[name], header=True)
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--set", "fast=2,slow=5", "--json", "--ticks"]
    shown = [json.loads(harness.run([*line, path]).stdout)
             for path in (plain, archive, os.path.join(folder.path, "out", f"{name}_trades.csv.gz"), ",".join(packed))]
    assert all(each["accounts"] == shown[0]["accounts"] for each in shown) and shown[0]["accounts"][0]["trades"] > 0, shown
    for wrong, words in (("truncated", "it is damaged or cut off"), ("two", "it has more than one file")):
        path = zipped(folder.within(wrong), name, 0, source[name], wrong=wrong)
        if wrong == "two":
            with zipfile.ZipFile(path, "a") as two:
                two.writestr("more.csv", "")
        else:  # the end of its data, before the list of files
            with open(packed[0], "rb") as data, open(path, "wb") as cut:
                cut.write(data.read()[:-400])
        assert f"{path}:" in (said := harness.run([*line, path], status=1).stderr) and words in said, said
    print(f"backtest: {shown[0]['accounts'][0]['trades']} trades of {len(source[name])} ticks", flush=True)


def alpaca_pages(replay, path, symbol, **query):
    """All trades of a symbol that stand, as REST has them, page by page; and how many pages."""
    rows, token, n, keys = [], None, 0, {"APCA-API-KEY-ID": "PKTEST", "APCA-API-SECRET-KEY": "hush"}
    while True:
        text = urllib.parse.urlencode({"symbols": symbol, "limit": 10000, **query, **({"page_token": token} if token else {})})
        page = json.loads(harness.rest(replay, f"{path}?{text}", headers=keys), parse_float=decimal.Decimal)
        rows += page["trades"].get(symbol, [])
        n += 1
        if not (token := page["next_page_token"]):
            return rows, n


def ns(text):
    """Of RFC 3339, whose fraction is of up to nine digits."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return int(datetime.datetime.fromisoformat(whole + "+00:00").timestamp()) * 10**9 + int(fraction.ljust(9, "0"))


def alpaca(folder):
    """Stocks and coins: what REST has, page by page, but those that were cancelled; in days, continued, compared and traded."""
    place = folder.within("alpaca")
    replay = folder.start(harness.Alpaca(place, "--synthetic", "5", "--from", "2025-12-10T18:00:00Z"))
    common = ["--venue", "alpaca", "--feed", "sip", "--keys", replay.keys, "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca]
    line = [harness.PAPERTAPE, "fetch", "--trades", "--symbol", "AAPL,BTC-USD", "--from", "2025-12-09T06:00:00Z", "-o", place, "--cache", place, *common, "--to"]
    harness.run([*line, "2025-12-09T15:00:00Z"])
    shown = json.loads(harness.run([*line, "2025-12-10T18:00:00Z", "--json"]).stdout)["symbols"]
    times = {"start": "2025-12-09T06:00:00Z", "end": "2025-12-10T17:59:59.999999999Z"}
    for symbol, path, of in ((shown[0], "/v2/stocks/trades", {"feed": "sip"}), (shown[1], "/v1beta3/crypto/us/trades", {})):
        rows, pages = alpaca_pages(replay, path, symbol["symbol"], **times, **of)
        stand = [row for row in rows if row.get("u") != "canceled"]
        want = [(row["i"], decimal.Decimal(row["p"]), decimal.Decimal(row["s"]), ns(row["t"]), {"B": "false", "S": "true"}.get(row.get("tks"), "")) for row in stand]
        with gzip.open(symbol["file"], "rt") as file:
            lines = list(csv.DictReader(file))
        have = [(int(row["trade_id"]), decimal.Decimal(row["price"]), decimal.Decimal(row["quantity"]), int(row["transact_time"]), row["is_buyer_maker"])
                for row in lines]
        assert have == want and symbol["trades"] == len(want) > symbol["fetched"] > 0 and symbol["missing"] == [], (symbol, len(have), len(want))
        assert (pages > 1 or of) and len({row["makes_price"] for row in lines}) == (2 if of else 1), pages
        done = harness.run([harness.PAPERTAPE, "fetch", *common, "--check", symbol["file"]])
        assert done.stdout.endswith(f" {len(want)} rows compared, 0 differences\n"), done
        alpaca_file(folder, symbol["file"], lines, [harness.PAPERTAPE, "fetch", *common, "--json", "--check"])
        print(f"alpaca: {len(want)} trades of {symbol['symbol']} in {pages} pages, {len(rows) - len(want)} cancelled", flush=True)
    assert "its trades are not those of Binance" in harness.run([harness.PAPERTAPE, "fetch", "--check", shown[0]["file"]], status=2).stderr
    twice = harness.run([*line, "2025-12-09T12:00:00Z", "--refresh", "--symbol", "BTC/USD"], status=1).stderr
    assert twice == "papertape: fetch: BTC/USD: it is named twice\n", twice
    again = json.loads(harness.run([*line, "2025-12-09T12:00:00Z", "--refresh", "--json"]).stdout)["symbols"]
    assert all(symbol["changed"] == 0 and symbol["fetched"] == symbol["trades"] > 0 for symbol in again), again
    assert replay.stop() == 0


def alpaca_file(folder, path, lines, check):
    """A trade that is another is found; a backtest takes no price of those that make none."""
    name, head = os.path.basename(path), list(lines[0])
    other = os.path.join(folder.within("other-" + name), name.removesuffix(".gz"))

    def write_rows(rows):
        with open(other, "w", encoding="utf-8") as file:
            file.write("\n".join([",".join(head), *(",".join(row.values()) for row in rows)]) + "\n")
    at = len(lines) // 2
    write_rows([*lines[:at], {**lines[at], "price": "1"}, *lines[at + 1:]])
    found = json.loads(harness.run([*check, other], status=1).stdout)["differences"]
    assert [(each["trade_id"], each["column"], each["file"]) for each in found] == [(int(lines[at]["trade_id"]), "price", "1")], found
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--set", "fast=2,slow=5", "--interval", "5m", "--json", "--ticks"]
    accounts = []
    for rows in (lines, [row for row in lines if row["makes_price"] == "true"]):
        write_rows(rows)
        accounts.append(json.loads(harness.run([*line, other]).stdout)["accounts"])
    assert accounts[0] == accounts[1] and accounts[0][0]["trades"] > 0, accounts


def forgotten(folder, source, files, port):
    """A venue that keeps only its latest trades: what was fetched before stays, is no other, and no gap is before it."""
    replay = replayed(folder, files, os.path.join(folder.path, "transcript-recent"), port, kept=1200)
    for more in ([], ["--refresh"]):
        shown = json.loads(harness.run(command(replay, folder.path, "--json", *more)).stdout)
        compare(source, shown)
        assert all(symbol["changed"] == 0 for symbol in shown["symbols"]), shown
    recent = json.loads(harness.run(command(replay, folder.path, "--json", "--cache", folder.within("recent"))).stdout)
    for symbol in recent["symbols"]:
        name = symbol["symbol"]
        got = read(symbol["file"])
        assert 0 < len(got) < 1200 and got == source[name][-len(got):], (name, len(got))
        assert [m["to_ns"] for m in symbol["missing"] if m["why"] == "before the venue's first trade"] == [got[0][5] * 1000], symbol["missing"]
    assert replay.stop() == 0
    print("a venue with 1,200 trades of each symbol: all that were fetched before are there", flush=True)


def refused(folder, replay):
    cases = ((["--interval", "1m"], 2, "--trades"), (["--adjustment", "raw"], 2, "--trades"), (["--venue", "alpaca"], 1, "it answers no request without keys"),
             (["--symbol", "NOPE"], 1, "NOPE: the venue does not list it"), (["--symbol", NAMES[0], "--from", "2030-01-01", "--to", "2031-01-01"], 1, "--from is not before"),
             (["--archive", os.path.join(folder, "nowhere"), "--cache", os.path.join(folder, "none")], 1, "nowhere: No such file"))
    for more, status, words in cases:
        line = command(replay, folder)
        for option, value in zip(more[::2], more[1::2]):
            if option in line:
                line[line.index(option) + 1] = value
            else:
                line += [option, value]
        done = harness.run(line, status)
        assert words in done.stderr and done.stderr.count("\n") == 1, (more, done)


def main():
    chance = random.Random(SEED)
    with harness.Folder() as folder:
        place, transcript = folder.within("source"), os.path.join(folder.path, "transcript")
        source = {name: make(chance, name) for name in NAMES}
        files = [write(place, name, rows) for name, rows in source.items()]
        port = harness.free_port()
        killed, pages = through_faults(folder, chance, source, files, port)
        replay = replayed(folder, files, transcript, port)
        whole = without_faults(folder, replay, source)
        assert pages <= whole + len(NAMES) * (KILLS + 1) + 12 * killed, (pages, whole, killed)  # those on their way at a kill
        print(f"{len(NAMES)} symbols: {sum(map(len, source.values()))} trades, killed {killed} times of {KILLS}, {pages} pages of {whole}", flush=True)
        archived(folder, source, replay)
        checked(folder, replay, source, chance)
        backtested(folder, source)
        alpaca(folder)
        refused(folder.path, replay)
        assert replay.stop() == 0
        offline = json.loads(harness.run(command(replay, folder.path, "--json")).stdout)  # all is kept, and settled
        compare(source, offline)
        assert all(symbol["requests"] == 0 for symbol in offline["symbols"]), offline
        forgotten(folder, source, files, port)
        refusals = [path for path, status in asked(transcript) if status != "200"]
        assert not refusals, refusals


main()
