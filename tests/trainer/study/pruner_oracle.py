"""Compares the pruners with Optuna's, decision by decision: python3 pruner_oracle.py PRUNER_JUDGE

Random studies of which several trials run at once, both directions, many parameters of each pruner, reports in any order
with NaN and infinities among them. Before each of Optuna's decisions the study is noted; ours must be the same of it, and
leave the same attributes, to the byte of their JSON, and know the same bracket. Exits 77 without the venv in $PAPERTAPE_VENV.
PAPERTAPE_SEED pins the seed.
"""

import collections
import json
import os
import random
import subprocess
import sys
import warnings

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("optuna"):
    import optuna
    from optuna.trial import TrialState

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
PROGRAM = sys.argv[1]
LONG = "PAPERTAPE_LONG" in os.environ
SEED = int(os.environ.get("PAPERTAPE_SEED", "11"), 0)
STUDIES = 400 if LONG else 36


def options(draw, kind):
    """(ours, a maker of Optuna's)."""
    if kind == "median":
        ours = {"n_startup_trials": draw.choice([0, 1, 3, 5]), "n_warmup_steps": draw.choice([0, 0, 2, 5]),
                "interval_steps": draw.choice([1, 1, 2, 3]), "n_min_trials": draw.choice([1, 1, 2, 4])}
        return ours, lambda: optuna.pruners.MedianPruner(**ours)
    if kind == "asha":
        least, bootstrap = draw.choice([0, 0, 1, 2, 3]), draw.choice([0, 0, 0, 2])
        ours = {"min_resource": least, "reduction_factor": draw.choice([2, 3, 4]),
                "min_early_stopping_rate": draw.choice([0, 0, 1, 2]), "bootstrap_count": bootstrap if least else 0}
        return ours, lambda: optuna.pruners.SuccessiveHalvingPruner(**{**ours, "min_resource": least or "auto"})
    most = draw.choice([0, 0, 3, 9, 27, 30, 243])
    ours = {"min_resource": draw.choice([1, 1, 2, 3]), "max_resource": most, "reduction_factor": draw.choice([2, 3, 3, 4]),
            "bootstrap_count": draw.choice([0, 0, 2]) if most else 0}
    return ours, lambda: optuna.pruners.HyperbandPruner(**{**ours, "max_resource": most or "auto"})


def value(draw):
    kind = draw.random()
    if kind < 0.06:
        return float("nan")
    if kind < 0.09:
        return draw.choice([float("inf"), float("-inf")])
    if kind < 0.3:
        return float(draw.randint(-3, 3))  # ties
    return draw.choice([draw.gauss(0, 1), draw.gauss(0, 1) * 10 ** draw.randint(-9, 20)])


def noted(study):
    """What ours reads of it."""
    return [{"state": trial.state.name, "reports": [[step, repr(report)] for step, report in sorted(trial.intermediate_values.items())],
             "system": {key: json.dumps(attribute) for key, attribute in trial.system_attrs.items()}}
            for trial in study.get_trials(deepcopy=False)]


class Search:
    """One study as several workers run it."""

    def __init__(self, draw, index):
        self.draw, self.cases = draw, []
        self.maximize = draw.random() < 0.5
        self.name = draw.choice(["study", "näher", "a_1", "a_2"]) + f"-{index}"
        self.kind = ("median", "asha", "hyperband")[index % 3]
        self.ours, self.make = options(draw, self.kind)
        self.study = optuna.create_study(study_name=self.name, direction="maximize" if self.maximize else "minimize")
        self.scale = draw.choice([1, 1, 1, 7, 150])  # of steps

    def judge(self, trial):
        case = {"name": self.name, "maximize": self.maximize, "options": {"kind": self.kind, **self.ours},
                "number": trial.number, "trials": noted(self.study)}
        frozen, pruner = self.study._storage.get_trial(trial._trial_id), self.make()
        before = dict(frozen.system_attrs)
        prune = bool(pruner.prune(self.study, frozen))
        after = self.study._storage.get_trial(trial._trial_id).system_attrs
        marks = {key: json.dumps(after[key]) for key in after if key not in before}
        bracket = -1
        if self.kind == "hyperband" and pruner._pruners:
            bracket = pruner._get_bracket_id(self.study, frozen)
        self.cases.append((case, prune, bracket, marks))
        return prune

    def report(self, trial, step):
        self.study._storage.set_trial_intermediate_value(trial._trial_id, step, value(self.draw))

    def run(self, trials, steps):
        running = []
        while trials or running:
            if trials and len(running) < 4 and self.draw.random() < 0.5:
                running.append([self.study.ask(), 0])
                trials -= 1
                continue
            if not running:
                continue
            at = self.draw.choice(running)
            trial, step = at
            if step < steps and self.draw.random() > 0.03:
                if self.draw.random() < 0.9:
                    self.report(trial, (step + self.draw.choice([0, 0, 0, 0, -1 if step else 1])) * self.scale)
                at[1] += 1
                prune = self.judge(trial)
                if prune and self.draw.random() < 0.8:  # some continue nevertheless
                    self.study.tell(trial, state=TrialState.PRUNED)
                    running.remove(at)
            else:
                failed = self.draw.random() < 0.1
                self.study.tell(trial, None if failed else self.draw.gauss(0, 1), state=TrialState.FAIL if failed else TrialState.COMPLETE)
                running.remove(at)


def main():
    draw, cases = random.Random(SEED), []
    for index in range(STUDIES):
        search = Search(draw, index)
        search.run(draw.randint(1, 22), draw.choice([1, 4, 9, 12]))
        cases += search.cases
    text = "\n".join(json.dumps(case) for case, *_ in cases)
    out = subprocess.run([PROGRAM], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    failures, pruned, marked, seen = 0, 0, 0, collections.Counter()
    if len(out) != len(cases):
        print(f"{len(out)} lines, not {len(cases)}")
        failures += 1
    for line, (case, prune, bracket, marks) in zip(out, cases):
        verdict, ours_bracket, *rest = line.split()
        found = dict(mark.split("=", 1) for mark in rest)
        kind = case["options"]["kind"]
        seen[kind, prune] += 1
        marked += len(marks)
        if (int(verdict), found) != (prune, marks) or (kind == "hyperband" and int(ours_bracket) != bracket):
            failures += 1
            if failures < 5:
                print(f"Optuna: {prune} {bracket} {marks}; ours: {line}; {json.dumps(case)}")
    pruned = sum(count for (_, prune), count in seen.items() if prune)
    for kind in ("median", "asha", "hyperband"):
        if not (seen[kind, True] > 20 and seen[kind, False] > 20):
            print(f"{kind}: {seen[kind, True]} prune, {seen[kind, False]} do not: too few")
            failures += 1
    print(f"{len(cases)} decisions in {STUDIES} studies, {pruned} prune, {marked} attributes: {failures} failed (seed {SEED})")
    return 1 if failures else 0


sys.exit(main())
