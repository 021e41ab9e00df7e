"""What bench/backtest compares with: the same moving-average cross, 10 over 50 closes, on the same bars, orders filled at the
next open, 0.1 % fee, all of the cash, whole run with its statistics.

    PYTHON bench/backtest_peers.py BARS.csv vectorbt|backtesting|backtrader

prints one JSON object: seconds of the fastest repetition (imports, reading and compiling apart), trades, final equity."""

import json
import sys
import time

import pandas as pd

FAST, SLOW, CASH, FEE = 10, 50, 1_000_000.0, 0.001


def bars(path):
    frame = pd.read_csv(path)
    frame.index = pd.to_datetime(frame.pop("open_time"), unit="ms")
    return frame


def fastest(run, least, seconds):
    """The quickest of at least so many runs, while the seconds last; and what the last gave."""
    best, started, n = float("inf"), time.perf_counter(), 0
    while n < least or time.perf_counter() - started < seconds:
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
        n += 1
    return best, result


def with_vectorbt(frame):
    import vectorbt as vbt

    def run():
        fast, slow = vbt.MA.run(frame.close, FAST), vbt.MA.run(frame.close, SLOW)
        entries, exits = fast.ma_crossed_above(slow), fast.ma_crossed_below(slow)
        portfolio = vbt.Portfolio.from_signals(frame.close, entries.vbt.fshift(1), exits.vbt.fshift(1), price=frame.open,
                                               init_cash=CASH, fees=FEE, freq="1min")
        portfolio.sharpe_ratio(), portfolio.sortino_ratio(), portfolio.max_drawdown()
        return int(portfolio.trades.count()), float(portfolio.value().iloc[-1])

    run()  # compiles
    return fastest(run, 5, 3)


def with_backtesting(frame):
    from backtesting import Backtest, Strategy
    from backtesting.lib import crossover

    def average(values, n):
        return pd.Series(values).rolling(n).mean()

    class Cross(Strategy):
        def init(self):
            self.fast, self.slow = self.I(average, self.data.Close, FAST), self.I(average, self.data.Close, SLOW)

        def next(self):
            if crossover(self.fast, self.slow):
                self.buy(size=0.9989)
            elif crossover(self.slow, self.fast):
                self.position.close()

    named = frame.rename(columns=str.capitalize)

    def run():
        stats = Backtest(named, Cross, cash=CASH, commission=FEE, finalize_trades=False).run()
        return int(stats["# Trades"]), float(stats["Equity Final [$]"])

    return fastest(run, 3, 3)


def with_backtrader(frame):
    import backtrader as bt

    class Cross(bt.Strategy):
        def __init__(self):
            self.cross = bt.ind.CrossOver(bt.ind.SMA(period=FAST), bt.ind.SMA(period=SLOW))
            self.closed = 0

        def notify_trade(self, trade):
            self.closed += trade.isclosed

        def next(self):
            if self.cross > 0:
                self.order_target_percent(target=0.9989)
            elif self.cross < 0 and self.position:
                self.close()

    def run():
        cerebro = bt.Cerebro(stdstats=False)
        cerebro.adddata(bt.feeds.PandasData(dataname=frame))
        cerebro.addstrategy(Cross)
        cerebro.addanalyzer(bt.analyzers.SharpeRatio)
        cerebro.addanalyzer(bt.analyzers.DrawDown)
        cerebro.broker.setcash(CASH)
        cerebro.broker.setcommission(commission=FEE)
        strategy = cerebro.run()[0]
        return strategy.closed, float(cerebro.broker.getvalue())

    return fastest(run, 1, 0)


def main():
    runs = {"vectorbt": with_vectorbt, "backtesting": with_backtesting, "backtrader": with_backtrader}
    seconds, (trades, equity) = runs[sys.argv[2]](bars(sys.argv[1]))
    print(json.dumps({"seconds": seconds, "trades": trades, "final_equity": equity}))


if __name__ == "__main__":
    main()
