"""The venv of this folder's requirements, which $PAPERTAPE_VENV names, for a test that compares with a package in it."""

import contextlib
import os
import sys

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def enter(package):
    """Runs the test again by the venv's interpreter, if it is not that already; no venv skips it."""
    venv = os.environ.get("PAPERTAPE_VENV")
    python = os.path.join(venv or "", "bin/python")
    if not venv or not os.path.exists(python):
        skip(f"PAPERTAPE_VENV names no venv with {package}")
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        os.execv(python, [python, *sys.argv])


@contextlib.contextmanager
def imports(package):
    """Around the imports of what only the venv has: in it, and skipped where one of them is missing."""
    enter(package)
    try:
        yield
    except ImportError as error:
        skip(error)
