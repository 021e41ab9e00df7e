#!/usr/bin/env python3
"""Market orders and limit orders at the market, the same ones on paper here and at papertape-replay, on a book that stands still:
price and quantity of each fill are equal to the digit, without slippage and with the same one configured here and planted there;
fees are as each of them takes them. At Alpaca, which fills at the quote whatever its size, this holds of orders that the quote's
sizes cover: a larger one walks the book here."""

import datetime
import decimal
import json
import random
import time

import harness

ORDERS = 500 if harness.LONG else 40
PLAYED_S = 2  # then the book stands
SYMBOL = "BTCUSDT"
FEE = decimal.Decimal("0.001")


class Binance:
    name, symbol, currency, fee, scale = "binance", SYMBOL, "USDT", FEE, 8
    market = ""
    rounding = decimal.ROUND_FLOOR  # of the fees, which it says
    expired = "EXPIRED"  # what it calls the rest of an IOC order

    @staticmethod
    def standing(replay, daemon, ends_ms):
        return standing(replay, daemon, ends_ms)

    @staticmethod
    def drawn(book):
        return Drawn(book)


class Alpaca:
    name, symbol, currency, fee, scale = "alpaca", "BTC/USD", "USD", decimal.Decimal("0.0025"), 9
    market = "venue = alpaca\n"
    rounding = decimal.ROUND_CEILING  # of the account's rates: it says none
    expired = "CANCELED"

    @staticmethod
    def standing(replay, daemon, ends_ms):
        """The quote that stands, and is the book's best here."""
        headers = {"APCA-API-KEY-ID": "key1", "APCA-API-SECRET-KEY": "hush"}
        get = lambda path: rest(replay, path, headers=headers)
        harness.wait_for(lambda: datetime.datetime.fromisoformat(get("/v2/clock")["timestamp"]).timestamp() * 1000 == ends_ms, "the market's end")
        quote = get("/v1beta3/crypto/us/latest/quotes?symbols=BTC/USD")["quotes"]["BTC/USD"]
        best = {"bids": [quote["bp"], quote["bs"]], "asks": [quote["ap"], quote["as"]]}

        def same():
            here = json.loads(daemon.papertape("book", "BTC/USD", "--json", status=None) or "{}", parse_float=decimal.Decimal)
            return all(here.get(side) and here[side][0] == level for side, level in best.items())

        harness.wait_for(same, "the quote that stands")
        return best

    @staticmethod
    def drawn(best):
        return DrawnWithin(best)


def start(folder, venue, slippage_bp):
    """The market ends with a difference of the book: nothing changes that is not sent."""
    keys = harness.write_keys(folder, "keys", "hush")
    began = int(time.time())
    replay = harness.Replay(folder, "--venue", venue.name, "--synthetic", "29", "--from", str(began),
                            "--to", str((began + PLAYED_S) * 10**9 + 1), "--fill-slippage", str(slippage_bp))
    daemon = harness.Daemon(folder, replay, f"""[market]
{venue.market}symbols = {venue.symbol}
[venue {venue.name}]
{f"keys = {keys}" if venue is Alpaca else ""}
[feed]
stale_s = 3600
[engine]
latency_ms = 0
slippage = {slippage_bp / 10000:.6f}
{harness.NO_LIMITS}[account here]
currency = {venue.currency}
cash = 1000000
strategy = none
fee_taker = {venue.fee}
[account there]
currency = {venue.currency}
strategy = none
execution = venue-paper
execution_keys = {keys}
execution_rest_url = {replay.urls["rest_url"]}
execution_ws_url = {replay.urls["ws_url"]}
""")
    return replay, daemon, (began + PLAYED_S) * 1000


def rest(replay, path, **request):
    return json.loads(harness.rest(replay, path, **request), parse_float=decimal.Decimal)


def control(daemon, cmd, **args):
    answer = harness.control(daemon, cmd, args)
    assert answer["ok"], (cmd, args, answer)
    return answer["result"]


def standing(replay, daemon, ends_ms):
    """The venue's book, once it stands and all of it has come here."""
    harness.wait_for(lambda: rest(replay, "/api/v3/time")["serverTime"] == ends_ms, "the market's end")
    there = rest(replay, f"/api/v3/depth?symbol={SYMBOL}&limit=1000")

    def same():
        here = json.loads(daemon.papertape("book", SYMBOL, "--json", status=None) or "{}", parse_float=decimal.Decimal)
        return all([[decimal.Decimal(x) for x in level] for level in there[side]] == here.get(side) for side in ("bids", "asks"))

    harness.wait_for(same, "the book that stands")
    return there


class Drawn:
    """Orders: purchases and sales of what both accounts hold, half of them with limits about where the last one of its side came
    to in the book."""

    def __init__(self, book):
        self.draw = random.Random(29)
        self.levels = {"buy": [level[0] for level in book["asks"]], "sell": [level[0] for level in book["bids"]]}
        self.reached = {"buy": 0, "sell": 0}

    def next(self, held):
        draw, lots = self.draw, int(held * 1000)
        side = "sell" if lots > 50 and draw.random() < 0.55 else "buy"
        qty = draw.randint(1, 12 if draw.random() < 0.9 else 100)
        order = {"symbol": SYMBOL, "side": side, "qty": str(decimal.Decimal(min(qty, lots) if side == "sell" else qty).scaleb(-3))}
        if draw.random() < 0.5:
            levels = self.levels[side]
            level = max(0, min(len(levels) - 1, self.reached[side] + draw.randint(-1, 4)))
            order |= {"limit": levels[level].rstrip("0").rstrip("."), "tif": draw.choice(("gtc", "ioc", "fok"))}
        return order

    def filled(self, side, price):
        worse = [i for i, level in enumerate(self.levels[side])
                 if (decimal.Decimal(level) - price) * (1 if side == "buy" else -1) <= 0]
        self.reached[side] = max(self.reached[side], worse[-1] if worse else 0)


class DrawnWithin:
    """The same, each of two dollars, which is little more than the least, as long as the quote's sizes cover all of them; limits
    are at the quote, or up to three ticks about it. None: they cover no more."""

    def __init__(self, best):
        self.draw, self.best = random.Random(29), {"buy": best["asks"], "sell": best["bids"]}
        self.left = {side: decimal.Decimal(size) for side, (_, size) in self.best.items()}

    def next(self, held):
        draw, price = self.draw, decimal.Decimal(self.best["buy"][0])
        qty = (decimal.Decimal(draw.randint(1800, 2200)) / 1000 / price).quantize(decimal.Decimal("1e-9"), decimal.ROUND_FLOOR)
        sides = [side for side in ("buy", "sell") if self.left[side] >= qty and (side == "buy" or held >= qty)]
        if not sides:
            return None
        side = draw.choice(sides)
        self.left[side] -= qty
        order = {"symbol": Alpaca.symbol, "side": side, "qty": f"{qty:f}"}
        if draw.random() < 0.5:
            worse = draw.choice((-1, 0, 0, 1, 3)) * (1 if side == "buy" else -1)
            order |= {"limit": f"{decimal.Decimal(self.best[side][0]) + worse * decimal.Decimal('0.01'):f}", "tif": draw.choice(("gtc", "ioc"))}
        return order

    def filled(self, side, price):
        assert abs(price - self.best[side][0]) <= price / 1000


def still(daemon):
    """The status, once each order has ended or rests."""
    return harness.wait_for(lambda: (s := control(daemon, "status")) and all(o["state"] in ("OPEN", "PARTIAL") for o in s["orders"]) and s,
                            "the end of all orders")


def placed(daemon, drawn):
    """One order on both accounts; what rests of it is cancelled."""
    held = {p["account"]: decimal.Decimal(str(p["qty"])) for p in still(daemon)["positions"]}
    order = drawn.next(min((held.get(name, 0) for name in ("here", "there")), default=0))
    if not order:
        return None
    for name in ("here", "there"):
        control(daemon, "order", account=name, **order)
    while still(daemon)["orders"]:
        control(daemon, "cancel", all=True)
    return order


def rows(daemon, account):
    """Of each of its orders: how it ended, and its fills, of scale 8."""
    orders = daemon.query("SELECT o.id, o.side, o.type, o.tif, o.qty, o.price, o.state, o.filled FROM orders o JOIN accounts a "
                          f"ON a.id = o.account WHERE a.name = '{account}' ORDER BY o.id")
    fills = {order: [] for order, *_ in orders}
    for order, *fill in daemon.query("SELECT order_id, price, qty, notional, fee, fee_base, maker FROM fills ORDER BY id"):
        if order in fills:
            fills[order].append(fill)
    return [(row[1:], fills[row[0]]) for row in orders]


def compare(venue, here, there):
    share = lambda scaled, rounding: (decimal.Decimal(scaled) * venue.fee).to_integral_value(rounding)  # the fee, in units
    assert len(here) == len(there)
    for (ours, mine), (theirs, venues) in zip(here, there):
        *same, state, filled = ours
        assert (*same, venue.expired if state == "EXPIRED" else state, filled) == theirs, (ours, theirs)
        assert [fill[:3] for fill in mine] == [fill[:3] for fill in venues], (ours, mine, venues)
        for (_, qty, notional, fee, base, maker), (_, _, _, fee_there, base_there, maker_there) in zip(mine, venues):
            assert (maker, maker_there) == (0, 0)
            assert (fee, base) == (share(notional, decimal.ROUND_CEILING), 0)
            received = share(qty if ours[0] == "BUY" else notional, venue.rounding)
            assert (fee_there, base_there) == ((0, received) if ours[0] == "BUY" else (received, 0))


def equal(folder, venue, slippage_bp, most, part=0):
    """How many orders."""
    replay, daemon, ends_ms = start(folder.within(f"{venue.name}-{slippage_bp}-{part}"), venue, slippage_bp)
    folder.start(replay)
    folder.start(daemon)
    daemon.wait_status(lambda s: len(s["accounts"] or ()) == 2 and s["accounts"][1]["venue_account"]["attached"]
                       and s["accounts"][1]["venue_account"]["link"] == "up", "an account that is attached")
    drawn = venue.drawn(venue.standing(replay, daemon, ends_ms))
    for _ in range(most):
        order = placed(daemon, drawn)
        if not order:
            break
        for price, in daemon.query("SELECT f.price FROM fills f WHERE f.order_id = (SELECT max(id) FROM orders)"):
            drawn.filled(order["side"], decimal.Decimal(price).scaleb(-venue.scale))
    assert daemon.stop() == 0  # and all is in the database
    here, there = rows(daemon, "here"), rows(daemon, "there")
    compare(venue, here, there)
    kinds = {}
    for (_, kind, tif, *_, state, _), _ in here:
        kinds[kind, tif, state] = kinds.get((kind, tif, state), 0) + 1
    print(f"{venue.name}, slippage {slippage_bp} bp: {len(here)} orders, {sum(len(fills) for _, fills in here)} fills:", kinds)
    assert replay.stop() == 0
    return len(here)


def all_of(folder, venue, slippage_bp):
    """So many, on as many quotes as it takes."""
    n = part = 0
    while n < ORDERS:
        given = equal(folder, venue, slippage_bp, ORDERS - n, part)
        assert given > 0, "no order: the quote covers none"
        n += given
        part += 1


def main():
    with harness.Folder() as folder:
        runs = ((Binance, 0), (Binance, 3), (Alpaca, 0), (Alpaca, 3)) if harness.LONG else ((Binance, 0),)
        harness.together(folder, *(lambda folder, run=run: all_of(folder, *run) for run in runs))


if __name__ == "__main__":
    main()
