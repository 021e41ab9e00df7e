#!/usr/bin/env python3
"""The rules of orders by venue and class, with the real programs: every rule of the table (ROWS here, compared with the
program's own list) is kept and broken by `papertape order` against papertape-replay as Alpaca, in the session, before it, before
its close and on a holiday; and through strategies (STRATEGIES), whose order is held here where the venue does not take it, or who
never give such a one; what waits for the open says until when; and each fill's fee is that of its class, to the unit."""

import csv
import datetime
import io
import json
import os
import random
import subprocess
from decimal import ROUND_CEILING, Decimal

import harness
import stock_bars

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
# The same rules through a strategy, none of whose orders is by hand. HELD: what the venue does not take is held here and ordered
# there once it is due, `emulated`; the words are of such an order, and of one that the venue takes as it is. NEVER: no strategy
# gives such an order, for the reason that is said; the words are of the order that must not be there.
HELD, NEVER = "held", "never"
BUYS_ONLY = "a strategy sells what it holds"
STRATEGIES = {
    (COIN, "RULE_TYPE"): (HELD, lambda o: o["type"] == "STOP", lambda o: o["type"] in ("MARKET", "LIMIT") and not o["group"]),
    (COIN, "RULE_TIF"): (HELD, lambda o: o["tif"] == "GTD", lambda o: o["tif"] == "GTC" and not o["group"]),
    (COIN, "RULE_GROUP"): (HELD, lambda o: o["group"], lambda o: not o["group"] and o["tif"] == "GTC"),
    (COIN, "RULE_EXTENDED_HOURS"): (NEVER, lambda o: o["extended_hours"] == "1", "crypto has no hours to extend"),
    (COIN, "RULE_SHORT"): (NEVER, lambda o: opens_short(o), BUYS_ONLY),
    (STOCK, "RULE_TYPE"): (NEVER, lambda o: o["type"].startswith("TAKE"), "its profits are limit orders"),
    (STOCK, "RULE_TIF"): (HELD, lambda o: o["tif"] == "GTD", lambda o: o["tif"] in ("GTC", "DAY") and whole(o) and not o["group"]),
    (STOCK, "RULE_STOP_TIF"): (NEVER, lambda o: o["type"] == "STOP" and o["tif"] not in ("GTC", "DAY"), "its stops are gtc"),
    (STOCK, "RULE_AUCTION_TYPE"): (NEVER, lambda o: auction(o), "it gives no orders for auctions"),
    (STOCK, "RULE_OPG_LATE"): (NEVER, lambda o: auction(o), "it gives no orders for auctions"),
    (STOCK, "RULE_CLS_LATE"): (NEVER, lambda o: auction(o), "it gives no orders for auctions"),
    (STOCK, "RULE_GROUP"): (HELD, lambda o: o["group"] and o["extended_hours"] == "1",
                            lambda o: o["group"] and o["extended_hours"] == "0" and whole(o) and o["tif"] == "GTC"),
    (STOCK, "RULE_EXTENDED_HOURS"): (NEVER, lambda o: o["extended_hours"] == "1" and (o["type"], o["tif"]) != ("LIMIT", "DAY"),
                                     "its orders outside the session are limits of the day"),
    (STOCK, "RULE_FRACTION_TYPE"): (NEVER, lambda o: o["type"] == "TRAILING_STOP", "it moves its stops itself"),
    (STOCK, "RULE_FRACTION_TIF"): (HELD, lambda o: not whole(o) and o["tif"] == "GTC" and not o["group"],
                                   lambda o: whole(o) and o["tif"] == "GTC"),
    (STOCK, "RULE_FRACTION_GROUP"): (HELD, lambda o: not whole(o) and o["group"],
                                     lambda o: whole(o) and o["group"] and o["tif"] == "GTC" and o["extended_hours"] == "0"),
    (STOCK, "RULE_SHORT_FRACTION"): (NEVER, lambda o: opens_short(o), BUYS_ONLY),
    (STOCK, "RULE_SHORTABLE"): (NEVER, lambda o: opens_short(o), BUYS_ONLY),
    (STOCK, "RULE_EASY_TO_BORROW"): (NEVER, lambda o: opens_short(o), BUYS_ONLY),
    (STOCK, "RULE_PRICE_DECIMALS"): (NEVER, lambda o: any(between(Decimal(o[key] or "0")) for key in ("price", "stop")),
                                     "its prices are put on the tick"),
}
# AAPL in fractions, MSFT in whole shares, BTC/USD in any; what trades often, on a day and its extended hours.
SETTINGS = {"buy-and-hold": {"fraction": "0.2"}, "sma-cross-rsi": {"fast": "3", "slow": "8"}, "equal-weight": {"every": "60"},
            "day-trade": {"volume": "0", "trend": "10", "range": "15"}, "triple-confirmation": {},
            "trend-4h-1h": {"fast": "1", "mid": "2", "slow": "3", "period": "2", "rsi_max": "100", "rsi_min": "0", "stoch_max": "101",
                            "limit_minutes": "30"}}
DAYS = datetime.date(2025, 11, 21), datetime.date(2025, 11, 26)
# {rate}: maker, taker, of the notional.
FEES = {"BTC/USD": (Decimal("0.0015"), Decimal("0.0025")), "AAPL": (0, 0), "F": (0, 0), "IBM": (0, 0)}


def listed_rules():
    """The program's table: (class, reason) -> words."""
    out = subprocess.run([os.path.join(harness.BUILD, "tests/exchange/test-order_rules"), "list"], capture_output=True, text=True, check=True).stdout
    return {(name, reason): words for name, reason, words in (line.split("\t") for line in out.splitlines())}


def start(folder, moment, speed="1", extended="off", clock="feed"):
    inside = folder.within(clock + moment.replace(":", ""))
    replay = folder.start(harness.Alpaca(inside, "--synthetic", "5", "--from", moment, "--speed", speed))
    config = harness.alpaca_config(replay.keys, f"extended_hours = {extended}\n" + harness.NO_LIMITS + ACCOUNTS,
                                   symbols="AAPL, F, IBM, BTC/USD", history=20)
    daemon = folder.start(harness.Daemon(inside, replay, config.replace("clock = feed", f"clock = {clock}")))
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
        # What it asks for before the first quote is refused, and asked for again.
        rows = [o for o in json.loads(daemon.papertape("orders", "--json"))["orders"]
                if o["account"] == "held" and (o["state"], o["reason"]) != ("REJECTED", "NO_LIQUIDITY")]
        return rows if len({o["symbol"] for o in rows}) == 4 else None
    rows = harness.wait_for(there, "the strategy's orders")
    for row in rows:
        assert row["state"] != "REJECTED" and not row["by_hand"], row
        whole = Decimal(str(row["qty"])) == int(Decimal(str(row["qty"])))
        assert row["emulated"] == (row["symbol"] != "BTC/USD" and not whole), row


def whole(order):
    return Decimal(order["qty"]) % 1 == 0


def opens_short(order):
    return order["side"] == "SELL" and order["reduce_only"] == "0"


def auction(order):
    return order["tif"] in ("OPG", "CLS")


def between(price):
    return (price * (100 if price >= 1 else 10000)) % 1 != 0


def coin_bars(path, end):
    """Of every minute from the first day's midnight until the stocks' last bar ends: the replay waits for both."""
    first = int(datetime.datetime.combine(DAYS[0], datetime.time(), datetime.timezone.utc).timestamp())
    rng, price, bars = random.Random(5), 9000000, []
    for second in range(first, end, 60):
        close = round(price * (1 + rng.gauss(0.00005, 0.001)))
        bars.append(stock_bars.Bar(second, price, max(price, close), min(price, close), close, rng.randint(5, 50)))
        price = close
    stock_bars.write(path, bars)
    return path


def by_strategies(folder, rules):
    """Every row of the table that a strategy reaches, and that it reaches no other, on the replay of files."""
    assert set(STRATEGIES) == set(rules), set(STRATEGIES) ^ set(rules)
    inside = folder.within("strategies")
    stocks = stock_bars.write_all(inside, ("AAPL", "MSFT"), *DAYS, seed=5)
    coin = coin_bars(os.path.join(inside, "BTCUSD_1m.csv"), max(map(harness.last_bar_ms, stocks)) // 1000 + 60)
    replay = folder.start(harness.Alpaca(inside, "--bars", *stocks, coin, "--speed", "max", "--asset", "MSFT:not-fractionable"))
    accounts = []
    for name, params in SETTINGS.items():
        for session in ("regular", "extended"):
            accounts += [f"[account {name}-{session}]", "currency = USD", "cash = 100000", "shorts = on", f"strategy = {name}",
                         f"session = {session}", *[f"strategy.{key} = {value}" for key, value in params.items()]]
    config = harness.alpaca_config(replay.keys, harness.NO_LIMITS + "\n".join(accounts) + "\n", "AAPL, MSFT, BTC/USD", history=0,
                                   engine=harness.BAR_MODEL)
    daemon = folder.start(harness.Daemon(inside, replay, config))
    harness.wait_last_bars(daemon, {"AAPL": harness.last_bar_ms(stocks[0]), "BTC/USD": harness.last_bar_ms(coin)}, "1m")
    rows = list(csv.DictReader(io.StringIO(daemon.papertape("orders", "--csv"))))
    assert daemon.stop() == 0 and replay.stop() == 0
    reached = 0
    for (name, reason), (how, broken, other) in STRATEGIES.items():
        of = [row for row in rows if (row["symbol"] == "BTC/USD") == (name == COIN)]
        by_it = [row for row in of if broken(row)]
        if how == NEVER:
            assert not by_it, f"{name} {reason}: a strategy's order, though {other}: {by_it[0]}"
            continue
        kept = [row for row in of if other(row)]
        assert by_it and all(row["emulated"] == "1" for row in by_it), f"{name} {reason}: {len(by_it)} orders: {by_it[:1]}"
        wrong = [row for row in kept if row["emulated"] != "0"]
        assert kept and not wrong, f"{name} {reason}: {len(kept)} orders: {wrong[:1]}"
        reached += 1
    assert any(row["extended_hours"] == "1" and row["tif"] == "DAY" for row in rows), "no strategy ordered outside the session"
    assert not [row for row in rows if row["reason"].startswith("RULE_")], "a strategy's order was refused by a rule"
    return len(rows), reached


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


def by_the_venues_clock(folder):
    """On the machine's clock, which is far from the venue's: its sessions are by the latter."""
    replay, daemon = start(folder, HOLIDAY, clock="wall")
    out = daemon.papertape("order", "buy", "AAPL", "1", "--account", "hand")
    assert out == "order 1 PENDING\norder 1 waits for the open, 2025-11-28 09:30 New York (14:30Z)\n", out
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
    out = daemon.papertape("flatten", "--yes", status=1)
    assert "waits for the open, 2025-11-28 09:30 New York (14:30Z)\nnot closed F account hand: its market is closed\n" in out, out
    daemon.wait_status(lambda s: not any(p["symbol"] == "BTC/USD" and p["qty"] for p in s["positions"]), "a quote that takes the rest of the coin")
    left = json.loads(daemon.papertape("flatten", "--yes", "--json", status=1))["not_closed"]
    assert [(x["symbol"], x["account"], x["reason"]) for x in left] .count(("F", "hand", "closed")) == 1, left
    assert {x["reason"] for x in left} == {"closed"}, left
    assert daemon.stop() == 0 and replay.stop() == 0


def at_the_close(folder):
    """An order for the closing auction trades at the official print, which comes after the close."""
    inside = folder.within("close")
    bars = stock_bars.write_all(inside, ("AAPL",), *DAYS, seed=5)
    replay = folder.start(harness.Alpaca(inside, "--bars", *bars, "--from", "2025-11-25T20:25:00Z", "--speed", "200"))
    daemon = folder.start(harness.Daemon(inside, replay, harness.alpaca_config(
        replay.keys, harness.NO_LIMITS + "[account hand]\ncurrency = USD\ncash = 100000\nstrategy = none\n")))
    daemon.wait_status(lambda s: any(row.get("bid") for row in s["symbols"] or []), "a price")
    daemon.papertape("order", "buy", "AAPL", "2", "--tif", "cls", "--account", "hand")
    fill, = harness.wait_for(lambda: json.loads(daemon.papertape("fills", "--json"))["fills"], "the fill at the close")
    with open(bars[0], encoding="ascii") as file:
        last = [row for row in csv.DictReader(file) if row["open_time"].startswith("2025-11-25 20:59")]
    assert fill["by"] == "closing" and Decimal(str(fill["price"])) == Decimal(last[0]["close"]), (fill, last)
    assert not [a for a in daemon.status_object().get("alerts", []) if a["code"] == "AUCTION"]
    assert daemon.stop() == 0 and replay.stop() == 0


def main():
    rules, tried = listed_rules(), set()
    with harness.Folder() as folder:
        harness.together(folder, *[lambda folder, moment=moment: in_session(folder, moment, rules, tried)
                                   for moment in (OPEN, LATE_OPG, LATE_CLS)], on_holiday, by_the_venues_clock, in_extended_hours, flattened, at_the_close)
        orders, reached = by_strategies(folder, rules)
    missing = set(rules) - tried
    assert not missing, f"rules without a row here: {sorted(missing)}"
    print(f"{len(rules)} rules, {len(ROWS)} rows; {orders} orders of strategies met {reached} rules, and never the other "
          f"{len(rules) - reached}")


if __name__ == "__main__":
    main()
