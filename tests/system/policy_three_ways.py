#!/usr/bin/env python3
"""One file of actions, three ways: the training environment (`execution = market`), `papertape backtest --policy`, and a
daemon over papertape-replay --bars with the bar fill model. The same trades, row by row (time, symbol, side, quantity, price,
fee), and equity within 1e-6 at each bar. On synthetic bars of three symbols with every rule of the policy on; on synthetic bars with
gaps (environment and backtest: a live feed fetches what it lacks); and, where the sample data is, on the six recordings of
actions over five symbols (with PAPERTAPE_LONG all of them live, else one)."""

import contextlib
import csv
import datetime
import gzip
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys

import harness

SEED = int(os.environ.get("PAPERTAPE_SEED", "20261122"))
TRAINER = os.path.join(harness.BUILD, "trainer/papertape-trainer")
TOLERANCE = 1e-6
WAIT = 1200.0 if harness.LONG else 400.0
START_S = 1704067200
ROWS = 2000 if harness.LONG else 500
RECORDED = ("plain", "trailing", "reserve", "concentration", "patient", "big")
LIVE = RECORDED if harness.LONG else ("trailing",)

EVERY_RULE = {"lookback": 4, "norm_action": 8.0, "initial_capital": 5000.0, "buy_cost_pct": 0.001, "sell_cost_pct": 0.001,
              "slippage_pct": 0.0002, "trailing_stop_pct": 0.006, "max_position_pct": 0.5, "min_cash_reserve": 0.05,
              "forced_exit_bars": 11, "forced_exit_pct": 0.2, "cooldown_bars": 2}


def write_bars(path, chance, price, tick, step, gaps):
    digits = {0.01: 2, 0.0001: 4}[tick]
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(ROWS):
            drift = 0.0004 * math.sin(2 * math.pi * i / 120)
            open_ = price * (1 + chance.gauss(0, 0.0006))
            close = open_ * math.exp(drift + chance.gauss(0, 0.0015))
            high = max(open_, close) * (1 + abs(chance.gauss(0, 0.001)))
            low = min(open_, close) * (1 - abs(chance.gauss(0, 0.001)))
            volume = round(20 + chance.lognormvariate(3, 1), step)  # enough for a trade at each price
            price = close
            if gaps and 0 < i < ROWS - 1 and chance.random() < 0.03:
                continue
            cells = ",".join(f"{round(x, digits):.{digits}f}" for x in (open_, max(high, open_, close), min(low, open_, close),
                                                                       close))
            file.write(f"{(START_S + 60 * i) * 1000},{cells},{volume:.{step}f}\n")


LIMITS = {"exposure": "60%", "exposure_symbol": 0.3, "daily_loss": 0.2, "stop_loss": 0.004, "portfolio_trailing_stop": 0.03,
          "cooldown": "20m", "take_profit": "0.5%:50%"}


def made(folder, name, gaps, limits=None):
    """Bars files, parameters and actions of made markets."""
    chance = random.Random(f"{SEED} {name}")
    place = os.path.join(folder, name)
    os.mkdir(place)
    kinds = (("BTC", 42000.0, 0.01, 5), ("ETH", 2300.0, 0.01, 4), ("XRP", 0.6, 0.0001, 0))
    files = [os.path.join(place, f"{symbol}USDT_1m.csv") for symbol, *_ in kinds]
    for path, (_, price, tick, step) in zip(files, kinds):
        write_bars(path, chance, price, tick, step, gaps)
    first = START_S + 60 * 5
    params = {"symbols": ["BTC", "ETHUSDT", "XRP"], "interval": "1m", "bars": ROWS - 7,
              "first_bar": datetime.datetime.fromtimestamp(first, datetime.timezone.utc).isoformat(),
              "min_order_qty": [0.00002, 0.0003, 1.0], "params": {**EVERY_RULE, **(limits or {})}}
    paths = [os.path.join(place, "params.json"), os.path.join(place, "actions.csv")]
    with open(paths[0], "w") as file:
        json.dump(params, file)
    lookback = EVERY_RULE["lookback"]
    with open(paths[1], "w") as file:
        file.write("t,action_BTC,action_ETH,action_XRP\n")
        for t in range(lookback, ROWS - 7 - lookback):
            actions = [chance.gauss(0, 2) if chance.random() < 0.3 else 0.0 for _ in range(3)]
            file.write(f"{t}," + ",".join(f"{a:.7g}" for a in actions) + "\n")
    return paths, files, "1m"


def recorded(folder, name):
    """The recording's bars, and some before and after, cut out of the sample data."""
    data = os.path.join(harness.SHARED, "data")
    paths = [os.path.join(data, "env", f"{name}.{end}") for end in ("json", "csv")]
    with open(paths[0]) as file:
        params = json.load(file)
    first = datetime.datetime.fromisoformat(params["first_bar"]).timestamp()
    begin, end = first - 300 * 20, first + 300 * (params["bars"] + 10)
    place = os.path.join(folder, name)
    os.mkdir(place)
    files = []
    for symbol in params["symbols"]:
        files.append(os.path.join(place, f"{symbol}USDT_5m.csv"))
        with gzip.open(os.path.join(data, "bars", f"{symbol}USDT_5m.csv.gz"), "rt") as source, open(files[-1], "w") as cut:
            header = source.readline()
            cut.write(header)
            for line in source:
                time = line.split(",", 1)[0]
                if begin <= datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() < end:
                    cut.write(line)
    return paths, files, "5m"


def run(argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def by_environment(place, policy, interval):
    """Trades, and equity at the close that each step reaches."""
    trades, steps = os.path.join(place, "env-trades.csv"), os.path.join(place, "env-steps.csv")
    with open(steps, "w") as out:
        out.write(run([TRAINER, "env-replay", *policy, "--bars", place, "--preset", "market", "--trades", trades]))
    with open(policy[0]) as file:
        first = datetime.datetime.fromisoformat(json.load(file)["first_bar"]).timestamp()
    seconds = {"1m": 60, "5m": 300}[interval]
    return read(trades), {int(first + (int(row["t"]) + 1) * seconds) * 10**9: float(row["equity"]) for row in read(steps)}


def arguments(policy):
    """PARAMS.json and ACTIONS.csv of a recorded policy, or the one file of a trained one."""
    return ["--policy", policy[0]] + (["--actions", policy[1]] if len(policy) > 1 else [])


def by_backtest(place, policy, files):
    names = {what: os.path.join(place, f"backtest-{what}.csv") for what in ("trades", "equity", "orders", "ledger")}
    argv = [harness.PAPERTAPE, "backtest", *arguments(policy), "--bars", ",".join(files), "--no-cache", "--save",
            os.path.join(place, "saved")]
    for what, path in names.items():
        argv += [f"--{what}", path]
    run(argv)
    run([harness.PAPERTAPE, "ledger", "verify", "--state", os.path.join(place, "saved")])
    texts = {}
    for what, path in names.items():
        with open(path, newline="") as file:
            texts[what] = file.read()
    return read(names["trades"]), {int(row["ts_ns"]): float(row["equity"]) for row in read(names["equity"])}, texts


def market(symbols, interval, slippage, history=0):
    """The part of a configuration that decides what bars come and how they fill."""
    return (f"[market]\nsymbols = {', '.join(symbols)}\ninterval = {interval}\nhistory = {history}\nstreams = kline\n"
            f"[engine]\nfill_model = bar\nlatency_ms = 50\nslippage = {slippage}\nequity_interval_s = 0\n")


def configuration(policy, files, interval, slippage):
    account = [f"{key} = {path}\n" for key, path in zip(("policy", "actions"), policy)]
    return market([os.path.basename(path).split("_")[0] for path in files], interval, slippage) + "[account policy]\n" + "".join(account)


def part_of_it(folder, place, config, files, interval, last_s, seconds, part):
    """A daemon's life: until the bar that opens then has closed for every symbol."""
    replay = folder.start(harness.Replay(place, "--bars", *files, "--speed", "max", *part))
    daemon = folder.start(harness.Daemon(place, replay, config, ["--clock", "feed"]))
    symbols = [os.path.basename(path).split("_")[0] for path in files]
    harness.wait_last_bars(daemon, dict.fromkeys(symbols, last_s * 1000), interval, WAIT, (last_s + seconds) * 10**9)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    return daemon


def by_daemon(folder, place, policy, files, interval, slippage, other, look=None):
    """What the daemon stored, ended and started again in the middle, and the equity that its log gives."""
    config = configuration(policy, files, interval, slippage)
    checked = os.path.join(place, "check.ini")
    with open(checked, "w") as file:
        file.write(config)
    run([harness.DAEMON, "--config", checked, "--check-config"])
    with open(files[0]) as file:
        times = [line.split(",", 1)[0] for line in file][1:]
    opens = [int(t) // 1000 if t.isdigit() else int(datetime.datetime.fromisoformat(t.replace("Z", "+00:00")).timestamp())
             for t in times]
    middle = opens[len(opens) // 2]
    for ends, part in ((middle - (opens[1] - opens[0]), ["--to", str(middle)]), (opens[-1], ["--from", str(middle)])):
        daemon = part_of_it(folder, place, config, files, interval, ends, opens[1] - opens[0], part)
        if ends != opens[-1]:
            without_its_files(folder, place, configuration(other, files, interval, slippage), files, daemon.state)
    texts = {"trades": daemon.papertape("fills", "--csv"), "orders": daemon.papertape("orders", "--csv"),
             "ledger": daemon.papertape("ledger", "export")}
    print("  " + daemon.papertape("ledger", "verify").split("\n")[0])
    looked_at(daemon, "actions.csv" if len(policy) > 1 else "policy.ensemble.json" if policy[0].endswith(".json")
              else "policy.safetensors")
    if look:
        look(daemon)
    path = os.path.join(place, "log-equity.csv")
    again = os.path.join(place, "log-trades.csv")
    run([harness.PAPERTAPE, "backtest", "--events", daemon.state, "--equity", path, "--trades", again])
    with open(again, newline="") as file:
        assert file.read() == texts["trades"], "the log gives other trades"
    return list(csv.DictReader(texts["trades"].splitlines())), {int(r["ts_ns"]): float(r["equity"]) for r in read(path)}, texts


def other_actions(place, policy):
    """The same policy, whose file of actions is another."""
    other = os.path.join(place, "other.csv")
    with open(policy[1]) as source, open(other, "w") as to:
        to.write(source.read() + "\n")
    return [policy[0], other]


def without_its_files(folder, place, config, files, state):
    """Where the copies are gone, and the configuration names other files, nothing is played and nothing restarts."""
    kept = os.path.join(state, "policies")
    (name,) = os.listdir(kept)
    os.rename(kept, kept + ".away")
    replay = folder.start(harness.Replay(place, "--bars", *files, "--speed", "max"))
    daemon = folder.start(harness.Daemon(place, replay, config, ["--clock", "feed"], name="refusing"))
    assert daemon.popen.wait(WAIT) != 0
    said = [daemon.log_text(), daemon.papertape("parity", status=None), daemon.papertape("explain", "1", status=None),
            subprocess.run([harness.PAPERTAPE, "backtest", "--events", state], capture_output=True, text=True,
                           timeout=WAIT).stderr]
    for text in said:
        assert f"trades by the policy {name}" in text and "policies" in text.split(name)[1], text
    replay.stop()
    shutil.rmtree(kept)
    os.rename(kept + ".away", kept)


def looked_at(daemon, kept):
    """The log gives the same again, and orders are explained by what the policy decided."""
    print("  " + daemon.papertape("parity").strip().split("\n")[-1])
    orders = list(csv.DictReader(daemon.papertape("orders", "--csv").splitlines()))
    for tag in ("policy", "stop"):
        of = [order for order in orders if order["tag"] == tag]
        if not of:
            continue
        order = of[len(of) // 2]["order"]
        explained = json.loads(daemon.papertape("explain", order, "--json"))["orders"][0]
        assert explained["equal"], explained
        policy = explained["decision"]["policy"]
        assert len(policy["id"]) == 64 and math.isfinite(policy["action"]), explained
        assert os.path.exists(os.path.join(daemon.state, "policies", policy["id"], kept))
        text = daemon.papertape("explain", order)
        assert "the policy" in text
        if tag == "policy":
            ordered = re.search(r"it wanted to (?:buy|sell) (\S+) at market", text)
            assert ordered and len(ordered.group(1).partition(".")[2]) <= 8, text
            recorded_policy(daemon, order, policy["id"])


def recorded_policy(daemon, order, policy):
    """Which policy gave an order, and what computed it, is shown as recorded; another one than the log's is found."""
    with contextlib.closing(sqlite3.connect(os.path.join(daemon.state, "papertape.db"), isolation_level=None)) as db:
        found = "SELECT policy, backend FROM order_policies WHERE order_id = ?"
        before = db.execute(found, (order,)).fetchone()
        for identity, status in ((bytes.fromhex(policy), 0), (bytes(32), 1)):
            db.execute("INSERT OR REPLACE INTO order_policies VALUES (?, ?, ?)", (order, identity, "gpu:\x1b[1m H200"))
            said = daemon.papertape("explain", order, status=None)
            reported = f"order_policies {order}: policy: the log gives {policy}, recorded is {'0' * 64}"
            assert (reported in said) == (status == 1), said
            if status == 0:
                assert f"recorded: given by policy {policy}," in said and "computed by gpu:?[1m H200" in said, said
                one = json.loads(daemon.papertape("explain", order, "--json"))["orders"][0]
                assert one["recorded_policy"] == {"id": policy, "backend": "gpu:\x1b[1m H200"}, one["recorded_policy"]
        db.execute("DELETE FROM order_policies WHERE order_id = ?", (order,))
        if before:
            db.execute("INSERT INTO order_policies VALUES (?, ?, ?)", (order, *before))


def key(row):
    return (int(row["ts_ns"]), row["symbol"], row["side"], row["price"], row["qty"], row["fee"])


def same_trades(what, ours, theirs, until_ns):
    ours, theirs = ([key(row) for row in rows if int(row["ts_ns"]) < until_ns] for rows in (ours, theirs))
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a == b, f"{what}: trade {i + 1} is {b}, and not {a}"
    assert len(ours) == len(theirs), (what, len(ours), len(theirs))
    return len(ours)


def same_equity(what, ours, theirs):
    most = 0.0
    for ts_ns, equity in ours.items():
        assert ts_ns in theirs, f"{what}: there is no equity at {ts_ns}"
        difference = abs(theirs[ts_ns] - equity)
        assert difference <= TOLERANCE, f"{what}: equity at {ts_ns} is {theirs[ts_ns]}, and not {equity}"
        most = max(most, difference)
    return most


def three_ways(folder, name, made_of, live):
    policy, files, interval = made_of
    place = os.path.dirname(files[0])
    trades, equity = by_environment(place, policy, interval)
    until_ns = max(equity) + 1
    backtest_trades, backtest_equity, texts = by_backtest(place, policy, files)
    n = same_trades(f"{name}: backtest", trades, backtest_trades, until_ns)
    most = same_equity(f"{name}: backtest", equity, backtest_equity)
    sides = {side: sum(row["side"] == side for row in trades) for side in ("BUY", "SELL")}
    inside = sum(int(row["ts_ns"]) % 10**9 != 0 for row in trades)
    print(f"{name}: {n} trades ({sides['BUY']} bought, {sides['SELL']} sold, {inside} stops inside a bar) equal in environment "
          f"and backtest; equity of {len(equity)} bars within {most:.3g}")
    assert n > 0 and min(sides.values()) > 0, "nothing was shown"
    if not live:
        return
    with open(policy[0]) as file:
        slippage = json.load(file)["params"].get("slippage_pct", 0)
    live_trades, live_equity, stored = by_daemon(folder, place, policy, files, interval, slippage,
                                                 other_actions(place, policy))
    same_trades(f"{name}: daemon", trades, live_trades, until_ns)
    most = same_equity(f"{name}: daemon", equity, live_equity)
    for what in ("orders", "trades", "ledger"):
        assert stored[what] == texts[what], f"{name}: {what} of daemon and backtest are others"
    print(f"{name}: the same live over TLS in two runs of the daemon, equity within {most:.3g}; orders, fills and ledger as of the backtest, byte by byte")


def tight(folder):
    """Two purchases of one time for which the cash is short: what fills first is the policy's first symbol, in whatever order
    the bars are given."""
    place = os.path.join(folder, "tight")
    os.mkdir(place)
    files = []
    for symbol, price, later in (("AAA", 100.0, 104.0), ("BBB", 50.0, 51.13)):
        files.append(os.path.join(place, f"{symbol}USDT_5m.csv"))
        with open(files[-1], "w") as file:
            file.write("timestamp,open,high,low,close,volume\n")
            for i in range(10):
                p = price if i < 4 else later
                file.write(f"{(START_S + 300 * i) * 1000},{p:.2f},{p:.2f},{p:.2f},{p:.2f},51.37\n")
    policy = [os.path.join(place, "params.json"), os.path.join(place, "actions.csv")]
    with open(policy[0], "w") as file:
        json.dump({"symbols": ["BBB", "AAA"], "interval": "5m", "bars": 9, "min_order_qty": [0, 0],
                   "first_bar": "2024-01-01T00:00:00Z",
                   "params": {"lookback": 1, "norm_action": 1, "initial_capital": 1000, "buy_cost_pct": 0.001,
                              "sell_cost_pct": 0.001}}, file)
    with open(policy[1], "w") as file:
        file.write("t,action_BBB,action_AAA\n")
        for t in range(1, 8):
            file.write(f"{t},{'0.5,0.6' if t == 4 else '0,0'}\n")
    trades, _ = by_environment(place, policy, "5m")
    assert len(trades) == 2, trades
    for order in (files, files[::-1]):
        path = os.path.join(place, "trades.csv")
        run([harness.PAPERTAPE, "backtest", "--policy", policy[0], "--actions", policy[1], "--bars", ",".join(order),
             "--no-cache", "--trades", path])
        same_trades("tight: backtest", trades, read(path), 1 << 62)
    print("tight: two purchases with cash for less, equal in environment and backtest in both orders of --bars")


def main():
    print(f"counts: {ROWS} synthetic bars of three symbols, seed {SEED}" + ("" if harness.LONG else " (more with PAPERTAPE_LONG)"))
    with harness.Folder() as folder:
        tight(folder.path)
        three_ways(folder, "made", made(folder.path, "made", False), True)
        three_ways(folder, "gaps", made(folder.path, "gaps", True), False)
        three_ways(folder, "limits", made(folder.path, "limits", True, LIMITS), False)
        if not os.path.exists(os.path.join(harness.SHARED, "data/env")):
            print("no sample data: the recordings of actions are left out")
            return 0
        for name in RECORDED:
            three_ways(folder, name, recorded(folder.path, name), name in LIVE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
