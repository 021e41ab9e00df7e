#!/usr/bin/env python3
"""Trained policies that follow one another on an account while synthetic bars of three symbols play live (papertape-replay --bars):
all three symbols, then only two of them, then a recurrent one of all three, again the first one, and at last none, all closed. What
the account holds and its cash stay at each swap; an alert names the symbol that no policy trades; each order is explained by the
policy that traded then; and `papertape backtest --events` gives orders' fills and the ledger again, byte by byte. Recurrent policies
that are promoted, crowned and swapped in do what their environment does from the first bar on that the engine keeps."""

import csv
import hashlib
import itertools
import json
import os
import sqlite3
import struct
import sys

import harness
import policy_three_ways as recorded
import trained_three_ways as trained

SPEED = "1200"  # 20 bars a second
ROWS = 20000
CONFIG = recorded.market(("BTCUSDT", "ETHUSDT", "XRPUSDT"), "1m", 0.0002, history=100) + """\
[parity]
at = off
[account main]
strategy = none
"""
KINDS = {"three": {"seed": 1}, "two": {"seed": 2, "symbols": trained.SYMBOLS[:2]},
         "recurrent": {"seed": 3, "recurrent": 16, "sets": True, "lookback": 3}}
ORDER = ("three", "two", "recurrent", "three")
REMEMBER = {"recurrent": {"sets": True, "recurrent": 16, "layer_norm": True}, "discrete": {"recurrent": 32, "levels": 3},
            "fewer": {"sets": True, "recurrent": 16, "symbols": trained.SYMBOLS[:2], "lookback": 7}}


def asked(daemon, cmd, **args):
    answer = harness.control(daemon, cmd, args)
    assert answer["ok"], (cmd, args, answer)
    return answer["result"]


def swapped(daemon, path):
    """The policy's object; what the account held before and after, its cash, where no bar came in between."""
    before = asked(daemon, "status")
    policy = asked(daemon, "policy_promote", name="pupil", path=path)["policy"]
    after = asked(daemon, "status")
    return policy, [(status["counters"]["fills"], [position for position in status["positions"] if position["account"] == "pupil"],
                     [account["cash"] for account in status["accounts"] if account["account"] == "pupil"])
                    for status in (before, after)]


def held(position):
    return position["symbol"], position["qty"], position["entry"] if "entry" in position else position.get("cost")


def live(folder, files, policies):
    """Every policy in turn, each until it has ordered; at the end none. The daemon, stopped, and the ids in their order."""
    replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--speed", SPEED))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"]))
    daemon.wait_status(lambda status: status["accounts"] and status["feed"]["state"] == "ok", "the session")
    ids, stayed, names, left = [], 0, list(ORDER), False
    while names:
        name = names.pop(0)
        policy, (before, after) = swapped(daemon, policies[name])
        ids.append(policy["id"])
        left = left or (name == "two" and "XRPUSDT" in left_over(daemon))
        if ids[1:] and before[0] == after[0]:
            assert list(map(held, before[1])) == list(map(held, after[1])) and before[2] == after[2], (before, after)
            stayed += len(before[1])
        orders = asked(daemon, "status")["counters"]["orders"]
        daemon.wait_status(lambda status: status["counters"]["orders"] > orders + 20 and any(
            position["account"] == "pupil" and (name == "two") <= (position["symbol"] != "XRPUSDT")
            for position in status["positions"]), f"{name} trades")
        if name == "two" and not left:  # the third symbol was not held when it came
            names[:0] = ["three", "two"]
            assert len(ids) < 40, ids
    asked(daemon, "policy_retire", name="pupil")
    daemon.wait_status(lambda status: not [p for p in status["positions"] if p["account"] == "pupil"], "all is closed")
    assert daemon.stop() == 0
    assert replay.stop() == 0
    return daemon, ids, stayed


def left_over(daemon):
    """Symbols that a new policy does not trade, and of which the account holds some: an alert names them."""
    left = [alert["text"] for alert in json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"] if alert["code"] == "POLICY_LEFT"]
    return {text.rsplit(" ", 1)[1] for text in left if "account pupil" in text}


def explained(daemon, ids):
    """Each order by the policy that was the account's when it was given: some of each policy's orders."""
    orders = [row for row in csv.DictReader(daemon.papertape("orders", "--csv").splitlines()) if row["tag"] == "policy"]
    policies = dict(daemon.query("SELECT order_id, policy FROM order_policies"))
    runs = [list(run) for _, run in itertools.groupby(orders, lambda order: policies[int(order["order"])])]
    said = []
    for order in (order for run in runs for order in run[:: max(1, len(run) // 10)]):
        one = json.loads(daemon.papertape("explain", order["order"], "--json"))["orders"][0]
        assert one["equal"] and one["decision"]["policy"]["id"] == one["recorded_policy"]["id"], one
        if not said or said[-1] != one["decision"]["policy"]["id"]:
            said.append(one["decision"]["policy"]["id"])
        assert said[-1] != ids[1] or order["symbol"] != "XRPUSDT", order
    assert said == ids, (said, ids)
    return len(orders)


def same_again(daemon):
    """The log gives the record, all of it."""
    print("  " + daemon.papertape("ledger", "verify").split("\n")[0])
    print("  " + daemon.papertape("parity").strip().split("\n")[-1])
    names = {what: os.path.join(os.path.dirname(daemon.state), f"log-{what}.csv") for what in ("trades", "ledger")}
    recorded.run([harness.PAPERTAPE, "backtest", "--events", daemon.state, "--trades", names["trades"], "--ledger", names["ledger"]])
    for what, verb in (("trades", ["fills", "--csv"]), ("ledger", ["ledger", "export"])):
        with open(names[what], newline="") as file:
            ours, theirs = file.read(), daemon.papertape(*verb)
        assert ours == theirs and ours.count("\n") > 50, what
    return ours.count("\n") - 1


def from_the_first(folder, name, path, files, first_ns):
    """What the environment does where the bars begin with the first one that the engine keeps: actions by their bar's open."""
    place = os.path.join(folder.path, f"cut-{name}")
    os.mkdir(place)
    cut = [os.path.join(place, os.path.basename(file)) for file in files]
    for file, to in zip(files, cut):
        with open(file) as source, open(to, "w") as kept:
            lines = source.readlines()
            kept.writelines(lines[:1] + [line for line in lines[1:] if int(line.split(",", 1)[0]) * 10**6 >= first_ns])
    _, steps, _ = trained.by_environment(place, path, cut)
    return {time - 120 * 10**9: row for time, row in steps.items()}


def same_rows(daemon, path, steps, levels):
    """How many of a policy's orders are explained by the environment's action of their row, to the bit; on which accounts."""
    with open(path, "rb") as file:
        mine = hashlib.sha256(file.read()).digest()
    with sqlite3.connect(os.path.join(daemon.state, "papertape.db")) as db:
        orders = db.execute("SELECT o.id, s.name, a.name FROM orders o JOIN order_policies p ON p.order_id = o.id "
                            "JOIN symbols s ON s.id = o.symbol JOIN accounts a ON a.id = o.account "
                            "WHERE p.policy = ? AND o.tag = 'policy' ORDER BY o.id", (mine,)).fetchall()
    names, where = {"BTCUSDT": "BTC", "ETHUSDT": "ETHUSDT", "XRPUSDT": "XRP"}, {}
    of_account = [[order for order in orders if order[2] == account] for account in sorted({order[2] for order in orders})]
    for order, symbol, account in (order for one in of_account for order in one[:3] + one[3::max(1, len(one) // 6)]):
        decision = json.loads(daemon.papertape("explain", str(order), "--json"))["orders"][0]["decision"]
        theirs = float(steps[int(decision["bar"]["open_time_ns"])][f"action_{names[symbol]}"])
        if levels:
            theirs = (theirs - levels // 2) * 3.0 / (levels // 2)
        ours = decision["policy"]["action"]
        assert struct.pack("f", ours) == struct.pack("f", theirs), (path, order, account, symbol, ours, theirs)
        where[account] = where.get(account, 0) + 1
    return where


def remembers(folder, files):
    """Recurrent policies that are promoted, crowned and swapped in: each row that the engine keeps moved them, once."""
    policies = {name: trained.policy(os.path.join(folder.path, f"{name}.safetensors"), "remembers", blind=True, seed=3,
                                     forced_exit_bars=0, trailing_stop_pct=0, **kind) for name, kind in REMEMBER.items()}
    place = os.path.join(folder.path, "remember")
    os.mkdir(place)
    # Slower, so that they are done long before more bars have passed than are kept; features have their values at once.
    replay = folder.start(harness.Replay(place, "--bars", *files, "--speed", "600", "--from", str(recorded.START_S + 60 * 300)))
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.replace("history = 100", "history = 250"), ["--clock", "feed"]))
    daemon.wait_status(lambda status: status["accounts"] and status["feed"]["state"] == "ok", "the session")

    def trades(name, account, count):
        with open(policies[name], "rb") as file:
            mine = hashlib.sha256(file.read()).hexdigest()
        harness.wait_for(lambda: daemon.query("SELECT count(*) FROM orders o JOIN order_policies p ON p.order_id = o.id JOIN accounts a ON a.id = o.account "
                                              f"WHERE a.name = '{account}' AND o.tag = 'policy' AND hex(p.policy) = '{mine.upper()}'")[0][0] >= count,
                         f"{count} orders by {name} on {account}")

    for name in REMEMBER:  # challengers: accounts of their own
        asked(daemon, "policy_promote", name=name, path=policies[name])
    for name in REMEMBER:
        trades(name, name, 8)
    asked(daemon, "policy_promote", name="recurrent")  # the champion: an account is made
    trades("recurrent", "champion", 8)
    asked(daemon, "policy_promote", name="discrete")  # the champion's account is swapped
    trades("discrete", "champion", 8)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    with sqlite3.connect(os.path.join(daemon.state, "papertape.db")) as db:
        first_ns, = db.execute("SELECT min(open_ns) FROM bars").fetchone()
        rows, = db.execute("SELECT count(DISTINCT open_ns) FROM bars").fetchone()
    assert rows < 1000, rows  # all are kept
    said = []
    for name, kind in REMEMBER.items():
        own = files[:len(kind.get("symbols", trained.SYMBOLS))]
        where = same_rows(daemon, policies[name], from_the_first(folder, name, policies[name], own, first_ns), kind.get("levels", 0))
        said += [f"{name} {n} on {account}" for account, n in where.items()]
        assert where.get(name, 0) > 3 and (name == "fewer" or where.get("champion", 0) > 0), (name, where)
    print(f"recurrent policies, after {rows} bars: as the environment from the first kept bar on, to the bit, in explained orders of "
          + ", ".join(said))


def main():
    recorded.ROWS = ROWS
    with harness.Folder() as folder:
        _, files = trained.made(folder.path, "bars", False)
        policies = {name: trained.policy(os.path.join(folder.path, f"{name}.safetensors"), "swap", trailing_stop_pct=0.004,
                                         cooldown_bars=0, **kind) for name, kind in KINDS.items()}
        daemon, ids, stayed = live(folder, files, policies)
        assert "XRPUSDT" in left_over(daemon)
        n = explained(daemon, ids)
        rows = same_again(daemon)
        print(f"swaps: {len(ids)} policies on one account, {stayed} positions handed over, {n} orders each explained by its own policy; "
              f"fills and {rows} ledger rows as the log gives them, byte by byte")
        remembers(folder, files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
