#!/usr/bin/env python3
"""How the daemon ends, and what it refuses to begin with: a stop on a full disk, in time and with success; a clean stop, after
which nothing is played again; a bad configuration, keys and a state directory that are not its own, with status 2 and in words."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import harness

CONFIG = """
[market]
symbols = BTCUSDT
interval = 1s
history = 20
[engine]
latency_ms = 0
[account main]
strategy = none
"""
STOP_S = 25  # less than the unit's TimeoutStopSec=30s
BUY = {"symbol": "BTCUSDT", "side": "buy", "qty": "0.01"}


class Manager(harness.Manager):
    """Keeps what systemd would get."""

    def __init__(self, path):
        super().__init__(path)
        self.lines = []
        self.start()

    def take(self, line):
        self.lines.append(line)

    def says(self, words):
        return [line for line in self.lines if line.startswith("STATUS=") and words in line]


def start(folder, replay, name, **kwargs):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=name, state="stops", **kwargs))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced" and s["symbols"][0]["last"], "books in step")
    return daemon


def order(daemon, name):
    return harness.control(daemon, "order", BUY | {"client_id": name})


def unstored(daemon):
    """Both failures are alerts, and what the database cannot store is still listed."""
    assert daemon.query("SELECT 1 FROM alerts WHERE code = 'storage' AND acked_ns IS NULL AND closed_ns IS NULL") == []
    alerts = json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"]
    texts = [alert["text"] for alert in alerts if alert["code"] == "storage" and alert["state"] == "open"]
    assert any(text.startswith("event log: ") for text in texts), alerts
    assert len([alert for alert in alerts if alert["state"] == "open"]) == daemon.status_object()["alerts_open"], alerts
    assert "event log: " in daemon.papertape("alerts", "list")
    shown = json.loads(daemon.papertape("--once", "--json"))["alerts"]
    assert len([alert for alert in shown if alert["code"] == "storage"]) == len(texts), shown
    print("alerts that cannot be stored:", "; ".join(texts))


def full_disk(folder, replay):
    """A limit on the size of files stands for it, as elsewhere; the log goes to a pipe, which has none."""
    path = os.path.join(folder.path, "notify")
    manager = Manager(path)
    said = []
    daemon = start(folder, replay, "full", env=os.environ | {"NOTIFY_SOCKET": path}, stderr=subprocess.PIPE, text=True)
    threading.Thread(target=lambda: said.extend(daemon.popen.stderr), daemon=True).start()
    harness.wait_for(lambda: manager.says("feed ok, trading on paper"), "STATUS")
    assert order(daemon, "kept")["ok"]
    _, hard = resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (1, hard))
    daemon.wait_status(lambda s: s["db"]["state"] == "failing" and s["events"]["state"] == "failing", "the full disk")
    status = harness.wait_for(lambda: manager.says("storage failing: event log: "), "STATUS that says so")[0]
    answer = harness.control(daemon, "pause", {"key": "p"})
    assert answer["error"]["code"] == "STORAGE", answer
    refused = harness.control(daemon, "order", BUY | {"qty": "0", "client_id": "none"})["error"]
    assert refused["code"] == "STORAGE" and refused["message"].startswith("refused, "), refused
    assert "(order " not in refused["message"], refused  # another order may get the number
    unstored(daemon)
    began = time.monotonic()
    assert daemon.stop() == 0, said
    took = time.monotonic() - began
    assert took < STOP_S, took
    harness.wait_for(lambda: any("stopped while the disk refuses: none of that was acknowledged" in line for line in said), "the last line")
    assert any("rows could not be stored" in line for line in said), said
    daemon = start(folder, replay, "after")
    assert daemon.query("SELECT state FROM orders WHERE client_id = 'kept'") == [("FILLED",)]
    assert order(daemon, "kept")["result"]["repeated"] is True
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    assert daemon.stop() == 0
    print(f"full disk: stopped in {took:.1f} s with status 0; {status}")


def clean_stop(folder, replay):
    daemon = start(folder, replay, "clean")
    path = os.path.join(daemon.state, "control.sock")
    lock = os.path.join(daemon.state, "papertaped.lock")
    os.unlink(path)
    os.unlink(lock)
    harness.wait_for(lambda: os.path.exists(path) and os.path.exists(lock), "the socket made again, and the lock")
    assert harness.wait_for(lambda: open(lock, encoding="ascii").read(), "the lock's owner") == f"{daemon.popen.pid}\n"
    harness.wait_for(lambda: "control.sock was removed: it is made again" in daemon.log_text(), "the log of it")
    assert order(daemon, "clean")["ok"]
    daemon.wait_status(lambda s: s["positions"], "a position")
    assert daemon.stop() == 0
    daemon = start(folder, replay, "again")
    recovery = daemon.status_object()["recovery"]
    assert recovery["from"] == "log" and recovery["played"] == 0 and recovery["again"] == 0, recovery
    assert "event log: 0 events played in" in daemon.log_text(), daemon.log_text()
    assert order(daemon, "clean")["result"]["repeated"] is True
    refused = harness.control(daemon, "order", BUY | {"qty": "1000", "client_id": "much"})
    assert not refused["ok"], refused
    harness.wait_for(lambda: f"refused: {refused['error']['code']}: account main, BUY BTCUSDT 1000: the quantity is outside the venue's bounds for "
                             "market orders: at most 120\n" in daemon.log_text(),
                     "the refusal in the log, with account and symbol")
    assert json.loads(daemon.papertape("parity", "--json"))["ok"] is True
    daemon.popen.send_signal(signal.SIGKILL)
    daemon.popen.wait()
    daemon = start(folder, replay, "killed")
    assert daemon.status_object()["recovery"]["played"] > 0
    assert daemon.stop() == 0
    print("clean stop: 0 events played again; after a kill some are")


def at_the_start(folder, replay):
    """SIGTERM before the loop takes signals: the syncs of the start are slow, so that it comes in their midst. A stop in
    the midst of a rebuild leaves database and log as they were, and the next start builds it."""
    slow = os.path.join(folder.path, "slow")
    env = os.environ | {"LD_PRELOAD": harness.SLOW_SYNC, "SLOW_SYNC": slow,
                        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def syncs(text):
        with open(slow + ".new", "w", encoding="ascii") as file:
            file.write(text)
        os.rename(slow + ".new", slow)

    def stopped(name, state, moment):
        syncs("500 papertape.db\n")
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=name, state=state, env=env))
        harness.wait_for(lambda: daemon.popen.poll() is not None or moment(daemon), "the moment")
        daemon.popen.send_signal(signal.SIGTERM)
        syncs("0 /\n")
        assert daemon.popen.wait(harness.PATIENCE) == 0, (name, daemon.popen.returncode, daemon.log_text())
        return daemon

    def locked(daemon):
        lock = os.path.join(daemon.state, "papertaped.lock")
        return os.path.exists(lock) and open(lock, encoding="ascii").read() == f"{daemon.popen.pid}\n"

    stopped("early", "early", locked)
    stopped("early-again", "stops", locked)
    database = os.path.join(folder.path, "stops", "papertape.db")
    with open(database, "r+b") as file:
        file.write(b"\0" * 100)
    with open(database, "rb") as file:
        before = file.read()
    daemon = stopped("rebuilds", "stops", lambda daemon: "it is built again from the event log" in daemon.log_text())
    assert "stopped at the start" in daemon.log_text() and "was built again" not in daemon.log_text(), daemon.log_text()
    with open(database, "rb") as file:
        assert file.read() == before, "the database was touched"
    assert not [name for name in os.listdir(daemon.state) if "rebuil" in name], os.listdir(daemon.state)
    daemon = start(folder, replay, "rebuilt")
    assert "the database was built again" in daemon.log_text(), daemon.log_text()
    assert daemon.query("SELECT state FROM orders WHERE client_id = 'kept'") == [("FILLED",)]
    assert daemon.stop() == 0
    print("SIGTERM at a start, and in the midst of a rebuild: status 0; the next start built it")


def missed_nothing(folder, replay):
    """A restart within a bar: the log says how long it was away, and nothing has to be acknowledged."""
    config = CONFIG.replace("interval = 1s", "interval = 1d")
    for name in ("day", "same-day"):
        daemon = folder.start(harness.Daemon(folder.path, replay, config, name=name, state="day"))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "books in step")
        assert name == "day" or harness.wait_for(lambda: "away for " in daemon.log_text(), "how long it was away")
        assert daemon.stop() == 0
    assert daemon.query("SELECT text FROM alerts WHERE code = 'away'") == [], daemon.log_text()


def unreadable(folder, ends):
    """A database and a log that the daemon's user may not read stay as they are: a sound one is no damaged one."""
    mode, state = os.stat(folder.path).st_mode, os.path.join(folder.path, "unreadable")
    os.chmod(folder.path, 0o755)
    shutil.copytree(os.path.join(folder.path, "stops"), state, ignore=lambda _, names: [n for n in names if n.endswith(".sock")])
    for at, directories, files in os.walk(state):
        for name in (".", *directories, *files):
            os.chown(os.path.join(at, name), 65534, 65534)
    before = sorted(os.listdir(state))
    try:
        for name, needed in (("papertape.db", "chmod 0640 "), ("events", "chmod 0750 ")):
            path = os.path.join(state, name)
            was = os.stat(path).st_mode
            os.chmod(path, 0)
            ends(f"unreadable-{name}", 2, f"{path}: uid 65534, which runs this, may not read and write it", needed + path,
                 state=state, user=65534, group=65534, extra_groups=[])
            os.chmod(path, was)
        assert sorted(os.listdir(state)) == before, (before, os.listdir(state))
    except PermissionError:
        print("what cannot be read is not tried: uid 65534 may not run", harness.DAEMON)
    os.chmod(folder.path, mode)


def refused(folder, replay):
    """Once, in one line and with status 2, which the unit does not start again."""
    def ends(what, status, *words, config="", state="refused", **kwargs):
        daemon = folder.start(harness.Daemon(folder.path, replay, config, name=what, state=state, **kwargs))
        got = daemon.popen.wait(30)  # it must not hang
        lines = [line for line in daemon.log_text().splitlines() if line.startswith("papertaped: ")]
        assert got == status and len(lines) == 1, (what, got, daemon.log_text())
        for word in words:
            assert word in lines[0], (what, word, lines)
        print("refused:", lines[0].replace(folder.path, "…"))

    ends("config", 2, "config.ini:2", "symbls", config="[market]\nsymbls = BTCUSDT\n")
    ends("unlisted", 2, "unlisted.ini:2: [market] symbols: BTCUSTD", config="[market]\nsymbols = BTCUSTD\n")
    ends("keys", 2, "keys.ini:5: [venue alpaca] keys: /nope", config="[market]\nvenue = alpaca\nsymbols = AAPL\n[venue alpaca]\nkeys = /nope\n")
    ends("policy", 2, "policy.ini:3: [account a] policy: /nope.safetensors", config="\n[account a]\npolicy = /nope.safetensors\n")
    fifo = os.path.join(folder.path, "keys-fifo")
    os.mkfifo(fifo, 0o600)
    keys = "[market]\nvenue = alpaca\nsymbols = AAPL\n[venue alpaca]\nkeys = {}\n"
    ends("fifo", 2, "is a FIFO", "two lines", config=keys.format(fifo))
    if os.geteuid() == 0:
        other = harness.write_keys(folder.path, "keys-other", "hush")
        os.chown(other, 65534, 65534)
        ends("other", 2, "belongs to uid 65534", config=keys.format(other))
    os.mkdir(os.path.join(folder.path, "open"))
    os.chmod(os.path.join(folder.path, "open"), 0o777)
    ends("open", 2, "every user may write in it (mode 0777)", "chmod 0750", state="open")
    os.mkdir(os.path.join(folder.path, "linked"), 0o750)
    elsewhere = os.path.join(folder.path, "elsewhere.db")
    os.symlink(elsewhere, os.path.join(folder.path, "linked/papertape.db"))
    ends("linked", 2, "papertape.db: is a symbolic link", state="linked")
    assert not os.path.exists(elsewhere)
    with open(os.path.join(folder.path, "file"), "w", encoding="ascii"):
        pass
    ends("file", 2, "file: is not a directory", state="file")
    for name, words in (("events", "is a symbolic link that leads nowhere"), ("papertaped.lock", "is a symbolic link: a file is needed")):
        state = os.path.join(folder.path, f"dangling-{name}")
        os.mkdir(state, 0o750)
        os.symlink("nowhere", os.path.join(state, name))
        ends(f"dangling-{name}", 2, f"{name}: {words}", state=state)
    if os.geteuid() == 0:
        unreadable(folder, ends)
    done = subprocess.run([harness.DAEMON, "--rebuild", "--state", os.path.join(folder.path, "nope")], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == 2 and "nope/events: No such file or directory" in done.stderr and done.stderr.count("\n") == 1, done
    assert not os.path.exists(os.path.join(folder.path, "nope"))


def checked(folder):
    """--check-config finds what a start would, and waits for nothing."""
    fifo, empty, config = (os.path.join(folder.path, name) for name in ("fifo", "empty.pem", "checked.ini"))
    os.mkfifo(fifo)
    with open(empty, "w", encoding="ascii"):
        pass

    def check(words, *arguments, text=None):
        if text is not None:
            with open(config, "w", encoding="ascii") as file:
                file.write(text)
        done = subprocess.run([*arguments], capture_output=True, text=True, timeout=harness.PATIENCE)
        assert words in done.stderr and done.stderr.count("\n") == 1, (words, done)
        return done.returncode

    daemon = (harness.DAEMON, "--check-config", "--config")
    assert check("fifo: is a FIFO: an INI file that can be read is needed", *daemon, fifo) == 2
    assert check("/dev/zero: is a device", *daemon, "/dev/zero") == 2
    assert check("fifo: is a FIFO", harness.PAPERTAPE, "train", "check", fifo) == 1
    assert check("fifo: is a FIFO: an INI file is needed", os.path.join(harness.BUILD, "trainer/papertape-trainer"), "train", "--check", "--config", fifo) == 1
    for file, why in ((fifo, "is a FIFO"), (empty, "holds no certificate"), (empty + "x", "No such file or directory"), ("/tmp", "Is a directory")):
        needed = f"{file}: {why}: a file of certificates in PEM form is needed"
        assert check(f"checked.ini:3: [market] ca_file: {needed}", *daemon, config, text=f"[market]\n\nca_file = {file}\n") == 2
        assert check(f"--ca-file: {needed}", harness.DAEMON, "--check-config", "--ca-file", file) == 2
    assert check("checked.ini:4: [account a] strategy.fast: fewer bars than slow are needed", *daemon, config,
                 text="\n[account a]\nstrategy = sma-cross\nstrategy.fast = 9\nstrategy.slow = 5\n") == 2
    assert check("checked.ini:2: [account a] strategy.fast: ", *daemon, config,
                 text="\n[account a]\nstrategy = sma-cross\nstrategy.slow = 2\n") == 2
    assert check("checked.ini:2: [market] streams: ", *daemon, config, text="[market]\nstreams = trade\n") == 2
    stocks = "[market]\nvenue = alpaca\nsymbols = AAPL\n[venue alpaca]\n"
    keys = harness.write_keys(folder.path, "checked-keys", "hush")
    for mode, content, why in ((0o644, None, "others may read it (mode 0644): mode 0600 is needed"), (0o600, "PKTEST hush\n", "two lines, id and secret"),
                               (0o600, "hush\n", "two lines, id and secret"), (0o600, "a\nhush\nhush\n", "two lines, id and secret")):
        if content:
            with open(keys, "w", encoding="ascii") as file:
                file.write(content)
        os.chmod(keys, mode)
        assert check(f"checked.ini:5: [venue alpaca] keys: {keys}: {why}", *daemon, config, text=f"{stocks}keys = {keys}\n") == 2
    assert check(f"[venue alpaca] keys: {keys}x: No such file or directory: two lines", *daemon, config, text=f"{stocks}keys = {keys}x\n") == 2
    environment = {k: v for k, v in os.environ.items() if k != "CREDENTIALS_DIRECTORY"}
    for name, said in ((harness.write_keys(folder.path, "good-keys", "hush"), ""), ("alpaca", "keys = alpaca: a credential")):
        with open(config, "w", encoding="ascii") as file:
            file.write(f"{stocks}keys = {name}\n")
        done = subprocess.run([*daemon, config], capture_output=True, text=True, timeout=harness.PATIENCE, env=environment)
        assert done.returncode == 0 and not done.stderr and ": ok\n" in done.stdout and said in done.stdout, done
        assert "hush" not in done.stdout, done
    print("--check-config: missing files, invalid certificates and keys are found, with file and line")


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "57"))
        full_disk(folder, replay)
        clean_stop(folder, replay)
        missed_nothing(folder, replay)
        at_the_start(folder, replay)
        refused(folder, replay)
        checked(folder)
        assert replay.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
