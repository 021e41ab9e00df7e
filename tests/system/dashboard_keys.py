#!/usr/bin/env python3
"""Every key of the help (docs/keys.md, which is tui/key_table.c) is pressed in tmux, and its effect is looked at: those of everywhere,
pages, lists, the market and the positions here, on papertaped and the synthetic market, what acts by asking the daemon; those of
trainings, studies and forms in the scripts named below. A row that no script presses is named. The mouse by its escape codes (SGR)."""

import ast
import json
import os
import re

import dashboard
import dashboard_command
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
ELSEWHERE = {
    "The form of an order": ("dashboard_order.py", "dashboard_command.py"),
    "Trainings and studies, tab 2": ("dashboard_train.py", "dashboard_studies.py", "dashboard_study.py"),
    "A study's page": ("dashboard_studies.py", "dashboard_lists.py"),
    "The form": ("dashboard_train.py", "dashboard_studies.py"),
    "Sweeps": ("dashboard_sweep.py",),
}
TMUX_NAMES = {"Escape": "Esc", "C-u": "Ctrl-U", "C-l": "Ctrl-L", "DC": "Del"}
ALONE = {("Positions, tab 5", "b"): "dashboard_backtest.py",  # of the long run
         ("Everywhere", "U"): "dashboard_sweep.py"}


def table():
    """Section -> its rows' keys, each a list."""
    rows, section = {}, None
    with open(os.path.join(harness.SOURCE, "docs/keys.md"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                section = line[3:].strip().replace("`", "")
                rows[section] = []
            elif line.startswith("| `"):
                rows[section].append(re.findall(r"`([^`]+)`", line.split(" | ")[0]))
    return rows


def pressed_in(script):
    """The keys that a script presses: arguments of keys(), type(), paste() and confirm(); what is typed as a word is no key."""
    found = set()
    with open(os.path.join(HERE, script), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        arguments = call.args if name in ("keys", "type") else call.args[1:2] if name == "confirm" else []
        found |= {"paste"} if name == "paste" else set()
        for argument in arguments:
            texts = [each.value for each in ast.walk(argument) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            found |= {TMUX_NAMES.get(text, text) for text in texts}
            if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Constant):  # keys(*"jk")
                found |= set(argument.value.value)
    return found


class Keys:
    def __init__(self, tmux, daemon):
        self.tmux, self.daemon, self.pressed, self.section = tmux, daemon, set(), None

    def press(self, *keys):
        for key in keys:
            self.pressed.add((self.section, TMUX_NAMES.get(key, key)))
        self.tmux.keys(*keys)

    def see(self, *texts):
        dashboard.expect(self.tmux, *texts)

    def gone(self, text):
        dashboard.expect_gone(self.tmux, text)

    def last(self, text):
        dashboard.wait(f"the last line: {text}", lambda: text in dashboard_command.last(self.tmux), self.tmux.screen)

    def row(self, *texts):
        """The chosen row is read and has the texts: what a key does to one that is not read yet is nothing."""
        dashboard.wait(f"the chosen row: {texts}", lambda: any(line.startswith(">") and all(text in line for text in texts)
                                                              for line in self.tmux.screen().splitlines()), self.tmux.screen)

    def look(self, key, title, *texts):
        """Presses a key that opens a box or a form with that title and these texts, and leaves it."""
        self.press(key)
        self.see(title, *texts)
        self.tmux.keys("Escape")
        self.gone(title)

    def body(self):
        return self.tmux.screen().splitlines()[2:20]

    def past(self):
        """The moment that is shown, as the header has it."""
        return re.search(r"PAST (\S+ \S+)", self.tmux.screen())[1]

    def zoom(self, key, columns):
        """Presses a key after which each bar of a second has so many columns."""
        self.press(key)
        dashboard.wait(f"{columns} columns a bar", lambda: self.columns() == columns, self.tmux.screen)

    def columns(self):
        """Columns a second, by the first and the last time below the chart; 0: there are not two."""
        times = [(each.start(), int(each[1]) * 3600 + int(each[2]) * 60 + int(each[3]))
                 for line in self.tmux.screen().splitlines() for each in re.finditer(r"└(\d\d):(\d\d):(\d\d)", line)]
        return round((times[-1][0] - times[0][0]) / ((times[-1][1] - times[0][1]) % 86400)) if len(times) > 1 else 0

    def crosshair(self):
        """Do the chart's figures begin with the time of a bar?"""
        return re.search(r"^ \d\d-\d\d \d\d:\d\d:\d\d  o ", self.tmux.screen(), re.MULTILINE)

    def under(self):
        """The indicator below the volume; "": there is none."""
        found = re.search(r" v \S+ *\n (\w*)", self.tmux.screen())
        return found and found[1]

    def alert(self):
        """The number of an alert that is open."""
        last = self.daemon.status_object()["symbols"][0]["last"]
        for side, price in (("--above", last + 5), ("--below", last - 5)):  # the market goes one way or the other
            self.daemon.papertape("alerts", "price", "BTCUSDT", side, f"{price:.2f}")
        dashboard.wait("an open alert", self.open_alerts, lambda: self.daemon.papertape("alerts", "list"))
        return self.open_alerts()[-1]

    def acknowledged(self, alert):
        """Presses `a` until it is: the dashboard may not have read of it yet, and newer ones come first."""
        dashboard.wait("the acknowledgement", lambda: alert not in self.open_alerts() or self.press("a"), self.tmux.screen)

    def open_alerts(self):
        return [each["alert"] for each in json.loads(self.daemon.papertape("alerts", "list", "--json"))["alerts"]
                if each["state"] == "open" and "was traded" in each["text"]]

    def trading(self, state):
        self.daemon.wait_status(lambda s: s["trading"] == state, f"trading {state}")
        self.see(f"TRADING {state}")


def everywhere(k, orders):
    for tab, name in enumerate(("Over", "Study", "GPU", "Mkt", "Pos", "Ord", "Alert", "Log"), 1):
        k.press(str(tab))
        k.see(f"[{tab}]{name}")
    k.pressed.add((k.section, "1-8"))
    k.press("l")
    k.see("[1]Over")
    k.press("h")
    k.see("[8]Log")
    k.press("6", "Tab", "z")
    k.see("Fills (")
    k.gone("─Orders (")
    k.press("z")
    k.see("─Orders (")
    k.press("Escape", "Tab", "4")
    k.see(">BTCUSDT")
    k.press("j")
    k.see(">ETHUSDT")
    k.press("k")
    k.see(">BTCUSDT")
    k.press("6", "G")
    n = len(json.loads(k.daemon.papertape("orders", "--json"))["orders"])
    k.see(f"Orders ({n} of {n}")
    k.press("g", "g")
    k.pressed.add((k.section, "gg"))
    k.see(f"Orders (1 of {n}")
    k.row("BUY")
    k.press("Enter")
    k.see("Ord > order ")
    k.press("Escape")
    k.see("─Orders (")
    for key in ("?", "F1"):
        k.look(key, " Help ", "any other key closes this")
    k.press("J")
    k.see("[8]Log", "─Ledger (")
    k.press("J")
    k.see("─Log (")
    k.look("w", " Whole texts ")
    k.press("f")
    k.see("FROZEN")
    before = k.body()
    start = k.daemon.status_object()["now_ns"]
    dashboard.wait("seconds that are not shown", lambda: k.daemon.status_object()["now_ns"] > start + 2 * 10**9)
    assert k.body() == before, k.tmux.screen()
    k.press("f")
    k.gone("FROZEN")
    k.look("F2", " Set-up ")
    k.look("V", " Saved views ")
    k.press("5", "u")
    k.last("equity: 7d")
    for span in ("30d", "all", "24h"):
        k.tmux.keys("u")
        k.last(f"equity: {span}")
    k.press("H")
    k.see(" : BTCUSDT ")
    k.press("H")
    k.gone(" : BTCUSDT ")
    k.press("+")
    k.see("2.0s  ?=help")
    k.press("-")
    k.see("1.0s  ?=help")
    for done, state in (("pause done", "paused"), ("resume done", "on")):
        k.press("p")
        k.see(done)  # until the answer has come a further command is refused
        k.trading(state)
    alert = k.alert()
    k.see("Alert!")
    k.press("1")
    k.acknowledged(alert)
    k.press("Escape", ":")
    k.last(":_")
    k.tmux.run("set-buffer", "--", "order buy\nBTC")
    k.tmux.run("paste-buffer", "-p")
    k.pressed.add((k.section, "paste"))
    k.last(":order buy BTC_")
    k.tmux.keys("Escape")
    k.press("<")
    k.see("PAST ", "Esc now")
    first = k.past()
    k.press("<")
    dashboard.wait("an earlier moment", lambda: k.past() < first, k.tmux.screen)
    earlier = k.past()
    k.press(">")
    dashboard.wait("a later moment", lambda: k.past() > earlier, k.tmux.screen)
    k.tmux.keys("p")
    k.see("the past cannot be acted on")
    k.tmux.keys("Escape")
    k.see("TRADING on")
    k.press("B")
    k.last(":order buy BTCUSDT _")
    k.tmux.keys("Escape")
    k.press("@")
    k.last(":alerts price BTCUSDT --above _")
    k.tmux.keys("Escape")
    k.look("O", "─Order─", "What it would be")
    k.press("6", "g", "g")
    k.row("BUY")
    k.press("y")
    k.see("copy: sent")
    with open(k.tmux.run("display", "-p", "#{pane_tty}").strip(), "w", encoding="ascii") as tty:
        tty.write("\x1b7\x1b[9;9Hof another program\x1b8")  # over the screen
    k.see("of another program")
    k.press("C-l")
    k.gone("of another program")
    k.press("Escape")
    return orders


def lists(k, orders):
    k.press("6", "g", "g")
    k.press("o")
    k.see(") by ")
    k.press("I")
    k.see("inverted")
    k.press("I")
    k.gone("inverted")
    k.look("C", "Columns of the orders")
    k.press("/")
    k.tmux.type(f"#{orders[0]}")
    k.tmux.keys("Enter")
    k.see("(1 of 1 filtered")
    k.tmux.keys("Escape")
    k.gone("filtered")
    for key in ("n", "N"):
        k.tmux.keys("g", "g")
        k.row("MARKET")
        k.press(key)
        k.row("50003")
    k.look("E", f"Amend order {orders[0]}")
    k.press("W")
    k.last(":what-if --at ")
    k.tmux.keys("Escape")
    k.press("x")
    k.see(f"order {orders[0]}: BUY", "y cancels it")
    k.tmux.keys("y")
    k.see("cancel done")
    k.daemon.wait_status(lambda s: all(order["order"] != orders[0] for order in s["orders"]), "the cancel")


def pages(k, orders):
    k.tmux.keys("Escape", "6", "/")
    k.tmux.type(f"#{orders[1]}")
    k.tmux.keys("Enter")
    k.see("(1 of 1 filtered")
    k.tmux.keys("Enter")
    k.see(f"Ord > order {orders[1]}", "rows 1 to ")
    k.press("j")
    k.see("rows 2 to ")
    k.press("k")
    k.see("rows 1 to ")
    k.look("E", f"Amend order {orders[1]}")
    k.press("x")
    k.see(f"order {orders[1]}: BUY")
    k.tmux.keys("y")
    k.see("cancel done")
    k.daemon.wait_status(lambda s: not s["orders"], "the cancel")
    k.press("Escape")
    k.see("─Orders (")
    k.tmux.keys("Tab")
    k.see("Fills (1 of ")
    k.row("BUY")
    k.tmux.keys("Enter")
    k.see("Ord > fill ")
    k.press("Enter")
    k.see("Ord > order ")
    k.tmux.keys("Escape", "Tab")
    alert = k.alert()
    k.tmux.keys("7")
    k.see("[7]Alert!")
    k.tmux.keys("/")
    k.tmux.type(f"#{alert}")
    k.tmux.keys("Enter")
    k.see("(1 of 1 filtered")
    k.tmux.keys("Enter")
    k.see(f"Alert > alert {alert}─")
    k.press("a")
    k.acknowledged(alert)
    k.tmux.keys("Escape")


def market(k, _):
    k.tmux.keys("Escape", "4", "g", "g")
    k.see("BTCUSDT 1s")
    k.press("]")
    k.see("BTCUSDT 5m", "[5m]")
    k.press("[")
    k.see("BTCUSDT 1s", "[1s]")
    k.press("d")
    k.see("─Depth BTCUSDT", "─Trades BTCUSDT")
    k.press("d")
    k.see("BTCUSDT 1s")
    k.press("D")
    k.see("Bars BTCUSDT 1s (1 of ")
    k.press("D")
    k.gone("Bars BTCUSDT")
    k.tmux.keys("Tab")
    k.press("o")
    k.see(") by ")
    k.press("I")
    k.see("inverted")
    k.press("I")
    k.gone("inverted")
    for hint in ("c candles", "c line"):  # what the next one does
        k.press("c")
        k.see(hint)
    k.press("L")
    k.see("1s log")
    k.press("L")
    k.gone("1s log")
    k.zoom("}", 2)
    k.zoom("}", 4)
    k.press(",")
    k.see("BTCUSDT 1s to ")
    shown_to = lambda: (re.search(r"BTCUSDT 1s to \S+ ([0-9:]+)", k.tmux.screen()) or ["", "99:"])[1]  # noqa: E731
    older = shown_to()
    k.press(".")
    dashboard.wait("newer bars", lambda: shown_to() > older, k.tmux.screen)
    k.zoom("{", 2)
    k.zoom("{", 1)
    k.press("m")
    dashboard.wait("a crosshair", k.crosshair, k.tmux.screen)
    k.press("m")
    dashboard.wait("no crosshair", lambda: not k.crosshair(), k.tmux.screen)
    k.look("C", "Indicators of the chart", ">[x] sma_20")
    dashboard.wait("the first indicator below", lambda: k.under() == "rsi_14", k.tmux.screen)
    for name in ("macd_12_26_9", "atr_14", ""):
        k.press("i")
        dashboard.wait(f"the indicator below: {name}", lambda name=name: k.under() == name, k.tmux.screen)


def positions(k, _):
    k.tmux.keys("Escape", "5")
    k.press("t")
    k.see("Round trips")
    k.gone("Round trips of hand")
    k.press("A")
    k.see("Round trips of hand")
    k.press("t")
    k.see("P&L by symbol")
    k.press("t", "t")
    k.see("Equity")


SECTIONS = (("Everywhere", everywhere), ("Lists", lists), ("The page of a row", pages), ("The market, tab 4", market), ("Positions, tab 5", positions))


def last_ones(k):
    """What ends: flatten, and q."""
    k.section = "Everywhere"
    k.tmux.keys("Escape", "1")
    k.daemon.papertape("order", "buy", "BTCUSDT", "0.01")
    k.daemon.wait_status(lambda s: s["positions"], "a position")
    k.see("BTCUSDT   L")
    k.press("F")
    k.see("Type FLATTEN", "BTCUSDT")
    k.tmux.type("FLATTEN")
    k.tmux.keys("Enter")
    k.see("flatten done")
    k.trading("paused")
    k.daemon.wait_status(lambda s: not s["positions"], "no position")
    k.press("q")
    dashboard.wait("the terminal as it was", lambda: k.tmux.terminal() == "0 1", k.tmux.terminal)
    assert modes(k.tmux) == {"any": False, "sgr": False}


def modes(tmux):
    """What the terminal reports of the mouse: each button, and by SGR's codes."""
    flags = tmux.run("display", "-p", "#{mouse_standard_flag}#{mouse_button_flag}#{mouse_any_flag} #{mouse_sgr_flag}").split()
    return {"any": "1" in flags[0], "sgr": flags[1] == "1"}


def report(tmux, x, y, button=0):
    """A press and its release at a cell, as a terminal in SGR mode writes them."""
    for end in "Mm":
        tmux.run("send-keys", "-H", *[f"{byte:02x}" for byte in f"\x1b[<{button};{x + 1};{y + 1}{end}".encode()])


def mouse(k):
    """By the escape codes themselves: a click opens a tab, chooses a row, opens it; the wheel moves in the panel below; on the chart a
    click sets the crosshair and the wheel zooms; M gives all of it back."""
    tmux, k.section = k.tmux, "Everywhere"
    tmux.keys("Escape", "1")
    dashboard.wait("reports of the mouse, by SGR", lambda: modes(tmux) == {"any": True, "sgr": True}, lambda: str(modes(tmux)))
    y, x = dashboard_command.line_of(tmux, "6Ord")
    report(tmux, x, y)
    k.see("[6]Ord")
    listed = lambda: [y for y, line in enumerate(tmux.screen().splitlines()) if re.match(r"[ >] +\d+ BUY", line)]  # noqa: E731
    dashboard.wait("three orders", lambda: len(listed()) >= 3, tmux.screen)
    rows = listed()
    report(tmux, 20, rows[2])
    dashboard.wait("the clicked row", lambda: tmux.screen().splitlines()[rows[2]].startswith(">"), tmux.screen)
    report(tmux, 20, rows[2], 64)
    dashboard.wait("the first row", lambda: tmux.screen().splitlines()[rows[0]].startswith(">"), tmux.screen)
    report(tmux, 20, rows[2], 65)
    dashboard.wait("the last row", lambda: tmux.screen().splitlines()[rows[2]].startswith(">"), tmux.screen)
    report(tmux, 20, rows[2])
    k.see("Ord > order ")
    tmux.keys("Escape")
    y, x = dashboard_command.line_of(tmux, "4Mkt")
    report(tmux, x, y)
    k.see("[4]Mkt", "BTCUSDT 1s")
    y, _ = dashboard_command.line_of(tmux, "─BTCUSDT 1s")
    report(tmux, 40, y + 5)
    dashboard.wait("a crosshair", k.crosshair, tmux.screen)
    tmux.keys("m")
    dashboard.wait("no crosshair", lambda: not k.crosshair(), tmux.screen)
    k.press("M")
    k.see("mouse: left to the terminal")
    dashboard.wait("no mode of the mouse", lambda: modes(tmux) == {"any": False, "sgr": False}, lambda: str(modes(tmux)))
    y, x = dashboard_command.line_of(tmux, "1Over")
    k.press("M")
    dashboard.wait("its modes again", lambda: modes(tmux) == {"any": True, "sgr": True}, lambda: str(modes(tmux)))
    report(tmux, x, y)
    k.see("[1]Over")


def missing(pressed):
    """The rows of the table with a key that no script presses."""
    found = []
    for section, rows in table().items():
        known = {key for where, key in pressed if where == section}
        for script in ELSEWHERE.get(section, ()):
            known |= pressed_in(script)
        known |= {"0-9"} if known & set("0123456789") else set()
        for key in (key for keys in rows for key in keys):
            alone = ALONE.get((section, key))
            if key not in known and not (alone and key in pressed_in(alone)):
                found.append(f"{section}: {key}")
    return found


def main():
    with dashboard_command.terminal() as (tmux, daemon, _):
        orders = [int(re.search(r"order (\d+)", daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", price))[1]) for price in ("50003", "50004")]
        daemon.papertape("order", "buy", "BTCUSDT", "0.01")
        daemon.wait_status(lambda s: s["positions"] and len(s["orders"]) == 2, "a position and two orders")
        dashboard_command.show(tmux, daemon)
        k = Keys(tmux, daemon)
        mouse(k)
        for k.section, check in SECTIONS:
            check(k, orders)
        last_ones(k)
    unpressed = missing(k.pressed)
    assert not unpressed, f"no script presses {unpressed}"
    print(f"system/dashboard_keys: {sum(map(len, table().values()))} rows")


if __name__ == "__main__":
    main()
