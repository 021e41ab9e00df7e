#!/usr/bin/env python3
"""The dashboard's past, on papertaped and the synthetic market: what `status --json` said at several moments is what `papertape --json
--at T` says of them later (positions, cash, gains, live orders, open alerts), and what < > and :at show in tmux, where nothing can be
acted on; W opens what-if with the moment filled in, and Esc leads back to now."""

import json
import math
import re
import signal
import subprocess
import time

import dashboard
import harness

CONFIG = harness.BUSY_CONFIG + "[engine]\nlatency_ms = 0\n"
MOMENTS = 4
DECIMALS = 9


def close(one, other):
    return one == other or (one is not None and other is not None and abs(one - other) < 10 ** -DECIMALS)


def at(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


def iso(ns):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9)) + f".{ns % 10**9:09}Z"


def moments(daemon):
    """The status after each of some fills, while orders of ours come, are changed, and go."""
    seen, resting, books = [], [], []
    for i in range(MOMENTS):
        fills = daemon.query("SELECT count(*) FROM fills")[0][0]
        done = daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", str(40000 + i), "--account", "hand")
        resting.append(re.search(r"order (\d+)", done)[1])
        if i % 2:
            daemon.papertape("order", "cancel", resting.pop(0))
            daemon.papertape("order", "buy", "ETHUSDT", "0.1", "--account", "hand")
        harness.wait_for(lambda fills=fills: daemon.query("SELECT count(*) FROM fills")[0][0] >= fills + 1, "fills")
        seen.append(daemon.status_object())
        books.append((seen[-1]["now_ns"], json.loads(daemon.papertape("book", "BTCUSDT", "--json")), daemon.status_object()["now_ns"]))
    last = seen[-1]["now_ns"]
    harness.wait_for(lambda: daemon.query("SELECT max(ts_ns) FROM prices")[0][0] > last, "what was stored after the last moment")
    return seen, books


def same_book(daemon, before, book, after):
    """The log, played to somewhere between two moments, has the book that the daemon had between them."""
    while before <= after:
        middle = (before + after) // 2
        then = json.loads(daemon.papertape("book", "BTCUSDT", "--json", "--at", at(middle)))
        if then["last_id"] == book["last_id"]:
            assert book["at_ns"] is None and 0 <= middle - then.pop("at_ns") < 2 * 10**9, (middle, then)
            assert then == {key: book[key] for key in then} and book["bids"] and book["asks"], (then, book)
            return
        if then["last_id"] < book["last_id"]:
            before = middle + 1
        else:
            after = middle - 1
    raise AssertionError(f"no book of {book['last_id']}")


def absent(folder, daemon, replay, ns):
    """Of a time at which no daemon ran there is no book: between a kill and the next start, and after a stop; right before either there is."""
    def book(ns):
        return subprocess.run([harness.PAPERTAPE, "--state", daemon.state, "book", "BTCUSDT", "--at", at(ns)], check=False, capture_output=True, text=True)

    def last():
        done = subprocess.run([harness.PAPERTAPE, "events", "list", "--json", daemon.state], check=True, capture_output=True, text=True)
        return max(segment["last_ns"] for segment in json.loads(done.stdout)["segments"])
    to_come = daemon.status_object()["now_ns"] + 3600 * 10**9
    done = book(to_come)
    assert done.returncode == 1 and "that is later than now: the newest event is of 20" in done.stderr, done
    done = subprocess.run([harness.PAPERTAPE, "--state", daemon.state, "--at", at(to_come), "--once"], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "is later than now: the newest that is recorded is of 20" in done.stderr and not done.stdout, done
    daemon.stop(signal.SIGKILL)
    ends = [last()]
    assert "no daemon ran then: the run before it ended at " in book(ends[0] + 1).stderr, book(ends[0] + 1)
    again = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    again.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
    assert book(again.status_object()["now_ns"]).returncode == 0
    assert again.stop() == 0
    ends.append(last())
    done = book(to_come + 3600 * 10**9)
    assert done.returncode == 1 and "that is later than now: " in done.stderr, done
    for end in ends:
        done, after = book(end), book(end + 1)
        assert done.returncode == 0 and re.search(r" last id \d+  of 20\d\d-\S+Z\n", done.stdout), done
        assert after.returncode == 1 and after.stderr == f"papertape: book: no daemon ran then: the run before it ended at {iso(end)[:19]}Z\n", after
    assert ends[0] > ns and ends[1] > ends[0], (ns, ends)


def shown(daemon, ns, *options):
    return subprocess.run([harness.PAPERTAPE, "--state", daemon.state, "--at", at(ns), *options], check=True, capture_output=True, text=True).stdout


def compare(daemon, status, then):
    key = lambda row: (row["account"], row["symbol"])
    was, now = (sorted(rows["positions"], key=key) for rows in (status, then))
    assert len(was) == len(now) > 0, (was, now)
    for one, other in zip(was, now):
        for name in ("account", "symbol", "side", "qty", "entry", "fifo_entry", "stop"):
            assert close(one[name], other[name]) if isinstance(one[name], float) else one[name] == other[name], (name, one, other)
    assert [row["account"] for row in status["accounts"]] == [row["account"] for row in then["accounts"]], then["accounts"]
    for one, other in zip(status["accounts"], then["accounts"]):
        page = shown(daemon, status["now_ns"], "--open", f"account:{one['account']}", "--dump-screen", "80x60")
        for name in ("cash", "realized", "fees", "deposits"):
            there = float(re.search(rf"^ {name} +(\S+)", page, re.M)[1])  # of ten digits
            assert math.isclose(one[name], there, rel_tol=1e-9, abs_tol=1e-9), (name, one, page)
        assert close(one["cash"], other["cash"]), (one, other)
        stored = daemon.query(f"SELECT e.equity, a.currency_scale FROM equity e JOIN accounts a ON a.id = e.account WHERE a.name = "
                              f"'{one['account']}' AND ts_ns <= {status['now_ns']} ORDER BY ts_ns DESC LIMIT 1")
        assert close(other["equity"], stored[0][0] / 10 ** stored[0][1]), (stored, other)
        assert abs(one["equity"] - other["equity"]) < 0.01 * one["equity"], (one, other)
    live = {"PENDING", "HELD", "OPEN", "PARTIAL", "UNKNOWN"}
    fields = ("account", "symbol", "side", "type", "state", "qty", "filled", "price", "stop")
    orders = [{row["order"]: [row[name] for name in fields] for row in rows["orders"] if row["state"] in live} for rows in (status, then)]
    assert orders[0] == orders[1] and orders[0], orders
    assert sum(1 for alert in then["alerts"] if alert["state"] == "open") == status["alerts_open"], then["alerts"]
    return len(was) + len(orders[0])


def go(tmux, line):
    tmux.keys(":")
    dashboard.wait("an empty line", lambda: tmux.screen().rstrip().splitlines()[-1].startswith(":_"), tmux.screen)
    tmux.type(line)
    tmux.keys("Enter")


def same_screen(tmux, daemon, status):
    """Typed or printed, a moment is the same screen, lines of keys and of the interval apart."""
    ns = status["now_ns"]
    for tab in ("1", "5", "6"):
        tmux.keys(tab)
        go(tmux, f"at {iso(ns)}")
        wanted = shown(daemon, ns, "--dump-screen", "80x24", "--tab", tab)
        body = lambda text: [line.rstrip() for line in text.splitlines()[2:23]]
        dashboard.wait(f"tab {tab} as it is printed", lambda body=body, wanted=wanted: body(tmux.screen()) == body(wanted),
                       lambda wanted=wanted: tmux.screen() + wanted)
        assert " PAST " in tmux.screen().splitlines()[0] and " PAST " in wanted.splitlines()[0]


def ladder(tmux, daemon, status):
    """The book of the moment, beside the chart as it is printed, and in its place with d."""
    book_at = lambda ns: json.loads(daemon.papertape("book", "BTCUSDT", "--json", "--at", at(ns)))
    prices = lambda ns, n: [f"{level[0]:.10g}" for side in ("bids", "asks") for level in book_at(ns)[side][:n]]
    ns = status["now_ns"]
    small = ns

    def found():
        """The next moment, of those a second old, whose nearest levels have a quantity that JSON writes with an exponent."""
        nonlocal small
        small = min(small + 300_000_000, daemon.status_object()["now_ns"] - 10**9)
        return min(level[1] for side in ("bids", "asks") for level in book_at(small)[side][:3]) < 1e-4

    harness.wait_for(found, "a level below 0.0001")
    for then in (ns, small):
        printed = shown(daemon, then, "--dump-screen", "120x40", "--tab", "4")
        assert "Depth BTCUSDT" in printed and all(f" {price} " in printed for price in prices(then, 3)), (prices(then, 3), printed)
    go(tmux, f"at {iso(ns)}")
    tmux.keys("4", "d")
    dashboard.expect(tmux, " PAST ", "Depth BTCUSDT", *prices(ns, 1))
    tmux.keys("d", "1")


def steps(tmux, daemon):
    """Each < leads to the event before, and > back: the header's times go down and up."""
    header = lambda: re.search(r"PAST (\S+ \S+)Z", tmux.screen().splitlines()[0])
    tmux.keys("Escape", "Escape", "1")
    dashboard.expect(tmux, "PAPER ", "feed ok")
    times = []
    for key in "<<<<>>":
        before = times[-1] if times else ""
        tmux.keys(key)
        dashboard.wait("another moment", lambda before=before: header() and header()[1] != before, tmux.screen)
        times.append(header()[1])
    assert times[0] > times[1] > times[2] > times[3] and times[4:] == [times[2], times[1]], times
    for key in "pFBxEOb@":
        tmux.keys(key)
        dashboard.expect(tmux, "the past cannot be acted on: Esc returns to now")
        tmux.keys("g")  # half of gg: does nothing, and the note ends
        dashboard.expect_gone(tmux, "the past cannot be acted on")
    go(tmux, "order buy BTCUSDT 0.01")
    dashboard.expect(tmux, "order refused", "the past cannot be acted on")
    assert daemon.status_object()["trading"] == "on"
    tmux.keys("Escape")
    dashboard.expect(tmux, "PAPER ", "feed ok")


def explanation(tmux, daemon, order, ns):
    """The last lines of an order's page are the last of what explain prints of it at that moment, and no more."""
    then = daemon.papertape("explain", order, "--at", at(ns)).rstrip().splitlines()
    wanted = [line.split()[:6] for line in then[then.index("What became of it") + 1:]]
    assert len(wanted) >= 1, then

    def shown():
        tmux.keys("G")
        lines = [line.split()[:6] for line in tmux.screen().splitlines()[3:23]]
        return [line for line in lines if line]
    dashboard.wait("the explanation of then", lambda: shown()[-len(wanted):] == wanted, lambda: tmux.screen() + "\n".join(then))


def what_if(tmux, daemon, status):
    order = max(row["order"] for row in status["orders"])
    go(tmux, f"at {iso(status['now_ns'])}")
    dashboard.expect(tmux, " PAST ")
    tmux.keys("6")
    dashboard.expect(tmux, "─Orders (1 of ")
    tmux.keys("Enter")
    dashboard.expect(tmux, "Ord > order ")
    opened = re.search(r"> order (\d+)", tmux.screen())[1]
    assert int(opened) <= order + 1, tmux.screen()
    explanation(tmux, daemon, opened, status["now_ns"])
    line = lambda: re.search(r"^:what-if --at \S+ --account \S+ (--set|--strategy) _$", tmux.screen().rstrip().splitlines()[-1])
    tmux.keys("W")
    dashboard.wait("the line", line, tmux.screen)
    assert iso(status["now_ns"])[:19] in tmux.screen(), tmux.screen()
    option = line()[1]
    tmux.keys("Enter")  # its last option has no value yet
    dashboard.expect(tmux, "Played from the event log", f"{option}: needs a value")
    tmux.keys("Escape")
    dashboard.expect(tmux, "─Orders (1 of ")
    tmux.keys("W")
    dashboard.wait("the line again", line, tmux.screen)
    tmux.keys("C-u")
    tmux.type(f"what-if --at {iso(status['now_ns'])} --account main --set slow=9")
    tmux.keys("Enter")
    dashboard.expect(tmux, "Played from the event log", "would be", "slow 9", "equity until")
    tmux.keys("Escape", "Escape")
    dashboard.expect(tmux, "PAPER ", "feed ok")


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
        daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        seen, books = moments(daemon)
        rows = sum(compare(daemon, status, json.loads(shown(daemon, status["now_ns"], "--json"))) for status in seen)
        for book in books:
            same_book(daemon, *book)
        tmux = dashboard.Tmux(folder.path)
        try:
            tmux.start(80, 24, {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
            tmux.type(f"clear; {harness.PAPERTAPE} --state {daemon.state} --at {at(seen[0]['now_ns'])}")
            tmux.keys("Enter")
            dashboard.expect(tmux, " PAST ", "?=help")
            same_screen(tmux, daemon, seen[1])
            ladder(tmux, daemon, seen[1])
            steps(tmux, daemon)
            what_if(tmux, daemon, seen[2])
            tmux.keys("q")
            dashboard.wait("the terminal as it was", lambda: tmux.terminal() == "0 1", tmux.terminal)
        finally:
            tmux.stop()
        absent(folder, daemon, replay, seen[-1]["now_ns"])
    print(f"{rows} rows of {MOMENTS} moments are what the status was")


if __name__ == "__main__":
    main()
