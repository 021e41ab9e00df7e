#!/usr/bin/env python3
"""Market orders and limit orders at the market, the same ones on paper here and at papertape-replay, on a book that stands still:
price and quantity of each fill are equal to the digit, without slippage and with the same one configured here and planted there;
fees are as each of them takes them."""

import decimal
import json
import random
import ssl
import time
import urllib.request

import harness

ORDERS = 500 if harness.LONG else 40
PLAYED_S = 2  # then the book stands
SYMBOL = "BTCUSDT"
FEE = decimal.Decimal("0.001")
E8 = decimal.Decimal("1e-8")


def start(folder, slippage_bp):
    """The market ends with a difference of the book: nothing changes that is not sent."""
    keys = harness.write_keys(folder, "keys", "hush")
    began = int(time.time())
    replay = harness.Replay(folder, "--synthetic", "29", "--from", str(began), "--to", str((began + PLAYED_S) * 10**9 + 1),
                            "--fill-slippage", str(slippage_bp))
    daemon = harness.Daemon(folder, replay, f"""[market]
symbols = {SYMBOL}
[feed]
stale_s = 3600
[engine]
latency_ms = 0
slippage = {slippage_bp / 10000:.6f}
{harness.NO_LIMITS}[account here]
cash = 1000000
strategy = none
fee_taker = {FEE}
[account there]
strategy = none
execution = venue-paper
execution_keys = {keys}
execution_rest_url = {replay.urls["rest_url"]}
execution_ws_url = {replay.urls["ws_url"]}
""")
    return replay, daemon, (began + PLAYED_S) * 1000


def rest(replay, path):
    trusted = ssl.create_default_context(cafile=replay.ca)
    with urllib.request.urlopen(f"{replay.urls['rest_url']}/api/v3/{path}", context=trusted, timeout=harness.PATIENCE) as answer:
        return json.loads(answer.read())


def control(daemon, cmd, **args):
    answer = harness.control(daemon, cmd, args)
    assert answer["ok"], (cmd, args, answer)
    return answer["result"]


def standing(replay, daemon, ends_ms):
    """The venue's book, once it stands and all of it has come here."""
    harness.wait_for(lambda: rest(replay, "time")["serverTime"] == ends_ms, "the market's end")
    there = rest(replay, f"depth?symbol={SYMBOL}&limit=1000")

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


def still(daemon):
    """The status, once each order has ended or rests."""
    return harness.wait_for(lambda: (s := control(daemon, "status")) and all(o["state"] in ("OPEN", "PARTIAL") for o in s["orders"]) and s,
                            "the end of all orders")


def placed(daemon, drawn):
    """One order on both accounts; what rests of it is cancelled."""
    held = {p["account"]: decimal.Decimal(str(p["qty"])) for p in still(daemon)["positions"]}
    order = drawn.next(min((held.get(name, 0) for name in ("here", "there")), default=0))
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


def share(scaled):
    """The fee of that, in units: of 1e-8, exactly."""
    return decimal.Decimal(scaled) * FEE


def compare(here, there):
    assert len(here) == len(there) == ORDERS
    for (ours, mine), (theirs, venues) in zip(here, there):
        assert ours == theirs, (ours, theirs)
        assert [fill[:3] for fill in mine] == [fill[:3] for fill in venues], (ours, mine, venues)
        for (_, qty, notional, fee, base, maker), (_, _, _, fee_there, base_there, maker_there) in zip(mine, venues):
            assert (maker, maker_there) == (0, 0)
            assert (fee, base) == (share(notional).to_integral_value(decimal.ROUND_CEILING), 0)
            received = share(qty if ours[0] == "BUY" else notional).to_integral_value(decimal.ROUND_FLOOR)
            assert (fee_there, base_there) == ((0, received) if ours[0] == "BUY" else (received, 0))


def equal(folder, slippage_bp):
    replay, daemon, ends_ms = start(folder.within(f"slippage-{slippage_bp}"), slippage_bp)
    folder.start(replay)
    folder.start(daemon)
    daemon.wait_status(lambda s: len(s["accounts"] or ()) == 2 and s["accounts"][1]["venue_account"]["attached"]
                       and s["accounts"][1]["venue_account"]["link"] == "up", "an account that is attached")
    drawn = Drawn(standing(replay, daemon, ends_ms))
    for _ in range(ORDERS):
        order = placed(daemon, drawn)
        for price, in daemon.query("SELECT f.price FROM fills f WHERE f.order_id = (SELECT max(id) FROM orders)"):
            drawn.filled(order["side"], decimal.Decimal(price) * E8)
    assert daemon.stop() == 0  # and all is in the database
    here, there = rows(daemon, "here"), rows(daemon, "there")
    compare(here, there)
    kinds = {}
    for (_, kind, tif, *_, state, _), _ in here:
        kinds[kind, tif, state] = kinds.get((kind, tif, state), 0) + 1
    print(f"slippage {slippage_bp} bp: {ORDERS} orders, {sum(len(fills) for _, fills in here)} fills:", kinds)
    assert replay.stop() == 0


def main():
    with harness.Folder() as folder:
        harness.together(folder, *(lambda folder, bp=bp: equal(folder, bp) for bp in ((0, 3) if harness.LONG else (0,))))


if __name__ == "__main__":
    main()
