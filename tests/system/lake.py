"""A state directory as papertape backtest --save leaves it, with more bars, and what papertape export makes of it."""

import importlib
import json
import os
import random
import sqlite3
import subprocess
import sys

import harness
import made_bars

DAY = 86_400_000
BEGIN = 1_722_988_800_000  # 2024-08-07
DATES = ("2024-08-07", "2024-08-08", "2024-08-09")
TABLES = ("bars", "fills", "orders", "ledger", "equity")


def days_of_bars(folder, minutes=15, seed=7):
    """Bars files of two symbols over three days, with a gap."""
    chance = random.Random(seed)
    made = {}
    for symbol in ("BTCUSDT", "ETHUSDT"):
        minutes_each = made_bars.make(chance, BEGIN, 0, 3 * 1440 // minutes, [(40, 44)])
        made[symbol] = {BEGIN + (at - BEGIN) * minutes: values for at, values in minutes_each.items()}
    return [made_bars.write(folder, symbol, bars, f"{minutes}m") for symbol, bars in made.items()]


SCRIPTS = os.path.join(harness.SOURCE, "cli/lake")  # as a folder, which Python runs as it does the program's archive of it


def script(name):
    """A module of what the program passes to Python: for what needs no start of its own."""
    if SCRIPTS not in sys.path:
        sys.path.append(SCRIPTS)
    return importlib.import_module(f"papertape_lake.{name}")


class OnePython:
    """One Python that runs the scripts each time that a program starts $PAPERTAPE_PYTHON, which is a few lines of shell to it: pyarrow is
    imported once. Of one start after the other, and what ends a Python ends it."""

    LOOP = """import os, runpy, sys
scripts, folder = sys.argv[1:]
for start in open(os.open(os.path.join(folder, "starts"), os.O_RDWR)):
    of = lambda name: os.path.join(folder, name + "." + start.strip())
    for name, flags, fd in (("in", os.O_RDONLY, 0), ("out", os.O_WRONLY, 1)):
        opened = os.open(of(name), flags)
        os.dup2(opened, fd)
        os.close(opened)
        os.unlink(of(name))
    with open(of("words")) as file:
        sys.argv = file.read().splitlines()
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
    try:
        runpy.run_path(scripts, run_name="__main__")
    except SystemExit:
        pass
    sys.stdout.flush()
    os.dup2(2, 1)  # its reader's end
    while os.read(0, 65536):
        pass  # what a script that ended early left, until the program's end
"""

    def __init__(self, folder):
        os.mkdir(folder)
        os.mkfifo(os.path.join(folder, "starts"))
        self.path = os.path.join(folder, "python")
        with open(self.path, "w", encoding="utf-8") as file:
            # Pipes of its own: one that all starts had would give this one's input to what still reads the last one's to its end.
            file.write(f"#!/bin/sh\ncd {folder}\nmkfifo in.$$ out.$$\nprintf '%s\\n' \"$@\" >words.$$\nexec 3<&0\ncat <&3 >in.$$ &\n"
                       "echo $$ >starts\nexec cat 3<&- out.$$\n")
        os.chmod(self.path, 0o755)
        self.process = subprocess.Popen([sys.executable, "-c", self.LOOP, SCRIPTS, folder])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def change(state, *statements):
    """Changes rows as a daemon would, of tables without a seal."""
    database = sqlite3.connect(os.path.join(state, "papertape.db"), timeout=harness.PATIENCE)
    with database:
        for sql, values in statements:
            database.execute(sql, values)
    database.close()


def add_bars(state):
    """What a saved run has not: another interval, bars of trades with their ids and sessions."""
    columns = "symbol, interval_ns, source, open_ns, open, high, low, close, volume, quote_volume, trades, first_trade_id, last_trade_id, session"
    names = dict(harness.query(os.path.join(state, "papertape.db"), "SELECT name, id FROM symbols"))
    insert = f"INSERT INTO bars ({columns}) VALUES ({', '.join('?' * 14)})"
    rows = [(names["ETHUSDT"], 60 * 10**9, "trades", (BEGIN + i * 60_000) * 10**6, 10**10 + i, 10**10 + i + 5, 10**10 - 7, 10**10 + 1,
             str(10**25 + i), str(10**20 + i), i, 100 + i, 200 + i, "regular") for i in range(50)]
    rows += [(names["BTCUSDT"], 60 * 10**9, "venue", (BEGIN + i * 60_000) * 10**6, 6 * 10**12, 6 * 10**12, 6 * 10**12 - i, 6 * 10**12,
              "0", "0", 0, -1, -1, "none") for i in range(30)]
    change(state, *((insert, row) for row in rows))


def make_state(folder):
    """(the state directory, its bars files)"""
    files, state = days_of_bars(folder), os.path.join(folder, "state")
    harness.run([harness.PAPERTAPE, "backtest", "--strategy", "sma-cross:fast=3,slow=8,fraction=0.4", "--bars", ",".join(files),
                 "--save", state])
    add_bars(state)
    return state, files


def command(state, lake, *more):
    return [harness.PAPERTAPE, "export", "--parquet", lake, "--state", state, *more]


def export(state, lake, *more, status=0, **environment):
    """What it answers: {table: its row}; of another status what it printed on standard error."""
    done = subprocess.run([*command(state, lake, *more), "--json"], capture_output=True, text=True, timeout=harness.PATIENCE,
                          env=os.environ | environment)
    assert done.returncode == status, done
    if status != 0:
        assert not done.stdout, done
        return done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == "papertape.export/1" and answer["python"]["pyarrow"], answer
    return {row["table"]: row for row in answer["tables"]}


def tree(lake):
    """{path: content} of all that is in a lake."""
    found = {}
    for here, _, names in os.walk(lake):
        for name in names:
            path = os.path.join(here, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, lake)] = file.read()
    return found


def written(answer):
    return {name: row["written"] for name, row in answer.items() if row["written"]}
