#!/usr/bin/env python3
"""What else `papertape fetch` promises: files of a month of the archive; what it leaves in the market store's cache, for files and for VENUE:SYMBOL; a bar that
the venue corrected, of which both versions are kept; prices adjusted for a split, a dividend and both, computed here; Binance US; the bar on a terminal, with
bars/s and the time left; a file named as a venue's symbol; no room for the file; intervals that a venue lacks, and bars that it no longer has."""

import calendar
import datetime
import decimal
import fcntl
import glob
import http.server
import json
import os
import pty
import random
import re
import socket
import struct
import subprocess
import threading

import archives
import harness
import made_bars
import receivers

SEED = int(os.environ.get("PAPERTAPE_SEED", "29"))
MINUTE, DAY = 60000, 86400000
BEGIN = 1735603200000  # 2024-12-31
END = BEGIN + 4 * DAY
NOW = END + 2 * DAY
NAMES = ["BTCUSDT", "ETHUSDT", "BNBUSDT"]
D = decimal.Decimal


def asking(replay):
    return ["--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca]


def command(replay, place, *more, symbols=NAMES):
    return [harness.PAPERTAPE, "fetch", "--symbol", ",".join(symbols), "--interval", "1m", "--from", str(BEGIN), "--to", str(END), "-o", f"{place}/out/", "--cache",
            f"{place}/cache", *asking(replay), *more]


def month_file(place, name, year, month, bars, unit=1, header=False, wrong=None, inner=None, columns=12):
    begin = int(datetime.datetime(year, month, 1, tzinfo=datetime.timezone.utc).timestamp()) * 1000
    end = begin + calendar.monthrange(year, month)[1] * DAY
    rows = [archives.kline(at, at + MINUTE, values, unit)[:columns] for at, values in bars.items() if begin <= at < min(end, END)]
    of = f"-1m-{year}-{month:02}"
    return archives.write(place, name + of, rows, archives.KLINES if header else None, inner and inner + of, wrong), len(rows)


def months(folder, replay, source):
    """A month a file, milliseconds in the first and microseconds in the next; bad ones are named, kept, and asked for."""
    place, (btc, eth, bnb) = folder.within("months"), NAMES
    good = month_file(place, btc, 2024, 12, source[btc])[1] + month_file(place, btc, 2025, 1, source[btc], unit=1000, header=True)[1]
    bad = [(month_file(place, eth, 2024, 12, source[eth], wrong="sum")[0], "another sum"),
           (month_file(place, eth, 2025, 1, source[eth], unit=1000, wrong="truncated")[0], "cut off"),
           (month_file(place, bnb, 2024, 12, source[bnb], columns=11)[0], "line 1: bars have twelve columns"),
           (month_file(place, bnb, 2025, 1, source[bnb], unit=1000, inner=eth)[0], "of another symbol")]
    done = harness.run(command(replay, place, "--json", "--archive", place))
    shown = json.loads(done.stdout)["symbols"]
    assert [made_bars.read(symbol["file"]) for symbol in shown] == [{at: v for at, v in source[name].items() if at < END} for name in NAMES]
    assert [symbol["archived"] for symbol in shown] == [good, 0, 0], shown
    said = done.stderr.splitlines()
    assert len(said) == len(bad), said
    for path, words in bad:
        assert os.path.exists(path) and any(path in line and words in line for line in said), (path, words, said)
    return good


def ready(folder, replay):
    """A backtest of what was fetched maps its market; so does one of a venue's history, from its second run on, until there are new bars."""
    place = folder.within("ready")
    symbols = sorted(NAMES)
    harness.run(command(replay, place, symbols=NAMES[:2]))
    line = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--json", "--cache", f"{place}/cache", "--bars"]
    shown = json.loads(harness.run([*line, f"{place}/out"]).stdout)
    assert shown["cached"] and shown["source_bytes"] == 0, shown
    apart = json.loads(harness.run([*line, f"{place}/out", "--cache", f"{place}/cache/apart"]).stdout)
    assert not apart["cached"] and apart["accounts"] == shown["accounts"] and shown["fills"] > 0
    line = [*line, ",".join(f"binance:{name}" for name in symbols), "--interval", "1m", "--from", str(BEGIN), *asking(replay), "--to"]
    accounts, temporary = [], folder.within("temporary")
    for end, cached in ((END - DAY, False), (END - DAY, True), (END, False), (END, True)):
        made = os.path.getmtime(temporary)
        found = json.loads(harness.run([*line, str(end)], env=os.environ | {"TMPDIR": temporary}).stdout)
        assert found["cached"] == cached, (end, cached, found)
        accounts.append(found["accounts"])
        assert os.path.getmtime(temporary) > made and not os.listdir(temporary), os.listdir(temporary)  # its files were there
    assert accounts[0] == accounts[1] != accounts[2] == accounts[3], accounts


def blocked(process):
    """Does it wait for the reader of its stdout?"""
    with open(f"/proc/{process.pid}/syscall", encoding="utf-8") as file:
        return file.read().split()[1:2] == ["0x1"]


def shown_first(folder, replay):
    """What was fetched is shown before its market is made: while stdout has no room there is none. With --no-cache there is none at all."""
    place = folder.within("shown")
    for more, markets in (["--no-cache"], 0), ([], 1):
        ours, theirs = os.pipe()
        room = fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
        os.write(theirs, bytes(room))
        with subprocess.Popen(command(replay, place, *more, symbols=NAMES[:2]), stdout=theirs) as process:
            os.close(theirs)
            harness.wait_for(lambda: process.poll() is not None or blocked(process), "it prints")
            assert process.poll() is None and not glob.glob(f"{place}/cache/*.market")
            with open(ours, "rb") as file:
                said = file.read()[room:].decode()
        assert process.returncode == 0 and said.count(" of them fetched in ") == 2, said
        assert len(glob.glob(f"{place}/cache/*.market")) == markets


def stopped(folder, replay):
    """A stop ends the writing of a file, and says what is kept; also of bars that no venue is asked for."""
    place, name = folder.within("stopped"), NAMES[0]
    line = command(replay, place, symbols=[name])
    line[line.index("-o") + 1] = "-"
    whole = harness.run(line).stdout
    for end in (END, NOW):  # what is kept, and is not asked for; what the venue is asked for
        line[line.index("--to") + 1] = str(end)
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            first = os.read(process.stdout.fileno(), 1)
            process.terminate()
            rest, said = process.communicate(timeout=harness.PATIENCE)
        part = (first + rest).decode()
        assert process.returncode == 1 and said == b"papertape: fetch: stopped; what has arrived is kept, and the same command continues\n", said
        assert part and len(part) < len(whole) and whole.startswith(part), (len(part), len(whole))


def let_go(folder, replay):
    """A sweep of a venue's history holds it no longer than it reads it: others fetch while it runs."""
    place, name = folder.within("let-go"), NAMES[0]
    line = [harness.PAPERTAPE, "sweep", "--strategy", "sma-cross", "--grid", "fast=2:200:1", "--grid", "slow=201:1200:1", "--bars", f"binance:{name}", "--interval", "1m",
            "--from", str(BEGIN), "--to", str(NOW), "--cache", f"{place}/cache", "--yes", *asking(replay)]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as sweep:
        said = []
        while not said or (said[-1] and "199000 combinations, about" not in said[-1]):
            said.append(sweep.stderr.readline())
        assert said[-1], said
        done = harness.run([*command(replay, place, symbols=[name]), "--refresh"])
        assert sweep.poll() is None and done.stderr == "", done
        sweep.kill()


def corrected(folder, files, source, chance):
    """--refresh counts the bar that is another by now, and has it in the file; the history has both."""
    place, name = folder.within("corrected"), NAMES[0]
    port = harness.free_port()
    at = chance.choice([at for at in source[name] if at < END])
    old = source[name][at]
    new = (old[0], old[1] + D("1.07"), *old[2:])
    again = made_bars.write(folder.within("altered"), name, {**source[name], at: new})
    for path, want, changed in ((files[0], old, 0), (again, new, 1), (again, new, 0)):
        replay = folder.start(harness.Replay(place, "--bars", path, "--from", str(NOW), "--listen", f"127.0.0.1:{port}"))
        (symbol,) = json.loads(harness.run(command(replay, place, "--json", "--refresh", symbols=[name])).stdout)["symbols"]
        assert made_bars.read(symbol["file"])[at] == want and symbol["changed"] == changed, (symbol, want)
        assert replay.stop() == 0
    with open(os.path.join(place, "cache", f"binance@127.0.0.1:{port}", f"{name}_1m.history"), "rb") as kept:
        scale = json.loads(kept.readline())["price_scale"]
        whole = kept.read()
    for values in (old, new):
        assert whole.count(struct.pack("<qqq", at * 10**6, int(values[0] * 10**scale), int(values[1] * 10**scale))) == 1, values


def adjusted(folder):
    """Before a split of 4 for 1 prices are a quarter and volumes four times; before a dividend all prices have lost one share, by the price before its day."""
    place = folder.within("adjusted")
    cash = D("5.00")
    replay = folder.start(harness.Alpaca(place, "--synthetic", "5", "--from", "2025-12-10T18:00:00Z", "--action", "split:AAPL:4:1:2025-12-09", "--action",
                                         f"dividend:AAPL:{cash}:2025-12-10"))
    bars = {}
    for adjustment in ("raw", "split", "dividend", "all"):
        line = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--symbol", "AAPL", "--interval", "1m", "--from", "2025-12-08", "--to", "2025-12-10T18:00:00Z", "-o",
                f"{place}/{adjustment}.csv.gz", "--cache", place, "--keys", replay.keys, "--feed", "sip", *asking(replay)]
        harness.run(line if adjustment == "raw" else [*line, "--adjustment", adjustment])
        bars[adjustment] = made_bars.read(f"{place}/{adjustment}.csv.gz")
    raw = bars["raw"]
    split_day, paid_day = (int(datetime.datetime(2025, 12, day, 5, tzinfo=datetime.timezone.utc).timestamp() * 1000) for day in (9, 10))  # in New York
    (last,) = [values[3] for at, values in raw.items() if at == max(at for at in raw if at < paid_day)]
    share = {(raw[at][0] - bars["dividend"][at][0]) / raw[at][0] for at in raw if at < paid_day}
    assert abs(cash / last - sum(share) / len(share)) < cash / last / 20, (cash / last, share)  # the price moves on through the night
    price = cash / (sum(share) / len(share))
    for at, values in raw.items():
        quarter, less = (4 if at < split_day else 1), (1 - cash / price if at < paid_day else 1)
        for adjustment, factor, times in (("split", D(1) / quarter, quarter), ("dividend", D(less), 1), ("all", D(less) / quarter, quarter)):
            got = bars[adjustment][at]
            assert got[4] == values[4] * times, (adjustment, at, got, values)
            assert all(abs(have - was * factor) <= D("0.02") for have, was in zip(got[:4], values[:4])), (adjustment, at, got, values)
    assert min(share) > 0 and all(bars[adjustment].keys() == raw.keys() for adjustment in bars)
    assert replay.stop() == 0
    return len(raw)


def on_terminal(folder, files):
    """A bar with bars/s and the time left, which is gone at the end."""
    place = folder.within("terminal")
    replay = folder.start(harness.Replay(place, "--bars", files[0], "--from", str(NOW), "--fault", "slow-answer:400kB/s"))
    ours, theirs = pty.openpty()
    said = b""
    with subprocess.Popen(command(replay, place, symbols=NAMES[:1]), stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        try:
            while part := os.read(ours, 4096):
                said += part
        except OSError:  # the other end is closed
            pass
        assert process.wait(timeout=harness.PATIENCE) == 0, said
    os.close(ours)
    shown = [re.fullmatch(r"fetch \[#* *\] +(\d+) %  \d+\.\d s  ?(\d+) bars/s(?:  (\d+) s left)?.*", text) for text in said.decode().split("\r") if "%" in text]
    assert len(shown) > 3 and all(shown) and said.endswith(b"\r\x1b[K"), said
    assert any(text[3] and int(text[2]) > 0 for text in shown) and [int(text[1]) for text in shown] == sorted(int(text[1]) for text in shown), said
    assert replay.stop() == 0
    return len(shown)


def named_as_file(folder, files):
    place = folder.within("named")
    word = f"binance:{NAMES[0]}"
    os.link(files[0], os.path.join(place, word))
    done = harness.run([harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--json", "--no-cache", "--bars", word, "--symbol", NAMES[0], "--rest-url", "https://127.0.0.1:1"],
               cwd=place)
    assert f"papertape: backtest: note: {word} is a file here, which is read; nothing is fetched for it\n" in done.stderr, done
    assert json.loads(done.stdout)["source_bytes"] == os.path.getsize(files[0])


def other_venue(folder, replay, source):
    """Binance US is Binance with other hosts, and another history."""
    place = folder.within("us")
    (symbol,) = json.loads(harness.run(command(replay, place, "--json", "--venue", "binance-us", symbols=NAMES[1:2])).stdout)["symbols"]
    assert made_bars.read(symbol["file"]) == {at: v for at, v in source[NAMES[1]].items() if at < END}
    (kept,) = [name for name in os.listdir(f"{place}/cache") if name.startswith("binance-us@")]
    assert f"{NAMES[1]}_1m.history" in os.listdir(f"{place}/cache/{kept}")
    days = harness.run([harness.PAPERTAPE, "fetch", "--venue", "binance-us", "--check", symbol["file"], *asking(replay)])
    assert days.stdout.endswith(f" {symbol['bars']} rows compared, 0 differences\n"), days


def not_kept(folder, replay, source):
    """Bars of a second, of which the replay keeps the latest: the symbol was there before, as its first day shows; and before that it was not."""
    place, name = folder.within("seconds"), NAMES[2]
    line = command(replay, place, "--json", symbols=[name])
    line[line.index("1m")], line[line.index(str(BEGIN))], line[line.index(str(END))] = "1s", str(BEGIN - 3600000), str(NOW)
    (symbol,) = json.loads(harness.run(line).stdout)["symbols"]
    rows = made_bars.read(symbol["file"])
    first = min(rows)
    runs = [(m["from_ns"] // 10**6, m["to_ns"] // 10**6, m["bars"], m["why"]) for m in symbol["missing"]]
    assert runs[:2] == [(BEGIN - 3600000, BEGIN, 3600, "before the listing"), (BEGIN, first, (first - BEGIN) // 1000, "before the venue's first bar")], runs[:3]
    assert BEGIN == min(source[name]) < first and len(rows) > 1000, (first, len(rows))
    text = harness.run([word for word in line if word != "--json"]).stdout
    assert f"; before the listing 3600; before the venue's first bar {(first - BEGIN) // 1000}" in text, text
    line[line.index(str(NOW))] = str(NOW - 2 * DAY)
    return line


def not_kept_offline(line):
    """The same, of what no longer changes, once the venue is gone."""
    (symbol,) = json.loads(harness.run(line).stdout)["symbols"]
    assert symbol["requests"] == 0 and [m["why"] for m in symbol["missing"]] == ["before the listing", "before the venue's first bar"], symbol


class Refusing:
    """A server before the replay that refuses bars of a day, as a venue that has none of them."""

    def __init__(self, folder, replay):
        pair = receivers.certificate(folder)
        self.ca, self.refused = pair[1], 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, body = 400, b'{"code":-1120,"msg":"Invalid interval."}'
                if "interval=1d" in self.path:
                    outer.refused += 1
                else:
                    status, body = 200, harness.rest(replay, self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket = receivers.tls(pair).wrap_socket(self.server.socket, server_side=True)
        self.urls = {"rest_url": f"https://127.0.0.1:{self.server.server_address[1]}"}
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def without_days(folder, replay, source):
    """Where the venue refuses its first bar of a day, the bars are there all the same; that is asked again, since it may have been a passing fault."""
    place, name = folder.within("without-days"), NAMES[1]
    server = Refusing(folder.within("server"), replay)
    line = command(server, place, "--json", symbols=[name])
    line[line.index(str(BEGIN))] = str(BEGIN - DAY)
    for asked in (1, 2):
        (symbol,) = json.loads(harness.run(line).stdout)["symbols"]
        assert made_bars.read(symbol["file"]) == {at: v for at, v in source[name].items() if at < END}, symbol
        assert symbol["missing"][0] == {"from_ns": (BEGIN - DAY) * 10**6, "to_ns": BEGIN * 10**6, "bars": 1440, "why": "before the listing"}, symbol["missing"]
        assert server.refused == asked, (server.refused, asked)
    server.server.shutdown()


def no_room(folder, replay):
    """Where the file has no room the line says so; what was fetched is kept, and the same command elsewhere needs no request."""
    place, name = folder.within("no-room"), NAMES[0]
    line = command(replay, place, symbols=[name])
    at = line.index("-o") + 1
    line[at] = "/dev/full"
    assert harness.run(line, 1).stderr == "papertape: fetch: /dev/full: No space left on device\n"
    line[at] = f"{place}/{name}_1m.csv.gz"
    (symbol,) = json.loads(harness.run([*line, "--json"]).stdout)["symbols"]
    assert symbol["requests"] == 0 and symbol["bars"] == len(made_bars.read(symbol["file"])) > 0, symbol


def lacked(folder, replay):
    """An interval that no venue has is a wrong option; one that this venue has not is said by symbol."""
    line = command(replay, folder.path, symbols=NAMES[:1])
    line[line.index("1m")] = "7m"
    said = harness.run(line, 2).stderr
    assert said.startswith("papertape: fetch: --interval: ") and "1s, 1m, 3m, 5m" in said and "1mo" in said, said
    alpaca = folder.start(harness.Alpaca(folder.within("lacked"), "--synthetic", "5", "--from", "2025-12-10T18:00:00Z"))
    for symbol, interval, words in (("BTC/USD", "1s", "the venue has no bars of this interval"), ("AAPL", "1s", "the venue has no bars of this interval"),
                                    ("AAPL", "3d", "bars of a stock are of a day at most")):
        line = [harness.PAPERTAPE, "fetch", "--venue", "alpaca", "--symbol", symbol, "--interval", interval, "--from", "2025-12-01", "-o", f"{folder.path}/none/", "--cache",
                folder.path, "--keys", alpaca.keys, *asking(alpaca)]
        assert harness.run(line, 1).stderr == f"papertape: fetch: {symbol}: {words}\n"
    assert alpaca.stop() == 0


def main():
    chance = random.Random(SEED)
    with harness.Folder() as folder:
        source = {name: made_bars.make(chance, BEGIN, 0, (NOW - BEGIN) // MINUTE + 60, [(700 + i, 760)]) for i, name in enumerate(NAMES)}
        place = folder.within("source")
        files = [made_bars.write(place, name, bars) for name, bars in source.items()]
        replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--from", str(NOW)))
        print(f"archive: {months(folder, replay, source)} bars from two months' files", flush=True)
        ready(folder, replay)
        shown_first(folder, replay)
        stopped(folder, replay)
        let_go(folder, replay)
        corrected(folder, files, source, chance)
        print(f"adjusted: {adjusted(folder)} bars of a stock in four ways", flush=True)
        print(f"terminal: {on_terminal(folder, files)} times shown", flush=True)
        named_as_file(folder, files)
        other_venue(folder, replay, source)
        seconds = not_kept(folder, replay, source)
        without_days(folder, replay, source)
        no_room(folder, replay)
        lacked(folder, replay)
        assert replay.stop() == 0
        not_kept_offline(seconds)


main()
