"""`papertape indicators` as scripts use it: python3 command_test.py PROGRAM [VERB] (standard library only)."""

import gzip
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1:]
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def run(*arguments, **options):
    environment = {name: value for name, value in os.environ.items() if name != "PAPERTAPE_GPU_MODULE"}
    environment.update(options.pop("environment", {}))
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, env=environment, **options)


def refused(status, line, *arguments):
    """The program ends with that status, says that one line on stderr and prints nothing."""
    done = run(*arguments)
    check(done.returncode == status, f"{arguments}: exit {done.returncode}, not {status}")
    check(done.stderr == f"papertape: {line}\n", f"{arguments}: {done.stderr!r}")
    check(done.stdout == "", f"{arguments}: it printed {done.stdout[:60]!r}")


def main():
    folder = tempfile.TemporaryDirectory()
    plain, packed = os.path.join(folder.name, "TEST_1m.csv"), os.path.join(folder.name, "PACKED_1m.csv")
    text = "open_time,open,high,low,close,volume\n"
    for i in range(200):
        price = 100 + (i * 37 % 91) / 7
        text += f"{1700000000000 + i * 60000},{price},{price + 1.5},{price - 0.5},{price + 0.25},{i}\n"
    with open(plain, "w") as file:
        file.write(text)
    with gzip.open(packed, "wt") as file:
        file.write(text)
    specs = ["sma:20", "ema:14", "rsi:14", "macd:12,26,9", "atr:14"]

    done = run(plain, *specs)
    check(done.returncode == 0 and done.stderr == "", f"plain: {done.returncode} {done.stderr}")
    lines = done.stdout.splitlines()
    check(
        lines[0] == "timestamp_ns,sma_20,ema_14,rsi_14,macd_12_26_9.macd,macd_12_26_9.signal,macd_12_26_9.hist,atr_14",
        lines[0],
    )
    check(len(lines) == 201 and lines[1] == "1700000000000000000,,,,,,,", lines[1])
    first = [next(i for i, line in enumerate(lines[1:]) if line.split(",")[column]) for column in range(1, 8)]
    check(first == [19, 13, 14, 33, 33, 33, 14], f"first outputs {first}")
    closes = [float(line.split(",")[4]) for line in text.splitlines()[1:]]
    check(float(lines[200].split(",")[1]) == sum(closes[180:200], 0.0) / 20, "sma of the last 20 closes")

    for backend in ("reference", "cpu", "stream"):
        check(run("--backend", backend, plain, *specs).stdout == done.stdout, f"{backend} prints other digits")
    check(run(packed, *specs).stdout == done.stdout, "gzip")
    check(run(plain, *specs, "--symbol", "X", "--state", folder.name).stdout == done.stdout, "options last")
    check(run("--precision", "f64", plain, *specs).stdout == done.stdout, "f64")

    nowhere = os.path.join(folder.name, "no.so")
    gpu = run("--backend", "gpu", plain, *specs, environment={"PAPERTAPE_GPU_MODULE": nowhere})
    check(gpu.returncode == 0 and gpu.stdout == done.stdout, "gpu falls back to the CPU")
    check(
        gpu.stderr == f"papertape: --backend gpu: no GPU module: {nowhere}: No such file or directory: "
        "the CPU computes instead\n",
        gpu.stderr,
    )
    gpu = run("--backend", "gpu", plain, *specs)
    check(gpu.returncode == 0 and gpu.stdout == done.stdout, f"gpu: {gpu.stderr}")

    listed = json.loads(run("--list", "--json").stdout)
    check(listed["schema"] == "papertape.indicators/1", "schema")
    rows = {row["name"]: row for row in listed["indicators"]}
    check({"sma", "ema", "rsi", "macd", "atr"} <= set(rows), f"rows {sorted(rows)}")
    check(rows["macd"]["columns"] == [f"macd_12_26_9.{o}" for o in ("macd", "signal", "hist")], "columns of macd")
    check(rows["macd"]["lookback_bars"] == 33 and rows["atr"]["inputs"] == ["high", "low", "close"], "rows")
    table = run("--list").stdout.splitlines()
    check(len(table) == 1 + len(rows) and table[0].startswith("NAME"), "table")
    check(run("--help").stdout.startswith("Usage: papertape indicators FILE SPEC"), "help")

    see = ": see papertape indicators --help"
    refused(2, f"indicators: a file and at least one indicator are needed{see}")
    refused(2, f"indicators: a file and at least one indicator are needed{see}", plain)
    refused(2, f"indicators: --nope: unknown option{see}", "--nope")
    refused(2, f"indicators: --json goes with --list{see}", plain, "sma", "--json")
    refused(2, "--backend: abacus: cpu, reference, stream or gpu", "--backend", "abacus", plain, "sma")
    refused(2, "--precision: f32: no backend computes it yet: f64 works with every one", "--precision", "f32", plain, "sma")
    refused(2, 'indicators: smaa:3: there is no indicator "smaa": the nearest are "sma", "ema" and "hma"', plain, "smaa:3")
    refused(2, 'indicators: sma:0: sma: period "0": a whole number from 1 to 100000 is needed', plain, "sma:0")
    with open(plain, "a") as file:
        file.write("1700000000000,1,2,1,1,1\n")
    done = run(plain, "sma")
    check(done.returncode == 1 and f"{plain}:202:" in done.stderr and done.stdout == "", f"bad row: {done.stderr}")
    done = run(os.path.join(folder.name, "none.csv"), "sma")
    check(done.returncode == 1 and "none.csv" in done.stderr and done.stderr.count("\n") == 1, f"no file: {done.stderr}")
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, packed, "sma:20"], stdout=full, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 1 and done.stderr.startswith("papertape: indicators: stdout: "), f"full: {done.stderr}")

    folder.cleanup()
    print(f"indicators_gpu/command: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
