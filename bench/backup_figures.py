"""Runs bench/backup and prints its figures: python3 bench/backup_figures.py BUILD_FOLDER [MEGABYTES [FRAMES_A_SECOND [SECONDS]]]."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import figures
from figures import BUILD, ROOT, say

os.environ["PAPERTAPE_BUILD"] = str(BUILD)
sys.path.insert(0, str(ROOT / "fixtures"))

import programs  # noqa: E402

MEGABYTES, RATE, SECONDS = (int(value) for value in (sys.argv[2:] + ["2000", "10000", "20"][len(sys.argv) - 2:]))
LIMIT_S = 0.050
SYMBOLS = ["BTCUSDT", "ETHUSDT"]
CONFIG = f"""[market]
symbols = {", ".join(SYMBOLS)}
interval = 1s
history = 50
[risk]
orders_per_second = 0
[account main]
cash = 1000000
strategy = sma-cross
strategy.fast = 2
strategy.slow = 4
strategy.fraction = 0.2
[account hand]
cash = 1000000
strategy = none
[account other]
cash = 1000000
strategy = none
"""


class Client(threading.Thread):
    """Transfers one after the other; .took has how long each was on its way."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.path, self.took, self.enough = os.path.join(daemon.state, "control.sock"), [], threading.Event()
        self.start()

    def run(self):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.path)
            stream = client.makefile("rb")
            while not self.enough.is_set():
                begin = time.monotonic()
                client.sendall(json.dumps({"id": 1, "cmd": "account_transfer", "args": {"from": "hand", "to": "other", "amount": "0.01"}}).encode()
                               + b"\n")
                answer = json.loads(stream.readline())
                assert answer["ok"], answer
                self.took.append(time.monotonic() - begin)
                self.enough.wait(0.005)

    def end(self):
        self.enough.set()
        self.join()
        return sorted(self.took)


def quantile(took, share):
    return took[min(len(took) - 1, int(share * len(took)))]


def papertape(*arguments):
    begin = time.monotonic()
    done = subprocess.run([programs.PAPERTAPE, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"bench/backup: {' '.join(arguments)}: {done.stderr}")
    return done.stdout, time.monotonic() - begin


def grow(state, megabytes):
    """Bars of former years, which no check counts, and checkpoints."""
    path, chunk = os.path.join(state, "papertape.db"), 100000
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    first = 0
    while os.path.getsize(path) + (os.path.getsize(path + "-wal") if os.path.exists(path + "-wal") else 0) < megabytes * 650000:
        database.execute(
            "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + ?2 - 1) INSERT INTO bars (symbol, interval_ns, "
            "source, open_ns, open, high, low, close, volume, quote_volume, trades, first_trade_id, last_trade_id) SELECT 1, 60000000000, "
            "'venue', i * 60000000000, 6000000000000 + i, 6000000100000 + i, 5999999900000 + i, 6000000000000 + i, '123456789', "
            "'7407407340000000', 321, i * 321, i * 321 + 320 FROM n", (first, chunk))
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        first += chunk
    database.close()
    with open(os.path.join(state, "checkpoints", "random.bin"), "wb") as file:
        for _ in range(max(1, megabytes * 350000 >> 20)):
            file.write(os.urandom(1 << 20))
        os.fsync(file.fileno())


def start(folder, replay):
    daemon = folder.start(programs.Daemon(folder.path, replay, CONFIG))
    daemon.wait_status(lambda s: len(s["symbols"] or ()) == len(SYMBOLS) and all(x["book"] == "synced" and x["last"] for x in s["symbols"]),
                       "books in step")
    return daemon


def frames(daemon):
    return sum(venue["frames"] for venue in daemon.status_object()["venues"])


def measure(daemon, what, work):
    """The transfers' times while work() runs, and the frames a second."""
    before, begin, client = frames(daemon), time.monotonic(), Client(daemon)
    work()
    took, seconds = client.end(), time.monotonic() - begin
    rate = (frames(daemon) - before) / seconds
    say(f"{what}: {len(took)} transfers in {seconds:.1f} s, p50 {quantile(took, 0.5) * 1e3:.1f} ms, p99 {quantile(took, 0.99) * 1e3:.1f} ms, "
        f"longest {took[-1] * 1e3:.0f} ms, {rate:.0f} frames/s")
    return took, rate


def cost(name, during, idle):
    """Beside what is measured right before and after it: the machine may have other work."""
    (took, rate), quiet = during, sorted(idle[0][0] + idle[1][0])
    figures.figure("backup", f"command to acknowledgement, p99 added by a backup, {name}",
                   max(0, quantile(took, 0.99) - quantile(quiet, 0.99)), "s", limit=LIMIT_S, p99=quantile(took, 0.99),
                   p99_idle=quantile(quiet, 0.99), p50=quantile(took, 0.5), p50_idle=quantile(quiet, 0.5), longest=took[-1],
                   longest_idle=quiet[-1], commands=len(took), frames_s=rate, frames_s_idle=idle[0][1], load=os.getloadavg()[0])


def repeat(folder, daemon, ending):
    """Backups one after the other, for as long as the others were measured."""
    times, place, end = [], None, time.monotonic() + SECONDS
    while not times or time.monotonic() < end:
        if place:
            subprocess.run(["rm", "-r", place], check=True)
        place = os.path.join(folder.path, f"backup-{len(times)}{ending}")
        times.append(papertape("backup", place, "--state", daemon.state)[1])
    return place, min(times)


def main():
    with programs.Folder() as folder:
        replay = folder.start(programs.Replay(folder.path, "--synthetic", "5", "--symbols", str(len(SYMBOLS)), "--rate",
                                              str(RATE // len(SYMBOLS))))
        first = start(folder, replay)
        first.stop()
        grow(first.state, MEGABYTES)
        daemon, places = start(folder, replay), {}
        idle = measure(daemon, "no backup", lambda: time.sleep(SECONDS))
        for ending, name in ((".tar.zst", "archive"), ("", "folder")):
            during = measure(daemon, name, lambda ending=ending: places.update({ending: repeat(folder, daemon, ending)}))
            after = measure(daemon, "no backup", lambda: time.sleep(SECONDS))
            cost(name, during, (idle, after))
            idle = after
            place, took = places[ending]
            figures.figure("backup", f"{name}, written", took, "s", state_bytes=MEGABYTES * 1000000)
            restored = os.path.join(folder.path, "restored")
            shown, took = papertape("restore", place, "--state", restored, "--json")
            shown = json.loads(shown)
            rows = daemon.query(f"SELECT lower(hex(hash)) FROM ledger WHERE id = {shown['ledger_rows']}")
            parity = papertape("parity", "--state", restored)[0]
            if rows != [(shown["hash"],)] or not parity.startswith("parity ok"):
                raise SystemExit(f"bench/backup: {name}: the ledger is another: {rows}, {shown}, {parity}")
            figures.figure("backup", f"{name}, restored and verified", took, "s", bytes=shown["bytes"], ledger_rows=shown["ledger_rows"])
            subprocess.run(["rm", "-r", restored, place], check=True)
        return 0 if daemon.stop() == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
