#!/usr/bin/env python3
"""The log in the journal, with a socket of this test in its place: entries with fields at fills, refusals, halts of the feed, start
and stop. While nothing reads that socket the market loop continues, the watchdog is served, and what is lost is counted, and
reported once there is room."""

import json
import os
import re
import threading
import time

import harness

CONFIG = """[market]
symbols = BTCUSDT
interval = 1s
history = 10
[engine]
latency_ms = 0
fill_model = book
[alerts]
clock_offset = 1s
[metrics]
socket = /nowhere/to/listen
[account rich]
cash = 1000000000
strategy = none
[account hand]
cash = 100000
strategy = none
"""
WATCHDOG_S = 4.0  # of the unit 30: a beat is due in half of it
COMMANDS = 1200   # that log a line each: more than queue and socket hold


class Manager(harness.Manager):
    """The longest time between two WATCHDOG=1."""

    def __init__(self, path):
        super().__init__(path)
        self.last, self.longest, self.count = None, 0.0, 0

    def take(self, line):
        if line == "WATCHDOG=1":
            now = time.monotonic()
            self.longest = max(self.longest, now - (self.last or now))
            self.last = now
            self.count += 1


def flood(daemon):
    """Commands over one connection, all answered."""
    answers = 0
    with harness.connect(daemon) as client:
        def send():
            for number in range(COMMANDS):
                cmd = "pause" if number % 2 == 0 else "resume"
                client.sendall(json.dumps({"id": number + 1, "cmd": cmd, "args": {}}).encode() + b"\n")
        sender = threading.Thread(target=send)
        sender.start()
        while answers < COMMANDS:
            part = client.recv(1 << 16)
            assert part, "the daemon went away"
            answers += part.count(b"\n")
        sender.join()


def alerts(daemon, journal):
    """Each alert's line has the fields of what it is about: of a rule, of the engine, of a listener of [metrics]."""
    assert journal.wait_alert("CLOCK_OFFSET")["VENUE"] == "binance"
    assert journal.wait_alert("http")["PRIORITY"] == "3"
    daemon.papertape("order", "buy", "BTCUSDT", "100", "--account", "rich")
    entry = journal.wait_alert("NO_LIQUIDITY")
    assert (entry["SYMBOL"], entry["ACCOUNT"], entry["ORDER"], entry["VENUE"]) == ("BTCUSDT", "rich", "3", "binance"), entry
    assert (entry["PAPERTAPE_EVENT"], entry["PRIORITY"]) == ("alert", "4"), entry
    daemon.papertape("order", "sell", "BTCUSDT", "0.01", "--account", "rich")
    harness.wait_for(lambda: daemon.query("SELECT 1 FROM alerts WHERE code = 'NO_LIQUIDITY' AND closed_ns IS NOT NULL"),
                     "that there is something to trade with")


def stalled(daemon, journal, manager):
    """Nothing reads: commands are answered, frames arrive, and the watchdog is served."""
    journal.reads.clear()
    before = daemon.status_object()
    flood(daemon)
    status = daemon.wait_status(lambda s: s["log"]["lost"] > 0 and s["feed"]["frames"] > before["feed"]["frames"], "lines that are lost")
    beats = manager.count
    harness.wait_for(lambda: manager.count >= beats + 2, "beats while the log is full")
    assert status["log"]["to"] == "journal" and status["log"]["queued"] > 400, status["log"]
    assert " lines lost" in daemon.papertape("status")
    assert re.search(r"warning  daemon +[1-9]\d* lines of its log were lost since its start: the journal took none", daemon.papertape("doctor", "daemon"))
    journal.reads.set()

    def reported():
        return sum(int(entry["PAPERTAPE_LOST"]) for entry in journal.of("log-lost"))
    harness.wait_for(lambda: reported() > 0 and daemon.status_object()["log"]["lost"] == reported(), "what is lost, in the journal")
    harness.wait_for(lambda: len(journal.of("command")) + reported() >= COMMANDS, "every command, in the journal or lost")
    print(f"{COMMANDS} commands while the journal took nothing: {reported()} lines lost and reported; "
          f"{manager.count} beats, {manager.longest:.2f} s apart at most, of {WATCHDOG_S:.0f}")


def main():
    with harness.Folder() as folder:
        manager = Manager(os.path.join(folder.path, "notify"))
        journal = harness.Journal(folder.path)
        environment = dict(os.environ, NOTIFY_SOCKET=os.path.join(folder.path, "notify"), WATCHDOG_USEC=str(int(WATCHDOG_S * 1e6)),
                           **journal.environment)
        manager.start()
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--rate", "200", "--fault", "clock:+3s"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, env=environment))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        started = journal.wait("started", "the start")
        assert len(started["MESSAGE_ID"]) == 32 and started["SYSLOG_IDENTIFIER"] == "papertaped", started
        assert journal.wait("feed-back", "the feed")["VENUE"] == "binance"

        daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand")
        fill = journal.wait("fill", "a fill")
        assert (fill["SYMBOL"], fill["ACCOUNT"], fill["ORDER"], fill["PRIORITY"]) == ("BTCUSDT", "hand", "1", "6"), fill
        daemon.papertape("order", "buy", "BTCUSDT", "1000", "--account", "hand", status=1)
        refused = journal.wait("order-refused", "a refusal")
        assert (refused["SYMBOL"], refused["ACCOUNT"], refused["ORDER"]) == ("BTCUSDT", "hand", "2"), refused
        alerts(daemon, journal)
        stalled(daemon, journal, manager)

        assert replay.stop() == 0
        assert journal.wait("feed-lost", "the feed's loss")["VENUE"] == "binance"
        assert daemon.stop() == 0
        journal.wait("stopped", "the end")
        assert journal.entries[-1]["MESSAGE"] == "stopped", journal.entries[-1]
        assert manager.longest < WATCHDOG_S and manager.count >= 2, manager.longest
        assert daemon.log_text() == "", daemon.log_text()
        print(f"{len(journal.entries)} entries, the last one \"stopped\"")


main()
