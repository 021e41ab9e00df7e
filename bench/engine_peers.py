"""What bench/engine compares with: nautilus_trader's BacktestEngine (Rust and Cython behind Python) doing the same work on
the same events, run in the benchmark's own venv:

    PYTHON bench/engine_peers.py RECORDING CASE

prints the median rate of ROUNDS rounds, each with an engine of its own, everything in memory before the clock starts.
Cases as in engine_events.c: book (differences and quotes), bars5 (bars, a strategy with five indicators, orders on
crosses), trades_orders (trades while orders rest, some of which fill). log: seconds of processor time and bytes an event
to keep differences, quotes and trades in a ParquetDataCatalog."""

import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from decimal import Decimal

from nautilus_trader.backtest.engine import BacktestEngine
from nautilus_trader.backtest.engine import BacktestEngineConfig
from nautilus_trader.config import LoggingConfig
from nautilus_trader.indicators import AverageTrueRange
from nautilus_trader.indicators import ExponentialMovingAverage
from nautilus_trader.indicators import MovingAverageConvergenceDivergence
from nautilus_trader.indicators import RelativeStrengthIndex
from nautilus_trader.indicators import SimpleMovingAverage
from nautilus_trader.model import BookOrder
from nautilus_trader.model import Money
from nautilus_trader.model import OrderBookDelta
from nautilus_trader.model import OrderBookDeltas
from nautilus_trader.model import Price
from nautilus_trader.model import Quantity
from nautilus_trader.model import QuoteTick
from nautilus_trader.model import TradeId
from nautilus_trader.model import TradeTick
from nautilus_trader.model import Venue
from nautilus_trader.model.currencies import USDT
from nautilus_trader.model.data import Bar
from nautilus_trader.model.data import BarType
from nautilus_trader.model.enums import AccountType
from nautilus_trader.model.enums import AggressorSide
from nautilus_trader.model.enums import BookAction
from nautilus_trader.model.enums import BookType
from nautilus_trader.model.enums import OmsType
from nautilus_trader.model.enums import OrderSide
from nautilus_trader.model.enums import RecordFlag
from nautilus_trader.persistence.catalog import ParquetDataCatalog
from nautilus_trader.test_kit.providers import TestInstrumentProvider
from nautilus_trader.trading.strategy import Strategy

ROUNDS = 3
BARS, ORDERS, FILL_EVERY = 50000, 40, 100
START_NS, MINUTE_NS = 1723161240 * 10**9, 60 * 10**9
INSTRUMENT = TestInstrumentProvider.btcusdt_binance()


def price(text):
    return Price(Decimal(text), 2)


def qty(text):
    return Quantity(Decimal(text), 6)


def frames(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        for line in file:
            yield json.loads(line.split(" ", 1)[1])


def deltas(rows, action, last_id, ts):
    found = []
    for side, levels in rows:
        for p, q in levels:
            kind = action if float(q) else BookAction.DELETE
            found.append([side, p, q, kind])
    events = []
    for i, (side, p, q, kind) in enumerate(found):
        flags = RecordFlag.F_LAST if i == len(found) - 1 else 0
        events.append(OrderBookDelta(INSTRUMENT.id, kind, BookOrder(side, price(p), qty(q), 0), flags, last_id, ts, ts))
    return OrderBookDeltas(INSTRUMENT.id, events) if events else None


def book_events(path):
    ts, events, waiting, last_id = START_NS, [], [], None
    for frame in frames(path):
        if "lastUpdateId" in frame:
            last_id = frame["lastUpdateId"]
            events.append(deltas([(OrderSide.BUY, frame["bids"]), (OrderSide.SELL, frame["asks"])], BookAction.ADD,
                                 last_id, ts))
            for data in waiting:
                if data["u"] > last_id:
                    events.append(deltas([(OrderSide.BUY, data["b"]), (OrderSide.SELL, data["a"])], BookAction.UPDATE,
                                         data["u"], ts))
            continue
        data = frame["data"]
        if "@depth" in frame["stream"]:
            ts = max(ts, data["E"] * 10**6)
            if last_id is None:
                waiting.append(data)
            elif data["u"] > last_id:
                events.append(deltas([(OrderSide.BUY, data["b"]), (OrderSide.SELL, data["a"])], BookAction.UPDATE,
                                     data["u"], ts))
        elif "@bookTicker" in frame["stream"]:
            events.append(QuoteTick(INSTRUMENT.id, price(data["b"]), price(data["a"]), qty(data["B"]), qty(data["A"]),
                                    ts, ts))
    return [event for event in events if event is not None]


def trade_events(path):
    ts, events = START_NS, []
    for frame in frames(path):
        if "@trade" in frame.get("stream", ""):
            data = frame["data"]
            ts = max(ts, data["E"] * 10**6)
            side = AggressorSide.SELLER if data["m"] else AggressorSide.BUYER
            events.append(TradeTick(INSTRUMENT.id, price(data["p"]), qty(data["q"]), side, TradeId(str(data["t"])), ts,
                                    ts))
    return events


def random_numbers(state=88172645463325252):
    mask = (1 << 64) - 1
    while True:
        state ^= state << 13 & mask
        state ^= state >> 7
        state ^= state << 17 & mask
        yield state


def bar_events(bar_type):
    """engine_events.c's walk."""
    numbers, at, events = random_numbers(), 6000000, []
    for i in range(BARS):
        step, up, down = next(numbers) % 12001 - 6000, next(numbers) % 3000, next(numbers) % 3000
        open_, close = at, at + step
        high, low = max(open_, close) + up, min(open_, close) - down
        if close < 100000:
            close = low = 100000
        at, ts = close, START_NS + (i + 1) * MINUTE_NS
        numbers_ = [Price(Decimal(x) / 100, 2) for x in (open_, high, low, close)]
        events.append(Bar(bar_type, *numbers_, Quantity(Decimal(10), 6), ts, ts))
    return events


class Watcher(Strategy):
    """Subscribes, as any reader of the book must."""

    def on_start(self):
        self.subscribe_order_book_deltas(INSTRUMENT.id, BookType.L2_MBP)
        self.subscribe_quote_ticks(INSTRUMENT.id)


class Five(Strategy):
    bar_type = None

    def on_start(self):
        self.sma, self.ema = SimpleMovingAverage(20), ExponentialMovingAverage(20)
        self.rsi, self.atr = RelativeStrengthIndex(14), AverageTrueRange(14)
        self.macd, self.before, self.held = MovingAverageConvergenceDivergence(12, 26), 0, False
        for indicator in (self.sma, self.ema, self.rsi, self.macd, self.atr):
            self.register_indicator_for_bars(self.bar_type, indicator)
        self.subscribe_bars(self.bar_type)

    def on_bar(self, bar):
        side = 1 if self.ema.value > self.sma.value else -1
        crossed, self.before = self.before not in (0, side), side
        if not crossed or (side > 0) == self.held:
            return
        self.held = side > 0
        self.submit_order(self.order_factory.market(INSTRUMENT.id, OrderSide.BUY if self.held else OrderSide.SELL,
                                                    qty("0.15")))


class Resting(Strategy):
    def on_start(self):
        self.trades = 0
        self.subscribe_trade_ticks(INSTRUMENT.id)

    def rest(self, at):
        self.submit_order(self.order_factory.limit(INSTRUMENT.id, OrderSide.BUY, qty("0.001"), Price(at, 2)))

    def on_trade_tick(self, tick):
        at = float(tick.price)
        if self.trades == 0:
            for k in range(ORDERS):
                away = at / 100 + k * at / 4000
                if k % 2 == 0:
                    self.rest(at - away)
                else:
                    self.submit_order(self.order_factory.stop_market(INSTRUMENT.id, OrderSide.BUY, qty("0.001"),
                                                                     Price(at + away, 2)))
        if self.trades % FILL_EVERY == 0:
            self.rest(at - 0.01)
        self.trades += 1


def rate(events, strategy, book_type):
    engine = BacktestEngine(BacktestEngineConfig(logging=LoggingConfig(bypass_logging=True), run_analysis=False))
    engine.add_venue(Venue("BINANCE"), OmsType.NETTING, AccountType.MARGIN, [Money(100_000_000, USDT)],
                     book_type=book_type)
    engine.add_instrument(INSTRUMENT)
    for kind in {type(event) for event in events}:  # a list of each; the engine merges them by time
        engine.add_data([event for event in events if type(event) is kind])
    engine.add_strategy(strategy)
    begin = time.process_time()
    engine.run()
    took = time.process_time() - begin
    orders = len(engine.cache.orders())
    filled = sum(order.is_closed for order in engine.cache.orders())
    engine.dispose()
    return len(events) / took, orders, filled


def log(path):
    events = book_events(path)
    deltas_ = [delta for event in events if isinstance(event, OrderBookDeltas) for delta in event.deltas]
    kinds = [deltas_, [event for event in events if isinstance(event, QuoteTick)], trade_events(path)]
    n = len(events) + len(kinds[2])
    with tempfile.TemporaryDirectory() as folder:
        catalog = ParquetDataCatalog(folder)
        begin = time.process_time()
        for kind in kinds:
            catalog.write_data(kind)
        took = time.process_time() - begin
        size = sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(folder) for name in names)
    print(took / n, size / n)


def main():
    path, case = sys.argv[1:]
    if case == "log":
        log(path)
        return
    bar_type = BarType.from_str("BTCUSDT.BINANCE-1-MINUTE-LAST-EXTERNAL")
    Five.bar_type = bar_type
    make = {"book": lambda: (book_events(path), Watcher, BookType.L2_MBP),
            "bars5": lambda: (bar_events(bar_type), Five, BookType.L1_MBP),
            "trades_orders": lambda: (trade_events(path), Resting, BookType.L1_MBP)}[case]
    events, strategy, book_type = make()
    found = [rate(events, strategy(), book_type) for _ in range(ROUNDS)]
    print(f"{case}: {len(events)} events, {found[0][1]} orders, {found[0][2]} ended", file=sys.stderr)
    print(statistics.median(value for value, _, _ in found))


if __name__ == "__main__":
    main()
