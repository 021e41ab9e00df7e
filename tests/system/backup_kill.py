#!/usr/bin/env python3
"""kill -9 of the backup, of the daemon or of the restore, at random moments, while a strategy trades: a killed backup leaves its name
free or a whole backup there, and the next one of that name removes the rest; a killed daemon costs the backup nothing; a killed restore
is run again. What each backup is restored to has the ledger of its moment, hash by hash, and parity with its event log."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

import harness

SEEDS = 50 if harness.LONG else 3
FIRST = int(os.environ.get("PAPERTAPE_SEED", "1"))
CONFIG = harness.BUSY_CONFIG + "[events]\nsegment_mb = 1\n"


def verb(*arguments):
    done = subprocess.run([harness.PAPERTAPE, *arguments], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode == 0, (arguments, done)
    return done.stdout


def start(folder, replay):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" and x["last"] for x in s["symbols"]), "books in step")
    return daemon


def fills(daemon):
    return len(daemon.query("SELECT id FROM fills"))


def is_whole(restored):
    """papertape.db is the last name that is put there, and then the list of names goes."""
    return os.path.exists(os.path.join(restored, "papertape.db")) and not os.path.exists(os.path.join(restored, "restore.papertape-list"))


def check(daemon, backup, restored):
    """Elsewhere it is the record of its moment; also where a restore was killed, or killed once all was done."""
    states = {restored, restored + "-again" if is_whole(restored) else restored}
    shown = json.loads(verb("restore", backup, "--state", max(states), "--json"))
    source = daemon.query(f"SELECT lower(hex(hash)) FROM ledger WHERE id = {shown['ledger_rows']}")
    assert source == [(shown["hash"],)], (source, shown)
    for state in states:
        verified = json.loads(verb("ledger", "verify", "--state", state, "--json"))
        assert verified["ok"] and verified["hash"] == shown["hash"] and verified["rows"] == shown["ledger_rows"] > 0, (shown, verified)
        assert verb("parity", "--state", state).startswith("parity ok")
        assert [name for name in os.listdir(state) if name.startswith("restore.")] == [], os.listdir(state)
        shutil.rmtree(state)


def kill(process, moment):
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    return process.wait()


def start_verb(*arguments):
    return subprocess.Popen([harness.PAPERTAPE, *arguments], stdout=subprocess.DEVNULL)


def kill_restore(daemon, backup, restored, moment):
    verb("backup", backup, "--state", daemon.state)
    killed = kill(start_verb("restore", backup, "--state", restored), moment)
    assert killed in (0, -signal.SIGKILL), killed
    left = "all" if is_whole(restored) else "some" if os.path.exists(restored) and os.listdir(restored) else "nothing"
    check(daemon, backup, restored)
    return f"restore, which left {left}"


def run(folder, replay, daemon, seed, took):
    chance = random.Random(seed)
    side = ("backup", "daemon", "restore")[seed % 3]
    moment = chance.uniform(0, 1.1 * took["restore" if side == "restore" else "backup"])
    backup = os.path.join(folder.path, f"backup-{seed}" + chance.choice((".tar.zst", "")))
    restored = os.path.join(folder.path, "restored")
    if side == "restore":
        return daemon, kill_restore(daemon, backup, restored, moment)
    process = start_verb("backup", backup, "--state", daemon.state)
    if side == "backup":
        killed = kill(process, moment)
    else:
        time.sleep(moment)
        daemon.stop(signal.SIGKILL)
        killed = process.wait(harness.PATIENCE)
        assert killed == 0, (seed, killed)
        daemon = start(folder, replay)
    there = os.path.exists(backup)
    assert there or killed == -signal.SIGKILL, (seed, side, killed)
    if not there:
        verb("backup", backup, "--state", daemon.state)
    left = [name for name in os.listdir(folder.path) if name.startswith(os.path.basename(backup) + ".")]
    assert left == [] or there, (seed, left)
    check(daemon, backup, restored)
    return daemon, f"{side}{'' if there else ', which left nothing'}"


def measure(daemon, path):
    """Seconds of each verb."""
    took = {}
    for name, arguments in (("backup", (path, "--state", daemon.state)), ("restore", (path, "--state", path + ".state"))):
        began = time.monotonic()
        verb(name, *arguments)
        took[name] = time.monotonic() - began
    return took


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--rate", "400"))
        daemon = start(folder, replay)
        harness.wait_for(lambda: fills(daemon) > 3, "fills")
        took = measure(daemon, os.path.join(folder.path, "first.tar.zst"))
        counts = {}
        for seed in range(FIRST, FIRST + SEEDS):
            daemon, what = run(folder, replay, daemon, seed, took)
            counts[what] = counts.get(what, 0) + 1
        assert daemon.stop() == 0
        assert replay.stop() == 0
        print(f"{SEEDS} seeds from {FIRST} on, a backup takes {took['backup']:.2f} s, a restore {took['restore']:.2f} s; killed: {counts}")


main()
