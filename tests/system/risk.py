#!/usr/bin/env python3
"""The kill switch in the daemon: a purchase whose fee is more than the account may lose closes and kills it; it stays
killed through a restart, from the event log and from the database alone, until its user resumes it, and no other
account is touched. And what the limits and the fees' tier of an account say."""

import json
import os
import shutil
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
"""


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


def kill_switch(folder, replay):
    daemon = started(folder, replay, "first")
    hand = account(daemon.status_object())
    assert not hand["killed"] and hand["killed_ns"] is None and hand["refused"] == {}, hand
    assert hand["limits"]["drawdown"] == 0.0001 and hand["limits"]["cooldown_s"] == 0, hand
    listed = {a["account"]: a for a in json.loads(daemon.papertape("account", "list", "--json"))["accounts"]}
    assert listed["hand"]["fee_maker"] == 0.0009 and listed["hand"]["fee_taker"] == 0.001, listed
    assert listed["hand"]["drawdown"] == 0.0001 and listed["other"]["drawdown"] == 0, listed

    daemon.papertape("order", "buy", "BTCUSDT", "0.3", "--account", "hand")
    status = daemon.wait_status(lambda s: account(s)["killed"] and not s["positions"] and not s["orders"],
                                "the account is killed and closed")
    assert not account(status, "other")["killed"], status
    harness.wait_for(lambda: "account hand lost" in daemon.papertape("alerts", "list"), "its alert in the database")
    refused(daemon, 1)
    daemon.papertape("order", "buy", "ETHUSDT", "0.1", "--account", "other")
    daemon.papertape("pause")
    daemon.papertape("resume")
    refused(daemon, 2)
    assert daemon.stop() == 0

    daemon = started(folder, replay, "again")  # from the event log
    refused(daemon, 3)
    assert daemon.stop() == 0
    shutil.rmtree(os.path.join(daemon.state, "events"))
    daemon = started(folder, replay, "database")
    refused(daemon, 1)  # what is counted goes with the log
    listed = {a["account"]: a for a in json.loads(daemon.papertape("account", "list", "--json"))["accounts"]}
    assert listed["hand"]["killed_ns"] > 0 and listed["other"]["killed_ns"] is None, listed

    assert "resumed hand" in daemon.papertape("account", "resume", "hand")
    assert not account(daemon.status_object())["killed"]
    assert "no" in daemon.papertape("account", "resume", "nobody", status=1)
    daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand")
    daemon.papertape("ledger", "verify")
    assert daemon.stop() == 0


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        kill_switch(folder, replay)
        assert replay.stop() == 0
    print("killed, closed, refused after a restart, with the log and without; resumed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
