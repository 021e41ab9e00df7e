#!/usr/bin/env python3
"""The record of a stock that is split and pays a dividend: the verbs show it, the ledger verifies, charts and bars are in the
shares of now, and the database alone restores it without doing either again."""

import csv
import io
import json
import os
import shutil
import sys

import harness

TUESDAY_NS = 1768920300 * 10**9  # 14:45 UTC


def closes(daemon, *options):
    rows = csv.DictReader(io.StringIO(daemon.papertape("bars", "AAPL", "1m", *options)))
    return {int(row["open_time_ms"]): float(row["close"]) for row in rows}


def check_revisions(daemon):
    """A bar is stored as the last of what was changed of it says, and nothing is stored of one that formed then."""
    rows = json.loads(daemon.papertape("revisions", "AAPL", "--json"))["revisions"]
    assert {r["kind"] for r in rows} >= {"bar", "cancel"} and all(r["applied"] for r in rows), rows
    assert daemon.query("SELECT count(*) FROM revisions")[0][0] == len(rows)
    last = {(r["source"], (r["bar_new"] or r["bar_old"])["open_ns"] // 10**6): r["bar_new"] for r in rows}
    for (source, open_ms), bar in last.items():
        stored = {int(row["open_time_ms"]): row for row in
                  csv.DictReader(io.StringIO(daemon.papertape("bars", "AAPL", "1m", "--source", source)))}
        if open_ms == max(stored) + 60000 or not bar:
            assert open_ms not in stored, (source, open_ms, bar)
        elif open_ms in stored:
            assert all(abs(float(stored[open_ms][key]) - bar[key]) < 1e-9 for key in
                       (("open", "high", "low", "close", "volume") if source == "venue" else ("open",))), (stored[open_ms], bar)
    return len(rows)


def start(folder, replay, config, name):
    daemon = folder.start(harness.Daemon(folder.path, replay, config, name=name, state="record"))
    status = daemon.wait_status(lambda s: s["now_ns"] > TUESDAY_NS and s["positions"] and s["symbols"][0]["last"],
                                "Tuesday, 14:45")
    return daemon, status


def check_record(daemon, status, outcome="ok"):
    """The record's contents, whichever way the daemon built it."""
    harness.wait_for(lambda: daemon.query("SELECT count(*) FROM corporate_actions")[0][0] >= 2, "both actions in the database")
    assert f"ledger {outcome}:" in daemon.papertape("ledger", "verify")
    actions = json.loads(daemon.papertape("actions", "AAPL", "--json"))["actions"]
    assert sorted((a["kind"], a["shares"], a["per"], a["cash"]) for a in actions) == \
        [("dividend", None, None, 0.24), ("split", 4, 1, None)], actions
    rows = daemon.query("SELECT kind, count(*) FROM ledger WHERE kind IN ('split', 'dividend') GROUP BY kind ORDER BY kind")
    assert rows == [("split", 1)], rows  # the dividend is paid a month later
    bought = sum(row[0] for row in daemon.query("SELECT qty FROM fills WHERE ts_ns < 1768899600000000000"))
    held, scale = daemon.query("SELECT qty, qty_scale FROM positions JOIN symbols ON id = symbol")[0]
    booked = daemon.query("SELECT kind, qty, gross = 24 * qty / 1000 FROM receivables")
    assert booked == [("booked", held, 1)], (booked, held)
    assert held == 4 * bought and status["positions"][0]["qty"] == held / 10**scale, (held, bought, status["positions"])
    return held


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Alpaca(
            folder.path, "--synthetic", "5", "--speed", "max", "--from", "2026-01-16T20:50:00Z", "--to", "2026-01-20T14:50:00Z",
            "--action", "split:AAPL:4:1:2026-01-20", "--action", "dividend:AAPL:0.24:2026-01-20"))
        config = harness.stocks_config(replay.keys)
        daemon, status = start(folder, replay, config, "first")
        held = check_record(daemon, status)
        parity = json.loads(daemon.papertape("parity", "--json"))
        assert parity["ok"], parity
        venues = json.loads(daemon.papertape("venues", "--json"))["venues"]
        assert [v["name"] for v in venues] == ["alpaca"] and venues[0]["market"] == "regular", venues
        assert daemon.stop() == 0  # from here on the record stands still
        revisions = check_revisions(daemon)
        reported, now = closes(daemon), closes(daemon, "--split")
        last = status["symbols"][0]["last"]
        friday = [t for t in reported if t < 1768600000000]
        assert friday and reported.keys() == now.keys()
        assert all(abs(reported[t] / now[t] - 4) < 0.001 for t in friday if reported[t] > 2 * last), (reported, now)
        assert any(reported[t] > 2 * last for t in friday) and all(abs(close / last - 1) < 0.5 for close in now.values()), (last, now)
        chart = daemon.query("SELECT close FROM chart_bars JOIN symbols ON id = symbol WHERE interval_ns = 60000000000")
        scale = daemon.query("SELECT price_scale FROM symbols")[0][0]
        assert chart and all(abs(row[0] / 10**scale / last - 1) < 0.5 for row in chart), (last, chart)

        shutil.rmtree(os.path.join(daemon.state, "events"))
        daemon, status = start(folder, replay, config, "again")
        assert status["recovery"]["from"] == "database", status["recovery"]
        assert check_record(daemon, status, "adds up, but rests in part on the database alone") == held
        assert daemon.stop() == 0
        print(f"4 for 1 and 0.24 a share: {held} held, {revisions} revisions, {len(friday)} bars of Friday in the shares of now, restored from the "
              "database alone")


if __name__ == "__main__":
    sys.exit(main())
