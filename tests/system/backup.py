#!/usr/bin/env python3
"""Backup and restore, by the very commands of docs/backup.md: of a running daemon while orders and transfers are acknowledged, of a
stopped one, and of parts. What was acknowledged before the backup is there, the copy verifies, and a start from it neither builds
nor alarms; a study's storage and a training's checkpoint are the same, and the study continues. Rotation, the drill, the outcome
for the daemon, what is refused, a disk that is full, what an upgrade kept. And an event log that is taken away under the daemon
begins again, with an alert."""

import contextlib
import errno
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import threading

import harness

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/trainer/study"))
import small_study  # noqa: E402

TRAINER = os.path.join(harness.BUILD, "trainer/papertape-trainer")
CONFIG = harness.BUSY_CONFIG + "[events]\nsegment_mb = 1\n[retention]\nalerts_days = 1\ncommands_days = 1\nbars_days = 30\n"


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


def trainer(*arguments, cwd):
    done = subprocess.run([TRAINER, *arguments], cwd=cwd, capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == 0, (arguments, done.stderr, done.stdout[-2000:])


def study_and_train(folder, state):
    """A study of two trials, whose storage is studies.db, and a training of some steps with its checkpoint, both in the state."""
    place = folder.within("learning")
    small_study.write_market(place)
    small_study.write(os.path.join(place, "study.ini"))
    small_study.write(os.path.join(place, "train.ini"), {"study": None, "search": None, "training": {
        "total_steps": 1024, "name": "probe", "output": os.path.join(state, "checkpoints")}})
    trainer("study", "small", "--config", "study.ini", "--trials", "2", "--workers", "1", "--state", state, cwd=place)
    trainer("train", "--config", "train.ini", cwd=place)
    return place


def learned(state):
    """What training left: every file's bytes, and every row of studies.db."""
    files = {}
    for part in ("checkpoints", "studies"):
        for path in names_in(os.path.join(state, part)):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    files[os.path.relpath(path, state)] = file.read()
    with contextlib.closing(sqlite3.connect(f"file:{state}/studies.db?mode=ro", uri=True)) as database:
        return files, list(database.iterdump())


def start(folder, replay, state):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=state, state=state))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" and x["last"] for x in s["symbols"]), "books in step")
    return daemon


def there(daemon, acknowledged):
    orders, transfers = acknowledged
    assert orders and transfers

    def has(query, those):
        return not set(those) - {row[0] for row in daemon.query(query)}

    # what a start plays from the log is committed beside what it does next
    harness.wait_for(lambda: has("SELECT client_id FROM orders", orders), f"each of the orders {orders}")
    harness.wait_for(lambda: has("SELECT key FROM commands", transfers), f"each of the transfers {transfers}")


def sound(daemon, started=True, outcome="ok"):
    """Nothing was built, or is wrong."""
    assert daemon.papertape("ledger", "verify").startswith(f"ledger {outcome}:")
    assert daemon.papertape("events", "verify").startswith("events ok")
    if started:
        said = [line for line in daemon.log_text().splitlines() if re.search(r" (warning|error) ", line)]
        thin = dict(daemon.query("SELECT substr(text, 1, instr(text, ':')), count FROM alerts WHERE code = 'NO_LIQUIDITY'"))  # the market's
        assert len(said) <= sum(thin.values()) and all(any(f" {symbol} " in line for symbol in thin) for line in said), daemon.log_text()
        assert "built again" not in daemon.log_text()


def outcome(state):
    with open(os.path.join(state, "backup.json"), encoding="utf-8") as file:
        return json.load(file)


def papertape(*arguments, status=0, **kwargs):
    done = subprocess.run([harness.PAPERTAPE, *arguments], capture_output=True, text=True, timeout=harness.PATIENCE, **kwargs)
    assert done.returncode == status, (arguments, done)
    return done.stdout + done.stderr


def running(folder, replay):
    """Restored into another directory while the first still runs: loopback has no limits that they share."""
    daemon = start(folder, replay, "state")
    with open(os.path.join(daemon.state, "policies", "keys"), "w", encoding="ascii") as file:
        file.write("id\nsecret\n")
    with sqlite3.connect(os.path.join(daemon.state, "notify.db")) as other:  # a database of another part
        other.execute("CREATE TABLE queue (id INTEGER PRIMARY KEY)")
        other.execute("INSERT INTO queue VALUES (7)")
    other.close()
    os.symlink("notify.db", os.path.join(daemon.state, "link.db"))  # root would follow it to another user's
    learning = study_and_train(folder, daemon.state)
    load = Acknowledged(daemon)
    harness.wait_for(lambda: len(load.transfers) > 20, "commands that are acknowledged")
    before = load.so_far()
    backup, restored = os.path.join(folder.path, "backup.tar.zst"), os.path.join(folder.path, "restored")
    carry_out("Of a running daemon", STATE=daemon.state, BACKUP=backup)
    harness.wait_for(lambda: len(load.transfers) > len(before[1]) + 5, "commands after the backup")
    every = load.end()
    carry_out("Restore it", BACKUP=backup, STATE=restored)
    assert carry_out("Check it", BACKUP=restored).startswith("ledger ok")
    assert not os.path.exists(os.path.join(restored, "policies", "keys")) and not os.path.lexists(os.path.join(restored, "link.db"))
    assert os.stat(restored).st_mode & 0o777 == 0o750 and not [name for name in os.listdir(folder.path) if "papertape-part" in name]
    with open(daemon.config, encoding="utf-8") as used, open(os.path.join(restored, "papertaped.ini"), encoding="utf-8") as copy:
        assert used.read() == copy.read() != ""  # that of the daemon, which no option names
    files, rows = learned(daemon.state)
    assert learned(restored) == (files, rows) and any(name.endswith(".ckpt") for name in files), sorted(files)
    assert sum("INSERT INTO \"trials\"" in row for row in rows) == 2, rows
    trainer("study", "small", "--resume", "--trials", "3", "--workers", "1", "--state", restored, cwd=learning)
    assert harness.query(os.path.join(restored, "studies.db"), "SELECT count(*) FROM trials WHERE state IN ('COMPLETE', 'PRUNED')") == [(3,)]
    assert harness.query(os.path.join(restored, "notify.db"), "SELECT id FROM queue") == [(7,)]
    hash_line = papertape("ledger", "verify", "--state", restored).split("\n")[1]
    second = start(folder, replay, "restored")
    there(second, before)
    recovery = second.status_object()["recovery"]
    assert recovery["from"] == "log" and recovery["played"] > 0, recovery
    order = {"symbol": "BTCUSDT", "side": "buy", "qty": "0.001", "account": "hand", "client_id": before[0][-1]}
    assert harness.control(second, "order", order)["result"]["repeated"] is True
    assert second.papertape("parity").startswith("parity ok")
    sound(second)
    assert second.stop() == 0
    noted = outcome(daemon.state)
    assert noted["ok"] and noted["error"] is None and noted["file"] == backup and noted["files"] >= 3, noted
    assert daemon.stop() == 0
    print(f"running: {len(before[0])} orders and {len(before[1])} transfers acknowledged before are there, {hash_line}; {recovery['played']} "
          f"events played, of which {recovery['again']} were new to the database")
    unpacked = os.path.join(folder.path, "unpacked")
    papertape("restore", backup, "--state", unpacked)
    return unpacked, daemon.state, before, every


def damage(path):
    """A byte in the midst is another."""
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))


def drill_fails(place, state):
    """What was written cannot be restored: it gets the ending .failed, in place of an earlier one, and no good one is removed."""
    before = {name for name in os.listdir(place) if name.endswith(".zst")}
    copy = f"{state}-unsound"
    shutil.copytree(state, copy)
    with sqlite3.connect(f"{copy}/papertape.db") as other:
        other.execute("UPDATE ledger SET amount = amount + 1")
    other.close()
    assert "cannot be restored" in papertape("backup", place, "--keep", "1", "--drill", "--state", copy, status=1)
    after = set(os.listdir(place))
    assert before == {name for name in after if name.endswith(".zst")}, after
    (failed,) = [name for name in after if name.endswith(".failed")]
    assert not failed.startswith("papertape-20260106") and outcome(copy)["file"] == os.path.join(place, failed), (failed, outcome(copy))
    shutil.rmtree(copy)


def drill_is_not_made(folder, state):
    """What is this machine's fault says nothing of the archive, which keeps its name."""
    path = os.path.join(folder.path, "busy.tar.zst")
    part = path + ".drill.papertape-part"
    os.mkdir(part)
    held = os.open(part, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    shown = papertape("backup", path, "--drill", "--state", state, status=1)
    os.close(held)
    assert "the drill could not be made: " in shown and "another process writes it" in shown, shown
    assert os.path.exists(path) and not os.path.exists(path + ".failed"), os.listdir(folder.path)
    os.rmdir(part)
    for number, words in ((errno.EIO, "Input/output error"), (errno.ENOMEM, "Cannot allocate memory")):
        os.unlink(path)
        shown = papertape("backup", path, "--drill", "--state", state, status=1, env=failing(folder, f"archive {number}"))
        assert "the drill could not be made: " in shown and words in shown and "damaged" not in shown, shown
        assert os.path.exists(path) and not os.path.exists(path + ".failed"), os.listdir(folder.path)
        assert outcome(state)["ok"] is False and outcome(state)["drilled"] is False, outcome(state)
    os.unlink(path)


def damaged_segment(folder, state):
    """No backup is made of a log that is damaged; the segment is named, and nothing is left."""
    copy, place = f"{state}-damaged", os.path.join(folder.path, "damaged-place")
    shutil.copytree(state, copy)
    os.mkdir(place)
    segment = sorted(name for name in os.listdir(f"{copy}/events") if name.endswith(".journal"))[0]
    damage(f"{copy}/events/{segment}")
    for name in ("b.tar.zst", "b"):
        shown = papertape("backup", os.path.join(place, name), "--state", copy, status=1)
        assert segment in shown and "altered" in shown, shown
    assert os.listdir(place) == [] and segment in outcome(copy)["error"], os.listdir(place)
    shutil.rmtree(copy)


def failing(folder, line):
    """The environment of a program for which that fails, as failures.c has it."""
    path = os.path.join(folder.path, "failures")
    with open(path, "w", encoding="ascii") as file:
        file.write(line + "\n")
    return os.environ | {"LD_PRELOAD": harness.FAILURES, "FAILURES": path,
                         "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def closed_parent(folder, archive):
    """An empty folder is filled, also where its parent is another's. One that is killed at whatever call while its files take
    their places leaves no state that a daemon starts on, and the same command does it again."""
    parent = os.path.join(folder.path, "closed")
    state = os.path.join(parent, "state")
    os.makedirs(os.path.join(state, "restore.papertape-part", "events"))  # of one that was killed
    prefix = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-all"] if os.geteuid() == 0 else []
    config = os.path.join(folder.path, "closed.ini")
    with open(config, "w", encoding="ascii") as file:
        file.write("[market]\nsymbols = BTCUSDT\n")
    restore = [*prefix, harness.PAPERTAPE, "restore", archive, "--state", state]
    kills = lists = 0
    while True:
        if os.geteuid() == 0:
            os.chown(parent, 65534, 65534)
        os.chmod(parent, 0o555)
        done = subprocess.run(restore, capture_output=True, text=True, timeout=harness.PATIENCE,
                              env=failing(folder, f"restoring {kills + 1}"))
        os.chmod(parent, 0o755)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done
        kills += 1
        lists += os.path.exists(os.path.join(state, "restore.papertape-list"))
        refused = subprocess.run([harness.DAEMON, "--config", config, "--state", state], capture_output=True, text=True,
                                 timeout=harness.PATIENCE)
        assert refused.returncode == 1 and "run `papertape restore` again" in refused.stderr, refused
    files = len(os.listdir(state))  # the list, they, the folder, the list; and the list before, of the one that was killed
    assert kills == files + 4 and lists == files + 3, (kills, lists, os.listdir(state))
    assert os.listdir(parent) == ["state"] and not [name for name in os.listdir(state) if "papertape-" in name], os.listdir(state)
    assert papertape("ledger", "verify", "--state", state).startswith("ledger ok")
    assert papertape("events", "verify", "--state", state).startswith("events ok")
    print(f"restore within a closed folder: killed at each of {kills} calls, and complete after the next")


def rotation(folder, state):
    """Dated archives: the newest stay, others of the folder too, and one that fails removes none."""
    place = os.path.join(folder.path, "dated")
    os.mkdir(place)
    old = [f"papertape-2026010{day}T000000Z.tar.zst" for day in range(1, 5)]
    for name in [*old, "papertape-notes.tar.zst"]:
        with open(os.path.join(place, name), "wb") as file:
            file.write(b"\x28\xb5\x2f\xfd")  # as an archive begins
    with open(os.path.join(place, "papertape-20260105T000000Z.tar.zst"), "wb"):  # cut off: not one of the three
        pass
    with open(os.path.join(place, "papertape-20260106T000000Z.tar.zst.failed"), "wb"):
        pass
    os.makedirs(os.path.join(place, old[0] + ".papertape-part", "inner"))  # of ones that were killed
    os.makedirs(os.path.join(place, old[1] + ".drill.papertape-part", "events"))
    os.makedirs(os.path.join(place, old[1] + ".drill", "events"))
    shown = papertape("backup", place, "--keep", "3", "--drill", "--state", state)
    assert "verified" in shown and "2 older removed" in shown, shown
    assert "papertape: backup: no configuration in it: --config FILE names one\n" in shown, shown  # no daemon runs
    left = [name for name in sorted(os.listdir(place)) if not name.startswith(("papertape-20260105", "papertape-20260106"))]
    assert len(left) == len(os.listdir(place)) - 2 == 4 and old[2] in left and old[3] in left and "papertape-notes.tar.zst" in left, left
    assert outcome(state)["drilled"] is True
    at_once = os.path.join(folder.path, "at-once")
    for _ in range(3):  # within a second, which the name has: each is a name of its own
        papertape("backup", at_once, "--keep", "9", "--state", state)
    assert len(os.listdir(at_once)) == 3, os.listdir(at_once)
    drill_fails(place, state)
    drill_is_not_made(folder, state)
    newest = os.path.join(place, [name for name in left if name not in old][0])
    done = subprocess.run(["tar", "--zstd", "-tf", newest], capture_output=True, text=True)
    assert done.returncode != 0 or "manifest.json" in done.stdout.split(), done  # without the program zstd tar cannot
    return newest


def refused(folder, state, archive):
    """Each with a sentence, and nothing is left."""
    room = os.path.join(folder.path, "room")
    os.mkdir(room)
    cases = ((("backup", archive, "--state", state), f"{archive}: exists"),
             (("backup", os.path.join(room, "no/such.tar.zst"), "--state", state), "No such file or directory"),
             (("backup", os.path.join(room, "x.tar.zst"), "--state", state, "--config", os.path.join(room, "no.ini")), "no.ini: No such file"),
             (("restore", archive, "--state", state), "it is not empty"),
             (("restore", os.path.join(state, "backup.json"), "--state", os.path.join(room, "s")), "damaged, or no backup"),
             (("backup", os.path.join(room, "x.tar.zst"), "--keep", "2", "--state", state), "a folder is needed"),
             (("restore", archive, "--from-events", "--state", os.path.join(room, "s")), "one of both is right: a backup, or --from-events"),
             (("restore", "--state", os.path.join(room, "s")), "a backup, or --from-events"))
    before = outcome(state)
    for arguments, words in cases:
        shown = papertape(*arguments, status=2 if "--from-events" in words else 1)
        assert words in shown, (arguments, shown)
    assert outcome(state) == before, "what a person mistyped is no failed backup"
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))  # noqa: E731
    for name in ("small.tar.zst", "small"):
        shown = papertape("backup", os.path.join(room, name), "--state", state, status=1, preexec_fn=limit)
        assert "File too large" in shown, shown
        assert outcome(state)["ok"] is False and "File too large" in outcome(state)["error"], outcome(state)
    papertape("backup", "near", "--state", os.path.abspath(state), cwd=room)
    assert outcome(state)["ok"] is True and outcome(state)["file"] == os.path.join(room, "near"), outcome(state)
    shutil.rmtree(os.path.join(room, "near"))
    with open(archive, "r+b") as file:  # cut off
        file.truncate(os.path.getsize(archive) // 2)
    assert "damaged" in papertape("restore", archive, "--state", os.path.join(room, "s"), status=1)
    assert os.listdir(room) == [], os.listdir(room)
    print("refused:", len(cases) + 3, "cases, nothing left")


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
        alone = "adds up, but rests in part on the database alone"
        sound(started, started=not words, outcome=alone if origin == "database" else "ok")
        there(started, all_of_them if name in ("older", "newer") else before)
        started.stop(signal.SIGKILL)
    print("in parts: database alone, log alone, either older than the other: as the page has it")


def taken_away(folder, daemon):
    """Its directory is renamed: noticed, and a new one starts; the former one stays as it is."""
    daemon.wait_status(lambda s: s["rests_on_database"] is not None, "what the log has is noted")
    os.rename(f"{daemon.state}/events", os.path.join(folder.path, "away"))
    status = daemon.wait_status(lambda s: s["events"]["holes"] == 1 and s["events"]["state"] == s["db"]["state"] == "ok", "a new log")
    alerts = [a for a in json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"] if a["code"] == "event-log-hole"]
    assert len(alerts) == 1 and alerts[0]["severity"] == "error", alerts
    assert f"{daemon.state}/events or its newest segment was removed or renamed: a new log begins" in alerts[0]["text"], alerts
    for where in (daemon.state, os.path.join(folder.path, "away")):
        done = subprocess.run([harness.PAPERTAPE, "events", "verify", where], capture_output=True, text=True, timeout=harness.PATIENCE)
        assert done.returncode == 0, done
    assert harness.control(daemon, "order", {"symbol": "BTCUSDT", "side": "buy", "qty": "0.001", "account": "hand", "client_id": "after"})["ok"]
    assert "rest on the database alone" in daemon.papertape("parity", status=1)
    print("taken away:", alerts[0]["text"].replace(folder.path, "…"), "|", status["events"]["lost"], "events lost")


def age(state):
    """Bars of 1970 by the thousand."""
    database = sqlite3.connect(os.path.join(state, "papertape.db"))
    assert database.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    database.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO bars (symbol, interval_ns, source, open_ns, "
        "open, high, low, close, volume, quote_volume, trades, first_trade_id, last_trade_id) SELECT 1, 1000000000, 'venue', i * 1000000000, 1, 1, "
        "1, 1, '1', '1', 1, -1, -1 FROM n")
    database.commit()
    database.close()


def kept(daemon):
    """[retention] leaves the newest 2,000 of a series, which those of today are part of."""
    count = "SELECT count(*), sum(open_ns > 1000000000000000000) > 0 FROM bars WHERE symbol = 1 AND interval_ns = 1000000000 AND source = 'venue'"
    harness.wait_for(lambda: 2000 <= daemon.query(count)[0][0] < 2100 and daemon.query(count)[0][1], "bars that are no longer kept")


def stopped(folder, replay, state, every):
    backup, restored = os.path.join(folder.path, "cold"), os.path.join(folder.path, "cold-restored")
    carry_out("Of a running daemon", STATE=state, BACKUP=backup)
    carry_out("Check it", BACKUP=backup)
    with open(f"{backup}/manifest.json", encoding="utf-8") as file:
        assert list(json.load(file)["files"])[0] == "notify.db"  # never newer than the record
    os.mkdir(restored)
    carry_out("Restore it", BACKUP=backup, STATE=restored)
    age(restored)
    again = start(folder, replay, "cold-restored")
    there(again, every)
    kept(again)
    recovery = again.status_object()["recovery"]
    assert recovery["from"] == "log" and recovery["again"] == 0, recovery
    sound(again)
    refused_in_use = subprocess.run([harness.PAPERTAPE, "restore", backup, "--state", restored], capture_output=True, text=True)
    assert refused_in_use.returncode == 1 and "in use by papertaped, pid" in refused_in_use.stderr, refused_in_use
    print(f"stopped: {recovery['played']} events are played again, no row is new")
    return again


def from_events(folder, backup):
    """The verb builds what the log has."""
    state = os.path.join(folder.path, "rebuilt")
    shutil.copytree(backup, state)
    want = papertape("ledger", "verify", "--state", state)
    os.remove(os.path.join(state, "papertape.db"))
    shown = json.loads(papertape("restore", "--from-events", "--state", state, "--json"))
    assert shown["schema"] == "papertape.rebuilt/1" and shown["whole_from"] == 0 and not shown["lost_money"], shown
    rebuilt = papertape("ledger", "verify", "--state", state)
    assert rebuilt.split("\n")[0].startswith("ledger ok"), (want, rebuilt)


def read_only(folder, state):
    """A disk that is mounted read-only, as after an error, is read, and gives a backup; the notices, which a sink holds, too."""
    shutil.copytree(state, os.path.join(folder.path, "fixed"))
    fixed, backup = os.path.join(folder.path, "fixed"), os.path.join(folder.path, "of-fixed")
    for name in os.listdir(fixed):
        if name.endswith(("-shm", "-wal")):
            os.remove(os.path.join(fixed, name))
    prefix = harness.with_mounts(harness.read_only(fixed))
    if not harness.works(prefix):
        print("read-only: no mount is allowed here")
        return
    for arguments in (["positions", "--state", fixed], ["backup", backup, "--state", fixed]):
        done = subprocess.run([*prefix, harness.PAPERTAPE, *arguments], capture_output=True, text=True, timeout=harness.PATIENCE)
        assert done.returncode == 0 and done.stdout, done
    with open(f"{backup}/manifest.json", encoding="utf-8") as file:
        assert {"notify.db", "papertape.db"} <= json.load(file)["files"].keys()
    papertape("restore", backup, "--state", os.path.join(folder.path, "of-fixed-restored"))


def names_in(folder):
    """It, and all that is in it."""
    return [folder] + [os.path.join(at, name) for at, folders, files in os.walk(folder) for name in folders + files]


def before_upgrade(folder, replay):
    """What the upgrade of a state of schema 7 keeps is restored as it was; without one of its segments it is not."""
    with tarfile.open(os.path.join(harness.SOURCE, "tests/packages/state_of_62902893.tar.xz")) as archive:
        archive.extractall(folder.path)
    state, restored = os.path.join(folder.path, "papertape"), os.path.join(folder.path, "before")
    for name in names_in(state):
        os.chown(name, os.geteuid(), os.getegid())
    have = "SELECT (SELECT count(*) FROM fills), (SELECT lower(hex(hash)) FROM ledger ORDER BY id DESC LIMIT 1)"
    before, segments = harness.query(f"{state}/papertape.db", have), sorted(os.listdir(f"{state}/events"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="papertape", state="papertape"))
    daemon.wait_status(lambda s: s["db"]["state"] == "ok" and len(os.listdir(f"{state}/events")) > len(segments), "a log after the upgrade")
    assert daemon.stop() == 0
    kept = f"{state}/former/schema-7"
    assert sorted(os.listdir(f"{kept}/events")) == segments
    if os.geteuid() == 0:  # what root restores is the owner's of the folder that it replaces
        os.mkdir(restored)
        os.chown(restored, 65534, 65533)
        assert "ledger not verified yet" in papertape("restore", kept, "--state", restored)
        assert {(os.lstat(name).st_uid, os.lstat(name).st_gid) for name in names_in(restored)} == {(65534, 65533)}
        shutil.rmtree(restored)
    shown = json.loads(papertape("restore", kept, "--state", restored, "--json"))
    assert shown["configured"] is False and shown["older"] and shown["hash"] == before[0][1] and shown["log_event"] > shown["event"] > 0, (shown, before)
    assert harness.query(f"{restored}/papertape.db", "PRAGMA user_version") == [(7,)]
    assert harness.query(f"{restored}/papertape.db", have) == before
    assert sorted(os.listdir(f"{restored}/events")) == segments
    again = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="before", state="before"))
    again.wait_status(lambda s: s["db"]["state"] == "ok", "a start from it")
    assert again.query(f"SELECT lower(hex(hash)) FROM ledger WHERE id = {shown['ledger_rows']}") == [(shown["hash"],)]
    assert again.stop() == 0
    damage(os.path.join(kept, "events", segments[-1]))
    assert segments[-1] in papertape("restore", kept, "--state", os.path.join(folder.path, "damaged"), status=1)
    assert not os.path.exists(os.path.join(folder.path, "damaged"))
    os.rename(f"{kept}/papertape.db", f"{kept}/other")
    assert "papertape.db" in papertape("restore", kept, "--state", os.path.join(folder.path, "damaged"), status=1)
    print(f"before an upgrade: {shown['files']} files of schema 7, up to event {shown['event']}, hash {shown['hash']}")


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--rate", "400"))
        backup, state, before, every = running(folder, replay)
        archive = rotation(folder, state)
        closed_parent(folder, archive)
        damaged_segment(folder, state)
        refused(folder, state, archive)
        from_events(folder, backup)
        again = stopped(folder, replay, state, every)
        taken_away(folder, again)
        assert again.stop() == 0
        read_only(folder, again.state)
        in_parts(folder, replay, backup, state, before, every)
        before_upgrade(folder, replay)
        assert replay.stop() == 0


main()
