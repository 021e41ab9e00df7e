"""What the tests of papertape_spark share that need no Spark: the venv, the package, a seed, a count of checks. A test that
imports this runs in $PAPERTAPE_SPARK_VENV (tests/oracle/requirements-spark.txt), and exits 77 (skipped) without it."""

import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCE / "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("PySpark", "PAPERTAPE_SPARK_VENV"):
    import numpy  # noqa: F401 - which the package imports
    import pyarrow  # noqa: F401 - likewise

from oracle_checks import check, done, seeded  # noqa: E402,F401

sys.path.insert(0, str(SOURCE / "spark"))


def refused(part, call, kind=Exception):
    """The call raises an error of this kind that says `part`; Spark wraps what a task raises."""
    try:
        call()
    except kind as error:
        check(part in str(error), f"the error says {str(error)[-400:]!r}, without {part!r}")
    else:
        check(False, f"no error with {part!r} was raised")
