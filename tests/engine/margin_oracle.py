"""Accounts for US stocks, computed from the rules' words and compared with what the engine made of the same tape:
requirements, buying power, day trades, settled cash, loans, interest, margin calls and refusals, on random days on
either side of each date on which a rule changed. Nothing is shared but the tape: New York's business days, sessions
and clocks are computed here, by the exchange's rules for holidays.

usage: margin_oracle.py TEST-MARGIN-TAPE [DAYS [SEED…]]     1,000 days with PAPERTAPE_LONG
"""

import datetime
import os
import random
import subprocess
import sys
from fractions import Fraction
from math import ceil, floor

DATES = [datetime.date(2017, 9, 5), datetime.date(2024, 5, 28), datetime.date(2026, 6, 4)]
EPOCH = datetime.date(1970, 1, 1)
SECOND = 10**9
HOUR = 3600 * SECOND
UNIT = [1, 100, 10**4]  # price * qty / UNIT = cents
SHARE = [1, 1, 10**4]
PRICE_DOLLAR = [100, 10**4, 100]
STOCK = [True, True, False]
AAA, PNY, COIN = range(3)

# ---- New York ----


def nth(year, month, weekday, n):
    first = datetime.date(year, month, 1)
    return first + datetime.timedelta((weekday - first.weekday()) % 7 + 7 * (n - 1))


def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (8 * b + 13) // 25
    g = (19 * a + b - d - f + 15) % 30
    h, i = divmod(c, 4)
    j = (32 + 2 * e + 2 * h - i - g) % 7
    k = (a + 11 * g + 19 * j) // 433
    month = (g + j - 7 * k + 90) // 25
    return datetime.date(year, month, (g + j - 7 * k + 33 * month + 19) % 32)


def moved(day):
    """Of a Saturday the Friday before, of a Sunday the Monday after."""
    return day + datetime.timedelta({5: -1, 6: 1}.get(day.weekday(), 0))


def holidays(year):
    new_year = datetime.date(year, 1, 1)
    days = {nth(year, 1, 0, 3), nth(year, 2, 0, 3), easter(year) - datetime.timedelta(2), nth(year, 9, 0, 1),
            nth(year, 6, 0, 1) - datetime.timedelta(7), nth(year, 11, 3, 4), moved(datetime.date(year, 7, 4)),
            moved(datetime.date(year, 12, 25))}
    if new_year.weekday() != 5:
        days.add(moved(new_year))
    if year >= 2022:
        days.add(moved(datetime.date(year, 6, 19)))
    last_may = datetime.date(year, 5, 31)
    days.discard(nth(year, 6, 0, 1) - datetime.timedelta(7))
    days.add(last_may - datetime.timedelta(last_may.weekday()))
    days |= {datetime.date(2018, 12, 5), datetime.date(2025, 1, 9), datetime.date(2012, 10, 29),
             datetime.date(2012, 10, 30)}
    return days


def is_half(day):
    if day == nth(day.year, 11, 3, 4) + datetime.timedelta(1) or (day.month, day.day) == (12, 24):
        return True
    return (day.month, day.day) == (7, 3)


def utc_offset(day):
    summer = nth(day.year, 3, 6, 2) <= day < nth(day.year, 11, 6, 1)
    return 4 if summer else 5


def at(day, hour, minute=0):
    return ((day - EPOCH).days * 24 + hour + utc_offset(day)) * HOUR + minute * 60 * SECOND


def sessions(first, last):
    days, day = [], first
    while day <= last:
        if day.weekday() < 5 and day not in holidays(day.year):
            half = is_half(day)
            days.append((day, at(day, 4), at(day, 9, 30), at(day, 13 if half else 16), at(day, 17 if half else 20)))
        day += datetime.timedelta(1)
    return days


# ---- the rules ----


def without_banks(day):
    """Columbus and Veterans Day: the exchange trades, and nothing settles."""
    veterans = datetime.date(day.year, 11, 11)
    return day in (nth(day.year, 10, 0, 2), veterans, veterans + datetime.timedelta(veterans.weekday() == 6))


def settlement_days(day):
    return 1 if day >= DATES[1] else 2 if day >= DATES[0] else 3


def up(value):
    return ceil(Fraction(value))


class Account:
    def __init__(self, world, margin, trader, settlement, shorts, fee, rate, cash):
        self.world, self.margin, self.trader, self.settlement = world, margin, trader, settlement
        self.shorts, self.fee, self.rate = shorts, Fraction(fee, 10**6), Fraction(rate, 10**6)
        self.cash, self.debt, self.unpaid, self.violations = cash, 0, 0, 0
        self.qty = [0, 0, 0]
        self.lots = []  # [settles_ns, cents]
        self.history = {}  # date -> [trades, day trades]
        self.opened = [dict(day=None, qty=0, turn=False) for _ in range(3)]
        self.funded = [0, 0, 0]
        self.pattern = False
        self.overnight = self.deficit = 0
        self.order = None  # a resting purchase: (symbol, cost)

    # What is held.

    def value(self, symbol, qty=None):
        qty = self.qty[symbol] if qty is None else qty
        exact = Fraction(self.world.price[symbol] * qty, UNIT[symbol])
        return floor(exact)  # a liability is rounded away from zero

    def equity(self):
        return self.cash - self.debt - self.unpaid + sum(self.value(s) for s in range(3) if self.qty[s])

    def maintenance_of(self, symbol, qty=None):
        qty = self.qty[symbol] if qty is None else qty
        value = abs(self.value(symbol, qty))
        if not STOCK[symbol]:
            return value
        if qty >= 0:
            return up(Fraction(value, 4))
        low = Fraction(self.world.price[symbol], PRICE_DOLLAR[symbol]) < 5
        share, cents = (Fraction(1), 250) if low else (Fraction(30, 100), 500)
        return max(up(value * share), up(Fraction(-qty * cents, SHARE[symbol])))

    def initial_of(self, symbol, qty=None):
        qty = self.qty[symbol] if qty is None else qty
        least = self.maintenance_of(symbol, qty)
        return max(up(Fraction(abs(self.value(symbol, qty)), 2)), least) if STOCK[symbol] else least

    # What it may do today.

    def is_trader(self):
        day = self.world.day
        holds = self.trader == "on" or (self.trader == "auto" and day < DATES[2])
        return self.margin != "off" and holds and (self.trader == "on" or self.pattern)

    def has_credit(self):
        return self.equity() >= 2000_00

    def by_day(self):
        if not self.has_credit() or self.margin == "off":
            return False
        if self.is_trader():
            return self.equity() >= 25000_00
        return self.margin == "intraday" and self.world.day >= DATES[2]

    def share(self, symbol):
        if not STOCK[symbol] or not self.has_credit():
            return Fraction(1)
        return Fraction(1, 4) if self.by_day() else Fraction(1, 2)

    def to_open(self, symbol, qty):
        if not self.has_credit() and qty >= 0:
            return abs(self.value(symbol, qty))
        return self.maintenance_of(symbol, qty) if self.by_day() else self.initial_of(symbol, qty)

    def free(self):
        left = self.equity() - sum(self.to_open(s, self.qty[s]) for s in range(3) if self.qty[s])
        if self.order:
            left -= up(self.order[1] * self.share(self.order[0]))
        return left

    def power(self):
        if self.margin == "off":
            return max(0, self.cash - (self.order[1] if self.order else 0) - self.barred())
        share = (Fraction(1, 4) if self.by_day() else Fraction(1, 2)) if self.has_credit() else Fraction(1)
        return max(0, floor(self.free() / share))

    def day_trades(self):
        window = self.world.window()
        return sum(v[1] for d, v in self.history.items() if d in window)

    def unsettled(self):
        return min(self.cash, self.proceeds())

    def proceeds(self):
        return sum(cents for ns, cents in self.lots if ns > self.world.now)

    def barred(self):
        return self.unsettled() if self.settlement == "strict" else 0

    # What orders do.

    def cost(self, symbol, qty, price, fee):
        notional = up(Fraction(price * qty, UNIT[symbol]))
        return notional + up(notional * fee)

    def lacks(self):
        if not self.has_credit():
            return "MARGIN_EQUITY"
        if not self.by_day():
            return "INITIAL_MARGIN"
        return "DAY_TRADING_POWER" if self.is_trader() else "INTRADAY_MARGIN"

    def entry(self, symbol):
        if STOCK[symbol] and self.is_trader() and self.equity() < 25000_00:
            return "DAY_TRADER_EQUITY"
        return "OK"

    def check_buy(self, symbol, qty, price):
        held = self.qty[symbol]
        back = max(0, -held)
        if qty <= back:
            return "OK"
        if self.margin == "off":
            cost = self.cost(symbol, qty, price, self.fee)
            if cost <= self.cash - self.barred():
                return "OK"
            return "UNSETTLED_CASH" if cost <= self.cash else "INSUFFICIENT_BALANCE"
        why = self.entry(symbol)
        if why != "OK":
            return why
        share = self.share(symbol)
        fee = Fraction(up(self.fee * 10**6 / share), 10**6)
        free = self.free() + (self.to_open(symbol, held) if held < 0 else 0)
        money = max(0, floor(Fraction(free) / share))
        return "OK" if self.cost(symbol, qty - back, price, fee) <= money else self.lacks()

    def check_sell(self, symbol, qty, price):
        held = self.qty[symbol]
        if qty <= held:
            return "OK"
        if not self.shorts:
            return "INSUFFICIENT_BALANCE"
        why = self.entry(symbol)
        if why != "OK":
            return why
        fee = up(floor(Fraction(price * qty, UNIT[symbol])) * self.fee)
        free = self.free() + (self.to_open(symbol, held) if held else 0) - fee
        if self.has_credit() and free >= self.to_open(symbol, held - qty):
            return "OK"
        return self.lacks()

    def trade(self, symbol, signed):
        """A whole order is filled at the price."""
        price, held = self.world.price[symbol], self.qty[symbol]
        before, by_day = self.beyond(), self.by_day()
        exact = Fraction(price * abs(signed), UNIT[symbol])
        notional = up(exact) if signed > 0 else floor(exact)
        fee = up(notional * self.fee)
        if STOCK[symbol]:
            self.remember(symbol, held, signed)
        if signed > 0:
            self.cash -= notional + fee
            if self.cash < 0:
                assert self.margin != "off", "a cash account was lent money"
                self.debt -= self.cash
                self.cash = 0
        else:
            self.cash += notional - fee
        self.repay()
        self.qty[symbol] += signed
        self.settle(symbol, signed, notional - fee)
        if self.margin != "off":
            change = self.beyond() - before
            self.deficit = max(0, self.deficit + (change if by_day or change < 0 else 0))
        self.cover()

    def beyond(self):
        """What is lacking by Regulation T."""
        return max(0, sum(self.initial_of(s) for s in range(3) if self.qty[s]) - self.equity())

    def cover(self):
        self.overnight = min(self.overnight, self.beyond())

    def remember(self, symbol, held, signed):
        day, state = self.world.day, self.opened[symbol]
        if self.margin == "off":
            if self.settlement != "off" and signed < 0 and self.funded[symbol] > self.world.now:
                self.violations += 1
            return
        of_day = self.history.setdefault(day, [0, 0])
        of_day[0] += 1
        if state["day"] != day:
            state.update(day=day, qty=0, turn=False)
        closes = min(abs(signed), abs(held)) if held * signed < 0 else 0
        if closes and state["qty"] and state["turn"]:
            of_day[1] += 1
            state["turn"] = False
        state["qty"] = 0 if closes and closes == abs(held) else max(0, state["qty"] - closes)
        if abs(signed) > closes:
            state["qty"] += abs(signed) - closes
            state["turn"] = True
        days = [v for d, v in self.history.items() if d in self.world.window()]
        trades, day_trades = sum(v[0] for v in days), sum(v[1] for v in days)
        in_force = self.trader == "on" or (self.trader == "auto" and day < DATES[2])
        if in_force and day_trades >= 4 and Fraction(day_trades, trades) > Fraction(6, 100):
            self.pattern = True

    def settle(self, symbol, signed, proceeds):
        if self.settlement == "off":
            return
        if signed < 0 and STOCK[symbol] and proceeds > 0:
            self.lots.append([self.world.begin_after(settlement_days(self.world.day)), proceeds])
            self.lots.sort()
        used = self.clip()
        if signed > 0:
            self.funded[symbol] = max(self.funded[symbol], used)
        if self.qty[symbol] == 0:
            self.funded[symbol] = 0

    def clip(self):
        """Of what is spent, unsettled cash is the last: the proceeds that settle first go first."""
        self.lots = [lot for lot in self.lots if lot[0] > self.world.now]
        beyond, used = self.proceeds() - self.cash, 0
        while beyond > 0:
            part = min(beyond, self.lots[0][1])
            used = self.lots[0][0]
            beyond -= part
            self.lots[0][1] -= part
            if not self.lots[0][1]:
                self.lots.pop(0)
        return used

    def repay(self):
        paid = min(self.cash, self.debt)
        self.cash -= paid
        self.debt -= paid

    def money(self, amount):
        if amount < 0:
            most = self.cash if self.margin == "off" else max(0, min(self.free(), self.cash))
            if -amount > most:
                return "INSUFFICIENT_BALANCE"
            if -amount > self.cash - self.unsettled():
                return "UNSETTLED_CASH"
        self.cash += amount
        self.repay()
        self.cover()
        return "OK"

    # Time.

    def charge(self, hours):
        owed, self.unpaid = self.unpaid, 0
        dues = [owed] if owed else []
        if hours > 0:
            values = [-self.value(s) for s in range(3) if self.qty[s] < 0]
            dues += [up(Fraction(v * hours, 8760) * self.rate) for v in values]
        for due in dues:
            self.pay(due)
        if hours > 0 and self.debt:
            self.pay(up(Fraction(self.debt * hours, 8760) * self.rate))

    def pay(self, due):
        paid = min(due, self.cash)
        self.cash -= paid
        self.unpaid += due - paid

    def end_day(self):
        self.overnight, self.deficit = self.overnight + self.deficit, 0
        self.cover()

    def call(self):
        """Closes what the equity does not suffice for; after a price of something held."""
        if self.margin == "off":
            return None
        need, why = self.maintenance_of, "maintenance call"
        lacking = sum(need(s) for s in range(3) if self.qty[s]) - self.equity()
        if lacking <= 0:
            need, why = self.initial_of, "overnight call"
            self.cover()
            lacking = self.overnight
        if lacking <= 0:
            return None
        closed = []
        for s in sorted((s for s in range(3) if self.qty[s]), key=lambda s: (-need(s), s)):
            if lacking <= 0:
                break
            lacking -= need(s)
            closed.append(s)
        for s in sorted(closed, key=closed.index):
            self.trade(s, -self.qty[s])
        return why

    def shown(self):
        unsettled = self.unsettled()
        initial = sum(self.initial_of(s) for s in range(3) if self.qty[s])
        maintenance = sum(self.maintenance_of(s) for s in range(3) if self.qty[s])
        figures = [self.equity(), initial, maintenance, self.equity() - maintenance, self.power(), self.debt,
                   self.day_trades(), int(self.is_trader()), self.cash - unsettled, unsettled,
                   self.lots[-1][0] if unsettled else 0, self.violations, self.unpaid]
        return " ".join(map(str, figures + self.qty))


class World:
    def __init__(self, days):
        self.days = days
        self.dates = [day[0] for day in days]
        self.index = {day[0]: i for i, day in enumerate(days)}
        self.price = [100_00, 3_0000, 20000_00]
        self.now = 0
        self.day = None
        self.hour = None
        self.due = None
        self.accounts = []

    def window(self):
        i = self.index[self.day]
        return set(self.dates[max(0, i - 4) : i + 1])

    def begin_after(self, n):
        following = [day for day in self.days[self.index[self.day] + 1:][:20] if not without_banks(day[0])]
        return following[n - 1][1]

    def day_of(self, ns):
        """The first day whose late session has not ended."""
        low, high = 0, len(self.days)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.days[middle][4] <= ns else (low, middle)
        return self.dates[low]

    def to(self, ns):
        """Time passes: interest of full hours, then the day's end, at the prices of before."""
        self.now = ns
        before, self.day = self.day, self.day_of(ns)
        hour = ns // HOUR
        if self.hour is None or hour > self.hour:
            for account in self.accounts:
                account.charge(0 if self.hour is None else hour - self.hour)
            self.hour = hour
        if before and before != self.day:
            for account in self.accounts:
                account.end_day()


# ---- the tape ----


class Run:
    def __init__(self, seed, days, chosen):
        self.random = random.Random(seed)
        self.world = World(days)
        self.lines, self.wanted = [], []
        self.chosen = chosen
        self.counts = {}

    def say(self, text):
        self.lines.append(text)

    def want(self, text, line):
        self.wanted.append((text, line))

    def open(self):
        fee, rate = self.random.choice([(0, 80000), (500, 120000), (0, 0)])
        self.say(f"days {len(self.world.days)}")
        self.lines += [" ".join(map(str, day[1:])) for day in self.world.days]
        kinds = [("off", "auto", "by-date", 0), ("off", "auto", "strict", 0), ("regt", "auto", "by-date", 1),
                 ("regt", "off", "off", 1), ("intraday", "auto", "by-date", 1), ("regt", "on", "off", 1),
                 ("intraday", "off", "off", 0), ("off", "auto", "off", 0)]
        for kind in kinds:
            cash = self.random.choice([1500_00, 10000_00, 24000_00, 30000_00, 100000_00])
            self.world.accounts.append(Account(self.world, *kind, fee, rate, cash))
            self.say("account " + " ".join(map(str, kind)) + f" {fee} {rate} {cash}")

    def show(self, account):
        self.say(f"show {account}")
        self.want(self.world.accounts[account].shown(), f"account {account} at {self.world.now}, {self.world.day}")

    def move(self, symbol):
        r = self.random
        step = r.choice([0.003, 0.01, 0.04]) * r.choice([-1, 1])
        low, high = {AAA: (20_00, 400_00), PNY: (1_5000, 12_0000), COIN: (5000_00, 90000_00)}[symbol]
        self.world.price[symbol] = min(high, max(low, round(self.world.price[symbol] * (1 + step))))
        self.price(symbol)

    def price(self, symbol):
        self.say(f"price {symbol} {self.world.price[symbol]}")
        for account in self.world.accounts:
            why = account.call() if account.qty[symbol] else None
            if why:
                self.counts[why] = self.counts.get(why, 0) + 1

    def order(self, index):
        r, account = self.random, self.world.accounts[index]
        symbol = r.choice([AAA, AAA, PNY, COIN])
        held, price = account.qty[symbol], self.world.price[symbol]
        buy = r.random() < 0.5
        if not buy and (held <= 0 and (symbol == COIN or not account.shorts)) and r.random() < 0.9:
            buy = True
        if held and r.random() < 0.4:
            qty, buy = abs(held), held < 0
        else:
            most = max(account.power(), account.cash, 100_00)
            cents = most * r.choice([0.1, 0.3, 0.5, 0.9, 1.0, 1.02, 1.3])
            qty = max(1, int(cents * UNIT[symbol] / price))
        if not buy and symbol == COIN:
            qty = min(qty, held) if held > 0 else qty
            if held <= 0 and account.shorts:
                return
        resting = buy and r.random() < 0.15 and held >= 0
        limit = price * 9 // 10 if resting else 0
        self.say(f"order {index} {symbol} {'buy' if buy else 'sell'} {qty} {limit}")
        at_price = limit or price
        why = account.check_buy(symbol, qty, at_price) if buy else account.check_sell(symbol, qty, at_price)
        self.want(why, f"order {index} {symbol} {'buy' if buy else 'sell'} {qty} at {self.world.now}")
        self.counts[why] = self.counts.get(why, 0) + 1
        if why != "OK":
            return
        if resting:
            account.order = (symbol, account.cost(symbol, qty, limit, account.fee))
            self.show(index)
            account.order = None
            self.say("cancel")
        else:
            account.trade(symbol, qty if buy else -qty)

    def money(self, index):
        account = self.world.accounts[index]
        if self.random.random() < 0.5:
            amount = -self.random.randrange(1, max(2, account.cash))
        else:
            amount = self.random.randrange(1, 3000_00) if account.equity() < 60000_00 else 1
        self.say(f"money {index} {amount}")
        self.want(account.money(amount), f"money {index} {amount} at {self.world.now}")

    def live(self, day):
        _, _, open_ns, close_ns, late_ns = self.world.days[self.world.index[day]]
        moments = sorted(self.random.randrange(open_ns + 60 * SECOND, close_ns, 60 * SECOND) for _ in range(8))
        self.to(open_ns)
        self.say(f"phase open {close_ns}")
        for symbol in range(3):
            self.say(f"quote {symbol} {self.world.price[symbol]}")
        for symbol in range(3):
            self.price(symbol)
        for moment in sorted(set(moments)):
            self.to(moment)
            for symbol in range(3):
                if self.random.random() < 0.5:
                    self.move(symbol)
            for index in range(len(self.world.accounts)):
                if self.random.random() < 0.6:
                    self.order(index)
                elif self.random.random() < 0.05:
                    self.money(index)
                self.show(index)
        self.to(close_ns)
        self.say(f"phase closed {late_ns}")
        if self.random.random() < 0.1:
            self.say("save")
        self.to(late_ns)
        for index in range(len(self.world.accounts)):
            self.show(index)

    def to(self, ns):
        self.say(f"at {ns}")
        self.world.to(ns)

    def tape(self):
        self.open()
        for day in self.chosen:
            self.live(day)
            if all(a.equity() < 500_00 for a in self.world.accounts):
                break
        return "\n".join(self.lines) + "\n"


def side_of(date, days, before, n, seed):
    """n random ones of the 1.25 n sessions next to the date."""
    dates = [day[0] for day in days]
    near = [d for d in dates if d < date][-(n + n // 4) :] if before else [d for d in dates if d >= date][: n + n // 4]
    return sorted(random.Random(seed).sample(near, n))


def play(program, date, before, n, seed):
    days = sessions(date - datetime.timedelta(7 * n // 4 + 60), date + datetime.timedelta(7 * n // 4 + 80))
    run = Run(seed, days, side_of(date, days, before, n, seed))
    tape = run.tape()
    if "MARGIN_TAPE" in os.environ:
        open(os.environ["MARGIN_TAPE"], "w").write(tape)
    done = subprocess.run([program], input=tape, capture_output=True, text=True)
    got = done.stdout.splitlines()
    where = f"{date} {'before' if before else 'after'}, seed {seed}"
    for i, (wanted, what) in enumerate(run.wanted):
        if i >= len(got) or got[i] != wanted:
            print(f"{where}: {what}:\n  engine {got[i] if i < len(got) else '(nothing)'}\n  model  {wanted}")
            print(done.stderr, end="")
            sys.exit(1)
    if done.returncode or len(got) != len(run.wanted):
        sys.exit(f"{where}: {done.stderr or got[-1]}")
    return run


def main():
    program = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 1000 if "PAPERTAPE_LONG" in os.environ else 25
    seeds = [int(text) for text in sys.argv[3:]] or [1]
    total, compared, days = {}, 0, 0
    for date in DATES:
        for before in (True, False):
            for seed in seeds:
                run = play(program, date, before, n, seed)
                compared += len(run.wanted)
                days += len(run.chosen)
                for word, count in run.counts.items():
                    total[word] = total.get(word, 0) + count
    missing = {"OK", "INITIAL_MARGIN", "INTRADAY_MARGIN", "DAY_TRADING_POWER", "DAY_TRADER_EQUITY", "MARGIN_EQUITY",
               "UNSETTLED_CASH", "INSUFFICIENT_BALANCE", "maintenance call", "overnight call"} - set(total)
    if missing:
        sys.exit(f"never seen: {', '.join(sorted(missing))}")
    print(f"{days} days on the sides of three dates, {compared} answers equal: "
          + ", ".join(f"{word} {count}" for word, count in sorted(total.items())))


main()
