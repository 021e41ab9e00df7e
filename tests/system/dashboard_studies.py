#!/usr/bin/env python3
"""What the dashboard shows of studies, in tmux: a list and a page that follow other programs' writing, workers together, a trial
whose worker is gone, a storage that is locked, deleted, foreign or newer; the verbs; a study started from another's configuration.

usage: dashboard_studies.py PAPERTAPE SOURCE_ROOT [PAPERTAPED REPLAY TRAINER]

Standard library and tmux only; exit status 77 without tmux. The daemon is fake_daemon.py, or the real one, on which the first study of
a newcomer ends; the storage is written here, as Optuna
would: its tables, and every transaction by another connection than the dashboard's."""

import contextlib
import csv
import datetime
import io
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../fixtures")]
import fake_trainings  # noqa: E402
from dashboard import confirm, expect, expect_gone, run_tests, run_verb, wait  # noqa: E402
from dashboard_train import choose, end_trainer, replace_value  # noqa: E402

TABLES = """
CREATE TABLE studies (study_id INTEGER NOT NULL PRIMARY KEY, study_name VARCHAR(512) NOT NULL);
CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name);
CREATE TABLE version_info (version_info_id INTEGER NOT NULL PRIMARY KEY CHECK (version_info_id = 1), schema_version INTEGER,
    library_version VARCHAR(256));
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
CREATE TABLE study_directions (study_direction_id INTEGER NOT NULL PRIMARY KEY, direction VARCHAR(8) NOT NULL,
    study_id INTEGER NOT NULL, objective INTEGER NOT NULL, UNIQUE (study_id, objective));
CREATE TABLE study_user_attributes (study_user_attribute_id INTEGER NOT NULL PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512),
    value_json TEXT, UNIQUE (study_id, "key"));
CREATE TABLE study_system_attributes (study_system_attribute_id INTEGER NOT NULL PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512),
    value_json TEXT, UNIQUE (study_id, "key"));
CREATE TABLE trials (trial_id INTEGER NOT NULL PRIMARY KEY, number INTEGER, study_id INTEGER, state VARCHAR(8) NOT NULL,
    datetime_start DATETIME, datetime_complete DATETIME);
CREATE INDEX ix_trials_study_id ON trials (study_id);
CREATE TABLE trial_user_attributes (trial_user_attribute_id INTEGER NOT NULL PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512),
    value_json TEXT, UNIQUE (trial_id, "key"));
CREATE TABLE trial_system_attributes (trial_system_attribute_id INTEGER NOT NULL PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512),
    value_json TEXT, UNIQUE (trial_id, "key"));
CREATE TABLE trial_params (param_id INTEGER NOT NULL PRIMARY KEY, trial_id INTEGER, param_name VARCHAR(512), param_value FLOAT,
    distribution_json TEXT, UNIQUE (trial_id, param_name));
CREATE TABLE trial_values (trial_value_id INTEGER NOT NULL PRIMARY KEY, trial_id INTEGER NOT NULL, objective INTEGER NOT NULL,
    value FLOAT, value_type VARCHAR(7) NOT NULL, UNIQUE (trial_id, objective));
CREATE TABLE trial_intermediate_values (trial_intermediate_value_id INTEGER NOT NULL PRIMARY KEY, trial_id INTEGER NOT NULL,
    step INTEGER NOT NULL, intermediate_value FLOAT, intermediate_value_type VARCHAR(7) NOT NULL, UNIQUE (trial_id, step));
CREATE TABLE trial_heartbeats (trial_heartbeat_id INTEGER NOT NULL PRIMARY KEY, trial_id INTEGER NOT NULL,
    heartbeat DATETIME NOT NULL, UNIQUE (trial_id));
"""
RATE = json.dumps({"name": "FloatDistribution", "attributes": {"step": None, "low": 1e-5, "high": 0.1, "log": True}})
KIND = json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": ["none", "linear"]}})


def time_text(ago_s):
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=ago_s)
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")


class Storage:
    def __init__(self, path):
        self.path, self.lock = path, None

    @contextlib.contextmanager
    def write(self):
        db = sqlite3.connect(self.path, timeout=20)
        with db:
            yield db
        db.close()

    def create(self):
        with self.write() as db:
            db.executescript(TABLES)
            db.execute("INSERT INTO version_info VALUES (1, 12, '5.0.0')")
            db.execute("INSERT INTO alembic_version VALUES ('v3.2.0.a')")

    def study(self, name, direction="MAXIMIZE", **attributes):
        with self.write() as db:
            study = db.execute("INSERT INTO studies (study_name) VALUES (?)", (name,)).lastrowid
            db.execute("INSERT INTO study_directions (direction, study_id, objective) VALUES (?, ?, 0)", (direction, study))
            db.executemany('INSERT INTO study_user_attributes (study_id, "key", value_json) VALUES (?, ?, ?)',
                           [(study, f"papertape:{key}", json.dumps(value)) for key, value in attributes.items()])
        return study

    def trial(self, study, state, value=None, rate=1e-3, reports=(), heartbeat_s=None, **attributes):
        with self.write() as db:
            number = db.execute("SELECT count(*) FROM trials WHERE study_id = ?", (study,)).fetchone()[0]
            trial = db.execute("INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete) "
                               "VALUES (?, ?, ?, ?, ?)",
                               (number, study, state, time_text(90),
                                None if state == "RUNNING" else time_text(30))).lastrowid
            db.execute("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, 'rate', ?, ?)",
                       (trial, rate, RATE))
            db.execute("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, 'kind', ?, ?)",
                       (trial, number % 2, KIND))
            if value is not None:
                db.execute("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')",
                           (trial, value))
            db.executemany("INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type) "
                           "VALUES (?, ?, ?, 'FINITE')", [(trial, step, value) for step, value in enumerate(reports, 1)])
            if heartbeat_s is not None:
                db.execute("INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES (?, ?)", (trial, time_text(heartbeat_s)[:19]))
            db.executemany('INSERT INTO trial_user_attributes (trial_id, "key", value_json) VALUES (?, ?, ?)',
                           [(trial, f"papertape:{key}", json.dumps(text)) for key, text in attributes.items()])
        return trial

    def finish(self, trial, value):
        with self.write() as db:
            db.execute("UPDATE trials SET state = 'COMPLETE', datetime_complete = ? WHERE trial_id = ?", (time_text(0), trial))
            db.execute("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')",
                       (trial, value))

    def beat(self, trial):
        with self.write() as db:
            db.execute("UPDATE trial_heartbeats SET heartbeat = ? WHERE trial_id = ?", (time_text(0)[:19], trial))


def storage_of(session):
    return Storage(os.path.join(session.state, "studies.db"))


def row(tmux, text):
    return next((line for line in tmux.screen().split("\n") if text in line), "")


def expect_row(tmux, name, *texts, without=()):
    wait(f"{name}: {texts} without {without}",
         lambda: all(text in row(tmux, name) for text in texts) and not any(text in row(tmux, name) for text in without),
         tmux.screen)


def test_list(session):
    """Studies come up while the dashboard looks; workers of one study are one row."""
    tmux, storage = session.tmux, storage_of(session)
    session.launch("--tab", "2", "--interval", "0.25")
    expect(tmux, "Trainings (0)")
    assert "Studies" not in tmux.screen(), tmux.screen()
    storage.create()
    first = storage.study("ppo_1", trials=40, config="[study]\ntrials = 40\n# as it was\n")
    for i in range(12):
        storage.trial(first, "PRUNED" if i % 5 == 4 else "COMPLETE", 1 - abs(i - 7) / 10, 10 ** (-5 + i / 4), [0.1, 0.2])
    expect_row(tmux, "ppo_1", "12/40", "1.0000", "#7", "max")
    second = storage.study("ppo_2", trials=40)
    storage.trial(second, "FAIL", failure="diverged: loss nan")
    expect_row(tmux, "ppo_1..2", "13/80", "1.0000", "1#7")
    storage.study("other", direction="MINIMIZE")
    expect(tmux, "Studies (2)", " other")


def test_page(session):
    """A running trial and its end are seen; one whose worker is gone is STALE, and is updated again."""
    tmux, storage = session.tmux, storage_of(session)
    expect(tmux, ">other")
    tmux.keys("j")
    expect(tmux, ">ppo_1..2")
    tmux.keys("Enter")
    expect(tmux, "Study ppo_1..2 (max)", "run 0 ok 10 pruned 2 fail 1", "Importance (fANOVA)", "Trials (13)", "rate")
    with storage.write() as db:
        second = db.execute("SELECT study_id FROM studies WHERE study_name = 'ppo_2'").fetchone()[0]
    progress = {"share": 0.61, "steps_per_second": 1.9e6, "split": 6, "splits": 10}
    alive = storage.trial(second, "RUNNING", reports=[0.5, 0.75], heartbeat_s=1, worker="host:41", progress=progress)
    dead = storage.trial(second, "RUNNING", reports=[0.25], heartbeat_s=50, worker="host:42", progress=progress)
    expect(tmux, "Running (2)", "run 2 ok 10")
    expect_row(tmux, "2#1 ", "RUN", "61%", "6/10", "1.9M", "0.7500", "^")
    expect_row(tmux, "2#2 ", "STALE", "0.2500")
    storage.beat(dead)
    expect_row(tmux, "2#2 ", "RUN", without=("STALE",))
    storage.finish(alive, 1.5)
    expect(tmux, "best 2#1 1.5000", "run 1 ok 11", "Running (1)")
    tmux.keys("i", "i")
    expect(tmux, "Values", " 11 of 15 ")
    storage.finish(dead, 0.25)
    expect(tmux, "run 0 ok 12", " 12 of 15 ")
    tmux.keys("i", "i", "i")
    expect(tmux, "Importance (fANOVA)")


def test_plots(session):
    """i shows the plots in turn, [ and { choose the parameters."""
    tmux = session.tmux
    tmux.keys("i")
    expect(tmux, "plot: slice of", "Slice of", " 14 of 15 ")
    first = re.search(r"Slice of (\w+)", tmux.screen())[1]
    second = "kind" if first == "rate" else "rate"
    tmux.keys("[")
    expect(tmux, f"Slice of {second}")
    tmux.keys("]", "i")
    expect(tmux, "Values", " 12 of 15 ")
    tmux.keys("i")
    expect(tmux, f"Contour: {first}, {second}")
    tmux.keys("{")
    expect(tmux, f"plot: contour of {first} and {second}")  # there is no other
    tmux.keys("}")
    expect(tmux, f"plot: contour of {first} and {second}")
    tmux.keys("i")
    expect(tmux, "Parallel coordinates")
    tmux.keys("i")
    expect(tmux, "plot: importance", "Importance (fANOVA)")


def test_trials(session):
    """Sorted, inverted, filtered; the failed one's sentence; one trial alone."""
    tmux = session.tmux
    tmux.keys("o")
    expect(tmux, "Trials (15) by value")
    tmux.keys("g", "g")
    expect(tmux, ">2#1 ", "Trial 2#1")
    tmux.keys("I")
    expect(tmux, "Trials (15) by value, inverted")
    tmux.keys("I")
    expect_gone(tmux, "inverted")
    tmux.keys("/")
    tmux.type("fail")
    tmux.keys("Enter")
    expect(tmux, "Trials (1 of 1 filtered, 15 in all) by value", "/fail", "diverged: loss nan")
    tmux.keys("Escape")
    expect(tmux, "Trials (15) by value")
    tmux.keys("g", "g", "n")  # the one that has failed, and it alone
    expect(tmux, ">2#0 ")
    tmux.keys("g", "g", "N")
    expect(tmux, ">2#0 ")
    tmux.keys("G")
    expect(tmux, ">2#0 ")
    tmux.keys("Enter")
    expect(tmux, "Trial 2#0", "papertape:failure")
    tmux.keys("Escape")
    tmux.keys("v")
    expect(tmux, "Validation of ppo_1..2", "no proposal yet")
    tmux.keys("Escape")
    expect(tmux, "Study ppo_1..2 (max)")
    for width, height in ((40, 10), (200, 60), (39, 9), (120, 40), (80, 24)):
        tmux.resize(width, height)
        expect(tmux, "needs 40x10" if width < 40 else "Study ppo_1..2 (max)")


def test_locked(session):
    """The last known state stays, with its age; the keys still work; then it is read again."""
    tmux, storage = session.tmux, storage_of(session)
    lock = sqlite3.connect(storage.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    expect(tmux, "STALE", "in use by other processes for 0.25 s", "best 2#1 1.5000")
    tmux.keys("Escape")
    expect(tmux, "Studies (2)")
    lock.execute("ROLLBACK")
    lock.close()
    expect_gone(tmux, "STALE")
    expect_row(tmux, "ppo_1..2", "15/80", "1.5000")


def test_bad_files(session):
    """Deleted, foreign, newer: said in words; back again when it is."""
    tmux, storage = session.tmux, storage_of(session)
    kept = storage.path + ".kept"
    os.rename(storage.path, kept)
    expect(tmux, "studies.db", "STALE")
    with open(storage.path, "wb") as file:
        file.write(b"no database at all, but some kilobytes of it" * 100)
    expect_row(tmux, "studies.db")
    assert row(tmux, "ppo_1..2"), tmux.screen()
    os.rename(kept, storage.path)
    expect_gone(tmux, "STALE")
    with storage.write() as db:
        db.execute("UPDATE version_info SET schema_version = 13")
    expect(tmux, "schema 13", "STALE")  # upgraded while it is open
    tmux.keys("q")
    session.ended()
    session.launch("--tab", "2", "--interval", "0.25")
    expect(tmux, "Studies (0)", "schema 13")
    with storage.write() as db:
        db.execute("UPDATE version_info SET schema_version = 12")
    expect(tmux, "Studies (2)")


def test_start(session):
    """S begins with the chosen study's configuration; the daemon gets it as a training of its own."""
    tmux, daemon = session.tmux, session.daemon
    expect(tmux, ">other")
    tmux.keys("j")
    expect(tmux, ">ppo_1..2")
    tmux.keys("s")
    expect(tmux, "start")
    tmux.type("again")
    tmux.keys("Enter")
    expect(tmux, "Start again", "[study]", "trials", " 40", "plan: 514 rows", "kfold:5: ")
    confirm(tmux, "s", ("start again?",), "start done")
    assert daemon.learning.configs["again"] == "[study]\ntrials = 40\n# as it was\n", daemon.learning.configs
    with daemon.lock:
        daemon.learning.trainings[:] = [fake_trainings.training("ppo", state="update")]
    expect(tmux, "Trainings (1)")


def test_jobs(session):
    """x, r and e are about the training whose run the chosen study is, and no other's."""
    tmux, daemon, storage = session.tmux, session.daemon, storage_of(session)
    asked = len(daemon.seen("train_stop"))
    expect(tmux, ">ppo_1..2")
    for key in ("x", "r", "e"):  # a training of the same name that is no study
        tmux.keys(key)
        expect(tmux, f"{'stop' if key == 'x' else 'restart' if key == 'r' else 'resume'}: ppo_1..2 is no training of the co-process")
    for day in (20, 21):
        storage.study(f"ppo@2026-11-{day}T14:00:00Z", trials=1)
    with daemon.lock:
        daemon.status["trainer"] = {"state": "ok", "detail": "", "version": "0.1.0", "pid": 1, "age_ms": 10}
        daemon.learning.trainings[:] = [fake_trainings.training("ppo", state="searching", study="ppo@2026-11-21T14:00:00Z")]
    expect(tmux, "Studies (4)")
    tmux.keys("g", "g", "j")
    expect(tmux, ">ppo@2026~:00Z")
    tmux.keys("Enter")
    expect(tmux, "Study ppo@2026-11-20T14:00:00Z (max)", "state empty")
    tmux.keys("x")
    expect(tmux, "stop: ppo@2026-11-20T14:00:00Z is no training")
    tmux.keys("Escape", "k", "Enter")
    expect(tmux, "Study ppo@2026-11-21T14:00:00Z (max)", "job searching")
    tmux.keys("x")
    expect(tmux, "stop ppo?")
    tmux.keys("n")
    expect(tmux, "stop: nothing is done")
    assert len(daemon.seen("train_stop")) == asked
    confirm(tmux, "x", ("stop ppo?",), "stop done", "job stopped")
    assert [each["name"] for each in daemon.seen("train_stop")[asked:]] == ["ppo"], daemon.seen("train_stop")
    confirm(tmux, "e", ("resume ppo?",), "resume done", "job queued")
    assert [each["name"] for each in daemon.seen("train_resume")] == ["ppo"], daemon.seen("train_resume")
    with daemon.lock:
        daemon.learning.trainings[0].update(due_ns=time.time_ns() + 7000 * 10**9)
    expect(tmux, "job due 1h", "next run 20")
    daemon.learning.configs["ppo"] = "[study]\ntrials = 9\n"
    tmux.keys("r")
    expect(tmux, "Restart ppo", "[study]", "trials")
    confirm(tmux, "s", ("restart ppo?",), "restart done")
    assert daemon.seen("train_restart")[0]["name"] == "ppo", daemon.seen("train_restart")
    tmux.keys("Escape")
    with storage.write() as db:
        db.execute("DELETE FROM studies WHERE study_name LIKE 'ppo@%'")
    expect(tmux, "Studies (2)")


def changed_restart(tmux, daemon):
    """A value that is changed in the form is changed in each worker's own configuration; all are checked before one is restarted."""
    seen = lambda: [(each["name"], each.get("config")) for each in daemon.seen("train_restart")]

    def change(value):
        with daemon.lock:
            for training in daemon.learning.trainings:
                training.update(state="searching")
        expect(tmux, "jobs searching (2 of 2)")
        tmux.keys("r")
        expect(tmux, "Restart ppo_2", "[study]", "trials")
        tmux.keys("Enter", "C-u", *value, "Enter", "s")
        expect(tmux, "restart ppo_2 and ppo_1?", "with 1 ", "changed value in its own")
        tmux.keys("y")

    daemon.learning.configs.update(ppo_1="[study]\nseed = 1\ntrials = 9\n", ppo_2="[study]\ntrials = 9\nseed = 2\n")
    before = len(seen())
    change("12")
    expect(tmux, "restart done", "ppo_2: queued; ppo_1: queued", "jobs queued (2 of 2)")
    assert seen()[before:] == [("ppo_2", "[study]\ntrials = 12\nseed = 2\n"), ("ppo_1", "[study]\nseed = 1\ntrials = 12\n")], seen()[before:]

    # One that is refused is named, and holds up no other.
    restart = daemon.learning.train_restart
    daemon.learning.train_restart = lambda args: fake_trainings.refuse("EBUSY", "not now") if args["name"] == "ppo_1" else restart(args)
    change("13")
    expect(tmux, "restart refused", "ppo_2: queued; ppo_1: EBUSY: not now")
    daemon.learning.train_restart = restart

    # What is wrong with the second's configuration restarts none, and neither does one that cannot be had.
    daemon.learning.configs["ppo_1"] = "[ppo]\nlearning_rate = bad\n"
    before = len(seen())
    change("14")
    expect(tmux, "restart refused", "no training is restarted: ppo_1: [ppo] learning_rate")
    tmux.keys("Escape")
    expect(tmux, "leave the form?")
    tmux.keys("y")
    config = daemon.learning.train_config
    daemon.learning.train_config = lambda args: fake_trainings.refuse("EIO", "it is gone") if args["name"] == "ppo_1" else config(args)
    change("15")
    expect(tmux, "restart refused", "no training is restarted: ppo_1: EIO: it is gone")
    tmux.keys("Escape")
    expect(tmux, "leave the form?")
    tmux.keys("y")
    daemon.learning.train_config = config
    assert seen()[before:] == [], seen()[before:]


def test_workers(session):
    """Workers that are trainings of their own: the row's state is that of one that works; one question is about all that it is
    right for, and the daemon is asked for each."""
    tmux, daemon = session.tmux, session.daemon
    with daemon.lock:
        daemon.learning.trainings[:] = [fake_trainings.training("ppo_1", state="searching", study="ppo_1"),
                                        fake_trainings.training("ppo_2", state="stopped", study="ppo_2")]
    stopped, resumed, restarted = (len(daemon.seen(f"train_{word}")) for word in ("stop", "resume", "restart"))
    tmux.keys("g", "g", "j")
    expect(tmux, ">ppo_1..2")
    tmux.keys("Enter")
    expect(tmux, "jobs searching (1 of 2)")
    confirm(tmux, "x", ("stop ppo_1?",), "stop done", "jobs stopped (2 of 2)")
    assert [each["name"] for each in daemon.seen("train_stop")[stopped:]] == ["ppo_1"], daemon.seen("train_stop")
    confirm(tmux, "e", ("resume ppo_2 and ppo_1?",), "resume done", "ppo_2: queued; ppo_1: queued", "jobs queued (2 of 2)")
    assert [each["name"] for each in daemon.seen("train_resume")[resumed:]] == ["ppo_2", "ppo_1"], daemon.seen("train_resume")
    with daemon.lock:
        for training in daemon.learning.trainings:
            training.update(state="searching")
    expect(tmux, "jobs searching (2 of 2)")
    daemon.learning.configs["ppo_2"] = "[study]\ntrials = 9\n"
    tmux.keys("r")
    expect(tmux, "Restart ppo_2", "[study]", "trials")
    confirm(tmux, "s", ("restart ppo_2 and ppo_1?", "unchanged"), "restart done")
    assert [each["name"] for each in daemon.seen("train_restart")[restarted:]] == ["ppo_2", "ppo_1"], daemon.seen("train_restart")
    assert not any("config" in each for each in daemon.seen("train_restart")[restarted:]), daemon.seen("train_restart")
    changed_restart(tmux, daemon)
    with daemon.lock:
        for training in daemon.learning.trainings:
            training.update(state="searching")
        stop = daemon.learning.train_stop  # one that is refused holds up no other
        daemon.learning.train_stop = lambda args: (fake_trainings.refuse("EBUSY", "not now") if args["name"] == "ppo_2"
                                                   else stop(args))
    expect(tmux, "jobs searching (2 of 2)")
    confirm(tmux, "x", ("stop ppo_2 and ppo_1?",), "stop refused", "EBUSY: not now; ppo_1: stopped", "jobs searching (1 of 2)")
    with daemon.lock:
        del daemon.learning.train_stop
        daemon.learning.trainings[:] = [each for each in daemon.learning.trainings if each["training"] == "ppo_2"]
    expect(tmux, "job searching")
    tmux.keys("x")
    expect(tmux, "stop ppo_2?")
    with daemon.lock:
        daemon.learning.trainings[:] = []
    expect(tmux, "ppo_2 is not in the list any more")
    tmux.keys("n")
    expect(tmux, "state idle")


def write_returns(session, study, numbers):
    for number in numbers:
        folder = os.path.join(session.state, "studies", study, str(number))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "returns.csv"), "w", encoding="ascii") as file:
            file.write("timestamp_ns,path_1\n")
            file.writelines(f"{i * 10**9},{0.01 * math.sin(i * (number + 2) + len(study))}\n" for i in range(56))


def write_proposal(session, study, **proposal):
    with open(os.path.join(session.state, "studies", study, "proposal.json"), "w", encoding="ascii") as file:
        json.dump({"schema": "papertape.proposal/1", "words": "refused", **proposal}, file)


def test_validation(session):
    """The distribution is of the trials of all workers, as the PBO beside it; what has ended since the proposal is reported."""
    tmux, storage = session.tmux, storage_of(session)
    write_returns(session, "ppo_1", (i for i in range(12) if i % 5 != 4))
    write_returns(session, "ppo_2", (1, 2))
    write_proposal(session, "ppo_2", trial=1, pbo=2)  # which it cannot be
    tmux.keys("v")
    expect(tmux, "Validation of ppo_1..2", "trial ppo_2#1, proposed", "PBO 2.00", "of 12 trials", "trial 2#1 ")
    pbo = re.search("by now ([0-9.]+) of 12", tmux.screen())
    assert pbo and 0 <= float(pbo[1]) <= 1, tmux.screen()
    with storage.write() as db:
        first = db.execute("SELECT study_id FROM studies WHERE study_name = 'ppo_1'").fetchone()[0]
    write_returns(session, "ppo_1", [12])
    storage.trial(first, "COMPLETE", 0.1)
    expect(tmux, "of 13 trials")
    tmux.keys("Escape")
    expect(tmux, "Study ppo_1..2 (max)", "Importance (fANOVA)", "of 13 trials")
    tmux.keys("Escape")
    expect(tmux, "Studies (2)")


def verb(session, *words, status=0):
    done = subprocess.run([session.program, "study", *words, "--state", session.state], capture_output=True, text=True)
    assert done.returncode == status, (words, done)
    return done.stdout if status == 0 else done.stderr


def test_opened(session):
    """A page of each kind by --open, printed and live; of what there is not, a word."""
    def opened(item, status=0):
        done = subprocess.run([session.program, "--state", session.state, "--open", item, "--dump-screen", "100x30"], capture_output=True, text=True)
        assert done.returncode == status, (item, done)
        return done.stdout + done.stderr

    for item, title in (("study:ppo", "Study ppo_1..2 (max)"), ("Study ppo_1..2 (max)", "Study ppo_1..2 (max)"),
                        ("validation:ppo", "Validation of ppo_1..2"), ("trial:ppo_2#1", "Trial 2#1")):
        screen = opened(item)
        assert title in screen and "[2]Study" in screen, (item, screen)
    assert "study list names them" in opened("study:nope", 2)
    assert "there is no trial 9999 of ppo_2" in opened("trial:ppo_2#9999", 1)
    assert opened("training:nope", 1).count("no such training nope") == 2  # on the screen, and on stderr
    tmux = session.tmux
    for item, text in (("trial:ppo_2#1", "Trial 2#1"), ("study:nope", "there is no study nope"), ("trial:ppo_2#9999", "there is no trial 9999 of ppo_2")):
        tmux.keys("q")
        session.ended()
        session.launch("--open", item)
        expect(tmux, "[2]Study", text)
    tmux.keys("q")
    session.ended()
    session.launch("--tab", "2")
    expect(tmux, "Studies (2)")


def test_verbs(session):
    listed = json.loads(verb(session, "list", "--json"))
    columns, *lines = csv.reader(io.StringIO(verb(session, "list", "--csv")))
    assert [name for name in columns if not name.endswith("_iso")] == list(listed["studies"][0]) and [dict(zip(columns, line))["study"] for line in lines] == ["other", "ppo_1..2"], lines
    for line, study in zip(lines, listed["studies"], strict=True):  # but ages
        for cell, (key, value) in zip(line, study.items()):  # behind them times once more
            text = " ".join(value) if key == "directions" else value if isinstance(value, str) else "" if value is None else json.dumps(value)
            assert cell == text or key == "age_ms" or (isinstance(value, float) and float(cell) == value), (key, cell, value)
    assert listed["schema"] == "papertape.study/1" and [s["study"] for s in listed["studies"]] == ["other", "ppo_1..2"], listed
    assert listed["studies"][1]["best_value"] == 1.5 and listed["studies"][1]["trials_wanted"] == 80, listed
    shown = json.loads(verb(session, "show", "ppo", "--json"))
    assert len(shown["trial_list"]) == 16 and sorted(shown["params"]) == ["kind", "rate"], shown
    assert abs(sum(i["share"] for i in shown["importance"]) - 1) < 1e-9, shown["importance"]
    assert [shown[f"importance_{key}"] for key in ("trials", "workers", "left_out")] == [13, 2, 0], shown
    for low, high, right in ((7, 2, "ppo_1#7"), (2, 1, "ppo_2#1")):  # whose proposal has the better trial, named
        for study, trial in (("ppo_1", low), ("ppo_2", high)):
            write_proposal(session, study, trial=trial, skill=0.5)
        assert f"proposal  {right} PBO n/a deflated Sharpe n/a skill 0.50 refused" in verb(session, "show", "ppo"), right
    proposed = json.loads(verb(session, "show", "ppo", "--json"))["validation"]
    assert proposed["study"] == "ppo_2" and proposed["trial"] == 1 and proposed["skill"] == 0.5, proposed
    failed = [t for t in shown["trial_list"] if t["state"] == "FAIL"]
    assert len(failed) == 1 and failed[0]["failure"] == "diverged: loss nan" and failed[0]["values"] is None, failed
    assert "best 2#1 1.5" in verb(session, "show", "ppo_1") and re.search(r"^ppo_1..2 +max ", verb(session, "list"), re.M)
    assert "no such study" in verb(session, "show", "absent", status=1)
    verb(session, "show", status=2)
    verb(session, "lst", status=2)
    assert "no argument is expected" in verb(session, "list", "more", status=2)
    assert "postgresql" in verb(session, "list", "--studies", "postgresql://host/db", status=1)
    two = Storage(os.path.join(session.state, "two.db"))
    two.create()
    two.study("dirs_1", direction="MINIMIZE")
    two.study("dirs_2")
    assert "dirs_2 (max), dirs_1 (min)" in verb(session, "show", "dirs", "--studies", two.path, status=1)
    assert "study     dirs_1 min" in verb(session, "show", "dirs_1", "--studies", two.path)
    assert "/nowhere" in verb(session, "list", "--studies", "/nowhere/studies.db", status=1)
    once = subprocess.run([session.program, "--state", session.state, "--json"], capture_output=True, text=True, check=True)
    assert [s["study"] for s in json.loads(once.stdout)["studies"]] == ["other", "ppo_1..2"], once.stdout
    tmux = session.tmux
    tmux.keys("q")
    session.ended()


def test_first(session):
    """With the real daemon and co-process: the first study that one starts, with the form's values and fewer trials and steps, ends with
    a verdict; one whose rows do not suffice is refused by name before that."""
    def bars():
        symbols = json.loads(run_verb(session, "status", "--json")[0])["symbols"]  # null until the market is known
        return symbols and all(s["bars"] > 450 for s in symbols)

    def study():
        studies = json.loads(run_verb(session, "study", "list", "--json")[0])["studies"]
        return studies[0] if studies else {}

    tmux = session.tmux
    wait("bars to train on", bars, session.daemon.log)
    tmux.resize(120, 60)
    session.launch("--tab 2 --interval 0.25")
    expect(tmux, "Trainings (0)", "s start")
    tmux.keys("S")
    expect(tmux, "Name, then Enter")
    tmux.type("first")
    tmux.keys("Enter")
    expect(tmux, "Start first", "[study]", "[search]", "plan: ", " held out;", " 20 trials: about ")
    tmux.keys("a")
    expect(tmux, "Add a key")
    tmux.type("study.holdout")
    tmux.keys("Enter")
    expect(tmux, "Enter takes it")
    tmux.keys("End", "C-u")
    tmux.type("0.9")
    tmux.keys("Enter")
    expect(tmux, "0.9", "Esc back")
    tmux.keys("c")
    expect(tmux, "1 error", "! 0.9: of ", "leave none to search on")
    tmux.keys("s")
    expect(tmux, "the check found 1 error")
    tmux.keys("u", "g")
    choose(tmux, "trials")
    replace_value(tmux, "3")
    choose(tmux, "total_steps")
    replace_value(tmux, "2048 | 4096")
    tmux.keys("c")
    expect(tmux, "checked ok", " 3 trials: about ")
    confirm(tmux, "s", ("start first?",), "start done", "Studies (1)")
    wait("its verdict", lambda: study().get("verdict"), lambda: f"{study()}{session.daemon.log()}")
    ended = study()
    assert ended["done"] == ended["trials_wanted"] == 3 and ended["verdict_text"], ended
    tmux.keys("Enter")
    expect(tmux, "Study first (max)", "3/3", "verdict " + ended["verdict_text"][:20])
    tmux.keys("Escape")
    shown, _ = run_verb(session, "study", "show", "first")
    assert f"verdict   {ended['verdict_text']}\n" in shown and f" verdict {ended['verdict']}\n" in shown, shown
    wait("its end", lambda: [training["state"] for training in json.loads(run_verb(session, "train", "list", "--json")[0])["trainings"]] == ["done"],
         session.daemon.log)
    tmux.keys("q")
    session.ended()


if __name__ == "__main__":
    sys.exit(run_tests((test_list, test_page, test_plots, test_trials, test_locked, test_bad_files, test_start, test_jobs, test_workers, test_validation,
                        test_opened, test_verbs), (test_first,), ended=end_trainer))
