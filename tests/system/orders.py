#!/usr/bin/env python3
"""Every type of order, given by `papertape order` to the real daemon, ends as it should: the market is a made one whose price
swings by one percent around 60000, so that whatever waits for a price within it is reached. Then accounts: made, lent to,
paid into, reset. In the middle the daemon is killed and comes back."""

import json
import os
import signal
import sys
import time

import harness

CONFIG = """
[market]
symbols = BTCUSDT
interval = 1m
history = 60
[engine]
latency_ms = 5
[risk]
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
orders_per_second = 0
[account hand]
cash = 500000
strategy = none
"""
SWING = (60000, 60150, 60300, 60450, 60600, 60450, 60300, 60150, 60000, 59850, 59700, 59550, 59400, 59550, 59700, 59850)
BARS, HISTORY, SPEED = 12000, 120, 120
START = 1723075200  # 2024-08-08 00:00 UTC


def synthetic_bars(path):
    """One-minute bars that swing; each opens where the last one closed."""
    with open(path, "w", encoding="ascii") as file:
        file.write("open_time,open,high,low,close,volume\n")
        for i in range(BARS):
            first, last = SWING[i % len(SWING)], SWING[(i + 1) % len(SWING)]
            file.write(f"{START + 60 * i},{first}.00,{max(first, last)}.00,{min(first, last)}.00,{last}.00,40.00000\n")


class Desk:
    """The command line as a person uses it, and what came of it."""

    def __init__(self, daemon):
        self.daemon = daemon

    def order(self, *words, status=0):
        out = self.daemon.papertape("order", *words, status=status)
        if status:
            return out
        return [int(line.split()[1]) for line in out.splitlines()]

    def rows(self, table="orders"):
        return json.loads(self.daemon.papertape(table, "--json"))[table]

    def find(self, number):
        return next(row for row in self.rows() if row["order"] == number)

    def wait(self, number, *states, reason=None):
        def there():
            row = self.find(number)
            return row if row["state"] in states else None
        try:
            row = harness.wait_for(there, f"order {number} {states}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.find(number)}\n{self.daemon.log_text()[-3000:]}") from None
        assert row["reason"] == reason, row
        return row

    def fills(self, number):
        return [fill for fill in self.rows("fills") if fill["order"] == number]


def rested(trader, number, words):
    """The order has rested and filled, or one that is given after it: the market may be beyond its price when it comes."""
    for _ in range(40):
        row = harness.wait_for(lambda: next((row for row in [trader.find(number)] if row["state"] in ("FILLED", "CANCELED")), None),
                               f"the end of order {number}")
        if row["state"] == "FILLED" and all(fill["maker"] for fill in trader.fills(number)):
            return number
        assert row["reason"] == "WOULD_TAKE" if "--post-only" in words else row["state"] == "FILLED", row  # which takes nothing, ever
        number, = trader.order(words[0], "BTCUSDT", "0.05", *words[1:])
    raise AssertionError(f"{words}: none of 40 has rested")


def singles(trader):
    """Each type alone; all wait for their prices at the same time."""
    bought, = trader.order("buy", "BTCUSDT", "2")
    trader.wait(bought, "FILLED")
    waiting, given = {}, {
            "limit that crosses": ("buy", "--limit", "60900"), "limit": ("buy", "--limit", "59700"),
            "post-only": ("sell", "--limit", "60400", "--post-only"),
            "stop": ("sell", "--stop", "59600"), "stop buy": ("buy", "--stop", "60500"),
            "stop-limit": ("sell", "--stop", "59650", "--limit", "59500"),
            "take-profit": ("sell", "--take-profit", "60450"),
            "take-profit-limit": ("sell", "--take-profit", "60400", "--limit", "60450"),
            "trailing-stop": ("sell", "--trail", "0.5%"), "trailing-stop by price": ("sell", "--trail", "250")}
    for name, words in given.items():
        waiting[name], = trader.order(words[0], "BTCUSDT", "0.05", *words[1:])
    for name in ("limit", "post-only"):
        waiting[name] = rested(trader, waiting[name], given[name])
    for number in waiting.values():
        row = trader.wait(number, "FILLED")
        fills = trader.fills(number)
        assert abs(sum(fill["qty"] for fill in fills) - 0.05) < 1e-12, (row, fills)
    for name, price in (("limit", 59700), ("post-only", 60400)):
        fills = trader.fills(waiting[name])
        assert all(fill["maker"] and fill["price"] == price for fill in fills), fills
    assert not any(fill["maker"] for fill in trader.fills(waiting["limit that crosses"]))
    for name, bound in (("stop", 59600), ("trailing-stop", 60600 * 0.995), ("trailing-stop by price", 60350)):
        assert all(fill["price"] <= bound + 1 for fill in trader.fills(waiting[name])), trader.fills(waiting[name])
    assert all(fill["price"] >= 59500 for fill in trader.fills(waiting["stop-limit"]))
    assert all(fill["price"] >= 60450 for fill in trader.fills(waiting["take-profit-limit"]))
    trailing = trader.find(waiting["trailing-stop"])
    assert trailing["peak"] >= 59400 and trailing["trail_percent"] == 0.5, trailing
    print(f"{len(waiting)} orders of every type filled as they should")


def soon_over(trader):
    """An order that is good for some seconds: for more of them where the first are over before it is given."""
    for seconds in (3, 10, 40):
        out = trader.daemon.papertape("order", "buy", "BTCUSDT", "0.05", "--limit", "58000", "--expire", str(int(time.time()) + seconds),
                                    status=None)
        if "BAD_TIF" not in out:
            return int(out.split()[1])
    raise AssertionError(out)


def times(trader):
    """How long an order is good."""
    for words, state, reason in (
            (("buy", "BTCUSDT", "0.05", "--limit", "58000", "--tif", "ioc"), "EXPIRED", "NO_LIQUIDITY"),
            (("buy", "BTCUSDT", "0.05", "--limit", "58000", "--tif", "fok"), "EXPIRED", "NO_LIQUIDITY"),
            (("buy", "BTCUSDT", "0.05", "--limit", "62000", "--post-only"), "CANCELED", "WOULD_TAKE"),
            (("buy", "BTCUSDT", "0.05", "--tif", "fok"), "FILLED", None)):
        number, = trader.order(*words)
        trader.wait(number, state, reason=reason)
    trader.wait(soon_over(trader), "EXPIRED")
    number, = trader.order("buy", "BTCUSDT", "0.05", "--limit", "58000", "--tif", "day")
    row = trader.wait(number, "OPEN")
    assert row["tif"] == "DAY" and row["expires_ns"] % (86400 * 10**9) == 0 and row["expires_ns"] > time.time_ns(), row
    trader.order("cancel", str(number))
    trader.wait(number, "CANCELED")
    for twice in (("cancel", str(number)), ("amend", str(number), "--qty", "0.04")):
        assert "ORDER_ENDED" in trader.order(*twice, status=1)
    for words, reason in ((("--tif", "day"), "BAD_TIF"), (("--limit", "58000", "--expire", "2024-01-01"), "BAD_TIF"),
                          (("--stop", "61000", "--tif", "ioc"), "BAD_TIF")):
        assert reason in trader.order("buy", "BTCUSDT", "0.05", *words, status=1)
    print("ioc, fok, day, gtd end as they should")


def groups(trader):
    profit, stop = trader.order("oco", "sell", "BTCUSDT", "0.05", "--take-profit", "60500", "--stop", "58000")
    trader.wait(profit, "FILLED")
    trader.wait(stop, "CANCELED", reason="OTHER_LEG")
    profit, stop = trader.order("oco", "sell", "BTCUSDT", "0.05", "--take-profit", "62000", "--stop", "59500",
                              "--stop-limit", "59300")
    trader.wait(stop, "FILLED")
    trader.wait(profit, "CANCELED", reason="OTHER_LEG")
    one, other = trader.order("oco", "sell", "BTCUSDT", "0.05", "--take-profit", "62000", "--stop", "58000")
    assert trader.find(one)["group"] == trader.find(other)["group"] == one
    trader.order("cancel", str(other))
    for number in (one, other):
        trader.wait(number, "CANCELED")
        assert "ORDER_ENDED" in trader.order("cancel", str(number), status=1)

    entry, profit, stop = trader.order("buy", "BTCUSDT", "0.05", "--limit", "59700", "--bracket-take-profit", "60400",
                                     "--bracket-stop", "58000")
    assert trader.find(profit)["parent"] == entry
    trader.wait(entry, "FILLED")
    trader.wait(profit, "FILLED")
    trader.wait(stop, "CANCELED", reason="OTHER_LEG")
    entry, stop = trader.order("buy", "BTCUSDT", "0.05", "--bracket-trail", "0.3%")
    trader.wait(entry, "FILLED")
    trader.wait(stop, "FILLED")
    entry, profit, stop = trader.order("buy", "BTCUSDT", "0.05", "--limit", "58000", "--bracket-take-profit", "60400",
                                     "--bracket-stop", "57000")
    trader.wait(profit, "HELD")
    trader.order("cancel", str(entry))
    for number, reason in ((entry, None), (profit, "OTHER_LEG"), (stop, "OTHER_LEG")):
        trader.wait(number, "CANCELED", reason=reason)
        assert "ORDER_ENDED" in trader.order("cancel", str(number), status=1)
    profit, stop = trader.order("oco", "sell", "BTCUSDT", "0.05", "--take-profit-stop", "60400", "--stop", "58000")
    trader.wait(profit, "FILLED")
    assert trader.find(profit)["type"] == "TAKE_PROFIT"
    trader.wait(stop, "CANCELED", reason="OTHER_LEG")
    entry, profit = trader.order("buy", "BTCUSDT", "0.05", "--bracket-take-profit-stop", "60300", "--bracket-take-profit",
                               "60250")
    trader.wait(profit, "FILLED")
    assert trader.find(profit)["type"] == "TAKE_PROFIT_LIMIT"
    print("OCO and bracket: one trades, the other goes; exits wait for their entry")


def changes(trader):
    number, = trader.order("buy", "BTCUSDT", "0.05", "--limit", "58000", "--client-id", "dip.1")
    trader.wait(number, "OPEN")
    again = trader.daemon.papertape("order", "buy", "BTCUSDT", "0.05", "--limit", "58000", "--client-id", "dip.1")
    assert again.startswith(f"order {number} ") and "given before" in again, again
    assert "DUPLICATE_ID" in trader.order("buy", "BTCUSDT", "0.06", "--limit", "58000", "--client-id", "dip.1", status=1)
    assert sum(row["client_id"] == "dip.1" and row["state"] != "REJECTED" for row in trader.rows()) == 1
    assert "BAD_AMEND" in trader.order("amend", str(number), "--stop", "59000", status=1)
    trader.daemon.papertape("order", "amend", "dip.1", "--qty", "0.04", "--key", "a1")
    done = trader.daemon.papertape("order", "amend", "dip.1", "--qty", "0.04", "--key", "a1")
    assert done == f"amended {number} (done before)\n", done
    harness.wait_for(lambda: trader.find(number)["qty"] == 0.04, "the smaller quantity")
    assert trader.find(number)["amends"] == 1
    trader.daemon.papertape("order", "amend", str(number), "--limit", "61000")
    trader.wait(number, "FILLED")
    again = trader.daemon.papertape("order", "buy", "BTCUSDT", "0.05", "--limit", "58000", "--client-id", "dip.1")
    assert again == f"order {number} FILLED (given before)\n", again
    assert "ORDER_ENDED" in trader.order("amend", str(number), "--qty", "1", status=1)
    assert "ORDER_ENDED" in trader.order("cancel", str(number), status=1)
    assert "ORDER_ENDED" in trader.order("amend", "dip.1", "--qty", "1", status=1)
    assert "ORDER_ENDED" in trader.order("cancel", "dip.1", status=1)
    numbers = [trader.order("buy", "BTCUSDT", "0.05", "--limit", str(58000 + i))[0] for i in range(3)]
    gone = trader.daemon.papertape("order", "cancel", "--all", "--symbol", "BTCUSDT")
    assert gone == "".join(f"canceled {number}\n" for number in numbers), gone
    for number in numbers:
        trader.wait(number, "CANCELED")
    print("amend, cancel, and each of them twice")


def comes_back(folder, replay, trader):
    """kill -9 with orders waiting: all of them, with what they have seen."""
    trail, = trader.order("sell", "BTCUSDT", "0.05", "--trail", "10%", "--client-id", "trail.1")
    one, other = trader.order("oco", "sell", "BTCUSDT", "0.05", "--take-profit", "62000", "--stop", "58000")
    for number in (trail, one, other):
        trader.wait(number, "OPEN")
    peak = harness.wait_for(lambda: trader.find(trail)["peak"], "a peak")
    assert trader.daemon.stop(signal.SIGKILL) == -signal.SIGKILL
    trader.daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    status = trader.daemon.wait_status(lambda s: s["orders"] and s["feed"]["state"] == "ok", "the daemon after kill -9")
    assert {order["order"] for order in status["orders"]} == {trail, one, other}, status["orders"]
    assert trader.find(trail)["peak"] >= peak and trader.find(other)["group"] == one
    again = trader.daemon.papertape("order", "sell", "BTCUSDT", "0.05", "--trail", "10%", "--client-id", "trail.1")
    assert again.startswith(f"order {trail} ") and "given before" in again, again
    trader.daemon.papertape("order", "cancel", "trail.1")
    trader.wait(trail, "CANCELED")
    gone = trader.daemon.papertape("order", "cancel", "--all").splitlines()
    assert [line.split(":")[0] for line in gone] == [f"canceled {number}" for number in (one, other)], gone
    assert gone[1].startswith(f"canceled {other}: protected BTCUSDT of ") and " as STOP" in gone[1], gone
    for number in (one, other):
        trader.wait(number, "CANCELED")
    print("kill -9: a trailing stop with its peak and an OCO came back")


def arrives_first(trader):
    """A market order that is on its way when all are cancelled trades: it is not called cancelled."""
    order = {"account": "hand", "side": "buy", "symbol": "BTCUSDT", "qty": "0.001"}
    placed, canceled = harness.control_together(trader.daemon, ("order", order), ("cancel", {"all": True}))
    number = placed["order"]
    assert canceled == {"canceled": [], "exits": [], "arriving": [number]}, canceled
    trader.wait(number, "FILLED")
    closing = {**order, "side": "sell", "reduce_only": True}  # it closes what is held: it is none of the exits that are lost
    protection = {**order, "side": "sell", "qty": "0.0005", "type": "stop", "stop": "30000"}
    stopped, placed, canceled = harness.control_together(trader.daemon, ("order", protection),
                                                         ("order", {**closing, "qty": "0.0005"}), ("cancel", {"all": True}))
    assert canceled["canceled"] == [stopped["order"]] and canceled["arriving"] == [placed["order"]], canceled
    assert [gone["order"] for gone in canceled["exits"]] == [stopped["order"]], canceled
    trader.wait(placed["order"], "FILLED")
    print("cancel --all: a market order on its way is named as one that trades")


def accounts(trader):
    daemon = trader.daemon

    def account(name):
        return next((a for a in daemon.status_object()["accounts"] if a["account"] == name), None)

    def held():
        return sum(p["qty"] for p in daemon.status_object()["positions"] if p["account"] == "short")

    create = ("account", "create", "short", "--currency", "USDT", "--cash", "50000", "--shorts", "--borrow-rate", "5%",
              "--risk-exposure-symbol", "0", "--risk-exposure-account", "0", "--key", "c1")
    assert daemon.papertape(*create) == "created short\n"
    assert daemon.papertape(*create) == "created short (done before)\n"
    harness.wait_for(lambda: account("short"), "the account")
    assert "BAD_ACCOUNT" in daemon.papertape(*create[:-1], "c2", status=1)
    for key in ("d1", "d1"):
        daemon.papertape("account", "deposit", "short", "1000.5", "--key", key)
    daemon.papertape("account", "transfer", "hand", "short", "500", "--key", "t1")
    daemon.papertape("account", "withdraw", "short", "0.5")
    assert account("short")["cash"] == 51500, account("short")
    assert "INSUFFICIENT_BALANCE" in daemon.papertape("account", "withdraw", "short", "60000", status=1)
    sold, = trader.order("sell", "BTCUSDT", "0.2", "--account", "short")
    trader.wait(sold, "FILLED")
    daemon.wait_status(lambda s: any(p["side"] == "S" for p in s["positions"]), "a short position")
    assert held() == -0.2 and 11000 < account("short")["short_value"] < 13000, account("short")
    assert "COLLATERAL" in trader.order("sell", "BTCUSDT", "3", "--account", "short", status=1)
    screen = daemon.papertape("--dump-screen", "120x40", status=None)
    assert "parity " in screen, screen
    bought, = trader.order("buy", "BTCUSDT", "0.1", "--account", "short", "--reduce-only")
    trader.wait(bought, "FILLED")
    assert abs(held() + 0.1) < 1e-12, held()
    assert daemon.papertape("account", "reset", "short", "--cash", "20000", "--key", "r1") == "reset short\n"
    assert daemon.papertape("account", "reset", "short", "--cash", "20000", "--key", "r1") == "reset short (done before)\n"
    harness.wait_for(lambda: account("short")["cash"] == 20000 and held() == 0, "the account's reset")
    assert "INSUFFICIENT_BALANCE" in trader.order("sell", "BTCUSDT", "9", status=1)
    listed = json.loads(daemon.papertape("account", "list", "--json"))["accounts"]
    assert [a["account"] for a in listed] == ["hand", "short"], listed
    report = json.loads(daemon.papertape("ledger", "verify", "--json"))
    assert report["ok"] is True, report
    print(f"accounts: made, lent to, reset; {report['rows']} ledger rows verified")


def computed_again(trader):
    """All of it from the log: every order is explained, every row is what the log gives."""
    parity = json.loads(trader.daemon.papertape("parity", "--json"))
    assert parity["ok"] is True and parity["runs"] == 2 and parity["orders"] >= 40, parity
    lines = trader.daemon.papertape("explain", "--all").splitlines()
    assert lines[-1].endswith(" equal to the record"), lines[-1]
    print(lines[-1])


def main():
    with harness.Folder() as folder:
        bars = os.path.join(folder.path, "BTCUSDT_1m.csv")
        synthetic_bars(bars)
        replay = folder.start(harness.Replay(folder.path, "--bars", bars, "--from", str(START + 60 * HISTORY),
                                             "--speed", str(SPEED)))
        trader = Desk(folder.start(harness.Daemon(folder.path, replay, CONFIG)))
        trader.daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
        for part in (singles, times, groups, changes):
            part(trader)
        comes_back(folder, replay, trader)
        arrives_first(trader)
        accounts(trader)
        computed_again(trader)
        assert trader.daemon.stop() == 0
        assert replay.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
