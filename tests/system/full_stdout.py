#!/usr/bin/env python3
"""Every verb that a state can answer, in each of its forms, on a stdout that has no room: exit 1 and the reason, whatever
the answer's length. A verb that is new must be in one of the tables below."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import harness  # noqa: E402

# The lines that answer from a state, with or without a daemon. Each is tried as it is, with --json and with --csv.
LINES = """account list; account terms; account epochs; actions; alerts list; book BTCUSDT; commands; doctor; equity; events list; fees;
fee-rates; fills; gains; gpu; indicators --list; ledger list; ledger causes; ledger export; ledger head; ledger verify; orders; parity;
policy list; positions; receivables; report; report --summary; revisions; statement; status; symbol list; train list; venues; venues streams binance; --help; --version; completion bash; --once"""
LINES = LINES.replace("\n", " ").split("; ")
# Those that need more than a state: another test's, with files of its own.
OTHERS = set("bars compare strategy rank export fetch study order backtest sweep lookahead warmup explain what-if backup restore reload pause resume flatten".split())
MORE = [[harness.DAEMON, "--print-config"], [harness.DAEMON, "--check-config"], [harness.DAEMON, "--help"]]

CONFIG = """[market]
symbols = BTCUSDT
interval = 1s
history = 20
[account main]
cash = 10000
strategy = none
"""


def on_full(argv):
    with open("/dev/full", "w") as full:
        return subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True, timeout=harness.PATIENCE)


def tried(argv):
    """Whether it prints; then it must fail on a stdout without room."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=harness.PATIENCE)
    if not done.stdout or done.returncode == 2:
        return False
    full = on_full(argv)
    assert full.returncode == 1 and "stdout: No space left on device\n" in full.stderr, f"{argv[1:]}: {full}"
    assert "Input/output" not in full.stderr, f"{argv[1:]}: {full}"
    return True


def verbs():
    done = subprocess.run([harness.PAPERTAPE, "help", "--complete", "--", ""], capture_output=True, text=True, check=True)
    return {line.split("\t")[0] for line in done.stdout.splitlines() if line and not line.startswith("-")}


def main():
    known = {line.split()[0] for line in LINES} | OTHERS
    assert not verbs() - known, f"verbs of neither table: {verbs() - known}"
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7", "--rate", "200"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
        daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["feed"]["frames"] > 50, "data")
        n, answered = 0, set()
        for beside in (True, False):
            for line in LINES:
                for form in ((), ("--json",), ("--csv",))[: 3 if beside else 2]:
                    argv = [harness.PAPERTAPE, *line.split(), *form, "--state", daemon.state]
                    if tried(argv):
                        answered.add(line)
                        n += 1
            if beside:
                assert daemon.stop() == 0
        assert answered == set(LINES), f"not answered: {set(LINES) - answered}"
        for argv in MORE:
            assert tried(argv), argv
    print(f"{n} answers")


main()
