#!/usr/bin/env python3
"""The dashboard's backtest: a daemon with the bar fill model has traded synthetic bars over TLS; in a terminal the strategies
show their trades' results, `b` runs the chosen account's strategy over the stored bars, and its equity at the end is the
live one, to the cent, as is that of `papertape backtest --account`. Then one that cannot be."""

import json
import os
import re
import sys

import dashboard
import harness
import live_backtest

NAMES = ["buy-and-hold", "sma-cross", "triple-confirmation"]
SIZE = 120, 40


def numbers(tmux):
    """The two figures on the rule of the equity's panel, once both are there."""
    found = re.search(r"live ([0-9.]+) +\.\. backtest ([0-9.]+)", tmux.screen())
    return found and found.groups()


def choose(tmux, name):
    """Moves the arrows down to an account of the strategies, one row after the other. A long name is cut."""
    def chosen():
        found = re.search(r"Equity 24h ([\w-]+)", tmux.screen())
        return found and found[1]

    dashboard.wait("an account", chosen, tmux.screen)
    while chosen() != name:
        before = chosen()
        tmux.keys("j")
        dashboard.wait(f"a row below, on the way to {name}", lambda before=before: chosen() not in (None, before), tmux.screen)


def show(tmux, daemon, arguments=""):
    tmux.start(*SIZE, {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
    tmux.type(f"{harness.PAPERTAPE} --state {daemon.state} {arguments}")
    tmux.keys("Enter")
    dashboard.expect(tmux, "PAPER ", "?=help")
    tmux.keys("5")
    dashboard.expect(tmux, "Strategies (")
    while not re.search(r"^>\S+ +\S+ .*(-|%)$", tmux.screen().split("Strategies (")[1].split("Equity")[0], re.MULTILINE):
        before = tmux.screen()
        tmux.keys("Tab")
        dashboard.wait("another panel", lambda before=before: tmux.screen() != before, tmux.screen)


def main():
    with harness.Folder() as folder:
        files = [os.path.join(folder.path, name) for name in ("BTCUSDT_1m.csv", "ETHUSDT_1m.csv")]
        live_backtest.write_bars(files[0], live_backtest.SEED, 42000.0, 5)
        live_backtest.write_bars(files[1], live_backtest.SEED + 1, 2300.0, 4)
        replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--speed", "max"))
        config = live_backtest.configuration(NAMES) + "[account hand]\nstrategy = none\n"
        daemon = folder.start(harness.Daemon(folder.path, replay, config, ["--clock", "feed"]))
        live_backtest.wait_for_end(daemon)

        tmux = dashboard.Tmux(folder.path)
        try:
            show(tmux, daemon)
            for name in NAMES:
                choose(tmux, name)
                tmux.keys("b")
                dashboard.expect(tmux, "backtest done", f"{name}: ")
                dashboard.wait("both curves", lambda: numbers(tmux), tmux.screen)
                live, backtest = numbers(tmux)
                assert live == backtest, f"{name}: {live} live, {backtest} by the backtest\n{tmux.screen()}"
                printed = json.loads(daemon.papertape("backtest", "--account", name, "--json"))["accounts"][0]
                assert f"{printed['equity']:.2f}" == live, (name, printed["equity"], live)
                row = re.compile(rf"^>{name[:8]}.* {printed['trades']}\+? ", re.MULTILINE)
                dashboard.wait(f"its row with {printed['trades']} trades", lambda row=row: row.search(tmux.screen()), tmux.screen)
                print(f"{name}: equity {live} live and by the backtest, {printed['trades']} trades")
            choose(tmux, "hand")
            tmux.keys("b")
            dashboard.expect(tmux, "the account has no strategy")
            tmux.keys("q")
        finally:
            tmux.stop()
        assert daemon.stop() == 0
        assert replay.stop() == 0

        os.rename(os.path.join(daemon.state, "papertape.db"), os.path.join(daemon.state, "away.db"))
        done = daemon.papertape("backtest", "--account", "sma-cross", status=3)
        assert "papertape.db" in done, done
    return 0


if __name__ == "__main__":
    sys.exit(main())
