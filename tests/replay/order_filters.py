"""Every filter that Binance's documents name, and its other refusals, at papertape-replay by what provokes them at the venue, over REST and the
WebSocket API; icebergs and stops that trail. With Python's standard library.

usage: order_filters.py PROGRAM"""

import subprocess
import sys
import tempfile
from contextlib import contextmanager
from decimal import Decimal

from order_client import STILL, Client, Hmac, equal, market, order, standing
from venue import Venue, run_tests

PROGRAM = sys.argv[1]
STOP = {"symbol": "BTCUSDT", "side": "SELL", "type": "STOP_LOSS", "quantity": "0.1"}
ETHER = {"symbol": "ETHUSDT", "side": "SELL", "type": "LIMIT", "timeInForce": "GTC", "quantity": "1", "price": "4000.00"}


def iceberg(**more):
    return order(**{"quantity": "0.01", "icebergQty": "0.002", **more})


def oco(**more):
    return {"symbol": "BTCUSDT", "side": "SELL", "quantity": "0.1", "aboveType": "LIMIT_MAKER", "abovePrice": "70000.00", "belowType": "STOP_LOSS",
            "belowStopPrice": "50000.00", **more}


def trailing(**more):
    return {**STOP, **more}


class Account:
    """One key, asked over REST and the WebSocket API in the same way."""

    def __init__(self, v):
        self.client, self.socket = Client(v, "h", Hmac("s3cret")), v.socket("/ws-api/v3")

    def ask(self, method, **params):
        answer = self.socket.ask(method, self.client.signed(**{name: value for name, value in params.items() if value is not None}))[0]
        return answer["status"], answer.get("result", answer.get("error"))

    def refused(self, want, calls, **params):
        """Both ways of a call refuse it with that status, code and message."""
        for got in (self.client.call(*calls[:2], **params), self.ask(calls[2], **params)):
            equal((got[0], got[1].get("code"), got[1].get("msg")), want, f"{calls} {params}")

    def place(self, **params):
        return self.client.ok("POST", "order", **params)


PLACE, AMEND, LIST = ("POST", "order", "order.place"), ("PUT", "order/amend/keepPriority", "order.amend.keepPriority"), ("POST", "orderList/oco", "orderList.place.oco")


@contextmanager
def account(*args, keys="h hmac s3cret\n"):
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as file:
        file.write(keys)
        file.flush()
        with Venue(PROGRAM, *STILL, "--keys", file.name, *args) as v:
            stream, _ = standing(v)
            a = Account(v)
            yield v, a
            a.socket.close()
            stream.close()


def listed(v, name):
    return next((f for f in v.rest("/api/v3/exchangeInfo?symbol=BTCUSDT")["symbols"][0]["filters"] if f["filterType"] == name), None)


# filter, what --filter sets it to (None: as it is), what is placed before, the request that it refuses, and one that it does not
NUMBERS = (
    ("PRICE_FILTER", None, (), order(price="50000.001"), order(price="50000.01")),
    ("PRICE_FILTER", None, (), trailing(stopPrice="50000.001"), trailing(stopPrice="50000.01")),
    ("PERCENT_PRICE_BY_SIDE", None, (), order(price="1000.00", quantity="1"), order(price="30000.00")),
    ("LOT_SIZE", None, (), order(quantity="0.000001"), None),
    ("LOT_SIZE", None, (), order(quantity="10000"), None),
    ("LOT_SIZE", None, (), iceberg(icebergQty="0.0020001"), iceberg()),
    ("NOTIONAL", None, (), order(quantity="0.00005"), None),
    ("NOTIONAL", None, (), order(quantity="8000"), None),
    ("ICEBERG_PARTS", None, (), order(quantity="0.01", icebergQty="0.00099"), order(quantity="0.01", icebergQty="0.001")),
    ("ICEBERG_PARTS", "3", (), order(quantity="0.01", icebergQty="0.003"), order(quantity="0.009", icebergQty="0.003")),
    ("TRAILING_DELTA", None, (), trailing(trailingDelta=9), trailing(trailingDelta=10)),
    ("TRAILING_DELTA", None, (), trailing(trailingDelta=2001), trailing(trailingDelta=2000)),
    ("TRAILING_DELTA", None, (), trailing(trailingDelta=2001, type="TAKE_PROFIT", stopPrice="70000.00"), None),
    ("MAX_NUM_ORDERS", "2", (order(), trailing(stopPrice="50000.00")), order(), ETHER),
    ("MAX_NUM_ALGO_ORDERS", "2", (trailing(stopPrice="50000.00"), trailing(trailingDelta=100)), trailing(stopPrice="49000.00"), order()),
    ("MAX_NUM_ICEBERG_ORDERS", "1", (iceberg(),), iceberg(), order()),
    ("MAX_POSITION", "1001", (order(quantity="0.6"),), order(quantity="0.5"), order(quantity="0.4")),  # of 1000 that it has
    ("EXCHANGE_MAX_NUM_ORDERS", "2", (order(), ETHER), order(), None),
    ("EXCHANGE_MAX_NUM_ALGO_ORDERS", "1", (trailing(stopPrice="50000.00"),), {**ETHER, "type": "TAKE_PROFIT_LIMIT", "stopPrice": "4000.00"}, ETHER),
    ("EXCHANGE_MAX_NUM_ICEBERG_ORDERS", "1", (iceberg(),), {**ETHER, "icebergQty": "0.5"}, ETHER),
    ("MAX_ASSET:BTC", "2.5", (), order(side="SELL", quantity="2.6", price="70000.00"), order(side="SELL", quantity="2.5", price="70000.00")),
    ("MAX_ASSET:USDT", "1000", (), order(quantity="0.1"), order(quantity="0.02")),
)


def test_numbers():
    with account() as (v, a):
        for name, to, before, refused, good in NUMBERS:
            if to is None:
                provoke(a, name, before, refused, good)
        name = "MARKET_LOT_SIZE"
        most = listed(v, name)["maxQty"]
        a.refused((400, -1013, f"Filter failure: {name}"), PLACE, **market("SELL", str(Decimal(most) + 1)))
        equal(a.client.ok("POST", "order/test", **market("SELL", most)), {})
    for name, to, before, refused, good in NUMBERS:
        if to is not None:
            with account("--filter", f"{name}={to}") as (v, a):
                lists(v, a, name, to)
                provoke(a, name, before, refused, good)


def provoke(a, name, before, refused, good):
    for terms in before:
        a.place(**terms)
    a.refused((400, -1013, f"Filter failure: {name.split(':')[0]}"), PLACE, **refused)
    if good:
        equal(a.client.ok("POST", "order/test", **good), {}, name)


def lists(v, a, name, to):
    """Where the venue lists it: exchangeInfo has the exchange's and the symbol's, myFilters those of assets too."""
    kind, _, asset = name.partition(":")
    of_exchange, mine = v.rest("/api/v3/exchangeInfo")["exchangeFilters"], a.client.ok("GET", "myFilters", symbol="BTCUSDT")
    equal(a.ask("myFilters", symbol="BTCUSDT"), (200, mine))
    equal((mine["exchangeFilters"], mine["symbolFilters"]), (of_exchange, v.rest("/api/v3/exchangeInfo?symbol=BTCUSDT")["symbols"][0]["filters"]))
    where = "assetFilters" if asset else "exchangeFilters" if kind.startswith("EXCHANGE") else "symbolFilters"
    found = [f for f in mine[where] if f["filterType"] == kind]
    equal((len(found), [Decimal(str(value)) for field, value in found[0].items() if field not in ("filterType", "asset")]), (1, [Decimal(to)]), name)
    equal(found[0].get("asset", ""), asset)
    if asset:
        equal(a.client.ok("GET", "myFilters", symbol="ETHUSDT")["assetFilters"], found if asset == "USDT" else [])


def test_amends():
    """MAX_NUM_ORDER_AMENDS, which has a code of its own."""
    name = "MAX_NUM_ORDER_AMENDS"
    with account("--filter", f"{name}=2") as (v, a):
        equal(listed(v, name), {"filterType": name, "maxNumOrderAmends": 2})
        one = {"symbol": "BTCUSDT", "orderId": a.place(**order())["orderId"]}
        a.client.ok("PUT", "order/amend/keepPriority", newQty="0.009", **one)
        equal(a.ask("order.amend.keepPriority", newQty="0.008", **one)[0], 200)
        a.refused((400, -2038, f"Filter failure: {name}"), AMEND, newQty="0.007", **one)
        rows = a.client.ok("GET", "order/amendments", **one)
        equal([(r["orderId"], r["origQty"], r["newQty"]) for r in rows],
              [(one["orderId"], "0.01000000", "0.00900000"), (one["orderId"], "0.00900000", "0.00800000")])
        equal((rows[0]["newClientOrderId"], a.client.ok("GET", "order", **one)["clientOrderId"]), (rows[1]["origClientOrderId"], rows[1]["newClientOrderId"]))
        equal(a.ask("order.amendments", fromExecutionId=rows[1]["executionId"], **one), (200, rows[1:]))
        equal(a.client.ok("GET", "order/amendments", limit=1, **one), rows[:1])
        a.client.refused(-2013, "GET", "order/amendments", symbol="BTCUSDT", orderId=77)
        a.client.refused(-1102, "GET", "order/amendments", words="orderId", symbol="BTCUSDT")
        a.refused((400, -2038, "Order amend (quantity increase) is not supported."), AMEND, newQty="0.02", symbol="BTCUSDT", orderId=a.place(**order())["orderId"])


def test_lists():
    """The numbers of order lists; and a pair counts as two orders, one of them with a stop."""
    one = oco(listClientOrderId="one")
    for name in ("MAX_NUM_ORDER_LISTS", "EXCHANGE_MAX_NUM_ORDER_LISTS"):
        with account("--filter", f"{name}=1") as (v, a):
            lists(v, a, name, "1")
            a.client.ok("POST", "orderList/oco", **one)
            a.refused((400, -1013, f"Filter failure: {name}"), LIST, **oco())
            ether = oco(symbol="ETHUSDT", abovePrice="4000.00", belowStopPrice="1000.00")
            if name.startswith("EXCHANGE"):
                a.refused((400, -1013, f"Filter failure: {name}"), LIST, **ether)
            else:
                a.client.ok("POST", "orderList/oco", **ether)
    for name, most in (("MAX_NUM_ORDERS", 3), ("EXCHANGE_MAX_NUM_ORDERS", 3), ("MAX_NUM_ALGO_ORDERS", 1)):
        with account("--filter", f"{name}={most}") as (v, a):
            a.client.ok("POST", "orderList/oco", **one)
            a.refused((400, -1013, f"Filter failure: {name}"), LIST, **oco())
            equal(len(a.client.ok("GET", "openOrders")), 2)


def test_codes():
    """The other refusals, by what provokes them, in both ways."""
    far, one = order(quantity="30"), {"symbol": "BTCUSDT", "orderId": 77}
    query, cancel = ("GET", "order", "order.status"), ("DELETE", "order", "order.cancel")
    denied = "Invalid API-key, IP, or permissions for action."
    with account(keys="h hmac s3cret\nreader hmac other read-only\n") as (v, a):
        now, signer = a.client.now_ms(), a.client.signer
        a.refused((400, -1021, "Timestamp for this request was 1000ms ahead of the server's time."), query, timestamp=now + 1001, **one)
        a.refused((400, -1021, "Timestamp for this request is outside of the recvWindow."), query, timestamp=now - 5001, **one)
        a.refused((400, -2013, "Order does not exist."), query, timestamp=now + 999, **one)  # which are good
        a.refused((400, -2013, "Order does not exist."), query, timestamp=now - 4999, **one)
        a.refused((400, -2011, "Unknown order sent."), cancel, **one)
        a.refused((400, -2010, "Account has insufficient balance for requested action."), PLACE, **far)
        a.refused((400, -1121, "Invalid symbol."), PLACE, **{**far, "symbol": "XYZUSDT"})
        for key, secret, calls, want in (("h", "wrong", query, (400, -1022, "Signature for this request is not valid.")), ("x", "other", query, (401, -2015, denied)),
                                         ("reader", "other", PLACE, (401, -2015, denied)), ("!", "other", query, (401, -2014, "API-key format invalid."))):
            a.client.key, a.client.signer = key, Hmac(secret)
            a.refused(want, calls, **(order() if calls is PLACE else one))
        a.client.key, a.client.signer = "h", signer
        for _ in range(100):
            a.place(**order(newOrderRespType="ACK"))
        a.refused((429, -1015, "Too many new orders; current limit is 100 orders per 10 SECOND."), PLACE, **order())
        a.refused((429, -1015, "Too many new orders; current limit is 100 orders per 10 SECOND."), LIST, **oco())


def test_usual():
    """What exchangeInfo lists without --filter; 0 takes one away; and what --filter refuses."""
    with Venue(PROGRAM, "--synthetic", "7", "--filter", "MAX_NUM_ORDER_LISTS=0") as v:
        info = v.rest("/api/v3/exchangeInfo?symbol=BTCUSDT")
        equal(info["exchangeFilters"], [])
        equal([f["filterType"] for f in info["symbols"][0]["filters"]],
              ["PRICE_FILTER", "LOT_SIZE", "ICEBERG_PARTS", "MARKET_LOT_SIZE", "TRAILING_DELTA", "PERCENT_PRICE_BY_SIDE", "NOTIONAL", "MAX_NUM_ORDERS",
               "MAX_NUM_ALGO_ORDERS", "MAX_NUM_ICEBERG_ORDERS", "MAX_NUM_ORDER_AMENDS"])
    for spec in ("MAX_NUM_ORDERS", "MAX_NUM_ORDERS=1.5", "MAX_NUM_ORDERS=-1", "LOT_SIZE=1", "MAX_ASSET:=1", "MAX_ASSET:ABCDEFGHIJKLMNOPQ=1", "MAX_POSITION=x"):
        ran = subprocess.run([PROGRAM, "--synthetic", "7", "--filter", spec], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 2 and f"--filter {spec}: a filter that counts and a number" in ran.stderr, ran.stderr


def test_icebergs():
    """What shows of an order is kept and said; and what is none."""
    with account() as (_, a):
        placed = a.place(**iceberg(newOrderRespType="RESULT"))
        equal(placed["icebergQty"], "0.00200000")
        equal(a.client.ok("GET", "order", symbol="BTCUSDT", orderId=placed["orderId"])["icebergQty"], "0.00200000")
        equal(a.client.ok("DELETE", "order", symbol="BTCUSDT", orderId=placed["orderId"])["icebergQty"], "0.00200000")
        for code, msg, more in ((-1106, "Parameter 'icebergQty' sent when not required.", {"type": "MARKET", "price": None, "timeInForce": None}),
                                (-2010, "Unsupported order combination", {"timeInForce": "IOC"}), (-2010, "IcebergQty exceeds QTY.", {"quantity": "0.001"})):
            a.refused((400, code, msg), PLACE, **{**iceberg(), **more})
        a.place(**iceberg(type="LIMIT_MAKER", timeInForce=None))
        a.place(**{**iceberg(type="STOP_LOSS_LIMIT"), "side": "SELL", "stopPrice": "50000.00"})


def test_trailing():
    """A stop's delta is kept and said; it or a price is needed, and of a stop alone."""
    with account() as (_, a):
        placed = a.place(**trailing(trailingDelta=150, newOrderRespType="RESULT"))
        equal((placed["trailingDelta"], placed["trailingTime"], placed["status"], "stopPrice" in placed), (150, -1, "NEW", False))
        both = a.place(**trailing(trailingDelta=150, stopPrice="50000.00", type="STOP_LOSS_LIMIT", timeInForce="GTC", price="49000.00", newOrderRespType="RESULT"))
        equal((both["trailingDelta"], both["stopPrice"]), (150, "50000.00000000"))
        queried = a.client.ok("GET", "order", symbol="BTCUSDT", orderId=placed["orderId"])
        equal((queried["trailingDelta"], queried["stopPrice"], queried["isWorking"]), (150, "0.00000000", False))
        a.refused((400, -1102, "Param 'stopPrice' or 'trailingDelta' must be sent, but both were empty/null!"), PLACE, **STOP)
        a.refused((400, -1106, "Parameter 'trailingDelta' sent when not required."), PLACE, **order(trailingDelta=100))


def test_follows():
    """While the market plays, a stop that trails works from the first trade on that is its delta below the best one since it was placed."""
    with Venue(PROGRAM, "--synthetic", "7", "--from", "2024-08-08T23:00:00Z", "--speed", "max", "--fault", "hold@1s") as v:
        a, s = Client(v, "any", Hmac("any")), v.streams("btcusdt@trade")
        s.message()  # it stands still after a second
        one = {"symbol": "BTCUSDT", "orderId": a.ok("POST", "order", **trailing(trailingDelta=10))["orderId"]}
        v.fault("none")
        trades, state = [], None
        while not state or state["status"] != "FILLED" or trades[-1]["T"] <= state["workingTime"]:
            trades += [s.message()["data"] for _ in range(50)]
            state = a.ok("GET", "order", **one)
        best = None
        for trade in trades:
            price = Decimal(trade["p"])
            best = max(best or price, price) if trade["T"] >= state["trailingTime"] else None
            if best and price <= best * (1 - Decimal(10) / 10000):
                break
        equal((trade["T"], state["trailingDelta"]), (state["workingTime"], 10))
        s.close()


run_tests(globals())
