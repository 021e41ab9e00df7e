#!/usr/bin/env python3
"""`papertape backtest` on bars and on trades, `sweep`, `lookahead` and `warmup` as a user meets them: the files and the
JSON of a run agree with each other and with sums made here, both ways give the same files, a saved run passes
`ledger verify`, and what cannot be is refused in one line and leaves nothing behind."""

import bisect
import contextlib
import csv
import gzip
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

import harness

START_MS = 1704067200000  # 2024-01-01
SEED = int(os.environ.get("PAPERTAPE_SEED", "20261123"))
STRATEGIES = ("buy-and-hold", "day-trade", "equal-weight", "sma-cross", "sma-cross-rsi", "sma-cross-rsi-risk", "triple-confirmation")
OUTPUTS = ("ledger", "trades", "orders", "equity", "rounds", "monthly")


def run(*words, status=0):
    done = subprocess.run([harness.PAPERTAPE, *map(str, words)], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == status, (words, done.returncode, done.stdout[-500:], done.stderr)
    return done


def refused(*words, status=1, says=()):
    """One line on stderr, notes on gaps apart; nothing on stdout."""
    done = run(*words, status=status)
    lines = [line for line in done.stderr.splitlines() if ": note: " not in line]
    assert done.stdout == "" and len(lines) == 1 and lines[0].startswith("papertape: "), (words, done.stderr)
    for word in [says] if isinstance(says, str) else says:
        assert word in lines[0], (word, done.stderr)


def synthetic_bars(path, rng, n, price, gaps=(), minutes=1):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "wt") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(n):
            close = round(price * math.exp(rng.gauss(0, 0.002)), 2)
            high = round(max(price, close) * (1 + rng.random() * 0.001), 2)
            low = round(min(price, close) * (1 - rng.random() * 0.001), 2)
            if i not in gaps:
                file.write(f"{START_MS + i * minutes * 60000},{price},{high},{low},{close},{round(rng.random() * 9, 5)}\n")
            price = close
    return path


def made_trades(path, rng, n):
    price, ms = 42000.0, START_MS
    with open(path, "w") as file:
        file.write("id,price,qty,quoteQty,time,isBuyerMaker,isBestMatch\n")
        for i in range(1, n + 1):
            price, ms = round(price * math.exp(rng.gauss(0, 0.0005)), 2), ms + rng.randrange(0, 2000)
            qty = round(rng.uniform(0.001, 0.5), 5)
            file.write(f"{i},{price},{qty},{price * qty:.6f},{ms},{rng.choice(['true', 'false'])},true\n")
    return path


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def closes(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return {int(row["open_time"]) * 10**6: float(row["close"]) for row in csv.DictReader(file)}


def last_close(path, before_ns):
    return [close for open_ns, close in closes(path).items() if open_ns < before_ns][-1]


def backtest(folder, name, *words):
    """The report, and the rows of every file of it."""
    paths = {what: os.path.join(folder, f"{name}-{what}.csv") for what in OUTPUTS}
    done = run("backtest", *words, "--json", *[word for what, path in paths.items() for word in (f"--{what}", path)])
    report = json.loads(done.stdout)
    assert report["schema"] == "papertape.backtest/1" and report["ledger_ok"] is True
    return report, {what: rows(path) for what, path in paths.items()}, done


def check_sums(report, files, bars):
    """Cash, holdings and equity again, from the fills alone."""
    assert report["fills"] == len(files["trades"]) and report["orders"] == len(files["orders"])
    assert report["ledger_rows"] == len(files["ledger"]) and report["ledger_hash"] == files["ledger"][-1]["hash"]
    for account in report["accounts"]:
        cash, held, fees = account["deposits"], {}, 0.0
        for fill in files["trades"]:
            if fill["account"] != account["account"]:
                continue
            sign = 1 if fill["side"] == "BUY" else -1
            held[fill["symbol"]] = held.get(fill["symbol"], 0.0) + sign * float(fill["qty"])
            cash -= sign * float(fill["notional"]) + float(fill["fee"])
            fees += float(fill["fee"])
        equity = cash + sum(qty * last_close(bars[symbol], report["last_ns"]) for symbol, qty in held.items())
        assert math.isclose(cash, account["cash"], abs_tol=1e-4), (cash, account["cash"])
        assert math.isclose(equity, account["equity"], abs_tol=1e-4), (equity, account["equity"])
        assert math.isclose(fees, account["fees"], abs_tol=1e-4)
        turnover = sum(float(fill["notional"]) for fill in files["trades"] if fill["account"] == account["account"])
        assert math.isclose(turnover, account["turnover"], rel_tol=1e-9), (turnover, account["turnover"])
        curve = [row for row in files["equity"] if row["account"] == account["account"]]
        assert len(curve) == report["rows"] and float(curve[-1]["equity"]) == round(account["equity"], 8)
        assert math.isclose(float(curve[-1]["cash"]), account["cash"], abs_tol=1e-8)
        peaks = [float(row["peak"]) for row in curve]
        assert peaks == sorted(peaks)
        worst = min(float(row["equity"]) / float(row["peak"]) - 1 for row in curve)
        assert math.isclose(100 * worst, account["max_drawdown_pct"], abs_tol=1e-6)
        months = [row for row in files["monthly"] if row["account"] == account["account"]]
        total = math.prod(1 + float(row["return"]) for row in months) - 1
        assert math.isclose(100 * total, account["return_pct"], abs_tol=1e-9)
        rounds = [row for row in files["rounds"] if row["account"] == account["account"]]
        assert sum(row["exit_ns"] != "" for row in rounds) == account["trades"]
        profit = sum(float(row["profit"]) for row in rounds)
        assert math.isclose(profit, account["equity"] - account["deposits"], abs_tol=1e-3), (profit, account)
        assert account["wins"] + account["losses"] == account["trades"]
        reasons = sum(row["account"] == account["account"] and row["state"] == "REJECTED" for row in files["orders"])
        assert sum(account["refused"].values()) == reasons


def test_strategies(folder, bars):
    words = ["--bars", ",".join(bars.values()), "--cache", os.path.join(folder, "cache")]
    fills = 0
    for name in STRATEGIES:
        report, files, _ = backtest(folder, name, "--strategy", name, *words)
        check_sums(report, files, bars)
        state = os.path.join(folder, "state-" + name)
        _, engine, _ = backtest(folder, name + "-engine", "--strategy", name, *words, "--way", "engine", "--save", state)
        assert files == engine, f"{name}: columns and engine differ"
        verified = json.loads(run("ledger", "verify", "--json", "--state", state).stdout)
        assert verified["ok"] and verified["hash"] == report["ledger_hash"], (name, verified)
        fills += report["fills"]
        print(f"{name}: {report['orders']} orders, {report['fills']} fills, {report['accounts'][0]['way']}: both ways alike")
    assert fills > 200, fills


def test_killed(folder, bars):
    """An account that its drawdown killed is stored as one."""
    state = os.path.join(folder, "killed")
    backtest(folder, "killed", "--strategy", "buy-and-hold", "--bars", bars["BTCUSDT"], "--no-cache", "--risk", "drawdown=0.001",
             "--risk", "exposure_symbol=0", "--save", state)
    with contextlib.closing(sqlite3.connect(os.path.join(state, "papertape.db"))) as database:
        (killed_ns,) = database.execute("SELECT killed_ns FROM accounts").fetchone()
        (last_ns,) = database.execute("SELECT max(ts_ns) FROM equity").fetchone()
    assert 0 < killed_ns <= last_ns, (killed_ns, last_ns)


def test_ended(folder, bars):
    """A symbol whose bars end more than a day before the others' is named; one that ends hours before is not."""
    ended = synthetic_bars(os.path.join(folder, "ENDEDUSDT_1m.csv"), random.Random(1), 1550, 7.0)
    done = run("backtest", "--strategy", "buy-and-hold", "--bars", f"{bars['BTCUSDT']},{ended},{bars['ETHUSDT']}", "--no-cache")
    notes = [line for line in done.stderr.splitlines() if "its last bar opens at" in line]
    assert len(notes) == 1 and "note: ENDEDUSDT: " in notes[0] and "carried at the last price" in notes[0], done.stderr
    os.remove(ended)


def test_accounts(folder, bars):
    state = os.path.join(folder, "saved")
    words = ["--strategy", "sma-cross", "--set", "fast=5,slow=20", "--strategy", "sma-cross:fast=10", "--set", "slow=40",
             "--strategy", "buy-and-hold", "--bars", ",".join(bars.values()), "--no-cache"]
    report, files, done = backtest(folder, "several", *words, "--save", state, "--fees", "0.0005:0.00075", "--slippage", "0.0001")
    assert [a["account"] for a in report["accounts"]] == ["sma-cross-1", "sma-cross-2", "buy-and-hold"]
    assert report["accounts"][1]["params"]["fast"] == 10 and report["accounts"][1]["params"]["slow"] == 40
    check_sums(report, files, bars)
    assert report["symbols"][1]["bars_missing"] == 3 and "3 of its bars are missing" in done.stderr
    verified = json.loads(run("ledger", "verify", "--json", "--state", state).stdout)
    assert verified["ok"] is True and verified["hash"] == report["ledger_hash"], verified
    for what, verb in (("trades", "fills"), ("orders", "orders")):
        text = run(verb, "--csv", "--state", state).stdout
        with open(os.path.join(folder, f"several-{what}.csv")) as file:
            assert file.read() == text, what
    with open(os.path.join(folder, "several-ledger.csv")) as file:
        assert file.read() == run("ledger", "export", "--state", state).stdout
    assert "sma-cross-2" in run("--state", state, "--readonly", "--once").stdout
    assert run("bars", "BTCUSDT", "1m", "--state", state).stdout.count("\n") == len(closes(bars["BTCUSDT"])) + 1

    # The bars that were saved, and an account of them, give the same again.
    again, same, _ = backtest(folder, "again", *words[:-3], "--bars", state, "--fees", "0.0005:0.00075", "--slippage", "0.0001")
    assert same["ledger"] == files["ledger"] and again["ledger_hash"] == report["ledger_hash"]
    one, _, _ = backtest(folder, "account", "--account", "sma-cross-2", "--state", state, "--slippage", "0.0001")
    refused("backtest", "--account", "sma-cros-2", "--state", state, says='"sma-cros-2": there is no such account: did you mean sma-cross-2?')
    for option in ("--lot", "--exchange-info", "--cache"):
        refused("backtest", "--account", "sma-cross-2", "--state", state, option, "1", status=2, says="a database has lots, ticks and quotes, and no cache")
    for line in (("bars", "BTCUSDX", "1m", "--state", state), ("backtest", "--account", "sma-cross-2", "--bars", state, "--symbol", "BTCUSDX", "--state", state)):
        refused(*line, says='"BTCUSDX": there is no such symbol in the database: did you mean BTCUSDT?')
    for key in ("equity", "fills", "sharpe", "params"):
        assert one["accounts"][0][key] == report["accounts"][1][key], key

    # A symbol that is named is held as the first one is.
    named = json.loads(run("backtest", *words, "--benchmark", "BTCUSDT", "--json").stdout)["accounts"][2]
    turned = json.loads(run("backtest", *words, "--benchmark", "ETHUSDT", "--json").stdout)["accounts"][2]
    plain = json.loads(run("backtest", *words, "--json").stdout)["accounts"][2]
    for key in ("alpha_pct", "beta", "benchmark_return_pct", "benchmark_sharpe", "benchmark_max_drawdown_pct"):
        assert named[key] == plain[key] != turned[key], key

    # Rows without bars of the first symbol are not reported as held; a symbol with too few bars is reported.
    late = synthetic_bars(os.path.join(folder, "LATEUSDT_1m.csv"), random.Random(SEED), 60, 7.0, range(50))
    both = ["backtest", "--strategy", "sma-cross", "--bars", f"{late},{bars['BTCUSDT']}", "--no-cache", "--json"]
    done = run(*both)
    assert json.loads(done.stdout)["benchmark"] == "LATEUSDT"
    assert "LATEUSDT has fewer bars than the 30 that sma_30 of sma-cross needs: nothing is done in it\n" in done.stderr, done.stderr
    part = json.loads(run(*both, "--to", "2024-01-01T00:45").stdout)
    assert part["benchmark"] == "BTCUSDT" and part["accounts"][0]["beta"] is not None
    refused(*both, "--to", "2024-01-01T00:45", "--benchmark", "lateusdt", says="no bars of it to hold")
    os.remove(late)

    text = run("backtest", *words).stdout
    assert all(len(line) <= 80 for line in text.splitlines()), max(text.splitlines(), key=len)
    for word in ("equity USDT", "Sharpe", "Sortino", "Calmar", "max drawdown", "win rate", "profit factor", "expectancy", "SQN",
                 "exposure", "turnover", "fees", "alpha", "beta", "return by month", "deepest drawdowns", "ledger ok", "seconds",
                 "indicators", "memory", "buy-and-hold"):
        assert word in text, word
    refused("backtest", *words, "--save", state, says="a new or an empty directory is needed")


def test_wide(folder):
    """Reports of much money, many symbols and many parameters stay within 80 columns; sums are still right."""
    cheap = synthetic_bars(os.path.join(folder, "CHEAPUSDT_1m.csv"), random.Random(SEED), 600, 100.0)
    words = ["--strategy", "sma-cross:fast=1,slow=2", "--bars", cheap, "--cash", 10**10, "--fees", "0:0"]
    report, _, _ = backtest(folder, "much", *words)
    os.remove(cheap)
    assert report["accounts"][0]["turnover"] > 2**63 / 10**8

    # More than can be counted is reported, and ends alike by both ways.
    rising = os.path.join(folder, "RISEUSDT_1m.csv")
    with open(rising, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(600):
            prices = [round(10 * 1.02 ** k, 2) for k in (i, i + 1, i, i + 1)]
            file.write(f"{START_MS + i * 60000},{','.join(map(str, prices))},1\n")
    curves = []
    for way in ("engine", "auto"):
        _, files, done = backtest(folder, "rise", "--strategy", "buy-and-hold", "--bars", rising, "--cash", 10**8, "--way", way)
        assert "buy-and-hold came to 23058430092 USDT, and no more is counted" in done.stderr, done.stderr
        curves.append(files["equity"])
    assert curves[0] == curves[1] and math.isclose(float(curves[0][-1]["equity"]), 2**61 / 10**8)
    _, _, done = backtest(folder, "rise", "--strategy", "buy-and-hold", "--bars", rising)
    assert done.stderr == "", done.stderr
    os.remove(rising)

    many = [synthetic_bars(os.path.join(folder, f"LONGNAMED{i}USDT_1m.csv"), random.Random(i), 200, 9.0) for i in range(8)]
    strategy = ("triple-confirmation:fast=5,slow=21,rsi=15,rsi_min=49.5,rsi_max=71,macd_fast=11,macd_slow=25,macd_signal=8,"
                "atr=13,stop_atr=2.1,profit_atr=4.1,risk=0.011,fraction_max=0.51,positions_max=4")
    text = run("backtest", "--strategy", strategy, "--strategy", "buy-and-hold", "--bars", ",".join(many), "--cash", 10**10).stdout
    assert text.startswith("bars      LONGNAMED0USDT ") and " and 2 more 1m\n" in text and " positions_max=4\n" in text
    assert all(len(line) <= 80 for line in text.splitlines()), max(text.splitlines(), key=len)
    for path in many:
        os.remove(path)


def test_part(folder, bars):
    """--from trades from there on, with everything before as history."""
    words = ["--strategy", "sma-cross", "--bars", bars["BTCUSDT"], "--no-cache"]
    middle = START_MS // 1000 + 1500 * 60
    report, files, _ = backtest(folder, "part", *words, "--from", middle, "--to", middle + 600 * 60)
    assert report["rows"] == 600 and report["rows_before"] == 1500
    assert report["first_ns"] == middle * 10**9 and all(int(f["ts_ns"]) >= middle * 10**9 for f in files["trades"])
    check_sums(report, files, bars)


def test_impossible(folder, bars):
    """Orders that cannot be are refused, counted by reason and reported; the account continues."""
    words = ["--strategy", "sma-cross", "--set", "fast=5,slow=20", "--bars", bars["BTCUSDT"], "--no-cache"]
    report, files, _ = backtest(folder, "poor", *words, "--cash", "4")
    account = report["accounts"][0]
    assert report["fills"] == 0 and report["rejected"] == report["orders"] > 10, report
    assert sum(account["refused"].values()) == report["rejected"] and account["equity"] == 4
    assert account["sharpe"] is None and account["win_rate_pct"] is None and account["trades"] == 0
    check_sums(report, files, bars)
    text = run("backtest", *words, "--cash", "4").stdout
    assert all(f"{n} {reason}" in text for reason, n in account["refused"].items()), text


def test_trades(folder, path):
    report, files, _ = backtest(folder, "ticks", "--strategy", "sma-cross", "--set", "fast=3,slow=9", "--ticks", path)
    assert report["ticks"] == 20000 and report["fills"] > 10
    with open(path) as file:
        trades = [(int(row["time"]) * 10**6, float(row["price"])) for row in csv.DictReader(file)]
    held = 0.0
    for fill in files["trades"]:
        ns = int(fill["ts_ns"])
        at = bisect.bisect_right(trades, (ns, math.inf)) - 1  # the last one that was seen
        assert at >= 0 and float(fill["price"]) in {price for when, price in trades if when == trades[at][0]}, fill
        held += float(fill["qty"]) if fill["side"] == "BUY" else -float(fill["qty"])
    account = report["accounts"][0]
    assert account["way"] == "engine"
    assert math.isclose(account["cash"] + held * trades[-1][1], account["equity"], abs_tol=1e-4)

    # The same trades in two files that follow each other; not the other way round; and in a zip.
    with open(path) as file:
        head, *rows = file.readlines()
    days = [os.path.join(folder, f"BTCUSDT-trades-2024-01-0{day}.csv") for day in (1, 2)]
    for day, part in zip(days, (rows[:7000], rows[7000:])):
        with open(day, "w") as file:
            file.writelines([head, *part])
    words = "backtest", "--strategy", "sma-cross", "--set", "fast=3,slow=9", "--ticks"
    _, same, _ = backtest(folder, "days", *words[1:], ",".join(days))
    assert same == files
    refused(*words, ",".join(reversed(days)), says="BTCUSDT-trades-2024-01-01.csv:2: trade ids must rise")
    packed = os.path.join(folder, "BTCUSDT-trades-2024-01-03.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(days[0])
    days[0] = packed
    _, same, _ = backtest(folder, "packed", *words[1:], ",".join(days))
    assert same == files

    # The same trades as frames of a recording, with others among them.
    frames = os.path.join(folder, "btcusdt_frames.jsonl.gz")
    with open(path) as source, gzip.open(frames, "wt") as file:
        for row in csv.DictReader(source):
            trade = {"e": "trade", "E": int(row["time"]), "s": "BTCUSDT", "t": int(row["id"]), "p": row["price"], "q": row["qty"],
                     "T": int(row["time"]), "m": row["isBuyerMaker"] == "true", "M": True}
            text = json.dumps({"stream": "btcusdt@trade", "data": trade}, separators=(",", ":"))
            file.write(f"{row['time']}000000 {text}\n")
            if int(row["id"]) % 9 == 0:
                file.write(f'{row["time"]}000001 {{"stream":"ethusdt@trade","data":{{"e":"trade","E":1,"s":"ETHUSDT","t":1,"p":"1",'
                           f'"q":"1","T":1,"m":true,"M":true}}}}\n')
    _, same, _ = backtest(folder, "frames", "--strategy", "sma-cross", "--set", "fast=3,slow=9", "--ticks", frames)
    assert same == files


def test_sweep(folder, bars):
    path = os.path.join(folder, "sweep.csv")
    words = ["--strategy", "sma-cross", "--bars", bars["BTCUSDT"], "--no-cache"]
    done = run("sweep", *words, "--grid", "fast=5:20:5", "--grid", "slow=10,20,5000", "--metric", "return", "--top", 3,
               "--csv", path, "--json")
    sweep = json.loads(done.stdout)
    assert sweep["schema"] == "papertape.sweep/1" and sweep["combinations"] == 12
    # 10/10, 15/10, 20/10 and 20/20 contradict themselves; 5000 bars there are not.
    assert (sweep["contradictory"], sweep["too_few_bars"], sweep["runs"]) == (4, 4, 4), sweep
    table = rows(path)
    assert len(table) == 4 and len(sweep["top"]) == min(3, 4 - sweep["few_trades"])
    returns = [float(row["return"]) for row in table]
    assert returns == sorted(returns, reverse=True)
    for row in table:
        report = json.loads(run("backtest", *words, "--set", f"fast={row['fast']},slow={row['slow']}", "--json").stdout)
        account = report["accounts"][0]
        assert math.isclose(account["return_pct"], 100 * float(row["return"]), rel_tol=1e-9, abs_tol=1e-12), row
        assert math.isclose(account["sharpe"], float(row["sharpe"]), rel_tol=1e-9)
        assert (account["trades"], account["fills"]) == (int(row["trades"]), int(row["fills"]))
    text = run("sweep", *words, "--grid", "fast=5:20:5").stdout
    assert "sets without skill the best would be expected to show a Sharpe of" in text and "4 combinations" in text, text
    refused("sweep", *words, "--grid", "fast=5:20:5", "--backend", "tpu", status=2, says="one of cpu|gpu is needed")
    refused("sweep", *words, "--grid", "fsat=5:20:5", status=2, says="did you mean fast?")
    refused("sweep", *words, "--grid", "fast=5:20:0", status=2, says="lo:hi:step")
    refused("sweep", *words, "--grid", "fast=1:5000:1", status=2, says="from 1 to 1000")
    refused("sweep", *words, "--grid", "fast=5", "--metric", "shrape", status=2, says="did you mean sharpe?")
    refused("sweep", *words, status=2, says="--grid KEY=LO:HI:STEP is needed, as: sweep")
    refused("sweep", *words, "--set", "fast=7", "--grid", "fast=5:20:5", status=2, says="--grid: fast: --set or --strategy sets it too")
    refused("sweep", *words, "--grid", "fast=5:20:5", "--set", "fast=7", status=2, says="--grid: fast: --set or --strategy sets it too")
    sweep = json.loads(run("sweep", *words, "--grid", "fast=5:20:5", "--set", "slow=40", "--json").stdout)
    assert sweep["set"] == "slow=40", sweep
    refused("sweep", *words, "--grid", "slow=4000:5000:100", says="nothing was run")


def test_screen(folder, bars):
    """--screen lists what the exact sweep does, and says which rows are exact; what it does not cover is as without it."""
    words = ["sweep", "--strategy", "sma-cross-rsi-risk", "--bars", bars["BTCUSDT"], "--no-cache", "--grid", "fast=3:12", "--grid", "slow=15:40:5",
             "--grid", "stop_atr=1,2", "--top", 7]
    exact, screened = (os.path.join(folder, name) for name in ("exact.csv", "screened.csv"))
    for metric in ("sharpe", "max_drawdown"):
        run(*words, "--metric", metric, "--csv", exact)
        text = run(*words, "--metric", metric, "--screen", "--csv", screened).stdout
        assert "120 of 120 combinations; screened, " in text, text
        left, right = rows(exact), rows(screened)
        for one, other in zip(left[:7], right[:7], strict=True):
            assert math.isclose(float(one.pop("dsr")), float(other.pop("dsr")), abs_tol=1e-5) and one == other, (one, other)
        assert all(row["exact"] == "true" for row in right[:7]) and any(row["exact"] == "false" for row in right), right
        assert {tuple(row[key] for key in ("fast", "slow", "stop_atr", "trades", "fills")) for row in left} == {
            tuple(row[key] for key in ("fast", "slow", "stop_atr", "trades", "fills")) for row in right}
    sweep = json.loads(run(*words, "--screen", "--json").stdout)
    assert [row["exact"] for row in sweep["top"]] == [True] * 7
    text = run(*words, "--risk", "positions=1", "--screen").stdout
    assert "120 of 120 combinations\n" in text, text


def test_guards(bars):
    for name in STRATEGIES:
        verdict = json.loads(run("lookahead", name, "--bars", ",".join(bars.values()), "--cuts", 8, "--no-cache", "--json").stdout)
        assert verdict["schema"] == "papertape.lookahead/1" and verdict["ok"] and verdict["first"] is None
        assert verdict["decisions"] > 0 and verdict["runs"] > 8, verdict
    assert run("lookahead", "sma-cross", "--seed", 3, "--cuts", 4).stdout.endswith("lookahead ok\n")
    verdict = json.loads(run("warmup", "sma-cross", "--set", "fast=4,slow=12", "--json").stdout)
    assert verdict["settles"] and verdict["predicted_bars"] == verdict["lookback_bars"] == 11, verdict
    assert 11 <= verdict["bars"] <= 14, verdict
    assert "warmup " in run("warmup", "sma-cross").stdout
    refused("lookahead", status=2, says="STRATEGY or --strategy STRATEGY is needed")
    refused("lookahead", "sma-crss", status=2, says="did you mean sma-cross?")
    for option, value in (("--columns", "no.csv"), ("--corporate-actions", "no.csv"), ("--universe", "price>0"), ("--calendar", "nyse")):
        refused("lookahead", "sma-cross", option, value, status=2, says=f"{option}: it goes with --bars")
    refused("warmup", "sma-cross", "--cuts", 3, status=2, says="--cuts: unknown option")
    refused("warmup", "sma-cross", "--bars", bars["BTCUSDT"], "--from", START_MS + 2800 * 60000, "--no-cache", says="too few")


def whole_volumes(path, seed):
    """A file of a symbol whose name ends with no known currency, and whose volumes are whole numbers."""
    rng, price = random.Random(seed), 42000.0
    with open(path, "w") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(600):
            close = round(price * math.exp(rng.gauss(0, 0.002)), 2)
            high, low = max(price, close), min(price, close)
            file.write(f"{START_MS + i * 60000},{price},{high},{low},{close},{rng.randrange(1, 900)}\n")
            price = close
    return path


def notes(*words):
    return [line.split(": note: ", 1)[1] for line in run("backtest", "--no-cache", *words).stderr.splitlines()]


def test_own_files(folder):
    """What a file lacks is named with the option that gives it, and orders that were refused for it with the same."""
    foo, bar = (whole_volumes(os.path.join(folder, name), seed) for name, seed in (("Binance_FOOXYZ_1m.csv", 5), ("BAR_XYZ.csv", 6)))
    words = ("--strategy", "sma-cross:fast=5,slow=20", "--bars", foo)
    report = json.loads(run("backtest", "--no-cache", *words, "--json").stdout)
    symbol, n = report["symbols"][0], report["rejected"]
    assert symbol["symbol"] == "FOOXYZ" and symbol["quote"] == "XXX" and symbol["lot"] == 1 and n > 10, report
    quote, lot, refusals = notes(*words)
    assert quote.startswith("FOOXYZ: its name ends with no known currency: money is in XXX") and quote.endswith("until --quote names it")
    assert lot.startswith("FOOXYZ: its volumes are whole numbers, so its lot is 1, which costs ") and "--lot names a smaller one" in lot
    assert refusals == f"sma-cross: {n} orders for FOOXYZ were refused for their quantity: the lot (1) is too large: --lot names a smaller one"

    # With lots and a currency nothing is left to say; with money for one of them only, it is the money.
    assert notes(*words, "--quote", "xyz", "--lot", "0.001") == []
    both = ("--strategy", "sma-cross:fast=5,slow=20", "--bars", f"{foo},{bar}", "--symbol", "FOOXYZ,BARXYZ", "--quote", "XYZ")
    said = [note for note in notes(*both, "--cash", "90000") if "its lot is 1" not in note]
    assert len(said) == 1 and "no cash was free for one lot (1): a smaller share for each position, or more cash, is needed" in said[0], said

    # A bar that --repair would take says so, in every verb that reads it.
    broken = os.path.join(folder, "OUTUSDT.csv")
    with open(broken, "w") as file:
        file.write("time;open;high;low;close;volume\n60;1;1;1;1;1\n120;3;2;1;1;1\n")
    for verb in (("backtest", "--strategy", "buy-and-hold", "--no-cache", "--bars", broken), ("indicators", broken, "sma:2")):
        refused(*verb, says=("open is outside low to high", "OUTUSDT.csv:3: 1 to 2, not 3, or --repair"))
        assert "widened" in run(*verb, "--repair").stderr
    for path in (foo, bar, broken):
        os.remove(path)


def test_parts(folder, bars):
    """Monthly files are one series, in any order, from the cache as well."""
    with open(bars["BTCUSDT"]) as file:
        header, *lines = file.readlines()
    paths = [os.path.join(folder, f"btc-{month}.csv") for month in (3, 1, 2)]
    for path, part in zip(paths, (lines[2000:], lines[:700], lines[700:2000]), strict=True):
        with open(path, "w") as file:
            file.writelines([header, *part])
    words = ("backtest", "--strategy", "sma-cross", "--symbol", "BTCUSDT", "--json", "--cache", os.path.join(folder, "cache-parts"))
    hashes = [json.loads(run(*words, "--bars", given).stdout)["ledger_hash"] for given in (bars["BTCUSDT"], ",".join(paths), ",".join(paths))]
    assert len(set(hashes)) == 1, hashes
    refused(*words, "--bars", ",".join([paths[0], bars["BTCUSDT"]]), says=("symbol twice: BTCUSDT", paths[0], bars["BTCUSDT"], "follow each other"))
    for path in paths:
        os.remove(path)


def test_refused(folder, bars):
    btc = bars["BTCUSDT"]

    def write(name, text):
        path = os.path.join(folder, name)
        with open(path, "w" if isinstance(text, str) else "wb") as file:
            file.write(text)
        return path

    def strategy(*words, status=1, says=()):
        return refused("backtest", "--strategy", "sma-cross", "--no-cache", *words, status=status, says=says)

    refused("backtest", "--strategy", "sma-cros", "--bars", btc, status=2, says="did you mean sma-cross?")
    for both in (("--trades", "a.csv", "--fills", "b.csv"), ("--fills", "a.csv", "--trades", "b.csv")):
        strategy("--bars", btc, *both, status=2, says="--trades: --fills is given too")
    strategy("--set", "fats=3", "--bars", btc, status=2, says="did you mean fast?")
    strategy("--set", "fast=0", "--bars", btc, status=2, says="from 1 to 1000")
    strategy("--set", "fast=2.5", "--bars", btc, status=2, says="whole number")
    strategy("--set", "fast", "--bars", btc, status=2, says="key=value")
    for sets in (["--set", "fast=3,fast=4"], ["--set", "fast=3", "--set", "slow=9", "--set", "fast=3"]):
        strategy(*sets, "--bars", btc, status=2, says="sma-cross: fast: it is set twice")
    refused("backtest", "--strategy", "sma-cross:fast=3", "--set", "fast=4", "--bars", btc, status=2, says="sma-cross: fast: it is set twice")
    strategy("--set", "fast=50,slow=20", "--bars", btc, status=2, says="fast")
    refused("backtest", "--set", "fast=3", "--strategy", "sma-cross", status=2, says="behind the --strategy")
    strategy(status=2, says="--bars F[,F…] is needed")
    strategy("--bars", btc, "--policy", "p.safetensors", status=2, says="--policy: --strategy is given too")
    strategy("--bars", btc, "--events", folder, status=2, says="not an option with --events")
    strategy("--bars", btc, "--ticks", btc, status=2, says="--ticks: --bars is given too")
    refused("sweep", "sma-cross", "--bars", btc, "--fees", "vip1", "--fee-taker", "0", status=2, says="--fees: --fee-taker is given too")
    strategy("--bars", btc, "--bars", btc, status=2, says="given before")
    strategy("--bars", btc, "--cash", "-5", status=2, says='--cash: "-5": a number from 0 to 10000000000 is needed')
    strategy("--bars", btc, "--cash", "0", status=2, says='--cash: "0": a number above 0 is needed')
    strategy("--bars", btc, "--fee-taker", "2", status=2, says="from 0 to 0.1")
    strategy("--bars", btc, "--fees", "vp1", status=2, says="did you mean")
    strategy("--bars", "binanze:BTCUSDT", status=2, says='--bars binanze:BTCUSDT: there is no such file, and no venue "binanze": did you mean binance?')
    strategy("--bars", "x:BTCUSDT", status=2, says='no venue "x": one of ')
    for words in (("--fees", "0.05%:5"), ("--fee-maker", "5"), ("--slippage", "5")):  # as fee_maker = 5 in [account NAME]
        strategy("--bars", btc, *words, status=2, says='"5": a number from 0 to 0.1, or percent, is needed')
    strategy("--bars", btc, "--risk", "drawdwn=0.2", status=2, says="did you mean drawdown?")
    strategy("--bars", btc, "--risk", "positions=1.5", status=2, says="whole number")
    strategy("--bars", btc, "--way", "fast", status=2, says="auto|engine|columns")
    strategy("--bars", btc, "--way", "columns", "--risk", "drawdown=0.2", says="sma-cross cannot be vectorised, for")
    strategy("--bars", btc, "--interval", "7m", status=2)
    strategy("--bars", btc, "--from", "2024-01-02", "--to", "2024-01-01", status=2, says="later than --from")
    strategy("--bars", btc, "--from", "2030-01-01", says="the bars end before it")
    strategy("--bars", btc, "--to", "2020-01-01", says="the bars begin after it")
    strategy("--bars", btc, "--benchmark", "DOGEUSDT", says="no bars of it to hold: equal, none or BTCUSDT")
    strategy("--bars", btc, "--symbol", "A,B", status=2, says="one name for each file")
    strategy("--bars", btc, "--set", "slow=5000", says=("2997 bars", "5000"))
    strategy("--bars", f"{btc},{btc}", says="BTCUSDT")
    strategy("--bars", f"{btc},{synthetic_bars(os.path.join(folder, 'LTCUSDT_5m.csv'), random.Random(1), 50, 90.0, minutes=5)}")
    strategy("--bars", f"{btc},{synthetic_bars(os.path.join(folder, 'ETHBTC_1m.csv'), random.Random(1), 50, 0.09)}", says="one currency")
    strategy("--bars", os.path.join(folder, "nothing.csv"), says="No such file")
    strategy("--bars", write("XRPUSDT_1m.csv", "no bars\n1,2\n"), says="XRPUSDT_1m.csv")
    strategy("--bars", write("XRPUSDT_2m.csv", os.urandom(4096)))
    strategy("--bars", write("XRPUSDT_3m.csv", gzip.compress(b"open_time,open,high,low,close,volume\n")[:20]))
    strategy("--bars", write("XRPUSDT_4m.csv", ""))
    strategy("--bars", write("XRPUSDT_6m.csv", f"open_time,open,high,low,close,volume\n{START_MS},1,0.5,2,1,1\n"), says=":2")
    strategy("--bars", write("x.db", b"SQLite format 3\0" + bytes(200)))
    strategy("--bars", folder, status=2, says="its files are of several intervals: --interval names one")
    os.mkdir(os.path.join(folder, "empty"))
    os.makedirs(os.path.join(folder, "nested/2024"))
    strategy("--bars", os.path.join(folder, "nested"), status=1, says="nested: it has no bars: it was searched for papertape.db (a state directory), NAME.csv")
    strategy("--bars", os.path.join(folder, "empty"), status=3, says="papertape.db: there is no database yet")
    refused("backtest", "--account", "main", "--state", folder, status=3, says="papertape.db: there is no database yet")
    refused("backtest", "--account", "main", "--strategy", "sma-cross", "--bars", btc, status=2, says="--account: --strategy is given too")
    head = "id,price,qty,quoteQty,time,isBuyerMaker\n"
    for name, line, words in (("a", "1,2\n", ":2: id,price,qty"), ("b", "1,-2,3,4,1704067200000,true\n", "the price must be above 0"),
                              ("c", "1,2,3,4,1704067200000,perhaps\n", "true or false"),
                              ("d", "2,2,3,4,1704067200000,true\n1,2,3,4,1704067200000,true\n", ":3: trade ids must rise"),
                              ("e", "1,2,3,4,1704067200001,true\n2,2,3,4,1704067200000,true\n", "times must not fall"),
                              ("f", "", "no trade")):
        refused("backtest", "--strategy", "sma-cross", "--ticks", write(f"BTCUSDT-{name}.csv", head + line), says=words)

    # Nothing half-written: neither where it cannot be, nor where the run fails, nor at a full disk.
    kept = write("kept.csv", "as it was\n")
    before = sorted(os.listdir(folder))
    strategy("--bars", btc, "--ledger", os.path.join(folder, "no", "l.csv"), says="No such file")
    strategy("--bars", btc, "--ledger", folder, says="Is a directory")
    strategy("--bars", btc, "--equity", "/dev/full", says="No space left")
    strategy("--bars", btc, "--set", "slow=5000", "--ledger", kept)
    strategy("--bars", btc, "--save", os.path.join(folder, "no", "state"))
    strategy("--bars", btc, "--save", folder, says="something in it")
    assert sorted(os.listdir(folder)) == before, set(os.listdir(folder)) ^ set(before)
    with open(kept) as file:
        assert file.read() == "as it was\n"


def test_streams(folder, bars):
    """Bars from a pipe; rows to stdout, whatever that is, and through a link, which stays one."""
    words = ("backtest", "--strategy", "sma-cross", "--symbol", "BTCUSDT")
    plain = os.path.join(folder, "plain.csv")
    report = run(*words, "--bars", bars["BTCUSDT"], "--trades", plain, "--json")
    with open(plain) as file:
        fills = file.read()
    for extra in ((), ("--no-cache",)):
        with open(bars["BTCUSDT"], "rb") as file:
            piped = subprocess.run([harness.PAPERTAPE, *words, *extra, "--bars", "/dev/stdin", "--json"], input=file.read(),
                                   capture_output=True, timeout=harness.PATIENCE)
        assert piped.returncode == 0, piped.stderr
        assert json.loads(piped.stdout)["ledger_hash"] == json.loads(report.stdout)["ledger_hash"]

    out = os.path.join(folder, "out.txt")
    with open(out, "w") as file:
        subprocess.run([harness.PAPERTAPE, *words, "--bars", bars["BTCUSDT"], "--trades", "/dev/fd/1", "--benchmark", "none"],
                       stdout=file, timeout=harness.PATIENCE, check=True)
    with open(out) as file:
        text = file.read()
    assert text.startswith(fills) and "ledger ok" in text[len(fills):]

    link = os.path.join(folder, "link.csv")
    os.symlink("out.txt", link)
    run(*words, "--bars", bars["BTCUSDT"], "--trades", link)
    assert os.path.islink(link)
    with open(out) as file:
        assert file.read() == fills
    refused(*words, "--bars", bars["BTCUSDT"], "--trades", link, "--orders", out, status=2, says="a file for each")
    if os.geteuid() == 0:  # it may name any file of root's
        os.lchown(link, 65534, 65534)
        refused(*words, "--bars", bars["BTCUSDT"], "--trades", link, status=1, says="is a link that another user made: give a file")
    with open(out) as file:
        assert file.read() == fills
    for path in (plain, link, out):
        os.remove(path)


def main():
    rng = random.Random(SEED)
    print(f"system/backtest_bars: PAPERTAPE_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        bars = {"BTCUSDT": synthetic_bars(os.path.join(folder, "BTCUSDT_1m.csv"), rng, 3000, 42000.0, {700, 701, 1600}),
                "ETHUSDT": synthetic_bars(os.path.join(folder, "ETHUSDT_1m.csv.gz"), rng, 2900, 2300.0, {5, 700, 2000})}
        test_strategies(folder, bars)
        test_ended(folder, bars)
        test_accounts(folder, bars)
        test_killed(folder, bars)
        test_wide(folder)
        test_part(folder, bars)
        test_impossible(folder, bars)
        test_trades(folder, made_trades(os.path.join(folder, "BTCUSDT-trades.csv"), rng, 20000))
        test_sweep(folder, bars)
        test_screen(folder, bars)
        test_guards(bars)
        test_streams(folder, bars)
        test_own_files(folder)
        test_parts(folder, bars)
        test_refused(folder, bars)
    return 0


if __name__ == "__main__":
    sys.exit(main())
