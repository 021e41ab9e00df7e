#!/usr/bin/env python3
"""What the dashboard shows of trainings, in tmux: a list that ages, a page whose curve grows and goes back, what is left without
a daemon, every size.

usage: dashboard_study.py PAPERTAPE SOURCE_ROOT

Standard library and tmux only; exit status 77 without tmux. The daemon is fake_daemon.py, the database is written here."""

import os
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../fixtures")]
import fake_trainings  # noqa: E402
from dashboard import NS, expect, expect_gone, run_tests, wait  # noqa: E402

STEP = 1000  # steps of an update


def training(name, **values):
    return fake_trainings.training(name, **{"state": "update", "steps": 3_064_000, "total_steps": 5_000_000, "age_ms": 100,
                                            "expected_ms": 1000, "steps_per_second": 845000.0, "return": 1.31, **values})


def show(daemon, *trainings):
    with daemon.lock:
        daemon.learning.trainings[:] = trainings


def store(path, name, updates, attempts=1):
    """As the daemon would: so many updates, those beyond forgotten; the newest return is the number of updates."""
    now = time.time_ns()
    with sqlite3.connect(path, timeout=20) as db:
        row = dict.fromkeys(("reason", "cause", "device", "backend", "checkpoint", "policy"), "")
        row.update(name=name, state="update", config="[ppo]\ngamma = 0.97531\n", priority=0, steps=updates * STEP,
                   total_steps=5_000_000, iteration=updates, attempts=attempts, created_ns=1, started_ns=now - 60 * NS,
                   ended_ns=0, heard_ns=now, seq=updates)
        keys = ", ".join(f"{key} = excluded.{key}" for key in row if key != "name")
        db.execute(f"INSERT INTO trainings ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) "
                   f"ON CONFLICT (name) DO UPDATE SET {keys}", list(row.values()))
        db.execute("DELETE FROM training_points WHERE training = ? AND steps > ?", (name, updates * STEP))
        db.executemany("INSERT OR IGNORE INTO training_points (training, steps, iteration, ts_ns, return, kl) "
                       "VALUES (?, ?, ?, ?, ?, ?)",
                       [(name, i * STEP, i, now, i, 0.25) for i in range(1, updates + 1)])
        db.executemany("INSERT OR IGNORE INTO training_states (training, ts_ns, state, utilisation) VALUES (?, ?, ?, ?)",
                       [(name, now - (60 - i) * NS, ("rollout", "update")[i % 2], 0.87) for i in range(60)])
    db.close()


def row(tmux, name):
    """The list's row of a training; "" while it has no row."""
    return next((line for line in tmux.screen().split("\n") if line[1:].startswith(name)), "")


def expect_row(tmux, name, *texts, without=()):
    wait(f"{name}: {texts} without {without}",
         lambda: all(text in row(tmux, name) for text in texts) and not any(text in row(tmux, name) for text in without),
         tmux.screen)


def test_list(session):
    """It ages by itself while the worker is silent; what is too old is a dash, and comes back."""
    tmux, daemon = session.tmux, session.daemon
    show(daemon, training("ppo_1"), training("ppo_2", state="failed", reason="not a number in the policy's loss", cause="nan"),
         training("ppo_3", total_steps=10**15))
    session.launch("--tab", "2", "--interval", "0.25")
    expect(tmux, "Trainings (3)", "Policies (0)")
    expect_row(tmux, "ppo_1", "update", "61%", "845k", "+1.3100")
    expect_row(tmux, "ppo_2", "failed", "not a number")
    expect_row(tmux, "ppo_3", "until stopped", "3.1M")
    show(daemon, training("ppo_1", age_ms=8000, stale=True), training("ppo_3"))
    expect_row(tmux, "ppo_1", "STALE", "61%", "845k", without=("update",))
    show(daemon, training("ppo_1", age_ms=94000, stale=True), training("ppo_3"))
    expect_row(tmux, "ppo_1", "STALE", "94s", " - ", without=("61%", "845k", "1.31"))
    show(daemon, training("ppo_1"), training("ppo_3"))
    expect_row(tmux, "ppo_1", "update", "845k", without=("STALE",))


def test_choice(session):
    """The cursor stays on its training when a newer one comes above it, or the order changes; filtered and found."""
    tmux, daemon = session.tmux, session.daemon
    tmux.keys("j")
    expect(tmux, ">ppo_1")
    show(daemon, training("ppo_1"), training("ppo_3"), training("ppo_4"))
    expect(tmux, "Trainings (3)", " ppo_4", ">ppo_1")
    tmux.keys("/", *"ppo_3", "Enter")
    expect(tmux, "Trainings (1 of 1 filtered, 3 in all)  /ppo_3", ">ppo_3")
    tmux.keys("Escape")
    expect(tmux, "Trainings (1 of 3)", ">ppo_4")
    tmux.keys("n")
    expect(tmux, "Trainings (2 of 3)", ">ppo_3")
    tmux.keys("G", "o")
    expect(tmux, "Trainings (1 of 3) by training", ">ppo_1")
    tmux.keys("Space")
    expect(tmux, ">=ppo_1")
    tmux.keys("Space")
    expect(tmux, ">ppo_1")
    tmux.keys("K")
    expect(tmux, ">=ppo_1")
    tmux.keys("Space")
    expect(tmux, ">ppo_1")


def test_page(session):
    """Its curve continues with the database, and goes back with it."""
    tmux, daemon = session.tmux, session.daemon
    path = os.path.join(session.state, "papertape.db")
    store(path, "ppo_1", 40)
    tmux.keys("Enter")
    expect(tmux, "Training ppo_1", "Learning curves", "return 40.00", "gamma 0.97531", "busy 87%", "rollout", "Worker's log")
    store(path, "ppo_1", 700)
    expect(tmux, "return 700.00", "700k steps")
    store(path, "ppo_1", 300, attempts=2)  # from a checkpoint
    expect(tmux, "return 300.00", "300k steps")
    tmux.keys("i", "i", "i")
    expect(tmux, "KL 0.2500")
    for weight in ("0.6", "0.9", "0.99"):
        tmux.keys("~")
        expect(tmux, f"smoothed {weight}")
    tmux.keys("~")
    expect_gone(tmux, "smoothed")
    show(daemon, training("ppo_3"), training("ppo_4"))
    expect(tmux, "no such training ppo_1 any more (it was here: update, 3.1M steps", "+1.3100); Esc goes back")
    tmux.keys("Escape")
    expect(tmux, "Trainings (2)", "Policies (0)")


def test_sizes(session):
    tmux, daemon = session.tmux, session.daemon
    show(daemon, training("ppo_1"), training("ppo_3"), training("ppo_4"))
    expect(tmux, ">ppo_1")
    tmux.keys("Enter")
    for width, height in ((40, 10), (200, 60), (39, 9), (120, 40), (80, 24)):
        tmux.resize(width, height)
        expect(tmux, "needs 40x10" if width < 40 else "Training ppo_1")
    tmux.keys("1")
    expect(tmux, "[1]Over", "Trainings (3)", "Positions (1)", "Fills")


def test_without_daemon(session):
    """The database's last word, with its age."""
    tmux, daemon = session.tmux, session.daemon
    tmux.keys("2")
    daemon.stop()
    expect(tmux, "NO DAEMON", "Trainings (1)")
    with sqlite3.connect(os.path.join(session.state, "papertape.db"), timeout=20) as db:
        db.execute("UPDATE trainings SET heard_ns = ?", (time.time_ns() - 3600 * NS,))
    db.close()
    expect_row(tmux, "ppo_1", "STALE", "60m", without=("update",))
    daemon.start()
    expect(tmux, "feed ok", "Trainings (3)")
    expect_gone(tmux, "STALE")
    tmux.keys("q")
    session.ended()


if __name__ == "__main__":
    sys.exit(run_tests((test_list, test_choice, test_page, test_sizes, test_without_daemon)))
