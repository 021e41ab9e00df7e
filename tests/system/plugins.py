#!/usr/bin/env python3
"""Strategies and indicators as shared objects, as a user meets them: docs/examples/sma_cross_rsi_risk.c gives the trades,
orders and ledger of the built-in, byte by byte, both ways and in a sweep; cheats are caught by `lookahead`; `strategy new`
makes a folder that builds and passes; the page's examples compile as C and C++; what cannot be is refused in one line.

plugins.py PAPERTAPE PLUGINS INDICATORS.so BUILD SOURCE CC..."""

import csv
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from plugin_runs import BUILT_IN, OUTPUTS, PAPERTAPE, bars_files, outputs, run, saved, synthetic

_, PLUGINS, INDICATORS, BUILD, SOURCE, *CC = sys.argv[1:]
MINE = f"lib:{PLUGINS}/plugin-sma_cross_rsi_risk.so"
PARAMETERS = ("", "fast=5,slow=60,average=ema,risk=0.02,profit_atr=0")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
SANITIZED = "PAPERTAPE_SANITIZED" in os.environ


def papertape(*words, status=0, **options):
    return run(PAPERTAPE, *words, status=status, **options)


def refused(*words, status=2, says, **options):
    done = papertape(*words, status=status, **options)
    lines = done.stderr.splitlines()
    assert done.stdout == "" and len(lines) == 1 and lines[0].startswith("papertape: ") and says in lines[0], (words, done.stderr)


def same_files(folder, files):
    fills = 0
    for at, bars in enumerate(files):
        for way in ("columns", "engine"):
            words = PARAMETERS[(at + (way == "engine")) % 2]
            expected = outputs(folder, f"{BUILT_IN}:{words}" if words else BUILT_IN, bars, "--way", way)
            found = outputs(folder, f"{MINE}:{words}" if words else MINE, bars, "--way", way)
            for name in OUTPUTS:
                assert found[name] == expected[name], (bars, way, words, name)
            fills += expected["trades"].count(b"\n") - 1
    assert fills > 500, fills
    print(f"{len(files)} files, both ways: {fills} fills, the same bytes")


def same_rounds(folder):
    """rank-momentum of three symbols, one of which has gaps."""
    bars = [synthetic(folder, name, 2000, 20 + at) for at, name in enumerate(("P", "Q", "R"))]
    lines = bars[1].read_text().splitlines(keepends=True)
    bars[1].write_text("".join(line for at, line in enumerate(lines) if at % 50 not in (17, 18, 41) or at < 2))
    words, files = "lookback=7,hold=2,every=5", ",".join(str(path) for path in bars)
    expected = outputs(folder, f"rank-momentum:{words}", files, "--way", "engine")
    assert expected["trades"].count(b"\n") > 100, expected["trades"]
    assert outputs(folder, f"lib:{PLUGINS}/plugin-ranks.so:{words}", files, "--way", "engine") == expected
    refused("backtest", "--strategy", f"lib:{PLUGINS}/plugin-ranks.so", "--bars", bars[0], status=1, says="2 symbols")


def same_sweep(folder, bars):
    tables = []
    for strategy in (BUILT_IN, MINE):
        path = folder / "sweep.csv"
        papertape("sweep", "--strategy", strategy, "--grid", "fast=5:20:5", "--grid", "slow=30,60", "--bars", bars, "--no-cache", "--csv", path)
        tables.append(path.read_text())
    assert tables[0] == tables[1] and tables[0].count("\n") == 9, tables


def guards(folder):
    bars = synthetic(folder, "G", 6000, 11)
    for verb in ("lookahead", "warmup"):
        papertape(verb, MINE, "--bars", bars, "--no-cache")
    assert papertape("lookahead", MINE, "--cuts", 4).stdout.endswith("lookahead ok\n")
    environment = {**os.environ, "PAPERTAPE_CHEAT_FILE": str(bars)}
    for cheat, way, change in (("cheat_file", "engine", "in another year"), ("cheat_scan", "columns", "vectorised")):
        strategy = f"lib:{PLUGINS}/plugin-{cheat}.so"
        # It pays, or it would be no cheat.
        report = json.loads(papertape("backtest", "--strategy", strategy, "--bars", bars, "--no-cache", "--way", way, "--fee-taker", 0, "--fee-maker", 0, "--json", env=environment).stdout)
        account = report["accounts"][0]
        assert account["equity"] > 10 * account["deposits"] and account["losses"] == 0, (cheat, account)
        done = papertape("lookahead", strategy, "--bars", bars, "--no-cache", status=1, env=environment)
        assert "LOOKS AHEAD at" in done.stdout and change in done.stdout, (cheat, done.stdout)


def ends_of_process(folder):
    """A plug-in that ends the process does not end it without a word, and with success."""
    bars = synthetic(folder, "E", 200, 6)
    strategy = f"lib:{PLUGINS}/plugin-ends.so"
    for way in ("columns", "engine"):
        refused("backtest", "--strategy", strategy, "--bars", bars, "--no-cache", "--way", way, status=1, says="plugin-ends.so: its code called exit(), which ends this program")
    refused("indicators", bars, f"lib:{PLUGINS}/plugin-ends.so:ends", "--backend", "stream", status=1, says="plugin-ends.so: its code called exit()")
    if not SANITIZED:  # whose own handler says more
        done = papertape("backtest", "--strategy", f"{strategy}:way=crash", "--bars", bars, "--no-cache", status=-11)
        assert done.stderr == f"papertape: {PLUGINS}/plugin-ends.so: its code crashed: SIGSEGV\n", done.stderr


def lists(folder):
    plugins = folder / "plugins"
    plugins.mkdir()
    shutil.copy(f"{PLUGINS}/plugin-sma_cross_rsi_risk.so", plugins / "mine.so")
    shutil.copy(INDICATORS, plugins / "bands.so")
    (plugins / "broken.so").write_text("no shared object")
    done = papertape("backtest", "--plugins", plugins, "--list-strategies")
    assert f"lib:{plugins}/mine.so: " in done.stdout and "lib:" not in done.stdout.replace(f"lib:{plugins}/mine.so", ""), done.stdout
    assert "broken.so: " in done.stderr and "is no shared object" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    rows = json.loads(papertape("backtest", "--plugins", plugins, "--list-strategies", "--json").stdout)["strategies"]
    mine = next(row for row in rows if row["name"].startswith("lib:"))
    theirs = next(row for row in rows if row["name"] == BUILT_IN)
    long_only = [row["name"] for row in theirs["params"] if row["name"] != "direction"]
    assert [row["name"] for row in mine["params"]] == long_only, mine
    bars = synthetic(folder, "L", 1000, 3)
    assert "lookahead ok" in papertape("lookahead", "--plugins", plugins, "--strategy", "lib:mine:fast=5", "--cuts", 4).stdout
    rows = list(csv.reader(io.StringIO(papertape("indicators", bars, "--plugins", plugins, "lib:bands:mean:7").stdout)))
    assert rows[0] == ["timestamp_ns", "bands:mean_7"], rows[0]


def indicators(folder):
    bars = synthetic(folder, "I", 500, 5)
    for backend in ("reference", "stream", "cpu"):
        text = papertape("indicators", bars, "sma:20", f"lib:{INDICATORS}:mean:20", f"lib:{INDICATORS}:band:10,0.25", "--backend", backend).stdout
        header, *rows = csv.reader(io.StringIO(text))
        assert header == ["timestamp_ns", "sma_20", "plugin-object:mean_20", "plugin-object:band_10_0.25.upper", "plugin-object:band_10_0.25.lower"], header
        for at, row in enumerate(rows):
            assert (row[1] == "") == (row[2] == "") == (at < 19) and (row[3] == "") == (at < 9), (backend, at, row)
            assert row[1] == row[2] or abs(float(row[1]) / float(row[2]) - 1) < (1e-12 if backend == "cpu" else 0), (backend, at, row)
    refused("indicators", bars, f"lib:{INDICATORS}:means:20", says='has no indicator "means": it has mean, band, broken')
    refused("indicators", bars, f"lib:{PLUGINS}/plugin-nothing.so:x", says="it exports no papertape_indicator_v1()")
    refused("indicators", bars, f"lib:{PLUGINS}/plugin-newer.so:x", says="made for version 3 of papertape/indicator.h, this program has 1: build it again")


def refusals(folder):
    bars = synthetic(folder, "R", 200, 2)

    def refuse(strategy, says):
        refused("backtest", "--strategy", strategy, "--bars", bars, says=says)

    refuse("lib:nosuch", "there is no such file in")
    (folder / "text.so").write_text("no shared object")
    refused("backtest", "--strategy", "lib:././/text.so", "--bars", bars, says=f": {folder}/text.so: is no shared object", cwd=folder)
    refuse(f"lib:{folder}/gone.so", "No such file")
    refuse(f"lib:{folder}", "a shared object's name ends in .so")
    refuse(f"lib:{PLUGINS}/plugin-newer.so", "made for version 2 of papertape/strategy.h, this program has 1: build it again")
    refuse(f"lib:{PLUGINS}/plugin-nothing.so", "it exports no papertape_strategy_v1()")
    refuse(f"{MINE}:fats=3", "did you mean fast?")
    refuse(f"{MINE}:fast=0", "fast")
    refuse(f"{MINE}:fast=60", "fast: fewer bars than slow are needed")
    refused("backtest", "--plugins", folder / "none", "--list-strategies", says="a folder of shared objects is needed")


def pkg_config(folder):
    """What is installed of papertape, in a folder of its own: an environment whose pkg-config finds it."""
    include = folder / "usr/include/papertape"
    include.mkdir(parents=True)
    for header in ("strategy/include/papertape/strategy.h", "indicators_gpu/include/papertape/indicator.h"):
        shutil.copy(os.path.join(SOURCE, header), include)
    text = pathlib.Path(BUILD, "meson-private/papertape.pc").read_text()
    (folder / "papertape.pc").write_text(re.sub(r"^prefix=.*$", f"prefix={folder}/usr", text, flags=re.M))
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"}
    assert run("pkg-config", "--variable=plugindir", "papertape", env=environment).stdout.strip().endswith("papertape/plugins")
    return environment


def new_folders(folder, environment):
    options = {"cwd": folder, "env": {**environment, "PAPERTAPE": PAPERTAPE}}
    done = papertape("strategy", "new", "my-cross", **options)
    assert "make test" in done.stdout, done.stdout
    if not SANITIZED:  # whose programs do not take what was built without
        done = run("make", "-C", folder / "my-cross", "test", f"PAPERTAPE={PAPERTAPE}", f"CC={' '.join(CC)}", **options)
        assert "lookahead ok" in done.stdout and "test.sh: lib:" in done.stdout and "warning" not in done.stderr, done
        run("make", "-C", folder / "my-cross", "install", f"DESTDIR={folder}/root", **options)
        assert list((folder / "root").rglob("papertape/plugins/my-cross.so"))
        bare = {"cwd": folder, "env": {**os.environ, "PKG_CONFIG_LIBDIR": str(folder)}}  # as before an installation
        assert run("make", "-B", "-C", folder / "my-cross", f"CFLAGS=-I{SOURCE}/strategy/include", f"CC={' '.join(CC)}", **bare).stderr == ""
        run("make", "-C", folder / "my-cross", "install", f"CFLAGS=-I{SOURCE}/strategy/include", f"DESTDIR={folder}/none", status=2, **bare)
        assert not (folder / "none").exists()
    made = json.loads(papertape("strategy", "new", "my-python", "--python", "--json", **options).stdout)
    assert made == {"schema": "papertape.strategy/1", "strategy": {"name": "my-python", "language": "python"}}, made
    run(sys.executable, "-m", "py_compile", folder / "my-python/my-python.py")
    for name, words, status in (("my-cross", "a name that is not there yet is needed", 1), ("My Cross", "lower case letters", 2),
                                ("../up", "lower case letters", 2), ("x" * 41, "lower case letters", 2)):
        done = papertape("strategy", "new", name, status=status, **options)
        assert words in done.stderr, done.stderr
    package = os.path.join(SOURCE, "trainer/python")
    if os.path.exists(os.path.join(package, "papertape/strategy.py")):
        bars = synthetic(folder, "P", 1500, 31)
        run("./test.sh", f"exec:{sys.executable} my-python.py", cwd=folder / "my-python", env={**options["env"], "PYTHONPATH": package, "BARS": str(bars), "CUTS": "4"})


def page_examples(folder, environment):
    """Every program of docs/plugins.md compiles as C and as C++, without a warning, and the table is taken."""
    text = pathlib.Path(SOURCE, "docs/plugins.md").read_text()
    programs = dict(re.findall(r"^```c (\w+)\n(.*?)^```$", text, re.M | re.S))
    assert set(programs) == {"strategy", "indicator"}, set(programs)
    flags = run("pkg-config", "--cflags", "papertape", env=environment).stdout.split()
    others = [[path] for path in map(shutil.which, ("g++", "clang++", "clang++-14")) if path][:1]
    for name, program in programs.items():
        for compiler, language, standard in [(CC, "c", "-std=c11"), *((other, "c++", "-std=c++20") for other in others)]:
            target = folder / f"page-{name}-{language.replace('+', 'p')}.so"
            run(*compiler, "-x", language, standard, *STRICT, "-shared", "-fPIC", *flags, "-", "-x", "none", "-o", target, "-lm", input=program)
            if SANITIZED:
                continue
            if name == "strategy":
                assert "lookahead ok" in papertape("lookahead", f"lib:{target}", "--cuts", 4).stdout
            else:
                papertape("indicators", "--list", f"lib:{target}:range")
    for header in ("strategy", "indicator"):
        for compiler, language, standard in [(CC, "c", "-std=c99"), *((other, "c++", "-std=c++11") for other in others)]:
            run(*compiler, "-x", language, standard, *STRICT, *flags, "-fsyntax-only", "-", input=f"#include <papertape/{header}.h>\nint one;\n")


def reads_indicators(folder, environment):
    """A strategy that reads a shared object's mean decides as with the built-in sma, both ways, and of longer bars."""
    if SANITIZED:
        return
    text = pathlib.Path(SOURCE, "docs/plugins.md").read_text()
    program = re.search(r"^```c strategy\n(.*?)^```$", text, re.M | re.S)[1]
    flags = run("pkg-config", "--cflags", "papertape", env=environment).stdout.split()
    shutil.copy(INDICATORS, folder / "own.so")
    bars = synthetic(folder, "M", 4000, 23)
    for frame in ("", "@1h"):
        made = {}
        for name, spec in (("sma", "sma:%d"), ("own", f"lib:{folder}/own.so:mean:%d")):
            changed = program.replace('"sma:%d"', f'"{spec}{frame}"')
            assert changed != program or spec + frame == "sma:%d"
            target = folder / f"reads-{name}-{frame[1:]}.so"
            run(*CC, "-x", "c", "-std=c11", *STRICT, "-shared", "-fPIC", *flags, "-", "-x", "none", "-o", target, "-lm", input=changed)
            made[name] = [outputs(folder, f"lib:{target}:period=12", bars, "--way", way) for way in ("columns", "engine")]
        for found in (made["sma"][1], *made["own"]):
            assert found == made["sma"][0] and found["trades"].count(b"\n") > 20, frame


def main():
    with tempfile.TemporaryDirectory(prefix="papertape-plugins-") as name:
        folder = pathlib.Path(name)
        os.chmod(folder, 0o755)
        files = bars_files(folder, SOURCE)
        same_files(folder, files)
        same_sweep(folder, files[0])
        same_rounds(folder)
        guards(folder)
        saved(folder, f"{MINE}:fast=7", synthetic(folder, "A", 3000, 8))
        ends_of_process(folder)
        lists(folder)
        indicators(folder)
        refusals(folder)
        environment = pkg_config(folder / "installed")
        new_folders(folder, environment)
        page_examples(folder, environment)
        reads_indicators(folder, environment)


main()
