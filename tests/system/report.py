#!/usr/bin/env python3
"""`papertape report` and `equity` of a daemon: days of bars of two symbols at speed, accounts by strategies, by hand, with shorts;
deposits, withdrawals, transfers, a reset, an account created later, a flat day, a stop and a start each night.
Beside the daemon and after it each figure equals what tests/oracle/report_figures.py computes from the ledger, fills and bars;
equity itself lies between what balances and each bar's lowest and highest prices give. The page is well formed, and with --long
opens in Chromium without a message on its console; reports by day are kept and removed."""

import csv
import glob
import io
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from decimal import Decimal

import harness

sys.path[:0] = [os.path.join(harness.SOURCE, "tests/oracle"), os.path.join(harness.SOURCE, "tests/report")]
import oracle_venv  # noqa: E402
import strict  # noqa: E402

with oracle_venv.imports("empyrical"):
    import report_figures

START_S = 1704067200  # 2024-01-01, a Monday
DAYS = 12 if harness.LONG else 2
BAR_S = 900
PLAYED_H = 23  # of a day: the venue ends a connection after 24
HELD_S = 1800  # of market time: there it stands still at first
SEED = int(os.environ.get("PAPERTAPE_SEED", "20261125"))
FLAT_DAY, KILLED_NIGHT, KEPT = 1, 0, 1
COLUMNS = 80
CONFIG = """
[market]
symbols = BTCUSDT, ETHUSDT
interval = 15m
history = 0
streams = trade, kline, bookTicker
[engine]
fill_model = quote
latency_ms = 50
equity_interval_s = 300
[risk]
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
orders_per_second = 0
[parity]
at = off
[account cross]
cash = 100000
strategy = sma-cross
strategy.fast = 2
strategy.slow = 5
strategy.fraction = 0.4
[account short]
cash = 50000
strategy = sma-cross-rsi
strategy.fast = 2
strategy.slow = 6
strategy.rsi_max = 99
shorts = on
[account hold]
cash = 30000
strategy = buy-and-hold
[account hand]
cash = 20000
strategy = none
shorts = on
[account idle]
cash = 1000
strategy = none
"""


def write_bars(path, seed, price):
    """A walk with a wave of some hours, so that averages cross; one day stands still."""
    chance = random.Random(seed)
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(DAYS * 86400 // BAR_S):
            flat = i * BAR_S // 86400 == FLAT_DAY
            open_ = round(price, 2)
            close = open_ if flat else round(open_ * math.exp(0.004 * math.sin(2 * math.pi * i / 23) + chance.gauss(0, 0.003)), 2)
            high, low = (round(edge, 2) for edge in (max(open_, close) * (1 if flat else 1.001), min(open_, close) * (1 if flat else 0.999)))
            file.write(f"{(START_S + BAR_S * i) * 1000},{open_:.2f},{high:.2f},{low:.2f},{close:.2f},{chance.uniform(5, 50):.3f}\n")
            price = close


class Session:
    """Commands, each with a key of its own, while the market stands still: orders move it on, and until() does."""

    def __init__(self, daemon, replay, start_s):
        self.daemon, self.replay, self.n = daemon, replay, 0
        self.start_s, self.played_s = start_s, HELD_S

    def play(self, seconds):
        """The market moves on for so long, at full speed."""
        self.played_s += seconds
        assert self.played_s < PLAYED_H * 3600, "the day is over"
        harness.fault(self.replay, f"hold@{self.played_s}s")

    def done(self, cmd, **args):
        self.n += 1
        answer = harness.control(self.daemon, cmd, {"key": f"k{os.getpid()}-{id(self)}-{self.n}"} | args)
        assert answer["ok"], (cmd, args, answer)
        return answer["result"]

    def order(self, side, symbol, qty, account="hand"):
        """One that is filled: between connections nothing is offered, and it is refused."""
        def ended():
            self.n += 1
            answer = harness.control(self.daemon, "order", {"key": f"o{id(self)}-{self.n}", "side": side, "symbol": symbol, "qty": qty,
                                                            "account": account})
            if not answer["ok"]:
                return False
            def lives():
                return any(order["order"] == answer["result"]["order"] for order in self.daemon.status_object()["orders"])
            while lives():
                self.play(60)
            state = lambda: self.daemon.query(f"SELECT state FROM orders WHERE id = {answer['result']['order']} AND state NOT IN ('PENDING', 'OPEN')")
            return harness.wait_for(state, f"{side} {qty} {symbol} has ended")[0][0] == "FILLED"
        harness.wait_for(ended, f"{side} {qty} {symbol} is filled")

    def newest(self):
        rows = self.daemon.query("SELECT max(ts_ns) FROM equity")
        return rows[0][0] or 0

    def until(self, day):
        """The engine's time comes so far."""
        end_s = START_S + day * 86400
        self.play(max(0, int(end_s - self.start_s) + BAR_S - self.played_s))
        harness.wait_for(lambda: self.newest() >= end_s * 10**9, f"day {day}")


def first_day(session):
    session.order("buy", "BTCUSDT", "0.05")
    session.order("sell", "ETHUSDT", "1.5")
    session.done("account_deposit", account="cross", amount="25000")
    session.until(0.3)
    session.order("sell", "BTCUSDT", "0.08")  # through zero
    session.done("account_deposit", account="hand", amount="-3000.5")
    session.done("account_transfer", **{"from": "hold", "to": "short", "amount": "0.01"})
    session.order("sell", "BTCUSDT", "0.01", account="cross")  # what its strategy opened
    session.order("buy", "BTCUSDT", "0.03")
    session.order("buy", "ETHUSDT", "1.5")
    session.done("account_create", name="late", currency="USDT", cash="5000", strategy="buy-and-hold")


def last_day(session):
    session.done("account_reset", account="hold", cash="7000")
    session.order("buy", "ETHUSDT", "2")
    session.order("sell", "ETHUSDT", "1")
    session.done("account_deposit", account="late", amount="777.77")


def play(folder, files, n):
    """Most of a day: the venue ends a connection after 24 hours. The daemon, which still runs."""
    start_s = START_S + n * 86400 + (7200 if n else 0)
    end_s = START_S + n * 86400 + PLAYED_H * 3600
    replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--speed", "max", "--fault", f"hold@{HELD_S}s", "--from", str(start_s),
                                         "--to", str(end_s)))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"]))
    daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and len(s["symbols"] or ()) == 2 and all(v["bid"] for v in s["symbols"]), "prices")
    session = Session(daemon, replay, start_s)
    if n in (0, DAYS - 1):
        (last_day if n else first_day)(session)
    session.until(n + 0.9)
    return daemon


def played(folder):
    files = [os.path.join(folder.path, f"{symbol}_15m.csv") for symbol in ("BTCUSDT", "ETHUSDT")]
    write_bars(files[0], SEED, 42000.0)
    write_bars(files[1], SEED + 1, 2300.0)
    for n in range(DAYS - 1):
        daemon = play(folder, files, n)
        if n == KILLED_NIGHT:
            daemon.stop(signal.SIGKILL)
        else:
            assert daemon.stop() == 0
    return play(folder, files, DAYS - 1)


# ---- the report ----

def day(n):
    return report_figures.datetime.datetime.fromtimestamp(START_S + n * 86400, report_figures.datetime.timezone.utc).date().isoformat()


def periods(rng):
    yield ()
    for n in range(DAYS):
        yield ("--day", day(n))
    yield ("--from", str(START_S), "--to", str(START_S + DAYS * 86400))
    yield ("--from", day(0))
    for _ in range(20 if harness.LONG else 4):
        first, last = sorted(rng.uniform(-0.2, DAYS + 0.2) for _ in range(2))
        yield ("--from", str(int((START_S + first * 86400) * 10**9)), "--to", str(int((START_S + last * 86400) * 10**9)))


def compared(daemon):
    record = report_figures.Record(harness.PAPERTAPE, daemon.state)
    figures, reports = 0, {}
    for period in periods(random.Random(SEED)):
        reports[period], n = report_figures.check(harness.PAPERTAPE, daemon.state, *period, record=record)
        figures += n
    return record, reports, figures


def bounds(record, account, since_ns, ts_ns):
    """The least and the greatest that an account can be worth at a moment, by its ledger and the bars around it; since_ns: of a
    point before, whose prices are the last ones that are known after a start."""
    balances, borrowed = {}, {}
    for row in record.ledger:
        if row["account"] != account or int(row["ts_ns"]) > ts_ns:
            continue
        balances[row["asset"]] = balances.get(row["asset"], 0) + Decimal(row["amount"])
        if row["kind"] == "borrow":
            borrowed[row["asset"]] = borrowed.get(row["asset"], 0) + Decimal(row["amount"])
    low = high = balances.pop("USDT", Decimal(0)) - borrowed.pop("USDT", Decimal(0))
    for asset, qty in balances.items():
        net = qty - borrowed.get(asset, 0)
        if net:
            edges = [net * Decimal(price) for price in record.base.execute(
                "SELECT min(low) / 1e8, max(high) / 1e8 FROM bars AS b JOIN symbols AS s ON s.id = b.symbol WHERE s.base = ? AND "
                "open_ns > ? AND open_ns <= ?", (asset, since_ns - 2 * BAR_S * 10**9, ts_ns + BAR_S * 10**9)).fetchone()]
            low, high = low + min(edges), high + max(edges)
    return low, high


def check_equity(record):
    """Stored points against the ledger: cash to the unit, equity between its bounds."""
    rng, n = random.Random(SEED), 0
    for account, points in record.points.items():
        for at in rng.sample(range(len(points)), min(len(points), 40)):
            ts_ns, equity, cash, _ = points[at]
            rows = [row for row in record.ledger if row["account"] == account and row["asset"] == "USDT" and int(row["ts_ns"]) <= ts_ns]
            assert rows and Decimal(rows[-1]["balance"]) == cash, (account, ts_ns, cash)
            low, high = bounds(record, account, points[max(0, at - 3)][0], ts_ns)
            slack = Decimal("0.02") + abs(equity) / 2000  # interest that is not booked yet, a quote beside its bar
            assert low - slack <= equity <= high + slack, (account, ts_ns, low, equity, high)
            n += 1
    return n


def check_said(record, reports):
    """What the test made is in it."""
    whole = reports[("--from", str(START_S), "--to", str(START_S + DAYS * 86400))]
    accounts = {a["account"]: a for a in whole["accounts"]}
    assert set(accounts) == {"cross", "short", "hold", "hand", "idle", "late"}
    assert all(accounts[name]["trades"]["closed"] > 0 for name in ("cross", "short", "hand")), accounts
    assert {s["strategy"] for s in accounts["cross"]["strategies"]} == {"sma-cross"}, "what it opened and another closed is its own"
    assert [s["strategy"] for s in accounts["hand"]["strategies"]] == ["by hand"]
    assert accounts["cross"]["flows"]["deposits"] == 125000 and accounts["hand"]["flows"]["withdrawals"] == Decimal("3000.5")
    assert accounts["hold"]["flows"]["resets"] < 0 and accounts["late"]["created_in_period"] is True
    assert accounts["idle"]["trades"]["closed"] == 0 and accounts["idle"]["return_share"] == 0 and accounts["idle"]["sharpe"] is None
    assert any(row["side"] == "SELL" and row["account"] == "hand" for row in record.fills.values())
    flat = reports[("--day", day(FLAT_DAY))]
    assert all(a["day_zone"] == "UTC" for a in flat["accounts"])
    assert whole["observed_s"] > whole["up_s"] > 0, "it was stopped for a while"
    assert whole["runs_killed"] == 1 and whole["outages"] == DAYS and whole["uptime_unknown_s"] == 0, whole["outages"]
    middle = reports[("--day", day(0))]["accounts"]
    assert any(a["flows"]["deposits"] and a["pnl"] is not None for a in middle), "money came in the middle of a day"
    total = sum(Decimal(a["pnl"]) for n in range(DAYS) for a in reports[("--day", day(n))]["accounts"] if a["pnl"] is not None)
    assert total == sum(Decimal(a["pnl"]) for a in whole["accounts"]), "days add up"
    before = json.loads(subprocess.run([harness.PAPERTAPE, "report", "--day", "2023-12-01", "--json", "--state", record_state(record)],
                                       check=True, capture_output=True, text=True).stdout)
    assert before["accounts"] == [] and before["uptime_share"] is None, before
    return len(whole["accounts"])


def record_state(record):
    return os.path.dirname(record.base.execute("PRAGMA database_list").fetchone()[2])


def check_day(daemon):
    """The day's P&L of the status is that of the report, whatever was moved: only prices moved since its last point."""
    status = {a["account"]: a for a in daemon.status_object()["accounts"]}
    report = json.loads(daemon.papertape("report", "--day", day(DAYS - 1), "--json"), parse_float=Decimal)
    exact = lambda value: Decimal(str(value)).quantize(Decimal("1e-8"))
    for a in report["accounts"]:
        shown = status[a["account"]]
        assert exact(shown["equity"]) - exact(shown["day_pnl"]) == exact(a["closing"]) - exact(a["pnl"]), (shown, a["closing"], a["pnl"])
    assert sum(a["flows"]["count"] for a in report["accounts"]) >= 2, "nothing was moved that day"


def check_text(daemon):
    for arguments in ((), ("--from", day(0)), ("--summary",)):
        text = daemon.papertape("report", *arguments)
        wide = [line for line in text.splitlines() if len(line) > (COLUMNS if arguments != ("--summary",) else 120)]
        assert not wide and "cross" in text, wide
    refused = daemon.papertape("report", "--day", "2100-01-01", status=2)
    assert "in the future" in refused, refused
    assert "there is no such account" in daemon.papertape("report", "--account", "none", status=1)
    assert "no such account: did you mean cross" in daemon.papertape("equity", "--account", "crosss", status=1)


def check_missing(daemon, folder):
    """One figure of what is missing, in each form."""
    arguments = ("report", "--from", str(START_S), "--to", str(START_S + DAYS * 86400))
    found = json.loads(daemon.papertape(*arguments, "--json"))
    assert found["bars_missing"] == sum(market["bars_missing"] for market in found["markets"]) > 0, found["markets"]
    text, summary = (daemon.papertape(*arguments, *form) for form in ((), ("--summary",)))
    path = os.path.join(folder.path, "missing.html")
    daemon.papertape(*arguments, "--html", path)
    with open(path) as file:
        page = file.read()
    assert f"bars missing: {found['bars_missing']};" in summary, summary
    for market in found["markets"]:
        assert re.search(rf"{market['symbol']} .*missing: {market['bars_missing']};", text), text
        row = re.search(rf"<tr><td>{market['symbol']}</td><td>{market['venue']}</td>(.*?)</tr>", page)
        assert row and f"<data value=\"{market['bars_missing']}\">" in row[1], page[-5000:]


def check_page(daemon, folder):
    path = os.path.join(folder.path, "report.html")
    daemon.papertape("report", "--from", day(0), "--html", path)
    root = strict.check_page(path)
    assert not strict.faults, strict.faults[:5]
    headings = [item.text for item in root.iter("h2")]
    assert "Account cross" in headings and len(list(root.iter("svg"))) >= 10, headings
    if not harness.LONG:
        return "not opened: --long opens it in Chromium"
    browser = shutil.which("chromium")
    assert browser, "no chromium: ./deps long installs it"
    shot = os.path.join(folder.path, "page.png")
    run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--window-size=1100,2000",
                          f"--user-data-dir={folder.path}/profile", f"--screenshot={shot}", f"file://{path}"],
                         capture_output=True, text=True, timeout=300)
    said = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert run.returncode == 0 and not said and os.path.getsize(shot) > 20000, (run.returncode, said, run.stderr[-2000:])
    return "opened in Chromium without a message"


def check_folder(daemon, folder):
    """A file a form and day; the oldest go; what is not a report stays."""
    into = os.path.join(folder.path, "reports")
    for n in range(DAYS):
        daemon.papertape("report", "--day", day(n), "--dir", into, "--keep", str(KEPT))
        with open(os.path.join(into, "report-2024.txt"), "w"):
            pass
    kept = sorted(os.path.basename(path) for path in glob.glob(into + "/*"))
    assert kept == sorted(["report-2024.txt"] + [f"report-{day(n)}.{form}" for n in range(DAYS - KEPT, DAYS) for form in ("html", "json", "txt")]), kept
    with open(os.path.join(into, f"report-{day(DAYS - 1)}.json")) as file:
        assert json.load(file)["schema"] == "papertape.report/1"


def check_curve(daemon, record):
    """The verb's three forms have the table's rows, in order."""
    stored = daemon.query("SELECT a.name, e.ts_ns, e.equity, e.cash, e.peak FROM equity AS e JOIN accounts AS a ON a.id = e.account WHERE "
                          "ts_ns > 0 ORDER BY a.id, ts_ns")
    exact = lambda row, keys: tuple(int(Decimal(row[key]).scaleb(8)) for key in keys)
    as_csv = list(csv.DictReader(io.StringIO(daemon.papertape("equity", "--csv"))))
    as_json = json.loads(daemon.papertape("equity", "--json"), parse_float=Decimal)
    assert as_json["schema"] == "papertape.equity/1"
    for form in (as_csv, as_json["equity"]):
        assert [(row["account"], int(row["ts_ns"])) + exact(row, ("equity", "cash", "peak")) for row in form] == stored, "equity"
    assert len(daemon.papertape("equity", "--account", "hand").splitlines()) == 1 + sum(row[0] == "hand" for row in stored)
    return len(stored)


def main():
    with harness.Folder() as folder:
        daemon = played(folder)
        beside = json.loads(daemon.papertape("report", "--from", day(0), "--json"))
        check_day(daemon)
        check_text(daemon)
        assert daemon.stop() == 0
        record, reports, figures = compared(daemon)
        assert len(beside["accounts"]) == check_said(record, reports)
        points = check_equity(record)
        curve = check_curve(daemon, record)
        check_text(daemon)
        check_missing(daemon, folder)
        page = check_page(daemon, folder)
        check_folder(daemon, folder)
        print(f"report: {len(reports)} periods, {figures} figures equal, {points} points within the ledger's bounds, "
              f"{len(record.fills)} fills, a curve of {curve} points; the page {page}")


main()
