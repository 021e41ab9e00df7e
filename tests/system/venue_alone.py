#!/usr/bin/env python3
"""What one venue does leaves the others alone: a clock that runs ahead, one that is away or refuses from the first start on, and
one without symbols."""

import contextlib
import os
import socket
import sys
import threading

import harness
from venues import BOTH

AHEAD = """[market]
venue = alpaca
symbols = BTC/USD
interval = 1m
history = 20
streams = trade, kline, bookTicker
[venue alpaca]
keys = {keys}
feed = sip
[account usd]
currency = USD
strategy = none
"""


def add_symbol(daemon, args):
    """What the daemon says of a symbol once the venues have answered: until then nothing can be added."""
    def ask():
        answer = harness.control(daemon, "symbol_add", args)
        return answer if answer["ok"] or "has not answered yet" not in answer["error"]["message"] else None
    return harness.wait_for(ask, "the venue's list of symbols")


def ahead(folder):
    """Messages hours ahead of the venue's own clock do not move it: stocks stay closed at night."""
    replay = folder.start(harness.Replay(folder.within("ahead"), "--venue", "alpaca", "--synthetic", "5", "--from", "2026-01-15T17:00:00Z",
                                "--fault", "clock:-36000s"))
    daemon = folder.start(harness.Daemon(folder.path, replay, AHEAD.format(keys=harness.write_keys(folder.path, "keys", "hush")),
                                         name="ahead", state="ahead-state"))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["last"], "a price of ten hours ahead")
    assert add_symbol(daemon, {"symbol": "AAPL"})["ok"]
    daemon.wait_status(lambda s: s["venues"][0]["market"] not in ("always", "unknown"), "the market's phase")
    daemon.wait_status(lambda s: len(s["symbols"]) == 2 and s["symbols"][1]["last"], "its price")
    daemon.wait_status(lambda s: s["uptime_s"] > 5, "the calendar's answer")

    def is_closed(status):
        market = status["venues"][0]["market"]
        assert market in ("closed", "always", "unknown"), market  # not for a moment is it that of ten hours ahead
        return market == "closed"
    status = daemon.wait_status(is_closed, "a market that is closed")
    assert daemon.stop() == 0
    reported = daemon.query("SELECT phase FROM market_sessions")
    print("ahead: the market is", status["venues"][0]["market"], reported)


def newcomer(folder):
    """A venue that no former run knew, away or refused from the first start on: the other begins with what is held of it."""
    coins = folder.start(harness.Replay(folder.within("coins"), "--synthetic", "5"))
    stocks = folder.start(harness.Replay(folder.within("stocks"), "--venue", "alpaca", "--synthetic", "5", "--keys", "PKTEST:right"))
    ca = os.path.join(folder.path, "alone.pem")
    with open(ca, "w") as file:
        file.write(open(coins.ca).read() + open(stocks.ca).read())
    good, bad = harness.write_keys(folder.path, "good", "right"), harness.write_keys(folder.path, "bad", "hush")
    settings = dict(ca=ca, coins=coins.urls, symbols="BTC/USD, AAPL")
    away = {"ws_url": "wss://127.0.0.1:9", "rest_url": "https://127.0.0.1:9"}
    with_it = lambda keys, urls: BOTH.format(keys=keys, stocks=urls, **settings)
    first, rest = with_it(good, stocks.urls).split("[venue alpaca]")
    states = lambda status: [venue["state"] for venue in status["venues"]]
    run = lambda name, config: folder.start(harness.Daemon(folder.path, None, config, name=name, state="alone-state"))

    daemon = run("one", first + "[account main]\nstrategy = none\n")
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "the book")
    assert harness.control(daemon, "order", {"account": "main", "symbol": "BTCUSDT", "side": "buy", "qty": "0.01"})["ok"]
    daemon.wait_status(lambda s: s["positions"], "a position")
    assert daemon.stop() == 0

    daemon = run("refused", with_it(bad, stocks.urls))
    status = daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced" and s["positions"] and states(s) == ["ok", "failed"],
                                "the good one, and the other's refusal")
    assert [x["symbol"] for x in status["symbols"]] == ["BTCUSDT"], status["symbols"]
    assert (status["feed"]["venue"], status["feed"]["url"]) == ("alpaca", stocks.urls["ws_url"]), status["feed"]
    no = add_symbol(daemon, {"symbol": "SPY", "venue": "alpaca"})
    assert "alpaca refused, and is not asked again: " in no["error"]["message"], no
    daemon.wait_status(lambda s: ("venue-refused",) in daemon.query("SELECT code FROM alerts"), "the alert")
    assert daemon.stop() == 0

    daemon = run("away", with_it(good, away))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced" and s["positions"] and states(s) == ["ok", "retry"],
                       "the one that is there, and that the other is not")
    daemon.wait_status(lambda s: daemon.query("SELECT 1 FROM alerts WHERE code = 'feed' AND text LIKE 'alpaca: %'"), "the alert")
    assert daemon.stop() == 0

    daemon = run("back", with_it(good, stocks.urls))
    status = daemon.wait_status(lambda s: s["symbols"] and len(s["symbols"]) == 3 and s["symbols"][1]["last"], "all of both")
    assert [x["symbol"] for x in status["symbols"]] == ["BTCUSDT", "BTC/USD", "AAPL"], status["symbols"]
    over = "SELECT code FROM alerts WHERE text LIKE 'alpaca: %' AND closed_ns >= last_ns AND last_ns >= ts_ns ORDER BY code"
    daemon.wait_status(lambda s: daemon.query(over) == [("feed",), ("venue-refused",)], "both alerts closed: it is there again")

    unknown = add_symbol(daemon, {"symbol": "AAPPL"})
    assert "alpaca does not list it: did you mean AAPL?" in unknown["error"]["message"], unknown

    # The last symbols of one are removed: it is idle, and knows what is added, in this run and in the next.
    for symbol in ("BTC/USD", "AAPL"):
        assert harness.control(daemon, "symbol_remove", {"symbol": symbol})["ok"]
    daemon.wait_status(lambda s: s["venues"][1]["state"] == "ok" and s["feed"]["state"] == "ok", "an idle venue")
    assert daemon.stop() == 0
    daemon = run("idle", with_it(good, stocks.urls))
    status = daemon.wait_status(lambda s: s["symbols"] and s["feed"]["state"] == "ok" and states(s) == ["ok", "ok"], "the next run")
    assert [x["symbol"] for x in status["symbols"]] == ["BTCUSDT"], status["symbols"]
    assert status["venues"][1]["connects"] == 0, status["venues"]
    added = add_symbol(daemon, {"symbol": "ETH/USD"})
    assert added["ok"] and added["result"]["venue"] == "alpaca", added
    daemon.wait_status(lambda s: [x for x in s["symbols"] if x["symbol"] == "ETH/USD" and x["last"]], "its price")
    assert daemon.stop() == 0
    print("newcomer: away, refused, back; idle without symbols")


class Gate:
    """A port of its own before the venue: `way` decides the fate of connections; the open ones end when it changes."""

    def __init__(self, url):
        self.target = ("127.0.0.1", int(url.rsplit(":", 1)[1]))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.way, self.open = "drop", []
        threading.Thread(target=self.serve, daemon=True).start()

    def turn(self, way):
        self.way = way
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self.open = []

    def serve(self):
        while True:
            one, _ = self.listener.accept()
            self.open.append(one)
            if self.way == "pass":
                other = socket.create_connection(self.target)
                self.open.append(other)
                for pair in ((one, other), (other, one)):
                    threading.Thread(target=self.copy, args=pair, daemon=True).start()
            elif self.way == "speak":
                one.sendall(b"220 this is no venue\r\n")
                one.close()
            elif self.way == "drop":
                one.close()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def never(folder):
    """The only venue, away from the first start on: an alert with its newest cause, which closes once it is there; the same
    of one that was there."""
    inside = folder.within("never")
    replay = folder.start(harness.Replay(inside, "--synthetic", "5"))
    gate = Gate(replay.urls["rest_url"])
    config = (f"[market]\nsymbols = BTCUSDT\nca_file = {replay.ca}\nws_url = wss://{gate.url}\nrest_url = https://{gate.url}\n"
              "[account main]\nstrategy = none\n")
    daemon = folder.start(harness.Daemon(inside, None, config, name="never"))
    alerts = lambda: daemon.query("SELECT text, closed_ns, ts_ns FROM alerts WHERE code = 'feed' ORDER BY id")
    text_of = lambda at, *words: harness.wait_for(
        lambda: len(alerts()) == at + 1 and alerts()[at][1] is None and all(w in alerts()[at][0] for w in words) and alerts()[at], f"{at}: {words}")

    daemon.status_object()
    first = text_of(0, "binance: not reached yet: ")
    assert daemon.status_object()["symbols"] is None and daemon.status_object()["alerts_open"] == 1
    gate.turn("speak")
    spoken = text_of(0, "binance: not reached yet: ", "wrong version number")
    assert spoken[2] == first[2] and "wrong version" not in first[0], (first, spoken)
    assert "wrong version number" in daemon.papertape("alerts", "list")
    gate.turn("pass")
    harness.wait_for(lambda: alerts()[0][1], "the alert closed: it is there")
    gate.turn("drop")
    again = text_of(1, "binance: feed lost: no connection to ")
    assert "binance: feed lost: the connection was lost" in daemon.log_text()  # the first cause
    gate.turn("pass")
    harness.wait_for(lambda: alerts()[1][1], "the second closed")
    assert daemon.stop() == 0
    print(f"never: {first[0]} | {spoken[0]} | {again[0]}", flush=True)


def causes(folder):
    """Of the only venue at a first start: silence, a certificate that has expired, keys that are refused."""
    inside = folder.within("causes")
    gate = Gate("127.0.0.1:9")
    gate.turn("hold")
    config = f"[market]\nsymbols = BTCUSDT\nws_url = wss://{gate.url}\nrest_url = https://{gate.url}\n[account main]\nstrategy = none\n"
    silent = folder.start(harness.Daemon(inside, None, config, name="silent", state="silent-state"))
    silent.status_object()
    harness.wait_for(lambda: silent.query("SELECT text FROM alerts WHERE code = 'feed'"), "an alert after five seconds")
    assert "binance: not reached yet: it has not answered yet" in silent.log_text(), silent.log_text()
    assert silent.stop() == 0

    expired = folder.start(harness.Replay(folder.within("expired"), "--synthetic", "5", "--fault", "tls-expired"))
    plain = "[market]\nsymbols = BTCUSDT\n[account main]\nstrategy = none\n"
    refused = folder.start(harness.Daemon(inside, expired, plain, name="expired", state="expired-state"))
    refused.status_object()
    harness.wait_for(lambda: "expired" in refused.query("SELECT ifnull(max(text), '') FROM alerts WHERE code = 'feed'")[0][0], "an alert of the certificate")
    assert refused.stop() == 0

    stocks = folder.start(harness.Replay(folder.within("denied"), "--venue", "alpaca", "--synthetic", "5", "--keys", "PKTEST:right"))
    denied = folder.start(harness.Daemon(inside, stocks, AHEAD.format(keys=harness.write_keys(inside, "bad", "hush")), name="denied", state="denied-state"))
    assert denied.popen.wait(harness.PATIENCE) == 2
    row = denied.query("SELECT severity, text FROM alerts WHERE code = 'venue-refused' AND closed_ns IS NULL")
    assert len(row) == 1 and row[0][0] == "error" and row[0][1].startswith("alpaca: refused, "), row
    print(f"causes: {row[0][1]}", flush=True)


def main():
    with harness.Folder() as folder:
        harness.together(folder, ahead, newcomer, never, causes)


if __name__ == "__main__":
    sys.exit(main())
