"""The environment's library as another program has it: installed, found by pkg-config, compiled against, run.

    python3 library_test.py BUILD SOURCE CC...

The program of docs/environment.md is compiled as it stands there, as C and as C++, against the shared and the static
library, and its accounts are reckoned again here. Standard library only."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD, SOURCE, CC = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
HEADERS = ["abi.h", "env.h", "market.h", "params.h", "symbol.h", "trade.h"]
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        print(f"FAILED {command}: exit {done.returncode}\n{done.stderr}", file=sys.stderr)
        sys.exit(1)
    return done.stdout


def install(folder):
    """Into a folder of its own; what pkg-config then says."""
    run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", str(folder), "--tags", "devel,runtime"])
    (pc,) = folder.rglob("papertape-env.pc")
    prefix = re.search(r"^prefix=(.*)$", pc.read_text(), re.M)[1]

    def pkg_config(*arguments):
        return run(
            ["pkg-config", f"--define-variable=prefix={folder}{prefix}", *arguments, "papertape-env"],
            env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"},
        ).split()

    return pkg_config


def declared(headers):
    """The functions that a program can call: those between the pragmas."""
    public = re.compile(r"^#pragma GCC visibility push.*?^#pragma GCC visibility pop", re.M | re.S)
    parts = [part for header in headers for part in public.findall(header.read_text())]
    return {name for part in parts for name in re.findall(r"^[a-z][\w *]*?\b(\w+)\((?!\*)[^;]*\);", part, re.M)}


def symbols(*command):
    return {line.split()[-1] for line in run(["nm", *command]).splitlines() if len(line.split()) == 3}


def bars(n):
    """Closes that float32 holds, so that what is expected here is exact."""
    state, price, rows = 1, 100.0, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        price += ((state >> 40) % 65 - 32) / 64
        rows.append((price, 1 + state % 1000))
    return rows


def expected(closes, hundredths, capital=1000.0, fee=0.0025, lookback=3):
    """What buying for hundredths of the capital in every step comes to; nothing is sold before 48 bars."""
    cash, qty, buys = capital, 0.0, 0
    for close in closes[lookback : len(closes) - lookback]:
        wanted = hundredths * capital / (closes[0] * 100)
        bought = min(wanted, max(0, cash) / (1 + fee) / close * 0.99)
        cash, qty, buys = cash - bought * close * (1 + fee), qty + bought, buys + 1
    last = closes[len(closes) - lookback - 1]
    return buys, cash + qty * last, capital / closes[0] / (1 + fee) * last


def main():
    scratch = tempfile.TemporaryDirectory()
    folder = Path(scratch.name)
    pkg_config = install(folder / "root")
    cflags, libs = pkg_config("--cflags"), pkg_config("--libs")
    private = [flag for flag in pkg_config("--static", "--libs") if flag not in libs]
    (include,) = (Path(flag[2:]) for flag in cflags if flag.startswith("-I"))
    (libdir,) = (Path(flag[2:]) for flag in libs if flag.startswith("-L"))
    headers = sorted((include / "papertape/env").iterdir())
    check([header.name for header in headers] == HEADERS, f"headers {headers}")

    # Nothing but what the headers declare.
    public = declared(headers)
    check({"env_create", "env_step", "env_market_create", "env_params_set", "env_version"} <= public, f"{sorted(public)}")
    shared, static = libdir / "libpapertape-env.so", libdir / "libpapertape-env.a"
    exported = symbols("-D", "--defined-only", shared)
    check(exported == public, f"the shared library: {sorted(exported ^ public)}")
    exported = symbols("-g", "--defined-only", static)
    check(exported == public, f"the static library: {sorted(exported ^ public)}")
    soname = re.search(r"SONAME.*\[(.*)\]", run(["readelf", "-d", shared]))[1]
    check(soname == "libpapertape-env.so.0" and (libdir / soname).exists(), f"soname {soname}")
    needed = re.findall(r"NEEDED.*\[(.*?)\.so", run(["readelf", "-d", shared]))
    check(set(needed) <= {"libc", "libm"}, f"the shared library needs {needed}")

    # Each header by itself, in the oldest C and C++ that it is for.
    compilers = [(CC, "c", "-std=c99")]
    compilers += [([path], "c++", "-std=c++11") for path in map(shutil.which, ("g++", "clang++-14", "clang++")) if path][:2]
    check(len(compilers) > 1, "no C++ compiler was found")
    for cc, language, standard in compilers:
        for header in headers:
            text = f"#include <papertape/env/{header.name}>\nint main({'void' if language == 'c' else ''}) {{ return 0; }}\n"
            run([*cc, "-x", language, standard, *STRICT, *cflags, "-fsyntax-only", "-"], input=text)

    page = (SOURCE / "docs/environment.md").read_text()
    ((name, source),) = re.findall(r"^```c (\w+)\n(.*?)^```$", page, re.M | re.S)
    rows = bars(40)
    text = "".join(f"{close!r},{volume}\n" for close, volume in rows)
    printed = set()
    for cc, language, standard in compilers:
        for kind, link in (("shared", libs), ("static", [str(static), *private])):
            what = f"{name} as {language} by {cc[-1]}, {kind}"
            program = folder / f"{name}-{kind}"
            standard = standard if language == "c++" else "-std=c11"
            run([*cc, "-x", language, standard, *STRICT, *cflags, "-", "-x", "none", "-o", program, *link], input=source)
            environment = {**os.environ, "LD_LIBRARY_PATH": str(libdir) if kind == "shared" else ""}
            printed.add(run([program], input=text, env=environment))
            for given, part in (
                (["lookbak", "3"], "the nearest is lookback"),
                (["lookback", "0"], "lookback: 0: "),
                (["lookback", "30"], "rows"),
            ):
                bad = subprocess.run([program, *given], input=text, env=environment, capture_output=True, text=True)
                check(bad.returncode == 1 and part in bad.stderr, f"{what}: {given}: {bad.stderr!r}")
            bad = text.replace(f"{rows[7][0]!r},", "-1,", 1)
            bad = subprocess.run([program], input=bad, env=environment, capture_output=True, text=True)
            check(bad.returncode == 1 and "BTC" in bad.stderr and "7" in bad.stderr, f"{what}: {bad.stderr!r}")
    check(len(printed) == 1, f"what was printed differs: {printed}")
    accounts = re.findall(r"^(\d+) purchases, equity (\S+), benchmark (\S+)$", printed.pop(), re.M)
    check(len(accounts) == 4, f"accounts {accounts}")
    for copy, account in enumerate(accounts):
        buys, *money = expected([close for close, _ in rows], copy + 1)
        check(int(account[0]) == buys, f"copy {copy}: {account[0]} purchases, not {buys}")
        for value, known in zip(account[1:], money, strict=True):
            check(abs(float(value) - known) <= 1e-6 * known, f"copy {copy}: {value}, not {known}")

    scratch.cleanup()
    print(f"trainer/env/library: {len(public)} functions, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
