"""Studies that Optuna makes, as `papertape study` shows them: trials of a worker that was killed, with a heartbeat and without; how many
trials are wanted. Nothing is written to such a study unless it is asked for.

    stale_oracle.py PAPERTAPE
"""
import datetime
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "oracle"), os.path.join(here, "..", "trainer", "program")]
from oracle_venv import imports  # noqa: E402

with imports("optuna"):
    import optuna
from program import check, done  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
RUNNING, COMPLETE = optuna.trial.TrialState.RUNNING, optuna.trial.TrialState.COMPLETE

# A worker that ends one trial, begins another, says so, and waits to be killed.
WORKER = """
import sys, time, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name=sys.argv[2], storage=sys.argv[1])
trial = study.ask()
study.tell(trial, trial.suggest_float("x", 0, 1))  # word-ok: Optuna's
study.ask().suggest_float("x", 0, 1)
print("runs", flush=True)
time.sleep(600)
"""


def ago(seconds):
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None) - datetime.timedelta(seconds=seconds)


def past(state, started_s, ended_s=None, value=None):
    """A trial that began so many seconds ago."""
    trial = optuna.trial.create_trial(state=state, value=value, params={"x": 0.5},
                                      distributions={"x": optuna.distributions.FloatDistribution(0, 1)})
    trial.datetime_start, trial.datetime_complete = ago(started_s), None if ended_s is None else ago(ended_s)
    return trial


class Papertape:
    def __init__(self, program, folder):
        self.program, self.folder, self.file = os.path.abspath(program), folder, os.path.join(folder, "studies.db")

    def run(self, *arguments):
        return subprocess.run([self.program, "study", *arguments, "--state", self.folder], capture_output=True, text=True, timeout=60)

    def list(self):
        ran = self.run("list", "--json")
        check(ran.returncode == 0, f"list: {ran.stderr}")
        return {study["study"]: study for study in json.loads(ran.stdout)["studies"]}

    def sum(self):
        with open(self.file, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()


def killed(papertape, url):
    """The worker is killed within its second trial. Its first took no time, so a minute is the grace: the start is moved back."""
    study = optuna.create_study(study_name="killed", storage=url)
    process = subprocess.Popen([sys.executable, "-c", WORKER, url, "killed"], stdout=subprocess.PIPE, text=True)
    check(process.stdout.readline() == "runs\n", "killed: it runs")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    seen = papertape.list()["killed"]
    check((seen["running"], seen["stale_trials"], seen["complete"]) == (1, 0, 1), f"killed a moment ago: {seen}")
    check([trial.state for trial in study.trials] == [COMPLETE, RUNNING], "killed: Optuna has it as RUNNING")
    database = sqlite3.connect(papertape.file)
    with database:
        database.execute("UPDATE trials SET datetime_start = ? WHERE state = 'RUNNING'", (ago(7200).strftime("%Y-%m-%d %H:%M:%S.%f"),))
    database.close()
    before = papertape.sum()
    seen = papertape.list()["killed"]
    check((seen["running"], seen["stale_trials"], seen["trials"]) == (0, 1, 2) and 7199000 < seen["stale_age_ms"] < 7300000, f"killed: {seen}")
    text, table, shown = papertape.run("show", "killed"), papertape.run("list"), json.loads(papertape.run("show", "killed", "--json").stdout)
    check(" run 0 stale 1 (2h) ok 1 " in text.stdout and "#1 STALE" in text.stdout, f"killed: {text.stdout}")
    check("stale 1 (2h)" in table.stdout, f"killed: {table.stdout}")
    check([(trial["number"], trial["stale"]) for trial in shown["trial_list"]] == [(0, False), (1, True)], f"killed: {shown['trial_list']}")
    check(papertape.sum() == before, "killed: nothing is written to it")
    check([trial.state for trial in optuna.load_study(study_name="killed", storage=url).trials] == [COMPLETE, RUNNING], "killed: as it was")


def boundaries(papertape, url):
    """By the study's own pace: three times its longest trial, a minute at least, ten minutes before any has ended."""
    for name, trials, right in (("first", [past(RUNNING, 500)], (1, 0)), ("first-late", [past(RUNNING, 700)], (0, 1)),
                                ("short", [past(COMPLETE, 200, 190, 0.1), past(RUNNING, 90)], (0, 1)),
                                ("slow", [past(COMPLETE, 8000, 4000, 0.1), past(RUNNING, 3900), past(RUNNING, 20000)], (1, 1))):
        study = optuna.create_study(study_name=name, storage=url)
        study.add_trials(trials)
        seen = papertape.list()[name]
        check((seen["running"], seen["stale_trials"]) == right, f"{name}: {seen}")


def beating(papertape, folder):
    """With Optuna's heartbeats they alone decide, however long the trial has run."""
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder}/beating.db", heartbeat_interval=60)
    study = optuna.create_study(study_name="beating", storage=storage)
    study.add_trials([past(COMPLETE, 90000, 89999, 0.1), past(RUNNING, 80000)])
    storage.record_heartbeat(study.trials[1]._trial_id)
    ran = papertape.run("list", "--json", "--studies", f"{folder}/beating.db")
    seen = json.loads(ran.stdout)["studies"][0]
    check((seen["running"], seen["stale_trials"]) == (1, 0), f"beating: {seen}")


def wanted(papertape, url):
    before = optuna.load_study(study_name="slow", storage=url)
    check(papertape.list()["slow"]["trials_wanted"] is None and not before.user_attrs, "wanted: no number")
    ran = papertape.run("want", "slow", "20")
    seen = papertape.list()["slow"]
    check(ran.returncode == 0 and ran.stdout == "slow: 20 trials are wanted\n" and seen["trials_wanted"] == 20 and seen["done"] == 1, f"wanted: {ran} {seen}")
    after = optuna.load_study(study_name="slow", storage=url)
    check(after.user_attrs == {"papertape:trials": 20} and len(after.trials) == 3, f"wanted: Optuna reads {after.user_attrs}")
    check(json.loads(papertape.run("want", "slow", "30", "--json").stdout) ==
          {"schema": "papertape.study-want/1", "study": "slow", "trials_wanted": 30}, "wanted: JSON")
    papertape.run("want", "slow", "0")
    check(papertape.list()["slow"]["trials_wanted"] is None and not optuna.load_study(study_name="slow", storage=url).user_attrs, "wanted: removed")
    for name in ("pair_1", "pair_3"):
        optuna.create_study(study_name=name, storage=url)
    ran = papertape.run("want", "pair", "7")
    seen = [study for study in papertape.list().values() if study["training"] == "pair"]
    check(ran.returncode == 0 and len(seen) == 1 and seen[0]["trials_wanted"] == 7, f"wanted: of workers together {ran} {seen}")
    kept = papertape.sum()
    for arguments, status, words in ((("want", "slow", "-1"), 2, "a whole number"), (("want", "slow", "many"), 2, "a whole number"),
                                     (("want", "slow"), 2, "TRIALS"), (("want", "none", "3"), 1, "no such study")):
        ran = papertape.run(*arguments)
        check(ran.returncode == status and words in ran.stderr and ran.stderr.count("\n") == 1, f"{arguments}: {ran}")
    check(papertape.sum() == kept, "wanted: what is refused writes nothing")
    # A study of ours has its number from its configuration.
    own = optuna.create_study(study_name="own", storage=url)
    own.set_user_attr("papertape:config", "[study]\ntrials = 5\n")
    ran = papertape.run("want", "own", "9")
    check(ran.returncode == 1 and "its configuration has the number" in ran.stderr and "papertape:trials" not in
          optuna.load_study(study_name="own", storage=url).user_attrs, f"own: {ran}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        papertape, url = Papertape(sys.argv[1], folder), f"sqlite:///{folder}/studies.db"
        killed(papertape, url)
        boundaries(papertape, url)
        beating(papertape, folder)
        wanted(papertape, url)
    done("tui/stale_oracle")


main()
