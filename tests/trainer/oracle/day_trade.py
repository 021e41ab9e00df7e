"""The day-trade task a second time, in NumPy, from the words of docs/environment.md ("Day-trade"): through
`papertape-trainer env-replay`, over three sessions and over random ones, in zones whose clocks change.

    day_trade.py PAPERTAPE_TRAINER

Wants NumPy from the venv in $PAPERTAPE_VENV; exits 77 without it.
"""
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))
import oracle_venv  # noqa: E402

with oracle_venv.imports("NumPy"):
    import numpy as np

F = np.float32
TRAINER = sys.argv[1]
MARGIN = 0.99
DEFAULTS = dict(
    lookback=3, norm_reward=2.0**-9, initial_capital=1000.0, buy_cost_pct=0.0025, sell_cost_pct=0.0025,
    slippage_pct=0.0, trailing_stop_pct=0.0, max_position_pct=0.0, min_cash_reserve=0.0, forced_exit_bars=48,
    forced_exit_pct=0.05, cooldown_bars=0, gamma=0.99, final_return=False, ruin=0.0, threshold=0.3, shorts=True,
    collateral=1.5, borrow_rate=0.0, session_close_s=86400, session_zone="UTC", weight_return=1.0,
    weight_step=1.0, weight_trend=1.0, weight_day=1.0, trend_bars=20,
    drawdown_penalty=0.0, volatility_penalty=0.0,
)
COLUMNS = ("cash", "qty", "held", "peak", "equity", "equity_benchmark", "reward", "done", "fees", "buys", "sells")


def session_ends(opens, interval, params):
    """Of each bar: is the next one's end beyond the close? Days are walked, not bars: each has one close."""
    zone, ends = ZoneInfo(params["session_zone"]), [at + interval for at in opens] + [opens[-1] + 2 * interval]
    closes, day = [], ends[0].astimezone(zone).date() - timedelta(days=2)
    while day <= ends[-1].astimezone(zone).date() + timedelta(days=2):
        at = params["session_close_s"]
        local = datetime(day.year, day.month, day.day) + timedelta(seconds=at)
        closes.append(local.replace(tzinfo=zone, fold=0).astimezone(timezone.utc))
        day += timedelta(days=1)
    return [any(a <= close < b for close in closes) for a, b in zip(ends, ends[1:], strict=False)]


class Account:
    def __init__(self, params, least, closes):
        self.p, self.least, self.closes = params, F(least), closes.astype(F)
        self.t = params["lookback"] - 1
        self.cash = self.equity = self.day_equity = float(params["initial_capital"])
        self.capital = self.cash
        self.x = self.held = self.best = self.cool = F(0)
        self.entry = self.fees = self.gamma_return = self.drawdown = 0.0
        self.top = self.capital
        self.buys = self.sells = 0
        self.fee_buy, self.fee_sell = params["buy_cost_pct"], params["sell_cost_pct"]
        self.bench = F(self.capital / (float(self.closes[0]) * (1 + self.fee_buy)))
        self.last = len(closes) - params["lookback"] - 1

    def close(self, q):
        """Part of the position, or all."""
        if self.x > 0:
            got = float(q) * self.sale
            self.fees += got * self.fee_sell
            got *= 1 - self.fee_sell
            self.cash += got
            self.realised += got - float(q) * self.entry
            self.sells += 1
            self.x = self.x - q
        else:
            each = self.purchase * (1 + self.fee_buy)
            if float(q) * each > self.cash:
                q = min(q, F(self.cash / each * MARGIN))
            if not q > 0:
                return
            self.fees += float(q) * self.purchase * self.fee_buy
            paid = float(q) * self.purchase * (1 + self.fee_buy)
            self.cash -= paid
            self.realised += float(q) * self.entry - paid
            self.buys += 1
            self.x = self.x + q
        self.held = F(0)
        if self.x == 0:
            self.best, self.entry, self.cool = F(0), 0.0, F(self.p["cooldown_bars"])

    def room(self, buy, p, equity):
        q = abs(float(self.x))
        if buy:
            most = (self.cash - self.capital * self.p["min_cash_reserve"]) / (self.purchase * (1 + self.fee_buy))
        else:
            most = (self.cash - self.p["collateral"] * q * p) / (
                self.p["collateral"] * p - self.sale * (1 - self.fee_sell))
        most *= MARGIN
        if self.p["max_position_pct"] > 0:
            most = min(most, (self.p["max_position_pct"] * equity - q * p) / p)
        return F(max(0.0, most))

    def order(self, direction, size, price):
        p = float(price)
        equity = self.cash + float(self.x) * p
        q = F(float(size) * equity / p) if equity > 0 else F(0)
        side = 1 if direction > F(self.p["threshold"]) else -1 if direction < -F(self.p["threshold"]) else 0
        if not q > self.least:
            side = 0
        if side * self.x < 0:
            part = min(q, abs(self.x))
            self.close(part)
            q = q - part
        elif self.p["forced_exit_bars"] > 0 and self.held >= self.p["forced_exit_bars"]:
            self.close(abs(self.x) * F(self.p["forced_exit_pct"]))
        if side == 0 or side * self.x < 0 or self.cool > 0 or not q > self.least:
            return
        if side < 0 and not self.p["shorts"]:
            return
        q = min(q, self.room(side > 0, p, equity))
        if not (q >= self.least and q > 0):
            return
        held = abs(float(self.x))
        if held == 0:
            self.best = price
        if side > 0:
            worth = float(q) * self.purchase
            self.fees += worth * self.fee_buy
            worth *= 1 + self.fee_buy
            self.cash -= worth
            self.buys += 1
        else:
            worth = float(q) * self.sale
            self.fees += worth * self.fee_sell
            worth *= 1 - self.fee_sell
            self.cash += worth
            self.sells += 1
        self.x = F(self.x + F(side) * q)
        self.entry = (self.entry * held + worth) / (held + float(q))

    def step(self, direction, size, ends, interval):
        direction, size = F(np.clip(direction, -1, 1)), F(np.clip(size, 0, 1))
        self.t += 1
        price = self.closes[self.t]
        p, before, carried = float(price), self.equity, float(self.x)
        self.purchase = float(F(price * F(1 + F(self.p["slippage_pct"]))))
        self.sale = float(F(price * F(1 - F(self.p["slippage_pct"]))))
        self.realised = 0.0
        self.held = self.held + F(1) if self.x != 0 else F(0)
        self.cool = max(F(0), self.cool - F(1))
        if self.x < 0:
            interest = -float(self.x) * p * self.p["borrow_rate"] * (interval / timedelta(hours=8760))
            interest = min(interest, self.cash)
            self.cash -= interest
            self.fees += interest
        if self.p["trailing_stop_pct"] > 0 and self.x != 0:
            stop = F(self.p["trailing_stop_pct"])
            self.best = max(self.best, price) if self.x > 0 else min(self.best, price)
            if price < self.best * F(1 - stop) if self.x > 0 else price > self.best * F(1 + stop):
                self.close(abs(self.x))
        if self.x < 0 and self.cash < (1 + self.p["collateral"]) / 2 * -float(self.x) * p:
            self.close(-self.x)
        if ends and self.x != 0:
            self.close(abs(self.x))
        if not ends:
            self.order(direction, size, price)
        self.equity = self.cash + float(self.x) * p
        done = self.equity <= self.p["ruin"] * self.capital or self.t == self.last
        k = min(self.p["trend_bars"], self.t)
        trend = carried * p / self.equity * (p / float(self.closes[self.t - k]) - 1) if self.equity > 0 else 0
        reward = self.p["weight_return"] * (self.equity / before - 1 if before > 0 else 0)
        reward += self.p["weight_step"] * self.realised / self.capital
        reward += self.p["weight_trend"] * max(0.0, trend)
        if ends:
            reward += self.p["weight_day"] * (self.equity / self.day_equity - 1)
            self.day_equity = self.equity
        self.top = max(self.top, self.equity)
        deepest = max(self.drawdown, float(F(self.top - self.equity) / F(self.top)))
        reward -= self.p["drawdown_penalty"] * (deepest - self.drawdown)
        reward -= self.p["volatility_penalty"] * min(1.0, (self.equity / before - 1) ** 2 if before > 0 else 0)
        self.drawdown = deepest
        reward *= self.p["norm_reward"]
        self.gamma_return = self.gamma_return * self.p["gamma"] + reward
        if done and self.p["final_return"]:
            reward = self.gamma_return
        return dict(cash=self.cash, qty=float(self.x), held=float(self.held), peak=float(self.best),
                    equity=self.equity, equity_benchmark=float(self.bench) * p, reward=reward, done=int(done),
                    fees=self.fees, buys=self.buys, sells=self.sells)


def write_bars(folder, opens, closes):
    with gzip.open(os.path.join(folder, "AUSDT_5m.csv.gz"), "wt") as out:
        out.write("timestamp,open,high,low,close,volume\n")
        for at, close in zip(opens, closes, strict=True):
            out.write(f"{at.isoformat()},{close:.4f},{close:.4f},{close:.4f},{close:.4f},1\n")


def replay(folder, opens, given, least, actions, *options):
    params = dict(symbols=["A"], first_bar=str(opens[0]), bars=len(opens), min_order_qty=[least],
                  params=dict(preset="day-trade", **given))
    with open(os.path.join(folder, "params.json"), "w") as out:
        json.dump(params, out)
    with open(os.path.join(folder, "actions.csv"), "w") as out:
        out.write("action_direction,action_size\n")
        for direction, size in actions:
            out.write(f"{direction:.9g},{size:.9g}\n")
    done = subprocess.run([TRAINER, "env-replay", f"{folder}/params.json", f"{folder}/actions.csv", "--bars", folder,
                           *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"day_trade: {done.stderr}{params}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def draw(random, n):
    """Bars through the day, the night and the change of a clock; actions that hold for a while."""
    first = random.choice([datetime(2025, 3, 6, 20, tzinfo=timezone.utc), datetime(2025, 10, 24, 13, 35, tzinfo=timezone.utc),
                           datetime(2025, 10, 31, 3, tzinfo=timezone.utc), datetime(2025, 6, 1, tzinfo=timezone.utc)])
    opens = [first + timedelta(minutes=5) * i for i in range(n)]
    moves = random.normal(0, random.choice([0.001, 0.01, 0.06]), n)
    closes = np.round(np.maximum(0.01, 100 * np.exp(np.cumsum(moves))), 4)
    direction, size = random.uniform(-1.5, 1.5, n), random.uniform(-0.1, 1.1, n)
    keep = random.integers(1, 12, n)
    held = np.zeros(n, bool)
    i = 0
    while i < n:
        direction[i:i + keep[i]] = direction[i]
        held[i:i + keep[i]] = True
        i += keep[i]
    return opens, closes, list(zip(direction.astype(F), size.astype(F), strict=True))


def draw_params(random):
    given = dict(
        session_zone=str(random.choice(["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata"])),
        session_close_s=int(random.choice([86400, 57600, 63000, 0, 16 * 3600 + 130])),
        shorts=bool(random.integers(0, 4) > 0), borrow_rate=float(random.choice([0, 0.05, 3])),
        collateral=float(random.choice([1.5, 1.1, 3])), threshold=float(random.choice([0, 0.3, 0.8])),
        trailing_stop_pct=float(random.choice([0, 0.01, 0.05])), max_position_pct=float(random.choice([0, 0.3, 0.8])),
        min_cash_reserve=float(random.choice([0, 0.1])), cooldown_bars=int(random.choice([0, 3])),
        slippage_pct=float(random.choice([0, 0.0005])), forced_exit_bars=int(random.choice([0, 4, 48])),
        final_return=bool(random.integers(0, 2)), trend_bars=int(random.choice([1, 20, 500])),
        buy_cost_pct=float(random.choice([0, 0.001, 0.0025])), weight_day=float(random.uniform(-1, 5)),
        weight_trend=float(random.uniform(0, 5)), weight_step=float(random.uniform(0, 5)), norm_reward=1.0,
        lookback=int(random.choice([1, 3, 17])), ruin=float(random.choice([0, 0.5])),
        drawdown_penalty=float(random.choice([0, 0.3, 4])), volatility_penalty=float(random.choice([0, 2, 50])),
    )
    return given, float(random.choice([0, 1e-4, 0.05]))


def compare(name, rows, expected):
    """All columns, counts exactly; returns the largest difference in parts of its tolerance."""
    worst = 0.0
    if len(rows) != len(expected):
        raise SystemExit(f"day_trade: {name}: {len(rows)} rows, not {len(expected)}")
    largest = {c: max(abs(row[c]) for row in expected) for c in COLUMNS}
    for got, want in zip(rows, expected, strict=True):
        for column in COLUMNS:
            key = column if column in got else column + "_A"
            value, right = float(got[key]), want[column]
            exact = column in ("held", "done", "buys", "sells")
            tolerance = 0 if exact else 1e-6 * abs(right) + 1e-7 * largest[column]
            if not abs(value - right) <= tolerance:
                raise SystemExit(f"day_trade: {name}: t {got['t']}, {column}: {value}, not {right}")
            if tolerance > 0:
                worst = max(worst, abs(value - right) / tolerance)
    return worst


def run(folder, name, opens, closes, given, least, actions, *options):
    interval = timedelta(minutes=5)
    params = {**DEFAULTS, **given}
    write_bars(folder, opens, closes)
    account = Account(params, least, closes)
    ends = session_ends(opens, interval, params)
    expected = []
    for direction, size in actions:
        expected.append(account.step(direction, size, ends[account.t + 1], interval))
        if expected[-1]["done"]:
            break
    rows = replay(folder, opens, given, least, actions[:len(expected)], *options)
    worst = compare(name, rows, expected)
    for row, end in zip(rows, ends[params["lookback"]:], strict=False):
        if end and float(row["equity"]) > 0 and float(row["qty_A"]) != 0:
            raise SystemExit(f"day_trade: {name}: t {row['t']}: {row['qty_A']} over the session's end")
    return worst, len(rows), sum(ends), rows


def main():
    seed = int(os.environ.get("PAPERTAPE_SEED", "20261122"))
    runs = 400 if os.environ.get("PAPERTAPE_LONG") == "1" else 40
    print(f"PAPERTAPE_SEED={seed}, {runs} runs")
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        opens, closes, actions = draw(random, 3 * 288)
        worst, steps, sessions, _ = run(folder, "three sessions", opens, closes, {}, 1e-4, actions)
        print(f"three sessions: {steps} steps, {sessions} ends, largest difference {worst:.3f} of the tolerance")
        worst, steps, sessions, buys, shorts, over = 0.0, 0, 0, 0, 0, 0
        for k in range(runs):
            opens, closes, actions = draw(random, int(random.integers(100, 900)))
            given, least = draw_params(random)
            w, n, s, rows = run(folder, f"run {k}", opens, closes, given, least, actions)
            worst, steps, sessions = max(worst, w), steps + n, sessions + s
            buys += int(rows[-1]["buys"])
            shorts += sum(float(row["qty_A"]) < 0 for row in rows)
            over += float(rows[-1]["equity"]) <= 0.5 * 1000
        print(f"random: {steps} steps, {sessions} ends, {buys} purchases, {shorts} steps short, {over} ruined, "
              f"largest difference {worst:.3f} of the tolerance")
        if not (buys > 100 and shorts > 100 and sessions > 10):
            raise SystemExit("day_trade: too little happened to be a test")
    print("trainer/oracle/day_trade: OK")


main()
