#!/usr/bin/env python3
"""External columns, live: a file of [market] columns at full speed, whose orders, fills and ledger are those of `papertape
backtest --columns`; then values by the control socket's command `column` and out of a file that grows, over a kill (kill -9):
every bar saw what a backtest of the same values shows it, other values that are published later change no bar before, an
order's explanation shows the column, and the log gives all of it again. What the socket and the files refuse."""

import json
import math
import os
import random
import sys

import harness

START_S, MINUTE_NS = 1704067200, 60 * 10**9
MINUTES = 1440 if harness.LONG else 160
SYMBOLS = ("BTCUSDT", "ETHUSDT")
AHEAD = 25  # bars from now to the first value that is sent: more than sending takes
EACH = 40 if harness.LONG else 20  # values that are sent before the kill, and after it
PARAMETERS = {"cash": "100000", "fee_maker": "0.001", "fee_taker": "0.001"}

# Long while funding is above 0; writes what it sees of each bar into a file of its symbol.
STRATEGY = '''
import os, sys
from papertape.strategy import *


class Follower(Strategy):
    name = "follower"

    def indicators(self):
        return ["col:funding", "sma:3@col:funding", "col:mood,7m"]

    def on_bar(self, bar):
        with open(os.path.join(os.environ["COLUMNS_SEEN"], bar.symbol), "a") as file:
            print(bar.time + 60 * 10**9, *bar.indicators, file=file)  # when it closed
        wanted = bar.indicators[0] > 0
        if wanted == (bar.qty > 0) or bar.live_orders:
            return None
        return Enter(0.3, why="funding") if wanted else Exit(why="funding")


run(Follower)
'''

CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1m
history = {history}
streams = trade, kline, bookTicker
columns = {columns}
[engine]
fill_model = bar
latency_ms = 50
equity_interval_s = 0
strategy_limit_ms = 10000
[risk]
exposure_symbol = 0.9
exposure_account = 1
daily_loss = 0.5
orders_per_second = 10
[account follower]
cash = {cash}
fee_maker = {fee_maker}
fee_taker = {fee_taker}
strategy = {strategy}
"""


class Scene:
    """Bars, the strategy, and where it writes what it sees."""

    def __init__(self, folder, name):
        self.path = folder.within(name)
        self.bars = [os.path.join(self.path, f"{symbol}_1m.csv") for symbol in SYMBOLS]
        for path, seed, price in zip(self.bars, (1, 2), (42000.0, 2300.0)):
            write_bars(path, seed, price)
        program = os.path.join(self.path, "follower.py")
        write(program, STRATEGY)
        self.strategy = f"exec:{sys.executable} -S {program}"

    def environment(self, where):
        seen = os.path.join(self.path, where)
        os.makedirs(seen, exist_ok=True)
        return {**os.environ, "PYTHONPATH": os.path.join(harness.SOURCE, "trainer/python"), "COLUMNS_SEEN": seen}

    def config(self, columns, history=0):
        return CONFIG.format(columns=columns, history=history, strategy=self.strategy, **PARAMETERS)

    def backtest(self, where, columns, *more, status=0):
        return harness.run([harness.PAPERTAPE, "backtest", "--bars", ",".join(self.bars), "--columns", columns, "--strategy", self.strategy,
                            "--cash", PARAMETERS["cash"], "--fee-maker", PARAMETERS["fee_maker"], "--fee-taker", PARAMETERS["fee_taker"],
                            "--latency-ms", "50", "--risk", "exposure_symbol=0.9", "--risk", "exposure_account=1", "--risk", "daily_loss=0.5",
                            "--risk", "orders_per_second=10", "--json", *more], status, env=self.environment(where))

    def seen(self, where):
        """{symbol: {bar's end: values}}; a bar that is shown again shows the same."""
        found = {}
        for symbol in SYMBOLS:
            bars = found[symbol] = {}
            for line in harness.lines(os.path.join(self.path, where, symbol)):
                time, *values = line.split()
                assert bars.setdefault(int(time), values) == values, (where, symbol, line, bars[int(time)])
        return found


def write(path, text):
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(path + ".new", path)


def write_bars(path, seed, price):
    chance = random.Random(seed)
    rows = ["timestamp,open,high,low,close,volume"]
    for i in range(MINUTES):
        close = round(price * math.exp(chance.gauss(0, 0.0008)), 2)
        rows.append(f"{(START_S + 60 * i) * 1000},{price:.2f},{max(price, close) + 0.5:.2f},{min(price, close) - 0.5:.2f},{close:.2f},{chance.randint(1, 99)}")
        price = close
    write(path, "\n".join(rows) + "\n")


class Column:
    """A column's values as they come: (symbol, timestamp, published, value), every few bars another sign."""

    def __init__(self, name, seed, symbols):
        self.name, self.chance, self.symbols, self.rows = name, random.Random(seed), symbols, []

    def add(self, from_ns, n):
        added = []
        for i in range(n):
            published = from_ns + i * MINUTE_NS + (0 if i % 3 == 0 else self.chance.randrange(MINUTE_NS))
            value = (1 if i // 4 % 2 == 0 else -1) * self.chance.randint(1, 1000) / 64
            added.append((self.chance.choice(self.symbols), published - self.chance.randrange(1, 10**9), published, value))
        added.sort(key=lambda row: row[2])
        for before, row in zip(added, added[1:]):
            assert before[2] < row[2]
        self.rows += added
        return added

    def text(self, but=()):
        return f"timestamp,published,symbol,{self.name}\n" + "".join(
            f"{of},{published},{symbol},{value}\n" for symbol, of, published, value in self.rows if (symbol, of, published, value) not in but)


def start_ns(minute):
    return (START_S + 60 * minute) * 10**9


def wait_end(daemon):
    harness.wait_last_bars(daemon, dict.fromkeys(SYMBOLS, (START_S + 60 * (MINUTES - 1)) * 1000), "1m", end_ns=start_ns(MINUTES))


def recorded_again(daemon):
    """The log gives the ledger, and an order's explanation shows the column."""
    print(daemon.papertape("parity").strip())
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    daemon.papertape("events", "verify")
    report = json.loads(daemon.papertape("explain", "--all", "--json"))
    assert report["explained"] == report["equal"] > 4, {key: report[key] for key in report if key != "orders"}
    shown = [order["decision"]["indicators"] for order in report["orders"] if order["decision"]]
    assert len(shown) > 4 and all(set(values) == {"col_funding", "sma_3@col_funding", "col_mood_7m"} for values in shown), shown[:1]
    assert all(values["col_funding"] is not None for values in shown), shown
    assert "col_funding " in daemon.papertape("explain", str(report["orders"][-1]["order"]))


def full_speed(folder):
    """A file, given before the first bar; some values are published long before, and some after the end."""
    scene = Scene(folder, "file")
    funding, mood = Column("funding", 5, ("", *SYMBOLS)), Column("mood", 6, ("",))
    for i in range(0, MINUTES + 20, 10):
        funding.add(start_ns(i - 10), 9)
    for i in range(5, MINUTES, 30):
        mood.add(start_ns(i), 12)
    paths = [os.path.join(scene.path, f"{column.name}.csv") for column in (funding, mood)]
    for path, column in zip(paths, (funding, mood)):
        write(path, column.text())
    replay = folder.start(harness.Replay(scene.path, "--bars", *scene.bars, "--speed", "max"))
    daemon = folder.start(harness.Daemon(scene.path, replay, scene.config(", ".join(paths)), ["--clock", "feed"], env=scene.environment("live")))
    wait_end(daemon)
    assert daemon.stop() == 0 and replay.stop() == 0
    names = {"orders": ("orders", "--csv"), "fills": ("fills", "--csv"), "ledger": ("ledger", "export")}
    files = {what: os.path.join(scene.path, f"again-{what}.csv") for what in names}
    scene.backtest("again", ",".join(paths), *(word for what, path in files.items() for word in (f"--{what}", path)))
    for what, verb in names.items():
        found, wanted = daemon.papertape(*verb).splitlines(), harness.lines(files[what])
        different = [pair for pair in zip(found, [line.rstrip("\n") for line in wanted]) if pair[0] != pair[1]]
        assert not different and len(found) == len(list(harness.lines(files[what]))) > MINUTES // 20, (what, len(found), different[:1])
    assert scene.seen("live") == scene.seen("again")
    recorded_again(daemon)
    print(f"{len(scene.seen('live')['BTCUSDT'])} bars of each symbol, {len(daemon.papertape('fills', '--csv').splitlines()) - 1} fills: live and backtest the same")


def now_of(daemon):
    return daemon.wait_status(lambda s: s["now_ns"] > start_ns(1) and len(s["symbols"]) == 2, "a market")["now_ns"]


def send(daemon, column, n):
    """Values that are published some bars from now on; they are there before."""
    now_ns = now_of(daemon)
    rows = column.add(now_ns - now_ns % MINUTE_NS + AHEAD * MINUTE_NS, n)
    requests = [("column", {"name": column.name, "timestamp": of, "published": published, "value": value} | ({"symbol": symbol} if symbol else {}))
                for symbol, of, published, value in rows]
    results = harness.control_together(daemon, *requests)
    assert [(r["symbol"] or "", r["timestamp_ns"], r["published_ns"], r["value"]) for r in results] == rows, results[:2]
    assert daemon.status_object()["now_ns"] < rows[0][2], "sending took longer than it may: AHEAD is too short"
    return rows


def refused(daemon, args, code, words):
    good = {"name": "funding", "timestamp": start_ns(MINUTES), "published": start_ns(MINUTES), "value": 1}
    answer = harness.control(daemon, "column", good | args)
    assert answer["ok"] is False and answer["error"]["code"] == code and words in answer["error"]["message"], answer


def refusals(daemon, last):
    symbol, of, published, value = last
    refused(daemon, {"name": "fundin"}, "ENOENT", "did you mean funding?")
    refused(daemon, {"symbol": "XRPUSDT"}, "UNKNOWN_SYMBOL", "XRPUSDT")
    refused(daemon, {"timestamp": start_ns(MINUTES) + 1}, "EINVAL", "before its timestamp")
    refused(daemon, {"timestamp": "soon"}, "EINVAL", "args.timestamp: a time is needed")
    refused(daemon, {"value": "much"}, "EINVAL", "args.value: a number is needed")
    again = {"timestamp": of, "published": published, "value": value} | ({"symbol": symbol} if symbol else {})
    refused(daemon, again, "EINVAL", "each is later than that")


def keyed(daemon, column):
    """Asked twice with one key: one value, and the first answer again."""
    published = max(now_of(daemon) + AHEAD * MINUTE_NS, column.rows[-1][2] + 1)
    asked = {"name": column.name, "timestamp": published, "published": published, "value": 0.5, "key": "once"}
    first, again = (harness.control(daemon, "column", asked) for _ in range(2))
    assert first["ok"] and again["ok"] and first["result"] | {"repeated": True} == again["result"], (first, again)
    column.rows.append(("", published, published, 0.5))


def given_once(daemon, *columns):
    """Each value is one event, though a file was read several times, by two runs."""
    shown = daemon.papertape("events", "show", "--seq", "1", "--n", "1000000").splitlines()
    for column in columns:
        found = sum(f"COLUMN {column.name} of " in line for line in shown)
        assert found == len(column.rows), (column.name, found, len(column.rows))


def alerts(daemon):
    return daemon.query("SELECT text, closed_ns FROM alerts WHERE code = 'columns' ORDER BY id")


def over_a_kill(folder):
    scene = Scene(folder, "socket")
    path = os.path.join(scene.path, "mood.csv")
    funding, mood = Column("funding", 7, ("", "", *SYMBOLS)), Column("mood", 8, ("",))
    mood.add(start_ns(2), 3)
    write(path, mood.text())
    replay = folder.start(harness.Replay(scene.path, "--bars", *scene.bars, "--speed", "480"))

    def start(name):
        return folder.start(harness.Daemon(scene.path, replay, scene.config(path, history=50), ["--clock", "feed"], name=name, env=scene.environment("live")))

    daemon = start("first")
    rows = send(daemon, funding, EACH)
    middle_ns = rows[EACH // 2][2]
    daemon.wait_status(lambda s: s["now_ns"] > middle_ns, "half of the values")
    daemon.popen.kill()
    daemon.popen.wait()
    write(path, mood.text() + "soon,soon,,1\n")
    daemon = start("second")
    now_of(daemon)
    harness.wait_for(lambda: any("line 5: timestamp \"soon\" is no time" in text for text, _ in alerts(daemon)), "an alert, and it trades on")
    refusals(daemon, next(row for row in reversed(funding.rows) if not row[0]))
    keyed(daemon, funding)
    now_ns = now_of(daemon)
    added = mood.add(now_ns - now_ns % MINUTE_NS + 2 * AHEAD * MINUTE_NS, 9)
    write(path, mood.text())
    daemon.wait_status(lambda s: s["now_ns"] > funding.rows[-1][2], "the other half")
    send(daemon, funding, EACH)
    write(path, mood.text() + "soon,soon,,1\n")
    harness.wait_for(lambda: any("line 14: timestamp \"soon\" is no time" in text for text, _ in alerts(daemon)), "an alert of the bad file")
    write(path, mood.text())
    harness.wait_for(lambda: all(closed for _, closed in alerts(daemon)), "its end")
    wait_end(daemon)
    assert daemon.stop() == 0 and replay.stop() == 0
    assert added[0][2] > now_ns
    recorded_again(daemon)
    given_once(daemon, funding, mood)
    daemon.papertape("backtest", "--events", daemon.state)
    check_seen(scene, funding, mood, path)


def check_seen(scene, funding, mood, path):
    """Against a backtest; and one with other values of the second half."""
    given = os.path.join(scene.path, "given.csv")
    write(given, funding.text())
    live = scene.seen("live")
    scene.backtest("again", f"{given},{path}")
    again = scene.seen("again")
    for symbol in SYMBOLS:
        different = [(time, values, again[symbol][time]) for time, values in live[symbol].items() if values != again[symbol][time]]
        assert not different, (symbol, len(different), different[:3])
        numbers = sum("nan" not in values[:2] for values in live[symbol].values())
        stale = sum(values[2] == "nan" and time > mood.rows[2][2] for time, values in live[symbol].items())
        assert len(live[symbol]) == MINUTES and numbers > EACH and stale > 10, (symbol, len(live[symbol]), numbers, stale)
    cut = funding.rows[EACH + 1][2]  # the first that was sent after the kill
    kept = funding.rows
    funding.rows = [(symbol, of, published, -value if published >= cut else value) for symbol, of, published, value in kept]
    write(given, funding.text())
    scene.backtest("changed", f"{given},{path}")
    changed = scene.seen("changed")
    for symbol in SYMBOLS:
        before = [time for time in again[symbol] if time < cut]
        assert before and all(changed[symbol][time] == again[symbol][time] for time in before), "a value changed bars before it was published"
        assert any(changed[symbol][time] != again[symbol][time] for time in again[symbol] if time >= cut), "it changed nothing"
    print(f"{sum(map(len, live.values()))} bars over a kill saw what a backtest shows; {len(before)} before a changed future the same")


def bad_files(folder):
    scene = Scene(folder, "bad")
    path, config = os.path.join(scene.path, "bad.csv"), os.path.join(scene.path, "bad.ini")
    head = "timestamp,published,mood\n"
    for text, words in ((head + "1704067260,1704067200,1\n", "line 2: mood: published at 2024-01-01T00:00:00Z, before its timestamp"),
                        (head + "1704067200,1704067200,1\n1704067200,1704067200,2\n", "line 3: mood: published at"),
                        (head + "1704067200,1704067200,nan\n", "line 2: mood \"nan\" is no number"),
                        (head.replace("mood", "funding,mood") + "1704067200,1704067200,1\n", "line 2: 3 fields: the header has 4")):
        write(path, text)
        assert f"{path}: {words}" in scene.backtest("bad", path, status=1).stderr, words
        write(config, f"[market]\ncolumns = {path}\n")
        said = harness.run([harness.DAEMON, "--check-config", "--config", config], 2).stderr
        assert f"bad.ini:2: [market] columns: {path}: {words}" in said, said
    write(path, head.replace("mood", "fundin,mood") + "1704067200,1704067200,1,1\n")
    assert "reads col:funding: no file of columns has it: did you mean fundin?" in scene.backtest("bad", path, status=1).stderr


def main():
    with harness.Folder() as folder:
        bad_files(folder)
        harness.together(folder, full_speed, over_a_kill)


main()
