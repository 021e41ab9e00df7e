#!/usr/bin/env python3
"""Sweeps in the dashboard, in a terminal and without a daemon: the form's sets and time are those of `--dry-run`, the table
has the rows and the sentences of `papertape sweep`, the backtest of a row and of a cell has the figures of the sweep and of
`papertape backtest`. One that takes long is asked about; it outlives the dashboard, is found again, stopped by a key with
what it has done, continues, and is removed."""

import json
import os
import re
import sys

import dashboard
import harness
import sweep

SIZE = 120, 40
FEES = ["--fee-maker", "0", "--fee-taker", "0"]
GRID = ["--strategy", "sma-cross", "--grid", "fast=5:20:5", "--grid", "slow=25:40:5", *FEES, "--min-trades", "2", "--top", "20"]


def fill(tmux, **fields):
    """Types values into the form, in the order that its fields have."""
    screen = tmux.screen()
    assert "Start a sweep" in screen, screen
    for name, value in fields.items():
        for _ in range(40):
            if re.search(rf"^> +{name} ", tmux.screen(), re.MULTILINE):
                break
            before = tmux.screen()
            tmux.keys("Down")
            dashboard.wait("another field", lambda before=before: tmux.screen() != before, tmux.screen)
        tmux.keys("C-u")
        tmux.type(value)
        dashboard.wait(f"{name} {value}", lambda name=name, value=value: re.search(rf"^> +{name} +{re.escape(value)}", tmux.screen(), re.MULTILINE),
                       tmux.screen)


def launch(tmux, folder):
    tmux.type(f"clear; {harness.PAPERTAPE} --state {folder}/state")
    tmux.keys("Enter")
    dashboard.expect(tmux, "PAPER ", "?=help")
    tmux.keys("U")
    dashboard.expect(tmux, "Sweeps (")


def shown(value, decimals):
    return "n/a" if value is None else f"{value:.{decimals}f}"


def row(result, rank):
    best = result["top"][rank - 1]
    words = " ".join(f"{key}={value:g}" for key, value in best["params"].items())
    return [str(rank), shown(best["dsr"], 4), shown(best["return_pct"], 2), shown(best["sharpe"], 3), shown(best["max_drawdown_pct"], 2),
            str(best["trades"]), f"{best['beside_hold']}/{best['beside']}", shown(best["sharpe_fees_twice"], 3),
            shown(best["sharpe_more_slippage"], 3), *words.split()]


def whole(screen):
    return " ".join(screen.split())


def one(tmux, folder, bars):
    tmux.keys("s")
    dashboard.expect(tmux, "Start a sweep", "6:20:2", "15:60:5")
    fill(tmux, bars=bars, **{"fee-maker": "0", "fee-taker": "0", "min-trades": "2", "fast": "5:20:5", "slow": "25:40:5"})
    dashboard.expect(tmux, "16 sets; F5 says how long they take")
    tmux.keys("F5")
    dashboard.expect(tmux, "16 sets, about ")
    tmux.keys("Enter")
    dashboard.expect(tmux, "Sweep sma-cross", "done", "of 16 sets")
    result = sweep.figures(*GRID, "--bars", bars)
    for rank in range(1, len(result["top"]) + 1):
        wanted = re.compile(r"^[> ]*" + r" +".join(map(re.escape, row(result, rank))) + r"$", re.MULTILINE)
        dashboard.wait(f"row {rank}: {wanted.pattern}", lambda wanted=wanted: wanted.search(tmux.screen()), tmux.screen)
    for sentence in result["luck"]["words"]:
        assert whole(sentence) in whole(tmux.screen()), (sentence, tmux.screen())
    return result


def backtest(tmux, bars, params, sweeps):
    """The open run's figures, which are the sweep's and the verb's."""
    dashboard.expect(tmux, "this run", "in the sweep")
    sets = [word for key, value in params.items() for word in ("--set", f"{key}={value:g}")]
    printed = json.loads(harness.run([harness.PAPERTAPE, "backtest", "--strategy", "sma-cross", *sets, "--bars", bars, *FEES, "--json"], 0).stdout)
    account = printed["accounts"][0]
    for name, key, decimals in (("return %", "return_pct", 2), ("Sharpe", "sharpe", 3), ("max drawdown %", "max_drawdown_pct", 2), ("trades", "trades", 0)):
        found = re.search(rf"^ *{name} +(\S+) +(\S+)$", tmux.screen(), re.MULTILINE)
        assert found and found[1] == found[2] == shown(account[key], decimals) == shown(sweeps[key], decimals), (name, account, sweeps, tmux.screen())
    assert shown(account["equity"], 2) in tmux.screen(), tmux.screen()


def sorted_and_filtered(tmux, result):
    """By each column and inverted, as the bar below says; a filter leaves the rows that have its text."""
    tmux.keys("o")
    dashboard.expect(tmux, "sorted by ")
    tmux.keys("I")
    dashboard.expect(tmux, "sorted by ", "the other way round")
    for _ in range(20):
        if "sorted by rank" in tmux.screen() and "other way" not in tmux.screen():
            break
        before = tmux.screen()
        tmux.keys("o")
        dashboard.wait("another order", lambda before=before: tmux.screen() != before, tmux.screen)
    fast = result["top"][0]["params"]["fast"]
    tmux.keys("/")
    tmux.type(f"fast={fast:g}")
    tmux.keys("Enter")
    others = [f"fast={one['params']['fast']:g} " for one in result["top"] if one["params"]["fast"] != fast]
    dashboard.wait("the rows of the filter", lambda: not any(text in tmux.screen() for text in others) and f"fast={fast:g} " in tmux.screen(), tmux.screen)
    tmux.keys("k", "Escape")
    dashboard.wait("all rows", lambda: all(text in tmux.screen() for text in others), tmux.screen)


def rows_and_cells(tmux, bars, result):
    tmux.keys("j", "Enter")
    backtest(tmux, bars, result["top"][1]["params"], result["top"][1])
    tmux.keys("Escape")
    dashboard.expect(tmux, "beside")
    tmux.keys("m")
    dashboard.expect(tmux, "heat map", "dsr: across fast, up slow")
    tmux.keys("]")
    dashboard.expect(tmux, "dsr: across slow, up fast")
    tmux.keys("[")
    dashboard.expect(tmux, "dsr: across fast, up slow")
    tmux.keys("}")
    dashboard.expect(tmux, "dsr: across slow, up fast")
    tmux.keys("{")
    dashboard.expect(tmux, "dsr: across fast, up slow")
    tmux.keys("i")
    dashboard.expect(tmux, "sharpe: across fast, up slow")
    tmux.keys("m")
    dashboard.expect(tmux, "beside")
    sorted_and_filtered(tmux, result)
    tmux.keys("m")
    dashboard.expect(tmux, "heat map", "dsr: across fast, up slow")
    best = result["top"][0]
    dashboard.expect(tmux, " ".join(f"{key}={value:g}" for key, value in best["params"].items()))
    tmux.keys("Enter")
    backtest(tmux, bars, best["params"], best)
    tmux.keys("Escape", "Escape")
    dashboard.expect(tmux, "beside")
    tmux.keys("Escape")
    dashboard.expect(tmux, "Sweeps (1)", "16/16")


def long(tmux, folder, bars):
    """20,000 sets by the engine on one core."""
    tmux.keys("r")
    dashboard.expect(tmux, "Start a sweep")
    fill(tmux, options="--way engine --threads 1", fast="2:101:1", slow="110:309:1")
    dashboard.expect(tmux, "20000 sets; F5")
    tmux.keys("Enter")
    dashboard.expect(tmux, "20000 sets, about ", "which is more than 60 s", "y starts it")
    tmux.keys("n")
    dashboard.expect(tmux, "nothing is done")
    tmux.keys("Enter")
    dashboard.expect(tmux, "y starts it")
    tmux.keys("y")
    dashboard.expect(tmux, "running", " of 20000 sets", "best so far: fast=")
    tmux.keys("Escape", "Escape", "q")
    dashboard.wait("the end of the dashboard", lambda: tmux.terminal() == "0 1", tmux.terminal)
    launch(tmux, folder)
    dashboard.expect(tmux, "Sweeps (2)", "running")
    tmux.keys("Enter")
    dashboard.expect(tmux, " of 20000 sets", "left")
    tmux.keys("x")
    dashboard.expect(tmux, "stopped", "No verdict: stopped: ", " of 20000 sets are done")
    done = int(re.search(r"stopped: (\d+) of 20000", tmux.screen())[1])
    tmux.keys("e")
    dashboard.expect(tmux, "running", "best so far: fast=")
    tmux.keys("x")
    dashboard.expect(tmux, "stopped", "No verdict: stopped: ")
    again = int(re.search(r"stopped: (\d+) of 20000", tmux.screen())[1])
    assert again >= done > 0, (again, done)
    tmux.keys("d")
    dashboard.expect(tmux, "y removes it")
    tmux.keys("y")
    dashboard.expect(tmux, "Sweeps (1)", "removed")
    return done


def refused(tmux):
    """Bars that are not there: the reason is the verb's, and nothing was started."""
    tmux.keys("s")
    dashboard.expect(tmux, "Start a sweep")
    fill(tmux, bars="/no/such.csv")
    tmux.keys("Enter")
    dashboard.expect(tmux, "cannot open: /no/such.csv: a readable bars file")
    tmux.keys("Escape")
    dashboard.expect(tmux, "Sweeps (1)")


def main():
    with harness.Folder() as folder:
        bars = sweep.made(os.path.join(folder.path, "BTCUSDT_4h.csv"), 7, 20000, drift=0.1)
        os.mkdir(os.path.join(folder.path, "state"))
        cache = os.path.join(folder.path, "cache")
        tmux = dashboard.Tmux(folder.path)
        try:
            tmux.start(*SIZE, {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "XDG_CACHE_HOME": cache})
            launch(tmux, folder.path)
            result = one(tmux, folder.path, bars)
            rows_and_cells(tmux, bars, result)
            done = long(tmux, folder.path, bars)
            refused(tmux)
            tmux.keys("Escape", "q")
            dashboard.wait("the end of the dashboard", lambda: tmux.terminal() == "0 1", tmux.terminal)
        finally:
            tmux.stop()
        assert len(os.listdir(os.path.join(cache, "papertape/dashboard-sweeps"))) == 1
    print(f"16 sets as the verb has them; stopped with {done} of 20000")
    return 0


if __name__ == "__main__":
    sys.exit(main())
