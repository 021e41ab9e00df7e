#!/usr/bin/env python3
"""Strategies from outside, live: sma-cross-rsi-risk as a built-in, a shared object and a process in Python, an account each,
over the replay; the daemon is killed (kill -9) in the middle and started again, and after a changed file and a reload the
account continues with the new one. Their orders, fills and ledger rows are the same; with the shared object gone the log
verifies and is played again, parity holds, and an order is explained; a process that hangs, ends, writes NaN or 10 MB, or
names a symbol that is not there is reported once, halts its account, and disturbs no other; one that hangs for 2 s once has
one alert, and trades again; each impossible intent has one alert; parity holds.

plugin_live.py PLUGINS"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys

import account_rows
import harness

SHARED_OBJECT = f"{sys.argv[1]}/plugin-sma_cross_rsi_risk.so"
PYTHON = f"{sys.executable} -S"
IN_PYTHON = f"exec:{PYTHON} {harness.SOURCE}/trainer/python/examples/sma_cross_rsi_risk.py"
BARS = 600 if harness.LONG else 100  # each half
PARAMETERS = {"fast": 3, "slow": 8, "rsi": 5, "rsi_max": 95, "atr": 5, "profit_atr": 2}
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(harness.SOURCE, "trainer/python")}

MARKET = """
[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 50
[engine]
latency_ms = 5
strategy_limit_ms = {limit}
[risk]
orders_per_second = 0
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
"""

# From a moment on it fails, or asks for what cannot be.
FAULTY = """
import os, sys, time
from papertape.strategy import *


class Faulty(Strategy):
    name = "faulty"
    params = {"what": Param("hang", words=("hang", "pause", "end", "impossible", "share"))}
    paused = False

    def on_bar(self, bar):
        if bar.history or not os.path.exists(os.environ["PAPERTAPE_FAULT"]):
            return None
        if self.what == "end":
            os._exit(7)
        if self.what == "impossible":
            return [Enter(2), Cancel(), Exit(0), Short(0.1), Order("buy", "trailing_stop", qty=1)]
        if self.what == "pause" and not self.paused:
            self.paused = True
            time.sleep(2)
        if self.what in ("pause", "share") and not bar.qty:
            return None if bar.live_orders else Enter(0.1)
        if self.what == "pause":
            return Exit()
        if self.what == "share":
            return Exit(2)
        while True:
            time.sleep(3600)


run(Faulty)
"""

# Lines that the package would not write.
LINES = """
import json, os, sys

what = sys.argv[1]
wrong = {"nan": {"intents": [{"kind": "enter", "fraction": float("nan")}]}, "long": {"state": "x" * 10_000_000},
         "peer": {"intents": [{"kind": "enter", "fraction": 0.1, "symbol": "XUSDT"}]}}[what]
for line in sys.stdin:
    line = json.loads(line)
    if line["type"] == "describe":
        answer = {"type": "strategy", "protocol": 1, "name": what, "params": [], "together": what == "peer"}
    elif line["type"] == "hello":
        answer = {"type": "ready", "indicators": []}
    else:
        answer = {"type": "intents", "bar": line["time"], "symbol": line["symbol"], "intents": []}
        if not line.get("history") and os.path.exists(os.environ["PAPERTAPE_FAULT"]):
            answer |= wrong
    print(json.dumps(answer), flush=True)
"""

# Of each account: the alert, and what it says.
HALTS = {
    "hang": ("STRATEGY_LATE", "no answer within 1000 ms"),
    "end": ("STRATEGY_ENDED", "it ended with status 7"),
    "nan": ("STRATEGY_INVALID", "JSON has no NaN and no Infinity"),
    "long": ("STRATEGY_INVALID", "its answer is longer than 131072 bytes"),
    "peer": ("STRATEGY_INVALID", '"symbol" XUSDT of an intent is none of the account\'s'),
}
REFUSED = {
    "impossible": ("enter: fraction 2 is not above 0 and at most 1", "cancel: ", "exit: ", "short: its account may not be short of it", "order: "),
    "share": ("exit: fraction 2 of the position is not from 0 to 1",),
}


def account(name, strategy, parameters):
    rows = "".join(f"strategy.{key} = {value}\n" for key, value in parameters.items())
    return f"[account {name}]\ncash = 20000\nstrategy = {strategy}\n{rows}"


def table(daemon, name, *verb):
    """The account's rows, as account_rows.py has them."""
    return account_rows.of_text(daemon.papertape(*verb), name)


def run_for(daemon, seconds):
    """Of the feed's time; the time then."""
    began = daemon.wait_status(lambda s: s["now_ns"] > 0 and s["symbols"], "a market")["now_ns"]
    return daemon.wait_status(lambda s: s["now_ns"] > began + seconds * 10**9, f"{seconds} s of the market")["now_ns"]


def loaded(daemon):
    """How many shared objects are in its memory, each a copy."""
    with open(f"/proc/{daemon.popen.pid}/maps", encoding="ascii") as file:
        return len({line.split()[4] for line in file if "memfd:papertape-plugin" in line and " r-x" in line})


def change(plugin):
    """The same code, and other bytes: another file of the same name."""
    shutil.copy(plugin, plugin + ".new")
    with open(plugin + ".new", "ab") as file:
        file.write(b"changed")
    os.rename(plugin + ".new", plugin)


def three_alike(folder):
    names = ("built-in", "shared", "python")
    plugin = os.path.join(folder.within("plugins"), "mine.so")
    shutil.copy(SHARED_OBJECT, plugin)
    os.chmod(plugin, 0o755)
    config = MARKET.format(limit=10000) + f"[strategies]\ndirectory = {os.path.dirname(plugin)}\n"
    config += "".join(account(name, strategy, PARAMETERS) for name, strategy in zip(names, ("sma-cross-rsi-risk", "lib:mine", IN_PYTHON)))
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "17", "--speed", "20"))
    daemon = folder.start(harness.Daemon(folder.path, replay, config, ["--clock", "feed"], env=ENVIRONMENT))
    run_for(daemon, BARS)
    daemon.popen.kill()
    daemon.popen.wait()
    daemon = folder.start(harness.Daemon(folder.path, replay, config, ["--clock", "feed"], env=ENVIRONMENT))
    run_for(daemon, BARS // 2)
    assert loaded(daemon) == 1
    change(plugin)
    daemon.papertape("reload")
    assert loaded(daemon) == 2, "the changed file is not loaded"
    run_for(daemon, BARS // 2)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    os.remove(plugin)
    counts = []
    for verb in account_rows.VERBS:
        expected = table(daemon, "built-in", *verb)
        assert len(expected) > BARS // 20, (verb, len(expected))
        for name in names[1:]:
            account_rows.same(expected, table(daemon, name, *verb), f"{name}: {verb[0]}")
        counts.append(f"{len(expected)} {verb[0]}")
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    daemon.papertape("events", "verify")
    print(daemon.papertape("parity").strip())
    order = [row for row in csv.DictReader(daemon.papertape("fills", "--csv").splitlines()) if row["account"] == "shared"][-1]["order"]
    explanation = json.loads(daemon.papertape("explain", order, "--json"))["orders"][0]
    assert explanation["equal"], explanation
    # The log says all: neither of the two is started.
    done = subprocess.run([harness.PAPERTAPE, "backtest", "--events", daemon.state], capture_output=True, text=True, timeout=harness.PATIENCE,
                          env={**os.environ, "PATH": "/nonexistent"})
    assert done.returncode == 0, done
    print(f"each the same over a kill, with the events that they followed: {', '.join(counts)} rows")


def one_alert_each(folder):
    """Those that fail from a moment on, and those that ask for what cannot be."""
    place = folder.within("faults")
    faulty, lines, fault = (os.path.join(place, name) for name in ("faulty.py", "lines.py", "fault"))
    for path, text in ((faulty, FAULTY), (lines, LINES)):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    accounts = [("good", "sma-cross-rsi-risk", PARAMETERS)]
    accounts += [(what, f"exec:{PYTHON} {faulty}", {"what": what}) for what in ("hang", "pause", "end", *REFUSED)]
    accounts += [(what, f"exec:{PYTHON} {lines} {what}", {}) for what in ("nan", "long", "peer")]
    config = MARKET.format(limit=1000) + "".join(account(*row) for row in accounts)
    replay = folder.start(harness.Replay(place, "--synthetic", "17", "--speed", "2"))
    daemon = folder.start(harness.Daemon(place, replay, config, ["--clock", "feed"], env={**ENVIRONMENT, "PAPERTAPE_FAULT": fault}))
    run_for(daemon, 5)

    def alerts():
        return daemon.query("SELECT code, text FROM alerts WHERE code LIKE 'STRATEGY_%' OR code = 'INTENT_REFUSED' ORDER BY id")

    def all_there():
        rows = alerts()
        return rows if len(rows) >= 1 + 2 * len(HALTS) + sum(map(len, REFUSED.values())) else None

    open(fault, "w", encoding="ascii").close()
    rows = harness.wait_for(all_there, "an alert of each")
    run_for(daemon, 5)
    assert rows == alerts(), (rows, alerts())
    for name, (code, says) in HALTS.items():
        own = [(code, text) for code, text in rows if text.startswith(f"account {name}: ")]
        assert [code for code, _ in own] == [code, "STRATEGY_HALTED"] and says in own[0][1], (name, own)
    status = daemon.papertape("status")
    halted = {row["account"]: row["halted"] for row in daemon.status_object()["accounts"]}
    assert all(bool(halted[name]) == (name in HALTS) for name in halted), halted
    assert halted["hang"] == "no decision on 3 bars in a row (in all 3 late, 0 invalid, 0 ended)", halted
    assert status.count("strategy halted: no decision on 3 bars in a row (in all ") == len(HALTS), status
    ((code, text),) = [row for row in rows if "account pause: " in row[1]]
    assert code == "STRATEGY_LATE" and "no answer within 1000 ms" in text, text
    harness.wait_for(lambda: len(table(daemon, "pause", "fills", "--csv")) > 3, "the one that answered late trades again")
    for name, said in REFUSED.items():
        own = [text.split(f", account {name}: ")[1] for code, text in rows if code == "INTENT_REFUSED" and f", account {name}: " in text]
        assert len(own) == len(said) and all(sum(text.startswith(start) for text in own) == 1 for start in said), (name, own)
    trades = len(table(daemon, "good", "orders", "--csv"))
    harness.wait_for(lambda: len(table(daemon, "good", "orders", "--csv")) > trades, "the good one trades on")
    assert daemon.stop() == 0 and replay.stop() == 0
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    daemon.papertape("events", "verify")
    print(daemon.papertape("parity").strip())
    print(*(f"{code}: {text}" for code, text in rows), sep="\n")


def main():
    with harness.Folder() as folder:
        three_alike(folder)
        one_alert_each(folder)


main()
