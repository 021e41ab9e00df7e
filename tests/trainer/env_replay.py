"""`papertape-trainer` as scripts use it: the recorded trajectories through every backend, its own output as an
input, and what it says of bad input. Standard library only.

    env_replay.py PAPERTAPE_TRAINER SOURCE_ROOT GPU_MODULE_ON_CPU
"""
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal

TRAINER, ROOT, CPU_MODULE = sys.argv[1:4]
SHARED = os.environ.get("PAPERTAPE_SHARED", os.path.join(ROOT, "..", "shared"))
BACKENDS = ("cpu", "scalar", "baseline", "avx2", "avx512", "gpu")
COUNTS = re.compile("t|done|buys|sells|held_.*")
failures = checks = 0


def check(condition, what):
    global failures, checks
    checks += 1
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def run(*arguments, environment=None):
    return subprocess.run([TRAINER, *arguments], capture_output=True, text=True,
                          env={**os.environ, "PAPERTAPE_GPU_MODULE": CPU_MODULE, **(environment or {})})


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# ---- The recordings.


def compare(name, got, want):
    """Every column at the guide's tolerance, counts exactly; returns the largest difference in parts of it."""
    check(list(got[0]) == list(want[0]), f"{name}: columns {list(got[0])}")
    check(len(got) == len(want), f"{name}: {len(got)} rows, not {len(want)}")
    worst = 0.0
    for column in want[0]:
        values = [float(row[column]) for row in want]
        largest = max(map(abs, values))
        for row, right in zip(got, values, strict=False):
            value = float(row[column])
            if COUNTS.fullmatch(column):
                check(value == right, f"{name}: t {row['t']}, {column}: {value}, not {right}")
                continue
            tolerance = 1e-4 * abs(right) + 2e-5 * largest
            check(abs(value - right) <= tolerance, f"{name}: t {row['t']}, {column}: {value}, not {right}")
            if tolerance > 0:
                worst = max(worst, abs(value - right) / tolerance)
    return worst


def compare_observation(name, got, want):
    check(len(got) == len(want), f"{name}: {len(got)} numbers, not {len(want)}")
    largest = max(map(abs, want))
    for k, (value, right) in enumerate(zip(got, want, strict=False)):
        check(abs(value - right) <= 1e-4 * abs(right) + 1e-6 * largest, f"{name}[{k}]: {value}, not {right}")


def recordings(folder):
    env, bars = os.path.join(SHARED, "data", "env"), os.path.join(SHARED, "data", "bars")
    names = sorted(name[:-5] for name in os.listdir(env) if name.endswith(".json"))
    check(len(names) >= 6, f"recordings: {names}")
    summary = os.path.join(folder, "summary.json")
    for name in names:
        files = [os.path.join(env, name + ".json"), os.path.join(env, name + ".csv")]
        with open(files[0]) as file:
            params = json.load(file)
        with open(files[1]) as file:
            want = rows_of(file.read())
        first, worst, stepped = None, 0.0, []
        for backend in BACKENDS:
            done = run("env-replay", *files, "--bars", bars, "--backend", backend, "--observations", summary)
            if done.returncode == 1 and "lacks it" in done.stderr:
                continue
            stepped.append(backend)
            check(done.returncode == 0, f"{name} {backend}: {done.returncode} {done.stderr}")
            check(done.stderr == "", f"{name} {backend}: {done.stderr}")
            worst = max(worst, compare(f"{name} {backend}", rows_of(done.stdout), want))
            first = first or done.stdout
            check(done.stdout == first, f"{name}: {backend} prints other digits")
            with open(summary) as file:
                seen = json.load(file)
            check(seen["schema"] == "papertape.env-replay/1" and seen["steps"] == len(want) and seen["done"], str(seen))
            check(seen["backend"] == backend or backend == "cpu" and seen["backend"] in BACKENDS, seen["backend"])
            for which in ("first_observation", "last_observation"):
                compare_observation(f"{name} {backend} {which}", seen[which], params[which])
        print(f"{name}: {len(want)} steps, largest difference {worst:.4f} of the tolerance: {' '.join(stepped)}")
        check({"cpu", "scalar", "baseline", "gpu"} <= set(stepped), f"{name}: {stepped}")


# ---- On bars of its own.

SYMBOLS = ["AAA", "BBB"]


def write_bars(folder, name="AAA", n=60, missing=(), price=100.0, first=1700000100, edit=None):
    lines = ["timestamp,open,high,low,close,volume"]
    for i in range(n):
        if i not in missing:
            close = price * (1 + ((i * 37) % 23 - 11) / 500)
            lines.append(f"{first + i * 300},{close:.4f},{close:.4f},{close:.4f},{close:.4f},{i}.5001")
    if edit:
        edit(lines)
    with gzip.open(os.path.join(folder, f"{name}USDT_5m.csv.gz"), "wt") as file:
        file.write("\n".join(lines) + "\n")


class Case:
    """Good files; a test changes what it needs."""

    def __init__(self, folder):
        self.folder = folder
        self.params = dict(symbols=SYMBOLS, first_bar="2023-11-14 22:15:00+00:00", bars=60, min_order_qty=[0, 0.01], params={})
        self.header = "t,action_AAA,action_BBB"
        self.rows = [f"{i + 3},{(i % 7) - 3},{(i % 5) - 2}" for i in range(53 + 1)]

    def files(self):
        paths = os.path.join(self.folder, "params.json"), os.path.join(self.folder, "actions.csv")
        with open(paths[0], "w") as file:
            file.write(self.params if isinstance(self.params, str) else json.dumps(self.params))
        with open(paths[1], "w") as file:
            file.write("\n".join([self.header, *self.rows]) + "\n")
        return paths

    def run(self, *options, bars=None):
        return run("env-replay", *self.files(), "--bars", bars or self.folder, *options)


def refused(case, words, *options, status=1, bars=None):
    done = case.run(*options, bars=bars)
    check(done.returncode == status, f"{words}: exit {done.returncode}, not {status}")
    line = done.stderr
    check(line.startswith("papertape-trainer: ") and line.count("\n") == 1 and line.endswith("\n"), f"one line: {line!r}")
    check(all(word in line for word in words), f"{words}: {line!r}")
    check(line.count(": ") >= 2, f"what: where: what would be right: {line!r}")
    return done


def bad_params(folder):
    def with_params(**params):
        case = Case(folder)
        case.params["params"] = params
        return case

    def changed(**keys):
        case = Case(folder)
        case.params.update(keys)
        return case

    refused(with_params(trailing_stop_pc=0.1), ["trailing_stop_pc", "trailing_stop_pct", "params.json"])
    refused(with_params(lookback=0), ["lookback"])
    refused(with_params(lookback=2.5), ["lookback"])
    refused(with_params(lookback=40), ["40", "params.json"])
    refused(with_params(gamma=1.5), ["gamma", "1.5"])
    refused(with_params(buy_cost_pct=[0.2, 0.1]), ["buy_cost_pct"])
    refused(with_params(buy_cost_pct=[0.1]), ["buy_cost_pct", "[low, high]"])
    refused(with_params(gamma=None), ["gamma"])
    refused(with_params(actions="many"), ["actions", "discrete"])
    refused(with_params(preset="fast"), ["fast", "preset"])
    refused(with_params(preset=3), ["preset"])
    refused(with_params(task="day-trade"), ["day-trade", "one asset"])
    refused(with_params(shorts=True), ["shorts"])
    refused(with_params(threshold=2), ["threshold"])
    refused(changed(symbols=[]), ["symbols"])
    refused(changed(symbols="AAA"), ["symbols"])
    refused(changed(symbols=["AAA", "AAA"]), ["symbols[1]", "twice"])
    refused(changed(symbols=["AAA", "../B"]), ["symbols[1]"])
    refused(changed(symbols=["AAA", 3]), ["symbols[1]"])
    refused(changed(min_order_qty=[1]), ["min_order_qty", "2"])
    refused(changed(min_order_qty=[1, -1]), ["min_order_qty[1]", "BBB"])
    refused(changed(min_order_qty=[1, "x"]), ["min_order_qty[1]"])
    refused(changed(first_bar="yesterday"), ["first_bar"])
    refused(changed(first_bar=None), ["first_bar"])
    refused(changed(first_bar="2023-11-14 22:16:00+00:00"), ["first_bar", "no bar opens"])
    refused(changed(first_bar="2033-11-14 22:15:00+00:00"), ["first_bar", "no bar opens"])
    refused(changed(interval="1m"), ["AAAUSDT_1m.csv.gz"])
    refused(changed(interval="5 minutes"), ["interval", "5m"])
    refused(changed(interval=5), ["interval"])
    refused(changed(first_close=[1]), ["first_close", "2"])
    refused(changed(first_close=[97.8, "x"]), ["first_close[1]", "BBB"])
    refused(changed(first_close=[97.8, 6.847]), ["first_close[1]", "6.846", "BBBUSDT", "6.847"])
    refused(changed(bars=0), ["bars"])
    refused(changed(bars=61), ["bars", "61", "60"])
    refused(changed(bars=6), ["lookback"])
    refused(changed(bars="many"), ["bars"])
    refused(changed(params=[1]), ["params"])
    for text in ("", "{", "[1]", '{"a":1,"a":2}', '{"symbols": NaN}'):
        case = Case(folder)
        case.params = text
        refused(case, ["params.json"])


def bad_actions(folder):
    case = Case(folder)
    case.rows[12] = "15,nan,0"
    refused(case, ["action_AAA", "nan", "actions.csv:14", "finite"])
    case.rows[12] = "15,0,inf"
    refused(case, ["action_BBB", "inf", "actions.csv:14", "finite"])
    reported = []
    for large in ("1e39", "-1e400", "1000", "-1000"):  # finite, and beyond float32 and double
        case.rows[12] = f"15,0,{large}"
        done = case.run()
        check(done.returncode == 0, f"{large}: {done.stderr}")
        reported.append([{key: value for key, value in row.items() if key != "action_BBB"} for row in rows_of(done.stdout)])
    check(reported[0] == reported[2] != reported[3] == reported[1], "beyond float32 is clipped")
    case.rows[12] = "15,0,"
    refused(case, ["action_BBB", "actions.csv:14"])
    case.rows[12] = "15,0,1x"
    refused(case, ["1x", "actions.csv:14"])
    case.rows[12] = "15,0"
    refused(case, ["2 cells", "actions.csv:14", "3"])
    case.rows[12] = "15,0,1,2"
    refused(case, ["4 cells", "actions.csv:14", "3"])
    case = Case(folder)
    del case.rows[12]
    refused(case, ["t is 16", "actions.csv:14", "15"])
    case = Case(folder)
    case.rows[12] = case.rows[11]
    refused(case, ["t is 14", "actions.csv:14", "15"])
    for text in ("x", "15.5", "-1", "", "99999999999999999999"):
        case.rows[12] = f"{text},0,0"
        refused(case, [f't is "{text}"', "actions.csv:14", "number of a row"])
    case = Case(folder)
    del case.rows[0]
    refused(case, ["t is 4", "actions.csv:2", "3"])
    case = Case(folder)
    case.params["params"] = dict(start=4)
    refused(case, ["t is 3", "actions.csv:2", "7"])
    for header, words in (
        ("t,t,action_AAA,action_BBB", ["t: ", "twice"]),
        ("t,action_AAA", ["action_BBB"]),
        ("t,action_AAA,action_BBB,action_CCC", ["action_CCC"]),
        ("t,action_AAA,action_BBV", ["action_BBV", "action_BBB?"]),
        ("t,action_AAA,action_AAA", ["action_AAA", "twice"]),
        ("a,b,c", ["action_AAA"]),
    ):
        case = Case(folder)
        case.header = header
        refused(case, [*words, "actions.csv:1"])
    case = Case(folder)
    case.rows = []
    refused(case, ["no actions", "actions.csv"])
    case.rows, case.header = [], ""
    refused(case, ["no actions", "actions.csv"])
    case = Case(folder)
    case.params["params"] = dict(actions="discrete", levels=5)
    refused(case, ["AAA", "level", "actions.csv:2"])
    for bad in ("5", "-1", "2.5", "1e39"):
        case.rows = [f"{i + 3},{i % 5},4" for i in range(54)]
        case.rows[40] = f"43,0,{bad}"
        done = refused(case, ["action_BBB", "a level, a whole number from 0 to 4", "actions.csv:42"])
        check(done.stdout == "", f"{bad}: printed before it was refused: {done.stdout!r}")


def bad_bars(folder):
    case = Case(folder)
    hours = os.path.join(folder, "hours")
    os.mkdir(hours)
    for name in SYMBOLS:
        write_bars(hours, name)
        os.rename(os.path.join(hours, f"{name}USDT_5m.csv.gz"), os.path.join(hours, f"{name}USDT_1h.csv.gz"))
    case.params["interval"] = "1h"
    refused(case, ["interval", "5m", "1h"], bars=hours)
    case = Case(folder)
    refused(case, ["AAAUSDT_5m.csv.gz", "nowhere"], bars=os.path.join(folder, "nowhere"))
    other = os.path.join(folder, "other")
    os.mkdir(other)

    def bars_refused(words, **how):
        write_bars(other, "AAA")
        write_bars(other, "BBB", **how)
        refused(case, words, bars=other)

    def edit_line(line, text):
        return lambda lines: lines.__setitem__(line, text)

    bars_refused(["bars", "60"], n=59)
    bars_refused(["bars", "60"], missing=(30,))  # 59 that both have
    bars_refused(["first_bar", "BBBUSDT", "has no bar"], missing=(0,))
    bars_refused(["BBBUSDT_5m.csv.gz:21"], edit=edit_line(20, "1700006100,1,2,3,1,1"))
    bars_refused(["BBBUSDT_5m.csv.gz:21"], edit=edit_line(20, "1700005500,1,1,1,1,1"))
    bars_refused(["BBBUSDT_5m.csv.gz:21"], edit=edit_line(20, "1700006100,1,1,1,nan,1"))
    bars_refused(["BBBUSDT_5m.csv.gz"], edit=edit_line(20, "1700005800,-1,-1,-1,-1,1"))
    bars_refused(["BBBUSDT_5m.csv.gz"], edit=edit_line(20, "1700005800,0,0,0,0,1"))
    bars_refused(["BBBUSDT_5m.csv.gz"], edit=edit_line(0, "a,b,c,d,e,f"))


def command_line(folder):
    case = Case(folder)
    params, actions = case.files()
    check(run("--version").stdout.startswith("papertape-trainer "), "--version")
    for arguments in (["--help"], ["env-replay", "--help"]):
        done = run(*arguments)
        check(done.returncode == 0 and done.stdout.startswith("Usage: papertape-trainer") and not done.stderr, str(arguments))
        check(all(len(line) <= 100 for line in done.stdout.splitlines()), f"{arguments}: long lines")
    for arguments, word in (
        ([], "a verb is needed"),
        (["env-repaly"], "env-replay"),
        (["--bars"], "unknown option"),
        (["env-replay"], "PARAMS.json"),
        (["env-replay", params, "--bars", folder], "ACTIONS.csv"),
        (["env-replay", params, actions], "--bars"),
        (["env-replay", params, actions, actions, "--bars", folder], "one argument too many"),
        (["env-replay", params, actions, "--bars"], "needs a value"),
        (["env-replay", params, actions, "--bars", folder, "--frobnicate"], "--frobnicate"),
        (["env-replay", params, actions, "--bars", folder, "--backend", "tpu"], "tpu"),
        (["env-replay", params, actions, "--bars", folder, "--seed", "x"], "--seed: \"x\""),
        (["env-replay", params, actions, "--bars", folder, "--trades", "f", "--backend", "gpu"], "scalar"),
    ):
        done = run(*arguments)
        check(done.returncode == 2 and not done.stdout, f"{arguments}: {done.returncode} {done.stdout}")
        check(done.stderr.startswith("papertape-trainer: ") and done.stderr.count("\n") == 1, f"{arguments}: {done.stderr!r}")
        check(word in done.stderr, f"{arguments}: {word} is not in {done.stderr!r}")
    for option in ("--observations", "--trades"):
        done = refused(case, ["nowhere/f", "writable folder"], option, os.path.join(folder, "nowhere", "f"))
        check(done.stdout == "", f"{option}: printed before the file was opened: {done.stdout!r}")
    refused(case, ["fast"], "--preset", "fast")
    refused(case, ["--execution", "fast"], "--execution", "fast")
    done = run("env-replay", os.path.join(folder, "no.json"), actions, "--bars", folder)
    check(done.returncode == 1 and "no.json" in done.stderr, done.stderr)
    done = run("env-replay", params, os.path.join(folder, "no.csv"), "--bars", folder)
    check(done.returncode == 1 and "no.csv" in done.stderr, done.stderr)
    with open("/dev/full", "w") as full:
        done = subprocess.run([TRAINER, "env-replay", params, actions, "--bars", folder], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    check(done.returncode == 1 and "stdout" in done.stderr, f"/dev/full: {done.returncode} {done.stderr}")


def good(folder):
    case = Case(folder)
    plain = case.run()
    rows = rows_of(plain.stdout)
    check(plain.returncode == 0 and plain.stderr == "", f"plain: {plain.stderr}")
    check(len(rows) == 54 and [row["done"] for row in rows] == ["0"] * 53 + ["1"], f"{len(rows)} rows")
    check([int(row["t"]) for row in rows] == list(range(3, 57)), "t")
    with open(os.path.join(folder, "again.csv"), "w") as file:
        file.write(plain.stdout)
    again = run("env-replay", case.files()[0], os.path.join(folder, "again.csv"), "--bars", folder)
    check(again.stdout == plain.stdout, "its own output is its input")
    case.header, case.rows = "action_BBB;x".replace(";", ",") + ",action_AAA", [
        f"{row.split(',')[2]},zzz,{row.split(',')[1]}\r" for row in case.rows]
    check(case.run().stdout == plain.stdout, "columns in another order, and CRLF")
    case.params.update(interval="5m", first_close=[97.8, 6.846])
    case.header = case.header.replace("AAA", "AAAUSDT")
    check(case.run().stdout == plain.stdout, "a column's symbol with its quote; the description of the bars is the same")
    case.params["symbols"] = ["AAA", "BBBUSDT"]
    check(case.run().stdout == plain.stdout.replace("BBB", "BBBUSDT"), "a symbol with its quote")
    case.params["symbols"] = SYMBOLS
    check(run("env-replay", "--bars", folder, *case.files()).stdout == plain.stdout, "files last")

    gpu = case.run("--backend", "gpu")
    check(gpu.stdout == plain.stdout and gpu.stderr == "", f"gpu's kernels on the CPU: {gpu.stderr}")
    gpu = run("env-replay", *case.files(), "--bars", folder, "--backend", "gpu",
              environment={"PAPERTAPE_GPU_MODULE": "/nonexistent.so"})
    check(gpu.returncode == 0 and gpu.stdout == plain.stdout, "without a GPU the CPU steps")
    check(gpu.stderr.startswith("papertape-trainer: --backend gpu: ") and gpu.stderr.count("\n") == 1
          and gpu.stderr.endswith(": the CPU steps instead\n"), gpu.stderr)

    case = Case(folder)
    case.rows = case.rows + ["57,0,0", "58,0,0"]
    done = case.run()
    check(done.returncode == 0 and done.stdout == plain.stdout, "more rows than steps")
    check("2 rows of actions are left" in done.stderr and "actions.csv:56" in done.stderr, done.stderr)
    case.rows = case.rows[:10]
    done = case.run()
    check(done.returncode == 0 and done.stdout.splitlines() == plain.stdout.splitlines()[:11], "fewer rows than steps")
    check("not over" in done.stderr and "10 steps" in done.stderr, done.stderr)

    case = Case(folder)
    case.params["params"] = dict(buy_cost_pct=[0, 0.01], initial_capital=[500, 2000], slippage_pct=0.001, float32=True)
    drawn = [case.run("--seed", seed).stdout for seed in ("1", "1", "2")]
    check(drawn[0] == drawn[1] != drawn[2], "--seed")
    check(case.run("--seed", "1", "--backend", "gpu").stdout == drawn[0], "gpu draws other numbers")
    case.params["params"] = dict(initial_capital=1e3, gamma=1, final_return=False)
    check(case.run().returncode == 0, "whole numbers, and switches")

    case = Case(folder)
    case.params["params"] = dict(start=4, random_start=True, episode_bars=20)
    case.header, case.rows = "action_AAA,action_BBB", ["1,1"] * 40
    with open(os.path.join(folder, "again.csv"), "w") as file:
        file.write(case.run("--seed", "5").stdout)
    again = run("env-replay", case.files()[0], os.path.join(folder, "again.csv"), "--bars", folder, "--seed", "5")
    with open(os.path.join(folder, "again.csv")) as file:
        check(again.stdout == file.read() and again.stderr == "", f"its own output, started at a row that was drawn: {again.stderr}")

    write_bars(folder, "CCC", n=64, missing=(20, 21, 40), price=3)
    case = Case(folder)
    case.params.update(symbols=["AAA", "CCC"], bars=57)
    case.header, case.rows = case.header.replace("BBB", "CCC"), case.rows[:51]
    gaps = rows_of(case.run().stdout)
    check(len(gaps) == 51 and gaps[-1]["done"] == "1", "bars that one file lacks are left out")
    case.params["bars"], case.rows = 60, Case(folder).rows
    case.params["params"] = dict(initial_capital=1e6)
    market = case.run("--execution", "market", "--trades", os.path.join(folder, "trades.csv"))
    check(market.returncode == 0 and len(rows_of(market.stdout)) == 54, f"market with gaps: {market.stderr}")
    with open(os.path.join(folder, "trades.csv")) as file:
        trades = rows_of(file.read())
    last = rows_of(market.stdout)[-1]
    check(len(trades) == int(last["buys"]) + int(last["sells"]) > 0, f"{len(trades)} trades")
    check(list(trades[0]) == ["ts_ns", "symbol", "side", "price", "qty", "notional", "fee", "kind"], f"columns {list(trades[0])}")
    fees = sum(Decimal(t["fee"]) for t in trades)
    cash = Decimal(10**6) - fees - sum((1 if t["side"] == "BUY" else -1) * Decimal(t["notional"]) for t in trades)
    check(float(fees) == float(last["fees"]), f"fees {last['fees']}, and not {fees}: all digits of it")
    check(float(cash) == float(last["cash"]), f"cash {last['cash']}, and not {cash}: all digits of it")
    check({t["side"] for t in trades} == {"BUY", "SELL"} and {t["symbol"] for t in trades} == {"AAAUSDT", "CCCUSDT"}, f"{trades[:4]}")
    check(all((int(t["ts_ns"]) + (t["kind"] == "stop")) % (300 * 10**9) == 0 for t in trades), "times of the trades")
    for backend in ("baseline", "avx2", "avx512", "gpu"):
        done = case.run("--execution", "market", "--backend", backend)
        check(done.stdout == market.stdout or "lacks it" in done.stderr, f"market: {backend} prints other digits")


def day_trade(folder):
    """Columns, sessions, and the same digits by every backend; tests/trainer/oracle/day_trade.py has the numbers."""
    case = Case(folder)
    case.params.update(symbols=["AAA"], min_order_qty=[0])
    case.params["params"] = dict(task="day-trade", session_close_s=23 * 3600 + 1800)
    case.header, case.rows = "action_direction,action_size", [f"{(i % 9 - 4) / 4},{i % 5 / 5}" for i in range(54)]
    for execution in ("reference", "market"):
        case.params["params"].update(execution=execution, shorts=execution == "reference")
        done = case.run()
        rows = rows_of(done.stdout)
        check(done.returncode == 0 and done.stderr == "" and len(rows) == 54, f"day-trade {execution}: {done.stderr}")
        check(list(rows[0])[:5] == ["t", "action_direction", "action_size", "cash", "qty_AAA"], f"{list(rows[0])}")
        end = 14  # the bar that ends at 23:30, 75 minutes after the first opens
        check(float(rows[end - 3]["qty_AAA"]) == 0, f"day-trade {execution}: {rows[end - 3]}")
        check(sum(float(row["qty_AAA"]) != 0 for row in rows) > 20, f"day-trade {execution}: too little happened")
        check(any(float(row["qty_AAA"]) < 0 for row in rows) == (execution == "reference"), f"{execution}: shorts")
        for backend in ("scalar", "baseline", "gpu"):
            check(case.run("--backend", backend).stdout == done.stdout, f"day-trade {execution}: {backend}'s digits")
    case.params["params"].update(shorts=True)
    refused(case, ["shorts", "market"])
    case.params["params"].update(shorts=False, session_zone="Mars/Olympus")
    refused(case, ["session_zone", "Mars/Olympus"])
    case.params["params"].update(session_zone="UTC")
    case.header = "action_AAA,action_size"
    refused(case, ["action_AAA", "no other"])


def options_table(root):
    """The page's table of options is what the program lists."""
    listed = run("env-replay", "--list-params")
    check(listed.returncode == 0 and listed.stdout.count("\n") > 40 and listed.stderr == "", "--list-params")
    with open(os.path.join(root, "docs", "environment.md")) as file:
        page = file.read()
    check(listed.stdout in page, "docs/environment.md: its table of options is not `env-replay --list-params`")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, price in (("AAA", 100.0), ("BBB", 7.0)):
            write_bars(folder, name, price=price)
        good(folder)
        day_trade(folder)
        command_line(folder)
        bad_params(folder)
        bad_actions(folder)
        bad_bars(folder)
        options_table(ROOT)
        there = os.path.isdir(os.path.join(SHARED, "data", "env"))
        if there:
            recordings(folder)
    print(f"trainer/env_replay: {checks} checks, {failures} failed" + ("" if there else "; no recordings at hand"))
    sys.exit(1 if failures else 0)


main()
