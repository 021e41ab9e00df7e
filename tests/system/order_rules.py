#!/usr/bin/env python3
"""The rules of orders by venue and class, with the real programs: every rule of the table (ROWS here, compared with the
program's own list) is kept and broken by `papertape order` against papertape-replay as Alpaca, in the session, before it, before
its close and on a holiday; a strategy's orders pass the same gate; what waits for the open says until when; and each fill's fee is
that of its class, to the unit."""

import json
import os
import subprocess
from decimal import ROUND_CEILING, Decimal

import harness

ACCOUNTS = """[account hand]
currency = USD
cash = 10000000
shorts = on
strategy = none
[account held]
currency = USD
cash = 100000
strategy = buy-and-hold
strategy.fraction = 0.2
"""

# class, rule, an order that it refuses, one that is accepted instead; {p}: about the price, in cents, {low} far below it.
STOCK, COIN = "alpaca us_equity", "alpaca crypto"
OPEN, LATE_OPG, LATE_CLS = "2025-11-26T15:30:00Z", "2025-11-26T14:28:30Z", "2025-11-26T20:51:00Z"
HOLIDAY = "2025-11-27T15:00:00Z"
ROWS = [
    (COIN, "RULE_TYPE", OPEN, "buy BTC/USD 0.01 --stop {high}", "buy BTC/USD 0.01 --stop {high} --limit {high}"),
    (COIN, "RULE_TYPE", OPEN, "buy BTC/USD 0.01 --trail 5%", "buy BTC/USD 0.01"),
    (COIN, "RULE_TYPE", OPEN, "buy BTC/USD 0.01 --take-profit {low}", "buy BTC/USD 0.01 --limit {low}"),
    (COIN, "RULE_TIF", OPEN, "buy BTC/USD 0.01 --tif fok", "buy BTC/USD 0.01 --tif ioc"),
    (COIN, "RULE_TIF", OPEN, "buy BTC/USD 0.01 --tif day --limit {low}", "buy BTC/USD 0.01 --tif gtc --limit {low}"),
    (COIN, "RULE_TIF", OPEN, "buy BTC/USD 0.01 --tif opg", "buy BTC/USD --notional 100"),
    (COIN, "RULE_GROUP", OPEN, "oco sell BTC/USD 0.01 --take-profit {high} --stop {low} --stop-limit {low}",
     "sell BTC/USD 0.001 --limit {high}"),
    (COIN, "RULE_EXTENDED_HOURS", OPEN, "buy BTC/USD 0.01 --limit {low} --tif gtc --extended-hours", "buy BTC/USD 0.01 --limit {low}"),
    (COIN, "RULE_SHORT", OPEN, "sell BTC/USD 1000", "sell BTC/USD 0.001"),
    (STOCK, "RULE_TYPE", OPEN, "buy AAPL 1 --take-profit {low}", "buy AAPL 1 --stop {high}"),
    (STOCK, "RULE_TYPE", OPEN, "buy AAPL 1 --take-profit {low} --limit {low}", "buy AAPL 1 --stop {high} --limit {high}"),
    (STOCK, "RULE_TIF", OPEN, "buy AAPL 1 --limit {low} --expire 2030-01-01", "buy AAPL 1 --limit {low} --tif day"),
    (STOCK, "RULE_STOP_TIF", OPEN, "buy AAPL 1 --stop {high} --tif ioc", "buy AAPL 1 --stop {high} --tif day"),
    (STOCK, "RULE_AUCTION_TYPE", OPEN, "buy AAPL 1 --stop {high} --tif cls", "buy AAPL 1 --tif cls"),
    (STOCK, "RULE_OPG_LATE", OPEN, "buy AAPL 1 --tif opg", "buy AAPL 1 --tif day"),
    (STOCK, "RULE_OPG_LATE", LATE_OPG, "buy AAPL 1 --tif opg --limit {low}", "buy AAPL 1 --tif cls --limit {low}"),
    (STOCK, "RULE_CLS_LATE", LATE_CLS, "buy AAPL 1 --tif cls", "buy AAPL 1 --tif fok"),
    (STOCK, "RULE_GROUP", OPEN, "buy AAPL 1 --tif ioc --limit {low} --bracket-stop {lower}", "buy AAPL 1 --limit {low} --bracket-stop {lower}"),
    (STOCK, "RULE_EXTENDED_HOURS", OPEN, "buy AAPL 1 --extended-hours --tif day", "buy AAPL 1 --extended-hours --limit {low}"),
    (STOCK, "RULE_EXTENDED_HOURS", OPEN, "buy AAPL 1 --extended-hours --limit {low} --tif gtc", "buy AAPL 1.5 --extended-hours --limit {low}"),
    (STOCK, "RULE_FRACTION_TYPE", OPEN, "buy AAPL 0.5 --trail 5%", "buy AAPL 1 --trail 5%"),
    (STOCK, "RULE_FRACTION_TIF", OPEN, "buy AAPL 0.5 --tif gtc", "buy AAPL 0.5"),
    (STOCK, "RULE_FRACTION_TIF", OPEN, "buy AAPL --notional 100 --tif ioc", "buy AAPL --notional 100.25"),
    (STOCK, "RULE_FRACTION_GROUP", OPEN, "buy AAPL 0.5 --limit {low} --bracket-stop {lower}", "buy AAPL 0.123456789 --limit {low}"),
    (STOCK, "RULE_SHORT_FRACTION", OPEN, "sell AAPL 100000.123", "sell AAPL 0.1"),
    (STOCK, "RULE_SHORTABLE", OPEN, "sell F 1000", "buy F 1"),
    (STOCK, "RULE_EASY_TO_BORROW", OPEN, "sell IBM 1000", "buy IBM 2"),
    (STOCK, "RULE_PRICE_DECIMALS", OPEN, "buy AAPL 1 --limit 1.001", "buy AAPL 1 --limit 1.01"),
    (STOCK, "RULE_PRICE_DECIMALS", OPEN, "buy AAPL 100 --limit 0.12345", "buy AAPL 100 --limit 0.1234"),
]
# {rate}: maker, taker, of the notional.
FEES = {"BTC/USD": (Decimal("0.0015"), Decimal("0.0025")), "AAPL": (0, 0), "F": (0, 0), "IBM": (0, 0)}


def listed_rules():
    """The program's table: (class, reason) -> words."""
    out = subprocess.run([os.path.join(harness.BUILD, "tests/exchange/test-order_rules"), "list"], capture_output=True, text=True, check=True).stdout
    return {(name, reason): words for name, reason, words in (line.split("\t") for line in out.splitlines())}


def start(folder, moment, speed="1", extended="off"):
    inside = folder.within(moment.replace(":", ""))
    replay = folder.start(harness.Alpaca(inside, "--synthetic", "5", "--from", moment, "--speed", speed))
    daemon = folder.start(harness.Daemon(inside, replay, harness.alpaca_config(
        replay.keys, f"extended_hours = {extended}\n" + harness.NO_LIMITS + ACCOUNTS, symbols="AAPL, F, IBM, BTC/USD", history=20)))
    daemon.wait_status(lambda s: s["venues"][0]["connections_up"] == s["venues"][0]["connections"] > 0 and s["venues"][0]["frames"] > 0,
                       "data")
    return replay, daemon


def price_of(daemon, symbol):
    def there():
        rows = [s for s in daemon.status_object()["symbols"] if s["symbol"] == symbol]
        return rows and rows[0].get("last") and rows[0].get("bid") and Decimal(str(rows[0]["last"]))
    return harness.wait_for(there, f"a price of {symbol}")


def words_of(text, price):
    """The order's words, with prices about the market's in it."""
    cents = [(price * Decimal(by)).quantize(Decimal("0.01")) for by in ("0.8", "0.7", "1.2")]
    return text.format(low=cents[0], lower=cents[1], high=cents[2]).split()


def try_rows(daemon, moment, rules, tried):
    prices = {}
    for name, reason, when, refused, accepted in ROWS:
        if when != moment:
            continue
        for words, good in ((accepted, True), (refused, False)):
            symbol = next(word for word in words.split() if word.isupper() or "/" in word)
            if symbol not in prices:
                prices[symbol] = price_of(daemon, symbol)
            out = daemon.papertape("order", *words_of(words, prices[symbol]), "--account", "hand", status=0 if good else 1)
            if good:
                assert out.startswith("order "), out
            else:
                assert rules[name, reason] in out, f"{words}: {out!r} is not {reason}: {rules[name, reason]!r}"
                tried.add((name, reason))


def check_fees(daemon):
    """Of every fill, by its class, to the unit of the quote (8 decimals)."""
    fills = json.loads(daemon.papertape("fills", "--json"))["fills"]
    seen = set()
    for fill in fills:
        maker, taker = FEES[fill["symbol"]]
        notional = Decimal(str(fill["price"])) * Decimal(str(fill["qty"]))
        rounded = notional.quantize(Decimal("1e-8"), ROUND_CEILING if fill["side"] == "BUY" else "ROUND_FLOOR")
        fee = (rounded * (maker if fill["maker"] else taker)).quantize(Decimal("1e-8"), ROUND_CEILING)
        assert Decimal(str(fill["fee"])) == fee, (fill, fee)
        seen.add((fill["symbol"], fee > 0))
    assert ("BTC/USD", True) in seen and ("AAPL", False) in seen, seen


def check_strategy(daemon):
    """Bought by the strategy: a fraction of a share, which the venue takes with day alone, is held here; the coin's is as it is."""
    def there():
        rows = [o for o in json.loads(daemon.papertape("orders", "--json"))["orders"] if o["account"] == "held"]
        return rows if len({o["symbol"] for o in rows}) == 4 else None
    rows = harness.wait_for(there, "the strategy's orders")
    for row in rows:
        assert row["state"] != "REJECTED" and not row["by_hand"], row
        whole = Decimal(str(row["qty"])) == int(Decimal(str(row["qty"])))
        assert row["emulated"] == (row["symbol"] != "BTC/USD" and not whole), row


def in_session(folder, moment, rules, tried):
    replay, daemon = start(folder, moment, "60" if moment == OPEN else "1")
    if moment == OPEN:
        for symbol in ("F", "IBM", "BTC/USD"):
            price_of(daemon, symbol)
        daemon.papertape("order", "buy", "BTC/USD", "0.5", "--account", "hand")
    try_rows(daemon, moment, rules, tried)
    if moment == OPEN:
        check_strategy(daemon)
        check_fees(daemon)
    assert daemon.stop() == 0 and replay.stop() == 0


def on_holiday(folder):
    """Thanksgiving: what is given waits for the half day after it."""
    replay, daemon = start(folder, HOLIDAY)
    words = "waits for the open, 2025-11-28 09:30 New York (14:30Z)"
    out = daemon.papertape("order", "buy", "AAPL", "1", "--account", "hand")
    assert out == f"order 1 PENDING\norder 1 {words}\n", out
    out = daemon.papertape("order", "buy", "AAPL", "1", "--limit", "1", "--tif", "day", "--account", "hand")
    assert out.endswith(f"{words}, until 13:00\n"), out
    out = daemon.papertape("order", "buy", "AAPL", "1", "--limit", "1", "--tif", "opg", "--account", "hand")
    assert out.endswith(f"{words}\n"), out
    out = daemon.papertape("order", "buy", "AAPL", "1", "--limit", "1", "--extended-hours", "--account", "hand")
    assert "waits for the open, 2025-11-28 04:00 New York (09:00Z), until 17:00" in out, out
    out = daemon.papertape("order", "buy", "AAPL", "1", "--tif", "cls", "--account", "hand")
    assert "waits for the close, 2025-11-28 13:00 New York (18:00Z)" in out, out
    price_of(daemon, "BTC/USD")
    out = daemon.papertape("order", "buy", "BTC/USD", "0.001", "--account", "hand")
    assert "waits" not in out, out
    answer = json.loads(daemon.papertape("order", "buy", "AAPL", "1", "--account", "hand", "--json"))
    wait, = answer["waits"]
    assert (wait["for"], wait["words"], wait["order"]) == ("open", words, answer["order"]), answer
    assert daemon.stop() == 0 and replay.stop() == 0


def in_extended_hours(folder):
    """On the same day, of a market that is traded before and after its session, too: the auctions are the session's."""
    replay, daemon = start(folder, "2025-11-27T15:10:00Z", extended="on")
    for tif, words in (("gtc", "open, 2025-11-28 04:00 New York (09:00Z)"), ("day", "open, 2025-11-28 04:00 New York (09:00Z), until 17:00"),
                       ("opg", "open, 2025-11-28 09:30 New York (14:30Z)"), ("cls", "close, 2025-11-28 13:00 New York (18:00Z)")):
        out = daemon.papertape("order", "buy", "AAPL", "1", "--limit", "1", "--tif", tif, "--account", "hand")
        assert out.endswith(f" waits for the {words}\n"), out
    assert daemon.stop() == 0 and replay.stop() == 0


def flattened(folder):
    """On the evening before it: a share is held, and its sale waits for the half day."""
    replay, daemon = start(folder, "2025-11-26T20:56:00Z", "60")
    price_of(daemon, "F")
    daemon.papertape("order", "buy", "F", "1", "--account", "hand")
    harness.wait_for(lambda: any(f["symbol"] == "F" for f in json.loads(daemon.papertape("fills", "--json"))["fills"]), "a share of F")
    daemon.wait_status(lambda s: s["venues"][0]["market"] in ("post", "closed"), "the close")
    out = daemon.papertape("flatten", "--yes")
    assert out.rstrip().endswith("waits for the open, 2025-11-28 09:30 New York (14:30Z)"), out
    assert daemon.stop() == 0 and replay.stop() == 0


def main():
    rules, tried = listed_rules(), set()
    with harness.Folder() as folder:
        harness.together(folder, *[lambda folder, moment=moment: in_session(folder, moment, rules, tried)
                                   for moment in (OPEN, LATE_OPG, LATE_CLS)], on_holiday, in_extended_hours, flattened)
    missing = set(rules) - tried
    assert not missing, f"rules without a row here: {sorted(missing)}"
    print(f"{len(rules)} rules, {len(ROWS)} rows")


if __name__ == "__main__":
    main()
