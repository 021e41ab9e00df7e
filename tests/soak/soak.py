#!/usr/bin/env python3
"""Weeks of market in minutes: the daemon on a synthetic market at full speed, on the market's own clock, with seeded faults of the
venue, reloads, restarts, a kill, backups and trainings between its days. Each night: its memory and descriptors, how large
write-ahead log, database and log of events are, whether the day's timers came when they should, and whether the log replays to
the ledger.

    soak.py [--days N] [--symbols N] [--frames N] [--seed N] [--json F]

Prints a line a night, and what it found of each limit; exit status 1 where one is passed."""

import argparse
import datetime
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import urllib.request

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system")]
import harness  # noqa: E402

START = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
START_NS = int(START.timestamp()) * 10**9
DAY_NS = 86400 * 10**9
EQUITY_S = 60
WAIT = 7200.0
SETTLED = 5  # days of a run after which its memory may not grow any more
LIMITS = {"resident_growth_bytes_per_day": 1 << 20, "wal_bytes": 64 << 20, "descriptors": 0, "timer_late_s": 2 * EQUITY_S}
# One of each a day. Books are asked for again after the first kind, and the venue allows only so much of that in a minute of the
# wall: gap@book and deflate, which break books every few hundred messages, and 5xx would spend it all.
BREAKS, NOISE = ("close@2000", "half-frame", "shutdown@0s+1s", "429:1s", "freeze@0s+1s"), ("dup", "reorder", "garbage", "fragment")

CONFIG = """[market]
symbols = {symbols}
interval = 1m
history = 60
[engine]
clock = feed
latency_ms = 20
equity_interval_s = {equity}
[events]
keep_days = 7
keep_mb = 2000
[retention]
bars_days = 7
commands_days = 7
alerts_days = 7
[risk]
daily_loss = {loss}
[account trend]
cash = 100000
strategy = sma-cross
strategy.fast = {fast}
strategy.slow = 8
strategy.fraction = 0.2
[account quick]
cash = 100000
strategy = sma-cross-rsi
strategy.fast = 2
strategy.slow = 4
strategy.rsi_max = 100
strategy.fraction = 0.1
[account hand]
cash = 100000
strategy = none
[indicators]
specs = {specs}
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--symbols", type=int, default=10)
    parser.add_argument("--frames", type=int, default=100_000_000, help="at least so many in all")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("PAPERTAPE_SEED") or random.SystemRandom().randrange(1 << 31)))
    parser.add_argument("--json", help="a file for the nights, as JSON lines")
    return parser.parse_args()


def fault(replay, text):
    trusted = ssl.create_default_context(cafile=replay.ca)
    request = urllib.request.Request(replay.urls["rest_url"] + "/_control", data=text.encode(), method="POST")
    with urllib.request.urlopen(request, context=trusted, timeout=harness.PATIENCE) as answer:
        assert answer.read() == b"ok\n", text


def size(path):
    """Of a file, or of all of a folder."""
    if os.path.isdir(path):
        return sum(size(os.path.join(path, name)) for name in os.listdir(path))
    try:
        return os.stat(path).st_size
    except FileNotFoundError:  # removed meanwhile
        return 0


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder, self.random = options, folder, random.Random(options.seed)
        rate = options.frames / (options.days * 86400 * options.symbols)
        self.replay = folder.start(harness.Replay(folder.within("market"), "--synthetic", str(options.seed % 10000), "--symbols", str(options.symbols),
                                                  "--rate", f"{rate * 1.05:.3f}", "--from", str(START_NS // 10**9),
                                                  "--to", str(START_NS // 10**9 + options.days * 86400), "--speed", "max"))
        self.settings = {"symbols": self.names(options.symbols), "equity": EQUITY_S, "loss": "0.05", "fast": 3, "specs": "sma:20 ema:14 rsi:14"}
        self.runs, self.nights, self.frames_before, self.backups, self.trainings = 0, [], 0, 0, 0
        self.start()

    @staticmethod
    def names(n):
        return ", ".join((["BTCUSDT", "ETHUSDT"] + [f"XA{chr(65 + i // 26)}{chr(65 + i % 26)}USDT" for i in range(n)])[:n])

    def write(self):
        with open(self.daemon.config, "w") as file:
            file.write(CONFIG.format(**self.settings))

    def start(self):
        self.runs += 1
        self.daemon = self.folder.start(harness.Daemon(self.folder.path, self.replay, CONFIG.format(**self.settings), name="soak", state="state"))
        self.daemon.wait_status(lambda s: s["symbols"] and all(x["last"] for x in s["symbols"]), "prices", WAIT)
        self.first_night = len(self.nights)

    def end(self, number):
        self.frames_before += self.daemon.status_object()["feed"]["frames"]
        assert self.daemon.stop(number, WAIT) == (0 if number == signal.SIGTERM else -number)

    # ---- what happens by day ----

    def faults(self):
        for kind in (BREAKS, NOISE):
            fault(self.replay, self.random.choice(kind))

    def reload(self):
        """Once a bad file, which changes nothing; then one with other parameters, limits and indicators."""
        self.settings["loss"] = "7"
        self.write()
        done = subprocess.run([harness.PAPERTAPE, "reload", "--state", self.daemon.state], capture_output=True, text=True)
        assert done.returncode == 1 and "soak.ini:" in done.stderr, done
        self.settings.update(loss=f"0.0{self.random.randint(3, 9)}", fast=self.random.randint(2, 6), specs=self.random.choice(("sma:20 ema:14 rsi:14", "macd:12,26,9", "atr:14 sma:5")))
        self.write()
        self.daemon.papertape("reload")

    def orders(self):
        last = next(s["last"] for s in self.daemon.status_object()["symbols"] if s["symbol"] == "BTCUSDT")
        for words in (("buy", "BTCUSDT", "0.05"), ("buy", "BTCUSDT", "0.01", "--limit", f"{last * 0.9:.2f}"), ("sell", "BTCUSDT", "0.02")):
            self.daemon.papertape("order", *words, "--account", "hand", status=None)

    def backup(self):
        path = os.path.join(self.folder.path, f"backup-{self.backups}.tar.zst")
        self.daemon.papertape("backup", path)
        back = os.path.join(self.folder.path, f"restored-{self.backups}")
        subprocess.run([harness.PAPERTAPE, "restore", path, "--state", back], check=True, capture_output=True, timeout=WAIT)
        verified = subprocess.run([harness.PAPERTAPE, "ledger", "verify", "--state", back], capture_output=True, text=True)
        assert verified.returncode == 0, verified
        subprocess.run(["rm", "-r", path, back], check=True)
        self.backups += 1

    def train(self):
        name = f"soak-{self.trainings}"
        self.daemon.papertape("train", "start", name)
        def steps():
            listed = json.loads(self.daemon.papertape("train", "list", "--json"))["trainings"]
            return next((t["steps"] or 0) > 0 or t["state"] not in ("queued", "running", "starting") for t in listed if t["name"] == name)
        harness.wait_for(steps, "a training's first steps", WAIT)
        self.daemon.papertape("train", "stop", name, status=None)
        self.trainings += 1

    def day(self, number):
        self.faults()
        self.orders()
        if number % 2 == 1:
            self.reload()
        if number % 5 == 3:
            self.backup()
        if number in (7, 19):
            self.train()
        if number in (2, 17):
            self.end(signal.SIGTERM)
            self.start()
        if number == 3:
            self.end(signal.SIGKILL)
            self.start()

    # ---- the night ----

    def timer_late_s(self, day):
        """The longest time between two rows of an account's equity beyond the configured one."""
        rows = self.daemon.query(f"""SELECT max(ts_ns - before) FROM (SELECT ts_ns, lag(ts_ns) OVER (PARTITION BY account ORDER BY ts_ns) AS before
            FROM equity WHERE ts_ns >= {START_NS + day * DAY_NS} AND ts_ns < {START_NS + (day + 1) * DAY_NS})""")
        return (rows[0][0] or 0) / 1e9 - EQUITY_S

    def night(self, day):
        status = self.daemon.wait_status(lambda s: s["now_ns"] >= START_NS + (day + 1) * DAY_NS - 60 * 10**9, f"the end of day {day}", WAIT)
        parity = json.loads(self.daemon.papertape("parity", "--daemon", "--json"))
        assert parity["ok"] is True, parity
        assert json.loads(self.daemon.papertape("ledger", "verify", "--json"))["ok"] is True
        state = self.daemon.state
        night = {"day": day, "run": self.runs, "frames": self.frames_before + status["feed"]["frames"], "resident_bytes": self.daemon.resident(),
                 "descriptors": len(os.listdir(f"/proc/{self.daemon.popen.pid}/fd")), "wal_bytes": size(f"{state}/papertape.db-wal"),
                 "database_bytes": size(f"{state}/papertape.db"), "events_bytes": size(f"{state}/events"), "state_bytes": size(state),
                 "timer_late_s": round(self.timer_late_s(day), 3), "connects": status["feed"]["connects"], "orders": self.daemon.query("SELECT count(*) FROM orders")[0][0]}
        self.nights.append(night)
        print(" ".join(f"{name}={value}" for name, value in night.items()), flush=True)
        if self.options.json:
            with open(self.options.json, "a") as file:
                file.write(json.dumps({"seed": self.options.seed} | night) + "\n")

    # ---- what came of it ----

    def settled(self):
        """Of each run the nights after its first days."""
        for run in range(1, self.runs + 1):
            nights = [n for n in self.nights if n["run"] == run]
            if len(nights) > SETTLED + 1:
                yield nights[SETTLED:]

    def found(self):
        grown = [(n[-1]["resident_bytes"] - n[0]["resident_bytes"]) / (n[-1]["day"] - n[0]["day"]) for n in self.settled()]
        open_files = [max(x["descriptors"] for x in n) - min(x["descriptors"] for x in n) for n in self.settled()]
        return {"resident_growth_bytes_per_day": max(grown, default=0), "descriptors": max(open_files, default=0),
                "wal_bytes": max(n["wal_bytes"] for n in self.nights),
                "timer_late_s": max(n["timer_late_s"] for n in self.nights if n["day"] not in (2, 3, 17))}

    def run(self):
        for day in range(self.options.days):
            self.day(day)
            self.night(day)
        self.end(signal.SIGTERM)
        frames = self.frames_before
        passed = frames >= self.options.frames * 0.99
        print(f"frames: {frames} of {self.options.frames}: {'ok' if passed else 'too few'}")
        for name, value in self.found().items():
            good = value <= LIMITS[name]
            passed &= good
            print(f"{name}: {value:.0f}, at most {LIMITS[name]}: {'ok' if good else 'PASSED'}")
        print(f"{self.runs} runs, {self.backups} backups restored, {self.trainings} trainings, {len(self.nights)} nights equal")
        return 0 if passed else 1


def main():
    options = arguments()
    print(f"counts: {options.days} days of {options.symbols} symbols, {options.frames} frames, PAPERTAPE_SEED={options.seed}", flush=True)
    with harness.Folder() as folder:
        return Soak(options, folder).run()


if __name__ == "__main__":
    sys.exit(main())
