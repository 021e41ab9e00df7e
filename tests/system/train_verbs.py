#!/usr/bin/env python3
"""What `papertape train` and `papertape policy` send over the control socket, what they print and how they end.

usage: train_verbs.py PAPERTAPE

Standard library only; the daemon is fake_daemon.py."""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../fixtures")]
import fake_daemon  # noqa: E402
import fake_trainings  # noqa: E402

GOOD = "[ppo]\nlearning_rate = 0.0003\nname = \"tab\there\"\n"
WRONG_CONFIG = "[ppo]\nlearning_rate = bad\nepochs = 4\nclip_range = bad\n"

# The command line; the command and the arguments that the daemon is to see. {d}: the test's folder.
SENT = [
    ("train start ppo-eth", "train_start", {"name": "ppo-eth"}),
    ("train start ppo_2.b --config {d}/good.ini --priority -7", "train_start",
     {"name": "ppo_2.b", "config": GOOD, "priority": -7}),
    ("train start ppo-eth --overwrite --json", "train_start", {"name": "ppo-eth", "overwrite": True}),
    ("train stop ppo-eth", "train_stop", {"name": "ppo-eth"}),
    ("train resume ppo-eth", "train_resume", {"name": "ppo-eth"}),
    ("train restart ppo-eth", "train_restart", {"name": "ppo-eth"}),
    ("train restart ppo-eth --config {d}/good.ini", "train_restart", {"name": "ppo-eth", "config": GOOD}),
    ("train check {d}/good.ini", "train_check", {"config": GOOD}),
    ("train log ppo-eth", "train_log", {"name": "ppo-eth"}),
    ("train log ppo-eth --lines 3", "train_log", {"name": "ppo-eth", "lines": 3}),
    ("train list", "train_list", {}),
    ("policy list", "policy_list", {}),
    ("policy promote ppo-eth", "policy_promote", {"name": "ppo-eth"}),
    ("policy promote ppo-eth --policy {d}/../{b}/p.safetensors", "policy_promote",
     {"name": "ppo-eth", "path": "{r}/p.safetensors"}),
    ("policy promote ppo-eth --to champion", "policy_promote", {"name": "ppo-eth", "to": "champion"}),
    ("policy promote ppo-eth --yes", "policy_promote", {"name": "ppo-eth", "yes": True}),
    ("policy show ppo-eth", "policy_show", {"name": "ppo-eth"}),
    ("policy retire ppo-eth", "policy_retire", {"name": "ppo-eth"}),
]

# Lines that are wrong in themselves: the status, one line that has these words, and nothing is sent.
WRONG = [
    ("train strat x", 2, "did you mean start?"),
    ("train list x", 2, "no argument is expected"),
    ("train start", 2, "start TRAINING is needed"),
    ("train start a b", 2, "b: one argument too many"),
    ("train stop a --config x", 2, "--config: not an option of train stop"),
    ("train check x --csv", 2, "--csv: not an option of train check"),
    ("train start a --lines 5", 2, "--lines: not an option of train start"),
    ("train start a --priority high", 2, "--priority"),
    ("train start a --priority 101", 2, "--priority"),
    ("train log a --lines 0", 2, "--lines"),
    ("train start a --confg x", 2, "--confg: unknown option"),
    ("train start a --config {d}/none.ini", 1, "none.ini: No such file"),
    ("train start a --config {d}", 1, "Is a directory"),
    ("train start a --config {d}/empty.ini", 1, "empty.ini: is empty: an INI file is needed"),
    ("train check {d}/empty.ini", 1, "empty.ini: is empty: an INI file is needed"),
    ("train start a --config {d}/nul.ini", 1, "nul.ini: holds a NUL byte"),
    ("train start a --config {d}/latin.ini", 1, "latin.ini: is not UTF-8"),
    ("train start a --config {d}/large.ini", 1, "a configuration has at most 65024"),
    ("policy promte x", 2, "did you mean promote?"),
    ("policy show", 2, "show POLICY is needed"),
    ("policy list x", 2, "no argument is expected"),
    ("policy show a --policy f", 2, "--policy: not an option of policy show"),
    ("policy retire a --to champion", 2, "--to: not an option of policy retire"),
    ("policy promote a --to king", 2, '--to: "king": one of challenger|champion is needed'),
    ("policy retire a --yes", 2, "--yes: not an option of policy retire"),
    ("policy show a --csv", 2, "--csv: not an option of policy show"),
    ("policy promote a --policy {d}/none.safetensors", 1, "No such file"),
]

# Lines, in this order, with what they print and their status.
ANSWERED = [
    ("train start ppo-btc", "", "started ppo-btc (queued)\n", 0),
    ("train start ppo-btc", "papertape: train: EEXIST: ppo-btc: there is such a training, queued: resume, restart or "
     "overwrite it\n", "", 1),
    ("train start other --config {d}/wrong.ini",
     "papertape: train: {d}/wrong.ini:2: [ppo] learning_rate: a number is needed\n"
     "papertape: train: {d}/wrong.ini:4: [ppo] clip_range: a number is needed\n", "", 1),
    ("train restart ppo-btc --config {d}/wrong.ini",
     "papertape: train: {d}/wrong.ini:2: [ppo] learning_rate: a number is needed\n"
     "papertape: train: {d}/wrong.ini:4: [ppo] clip_range: a number is needed\n", "", 1),
    ("train check {d}/good.ini", "", "{d}/good.ini: good\n", 0),
    ("train check {d}/wrong.ini",
     "papertape: train: {d}/wrong.ini:2: [ppo] learning_rate: a number is needed\n"
     "papertape: train: {d}/wrong.ini:4: [ppo] clip_range: a number is needed\n", "", 1),
    ("train stop ppo-btc", "", "asked to stop ppo-btc (stopped)\n", 0),
    ("train resume ppo-btc", "", "resumed ppo-btc (queued)\n", 0),
    ("train restart ppo-btc", "", "restarted ppo-btc (queued)\n", 0),
    ("train stop ppo-bct", "papertape: train: ENOENT: no training is called \"ppo-bct\": did you mean "
     "ppo-btc?\n", "", 1),
    ("train log ppo-bct", "papertape: train: ENOENT: no training is called \"ppo-bct\": did you mean "
     "ppo-btc?\n", "", 1),
    ("train log ppo-btc --lines 2", "", "line 400\n?[31mred?\n", 0),
    ("policy promote ppo-bt", "papertape: policy: ENOENT: no policy and no training is called \"ppo-bt\": did you "
     "mean ppo-btc?\n", "", 1),
    ("policy promote ppo-btc", "", "promoted ppo-btc: challenger on account ppo-btc, without limits\n", 0),
    ("policy promote ppo-btc", "", "promoted ppo-btc: champion on account ppo-btc, without limits\n", 0),
    ("policy show ppo-bt", "papertape: policy: ENOENT: no policy is called \"ppo-bt\": did you mean "
     "ppo-btc?\n", "", 1),
    ("policy retire ppo-btc", "", "retired ppo-btc\n", 0),
]


def check_lists(run, daemon):
    """Tables, CSV and JSON of the daemon's answers."""
    daemon.learning.trainings[:] = [
        fake_trainings.training("ppo-btc", state="update", steps=1200000, steps_per_second=845000.5, age_ms=94000,
                                verdict="within_luck", stale=True, memory_mib=300, **{"return": 1.31}),
        fake_trainings.training("broken", state="failed", cause="nan", reason="loss, at step 7, is \x1b[1mNaN",
                                ended_ns=1723161255342000000),
        fake_trainings.training("endless", steps=7, total_steps=10**15)]
    daemon.learning.policies[:] = [fake_trainings.policy("ppo-btc", role="champion", state="refused", detail="no bars")]
    table = run("train list").stdout.splitlines()
    assert table[0].split() == ["name", "state", "done_pct", "steps", "steps_s", "return", "verdict", "age", "device", "attempts",
                                "priority", "memory_mib", "started", "cause", "reason"], table[0]
    assert table[1].split() == ["ppo-btc", "update", "-", "-", "-", "-", "within_luck", "94s", "STALE", "cpu", "1", "0", "-"], table[1]
    assert "failed" in table[2] and "loss, at step 7, is ?[1mNaN" in table[2], table[2]
    assert table[3].split()[:3] == ["endless", "queued", "7"], table[3]
    rows = list(csv.DictReader(io.StringIO(run("train list --csv").stdout)))
    assert rows[0]["steps"] == "1200000" and rows[0]["steps_s"] == "845000.5" and rows[0]["age_ms"] == "94000", rows[0]
    assert rows[1]["ended_ns"] == "1723161255342000000" and rows[1]["reason"].startswith("loss, at"), rows[1]
    reported = json.loads(run("train list --json").stdout)
    assert reported["schema"] == "papertape.trainings/1" and len(reported["trainings"]) == 3, reported
    first = dict(daemon.learning.trainings[0])
    first["name"] = first.pop("training")
    assert reported["trainings"][0] == first, reported["trainings"][0]

    daemon.learning.policies.append(fake_trainings.policy(
        "young", reason="admitted: pbo 0.1", proposal="young@2/7", expires_ns=1723161255342000000,
        evidence={"against": "ppo-btc", "days": 12, "days_needed": 20, "value": 3.125, "value_needed": 20}))
    table = run("policy list").stdout.splitlines()
    assert table[0].split() == ["name", "role", "account", "state", "equity", "return_pct", "trades", "sharpe",
                                "verdict", "decided", "backend", "id", "e_value", "days", "expires", "detail"], table[0]
    assert table[1].split()[:7] == ["ppo-btc", "champion", "ppo-btc", "refused", "10010.20", "0.102", "12"], table[1]
    assert table[1].endswith("no bars") and " 9f9f9f9f9f9f " in table[1], table[1]
    assert " 3.12     12  2024-08-08 " in table[2] and table[2].endswith("admitted: pbo 0.1"), table[2]
    row, young = csv.DictReader(io.StringIO(run("policy list --csv").stdout))
    assert [young[key] for key in ("e_value", "days", "against", "expires_ns", "proposal", "detail")] == [
        "3.12", "12", "ppo-btc", "1723161255342000000", "young@2/7", "admitted: pbo 0.1"], young
    assert row["id"] == "9f" * 32 and json.loads(row["actions"]) == {"BTCUSDT": 0.125, "ETHUSDT": -1}, row
    reported = json.loads(run("policy list --json").stdout)
    assert reported["schema"] == "papertape.policies/1" and reported["policies"][0]["name"] == "ppo-btc", reported
    assert reported["policies"][1]["evidence"]["value"] == 3.125 and reported["policies"][1]["expires_ns"] == 1723161255342000000, reported
    assert "policy" not in reported["policies"][0] and reported["policies"][0]["sharpe"] is None, reported

    shown = dict(line.split(None, 1) for line in run("policy show ppo-btc").stdout.splitlines() if " " in line.strip())
    assert shown["name"] == "ppo-btc" and shown["symbols"] == "BTCUSDT, ETHUSDT" and shown["sharpe"] == "n/a", shown
    assert shown["features"] == "close, " + 160 * "7" + "... (1000 characters), set a... (7 characters)", shown["features"]
    assert shown["actions"] == "BTCUSDT 0.125, ETHUSDT -1" and shown["decided"].startswith("2024-08-08 "), shown
    one = json.loads(run("policy show ppo-btc --json").stdout)
    assert one["schema"] == "papertape.policy/1" and one["policy"]["environment"] == {"lookback": 4}, one
    one = json.loads(run("train stop ppo-btc --json").stdout)
    assert one["schema"] == "papertape.training/1" and one["training"]["name"] == "ppo-btc", one
    errors = json.loads(run("train check {d}/wrong.ini --json").stdout)
    assert errors["schema"] == "papertape.training-check/1" and [e["line"] for e in errors["errors"]] == [2, 4], errors
    lines = json.loads(run("train log ppo-btc --lines 1 --json").stdout)
    assert lines == {"schema": "papertape.training-log/1", "lines": ["\x1b[31mred\x07"]}, lines
    print("tables, CSV and JSON are the daemon's answers")


def check_warned(run, daemon):
    """What a device has no room for is a line on stderr before the answer's, and in its JSON."""
    words = "the device has no memory for 8 copies (out of memory): 4 are tried\x1b"
    daemon.learning.warning = words
    line = "warning: " + words.replace("\x1b", "?") + "\n"
    started = run("train start warned")
    assert (started.returncode, started.stdout, started.stderr) == (0, "started warned (queued)\n", f"papertape: train: warned: {line}"), started
    checked = run("train check {d}/good.ini")
    assert checked.returncode == 0 and checked.stderr.endswith(f"good.ini: {line}") and checked.stderr.count("\n") == 1, checked
    again = json.loads(run("train start warned --overwrite --json").stdout)
    assert again["training"]["warning"] == words, again
    daemon.learning.warning = None
    assert "warning" not in run("train start warned --overwrite").stderr


def check_wrong_answers(run, daemon):
    """A daemon of another version, and one that is silent."""
    daemon.learning.train_list = lambda _: {"ok": True, "result": {}}
    daemon.learning.train_check = lambda _: {"ok": True, "result": {}}
    daemon.learning.train_log = lambda _: {"ok": True, "result": {}}
    daemon.learning.policy_show = lambda _: {"ok": True, "result": {"policy": 5}}
    daemon.learning.train_stop = lambda _: {"ok": True, "result": {"training": None}}
    for line in ("train list", "train check {d}/good.ini", "train log ppo-btc", "policy show ppo-btc",
                 "train stop ppo-btc --json"):
        result = run(line)
        assert result.returncode == 1 and result.stdout == "" and "one version" in result.stderr, f"{line}: {result}"
        assert len(result.stderr.splitlines()) == 1, f"{line}: {result}"


CHANGING = {"train start a": "train list", "train stop a": "train list", "train resume a": "train list",
            "train restart a": "train list", "policy promote a": "policy list", "policy retire a": "policy list",
            "pause": "status"}


class Silent:
    """A daemon that never answers, and what is asked of it while the other tests run."""

    def __init__(self, program, state):
        self.daemon = fake_daemon.Daemon(state)
        self.daemon.silent = True
        self.daemon.start()
        self.running = [(line, where, subprocess.Popen([program, *line.split(" "), "--state", state], text=True,
                                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE))
                        for line, where in CHANGING.items()]

    def check(self):
        """A verb that changes something says that it may be carried out nevertheless."""
        for line, where, process in self.running:
            _, err = process.communicate(timeout=120)
            assert process.returncode == 1 and len(err.splitlines()) == 1 and "did not answer in" in err, f"{line}: {err}"
            assert err.endswith(f": it may still be carried out: see papertape {where}\n"), f"{line}: {err}"
        print(f"{len(CHANGING)} verbs without an answer say where to look")

    def stop(self):
        for _, _, process in self.running:
            process.kill()
            process.wait()
        self.daemon.stop()


def main():
    program = os.path.abspath(sys.argv[1])
    os.environ.pop("RUNTIME_DIRECTORY", None)
    with tempfile.TemporaryDirectory(prefix="pt-") as state:
        files = {"good.ini": GOOD.encode(), "wrong.ini": WRONG_CONFIG.encode(), "empty.ini": b"", "nul.ini": b"[ppo]\n\0",
                 "latin.ini": b"[ppo]\nname = \xe9\n", "large.ini": 40000 * b"\n", "p.safetensors": b"weights"}
        for name, data in files.items():
            with open(os.path.join(state, name), "wb") as f:
                f.write(data)
        daemon = fake_daemon.Daemon(state)
        daemon.start()
        os.mkdir(os.path.join(state, "silent"))
        silent = Silent(program, os.path.join(state, "silent"))

        def filled(text):
            return (text.replace("{d}", state).replace("{b}", os.path.basename(state))
                    .replace("{r}", os.path.realpath(state)))

        def run(line):
            words = [program, *filled(line).split(" "), "--state", state]
            return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False,
                                  stdin=subprocess.DEVNULL)

        try:
            for line, cmd, args in SENT:
                before = len(daemon.commands)
                result = run(line)
                assert result.returncode == 0 and result.stderr == "", f"{line}: {result}"
                args = {k: filled(v) if k == "path" else v for k, v in args.items()}
                assert daemon.commands[before:] == [(cmd, args)], f"{line}: {daemon.commands[before:]}"
            print(f"{len(SENT)} lines are sent as they should be")
            before = len(daemon.commands)
            for line, status, words in WRONG:
                result = run(line)
                assert result.returncode == status and result.stdout == "", f"{line}: {result}"
                lines = result.stderr.splitlines()
                assert len(lines) == 1 and lines[0].startswith("papertape: ") and words in lines[0], f"{line}: {result}"
            assert len(daemon.commands) == before
            print(f"{len(WRONG)} wrong lines are refused here")
            daemon.learning.trainings.clear()
            daemon.learning.policies.clear()
            for line, err, out, status in ANSWERED:
                result = run(line)
                assert result.stdout == filled(out) and result.stderr == filled(err) and result.returncode == status, \
                    f"{line}: {result}"
            print(f"{len(ANSWERED)} answers read as they should")
            check_lists(run, daemon)
            check_warned(run, daemon)
            check_wrong_answers(run, daemon)
            silent.check()
        finally:
            daemon.stop()
            silent.stop()
        for line in ("train start a", "train check {d}/good.ini", "train log a", "policy promote a"):
            result = run(line)
            assert result.returncode == 3 and "no daemon" in result.stderr, f"{line}: {result}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
