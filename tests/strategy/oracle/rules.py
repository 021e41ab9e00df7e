"""The strategies, written from docs/strategies.md alone. A rule is made for a history and asked bar by bar; an
intent is (kind, fraction, stop, profit, limit, good_ns, why)."""

import math

import talib

from indicators import HOUR_NS, MINUTE_NS, Frame, ema, sma


def enter(fraction, why, stop=0.0, profit=0.0, limit=0.0, good_ns=0):
    return [("enter", fraction, stop, profit, limit, good_ns, why)]


def leave(why):
    return [("exit", 0.0, 0.0, 0.0, 0.0, 0, why)]


def sized(p, price, stop, profit, why, **rest):
    """An entry sized by risk, or none."""
    if not 0 < stop < price or (profit and not profit > price):
        return []
    return enter(min(p["fraction_max"], p["risk"] * price / (price - stop)), why, stop, profit, **rest)


def sized_short(p, price, stop, profit, why):
    """The same of a short."""
    if not 0 < price < stop or (profit and not profit < price):
        return []
    fraction = min(p["fraction_max"], p["risk"] * price / (stop - price))
    return [("short", fraction, stop, max(profit, 0.0), 0.0, 0, why)]


def known(*values):
    return not any(math.isnan(value) for value in values)


class Rule:
    shorts = False  # whether it also sells short

    def __init__(self, p, bars, interval_ns):
        self.p, self.bars, self.interval_ns = p, bars, interval_ns
        self.close = bars["close"]
        self.prepare()

    def prepare(self):
        pass

    def ts(self, i):
        return int(self.bars["open_ns"][i]) + self.interval_ns


class BinanceDayTrade(Rule):
    shorts, side = True, 0

    def prepare(self):
        p, bars = self.p, self.bars
        self.fast, self.slow = ema(self.close, int(p["fast"])), ema(self.close, int(p["slow"]))
        self.atr = talib.ATR(bars["high"], bars["low"], self.close, int(p["atr"]))

    def enter(self, c, atr, shorts):
        p = self.p
        if self.side == 1:
            return sized(p, c, c - p["stop_atr"] * atr, p["profit_atr"] and c + p["profit_atr"] * atr, "cross up")
        if not shorts:
            return []
        return sized_short(p, c, c + p["stop_atr"] * atr, p["profit_atr"] and c - p["profit_atr"] * atr, "cross down")

    def at(self, i, a):
        fast, slow, atr = self.fast[i], self.slow[i], self.atr[i]
        if not known(fast, slow, atr):
            return []
        before = self.side
        if fast != slow:
            self.side = 1 if fast > slow else -1
        if a.live:
            return []
        against = a.qty * self.side < 0
        wanted = leave("cross up" if self.side == 1 else "cross down") if against else []
        if before * self.side == -1 and (a.qty == 0 or against):
            wanted += self.enter(self.close[i], atr, a.shorts)
        return wanted


class BuyAndHold(Rule):
    def at(self, i, a):
        if a.live or a.qty != 0 or a.wins + a.losses > 0:
            return []
        return enter(self.p["fraction"] / a.symbols, "buy to hold")


class EqualWeight(Rule):
    beat = None

    def at(self, i, a):
        p, ts = self.p, self.ts(i)
        if a.live:
            return []
        period = int(p["every"]) * self.interval_ns
        w = p["fraction"] / a.symbols
        beaten = False
        if period and (a.qty == 0 or self.beat is None):
            self.beat = ts
        if period:
            while self.beat <= ts:
                beaten = True
                self.beat += period
        h = a.qty * self.close[i] / a.equity
        if a.qty == 0:
            why = "first share"
        elif beaten:
            why = "time to rebalance"
        elif p["drift"] > 0 and abs(h - w) > p["drift"] * w:
            why = "share has drifted"
        else:
            return []
        return [("target", w, 0.0, 0.0, 0.0, 0, why)]


class SmaCross(Rule):
    side = 0

    def prepare(self):
        average = ema if self.p["average"] == "ema" else sma
        self.fast = average(self.close, int(self.p["fast"]))
        self.slow = average(self.close, int(self.p["slow"]))

    def ready(self, i):
        return known(self.fast[i], self.slow[i])

    def cross_up(self, i, a):
        return enter(self.p["fraction"], "cross up")

    def at(self, i, a):
        if not self.ready(i):
            return []
        before = self.side
        if self.fast[i] > self.slow[i]:
            self.side = 1
        elif self.fast[i] < self.slow[i]:
            self.side = -1
        if a.live:
            return []
        if a.qty > 0:
            return leave("cross down") if self.side == -1 else []
        return self.cross_up(i, a) if a.qty == 0 and before == -1 and self.side == 1 else []


class SmaCrossRsi(SmaCross):
    def prepare(self):
        super().prepare()
        self.rsi = talib.RSI(self.close, int(self.p["rsi"]))
        self.atr = talib.ATR(self.bars["high"], self.bars["low"], self.close, int(self.p["atr"]))

    def ready(self, i):
        return known(self.fast[i], self.slow[i], self.rsi[i], self.atr[i])

    def cross_up(self, i, a):
        if self.rsi[i] > self.p["rsi_max"]:
            return []
        stop = self.close[i] - self.p["stop_atr"] * self.atr[i] if self.p["stop_atr"] else 0.0
        return enter(self.p["fraction"], "cross up", max(stop, 0.0))


class SmaCrossRsiRisk(SmaCrossRsi):
    def cross_up(self, i, a):
        p, c = self.p, self.close[i]
        if self.rsi[i] > p["rsi_max"] or a.positions >= p["positions_max"]:
            return []
        profit = c + p["profit_atr"] * self.atr[i] if p["profit_atr"] else 0.0
        return sized(p, c, c - p["stop_atr"] * self.atr[i], profit, "cross up")


class TripleConfirmation(Rule):
    agreed = None

    def prepare(self):
        p, close = self.p, self.close
        self.fast, self.slow = sma(close, int(p["fast"])), sma(close, int(p["slow"]))
        self.rsi = talib.RSI(close, int(p["rsi"]))
        self.hist = talib.MACD(close, int(p["macd_fast"]), int(p["macd_slow"]), int(p["macd_signal"]))[2]
        self.atr = talib.ATR(self.bars["high"], self.bars["low"], close, int(p["atr"]))

    def at(self, i, a):
        p, c = self.p, self.close[i]
        fast, slow, rsi, hist, atr = self.fast[i], self.slow[i], self.rsi[i], self.hist[i], self.atr[i]
        if not known(fast, slow, rsi, hist, atr):
            return []
        agree = all((fast > slow, p["rsi_min"] <= rsi <= p["rsi_max"], hist > 0))
        turned = sum((fast < slow, rsi < p["rsi_min"], hist < 0))
        before, self.agreed = self.agreed, agree
        if a.live:
            return []
        if a.qty > 0:
            return leave("two of three turned") if turned >= 2 else []
        if not agree or before is not False or a.positions >= p["positions_max"]:
            return []
        profit = c + p["profit_atr"] * atr if p["profit_atr"] else 0.0
        return sized(p, c, c - p["stop_atr"] * atr, profit, "all three agree")


class Trend(Rule):
    hour, trades, paused_until = None, 0, 0

    def prepare(self):
        p, bars = self.p, self.bars
        self.averages = []
        for frame_ns in (4 * HOUR_NS, HOUR_NS):
            frame = Frame(bars, self.interval_ns, frame_ns)
            self.averages.append([frame.at_base(ema(frame.close, int(p[k]))) for k in ("fast", "mid", "slow")])
        period = int(p["period"])
        self.rsi = frame.at_base(talib.RSI(frame.close, period))
        self.atr = frame.at_base(talib.ATR(frame.high, frame.low, frame.close, period))
        slow_k = talib.STOCH(frame.high, frame.low, frame.close, period, 3, 0, 3, 0)[0]
        self.k = frame.at_base(slow_k)

    def at(self, i, a):
        p, c, ts = self.p, self.close[i], self.ts(i)
        first_of_hour, self.hour = ts // HOUR_NS != self.hour, ts // HOUR_NS
        if a.wins + a.losses != self.trades:
            self.trades = a.wins + a.losses
            if p["losses_max"] and a.losing >= p["losses_max"]:
                self.paused_until = ts + int(p["pause_hours"]) * HOUR_NS
        if a.live:
            return []
        averages = [[column[i] for column in frame] for frame in self.averages]
        atr = self.atr[i]
        if a.qty > 0:
            fast, mid, _ = averages[1]
            if fast < mid:
                return leave("trend of 1h turned")
            stop = c - p["trail_atr"] * atr
            if first_of_hour and p["trail_atr"] and a.stop and c > stop > a.stop:
                return [("stop", 0.0, stop, 0.0, 0.0, 0, "stop follows the close")]
            return []
        if not first_of_hour or ts < self.paused_until or not known(self.rsi[i], self.k[i], atr):
            return []
        if not all(fast > mid > slow for fast, mid, slow in averages):
            return []
        if not p["rsi_min"] <= self.rsi[i] <= p["rsi_max"] or not self.k[i] < p["stoch_max"]:
            return []
        price = c - p["limit_atr"] * atr
        at_limit = {"limit": price, "good_ns": ts + int(p["limit_minutes"]) * MINUTE_NS} if p["limit_atr"] else {}
        profit = price + p["profit_atr"] * atr if p["profit_atr"] else 0.0
        return sized(p, price, price - p["stop_atr"] * atr, profit, "trends of 4h and 1h agree", **at_limit)


class DayTrade(Rule):
    def prepare(self):
        self.average = sma(self.close, int(self.p["trend"]))
        self.session, self.range, self.entered = None, [], False

    def at(self, i, a):
        p, bars, c = self.p, self.bars, self.close[i]
        opens, length = int(bars["open_ns"][i]), p["length"]
        if "session_open" in bars:  # by the calendar
            session, end = int(bars["session_open"][i]), int(bars["session_close"][i])
            at, length = (opens - session) / MINUTE_NS, (end - session) / MINUTE_NS
        else:
            session, at = divmod(opens / MINUTE_NS - p["start"], 1440)
        if session != self.session:
            self.session, self.range, self.entered = session, [], False
        if at < p["range"]:
            self.range.append(i)
        if a.live:
            return []
        bar = self.interval_ns / MINUTE_NS
        left = length - (at + bar)
        if a.qty > 0:
            if self.entered and left > bar:
                return []
            return leave("session closes" if 0 < left <= bar else "session is over")
        if self.entered or not self.range or at < p["range"] or left <= bar or left < p["late"]:
            return []
        high, low = (side(bars[name][k] for k in self.range) for side, name in ((max, "high"), (min, "low")))
        mean = sum(bars["volume"][k] for k in self.range) / len(self.range)
        if not (c > high and c > self.average[i] and bars["volume"][i] >= p["volume"] * mean):
            return []
        profit = c + p["profit_risk"] * (c - low) if p["profit_risk"] else 0.0
        wanted = sized(p, c, low, profit, "opening range broken")
        self.entered = bool(wanted)
        return wanted


RULES = {
    "binance-day-trade": BinanceDayTrade,
    "buy-and-hold": BuyAndHold,
    "day-trade": DayTrade,
    "equal-weight": EqualWeight,
    "sma-cross": SmaCross,
    "sma-cross-rsi": SmaCrossRsi,
    "sma-cross-rsi-risk": SmaCrossRsiRisk,
    "trend-4h-1h": Trend,
    "triple-confirmation": TripleConfirmation,
}
