#!/usr/bin/env python3
"""One definition of a trade: synthetic bars through papertape-replay and the live daemon over TLS, with the bar fill model,
and the same bars in `papertape backtest`: every strategy on an account of its own, the same orders, fills and ledger, row
by row, to the last row's hash; and the ledger of the backtest verifies. With --long: a week of one-minute bars of two
symbols; else two days. Then a day where the accounts may be short, and each strategy trades both ways, or short where it
never turns."""

import json
import math
import os
import random
import subprocess
import sys

import harness

START_S = 1704067200  # 2024-01-01, a Monday
MINUTES = 7 * 1440 if harness.LONG else 2 * 1440
SHORT_MINUTES = 1440
OLDER_MINUTES = 2 * 1440 + 900
SEED = int(os.environ.get("PAPERTAPE_SEED", "20261121"))
WAIT = 1800.0 if harness.LONG else 600.0
FEE = "0.001"
RISK = {"exposure_symbol": "0.9", "exposure_account": "1", "daily_loss": "0.5", "orders_per_second": "10"}

# Without shorts this one opens nothing.
ONLY_SHORT = "pairs"
# These see several symbols, so that the engine runs them.
SEVERAL = {"pairs", "rank-momentum"}

# Every strategy, with parameters that make it trade within two days of minutes.
SETTINGS = {
    "binance-day-trade": {"fast": "4", "slow": "15", "fraction_max": "0.4"},
    "buy-and-hold": {},
    "day-trade": {},
    "equal-weight": {},
    "pairs": {"period": "15", "enter": "1.3", "fraction": "0.3"},
    "rank-momentum": {"lookback": "15", "hold": "1", "every": "20", "fraction": "0.4"},
    "sma-cross": {"fast": "5", "slow": "20", "fraction": "0.4"},
    "sma-cross-rsi": {"fast": "3", "slow": "12", "rsi_max": "90", "stop_atr": "1.5"},
    "sma-cross-rsi-risk": {"fast": "4", "slow": "15", "average": "ema"},
    "trend-4h-1h": {"fast": "2", "mid": "3", "slow": "4", "period": "3", "rsi_min": "1", "rsi_max": "99", "stoch_max": "101",
                    "limit_atr": "0.1"},
    "triple-confirmation": {},
}
DIRECTION = {"buy-and-hold": "short", "equal-weight": "short", "pairs": None, "rank-momentum": None}  # where the accounts may be short; else both
BOTH_WAYS = {"binance-day-trade"}  # by default


def settings(name, shorts):
    direction = DIRECTION.get(name, "both") if shorts else None
    return SETTINGS[name] | ({"direction": direction} if direction else {})


def write_bars(path, seed, price, step_digits, minutes=MINUTES):
    """A random walk that rises for half a day and falls for the next, with calm and wild hours, on ticks of 0.01."""
    chance = random.Random(seed)
    spread = 0.0
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(minutes):
            if i % 240 == 0:
                spread = chance.choice((0.0002, 0.0005, 0.0015))
            drift = 0.0001 * math.sin(2 * math.pi * i / 1440)  # up for half a day, down for the next
            open_ = round(price * (1 + chance.gauss(0, spread / 4)), 2)
            close = round(open_ * math.exp(drift + chance.gauss(0, spread)), 2)
            high = round(max(open_, close) * (1 + abs(chance.gauss(0, spread / 2))), 2)
            low = round(min(open_, close) * (1 - abs(chance.gauss(0, spread / 2))), 2)
            volume = round(chance.lognormvariate(1, 1), step_digits)
            file.write(f"{(START_S + 60 * i) * 1000},{open_:.2f},{high:.2f},{low:.2f},{close:.2f},{volume:.{step_digits}f}\n")
            price = close


def strategies():
    done = subprocess.run([harness.PAPERTAPE, "backtest", "--list-strategies", "--json"], capture_output=True, text=True,
                          check=True)
    return sorted(s["name"] for s in json.loads(done.stdout)["strategies"])


def configuration(names, shorts=False):
    text = ["[market]", "symbols = BTCUSDT, ETHUSDT", "interval = 1m", "history = 0",
            "streams = trade, kline, bookTicker", "[engine]", "fill_model = bar", "latency_ms = 50", "slippage = 0.0002",
            "equity_interval_s = 0", "[risk]"]
    text += [f"{key} = {value}" for key, value in RISK.items()]
    for name in names:
        text += [f"[account {name}]", "cash = 100000", f"fee_maker = {FEE}", f"fee_taker = {FEE}", f"strategy = {name}",
                 f"shorts = {'on' if shorts else 'off'}"]
        text += [f"strategy.{key} = {value}" for key, value in settings(name, shorts).items()]
    return "\n".join(text) + "\n"


def wait_for_end(daemon, minutes=MINUTES):
    last = START_S + 60 * (minutes - 1)
    harness.wait_last_bars(daemon, dict.fromkeys(("BTCUSDT", "ETHUSDT"), last * 1000), "1m", WAIT, (last + 60) * 10**9)


def live(folder, files, names, minutes, shorts):
    """What the daemon's database has when the bars are over."""
    replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--speed", "max"))
    daemon = folder.start(harness.Daemon(folder.path, replay, configuration(names, shorts), ["--clock", "feed"]))
    wait_for_end(daemon, minutes)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    for symbol, path in zip(("BTCUSDT", "ETHUSDT"), files):
        bars = daemon.papertape("bars", symbol, "1m").splitlines()
        assert len(bars) == minutes + 1, f"{symbol}: {len(bars) - 1} bars of {minutes} reached the daemon"
    for name in names:
        does = "opens nothing" if name == ONLY_SHORT else "trades long only"
        says = f"account {name}: {name} {does}: shorts = off" in daemon.log_text()
        assert says == (name in (*BOTH_WAYS, ONLY_SHORT) and not shorts), f"{name}, with shorts {shorts}: the log says so: {says}"
    print(daemon.papertape("ledger", "verify").strip())
    explained(daemon)
    return {"orders": daemon.papertape("orders", "--csv"), "fills": daemon.papertape("fills", "--csv"),
            "ledger": daemon.papertape("ledger", "export")}


def explained(daemon):
    """The log gives the same again, and each fill is explained by the bar that filled it."""
    print(daemon.papertape("parity").strip())
    header, *fills = daemon.papertape("fills", "--csv").splitlines()
    order = fills[len(fills) // 2].split(",")[header.split(",").index("order")]
    explanation = json.loads(daemon.papertape("explain", order, "--json"))["orders"][0]
    fill = explanation["fills"][0]
    bar = fill["bar"]
    assert explanation["equal"] and fill["ts_ns"] in (bar["open_ns"], bar["open_ns"] + 60 * 10**9 - 1), explanation
    assert bar["low"] <= fill["take"]["level_price"] <= bar["high"], explanation
    assert "of the bar of" in daemon.papertape("explain", order)


def again(folder, files, names, way, shorts):
    """The same of the backtest."""
    paths = {what: os.path.join(folder.path, f"{way}-{what}.csv") for what in ("orders", "fills", "ledger")}
    saved = os.path.join(folder.path, f"{way}-saved")
    argv = [harness.PAPERTAPE, "backtest", "--bars", ",".join(files), "--cash", "100000", "--fee-maker", FEE, "--fee-taker",
            FEE, "--slippage", "0.0002", "--latency-ms", "50", "--way", way, "--no-cache", "--json", "--save", saved]
    argv += ["--shorts"] * shorts
    for key, value in RISK.items():
        argv += ["--risk", f"{key}={value}"]
    for name in names:
        argv += ["--strategy", name]
        for key, value in settings(name, shorts).items():
            argv += ["--set", f"{key}={value}"]
    for what, path in paths.items():
        argv += [f"--{what}", path]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, (way, done.stderr)
    assert ("trades long only" in done.stderr) == (not shorts), done.stderr
    verified = subprocess.run([harness.PAPERTAPE, "ledger", "verify", "--state", saved], capture_output=True, text=True,
                              timeout=WAIT)
    assert verified.returncode == 0, (way, verified.stdout, verified.stderr)
    result = {}
    for what, path in paths.items():
        with open(path, newline="") as file:
            result[what] = file.read()
    return result


def rows(text):
    return text.splitlines()


def same(way, live_rows, backtest_rows):
    for what in ("orders", "fills", "ledger"):
        want, got = rows(live_rows[what]), rows(backtest_rows[what])
        for i, (a, b) in enumerate(zip(want, got)):
            assert a == b, f"{way}: {what}: line {i + 1}: live has\n{a}\nthe backtest gives\n{b}\nof {rows(live_rows[what])[0]}"
        assert len(want) == len(got), (way, what, len(want) - 1, len(got) - 1)


def compare(names, minutes, shorts):
    with harness.Folder() as folder:
        files = [os.path.join(folder.path, name) for name in ("BTCUSDT_1m.csv", "ETHUSDT_1m.csv")]
        write_bars(files[0], SEED, 42000.0, 5, minutes)
        write_bars(files[1], SEED + 1, 2300.0, 4, minutes)
        stored = live(folder, files, names, minutes, shorts)
        for way in ("engine", "auto"):
            same(way, stored, again(folder, files, names, way, shorts))
        fills = rows(stored["fills"])
        account = fills[0].split(",").index("account")
        for name in names:
            count = sum(line.split(",")[account] == name for line in fills[1:])
            print(f"{name}: {count} fills equal")
            assert (count > 0) == (shorts or name != ONLY_SHORT), f"{name} has {count} fills, with shorts {shorts}"
        print(f"{len(rows(stored['orders'])) - 1} orders, {len(fills) - 1} fills, {len(rows(stored['ledger'])) - 1} ledger rows "
              "equal, live over TLS and backtest, the last hash too")
        assert (",borrow," in stored["ledger"]) == shorts, "nothing was sold short" if shorts else "something was borrowed"


def with_older_bars():
    """The database has older bars than the engine had: `backtest --account` warms up on what the live account saw."""
    with harness.Folder() as folder:
        path, begin = os.path.join(folder.path, "BTCUSDT_1m.csv"), START_S + 2 * 86400
        write_bars(path, SEED, 42000.0, 5, OLDER_MINUTES)
        config = configuration(["binance-day-trade"], True).replace(", ETHUSDT", "").replace("history = 0", "history = 2d")
        config = config.replace("strategy.fast = 4", "strategy.fast = 20").replace("strategy.slow = 15", "strategy.slow = 700")
        replay = folder.start(harness.Replay(folder.path, "--bars", path, "--from", str(begin * 1000), "--speed", "max"))
        daemon = folder.start(harness.Daemon(folder.path, replay, config, ["--clock", "feed"]))
        last = START_S + 60 * (OLDER_MINUTES - 1)
        harness.wait_last_bars(daemon, {"BTCUSDT": last * 1000}, "1m", WAIT, (last + 60) * 10**9)
        daemon.wait_status(lambda s: s["venues"][0]["history"] == "done", "older bars")
        assert daemon.stop() == 0 and replay.stop() == 0
        ((bars,),) = daemon.query(f"SELECT count(*) FROM bars WHERE source = 'venue' AND open_ns < {begin * 10**9}")
        assert bars > 2000, f"{bars} older bars, and the live account saw 500"
        stored = {"orders": daemon.papertape("orders", "--csv"), "fills": daemon.papertape("fills", "--csv"),
                  "ledger": daemon.papertape("ledger", "export")}
        assert len(rows(stored["fills"])) > 2, "it never traded: nothing was shown"
        for way in ("engine", "auto"):
            paths = {what: os.path.join(folder.path, f"{way}-{what}.csv") for what in stored}
            daemon.papertape("backtest", "--account", "binance-day-trade", "--way", way, *(word for what, at in paths.items() for word in (f"--{what}", at)))
            same(way, stored, {what: open(at, newline="", encoding="utf-8").read() for what, at in paths.items()})
        print(f"{bars} bars from before the start, 500 of them seen: {len(rows(stored['fills'])) - 1} fills equal")


def main():
    names = strategies()
    assert names == sorted(SETTINGS), f"this test knows {sorted(SETTINGS)}, the program {names}"
    print(f"counts: {MINUTES} bars of two symbols, seed {SEED}" + ("" if harness.LONG else " (--long: a week)"))
    compare(names, MINUTES, False)
    compare(names, SHORT_MINUTES, True)
    with_older_bars()
    return 0


if __name__ == "__main__":
    sys.exit(main())
