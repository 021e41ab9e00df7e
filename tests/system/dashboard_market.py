#!/usr/bin/env python3
"""The market's tab on papertaped and the synthetic market, while the venue stands still: the ladder that is printed and the
one in tmux are what `papertape book` says, with the star of an order of ours; the tape's trades are those that the daemon
says; once the book is stale there is a dash; the list of bars has the stored ones; the bar that is forming is the daemon's."""

import contextlib
import json
import os
import re
import signal
import sqlite3
from decimal import Decimal

import dashboard
import harness

CONFIG = """[market]
interval = 1s
history = 50
[feed]
stale_s = {stale_s}
[engine]
latency_ms = 0
[account hand]
cash = 50000
strategy = none
"""
SYMBOL = "BTCUSDT"
LEVEL = re.compile(r"([* ]) *(\d+\.\d+) +(\d+\.\d+|-) ?(?:[▏▎▍▌▋▊▉█#].*|\*.*)?$")
TRADE = re.compile(r" (\d\d:\d\d:\d\d) (BUY |SELL) +(\d+\.\d+) +(\d+\.\d+) *$")


def stand_still(daemon, replay):
    """Stops the venue, and returns the status once what it had sent is taken: from then on nothing moves."""
    os.kill(replay.popen.pid, signal.SIGSTOP)

    def taken():
        before, after = daemon.status_object(), daemon.status_object()
        quiet = after["symbols"][0]["age_ms"] > 300 and after["feed"]["frames"] == before["feed"]["frames"]
        return after if quiet else None
    return harness.wait_for(taken, "a market that stands still")


def resting_bid(daemon, replay):
    """The book's third bid, in a market that stands still. Quotes come more often than the book's differences: where it was stopped
    with the newest ask at or below that bid, an order there would trade at once, and it is stopped again later."""
    def stopped():
        ask = Decimal(str(stand_still(daemon, replay)["symbols"][0]["ask"]))
        own = answer(daemon, "book", levels=20)["bids"][2][0]
        if Decimal(own) < ask:
            return own
        os.kill(replay.popen.pid, signal.SIGCONT)
        return None
    return harness.wait_for(stopped, "a third bid below the newest ask")


def panel(screen, title, other):
    """The rows below a panel's rule, from the column where it begins, up to the next rule."""
    lines = screen.splitlines()
    top = next(i for i, line in enumerate(lines) if f"─{title} " in line or f"-{title} " in line)
    x = re.search(f"[─-]{title} ", lines[top]).start()
    end = lines[top].find(f"{other} ", x)
    rows = []
    for line in lines[top + 1:]:
        row = line[x:end - 1 if end > 0 else None]
        if re.match(r"[─-](Trades|Streams|Venues)", row):
            break
        rows.append(row.rstrip())
    return rows


def ladder(screen):
    """Asks and bids as shown, best first: (star, price, quantity)."""
    rows = panel(screen, "Depth", "Trades")
    middle = next(i for i, row in enumerate(rows) if "spread" in row)
    found = [(LEVEL.match(row), i) for i, row in enumerate(rows)]
    above = [match.groups() for match, i in found if match and i < middle]
    below = [match.groups() for match, i in found if match and i > middle]
    return above[::-1], below


def check_ladder(screen, book, own):
    asks, bids = ladder(screen)
    for name, shown, levels in (("asks", asks, book["asks"]), ("bids", bids, book["bids"])):
        market = [(Decimal(price), Decimal(qty)) for _, price, qty in shown if qty != "-"]
        assert len(market) >= 3, (name, shown, screen)
        assert market == [tuple(map(Decimal, pair)) for pair in levels[:len(market)]], (name, market, levels[:len(market)])
    stars = [Decimal(price) for star, price, _ in asks + bids if star == "*"]
    assert stars == [Decimal(own)], (stars, own, screen)


def check_tape(screen, trades):
    shown = [match.groups() for row in panel(screen, "Trades", "#") if (match := TRADE.match(row))]
    assert len(shown) >= 3, screen
    for (_, side, price, qty), trade in zip(shown, trades):
        right = trade["side"], Decimal(trade["price"]), Decimal(trade["qty"])
        assert (side.strip(), Decimal(price), Decimal(qty)) == right, (shown, trades[:len(shown)])


def check_bars(tmux, daemon):
    """D lists the stored bars, by volume too; Enter shows one in the chart."""
    with contextlib.closing(sqlite3.connect(f"file:{daemon.state}/papertape.db?mode=ro", uri=True)) as db:
        def opened(order):
            return db.execute("SELECT datetime(open_ns / 1000000000, 'unixepoch'), count(*) OVER () FROM bars WHERE source = 'venue' AND "
                              "interval_ns = 1000000000 AND symbol = (SELECT id FROM symbols WHERE name = ?) ORDER BY "
                              f"{order} LIMIT 1", (SYMBOL,)).fetchone()
        newest, n = opened("open_ns DESC")
        oldest, most = opened("open_ns")[0], opened("CAST(volume AS INTEGER) DESC, open_ns DESC")[0]
    tmux.keys("D")
    dashboard.expect(tmux, f"Bars {SYMBOL} 1s (1 of {n})", f">{newest}", "D chart")
    tmux.keys("G")
    dashboard.expect(tmux, f"Bars {SYMBOL} 1s ({n} of {n})", f">{oldest}")
    while ") by volume" not in tmux.screen():
        shown = tmux.screen()
        tmux.keys("o")
        dashboard.wait("another order", lambda: tmux.screen().splitlines()[-1] != shown.splitlines()[-1], tmux.screen)
    tmux.keys("Home")
    dashboard.expect(tmux, f">{most}", f"(1 of {n}) by volume")
    tmux.keys("Enter")
    dashboard.expect(tmux, f"─{SYMBOL} 1s", "d depth")
    tmux.keys("m", "End")


def check_forming(screen, live):
    """The figures above the chart are those of the bar that is forming, its indicators too."""
    chart = panel(screen, f"{SYMBOL} 1s forming", "Depth")
    figures = " ".join(chart[:4]).split()
    for name, key in (("o", "open"), ("h", "high"), ("l", "low"), ("c", "close")):
        assert abs(float(figures[figures.index(name) + 1]) - live[key]) < 0.0051, (name, figures, live)
    for name in ("sma_20", "ema_14"):
        shown, value = figures[figures.index(name) + 1], live["indicators"][name]
        assert shown == "n/a" if value is None else abs(float(shown) - value) < 0.0051, (name, figures, live)


def answer(daemon, command, **arguments):
    return harness.control(daemon, command, dict(arguments, symbol=SYMBOL))["result"]


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(stale_s=300)))  # until it is to be stale
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        dashboard.wait("trades", lambda: len(answer(daemon, "trades")["trades"]) >= 20)
        refused = harness.control(daemon, "trades", {"symbol": SYMBOL, "trades": 65})
        assert refused["error"]["code"] == "EINVAL", refused
        tmux = dashboard.Tmux(folder.path)
        try:
            tmux.start(80, 24, {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
            tmux.type(f"clear; {harness.PAPERTAPE} --state {daemon.state} --tab 4")
            tmux.keys("Enter")
            dashboard.expect(tmux, "PAPER ", "[4]Mkt", f"─{SYMBOL} 1s")
            tmux.keys("d")
            dashboard.expect(tmux, f"Depth {SYMBOL}", f"Trades {SYMBOL}", "spread", "d chart")
            own = resting_bid(daemon, replay)
            daemon.papertape("order", "buy", SYMBOL, "0.01", "--limit", own)
            daemon.wait_status(lambda s: [order["state"] for order in s["orders"]] == ["OPEN"], "our order in the book")
            book = answer(daemon, "book", levels=100)
            first, star = (f"{Decimal(price):.2f}" for price in (book["bids"][0][0], own))
            trades = answer(daemon, "trades", trades=64)["trades"]
            verb = daemon.papertape("book", SYMBOL).split()
            assert all(word in verb for word in book["bids"][0] + book["asks"][0]), verb
            printed = daemon.papertape("--dump-screen", "120x40", "--tab", "4")
            check_ladder(printed, book, own)
            check_tape(printed, trades)
            if f"{SYMBOL} 1s forming" in printed:  # the market was stopped within a bar
                check_forming(printed, answer(daemon, "indicators", timeframe="1s")["forming"])
            dashboard.wait("this book in tmux", lambda: f" {first} " in tmux.screen(), tmux.screen)
            dashboard.wait("the star", lambda: f"\n*{star} " in tmux.screen(), tmux.screen)
            check_ladder(tmux.screen(), book, own)
            check_tape(tmux.screen(), trades)
            with open(daemon.config, "w", encoding="utf-8") as file:
                file.write(CONFIG.format(stale_s=1))
            daemon.papertape("reload")
            dashboard.expect(tmux, "- the order book is")
            assert "spread" not in tmux.screen()
            tmux.keys("d")
            dashboard.expect(tmux, f"─{SYMBOL} 1s", "d depth")
            check_bars(tmux, daemon)
            tmux.keys("q")
            dashboard.wait("the terminal as it was", lambda: tmux.terminal() == "0 1", tmux.terminal)
        finally:
            tmux.stop()
            os.kill(replay.popen.pid, signal.SIGCONT)
        assert daemon.stop() == 0
    print("the ladder and the tape are the daemon's")


if __name__ == "__main__":
    main()
