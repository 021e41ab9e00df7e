"""Measures what a trial of a study on PostgreSQL costs: scale_trials_costs.py PAPERTAPE_TRAINER FOLDER; prints {cost: value}."""

import json
import os
import sys
import tempfile

import scale_trials
from scale_model import ASK_SYNCS
from scale_trials import MORE_SPLITS, PLANNED, SMALL

FIRST = 10  # drawn at random; TPE draws from then on
FEW, MORE, MANY = 10, 40, 160  # MANY: where a start, which reads what has ended, costs a second and scatters by tenths of it
RUNNING, FINISHED = 400, 10_000
PLANNED_TRIALS = 4


def line(small, large, x_small, x_large):
    """(what is fixed, what each unit more costs) of two measurements."""
    slope = (large - small) / (x_large - x_small)
    return small - slope * x_small, slope


class Place:
    """A server, a folder with the study's file, and a database whose first trials have ended, for copies."""

    def __init__(self, trainer, server, folder, trial=SMALL):
        self.trainer, self.server, self.trial = trainer, server, trial
        self.folder = tempfile.mkdtemp(dir=folder)
        self.config = scale_trials.configure(self.folder, trial)
        self.first = f"first-{os.path.basename(self.folder)}"
        server.create(self.first)
        self.search(self.first, FIRST)

    def copy(self, name, more=0, state="COMPLETE"):
        self.server.sql("postgres", f'CREATE DATABASE "{name}" TEMPLATE "{self.first}"')
        if more:
            scale_trials.add(self.server, name, FIRST, more, state)
        return name

    def search(self, database, trials, workers=1):
        """So many trials more."""
        tables = self.server.rows(database, "SELECT to_regclass('trials') IS NOT NULL AS a")[0][0]
        there = self.server.rows(database, "SELECT count(*) FROM trials")[0][0] if tables else 0
        found = scale_trials.search(self.trainer, self.server, database, self.folder, self.config, trials, there + trials, workers)
        print(f"{self.trial['splits']} splits, {database}, {workers} workers: {json.dumps(found)}", file=sys.stderr, flush=True)
        return found

    def files(self, database):
        """(number, bytes) of a database's artifacts."""
        return scale_trials.files_of(f"{self.folder}/artifacts/{database}")

    def each(self, database, few=FEW, more=MORE):
        """({figure: of a trial}, {figure: of a run, whatever its trials}, the last run)"""
        two = [self.search(database, trials) for trials in (few, more)]
        both = {key: line(two[0][key], two[1][key], few, more) for key in two[0]}
        return {key: value[1] for key, value in both.items()}, {key: value[0] for key, value in both.items()}, two[1]


def of_running(place, alone):
    """What each trial that runs elsewhere adds to one look at the study."""
    beside, _, _ = place.each(place.copy("running", RUNNING, "RUNNING"))
    looks = ASK_SYNCS * RUNNING
    return {"running_client_us": (beside["client_s"] - alone["client_s"]) / looks * 1e6,
            "running_server_us": (beside["server_s"] - alone["server_s"]) / looks * 1e6,
            "running_b": (beside["received_bytes"] - alone["received_bytes"]) / looks}


def of_finished(place, alone, process_bytes):
    """What each trial that has ended adds to a draw, to a machine's start, to a worker's memory and to the database."""
    size = "SELECT pg_database_size('finished') - pg_database_size('alone') AS n"
    place.copy("finished", FINISHED)
    stored_b = place.server.rows("postgres", size)[0][0] / FINISHED
    behind, start, last = place.each("finished", FEW, MANY)
    return {"finished_us": (behind["client_s"] - alone["client_s"]) / FINISHED * 1e6, "join_b": start["received_bytes"] / FINISHED,
            "finished_b": (last["process_bytes"] - process_bytes) / FINISHED, "stored_b": stored_b}


def of_planned(place):
    """What the planned trial costs, and what it leaves."""
    each, _, _ = place.each(place.copy("planned"), 1, 1 + PLANNED_TRIALS)
    number, size = place.files("planned")
    return {"planned_s": each["client_s"], "artifact_b": size / number}


def of_split(place, alone):
    """What is counted of a trial apart from its splits, and of each split: by trials as short, of more splits, since the supervisor's
    looks, whose number is that of seconds, are counted too."""
    each, _, _ = place.each(place.copy("split"))
    found = {}
    for key, figure in (("round_trips", "round_trips"), ("sent_b", "sent_bytes"), ("wal_b", "wal_bytes")):
        found[f"trial_{key}"], found[f"split_{key}"] = line(alone[figure], each[figure], SMALL["splits"], place.trial["splits"])
    return found


def costs(trainer, folder):
    with scale_trials.postgresql_server.running(scale_trials.SETTINGS) as server:
        place = Place(trainer, server, folder)
        alone, start, last = place.each(place.copy("alone"))
        small = {"trial_client_s": alone["client_s"], "trial_server_s": alone["server_s"], "start_client_s": start["client_s"],
                 "start_server_s": start["server_s"]}
        return {**of_planned(Place(trainer, server, folder, PLANNED)), **of_split(Place(trainer, server, folder, MORE_SPLITS), alone), **small,
                **of_running(place, alone), **of_finished(place, alone, last["process_bytes"])}


if __name__ == "__main__":
    print(json.dumps(costs(*sys.argv[1:3])))
