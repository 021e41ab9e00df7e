"""The strategies, written from docs/strategies.md alone. A rule is made for a history and asked bar by bar; an
intent is (kind, fraction, stop, profit, limit, good_ns, why)."""

import math

import talib

from indicators import HOUR_NS, MINUTE_NS, Frame, ema, sma


def enter(side, fraction, why, stop=0.0, profit=0.0, limit=0.0, good_ns=0):
    """Of a side: 1 long, -1 short."""
    return [("enter" if side == 1 else "short", fraction, stop, profit, limit, good_ns, why)]


def leave(why):
    return [("exit", 0.0, 0.0, 0.0, 0.0, 0, why)]


def sized(p, side, price, stop, profit, why, **rest):
    """An entry sized by risk, or none."""
    if side == 1 and (not 0 < stop < price or (profit and not profit > price)):
        return []
    if side == -1 and (not 0 < price < stop or (profit and not profit < price)):
        return []
    return enter(side, min(p["fraction_max"], p["risk"] * price / abs(price - stop)), why, stop, max(profit, 0.0), **rest)


def known(*values):
    return not any(math.isnan(value) for value in values)


class Rule:
    def __init__(self, p, bars, interval_ns):
        self.p, self.bars, self.interval_ns = p, bars, interval_ns
        self.close = bars["close"]
        self.prepare()

    def prepare(self):
        pass

    def ts(self, i):
        return int(self.bars["open_ns"][i]) + self.interval_ns

    def takes(self, side):
        return self.p["direction"] in ("both", "long" if side == 1 else "short")

    def opens(self, side, a):
        return self.takes(side) and (side == 1 or a.shorts)

    def manages(self, a):
        """Whether what is held is this rule's."""
        return a.qty != 0 and self.takes(1 if a.qty > 0 else -1)


class BuyAndHold(Rule):
    def at(self, i, a):
        side = -1 if self.p["direction"] == "short" else 1
        if a.live or a.qty != 0 or a.wins + a.losses > 0 or not self.opens(side, a):
            return []
        return enter(side, self.p["fraction"] / a.symbols, "buy to hold" if side == 1 else "sell short to hold")


class EqualWeight(Rule):
    beat = None

    def at(self, i, a):
        p, ts = self.p, self.ts(i)
        if a.live:
            return []
        period = int(p["every"]) * self.interval_ns
        side = -1 if p["direction"] == "short" else 1
        if not self.opens(side, a):
            return []
        w = side * p["fraction"] / a.symbols
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
        elif p["drift"] > 0 and abs(h - w) > p["drift"] * abs(w):
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

    def crossed(self, i, a, others, why):
        """The entry on the side that was crossed to; `others`: symbols held, without what is left at this bar."""
        return enter(self.side, self.p["fraction"], why)

    def at(self, i, a):
        if not self.ready(i):
            return []
        before = self.side
        if self.fast[i] != self.slow[i]:
            self.side = 1 if self.fast[i] > self.slow[i] else -1
        if a.live:
            return []
        why = "cross up" if self.side == 1 else "cross down"
        against = a.qty * self.side < 0 and self.manages(a)
        wanted = leave(why) if against else []
        if before * self.side == -1 and (a.qty == 0 or against) and self.opens(self.side, a):
            wanted += self.crossed(i, a, a.positions - against, why)
        return wanted


class SmaCrossRsi(SmaCross):
    def prepare(self):
        super().prepare()
        self.rsi = talib.RSI(self.close, int(self.p["rsi"]))
        self.atr = talib.ATR(self.bars["high"], self.bars["low"], self.close, int(self.p["atr"]))

    def ready(self, i):
        return known(self.fast[i], self.slow[i], self.rsi[i], self.atr[i])

    def late(self, i):
        most = self.p["rsi_max"]
        return self.rsi[i] > most if self.side == 1 else self.rsi[i] < 100 - most

    def crossed(self, i, a, others, why):
        if self.late(i):
            return []
        stop = self.close[i] - self.side * self.p["stop_atr"] * self.atr[i] if self.p["stop_atr"] else 0.0
        return enter(self.side, self.p["fraction"], why, max(stop, 0.0))


class SmaCrossRsiRisk(SmaCrossRsi):
    def crossed(self, i, a, others, why):
        p, c, side = self.p, self.close[i], self.side
        if self.late(i) or others >= p["positions_max"]:
            return []
        profit = c + side * p["profit_atr"] * self.atr[i] if p["profit_atr"] else 0.0
        return sized(p, side, c, c - side * p["stop_atr"] * self.atr[i], profit, why)


class BinanceDayTrade(SmaCross):
    def prepare(self):
        p, bars = self.p, self.bars
        self.fast, self.slow = ema(self.close, int(p["fast"])), ema(self.close, int(p["slow"]))
        self.atr = talib.ATR(bars["high"], bars["low"], self.close, int(p["atr"]))

    def ready(self, i):
        return known(self.fast[i], self.slow[i], self.atr[i])

    def crossed(self, i, a, others, why):
        p, c, side, atr = self.p, self.close[i], self.side, self.atr[i]
        profit = c + side * p["profit_atr"] * atr if p["profit_atr"] else 0.0
        return sized(p, side, c, c - side * p["stop_atr"] * atr, profit, why)


class TripleConfirmation(Rule):
    def prepare(self):
        p, close = self.p, self.close
        self.fast, self.slow = sma(close, int(p["fast"])), sma(close, int(p["slow"]))
        self.rsi = talib.RSI(close, int(p["rsi"]))
        self.hist = talib.MACD(close, int(p["macd_fast"]), int(p["macd_slow"]), int(p["macd_signal"]))[2]
        self.atr = talib.ATR(self.bars["high"], self.bars["low"], close, int(p["atr"]))
        self.agreed = {1: None, -1: None}

    def at(self, i, a):
        p, c = self.p, self.close[i]
        fast, slow, rsi, hist, atr = self.fast[i], self.slow[i], self.rsi[i], self.hist[i], self.atr[i]
        if not known(fast, slow, rsi, hist, atr):
            return []
        least, most = p["rsi_min"], p["rsi_max"]
        agree = {1: all((fast > slow, least <= rsi <= most, hist > 0)),
                 -1: all((fast < slow, 100 - most <= rsi <= 100 - least, hist < 0))}  # fmt: skip
        turned = {1: sum((fast < slow, rsi < least, hist < 0)), -1: sum((fast > slow, rsi > 100 - least, hist > 0))}
        comes = [side for side in (1, -1) if agree[side] and self.agreed[side] is False]
        self.agreed = agree
        if a.live:
            return []
        out = self.manages(a) and turned[1 if a.qty > 0 else -1] >= 2
        wanted = leave("two of three turned") if out else []
        for side in comes:
            if self.opens(side, a) and (a.qty == 0 or out) and a.positions - out < p["positions_max"]:
                profit = c + side * p["profit_atr"] * atr if p["profit_atr"] else 0.0
                wanted += sized(p, side, c, c - side * p["stop_atr"] * atr, profit, "all three agree")
        return wanted


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
        atr, wanted = self.atr[i], []
        fast, mid, _ = averages[1]
        if a.qty != 0:
            if not self.manages(a):
                return []
            if not (fast < mid if a.qty > 0 else fast > mid):
                return self.trail(c, atr, a) if first_of_hour and p["trail_atr"] and a.stop else []
            wanted = leave("trend of 1h turned")
        side = 1 if fast > mid else -1
        if not first_of_hour or ts < self.paused_until or not known(self.rsi[i], self.k[i], atr) or not self.opens(side, a):
            return wanted
        if not all(fast > mid > slow if side == 1 else fast < mid < slow for fast, mid, slow in averages):
            return wanted
        rsi, k, least, most = self.rsi[i], self.k[i], p["rsi_min"], p["rsi_max"]
        if side == 1 and not (least <= rsi <= most and k < p["stoch_max"]):
            return wanted
        if side == -1 and not (100 - most <= rsi <= 100 - least and k > 100 - p["stoch_max"]):
            return wanted
        price = c - side * p["limit_atr"] * atr
        at_limit = {"limit": price, "good_ns": ts + int(p["limit_minutes"]) * MINUTE_NS} if p["limit_atr"] else {}
        profit = price + side * p["profit_atr"] * atr if p["profit_atr"] else 0.0
        return wanted + sized(p, side, price, price - side * p["stop_atr"] * atr, profit, "trends of 4h and 1h agree", **at_limit)

    def trail(self, c, atr, a):
        side = 1 if a.qty > 0 else -1
        stop = c - side * self.p["trail_atr"] * atr
        if not (c > stop > a.stop if side == 1 else c < stop < a.stop):
            return []
        return [("stop", 0.0, stop, 0.0, 0.0, 0, "stop follows the close")]


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
        if a.qty != 0:
            if (self.entered and left > bar) or not self.manages(a):
                return []
            return leave("session closes" if 0 < left <= bar else "session is over")
        if self.entered or not self.range or at < p["range"] or left <= bar or left < p["late"]:
            return []
        high, low = (side(bars[name][k] for k in self.range) for side, name in ((max, "high"), (min, "low")))
        mean = sum(bars["volume"][k] for k in self.range) / len(self.range)
        side, average = (1 if c > high else -1), self.average[i]
        if not (c > high and c > average) and not (c < low and c < average):
            return []
        if not self.opens(side, a) or not bars["volume"][i] >= p["volume"] * mean:
            return []
        stop = low if side == 1 else high
        profit = c + p["profit_risk"] * (c - stop) if p["profit_risk"] else 0.0
        wanted = sized(p, side, c, stop, profit, "opening range broken")
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
