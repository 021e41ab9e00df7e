"""What bench/sweep compares with: vectorbt broadcasts a moving-average cross over 100 sets of the grid, the columns of one
portfolio, on the same bars; orders fill at the next open, 0.1 % fee, all of the cash.

    PYTHON bench/sweep_peers.py BARS.csv

prints one JSON object: bar-steps a second of the quickest repetition, averages and signals included, without any figure, and with
return, Sharpe, Sortino, maximum drawdown, trades, win rate, profit factor and fees. Imports, reading and compiling are apart."""

import json
import sys
import time

import pandas as pd
import vectorbt as vbt

FAST, SLOW, CASH, FEE = range(5, 105, 10), range(110, 310, 20), 1_000_000.0, 0.001
SETS = len(FAST) * len(SLOW)


def portfolio(frame):
    fast = vbt.MA.run(frame.close, [f for f in FAST for _ in SLOW], short_name="fast")
    slow = vbt.MA.run(frame.close, [s for _ in FAST for s in SLOW], short_name="slow")
    above, below = fast.ma_crossed_above(slow), fast.ma_crossed_below(slow)
    return vbt.Portfolio.from_signals(frame.close, above.vbt.fshift(1), below.vbt.fshift(1), price=frame.open, init_cash=CASH, fees=FEE,
                                      freq="1min")


def figures(of):
    trades = of.trades
    return (of.total_return(), of.sharpe_ratio(), of.sortino_ratio(), of.max_drawdown(), trades.count(), trades.win_rate(),
            trades.profit_factor(), of.orders.fees.sum())


def fastest(run, times):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    frame = pd.read_csv(sys.argv[1])
    frame.index = pd.to_datetime(frame.pop("open_time"), unit="ms")
    figures(portfolio(frame.iloc[:2000]))  # compiles
    steps = SETS * len(frame)
    plain = fastest(lambda: portfolio(frame).value(), 2)
    statistics = fastest(lambda: figures(portfolio(frame)), 2)
    print(json.dumps({"sets": SETS, "plain": steps / plain, "statistics": steps / statistics}))


if __name__ == "__main__":
    main()
