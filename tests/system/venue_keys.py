#!/usr/bin/env python3
"""Keys of accounts at their venue, papertape-replay: Alpaca's reset of a paper account ends them while the daemon runs, which halts
the account until it is reset here with the new ones; keys that may read, and not trade, have their orders refused in the venue's
words, and are reported. And Alpaca's fills in parts are booked as they come."""

import json
import os
import random

import harness
import venue_paper
from venue_paper import Alpaca, Binance, at_venue, attached, start, stored


class OtherAccounts(Alpaca):
    """Any keys are good but those that end, and each has an account of its own; market data have keys of their own."""

    def __init__(self, folder, *arguments):
        harness.write_keys(folder, "data_keys", "hush", "data")
        self.market = f"[market]\nvenue = alpaca\nsymbols = BTC/USD\n[venue alpaca]\nkeys = {os.path.join(folder, 'data_keys')}\n"
        self.replay = harness.Replay(folder, "--venue", "alpaca", "--synthetic", "7", *arguments)


class ReadingBinance(Binance):
    words = "Invalid API-key, IP, or permissions for action."

    def __init__(self, folder):
        path = os.path.join(folder, "known")
        with open(path, "w", encoding="ascii") as file:
            file.write("key1 hmac hush read-only\n")
        self.market = "[market]\nsymbols = BTCUSDT\n"
        self.replay = harness.Replay(folder, "--synthetic", "7", "--keys", path)


class ReadingAlpaca(Alpaca):
    words = "forbidden."

    def __init__(self, folder):
        self.market = f"[market]\nvenue = alpaca\nsymbols = BTC/USD\n[venue alpaca]\nkeys = {os.path.join(folder, 'keys')}\n"
        self.replay = harness.Replay(folder, "--venue", "alpaca", "--synthetic", "7", "--keys", "key1:hush:read-only")


def alerts(daemon, code):
    return [text for text, in daemon.query(f"SELECT text FROM alerts WHERE code = '{code}'")]


def reset(folder):
    inside = folder.within("reset")
    venue = OtherAccounts(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    first = at_venue(attached(daemon))["prefix"]
    daemon.papertape("order", "buy", venue.symbol, "0.02")
    daemon.wait_status(lambda s: s["positions"], "a position")
    daemon.papertape("order", "buy", venue.symbol, "0.01", "--limit", "10000.00")
    daemon.wait_status(lambda s: any(o["state"] == "OPEN" for o in s["orders"]), "an order that rests there")
    harness.fault(venue.replay, "revoke:key1")
    status = daemon.wait_status(lambda s: at_venue(s).get("halted"), "an account that is halted")
    assert not status["orders"] and not at_venue(status)["attached"], status
    (text,), = stored(daemon, "SELECT text FROM alerts WHERE code = 'VENUE_HALTED'")
    refused = ("request is not authorized", "the venue refuses the account's keys")  # of a request, of the stream: the first of both
    assert "account paper is halted" in text and any(words in text for words in refused), text
    assert [row for row in daemon.query("SELECT state, reason FROM orders WHERE id = 2")] == [("CANCELED", "VENUE_LOST")]
    assert "not attached" in daemon.papertape("order", "buy", venue.symbol, "0.01", status=1)
    daemon.papertape("account", "reset", "paper")  # with the dead keys: it is not attached, and says so
    daemon.wait_status(lambda s: any(a["code"] == "VENUE_ACCOUNT" for a in s["alerts_by_code"]), "an alert of keys that are refused")
    harness.write_keys(inside, "keys", "hush", "key2")
    assert "[account paper] execution_keys" in daemon.papertape("reload")
    status = attached(daemon)
    assert at_venue(status)["prefix"] != first and not at_venue(status)["halted"] and not status["positions"], status
    daemon.papertape("order", "buy", venue.symbol, "0.03")
    daemon.wait_status(lambda s: s["positions"], "a position of the new account")
    venue.headers = {**venue.headers, "APCA-API-KEY-ID": "key2"}
    (there, state, filled), = venue.orders()
    assert (there.rsplit("-", 1)[0], state, filled) == (at_venue(status)["prefix"], "filled", 0.03)
    daemon.papertape("ledger", "verify")
    daemon.papertape("parity")
    assert daemon.stop() == 0 and venue.replay.stop() == 0


def may_not_trade(folder, kind):
    """The account is attached, and stays so."""
    inside = folder.within(f"{kind.name}-reads")
    venue = kind(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    attached(daemon)
    daemon.papertape("order", "buy", venue.symbol, "0.01")
    (state, reason), = stored(daemon, "SELECT state, reason FROM orders WHERE id = 1 AND state NOT IN ('PENDING', 'OPEN')")
    assert (state, reason) == ("REJECTED", "VENUE_REFUSED"), (state, reason)
    order, = json.loads(daemon.papertape("explain", "1", "--json"))["orders"]
    assert order["venue_words"] == venue.words, order
    (text,), = stored(daemon, "SELECT text FROM alerts WHERE code = 'VENUE_ACCOUNT'")
    assert text == f"account paper has keys that may read, and not trade: {venue.words}", text
    refusals = alerts(daemon, "VENUE_REFUSED")
    assert len(refusals) == 1 and venue.words in refusals[0], refusals
    status = daemon.status_object()
    assert at_venue(status)["attached"] and not at_venue(status)["halted"] and not alerts(daemon, "VENUE_HALTED"), status
    assert venue.orders() == [] and daemon.query("SELECT COUNT(*) FROM fills") == [(0,)]
    assert daemon.stop() == 0 and venue.replay.stop() == 0


def in_parts(folder):
    """As many fills of each order as there are at the venue, and of its numbers."""
    inside = folder.within("parts")
    venue = OtherAccounts(inside, "--partial-fills", "50")
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    attached(daemon)
    draw = random.Random(3)
    for _ in range(8):
        daemon.papertape("order", "buy", venue.symbol, f"0.0{draw.randint(10, 99)}")
    stored(daemon, "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM orders WHERE state != 'FILLED')")
    sent, _ = venue_paper.compare(daemon, venue)
    rows = venue_paper.get(venue.replay, "/v2/account/activities/FILL?direction=asc&page_size=100", venue.headers)
    scale = 10 ** daemon.query("SELECT qty_scale FROM symbols WHERE name = 'BTC/USD'")[0][0]
    here = [qty for qty, in daemon.query("SELECT qty FROM fills")]
    assert sorted(here) == sorted(round(float(row["qty"]) * scale) for row in rows) and len(rows) >= sent + 2, (here, rows)
    daemon.papertape("ledger", "verify")
    daemon.papertape("parity")
    assert daemon.stop() == 0 and venue.replay.stop() == 0
    print(f"{sent} orders, {len(rows)} fills")


def main():
    with harness.Folder() as folder:
        harness.together(folder, reset, lambda folder: may_not_trade(folder, ReadingBinance), lambda folder: may_not_trade(folder, ReadingAlpaca), in_parts)


if __name__ == "__main__":
    main()
