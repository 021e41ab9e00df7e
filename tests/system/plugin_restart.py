#!/usr/bin/env python3
"""Strategies from outside, live, over a kill -9 with no bar missed: sma-cross-rsi-risk, rank-momentum (a round of both
symbols), dips (limits, stop limits, trailing stops, parts of a position) and spread (the other symbol's bar, a limit with a
stop), each as what there is of a built-in, a shared object and a process. The market stands still after a bar, a process is at
that bar, and the daemon is killed before its decision; then it is started again, and the market continues to its end. Each
account's orders, fills and ledger are those of `papertape backtest` on the same bars, value by value; parity holds.

plugin_restart.py PLUGINS"""

import os
import sqlite3
import sys

import account_rows
import harness
import live_backtest

_, PLUGINS = sys.argv
MINUTES = 2880 if harness.LONG else 600
KILL_AT = MINUTES // 2 + 7  # bars
PYTHON = f"exec:{sys.executable} -S"
PROGRAMS = f"{harness.SOURCE}/tests/strategy/plugins"
SYMBOLS = ("BTCUSDT", "ETHUSDT")
# Of each: its forms, the first of which is what the backtest runs, and its parameters.
STRATEGIES = {
    "sma-cross-rsi-risk": (("sma-cross-rsi-risk", f"lib:{PLUGINS}/plugin-sma_cross_rsi_risk.so",
                            f"{PYTHON} {harness.SOURCE}/trainer/python/examples/sma_cross_rsi_risk.py"),
                           {"fast": "3", "slow": "8", "rsi": "5", "rsi_max": "95", "atr": "5"}),
    "rank-momentum": (("rank-momentum", f"lib:{PLUGINS}/plugin-ranks.so", f"{PYTHON} {PROGRAMS}/ranks.py"),
                      {"lookback": "15", "hold": "1", "every": "7", "fraction": "0.4"}),
    "dips": ((f"lib:{PLUGINS}/plugin-dips.so", f"{PYTHON} {PROGRAMS}/dips.py"), {"period": "10"}),
    "spread": ((f"lib:{PLUGINS}/plugin-spread.so", f"{PYTHON} {PROGRAMS}/spread.py"), {}),
}
# What a backtest numbers otherwise.
NOT_IN_BACKTESTS = frozenset({"book_seq", "input_seq"})


def accounts():
    """Name, title, strategy, parameters; the process that is stopped comes before others that wait for it."""
    rows = [(f"{title}-{at}", title, form, sets) for title, (forms, sets) in STRATEGIES.items() for at, form in enumerate(forms)]
    return sorted(rows, key=lambda row: row[0] != "spread-1")


def configuration():
    text = ["[market]", f"symbols = {', '.join(SYMBOLS)}", "interval = 1m", "history = 0", "streams = trade, kline, bookTicker",
            "[engine]", "fill_model = bar", "latency_ms = 50", "slippage = 0.0002", "equity_interval_s = 0", "strategy_limit_ms = 10000", "[risk]"]
    text += [f"{key} = {value}" for key, value in live_backtest.RISK.items()]
    for name, _, strategy, sets in accounts():
        text += [f"[account {name}]", "cash = 100000", "fee_maker = 0.001", "fee_taker = 0.001", f"strategy = {strategy}"]
        text += [f"strategy.{key} = {value}" for key, value in sets.items()]
    return "\n".join(text) + "\n"


def start(folder, replay, environment):
    return folder.start(harness.Daemon(folder.path, replay, configuration(), ["--clock", "feed"], env=environment))


def running(daemon):
    assert daemon.alive(), daemon.log_text()[-2000:]
    return True


def asked(daemon, at_ns):
    """The bar is in the log, and what follows of it waits."""
    try:
        rows = daemon.query(f"SELECT count(*) FROM bars WHERE source = 'venue' AND open_ns = {at_ns - 60 * 10**9}")
    except sqlite3.OperationalError:  # its tables are being made
        return False
    return rows[0][0] > 0


def live(folder, files, environment, stop_file):
    replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--speed", "max", "--fault", f"hold@{60 * KILL_AT + 1}s"))
    daemon = start(folder, replay, environment)
    bar_ns = (live_backtest.START_S + 60 * (KILL_AT - 1)) * 10**9
    harness.wait_for(lambda: running(daemon) and os.path.exists(f"{daemon.state}/papertape.db") and asked(daemon, bar_ns), "the bar before the one that waits")
    harness.wait_for(lambda: os.path.exists(f"{stop_file}.there"), "the process at its bar")
    daemon.popen.kill()
    daemon.popen.wait()
    os.remove(stop_file)
    daemon = start(folder, replay, environment)
    daemon.wait_status(lambda s: s["symbols"], "a market")
    harness.fault(replay, "hold@1000h")
    live_backtest.wait_for_end(daemon, MINUTES)
    assert daemon.stop() == 0 and replay.stop() == 0
    alerts = daemon.query("SELECT code, text FROM alerts WHERE code LIKE 'STRATEGY_%' OR code = 'INTENT_REFUSED'")
    assert alerts == [], alerts
    for symbol in SYMBOLS:
        assert daemon.papertape("bars", symbol, "1m").count("\n") == MINUTES + 1
    return daemon


def backtest(folder, files, title, environment):
    """The rows of its account, by verb."""
    forms, sets = STRATEGIES[title]
    saved = os.path.join(folder.path, f"saved-{title}")
    words = ["--bars", ",".join(files), "--cash", "100000", "--fee-maker", "0.001", "--fee-taker", "0.001", "--slippage", "0.0002", "--latency-ms", "50",
             "--no-cache", "--way", "engine", "--save", saved]
    words += [word for key, value in live_backtest.RISK.items() for word in ("--risk", f"{key}={value}")]
    words += ["--strategy", forms[0], *(word for key, value in sets.items() for word in ("--set", f"{key}={value}"))]
    harness.run([harness.PAPERTAPE, "backtest", *words], env=environment)
    return {verb[0]: account_rows.of_text(harness.run([harness.PAPERTAPE, *verb, "--state", saved]).stdout, title, NOT_IN_BACKTESTS) for verb in account_rows.VERBS}


def main():
    with harness.Folder() as folder:
        files = [os.path.join(folder.path, f"{symbol}_1m.csv") for symbol in SYMBOLS]
        live_backtest.write_bars(files[0], live_backtest.SEED, 42000.0, 5, MINUTES)
        live_backtest.write_bars(files[1], live_backtest.SEED + 1, 2300.0, 4, MINUTES)
        stop_file = os.path.join(folder.path, "stop")
        open(stop_file, "w", encoding="ascii").close()
        environment = {**os.environ, "PYTHONPATH": os.path.join(harness.SOURCE, "trainer/python"),
                       "PAPERTAPE_STOP": f"{live_backtest.START_S + 60 * (KILL_AT - 1)}:{stop_file}"}
        daemon = live(folder, files, environment, stop_file)
        stored = {verb[0]: daemon.papertape(*verb) for verb in account_rows.VERBS}
        for title, (forms, _) in STRATEGIES.items():
            expected = backtest(folder, files, title, environment)
            for at, form in enumerate(forms):
                for verb, rows in expected.items():
                    account_rows.same(rows, account_rows.of_text(stored[verb], f"{title}-{at}", NOT_IN_BACKTESTS), f"{form}: {verb}")
            assert len(expected["fills"]) > MINUTES // 60, (title, len(expected["fills"]))
            kinds = sorted({row["type"] for row in expected["orders"]})
            print(f"{title}: {len(forms)} forms: {len(expected['orders'])} orders ({', '.join(kinds)}), {len(expected['fills'])} fills, {len(expected['ledger'])} ledger rows: the backtest's")
        assert '"ok":true' in daemon.papertape("ledger", "verify", "--json").replace(" ", "")
        daemon.papertape("events", "verify")
        print(daemon.papertape("parity").strip())


main()
