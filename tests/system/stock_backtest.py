#!/usr/bin/env python3
"""Stocks by the exchange's hours: synthetic bars with pre-market, regular and after-hours (fixtures/stock_bars.py) through
papertape-replay and the live daemon, with the bar fill model, and the same files in `papertape backtest --calendar nyse`, and the
daemon's own bars in `--bars STATE`, by both ways of running: every strategy on an account of its own, the same orders, fills and
ledger. No fill is outside 09:30 to 16:00 in New York (13:00 on a half day), no purchase of a strategy is created or rests while
that is closed, the log plays again to what the database has, and no strategy looks ahead. Accounts that trade before and
after it too have the same orders there, by their names. With PAPERTAPE_LONG two months, else a week with a holiday and a half day."""

import collections
import csv
import datetime
import decimal
import io
import json
import os
import random
import subprocess
import sys

import harness
import live_backtest
import stock_bars

FIRST, END = ((datetime.date(2025, 11, 1), datetime.date(2026, 1, 1)) if harness.LONG else
              (datetime.date(2025, 11, 25), datetime.date(2025, 12, 2)))
SYMBOLS = ("AAPL", "MSFT")
SEED = int(os.environ.get("PAPERTAPE_SEED", "20261125"))
WAIT = 3000.0 if harness.LONG else 600.0
FEE = "0.0002"
RISK = {"exposure_symbol": "0.9", "exposure_account": "1", "daily_loss": "0", "orders_per_second": "10"}

# Every strategy, with parameters that make it trade within a week of minutes.
SETTINGS = {**live_backtest.SETTINGS, "day-trade": {"range": "15", "volume": "0", "trend": "10"},
            "equal-weight": {"every": "50", "drift": "0.01"}}


def configuration(names, keys, session="regular", venue="", guests=()):
    text = [venue, "[risk]", *[f"{key} = {value}" for key, value in RISK.items()]]
    for name in names:
        text += [f"[account {name}]", "currency = USD", "cash = 100000", f"fee_maker = {FEE}", f"fee_taker = {FEE}",
                 f"strategy = {name}", f"session = {session}"]
        text += [f"strategy.{key} = {value}" for key, value in SETTINGS[name].items()]
        if session == "extended":  # on credit, too: an account's name has its rules with it
            text += ["margin = regt", "settlement = by-date", "risk.exposure_account = 2"]
    for name, other in guests:
        text += [f"[account {name}-{other}]", "currency = USD", "cash = 100000", f"fee_maker = {FEE}", f"fee_taker = {FEE}",
                 f"strategy = {name}", f"session = {other}"]
        text += [f"strategy.{key} = {value}" for key, value in SETTINGS[name].items()]
    return harness.alpaca_config(keys, "\n".join(text) + "\n", ", ".join(SYMBOLS), history=0, engine=harness.BAR_MODEL)


HASHES = {"hash"}
# An account that ran alone has ids from 1.
IDS = {"fill", "order", "group", "parent"}


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def live(folder, files, names, session="regular", venue="", guests=()):
    """What the daemon's database has when the bars are over."""
    replay = folder.start(harness.Alpaca(folder.path, "--bars", *files, "--speed", "max",
                                         *[word for symbol in SYMBOLS for word in ("--asset", f"{symbol}:not-fractionable")]))
    daemon = folder.start(harness.Daemon(folder.path, replay, configuration(names, replay.keys, session, venue, guests)))
    harness.wait_last_bars(daemon, dict(zip(SYMBOLS, map(harness.last_bar_ms, files))), "1m", WAIT)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    for symbol, path in zip(SYMBOLS, files):
        with open(path, encoding="ascii") as file:
            wanted = sum(1 for _ in file) - 1
        bars = rows(daemon.papertape("bars", symbol, "1m"))
        assert len(bars) == wanted, f"{symbol}: {len(bars)} bars of {wanted} reached the daemon"
        check_sessions(bars)
    print(daemon.papertape("ledger", "verify").strip())
    print(daemon.papertape("parity").strip())
    return daemon.state, {"orders": daemon.papertape("orders", "--csv"), "fills": daemon.papertape("fills", "--csv"),
                          "ledger": daemon.papertape("ledger", "export")}


def check_sessions(bars):
    days = list(stock_bars.trading_days(FIRST, END))
    for bar in bars:
        second = int(bar["open_time_ms"]) // 1000
        assert bar["session"] == next(day for day in days if second < day.late).session(second), bar


def arguments(files):
    return ["--bars", ",".join(files), "--calendar", "nyse", "--lot", "1", "--tick", "0.01", "--quote", "USD", "--no-cache"]


def again(folder, bars, names, way, label):
    """The same of the backtest on those bars."""
    paths = {what: os.path.join(folder.path, f"{label}-{what}.csv") for what in ("orders", "fills", "ledger")}
    argv = [harness.PAPERTAPE, "backtest", *bars, "--cash", "100000", "--fee-maker", FEE, "--fee-taker", FEE,
            "--slippage", "0.0002", "--latency-ms", "50", "--way", way, "--venue", "alpaca", "--json"]
    argv += [word for pair in RISK.items() for word in ("--risk", "=".join(pair))]
    for name in names:
        argv += ["--strategy", name] + [word for pair in SETTINGS[name].items() for word in ("--set", "=".join(pair))]
    for what, path in paths.items():
        argv += [f"--{what}", path]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, (label, done.stderr)
    result = {}
    for what, path in paths.items():
        with open(path, newline="") as file:
            result[what] = file.read()
    return result, json.loads(done.stdout)


def number(text):
    """Prices of a venue have more digits than those of a file: the same numbers are the same."""
    try:
        return decimal.Decimal(text).normalize()
    except decimal.InvalidOperation:
        return text


def plain(text, without, account=None):
    return [{key: number(value) for key, value in row.items() if key not in without} for row in rows(text)
            if account in (None, row["account"])]


def written(text):
    return [list(row.values()) for row in rows(text)]


def same(label, want, got, without=None, account=None):
    """All rows and columns, to the last row's hash; `without`: as numbers, except these columns."""
    for what in got:
        if without is None:
            a, b = written(want[what]), written(got[what])
        else:
            a, b = (plain(text, without, account) for text in (want[what], got[what]))
        for i, (x, y) in enumerate(zip(a, b)):
            assert x == y, f"{label}: {what}: row {i + 1}: live has\n{x}\nthe backtest gives\n{y}"
        assert len(a) == len(b), (label, what, len(a), len(b))


def own(folder, state, stored, names, without=IDS):
    """The daemon's account by its name alone: its session, and the calendar of its symbols."""
    path = os.path.join(folder.path, "own.csv")
    for name in names:
        report = json.loads(run("backtest", "--account", name, "--state", state, "--json", "--fills", path).stdout)
        assert (report["calendar"], report["session"]) == ("nyse", "regular"), report
        with open(path, newline="") as file:
            same(f"{name}, by its name", stored, {"fills": file.read()}, without, name)


def outside(folder, files, names):
    """Accounts that trade before and after the session too, where their venue takes limit orders alone then."""
    guests = ("sma-cross", "equal-weight")
    state, stored = live(folder, files, names, "extended", guests=[(name, "regular") for name in guests])
    own(folder, state, stored, [f"{name}-regular" for name in guests])  # they do not see that the others are there
    paths = {what: os.path.join(folder.path, f"outside-{what}.csv") for what in ("orders", "fills")}
    words = [word for what, path in paths.items() for word in (f"--{what}", path)]
    for name in names:
        done = run("backtest", "--account", name, "--state", state, "--json", *words)
        assert "extended_hours" not in done.stderr and json.loads(done.stdout)["session"] == "extended", done
        for what, path in paths.items():
            with open(path, newline="") as file:
                same(f"{name}, extended", stored, {what: file.read()}, IDS, name)
    assert any(row["kind"] == "borrow" for row in rows(stored["ledger"])), "no account bought on credit"
    limits = [order for order in rows(stored["orders"]) if order["extended_hours"] == "1" and order["type"] == "LIMIT"]
    assert any(order["state"] == "FILLED" for order in limits), stored["orders"]
    with_files = run("backtest", "--account", names[0], "--state", state, "--json", *arguments(files))
    assert "extended_hours is taken as on" in with_files.stderr, with_files.stderr
    print(f"extended: {len(limits)} of {len(rows(stored['orders']))} orders before and after the sessions, as live")


def regular_outside(folder, files, names):
    """Regular accounts of a venue that is traded before and after the session too, beside one that trades then: no fill outside,
    and the fills of their backtest."""
    state, stored = live(folder, files, names, venue="extended_hours = on", guests=[("sma-cross", "extended")])
    own(folder, state, stored, names)
    stored = {what: "\n".join(line for line in text.splitlines() if ",sma-cross-extended," not in line)
              for what, text in stored.items()}
    check_hours(stored)
    print(f"regular, with the venue's extended hours: {len(rows(stored['fills']))} fills equal, none outside")


def mixed(folder):
    """A stock and a coin come by two connections; at full speed they stay in step, and no decision is lost."""
    day = datetime.date(2025, 11, 25)
    files = stock_bars.write_all(folder.path, ("AAPL",), day, day + datetime.timedelta(1), seed=SEED)
    rng, price, coins = random.Random(SEED), 9000000, []
    for second in range(stock_bars.at(day, 4), harness.last_bar_ms(files[0]) // 1000 + 60, 60):
        close = round(price * (1 + rng.gauss(0, 0.001)))
        coins.append(stock_bars.Bar(second, price, max(price, close), min(price, close), close, rng.randint(5, 50)))
        price = close
    files.append(os.path.join(folder.path, "BTCUSD_1m.csv"))
    stock_bars.write(files[1], coins)
    replay = folder.start(harness.Alpaca(folder.path, "--bars", *files, "--speed", "max", "--fault", "hold@1s"))
    account = configuration(["sma-cross"], replay.keys, guests=[("equal-weight", "extended")])
    daemon = folder.start(harness.Daemon(folder.path, replay, account.replace("symbols = AAPL, MSFT", "symbols = AAPL, BTC/USD")))
    # Play starts with the first subscription; each connection is greeted, knows its keys, and then says what is subscribed.
    daemon.wait_status(lambda s: s["feed"]["connects"] == 2 and s["feed"]["frames"] >= 6, "both subscriptions")
    harness.fault(replay, "hold@720h")
    harness.wait_last_bars(daemon, {"AAPL": harness.last_bar_ms(files[0]), "BTC/USD": harness.last_bar_ms(files[1])}, "1m", WAIT)
    assert daemon.stop() == 0 and replay.stop() == 0
    stored = {"fills": daemon.papertape("fills", "--csv")}
    path = os.path.join(folder.path, "mixed.csv")
    for name in ("sma-cross", "equal-weight-extended"):
        run("backtest", "--account", name, "--state", daemon.state, "--fills", path)
        with open(path, newline="") as file:
            same(f"{name}, of both", stored, {"fills": file.read()}, IDS, name)
    symbols = collections.Counter(fill["symbol"] for fill in rows(stored["fills"]))
    assert min(symbols["AAPL"], symbols["BTC/USD"]) > 20, symbols
    print(f"a stock and a coin: {len(rows(stored['fills']))} fills equal")


def check_hours(stored):
    """No fill outside the sessions, and no purchase that is created, or rests, while they are closed."""
    days = list(stock_bars.trading_days(FIRST, END))
    opens = [(day.open * 10**9, day.close * 10**9) for day in days]

    def session(ns):
        return next((day for day in opens if day[0] <= ns < day[1]), None)
    for fill in rows(stored["fills"]):
        assert session(int(fill["ts_ns"])), fill
    for order in rows(stored["orders"]):
        if order["side"] != "BUY":
            continue
        within = session(int(order["created_ns"]))
        assert within, order
        assert order["state"] in ("OPEN", "PENDING", "PARTIAL") or int(order["updated_ns"]) <= within[1], order
    half = [day.date for day in days if day.date in stock_bars.HALF_DAYS]
    assert half, "a half day is needed"
    bought = [fill for fill in rows(stored["fills"]) if fill["account"] == "day-trade"]
    assert bought, "day-trade never traded"
    for symbol in SYMBOLS:
        held = 0
        for fill in (fill for fill in bought if fill["symbol"] == symbol):
            day = session(int(fill["ts_ns"]))
            held += (1 if fill["side"] == "BUY" else -1) * round(float(fill["qty"]) * 10**9)
            following = [f for f in bought if f["symbol"] == symbol and int(f["ts_ns"]) > int(fill["ts_ns"])]
            assert held == 0 or session(int(following[0]["ts_ns"])) == day, (fill, following[:1])


def run(*words, status=0):
    done = subprocess.run([harness.PAPERTAPE, *words], capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == status, (words, done.returncode, done.stdout[-500:], done.stderr)
    return done


def refused(*words, status, says):
    lines = [line for line in run(*words, status=status).stderr.splitlines() if ": note: " not in line]
    assert len(lines) == 1 and says in lines[0], (words, lines)


def by_the_clock(path, bars):
    """Hours of the clock, which straddle the opening."""
    hours = {}
    for bar in bars:
        hours.setdefault(bar.second // 3600 * 3600, []).append(bar)
    stock_bars.write(path, [stock_bars.Bar(second, of[0].open, max(b.high for b in of), min(b.low for b in of), of[-1].close,
                                           sum(b.volume for b in of)) for second, of in hours.items()])


def options(folder, files):
    """What the options of the calendar do and refuse, a saved run, and a sweep."""
    base = ["backtest", "--strategy", "sma-cross:fast=3,slow=8", "--quote", "USD", "--no-cache", "--json", "--bars"]
    refused(*base, files[0], "--session", "extended", status=2, says="--session: it goes with --calendar")
    refused(*base, files[0], "--straddle", "keep", status=2, says="--straddle: it goes with --calendar")
    refused(*base, files[0], "--calendar", "nysee", status=1, says="nysee")
    refused(*base, files[0], "--calendar", "nyse", "--zone", "America/Nowhere", status=1, says="America/Nowhere")

    # Bars of a day: of each choice one is missing, whatever hours they have.
    whole, held = os.path.join(folder, "AAPL_1d.csv"), [base[0], "--strategy", "buy-and-hold", *base[3:]]
    dates = [day.date for day in stock_bars.trading_days(FIRST, END)]
    with open(whole, "w", encoding="ascii") as file:
        file.write("time,open,high,low,close,volume,session\n")
        file.writelines(f"{date}T00:00:00Z,10,11,9,10,100,regular\n" for date in dates if date != dates[2])
    for session in ("regular", "extended", "all"):
        report = json.loads(run(*held, whole, "--calendar", "NYSE", "--session", session).stdout)
        assert report["symbols"][0]["bars_missing"] == 1, (session, report["symbols"])

    # The same hours of New York's clock: with their zone, and with it in the times.
    local, hours = os.path.join(folder, "AAPL_1h.csv"), stock_bars.bars_of("AAPL", FIRST, END, "1h", seed=SEED, regular=True)
    stock_bars.write(local, hours, local=True)
    there = run(*base, local, "--calendar", "nyse", "--zone", "America/New_York").stdout
    stock_bars.write(local, hours)
    reports = [json.loads(there)] + [json.loads(run(*base, local, "--calendar", "nyse", "--way", way).stdout)
                                     for way in ("engine", "columns")]
    assert len({report["ledger_hash"] for report in reports}) == 1 and reports[0]["fills"] > 0, reports
    for fill in hour_fills(folder, base + [local]):
        assert any(day.open <= int(fill["ts_ns"]) / 1e9 < day.close for day in stock_bars.trading_days(FIRST, END)), fill

    # Two hours each from the open: after the change of clocks they are on another grid.
    pairs = os.path.join(folder, "QQQ_2h.csv")
    days = (datetime.date(2025, 10, 30), datetime.date(2025, 11, 6))
    stock_bars.write(pairs, list(stock_bars.longer_bars(stock_bars.minute_bars("QQQ", *days, regular=True),
                                                        stock_bars.trading_days(*days), 7200)))
    refused(*base, pairs, "--calendar", "nyse", status=1,
            says="bars of 2h that begin with nyse's sessions do not fit one grid, those of 1h or shorter do")

    # Hours of the clock: 09:00 to 10:00 is half pre-market.
    clock = os.path.join(folder, "MSFT_1h.csv")
    by_the_clock(clock, stock_bars.bars_of("MSFT", FIRST, END, seed=SEED))
    refused(*base, clock, "--calendar", "nyse", status=1, says="MSFT_1h.csv")
    kept = [json.loads(run(*base, clock, "--calendar", "nyse", "--straddle", "keep", "--way", way).stdout)
            for way in ("engine", "columns")]
    assert kept[0]["ledger_hash"] == kept[1]["ledger_hash"] and kept[0]["fills"] > 0

    # Every bar there is: nights are not missing.
    every = run(*base, files[0], "--calendar", "nyse", "--session", "all")
    with open(files[0], encoding="ascii") as file:
        seconds = [int(datetime.datetime.fromisoformat(line.split(",")[0]).timestamp()) for line in file.read().splitlines()[1:]]
    hours = sum(max(0, min(day.late, seconds[-1] + 60) - max(day.early, seconds[0])) // 60 for day in
                stock_bars.trading_days(FIRST, END))
    missing = hours - len(seconds)
    assert json.loads(every.stdout)["symbols"][0]["bars_missing"] == missing > 0, (every.stdout, missing)
    assert f" {missing} of its bars are missing" in every.stderr, every.stderr

    # A saved run, and its bars again.
    saved = os.path.join(folder, "saved")
    words = ["--calendar", "nyse", "--save", saved]
    first = json.loads(run(*base, ",".join(files), *words).stdout)
    assert first["calendar"] == "nyse" and first["session"] == "regular"
    again_ = json.loads(run(*base[:3], "--no-cache", "--json", "--bars", saved).stdout)
    assert (again_["ledger_hash"], again_["calendar"]) == (first["ledger_hash"], "nyse"), (first, again_)
    account = json.loads(run("backtest", "--account", "sma-cross", "--state", saved, "--json").stdout)
    assert account["ledger_hash"] == first["ledger_hash"], (account, first)

    stock_rules(base, files, folder)

    grid = json.loads(run("sweep", "--strategy", "sma-cross", "--set", "slow=8", "--grid", "fast=2,3", *base[3:5], "--no-cache",
                          "--json", "--bars", ",".join(files), "--calendar", "nyse").stdout)
    found = next(r for r in grid["top"] if r["params"]["fast"] == 3)
    assert found["fills"] == first["fills"] and abs(found["equity"] - first["accounts"][0]["equity"]) < 1e-9, (found, first)
    print("options: hours of a zone, hours that straddle, a saved run and a sweep")


def stock_rules(base, files, folder):
    """A margin, cash that is settled the next day, and the venue's rules of orders, in both ways."""
    words = [*base, ",".join(files), "--calendar", "nyse", "--cash", "10000"]
    refused(*base, files[0], "--margin", "regt", status=2, says="--margin: it goes with --calendar")
    refused(*base, files[0], "--calendar", "nyse", "--margin", "regt", "--settlement", "strict", status=1,
            says="settlement = strict is of an account without a margin")
    refused(*base, files[0], "--calendar", "nyse", "--venue", "binance", status=2, says='--venue: "binance"')
    refused(*words, "--margin", "regt", "--way", "columns", status=1, says="it may buy on margin")
    path = os.path.join(folder, "rules.csv")
    ledgers, reports = {}, {}
    for rules in ("--margin off", "--margin regt", "--settlement by-date", "--settlement strict"):
        reports[rules] = json.loads(run(*words, *rules.split(), "--ledger", path).stdout)["accounts"][0]
        with open(path, newline="") as file:
            ledgers[rules] = rows(file.read())
    assert [any(row["kind"] == "borrow" for row in of) for of in ledgers.values()] == [False, True, False, False], ledgers.keys()
    assert ledgers["--margin off"] == ledgers["--settlement by-date"] != ledgers["--settlement strict"]
    assert reports["--settlement strict"]["fills"] < reports["--margin off"]["fills"], reports
    # Long of one and short of another: a cover that has to borrow currency has two loans.
    both = [*words[:2], "sma-cross:fast=3,slow=8,direction=both,fraction=1", *words[3:]]
    run(*both, "--margin", "regt", "--shorts", "--pattern-day-trader", "off", "--ledger", path)
    with open(path, newline="") as file:
        loans = collections.Counter(row["fill_id"] for row in rows(file.read()) if row["kind"] == "borrow")
    assert set(loans.values()) == {1, 2}, loans
    for lot, emulated in (("1", "0"), ("0.001", "1")):
        orders = []
        for way in ("engine", "columns"):
            report = json.loads(run(*words, "--lot", lot, "--venue", "alpaca", "--way", way, "--orders", path).stdout)
            assert report["accounts"][0]["fees"] == 0 and report["accounts"][0]["way"] == way, report
            with open(path, newline="") as file:
                orders.append(rows(file.read()))
        assert orders[0] == orders[1] and any(row["emulated"] == emulated for row in orders[0]), (lot, orders[0][:1])
        assert all(row["emulated"] == str(int(float(row["qty"]) % 1 != 0)) for row in orders[0]), lot


def day_trade(folder):
    """Entries in each month over both changes of clocks; sold within the session of each, half days too. Its defaults trade; a
    volume that no bar has is a run without an order, and a note says so."""
    first, end = datetime.date(2025, 10, 20), datetime.date(2026, 3, 21)
    bars = os.path.join(folder, "AAPL_5m.csv")
    stock_bars.write(bars, stock_bars.bars_of("AAPL", first, end, "5m", seed=SEED))
    path = os.path.join(folder, "day-trade.csv")
    base = ("--quote", "USD", "--no-cache", "--json", "--bars", bars, "--calendar", "nyse")
    ran = run("backtest", "--strategy", "day-trade", *base, "--fills", path)
    idle = run("backtest", "--strategy", "day-trade:volume=100", *base)
    assert "no order" not in ran.stderr and "day-trade: no order: the rule asked for none" in idle.stderr, (ran.stderr, idle.stderr)
    assert json.loads(idle.stdout)["orders"] == 0, idle.stdout
    with open(path, newline="") as file:
        fills = rows(file.read())
    months, halves, held, bought = set(), 0, 0, None
    for fill in fills:
        second = int(fill["ts_ns"]) // 10**9
        day = next(day for day in stock_bars.trading_days(first, end) if second < day.late)
        assert day.open <= second < day.close, fill
        if fill["side"] == "BUY":
            months.add(day.date.isoformat()[:7])
            halves += day.date in stock_bars.HALF_DAYS
            bought = day
        held += (1 if fill["side"] == "BUY" else -1) * round(float(fill["qty"]) * 10**9)
        assert held >= 0 and (held > 0 or bought == day), fill
    assert held == 0 and months == {"2025-10", "2025-11", "2025-12", "2026-01", "2026-02", "2026-03"} and halves, (held, months, halves)
    print(f"day-trade: {len(fills)} fills, in each of {len(months)} months, {halves} entries on half days, never over night")


def hour_fills(folder, words):
    path = os.path.join(folder, "hours.csv")
    run(*words, "--calendar", "nyse", "--fills", path)
    with open(path, newline="") as file:
        return rows(file.read())


def look_ahead(files, names):
    for name in set(names) - {live_backtest.ONLY_SHORT}:
        argv = [harness.PAPERTAPE, "lookahead", name, *arguments(files), "--cuts", "6", "--cash", "100000"]
        argv += [word for pair in SETTINGS[name].items() for word in ("--set", "=".join(pair))]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=WAIT)
        assert done.returncode == 0 and "lookahead ok" in done.stdout, (name, done.stdout, done.stderr)
    settled = json.loads(run("warmup", "sma-cross", *arguments(files), "--json").stdout)
    assert settled["settles"] and 20 < settled["bars"] < 60, settled  # nights are rows, and no bars
    print(f"lookahead ok: {len(names)} strategies; sma-cross settles after {settled['bars']} bars")


def main():
    names = live_backtest.strategies()
    assert names == sorted(SETTINGS), f"this test knows {sorted(SETTINGS)}, the program {names}"
    print(f"days {FIRST} to {END}, seed {SEED}" + ("" if harness.LONG else " (PAPERTAPE_LONG: two months)"))
    with harness.Folder() as folder:
        files = stock_bars.write_all(folder.path, SYMBOLS, FIRST, END, seed=SEED)
        options(folder.within("options"), files)
        day_trade(folder.within("day-trade"))
        state, stored = live(folder, files, names)
        same("the daemon's bars", stored, again(folder, ["--bars", state], names, "engine", "state")[0])
        same("files", stored, again(folder, arguments(files), names, "engine", "files")[0], HASHES)
        own(folder, state, stored, names)
        vectorised = 0
        for name in names:
            alone, report = again(folder, arguments(files), [name], "auto", name)
            del alone["ledger"]
            same(f"{name}, vectorised", stored, alone, IDS, name)
            vectorised += report["accounts"][0]["way"] == "columns"
            fills = sum(row["account"] == name for row in rows(stored["fills"]))
            print(f"{name}: {fills} fills equal, {report['accounts'][0]['way']}")
            assert (fills > 0) == (name != live_backtest.ONLY_SHORT), f"{name} has {fills} fills"
        assert vectorised == len(set(names) - live_backtest.SEVERAL), vectorised
        check_hours(stored)
        look_ahead(files, names)
        print(f"{len(rows(stored['orders']))} orders, {len(rows(stored['fills']))} fills, {len(rows(stored['ledger']))} ledger rows "
              "equal, live and backtest")
    with harness.Folder() as folder:
        outside(folder, stock_bars.write_all(folder.path, SYMBOLS, FIRST, END, seed=SEED), names)
    with harness.Folder() as folder:
        regular_outside(folder, stock_bars.write_all(folder.path, SYMBOLS, FIRST, END, seed=SEED), names)
    with harness.Folder() as folder:
        mixed(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
