"""A small study with an artifact store, for tests: its machines are states, `--state`, on one storage."""
import hashlib
import json
import os
import sqlite3
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), place) for place in ("../study", "../program")]
from small_study import Trainer, check, done, events, lines, write, write_market  # noqa: E402,F401: of the tests too

TRIALS = 6
SHARED = {"training": {"total_steps": 1024}, "study": {"trials": TRIALS, "validation": "kfold:2", "pruner": "none"},
          "search": {"minibatch": None, "epochs": None}}


def storage(folder):
    return f"sqlite:///{folder}/shared.db"


def rows(folder, query, *values):
    database = sqlite3.connect(f"file:{folder}/shared.db?mode=ro", uri=True, timeout=30)
    try:
        return database.execute(query, values).fetchall()
    finally:
        database.close()


def artifacts(folder):
    """{number: {file: {key, sha256, size}}} of the COMPLETE trials."""
    return {number: json.loads(value) for number, value in rows(
        folder, """SELECT number, value_json FROM trials JOIN trial_user_attributes USING (trial_id) JOIN studies USING (study_id)
                   WHERE state = 'COMPLETE' AND "key" = 'papertape:artifacts' AND study_name = 'shared'""")}


def study_attribute(folder, key):
    return json.loads(rows(folder, """SELECT value_json FROM study_user_attributes JOIN studies USING (study_id)
                                      WHERE "key" = ? AND study_name = 'shared'""", key)[0][0])


def content(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def returns(folder, state):
    """{number: bytes} of that machine."""
    return {number: content(f"{folder}/{state}/studies/shared/{number}/returns.csv") for number in artifacts(folder)}


def is_of(data, said):
    return data is not None and len(data) == said["size"] and hashlib.sha256(data).hexdigest() == said["sha256"]


def arguments(folder, state, *more):
    return ("study", "shared", "--config", "shared.ini", "--storage", storage(folder), "--state", state, "--workers", "1", *more)


def validate(trainer, state, *more):
    """(validation, stderr); no validation where it failed."""
    ran = trainer.run("validate", "--study", "shared", "--storage", storage(trainer.folder), "--state", state, *more)
    return json.loads(ran.stdout) if ran.returncode == 0 else None, ran.stderr
