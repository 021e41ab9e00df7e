#!/usr/bin/env python3
"""The form of an order in tmux, on papertaped and the synthetic market: what it sends makes the same row as the verb's, what it says
that the order would be is what `papertape order --dry-run` says, a refusal is whole at 80x24, an order is amended and a position closed
by it, and with --readonly it does not open."""

import json

import dashboard
import dashboard_command
import harness

order_rows = dashboard_command.order_rows
last = dashboard_command.last


def fields(tmux):
    """The fields of the form at 80 columns, the left ones first, with what they have."""
    lines = tmux.screen().splitlines()[1:12]
    rows = [column.replace(">", " ", 1).split() for columns in ([line[:40] for line in lines], [line[40:] for line in lines]) for column in columns]
    return {row[0]: row[1].rstrip("_") if len(row) > 1 else "" for row in rows if row}


def value(tmux, field):
    return fields(tmux).get(field)


def put(tmux, field, text):
    """Goes to a field, and types."""
    tmux.keys("Home", *["Down"] * list(fields(tmux)).index(field))
    dashboard.wait(f"{field} chosen", lambda: any(f"> {field} " in f"{line} " for line in tmux.screen().splitlines()), tmux.screen)
    tmux.type(text)
    dashboard.wait(f"{field} {text}", lambda: value(tmux, field) == text, tmux.screen)


def said(tmux):
    """What stands below the rule of what it would be, blanks and line ends apart."""
    below = tmux.screen().partition("─What it would be")[2].partition("\n")[2]
    return " ".join(" ".join(below.splitlines()[:-1]).split())


def opened(tmux):
    tmux.keys("Escape", "4", "O")
    dashboard.expect(tmux, "─Order─", "What it would be", "Enter order; y confirms")


def ordered(tmux, outcome):
    tmux.keys("Enter")
    dashboard.expect(tmux, "y does it; any other key does not")
    tmux.keys("y")
    dashboard.expect(tmux, *outcome)


def same_as_the_verb(tmux, daemon):
    opened(tmux)
    dashboard.wait("the least quantity at the last price", lambda: value(tmux, "qty") == "0.00009" and
                   float(value(tmux, "limit") or 0) > 50000, tmux.screen)
    dashboard.expect(tmux, "quantity: step", "notional: 5 to 9000000 USDT", "5 times")
    assert value(tmux, "account") == "hand" and value(tmux, "symbol") == "BTCUSDT" and value(tmux, "side") == "buy"
    put(tmux, "qty", "0.01")
    put(tmux, "limit", "50000")
    tmux.keys("Home", "Down", "Down")
    tmux.type("s")
    dashboard.wait("a sale", lambda: value(tmux, "side") == "sell", tmux.screen)
    tmux.type("b")
    put(tmux, "bracket-stop", "45000")
    words = ["buy", "BTCUSDT", "0.01", "--account", "hand", "--limit", "50000", "--bracket-stop", "45000"]
    figures = " ".join(daemon.papertape("order", *words, "--dry-run").split()).removesuffix(" nothing was ordered")
    dashboard.wait(figures, lambda: said(tmux).replace(";", "") == figures, tmux.screen)
    assert order_rows(daemon) == []
    ordered(tmux, ("order done", "PENDING"))
    daemon.papertape("order", *words)
    rows = [{key: each for key, each in row.items() if key not in ("group", "parent")} for row in order_rows(daemon)]
    assert len(rows) == 4 and rows[:2] == rows[2:], rows
    daemon.papertape("order", "cancel", "--all")
    daemon.wait_status(lambda s: not s["orders"], "no orders")


def refused(tmux, daemon):
    """As the verb has it and with its bounds, before it is sent and afterwards."""
    opened(tmux)
    put(tmux, "qty", "0.01")
    put(tmux, "limit", "400000")
    bounds = "5 times"
    dashboard.wait("the refusal", lambda: said(tmux).startswith("refused: PERCENT_PRICE: the price is too far from the market: ")
                   and bounds in said(tmux), tmux.screen)
    verb = daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", "400000", status=1)
    assert "PERCENT_PRICE: the price is too far from the market: " in verb and ", 0.2 to 5 times " in verb, verb
    ordered(tmux, ("order refused  PERCENT_PRICE",))
    dashboard.wait("it whole", lambda: said(tmux).startswith("order refused: PERCENT_PRICE") and "0.2 to 5 times" in said(tmux), tmux.screen)
    assert "─Order─" in tmux.screen()
    tmux.keys("F3")
    dashboard.expect(tmux, "Whole texts", "PERCENT_PRICE", "Any key closes this")
    tmux.keys("Escape")
    dashboard.wait("the form again", lambda: "Whole texts" not in tmux.screen() and "─Order─" in tmux.screen(), tmux.screen)
    put(tmux, "limit", "50000")
    put(tmux, "qty", "100000000")
    dashboard.wait("another refusal", lambda: "refused: LOT_SIZE" in said(tmux) and "0.00001 to 9000" in said(tmux), tmux.screen)
    tmux.keys("Escape")
    dashboard.expect(tmux, "[4]Mkt")


def amended(tmux, daemon):
    daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", "50000")
    order = daemon.wait_status(lambda s: s["orders"], "the order")["orders"][0]["order"]
    tmux.keys("6")
    dashboard.wait("the order in the list", lambda: "x cancel" in last(tmux), tmux.screen)
    tmux.keys("E")
    dashboard.expect(tmux, f"Amend order {order}", "limit  50000.00_", "The order now")
    tmux.keys("Enter")
    dashboard.expect(tmux, "nothing is changed")
    tmux.keys("Right", "Right", "Left")
    dashboard.expect(tmux, f":order amend {order} --limit 50000.01")
    tmux.keys("F12")
    dashboard.expect(tmux, "y does it; any other key does not")
    tmux.keys("n")
    dashboard.expect_gone(tmux, "y does it; any other key does not")
    ordered(tmux, (f"amend done  amended {order}",))
    daemon.wait_status(lambda s: s["orders"][0]["price"] == 50000.01, "the new price")
    daemon.papertape("order", "cancel", "--all")


def closed(tmux, daemon):
    """On a position it is what closes it."""
    daemon.papertape("order", "buy", "BTCUSDT", "0.02")
    daemon.wait_status(lambda s: s["positions"], "a position")
    tmux.keys("5")
    dashboard.expect(tmux, "Positions (1)")
    for _ in range(12):
        if "sell" == value(tmux, "side"):
            break
        tmux.keys("Escape", "Tab", "O")
        dashboard.expect(tmux, "─Order─")
    assert value(tmux, "qty") == "0.02" and value(tmux, "reduce-only") == "yes", tmux.screen()
    put(tmux, "limit", value(tmux, "limit"))
    tmux.keys("C-u")
    dashboard.wait("a market order", lambda: "would be SELL MARKET 0.02 BTCUSDT" in said(tmux), tmux.screen)
    ordered(tmux, ("order done",))
    daemon.wait_status(lambda s: not s["positions"], "it closed")


def as_line(tmux):
    opened(tmux)
    dashboard.wait("an answer", lambda: said(tmux).startswith("would be BUY LIMIT"), tmux.screen)
    tmux.keys(":")
    dashboard.wait("its line", lambda: last(tmux).startswith(":order buy BTCUSDT 0.00009 --account hand --limit "), tmux.screen)
    tmux.keys("C-u", "Up")  # what the form sent last
    dashboard.wait("the line before", lambda: last(tmux) == ":order sell BTCUSDT 0.02 --account hand --reduce-only_", tmux.screen)
    tmux.keys("Escape", "q")


def read_only(tmux, daemon):
    dashboard_command.show(tmux, daemon, "--readonly")
    for key in ("O", "E", "B"):
        tmux.keys(key)
        dashboard.expect(tmux, "read-only: started with --readonly")
        assert "─Order─" not in tmux.screen() and not last(tmux).startswith(":")
        tmux.keys("Escape")
        dashboard.expect_gone(tmux, "read-only: started with --readonly")
    tmux.keys(":")
    tmux.type("order buy")  # before Enter
    dashboard.expect(tmux, "read-only: started with --readonly: no line is carried out", ":order buy_")
    tmux.keys("Escape", "q")


def main():
    with dashboard_command.terminal() as (tmux, daemon, _):
        dashboard_command.show(tmux, daemon)
        same_as_the_verb(tmux, daemon)
        refused(tmux, daemon)
        amended(tmux, daemon)
        closed(tmux, daemon)
        as_line(tmux)
        before = len(json.loads(daemon.papertape("orders", "--json"))["orders"])
        read_only(tmux, daemon)
        assert len(json.loads(daemon.papertape("orders", "--json"))["orders"]) == before
        dashboard.wait("the terminal as it was", lambda: tmux.terminal() == "0 1", tmux.terminal)
    print("the form orders what the verb orders")


if __name__ == "__main__":
    main()
