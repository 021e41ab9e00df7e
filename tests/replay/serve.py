"""papertape-replay as a whole: TLS, REST, streams, subscriptions, full speed, faults, signals.

usage: serve.py PROGRAM"""

import collections
import ssl
import http.client
import itertools
import json
import socket
import subprocess
import sys
import threading
from decimal import Decimal

from venue import PING, PONG, TEXT, Closed, Venue, run_tests, until

PROGRAM = sys.argv[1]
FROM = "2024-08-08T23:54:15Z"
WINDOW = 64


def synthetic(*args, seed="7"):
    return Venue(PROGRAM, "--synthetic", seed, "--from", FROM, *args)


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def test_tls():
    with synthetic() as v:
        equal(set(v.info), {"venue", "ws_url", "rest_url", "ca_file"})
        equal(v.info["ws_url"].replace("wss://", ""), v.info["rest_url"].replace("https://", ""))
        equal(v.info["ca_file"], v.ca)
        for name in ("127.0.0.1", "localhost"):
            with socket.create_connection(("127.0.0.1", v.port)) as raw, \
                    v.context.wrap_socket(raw, server_hostname=name) as tls:
                assert tls.version() in ("TLSv1.2", "TLSv1.3"), tls.version()
        for context, name in ((ssl.create_default_context(), "127.0.0.1"), (v.context, "example.com")):
            try:
                with socket.create_connection(("127.0.0.1", v.port)) as raw:
                    context.wrap_socket(raw, server_hostname=name)
            except ssl.SSLCertVerificationError:
                continue
            raise AssertionError(f"a certificate for {name} was accepted")
        equal(v.stop(), (0, ""), "SIGTERM")


def test_rest():
    with synthetic() as v:
        keep = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context)
        equal(v.get("/api/v3/ping", connection=keep)[2], {})
        status, headers, body = v.get("/api/v3/time", connection=keep)
        equal((status, body), (200, {"serverTime": 1723161255000}))
        assert int(headers["X-MBX-USED-WEIGHT-1M"]) >= 2
        assert headers["Content-Type"].startswith("application/json")

        info = v.rest("/api/v3/exchangeInfo")
        equal([s["symbol"] for s in info["symbols"]], ["BTCUSDT", "ETHUSDT"])
        for s in info["symbols"]:
            equal(s["filters"][0]["filterType"], "PRICE_FILTER")
            kinds = {f["filterType"]: f for f in s["filters"]}
            assert {"LOT_SIZE", "MARKET_LOT_SIZE", "NOTIONAL", "PERCENT_PRICE_BY_SIDE", "MAX_NUM_ORDERS"} <= set(kinds)
            equal((s["baseAsset"], s["quoteAsset"], s["status"]), (s["symbol"][:3], "USDT", "TRADING"))
        equal([s["symbol"] for s in v.rest("/api/v3/exchangeInfo?symbol=ETHUSDT")["symbols"]], ["ETHUSDT"])
        equal(len(v.rest("/api/v3/exchangeInfo?symbols=%5B%22BTCUSDT%22,%22ETHUSDT%22%5D")["symbols"]), 2)

        for interval, ms in (("1s", 1000), ("1m", 60000), ("5m", 300000), ("1h", 3600000), ("1d", 86400000)):
            rows = v.rest(f"/api/v3/klines?symbol=BTCUSDT&interval={interval}&limit=1000")
            equal(len(rows), 1000, interval)
            older = v.rest(f"/api/v3/klines?symbol=BTCUSDT&interval={interval}&limit=500&endTime={rows[0][0] - 1}")
            equal(len(older), 500, interval)
            rows = older + rows
            for a, b in itertools.pairwise(rows):
                equal(b[0] - a[0], ms, interval)
                equal(a[6] + 1, b[0], interval)
                equal(b[1], a[4], "open is the close before")
            for r in rows:
                o, h, l, c = map(Decimal, r[1:5])
                assert l <= min(o, c) and h >= max(o, c) and len(r) == 12, r
        equal(rows[-1][0] // 86400000, 1723161255 // 86400, "the last day")
        equal(len(v.rest(f"/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime={1723161255000 - 600000}")), 10)
        equal(len(v.rest("/api/v3/klines?symbol=BTCUSDT&interval=1m")), 500)
        equal(v.rest("/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime=1823161255000"), [])

        depth = v.rest("/api/v3/depth?symbol=BTCUSDT&limit=5000")
        assert len(depth["bids"]) >= 200 and len(depth["asks"]) >= 200
        bids, asks = ([Decimal(p) for p, _ in depth[side]] for side in ("bids", "asks"))
        assert bids == sorted(bids, reverse=True) and asks == sorted(asks) and bids[0] < asks[0]
        equal(len(v.rest("/api/v3/depth?symbol=BTCUSDT")["bids"]), 100)
        equal(len(v.rest("/api/v3/depth?symbol=BTCUSDT&limit=5")["asks"]), 5)
        equal(v.rest("/api/v3/ticker/price?symbol=ETHUSDT")["symbol"], "ETHUSDT")
        equal(len(v.rest("/api/v3/ticker/24hr")), 2)

        for path, status, code in (("klines?symbol=NOPE&interval=1m", 400, -1121), ("klines?symbol=btcusdt&interval=1m", 400, -1121),
                                   ("klines?symbol=BTCUSDT&interval=7m", 400, -1120), ("klines?symbol=BTCUSDT", 400, -1102),
                                   ("klines?interval=1m", 400, -1102), ("klines?symbol=BTCUSDT&interval=1m&limit=x", 400, -1100),
                                   ("klines?symbol=BTCUSDT&interval=1m&startTime=-5", 400, -1100),
                                   ("depth?symbol=", 400, -1102), ("depth?symbol=BTCUSDT&limit=0", 400, -1130),
                                   ("exchangeInfo?symbols=%5B%22NOPE%22%5D", 400, -1121), ("nothing", 404, -1000)):
            got = v.get("/api/v3/" + path)
            equal((got[0], got[2]["code"]), (status, code), path)
        equal(v.get("/api/v3/time", "POST")[0], 404)
        equal(v.rest("/api/v3/time"), {"serverTime": 1723161255000}, "play has not started")


class Book:
    """A client's book by the venue's rule."""

    def __init__(self):
        self.sides, self.last, self.buffer = None, None, []

    def diff(self, d):
        if self.sides is None:
            self.buffer.append(d)
            return
        if d["u"] <= self.last:
            return
        if self.first:
            assert d["U"] <= self.last + 1 <= d["u"], (d["U"], self.last)
            self.first = False
        else:
            equal(d["U"], self.last + 1, "a gap in the differences")
        for side, key in zip(self.sides, "ba"):
            for p, q in d[key]:
                side[Decimal(p)] = Decimal(q)
                if not side[Decimal(p)]:
                    del side[Decimal(p)]
        self.last = d["u"]

    def snapshot(self, reply):
        self.sides = [{Decimal(p): Decimal(q) for p, q in reply[side]} for side in ("bids", "asks")]
        self.last, self.first = reply["lastUpdateId"], True
        assert self.buffer and self.last >= self.buffer[0]["U"]
        for d in self.buffer:
            self.diff(d)

    def best(self):
        bid, ask = max(self.sides[0]), min(self.sides[1])
        return bid, self.sides[0][bid], ask, self.sides[1][ask]


def test_agreement():
    """Everything that two streams, or a stream and REST, say of the same thing is the same."""
    with synthetic("--speed", "max") as v:
        s = v.streams("btcusdt@depth@100ms", "btcusdt@trade", "btcusdt@aggTrade", "btcusdt@bookTicker", "btcusdt@kline_1s",
                      "btcusdt@kline_1m", "btcusdt@depth", "btcusdt@miniTicker")
        book, slow, counts, quotes = Book(), Book(), collections.Counter(), []
        trades, closed, aggregates = [], {}, []
        for n in range(30000):
            m = s.message()
            d, kind = m["data"], m["stream"].split("@", 1)[1]
            counts[kind] += 1
            if kind == "trade":
                assert not trades or d["t"] == trades[-1]["t"] + 1
                trades.append(d)
            elif kind == "aggTrade":
                aggregates.append(d)
                part = trades[-(d["l"] - d["f"] + 1):]
                equal([t["t"] for t in part], list(range(d["f"], d["l"] + 1)), "trades of an aggregate")
                equal(sum(Decimal(t["q"]) for t in part), Decimal(d["q"]))
                equal({(t["p"], t["T"], t["m"]) for t in part}, {(d["p"], d["T"], d["m"])})
            elif kind == "bookTicker":
                quotes.append((d["u"], tuple(Decimal(d[k]) for k in "bBaA")))
            elif kind == "depth@100ms":
                book.diff(d)
                if book.sides and quotes and quotes[-1][0] <= book.last and not book.first:
                    equal(book.best(), quotes[-1][1], "the quote is the top of the book")
                if counts[kind] == 5:
                    reply = v.rest("/api/v3/depth?symbol=BTCUSDT&limit=5000")
                    book.snapshot(reply)
                    if slow.buffer:
                        slow.snapshot(reply)
            elif kind == "depth":
                slow.diff(d)
                if slow.sides is None and counts[kind] == 2:
                    slow.snapshot(v.rest("/api/v3/depth?symbol=BTCUSDT&limit=5000"))
                if slow.sides and book.sides and slow.last == book.last:
                    counts["slow = fast"] += 1
                    equal(slow.sides, book.sides, "slow depth")
            elif kind.startswith("kline") and d["k"]["x"]:
                closed[(d["k"]["i"], d["k"]["t"])] = d["k"]
        assert min(counts.values()) > 3 and counts["slow = fast"] > 10, counts

        first = trades[0]["T"]
        whole = 0
        for (interval, t), k in closed.items():
            part = [x for x in trades if t <= x["T"] <= k["T"]]
            if t <= first or not part:
                continue
            whole += 1
            prices = [Decimal(x["p"]) for x in part]
            equal((Decimal(k["o"]), Decimal(k["h"]), Decimal(k["l"]), Decimal(k["c"])),
                  (prices[0], max(prices), min(prices), prices[-1]), interval)
            equal((k["n"], k["f"], k["L"]), (len(part), part[0]["t"], part[-1]["t"]))
            equal(Decimal(k["v"]), sum(Decimal(x["q"]) for x in part))
            equal(Decimal(k["q"]), sum(Decimal(x["q"]) * Decimal(x["p"]) for x in part))
            equal(Decimal(k["V"]), sum(Decimal(x["q"]) for x in part if not x["m"]))
        assert whole > 50, whole
        rows = {r[0]: r for r in v.rest("/api/v3/klines?symbol=BTCUSDT&interval=1s&limit=1000")}
        for (interval, t), k in closed.items():
            if interval == "1s" and t in rows:
                r = rows[t]
                equal((r[1], r[2], r[3], r[4], r[5], r[8]), (k["o"], k["h"], k["l"], k["c"], k["v"], k["n"]), "REST and stream")
        check_aggregates(v, [{key: d[key] for key in "apqflTmM"} for d in aggregates])


def check_aggregates(v, streamed):
    """REST has what was streamed: by id, by both times, in microseconds, and the last ones."""
    path = "/api/v3/aggTrades?symbol=BTCUSDT"
    some = streamed[100:500]
    equal(v.rest(f"{path}&fromId={some[0]['a']}&limit=400"), some)
    first, last = (next(i for i, d in enumerate(streamed) if d["T"] == some[at]["T"]) for at in (0, 200))
    whole = [d for d in streamed if streamed[first]["T"] <= d["T"] < streamed[last]["T"]]
    equal(v.rest(f"{path}&startTime={streamed[first]['T']}&endTime={streamed[last]['T']}&limit=1000")[:len(whole)], whole)
    micro = v.get(f"{path}&fromId={some[0]['a']}&limit=400", headers={"X-MBX-TIME-UNIT": "MICROSECOND"})[2]
    equal([d | {"T": d["T"] // 1000} for d in micro], some)
    assert any(d["T"] % 1000 for d in micro)
    newest = v.rest(f"{path}&limit=1000")
    assert len(newest) == 1000 and newest[-1]["a"] >= streamed[-1]["a"]
    assert [d["a"] for d in newest] == list(range(newest[0]["a"], newest[0]["a"] + 1000))
    for query, code in (("&fromId=1&startTime=1", -1128), ("&limit=0", -1130), ("&fromId=x", -1100)):
        status, _, body = v.get(path + query)
        equal((status, body["code"]), (400, code), query)


def test_determinism():
    runs = []
    for _ in range(2):
        with synthetic("--speed", "max") as v:
            s = v.streams("btcusdt@depth@100ms", "ethusdt@trade", "btcusdt@bookTicker", "ethusdt@kline_1s")
            runs.append([s.text() for _ in range(5000)])
    assert runs[0] == runs[1]
    with synthetic("--speed", "max", seed="8") as v:
        s = v.streams("btcusdt@depth@100ms", "ethusdt@trade", "btcusdt@bookTicker", "ethusdt@kline_1s")
        assert [s.text() for _ in range(5000)] != runs[0]


def test_full_speed():
    """The position waits for a slow client, and nothing is lost."""
    with synthetic("--speed", "max") as v:
        slow, fast = v.streams("btcusdt@trade"), v.streams("btcusdt@trade")
        received_by_fast = []

        def listen():
            try:
                while True:
                    received_by_fast.append(fast.message()["data"]["t"])
            except (Closed, OSError):
                pass

        threading.Thread(target=listen, daemon=True).start()
        ids = [slow.message()["data"]["t"] for _ in range(1000)]
        # The slow one sends no more pongs: the other hears two windows more, then time stands still.
        until(lambda: received_by_fast and received_by_fast[-1] >= ids[-1], "the fast one is there too")
        times = []

        def stands_still():
            times.append(v.rest("/api/v3/time")["serverTime"])
            return len(times) > 20 and len(set(times[-20:])) == 1

        until(stands_still, "time stands still")
        pings, received = [], 0
        while not pings or received_by_fast[-1] > ids[-1]:
            m = slow.frame()
            if m.op == TEXT:
                ids.append(json.loads(m.data)["data"]["t"])
                received += 1
            elif m.op == PING:
                pings.append(m.data)
        assert received <= 3 * WINDOW, received
        slow.send(PONG, pings[-1])
        ids += [slow.message()["data"]["t"] for _ in range(1000)]
        equal(ids, list(range(ids[0], ids[0] + len(ids))), "nothing is lost")
        # A client that goes away delays no other.
        slow.close()
        n = len(received_by_fast)
        until(lambda: len(received_by_fast) > n + 2000, "the fast one continues")
        equal(received_by_fast, list(range(received_by_fast[0], received_by_fast[0] + len(received_by_fast))), "nothing is lost")


def test_too_slow():
    """At a finite speed no client is waited for: one that does not read is closed in the end, with the reason."""
    with synthetic("--speed", "1000000") as v:
        s = v.streams(*(f"{x}usdt@{k}" for x in ("btc", "eth") for k in ("trade", "bookTicker", "depth@100ms")))
        line = v.process.stderr.readline()
        assert "too slow" in line, line
        n = 0
        try:
            while True:
                s.message()
                n += 1
        except Closed as e:
            equal(e.code, 1008)
        assert n > 0
        v.rest("/api/v3/time")


def test_subscriptions():
    with synthetic("--speed", "20") as v:
        s = v.socket("/ws")
        answer, before = s.ask("LIST_SUBSCRIPTIONS", id="a")
        equal((answer, before), ({"result": [], "id": "a"}, []))
        equal(s.ask("SUBSCRIBE", ["ethusdt@trade", "nope@trade", "whatever"], 2)[0], {"result": None, "id": 2})
        m = s.message()
        equal((m["e"], m["s"]), ("trade", "ETHUSDT"), "raw")
        equal(s.ask("LIST_SUBSCRIPTIONS", id=3)[0], {"result": ["ethusdt@trade", "nope@trade", "whatever"], "id": 3})
        s.close()

        s = v.socket("/ws/btcusdt@bookTicker/ethusdt@bookTicker")
        equal({s.message()["s"] for _ in range(200)}, {"BTCUSDT", "ETHUSDT"})
        equal(s.ask("SET_PROPERTY", ["combined", True], 1)[0], {"result": None, "id": 1})
        equal({s.message()["stream"] for _ in range(200)}, {"btcusdt@bookTicker", "ethusdt@bookTicker"})
        equal(s.ask("UNSUBSCRIBE", ["btcusdt@bookTicker"], 2)[0], {"result": None, "id": 2})
        equal({s.message()["stream"] for _ in range(100)}, {"ethusdt@bookTicker"})
        s.send(PING, b"hello")
        while True:
            f = s.frame()
            if f.op == PONG:
                equal(f.data, b"hello")
                break
        s.close()

        for request, code in (("{", 3), ("[]", 2), ('{"method":"SUBSCRIBE","params":["a"]}', 2),
                              ('{"method":"SUBSCRIBE","params":[],"id":1}', 2), ('{"method":"SUBSCRIBE","params":[5],"id":1}', 2),
                              ('{"method":"DANCE","id":1}', 2), ('{"id":1}', 2),
                              ('{"method":"SET_PROPERTY","params":["x",true],"id":1}', 0),
                              ('{"method":"SET_PROPERTY","params":["combined",1],"id":1}', 1)):
            s = v.socket("/")
            s.say(request)
            answer = s.message()
            equal(answer["code"], code, request)
            assert answer["msg"]
            s.close()

        s = v.socket("/ws/0")
        s.burst(TEXT, *(json.dumps({"method": "LIST_SUBSCRIPTIONS", "id": i}).encode() for i in range(6)))
        try:
            for _ in range(6):
                s.message()
            raise AssertionError("six requests in a second were answered")
        except Closed as e:
            equal(e.code, 1008)

        names = [f"x{i}usdt@trade" for i in range(1023)]
        s = v.streams("btcusdt@trade", *names)
        equal(s.message()["stream"], "btcusdt@trade")
        answer, _ = s.ask("SUBSCRIBE", ["one@more"], 1)
        equal(answer["code"], 2)
        s.close()
        try:
            v.streams("btcusdt@trade", "y@trade", *names).message()
            raise AssertionError("1025 streams were accepted")
        except Closed as e:
            equal(e.code, 1008)


def test_microseconds():
    """The same messages, with times in the unit that the URL asks for; of a recording too."""
    with synthetic("--speed", "max") as v:
        names = ("btcusdt@trade", "btcusdt@kline_1s", "btcusdt@depth@100ms", "btcusdt@bookTicker")
        ms = v.streams(*names)
        us = v.socket("/stream?streams=" + "/".join(names) + "&timeUnit=microsecond")
        received = [[], []]

        def listen(s, to):
            to.extend(s.message() for _ in range(4000))
            s.close()  # else the other would be held up

        threads = [threading.Thread(target=listen, args=(s, to)) for s, to in zip((ms, us), received)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        by_key = [{}, {}]
        for side in range(2):
            for m in received[side]:
                d = m["data"]
                by_key[side][m["stream"], d.get("t", d.get("u")), d.get("k", {}).get("L"), d.get("k", {}).get("x"),
                             d.get("k", {}).get("t", 0) // (1, 1000)[side]] = d
        both = by_key[0].keys() & by_key[1].keys()
        assert len(both) > 2000, len(both)
        for key in both:
            a, b = by_key[0][key], by_key[1][key]
            for name in "ET":
                if name in a:
                    equal(b[name] // 1000, a[name], key)
            if "k" in a:
                equal((b["k"]["t"], b["k"]["T"]), (a["k"]["t"] * 1000, a["k"]["T"] * 1000 + 999), key)
            strip = [{k: v for k, v in x.items() if k not in "ETk"} for x in (a, b)]
            equal(*strip, key)


def test_faults():
    with synthetic("--speed", "50", "--fault", "silence@1s") as v:
        s = v.streams("btcusdt@trade", "btcusdt@bookTicker", "ethusdt@bookTicker")
        quiet = trips = 0
        while quiet < 300:  # pings are answered, and no data comes between
            s.send(PING, b"x")
            data = 0
            while (f := s.frame()).op != PONG:
                data += f.op == TEXT
            quiet = 0 if data else quiet + 1
            trips += 1
        time = v.rest("/api/v3/time")["serverTime"]
        until(lambda: v.rest("/api/v3/time")["serverTime"] > time, "REST lives on")
        assert trips > quiet

    with synthetic("--speed", "max", "--fault", "close@200") as v:
        s, n = v.streams("btcusdt@trade"), 0
        try:
            while True:
                s.message()
                n += 1
        except Closed as e:
            equal((e.code, n), (1000, 200))
        s = v.streams("btcusdt@trade")
        for _ in range(1000):
            s.message()

    with synthetic("--speed", "max", "--fault", "gap@book", "garbage") as v:
        s, last, gaps, garbage = v.streams("btcusdt@depth@100ms"), None, 0, 0
        for _ in range(2000):
            try:
                d = json.loads(s.text())["data"]
            except json.JSONDecodeError:
                garbage += 1
                continue
            gaps += last is not None and d["U"] != last + 1
            last = d["u"]
        assert gaps in (9, 10, 11), gaps
        assert garbage in (3, 4), garbage


def test_usage():
    for args, status, word in ((["--venue", "kraken", "--synthetic", "1"], 2, "one of alpaca|binance is needed"), ([], 2, "--synthetic SEED is needed"),
                               (["--synthetic", "x"], 2, "a whole number from 0 to 18446744073709551615 is needed"), (["--synthetic", "1", "--speed", "0"], 2, "a number from 0.001 to 1000000, or max, is needed"),
                               (["--synthetic", "1", "--fault", "ban@5"], 2, "bad value of a fault: ban@5: as ban@100+60s"),
                               (["--synthetic", "1", "--fault", "bang"], 2, "user:reorder, wipe"),  # the whole list
                               (["--synthetic", "1", "--listen", "127.0.0.1"], 2, "HOST:PORT as 127.0.0.1:9443"),
                               (["--synthetic", "1", "--bogus"], 2, "unknown option"),
                               (["--synthetic", "1", "--from", "yesterday"], 2, "a time is needed"),
                               (["--recording", "/nowhere.gz"], 1, "/nowhere.gz"), (["--bars", "/nowhere_1m.csv"], 1, "/nowhere_1m.csv"),
                               (["--synthetic", "1", "--ca-out", "/nowhere/ca.pem"], 1, "/nowhere/ca.pem"),
                               (["--synthetic", "1", "--transcript", "/nowhere/t"], 1, "/nowhere/t"),
                               (["--synthetic", "1", "--symbols", "4097"], 2, "from 1 to 4096"),
                               (["--synthetic", "1", "--rate", "0"], 2, "messages a second"),
                               (["--bars", "/nowhere_1m.csv", "--symbols", "3"], 2, "it goes with --synthetic"),
                               (["--synthetic", "1", "--listen", "192.0.2.1:0"], 1, "cannot listen")):
        p = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=60)
        equal(p.returncode, status, args)
        assert p.stderr.startswith("papertape-replay: ") and word in p.stderr and p.stderr.count("\n") == 1, p.stderr
        equal(p.stdout, "", args)
    for arg, word in (("--help", "Usage: papertape-replay"), ("--version", "papertape-replay ")):
        p = subprocess.run([PROGRAM, arg], capture_output=True, text=True, timeout=60)
        equal((p.returncode, p.stderr), (0, ""))
        assert p.stdout.startswith(word)
    with synthetic() as v:
        p = subprocess.run([PROGRAM, "--synthetic", "1", "--listen", f"127.0.0.1:{v.port}"], capture_output=True, text=True, timeout=60)
        equal(p.returncode, 1)
        assert "cannot listen" in p.stderr and str(v.port) in p.stderr, p.stderr
        s = v.streams("btcusdt@trade")
        s.message()
        equal(v.stop(2), (0, ""), "SIGINT")


run_tests(globals())
