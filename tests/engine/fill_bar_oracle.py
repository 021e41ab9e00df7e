"""The bar model a second time, from the words of docs/fills.md: reads the inputs that fill_bar_tape prints, computes what must become
of them, and compares every fill, every order as it ended and the balances, to the unit.

    fill_bar_oracle.py TAPE [--long]
"""
import collections
import sys

import fill_oracle

UNIT = 10**8
TICK = LOWEST = 10**8
LOT = 1000
STOPS = ("STOP", "STOP_LIMIT", "TRAILING_STOP")
PROFITS = ("TAKE_PROFIT", "TAKE_PROFIT_LIMIT")
LIMITS = ("LIMIT", "STOP_LIMIT", "TAKE_PROFIT_LIMIT")
AMEND_QTY, AMEND_PRICE, AMEND_STOP, AMEND_TRAIL = 1, 2, 4, 8


def up(a, b):
    return -(-a // b)


class Order:
    def __init__(self, words):
        (self.id, self.side, self.type, self.tif) = (int(words[0]), *words[1:4])
        (self.qty, self.price, self.stop, self.trail, self.trail_e6, self.expires, self.post, self.reduce, self.group,
         self.parent, self.created) = map(int, words[4:])
        self.buy = self.side == "BUY"
        self.state = "HELD" if self.parent else "PENDING"
        self.reason, self.filled, self.cost, self.peak, self.triggered = "-", 0, 0, 0, False
        self.updated = self.created
        self.fresh = False

    def live(self):
        return self.state in ("HELD", "PENDING", "OPEN", "PARTIAL")

    def rests(self):
        return self.state in ("OPEN", "PARTIAL")

    def limit(self):
        return self.type == "LIMIT" or (self.triggered and self.type in LIMITS)


class Market:
    def __init__(self, words):
        (self.interval, self.latency, self.slippage, self.maker, self.taker, self.cash, self.scarce) = map(int, words)
        self.orders, self.queue, self.fills, self.held = {}, [], [], 0
        self.now = 0

    # ---- what is asked

    def order(self, words):
        order = Order(words)
        order.effective = order.created + self.latency
        self.orders[order.id] = order

    def cancel(self, words):
        target, time = map(int, words)
        order = self.orders[target]
        for each in [order, self.twin(order)]:
            if each and not getattr(each, "cancelling", False):
                each.cancelling = True
                self.queue.append((time, each.id, None))

    def amend(self, words):
        numbers = list(map(int, words))
        self.queue.append((numbers[-1], numbers[0], numbers[1:-1]))

    def twin(self, order):
        for other in self.orders.values():
            if order.group and other.group == order.group and other.parent == order.parent and other is not order \
                    and other.live():
                return other
        return None

    # ---- how orders end

    def end(self, order, state, reason="-"):
        order.state, order.reason = state, reason
        order.updated = self.now
        for exit in [o for o in self.orders.values() if o.parent == order.id and o.live()]:
            if order.filled == 0:
                self.end(exit, "CANCELED", "OTHER_LEG")
            elif exit.state == "HELD":
                exit.state, exit.qty, exit.effective, exit.updated = "PENDING", order.filled, self.now, self.now

    def reducible(self, order):
        return max(0, -self.held if order.buy else self.held)

    def affordable(self, order, price, qty):
        if order.reduce or (self.scarce and not order.buy):
            qty = min(qty, self.reducible(order))
        if not self.scarce or not order.buy:
            return qty

        def cost(q):
            notional = up(price * q, UNIT)
            return notional + up(notional * max(self.maker, self.taker), 10**6)
        if cost(qty) <= self.cash:
            return qty
        low, high = 0, qty // LOT + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if cost(middle * LOT) <= self.cash else (low, middle)
        return low * LOT

    def slipped(self, order, price):
        if not self.slippage:
            return price
        distance = up(price * self.slippage, 10**6)
        if order.buy:
            worse = up(price + distance, TICK) * TICK
            return min(worse, order.price) if order.limit() else worse
        worse = max(LOWEST, (price - distance) // TICK * TICK)
        return max(worse, order.price) if order.limit() else worse

    def trade(self, order, price, maker):
        left = order.qty - order.filled
        qty = self.affordable(order, price, left)
        if qty < left and order.tif == "FOK":
            self.end(order, "CANCELED", "REDUCE_ONLY" if order.reduce else "INSUFFICIENT_BALANCE")
            return
        if qty > 0:
            notional = up(price * qty, UNIT) if order.buy else price * qty // UNIT
            fee = up(notional * (self.maker if maker else self.taker), 10**6)
            self.cash += (-notional if order.buy else notional) - fee
            self.held += qty if order.buy else -qty
            order.filled += qty
            order.cost += notional
            self.fills.append((order.id, price, qty, int(maker), self.now, notional, fee))
            twin = self.twin(order)
            if twin:
                self.end(twin, "CANCELED", "OTHER_LEG")
        if order.filled == order.qty:
            self.end(order, "FILLED")
        elif order.reduce and self.reducible(order) == 0:
            self.end(order, "CANCELED", "REDUCE_ONLY")
        else:
            self.end(order, "CANCELED", "INSUFFICIENT_BALANCE")
        if qty > 0:
            for other in sorted(self.orders.values(), key=lambda o: o.id):
                if other.reduce and other.rests() and self.reducible(other) == 0:
                    self.end(other, "CANCELED", "REDUCE_ONLY")

    def trigger(self, order):
        if order.type in STOPS + PROFITS and not order.triggered:
            order.triggered = True
            twin = self.twin(order)
            if twin:
                self.end(twin, "CANCELED", "OTHER_LEG")

    # ---- one order

    def rest(self, order):
        if order.state == "PENDING":
            order.state = "OPEN"
        order.updated = self.now

    def take(self, order, price):
        if order.post:
            self.end(order, "CANCELED", "WOULD_TAKE")
            return None
        self.trade(order, self.slipped(order, price), False)
        return (price, False)

    def make(self, order):
        self.trade(order, order.price, True)
        return (order.price, True)

    def reached(self, order, price):
        """Its stop price is: a market order there, or a limit order that comes to the market there."""
        self.trigger(order)
        if order.type in LIMITS and (price > order.price if order.buy else price < order.price):
            self.rest(order)
            return None
        return self.take(order, price)

    def follow(self, order, price):
        if order.type != "TRAILING_STOP" or order.triggered:
            return False
        if order.peak and (price >= order.peak if order.buy else price <= order.peak):
            return False
        order.peak = price
        self.place(order)
        return True

    def place(self, order):
        if not order.peak:
            return
        distance = up(order.peak * order.trail_e6, 10**6) if order.trail_e6 else order.trail
        raw = order.peak + distance if order.buy else order.peak - distance
        if raw <= 0:
            order.stop = 0
        elif order.buy:
            order.stop = up(raw, TICK) * TICK
        else:
            order.stop = raw // TICK * TICK if raw > LOWEST else raw

    def at_open(self, order, price):
        arrives = order.state == "PENDING"
        fresh, order.fresh = arrives or order.fresh, False
        if arrives and order.reduce and self.reducible(order) == 0:
            self.end(order, "CANCELED", "REDUCE_ONLY")
            return None
        if order.type == "MARKET":
            return self.take(order, price)
        if order.limit():
            if fresh and (price <= order.price if order.buy else price >= order.price):
                return self.take(order, price)
            if not fresh and (price < order.price if order.buy else price > order.price):
                return self.make(order)
        elif order.stop:
            rising = order.buy == (order.type in STOPS)
            if price >= order.stop if rising else price <= order.stop:
                return self.reached(order, price)
        moved = self.follow(order, price)
        if order.tif in ("IOC", "FOK"):
            self.end(order, "EXPIRED", "NO_LIQUIDITY")
        elif moved or arrives:
            self.rest(order)
        return None

    def stops(self, order, high, low):
        if order.type not in STOPS or order.triggered or not order.stop:
            return None
        if high >= order.stop if order.buy else low <= order.stop:
            return self.reached(order, order.stop)
        return None

    def profits(self, order, high, low):
        best = low if order.buy else high
        if order.limit():
            if best < order.price if order.buy else best > order.price:
                return self.make(order)
        elif order.type in PROFITS:
            if best <= order.stop if order.buy else best >= order.stop:
                if order.type in LIMITS and (order.stop > order.price if order.buy else order.stop < order.price):
                    self.trigger(order)
                    if best < order.price if order.buy else best > order.price:
                        return self.make(order)
                    self.rest(order)
                    return None
                return self.reached(order, order.stop)
        return None

    def trails(self, order, high, low, close):
        if order.type != "TRAILING_STOP" or order.triggered:
            return None
        moved = self.follow(order, low if order.buy else high)
        if order.stop and (close >= order.stop if order.buy else close <= order.stop):
            return self.reached(order, order.stop)
        if moved:
            self.rest(order)
        return None

    # ---- a bar

    def exits(self, entry, result, high, low, close):
        """Of an entry that filled inside: with what is certain of the rest."""
        price, maker = result
        falling = entry.buy if maker else entry.buy != (entry.type in STOPS)
        rest_high = max(price, close) if falling else high
        rest_low = low if falling else min(price, close)
        mine = [o for o in self.orders.values() if o.parent == entry.id]
        for exit in mine:
            if exit.live():
                self.at_open(exit, price)
        for exit in mine:
            if exit.live():
                self.stops(exit, rest_high, rest_low)
        for exit in mine:
            if exit.live():
                self.trails(exit, rest_high, rest_low, close)

    def due(self, created, effective, start, stop):
        return created <= start and effective < stop

    def before(self, start, stop):
        for order in list(self.orders.values()):
            if order.live() and 0 < order.expires <= start:
                self.end(order, "EXPIRED")
        waiting = []
        for time, target, numbers in self.queue:
            order = self.orders[target]
            if not self.due(time, time + self.latency, start, stop):
                waiting.append((time, target, numbers))
            elif not order.live():
                continue
            elif numbers is None:
                self.end(order, "CANCELED")
            else:
                self.change(order, numbers)
        self.queue = waiting

    def change(self, order, numbers):
        which, qty, price, stop, trail, _ = numbers
        if order.triggered:
            which &= AMEND_QTY | AMEND_PRICE
        if not which:
            return
        if which & AMEND_QTY and qty <= order.filled:
            self.end(order, "CANCELED")
            return
        smaller = which == AMEND_QTY and qty <= order.qty
        order.updated = self.now
        if which & AMEND_QTY:
            order.qty = qty
        if which & AMEND_PRICE:
            order.price = price
        if which & AMEND_STOP:
            order.stop = stop
        if which & AMEND_TRAIL:
            order.trail, order.trail_e6 = trail, 0
        if order.rests() and not smaller:
            order.fresh = order.limit()
            if order.type == "TRAILING_STOP":
                self.place(order)

    def bar(self, words):
        start, open_, high, low, close = map(int, words)
        stop = start + self.interval
        self.now = start
        self.before(start, stop)
        for order in list(self.orders.values()):
            if (order.state == "PENDING" and self.due(order.updated, order.effective, start, stop)) or \
                    (order.rests() and order.updated <= start):
                self.at_open(order, open_)
        self.now = stop - 1
        for step in (lambda o: self.stops(o, high, low), lambda o: self.profits(o, high, low),
                     lambda o: self.trails(o, high, low, close)):
            for order in list(self.orders.values()):
                if order.rests() and order.updated <= start:
                    result = step(order)
                    if result:
                        self.exits(order, result, high, low, close)


def check(lines):
    market, reported, problems, counts, ended = None, [], [], collections.Counter(), set()
    for line in lines:
        what, *words = line.split()
        if what == "setting":
            market = Market(words)
        elif what in ("order", "amend", "cancel", "bar"):
            getattr(market, what)(words)
        elif what == "fill":
            reported.append(tuple(map(int, words)))
        elif what == "end":
            order = market.orders[int(words[0])]
            ended.add(order.id)
            counts[order.type, order.state] += 1
            ours = [str(order.id), order.state, order.reason] + [
                str(int(x)) for x in (order.qty, order.filled, order.cost, order.price, order.stop, order.peak,
                                      order.triggered, order.updated)]
            if ours != words:
                problems.append(f"order: engine {words}, here {ours}")
        elif what == "balances":
            if list(map(int, words)) != [market.cash, market.held]:
                problems.append(f"balances: engine {words}, here {market.cash} {market.held}")
    return fill_oracle.differences(market, reported, ended) + problems, len(reported), len(ended), counts


def seldom(counts):
    return [kind for kind in ("MARKET",) + LIMITS + STOPS[::2] + PROFITS[:1] if counts[kind, "FILLED"] < 20 or counts[kind, "CANCELED"] < 5]


def main():
    return fill_oracle.play((12, 1200), (200, 3000), 20261121, lambda run, seed, bars: (seed, bars, int(run % 3 == 2)), check, seldom)


if __name__ == "__main__":
    sys.exit(main())
