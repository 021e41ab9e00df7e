"""alpaca-py, unmodified, against papertape-replay: what each of its streams received is, value by value, what the venue gives over
REST for the same time, which its REST clients read too.

usage: alpaca_py.py PROGRAM SHARED
Skipped (77) without the venv that PAPERTAPE_VENV names or the version below in it."""

import datetime
import json
import os
import subprocess
import sys

from venue import Venue

VERSION = "0.44.0"
SKIP = 77
PROGRAM, SHARED = sys.argv[1], os.environ.get("PAPERTAPE_SHARED", sys.argv[2])
KEYS = {"APCA-API-KEY-ID": "k", "APCA-API-SECRET-KEY": "s"}
SESSION = "2026-01-16T16:00:00Z"

# Prints what each stream got, times in nanoseconds.
STREAMS = """
import json, os, sys
os.environ['SSL_CERT_FILE'] = os.environ['PT_CA']
from alpaca.data.live import CryptoDataStream, StockDataStream
out = {}
for cls, path, symbols, n in ((StockDataStream, '/v2/test', ['FAKEPACA'], 300), (StockDataStream, '/v2/sip', ['AAPL', 'F'], 600),
                              (CryptoDataStream, '/v1beta3/crypto/us', ['BTC/USD', 'ETH/USD'], 600)):
    s = cls('k', 's', raw_data=True, url_override=f"wss://{os.environ['PT_URL']}{path}")
    got = out.setdefault(path, [])
    async def received(m):
        got.append({**m, 't': m['t'].to_unix_nano()})
        if len(got) >= n:
            await s.stop_ws()
    s.subscribe_trades(received, *symbols), s.subscribe_quotes(received, *symbols), s.subscribe_bars(received, *symbols)
    s.run()
print(json.dumps(out))
"""

# Prints what its REST clients made of the replies.
REST = """
import datetime as dt, json, os
os.environ['REQUESTS_CA_BUNDLE'] = os.environ['PT_CA']
from alpaca.data.historical import CryptoHistoricalDataClient, StockHistoricalDataClient
from alpaca.data.historical.corporate_actions import CorporateActionsClient
from alpaca.data.requests import *
from alpaca.data.timeframe import TimeFrame
from alpaca.trading.client import TradingClient
from alpaca.trading.requests import GetCalendarRequest
u = 'https://' + os.environ['PT_URL']
s, c = (x('k', 's', url_override=u) for x in (StockHistoricalDataClient, CryptoHistoricalDataClient))
t = TradingClient('k', 's', paper=True, url_override=u)
a = dt.datetime(2026, 1, 15, 5, tzinfo=dt.timezone.utc)
bars = s.get_stock_bars(StockBarsRequest(symbol_or_symbols=['AAPL', 'F'], timeframe=TimeFrame.Minute, start=a)).data
print(json.dumps({
    'bars': {k: len(v) for k, v in bars.items()},
    'first': [bars['AAPL'][0].timestamp.isoformat(), bars['AAPL'][0].open, bars['AAPL'][0].volume],
    'trades': len(s.get_stock_trades(StockTradesRequest(symbol_or_symbols='SPY', start=a, limit=12000)).data['SPY']),
    'quotes': len(c.get_crypto_quotes(CryptoQuoteRequest(symbol_or_symbols='BTC/USD', start=a, limit=50)).data['BTC/USD']),
    'bid': s.get_stock_latest_quote(StockLatestQuoteRequest(symbol_or_symbols='AAPL'))['AAPL'].bid_price,
    'previous': s.get_stock_snapshot(StockSnapshotRequest(symbol_or_symbols='AAPL'))['AAPL'].previous_daily_bar.volume,
    'levels': len(c.get_crypto_latest_orderbook(CryptoLatestOrderbookRequest(symbol_or_symbols='ETH/USD'))['ETH/USD'].asks),
    'clock': [t.get_clock().is_open, t.get_clock().next_close.isoformat()],
    'half': str(t.get_calendar(GetCalendarRequest(start=dt.date(2026, 11, 27), end=dt.date(2026, 11, 29)))[0].close),
    'assets': sorted(x.symbol for x in t.get_all_assets()), 'equity': t.get_account().equity,
    'actions': {k: [(x.symbol, x.new_rate, x.old_rate) for x in v] for k, v in CorporateActionsClient('k', 's', url_override=u)
        .get_corporate_actions(CorporateActionsRequest(start=dt.date(2026, 1, 1), end=dt.date(2026, 3, 1))).data.items()},
}))
"""

# Prints what its trading client made of order classes, trailing stops, auctions, replacements and refusals.
ORDERS = """
import json, os, threading, time
os.environ['REQUESTS_CA_BUNDLE'] = os.environ['SSL_CERT_FILE'] = os.environ['PT_CA']
from alpaca.common.exceptions import APIError
from alpaca.trading.client import TradingClient
from alpaca.trading.enums import OrderClass, OrderSide, QueryOrderStatus, TimeInForce
from alpaca.trading.requests import (GetOrdersRequest, LimitOrderRequest, MarketOrderRequest, ReplaceOrderRequest, StopLossRequest,
                                     TakeProfitRequest, TrailingStopOrderRequest)
from alpaca.trading.stream import TradingStream
t = TradingClient('k', 's', paper=True, url_override='https://' + os.environ['PT_URL'])
ts, seen, out = TradingStream('k', 's', url_override='wss://' + os.environ['PT_URL'] + '/stream'), [], {}
async def update(x):
    seen.append([str(x.event), x.order.type.value, x.order.status.value, str(x.order.id)])
ts.subscribe_trade_updates(update)
threading.Thread(target=ts.run, daemon=True).start()
def wait(done, seconds=60):
    end = time.time() + seconds
    while not done() and time.time() < end:
        time.sleep(0.01)
def heard(order):
    return any(x[0] == 'canceled' and x[3] == order for x in seen)
order = ''
while not heard(order):  # until it listens; the market stands
    order = str(t.submit_order(LimitOrderRequest(symbol='BTC/USD', qty=1, side=OrderSide.BUY, time_in_force=TimeInForce.GTC, limit_price=1)).id)
    t.cancel_order_by_id(order)
    wait(lambda: heard(order), 0.4)
seen.clear()
exits = dict(take_profit=TakeProfitRequest(limit_price=400), stop_loss=StopLossRequest(stop_price=200, limit_price=199.5))
day = dict(symbol='AAPL', qty=10, side=OrderSide.BUY, time_in_force=TimeInForce.DAY)
b = t.submit_order(MarketOrderRequest(**day, order_class=OrderClass.BRACKET, **exits))
out['bracket'] = [b.order_class.value, b.status.value, [[x.type.value, x.status.value, x.stop_price, x.limit_price] for x in b.legs]]
new = t.replace_order_by_id(b.legs[0].id, ReplaceOrderRequest(limit_price=390))
out['replaced'] = [new.limit_price, str(new.replaces) == str(b.legs[0].id)]
nested = t.get_orders(GetOrdersRequest(status=QueryOrderStatus.ALL, nested=True, symbols=['AAPL']))
out['nested'] = [[x.type.value, [y.status.value for y in x.legs or []]] for x in nested]
t.cancel_order_by_id(new.id)
held = t.submit_order(LimitOrderRequest(**day, limit_price=250, order_class=OrderClass.BRACKET, **exits))
out['held'] = [x.status.value for x in held.legs]
t.cancel_order_by_id(held.id)
o = t.submit_order(LimitOrderRequest(**{**day, 'side': OrderSide.SELL}, order_class=OrderClass.OCO, **exits))
out['oco'] = [o.type.value, o.limit_price, [x.type.value for x in o.legs]]
out['cancelled'] = sorted(x.status for x in t.cancel_orders())
s = t.submit_order(TrailingStopOrderRequest(**{**day, 'side': OrderSide.SELL}, trail_percent=1))
r = t.replace_order_by_id(s.id, ReplaceOrderRequest(trail=2))
out['trailing'] = [s.type.value, s.trail_percent, r.trail_percent, s.hwm == r.hwm, float(r.stop_price) / float(r.hwm)]
c = t.submit_order(MarketOrderRequest(**{**day, 'symbol': 'MSFT', 'time_in_force': TimeInForce.CLS}))
one = t.submit_order(MarketOrderRequest(**{**day, 'symbol': 'F'}, order_class=OrderClass.OTO, stop_loss=StopLossRequest(stop_price=1)))
out['others'] = [c.status.value, one.status.value, [x.type.value for x in one.legs]]
def refused(call):
    try:
        call()
    except APIError as error:
        return [error.status_code, error.code]
out['refused'] = [refused(call) for call in (
    lambda: t.submit_order(MarketOrderRequest(**day)),  # it could meet the trailing stop
    lambda: t.submit_order(LimitOrderRequest(**{**day, 'symbol': 'SPY', 'qty': 100000}, limit_price=100)),
    lambda: t.submit_order(MarketOrderRequest(**{**day, 'symbol': 'SPY'}, client_order_id=c.client_order_id)),
    lambda: t.get_order_by_id('00000000-0000-4000-8000-000000000000'),
    lambda: t.cancel_order_by_id(b.id),
    lambda: t.replace_order_by_id(c.id, ReplaceOrderRequest(qty=2)),
    lambda: t.submit_order(MarketOrderRequest(symbol='BTC/USD', qty=1, side=OrderSide.BUY, time_in_force=TimeInForce.OPG)),
    lambda: t.submit_order(MarketOrderRequest(**day, order_class=OrderClass.BRACKET, take_profit=TakeProfitRequest(limit_price=200),
                                              stop_loss=StopLossRequest(stop_price=400))))]
t.cancel_orders()
wait(lambda: sum(x[0] == 'canceled' for x in seen) >= 10)
out['events'] = seen
print(json.dumps(out), flush=True)
os._exit(0)
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def find_python():
    venv = os.environ.get("PAPERTAPE_VENV")
    if not venv:
        skip("PAPERTAPE_VENV is not set")
    python = os.path.join(venv, "bin", "python")
    p = os.path.exists(python) and subprocess.run(
        [python, "-c", "import importlib.metadata as m; print(m.version('alpaca-py'))"], capture_output=True, text=True)
    if not p or p.stdout.strip() != VERSION:
        skip(f"{venv} has not alpaca-py=={VERSION}")
    return python


PYTHON = find_python()


def client(venue, *script):
    """What the program printed last, as JSON."""
    p = subprocess.run([PYTHON, *script], capture_output=True, text=True, timeout=120,
                       env={**os.environ, "PT_URL": f"127.0.0.1:{venue.port}", "PT_CA": venue.ca})
    if p.returncode != 0 or not p.stdout.strip():
        raise AssertionError(f"{script[0]}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    return json.loads(p.stdout.strip().splitlines()[-1])


def start(*args):
    return Venue(PROGRAM, "--venue", "alpaca", "--synthetic", "7", "--from", SESSION, *args)


def nanoseconds(text):
    whole, _, part = text.rstrip("Z").partition(".")
    s = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp()
    return int(s) * 10**9 + int(part.ljust(9, "0") or 0)


def reported(venue, path, symbol, what, begin):
    """All that REST has from `begin` on, by time, as the streams have it."""
    at = "/v1beta3/crypto/us" if "/" in symbol else "/v2/stocks"
    letter = {"trades": "t", "quotes": "q", "bars": "b"}[what]
    out, token = {}, ""
    while token is not None:
        url = f"{at}/{what}?symbols={symbol}&timeframe=1Min&limit=10000&start={begin}&page_token={token}"
        status, _, body = venue.get(url, headers=KEYS)
        assert status == 200, (url, body)
        for x in body[what].get(symbol, []):
            x = {**x, "T": letter, "S": symbol, "t": nanoseconds(x["t"])}
            out[x["t"]] = x
        token = body["next_page_token"]
    return out


def test_streams():
    with start("--speed", "1000") as v:
        received = client(v, "-c", STREAMS)
        for path, messages in received.items():
            kinds = set()
            for symbol in {m["S"] for m in messages}:
                for what, letter in (("trades", "t"), ("quotes", "q"), ("bars", "b")):
                    mine = [m for m in messages if m["S"] == symbol and m["T"] == letter]
                    theirs = reported(v, path, symbol, what, "2026-01-16T15:58:00Z")
                    revised = 0
                    for m in mine:
                        x = theirs.get(m["t"])
                        if x and x.get("u"):  # cancelled or corrected later
                            revised += 1
                        elif letter == "b" and x != m:  # put right when half a minute was over
                            revised += 1
                            assert (x["S"], x["t"]) == (m["S"], m["t"]), (x, m)
                        else:
                            assert x == m, (x, m)
                    assert revised <= 1 + len(mine) // 20, (symbol, what, revised, len(mine))
                    kinds |= {letter} if mine else set()
            assert kinds == set("tqb") and len(messages) >= 300, (path, kinds, len(messages))


def test_rest():
    with start("--action", "split:AAPL:4:1:2026-01-15") as v:
        out = client(v, "-c", REST)
        bars = reported(v, "", "AAPL", "bars", "2026-01-15T05:00:00Z")
        first = bars[min(bars)]
        assert out["bars"]["AAPL"] == len(bars) > 600 and out["first"][1:] == [first["o"], first["v"]], out
        assert out["trades"] == 12000 or 3000 < out["trades"] < 12000, out
        assert out["quotes"] == 50 and out["levels"] == 16 and out["previous"] > 1e6 and out["equity"] == "100000", out
        assert out["clock"] == [True, "2026-01-16T16:00:00-05:00"] and out["half"] == "2026-11-27 13:00:00", out
        assert out["assets"] == sorted(["AAPL", "MSFT", "SPY", "IBM", "F", "FAKEPACA", "BTC/USD", "ETH/USD", "DOGE/USD"])
        assert out["actions"] == {"forward_splits": [["AAPL", 4.0, 1.0]]}, out["actions"]


def test_orders():
    with start() as v:
        out = client(v, "-c", ORDERS)
        assert out["bracket"] == ["bracket", "filled", [["limit", "new", None, "400"], ["stop_limit", "new", "200", "199.5"]]], out
        assert out["replaced"] == ["390", True] and out["held"] == ["held", "held"], out
        assert out["nested"] == [["market", ["new", "new"]]], out
        assert out["oco"] == ["limit", "400", ["stop_limit"]] and out["cancelled"] == [200, 200], out
        assert out["trailing"][:4] == ["trailing_stop", "1", "2", True] and abs(out["trailing"][4] - 0.98) < 1e-9, out
        assert out["others"] == ["accepted", "filled", ["stop"]], out
        assert out["refused"] == [[422, 42210000], [403, 40310000], [422, 40010001], [404, 40410000], [422, 42210000], [422, 42210000], [422, 42210000],
                                  [422, 42210000]], out["refused"]
        counted = {kind: [event for event, type, *_ in out["events"] if type == kind] for kind in ("market", "trailing_stop")}
        assert counted == {"market": ["new", "fill", "accepted", "new", "fill", "canceled"],
                           "trailing_stop": ["new", "replaced", "new", "canceled"]}, out["events"]


def test_shared_client():
    script = os.path.join(SHARED, "clients", "alpaca_client.py")
    if not os.path.exists(script):
        print("without the shared client")
        return
    with start("--speed", "10") as v:
        out = client(v, script)
        for name in ("StockDataStream", "CryptoDataStream"):
            assert len(out[name]) >= 2 and set(out[name]) <= {"Trade", "Quote", "Bar"}, out


for test in (test_rest, test_orders, test_shared_client, test_streams):
    test()
    print(f"{test.__name__}: ok", flush=True)
