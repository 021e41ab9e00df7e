#!/usr/bin/env python3
"""A latency and a slippage that are planted at the venue, papertape-replay, are found by `papertape fills --compare` in the log of
an account whose orders are filled there; where nothing is planted, it finds the order's own way, and no slippage."""

import json
import time

import harness

ORDERS = 36 if harness.LONG else 6  # of a round
LATENCY_MS, SLIPPAGE_BP = 120, 3


def start(folder, venue, symbol, currency):
    keys = harness.write_keys(folder, "keys", "hush")
    replay = harness.Replay(folder, "--venue", venue, "--synthetic", "7", "--fill-latency", f"{LATENCY_MS}ms",
                            "--fill-slippage", str(SLIPPAGE_BP))
    return replay, harness.Daemon(folder, replay, f"""[market]
venue = {venue}
symbols = {symbol}
[venue {venue}]
{f"keys = {keys}" if venue == "alpaca" else ""}
{harness.NO_LIMITS}[account paper]
currency = {currency}
strategy = none
execution = venue-paper
execution_keys = {keys}
execution_rest_url = {replay.urls["rest_url"]}
execution_ws_url = {replay.urls["ws_url"]}
""")


def status(daemon):
    return harness.control(daemon, "status", {})["result"]


def fitted(daemon, symbol):
    """What is fitted to market orders, one after the other, that buy and sell what the best price has."""
    since = status(daemon)["now_ns"]
    for number in range(ORDERS):
        side, qty = ("sell", "0.00099") if number % 2 else ("buy", "0.001")  # what the fee leaves
        placed = harness.control(daemon, "order", {"symbol": symbol, "side": side, "qty": qty})
        assert placed["ok"], placed
        harness.wait_for(lambda: not status(daemon)["orders"], "the order's end")
    found = json.loads(daemon.papertape("fills", "--compare", "--json", "--from", str(since)))
    assert len(found["orders"]) == ORDERS, found
    return found["fitted"]["latency_ms"]["median"], found["fitted"]["slippage_bp"]["median"]


def finds(daemon, symbol, least_ms, most_ms, slippage_bp):
    """The order's way, from the decision over the database to the venue, is among its latency: some 5 ms, and more where this
    machine is busy. So this waits for a round in which it was not."""
    rounds, until = [], time.monotonic() + harness.PATIENCE
    while not rounds or not (least_ms <= rounds[-1][0] <= most_ms):
        assert time.monotonic() < until, (least_ms, most_ms, rounds)
        latency_ms, bp = fitted(daemon, symbol)
        rounds.append((latency_ms, bp))
        assert latency_ms >= least_ms, rounds
        assert abs(bp - slippage_bp) <= 0.3, rounds
    return f"{rounds[-1][0]:.1f} ms, {rounds[-1][1]:.2f} bp ({len(rounds)} rounds)"


def compared(folder, venue, symbol, currency):
    replay, daemon = map(folder.start, start(folder.within(venue), venue, symbol, currency))
    daemon.wait_status(lambda s: s["accounts"] and s["accounts"][0]["venue_account"]["attached"]
                       and s["accounts"][0]["venue_account"]["link"] == "up" and s["symbols"][0]["bid"], "an account that is attached")
    planted = finds(daemon, symbol, LATENCY_MS - 10, LATENCY_MS + 10, SLIPPAGE_BP)
    for text in ("fill-latency:0ms", "fill-slippage:0"):
        harness.fault(replay, text)
    print(f"{venue}: {planted}; nothing planted: {finds(daemon, symbol, -10, 20, 0)}")
    assert daemon.stop() == 0 and replay.stop() == 0


def main():
    with harness.Folder() as folder:
        compared(folder, "binance", "BTCUSDT", "USDT")
        if harness.LONG:
            compared(folder, "alpaca", "BTC/USD", "USD")


if __name__ == "__main__":
    main()
