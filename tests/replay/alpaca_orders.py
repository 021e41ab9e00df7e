"""Orders at papertape-replay as Alpaca's paper accounts take them, with Python's standard library.

usage: alpaca_orders.py PROGRAM"""

import datetime
import functools
import http.client
import json
import subprocess
import sys
from decimal import ROUND_CEILING, ROUND_DOWN, Decimal

import alpaca_client
from alpaca_client import COINS, KEYS, call, equal, ok, place, quote, refused
from venue import BINARY, Closed, run_tests, until

start = functools.partial(alpaca_client.start, sys.argv[1])


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


STOCK = {"symbol": "AAPL", "side": "buy", "qty": "1", "time_in_force": "day"}
FAR = {"take_profit": {"limit_price": "400"}, "stop_loss": {"stop_price": "200"}}  # AAPL is at 272


def test_refusals():
    """What the venue refuses, with its status, its code and its words."""
    with start() as v:
        rests = place(v, **STOCK, type="limit", limit_price="100", client_order_id="first")
        bought = place(v, **COINS, notional="100")
        held = place(v, **{**STOCK, "symbol": "IBM", "time_in_force": "cls"}, type="market")
        ended = place(v, **{**STOCK, "time_in_force": "ioc"}, type="limit", limit_price="100", client_order_id="ended")
        equal((rests["status"], bought["status"], held["status"], ended["status"]), ("new", "filled", "accepted", "canceled"))
        unknown = "/v2/orders/0000006f-0000-4000-8000-0000000000ff"
        limit, market, stop = ({**STOCK, "type": kind} for kind in ("limit", "market", "stop"))
        bracket, oco, oto = ({**limit, "limit_price": "300", "order_class": name} for name in ("bracket", "oco", "oto"))
        oco = {**oco, "side": "sell", "limit_price": None}
        trailing = {**STOCK, "type": "trailing_stop", "side": "sell", "symbol": "F"}
        for status, code, words, method, path, body in (
                (422, 42210000, "potential wash trade detected", "POST", "/v2/orders", {**market, "side": "sell"}),
                (403, 40310000, "insufficient buying power", "POST", "/v2/orders", {**limit, "limit_price": "300", "qty": "1000"}),
                (403, 40310000, "insufficient buying power", "POST", "/v2/orders", {**market, "qty": "1000", "time_in_force": "cls"}),
                (403, 40310000, "insufficient qty available", "POST", "/v2/orders", {**market, "symbol": "F", "side": "sell"}),
                (422, 40010001, "client_order_id must be unique", "POST", "/v2/orders", {**market, "client_order_id": "first"}),
                (422, 40010001, "client_order_id must be unique", "POST", "/v2/orders", {**market, "client_order_id": "ended"}),
                (404, 40410000, "order not found", "GET", unknown, None), (404, 40410000, "order not found", "DELETE", unknown, None),
                (404, 40410000, "order not found", "PATCH", unknown, {"qty": "2"}),
                (404, 40410000, "order not found", "GET", "/v2/orders:by_client_order_id", None),
                (404, 40410000, "position does not exist", "GET", "/v2/positions/MSFT", None),
                (422, 42210000, "not cancelable", "DELETE", f"/v2/orders/{bought['id']}", None),
                (422, 42210000, "not cancelable", "DELETE", f"/v2/orders/{ended['id']}", None),
                (422, 42210000, "not open", "PATCH", f"/v2/orders/{bought['id']}", {"qty": "2"}),
                (422, 42210000, "while they are accepted", "PATCH", f"/v2/orders/{held['id']}", {"qty": "2"}),
                (422, 42210000, "day, gtc, ioc or fok", "PATCH", f"/v2/orders/{rests['id']}", {"time_in_force": "cls"}),
                (422, 42210000, "trail", "PATCH", f"/v2/orders/{rests['id']}", {"trail": "1"}),
                *((422, 42210000, "invalid crypto time_in_force", "POST", "/v2/orders", {**COINS, "notional": "100", "time_in_force": tif})
                  for tif in ("day", "fok", "opg", "cls")),
                (422, 42210000, "until 2 minutes before the open", "POST", "/v2/orders", {**market, "time_in_force": "opg"}),
                (422, 42210000, "market and limit orders", "POST", "/v2/orders", {**stop, "stop_price": "300", "time_in_force": "cls"}),
                (422, 42210000, "fractional", "POST", "/v2/orders", {**market, "qty": "1.5", "time_in_force": "cls"}),
                (422, 42210000, "simple, bracket, oco or oto", "POST", "/v2/orders", {**market, "order_class": "mleg"}),
                (422, 42210000, "of order_class", "POST", "/v2/orders", {**market, **FAR}),
                *((422, 42210000, "require take_profit.limit_price", "POST", "/v2/orders", {**of, **FAR, "take_profit": None}) for of in (bracket, oco)),
                *((422, 42210000, "require stop_loss.stop_price", "POST", "/v2/orders", {**of, **FAR, "stop_loss": {}}) for of in (bracket, oco)),
                *((422, 42210000, "require either", "POST", "/v2/orders", {**oto, **more}) for more in ({}, FAR)),
                *((422, 42210000, "extended hours", "POST", "/v2/orders", {**of, **FAR, "extended_hours": True}) for of in (bracket, oco)),
                *((422, 42210000, "day and gtc", "POST", "/v2/orders", {**bracket, **FAR, "time_in_force": tif}) for tif in ("ioc", "fok", "cls")),
                (422, 42210000, "simple orders", "POST", "/v2/orders", {**bracket, **FAR, "qty": "1.5"}),
                (422, 42210000, "crypto orders", "POST", "/v2/orders", {**COINS, "qty": "1", "order_class": "bracket", **FAR}),
                (422, 42210000, "sub-penny", "POST", "/v2/orders", {**bracket, **FAR, "take_profit": {"limit_price": "400.001"}}),
                (422, 42210000, "must be > stop_loss", "POST", "/v2/orders", {**bracket, "take_profit": {"limit_price": "200"}, "stop_loss": {"stop_price": "200"}}),
                (422, 42210000, ">= base_price + 0.01", "POST", "/v2/orders", {**bracket, **FAR, "take_profit": {"limit_price": "300"}}),
                (422, 42210000, "<= base_price - 0.01", "POST", "/v2/orders", {**bracket, **FAR, "stop_loss": {"stop_price": "290"}}),  # above the market
                (422, 42210000, "<= base_price - 0.01", "POST", "/v2/orders", {**bracket, **FAR, "limit_price": "210", "stop_loss": {"stop_price": "210"}}),
                (422, 42210000, "must be < stop_loss", "POST", "/v2/orders", {**bracket, **FAR, "side": "sell"}),
                (422, 42210000, "must be entry orders", "POST", "/v2/orders",
                 {**bracket, "side": "sell", "limit_price": "250", "take_profit": {"limit_price": "200"}, "stop_loss": {"stop_price": "400"}}),
                (422, 42210000, "must be exit orders", "POST", "/v2/orders",
                 {**oco, "side": "buy", "take_profit": {"limit_price": "200"}, "stop_loss": {"stop_price": "400"}}),
                (422, 42210000, "must be limit orders", "POST", "/v2/orders", {**oco, **FAR, "type": "market"}),
                (403, 40310000, "insufficient qty available", "POST", "/v2/orders", {**oco, **FAR}),
                (422, 42210000, "either trail_price or trail_percent", "POST", "/v2/orders", trailing),
                (422, 42210000, "either trail_price or trail_percent", "POST", "/v2/orders", {**trailing, "trail_price": "1", "trail_percent": "1"}),
                (422, 42210000, "less than the whole price", "POST", "/v2/orders", {**trailing, "trail_percent": "100"}),
                (422, 42210000, "are of trailing_stop orders", "POST", "/v2/orders", {**market, "trail_price": "1"}),
                (422, 42210000, "this type has none", "POST", "/v2/orders", {**trailing, "trail_price": "1", "stop_price": "5"}),
                *((422, 42210000, "day and gtc", "POST", "/v2/orders", {**trailing, "trail_price": "1", "time_in_force": tif}) for tif in ("ioc", "cls")),
                (422, 42210000, "must be simple orders", "POST", "/v2/orders", {**trailing, "side": "buy", "trail_price": "1", "order_class": "bracket",
                                                                               "take_profit": {"limit_price": "400"}, "stop_loss": {"stop_price": "1"}})):
            body = body and {name: value for name, value in body.items() if value is not None}
            refused(v, status, method, path, body, words, code)
        equal({o["id"] for o in ok(v, "GET", "/v2/orders")}, {rests["id"], held["id"]}, "nothing of what was refused is there")
        equal(len(ok(v, "GET", "/v2/orders", status="all")), 4)
    with start("7", "--fill-latency", "1s") as v:  # it stays on its way
        amount = place(v, **COINS, notional="100")
        equal(amount["status"], "new")
        refused(v, 422, "PATCH", f"/v2/orders/{amount['id']}", {"qty": "1"}, "notional", 42210000)


def test_read_only():
    """Keys that may not trade read all the same; those that are revoked are good for nothing, and their stream ends."""
    with start("7", "--keys", "k:s:read-only") as v:
        for method, path, body in (("POST", "/v2/orders", {**STOCK, "type": "market"}), ("DELETE", "/v2/orders", None), ("DELETE", "/v2/positions", None)):
            equal(call(v, method, path, body), (403, {"message": "forbidden."}))
        equal((ok(v, "GET", "/v2/account")["cash"], ok(v, "GET", "/v2/orders")), ("100000", []))
    with start() as v:
        s = v.socket("/stream")
        s.say({"action": "auth", "key": "k", "secret": "s"})
        equal(json.loads(s.data(BINARY))["data"]["status"], "authorized")
        v.fault("revoke:k")
        try:
            s.data(BINARY)
            raise AssertionError("the stream continues")
        except Closed as closed:
            equal(closed.code, 1000)
        refused(v, 401, "GET", "/v2/account", code=40110000)
        s = v.socket("/stream")
        s.say({"action": "auth", "key": "k", "secret": "s"})
        equal(json.loads(s.data(BINARY))["data"]["status"], "unauthorized")
        v.fault("none")
        ok(v, "GET", "/v2/account")


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


def test_options():
    """A bad value is refused, with what would be right."""
    for option, value, words in (("--partial-fills", "101", "percent of the fills, 0 to 100"), ("--partial-fills", "1e1", "0 to 100"),
                                 ("--keys", "k:s:write", "ID:SECRET or ID:SECRET:read-only"), ("--fault", "revoke:", "revoke:KEY")):
        run = subprocess.run([sys.argv[1], "--venue", "alpaca", "--synthetic", "7", option, value], capture_output=True, text=True, timeout=60)
        assert run.returncode == 2 and words in run.stderr, (option, value, run)
    run = subprocess.run([sys.argv[1], "--synthetic", "7", "--partial-fills", "10"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2 and "unknown option of --venue binance" in run.stderr, run


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


run_tests(globals())
