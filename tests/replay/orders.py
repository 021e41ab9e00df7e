"""Orders at papertape-replay as Binance takes them, with Python's standard library: keys and signatures, each refusal by what provokes
it, fills against a book that stands still, user data, and the WebSocket API.

usage: orders.py PROGRAM"""

import http.client
import os
import subprocess
import sys
import tempfile
import time
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from order_client import STILL, STILL_MS, Client, Ed25519, Hmac, equal, market, order, standing
from venue import Venue, until

PROGRAM = sys.argv[1]
FEE = Decimal("0.001")
E8 = Decimal("0.00000001")


def walk(levels, quantity):
    """[(price, quantity)] that a market order of that quantity takes."""
    taken, left = [], Decimal(quantity)
    for price, there in levels:
        part = min(left, Decimal(there))
        taken.append((Decimal(price), part))
        left -= part
        if left == 0:
            return taken
    raise AssertionError("the book is not so deep")


def test_keys(folder):
    """Who is let in, by HMAC and Ed25519, with parameters in the query, the body and both; and who is not."""
    key = Ed25519(folder)
    file = os.path.join(folder, "keys")
    with open(file, "w", encoding="utf-8") as out:
        out.write(f"# keys\nh hmac s3cret\nreader hmac other read-only\ned ed25519 {key.public}\n")
    with Venue(PROGRAM, "--synthetic", "7", "--from", "2024-08-08T23:54:15Z", "--keys", file) as v:
        a, b, reader = Client(v, "h", Hmac("s3cret")), Client(v, "ed", key), Client(v, "reader", Hmac("other"))
        for client in (a, b):
            placed = client.ok("POST", "order", **order(newClientOrderId="one/1", price="59000.00"))
            equal((placed["status"], placed["clientOrderId"]), ("NEW", "one/1"))
            equal(client.ok("GET", "order", symbol="BTCUSDT", origClientOrderId="one/1")["orderId"], placed["orderId"])
            equal(client.ok("DELETE", "order", body=True, symbol="BTCUSDT", orderId=placed["orderId"])["status"], "CANCELED")
            client.refused(-2011, "DELETE", "order", symbol="BTCUSDT", orderId=placed["orderId"])
            client.refused(-1100, "DELETE", "order", symbol="BTCUSDT", orderId=placed["orderId"], newClientOrderId='"')
        equal(len(reader.ok("GET", "openOrders")), 0)
        reader.refused(-2015, "POST", "order", status=401, **order())
        a.refused(-2015, "GET", "account", status=401, key="unknown")
        equal(a.send("GET", "/api/v3/account?timestamp=1", None), (401, {"code": -2014, "msg": "API-key format invalid."}))
        equal(a.send("GET", "/api/v3/account?timestamp=1", '"')[1]["code"], -2014)
        equal(a.send("GET", "/api/v3/account?timestamp=1", "h")[1]["code"], -1102)  # no signature
        Client(v, "h", Hmac("wrong")).refused(-1022, "GET", "account")
        Client(v, "ed", Hmac("s3cret")).refused(-1022, "GET", "account")
        now = a.now_ms()
        a.refused(-1021, "GET", "account", words="1000ms ahead", timestamp=now + 1500)
        a.refused(-1021, "GET", "account", words="outside of the recvWindow", timestamp=now - 6000)
        a.ok("GET", "account", timestamp=now - 6000, recvWindow=30000)
        a.ok("GET", "account", timestamp=now * 1000)  # microseconds
        a.refused(-1131, "GET", "account", recvWindow=60001)
        filters(a)
    for text, words in (("h hmac", "keys:1: a word is missing"), ("h rsa x", "keys:1: rsa: a line is KEY hmac SECRET"), ("", "there is no key"),
                        (f"h ed25519 {key.private}", f"keys:1: {key.private}: no such key"), ("h ed25519 nowhere.pem", "nowhere.pem: No such file"),
                        ("h hmac a\nh hmac b", "keys:2: that key is there"), ("h hmac s write", "keys:1: write")):
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        ran = subprocess.run([PROGRAM, "--synthetic", "7", "--keys", file], capture_output=True, text=True, timeout=60)
        assert ran.returncode != 0 and words in ran.stderr, f"{text!r}: {ran.returncode} {ran.stderr}"


def filters(a):
    """Each refusal, by what provokes it at the venue."""
    for code, words, more in (
            (-1013, "PRICE_FILTER", {"price": "50000.001"}), (-1013, "LOT_SIZE", {"quantity": "0.000001"}),
            (-1013, "LOT_SIZE", {"quantity": "10000"}), (-1013, "NOTIONAL", {"quantity": "0.00001"}),
            (-1013, "PERCENT_PRICE_BY_SIDE", {"price": "1000.00", "quantity": "1"}),
            (-1111, "Precision", {"quantity": "0.0000000001"}), (-1100, "quantity", {"quantity": "1e3"}),
            (-1013, "Invalid quantity", {"quantity": "0"}), (-1121, "symbol", {"symbol": "XYZUSDT"}),
            (-1117, "side", {"side": "HOLD"}), (-1116, "orderType", {"type": "ICEBERG"}), (-1115, "timeInForce", {"timeInForce": "DAY"}),
            (-1102, "timeInForce", {"timeInForce": None}), (-1102, "price", {"price": None}), (-1102, "quantity", {"quantity": None}),
            (-1106, "timeInForce", {"type": "MARKET", "price": None}), (-1106, "quoteOrderQty", {"quoteOrderQty": "10"}),
            (-1106, "stopPrice", {"stopPrice": "1"}), (-1100, "newClientOrderId", {"newClientOrderId": "x" * 37}),
            (-1132, "newOrderRespType", {"newOrderRespType": "ALL"}), (-2010, "insufficient", {"quantity": "30"})):
        a.refused(code, "POST", "order", words=words, **order(**more))
    a.refused(-2013, "GET", "order", symbol="BTCUSDT", orderId=77777)
    a.refused(-1102, "GET", "order", symbol="BTCUSDT")
    a.refused(-2011, "DELETE", "openOrders", symbol="BTCUSDT")
    equal(a.ok("POST", "order/test", **order()), {})
    equal(a.call("PUT", "order", symbol="BTCUSDT")[0], 404)
    for i in range(99):  # one was placed before
        a.ok("POST", "order", **order(newClientOrderId=f"n{i}", newOrderRespType="ACK"))
    a.refused(-1015, "POST", "order", status=429, **order())
    equal(len(a.ok("DELETE", "openOrders", symbol="BTCUSDT")), 99)


def test_fills():
    """On a standing book: fills by its levels, what was taken stays taken, balances are the sum of the fills."""
    with Venue(PROGRAM, *STILL) as v:
        s, depth = standing(v)
        a = Client(v, "any", Hmac("any"))
        begin = a.balances()
        asks = walk(depth["asks"], "1.5")
        first = a.ok("POST", "order", **market("BUY", "1.0"))
        second = a.ok("POST", "order", **market("BUY", "0.5"))
        got = [(Decimal(f["price"]), Decimal(f["qty"])) for o in (first, second) for f in o["fills"]]
        equal(merged(got), merged(asks), "the book's levels")
        best = Decimal(depth["bids"][0][0])
        limit = a.ok("POST", "order", **order(side="SELL", quantity="5", price=str(best)))
        equal(Decimal(limit["executedQty"]), min(Decimal(5), Decimal(depth["bids"][0][1])))
        a.refused(-2010, "POST", "order", words="immediately match", **order(type="LIMIT_MAKER", timeInForce=None, price=depth["asks"][-1][0]))
        ioc = a.ok("POST", "order", **order(timeInForce="IOC", price=str(best)))
        equal((ioc["status"], ioc["executedQty"]), ("EXPIRED", "0.00000000"))
        spent = a.ok("POST", "order", symbol="BTCUSDT", side="BUY", type="MARKET", quoteOrderQty="1000")
        assert Decimal(999) < Decimal(spent["cummulativeQuoteQty"]) <= 1000, spent
        a.refused(-2010, "POST", "order", words="trigger immediately", symbol="BTCUSDT", side="SELL", type="STOP_LOSS", quantity="0.1", stopPrice="70000.00")
        stop = a.ok("POST", "order", symbol="BTCUSDT", side="SELL", type="STOP_LOSS", quantity="0.1", stopPrice="50000.00", newOrderRespType="RESULT")
        equal(a.ok("GET", "order", symbol="BTCUSDT", orderId=stop["orderId"])["isWorking"], False)
        changes(a)
        base, quote = sums(a)
        end = a.balances()
        equal(sum(end["BTC"]) - sum(begin["BTC"]), base, "BTC")
        equal(sum(end["USDT"]) - sum(begin["USDT"]), quote, "USDT")
        equal(len(a.ok("GET", "openOrders", symbol="BTCUSDT")), 2)
        equal([o["orderId"] for o in a.ok("GET", "allOrders", symbol="BTCUSDT", orderId=limit["orderId"], limit=1)], [limit["orderId"]])
        equal(a.ok("GET", "account/commission", symbol="BTCUSDT")["standardCommission"]["taker"], "0.00100000")
        equal(Client(v, "other", Hmac("x")).ok("GET", "openOrders"), [])
        s.close()


def changes(a):
    """Another order in an order's place, wholly, partly and not at all; and a lower quantity."""
    def replace(mode, **old):
        return a.call("POST", "order/cancelReplace", **order(newClientOrderId="new", cancelReplaceMode=mode, **old))

    old = a.ok("POST", "order", **order(newClientOrderId="old", quantity="0.05"))
    amended = a.ok("PUT", "order/amend/keepPriority", symbol="BTCUSDT", orderId=old["orderId"], newQty="0.03",
                   newClientOrderId="old")["amendedOrder"]
    equal((amended["qty"], amended["orderId"], amended["clientOrderId"]), ("0.03000000", old["orderId"], "old"))
    a.refused(-2038, "PUT", "order/amend/keepPriority", symbol="BTCUSDT", orderId=old["orderId"], newQty="0.04")
    status, both = replace("STOP_ON_FAILURE", cancelOrigClientOrderId="old")
    equal((status, both["cancelResult"], both["newOrderResult"], both["cancelResponse"]["orderId"], both["newOrderResponse"]["clientOrderId"]),
          (200, "SUCCESS", "SUCCESS", old["orderId"], "new"))
    status, both = replace("STOP_ON_FAILURE", cancelOrderId=old["orderId"])
    equal((status, both["code"], both["data"]["newOrderResult"], both["data"]["cancelResponse"]["code"]), (400, -2022, "NOT_ATTEMPTED", -2011))
    status, both = replace("ALLOW_FAILURE", cancelOrderId=old["orderId"])
    equal((status, both["code"], both["data"]["newOrderResponse"]["code"]), (400, -2022, -2010))  # its client id is taken
    a.ok("DELETE", "order", symbol="BTCUSDT", origClientOrderId="new")
    status, both = replace("ALLOW_FAILURE", cancelOrderId=old["orderId"])
    equal((status, both["code"], both["data"]["newOrderResult"]), (409, -2021, "SUCCESS"))
    a.ok("DELETE", "order", symbol="BTCUSDT", origClientOrderId="new")
    equal(sum(locked for _, locked in a.balances().values()) > 0, True)  # what was open before


def merged(fills):
    levels = {}
    for price, quantity in fills:
        levels[price] = levels.get(price, 0) + quantity
    return levels


def sums(a):
    base = quote = Decimal(0)
    for t in a.ok("GET", "myTrades", symbol="BTCUSDT"):
        price, quantity, commission = (Decimal(t[name]) for name in ("price", "qty", "commission"))
        received = quantity if t["isBuyer"] else price * quantity
        equal((commission, t["commissionAsset"]), ((received * FEE).quantize(E8, rounding="ROUND_DOWN"), "BTC" if t["isBuyer"] else "USDT"))
        base += quantity - commission if t["isBuyer"] else -quantity
        quote += -price * quantity if t["isBuyer"] else price * quantity - commission
    return base, quote


def test_sockets(folder):
    """The WebSocket API: a session by Ed25519, orders, user data; and by signature for each request."""
    key = Ed25519(folder)
    file = os.path.join(folder, "keys")
    with open(file, "w", encoding="utf-8") as out:
        out.write(f"h hmac s3cret\ned ed25519 {key.public}\n")
    with Venue(PROGRAM, *STILL, "--keys", file) as v:
        stream, depth = standing(v)
        a = Client(v, "ed", key)
        s = v.socket("/ws-api/v3")

        def ask(method, events=None, **params):
            s.say({"id": method, "method": method, "params": params})
            while True:
                m = s.message()
                if m.get("id") == method:
                    return m
                if events is not None:
                    events.append(m["event"])

        equal(ask("ping")["result"], {})
        equal(ask("order.place", **order(timestamp=a.now_ms()))["error"]["code"], -2014)
        equal(ask("userDataStream.subscribe")["status"], 401)
        equal(ask("session.logon", **Client(v, "h", Hmac("s3cret")).signed())["error"]["code"], -4056)
        equal(ask("session.logon", **{**a.signed(), "signature": "x" * 88})["error"]["code"], -1022)
        equal(ask("session.logon", **a.signed())["result"]["apiKey"], "ed")
        equal(ask("userDataStream.subscribe")["result"], {"subscriptionId": 0})
        equal(ask("userDataStream.subscribe")["error"]["code"], -2035)
        equal(ask("order.place", **order())["error"]["code"], -1102)  # a session spares no timestamp
        s.say({"id": 9, "method": "order.place", "params": {**market("BUY", "0.2"), "newClientOrderId": "w1", "timestamp": a.now_ms()}})
        events, answer = [], None
        while answer is None:
            m = s.message()
            if m.get("id") == 9:
                answer = m
            else:
                events.append(m["event"])
        reports = [e for e in events if e["e"] == "executionReport"]
        equal((answer["result"]["status"], reports[0]["x"], reports[0]["X"], reports[0]["c"]), ("FILLED", "NEW", "NEW", "w1"))
        equal([(e["L"], e["l"], e["n"], e["N"], e["t"]) for e in reports[1:]],
              [(f["price"], f["qty"], f["commission"], f["commissionAsset"], f["tradeId"]) for f in answer["result"]["fills"]])
        equal(reports[-1]["X"], "FILLED")
        position = {b["a"]: Decimal(b["f"]) for b in [e for e in events if e["e"] == "outboundAccountPosition"][-1]["B"]}
        equal(position["BTC"], a.balances()["BTC"][0])
        placed = a.ok("POST", "order", **order(newClientOrderId="rest"))  # seen on the socket, too
        equal(s.message()["event"]["e"], "outboundAccountPosition")
        equal((lambda e: (e["x"], e["i"]))(s.message()["event"]), ("NEW", placed["orderId"]))
        cancelled = ask("order.cancel", symbol="BTCUSDT", origClientOrderId="rest", newClientOrderId="ends", timestamp=a.now_ms(), events=events)
        equal((cancelled["result"]["status"], cancelled["result"]["clientOrderId"]), ("CANCELED", "ends"))
        equal((events[-1]["x"], events[-1]["c"], events[-1]["C"]), ("CANCELED", "ends", "rest"))
        h = Client(v, "h", Hmac("s3cret"))
        equal(ask("account.status", **h.signed())["result"]["accountType"], "SPOT")
        equal(ask("order.status", **h.signed(symbol="BTCUSDT", orderId=placed["orderId"]))["error"]["code"], -2013)
        equal(ask("depth", symbol="BTCUSDT", limit=5)["result"]["bids"], depth["bids"][:5])
        equal(ask("nothing")["status"], 400)
        equal(ask("session.logout")["result"]["apiKey"], None)
        used = ask("ping")["rateLimits"][0]["count"]
        equal(ask("allOrders", **h.signed(symbol="BTCUSDT"))["rateLimits"][0]["count"], used + 21)  # with the time that is asked for
        answer = {"status": 0}
        while answer["status"] != 429:  # the address's, of REST too
            answer = ask("ticker.24hr")
        equal((answer["status"], answer["error"]["code"], v.get("/api/v3/time")[0]), (429, -1003, 429))
        s.close()
        stream.close()


def test_faults():
    """What happens to every fourth order, and to every fourth event: an order is there where it was done, and only there."""
    def lost(client, **more):
        try:
            return client.call("POST", "order", **order(**more))
        except (http.client.HTTPException, ConnectionError):
            return None, None

    there = {"order:lost-request": 0, "order:lost-answer": 1, "order:5xx-not-done": 0, "order:5xx-done": 1, "order:twice": 1}
    for fault, done in there.items():
        with Venue(PROGRAM, *STILL, "--fault", fault) as v:
            a = Client(v, "any", Hmac("any"))
            for i in range(3):
                a.ok("POST", "order", **order(newClientOrderId=f"well-{i}"))
            status, answer = lost(a, newClientOrderId="hit")
            equal((status, answer and answer.get("code")),
                  {"lo": (None, None), "5x": (504, -1007), "tw": (400, -2010)}[fault.split(":")[1][:2]], fault)
            equal(sum(o["clientOrderId"] == "hit" for o in a.ok("GET", "allOrders", symbol="BTCUSDT")), done, fault)
            a.ok("POST", "order", **order(newClientOrderId="after"))
    with Venue(PROGRAM, *STILL, "--fault", "order:late:1s") as v:
        a = Client(v, "any", Hmac("any"))
        for i in range(3):
            a.ok("POST", "order", **order(newClientOrderId=f"well-{i}"))
        equal(lost(a, newClientOrderId="hit")[0], 504)
        until(lambda: time.sleep(0.1) or a.call("GET", "order", symbol="BTCUSDT", origClientOrderId="hit")[0] == 200, "the late order")
        begin = Client(v, "new", Hmac("any")).balances()
        v.fault("wipe")
        until(lambda: time.sleep(0.1) or a.ok("GET", "allOrders", symbol="BTCUSDT") == [], "the wipe")
        equal(a.balances(), begin)
    for fault, want in (("user:drop", [0, 1, 2, 4]), ("user:dup", [0, 1, 2, 3, 3, 4]), ("user:reorder", [0, 1, 2, 4, 3])):
        with Venue(PROGRAM, *STILL, "--fault", fault) as v:
            a, s = Client(v, "any", Hmac("any")), v.socket("/ws-api/v3")
            s.say({"id": 1, "method": "userDataStream.subscribe.signature", "params": {"apiKey": "any"}})
            equal(s.message()["status"], 200)
            for i in range(3):
                a.ok("POST", "order", **order(newClientOrderId=f"o{i}"))
            kinds = ["outboundAccountPosition", "executionReport"]
            equal([s.message()["event"]["e"] for _ in want], [kinds[i % 2] for i in want], fault)
            s.close()


def slipped(side, price, bp):
    """Worse by so much, to the next cent."""
    sign, rounding = (1, ROUND_CEILING) if side == "BUY" else (-1, ROUND_FLOOR)
    return (Decimal(price) * (1 + sign * Decimal(bp) / 10000)).quantize(Decimal("0.01"), rounding)


def test_planted():
    """An order meets the book 120 ms of market time after it was received, and a taker's price is 3 basis points worse than the
    book's, not beyond his limit; until then it is open, and may be cancelled. Both may be changed while it runs."""
    with Venue(PROGRAM, *STILL, "--fill-latency", "120ms", "--fill-slippage", "3") as v:
        s, depth = standing(v)
        a, u = Client(v, "any", Hmac("any")), v.socket("/ws-api/v3")
        u.say({"id": 1, "method": "userDataStream.subscribe.signature", "params": {"apiKey": "any"}})
        equal(u.message()["status"], 200)
        placed = a.ok("POST", "order", **market("BUY", "1.5"))
        equal((placed["status"], placed["executedQty"], placed["fills"], placed["workingTime"]), ("NEW", "0.00000000", [], -1))
        row = a.ok("GET", "order", symbol="BTCUSDT", orderId=placed["orderId"])
        equal((row["status"], row["time"], row["updateTime"], row["workingTime"]), ("FILLED", STILL_MS, STILL_MS + 120, STILL_MS + 120))
        fills = a.ok("GET", "myTrades", symbol="BTCUSDT", orderId=placed["orderId"])
        equal([(Decimal(f["price"]), Decimal(f["qty"]), f["time"]) for f in fills],
              [(slipped("BUY", price, 3), qty, STILL_MS + 120) for price, qty in walk(depth["asks"], "1.5")])
        events = [e for e in (u.message()["event"] for _ in range(2 + 2 * len(fills))) if e["e"] == "executionReport"]
        equal([(e["x"], e["T"] - STILL_MS) for e in events], [("NEW", 0)] + [("TRADE", 120)] * len(fills))
        best = Decimal(depth["bids"][0][0])
        sold = a.ok("POST", "order", **order(side="SELL", quantity="0.00001", price=str(best)))
        equal({f["price"] for f in a.ok("GET", "myTrades", symbol="BTCUSDT", orderId=sold["orderId"])}, {f"{best:.8f}"}, "not beyond the limit")
        v.fault("fill-slippage:0.5")
        sold = a.ok("POST", "order", **market("SELL", "0.00001"))
        equal({f["price"] for f in a.ok("GET", "myTrades", symbol="BTCUSDT", orderId=sold["orderId"])}, {f"{slipped('SELL', walk(depth['bids'], '0.00002')[-1][0], '0.5'):.8f}"})
        for fault in ("fill-slippage:0", "fill-latency:0s", "none"):
            v.fault(fault)
        equal(a.ok("POST", "order", **market("SELL", "0.00001"))["fills"][0]["price"], depth["bids"][len(walk(depth["bids"], "0.00003")) - 1][0])
        u.close()
        s.close()
    with Venue(PROGRAM, "--synthetic", "7", "--fill-latency", "60s") as v:
        a = Client(v, "any", Hmac("any"))
        placed = a.ok("POST", "order", **market("BUY", "1.5"))
        equal(a.ok("DELETE", "order", symbol="BTCUSDT", orderId=placed["orderId"])["status"], "CANCELED")
        equal({locked for _, locked in a.balances().values()}, {0})
    for option, value, words in (("--fill-latency", "120", "a time from 0ms to 60s"), ("--fill-latency", "61s", "a time from 0ms to 60s"),
                                 ("--fill-slippage", "3bp", "basis points from 0 to 1000"), ("--fill-slippage", "1001", "basis points from 0 to 1000"),
                                 ("--fill-slippage", "-1", "basis points from 0 to 1000"), ("--fill-latency", "1" * 40, "a time from 0ms to 60s")):
        ran = subprocess.run([PROGRAM, "--synthetic", "7", option, value], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 2 and f'{option}: "{value}": {words}' in ran.stderr, ran.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_keys(folder)
        test_fills()
        test_sockets(folder)
    test_faults()
    test_planted()
    print("orders: ok")


main()
