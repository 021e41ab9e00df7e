#!/usr/bin/env python3
"""Studies go to Optuna and come from it unchanged. optuna_round_trip.py TEST-DB-STUDIES-EXCHANGE [postgresql]

Optuna writes studies with all that it can store; ours reads them, and every trial is what Optuna says of it. Ours writes them again
with its own calls; Optuna opens that, and every trial is the first one's. Both files have one schema. Optuna continues with our file.
Distributions: our text of many at random is Optuna's to the byte, with its grid's end."""

import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../oracle"), os.path.join(HERE, "../../../fixtures")]
import oracle_venv

with oracle_venv.imports("optuna"):
    import optuna
    from optuna.distributions import (CategoricalDistribution, FloatDistribution, IntDistribution, distribution_to_json,
                                      json_to_distribution)
    from optuna.trial import TrialState

import postgresql_server

EXCHANGE, ON_SERVER = sys.argv[1], sys.argv[2:] == ["postgresql"]
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # Optuna syncs thousands of times
SEED = int(os.environ.get("PAPERTAPE_SEED", "0")) or random.randrange(1, 10**6)
STEP_MOST = 2**31 - 1 if ON_SERVER else 2**31  # of a column of four bytes
RANDOM_TRIALS = 20
RANDOM_DISTRIBUTIONS = 200000 if os.environ.get("PAPERTAPE_LONG") else 4000

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")


def exchange(*argv, **kwargs):
    return subprocess.run([EXCHANGE, *argv], check=True, stdout=subprocess.PIPE, text=True, **kwargs).stdout


SPACE = {
    "rate": FloatDistribution(1e-6, 1e-3, log=True),
    "gamma": FloatDistribution(0.88, 0.99, step=0.01),
    "share": FloatDistribution(-0.5, 0.5),
    "épochs ✓": IntDistribution(4, 16),
    "width": IntDistribution(512, 1536, step=32),
    "batch": IntDistribution(1, 100000, log=True),
    "kind": CategoricalDistribution([None, True, False, 3, 2.5, 1e-7, 1e22, "a \"quoted\"\\\n\té𝄞", ""]),
    "weird": CategoricalDistribution([float("inf"), float("-inf"), float("nan"), "NaN"]),
    "carried": CategoricalDistribution([[64, 64], [1, [2.5, None]], {"float": 16}, {"float": "NaN"}, {"json": "[1]"}, [], {},
                                        {"a, b: [": [1e22, "é"]}, 2**70, "\ud800", "a\0b", float("nan")]),
    "seed": IntDistribution(0, 2**62),
    "odd": IntDistribution(-2**60 - 1, 2**64 + 1),
    "vast": IntDistribution(1, 2**53 + 1, log=True),
    "single": CategoricalDistribution(["only"]),
    "constant": FloatDistribution(0.1, 0.1),
}
VALUES = [0.0, -0.0, 1.5, -1e300, 5e-324, 0.1, float("inf"), float("-inf")]
ATTRIBUTES = [None, True, 1, 0.1, "text é\u2028", [1, [2.5, None]], {"a": {"b": []}}, float("inf"), float("nan"), ""]


def random_value(rng, distribution):
    if isinstance(distribution, CategoricalDistribution):
        return rng.choice(distribution.choices)
    if distribution.log:
        value = math.exp(rng.uniform(math.log(distribution.low), math.log(distribution.high)))
    else:
        value = rng.uniform(distribution.low, distribution.high)
    if distribution.step is not None and distribution.high < 2**53:
        value = distribution.low + math.floor((value - distribution.low) / distribution.step) * distribution.step
    value = min(max(value, distribution.low), distribution.high)
    return round(value) if isinstance(distribution, IntDistribution) else value


def random_trial(rng, state, objectives):
    names = [name for name in SPACE if rng.random() < 0.8]
    reports = {rng.choice([0, 1, 7, 100, STEP_MOST]): rng.choice([*VALUES, float("nan")]) for _ in range(rng.randrange(5))}
    values = None
    if state == TrialState.COMPLETE:
        values = [rng.choice(VALUES) for _ in range(objectives)]
    elif state == TrialState.PRUNED and objectives == 1 and reports and not math.isnan(reports[max(reports)]):
        values = [reports[max(reports)]]
    constraints = {key: rng.choice([-1.0, 0.0, 0.25, 1e9]) for key in ("a", "b é") if rng.random() < 0.3}
    system = {"constraints": [rng.choice([-2.0, 0.5]), 1]} if not constraints and rng.random() < 0.2 else {}
    return optuna.trial.create_trial(
        state=state, values=values, params={name: random_value(rng, SPACE[name]) for name in names},
        distributions={name: SPACE[name] for name in names}, intermediate_values=reports, constraints=constraints,
        user_attrs={f"u{i}": rng.choice(ATTRIBUTES) for i in range(rng.randrange(4))}, system_attrs=system)


def make(url, rng):
    for name, directions in (("one é", ["maximize"]), ("three", ["minimize", "maximize", "minimize"]), ("empty", ["minimize"])):
        study = optuna.create_study(storage=url, study_name=name, directions=directions)
        study.set_user_attr("papertape:trials", 100)
        study.set_user_attr("é", ATTRIBUTES)
        study.set_metric_names([f"m{i}" for i in range(len(directions))])
        if name == "empty":
            continue
        states = [TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL, TrialState.RUNNING]
        for i in range(RANDOM_TRIALS):
            study.add_trial(random_trial(rng, states[i] if i < 4 else rng.choice(states), len(directions)))
        study.enqueue_trial({"rate": 1e-5, "kind": None, "épochs ✓": 7}, user_attrs={"by": "hand"})
        study.enqueue_trial({})


def same(a, b):
    """Equal to the bit, NaN too, true, 1 and 1.0 being different."""
    if isinstance(a, dict) or isinstance(b, dict):
        return isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


def number(text):
    return float({"Infinity": "inf", "-Infinity": "-inf"}.get(text, text))


def external(distribution, stored):
    """As Jansson has it, which has no NaN: {"float": "NaN"} instead, and {"json": TEXT} of what else it has not."""
    if isinstance(stored, dict):
        return json.loads(stored["json"]) if "json" in stored else number(stored["float"])
    return int(stored) if isinstance(distribution, IntDistribution) and abs(stored) >= 2**63 else stored


def in_utc(when):
    """Optuna shows local time."""
    return None if when is None else round(when.timestamp() * 1e6)


def check_dump(url, dumped, directly):
    """Ours of a file against Optuna's of the same file."""
    summaries = optuna.get_all_study_summaries(url)
    assert sorted(dumped) == sorted(s.study_name for s in summaries)
    stored_texts = {text for text, in directly("SELECT DISTINCT distribution_json FROM trial_params")}
    for summary in summaries:
        study = optuna.load_study(study_name=summary.study_name, storage=url)
        ours = dumped[summary.study_name]
        assert ours["directions"] == [d.name for d in study.directions]
        assert same({k: json.loads(v) for k, v in ours["user"].items()}, study.user_attrs)
        assert same({k: json.loads(v) for k, v in ours["system"].items()}, study._storage.get_study_system_attrs(study._study_id))
        trials = study.get_trials(deepcopy=False)
        assert [t["number"] for t in ours["trials"]] == [t.number for t in trials] == list(range(len(trials)))
        for our, their in zip(ours["trials"], trials):
            what = (summary.study_name, their.number)
            assert our["state"] == their.state.name, what
            assert our["started_us"] == in_utc(their.datetime_start), what
            assert our["completed_us"] == in_utc(their.datetime_complete), what
            assert same(our["values"] and [number(v) for v in our["values"]], their.values), what
            assert same({step: number(v) for step, v in our["reports"]}, dict(sorted(their.intermediate_values.items()))), what
            assert our["params"].keys() == their.params.keys(), what
            for name, param in our["params"].items():
                distribution = their.distributions[name]
                assert param["distribution"] == distribution_to_json(distribution), what
                assert param["distribution"] in stored_texts
                assert json_to_distribution(param["distribution"]) == distribution
                assert same(external(distribution, param["external"]), their.params[name]), (what, name, param, their.params)
                assert number(param["internal"]) == distribution.to_internal_repr(their.params[name]), (what, name)
            assert same({k: json.loads(v) for k, v in our["user"].items()}, their.user_attrs), what
            assert same({k: json.loads(v) for k, v in our["system"].items()}, their.system_attrs), what
            violation = sum(c for c in their.constraints.values() if c > 0) if their.constraints else float("nan")
            assert same(number(our["violation"]), float(violation)), what
        check_best(study, ours["best"])


def check_best(study, ours):
    feasible = [t for t in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
                if all(c <= 0 for c in t.constraints.values())]
    if len(study.directions) > 1 or not feasible:
        assert ours == -1
        return
    best = study.best_trial
    assert study.trials[ours].value == best.value and study.trials[ours] in feasible


def check_copies(url, copy):
    """Two files' trials, except their times and ids."""
    for summary in optuna.get_all_study_summaries(url):
        first, second = (optuna.load_study(study_name=summary.study_name, storage=u) for u in (url, copy))
        assert first.directions == second.directions and same(first.user_attrs, second.user_attrs)
        assert first.metric_names == second.metric_names
        trials = [study.get_trials(deepcopy=False) for study in (first, second)]
        assert len(trials[0]) == len(trials[1])
        for a, b in zip(*trials):
            what = (summary.study_name, a.number)
            for field in ("number", "state", "values", "params", "user_attrs", "system_attrs", "intermediate_values"):
                assert same(getattr(a, field), getattr(b, field)), (what, field, getattr(a, field), getattr(b, field))
            assert a.distributions == b.distributions, what
            assert {k: distribution_to_json(d) for k, d in a.distributions.items()} == {
                k: distribution_to_json(d) for k, d in b.distributions.items()}, what
            b._validate()
            for field in ("datetime_start", "datetime_complete"):
                assert (getattr(a, field) is None) == (getattr(b, field) is None), (what, field)


def schema(path):
    rows = sqlite3.connect(path)
    tables = [name for name, in rows.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")]
    return {
        "texts": rows.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid").fetchall(),
        "tables": {t: rows.execute(f"PRAGMA table_info('{t}')").fetchall() for t in tables},
        "indices": {t: rows.execute(f"PRAGMA index_list('{t}')").fetchall() for t in tables},
        "keys": {t: rows.execute(f"PRAGMA foreign_key_list('{t}')").fetchall() for t in tables},
        "versions": [rows.execute(f"SELECT * FROM {t}").fetchall() for t in ("version_info", "alembic_version")],
        "journal": rows.execute("PRAGMA journal_mode").fetchall(), "page": rows.execute("PRAGMA page_size").fetchall(),
    }


def check_rows(path):
    """What the columns of a file hold is what Optuna puts there: kinds of value, and the forms of times."""
    rows = sqlite3.connect(path)
    for table, column in (("trials", "datetime_start"), ("trials", "datetime_complete"), ("trial_heartbeats", "heartbeat")):
        for value, in rows.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"):
            assert len(value) == 26 and value[10] == " " and value[19] == ".", value
    kinds = rows.execute("SELECT DISTINCT typeof(param_value), typeof(distribution_json) FROM trial_params").fetchall()
    assert kinds == [("real", "text")], kinds
    kinds = set(rows.execute("SELECT value_type, typeof(value) FROM trial_values"))
    assert kinds <= {("FINITE", "real"), ("INF_POS", "null"), ("INF_NEG", "null")}, kinds


def continues(url):
    """Optuna with a file that it did not make."""
    study = optuna.load_study(study_name="one é", storage=url, sampler=optuna.samplers.TPESampler(seed=1))
    before = len(study.trials)

    def objective(trial):
        trial.report(1.0, 1)
        return sum(trial.suggest_float(name, SPACE[name].low, SPACE[name].high, log=SPACE[name].log)
                   for name in ("rate", "share")) + trial.suggest_int("batch", 1, 100000, log=True)

    study.optimize(objective, n_trials=12)
    assert len(study.trials) == before + 10  # two of them had waited
    states = [t.state for t in study.trials[before - 2:]]
    assert states == [TrialState.COMPLETE] * 12, states


def random_distribution(rng):
    """In Optuna's short form."""
    digits = rng.randrange(0, 7)
    low, span = round(rng.uniform(-100, 100), digits), round(abs(rng.gauss(0, 50)), digits)
    kind = rng.choice(["float", "step", "log", "int", "int step", "int log", "extreme", "wrong"])
    if kind == "extreme":
        low = rng.choice([1e-300, 5e-324, -1e17, 1e16, 123456789012345680.0, 0.0]) * rng.uniform(0, 1)
        return {"type": "float", "low": low, "high": low + abs(low) * rng.choice([0, 1, 1e-3])}
    if kind == "float":
        return {"type": "float", "low": rng.uniform(-1, 1) * 10**rng.randrange(-20, 20), "high": 10.0**rng.randrange(20, 25)}
    if kind == "step":
        return {"type": "float", "low": low, "high": round(low + span, digits),
                "step": rng.choice([0.1, 0.3, 0.01, 1.0, 0.25, round(rng.uniform(0.001, 9), rng.randrange(3, 7))])}
    if kind == "log":
        return {"type": "float", "low": abs(low) + 1e-9, "high": abs(low) + span + 1e-9, "log": True}
    if kind == "wrong":
        return rng.choice([{"type": "float", "low": 1, "high": 0}, {"type": "float", "low": 0, "high": 1, "log": True},
                           {"type": "float", "low": 1, "high": 2, "log": True, "step": 0.1},
                           {"type": "float", "low": 0, "high": 1, "step": -0.5}, {"type": "int", "low": 5, "high": 4},
                           {"type": "int", "low": 0, "high": 4, "log": True}, {"type": "categorical", "choices": []},
                           {"type": "int", "low": 1, "high": 4, "step": 2, "log": True}, {"type": "other"},
                           {"type": "int", "low": 1, "high": 4, "step": -1}])
    whole = {"type": "int", "low": rng.randrange(-1000, 1000), "high": rng.randrange(1000, 10**rng.randrange(4, 10))}
    if kind == "int log":
        return {"type": "int", "low": abs(whole["low"]) + 1, "high": whole["high"] + 1, "log": True}
    return whole | ({"step": rng.randrange(1, 50)} if kind == "int step" else {})


def check_distributions(rng):
    specs = [random_distribution(rng) for _ in range(RANDOM_DISTRIBUTIONS)]
    expected, lines = [], []
    for spec in specs:
        try:
            distribution = json_to_distribution(json.dumps(spec))
        except (ValueError, KeyError):
            expected.append(None)
            lines.append(json.dumps(spec))
            continue
        low, high = distribution.low, distribution.high
        values = [low, high, (low + high) / 2, rng.uniform(low, high), low - 1, high + (distribution.step or 1), 0.0]
        values.append(low + (distribution.step or 0) * rng.randrange(5))
        expected.append(f"{distribution_to_json(distribution)}\t{int(distribution.single())} "
                        + " ".join(str(int(distribution._contains(v))) for v in values))
        lines.append(json.dumps(spec) + "\t" + " ".join(map(repr, values)))
    ours = exchange("distributions", input="\n".join(lines) + "\n").splitlines()
    assert len(ours) == len(specs)
    for spec, want, have in zip(specs, expected, ours):
        assert have.startswith("-\t") if want is None else have == want, f"{spec}: {have}, not {want}"


def both_ways(rng, url, copy, directly, directly_copy):
    make(url, rng)
    check_dump(url, json.loads(exchange("dump", url)), directly)
    exchange("copy", url, copy)
    check_copies(url, copy)
    return lambda: (continues(copy), check_dump(copy, json.loads(exchange("dump", copy)), directly_copy))


def in_files(rng):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        optunas, ours = os.path.join(folder, "optuna.db"), os.path.join(folder, "ours.db")
        after = both_ways(rng, f"sqlite:///{optunas}", f"sqlite:///{ours}", *(sqlite3.connect(p).execute for p in (optunas, ours)))
        assert schema(optunas) == schema(ours)
        check_rows(ours)
        after()


def on_server(rng):
    with postgresql_server.running(databases=["optuna", "ours"]) as server:
        urls = [server.url(name, scheme="postgresql+psycopg2") for name in ("optuna", "ours")]
        after = both_ways(rng, *urls, *(lambda query, name=name: server.rows(name, query) for name in ("optuna", "ours")))
        assert server.schema("optuna") == server.schema("ours")
        after()


def main():
    rng = random.Random(SEED)
    print(f"seed {SEED}", flush=True)
    if ON_SERVER:
        on_server(rng)
    else:
        in_files(rng)
        check_distributions(rng)
    print(f"counts: {2 * RANDOM_TRIALS + 4} trials both ways, {0 if ON_SERVER else RANDOM_DISTRIBUTIONS} distributions")


main()
