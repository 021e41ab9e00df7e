#!/usr/bin/env python3
"""A disk whose backing store fills for a while, as a thin volume or a sparse image does: ext4 on a loop device in a memory file
system of a few megabytes, under a daemon with clients that place orders, move money and cancel all the time. Writes succeed, syncs
fail, and what they should have stored is gone though it still reads well. Once there is room again the daemon has to find out what is
left and be whole by itself: nothing that was acknowledged is missing, and ledger, log and file are sound.

The kernel's loop driver takes a short write for a whole one: the sync that meets the full store first succeeds, and what it should
have stored is not there. What the daemon acknowledges it has to have seen on the device.

ext4 keeps, of a block whose writing failed, where it was to be: written again through the same page it goes there, and the block
still counts as one without data. So it reads well until the page is evicted, whatever later syncs say: what the daemon must see.

As root, with a loop device; else exit status 77. `--seeds N` runs (50), from `--seed S` (1) on, `--together P` (8) at once. `--fresh`:
the disk fills before ext4 has written its own blocks where they belong for the first time, so that it ends its journal more often:
then only what is lost counts, not how many are clean."""

import argparse
import concurrent.futures
import json
import os
import random
import socket
import subprocess
import threading
import time

import harness

SYMBOLS = ("BTCUSDT", "ETHUSDT")
FULL_S = (20, 30)  # for so long there is no room
SOUND_S = 120  # and so long after it the daemon may take until it stores again
BITTEN, CLEAN = 0.8, 0.9  # of the seeds: that saw a failed sync at least; that are clean without a restart
CONFIG = """
[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 50
[engine]
latency_ms = 5
[events]
segment_mb = {segment}
[risk]
orders_per_second = 0
[account main]
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


def run(*argv, **kwargs):
    done = subprocess.run(argv, capture_output=True, text=True, **kwargs)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(argv)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Thin:
    """A block device that promises more than is behind it, with ext4 on it."""

    def __init__(self, folder, size_kib, block):
        self.back, self.state = os.path.join(folder, "back"), os.path.join(folder, "state")
        self.filler, self.loop, self.backed, self.mounted = os.path.join(self.back, "fill"), None, False, False
        os.mkdir(self.back)
        os.mkdir(self.state)
        run("mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "tmpfs", self.back)
        self.backed = True
        image = os.path.join(self.back, "image")
        with open(image, "wb") as file:
            file.truncate(200 << 20)
        self.loop = run("losetup", "-f", "--show", image).strip()
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", "-J", "size=4", "-b", str(block), self.loop)
        self.mount()

    def mount(self):
        run("mount", self.loop, self.state)
        self.mounted = True

    def unmount(self):
        run("umount", self.state)
        self.mounted = False

    def room(self):
        there = os.statvfs(self.back)
        return there.f_bavail * there.f_frsize

    def fill(self, spare):
        """Leaves `spare` bytes behind the device."""
        try:
            with open(self.filler, "ab", buffering=0) as file:
                while self.room() > spare:
                    file.write(bytes(min(1 << 16, self.room() - spare)))
        except OSError:
            pass  # it is full

    def empty(self):
        os.unlink(self.filler)

    def read_only(self):
        """Did ext4 give up?"""
        with open("/proc/self/mounts") as mounts:
            for line in mounts:
                device, _, _, options, *_ = line.split()
                if device == self.loop and options.split(",")[0] == "ro":
                    return True
        try:
            probe = os.path.join(self.state, "probe")
            with open(probe, "wb") as file:
                file.write(b"x")
                os.fsync(file.fileno())
            os.unlink(probe)
        except OSError as error:
            return error.errno in (30, 5)  # EROFS, EIO
        return False

    def close(self):
        for wanted, undo in ((self.mounted, ("umount", self.state)), (self.loop, ("losetup", "-d", self.loop)),
                             (self.backed, ("umount", self.back))):
            if wanted:  # busy for a moment, where another seed has just forked
                harness.wait_for(lambda: subprocess.run(undo, capture_output=True, check=False).returncode == 0, " ".join(undo), 30)


class Client(threading.Thread):
    """Gives orders, transfers and cancels one after the other, each under a key, until it is stopped; what is not acknowledged is
    asked again under the same key, or left."""

    def __init__(self, daemon, seed):
        super().__init__(daemon=True)
        self.state, self.rng, self.name = daemon.state, random.Random(f"client {seed}"), f"c{seed}"
        self.socket, self.data, self.next, self.over = None, b"", 0, threading.Event()
        self.done = []  # (command, arguments, result) of what was acknowledged
        self.refused = self.unstored = self.repeated = 0

    def ask(self, cmd, args):
        if not self.socket:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(60)
            self.socket.connect(os.path.join(self.state, "control.sock"))
        self.next += 1
        self.socket.sendall(json.dumps({"id": self.next, "cmd": cmd, "args": args}).encode() + b"\n")
        while b"\n" not in self.data:
            part = self.socket.recv(1 << 16)
            if not part:
                raise ConnectionResetError
            self.data += part
        line, self.data = self.data.split(b"\n", 1)
        return json.loads(line)

    def choose(self, i):
        key = f"{self.name}-{i}"
        live = [r["order"] for c, _, r in self.done[-40:] if c == "order" and "order" in r]
        kind = self.rng.random()
        if kind < 0.25 and live:
            return "cancel", {"order": self.rng.choice(live), "key": key}
        if kind < 0.5:
            there = self.rng.choice((("hand", "other"), ("other", "hand")))
            return "account_transfer", {"from": there[0], "to": there[1], "amount": f"{self.rng.randrange(1, 500)}.25",
                                        "key": key}
        args = {"symbol": self.rng.choice(SYMBOLS), "side": self.rng.choice(("buy", "buy", "sell")), "account": "hand", "key": key}
        args["qty"] = "0.001" if args["symbol"] == "BTCUSDT" else "0.01"
        if self.rng.random() < 0.5:
            args["limit"] = "1000" if args["side"] == "buy" else "900000"
        return "order", args

    def one(self, i):
        cmd, args = self.choose(i)
        for attempt in range(1 + self.rng.randrange(60)):
            try:
                answer = self.ask(cmd, args)
            except (OSError, ValueError):
                self.socket, self.data = None, b""
                return
            if answer["ok"]:
                self.repeated += attempt > 0
                self.done.append((cmd, args, answer["result"]))
                return
            if answer["error"]["code"] != "STORAGE":
                self.refused += 1
                return
            self.unstored += 1
            if self.over.wait(0.5):
                return

    def run(self):
        i = 0
        while not self.over.wait(self.rng.uniform(0, 0.04)):
            i += 1
            self.one(i)

    def stop(self):
        self.over.set()
        self.join(harness.PATIENCE)


def acknowledged(daemon, client):
    """How many acknowledged commands there are no rows of."""
    rows = {key: (state, order) for key, state, order in daemon.query("SELECT key, state, order_id FROM commands WHERE key <> ''")}
    orders = dict(daemon.query("SELECT id, state FROM orders"))
    transfers = daemon.query("SELECT count(*) FROM ledger WHERE kind LIKE 'transfer%'")[0][0]
    lost, moved = [], 0
    for cmd, args, result in client.done:
        state, _ = rows.get(args["key"], ("missing", None))
        good = state == "done"
        if cmd == "order":
            good = good and result["order"] in orders
        elif cmd == "cancel":
            good = good and orders.get(args["order"]) not in ("PENDING", "OPEN", "PARTIAL", None)
            state = f"{state}, the order {orders.get(args['order'])}"
        else:
            moved += 1
        if not good:
            lost.append((cmd, args, result, state))
    if transfers < 2 * moved:
        lost.append(("transfers", transfers, 2 * moved, ""))
    return lost


def missing(daemon, client):
    try:
        return acknowledged(daemon, client)
    except Exception as error:  # noqa: BLE001: it cannot be read, which counts as well
        return [str(error)]


def sound(daemon, verify):
    """What is wrong with ledger, log and file; empty: nothing."""
    wrong = []
    try:
        integrity = daemon.query("PRAGMA integrity_check(1)")[0][0]
        if integrity != "ok":
            wrong.append(f"integrity_check: {integrity}")
    except Exception as error:  # noqa: BLE001: a malformed file
        wrong.append(f"integrity_check: {error}")
    for verb in verify:
        done = subprocess.run([harness.PAPERTAPE, verb, "verify", "--state", daemon.state], capture_output=True, text=True,
                              timeout=harness.PATIENCE)
        if done.returncode != 0:
            wrong.append(f"{verb} verify: {(done.stdout + done.stderr).strip()[-300:]}")
    return wrong


def started(daemon):
    return daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["counters"], "the feed")


def bite(thin, rng):
    """Fills what is behind the device once or twice, and makes room again."""
    hold = rng.uniform(*FULL_S)
    twice = rng.random() < 0.3
    for part in range(2 if twice else 1):
        spare = rng.choice((0, 0, 0, 1 << 15, 1 << 17, 1 << 19))
        thin.fill(spare)
        if spare and rng.random() < 0.5:
            time.sleep(rng.uniform(0.5, 3))
            thin.fill(0)
        time.sleep(hold / (2 if twice else 1))
        thin.empty()
        if twice and part == 0:
            time.sleep(rng.uniform(0.2, 6))


def failures(daemon):
    """Syncs and writes that the daemon saw fail."""
    text = daemon.log_text()
    return sum(line.count("no new positions until it can store") for line in text.splitlines())


def stores(status):
    return status["db"]["state"] == "ok" and status["events"]["state"] == "ok"


def alarmed(daemon):
    return any("no new positions until it can store" in line for line in daemon.log_text().splitlines())


def one_seed(path, seed, keep, fresh):
    """Returns what came of it: {bitten, clean, read_only, acknowledged, lost, …}."""
    rng = random.Random(seed)
    folder = os.path.join(path, f"{seed}")
    os.mkdir(folder)
    thin = Thin(folder, rng.randrange(40 << 10, 64 << 10), 4096 if seed % 10 == 0 else 1024)
    replay = daemon = client = None
    came = {"seed": seed, "bitten": False, "clean": False, "read_only": False, "wrong": [], "lost": []}
    try:
        replay = harness.Replay(folder, "--synthetic", str(seed), "--rate", str(rng.choice((50, 100, 200))))
        daemon = harness.Daemon(folder, replay, CONFIG.format(segment=rng.choice((1, 1, 2, 4))))
        started(daemon)
        if not fresh and seed % 10 != 5:  # the disk is in use for longer than that: ext4 has written its own tables once
            run("sync", "-f", thin.state)
        client = Client(daemon, seed)
        client.start()
        time.sleep(rng.uniform(3, 15))
        bite(thin, rng)
        freed, came["room_kib"] = time.monotonic(), thin.room() >> 10
        try:
            daemon.wait_status(lambda s: stores(s) or thin.read_only(), "storing again", SOUND_S)
            assert stores(daemon.status_object()), "ext4 is read-only"
            came["sound_s"] = time.monotonic() - freed
            time.sleep(rng.uniform(1, 5))
        except AssertionError as error:
            came["read_only"] = thin.read_only()
            if not came["read_only"]:
                came["wrong"].append(str(error)[:400])
        client.stop()
        came["bitten"] = failures(daemon) > 0
        came["read_only"] = came["read_only"] or thin.read_only()
        status = daemon.status_now() or {}
        came["state"] = status.get("db", {}).get("state")
        came["mended"] = status.get("events", {}).get("mended")
        came["rebuilt"] = status.get("db", {}).get("rebuilt")
        if not came["read_only"]:
            came["aside"] = sum(name.startswith("damaged-") for name in os.listdir(os.path.join(daemon.state, "events")))
        came["ended"] = daemon.stop()
        if came["ended"] != 0 and not came["read_only"]:
            came["wrong"].append(f"papertaped ended with status {came['ended']}")
        came["acknowledged"] = len(client.done)
        came["repeated"], came["unstored"] = client.repeated, client.unstored
        if keep:
            came["before"] = sound(daemon, ("ledger", "events"))
        thin.unmount()
        thin.mount()
        if came["read_only"]:
            if came["state"] == "ok" or not alarmed(daemon):
                came["wrong"].append("ext4 is read-only, and the daemon does not say that it cannot store")
            daemon = harness.Daemon(folder, replay, CONFIG.format(segment=1), name="again")
            daemon.wait_status(lambda s: stores(s) and s["counters"], "a start after it")
            assert daemon.stop() == 0
        came["wrong"] += sound(daemon, ("ledger", "events"))
        came["lost"] = missing(daemon, client)
        came["clean"] = not came["wrong"] and not came["read_only"]
    except Exception as error:  # noqa: BLE001: of one seed; the others continue
        came["wrong"].append(repr(error)[:2000])
        if client:
            client.stop()
            came["acknowledged"], came["lost"] = len(client.done), missing(daemon, client)
    finally:
        for process in (daemon, replay):
            if process and process.alive():
                process.stop(9)
        if not keep:
            thin.close()
    return came


def usable():
    if os.geteuid() != 0:
        harness.skip("it needs root, for a loop device of its own")
    for program in ("losetup", "mkfs.ext4", "mount"):
        if subprocess.run(["which", program], capture_output=True, check=False).returncode != 0:
            harness.skip(f"{program} is not there")
    if subprocess.run(["losetup", "-f"], capture_output=True, check=False).returncode != 0:
        harness.skip("no loop device can be had")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=8)
    parser.add_argument("--fresh", action="store_true", help="no `sync -f` before it fills")
    parser.add_argument("--keep", action="store_true", help="leave the devices as they are, to look at")
    options = parser.parse_args()
    usable()
    all_of_them = []
    with harness.Folder() as folder:
        with concurrent.futures.ThreadPoolExecutor(options.together) as pool:
            seeds = range(options.seed, options.seed + options.seeds)
            waiting = [pool.submit(one_seed, folder.path, seed, options.keep, options.fresh) for seed in seeds]
            for done in concurrent.futures.as_completed(waiting):
                came = done.result()
                all_of_them.append(came)
                print(json.dumps(came), flush=True)
        n = len(all_of_them)
        bitten = [c for c in all_of_them if c["bitten"]]
        clean = [c for c in all_of_them if c["clean"]]
        read_only = [c for c in all_of_them if c["read_only"]]
        lost = sum(len(c["lost"]) for c in all_of_them)
        mended, rebuilt, aside = (sum(c.get(name) or 0 for c in all_of_them) for name in ("mended", "rebuilt", "aside"))
        print(f"segments of the log written again {mended}, moved aside in {aside} runs; databases built again {rebuilt}; storing again "
              f"after {sum(c.get('sound_s', 0) for c in all_of_them) / max(1, sum('sound_s' in c for c in all_of_them)):.1f} s on average, "
              f"{max((c.get('sound_s', 0) for c in all_of_them), default=0):.1f} s at most")
        print(f"{n} seeds: bitten {len(bitten)}, clean without a restart {len(clean)}, read-only {len(read_only)} of which clean "
              f"after a restart {sum(not c['wrong'] for c in read_only)}; acknowledged "
              f"{sum(c.get('acknowledged', 0) for c in all_of_them)}, lost {lost}")
        assert lost == 0
        assert len(bitten) >= BITTEN * n and (options.fresh or len(clean) >= CLEAN * n)
        assert all(not c["wrong"] for c in all_of_them if c["read_only"])


if __name__ == "__main__":
    main()
