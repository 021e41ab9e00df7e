"""Our TPE's densities against those of Optuna's TPESampler, from the same trials.

Studies are drawn at random: floats, logarithmic ones, ones with steps, whole numbers, with steps, logarithmic ones and
choices; trials that are COMPLETE, PRUNED (with and without reports, NaN among them), infeasible, FAIL, WAITING and
RUNNING (with parts of what they were promised); parameters that some trials lack; ties. For each the densities below and
above, and the acquisition, are compared at points of the whole space and at points drawn from Optuna's own estimator.
Optuna sorts by numpy's default sort, whose order of ties depends on the machine: here it is made stable.
Without the clip kernels on a logarithmic axis may be as narrow as 1e-12, where the last bits of log(), ours and numpy's,
decide: a point is left out where the two differ and Optuna's own figure moves as far once its logarithms move by BITS.
How many are left out is printed, and few are right.

What our TPE draws with a single candidate is a draw from below: its marginals are compared with Optuna's by Kolmogorov and
Smirnov's test. What it promises for a RUNNING trial is read by Optuna's sampler.

usage: tpe_oracle.py DRIVER
"""

import datetime
import functools
import json
import math
import os
import random
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../oracle"))
sys.path.insert(0, os.path.dirname(__file__))
import oracle_venv
from study_driver import Driver

with oracle_venv.imports("optuna"):
    import numpy
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution, distribution_to_json
    from optuna.samplers import TPESampler
    from optuna.samplers._tpe import parzen_estimator as tpe_parzen, sampler as tpe
    from optuna.trial import TrialState
    from scipy import stats

TOLERANCE = 1e-9
ROUNDING = 1e-14  # of a figure's size: without a prior and the clip logarithms reach -1e22
LONG = os.environ.get("PAPERTAPE_LONG") == "1"
STUDIES, POINTS = (300, 1000) if LONG else (40, 1000)
DRAWN_STUDIES, DRAWS = (20, 2000) if LONG else (1, 300)
BITS = 4  # of log(), units in the last place
LEFT_OUT = 1e-4  # at most, of all figures
UNLIKELY = 1e-5  # of one marginal; all is drawn from fixed seeds
UNSTABLE = numpy.argsort


def stable(array, axis=-1, kind=None, **rest):
    return UNSTABLE(array, axis=axis, kind="stable", **rest)


def draw_distribution(rng):
    kind = rng.randrange(7)
    if kind == 0:
        low = rng.choice([-5.0, 0.0, 0.1, -1e3])
        return FloatDistribution(low, low + rng.choice([1e-3, 1.0, 7.5, 2e3]))
    if kind == 1:
        low = 10 ** rng.uniform(-9, 0)
        return FloatDistribution(low, low * 10 ** rng.uniform(0.3, 6), log=True)
    if kind == 2:
        low, step = rng.choice([-1.0, 0.0, 0.25]), rng.choice([0.05, 0.25, 1.0])
        return FloatDistribution(low, low + step * rng.randrange(1, 60), step=step)
    if kind == 3:
        low = rng.randrange(-20, 20)
        return IntDistribution(low, low + rng.choice([1, 4, 16, 1024, 100_000]))
    if kind == 4:
        step = rng.choice([2, 32, 1000])
        return IntDistribution(0, step * rng.randrange(1, 80), step=step)
    if kind == 5:
        low = rng.randrange(1, 5)
        return IntDistribution(low, low + rng.choice([3, 60, 3000]), log=True)
    return CategoricalDistribution(rng.choice([["a", "b"], [2048, 4096, 8192, 16384], [None, True, 0.5, "x", 3], ["one", "two", "three"]]))


def draw_value(rng, distribution):
    """An internal value, within the outermost edges: Optuna's logarithms of the edge itself may differ in the last bit."""
    if isinstance(distribution, CategoricalDistribution):
        return float(rng.randrange(len(distribution.choices)))
    low, high = distribution.low, distribution.high
    if distribution.log:
        value = math.exp(rng.uniform(math.log(low) + 1e-9, math.log(high) - 1e-9))
    else:
        value = rng.uniform(low, high)
    step = distribution.step
    if step:
        value = low + round((value - low) / step) * step
        value = int(value) if isinstance(distribution, IntDistribution) else value
    return float(min(max(value, low), high))


def draw_params(rng, space, lacking, clumped):
    params = {}
    for name, distribution in space.items():
        if rng.random() < lacking:
            continue
        value = draw_value(rng, distribution)
        if rng.random() < clumped:  # ties
            value = draw_value(random.Random(name + str(rng.randrange(3))), distribution)
        params[name] = value
    return params


def draw_trial(rng, space, n_objectives, lacking, clumped, joint):
    state = rng.choices(list(TrialState), [2, 12, 5, 1, 1])[0]
    params = draw_params(rng, space, lacking, clumped)
    system, reports, values = {}, {}, None
    if state == TrialState.COMPLETE:
        values = [rng.choice([rng.gauss(0, 1), float(rng.randrange(3))]) for _ in range(n_objectives)]
        if rng.random() < 0.03:
            values[0] = rng.choice([math.inf, -math.inf]) if n_objectives == 1 else values[0]
    if n_objectives == 1 and (state == TrialState.PRUNED or rng.random() < 0.2):  # Optuna prunes one objective alone
        for step in range(rng.randrange(4)):
            reports[step * 3] = rng.choice([rng.gauss(0, 1), float(rng.randrange(2)), math.nan])
    if state.is_finished() and rng.random() < 0.3:
        if rng.random() < 0.5:
            system["constraints"] = [rng.choice([-1.0, 0.0, 0.5, rng.gauss(0, 1)]) for _ in range(2)]
        else:
            system["constraints:margin"] = rng.choice([-0.5, 0.25, rng.gauss(0, 1)])
    if state == TrialState.RUNNING and joint:
        promised = draw_params(rng, space, 0, clumped)
        text = json.dumps({name: space[name].to_external_repr(value) for name, value in promised.items()})
        cut = rng.choice([2045, 40, 7])
        pieces = [text[i : i + cut] for i in range(0, len(text), cut)]
        if rng.random() < 0.15:
            pieces = pieces[:-1]  # another worker is writing them
        system |= {f"tpe:relative_params:{i}": piece for i, piece in enumerate(pieces)}
        params = {name: value for name, value in params.items() if rng.random() < 0.6}
    if state == TrialState.WAITING:
        params = {}
    return state, params, values, reports, system


def theirs(study, space, trial):
    state, params, values, reports, system = trial
    now = datetime.datetime(2026, 1, 1)
    study.add_trial(
        optuna.trial.FrozenTrial(
            number=-1,
            trial_id=-1,
            state=state,
            value=None,
            values=values,
            datetime_start=None if state == TrialState.WAITING else now,
            datetime_complete=now if state.is_finished() else None,
            params={name: space[name].to_external_repr(value) for name, value in params.items()},
            distributions={name: space[name] for name in params},
            user_attrs={},
            system_attrs=system,
            intermediate_values=reports,
        )
    )


def ours(driver, space, trial):
    state, params, values, reports, system = trial
    driver.say(
        "trial",
        state=state.name,
        params={name: [distribution_to_json(space[name]), value] for name, value in params.items()},
        values=values or [],
        reports=[[step, value] for step, value in reports.items()],
        system={key: json.dumps(value) for key, value in system.items()},
    )


def points_of(rng, space, drawn):
    """Half of the whole space, half from the estimator, each also at an observation's place."""
    points = []
    for i in range(POINTS):
        if i % 2 == 0:
            points.append([draw_value(rng, distribution) for distribution in space.values()])
        else:
            points.append([float(drawn[name][i // 2]) for name in space])
    return points


def inside(space, points):
    """Off the outermost edges of floats, where a rounding decides between a density and none."""
    for point in points:
        for d, distribution in enumerate(space.values()):
            if isinstance(distribution, FloatDistribution) and not distribution.step:
                low, high = distribution.low, distribution.high
                margin = 1e-12 * (high - low) if not distribution.log else 1e-12 * point[d]
                point[d] = min(max(point[d], low + margin), high - margin)
    return points


def number(value):
    return float(value) if isinstance(value, (int, float)) else {"inf": math.inf, "-inf": -math.inf}.get(value, math.nan)


def moved(estimator, columns):
    """How far each figure of Optuna's moves with the last bits of the logarithms of what was observed."""
    mixture, figures = estimator._mixture_distribution, estimator.log_pdf(columns)
    most = numpy.zeros(len(figures))
    for sign in (-1, 1):
        distributions = []
        for d in mixture.distributions:
            if getattr(d, "is_log", False):
                bits = sign * BITS * numpy.spacing(max(abs(d.adapted_low), abs(d.adapted_high)))
                sigma = numpy.where(d.sigma > tpe_parzen.EPS, numpy.maximum(d.sigma + bits, tpe_parzen.EPS), d.sigma)
                d = d._replace(mu=d.mu + bits, sigma=sigma)
            distributions.append(d)
        other = mixture._replace(distributions=distributions).log_pdf(estimator._transform(columns))
        most = numpy.fmax(most, numpy.abs(other - figures))
    return most


class Worst:
    def __init__(self):
        self.difference, self.count, self.left_out = 0.0, 0, 0

    def compare(self, what, got, wanted, where, unsure):
        """unsure(): how far each of the wanted figures moves with log(); asked for where something differs."""
        for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
            difference = 0.0 if a == b else abs(a - b)
            if not difference <= TOLERANCE + ROUNDING * abs(b):
                if difference <= unsure()[i]:
                    self.left_out += 1
                    continue
                raise AssertionError(f"{what} at point {i} of {where}: ours {a!r}, Optuna's {b!r}")
            if abs(b) < 1e6:
                self.difference = max(self.difference, difference)
            self.count += 1


def compare_space(driver, study, sampler, number_of_trial, space, rng, worst, where):
    trials = [t for t in study.get_trials(deepcopy=False) if t.state in (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)]
    trials = [t for t in trials if t.number != number_of_trial]
    finished = sum(t.state != TrialState.RUNNING for t in trials)
    gamma = tpe.default_gamma if len(study.directions) == 1 else tpe.default_gamma_multiobjective
    below_trials, above_trials = tpe._split_trials(study, trials, gamma(finished))
    below = sampler._build_parzen_estimator(study, space, below_trials, handle_below=True)
    above = sampler._build_parzen_estimator(study, space, above_trials, handle_below=False)
    drawn = below.sample(numpy.random.RandomState(rng.randrange(2**31)), POINTS // 2)
    points = inside(space, points_of(rng, space, drawn))
    columns = {name: numpy.array([point[d] for point in points]) for d, name in enumerate(space)}
    answer = driver.ask(
        "densities",
        number=number_of_trial,
        space={name: distribution_to_json(distribution) for name, distribution in space.items()},
        points=points,
    )
    log_below, log_above = below.log_pdf(columns), above.log_pdf(columns)
    got_below, got_above = ([number(x) for x in answer[side]] for side in ("below", "above"))
    unsure_below, unsure_above = functools.cache(lambda: moved(below, columns)), functools.cache(lambda: moved(above, columns))
    worst.compare("below", got_below, log_below, where, unsure_below)
    worst.compare("above", got_above, log_above, where, unsure_above)
    finite = [i for i in range(POINTS) if math.isfinite(log_below[i]) and math.isfinite(log_above[i])]
    got, wanted = [got_below[i] - got_above[i] for i in finite], [log_below[i] - log_above[i] for i in finite]
    worst.compare("acquisition", got, wanted, where, lambda: (unsure_below() + unsure_above())[finite])


def compare_study(driver, seed, worst):
    rng = random.Random(seed)
    n_objectives = 1 if rng.random() < 0.8 else rng.randrange(2, 5)
    space = {f"p{i}": draw_distribution(rng) for i in range(rng.randrange(1, 9))}
    n = rng.choice([0, 1, 2, 3, 11, 26, 27, 60, 150, 400])
    joint = n_objectives == 1 and rng.random() < 0.7
    lacking, clumped = rng.choice([0, 0, 0.02, 0.3]), rng.choice([0, 0.2, 0.9])
    options = {"multivariate": joint}
    if rng.random() < 0.3:
        options |= {"prior_weight": rng.choice([0.0, 0.5, 3.0]), "consider_magic_clip": rng.random() < 0.5, "consider_endpoints": rng.random() < 0.5}
    group = joint and rng.random() < 0.3
    directions = [rng.choice(["minimize", "maximize"]) for _ in range(n_objectives)]
    where = f"study {seed}: {n} trials, {n_objectives} objectives, {len(space)} parameters, {options}"
    sampler = TPESampler(seed=1, group=group, **options)
    study = optuna.create_study(directions=directions, sampler=sampler)
    driver.say("study", directions=[d.upper() for d in directions], space={}, tpe={k: float(v) for k, v in (options | {"group": group}).items()}, seed=1)
    for _ in range(n + 1):
        trial = draw_trial(rng, space, n_objectives, lacking, clumped, joint)
        theirs(study, space, trial)
        ours(driver, space, trial)
    asked = max((t.number for t in study.trials if t.state == TrialState.RUNNING), default=-1)
    trial = study.trials[asked]
    wanted = sampler.infer_relative_search_space(study, trial)
    spaces = driver.ask("spaces")
    got = {name: text for one in spaces for name, text in one.items()}
    if joint:
        assert got == {name: distribution_to_json(d) for name, d in wanted.items()}, f"{where}: joint space {got}, Optuna's {wanted}"
    if group:
        groups = [sorted(k for k, d in one.items() if not d.single()) for one in sampler._search_space_group.search_spaces]
        assert sorted(g for g in groups if g) == sorted(sorted(one) for one in spaces), f"{where}: groups {spaces}"
    if joint:
        names = rng.sample(sorted(space), rng.randrange(1, len(space) + 1))
        compare_space(driver, study, sampler, asked, dict(sorted((k, space[k]) for k in names)), rng, worst, where + " joint")
    for name in rng.sample(sorted(space), min(2, len(space))):
        compare_space(driver, study, sampler, asked, {name: space[name]}, rng, worst, f"{where} {name}")


def compare_draws(driver, seed):
    """Every parameter of what many trials would be given with one candidate; and the promise of the last."""
    rng = random.Random(seed)
    space = {f"p{i}": draw_distribution(rng) for i in range(8)}
    space = {name: distribution for name, distribution in space.items() if not distribution.single()}
    study = optuna.create_study()
    sampler = TPESampler(seed=seed, multivariate=True)
    texts = {name: distribution_to_json(distribution) for name, distribution in space.items()}
    driver.say("study", directions=["MINIMIZE"], space=texts, tpe={"n_ei_candidates": 1}, seed=seed)
    n, finished = rng.choice([12, 60, 300]), 0
    while n > 0 or finished < 10:  # with fewer all is drawn at random
        trial = draw_trial(rng, space, 1, 0, 0.2, False)
        n, finished = n - 1, finished + (trial[0] in (TrialState.COMPLETE, TrialState.PRUNED))
        theirs(study, space, trial)
        ours(driver, space, trial)
    trials = [t for t in study.get_trials(deepcopy=False) if t.state in (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)]
    below_trials, _ = tpe._split_trials(study, trials, tpe.default_gamma(sum(t.state != TrialState.RUNNING for t in trials)))
    below = sampler._build_parzen_estimator(study, space, below_trials, handle_below=True)
    wanted = below.sample(numpy.random.RandomState(seed), 2 * DRAWS)
    samples = [driver.ask("sample", number=len(study.trials) + i) for i in range(DRAWS)]
    for d, name in enumerate(space):
        got = numpy.array([sample["values"][d] for sample in samples])
        chance = stats.ks_2samp(got, wanted[name]).pvalue
        assert chance > UNLIKELY, f"draws of study {seed}, {name} {space[name]}: ours are Optuna's with chance {chance:.2g}"
    promised = {name: space[name].to_external_repr(samples[-1]["values"][d]) for d, name in enumerate(space)}
    system = {f"tpe:relative_params:{i}": piece for i, piece in enumerate(samples[-1]["promise"])}
    theirs(study, space, (TrialState.RUNNING, {}, None, {}, system))
    read = sampler._get_params(study.trials[-1], study)
    assert read == promised, f"study {seed}: Optuna reads {read}, promised were {promised}"


def main():
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    numpy.argsort = stable
    numpy.seterr(all="ignore")
    worst = Worst()
    first = int(os.environ.get("PAPERTAPE_SEED", "0"))
    with Driver(sys.argv[1]) as driver:
        for seed in range(first, first + STUDIES):
            compare_study(driver, seed, worst)
        for seed in range(first, first + DRAWN_STUDIES):
            compare_draws(driver, seed)
    print(f"optuna {optuna.__version__}: {STUDIES} studies, {worst.count} figures, the worst differs by {worst.difference:.2e}; "
          f"left out, where the last bits of log() decide: {worst.left_out}")
    assert worst.count > STUDIES * POINTS and worst.left_out <= LEFT_OUT * worst.count


if __name__ == "__main__":
    main()
