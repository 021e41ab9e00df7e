#!/usr/bin/env python3
"""Trained policies, three ways: in their environment (papertape-trainer eval), in `papertape backtest --policy
F.safetensors`, and in a daemon that is stopped and started in the middle. The same actions to the bit, the same trades row by
row, the same equity. Networks are random, and act strongly: continuous, recurrent and discrete ones, on closes and volumes and
on sets of features, on synthetic bars with gaps (environment and backtest: a live feed fetches what it lacks) and without. And what
is refused: bars that a policy was not trained for, policies that no account trades by, files that are no policies."""

import array
import csv
import json
import math
import os
import random
import struct
import subprocess
import sys

import harness
import policy_three_ways as recorded

SEED = recorded.SEED
TRAINER = recorded.TRAINER
ROWS = recorded.ROWS
SYMBOLS = (("BTC", 42000.0, 0.01, 5), ("ETH", 2300.0, 0.01, 4), ("XRP", 0.6, 0.0001, 0))
SET = "set tiny\nclose\nema:5 /close-1\nrsi:7 /100\nadx:5@5m /100\nvolume log1p\n"
N_FEATURES = 5

ENVIRONMENT = {"execution": "market", "lookback": 4, "norm_action": 8, "norm_cash": 0.001, "norm_stocks": 0.01, "norm_tech": 0.01,
               "initial_capital": 5000, "buy_cost_pct": 0.001, "sell_cost_pct": 0.001, "slippage_pct": 0.0002,
               "trailing_stop_pct": 0.006, "max_position_pct": 0.5, "min_cash_reserve": 0.05, "forced_exit_bars": 11,
               "forced_exit_pct": 0.2, "cooldown_bars": 2, "action_span": 3}


def environment(**changed):
    """Every key: those of the preset market, and ours."""
    keys = {}
    for line in recorded.run([TRAINER, "env-replay", "--list-params"]).splitlines():
        cells = [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        if len(cells) > 3 and cells[0] and not cells[0].startswith(("-", ":")) and cells[0] != HEAD:
            keys[cells[0]] = cells[MARKET]
    assert "lookback" in keys and len(keys) > 40, keys
    keys.update({key: str(value) for key, value in {**ENVIRONMENT, **changed}.items()})
    return "".join(f"{key}={value}\n" for key, value in sorted(keys.items()))


HEAD, MARKET = "key", 2


def safetensors(path, tensors, metadata):
    """A file as the public package writes it: header, then each tensor's floats."""
    header, body, at = {"__metadata__": metadata}, b"", 0
    for name, (shape, values) in tensors.items():
        part = array.array("f", values).tobytes()
        assert len(part) == 4 * math.prod(shape), name
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + len(part)]}
        body, at = body + part, at + len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def linear(chance, tensors, name, inputs, outputs, gain):
    tensors[f"{name}.weight"] = ((outputs, inputs),
                                 [chance.gauss(0, gain / math.sqrt(inputs)) for _ in range(inputs * outputs)])
    tensors[f"{name}.bias"] = ((outputs,), [chance.gauss(0, 0.1) for _ in range(outputs)])


def network(chance, shape, widths, levels, recurrent, layer_norm):
    """Tensors of strategy/policy/net.h."""
    observation, actions = shape
    tensors = {}
    for part, outputs in (("pi", actions * max(levels, 1)), ("vf", 1)):
        inputs = observation
        for k, width in enumerate(widths):
            linear(chance, tensors, f"{part}.{k}", inputs, width, 1.7)
            if layer_norm:
                tensors[f"{part}.{k}.norm.weight"] = ((width,), [1 + chance.gauss(0, 0.1) for _ in range(width)])
                tensors[f"{part}.{k}.norm.bias"] = ((width,), [chance.gauss(0, 0.1) for _ in range(width)])
            inputs = width
        if recurrent:
            linear(chance, tensors, f"{part}.recurrent", inputs, 2 * recurrent, 1.5)
            inputs = recurrent
        linear(chance, tensors, f"{part}.{len(widths)}", inputs, outputs, 2.5)
    if not levels:
        tensors["log_std"] = ((actions,), [0.0] * actions)
    return tensors


def normaliser(symbols, changed):
    """Means and scales that make of each number something about 1: cash, quantities, rows."""
    values = {**ENVIRONMENT, **changed}
    mean, scale = [2500 * values["norm_cash"]], [2 / (2500 * values["norm_cash"])]
    for _, price, *_ in symbols:
        mean.append(0.0)
        scale.append(1 / (values["norm_stocks"] * 1000 / price))
    return mean, scale


def rows_normaliser(symbols, sets, changed):
    norm = {**ENVIRONMENT, **changed}["norm_tech"]
    closes = [(price * norm, 100 / (price * norm)) for _, price, *_ in symbols]
    if not sets:
        return closes + [(40 * norm, 1 / (30 * norm))] * len(symbols)
    rest = [(0.0, 400 / norm), (0.5 * norm, 5 / norm), (0.3 * norm, 5 / norm), (3.5 * norm, 1 / norm)]
    return [pair for close in closes for pair in [close] + rest]


def policy(path, name, sets=False, levels=0, recurrent=0, layer_norm=False, activation="tanh", seed=0, symbols=SYMBOLS,
           blind=False, names=None, least=None, interval="1m", set_text=SET, metadata=None, session_features="", **changed):
    """Writes a policy of random networks over the three symbols, or some of them; or others, with `names` and the least that is
    traded of each. A blind one sees nothing of its account. Of session_features each is about 1, too."""
    chance = random.Random(f"{SEED} {name} {seed}")
    lookback = {**ENVIRONMENT, **changed}["lookback"]
    columns = session_features.split(",") if session_features else []
    rows = rows_normaliser(symbols, sets, changed) + [(0.0, 1 / {**ENVIRONMENT, **changed}["norm_tech"])] * len(columns)
    mean, scale = normaliser(symbols, changed)
    scale = [0.0] * len(scale) if blind else scale
    n_actions = 2 if changed.get("task") == "day-trade" else len(symbols)
    mean += [pair[0] for pair in rows] * lookback
    scale += [pair[1] for pair in rows] * lookback
    widths = (32, 16)
    tensors = network(chance, (len(mean), n_actions), widths, levels, recurrent, layer_norm)
    tensors["observation.mean"] = ((len(mean),), mean)
    tensors["observation.scale"] = ((len(mean),), scale)
    extra = {"actions": "discrete", "levels": levels} if levels else {}
    least = [least] * len(symbols) if names else ["0.00002", "0.0003", "1"][: len(symbols)]
    names = names or ["BTC", "ETHUSDT", "XRP"][: len(symbols)]
    metadata = {**(metadata or {}), "format": "papertape.policy/1", "observation": str(len(mean)), "actions": str(n_actions),
                "levels": str(levels), "activation": activation, "layer_norm": "true" if layer_norm else "false",
                "shared": "false", "recurrent": str(recurrent), "policy_layers": "32,16", "value_layers": "32,16",
                "observation_clip": "10", "symbols": ",".join(names), "least_quantities": ",".join(least),
                "interval": interval, "features": "set" if sets else "closes-volumes",
                "environment": environment(**{**extra, **changed}), "trained_from": "2023-01-01T00:00:00Z",
                "trained_to": "2023-12-01T00:00:00Z", "trained_steps": "1000000", "seed": "1", "version": "0.1.0"}
    if columns:
        metadata["session_features"] = session_features
    if sets:
        metadata.update({f"features.{symbol}": set_text for symbol in names})
    safetensors(path, tensors, metadata)
    return path


FLAT = {"market": 1e-10, "reference": 1e-5}  # of what was held: the reference counts in float32

KINDS = {"continuous": {"trailing_stop_pct": 0.006},
         "features": {"sets": True, "activation": "relu", "forced_exit_bars": 0, "exposure": 0.6, "exposure_symbol": 0.3,
                      "daily_loss": 0.2, "stop_loss": 0.008, "portfolio_trailing_stop": 0.02, "cooldown": "20m",
                      "take_profit": "0.6%:50%"},
         "recurrent": {"sets": True, "recurrent": 16, "layer_norm": True, "trailing_stop_pct": 0, "max_position_pct": 0},
         "discrete": {"sets": True, "levels": 5, "activation": "silu"},
         "discrete-recurrent": {"recurrent": 32, "levels": 3}}


def made(folder, name, gaps):
    place = os.path.join(folder, name)
    os.mkdir(place)
    chance = random.Random(f"{SEED} {name}")
    files = [os.path.join(place, f"{symbol}USDT_1m.csv") for symbol, *_ in SYMBOLS]
    for path, (_, price, tick, step) in zip(files, SYMBOLS):
        recorded.write_bars(path, chance, price, tick, step, gaps)
    if gaps:
        whole_gap(files)
    return place, files


def whole_gap(files):
    """Rows that no symbol has a bar in, and a symbol that begins later."""
    for k, path in enumerate(files):
        with open(path) as file:
            lines = file.readlines()
        opens = {int(line.split(",", 1)[0]) for line in lines[1:]}
        first = recorded.START_S * 1000
        missing = {first + 60000 * i for i in (60, 61, 62, 150, 300, 301)} | ({first, first + 60000} if k == 2 else set())
        assert opens - missing != opens
        with open(path, "w") as file:
            file.writelines([lines[0]] + [line for line in lines[1:] if int(line.split(",", 1)[0]) not in missing])


def by_environment(place, path, files):
    """Trades; equity and actions at the close that each step reaches; what is printed."""
    names = {what: os.path.join(place, f"eval-{what}.csv") for what in ("trades", "steps")}
    out = json.loads(recorded.run([TRAINER, "eval", path, "--bars", ",".join(files), "--steps", names["steps"], "--trades",
                                   names["trades"]]))
    assert out["schema"] == "papertape.eval/1"
    steps = {out["first_ns"] + 60 * (int(row["t"]) + 1) * 10**9: row for row in recorded.read(names["steps"])}
    return recorded.read(names["trades"]), steps, out


def acting(place, name, network_of, files, **kind):
    """The first of the seeds' networks that trades much, both ways, to the end: its file, and what it does."""
    for seed in range(40):
        path = policy(os.path.join(place, f"{name}.safetensors"), network_of, seed=seed, **kind)
        trades, steps, out = by_environment(place, path, files)
        middle = (recorded.START_S + 60 * (ROWS * 6 // 10)) * 10**9
        late = [row["side"] for row in trades if int(row["ts_ns"]) > middle]
        if min(late.count("BUY"), late.count("SELL")) > 5 and out["whole"]["trades"] > 1:
            return path, seed, trades, steps, out
    raise AssertionError(f"{name}: no network of 40 trades")


def strong(name, steps, levels):
    """The network says many things, and says them loudly."""
    said = [[float(row[f"action_{symbol}"]) for row in steps.values()] for symbol in ("BTC", "ETHUSDT", "XRP")]
    most = max(len(set(of)) for of in said)
    assert most > (2 if levels > 3 else 1 if levels else len(steps) // 2), (name, most)
    loud = [x for of in said for x in of]
    assert levels or (max(loud) > 0.5 and min(loud) < -0.5), (name, min(loud), max(loud))


def figures(name, out, trades, equity):
    """What eval counted is what there is."""
    whole = out["whole"]
    last = equity[max(equity)]
    assert whole["steps"] == len(equity) and whole["buys"] + whole["sells"] == len(trades), (name, whole)
    assert abs(whole["fees"] - sum(float(row["fee"]) for row in trades)) < 1e-6
    assert abs(whole["turnover"] - sum(float(row["notional"]) for row in trades)) < 1e-3 * (1 + len(trades) * 1e-3)
    digits = 0 if out["execution"] == "market" else 1e-8  # of the steps' equity; the reference is printed with nine
    assert abs(whole["equity"] - last) <= digits * last, (name, whole, last)
    assert abs(whole["return_pct"] - 100 * (last / whole["capital"] - 1)) < 1e-9 + 200 * digits, (name, whole, last)
    held, most, made, results = {}, {}, {}, []
    for row in trades:
        symbol, qty = row["symbol"], float(row["qty"]) * (1 if row["side"] == "BUY" else -1)
        before, price, fee = held.get(symbol, 0.0), float(row["price"]), float(row["fee"])
        held[symbol] = before + qty
        most[symbol] = max(most.get(symbol, 0.0), abs(before), abs(held[symbol]))
        flat = abs(held[symbol]) <= FLAT[out["execution"]] * most[symbol]
        flips = not flat and before * held[symbol] < 0
        part = -before / qty if flips else 1.0
        made[symbol] = made.get(symbol, 0.0) - part * (qty * price + fee)
        if flips or flat:
            results.append(made.pop(symbol))
            most[symbol] = 0.0
            made[symbol] = -(1 - part) * (qty * price + fee)
            held[symbol] = held[symbol] if flips else 0.0
    assert whole["trades"] == len(results), (name, whole["trades"], len(results))
    won, lost = sum(r for r in results if r > 0), -sum(r for r in results if r <= 0)
    assert abs(whole["win_rate_pct"] - 100 * sum(r > 0 for r in results) / len(results)) < 1e-9, name
    assert lost == 0 or abs(whole["profit_factor"] - won / lost) < 1e-4 * (1 + won / lost), (name, whole["profit_factor"], won / lost)
    for key in ("sharpe", "sortino", "max_drawdown_pct", "cagr_pct", "calmar", "win_rate_pct", "profit_factor",
                "benchmark_return_pct"):
        assert key in whole, key


def same_actions(name, daemon, steps, levels):
    """What an order is explained by is what the environment was given, to the bit."""
    orders = [row for row in csv.DictReader(daemon.papertape("orders", "--csv").splitlines()) if row["tag"] == "policy"]
    names = {"BTCUSDT": "BTC", "ETHUSDT": "ETHUSDT", "XRPUSDT": "XRP"}
    n = 0
    for order in orders[:: max(1, len(orders) // 8)]:
        explained = json.loads(daemon.papertape("explain", order["order"], "--json"))["orders"][0]
        at = int(explained["decision"]["bar"]["open_time_ns"]) + 120 * 10**9  # the step that it begins ends a bar later
        if at not in steps:
            continue
        theirs = float(steps[at][f"action_{names[order['symbol']]}"])
        if levels:
            theirs = (theirs - levels // 2) * 3.0 / (levels // 2)
        ours = explained["decision"]["policy"]["action"]
        assert struct.pack("f", ours) == struct.pack("f", theirs), (name, order, ours, theirs)
        n += 1
    assert n > 0, name
    return n


def what_if(name, daemon, path, other):
    """From the middle on: the same policy as if nothing were asked, another one otherwise."""
    middle = str(recorded.START_S + 60 * (ROWS // 2))
    same, another = (json.loads(daemon.papertape("what-if", "--account", "policy", "--at", middle, "--policy", what, "--json"))
                     for what in (path, other))
    assert same["was"]["strategy"] == same["would_be"]["strategy"] == "policy", (name, same["was"], same["would_be"])
    assert same["was"] == same["would_be"] and same["was"]["fills"] > 5, (name, same["was"], same["would_be"])
    assert another["was"] == same["was"] != another["would_be"], (name, another["would_be"])


def three_ways(folder, name, place, files, live):
    kind = dict(KINDS[name])
    levels = kind.get("levels", 0)
    path, seed, trades, steps, out = acting(place, name, name, files, **kind)
    equity = {time: float(row["equity"]) for time, row in steps.items()}
    strong(name, steps, levels)
    figures(name, out, trades, equity)
    until_ns = max(equity)
    turned = os.path.join(place, f"{name}.d")
    os.mkdir(turned)
    theirs, their_equity, texts = recorded.by_backtest(turned, [path], files[::-1])
    n = recorded.same_trades(f"{name}: backtest", trades, theirs, until_ns)
    most = recorded.same_equity(f"{name}: backtest", equity, their_equity)
    assert most == 0, name
    sides = {side: sum(row["side"] == side for row in trades) for side in ("BUY", "SELL")}
    print(f"{name}: {n} trades ({sides['BUY']} bought, {sides['SELL']} sold) equal in environment and backtest; equity of "
          f"{len(equity)} bars within {most:.3g}")
    if not live:
        return
    other = policy(os.path.join(turned, "other.safetensors"), name, seed=seed + 100, **kind)
    explained = []

    def look(daemon):
        explained.append(same_actions(name, daemon, steps, levels))
        what_if(name, daemon, path, other)

    live_trades, live_equity, stored = recorded.by_daemon(folder, turned, [path], files, "1m", 0.0002, [other], look)
    recorded.same_trades(f"{name}: daemon", trades, live_trades, until_ns)
    most = recorded.same_equity(f"{name}: daemon", equity, live_equity)
    # its symbols are in the order of the configuration, and so in the backtest's
    for what in ("orders", "trades", "ledger"):
        assert stored[what] == texts[what], f"{name}: {what} of daemon and backtest are others"
    assert most == 0, name
    print(f"{name}: the same live over TLS in two runs of the daemon, equity within {most:.3g}; orders, fills and ledger as of "
          f"the backtest, byte by byte; {explained[0]} explained actions as the environment's")


def refused(argv, *words):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=recorded.WAIT)
    lines = done.stderr.strip().split("\n")
    assert done.returncode in (1, 2), (argv, done)
    for word in words:
        assert word in lines[-1], (argv, word, lines)


def bad_input(folder, files):
    """One line each, which names both sides."""
    place = os.path.join(folder.path, "bad")
    os.mkdir(place)

    def made_with(name, **changed):
        return policy(os.path.join(place, f"{name}.safetensors"), "bad", **changed)

    good = made_with("good")
    backtest = [harness.PAPERTAPE, "backtest", "--no-cache", "--bars", ",".join(files), "--policy"]
    evaluate = [TRAINER, "eval", "--bars", ",".join(files)]
    refused([*backtest[:3], "--bars", ",".join(files[:2]), "--policy", good], "XRP", "not among the symbols")
    refused([TRAINER, "eval", good, "--bars", ",".join(files[:2])], "XRP", "not among them")
    slow = []
    for path in files:  # every fifth bar
        slow.append(os.path.join(place, os.path.basename(path).replace("1m", "5m")))
        with open(path) as source, open(slow[-1], "w") as to:
            lines = source.readlines()
            to.writelines(lines[:1] + [line for line in lines[1:] if int(line.split(",", 1)[0]) % 300000 == 0])
    refused([*backtest[:3], "--bars", ",".join(slow), "--policy", good], "1m", "5m")
    refused([TRAINER, "eval", good, "--bars", ",".join(slow)], "1m", "5m")
    refused([*backtest, made_with("reference", execution="reference")], "execution = reference", "market")
    refused([*backtest, made_with("fees", sell_cost_pct=0.002)], "buy_cost_pct 0.001", "sell_cost_pct 0.002")
    refused([*backtest, os.path.join(place, "nothing.safetensors")], "nothing.safetensors")
    cut = os.path.join(place, "cut.safetensors")
    with open(good, "rb") as source, open(cut, "wb") as to:
        to.write(source.read()[:-4])
    refused([*backtest, cut], "cut.safetensors")
    refused([*evaluate, cut], "cut.safetensors")
    refused([*evaluate, made_with("lookback", lookback=ROWS)], "lookback")
    refused([*evaluate, good, "--splits", "cpcv:5"], "cpcv:5", "cpcv:N,K")
    refused([*evaluate, good, "--splits", f"cpcv:{min(64, ROWS // 8)},2"], "--splits", "at least 9 in each")
    config = os.path.join(place, "config.ini")
    for symbols, interval, words in (("BTCUSDT, ETHUSDT", "1m", ["XRP", "[account policy] policy"]),
                                     ("BTCUSDT, ETHUSDT, XRPUSDT", "5m", ["1m", "5m", "[account policy] policy"])):
        with open(config, "w") as file:
            file.write(f"[market]\nsymbols = {symbols}\ninterval = {interval}\n[account policy]\npolicy = {good}\n")
        refused([harness.DAEMON, "--config", config, "--check-config"], *words)
    # given, other fees and another cash are the user's will
    recorded.run([*backtest, good, "--fee-taker", "0.002", "--fee-maker", "0.002", "--cash", "20000"])
    print("bad input: each refused in one line that names both")


def splits(place, files):
    """Every combination, every group as often as the others, and blocks that touch nothing of another."""
    path = os.path.join(place, "continuous.safetensors")
    out = json.loads(recorded.run([TRAINER, "eval", path, "--bars", ",".join(files), "--splits", "cpcv:5,2"]))
    of = out["splits"]
    assert (of["n_groups"], of["n_tested"], of["n_combinations"], of["n_paths"]) == (5, 2, 10, 4)
    assert sorted(tuple(c["groups"]) for c in of["combinations"]) == [(a, b) for a in range(5) for b in range(a + 1, 5)]
    assert len(of["groups"]) == 5 and len(of["paths"]) == 4
    lookback = ENVIRONMENT["lookback"]
    for combination in of["combinations"]:
        a, b = combination["groups"]
        blocks = combination["blocks"]
        assert len(blocks) == combination["episodes"] == (1 if b == a + 1 else 2), combination
        assert combination["steps"] == sum(block["rows"] - 2 * lookback for block in blocks)
    for path_ in of["paths"]:
        assert path_["steps"] > 0
    alone = [group["steps"] for group in of["groups"]]
    assert sum(path_["steps"] for path_ in of["paths"]) == sum(c["steps"] for c in of["combinations"])
    apart = next(c for c in of["combinations"] if c["groups"] == [0, 2])
    both = (1 + of["groups"][0]["return_pct"] / 100) * (1 + of["groups"][2]["return_pct"] / 100) - 1
    assert abs(apart["return_pct"] / 100 - both) < 1e-9, (apart, both)
    assert apart["steps"] == alone[0] + alone[2] and apart["fees"] > 0
    print(f"splits: 10 combinations of 5 groups, 4 paths; groups of {alone} steps")


def executions(place, files):
    """Policies that no account trades by are evaluated too: those of the reference. The day trade's two actions are traded."""
    day = {"task": "day-trade", "session_close_s": 4 * 3600, "threshold": 0.1, "trailing_stop_pct": 0, "max_position_pct": 0,
           "min_cash_reserve": 0, "forced_exit_bars": 0, "cooldown_bars": 0}
    for name, changed in (("reference", {"execution": "reference"}), ("day-trade", day),
                          ("day-trade-reference", {**day, "execution": "reference", "shorts": "true"})):
        only = SYMBOLS[:1] if "task" in changed else SYMBOLS
        path, _, trades, steps, out = acting(place, name, "continuous", files, symbols=only, **changed)
        whole = out["whole"]
        assert out["execution"] == changed.get("execution", "market") and out["task"] == changed.get("task", "portfolio"), out
        assert whole["steps"] == len(steps) > 0 and whole["buys"] + whole["sells"] == len(trades), whole
        assert abs(whole["fees"] - sum(float(row["fee"]) for row in trades)) < 1e-4 * (1 + whole["fees"]), (name, whole)
        figures(name, out, trades, {time: float(row["equity"]) for time, row in steps.items()})
        print(f"{name}: {len(steps)} steps, {whole['buys']} purchases, {whole['sells']} sales, {whole['trades']} trades")
        if "execution" in changed:
            refused([harness.PAPERTAPE, "backtest", "--no-cache", "--bars", ",".join(files), "--policy", path], "reference")
            continue
        equity = {time: float(row["equity"]) for time, row in steps.items()}
        turned = os.path.join(place, f"{name}.d")
        os.mkdir(turned)
        theirs, their_equity, _ = recorded.by_backtest(turned, [path], files[:1])
        n = recorded.same_trades(f"{name}: backtest", trades, theirs, max(equity))
        assert recorded.same_equity(f"{name}: backtest", equity, their_equity) == 0
        print(f"{name}: {n} trades of sessions that end by the clock equal in environment and backtest")


# A small training, on the CPU.
TRAINING = """[training]
name = learned
total_steps = 1024
output = {output}
policy_layers = 16,16
value_layers = 16,16
policy_gain = 1
copies = 4
steps = 128
minibatch = 128
epochs = 2
device = cpu
threads = 1
"""
LEARNED = TRAINING + """[environment]
lookback = 3
random_start = true
episode_bars = 100
initial_capital = 100000
buy_cost_pct = 0.001
sell_cost_pct = 0.001
trailing_stop_pct = 0.005
norm_action = 1
[data]
bars = {bars}
features = market14
train_to = {train_to}
test_from = {test_from}
"""


def learned(place, files):
    """A policy that the trainer made: eval repeats the figures of its last evaluation, and the backtest makes its trades."""
    train_to, test_from = (recorded.START_S + 60 * (ROWS * part // 100) for part in (70, 78))
    config = os.path.join(place, "learned.ini")
    with open(config, "w") as file:
        file.write(LEARNED.format(output=os.path.join(place, "out"), bars=", ".join(files), train_to=train_to, test_from=test_from))
    events = [json.loads(line) for line in recorded.run([TRAINER, "train", "--config", config]).splitlines()]
    last = [event for event in events if event["event"] == "evaluation"][-1]
    path = os.path.join(place, "out/learned.safetensors")
    tested = json.loads(recorded.run([TRAINER, "eval", path, "--bars", ",".join(files), "--from", str(test_from)]))["whole"]
    for ours, theirs in (("return_pct", "return"), ("benchmark_return_pct", "benchmark_return"), ("exposure_pct", "exposure"),
                         ("invested_pct", "invested")):
        assert abs(tested[ours] - 100 * last[theirs]) < 1e-8, (ours, tested, last)
    assert (tested["steps"], tested["buys"], tested["sells"]) == tuple(last[key] for key in ("evaluated_steps", "buys", "sells"))
    assert abs(tested["equity"] - last["equity"]) < 1e-6 and abs(tested["fees"] - last["fees"]) < 1e-6, (tested, last)
    trades, steps, _ = by_environment(place, path, files)
    equity = {time: float(row["equity"]) for time, row in steps.items()}
    turned = os.path.join(place, "learned.d")
    os.mkdir(turned)
    theirs, their_equity, _ = recorded.by_backtest(turned, [path], files[1:] + files[:1])
    n = recorded.same_trades("learned: backtest", trades, theirs, max(equity))
    assert n > 50 and recorded.same_equity("learned: backtest", equity, their_equity) == 0
    print(f"learned: {n} trades of a policy that the trainer made, equal in environment and backtest; its evaluation repeated by eval")


def main():
    print(f"counts: {ROWS} synthetic bars of three symbols, seed {SEED}" + ("" if harness.LONG else " (more with PAPERTAPE_LONG)"))
    with harness.Folder() as folder:
        place, files = made(folder.path, "plain", False)
        for name in KINDS:
            three_ways(folder, name, place, files, harness.LONG or name in ("features", "discrete-recurrent"))
        splits(place, files)
        executions(place, files)
        learned(place, files)
        gaps, with_gaps = made(folder.path, "gaps", True)
        for name in KINDS:
            three_ways(folder, name, gaps, with_gaps, False)
        bad_input(folder, files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
