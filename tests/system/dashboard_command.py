#!/usr/bin/env python3
"""The dashboard's command line in tmux, on papertaped and the synthetic market: an order that is typed there makes the same
row as the verb's, Tab and Up do what they say, a refusal is whole on the screen, a daemon that stands still leaves a command
unanswered, and with --readonly no verb that acts does anything."""

import contextlib
import csv
import io
import json
import os
import re
import signal
import subprocess

import dashboard
import harness

CONFIG = "[market]\ninterval = 1s\nhistory = 50\n[engine]\nlatency_ms = 0\n[account hand]\ncash = 50000\nstrategy = none\n"
ACTING = os.path.join(harness.BUILD, "tests/tui/test-tui-verbs")
OWN = ("order", "client_id", "created_ns", "updated_ns", "effective_ns", "input_seq")  # what no two orders share


def order_rows(daemon):
    """What is stored of each order, except what no two share."""
    orders = json.loads(daemon.papertape("orders", "--json"))["orders"]
    return [{key: value for key, value in order.items() if key not in OWN} for order in orders]


def give(tmux, line, *outcome):
    """Types a command, and waits for what the last line, or the box above it, says."""
    tmux.keys("Escape")
    tmux.keys(":")
    dashboard.wait("an empty line", lambda: tmux.screen().rstrip().splitlines()[-1].startswith(":_"), tmux.screen)
    tmux.type(line)
    tmux.keys("Enter")
    dashboard.expect(tmux, *outcome)


def last(tmux):
    return tmux.screen().rstrip().splitlines()[-1]


def show(tmux, daemon, arguments=""):
    tmux.type(f"clear; {harness.PAPERTAPE} --state {daemon.state} {arguments}")
    tmux.keys("Enter")
    dashboard.expect(tmux, "PAPER ", "=help", "feed ok")


def same_as_the_verb(tmux, daemon):
    give(tmux, "order buy BTCUSDT 0.01 --limit 50000", "order done", "PENDING")
    daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", "50000")
    rows = order_rows(daemon)
    assert len(rows) == 2 and rows[0] == rows[1], rows
    status = daemon.wait_status(lambda s: len(s["orders"]) == 2, "both orders")
    mine, verbs = status["orders"]
    give(tmux, f"order amend {mine['order']} --limit 50001", f"amend done  amended {mine['order']}")
    daemon.papertape("order", "amend", str(verbs["order"]), "--limit", "50001")
    rows = order_rows(daemon)
    assert rows[0] == rows[1], rows
    give(tmux, "order cancel --all", "cancel done", f"canceled {mine['order']}; canceled {verbs['order']}")
    daemon.wait_status(lambda s: not s["orders"], "no orders")
    for verb, state in (("pause", "paused"), ("resume", "on")):
        give(tmux, verb, f"{verb} done  trading {state}")
        assert daemon.status_object()["trading"] == state
    give(tmux, "account deposit hand 500", "deposit done  deposited 500 into hand")
    assert daemon.status_object()["accounts"][0]["cash"] == 50500


def dry_runs(tmux, daemon):
    """B begins an order in the chosen symbol, F5 says what it would be; the form that E opens continues as a line."""
    before = len(order_rows(daemon))
    tmux.keys("Escape", "1", "B")
    dashboard.wait("an order in the first symbol", lambda: last(tmux) == ":order buy BTCUSDT _", tmux.screen)
    tmux.type("0.01 --limit 50000")
    tmux.keys("F5")
    dashboard.expect(tmux, "dry run done", "would be BUY LIMIT 0.01 BTCUSDT limit 50000", "nothing was ordered")
    tmux.keys("C-u")
    dashboard.expect_gone(tmux, "dry run done")
    tmux.type("order buy BTCUSDT 0.0000001")
    tmux.keys("F5")
    dashboard.expect(tmux, "dry run refused", "LOT_SIZE")
    assert len(order_rows(daemon)) == before
    tmux.keys("Escape")
    give(tmux, "order buy BTCUSDT 0.01 --limit 50000", "order done", "PENDING")
    order = daemon.wait_status(lambda s: s["orders"], "the order")["orders"][0]["order"]
    tmux.keys("Escape", "6")
    dashboard.wait("the order in the list", lambda: "x cancel" in last(tmux), tmux.screen)
    tmux.keys("E")
    dashboard.expect(tmux, f"Amend order {order}", "50000.00_")
    tmux.type("50000.05")
    tmux.keys(":")
    dashboard.wait("the form's line", lambda: last(tmux) == f":order amend {order} --limit 50000.05_", tmux.screen)
    tmux.keys("Enter")
    dashboard.expect(tmux, f"amend done  amended {order}")
    daemon.wait_status(lambda s: s["orders"][0]["price"] == 50000.05, "the new price")
    give(tmux, "order cancel --all", "cancel done")
    tmux.keys("1")


def refusals(tmux, daemon):
    """As the verb has them, whole, also where the last line is too short."""
    for words in (["order", "buy", "BTCUSDT", "10"], ["order", "buy", "BTCUSDT", "0.0000001"],
                  ["order", "buy", "BTCUSDT", "1", "--limit", "5", "--stop", "x"]):
        verb = daemon.papertape(*words, status=1).strip().removeprefix("papertape: order: ")
        verb = verb.split(" (order ")[0].split(" needed,")[0].split(" USDT")[0].rsplit(" ", 1)[0]
        give(tmux, " ".join(words), "order refused")
        dashboard.wait(f"{verb} whole", lambda verb=verb: verb in " ".join(
            line.strip(" │─~").strip() for line in tmux.screen().splitlines() if "│" in line or "refused  " in line), tmux.screen)
    give(tmux, "order --help", "--help: unknown option: see papertape order --help")
    give(tmux, "status", "in a shell, papertape status")
    give(tmux, "flatten", "--yes: it closes every position")
    assert daemon.status_object()["trading"] == "on"


def typing(tmux):
    tmux.keys("Escape", ":", "Up")
    dashboard.wait("the line before", lambda: last(tmux) == ":flatten_", tmux.screen)
    tmux.keys("Up")
    dashboard.wait("the one before that", lambda: last(tmux) == ":status_", tmux.screen)
    tmux.keys("C-u")
    tmux.type("ord")
    tmux.keys("Tab")
    tmux.type("b")
    tmux.keys("Tab")
    tmux.type("ET")
    tmux.keys("Tab")
    dashboard.wait("the completed words", lambda: last(tmux) == ":order buy ETHUSDT _", tmux.screen)
    tmux.type("1 --t")
    tmux.keys("Tab")
    dashboard.expect(tmux, "--take-profit", "--trail", "--tif", "--type")
    tmux.keys("Escape")
    dashboard.expect_gone(tmux, "--take-profit")
    tmux.keys("Escape")
    dashboard.wait("the keys again", lambda: "q quit" in last(tmux), tmux.screen)


def unanswered(tmux, daemon):
    """A daemon that stands still: what was sent is neither done nor refused; its answer is shown when it comes."""
    os.kill(daemon.popen.pid, signal.SIGSTOP)
    try:
        give(tmux, "pause", "pause pending")
        dashboard.expect(tmux, "pause unanswered", "it may still be carried out")
        assert "refused" not in last(tmux), tmux.screen()
    finally:
        os.kill(daemon.popen.pid, signal.SIGCONT)
    dashboard.expect(tmux, "pause done  trading paused")
    give(tmux, "resume", "resume done")


def click(tmux, x, y, button=0):
    """As the terminal that TERM names reports it: pressed, and released; 64 and 65 are the wheel."""
    for state in (button, 3):
        tmux.type("\x1b[M" + "".join(chr(0x20 + value) for value in (state, x + 1, y + 1)))


def line_of(tmux, text):
    """The first line with the text, and its column."""
    for y, line in enumerate(tmux.screen().splitlines()):
        if text in line:
            return y, line.index(text)
    raise AssertionError(f"no {text}:\n{tmux.screen()}")


def pointing(tmux, daemon):
    """A click opens a tab, chooses a row and opens its page, whose text is copied; the mouse is given back."""
    taken = lambda: tmux.run("display", "-p", "#{mouse_any_flag}").strip() == "1"
    tmux.run("set-option", "-s", "set-clipboard", "on")
    orders = [re.search(r"order (\d+)", daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", price))[1] for price in ("50003", "50004")]
    tmux.keys("Escape", "1")
    dashboard.wait("the mouse", taken)
    tmux.type("\x1b[M ")  # a report that is cut: nothing waits for its end, and what comes later is keys
    for _ in range(3):
        dashboard.wait("another picture", lambda before=tmux.screen(): tmux.screen() != before, tmux.screen)
    dashboard.wait("the key", lambda: tmux.keys("5") or "[5]Pos" in tmux.screen(), tmux.screen)
    y, x = line_of(tmux, "6Ord")
    click(tmux, x, y)
    dashboard.expect(tmux, "[6]Ord", "50003.00", "50004.00")
    y, _ = line_of(tmux, "50004.00")
    click(tmux, 30, y)
    dashboard.wait("the clicked row", lambda: tmux.screen().splitlines()[y].startswith(">"), tmux.screen)
    click(tmux, 30, y, 64)  # the wheel, up
    y, _ = line_of(tmux, "50003.00")
    dashboard.wait("the first row", lambda: tmux.screen().splitlines()[y].startswith(">"), tmux.screen)
    tmux.keys("y")
    dashboard.expect(tmux, "copy: sent")
    row = tmux.run("show-buffer")
    assert row.split()[:3] == [orders[0], "BUY", "BTCUSDT"] and "50003.00" in row, row
    click(tmux, 30, y)
    dashboard.expect(tmux, f"order {orders[0]}", "Ord > ")
    tmux.keys("y")
    dashboard.wait("the page's text", lambda: tmux.run("show-buffer").startswith(f"order\t{orders[0]}\naccount\thand\n"),
                   lambda: tmux.run("show-buffer"))
    tmux.keys("M")
    dashboard.expect(tmux, "mouse: left to the terminal")
    dashboard.wait("the mouse given back", lambda: not taken())
    tmux.keys("M")
    dashboard.wait("the mouse again", taken)
    tmux.keys("Escape")
    give(tmux, "order cancel --all", "cancel done")
    tmux.keys("1")


def ledger_rows(daemon):
    return list(csv.DictReader(io.StringIO(daemon.papertape("ledger", "export"))))


def ledger(tmux, daemon):
    """J lists the entries that `papertape ledger export` has; an entry's page has the command that caused it, or the fill."""
    give(tmux, "order buy BTCUSDT 0.01", "order done")
    dashboard.wait("its entries", lambda: any(row["kind"] == "fee" for row in ledger_rows(daemon)))
    give(tmux, "account deposit hand 500.25", "deposit done")
    rows = ledger_rows(daemon)
    tmux.keys("Escape", "J")
    dashboard.expect(tmux, f"Ledger (1 of {len(rows)})", "500.25")
    tmux.keys("Enter")
    dashboard.expect(tmux, f"Log > ledger {rows[-1]['id']}", "kind                deposit", "amount              500.25",
                     "The command that was carried out then", "account_deposit")
    tmux.keys("Escape", "/", *"trade", "Enter")
    trades = [row for row in rows if row["kind"] == "trade"]
    dashboard.expect(tmux, f"Ledger (1 of {len(trades)} filtered, {len(rows)} in all)  /trade")
    tmux.keys("G")
    dashboard.expect(tmux, f"Ledger ({len(trades)} of {len(trades)} filtered")
    tmux.keys("Enter")
    dashboard.expect(tmux, f"Log > ledger {trades[0]['id']}", "Its fill")
    tmux.keys("Enter")
    dashboard.expect(tmux, f"Log > order {trades[0]['order_id']}")
    tmux.keys("Escape", "Escape", "C")
    dashboard.expect(tmux, "Columns", "[x] time", "auto")
    tmux.keys("Space", "s")
    dashboard.expect(tmux, "set-up done  saved in")
    with open(os.path.join(os.path.dirname(daemon.state), "kept", "papertape/dashboard.ini"), encoding="utf-8") as file:
        assert "ledger_columns = entry account kind" in file.read()
    tmux.keys("J")
    dashboard.expect(tmux, "─Log (", "deposited 500.25 into hand")
    tmux.keys("1")


def acting_lines():
    """A complete line of each action that acts, from the descriptions of the verbs."""
    lines = subprocess.run([ACTING, "acting"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) >= 25 and len(set(lines)) == len(lines), lines
    return lines


def read_only(tmux, daemon):
    """Every line that acts is refused, and the daemon has had no command."""
    show(tmux, daemon, "--readonly")
    had = daemon.query("SELECT count(*) FROM commands")
    lines = acting_lines()
    for line in lines:
        give(tmux, line, "refused  read-only: started with --readonly")
    assert daemon.query("SELECT count(*) FROM commands") == had
    assert daemon.status_object()["trading"] == "on"
    return lines


@contextlib.contextmanager
def terminal():
    """A shell in tmux, papertaped on the synthetic market, and the folder of the user's files."""
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        tmux = dashboard.Tmux(folder.path)
        kept = os.path.join(folder.path, "kept")
        try:
            tmux.start(80, 24, {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "XDG_STATE_HOME": kept, "XDG_CONFIG_HOME": kept})
            yield tmux, daemon, kept
        finally:
            tmux.stop()
        assert daemon.stop() == 0


def main():
    with terminal() as (tmux, daemon, kept):
        show(tmux, daemon)
        same_as_the_verb(tmux, daemon)
        dry_runs(tmux, daemon)
        refusals(tmux, daemon)
        typing(tmux)
        unanswered(tmux, daemon)
        pointing(tmux, daemon)
        ledger(tmux, daemon)
        tmux.keys("q")
        dashboard.wait("the terminal as it was", lambda: tmux.terminal() == "0 1", tmux.terminal)
        assert tmux.run("display", "-p", "#{mouse_any_flag}").strip() == "0"
        refused = read_only(tmux, daemon)
        tmux.keys("Escape", ":", "Up")
        dashboard.wait("the last line of all", lambda: last(tmux) == f":{refused[-1]}_", tmux.screen)
        file = os.path.join(kept, "papertape-dashboard/commands")
        assert os.stat(file).st_mode & 0o777 == 0o600
        with open(file, encoding="utf-8") as lines:
            assert lines.readline() == "order buy BTCUSDT 0.01 --limit 50000\n"
    print(f"the command line does what the verbs do; {len(refused)} lines that act are refused with --readonly")


if __name__ == "__main__":
    main()
