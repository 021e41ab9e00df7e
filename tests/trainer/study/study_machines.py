"""A study's workers on further machines, each with a state of its own: the command lines of docs/workers.md (Slurm's script with a
scheduler of ours in its PATH, Kubernetes' container as the kubelet would start it) and of the unit as built run the trials that are
left, on SQLite in place of the page's PostgreSQL, end with 0 and propose nothing; a worker of another version; other bars.

    study_machines.py PAPERTAPE_TRAINER DOCS UNIT
"""
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

from small_study import Trainer, check, done, events, lines, refuse, rows, trials, write, write_market

NAME = "ppo-btc"
LEFT = 2


def files(docs):
    """The fences of the page that are files, by name."""
    with open(os.path.join(docs, "workers.md"), encoding="utf-8") as page:
        return {name: text for name, text in re.findall(r"<!-- file: (\S+) -->\n\n?```\w*\n(.*?)^```$", page.read(), re.M | re.S)}


def environment(text):
    return dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))


def by_slurm(trainer, page, storage):
    """Each job of the array is a batch script with Slurm's variables; srun starts one task."""
    bin_folder = os.path.join(trainer.folder, "slurm")
    os.makedirs(bin_folder)
    for name, text in (("srun", '#!/bin/sh\n[ "$1" = --cpus-per-task=2 ] || exit 99\nshift\nexec "$@"\n'), ("scontrol", '#!/bin/sh\necho "$@" >&2\n'), ("job", page["ppo-btc.sbatch"])):
        with open(os.path.join(bin_folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(os.path.join(bin_folder, name), 0o755)
    os.symlink(trainer.program, os.path.join(bin_folder, "papertape-trainer"))
    given = {"PATH": bin_folder + ":" + os.environ["PATH"], "STORAGE": storage, "SLURM_CPUS_PER_TASK": "2", "SLURM_JOB_ID": "4711",
             "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_JOB_ID": "4710", "SLURM_SUBMIT_DIR": trainer.folder}
    return [os.path.join(bin_folder, "job")], given, os.path.join(trainer.folder, "ppo-btc", "1")


def by_kubernetes(trainer, page, storage):
    """The container's command; $(STORAGE) is the kubelet's to replace."""
    text = page["ppo-btc.yaml"]
    command = re.search(r"^ +command: \[(.*)\]$", text, re.M)[1].split(", ")
    check(re.search(r"- name: STORAGE\n +value: postgresql://\S+\n", text), "the pod's variable")
    state = os.path.join(trainer.folder, "pod")
    command = [word.strip('"') for word in command]
    command = [{"$(STORAGE)": storage, "/state": state}.get(word, word) for word in command]
    check(command[0] == "papertape-trainer" and storage in command and state in command, f"the pod's command: {command}")
    return [trainer.program, *command[1:]], {}, state


def by_systemd(trainer, page, storage, unit):
    with open(unit, encoding="utf-8") as file:
        settings = re.findall(r"^(\w+)=(.*)$", file.read(), re.M)
    values = dict(settings)
    given = environment(page["ppo-btc.env"])
    check(values["EnvironmentFile"].endswith("/papertape/studies/%i.env") and list(given) == ["STORAGE"] and
          given["STORAGE"].startswith("postgresql://"), "the unit's environment")
    check([value.split(":")[0] for name, value in settings if name == "LoadCredential"] == ["pgpass", "aws-credentials"],
          "the credentials that the program looks for")
    command = shlex.split(values["ExecStart"].replace("%i", NAME))
    check(os.path.basename(command[0]) == "papertape-trainer", f"the unit's command: {command}")
    state = os.path.join(trainer.folder, values["StateDirectory"].replace("%i", NAME))
    return [trainer.program, *(storage if word == "${STORAGE}" else word for word in command[1:])], {"STATE_DIRECTORY": state}, state


def created(trainer, config, folder):
    """A study with its first trial and a proposal, in a storage of its own, by another machine: its URL."""
    storage = f"sqlite:///{trainer.folder}/{folder}/studies.db"
    ran = trainer.run("study", NAME, "--config", config, "--storage", storage, "--state", folder, "--trials", "1")
    check(ran.returncode == 0 and os.path.exists(os.path.join(trainer.folder, folder, "studies", NAME, "proposal.json")), f"the first: {ran.stderr}")
    change(trainer, folder, f"UPDATE study_user_attributes SET value_json = '{1 + LEFT}' WHERE \"key\" = 'papertape:trials'")
    return storage


def attributes(trainer, folder):
    return rows(trainer.folder, "SELECT \"key\", value_json FROM study_user_attributes ORDER BY \"key\"", state=folder)


def test_command(trainer, config, how, page, *more):
    folder = how.__name__
    storage = created(trainer, config, folder)
    before = attributes(trainer, folder)
    command, given, state = how(trainer, page, storage, *more)
    ran = subprocess.run(command, capture_output=True, text=True, cwd=trainer.folder, env={**trainer.environment, **given}, timeout=300)
    check(ran.returncode == 0 and ran.stderr == "", f"{folder}: {ran.returncode} {ran.stderr}")
    seen = lines(ran.stdout)
    end = seen[-1]
    check(end["result"] == "done" and end["done"] == 1 + LEFT and end["proposal"] is None and not events(seen, "proposal"), f"{folder}: {end}")
    check([state for _, state, _ in trials(trainer.folder, NAME, state=folder)] == ["COMPLETE"] * (1 + LEFT), f"{folder}: its trials")
    of = os.path.join(state, "studies", NAME)
    check(sorted(os.listdir(of)) == [".lock", "1", "2", "storage", "study.ini"] and os.path.exists(os.path.join(of, "2", "returns.csv")),
          f"{folder}: its state {os.listdir(of)}")
    check(attributes(trainer, folder) == before, f"{folder}: the study's attributes")
    again = subprocess.run(command, capture_output=True, text=True, cwd=trainer.folder, env={**trainer.environment, **given}, timeout=300)
    check(again.returncode == 0 and lines(again.stdout)[-1]["result"] == "done", f"{folder}: once it is done: {again.stderr}")


def test_stopped(trainer, config):
    """By SIGTERM, as a scheduler sends it: exit status 0, and the trial waits for another worker."""
    slow = write(os.path.join(trainer.folder, "slow.ini"), {"training": {"total_steps": 4000000}, "study": {"trials": 2, "workers": 1}})
    command = ("study", "slow", "--config", slow, "--storage", f"sqlite:///{trainer.folder}/stopped.db", "--no-proposal", "--heartbeat", "50")
    running = lambda seen: [line for line in seen if line["event"] == "heartbeat"] and rows_of(trainer, "stopped.db", "RUNNING")
    seen, error, status = trainer.end_by(signal.SIGTERM, running, *command)
    check(status == 0 and error == "" and seen[-1]["result"] == "stopped", f"stopped: {status} {error} {seen[-1:]}")
    _, _, status = trainer.end_by(signal.SIGTERM, running, *command, "--stopped-status", "75")
    check(status == 75, f"stopped: {status}")
    check(rows_of(trainer, "stopped.db", "WAITING") and not rows_of(trainer, "stopped.db", "RUNNING"), "stopped: its trial waits")


def rows_of(trainer, name, state):
    database = sqlite3.connect(f"file:{trainer.folder}/{name}?mode=ro", uri=True, timeout=30)
    try:
        made = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'trial_heartbeats'").fetchone()
        return made and database.execute("SELECT number FROM trials WHERE state = ?", (state,)).fetchall()
    finally:
        database.close()


def change(trainer, folder, *statements):
    database = sqlite3.connect(f"{trainer.folder}/{folder}/studies.db", timeout=30)
    with database:
        for statement in statements:
            database.execute(statement)
    database.close()


def test_wanted(trainer, config):
    """`--create` runs no trial, and stores how many are wanted: workers take that, and not the configuration's number, unless they are given
    their own."""
    storage = ("--storage", f"sqlite:///{trainer.folder}/wanted.db")
    ran = trainer.run("study", "wanted", "--create", "--config", config, *storage, "--trials", "2")
    check(ran.returncode == 0 and lines(ran.stdout)[-1]["done"] == 0 and not events(lines(ran.stdout), "trial"), f"created: {ran.stdout} {ran.stderr}")
    refuse(trainer, "both", ["--create"], "wanted", "--create", "--resume", *storage, status=2)
    for arguments, n in (((), 2), (("--config", config), 2), (("--trials", "3"), 3), ((), 3)):
        ran = trainer.run("study", "wanted", "--resume", "--no-proposal", *storage, *arguments)
        end = lines(ran.stdout)[-1]
        check(ran.returncode == 0 and end["done"] == n, f"wanted: {arguments}: {end} {ran.stderr}")
    check(end["trials"] == 2, f"wanted: a worker's number is its own: {end}")


def test_versions(trainer, config):
    """A worker of 0.0.1 runs a trial on another machine."""
    storage = created(trainer, config, "versions")
    version = trainer.run("--version").stdout.split()[-1]
    query = "SELECT value_json FROM trial_user_attributes WHERE \"key\" = 'papertape:version'"
    check(rows(trainer.folder, query, state="versions") == [(json.dumps(version),)], "versions: of a trial of ours")
    change(trainer, "versions",
           "INSERT INTO trials (trial_id, number, study_id, state, datetime_start) VALUES (100, 1, 1, 'RUNNING', datetime('now'))",
           "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES (100, 'papertape:version', '\"0.0.1\"'), "
           "(100, 'papertape:worker', '\"node7:12\"')",
           "INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES (100, datetime('now', '+1 hour'))")
    worker = (NAME, "--resume", "--no-proposal", "--storage", storage, "--state", "elsewhere")
    refuse(trainer, "another version", ["another version: ppo-btc: trial 1 is run by papertape-trainer 0.0.1 on node7:12, this is " + version], *worker)
    check(len(trials(trainer.folder, NAME, state="versions")) == 2, "versions: nothing was started")
    change(trainer, "versions", "UPDATE trial_heartbeats SET heartbeat = datetime('now', '-1 day')",
           "UPDATE trial_user_attributes SET value_json = '\"0.0.1\"' WHERE \"key\" = 'papertape:version'")
    ran = trainer.run("study", *worker)
    check(ran.returncode == 0 and ran.stderr.count("\n") == 1 and
          f"ppo-btc: 1 of its trials are of papertape-trainer 0.0.1, this is {version}: " in ran.stderr, f"versions: ended ones: {ran.stderr}")
    check([state for _, state, _ in trials(trainer.folder, NAME, state="versions")].count("FAIL") == 1, "versions: the stale one")


def test_bars(trainer, config):
    """A machine whose bars end earlier joins no study."""
    storage = created(trainer, config, "bars")
    other = os.path.join(trainer.folder, "machine")
    os.makedirs(other)
    for name in ("AAAUSDT_1h.csv", "BBBUSDT_1h.csv"):
        with open(os.path.join(trainer.folder, name), encoding="ascii") as file:
            text = file.readlines()
        with open(os.path.join(other, name), "w", encoding="ascii") as file:
            file.writelines(text[:-24])
    ran = trainer.run("study", NAME, "--resume", "--no-proposal", "--storage", storage, "--state", "st", cwd=other)
    check(ran.returncode == 1 and "another study: ppo-btc: rows: " in ran.stderr and "the bars that it began with" in ran.stderr, f"bars: {ran.stderr}")
    shutil.rmtree(other)


def main(program, docs, unit):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        write_market(folder, n=700)
        config = write(os.path.join(folder, "ppo-btc.ini"), {"study": {"trials": 1 + LEFT, "pruner": "none"}})
        page = files(docs)
        test_command(trainer, config, by_slurm, page)
        test_command(trainer, config, by_kubernetes, page)
        test_command(trainer, config, by_systemd, page, unit)
        test_stopped(trainer, config)
        test_wanted(trainer, config)
        test_versions(trainer, config)
        test_bars(trainer, config)
    done("trainer/study/study_machines")


main(*sys.argv[1:])
