#!/usr/bin/env python3
"""The machine's clock is half a minute off the venue's, either way, and is set right, or wrong, while the daemon runs: strategies on
bars of a second trade on, the alert CLOCK_OFFSET says how far it is off, and a replay of the log gives the same ledger."""

import datetime
import json
import os
import re
import sys

import harness

OFF_S = 30
ASAN = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
# The venue's time is asked for often: the market on loopback starts with its first client, and its clock with it.
CONFIG = harness.BUSY_CONFIG.replace("fast = 2", "fast = 1").replace("slow = 4", "slow = 2") + "[feed]\nrefresh_s = 2\n"


class Shifted:
    """A daemon whose clock is off by so many seconds."""

    def __init__(self, folder, replay, name, seconds):
        self.path = os.path.join(folder.path, name + ".shift")
        self.shift(seconds)
        shifted = os.environ | {"LD_PRELOAD": harness.SHIFTED_CLOCK, "SHIFTED_CLOCK": self.path, "ASAN_OPTIONS": ASAN}
        self.name = name
        self.daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=name, state=name, env=shifted))

    def shift(self, seconds):
        self.seconds = seconds
        with open(self.path + ".new", "w") as file:
            file.write(f"{seconds}")
        os.rename(self.path + ".new", self.path)

    def orders(self):
        return self.daemon.wait_status(lambda s: s["counters"], f"{self.name}: a session")["counters"]["orders"]

    def says(self):
        """The offset that the status has is that of the clock, as it is now."""
        return self.daemon.wait_status(lambda s: abs(s["venues"][0]["clock_offset_ms"] / 1000 + self.seconds) < OFF_S / 2,
                                       f"{self.name}: its offset")["venues"][0]["clock_offset_ms"]

    def alert(self):
        """That it is off is said."""
        harness.wait_for(lambda: self.daemon.query(
            f"SELECT 1 FROM alerts WHERE code = 'CLOCK_OFFSET' AND closed_ns IS NULL"), f"{self.name}: the alert")


def trade(daemons, what):
    """The strategies order, more than once from now on."""
    for one, before in [(one, one.orders()) for one in daemons]:
        harness.wait_for(lambda: one.orders() >= before + 2, f"{one.name}, {what}: orders of the strategy")


def clock_first(daemon):
    """The first event that the jump dates is the venue's clock: nothing is due in between."""
    shown = re.findall(r"^ *\d+  (\S+ \S+)Z  (\S+)", daemon.papertape("events", "show", "--seq", "1", "--n", "100000"), re.M)
    times = [datetime.datetime.fromisoformat(time) for time, _ in shown]
    jump = max(range(1, len(times)), key=lambda at: times[at] - times[at - 1])
    assert (times[jump] - times[jump - 1]).total_seconds() > OFF_S and shown[jump][1] == "VENUE_CLOCK", shown[jump - 1:jump + 2]


def on_feed(folder, replay):
    """On the feed's clock nothing is left of the offset that the state has."""
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG + "[engine]\nclock = feed\n", name="on_feed", state="behind"))
    clocks = lambda: [line for line in daemon.papertape("events", "show", "--seq", "1", "--n", "100000").splitlines() if " VENUE_CLOCK " in line]
    harness.wait_for(lambda: " 0.000 s " in clocks()[-1], "its clock is the venue's")
    assert daemon.stop() == 0


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "71"))
        ahead = Shifted(folder, replay, "ahead", OFF_S)
        behind = Shifted(folder, replay, "behind", -OFF_S)
        trade((ahead, behind), "from the start")
        for one in (ahead, behind):
            one.alert()
            print(f"{one.name}: {one.says() / 1000:.1f} s")
        ahead.shift(0)  # set right: time continues from the last event, slower, until the clock has caught up
        behind.shift(OFF_S)
        ahead.says()
        behind.says()
        trade((ahead, behind), "its clock set")
        clock_first(behind.daemon)
        assert ahead.daemon.query("SELECT 1 FROM alerts WHERE code = 'clock' AND lasts AND closed_ns IS NULL")
        for one in (ahead, behind):
            events = one.daemon.papertape("events", "show", "--seq", "1", "--n", "100000")
            assert events.count(" VENUE_CLOCK ") >= (2 if one is behind else 1), one.name
            parity = json.loads(one.daemon.papertape("parity", "--json"))
            assert parity["ok"] is True, parity
            assert one.daemon.stop() == 0
        on_feed(folder, replay)
        assert replay.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
