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


def test_shared_client():
    script = os.path.join(SHARED, "clients", "alpaca_client.py")
    if not os.path.exists(script):
        print("without the shared client")
        return
    with start("--speed", "10") as v:
        out = client(v, script)
        for name in ("StockDataStream", "CryptoDataStream"):
            assert len(out[name]) >= 2 and set(out[name]) <= {"Trade", "Quote", "Bar"}, out


for test in (test_rest, test_shared_client, test_streams):
    test()
    print(f"{test.__name__}: ok", flush=True)
