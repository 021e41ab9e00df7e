"""rank-momentum as a process, with the package."""

from papertape.strategy import Enter, Exit, Param, Strategy, run


class Ranks(Strategy):
    name = "rank-momentum"
    params = {"lookback": Param(60, 1, 5000), "hold": Param(3, 1, 1000), "every": Param(24, 1, 100000), "fraction": Param(0.95, 0.001, 1.0)}
    together = True
    symbols_min = 2

    def indicators(self):
        return [f"roc:{self.lookback}"]

    def on_bar(self, bar):
        peers = bar.peers
        if (bar.time + bar.interval) // bar.interval % self.every == 0:
            ranked = sorted((peer for peer in peers if peer.fresh and peer.indicators[0] > 0), key=lambda peer: -peer.indicators[0])
            bar.memory["best"] = [peer.symbol for peer in ranked[: self.hold]]
        best = bar.memory.get("best")
        if best is None:
            return None
        others = [peer for peer in peers if peer.symbol not in best and (peer.qty or peer.live_orders)]
        if others:
            return [Exit(why="out of the best").on(peer) for peer in others if peer.qty and peer.fresh and not peer.live_orders]
        return [Enter(self.fraction / self.hold, why="among the best").on(peer)
                for peer in peers if peer.symbol in best and not peer.qty and peer.fresh and not peer.live_orders]


run(Ranks)
