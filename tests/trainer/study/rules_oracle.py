"""A study of a strategy is a study of Optuna's: it reads the trials, its importances are of them, and a trial that it enqueues is run; what
its own TPE drew before each trial is what ours drew.

    rules_oracle.py PAPERTAPE_TRAINER
"""
import copy
import math
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "..", "oracle"), here]
from oracle_venv import imports  # noqa: E402

with imports("optuna"):
    import optuna
from rules import Trainer, check, done, stored, study, words, write, write_market  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)
SPACE = {"fast": optuna.distributions.IntDistribution(3, 20), "slow": optuna.distributions.IntDistribution(21, 80),
         "average": optuna.distributions.CategoricalDistribution(("sma", "ema"))}


def check_promises(found, theirs):
    """Each trial after the random ones keeps the values that it promised to others by Optuna's system attributes."""
    sampler, kept = optuna.samplers.TPESampler(multivariate=True, constant_liar=True), 0
    for trial in found:
        if any(key.startswith("tpe:relative_params:") for key in trial.system_attrs):
            running = copy.deepcopy(trial)
            running.state, running.params, running.distributions = optuna.trial.TrialState.RUNNING, {}, {}
            kept += sampler._get_params(running, theirs) == trial.params
    check(kept == 20, f"promised: {kept} of 20 trials")


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(sys.argv[1], folder)
        write_market(folder)
        study(trainer, "r", write(os.path.join(folder, "r.ini")))
        ours = stored(folder, "r")
        theirs = optuna.load_study(study_name="r", storage=f"sqlite:///{folder}/st/studies.db")
        trials = theirs.trials
        check(len(trials) == 30 and theirs.direction == optuna.study.StudyDirection.MAXIMIZE, f"{len(trials)} trials")
        for trial in trials:
            state, value, params, splits = ours[trial.number]
            check(trial.state.name == state and trial.value == value and trial.params == params and trial.distributions == SPACE,
                  f"trial {trial.number}: {trial} {ours[trial.number]}")
            check(trial.user_attrs["papertape:splits"] == splits and sorted(trial.intermediate_values) == [1, 2, 3, 4] and
                  math.isclose(trial.intermediate_values[4], value), f"trial {trial.number}: {trial.intermediate_values}")
        check(theirs.best_value == max(one[1] for one in ours.values()), "the best")
        check_promises(trials, theirs)
        importance = optuna.importance.get_param_importances(theirs, evaluator=optuna.importance.PedAnovaImportanceEvaluator())
        check(set(importance) == set(SPACE), f"importance: {importance}")
        theirs.enqueue_trial({"fast": 4, "slow": 44, "average": "ema"})
        study(trainer, "r", "r.ini", "--trials", "31")
        check(stored(folder, "r")[30][0] == "COMPLETE" and words(stored(folder, "r")[30][2]) in
              {"fast=4,slow=44,average=ema", "average=ema,fast=4,slow=44", "fast=4,average=ema,slow=44"}, f"enqueued: {stored(folder, 'r')[30]}")
    done("study of a strategy by Optuna")


if __name__ == "__main__":
    main()
