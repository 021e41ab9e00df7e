#!/usr/bin/env python3
"""The daemon on the synthetic market: it trades, obeys, refuses with reasons, keeps its books over a restart, and
meets bad input with one clear line."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import harness

CONFIG = """
[market]
interval = 1s
[engine]
latency_ms = 10
[account main]
cash = 50000
strategy = sma-cross-rsi
strategy.fast = 3
strategy.slow = 8
strategy.rsi_max = 95
strategy.fraction = 0.2
[account hand]
cash = 50000
strategy = none
"""
BY_HAND = "[market]\ninterval = 1s\n[engine]\nlatency_ms = 10\n[account hand]\ncash = 50000\nstrategy = none\n"


def verified(daemon):
    report = json.loads(daemon.papertape("ledger", "verify", "--json"))
    assert report["ok"] is True, report
    return report


def positions(daemon):
    return daemon.status_object()["positions"]


def trades_and_obeys(folder, replay):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemon.wait_status(lambda s: s["counters"] and s["counters"]["fills"] >= 4, "four fills of the strategy")
    daemon.wait_status(lambda s: all(x["book"] == "synced" and x["bars"] > 500 for x in s["symbols"]),
                       "books in step and bars closing after the history")

    assert json.loads(daemon.papertape("status", "--json"))["trading"] == "on"
    daemon.papertape("pause")
    daemon.wait_status(lambda s: s["trading"] == "paused", "pause")
    refused = daemon.papertape("order", "buy", "BTCUSDT", "0.01", status=1)
    assert "RISK_PAUSED" in refused or "paused" in refused, refused
    daemon.papertape("resume")
    daemon.wait_status(lambda s: s["trading"] == "on", "resume")

    daemon.papertape("flatten", status=2)  # without --yes
    daemon.papertape("flatten", "--yes")
    daemon.wait_status(lambda s: not s["positions"] and not s["orders"] and s["trading"] == "paused",
                       "no position and no order after a flatten")
    verified(daemon)
    return daemon


def second_daemon(folder, replay, daemon):
    other = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="second"))
    assert other.popen.wait(harness.PATIENCE) == 1
    text = other.log_text()
    assert str(daemon.popen.pid) in text and text.count("\n") == 1, text


def restarts(folder, replay, daemon):
    """Paused, flat, and with a ledger: all of it is there again, and the ledger continues."""
    assert daemon.stop() == 0  # what was on its way to the database is there
    before = verified(daemon)
    orders = json.loads(daemon.papertape("orders", "--json"))["orders"]
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    status = daemon.wait_status(lambda s: s["accounts"] and s["feed"]["state"] == "ok", "the daemon again")
    assert status["trading"] == "paused", status["trading"]
    after = verified(daemon)
    assert after["rows"] == before["rows"] and after["hash"] == before["hash"], (before, after)
    later = json.loads(daemon.papertape("orders", "--json"))["orders"]
    assert later[:len(orders)] == orders
    assert all(o["state"] == "REJECTED" for o in later[len(orders):]), later[len(orders):]  # the market continued

    daemon.papertape("resume")
    def by_hand(things):  # the strategy continues with its own account's
        return [thing for thing in things if thing["account"] == "hand"]

    daemon.papertape("order", "buy", "BTCUSDT", "0.05", "--account", "hand")
    held = by_hand(daemon.wait_status(lambda s: by_hand(s["positions"]), "a position")["positions"])
    limit = f"{held[0]['mark'] * 1.04:.2f}"
    daemon.papertape("order", "sell", "BTCUSDT", "0.02", "--limit", limit, "--account", "hand")
    daemon.wait_status(lambda s: any(o["type"] == "LIMIT" and o["state"] == "OPEN" for o in s["orders"]), "a resting order")
    daemon.papertape("pause")
    resting = {o["order"] for o in by_hand(daemon.status_object()["orders"])}
    held = {p["symbol"]: p["qty"] for p in by_hand(positions(daemon))}
    assert daemon.stop(signal.SIGKILL) == -signal.SIGKILL
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    status = daemon.wait_status(lambda s: s["accounts"] and s["feed"]["state"] == "ok", "the daemon after kill -9")
    assert {p["symbol"]: p["qty"] for p in by_hand(status["positions"])} == held, (status["positions"], held)
    assert {o["order"] for o in by_hand(status["orders"])} == resting, (status["orders"], resting)
    verified(daemon)
    daemon.papertape("flatten", "--yes")
    daemon.wait_status(lambda s: not s["positions"] and not s["orders"], "flat after the restart")
    report = verified(daemon)
    assert daemon.stop() == 0
    print(f"restarts: {report['rows']} ledger rows, hash {report['hash'][:16]}…")


def typed_options(daemon):
    """What was refused is named as it was typed: the daemon's arguments have other names, and other places."""
    buy, oco = ("order", "buy", "BTCUSDT", "0.01"), ("order", "oco", "sell", "BTCUSDT", "0.01")
    create = ("account", "create", "swing")
    for arguments, says in (
            (("order", "buy", "BTCUSDT", "x"), '"x": a decimal number is needed'),
            ((*buy, "--limit", "x"), '--limit: "x": a decimal number'),
            ((*buy, "--take-profit", "x"), '--take-profit: "x": a decimal number'),
            ((*buy, "--trail", "x"), '--trail: "x": a decimal number'),
            ((*buy, "--trail", "150%"), '--trail: "150": a number from 0.0001 to 99.9999 is needed'),
            ((*buy, "--trail", "5", "--limit", "9"), "a TRAILING_STOP order takes --trail alone"),
            ((*buy, "--type", "stop-limit", "--limit", "9"), "a STOP_LIMIT order takes --stop and --limit"),
            ((*buy, "--type", "market", "--limit", "9"), "a MARKET order takes no price"),
            ((*buy, "--tif", "gtd"), "--expire: --tif gtd needs it, and no other takes it"),
            ((*buy, "--tif", "ioc", "--expire", "2030-01-01"), "--expire: --tif gtd needs it"),
            ((*buy, "--client-id", "a b"), '--client-id: "a b": 1 to '),
            ((*buy, "--bracket-stop", "x"), '--bracket-stop: "x": a decimal number'),
            ((*buy, "--bracket-stop-limit", "9"), "--bracket-stop, also with --bracket-stop-limit, or --bracket-trail is needed"),
            ((*buy, "--bracket-trail", "150%"), '--bracket-trail: "150": a number from'),
            ((*oco, "--take-profit", "9"), "--take-profit and --stop are needed: an oco has both"),
            ((*oco, "--take-profit", "9", "--stop", "x"), '--stop: "x": a decimal number'),
            ((*oco, "--take-profit-stop", "x", "--stop", "9"), '--take-profit-stop: "x": a decimal number'),
            ((*oco, "--take-profit", "9", "--stop-limit", "9"), "--stop, also with --stop-limit, or --trail is needed"),
            (("order", "amend", "7", "--trail", "150%"), '--trail: "150": a number from'),
            ((*create, "--strategy", "sma-cross", "--set", "fast=x"), "--set fast: "),
            ((*create, "--strategy", "sma-cross", "--set", "fast=50", "--set", "slow=20"), "--set fast: "),
            ((*create, "--collateral", "120%", "--maintenance", "130%"), "--maintenance: at most the collateral is needed"),
            ((*create, "--risk-drawdown", "x"), '--risk-drawdown: "x": '),
            ((*create, "--fee-maker", "x"), '--fee-maker: "x": ')):
        text = daemon.papertape(*arguments, status=1)
        assert f": {says}" in text and "args" not in text, (arguments, says, text)


def by_hand(folder, replay):
    daemon = folder.start(harness.Daemon(folder.path, replay, BY_HAND, name="hand", state="hand"))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" for x in s["symbols"]), "books in step")
    for arguments, reason in (
            (("buy", "BTCUSDT", "0.000001"), "LOT_SIZE"),
            (("buy", "BTCUSDT", "0.00001"), "NOTIONAL"),
            (("buy", "BTCUSDT", "0.0100001"), "LOT_SIZE"),
            (("buy", "BTCUSDT", "0.01", "--limit", "60000.005"), "PRICE_FILTER"),
            (("buy", "BTCUSDT", "0.01", "--limit", "1.00"), "PERCENT_PRICE"),
            (("buy", "BTCUSDT", "5"), "INSUFFICIENT_BALANCE"),
            (("buy", "BTCUSDT", "0.6"), "RISK_EXPOSURE"),
            (("sell", "BTCUSDT", "0.01"), "INSUFFICIENT_BALANCE"),
            (("buy", "DOGEUSDT", "1"), 'UNKNOWN_SYMBOL: "DOGEUSDT": no such symbol is streamed'),
            (("buy", "BTCUSTD", "1"), 'UNKNOWN_SYMBOL: "BTCUSTD": no such symbol is streamed: did you mean BTCUSDT?'),
            (("buy", "BTCUSDT", "0.01", "--account", "absent"),
             'UNKNOWN_ACCOUNT: --account: "absent": there is no such account'),
            (("buy", "BTCUSDT", "0.01", "--account", "hnad"), 'there is no such account: did you mean hand?')):
        text = daemon.papertape("order", *arguments, status=1)
        assert reason in text, (arguments, reason, text)
    typed_options(daemon)
    daemon.papertape("order", "buy", "BTCUSDT", "0.01")
    daemon.wait_status(lambda s: s["positions"] and s["positions"][0]["qty"] == 0.01, "the bought position")
    daemon.papertape("order", "sell", "BTCUSDT", "0.01", "--stop", f"{positions(daemon)[0]['mark'] * 0.9:.2f}")
    stop = daemon.wait_status(lambda s: s["orders"] and s["orders"][0]["state"] == "OPEN", "a resting stop")["orders"][0]
    daemon.papertape("order", "cancel", str(stop["order"]))
    daemon.wait_status(lambda s: not s["orders"], "the cancel")
    daemon.papertape("order", "cancel", "99999", status=1)
    fills = json.loads(daemon.papertape("fills", "--json"))["fills"]
    assert fills and sum(f["qty"] for f in fills) - 0.01 < 1e-12
    rejected = [o for o in json.loads(daemon.papertape("orders", "--json"))["orders"] if o["state"] == "REJECTED"]
    assert len(rejected) >= 8 and all(o["reason"] for o in rejected), rejected
    verified(daemon)
    assert daemon.stop() == 0
    print(f"by hand: {len(rejected)} refusals recorded with their reasons")
    return daemon.state


def one_line(argv, *words, status=2):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == status, (argv, done.returncode, done.stderr)
    lines = [line for line in done.stderr.splitlines() if not line[:4].isdigit()]  # the log's lines begin with the year
    assert len(lines) == 1 and lines[0].startswith("papertaped: "), done.stderr
    for word in words:
        assert word in lines[0], (word, lines[0])


def bad_input(folder, replay, state):
    def config(text):
        path = os.path.join(folder.path, "bad.ini")
        with open(path, "w") as file:
            file.write(text)
        return path

    fresh = os.path.join(folder.path, "fresh")
    venue = ["--venue-url", replay.urls["ws_url"], "--rest-url", replay.urls["rest_url"], "--ca-file", replay.ca]
    one_line([harness.DAEMON, "--check-config", "--config", config("[market]\nsymbls = BTCUSDT\n")],
             "bad.ini:2", "symbls", "symbols")
    one_line([harness.DAEMON, "--config", os.path.join(folder.path, "absent.ini"), "--state", fresh], "absent.ini")
    one_line([harness.DAEMON, "--state", fresh, "--config", config("[market]\nsymbols = BTCUSDT, BTCUSTD\n"), *venue],
             "BTCUSTD", "BTCUSDT")
    one_line([harness.DAEMON, "--state", os.path.join("/proc", "papertape"), *venue], "/proc/papertape", status=1)
    database = sqlite3.connect(os.path.join(state, "papertape.db"))
    version = database.execute("PRAGMA user_version").fetchone()[0]
    database.execute("PRAGMA user_version = 999")
    database.commit()
    one_line([harness.DAEMON, "--state", state, *venue], "papertape.db", "999", status=2)
    database.execute(f"PRAGMA user_version = {version}")
    database.commit()
    database.close()


def absent_venue(folder):
    """It stays up, says so, and shows the retry."""
    config = "[market]\nws_url = wss://127.0.0.1:9\nrest_url = https://127.0.0.1:9\n"
    daemon = folder.start(harness.Daemon(folder.path, None, config, name="absent", state="absent"))
    status = daemon.wait_status(lambda s: s["feed"]["state"] == "retry" and s["feed"]["detail"], "a retry")
    # Between two tries it connects for a moment.
    harness.wait_for(lambda: "retry" in daemon.papertape("--dump-screen", "80x24", status=None), "a retry on the screen")
    assert daemon.stop() == 0
    print("absent venue:", status["feed"]["detail"])


def without_price(folder):
    """A market that says nothing any more: what is held cannot be closed now, and is named."""
    replay = folder.start(harness.Replay(folder.within("silent"), "--synthetic", "13"))
    daemon = folder.start(harness.Daemon(folder.path, replay, BY_HAND + "[feed]\nstale_s = 1\n", name="silent", state="silent"))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" for x in s["symbols"]), "books in step")
    daemon.papertape("order", "buy", "BTCUSDT", "0.05", "--account", "hand")
    daemon.wait_status(lambda s: s["positions"], "a position")
    replay.popen.send_signal(signal.SIGSTOP)
    daemon.wait_status(lambda s: all(x["stale"] for x in s["symbols"]), "no price")
    shown = daemon.papertape("flatten", "--yes", status=1)
    assert "not closed BTCUSDT account hand: it has no price, or an old one\n" in shown, shown
    replay.popen.send_signal(signal.SIGCONT)
    daemon.wait_status(lambda s: not s["positions"], "it is closed, once there is a price")
    assert daemon.stop() == 0 and replay.stop() == 0


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "11", "--speed", "10"))
        daemon = trades_and_obeys(folder, replay)
        second_daemon(folder, replay, daemon)
        restarts(folder, replay, daemon)
        state = by_hand(folder, replay)
        assert replay.stop() == 0
        # A venue of its own: the weight of what was asked above would make a request wait for the next minute.
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "12"))
        bad_input(folder, replay, state)
        absent_venue(folder)
        without_price(folder)
        assert replay.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
