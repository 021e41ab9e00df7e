#!/usr/bin/env python3
"""Weeks of market in minutes: the daemon on a synthetic market at full speed, on the market's own clock, with seeded faults of the
venue, reloads, restarts, a kill, backups and trainings by day. At the end of each day the market stands still: then the log is
replayed and compared with the ledger, the database is verified, and after that memory, descriptors, the write-ahead log, the
database and the log of events are read, and whether the day's timers came when they should.

    soak.py [--days N] [--symbols N] [--frames N] [--seed N] [--json F]

Prints a line a night, and what it found of each limit, or that the days are too few for it; exit status 1 where one is passed.

Memory grows by the Theil-Sen slope, the median of the slopes between any two nights of one run of the daemon: one step, of a
training or of another configuration, does not bend it, and growth that continues is all in it. Nights before the fifth day, and a
run's first two, do not count: history and windows still fill. Descriptors are compared between trainings, the first of
which opens the connection to the co-process; connections to the venue, which come and go, are bounded."""

import argparse
import datetime
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system")]
import harness  # noqa: E402

START = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
START_NS = int(START.timestamp()) * 10**9
DAY_NS = 86400 * 10**9
EQUITY_S = 60
WAIT = 7200.0
SETTLED, WARM = 5, 2  # days, and nights of a run, after which its memory may not grow any more
KEPT_DAYS, KEPT_WITHIN = 7, 3  # by [retention] and [events]; days until the next reload, and the segment's own
RESTARTS, TRAININGS = {2: signal.SIGTERM, 3: signal.SIGKILL, 17: signal.SIGTERM}, (7, 19)
LIMITS = {"resident_growth_bytes_per_day": 1 << 20, "descriptors_more": 0, "connections": 24, "wal_bytes": 64 << 20, "timer_late_s": 2 * EQUITY_S,
          "oldest_days": KEPT_DAYS + KEPT_WITHIN, "events_growth_ratio": 1.25, "database_bytes_per_order": 4096}
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
keep_days = {kept}
keep_mb = 2000
[retention]
bars_days = {kept}
commands_days = {kept}
alerts_days = {kept}
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


def size(path):
    """Of a file, or of all of a folder."""
    if os.path.isdir(path):
        return sum(size(os.path.join(path, name)) for name in os.listdir(path))
    try:
        return os.stat(path).st_size
    except FileNotFoundError:  # removed meanwhile
        return 0


def slope(nights, name):
    """By Theil and Sen: the median of the growths a day between any two."""
    return statistics.median((b[name] - a[name]) / (b["day"] - a["day"]) for a, b in itertools.combinations(nights, 2))


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder, self.random = options, folder, random.Random(options.seed)
        # Quotes, differences and bars come with a symbol's messages: 1.47 frames for each of four a second, more of fewer.
        rate = max(0.01, options.frames / (options.days * 86400 * options.symbols) / 1.4)
        self.replay = folder.start(harness.Replay(folder.within("market"), "--synthetic", str(options.seed % 10000), "--symbols", str(options.symbols),
                                                  "--rate", f"{rate:.3f}", "--from", str(START_NS // 10**9),
                                                  "--to", str(START_NS // 10**9 + options.days * 86400), "--speed", "max"))
        self.settings = {"symbols": self.names(options.symbols), "equity": EQUITY_S, "loss": "0.05", "fast": 3, "specs": "sma:20 ema:14 rsi:14", "kept": KEPT_DAYS}
        self.wal_bytes = 0
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

    def end(self, number):
        self.frames_before += self.daemon.status_object()["feed"]["frames"]
        assert self.daemon.stop(number, WAIT) == (0 if number == signal.SIGTERM else -number)

    # ---- what happens by day ----

    def faults(self):
        for kind in (BREAKS, NOISE):
            harness.fault(self.replay, self.random.choice(kind))

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
        self.daemon.papertape("backup", path, timeout=WAIT)  # of most of a gigabyte, as the disk lets it
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
        """Lets the market play this day."""
        harness.fault(self.replay, f"hold@{24 * (number + 1)}h")
        self.faults()
        self.orders()
        if number % 2 == 1:
            self.reload()
        self.look_at_log()
        if number % 5 == 3:
            self.backup()
        if number in TRAININGS:
            self.train()
        if number in RESTARTS:
            self.end(RESTARTS[number])
            self.start()

    # ---- the night ----

    def look_at_log(self):
        self.wal_bytes = max(self.wal_bytes, size(f"{self.daemon.state}/papertape.db-wal"))

    def timer_late_s(self, day):
        """The longest time between two rows of an account's equity beyond the configured one."""
        rows = self.daemon.query(f"""SELECT max(ts_ns - before) FROM (SELECT ts_ns, lag(ts_ns) OVER (PARTITION BY account ORDER BY ts_ns) AS before
            FROM equity WHERE ts_ns >= {START_NS + day * DAY_NS} AND ts_ns < {START_NS + (day + 1) * DAY_NS})""")
        return (rows[0][0] or 0) / 1e9 - EQUITY_S

    def oldest_days(self, now_ns):
        """How old the oldest bar is, and the log's first event."""
        bar_ns = self.daemon.query("SELECT min(open_ns) FROM bars")[0][0]
        first = min(name for name in os.listdir(f"{self.daemon.state}/events") if not name.startswith("."))
        event_ns = int(datetime.datetime.strptime(first.split("-")[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()) * 10**9
        return round((now_ns - min(bar_ns, event_ns)) / DAY_NS, 2)

    def connections(self):
        """How many descriptors there are without the TCP connections, and how many of these: to the venue, which come and go."""
        found, process = [], f"/proc/{self.daemon.popen.pid}"
        for fd in os.listdir(f"{process}/fd"):
            try:
                found.append(os.readlink(f"{process}/fd/{fd}"))
            except FileNotFoundError:  # closed meanwhile
                pass
        with open(f"{process}/net/tcp") as file:
            tcp = {f"socket:[{line.split()[9]}]" for line in file.readlines()[1:]}
        return len(found) - len(tcp.intersection(found)), len(tcp.intersection(found))

    def descriptors(self):
        """Those that stay: a request's, or a connection's that is being closed, is gone soon."""
        before = self.nights[-1]["descriptors"] if self.nights and self.nights[-1]["run"] == self.runs else 1 << 20
        try:
            return harness.wait_for(lambda: (lambda now: now if now[0] <= before else None)(self.connections()), "no more descriptors", 20)
        except AssertionError:
            return self.connections()

    def night(self, day):
        def ends(status):
            self.look_at_log()
            return status["now_ns"] >= START_NS + (day + 1) * DAY_NS - 60 * 10**9
        status = self.daemon.wait_status(ends, f"the end of day {day}", WAIT)
        assert status["now_ns"] <= START_NS + (day + 1) * DAY_NS, "the market stands still at the end of the day"
        parity = json.loads(self.daemon.papertape("parity", "--daemon", "--json"))
        assert parity["ok"] is True, parity
        assert json.loads(self.daemon.papertape("ledger", "verify", "--json"))["ok"] is True
        self.look_at_log()
        state = self.daemon.state
        descriptors, connections = self.descriptors()
        night = {"day": day, "run": self.runs, "frames": self.frames_before + status["feed"]["frames"], "resident_bytes": self.daemon.resident(),
                 "descriptors": descriptors, "connections": connections, "wal_bytes": self.wal_bytes,
                 "database_bytes": size(f"{state}/papertape.db"), "events_bytes": size(f"{state}/events"), "state_bytes": size(state),
                 "oldest_days": self.oldest_days(status["now_ns"]), "timer_late_s": round(self.timer_late_s(day), 3),
                 "connects": status["feed"]["connects"], "orders": self.daemon.query("SELECT count(*) FROM orders")[0][0]}
        self.wal_bytes = 0
        self.nights.append(night)
        print(" ".join(f"{name}={value}" for name, value in night.items()), flush=True)
        if self.options.json:
            with open(self.options.json, "a") as file:
                file.write(json.dumps({"seed": self.options.seed} | night) + "\n")

    # ---- what came of it ----

    def settled(self):
        """Of each run the nights that count."""
        for run in range(1, self.runs + 1):
            nights = [n for n in self.nights if n["run"] == run][WARM:]
            nights = [n for n in nights if n["day"] >= SETTLED]
            if len(nights) > 2:
                yield nights

    def between_trainings(self):
        for nights in self.settled():
            for _, group in itertools.groupby(nights, lambda n: sum(n["day"] >= day for day in TRAININGS)):
                yield [n["descriptors"] for n in group]

    def found(self):
        kept = [n for n in self.nights if n["day"] > KEPT_DAYS + KEPT_WITHIN] or self.nights[-1:]
        orders = kept[-1]["orders"] - kept[0]["orders"]
        return {"resident_growth_bytes_per_day": max((slope(n, "resident_bytes") for n in self.settled()), default=None),
                "descriptors_more": max((max(n) - n[0] for n in self.between_trainings()), default=None),
                "connections": max(n["connections"] for n in self.nights),
                "wal_bytes": max(n["wal_bytes"] for n in self.nights),
                "timer_late_s": max(n["timer_late_s"] for n in self.nights if n["day"] not in RESTARTS),
                "oldest_days": max(n["oldest_days"] for n in self.nights),
                "events_growth_ratio": kept[-1]["events_bytes"] / kept[0]["events_bytes"] if len(kept) > 1 else None,
                "database_bytes_per_order": (kept[-1]["database_bytes"] - kept[0]["database_bytes"]) / orders if orders else None}

    def table(self):
        mib = 1 << 20
        print(f"{'day':>4}{'run':>4}{'frames':>12}{'MiB':>8}{'files':>6}{'log MiB':>9}{'db MiB':>8}{'events MiB':>11}{'late s':>8}")
        for n in self.nights:
            print(f"{n['day']:>4}{n['run']:>4}{n['frames']:>12}{n['resident_bytes'] / mib:>8.1f}{n['descriptors']:>6}{n['wal_bytes'] / mib:>9.1f}"
                  f"{n['database_bytes'] / mib:>8.1f}{n['events_bytes'] / mib:>11.1f}{n['timer_late_s']:>8.1f}")

    def run(self):
        for day in range(self.options.days):
            self.day(day)
            self.night(day)
        self.end(signal.SIGTERM)
        frames = self.frames_before
        passed = frames >= self.options.frames
        self.table()
        print(f"frames: {frames} of {self.options.frames}: {'ok' if passed else 'too few'}")
        for name, value in self.found().items():
            if value is None:
                print(f"{name}: not measured in so few days")
                continue
            good = value <= LIMITS[name]
            passed &= good
            print(f"{name}: {value:.6g}, at most {LIMITS[name]}: {'ok' if good else 'PASSED'}")
        print(f"{self.runs} runs, {self.backups} backups restored, {self.trainings} trainings, {len(self.nights)} nights equal")
        return 0 if passed else 1


def main():
    options = arguments()
    print(f"counts: {options.days} days of {options.symbols} symbols, {options.frames} frames, PAPERTAPE_SEED={options.seed}", flush=True)
    with harness.Folder() as folder:
        return Soak(options, folder).run()


if __name__ == "__main__":
    sys.exit(main())
