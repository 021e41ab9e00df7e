#!/usr/bin/env python3
"""The loop, closed, in tmux as a user does it: a training is started, watched, its worker killed, seen to fail and to continue; stopped;
restarted from its checkpoint with another learning rate; its policy promoted, twice; the daemon trades it on the replay, and
positions and equity change. Bars of BTC and ETH of 2023 where the sample data is, made ones otherwise."""

import json
import os
import shutil
import signal
import sys

import harness
import policy_three_ways as recorded
from dashboard import Session, confirm, expect, wait
from dashboard_train import choose, end_trainer, expect_listed, replace_value

ROWS = 6000
CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT
interval = {interval}
history = 1000
[engine]
fill_model = bar
"""


def bars(folder):
    """Two files, their interval, and when play begins: there is history by then."""
    place = os.path.join(folder, "bars")
    os.mkdir(place)
    names = [f"{symbol}USDT_5m_2023.csv.gz" for symbol in ("BTC", "ETH")]
    sources = [os.path.join(harness.SHARED, "data/bars", name) for name in names]
    if not all(os.path.exists(path) for path in sources):
        recorded.ROWS = ROWS
        _, files, _ = recorded.made(folder, "made", False)
        return files[:2], "1m", recorded.START_S + 60 * (recorded.ROWS // 2), 120
    files = []
    for path in sources:
        files.append(os.path.join(place, os.path.basename(path).replace("_2023.csv.gz", ".csv")))
        with open(files[-1], "w") as cut:
            cut.writelines(line for i, line in enumerate(harness.lines(path)) if i <= ROWS)
    with open(files[0]) as file:
        first = int(file.readlines()[1].split(",", 1)[0]) // 1000
    return files, "5m", first + 300 * (ROWS // 2), 600


def trade(session, daemon):
    """Promoted from the list: first on an account of its own, then as champion."""
    tmux = session.tmux
    for step in ("challenger", "champion"):
        confirm(tmux, "P", ("promote first?",), "promote done", f"{step} on first" if step == "challenger" else step)
        expect_listed(tmux, " first", step)

    def trades(status):
        held = {position["account"] for position in status["positions"] or []}
        moved = {a["account"] for a in status["accounts"] if a["equity"] not in (None, a["deposits"])}
        return {"first", "champion"} <= held & moved

    status = daemon.wait_status(trades, "positions of both accounts, and equity that moved")
    tmux.keys("5")
    expect(tmux, "Positions (", "first", "champion")
    before = {a["account"]: a["equity"] for a in status["accounts"]}
    status = daemon.wait_status(
        lambda status: all(a["equity"] != before[a["account"]] for a in status["accounts"] if a["account"] in ("first", "champion")),
        "equity that keeps moving")
    for account in status["accounts"]:
        print(f"  {account['account']}: equity {account['equity']:.2f} of {account['deposits']:.2f}")
    tmux.keys("2")
    expect_listed(tmux, " first", "champion")


def loop(session, daemon):
    def listed():
        return json.loads(daemon.papertape("train", "list", "--json"))["trainings"][0]

    def steps_beyond(steps):
        wait(f"steps beyond {steps}", lambda: listed()["steps"] > steps, lambda: f"{listed()}{daemon.log_text()[-2000:]}")

    tmux = session.tmux
    session.launch("--tab 2 --interval 0.25")
    expect(tmux, "Trainings (0)")
    tmux.keys("s")
    expect(tmux, "Name, then Enter")
    tmux.type("first")
    tmux.keys("Enter")
    expect(tmux, "Start first", "learning_rate")
    confirm(tmux, "s", ("start first?",), "start done", "Trainings (1)")
    steps_beyond(0)
    wait("a checkpoint", lambda: listed()["checkpoint_steps"], listed)
    tmux.keys("Escape")

    killed = listed()
    os.kill(killed["pid"], signal.SIGKILL)
    # For a second it says when it begins again; the alert of it stays.
    wait("its end, or what follows", lambda: "again in" in tmux.screen() or listed()["attempts"] == 2, tmux.screen)
    tmux.keys("7")
    expect(tmux, "first: ")
    tmux.keys("2")
    wait("another worker", lambda: listed()["pid"] not in (None, killed["pid"]), listed)
    steps_beyond(listed()["steps"])  # the killed one may have made more than it had said
    again = listed()
    assert again["attempts"] == 2 and again["checkpoint_steps"] >= killed["checkpoint_steps"], again
    print(f"  killed at {killed['steps']} steps, continued from {killed['checkpoint_steps']} or later")

    confirm(tmux, "x", ("stop first?",), "stop done")
    wait("its end", lambda: listed()["state"] == "stopped", listed)
    stopped = listed()
    assert stopped["checkpoint_steps"] == stopped["steps"], stopped
    expect_listed(tmux, ">first", "stopped")
    expect(tmux, "e resume")
    tmux.keys("r")
    expect(tmux, "Restart first", "learning_rate")
    choose(tmux, "learning_rate")
    replace_value(tmux, "0.0001")
    confirm(tmux, "s", ("restart first?", "from its checkpoint"), "restart done")
    steps_beyond(stopped["steps"])
    points = json.loads(daemon.papertape("train", "list", "--json"))["trainings"][0]
    print(f"  stopped at {stopped['steps']} steps, restarted with learning_rate 0.0001, at {points['steps']}")
    trade(session, daemon)
    confirm(tmux, "x", ("stop first?",), "stop done")
    wait("its end", lambda: listed()["state"] == "stopped", listed)
    tmux.keys("q")
    session.ended()


def main():
    if not shutil.which("tmux"):
        harness.skip("tmux is not installed")
    os.environ["LANG"] = os.environ["LC_ALL"] = "C.UTF-8"
    os.environ.pop("RUNTIME_DIRECTORY", None)
    with harness.Folder() as folder:
        files, interval, begin, speed = bars(folder.path)
        session = Session(harness.PAPERTAPE, folder.path)
        replay = folder.start(harness.Replay(folder.path, "--bars", *files, "--from", str(begin), "--speed", str(speed)))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(interval=interval), ["--clock", "feed"]))
        try:
            daemon.wait_status(lambda status: status["symbols"] and all(s["bars"] > 200 for s in status["symbols"]), "bars to train on")
            session.tmux.start(100, 30, {"LC_ALL": "C.UTF-8", "TERM": "screen-256color"})
            loop(session, daemon)
            print("  " + daemon.papertape("ledger", "verify").split("\n")[0])
        finally:
            session.tmux.stop()
            status = daemon.stop()
            end_trainer(session)
        assert status == 0 and replay.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
