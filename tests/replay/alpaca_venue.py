"""papertape-replay --venue alpaca, from outside: each error at its condition, both encodings alike, and what streams against what
REST gives for the same time.

usage: alpaca_venue.py PROGRAM
PAPERTAPE_LONG=1 waits for what takes ten seconds."""

import base64
import collections
import datetime
import gzip
import http.client
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zoneinfo

from venue import BINARY, TEXT, Closed, Refused, Venue, until

PROGRAM = sys.argv[1]
LONG = os.environ.get("PAPERTAPE_LONG") == "1"
KEYS = {"APCA-API-KEY-ID": "k", "APCA-API-SECRET-KEY": "s"}
MSGPACK = {"Content-Type": "application/msgpack"}
WELCOME = [{"T": "success", "msg": "connected"}]
IN = [{"T": "success", "msg": "authenticated"}]
SESSION = "2026-01-15T14:25:00Z"  # before a Thursday's opening


class Alpaca(Venue):
    """Ends well, and says nothing."""

    def __exit__(self, kind, *rest):
        if kind is None:
            assert (ended := self.stop()) == (0, ""), ended
        super().__exit__(kind, *rest)


def start(*args):
    return Alpaca(PROGRAM, "--venue", "alpaca", "--synthetic", "7", *args)


def unpack(b, i=0):
    """One msgpack value, as (value, end); timestamps are nanoseconds in a tuple."""
    c = b[i]
    i += 1

    def array(n, i):
        out = []
        for _ in range(n):
            v, i = unpack(b, i)
            out.append(v)
        return out, i

    def table(n, i):
        out = {}
        for _ in range(n):
            k, i = unpack(b, i)
            out[k], i = unpack(b, i)
        return out, i

    def text(n, i):
        return b[i:i + n].decode(), i + n

    if c < 0x80:
        return c, i
    if c < 0x90:
        return table(c & 15, i)
    if c < 0xa0:
        return array(c & 15, i)
    if c < 0xc0:
        return text(c & 31, i)
    if c >= 0xe0:
        return c - 256, i
    if c in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[c], i
    if c == 0xd6 and b[i] == 0xff:
        return (struct.unpack_from(">I", b, i + 1)[0] * 10**9,), i + 5
    if c == 0xd7 and b[i] == 0xff:
        n = struct.unpack_from(">Q", b, i + 1)[0]
        return ((n & (1 << 34) - 1) * 10**9 + (n >> 34),), i + 9
    kind = {0xcb: ">d", 0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd3: ">q", 0xd9: ">B", 0xda: ">H",
            0xdc: ">H", 0xdd: ">I", 0xde: ">H"}[c]
    n = struct.unpack_from(kind, b, i)[0]
    i += struct.calcsize(kind)
    if c in (0xd9, 0xda):
        return text(n, i)
    if c in (0xdc, 0xdd):
        return array(n, i)
    return table(n, i) if c == 0xde else (n, i)


def pack(v):
    """msgpack of what is said here: short strings, lists and maps."""
    if isinstance(v, str):
        return bytes([0xd9, len(v)]) + v.encode()
    if isinstance(v, dict):
        return bytes([0x80 | len(v)]) + b"".join(pack(k) + pack(x) for k, x in v.items())
    return b"\xdc" + struct.pack(">H", len(v)) + b"".join(map(pack, v))


def nanoseconds(text):
    whole, _, part = text.rstrip("Z").partition(".")
    s = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp()
    return int(s) * 10**9 + int(part.ljust(9, "0") or 0)


def plain(message):
    """A message without its encoding: times in nanoseconds."""
    t = message.get("t")
    return message if t is None else {**message, "t": t[0] if isinstance(t, tuple) else nanoseconds(t)}


class Client:
    def __init__(self, venue, path, key="k", auth=True, msgpack=False):
        self.msgpack = msgpack
        self.socket = venue.socket(path, MSGPACK if msgpack else None)
        assert self.receive() == WELCOME
        if auth:
            self.say(action="auth", key=key, secret="s")
            assert self.receive() == IN

    def say(self, **message):
        if self.msgpack:
            self.socket.send(BINARY, pack(message))
        else:
            self.socket.say(message)

    def receive(self):
        """One frame: a list of messages."""
        if self.msgpack:
            data = self.socket.data(BINARY)
            value, end = unpack(data)
            assert end == len(data), (end, len(data))
        else:
            value = json.loads(self.socket.text())
        assert isinstance(value, list) and value and all(next(iter(m)) == "T" for m in value), value
        return value

    def subscribe(self, **channels):
        self.say(action="subscribe", **channels)
        return self.answer()

    def answer(self):
        while True:
            frame = self.receive()
            if frame[0]["T"] in ("subscription", "error"):
                return frame[0]

    def error(self):
        m = self.answer()
        assert m["T"] == "error" and m["msg"], m
        return m["code"]

    def ends(self):
        try:
            while True:
                self.receive()
        except Closed:
            return True

    def messages(self, n):
        out = []
        while len(out) < n:
            out += [plain(m) for m in self.receive()]
        return out


def rest(venue, path, status=200, headers=KEYS, method="GET"):
    got, _, body = venue.get(path, headers=headers, method=method)
    assert got == status, (path, got, body)
    return body


def test_authentication():
    with start("--keys", "id:secret") as v:
        c = Client(v, "/v2/iex", auth=False)
        c.say(action="subscribe", trades=["AAPL"])
        assert c.error() == 401
        c.socket.say("{")
        assert c.error() == 400
        c.say(action="auth", key="id", secret="wrong")
        assert c.error() == 402 and c.ends()
        s = v.socket("/v2/iex", {"APCA-API-KEY-ID": "id", "APCA-API-SECRET-KEY": "secret"})
        assert json.loads(s.text()) == WELCOME and json.loads(s.text()) == IN
        s.say({"action": "auth", "key": "id", "secret": "secret"})
        assert json.loads(s.text())[0]["code"] == 403
        second = Client(v, "/v2/iex", auth=False)
        second.say(action="auth", key="id", secret="secret")
        assert second.error() == 406 and second.ends()
        other = Client(v, "/v1beta3/crypto/us", auth=False)
        other.say(action="auth", key="id", secret="secret")
        assert other.receive() == IN
        s.close()

        def again():
            c = Client(v, "/v2/iex", auth=False)
            c.say(action="auth", key="id", secret="secret")
            return c.receive() == IN

        until(again, "the first one's place is free")
        rest(v, "/v2/clock", 401)
        rest(v, "/v2/clock", headers={"APCA-API-KEY-ID": "id", "APCA-API-SECRET-KEY": "secret"})
        try:
            v.socket("/v2/nothing")
            raise AssertionError("a path that the venue has not")
        except AssertionError as e:
            assert " 404 " in str(e), e
    for code in (406, 409, 411, 500):
        with start("--refuse", str(code)) as v:
            c = Client(v, "/v2/sip", auth=False)
            c.say(action="auth", key="k", secret="s")
            assert c.error() == code and c.ends()
    if LONG:
        with start() as v:
            c, t = Client(v, "/v2/iex", auth=False), v.socket("/stream")
            assert c.error() == 404 and c.ends()
            assert json.loads(t.data(BINARY))["data"]["status"] == "unauthorized"


def test_subscriptions():
    with start("--plan", "free") as v:
        c = Client(v, "/v2/sip", auth=False)
        c.say(action="auth", key="k", secret="s")
        assert c.error() == 409 and c.ends()
        c = Client(v, "/v2/iex")
        names = [f"S{i}" for i in range(30)]
        assert c.subscribe(trades=names)["trades"] == names
        assert c.subscribe(quotes=["MORE"])["code"] == 405
        assert c.subscribe(trades=["*"])["code"] == 405
        answer = c.subscribe(quotes=["S1"], bars=["*"])
        assert answer["trades"] == names and answer["quotes"] == ["S1"] and answer["bars"] == ["*"], answer
        assert answer["corrections"] == answer["cancelErrors"] == names, answer
        assert set(answer) == {"T", "trades", "quotes", "bars", "updatedBars", "dailyBars", "statuses", "lulds",
                               "imbalances", "corrections", "cancelErrors"}, answer
        c.say(action="unsubscribe", trades=names[1:], bars=["*"])
        answer = c.answer()
        assert answer["trades"] == ["S0"] and answer["bars"] == [] and answer["quotes"] == ["S1"], answer
        assert c.subscribe(orderbooks=["AAPL"])["code"] == 410
        assert c.subscribe(trades=[1])["code"] == 400 and c.subscribe(trades=["A" * 40])["code"] == 400
        # In two fragments, as some clients send.
        half = json.dumps({"action": "subscribe", "trades": ["S7"]}).encode()
        c.socket.send(TEXT, half[:9], final=False)
        c.socket.send(0, half[9:])
        assert c.answer()["trades"] == ["S0", "S7"]
        rest(v, "/v2/stocks/trades/latest?symbols=AAPL&feed=sip", 403)
        assert "AAPL" in rest(v, "/v2/stocks/trades/latest?symbols=AAPL")["trades"]
    with start() as v:
        c = Client(v, "/v1beta3/crypto/us", msgpack=True)
        answer = c.subscribe(orderbooks=["BTC/USD"], trades=["*"])
        assert set(answer) == {"T", "trades", "quotes", "orderbooks", "bars", "updatedBars", "dailyBars"}, answer
        c.socket.send(BINARY, b"\xdd\xff\xff\xff\xff")
        assert c.error() == 400
        assert c.subscribe(statuses=["*"])["code"] == 410


def test_slow():
    with start("--speed", "1000000", "--from", SESSION) as v:
        c = Client(v, "/v2/sip")
        c.say(action="subscribe", trades=["*"], quotes=["*"])
        # Nothing is read: after the buffers of the kernels the queue fills, and the last message says why.
        until(lambda: rest(v, "/v2/clock")["timestamp"] > "2026-01-23", "a week has passed")
        codes = []
        try:
            while True:
                codes += [m["code"] for m in c.receive() if m["T"] == "error"]
        except Closed:
            pass
        assert codes == [407], codes


ALL = {"trades": ["*"], "quotes": ["*"], "bars": ["*"], "updatedBars": ["*"], "dailyBars": ["*"]}
STOCKS = {**ALL, "statuses": ["*"], "lulds": ["*"], "imbalances": ["*"]}


def test_encodings():
    """The same messages in JSON and in msgpack, float for float."""
    for path, channels, n in (("/v2/sip", STOCKS, 3000), ("/v1beta3/crypto/us", {**ALL, "orderbooks": ["*"]}, 1500)):
        with start("--speed", "max", "--from", SESSION) as v:  # where each is waited for
            a, b = Client(v, path, "a"), Client(v, path, "b", msgpack=True)
            assert a.subscribe(**channels)["T"] == b.subscribe(**channels)["T"] == "subscription"
            received = [[], []]

            def listen(client, to):
                to.extend(client.messages(n))
                client.socket.close()  # else the other would be held up

            threads = [threading.Thread(target=listen, args=x) for x in zip((a, b), received)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            ours, theirs = received
            if "orderbooks" in channels:  # whose first book is whole for each of them
                ours, theirs = ([m for m in x if m["T"] != "o"] for x in (ours, theirs))
            at = ours.index(theirs[0])
            assert len(ours) - at > n / 4, (at, len(ours))
            for x, y in zip(ours[at:], theirs):
                assert x == y, (x, y)


def pages(venue, path, what, **args):
    """All pages of one symbol's list."""
    out, token, n = [], "", 0
    while token is not None:
        query = "&".join(f"{k}={v}" for k, v in {**args, "page_token": token}.items() if v != "")
        body = rest(venue, f"{path}?{query}".replace("+", "%2B"))
        (items,) = body[what].values() or [[]]
        assert len(items) <= int(args["limit"])
        out += items
        token, n = body["next_page_token"], n + 1
    assert n > 1
    return out


def order(v, status=200, **wanted):
    """What becomes of it: the order, or the refusal's code."""
    c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
    c.request("POST", "/v2/orders", json.dumps(wanted), {**KEYS, "Content-Type": "application/json"})
    r = c.getresponse()
    answer = json.loads(r.read())
    assert r.status == status, (wanted, r.status, answer)
    return answer if status == 200 else answer["code"]


def test_orders():
    """Orders near a session's end: what is filled, what rests, what the session ends, and what is refused then."""
    stock = {"symbol": "AAPL", "qty": "1", "side": "buy", "type": "limit", "limit_price": "1", "time_in_force": "day"}
    coins = {"symbol": "BTC/USD", "side": "buy", "type": "market", "time_in_force": "gtc"}
    with start("--from", "2026-01-15T20:59:40Z", "--speed", "10") as v:
        day, gtc = order(v, **stock), order(v, **{**stock, "time_in_force": "gtc", "client_order_id": "gtc"})
        tiny = order(v, **coins, qty=0.00001)  # 1e-05 in JSON
        assert (tiny["status"], tiny["qty"], tiny["filled_qty"]) == ("filled", "0.00001", "0.00001"), tiny
        assert order(v, 422, **coins, qty="0.0000000001") == order(v, 422, **coins) == order(v, 422, **stock, order_class="oco") == 42210000
        assert order(v, 422, **{**stock, "client_order_id": "gtc"}) == 40010001
        assert order(v, 403, **{**stock, "limit_price": "1000000"}) == order(v, 403, **{**stock, "side": "sell", "limit_price": "100000"}) == 40310000
        assert [o["id"] for o in rest(v, "/v2/orders?symbols=AAPL&direction=asc")] == [day["id"], gtc["id"]]
        assert rest(v, "/v2/orders?symbols=AAP,BTC") == [] and len(rest(v, "/v2/orders?status=closed")) == 1
        dear = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
        dear.request("PATCH", f"/v2/orders/{gtc['id']}", json.dumps({"qty": "200000"}), {**KEYS, "Content-Type": "application/json"})
        assert dear.getresponse().status == 403 and rest(v, f"/v2/orders/{gtc['id']}")["status"] == "new"
        c = Client(v, "/v2/sip")  # which begins the play
        c.subscribe(bars=["AAPL"])
        until(lambda: time.sleep(0.2) or rest(v, f"/v2/orders/{day['id']}")["status"] == "expired", "the session's end")
        assert order(v, **stock)["status"] == "accepted" and order(v, 403, **{**stock, "time_in_force": "ioc"}) == 40310000


def buy(n, **more):
    """A small order for coins, which is filled at once."""
    return {"symbol": "BTC/USD", "side": "buy", "type": "market", "time_in_force": "gtc", "qty": "0.001", "client_order_id": f"c{n}", **more}


def test_activities():
    """Fills by pages in both directions, of one order, and of a span; what coins cost is in the balance alone."""
    path = "/v2/account/activities/FILL"
    with start("--from", SESSION, "--speed", "max") as v:
        placed = [order(v, **buy(n)) for n in range(5)] + [order(v, **buy(5, side="sell"))]
        shown = rest(v, "/v1beta3/crypto/us/latest/quotes?symbols=BTC/USD")["quotes"]["BTC/USD"]  # nothing is played yet
        assert [float(o["filled_avg_price"]) for o in placed] == [shown["ap"]] * 5 + [shown["bp"]], (shown, placed)
        every = rest(v, path)
        assert [a["order_id"] for a in every] == [o["id"] for o in placed[::-1]], every
        for a, o in zip(every[::-1], placed):
            assert (a["activity_type"], a["type"], a["side"], a["symbol"], a["qty"], a["cum_qty"], a["leaves_qty"], a["price"]) == \
                ("FILL", "fill", o["side"], "BTC/USD", "0.001", "0.001", "0", o["filled_avg_price"]), a
            when, execution = a["id"].split("::")
            assert when == a["transaction_time"][:19].translate({ord(c): None for c in "-T:"}) + when[14:] and len(when) == 17 and len(execution) == 36, a
        for direction, want in (("desc", every), ("asc", every[::-1])):
            pages, token = [], ""
            while page := rest(v, f"{path}?direction={direction}&page_size=4&page_token={token}"):
                assert len(page) <= 4
                pages, token = pages + page, page[-1]["id"]
            assert pages == want, direction
        assert rest(v, f"{path}?order_id={placed[2]['id']}") == [a for a in every if a["order_id"] == placed[2]["id"]] != []
        assert rest(v, f"{path}?until={SESSION}") == rest(v, "/v2/account/activities?activity_types=CFEE") == []
        assert len(rest(v, f"{path}?after=2026-01-14")) == len(rest(v, "/v2/account/activities?activity_types=FILL")) == 6
        for bad in ("page_size=101", "page_token=x", "after=yesterday"):
            rest(v, f"{path}?{bad}", 422)
        assert rest(v, path, headers={**KEYS, "APCA-API-KEY-ID": "other"}) == []
        (held,) = rest(v, "/v2/positions")
        assert held["symbol"] == "BTCUSD" and held["qty"] == held["qty_available"] == "0.0039875", held  # 0.25 % of each purchase
        order(v, **buy(6, type="limit", side="sell", qty="0.002", limit_price="1000000"))
        assert rest(v, "/v2/positions")[0]["qty_available"] == "0.0019875"
        assert [o["client_order_id"] for o in rest(v, f"/v2/orders?after={SESSION}&status=all")] == []
        assert len(rest(v, "/v2/orders?after=2026-01-14&status=all")) == 7


def updates(v):
    s = v.socket("/stream")
    s.say({"action": "auth", "key": "k", "secret": "s"})
    s.say({"action": "listen", "data": {"streams": ["trade_updates"]}})
    assert [json.loads(s.data(BINARY))["stream"] for _ in range(2)] == ["authorization", "listening"]
    return s


def test_order_faults():
    """What happens to every fourth order, and to every fourth event: an order is there where it was done, and only there; its id
    is good once."""
    there = {"order:lost-request": (None, 0), "order:lost-answer": (None, 1), "order:5xx-not-done": (504, 0), "order:5xx-done": (504, 1),
             "order:twice": (422, 1), "order:late:1s": (504, 0)}
    for fault, (answer, done) in there.items():
        with start("--from", SESSION, "--fault", fault) as v:
            for n in range(3):
                order(v, **buy(n))
            try:
                status = None
                c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
                c.request("POST", "/v2/orders", json.dumps(buy("hit")), {**KEYS, "Content-Type": "application/json"})
                status = c.getresponse().status
            except (http.client.HTTPException, ConnectionError):
                pass
            assert status == answer, (fault, status)
            count = lambda: sum(o["client_order_id"] == "chit" for o in rest(v, "/v2/orders?status=all"))
            if "late" in fault:
                until(lambda: time.sleep(0.1) or count() == 1, "the late order")
                continue
            assert count() == done, fault
            order(v, 422 if done else 200, **buy("hit"))  # the same one again
            assert count() == 1 and len(rest(v, "/v2/account/activities/FILL")) == 4
    with start("--from", SESSION, "--fault", "order:late:3s") as v:  # it comes when its second one is there
        for n in range(3):
            order(v, **buy(n))
        c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
        c.request("POST", "/v2/orders", json.dumps(buy("hit")), {**KEYS, "Content-Type": "application/json"})
        assert c.getresponse().status == 504
        order(v, **buy("hit"))
        for n in range(3, 5):
            order(v, **buy(n))
        c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
        c.request("POST", "/v2/orders", json.dumps(buy("next")), {**KEYS, "Content-Type": "application/json"})
        assert c.getresponse().status == 504  # which comes behind it
        until(lambda: time.sleep(0.1) or any(o["client_order_id"] == "cnext" for o in rest(v, "/v2/orders?status=all")), "the next late order")
        assert sum(o["client_order_id"] == "chit" for o in rest(v, "/v2/orders?status=all")) == 1
        v.fault("wipe")
        until(lambda: time.sleep(0.1) or rest(v, "/v2/orders?status=all") == [], "the wipe")
        assert rest(v, "/v2/positions") == rest(v, "/v2/account/activities/FILL") == [] and rest(v, "/v2/account")["cash"] == "100000"
        again = order(v, **buy(0))  # numbers continue, and the order's own are found
        assert again["time_in_force"] == "gtc" and rest(v, f"/v2/orders/{again['id']}")["client_order_id"] == "c0"
        assert rest(v, "/v2/account/activities/FILL")[0]["order_id"] == again["id"] and rest(v, "/v2/positions")[0]["qty"] == "0.0009975"
    for fault, want in (("user:drop", [0, 1, 2, 4, 5]), ("user:dup", [0, 1, 2, 3, 3, 4, 5]), ("user:reorder", [0, 1, 2, 4, 3, 5])):
        with start("--from", SESSION, "--fault", fault) as v:
            s = updates(v)
            for n in range(3):
                order(v, **buy(n))
            seen = [json.loads(s.data(BINARY))["data"] for _ in want]
            assert [(e["event"], e["order"]["client_order_id"]) for e in seen] == [(("new", "fill")[i % 2], f"c{i // 2}") for i in want], fault


def test_session():
    """Through a stock's session at full speed: every kind of message, and REST gives the same."""
    with start("--speed", "max", "--from", SESSION, "--action", "halt:AAPL:2026-01-15T15:00:00Z:5m") as v:
        c = Client(v, "/v2/sip")
        c.subscribe(**STOCKS)
        received = collections.defaultdict(list)
        while not received["i"]:
            for m in c.receive():
                received[m["T"]].append(m)
        assert set(received) == set("tqbudcxlsi"), set(received)
        halts = [(m["sc"], m["rc"], m["t"]) for m in received["s"] if m["S"] == "AAPL"]
        assert ("H", "T1", "2026-01-15T15:00:00Z") in halts and ("T", "", "2026-01-15T15:05:00Z") in halts, halts
        assert not [m for m in received["t"] if m["S"] == "AAPL" and "2026-01-15T15:00:00Z" < m["t"] < "2026-01-15T15:05:00Z"]
        end = "2026-01-15T20:00:00Z"
        for symbol in ("AAPL", "F"):
            bars = {}
            for kind in "bu":  # a bar that comes again replaces the first
                bars.update({m["t"]: m for m in received[kind] if m["S"] == symbol and SESSION <= m["t"] < end})
            reported = pages(v, "/v2/stocks/bars", "bars", symbols=symbol, timeframe="1Min", start=SESSION, end=end, limit=100)
            assert [{"T": "b", "S": symbol, **x} for x in reported if x["t"] < end] == \
                [{**bars[t], "T": "b"} for t in sorted(bars)], symbol
            trades = {m["i"]: m for m in received["t"] if m["S"] == symbol and m["t"] < end}
            reported = pages(v, "/v2/stocks/trades", "trades", symbols=symbol, start=SESSION, end=end, limit=1000)
            cancelled = {m["i"] for m in received["x"] if m["S"] == symbol}
            corrected = {m["ci"]: m for m in received["c"] if m["S"] == symbol}
            seen = 0
            for x in reported:
                if x["t"] >= end:
                    continue
                if x.get("u") == "corrected":
                    m = corrected[x["i"]]
                    assert (m["cp"], m["cs"]) == (x["p"], x["s"])
                else:
                    assert (x.get("u") == "canceled") == (x["i"] in cancelled), x
                    m = trades[x["i"]]
                    assert (m["p"], m["s"], m["t"], m["c"]) == (x["p"], x["s"], x["t"], x["c"])
                seen += 1
            assert seen == len(trades) > 500, (seen, len(trades))
        falling = pages(v, "/v2/stocks/quotes", "quotes", symbols="IBM", start=SESSION, end=end, limit=500, sort="desc")
        rising = pages(v, "/v2/stocks/quotes", "quotes", symbols="IBM", start=SESSION, end=end, limit=700)
        assert falling == rising[::-1]
        hours = rest(v, f"/v2/stocks/bars?symbols=SPY,AAPL&timeframe=1Hour&start=2026-01-15T15:00:00Z&end={end}&feed=iex")
        assert list(hours["bars"]) == ["AAPL", "SPY"] and len(hours["bars"]["SPY"]) >= 5


def test_book():
    """The book put together from the stream is REST's, at a moment when the play stands still."""
    with start("--speed", "max", "--from", SESSION) as v:
        c = Client(v, "/v1beta3/crypto/us")
        assert c.subscribe(orderbooks=["ETH/USD"])["orderbooks"] == ["ETH/USD"]
        sides, resets = {"b": {}, "a": {}}, 0

        def apply(m):
            nonlocal resets
            if m.get("r"):
                resets += 1
                sides["b"].clear(), sides["a"].clear()
            for side in "ba":
                for level in m[side]:
                    if level["s"]:
                        sides[side][level["p"]] = level["s"]
                    else:
                        del sides[side][level["p"]]
            return m["t"]

        last = ""
        for _ in range(500):
            for m in c.receive():
                last = apply(m)
        book = rest(v, "/v1beta3/crypto/us/latest/orderbooks?symbols=ETH/USD", headers={})["orderbooks"]["ETH/USD"]
        while last < book["t"]:
            for m in c.receive():
                last = apply(m) if m["t"] <= book["t"] else m["t"]
        assert resets == 1
        assert [(x["p"], x["s"]) for x in book["b"]] == sorted(sides["b"].items(), reverse=True)
        assert [(x["p"], x["s"]) for x in book["a"]] == sorted(sides["a"].items())


def test_rest():
    zone = zoneinfo.ZoneInfo("America/New_York")
    with start("--from", "2026-01-16T16:00:00Z", "--action", "split:AAPL:4:1:2026-01-15", "--action",
               "split:F:1:5:2026-01-14", "--action", "dividend:MSFT:0.83:2026-01-15") as v:
        days = {d["date"]: d for d in rest(v, "/v2/calendar?start=2007-01-01&end=2030-12-31")}
        clocks = random.Random(7).sample(sorted(days), 40)
        assert len(days) > 24 * 250 and days["2026-11-27"]["close"] == "13:00" and "2026-07-03" not in days
        now = rest(v, "/v2/clock")
        assert now == {"timestamp": "2026-01-16T11:00:00-05:00", "is_open": True, "next_open": "2026-01-20T09:30:00-05:00",
                       "next_close": "2026-01-16T16:00:00-05:00"}, now
        raw, split, both = ({x["t"][:10]: x for x in rest(
            v, f"/v2/stocks/bars?symbols={s}&timeframe=1Day&start=2026-01-12&adjustment={a}")["bars"][s]}
            for s, a in (("AAPL", "raw"), ("AAPL", "split"), ("MSFT", "all")))
        assert raw["2026-01-15"] == split["2026-01-15"] and split["2026-01-14"]["v"] == 4 * raw["2026-01-14"]["v"]
        assert abs(split["2026-01-14"]["c"] * 4 - raw["2026-01-14"]["c"]) < 1e-8
        plain_bar = rest(v, "/v2/stocks/bars?symbols=MSFT&timeframe=1Day&start=2026-01-14&limit=1")["bars"]["MSFT"][0]
        assert both["2026-01-14"]["c"] < plain_bar["c"] and both["2026-01-14"]["v"] == plain_bar["v"]
        actions = rest(v, "/v1/corporate-actions?start=2026-01-01&end=2026-01-31&symbols=AAPL,F,MSFT")["corporate_actions"]
        assert sorted(actions) == ["forward_splits", "reverse_splits"], actions  # a dividend's process date is when it is paid
        actions = rest(v, "/v1/corporate-actions?start=2026-01-01&end=2026-02-28&symbols=AAPL,F,MSFT")["corporate_actions"]
        assert {k: [(a["symbol"], a["ex_date"], a.get("new_rate"), a.get("old_rate"), a.get("rate")) for a in x]
                for k, x in actions.items()} == {
            "forward_splits": [("AAPL", "2026-01-15", 4, 1, None)], "reverse_splits": [("F", "2026-01-14", 1, 5, None)],
            "cash_dividends": [("MSFT", "2026-01-15", None, None, 0.83)]}
        assert rest(v, "/v2/assets/BTC%2FUSD")["min_trade_increment"] == "0.000000001"
        assert {a["class"] for a in rest(v, "/v2/assets")} == {"us_equity", "crypto"}
        assert rest(v, "/v2/account")["status"] == "ACTIVE" and rest(v, "/v2/positions") == []
        assert "body format" in rest(v, "/v2/orders", 400, method="POST")["message"] and rest(v, "/v2/orders") == []
        rest(v, "/v2/assets/NOPE", 404), rest(v, "/v2/nothing", 404), rest(v, "/nothing", 404)
        for bad in ("timeframe=1Year", "timeframe=1Min&limit=10001", "timeframe=1Min&start=x", "timeframe=1Min&page_token=x",
                    "timeframe=1Min&start=2026-01-16&end=2026-01-15", "timeframe=1Min&feed=none", "timeframe=1Min&adjustment=no"):
            assert rest(v, "/v2/stocks/bars?symbols=AAPL&" + bad, 400)["message"]
        token = base64.b64encode(b"AAPL|1").decode()
        assert rest(v, f"/v2/stocks/bars?symbols=AAPL&timeframe=1Day&start=2026-01-12&page_token={token}")["bars"]
        for d in clocks:
            noon = datetime.datetime.fromisoformat(d + "T12:00").replace(tzinfo=zone).isoformat().replace("+", "%2B")
            bar = rest(v, f"/v2/stocks/bars?symbols=SPY&timeframe=1Day&end={noon}&start={d}&limit=1")["bars"]
            if bar:
                begin = datetime.datetime.fromisoformat(bar["SPY"][0]["t"].replace("Z", "+00:00"))
                assert begin.astimezone(zone).strftime("%F %T") == d + " 00:00:00", (d, begin)
        left = [v.get("/v2/clock", headers=KEYS)]
        while left[-1][0] != 429:  # the minute may turn meanwhile, and give 200 more
            assert len(left) <= 400, left[-1]
            left.append(v.get("/v2/clock", headers=KEYS))
        assert left[0][1]["X-RateLimit-Limit"] == "200", left[0]
        assert left[-1][1]["X-RateLimit-Remaining"] == "0" and int(left[-1][1]["X-RateLimit-Reset"]) > 1.7e9


def test_years():
    """Any year works; a month's first trading day is never a weekend's."""
    for year, opens in ((1998, "1998-01-02T09:30:00-05:00"), (2044, "2044-01-04T09:30:00-05:00")):
        with start("--from", f"{year}-01-01T15:00:00Z", "--speed", "100") as v:
            assert rest(v, "/v2/clock")["next_open"] == opens
            c = Client(v, "/v1beta3/crypto/us")
            c.subscribe(quotes=["BTC/USD"])
            assert c.messages(1)[0]["t"] // 10**9 > 883612800
            assert rest(v, f"/v2/stocks/bars?symbols=AAPL&timeframe=1Day&start={year - 1}-12-01&limit=5")["bars"]["AAPL"]


def test_changes():
    """A stock that is halted and one that is delisted, by streams and REST; a venue that is broken, or busy, for a while."""
    with start("--from", "2026-01-15T15:00:00Z", "--speed", "max", "--fault", "status@10m:AAPL=HALT", "status@20m:AAPL=TRADING",
               "delist@30m:F", "delist@30m:ETH/USD") as v:
        assert rest(v, "/v2/assets/F")["status"] == "active"
        c = Client(v, "/v2/sip")
        c.subscribe(trades=["AAPL", "F"], statuses=["*"], bars=["SPY"])
        received, now = [], ""
        while now < "2026-01-15T15:59:00Z":
            received += c.receive()
            now = max([now] + [m["t"] for m in received[-1:] if m["T"] == "b"])
        times = {s: [m["t"] for m in received if m["T"] == "t" and m["S"] == s] for s in ("AAPL", "F")}
        assert not [t for t in times["AAPL"] if "2026-01-15T15:10" <= t < "2026-01-15T15:20"]
        assert max(times["AAPL"]) > "2026-01-15T15:58" and "2026-01-15T15:28" < max(times["F"]) < "2026-01-15T15:30"
        said = [(m["sc"], m["t"]) for m in received if m["T"] == "s" and m["S"] == "AAPL"]
        assert [("H", "2026-01-15T15:10:00Z"), ("T", "2026-01-15T15:20:00Z")] == said, said
        assert rest(v, "/v2/assets/F")["status"] == "inactive" and not rest(v, "/v2/assets/F")["tradable"]
        assert {"F", "ETH/USD"} == {a["symbol"] for a in rest(v, "/v2/assets?status=inactive")}
        last = rest(v, "/v1beta3/crypto/us/latest/trades?symbols=ETH/USD")["trades"]["ETH/USD"]["t"]
        assert last < "2026-01-15T15:30", last
    with start("--fault", "5xx") as v:
        assert [v.get("/v2/clock", headers=KEYS)[0] for _ in range(8)] == [200, 200, 200, 500] * 2
    with start("--fault", "429:1h") as v:
        try:
            v.socket("/v2/sip")
        except Refused as e:
            assert (e.status, e.headers["retry-after"]) == (429, "3600"), e
        else:
            raise AssertionError("the connection was let in")
    with start("--from", "2026-01-15T15:00:00Z", "--fault", "429:300ms", "clock:+3s") as v:
        status, headers, _ = v.get("/v2/clock", headers=KEYS)
        assert (status, headers["Retry-After"]) == (429, "1"), (status, headers)
        clock = until(lambda: v.get("/v2/clock", headers=KEYS)[2].get("timestamp"), "the venue answers")
        assert clock == "2026-01-15T10:00:03-05:00", clock


def test_trading_stream():
    with start("--keys", "id:secret") as v:
        s = v.socket("/stream")
        s.say({"action": "listen", "data": {"streams": ["trade_updates"]}})
        assert json.loads(s.data(BINARY))["data"]["status"] == "unauthorized"
        s.say({"action": "authenticate", "data": {"key_id": "id", "secret_key": "secret"}})
        assert json.loads(s.data(BINARY)) == {
            "stream": "authorization", "data": {"action": "authenticate", "status": "authorized"}}
        s.say({"action": "listen", "data": {"streams": ["trade_updates", "nothing"]}})
        assert json.loads(s.data(BINARY)) == {"stream": "listening", "data": {"streams": ["trade_updates"]}}
        s = v.socket("/stream")
        s.say({"action": "auth", "key": "id", "secret": "no"})
        assert json.loads(s.data(BINARY))["data"]["status"] == "unauthorized"
        try:
            s.text()
            raise AssertionError("open after a refusal")
        except Closed:
            pass


def test_usage():
    """Bad options: status 2, one line that says what would be right."""
    for args, right in ((["--plan", "gold"], "free|unlimited|plus"), (["--keys", "x"], "ID:SECRET"), (["--refuse", "400"], "402"), (["--refuse", "402@5"], "402@30s"),
                        (["--action", "split:AAPL:4:1:2026-01-17"], "split:AAPL"), (["--rate", "5"], "leave them out"),
                        (["--from", "1990-01-01"], "from 1998"), (["--fault", "418:60s"], "leave them out"),
                        (["--fault", "delist@30s:NOPE"], "listed"), (["--fault", "status@30s:BTC/USD=HALT"], "of a stock"),
                        (["--venue", "binance", "--plan", "free"], "--help")):
        p = subprocess.run([PROGRAM, "--venue", "alpaca", "--synthetic", "7", *args], capture_output=True, text=True)
        assert p.returncode == 2 and right in p.stderr and p.stderr.count("\n") == 1 and not p.stdout, (args, p)
    with tempfile.NamedTemporaryFile("w") as f:
        for text, line in (('{"stream":"listening","data":{}}\n{"stream":', 2), ("7", 1), ('{"stream":"trade_updates"}', 1)):
            f.seek(0), f.truncate(), f.write(text), f.flush()
            p = subprocess.run([PROGRAM, "--venue", "alpaca", "--recording", f.name], capture_output=True, text=True)
            assert p.returncode == 1 and f"{f.name}:{line}: " in p.stderr and p.stderr.count("\n") == 1, (text, p)


def test_recorded_updates():
    """A recorded trading stream's updates go out as they stand, and nothing else of it does."""
    updates = [json.dumps({"stream": "trade_updates", "data": {"event": e, "order": {"qty": "129.7"}}})
               for e in ("pending_new", "new", "fill")]
    with tempfile.NamedTemporaryFile(suffix=".gz") as f:
        f.write(gzip.compress("\n".join(['{"stream":"listening","data":{"streams":[]}}', *updates, ""]).encode()))
        f.flush()
        with Alpaca(PROGRAM, "--venue", "alpaca", "--recording", f.name) as v:
            for _ in range(2):
                s = v.socket("/stream")
                s.say({"action": "auth", "key": "k", "secret": "s"})
                s.say({"action": "listen", "data": {"streams": ["trade_updates"]}})
                received = [s.data(BINARY).decode() for _ in range(2 + len(updates))]
                assert [json.loads(x)["stream"] for x in received[:2]] == ["authorization", "listening"]
                assert received[2:] == updates, received


for test in (test_usage, test_recorded_updates, test_authentication, test_subscriptions, test_trading_stream, test_years, test_changes,
             test_rest, test_book, test_encodings, test_orders, test_activities, test_order_faults, test_session, test_slow):
    test()
    print(f"{test.__name__}: ok", flush=True)
