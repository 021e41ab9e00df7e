#!/usr/bin/env python3
"""Trainings and policies from the dashboard, in tmux as a user does it: started by the form, stopped, resumed, restarted
with another learning rate, promoted and retired; refused, late, and never answered.

usage: dashboard_train.py PAPERTAPE SOURCE_ROOT [PAPERTAPED REPLAY TRAINER]

Standard library and tmux only; exit status 77 without tmux. The daemon is fake_daemon.py; or the real one, which has the
real co-process train on the synthetic market."""

import json
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../fixtures")]
import fake_trainings  # noqa: E402
from dashboard import confirm, expect, expect_gone, run_tests, run_verb, runs, wait  # noqa: E402

CONFIG = """\
# Trains for as long as the test lasts
[training]
name = training
total_steps = 9000000000

[network]
policy_layers = 64,64

[ppo]
# The optimiser's
learning_rate = 0.0003

[data]
state = /var/lib/papertape
symbols = BTCUSDT,ETHUSDT
interval = 1m
"""


def running(daemon):
    """One training in the middle of its work."""
    with daemon.lock:
        daemon.learning.trainings[:] = [fake_trainings.training(
            "ppo-btc", state="update", steps=1200000, checkpoint_steps=1048576, policy="/p/ppo-btc.safetensors",
            steps_per_second=845000.5, **{"return": 1.31})]


def lines_with(tmux, text):
    return [line for line in tmux.screen().split("\n") if text in line]


def expect_listed(tmux, *texts):
    """In one row of a list: a command's outcome is elsewhere on the screen before the list shows it."""
    wait(f"a row with {texts}", lambda: any(all(text in line for text in texts) for line in tmux.screen().split("\n")[:-2]),
         tmux.screen)


def replace_value(tmux, value):
    """The chosen row's, from what stands there."""
    tmux.keys("Enter")
    expect(tmux, "Enter takes it")
    tmux.keys("End", "C-u")
    tmux.type(value)
    tmux.keys("Enter")
    expect(tmux, value, "Esc back")


def choose(tmux, text):
    """Moves down to the row of the form that has it."""
    def marked():
        return next((line for line in tmux.screen().split("\n") if line.startswith(">")), "")

    while text not in marked():
        row = marked()
        tmux.keys("Down")
        wait(f"a row below, on the way to {text}", lambda: marked() not in ("", row), tmux.screen)


def test_start(session):
    """A name, the default configuration, an error at its line, a missing key; then it is there."""
    tmux, daemon = session.tmux, session.daemon
    session.launch("--tab 2 --interval 0.25")
    expect(tmux, "Trainings (0)", "s start", "feed ok")  # the daemon has answered: before, it knows of none
    tmux.keys("x")
    expect(tmux, "choose one first")
    tmux.keys("s")
    expect(tmux, "Name, then Enter")
    tmux.type("ppo btc!")  # a blank and a sign are of no name
    expect(tmux, "ppobtc!", "a name is 1 to 31 letters")
    tmux.keys("Enter")
    expect(tmux, "Name, then Enter")
    tmux.keys("C-u")
    tmux.type("ppo-new")
    expect(tmux, "Its configuration comes next")
    daemon.learning.warning = "the device has no memory for 8 copies (out of memory): 4 are tried"
    tmux.keys("Enter")
    expect(tmux, "Start ppo-new", "not checked", "learning_rate", "policy_layers", "[data]")
    assert daemon.seen("train_config") == [{}]
    expect(tmux, "warning: the device has no memory for 8 copies")

    choose(tmux, "learning_rate")
    expect(tmux, "default 0.0003")
    replace_value(tmux, "bad")
    tmux.keys("c")
    expect(tmux, "1 error", "! a number is needed", "check: 1 error")
    line = next(i for i, text in enumerate(daemon.seen("train_check")[-1]["config"].split("\n"), 1) if text.endswith("bad"))
    assert any(row.split()[1] == str(line) or f" {line} " in row for row in lines_with(tmux, "learning_rate ")), tmux.screen()
    tmux.keys("s")
    expect(tmux, "the check found 1 error")
    assert daemon.seen("train_start") == []
    tmux.keys("F3")
    expect(tmux, "Whole texts", "Any key closes this")
    tmux.keys("Escape")
    expect_gone(tmux, "Whole texts")
    tmux.keys("w")
    expect(tmux, "Whole texts", "Any key closes this")
    tmux.keys("Escape")
    expect_gone(tmux, "Whole texts")
    tmux.keys("u")
    expect_gone(tmux, "  bad")
    expect(tmux, "1 error before")
    tmux.keys("F5")
    expect(tmux, "checked ok", "check done")

    tmux.keys("a")
    expect(tmux, "Add a key", "network.activation")
    tmux.type("gamma")
    expect(tmux, "ppo.gamma")
    tmux.keys("Enter")
    expect(tmux, "Enter takes it")
    tmux.keys("Enter")
    expect(tmux, "1 changed", "was ok", "gamma")
    tmux.keys("Escape")
    expect(tmux, "leave the form?", "1 changed value")
    tmux.keys("n")
    expect(tmux, "leave: nothing is done")
    tmux.resize(40, 10)
    expect(tmux, "Start ppo-new", "gamma")
    tmux.resize(80, 24)
    expect(tmux, "[data]")
    tmux.keys("F12")
    expect(tmux, "start ppo-new?", "1 value other than the default", "y does it")
    tmux.keys("Escape")
    expect(tmux, "start: nothing is done")
    confirm(tmux, "s", (), "start done", "ppo-new: queued, warning: the device", "Trainings (1)")
    daemon.learning.warning = None
    sent = daemon.seen("train_start")
    assert len(sent) == 1 and sent[0]["name"] == "ppo-new", sent
    assert sent[0]["config"] == CONFIG.replace("0.0003\n", "0.0003\ngamma = 0.99\n"), sent[0]["config"]
    tmux.keys("s")
    expect(tmux, "Name, then Enter")
    tmux.type("ppo-new")
    expect(tmux, "ppo-new runs already")
    tmux.keys("Enter", "Escape")
    expect(tmux, "start: nothing is done")
    assert len(daemon.seen("train_start")) == 1


def test_stop_and_resume(session):
    tmux, daemon = session.tmux, session.daemon
    running(daemon)
    tmux.keys("Escape")  # the last command's outcome makes room for the keys
    expect(tmux, "ppo-btc", "x stop")
    tmux.keys("e")
    expect(tmux, "ppo-btc runs: x stops it, r restarts it")
    for wrong in ("n", "Enter", "Escape"):
        tmux.keys("x")
        expect(tmux, "stop ppo-btc?", "a checkpoint at step 1.2M", "y does it")
        tmux.keys(wrong)
        expect(tmux, "stop: nothing is done")
    assert daemon.seen("train_stop") == []
    confirm(tmux, "x", (), "stop done", "ppo-btc: stopped")
    assert daemon.seen("train_stop") == [{"name": "ppo-btc"}]
    expect_listed(tmux, ">ppo-btc", "stopped")
    tmux.keys("x")
    expect(tmux, "ppo-btc has ended: e resumes it")
    confirm(tmux, "e", ("resume ppo-btc?", "continues from its checkpoint of step 1.0M"), "resume done", "ppo-btc: queued")
    assert daemon.seen("train_resume") == [{"name": "ppo-btc"}]


def test_restart(session):
    """With another learning rate; then unchanged, which sends no configuration."""
    tmux, daemon = session.tmux, session.daemon
    running(daemon)
    with daemon.lock:
        daemon.learning.configs["ppo-btc"] = CONFIG.replace("name = training", "name = ppo-btc")
    expect(tmux, "update")
    tmux.keys("r")
    expect(tmux, "Restart ppo-btc", "learning_rate")
    assert daemon.seen("train_config")[-1] == {"name": "ppo-btc"}
    expect(tmux, "fixed by the checkpoint")  # the first row's: its name
    choose(tmux, "learning_rate")
    replace_value(tmux, "0.0001")
    confirm(tmux, "s", ("restart ppo-btc?", "continues from there, with 1 changed value"), "restart done", "ppo-btc: queued")
    first = daemon.seen("train_restart")
    assert len(first) == 1 and "learning_rate = 0.0001\n" in first[0]["config"], first
    assert first[0]["config"].replace("0.0001", "0.0003") == CONFIG.replace("name = training", "name = ppo-btc")
    tmux.keys("r")
    expect(tmux, "Restart ppo-btc", "0.0001")
    confirm(tmux, "s", ("unchanged",), "restart done")
    assert daemon.seen("train_restart")[1:] == [{"name": "ppo-btc"}]


def test_refused(session):
    """The co-process' own errors, on starting, come to their lines; a file that it cannot read is corrected in the form."""
    tmux, daemon = session.tmux, session.daemon
    with daemon.lock:
        daemon.learning.configs["ppo-btc"] = "[ppo]\nlearning_rate = bad\nno key: bad\n"
    tmux.keys("r")
    expect(tmux, "Restart ppo-btc", "no key")
    tmux.keys("a")
    expect(tmux, "Add a key")
    tmux.type("serve.priority")
    tmux.keys("Enter", "Enter", "s")
    expect(tmux, "restart ppo-btc?")
    tmux.keys("y")
    expect(tmux, "restart refused", "EINVAL: the configuration has 2 errors", "1 changed  2 errors", "! a number is needed")
    tmux.keys("Home", "n")
    expect(tmux, ">!   2")
    tmux.keys("n")
    expect(tmux, ">!   3")
    tmux.keys("d")
    expect(tmux, "left out")
    tmux.keys("Up")
    replace_value(tmux, "1e-4")
    tmux.keys("c")
    expect(tmux, "checked ok")
    tmux.keys("Escape")
    expect(tmux, "leave the form?", "3 changed values of ppo-btc would be lost")
    tmux.keys("y")
    expect(tmux, "Trainings (1)")
    with daemon.lock:
        daemon.learning.trainings.clear()
    expect(tmux, "Trainings (0)")
    tmux.keys("r")
    expect(tmux, "choose one first")


def test_policies(session):
    tmux, daemon = session.tmux, session.daemon
    running(daemon)
    with daemon.lock:
        daemon.learning.policies[:] = [fake_trainings.policy("ppo-eth")]
    tmux.keys("Escape")
    expect(tmux, "Trainings (1)", "Policies (1)", "P promote")
    tmux.keys("R")
    expect(tmux, "no account trades by ppo-btc")
    confirm(tmux, "P", ("promote ppo-btc?", "a challenger", "its own paper account", "ppo-btc.", "It has no verdict: "),
            "promote done", "ppo-btc: challenger on ppo-btc", "Policies (2)")
    tmux.keys("Tab")
    expect(tmux, ">ppo-eth")
    confirm(tmux, "P", ("promote ppo-eth?", "It becomes the champion", "It has no verdict: "), "promote done", "ppo-eth: champion on ppo-eth")
    with daemon.lock:
        next(p for p in daemon.learning.policies if p["policy"] == "ppo-eth").update(role="challenger", verdict="only_holds")
    expect(tmux, "ppo-eth: challenger", "verdict only_holds")
    confirm(tmux, "P", ("promote ppo-eth?", "Its verdict: only_holds."), "promote done")
    tmux.keys("R")
    expect(tmux, "retire ppo-eth?", "taken off its accounts")
    tmux.keys("n")
    expect(tmux, "retire: nothing is done")
    tmux.keys("R", "y")
    expect(tmux, "retire done")
    assert daemon.seen("policy_promote") == [{"name": "ppo-btc", "to": "challenger", "yes": True}, {"name": "ppo-eth", "to": "champion", "yes": True},
                                             {"name": "ppo-eth", "to": "champion", "yes": True}]
    assert daemon.seen("policy_retire") == [{"name": "ppo-eth"}]
    expect_listed(tmux, ">ppo-eth", "retired")
    tmux.keys("R")
    expect(tmux, "ppo-eth is retired already")


def test_log(session):
    """The page of a training asks for its worker's log again and again while it is open, and no longer."""
    tmux, daemon = session.tmux, session.daemon
    lines = ["loading bars", "started"]
    daemon.learning.train_log = lambda _: fake_trainings.ok(lines=lines)
    tmux.keys("Tab")  # from the policies
    expect(tmux, ">ppo-btc")
    tmux.resize(120, 40)
    tmux.keys("Enter")
    expect(tmux, "Worker's log", "started")
    with daemon.lock:
        lines.append("checkpoint at \x1b[31mstep 7")
    expect(tmux, "checkpoint at ?[31mstep 7")
    tmux.keys("Escape")
    expect(tmux, "Policies (2)")
    tmux.resize(80, 24)


def test_baseline(session):
    """P pins the baseline of two marked trainings and promotes nothing; with one mark it asks whether to promote."""
    tmux, daemon = session.tmux, session.daemon
    with daemon.lock:
        daemon.learning.trainings[:] = [fake_trainings.training(name, state="done", policy=f"/p/{name}.safetensors")
                                        for name in ("lower", "upper")]
    promoted = daemon.seen("policy_promote")
    tmux.keys("Home")
    expect(tmux, "Trainings (1 of 2)", ">upper")
    tmux.keys("Space", "Down", "Space")
    expect(tmux, "P baseline", "=upper", "*lower")
    tmux.keys("P")
    expect(tmux, "baseline: lower; P promotes where fewer than two are marked", "*upper", "=lower")
    tmux.keys("Space")
    expect(tmux, ">lower", "=upper", "P promote")
    tmux.keys("P")
    expect(tmux, "promote lower?")
    tmux.keys("n")
    expect(tmux, "nothing is done")
    tmux.keys("Up", "Space")
    expect(tmux, ">upper")
    assert daemon.seen("policy_promote") == promoted
    running(daemon)


def test_paste(session):
    """What is pasted is text in a line, and nothing anywhere else; the terminal gets the mode at the start and at the end."""
    tmux, daemon = session.tmux, session.daemon
    running(daemon)
    before = len(daemon.commands)

    def paste(text):
        tmux.run("set-buffer", "--", text)
        tmux.run("paste-buffer", "-p")
    expect(tmux, "Trainings (1)")
    paste("xyPyqp\ny")
    tmux.keys("s")  # what came before it was taken in before
    expect(tmux, "Name, then Enter")
    paste("pasted\n")
    expect(tmux, "pasted")
    tmux.keys("Enter")
    expect(tmux, "Start pasted", "[ppo]")
    paste("dddq\n")
    tmux.keys("a")
    expect(tmux, "Add a key")
    paste("gamma")
    expect(tmux, "ppo.gamma")
    tmux.keys("Enter")
    expect(tmux, "Enter takes it")
    tmux.keys("C-u")
    paste("0.5\n")
    tmux.keys("Enter")
    expect(tmux, "1 changed", "gamma", "0.5", "Esc back")
    tmux.keys("Enter")
    expect(tmux, "Enter takes it")
    paste(9000 * "7")
    expect(tmux, "too long", "8447 bytes")
    tmux.keys("Escape", "Escape", "y")
    expect_gone(tmux, "Start pasted")
    with daemon.lock:
        sent = [cmd for cmd, _ in daemon.commands[before:]]
    assert sent == ["train_config", "train_check"], sent  # whether its device has room for it


def test_late(session):
    """A command that is never answered times out in sight; so does the form's question; a daemon that goes is named."""
    tmux, daemon = session.tmux, session.daemon
    running(daemon)
    with daemon.lock:
        daemon.deaf.update(("train_stop", "train_resume", "train_config", "train_check"))
    expect(tmux, "update")
    confirm(tmux, "x", (), "stop pending")
    expect(tmux, "stop unanswered", "timed out")
    expect_listed(tmux, ">ppo-btc", "stopped")  # it was done nevertheless
    confirm(tmux, "e", (), "resume pending")
    tmux.keys("r")  # while that is on its way
    expect(tmux, "Restart ppo-btc", "the daemon is asked")
    daemon.stop()
    expect(tmux, "the daemon hung up")
    expect(tmux, "NO DAEMON", "Trainings (0)")
    daemon.deaf.discard("train_config")
    daemon.start()
    expect(tmux, "feed ok", "Trainings (1)")
    tmux.keys("r")
    expect(tmux, "learning_rate")
    tmux.keys("c")
    expect(tmux, "check pending", "checking")
    daemon.stop()
    expect(tmux, "the daemon hung up")
    tmux.keys("s")  # asks for a y, or has noticed already
    wait("an answer", lambda: any(text in tmux.screen() for text in ("y does it", "no daemon is listening")), tmux.screen)
    if "y does it" in tmux.screen():
        tmux.keys("y")
    expect(tmux, "no daemon is listening", "Restart ppo-btc")
    daemon.deaf.clear()
    daemon.start()
    tmux.keys("q")
    expect(tmux, "Trainings (1)", "feed ok")
    tmux.keys("q")
    session.ended()


def test_readonly(session):
    tmux, daemon = session.tmux, session.daemon
    before = len(daemon.commands)
    session.launch("--readonly --tab 2 --interval 0.25")
    expect(tmux, "Trainings (1)", "read-only")
    for key in "sxrePR":
        tmux.keys(key)
        expect(tmux, "started with --readonly")
        tmux.keys("Escape")
        expect_gone(tmux, "started with --readonly")
    assert not any(key in tmux.screen() for key in ("s start", "x stop", "P promote")), tmux.screen()
    assert all(cmd == "train_log" for cmd, _ in daemon.commands[before:]), daemon.commands[before:]
    tmux.keys("q")
    session.ended()


def test_live(session):
    """With the real daemon, co-process and worker: started, seen to learn, stopped with a checkpoint, restarted with
    another learning rate from there, its policy promoted; wrong once, which the co-process itself says at its line."""
    def listed():
        return json.loads(run_verb(session, "train", "list", "--json")[0])["trainings"][0]

    tmux = session.tmux
    session.launch("--tab 2 --interval 0.25")
    def bars():
        symbols = json.loads(run_verb(session, "status", "--json")[0])["symbols"]  # null until the market is known
        return symbols and all(s["bars"] > 200 for s in symbols)

    wait("bars to train on", bars, session.daemon.log)
    expect(tmux, "Trainings (0)", "s start")
    tmux.keys("s")
    expect(tmux, "Name, then Enter")
    tmux.type("first")
    tmux.keys("Enter")
    expect(tmux, "Start first", "learning_rate", "64,64")
    choose(tmux, "total_steps")
    replace_value(tmux, "1000000000000000")
    choose(tmux, "learning_rate")
    replace_value(tmux, "fast")
    tmux.keys("c")
    expect(tmux, "1 error", "! ", "check: 1 error")
    assert any(line.startswith(">!") and "learning_rate" in line for line in tmux.screen().split("\n")), tmux.screen()
    tmux.keys("u")
    choose(tmux, "symbols")
    replace_value(tmux, "NOPEUSDT")
    tmux.keys("c")
    expect(tmux, "1 error", "no such symbol is stored: BTCUSDT, ETHUSDT are right")
    tmux.keys("u", "c")
    expect(tmux, "checked ok")
    confirm(tmux, "s", ("start first?",), "start done", "Trainings (1)")
    wait("steps", lambda: listed()["steps"] > 0, lambda: f"{listed()}{session.daemon.log()}")
    expect_listed(tmux, ">first", "until stopped")
    tmux.keys("Enter")
    expect(tmux, "Training first", "Learning curves", "Timeline", "Worker's log", "started, process")
    tmux.keys("Escape")
    expect(tmux, "Trainings (1)")
    confirm(tmux, "x", ("stop first?", "It writes a checkpoint"), "stop done")
    wait("its end", lambda: listed()["state"] == "stopped", listed)
    stopped = listed()
    assert stopped["checkpoint_steps"] == stopped["steps"] > 0, stopped

    tmux.keys("Escape")
    expect(tmux, "e resume")  # the list knows it
    tmux.keys("r")
    expect(tmux, "Restart first", "learning_rate")
    choose(tmux, "learning_rate")
    replace_value(tmux, "0.0001")
    confirm(tmux, "s", ("restart first?", "from its checkpoint", ", with 1"), "restart done")
    wait("it continues from there", lambda: listed()["steps"] > stopped["steps"], lambda: f"{listed()}{session.daemon.log()}")
    with open(os.path.join(session.state, "trainings", "first", "training.ini"), encoding="utf-8") as file:
        assert "learning_rate = 0.0001\n" in file.read()
    confirm(tmux, "P", ("promote first?", "a challenger"), "promote done", "challenger on first")
    expect_listed(tmux, " first", "challenger")
    confirm(tmux, "x", ("stop first?",), "stop done")
    wait("its end", lambda: listed()["state"] == "stopped", listed)
    assert listed()["steps"] > stopped["steps"]
    tmux.keys("q")
    session.ended()


def end_trainer(session):
    """The co-process would continue for a minute without its daemon."""
    try:
        with open(os.path.join(session.state, "trainings", "serve.lock"), encoding="ascii") as lock:
            pid = int(lock.read())
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as line:
            ours = session.state in line.read().split("\0")
    except (OSError, ValueError):
        return
    if ours:
        os.kill(pid, signal.SIGTERM)
        wait("the end of the co-process", lambda: not runs(pid))


TESTS = (test_start, test_stop_and_resume, test_restart, test_refused, test_policies, test_log, test_baseline, test_paste, test_late, test_readonly)


def fake_ready(daemon):
    daemon.learning.configs[None] = CONFIG


if __name__ == "__main__":
    sys.exit(run_tests(TESTS, (test_live,), fake_ready, end_trainer))
