"""Compares the metrics with empyrical-reloaded: python3 metrics_oracle.py COLUMNS_PROGRAM

Generated series always, degenerate ones among them; real closes from $PAPERTAPE_SHARED/data/bars where they are. NaN and
infinities must be equal, numbers within 1e-12 of empyrical's, relative to themselves, plus what ABSOLUTE allows.
Short series of returns must have empyrical's very bits. Drawdown periods are held to a plain scan of the drawdown series.
Wants empyrical-reloaded from the venv in $PAPERTAPE_VENV; exits 77 without it. PAPERTAPE_SEED pins the seeds' base.
"""

import csv
import datetime
import glob
import gzip
import json
import os
import struct
import subprocess
import sys
import warnings

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("empyrical-reloaded"):
    import bottleneck
    import empyrical
    import numpy as np
    import pandas as pd
    import scipy.stats

warnings.simplefilter("ignore")
np.seterr(all="ignore")

PROGRAM = sys.argv[1]
LONG = "PAPERTAPE_LONG" in os.environ
SEED = int(os.environ.get("PAPERTAPE_SEED", "6"), 0)
RELATIVE = 1e-12


def growth_within(returns, periods):
    """Up to PRODUCT_ROWS, CAGR has empyrical's bits."""
    return 1e-12 * max(1, periods / len(returns)) if len(returns) > PRODUCT_ROWS else 0


# What a number may differ by in addition, where it is a difference of what is larger. Growth less 1 is one of numbers about 1,
# to the power of the runs that a year holds, and Calmar is that over the drawdown;
# the moments are those of returns with deviation 1; a mean is one of numbers as large as the deviation.
ABSOLUTE = {
    "total_return": lambda returns, periods: 1e-12,
    "cagr": lambda returns, periods: growth_within(returns, periods),
    "calmar": lambda returns, periods: growth_within(returns, periods) / abs(empyrical.max_drawdown(returns) or 1),
    "skew": lambda returns, periods: 1e-12,
    "kurtosis": lambda returns, periods: 1e-12,
    "stability": lambda returns, periods: 1e-12,
    "alpha": lambda returns, periods: 1e-12,
    "beta": lambda returns, periods: 1e-12,
    "mean": lambda returns, periods: 1e-15 * np.nanstd(returns),
    "sharpe": lambda returns, periods: 1e-12,
    "sortino": lambda returns, periods: 1e-12,
}
EXACT_ROWS = 8192  # metrics.h
PRODUCT_ROWS = 32768  # metrics/lanes.c
FEW_ROWS = 2000
BITS = "total_return cagr volatility downside sharpe sortino max_drawdown calmar omega mean best worst".split()
MINUTE, HOUR, DAY = 60 * 10**9, 3600 * 10**9, 86400 * 10**9
YEAR = 365 * DAY
failures = []


def column(function, *arguments, **keywords):
    """NaN where empyrical raises: of nothing, or of NaN alone."""
    try:
        return float(function(*arguments, **keywords))
    except (ValueError, IndexError):
        return np.nan


def is_level(returns):
    """After the first return none: no line's share of nothing. The mean's rounding makes empyrical say 0, or NaN."""
    present = returns[~np.isnan(returns)]
    return not present[1:].any()


def expect(returns, benchmark, periods):
    years = {"annualization": periods}
    at = lambda function, *rest, **more: column(getattr(empyrical, function), returns, *rest, **more)
    none = len(returns) == 0
    alpha, beta = empyrical.alpha_beta_aligned(returns, benchmark, **years) if not none else (np.nan, np.nan)
    return {
        "total_return": at("cum_returns_final"),
        "cagr": at("cagr", **years),
        "volatility": at("annual_volatility", **years),
        "downside": at("downside_risk", **years),
        "sharpe": at("sharpe_ratio", **years),
        "sortino": at("sortino_ratio", **years),
        "max_drawdown": at("max_drawdown"),
        "calmar": at("calmar_ratio", **years),
        "omega": at("omega_ratio"),
        "skew": column(scipy.stats.skew, returns),
        "kurtosis": column(scipy.stats.kurtosis, returns),
        "mean": column(bottleneck.nanmean, returns),
        "best": column(bottleneck.nanmax, returns),
        "worst": column(bottleneck.nanmin, returns),
        "value_at_risk": at("value_at_risk"),
        "conditional_value_at_risk": at("conditional_value_at_risk"),
        "tail_ratio": at("tail_ratio"),
        "stability": np.nan if is_level(returns) else at("stability_of_timeseries"),
        "alpha": alpha,
        "beta": beta if len(returns) > 1 else np.nan,
    }


def expect_table(returns, first_ns, interval_ns, period):
    """[year, month, return]; empyrical's aggregate_returns() looks at each row, so only where there are few."""
    whole = period == "yearly"
    times = (first_ns + np.arange(len(returns)) * interval_ns).astype("datetime64[ns]")
    months = times.astype("datetime64[Y]" if whole else "datetime64[M]")
    table = []
    for month in np.unique(months):
        total = empyrical.cum_returns_final(returns[months == month])
        table.append([int(str(month)[:4]), 0 if whole else int(str(month)[5:]), total])
    if 0 < len(returns) <= FEW_ROWS:
        index = pd.to_datetime(times).tz_localize("UTC")
        totals = empyrical.aggregate_returns(pd.Series(returns, index=index), period)
        keys = [list(key) if isinstance(key, tuple) else [key, 0] for key in totals.keys()]
        assert keys == [row[:2] for row in table] and np.array_equal(totals, [row[2] for row in table], equal_nan=True)
    return table


def expect_drawdowns(values, start, count):
    """[first, trough, end, depth]; `values` after each row."""
    found, peak, under = [], start, None
    for row, value in enumerate(values):
        if value >= peak:
            if under:
                found.append([*under[:2], row, (under[2] - peak) / peak])
            peak, under = value, None
        elif not under:
            under = [row, row, value]
        elif value < under[2]:
            under[1:] = row, value
    if under:
        found.append([*under[:2], len(values), (under[2] - peak) / peak])
    return sorted(found, key=lambda drawdown: drawdown[3])[:count]


def near(got, expected, absolute):
    got, expected = float(got), float(expected)
    if not np.isfinite(expected):
        return got == expected or (np.isnan(got) and np.isnan(expected))
    return abs(got - expected) <= RELATIVE * abs(expected) + absolute


class Case:
    def __init__(self, label, values, others, start=None, periods=365.0, first_ns=1_699_920_000 * 10**9, interval_ns=None):
        self.label, self.values, self.others, self.start = label, np.asarray(values, float), np.asarray(others, float), start
        self.periods, self.first_ns = periods, first_ns
        self.interval_ns = interval_ns or (DAY if len(self.values) <= FEW_ROWS else HOUR)

    def returns(self, values):
        if self.start is None:
            return values
        return empyrical.simple_returns(np.concatenate([[self.start], values]))

    def write(self, file):
        kind, start = ("returns", 0.0) if self.start is None else ("equity", self.start)
        head = f"{kind} {len(self.values)} {float(start)!r} {float(self.periods)!r} {self.first_ns} {self.interval_ns}\n"
        file.write(head.encode())
        file.write(self.values.tobytes())
        file.write(self.others.tobytes())

    def fail(self, text):
        failures.append(f"{self.label}: {text}")

    def check(self, got, worst):
        returns, benchmark = self.returns(self.values), self.returns(self.others)
        exact = self.start is None or len(returns) <= EXACT_ROWS
        for name, expected in expect(returns, benchmark, self.periods).items():
            absolute = ABSOLUTE[name](returns, self.periods) if name in ABSOLUTE else 0.0
            same = got[name] == expected or (np.isnan(got[name]) and np.isnan(expected))
            bits = exact or (name in ("total_return", "cagr") and len(returns) <= PRODUCT_ROWS)
            if name in BITS and bits and not same:
                self.fail(f"{name}: {got[name]!r}, not {expected!r}, to the bit")
            elif not near(got[name], expected, absolute):
                self.fail(f"{name}: {got[name]!r}, not {expected!r}")
            elif not same:
                worst[name] = max(worst.get(name, 0), abs(got[name] - expected) / max(abs(expected), 1e-300))
        self.check_tables(got, returns)
        if self.label.startswith("degenerate"):
            return
        values = self.values if self.start is not None else empyrical.cum_returns(returns, 1) if len(returns) else []
        expected = expect_drawdowns(values, 1.0 if self.start is None else self.start, 5)
        seen = [[d["first"], d["trough"], d["end"], d["depth"]] for d in got["drawdowns"]]
        if [d[:3] for d in seen] != [d[:3] for d in expected] or not all(near(a[3], b[3], 1e-14) for a, b in zip(seen, expected)):
            self.fail(f"drawdowns: {seen}, not {expected}")

    def check_tables(self, got, returns):
        for name, period in (("months", "monthly"), ("years", "yearly")):
            expected = expect_table(returns, self.first_ns, self.interval_ns, period)
            if [[row["year"], row["month"]] for row in got[name]] != [row[:2] for row in expected]:
                self.fail(f"{name}: other months than {[row[:2] for row in expected]}")
                continue
            for row, (_, _, value) in zip(got[name], expected):
                if not near(row["return"], value, 1e-12):
                    self.fail(f"{name}: {row}, not {value!r}")
            if sum(row["rows"] for row in got[name]) != len(returns):
                self.fail(f"{name}: their rows are not all")


def random_cases():
    sizes = [0, 1, 2, 3, 7, 8, 9, 127, 128, 129, 130, 1000, 8191, 8192, 8193, 8320, 20000, 100_000]
    for seed in range(SEED, SEED + (12 if LONG else 2)):
        rng = np.random.default_rng(seed)
        for n in sizes:
            benchmark = rng.normal(0.0002, 0.01, n)
            plain = 0.7 * benchmark + rng.normal(0.0001, 0.008, n)
            tails = rng.standard_t(3, n) * 1e-3
            gaps = np.where(rng.random(n) < 0.1, np.nan, plain)
            yield Case(f"normal, seed {seed}, {n}", plain, benchmark)
            yield Case(f"heavy tails, seed {seed}, {n}", np.maximum(tails, -0.9), benchmark, periods=365 * 24.0, interval_ns=HOUR)
            yield Case(f"with NaN, seed {seed}, {n}", gaps, np.where(rng.random(n) < 0.1, np.nan, benchmark))
            if n > 0:
                curve, other = 1e4 * np.cumprod(1 + plain / 10), 1e4 * np.cumprod(1 + benchmark / 10)
                flat = 1e4 * np.cumprod(1 + np.where(np.arange(n) // 300 % 2, plain / 10, 0))
                yield Case(f"equity, seed {seed}, {n}", curve, other, 1e4, 365 * 1440.0, interval_ns=MINUTE)
                yield Case(f"equity, often flat, seed {seed}, {n}", flat, other, 1e4, 365 * 24.0, interval_ns=HOUR)
                yield Case(f"equity in cents, seed {seed}, {n}", np.round(curve, 2), other, 1e4)
                if seed == SEED:
                    rising = 1e4 * np.cumprod(1 + np.abs(plain) / 10)
                    yield Case(f"equity that only rises, {n}", rising, other, 1e4)
                    yield Case(f"equity that only falls, {n}", 1e8 / rising, other, 1e4)


def degenerate_cases():
    nan, inf = np.nan, np.inf
    series = {
        "zeros": [0.0] * 9,
        "negative zeros": [-0.0, 0.0, -0.0],
        "all NaN": [nan] * 5,
        "one NaN": [nan],
        "one number and NaN": [nan, 0.01, nan],
        "-100 %": [0.1, -1.0, 0.2, 0.3],
        "-100 % at once": [-1.0],
        "below -100 %": [0.1, -1.5, 0.2, -0.3, -2.0],
        "infinite": [0.1, inf, -0.2, 0.1],
        "minus infinite": [0.1, -inf, 0.2],
        "both infinities": [inf, -inf, 0.1],
        "huge": [1e300, 1e300, -0.5],
        "tiny": [1e-310, -1e-310, 3e-310],
        "near equal": [0.01, 0.01 + 2e-18, 0.01],
        "two kinds": [0.01, -0.01] * 50,
        "one gain": [0.0] * 8 + [0.5],
        "one loss": [0.0] * 8 + [-0.5],
        "losing": -np.linspace(0.001, 0.02, 40),
        "winning": np.linspace(0.001, 0.02, 40),
        "repeated": np.repeat([0.01, -0.02, 0.03, 0.03, -0.02], 30),
    }
    for constant in (0.001, -0.001, 0.1, -0.3, 1e-9, 3e-17):
        for n in (1, 2, 9, 129, 1000, 9000, 20000):
            series[f"all {constant}, {n}"] = np.full(n, constant)
    for name, values in series.items():
        values = np.asarray(values, float)
        rng = np.random.default_rng(len(values))
        yield Case(f"degenerate: {name}", values, rng.normal(0, 0.01, len(values)))
        yield Case(f"degenerate: {name}, against itself", values, values)
        yield Case(f"degenerate: {name}, against nothing", values, np.zeros(len(values)))
    curves = {
        "flat": [100.0] * 20,
        "lost": [50.0, 0.0, 0.0, 0.0],
        "lost and found": [50.0, 0.0, 10.0],
        "in debt": [50.0, -10.0, -20.0, 5.0],
        "NaN": [101.0, nan, 103.0, 104.0],
        "infinite": [101.0, inf, 103.0],
        "doubling": 100.0 * 2.0 ** np.arange(1, 30),
        "halving": 100.0 * 0.5 ** np.arange(1, 30),
    }
    rng = np.random.default_rng(1)
    walk = 100 * np.cumprod(1 + rng.normal(0, 0.001, 20000))
    for name, at, value in (("a zero", 9000, 0.0), ("a NaN", 15000, nan), ("an infinity", 19999, inf), ("a debt", 100, -5.0)):
        curves[f"long with {name}"] = np.where(np.arange(20000) == at, value, walk)
    curves["long and flat"] = np.full(20000, 100.0)
    curves["long and flat, off its start"] = np.full(20000, 101.0)
    curves["long, flat except one row"] = np.where(np.arange(20000) == 12345, 90.0, 100.0)
    curves["long, doubling by 2^-20"] = 100.0 * (1 + 2.0**-20) ** np.arange(1, 20001)
    for name, values in curves.items():
        values = np.asarray(values, float)
        yield Case(f"degenerate equity: {name}", values, 100 * np.cumprod(1 + rng.normal(0, 0.01, len(values))), 100.0)


def calendar_cases():
    rng = np.random.default_rng(SEED)
    for year, interval, n in ((1969, DAY, 800), (1999, DAY, 2000), (2023, HOUR, 9000), (2023, MINUTE, 100_000), (1899, 7 * DAY, 1700)):
        first = int(datetime.datetime(year, 11, 5, 3, tzinfo=datetime.timezone.utc).timestamp()) * 10**9
        returns = rng.normal(0.0001, 0.002, n)
        yield Case(f"calendar of {year}", returns, returns, first_ns=first, interval_ns=interval)
        yield Case(f"calendar of {year}, equity", np.cumprod(1 + returns), np.cumprod(1 + returns), 1.0, first_ns=first, interval_ns=interval)


def real_cases():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared")
    folder = os.path.join(os.environ.get("PAPERTAPE_SHARED", beside), "data/bars")
    files = sorted(glob.glob(os.path.join(folder, "*.csv.gz")))
    files = files if LONG else files[::8]
    print(f"counts: {12 if LONG else 2} seeds, {len(files)} files of real bars in {folder} (PAPERTAPE_LONG: 12, all)")
    before = None
    for path in files:
        with gzip.open(path, "rt", newline="") as file:
            rows = csv.reader(file)
            place = [name.strip().lower() for name in next(rows)].index("close")
            closes = np.array([float(row[place]) for row in rows])
        other = closes if before is None else np.resize(before, len(closes))
        before = closes
        yield Case(os.path.basename(path), closes[1:], other[1:], closes[0], 365 * 288.0, interval_ns=5 * MINUTE)


def main():
    cases = [*random_cases(), *degenerate_cases(), *calendar_cases(), *real_cases()]
    worst = {}
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        for case in cases:
            case.write(program.stdin)
            program.stdin.flush()
            line = program.stdout.readline()
            if not line:
                case.fail("the program gave no answer")
                break
            case.check(json.loads(line), worst)
        program.stdin.close()
    if program.returncode != 0:
        failures.append(f"the program ended with status {program.returncode}")
    for failure in failures[:40]:
        print(f"FAILED: {failure}", file=sys.stderr)
    print("largest relative differences: " + ", ".join(f"{name} {value:.1e}" for name, value in sorted(worst.items())))
    print(f"PAPERTAPE_SEED={SEED}: {len(cases)} series, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
