#!/usr/bin/env python3
"""A shared object trades live: two accounts of one daemon over the replay, one with the built-in sma-cross-rsi-risk, one with
the same rule from docs/examples as lib:FILE.so, with a kill -9 while both hold orders. Their orders and fills are the same;
after a changed file and `papertape reload` the account continues with the new one; and with the file gone the ledger
verifies, the log gives the same again, and an order is explained.

plugins_live.py PLUGIN.so"""

import json
import math
import os
import random
import shutil
import signal
import sys

import harness

START_S = 1704067200  # 2024-01-01
MINUTES = 1440
SPEED = 5000
SETTINGS = "strategy.fast = 4\nstrategy.slow = 15\nstrategy.average = ema\n"


def write_bars(path, seed, price):
    chance = random.Random(seed)
    with open(path, "w", encoding="ascii") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(MINUTES):
            close = round(price * math.exp(chance.gauss(0, 0.001)), 2)
            high, low = round(max(price, close) * 1.0003, 2), round(min(price, close) * 0.9997, 2)
            file.write(f"{(START_S + 60 * i) * 1000},{price:.2f},{high:.2f},{low:.2f},{close:.2f},{chance.randrange(1, 900) / 100}\n")
            price = close


def configuration(plugin):
    text = "[market]\nsymbols = BTCUSDT, ETHUSDT\ninterval = 1m\nhistory = 0\nstreams = trade, kline, bookTicker\n"
    text += "[engine]\nfill_model = bar\nlatency_ms = 50\nstrategy_limit_ms = 5000\n[risk]\nexposure_symbol = 0.9\nexposure_account = 1\ndaily_loss = 0.9\n"
    text += f"[strategies]\ndirectory = {os.path.dirname(plugin)}\n"
    for account, strategy in (("builtin", "sma-cross-rsi-risk"), ("outside", "lib:mine")):
        text += f"[account {account}]\ncash = 100000\nstrategy = {strategy}\n{SETTINGS}"
    return text


def loaded(daemon):
    """The shared objects in its memory, each a copy: their inodes."""
    with open(f"/proc/{daemon.popen.pid}/maps", encoding="ascii") as file:
        return {line.split()[4] for line in file if "memfd:papertape-plugin" in line and " r-x" in line}


def n_fills(daemon):
    lines = daemon.papertape("fills", "--csv").splitlines()
    at = lines[0].split(",").index("account")
    return [sum(line.split(",")[at] == account for line in lines[1:]) for account in ("builtin", "outside")]


def table(daemon, verb, without):
    """A list's rows of each account, without the columns in which accounts differ."""
    header, *lines = [line.split(",") for line in daemon.papertape(verb, "--csv").splitlines()]
    at = header.index("account")
    keep = [i for i, name in enumerate(header) if name not in without]
    return {account: [tuple(line[i] for i in keep) for line in lines if line[at] == account] for account in ("builtin", "outside")}


def same(daemon):
    for verb, without in (("orders", ("id", "order", "account", "group", "parent", "hash")), ("fills", ("id", "fill", "order", "account", "hash"))):
        found = table(daemon, verb, without)
        assert found["builtin"] == found["outside"], (verb, next((pair for pair in zip(found["builtin"], found["outside"]) if pair[0] != pair[1]),
                                                                 [len(part) for part in found.values()]))
    return len(found["builtin"])


def main():
    with harness.Folder() as folder:
        plugin = os.path.join(folder.within("plugins"), "mine.so")
        shutil.copy(sys.argv[1], plugin)
        os.chmod(plugin, 0o755)
        files = [os.path.join(folder.path, f"{symbol}USDT_1m.csv") for symbol in ("BTC", "ETH")]
        for seed, (file, price) in enumerate(zip(files, (42000.0, 2200.0))):
            write_bars(file, seed, price)
        replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--speed", str(SPEED)))

        def start():
            return folder.start(harness.Daemon(folder.path, replay, configuration(plugin), ["--clock", "feed"]))

        daemon = start()
        harness.wait_for(lambda: daemon.status_object() and min(n_fills(daemon)) >= 4, "fills of both accounts")
        daemon.stop(signal.SIGKILL)
        before = min(n_fills(daemon))
        daemon = start()
        harness.wait_for(lambda: daemon.status_object() and min(n_fills(daemon)) >= before + 4, "fills after the kill")
        # The same code, and other bytes: another file of the same name, which a reload loads.
        with open(plugin + ".new", "wb") as file:
            file.write(open(sys.argv[1], "rb").read() + b"changed")
        os.chmod(plugin + ".new", 0o755)
        os.rename(plugin + ".new", plugin)
        assert len(loaded(daemon)) == 1
        daemon.papertape("reload")
        assert len(loaded(daemon)) == 2, "the changed file is not loaded"
        last = START_S + 60 * (MINUTES - 1)
        harness.wait_last_bars(daemon, dict.fromkeys(("BTCUSDT", "ETHUSDT"), last * 1000), "1m", 300, (last + 60) * 10**9)
        fills = n_fills(daemon)
        assert daemon.stop() == 0
        os.remove(plugin)
        print(daemon.papertape("ledger", "verify").strip())
        print(daemon.papertape("parity").strip())
        header, *lines = [line.split(",") for line in daemon.papertape("fills", "--csv").splitlines()]
        order = next(line[header.index("order")] for line in reversed(lines) if line[header.index("account")] == "outside")
        explanation = json.loads(daemon.papertape("explain", order, "--json"))["orders"][0]
        assert explanation["equal"], explanation
        print(f"{fills[1]} fills of a shared object, {same(daemon)} compared with the built-in's")
        assert replay.stop() == 0


main()
