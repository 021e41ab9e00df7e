"""dips.c as a process, with the package."""

from papertape.strategy import Cancel, Exit, Order, Param, Strategy, run


class Dips(Strategy):
    name = "dips"
    params = {"period": Param(20, 2, 500), "share": Param(0.4, 0.01, 1.0)}

    def indicators(self):
        return [f"sma:{self.period}"]

    def on_bar(self, bar):
        average = bar.indicators[0]
        if not bar.warm:
            return None
        if bar.qty > 0:
            return self.hold(bar)
        if bar.orders:
            return None if bar.close > average * 0.997 else Cancel(why="away")
        if bar.close > average:
            good = bar.time + 7 * bar.interval  # six bars after the end of this one
            return Order("buy", "limit", fraction=self.share * bar.leverage, limit=bar.close * 0.998, tif="gtd", good=good, why="dip")
        return Order("buy", "stop_limit", qty=0.25 * bar.equity / bar.close, stop=average * 1.0005, limit=average * 1.002, why="breakout")

    def hold(self, bar):
        if bar.close > bar.entry * 1.004 and bar.qty * bar.close > 0.2 * bar.equity:
            yield Exit(0.5, why="half")
        if bar.orders == 0:
            yield Order("sell", "trailing_stop", size="position", fraction=1, trail_share=0.006, reduce_only=True, why="trail")


run(Dips)
