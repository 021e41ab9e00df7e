#!/usr/bin/env python3
"""What the programs print and store of fixed inputs, byte for byte.

    outputs.py make BUILD OUT             all outputs into the new folder OUT, by the programs of a build folder
    outputs.py compare BEFORE AFTER       two such folders: each file that differs, with its first differing line
    outputs.py check BUILD                against the hashes in outputs.sha256, and what is listed in `differences`
    outputs.py accept BUILD POINT FILE…   lists these files' differences as wanted by that point of the issue
    outputs.py reword BEFORE AFTER        that the table `words`, applied to BEFORE, gives AFTER
    outputs.py baseline OUT               makes OUT what outputs.sha256 says; `words` is then to be emptied

`words` has a line for each text that the programs say in other words since outputs.sha256: old, a tab, new; \\n, \\t and \\\\ stand
for themselves in C. A text is as long as it takes to be found only where it is meant. An output that is not as wanted is compared
once more with each new text replaced by its old one.
A line of `differences` is the SHA-256 of the output that is wanted now (or "absent"), its file, and the point of the issue that
wants it. A listed file that is again as outputs.sha256 has it is an error. For the outputs of another commit build that with this
folder in it, and run `make` of its build folder."""

import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(SOURCE, "fixtures")]
import commands  # noqa: E402
import fake_daemon  # noqa: E402

NOW_S = 1723247400  # 2024-08-09 23:50:00 UTC: for all programs, by fixed_clock.c
STUDIES_AGE_S = 5430
PATIENCE_S = 60
SHOWN_FILES, SHOWN_LINES, SHOWN_BEFORE, SHOWN_WIDTH = 10, 12, 80, 160
PASSED = "tests/golden/passed"  # of a build folder: the outputs that were as wanted, to show what differs later
BASELINE, DIFFERENCES, WORDS = (os.path.join(HERE, name) for name in ("outputs.sha256", "differences", "words"))
PROGRAMS = {"papertape": "tui/papertape", "papertaped": "daemon/papertaped", "papertape-trainer": "trainer/papertape-trainer",
            "papertape-replay": "exchange/replay/papertape-replay"}
RUN_CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT, ETHBTC
interval = 1s
history = 0
[trainer]
start = never
""" + "".join(f"[account {name}]\ncash = {cash}\nshorts = {shorts}\nstrategy = {strategy}\n" for name, cash, shorts, strategy in (
    ("alice", 200000, "off", "none"), ("bob", 200000, "off", "sma-cross-rsi"), ("carol", 4000, "on", "none"), ("dave", 200000, "on", "sma-cross-rsi")))
MARKET_CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 5
[trainer]
start = never
[account main]
cash = 1000
strategy = none
"""


def star(kind, text):
    """The text, with "*" for what is not the same each time."""
    names = "|".join(commands.VARIES_JSON[kind].split())
    parts, at = [], 0
    for found in re.finditer(rf'"(?:{names})":', text) if names and '{"schema"' in text else ():
        if found.start() >= at:
            parts += [text[at:found.end()], "*"]
            at = json.JSONDecoder().raw_decode(text, found.end())[1]
    text = "".join(parts) + text[at:]
    for pattern in commands.VARIES_TEXT[kind]:
        text = re.sub(pattern, "*", text, flags=re.M)
    return text


class Maker:
    """Runs the programs of one build in a folder of its own, where all state directories lie: paths in outputs are relative to it."""

    def __init__(self, build, out):
        self.build, self.out = os.path.abspath(build), os.path.abspath(out)
        self.work = tempfile.mkdtemp(prefix="papertape-golden-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TZ": "UTC", "LC_ALL": "C.UTF-8", "FIXED_CLOCK": str(NOW_S),
                    "LD_PRELOAD": os.path.join(self.work, "fixed-clock.so"), "TMPDIR": self.work,
                    "PAPERTAPE_GPU_MODULE": "/nonexistent/gpu.so"}
        shutil.copy(os.path.join(self.build, "tests/golden/libfixed-clock.so"), self.env["LD_PRELOAD"])  # whose path may have no blank
        self.pool = concurrent.futures.ThreadPoolExecutor(3)
        self.running = []

    def start(self, argv, more_env=None, **kwargs):
        return subprocess.Popen(argv, cwd=self.work, env=self.env | (more_env or {}), stdin=subprocess.DEVNULL, text=True, **kwargs)

    def place(self, word):
        """SOURCE/FILE is of the sources, or made by the build."""
        path = word.replace("SOURCE/", SOURCE + "/")
        return path if os.path.exists(path) else word.replace("SOURCE/", self.build + "/")

    def run(self, line):
        """A command line's exit status, and its output."""
        words = [self.place(word) for word in line.split()]  # after the split: a path may have blanks
        argv = [os.path.join(self.build, PROGRAMS[words[0]]), *words[1:]]
        with self.start(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def keep(self, name, text):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text.replace(self.build + "/", "SOURCE/").replace(SOURCE + "/", "SOURCE/"))

    def keep_run(self, name, line, kind=None):
        status, out, err = self.run(line)
        text = f"$ {line}\nstatus {status}\n{out}" + (f"--- stderr\n{err}" if err else "")
        self.keep(name, star(kind, text) if kind else text)

    def later(self, *args, **kwargs):
        self.running.append(self.pool.submit(self.keep_run, *args, **kwargs))

    def settle(self):
        """All that was put off is done."""
        for running in self.running:
            running.result()
        self.running.clear()

    def each_form(self, folder, lines, kind=None):
        for line in lines:
            for form, option in commands.FORMS.items():
                self.later(f"{folder}/{line.replace(' ', '_').replace(':', '')}.{form}", f"papertape {line}{option} --state {folder}",
                           "log" if line.startswith("events") else kind)

    def finish(self):
        self.pool.shutdown(cancel_futures=True)
        shutil.rmtree(self.work)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_bars(maker):
    """1,500 minutes of two symbols, by whole numbers alone."""
    for symbol, state in (("BTCUSDT", 11), ("ETHUSDT", 12)):
        lines, price = ["open_time,open,high,low,close,volume"], 50000
        for i in range(1500):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            close = max(1000, price + (state >> 33) % 401 - 200 + (i // 150 % 2 * 2 - 1) * 20)
            high, low = max(price, close) + (state >> 20) % 50, min(price, close) - (state >> 26) % 50
            words = [f"{units // 100}.{units % 100:02}" for units in (price, high, low, close)]
            lines.append(",".join([str(1704067200000 + 60000 * i), *words, f"{(state >> 40) % 1000}.5"]))
            price = close
        write(f"{maker.work}/{symbol}_1m.csv", "\n".join(lines) + "\n")


def make_states(maker):
    golden = os.path.join(maker.build, "tests/golden/golden-state")
    with maker.start([golden, "."], {"FIXED_CLOCK": str(NOW_S - STUDIES_AGE_S)}, stderr=subprocess.PIPE) as process:
        err = process.communicate(timeout=PATIENCE_S)[1]
    if process.returncode != 0:
        raise SystemExit(f"golden: {golden}: {err}")
    make_bars(maker)
    options = "".join(f" --{option} {name}" for option, name in commands.FILES.items())
    maker.keep_run("runs/backtest-saved", f"papertape {commands.RUNS['backtest-two']} --save saved{options}", "runs")
    for name in ("logs.txt", *commands.FILES.values()):
        if os.path.exists(f"{maker.work}/{name}"):  # else it is gone from the outputs, and said to be
            with open(f"{maker.work}/{name}", encoding="utf-8") as file:
                maker.keep(name if name == "logs.txt" else f"backtest/{name}", file.read())
    for name in ("desk", "day", "run", "saved"):  # word-ok: a state
        if os.path.exists(f"{maker.work}/{name}/papertape.db"):
            maker.keep(f"database/{name}.txt", dump(f"{maker.work}/{name}/papertape.db"))


def cell(value):
    if isinstance(value, bytes):
        return "x'" + value.hex() + "'"
    return "null" if value is None else json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def dump(path):
    """Every table's columns and rows, in the order of all its columns."""
    lines = []
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").fetchall()
        lines.append(f"version {database.execute('PRAGMA user_version').fetchone()[0]}")
        for (table,) in tables:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            rows = database.execute(f"SELECT * FROM {table} ORDER BY {', '.join(map(str, range(1, len(columns) + 1)))}").fetchall()
            lines += ["", f"{table}: {' '.join(columns)}: {len(rows)} rows", *(" ".join(map(cell, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def make_lists(maker):
    for state, lines in (("desk", commands.OF_DESK), ("day", commands.OF_DAY), ("run", commands.OF_RUN), ("saved", commands.OF_SAVED)):  # word-ok: a state
        maker.each_form(state, lines)
    for state, lines in (("desk", commands.MORE_OF_DESK), ("day", commands.MORE_OF_DAY)):  # word-ok: a state
        for line in lines:
            maker.later(f"{state}/{line.replace(' ', '_')}", f"papertape {line} --state {state}")
    for state in ("desk", "saved"):  # word-ok: a state
        make_dashboard(maker, state, commands.ONCE + commands.SCREENS)
    for state, lines in commands.SCREENS_OF.items():
        make_screens(maker, state, lines)


def make_dashboard(maker, state, lines):
    for line in lines:
        maker.later(f"dashboard/{state}{line.replace(' ', '_')}", f"papertape {line} --state {state}", "dashboard")


def make_screens(maker, state, lines):
    """Each in all sizes, one file."""
    for line in lines:
        name = f"screens/{state}{line.replace('--', '-').replace(' ', '_').replace(':', '_')}"
        sized = [f"papertape --dump-screen {size} {line} --state {state}" for size in commands.SIZES]
        maker.running.append(maker.pool.submit(keep_all, maker, name, sized, "screens"))


def make_runs(maker):
    for name, line in commands.RUNS.items():
        for form in ("table", "json"):
            maker.later(f"runs/{name}.{form}", f"papertape {line}{commands.FORMS[form]}", "runs")
    for name, line in commands.CSV_RUNS.items():
        maker.later(f"runs/{name}", f"papertape {line}", "runs")


def make_texts(maker):
    for name in PROGRAMS:
        maker.later(f"help/{name}", f"{name} --help")
        maker.later(f"help/{name}-version", f"{name} --version")
    for verb in commands.VERBS:
        maker.later(f"help/papertape-{verb}", f"papertape {verb} --help")
    for verb in commands.TRAINER_VERBS:
        maker.later(f"help/papertape-trainer-{verb}", f"papertape-trainer {verb} --help")
    for name, line in commands.CONFIGS.items():
        maker.later(f"config/{name}", line)
    refusals = {"no-state": [f"papertape {line} --state none" for line in commands.OF_DESK + ["explain 1", "parity", "events list"] + commands.ACTS],
                "unknown-option": [f"papertape {verb} --nosuch" for verb in commands.VERBS] + [f"{name} --nosuch" for name in PROGRAMS] +
                                  [f"papertape-trainer {verb} --nosuch" for verb in commands.TRAINER_VERBS],
                "unknown-verb": ["papertape ordrs", "papertape nosuchverb", "papertape-trainer trian", "papertape help"]}
    for name, lines in refusals.items():
        maker.running.append(maker.pool.submit(keep_all, maker, f"refusals/{name}", lines))


def keep_all(maker, name, lines, kind=None):
    text = ""
    for line in lines:
        status, out, err = maker.run(line)
        text += f"$ {line}\nstatus {status}\n{out}{err}"
    maker.keep(name, star(kind, text) if kind else text)


def make_fake(maker):
    """A daemon that says what status.json does; then what is sent to it, and answered, by verbs that act."""
    state = f"{maker.work}/fake"
    os.mkdir(state)
    shutil.copy(f"{maker.work}/desk/papertape.db", state)  # word-ok: a state
    fake_daemon.time = types.SimpleNamespace(time_ns=lambda: NOW_S * 10**9)
    daemon = fake_daemon.Daemon(state)
    with open(f"{maker.work}/status.json", encoding="utf-8") as file:
        daemon.status = json.load(file)
    daemon.learning.trainings, daemon.learning.policies = daemon.status["trainings"], daemon.status["policies"]
    daemon.start()
    try:
        maker.each_form("fake", commands.OF_FAKE)
        make_dashboard(maker, "fake", commands.ONCE)
        make_screens(maker, "fake", commands.SCREENS_OF_FAKE)
        maker.settle()
        text = ""
        for line in commands.ACTS:
            daemon.commands.clear()
            status, out, err = maker.run(f"papertape {line} --state fake")
            sent = "".join(f"sent {cmd} {json.dumps(args)}\n" for cmd, args in daemon.commands)
            text += f"$ papertape {line}\n{sent}status {status}\n{out}{err}"
        maker.keep("acts.txt", text)
    finally:
        daemon.stop()


@contextlib.contextmanager
def daemon(maker, state, *options, more_env=None):
    """papertaped on a state directory; has(line, condition) waits until what a verb prints of it is as wanted, and returns that."""
    argv = [os.path.join(maker.build, PROGRAMS["papertaped"]), "--config", f"{state}.ini", "--state", state, *options]
    with open(f"{maker.work}/{state}.log", "w") as log, maker.start(argv, more_env, stderr=log) as process:
        def has(line, condition):
            deadline = time.monotonic() + PATIENCE_S
            while not condition(said := maker.run(f"papertape {line} --state {state}")[1]):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"golden: papertaped: {line}: " + open(f"{maker.work}/{state}.log", encoding="utf-8").read())
                time.sleep(0.02)
            return said
        try:
            yield has
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


def make_live(maker):
    """papertaped continues with what `run` has, and its venue never answers: all that it says is of the log."""
    shutil.copytree(f"{maker.work}/run", f"{maker.work}/live")
    write(f"{maker.work}/live.ini", RUN_CONFIG)
    with daemon(maker, "live", "--venue-url", "wss://127.0.0.1:9", "--rest-url", "https://127.0.0.1:9", more_env={"FIXED_CLOCK": f"{NOW_S}+"}) as has:
        has("status --json", lambda said: '"state":"retry"' in said)
        has("account list --csv", lambda said: f",{NOW_S // 100}" in said)
        maker.each_form("live", commands.OF_LIVE, "live")
        maker.settle()


def streams(said):
    """Is every stream there, with frames, and every book?"""
    status = json.loads(said) if said else {"feed": {"streams": []}, "symbols": []}
    return (len(status["feed"]["streams"]) == 10 and all(stream["frames"] for stream in status["feed"]["streams"]) and
            all(symbol["book"] == "synced" and symbol["last"] for symbol in status["symbols"]))


def make_market(maker):
    """papertaped with a market: what it says of that has other numbers each time, and the same names."""
    write(f"{maker.work}/market.ini", MARKET_CONFIG)
    argv = [os.path.join(maker.build, PROGRAMS["papertape-replay"]), "--listen", "127.0.0.1:0", "--ca-out", "ca.pem", "--synthetic", "3", "--rate", "100"]
    wall = {"LD_PRELOAD": ""}
    with maker.start(argv, wall, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as replay:
        try:
            urls = json.loads(replay.stdout.readline())
            with daemon(maker, "market", "--venue-url", urls["ws_url"], "--rest-url", urls["rest_url"], "--ca-file", "ca.pem", more_env=wall) as has:
                for line, condition in (("status --json", streams), ("venues --json", bool), ("venues streams binance", bool), ("symbol list --json", bool)):
                    maker.keep(f"market/{line.replace(' ', '_')}", star("market", has(line, condition)))
        finally:
            replay.kill()


def make(build, out):
    os.makedirs(out)
    maker = Maker(build, out)
    try:
        make_states(maker)
        make_texts(maker)
        make_lists(maker)
        make_runs(maker)
        make_live(maker)
        make_market(maker)
        make_fake(maker)
        maker.settle()
    finally:
        maker.finish()


def hashes(folder):
    """SHA-256 of each file, by its path in the folder."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def baseline():
    with open(BASELINE, encoding="utf-8") as file:
        return dict(reversed(line.rstrip("\n").split("  ", 1)) for line in file)


def differences():
    """{file: (hash, point)}"""
    with open(DIFFERENCES, encoding="utf-8") as file:
        rows = [line.split(maxsplit=2) for line in file if line.strip() and not line.startswith("#")]
    wrong = [row for row in rows if len(row) != 3]
    if wrong:
        raise SystemExit(f"{DIFFERENCES}: {' '.join(wrong[0])}: a hash, a file and the point that wants it are needed")
    return {row[1]: (row[0], row[2].strip()) for row in rows}


def read_lines(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        return file.read().split("\n")


def first_difference(before, after):
    """In words, of two files' lines; None: there is no such file."""
    if before is None or after is None:
        return "  it is new" if before is None else "  it is gone"
    for i in range(max(len(before), len(after))):
        pair = [lines[i] if i < len(lines) else "(the end)" for lines in (before, after)]
        if pair[0] != pair[1]:
            same = len(os.path.commonprefix(pair))
            at = max(0, same - SHOWN_BEFORE)
            return f"  line {i + 1}, column {same + 1}:\n  - {pair[0][at:same + SHOWN_WIDTH]}\n  + {pair[1][at:same + SHOWN_WIDTH]}"
    return ""


def compare(before, after):
    old, new, wanted, wrong = hashes(before), hashes(after), differences(), 0
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            listed = name in wanted
            wrong += not listed
            print(f"{name}: " + (f"wanted by {wanted[name][1]}" if listed else "differs"))
            print(first_difference(read_lines(os.path.join(before, name)), read_lines(os.path.join(after, name))))
    for name in sorted(wanted):
        if old.get(name) == new.get(name):
            print(f"{name}: is listed in {DIFFERENCES}, and does not differ")
            wrong += 1
    return wrong


def reworded():
    """[(old, new)] of WORDS."""
    with open(WORDS, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    wrong = [row for row in rows if len(row) != 2 or not all(row) or row[0] == row[1]]
    if wrong:
        raise SystemExit(f"{WORDS}: {' '.join(wrong[0])}: an old text, a tab and a new one are needed")
    unescape = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
    return [tuple(re.sub(r"\\[nt\\]", lambda found: unescape[found.group()], text) for text in row) for row in rows]


def replacer(pairs):
    """Of a text: each first of a pair replaced by its second, the longest where several begin; and those replaced, into used."""
    replaced = {}
    for before, after in pairs:
        if replaced.setdefault(before, after) != after:
            raise SystemExit(f"{WORDS}: {before}: it has two other texts")
    pattern = re.compile("|".join(re.escape(text) for text in sorted(replaced, key=len, reverse=True)) or "(?!)")

    def replace(text, used):
        def one(found):
            used.add(found.group())
            return replaced[found.group()]
        return pattern.sub(one, text)
    return replace


def read_text(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def restored(out, has, want):
    """Hashes of the files, of those not as wanted with the texts of before; and the new texts of WORDS that are in none."""
    rows, used = reworded(), set()
    replace = replacer((new, old) for old, new in rows)
    for name in has:
        if has[name] != want.get(name):
            value = hashlib.sha256(replace(read_text(os.path.join(out, name)), used).encode()).hexdigest()
            has[name] = value if value == want.get(name) else has[name]
    return has, [new for _, new in rows if new not in used]


def reword(before, after):
    rows, used, wrong = reworded(), set(), 0
    replace = replacer(rows)
    for name in sorted({*hashes(before), *hashes(after)}):
        paths = [os.path.join(folder, name) for folder in (before, after)]
        if not all(map(os.path.exists, paths)):
            print(f"{name}: is in one of them alone")
            wrong += 1
            continue
        old, new = replace(read_text(paths[0]), used), read_text(paths[1])
        if old != new:
            print(f"{name}: differs\n{first_difference(old.split(chr(10)), new.split(chr(10)))}")
            wrong += 1
    unused = [old for old, _ in rows if old not in used]
    print("".join(f"{WORDS}: is in no output of {before}: {old!r}\n" for old in unused), end="")
    return wrong + len(unused)


def check(build, out):
    make(build, out)
    old, wanted = baseline(), differences()
    # A text that a later change replaced, in an output that is listed, is in no output any more: reword alone wants each.
    new, _ = restored(out, hashes(out), old | {name: row[0] for name, row in wanted.items()})
    wrong, passed, differing = 0, os.path.join(build, PASSED), []
    for name in sorted({*old, *new, *wanted}):
        has = new.get(name, "absent")
        if name in wanted and has == old.get(name, "absent"):
            print(f"{name}: is listed in {DIFFERENCES}, and does not differ")
        elif has != (wanted[name][0] if name in wanted else old.get(name, "absent")):
            before, lines = (read_lines(os.path.join(folder, name)) for folder in (passed, out))
            differing.append(name)
            print(f"{name}: " + ("is gone" if lines is None else "is new" if name not in old else "differs") +
                  (f" (from what {wanted[name][1]} wants)" if name in wanted else ""))
            if wrong < SHOWN_FILES and before:
                print(first_difference(before, lines))
            elif wrong < SHOWN_FILES:
                print("".join(f"  {line[:200]}\n" for line in (lines or [])[:SHOWN_LINES]), end="")
        else:
            if name in new:
                os.makedirs(os.path.dirname(os.path.join(passed, name)), exist_ok=True)
                shutil.copy(os.path.join(out, name), os.path.join(passed, name))
            continue
        wrong += 1
    if differing:
        print(f"-: as it passed last in {build}, +: now; without both it never passed there: outputs.py make, of two commits, and compare\n"
              f"if that is wanted: {os.path.relpath(__file__, SOURCE)} accept {build} POINT {' '.join(differing)}")
    size = sum(os.path.getsize(os.path.join(out, name)) for name in new)
    print(f"golden: {len(new)} outputs, {size} bytes: {wrong} wrong, {len(wanted)} listed in differences")
    return wrong


def accept(build, point, names):
    """Lists what these files are now as wanted, or no longer where they are as before."""
    with tempfile.TemporaryDirectory() as folder:
        make(build, os.path.join(folder, "out"))
        old, new = baseline(), hashes(os.path.join(folder, "out"))
    wanted = differences()
    for name in names:
        wanted.pop(name, None)
        if old.get(name) != new.get(name):
            wanted[name] = (new.get(name, "absent"), point)
    with open(DIFFERENCES, encoding="utf-8") as file:
        head = [line for line in file if line.startswith("#")]
    write(DIFFERENCES, "".join(head) + "".join(f"{row[0]}  {name}  {row[1]}\n" for name, row in sorted(wanted.items())))


def main(words):
    if words[:1] == ["make"] and len(words) == 3:
        make(words[1], words[2])
    elif words[:1] == ["compare"] and len(words) == 3:
        return 1 if compare(words[1], words[2]) else 0
    elif words[:1] == ["reword"] and len(words) == 3:
        return 1 if reword(words[1], words[2]) else 0
    elif words[:1] == ["accept"] and len(words) > 3:
        accept(words[1], words[2], words[3:])
    elif words[:1] == ["baseline"] and len(words) == 2:
        write(BASELINE, "".join(f"{value}  {name}\n" for name, value in sorted(hashes(words[1]).items())))
    elif words[:1] == ["check"] and len(words) == 2:
        folder = tempfile.mkdtemp(prefix="papertape-golden-")
        if check(words[1], os.path.join(folder, "out")):
            print(f"kept for inspection: {folder}/out")
            return 1
        shutil.rmtree(folder)
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(main(sys.argv[1:]))
