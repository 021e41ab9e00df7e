#!/usr/bin/env python3
"""What rests on the database alone is named by its rows, by `parity`, `ledger verify`, the status and the dashboard: of a log that
retention shortened, with a note before it did; of one that somebody removed, or whose end is gone, which is an alert; and of a
state of before there were notes. The numbers of the rows are those that the database had when the missing events ended."""

import json
import os
import shutil
import sqlite3
import subprocess

import harness

CONFIG = harness.BUSY_CONFIG + "[events]\nsegment_mb = 1\n"
DAYS_S = 3 * 86400
TABLES = ("ledger", "fills", "orders")


def verb(state, *arguments):
    done = subprocess.run([harness.PAPERTAPE, *arguments, "--state", state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    return done.returncode, done.stdout, done.stderr


def newest(state):
    """The highest number of each table: what a range ends at, or begins after."""
    path = f"{state}/papertape.db"
    return {table: harness.query(path, f"SELECT ifnull(max(id), 0) FROM {table}")[0][0] for table in TABLES}


def segments(state):
    return sorted(name for name in os.listdir(f"{state}/events") if name.endswith(".journal"))


def named(lines, ranges):
    """Does a text name these rows, {table: (first, last)}?"""
    words = {"ledger": "ledger rows", "fills": "fills", "orders": "orders"}
    return all(any(f"{words[table]} {first}..{last}" in line and "rest on the database alone" in line for line in lines)
               for table, (first, last) in ranges.items() if last >= first)


def checked(state, ranges, why, status):
    """Both verbs name the rows, in words and as JSON; `status` is parity's, and None where it compares nothing."""
    code, text, _ = verb(state, "ledger", "verify")
    assert code == 0 and not text.startswith("ledger ok") and named(text.splitlines(), ranges), text
    code, text, _ = verb(state, "ledger", "verify", "--json")
    rests = {(row["table"], row["first"], row["last"], row["why"]) for row in json.loads(text)["rests_on_database"]}
    wanted = {(table, first, last, why) for table, (first, last) in ranges.items() if last >= first}
    assert code == 0 and wanted and rests == wanted, (rests, wanted)
    if status is None:
        return
    code, text, error = verb(state, "parity")
    assert code == status and not text.startswith("parity ok") and named(text.splitlines(), ranges), (code, text, error)
    assert not status or "rest on the database alone" in error, error
    code, text, _ = verb(state, "parity", "--json")
    parity = json.loads(text)
    assert parity["equal"] is True and parity["ok"] is (status == 0) and len(parity["rests_on_database"]) == len(wanted), parity


def run(folder, replay, state, more="", ahead=0, condition=None):
    """One run of the daemon, with trades; what `condition` finds in its status."""
    environment = dict(os.environ)
    if ahead:
        with open(os.path.join(folder, "ahead"), "w") as file:
            file.write(str(ahead))
        environment |= {"LD_PRELOAD": harness.SHIFTED_CLOCK, "SHIFTED_CLOCK": os.path.join(folder, "ahead"),
                        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    daemon = harness.Daemon(folder, replay, CONFIG + more, state=state, env=environment)
    try:
        daemon.wait_status(lambda status: status.get("symbols") and all(x["last"] and x["ask"] for x in status["symbols"]),
                           "prices")
        daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand")
        before = len(daemon.query("SELECT id FROM fills"))
        harness.wait_for(lambda: len(daemon.query("SELECT id FROM fills")) > before + 1, "fills")
        found = daemon.wait_status(condition or (lambda status: status["rests_on_database"] is not None), "what rests")
        once = daemon.papertape("--once") if condition else ""
        assert daemon.stop() == 0, daemon.log_text()  # the status comes before the rows
        alerts = [row for row in daemon.query("SELECT code, text FROM alerts") if row[0] == "event-log-short"]
    finally:
        daemon.stop(9)
    return found, once, alerts


def removed_by_retention(folder, replay, kept, second):
    state = shutil.copytree(kept, os.path.join(folder, "retained"))
    ranges = {table: (1, second[table]) for table in TABLES}
    found, once, alerts = run(folder, replay, "retained", "keep_days = 1\n", DAYS_S,
                              lambda status: status["parity"]["database_rows"] == second["ledger"])
    assert not alerts and {row["why"] for row in found["rests_on_database"]} == {"retention"}, (found["rests_on_database"], alerts)
    assert f"{second['ledger']} rows on DB alone" in once, once
    checked(state, ranges, "retention", 0)
    notes = harness.query(f"{state}/papertape.db",
                          "SELECT from_seq, to_seq, digest FROM log_notes WHERE kind = 'removed' ORDER BY to_seq")
    oldest = segments(state)[0]
    with open(f"{state}/events/{oldest}", "rb") as file:
        header = file.read(128)
    assert notes[-1][1] == int(oldest.split("-")[2].split(".")[0]) and notes[0][0] == 1, (notes, oldest)
    assert bytes.fromhex(notes[-1][2]) in header, "the digest is not that of the block before the oldest segment"
    print(f"retention removed events 1 to {notes[-1][1]} in {len(notes)} segments, each with a note before: rows named, no alert")


def deleted(folder, replay, kept, second):
    state = shutil.copytree(kept, os.path.join(folder, "deleted"))
    ranges = {table: (1, second[table]) for table in TABLES}
    shutil.rmtree(f"{state}/events")
    checked(state, ranges, "missing", None)
    code, text, error = verb(state, "parity")
    assert code == 1 and "ok" not in text, (code, text, error)
    found, once, alerts = run(folder, replay, "deleted", condition=lambda status: status["rests_on_database"])
    assert {row["why"] for row in found["rests_on_database"]} == {"missing"} and len(alerts) == 1, (found["rests_on_database"], alerts)
    assert f"ledger rows 1..{second['ledger']}" in alerts[0][1] and f"{second['ledger']} rows on DB alone" in once, (alerts, once)
    checked(state, ranges, "missing", 1)
    found, _, again = run(folder, replay, "deleted", "keep_days = 1\n", DAYS_S, lambda status: status["rests_on_database"])
    lost = {(row["table"], row["first"], row["last"]) for row in found["rests_on_database"] if row["why"] == "missing"}
    assert again == alerts and lost == {(table, *rows) for table, rows in ranges.items()}, \
        f"retention's later notes hide what was lost before them: {found['rests_on_database']}, {alerts}, {again}"
    print(f"a deleted log: rows 1..{second['ledger']} are named, one alert, and a later retention does not hide it")


def shortened(folder, replay, kept, first, second):
    state = shutil.copytree(kept, os.path.join(folder, "shortened"))
    ranges = {table: (first[table] + 1, second[table]) for table in TABLES}
    for segment in segments(state)[2:]:
        os.remove(f"{state}/events/{segment}")
    checked(state, ranges, "missing", 1)
    _, _, alerts = run(folder, replay, "shortened", condition=lambda status: status["rests_on_database"])
    assert len(alerts) == 1 and f"ledger rows {first['ledger'] + 1}..{second['ledger']}" in alerts[0][1], alerts
    checked(state, ranges, "missing", 1)
    print("a log whose end is gone: the rows behind it are named, also once a new run continues it")


def before_notes(folder, replay, kept, first):
    state = shutil.copytree(kept, os.path.join(folder, "before"))
    with sqlite3.connect(f"{state}/papertape.db") as db:
        db.execute("DELETE FROM log_notes")
    db.close()
    os.remove(f"{state}/events/{segments(state)[0]}")
    ranges = {table: (1, first[table]) for table in TABLES}
    checked(state, ranges, "before", 0)
    _, _, alerts = run(folder, replay, "before", condition=lambda status: status["rests_on_database"])
    assert not alerts, alerts
    checked(state, ranges, "before", 0)
    assert harness.query(f"{state}/papertape.db", "SELECT count(*) FROM log_notes WHERE kind = 'began' AND to_seq > 0") == [(1,)]
    print("a state of before there were notes: what it lacks is named, and no alert says that somebody removed it")


def main():
    with harness.Folder() as scratch:
        folder = scratch.path
        replay = scratch.start(harness.Replay(folder, "--synthetic", "3", "--rate", "600"))
        kept = os.path.join(folder, "state")
        run(folder, replay, "state")
        first = newest(kept)
        run(folder, replay, "state")
        second = newest(kept)
        assert len(segments(kept)) == 4, segments(kept)
        code, text, _ = verb(kept, "ledger", "verify")
        assert code == 0 and text.startswith("ledger ok") and "rest on" not in text, text
        assert verb(kept, "parity")[1].startswith("parity ok")
        removed_by_retention(folder, replay, kept, second)
        deleted(folder, replay, kept, second)
        shortened(folder, replay, kept, first, second)
        before_notes(folder, replay, kept, first)


if __name__ == "__main__":
    main()
