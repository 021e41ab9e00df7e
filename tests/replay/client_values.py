"""What clients from PyPI received of papertape-replay, as they see it, printed as one line of JSON: for clients.py, which
holds it against the replay's transcript. Runs in the venv of the oracles.

usage: client_values.py binance|ccxt|cryptofeed MESSAGES, with PT_URL and PT_CA set"""

import asyncio
import json
import os
import sys

os.environ["SSL_CERT_FILE"] = os.environ["REQUESTS_CA_BUNDLE"] = os.environ["PT_CA"]  # before the imports
URL, CA, MESSAGES = os.environ["PT_URL"], os.environ["PT_CA"], int(sys.argv[2])
TOP = 20  # levels of a book's side
PATIENCE_S = 60  # for one message: the venue waits for the slowest client, which may not have been started yet


async def binance():
    from binance import AsyncClient, BinanceSocketManager
    from binance.ws.reconnecting_websocket import ReconnectingWebsocket

    ReconnectingWebsocket.TIMEOUT = PATIENCE_S
    class Rest(AsyncClient):
        API_URL = f"https://{URL}/api"

    class Sockets(BinanceSocketManager):
        STREAM_URL = f"wss://{URL}/"

    c = await Rest.create("k", "s")
    out = {"exchangeInfo": await c.get_exchange_info(), "messages": [],
           "klines": await c.get_klines(symbol="BTCUSDT", interval="1m", limit=100),
           "depth": await c.get_order_book(symbol="BTCUSDT", limit=1000)}
    streams = ["btcusdt@trade", "btcusdt@bookTicker", "ethusdt@depth@100ms", "btcusdt@kline_1s", "ethusdt@aggTrade"]
    async with Sockets(c, max_queue_size=1 << 20).multiplex_socket(streams) as w:
        for _ in range(MESSAGES):
            out["messages"].append(await asyncio.wait_for(w.recv(), PATIENCE_S))
    await c.close_connection()
    return out


async def ccxt():
    import ccxt.pro

    y = ccxt.pro.binance({"cafile": CA, "options": {"fetchMarkets": {"types": ["spot"]}, "fetchMargins": False,
                                                    "fetchCurrencies": False}})
    y.urls["api"].update(public=f"https://{URL}/api/v3", v1=f"https://{URL}/api/v1")
    y.urls["api"]["ws"]["spot"] = f"wss://{URL}/ws"
    markets = await y.load_markets()
    out = {"markets": {m["id"]: {"base": m["base"], "quote": m["quote"], "tick": m["precision"]["price"],
                                 "step": m["precision"]["amount"], "least": m["limits"]["amount"]["min"]} for m in markets.values()},
           "klines": await y.fetch_ohlcv("ETH/USDT", "1m", limit=50), "trades": [], "books": []}
    trades = {}
    while len(trades) < MESSAGES // 10:
        for t in await asyncio.wait_for(y.watch_trades("BTC/USDT"), PATIENCE_S):
            trades[t["id"]] = [t["id"], t["price"], t["amount"], t["timestamp"], t["side"]]
    out["trades"] = list(trades.values())
    for _ in range(10):
        b = await asyncio.wait_for(y.watch_order_book("BTC/USDT"), PATIENCE_S)
        out["books"].append([b["nonce"], *([list(level) for level in b[side][:TOP]] for side in ("bids", "asks"))])
    await y.close()
    return out


def cryptofeed():
    from cryptofeed import FeedHandler
    from cryptofeed.connection import RestEndpoint, Routes, WebsocketEndpoint
    from cryptofeed.defines import CANDLES, L2_BOOK, TICKER, TRADES
    from cryptofeed.exchanges import Binance

    class Feed(Binance):
        websocket_endpoints = [WebsocketEndpoint(f"wss://{URL}")]
        rest_endpoints = [RestEndpoint(f"https://{URL}", routes=Routes("/api/v3/exchangeInfo",
                                                                       l2book="/api/v3/depth?symbol={}&limit={}"))]

    out = {"trades": [], "ticker": [], "book": [], "candles": []}

    def receive(name, read):
        async def callback(x, _):
            out[name].append(read(x))
            if min(map(len, out.values())) >= 3 and len(out["trades"]) >= MESSAGES // 10:
                print(json.dumps(out), flush=True)
                os._exit(0)
        return callback

    def levels(side):
        return [[str(p), str(side[p])] for p in list(side.keys())[:TOP]]

    f = FeedHandler()
    f.add_feed(Feed(symbols=["BTC-USDT"], channels=[TRADES, TICKER, L2_BOOK, CANDLES], candle_closed_only=False, callbacks={
        TRADES: receive("trades", lambda t: [t.id, str(t.price), str(t.amount), t.side]),
        TICKER: receive("ticker", lambda t: [str(t.bid), str(t.ask)]),
        L2_BOOK: receive("book", lambda b: [b.sequence_number, levels(b.book.bids), levels(b.book.asks)]),
        CANDLES: receive("candles", lambda c: [str(c.open), str(c.high), str(c.low), str(c.close), str(c.volume), c.trades, c.closed]),
    }))
    asyncio.set_event_loop(asyncio.new_event_loop())
    f.run()


def main():
    if sys.argv[1] == "cryptofeed":
        cryptofeed()
    else:
        print(json.dumps(asyncio.run({"binance": binance, "ccxt": ccxt}[sys.argv[1]]())))


main()
