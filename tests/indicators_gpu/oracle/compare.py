"""Compares the indicators' CSV with TA-Lib: python3 compare.py COLUMNS_PROGRAM

Real bars from $PAPERTAPE_SHARED/data/bars where they are, generated ones always. NaN masks must be equal, values
within 1e-9 of TA-Lib's, relative to themselves, plus what ABSOLUTE allows a row; streams print the reference's very
digits of real bars; the cpu backend is held to what --list states, the GPU's parallel kernels to what they state.
Wants TA-Lib and NumPy from the venv in $PAPERTAPE_VENV; exits 77 without it.
"""

import csv
import datetime
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("TA-Lib"):
    import numpy as np
    import talib.abstract
    from candles import candles, ticks
    from generated import kinds, walk
    from rows import ABSOLUTE, FIXTURES, ROWS, SPECS, compute, split

RELATIVE = 1e-9
CANDLES = [spec for spec in SPECS if spec.startswith("cdl")]
OTHERS = [spec for spec in SPECS if spec not in CANDLES]
TILES_MACD_OF_PRICE = 2.0**-48 * 35  # cuda/fused.h, with the longest slow period of SPECS
TILES_RSI = 1e-9
PROGRAM = sys.argv[1]
os.environ.setdefault("PAPERTAPE_GPU_MODULE", os.path.join(os.path.dirname(os.path.abspath(PROGRAM)), "libgpu-on-cpu.so"))
CPU_F32 = "cpu --precision f32"
OWN = {"vwap"}  # has sessions, TA-Lib's none
NAMES = ["open", "high", "low", "close", "volume"]
LONG = "PAPERTAPE_LONG" in os.environ
# Rows that are written once give the same bits in every backend, which the C tests see: the reference stands for them.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../indicators_gpu/indicator_rows.h")) as file:
    ONCE = set(re.findall(r"X\(\d+, \w+, (\w+), (?:WINDOW|STEPS)\)", file.read()))
APART = OTHERS if LONG else [spec for spec in OTHERS if split(spec)[0] not in ONCE]
failures = []


def seconds(text):
    """A time as the files here have it: ISO 8601, or milliseconds."""
    return int(text) / 1000 if text.isdigit() else datetime.datetime.fromisoformat(text).timestamp()


def read_bars(path):
    """The columns as float64, by this script's own reading of the file."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as file:
        rows = csv.reader(file)
        header = [name.strip().lower() for name in next(rows)]
        places = [header.index(name) for name in NAMES]
        table = np.array([[seconds(row[0]), *(float(row[place]) for place in places)] for row in rows])
    return {name: np.ascontiguousarray(table[:, i]) for i, name in enumerate(["time", *NAMES])}


def write_bars(path, columns):
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for time, *row in zip(*(columns[name].tolist() for name in ["time", *NAMES])):
            file.write(f"{int(time) * 1000}," + ",".join(map(repr, row)) + "\n")


def run(path, backend, specs):
    done = subprocess.run([PROGRAM, "--backend", *backend.split(), path, *specs], capture_output=True, text=True)
    if done.returncode != 0:
        failures.append(f"{path}: {backend}: exit {done.returncode}: {done.stderr.strip()}")
        return None
    return done.stdout


def table_of(text):
    header, _, body = text.partition("\n")
    cells = body.replace(",,", ",nan,").replace(",,", ",nan,").replace(",\n", ",nan\n").replace("\n", ",")
    names = header.split(",")
    return names, np.fromstring(cells.rstrip(","), sep=",").reshape(-1, len(names))


allowed_of = {}  # of the columns looked at last, by row


def allowance(name, columns):
    if allowed_of.get("columns") is not columns:
        allowed_of.clear()
        allowed_of["columns"] = columns
    if name not in allowed_of:
        allowed_of[name] = ABSOLUTE[name](columns) if name in ABSOLUTE else 0.0
    return allowed_of[name]


def absolute(name, backend, columns, expected, there):
    """What a row may differ by, in addition to RELATIVE; `there`: the bars that have outputs."""
    if backend == "tiles" and name in ("macd", "rsi"):
        return columns["high"].max() * TILES_MACD_OF_PRICE if name == "macd" else TILES_RSI
    allowed = np.broadcast_to(allowance(name, columns), len(there))[there]
    if backend.startswith("cpu"):  # what --list states
        of, digit = tolerances[name]["of"], np.abs(expected)
        precision = "f32" if backend == CPU_F32 else "f64"
        whole = {
            "value": digit,
            "price": max(np.abs(columns["high"]).max(), np.abs(columns["low"]).max()),
            "column": digit.max(initial=0.0),
            "absolute": 1.0,
        }[of]
        allowed += np.maximum(tolerances[name][precision] * whole, digit * np.finfo(precision.replace("f", "float")).eps)
    return allowed


OTHER_DEFAULTS = {"hma"}  # docs/indicators.md says so


def other_defaults(rows):
    """Sentences: the defaults of TA-Lib's rows are TA-Lib's, and those that are not differ."""
    for row in rows:
        name = re.sub("^TA-Lib ", "", row["source"])
        if name not in talib.get_functions():
            continue
        parameters = talib.abstract.Function(name).parameters
        theirs = [value for of, value in parameters.items() if not of.endswith("matype")]
        pairs = [(option["default"], value) for option, value in zip(row["options"], theirs)]
        if any(own != other for own, other in pairs) != (row["name"] in OTHER_DEFAULTS):
            yield f"{row['name']}: its defaults, and TA-Lib's: {pairs}"


tolerances = {}  # by row


def rounded(columns):
    """As float32 columns hold them."""
    return {name: column if name == "time" else column.astype(np.float32).astype(float) for name, column in columns.items()}


expected_of = {}  # of the columns looked at last, by spec


def expect(spec, columns):
    if expected_of.get("columns") is not columns:
        expected_of.clear()
        expected_of["columns"] = columns
    if spec not in expected_of:
        expected_of[spec] = compute(spec, columns)
    return expected_of[spec]


def compare(label, path, columns, backend, specs):
    """Prints one line: how many columns have TA-Lib's very bits, the largest relative difference of the others, and
    how many values needed the absolute part. Returns the backend's CSV."""
    text = run(path, backend, specs)
    if text is None:
        return None
    header, table = table_of(text)
    worst, same, beyond, place = 0.0, 0, 0, 1
    for spec in specs:
        for expected in expect(spec, columns):
            got, name = table[:, place], header[place]
            place += 1
            if len(got) != len(expected) or not np.array_equal(np.isnan(got), np.isnan(expected)):
                failures.append(f"{label}: {backend}: {name}: rows or empty cells differ from TA-Lib's")
                continue
            there = ~np.isnan(expected)
            got, expected = got[there], expected[there]
            difference = np.abs(got - expected)
            near = difference <= RELATIVE * np.abs(expected)
            bad = ~(difference <= RELATIVE * np.abs(expected) + absolute(split(spec)[0], backend, columns, expected, there))
            if bad.any():
                i = int(np.argmax(bad))
                failures.append(f"{label}: {backend}: {name}: {bad.sum()} values differ, the first {got[i]!r}, not {expected[i]!r}")
            beyond += int((~near).sum())
            if near.any():
                worst = max(worst, float(np.max(difference[near] / np.maximum(np.abs(expected[near]), 1e-300))))
            same += bool(np.array_equal(got, expected))
    if place != len(header):
        failures.append(f"{label}: {backend}: {len(header) - 1} columns, {place - 1} expected")
    print(
        f"{label}: {backend}: {len(table)} bars, {place - 1} columns, {same} with TA-Lib's bits, else within "
        f"{worst:.1e}; {beyond} values near 0 by the absolute part"
    )
    return text


def compare_candles(folder, label, columns, backends):
    """Patterns are whole numbers, so equal ones: on prices that are whole numbers of a tick."""
    path = os.path.join(folder, "TICKS_1m.csv")
    write_bars(path, columns)
    for backend in backends:
        compare(label, path, columns, backend, CANDLES)


def check_candles(folder):
    """Every pattern is there in the generated bars, and every walk's and file's bars are tried."""
    columns = candles(100000 if LONG else 25000, 1)
    compare_candles(folder, "candles", columns, ("reference", "cpu", "stream", "blocks", CPU_F32) if LONG else ("reference",))
    seen = {split(spec)[0] for spec in CANDLES if any(np.nan_to_num(values).any() for values in expect(spec, columns))}
    for name in sorted({split(spec)[0] for spec in CANDLES} - seen):
        failures.append(f"candles: {name} is nowhere in the generated bars")
    n = 3000 if LONG else 1500
    compare_candles(folder, f"candles of {n}", candles(n, 2), ("reference", "cpu", "stream", "blocks", CPU_F32))
    print(f"counts: candles on {len(columns['open'])} bars (100000 with PAPERTAPE_LONG); {len(OTHERS) - len(APART)} other specs "
          "by the reference alone (none with PAPERTAPE_LONG), and so are the kinds of walks")
    for name, columns in {"walk in ticks": walk(4001 if LONG else 2001, 3), **kinds(2000 if LONG else 1000, 5)}.items():
        compare_candles(folder, f"{name} in ticks", ticks(columns), ("reference",))


def main():
    listed = json.loads(subprocess.run([PROGRAM, "--list", "--json"], capture_output=True, check=True).stdout)
    assert listed["schema"] == "papertape.indicators/1"
    tolerances.update((row["name"], row["tolerance"]) for row in listed["indicators"])
    failures.extend(other_defaults(listed["indicators"]))
    for row in listed["indicators"]:
        for what, specs in {"ROWS": ROWS, "SPECS": SPECS, "FIXTURES": FIXTURES}.items():
            if row["name"] not in {split(spec)[0] for spec in specs}:
                failures.append(f"{row['name']}: no family's module in tests/indicators_gpu/oracle has it in {what}: see rows.py there")
        if row["name"].upper() in talib.get_functions() and not row["source"].startswith("TA-Lib") and row["name"] not in OWN:
            failures.append(f"{row['name']}: TA-Lib has it: its definition holds")

    with tempfile.TemporaryDirectory() as folder:
        for n, seed in ((1, 1), (33, 2), (20000 if LONG else 2001, 3)):
            path = os.path.join(folder, f"WALK{n}_1m.csv")
            columns = walk(n, seed)
            write_bars(path, columns)
            for backend in ("reference", "cpu", "stream", "blocks", "tiles"):
                compare(f"walk of {n}", path, columns, backend, OTHERS if backend == "reference" else APART)
            compare(f"walk of {n}", path, rounded(columns), CPU_F32, APART)
        for name, columns in {**{f"walk of {n}": walk(n, n) for n in (31, 32)}, **kinds(2000, 5)}.items():
            path = os.path.join(folder, f"{name.replace(' ', '')}_1m.csv")
            write_bars(path, columns)
            for backend in ("reference", "stream") if LONG else ("reference",):  # whose bits the stream has: indicators_gpu/stream
                compare(name, path, columns, backend, OTHERS if backend == "reference" else APART)
        path = os.path.join(folder, "MILLION_1m.csv")
        n = 1_000_003 if LONG else 20_003
        columns = walk(n, 4)
        write_bars(path, columns)
        few = ["sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"]
        compare(f"walk of {n}", path, columns, "reference", [spec for spec in FIXTURES if spec in OTHERS] if LONG else few)

        check_candles(folder)

    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../shared")
    shared = os.environ.get("PAPERTAPE_SHARED", beside)
    files = sorted(glob.glob(os.path.join(shared, "data/bars/*.csv.gz")), key=os.path.getsize)
    tried = files if LONG else files[:2]
    print(f"counts: {len(tried)} of {len(files)} files of real bars, the smallest first, which has every row (all with PAPERTAPE_LONG)")
    for path in tried:
        columns, specs = read_bars(path), OTHERS if LONG or path == files[0] else APART
        if specs is OTHERS:
            with tempfile.TemporaryDirectory() as folder:
                compare_candles(folder, f"{os.path.basename(path)} in ticks", ticks(columns), ("reference", "stream"))
        text = compare(os.path.basename(path), path, columns, "reference", specs)
        if run(path, "stream", specs) != text:
            failures.append(f"{path}: the stream's digits are not the reference's")
        if path in (files[:2] if LONG else files[:1]):
            compare(os.path.basename(path), path, columns, "cpu", APART)
            compare(os.path.basename(path), path, rounded(columns), CPU_F32, APART)
    if not files:
        print(f"no real bars in {shared}/data/bars ($PAPERTAPE_SHARED names the folder): generated ones only")

    for failure in failures:
        print("FAILED", failure, file=sys.stderr)
    print(f"TA-Lib {talib.__ta_version__.decode().split()[0]} (wheel {talib.__version__}): {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
