#!/usr/bin/env python3
"""A repeat is answered once what it repeats is on the disk. Each sync takes a while; the daemon is killed after it wrote a
command to its log and before that was synced, and started again. The commands are repeated by their keys: no answer comes before
the log's old segment and the database's rows were synced by the new process. By itself, and with a key of the database's."""

import json
import os
import socket
import sys

import harness

CONFIG = """
[market]
symbols = BTCUSDT
interval = 1m
history = 20
[account main]
cash = 100000
strategy = none
[account other]
cash = 1000
strategy = none
"""
SYNC_MS = 300
# The first names no account: its key is found by the one that it means.
COMMANDS = (
    ("order", {"symbol": "BTCUSDT", "side": "buy", "qty": "0.01", "limit": "1000.00", "client_id": "first"}),
    ("account_transfer", {"from": "main", "to": "other", "amount": "12.5", "key": "move"}),
    ("pause", {"key": "hold"}),
)


class Slow:
    """How long each sync takes, and which ended."""

    def __init__(self, folder):
        self.path = os.path.join(folder.path, "slow")
        self.env = os.environ | {"LD_PRELOAD": harness.SLOW_SYNC, "SLOW_SYNC": self.path,
                                 "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        self.set(0)

    def set(self, ms):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(f"{ms}\n")
        os.rename(self.path + ".new", self.path)

    def synced(self, pid):
        """The files that the process synced."""
        with open(self.path + ".log", encoding="utf-8") as file:
            lines = [line.split(maxsplit=1) for line in file]
        return [path.strip() for of, path in lines if int(of) == pid]


def newest(daemon):
    """The log's newest segment and event, as the next process would read them."""
    segment = json.loads(daemon.papertape("events", "list", "--json"))["segments"][-1]
    return os.path.join(daemon.state, "events", segment["name"]), segment["last_seq"]


def send(daemon, commands):
    """Sends all of them at once and returns the open connection."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(harness.PATIENCE)
    client.connect(os.path.join(daemon.state, "control.sock"))
    for number, (cmd, args) in enumerate(commands):
        client.sendall(json.dumps({"id": number, "cmd": cmd, "args": args}).encode() + b"\n")
    return client


def repeat(daemon, cmd, args):
    """Asks until there is an answer: before the venue is there nothing can be asked."""
    def ask():
        assert daemon.alive(), daemon.log_text()[-4000:]
        try:
            answer = harness.control(daemon, cmd, args)
        except OSError:
            return None
        return None if not answer["ok"] and answer["error"]["code"] == "EAGAIN" else answer
    return harness.wait_for(ask, f"an answer to {cmd}")


def begun(folder, replay, slow):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, env=slow.env))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["price"], "a price")
    return daemon


def killed(folder, slow, daemon):
    """Kills it when all are in the log's file; the segment that holds them."""
    slow.set(SYNC_MS)
    seq = newest(daemon)[1]
    client = send(daemon, COMMANDS)
    harness.wait_for(lambda: "hold" in daemon.papertape("events", "show", "--seq", str(seq), "--n", "1000", "--json"),
                     "the last command in the log")
    daemon.popen.kill()
    daemon.popen.wait()
    client.setblocking(True)
    answered = client.recv(1 << 16)
    assert not answered, f"answered before the kill: {answered}"
    client.close()
    return newest(daemon)[0]


def main():
    with harness.Folder() as folder:
        slow = Slow(folder)
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        first = begun(folder, replay, slow)
        segment = killed(folder, slow, first)
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, env=slow.env))
        for cmd, args in COMMANDS:
            answer = repeat(daemon, cmd, args)
            assert answer["ok"] and answer["result"]["repeated"], (cmd, answer)
            synced = slow.synced(daemon.popen.pid)
            assert segment in synced, (cmd, "the segment of before the kill was not synced", synced)
            assert daemon.state + "/papertape.db-wal" in synced, (cmd, "the database's log was not synced", synced)
            # A reader sees a transaction once its sync has ended.
            name = args.get("key")
            rows = daemon.query("SELECT state FROM commands WHERE " + (f"key = '{name}'" if name else f"cmd = '{cmd}'"))
            assert rows == [("done",)], (cmd, "was answered before its row was stored", rows)
        slow.set(0)
        status = daemon.status_object()
        assert status["trading"] == "paused", status["trading"]
        balances = daemon.query("SELECT account, sum(amount) FROM ledger GROUP BY account ORDER BY account")
        assert daemon.query("SELECT count(*) FROM ledger WHERE kind LIKE 'transfer%'") == [(2,)], balances
        assert daemon.query("SELECT count(*) FROM orders") == [(1,)]
        assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
        assert daemon.stop() == 0
        assert replay.stop() == 0
        print(f"slow sync: {len(COMMANDS)} repeats, each answered after its sync")
    return 0


if __name__ == "__main__":
    sys.exit(main())
