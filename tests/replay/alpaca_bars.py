"""papertape-replay --venue alpaca --bars: what streams and what REST gives is the file's, quotes and trades agree with it and with
each other, stocks trade by the calendar, and a plan has its limits.

usage: alpaca_bars.py PROGRAM"""

import collections
import csv
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal

from venue import Venue

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "fixtures"))
import stock_bars

PROGRAM = sys.argv[1]
KEYS = {"APCA-API-KEY-ID": "k", "APCA-API-SECRET-KEY": "s"}
FIRST, END = datetime.date(2025, 11, 26), datetime.date(2025, 12, 2)  # a holiday, a half day and a weekend
DAY_S = 86400


class Alpaca(Venue):
    """Ends well, and says nothing."""

    def __init__(self, *args):
        super().__init__(PROGRAM, "--venue", "alpaca", "--speed", "max", *args)

    def __exit__(self, kind, *rest):
        if kind is None:
            assert (ended := self.stop()) == (0, ""), ended
        super().__exit__(kind, *rest)

    def ask(self, path, status=200):
        got, _, body = self.get(path, headers=KEYS)
        assert got == status, (path, got, body)
        return body

    def stream(self, path, **channels):
        """A socket that has subscribed, and the answer."""
        s = self.socket(path, KEYS)
        assert [exact(s)[0]["msg"] for _ in range(2)] == ["connected", "authenticated"]
        s.say({"action": "subscribe", **channels})
        return s, exact(s)[0]


def exact(socket):
    """A frame's messages, numbers as they stand."""
    return json.loads(socket.text(), parse_float=Decimal, parse_int=Decimal)


def second(text):
    return int(datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp())


def to_end(socket, last, stop=lambda m: False):
    """All messages until the bar of that second of each symbol came: {symbol: opening second}."""
    got, left = [], dict(last)
    while left:
        for m in exact(socket):
            got.append(m)
            if m["T"] == "b" and left.get(m["S"]) == second(m["t"]):
                del left[m["S"]]
            if stop(m):
                return got
    return got


def rows_of(path):
    """{second: (o, h, l, c, v)} of a file."""
    with open(path, encoding="ascii") as f:
        return {int(datetime.datetime.fromisoformat(r["open_time"]).timestamp()):
                tuple(Decimal(r[k]) for k in ("open", "high", "low", "close", "volume")) for r in csv.DictReader(f)}


def write(path, rows):
    with open(path, "w", encoding="ascii") as f:
        print("open_time,open,high,low,close,volume", file=f)
        for at, *values in rows:
            print(datetime.datetime.fromtimestamp(at, datetime.timezone.utc).isoformat(sep=" "), *values, sep=",", file=f)


def values(m):
    return tuple(m[k] for k in "ohlcv")


def pair_rows(rng):
    """Minutes of a pair, day and night; one in twenty is missing, one in twenty has no volume."""
    price = 90000.0
    for at in range(stock_bars.at(FIRST, 0), stock_bars.at(END, 0), 60):
        o, *rest, c = [price := price * (1 + 3e-4 * (rng.random() - 0.5)) for _ in range(4)]
        volume, kind = f"{rng.random() * 3:.8f}", rng.randrange(20)
        if kind == 0:
            continue
        if kind == 1:
            rest, c, price, volume = [o], o, o, "0"
        yield (at, *(f"{x:.2f}" for x in (o, max(o, c, *rest), min(o, c, *rest), c)), volume)


def check_minute(name, at, bar, trades, quotes):
    """One bar of a file, against what came of it: in order, a quote before each trade."""
    o, h, l, c, v = bar
    days = [d for d in stock_bars.trading_days(FIRST, END) if d.early <= at < d.late]
    if v == 0:
        return not trades and not quotes
    assert (trades[0]["p"], trades[-1]["p"], sum(t["s"] for t in trades)) == (o, c, v), (name, at, bar, trades)
    assert v < 4 or (max(t["p"] for t in trades), min(t["p"] for t in trades)) == (h, l), (name, at, bar, trades)
    assert len(trades) == len(quotes) and all(t["s"] > 0 for t in trades)
    for t, q in zip(trades, quotes):
        assert q["t"].rstrip("Z") < t["t"].rstrip("Z") and q["bp"] < q["ap"], (t, q)
        assert t["p"] in (q["bp"], q["ap"]) and min(q["bs"], q["as"]) > 0, (t, q)
        assert h == l or l <= q["bp"] and q["ap"] <= h, (bar, q)
    if "/" not in name:
        session = days[0].session(at)
        assert all(("T" in t["c"]) == (session != "regular") and "I" not in t["c"] for t in trades)
        assert [i for i, t in enumerate(trades) if "O" in t["c"]] == ([0] if at == days[0].open else [])
        assert not any(letter in t["c"] for t in trades for letter in "6M")
    return True


def check_all(name, got, rows, official=True):
    """A symbol's messages against its file."""
    mine = collections.defaultdict(lambda: {"t": [], "q": [], "b": []})
    closings = []
    for m in got:
        if m["T"] == "t" and m["S"] == name and "M" in m.get("c", ()):
            closings.append((second(m["t"]), m["p"], m["x"]))  # no trade of its own
        elif m["S"] == name and m["T"] in "tqb":
            mine[second(m["t"]) // 60 * 60][m["T"]].append(m)
    assert set(mine) == set(rows), (name, set(mine) ^ set(rows))
    for at, bar in rows.items():
        m = mine[at]
        assert [values(b) for b in m["b"]] == [bar] and m["b"][0]["n"] == len(m["t"]), (name, at, m["b"], bar)
        assert check_minute(name, at, bar, m["t"], m["q"])
    if "/" not in name and official:
        days = [[day.close, *[bar[3] for at, bar in rows.items() if day.open <= at < day.close and bar[4] > 0][-1:], "Q"]
                for day in stock_bars.trading_days(FIRST, END)]
        assert closings == [tuple(day) for day in days if len(day) == 3], (name, closings, days)


def page_all(venue, path, name, **args):
    out, token = [], None
    while token != "":
        query = "&".join(f"{k}={v}" for k, v in {"symbols": name, "timeframe": "1Min", "limit": "5000", **args}.items())
        body = venue.ask(f"{path}?{query}" + (f"&page_token={token}" if token else ""))
        out += body["bars"].get(name, [])
        token = (body["next_page_token"] or "").replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    return out


def test_stream(folder):
    """A few days with a holiday and a half day, of both classes."""
    paths = stock_bars.write_all(folder, ["F", "BRK-B"], FIRST, END)
    paths.append(os.path.join(folder, "BTC-USD_1m.csv"))
    write(paths[-1], pair_rows(random.Random(3)))
    rows = dict(zip(("F", "BRK.B", "BTC/USD"), map(rows_of, paths)))
    last = {name: max(r) for name, r in rows.items()}
    both = {"trades": ["*"], "quotes": ["*"], "bars": ["*"]}
    with Alpaca("--bars", *paths) as v:
        assert [a["symbol"] for a in v.ask("/v2/assets")] == list(rows)
        assert v.ask("/v2/assets/F")["shortable"], "a file's stock is denied nothing, whatever the synthetic one of its name is"
        assert v.ask("/v2/assets/BRK.B")["class"] == "us_equity" and v.ask("/v2/assets/BTCUSD")["class"] == "crypto"
        coins, _ = v.stream("/v1beta3/crypto/us", **both)
        got = to_end(coins, {"BTC/USD": last["BTC/USD"]})
        check_all("BTC/USD", got, rows["BTC/USD"])
        clock = v.ask("/v2/clock")
        assert not clock["is_open"] and clock["next_open"] == "2025-12-02T09:30:00-05:00", clock
        for name, path in (("F", "/v2/stocks/bars"), ("BRK.B", "/v2/stocks/bars"), ("BTC/USD", "/v1beta3/crypto/us/bars")):
            bars = page_all(v, path, name, start=FIRST)
            assert {second(b["t"]): tuple(map(float, values(b))) for b in bars} == \
                {at: tuple(map(float, bar)) for at, bar in rows[name].items()}, name
        settles = [d["settlement_date"] for d in v.ask("/v2/calendar?start=2025-10-10&end=2025-10-13")]
        assert settles == ["2025-10-14", "2025-10-14"], settles  # banks are closed on Columbus Day
        days = {d["date"]: d["close"] for d in v.ask("/v2/calendar?start=2025-11-26&end=2025-12-01")}
        assert days == {"2025-11-26": "16:00", "2025-11-28": "13:00", "2025-12-01": "16:00"}, days
    streams = []
    for feed in ("sip", "iex"):
        with Alpaca("--bars", *paths) as v:
            stocks, _ = v.stream(f"/v2/{feed}", **both)
            streams.append(to_end(stocks, {n: last[n] for n in ("F", "BRK.B")}))
            for name in ("F", "BRK.B"):
                check_all(name, streams[-1], rows[name], official=feed == "sip")
    assert [m for m in streams[0] if m["T"] != "t" or "M" not in m["c"]] == streams[1]


def test_history(folder):
    """Before --from the file is REST's history."""
    paths = stock_bars.write_all(folder, ["F"], FIRST, END)
    rows = rows_of(paths[0])
    with Alpaca("--bars", *paths, "--from", "2025-12-01T14:30:00Z") as v:
        assert v.ask("/v2/clock")["is_open"]
        mourning = [d["date"] for d in v.ask("/v2/calendar?start=2025-01-08&end=2025-01-10")]
        assert mourning == ["2025-01-08", "2025-01-10"], mourning
        assert len(page_all(v, "/v2/stocks/bars", "F", start=FIRST)) == sum(at < second("2025-12-01T14:30:00") for at in rows)


def test_quiet(folder):
    """Quiet bars at the start and on both sides of a gap are history as the file has them, from 1970 on in one page; days and weeks too."""
    path, at, rows = os.path.join(folder, "BTC-USD_1m.csv"), 1735689600, []
    for count, volume, gap in ((5, 0, 0), (5, 2, 0), (10, 0, 10), (3, 0, 0), (5, 1, 0), (3, 0, 5), (20, 1, 0)):
        rows += [(at + i * 60, 100, 100, 100, 100, volume) for i in range(count)]
        at += (count + gap) * 60
    write(path, rows)
    before = [row for row in rows if row[0] < rows[-5][0]]
    with Alpaca("--bars", path, "--from", datetime.datetime.fromtimestamp(rows[-5][0], datetime.timezone.utc).strftime("%FT%TZ")) as v:
        ask = "/v1beta3/crypto/us/bars?symbols=BTC/USD&start=1970-01-01&"
        got = v.ask(ask + "timeframe=1Min&limit=1000")
        assert [(second(m["t"]), *map(int, values(m))) for m in got["bars"]["BTC/USD"]] == before and not got["next_page_token"], got
        assert second(v.ask(ask + "timeframe=1Min&limit=1")["bars"]["BTC/USD"][0]["t"]) == rows[0][0]
        for timeframe, first in (("1Day", "2025-01-01"), ("1Week", "2024-12-30"), ("1Month", "2025-01-01")):
            got = v.ask(ask + f"timeframe={timeframe}&limit=10")["bars"]["BTC/USD"]
            assert len(got) == 1 and got[0]["t"][:10] == first and int(got[0]["v"]) == sum(row[5] for row in before), (timeframe, got)
        got = v.ask("/v1beta3/crypto/us/trades?symbols=BTC/USD&start=1970-01-01&limit=1")["trades"]["BTC/USD"]
        assert second(got[0]["t"]) // 60 * 60 == next(row[0] for row in rows if row[5]), got


def test_longer(folder):
    """Longer bars: the minutes of each add up to it, within its session."""
    paths = stock_bars.write_all(folder, ["MSFT"], FIRST, END, ("1h",), regular=True)
    day = os.path.join(folder, "SPY_1d.csv")
    dates = [d.date for d in stock_bars.trading_days(FIRST, END)]
    write(day, [(int(datetime.datetime(d.year, d.month, d.day, tzinfo=datetime.timezone.utc).timestamp()), 600 + i, 610 + i,
                 590, 605 + i, 10**6) for i, d in enumerate(dates)])
    with Alpaca("--bars", *paths, day, "--straddle", "keep") as v:
        stocks, _ = v.stream("/v2/sip", bars=["MSFT", "SPY"])
        got = to_end(stocks, {"SPY": stock_bars.at(dates[-1], 15, 59)})
        for name, spans in (("MSFT", {at: (at, at + 3600, bar) for at, bar in rows_of(paths[0]).items()}),
                            ("SPY", {d.open: (d.open, d.close, bar) for d, bar in
                                     zip(stock_bars.trading_days(FIRST, END), rows_of(day).values())})):
            for begin, end, (o, h, l, c, volume) in spans.values():
                bars = [m for m in got if m["S"] == name and begin <= second(m["t"]) < end]
                assert (bars[0]["o"], max(m["h"] for m in bars), min(m["l"] for m in bars), bars[-1]["c"],
                        sum(m["v"] for m in bars)) == (o, h, l, c, volume), (name, begin)
            assert all(any(begin <= second(m["t"]) < end for begin, end, _ in spans.values()) for m in got if m["S"] == name)


def test_actions(folder):
    """A name changes on a day; the asset list and the actions say so, and the history is the new one's."""
    paths = stock_bars.write_all(folder, ["OLD"], FIRST, END)
    rows = rows_of(paths[0])
    change = stock_bars.at(datetime.date(2025, 12, 1), 4)
    with Alpaca("--bars", *paths, "--action", "rename:OLD:NEW:2025-12-01", "--action", "split:OLD:2:1:2025-11-28",
                "--asset", "OLD:hard-to-borrow") as v:
        assert [a["symbol"] for a in v.ask("/v2/assets")] == ["OLD"]
        asset = v.ask("/v2/assets/OLD")
        assert (asset["shortable"], asset["easy_to_borrow"], asset["status"]) == (True, False, "active"), asset
        stocks, _ = v.stream("/v2/sip", bars=["OLD", "NEW"])
        got = to_end(stocks, {"NEW": max(rows)})
        assert {(m["S"], second(m["t"])) for m in got} == {("NEW" if at >= change else "OLD", at) for at in rows}
        assert {a["symbol"]: a["status"] for a in v.ask("/v2/assets")} == {"OLD": "inactive", "NEW": "active"}
        actions = v.ask("/v1/corporate-actions?symbols=NEW&start=2025-11-25&end=2025-12-05")["corporate_actions"]
        assert [(a["old_symbol"], a["new_symbol"], a["process_date"]) for a in actions["name_changes"]] == \
            [("OLD", "NEW", "2025-12-01")], actions
        assert len(page_all(v, "/v2/stocks/bars", "NEW", start=FIRST)) == len(rows)


def test_split(folder):
    """A split of a file that does not show it is applied to its prices; one that it shows is there already."""
    at = [stock_bars.at(datetime.date(2025, 11, 28), 15, 59) - 3 * 3600, stock_bars.at(datetime.date(2025, 12, 1), 9, 30)]
    for name, rows, wanted in (("WHOLE", [(100, 104, 96, 102, 1000), (101, 103, 99, 100, 1000)], (25.25, 25.75, 24.75, 25, 4000)),
                               ("RAW", [(100, 104, 96, 102, 1000), (25.5, 26, 25, 25.25, 4000)], (25.5, 26, 25, 25.25, 4000))):
        path = os.path.join(folder, f"{name}_1m.csv")
        write(path, [(at[0] - 60, *rows[0]), *((second_, *row) for second_, row in zip(at, rows))])
        with Alpaca("--bars", path, "--action", f"split:{name}:4:1:2025-12-01") as v:
            stocks, _ = v.stream("/v2/sip", bars=[name], trades=[name])
            got = to_end(stocks, {name: at[1]})
            assert [values(m) for m in got if m["T"] == "b"] == [rows[0], rows[0], wanted], (name, got)
            of = [m for m in got if m["T"] == "t" and second(m["t"]) >= at[1]]
            assert sum(m["s"] for m in of) == wanted[4] and all(wanted[2] <= m["p"] <= wanted[1] for m in of), of
            adjusted = page_all(v, "/v2/stocks/bars", name, start=FIRST, adjustment="split")
            assert [b["c"] for b in adjusted] == [25.5, 25.5, wanted[3]], adjusted


def test_plan(folder):
    """The free plan: 30 stocks, no sip, no recent consolidated history, one connection; coins are not limited."""
    at = stock_bars.at(datetime.date(2025, 12, 1), 10)
    names = [f"X{chr(65 + i // 26)}{chr(65 + i % 26)}" for i in range(31)]
    paths = [os.path.join(folder, f"{name}_1m.csv") for name in [*names, "BTC-USD"]]
    for path in paths:
        write(path, [(at + 60 * i, 100, 101, 99, 100, 1000) for i in range(60)])
    with Alpaca("--bars", *paths, "--plan", "free") as v:
        stocks, said = v.stream("/v2/iex", trades=names)
        assert (said["T"], said["code"], said["msg"]) == ("error", 405, "symbol limit exceeded"), said
        stocks.say({"action": "subscribe", "trades": names[:30]})
        assert len(exact(stocks)[0]["trades"]) == 30
        for path, code in (("/v2/sip", 409), ("/v2/iex", 406)):
            s = v.socket(path, KEYS)
            assert exact(s)[0]["msg"] == "connected" and exact(s)[0]["code"] == code
        coins, said = v.stream("/v1beta3/crypto/us", trades=["BTC/USD"])
        assert said["T"] == "subscription"
        to = f"start=2025-12-01T15:00:00Z&symbols={names[0]}&timeframe=1Min"
        assert "recent SIP" in v.ask(f"/v2/stocks/bars?{to}&feed=sip", status=403)["message"]
        v.ask(f"/v2/stocks/bars?{to}&feed=iex")
    with Alpaca("--bars", *paths, "--plan", "plus") as v:
        assert len(v.stream("/v2/sip", trades=names)[1]["trades"]) == 31


def test_bad(folder):
    """One line, status 1, that says where and what would be right."""
    night, path = stock_bars.at(datetime.date(2025, 12, 1), 2), os.path.join(folder, "BAD_1m.csv")
    for rows, right in (([(night + 6 * 3600 + 1, 1, 1, 1, 1, 1)] * 1, "whole minutes"),
                        ([(night + 6 * 3600, 5e9, 5e9, 5e9, 5e9, 1)], "below 4e9")):
        write(path, [*rows, (rows[0][0] + 60, 1, 1, 1, 1, 1)])
        refuse([path], f"{path}: bar 1: ", right)
    write(path, [(night + 6 * 3600, 1, 1, 1, 1, 1), (night + 6 * 3600 + 60, 1, 1, 1, 1, 1)])
    refuse([path, path], "symbol twice", "one bars file a symbol")
    refuse([path, "--to", "2025-01-01"], "nothing to play", "between --from and --to")
    refuse([path, "--action", "rename:BAD:BAD:2025-12-01"], "bad action", "rename:AAPL:APL")
    refuse([path, "--asset", "BAD:short"], "bad asset", "not-shortable")
    refuse([os.path.join(folder, "NONE.csv")], "cannot open", "a readable bars file")


def test_calendar(folder):
    """A stock's file is read as a backtest reads it, and refused for the same, by file and line."""
    path, days = os.path.join(folder, "BAD_5m.csv"), list(stock_bars.trading_days(FIRST, END))

    def session(day, close=None):
        return range(day.open, close or day.close, 300)

    def day_of(year, month, day):
        return stock_bars.at(datetime.date(year, month, day), 10)

    regular = [s for d in days for s in session(d)]
    for starts, words in (([s + 3600 for s in regular], ("another zone", "times 1 h earlier fits them")),
                          ([s + 1800 for s in regular], ("another zone", "times 30 min earlier fits them")),
                          ([s for d in days for s in session(d, stock_bars.at(d.date, 16))], ("half day without", "2025-11-28T18:00:00Z")),
                          ([day_of(2025, 12, 1) - 8 * 3600 + s for s in (0, 300)], ("outside any session", "--zone, if the times are of another\n")),
                          ([day_of(1999, 12, 7) + s for s in (0, 300)], ("beyond the calendar", ":2: ")),
                          ([day_of(2028, 1, 3) + s for s in (0, 300)], ("beyond the calendar", ":2: "))):
        write(path, [(s, 10, 11, 9, 10, 100) for s in starts])
        refuse([path], f"{path}:", *words)
    with open(path, "w") as f:
        f.write("time,open,high,low,close,volume,session\n")
        f.writelines(f"{s},10,11,9,10,100,pre\n" for s in regular[:5])
    refuse([path], f"{path}:2: ", "contradicts the calendar")
    with open(path, "w") as f:  # New York's own clock
        f.write("time,open,high,low,close,volume\n")
        f.writelines(f"{datetime.datetime.fromtimestamp(s - 18000, datetime.timezone.utc):%F %T},10,11,9,10,100\n" for s in regular)
    refuse([path], f"{path}:2: ", "--zone America/New_York fits them")
    with Alpaca("--bars", path, "--zone", "America/New_York") as v:
        assert v.ask("/v2/clock")["timestamp"].startswith("2025-11-26T09:30:00"), v.ask("/v2/clock")
    clock = [(s, 10, 11, 9, 10, 100) for d in days for s in range(d.open - 1800, d.close, 3600)]
    write(path, clock)
    refuse([path], f"{path}:2: ", "straddles sessions", "--straddle keep")
    write(path, [(stock_bars.at(d.date, 0) // DAY_S * DAY_S, 10, 11, 9, 10, 100) for d in days])
    refuse([path], f"{path}:2: ", "bar of a whole day", "--straddle keep")


def refuse(args, *words):
    p = subprocess.run([PROGRAM, "--venue", "alpaca", "--bars", *args], capture_output=True, text=True)
    assert p.returncode == 1 and p.stderr.count("\n") == 1 and all(w in p.stderr for w in words), (args, p)


for test in (test_bad, test_calendar, test_plan, test_history, test_quiet, test_longer, test_actions, test_split, test_stream):
    with tempfile.TemporaryDirectory(prefix="papertape-bars-") as at:
        test(at)
    print(f"{test.__name__}: ok", flush=True)
