#!/usr/bin/env python3
"""Accounts in three currencies: the status, `account list` and --once have the same sum of each, no one is added to another, and all are
stated in one currency only where a rate is streamed, which is said. An account whose currency is counted with other decimals
elsewhere starts and trades. The 1,025th account and a balance past the largest are refused by what they are."""

import decimal
import json
import os
import re
import subprocess

import harness

MOST = 2**63 // 4  # units: the largest balance
CONFIG = """[market]
symbols = {symbols}
interval = 1m
history = 20
ca_file = {ca}
ws_url = {coins[ws_url]}
rest_url = {coins[rest_url]}
[venue alpaca]
symbols = BTC/USD
streams = trade, kline, bookTicker, depth
keys = {keys}
ws_url = {stocks[ws_url]}
rest_url = {stocks[rest_url]}
[risk]
orders_per_second = 0
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
[account one]
cash = 10000.5
strategy = none
[account two]
cash = 0.25
strategy = none
[account coin]
currency = BTC
cash = 1.5
strategy = none
[account dollar]
currency = USD
cash = 148545
strategy = none
"""


def sums(accounts):
    """By currency, exactly, of an object's accounts."""
    totals = {}
    for account in accounts:
        totals[account["currency"]] = totals.get(account["currency"], 0) + decimal.Decimal(repr(account["equity"]))
    return totals


def refused(daemon, *arguments):
    done = subprocess.run([harness.PAPERTAPE, *arguments, "--state", daemon.state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == 1, (arguments, done.stdout, done.stderr)
    return done.stderr


def priced(status):
    return status.get("symbols") and all(symbol["last"] and symbol["ask"] for symbol in status["symbols"])


def totals_agree(daemon):
    """While it runs: BTC has a rate, BTCUSDT's, and USD has none, so that there is no sum of all."""
    status = daemon.wait_status(lambda s: priced(s) and s["totals"][1]["rate"], "a rate")
    totals = {total["currency"]: total for total in status["totals"]}
    assert list(totals) == ["USDT", "BTC", "USD"] and totals["USD"]["rate"] is None, totals
    assert totals["BTC"]["rate_symbol"] == "BTCUSDT" and totals["USDT"]["accounts"] == 2, totals
    assert {currency: decimal.Decimal(repr(total["equity"])) for currency, total in totals.items()} == sums(status["accounts"])
    last = [symbol["last"] for symbol in status["symbols"] if symbol["symbol"] == "BTCUSDT"][0]
    assert abs(totals["BTC"]["rate"] / last - 1) < 1e-9 and abs(totals["BTC"]["converted"] / (1.5 * last) - 1) < 1e-9, (totals, last)
    once = daemon.papertape("--once")
    for currency, words in (("USDT", "2 accounts"), ("BTC", "1 account"), ("USD", "1 account")):
        assert re.search(rf"^total     {currency} equity [\d.,]+ return \S+ of {words}$", once, re.M), once
    assert "not one sum" in once and "148,545" in once.replace("148545", "148,545"), once
    screen = daemon.papertape("--dump-screen", "200x50")
    assert "+ USD 148545.00" in screen.splitlines()[0], screen.splitlines()[0]
    print("totals:", {currency: total["equity"] for currency, total in totals.items()})


def stopped_agrees(daemon):
    """After a clean stop `account list` and the dashboard read the same from the database."""
    listed = json.loads(daemon.papertape("account", "list", "--json"))
    totals = {total["currency"]: decimal.Decimal(repr(total["equity"])) for total in listed["totals"]}
    assert totals == sums(listed["accounts"]) and all(total["rate"] is None for total in listed["totals"][1:]), listed
    table = daemon.papertape("account", "list")
    for currency, total in totals.items():
        assert re.search(rf"^total {currency}: equity {re.escape(f'{total:f}'.rstrip('0').rstrip('.') if total % 1 else str(int(total)))}\b", table, re.M), (table, total)
    once = daemon.papertape("--once", status=3)
    for currency, total in totals.items():
        shown = re.search(rf"^total     {currency} equity (\S+) ", once, re.M).group(1)
        assert abs(decimal.Decimal(shown) - total) <= decimal.Decimal("0.005"), (currency, shown, total)
    assert "not one sum" in once, once


def counted_otherwise(daemon):
    """BTC is the base of BTC/USD with 9 decimals, and coin's currency, with 8: both work."""
    scales = daemon.query("SELECT qty_scale FROM symbols WHERE name = 'BTC/USD'")[0][0]
    assert scales != 8, "the base and the currency have the same decimals: the test tests nothing"
    daemon.papertape("account", "deposit", "coin", "0.5", "--key", "more")
    for symbol, account in (("BTCUSDT", "one"), ("BTC/USD", "dollar")):
        daemon.papertape("order", "buy", symbol, "0.01", "--account", account)
    harness.wait_for(lambda: daemon.query("SELECT count(DISTINCT account) FROM fills")[0][0] == 2, "a fill at each venue")
    assert daemon.query("SELECT sum(amount) FROM ledger JOIN accounts ON accounts.id = account WHERE name = 'coin' AND asset = 'BTC' "
                        "AND scale = 8") == [(2 * 10**8,)]


def limits(daemon):
    most = f"{decimal.Decimal(MOST - 1) / 10**8:f}"
    words = refused(daemon, "account", "deposit", "one", most)
    assert f"the largest balance is {most}" in words and "more can be taken" in words and "account one holds" in words, words
    words = refused(daemon, "account", "deposit", "one", "99999999999999")
    assert f"the largest balance in USDT, which has 8 decimals, is {most}" in words, words
    words = refused(daemon, "account", "create", "rich", "--currency", "USDT", "--cash", "50000000000")
    assert "a number from 0 to 10000000000 is needed" in words, words
    number = len(daemon.status_object()["accounts"])
    with harness.connect(daemon) as client:
        def ask(name):
            client.sendall(json.dumps({"id": 1, "cmd": "account_create", "args": {"name": name, "currency": "USDT", "cash": "1"}}).encode() + b"\n")
            return json.loads(answers.readline())
        with client.makefile("rb") as answers:
            for i in range(1024 - number):
                answer = ask(f"a{i}")
                assert answer["ok"], answer
            answer = ask("beyond")
    assert not answer["ok"] and "there are 1024 accounts, the most that there can be" in answer["error"]["message"], answer
    print(f"limits: {number} accounts, 1024 with more, and the next is refused: {answer['error']['message']}")


def configured(folder):
    """--check-config names what is too much by itself."""
    path = os.path.join(folder, "many.ini")
    with open(path, "w") as file:
        file.write("[market]\nsymbols = BTCUSDT\n" + "".join(f"[account a{i}]\ncash = 1\nstrategy = none\n" for i in range(1025)))
    done = subprocess.run([harness.DAEMON, "--check-config", "--config", path], capture_output=True, text=True, timeout=harness.PATIENCE)
    assert done.returncode != 0 and "more than 1024 accounts" in done.stderr, done.stderr


def start(scratch, config):
    """A daemon of two venues."""
    folder = scratch.path
    replay = scratch.start(harness.Replay(folder, "--synthetic", "5", "--rate", "200"))
    stocks = scratch.start(harness.Alpaca(scratch.within("stocks"), "--synthetic", "5"))
    ca = os.path.join(folder, "both.pem")
    with open(ca, "w") as file:
        for authority in (replay.ca, stocks.ca):
            with open(authority) as part:
                file.write(part.read())
    config = config.format(symbols="BTCUSDT, ETHUSDT", ca=ca, coins=replay.urls, stocks=stocks.urls, keys=stocks.keys)
    return scratch.start(harness.Daemon(folder, None, config))


def main():
    with harness.Folder() as scratch:
        daemon = start(scratch, CONFIG)
        totals_agree(daemon)
        counted_otherwise(daemon)
        limits(daemon)
        assert daemon.stop() == 0, daemon.log_text()
        stopped_agrees(daemon)
        assert daemon.papertape("ledger", "verify").startswith("ledger ok")
        configured(scratch.path)


if __name__ == "__main__":
    main()
