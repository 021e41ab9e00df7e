#!/usr/bin/env python3
"""A promoted policy under limits: one that always buys all that it can never has more than 30 % of equity in a symbol with
`policy promote --exposure-symbol 30%`, over a kill -9 in the middle. Limits are kept with the policy: its kept file has them, in the
environment, in a backtest, and in the log's replay, parity and explain. What contradicts itself, or what is in force, is refused
in words."""

import csv
import json
import math
import os
import random
import re
import signal
import struct
import subprocess
import sys

import arena as arenas
import harness
import policy_three_ways as recorded
import trained_three_ways as trained

ROWS = 900
SPEED = "2400"  # 40 bars a second
SMALLEST = 5.0  # in USDT: the venue takes no order below it, so that so much above the limit stays


def buys_all(path, **changed):
    """A network that sees nothing and says 1000 of each."""
    trained.policy(path, "limits", trailing_stop_pct=0, max_position_pct=0, forced_exit_bars=0, cooldown_bars=0, min_cash_reserve=0,
                   **changed)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + size])
    for name, value in (("pi.2.weight", 0.0), ("pi.2.bias", 1000.0)):
        first, end = header[name]["data_offsets"]
        count = (end - first) // 4
        struct.pack_into(f"<{count}f", data, 8 + size + first, *[value] * count)
    with open(path, "wb") as file:
        file.write(data)


def write_bars(path, chance, price, digits, step):
    """Prices that swing by a tenth, so that a position that is left alone passes its limit."""
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(ROWS):
            open_ = price * (1 + chance.gauss(0, 0.0005))
            price = open_ * math.exp(0.005 * math.sin(2 * math.pi * i / 80) + chance.gauss(0, 0.002))
            high, low = max(open_, price) * (1 + abs(chance.gauss(0, 0.001))), min(open_, price) * (1 - abs(chance.gauss(0, 0.001)))
            cells = ",".join(f"{x:.{digits}f}" for x in (open_, high, low, price))
            file.write(f"{(recorded.START_S + 60 * i) * 1000},{cells},{1000 + chance.random():.{step}f}\n")


def shares(trades, symbols, closes, capital, most, what, away=(0, 0)):
    """At each close no symbol has more of equity than `most`, except by the bar's own move against equity's. Nothing is decided
    while the daemon is away."""
    cash, held, last, worst, equity = capital, dict.fromkeys(symbols, 0.0), {}, 0.0, capital
    rows = sorted({row for of in closes.values() for row in of})
    waiting = sorted(trades, key=lambda row: int(row["ts_ns"]))
    for row in rows:
        before = dict(last)
        end_ns = (row + 60) * 10**9
        while waiting and int(waiting[0]["ts_ns"]) < end_ns:
            trade = waiting.pop(0)
            qty, price, fee = (float(trade[key]) for key in ("qty", "price", "fee"))
            sign = 1 if trade["side"].lower() == "buy" else -1
            cash -= sign * qty * price + fee
            held[trade["symbol"]] += sign * qty
            last[trade["symbol"]] = price
        for symbol in symbols:
            last[symbol] = closes[symbol].get(row, last.get(symbol, 0.0))
        was, equity = equity, cash + sum(held[s] * last[s] for s in symbols)
        for symbol in symbols:
            share = held[symbol] * last[symbol] / equity
            move = last[symbol] / before[symbol] / (equity / was) if before.get(symbol) else 1.0
            here = not away[0] <= row <= away[1]
            allowed = most * max(move, 1.0) + SMALLEST / equity
            assert not here or share <= allowed, f"{what}: {share:.4f} of equity in {symbol} at {row}, after a move of {move}"
            worst = max(worst, share)
    assert worst > most * 0.9, f"{what}: {worst}: it does not buy what it may"
    return worst


def closes_of(files):
    closes = {}
    for path in files:
        with open(path) as file:
            closes[os.path.basename(path).split("_")[0]] = {
                int(row["timestamp"]) // 1000: float(row["close"]) for row in csv.DictReader(file)}
    return closes


def refused(daemon, words, *arguments):
    done = subprocess.run([harness.PAPERTAPE, "policy", "promote", *arguments, "--state", daemon.state], capture_output=True, text=True)
    assert done.returncode == 1, (arguments, done)
    for word in words:
        assert word in done.stderr, (word, done.stderr)


def bad_input(arena, path):
    daemon = arena.daemon
    given = ["all", "--policy", path]
    refused(daemon, ["exposure-symbol", "0.3", "exposure, 0.2"], *given, "--exposure", "20%", "--exposure-symbol", "30%")
    refused(daemon, ["cooldown", "portfolio_trailing_stop"], *given, "--cooldown", "4h")
    refused(daemon, ["take-profit", "a part of 0"], *given, "--take-profit", "10%:0")
    refused(daemon, ["exposure", "\"-1%\""], *given, "--exposure=-1%")
    refused(daemon, ["stop-loss", "\"150%\""], *given, "--stop-loss", "150%")
    refused(daemon, ["cooldown", "\"4\"", "as 4h"], *given, "--portfolio-trailing-stop", "5%", "--cooldown", "4")
    assert not [p for p in arena.status()["policies"] if p["role"] != "configured"], "nothing was promoted"


def promoted(arena, path):
    daemon = arena.daemon
    said = daemon.papertape("policy", "promote", "all", "--policy", path, "--exposure-symbol", "30%", "--take-profit", "50%:10%")
    assert "limits: exposure_symbol 0.3, take_profit 0.5:0.1" in said, said
    shown = daemon.papertape("policy", "show", "all")
    assert re.search(r"limits +exposure_symbol 0.3, take_profit 0.5:0.1", shown), shown
    refused(daemon, ["exposure_symbol is 0.3 and not 0.4", "retire"], "all", "--exposure-symbol", "40%")
    refused(daemon, ["stop_loss is 0 and not 0.05", "retire"], "all", "--policy", path, "--stop-loss", "5%")
    arena.trading("all")
    crowned = daemon.papertape("policy", "promote", "all", "--exposure-symbol", "30%")
    assert "champion" in crowned and "exposure_symbol 0.3" in crowned, crowned
    return arena.policy("all")


def fills_of(daemon, account):
    return [row for row in csv.DictReader(daemon.papertape("fills", "--csv").splitlines()) if row["account"] == account]


def looked_at(arena, files, policy, away):
    """All that can be said of it afterwards."""
    daemon = arena.daemon
    closes = closes_of(files)
    for account in ("all", "champion"):
        fills = fills_of(daemon, account)
        assert len(fills) > 10, (account, len(fills))
        first = min(int(row["ts_ns"]) for row in fills) // 10**9 - 60
        later = {symbol: {t: price for t, price in of.items() if first <= t < away[2]} for symbol, of in closes.items()}
        worst = shares(fills, list(closes), later, trained.ENVIRONMENT["initial_capital"], 0.3, account, away)
        print(f"{account}: {len(fills)} fills, at most {worst:.4f} of equity in one symbol")
    print("  " + daemon.papertape("ledger", "verify").split("\n")[0])
    parity = daemon.papertape("parity").strip().split("\n")[-1]
    print("  " + parity)
    order = fills_of(daemon, "all")[-1]["order"]
    explained = json.loads(daemon.papertape("explain", order, "--json"))["orders"][0]
    assert explained["equal"] and explained["decision"]["policy"]["id"] == policy["id"], explained
    assert explained["decision"]["policy"]["limits"] == policy["limits"], explained
    assert f"under limits: {policy['limits']}" in daemon.papertape("explain", order)
    path = os.path.join(arena.path, "log-trades.csv")
    recorded.run([harness.PAPERTAPE, "backtest", "--events", arena.state, "--trades", path])
    ours, theirs = recorded.read(path), list(csv.DictReader(daemon.papertape("fills", "--csv").splitlines()))
    assert ours and ours == theirs[-len(ours):], (len(ours), len(theirs))
    print(f"  the log gives the newest {len(ours)} fills again; orders are explained by the policy with limits")


def kept_file(arena, files, policy, path):
    """The kept copy has the limits, for the environment and a backtest; `eval --set` gives them to the file itself."""
    place = os.path.dirname(files[0])
    kept = os.path.join(arena.state, "policies", policy["id"], "policy.safetensors")
    trades, steps, _ = trained.by_environment(place, kept, files)
    backtest, _, _ = recorded.by_backtest(place, [kept], files)
    n = recorded.same_trades("kept: backtest", trades, backtest, max(steps) + 1)
    closes = {symbol: {t: price for t, price in of.items() if t < max(steps) // 10**9 - 60} for symbol, of in closes_of(files).items()}
    worst = shares(trades, list(closes), closes, trained.ENVIRONMENT["initial_capital"], 0.3, "kept")
    given = os.path.join(place, "given.csv")
    recorded.run([recorded.TRAINER, "eval", path, "--bars", ",".join(files), "--trades", given, "--set", "exposure_symbol=30%",
                  "--set", "take_profit=50%:10%"])
    assert recorded.read(given) == trades, "eval --set trades otherwise"
    print(f"its copy: {n} trades equal in environment and backtest, at most {worst:.4f} of equity in one symbol")


def main():
    arenas.SPEED = SPEED
    with harness.Folder() as folder:
        files = []
        for name, price, tick, step in trained.SYMBOLS:
            files.append(os.path.join(folder.path, f"{name}USDT_1m.csv"))
            write_bars(files[-1], random.Random(f"{recorded.SEED} {name}"), price, 4 if tick < 0.01 else 2, step)
        arena = arenas.Arena(folder, files)
        path = os.path.join(folder.path, "all.safetensors")
        buys_all(path)
        arena.start()
        bad_input(arena, path)
        policy = promoted(arena, path)
        assert policy["limits"] == "exposure_symbol 0.3, take_profit 0.5:0.1", policy
        away = [arena.status()["now_ns"] // 10**9 - 120]
        arena.daemon.popen.send_signal(signal.SIGKILL)
        arena.daemon.popen.wait()
        arena.start()
        status = arena.trading("all", "champion")
        away.append(status["now_ns"] // 10**9 + 60)
        assert arena.policy("all", status)["limits"] == policy["limits"], arena.policy("all", status)
        arena.daemon.wait_status(lambda status: all(
            len(fills_of(arena.daemon, account)) > 20 for account in ("all", "champion")), "fills of both accounts")
        away.append(arena.status()["now_ns"] // 10**9 - 60)
        assert arena.daemon.stop() == 0
        looked_at(arena, files, policy, away)
        kept_file(arena, files, policy, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
