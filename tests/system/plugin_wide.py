#!/usr/bin/env python3
"""All that an outside strategy may order, in each form, on the sample data: rank-momentum as the built-in, a shared object
from C and from C++, and a process; dips (tests/strategy/plugins), whose orders are of five kinds, as a shared object and as
processes in Python and C++; entries and exits as orders at market beside the same as intents. Trades, orders and ledger are
the same, byte by byte.

plugin_wide.py PAPERTAPE SOURCE PLUGINS"""

import csv
import io
import os
import pathlib
import re
import shutil
import sys
import tempfile

from plugin_runs import OUTPUTS, PAPERTAPE, first_bars, outputs, run, synthetic

_, _, SOURCE, PLUGINS = sys.argv
LONG = "PAPERTAPE_LONG" in os.environ
BARS = 10**9 if LONG else 2500
PYTHON = f"{sys.executable} -S"
PROGRAMS = f"{SOURCE}/tests/strategy/plugins"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(SOURCE, "trainer/python")}
COMPILER = shutil.which("g++") or shutil.which("c++")


def compiled(folder, name, *options):
    target = folder / f"{name}{'.so' if '-shared' in options else ''}"
    source = next(path for path in (f"{PROGRAMS}/{name}.cpp", f"{PROGRAMS}/{name}.c") if os.path.exists(path))
    run(COMPILER, "-x", "c++", "-std=c++20", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", *options, "-o", target, source)
    return target


def same(folder, forms, bars, sets, least):
    """The first form's trades, which are at least so many, are all the others'."""
    expected = None
    for form in forms:
        found = outputs(folder, form, bars, "--way", "engine", *[f"--set={word}" for word in sets], env=ENVIRONMENT)
        expected = expected or found
        for name in OUTPUTS:
            assert found[name] == expected[name], (form, bars, sets, name)
    fills = expected["trades"].count(b"\n") - 1
    assert fills >= least, (forms[0], fills)
    return fills, list(csv.DictReader(io.StringIO(expected["orders"].decode())))


def rounds(folder, files):
    """Several symbols: real ones, and three of which one has gaps."""
    forms = ["rank-momentum", f"lib:{PLUGINS}/plugin-ranks.so", f"exec:{PYTHON} {PROGRAMS}/ranks.py"]
    if COMPILER:
        forms.append(f"lib:{compiled(folder, 'ranks', '-shared', '-fPIC', f'-I{SOURCE}/strategy/include')}")
    real = ",".join(str(path) for path in files[:3])
    fills, _ = same(folder, forms, real, ["lookback=24", "hold=2", "every=12"], 100)
    bars = [synthetic(folder, name, 900, 20 + at) for at, name in enumerate(("P", "Q", "R"))]
    lines = bars[1].read_text().splitlines(keepends=True)
    bars[1].write_text("".join(line for at, line in enumerate(lines) if at % 50 not in (17, 18, 41) or at < 2))
    gaps = ",".join(str(path) for path in bars)
    fills += same(folder, forms, gaps, ["lookback=7", "hold=2", "every=5"], 50)[0]
    unknown = folder / "unknown.py"
    unknown.write_text(pathlib.Path(PROGRAMS, "ranks.py").read_text().replace(".on(peer)", '.on("XUSDT")'))
    done = run(PAPERTAPE, "backtest", "--strategy", f"exec:{PYTHON} {unknown}", "--bars", gaps, "--no-cache", status=1, env=ENVIRONMENT)
    assert '"symbol" XUSDT of an intent is none of the account\'s' in done.stderr, done.stderr
    done = run(PAPERTAPE, "backtest", "--strategy", forms[2], "--bars", bars[0], "--no-cache", status=1, env=ENVIRONMENT)
    assert "2 symbols" in done.stderr, done.stderr
    print(f"rounds: {len(forms)} forms, {fills} fills, the same bytes")


def orders(folder, files):
    forms = [f"lib:{PLUGINS}/plugin-dips.so", f"exec:{PYTHON} {PROGRAMS}/dips.py"]
    if COMPILER:
        forms.append(f"exec:{compiled(folder, 'dips')}")
    total, seen = 0, set()
    for at, bars in enumerate(files):
        fills, rows = same(folder, forms, bars, ("period=50", "share=0.9") if at % 2 else (), 50)
        total += fills
        seen |= {(row["type"], row["state"]) for row in rows}
    print(f"orders: {len(forms)} forms, {len(files)} files, {total} fills, the same bytes: {sorted(seen)}")
    wanted = {("LIMIT", "FILLED"), ("LIMIT", "EXPIRED"), ("STOP_LIMIT", "FILLED"), ("STOP_LIMIT", "CANCELED"), ("TRAILING_STOP", "FILLED"), ("MARKET", "FILLED")}
    assert wanted <= seen, wanted - seen


def at_market(folder, bars):
    """The page's example with orders in place of Enter and Exit."""
    text = pathlib.Path(SOURCE, "docs/plugins-protocol.md").read_text(encoding="utf-8")
    program = re.search(r"^```python\n(.*?)^```$", text, re.M | re.S)[1]
    changed = program.replace("Enter(", 'Order("buy", fraction=').replace("Exit(", 'Order("sell", size="position", fraction=1, reduce_only=True, ')
    assert changed.count("Order(") == 2, changed
    forms = []
    for name, body in (("intents", program), ("orders", changed)):
        (folder / f"{name}.py").write_text(body.replace("import ", "import Order, ", 1))
        forms.append(f"exec:{PYTHON} {folder}/{name}.py")
    same(folder, forms, bars, ["period=20"], 50)


def main():
    with tempfile.TemporaryDirectory(prefix="papertape-wide-") as name:
        folder = pathlib.Path(name)
        files = first_bars(folder, SOURCE, BARS)
        rounds(folder, files)
        orders(folder, files)
        at_market(folder, files[1])


main()
