"""Does our TPE search as well as Optuna's? Five standard functions, many seeds, the best value that each run found.

The runs of two searchers on one function are compared by the Mann-Whitney test. Were both alike, the five squares of its normal
deviates would be chi-squared with five degrees of freedom: that is rejected at ALPHA. Functions do not compensate for each other. The
same test must reject our TPE where gamma is broken on purpose (nine tenths of the trials are called good), and must find our TPE
better than random on every function (one-sided, ALPHA). All is drawn from fixed seeds, so that the outcome is always the same.

usage: tpe_race.py DRIVER
"""

import math
import os
import sys
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../oracle"))
sys.path.insert(0, os.path.dirname(__file__))
import oracle_venv
from study_driver import Driver

with oracle_venv.imports("optuna"):
    import numpy
    import optuna
    from optuna.distributions import FloatDistribution, distribution_to_json
    from scipy import stats

ALPHA = 0.01
LONG = os.environ.get("PAPERTAPE_LONG") == "1"
TRIALS, OPTUNA_SEEDS = (100, 30) if LONG else (40, 4)
OUR_SEEDS = 30  # ours take milliseconds
BROKEN = {"gamma_share": 0.9, "gamma_most": 1e6}


def sphere(x):
    return sum(v * v for v in x)


def rosenbrock(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def ackley(x):
    squares, waves = sum(v * v for v in x) / len(x), sum(math.cos(2 * math.pi * v) for v in x) / len(x)
    return -20 * math.exp(-0.2 * math.sqrt(squares)) - math.exp(waves) + 20 + math.e


def branin(x):
    u, v = x
    return (v - 5.1 / (4 * math.pi**2) * u * u + 5 / math.pi * u - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(u) + 10


HARTMANN_A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
HARTMANN_P = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
]


def hartmann(x):
    rows = zip([1.0, 1.2, 3.0, 3.2], HARTMANN_A, HARTMANN_P)
    return -sum(c * math.exp(-sum(a * (v - p) ** 2 for a, v, p in zip(row, x, centre))) for c, row, centre in rows)


FUNCTIONS = {
    "sphere": (sphere, [(-5.12, 5.12)] * 5),
    "rosenbrock": (rosenbrock, [(-2.048, 2.048)] * 4),
    "ackley": (ackley, [(-32.768, 32.768)] * 5),
    "branin": (branin, [(-5.0, 10.0), (0.0, 15.0)]),
    "hartmann": (hartmann, [(0.0, 1.0)] * 6),
}


def space_of(ranges):
    return {f"x{i}": FloatDistribution(low, high) for i, (low, high) in enumerate(ranges)}


def theirs(function, ranges, seed):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    space = space_of(ranges)
    for _ in range(TRIALS):
        trial = study.ask(space)
        study.tell(trial, function([trial.params[name] for name in space]))
    return study.best_value


def ours(driver, function, ranges, seed, sampler, options):
    space = {name: distribution_to_json(d) for name, d in space_of(ranges).items()}
    driver.say("study", directions=["MINIMIZE"], sampler=sampler, seed=seed, tpe=options, space=space)
    best = math.inf
    for _ in range(TRIALS):
        asked = driver.ask("ask")
        value = function(asked["values"])
        driver.say("finish", number=asked["number"], state="COMPLETE", values=[value])
        best = min(best, value)
    return best


def chance(ones, others):
    """That the five pairs are each of one distribution."""
    squares = 0.0
    for a, b in zip(ones, others, strict=True):
        p = stats.mannwhitneyu(a, b, alternative="two-sided", method="asymptotic").pvalue
        squares += stats.norm.isf(p / 2) ** 2
    return stats.chi2.sf(squares, len(ones))


def main():
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    runs = {}
    with Driver(sys.argv[1]) as driver:
        for who, sampler, options in (("ours", "tpe", {}), ("broken", "tpe", BROKEN), ("random", "random", {})):
            runs[who] = [[ours(driver, f, ranges, seed, sampler, options) for seed in range(OUR_SEEDS)] for f, ranges in FUNCTIONS.values()]
    started = time.monotonic()
    runs["Optuna"] = [[theirs(f, ranges, seed) for seed in range(OPTUNA_SEEDS)] for f, ranges in FUNCTIONS.values()]
    print(f"optuna {optuna.__version__}: {TRIALS} trials, {OPTUNA_SEEDS} seeds of Optuna's in {time.monotonic() - started:.1f} s, {OUR_SEEDS} of ours")
    for i, name in enumerate(FUNCTIONS):
        print(f"  {name:10}", *(f"{who} {numpy.median(values[i]):9.4g}" for who, values in runs.items()))
    alike, broken = chance(runs["ours"], runs["Optuna"]), chance(runs["broken"], runs["Optuna"])
    random = [stats.mannwhitneyu(a, b, alternative="less").pvalue for a, b in zip(runs["ours"], runs["random"])]
    print(f"  chance of ours and Optuna's {alike:.3g}, of the broken one and Optuna's {broken:.3g}; of random, each {max(random):.3g} at most")
    assert alike > ALPHA, "our TPE's best values are distinguishable from Optuna's"
    assert broken < ALPHA, "the test does not see a gamma that is broken"
    assert max(random) < ALPHA, "our TPE is no better than random"


if __name__ == "__main__":
    main()
