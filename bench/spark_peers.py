"""The indicators as they are usually written in pandas, for bench/spark: sma, rsi, and the 110 features of wide110 before their
scaling; and a backtest: as loops, and by two packages. The figures are those of the usual formulas (an average may begin in another
way than ours): what is compared is time."""

import hashlib

import numpy as np
import pandas as pd

PERIODS, CASH, FEE = (10, 30), 1_000_000.0, 0.001
FIGURES = "symbol string, equity double, return double, max_drawdown double, sharpe double, fills bigint"


def by_apply(values, period, each, _all):
    """What pandas has no method for, as its users and packages write it."""
    return values.rolling(period).apply(each, raw=True)


def by_windows(values, period, _each, all_):
    """The same by NumPy, all windows as rows at once."""
    out = np.full(len(values), np.nan)
    if len(values) >= period:
        out[period - 1 :] = all_(np.lib.stride_tricks.sliding_window_view(values.to_numpy(), period))
    return pd.Series(out, values.index)


rolled = by_apply  # wide110() and wide110_windows() choose


def sma(frame):
    return frame.assign(sma_20=frame.close.rolling(20).mean())


def wilder(values, period):
    return values.ewm(alpha=1 / period, adjust=False).mean()


def ema(values, period):
    return values.ewm(span=period, adjust=False).mean()


def rsi_of(close, period):
    move = close.diff()
    gain, loss = wilder(move.clip(lower=0), period), wilder(-move.clip(upper=0), period)
    return 100 * gain / (gain + loss)


def rsi(frame):
    return frame.assign(rsi_14=rsi_of(frame.close, 14))


def wma(values, period):
    weights = np.arange(1, period + 1) / (period * (period + 1) / 2)
    return rolled(values, period, lambda window: window @ weights, lambda windows: windows @ weights)


def kama(close, period):
    ratio = (close - close.shift(period)).abs() / close.diff().abs().rolling(period).sum()
    speed = ((ratio * (2 / 3 - 2 / 31) + 2 / 31) ** 2).to_numpy()
    values, out = close.to_numpy(), np.full(len(close), np.nan)
    last = values[period - 1] if len(values) >= period else np.nan
    for i in range(period, len(values)):
        last += speed[i] * (values[i] - last)
        out[i] = last
    return pd.Series(out, close.index)


def true_range(bars):
    before = bars.close.shift()
    return pd.concat([bars.high - bars.low, (bars.high - before).abs(), (bars.low - before).abs()], axis=1).max(axis=1)


def directional(bars, period):
    up, down = bars.high.diff(), -bars.low.diff()
    ranges = wilder(true_range(bars), period)
    plus = 100 * wilder(up.where((up > down) & (up > 0), 0.0), period) / ranges
    minus = 100 * wilder(down.where((down > up) & (down > 0), 0.0), period) / ranges
    return plus, minus, 100 * (plus - minus).abs() / (plus + minus)


def stochastic(high, low, close, period):
    lowest = low.rolling(period).min()
    return 100 * (close - lowest) / (high.rolling(period).max() - lowest)


def slope(values, period):
    x = np.arange(period) - (period - 1) / 2
    weights = x / (x @ x)
    return rolled(values, period, lambda window: window @ weights, lambda windows: windows @ weights)


def zscore(values, period):
    window = values.rolling(period)
    return (values - window.mean()) / window.std(ddof=0)


def aroon(values, period, most):
    place = np.argmax if most else np.argmin
    return rolled(values, period + 1, lambda window: 100 * place(window) / period, lambda windows: 100 * place(windows, axis=1) / period)


def mfi(bars, period):
    price = (bars.high + bars.low + bars.close) / 3
    flow, move = price * bars.volume, price.diff()
    up, down = flow.where(move > 0, 0.0).rolling(period).sum(), flow.where(move < 0, 0.0).rolling(period).sum()
    return 100 * up / (up + down)


def cci(bars, period):
    price = (bars.high + bars.low + bars.close) / 3
    mean = price.rolling(period).mean()
    spread = rolled(price, period, lambda window: np.abs(window - window.mean()).mean(),
                    lambda windows: np.abs(windows - windows.mean(axis=1, keepdims=True)).mean(axis=1))
    return (price - mean) / (0.015 * spread)


def sar(bars, step=0.02, most=0.2):
    high, low = bars.high.to_numpy(), bars.low.to_numpy()
    out, rising, speed, extreme, value = np.full(len(high), np.nan), True, step, high[0], low[0]
    for i in range(1, len(high)):
        value += speed * (extreme - value)
        if (low[i] < value) if rising else (high[i] > value):
            rising, value, speed = not rising, extreme, step
            extreme = high[i] if rising else low[i]
        elif (high[i] > extreme) if rising else (low[i] < extreme):
            extreme, speed = high[i] if rising else low[i], min(speed + step, most)
        out[i] = value
    return pd.Series(out, bars.index)


def supertrend(bars, period=10, factor=3):
    middle, ranges = (bars.high + bars.low) / 2, factor * wilder(true_range(bars), period)
    upper, lower, close = (middle + ranges).to_numpy(), (middle - ranges).to_numpy(), bars.close.to_numpy()
    value, way, trend = np.full(len(close), np.nan), np.ones(len(close)), 1
    for i in range(1, len(close)):
        upper[i] = upper[i] if upper[i] < upper[i - 1] or close[i - 1] > upper[i - 1] else upper[i - 1]
        lower[i] = lower[i] if lower[i] > lower[i - 1] or close[i - 1] < lower[i - 1] else lower[i - 1]
        trend = 1 if close[i] > upper[i - 1] else -1 if close[i] < lower[i - 1] else trend
        value[i], way[i] = (lower[i] if trend > 0 else upper[i]), trend
    return pd.Series(value, bars.index), pd.Series(way, bars.index)


def heikin_ashi(bars):
    close = (bars.open + bars.high + bars.low + bars.close) / 4
    opens, closes, first = bars.open.to_numpy().copy(), close.to_numpy(), bars.close.iloc[0]
    opens[0] = (opens[0] + first) / 2
    for i in range(1, len(opens)):
        opens[i] = (opens[i - 1] + closes[i - 1]) / 2
    return pd.Series(opens, bars.index), close


def usual(bars, returns, averages):
    """What all timeframes have, the first parts of wide110's text."""
    close, out = bars.close, {}
    logs = np.log(close)
    for k in returns:
        out[f"log_return:{k}"] = logs.diff(k)
    if averages:
        half = 2 * wma(close, 8) - wma(close, 16)
        for name, value in (("sma:200", close.rolling(200).mean()), ("kama:30", kama(close, 30)), ("hma:16", wma(half, 4))):
            out[name] = value / close - 1
    for k in (9, 26, 50):
        out[f"ema:{k}"] = ema(close, k) / close - 1
    fast = stochastic(bars.high, bars.low, close, 14)
    macd = ema(close, 12) - ema(close, 26)
    plus, minus, dx = directional(bars, 14)
    out |= {"rsi:14": rsi_of(close, 14) / 100, "slowk": fast.rolling(3).mean() / 100, "hist": (macd - ema(macd, 9)) / close,
            "adx:14": wilder(dx, 14) / 100, "natr:14": 100 * wilder(true_range(bars), 14) / close, "zscore:20": zscore(close, 20)}
    if averages:
        deviation, mean = close.rolling(20).std(ddof=0), close.rolling(20).mean()
        out |= {"slowd": fast.rolling(3).mean().rolling(3).mean() / 100, "willr:14": (fast - 100) / 100, "cci:20": cci(bars, 20) / 100,
                "mfi:14": mfi(bars, 14) / 100, "macd": macd / close, "plus_di": plus / 100, "minus_di": minus / 100,
                "aroon.up": aroon(bars.high, 25, True) / 100, "aroon.down": aroon(bars.low, 25, False) / 100,
                "linreg_slope:14": slope(close, 14) / close, "realvol:20": logs.diff().rolling(20).std(),
                "bbands.upper": (mean + 2 * deviation) / close - 1, "bbands.lower": (mean - 2 * deviation) / close - 1}
    return out


def further(bars):
    """What the bars' own interval has alone."""
    close, high, low = bars.close, bars.high, bars.low
    logs, price = np.log(close), (high + low + close) / 3
    one, two, three = (ema(close, 20), ema(ema(close, 20), 20), ema(ema(ema(close, 20), 20), 20))
    day = bars.timestamp.dt.date
    trend, way = supertrend(bars)
    opens, closes = heikin_ashi(bars)
    tenkan, kijun = ((high.rolling(k).max() + low.rolling(k).min()) / 2 for k in (9, 26))
    width = 2 * wilder(true_range(bars), 10)
    relative = rsi_of(close, 14)
    fast = stochastic(relative, relative, relative, 14)
    pressure = close - pd.concat([low, close.shift()], axis=1).min(axis=1)
    parts = [pressure.rolling(k).sum() / true_range(bars).rolling(k).sum() for k in (7, 14, 28)]
    flow = (bars.volume * (2 * close - high - low) / (high - low)).cumsum()
    dx = directional(bars, 14)[2]
    adx = wilder(dx, 14)
    triple = ema(ema(ema(close, 30), 30), 30)
    smooth = np.log(high / low) ** 2
    out = {f"log_return:{k}": logs.diff(k) for k in (24, 48, 144, 288)}
    by_close = {"wma": wma(close, 20), "tema": 3 * one - 3 * two + three, "sar": sar(bars), "supertrend": trend, "tenkan": tenkan,
                "vwap": (price * bars.volume).groupby(day).cumsum() / bars.volume.groupby(day).cumsum(), "kijun": kijun,
                "senkou_a": ((tenkan + kijun) / 2).shift(26), "senkou_b": ((high.rolling(52).max() + low.rolling(52).min()) / 2).shift(26),
                "donchian.upper": high.rolling(20).max(), "donchian.lower": low.rolling(20).min(), "keltner.upper": ema(price, 20) + width,
                "keltner.lower": ema(price, 20) - width, "ha.open": opens, "ha.close": closes,
                "quantile.1": close.rolling(96).quantile(0.1), "quantile.9": close.rolling(96).quantile(0.9)}
    out |= {name: value / close - 1 for name, value in by_close.items()}
    return out | {
        "direction": way, "rsi:7": rsi_of(close, 7) / 100, "fastk": fast.rolling(5).mean() / 100,
        "fastd": fast.rolling(5).mean().rolling(3).mean() / 100, "ultosc": (4 * parts[0] + 2 * parts[1] + parts[2]) / 7,
        "ppo": 100 * (ema(close, 12) / ema(close, 26) - 1), "trix": 100 * triple.pct_change(), "roc:10": 100 * close.pct_change(10),
        "adosc": ema(flow, 3) - ema(flow, 10), "dx:14": dx / 100, "adxr": (adx + adx.shift(13)) / 200,
        "linreg_angle": np.degrees(np.arctan(slope(close, 14))), "parkinson": np.sqrt(smooth.rolling(20).mean() / (4 * np.log(2))),
        "garman_klass": np.sqrt((smooth / 2 - (2 * np.log(2) - 1) * np.log(close / bars.open) ** 2).rolling(20).mean()),
        "realvol:288": logs.diff().rolling(288).std(), "trange": true_range(bars) / close,
        "atr:96": wilder(true_range(bars), 96) / close, "rank:20": close.rolling(20).rank(), "rank:96": close.rolling(96).rank(),
        "volume": np.log1p(bars.volume)}


def higher(frame, rule):
    """Bars of a longer interval, by the opening."""
    rules = {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum"}
    return frame.set_index("timestamp").resample(rule).agg(rules).dropna().reset_index()


def columns(frame):
    frame = frame.reset_index(drop=True)
    found = {**{f"{name} 5m": value for name, value in usual(frame, (1, 3, 6, 12), True).items()}, **further(frame)}
    for rule, returns, averages in (("1h", (1, 3, 6, 12), True), ("4h", (1, 6), False)):
        bars = higher(frame, rule)
        closed = bars.timestamp + pd.Timedelta(rule)
        at = np.searchsorted(closed, frame.timestamp + pd.Timedelta("5min"), side="right") - 1
        for name, value in usual(bars, returns, averages).items():
            values = value.to_numpy()
            found[f"{name} {rule}"] = pd.Series(np.where(at >= 0, values[np.maximum(at, 0)], np.nan))
    return found


def names():
    """110, without what a name may not have."""
    walk = pd.Series(np.linspace(100, 101, 400))
    bars = pd.DataFrame({"timestamp": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400) * 5, unit="min"), "open": walk, "high": walk + 1,
                         "low": walk - 1, "close": walk, "volume": walk})
    return [f"f{k}" for k in range(len(columns(bars)))]


def wide110(frame, how=by_apply):
    global rolled
    rolled = how
    found = pd.DataFrame(columns(frame)).astype("float32")
    found.columns = [f"f{k}" for k in range(found.shape[1])]
    return pd.concat([frame.reset_index(drop=True), found], axis=1)


def wide110_windows(frame):
    return wide110(frame, by_windows)


def crossing(frame):
    """The bars that a loop goes through: opens, closes and both averages."""
    bars = frame.sort_values("timestamp")
    fast, slow = (bars.close.rolling(period).mean() for period in PERIODS)
    return pd.DataFrame({"timestamp": bars.timestamp, "open": bars.open, "close": bars.close, "fast": fast, "slow": slow})


def summary(frame, equity, fills):
    """A few figures of a curve, in a frame of FIGURES."""
    curve = pd.Series(equity)
    returns = curve.pct_change().dropna()
    sharpe = returns.mean() / returns.std() * np.sqrt(365 * 288) if returns.std() > 0 else np.nan
    return pd.DataFrame({
        "symbol": [frame.symbol.iloc[0]], "equity": [equity[-1]], "return": [equity[-1] / equity[0] - 1],
        "max_drawdown": [(curve / curve.cummax() - 1).min()], "sharpe": [sharpe], "fills": [fills],
    })


def backtest_by_rows(frame):
    """The same by iterrows(), which makes a Series of each bar."""
    return backtest(frame, each=lambda rows: (row for _, row in rows.iterrows()))


def backtest(frame, each=lambda rows: rows.itertuples(index=False)):
    """sma-cross as it is usually written: a loop over the bars of a symbol, by itertuples(), that buys at the next open for all
    its cash where the fast average crosses above the slow one, and sells where it is below; equity at each close, and a few
    figures."""
    cash, qty, fills, wanted, above, equity = CASH, 0.0, 0, None, False, []
    for row in each(crossing(frame)):
        if wanted is True and qty == 0:
            qty = cash / (row.open * (1 + FEE))
            cash, fills = 0.0, fills + 1
        elif wanted is False and qty > 0:
            cash, qty, fills = qty * row.open * (1 - FEE), 0.0, fills + 1
        wanted = None
        now = row.fast > row.slow
        if now and not above and qty == 0:
            wanted = True
        elif not now and qty > 0:
            wanted = False
        above = now
        equity.append(cash + qty * row.close)
    return summary(frame, equity, fills)


def backtest_kept(frame):
    """The same loop with what ours keeps: orders, fills, a ledger of rows with balances and a chain of SHA-256, trades from flat to
    flat, the time in the market, and figures of them."""
    orders, fills, ledger, trades, equity = [], [], [], [], []
    balances, chain, held, entry, waiting, above = {"USD": 0.0, "BASE": 0.0}, bytes(32), 0, None, None, False

    def post(time, kind, asset, amount, order, fill):
        nonlocal chain
        balances[asset] += amount
        row = (len(ledger) + 1, time, asset, kind, amount, balances[asset], order, fill)
        chain = hashlib.sha256(chain + "|".join(map(str, row)).encode()).digest()
        ledger.append((*row, chain))

    def place(time, side):
        orders.append({"id": len(orders) + 1, "time": time, "side": side, "status": "new"})
        return orders[-1]

    def fill(order, time, price):
        nonlocal entry
        buy = order["side"] == "buy"
        qty = balances["USD"] / (price * (1 + FEE)) if buy else balances["BASE"]
        fee = qty * price * FEE
        order.update(status="filled", qty=qty, price=price)
        fills.append({"order": order["id"], "time": time, "side": order["side"], "price": price, "qty": qty, "fee": fee})
        post(time, "trade", "BASE", qty if buy else -qty, order["id"], len(fills))
        post(time, "trade", "USD", -qty * price if buy else qty * price, order["id"], len(fills))
        post(time, "fee", "USD", -fee, order["id"], len(fills))
        if buy:
            entry = fills[-1]
        else:
            trades.append({"from": entry["time"], "to": time, "pnl": qty * (price - entry["price"]) - fee - entry["fee"]})

    post(0, "deposit", "USD", CASH, 0, 0)
    for row in crossing(frame).itertuples(index=False):
        if waiting:
            fill(waiting, row.timestamp, row.open)
            waiting = None
        now = row.fast > row.slow
        if now and not above and balances["BASE"] == 0:
            waiting = place(row.timestamp, "buy")
        elif not now and balances["BASE"] > 0:
            waiting = place(row.timestamp, "sell")
        above = now
        held += balances["BASE"] > 0
        equity.append(balances["USD"] + balances["BASE"] * row.close)
    found = summary(frame, equity, len(fills))
    pnl, returns = pd.Series([trade["pnl"] for trade in trades], dtype=float), pd.Series(equity).pct_change().dropna()
    won, lost = pnl[pnl > 0], pnl[pnl <= 0]
    return found.assign(orders=len(orders), trades=len(trades), wins=len(won), profit_factor=won.sum() / max(-lost.sum(), 1e-9), exposure=held / len(equity),
                        expectancy=pnl.mean(), sortino=returns.mean() / returns[returns < 0].std() * np.sqrt(365 * 288), worst=returns.min(), best=returns.max(),
                        tail=returns.quantile(0.05), fees=sum(fill["fee"] for fill in fills), ledger_hash=chain.hex())[list(found.columns)]


def backtest_by_backtesting(frame):
    """By backtesting.py, whose orders are of whole units."""
    from backtesting import Backtest, Strategy
    from backtesting.lib import crossover

    class Cross(Strategy):
        def init(self):
            self.fast, self.slow = (self.I(lambda values, n=n: pd.Series(values).rolling(n).mean(), self.data.Close) for n in PERIODS)

        def next(self):
            if crossover(self.fast, self.slow):
                self.buy(size=0.9989)
            elif crossover(self.slow, self.fast):
                self.position.close()

    named = frame.sort_values("timestamp").set_index("timestamp")[["open", "high", "low", "close", "volume"]].rename(columns=str.capitalize)
    stats = Backtest(named, Cross, cash=CASH, commission=FEE, finalize_trades=False).run()
    return pd.DataFrame({
        "symbol": [frame.symbol.iloc[0]], "equity": [float(stats["Equity Final [$]"])], "return": [float(stats["Return [%]"]) / 100],
        "max_drawdown": [float(stats["Max. Drawdown [%]"]) / 100], "sharpe": [float(stats["Sharpe Ratio"])], "fills": [2 * int(stats["# Trades"])]})


def backtest_by_backtrader(frame):
    """By backtrader."""
    import backtrader as bt

    class Cross(bt.Strategy):
        def __init__(self):
            self.cross = bt.ind.CrossOver(*(bt.ind.SMA(period=n) for n in PERIODS))
            self.fills = 0

        def notify_order(self, order):
            self.fills += order.status == order.Completed

        def next(self):
            if self.cross > 0:
                self.order_target_percent(target=0.9989)
            elif self.cross < 0 and self.position:
                self.close()

    cerebro = bt.Cerebro(stdstats=False)
    cerebro.adddata(bt.feeds.PandasData(dataname=frame.sort_values("timestamp").set_index("timestamp")[["open", "high", "low", "close", "volume"]]))
    cerebro.addstrategy(Cross)
    cerebro.addanalyzer(bt.analyzers.SharpeRatio, _name="sharpe")
    cerebro.addanalyzer(bt.analyzers.DrawDown, _name="drawdown")
    cerebro.broker.setcash(CASH)
    cerebro.broker.setcommission(commission=FEE)
    strategy = cerebro.run()[0]
    equity = float(cerebro.broker.getvalue())
    return pd.DataFrame({
        "symbol": [frame.symbol.iloc[0]], "equity": [equity], "return": [equity / CASH - 1],
        "max_drawdown": [-strategy.analyzers.drawdown.get_analysis().max.drawdown / 100], "sharpe": [strategy.analyzers.sharpe.get_analysis()["sharperatio"]],
        "fills": [strategy.fills]})
