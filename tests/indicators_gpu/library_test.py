"""The library as another program has it: installed, found by pkg-config, compiled against, run.

    python3 library_test.py PROGRAM BUILD SOURCE CC...

PROGRAM is papertape. The examples of docs/indicators/using.md are compiled as they stand there, as C and as C++,
against the shared and the static library, and print what `papertape indicators` prints. Standard library only."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from installed_library import InstalledLibrary, check, compilers, done, examples, functions, run  # noqa: E402

PAPERTAPE, BUILD, SOURCE = sys.argv[1], sys.argv[2], Path(sys.argv[3])
CC = sys.argv[4:]


def bars(n):
    state, price, lines = 1, 100.0, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        before, price = price, price * (1 + ((state >> 40) / 2**24 - 0.5) / 50)
        low, high = min(before, price) * 0.999, max(before, price) * 1.001
        lines.append(f"{before!r},{high!r},{low!r},{price!r},{1 + state % 1000}")
    return lines


def close(got, expected):
    """The same cells, and values that the cpu backend may give."""
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
    library = InstalledLibrary("papertape-indicators", BUILD, folder / "root")
    of_plugins = {"indicator.h", "strategy.h"}  # contracts of what users build: system/plugins
    headers = sorted((library.include / "papertape").glob("*.h"))
    names = ["feature_sets.h", "indicator_rows.h", "indicators.h"]
    check({header.name for header in headers} == {*names, *of_plugins}, f"headers {headers}")
    headers = [header for header in headers if header.name not in of_plugins]
    public = set().union(*(functions(header.read_text()) for header in headers))
    check({"indicator_compute", "indicator_stream_open", "feature_matrix"} <= public, f"declared {sorted(public)}")
    library.check_symbols(public)
    found = compilers(CC)
    library.compile_headers(headers, found)

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
    sources = examples(SOURCE / "docs/indicators/using.md")
    check(sources.keys() == {"columns", "stream"}, f"examples {sorted(sources)}")
    for name, source in sources.items():
        for what, program, environment in library.programs(name, source, found):
            if name == "stream":
                for spec in specs[:3]:
                    got = run([program, spec], input=text, env=environment)
                    check(got == printed(spec), f"{what}: {spec}")
                continue
            check(run([program, *specs], input=text, env=environment) == everything, what)
            check(close(run([program, "cpu", *specs], input=text, env=environment), everything), f"{what}: cpu")
            bad = subprocess.run(
                [program, "smaa"], input=text, env=environment, capture_output=True, text=True
            )
            check(bad.returncode == 2 and bad.stderr.startswith('smaa: there is no indicator "smaa"'), bad.stderr)
            for mode in ([], ["cpu"]):
                bad = subprocess.run(
                    [program, *mode, "sma:3"],
                    input=text + "1,1,1,nan,1\n",
                    env=environment,
                    capture_output=True,
                    text=True,
                )
                check(bad.returncode == 1 and f"bar {len(lines)}" in bad.stderr, f"{what}: {bad.stderr!r}")

    scratch.cleanup()
    return done(f"indicators_gpu/library: {len(specs)} specifications")


if __name__ == "__main__":
    sys.exit(main())
