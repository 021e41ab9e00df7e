#!/usr/bin/env python3
"""The arena: policies of random networks promoted, traded, handed over and retired on a daemon over synthetic bars of three symbols
(papertape-replay --bars). A challenger trades on its own account, the champion on the account `champion` as well; another file of
the same name takes over its positions; what is not for this market is refused and changes nothing; a command that comes again
with its key is answered as it was; after kill -9 in the middle of promotions, after a restart, and from the database alone
everything continues. At the end the ledger is clean, parity is ok, and the event log gives the same fills."""

import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import harness
import policy_three_ways as recorded
import trained_three_ways as trained

KILLS = 200 if harness.LONG else 12
ROWS = 20000
SPEED = "900"  # 15 bars a second
MIN_NOTIONAL = 5.0  # of papertape-replay's symbols
CONFIG = recorded.market(("BTCUSDT", "ETHUSDT", "XRPUSDT"), "1m", 0.0002, history=200) + """\
[parity]
at = off
[account main]
strategy = none
[account fixed]
policy = {fixed}
"""


class Arena:
    def __init__(self, folder, files):
        self.folder, self.path = folder, folder.path
        self.policies = {}
        for name, seed, changed in (("a", 1, {}), ("b", 2, {}), ("c", 3, {}), ("other", 4, {"lookback": 6}), ("fixed", 5, {})):
            self.policies[name] = trained.policy(os.path.join(self.path, f"{name}.safetensors"), "arena", seed=seed,
                                                 trailing_stop_pct=0.004, cooldown_bars=0, **changed)
        self.config = CONFIG.format(fixed=self.policies["fixed"])
        self.replay = folder.start(harness.Replay(self.path, "--bars", *files, "--speed", SPEED))
        self.state = os.path.join(self.path, "state")
        self.checkpoints = os.path.join(self.state, "checkpoints")
        self.daemon = None

    def start(self, config=None, **environment):
        self.daemon = self.folder.start(harness.Daemon(self.path, self.replay, config or self.config, ["--clock", "feed"],
                                                       env={**os.environ, **environment}))
        self.daemon.wait_status(lambda status: status["accounts"] and status["feed"]["state"] == "ok", "the session")
        return self.daemon

    def ask(self, cmd, **args):
        return harness.control(self.daemon, cmd, args)

    def done(self, cmd, **args):
        answer = self.ask(cmd, **args)
        assert answer["ok"], (cmd, args, answer)
        return answer["result"]

    def refused(self, code, words, cmd, **args):
        answer = self.ask(cmd, **args)
        assert not answer["ok"] and answer["error"]["code"] == code, (cmd, args, answer)
        for word in words:
            assert word in answer["error"]["message"], (word, answer)

    def status(self):
        return self.done("status")

    def policy(self, name, status=None):
        found = [p for p in (status or self.status())["policies"] if p["policy"] == name]
        return found[0] if found else None

    def positions(self, account, status=None):
        return {p["symbol"]: p["qty"] for p in (status or self.status())["positions"] if p["account"] == account}

    def sold(self, status, *accounts):
        """Nothing is held that the venue would take: an order of less than MIN_NOTIONAL it refuses."""
        return all(p["qty"] * p["mark"] < MIN_NOTIONAL for p in status["positions"] if not accounts or p["account"] in accounts)

    def trains(self, name, policy):
        """As a training writes its newest policy: whole, under its name."""
        path = os.path.join(self.checkpoints, f"{name}.safetensors")
        shutil.copy(self.policies[policy], path + ".new")
        os.rename(path + ".new", path)

    def rows(self, sql, *values):
        with sqlite3.connect(f"file:{os.path.join(self.state, 'papertape.db')}?mode=ro", uri=True, timeout=harness.PATIENCE) as base:
            return base.execute(sql, values).fetchall()

    def trading(self, name, account=None):
        """Waits until it has decided again, and its account holds something."""
        began = self.policy(name)["decided_ns"] or 0

        def look(status):
            mine = self.policy(name, status)
            return mine["state"] == "trading" and (mine["decided_ns"] or 0) > began and self.positions(account or name, status)
        status = self.daemon.wait_status(look, f"{name} trades")
        mine = self.policy(name, status)
        assert set(mine["actions"]) == {"BTCUSDT", "ETHUSDT", "XRPUSDT"} and mine["backend"].startswith("cpu-"), mine
        assert mine["interval"] == "1m" and mine["equity"] is not None, mine
        return status


def bad_input(arena):
    before = arena.status()
    kept = sorted(os.listdir(os.path.join(arena.state, "policies")))
    arena.refused("ENOENT", ["ppo", "checkpoints/ppo.safetensors", "args.path"], "policy_promote", name="ppo")
    arena.refused("EINVAL", ["champion"], "policy_promote", name="champion")
    arena.refused("EINVAL", ["letters"], "policy_promote", name="a b")
    arena.refused("EINVAL", ["configuration"], "policy_promote", name="fixed")
    arena.refused("EINVAL", ["configuration"], "policy_retire", name="main")
    arena.refused("EINVAL", ["absolute"], "policy_promote", name="ppo", path="a.safetensors")
    arena.refused("EINVAL", ["pat", "did you mean path?"], "policy_promote", name="ppo", pat="/x")
    arena.refused("ENOENT", ["nowhere"], "policy_promote", name="ppo", path="/nowhere/nowhere.safetensors")
    arena.refused("ENOENT", ["ppo"], "policy_retire", name="ppo")
    arena.refused("ENOENT", ["ppo"], "policy_show", name="ppo")
    arena.refused("EINVAL", ["champion"], "account_create", name="champion", currency="USDT", cash="1")
    arena.refused("EINVAL", ["champion"], "train_start", name="champion")
    arena.done("account_create", name="mine", currency="USDT", cash="1")
    arena.refused("BAD_ACCOUNT", ["mine"], "policy_promote", name="mine", path=arena.policies["a"])
    made_for(arena, "slow", ["5m", "1m"], interval="5m")
    made_for(arena, "strange", ["SOL", "not among", "BTCUSDT, ETHUSDT, XRPUSDT"], symbols="BTC,ETHUSDT,SOL")
    cut = os.path.join(arena.path, "cut.safetensors")
    with open(arena.policies["a"], "rb") as source, open(cut, "wb") as to:
        to.write(source.read()[:-4])
    arena.refused("POLICY_REFUSED", ["cut.safetensors"], "policy_promote", name="ppo", path=cut)
    after = arena.status()
    assert sorted(os.listdir(os.path.join(arena.state, "policies"))) == kept
    assert [p["policy"] for p in after["policies"]] == ["fixed"] and after["champion"] is None, after["policies"]
    assert len(after["accounts"]) == len(before["accounts"]) + 1
    harness.wait_for(lambda: ("POLICY_REFUSED",) in arena.rows("SELECT code FROM alerts"), "an alert POLICY_REFUSED")
    print("bad input: each refused in one line, an alert for what is for another market, nothing changed")


def altered(arena, name, **changed):
    """A copy of the policy `a` with other metadata."""
    path = os.path.join(arena.path, f"{name}.safetensors")
    with open(arena.policies["a"], "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"].update(changed)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data[8 + size :])
    return path


def made_for(arena, name, words, **changed):
    """A file whose metadata say another market."""
    arena.refused("POLICY_REFUSED", words, "policy_promote", name="ppo", path=altered(arena, name, **changed))


def steps_up(arena):
    """A training's newest policy, a challenger; then the champion; another one in its place."""
    arena.trains("ppo", "a")
    first = arena.done("policy_promote", name="ppo", key="k1")["policy"]
    assert (first["role"], first["account"], first["training"]) == ("challenger", "ppo", "ppo"), first
    again = arena.done("policy_promote", name="ppo", key="k1")
    assert again["repeated"] and again["policy"] == first, again
    arena.refused("DUPLICATE_ID", ["key"], "policy_retire", name="ppo", key="k1")
    assert os.path.exists(os.path.join(arena.state, "policies", first["id"], "policy.safetensors"))
    account = [a for a in arena.status()["accounts"] if a["account"] == "ppo"][0]
    assert account["deposits"] == trained.ENVIRONMENT["initial_capital"] and account["strategy"] == "policy", account
    limits = account["limits"]
    assert limits["exposure_symbol"] == limits["daily_loss"] == limits["orders_per_second"] == 0, limits
    arena.done("policy_promote", name="rival", path=arena.policies["b"])
    arena.trading("ppo")
    arena.trading("rival")
    assert arena.policy("rival")["training"] is None and arena.policy("fixed")["role"] == "configured"
    arena.refused("EALREADY", ["args.to: ppo is a challenger already"], "policy_promote", name="ppo", to="challenger")
    arena.refused("EINVAL", ["args.to: new is no challenger yet"], "policy_promote", name="new", to="champion")
    arena.refused("EINVAL", ["args.to", "king", "challenger or champion"], "policy_promote", name="ppo", to="king")
    crowned = arena.done("policy_promote", name="ppo", to="champion")["policy"]
    assert crowned["role"] == "champion" and crowned["id"] == first["id"], crowned
    status = arena.trading("ppo", "champion")
    assert status["champion"]["policy"] == "ppo" and status["champion"]["account"] == "champion", status["champion"]
    arena.refused("EALREADY", ["ppo is champion"], "policy_promote", name="ppo")
    arena.refused("EINVAL", ["args.to: ppo is the champion"], "policy_promote", name="ppo", to="challenger")
    shown = arena.done("policy_show", name="ppo")["policy"]
    assert shown["symbols"] == ["BTC", "ETHUSDT", "XRP"] and shown["features"] == "closes-volumes", shown
    assert shown["environment"]["norm_action"] == str(trained.ENVIRONMENT["norm_action"]), shown["environment"]
    assert arena.done("policy_list")["champion"]["policy"] == "ppo"
    print("steps: a training's policy is challenger, then champion on an account of its own; its key is answered again")


def verdicts(arena):
    """What is no better than holding is promoted with `yes` alone, at each step; what is, or was not evaluated, without."""
    for word in ("no_trades", "only_holds", "fees_exceed_gain", "below_holding", "within_luck", "of_a_later_program"):
        path = altered(arena, word, verdict=word, verdict_text=f"Sentence of {word}.")
        arena.refused("POLICY_VERDICT", ["args.yes: lucky", word, f"Sentence of {word}.", "args.yes is needed"], "policy_promote",
                      name="lucky", path=path)
        arena.refused("POLICY_VERDICT", [word], "policy_promote", name="lucky", path=path, yes=False)
        assert arena.policy("lucky") is None
    arena.refused("EINVAL", ["args.yes"], "policy_promote", name="lucky", path=path, yes="x")
    path = altered(arena, "lucky", verdict="within_luck", verdict_text="Within luck: perhaps.")
    lucky = arena.done("policy_promote", name="lucky", path=path, yes=True)["policy"]
    assert lucky["role"] == "challenger", lucky
    for found in (arena.done("policy_show", name="lucky")["policy"], arena.policy("lucky"),
                  next(p for p in arena.done("policy_list")["policies"] if p["policy"] == "lucky")):
        assert (found["verdict"], found["verdict_text"]) == ("within_luck", "Within luck: perhaps."), found
    arena.refused("POLICY_VERDICT", ["within_luck"], "policy_promote", name="lucky", to="champion")
    ran = subprocess.run([harness.PAPERTAPE, "policy", "promote", "lucky", "--to", "champion", "--state", arena.state], capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stderr.startswith("papertape: policy: POLICY_VERDICT: --yes: lucky: within_luck: Within luck: perhaps."), ran
    assert ran.stderr.count("\n") == 1 and ran.stdout == "", ran
    ran = subprocess.run([harness.PAPERTAPE, "policy", "show", "lucky", "--state", arena.state], capture_output=True, text=True)
    assert "verdict          within_luck\n" in ran.stdout and "verdict_text     Within luck: perhaps.\n" in ran.stdout, ran
    ran = subprocess.run([harness.PAPERTAPE, "policy", "promote", "lucky", "--policy", altered(arena, "good", verdict="better", verdict_text="B."),
                          "--state", arena.state], capture_output=True, text=True)
    assert ran.returncode == 0, ran
    assert arena.policy("lucky")["verdict"] == "better" and arena.policy("ppo")["verdict"] is None, arena.policy("lucky")
    arena.done("policy_retire", name="lucky")
    assert arena.done("policy_show", name="lucky")["policy"]["verdict"] == "better"  # from its copy
    print("verdicts: a bad one is promoted with --yes alone, and is shown")


def hot_swap(arena):
    """A newer file of the same name: what its accounts hold stays."""
    shown, attempt, deadline = 0, -1, time.monotonic() + harness.PATIENCE
    while shown <= 3 and time.monotonic() < deadline:
        attempt += 1
        arena.trains("ppo", "c" if attempt % 2 == 0 else "a")
        before = arena.status()
        swapped = arena.done("policy_promote", name="ppo")["policy"]
        after = arena.status()
        assert swapped["role"] == "champion" and swapped["id"] == arena.policy("ppo", after)["id"] != arena.policy(
            "ppo", before)["id"], swapped
        if before["counters"]["fills"] != after["counters"]["fills"]:
            continue  # a bar came in between
        for account in ("ppo", "champion"):
            held = arena.positions(account, before)
            assert held == arena.positions(account, after), (account, held, after["positions"])
            shown += len(held)
    assert shown > 3, "no moment without a fill"
    arena.trading("ppo")
    harness.wait_for(lambda: len(arena.rows("SELECT DISTINCT policy FROM order_policies")) >= 3, "orders of three policies")
    print(f"hot swap: {attempt + 1} newer files, {shown} positions held before and after")


def replaced(arena):
    """Another one takes the crown, and gives it up with all that its accounts hold."""
    arena.done("policy_promote", name="rival")
    status = arena.status()
    assert arena.policy("rival", status)["role"] == "champion" and arena.policy("ppo", status)["role"] == "challenger"
    assert "rival" in arena.policy("ppo", status)["reason"], arena.policy("ppo", status)
    arena.trading("rival", "champion")
    arena.done("policy_retire", name="rival")
    arena.refused("EALREADY", ["retired"], "policy_retire", name="rival")
    status = arena.daemon.wait_status(lambda status: arena.sold(status, "rival", "champion"), "what they held is sold")
    assert status["champion"] is None and arena.policy("rival", status)["state"] == "retired"
    rows = arena.rows("SELECT count(*) FROM ledger")[0][0]
    again = arena.done("policy_promote", name="rival", path=arena.policies["other"])["policy"]
    assert (again["role"], again["account"]) == ("challenger", "rival"), again
    arena.trading("rival")
    harness.wait_for(lambda: arena.rows("SELECT count(*) FROM ledger")[0][0] > rows, "its rows in the ledger")
    deposits = [a["deposits"] for a in arena.status()["accounts"] if a["account"] == "rival"]
    assert deposits == [trained.ENVIRONMENT["initial_capital"]], deposits
    print("replaced: the former champion is challenger; the retired one sold all, and begins again on its old account")


def roles(arena):
    return {p["policy"]: (p["role"], p["id"]) for p in arena.status()["policies"]}


def in_line(arena):
    """Rows, accounts and copies agree."""
    status = arena.status()
    for policy in status["policies"]:
        assert policy["state"] in ("trading", "warming", "retired"), policy
        assert os.path.exists(os.path.join(arena.state, "policies", policy["id"], "policy.safetensors")), policy
        account = [a for a in status["accounts"] if a["account"] == policy["account"]]
        assert len(account) == 1 and account[0]["strategy"] == (None if policy["role"] == "retired" else "policy"), (policy, account)
    champions = [p["policy"] for p in status["policies"] if p["role"] == "champion"]
    assert champions == ([status["champion"]["policy"]] if status["champion"] else []), status["champion"]
    trades = [a["strategy"] for a in status["accounts"] if a["account"] == "champion"]
    assert not trades or trades == ["policy" if champions else None], (trades, champions)
    return status


def killed(arena, chance):
    """kill -9 somewhere in a promotion or a retirement; the same command again ends it."""
    done = 0
    for i in range(KILLS):
        name = f"k{i // 2}"
        arena.trains(name, "abc"[i % 3])
        cmd = "policy_promote" if i % 4 < 3 else "policy_retire"
        args = {"name": name, "key": f"kill-{i}"}
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.path.join(arena.state, "control.sock"))
            killer = threading.Timer(chance.uniform(0, 0.008), lambda: os.kill(arena.daemon.popen.pid, signal.SIGKILL))
            client.sendall(json.dumps({"id": 1, "cmd": cmd, "args": args}).encode() + b"\n")
            killer.start()
            killer.join()
        arena.daemon.stop(signal.SIGKILL)
        arena.start()
        before = roles(arena)
        in_line(arena)
        answer = arena.done(cmd, **args)
        done += bool(answer.get("repeated"))
        assert not answer.get("repeated") or roles(arena) == before, (answer, before)
        assert answer["policy"]["policy"] == name, answer
        in_line(arena)
    arena.daemon.papertape("ledger", "verify")
    print(f"kill -9: {KILLS} times, {done} of them after it was done")


def again(arena):
    """Stopped and started: the same policies trade on, and the log of it all gives the same."""
    arena.trading("ppo")
    was = roles(arena)
    assert arena.daemon.stop() == 0
    arena.start()
    assert roles(arena) == was
    in_line(arena)
    arena.trading("ppo")
    checked(arena)


def cut_off(arena):
    """A table that says other than the accounts do, as where a promotion was cut off between its steps: what is missing is done."""
    was = roles(arena)
    assert arena.daemon.stop() == 0
    ids = {name: policy[1] for name, policy in was.items()}
    with sqlite3.connect(os.path.join(arena.state, "papertape.db")) as base:
        base.execute("UPDATE policies SET policy = ? WHERE name = 'ppo'", (bytes.fromhex(ids["rival"]),))
        base.execute("UPDATE policies SET role = 'retired' WHERE name = 'rival'")
    base.close()
    arena.start()
    in_line(arena)
    arena.trading("ppo")
    arena.daemon.wait_status(lambda status: arena.sold(status, "rival"), "what the retired one held is sold")
    newest = ("SELECT p.policy FROM orders AS o JOIN accounts AS a ON a.id = o.account JOIN order_policies AS p "
              "ON p.order_id = o.id WHERE a.name = 'ppo' ORDER BY o.id DESC LIMIT 1")
    harness.wait_for(lambda: arena.rows(newest)[0][0].hex() == ids["rival"], "orders of the other policy")
    print("cut off: accounts follow the table")


def unserved(arena):
    """Without a symbol that policies need they are refused; with it again they trade."""
    was = roles(arena)
    arena.done("flatten", confirm="FLATTEN")
    status = arena.daemon.wait_status(arena.sold, "all is sold")
    for account in {position["account"] for position in status["positions"]}:
        arena.done("account_reset", account=account)  # what is too little to be sold
    assert arena.daemon.stop() == 0
    fewer = arena.config.replace(", XRPUSDT", "").split("[account fixed]")[0]
    arena.start(fewer)
    status = arena.status()
    for policy in status["policies"]:
        if policy["role"] != "retired":
            assert policy["state"] == "refused" and "XRP" in policy["detail"] and "BTCUSDT, ETHUSDT" in policy["detail"], policy
    assert not any(account["strategy"] for account in status["accounts"]), status["accounts"]
    arena.refused("POLICY_REFUSED", ["XRP"], "policy_promote", name="k0", path=arena.policies["a"])
    assert {name: roles(arena)[name] for name in was if name != "fixed"} == {name: was[name] for name in was if name != "fixed"}
    assert arena.daemon.stop() == 0
    arena.start()
    arena.done("resume")
    assert roles(arena) == was
    in_line(arena)
    arena.trading("ppo")
    assert arena.daemon.stop() == 0
    print("  " + arena.daemon.papertape("parity").strip().split("\n")[-1])
    print("unserved: refused while a symbol is missing, trading again with it")


def on_a_gpu(arena):
    """Computed by the kernels of the GPU: the log, computed by the CPU, gives the same. Without one the CPU does it, and says so."""
    config = arena.config + "[policies]\ninference = gpu\n"
    journal = harness.Journal(arena.path)
    arena.start(config, PAPERTAPE_GPU_MODULE="/nowhere.so", **journal.environment)
    harness.wait_for(lambda: arena.rows("SELECT text FROM alerts WHERE code = 'POLICY_DEVICE'"), "an alert POLICY_DEVICE")
    assert journal.wait_alert("POLICY_DEVICE")["PAPERTAPE_EVENT"] == "device"
    made_for(arena, "slow", ["5m", "1m"], interval="5m")
    assert journal.wait_alert("POLICY_REFUSED")["POLICY"] == "ppo"
    arena.trading("ppo")
    assert arena.daemon.stop() == 0
    arena.start(config, PAPERTAPE_GPU_MODULE=harness.GPU_ON_CPU)
    arena.daemon.wait_status(lambda status: (arena.policy("ppo", status)["backend"] or "").startswith("gpu: "), "the GPU computes")
    arena.done("policy_promote", name="late", path=arena.policies["b"])
    computed = ("SELECT count(*) FROM order_policies AS p JOIN orders AS o ON o.id = p.order_id JOIN accounts AS a "
                "ON a.id = o.account WHERE a.name = ? AND p.backend LIKE 'gpu: %'")
    for name in ("ppo", "late"):
        harness.wait_for(lambda: arena.rows(computed, name)[0][0] > 3, f"orders of {name} that the GPU computed")
    assert arena.daemon.stop() == 0
    print("  " + arena.daemon.papertape("parity").strip().split("\n")[-1])
    print(f"on a GPU: {arena.rows(computed, 'ppo')[0][0]} orders of ppo, the same as the CPU's")


def from_database(arena, was):
    """The log is not there."""
    shutil.move(os.path.join(arena.state, "events"), os.path.join(arena.path, "events.away"))
    arena.start()
    assert roles(arena) == was and arena.status()["recovery"]["from"] == "database", arena.status()["recovery"]
    in_line(arena)
    arena.trading("ppo")
    assert arena.daemon.stop() == 0
    print("  " + arena.daemon.papertape("ledger", "verify").split("\n")[0])
    assert "rest on the database alone" in arena.daemon.papertape("parity", status=None)
    print("from the database alone the same policies trade on")


def checked(arena):
    """The record of it all."""
    orders = arena.rows("SELECT count(*), sum(p.policy IS NULL) FROM orders AS o LEFT JOIN order_policies AS p ON p.order_id = o.id "
                        "WHERE o.tag = 'policy'")[0]
    others = arena.rows("SELECT count(*) FROM orders AS o JOIN order_policies AS p ON p.order_id = o.id "
                        "WHERE o.tag NOT IN ('policy', 'stop')")[0][0]
    assert orders[0] > 20 and orders[1] == 0 and others == 0, (orders, others)
    backends = arena.rows("SELECT DISTINCT backend FROM order_policies")
    assert len(backends) == 1 and backends[0][0].startswith("cpu-"), backends
    (order, id, backend), = arena.rows("SELECT o.id, p.policy, p.backend FROM orders AS o JOIN order_policies AS p "
                                       "ON p.order_id = o.id WHERE o.tag = 'policy' ORDER BY o.id DESC LIMIT 1")
    assert arena.daemon.stop() == 0
    explained = json.loads(arena.daemon.papertape("explain", str(order), "--json"))["orders"][0]
    assert explained["equal"] and explained["decision"]["policy"]["id"] == id.hex(), explained["decision"]
    assert explained["recorded_policy"] == {"id": id.hex(), "backend": backend}, explained["recorded_policy"]
    print("  " + arena.daemon.papertape("ledger", "verify").split("\n")[0])
    print("  " + arena.daemon.papertape("parity").strip().split("\n")[-1])
    path = os.path.join(arena.path, "log-trades.csv")
    recorded.run([harness.PAPERTAPE, "backtest", "--events", arena.state, "--trades", path])
    with open(path, newline="") as file:
        ours = file.read().split("\n")
    theirs = arena.daemon.papertape("fills", "--csv").split("\n")
    assert ours[0] == theirs[0] and len(ours) > 12 and ours[1:] == theirs[-len(ours) + 1 :], (len(ours), len(theirs))
    print(f"  {orders[0]} orders of policies, each with its policy and {backend}; the log gives the newest {len(ours) - 2} fills again")


def main():
    recorded.ROWS = ROWS
    seed = recorded.SEED
    print(f"counts: {KILLS} kills, seed {seed}" + ("" if harness.LONG else " (more with PAPERTAPE_LONG)"))
    with harness.Folder() as folder:
        place, files = trained.made(folder.path, "bars", False)
        arena = Arena(folder, files)
        began = time.monotonic()
        arena.start()
        for part in (bad_input, steps_up, hot_swap, replaced):
            part(arena)
            print(f"    {time.monotonic() - began:.1f} s", file=sys.stderr)
        killed(arena, random.Random(seed))
        print(f"    {time.monotonic() - began:.1f} s", file=sys.stderr)
        again(arena)
        arena.start()
        cut_off(arena)
        unserved(arena)
        on_a_gpu(arena)
        arena.start()
        verdicts(arena)
        was = roles(arena)
        assert arena.daemon.stop() == 0
        print(f"    {time.monotonic() - began:.1f} s", file=sys.stderr)
        from_database(arena, was)
    return 0


if __name__ == "__main__":
    sys.exit(main())
