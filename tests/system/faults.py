#!/usr/bin/env python3
"""A venue that misbehaves: silence with the socket open, closed connections, gaps in the book, garbage. The daemon neither
falls nor invents: it reconnects within its budget, fetches the bars that it missed, and its books come back in step."""

import json
import re
import ssl
import sys
import urllib.request

import harness

# On the wall's clock, so that its own watchdogs decide.
CONFIG = """
[market]
symbols = BTCUSDT
interval = 1s
history = 100
[feed]
stale_s = 2
stale_trade_s = 4
silence_s = 2
[account main]
strategy = none
"""
CONNECTS_MAX = 60  # in five minutes: the daemon's own budget, a fifth of the venue's


def bars_of(daemon):
    """When the venue's bars open, and the pairs between which some are missing."""
    times = [t for (t,) in daemon.query("SELECT open_ns FROM bars WHERE source = 'venue' ORDER BY open_ns")]
    return times, [(a, b) for a, b in zip(times, times[1:]) if b - a != 10**9]


def bars_hold(daemon):
    """The venue's bars stand one after another without a hole, except gaps that are written down. Of a daemon that has stopped."""
    times, holes = bars_of(daemon)
    open_gaps = daemon.query("SELECT from_open_ns, to_open_ns FROM gaps WHERE filled_ns IS NULL")
    for a, b in holes:
        assert any(start <= a + 10**9 and b - 10**9 <= end for start, end in open_gaps), \
            f"bars between {a} and {b} are missing and no gap says so"
    assert len(times) > 100, len(times)
    return len(times), len(holes)


def used_up(folder):
    """The minute's weight was used by others: the status says why nothing comes, and for how long."""
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "22"))
    trusted = ssl.create_default_context(cafile=replay.ca)
    feed = None
    for attempt in range(20):  # until both fall into one minute
        used = 0
        while used < 5000:  # of 6000, of which a daemon takes four fifths
            with urllib.request.urlopen(replay.urls["rest_url"] + "/api/v3/depth?symbol=BTCUSDT&limit=5000", context=trusted,
                                        timeout=harness.PATIENCE) as answer:
                used = int(answer.headers["x-mbx-used-weight-1m"])
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="used", state=f"used-{attempt}"))
        feed = daemon.wait_status(lambda s: s["feed"]["state"] in ("retry", "ok"), "waiting for the next minute")["feed"]
        if feed["state"] == "retry":
            break
        assert daemon.stop() == 0
    assert "weight a minute is near" in feed["detail"] and "requests wait" in feed["detail"], feed
    assert 0 <= feed["retry_in_ms"] <= 62000, feed
    assert daemon.stop() == 0
    assert replay.stop() == 0
    print(f"used up: {feed['detail']}")


def run(folder, name, fault, condition, what, speed="1", alert=None):
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "21", "--speed", speed, "--fault", fault))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=name, state=name))
    status = daemon.wait_status(condition, what)
    daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["symbols"] and s["symbols"][0]["book"] == "synced" and
                       not s["symbols"][0]["stale"], f"{name}: everything in step again")
    # The venue has the missing bars: they are fetched. What the faults cut off after that may be missing at the end.
    harness.wait_for(lambda: not bars_of(daemon)[1], f"{name}: the missing bars")
    # What lasted is over, and its alerts are closed, at a time of their own.
    lasting = "SELECT code, text FROM alerts WHERE lasts AND closed_ns IS NULL AND code IN ('feed', 'stale', 'silent', 'book-resync')"
    harness.wait_for(lambda: not daemon.query(lasting), f"{name}: alerts closed")
    closed = [code for (code,) in daemon.query("SELECT DISTINCT code FROM alerts WHERE closed_ns >= last_ns AND acked_ns IS NULL")]
    assert alert in closed + [None], (alert, closed)
    listed = json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"]
    assert [x["state"] for x in listed if x["code"] == alert] in ([], ["closed"] * len([x for x in listed if x["code"] == alert])), listed
    connects = daemon.status_object()["feed"]["connects"]
    assert connects <= CONNECTS_MAX, connects
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    assert daemon.stop() == 0
    count, holes = bars_hold(daemon)
    assert replay.stop() == 0
    print(f"{name}: {connects} connects, {status['feed']['bad_frames']} bad frames, "
          f"{status['symbols'][0]['book_gaps']} book gaps, {count} bars, {holes} holes written down")


def own_pause(folder):
    """On the feed's clock the stream is not read while a question is open. That is no silence of the venue's: the answer is
    waited for, over a ban of five seconds too."""
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "21", "--speed", "10", "--fault", "gap@book",
                                         "--fault", "ban@6+5s"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ("--clock", "feed"), name="pause", state="pause"))
    daemon.wait_status(lambda s: s["venues"][0]["requests_failed"] > 0, "a request that is refused")
    status = daemon.wait_status(lambda s: s["venues"][0]["requests_waiting"] == 0 and s["symbols"] and s["symbols"][0]["book"] == "synced",
                                "the answer after the ban")
    assert status["feed"]["connects"] == 1, status["feed"]
    assert "no data" not in daemon.log_text(), daemon.log_text()
    assert daemon.stop() == 0
    assert replay.stop() == 0
    print("pause: the end of a ban was waited for, without a reconnection")


def no_bars(folder):
    """The venue answers no request of bars while a silence cuts some off: that is an alert, which says of what, and for what
    reason; it is closed by the next ones that are fetched."""
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "23"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="bars", state="bars"))

    def missing():
        return daemon.query("SELECT severity, text, lasts, closed_ns FROM alerts WHERE code = 'bars-missing'")

    def gaps(filled):
        return daemon.query(f"SELECT from_open_ns FROM gaps WHERE filled_ns IS {'NOT ' if filled else ''}NULL")

    def silence():
        """Long enough for bars to close meanwhile, whether the connection lasts or not."""
        before = len(gaps(True) + gaps(False))
        daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and not s["symbols"][0]["stale"], "the stream")
        harness.fault(replay, "silence@0s+4s")
        harness.wait_for(lambda: len(gaps(True) + gaps(False)) > before, "a gap")

    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["bars"] > 100, "the history")
    assert missing() == []
    harness.fault(replay, "5xx:klines")
    silence()
    harness.wait_for(missing, "the alert")
    (severity, text, lasts, closed), = missing()
    assert re.fullmatch(r"BTCUSDT: bars could not be fetched: [^:]*BTCUSDT[^:]*: HTTP 50[0234]: .* \(5 attempts\)", text), text
    assert (severity, lasts, closed) == ("warning", 1, None), (severity, lasts, closed)
    assert gaps(filled=False), "what was not fetched is a gap"
    harness.fault(replay, "5xx:klines@0s+0s")
    silence()
    harness.wait_for(lambda: missing()[-1][3], "bars that are fetched again")
    harness.wait_for(lambda: gaps(filled=True), "the gap that they fill")
    (listed,) = [x for x in json.loads(daemon.papertape("alerts", "list", "--json"))["alerts"] if x["code"] == "bars-missing"]
    assert listed["state"] == "closed" and listed["text"].startswith("BTCUSDT: bars could not be fetched"), listed
    assert daemon.stop() == 0
    assert replay.stop() == 0
    print(f"bars: {text}; closed when bars came again")


def main():
    with harness.Folder() as folder:
        used_up(folder)
        own_pause(folder)
        no_bars(folder)
        run(folder, "silence", "silence@3s+8s",
            lambda s: s["feed"]["connects"] >= 2, "a reconnection for silence", alert="silent")
        run(folder, "close", "close@1000",
            lambda s: s["feed"]["connects"] >= 2 and s["symbols"] and s["symbols"][0]["bars"] > 110,
            "a reconnection after a close", speed="5", alert="feed")
        run(folder, "gap", "gap@book",
            lambda s: s["symbols"] and s["symbols"][0]["book_gaps"] >= 2, "two gaps in the book", speed="10")
        run(folder, "garbage", "garbage",
            lambda s: s["feed"]["bad_frames"] >= 5 and s["symbols"] and s["symbols"][0]["bars"] > 110, "five bad frames", speed="10")
    return 0


if __name__ == "__main__":
    sys.exit(main())
