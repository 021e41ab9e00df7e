#!/usr/bin/env python3
"""`papertape fetch` of eight symbols from the replay of bars that are made here, with gaps, one of which was listed later: through
429, 418, 5xx, answers that end half way and slow ones, killed at ten seeded pages: what is in the files is what the source has, to the
digit; each gap is listed; only what was on its way at a kill is asked for twice, and the venue's limit is never passed. The venue's
archive files, of which bad ones are named; a file checked; a backtest of a venue's history; Alpaca's. And what is refused."""

import concurrent.futures
import datetime
import decimal
import fcntl
import functools
import glob
import gzip
import json
import os
import random
import re
import signal
import subprocess
import time
import urllib.parse

import archives
import harness
import made_bars

DAYS = 365 if harness.LONG else 6
SEED = int(os.environ.get("PAPERTAPE_SEED", "29"))
KILLS, MINUTE, PAGE = 10, 60000, 1000
BEGIN = 1704067200000  # 2024-01-01
END = BEGIN + DAYS * 1440 * MINUTE
NOW = END + 2 * 1440 * MINUTE  # what is older than a day is settled
NAMES = [f"{base}USDT" for base in ("BTC", "ETH", "BNB", "XRP", "ADA", "SOL", "DOT", "LTC")]
FAULTS = (["half-answer"], ["429:1s", "5xx"], [f"slow-answer:{100 if harness.LONG else 400}kB/s"], ["418:1s", "half-answer"])


def make(chance, name):
    """With gaps; the last symbol has its first bar a day later. An hour is played."""
    first = 1440 if name == NAMES[-1] else 0
    gaps = [(g := chance.randrange(first + 10, DAYS * 1440 - 200), g + chance.randrange(1, 100)) for _ in range(3)]
    return made_bars.make(chance, BEGIN, first, (NOW - BEGIN) // MINUTE + 60, gaps)


def runs(have, first):
    """The gaps between bars: {(from, to)}, in minutes since 1970."""
    found, expected = set(), first
    for at in [*have, END]:
        if at > expected:
            found.add((expected, at))
        expected = at + MINUTE
    return found


def command(replay, folder, *more):
    return [harness.PAPERTAPE, "fetch", "--symbol", ",".join(NAMES), "--interval", "1m", "--from", "2024-01-01", "--to",
            str(END), "-o", os.path.join(folder, "out"), "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca,
            *([] if "--cache" in more else ["--cache", os.path.join(folder, "cache")]), *more]


def fetch(replay, folder, *more, status=0):
    patience = harness.PATIENCE * (10 if harness.LONG else 1)  # of slow answers a year takes a quarter of an hour
    done = subprocess.run(command(replay, folder, *more), capture_output=True, text=True, timeout=patience)
    assert done.returncode == status, done
    return done


def asked(transcript):
    """(path, status) of each REST request so far."""
    with open(transcript, encoding="utf-8") as file:
        return [(words[3], words[4]) for words in (line.split() for line in file) if len(words) > 4 and words[1] == "rest"]


def pages(transcript):
    return sum("/klines" in path and status == "200" for path, status in asked(transcript))


def kill_at(replay, folder, transcript, page):
    """True: it was killed then; it may also have been over."""
    process = subprocess.Popen(command(replay, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    harness.wait_for(lambda: process.poll() is not None or pages(transcript) >= page, f"page {page}")
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def compare(source, shown):
    for symbol in shown["symbols"]:
        name = symbol["symbol"]
        have = {at: values for at, values in source[name].items() if at < END}
        got = made_bars.read(symbol["file"])
        assert got == have, (name, len(got), len(have), sorted(set(got.items()) ^ set(have.items()))[:5])
        first = min(have)
        gaps = {(m["from_ns"] // 10**6, m["to_ns"] // 10**6) for m in symbol["missing"] if m["why"] == "gap"}
        assert gaps == runs(sorted(have), first), (name, gaps)
        before = [m["bars"] for m in symbol["missing"] if m["why"] == "before the listing"]
        assert before == ([1440] if first > BEGIN else []), (name, before)


def replayed(folder, files, transcript, port, *faults):
    """History is what lies before the position, which stands until a client subscribes; always the same server, by its name."""
    more = [word for fault in faults for word in ("--fault", fault)]
    return folder.start(harness.Replay(folder.path, "--bars", *files, "--from", str(NOW), "--transcript", transcript, "--listen",
                                       f"127.0.0.1:{port}", *more))


def through_faults(folder, chance, source, files, port):
    killed, pages_of, requests, whole = 0, [], 0, len(NAMES) * (DAYS * 1440 // PAGE + 1)
    for n in range(KILLS + 1):
        transcript = os.path.join(folder.path, f"transcript-{n}")
        replay = replayed(folder, files, transcript, port, *FAULTS[n % len(FAULTS)])
        if n < KILLS:
            killed += kill_at(replay, folder.path, transcript, chance.randrange(1, whole // KILLS))
        else:
            shown = json.loads(fetch(replay, folder.path, "--json").stdout)
        requests += len(asked(transcript))
        pages_of.append({path for path, status in asked(transcript) if "/klines" in path and status == "200" and "startTime=0&" not in path})
        assert replay.stop() == 0
    compare(source, shown)
    twice = sum(map(len, pages_of)) - len(set().union(*pages_of))  # in one run again only what the replay cut off
    assert twice <= 8 * killed and killed > KILLS / 2, (twice, killed)  # those on their way at a kill
    print(f"{len(NAMES)} symbols, {DAYS} days: {sum(len(bars) for bars in source.values())} bars, killed {killed} times of {KILLS}, "
          f"{sum(map(len, pages_of))} pages in {requests} requests, {twice} asked for twice")


def without_faults(folder, replay, transcript, source):
    """What is there is not asked for again; from nothing, the venue has to refuse nothing."""
    again = json.loads(fetch(replay, folder.path, "--json").stdout)
    assert all(symbol["fetched"] == 0 for symbol in again["symbols"]), again
    shown = json.loads(fetch(replay, folder.path, "--json", "--cache", folder.within("other")).stdout)
    compare(source, shown)
    assert {status for path, status in asked(transcript)} == {"200"}


def zipped(place, name, day, bars, unit=1, header=False, columns=12, wrong=None):
    """A day of the venue's archive, with its sum; `wrong` spoils it. How many bars it has."""
    begin = BEGIN + day * 1440 * MINUTE
    rows = [archives.kline(at, at + MINUTE, values, unit)[:columns] for at, values in bars.items() if begin <= at < begin + 1440 * MINUTE]
    file = f"{name}-1m-{datetime.datetime.fromtimestamp(begin / 1000, datetime.timezone.utc):%Y-%m-%d}"
    return len(rows), archives.write(place, file, rows, archives.KLINES if header else None, wrong=wrong)


def said_apart(done):
    """What a fetch printed to stderr, its waits for the limit apart: a year has some."""
    return [line for line in done.stderr.splitlines() if "its limit is near; trying again in" not in line]


def archived(folder, source, replay):
    """Files of the venue's archive, in both units of time, are read; those that are not right are named, kept, and asked for."""
    place, cache = folder.within("archive"), folder.within("archive-cache")
    inner = os.path.join(place, "data/spot/daily/klines")
    os.makedirs(inner)
    name, other = NAMES[0], NAMES[1]
    good = [zipped(inner, name, 0, source[name])[0], zipped(place, name, 1, source[name], unit=1000, header=True)[0]]
    bad = [(zipped(place, name, 2, source[name], wrong="sum")[1], "another sum"),
           (zipped(place, name, 3, source[name], wrong="truncated")[1], "cut off"),
           (zipped(place, name, 4, source[name], columns=11)[1], "line 1: bars have twelve columns"),
           (zipped(place, name, 5, source[name], wrong="no sum")[1], "no .CHECKSUM file")]
    day = zipped(place, other, 1, source[other])[1]  # of another day than its name says
    for ending in ("", ".CHECKSUM"):
        os.rename(day + ending, day.replace("-02.zip", "-03.zip") + ending)
    bad.append((day.replace("-02.zip", "-03.zip"), "not in the period"))
    done = fetch(replay, folder.path, "--json", "--cache", cache, "--archive", place)
    shown = json.loads(done.stdout)
    compare(source, shown)
    have = {symbol["symbol"]: symbol["archived"] for symbol in shown["symbols"]}
    assert have == {each: sum(good) if each == name else 0 for each in NAMES}, (have, good)
    said = said_apart(done)
    assert len(said) == len(bad), said
    for path, words in bad:
        assert os.path.exists(path) and any(path in line and words in line for line in said), (path, words, said)
    place = folder.within("no-archive")
    done = fetch(replay, folder.path, "--archive", place, "--cache", os.path.join(place, "cache"))
    assert said_apart(done) == [f"papertape: fetch: --archive {place}: no file there is of these symbols, interval and time"], done
    missing = os.path.join(folder.path, "missing")  # a folder that is not there has nothing to do with the network
    line = command(replay, folder.path, "--archive", missing, "--cache", cache)
    line[line.index("--to") + 1] = str(END + 1440 * MINUTE)
    done = subprocess.run(line, capture_output=True, text=True, timeout=harness.PATIENCE)
    assert (done.returncode, done.stderr) == (1, f"papertape: fetch: {missing}: No such file or directory\n"), done
    print(f"archive: {sum(good)} bars from 2 files, {len(bad)} others named and left alone")


def checked(folder, replay, chance):
    """A file as it was fetched agrees; one altered bar, one that lacks and one too many are named."""
    path = os.path.join(folder.path, "out", f"{NAMES[0]}_1m.csv.gz")
    with gzip.open(path, "rt") as file:
        rows = file.read().splitlines()
    line = [harness.PAPERTAPE, "fetch", "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca, "--check"]
    done = harness.run([*line, path])
    assert done.stdout.endswith(f" {len(rows) - 1} rows compared, 0 differences\n"), done
    part = ["--from", rows[100].split(",")[0], "--to", rows[300].split(",")[0]]
    done = harness.run([*line, path, *part])
    assert done.stdout.endswith(" 200 rows compared, 0 differences\n"), done
    altered = os.path.join(folder.path, f"{NAMES[0]}_1m.csv")
    at = chance.randrange(2, len(rows) - 3)
    cells = rows[at].split(",")
    cells[5] = str(decimal.Decimal(cells[5]) + decimal.Decimal("0.00001"))
    whole = rows[at].split(",")
    broken = [*whole[:4], "59906993000000", whole[5]]  # outside low to high, which other readers refuse: only what is another is named
    several = [whole[0], whole[1], whole[3], whole[2], whole[4], "-1"]  # high below low
    for change, words in (([*rows[:at], ",".join(cells), *rows[at + 1:]], {"volume": cells[5]}), ([*rows[:at], *rows[at + 1:]], {None: None}),
                          ([*rows[:at], ",".join(broken), *rows[at + 1:]], {"close": broken[4]}),
                          ([*rows[:at], ",".join(several), *rows[at + 1:]],
                           {**({"high": whole[3], "low": whole[2]} if whole[2] != whole[3] else {}), "volume": "-1"})):
        with open(altered, "w", encoding="utf-8") as file:
            file.write("\n".join(change) + "\n")
        done = subprocess.run([*line, altered, "--json"], capture_output=True, text=True, timeout=harness.PATIENCE)
        shown = json.loads(done.stdout)
        assert done.returncode == 1 and shown["different"] == 1, shown
        assert {d["open_ns"] // 10**6 for d in shown["differences"]} == {int(cells[0])}, shown
        assert len(shown["differences"]) == len(words), shown
        for found in shown["differences"]:
            want, number = words[found["column"]], decimal.Decimal
            assert found["file"] == want if want is None else number(found["file"]) == number(want), (found, words)
    done = subprocess.run([*line, altered], capture_output=True, text=True, timeout=harness.PATIENCE)
    n = done.stdout.count(", the venue has ")
    count = "1 difference" if n == 1 else f"{n} differences in 1 row"
    assert done.returncode == 1 and n == len(words) and done.stdout.endswith(f" {len(rows) - 1} rows compared, {count}\n"), done
    done = harness.run([*line, path, "--symbol", "NOPE"], 1)
    assert f"{path}: NOPE of Binance: the venue does not list it; --venue names another\n" in done.stderr, done
    with open(altered, "w", encoding="utf-8") as file:  # three bars of tomorrow
        file.write("\n".join([*rows, *(",".join([str(NOW + 2880 * MINUTE + i * MINUTE), *rows[-1].split(",")[1:]]) for i in range(3))]) + "\n")
    later = ["--from", rows[-1].split(",")[0]]
    done = harness.run([*line, altered, *later], 1)
    assert "not compared: 3 rows from there on, not whole yet by the venue's clock" in done.stdout, done
    shown = json.loads(subprocess.run([*line, altered, *later, "--json"], capture_output=True, text=True, timeout=harness.PATIENCE).stdout)
    assert shown["not_compared"] == 3 and shown["not_compared_from_ns"] == (NOW + 2880 * MINUTE) * 10**6, shown
    print(f"check: {len(rows) - 1} rows, one altered and one that lacks are named, as are three of tomorrow")


def failing(folder, files):
    """While each page is answered 5xx, a line at each further attempt: what was answered, which it was, and how long it waits. A limit has
    one, too, though it is short, and at the first request."""
    place = folder.within("failing")
    replay = folder.start(harness.Replay(place, "--bars", files[0], "--from", str(NOW), "--fault", "5xx:klines"))
    line = [harness.PAPERTAPE, "fetch", "--symbol", NAMES[0], "--interval", "1m", "--from", "2024-01-01", "--to", "2024-01-03", "-o", place,
            "--cache", place, "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        said = [process.stderr.readline() for _ in range(3)]
        process.terminate()
    waits = [re.fullmatch(r"papertape: fetch: Binance: HTTP 50[0-4].*[^.]; attempt (\d+) of 50 failed, trying again in \d+\.\d s\n", text) for text in said]
    assert all(waits) and [int(wait[1]) for wait in waits] == [1, 2, 3], said
    assert replay.stop() == 0
    for venue, answer in ((harness.Replay, "--bars"), (harness.Alpaca, "--synthetic")):
        limited(folder.within(answer), folder, files, venue)


def limited(place, folder, files, venue):
    if venue is harness.Replay:
        replay, more = folder.start(venue(place, "--bars", files[0], "--from", str(NOW), "--fault", "429:2s")), ["--symbol", NAMES[0], "--from", "2024-01-02"]
    else:
        replay = folder.start(venue(place, "--synthetic", "5", "--from", "2025-12-10T18:00:00Z", "--fault", "429:2s"))
        more = ["--venue", "alpaca", "--keys", replay.keys, "--symbol", "BTC-USD", "--from", "2025-12-10"]
    done = subprocess.run([harness.PAPERTAPE, "fetch", "--interval", "1m", "-o", place + "/", "--cache", place, "--rest-url", replay.urls["rest_url"],
                           "--ca-file", replay.ca, *more], capture_output=True, text=True, timeout=harness.PATIENCE)
    tries = [re.fullmatch(r"papertape: fetch: \w+: HTTP 429.*; attempt (\d+) of 50 failed, trying again in \d\.\d s", line)
             for line in done.stderr.splitlines()]
    # The fault's two seconds pass by the venue's clock: a second attempt may still be within them.
    assert done.returncode == 0 and all(tries) and [int(one[1]) for one in tries] in ([1], [1, 2]), done
    assert replay.stop() == 0


def banned(folder, files):
    """A ban is known to the next run, a backtest, though the one that it was reported to was killed: it waits, says so, and asks nothing."""
    place = folder.within("banned")
    transcript, environment = os.path.join(place, "transcript"), os.environ | {"XDG_CACHE_HOME": place}
    replay = folder.start(harness.Replay(place, "--bars", files[0], "--from", str(NOW), "--transcript", transcript, "--fault", "418:600s"))
    common = ["--interval", "1m", "--from", "2024-01-01", "--to", "2024-01-03", "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca]
    kept = os.path.join(place, "papertape/history", f"binance@{replay.urls['rest_url'].removeprefix('https://')}", "banned_until_ns")
    first = subprocess.Popen([harness.PAPERTAPE, "fetch", "--symbol", NAMES[0], "-o", place, *common], env=environment, stderr=subprocess.DEVNULL)
    harness.wait_for(lambda: os.path.exists(kept), "the ban is kept")
    first.kill()
    first.wait()
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--bars", f"binance:{NAMES[0]}", *common]
    with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as second:
        said = second.stderr.readline()
        second.kill()
    assert said.startswith("papertape: backtest: Binance: the venue has banned this address, as it reported before the start; trying again in "), said
    assert replay.stop() == 0
    assert [status for _, status in asked(transcript)] == ["418"], list(asked(transcript))


def offline(folder, source, replay):
    """What is kept whole, and settled, needs no venue; all else does."""
    shown = json.loads(fetch(replay, folder.path, "--json").stdout)
    compare(source, shown)
    assert all(symbol["requests"] == 0 for symbol in shown["symbols"]), shown
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--interval", "1m", "--from", "2024-01-01", "--to", "2024-01-04", "--ca-file",
            replay.ca, "--bars", f"binance:{NAMES[0]}", "--rest-url", replay.urls["rest_url"]]
    done = harness.run(line, env=os.environ | {"XDG_CACHE_HOME": os.path.join(folder.path, "home")})
    assert " 0 of them fetched now" in done.stderr, done
    lines = [command(replay, folder.path, *more) for more in (["--refresh"], ["--to", str(NOW)], ["--from", "2023-12-01"], ["--symbol", "NOPE"])]
    with concurrent.futures.ThreadPoolExecutor(len(lines)) as pool:  # each tries for some seconds
        for done in pool.map(lambda line: subprocess.run(line, capture_output=True, text=True, timeout=harness.PATIENCE), lines):
            assert done.returncode == 1 and "Failed to connect" in done.stderr, done
            assert (f"; what is kept needs no network: --to {time.strftime('%Y-%m-%d', time.gmtime(END / 1000))}" in done.stderr) == (str(NOW) in done.args), done


def backtested(folder, source, replay):
    """--bars VENUE:SYMBOL is a backtest of the file that fetch makes; what was fetched before is not asked for again."""
    environment = os.environ | {"XDG_CACHE_HOME": folder.within("home")}
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--json", "--interval", "1m", "--from", "2024-01-01", "--to",
            "2024-01-04", "--ca-file", replay.ca]
    ways = ["--bars", f"binance:{NAMES[0]}", "--rest-url", replay.urls["rest_url"]], ["--bars", f"{folder.path}/out/{NAMES[0]}_1m.csv.gz"]
    bars = sum(at < BEGIN + 3 * 1440 * MINUTE for at in source[NAMES[0]])
    shown = []
    for way, words in ((ways[0], f"{bars} bars, {bars} of them fetched now"), (ways[0], f"{bars} bars, 0 of them fetched now"), (ways[1], "")):
        done = harness.run([*line, *way], env=environment)
        assert words in done.stderr, done
        report = json.loads(done.stdout)
        assert all(report["symbols"][0][key] == ("venue" if words else "name") for key in ("lot_from", "tick_from", "quote_from")), report["symbols"]
        shown.append(report["accounts"])
    assert shown[0] == shown[1] == shown[2] and shown[0][0]["trades"] > 0, shown
    backtested_folder([*line], f"{folder.path}/out")
    done = harness.run([*line[:5], *ways[0]], 2, env=environment)
    assert f"--bars binance:{NAMES[0]}: --interval and --from are needed" in done.stderr, done
    print(f"backtest: {shown[0][0]['trades']} trades on {bars} bars, fetched once")


def backtested_folder(line, out):
    """--bars FOLDER is all files in it, of bars, or of --symbol; files of other intervals and trades beside them are not taken."""
    def run(*more, status=0):
        done = subprocess.run([*line, *more], capture_output=True, text=True, timeout=harness.PATIENCE)
        assert done.returncode == status, done
        return json.loads(done.stdout)["accounts"] if status == 0 else done.stderr
    files = [f"{out}/{name}_1m.csv.gz" for name in sorted(NAMES)]
    beside = [f"{out}/{name}" for name in ("BTCUSDT_5m.csv.gz", "BTCUSDT_trades.csv.gz")]
    for path in beside:
        with gzip.open(path, "wt") as file:
            file.write("not read\n")
    assert run("--bars", out) == run("--bars", ",".join(files))
    assert run("--bars", out, "--symbol", f"{NAMES[1]},{NAMES[0]}") == run("--bars", ",".join(file for file in files if NAMES[0] in file or NAMES[1] in file))
    at = line.index("--interval")
    del line[at:at + 2]
    assert "its files are of several intervals: --interval names one" in run("--bars", out, status=2)
    for path in beside:
        os.remove(path)


def parallel(folder, replay):
    """Several processes want one series: what is kept is read by all at once, also while one fetches; what is not, one after the other fetches."""
    home = folder.within("parallel")
    environment = os.environ | {"XDG_CACHE_HOME": home}
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--interval", "1m", "--from", "2024-01-01", "--ca-file", replay.ca,
            "--bars", f"binance:{NAMES[0]}", "--rest-url", replay.urls["rest_url"], "--to"]

    def fetched(process):
        said = process.communicate(timeout=harness.PATIENCE)[1]
        assert process.returncode == 0, said
        return int(re.search(r"bars, (\d+) of them fetched now", said)[1])
    start = functools.partial(subprocess.Popen, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    counts = [fetched(process) for process in [start([*line, "2024-01-03"]) for _ in range(6)]]
    assert sum(n > 0 for n in counts) == 1, counts
    (kept,) = glob.glob(os.path.join(home, "papertape/history/*/*.history"))
    with open(kept, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as a process that fetches it
        assert fetched(start([*line, "2024-01-03"])) == 0
        waiting = start([*line, "2024-01-04"])
        said = waiting.stderr.readline()
        assert said.endswith(f"{kept}: another process fetches it; waits for it\n"), said
    assert fetched(waiting) > 0
    print(f"parallel: {max(counts)} bars fetched once of {len(counts)} processes")


def kept_as_said(done, why, line):
    """How many bars a run without room says are kept; the next does not ask for them."""
    found = re.search(rf"papertape: fetch: {NAMES[0]}: (\d+) bars so far: .*{why}", done.stderr)
    assert found, done
    (again,) = json.loads(harness.run([*line, "--json"]).stdout)["symbols"]
    assert again["bars"] - again["fetched"] == int(found[1]) > 0, (again, found[1])
    return int(found[1])


def full(folder, replay):
    """A limit on the size of files stands for a full disk: a line, the status, and what it says is kept is there."""
    place = folder.within("full")
    line = command(replay, place)
    line[line.index("--symbol") + 1] = NAMES[0]
    kept = os.path.join(place, "cache", f"binance@{replay.urls['rest_url'].removeprefix('https://')}", f"{NAMES[0]}_1m.history")
    done = harness.run(["prlimit", "--fsize=400000:", *line], 1)
    assert 0 < os.path.getsize(kept) <= 400000
    print(f"a full disk: {kept_as_said(done, 'File too large', line)} bars kept, as it says")


def full_disk(folder, replay):
    """The same on a file system of 400 KB in memory, where this machine lets a process mount one of its own."""
    disk, kept, place = (folder.within(name) for name in ("disk", "disk-kept", "disk-out"))
    line = command(replay, place, "--cache", disk)
    line[line.index("--symbol") + 1] = NAMES[0]
    mounted = harness.with_mounts(f"mount -t tmpfs -o size=400k papertape {disk}")
    if not harness.works(mounted):
        print("a full disk: not tried, no file system can be mounted here")
        return
    copied = ["sh", "-c", f'"$@"; status=$?; cp -a {disk}/. {kept}; exit $status', "sh"]
    done = harness.run([*mounted, *copied, *line], 1)
    assert not glob.glob(f"{place}/out/*"), done
    line[line.index("--cache") + 1] = kept
    print(f"a full disk of 400 KB: {kept_as_said(done, 'No space left on device', line)} bars kept, as it says")


def alpaca_pages(replay, path, symbol, **query):
    """All bars of a symbol as REST has them, page by page."""
    bars, token, keys = [], None, {"APCA-API-KEY-ID": "PKTEST", "APCA-API-SECRET-KEY": "hush"}
    while True:
        text = urllib.parse.urlencode({"timeframe": "1Min", "symbols": symbol, "limit": 1000, **query, **({"page_token": token} if token else {})})
        page = json.loads(harness.rest(replay, f"{path}?{text}", headers=keys), parse_float=decimal.Decimal, parse_int=decimal.Decimal)
        bars += page["bars"].get(symbol, [])
        token = page["next_page_token"]
        if not token:
            return {int(datetime.datetime.fromisoformat(bar["t"].replace("Z", "+00:00")).timestamp() * 1000):
                    tuple(bar[key] for key in "ohlcv") for bar in bars}


def alpaca(folder):
    """Stocks raw and adjusted for a split, and crypto: what REST has; each other minute of a stock is closed or had no eligible trade."""
    place = folder.within("alpaca")
    replay = folder.start(harness.Alpaca(place, "--synthetic", "5", "--from", "2025-12-10T18:00:00Z", "--action", "split:AAPL:4:1:2025-12-09"))
    times = {"start": "2025-12-08T00:00:00Z", "end": "2025-12-10T17:59:00Z"}
    for adjustment in ("raw", "split"):
        line = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--symbol", "AAPL,BTC-USD", "--interval", "1m", "--from", "2025-12-08", "--to",
                "2025-12-10T18:00:00Z", "-o", place, "--cache", place, "--keys", replay.keys, "--feed", "sip", "--adjustment", adjustment,
                "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca, "--json"]
        done = harness.run(line)
        stock, coin = json.loads(done.stdout)["symbols"]
        assert made_bars.read(stock["file"]) == alpaca_pages(replay, "/v2/stocks/bars", "AAPL", feed="sip", adjustment=adjustment, **times)
        assert made_bars.read(coin["file"]) == alpaca_pages(replay, "/v1beta3/crypto/us/bars", "BTC/USD", **times)
        reasons = {why: sum(m["bars"] for m in stock["missing"] if m["why"] == why) for why in ("closed", "no eligible trade", "gap")}
        assert reasons["gap"] == 0 and reasons["closed"] == 2 * 480 + 540, reasons  # 20:00 to 4:00 in New York
        assert sum(reasons.values()) + stock["bars"] == 66 * 60, (reasons, stock["bars"])
    line = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--keys", replay.keys, "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca,
            "--check", coin["file"]]
    done = harness.run(line)
    assert done.stdout.endswith(f" {coin['bars']} rows compared, 0 differences\n"), done
    days = stock_bars(replay, place)
    line = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--symbol", "AAPL,BTC-USD", "--interval", "1m", "--from", "2025-12-08", "--to",
            "2025-12-09T12:00:00Z", "-o", place, "--feed", "sip", "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca, "--json"]
    online = json.loads(harness.run([*line, "--keys", replay.keys], env=os.environ | {"XDG_CACHE_HOME": os.path.join(place, "fresh")}).stdout)["symbols"]
    was = [(symbol["bars"], symbol["missing"], made_bars.read(symbol["file"])) for symbol in online]
    listed(replay, place, online[0]["file"])
    line += ["--cache", place]  # without keys, too
    offline = json.loads(harness.run(line).stdout)["symbols"]
    assert [(symbol["bars"], symbol["missing"], made_bars.read(symbol["file"])) for symbol in offline] == was and online[0]["fetched"] > 0, offline
    line[line.index("2025-12-09T12:00:00Z")] = "2025-12-10T12:00:00Z"  # of the last day not all is settled
    done = harness.run(line, 1)
    assert "keys" in done.stderr, done
    print(f"alpaca: {stock['bars']} bars of a stock, {coin['bars']} of a coin; {reasons}; {days} days")


def alpaca_faults(folder):
    """Through answers that end half way, slow ones, 5xx and 429 (it has no 418), killed as pages arrive: the files are those of a venue without faults."""
    place = folder.within("alpaca-faults")
    port = harness.free_port()

    def started(*faults):
        more = [word for fault in faults for word in ("--fault", fault)]
        return folder.start(harness.Alpaca(place, "--synthetic", "5", "--from", "2025-12-10T18:00:00Z", "--listen", f"127.0.0.1:{port}", *more))

    def line(replay, cache):
        return [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--symbol", "AAPL,BTC-USD", "--interval", "1m", "--from", "2025-11-12" if harness.LONG else "2025-12-01", "--to",
                "2025-12-09", "-o", f"{place}/{cache}-out/", "--cache", f"{place}/{cache}", "--keys", replay.keys, "--rest-url", replay.urls["rest_url"], "--ca-file",
                replay.ca, "--json"]

    def kept():
        return sum(map(os.path.getsize, glob.glob(f"{place}/faults/*/*.history")))
    killed = 0
    for faults in ["half-answer"], ["slow-answer:200kB/s"], ["429:1s"]:
        replay, before = started(*faults), kept()
        process = subprocess.Popen(line(replay, "faults"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        harness.wait_for(lambda before=before: process.poll() is not None or kept() > before + 1000, "a page that is kept")
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        assert replay.stop() == 0
    replay = started("5xx" if harness.LONG else "half-answer")
    done = harness.run(line(replay, "faults"))
    shown = json.loads(done.stdout)["symbols"]
    assert replay.stop() == 0
    replay = started()
    whole = json.loads(harness.run(line(replay, "whole")).stdout)["symbols"]
    assert replay.stop() == 0
    for one, other in zip(shown, whole):
        assert made_bars.read(one["file"]) == made_bars.read(other["file"]) and one["bars"] == other["bars"] > 1000 and one["missing"] == other["missing"], (one["symbol"], one["bars"], other)
    assert killed >= 2 and sum(symbol["fetched"] for symbol in shown) < sum(symbol["bars"] for symbol in shown), (killed, shown)
    print(f"alpaca: {sum(symbol['bars'] for symbol in shown)} bars through faults, killed {killed} times")


def listed(replay, place, file):
    """Ticks, lots, quote and class of a backtest are the venue's, also of a file that it knows by its name; and without the venue."""
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross-rsi", "--set", "fast=5,slow=20", "--venue", "alpaca", "--interval", "1m", "--from",
            "2025-12-08", "--to", "2025-12-09T12:00:00Z", "--json", "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca, "--cache",
            os.path.join(place, "market"), "--feed", "sip"]
    shown = []
    for more in (["--bars", "alpaca:AAPL", "--keys", replay.keys], ["--bars", file, "--calendar", "nyse"], None):
        if not more:
            assert replay.stop() == 0
            more = ["--bars", "alpaca:AAPL"]
        done = harness.run([*line, *more])
        report = json.loads(done.stdout)
        (symbol,) = report["symbols"]
        assert symbol["quote"] == "USD" and [symbol[key] for key in ("lot_from", "tick_from", "quote_from")] == ["venue"] * 3, symbol
        assert report["fills"] > 0 and "RULE_PRICE_DECIMALS" not in report["accounts"][0]["refused"], report["accounts"]
        shown.append(report["accounts"])
    assert shown[0] == shown[1] == shown[2]
    print(f"a stock as its venue lists it: {shown[0][0]['trades']} trades")


def stock_bars(replay, place):
    """The venue's own days, and bars of sessions: in parts they are what they are at once, and none lies in what is missing."""
    def get(interval, first, last, more=()):
        line = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--symbol", "AAPL", "--interval", interval, "--from", first, "--to", last, "-o", "-",
                "--cache", os.path.join(place, "parts"), "--keys", replay.keys, "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca, *more]
        done = harness.run(line)
        assert done.stderr.startswith("-: "), done
        return done.stdout.splitlines()[1:]
    days = get("1d", "2025-11-20", "2025-12-10")
    rest = alpaca_pages(replay, "/v2/stocks/bars", "AAPL", timeframe="1Day", start="2025-11-20T00:00:00Z", end="2025-12-09T23:00:00Z", feed="iex",
                        adjustment="raw")
    assert len(days) == len(rest) == 13 and all(day.endswith(",regular") for day in days), (len(days), len(rest))
    for day, (at, values) in zip(days, sorted(rest.items())):
        cells = day.split(",")
        assert int(cells[0]) == at - at % 86400000 and tuple(map(decimal.Decimal, cells[1:6])) == values, (day, values)
    for interval in ("1h", "2h", "4h"):
        whole = get(interval, "2025-12-03", "2025-12-06")
        parts = [row for day in range(3, 6) for row in get(interval, f"2025-12-0{day}", f"2025-12-0{day + 1}")]
        assert whole == parts, (interval, len(whole), len(parts))
    return len(days)


def several(folder, replay, source):
    """One that is not listed does not keep the others from coming; what is asked for again is counted where it is another."""
    place = folder.within("several")
    line = command(replay, place)
    line[line.index("--symbol") + 1:line.index("--symbol") + 2] = [NAMES[0], "--symbol", "NOPE"]
    done = harness.run(line, 1)
    assert done.stderr == "papertape: fetch: NOPE: the venue does not list it\n", done
    assert made_bars.read(os.path.join(place, "out", f"{NAMES[0]}_1m.csv.gz")) == {at: v for at, v in source[NAMES[0]].items() if at < END}
    assert os.listdir(os.path.join(place, "out")) == [f"{NAMES[0]}_1m.csv.gz"]
    again = json.loads(subprocess.run([*line, "--refresh", "--json"], capture_output=True, text=True, timeout=harness.PATIENCE).stdout)["symbols"]
    assert again[0]["fetched"] == again[0]["bars"] > 0 and again[0]["changed"] == 0 and "does not list" in again[1]["error"], again


def refused(folder, replay):
    cases = ((["--venue", "binanse"], 2, "did you mean binance?"), (["--symbol", "NOPE"], 1, "NOPE: the venue does not list it"),
             (["--interval", "7m"], 2, "7m"), (["--adjustment", "split"], 2, "Binance has no --adjustment"), (["--feed", "iex"], 2, "Binance has no --feed"),
             (["--venue", "alpaca", "--feed", "sipp"], 2, "sip"), (["--venue", "alpaca", "--archive", "."], 2, "files of Alpaca are not read"),
             (["--venue", "alpaca", "--symbol", "AAPL"], 1, "keys"), (["--from", "1900-01-01"], 2, "1970"),
             *[(["--rest-url", url], 2, f"--rest-url {url}: a URL like https://HOST:PORT is needed") for url in ("http://127.0.0.1:1", "127.0.0.1")],
             (["--rest-url", "https://127.0.0.1:1"], 1, "Binance: 127.0.0.1: Failed to connect"))
    for more, status, words in cases:
        line = command(replay, folder)
        for option, value in zip(more[::2], more[1::2]):
            if option in line:
                line[line.index(option) + 1] = value
            else:
                line += [option, value]
        done = subprocess.run(line, capture_output=True, text=True, timeout=harness.PATIENCE)
        assert done.returncode == status and words in done.stderr and done.stderr.count("\n") == 1, (more, done)


def by_one_venue(folder, chance, source, files):
    port = harness.free_port()
    through_faults(folder, chance, source, files, port)
    transcript = os.path.join(folder.path, "transcript")
    replay = replayed(folder, files, transcript, port)
    without_faults(folder, replay, transcript, source)
    archived(folder, source, replay)
    checked(folder, replay, chance)
    several(folder, replay, source)
    backtested(folder, source, replay)
    parallel(folder, replay)
    full(folder, replay)
    full_disk(folder, replay)
    refused(folder.path, replay)
    assert replay.stop() == 0
    offline(folder, source, replay)


def main():
    chance = random.Random(SEED)
    with harness.Folder() as folder:
        place = folder.within("source")
        source = {name: make(chance, name) for name in NAMES}
        files = [made_bars.write(place, name, bars) for name, bars in source.items()]
        harness.together(folder, lambda folder: by_one_venue(folder, chance, source, files), alpaca, alpaca_faults,
                         lambda folder: banned(folder, files), lambda folder: failing(folder, files))


main()
