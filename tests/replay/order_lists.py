"""Order lists at papertape-replay as Binance's documents have them, over REST and the WebSocket API, with Python's standard library: pairs of which one
order cancels the other, and orders that another one releases.

usage: order_lists.py PROGRAM"""

import http.client
import sys
from decimal import Decimal

from order_client import STILL, Client, Hmac, equal, order, standing
from venue import Venue, run_tests, until

PROGRAM = sys.argv[1]
SELL = {"symbol": "BTCUSDT", "side": "SELL", "quantity": "0.1", "aboveType": "LIMIT_MAKER", "abovePrice": "70000.00", "belowType": "STOP_LOSS",
        "belowStopPrice": "50000.00"}
BUY = {"symbol": "BTCUSDT", "side": "BUY", "quantity": "0.1", "aboveType": "STOP_LOSS_LIMIT", "aboveStopPrice": "70000.00", "abovePrice": "71000.00",
       "aboveTimeInForce": "GTC", "belowType": "LIMIT_MAKER", "belowPrice": "50000.00"}
WORKING = {"symbol": "BTCUSDT", "workingType": "LIMIT", "workingSide": "BUY", "workingPrice": "50000.00", "workingQuantity": "0.1",
           "workingTimeInForce": "GTC"}
OTO = {**WORKING, "pendingType": "MARKET", "pendingSide": "SELL", "pendingQuantity": "0.05"}
OTOCO = {**WORKING, "pendingSide": "SELL", "pendingQuantity": "0.09", "pendingAboveType": "TAKE_PROFIT", "pendingAboveStopPrice": "70000.00",
         "pendingBelowType": "STOP_LOSS_LIMIT", "pendingBelowStopPrice": "40000.00", "pendingBelowPrice": "39000.00", "pendingBelowTimeInForce": "GTC"}


class Account:
    """An account of its own key, with its user data."""

    def __init__(self, v, key):
        self.client, self.socket, self.key = Client(v, key, Hmac("any")), v.socket("/ws-api/v3"), key
        equal(self.socket.ask("userDataStream.subscribe.signature", {"apiKey": key})[0]["status"], 200)

    def ask(self, method, **params):
        return self.socket.ask(method, {"apiKey": self.key, **params})[0]

    def ok(self, *call, **params):
        return self.client.ok(*call, **params)

    def events(self, n):
        """The next reports and list events: [(order or list, what happened, its state)]."""
        out = []
        while len(out) < n:
            event = self.socket.message()["event"]
            if event["e"] == "executionReport":
                out.append((event["i"], event["x"], event["X"]))
            elif event["e"] == "listStatus":
                out.append((event["g"], event["l"], event["L"]))
        return out

    def states(self, placed):
        return [self.ok("GET", "order", symbol="BTCUSDT", orderId=o["orderId"])["status"] for o in placed["orders"]]

    def locked(self, asset):
        return self.client.balances()[asset][1]

    def close(self):
        self.socket.close()


def test_pair():
    """Its answer, its events, what it locks, what asks for it, and how it is cancelled: by itself, by an order of it, and with all orders."""
    with Venue(PROGRAM, *STILL) as v:
        stream, _ = standing(v)
        a = Account(v, "one")
        placed = a.ok("POST", "orderList/oco", **SELL, listClientOrderId="first", aboveClientOrderId="high", newOrderRespType="RESULT")
        stop, limit = placed["orderReports"]
        equal({name: placed[name] for name in ("contingencyType", "listStatusType", "listOrderStatus", "listClientOrderId", "symbol")},
              {"contingencyType": "OCO", "listStatusType": "EXEC_STARTED", "listOrderStatus": "EXECUTING", "listClientOrderId": "first", "symbol": "BTCUSDT"})
        equal([(o["type"], o["status"], o["orderListId"], o["origQty"]) for o in (stop, limit)],
              [("STOP_LOSS", "NEW", placed["orderListId"], "0.10000000"), ("LIMIT_MAKER", "NEW", placed["orderListId"], "0.10000000")])
        equal((stop["workingTime"], limit["workingTime"], limit["clientOrderId"]), (-1, placed["transactionTime"], "high"))
        equal(placed["orders"], [{name: o[name] for name in ("symbol", "orderId", "clientOrderId")} for o in (stop, limit)])
        equal(a.events(3), [(stop["orderId"], "NEW", "NEW"), (limit["orderId"], "NEW", "NEW"), (placed["orderListId"], "EXEC_STARTED", "EXECUTING")])
        equal(a.locked("BTC"), Decimal("0.1"))  # once for both
        one = {name: value for name, value in placed.items() if name != "orderReports"}
        equal(a.ok("GET", "orderList", orderListId=placed["orderListId"]), one)
        equal(a.ask("orderList.status", origClientOrderId="first")["result"], one)
        equal((a.ok("GET", "openOrderList"), a.ask("openOrderLists.status")["result"], a.ask("allOrderLists")["result"]), ([one], [one], [one]))
        equal(len(a.ok("GET", "openOrders", symbol="BTCUSDT")), 2)
        a.client.refused(-2010, "POST", "orderList/oco", words="Duplicate", **SELL, listClientOrderId="first")
        a.client.refused(-2010, "POST", "orderList/oco", words="Duplicate", **SELL, aboveClientOrderId="high")
        gone = a.ok("DELETE", "orderList", symbol="BTCUSDT", listClientOrderId="first", newClientOrderId="gone")
        equal((gone["listStatusType"], gone["listOrderStatus"]), ("ALL_DONE", "ALL_DONE"))
        equal([(o["orderId"], o["status"], o["clientOrderId"]) for o in gone["orderReports"]],
              [(stop["orderId"], "CANCELED", "gone"), (limit["orderId"], "CANCELED", "gone")])
        equal(a.events(3), [(stop["orderId"], "CANCELED", "CANCELED"), (limit["orderId"], "CANCELED", "CANCELED"),
                            (placed["orderListId"], "ALL_DONE", "ALL_DONE")])
        equal((a.locked("BTC"), a.ok("GET", "openOrderList"), len(a.ok("GET", "allOrderList"))), (0, [], 1))
        a.client.refused(-2011, "DELETE", "orderList", words="Unknown order list", symbol="BTCUSDT", orderListId=placed["orderListId"])
        a.client.refused(-2018, "GET", "orderList", words="does not exist", orderListId=77)
        a.client.refused(-1102, "GET", "orderList", words="orderListId")

        second = a.ask("orderList.place.oco", **BUY)["result"]
        equal(a.locked("USDT"), Decimal("7100"))  # what the dearer one costs
        amended = a.ok("PUT", "order/amend/keepPriority", symbol="BTCUSDT", orderId=second["orders"][1]["orderId"], newQty="0.05")
        equal((amended["listStatus"]["listOrderStatus"], amended["listStatus"]["orders"][1]["clientOrderId"]), ("EXECUTING", amended["amendedOrder"]["clientOrderId"]))
        equal([o["origQty"] for o in a.ok("GET", "openOrders", symbol="BTCUSDT")], ["0.05000000"] * 2)
        equal(a.locked("USDT"), Decimal("3550"))
        gone = a.ask("order.cancel", symbol="BTCUSDT", orderId=second["orders"][0]["orderId"])["result"]
        equal((gone["orderListId"], [o["status"] for o in gone["orderReports"]]), (second["orderListId"], ["CANCELED"] * 2))
        third = a.ok("POST", "orderList/oco", **SELL)
        alone = a.ok("POST", "order", **order())["orderId"]
        gone = a.ok("DELETE", "openOrders", symbol="BTCUSDT")
        equal([(o["orderListId"], o.get("orderId")) for o in gone], [(third["orderListId"], None), (-1, alone)])
        equal((a.locked("USDT"), a.locked("BTC")), (0, 0))
        equal(a.ok("GET", "allOrderList", limit=2, fromId=second["orderListId"])[1]["orderListId"], third["orderListId"])
        a.client.refused(-1128, "GET", "allOrderList", fromId=1, startTime=1)
        a.close()
        stream.close()


def test_delisted():
    """A list outlives its symbol."""
    with Venue(PROGRAM, *STILL) as v:
        stream, _ = standing(v)
        a = Account(v, "any")
        placed = a.ok("POST", "orderList/oco", **SELL)
        del placed["orderReports"]
        v.fault("delist@0s:BTCUSDT")
        equal((a.ok("GET", "openOrderList"), a.ok("GET", "allOrderList"), a.ok("GET", "orderList", orderListId=placed["orderListId"])),
              ([placed], [placed], placed))
        a.client.refused(-1121, "DELETE", "orderList", symbol="BTCUSDT", orderListId=placed["orderListId"])
        a.close()
        stream.close()


def test_refused():
    """What is no pair, or no list."""
    with Venue(PROGRAM, *STILL) as v:
        stream, _ = standing(v)
        a = Account(v, "any")
        profit = {"Type": "TAKE_PROFIT", "StopPrice": "70000.00", "Price": None}

        def leg(side, **values):
            return {side + name: value for name, value in values.items()}

        maker = {"Type": "LIMIT_MAKER", "StopPrice": None, "Price": "50000.00", "TimeInForce": None}
        stop = {"Type": "STOP_LOSS", "Price": None, "TimeInForce": None}
        for code, base, more in (
                (-1168, SELL, leg("below", **maker)), (-1165, BUY, {**leg("above", **{**maker, "Price": "70000.00"}), **leg("below", **stop, StopPrice="50000.00")}),
                (-1166, SELL, {**leg("above", **stop, StopPrice="70000.00"), **leg("below", **maker)}),
                (-1196, BUY, leg("below", **stop, StopPrice="50000.00")), (-1197, SELL, leg("above", **stop, StopPrice="70000.00")),
                (-1198, BUY, leg("above", **profit, TimeInForce=None)), (-1199, SELL, leg("below", **{**profit, "StopPrice": "50000.00"})),
                (-1116, SELL, {"aboveType": "LIMIT", "aboveTimeInForce": "GTC"}), (-1102, SELL, {"abovePrice": None}), (-1102, SELL, {"belowType": None}),
                (-1102, SELL, {"belowStopPrice": None}), (-1102, SELL, {"quantity": None}), (-1102, SELL, {"side": None}), (-1106, SELL, {"belowPrice": "1"}),
                (-2010, SELL, {"abovePrice": "50000.00"}), (-2010, SELL, {"belowStopPrice": "69000.00"}), (-2010, BUY, {"quantity": "30"}),
                (-1013, SELL, {"abovePrice": "70000.001"}), (-1104, SELL, {"color": "red"}), (-1121, SELL, {"symbol": "XYZUSDT"})):
            a.client.refused(code, "POST", "orderList/oco", **{**base, **more})
        a.client.refused(-2010, "POST", "orderList/oco", words="relationship of the prices", **{**SELL, "abovePrice": "50000.00"})
        a.client.refused(-2010, "POST", "orderList/oco", words="Pegged", **SELL, abovePegPriceType="PRIMARY_PEG")
        for code, path, base, more in ((-1116, "oto", OTO, {"workingType": "MARKET", "workingTimeInForce": None, "workingPrice": None}), (-1102, "oto", OTO, {"workingTimeInForce": None}),
                                       (-1102, "oto", OTO, {"pendingQuantity": None}), (-1104, "oto", OTO, {"pendingQuoteOrderQty": "5"}),
                                       (-2010, "otoco", OTOCO, {"pendingBelowStopPrice": "71000.00"}), (-1102, "otoco", OTOCO, {"pendingAboveType": None}),
                                       (-1197, "otoco", OTOCO, {"pendingAboveType": "STOP_LOSS"}), (-2010, "oto", OTO, {"workingQuantity": "30"})):
            a.client.refused(code, "POST", "orderList/" + path, **{**base, **more})
        for path in ("opo", "opoco"):
            a.client.refused(-2010, "POST", "orderList/" + path, words="OPO orders are not supported", **OTO)
        equal((a.ok("GET", "allOrderList"), a.ok("GET", "openOrders"), a.locked("BTC")), ([], [], 0))
        equal(a.ok("GET", "rateLimit/order")[0]["count"], 0)
        a.ok("POST", "orderList/otoco", **OTOCO)
        equal(a.ok("GET", "rateLimit/order")[0]["count"], 3)
        a.close()
        stream.close()


def test_older():
    """The call that is no longer recommended: a limit maker and a stop, with a limit or without one."""
    with Venue(PROGRAM, *STILL) as v:
        stream, _ = standing(v)
        a = Account(v, "any")
        pair = {"symbol": "BTCUSDT", "side": "SELL", "quantity": "0.1", "price": "70000.00", "stopPrice": "50000.00", "newOrderRespType": "RESULT"}
        for more, types in (({}, ["STOP_LOSS", "LIMIT_MAKER"]), ({"stopLimitPrice": "49000.00", "stopLimitTimeInForce": "GTC"}, ["STOP_LOSS_LIMIT", "LIMIT_MAKER"]),
                            ({"side": "BUY", "price": "50000.00", "stopPrice": "70000.00"}, ["STOP_LOSS", "LIMIT_MAKER"])):
            equal([o["type"] for o in a.ok("POST", "order/oco", **{**pair, **more})["orderReports"]], types)
        a.client.refused(-1102, "POST", "order/oco", words="stopLimitTimeInForce", **pair, stopLimitPrice="49000.00")
        a.client.refused(-2010, "POST", "order/oco", words="relationship", **{**pair, "price": "50000.00"})
        equal(len(a.ask("orderList.place", **pair)["result"]["orderReports"]), 2)
        a.close()
        stream.close()


def test_released():
    """What the working order releases: nothing of a part; at once where it is filled at once, after the answer; and nothing once it has ended."""
    with Venue(PROGRAM, *STILL) as v:
        stream, depth = standing(v)
        a = Account(v, "any")
        best, there = depth["asks"][0]
        at_once = {**OTO, "workingPrice": depth["asks"][4][0], "workingQuantity": "0.001", "pendingQuantity": "0.00001"}
        placed = a.ok("POST", "orderList/oto", **at_once)
        number = placed["orderListId"]
        working, pending = placed["orderReports"]
        equal((working["status"], sum(Decimal(f["qty"]) for f in working["fills"]), pending["status"], pending["workingTime"], pending["fills"]),
              ("FILLED", Decimal("0.001"), "PENDING_NEW", -1, []))
        equal(a.states(placed), ["FILLED", "FILLED"])
        first, second = working["orderId"], pending["orderId"]
        equal(a.events(8), [(first, "NEW", "NEW"), (second, "NEW", "PENDING_NEW"), (number, "EXEC_STARTED", "EXECUTING"), (first, "TRADE", "FILLED"),
                            (number, "EXEC_STARTED", "EXECUTING"), (second, "NEW", "NEW"), (second, "TRADE", "FILLED"), (number, "ALL_DONE", "ALL_DONE")])
        more = {**at_once, "workingPrice": best, "workingQuantity": str(Decimal(there) + 5)}
        placed = a.ask("orderList.place.oto", **more)["result"]
        equal(a.states(placed), ["PARTIALLY_FILLED", "PENDING_NEW"])
        held = a.ok("GET", "order", symbol="BTCUSDT", orderId=placed["orders"][1]["orderId"])
        equal((held["isWorking"], held["workingTime"], held["orderListId"]), (False, -1, placed["orderListId"]))
        a.ok("DELETE", "order", symbol="BTCUSDT", orderId=placed["orders"][1]["orderId"])  # the held one
        equal((a.states(placed), a.ok("GET", "openOrderList")), (["CANCELED", "CANCELED"], []))
        placed = a.ok("POST", "orderList/oto", **{**at_once, "workingTimeInForce": "IOC", "workingPrice": "50000.00"})
        equal((a.states(placed), a.ok("GET", "openOrderList")), (["EXPIRED", "EXPIRED"], []))

        locked = a.locked("BTC")
        placed = a.ask("orderList.place.otoco", **OTOCO)["result"]
        equal((a.states(placed), a.locked("BTC")), (["NEW", "PENDING_NEW", "PENDING_NEW"], locked))
        equal([o["type"] for o in a.ok("GET", "openOrders", symbol="BTCUSDT")], ["LIMIT", "STOP_LOSS_LIMIT", "TAKE_PROFIT"])
        a.ok("DELETE", "order", symbol="BTCUSDT", orderId=placed["orders"][0]["orderId"])
        placed = a.ok("POST", "orderList/otoco", **{**OTOCO, "workingPrice": depth["asks"][-1][0]})
        equal((a.states(placed), a.locked("BTC")), (["FILLED", "NEW", "NEW"], locked + Decimal("0.09")))
        for _ in range(8):
            a.ok("POST", "order", **order(side="SELL", quantity="120", price="70000.00"))
        placed = a.ok("POST", "orderList/otoco", **{**OTOCO, "workingPrice": depth["asks"][-1][0], "pendingQuantity": "100"})
        equal((a.states(placed), a.locked("BTC")), (["FILLED", "EXPIRED", "EXPIRED"], locked + Decimal("960.09")))  # it has less
        a.close()
        stream.close()


def test_faults():
    """Every fourth order meets the fault, a list as well: it is placed once, or not at all, whatever the answer says."""
    for fault, answer, placed in (("order:5xx-done", (504, -1007), 1), ("order:5xx-not-done", (504, -1007), 0), ("order:late:300ms", (504, -1007), 1),
                                  ("order:twice", (400, -2010), 1), ("order:lost-answer", None, 1), ("order:lost-request", None, 0)):
        with Venue(PROGRAM, *STILL, "--fault", fault) as v:
            a = Client(v, "any", Hmac("any"))
            for _ in range(3):
                a.ok("POST", "order", **order())
            try:
                status, body = a.call("POST", "orderList/oco", **SELL, listClientOrderId="hit")
                got = status, body["code"]
            except (http.client.HTTPException, OSError):
                got = None
            equal(got, answer, fault)
            if placed:
                until(lambda: a.ok("GET", "openOrderList"), f"the list, with {fault}")
            equal(len(a.ok("GET", "allOrderList")), placed, fault)
            equal(a.balances()["BTC"][1], Decimal("0.1") * placed, fault)


def test_plays():
    """While the market plays: an order of a pair that is filled or triggered ends the other, and what a fill releases works."""
    with Venue(PROGRAM, "--synthetic", "7", "--from", "2024-08-08T23:00:00Z", "--speed", "max", "--fault", "hold@1s") as v:
        a, s = Client(v, "any", Hmac("any")), v.streams("btcusdt@trade")
        s.message()  # it stands still after a second
        price = Decimal(v.rest("/api/v3/trades?symbol=BTCUSDT&limit=1")[0]["price"])
        begin = a.balances()

        def near(bips):
            return str((price * (10000 + bips) / 10000).quantize(Decimal("0.01")))

        wide = {"aboveType": "LIMIT_MAKER", "abovePrice": near(3000), "belowType": "STOP_LOSS", "belowStopPrice": near(-3000)}
        high = a.ok("POST", "orderList/oco", **{**SELL, **wide, "abovePrice": near(1)})
        low = a.ok("POST", "orderList/oco", **{**SELL, **wide, "belowStopPrice": near(-1)})
        oto = a.ok("POST", "orderList/oto", **{**OTO, "workingPrice": near(-1), "pendingQuantity": "0.05"})
        v.fault("none")

        def all_done():
            for _ in range(500):
                s.message()
            return a.ok("GET", "openOrderList") == []

        until(all_done, "the end of three lists")
        states = {name: [a.ok("GET", "order", symbol="BTCUSDT", orderId=o["orderId"])["status"] for o in of["orders"]]
                  for name, of in (("high", high), ("low", low), ("oto", oto))}
        equal(states, {"high": ["EXPIRED", "FILLED"], "low": ["FILLED", "EXPIRED"], "oto": ["FILLED", "FILLED"]})
        base = sum((Decimal(t["qty"]) - Decimal(t["commission"])) if t["isBuyer"] else -Decimal(t["qty"]) for t in a.ok("GET", "myTrades", symbol="BTCUSDT"))
        end = a.balances()
        equal((sum(end["BTC"]) - sum(begin["BTC"]), end["BTC"][1], end["USDT"][1]), (base, 0, 0))
        s.close()


run_tests(globals())
