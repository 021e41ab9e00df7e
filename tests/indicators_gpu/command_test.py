"""`papertape indicators` as scripts use it: python3 command_test.py PROGRAM [VERB] (standard library only)."""

import gzip
import json
import os
import struct
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


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def near(text, other, tolerance):
    """The same cells, each within the tolerance of a price."""
    pairs = list(zip(text.splitlines(), other.splitlines(), strict=True))
    return pairs[0][0] == pairs[0][1] and all(
        (a == "") == (b == "") and (a == "" or abs(float(a) - float(b)) <= tolerance)
        for line, reference in pairs[1:]
        for a, b in zip(line.split(",")[1:], reference.split(",")[1:], strict=True)
    )


def refused(status, line, *arguments):
    """The program ends with that status, says that one line on stderr and prints nothing."""
    done = run(*arguments)
    check(done.returncode == status, f"{arguments}: exit {done.returncode}, not {status}")
    check(done.stderr == f"papertape: {line}\n", f"{arguments}: {done.stderr!r}")
    check(done.stdout == "", f"{arguments}: it printed {done.stdout[:60]!r}")


def sessions(folder):
    """With a calendar the bars of a session are computed on as if the file had no others; nights are no gaps."""
    path, alone = os.path.join(folder, "SPY_1m.csv"), os.path.join(folder, "ALONE_1m.csv")
    head = "time,open,high,low,close,volume\n"
    rows = {"regular": [], "extended": []}
    for day, close in ((26, 960), (28, 780)):  # Thanksgiving between; the Friday closes at 13:00
        for minute in range(240, 1200 if close == 960 else 1020):
            price = 100 + (minute * 37 % 91) / 7
            row = f"2025-11-{day} {minute // 60:02}:{minute % 60:02},{price},{price + 1},{price - 1},{price},{minute}\n"
            rows["extended"].append(row)
            if 570 <= minute < close:
                rows["regular"].append(row)
    with open(path, "w") as file:
        file.write(head + "".join(rows["extended"]))
    zone = ["--zone", "America/New_York"]
    for session, options in (("regular", []), ("regular", ["--session", "regular"]), ("extended", ["--session", "extended"])):
        with open(alone, "w") as file:
            file.write(head + "".join(rows[session]))
        for backend in ("reference", "stream", "cpu"):
            chosen = run("--calendar", "nyse", *zone, *options, "--backend", backend, path, "sma:20", "rsi:14")
            wanted = run(*zone, "--backend", backend, alone, "sma:20", "rsi:14")
            check(chosen.returncode == 0 and chosen.stderr == "", f"{session}: {chosen.stderr}")
            check(chosen.stdout == wanted.stdout and chosen.stdout.count("\n") == len(rows[session]) + 1, f"{session}, {backend}")
    check(run("--calendar", "24x7", *zone, path, "sma:20").stdout == run(*zone, path, "sma:20").stdout, "24x7")
    with open(alone, "w") as file:
        file.write(head + "".join(rows["regular"][:100] + rows["regular"][103:]))
    done = run("--calendar", "nyse", *zone, alone, "sma:20")
    check(done.stderr == f"papertape: note: {alone}: 3 bars of the session are missing: computed across\n", done.stderr)
    with open(alone, "w") as file:
        file.write(head + "".join(rows["extended"][:100] + rows["extended"][105:]))
    done = run("--calendar", "nyse", "--session", "all", *zone, alone, "sma:20")
    check(done.stderr == f"papertape: note: {alone}: 5 bars of the session are missing: computed across\n", done.stderr)
    refused(2, "indicators: --session: it goes with --calendar: see papertape indicators --help", "--session", "all", path, "sma")
    done = run("--calendar", "nyse", path, "sma:20")  # as if UTC
    check(done.returncode == 1 and f"{path}:" in done.stderr and done.stdout == "", done.stderr)
    done = run("--calendar", os.path.join(folder, "none"), path, "sma:20")
    check(done.returncode == 1 and "nyse, 24x7 or a file" in done.stderr, done.stderr)


def longer(folder):
    """@INTERVAL: what the file of that interval's whole bars gives, from each one's last bar on, in every backend."""
    path, hours = os.path.join(folder, "LONG_5m.csv"), os.path.join(folder, "HOURS_1h.csv")
    head, rows = "time,open,high,low,close,volume\n", []
    for i in range(400):  # from 00:20, so that the first hour is no whole one
        price = 100 + (i * 37 % 91) / 7
        rows.append((1700006400 + 1200 + 300 * i, price, price + 1 + i % 3, price - 1 - i % 5, price + 0.25, 1 + i % 4))
    del rows[100]  # 08:40: an hour without a bar within
    del rows[151]  # 13:00 less five minutes, an hour's last
    whole, closed = {}, []
    for time, open_, high, low, close, volume in rows:
        begin = time - time % 3600
        if begin in whole:
            _, o, h, lo, _, v = whole[begin]
            whole[begin] = (begin, o, max(h, high), min(lo, low), close, v + volume)
        elif time == begin or time != rows[0][0]:
            if begin != rows[0][0] - rows[0][0] % 3600:
                whole[begin] = (begin, open_, high, low, close, volume)
        closed.append(sum(b < begin or (b == begin and time % 3600 == 3300) for b in whole))
    for name, bars in ((path, rows), (hours, list(whole.values())[: max(closed)])):
        with open(name, "w") as file:
            file.write(head + "".join(",".join(map(repr, bar)) + "\n" for bar in bars))
    specs = ["ema:9", "macd:3,6,4", "cdldoji", "obv"]
    for backend in ("reference", "stream", "cpu", "gpu"):
        own = [line.split(",")[1:] for line in run("--backend", backend, hours, *specs).stdout.splitlines()]
        done = run("--backend", backend, path, "ema:9@1h", "sma:3", *(f"{spec}@1h" for spec in specs[1:]))
        lines = [line.split(",") for line in done.stdout.splitlines()]
        check(lines[:1] == [["timestamp_ns", "ema_9@1h", "sma_3", *(f"{name}@1h" for name in own[0][1:])]], f"{backend}: {lines[:1]}")
        wanted = [own[n] if n > 0 else [""] * len(own[0]) for n in closed]
        check([[line[1], *line[3:]] for line in lines[1:]] == wanted, f"{backend}: values @1h")
        check(any(line[1] for line in lines[1:]) and all(line[2] for line in lines[3:]), f"{backend}: some values")
    intervals = "1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w"
    for word in ("soon", "10m", "20m", "90m", "3h", "2d", "600s", "1mo", ""):
        refused(2, f"indicators: ema:9@{word}: behind @ an interval is needed, as ema:9@1h: one of {intervals}", path, f"ema:9@{word}")
        refused(2, f"indicators: ema:9@{word}: behind @ an interval is needed, as ema:9@1h: one of {intervals}", "--list", f"ema:9@{word}")
    for word in ("3m", "1m"):
        done = run(path, f"ema:9@{word}")
        wanted = f"papertape: indicators: {path}: @{word}: the bars are of 5m: that or a multiple of it is needed"
        check(done.returncode == 1 and done.stderr.splitlines()[-1:] == [wanted] and done.stdout == "", done.stderr)
    own, same = run(path, "ema:9").stdout.splitlines(), run(path, "ema:9@5m").stdout.splitlines()
    check(same[0] == "timestamp_ns,ema_9@5m" and own[1:] == same[1:], "@ the bars' own interval")


def starts(folder, name, step, times, *arguments):
    """The times at whose bars the first column changes."""
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("time,open,high,low,close,volume\n" + "".join(f"{t},{t % 9973},{t % 9973},{t % 9973},{t % 9973},1\n" for t in times))
    done = run(path, *arguments)
    check(done.returncode == 0, f"{arguments}: {done.stderr}")
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return [int(row[0]) // 10**9 + step for before, row in zip([["", ""], *rows], rows) if row[1] != before[1]]


def frames(folder):
    """Weeks end with Sundays, and with a calendar hours begin at the opening: as those of strategies."""
    friday, week = 1744372800, 604800  # 2025-04-11, 12:00
    ends = starts(folder, "WEEKS_1h.csv", 3600, range(friday, friday + 4 * week, 3600), "sma:1@1w")
    monday = 1744588800  # 2025-04-14, 00:00: the days before are no whole week
    check(ends == [monday + week, monday + 2 * week, monday + 3 * week], f"weeks end at {ends}")
    opening, half = 1764081000, 1764340200  # 2025-11-25 14:30Z; the 28th closes at 18:00Z
    day = [*range(opening, opening + 23400, 300), *range(half, half + 12600, 300)]
    for backend in ("reference", "stream", "cpu"):
        ends = starts(folder, "DAYS_5m.csv", 300, day, "sma:1@2h", "--calendar", "nyse", "--backend", backend)
        wanted = [opening + s for s in (7200, 14400, 21600, 23400)] + [half + s for s in (7200, 12600)]
        check(ends == wanted, f"{backend}: hours end at {ends}")
    ends = starts(folder, "DAYS_5m.csv", 300, day[:78], "sma:1@2h")
    check(ends == [1764093600, 1764100800], f"the clock's hours end at {ends}")


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

    for backend in ("reference", "stream"):
        check(run("--backend", backend, plain, *specs).stdout == done.stdout, f"{backend} prints other digits")
    cpu = run("--backend", "cpu", plain, *specs)
    check(cpu.returncode == 0 and near(cpu.stdout, done.stdout, 1e-9), f"cpu: {cpu.stderr}")
    f32 = run("--precision", "f32", plain, *specs)
    check(f32.returncode == 0 and near(f32.stdout, done.stdout, 1e-2), f"f32: {f32.stderr}")
    check(f32.stdout != done.stdout and run("--backend", "cpu", "--precision", "f32", plain, *specs).stdout == f32.stdout, "f32")
    cells = f32.stdout.splitlines()[200].split(",")[1:]
    check(all(cell == f"{single(float(cell)):.9g}" for cell in cells), f"f32's digits {cells}")
    vwap = run(plain, "vwap").stdout.splitlines()
    check(vwap[0] == "timestamp_ns,vwap_0" and all(vwap[1:]), vwap[1])
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
    check(len(rows) >= 51 and {"sma", "ema", "rsi", "macd", "atr"} <= set(rows), f"rows {sorted(rows)}")
    check(rows["macd"]["columns"] == [f"macd_12_26_9.{o}" for o in ("macd", "signal", "hist")], "columns of macd")
    check(rows["macd"]["lookback_bars"] == 33 and rows["atr"]["inputs"] == ["high", "low", "close"], "rows")
    for row in rows.values():
        check(row["warmup_bars"]["f64"] is None or row["warmup_bars"]["f64"] >= row["lookback_bars"], f"warm-up {row}")
        check(row["bytes_per_bar"]["f64"] == 8 * (len(row["inputs"]) + len(row["columns"])), f"bytes {row}")
        check(row["state_bytes"] > 0 and row["source"] and row["family"], f"facts {row}")
        check(row["tolerance"]["of"] in ("value", "price", "column", "absolute"), f"tolerance {row}")
        check(0 <= row["tolerance"]["f64"] <= row["tolerance"]["f32"] < 0.1, f"tolerance {row}")
    table = run("--list").stdout.splitlines()
    header = table[0]
    check(header.split()[:4] == ["family", "name", "summary", "options"] and all(line.isprintable() for line in table), "table")
    named = {line[header.index(" name ") + 1:].split()[0]: line for line in table[1:]}
    check(sorted(named) == sorted(rows) and len(table) == 1 + len(rows), "the table's rows")
    check(all(line.startswith(rows[name]["family"].replace("_", " ")) for name, line in named.items()), "families")
    first = slice(header.index("outputs"), header.index("warm-up"))
    shown = {name: line[first].split()[-1] for name, line in named.items()}
    check(shown == {name: str(row["lookback_bars"]) for name, row in rows.items()}, f"first outputs {shown}")
    check("fast=12 slow=26 signal=9 (1-100000)" in named["macd"], "ranges")
    one = run("--list", "macd:5,35,5")
    check(one.returncode == 0 and one.stdout.startswith("macd:5,35,5: Moving"), one.stdout)
    check("macd_5_35_5.signal" in one.stdout and "at bar 38," in one.stdout, one.stdout)
    (one,) = json.loads(run("--list", "--json", "macd:5,35,5").stdout)["indicators"]
    check(one["lookback_bars"] == 38 and [o["value"] for o in one["options"]] == [5, 35, 5], f"{one}")
    (one,) = json.loads(run("--list", "--json", "macd:5,35,5@4h").stdout)["indicators"]
    check(one["columns"] == [f"macd_5_35_5.{o}@4h" for o in ("macd", "signal", "hist")] and one["interval"] == "4h", f"{one}")
    check(one["lookback_bars"] == 38 and all(row["interval"] is None for row in rows.values()), f"{one}")
    one = run("--list", "ema:9@1h", "sma:3").stdout
    check(one.startswith("ema:9@1h: ") and "\n  columns    ema_9@1h\n  first      at bar 8 of 1h, counted from 0\n" in one, one)
    check(" bars of 1h in float64, " in one and "\nsma:3: " in one and "\n  columns    sma_3\n  first      at bar 2, counted" in one, one)
    check(run("--help").stdout.startswith("Usage: papertape indicators {FILE SPEC...|--list}"), "help")

    see = ": see papertape indicators --help"
    refused(2, f"indicators: FILE SPEC... or --list is needed{see}")
    refused(2, f"indicators: a file and at least one indicator are needed{see}", plain)
    refused(2, f"indicators: --nope: unknown option{see}", "--nope")
    refused(2, f"indicators: --json goes with --list{see}", plain, "sma", "--json")
    refused(2, f'indicators: --backend: "abacus": one of reference|stream|gpu|cpu is needed{see}', "--backend", "abacus", plain, "sma")
    refused(2, f'indicators: --precision: "f16": one of f64|f32 is needed{see}', "--precision", "f16", plain, "sma")
    for backend in ("reference", "stream", "gpu"):
        refused(
            2,
            f"indicators: --precision: f32: --backend {backend} computes in f64 only: cpu has both",
            *("--precision", "f32", "--backend", backend, plain, "sma"),
        )
    period = "a whole number from 1 to 100000 is needed"
    for spec, why in {
        "smaa:3": 'there is no indicator "smaa": the nearest are "sma", "ema" and "hma"',
        "bollinger": 'there is no indicator "bollinger": the nearest is "bbands"',
        "nosuch": None,
        "": '"" names no indicator: NAME:options is needed, as sma:20',
        "sma:0": f'sma: period "0": {period}',
        "sma:100001": f'sma: period "100001": {period}',
        "sma:1.5": f'sma: period "1.5": {period}',
        "sma:-1": f'sma: period "-1": {period}',
        "sma:": f'sma: period "": {period}',
        "macd:12,,9": f'macd: slow "": {period}',
        "macd:12,26,": f'macd: signal "": {period}',
        "macd:1,2,3,4": 'macd: takes 3 options (fast,slow,signal), "4" is too many',
        "obv:3": 'obv: takes no options, "3" is too many',
        "quantile:20,1.5": 'quantile: q "1.5": a number from 0 to 1 is needed',
        "x" * 300: f'"{"x" * 32}" names no indicator: NAME:options is needed, as sma:20',
    }.items():
        for arguments in ((plain, "sma:3", spec), ("--list", spec)):
            if why:
                refused(2, f"indicators: {spec}: {why}", *arguments)
                continue
            done = run(*arguments)
            check(done.returncode == 2 and 'there is no indicator "nosuch": the nearest' in done.stderr, done.stderr)

    # A bar is refused with its file and line, no bars with the file; few bars are a success without outputs.
    for cell in ("nan", "inf", "-inf", "1e999", "", "x"):
        bad = os.path.join(folder.name, "BAD_1m.csv")
        with open(bad, "w") as file:
            file.write(text + f"{1700000000000 + 200 * 60000},1,2,1,{cell},1\n")
        refused(1, f'bad number: {bad}:202: a finite decimal number as close, not "{cell}"', bad, "sma:20")
    few = os.path.join(folder.name, "FEW_1m.csv")
    with open(few, "w") as file:
        file.write(text.splitlines()[0] + "\n")
    refused(1, f"no bars: {few}: at least one row below the header", few, "sma:20")
    for n in (1, 19):
        with open(few, "w") as file:
            file.write("".join(f"{line}\n" for line in text.splitlines()[: n + 1]))
        for arguments in ([], ["--backend", "stream"], ["--backend", "cpu"], ["--precision", "f32"]):
            done = run(*arguments, few, "sma:20", "macd")
            check(done.returncode == 0 and done.stderr == "", f"{n} bars {arguments}: {done.stderr!r}")
            check(done.stdout.count("\n") == n + 1, f"{n} bars {arguments}: {done.stdout!r}")
            check(all(line.endswith(",,,,") for line in done.stdout.splitlines()[1:]), f"{n} bars {arguments}")
    huge = os.path.join(folder.name, "HUGE_1m.csv")
    with open(huge, "w") as file:
        file.write(text + f"{1700000000000 + 200 * 60000},1e300,1e300,1e300,1e300,1\n")
    check(run(huge, "mom:3").returncode == 0, "a price that float64 holds")
    refused(
        1,
        f"indicators: {huge}: bar 200 of the column close is infinite: only finite values may follow the first complete bar",
        *("--precision", "f32", huge, "mom:3"),
    )
    with open(plain, "a") as file:
        file.write("1700000000000,1,2,1,1,1\n")
    done = run(plain, "sma")
    check(done.returncode == 1 and f"{plain}:202:" in done.stderr and done.stdout == "", f"bad row: {done.stderr}")
    done = run(os.path.join(folder.name, "none.csv"), "sma")
    check(done.returncode == 1 and "none.csv" in done.stderr and done.stderr.count("\n") == 1, f"no file: {done.stderr}")
    for arguments in ([packed, "sma:20"], ["--list"], ["--list", "--json"], ["--list", "--json", "sma"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
        full_line = "papertape: stdout: No space left on device\n"
        check(done.returncode == 1 and done.stderr == full_line, f"full: {arguments}: {done.stderr!r}")

    sessions(folder.name)
    longer(folder.name)
    frames(folder.name)
    folder.cleanup()
    print(f"indicators_gpu/command: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
