#!/usr/bin/env python3
"""What the daemon keeps for charts, on the synthetic market: every stored value against the plain definition on the same
bars, bit for bit, over a kill and a clean stop, on every timeframe; the control command; new specifications."""

import csv
import io
import math
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal

import harness

SPECS = "sma:3 ema:5 rsi:4 macd:3,6,3 atr:4"
CONFIG = """
[market]
interval = 1s
history = {history}
[indicators]
specs = {specs}
timeframes = 1s 1m 5m
[account hand]
strategy = none
"""


def config(specs=SPECS, history=500):
    return CONFIG.format(specs=specs, history=history)


def stored(state, symbol, seconds):
    """The names, and {open time in ms: outputs} as they are in the database; None and {} while there is no such series."""
    database = sqlite3.connect(f"file:{os.path.join(state, 'papertape.db')}?mode=ro", uri=True, timeout=harness.PATIENCE)
    of = "symbol = (SELECT id FROM symbols WHERE name = ?) AND interval_ns = ?"
    key = (symbol, seconds * 10**9)
    found = database.execute(f"SELECT names FROM chart_series WHERE {of}", key).fetchone()
    rows = database.execute(f"SELECT open_ns, outputs FROM chart_bars WHERE {of} ORDER BY open_ns", key).fetchall() if found else []
    database.close()
    names = found[0].split() if found else None
    return names, {open_ns // 10**6: struct.unpack(f"<{len(names)}d", outputs) for open_ns, outputs in rows}


def higher(bars, base, seconds):
    """Whole higher bars, from the exact decimals of the lower ones; by the clock, not by counting."""
    if seconds == base:
        return [row[:6] for row in bars]
    groups = {}
    for row in bars:
        groups.setdefault(int(row[0]) // (seconds * 1000), []).append(row)
    out = []
    for key in sorted(groups):
        group = groups[key]
        if len(group) < seconds // base:
            continue
        out.append([str(key * seconds * 1000), group[0][1], str(max(Decimal(g[2]) for g in group)),
                    str(min(Decimal(g[3]) for g in group)), group[-1][4], str(sum(Decimal(g[5]) for g in group))])
    return out


def reference(folder, bars, specs, backend="reference"):
    """{open time in ms: {name: value}} by `papertape indicators`."""
    path = os.path.join(tempfile.mkdtemp(dir=folder.path), "BARS_x.csv")
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        file.writelines(",".join(row) + "\n" for row in bars)
    done = subprocess.run([harness.PAPERTAPE, "indicators", path, *specs.split(), "--backend", backend],
                          capture_output=True, text=True, timeout=harness.PATIENCE, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return {int(row.pop("timestamp_ns")) // 10**6: row for row in rows}


def same_bits(a, b):
    return struct.pack("<d", a) == struct.pack("<d", b) or (math.isnan(a) and math.isnan(b))


SYMBOLS, FRAMES = ("BTCUSDT", "ETHUSDT"), {1: "1s", 60: "1m", 300: "5m"}


def stopped(daemon, symbols=SYMBOLS, frames=FRAMES):
    """Ends the daemon; returns the opening time of the newest closed bar of each series that it had reported."""
    reported = {}
    for symbol in symbols:
        for seconds, timeframe in frames.items():
            answer = harness.control(daemon, "indicators", {"symbol": symbol, "timeframe": timeframe})
            closed = answer["ok"] and answer["result"]["closed"]
            reported[symbol, seconds] = closed["open_time_ms"] if closed else 0
    assert daemon.stop() == 0
    return reported


def compare(folder, daemon, reported, specs=SPECS, symbols=SYMBOLS, base=("1s", 1), frames=FRAMES):
    """Every stored value of every series against the reference over all the stored bars. None of the newest thousand is missing but
    those in flight at the end: they follow all that is stored, and after an orderly stop all that was reported before it ({}: it was
    killed). Returns how many."""
    n = 0
    for symbol in symbols:
        bars = [row for row in csv.reader(io.StringIO(daemon.papertape("bars", symbol, base[0]))) if row[0].isdigit()]
        for seconds in frames:
            rows = higher(bars, base[1], seconds)
            names, values = stored(daemon.state, symbol, seconds)
            expected = reference(folder, rows, specs) if rows else {}
            kept = [at for at in expected if at > max(expected) - 1000 * seconds * 1000]
            assert set(values) <= set(expected), (symbol, seconds, set(values) - set(expected))
            missing = sorted(set(kept) - set(values))
            on_their_way = [at for at in missing if at > max(values, default=0)]
            assert missing == on_their_way, (symbol, seconds, len(values), missing)
            assert max(values, default=0) >= reported.get((symbol, seconds), 0), (symbol, seconds, max(values, default=0), reported)
            for at, outputs in values.items():
                wanted = [float(expected[at][name] or "nan") for name in names]
                if struct.pack(f"<{len(names)}d", *outputs) != struct.pack(f"<{len(names)}d", *wanted):
                    for name, value, right in zip(names, outputs, wanted):
                        assert same_bits(value, right), (symbol, seconds, at, name, value, right)
                n += sum(not math.isnan(value) for value in outputs)
    return n


def updates(daemon, count):
    return daemon.wait_status(lambda s: s["compute"]["updates"] >= count and not s["compute"]["behind"],
                              f"{count} updates")


LAST = 500  # updates of the last run


def continues(folder, replay):
    daemon = folder.start(harness.Daemon(folder.path, replay, config()))
    status = updates(daemon, 2000)
    assert status["compute"]["reason"], status["compute"]
    assert status["compute"]["backend"] == "cpu" or status["compute"]["device"], status["compute"]
    assert status["compute"]["timeframes"] == ["1s", "1m", "5m"], status["compute"]
    assert daemon.stop(signal.SIGKILL) == -signal.SIGKILL
    daemon = folder.start(harness.Daemon(folder.path, replay, config()))
    updates(daemon, 500)
    assert daemon.stop() == 0
    daemon = folder.start(harness.Daemon(folder.path, replay, config()))
    updates(daemon, LAST)
    asks(daemon)
    shows(daemon, ("--tab", "4", "--dump-screen", "120x40"), "[1s] 1m 5m", "sma_3 ", "rsi_4 ")
    shows(daemon, ("--once",), "bars taken")
    n = compare(folder, daemon, stopped(daemon))
    assert n > 4 * LAST, n  # a bar has seven, once all are warm; what a slow machine was behind with before the kill is not computed later
    print(f"{n} values over a kill and a stop, the reference's to the bit")
    return daemon


def shows(daemon, arguments, *words):
    """The output of --once, which also says where the feed is not ok at that moment."""
    def there():
        printed = daemon.papertape(*arguments, status=None)
        return all(word in printed for word in words)
    harness.wait_for(there, f"papertape {' '.join(arguments)} with {words}")


def asks(daemon):
    """The newest of a series by command: what is in the database, and the bar that forms."""
    def forming():
        answer = harness.control(daemon, "indicators", {"symbol": "BTCUSDT", "timeframe": "1m"})
        assert answer["ok"], answer
        return answer["result"] if answer["result"]["closed"] and answer["result"]["forming"] else None
    result = harness.wait_for(forming, "a bar that forms")
    closed, bar = result["closed"], result["forming"]
    assert bar["open_time_ms"] > closed["open_time_ms"] and bar["low"] <= bar["close"] <= bar["high"], result
    names, values = stored(daemon.state, "BTCUSDT", 60)
    if closed["open_time_ms"] in values:
        for name, value in zip(names, values[closed["open_time_ms"]]):
            reported = closed["indicators"][name]
            assert (reported is None and math.isnan(value)) or reported == value, (name, reported, value)
    refused = harness.control(daemon, "indicators", {"symbol": "BTCUSDT", "timeframe": "15m"})
    assert refused["error"]["code"] == "EINVAL" and "1s, 1m, 5m" in refused["error"]["message"], refused
    refused = harness.control(daemon, "indicators", {"symbol": "BTCUSTD", "timeframe": "1m"})
    assert not refused["ok"] and "BTCUSDT" in refused["error"]["message"], refused


def shown(daemon, symbol):
    """The newest 1s bar of a symbol that has closed, and the 1m bar that forms."""
    answers = [harness.control(daemon, "indicators", {"symbol": symbol, "timeframe": timeframe}) for timeframe in ("1s", "1m")]
    return (answers[0]["result"]["closed"], answers[1]["result"]["forming"]) if answers[0]["ok"] else (None, None)


def added(folder, replay):
    """A symbol that is added while it runs has its history's indicators at once, continues through a kill, stops when it is removed,
    and continues where it stopped when it comes back."""
    def run():
        daemon = folder.start(harness.Daemon(folder.path, replay, config().replace("[market]", "[market]\nsymbols = BTCUSDT"),
                                             name="added", state="added"))
        daemon.wait_status(lambda s: s["symbols"], "the market")
        return daemon

    def continues(symbol, than):
        def later():
            closed, forming = shown(daemon, symbol)
            return closed and closed["open_time_ms"] > than and None not in closed["indicators"].values() and forming and closed
        return harness.wait_for(later, f"{symbol}: closed bars after {than}, with all indicators")["open_time_ms"]

    daemon = run()
    continues("BTCUSDT", 0)
    assert harness.control(daemon, "symbol_add", {"symbol": "ETHUSDT"})["ok"]
    at = continues("ETHUSDT", 0)
    harness.wait_for(lambda: len(stored(daemon.state, "ETHUSDT", 1)[1]) > 500, "the fetched history's bars")
    continues("ETHUSDT", at)
    assert daemon.stop(signal.SIGKILL) == -signal.SIGKILL
    n = compare(folder, daemon, {})

    daemon = run()
    continues("ETHUSDT", at)
    assert harness.control(daemon, "symbol_remove", {"symbol": "ETHUSDT"})["ok"]
    last = harness.wait_for(lambda: shown(daemon, "ETHUSDT")[1] is None and shown(daemon, "ETHUSDT")[0], "no bar that forms")
    on = continues("BTCUSDT", last["open_time_ms"] + 60000)
    last = shown(daemon, "ETHUSDT")[0]  # those that waited in the queue are taken by now
    continues("BTCUSDT", on + 60000)
    assert shown(daemon, "ETHUSDT") == (last, None), (last, shown(daemon, "ETHUSDT"))
    assert harness.control(daemon, "symbol_add", {"symbol": "ETHUSDT"})["ok"]
    continues("ETHUSDT", last["open_time_ms"] + 60000)
    n += compare(folder, daemon, stopped(daemon))
    print(f"{n} values with a symbol that was added, removed, and added again")


def other_specs(folder, replay):
    """Other specifications restart from the stored bars, and so do the values: the old ones are gone."""
    specs = "ema:9 sma:7"
    daemon = folder.start(harness.Daemon(folder.path, replay, config(specs)))
    updates(daemon, 2000)
    n = compare(folder, daemon, stopped(daemon), specs)
    print(f"{n} values of other specifications")
    daemon = folder.start(harness.Daemon(folder.path, replay, config("")))
    updates(daemon, 100)
    assert daemon.stop() == 0
    names, values = stored(daemon.state, "BTCUSDT", 60)
    assert names == [] and values and not any(values.values())


def other_timeframes(folder, replay):
    """A timeframe that is kept no more is not shown as if it were."""
    daemon = folder.start(harness.Daemon(folder.path, replay, config().replace("1s 1m 5m", "1s 5m")))
    updates(daemon, 500)
    shows(daemon, ("--tab", "4", "--dump-screen", "120x40"), "[1s] 5m")
    assert daemon.stop() == 0
    database = sqlite3.connect(f"file:{os.path.join(daemon.state, 'papertape.db')}?mode=ro", uri=True)
    for table in "chart_series", "chart_bars":
        kept = database.execute(f"SELECT DISTINCT interval_ns FROM {table} ORDER BY 1").fetchall()
        assert kept == [(10**9,), (300 * 10**9,)], (table, kept)
    database.close()


def real_bars(folder):
    """Real bars of two symbols, the default configuration."""
    files = [os.path.join(harness.SHARED, f"data/bars/{symbol}_1m.csv.gz") for symbol in ("ADAUSDT", "DOGEUSDT")]
    if not all(os.path.exists(path) for path in files):
        print("real bars: no sample data")
        return
    replay = folder.start(harness.Replay(folder.within("real-market"), "--bars", *files, "--speed", "max"))  # it waits for a slow client
    daemon = folder.start(harness.Daemon(folder.path, replay, "[market]\nsymbols = ADAUSDT DOGEUSDT\nhistory = 1000\n"
                                         "[account hand]\nstrategy = none\n", ["--clock", "feed"], name="real", state="real"))
    updates(daemon, 4000)
    symbols = ("ADAUSDT", "DOGEUSDT")
    frames = {60: "1m", 300: "5m", 900: "15m", 3600: "1h", 14400: "4h", 86400: "1d"}
    reported = stopped(daemon, symbols, frames)
    assert replay.stop() == 0
    n = compare(folder, daemon, reported, "sma:20 ema:14 rsi:14 macd:12,26,9 atr:14 bbands:20,2", symbols, ("1m", 60), frames)
    print(f"{n} values of real bars, the default indicators on six timeframes")


def one_state(folder, replay):
    """One after the other on the same state."""
    continues(folder, replay)
    other_specs(folder, replay)
    other_timeframes(folder, replay)


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "21", "--speed", "60"))
        harness.together(folder, lambda folder: one_state(folder, replay), lambda folder: added(folder, replay), real_bars)
        assert replay.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
