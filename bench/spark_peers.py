"""The indicators as they are usually written in pandas, for bench/spark: sma, rsi, and the 110 features of wide110 before their
scaling; and a backtest as a loop. The figures are those of the usual formulas (an average may begin in another way than ours): what is compared is time."""

import numpy as np
import pandas as pd


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
    return values.rolling(period).apply(lambda window: window @ weights, raw=True)


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
    return values.rolling(period).apply(lambda window: window @ weights, raw=True)


def zscore(values, period):
    window = values.rolling(period)
    return (values - window.mean()) / window.std(ddof=0)


def aroon(values, period, most):
    place = np.argmax if most else np.argmin
    return values.rolling(period + 1).apply(lambda window: 100 * place(window) / period, raw=True)


def mfi(bars, period):
    price = (bars.high + bars.low + bars.close) / 3
    flow, move = price * bars.volume, price.diff()
    up, down = flow.where(move > 0, 0.0).rolling(period).sum(), flow.where(move < 0, 0.0).rolling(period).sum()
    return 100 * up / (up + down)


def cci(bars, period):
    price = (bars.high + bars.low + bars.close) / 3
    mean = price.rolling(period).mean()
    spread = price.rolling(period).apply(lambda window: np.abs(window - window.mean()).mean(), raw=True)
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


def wide110(frame):
    found = pd.DataFrame(columns(frame)).astype("float32")
    found.columns = [f"f{k}" for k in range(found.shape[1])]
    return pd.concat([frame.reset_index(drop=True), found], axis=1)


def backtest_by_rows(frame):
    """The same by iterrows(), which makes a Series of each bar."""
    return backtest(frame, each=lambda rows: (row for _, row in rows.iterrows()))


def backtest(frame, fast=10, slow=30, cash=10_000.0, fee=0.001, each=lambda rows: rows.itertuples(index=False)):
    """sma-cross as it is usually written: a loop over the bars of a symbol, by itertuples(), that buys at the next open for all
    its cash where the fast average crosses above the slow one, and sells where it is below; equity at each close, and a few
    figures."""
    bars = frame.sort_values("timestamp")
    averages = {period: bars.close.rolling(period).mean() for period in (fast, slow)}
    rows = pd.DataFrame({"open": bars.open, "close": bars.close, "fast": averages[fast], "slow": averages[slow]})
    qty, fills, wanted, above, equity = 0.0, 0, None, False, []
    for row in each(rows):
        if wanted is True and qty == 0:
            qty = cash / (row.open * (1 + fee))
            cash, fills = 0.0, fills + 1
        elif wanted is False and qty > 0:
            cash, qty, fills = qty * row.open * (1 - fee), 0.0, fills + 1
        wanted = None
        now = row.fast > row.slow
        if now and not above and qty == 0:
            wanted = True
        elif not now and qty > 0:
            wanted = False
        above = now
        equity.append(cash + qty * row.close)
    curve = pd.Series(equity)
    returns = curve.pct_change().dropna()
    sharpe = returns.mean() / returns.std() * np.sqrt(365 * 288) if returns.std() > 0 else np.nan
    return pd.DataFrame({
        "symbol": [frame.symbol.iloc[0]], "equity": [equity[-1]], "return": [equity[-1] / equity[0] - 1],
        "max_drawdown": [(curve / curve.cummax() - 1).min()], "sharpe": [sharpe], "fills": [fills],
    })
