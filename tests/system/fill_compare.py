#!/usr/bin/env python3
"""A latency and a slippage that are planted at the venue, papertape-replay, are found by `papertape fills --compare` in the log of
an account whose orders are filled there; where nothing is planted, it finds the order's own way, and no slippage."""

import csv
import datetime
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


def forms(daemon):
    """The list as CSV, to the digit, and the table's days are those of the JSON; the days are its orders'."""
    def shown(*options):
        return daemon.papertape("fills", "--compare", *options)
    found, rows = json.loads(shown("--json")), list(csv.DictReader(shown("--csv").splitlines()))
    assert [row["order"] for row in rows] == [str(order["order"]) for order in found["orders"]] and len(rows) > ORDERS
    for row, order in zip(rows, found["orders"]):
        decided = datetime.datetime.fromtimestamp(order["decided_ns"] // 10**9, datetime.UTC)
        assert list(row)[-1] == "decided_iso", row
        assert row.pop("decided_iso") == f"{decided:%Y-%m-%dT%H:%M:%S}.{order['decided_ns'] % 10**9:09}Z", (row, order)
        assert row.keys() <= order.keys() and all(row[key] == order[key] for key in ("account", "symbol", "side", "type")), (row, order)
        for key in row.keys() - {"account", "symbol", "side", "type"}:
            close = order[key] is not None and abs(float(row[key]) - order[key]) <= 0.0005 * max(1, abs(order[key])) if row[key] else order[key] is None
            assert close, (key, row, order)
    lines = shown().splitlines()
    table = lines[1:lines.index("")]
    assert lines[0].split()[:3] == ["day", "orders", "modelled"] and len(table) == len(found["days"]) > 0, lines
    for line, day in zip(table, found["days"]):
        orders = [order for order in found["orders"] if order["decided_ns"] // (86400 * 10**9) * 86400 * 10**9 == day["day_ns"]]
        modelled = [order for order in orders if order["worse_bp"] is not None]
        want = [time.strftime("%Y-%m-%d", time.gmtime(day["day_ns"] // 10**9)), len(orders), len(modelled)]
        cells = line.split()
        assert [cells[0], *map(int, cells[1:3])] == want == [want[0], day["orders"], day["modelled"]], (line, day)
        latencies = [order["latency_ms"] for order in orders if order["latency_ms"] is not None]
        means = [sum(latencies) / len(latencies), sum(order["worse_bp"] for order in modelled) / len(modelled), sum(order["venue_fee"] for order in orders),
                 sum(order["model_fee"] for order in modelled)]
        for cell, mean, key, error in zip(cells[3:], means, ("latency_ms", "worse_bp", "venue_fee", "model_fee"), (0.06, 0.006, 6e-5, 6e-5)):
            assert abs(float(cell) - mean) < error and abs(day[key] - mean) < error, (key, line, day, mean)
    fitted = {key: found["fitted"][key]["median"] for key in ("latency_ms", "slippage_bp")}
    assert f"latency_ms = {fitted['latency_ms']:.6g}   # " in lines[-2] and f"slippage = {fitted['slippage_bp'] * 1e-4:.6g}   # " in lines[-1], (lines, fitted)
    assert all(f"of {found['fitted'][key]['orders']} orders " in line for key, line in zip(fitted, lines[-2:])), lines


def compared(folder, venue, symbol, currency):
    replay, daemon = map(folder.start, start(folder.within(venue), venue, symbol, currency))
    daemon.wait_status(lambda s: s["accounts"] and s["accounts"][0]["venue_account"]["attached"]
                       and s["accounts"][0]["venue_account"]["link"] == "up" and s["symbols"][0]["bid"], "an account that is attached")
    planted = finds(daemon, symbol, LATENCY_MS - 10, LATENCY_MS + 10, SLIPPAGE_BP)
    for text in ("fill-latency:0ms", "fill-slippage:0"):
        harness.fault(replay, text)
    print(f"{venue}: {planted}; nothing planted: {finds(daemon, symbol, -10, 20, 0)}")
    forms(daemon)
    assert daemon.stop() == 0 and replay.stop() == 0


def main():
    with harness.Folder() as folder:
        compared(folder, "binance", "BTCUSDT", "USDT")
        if harness.LONG:
            compared(folder, "alpaca", "BTC/USD", "USD")


if __name__ == "__main__":
    main()
