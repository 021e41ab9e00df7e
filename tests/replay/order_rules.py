"""What Binance's documents say of orders, at papertape-replay, with Python's standard library: lists, limits, filters, parameters.

usage: order_rules.py PROGRAM"""

import os
import subprocess
import sys
import tempfile
from decimal import Decimal

from order_client import STILL, STILL_MS, Client, Hmac, equal, market, order, standing
from venue import Venue, run_tests

PROGRAM = sys.argv[1]
HOUR_MS = 3600 * 1000


def keyed(*args):
    """A venue that checks everything, on which nothing moves."""
    with tempfile.NamedTemporaryFile("w", suffix=".keys", delete=False) as file:
        file.write("h hmac s3cret\n")
    v = Venue(PROGRAM, *STILL, "--keys", file.name, *args)  # which has read it once it is there
    os.unlink(file.name)
    return v


def used(v):
    return int(v.get("/api/v3/ping")[1]["X-MBX-USED-WEIGHT-1M"])


def weight_of(v, call):
    before, after = 1, 0
    while after < before:  # another minute has started
        before = used(v)
        call()
        after = used(v)
    return after - before - 2  # of the second ping, and of the time that a call asks for


def test_lists():
    """The newest of a list unless an id or a time asks for the first ones; what may be combined; what each weighs."""
    with Venue(PROGRAM, *STILL) as v:
        s, _ = standing(v)
        a = Client(v, "any", Hmac("any"))
        placed = [a.ok("POST", "order", **market("BUY", "0.1"))["orderId"] for _ in range(4)]
        placed += [a.ok("POST", "order", **order(quantity="0.001"))["orderId"]]

        def orders(**more):
            return [o["orderId"] for o in a.ok("GET", "allOrders", symbol="BTCUSDT", **more)]

        def trades(**more):
            return [t["id"] for t in a.ok("GET", "myTrades", symbol="BTCUSDT", **more)]

        every, now = trades(), a.now_ms()
        assert len(every) >= 4 and every == sorted(every), every
        equal((orders(), orders(limit=2), orders(limit=2, orderId=placed[0])), (placed, placed[-2:], placed[:2]))
        equal((trades(limit=2), trades(limit=2, fromId=every[0])), (every[-2:], every[:2]))
        equal((orders(limit=2, startTime=now - HOUR_MS), orders(limit=2, endTime=now)), (placed[:2], placed[-2:]))
        equal((trades(limit=2, startTime=now - HOUR_MS, endTime=now), trades(limit=2, endTime=(now + 1) * 1000)), (every[:2], every[-2:]))
        equal((orders(startTime=now + 1), orders(endTime=now - HOUR_MS), trades(endTime=now - HOUR_MS)), ([], [], []))
        first = [t["id"] for t in a.ok("GET", "myTrades", symbol="BTCUSDT", orderId=placed[0])]
        equal(first, [t for t in every if t in first])
        equal(trades(orderId=placed[0], fromId=first[-1]), first[-1:])
        for path in ("allOrders", "myTrades"):
            a.refused(-1127, "GET", path, symbol="BTCUSDT", startTime=now - 24 * HOUR_MS - 1, endTime=now, words="24 hours")
            a.refused(-1128, "GET", path, symbol="BTCUSDT", startTime=now, endTime=now - 1)
        a.refused(-1128, "GET", "myTrades", symbol="BTCUSDT", startTime=now, fromId=1)
        for path, weight, more in (("openOrders", 80, {}), ("openOrders", 6, {"symbol": "BTCUSDT"}), ("myTrades", 20, {"symbol": "BTCUSDT"}),
                                   ("myTrades", 5, {"symbol": "BTCUSDT", "orderId": placed[0]})):
            equal(weight_of(v, lambda: a.ok("GET", path, **more)), weight, path)
        s.close()


def test_amounts():
    """quoteOrderQty: its notional, the balance, and a book that has less."""
    with keyed() as v:
        s, depth = standing(v)
        a = Client(v, "h", Hmac("s3cret"))

        def spend(amount, side="BUY"):
            return {"symbol": "BTCUSDT", "side": side, "type": "MARKET", "quoteOrderQty": amount}

        a.refused(-1013, "POST", "order", words="NOTIONAL", **spend("4"))
        a.refused(-1013, "POST", "order/test", words="NOTIONAL", **spend("0.01", "SELL"))
        a.refused(-2010, "POST", "order", words="insufficient", **spend("5000000"))
        equal(a.ok("POST", "order", **spend("5.5"))["status"], "FILLED")
        bids = sum(Decimal(price) * Decimal(quantity) for price, quantity in v.rest("/api/v3/depth?symbol=BTCUSDT&limit=5000")["bids"])
        sold = a.ok("POST", "order", **spend(str(int(bids) + 1), "SELL"))
        equal((sold["status"], sold["origQty"]), ("EXPIRED", sold["executedQty"]))
        equal(Decimal(sold["cummulativeQuoteQty"]), bids)
        a.refused(-2010, "POST", "order", words="liquidity", **spend("100", "SELL"))
        s.close()
    with Venue(PROGRAM, *STILL) as v:  # without keys the notional is not checked
        s, _ = standing(v)
        Client(v, "any", Hmac("any")).refused(-2010, "POST", "order", words="liquidity", symbol="BTCUSDT", side="BUY", type="MARKET", quoteOrderQty="0.01")
        s.close()


def ask(s, method, /, **params):
    return s.ask(method, params)[0]


def test_counts():
    """Orders that nothing was filled of: in headers, on the WebSocket API, by a call of its own, and when there are too many."""
    with Venue(PROGRAM, *STILL) as v:
        stream, _ = standing(v)
        a, s = Client(v, "any", Hmac("any")), v.socket("/ws-api/v3")

        def counts(answer=None):
            rows = a.ok("GET", "rateLimit/order") if answer is None else [row for row in answer["rateLimits"] if row["rateLimitType"] == "ORDERS"]
            equal([(row["interval"], row["intervalNum"], row["limit"]) for row in rows], [("SECOND", 10, 100), ("DAY", 1, 200000)])
            return [row["count"] for row in rows]

        equal(counts(), [0, 0])
        a.ok("POST", "order", **order())
        equal((a.headers["X-MBX-ORDER-COUNT-10S"], a.headers["X-MBX-ORDER-COUNT-1D"]), ("1", "1"))
        a.ok("POST", "order", **market("BUY", "0.1"))  # a fill gives its count back
        a.refused(-2010, "POST", "order", **order(quantity="100"))
        equal((a.headers["X-MBX-ORDER-COUNT-10S"], counts()), ("1", [1, 1]))
        a.ok("GET", "openOrders")
        equal(a.headers.get("X-MBX-ORDER-COUNT-10S"), None)
        equal(counts(ask(s, "order.place", apiKey="any", **order())), [2, 2])
        equal([row["count"] for row in ask(s, "account.rateLimits.orders", apiKey="any")["result"]], [2, 2])
        equal(len(ask(s, "order.test", apiKey="any", **order())["rateLimits"]), 1)
        for _ in range(98):
            equal(ask(s, "order.place", apiKey="any", **order(newOrderRespType="ACK"))["status"], 200)
        a.refused(-1015, "POST", "order", status=429, **order())
        assert 1 <= int(a.headers["Retry-After"]) <= 10, a.headers
        late = ask(s, "order.place", apiKey="any", **order())
        assert late["status"] == 429 and 0 < late["error"]["data"]["retryAfter"] - a.now_ms() <= 10000, late
        equal(counts(late), [100, 100])
        s.close()
        stream.close()


def test_replace():
    """cancelReplace: filters and counts come before the cancellation."""
    with keyed() as v:
        s, _ = standing(v)
        a, w = Client(v, "h", Hmac("s3cret")), v.socket("/ws-api/v3")
        old = a.ok("POST", "order", **order())["orderId"]

        def state():
            return a.ok("GET", "order", symbol="BTCUSDT", orderId=old)["status"]

        def replace(**more):
            return {**order(), "cancelReplaceMode": "STOP_ON_FAILURE", "cancelOrderId": old, **more}

        a.refused(-1013, "POST", "order/cancelReplace", words="NOTIONAL", **replace(quantity="0.00005"))
        a.refused(-1013, "POST", "order/cancelReplace", words="PRICE_FILTER", **replace(price="50000.001"))
        a.refused(-1102, "POST", "order/cancelReplace", words="cancelOrderId", **replace(cancelOrderId=None))
        a.refused(-1145, "POST", "order/cancelReplace", **replace(cancelRestrictions="NEVER"))
        equal(state(), "NEW")
        status, both = a.call("POST", "order/cancelReplace", **replace(cancelRestrictions="ONLY_PARTIALLY_FILLED"))
        equal((status, both["data"]["cancelResponse"]["code"], state()), (400, -2011, "NEW"))
        for _ in range(98):  # the one that was not attempted counts
            equal(ask(w, "order.place", **a.signed(timestamp=STILL_MS, **order(newOrderRespType="ACK", price="49000.00")))["status"], 200)
        a.refused(-1015, "POST", "order/cancelReplace", status=429, **replace())
        equal(state(), "NEW")
        status, both = a.call("POST", "order/cancelReplace", **replace(orderRateLimitExceededMode="CANCEL_ONLY", cancelNewClientOrderId="ends"))
        equal((status, both["code"], both["data"]["newOrderResponse"]["code"], both["data"]["cancelResponse"]["clientOrderId"], state()),
              (429, -2021, -1015, "ends", "CANCELED"))
        w.close()
        s.close()


def test_parameters():
    """What is not served is refused, what is not known too, and what is sent twice."""
    with Venue(PROGRAM, *STILL) as v:
        stream, depth = standing(v)
        a, s = Client(v, "any", Hmac("any")), v.socket("/ws-api/v3")
        for more, code, words in (({"pegPriceType": "PRIMARY_PEG", "price": None}, -2010, "Pegged"),
                                  ({"color": "red"}, -1104, "read '7' parameter(s) but was sent '8'"), ({"newOrderRespType": "ALL"}, -1132, "")):
            a.refused(code, "POST", "order", words=words, **order(timestamp=None, **more))
        equal(a.send("POST", "/api/v3/order?symbol=BTCUSDT&symbol=ETHUSDT", "any")[1]["code"], -1101)
        placed = a.send("POST", "/api/v3/order?symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=GTC&quantity=0.01&price=50000.00", "any", "price=40000.00")[1]
        equal(placed["price"], "50000.00000000")  # the query wins
        equal(ask(s, "order.place", apiKey="any", color="red", **order())["error"]["code"], -1104)
        one = {"symbol": "BTCUSDT", "orderId": placed["orderId"]}
        a.refused(-2039, "GET", "order", **one, origClientOrderId="other")
        a.refused(-1145, "DELETE", "order", **one, cancelRestrictions="NEVER")
        a.refused(-2011, "DELETE", "order", **one, cancelRestrictions="ONLY_PARTIALLY_FILLED", words="restrictions")
        a.ok("DELETE", "order", **one, cancelRestrictions="ONLY_NEW")
        best, there = depth["bids"][0]
        part = a.ok("POST", "order", **order(side="SELL", price=best, quantity=str(Decimal(there) + 1)))
        a.refused(-2011, "DELETE", "order", symbol="BTCUSDT", orderId=part["orderId"], cancelRestrictions="ONLY_NEW", words="restrictions")
        rates = a.ok("POST", "order/test", **order(), computeCommissionRates="true")
        equal((rates["standardCommissionForOrder"], rates["taxCommissionForOrder"]["maker"]), ({"maker": "0.00100000", "taker": "0.00100000"}, "0.00000000"))
        listed = v.rest("/api/v3/exchangeInfo?symbol=BTCUSDT")["symbols"][0]
        equal({name: listed[name] for name in listed if name.endswith("Allowed") or name == "allowTrailingStop"},
              {"icebergAllowed": True, "ocoAllowed": True, "otoAllowed": True, "opoAllowed": False, "quoteOrderQtyMarketAllowed": True,
               "allowTrailingStop": True, "cancelReplaceAllowed": True, "amendAllowed": True, "pegInstructionsAllowed": False,
               "isSpotTradingAllowed": True, "isMarginTradingAllowed": False})
        s.close()
        stream.close()


def test_amend():
    """A lower quantity keeps place and number; another client id unless one is sent; filters, and what is no amendment."""
    with keyed() as v:
        s, _ = standing(v)
        a = Client(v, "h", Hmac("s3cret"))
        one = {"symbol": "BTCUSDT", "orderId": a.ok("POST", "order", **order(newClientOrderId="first"))["orderId"]}
        amended = a.ok("PUT", "order/amend/keepPriority", newQty="0.009", **one)["amendedOrder"]
        equal((amended["origClientOrderId"], amended["qty"]), ("first", "0.00900000"))
        assert amended["clientOrderId"] not in ("first", "")
        equal(a.ok("GET", "order", symbol="BTCUSDT", origClientOrderId=amended["clientOrderId"])["orderId"], one["orderId"])
        for qty, code, words in (("0.01", -2038, "increase"), ("0.009", -2038, "no state"), ("0", -1013, "newQty"), (None, -1102, "newQty"),
                                 ("-1", -1100, "newQty"), ("0.0000001", -1013, "LOT_SIZE"), ("0.00005", -1013, "NOTIONAL")):
            a.refused(code, "PUT", "order/amend/keepPriority", words=words, newQty=qty, **one)
        for i in range(5):
            a.ok("POST", "order", symbol="BTCUSDT", side="SELL", type="STOP_LOSS", quantity="0.1", stopPrice="50000.00", newClientOrderId=f"stop-{i}")
        a.refused(-1013, "POST", "order", words="MAX_NUM_ALGO_ORDERS", symbol="BTCUSDT", side="SELL", type="STOP_LOSS", quantity="0.1", stopPrice="50000.00")
        a.ok("POST", "order", **order())  # without a stop
        s.close()


def test_subscriptions():
    """One subscription an account and connection, numbered by connection; what ends says so."""
    with Venue(PROGRAM, *STILL) as v:
        stream, _ = standing(v)
        s, begin, one = v.socket("/ws-api/v3"), "userDataStream.subscribe.signature", {"apiKey": "one"}
        equal([ask(s, begin, apiKey=key)["result"]["subscriptionId"] for key in ("one", "two")], [0, 1])
        equal(ask(s, begin, **one)["error"]["code"], -2035)
        equal((ask(s, "session.logon", apiKey="three")["status"], ask(s, "userDataStream.subscribe")["result"]), (200, {"subscriptionId": 2}))
        equal(ask(s, "session.subscriptions")["result"], [{"subscriptionId": i} for i in range(3)])
        Client(v, "two", Hmac("any")).ok("POST", "order", **order())
        equal([(m["subscriptionId"], m["event"]["e"]) for m in (s.message(), s.message())], [(1, "outboundAccountPosition"), (1, "executionReport")])
        equal(ask(s, "userDataStream.unsubscribe", subscriptionId=7)["error"]["code"], -2036)
        equal(ask(s, "session.logout")["result"]["userDataStream"], True)  # by signature they stay
        ended = s.message()
        equal((ended["subscriptionId"], ended["event"]["e"]), (2, "eventStreamTerminated"))
        equal(ask(s, "userDataStream.unsubscribe", subscriptionId=0)["result"], {})
        equal(s.message()["subscriptionId"], 0)
        equal(ask(s, begin, **one)["result"], {"subscriptionId": 3})
        equal(ask(s, "userDataStream.unsubscribe")["result"], {})
        equal([s.message()["subscriptionId"] for _ in range(2)], [1, 3])
        equal(ask(s, "session.status")["result"]["userDataStream"], False)
        other = v.socket("/ws-api/v3")
        equal(ask(other, begin, **one)["result"], {"subscriptionId": 0})
        for socket in (s, other, stream):
            socket.close()


def test_average():
    """The average price of five minutes is between the lowest and the highest, weighted by quantity."""
    with Venue(PROGRAM, *STILL) as v:
        stream, _ = standing(v)
        rows = v.rest("/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=5")
        volume, quote = (sum(Decimal(row[at]) for row in rows) for at in (5, 7))
        average = v.rest("/api/v3/avgPrice?symbol=BTCUSDT")
        equal((average["mins"], Decimal(average["price"])), (5, (quote / volume).quantize(Decimal("1e-8"), rounding="ROUND_DOWN")))
        equal(average["closeTime"], v.rest("/api/v3/trades?symbol=BTCUSDT&limit=1")[0]["time"])
        equal(v.get("/api/v3/avgPrice")[2]["code"], -1102)
        stream.close()


def test_times():
    """Microseconds where they are asked for, a clock that is off everywhere, and answers without limits."""
    with Venue(PROGRAM, *STILL, "--fault", "clock:+5s") as v:
        stream, _ = standing(v, 5000)
        a, s = Client(v, "any", Hmac("any")), v.socket("/ws-api/v3?timeUnit=MICROSECOND&returnRateLimits=false")
        now = a.now_ms()
        equal(ask(s, "userDataStream.subscribe.signature", apiKey="any"), {"id": 1, "status": 200, "result": {"subscriptionId": 0}})
        placed = a.ok("POST", "order", **market("BUY", "0.1"))
        equal(placed["transactTime"], now)
        event = [s.message() for _ in range(4)][1]["event"]
        equal((event["e"], event["T"] // 1000, event["W"] // 1000), ("executionReport", now, now))
        equal(a.ok("GET", "allOrders", symbol="BTCUSDT", startTime=now)[0]["time"], now)
        headers = {"X-MBX-APIKEY": "any", "X-MBX-TIME-UNIT": "microsecond"}
        for path, name in (("myTrades?symbol=BTCUSDT", "time"), ("allOrders?symbol=BTCUSDT", "updateTime"), ("account", "updateTime")):
            answer = v.get(f"/api/v3/{path}", headers=headers)[2]
            equal((answer if path == "account" else answer[0])[name] // 1000, now, path)
        limits = ask(s, "time", returnRateLimits=True)
        equal((len(limits["rateLimits"]), limits["result"]["serverTime"] // 1000), (1, now))
        assert "rateLimits" not in ask(s, "order.place", apiKey="any", **order())
        s.close()
        stream.close()


def test_limits():
    """Limits and weights other than the venue's: exchangeInfo says them, and requests are counted and refused by them."""
    with Venue(PROGRAM, "--synthetic", "7", "--limit", "weight=30", "requests=50", "--weight", "time=4", "klines=9") as v:
        status, headers, info = v.get("/api/v3/exchangeInfo?symbol=BTCUSDT")
        equal({x["rateLimitType"]: x["limit"] for x in info["rateLimits"] if x["rateLimitType"] != "ORDERS"},
              {"REQUEST_WEIGHT": 30, "RAW_REQUESTS": 50})
        before = int(headers["X-MBX-USED-WEIGHT-1M"])
        while (answer := v.get("/api/v3/klines?symbol=BTCUSDT&interval=1m"))[0] == 200:
            now = int(answer[1]["X-MBX-USED-WEIGHT-1M"])
            assert now in (before + 9, 9), (before, now)  # the same minute, or another one
            before = now
        assert answer[0] == 429 and before + 9 > 30 and "current limit is 30 request weight" in answer[2]["msg"], (before, answer)
    for args, words in ((["--limit", "weight=0"], "--limit weight=0: weight=N, requests=N or connections=N"), (["--limit", "calls=3"], "weight=N"),
                        (["--weight", "klines"], "--weight klines: the last part of a path and a number"),
                        (["--venue", "alpaca", "--limit", "weight=3"], "--limit weight=3: requests=N, above 0"),
                        (["--venue", "alpaca", "--weight", "bars=3"], "--weight: unknown option of --venue alpaca")):
        ran = subprocess.run([PROGRAM, "--synthetic", "7", *args], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 2 and words in ran.stderr, ran.stderr


run_tests(globals())
