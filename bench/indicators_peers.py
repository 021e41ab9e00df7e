"""What bench/indicators compares with: TA-Lib 0.8.1 (wheel 0.8.2) row by row with the same options, float64; and where TA-Lib
has no such row, what its users write: calls of TA-Lib put together, NumPy, or Bottleneck's moving windows.

    PYTHON bench/indicators_peers.py BARS

prints a line a row: name, which peer, nanoseconds a bar of the fastest repetition."""

import sys
import time

import bottleneck as bn
import numpy as np
import talib as ta

REPETITIONS, LEAST = 40, 3
SECONDS = 0.3


def walk(n):
    rng = np.random.default_rng(1)
    c = 50000.0 * np.cumprod(1.0 + 0.004 * (rng.random(n) - 0.5))
    o = np.concatenate(([50000.0], c[:-1]))
    h = np.maximum(o, c) * (1.0 + 0.001 * rng.random(n))
    low = np.minimum(o, c) * (1.0 - 0.001 * rng.random(n))
    return o, h, low, c, 1.0 + 9.0 * rng.random(n)


def ichimoku(h, low):
    def middle(period):
        return (ta.MAX(h, period) + ta.MIN(low, period)) / 2.0

    tenkan, kijun, senkou_b = middle(9), middle(26), middle(52)
    senkou_a = (tenkan + kijun) / 2.0
    return tenkan, kijun, np.roll(senkou_a, 26), np.roll(senkou_b, 26)


def changes(x):
    return np.log(x[1:] / x[:-1])


def garman_klass(o, h, low, c):
    terms = 0.5 * np.log(h / low) ** 2 - (2.0 * np.log(2.0) - 1.0) * np.log(c / o) ** 2
    return np.sqrt(bn.move_mean(terms, 20))


def calls(o, h, low, c, v):
    """Name: (which peer, what to call)."""
    t_lib, put, numpy, bneck = "TA-Lib 0.8.1", "TA-Lib put together", "NumPy", "Bottleneck"
    return {
        "sma_five": (t_lib, lambda: ta.SMA(c, 20)), "ema_five": (t_lib, lambda: ta.EMA(c, 14)),
        "rsi_five": (t_lib, lambda: ta.RSI(c, 14)), "macd_five": (t_lib, lambda: ta.MACD(c, 12, 26, 9)),
        "atr_five": (t_lib, lambda: ta.ATR(h, low, c, 14)),
        "sma": (t_lib, lambda: ta.SMA(c, 30)), "ema": (t_lib, lambda: ta.EMA(c, 30)),
        "wma": (t_lib, lambda: ta.WMA(c, 30)), "dema": (t_lib, lambda: ta.DEMA(c, 30)),
        "tema": (t_lib, lambda: ta.TEMA(c, 30)), "kama": (t_lib, lambda: ta.KAMA(c, 30)),
        "hma": (t_lib, lambda: ta.HMA(c, 16)),
        "rsi": (t_lib, lambda: ta.RSI(c, 14)), "macd": (t_lib, lambda: ta.MACD(c, 12, 26, 9)),
        "ppo": (t_lib, lambda: ta.PPO(c, 12, 26, 1)), "mom": (t_lib, lambda: ta.MOM(c, 10)),
        "roc": (t_lib, lambda: ta.ROC(c, 10)), "trix": (t_lib, lambda: ta.TRIX(c, 30)),
        "cci": (t_lib, lambda: ta.CCI(h, low, c, 14)), "willr": (t_lib, lambda: ta.WILLR(h, low, c, 14)),
        "stoch": (t_lib, lambda: ta.STOCH(h, low, c, 5, 3, 0, 3, 0)),
        "stochf": (t_lib, lambda: ta.STOCHF(h, low, c, 5, 3, 0)),
        "stochrsi": (t_lib, lambda: ta.STOCHRSI(c, 14, 5, 3, 0)),
        "mfi": (t_lib, lambda: ta.MFI(h, low, c, v, 14)), "ultosc": (t_lib, lambda: ta.ULTOSC(h, low, c, 7, 14, 28)),
        "plus_di": (t_lib, lambda: ta.PLUS_DI(h, low, c, 14)), "minus_di": (t_lib, lambda: ta.MINUS_DI(h, low, c, 14)),
        "dx": (t_lib, lambda: ta.DX(h, low, c, 14)), "adx": (t_lib, lambda: ta.ADX(h, low, c, 14)),
        "adxr": (t_lib, lambda: ta.ADXR(h, low, c, 14)), "aroon": (t_lib, lambda: ta.AROON(h, low, 14)),
        "sar": (t_lib, lambda: ta.SAR(h, low, 0.02, 0.2)),
        "supertrend": (t_lib, lambda: ta.SUPERTREND(h, low, c, 10, 3.0)),
        "ichimoku": (put, lambda: ichimoku(h, low)), "heikin_ashi": (t_lib, lambda: ta.HA(o, h, low, c)),
        "atr": (t_lib, lambda: ta.ATR(h, low, c, 14)), "natr": (t_lib, lambda: ta.NATR(h, low, c, 14)),
        "trange": (t_lib, lambda: ta.TRANGE(h, low, c)), "bbands": (t_lib, lambda: ta.BBANDS(c, 20, 2.0, 2.0)),
        "keltner": (t_lib, lambda: ta.KC(h, low, c, 20, 10, 2.0)), "donchian": (t_lib, lambda: ta.DONCHIAN(h, low, 20)),
        "obv": (t_lib, lambda: ta.OBV(c, v)), "ad": (t_lib, lambda: ta.AD(h, low, c, v)),
        "adosc": (t_lib, lambda: ta.ADOSC(h, low, c, v, 3, 10)),
        "vwap": ("TA-Lib 0.8.1, without sessions", lambda: ta.VWAP(h, low, c, v)),
        "stddev": (t_lib, lambda: ta.STDDEV(c, 5, 1.0)), "var": (t_lib, lambda: ta.VAR(c, 5)),
        "linreg_slope": (t_lib, lambda: ta.LINEARREG_SLOPE(c, 14)),
        "linreg_angle": (t_lib, lambda: ta.LINEARREG_ANGLE(c, 14)),
        "trima": (t_lib, lambda: ta.TRIMA(c, 30)), "t3": (t_lib, lambda: ta.T3(c, 5, 0.7)),
        "cmo": (t_lib, lambda: ta.CMO(c, 14)), "linearreg": (t_lib, lambda: ta.LINEARREG(c, 14)),
        "correl": (t_lib, lambda: ta.CORREL(h, low, 30)), "max": (t_lib, lambda: ta.MAX(c, 30)),
        "mama": (t_lib, lambda: ta.MAMA(c, 0.5, 0.05)), "ht_sine": (t_lib, lambda: ta.HT_SINE(c)),
        "ht_trendmode": (t_lib, lambda: ta.HT_TRENDMODE(c)),
        "cdldoji": (t_lib, lambda: ta.CDLDOJI(o, h, low, c)), "cdlengulfing": (t_lib, lambda: ta.CDLENGULFING(o, h, low, c)),
        "cdlmorningstar": (t_lib, lambda: ta.CDLMORNINGSTAR(o, h, low, c, 0.3)),
        "cdlhikkake": (t_lib, lambda: ta.CDLHIKKAKE(o, h, low, c)),
        "log_return": (numpy, lambda: changes(c)),
        "zscore": (bneck, lambda: (c - bn.move_mean(c, 20)) / bn.move_std(c, 20)),
        "realvol": (bneck, lambda: bn.move_std(changes(c), 20, ddof=1)),
        "parkinson": (bneck, lambda: np.sqrt(bn.move_mean(np.log(h / low) ** 2, 20) / (4.0 * np.log(2.0)))),
        "garman_klass": (bneck, lambda: garman_klass(o, h, low, c)),
        "quantile": (bneck, lambda: bn.move_median(c, 20)), "rank": (bneck, lambda: bn.move_rank(c, 20)),
    }


def fastest(call):
    best, begin, done = float("inf"), time.thread_time(), 0
    while done < LEAST or (done < REPETITIONS and time.thread_time() - begin < SECONDS):
        start = time.thread_time()
        call()
        best = min(best, time.thread_time() - start)
        done += 1
    return best


def main():
    n = int(sys.argv[1])
    for name, (which, call) in calls(*walk(n)).items():
        print(f"{name}\t{which}\t{1e9 * fastest(call) / n:.4f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
