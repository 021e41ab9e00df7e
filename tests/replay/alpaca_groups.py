"""Brackets, OCO, OTO, trailing stops, auctions and fills in parts at papertape-replay as Alpaca has them: what fills, and at which
price, is computed again from the trades that its REST shows. With Python's standard library.

usage: alpaca_groups.py PROGRAM"""

import functools
import json
import os
import random
import sys
import tempfile
import time
from decimal import ROUND_DOWN, ROUND_UP, Decimal

import alpaca_client
from alpaca_client import KEYS, equal, ok, place, refused
from venue import BINARY, Venue, run_tests, until

start = functools.partial(alpaca_client.start, sys.argv[1])
FAST = ("--speed", "2400")
NEVER = "9999"


def last(v, symbol):
    """Its quote."""
    q = ok(v, "GET", "/v2/stocks/quotes/latest", symbols=symbol)["quotes"][symbol]
    return Decimal(str(q["bp"])), Decimal(str(q["ap"]))


def nanoseconds(text):
    """A day's time as it sorts."""
    whole, _, part = text.rstrip("Z").partition(".")
    return whole + "." + part.ljust(9, "0")


def trades(v, symbol, begin, end):
    """Those of the session that fill and trigger: (time, price)."""
    rows, token = [], ""
    while token is not None:
        page = ok(v, "GET", "/v2/stocks/trades", symbols=symbol, start=begin, end=end, limit=10000, page_token=token)
        rows += page["trades"].get(symbol, [])
        token = page["next_page_token"]
    return [(nanoseconds(t["t"]), Decimal(str(t["p"]))) for t in rows if "I" not in t["c"]]


def moving(v, channel="bars", symbol="SPY"):
    """The market's time passes while this is open."""
    s = v.socket("/v2/sip", KEYS)
    s.say({"action": "subscribe", channel: [symbol]})
    return s


def stream(v):
    """The trading stream of the account."""
    s = v.socket("/stream")
    s.say({"action": "auth", "key": "k", "secret": "s"})
    s.say({"action": "listen", "data": {"streams": ["trade_updates"]}})
    for _ in range(2):
        s.data(BINARY)
    return s


def events(s, n):
    """(what, type, status) of so many events."""
    rows = [json.loads(s.data(BINARY))["data"] for _ in range(n)]
    return [(row["event"], row["order"]["type"], row["order"]["status"]) for row in rows]


def bracket(symbol, take_profit, stop_loss, qty="10", **more):
    return {"symbol": symbol, "qty": qty, "side": "buy", "type": "market", "time_in_force": "day", "order_class": "bracket",
            "take_profit": {"limit_price": str(take_profit)}, "stop_loss": {"stop_price": str(stop_loss)}, **more}


def order(v, of):
    return ok(v, "GET", f"/v2/orders/{of['id']}", nested="true")


def states(v, of):
    got = order(v, of)
    return (got["status"], *(leg["status"] for leg in got["legs"]))


def test_exits():
    """Of each bracket that has its entry the exit is filled that the trades meet first, and the other is cancelled then."""
    draw, groups = random.Random(5), []
    with start("7", *FAST) as v:
        for symbol in ("AAPL", "MSFT", "SPY", "F") * 3:
            bid, ask = last(v, symbol)
            prices = [(price * (1 + sign * Decimal(draw.uniform(0.0004, 0.0015)))).quantize(Decimal("0.01")) for price, sign in ((ask, 1), (bid, -1))]
            profit, stop = max(prices[0], ask + Decimal("0.01")), min(prices[1], bid - Decimal("0.01"))
            limit = {"limit_price": str(stop - 1)} if draw.random() < 0.3 else {}
            group = bracket(symbol, profit, stop)
            placed = place(v, **{**group, "stop_loss": {**group["stop_loss"], **limit}})
            equal((placed["status"], placed["order_class"], placed["filled_avg_price"]), ("filled", "bracket", str(ask)))
            equal([(leg["type"], leg["status"], leg["side"], leg["qty"], leg["order_class"]) for leg in placed["legs"]],
                  [("limit", "new", "sell", "10", "bracket"), ("stop_limit" if limit else "stop", "new", "sell", "10", "bracket")])
            groups.append(placed)
        s = moving(v)
        until(lambda: ok(v, "GET", "/v2/orders") == [], "the end of all groups")
        ends = {True: 0, False: 0}
        for placed in groups:
            got = order(v, placed)
            profit, stop = got["legs"]
            filled = profit["status"] == "filled"
            equal((profit["status"], stop["status"]), ("filled", "canceled") if filled else ("canceled", "filled"))
            equal(profit["canceled_at"] or profit["filled_at"], stop["filled_at"] or stop["canceled_at"])
            met = trades(v, got["symbol"], got["submitted_at"], profit["filled_at"] or stop["filled_at"])
            up = [t for t, price in met if price > Decimal(profit["limit_price"])]
            at = [t for t, price in met if price >= Decimal(profit["limit_price"])]
            down = [t for t, price in met if price <= Decimal(stop["stop_price"])]
            assert at and (not down or at[0] < down[0]) if filled else down and (not up or down[0] < up[0]), (got, at[:1], up[:1], down[:1])
            ends[filled] += 1
        assert min(ends.values()) >= 2, ends
        equal(ok(v, "GET", "/v2/positions"), [])
        fills = ok(v, "GET", "/v2/account/activities/FILL")
        cash = 100000 + sum(Decimal(f["price"]) * Decimal(f["qty"]) * (1 if f["side"] == "sell" else -1) for f in fills)
        equal((len(fills), Decimal(ok(v, "GET", "/v2/account")["cash"])), (2 * len(groups), cash))
        s.close()


def test_life():
    """Legs are held until all of the entry is filled; one that is cancelled ends the rest; lists nest them or not."""
    with start() as v:
        s = stream(v)
        bid, ask = last(v, "AAPL")
        entry = place(v, **bracket("AAPL", ask + 20, bid - 20, type="limit", limit_price=str(bid - 10)))
        equal(states(v, entry), ("new", "held", "held"))
        equal([(o["id"], o["legs"] and len(o["legs"])) for o in ok(v, "GET", "/v2/orders", nested="true")], [(entry["id"], 2)])
        equal([(o["type"], o["legs"]) for o in ok(v, "GET", "/v2/orders")], [("stop", None), ("limit", None), ("limit", None)])
        leg = ok(v, "PATCH", f"/v2/orders/{entry['legs'][1]['id']}", {"stop_price": str(bid - 30)})
        equal((leg["status"], leg["replaces"], leg["order_class"]), ("held", entry["legs"][1]["id"], "bracket"))
        equal(order(v, entry)["legs"][1]["id"], leg["id"])
        moved = ok(v, "PATCH", f"/v2/orders/{entry['id']}", {"limit_price": str(bid - 9)})
        equal((moved["replaces"], states(v, moved)), (entry["id"], ("new", "held", "held")))
        for more in ({"qty": "5"}, {"time_in_force": "gtc"}):
            refused(v, 422, "PATCH", f"/v2/orders/{moved['id']}", more, "complex orders", 42210000)
        refused(v, 422, "PATCH", f"/v2/orders/{leg['id']}", {"stop_price": str(ask + 20)}, "must be > stop_loss", 42210000)
        ok(v, "DELETE", f"/v2/orders/{moved['id']}")
        equal(states(v, moved), ("canceled",) * 3)
        equal(ok(v, "GET", "/v2/account")["buying_power"], "100000")
        bought = place(v, **bracket("AAPL", ask + 20, bid - 20))
        equal(events(s, 10), [("new", "limit", "new"), ("replaced", "stop", "replaced"), ("replaced", "limit", "replaced"), ("new", "limit", "new"),
                              ("canceled", "limit", "canceled"), ("canceled", "limit", "canceled"), ("canceled", "stop", "canceled"),
                              ("new", "market", "new"), ("fill", "market", "filled"), ("new", "limit", "new")], "none of what is held")
        equal(ok(v, "GET", "/v2/positions/AAPL")["qty_available"], "0")
        refused(v, 403, "POST", "/v2/orders", {"symbol": "AAPL", "qty": "1", "side": "sell", "type": "market", "time_in_force": "day"}, "insufficient qty", 40310000)
        profit = ok(v, "PATCH", f"/v2/orders/{bought['legs'][0]['id']}", {"limit_price": str(ask + 25)})
        equal((profit["status"], states(v, bought)), ("new", ("filled", "new", "new")))
        ok(v, "DELETE", f"/v2/orders/{bought['legs'][1]['id']}")
        equal(states(v, bought), ("filled", "canceled", "canceled"))
        equal(ok(v, "GET", "/v2/positions/AAPL")["qty_available"], "10")
        # The stop-loss lies below the quote that it would meet: at that it would be triggered at once.
        low = bracket("AAPL", ask + 20, bid)
        refused(v, 422, "POST", "/v2/orders", low, "must be <= base_price - 0.01", 42210000)
        placed = place(v, **{**low, "stop_loss": {"stop_price": str(bid - Decimal("0.01"))}})
        equal(states(v, placed), ("filled", "new", "new"))
        ok(v, "DELETE", f"/v2/orders/{placed['legs'][0]['id']}")
        # OCO: the first order is the take-profit.
        oco = {"symbol": "AAPL", "qty": "10", "side": "sell", "type": "limit", "time_in_force": "gtc", "order_class": "oco"}
        pair = place(v, **oco, take_profit={"limit_price": str(ask + 20)}, stop_loss={"stop_price": str(bid - 20), "limit_price": str(bid - 21)})
        equal((pair["type"], pair["limit_price"], states(v, pair)), ("limit", str(ask + 20), ("new", "new")))
        equal([(leg["type"], leg["stop_price"], leg["limit_price"]) for leg in pair["legs"]], [("stop_limit", str(bid - 20), str(bid - 21))])
        ok(v, "DELETE", f"/v2/orders/{pair['id']}")
        equal(states(v, pair), ("canceled", "canceled"))
        # OTO: one leg, which no replacement changes.
        one = place(v, **{**bracket("F", NEVER, "1"), "order_class": "oto", "take_profit": None})
        equal((states(v, one), one["legs"][0]["type"]), (("filled", "new"), "stop"))
        refused(v, 422, "PATCH", f"/v2/orders/{one['legs'][0]['id']}", {"stop_price": "2"}, "oto orders", 42210000)
        equal([o["status"] for o in ok(v, "GET", "/v2/orders", status="all", symbols="F")], ["new", "filled"])
        equal(len(ok(v, "DELETE", "/v2/orders")), 1)
        equal(states(v, one), ("filled", "canceled"))
        other = place(v, **{**bracket("F", NEVER, "1"), "order_class": "oto", "stop_loss": None})
        equal((states(v, other), other["legs"][0]["type"]), (("filled", "new"), "limit"))
        ok(v, "DELETE", "/v2/positions", cancel_orders="true")
        equal((ok(v, "GET", "/v2/orders"), ok(v, "GET", "/v2/positions")), ([], []))
        s.close()


def test_faults():
    """A bracket that comes late, or twice, is there once, with its legs; one that a wipe takes is gone with them."""
    for fault, status in (("order:late:200ms", 504), ("order:twice", 422), ("order:5xx-done", 504)):
        with start("7", "--fault", fault) as v:
            bid, ask = last(v, "AAPL")
            answers = [alpaca_client.call(v, "POST", "/v2/orders", bracket("AAPL", ask + 20, bid - 20, qty="1", client_order_id=f"b{number}"))
                       for number in range(4)]  # every fourth order is hit
            equal([got for got, _ in answers], [200] * 3 + [status], fault)
            mine = until(lambda: (found := ok(v, "GET", "/v2/orders", status="all", nested="true")) and len(found) == 4 and found, "all of them")
            equal([(o["client_order_id"], o["status"], [leg["status"] for leg in o["legs"]]) for o in mine],
                  [(f"b{number}", "filled", ["new", "new"]) for number in (3, 2, 1, 0)])
            equal(ok(v, "GET", "/v2/positions/AAPL")["qty_available"], "0")
            v.fault("wipe")
            equal((ok(v, "GET", "/v2/orders", status="all"), ok(v, "GET", "/v2/positions")), ([], []))
            again = place(v, **bracket("AAPL", ask + 20, bid - 20))
            equal((states(v, again), ok(v, "GET", "/v2/positions/AAPL")["qty"]), (("filled", "new", "new"), "10"))


def test_trailing():
    """The stop keeps its distance from the best price; the first trade that reaches it triggers it."""
    with start("11", *FAST) as v:
        place(v, symbol="AAPL", qty="20", side="buy", type="market", time_in_force="day")
        started = {}
        for side, symbol, trail in (("sell", "AAPL", {"trail_percent": "0.1"}), ("sell", "AAPL", {"trail_price": "0.4"}), ("buy", "MSFT", {"trail_price": "0.55"}),
                                    ("buy", "SPY", {"trail_percent": "0.05"})):
            bid, ask = last(v, symbol)
            placed = place(v, symbol=symbol, qty="10", side=side, type="trailing_stop", time_in_force="day", **trail)
            equal((placed["type"], placed["status"], Decimal(placed["hwm"])), ("trailing_stop", "new", bid if side == "sell" else ask))
            started[placed["id"]] = placed
        wide = place(v, symbol="F", qty="10", side="buy", type="trailing_stop", time_in_force="gtc", trail_percent="50")
        near = ok(v, "PATCH", f"/v2/orders/{wide['id']}", {"trail": "25"})
        equal((near["trail_percent"], near["hwm"], Decimal(near["stop_price"])), ("25", wide["hwm"], Decimal(wide["hwm"]) * Decimal("1.25")))
        refused(v, 422, "PATCH", f"/v2/orders/{near['id']}", {"stop_price": "99"}, "follows from trail", 42210000)
        for by in ("0.00001", "1000.0001"):
            refused(v, 422, "PATCH", f"/v2/orders/{near['id']}", {"trail": by}, "at most 4 digits", 42210000)
        s = moving(v)
        until(lambda: len(ok(v, "GET", "/v2/orders")) == 1, "all triggered but one")
        for placed in started.values():
            got = order(v, placed)
            sells, mark = got["side"] == "sell", Decimal(placed["hwm"])
            for t, price in trades(v, got["symbol"], got["submitted_at"], got["filled_at"]):
                mark = max(mark, price) if sells else min(mark, price)
                percent = 100 + Decimal(got["trail_percent"] or 0) * (-1 if sells else 1)
                stop = mark + Decimal(got["trail_price"]) * (-1 if sells else 1) if got["trail_price"] else (mark * percent / 100).quantize(Decimal("1e-9"), ROUND_DOWN if sells else ROUND_UP)
                if price <= stop if sells else price >= stop:
                    break
            else:
                raise AssertionError(f"triggered by no trade: {got}")
            equal((Decimal(got["hwm"]), Decimal(got["stop_price"]), got["status"]), (mark, stop, "filled"), got)
            assert t <= nanoseconds(got["filled_at"]), (t, got)
        s.close()


def test_auctions():
    """Orders of the opening and the closing auction: held until then, filled at the session's first and last price, else cancelled,
    and never at a worse price than the auction's."""
    with start("7", "--speed", "20000", "--fill-slippage", "100", at="2026-01-15T13:00:00Z") as v:
        s, at = stream(v), {"symbol": "AAPL", "qty": "10", "side": "buy"}
        opens = [place(v, **at, type="market", time_in_force="opg"), place(v, **{**at, "qty": "3"}, type="limit", limit_price="999", time_in_force="opg"),
                 place(v, **at, type="limit", limit_price="1", time_in_force="opg")]
        closes = [place(v, **{**at, "symbol": "MSFT"}, type=kind, time_in_force="cls", **more) for kind, more in (("market", {}), ("limit", {"limit_price": "2"}))]
        equal({o["status"] for o in opens + closes}, {"accepted"})
        equal(set(events(s, 5)), {("accepted", "market", "accepted"), ("accepted", "limit", "accepted")})
        ended = place(v, **at, type="market", time_in_force="opg")
        ok(v, "DELETE", f"/v2/orders/{ended['id']}")
        equal(order(v, ended)["status"], "canceled")
        market = moving(v)
        until(lambda: ok(v, "GET", "/v2/orders") == [], "both auctions")
        first = trades(v, "AAPL", "2026-01-15T14:30:00Z", "2026-01-15T14:59:00Z")[0][1]
        last_one = trades(v, "MSFT", "2026-01-15T20:30:00Z", "2026-01-15T20:59:59.999999999Z")[-1][1]
        opens, closes = [[order(v, o) for o in some] for some in (opens, closes)]
        equal([(o["status"], o["filled_qty"], o["filled_avg_price"], o["filled_at"]) for o in opens[:2] + closes[:1]],
              [("filled", "10", str(first), "2026-01-15T14:30:00Z"), ("filled", "3", str(first), "2026-01-15T14:30:00Z"),
               ("filled", "10", str(last_one), "2026-01-15T21:00:00Z")])
        equal([(o["status"], o["filled_qty"]) for o in (opens[2], closes[1])], [("canceled", "0")] * 2)
        market.close()
        s.close()
    for at, tif, taken in (("2026-01-15T14:27:59Z", "opg", True), ("2026-01-15T14:28:00Z", "opg", False), ("2026-01-15T23:59:59Z", "opg", False),
                           ("2026-01-16T00:00:00Z", "opg", True), ("2026-01-15T20:49:59Z", "cls", True), ("2026-01-15T20:50:00Z", "cls", False),
                           ("2026-01-17T17:00:00Z", "cls", True)):  # the last a Saturday
        with start("7", at=at) as v:
            status, answer = alpaca_client.call(v, "POST", "/v2/orders", {"symbol": "F", "qty": "1", "side": "buy", "type": "market", "time_in_force": tif})
            equal((status, answer.get("status")), (200, "accepted") if taken else (422, None), (at, tif, answer))


def test_opening():
    """Orders that are given while the market is closed wait for it, accepted, and meet its quotes, or end with its day; what does not
    wait is refused."""
    with start("7", "--speed", "20000", at="2026-01-15T13:00:00Z") as v:
        s, at = stream(v), {"symbol": "AAPL", "qty": "10", "side": "buy"}
        market = place(v, **at, type="market", time_in_force="day")
        limit = place(v, **{**at, "qty": "3"}, type="limit", limit_price="999", time_in_force="gtc")
        low = place(v, **at, type="limit", limit_price="1", time_in_force="day")
        gone = place(v, **at, type="market", time_in_force="gtc")
        equal({o["status"] for o in (market, limit, low, gone)}, {"accepted"})
        equal(set(events(s, 4)), {("accepted", "market", "accepted"), ("accepted", "limit", "accepted")})
        refused(v, 422, "PATCH", f"/v2/orders/{limit['id']}", {"limit_price": "998"}, "while they are accepted")
        ok(v, "DELETE", f"/v2/orders/{gone['id']}")
        for other in ({"type": "market", "time_in_force": "ioc"}, {"qty": None, "type": "market", "notional": "100", "time_in_force": "day"},
                      bracket("AAPL", "999", "1")):
            refused(v, 403, "POST", "/v2/orders", {**at, **other}, "the market is closed: only simple orders")
        refused(v, 403, "POST", "/v2/orders", {**at, "qty": "1000000", "type": "market", "time_in_force": "day"}, "insufficient buying power")
        playing = moving(v)
        until(lambda: ok(v, "GET", "/v2/orders") == [], "the opening, and the close")
        market, limit, low, gone = [order(v, o) for o in (market, limit, low, gone)]
        equal([(o["status"], o["filled_qty"]) for o in (market, limit, low, gone)], [("filled", "10"), ("filled", "3"), ("expired", "0"), ("canceled", "0")])
        for o in (market, limit):  # in its session: how soon is this machine's speed, 5.5 hours of market a second
            assert "2026-01-15T14:30" <= o["filled_at"] < "2026-01-15T21:00" and o["submitted_at"] < "2026-01-15T14:30", o
        assert low["expired_at"] >= "2026-01-15T21:00", low
        playing.close()
        s.close()
    # One that waited for an opening, and is made an order of a later day, ends with that day.
    with start("7", "--speed", "max", "--fault", "hold@26h", at="2026-01-15T13:00:00Z") as v:
        waited = place(v, symbol="AAPL", qty="10", side="buy", type="limit", limit_price="1", time_in_force="gtc")
        playing = moving(v, "statuses")
        until(lambda: time.sleep(0.1) or ok(v, "GET", "/v2/clock")["timestamp"].startswith("2026-01-16T09:59"), "the next day's session")
        equal(order(v, waited)["status"], "new")
        later = ok(v, "PATCH", f"/v2/orders/{waited['id']}", {"time_in_force": "day"})
        equal((later["status"], order(v, later)["status"]), ("new", "new"))
        v.fault("hold@33h")
        until(lambda: time.sleep(0.1) or order(v, later)["status"] == "expired", "that day's end")
        playing.close()
    for at, extended, taken in (("2026-01-15T22:00:00Z", False, "accepted"), ("2026-01-17T17:00:00Z", False, "accepted"),  # evening, Saturday
                                ("2026-01-15T22:00:00Z", True, "new"), ("2026-01-17T17:00:00Z", True, "accepted")):
        with start("7", at=at) as v:
            equal(place(v, symbol="F", qty="1", side="buy", type="limit", limit_price="1", time_in_force="day", extended_hours=extended)["status"], taken,
                  (at, extended))


def test_auctions_of_bars():
    """Of a bars file the session's first open, and its last close."""
    opens = (1764599400, 1764685800)  # 2025-12-01 and -02, 14:30 UTC
    draw = random.Random(2)
    bars = [(opens[day] + 300 * i, round(draw.uniform(90, 110), 2), round(draw.uniform(90, 110), 2)) for day in range(2) for i in range(78)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "SPY_5m.csv")
        with open(path, "w", encoding="ascii") as file:
            print("open_time,open,high,low,close,volume", file=file)
            for t, first, end in bars:
                print(f"{t},{first},{max(first, end)},{min(first, end)},{end},10000", file=file)
        with Venue(sys.argv[1], "--venue", "alpaca", "--bars", path, "--from", "2025-12-01T20:00:00Z", "--speed", "12000") as v:
            at = {"symbol": "SPY", "qty": "2", "side": "buy", "type": "market"}
            close = place(v, **at, time_in_force="cls")
            market = moving(v)
            until(lambda: alpaca_client.call(v, "POST", "/v2/orders", {**at, "time_in_force": "opg", "client_order_id": "o"})[0] == 200, "the evening")
            open_ = ok(v, "GET", "/v2/orders:by_client_order_id", client_order_id="o")
            until(lambda: ok(v, "GET", "/v2/orders") == [], "both auctions")
            got = [order(v, o) for o in (close, open_)]
            equal([(o["status"], Decimal(o["filled_avg_price"]), o["filled_at"]) for o in got],
                  [("filled", Decimal(str(bars[77][2])), "2025-12-01T21:00:00Z"), ("filled", Decimal(str(bars[78][1])), "2025-12-02T14:30:00Z")])
            market.close()


def test_parts():
    """With --partial-fills: the same orders get the same parts, the rest comes later; of an IOC order it is cancelled; exits that are
    filled in part lower each other."""
    def drawn(seed):
        with start(seed, "--partial-fills", "10") as v:
            for _ in range(100):
                place(v, symbol="F", qty="20", side="buy", type="market", time_in_force="ioc")
            return [o["filled_qty"] for o in ok(v, "GET", "/v2/orders", status="all", limit=500)]

    once, other = drawn("7"), drawn("8")
    equal(drawn("7"), once)
    assert once != other and all(3 <= sum(qty != "20" for qty in run) <= 22 for run in (once, other)), (once, other)
    with start("7", "--partial-fills", "60", *FAST) as v:
        s = stream(v)
        placed = place(v, symbol="AAPL", qty="10", side="buy", type="market", time_in_force="day")
        while placed["status"] == "filled":
            placed = place(v, symbol="AAPL", qty="10", side="buy", type="market", time_in_force="day")
        assert placed["status"] == "partially_filled" and 0 < int(placed["filled_qty"]) < 10, placed
        equal(order(v, placed)["filled_qty"], placed["filled_qty"], "while the time stands still")
        groups = []
        for symbol in ("MSFT", "SPY") * 4:
            bid, ask = last(v, symbol)
            groups.append(place(v, **bracket(symbol, ask + Decimal("0.15"), bid - Decimal("0.15"))))
        market = moving(v)
        until(lambda: ok(v, "GET", "/v2/orders") == [], "the end of all")
        for of in groups:
            got = order(v, of)
            equal(sum(int(leg["filled_qty"]) for leg in got["legs"]), 10, got)
            assert {leg["status"] for leg in got["legs"]} <= {"filled", "canceled"}, got
        fills = ok(v, "GET", "/v2/account/activities/FILL")
        token = fills
        while token:
            token = ok(v, "GET", "/v2/account/activities/FILL", page_token=fills[-1]["id"])
            fills += token
        cash = 100000 + sum(Decimal(f["price"]) * Decimal(f["qty"]) * (1 if f["side"] == "sell" else -1) for f in fills)
        equal(Decimal(ok(v, "GET", "/v2/account")["cash"]), cash)
        assert len(fills) > 3 * len(groups), fills
        equal({p["symbol"] for p in ok(v, "GET", "/v2/positions")}, {"AAPL"})
        seen = []
        while not seen or seen[-1]["order"]["id"] != placed["id"] or seen[-1]["event"] != "fill":
            seen.append(json.loads(s.data(BINARY))["data"])
        end = place(v, symbol="BTC/USD", qty="0.001", side="buy", type="limit", limit_price="20000", time_in_force="gtc")
        ok(v, "DELETE", f"/v2/orders/{end['id']}")
        while seen[-1]["order"]["id"] != end["id"] or seen[-1]["event"] != "canceled":
            seen.append(json.loads(s.data(BINARY))["data"])
        new = [row["order"]["id"] for row in seen if row["event"] == "new" and row["order"]["type"] == "limit"]  # a stop that is triggered says it again
        equal(len(new), len(set(new)), "an exit that is lowered is no new order")
        mine = [row for row in seen if row["order"]["id"] == placed["id"]]
        equal([row["event"] for row in mine], ["new"] + ["partial_fill"] * (len(mine) - 2) + ["fill"])
        equal(sum(int(row["qty"]) for row in mine[1:]), 10)
        market.close()
        s.close()


run_tests(globals())
