#!/usr/bin/env python3
"""Many workers on one study in PostgreSQL, ours and Optuna's, killed at random, while the server is restarted in the middle.
postgresql_many.py TEST-DB-STUDIES-WORKER

3 of ours and 2 of Optuna's for 6 trials each; in the long run 40 and 10 for 20. Optuna's worker dies of the restart, and is started
again here, as a supervisor would. Only ours take waiting trials (two of Optuna's would take one twice) and end silent ones, after
GRACE_S. At the end every number is there once, every trial is COMPLETE, PRUNED, or FAIL and tried again once, with its parameters."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../oracle"), os.path.join(HERE, "../../../fixtures")]
import oracle_venv

with oracle_venv.imports("optuna"):
    import optuna
    import psycopg2

import postgresql_server

WORKER = sys.argv[1]
LONG = bool(os.environ.get("PAPERTAPE_LONG"))
OURS, THEIRS, EACH = (40, 10, 20) if LONG else (3, 2, 6)
TOTAL = (OURS + THEIRS) * EACH
KILLS = TOTAL // 8
GRACE_S, PAUSE_MS, HEARTBEAT_S = (6, 150, 1) if LONG else (2, 30, 1)
SEED = int(os.environ.get("PAPERTAPE_SEED", "0")) or random.randrange(1, 10**6)
BEGUN = "SELECT count(*) FROM trials"
ENDED = "SELECT count(*) FROM trials WHERE state IN ('COMPLETE', 'PRUNED')"
FORK = multiprocessing.get_context("fork")  # a start of Python and Optuna takes seconds

optuna.logging.set_verbosity(optuna.logging.ERROR)


def objective(trial):
    total = 0.0
    for i in range(4):
        total += trial.suggest_float(f"x{i}", 0, 1)
    trial.set_user_attr("by", "optuna")
    for step in range(5):
        time.sleep(PAUSE_MS / 1000)  # its work
        trial.report(total, step)
    return total


def optuna_worker(url, seed):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # of what it dies is known
    # Ours end silent trials, in one transaction with their retry; Optuna, killed in between, would leave one without.
    storage = optuna.storages.RDBStorage(url, heartbeat_interval=HEARTBEAT_S, grace_period=10**6)
    study = optuna.load_study(study_name="many", storage=storage, sampler=optuna.samplers.RandomSampler(seed=seed))
    study._pop_waiting_trial_id = lambda: None
    while sum(trial.state.name != "FAIL" for trial in study.get_trials(deepcopy=False)) < TOTAL:
        study.optimize(objective, n_trials=1)


class Crew:
    """Workers in places: one that dies is replaced."""

    def __init__(self, url):
        self.url, self.seed, self.deaths, self.killed = url, 0, 0, 0
        self.ours, self.theirs = [], [self.start_theirs() for _ in range(THEIRS)]

    def join(self):
        """Ours, which start so much faster that Optuna's might find nothing to do."""
        self.ours = [self.start_ours() for _ in range(OURS)]

    def start_ours(self):
        return subprocess.Popen([WORKER, self.url, "many", str(TOTAL), str(GRACE_S), str(PAUSE_MS)])

    def start_theirs(self):
        self.seed += 1
        process = FORK.Process(target=optuna_worker, args=(self.url, self.seed))
        process.start()
        return process

    def kill_one(self, rng):
        at = rng.randrange(OURS + THEIRS)
        if at < OURS and self.ours[at].poll() is None:
            self.ours[at].send_signal(signal.SIGKILL)
            assert self.ours[at].wait() == -signal.SIGKILL
            self.ours[at] = self.start_ours()
        elif at >= OURS and self.theirs[at - OURS].exitcode is None:
            self.theirs[at - OURS].kill()
            self.theirs[at - OURS].join()
            self.theirs[at - OURS] = self.start_theirs()
        else:
            return
        self.killed += 1

    def supervise(self):
        """How many are left: one of ours ends with 0, and of nothing else."""
        for process in self.ours:
            assert process.poll() in (None, 0), f"one of ours ended with {process.returncode}"
        for at, process in enumerate(self.theirs):
            if process.exitcode not in (None, 0):
                self.deaths += 1
                self.theirs[at] = self.start_theirs()
        return sum(process.poll() is None for process in self.ours) + sum(process.exitcode is None for process in self.theirs)

    def end(self):
        for process in (*self.ours, *self.theirs):
            process.kill()
        for process in self.theirs:
            process.join()
        for process in self.ours:
            process.wait()


def age_mute(server):
    """Optuna's worker that dies between a trial's row and its first heartbeat leaves a trial that is never stale. Once none of
    Optuna's is left, those are aged here: how many."""
    return len(server.sql("many", "INSERT INTO trial_heartbeats (trial_id, heartbeat) SELECT trial_id, now() AT TIME ZONE 'UTC' - "
                          "interval '1 day' FROM trials LEFT JOIN trial_heartbeats USING (trial_id) WHERE state = 'RUNNING' AND "
                          "heartbeat IS NULL RETURNING trial_id"))


class Watch:
    """Counts over a connection of its own: psql's start would take more time than the workers leave."""

    def __init__(self, server):
        self.url, self.connection = server.url("many"), None

    def count(self, query):
        if not self.connection:
            self.connection = psycopg2.connect(self.url)
            self.connection.autocommit = True
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchone()[0]

    def close(self):
        self.connection.close()
        self.connection = None


def run(server, rng):
    watch = Watch(server)
    crew = Crew(server.url("many", scheme="postgresql+psycopg2"))
    restarted, mute = False, 0
    try:
        while watch.count(BEGUN) == 0:
            assert crew.supervise() > 0
            time.sleep(0.02)
        crew.join()
        while crew.supervise() > 0:
            time.sleep(rng.uniform(0.02, 0.2))  # random moments are what is tested
            ended = watch.count(ENDED)
            if not restarted and ended >= TOTAL // 2:
                watch.close()
                server.stop()
                server.start()
                restarted = True
            if crew.killed < KILLS * ended // TOTAL + 1 and crew.killed < KILLS:
                crew.kill_one(rng)
            if all(process.exitcode == 0 for process in crew.theirs):
                mute += age_mute(server)
    finally:
        watch.close()
        crew.end()
    assert restarted
    return crew, mute


def check(server):
    trials = server.rows("many", "SELECT trial_id, number, state::text FROM trials ORDER BY trial_id")
    assert [number for _, number, _ in trials] == list(range(len(trials))), "a number is lost or doubled"
    states = {number: state for _, number, state in trials}
    assert set(states.values()) <= {"COMPLETE", "PRUNED", "FAIL"}, states
    assert sum(state != "FAIL" for state in states.values()) >= TOTAL, states
    after = {}
    for number, text in server.rows("many", "SELECT number, value_json FROM trial_system_attributes JOIN trials USING (trial_id) "
                                    "WHERE key = 'retry_history'"):
        history = json.loads(text)
        assert all(states[n] == "FAIL" for n in history), (number, history)
        assert after.setdefault(history[-1], number) == number, f"{history[-1]} was tried again twice"
    failed = {number for number, state in states.items() if state == "FAIL"}
    assert failed == set(after), "a failed trial was not tried again, or one that did not fail was"
    params = {number: {} for number in states}
    for number, name, value in server.rows("many", "SELECT number, param_name, param_value FROM trial_params JOIN trials USING (trial_id)"):
        params[number][name] = value
    values = dict(server.rows("many", "SELECT number, value FROM trial_values JOIN trials USING (trial_id)"))
    for number, state in states.items():
        total = 0.0
        for i in range(4):
            total += params[number].get(f"x{i}", 0.0)
        if state == "FAIL":
            assert number not in values and params[number].items() <= params[after[number]].items(), number
        else:
            assert len(params[number]) == 4 and values[number] == (total if state == "COMPLETE" else total * 3), number
    by_optuna, = server.rows("many", "SELECT count(DISTINCT trial_id) FROM trial_user_attributes WHERE key = 'by'")
    assert by_optuna[0] > 0
    return len(states), len(failed), by_optuna[0]


def main():
    print(f"seed {SEED}", flush=True)
    started = time.monotonic()
    with postgresql_server.running(databases=["many"]) as server:
        optuna.create_study(storage=server.url("many", scheme="postgresql+psycopg2"), study_name="many", direction="maximize")
        crew, mute = run(server, random.Random(SEED))
        trials, failed, by_optuna = check(server)
    print(f"counts: {OURS} workers of ours, {THEIRS} of Optuna's, {trials} trials, {by_optuna} started by Optuna, {crew.killed} workers "
          f"killed, {crew.deaths} deaths of Optuna's, {failed} trials tried again, {mute} without a heartbeat, 1 restart, "
          f"{time.monotonic() - started:.0f} s")


main()
