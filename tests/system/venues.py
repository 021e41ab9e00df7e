#!/usr/bin/env python3
"""Several venues in one daemon, each a replay of ours: both stream at once, one is refused, or once its keys are revoked, closed over
a long weekend, split and paid a dividend, symbols come and go, and everything is as it was after a restart; a stock that is halted
resumes unseen."""

import json
import os
import sys
import time

import harness

BOTH = """[market]
symbols = BTCUSDT
interval = 1m
history = 20
ca_file = {ca}
ws_url = {coins[ws_url]}
rest_url = {coins[rest_url]}
[venue alpaca]
symbols = {symbols}
streams = trade, kline, bookTicker, depth
keys = {keys}
ws_url = {stocks[ws_url]}
rest_url = {stocks[rest_url]}
[account usd]
currency = USD
strategy = none
[account main]
strategy = none
"""


def sessions(daemon):
    """The phases of the calendar that the engine got, in order."""
    events = json.loads(daemon.papertape("events", "show", "--seq", "1", "--n", "1000000", "--json"))["events"]
    return [e["words"].split()[2].rstrip(":,") for e in events if e["words"].startswith("SESSION us-equity")]


def weekend(folder):
    """Friday's last minutes to Tuesday's first ones over a holiday: states, no alarm; a split before Tuesday's first trade."""
    replay = folder.start(harness.Alpaca(folder.within("weekend"), "--synthetic", "5", "--speed", "max", "--from", "2026-01-16T20:50:00Z",
                                         "--to", "2026-01-20T14:50:00Z", "--action", "split:AAPL:4:1:2026-01-20"))
    daemon = folder.start(harness.Daemon(folder.path, replay, harness.stocks_config(replay.keys), name="weekend", state="weekend-state"))
    status = daemon.wait_status(lambda s: s["now_ns"] > 1768920300 * 10**9 and s["positions"] and s["symbols"][0]["last"], "Tuesday, 14:45")
    venue = status["venues"][0]
    assert venue["market"] == "regular" and venue["calendar"] == "us-equity", venue
    assert venue["connects"] == 1 and venue["bad_frames"] == 0, venue
    assert daemon.stop() == 0  # everything is on the disk
    alerts = daemon.query("SELECT code, text FROM alerts")
    assert not [a for a in alerts if a[0] in ("stale", "feed", "bad-frames")], alerts
    reported = sessions(daemon)
    assert reported == ["regular", "post", "closed", "pre", "regular"], reported
    actions = daemon.query("SELECT kind, shares, per, ex_ns, ts_ns FROM corporate_actions")
    assert [a[:3] for a in actions] == [("split", 4, 1)], actions
    first = daemon.query("SELECT qty FROM fills ORDER BY id LIMIT 1")[0][0]
    assert status["positions"][0]["qty"] * 10**9 == 4 * first, (status["positions"], first)
    price = status["symbols"][0]["last"]
    print(f"weekend: {' '.join(reported)}; 4 for 1 at {actions[0][4]}, {first} became {4 * first}, last {price}")


def half_day(folder):
    """The day after Thanksgiving ends at 13:00 in New York."""
    replay = folder.start(harness.Alpaca(folder.within("half"), "--synthetic", "5", "--speed", "max", "--from", "2026-11-27T17:50:00Z",
                                         "--to", "2026-11-27T18:30:00Z"))
    daemon = folder.start(harness.Daemon(folder.path, replay, harness.stocks_config(replay.keys), name="half", state="half-state"))
    venue = daemon.wait_status(lambda s: s["venues"][0]["market"] == "post" and s["venues"][0]["state"] == "closed", "the close")["venues"][0]
    assert venue["market_half"], venue
    assert daemon.stop() == 0
    at = daemon.query("SELECT since_ns FROM market_sessions")[0][0]
    assert at == 1795802400 * 10**9, at
    print("half day: closed at", at)


def resumed_unseen(folder):
    """A stock is halted while the daemon is there, and no longer when it comes back: its first trade ends the halt, also in the log."""
    place = folder.within("halted")
    halting = folder.start(harness.Alpaca(place, "--synthetic", "5", "--speed", "max", "--from", "2026-01-15T15:00:00Z", "--to",
                                          "2026-01-15T15:20:00Z", "--fault", "status@2m:AAPL=HALT"))
    daemon = folder.start(harness.Daemon(place, halting, harness.stocks_config(halting.keys)))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["trading"] == "halted", "the halt")
    assert daemon.stop() == 0 and halting.stop() == 0
    later = folder.start(harness.Alpaca(place, "--synthetic", "5", "--speed", "max", "--from", "2026-01-15T15:40:00Z", "--to",
                                        "2026-01-15T16:00:00Z"))
    daemon = folder.start(harness.Daemon(place, later, harness.stocks_config(later.keys)))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["trading"] == "trades", "the end of the halt")
    assert daemon.stop() == 0 and later.stop() == 0
    events = json.loads(daemon.papertape("events", "show", "--seq", "1", "--n", "1000000", "--json"))["events"]
    said = [e["words"] for e in events if "AAPL" in e["words"] and ("is halted" in e["words"] or "after an interruption" in e["words"])]
    assert len(said) == 2 and "is halted" in said[0], said
    assert daemon.papertape("parity").startswith("parity ok")
    print("halted, and resumed unseen:", said[-1])


def refused(folder):
    """Keys that are missing, open to others, or wrong: one line, no second attempt, and no secret anywhere."""
    replay = folder.start(harness.Replay(folder.within("refused"), "--venue", "alpaca", "--synthetic", "5", "--keys", "PKTEST:right"))
    for name, keys, words in (("missing", "/nonexistent/keys", "No such file"), ("credential", "alpaca", "LoadCredential=alpaca"),
                              ("open", harness.write_keys(folder.path, "open-keys", "hush"), "mode 0600"),
                              ("wrong", harness.write_keys(folder.path, "wrong-keys", "hush"), "refused")):
        if name == "open":
            os.chmod(keys, 0o644)
        daemon = folder.start(harness.Daemon(folder.path, replay, harness.stocks_config(keys), name=name, state=name))
        status = daemon.popen.wait(harness.PATIENCE)
        errors = [line for line in daemon.log_text().splitlines() if line.startswith("papertaped: ")]
        assert status == 2 and len(errors) == 1 and words in errors[0], (name, status, daemon.log_text())
        assert "hush" not in daemon.log_text(), name
        print("refused:", errors[0])


def both(folder):
    """Two venues at once; then one of them refuses after a restart, and the other continues."""
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    coins = folder.start(harness.Replay(folder.within("coins"), "--synthetic", "5", "--from", start))
    stocks = folder.start(harness.Replay(folder.within("stocks"), "--venue", "alpaca", "--synthetic", "5", "--from", start,
                                "--keys", "PKTEST:right"))
    ca = os.path.join(folder.path, "both.pem")
    with open(ca, "w") as file:
        file.write(open(coins.ca).read() + open(stocks.ca).read())
    settings = dict(ca=ca, coins=coins.urls, stocks=stocks.urls)
    good, bad = harness.write_keys(folder.path, "good", "right"), harness.write_keys(folder.path, "bad", "hush")
    config = BOTH.format(keys=good, symbols="BTC/USD", **settings)
    daemon = folder.start(harness.Daemon(folder.path, None, config, name="both", state="both-state"))

    def stream(status):
        """Both are there, and all that they send is known."""
        return status["feed"]["state"] == "ok" and status["symbols"] and all(
            x["last"] and x["book"] == "synced" for x in status["symbols"]) and all(
            v["state"] == "ok" and v["messages_per_second"] > 0 and None not in (v["clock_offset_ms"], v["latency_p50_ms"], v["latency_p99_ms"])
            for v in status["venues"])
    status = daemon.wait_status(stream, "both books")
    assert [v["venue"] for v in status["venues"]] == ["binance", "alpaca"], status["venues"]
    assert [x["venue"] for x in status["symbols"]] == ["binance", "alpaca"], status["symbols"]
    assert {x["venue"] for x in status["feed"]["streams"]} == {"binance", "alpaca"}
    for venue in status["venues"]:
        assert 0 <= venue["latency_p50_ms"] <= venue["latency_p99_ms"] < 60000, venue
    assert harness.control(daemon, "symbol_remove", {"symbol": "BTCUSDT"})["ok"]
    last = harness.control(daemon, "symbol_remove", {"symbol": "BTC/USD"})
    assert last["error"]["code"] == "EINVAL", last
    assert harness.control(daemon, "symbol_add", {"symbol": "BTC/USD"})["error"]["code"] == "EEXIST"
    unknown = harness.control(daemon, "symbol_add", {"symbol": "BTCUSDX", "venue": "binance"})
    assert unknown["error"]["code"] == "ENOENT" and "did you mean BTCUSDT?" in unknown["error"]["message"], unknown
    nowhere = harness.control(daemon, "symbol_add", {"symbol": "X", "venue": "alpacca"})
    assert nowhere["error"]["code"] == "ENOENT" and "did you mean alpaca?" in nowhere["error"]["message"], nowhere
    listed = harness.control(daemon, "symbol_list", {})["result"]["symbols"]
    assert [(x["symbol"], x["streamed"]) for x in listed] == [("BTCUSDT", False), ("BTC/USD", True)], listed
    names = harness.control(daemon, "streams", {"venue": "alpaca"})["result"]["streams"]
    assert "trades:BTC/USD" in names and not any("AAPL" in name for name in names), names
    assert harness.control(daemon, "symbol_add", {"symbol": "btcusdt", "key": "again"})["ok"]
    assert harness.control(daemon, "symbol_add", {"symbol": "btcusdt", "key": "again"})["result"]["repeated"]
    daemon.wait_status(lambda s: any(x["symbol"] == "BTCUSDT" and x["frames"] > 0 and x["age_ms"] < 1000
                                     for x in s["feed"]["streams"]) and s["feed"]["state"] == "ok",
                       "the symbol that came back")
    sent = harness.control(daemon, "streams", {"venue": "binance"})
    assert sent["ok"] and "btcusdt@trade" in sent["result"]["streams"], sent
    # What neither configuration nor a former run knew: a coin, guessed by its name, and a stock.
    for symbol, venue in (("ETHUSDT", "binance"), ("AAPL", "alpaca")):
        answer = harness.control(daemon, "symbol_add", {"symbol": symbol})
        assert answer["ok"] and answer["result"]["venue"] == venue, answer
    daemon.wait_status(lambda s: [x for x in s["symbols"] if x["symbol"] == "ETHUSDT" and x["book"] == "synced" and x["bars"] >= 20],
                       "the book and history of one that was added")
    assert harness.control(daemon, "order", {"account": "main", "symbol": "ETHUSDT", "side": "buy", "qty": "0.01"})["ok"]
    daemon.wait_status(lambda s: any(x["symbol"] == "ETHUSDT" for x in s["positions"]), "a position in it")
    assert harness.control(daemon, "symbol_remove", {"symbol": "ETHUSDT"})["error"]["code"] == "EBUSY"
    assert harness.control(daemon, "symbol_remove", {"symbol": "AAPL"})["ok"]
    assert daemon.stop() == 0

    # What was added and removed by command holds over the configuration, in the next run too.
    daemon = folder.start(harness.Daemon(folder.path, None, config, name="kept", state="both-state"))
    status = daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" for x in s["symbols"]), "the next run")
    assert [x["symbol"] for x in status["symbols"]] == ["BTCUSDT", "BTC/USD", "ETHUSDT"], status["symbols"]
    assert [x["symbol"] for x in status["positions"]] == ["ETHUSDT"], status["positions"]
    assert daemon.stop() == 0

    daemon = folder.start(harness.Daemon(folder.path, None, BOTH.format(keys=bad, symbols="BTC/USD", **settings), name="again",
                                         state="both-state"))
    status = daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced" and
                                [v["state"] for v in s["venues"]] == ["ok", "failed"] and s["symbols"][1]["stale"],
                                "one venue that continues")
    assert status["feed"]["state"] == "failed" and status["venues"][1]["retry_in_ms"] is None, (status["feed"], status["venues"])
    requests = status["venues"][1]["requests"]
    daemon.wait_status(lambda s: s["symbols"][0]["bars"] > 0 and s["uptime_s"] > 3, "three seconds")
    assert daemon.status_object()["venues"][1]["requests"] == requests, "a refused venue was asked again"
    assert "hush" not in daemon.log_text()
    assert daemon.stop() == 0
    codes = [row[0] for row in daemon.query("SELECT code FROM alerts")]
    assert codes.count("venue-refused") == 1, codes
    print(f"both: {len(names)} streams listed, refused after {requests} requests, the other continued")


def same_bars(folder):
    """Bars built from trades, some late, corrected or cancelled, are the venue's own."""
    replay = folder.start(harness.Alpaca(folder.within("bars"), "--synthetic", "7", "--speed", "max", "--from", "2026-01-15T08:58:00Z",
                                         "--to", "2026-01-16T01:02:00Z"))
    daemon = folder.start(harness.Daemon(folder.path, replay, harness.stocks_config(replay.keys), name="bars", state="bars-state"))
    daemon.wait_status(lambda s: s["now_ns"] >= 1768523400 * 10**9, "the evening, 19:30")
    assert daemon.stop() == 0
    bars = {source: dict(line.split(",", 1) for line in daemon.papertape("bars", "AAPL", "1m", "--source", source).split()[1:])
            for source in ("trades", "venue")}
    # The first minute seen is not known to be whole; of the last three more may come.
    first, last = min(bars["trades"]), sorted(bars["trades"])[-3]
    trades, venue = ({t: bar for t, bar in bars[source].items() if first <= t < last} for source in ("trades", "venue"))
    differ = [(t, trades.get(t), venue.get(t)) for t in sorted(trades | venue) if trades.get(t) != venue.get(t)]
    assert not differ, differ
    late = daemon.query("SELECT count(*) FROM revisions WHERE kind = 'bar' AND source = 'trades' AND applied")[0][0]
    assert len(trades) > 600 and late > 3, (len(trades), late)
    print(f"same bars: {len(trades)} from trades are the venue's, after {late} late trades")


def revoked(folder):
    """Keys that are revoked while it streams: the next authentication is refused, that venue ends permanently, the other continues."""
    start = "2026-01-15T15:00:00Z"
    coins = folder.start(harness.Replay(folder.within("revoked-coins"), "--synthetic", "5", "--from", start, "--speed", "60"))
    stocks = folder.start(harness.Replay(folder.within("revoked"), "--venue", "alpaca", "--synthetic", "5", "--from", start, "--speed", "60",
                                "--refuse", "402@2s", "--fault", "close@20"))
    ca = os.path.join(folder.path, "revoked.pem")
    with open(ca, "w") as file:
        file.write(open(coins.ca).read() + open(stocks.ca).read())
    config = BOTH.format(keys=harness.write_keys(folder.path, "revoked-keys", "hush"), symbols="BTC/USD", ca=ca, coins=coins.urls,
                         stocks=stocks.urls).replace("[venue", "[engine]\nclock = feed\n[venue")
    daemon = folder.start(harness.Daemon(folder.path, None, config, name="revoked", state="revoked-state"))
    status = daemon.wait_status(lambda s: s["venues"][1]["state"] == "failed" and s["symbols"] and s["symbols"][1]["stale"], "the end of one")
    venue = status["venues"][1]
    assert venue["connects"] == 1 and venue["frames"] >= 10 and venue["retry_in_ms"] is None, venue
    assert "402" in venue["detail"] or "keys" in venue["detail"], venue
    frames, now_ns = status["venues"][0]["frames"], status["now_ns"]
    status = daemon.wait_status(lambda s: s["venues"][0]["frames"] > frames + 1000 and s["now_ns"] > now_ns + 60 * 10**9 and
                                s["venues"][0]["state"] == "ok" and not s["symbols"][0]["stale"], "the other one's frames")
    after = status["venues"][1]
    assert [after[k] for k in ("state", "connects", "requests", "connect_budget_used")] == \
        ["failed"] + [venue[k] for k in ("connects", "requests", "connect_budget_used")], (venue, after)
    assert daemon.stop() == 0 and "hush" not in daemon.log_text()
    codes = [row[0] for row in daemon.query("SELECT code FROM alerts")]
    assert codes.count("venue-refused") == 1, codes
    print(f"revoked: {venue['detail']}")


def main():
    with harness.Folder() as folder:
        harness.together(folder, both, refused, revoked, weekend, half_day, resumed_unseen, same_bars)


if __name__ == "__main__":
    sys.exit(main())
