"""The library as another program has it: installed, found by pkg-config, compiled against, run.

    python3 library_test.py PROGRAM BUILD SOURCE CC...

PROGRAM is papertape. The examples of docs/indicators/using.md are compiled as they stand there, as C and as C++,
against the shared and the static library, and print what `papertape indicators` prints. Standard library only."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAPERTAPE, BUILD, SOURCE = sys.argv[1], sys.argv[2], Path(sys.argv[3])
CC = sys.argv[4:]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
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
    """Into a folder of its own; the headers, the libraries and the pkg-config file."""
    run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", str(folder), "--tags", "devel,runtime"])
    (pc,) = folder.rglob("papertape-indicators.pc")
    prefix = re.search(r"^prefix=(.*)$", pc.read_text(), re.M)[1]

    def pkg_config(*arguments):
        found = run(
            ["pkg-config", f"--define-variable=prefix={folder}{prefix}", *arguments, "papertape-indicators"],
            env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"},
        )
        return found.split()

    return pkg_config


def examples():
    """The programs of the page, by name."""
    page = (SOURCE / "docs/indicators/using.md").read_text()
    return dict(re.findall(r"^```c (\w+)\n(.*?)^```$", page, re.M | re.S))


def declared(headers):
    """The functions that the headers declare."""
    return {
        name
        for header in headers
        for name in re.findall(r"^[a-z][\w *]*?\b(\w+)\((?!\*)[^;]*\);", header.read_text(), re.M)
    }


def symbols(*command):
    return {line.split()[-1] for line in run(["nm", *command]).splitlines() if len(line.split()) == 3}


def bars(n):
    state, price, lines = 1, 100.0, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        before, price = price, price * (1 + ((state >> 40) / 2**24 - 0.5) / 50)
        low, high = min(before, price) * 0.999, max(before, price) * 1.001
        lines.append(f"{before!r},{high!r},{low!r},{price!r},{1 + state % 1000}")
    return lines


def close(got, expected):
    """The same cells, and values that the fast backend may give."""
    rows, others = [[line.split(",") for line in text.splitlines()] for text in (got, expected)]
    tops = [max((abs(float(v)) for v in column if v), default=0) for column in zip(*others)]
    return len(rows) == len(others) and all(
        (a == "") == (b == "") and (not b or abs(float(a) - float(b)) <= 1e-9 * max(top, 100))
        for row, other in zip(rows, others)
        for a, b, top in zip(row, other, tops, strict=True)
    )


def main():
    scratch = tempfile.TemporaryDirectory()
    folder = Path(scratch.name)
    pkg_config = install(folder / "root")
    cflags, libs = pkg_config("--cflags"), pkg_config("--libs")
    private = [flag for flag in pkg_config("--static", "--libs") if flag not in libs]
    (include,) = (Path(flag[2:]) for flag in cflags if flag.startswith("-I"))
    (libdir,) = (Path(flag[2:]) for flag in libs if flag.startswith("-L"))
    headers = sorted((include / "papertape").glob("*.h"))
    check([header.name for header in headers] == ["feature_sets.h", "indicators.h"], f"headers {headers}")

    # Nothing but what the headers declare.
    public = declared(headers)
    check({"indicator_compute", "indicator_stream_open", "feature_matrix"} <= public, f"declared {sorted(public)}")
    shared, static = libdir / "libpapertape-indicators.so", libdir / "libpapertape-indicators.a"
    exported = symbols("-D", "--defined-only", shared)
    check(exported == public, f"the shared library: {sorted(exported ^ public)}")
    exported = symbols("-g", "--defined-only", static)
    check(exported == public, f"the static library: {sorted(exported ^ public)}")
    soname = re.search(r"SONAME.*\[(.*)\]", run(["readelf", "-d", shared]))[1]
    check(soname == "libpapertape-indicators.so.0" and (libdir / soname).exists(), f"soname {soname}")
    needed = re.findall(r"NEEDED.*\[(.*?)\.so", run(["readelf", "-d", shared]))
    check(set(needed) <= {"libc", "libm"}, f"the shared library needs {needed}")

    # Each header by itself, in the oldest C and C++ that it is for.
    compilers = [(CC, "c", "-std=c99")]
    compilers += [([path], "c++", "-std=c++11") for path in map(shutil.which, ("g++", "clang++-14", "clang++")) if path][:2]
    check(len(compilers) > 1, "no C++ compiler was found")
    for cc, language, standard in compilers:
        for header in headers:
            text = f"#include <papertape/{header.name}>\nint main() {{ return 0; }}\n".replace(
                "main()", "main(void)" if language == "c" else "main()"
            )
            run([*cc, "-x", language, standard, *STRICT, *cflags, "-fsyntax-only", "-"], input=text)

    lines = bars(700)
    plain = folder / "TEST_1m.csv"
    plain.write_text("".join(f"{1700000000000 + 60000 * i},{line}\n" for i, line in enumerate(lines)))
    text = "\n".join(lines) + "\n"
    rows = json.loads(run([PAPERTAPE, "indicators", "--list", "--json"]))["indicators"]
    specs = [row["name"] for row in rows if "time" not in row["inputs"]][:64]
    specs[:0] = ["macd:5,35,5", "sma:1"]
    specs = specs[:64]

    def printed(*wanted):
        table = run([PAPERTAPE, "indicators", "--backend", "reference", plain, *wanted]).splitlines()[1:]
        return "".join(line.split(",", 1)[1] + "\n" for line in table)

    everything = printed(*specs)
    check(examples().keys() == {"columns", "stream"}, f"examples {sorted(examples())}")
    for name, source in examples().items():
        for cc, language, standard in compilers:
            for kind, link in (("shared", libs), ("static", [str(static), *private])):
                what = f"{name} as {language} by {cc[-1]}, {kind}"
                program = folder / f"{name}-{kind}"
                standard = standard if language == "c++" else "-std=c11"
                run([*cc, "-x", language, standard, *STRICT, *cflags, "-", "-x", "none", "-o", program, *link], input=source)
                environment = {**os.environ, "LD_LIBRARY_PATH": str(libdir) if kind == "shared" else ""}
                if name == "stream":
                    for spec in specs[:3]:
                        got = run([program, spec], input=text, env=environment)
                        check(got == printed(spec), f"{what}: {spec}")
                    continue
                check(run([program, *specs], input=text, env=environment) == everything, what)
                check(close(run([program, "fast", *specs], input=text, env=environment), everything), f"{what}: fast")
                bad = subprocess.run(
                    [program, "smaa"], input=text, env=environment, capture_output=True, text=True
                )
                check(bad.returncode == 2 and bad.stderr.startswith('smaa: there is no indicator "smaa"'), bad.stderr)
                for mode in ([], ["fast"]):
                    bad = subprocess.run(
                        [program, *mode, "sma:3"],
                        input=text + "1,1,1,nan,1\n",
                        env=environment,
                        capture_output=True,
                        text=True,
                    )
                    check(bad.returncode == 1 and f"bar {len(lines)}" in bad.stderr, f"{what}: {bad.stderr!r}")

    scratch.cleanup()
    print(f"indicators_gpu/library: {len(specs)} specifications, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
