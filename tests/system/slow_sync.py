#!/usr/bin/env python3
"""A repeat is answered once what it repeats is on the disk. The daemon is killed after it wrote commands to its log, and to the
database's, and before that was synced; it is started again, and the commands are repeated by their keys. No answer comes before
the new process has synced the log's old segment, the database's log and the rows that it put again."""

import json
import os
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
HELD_MS, SLOW_MS = 4000, 400
# By which log the commands are kept when the daemon is killed. An order that names no account: its key is still found.
ROUNDS = {
    "/events/": (("order", {"symbol": "BTCUSDT", "side": "buy", "qty": "0.01", "client_id": "first"}),
                 ("account_transfer", {"from": "main", "to": "other", "amount": "12.5", "key": "move"}),
                 ("pause", {"key": "hold"})),
    "-wal": (("order", {"symbol": "BTCUSDT", "side": "sell", "qty": "0.01", "client_id": "second"}),
             ("account_transfer", {"from": "main", "to": "other", "amount": "13.5", "key": "again"}),
             ("resume", {"key": "let"})),
}


class Slow:
    """How long the syncs of some files take, and which ended."""

    def __init__(self, folder):
        self.path = os.path.join(folder.path, "slow")
        self.env = os.environ | {"LD_PRELOAD": harness.SLOW_SYNC, "SLOW_SYNC": self.path,
                                 "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        self.set(0, "/")

    def set(self, ms, text):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(f"{ms} {text}\n")
        os.rename(self.path + ".new", self.path)

    def synced(self, pid):
        """The files that the process synced."""
        with open(self.path + ".log", encoding="utf-8") as file:
            lines = [line.split(maxsplit=1) for line in file]
        return [path.strip() for of, path in lines if int(of) == pid]


def newest(daemon):
    """The log's newest segment and event, as the next process would read them."""
    folder = os.path.join(daemon.state, "events")  # it has one once that is whole; before, "new"
    harness.wait_for(lambda: os.path.isdir(folder) and set(os.listdir(folder)) - {"new"}, "a segment")
    segment = json.loads(daemon.papertape("events", "list", "--json"))["segments"][-1]
    return os.path.join(daemon.state, "events", segment["name"]), segment["last_seq"]


def send(daemon, commands):
    """Sends all of them at once and returns the open connection."""
    client = harness.connect(daemon)
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


def started(folder, replay, slow):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, env=slow.env))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book")
    return daemon


def written(daemon, where, seq, key):
    """Has the log that is to be slow the command of that key, as the next process would read it?"""
    if where == "/events/":
        return key in daemon.papertape("events", "show", "--seq", str(seq), "--n", "1000", "--json")
    with open(os.path.join(daemon.state, "papertape.db-wal"), "rb") as file:
        return key.encode() in file.read()


def killed(slow, daemon, where, commands):
    """Kills it when all are written, and the last is not synced; the log's newest segment. The first may have a sync of their own."""
    slow.set(HELD_MS, where)
    seq = newest(daemon)[1]
    client = send(daemon, commands)
    key = commands[-1][1]["key"]
    harness.wait_for(lambda: written(daemon, where, seq, key), f"the last command in {where}")
    daemon.popen.kill()
    daemon.popen.wait()
    answered = [json.loads(line)["id"] for line in client.makefile("rb")]
    assert len(commands) - 1 not in answered, f"the last was answered before the kill: {answered}"
    client.close()
    return newest(daemon)[0]


def repeated(slow, daemon, segment, commands):
    """Each is answered when all that its answer needs was synced by this process."""
    for cmd, args in commands:
        answer = repeat(daemon, cmd, args)
        assert answer["ok"] and answer["result"]["repeated"], (cmd, answer)
        synced = slow.synced(daemon.popen.pid)
        assert segment in synced, (cmd, "the segment of before the kill was not synced", synced)
        assert daemon.state + "/papertape.db-wal" in synced, (cmd, "the database's log was not synced", synced)
        # A reader sees a transaction once its sync has ended.
        column, name = ("key", args["key"]) if "key" in args else ("json_extract(args, '$.client_id')", args["client_id"])
        rows = daemon.query(f"SELECT state FROM commands WHERE {column} = '{name}'")
        assert rows == [("done",)], (cmd, "was answered before its row was stored", rows)


def main():
    with harness.Folder() as folder:
        slow = Slow(folder)
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        daemon = started(folder, replay, slow)
        for where, commands in ROUNDS.items():
            segment = killed(slow, daemon, where, commands)
            slow.set(SLOW_MS, "-wal")
            daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, env=slow.env))
            repeated(slow, daemon, segment, commands)
        slow.set(0, "/")
        assert daemon.query("SELECT count(*) FROM ledger WHERE kind LIKE 'transfer%'") == [(4,)]
        assert daemon.query("SELECT count(*) FROM orders") == [(2,)]
        assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
        assert daemon.stop() == 0
        assert replay.stop() == 0
        print(f"slow sync: {sum(map(len, ROUNDS.values()))} repeats, each answered after its syncs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
