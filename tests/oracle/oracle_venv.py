"""The venv of this folder's requirements, which $PAPERTAPE_VENV names (Spark's: $PAPERTAPE_SPARK_VENV), for a test that
compares with a package in it."""

import contextlib
import os
import sys

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def enter(package, variable="PAPERTAPE_VENV"):
    """Runs the test again by the venv's interpreter, if it is not that already; no venv skips it."""
    venv = os.environ.get(variable)
    python = os.path.join(venv or "", "bin/python")
    if not venv or not os.path.exists(python):
        skip(f"{variable} names no venv with {package}")
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        os.execv(python, [python, *sys.argv])


@contextlib.contextmanager
def imports(package, variable="PAPERTAPE_VENV"):
    """Around the imports of what only the venv has: in it, and skipped where one of them is missing."""
    enter(package, variable)
    try:
        yield
    except ImportError as error:
        skip(error)
