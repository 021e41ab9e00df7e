#!/usr/bin/env python3
"""Round trips on the dashboard's positions tab, in tmux, on a random record: how many there are, of all accounts and of each, and
the sums by symbol and by who opened are those of `papertape report --json` of the same state; the list's keys, the page of one, and
its order.

usage: dashboard_trips.py PAPERTAPE REPORT-RECORD"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import dashboard

PAPERTAPE, RECORD = sys.argv[1:3]
SEED, EVENTS, SIZE = "3", "6000", (200, 60)


def report(state):
    done = subprocess.run([PAPERTAPE, "report", "--json", "--from", "1970-01-02", "--state", state], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["accounts"]


class Sum:
    """A row of the sums: figures of the same name in all accounts, or one, together."""

    def __init__(self):
        self.pnl = self.fees = 0.0
        self.closed = self.wins = 0
        self.holds = False
        self.profit = 0.0

    def add(self, row):
        trades = row["trades"]
        self.pnl = None if self.pnl is None or row["pnl"] is None else self.pnl + row["pnl"]
        self.fees += row["fees"]
        self.closed += trades["closed"]
        self.holds |= bool(row.get("qty_to"))
        self.wins += trades["wins"]
        if trades["closed"]:
            self.profit += trades["expectancy"] * trades["closed"]

    def cells(self):
        mean = self.profit / self.closed if self.closed else None
        return {"trades": f"{self.closed}{'+' if self.holds else ''}", "win %": f"{100 * self.wins / self.closed:.0f}%" if self.closed else "-",
                "P&L": signed(self.pnl, 10), "mean": signed(mean, 8), "fees": f"{self.fees:.2f}"}


def signed(value, room):
    """As the sums have it: what two digits say nothing of has as many as there is room for."""
    if value is None:
        return "-"
    decimals = 2 if value == 0 or abs(value) >= 0.005 else 8
    while decimals > 0 and len(f"{value:+.{decimals}f}") > room:
        decimals -= 1
    return f"{value:+.{decimals}f}" if round(value, decimals) else "0.00"


def sums(accounts, kind, name):
    rows = collections.defaultdict(Sum)
    for account in accounts:
        for row in account[kind]:
            rows[row[name]].add(row)
    return {key: row.cells() for key, row in rows.items()}


def table(screen, title, of, until=None):
    """A panel's rows: each cell by the label above its end."""
    lines = screen.splitlines()
    at = next(i for i, line in enumerate(lines) if title in line)
    start = lines[at].index(title)
    end = lines[at].index(until, start) - 1 if until and until in lines[at] else len(lines[at])
    labels = lines[at][start:end]
    rows = {}
    for line in lines[at + 1:]:
        text = line[start:end]
        if not text.strip() or text.startswith(("─", "p pause")):
            break
        name = re.match(r" ?(.*?)  ", text.lstrip(">") + "  ")[1].strip()
        rows[name] = {label: text[:labels.index(label) + len(label)].rsplit(None, 1)[-1] for label in of}
    return rows


def check_sums(tmux, accounts, words=""):
    # "P&L" is in the panels' names and in two labels
    screen = tmux.screen().replace("P&L by ", "p&l by ").replace("avg P&L", "───mean")
    labels = ("trades", "win %", "P&L", "mean", "fees")
    shown = table(screen, f"p&l by symbol{words} (", labels, "p&l by strategy")
    by_name = table(screen, f"p&l by strategy{words} (", labels)
    for row in by_name.values():  # the report does not say of a strategy whether it holds
        row["trades"] = row["trades"].rstrip("+")
    for found, wanted in ((shown, sums(accounts, "symbols", "symbol")), (by_name, sums(accounts, "strategies", "strategy"))):
        assert found == wanted, (found, wanted, tmux.screen())
    return len(shown) + len(by_name)


def closed(accounts):
    return sum(row["trades"]["closed"] for account in accounts for row in account["symbols"])


def accounts_in_turn(tmux, accounts, n):
    """A shows the chosen account's alone; which is chosen the equity's title says."""
    rows = 0
    for at, account in enumerate(accounts):
        mine = closed([account])
        tmux.keys("A")
        dashboard.expect(tmux, f"Round trips of {account['account']} (" + (f"1 of {mine})" if mine else "0)"))
        rows += check_sums(tmux, [account], f" of {account['account']}")
        tmux.keys("A")
        dashboard.expect(tmux, f"Round trips (1 of {n})")
        if at + 1 < len(accounts):
            tmux.keys("Tab", "Tab", "Tab", "Tab", "j")  # from the list to the accounts
            dashboard.wait("the next account", lambda at=at: re.search(rf"Equity \w+ {accounts[at + 1]['account']}─", tmux.screen()), tmux.screen)
            tmux.keys("t", "t", "t", "t")
    return rows


def trips_of(tmux):
    """The exit's time and symbol of the rows that are shown."""
    lines = tmux.screen().split("Round trips")[1].split("P&L by symbol")[0].splitlines()[1:]
    return [tuple(line[1:].split()[:3]) for line in lines if line[1:].strip()]


def as_shown(tmux, n):
    """Percent and durations find the rows that show them; above and below go by the numbers."""
    lines = tmux.screen().split("Round trips")[1].split("P&L by symbol")[0].splitlines()[1:]
    rows = [re.search(r" ([+-]?[\d.]+%) +([\d.]+[smhd])\b", line).groups() for line in lines if line[1:].strip()]
    percent, lasted = rows[len(rows) // 2]
    below = sum(float(row[0][:-1]) < -1 for row in rows)
    assert not any(row[0] == "-1.00%" for row in rows), rows
    for words, wanted in ((f"return={percent}", sum(row[0] == percent for row in rows)), ("return<-1%", below), ("return<=-1", below),
                          (f"duration={lasted}", sum(row[1] == lasted for row in rows)), ("duration<400d", n)):
        tmux.keys("/")
        tmux.type(words)
        tmux.keys("Enter")
        dashboard.wait(words, lambda wanted=wanted: re.search(rf"Round trips \((\d+ of )?{wanted} filtered, {n} in all\)", tmux.screen()), tmux.screen)
        tmux.keys("Escape")
        dashboard.expect_gone(tmux, " filtered, ")


def keys_of_the_list(tmux, accounts, n):
    first = trips_of(tmux)
    assert len(first) == n and first == sorted(first, key=lambda row: row[:2], reverse=True), first
    tmux.keys("I")
    dashboard.expect(tmux, "by newest, inverted")
    dashboard.wait("the oldest first", lambda: trips_of(tmux) == first[::-1], tmux.screen)
    tmux.keys("I", "o")
    dashboard.expect(tmux, "rows: by entry time")
    tmux.keys("/")
    tmux.type("symbol=ETHBTC")
    tmux.keys("Enter")
    wanted = sum(row["trades"]["closed"] for account in accounts for row in account["symbols"] if row["symbol"] == "ETHBTC")
    dashboard.expect(tmux, f" of {wanted} filtered, {n} in all)")
    dashboard.wait("those alone", lambda: {row[2] for row in trips_of(tmux)} == {"ETHBTC"}, tmux.screen)
    tmux.keys("Escape")
    dashboard.expect_gone(tmux, f" of {wanted} filtered, {n} in all)")
    as_shown(tmux, n)


def page(tmux, state):
    tmux.keys("g", "g", "Enter")
    dashboard.expect(tmux, "Positions > trip ", "P&L after fees", "reason of the exit", "Fills", "Esc back")
    dashboard.wait("its fills", lambda: re.search(r"fill \d+: (BUY|SELL)", tmux.screen()), tmux.screen)
    screen = tmux.screen()
    trip, order = re.search(r"> trip (\d+)", screen)[1], re.search(r"order of the exit +(\d+)\b", screen)[1]
    assert re.search(rf"fill {trip}: .*, order {order}$", re.sub(r" +$", "", screen, flags=re.MULTILINE), re.MULTILINE), screen
    tmux.keys("Enter")
    dashboard.expect(tmux, f"Positions > order {order}")
    tmux.keys("Escape")
    dashboard.expect(tmux, "Round trips (")
    dumped = subprocess.run([PAPERTAPE, "--dump-screen", "80x24", "--open", f"trip:{trip}", "--state", state], check=False, capture_output=True, text=True)
    assert f"Pos > trip {trip}" in dumped.stdout and f"order of the exit   {order}\n" in dumped.stdout and "Fills" in dumped.stdout, dumped
    fill = 1  # the first opened one, and closed none
    none = subprocess.run([PAPERTAPE, "--dump-screen", "80x24", "--open", f"trip:{fill}", "--state", state], check=False, capture_output=True, text=True)
    assert f"no such trip {fill}: " in none.stdout and f"no such trip {fill}: " in none.stderr and none.returncode, none


def drive(tmux, state):
    accounts = report(state)
    n = closed(accounts)
    assert n > 5
    tmux.type(f"{PAPERTAPE} --state {state} --tab 5")
    tmux.keys("Enter")
    dashboard.expect(tmux, f"Round trips ({n})")
    rows = check_sums(tmux, accounts)
    tmux.keys("t")
    dashboard.expect(tmux, f"Round trips (1 of {n})")
    rows += accounts_in_turn(tmux, accounts, n)
    keys_of_the_list(tmux, accounts, n)
    page(tmux, state)
    return rows


def main():
    folder = tempfile.mkdtemp(prefix="papertape-")
    state = os.path.join(folder, "state")
    os.mkdir(state)
    subprocess.run([RECORD, state, SEED, EVENTS], check=True)
    tmux = dashboard.Tmux(folder)
    try:
        tmux.start(*SIZE, {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
        rows = drive(tmux, state)
    finally:
        tmux.stop()
        shutil.rmtree(folder)
    print(f"system/dashboard_trips: {rows} sums as the report has them")


if shutil.which("tmux") is None:
    sys.exit(77)
main()
