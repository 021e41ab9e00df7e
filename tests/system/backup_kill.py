#!/usr/bin/env python3
"""kill -9 of either side of a backup, at random moments, while a strategy trades: a killed backup leaves its name free or a whole
backup there, and the next one of that name removes the rest; a killed daemon costs the backup nothing. What each backup is restored
to has the ledger of its moment, hash by hash, and parity with its event log."""

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


def check(daemon, backup, restored):
    """Elsewhere it is the record of its moment."""
    shown = json.loads(verb("restore", backup, "--state", restored, "--json"))
    verified = json.loads(verb("ledger", "verify", "--state", restored, "--json"))
    assert verified["ok"] and verified["hash"] == shown["hash"] and verified["rows"] == shown["ledger_rows"] > 0, (shown, verified)
    source = daemon.query(f"SELECT lower(hex(hash)) FROM ledger WHERE id = {shown['ledger_rows']}")
    assert source == [(shown["hash"],)], (source, shown)
    assert verb("parity", "--state", restored).startswith("parity ok")
    shutil.rmtree(restored)


def kill_backup(process, moment):
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    return process.wait()


def run(folder, replay, daemon, seed, long_s):
    chance = random.Random(seed)
    side, moment = ("backup", "daemon")[seed % 2], chance.uniform(0, 1.1 * long_s)
    backup = os.path.join(folder.path, f"backup-{seed}" + chance.choice((".tar.zst", "")))
    process = subprocess.Popen([harness.PAPERTAPE, "backup", backup, "--state", daemon.state], stdout=subprocess.DEVNULL)
    if side == "backup":
        killed = kill_backup(process, moment)
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
    check(daemon, backup, os.path.join(folder.path, "restored"))
    return daemon, f"{side}{'' if there else ', which left nothing'}"


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--rate", "400"))
        daemon = start(folder, replay)
        harness.wait_for(lambda: fills(daemon) > 3, "fills")
        began = time.monotonic()
        verb("backup", os.path.join(folder.path, "first.tar.zst"), "--state", daemon.state)
        long_s = time.monotonic() - began
        counts = {}
        for seed in range(FIRST, FIRST + SEEDS):
            daemon, what = run(folder, replay, daemon, seed, long_s)
            counts[what] = counts.get(what, 0) + 1
        assert daemon.stop() == 0
        assert replay.stop() == 0
        print(f"{SEEDS} seeds from {FIRST} on, a backup takes {long_s:.2f} s; killed: {counts}")


main()
