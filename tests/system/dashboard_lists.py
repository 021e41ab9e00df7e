#!/usr/bin/env python3
"""Every list of the dashboard by the same keys in tmux, on a state of many rows, against SQL on the same files: how many there are, the
first and the last, in the usual order and sorted; filter, search, columns, copy, wheel, click, page and back.

usage: dashboard_lists.py PAPERTAPE REPORT-RECORD few|many"""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import dashboard
import dashboard_studies

PAPERTAPE, RECORD, SIZE = sys.argv[1:4]
MANY = SIZE == "many"
ORDERS, BARS, ALERTS, TRIALS = (100_000, 500_000, 10_000, 5_000) if MANY else (10_000, 50_000, 1_000, 500)  # else a tenth
TRAININGS, POLICIES, SYMBOLS, FILLS, LEDGER = 200, 300, 300, 600, 300
T0 = 1_723_161_600_000_000_000
MINUTE = 60_000_000_000


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def copies(db, table, source, numbers, **changed):
    """Inserts the row `source` once for each number, with columns that are SQL expressions of it, n."""
    names = columns(db, table)
    values = ", ".join(changed.get(name, f"s.{name}") for name in names)
    db.execute("CREATE TEMP TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM numbers")
    db.executemany("INSERT INTO numbers VALUES (?)", ((n,) for n in numbers))
    db.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM numbers, (SELECT * FROM {table} WHERE {source} LIMIT 1) AS s")


def fill_state(db):
    copies(db, "symbols", "id = 1", range(4, SYMBOLS + 1), id="n", name="printf('S%03dUSDT', n)", base="printf('S%03d', n)")
    db.execute("INSERT INTO prices (symbol, last, bid, ask, mark, ts_ns, recv_wall_ns) SELECT id, (id * 7919 % 1000 + 1) * 100000, 1, 1, id, ?, ? FROM symbols", (T0, T0))
    db.execute("DELETE FROM positions")
    db.execute("INSERT INTO positions SELECT 0, id, (id * 31 % 297 + 1) * 1000, 5, 0, 5, 0, 0, ?, ?, x'' FROM symbols", (T0, T0))
    db.execute("DELETE FROM fills WHERE order_id > (SELECT max(id) FROM orders)")
    db.execute("UPDATE orders SET state = 'CANCELED' WHERE state NOT IN ('FILLED', 'REJECTED', 'EXPIRED')")
    own = db.execute("SELECT max(id) FROM orders").fetchone()[0]
    copies(db, "orders", "state = 'CANCELED'", range(own + 1, ORDERS + 1), id="n", client_id="printf('mine-%06d', n)",
           qty="s.qty + (n * 7919 % 100003) * 1000", trail="iif(n % 3 = 1, n * 31 % 9973 * 100000, 0)",
           trail_e6="iif(n % 3 = 2, n * 17 % 9967 * 100, 0)", updated_ns=f"{T0} + n * 1000000000", created_ns=f"{T0} + n * 1000000000")
    fill_trades(db)
    interval = db.execute("SELECT min(interval_ns) FROM bars WHERE symbol = 1").fetchone()[0]
    oldest = db.execute("SELECT min(open_ns) FROM bars WHERE symbol = 1 AND interval_ns = ?", (interval,)).fetchone()[0]
    copies(db, "bars", f"symbol = 1 AND interval_ns = {interval} AND source = 'venue'", range(1, BARS + 1),
           open_ns=f"{oldest} - n * {interval}", high="s.high + n * 7919 % 1000003", trades="n % 100")
    db.executemany("INSERT INTO alerts (id, ts_ns, last_ns, count, code, severity, text, acked_ns, closed_ns) VALUES (?, ?, ?, 1, ?, 'info', ?, ?, ?)",
                   ((n, T0 + n * 7919 % 100003, T0 + 200000 + n, ("STALE", "GAP", "DRIFT")[n % 3], f"alert {n:06d}", T0 + 300000 + n * 31 % 99991,
                     T0 + 400000 + n * 17 % 99989 if n % 2 else None) for n in range(1, ALERTS + 1)))
    db.executemany("INSERT INTO trainings VALUES (?, ?, '', '', 0, '', 'cpu', '', ?, 5000, 1, 1, NULL, ?, NULL, NULL, '', '', ?, ?, ?, ?, 1, '', '')",
                   ((f"t_{n:03d}", ("done", "failed", "stopped")[n % 3], n, n * 31 % 199 / 8, T0 + n, T0 + n, T0 + n, T0 + n) for n in range(TRAININGS)))
    db.executemany("INSERT INTO policies (name, role, account, policy, training, path, since_ns, reason) VALUES (?, 'retired', ?, zeroblob(32), '', '/p', ?, ?)",
                   ((f"p_{n:03d}", f"a_{n * 31 % 299:03d}", T0 + n, f"because {n % 7}") for n in range(POLICIES)))


def fill_trades(db):
    """Fills of three symbols, and entries of the ledger, instead of the record's."""
    for table in ("fills", "ledger"):
        db.execute(f"DELETE FROM {table} WHERE id > (SELECT min(id) FROM {table})")
    copies(db, "fills", "1", range(2, FILLS + 2), id="n", order_id=f"1 + n * 7919 % {ORDERS}", symbol="4 + n / 2 % 3", side="iif(n % 2, 'SELL', 'BUY')",
           price="s.price + n * 31 % 977 * 1000", qty="(n / 2 * 7919 % 1009 + 1) * 1000", fee_base="0", ts_ns=f"{T0} + n * {MINUTE}")
    copies(db, "ledger", "1", range(2, LEDGER + 2), id="n", kind="CASE n % 4 WHEN 0 THEN 'interest' WHEN 1 THEN 'fee' WHEN 2 THEN 'trade' ELSE 'borrow' END",
           amount="n * 7919 % 1009 - 500", ts_ns=f"{T0} + n * {MINUTE}", order_id="iif(n % 4 IN (1, 2), n, NULL)", fill_id="iif(n % 4 IN (1, 2), n, NULL)")
    for table in ("fills", "ledger"):
        db.execute(f"DELETE FROM {table} WHERE id = 1")


def fill_studies(path):
    storage = dashboard_studies.Storage(path)
    storage.create()
    study = storage.study("wide", trials=TRIALS)
    with storage.write() as db:
        for n in range(TRIALS):
            state = ("COMPLETE", "PRUNED", "FAIL")[n % 3 if n % 7 else 0]
            trial = db.execute("INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete) VALUES (?, ?, ?, ?, ?)",
                               (n, study, state, "2024-08-08 23:00:00.000000", f"2024-08-08 23:{n % 60:02d}:30.000000")).lastrowid
            for name in ("rate", "decay", "gain"):
                db.execute("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, ?, ?)",
                           (trial, name, 1e-5 * (n * len(name) % 97 + 1), dashboard_studies.RATE))
            if state == "COMPLETE":
                db.execute("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')", (trial, n * 7919 % 100003 / 100))


class List:
    """`usual` and `sorted_by`: SQL that gives the rows' texts in that order, `also` further columns with the same; `filtered`: how many
    have the text `words`."""

    def __init__(self, title, tab, usual, column, sorted_by, words, filtered, page="", keys=(), also=(), grows=False, state="state"):
        self.title, self.tab, self.usual, self.sorts = title, tab, usual, ((column, sorted_by), *also)
        self.words, self.filtered, self.page, self.keys, self.grows, self.state = words, filtered, page, keys, grows, state


EVENTS = ("FROM (SELECT last_ns AS ns, 'alert' AS kind, id * 4 AS place, text, code || ' ' || severity || ' ' || text AS words FROM alerts UNION ALL "
          "SELECT o.updated_ns, 'order', o.id * 4 + 1, ' ' || o.id || ' ' || o.side || ' ', o.id || ' ' || o.side || ' ' || o.type || ' ' || "
          "ifnull(s.name, '') || ' ' || o.tag || ' ' || o.reason || ' ' || o.state FROM orders AS o LEFT JOIN symbols AS s ON s.id = o.symbol UNION ALL "
          "SELECT ts_ns, 'command', id * 4 + 2, ' command ', cmd || ' ' || args || ' ' || state || ' ' || result FROM commands)")
# The fills after which nothing of a symbol is held, or its other side.
CLOSING = ("FROM (SELECT *, strftime('%m-%d %H:%M', ts_ns / 1000000000, 'unixepoch') AS at, lag(held, 1, 0) OVER (PARTITION BY account, symbol ORDER "
           "BY id) AS before FROM (SELECT *, sum(iif(side = 'BUY', qty - fee_base, -qty)) OVER (PARTITION BY account, symbol ORDER BY id) AS held "
           "FROM fills)) WHERE sign(before) <> 0 AND sign(before) <> sign(held)")
SCALED = "/ CAST('1e' || {} AS REAL)"


LISTS = (
    List("Trainings", 2, "SELECT name FROM trainings ORDER BY created_ns DESC", "training", "SELECT name FROM trainings ORDER BY name",
         "state=failed", "SELECT count(*) FROM trainings WHERE state = 'failed'", page="Training t_"),
    List("Policies", 2, "SELECT name FROM policies ORDER BY name", "account", "SELECT name FROM policies ORDER BY account, name",
         "because 3", "SELECT count(*) FROM policies WHERE reason LIKE '%because 3%'", page="policy p_"),
    List("Positions", 5, "SELECT s.name FROM positions AS p JOIN symbols AS s ON s.id = p.symbol ORDER BY s.id", "qty",
         "SELECT s.name FROM positions AS p JOIN symbols AS s ON s.id = p.symbol ORDER BY p.qty DESC, s.id",
         "symbol=S1", "SELECT count(*) FROM positions AS p JOIN symbols AS s ON s.id = p.symbol WHERE s.name LIKE '%S1%'", page="position "),
    List("Prices", 4, "SELECT s.name FROM prices AS p JOIN symbols AS s ON s.id = p.symbol ORDER BY s.id", "symbol",
         "SELECT name FROM symbols ORDER BY name", "symbol=S2", "SELECT count(*) FROM symbols WHERE name LIKE '%S2%'", page="symbol "),
    List("Bars BTCUSDT 1s", 4, "SELECT strftime('%Y-%m-%d %H:%M:%S', open_ns / 1000000000, 'unixepoch') FROM bars WHERE symbol = 1 AND "
         "interval_ns = (SELECT min(interval_ns) FROM bars WHERE symbol = 1) AND source = 'venue' ORDER BY open_ns DESC", "high",
         "SELECT strftime('%Y-%m-%d %H:%M:%S', open_ns / 1000000000, 'unixepoch') FROM bars WHERE symbol = 1 AND interval_ns = "
         "(SELECT min(interval_ns) FROM bars WHERE symbol = 1) AND source = 'venue' ORDER BY high DESC, open_ns DESC",
         "trades=77", "SELECT count(*) FROM bars WHERE symbol = 1 AND interval_ns = (SELECT min(interval_ns) FROM bars WHERE symbol = 1) AND "
         "source = 'venue' AND trades = 77", keys=("D",), grows=True),
    List("Orders", 6, "SELECT ' ' || id || ' ' FROM orders ORDER BY id DESC", "qty", "SELECT ' ' || id || ' ' FROM orders ORDER BY qty DESC, id DESC",
         "mine-0015", "SELECT count(*) FROM orders WHERE client_id LIKE '%mine-0015%'", page="order ", grows=True, also=(
             ("trail", "SELECT ' ' || o.id || ' ' FROM orders AS o LEFT JOIN symbols AS s ON s.id = o.symbol ORDER BY CASE WHEN trail_e6 > 0 THEN "
              f"trail_e6 / 10000.0 WHEN trail > 0 THEN trail {SCALED.format('s.price_scale')} END DESC NULLS LAST, o.id DESC"),)),
    List("Fills", 6, "SELECT ' ' || order_id || ' ' FROM fills ORDER BY id DESC", "qty", "SELECT ' ' || f.order_id || ' ' FROM fills AS f "
         f"JOIN symbols AS s ON s.id = f.symbol ORDER BY f.qty {SCALED.format('s.qty_scale')} DESC, f.id DESC",
         "symbol=S005", "SELECT count(*) FROM fills AS f JOIN symbols AS s ON s.id = f.symbol WHERE s.name = 'S005USDT'", page="fill "),
    List("Round trips", 5, f"SELECT at {CLOSING} ORDER BY id DESC", "order", f"SELECT at {CLOSING} ORDER BY order_id DESC, id DESC",
         "symbol=ETHBTC", f"SELECT count(*) {CLOSING} AND symbol = (SELECT id FROM symbols WHERE name = 'ETHBTC')", page="trip ", keys=("t",), state="traded"),
    List("Log", 8, f"SELECT text {EVENTS} ORDER BY ns DESC, place DESC", "kind", f"SELECT text {EVENTS} ORDER BY kind, place DESC",
         "DRIFT", f"SELECT count(*) {EVENTS} WHERE words LIKE '%DRIFT%'", page="order ", grows=True, also=(
             ("text", f"SELECT text {EVENTS} ORDER BY words, place DESC"),)),
    List("Ledger", 8, "SELECT ' ' || id || ' ' FROM ledger ORDER BY id DESC", "amount",
         f"SELECT ' ' || id || ' ' FROM ledger ORDER BY amount {SCALED.format('scale')} DESC, id DESC",
         "kind=fee", "SELECT count(*) FROM ledger WHERE kind = 'fee'", page="ledger ", keys=("J",), also=(
             ("contra", "SELECT ' ' || id || ' ' FROM ledger ORDER BY CASE kind WHEN 'trade' THEN 'market' WHEN 'fee' THEN 'fees' WHEN 'borrow' THEN "
              "'loans' WHEN 'interest' THEN 'interest' END, id DESC"),)),
    List("Alerts", 7, "SELECT text FROM alerts ORDER BY id DESC", "code", "SELECT text FROM alerts ORDER BY code, id DESC",
         "DRIFT", "SELECT count(*) FROM alerts WHERE code LIKE '%DRIFT%'", page="alert ", grows=True, also=(
             ("first", "SELECT text FROM alerts ORDER BY ts_ns DESC, id DESC"),
             ("acknowledged", "SELECT text FROM alerts ORDER BY acked_ns DESC NULLS LAST, id DESC"),
             ("closed", "SELECT text FROM alerts ORDER BY closed_ns DESC NULLS LAST, id DESC"))),
    List("Trials", 2, "SELECT '#' || number || ' ' FROM trials ORDER BY number DESC", "value",
         "SELECT '#' || number || ' ' FROM trials LEFT JOIN trial_values USING (trial_id) ORDER BY CASE state WHEN 'COMPLETE' THEN 0 WHEN "
         "'PRUNED' THEN 1 ELSE 2 END, value DESC, number DESC", "pruned", "SELECT count(*) FROM trials WHERE state = 'PRUNED'",
         keys=("Enter",), grows=True),
)


class Walk:
    def __init__(self, tmux, of, db):
        self.tmux, self.of = tmux, of
        self.usual = [row[0] for row in db.execute(of.usual)]
        self.sorts = [(column, [row[0] for row in db.execute(sql)]) for column, sql in of.sorts]
        self.filtered = db.execute(of.filtered).fetchone()[0]
        self.n = len(self.usual)

    def chosen(self):
        return next((line for line in self.tmux.screen().splitlines() if line.startswith(">")), "")

    def place(self):
        """The chosen row's, 0 where the title does not say it."""
        found = re.search(rf"{self.of.title}[^\n(]* \((\d+) of", self.tmux.screen())
        return int(found[1]) if found else 0

    def counts(self, *words):
        dashboard.wait(f"{self.of.title} {words}", lambda: all(word in self.tmux.screen() for word in words), self.tmux.screen)

    def on(self, text, at=None):
        """The cursor is on the row with the text, and, where that is said, at that place."""
        title = f"{self.of.title} ({at} of " if at else self.of.title
        dashboard.wait(f"{self.of.title}: the row of {text!r} at {at}", lambda: text in self.chosen().replace(">", " ") + " " and title in self.tmux.screen(), self.tmux.screen)

    def open(self):
        """The list alone on the screen."""
        self.tmux.keys(str(self.of.tab))
        if self.of.title == "Trials":  # of the study, whose list is the tab's first
            dashboard.wait("the study", lambda: self.chosen().startswith(">wide"), self.tmux.screen)
        self.tmux.keys(*self.of.keys)
        title = re.compile(rf"{self.of.title}[^\n(]* \(1 of {self.n}\+?[,)]")
        for _ in range(12):
            before = self.tmux.screen()
            if title.search(before):
                break
            if not self.of.keys:
                self.tmux.keys("Tab")
            dashboard.wait(f"{self.of.title} (1 of {self.n})", lambda before=before: title.search(self.tmux.screen()) or self.tmux.screen() != before, self.tmux.screen)
        self.tmux.keys("z")
        dashboard.wait("the list alone", lambda: title.search(self.tmux.screen().splitlines()[2]), self.tmux.screen)

    def ends(self, rows):
        self.tmux.keys("G")
        self.on(rows[-1], self.n)
        self.tmux.keys("g", "g")
        self.on(rows[0], 1)

    def order(self, column, rows):
        name = re.compile(rf"\) by {column}(, inverted)?\b")
        for _ in range(24):
            before = self.tmux.screen()
            if name.search(before):
                break
            self.tmux.keys("o")
            dashboard.wait("another order", lambda before=before: self.tmux.screen() != before, self.tmux.screen)
        assert name.search(self.tmux.screen()), self.tmux.screen()
        self.ends(rows)
        self.tmux.keys("I")
        self.counts(f"by {column}, inverted")
        self.tmux.keys("I")
        dashboard.wait("not inverted", lambda: f"by {column}, inverted" not in self.tmux.screen(), self.tmux.screen)

    def filter(self):
        assert 0 < self.filtered < self.n
        self.tmux.keys("/")
        self.tmux.type(self.of.words)
        self.tmux.keys("Enter")
        self.counts(f"of {self.filtered} filtered, {self.n} in all)")
        self.tmux.keys("/")
        self.tmux.type("!" + self.of.words)
        self.tmux.keys("Enter")
        self.counts(f"of {self.n - self.filtered} filtered, {self.n} in all)")
        self.tmux.keys("Escape")
        dashboard.wait("all rows", lambda: "filtered" not in self.tmux.screen(), self.tmux.screen)

    def find(self):
        """The last filter's words, which all but those rows have: forth twice, and back once."""
        self.tmux.keys("g", "g", "n")
        self.counts("find:")
        dashboard.wait("another row", lambda: self.place() > 1, self.tmux.screen)
        first = self.place()
        self.tmux.keys("n")
        dashboard.wait("a further row", lambda: self.place() > first, self.tmux.screen)
        self.tmux.keys("N")
        dashboard.wait("the row before", lambda: self.place() == first, self.tmux.screen)
        self.tmux.keys("g", "g")
        dashboard.wait("the first row", lambda: self.place() == 1, self.tmux.screen)

    def others(self):
        self.tmux.keys("C")
        self.counts("Columns of the ")
        self.tmux.keys("Escape")
        dashboard.expect_gone(self.tmux, "Columns of the ")
        assert any(line.rstrip().endswith(("┃", "│")) for line in self.tmux.screen().splitlines()[3:-1]), self.tmux.screen()
        self.tmux.type("\033[<65;10;8M")  # the wheel
        self.counts(f"{self.of.title} (4 of {self.n}")
        row = next(i for i, line in enumerate(self.tmux.screen().splitlines()) if line.startswith(">"))
        self.tmux.type(f"\033[<0;10;{row}M\033[<0;10;{row}m")  # a click on the row above
        self.counts(f"{self.of.title} (3 of {self.n}")
        chosen = self.chosen()
        self.tmux.keys("y")
        dashboard.wait("the row in the clipboard", lambda: self.tmux.run("show-buffer", check=False).split()[:2] == chosen[1:].split()[:2],
                       lambda: self.tmux.run("show-buffer", check=False) + self.tmux.screen())
        if self.of.page:
            self.tmux.keys("Enter")
            self.counts(self.of.page)
            self.tmux.keys("Escape")
            self.counts(f"{self.of.title} (3 of {self.n}")

    def run(self):
        self.open()
        self.ends(self.usual)
        self.filter()
        self.find()
        self.others()
        for column, rows in self.sorts:
            self.order(column, rows)
        self.tmux.keys("z", "Escape", "Escape")


def main():
    folder = tempfile.mkdtemp(prefix="papertape-")
    for name, events in (("state", "2000"), ("traded", "20000")):
        os.mkdir(os.path.join(folder, name))
        subprocess.run([RECORD, os.path.join(folder, name), "3", events], check=True)
    state = os.path.join(folder, "state")
    with contextlib.closing(sqlite3.connect(os.path.join(state, "papertape.db"))) as db, db:
        fill_state(db)
    fill_studies(os.path.join(state, "studies.db"))
    tmux = dashboard.Tmux(folder)
    try:
        tmux.start(110, 24, {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "TZ": "UTC", "XDG_CONFIG_HOME": folder})
        tmux.run("set-option", "-s", "set-clipboard", "on")
        for of in (of for of in LISTS if of.grows or not MANY):
            state = os.path.join(folder, of.state)
            tmux.type(f"{PAPERTAPE} --state {state}")
            tmux.keys("Enter")
            dashboard.expect(tmux, "[1]Overview")
            with contextlib.closing(sqlite3.connect(os.path.join(state, "studies.db" if of.title == "Trials" else "papertape.db"))) as db:
                walk = Walk(tmux, of, db)
            walk.run()
            tmux.keys("q")
            dashboard.wait("the shell", lambda: tmux.terminal() == "0 1", tmux.screen)
            print(f"{of.title}: {walk.n} rows, {walk.filtered} with {of.words!r}", flush=True)
    finally:
        tmux.stop()
        shutil.rmtree(folder)


if shutil.which("tmux") is None:
    sys.exit(77)
main()
