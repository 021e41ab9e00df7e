"""A client of Alpaca's orders at papertape-replay, with Python's standard library."""

import http.client
import json
import urllib.parse
from decimal import Decimal

from venue import Venue

KEYS = {"APCA-API-KEY-ID": "k", "APCA-API-SECRET-KEY": "s", "Content-Type": "application/json"}
OPEN = "2026-01-15T15:00:20Z"  # half an hour after a Thursday's opening
COINS = {"symbol": "BTC/USD", "side": "buy", "type": "market", "time_in_force": "gtc"}


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def start(program, seed="7", *args, at=OPEN):
    """While nothing is subscribed to the position stands still."""
    return Venue(program, "--venue", "alpaca", "--synthetic", seed, "--from", at, *args)


def call(v, method, path, body=None, **query):
    """(status, answer)"""
    c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
    c.request(method, path + ("?" + urllib.parse.urlencode(query) if query else ""), body and json.dumps(body), KEYS)
    r = c.getresponse()
    text = r.read()
    c.close()
    return r.status, json.loads(text) if text else None


def ok(v, method, path, body=None, **query):
    status, answer = call(v, method, path, body, **query)
    assert status < 300, (method, path, body, query, status, answer)
    return answer


def place(v, **wanted):
    return ok(v, "POST", "/v2/orders", wanted)


def refused(v, want, method, path, body=None, words="", code=None, **query):
    got, answer = call(v, method, path, body, **query)
    equal(got, want, f"{method} {path} {body} {query}: {answer}")
    assert words in answer["message"] and code in (None, answer["code"]), answer


def quote(v, symbol, where="us"):
    q = ok(v, "GET", f"/v1beta3/crypto/{where}/latest/quotes", symbols=symbol)["quotes"][symbol]
    return Decimal(str(q["bp"])), Decimal(str(q["ap"]))
