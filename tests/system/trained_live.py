#!/usr/bin/env python3
"""Policies that the trainer made, live on paper.

real: trained on the bars of 2023 (BTC and ETH of the sample data; synthetic bars without it), then live over papertape-replay and in
`papertape backtest --policy` over the bars that follow: the same actions, the same trades, orders and ledger row by row.

planted: five markets whose volume predicts the next bar's drift, with noise, a seed each. A policy trained on one such market trades
another of its kind live, beside an account that buys and holds and one that acts at random: it must earn more than either, each
time."""

import csv
import datetime
import gzip
import json
import math
import os
import random
import struct
import sys

import harness
import policy_three_ways as recorded

SEED = recorded.SEED
TRAINER = recorded.TRAINER
FIVE_MINUTES = 300
TRAINED_ROWS, LIVE_ROWS = (20000, 2000) if harness.LONG else (4000, 500)
PLANTED_ROWS, PLANTED_LIVE, SEEDS = 32768, *((1500, 5) if harness.LONG else (300, 3))
STAY, DRIFT, NOISE, SHOWN, FEE = 0.9, 0.004, 0.004, 0.3, 0.001


def train(place, name, keys):
    """Trains by a configuration of sections and keys; the policy's file."""
    config = os.path.join(place, f"{name}.ini")
    with open(config, "w") as file:
        for section, values in keys.items():
            file.write(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items()))
    last = json.loads(recorded.run([TRAINER, "train", "--config", config, "--json"]).strip().rsplit("\n", 1)[-1])
    assert last["event"] == "end" and last["result"] == "done", last
    return os.path.join(place, "out", f"{name}.safetensors")


# ---- real bars ----


def real_bars(folder):
    """Bars to train on, and those that follow, a file a symbol."""
    places = [os.path.join(folder, name) for name in ("before", "after")]
    for place in places:
        os.mkdir(place)
    files = [[], []]
    for symbol in ("BTC", "ETH"):
        path = os.path.join(harness.SHARED, "data/bars", f"{symbol}USDT_5m_2023.csv.gz")
        if not os.path.exists(path):
            return synthetic_bars(folder, places)
        with gzip.open(path, "rt") as source:
            header = source.readline()
            rows = [source.readline() for _ in range(TRAINED_ROWS + LIVE_ROWS)]
        for i, (begin, end) in enumerate(((0, TRAINED_ROWS), (TRAINED_ROWS, TRAINED_ROWS + LIVE_ROWS))):
            files[i].append(os.path.join(places[i], f"{symbol}USDT_5m.csv"))
            with open(files[i][-1], "w") as file:
                file.write(header + "".join(rows[begin:end]))
    print(f"real: BTC and ETH of 2023, {TRAINED_ROWS} bars to train on and {LIVE_ROWS} live")
    return places[1], files


def synthetic_bars(folder, places):
    """The same of synthetic bars, of a minute."""
    _, whole, _ = recorded.made(folder, "whole", False)
    files = [[], []]
    for path in whole[:2]:
        with open(path) as file:
            header, *rows = file.readlines()
        cut = len(rows) // 2
        for i, part in enumerate((rows[:cut], rows[cut:])):
            files[i].append(os.path.join(places[i], os.path.basename(path)))
            with open(files[i][-1], "w") as file:
                file.write(header + "".join(part))
    print("real: no sample data: synthetic bars of two symbols")
    return places[1], files


REAL = {"total_steps": 65536 if harness.LONG else 8192, "policy_layers": "64,64", "value_layers": "64,64", "policy_gain": 1,
        "copies": 8, "steps": 256, "minibatch": 256, "device": "cpu", "threads": 1}
TRADING = {"lookback": 3, "random_start": "true", "episode_bars": 120, "buy_cost_pct": FEE, "sell_cost_pct": FEE,
           "trailing_stop_pct": 0.01, "norm_action": 4, "initial_capital": 100000}


def same_actions(daemon, path, steps, seconds):
    """What orders are explained by is what the environment was given, to the bit."""
    orders = [row for row in csv.DictReader(daemon.papertape("orders", "--csv").splitlines()) if row["tag"] == "policy"]
    n = 0
    for order in orders[:: max(1, len(orders) // 10)]:
        decided = json.loads(daemon.papertape("explain", order["order"], "--json"))["orders"][0]["decision"]
        at = int(decided["bar"]["open_time_ns"]) + 2 * seconds * 10**9  # the step that it begins ends a bar later
        if at in steps:
            ours, theirs = decided["policy"]["action"], float(steps[at][f"action_{order['symbol']}"])
            assert struct.pack("f", ours) == struct.pack("f", theirs), (path, order, ours, theirs)
            n += 1
    assert n > 3, (path, n, len(orders))
    return n


def real(folder):
    place, (before, after) = real_bars(folder.path)
    interval = os.path.basename(after[0]).split("_")[1].split(".")[0]
    seconds = {"1m": 60, "5m": 300}[interval]
    paths = [train(place, f"real{seed}", {"training": {"name": f"real{seed}", "output": os.path.join(place, "out"), "seed": seed, **REAL},
                                          "environment": TRADING, "data": {"bars": ", ".join(before), "test_share": 0, "validation_share": 0}})
             for seed in (1, 2)]
    names = {what: os.path.join(place, f"eval-{what}.csv") for what in ("trades", "steps")}
    out = json.loads(recorded.run([TRAINER, "eval", paths[0], "--bars", ",".join(after), "--steps", names["steps"], "--trades",
                                   names["trades"]]))
    steps = {out["first_ns"] + seconds * (int(row["t"]) + 1) * 10**9: row for row in recorded.read(names["steps"])}
    trades, until_ns = recorded.read(names["trades"]), max(steps)
    equity = {time: float(row["equity"]) for time, row in steps.items()}
    theirs, their_equity, texts = recorded.by_backtest(place, [paths[0]], after)
    n = recorded.same_trades("real: backtest", trades, theirs, until_ns)
    assert n > 20 and recorded.same_equity("real: backtest", equity, their_equity) == 0, n
    seen = []
    live_trades, live_equity, stored = recorded.by_daemon(
        folder, place, [paths[0]], after, interval, 0, [paths[1]],
        lambda daemon: seen.append(same_actions(daemon, paths[0], steps, seconds)))
    recorded.same_trades("real: daemon", trades, live_trades, until_ns)
    assert recorded.same_equity("real: daemon", equity, live_equity) == 0
    for what in ("orders", "trades", "ledger"):
        assert stored[what] == texts[what], f"real: {what} of daemon and backtest are others"
    print(f"real: {n} trades equal in environment, backtest and daemon, equity of {len(equity)} bars to the bit; orders, fills "
          f"and ledger byte by byte; {seen[0]} explained actions as the environment's")


# ---- a planted signal ----


def planted_bars(path, chance, rows):
    """As tests/trainer/ppo/learn/generated.h has them: the regime stays with STAY, the volume shows it, with noise."""
    close, regime = 100.0, chance.choice((-1, 1))
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(rows):
            open_, change = close, DRIFT * regime + NOISE * (2 * chance.random() - 1)
            close = round(close * (1 + change), 4)
            regime = regime if chance.random() < STAY else -regime
            volume = 1e5 * math.exp(regime + SHOWN * chance.gauss(0, 1))
            file.write(f"{(recorded.START_S + FIVE_MINUTES * i) * 1000},{open_:.4f},{max(open_, close):.4f},"
                       f"{min(open_, close):.4f},{close:.4f},{volume:.4f}\n")


PLANTED = {"total_steps": 200 * 2048, "policy_layers": "32,32", "value_layers": "32,32", "copies": 16, "steps": 128, "minibatch": 512,
           "epochs": 4, "gamma": 0.95, "gae_lambda": 0.9, "learning_rate": 1e-3, "lr_schedule": "linear", "device": "cpu"}
CAPITAL = 1000
RULES = {"lookback": 1, "norm_action": 0.25, "initial_capital": CAPITAL, "buy_cost_pct": FEE, "sell_cost_pct": FEE,
         "forced_exit_bars": 0}
LEARNING = {**RULES, "random_start": "true", "episode_bars": 130, "norm_cash": 1e-3, "norm_stocks": 0.1, "norm_tech": 1,
            "norm_reward": 1, "weight_alpha": 0, "weight_cash": 0, "weight_absolute": 1, "time_decay_floor": 1}


def recorded_policy(place, name, symbol, actions):
    """Two files: what it did, row by row."""
    paths = [os.path.join(place, f"{name}.{end}") for end in ("json", "csv")]
    with open(paths[0], "w") as file:
        json.dump({"symbols": [symbol], "interval": "5m", "bars": PLANTED_LIVE, "min_order_qty": [0],
                   "first_bar": datetime.datetime.fromtimestamp(recorded.START_S, datetime.timezone.utc).isoformat(),
                   "params": RULES}, file)
    with open(paths[1], "w") as file:
        file.write(f"t,action_{symbol}\n")
        file.writelines(f"{t},{action:.6f}\n" for t, action in enumerate(actions, 1))
    return paths


def planted(folder):
    place = os.path.join(folder.path, "planted")
    os.mkdir(place)
    features = os.path.join(place, "planted.set")
    with open(features, "w") as file:
        file.write("set planted\nclose\nvolume log1p\n")
    files, sections = [], []
    for seed in range(1, SEEDS + 1):
        symbol, chance = f"M{seed}USDT", random.Random(f"{SEED} planted {seed}")
        seen = os.path.join(place, f"seen{seed}")
        os.mkdir(seen)
        bars = os.path.join(seen, f"{symbol}_5m.csv")
        planted_bars(bars, chance, PLANTED_ROWS)
        files.append(os.path.join(place, f"{symbol}_5m.csv"))
        planted_bars(files[-1], chance, PLANTED_LIVE)
        trained = train(place, f"planted{seed}", {
            "training": {"name": f"planted{seed}", "output": os.path.join(place, "out"), "seed": seed, **PLANTED},
            "environment": LEARNING, "data": {"bars": bars, "features": features, "test_share": 0, "validation_share": 0}})
        rows = PLANTED_LIVE - 2
        held = recorded_policy(place, f"hold{seed}", symbol, [1.0] + [0.0] * (rows - 1))
        drawn = recorded_policy(place, f"random{seed}", symbol, [2 * chance.random() - 1 for _ in range(rows)])
        sections.append(f"[account trained{seed}]\npolicy = {trained}\n")
        for kind, paths in (("hold", held), ("random", drawn)):
            sections.append(f"[account {kind}{seed}]\npolicy = {paths[0]}\nactions = {paths[1]}\n")
    symbols = [os.path.basename(path).split("_")[0] for path in files]
    config = (f"[market]\nsymbols = {', '.join(symbols)}\ninterval = 5m\nhistory = 0\nstreams = kline\n[engine]\nfill_model = bar\n"
              f"equity_interval_s = 0\n" + "".join(sections))
    replay = folder.start(harness.Replay(place, "--bars", *files, "--speed", "max"))
    daemon = folder.start(harness.Daemon(place, replay, config, ["--clock", "feed"]))
    end_s = recorded.START_S + FIVE_MINUTES * PLANTED_LIVE
    status = harness.wait_last_bars(daemon, dict.fromkeys(symbols, (end_s - FIVE_MINUTES) * 1000), "5m", recorded.WAIT, end_s * 10**9)
    returns = {account["account"]: account["return_pct"] for account in status["accounts"]}
    print(f"planted: {PLANTED_LIVE} bars live; % of {CAPITAL}\n| seed | trained | holding | at random |\n|---|---|---|---|")
    for seed in range(1, SEEDS + 1):
        ours, held, drawn = (returns[f"{kind}{seed}"] for kind in ("trained", "hold", "random"))
        print(f"| {seed} | {ours:+.2f} | {held:+.2f} | {drawn:+.2f} |")
    for seed in range(1, SEEDS + 1):
        assert returns[f"trained{seed}"] > max(returns[f"hold{seed}"], returns[f"random{seed}"], 0), seed
    print("  " + daemon.papertape("ledger", "verify").split("\n")[0])
    assert daemon.stop() == 0
    assert replay.stop() == 0


def main():
    print(f"counts: {LIVE_ROWS} real bars, {PLANTED_LIVE} planted ones, {SEEDS} seeds; seed {SEED}" +
          ("" if harness.LONG else " (more with PAPERTAPE_LONG)"))
    with harness.Folder() as folder:
        real(folder)
        planted(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
