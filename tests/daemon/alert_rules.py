#!/usr/bin/env python3
"""The alert rules against a model of them that looks at the whole history of each figure instead of a state: random figures of
several subjects, unknown ones among them, at random times, with subjects that end. The program is test-alert_rules, whose limits
these are (short_limits())."""

import os
import random
import subprocess
import sys
from fractions import Fraction

# code: (what, limits, below, margin, seconds before it is an alert, seconds before it is over, does it end with its subject)
RULES = {
    "GPU_LOST": ("GPU lost", (30,), False, 0, 0, 0, False),
    "GPU_TEMPERATURE": ("GPU temperature", (80, 85), False, 3, 0, 10, False),
    "GPU_MEMORY": ("GPU memory", ("0.95",), False, "0.03", 0, 10, False),
    "GPU_UTILISATION": ("GPU utilisation", ("0.5",), True, "0.05", 10, 10, True),
    "GPU_THROTTLED": ("GPU throttled", ("0.5",), False, 0, 6, 10, False),
    "NO_TRIAL": ("no trial finished", (3600,), False, 0, 0, 0, True),
    "TRAINING_STALLED": ("training stalled", ("0.5",), False, 0, 2, 0, True),
    "ORDERS_REFUSED": ("orders refused", (10,), False, 0, 0, 10, True),
    "DRAWDOWN": ("drawdown", ("0.1", "0.2"), False, "0.01", 0, 0, True),
    "SHARPE_LOW": ("live Sharpe below the backtest's", ("0.01",), True, "0.01", 0, 0, True),
    "DISK": ("disk", ("0.9", "0.95"), False, "0.02", 0, 0, False),
}
FIGURES = {
    "GPU_LOST": [0, 1, 29.9, 30, 31],
    "GPU_TEMPERATURE": [60, 76.5, 77, 77.1, 79.5, 80, 81.5, 82, 82.1, 84.5, 85, 90],
    "GPU_MEMORY": [0.5, 0.9, 0.915, 0.92, 0.925, 0.949, 0.95, 1],
    "GPU_UTILISATION": [0, 0.49, 0.5, 0.53, 0.55, 0.56, 1],
    "GPU_THROTTLED": [0, 1],
    "NO_TRIAL": [0, 5, 3599.5, 3600, 9000],
    "TRAINING_STALLED": [0, 1],
    "ORDERS_REFUSED": [0, 9, 10, 11],
    "DRAWDOWN": [0, 0.09, 0.091, 0.1, 0.15, 0.19, 0.195, 0.2, 0.3],
    "SHARPE_LOW": [0, 0.009, 0.01, 0.015, 0.02, 0.5],
    "DISK": [0.5, 0.88, 0.885, 0.9, 0.93, 0.94, 0.95, 1],
}


def beyond(rule, limit, value):
    """1: beyond its limit; -1: good again; 0: between. Of the numbers as they are written."""
    _, _, below, margin, *_ = rule
    limit, margin, value = Fraction(limit), Fraction(margin), Fraction(str(value))
    if below:
        return 1 if value < limit else -1 if value >= limit + margin else 0
    return 1 if value >= limit else -1 if value <= limit - margin else 0


def spent(rule, limit, history):
    """The side of the last figure and for how long: back through unknown ones, over each pair of neighbours that are both known,
    at most 5 s of each."""
    known = [(t, v) for t, v in history if v is not None]
    side, s = beyond(rule, limit, known[-1][1]), 0
    for (t, v), (later, w) in zip(reversed(history[:-1]), reversed(history)):
        if v is not None and beyond(rule, limit, v) != side:
            break
        if v is not None and w is not None:
            s += min(later - t, 5000)
    return side, s


def changes(figures):
    """What is printed for these lines, by the whole history of each subject."""
    histories, on, levels, read, out = {}, {}, {}, set(), []
    for code, where, value, ms in figures:
        if code == "sweep":
            for key in [k for k in histories if RULES[k[0]][6] and k not in read]:
                if levels[key] > 0:
                    out.append((". ", key))
                del histories[key], on[key], levels[key]
            read.clear()
            continue
        key, rule = (code, where), RULES[code]
        history = histories.setdefault(key, [])
        history.append((ms, value))
        read.add(key)
        latches = on.setdefault(key, [False] * len(rule[1]))
        if value is not None:
            for i, limit in enumerate(rule[1]):
                side, s = spent(rule, limit, history)
                if side > 0 and s >= rule[4] * 1000:
                    latches[i] = True
                if side < 0 and s >= rule[5] * 1000:
                    latches[i] = False
        before, level = levels.get(key, 0), max([0] + [i + 1 for i, x in enumerate(latches) if x])
        levels[key] = level
        if level != before:
            out.append((("T " if level == 2 else "t ") if before == 0 else ". " if level == 0 else "^ " if level > before else "v ", key))
    return out


def lines_of(printed):
    """Those between two sweeps that a sweep ended are in no order."""
    return [sign + RULES[code][0] + ": " + where for sign, (code, where) in printed]


def main():
    seed = int(os.environ.get("PAPERTAPE_SEED") or random.randrange(1 << 32))
    generator = random.Random(seed)
    n = 200_000 if os.environ.get("PAPERTAPE_LONG") else 20_000
    figures, ms, last = [], 0, {}
    for _ in range(n):
        ms += generator.choice((0, 250, 500, 1000, 2000, 7000))
        if generator.random() < 0.02:
            figures.append(("sweep", None, None, ms))
            continue
        code, where = generator.choice(list(RULES)), generator.choice("abc")
        if generator.random() < 0.4:  # stay a while: else nothing lasts
            value = last.get((code, where), generator.choice(FIGURES[code]))
        else:
            value = generator.choice(FIGURES[code])
        last[code, where] = value
        figures.append((code, where, None if generator.random() < 0.1 else value, ms))
    text = "".join("sweep\n" if code == "sweep" else f"{code} {where} {'nan' if value is None else value} {ms / 1000}\n"
                   for code, where, value, ms in figures)
    found = subprocess.run([sys.argv[1], "replay"], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    expected = lines_of(changes(figures))
    kinds = {line[0] for line in expected}
    assert kinds == set("tT^v."), kinds
    if sorted(found) != sorted(expected) or [x for x in found if x[0] != "."] != [x for x in expected if x[0] != "."]:
        wrong = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
        sys.exit(f"PAPERTAPE_SEED={seed}: change {wrong}: found {found[wrong:wrong + 3]}, expected {expected[wrong:wrong + 3]}")
    print(f"seed {seed}: {n} figures, {len(expected)} changes")


if __name__ == "__main__":
    main()
