"""@NAME@: a strategy for papertape, as a process. ./test.sh 'exec:python3 @NAME@.py' tries it.

It buys when the fast average crosses above the slow one, with a stop, and sells when it is below. Change on_bar()
first; help(papertape.strategy) explains every member."""

from papertape.strategy import Enter, Exit, Param, Strategy, run


class MyStrategy(Strategy):
    name = "@NAME@"
    summary = "buys when the fast average crosses above the slow one, sells when it is below"
    params = {
        "fast": Param(10, 1, 1000, "bars of the fast average"),
        "slow": Param(30, 2, 5000, "bars of the slow average"),
        "fraction": Param(0.25, 0.001, 1.0, "of equity in each position"),
        "stop": Param(0.03, 0.001, 0.9, "loss at which it is sold, of the price"),
    }

    def check(self):
        return None if self.fast < self.slow else "fast: fewer bars than slow are needed"

    def indicators(self):
        """In the order of bar.indicators; `papertape indicators --list` has them all."""
        return [f"sma:{self.fast}", f"sma:{self.slow}"]

    def on_bar(self, bar):
        """Called once at each closed bar of each symbol. What it remembers of the symbol is in bar.memory."""
        if not bar.warm:
            return None
        fast, slow = bar.indicators
        before = bar.memory.get("side", 0)
        side = 1 if fast > slow else -1 if fast < slow else before
        bar.memory["side"] = side
        if bar.live_orders:
            return None
        if bar.qty > 0 and side < 0:
            return Exit(why="cross down")
        if bar.qty == 0 and before < 0 < side:
            return Enter(self.fraction, stop=bar.close * (1 - self.stop), why="cross up")
        return None


if __name__ == "__main__":
    run(MyStrategy)
