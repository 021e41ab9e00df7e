#!/usr/bin/env python3
"""`[market] history` as a time: beside the live stream the daemon fetches what its database lacks, from the replay of bars that are made
here, with gaps, one of which was listed later. Through 429, 418, 5xx, answers that end half way and slow ones, killed in the middle:
all bars are the source's to the digit and no others are there; only what was on its way at a kill is asked for twice; live bars come
meanwhile. A symbol that a reload adds, a file of the log alone, an absence of more bars than become events; parity and the
ledger. A number of bars is as it was; and what is refused."""

import csv
import decimal
import http.client
import json
import os
import random
import re
import resource
import signal
import subprocess
import urllib.parse

import harness
import made_bars

SEED = int(os.environ.get("PAPERTAPE_SEED", "29"))
MINUTE, PAGE = 60000, 1000
DAY = 1440 * MINUTE
DAYS = 60 if harness.LONG else 3
BEGIN = 1704067200000  # 2024-01-01
NOW = BEGIN + (DAYS + 1) * DAY
LATER = 10500 * MINUTE  # an absence, of more bars than are fetched as events
NAMES = ["BTCUSDT", "ETHUSDT", "LTCUSDT"]  # the last was listed a day and a half after the beginning
ADDED = "ADAUSDT"
KILLS = 20 if harness.LONG else 2
FAULTS = ["429:1s"], ["418:1s", "5xx:klines@0s+1s"], ["half-answer"]
SLOW = ("--fault", "slow-answer:500kB/s")  # a fifth of a second a page
# A minute a second: live bars come, and nothing is traded.
CONFIG = """[market]
symbols = {symbols}
interval = 1m
history = {history}
streams = trade, kline, bookTicker
[engine]
clock = feed
[parity]
at = off
[account main]
strategy = none
"""


def make(chance, first):
    """With gaps before what comes as events."""
    gaps = [(g := chance.randrange(first + 1100, (DAYS + 1) * 1440 - 1000), g + chance.randrange(1, 100)) for _ in range(3)]
    return made_bars.make(chance, BEGIN, first, (NOW + LATER - BEGIN) // MINUTE + 120, gaps)


def asked(transcript):
    """(path, status) of each REST request so far."""
    with open(transcript, encoding="utf-8") as file:
        return [(words[3], words[4]) for words in (line.split() for line in file) if len(words) > 4 and words[1] == "rest"]


def stored(daemon, name):
    """The venue's bars of the database, as the source has them."""
    (scale, qty_scale), = daemon.query(f"SELECT price_scale, qty_scale FROM symbols WHERE name = '{name}'")
    rows = daemon.query("SELECT open_ns, open, high, low, close, volume FROM bars JOIN symbols ON id = symbol "
                        f"WHERE name = '{name}' AND source = 'venue' AND interval_ns = 60000000000 ORDER BY open_ns")
    return {at // 10**6: (*(decimal.Decimal(v).scaleb(-scale) for v in prices), decimal.Decimal(volume).scaleb(-qty_scale))
            for at, *prices, volume in rows}


def ranges(transcript, name, skip=0):
    """What was asked for of a symbol and answered, except the first bar of all: [(first, last open time)]."""
    found = []
    for path, status in asked(transcript)[skip:]:
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query))
        if "/klines" in path and status == "200" and query["symbol"] == name and query["startTime"] != "0":
            found.append((int(query["startTime"]), int(query["endTime"])))
    return found


def firsts(transcripts, name):
    return sum("startTime=0&" in path and f"symbol={name}&" in path for transcript in transcripts for path, _ in asked(transcript))


def twice(transcripts, name):
    """Minutes that were asked for more than once."""
    minutes = [m for transcript in transcripts for a, b in ranges(transcript, name) for m in range(a // MINUTE, b // MINUTE + 1)
               if m * MINUTE >= a]
    return len(minutes) - len(set(minutes))


def wait_done(daemon, names):
    """All is there; and the newest bar of each symbol is a live one."""
    daemon.wait_status(lambda s: s["venues"][0]["history"] == "done" and len(s["symbols"] or ()) == len(names) and
                       all(x["last_bar"] and x["last_bar"]["open_time_ms"] >= NOW for x in s["symbols"]) and
                       not daemon.query("SELECT 1 FROM gaps WHERE filled_ns IS NULL"), "all of the history")


def compare(daemon, transcript, source, names, skip=0):
    for name in names:
        have = stored(daemon, name)
        oldest = min(a for a, _ in ranges(transcript, name, skip))
        assert oldest <= max(min(source[name]), NOW - DAYS * DAY + DAY // 4), (name, oldest)  # market time passes
        newest = max(have)
        expected = {at: values for at, values in source[name].items() if oldest <= at <= newest}
        assert have.keys() == expected.keys(), (name, len(have), len(expected), sorted(have.keys() ^ expected.keys())[:5])
        for at, values in have.items():
            assert values == expected[at] or at >= NOW, (name, at, values, expected[at])  # of what is played volumes are trades'
        print(f"{name}: {len(have)} bars, equal to the source")


def start(folder, place, replay, name, symbols=None, days=None):
    text = CONFIG.format(symbols=", ".join(symbols or NAMES), history=days or f"{DAYS}d")
    return folder.start(harness.Daemon(place, replay, text, name=name))


def played(folder, place, files, at, *more):
    transcript = os.path.join(place, f"transcript-{at}")
    return transcript, folder.start(harness.Replay(place, "--bars", *files, "--from", str(at), "--speed", "60", "--transcript",
                                                   transcript, *more))


def pages(transcript):
    return sum(len(ranges(transcript, name)) for name in NAMES)


def history_now(daemon):
    status = daemon.status_now()
    return status["venues"][0]["history"] if status and status["venues"] else None


def kill_after(daemon, replay, transcript, faults):
    """Some pages later, with these faults from the first on."""
    harness.wait_for(lambda: history_now(daemon) in ("fetches", "done"), "the history")
    before = pages(transcript)
    for fault in faults:
        spoil(replay, fault)
    harness.wait_for(lambda: pages(transcript) > before + 1 or history_now(daemon) == "done", "two pages more")
    daemon.stop(signal.SIGKILL)


def live_meanwhile(daemon, replay):
    """While the venue answers no request of bars, those of the stream come; what is older is waited for."""
    harness.wait_for(lambda: history_now(daemon) in ("fetches", "done"), "the history")
    spoil(replay, "5xx:klines")
    newest = max(stored(daemon, NAMES[0]))
    status = daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last_bar"]["open_time_ms"] > max(newest, NOW) + MINUTE, "live bars")
    waits = daemon.wait_status(lambda s: s["venues"][0]["history"] == "waits" and s["venues"][0]["history_detail"], "why it waits")
    line = [line for line in daemon.papertape("status").splitlines() if line.startswith("history   binance ")]
    assert "HTTP 5" in waits["venues"][0]["history_detail"] and len(line) == 1 and " are not yet" in line[0], (waits["venues"], line)
    spoil(replay, "5xx:klines@0s+0s")
    return status["venues"][0]["history_left"]


def through_faults(folder, place, source, files):
    """Killed in the middle, with the venue's faults in between."""
    transcript, replay = played(folder, place, files, NOW, *SLOW)
    for n in range(KILLS):
        kill_after(start(folder, place, replay, f"faults-{n}"), replay, transcript, FAULTS[n % len(FAULTS)])
    daemon = start(folder, place, replay, f"faults-{KILLS}")
    left = live_meanwhile(daemon, replay)
    wait_done(daemon, NAMES)
    compare(daemon, transcript, source, NAMES)
    again = {name: twice([transcript], name) for name in NAMES}
    cut = KILLS >= len(FAULTS)  # answers that end half way are asked for again, too
    assert cut or all(n <= (PAGE + 10) * KILLS for n in again.values()), again
    assert 1 <= firsts([transcript], "LTCUSDT") <= 1 + KILLS and firsts([transcript], "BTCUSDT") == 0, "the listing is asked for once"
    spoil(replay, "slow-answer:9MB/s")
    text = "".join(open(os.path.join(place, f"faults-{n}.log"), encoding="utf-8").read() for n in range(KILLS + 1))
    assert len(re.findall("LTCUSDT: there is no older history: Binance has no bar before 2024-01-02T12:00:00Z", text)) == 1, text
    print(f"killed {KILLS} times, {left} bars left when live ones came: bars asked for twice: {again}")
    return transcript, replay, daemon


def spoil(replay, fault):
    try:
        harness.fault(replay, fault)
    except http.client.IncompleteRead:
        pass  # this answer, too, ends half way


def added(transcript, daemon, source):
    """By a reload: its history comes, too."""
    text = open(daemon.config, encoding="utf-8").read().replace(", ".join(NAMES), ", ".join([*NAMES, ADDED]))
    with open(daemon.config, "w", encoding="utf-8") as file:
        file.write(text)
    daemon.papertape("reload")
    wait_done(daemon, [*NAMES, ADDED])
    compare(daemon, transcript, source, [*NAMES, ADDED])


def ended(daemon):
    """What was put beside the log contradicts nothing."""
    assert daemon.stop() == 0
    assert daemon.papertape("parity").startswith("parity ok")
    daemon.papertape("ledger", "verify")


def from_the_log(folder, place, replay, transcript, source):
    """The database is lost: what the log does not have is asked for again."""
    for end in ("", "-wal", "-shm"):
        if os.path.exists(path := os.path.join(place, "state", f"papertape.db{end}")):
            os.remove(path)
    before = len(asked(transcript))
    daemon = start(folder, place, replay, "rebuilt", [*NAMES, ADDED])
    wait_done(daemon, [*NAMES, ADDED])
    compare(daemon, transcript, source, [*NAMES, ADDED], before)
    assert len(asked(transcript)) > before + len(NAMES) * DAYS
    ended(daemon)
    print("a database that was lost: asked for again")


def absent(folder, place, source, files):
    """More bars are missing than become events: the others are fetched beside them, and nothing that was there again."""
    transcript, replay = played(folder, place, files, NOW + LATER)
    daemon = start(folder, place, replay, "absent", [*NAMES, ADDED], f"{LATER // DAY + DAYS}d")
    daemon.wait_status(lambda s: s["venues"][0]["history"] == "done" and
                       all(x["last_bar"] and x["last_bar"]["open_time_ms"] >= NOW + LATER for x in s["symbols"]), "all of it")
    for name in [*NAMES, ADDED]:
        have, wanted = stored(daemon, name), source[name]
        oldest, newest = min(have), max(have)
        missing = [at for at in wanted if oldest <= at <= newest and at not in have]
        assert not missing and have.keys() <= wanted.keys(), (name, len(missing), missing[:3])
        assert min(a for a, _ in ranges(transcript, name)) >= NOW, "nothing that is there is asked for"
    assert {status for _, status in asked(transcript)} == {"200"}, "no limit is passed"
    ended(daemon)
    assert replay.stop() == 0
    print(f"absent for {LATER // MINUTE} minutes: no hole")


def one_state(folder, source, files):
    """One after the other, on what the one before left."""
    place = folder.within("one")
    transcript, replay, daemon = through_faults(folder, place, source, files)
    added(transcript, daemon, source)
    ended(daemon)
    from_the_log(folder, place, replay, transcript, source)
    assert replay.stop() == 0
    absent(folder, place, source, files)


def counted(folder, source, files):
    """A number of bars: so many, before the stream, and no others."""
    place = folder.within("counted")
    transcript, replay = played(folder, place, files, NOW)
    daemon = harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT", history=100))
    folder.start(daemon)
    status = daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last_bar"] and s["symbols"][0]["last_bar"]["open_time_ms"] >= NOW,
                                "a live bar")
    have = stored(daemon, "BTCUSDT")
    assert status["venues"][0]["history"] == "off" and not status["venues"][0]["history_bars"], status["venues"][0]
    assert len([at for at in have if at < NOW]) == 100 and len(ranges(transcript, "BTCUSDT")) == 1, len(have)
    with open(daemon.config, "w", encoding="utf-8") as file:  # older ones from now on
        file.write(CONFIG.format(symbols="BTCUSDT", history="1d"))
    daemon.papertape("reload")
    daemon.wait_status(lambda s: s["venues"][0]["history"] == "done", "older bars")
    assert set(at for at in source["BTCUSDT"] if NOW - DAY + 3600000 < at < NOW) <= stored(daemon, "BTCUSDT").keys()
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM chart_bars WHERE interval_ns = 3600000000000")[0][0] > 12, "hours of a day")
    before = len(ranges(transcript, "BTCUSDT"))
    with open(daemon.config, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(symbols="BTCUSDT", history="3d") + "[retention]\nbars_days = 1\n")
    daemon.papertape("reload")
    daemon.wait_status(lambda s: s["venues"][0]["history"] == "done", "what is kept")
    assert len(ranges(transcript, "BTCUSDT")) == before, "what would be deleted is not fetched"
    assert daemon.stop() == 0 and replay.stop() == 0
    print("a number of bars: as before; a reload with a time fetches the others")


def full_disk(folder, source, files):
    """A limit on the size of files stands for it: nothing more is asked for until there is room, then the rest."""
    place = folder.within("full")
    transcript, replay = played(folder, place, files, NOW, *SLOW)
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT", history=f"{DAYS}d")))
    harness.wait_for(lambda: history_now(daemon) == "fetches", "the history")
    _, hard = resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (1, hard))
    status = daemon.wait_status(lambda s: s["db"]["state"] == "failing" and s["venues"][0]["history"] == "waits", "the full disk")
    pages_asked, frames = len(ranges(transcript, "BTCUSDT")), status["feed"]["frames"]
    daemon.wait_status(lambda s: s["feed"]["frames"] > frames + 20, "data meanwhile")
    assert len(ranges(transcript, "BTCUSDT")) <= pages_asked + 1, "nothing is asked for that cannot be stored"
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (hard, hard))
    daemon.wait_status(lambda s: s["venues"][0]["history"] == "done", "all of the history")
    compare(daemon, transcript, source, ["BTCUSDT"])
    assert twice([transcript], "BTCUSDT") == 0
    ended(daemon)
    assert replay.stop() == 0
    print("a full disk: continued")


def gapped(folder, source, files):
    """A silence of more bars than a gap is filled with by events: the others come beside them, and the gap is over."""
    place = folder.within("gapped")
    transcript, replay = played(folder, place, files, NOW, "--speed", "6000")
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(symbols="BTCUSDT", history="1d")))
    daemon.wait_status(lambda s: s["venues"][0]["history"] == "done" and s["symbols"] and s["symbols"][0]["last_bar"]["open_time_ms"] >= NOW,
                       "live bars")
    harness.fault(replay, "silence@0s+8s")  # 800 bars

    def gaps():
        return daemon.query("SELECT from_open_ns, to_open_ns, filled_ns FROM gaps WHERE to_open_ns - from_open_ns > 30000000000000")
    harness.wait_for(lambda: gaps() and all(filled for _, _, filled in gaps()), "the gap filled")
    have = stored(daemon, "BTCUSDT")
    newest = max(have)
    holes = sorted({at for at in source["BTCUSDT"] if NOW < at < newest} - have.keys())
    assert not holes and gaps()[0][1] - gaps()[0][0] > 500 * 60 * 10**9, (holes[:3], gaps())
    ended(daemon)
    assert replay.stop() == 0
    print(f"a silence: {gaps()} filled")


def as_bars_file(place, symbol, fetched, listed):
    """What `papertape bars` prints is a bars file: a backtest of it is, to its ledger's hash, the one of what was fetched."""
    hashes = []
    for name, text in (("fetched", fetched), ("listed", "\n".join(listed) + "\n")):
        path = os.path.join(place, f"{name}-{symbol.replace('/', '')}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--set", "fast=5,slow=20", "--bars", path, "--symbol", symbol, "--quote", "USD",
                "--no-cache", "--json"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=harness.PATIENCE, cwd=place)
        assert done.returncode == 0, done
        report = json.loads(done.stdout)
        assert report["fills"] > 10, report
        hashes.append(report["ledger_hash"])
    assert hashes[0] == hashes[1], (symbol, hashes)


def stocks(folder):
    """Alpaca's: what its REST has by `fetch`, with the sessions of its days; a coin beside it."""
    place = folder.within("stocks")
    replay = folder.start(harness.Alpaca(place, "--synthetic", "5", "--from", "2025-12-10T18:00:00Z", "--speed", "60", "--action",
                                         "split:AAPL:4:1:2025-12-09"))
    text = harness.alpaca_config(replay.keys, harness.IDLE_ACCOUNT, symbols="AAPL, BTC/USD", history="6d")
    daemon = folder.start(harness.Daemon(place, replay, text))
    daemon.wait_status(lambda s: s["venues"][0]["history"] == "done" and len(s["symbols"] or ()) == 2, "all of the history")
    for symbol in ("AAPL", "BTC/USD"):
        line = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--symbol", symbol, "--interval", "1m", "--from", "2025-12-04T19:00:00Z",
                "--to", "2025-12-10T17:55:00Z", "-o", "-", "--cache", place, "--keys", replay.keys, "--feed", "sip", "--rest-url",
                replay.urls["rest_url"], "--ca-file", replay.ca, *(["--adjustment", "split"] if symbol == "AAPL" else [])]
        done = subprocess.run(line, capture_output=True, text=True, timeout=harness.PATIENCE)
        wanted = list(csv.DictReader(done.stdout.splitlines()))
        names, ends = list(wanted[0]), [int(row["open_time_ms"]) for row in (wanted[0], wanted[-1])]
        assert names == ["open_time_ms", "open", "high", "low", "close", "volume", *(["session"] if symbol == "AAPL" else [])], names
        text = daemon.papertape("bars", symbol, "1m")
        stored_rows = [row for row in csv.DictReader(text.splitlines()) if ends[0] <= int(row["open_time_ms"]) <= ends[1]]
        assert symbol == "AAPL" or {row["session"] for row in stored_rows} == {"none"}
        have = [{name: row[name] for name in names} for row in stored_rows]
        differ = [pair for pair in zip(have, wanted) if pair[0] != pair[1]]
        assert len(have) == len(wanted) > 1000 and not differ, (symbol, len(have), len(wanted), differ[:3])
        print(f"{symbol}: {len(have)} bars, as fetched")
        header, *lines = text.splitlines()
        as_bars_file(place, symbol, done.stdout, [header, *(line for line in lines if ends[0] <= int(line.split(",")[0]) <= ends[1])])
    ended(daemon)
    assert replay.stop() == 0


def refused(folder):
    path = os.path.join(folder.path, "refused.ini")
    for value, words in (("2 years", '"2 years": bars from 0 to 1000, or so many s, m, h, d, w or y, as 2y, are needed'),
                         ("1001", '"1001": bars'), ("6M", '"6M": bars from 0 to 1000'), ("-1d", '"-1d": bars'), ("0d", '"0d": bars'), ("200y", "at most 100y")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"[market]\nhistory = {value}\n")
        done = subprocess.run([harness.DAEMON, "--check-config", "--config", path], capture_output=True, text=True, timeout=harness.PATIENCE)
        assert done.returncode != 0 and f"{path}:2: [market] history: " in done.stderr and words in done.stderr, (value, done)


def main():
    chance = random.Random(SEED)
    source = {name: make(chance, 2160 if name == "LTCUSDT" else 0) for name in [*NAMES, ADDED]}
    with harness.Folder() as folder:
        files = [made_bars.write(folder.path, name, bars) for name, bars in source.items()]
        refused(folder)
        harness.together(folder, *(lambda folder, scenario=scenario: scenario(folder, source, files)
                                   for scenario in (one_state, gapped, full_disk, counted)), stocks)


main()
