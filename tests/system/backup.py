#!/usr/bin/env python3
"""Backup and restore, by the very commands of docs/backup.md: of a running daemon while orders and transfers are acknowledged, of a
stopped one, and of parts. What was acknowledged before the backup is there, the copy verifies, and a start from it neither builds
nor alarms. And an event log that is taken away under the daemon begins again, with an alert."""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import threading

import harness

CONFIG = harness.BUSY_CONFIG + "[events]\nsegment_mb = 1\n"


def commands(section):
    """The first block of commands of a section of the page."""
    with open(os.path.join(harness.SOURCE, "docs/backup.md"), encoding="utf-8") as file:
        return re.search(rf"^## {section}$.*?^```sh\n(.*?)^```$", file.read(), re.M | re.S)[1]


def carry_out(section, **places):
    path = os.path.dirname(harness.PAPERTAPE) + ":" + os.environ["PATH"]
    done = subprocess.run(["bash", "-euc", commands(section)], env=os.environ | {"PATH": path} | places, capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == 0, (section, done)
    return done.stdout


class Acknowledged(threading.Thread):
    """Orders and transfers, as fast as they are acknowledged."""

    def __init__(self, daemon):
        super().__init__()
        self.daemon_of, self.orders, self.transfers, self.enough = daemon, [], [], threading.Event()
        self.start()

    def run(self):
        number = 0
        while not self.enough.is_set():
            number += 1
            if harness.control(self.daemon_of, "order", {"symbol": "BTCUSDT", "side": "buy", "qty": "0.001", "account": "hand",
                                                         "client_id": f"c{number}"})["ok"]:
                self.orders.append(f"c{number}")
            if harness.control(self.daemon_of, "account_transfer", {"from": "main", "to": "hand", "amount": "1", "key": f"t{number}"})["ok"]:
                self.transfers.append(f"t{number}")

    def so_far(self):
        return list(self.orders), list(self.transfers)

    def end(self):
        self.enough.set()
        self.join()
        return self.so_far()


def start(folder, replay, state):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=state, state=state))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" and x["last"] for x in s["symbols"]), "books in step")
    return daemon


def there(daemon, acknowledged):
    orders, transfers = acknowledged
    assert orders and transfers
    have = {row[0] for row in daemon.query("SELECT client_id FROM orders")}
    assert not set(orders) - have, sorted(set(orders) - have)
    have = {row[0] for row in daemon.query("SELECT key FROM commands")}
    assert not set(transfers) - have, sorted(set(transfers) - have)


def sound(daemon, started=True):
    """Nothing was built, or is wrong."""
    assert daemon.papertape("ledger", "verify").startswith("ledger ok")
    assert daemon.papertape("events", "verify").startswith("events ok")
    if started:
        assert not re.search(r" (warning|error) ", daemon.log_text()), daemon.log_text()
        assert "built again" not in daemon.log_text()


def running(folder, replay):
    """Restored into another directory while the first still runs: loopback has no limits that they share."""
    daemon = start(folder, replay, "state")
    load = Acknowledged(daemon)
    harness.wait_for(lambda: len(load.transfers) > 20, "commands that are acknowledged")
    before = load.so_far()
    backup, restored = os.path.join(folder.path, "backup"), os.path.join(folder.path, "restored")
    carry_out("Of a running daemon", STATE=daemon.state, BACKUP=backup)
    harness.wait_for(lambda: len(load.transfers) > len(before[1]) + 5, "commands after the backup")
    every = load.end()
    assert carry_out("Check it", BACKUP=backup).startswith("ledger ok")
    carry_out("Restore it", BACKUP=backup, STATE=restored, OWNER=pwd.getpwuid(os.geteuid()).pw_name)
    second = start(folder, replay, "restored")
    there(second, before)
    recovery = second.status_object()["recovery"]
    assert recovery["from"] == "log" and recovery["played"] > 0, recovery
    order = {"symbol": "BTCUSDT", "side": "buy", "qty": "0.001", "account": "hand", "client_id": before[0][-1]}
    assert harness.control(second, "order", order)["result"]["repeated"] is True
    assert second.papertape("parity").startswith("parity ok")
    sound(second)
    assert second.stop() == 0
    assert daemon.stop() == 0
    print(f"running: {len(before[0])} orders and {len(before[1])} transfers acknowledged before are there; {recovery['played']} events "
          f"played, of which {recovery['again']} were new to the database")
    return backup, daemon.state, before, every


def in_parts(folder, replay, backup, state, before, all_of_them):
    """As the table says: what is left behind when only one of the two is restored, or they are of two moments."""
    every = {name: os.path.join(folder.path, name) for name in ("database", "log", "older", "newer")}
    for path in every.values():
        os.mkdir(path, 0o750)
    for name in ("database", "older"):
        shutil.copy(f"{backup}/papertape.db", every[name])
    shutil.copytree(f"{backup}/events", f"{every['log']}/events")
    shutil.copytree(f"{backup}/events", f"{every['newer']}/events")
    shutil.copytree(f"{state}/events", f"{every['older']}/events")
    for name in ("papertape.db", "papertape.db-wal"):
        if os.path.exists(f"{state}/{name}"):
            shutil.copy(f"{state}/{name}", every["newer"])
    for name, origin, words in (("database", "database", "the database alone is the truth"), ("log", "log", "was built again from the event log"),
                                ("older", "log", ""), ("newer", "database", "the database alone is the truth")):
        started = start(folder, replay, name)
        assert started.status_object()["recovery"]["from"] == origin and words in started.log_text(), (name, started.log_text())
        sound(started, started=not words)
        there(started, all_of_them if name in ("older", "newer") else before)
        started.stop(signal.SIGKILL)
    print("in parts: database alone, log alone, either older than the other: as the page has it")


def taken_away(folder, daemon):
    """Its directory is renamed: noticed, and a new one starts; the former one stays as it is."""
    os.rename(f"{daemon.state}/events", os.path.join(folder.path, "away"))
    status = daemon.wait_status(lambda s: s["events"]["holes"] == 1 and s["events"]["state"] == s["db"]["state"] == "ok", "a new log")
    alerts = [a for a in json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"] if a["code"] == "event-log-hole"]
    assert len(alerts) == 1 and alerts[0]["severity"] == "error", alerts
    assert f"{daemon.state}/events or its newest segment was removed or renamed: a new log begins" in alerts[0]["text"], alerts
    for where in (daemon.state, os.path.join(folder.path, "away")):
        done = subprocess.run([harness.PAPERTAPE, "events", "verify", where], capture_output=True, text=True, timeout=harness.PATIENCE)
        assert done.returncode == 0, done
    assert harness.control(daemon, "order", {"symbol": "BTCUSDT", "side": "buy", "qty": "0.001", "account": "hand", "client_id": "after"})["ok"]
    assert daemon.papertape("parity").startswith("parity ok")
    print("taken away:", alerts[0]["text"].replace(folder.path, "…"), "|", status["events"]["lost"], "events lost")


def stopped(folder, replay, state, every):
    backup, restored = os.path.join(folder.path, "cold"), os.path.join(folder.path, "cold-restored")
    carry_out("Of a stopped one", STATE=state, BACKUP=backup)
    carry_out("Check it", BACKUP=backup)
    carry_out("Restore it", BACKUP=backup, STATE=restored, OWNER=pwd.getpwuid(os.geteuid()).pw_name)
    again = start(folder, replay, "cold-restored")
    there(again, every)
    assert again.status_object()["recovery"]["played"] == 0, again.status_object()["recovery"]
    sound(again)
    print("stopped: nothing is played again")
    return again


def main():
    if not shutil.which("sqlite3"):
        harness.skip("sqlite3, the command, is not installed")
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--rate", "400"))
        backup, state, before, every = running(folder, replay)
        again = stopped(folder, replay, state, every)
        taken_away(folder, again)
        assert again.stop() == 0
        in_parts(folder, replay, backup, state, before, every)
        assert replay.stop() == 0


main()
