#!/usr/bin/env python3
"""Ensembles, three ways: in the environment (papertape-trainer eval), in `papertape backtest --policy X.ensemble.json`, and in a
daemon that is stopped and started in the middle. The same trades row by row, the same equity, the actions that explain shows are the
environment's, and the members' actions and weights make them. Members are random networks of several lookbacks, features and kinds,
on synthetic bars with and without gaps. One policy twice makes that policy's trades. The copies that the daemon keeps do for
everything once the originals are gone. And what is refused."""

import json
import os
import shutil
import signal
import struct
import sys

import arena
import harness
import policy_three_ways as recorded
import trained_three_ways as trained

WINDOW = 60
LIVE = ("mean", "majority", "sharpe", "discrete") if harness.LONG else ("sharpe",)
MEMBERS = {"closes": {"lookback": 3}, "features": {"sets": True, "activation": "relu", "lookback": 5},
           "recurrent": {"sets": True, "recurrent": 16, "layer_norm": True, "lookback": 2}}
DISCRETE = {"closes": {"levels": 5}, "features": {"sets": True, "levels": 3, "activation": "silu"}, "again": {"levels": 5}}
KINDS = {"mean": ("mean", MEMBERS), "majority": ("majority", MEMBERS), "sharpe": ("sharpe", MEMBERS),
         "discrete": ("majority", DISCRETE)}


LIMITS = {"sharpe": {"limits": {"exposure": "80%", "exposure_symbol": "0.4", "stop_loss": "0.8%"}}}


def ensemble(place, name, combine, members, window=WINDOW):
    path = os.path.join(place, f"{name}.ensemble.json")
    with open(path, "w") as file:
        json.dump({"schema": "papertape.ensemble/1", "members": [os.path.relpath(member, place) for member in members],
                   "combine": combine, "window_bars": window, **LIMITS.get(name, {})}, file)
    return path


def acting(place, name, files):
    """The first of the seeds whose ensemble trades much, both ways, to the end."""
    combine, members = KINDS[name]
    beside = os.path.join(place, f"{name}.members")
    os.mkdir(beside)
    for seed in range(40):
        paths = [trained.policy(os.path.join(beside, f"{member}.safetensors"), f"{name} {member}", seed=seed, **kind)
                 for member, kind in members.items()]
        path = ensemble(place, name, combine, paths)
        trades, steps, out = trained.by_environment(place, path, files)
        middle = (recorded.START_S + 60 * (recorded.ROWS * 6 // 10)) * 10**9
        late = [row["side"] for row in trades if int(row["ts_ns"]) > middle]
        if min(late.count("BUY"), late.count("SELL")) > 5 and out["whole"]["trades"] > 1:
            return path, trades, steps, out
    raise AssertionError(f"{name}: no ensemble of 40 trades")


def combined(combine, members):
    """The members' actions and weights as one action, in float32."""
    if combine == "sharpe" and len({member["weight"] for member in members}) > 1:
        total = 0.0
        for member in members:
            total += member["weight"] * member["action"]
        return total
    voters = [member["action"] for member in members if member["weight"] > 0]
    total = 0.0
    for action in voters:
        total += action
    return total / len(voters) if voters else 0.0


def explained(name, daemon, steps):
    """The environment's actions to the bit, of the members' by their weights."""
    combine = KINDS[name][0]
    orders = [row for row in trained.csv.DictReader(daemon.papertape("orders", "--csv").splitlines()) if row["tag"] == "policy"]
    names = {"BTCUSDT": "BTC", "ETHUSDT": "ETHUSDT", "XRPUSDT": "XRP"}
    n, weights = 0, set()
    for order in orders[:: max(1, len(orders) // 8)]:
        reported = json.loads(daemon.papertape("explain", order["order"], "--json"))["orders"][0]
        policy, members = reported["decision"]["policy"], reported["decision"]["policy"]["members"]
        assert reported["equal"] and [os.path.basename(member["file"]) for member in members] == [
            f"{member}.safetensors" for member in KINDS[name][1]], reported
        ours = struct.pack("f", policy["action"])
        assert ours == struct.pack("f", combined(combine, members)), (name, policy)
        weighed = sum(member["weight"] for member in members)
        assert abs(weighed - 1) < 1e-12 or (combine == "majority" and weighed == 0), policy
        assert combine == "sharpe" or all(member["sharpe"] is None for member in members), policy
        weights.update(member["weight"] for member in members)
        at = int(reported["decision"]["bar"]["open_time_ns"]) + 120 * 10**9  # the step that it begins ends a bar later
        if at in steps:
            assert ours == struct.pack("f", float(steps[at][f"action_{names[order['symbol']]}"])), (name, order, policy)
            n += 1
    assert n > 0 and (combine == "mean" or len(weights) > 1), (name, weights)
    text = daemon.papertape("explain", orders[-1]["order"])
    assert f"member 1, {name}.members/closes.safetensors (" in text and "weight" in text, text
    return n


def three_ways(folder, name, place, files, live):
    path, trades, steps, out = acting(place, name, files)
    equity = {time: float(row["equity"]) for time, row in steps.items()}
    trained.figures(name, out, trades, equity)
    assert out["lookback"] == max(kind.get("lookback", 4) for kind in KINDS[name][1].values()), out["lookback"]
    turned = os.path.join(place, f"{name}.d")
    os.mkdir(turned)
    theirs, their_equity, texts = recorded.by_backtest(turned, [path], files[::-1])
    n = recorded.same_trades(f"{name}: backtest", trades, theirs, max(equity))
    assert recorded.same_equity(f"{name}: backtest", equity, their_equity) == 0, name
    print(f"{name}: {n} trades equal in environment and backtest; equity of {len(equity)} bars")
    if not live:
        return
    members = [os.path.join(place, f"{name}.members", f"{member}.safetensors") for member in KINDS[name][1]]
    other = ensemble(turned, "other", KINDS[name][0], members[:2])
    seen = []

    def look(daemon):
        middle = str(recorded.START_S + 60 * (recorded.ROWS // 2))
        same = json.loads(daemon.papertape("what-if", "--account", "policy", "--at", middle, "--policy", path, "--json"))
        assert same["was"] == same["would_be"] and same["was"]["fills"] > 5, (name, same)
        os.rename(path, path + ".gone")
        shutil.rmtree(os.path.join(place, f"{name}.members"))
        seen.append(explained(name, daemon, steps))
        daemon.papertape("parity")

    live_trades, live_equity, stored = recorded.by_daemon(folder, turned, [path], files, "1m", 0.0002, [other], look)
    recorded.same_trades(f"{name}: daemon", trades, live_trades, max(equity))
    for what in ("orders", "trades", "ledger"):
        assert stored[what] == texts[what], f"{name}: {what} of daemon and backtest are others"
    assert recorded.same_equity(f"{name}: daemon", equity, live_equity) == 0, name
    print(f"{name}: the same live over TLS in two runs of the daemon; {seen[0]} explained actions as the environment's, with the "
          "originals gone")


def twice(place, files):
    """One policy twice, by its mean, is that policy."""
    for name in ("recurrent", "features"):
        path, _, trades, steps, _ = trained.acting(place, f"twice-{name}", name, files, **MEMBERS[name])
        both = ensemble(place, f"twice-{name}", "mean", [path, path])
        theirs, their_steps, out = trained.by_environment(place, both, files)
        assert theirs == trades and list(their_steps) == list(steps), name
        for time, step in steps.items():  # rewards, benchmark and all
            assert their_steps[time] == step, (name, step, their_steps[time])
        splits = [json.loads(recorded.run([trained.TRAINER, "eval", what, "--bars", ",".join(files), "--splits", "cpcv:5,2"]))
                  for what in (path, both)]
        assert splits[0]["splits"] == splits[1]["splits"] and splits[0]["whole"] == splits[1]["whole"] == out["whole"], name
        print(f"twice {name}: {len(trades)} trades, {len(steps)} steps and all splits as the policy itself")


def promoted(folder):
    """Live: a challenger by its file, whose originals go, and whose daemon is killed; then champion, and retired."""
    recorded.ROWS = 20000
    one = arena.Arena(folder, trained.made(folder.path, "bars", False)[1])
    names = [one.policies[name] for name in ("a", "b", "c")]
    path = ensemble(folder.path, "three", "sharpe", names)
    one.start()
    first = one.done("policy_promote", name="three", path=path)["policy"]
    kept = os.path.join(one.state, "policies", first["id"])
    assert sorted(os.listdir(kept)) == [*(f"member-{i}.safetensors" for i in (1, 2, 3)), "policy.ensemble.json"], os.listdir(kept)
    for name in (*names, path):
        os.remove(name)
    one.trading("three")
    one.daemon.stop(signal.SIGKILL)
    one.start(one.config + "[policies]\ninference = gpu\n", PAPERTAPE_GPU_MODULE=harness.GPU_ON_CPU)
    one.daemon.wait_status(lambda status: (one.policy("three", status)["backend"] or "").startswith("gpu: "), "the GPU computes all members")
    one.daemon.stop(signal.SIGKILL)
    one.start()
    one.trading("three")
    shown = one.done("policy_show", name="three")["policy"]
    assert shown["id"] == first["id"] and shown["kind"] == "ensemble" and shown["combine"] == "sharpe", shown
    assert [member["file"] for member in shown["members"]] == ["a.safetensors", "b.safetensors", "c.safetensors"], shown
    one.refused("EINVAL", ["absolute", ".ensemble.json"], "policy_promote", name="three", path="three.ensemble.json")
    assert one.done("policy_promote", name="three")["policy"]["role"] == "champion"
    one.trading("three", "champion")
    one.done("policy_retire", name="three")
    four = ensemble(folder.path, "four", "sharpe", [os.path.join(kept, f"member-{i}.safetensors") for i in (1, 2, 3)], window=20)
    one.daemon.wait_status(lambda status: (one.policy("fixed", status)["decided_ns"] or 0) > (recorded.START_S + 60 * 40) * 10**9, "40 bars")
    limited = one.done("policy_promote", name="four", path=four, exposure_symbol="30%")["policy"]
    assert limited["limits"] == "exposure_symbol 0.3", limited
    one.trading("four")
    assert one.daemon.stop() == 0
    print("  " + one.daemon.papertape("parity").strip().split("\n")[-1])
    order = one.rows("SELECT min(o.id) FROM orders AS o JOIN accounts AS a ON a.id = o.account WHERE a.name = 'four' AND o.tag = 'policy'")
    reported = json.loads(one.daemon.papertape("explain", str(order[0][0]), "--json"))["orders"][0]
    # its shadow accounts went by the bars that the engine had: from its first order on it weighs by them
    assert any(member["sharpe"] is not None for member in reported["decision"]["policy"]["members"]), reported["decision"]
    print("arena: an ensemble promoted, killed, crowned and retired, by its copies alone")


def bad_input(place, files):
    bad = os.path.join(place, "bad")
    os.mkdir(bad)
    one, two = (trained.policy(os.path.join(bad, f"{name}.safetensors"), name, **changed)
                for name, changed in (("one", {}), ("two", {"cooldown_bars": 5})))
    words = ("cooldown_bars: two.safetensors has 5 and one.safetensors has 2",)
    path = ensemble(bad, "differ", "mean", [one, two])
    evaluate = [trained.TRAINER, "eval", "--bars", ",".join(files)]
    backtest = [harness.PAPERTAPE, "backtest", "--no-cache", "--bars", ",".join(files), "--policy"]
    config = os.path.join(bad, "config.ini")
    with open(config, "w") as file:
        file.write(f"[market]\nsymbols = BTCUSDT, ETHUSDT, XRPUSDT\ninterval = 1m\n[account policy]\npolicy = {path}\n")
    for argv in ([*evaluate, path], [*backtest, path], [harness.DAEMON, "--config", config, "--check-config"]):
        trained.refused(argv, "differ.ensemble.json", *words)
    missing = ensemble(bad, "missing", "mean", [one, os.path.join(bad, "none.safetensors")])
    for argv in ([*evaluate, missing], [*backtest, missing]):
        trained.refused(argv, "number 2", "none.safetensors", "No such file")
    good = ensemble(bad, "good", "sharpe", [one, one])
    trained.refused([*backtest[:3], "--bars", ",".join(files[:2]), "--policy", good], "XRP", "not among the symbols")
    trained.refused([*evaluate[:3], ",".join(files[:2]), good], "XRP", "not among them")
    with open(good, "w") as file:
        file.write("{}")
    trained.refused([*backtest, good], "good.ensemble.json: schema is missing")
    print("bad input: each refused in one line that names both")


def main():
    print(f"counts: {recorded.ROWS} synthetic bars of three symbols, seed {recorded.SEED}" +
          ("" if harness.LONG else " (more with PAPERTAPE_LONG)"))
    with harness.Folder() as folder:
        place, files = trained.made(folder.path, "plain", False)
        for name in KINDS:
            three_ways(folder, name, place, files, name in LIVE)
        twice(place, files)
        gaps, with_gaps = trained.made(folder.path, "gaps", True)
        for name in KINDS if harness.LONG else ("sharpe",):
            three_ways(folder, name, gaps, with_gaps, False)
        bad_input(place, files)
    with harness.Folder() as folder:
        promoted(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
