#!/usr/bin/env python3
"""What the log says of a day: several accounts and strategies, and orders of every type by hand, on the synthetic market by
the feed's clock, with a restart in between. Every order is explained and is what was recorded; the log gives the ledger,
also while the daemon works; a row that is altered is named with its event; and a past moment is tried again."""

import json
import os
import re
import sqlite3
import subprocess
import sys

import harness

START, START_NS = "2024-01-01T00:00:00Z", 1704067200 * 10**9
SECONDS = 3600 if harness.LONG else 120
SPEED = "120" if harness.LONG else "20"
CONFIG = """
[market]
interval = 1s
[engine]
latency_ms = 20
[account main]
cash = 100000
strategy = sma-cross-rsi
strategy.fast = 3
strategy.slow = 8
strategy.rsi_max = 95
strategy.fraction = 0.2
[account quick]
cash = 50000
strategy = sma-cross-rsi
strategy.fast = 2
strategy.slow = 4
strategy.rsi_max = 100
strategy.stop_atr = 1
strategy.fraction = 0.1
[account hand]
cash = 200000
strategy = none
"""


def papertape(state, *arguments, status=0):
    done = subprocess.run([harness.PAPERTAPE, *arguments, "--state", state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == status, (arguments, done.returncode, done.stdout[-2000:], done.stderr)
    return done.stdout if status == 0 else done.stderr


def price(daemon, symbol):
    return next(s["last"] for s in daemon.status_object()["symbols"] if s["symbol"] == symbol)


def by_hand(daemon):
    """Orders of every type; some are refused, some are cancelled or amended."""
    btc = price(daemon, "BTCUSDT")
    order = ("order",)
    hand = ("--account", "hand")
    daemon.papertape(*order, "buy", "BTCUSDT", "0.05", "--client-id", "first", *hand)
    daemon.wait_status(lambda s: any(p["account"] == "hand" and p["qty"] == 0.05 for p in s["positions"]), "what is sold below")
    daemon.papertape(*order, "buy", "BTCUSDT", "0.02", "--limit", f"{btc * 0.9:.2f}", "--client-id", "404404", *hand)
    daemon.papertape(*order, "buy", "BTCUSDT", "0.02", "--limit", f"{btc * 1.001:.2f}", *hand)
    daemon.papertape(*order, "buy", "ETHUSDT", "0.5", *hand)
    daemon.papertape(*order, "sell", "BTCUSDT", "0.01", "--stop", f"{btc * 0.8:.2f}", *hand)
    daemon.papertape(*order, "sell", "BTCUSDT", "0.01", "--trail", "0.01%", *hand)
    daemon.papertape(*order, "oco", "sell", "BTCUSDT", "0.01", "--take-profit", f"{btc * 1.2:.2f}", "--stop",
                     f"{btc * 0.7:.2f}", *hand)
    daemon.papertape(*order, "buy", "BTCUSDT", "0.01", "--bracket-take-profit", f"{btc * 1.1:.2f}", "--bracket-stop",
                     f"{btc * 0.9:.2f}", *hand)
    daemon.papertape(*order, "buy", "BTCUSDT", "0.01", "--limit", f"{btc * 0.95:.2f}", "--tif", "ioc", *hand)
    daemon.papertape(*order, "buy", "BTCUSDT", "0.000001", *hand, status=1)
    daemon.papertape(*order, "buy", "BTCUSDT", "100", *hand, status=1)
    daemon.papertape(*order, "amend", "--client-id", "404404", "--limit", f"{btc * 0.91:.2f}", *hand)
    daemon.papertape(*order, "cancel", "--client-id", "404404", *hand)


def parity(state, status=0):
    done = subprocess.run([harness.PAPERTAPE, "parity", "--json", "--state", state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    report = json.loads(done.stdout)
    assert done.returncode == status, (report, done.stderr)
    assert report["schema"] == "papertape.parity/1"
    assert report["ok"] == (status == 0) and (report["difference"] is None) == (status == 0)
    return report


def trade_a_day(folder):
    """Two runs; returns the state directory."""
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "17", "--from", START, "--speed", SPEED))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"], name="first"))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" for x in s["symbols"]), "books in step")
    daemon.wait_status(lambda s: s["counters"]["fills"] >= 3, "fills of the strategies")
    by_hand(daemon)
    live = parity(daemon.state)
    assert live["events"] > 1000 and live["fills"] > 3, live
    assert daemon.stop() == 0
    points = "SELECT count(*) FROM equity"
    before = daemon.query(points)[0][0]
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"], name="second"))
    daemon.wait_status(lambda s: s["counters"] and s["now_ns"] >= START_NS + SECONDS * 10**9, f"{SECONDS} s of market")
    harness.wait_for(lambda: daemon.query(points)[0][0] > before, "a row of the second run, which parity then reaches")
    assert parity(daemon.state)["runs"] == 2
    daemon.papertape("flatten", "--yes")
    daemon.wait_status(lambda s: not s["positions"], "no position after a flatten")
    assert daemon.stop() == 0
    assert replay.stop() == 0
    return daemon.state


def check_moments(state, explained):
    """At each change's time an order has the changes and fills up to then, and before the first it is not there."""
    longest = max(explained.values(), key=lambda order: len({change["order"]["updated_ns"] for change in order["changes"]}))
    times = sorted({change["order"]["updated_ns"] for change in longest["changes"]})
    assert len(times) >= 3, longest
    for ns in times:
        then, = json.loads(papertape(state, "explain", str(longest["order"]), "--json", "--at", str(ns)))["orders"]
        assert then["changes"] == [change for change in longest["changes"] if change["order"]["updated_ns"] <= ns], (ns, then)
        assert then["fills"] == [fill for fill in longest["fills"] if fill["ts_ns"] <= ns], (ns, then)
        assert then["final"] == then["changes"][-1]["order"] and then["equal"], (ns, then)
    text = papertape(state, "explain", str(longest["order"]), "--at", str(times[0] - 1), status=1)
    assert "it was not there yet at the time of --at" in text, text


def check_explanations(state):
    far = papertape(state, "explain", "--client-id", "404404")
    assert " amended: limit " in far and ", was " in far, far
    ended = far.split("What became of it")[1].splitlines()[-2:]
    gone, = json.loads(papertape(state, "explain", "--client-id", "404404", "--json"))["orders"]
    by = gone["canceled_by"]
    assert by["cmd"] == "cancel" and by["peer_uid"] == os.getuid() and f" by command {by['id']}, cancel  event {by['event']['seq']}\n" in far, by
    assert re.search(r" CANCELED by command \d+, cancel  event \d+$", ended[0]) and "COMMAND" in ended[1], far
    assert "first event after" not in ended[0] + ended[1], far
    orders = json.loads(papertape(state, "orders", "--json"))["orders"]
    fills = json.loads(papertape(state, "fills", "--json"))["fills"]
    report = json.loads(papertape(state, "explain", "--all", "--json"))
    assert report["schema"] == "papertape.explain/1"
    assert report["explained"] == report["equal"] == len(orders), {k: report[k] for k in report if k != "orders"}
    explained = {order["order"]: order for order in report["orders"]}
    assert sorted(explained) == [order["order"] for order in orders]
    assert sum(len(order["fills"]) for order in explained.values()) == len(fills)
    stored = {fill["fill"]: fill for fill in fills}
    for order in orders:
        why = explained[order["order"]]
        # What the lists have of an order and of a fill, explain has too; a 0 of a list's null.
        said = why["final"] | {key: why[key] for key in order if key in why}
        assert all(said[key] == value or (said[key] == 0 and value is None) for key, value in order.items()), (order, why)
        for fill in why["fills"]:
            said = fill | {key: why[key] for key in ("order", "account", "symbol", "side")}
            assert all(said[key] == value for key, value in stored[fill["fill"]].items()), fill
            assert fill["rate"] == fill["fee_rate"] > 0, fill
        assert order["state"] == "CANCELED" and order["reason"] is None or why["canceled_by"] is None, why
        assert why["equal"] and why["final"]["state"] == order["state"] and why["event"]["seq"] == order["input_seq"]
        if order["by_hand"]:
            assert why["command"]["cmd"] == "order" and why["command"]["args"]["symbol"], why
            assert why["command"]["peer_uid"] == os.getuid()
        elif order["tag"] != "flatten":
            assert why["decision"]["strategy"] == "sma-cross-rsi" and why["decision"]["indicators"], why
            assert why["decision"]["intents"], why
        if order["state"] != "REJECTED":
            assert why["verdict"]["accepted"], why
        for fill in why["fills"]:
            assert fill["take"] and fill["take"]["level_price"] > 0, fill
    for order in [row for row in orders if row["state"] == "REJECTED" and row["by_hand"]]:
        text = papertape(state, "explain", str(order["order"]))
        assert re.search(f"^  refused: {order['reason']}(, .*)?: [a-z].*$", text, re.M) and "makes no sense" not in text, text
        words = explained[order["order"]]["verdict"]["words"]
        page = subprocess.run([harness.PAPERTAPE, "--state", state, "--dump-screen", "200x60", "--open", f"order:{order['order']}"],
                              capture_output=True, text=True, timeout=harness.PATIENCE).stdout
        assert f": {words}\n" in text and f"{order['reason']}: {words}" in page, (words, text, page)
    dear, = [explained[row["order"]]["verdict"]["words"] for row in orders if row["qty"] == 100]
    assert re.search(r": \d{7}[.\d]* USDT needed, \d+[.\d]* available$", dear), dear
    text = papertape(state, "explain", "--all")
    assert f"{len(orders)} equal to the record" in text, text
    assert "0 orders explained" in papertape(state, "explain", "--all", "--day", "2023-06-01")
    assert f"{len(orders)} equal" in papertape(state, "explain", "--all", "--day", "2024-01-01")

    text = papertape(state, "explain", "first")
    for words in ("equal to the record", "What caused it", "Verdict", "Fills", "fee 0.1 %", "COMMAND"):
        assert words in text, (words, text)
    decided = next(order for order in orders if not order["by_hand"] and order["filled"] > 0)
    text = papertape(state, "explain", str(decided["order"]))
    for words in ("equal to the record", "the strategy sma-cross-rsi", "rsi_14", "it wanted to"):
        assert words in text, (words, text)
    check_moments(state, explained)
    assert "no order has" in papertape(state, "explain", "999999", status=1)
    papertape(state, "explain", status=2)
    print(f"{len(orders)} orders with {len(fills)} fills explained, all equal to the record")
    return orders, fills


def altered(state, table, column, change, where):
    """Alters a row, calls what must see it, and puts it back as it was."""
    database = sqlite3.connect(os.path.join(state, "papertape.db"))
    before = database.execute(f"SELECT {column} FROM {table} WHERE id = ?", (where,)).fetchone()[0]
    database.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (change(before), where))
    database.commit()
    database.close()
    report = parity(state, status=1)
    all_of_it = papertape(state, "explain", "--all", status=1) if table != "ledger" else ""
    database = sqlite3.connect(os.path.join(state, "papertape.db"))
    database.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (before, where))
    database.commit()
    database.close()
    return report["difference"], all_of_it


def check_altered(state, orders, fills):
    fill = fills[len(fills) // 2]
    row, text = altered(state, "fills", "price", lambda value: value + 1, fill["fill"])
    assert (row["table"], row["id"], row["field"]) == ("fills", fill["fill"], "price"), row
    assert f"fills {fill['fill']}: price" in text, text
    order = orders[len(orders) // 3]
    row, text = altered(state, "orders", "qty", lambda value: value + 1000, order["order"])
    assert (row["table"], row["id"], row["field"]) == ("orders", order["order"], "qty"), row
    assert row["seq"] >= order["input_seq"] and row["event"], row
    assert f"orders {order['order']}: qty" in text, text
    row, _ = altered(state, "ledger", "ts_ns", lambda value: value + 1, 4)
    assert (row["table"], row["id"], row["field"]) == ("ledger", 4, "ts_ns"), row
    parity(state)
    print(f"altered rows are named: the last in event {row['seq']}, {row['event']}")


def check_what_if(state, orders):
    seconds = (orders[2]["created_ns"] - START_NS) // 10**9
    moment = f"2024-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
    same = json.loads(papertape(state, "what-if", "--at", moment, "--set", "fast=3", "--json"))
    assert same["schema"] == "papertape.what-if/1" and same["equity"], same
    assert same["was"]["equity_end"] == same["would_be"]["equity_end"], same
    assert same["was"]["fills"] == same["would_be"]["fills"] > 0, same
    other = json.loads(papertape(state, "what-if", "--at", moment, "--set", "slow=20", "--json"))
    assert other["was"] == same["was"] and other["would_be"]["params"]["slow"] == 20, other
    none = json.loads(papertape(state, "what-if", "--at", moment, "--account", "quick", "--strategy", "none", "--json"))
    assert none["would_be"]["strategy"] is None and none["would_be"]["orders"] < none["was"]["orders"], none
    text = papertape(state, "what-if", "--at", moment, "--set", "slow=20")
    for words in ("final equity", "deepest drawdown", "the market does not react"):
        assert words in text, (words, text)
    for arguments, words, status in ((("--at", moment, "--set", "nonsense=1"), "unknown key", 2),
                                     (("--at", moment, "--account", "absent", "--strategy", "none"), '"absent": there is no such account then: one of ', 1),
                                     (("--at", "2030-01-01", "--set", "slow=9"), "ends before", 1)):
        assert words in papertape(state, "what-if", *arguments, status=status), arguments
    assert "F.safetensors of a trained policy or NAME.ensemble.json is needed" in papertape(state, "what-if", "--at", moment, "--policy", "p", status=2)
    print(f"from {moment}: {same['was']['equity_end']} as it was, {other['would_be']['equity_end']} with slow=20")


def main():
    print(f"counts: {SECONDS} s of market" + ("" if harness.LONG else " (--long: 3600 s)"))
    with harness.Folder() as folder:
        state = trade_a_day(folder)
        report = parity(state)
        assert report["ledger_rows"] > 20 and report["holes"] == 0, report
        orders, fills = check_explanations(state)
        check_altered(state, orders, fills)
        check_what_if(state, orders)
    return 0


if __name__ == "__main__":
    sys.exit(main())
