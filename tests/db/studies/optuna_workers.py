#!/usr/bin/env python3
"""Optuna's workers and ours on one study at once. optuna_workers.py TEST-DB-STUDIES-WORKER [postgresql]

Trials are enqueued by Optuna; only ours take those (two of Optuna's would take one twice). At the end each was done once, with
the values asked for; no number is lost or doubled; each worker's values go with its parameters."""

import contextlib
import multiprocessing
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../oracle"), os.path.join(HERE, "../../../fixtures")]
import oracle_venv

with oracle_venv.imports("optuna"):
    import optuna
    from optuna.trial import TrialState

import postgresql_server

WORKER, ON_SERVER = sys.argv[1], sys.argv[2:] == ["postgresql"]
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk's syncs are no part of this
PATIENCE_S = 120  # for its lock on the file: Optuna's own 5 s are too few where five processes write on two busy cores
LONG = bool(os.environ.get("PAPERTAPE_LONG"))
PROCESSES, EACH, ENQUEUED = (4, 40, 40) if LONG else (2, 8, 8)

optuna.logging.set_verbosity(optuna.logging.ERROR)


def opened(url):
    if ON_SERVER:
        return optuna.storages.RDBStorage(url)
    return optuna.storages.RDBStorage(url, engine_kwargs={"connect_args": {"timeout": PATIENCE_S}})


def objective(trial):
    total = 0.0
    for i in range(4):
        total += trial.suggest_float(f"x{i}", 0, 1)
    trial.report(total, 0)
    trial.set_user_attr("by", "optuna")
    return total


def work(url, seed):
    study = optuna.load_study(study_name="mixed", storage=opened(url), sampler=optuna.samplers.TPESampler(seed=seed))
    study._pop_waiting_trial_id = lambda: None
    study.optimize(objective, n_trials=EACH)


@contextlib.contextmanager
def in_file():
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = os.path.join(folder, "studies.db")
        yield f"sqlite:///{path}"
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@contextlib.contextmanager
def on_server():
    with postgresql_server.running(databases=["mixed"]) as server:
        yield server.url("mixed", scheme="postgresql+psycopg2")


def run(url, fixed):
    """The study's trials, once both have ended."""
    study = optuna.create_study(storage=opened(url), study_name="mixed", direction="maximize")
    for value in fixed:
        study.enqueue_trial({"x0": value})
    total = ENQUEUED + 2 * PROCESSES * EACH
    # Forked: a start of Python and Optuna takes seconds, and ours would be done by then.
    theirs = [multiprocessing.get_context("fork").Process(target=work, args=(url, seed)) for seed in range(PROCESSES)]
    for process in theirs:
        process.start()
    ours = [subprocess.Popen([WORKER, url, "mixed", str(total), "60", "2"]) for _ in range(PROCESSES)]
    try:
        for process in theirs:
            process.join()
            assert process.exitcode == 0
        for process in ours:
            assert process.wait() == 0
    finally:
        for process in (*theirs, *ours):
            process.kill()
    return optuna.load_study(study_name="mixed", storage=opened(url)).trials, total


def main():
    rng = random.Random(os.environ.get("PAPERTAPE_SEED"))
    fixed = [rng.random() for _ in range(ENQUEUED)]
    with (on_server if ON_SERVER else in_file)() as url:
        trials, total = run(url, fixed)
    assert [t.number for t in trials] == list(range(len(trials)))
    assert all(t.state in (TrialState.COMPLETE, TrialState.PRUNED) for t in trials)
    by_optuna = [t for t in trials if "by" in t.user_attrs]
    by_ours = [t for t in trials if "papertape:worker" in t.user_attrs]
    assert len(by_optuna) == PROCESSES * EACH and not set(t.number for t in by_optuna) & set(t.number for t in by_ours)
    assert len(by_optuna) + len(by_ours) == len(trials) >= total
    for trial in trials:
        expected = 0.0
        for i in range(4):
            expected += trial.params[f"x{i}"]
        assert trial.value == (expected if trial.state == TrialState.COMPLETE else expected * 3), trial
    waited = [t for t in trials if "fixed_params" in t.system_attrs]
    assert [t.params["x0"] for t in waited] == fixed and all("papertape:worker" in t.user_attrs for t in waited)
    print(f"counts: {len(by_optuna)} trials by Optuna, {len(by_ours)} by ours, {len(waited)} of them enqueued")


main()
