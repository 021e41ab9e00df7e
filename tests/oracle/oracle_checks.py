"""A count of checks, and a seed, of a test that runs in a venv of oracle_venv.py."""

import os
import sys

import numpy as np

count = failures = 0


def check(condition, what):
    global count, failures
    count += 1
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def checked():
    """How many checks there were so far."""
    return count


def done(name):
    print(f"{name}: {count} checks, {failures} failed")
    sys.exit(1 if failures else 0)


def seeded(what, fallback):
    seed = int(os.environ.get("PAPERTAPE_SEED", fallback))
    print(f"{what}: PAPERTAPE_SEED={seed}")
    return np.random.default_rng(seed)
