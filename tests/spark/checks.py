"""What the tests of papertape_spark share that need no Spark: the venv, the package, a seed, a count of checks. A test that
imports this runs in $PAPERTAPE_SPARK_VENV (tests/oracle/requirements-spark.txt), and exits 77 (skipped) without it."""

import os
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCE / "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("PySpark", "PAPERTAPE_SPARK_VENV"):
    import numpy as np
    import pyarrow  # noqa: F401 - which the package imports

sys.path.insert(0, str(SOURCE / "spark"))
count = failures = 0


def check(condition, what):
    global count, failures
    count += 1
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def refused(part, call, kind=Exception):
    """The call raises an error of this kind that says `part`; Spark wraps what a task raises."""
    try:
        call()
    except kind as error:
        check(part in str(error), f"the error says {str(error)[-400:]!r}, without {part!r}")
    else:
        check(False, f"no error with {part!r} was raised")


def done(name):
    print(f"{name}: {count} checks, {failures} failed")
    sys.exit(1 if failures else 0)


def seeded(what, fallback):
    seed = int(os.environ.get("PAPERTAPE_SEED", fallback))
    print(f"{what}: PAPERTAPE_SEED={seed}")
    return np.random.default_rng(seed)
