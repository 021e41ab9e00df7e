"""papertape-replay's limits and faults on request: each as the venue, or what breaks between, would do it.

usage: faults.py PROGRAM"""

import concurrent.futures
import http.client
import json
import socket
import ssl
import subprocess
import sys
import time

from venue import CLOSE, PING, PONG, TEXT, Closed, Refused, Venue, until

PROGRAM = sys.argv[1]
FROM = "2024-08-08T23:54:15Z"
CONTINUATION = 0
TRADES = "btcusdt@trade"


def synthetic(*args):
    return Venue(PROGRAM, "--synthetic", "7", "--from", FROM, *args)


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def closed(s):
    """How a socket ends: the code, and what came before."""
    before = []
    try:
        while True:
            before.append(s.message())
    except Closed as e:
        return e.code, before


def asked_to_wait(reply, status, most):
    got, headers, body = reply
    equal(got, status)
    assert 1 <= int(headers["Retry-After"]) <= most, headers
    equal(body["code"], -1003)
    return int(headers["Retry-After"])


def refused(v, status, most):
    try:
        v.streams(TRADES)
    except Refused as e:
        asked_to_wait((e.status, {"Retry-After": e.headers["retry-after"]}, e.body), status, most)
        return
    raise AssertionError("the connection was let in")


def test_weight():
    """A client that asks for too much must wait, and is banned when it does not."""
    with synthetic() as v:
        limits = {x["rateLimitType"]: x["limit"] for x in v.rest("/api/v3/exchangeInfo")["rateLimits"]}
        used, calls, reply = 0, 0, (200,)
        while reply[0] != 418:  # another minute may begin at any moment: then all is as before
            while (reply := v.get("/api/v3/depth?symbol=BTCUSDT&limit=5000"))[0] == 200:
                calls += 1
                before, used = used, int(reply[1]["X-MBX-USED-WEIGHT-1M"])
                assert used <= limits["REQUEST_WEIGHT"] and (used == before + 250 or used <= 270), (before, used)
            assert calls >= 23, calls
            asked_to_wait(reply, 429, 60)
            n = 0
            while (reply := v.get("/api/v3/time"))[0] == 429:
                n += 1
                assert n < 200, reply
        assert 60 < asked_to_wait(reply, 418, 120)
        assert "banned until" in reply[2]["msg"], reply
        refused(v, 418, 120)


def test_weights():
    """Each request costs what the venue charges."""
    charged = (("ping", 1), ("time", 1), ("exchangeInfo", 20), ("klines?symbol=BTCUSDT&interval=1m&limit=1000", 2),
               ("depth?symbol=BTCUSDT", 5), ("depth?symbol=BTCUSDT&limit=101", 25), ("depth?symbol=BTCUSDT&limit=501", 50),
               ("depth?symbol=BTCUSDT&limit=5000", 250), ("trades?symbol=BTCUSDT", 25), ("ticker/24hr?symbol=BTCUSDT", 2),
               ("ticker/24hr", 80), ("ticker/24hr?symbols=%5B%22BTCUSDT%22,%22ETHUSDT%22%5D", 2), ("ticker/price", 4),
               ("ticker/price?symbol=BTCUSDT", 2), ("ticker/bookTicker", 4), ("ticker/bookTicker?symbol=ETHUSDT", 2))
    with synthetic() as v:
        used = 0
        for path, weight in charged:
            before, used = used, int(v.get("/api/v3/" + path)[1]["X-MBX-USED-WEIGHT-1M"])
            assert used in (before + weight, weight), (path, used - before)  # the latter in a new minute


def test_ban():
    with synthetic("--fault", "ban@4+2500ms") as v:
        for _ in range(3):
            equal(v.get("/api/v3/time")[0], 200)
        asked_to_wait(v.get("/api/v3/time"), 418, 3)
        refused(v, 418, 3)
        until(lambda: v.get("/api/v3/time")[0] == 200, "the ban ends")
        v.streams(TRADES).message()
    with synthetic("--fault", "429:2500ms") as v:
        asked_to_wait(v.get("/api/v3/time"), 429, 3)
        refused(v, 429, 3)
        until(lambda: v.get("/api/v3/time")[0] == 200, "it is let in again")
    with synthetic("--fault", "418:400ms") as v:
        asked_to_wait(v.get("/api/v3/exchangeInfo"), 418, 1)
        until(lambda: v.get("/api/v3/exchangeInfo")[0] == 200, "the ban ends")
    with synthetic("--fault", "5xx") as v:
        got = [v.get("/api/v3/time")[0] for _ in range(16)]
        equal((got.count(200), sorted(set(got))), (12, [200, 500, 502, 503, 504]))
    with synthetic("--fault", "5xx:time") as v:
        equal(sorted(v.get("/api/v3/time")[0] for _ in range(4)), [500, 502, 503, 504])
        equal(v.get("/api/v3/exchangeInfo")[0], 200)
        v.fault("5xx:time@0s+0s")
        equal(v.get("/api/v3/time")[0], 200)


def test_posted():
    """What is posted long after the first request counts from then on."""
    with synthetic() as v:
        v.rest("/api/v3/time")
        time.sleep(1.1)  # longer than the first one lasts
        for fault, status in (("429:1s", 429), ("418:300s", 418)):
            v.fault(fault)
            asked_to_wait(v.get("/api/v3/time"), status, 300)
        v.fault("none")
        equal(v.get("/api/v3/time")[0], 200)


def on_and_over(start, seconds, is_on, what):
    """A fault of a time, since the start of play at `start` or later: off, on, not earlier than that, and over."""
    until(is_on, f"{what} starts")
    assert time.monotonic() - start >= seconds, f"{what} started early"
    until(lambda: not is_on(), f"{what} ends")


def test_scheduled():
    """Any fault at a time and for a length, alone and one after the other, by --fault and posted."""
    wrong = subprocess.run([PROGRAM, "--synthetic", "7", "--fault", "dup@30"], capture_output=True, text=True, check=False)
    equal((wrong.returncode, wrong.stderr), (2, "papertape-replay: bad time of a fault: dup@30: as dup@30s or dup@30s+10s\n"))
    faults = ("429:60s@300ms+300ms", "clock:+300s@700ms+300ms", "5xx@1100ms+300ms", "fragment@1500ms")
    with synthetic(*[part for fault in faults for part in ("--fault", fault)]) as v:
        equal(v.get("/api/v3/time")[0], 200)  # none of them before the start of play
        start = time.monotonic()
        s = v.streams(TRADES)
        s.whole = False
        on_and_over(start, 0.3, lambda: v.get("/api/v3/time")[0] == 429, faults[0])
        on_and_over(start, 0.7, lambda: v.rest("/api/v3/time")["serverTime"] > 1723161255000 + 200_000, faults[1])
        on_and_over(start, 1.1, lambda: any(v.get("/api/v3/time")[0] >= 500 for _ in range(4)), faults[2])
        until(lambda: s.frame().op == CONTINUATION, "a fragment")
        assert time.monotonic() - start >= 1.5
        start = time.monotonic()
        v.fault("none")
        v.fault("418:60s@200ms+200ms")
        on_and_over(start, 0.2, lambda: v.get("/api/v3/time")[0] == 418, "what was posted")
        equal(v.posted("wipe@1s+1s"), (400, "no time of a fault: wipe@1s+1s: it happens at once, and has no end: as wipe@30s"))


def test_other_venues():
    """A fault that the venue does not have is refused, on the command line and posted, and changes nothing."""
    for program, specs in ((("--synthetic", "7", "--from", FROM), ("revoke:k", "actions:3", "revoke:k@30s", "actions:3@1s+1s")),
                           (("--venue", "alpaca", "--synthetic", "7"), ("gap@book", "418:60s", "ban@1+60s", "shutdown@1s", "age@1s@1m"))):
        for spec in specs:
            run = subprocess.run([PROGRAM, *program, "--fault", spec], capture_output=True, text=True, check=False, timeout=60)
            assert run.returncode == 2 and "not of this venue" in run.stderr, (spec, run)
        with Venue(PROGRAM, *program) as v:
            for spec in specs:
                status, answer = v.posted(spec)
                assert status == 400 and "not of this venue" in answer, (spec, status, answer)
            v.fault("dup")


def test_slow_answer():
    """An answer comes no faster, and where the client reads it hardly slower, whatever the rate is."""
    with synthetic() as v:
        path = "/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=1000"
        size = len(json.dumps(v.rest(path), separators=(",", ":")))
        for rate in (200_000, 1_000_000):
            v.fault(f"slow-answer:{rate // 1000}kB/s")
            start = time.monotonic()
            equal(v.get(path)[0], 200)
            took = time.monotonic() - start
            assert took > size / rate - 0.15, (took, size, rate)
            print(f"{size} bytes at {rate} a second: {took:.2f} s", flush=True)


def test_connections():
    with synthetic() as v:
        for path in ("/ws-api/v2", "/public", "/streams"):
            try:
                v.socket(path)
                raise AssertionError(path)
            except Refused as e:
                equal((e.status, e.body["code"]), (404, -1000), path)
        s = v.socket("/ws/0")  # any name, as clients that subscribe later connect
        equal(s.ask("SUBSCRIBE", [TRADES], 1)[0], {"result": None, "id": 1})
        equal(s.message()["e"], "trade")
        # Pongs count among the five messages a second.
        s = v.socket("/ws")
        s.burst(PONG, *[b"x"] * 6)
        equal(closed(s), (1008, []))


def test_requests_at_full_speed():
    """Requests that wait for the play to stand still, with a body and without, are answered once each."""
    with synthetic("--speed", "max") as v:
        s = v.streams(TRADES)
        for _ in range(100):
            s.message()
        c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=30)
        for method, body, status in (("POST", None, 404), ("GET", None, 200), ("POST", "x" * 70000, 404), ("DELETE", "a=b", 404),
                                     ("GET", None, 200)):
            c.request(method, "/api/v3/time", body)
            r = c.getresponse()
            text = r.read()
            equal(r.status, status, method)
            json.loads(text)
        equal(v.stop(), (0, ""), "it ends")


def test_shutdown():
    with synthetic("--fault", "shutdown@1500ms+1500ms") as v:
        both = v.streams(TRADES), v.socket("/ws/" + TRADES)
        reported = [closed(s) for s in both]
        equal([code for code, _ in reported], [1001, 1001])
        combined, raw = ([m for m in before if "serverShutdown" in json.dumps(m)] for _, before in reported)
        equal((len(combined), len(raw)), (1, 1))
        equal((combined[0]["stream"], combined[0]["data"]["e"], raw[0]["e"]), ("!serverShutdown",) + ("serverShutdown",) * 2)
        assert reported[0][1][-1] != combined[0], "messages continue until it closes"
        s = v.streams(TRADES)
        for _ in range(20):
            s.message()


def test_age():
    with synthetic("--speed", "100", "--fault", "age@30s") as v:
        code, before = closed(v.streams(TRADES))
        equal(code, 1001)
        assert before[-1]["data"]["E"] - before[0]["data"]["E"] >= 28000, before[-1]
    for seconds in (10, 30):
        with synthetic("--speed", "max", "--fault", f"age@{seconds}s") as v:
            code, before = closed(v.streams(TRADES))
            equal(code, 1001)
            span = before[-1]["data"]["E"] - before[0]["data"]["E"]
            assert (seconds - 2) * 1000 <= span <= seconds * 1000, span


def test_frames():
    with synthetic("--speed", "max", "--fault", "fragment") as v:
        s, whole, parts, fragments = v.streams(TRADES, "btcusdt@depth@100ms"), 0, b"", 0
        s.whole = False
        while whole < 300:
            f = s.frame()
            if f.op == PING:
                s.send(PONG, f.data)
                continue
            equal(f.op, CONTINUATION if parts else TEXT)
            parts += f.data
            fragments += 1
            if f.first & 0x80:
                json.loads(parts)
                whole += 1
                parts = b""
        assert fragments >= 3 * whole, fragments

    with synthetic("--speed", "max", "--fault", "deflate") as v:
        s, flagged, plain = v.streams(TRADES), 0, 0
        s.whole = False
        while flagged < 3:
            f = s.frame()
            if f.op == PING:
                s.send(PONG, f.data)
            elif f.first == 0xc0:
                flagged += 1
            else:
                equal(f.first, 0x80)
                json.loads(f.data)
                plain += 1
        assert 1400 <= plain <= 1700, plain

    with synthetic("--speed", "max", "--fault", "half-frame") as v:
        s, n = v.streams(TRADES), 0
        s.whole = False
        try:
            while True:
                f = s.frame()
                if f.op == PING:
                    s.send(PONG, f.data)
                    continue
                n += 1
                assert f.op != CLOSE
                if not f.first & 0x80:
                    break
            s.frame()
            raise AssertionError("something came after half a frame")
        except (Closed, ssl.SSLError, OSError) as e:
            assert not isinstance(e, Closed) or e.code is None, e
        assert 300 <= n <= 503, n  # what was queued when the fault came is cut into
        v.streams(TRADES).message()

    with synthetic("--speed", "max", "--fault", "dup", "reorder", "huge:2MB") as v:
        s, ids, huge = v.streams(TRADES), [], 0
        for _ in range(2000):
            text = s.text()
            if len(text) > 1000000:
                equal(len(text), 2000000)
                assert "pad" in json.loads(text)
                huge += 1
            else:
                ids.append(json.loads(text)["data"]["t"])
        repeated, back = (sum(a - b == n for a, b in zip(ids, ids[1:])) for n in (0, 1))
        equal(huge, 1)
        assert repeated >= 38 and back >= 38, (repeated, back)
        equal(sorted(set(ids)), list(range(min(ids), max(ids) + 1)), "nothing is lost")

    with synthetic("--fault", "slow:4kB/s") as v:
        start, s, n = time.monotonic(), v.streams(TRADES, "btcusdt@depth@100ms"), 0
        while time.monotonic() < start + 1:
            n += len(s.text())
        assert n <= 4000 * (time.monotonic() - start) + 8000, n


def test_clock_and_tls():
    for word, skew in (("clock:+3s", 3000), ("clock:-250ms", -250)):
        with synthetic("--fault", word) as v:
            equal(v.rest("/api/v3/time")["serverTime"], 1723161255000 + skew)
    with synthetic("--fault", "tls-expired") as v:
        try:
            with socket.create_connection(("127.0.0.1", v.port)) as raw:
                v.context.wrap_socket(raw, server_hostname="127.0.0.1")
            raise AssertionError("an expired certificate was accepted")
        except ssl.SSLCertVerificationError as e:
            assert "expired" in str(e), e


def test_changes():
    """Statuses, filters and the end of a symbol, at their market time."""
    # At full speed market time waits for a client that does not read.
    with synthetic("--speed", "max", "--fault", "status@10s:BTCUSDT=HALT", "status@60s:BTCUSDT=TRADING", "filters@80s:ETHUSDT",
                   "delist@140s:ETHUSDT") as v:
        def listed():
            return {s["symbol"]: s for s in v.rest("/api/v3/exchangeInfo")["symbols"]}

        before = listed()
        equal([s["status"] for s in before.values()], ["TRADING"] * 2)
        s = v.streams(TRADES, "btcusdt@depth@100ms", "ethusdt@trade", "btcusdt@bookTicker")
        times, last = [], None

        def read(seconds):
            """Reads until a message of so many seconds after the start."""
            nonlocal last
            while True:
                m = s.message()
                kind, d = m["stream"], m["data"]
                at = d.get("E", 0) - 1723161255000
                if "E" in d and kind.startswith("btc"):
                    times.append(at)
                if kind.endswith("100ms"):
                    assert last is None or d["U"] == last + 1, "differences continue where they stood"
                    last = d["u"]
                if at >= seconds * 1000:
                    return

        read(20)
        halted = listed()
        equal(halted["BTCUSDT"]["status"], "HALT")
        equal(halted["ETHUSDT"]["status"], "TRADING")
        read(90)
        assert not [t for t in times if 10100 < t < 59900], "nothing is traded in a halt"
        assert [t for t in times if t <= 10100] and [t for t in times if t > 60000]
        changed = listed()
        equal(changed["BTCUSDT"], before["BTCUSDT"])
        assert changed["ETHUSDT"]["filters"] != before["ETHUSDT"]["filters"]
        equal(changed["ETHUSDT"]["filters"][0], before["ETHUSDT"]["filters"][0], "prices keep their tick")
        read(141)
        equal(list(listed()), ["BTCUSDT"])
        equal(v.get("/api/v3/depth?symbol=ETHUSDT")[2]["code"], -1121)


def test_hold():
    """The position stands still at a market time, with REST answered, until another one is posted."""
    start_ms = 1723161255000
    with synthetic("--speed", "max", "--fault", "hold@10s") as v:
        s = v.streams("btcusdt@kline_1m")  # so few messages that the position does not wait for their reader
        for seconds in (10, 20):
            until(lambda: v.rest("/api/v3/time")["serverTime"] - start_ms > (seconds - 1) * 1000, "the position")
            for _ in range(3):
                equal(v.rest("/api/v3/time")["serverTime"] - start_ms <= seconds * 1000, True)
            v.fault(f"hold@{seconds + 10}s")
        while s.message()["data"]["E"] < start_ms + 25000:
            pass


def flows_on():
    """A slow answer of more than five seconds, which libwebsockets gives a whole one, is not cut."""
    with synthetic("--fault", "slow-answer:24kB/s") as v:
        start = time.monotonic()
        c = http.client.HTTPSConnection("127.0.0.1", v.port, context=v.context, timeout=60)
        c.request("GET", "/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=1000")
        equal(len(json.loads(c.getresponse().read())), 1000, f"after {time.monotonic() - start:.1f} s")
        assert time.monotonic() - start > 5.5
        c.close()


def main():
    beside = concurrent.futures.ThreadPoolExecutor()
    flows = beside.submit(flows_on)
    for test in [value for name, value in globals().items() if name.startswith("test_")]:
        start = time.monotonic()
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - start:.1f} s", flush=True)
    flows.result()


main()
