#!/usr/bin/env python3
"""What a silence means: a stream that is silent beside others is stale by itself within its stated time and asked for by REST,
its neighbours undisturbed; a quiet market is no fault; a connection goes only for the silence of all that it carries, or
unanswered pings, and is replaced within its stated time. With PAPERTAPE_LONG twenty minutes of each venue with the limits as
they are shipped; else the same at a fraction of the time."""

import json
import os
import re
import sys
import time

import harness
from harness import fault

MINUTES = float(os.environ.get("PAPERTAPE_MINUTES") or (20 if harness.LONG else 0.12))
LATE_S = 3.0  # the daemon looks once a second, this test many times; the machine is shared
SHIPPED = dict(stale=30, trade=300, silence=60)
FAST = dict(stale=3, trade=6, silence=5)
LIMITS = SHIPPED if harness.LONG else FAST
# A stock and a coin: their streams send so seldom that five seconds of silence may be the market's.
RARE = SHIPPED if harness.LONG else dict(FAST, silence=60)

CONFIG = """[market]
venue = {venue}
symbols = {symbols}
interval = 1m
history = 20
{streams}
[feed]
stale_s = {stale}
stale_trade_s = {trade}
silence_s = {silence}
[account main]
currency = {currency}
strategy = none
{more}
"""


def start(folder, name, venue, replay_arguments, symbols, streams="", limits=LIMITS, sections=""):
    """A venue and a daemon with its default streams, up to the first data of each symbol."""
    inside = folder.within(name)
    transcript = os.path.join(inside, "transcript")
    keys = harness.write_keys(inside, "keys", "hush")
    replay = folder.start(harness.Replay(inside, "--venue", venue, "--synthetic", "5", "--transcript", transcript, *replay_arguments))
    replay.transcript, replay.expected = transcript, []
    more = f"[venue alpaca]\nkeys = {keys}\nfeed = iex\n" if venue == "alpaca" else sections
    config = CONFIG.format(venue=venue, symbols=symbols, streams=streams, currency="USD" if venue == "alpaca" else "USDT", more=more,
                           **limits)
    daemon = folder.start(harness.Daemon(inside, replay, config, name="daemon"))
    daemon.wait_status(lambda s: s["venues"][0]["connections_up"] == s["venues"][0]["connections"] > 0 and s["venues"][0]["frames"] > 0,
                       f"{name}: data")
    return replay, daemon


def stream_of(status, symbol, name):
    return next(s for s in status["feed"]["streams"] if (s["symbol"], s["stream"]) == (symbol, name))


def requests_of(replay, path):
    """Reads a run that has ended: its transcript is whole."""
    with open(replay.transcript, errors="replace") as file:
        return sum(line.startswith("0 rest GET " + path) for line in file)


def stop(replay, daemon):
    assert daemon.stop() == 0
    assert replay.stop() == 0
    for path in replay.expected:
        assert requests_of(replay, path) > 0, f"{path} was not asked for"


def watch(daemon, seconds, connects):
    """So long not one reconnection; returns the most streams that were stale at once, and states seen."""
    most, states = 0, set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = daemon.status_object()
        venue = status["venues"][0]
        assert venue["connects"] == connects and venue["connections_up"] == venue["connections"], venue
        most = max(most, sum(s["stale"] for s in status["feed"]["streams"]))
        states |= {s["state"] for s in status["feed"]["streams"]}
        time.sleep(0.05 if seconds < 60 else 1)
    for word in ("the connection is replaced", "feed lost", "connections are up"):
        assert word not in daemon.log_text(), daemon.log_text()
    return most, states


def raised_s(daemon, code, text, since_ns):
    """How long after that moment the daemon raised such an alert, by its own clock, however late this test looks; None: it did not."""
    query = f"SELECT min(ts_ns) FROM alerts WHERE code = '{code}' AND ts_ns >= {since_ns} AND text LIKE '%{text}%'"
    found = daemon.query(query)[0][0]
    return (found - since_ns) / 1e9 if found else None


def one_silent(name, replay, daemon, symbol, stream, venue_stream, path):
    """Its limit is what the status says; the others stay as they were, their data comes on, and all is well once it speaks again."""
    before = daemon.status_object()
    limit_s = stream_of(before, symbol, stream)["limit_ms"] / 1000
    connects = before["venues"][0]["connects"]
    replay.expected.append(path)
    since_ns = fault(replay, f"silence:{venue_stream}@0s")
    status = daemon.wait_status(lambda s: stream_of(s, symbol, stream)["stale"], f"{name}: {symbol} {stream} stale")
    stale_s = (time.time_ns() - since_ns) / 1e9
    # The alert waits for a neighbour to speak.
    stale_s = min(stale_s, harness.wait_for(lambda: raised_s(daemon, "stale", f"{symbol} {stream}", since_ns), f"{name}: an alert"))
    assert stale_s <= limit_s + LATE_S, (name, stale_s, limit_s)
    found = stream_of(status, symbol, stream)
    assert found["state"] == "stale" and found["asked_ms"] is not None, found
    others = [s for s in status["feed"]["streams"] if s is not found and s["state"] == "stale"]
    assert not others, (name, others)
    frames = {(s["symbol"], s["stream"]): s["frames"] for s in before["feed"]["streams"]}
    louder = [s for s in status["feed"]["streams"] if s is not found and s["frames"] > frames[s["symbol"], s["stream"]]]
    assert louder, (name, status["feed"]["streams"])
    open_alerts = "SELECT count(*) FROM alerts WHERE code = 'stale' AND closed_ns IS NULL"
    assert daemon.query(open_alerts + f" AND text LIKE '%{symbol} {stream}%'")[0][0] == 1, name
    fault(replay, f"silence:{venue_stream}@0s+0s")
    after = daemon.wait_status(lambda s: not stream_of(s, symbol, stream)["stale"], f"{name}: {symbol} {stream} well again")
    assert after["venues"][0]["connects"] == connects, after["venues"]
    harness.wait_for(lambda: daemon.query(open_alerts)[0][0] == 0, f"{name}: the alert closed")
    print(f"{name}: {symbol} {stream} silent: stale after {stale_s:.1f} s of {limit_s:.0f}, asked by {path}, "
          f"{len(louder)} neighbours continued, {connects} connects", flush=True)


def all_silent(name, replay, daemon, what, end=None):
    """Nothing comes any more: another connection is there in time, which brings data again where the venue has them."""
    before = daemon.status_object()["venues"][0]["connects"]
    since_ns = fault(replay, what)
    status = daemon.wait_status(lambda s: s["venues"][0]["connects"] > before, f"{name}: another connection")
    took_s = (time.time_ns() - since_ns) / 1e9
    took_s = raised_s(daemon, "silent", "the connection is replaced", since_ns) or took_s  # none where its pings were unanswered
    allowed_s = LIMITS["silence"] + (0 if harness.LONG else LIMITS["stale"] * 2 / 3) + LATE_S  # the market may have nothing for one of them
    assert took_s <= allowed_s, (name, took_s, allowed_s)
    if end:
        fault(replay, end)
    daemon.wait_status(lambda s: s["venues"][0]["age_ms"] is not None and s["venues"][0]["age_ms"] < 1500 and
                       s["feed"]["state"] == "ok", f"{name}: data again")
    print(f"{name}: {what}: replaced after {took_s:.1f} s of {LIMITS['silence']}, {status['venues'][0]['renewals']} by overlap", flush=True)


def binance(folder):
    """A busy symbol and quiet ones: seven messages a minute each, as many of the limit as when it is shipped."""
    rate = 0.15 * 30 / LIMITS["stale"]
    replay, daemon = start(folder, "quiet", "binance", ["--rate", str(rate)], "BTCUSDT, ETHUSDT")
    most, states = watch(daemon, MINUTES * 60, 1)
    print(f"binance --rate {rate:g}: {MINUTES * 60:.0f} s, 0 reconnections, at most {most} streams stale at once, states {sorted(states)}",
          flush=True)
    stop(replay, daemon)


def binance_silent(folder):
    replay, daemon = start(folder, "busy", "binance", ["--rate", "40"], "BTCUSDT, ETHUSDT")
    daemon.frames("BTCUSDT", "trade", 20)
    rows = [("bookTicker", "btcusdt@bookTicker", "/api/v3/ticker/bookTicker")]
    if harness.LONG:
        rows += [("trade", "btcusdt@trade", "/api/v3/trades"), ("depth", "btcusdt@depth@100ms", "/api/v3/depth"),
                 ("kline_1m", "btcusdt@kline_1m", "/api/v3/klines"), ("miniTicker", "btcusdt@miniTicker", "/api/v3/ticker/24hr")]
    for stream, venue_stream, path in rows:
        one_silent("binance", replay, daemon, "BTCUSDT", stream, venue_stream, path)
    all_silent("binance", replay, daemon, "silence@0s", "silence@0s+0s")
    stop(replay, daemon)


def frozen(folder):
    replay, daemon = start(folder, "frozen", "binance", ["--rate", "40"], "BTCUSDT, ETHUSDT")
    daemon.frames("BTCUSDT", "trade", 20)
    all_silent("frozen", replay, daemon, "freeze@0s")
    stop(replay, daemon)


def start_five(folder, name):
    """Five symbols, all of which send; and a function that returns the notices of silence so far."""
    took = os.path.join(folder.path, name + "-notices")
    replay, daemon = start(folder, name, "binance", ["--rate", "40", "--symbols", "5"], "BTCUSDT, ETHUSDT, XAAAUSDT, XAABUSDT, XAACUSDT", limits=FAST,
                           sections=f"[alerts]\ncommand = /bin/sh -c 'cat >>\"$1\"' sh {took}\n")
    for symbol in daemon.status_object()["symbols"]:
        daemon.frames(symbol["symbol"], "bookTicker", 20)

    def notices():
        with open(took) as file:
            lines = [json.loads(line) for line in file]
        return [(line["rule"], line["state"]) for line in lines if line["rule"] in ("silent", "stale", "feed")]
    return replay, daemon, notices


def some_silent(folder):
    """Streams of three of five symbols fall silent: one alert, which names those that are, one notice, and its end."""
    replay, daemon, notices = start_five(folder, "three")
    quiet = ["BTCUSDT", "XAAAUSDT", "XAACUSDT"]

    def named():
        """The symbols of the open alert; None: it is not one, or there is another."""
        alerts = daemon.query("SELECT text, closed_ns IS NULL FROM alerts WHERE code IN ('silent', 'stale', 'feed')")
        assert len(alerts) <= 1, alerts
        found = alerts and re.fullmatch(r"binance: stale since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: (.*)", alerts[0][0])
        return (sorted(found[1].split(", ")), alerts[0][1]) if found else None
    tickers = lambda symbols: [f"{symbol} bookTicker" for symbol in symbols]
    for symbol in quiet:
        fault(replay, f"silence:{symbol.lower()}@bookTicker@0s")
    harness.wait_for(lambda: named() == (tickers(quiet), 1), "three: one alert")
    fault(replay, "silence:xaaausdt@bookTicker@0s+0s")
    harness.wait_for(lambda: named() == (tickers(["BTCUSDT", "XAACUSDT"]), 1), "three: one speaks again")
    fault(replay, "silence:xaaausdt@bookTicker@0s")
    harness.wait_for(lambda: named() == (tickers(quiet), 1), "three: it is silent again")
    for symbol in quiet:
        fault(replay, f"silence:{symbol.lower()}@bookTicker@0s+0s")
    harness.wait_for(lambda: named() == (tickers(quiet), 0), "three: the end")
    harness.wait_for(lambda: len(notices()) >= 2, "three: the notices")
    stop(replay, daemon)
    assert notices() == [("stale", "raised"), ("stale", "recovered")], notices()
    print("three: streams of three symbols silent beside two: one notice, one recovery", flush=True)


def one_notice(folder):
    """A venue of five symbols is silent, for longer than all limits: one notice, and its end."""
    replay, daemon, notices = start_five(folder, "five")
    alerts = lambda: daemon.query("SELECT code, closed_ns IS NULL FROM alerts WHERE code IN ('silent', 'stale', 'feed')")
    stale = lambda s: sum(x["stale"] and x["stream"] == "bookTicker" for x in s["feed"]["streams"])
    fault(replay, "silence@0s")
    daemon.wait_status(lambda s: stale(s) == 5, "five: all are stale")
    harness.wait_for(lambda: alerts() == [("silent", 1)], "five: one alert")
    fault(replay, "silence@0s+0s")
    daemon.wait_status(lambda s: not stale(s), "five: data again")
    harness.wait_for(lambda: alerts() == [("silent", 0)], "five: its end")
    harness.wait_for(lambda: len(notices()) >= 2, "five: the notices")
    stop(replay, daemon)
    assert notices() == [("silent", "raised"), ("silent", "recovered")], notices()
    print("five: a silent venue of five symbols: one notice, one recovery", flush=True)


def newest_is_the_quote(replay, daemon, symbol, seq):
    """Of the log from there on: a quote of a number that the stream sent none of, so REST's, has the book's: it is filled from."""
    shown = daemon.papertape("events", "show", "--seq", str(seq), "--n", "100000")
    with open(replay.transcript, errors="replace") as file:
        sent = max(int(found[1]) for found in re.finditer(rf'"{symbol.lower()}@bookTicker","data":{{"u":(\d+)', file.read()))
    book = 0
    for line in shown.splitlines():
        if found := re.search(rf"MARKET {symbol} book difference \d+\.\.(\d+)", line):
            book = int(found[1])
        elif (found := re.search(rf"MARKET {symbol} best bid .* id (\d+)", line)) and int(found[1]) > sent:
            assert int(found[1]) >= book, (line, book)
            return True
    return False


def prices(folder):
    """Trades come, and nothing that an order is filled from: it is refused, and a neighbour's is not. A book that is behind, and that
    REST does not bring, is dropped: what is not known any more is not filled from."""
    replay, daemon = start(folder, "prices", "binance", ["--rate", "40"], "BTCUSDT, ETHUSDT", limits=FAST)
    bitcoin = lambda status: next(s for s in status["symbols"] if s["symbol"] == "BTCUSDT")
    buy = lambda symbol: harness.control(daemon, "order", {"account": "main", "symbol": symbol, "side": "buy", "qty": "0.01"})
    daemon.wait_status(lambda s: all(x["book"] == "synced" and x["bid"] for x in s["symbols"]), "prices: books and quotes")
    assert buy("BTCUSDT")["ok"]
    fault(replay, "silence:btcusdt@bookTicker@0s")
    status = daemon.status_object()
    daemon.frames("BTCUSDT", "depth", stream_of(status, "BTCUSDT", "depth")["frames"] + 5)  # the book is ahead of the quote
    fault(replay, "silence:btcusdt@depth@100ms@0s")
    harness.wait_for(lambda: newest_is_the_quote(replay, daemon, "BTCUSDT", status["events"]["seq"]), "prices: the quote that REST brought")
    status = daemon.wait_status(lambda s: bitcoin(s)["stale"], "prices: no price to fill from")
    daemon.frames("BTCUSDT", "trade", stream_of(status, "BTCUSDT", "trade")["frames"] + 5)
    refused, neighbour = buy("BTCUSDT"), buy("ETHUSDT")
    assert not refused["ok"] and "RISK_STALE_DATA" in json.dumps(refused), refused
    assert neighbour["ok"], neighbour
    fault(replay, "silence:btcusdt@bookTicker@0s+0s")
    daemon.wait_status(lambda s: not bitcoin(s)["stale"], "prices: quotes again")
    daemon.wait_status(lambda s: bitcoin(s)["book"] == "synced", "prices: the book, which REST brings")
    fault(replay, "429:8s")
    status = daemon.wait_status(lambda s: bitcoin(s)["book"] != "synced", "prices: a book that REST does not bring any more")
    assert not bitcoin(status)["stale"] and bitcoin(status)["bid"], status["symbols"]
    assert buy("BTCUSDT")["ok"]  # by the quote
    fault(replay, "silence:btcusdt@depth@100ms@0s+0s")
    daemon.wait_status(lambda s: bitcoin(s)["book"] == "synced", "prices: the book again")
    print("prices: trades alone: RISK_STALE_DATA, its neighbour's order taken; a book that is behind is dropped, and comes again", flush=True)
    stop(replay, daemon)


def thin(folder):
    """One symbol of which almost nothing is to be sent: REST says so, and the connection stays."""
    replay, daemon = start(folder, "thin", "binance", ["--rate", "0.01" if harness.LONG else "0.05"], "BTCUSDT")
    daemon.wait_status(lambda s: any(x["state"] == "quiet" for x in s["feed"]["streams"]), "thin: a quiet stream")
    seconds = MINUTES * 60 if not harness.LONG else 300
    most, states = watch(daemon, seconds, 1)
    daemon.wait_status(lambda s: not s["symbols"][0]["stale"], "thin: what REST confirms is not stale")
    print(f"thin: {seconds:.0f} s without a reconnection, at most {most} streams stale, states {sorted(states)}", flush=True)
    stop(replay, daemon)


def half(folder):
    """One of two connections is lost: what the other carries is never stale, keeps its quote, and takes orders."""
    replay, daemon = start(folder, "half", "alpaca", ["--keys", "PKTEST:hush", "--from", "2026-01-15T15:00:00Z"], "AAPL, BTC/USD",
                           limits=SHIPPED)
    alerts = lambda: daemon.query("SELECT text, closed_ns FROM alerts WHERE code = 'feed' AND text LIKE '%1 of 2 connections are up: %'")
    daemon.wait_status(lambda s: all(x["bid"] and not x["stale"] for x in s["symbols"]), "half: quotes of both")
    before = daemon.status_object()["venues"][0]["connects"]
    lost, orders = set(), 0
    fault(replay, "close@1")

    def is_back(status):
        nonlocal orders
        now = {s["symbol"] for s in status["symbols"] if s["stale"] or not s["bid"]}
        lost.update(now)
        assert len(lost) < 2, status["symbols"]
        if now and not orders:
            symbol, qty = ("AAPL", "1") if "BTC/USD" in now else ("BTC/USD", "0.01")
            answer = harness.control(daemon, "order", {"account": "main", "symbol": symbol, "side": "buy", "qty": qty})
            assert answer["ok"], (symbol, answer)
            orders += 1
        return status["venues"][0]["connects"] > before and status["venues"][0]["connections_up"] == 2
    daemon.wait_status(is_back, "half: both again")
    harness.wait_for(lambda: len(alerts()) == 1 and alerts()[0][1], "half: an alert of it, closed")
    assert "feed lost" not in daemon.log_text(), daemon.log_text()
    print(f"half: {alerts()[0][0]}: {', '.join(lost) or 'one'} interrupted alone, {orders} orders of the other taken", flush=True)
    stop(replay, daemon)


def alpaca(folder):
    """A section without streams: default streams of a stock in its session and of a coin."""
    replay, daemon = start(folder, "alpaca", "alpaca", ["--keys", "PKTEST:hush", "--from", "2026-01-15T15:00:00Z"], "AAPL, BTC/USD",
                           limits=RARE)
    most, states = watch(daemon, MINUTES * 60, 2)
    print(f"alpaca: {MINUTES * 60:.0f} s, 0 reconnections, at most {most} streams stale at once, states {sorted(states)}", flush=True)
    one_silent("alpaca", replay, daemon, "BTC/USD", "bookTicker", "quotes:BTC/USD", "/v1beta3/crypto/us/latest/quotes")
    if harness.LONG:
        one_silent("alpaca", replay, daemon, "AAPL", "trade", "trades:AAPL", "/v2/stocks/trades")
        all_silent("alpaca", replay, daemon, "silence@0s", "silence@0s+0s")
    stop(replay, daemon)


def main():
    with harness.Folder() as folder:
        harness.together(folder, binance, binance_silent, frozen, one_notice, some_silent, prices, thin, half, alpaca)
    return 0


if __name__ == "__main__":
    sys.exit(main())
