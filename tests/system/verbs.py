#!/usr/bin/env python3
"""What `papertape order` and `papertape account` send over the control socket, what they print and how they end.

usage: verbs.py PAPERTAPE

Standard library only; the daemon is fake_daemon.py."""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../fixtures")]
import fake_daemon  # noqa: E402

BUY = {"side": "buy", "symbol": "BTCUSDT", "qty": "0.01"}
SELL = dict(BUY, side="sell")

# The command line; the command and the arguments that the daemon is to see.
SENT = [
    ("order buy BTCUSDT 0.01", "order", dict(BUY)),
    ("order sell BTCUSDT 0.01 --type market --account swing", "order", dict(SELL, type="market", account="swing")),
    ("order buy BTCUSDT 0.01 --limit 61000.5", "order", dict(BUY, limit="61000.5")),
    ("order buy BTCUSDT 0.01 --dry-run", "order", dict(BUY, dry_run=True)),
    ("order --limit 61000.5 buy BTCUSDT 0.01 --post-only", "order",
     dict(BUY, limit="61000.5", post_only=True)),
    ("order sell BTCUSDT 0.01 --stop 60000", "order", dict(SELL, stop="60000")),
    ("order sell BTCUSDT 0.01 --stop 60000 --limit 59900", "order",
     dict(SELL, stop="60000", limit="59900")),
    ("order sell BTCUSDT 0.01 --take-profit 65000", "order", dict(SELL, type="take-profit", stop="65000")),
    ("order sell BTCUSDT 0.01 --type take-profit --stop 65000", "order", dict(SELL, type="take-profit", stop="65000")),
    ("order sell BTCUSDT 0.01 --take-profit 65000 --limit 64990", "order",
     dict(SELL, type="take-profit-limit", stop="65000", limit="64990")),
    ("order sell BTCUSDT 0.01 --trail 150.5", "order", dict(SELL, trail="150.5")),
    ("order sell BTCUSDT 0.01 --trail 1.5% --reduce-only", "order",
     dict(SELL, trail_percent="1.5", reduce_only=True)),
    ("order buy BTCUSDT 0.01 --limit 61000 --tif ioc", "order", dict(BUY, limit="61000", tif="ioc")),
    ("order buy BTCUSDT 0.01 --limit 61000 --expire 2024-08-08T14:02:00Z", "order",
     dict(BUY, limit="61000", expire_ns=1723125720000000000)),
    ("order buy BTCUSDT 0.01 --limit 61000 --tif gtd --expire 1723125720", "order",
     dict(BUY, limit="61000", tif="gtd", expire_ns=1723125720000000000)),
    ("order buy BTCUSDT 0.01 --client-id my-1.a:b/c_d", "order", dict(BUY, client_id="my-1.a:b/c_d")),
    ("order oco sell BTCUSDT 0.01 --take-profit 65000 --stop 60000", "order",
     dict(SELL, group="oco", take_profit={"limit": "65000"}, stop_loss={"stop": "60000"})),
    ("order oco sell BTCUSDT 0.01 --take-profit 65000 --stop 60000 --stop-limit 59900 --tif day", "order",
     dict(SELL, group="oco", tif="day", take_profit={"limit": "65000"}, stop_loss={"stop": "60000", "limit": "59900"})),
    ("order oco sell BTCUSDT 0.01 --take-profit-stop 65000 --stop 60000", "order",
     dict(SELL, group="oco", take_profit={"stop": "65000"}, stop_loss={"stop": "60000"})),
    ("order oco sell BTCUSDT 0.01 --take-profit-stop 65000 --take-profit 64900 --trail 100", "order",
     dict(SELL, group="oco", take_profit={"stop": "65000", "limit": "64900"}, stop_loss={"trail": "100"})),
    ("order oco buy BTCUSDT 0.01 --take-profit 60000 --trail 2%", "order",
     dict(BUY, group="oco", take_profit={"limit": "60000"}, stop_loss={"trail_percent": "2"})),
    ("order buy BTCUSDT 0.01 --limit 61000 --bracket-take-profit 65000 --bracket-stop 60000", "order",
     dict(BUY, limit="61000", group="bracket", take_profit={"limit": "65000"}, stop_loss={"stop": "60000"})),
    ("order buy BTCUSDT 0.01 --bracket-stop 60000 --bracket-stop-limit 59900", "order",
     dict(BUY, group="bracket", stop_loss={"stop": "60000", "limit": "59900"})),
    ("order buy BTCUSDT 0.01 --bracket-trail 100", "order",
     dict(BUY, group="bracket", stop_loss={"trail": "100"})),
    ("symbol add SOLUSDT", "symbol_add", {"symbol": "SOLUSDT"}),
    ("symbol add aapl --venue alpaca --key k7", "symbol_add", {"symbol": "AAPL", "venue": "alpaca", "key": "k7"}),
    ("symbol remove btc/usd", "symbol_remove", {"symbol": "BTC/USD"}),
    ("symbol list", "symbol_list", {}),
    ("venues streams binance", "streams", {"venue": "binance"}),
    ("order amend 7 --qty 0.02 --limit 61001", "amend", {"order": 7, "qty": "0.02", "limit": "61001"}),
    ("order amend my-1 --stop 60100 --account swing", "amend", {"client_id": "my-1", "account": "swing", "stop": "60100"}),
    ("order amend --client-id 12 --trail 2% --key k1", "amend", {"client_id": "12", "key": "k1", "trail_percent": "2"}),
    ("order amend 7 --trail 25", "amend", {"order": 7, "trail": "25"}),
    ("order cancel 7", "cancel", {"order": 7}),
    ("order cancel my-1 --key k2", "cancel", {"client_id": "my-1", "key": "k2"}),
    ("order cancel --all", "cancel", {"all": True}),
    ("order cancel --all --symbol BTCUSDT --account main", "cancel", {"all": True, "symbol": "BTCUSDT", "account": "main"}),
    ("account create swing --currency USDT --cash 5000", "account_create",
     {"name": "swing", "currency": "USDT", "cash": "5000"}),
    ("account create swing --currency USDT --cash 5000.5 --strategy sma-cross-rsi --set fast=5 --set slow=20.5 --shorts "
     "--collateral 150% --maintenance 1.25 --borrow-rate 5% --fee-maker 0.02% --fee-taker 0.0005 "
     "--risk-exposure-symbol 50% --risk-exposure-account 1 --risk-daily-loss 5% --risk-orders-per-second 20 --key c-1",
     "account_create",
     {"name": "swing", "currency": "USDT", "cash": "5000.5", "strategy": "sma-cross-rsi",
      "params": {"fast": "5", "slow": "20.5"}, "shorts": True, "collateral": "150%", "maintenance": "1.25",
      "borrow_rate": "5%", "fee_maker": "0.02%", "fee_taker": "0.0005", "exposure_symbol": "50%",
      "exposure_account": "1", "daily_loss": "5%", "orders_per_second": "20", "key": "c-1"}),
    ("account deposit main 500.25", "account_deposit", {"account": "main", "amount": "500.25"}),
    ("account withdraw main 500 --key w1", "account_deposit", {"account": "main", "amount": "-500", "key": "w1"}),
    ("account create swing --currency USDT --cash 1 --fees vip1 --risk-drawdown 20% --risk-price-band 0.1 "
     "--risk-cooldown-s 0.5 --risk-positions 3 --session extended", "account_create",
     {"name": "swing", "currency": "USDT", "cash": "1", "fees": "vip1", "drawdown": "20%", "price_band": "0.1",
      "cooldown_s": "0.5", "positions": "3", "session": "extended"}),
    ("account resume main --key r-1", "account_resume", {"account": "main", "key": "r-1"}),
    ("account close main --key e-1", "account_close", {"account": "main", "key": "e-1"}),
    ("account reset main", "account_reset", {"account": "main"}),
    ("account reset main --cash 10000", "account_reset", {"account": "main", "cash": "10000"}),
    ("account transfer main swing 100", "account_transfer", {"from": "main", "to": "swing", "amount": "100"}),
]

# Lines that are wrong in themselves: status 2, one line that has these words, and nothing is sent.
WRONG = [
    ("order", "is expected"),
    ("order hold BTCUSDT 1", "one of buy/sell, oco, amend, cancel is expected"),
    ("order buy BTCUSDT", "QTY, --notional: a quantity or an amount is needed"),
    ("order buy BTCUSDT 1 --type iceberg", "--type"),
    ("order buy BTCUSDT 1 --stop 3 --take-profit 4", "oco"),
    ("order buy BTCUSDT 1 --tif forever", "--tif"),
    ("order amend 7", "--qty Q or --limit P or --stop P or --trail D|X% is needed"),
    ("order amend --qty 9", "ORDER|CLIENT_ID or --client-id ID is needed"),
    ("order cancel 7 --all", "one of ORDER|CLIENT_ID, --client-id ID, --all is right"),
    ("order cancel 7 --symbol BTCUSDT", "--symbol: it goes with --all"),
    ("what-if --at 2024-08-08 --set fast", "KEY=VALUE is needed"),
    ("what-if --at 2024-08-08 --strategy sma-cross --set fast=x", "a whole number from 1 to 1000 is needed"),
    ("backtest --strategy sma-cross --bars x --risk positions=x", "a whole number from 0 to 4096 is needed"),
    ("order buy BTCUSDT 1 --expire soon", "--expire"),
    ("order buy BTCUSDT 1 --key k", "--key: not an option of order buy"),
    ("order buy BTCUSDT 1 --all", "--all"),
    ("order buy BTCUSDT 1 --take-profit-stop 3", "--take-profit-stop: not an option of order buy"),
    ("order cancel 7 --bracket-take-profit-stop 3", "not an option of order cancel"),
    ("order oco sell BTCUSDT 1 --take-profit 3 --stop 2 --limit 3", "not an option of order oco"),
    ("order oco sell BTCUSDT 1 --take-profit 3 --stop 2 --bracket-stop 1", "--bracket"),
    ("order amend 7 8 --qty 1", "one argument too many"),
    ("order amend 7 --tif day", "not an option of order amend"),
    ("order cancel 7 --limit 3", "not an option of order cancel"),
    ("account buy", "is expected"),
    ("account list more", "no argument"),
    ("account create", "NAME is needed, as: account create swing"),
    ("account create swing --currency USDT --cash 1 --strategy s --set fast", "--set"),
    ("account deposit main", "ACCOUNT AMOUNT are needed"),
    ("account deposit main -5", "withdraw"),
    ("account deposit main 5 --cash 3", "--cash: not an option of account deposit"),
    ("account resume", "ACCOUNT is needed"),
    ("account resume main --cash 5", "not an option of account resume"),
    ("fees vip1", "no argument"),
    ("account reset", "ACCOUNT is needed"),
    ("account reset main --currency USDT", "not an option of account reset"),
    ("account transfer main swing", "are needed, as: account transfer main swing 500"),
    ("symbol ad BTCUSDT", "did you mean add?"),
    ("symbol add", "SYMBOL is needed, as: symbol add SOLUSDT"),
    ("symbol add A B", "one argument too many"),
    ("symbol add " + 24 * "A", "1 to 23"),
    ("symbol remove A --venue binance", "not an option of symbol remove"),
    ("symbol add A --csv", "not an option of symbol add"),
    ("symbol list A", "no argument"),
    ("symbol list --key k", "not an option of symbol list"),
    ("venues stream binance", "did you mean streams?"),
    ("venues streams", "VENUE is needed"),
    ("venues streams binance --csv", "--csv"),
    ("revisions A B", "one argument too many"),
    ("revisions --from soon", "a time as"),
]

# Lines, in this order, with what they print and their status.
ANSWERED = [
    ("order buy BTCUSDT 0.01", "order 9 PENDING\n", 0),
    ("order oco sell BTCUSDT 0.01 --take-profit 65000 --stop 60000", "order 9 PENDING\norder 10\n", 0),
    ("order buy BTCUSDT 0.01 --bracket-take-profit 65000 --bracket-stop 60000", "order 9 PENDING\norder 10\norder 11\n", 0),
    ("order buy BTCUSDT 0.01 --client-id twice", "order 9 PENDING\n", 0),
    ("order buy BTCUSDT 0.01 --client-id twice", "order 9 FILLED (given before)\n", 0),
    ("order buy BTCUSDT 0.000001", "papertape: order: LOT_SIZE: BTCUSDT: 0.000001: the least quantity is 0.00001\n", 1),
    ("order amend 7 --limit 61001", "amended 7\n", 0),
    ("order amend 404 --limit 61001", "papertape: order: UNKNOWN_ORDER: no live order has that id\n", 1),
    ("order cancel 7", "canceled 7\n", 0),
    ("order cancel --all", "canceled 7\n", 0),
    ("order cancel --all --symbol ETHUSDT", "nothing to cancel\n", 0),
    ("account create swing2 --currency USDT --cash 5000", "created swing2\n", 0),
    ("account deposit main 500 --key d1", "deposited 500 into main\n", 0),
    ("account deposit main 500 --key d1", "deposited 500 into main (done before)\n", 0),
    ("account withdraw main 20", "withdrew 20 from main\n", 0),
    ("account reset main --cash 10000", "reset main\n", 0),
    ("account transfer main swing 100", "transferred 100 from main to swing\n", 0),
    ("symbol add SOLUSDT", "added SOLUSDT of binance\n", 0),
    ("symbol remove SOLUSDT", "removed SOLUSDT\n", 0),
    ("symbol add btcustd", 'papertape: symbol: ENOENT: "BTCUSTD" is not listed: did you mean BTCUSDT?\n', 1),
    ("symbol add SOLUSDT --venue binnace",
     'papertape: symbol: EINVAL: --venue: "binnace" is not one of this run: did you mean binance?\n', 1),
    ("symbol add SOLUSDT --json", '{"schema":"papertape.symbol/1","symbol":"SOLUSDT","venue":"binance"}\n', 0),
    ("symbol --csv", "name,venue,streamed,calendar\nBTCUSDT,binance,yes,\nAAPL,alpaca,no,us-equity\n", 0),
    ("--json symbol remove SOLUSDT", '{"schema":"papertape.symbol/1","symbol":"SOLUSDT"}\n', 0),
    ("symbol list --csv", "name,venue,streamed,calendar\nBTCUSDT,binance,yes,\nAAPL,alpaca,no,us-equity\n", 0),
    ("symbol list --json", '{"schema":"papertape.symbols/1","symbols":[{"name":"BTCUSDT","venue":"binance","streamed":true,'
     '"calendar":null},{"name":"AAPL","venue":"alpaca","streamed":false,"calendar":"us-equity"}]}\n', 0),
    ("venues streams binance", "btcusdt@trade\nbtcusdt@depth\n", 0),
    ("venues streams binance --json", '{"schema":"papertape.streams/1","streams":["btcusdt@trade","btcusdt@depth"]}\n', 0),
    ("account deposit nobody 5", "papertape: account: UNKNOWN_ACCOUNT: \"nobody\": there is no such account\n", 1),  # word-ok
]


APPLICATION_ID = int.from_bytes(b"PAPT", "big")
NEWER = r"schema version 999 is newer than \d+, the newest that this program knows: update papertape\n"

NO_STATE = ("orders", "fills", "ledger", "ledger verify", "positions", "bars BTCUSDT 1m", "alerts", "account", "train", "policy", "study", "symbol",
            "events", "events show --seq 1", "venues", "revisions", "parity", "explain 1", "backtest --account main",
            "backtest --strategy sma-cross --bars {state}", "backtest --events {state}",
            "what-if --at 2024-08-08 --set fast=3")


def newer_schema(run, path):
    """A database of a later papertape: each that reads it says the same, also where no daemon runs."""
    database = sqlite3.connect(path)
    database.executescript("PRAGMA application_id = %d; PRAGMA user_version = 999; CREATE TABLE later (x)" % APPLICATION_ID)
    database.close()
    for line, status in (("orders", 1), ("alerts", 1), ("ledger verify", 1), ("--once", 3), ("--json", 3)):
        result = run(line)
        assert result.returncode == status and re.search(NEWER, result.stderr), f"{line}: {result}"
        assert ("no daemon is listening" in result.stderr) == (status == 3), f"{line}: {result}"


def main():
    program = os.path.abspath(sys.argv[1])
    os.environ.pop("RUNTIME_DIRECTORY", None)
    with tempfile.TemporaryDirectory(prefix="pt-") as state:
        daemon = fake_daemon.Daemon(state)
        daemon.start()

        def run(line):
            words = [program, *line.split(" "), "--state", state]
            return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False,
                                  stdin=subprocess.DEVNULL)

        try:
            for line, cmd, args in SENT:
                before = len(daemon.commands)
                result = run(line)
                assert result.returncode == 0 and result.stderr == "", f"{line}: {result}"
                assert daemon.commands[before:] == [(cmd, args)], f"{line}: {daemon.commands[before:]}"
            print(f"{len(SENT)} lines are sent as they should be")
            before = len(daemon.commands)
            for line, words in WRONG:
                result = run(line)
                assert result.returncode == 2 and result.stdout == "", f"{line}: {result}"
                lines = result.stderr.splitlines()
                assert len(lines) == 1 and lines[0].startswith("papertape: ") and words in lines[0], f"{line}: {result}"
            assert len(daemon.commands) == before
            print(f"{len(WRONG)} wrong lines are refused here")
            daemon.named.clear()
            for line, out, status in ANSWERED:
                result = run(line)
                assert result.stdout + result.stderr == out and result.returncode == status, f"{line}: {result}"
            print(f"{len(ANSWERED)} answers read as they should")
        finally:
            daemon.stop()
        result = run("order buy BTCUSDT 0.01")
        assert result.returncode == 3 and "no daemon" in result.stderr, result
        for line in NO_STATE:
            result = run(line.format(state=state))
            assert result.returncode == 3 and re.search("there is no .* yet: papertape.* makes it\n$", result.stderr), f"{line}: {result}"
        newer_schema(run, os.path.join(state, "papertape.db"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
