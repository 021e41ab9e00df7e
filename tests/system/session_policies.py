#!/usr/bin/env python3
"""Policies of stocks: in their environment, in `papertape backtest --policy`, and in a daemon: the same trades row by row, the same
equity, from 2025-10-27 to 2026-03-13, over both changes of clocks and half days. Task day-trade of the regular session, flat before
each close; portfolios with limits and a recurrent network; those that see of a row's session what `session_features` names. Bars are the generator's
(fixtures/stock_bars.py), with minutes that are missing; whose days are its own. And what is refused: another session, another
calendar."""

import bisect
import csv
import datetime
import decimal
import functools
import glob
import json
import os
import subprocess
import sys

import harness
import policy_three_ways as recorded
import trained_three_ways as trained

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fixtures"))
import stock_bars  # noqa: E402

WAIT = 1200.0 if harness.LONG else 400.0
FIRST, END = datetime.date(2025, 10, 27), datetime.date(2026, 3, 14)
SYMBOLS = (("ABC", 150.0), ("XYZ", 150.0))
DAY = {"task": "day-trade", "threshold": 0.2, "trailing_stop_pct": 0.01, "max_position_pct": 0, "min_cash_reserve": 0,
       "forced_exit_bars": 0, "cooldown_bars": 0, "action_span": 1}
KINDS = {"day-trade": ("5m", "regular", 1, {"sets": True, "session_features": "elapsed", **DAY}),
         "day-trade-extended": ("30m", "extended", 1, {"levels": 5, "recurrent": 16, "session_features": "pre,regular,post,elapsed",
                                                       **DAY}),
         "portfolio": ("30m", "regular", 2, {"recurrent": 16, "sets": True, "exposure": 0.8, "daily_loss": 0.02, "stop_loss": 0.02,
                                             "portfolio_trailing_stop": 0.05, "cooldown": "3h"})}


@functools.cache
def bars_of(symbol, interval):
    return stock_bars.bars_of(symbol, FIRST, END, interval)


def grid(session, seconds):
    """When the session's rows open; those that are a day's last."""
    opens, last = [], set()
    for day in stock_bars.trading_days(FIRST, END):
        spans = [(day.open, day.close)] if session == "regular" else [(day.early, day.open), (day.open, day.close), (day.close, day.late)]
        opens += [second for start, end in spans for second in range(start, end, seconds)]
        last.add(opens[-1])
    return opens, last


def policy(path, name, session, interval, n, seed, calendar="nyse", **kind):
    """trained_three_ways's, of a market with a calendar."""
    return trained.policy(path, name, seed=seed, symbols=SYMBOLS[:n], names=[symbol for symbol, _ in SYMBOLS[:n]], least="0.01",
                          interval=interval, metadata={"calendar": calendar} if calendar else {},
                          **({"session": session} if calendar else {}), set_text=SET, **kind)


SET = "set tiny\nclose\nlog_return:3\nrsi:7 /100\nnatr:5\nvolume log1p\n"


def by_environment(place, path, files, opens):
    """Trades; equity at the close that each step reaches."""
    names = {what: os.path.join(place, f"eval-{what}.csv") for what in ("trades", "steps")}
    out = json.loads(recorded.run([recorded.TRAINER, "eval", path, "--bars", ",".join(files), "--steps", names["steps"], "--trades",
                                   names["trades"]]))
    first = opens.index(out["first_ns"] // 10**9)
    rows = recorded.read(names["steps"])
    return recorded.read(names["trades"]), {opens[first + int(row["t"])]: row for row in rows}, out


def acting(place, name, files, opens, least=60):
    interval, session, n, kind = KINDS[name]
    for seed in range(60):
        path = policy(os.path.join(place, f"{name}.safetensors"), name, session, interval, n, seed, **kind)
        trades, steps, _ = by_environment(place, path, files, opens)
        sides = [row["side"] for row in trades]
        late = [row for row in trades if int(row["ts_ns"]) // 10**9 > opens[len(opens) * 9 // 10]]
        if min(sides.count("BUY"), sides.count("SELL")) > least and (least < 60 or len(late) > 5):
            return path, trades, steps
    raise AssertionError(f"{name}: no network of {least} trades")


def flat_at_closes(name, trades, last, seconds):
    """Nothing is held when a day's last bar closes; something was on most days."""
    held, day, days, ends = 0.0, None, set(), sorted(last)
    for row in trades:
        second = int(row["ts_ns"]) // 10**9
        on = ends[bisect.bisect_left(ends, second - seconds + 1)]
        assert on == day or abs(held) < 1e-9, f"{name}: {held} over the night before {row}"
        assert row["side"] == "SELL" or second < on, f"{name}: bought in the day's last bar: {row}"
        day = on
        days.add(day)
        held += float(row["qty"]) * (1 if row["side"] == "BUY" else -1)
    assert len(days) > 40, (name, len(days))  # the episode ends within a day
    assert halves(ends) <= {dated(day) for day in days}, name
    return len(days)


def dated(second):
    return datetime.datetime.fromtimestamp(second, stock_bars.ZONE).date()


def halves(ends):
    return {day for day in stock_bars.HALF_DAYS if day in {dated(second) for second in ends}}


def by_daemon(folder, path, files, interval, extended, restarts=()):
    """What the daemon's account did, over the venue that plays the files, and the equity that its log gives. It ends before some days,
    and the next one continues."""
    symbols = [os.path.basename(file).split("_")[0] for file in files]
    assets = [word for symbol in symbols for word in ("--asset", f"{symbol}:not-fractionable")]
    for begin, end in zip((None, *restarts), (*restarts, None)):
        part = [*(("--from", str(begin)) if begin else ()), *(("--to", str(end)) if end else ())]
        replay = folder.start(harness.Alpaca(folder.path, "--bars", *files, "--speed", "max", *assets, *part))
        daemon = folder.start(harness.Daemon(folder.path, replay, harness.alpaca_config(
            replay.keys, "extended_hours = on\n" * extended + f"[events]\nkeep_days = 0\n[account policy]\ncurrency = USD\npolicy = {path}\n", ", ".join(symbols), interval,
            history=0, engine=harness.BAR_MODEL), state=os.path.join(os.path.dirname(path), "state")))
        harness.wait_last_bars(daemon, {symbol: last_bar_ms(file, end) for symbol, file in zip(symbols, files)}, interval, WAIT)
        assert daemon.stop() == 0
        assert replay.stop() == 0
    print("  " + daemon.papertape("ledger", "verify").split("\n")[0] + "; " + daemon.papertape("parity").strip().split("\n")[-1].strip())
    shown = next(csv.DictReader(daemon.papertape("policy", "list", "--csv", status=3).splitlines()))  # no daemon answers
    assert (shown["name"], shown["role"], shown["path"]) == ("policy", "configured", path), shown
    assert daemon.query("SELECT count(*) FROM equity WHERE ts_ns = 0") == [(0,)]
    text, equity = daemon.papertape("fills", "--csv"), os.path.join(folder.path, "log-equity.csv")
    recorded.run([harness.PAPERTAPE, "backtest", "--events", daemon.state, "--equity", equity])
    fills = [{**row, **{key: f"{decimal.Decimal(row[key]):.8f}" for key in ("price", "qty", "fee")}}
             for row in csv.DictReader(text.splitlines())]  # the venue's have more digits
    return fills, {int(row["ts_ns"]): float(row["equity"]) for row in recorded.read(equity)}


def last_bar_ms(file, end):
    """When the last bar before a day opens."""
    *_, last = (line for line in open(file, encoding="ascii") if not end or line < str(end))
    return int(datetime.datetime.fromisoformat(last.split(",")[0]).timestamp()) * 1000


def live(folder, name, first, end, restarts=()):
    """The daemon on the session's bars of some days, against the environment on the same."""
    interval, session, n, kind = KINDS[name]
    opens, _ = grid(session, stock_bars.INTERVALS[interval])
    place = os.path.join(folder.path, f"{name}-live")
    os.mkdir(place)
    files = [os.path.join(place, f"{symbol}_{interval}.csv") for symbol, _ in SYMBOLS[:n]]
    for (symbol, _), file in zip(SYMBOLS, files):
        within = set(opens)
        stock_bars.write(file, [bar for bar in bars_of(symbol, interval) if bar.second in within and first <= dated(bar.second) < end])
    path, trades, steps = acting(place, name, files, opens, 10)
    equity = {(second + stock_bars.INTERVALS[interval]) * 10**9: float(row["equity"]) for second, row in steps.items()}
    theirs, their_equity = by_daemon(folder, path, files, interval, session == "extended", restarts)
    count = recorded.same_trades(f"{name}: daemon", trades, theirs, max(equity))
    most = recorded.same_equity(f"{name}: daemon", equity, their_equity)
    assert most <= 1e-6, (name, most)
    print(f"{name}: {count} trades live from {first} to {end} as in the environment{f', stopped and started on {restarts[0]}' if restarts else ''}; equity of {len(equity)} bars within {most:.3g}")


def three_ways(folder, name, gaps=False):
    interval, session, n, _ = KINDS[name]
    seconds = stock_bars.INTERVALS[interval]
    opens, last = grid(session, seconds)
    place = os.path.join(folder.path, name + ("-gaps" if gaps else ""))
    os.mkdir(place)
    files = [os.path.join(place, f"{symbol}_{interval}.csv") for symbol, _ in SYMBOLS[:n]]
    for k, file in enumerate(files):
        bars = bars_of(SYMBOLS[k][0], interval)
        # every 11th is missing, days' last and first ones among them: purchases that wait then end with the session
        stock_bars.write(file, [bar for i, bar in enumerate(bars) if not gaps or i == 0 or (i + 4 * k) % 11])
    path, trades, steps = acting(place, name, files, opens)
    equity = {second * 10**9 + seconds * 10**9: float(row["equity"]) for second, row in steps.items()}
    theirs, their_equity, texts = recorded.by_backtest(place, [path], files)
    ended = texts["orders"].count("SESSION_CLOSED")
    assert (ended > 0) == (gaps and name == "portfolio"), (name, ended)  # a day trade only sells before the close
    count = recorded.same_trades(f"{name}: backtest", trades, theirs, max(equity))
    most = recorded.same_equity(f"{name}: backtest", equity, their_equity)
    months = {datetime.datetime.fromtimestamp(int(row["ts_ns"]) // 10**9, stock_bars.ZONE).strftime("%Y-%m") for row in trades}
    assert most <= 1e-6 and months >= {"2025-10", "2025-11", "2025-12", "2026-01", "2026-02", "2026-03"}, (name, most, months)
    days = flat_at_closes(name, trades, last, seconds) if name.startswith("day-trade") and not gaps else 0
    print(f"{name}{', with gaps' if gaps else ''}: {count} trades of {session} bars of {interval} equal in environment and backtest; equity of {len(equity)} bars within {most:.3g}" + (f"; of {days} days, flat at each close" if days else ""))


def extended_hours(folder, place, files, path):
    """A policy of these hours is refused where they are not traded: by the configuration and by a promotion; a backtest of the daemon's
    bars has the daemon's setting, and says so."""
    names, right = ", ".join(symbol for symbol, _ in SYMBOLS), "extended_hours = on is right"
    replay = folder.start(harness.Alpaca(folder.path, "--bars", *files, "--to", "2025-10-29", "--speed", "max"))
    config = os.path.join(place, "hours.ini")
    for hours in ("off", "on"):
        with open(config, "w", encoding="ascii") as file:
            file.write(harness.alpaca_config(replay.keys, f"extended_hours = {hours}\n[account policy]\ncurrency = USD\npolicy = {path}\nsession = all\n",
                                             names, "30m", engine=harness.BAR_MODEL))
        if hours == "off":
            trained.refused([harness.DAEMON, "--config", config, "--check-config"], "policy:", right)
        else:
            said = recorded.run([harness.DAEMON, "--config", config, "--check-config"])
            assert "[account policy] session = all has no effect: its policy has session extended" in said, said
    daemon = folder.start(harness.Daemon(folder.path, replay, harness.alpaca_config(
        replay.keys, harness.IDLE_ACCOUNT, names, "30m", engine=harness.BAR_MODEL), state=os.path.join(place, "state")))
    harness.wait_last_bars(daemon, {}, "30m", WAIT, end_ns=int(datetime.datetime(2025, 10, 28, 20, tzinfo=datetime.timezone.utc).timestamp()) * 10**9)
    said = daemon.papertape("policy", "promote", "hours", "--policy", path, "--yes", status=1)
    assert right in said, said
    assert daemon.stop() == 0 and replay.stop() == 0
    said = subprocess.run([harness.PAPERTAPE, "backtest", "--policy", path, "--bars", daemon.state], capture_output=True, text=True, check=True)
    assert "extended_hours is off in the bars' daemon" in said.stderr, said.stderr


def config_of(place, text=None, **settings):
    path = os.path.join(place, "trained.ini")
    with open(path, "w", encoding="ascii") as file:
        file.write((text or LEARNED).format(output=os.path.join(place, "out"), **{"session": "regular", "interval": "5m", **settings}))
    return path


LEARNED = trained.TRAINING + """[environment]
task = day-trade
action_span = 1
threshold = 0.05
initial_capital = 100000
episode_bars = 100
session = {session}
[data]
bars = {bars}
calendar = nyse
session_features = regular, elapsed
interval = {interval}
"""
STUDY = LEARNED + """[study]
trials = 2
validation = kfold:3
workers = 1
[search]
learning_rate = 1e-4..1e-3 log
"""


def learned(folder):
    """A policy that the trainer made: its file says calendar and session, eval repeats the figures of its last evaluation, the
    backtest makes its trades. Ranges are counted in rows of the session."""
    place = os.path.join(folder.path, "learned")
    os.mkdir(place)
    bars = os.path.join(place, "ABC_5m.csv")
    stock_bars.write(bars, bars_of("ABC", "5m"))
    config = config_of(place, bars=bars)
    events = [json.loads(line) for line in recorded.run([recorded.TRAINER, "train", "--config", config]).splitlines()]
    path = os.path.join(place, "out/learned.safetensors")
    with open(path, "rb") as file:
        header = file.read(1 << 16)
    assert b'"calendar":"nyse"' in header and b'"session_features":"regular,elapsed"' in header and b"session=regular" in header
    opens, _ = grid("regular", 300)
    last = [event for event in events if event["event"] == "evaluation"][-1]
    begins = opens[len(opens) - round(0.2 * len(opens))]
    tested = json.loads(recorded.run([recorded.TRAINER, "eval", path, "--bars", bars, "--from", str(begins)]))["whole"]
    assert tested["steps"] == last["evaluated_steps"] and abs(tested["equity"] - last["equity"]) < 1e-6, (tested, last)
    trades, steps, _ = by_environment(place, path, [bars], opens)
    equity = {(second + 300) * 10**9: float(row["equity"]) for second, row in steps.items()}
    theirs, their_equity, _ = recorded.by_backtest(place, [path], [bars])
    count = recorded.same_trades("learned: backtest", trades, theirs, max(equity))
    assert count > 20 and recorded.same_equity("learned: backtest", equity, their_equity) <= 1e-6
    print(f"learned: {count} trades of a policy that the trainer made, equal in environment and backtest; its evaluation repeated by eval")
    late_file(place, path)


def late_file(place, path):
    """Bars with extended hours an hour off: train and eval say so, as a backtest does."""
    place = os.path.join(place, "late")
    os.mkdir(place)
    bars = os.path.join(place, "ABC_5m.csv")
    config = config_of(place, bars=bars)
    spans = [(day.early + 3600, day.late - 3600) for day in stock_bars.trading_days(FIRST, END)]
    stock_bars.write(bars, [bar._replace(second=bar.second + 3600) for bar in bars_of("ABC", "5m")
                            if any(start <= bar.second < end for start, end in spans)])
    words = "ABC: volume is largest where the calendar has no opening and no close: times 1 h earlier would fit"
    assert words in recorded.run([recorded.TRAINER, "train", "--config", config])
    done = subprocess.run([recorded.TRAINER, "eval", path, "--bars", bars], capture_output=True, text=True)
    assert f"note: {words}" in done.stderr, done.stderr
    print("bars with extended hours an hour off: noted by train and eval")


def studied(folder):
    """A study's proposal is such a policy, too."""
    place = os.path.join(folder.path, "studied")
    os.mkdir(place)
    bars = os.path.join(place, "ABC_5m.csv")
    stock_bars.write(bars, [bar for bar in bars_of("ABC", "5m") if dated(bar.second) < datetime.date(2025, 12, 13)])
    config = config_of(place, STUDY, bars=bars)
    recorded.run([recorded.TRAINER, "study", "studied", "--config", config, "--state", os.path.join(place, "state")])
    path, = glob.glob(os.path.join(place, "**/*.safetensors"), recursive=True)
    opens, _ = grid("regular", 300)
    trades, steps, _ = by_environment(place, path, [bars], opens)
    equity = {(second + 300) * 10**9: float(row["equity"]) for second, row in steps.items()}
    theirs, their_equity, _ = recorded.by_backtest(place, [path], [bars])
    count = recorded.same_trades("studied: backtest", trades, theirs, max(equity))
    assert count > 20 and recorded.same_equity("studied: backtest", equity, their_equity) <= 1e-6
    print(f"studied: {count} trades of a study's proposal, equal in environment and backtest")


def refusals(folder):
    """One line each, that names both sides."""
    place = os.path.join(folder.path, "refused")
    os.mkdir(place)
    interval, session, n, kind = KINDS["portfolio"]
    files = [os.path.join(place, f"{symbol}_{interval}.csv") for symbol, _ in SYMBOLS]
    for (symbol, _), file in zip(SYMBOLS, files):
        stock_bars.write(file, bars_of(symbol, interval))
    other = os.path.join(place, "other.calendar")
    with open(other, "w", encoding="ascii") as file:
        file.write("name other\nzone America/New_York\nfrom 2025-01-01\nto 2026-12-31\nweek Mon Tue Wed Thu Fri\n"
                   "hours 04:00 09:30 16:00 20:00\n")
    made = policy(os.path.join(place, "made.safetensors"), "portfolio", session, interval, n, 0, **kind)
    always = policy(os.path.join(place, "always.safetensors"), "portfolio", session, interval, n, 0, calendar=None, **kind)
    unknown = policy(os.path.join(place, "unknown.safetensors"), "portfolio", session, interval, n, 0, calendar=None,
                     **{**kind, "session_features": "elapsed"})
    day = policy(os.path.join(place, "day.safetensors"), "day", session, interval, 1, 0, sets=True, shorts="true",
                 **{**DAY, "execution": "reference"})
    bars = ["--bars", ",".join(files)]
    backtest, evaluate = [harness.PAPERTAPE, "backtest", "--no-cache", *bars], [recorded.TRAINER, "eval", *bars]
    trained.refused([*backtest, "--policy", made, "--calendar", "nyse", "--session", "extended"], "extended", "regular")
    trained.refused([*backtest, "--policy", made, "--session", "extended"], "extended", "regular")
    trained.refused([*backtest, "--policy", always, "--session", "regular"], "--session", "it goes with --calendar")
    named, own = [json.loads(subprocess.run([*backtest, "--policy", made, *more, "--json"], stdout=subprocess.PIPE, check=True).stdout)
                  for more in (["--calendar", "NYSE", "--session", "regular"], ["--session", "regular"])]
    assert named["ledger_hash"] == own["ledger_hash"] and own["calendar"] == "nyse" and own["session"] == "regular", (named, own)
    trained.refused([*backtest, "--policy", made, "--calendar", other], "other", "nyse")
    trained.refused([*backtest, "--policy", made, "--calendar", "24x7"], "trades at all times", "session regular of calendar nyse")
    trained.refused([*backtest, "--policy", always, "--calendar", "nyse"], "calendar nyse", "trades at all times")
    trained.refused([*evaluate, made, "--calendar", other], "other", "nyse")
    trained.refused([*evaluate, made, "--calendar", "24x7"], "trades at all times", "session regular of calendar nyse")
    trained.refused([*evaluate, always, "--calendar", "nyse"], "calendar nyse", "trades at all times")
    trained.refused([*evaluate, made, "--calendar", "nysee"], "nysee")
    trained.refused([*backtest, "--policy", day], "reference")
    for command in ([*backtest, "--policy", unknown], [*evaluate, unknown]):
        trained.refused(command, "session_features", "a calendar, and session regular or extended")
    hours = policy(os.path.join(place, "hours.safetensors"), "hours", "all", interval, n, 0)
    for command in ([*backtest, "--policy", hours], [*evaluate, hours]):
        trained.refused(command, "session all of calendar nyse", "session regular or extended is right")
    trained.refused([recorded.TRAINER, "train", "--config", config_of(place, bars=files[0], session="all", interval=interval)],
                    "[environment] session: all", "regular or extended is right")
    extended_hours(folder, place, files, policy(os.path.join(place, "extended.safetensors"), "extended", "extended", interval, n, 0))
    print("another session, another calendar, none: each refused in one line that names both")


def main():
    with harness.Folder() as folder:
        for name in KINDS:
            three_ways(folder, name)
        for name in ("day-trade-extended", "portfolio"):
            three_ways(folder, name, gaps=True)
        days = (FIRST, END) if harness.LONG else (datetime.date(2025, 11, 24), datetime.date(2025, 12, 3))
        for name in KINDS if harness.LONG else ("day-trade", "day-trade-extended"):
            with harness.Folder() as apart:
                live(apart, name, *days)
        # 40 trading days before the last start: more than the days that a daemon without history asks for
        with harness.Folder() as apart:
            live(apart, "portfolio", datetime.date(2025, 11, 3), datetime.date(2026, 1, 10), (datetime.date(2025, 12, 31),))
        learned(folder)
        studied(folder)
        refusals(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
