"""What papertape passes to a Python with pyarrow, as an archive: write DIR VERSION SOURCE, verify DIR, read, or backtest FILE VERSION.

Each is a module of papertape_lake that says what it is asked and what it answers: lines of JSON on standard input and output. The first
line of output is what this Python is, or what it lacks."""

import importlib
import json
import signal
import sys

try:
    import pyarrow as pa
except ImportError as missing:
    print(json.dumps({"error": f"{sys.executable} (Python {sys.version.split()[0]}) lacks the package pyarrow ({missing}): install it, for "
                               f"example by {sys.executable} -m pip install pyarrow in a virtual environment; PAPERTAPE_PYTHON, or --python "
                               "of export, names another Python"}))
    sys.exit(1)

from papertape_lake.common import answer  # noqa: E402

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    answer(executable=sys.executable, python=sys.version.split()[0], pyarrow=pa.__version__)
    sys.exit(importlib.import_module(f"papertape_lake.{sys.argv[1]}").main(*sys.argv[2:]))
