#!/usr/bin/env python3
"""The list of 100,000 orders in tmux, with the fake daemon: G shows the first, a filter's rows are those that have it, however
quickly it was typed and left again.

usage: dashboard_orders.py PAPERTAPE SOURCE_ROOT
"""

import os
import re
import shutil
import sys
import tempfile

import dashboard
import fake_daemon

ORDERS = 100_000
ROW = re.compile(r"^[> ] *(\d+) BUY .* batch (\d+) ", re.M)
TURNS = 5


def rows(tmux):
    return [(int(number), int(batch)) for number, batch in ROW.findall(tmux.screen())]


def top(tmux):
    """The open order, then the newest of the others."""
    dashboard.wait("the whole list", lambda: f"(1 of {ORDERS})" in tmux.screen() and rows(tmux)[:1] == [(ORDERS, 0)], tmux.screen)


def keys(tmux):
    tmux.keys("6")
    top(tmux)
    tmux.keys("G")
    dashboard.wait("order 1", lambda: f"({ORDERS} of {ORDERS})" in tmux.screen() and rows(tmux)[-1:] == [(1, 1)], tmux.screen)
    assert re.search(r"^> +1 BUY", tmux.screen(), re.M), tmux.screen()
    tmux.keys("g", "g")
    top(tmux)
    tmux.keys("/")
    tmux.type("batch 77")
    dashboard.expect(tmux, f"(1 of {ORDERS // 500} filtered, {ORDERS} in all)  /batch 77")
    right = [(number, 77) for number in range(ORDERS - 423, 0, -500)]
    found = rows(tmux)
    assert len(found) > 5 and found == right[:len(found)], found
    tmux.keys("Enter", "G")
    dashboard.wait("the filter's last", lambda: rows(tmux)[-1:] == right[-1:], tmux.screen)
    tmux.keys("Escape")
    top(tmux)
    for _ in range(TURNS):  # before the rows of each letter have come
        tmux.keys("/")
        tmux.type("batch 7")
        dashboard.expect(tmux, "filtered, ")
        tmux.keys("7", "Escape")
        top(tmux)


def main():
    with tempfile.TemporaryDirectory(prefix="pt-") as folder:
        session = dashboard.Session(os.path.abspath(sys.argv[1]), folder)
        database = os.path.join(session.state, "papertape.db")
        fake_daemon.make_database(sys.argv[2], database)
        fake_daemon.add_orders(database, ORDERS)
        daemon = fake_daemon.Daemon(session.state)
        daemon.start()
        try:
            session.tmux.start(80, 24, {"LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": folder})
            session.launch()
            keys(session.tmux)
        finally:
            session.tmux.stop()
            daemon.stop()


if __name__ == "__main__":
    if shutil.which("tmux") is None:
        sys.exit(77)
    main()
