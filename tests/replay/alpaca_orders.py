"""Orders at papertape-replay as Alpaca's paper accounts take them, with Python's standard library.

usage: alpaca_orders.py PROGRAM"""

import datetime
import http.client
import json
import sys
import urllib.parse
from decimal import ROUND_CEILING, ROUND_DOWN, Decimal

from venue import Venue, until

PROGRAM = sys.argv[1]
KEYS = {"APCA-API-KEY-ID": "k", "APCA-API-SECRET-KEY": "s", "Content-Type": "application/json"}
OPEN = "2026-01-15T15:00:20Z"  # half an hour after a Thursday's opening
COINS = {"symbol": "BTC/USD", "side": "buy", "type": "market", "time_in_force": "gtc"}


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def start(seed="7", *args):
    """Nothing is subscribed to, so that the position stands still."""
    return Venue(PROGRAM, "--venue", "alpaca", "--synthetic", seed, "--from", OPEN, *args)


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


def refused(v, code, method, path, body=None, words="", **query):
    got, answer = call(v, method, path, body, **query)
    equal(got, code, f"{method} {path} {body} {query}: {answer}")
    assert words in answer["message"], answer


def quote(v, symbol, where="us"):
    q = ok(v, "GET", f"/v1beta3/crypto/{where}/latest/quotes", symbols=symbol)["quotes"][symbol]
    return Decimal(str(q["bp"])), Decimal(str(q["ap"]))


def test_market():
    """Coins are bought where the location us offers them; the other locations are near it."""
    for seed in ("1", "7", "42"):
        with start(seed) as v:
            for symbol in ("BTC/USD", "ETH/USD", "DOGE/USD"):
                bid, ask = quote(v, symbol)
                bought = place(v, **{**COINS, "symbol": symbol}, notional="100")
                equal(Decimal(bought["filled_avg_price"]), ask, symbol)
                equal(Decimal(ok(v, "GET", f"/v2/positions/{symbol.replace('/', '')}")["current_price"]), (bid + ask) / 2, symbol)
                for where in ("us-1", "eu-1"):
                    other = quote(v, symbol, where)
                    assert other != (bid, ask) and abs(sum(other) / (bid + ask) - 1) < Decimal("0.03"), (symbol, where, other, bid, ask)


def test_list():
    """GET orders: by time, side, state and symbol; and what is no such thing."""
    with start() as v:
        stock = {"symbol": "AAPL", "qty": "1", "type": "limit", "time_in_force": "day"}
        low = place(v, **stock, side="buy", limit_price="1")
        bought = place(v, **COINS, notional="100")
        at = low["submitted_at"]

        def listed(**query):
            return [o["id"] for o in ok(v, "GET", "/v2/orders", **query)]

        equal(listed(status="all"), [bought["id"], low["id"]])
        equal((listed(), listed(status="closed"), listed(status="all", side="sell")), ([low["id"]], [bought["id"]], []))
        equal((listed(after=at, status="all"), listed(until=at, status="all")), ([], []), "both are exclusive")
        equal(listed(after="2026-01-15", until="2026-01-15T10:30:00-05:00", status="all", direction="asc"), [low["id"], bought["id"]])
        for wrong in ({"status": "bogus"}, {"after": "garbage"}, {"until": "tomorrow"}, {"limit": "501"}, {"limit": "0"}, {"side": "hold"}, {"direction": "up"}):
            refused(v, 422, "GET", "/v2/orders", words=next(iter(wrong)), **wrong)


def test_positions():
    """Assets by symbol, without its slash and by id; positions, and their closing in part, whole and all together."""
    with start() as v:
        assets = {a["symbol"]: a for a in ok(v, "GET", "/v2/assets")}
        coin = place(v, **{**COINS, "symbol": "BTCUSD"}, qty="0.5", client_order_id="c" * 128)
        stock = place(v, symbol=assets["AAPL"]["id"], qty="10", side="buy", type="market", time_in_force="day")
        equal((coin["symbol"], coin["asset_id"], coin["client_order_id"]), ("BTC/USD", assets["BTC/USD"]["id"], "c" * 128))
        equal((stock["symbol"], ok(v, "GET", f"/v2/assets/{stock['asset_id']}")["symbol"]), ("AAPL", "AAPL"))
        refused(v, 422, "POST", "/v2/orders", {**COINS, "qty": "1", "client_order_id": "c" * 129}, "client_order_id")
        held = {p["symbol"]: p for p in ok(v, "GET", "/v2/positions")}
        equal({name: p["asset_id"] for name, p in held.items()}, {"AAPL": assets["AAPL"]["id"], "BTCUSD": assets["BTC/USD"]["id"]})
        equal(ok(v, "GET", f"/v2/positions/{held['BTCUSD']['asset_id']}"), held["BTCUSD"])
        part = ok(v, "DELETE", "/v2/positions/AAPL", percentage="30")
        equal((part["side"], part["type"], part["filled_qty"]), ("sell", "market", "3"))
        equal(ok(v, "DELETE", "/v2/positions/AAPL", qty="2")["status"], "filled")
        for more in ({"qty": "0"}, {"percentage": "101"}, {"qty": "1", "percentage": "1"}):
            refused(v, 422, "DELETE", "/v2/positions/AAPL", **more)
        refused(v, 403, "DELETE", "/v2/positions/AAPL", qty="6", words="insufficient qty")
        refused(v, 404, "DELETE", "/v2/positions/F")
        place(v, symbol="AAPL", qty="5", side="sell", type="limit", limit_price="9000", time_in_force="day")
        status, answers = call(v, "DELETE", "/v2/positions")
        equal((status, [(a["symbol"], a["status"]) for a in answers]), (207, [("AAPL", 403), ("BTCUSD", 200)]), answers)
        equal([(a["symbol"], a["body"]["filled_qty"]) for a in ok(v, "DELETE", "/v2/positions", cancel_orders="true")], [("AAPL", "5")])
        equal((ok(v, "GET", "/v2/positions"), ok(v, "GET", "/v2/orders")), ([], []))
        refused(v, 404, "GET", "/v2/positions/AAPL")


def test_digits():
    """Quantities and amounts have nine digits, as the venue lists coins; a tenth is refused. What is not fractionable has whole shares."""
    with start("7", "--asset", "F:not-fractionable") as v:
        stock = {"symbol": "AAPL", "side": "buy", "type": "market", "time_in_force": "day"}
        equal(ok(v, "GET", "/v2/assets/BTC%2FUSD")["min_trade_increment"], "0.000000001")
        equal([ok(v, "GET", f"/v2/assets/{name}")["fractionable"] for name in ("AAPL", "F")], [True, False])
        bought = place(v, **stock, qty="0.241534225")
        equal((bought["status"], bought["qty"], bought["filled_qty"]), ("filled", "0.241534225", "0.241534225"))
        cost = Decimal(bought["filled_avg_price"]) * Decimal("0.241534225")
        equal(Decimal(ok(v, "GET", "/v2/account")["cash"]), 100000 - cost)
        position = ok(v, "GET", "/v2/positions/AAPL")
        equal((position["qty"], Decimal(position["cost_basis"])), ("0.241534225", cost))
        equal(ok(v, "DELETE", "/v2/positions/AAPL", qty="0.000000025")["filled_qty"], "0.000000025")
        equal(place(v, **{**stock, "side": "sell"}, qty="0.2415342")["status"], "filled")
        equal(ok(v, "GET", "/v2/positions"), [])
        amount = place(v, **stock, notional="50.123456789")
        left = Decimal("50.123456789") - Decimal(amount["filled_qty"]) * Decimal(amount["filled_avg_price"])
        assert amount["notional"] == "50.123456789" and 0 <= left < Decimal(amount["filled_avg_price"]) / 10**9, amount
        coin = place(v, **COINS, qty="0.000500001")
        fee = (Decimal("0.000500001") * Decimal("0.0025")).quantize(Decimal("1e-9"), ROUND_DOWN)
        equal(Decimal(ok(v, "GET", "/v2/positions/BTCUSD")["qty"]), Decimal(coin["filled_qty"]) - fee)
        equal([a["qty"] for a in ok(v, "GET", "/v2/account/activities/FILL", direction="asc")][:2], ["0.241534225", "0.000000025"])
        for wanted in ({**stock, "qty": "0.2415342255"}, {**COINS, "qty": "0.0000000001"}, {**stock, "notional": "50.0000000001"}):
            refused(v, 422, "POST", "/v2/orders", wanted, "at most 9 digits after the point")
        refused(v, 422, "DELETE", "/v2/positions/AAPL", qty="0.0000000001", words="at most 9 digits")
        for wanted in ({"qty": "1.5"}, {"notional": "20"}):
            refused(v, 403, "POST", "/v2/orders", {**stock, "symbol": "F", **wanted}, "not fractionable")
        equal(place(v, **{**stock, "symbol": "F"}, qty="2")["status"], "filled")


def test_rules():
    """What paper accounts refuse: prices, hours, parts, costs, orders that could meet; what ends unfilled is cancelled."""
    with start("7", "--keys", "k:s") as v:
        limit = {"symbol": "AAPL", "side": "buy", "type": "limit", "qty": "1", "limit_price": "100.01", "time_in_force": "day"}
        for code, words, more in (
                (422, "sub-penny", {"limit_price": "100.011"}), (422, "sub-penny", {"limit_price": "0.12345"}),
                (422, "DAY limit", {"type": "market", "limit_price": None, "extended_hours": True}),
                (422, "DAY limit", {"time_in_force": "gtc", "extended_hours": True}), (422, "fractional", {"qty": "0.5", "time_in_force": "gtc"}),
                (403, "minimal amount of order 1", {"qty": "0.001", "limit_price": "100"}),
                (403, "minimal amount of order 1", {"qty": None, "type": "market", "limit_price": None, "notional": "0.5"}),
                (403, "minimal amount of order 10", {**COINS, "qty": None, "limit_price": None, "notional": "9.99"})):
            refused(v, code, "POST", "/v2/orders", {name: value for name, value in {**limit, **more}.items() if value is not None}, words)
        place(v, **{**limit, "limit_price": "0.9999", "qty": "2"})
        rests = place(v, **limit)
        for more in ({"type": "market"}, {"type": "limit", "limit_price": "100.01"}, {"type": "stop", "stop_price": "50"}):
            refused(v, 422, "POST", "/v2/orders", {"symbol": "AAPL", "side": "sell", "qty": "1", "time_in_force": "day", **more}, "wash trade")
        refused(v, 403, "POST", "/v2/orders", {**limit, "side": "sell", "limit_price": "9000"}, "insufficient qty")  # they could not meet
        path = f"/v2/orders/{rests['id']}"
        refused(v, 422, "PATCH", path, {"qty": "2.5"}, "whole shares")
        refused(v, 422, "PATCH", path, {"limit_price": "100.011"}, "sub-penny")
        refused(v, 422, "PATCH", path, {"time_in_force": "never"}, "time_in_force")
        refused(v, 403, "PATCH", path, {"qty": "1000000"}, "insufficient buying power")
        equal(ok(v, "GET", path)["status"], "new")
        replaced = ok(v, "PATCH", path, {"qty": "3", "time_in_force": "gtc"})
        equal((replaced["qty"], replaced["time_in_force"], replaced["replaces"]), ("3", "gtc", rests["id"]))
        for tif in ("ioc", "fok"):
            ended = place(v, **{**limit, "time_in_force": tif})
            equal((ended["status"], ended["canceled_at"] is None, ended["expired_at"]), ("canceled", False, None))
    with start() as v:  # without keys a first order may be small
        place(v, **{**COINS, "type": "limit", "limit_price": "1"}, qty="0.1")


def test_limit():
    """Calls a minute, other than the venue's."""
    with start("7", "--limit", "requests=2") as v:
        def ask():
            c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
            c.request("GET", "/v2/account", headers=KEYS)
            return c.getresponse()

        answers = [ask() for _ in range(5)]  # in two minutes at most
        equal({r.headers["X-RateLimit-Limit"] for r in answers}, {"2"})
        assert 1 <= [r.status for r in answers].count(429) <= 3 and answers[0].status == 200, [r.status for r in answers]


def test_planted():
    """An order meets the quote of 120 ms of market time after it was received, at a price that is 3 basis points worse; in
    between it is new."""
    with start("7", "--fill-latency", "120ms", "--fill-slippage", "3") as v:
        s = v.socket("/v1beta3/crypto/us", KEYS)
        s.say({"action": "subscribe", "quotes": ["BTC/USD"]})  # time moves
        placed = place(v, **COINS, qty="0.01")
        equal((placed["status"], placed["filled_qty"]), ("new", "0"))
        filled = until(lambda: (o := ok(v, "GET", f"/v2/orders/{placed['id']}"))["status"] == "filled" and o, "the fill")
        sent, at = (datetime.datetime.fromisoformat(filled[name].rstrip("Z").ljust(26, "0")[:26]) for name in ("submitted_at", "filled_at"))
        equal(at - sent, datetime.timedelta(milliseconds=120))
        quotes = ok(v, "GET", "/v1beta3/crypto/us/quotes", symbols="BTC/USD", start="2026-01-15T15:00:00Z", end=filled["filled_at"], limit=10000)
        ask = Decimal(str(quotes["quotes"]["BTC/USD"][-1]["ap"]))
        tick = Decimal(next(a for a in ok(v, "GET", "/v2/assets") if a["symbol"] == "BTC/USD")["price_increment"])
        equal(Decimal(filled["filled_avg_price"]), (ask * Decimal("1.0003") / tick).to_integral_value(ROUND_CEILING) * tick)
        s.close()


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        test()
        print(f"{test.__name__}: ok", flush=True)


main()
