"""One study on PostgreSQL by three machines, each with a state of its own and an artifact store that all have: one begins and proposes,
two join with --resume --no-proposal, one of which is killed. Its proposal is of all machines' trials, and on a fourth machine the same
without training; a worker of another version does not join.

    postgresql_machines.py PAPERTAPE_TRAINER PAPERTAPE
"""
import json
import os
import subprocess
import sys
import tempfile

from small_study import Run, Trainer, check, done, events, lines, poll, refuse, write, write_market

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "fixtures"))
import postgresql_server  # noqa: E402

NAME, TRIALS = "shared", 7
STUDY = {"training": {"total_steps": 80000}, "study": {"trials": TRIALS, "pruner": "none", "grace_s": 2}}


def trials(server, what="number, state::TEXT AS s"):
    return server.rows("machines", f"SELECT {what} FROM trials ORDER BY trial_id")


def attributes(server, key):
    return dict((number, json.loads(value)) for number, value in server.rows(
        "machines", f"SELECT number, value_json FROM trials JOIN trial_user_attributes USING (trial_id) WHERE key = '{key}' ORDER BY 1"))


def runs_on(server, process):
    """Has a worker of that process a trial?"""
    def running():
        pids = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], capture_output=True, text=True, check=False).stdout.split()
        workers = server.rows("machines", "SELECT value_json FROM trials JOIN trial_user_attributes USING (trial_id) WHERE state = 'RUNNING' AND "
                              "key = 'papertape:worker'")
        return [worker for worker, in workers if json.loads(worker).rsplit(":", 1)[1] in pids]
    return poll(running, "a trial of that machine")


def together(trainer, server, folder, config):
    """The states `first`, `second` and `third` at once; the last is killed while it trains."""
    url, store = server.url("machines"), f"{folder}/store"
    first = Run(trainer, NAME, "--config", config, "--storage", url, "--artifacts", store, "--state", "first", "--workers", "1")
    first.until(lambda seen: events(seen, "start"), "the first machine")
    joined = [Run(trainer, NAME, "--resume", "--no-proposal", "--storage", url, "--state", state, "--workers", "1") for state in ("second", "third")]
    runs_on(server, joined[1].process)
    joined[1].process.kill()
    ended = {"third": joined[1].end(), "second": joined[0].end(), "first": first.end()}
    for state in ("first", "second"):
        seen, error, status = ended[state]
        check(status == 0 and error == "" and seen[-1]["result"] == "done", f"{state}: {status} {error} {seen[-1:]}")
    check(not events(ended["second"][0], "proposal") and ended["second"][0][-1]["proposal"] is None, "the second proposes nothing")
    return events(ended["first"][0], "proposal")[0]["proposal"]


def all_trials(server, folder):
    found = trials(server)
    complete = [number for number, state in found if state == "COMPLETE"]
    check([number for number, _ in found] == list(range(len(found))) and len(complete) == TRIALS, f"trials: {found}")
    retried = [json.loads(value)[-1] for value, in server.rows("machines", "SELECT value_json FROM trial_system_attributes WHERE key = 'retry_history'")]
    check(sorted(retried) == [number for number, state in found if state == "FAIL"], f"each that failed is tried again once: {found} {retried}")
    here = {state: {number for number in complete if os.path.exists(f"{folder}/{state}/studies/{NAME}/{number}/returns.csv")}
            for state in ("first", "second", "third")}
    kept = {number: files["returns.csv"]["key"] for number, files in attributes(server, "papertape:artifacts").items()}
    check(here["second"] and here["second"] < set(complete) and here["first"] == set(complete) == set(kept), f"returns: {here} {kept}")
    check(all(os.path.exists(f"{folder}/store/{key}") for key in kept.values()), f"the store: {kept}")
    places = [state for state in here if os.path.exists(f"{folder}/{state}/studies/{NAME}/proposal.json")]
    check(places == ["first"], f"proposals: {places}")
    return complete


def elsewhere(trainer, papertape, server, folder, config, proposal, complete):
    """A fourth machine: `validate`, the proposal, `study show`."""
    url = server.url("machines")
    found = [trainer.run("validate", "--study", NAME, "--storage", url, "--state", state, "--blocks", "4") for state in ("first", "fourth")]
    if check(found[0].returncode == 0 and found[0].stdout == found[1].stdout and found[1].stderr == "", f"validate: {found}"):
        figures = json.loads(found[1].stdout)
        check(figures["left_out"] == 0 and figures["trials"] == len(complete), f"validate: {figures}")
    ran = trainer.run("study", NAME, "--config", config, "--storage", url, "--state", "fourth", "--workers", "1")
    seen = lines(ran.stdout)
    check(ran.returncode == 0 and not events(seen, "state"), f"nothing is trained: {ran.stderr} {events(seen, 'state')}")
    mine = events(seen, "proposal")[0]["proposal"]
    check({**mine, "policy": ""} == {**proposal, "policy": ""} and mine["policy"].startswith(os.path.realpath(f"{folder}/fourth")), f"{mine} {proposal}")
    with open(mine["policy"], "rb") as here, open(proposal["policy"], "rb") as there:
        check(here.read() == there.read(), "its policy")
    os.rename(f"{folder}/first", f"{folder}/away")  # no machine of this one's: its verdict is in the store
    shown = subprocess.run([papertape, "--state", f"{folder}/none", "study", "show", NAME, "--studies", url, "--json"], capture_output=True, text=True, check=False)
    if check(shown.returncode == 0, f"study show: {shown.stderr}"):
        study = json.loads(shown.stdout)
        check(proposal["verdict_text"] and study["verdict_text"] == proposal["verdict_text"] and study["trials"] == len(trials(server)), f"study show: {study}")


def listed(papertape, server, folder, proposal):
    shown = subprocess.run([papertape, "--state", f"{folder}/none", "study", "list", "--studies", server.url("machines"), "--json"], capture_output=True,
                           text=True, check=False)
    if check(shown.returncode == 0, f"study list: {shown.stderr}"):
        study, = json.loads(shown.stdout)["studies"]
        check(study["study"] == NAME and study["verdict_text"] == proposal["verdict_text"], f"study list: {study}")


def versions(trainer, server):
    """A trial that a worker of 0.0.1 runs, by the server's clock."""
    worker = (NAME, "--resume", "--no-proposal", "--storage", server.url("machines"), "--state", "fifth", "--trials", str(TRIALS + 1))
    before = len(trials(server))
    server.sql("machines", "INSERT INTO trials (trial_id, number, study_id, state, datetime_start) SELECT 1000, max(number) + 1, max(study_id), 'RUNNING', "
               "now() AT TIME ZONE 'UTC' FROM trials; INSERT INTO trial_user_attributes (trial_id, key, value_json) VALUES "
               "(1000, 'papertape:version', '\"0.0.1\"'), (1000, 'papertape:worker', '\"node7:12\"'); INSERT INTO trial_heartbeats "
               "(trial_id, heartbeat) VALUES (1000, now() AT TIME ZONE 'UTC' + interval '1 hour')")
    refuse(trainer, "another version", ["another version: shared: trial ", "papertape-trainer 0.0.1 on node7:12"], *worker)
    check(len(trials(server)) == before + 1, "nothing was started")
    server.sql("machines", "UPDATE trial_heartbeats SET heartbeat = now() AT TIME ZONE 'UTC' - interval '1 day' WHERE trial_id = 1000")
    ran = trainer.run("study", *worker)
    check(ran.returncode == 0 and dict(trials(server))[before] == "FAIL", f"once it is gone: {ran.stderr}")


def main():
    with postgresql_server.running(["timezone=America/Lima"], ["machines"]) as server, tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        trainer = Trainer(sys.argv[1], folder)
        write_market(folder, n=700)
        config = write(os.path.join(folder, "shared.ini"), STUDY)
        proposal = together(trainer, server, folder, config)
        complete = all_trials(server, folder)
        print(f"counts: {len(trials(server))} trials, {len(trials(server)) - len(complete)} tried again")
        elsewhere(trainer, sys.argv[2], server, folder, config, proposal, complete)
        listed(sys.argv[2], server, folder, proposal)
        versions(trainer, server)
    done("trainer/study/postgresql_machines")


main()
