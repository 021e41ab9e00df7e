"""Compares every strategy's intents with rules written from docs/strategies.md: python3 compare.py INTENTS_PROGRAM
ROUNDS_PROGRAM STRATEGIES_MD

The rules (rules.py, on NumPy's and TA-Lib's indicators) trade an account of their own; the program is shown the same
bars and the same account, and must want the same at the same bars: kinds, reasons and times equal, prices and fractions
within 1e-9. On random bars with gaps and flat stretches, and on real ones from $PAPERTAPE_SHARED/data/bars where they
are. Wants TA-Lib and NumPy from the venv in $PAPERTAPE_VENV; exits 77 without it. PAPERTAPE_SEED pins the seed.
"""

import csv
import datetime
import gzip
import os
import re
import subprocess
import sys
import zoneinfo

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("TA-Lib"):
    import numpy as np
    from account import Account
    from indicators import MINUTE_NS
    import together
    from rules import RULES

RELATIVE = 1e-9
PROGRAM, ROUNDS_PROGRAM, PAGE = sys.argv[1:4]
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../strategy/strategies.h")
LONG = "PAPERTAPE_LONG" in os.environ
NAMES = ["open", "high", "low", "close", "volume"]
# Bars of parameters in random runs: short enough to trade often.
SHORT = {"fast": (1, 12), "mid": (13, 20), "slow": (21, 40), "rsi": (2, 20), "atr": (2, 20), "period": (2, 20),
         "macd_fast": (2, 12), "macd_slow": (13, 30), "macd_signal": (2, 12), "trend": (1, 60), "every": (0, 300),
         "start": (0, 1439), "length": (200, 1440), "range": (5, 90), "late": (0, 100), "limit_minutes": (1, 600),
         "losses_max": (0, 4), "pause_hours": (1, 48), "positions_max": (1, 4), "lookback": (1, 40),
         "hold": (1, 6)}  # fmt: skip
# Others: near enough to their defaults to matter.
REAL = {"rsi_max": (60, 100), "rsi_min": (20, 55), "stoch_max": (60, 101), "stop_atr": (0.1, 4), "profit_atr": (0, 6),
        "trail_atr": (0, 4), "risk": (0.001, 0.1), "fraction_max": (0.1, 1), "limit_atr": (0, 1), "fraction": (0.1, 1),
        "drift": (0, 0.1), "volume": (0, 1.5), "profit_risk": (0, 3), "enter": (1, 2.5), "leave": (0, 0.9),
        "stop": (0, 4), "hedge": (0.5, 1.5)}  # fmt: skip
failures = []


def documented():
    """{strategy: {parameter: (default, min, max)}} from the page's tables; of one with words (default, words)."""
    strategies, name = {}, None
    for line in open(PAGE, encoding="utf-8"):
        if line.startswith("### "):
            name = line[4:].strip()
        row = re.match(r"\| `(\w+)` \| (\S+) \| (\S+) to (\S+) \|", line)
        if row:
            strategies.setdefault(name, {})[row[1]] = tuple(float(row[k]) for k in (2, 3, 4))
        row = re.match(r"\| `(\w+)` \| (\w+) \| (\w+(?: or \w+)+) \|", line)
        if row:
            strategies.setdefault(name, {})[row[1]] = (row[2], row[3].split(" or "))
    return strategies


def lacking(name, params):
    """What this folder lacks of a documented strategy."""
    here = "tests/strategy/oracle"
    if name not in RULES and name not in together.TOGETHER:
        yield (
            f"{name}: {here}/rules.py has no rule of it: a class, and its line in RULES; of one that is called once for "
            f"all symbols together.py, TOGETHER"
        )
    for param, (default, *_) in params.items():
        if param not in SHORT and param not in REAL and not isinstance(default, str):
            kind = "SHORT (bars)" if default == int(default) else "REAL"
            yield f"{name}: its parameter {param} has no range of random values in {here}/compare.py: a line in {kind}"


def missing(table):
    with open(LIST, encoding="utf-8") as file:
        names = {name.replace("_", "-") for name in re.findall(r"^    X\((\w+)\)", file.read(), re.M)}
    if not names:
        yield f"{LIST}: no strategy is found in it"
    for name in sorted(names | set(RULES) | set(together.TOGETHER)):
        if name not in table:
            yield f"{name}: docs/strategies.md has no section \"### {name}\" with a table of its parameters"
    for name, params in sorted(table.items()):
        if name not in names:
            yield f"{name}: docs/strategies.md documents it, and strategy/strategies.h does not list it"
        yield from lacking(name, params)


def random_params(random, table):
    while True:
        p = {}
        for name, (default, *bounds) in table.items():
            if isinstance(default, str):
                p[name] = bounds[0][int(random.integers(0, len(bounds[0])))]
                continue
            least, most = bounds
            if name in SHORT:
                p[name] = float(random.integers(SHORT[name][0], SHORT[name][1] + 1))
            else:
                low, high = REAL[name]
                p[name] = default if random.random() < 0.3 else float(np.round(random.uniform(low, high), 4))
                if low == 0 and random.random() < 0.2:
                    p[name] = 0.0
            p[name] = min(max(p[name], least), most)
        if p.get("stop", 0) > 0 and p["stop"] <= p["enter"]:
            continue
        if p.get("rsi_min", 0) < p.get("rsi_max", 1) and p.get("range", 0) + p.get("late", 0) < p.get("length", 1):
            return p


def walk(random, n, interval_ns):
    """Bars on a tick of 0.01, from a time that is no round one, with gaps, stretches that do not move and trends."""
    moves = random.normal(0, 0.004, n)
    for begin in range(0, n, 600):
        moves[begin : begin + 600] += random.normal(0, 0.0008)
    for _ in range(n // 800):
        at = int(random.integers(0, n - 30))
        moves[at : at + int(random.integers(5, 30))] = 0
    close = np.round(200 * np.exp(np.cumsum(moves)), 2)
    open_ = np.concatenate([[200.0], close[:-1]])
    still = (moves == 0) & (open_ == close)
    spread = np.where(still, 0, np.abs(random.normal(0, 0.4, (2, n))))
    high = np.round(np.maximum(open_, close) + spread[0], 2)
    low = np.round(np.maximum(np.minimum(open_, close) - spread[1], 0.01), 2)
    begin = 1_700_000_000 * 10**9 // interval_ns + int(random.integers(0, 1000))
    bars = {"open_ns": (begin + np.arange(n)) * interval_ns, "open": open_, "high": high, "low": low, "close": close,
            "volume": np.round(random.exponential(10, n), 3)}  # fmt: skip
    there = random.random(n) > 0.01
    for _ in range(3):
        at = int(random.integers(0, n))
        there[at : at + int(random.integers(10, 200))] = False
    return {name: np.ascontiguousarray(column[there]) for name, column in bars.items()}


def in_sessions(random, bars, interval_ns):
    """The bars again as those of a stock: from 9:30 to 16:00 in New York, some days to 13:00, over both changes of
    clocks. Each has its session's opening and close."""
    zone, opens, sessions = zoneinfo.ZoneInfo("America/New_York"), [], []
    day = datetime.date(2025, 10, 27)
    while len(opens) < len(bars["open_ns"]):
        if day.weekday() < 5:
            ends = datetime.time(13 if random.random() < 0.2 else 16)
            begin, end = (
                int(datetime.datetime.combine(day, time, zone).timestamp()) * 10**9 for time in (datetime.time(9, 30), ends)
            )
            opens += range(begin, end, interval_ns)
            sessions += [(begin, end)] * (len(opens) - len(sessions))
        day += datetime.timedelta(days=1)
        if day == datetime.date(2026, 3, 14):
            day = datetime.date(2026, 10, 26)
    n, there = len(bars["open_ns"]), random.random(len(opens)) > 0.02
    places = np.flatnonzero(there)[:n]
    stock = {name: column[: len(places)] for name, column in bars.items()}
    stock["open_ns"] = np.array(opens, dtype=np.int64)[places]
    stock["session_open"], stock["session_close"] = (np.array(sessions, dtype=np.int64)[places, k] for k in (0, 1))
    return stock


def read_bars(path, most):
    rows = []
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            time = row.get("timestamp") or row["open_time"]
            if time.isdigit():
                ns = int(time) * 10**6
            else:
                ns = int(datetime.datetime.fromisoformat(time).timestamp()) * 10**9
            rows.append((ns, *(float(row[name]) for name in NAMES)))
            if len(rows) == most:
                break
    columns = list(zip(*rows))
    return {"open_ns": np.array(columns[0], dtype=np.int64)} | {
        name: np.array(columns[k + 1]) for k, name in enumerate(NAMES)
    }


def expected(name, p, bars, interval_ns, random):
    rule = RULES[name](p, bars, interval_ns)
    account = Account(random, int(random.integers(1, 5)), random.random() < 0.8)
    lines, wanted = [], []
    for i in range(len(bars["open_ns"])):
        o, h, l, c, v = (float(bars[k][i]) for k in NAMES)
        account.open_bar(int(bars["open_ns"][i]), o, h, l)
        account.close_bar(c)
        session = f"{int(bars['session_open'][i])} {int(bars['session_close'][i])}" if "session_open" in bars else "0 0"
        lines.append(f"{int(bars['open_ns'][i])} {o!r} {h!r} {l!r} {c!r} {v!r} {account.words()} {session}")
        intents = rule.at(i, account)
        wanted += [(i, *intent) for intent in intents]
        account.take(intents)
    return "\n".join(lines) + "\n", wanted


def parse(line):
    row, kind, fraction, stop, profit, limit, good_ns, why = line.split(" ", 7)
    return (int(row), kind, float(fraction), float(stop), float(profit), float(limit), int(good_ns), why)


def same(ours, theirs):
    exact = (0, 1, 6, 7)
    return all(ours[k] == theirs[k] for k in exact) and all(
        abs(ours[k] - theirs[k]) <= RELATIVE * abs(theirs[k]) for k in range(8) if k not in exact
    )


def in_words(value):
    return str(value) if isinstance(value, str) or value != int(value) else str(int(value))


def compare(label, name, p, bars, interval_ns, random):
    text, wanted = expected(name, p, bars, interval_ns, random)
    sets = [f"{key}={in_words(value)}" for key, value in p.items()]
    run = subprocess.run(
        [PROGRAM, name, str(interval_ns // 10**9), *sets], input=text, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        failures.append(f"{label}: {name} {' '.join(sets)}: {run.stderr.strip()}")
        return []
    got = [parse(line) for line in run.stdout.splitlines()]
    pairs = zip(got + [None] * len(wanted), wanted + [None] * len(got))
    for ours, theirs in pairs:
        if ours != theirs and not (ours and theirs and same(ours, theirs)):
            failures.append(f"{label}: {name} {' '.join(sets)}:\n  is     {ours}\n  wanted {theirs}")
            break
    return [intent[-1] for intent in wanted]


def compare_together(name, p, random, minutes, n):
    kind = together.TOGETHER[name]
    opens, rows = together.rounds(random, n, kind.symbols, minutes * MINUTE_NS)
    shorts = [bool(random.random() < 0.8) for _ in range(kind.symbols)]
    account = together.Account(random, kind.symbols, shorts)
    text, wanted = together.expected(kind(p, minutes * MINUTE_NS), opens, rows, account)
    sets = [f"{key}={in_words(value)}" for key, value in p.items()]
    command = [ROUNDS_PROGRAM, name, str(minutes * 60), str(kind.symbols), *sets]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        failures.append(f"{name} {' '.join(sets)}: {run.stderr.strip()}")
        return []
    got = [together.parse(line) for line in run.stdout.splitlines()]
    for ours, theirs in zip(got + [None] * len(wanted), wanted + [None] * len(got)):
        if ours != theirs and not (ours and theirs and together.same(ours, theirs)):
            failures.append(f"{name} {' '.join(sets)}:\n  is     {ours}\n  wanted {theirs}")
            break
    return [intent[-1] for intent in wanted]


def reasons_together(name, params, rounds, n, random):
    reasons = {}
    for k in range(3 * rounds):
        p = {key: row[0] for key, row in params.items()} if k == 0 else random_params(random, params)
        for why in compare_together(name, p, random, (15, 5, 1, 60)[k % 4], n // 3):
            reasons[why] = reasons.get(why, 0) + 1
    return reasons


def main():
    seed = int(os.environ.get("PAPERTAPE_SEED", "20261121"))
    print(f"strategy/oracle: PAPERTAPE_SEED={seed}")
    table = documented()
    failures.extend(missing(table))
    table = {name: params for name, params in table.items() if not any(lacking(name, params))}
    rounds, n = (30, 20000) if LONG else (5, 6000)
    print(f"counts: {rounds} rounds of {n} bars, {'all' if LONG else 6000} of a file (PAPERTAPE_LONG: 30 of 20000, all)")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../shared")
    shared = os.path.join(os.environ.get("PAPERTAPE_SHARED", beside), "data/bars")
    real = [path for path in (os.path.join(shared, f"{s}_5m.csv.gz") for s in ("BTCUSDT", "XRPUSDT", "ETHUSDT_2023"))]
    real = [path.replace("_2023_5m", "_5m_2023") for path in real]
    real = [(os.path.basename(path), read_bars(path, None if LONG else 6000)) for path in real if os.path.exists(path)]
    if not real:
        print(f"no real bars in {shared} ($PAPERTAPE_SHARED names the folder): random ones only")
    for name, params in sorted(table.items()):
        reasons = {}
        random = np.random.default_rng([seed, *name.encode()])
        if name in together.TOGETHER:
            reasons = reasons_together(name, params, rounds, n, random)
        for k in range(rounds if name in RULES else 0):
            p = {key: row[0] for key, row in params.items()} if k == 0 else random_params(random, params)
            if k > 0 and "direction" in params:
                p["direction"] = ("both", "short", "long")[k % 3]
            minutes = (15, 5, 1, 60, 15)[k % 5]
            bars = walk(random, n, minutes * MINUTE_NS)
            for why in compare(f"random {minutes}m", name, p, bars, minutes * MINUTE_NS, random):
                reasons[why] = reasons.get(why, 0) + 1
            if name == "day-trade":
                stock = in_sessions(random, bars, minutes * MINUTE_NS)
                for why in compare(f"sessions {minutes}m", name, p, stock, minutes * MINUTE_NS, random):
                    reasons[why] = reasons.get(why, 0) + 1
        for label, bars in real if name in RULES else []:
            for p in ({key: row[0] for key, row in params.items()}, random_params(random, params)):
                for why in compare(label, name, p, bars, 5 * MINUTE_NS, random):
                    reasons[why] = reasons.get(why, 0) + 1
        print(f"{name}: " + ", ".join(f"{count} {why}" for why, count in sorted(reasons.items())))
        page = open(PAGE, encoding="utf-8").read()
        reported = set(" ".join(why.split()) for why in re.findall(r"\(\*([^*]+)\*\)", page.split(f"### {name}\n")[1].split("\n### ")[0]))
        if set(reasons) != reported:
            failures.append(f"{name}: the page lists {sorted(reported)}, wanted were {sorted(reasons)}")
    for failure in failures[:20]:
        print(failure)
    print(f"strategy/oracle: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
