#!/usr/bin/env python3
"""Workers of one study are killed at any moment: nothing is lost. kill.py TEST-DB-STUDIES-WORKER [postgresql]

4 workers for 16 trials each (on PostgreSQL 6 for 8; in the long run 8 for 64), SIGKILL to one of them after random times, and a new
one in its place. At the end every trial is COMPLETE, PRUNED, or FAIL and tried again; no number is lost or doubled; values and
parameters belong together; the file is whole."""

import contextlib
import json
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures"))
import postgresql_server  # noqa: E402

WORKER, ON_SERVER = sys.argv[1], sys.argv[2:] == ["postgresql"]
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a kill is one wherever the file is
LONG = bool(os.environ.get("PAPERTAPE_LONG"))
WORKERS, TRIALS = (8, 64) if LONG else (6, 8) if ON_SERVER else (4, 16)
KILLS = WORKERS * TRIALS // (4 if LONG else 5)
GRACE_S, PAUSE_MS = "0.4", "60" if ON_SERVER else "4"
KILL_WITHIN_S = 0.3 if ON_SERVER else 0.06  # of the one before
SEED = int(os.environ.get("PAPERTAPE_SEED", "0")) or random.randrange(1, 10**6)


def work(url, rng):
    """Runs and kills workers until all that are left have ended by themselves; how many were killed."""
    def start():
        return subprocess.Popen([WORKER, url, "killed", str(WORKERS * TRIALS), GRACE_S, PAUSE_MS], stdout=subprocess.PIPE)

    def began(worker):
        """It has had a trial: one that connects, or waits for a busy machine, is not worth a kill."""
        return bool(select.select([worker.stdout], [], [], 0)[0])

    workers = [start() for _ in range(WORKERS)]
    killed = 0
    try:
        while workers:
            # Random moments are what is tested: nothing is waited for here.
            time.sleep(rng.uniform(0.001, KILL_WITHIN_S))
            at = rng.randrange(len(workers))
            if killed < KILLS and workers[at].poll() is None and began(workers[at]):
                workers[at].send_signal(signal.SIGKILL)
                assert workers[at].wait() == -signal.SIGKILL
                workers[at] = start()
                killed += 1
            for worker in list(workers):
                if worker.poll() is not None:
                    assert worker.returncode == 0, f"a worker ended with {worker.returncode}"
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    return killed


def check(rows):
    """`rows` runs a query."""
    trials = rows("SELECT trial_id, number, state FROM trials ORDER BY trial_id")
    assert [number for _, number, _ in trials] == list(range(len(trials))), "a number is lost or doubled"
    states = {number: state for _, number, state in trials}
    assert set(states.values()) <= {"COMPLETE", "PRUNED", "FAIL"}, states
    ended = sum(state in ("COMPLETE", "PRUNED") for state in states.values())
    assert ended == WORKERS * TRIALS, f"{ended} ended, not {WORKERS * TRIALS}"
    attributes = {}
    for number, key, value in rows("SELECT number, key, value_json FROM trial_system_attributes JOIN trials "
                                   "USING (trial_id)"):
        attributes.setdefault(number, {})[key] = json.loads(value)
    after = {}
    for number, having in attributes.items():
        history = having["retry_history"]
        assert having["failed_trial"] == history[0] and all(states[n] == "FAIL" for n in history), having
        assert after.setdefault(history[-1], number) == number, "tried again twice"
    failed = {number for number, state in states.items() if state == "FAIL"}
    assert failed == set(after), "a failed trial was not tried again, or one that did not fail was"
    params, values = {}, {}
    for number, name, value in rows("SELECT number, param_name, param_value FROM trial_params JOIN trials "
                                    "USING (trial_id) ORDER BY param_name"):
        params.setdefault(number, []).append((name, value))
    for number, value in rows("SELECT number, value FROM trial_values JOIN trials USING (trial_id)"):
        values[number] = value
    for number, state in states.items():
        assert [name for name, _ in params[number]] == ["x0", "x1", "x2", "x3"]
        total = 0.0
        for _, value in params[number]:
            total += value
        if state == "COMPLETE":
            assert values[number] == total, number
        elif state == "PRUNED":
            assert values[number] == total * 3, number
        else:
            assert number not in values
            assert params[after[number]] == params[number], "another one's parameters"
    (beats,), = rows("SELECT count(*) FROM trial_heartbeats")
    assert beats == len(trials)
    return len(failed)


@contextlib.contextmanager
def in_file():
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = os.path.join(folder, "studies.db")

        def rows(query):
            return sqlite3.connect(path).execute(query).fetchall()

        yield f"sqlite:///{path}", rows
        assert rows("PRAGMA integrity_check") == [("ok",)] and rows("PRAGMA foreign_key_check") == []


@contextlib.contextmanager
def on_server():
    with postgresql_server.running(databases=["killed"]) as server:
        yield server.url("killed"), lambda query: server.rows("killed", query)


def main():
    print(f"seed {SEED}", flush=True)
    with (on_server if ON_SERVER else in_file)() as (url, rows):
        killed = work(url, random.Random(SEED))
        failed = check(rows)
        assert failed > 0, "no worker was killed within a trial"
    print(f"counts: {WORKERS} workers, {WORKERS * TRIALS} trials, {killed} killed, {failed} tried again")


main()
