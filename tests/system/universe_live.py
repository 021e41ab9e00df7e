#!/usr/bin/env python3
"""[market] universe, live: the symbols that are in after each of the rule's times are those of `papertape backtest --universe
--members` on the same bars, over a kill (kill -9) too; what is out is not entered, and its orders have the reason; the log gives it
again. A rule that is wrong is refused; without one every symbol is in again."""

import csv
import datetime
import json
import os
import random
import re

import harness

START_S, MINUTE_NS, HALF_NS = 1704067200, 60 * 10**9, 1800 * 10**9
SYMBOLS = ("BTCUSDT", "ETHUSDT", "SOLUSDT")
RULE = "top 1 by volume; over 30m; every 30m"
BEGIN, HALVES, SPEED = 3, 13, "900"  # half hours: where it begins, and how many there are; 2 s each

CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT, SOLUSDT
interval = 1m
history = 80
streams = trade, kline, bookTicker
{rule}
[engine]
fill_model = bar
equity_interval_s = 0
[risk]
exposure_symbol = 1
exposure_account = 1
daily_loss = 0.5
orders_per_second = 10
[account holds]
cash = 100000
strategy = buy-and-hold
strategy.fraction = 0.3
"""


def write_bars(folder):
    """The most traded symbol is another one each half hour."""
    paths, chance = [], random.Random(7)
    for s, symbol in enumerate(SYMBOLS):
        paths.append(os.path.join(folder, f"{symbol}_1m.csv"))
        with open(paths[-1], "w", encoding="ascii") as file:
            file.write("timestamp,open,high,low,close,volume\n")
            for i in range(30 * HALVES):
                volume = chance.randint(800, 900) if i // 30 % 3 == s else chance.randint(10, 20)
                file.write(f"{(START_S + 60 * i) * 1000},100.00,100.50,99.50,{100 + i % 3 / 10:.2f},{volume}\n")
    return paths


def members(folder, paths):
    """{time ns: the symbols that are in}, by a backtest."""
    path, found, now = os.path.join(folder, "members.csv"), {}, set()
    harness.run([harness.PAPERTAPE, "backtest", "--strategy", "buy-and-hold", "--bars", ",".join(paths), "--universe", RULE,
                 "--members", path, "--no-cache"])
    with open(path, newline="") as file:
        rows = [(int(row["time_ns"]), row["symbol"], row["in"] == "1") for row in csv.DictReader(file)]
    for half in range(1, HALVES + 1):
        at_ns = START_S * 10**9 + half * HALF_NS
        for _, symbol, comes in (row for row in rows if row[0] == at_ns):
            (now.add if comes else now.discard)(symbol)
        found[at_ns] = frozenset(now)
    return found


def events(daemon):
    """[(engine's time, symbol, in)] of the log."""
    text, found = daemon.papertape("events", "show", "--seq", "0", "--n", "1000000"), []
    for day, time, symbol, comes in re.findall(r"(\S+) (\S+)Z +UNIVERSE (\w+): (in|out)", text):
        moment = datetime.datetime.fromisoformat(f"{day}T{time}+00:00")
        found.append((round(moment.timestamp() * 1000) * 10**6, symbol, comes == "in"))
    return found


def states(found):
    """[(time, the symbols that are in)] after each group of events that belong together."""
    now, after = set(SYMBOLS), []
    for i, (at_ns, symbol, comes) in enumerate(found):
        (now.add if comes else now.discard)(symbol)
        if i + 1 == len(found) or found[i + 1][0] - at_ns > 2 * MINUTE_NS:
            after.append((at_ns, frozenset(now)))
    return after


def live(folder):
    inside = folder.within("live")
    paths = write_bars(inside)
    wanted = members(inside, paths)
    start = lambda: folder.start(harness.Daemon(inside, replay, CONFIG.format(rule=f"universe = {RULE}"), ["--clock", "feed"]))
    from_ns = START_S * 10**9 + BEGIN * HALF_NS
    replay = folder.start(harness.Replay(inside, "--bars", *paths, "--speed", SPEED, "--from", str(from_ns // 10**6)))
    daemon = start()
    daemon.wait_status(lambda s: s["now_ns"] > from_ns + 3 * HALF_NS, "three half hours")
    daemon.popen.kill()
    daemon.popen.wait()
    daemon = start()
    harness.wait_last_bars(daemon, dict.fromkeys(SYMBOLS, (START_S + 60 * (30 * HALVES - 1)) * 1000), "1m")
    found = events(daemon)
    status = daemon.status_object()
    now = {symbol["symbol"] for symbol in status["symbols"] if symbol["universe"] == "in"}
    assert status["universe"] == RULE and now == states(found)[-1][1] and status["universe_ns"] in wanted, (status["universe_ns"], now)
    said = daemon.papertape("status")
    assert f"universe  {RULE}; at 2024-01-01 " in said and f"in: {', '.join(sorted(now))}; out: " in said, said
    for i, (at_ns, symbols) in enumerate(states(found)):  # of the last time, or of the one before while a look takes its time
        late = [wanted[half] for half in wanted if at_ns - 2 * HALF_NS < half <= at_ns]
        assert symbols in late or (i == 0 and not symbols), (at_ns, symbols, late)  # no bar was stored at the start
    seen = {symbols for _, symbols in states(found)}
    assert len(seen & {frozenset({symbol}) for symbol in SYMBOLS}) == 3, seen
    check_orders(daemon, found)
    assert daemon.stop() == 0 and replay.stop() == 0
    assert json.loads(daemon.papertape("parity", "--json"))["ok"] is True
    rows = daemon.query("SELECT text, closed_ns FROM alerts WHERE code = 'universe'")  # of the start, before there were bars
    assert all("no symbol is in" in text and closed_ns for text, closed_ns in rows), rows
    print(f"{len(states(found))} times, {len(found)} events: in are those of the backtest")
    without(folder, inside, paths)


def without(folder, inside, paths):
    """The rule is taken out of the configuration."""
    replay = folder.start(harness.Replay(folder.within("again"), "--bars", *paths, "--from", str((START_S + 1800 * (HALVES - 1)) * 1000)))
    daemon = folder.start(harness.Daemon(inside, replay, CONFIG.format(rule=""), ["--clock", "feed"]))
    harness.wait_for(lambda: states(events(daemon))[-1][1] == frozenset(SYMBOLS), "every symbol is in")
    assert daemon.stop() == 0 and replay.stop() == 0


def check_orders(daemon, found):
    """What is bought is in then; what is out is refused for that."""
    orders = json.loads(daemon.papertape("orders", "--json"))["orders"]
    refused = [order for order in orders if order["reason"] == "RISK_UNIVERSE"]
    filled = [order for order in orders if order["state"] == "FILLED"]
    assert len(refused) > 10 and len({order["symbol"] for order in filled}) == 3, (len(refused), filled)
    for order in filled + refused:
        last = [comes for at_ns, symbol, comes in found if symbol == order["symbol"] and at_ns <= order["created_ns"]]
        assert (last[-1] if last else True) == (order["state"] == "FILLED"), (order, last)


def refusals(folder):
    for rule, words in (("top 1 by volum; every 30m", "did you mean volume?"), ("volume>1; every 30s", "more often than the bars")):
        path = os.path.join(folder.path, "wrong.ini")
        with open(path, "w") as file:
            file.write(CONFIG.format(rule=f"universe = {rule}"))
        said = harness.run([harness.DAEMON, "--config", path, "--check-config"], status=2).stderr
        assert "[market] universe: " in said and words in said, said


def main():
    with harness.Folder() as folder:
        refusals(folder)
        live(folder)


if __name__ == "__main__":
    main()
