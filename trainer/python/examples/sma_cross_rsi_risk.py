"""sma-cross-rsi-risk, the built-in strategy, as a process: papertape backtest --strategy 'exec:python3 sma_cross_rsi_risk.py' --bars FILE"""

from papertape.strategy import Enter, Exit, Param, Strategy, run


class SmaCrossRsiRisk(Strategy):
    name = "sma-cross-rsi-risk"
    summary = "the cross of two averages, unless overbought, sized by what the stop may lose"
    params = {
        "fast": Param(10, 1, 1000, "bars of the fast average"),
        "slow": Param(30, 2, 5000, "bars of the slow average"),
        "rsi": Param(14, 2, 1000, "bars of the RSI"),
        "rsi_max": Param(70.0, 0, 100, "no entry while the RSI is above"),
        "atr": Param(14, 1, 1000, "bars of the ATR that stop and profit are measured in"),
        "stop_atr": Param(2.0, 0.1, 100, "stop this many ATR below the entry's close"),
        "profit_atr": Param(3.0, 0, 100, "profit this many ATR above the entry's close; 0: none"),
        "risk": Param(0.01, 0.0001, 0.5, "of equity that the stop may lose"),
        "fraction_max": Param(0.5, 0.001, 1, "of equity in a position, at most"),
        "positions_max": Param(3, 1, 1000, "symbols held at once, at most"),
        "average": Param("sma", words=("sma", "ema"), summary="of the averages: simple, or exponential"),
    }

    def check(self):
        return None if self.fast < self.slow else "fast: fewer bars than slow are needed"

    def indicators(self):
        return [f"{self.average}:{self.fast}", f"{self.average}:{self.slow}", f"rsi:{self.rsi}", f"atr:{self.atr}"]

    def on_bar(self, bar):
        if not bar.warm:
            return None
        fast, slow, rsi, atr = bar.indicators
        before = bar.memory.get("side", 0)  # -1 below, 1 above, 0 not known yet
        side = bar.memory["side"] = 1 if fast > slow else -1 if fast < slow else before
        if bar.live_orders:
            return None
        if bar.qty > 0 and side < 0:
            return Exit(why="cross down")
        if bar.qty != 0 or before >= 0 or side <= 0 or rsi > self.rsi_max or bar.positions >= self.positions_max:
            return None
        stop = bar.close - self.stop_atr * atr
        profit = bar.close + self.profit_atr * atr if self.profit_atr > 0 else None
        if not 0 < stop < bar.close or (profit is not None and not profit > bar.close):
            return None  # bars without a range
        fraction = self.risk * bar.close / (bar.close - stop)
        return Enter(min(fraction, self.fraction_max), stop, profit, why="cross up")


if __name__ == "__main__":
    run(SmaCrossRsiRisk)
