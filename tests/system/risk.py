#!/usr/bin/env python3
"""The kill switch in the daemon: a purchase whose fee is more than the account may lose closes and kills it; it stays
killed through a restart, from the event log and from the database alone, until its user resumes it, and no other
account is touched. One account's daily loss is not everybody's halt. And what the limits and the fees' tier of an
account say; and that [risk], [account] risk.*, backtest --risk and account create --risk-… take the same values and
refuse the others in the same words."""

import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys

import harness

CONFIG = """
[market]
interval = 1s
history = 50
[engine]
latency_ms = 0
[account hand]
cash = 50000
strategy = none
fees = vip1
risk.drawdown = 0.0001
[account other]
strategy = none
[account whole]
strategy = sma-cross
strategy.fast = 1
strategy.slow = 2
"""
WHOLE = ("[account whole] strategy.fraction = 1: sma-cross opens a position by an order for 1 of equity, and [risk] exposure_symbol = 0.5 "
         "refuses each such order: fraction at most 0.5, or exposure_symbol at least 1, is right")


def account(status, name="hand"):
    return next(a for a in status["accounts"] if a["account"] == name)


def started(folder, replay, name):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=name))
    daemon.wait_status(lambda s: s["trading"] == "on" and s["symbols"] and all(v["bid"] and v["book"] == "synced" and
                       not v["stale"] for v in s["symbols"]), "prices")
    return daemon


def refused(daemon, times):
    """A purchase is refused for the drawdown, by either way of asking."""
    text = daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand", status=1)
    assert "limit of drawdown" in text, text
    status = daemon.status_object()
    assert account(status)["killed"] and account(status)["killed_ns"] > 0, status
    assert account(status)["refused"].get("RISK_DRAWDOWN") == times, account(status)


def reported(daemon, over):
    """That it was killed is one alert, an error, until its user resumes it."""
    asked = "SELECT severity, text, closed_ns IS NOT NULL FROM alerts WHERE code = 'KILLED'"
    (severity, text, closed), = harness.wait_for(lambda: [a for a in daemon.query(asked) if a[2] == over], "KILLED, over" if over else "KILLED")
    assert severity == "error" and text.startswith("account hand lost ") and "0.01 % is the limit" in text, text
    assert len(daemon.query(asked)) == 1, daemon.query(asked)


SEED, VALUES = 20261123, 50 if harness.SANITIZED else 200
MOST = {"exposure_symbol": 100, "exposure_account": 100, "daily_loss": 1, "orders_per_second": 64, "drawdown": 1,
        "price_band": 1, "cooldown_s": 2592000, "positions": 4096}


def any_value(rng, most):
    return rng.choice((
        lambda: str(rng.randint(0, 2 * most)), lambda: f"{rng.uniform(0, 1.5 * most):.{rng.randint(1, 12)}f}",
        lambda: str(most), lambda: str(most + 1), lambda: f"{most}.{rng.randint(0, 1)}", lambda: f"-{rng.randint(0, 3)}",
        lambda: f"{rng.randint(0, 150 * most)}%", lambda: f"{rng.random():.3e}", lambda: f"{rng.randint(1, 9)}e{rng.randint(0, 7)}",
        lambda: rng.choice(("nan", "inf", "0x1", "1 2", "+1", ".5", "5.", "1e", "%", "one", "1,5", "1e400", "00", "--1")).replace(",", "_")))()


def words_of(text, key):
    """The last line's words behind the key: why the value is refused; "" where it is not."""
    lines = [line for line in text.splitlines() if f"{key}: \"" in line]
    return lines[0].split(f"{key}: ", 1)[1] if lines else ""


def by_files(folder, pairs):
    """[(words of [risk], words of [account])]: in each file a key once, and every error of it."""
    files, refused = [], {}
    for key, value in pairs:
        file = next((f for f in files if key not in f), None)
        if file is None:
            files.append(file := {})
        file[key] = value
    for i, file in enumerate(files):
        path = os.path.join(folder.path, f"limits-{i}.ini")
        with open(path, "w") as out:
            out.write("[risk]\n" + "".join(f"{key} = {value}\n" for key, value in file.items()) +
                      "[account main]\n" + "".join(f"risk.{key} = {value}\n" for key, value in file.items()))
        run = subprocess.run([harness.DAEMON, "--check-config", "--config", path], capture_output=True, text=True)
        assert run.returncode == (2 if run.stderr else 0), run
        for key, value in file.items():
            refused[key, value] = tuple(words_of("\n".join(line for line in run.stderr.splitlines() if section in line), key)
                                        for section in ("[risk] ", "[account main] "))
    return [refused[pair] for pair in pairs]


def by_option(key, value):
    run = subprocess.run([harness.PAPERTAPE, "backtest", "--strategy", "buy-and-hold", "--bars", "/nonexistent.csv", "--risk",
                          f"{key}={value}"], capture_output=True, text=True)
    words = words_of(run.stderr, key)
    assert run.returncode == (2 if words else 1), run
    return words


def by_account(daemon, key, value):
    """There is such an account: what is not refused for the value is for the name."""
    text = daemon.papertape("account", "create", "hand", "--currency", "USDT", "--cash", "5",
                            f"--risk-{key.replace('_', '-')}={value}", status=1)
    words = words_of(text, "--risk-" + key.replace("_", "-"))
    assert words or "there is an account hand already" in text, text
    return words


def same_limits(folder, daemon):
    rng = random.Random(SEED)
    pairs = list({(key, any_value(rng, MOST[key])): None for key in sorted(MOST) * 40})
    rng.shuffle(pairs)
    pairs = [("positions", "300"), ("cooldown_s", "3000000")] + pairs[:VALUES - 2]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        options = pool.map(lambda pair: by_option(*pair), pairs)
        accounts = pool.map(lambda pair: by_account(daemon, *pair), pairs)
    accepted = 0
    for pair, (general, own), option, account_words in zip(pairs, by_files(folder, pairs), options, accounts):
        assert general == own == option == account_words, (SEED, pair, general, own, option, account_words)
        accepted += not general
    assert VALUES / 5 < accepted < VALUES * 4 / 5, accepted
    print(f"seed {SEED}: {VALUES} values of {len(MOST)} limits, {accepted} accepted and {VALUES - accepted} refused in the same "
          "words by [risk], [account], --risk and account create")


def never_buys(daemon):
    """--check-config and the log of the start say of a strategy that the default limits refuse all it would buy, and they do."""
    checked = subprocess.run([harness.DAEMON, "--check-config", "--config", daemon.config], capture_output=True, text=True, check=True)
    assert checked.stdout.splitlines()[1:] == [f"papertaped: {WHOLE}"] and not checked.stderr, checked
    assert sum(WHOLE in line for line in daemon.log_text().splitlines()) == 1, daemon.log_text()
    status = daemon.wait_status(lambda s: account(s, "whole")["refused"], "what the strategy would buy is refused")
    assert list(account(status, "whole")["refused"]) == ["RISK_EXPOSURE"], status


def kill_switch(folder, replay):
    daemon = started(folder, replay, "first")
    never_buys(daemon)
    hand = account(daemon.status_object())
    assert not hand["killed"] and hand["killed_ns"] is None and hand["refused"] == {}, hand
    assert hand["limits"]["drawdown"] == 0.0001 and hand["limits"]["cooldown_s"] == 0, hand
    listed = {a["account"]: a for a in json.loads(daemon.papertape("account", "list", "--json"))["accounts"]}
    assert listed["hand"]["fee_maker"] == 0.0009 and listed["hand"]["fee_taker"] == 0.001, listed
    assert listed["hand"]["drawdown"] == 0.0001 and listed["other"]["drawdown"] == 0, listed
    same_limits(folder, daemon)

    daemon.papertape("order", "buy", "BTCUSDT", "0.3", "--account", "hand")
    status = daemon.wait_status(lambda s: account(s)["killed"] and not s["positions"] and not s["orders"],
                                "the account is killed and closed")
    assert not account(status, "other")["killed"], status
    harness.wait_for(lambda: "account hand lost" in daemon.papertape("alerts", "list"), "its alert in the database")
    reported(daemon, over=False)
    refused(daemon, 1)
    daemon.papertape("order", "buy", "ETHUSDT", "0.1", "--account", "other")
    daemon.papertape("pause")
    daemon.papertape("resume")
    refused(daemon, 2)
    assert daemon.stop() == 0

    daemon = started(folder, replay, "again")  # from the event log
    refused(daemon, 3)
    reported(daemon, over=False)
    assert daemon.stop() == 0
    shutil.rmtree(os.path.join(daemon.state, "events"))
    daemon = started(folder, replay, "database")
    refused(daemon, 1)  # what is counted goes with the log
    listed = {a["account"]: a for a in json.loads(daemon.papertape("account", "list", "--json"))["accounts"]}
    assert listed["hand"]["killed_ns"] > 0 and listed["other"]["killed_ns"] is None, listed

    assert "resumed hand" in daemon.papertape("account", "resume", "hand")
    assert not account(daemon.status_object())["killed"]
    reported(daemon, over=True)
    assert "no" in daemon.papertape("account", "resume", "absent", status=1)
    daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand")
    daemon.papertape("ledger", "verify")
    assert daemon.stop() == 0


LOSERS = """
[engine]
latency_ms = 0
[account first]
cash = 10000
strategy = none
risk.daily_loss = 0.000001
[account second]
cash = 10000
strategy = none
risk.daily_loss = 0.0002
"""


def daily_loss(folder, replay):
    """A halt is everybody's: while one account has reached its limit the others trade, and the status names it; a pause is a pause."""
    daemon = folder.start(harness.Daemon(folder.within("losers"), replay, LOSERS))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")

    def turn(account, qty):
        """There and back: the fees are lost whatever the market does."""
        for side in ("buy", "sell"):
            daemon.papertape("order", side, "BTCUSDT", qty, "--account", account)
            daemon.wait_status(lambda s, held=side == "buy": held == any(p["account"] == account for p in s["positions"]) and not s["orders"],
                               f"{side} {qty} of {account}")

    def trading(state, reason):
        daemon.wait_status(lambda s: (s["trading"], s["trading_reason"]) == (state, reason), f"{state}: {reason}")

    turn("first", "0.01")
    trading("on", "daily loss limit of first reached")
    turn("second", "0.001")
    daemon.papertape("pause")
    trading("paused", "paused by the user; daily loss limit of first reached")
    daemon.papertape("resume")
    turn("second", "0.05")
    trading("halted", "daily loss limit reached: no new positions until midnight UTC")
    daemon.papertape("pause")
    trading("paused", "paused by the user; daily loss limit of first and others reached")
    assert daemon.stop() == 0


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        kill_switch(folder, replay)
        daily_loss(folder, replay)
        assert replay.stop() == 0
    print("killed, closed, refused after a restart, with the log and without; resumed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
