"""What the tests of the Python module share: the venv, the module, markets, a count of checks. A test that imports this
runs in $PAPERTAPE_VENV, and exits 77 (skipped) without it; PAPERTAPE_ENV_LIBRARY names the library under test (by hand:
that of $PAPERTAPE_BUILD, or of the build folder build)."""

import os
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
sys.path.append(str(SOURCE / "tests/oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("Gymnasium"):
    import gymnasium  # noqa: F401
    import numpy as np

from oracle_checks import check, checked, done, seeded  # noqa: E402,F401

sys.path.insert(0, str(SOURCE / "trainer/python"))
BUILT = Path(os.environ.get("PAPERTAPE_BUILD", SOURCE / "build")) / "trainer/env/installed/libpapertape-env.so.0"
os.environ.setdefault("PAPERTAPE_ENV_LIBRARY", str(BUILT))
LONG = "PAPERTAPE_LONG" in os.environ
MINUTE_NS = 60_000_000_000


def refused(kind, part, call, *arguments, **keywords):
    """The call raises `kind` and says `part`."""
    try:
        call(*arguments, **keywords)
    except kind as error:
        check(part in str(error), f"{kind.__name__} says {str(error)!r}, without {part!r}")
    except Exception as error:  # noqa: BLE001
        check(False, f"{type(error).__name__} for {kind.__name__}: {error}")
    else:
        check(False, f"{kind.__name__} with {part!r} was not raised")


def walk(rng, rows=400, assets=3, move=0.004):
    """Columns of bars that walk at random: prices with two digits, high and low around open and close."""
    steps = rng.normal(0, move, (rows + 1, assets))
    paths = np.round(rng.uniform(20, 500, assets) * np.exp(np.cumsum(steps, axis=0)), 2)
    before, close = paths[:-1], paths[1:]
    spread = np.round(close * rng.uniform(0, move / 2, (rows, assets)), 2)
    return {
        "open": before,
        "high": np.round(np.maximum(before, close) + spread, 2),
        "low": np.round(np.maximum(np.minimum(before, close) - spread, 0.01), 2),
        "close": close,
        "volume": np.round(rng.uniform(1, 1000, (rows, assets)), 3),
    }


def names(assets):
    return [f"A{at}USDT" for at in range(assets)]
