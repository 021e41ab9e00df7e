#!/usr/bin/env python3
"""A text field of an order is a member, lines of its record and a migration: order_field.patch.

    order_field.py                it applies, touches these product files alone, and a flag of an order is named in few
    order_field.py BUILD          with the patch, in a copy of the tree: what BUILD's programs stored is read, replayed and verified,
                                  and the field is given by `order buy --note`, kept, shown, replayed and compared

PAPERTAPE_TRIAL: a folder for the copy, which is kept for the next time."""

import csv
import filecmp
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PATCH = os.path.join(HERE, "order_field.patch")
PRODUCT_FILES_MOST = 3
FLAG, FLAG_FILES_MOST = "reduce_only", 41
NO_PRODUCT = ("tests/", "bench/", "docs/", "NEWS.md")
CONFIG = """[market]
symbols = BTCUSDT
interval = 1s
history = 20
[account main]
cash = 100000
strategy = sma-cross-rsi
strategy.fast = 3
strategy.slow = 8
strategy.rsi_max = 95
strategy.fraction = 0.3
[account hand]
cash = 100000
strategy = none
"""


def git(*arguments):
    return subprocess.run(["git", "-C", SOURCE, *arguments], capture_output=True, text=True, check=True).stdout


def copy_tree(to):
    """The tracked files as they are; one that is the same keeps its time, for what was built of it."""
    for path in git("ls-files").splitlines():
        source, copy = os.path.join(SOURCE, path), os.path.join(to, path)
        if os.path.isfile(source) and not (os.path.isfile(copy) and filecmp.cmp(source, copy, shallow=False)):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(source, copy)


def apply(tree, *arguments):
    subprocess.run(["git", "apply", *arguments, PATCH], cwd=tree, check=True, env=os.environ | {"GIT_CEILING_DIRECTORIES": os.path.dirname(tree)})


def look():
    """The fast part."""
    git("apply", "--check", PATCH)
    with open(PATCH, encoding="utf-8") as file:
        touched = {path for path in re.findall(r"^\+\+\+ b/(.*)$", file.read(), re.M) if not path.startswith(NO_PRODUCT)}
    assert len(touched) <= PRODUCT_FILES_MOST, sorted(touched)
    named = git("grep", "-lw", FLAG, "--", *(f":!{path.rstrip('/')}" for path in NO_PRODUCT)).split()
    assert 0 < len(named) <= FLAG_FILES_MOST, f"{FLAG} is named in {len(named)} files, of {FLAG_FILES_MOST}: " + " ".join(named)
    print(f"{len(touched)} product files for a field; {FLAG} in {len(named)} files")


def build(tree):
    folder = os.path.join(tree, "build")
    environment = os.environ | {"CCACHE_BASEDIR": tree, "CCACHE_NOHASHDIR": "1"}
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["meson", "setup", folder, tree, "-Dcuda=disabled"], check=True, env=environment, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "daemon/papertaped", "tui/papertape"], check=True, env=environment, stdout=subprocess.DEVNULL)
    return folder


def use(harness, folder):
    harness.DAEMON, harness.PAPERTAPE = os.path.join(folder, "daemon/papertaped"), os.path.join(folder, "tui/papertape")


def start(harness, programs, folder, replay):
    daemon = folder.start(programs.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"]))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book")
    return daemon


def verified(daemon, events):
    """Database and log say the same, of every run."""
    daemon.papertape("ledger", "verify")
    parity = json.loads(daemon.papertape("parity", "--json"))
    assert parity["ok"] is True and parity["events"] > events, parity
    return parity["events"]


def trial(before, after):
    os.environ["PAPERTAPE_BUILD"] = before
    sys.path[:0] = [os.path.join(SOURCE, "tests/system")]
    import harness
    import programs
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7", "--speed", "20"))
        # By the programs without the field.
        daemon = start(harness, programs, folder, replay)
        daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand", "--limit", "40000", "--client-id", "old", "--post-only")
        daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand", "--note", "n-1", status=2)
        daemon.wait_status(lambda s: s["counters"]["fills"] > 2, "fills")
        assert daemon.stop() == 0
        old = json.loads(daemon.papertape("orders", "--json"))["orders"]
        # With it: what is there loads and is verified; the old order lives.
        use(programs, after)
        daemon = start(harness, programs, folder, replay)
        assert daemon.status_object()["recovery"]["from"] == "log", daemon.status_object()["recovery"]
        now = {row["order"]: row for row in json.loads(daemon.papertape("orders", "--json"))["orders"]}
        for row in old:
            assert now[row["order"]]["note"] == "" and (now[row["order"]] | {"note": None}).keys() == (row | {"note": None}).keys(), row
        text = daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand", "--limit", "40000", "--note", "n-1")
        number = int(text.split()[1])
        status = next(o for o in daemon.status_object()["orders"] if o["order"] == number)
        assert status["note"] == "n-1", status
        refused = daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand", "--note", "n" * 48, status=1)
        assert "--note: " in refused and ": 1 to 47 of" in refused, refused
        daemon.popen.kill()  # a kill, so that the state of the log is what it starts from
        daemon.popen.wait()
        daemon = start(harness, programs, folder, replay)
        status = next(o for o in daemon.status_object()["orders"] if o["order"] == number)
        assert status["note"] == "n-1", status
        assert daemon.stop() == 0
        assert replay.stop() == 0
        events = verified(daemon, 0)
        of_csv = next(row for row in csv.DictReader(io.StringIO(daemon.papertape("orders", "--csv"))) if row["order"] == str(number))
        of_json = next(row for row in json.loads(daemon.papertape("orders", "--json"))["orders"] if row["order"] == number)
        table = daemon.papertape("orders").splitlines()
        assert of_csv["note"] == of_json["note"] == "n-1", (of_csv, of_json)
        assert table[0].split()[-1] == "note" and any(line.split()[-1] == "n-1" for line in table), table
        assert 'note "n-1"' in daemon.papertape("explain", str(number))
        why = json.loads(daemon.papertape("explain", str(number), "--json"))["orders"][0]
        assert why["final"]["note"] == "n-1" and all(change["order"]["note"] == "n-1" for change in why["changes"]), why
        # The comparison and the seal find one that was altered.
        path = os.path.join(daemon.state, "papertape.db")
        with sqlite3.connect(path) as database:
            database.execute("UPDATE orders SET note = 'n-2' WHERE id = ?", (number,))
        parity = json.loads(daemon.papertape("parity", "--json", status=None).splitlines()[0])
        difference = parity["difference"]
        assert not parity["ok"] and difference["field"] == "note" and '"n-2"' in difference.values(), parity
        assert "orders" in daemon.papertape("ledger", "verify", status=1)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE orders SET note = 'n-1' WHERE id = ?", (number,))
            database.execute("UPDATE orders SET note = 'n-1' WHERE id = ?", (old[0]["order"],))
        assert f"{old[0]['order']}" in daemon.papertape("ledger", "verify", status=1)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE orders SET note = '' WHERE id = ?", (old[0]["order"],))
        verified(daemon, events - 1)
    print("given, kept, shown, replayed, compared, sealed; and what was there before")


if not os.path.exists(os.path.join(SOURCE, ".git")):
    print("source/order_field: skipped: this is no clone, whose list of files is needed")
    sys.exit(77)
look()
if len(sys.argv) > 1:
    tree = os.environ.get("PAPERTAPE_TRIAL") or tempfile.mkdtemp(prefix="papertape-trial-")
    try:
        for path in re.findall(r"^\+\+\+ b/(.*)$", open(PATCH, encoding="utf-8").read(), re.M):
            if os.path.exists(os.path.join(tree, path)):
                os.remove(os.path.join(tree, path))
        copy_tree(tree)
        apply(tree)
        trial(os.path.abspath(sys.argv[1]), build(tree))
    finally:
        if "PAPERTAPE_TRIAL" not in os.environ:
            shutil.rmtree(tree)
