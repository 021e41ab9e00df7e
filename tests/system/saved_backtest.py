#!/usr/bin/env python3
"""`papertape backtest --save`: every row's equity is kept, what the dashboard shows of it is what the report says, and a disk
that is full is named and leaves nothing behind. With PAPERTAPE_LONG a year of minutes of two symbols, 525,600 rows, takes at most
10 s of CPU; that what is done for a row does not grow with their number, tests/db/equity.c counts."""

import csv
import itertools
import json
import math
import os
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile

import harness

SEED = int(os.environ.get("PAPERTAPE_SEED", "20261126"))
START_MS = 1672531200000
CPU_LIMIT_S = 10.0  # of 525,600 rows of two symbols
SYMBOLS = ("AAAUSDT", "BBBUSDT")


def synthetic_bars(folder, n):
    paths = []
    for symbol in SYMBOLS:
        rng, price = random.Random(f"{SEED} {symbol}"), 100.0
        paths.append(os.path.join(folder, f"{symbol}_{n}.csv"))
        with open(paths[-1], "w") as file:
            file.write("open_time,open,high,low,close,volume\n")
            for i in range(n):
                close = max(1.0, round(price * math.exp(rng.gauss(0, 0.002)), 2))
                high, low = max(price, close) + 0.05, min(price, close) - 0.05
                file.write(f"{START_MS + 60000 * i},{price:.2f},{high:.2f},{low:.2f},{close:.2f},{rng.random() * 10:.5f}\n")
                price = close
    return paths


def backtest(paths, *options, status=0, **kwargs):
    """The process that ended, and the seconds of CPU that it took."""
    words = [harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", "--set", "fast=20,slow=100", "--fees", "0.0001:0.0001",
             "--bars", ",".join(paths), "--no-cache", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, text=True, timeout=harness.PATIENCE, **kwargs)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def check_dashboard(state, account):
    """Return, deepest drawdown and closed trades, in JSON and on the screen."""
    done = subprocess.run([harness.PAPERTAPE, "--state", state, "--once", "--json"], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stderr)
    shown = json.loads(done.stdout)
    assert shown["saved_backtest"] is True and len(shown["accounts"]) == 1, shown["accounts"]
    seen = shown["accounts"][0]
    for name, key in (("return_pct", "return_pct"), ("max_drawdown_pct", "max_drawdown_pct"), ("equity", "equity"), ("cash", "cash")):
        assert close(seen[name], account[key]), (name, seen, account[key])
    assert seen["trades"] == account["trades"] > 10, (seen, account["trades"])
    text = subprocess.run([harness.PAPERTAPE, "--state", state, "--once"], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert text.returncode == 0 and text.stderr == "" and "no daemon" not in text.stdout, (text.returncode, text.stderr, text.stdout)
    dumped = subprocess.run([harness.PAPERTAPE, "--state", state, "--readonly", "--dump-screen", "160x48", "--tab", "5"],
                            capture_output=True, text=True, timeout=harness.PATIENCE)
    assert dumped.returncode == 0 and dumped.stderr == "", (dumped.returncode, dumped.stderr)
    screen = dumped.stdout
    assert "SAVED RUN" in screen and "NO DAEMON" not in screen, screen
    assert "─Equity all " in screen, screen
    rows = [line.split() for line in screen.splitlines() if line.split()[:1] == ["sma-cross"]]
    assert rows[0][1:3] == [f"{account['equity']:.2f}", f"{account['return_pct']:+.2f}%"], (rows, account["return_pct"])
    drawdown = account["max_drawdown_pct"]
    assert rows[0][3] == f"{drawdown:+.{2 if abs(drawdown) < 1 else 1}f}%", (rows, drawdown)
    assert rows[1][2].rstrip("+") == str(account["trades"]), rows  # +: one is open


def check_keys(state):
    """The last line offers what a saved run can do, and nothing that only a daemon could."""
    for tab in "1245678":
        foot = harness.run([harness.PAPERTAPE, "--state", state, "--dump-screen", "200x60", "--tab", tab]).stdout.rstrip().splitlines()[-1]
        words = foot.split()
        assert {"command", "zoom", "quit"} <= set(words), (tab, foot)
        assert not {"pause", "flatten", "ack", "order", "cancel", "amend", "start"} & set(words), (tab, foot)


def named(screen, title):
    """The first row of a panel: each cell by the label above its end."""
    lines = screen.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"─{title} ("))
    labels = re.finditer(r"[^─\d() ][^─]*?(?= ─| ?─*$)", lines[at].partition(")")[2])
    start = lines[at].index(")") + 1
    return {label[0].strip(): lines[at + 1][:start + label.end()].split()[-1] for label in labels}


def shown_page(state, item, *labels):
    page = harness.run([harness.PAPERTAPE, "--state", state, "--dump-screen", "120x60", "--open", item]).stdout
    return [float(re.search(rf"^ {label}  +(\S+)$", re.sub(r" +$", "", page, flags=re.MULTILINE), re.MULTILINE)[1]) for label in labels]


def shown_holding(folder, state, symbol):
    """The return of holding a symbol beside the whole curve of equity, in per cent."""
    views = os.path.join(folder, "config/papertape/views")
    os.makedirs(views, exist_ok=True)
    with open(os.path.join(views, "held.ini"), "w") as file:
        file.write(f"[view]\ntab = positions\nsymbol = {symbol}\nequity_span = all\nbenchmark = yes\n")
    line = [harness.PAPERTAPE, "--state", state, "--view", "held", "--dump-screen", "120x40"]
    screen = harness.run(line, env={**os.environ, "XDG_CONFIG_HOME": os.path.join(folder, "config")}).stdout
    return float(re.search(rf"─Equity all .* : {symbol} (\S+)% ─", screen)[1])


def check_report(folder, state, account):
    """Each number that the dashboard shares with what the run printed and with `papertape report` of the saved state."""
    line = [harness.PAPERTAPE, "report", "--state", state, "--from", "2023-01-01", "--to", "2024-01-01", "--json"]
    report = json.loads(harness.run(line).stdout)["accounts"][0]
    trades = report["trades"]
    for name, mine, reported in (
            ("fees", account["fees"], report["fees"]), ("orders", account["orders"], report["orders"]), ("fills", account["fills"], report["fills"]),
            ("equity", account["equity"], report["closing"]), ("cash", account["cash"], report["cash"]), ("trades", account["trades"], trades["closed"]),
            ("wins", account["wins"], trades["wins"]), ("losses", account["losses"], trades["losses"]),
            ("profit factor", account["profit_factor"], trades["profit_factor"]), ("expectancy", account["expectancy"], trades["expectancy"]),
            ("win rate", account["win_rate_pct"], 100 * trades["win_rate_share"]), ("return", account["return_pct"], 100 * report["return_share"]),
            ("drawdown", account["max_drawdown_pct"], 100 * report["max_drawdown_share"])):
        assert math.isclose(mine, reported, rel_tol=1e-9, abs_tol=1e-9), (name, mine, reported)
    screen = harness.run([harness.PAPERTAPE, "--state", state, "--dump-screen", "200x60", "--tab", "5"]).stdout
    row = named(screen, "Accounts")
    for label, wanted in (("equity", f"{report['closing']:.2f}"), ("cash", f"{report['cash']:.2f}"), ("realized", f"{report['realized']:+.2f}"),
                          ("fees", f"{report['fees']:.2f}"), ("interest", f"{report['interest']:.2f}")):
        assert row[label] == wanted, (label, row, wanted)
    row = named(screen, "Strategies")
    for label, wanted in (("trades", str(trades["closed"])), ("win %", f"{account['win_rate_pct']:.0f}%"),
                          ("profit factor", f"{trades['profit_factor']:.2f}"), ("avg P&L", f"{trades['expectancy']:+.2f}"),
                          ("best", f"{trades['largest_win']:+.2f}"), ("worst", f"{trades['largest_loss']:+.2f}"), ("fees", f"{report['fees']:.2f}")):
        assert row[label].rstrip("+") == wanted, (label, row, wanted)
    page = shown_page(state, f"account:{account['account']}", "fills", "closed trades", "of these won", "best", "worst", "fees")
    wanted = [report["fills"], trades["closed"], trades["wins"], trades["largest_win"], trades["largest_loss"], report["fees"]]
    assert all(abs(a - b) <= 0.0051 for a, b in zip(page, wanted, strict=True)), (page, wanted)
    held = sum(shown_holding(folder, state, symbol) for symbol in SYMBOLS) / len(SYMBOLS)  # the report's are equal parts of both
    assert abs(held - 100 * report["benchmark_streamed"]["return_share"]) <= 0.0051, (held, report["benchmark_streamed"])
    lists = harness.run([harness.PAPERTAPE, "--state", state, "--dump-screen", "200x60", "--tab", "6"]).stdout
    for title, wanted in (("Orders", report["orders"]), ("Fills", report["fills"])):
        assert re.search(rf"─{title} \((1 of )?{wanted}\)", lists), (title, wanted, lists)


def check_charts(state):
    """A printed screen has what the live one asks for once it knows what it shows: the chosen symbol's bars, the account's equity."""
    for size, tab, title in (("120x40", 4, "AAAUSDT 1m"), ("200x60", 1, "AAAUSDT 1m"), ("80x24", 5, "Equity all")):
        dumped = subprocess.run([harness.PAPERTAPE, "--state", state, "--dump-screen", size, "--glyphs", "ascii", "--tab", str(tab)],
                                capture_output=True, text=True, timeout=harness.PATIENCE)
        assert dumped.returncode == 0 and dumped.stderr == "", (dumped.returncode, dumped.stderr)
        panel = dumped.stdout.split(f"-{title}")
        assert len(panel) == 2 and "no stored" not in dumped.stdout, (size, tab, dumped.stdout)
        drawn = sum(character in "|.:'-#" for line in panel[1].splitlines()[1:8] for character in line)
        assert drawn > 20, (size, tab, drawn, dumped.stdout)


def check_drawn(folder, state, account, equity):
    """The equity's page reaches the run's highest and lowest point and the deepest drawdown that its report prints, in its figures and its lines."""
    views = os.path.join(folder, "config/papertape/views")
    os.makedirs(views, exist_ok=True)
    with open(os.path.join(views, "deep.ini"), "w") as file:
        file.write("[view]\ntab = positions\nzoomed = equity\nequity_span = all\n")
    deepest = f"{account['max_drawdown_pct']:.{2 if account['max_drawdown_pct'] > -1 else 1}f}%"
    for size, glyphs in itertools.product(("80x24", "120x40", "200x60"), ("ascii", "block", "braille")):
        line = [harness.PAPERTAPE, "--state", state, "--view", "deep", "--glyphs", glyphs, "--dump-screen", size]
        screen = harness.run(line, env={**os.environ, "XDG_CONFIG_HOME": os.path.join(folder, "config")}).stdout
        rows = [line for line in screen.splitlines() if re.match(r" +[-+]?\d+(\.\d+)?%? ", line)]
        assert f"max dd {deepest}" in screen, (size, glyphs, deepest, screen)
        top, bottom, none, lowest = rows[:4]
        assert abs(float(top.split()[0]) - max(equity)) <= 1 and abs(float(bottom.split()[0]) - min(equity)) <= 1, (max(equity), min(equity), screen)
        assert none.split()[0] == "0%" and lowest.split()[0] == deepest, (deepest, screen)
        for row in (top, bottom, lowest):  # each of them is drawn, not only written
            assert len(row.split()) > 1, (size, glyphs, row, screen)


def check_saved(folder, n):
    """A run much longer than the window in which a daemon keeps every point, and what is stored of it."""
    state, curve = os.path.join(folder, "state"), os.path.join(folder, "equity.csv")
    done, cpu_s = backtest(synthetic_bars(folder, n), "--save", state, "--json", "--equity", curve)
    account = json.loads(done.stdout)["accounts"][0]
    with open(curve) as file:
        rows = list(csv.DictReader(file))
    database = sqlite3.connect(f"file:{state}/papertape.db?mode=ro", uri=True)
    stored = database.execute("SELECT ts_ns, equity, cash, peak FROM equity ORDER BY ts_ns").fetchall()
    assert len(stored) == len(rows) == n, (len(stored), len(rows), n)
    for row, (ts_ns, equity, cash, peak) in zip(rows, stored, strict=True):
        assert int(row["ts_ns"]) == ts_ns, (row, ts_ns)
        for name, units in (("equity", equity), ("cash", cash), ("peak", peak)):
            assert close(float(row[name]), units / 1e8), (name, row, units)
    assert database.execute("SELECT count(*) FROM bars").fetchone()[0] == n * len(SYMBOLS)
    database.close()
    verified = subprocess.run([harness.PAPERTAPE, "ledger", "verify", "--state", state], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert verified.returncode == 0, verified.stderr
    check_dashboard(state, account)
    check_keys(state)
    check_report(folder, state, account)
    check_charts(state)
    check_drawn(folder, state, account, [float(row["equity"]) for row in rows])
    return cpu_s, account["fills"]


def check_interest(folder):
    """What shorts cost is the same in the saved run's accounts and its report, and 0.00 is what costs nothing; so is the
    benchmark, at a taker's fee of 0.1 %, ten times what rounding hides."""
    state = os.path.join(folder, "short")
    harness.run([harness.PAPERTAPE, "backtest", "--strategy", "binance-day-trade", "--shorts", "--borrow-rate", "900%", "--bars",
                 synthetic_bars(folder, 3000)[0], "--no-cache", "--save", state])
    line = [harness.PAPERTAPE, "report", "--state", state, "--from", "2023-01-01", "--to", "2024-01-01", "--json"]
    report = json.loads(harness.run(line).stdout)["accounts"][0]
    row = named(harness.run([harness.PAPERTAPE, "--state", state, "--dump-screen", "200x60", "--tab", "5"]).stdout, "Accounts")
    assert report["interest"] > 0.01 and row["interest"] == f"{report['interest']:.2f}", (row, report["interest"])
    held = shown_holding(folder, state, SYMBOLS[0])
    assert f"{held:.2f}" == f"{100 * report['benchmark_traded']['return_share']:.2f}", (held, report["benchmark_traded"])


def said(state, *words, status=1):
    done = subprocess.run([harness.PAPERTAPE, *words, "--state", state], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == status and len(done.stderr.splitlines()) == 1, (words, done.returncode, done.stdout, done.stderr)
    return done.stderr


def change(state, *statements):
    database = sqlite3.connect(os.path.join(state, "papertape.db"))
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


def check_advice(folder):
    """No daemon is the answer to what a saved backtest lacks: it has none, and one of an older schema is run again."""
    state = os.path.join(folder, "old")
    backtest(synthetic_bars(folder, 300), "--save", state)
    for verb in ("status", "pause"):
        words = said(state, verb, status=3)
        assert "a saved backtest has no daemon" in words and "start papertaped" not in words, words
    (version,) = sqlite3.connect(os.path.join(state, "papertape.db")).execute("PRAGMA user_version").fetchone()
    change(state, f"PRAGMA user_version = {version - 1}")
    for statement in ("SELECT 1", "DELETE FROM meta WHERE key = 'saved_backtest'"):  # earlier ones had no such key
        change(state, statement)
        for verb in (("fills",), ("orders", "--json"), ("ledger", "verify"), ("positions",), ("account", "list")):
            words = said(state, *verb)
            assert f"schema version {version - 1}" in words and "run it again with --save, into another directory" in words, words
            assert "papertaped" not in words, words
        assert "has no daemon" in said(state, "status", status=3)
    change(state, "UPDATE symbols SET venue = 'binance' WHERE name = 'AAAUSDT'")  # a daemon's
    assert "start papertaped of this version once" in said(state, "fills")
    assert "start papertaped" in said(state, "status", status=3)


def check_interval(folder):
    """Stored bars of any interval are found without --interval; for an invalid interval every verb gives the same error."""
    state, path = os.path.join(folder, "long"), os.path.join(folder, "AAAUSDT_3d.csv")
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        file.writelines(f"{1672617600000 + i * 3 * 86400000},{100 + i % 7},{108 + i % 7},{90 + i % 7},{101 + i % 7},1\n" for i in range(300))
    backtest([path], "--save", state)
    done, _ = backtest([state], "--json")
    assert json.loads(done.stdout)["interval"] == "3d", done.stdout
    wrong = '"7m": did you mean 1m? (1s, 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w)\n'
    assert said(state, "bars", "AAAUSDT", "7m", status=2).endswith(wrong)
    assert backtest([path], "--interval", "7m", status=2)[0].stderr.endswith("--interval: " + wrong)


def check_full_disk(folder):
    """A limit on the size of files stands for a disk that refuses: the cause is reported, and no file is left."""
    paths = synthetic_bars(folder, 20000)
    state = os.path.join(folder, "none")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

    done, _ = backtest(paths, "--save", state, status=1, preexec_fn=limit, restore_signals=False)
    said = [line for line in done.stderr.splitlines() if ": note: " not in line]
    assert len(said) == 1 and state in said[0] and "could not be stored: " in said[0] and "disk I/O error" in said[0], done.stderr
    assert not [name for name in os.listdir(folder) if name.startswith("none")], os.listdir(folder)
    if os.geteuid() == 0:
        check_full_tmpfs(folder, paths)


def check_full_tmpfs(folder, paths):
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk], capture_output=True).returncode != 0:
        print("a full tmpfs: skipped, it cannot be mounted here")
        return
    try:
        done, _ = backtest(paths, "--save", os.path.join(disk, "state"), status=1)
        assert "could not be stored: database or disk is full" in done.stderr, done.stderr
        assert os.listdir(disk) == [], os.listdir(disk)
    finally:
        subprocess.run(["umount", disk], check=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        rows = 20000
        cpu_s, fills = check_saved(folder, rows)
        print(f"saved_backtest: seed {SEED}: {rows} rows of {len(SYMBOLS)} symbols, {fills} fills: {cpu_s:.2f} s of CPU; every point kept")
    with tempfile.TemporaryDirectory() as folder:
        check_interest(folder)
    with tempfile.TemporaryDirectory() as folder:
        check_full_disk(folder)
    with tempfile.TemporaryDirectory() as folder:
        check_advice(folder)
        check_interval(folder)
    if harness.LONG and not harness.SANITIZED:
        with tempfile.TemporaryDirectory() as folder:
            rows = 525600
            cpu_s, fills = check_saved(folder, rows)
            print(f"saved_backtest: {rows} rows of {len(SYMBOLS)} symbols, {fills} fills: {cpu_s:.2f} s of CPU, at most {CPU_LIMIT_S:.0f}")
            assert cpu_s <= CPU_LIMIT_S, cpu_s


if __name__ == "__main__":
    sys.exit(main())
