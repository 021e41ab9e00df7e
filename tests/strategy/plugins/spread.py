"""spread.c as a process that keeps its memory itself, and leaves nothing: it is shown the recent bars again when it is
started again. It stops at a bar for as long as a file is there: PAPERTAPE_STOP=SECONDS:FILE, of the bar's open."""

import os
import time

from papertape.strategy import Enter, Exit, Strategy, run

WINDOW = 8
STOP_S, _, STOP_FILE = os.environ.get("PAPERTAPE_STOP", "").partition(":")


class Spread(Strategy):
    name = "spread"
    peers = True
    symbols_min = 2

    def on_bar(self, bar):
        while STOP_S and not bar.history and bar.time == int(STOP_S) * 10**9 and os.path.exists(STOP_FILE):
            open(f"{STOP_FILE}.there", "w", encoding="ascii").close()
            time.sleep(0.01)
        other = bar.peers[1 - bar.self]
        if not other.time:
            return None
        ratio = bar.close / other.close
        ratios = self.__dict__.setdefault("ratios", {}).setdefault(bar.symbol, [])
        ratios.append(ratio)
        del ratios[:-WINDOW]
        if len(ratios) < WINDOW or bar.live_orders:
            return None
        total = 0.0
        for each in ratios:
            total += each
        mean = total / WINDOW
        if bar.qty > 0 and ratio > mean * 1.0004:
            return Exit(why="dear")
        if bar.qty > 0 or ratio >= mean * 0.9996:
            return None
        return Enter(0.3, limit=bar.close * 0.9998, stop=bar.close * 0.997, good=bar.time + 4 * bar.interval, why="cheap")


run(Spread)
