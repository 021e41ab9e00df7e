"""What `papertape-trainer study` leaves is a study of Optuna's, and what Optuna puts into one is honoured: a trial that it enqueued, trials
of its own workers, one study from both.

    study_oracle.py PAPERTAPE_TRAINER
"""
import copy
import json
import math
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "..", "oracle"), os.path.join(here, "..", "program")]
from oracle_venv import imports  # noqa: E402

with imports("optuna"):
    import optuna
from program import Trainer, check, done, events, lines, write_market  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)

CONFIG = """[training]
total_steps = 2048
device = cpu
[network]
policy_layers = 8
value_layers = 8
[ppo]
copies = 4
steps = 64
minibatch = 64
epochs = 1
[environment]
initial_capital = 100000
norm_action = 10
[data]
bars = AAAUSDT_1h.csv, BBBUSDT_1h.csv
[study]
trials = 6
validation = kfold:3
pruner_n_startup_trials = 2
tpe_n_startup_trials = 3
[search]
learning_rate = 1e-5..1e-2 log
epochs = 1..3
minibatch = 32 | 64 | 128
gamma = 0.9..0.99 step 0.01
layer_norm = true | false
lr_schedule = constant | linear
"""
SPACE = {"learning_rate": optuna.distributions.FloatDistribution(1e-5, 1e-2, log=True), "epochs": optuna.distributions.IntDistribution(1, 3),
         "minibatch": optuna.distributions.CategoricalDistribution((32, 64, 128)),
         "gamma": optuna.distributions.FloatDistribution(0.9, 0.99, step=0.01),
         "layer_norm": optuna.distributions.CategoricalDistribution((True, False)),
         "lr_schedule": optuna.distributions.CategoricalDistribution(("constant", "linear"))}


def promised(trials, sampler, study):
    """The promise of each trial that TPE drew, before its values, as Optuna reads it of one that runs."""
    found = {}
    for trial in trials:
        if any(key.startswith("tpe:relative_params:") for key in trial.system_attrs):
            running = copy.deepcopy(trial)
            running.state, running.params, running.distributions = optuna.trial.TrialState.RUNNING, {}, {}
            found[trial.number] = sampler._get_params(running, study)
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(sys.argv[1], folder)
        write_market(folder, n=700)
        with open(os.path.join(folder, "F.ini"), "w") as file:
            file.write(CONFIG)
        url = f"sqlite:///{folder}/studies.db"
        run = ("study", "mixed", "--config", "F.ini", "--storage", url, "--state", "st", "--workers", "2")
        # Optuna makes it, and what is to be tried first.
        study = optuna.create_study(storage=url, study_name="mixed", direction="maximize")
        wanted = {"learning_rate": 0.002, "epochs": 2, "minibatch": 128, "gamma": 0.95, "layer_norm": True, "lr_schedule": "linear"}
        study.enqueue_trial(wanted, user_attrs={"why": "a hunch"})
        study.enqueue_trial({"epochs": 3})
        study.enqueue_trial({"epochs": 7})  # out of the range: reported, not tried
        study.enqueue_trial({"epochs": 2, "gamma": math.inf})  # nor is this
        ran = trainer.run(*run)
        seen = lines(ran.stdout)
        check(ran.returncode == 0 and events(seen, "start")[0]["resumed"] and seen[-1]["done"] == 6, f"mixed: {ran.stderr}")

        study = optuna.load_study(storage=url, study_name="mixed")
        trials = study.get_trials(deepcopy=False)
        reported = {event["number"]: event for event in events(seen, "trial")}
        check(len(trials) == 6 and [trial.number for trial in trials] == list(range(6)), f"trials {trials}")
        check(trials[0].params == wanted and trials[0].user_attrs["why"] == "a hunch", f"enqueued: {trials[0]}")
        check(trials[1].params["epochs"] == 3 and set(trials[1].params) == set(SPACE), f"enqueued in part: {trials[1]}")
        check(trials[2].state.name == "FAIL" and "epochs: 7" in trials[2].user_attrs["papertape:failure"], f"enqueued, not a value: {trials[2]}")
        check(trials[3].state.name == "FAIL" and "gamma: Infinity" in trials[3].user_attrs["papertape:failure"], f"enqueued, infinite: {trials[3]}")
        for trial in trials:
            check(trial.state.name == reported[trial.number]["state"] and trial.state.is_finished(), f"{trial.number}: {trial.state}")
            if trial.state.name == "FAIL":
                continue
            check(trial.distributions == SPACE, f"{trial.number}: {trial.distributions}")
            value = reported[trial.number]["value"]
            check(abs(trial.value - value) <= 1e-9 * max(1, abs(value)), f"{trial.number}: {trial.value}, not {value}")
            check(sorted(trial.intermediate_values) == list(range(1, len(trial.user_attrs["papertape:splits"]) + 1)), f"{trial.number}: reports")
            check(trial.datetime_start <= trial.datetime_complete, f"{trial.number}: times")
        check(study.best_trial.number == seen[-1]["best_number"], "the best")
        check(study.user_attrs["papertape:trials"] == 6 and study.user_attrs["papertape:config"] == CONFIG, f"{study.user_attrs}")

        # Optuna's samplers and pruners continue with it, then ours again: nothing is made again.
        sampler = optuna.samplers.TPESampler(seed=1, n_startup_trials=2, multivariate=True, constant_liar=True)
        study = optuna.load_study(storage=url, study_name="mixed", sampler=sampler)
        for _ in range(3):
            trial = study.ask(SPACE)
            trial.report(0.5, 1)
            trial.should_prune()
            study.tell(trial, -100.0)
        ran = trainer.run(*run, "--trials", "12")
        seen = lines(ran.stdout)
        check(ran.returncode == 0 and events(seen, "start")[0]["done"] == 9 and len(events(seen, "trial")) == 3, f"on: {ran.stderr}")
        study = optuna.load_study(storage=url, study_name="mixed")
        check([trial.number for trial in study.trials] == list(range(12)) and all(trial.state.is_finished() for trial in study.trials),
              f"on: {study.trials}")
        check(study.best_trial.number == seen[-1]["best_number"], "the best again")
        # What TPE drew jointly was promised as it is; what was drawn at random or enqueued was not.
        found = promised(study.trials, sampler, study)
        check({9, 10, 11} <= set(found) and not {0, 2} & set(found), f"promises of {sorted(found)}")
        for number, params in found.items():
            trial = study.trials[number]
            kept = {name: params[name] for name in params if name not in trial.system_attrs.get("fixed_params", {})}
            check(kept and kept.items() <= trial.params.items(), f"{number}: promised {params}, tried {trial.params}")
        check(json.loads(json.dumps(study.user_attrs))["papertape:trials"] == 12, "how many are wanted now")
    done("trainer/study/study_oracle")


main()
