#!/usr/bin/env python3
"""A split that was missed on its day: it is requested until the venue lists it, and takes effect late, after a restart too, once; a
symbol that was first streamed after its day is left alone."""

import os
import shutil
import sys

import harness

SPLIT = ("--action", "split:AAPL:4:1:2026-01-20")
FRIDAY = ("2026-01-16T20:50:00Z", "2026-01-16T20:56:00Z")


def run(folder, config, name, state, start, to, *arguments):
    """A daemon on that state until the market has reached a moment; its status then, stopped."""
    replay = folder.start(harness.Replay(folder.within(f"replay-{name}"), "--venue", "alpaca", "--synthetic", "5", "--speed", "max",
                                         "--from", start, "--to", to, *arguments))
    daemon = folder.start(harness.Daemon(folder.path, replay, config, name=name, state=state))
    hour, minute = int(to[11:13]), int(to[14:16])
    midnight = {"16": 1768521600, "20": 1768867200}[to[8:10]]
    until = (midnight + 3600 * hour + 60 * minute - 30) * 10**9
    status = daemon.wait_status(lambda s: s["now_ns"] > until and s["positions"] and s["symbols"][0]["last"], f"{name}: {to}")
    assert daemon.stop() == 0, daemon.log_text()[-2000:]
    assert replay.stop() == 0
    return daemon, status["positions"][0]["qty"]


def actions(daemon):
    return daemon.query("SELECT kind, shares, per FROM corporate_actions")


def open_alerts(daemon):
    return daemon.query("SELECT text, count FROM alerts WHERE code = 'actions-missing' AND acked_ns IS NULL AND closed_ns IS NULL")


def missed(folder, config, before):
    """Streamed after the ex-date while the venue's list could not be read; listed after a restart."""
    daemon, held = run(folder, config, "unread", "missed", "2026-01-20T14:10:00Z", "2026-01-20T14:31:00Z", "--fault", "actions:1000000", *SPLIT)
    assert actions(daemon) == [] and held == before
    reported = open_alerts(daemon)
    assert len(reported) == 1 and reported[0][1] > 3 and "splits and dividends are not reported" in reported[0][0], reported
    daemon, held = run(folder, config, "late", "missed", "2026-01-20T14:32:00Z", "2026-01-20T14:36:00Z", *SPLIT)
    assert actions(daemon) == [("split", 4, 1)], actions(daemon)
    assert held == 4 * before, (before, held)
    assert open_alerts(daemon) == [], open_alerts(daemon)
    for name in ("log", "database"):
        if name == "database":
            shutil.rmtree(os.path.join(daemon.state, "events"))
        minute = 37 if name == "log" else 42
        daemon, again = run(folder, config, name, "missed", f"2026-01-20T14:{minute}:00Z", f"2026-01-20T14:{minute + 4}:00Z", *SPLIT)
        assert actions(daemon) == [("split", 4, 1)] and again == held, (name, actions(daemon), held, again)
    said = daemon.papertape("ledger", "verify")
    assert "ledger adds up, but rests in part on the database alone" in said, said
    print(f"missed: {before} became {held} after a restart, once; {reported[0][1]} times not listed")


def asked_again(folder, config, before):
    """In one run: listed some minutes after the market has opened."""
    daemon, held = run(folder, config, "again", "again", "2026-01-20T14:25:00Z", "2026-01-20T14:50:00Z", "--fault", "actions:3", *SPLIT)
    assert actions(daemon) == [("split", 4, 1)] and held == 4 * before, (actions(daemon), before, held)
    opened, reported = 1768919400 * 10**9, daemon.query("SELECT ts_ns FROM corporate_actions")[0][0]
    assert reported > opened and open_alerts(daemon) == [], (reported, open_alerts(daemon))
    print(f"asked again: {before} became {held}, {(reported - opened) / 60e9:.1f} min after the opening")


def after(folder, config):
    """First streamed on the day itself, after its moment: what is held was bought in new shares."""
    daemon, bought = run(folder, config, "first", "after", "2026-01-20T14:31:00Z", "2026-01-20T14:35:00Z")
    daemon, held = run(folder, config, "second", "after", "2026-01-20T14:36:00Z", "2026-01-20T14:40:00Z", *SPLIT)
    assert actions(daemon) == [] and held == bought > 0, (actions(daemon), bought, held)
    print(f"after: {held} stay as they were bought")


def main():
    with harness.Folder() as folder:
        config = harness.stocks_config(harness.write_keys(folder.path, "keys", "hush"))
        daemon, before = run(folder, config, "friday", "missed", *FRIDAY)
        assert actions(daemon) == [] and before > 0
        shutil.copytree(daemon.state, os.path.join(folder.path, "again"))
        missed(folder, config, before)
        asked_again(folder, config, before)
        after(folder, config)


if __name__ == "__main__":
    sys.exit(main())
