#!/usr/bin/env python3
"""Indicators on a device, by a fake GPU module (tests/daemon/fake_gpu.c): while it stalls, orders, stops, cancels and the
end of the daemon come as if it did not; when it fails, values continue without a gap and with the reference's bits, and the
status and an alert say why; it is tried again."""

import json
import os
import random
import sqlite3
import sys

import harness
import indicators

TRADING = indicators.CONFIG.format(history=500, specs=indicators.SPECS).replace(
    "[account hand]", "device_retry_s = 0.2\n[engine]\nlatency_ms = 10\n[risk]\nexposure_symbol = 0\n[account hand]\n"
                      "cash = 50000")


class Fake:
    """The fake's environment, and its log of calls."""

    def __init__(self, folder, name, **how):
        self.events = os.path.join(folder.path, f"{name}.events")
        self.environment = {**os.environ, "PAPERTAPE_GPU_MODULE": harness.FAKE_GPU, "FAKE_GPU_EVENTS": self.events}
        self.environment.update({f"FAKE_GPU_{key.upper()}": str(value) for key, value in how.items()})

    def reported(self):
        try:
            with open(self.events) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def stalled(self):
        """The update that has started and not ended, or None."""
        reported = self.reported()
        return reported[-1] if reported and reported[-1].startswith("begin") else None


def start(folder, replay, name, fake, arguments=()):
    return folder.start(harness.Daemon(folder.path, replay, TRADING, arguments, name=name, state=name, env=fake.environment))


def alerts(daemon):
    database = sqlite3.connect(f"file:{os.path.join(daemon.state, 'papertape.db')}?mode=ro", uri=True, timeout=harness.PATIENCE)
    rows = database.execute("SELECT text FROM alerts WHERE code = 'gpu'").fetchall()
    database.close()
    return [text for (text,) in rows]


def order(daemon, **arguments):
    answer = harness.control(daemon, "order", {"account": "hand", "symbol": "BTCUSDT", **arguments})
    assert answer["ok"], answer
    return answer["result"]["order"]


def in_a_stall(folder, replay):
    """The device is stuck in one update until the gate opens. All of this happens before it does."""
    gate = os.path.join(folder.path, "gate.open")
    fake = Fake(folder, "gate", gate=gate)
    daemon = start(folder, replay, "gate", fake)
    stuck = harness.wait_for(fake.stalled, "an update that does not end")
    status = daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" for x in s["symbols"]), "books")
    assert status["compute"]["backend"] == "gpu" and status["compute"]["device"] == "Fake H100", status["compute"]
    updates = status["compute"]["updates"]

    order(daemon, side="buy", qty="0.02")
    held = daemon.wait_status(lambda s: s["positions"] and s["positions"][0]["qty"] == 0.02, "a position")["positions"]
    resting = order(daemon, side="sell", qty="0.01", limit=f"{held[0]['mark'] * 1.04:.2f}")
    daemon.wait_status(lambda s: any(o["order"] == resting for o in s["orders"]), "a resting order")
    answer = harness.control(daemon, "cancel", {"order": resting})
    assert answer["ok"], answer
    daemon.wait_status(lambda s: not any(o["order"] == resting for o in s["orders"]), "its end")
    # A stop just below the price: the market comes there, and it fills.
    stop = order(daemon, side="sell", qty="0.01", stop=f"{daemon.status_object()['symbols'][0]['last'] - 1:.2f}")
    daemon.wait_status(lambda s: s["positions"] and s["positions"][0]["qty"] == 0.01, "the stop's fill")
    harness.wait_for(lambda: any(fill["order"] == stop for fill in json.loads(daemon.papertape("fills", "--json"))["fills"]),
                     "its fill in the database")
    daemon.papertape("flatten", "--yes")
    status = daemon.wait_status(lambda s: not s["positions"] and not s["orders"], "flat")
    bars = daemon.wait_status(lambda s: s["compute"]["queue"] > 2, "bars that wait")["compute"]
    assert bars["updates"] == updates and bars["backend"] == "gpu", bars
    silent = daemon.wait_status(lambda s: "not answered" in s["compute"]["reason"], "word of the device")["compute"]
    assert silent["backend"] == "gpu" and silent["device"] == "Fake H100", silent
    harness.wait_for(lambda: alerts(daemon), "an alert")
    assert fake.stalled() == stuck, fake.reported()[-3:]

    # It continues where it was, and nothing is missing.
    open(gate, "w").close()
    status = indicators.updates(daemon, updates + 300)["compute"]
    assert status["backend"] == "gpu" and status["reason"] == "the streams are on the device", status
    daemon.wait_status(lambda s: s["compute"]["queue"] <= 2, "no bars that wait")
    reported = indicators.stopped(daemon)
    assert len(alerts(daemon)) == 1 and "has not answered for 10 s" in alerts(daemon)[0], alerts(daemon)
    n = indicators.compare(folder, daemon, reported)
    print(f"an order, a stop, a cancel and a flatten within one update of the device; {n} values after it")

    # And the daemon's end: the thread is left behind, the bars are read by the next run.
    os.unlink(gate)
    daemon = start(folder, replay, "gate", fake)
    before = len(fake.reported())
    harness.wait_for(lambda: len(fake.reported()) > before and fake.stalled(), "an update that does not end")
    assert daemon.stop() == 0
    assert "left behind" in daemon.log_text(), daemon.log_text()[-2000:]
    open(gate, "w").close()
    daemon = start(folder, replay, "gate", fake)
    indicators.updates(daemon, 300)
    n = indicators.compare(folder, daemon, indicators.stopped(daemon))
    print(f"the daemon ended within one as well; {n} values after the next run")


def never_opens(folder, replay):
    """A driver that hangs while the device is looked for: the CPU does the work, and the daemon still ends."""
    fake = Fake(folder, "shut", open_gate=os.path.join(folder.path, "shut.open"))
    daemon = start(folder, replay, "shut", fake)
    harness.wait_for(lambda: fake.reported() == ["open"], "a study")
    indicators.updates(daemon, 300)
    status = daemon.status_object()["compute"]
    assert status["backend"] == "cpu" and status["reason"] == "looking for a device", status
    assert daemon.stop() == 0
    assert "stopped" in daemon.log_text() and "left behind" in daemon.log_text(), daemon.log_text()[-2000:]
    print("the daemon ended while a device was looked for")


def slow(folder, replay):
    """Each update takes two seconds: what is acknowledged in one comes before its end, in the first one in which the machine leaves the
    time for it."""
    fake = Fake(folder, "slow", stall_ms=2000)
    daemon = start(folder, replay, "slow", fake)
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" for x in s["symbols"]), "books")
    given = within = 0
    while given < 5 or not within:
        stalled = harness.wait_for(fake.stalled, "an update")
        order(daemon, side="buy", qty="0.001")
        given, within = given + 1, within + (fake.stalled() == stalled)
        assert given < 60, fake.reported()
    assert daemon.stop() == 0
    print(f"{within} of {given} orders acknowledged within the two seconds of one update")


def bars_alone(path, price, seconds=20000):
    """A market of closed bars and nothing else, of which far more pass in a second than of one with trades and books."""
    chance = random.Random(24)
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(seconds):
            close = price * (1 + chance.gauss(0, 1e-4))
            cells = [f"{x:.2f}" for x in (price, max(price, close), min(price, close), close)]
            file.write(f"{1704067200000 + 1000 * i},{','.join(cells)},5.00000\n")
            price = float(cells[3])
    return path


def on_device(daemon):
    compute = daemon.status_object()["compute"]
    return compute["backend"] == "gpu" and not compute["behind"] and compute["queue"] == 0


def overflows(folder):
    """So many bars wait for the device that there is no room for more: they are read from the database instead."""
    place = folder.within("room-market")
    files = [bars_alone(os.path.join(place, f"{symbol}_1s.csv"), price) for symbol, price in (("BTCUSDT", 42000.0), ("ETHUSDT", 2300.0))]
    # At full speed the venue waits for a slow client; at any other it would disconnect it, and the bars would be over.
    # It stands still until the device has the streams: bars that come faster than they are stored are read again and again before.
    replay = folder.start(harness.Replay(place, "--bars", *files, "--speed", "max", "--from", str(1704067200000 + 600000), "--fault", "hold@60s"))
    gate = os.path.join(folder.path, "room.open")
    fake = Fake(folder, "room", gate=gate)
    daemon = start(folder, replay, "room", fake, arguments=["--clock", "feed"])
    harness.wait_for(lambda: fake.stalled() or on_device(daemon), "the device")
    harness.fault(replay, "hold@24h")
    harness.wait_for(fake.stalled, "an update that does not end")
    status = daemon.wait_status(lambda s: s["compute"]["queue_full"] > 0, "a full queue")
    assert status["compute"]["behind"], status["compute"]
    open(gate, "w").close()
    indicators.updates(daemon, 2 * status["compute"]["queue"])
    assert replay.stop() == 0
    daemon.wait_status(lambda s: s["compute"]["queue"] == 0 and not s["compute"]["behind"], "all bars taken")
    n = indicators.compare(folder, daemon, indicators.stopped(daemon))
    print(f"{status['compute']['queue']} bars waited, and then there was no room; {n} values after it")


def fails(folder, replay, what, words):
    """It fails after so many calls, again and again, and is tried again each time."""
    fake = Fake(folder, what, fail=what, fail_after=25)
    daemon = start(folder, replay, what, fake)
    status = daemon.wait_status(lambda s: s["compute"]["backend"] == "cpu" and words in s["compute"]["reason"],
                                f"the reason: {words}")
    assert status["compute"]["device"] is None, status["compute"]
    harness.wait_for(lambda: alerts(daemon), "an alert")
    assert words in alerts(daemon)[0] and "CPU" in alerts(daemon)[0], alerts(daemon)
    harness.wait_for(lambda: fake.reported().count("open") >= 3, "the device tried again")
    indicators.updates(daemon, 2000 if harness.LONG else 800)
    if what != "create":
        harness.wait_for(lambda: sum(line.startswith("end") for line in fake.reported()) >= 2, "updates on the device")
    closed = indicators.stopped(daemon)
    reported = fake.reported()
    assert reported.count("close") == reported.count("open"), (reported.count("open"), reported.count("close"))
    n = indicators.compare(folder, daemon, closed)
    print(f"{what}: {reported.count('open')} times on the device and off it, {n} values the reference's to the bit")


def stalls(folder):
    replay = folder.start(harness.Replay(folder.within("stalls-market"), "--synthetic", "22", "--speed", "20"))
    in_a_stall(folder, replay)
    never_opens(folder, replay)
    slow(folder, replay)
    assert replay.stop() == 0


def failures(folder):
    replay = folder.start(harness.Replay(folder.within("failures-market"), "--synthetic", "23", "--speed", "60"))
    fails(folder, replay, "memory", "out of memory")
    fails(folder, replay, "error", "illegal memory access")
    fails(folder, replay, "create", "out of memory")
    assert replay.stop() == 0


def main():
    print("counts: %d updates after a failure (PAPERTAPE_LONG: 2000)" % (2000 if harness.LONG else 800))
    with harness.Folder() as folder:
        harness.together(folder, stalls, overflows, failures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
