#!/usr/bin/env python3
"""Strategies as processes, as a user meets them: sma-cross-rsi-risk in Python (trainer/python/examples) gives the trades,
orders and ledger of the built-in, byte by byte, and in a sweep; the page's examples in Python and C++ trade alike; a cheat
that reads the bars file is caught by `lookahead`; what cannot be is refused in one line, and what fails says where.

plugin_process.py PAPERTAPE SOURCE"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from plugin_runs import BUILT_IN, OUTPUTS, PAPERTAPE, first_bars, outputs, run, saved, synthetic

SOURCE = sys.argv[2]
LONG = "PAPERTAPE_LONG" in os.environ
BARS = 10**9 if LONG else 2500
PYTHON = f"{sys.executable} -S"
MINE = f"exec:{PYTHON} {SOURCE}/trainer/python/examples/sma_cross_rsi_risk.py"
PARAMETERS = ((), ("fast=5", "slow=60", "average=ema", "risk=0.02", "profit_atr=0"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(SOURCE, "trainer/python")}

# Buys before each rise, by the bars file, which it reads by time.
CHEAT = """
import csv, os, sys
from papertape.strategy import Exit, Strategy, Enter, run

with open(os.environ["PAPERTAPE_CHEAT_FILE"]) as file:
    closes = {int(row["open_time"]) * 10**6: float(row["close"]) for row in csv.DictReader(file)}


class Cheat(Strategy):
    name = "cheat"

    def on_bar(self, bar):
        if bar.live_orders:
            return None
        after = [closes.get(bar.time + k * bar.interval, 0) for k in (0, 1)]
        rises = after[1] > after[0]
        if rises and bar.qty == 0:
            return Enter(0.9)
        return Exit() if bar.qty > 0 and not rises else None


run(Cheat)
"""

# Fails at the hundredth bar, at the word's place.
FAULTY = """
from papertape.strategy import *


class Faulty(Strategy):
    name = "faulty"
    params = {"what": Param("raise", words=("raise", "nan", "exit", "print", "flood", "memory"))}
    bars = 0

    def on_bar(self, bar):
        self.bars += 1
        if self.bars == 100:
            if self.what == "raise":
                return [][0]
            if self.what == "nan":
                return Enter(float("nan"))
            if self.what == "exit":
                raise SystemExit("enough")
            if self.what == "print":
                print("a word from the strategy")
            if self.what == "flood":
                for _ in range(100_000):
                    print("a hundred bytes of words from the strategy, more than any terminal's reader could want to see here")
            if self.what == "memory":
                bar.memory["x"] = {1, 2}


run(Faulty)
"""


def papertape(*words, environment=ENVIRONMENT, **options):
    return run(PAPERTAPE, *words, env=environment, **options)


def results(folder, strategy, sets, bars):
    return outputs(folder, strategy, bars, *[f"--set={word}" for word in sets], env=ENVIRONMENT)


def same_files(folder, files):
    fills = 0
    for at, bars in enumerate(files):
        sets = PARAMETERS[at % 2]
        expected, found = results(folder, BUILT_IN, sets, bars), results(folder, MINE, sets, bars)
        for name in OUTPUTS:
            assert found[name] == expected[name], (bars, sets, name)
        fills += expected["trades"].count(b"\n") - 1
    assert fills > 100, fills
    print(f"{len(files)} files: {fills} fills, the same bytes")


def same_sweep(folder, bars):
    tables = []
    for strategy in (BUILT_IN, MINE):
        path = folder / "sweep.csv"
        papertape("sweep", "--strategy", strategy, "--grid", "fast=20:40:20", "--grid", "slow=30,60", "--bars", bars, "--no-cache", "--csv", path)
        tables.append(path.read_text())
    assert tables[0] == tables[1] and tables[0].count("\n") == 4, tables  # one set contradicts itself


def again(folder, bars):
    """A saved run's account, as long as its program is there."""
    mine = folder / "mine.py"
    shutil.copy(f"{SOURCE}/trainer/python/examples/sma_cross_rsi_risk.py", mine)
    words = saved(folder, f"exec:{PYTHON} {mine}", bars, "--set", "fast=7", env=ENVIRONMENT)
    mine.unlink()
    says = run(*words, status=1, env=ENVIRONMENT).stderr
    assert says.startswith(f"papertape: backtest: {BUILT_IN}: ") and "mine.py" in says and says.count("\n") == 1, says


def page_examples(folder, bars):
    """The page's programs in Python and C++ are one strategy."""
    text = pathlib.Path(SOURCE, "docs/plugins-protocol.md").read_text(encoding="utf-8")
    programs = dict(re.findall(r"^```(python|cpp)\n(.*?)^```$", text, re.M | re.S))
    (folder / "above.py").write_text(programs["python"])
    expected = results(folder, f"exec:{PYTHON} {folder}/above.py", ["period=20"], bars)
    assert expected["trades"].count(b"\n") > 50
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler:
        run(compiler, "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", folder / "above", "-", input=programs["cpp"])
        assert results(folder, f"exec:{folder}/above", ["period=20"], bars) == expected


def guards(folder):
    bars = synthetic(folder, "G", 700, 11)
    cheat = folder / "cheat.py"
    cheat.write_text(CHEAT)
    environment = {**ENVIRONMENT, "PAPERTAPE_CHEAT_FILE": str(bars)}
    strategy = f"exec:{PYTHON} {cheat}"
    report = json.loads(papertape("backtest", "--strategy", strategy, "--bars", bars, "--no-cache", "--fee-taker", 0, "--fee-maker", 0, "--latency-ms", 0,
                                  "--json", environment=environment).stdout)
    assert report["accounts"][0]["equity"] > 11000, report  # it pays, or it would be no cheat
    done = papertape("lookahead", strategy, "--bars", bars, "--cuts", 2, "--no-cache", status=1, environment=environment)
    assert "LOOKS AHEAD at" in done.stdout, done.stdout
    assert papertape("lookahead", MINE, "--bars", bars, "--cuts", 2, "--no-cache").stdout.endswith("lookahead ok\n")
    if LONG:
        bars = synthetic(folder, "W", 8000, 12)
        assert "warmup" in papertape("warmup", MINE, "--bars", bars, "--no-cache").stdout


def faults(folder):
    bars = synthetic(folder, "F", 200, 5)
    (folder / "faulty.py").write_text(FAULTY)
    strategy = f"exec:{PYTHON} {folder}/faulty.py"
    when = "2024-01-01T08:15:00Z"
    for what, says, trace in (
        ("raise", "invalid: it failed: IndexError: list index out of range (faulty.py:14)", "return [][0]"),
        ("nan", "invalid: it failed: ValueError: Enter: fraction is nan: a finite number is needed (faulty.py:16)", "Traceback"),
        ("exit", "ended: it ended with status 1: enough", "enough"),
        ("memory", "invalid: it failed: TypeError: Object of type set is not JSON serializable", "Traceback"),
    ):
        done = papertape("backtest", "--strategy", strategy, "--set", f"what={what}", "--bars", bars, "--no-cache", status=1)
        last = done.stderr.splitlines()[-1]
        assert says in last and last.startswith("papertape: backtest: ") and when in last and trace in done.stderr, (what, done.stderr)
    done = papertape("backtest", "--strategy", strategy, "--set", "what=print", "--bars", bars, "--no-cache")
    assert "a word from the strategy\n" in done.stderr, done
    done = papertape("backtest", "--strategy", strategy, "--set", "what=flood", "--bars", bars, "--no-cache")
    assert 200_000 < len(done.stderr) < 300_000 and done.stderr.count("what processes write there is left out from here on") == 1, (len(done.stderr), done.stderr[-300:])


def refusals(folder):
    bars = synthetic(folder, "R", 200, 2)

    def refuse(strategy, says, *more):
        done = papertape("backtest", "--strategy", strategy, "--bars", bars, *more, status=2)
        last = done.stderr.splitlines()[-1]
        assert done.stdout == "" and last.startswith("papertape: ") and says in last, (strategy, done.stderr)

    refuse("exec:", "a command follows: exec:python3 FILE.py")
    refuse("exec:/nonexistent/mine", "/nonexistent/mine cannot be started: No such file or directory")
    refuse("exec:true", "it does not describe itself: it ended with status 0")
    refuse(f"exec:{PYTHON} {folder}/none.py", "it ended with status 2")
    said = papertape("backtest", "--strategy", f"exec:{PYTHON} {folder}/none.py", "--bars", bars, status=2).stderr
    assert said.count("No such file or directory") == said.count("\n") == 1, said  # once
    refuse(MINE, "did you mean fast?", "--set", "fats=3")
    refuse(MINE, "fast", "--set", "fast=0")
    refuse(MINE, "fast: fewer bars than slow are needed", "--set", "fast=60")
    for code, says in (("import nosuchmodule", "ModuleNotFoundError: No module named 'nosuchmodule'"),
                       ("from papertape.strategy import *\nclass A(Strategy):\n    name = 'A b'\nrun(A)", '"name" A b: a to z'),
                       ("from papertape.strategy import *\nclass A(Strategy):\n    name = 'a'\n    params = {'on_bar': Param(1, 0, 2)}\nrun(A)",
                        "parameter on_bar: the class has an attribute of that name")):
        (folder / "bad.py").write_text(code)
        refuse(f"exec:{PYTHON} {folder}/bad.py", says)


def main():
    with tempfile.TemporaryDirectory(prefix="papertape-process-") as name:
        folder = pathlib.Path(name)
        files = first_bars(folder, SOURCE, BARS)
        same_files(folder, files)
        same_sweep(folder, files[0])
        again(folder, files[1])
        page_examples(folder, files[1])
        guards(folder)
        faults(folder)
        refusals(folder)


main()
