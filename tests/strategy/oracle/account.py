"""A simple account that strategies trade with: it need not be the engine's, only give them something to see. Orders
fill at the next bar's open, stops and profits inside; some orders are refused, some wait a bar longer, and now and
then somebody sells by hand."""


class Account:
    def __init__(self, random, symbols, shorts=False):
        self.random, self.symbols, self.shorts = random, symbols, shorts
        self.cash, self.qty, self.cost, self.equity = 10000.0, 0.0, 0.0, 10000.0
        self.stop = self.profit = 0.0
        self.wins = self.losses = self.losing = 0
        self.orders, self.live, self.others, self.positions = [], False, 0, 0

    def trade(self, qty, price):
        held = self.qty
        self.cash -= qty * price
        self.cost += qty * price
        self.qty += qty
        if held != 0 and self.qty / held <= 1e-9:
            won = self.cost < 0
            self.wins, self.losses = self.wins + won, self.losses + (not won)
            self.losing = 0 if won else self.losing + 1
            self.qty, self.cost, self.stop, self.profit = 0.0, 0.0, 0.0, 0.0

    def fill(self, intent, price):
        kind, fraction, stop, profit = intent[:4]
        if kind == "exit" and self.qty != 0:
            self.trade(-self.qty, price)
        elif kind == "target":
            missing = fraction * self.equity / price - self.qty
            self.trade(missing, price)
        elif kind == "enter" and self.qty >= 0:
            self.trade(min(fraction * self.equity, self.cash) / price, price)
            self.stop, self.profit = stop, profit
        elif kind == "short" and self.qty <= 0:
            self.trade(-min(fraction * self.equity, self.cash) / price, price)
            self.stop, self.profit = stop, profit

    def open_bar(self, open_ns, o, h, l):
        """What happens inside a bar, before its close is decided on."""
        waiting = []
        for intent in self.orders:
            limit, good_ns = intent[4], intent[5]
            if intent[0] in ("enter", "short") and limit:
                if good_ns <= open_ns:
                    continue
                if intent[0] == "enter" and l < limit:
                    self.fill(intent, min(o, limit))
                elif intent[0] == "short" and h > limit:
                    self.fill(intent, max(o, limit))
                else:
                    waiting.append(intent)
            elif self.random.random() < 0.1:
                waiting.append(intent)
            else:
                self.fill(intent, o)
        self.orders = waiting
        if self.qty > 0 and self.stop and l <= self.stop:
            self.trade(-self.qty, min(o, self.stop))
        if self.qty > 0 and self.profit and h >= self.profit:
            self.trade(-self.qty, max(o, self.profit))
        if self.qty < 0 and self.stop and h >= self.stop:
            self.trade(-self.qty, max(o, self.stop))
        if self.qty < 0 and self.profit and l <= self.profit:
            self.trade(-self.qty, min(o, self.profit))
        if self.qty != 0 and self.random.random() < 0.001:
            self.trade(-self.qty, o)
        if self.random.random() < 0.01:
            self.others = int(self.random.integers(0, self.symbols))

    def close_bar(self, c):
        self.equity = self.cash + self.qty * c
        self.live = bool(self.orders)
        self.positions = self.others + (self.qty != 0 or self.live)

    def take(self, intents):
        for intent in intents:
            if intent[0] == "stop":
                self.stop = intent[2]
            elif self.random.random() >= 0.1:  # else refused
                self.orders.append(intent)

    def words(self):
        return (
            f"{float(self.qty)!r} {float(self.equity)!r} {int(self.live)} {float(self.stop)!r} {self.positions} {self.symbols} "
            f"{self.wins} {self.losses} {self.losing} {int(self.shorts)}"
        )
