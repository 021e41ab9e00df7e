"""Orders by clients that are not ours, at papertape-replay: python-binance, ccxt or alpaca-py, whichever is named. A market order, one that rests and is
filled in part, one that is replaced and cancelled, refusals, user data; balances are the sum of the fills. Prints a JSON line.

usage: client_orders.py python-binance|ccxt|alpaca-py      PT_URL is HOST:PORT, PT_CA its certificate's authority"""
import asyncio
import json
import os
import sys
from decimal import Decimal

from order_client import STILL_MS

URL = os.environ["PT_URL"]
os.environ["SSL_CERT_FILE"] = os.environ["REQUESTS_CA_BUNDLE"] = os.environ["PT_CA"]  # before the imports
FAR, SYMBOL = "40000.00", "BTCUSDT"


def changes(trades):
    """What these trades do to both balances."""
    base = quote = Decimal(0)
    for t in trades:
        price, quantity, commission = (Decimal(t[name]) for name in ("price", "qty", "commission"))
        base += quantity - commission if t["isBuyer"] else -quantity
        quote += -price * quantity if t["isBuyer"] else price * quantity - commission
    return {"BTC": base, "USDT": quote}


def totals(account):
    return {b["asset"]: Decimal(b["free"]) + Decimal(b["locked"]) for b in account["balances"]}


async def python_binance():
    from binance import AsyncClient, BinanceSocketManager
    from binance.exceptions import BinanceAPIException

    class Rest(AsyncClient):
        API_URL, WS_API_URL = f"https://{URL}/api", f"wss://{URL}/ws-api/v3"

    class Sockets(BinanceSocketManager):
        STREAM_URL = f"wss://{URL}/"

    async def refused(call):
        try:
            await call
        except BinanceAPIException as error:
            return error.code
        raise AssertionError("it was accepted")

    client = await Rest.create("k", "s")
    sockets, seen, lists, out = Sockets(client), [], [], {}
    async with sockets.user_socket() as user, sockets.multiplex_socket(["btcusdt@trade"]) as trades:
        await asyncio.wait_for(trades.recv(), 60)
        while (await client.get_server_time())["serverTime"] != STILL_MS:  # what rests is then filled by nothing
            await asyncio.sleep(0.01)
        begin = totals(await client.get_account())
        bought = await client.create_order(symbol=SYMBOL, side="BUY", type="MARKET", quantity="0.5")
        out["market"] = bought["status"]
        book = await client.get_order_book(symbol=SYMBOL, limit=5)
        price, there = book["bids"][0]
        partial = await client.create_order(symbol=SYMBOL, side="SELL", type="LIMIT", timeInForce="GTC", price=price,
                                            quantity=str(Decimal(there) + 1))
        out["partial"] = partial["status"]
        out["cancelled"] = (await client.cancel_order(symbol=SYMBOL, orderId=partial["orderId"]))["status"]
        rests = await client.create_order(symbol=SYMBOL, side="BUY", type="LIMIT", timeInForce="GTC", price=FAR, quantity="0.1")
        replaced = await client.cancel_replace_order(symbol=SYMBOL, side="BUY", type="LIMIT", timeInForce="GTC", price="41000.00", quantity="0.1",
                                                     cancelReplaceMode="STOP_ON_FAILURE", cancelOrderId=rests["orderId"])
        out["replaced"] = replaced["newOrderResponse"]["status"]
        out["open"] = len(await client.get_open_orders(symbol=SYMBOL))
        out["by_socket"] = (await client.ws_cancel_order(symbol=SYMBOL, orderId=replaced["newOrderResponse"]["orderId"]))["status"]
        out["refused"] = [await refused(client.create_order(symbol=SYMBOL, side="BUY", type="LIMIT", timeInForce="GTC", price=FAR, quantity="100")),
                          await refused(client.create_order(symbol=SYMBOL, side="BUY", type="LIMIT", timeInForce="GTC", price="1.001", quantity="1")),
                          await refused(client.cancel_order(symbol=SYMBOL, orderId=999999))]
        out["lists"] = await binance_lists(client)
        while not seen or lists[-3:] != ["ALL_DONE"] * 3:
            event = await asyncio.wait_for(user.recv(), 60)
            if event["e"] == "executionReport":
                seen.append([event["x"], event["i"]])
            if event["e"] == "listStatus":
                lists.append(event["l"])
    out["events"] = sorted({kind for kind, _ in seen})
    end, fills = totals(await client.get_account()), changes(await client.get_my_trades(symbol=SYMBOL))
    out["sums"] = all(end[asset] - begin[asset] == fills[asset] for asset in fills)
    await client.close_connection()
    return out


async def binance_lists(client):
    """A pair over REST, one over the WebSocket API, and what another order releases; each is asked for and cancelled."""
    pair = {"symbol": SYMBOL, "side": "SELL", "quantity": "0.1", "aboveType": "LIMIT_MAKER", "abovePrice": "70000.00", "belowType": "STOP_LOSS_LIMIT",
            "belowStopPrice": "50000.00", "belowPrice": "49900.00", "belowTimeInForce": "GTC"}
    first, second = await client.create_oco_order(**pair), await client.ws_create_oco_order(**pair)
    third = await client.v3_post_order_list_otoco(
        symbol=SYMBOL, workingType="LIMIT", workingSide="BUY", workingPrice=FAR, workingQuantity="0.1", workingTimeInForce="GTC", pendingSide="SELL",
        pendingQuantity="0.09", pendingAboveType="LIMIT_MAKER", pendingAbovePrice="70000.00", pendingBelowType="STOP_LOSS", pendingBelowTrailingDelta=200)
    out = [[x["contingencyType"], x["listOrderStatus"], len(x["orders"])] for x in (first, second, third)]
    out.append([len(await client.get_open_oco_orders()), (await client.ws_get_oco_order(orderListId=second["orderListId"]))["listOrderStatus"]])
    ended = [await client.v3_delete_order_list(symbol=SYMBOL, orderListId=first["orderListId"]),
             await client.ws_cancel_oco_order(symbol=SYMBOL, orderListId=second["orderListId"]),
             await client.v3_delete_order_list(symbol=SYMBOL, orderListId=third["orderListId"])]
    return out + [[x["listOrderStatus"] for x in ended]]


def ccxt_binance():
    import ccxt
    x = ccxt.binance({"requests_trust_env": True, "apiKey": "c", "secret": "s",
                      "options": {"fetchMarkets": {"types": ["spot"]}, "fetchMargins": False, "fetchCurrencies": False}})
    x.urls["api"].update(public=f"https://{URL}/api/v3", private=f"https://{URL}/api/v3", v1=f"https://{URL}/api/v1")
    out, begin = {}, x.fetch_balance()
    out["market"] = x.create_order("BTC/USDT", "market", "buy", 0.1)["status"]
    rests = x.create_order("BTC/USDT", "limit", "buy", 0.1, float(FAR))
    edited = x.edit_order(rests["id"], "BTC/USDT", "limit", "buy", 0.1, 41000)
    out["replaced"] = [x.fetch_order(rests["id"], "BTC/USDT")["status"], edited["status"]]
    out["open"] = len(x.fetch_open_orders("BTC/USDT"))
    out["cancelled"] = x.cancel_order(edited["id"], "BTC/USDT")["status"]
    out["refused"] = []
    for error, call in ((ccxt.InsufficientFunds, lambda: x.create_order("BTC/USDT", "limit", "buy", 100, float(FAR))),
                        (ccxt.OrderNotFound, lambda: x.cancel_order("999999", "BTC/USDT"))):
        try:
            call()
        except error:
            out["refused"].append(error.__name__)
    pair = x.private_post_orderlist_oco({"symbol": SYMBOL, "side": "SELL", "quantity": "0.1", "aboveType": "LIMIT_MAKER", "abovePrice": "70000.00",
                                         "belowType": "STOP_LOSS", "belowStopPrice": "50000.00"})
    older = x.private_post_order_oco({"symbol": SYMBOL, "side": "SELL", "quantity": "0.1", "price": "70000.00", "stopPrice": "50000.00"})
    out["lists"] = [len(x.fetch_open_orders("BTC/USDT")), len(x.private_get_openorderlist()),
                    [x.private_delete_orderlist({"symbol": SYMBOL, "orderListId": of["orderListId"]})["listOrderStatus"] for of in (pair, older)]]
    trails = x.create_order("BTC/USDT", "market", "sell", 0.1, params={"trailingPercent": 1, "stopLossOrTakeProfit": "stopLoss"})
    out["trailing"] = [trails["status"], x.cancel_order(trails["id"], "BTC/USDT")["status"]]
    end, base = x.fetch_balance(), Decimal(0)
    for t in x.fetch_my_trades("BTC/USDT"):
        base += Decimal(str(t["amount"])) - Decimal(str(t["fee"]["cost"]))
    out["sums"] = abs(Decimal(str(end["total"]["BTC"])) - Decimal(str(begin["total"]["BTC"])) - base) < Decimal("1e-8")
    return out


def alpaca():
    import threading
    import time
    from alpaca.common.exceptions import APIError
    from alpaca.trading.client import TradingClient
    from alpaca.trading.enums import OrderSide, TimeInForce
    from alpaca.trading.requests import LimitOrderRequest, MarketOrderRequest, ReplaceOrderRequest
    from alpaca.trading.stream import TradingStream
    client, stream = TradingClient("a", "s", paper=True, url_override=f"https://{URL}"), TradingStream("a", "s", url_override=f"wss://{URL}/stream")
    seen, out, good = [], {}, {"time_in_force": TimeInForce.GTC}

    async def update(event):
        seen.append((str(event.event), event.qty, event.price))

    def until(condition):
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, seen
            time.sleep(0.05)

    def refused(request):
        try:
            client.submit_order(request)
        except APIError as error:
            return error.code
        raise AssertionError("it was accepted")

    def far(**more):
        return LimitOrderRequest(symbol="BTC/USD", qty=0.1, side=OrderSide.BUY, limit_price=1000, **good, **more)

    stream.subscribe_trade_updates(update)
    threading.Thread(target=stream.run, daemon=True).start()
    for number in range(60):  # no answer says that the stream listens: until an order's update is there
        client.cancel_order_by_id(client.submit_order(far()).id)
        if seen:
            break
        time.sleep(0.5)
    begin = Decimal(client.get_account().cash)
    bought = client.submit_order(MarketOrderRequest(symbol="BTC/USD", qty=0.5, side=OrderSide.BUY, **good))
    out["market"], price = bought.status.value, Decimal(bought.filled_avg_price)
    held, cash = client.get_open_position("BTCUSD"), Decimal(client.get_account().cash)
    out["sums"] = Decimal(held.qty) == Decimal("0.5") * (1 - Decimal("0.0025")) and begin - cash == price * Decimal("0.5")
    rests = client.submit_order(far(client_order_id="mine"))
    replaced = client.replace_order_by_id(rests.id, ReplaceOrderRequest(limit_price=1100))
    out["replaced"] = [client.get_order_by_id(rests.id).status.value, replaced.status.value, replaced.replaces == rests.id]
    out["open"] = len(client.get_orders())
    out["refused"] = [refused(MarketOrderRequest(symbol="BTC/USD", qty=1000, side=OrderSide.BUY, **good)),
                      refused(MarketOrderRequest(symbol="ETH/USD", qty=1, side=OrderSide.SELL, **good)), refused(far(client_order_id="mine"))]
    client.cancel_order_by_id(replaced.id)
    until(lambda: seen[-1][0] == "canceled" and any(event == "replaced" for event, *_ in seen))
    out["fill"] = [list(event) for event in seen if event[0] == "fill"] == [["fill", 0.5, float(price)]]
    out["events"] = sorted({event for event, *_ in seen})
    return out


CLIENTS = {"python-binance": lambda: asyncio.run(python_binance()), "ccxt": ccxt_binance, "alpaca-py": alpaca}
print(json.dumps(CLIENTS[sys.argv[1]]()), flush=True)
os._exit(0)  # alpaca-py's stream has a thread of its own
