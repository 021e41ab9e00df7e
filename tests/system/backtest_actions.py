#!/usr/bin/env python3
"""Splits and dividends, live and in a backtest: raw bars of stocks through papertape-replay, which reports a split and two dividends (one paid within them),
and the live daemon; then the same bars in `papertape backtest`, as files with --corporate-actions and what `papertape actions --csv`
prints, by dates, and in --bars STATE with the stored ones: the same orders, fills and ledger, row by row. A saved backtest verifies,
and gives the same again; a sweep's row has the backtest's figures; lookahead and warmup pass; bad files are named."""

import csv
import datetime
import json
import os
import subprocess
import sys

import harness
import stock_backtest
import stock_bars

FIRST, END = datetime.date(2025, 11, 25), datetime.date(2025, 12, 2)
SPLIT_DAY = datetime.date(2025, 11, 26)
SYMBOLS = stock_backtest.SYMBOLS
NAMES = ["buy-and-hold", "sma-cross", "sma-cross-rsi-risk"]
ACTIONS = ("split:AAPL:4:1:2025-11-26", "dividend:MSFT:0.83:2025-11-28:2025-12-01", "dividend:AAPL:0.26:2025-12-01")
BY_DATE = """symbol,kind,ex_date,shares,per,cash,id,pay_date
MSFT,dividend,2025-11-28,,,0.83,a,2025-11-30
AAPL,dividend,2025-11-29,,,0.26,b,2025-12-31
AAPL,split,2025-11-26,4,1,,c,
"""  # the 29th is a Saturday, the 30th a Sunday; AAPL's is paid after the last bar


def raw_bars(folder):
    """AAPL splits: from its day on prices are a quarter, to the cent, and volumes four times as many."""
    files = stock_bars.write_all(folder, SYMBOLS, FIRST, END, seed=stock_backtest.SEED)
    from_second = stock_bars.at(SPLIT_DAY, 4)
    with open(files[0], newline="") as file:
        header, *bars = list(csv.reader(file))
    with open(files[0], "w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(header)
        for bar in bars:
            if datetime.datetime.fromisoformat(bar[0]).timestamp() >= from_second:
                bar[1:5] = [f"{round(float(price) * 25) / 100:.2f}" for price in bar[1:5]]
                bar[5] = str(4 * int(bar[5]))
            write.writerow(bar)
    return files


def live(folder, files):
    """What the daemon's database has when the bars are over."""
    words = [word for action in ACTIONS for word in ("--action", action)]
    words += [word for symbol in SYMBOLS for word in ("--asset", f"{symbol}:not-fractionable")]
    replay = folder.start(harness.Alpaca(folder.path, "--bars", *files, "--speed", "max", *words))
    daemon = folder.start(harness.Daemon(folder.path, replay, stock_backtest.configuration(NAMES, replay.keys)))
    harness.wait_last_bars(daemon, dict(zip(SYMBOLS, map(harness.last_bar_ms, files))), "1m", stock_backtest.WAIT)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    assert "ledger ok" in daemon.papertape("ledger", "verify")
    print(daemon.papertape("parity").strip())
    return daemon, {"orders": daemon.papertape("orders", "--csv"), "fills": daemon.papertape("fills", "--csv"),
                    "ledger": daemon.papertape("ledger", "export")}


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def saved(folder, words, want):
    """The run's own directory: verified, listed, and traded again."""
    state = os.path.join(folder, "saved")
    path = os.path.join(folder, "again.csv")
    stock_backtest.run("backtest", "--strategy", "sma-cross", *words, "--save", state, "--ledger", path)
    assert "ledger ok" in stock_backtest.run("ledger", "verify", "--state", state).stdout
    listed = stock_backtest.rows(stock_backtest.run("actions", "--state", state, "--csv").stdout)
    assert [(row["kind"], row["symbol"]) for row in listed] == want, listed
    again = os.path.join(folder, "twice.csv")
    stock_backtest.run("backtest", "--strategy", "sma-cross", "--bars", state, "--cash", "10000", "--venue", "alpaca", "--fees", "stocks",
                       "--ledger", again)
    with open(path) as one, open(again) as two:
        assert one.read() == two.read(), "the saved bars and actions give another ledger"
    without = os.path.join(folder, "none.csv")
    stock_backtest.run("backtest", "--strategy", "sma-cross", "--bars", state, "--venue", "alpaca", "--fees", "stocks",
                       "--corporate-actions", "none", "--ledger", without)
    with open(without) as file:
        assert ",split," not in file.read()


def sweep(folder, words):
    path = os.path.join(folder, "sweep.csv")
    stock_backtest.run("sweep", "--strategy", "sma-cross", "--set", "slow=60", *words, "--grid", "fast=10,20", "--csv", path, "--min-trades", "0")
    with open(path, newline="") as file:
        runs = list(csv.DictReader(file))
    for run in runs:
        done = stock_backtest.run("backtest", "--strategy", "sma-cross", "--set", f"fast={run['fast']}", "--set", "slow=60", *words, "--json")
        account = json.loads(done.stdout)["accounts"][0]
        assert abs(float(run["return"]) * 100 - account["return_pct"]) < 1e-9, (run, account["return_pct"])
    assert len(runs) == 2, runs


def guards(words):
    assert "lookahead ok" in stock_backtest.run("lookahead", "sma-cross", *words, "--cuts", "4").stdout
    assert json.loads(stock_backtest.run("warmup", "sma-cross", *words, "--json").stdout)["settles"]


def counted(words):
    """The report has what took effect, as JSON and as text; a report without such has none of it."""
    account = json.loads(stock_backtest.run("backtest", "--strategy", "buy-and-hold", *words, "--json").stdout)["accounts"][0]
    assert account["actions"]["splits"] == 1 and account["actions"]["dividends"] == 2 and account["actions"]["paid"] > 0, account["actions"]
    text = stock_backtest.run("backtest", "--strategy", "buy-and-hold", *words).stdout
    assert f"  took effect     1 split, 2 dividends, paid {account['actions']['paid']:.2f} USD\n" in text, text
    plain = [*words[:words.index("--corporate-actions")], *words[words.index("--corporate-actions") + 2:]]
    assert "took effect" not in stock_backtest.run("backtest", "--strategy", "buy-and-hold", *plain).stdout


def bad(folder, words):
    head = "symbol,kind,ex_date,shares,per,cash\n"
    for text, says in ((head + "AAPL,split,2025-11-26,0,1,\n", ':2: shares is "0": a split gives'),
                       (head + "XYZ,split,2025-11-26,4,1,\n", "none of its symbols (XYZ) has bars"),
                       (head + 2 * "AAPL,split,2025-11-26,4,1,\n", "is there twice of AAPL"), ("", "it is empty"),
                       (head, "it has a header and no action"), (head + "AAPL,split,2025-11-26,4,1,1\n", ":2: a split has no cash"),
                       (head + "AAPL,split,2025-11-26,1,1,\n", ":2: a split of 1 for 1 changes nothing")):
        done = subprocess.run([harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", *words, "--corporate-actions",
                               write(folder, "bad.csv", text)], capture_output=True, text=True, timeout=stock_backtest.WAIT)
        assert done.returncode == 1 and says in done.stderr.splitlines()[-1], (text, done.stderr)
    path = write(folder, "left.csv", head + "XYZ,split,2025-11-26,4,1,\nAAPL,split,2020-08-31,4,1,\nAAPL,dividend,2030-01-01,,,1\n")
    done = stock_backtest.run("backtest", "--strategy", "sma-cross", *words, "--corporate-actions", path)
    assert "1 of its actions are of symbols without bars here (XYZ)" in done.stderr, done.stderr
    assert "1 of its actions are from before the symbol's first bar, and 1 from after the last" in done.stderr, done.stderr
    path = write(folder, "before.csv", head.replace("cash", "cash,ts_ns") + "AAPL,split,2025-11-26,4,1,,2025-11-25T00:00:00Z\n")
    done = stock_backtest.run("backtest", "--strategy", "sma-cross", *words, "--corporate-actions", path)
    assert "1 of its actions have a ts_ns before their ex-date: they take effect on that" in done.stderr, done.stderr


def main():
    with harness.Folder() as folder:
        files = raw_bars(folder.path)
        daemon, stored = live(folder, files)
        kinds = [row["kind"] for row in stock_backtest.rows(stored["ledger"])]
        assert kinds.count("split") >= 1 and kinds.count("dividend") >= 1, (kinds.count("split"), kinds.count("dividend"))
        printed = write(folder.path, "printed.csv", daemon.papertape("actions", "--csv"))
        by_date = write(folder.path, "by_date.csv", BY_DATE)
        words = stock_backtest.arguments(files)
        for label, bars, without in (("printed", [*words, "--corporate-actions", printed], stock_backtest.HASHES),
                                     ("by date", [*words, "--corporate-actions", by_date], stock_backtest.HASHES),
                                     ("stored", ["--bars", daemon.state], None)):
            stock_backtest.same(label, stored, stock_backtest.again(folder, bars, NAMES, "auto", label)[0], without)
        stock_backtest.own(folder, daemon.state, stored, NAMES)
        print(f"as live: {len(stock_backtest.rows(stored['fills']))} fills, {kinds.count('split')} splits, {kinds.count('dividend')} dividends")
        with_actions = [*words, "--corporate-actions", by_date]
        saved(folder.path, [*with_actions, "--venue", "alpaca", "--fees", "stocks"], [("split", "AAPL"), ("dividend", "MSFT"), ("dividend", "AAPL")])
        sweep(folder.path, with_actions)
        guards(with_actions)
        counted(with_actions)
        bad(folder.path, words)


if __name__ == "__main__":
    sys.exit(main())
