"""The quote model of stocks a second time, from the words of docs/fills.md: reads the inputs that fill_quote_tape prints, computes what
must become of them, and compares every fill and every order as it ended, to the unit.

    fill_quote_oracle.py TAPE [--long]
"""
import collections
import sys

import fill_oracle

UNIT = 10**10  # of price times quantity, in units of money
MULTIPLES = 100  # beyond the quantity shown
TAKEN = 256  # prices that an account is remembered to have taken of
OPENING, CLOSING = 600 * 10**9, 900 * 10**9  # how long an official price is waited for
PRICELESS = set("CGHIMNPQRUVWZ3479")
BASES = {"sip": "nbbo", "iex": "iex"}


class Order:
    def __init__(self, words):
        self.id, self.side, self.type, self.tif = int(words[0]), *words[1:4]
        self.qty, self.price, self.stop, self.given = map(int, words[4:])
        self.buy = self.side == "BUY"
        self.state, self.reason, self.filled, self.cost = "OPEN", "-", 0, 0
        self.triggered = self.takes = False

    def live(self):
        return self.state in ("OPEN", "PARTIAL")

    def end(self, state, reason="-"):
        self.state, self.reason = state, reason

    def reaches(self, price):
        return price <= self.price if self.buy else price >= self.price


class Market:
    def __init__(self, words):
        self.beyond, self.tick, self.lowest, self.feed = words[0], int(words[1]), int(words[2]), words[3]
        self.orders, self.fills, self.taken = {}, [], []
        self.bid = self.bid_qty = self.ask = self.ask_qty = 0
        self.phase, self.next, self.now, self.last = "unknown", 0, 0, 0
        self.opened = self.first = self.latest = self.kept = 0  # of the session: its opening, first and last trade; a print
        self.due, self.before, self.closing = 0, 0, False

    def open(self):
        return self.phase == "regular"

    # ---- fills

    def fill(self, order, price, qty, maker, basis):
        product = price * qty
        order.cost += -(-product // UNIT) if order.buy else product // UNIT
        order.filled += qty
        order.state = "FILLED" if order.filled == order.qty else "PARTIAL"
        self.fills.append((order.id, price, qty, int(maker), basis, self.now))

    def shown(self, buy):
        """What is offered to a taker; None where nothing is."""
        price, qty = (self.ask, self.ask_qty) if buy else (self.bid, self.bid_qty)
        return (price, qty) if price > 0 and qty > 0 else None

    def levels(self, buy, beyond):
        best = self.shown(buy)
        if not best:
            return
        yield *best, BASES[self.feed]
        spread = self.ask - self.bid if self.bid > 0 else 0
        for k in range(1, MULTIPLES + 1 if beyond and self.beyond == "impact" else 1):
            price = best[0] + (1 if buy else -1) * k * max(spread, self.tick)
            if price <= 0 or price < self.lowest:
                return
            yield price, best[1], "impact"

    def taken_at(self, buy, price):
        return next((t for t in self.taken if t[:2] == [buy, price]), None)

    def take(self, order, maker=False, limit=None):
        """What is offered, up to the limit. True where something is left because no more was offered."""
        for price, qty, basis in self.levels(order.buy, not maker):
            if limit is not None and not order.reaches(price):
                return False
            taken = self.taken_at(order.buy, price)
            most = min(order.qty - order.filled, qty - (taken[2] if taken else 0))
            if most > 0:
                self.fill(order, order.price if maker else price, most, maker, basis)
                if taken:
                    taken[2] += most
                else:
                    if len(self.taken) == TAKEN:
                        del self.taken[0]
                    self.taken.append([order.buy, price, most])
            if order.filled == order.qty:
                return False
        return True

    def whole(self, order):
        left = order.qty - order.filled
        for price, qty, _ in self.levels(order.buy, True):
            if order.type == "LIMIT" and not order.reaches(price):
                break
            taken = self.taken_at(order.buy, price)
            left -= max(0, qty - (taken[2] if taken else 0))
            if left <= 0:
                return True
        return False

    def at_market(self, order, arrives=False):
        """A market order, or a stop that was triggered; one that waits since before the opening does so until something is shown."""
        before = order.filled
        if order.tif == "FOK" and not self.whole(order):
            return order.end("EXPIRED", "NO_LIQUIDITY")
        self.take(order)
        if order.filled == order.qty or order.type == "STOP" or (self.beyond == "wait" and order.tif == "GTC"):
            return None
        if order.filled == before and not arrives:
            return None
        return order.end("CANCELED" if order.tif == "GTC" else "EXPIRED", "NO_LIQUIDITY")

    def trigger(self, order):
        order.triggered = True
        self.at_market(order)

    # ---- what happens

    def order(self, words):
        order = Order(words)
        self.now = order.given
        self.orders[order.id] = order
        if order.tif in ("OPG", "CLS"):
            return
        if not self.open():
            if order.tif in ("IOC", "FOK"):
                order.end("EXPIRED", "SESSION_CLOSED")
            order.takes = order.type == "LIMIT" and self.last > 0 and order.reaches(self.last)
            return
        if order.type == "STOP":
            if self.latest and self.passes(order, self.latest):
                self.trigger(order)
        elif order.type == "MARKET":
            self.at_market(order, arrives=True)
        else:
            best = self.shown(order.buy)
            order.takes = bool(best) and order.reaches(best[0])
            if order.tif == "FOK" and not self.whole(order):
                return order.end("EXPIRED", "NO_LIQUIDITY")
            self.take(order, limit=order.price)
            if order.filled < order.qty and order.tif == "IOC":
                order.end("EXPIRED", "NO_LIQUIDITY")

    @staticmethod
    def passes(order, price):
        return price >= order.stop if order.buy else price <= order.stop

    def line(self):
        rest = [o for o in self.orders.values() if o.live() and o.tif not in ("OPG", "CLS")]
        limits = [o for o in rest if o.type == "LIMIT"]
        return ([o for o in rest if o.type != "LIMIT"] + sorted([o for o in limits if o.buy], key=lambda o: (-o.price, o.id)) +
                sorted([o for o in limits if not o.buy], key=lambda o: (o.price, o.id)))

    def quote(self, words):
        self.bid, self.bid_qty, self.ask, self.ask_qty, self.now = map(int, words)
        if self.bid > self.ask > 0:
            self.bid = self.bid_qty = self.ask = self.ask_qty = 0
        self.refresh()
        for order in self.line() if self.open() else ():
            if order.type != "LIMIT":
                if order.type == "MARKET" or order.triggered:
                    self.at_market(order)
                continue
            best = self.shown(order.buy)
            if not best:
                continue
            if not order.reaches(best[0]):
                order.takes = False
            else:
                self.take(order, maker=not order.takes, limit=order.price)

    def refresh(self):
        """A quantity taken counts while its price is shown, or may be behind the best one."""
        kept = []
        for buy, price, qty in self.taken:
            best = self.shown(buy)
            if best and price == best[0]:
                kept.append([buy, price, min(qty, best[1])])
            elif not best or (price > best[0] if buy else price < best[0]):
                kept.append([buy, price, qty])
        self.taken = kept

    def print(self, words):
        price, qty, conditions, exchange, _, self.now = int(words[0]), int(words[1]), *words[2:5], int(words[5])
        official = exchange == "Q" and ("opening" if set(conditions) & set("OQ") else "closing" if set(conditions) & set("6M") else "")
        if official:
            self.official(official, price)
        if set(conditions) & PRICELESS:
            return
        self.last = price
        regular = self.open() and self.opened <= self.now < self.next
        if regular:
            self.first = self.first or price
            self.latest = price
            if self.due and not self.closing and self.feed == "iex":
                self.by_trades()
            self.match(price, qty)

    def match(self, price, qty):
        for order in self.line():
            if not order.live():
                continue
            if order.type == "LIMIT":
                through = price < order.price if order.buy else price > order.price
                if through and not order.takes and qty > 0:
                    most = min(qty, order.qty - order.filled)
                    self.fill(order, order.price, most, True, BASES[self.feed])
                    qty -= most
            elif order.type == "MARKET" or order.triggered:
                self.at_market(order)
            elif self.passes(order, price):
                self.trigger(order)

    # ---- sessions and auctions

    def official(self, which, price):
        opening = which == "opening"
        if self.now >= self.next > 0 and opening != self.open() and self.phase != "unknown":
            self.kept = price
        elif self.due and self.closing != opening:
            self.settle(price, which)

    def settle(self, price, basis):
        self.due = 0
        for order in list(self.orders.values()):
            if not order.live() or order.tif != ("CLS" if self.closing else "OPG") or order.given >= self.before:
                continue
            if not price:
                order.end("EXPIRED", "NO_LIQUIDITY")
            elif order.type == "LIMIT" and not order.reaches(price):
                order.end("EXPIRED")
            else:
                self.fill(order, price, order.qty - order.filled, False, basis)

    def by_trades(self):
        self.settle(*((self.latest, "last-trade") if self.closing else (self.first, "first-trade")))

    def wait(self, closing, print_):
        self.closing, self.before = closing, self.now
        self.due = self.now + (CLOSING if closing else OPENING)
        if print_:
            self.settle(print_, "closing" if closing else "opening")
        elif closing and self.feed == "iex":
            self.by_trades()

    def phase_(self, words):
        was, print_ = self.phase, self.kept
        self.phase, self.next, self.now = words[0], int(words[1]), int(words[2])
        self.kept = 0
        if self.phase in ("pre", "regular"):  # orders may be filled that were not before
            shows = self.bid > 0 or self.ask > 0
            self.bid = self.bid_qty = self.ask = self.ask_qty = 0
            self.taken = []
            for order in self.orders.values():
                if shows:
                    order.takes = order.live() and order.type == "LIMIT"
        if self.due and "regular" in (was, self.phase):
            self.by_trades()
        if was == "regular":
            self.wait(True, print_)
        if self.open():
            self.due, self.opened, self.first, self.latest = 0, self.now, 0, 0
            if was != "unknown":
                self.wait(False, print_)

    def later(self):
        """At the end of an event."""
        if self.due and self.due <= self.now:
            self.by_trades()


def check(lines):
    market, reported, problems, counts, ended = None, [], [], collections.Counter(), set()
    for line in lines:
        what, *words = line.split()
        if what == "setting":
            market = Market(words)
        elif what == "fill":
            reported.append((int(words[0]), int(words[1]), int(words[2]), int(words[3]), words[4], int(words[5])))
            counts[words[4]] += 1
        elif what == "end":
            order = market.orders[int(words[0])]
            ended.add(order.id)
            counts[order.type, order.tif, order.state] += 1
            ours = [str(x) for x in (order.id, order.state, order.reason, order.filled, order.cost)]
            if ours != words:
                problems.append(f"order: engine {words}, here {ours}")
        else:
            if what in ("now", "time"):
                market.now = int(words[0])
            else:
                getattr(market, "phase_" if what == "phase" else what)(words)
            if what not in ("now", "order"):
                market.later()
    return fill_oracle.differences(market, reported, ended) + problems, len(reported), len(ended), counts


def seldom(counts):
    wanted = ("nbbo", "iex", "impact", "opening", "closing", "first-trade", "last-trade", ("STOP", "GTC", "FILLED"))
    return [kind for kind in wanted if counts[kind] < 20]


def main():
    return fill_oracle.play((12, 2500), (240, 6000), 20261124, lambda run, seed, events: (
        seed, events, ("impact", "wait", "cancel")[run % 3], ("sip", "iex")[run % 2]), check, seldom)


if __name__ == "__main__":
    sys.exit(main())
