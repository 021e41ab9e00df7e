#!/usr/bin/env python3
"""Price alerts on the synthetic market, of trades, of aggregated trades and of bars alone: each is raised once, in the database and
at a sink, over a kill -9 and a restart, and never while the database's own bars did not reach it; wrong ones are refused in words."""

import json
import os
import re
import signal
import stat

import harness

CONFIG = """[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 5
streams = {streams}
[alerts]
command = {command}
[account hand]
strategy = none
"""
TEXT = re.compile(r"^(\w+): ([0-9.]+) or (above|below) was traded: ([0-9.]+) (at|in the bar of) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$")
CLOCKS_NS = 100_000_000  # the venue's clock and ours
DISTANCES = (0.01, 0.5, 2, 5, 10, 20, 40, 30000)  # of BTCUSDT, which moves by some dollars a second


def start(place, folder, replay, streams, name):
    took = os.path.join(place, "took")
    command = os.path.join(place, "take")
    if not os.path.exists(command):
        with open(command, "w") as file:
            file.write(f"#!/bin/sh\ncat >>{took}\n")
        os.chmod(command, stat.S_IRWXU)
    daemon = folder.start(harness.Daemon(place, replay, CONFIG.format(streams=streams, command=command), name=name))
    daemon.wait_status(lambda s: s["symbols"] and s["feed"]["state"] == "ok" and all(x["last"] for x in s["symbols"]), "prices")
    return daemon


def last_of(daemon):
    return next(s["last"] for s in daemon.status_object()["symbols"] if s["symbol"] == "BTCUSDT")


def listed(daemon):
    answer = json.loads(daemon.papertape("alerts", "prices", "--json"))
    assert answer["schema"] == "papertape.price-alerts/1", answer
    return {a["price_alert"]: a for a in answer["price_alerts"]}


def ladder(daemon, odd):
    """Alerts on both sides of the last price, at even or odd cents, as they were answered; those that were overtaken are refused."""
    alerts = {}
    last = last_of(daemon)
    for distance in DISTANCES:
        for side, price in (("above", last + distance), ("below", last - distance)):
            price = f"{(2 * round(50 * price) + odd) / 100:.2f}"
            answer = harness.control(daemon, "price_alert", {"symbol": "BTCUSDT", side: price})
            if answer["ok"]:
                alerts[answer["result"]["price_alert"]] = answer["result"]
            else:
                assert answer["error"]["code"] == "EINVAL" and "already" in answer["error"]["message"], answer
    return alerts


def raised(daemon):
    """What was traded, by the symbol, side and price that were waited for: each once."""
    found = {}
    for text, count, severity in daemon.query("SELECT text, count, severity FROM alerts WHERE code = 'PRICE'"):
        symbol, price, side, traded, how, _ = TEXT.match(text).groups()
        assert (symbol, side, price) not in found and count == 1, (text, count)
        found[symbol, side, price] = (float(traded), how)
        assert float(traded) >= float(price) if side == "above" else float(traded) <= float(price), text
    return found


def check(daemon, alerts):
    """Each is listed or was raised; those that a bar which opened later reached were raised."""
    def settled():
        left = listed(daemon)
        came = raised(daemon)
        bars = daemon.query("SELECT open_ns, low, high FROM bars JOIN symbols ON symbols.id = bars.symbol WHERE name = 'BTCUSDT' "
                            "AND source = 'venue'")
        assert bars
        scale = daemon.query("SELECT price_scale FROM symbols WHERE name = 'BTCUSDT'")[0][0]
        some = False
        for number, alert in alerts.items():
            key = ("BTCUSDT", alert["side"], alert["price"])
            price = round(float(alert["price"]) * 10 ** scale)
            reached = any(open_ns >= alert["created_ns"] + CLOCKS_NS and (high >= price if alert["side"] == "above" else low <= price)
                          for open_ns, low, high in bars)
            if (number in left) == (key in came) or (reached and key not in came):
                return None  # it is being stored
            some |= reached
        return came if some else None
    return harness.wait_for(settled, "each alert listed, or raised")


def lives(folder, replay, streams, how):
    place = folder.within(how.replace(" ", "-"))
    daemon = start(place, folder, replay, streams, "daemon")
    alerts = ladder(daemon, 0)
    assert len(alerts) >= len(DISTANCES), alerts
    harness.wait_for(lambda: len(raised(daemon)) >= 2, "two that are raised")
    alerts |= ladder(daemon, 1)
    assert daemon.stop(signal.SIGKILL) == -signal.SIGKILL
    daemon = start(place, folder, replay, streams, "again")
    bars = {s["symbol"]: s["bars"] for s in daemon.status_object()["symbols"]}
    daemon.wait_status(lambda s: all(x["bars"] >= bars[x["symbol"]] + 3 for x in s["symbols"]), "bars after the restart")
    came = check(daemon, alerts)
    assert any(way == how for _, way in came.values()), came
    left = listed(daemon)
    assert left and set(left) < set(alerts), left
    assert daemon.stop() == 0
    daemon = start(place, folder, replay, streams, "third")
    check(daemon, alerts)
    assert set(listed(daemon)) <= set(left)

    def noticed():
        notices = [json.loads(line) for line in harness.lines(os.path.join(place, "took")) if line.endswith("\n")]
        texts = [n["text"] for n in notices if n["rule"] == "PRICE"]
        stored = {row[0] for row in daemon.query("SELECT text FROM alerts WHERE code = 'PRICE'")}
        return (texts, stored) if stored <= set(texts) else None
    texts, stored = harness.wait_for(noticed, "a notice of each")
    of = [text.split(" was traded")[0] for text in texts]
    assert max(map(of.count, of)) <= 2 and len(set(of)) == len(stored), texts  # the kill may have come before a commit
    assert daemon.stop() == 0
    print(f"{how}: {len(alerts)} alerts, {len(came)} raised, {len(left)} left")


def refused(folder, replay):
    place = folder.within("refused")
    daemon = start(place, folder, replay, "aggTrade, kline, bookTicker", "daemon")
    price = f"{last_of(daemon) * 3:.2f}"
    for args, code, words in (({"symbol": "BTCUSDT"}, "EINVAL", "args.above: a price is needed, here or as below"),
                              ({"symbol": "BTCUSDT", "above": "1", "below": "2"}, "EINVAL", "one of the two"),
                              ({"symbol": "BTCUSDT", "above": "0"}, "EINVAL", "a price above 0 is needed"),
                              ({"symbol": "BTCUSDT", "below": "-5"}, "EINVAL", "a price above 0 is needed"),
                              ({"symbol": "BTCUSDT", "below": "many"}, "EINVAL", "a decimal number is needed"),
                              ({"symbol": "BTCUSDT", "below": 5}, "EINVAL", "a decimal number as a string is needed"),
                              ({"symbol": "BTCUSDT", "above": "99999999999999999999"}, "EINVAL", "too large"),
                              ({"symbol": "BTCUSDT", "above": "0.1234567890123"}, "EINVAL", "digits after the point"),
                              ({"symbol": "BTCUSDT", "above": "1.00"}, "EINVAL", "BTCUSDT trades at"),
                              ({"symbol": "BTCUSDT", "below": price}, "EINVAL", "already: a price that is still to come is needed"),
                              ({"symbol": "BTCUSD", "above": "1"}, "UNKNOWN_SYMBOL", "BTCUSDT"),
                              ({"above": "1"}, "EINVAL", "args.symbol"),
                              ({"symbol": "BTCUSDT", "above": price, "beyond": "1"}, "EINVAL", "no such argument")):
        error = harness.control(daemon, "price_alert", args).get("error")
        assert error and error["code"] == code and words in error["message"], (args, error)
    for number, code in ((None, "EINVAL"), ("1", "EINVAL"), (0, "EINVAL"), (77, "ENOENT")):
        error = harness.control(daemon, "price_alert_remove", {"price_alert": number})["error"]
        assert error["code"] == code, (number, error)
    assert listed(daemon) == {}

    # By the verb, as people do; the same key is the same alert, the same price another one's is refused.
    assert daemon.papertape("alerts", "price", "btcusdt", "--above", price, "--key", "k1") == \
        f"price alert 1: BTCUSDT at {price} or above\n"
    assert daemon.papertape("alerts", "price", "btcusdt", "--above", price, "--key", "k1").endswith("or above (done before)\n")
    assert "price alert 1 is the same" in daemon.papertape("alerts", "price", "BTCUSDT", "--above", price, status=1)
    assert "--above: " in daemon.papertape("alerts", "price", "BTCUSDT", "--above", "1", status=1)
    assert "--above" in daemon.papertape("alerts", "price", "BTCUSDT", status=2)
    daemon.papertape("alerts", "price", "ETHUSDT", "--below", "0.01")
    table = daemon.papertape("alerts", "prices")
    assert re.search(r"^ +1 +BTCUSDT +above +" + re.escape(price) + r" +[0-9.]+ +yes +\S+ \S+Z$", table, re.M), table
    shown = daemon.status_object()["price_alerts"]
    assert [(a["price_alert"], a["symbol"], a["side"], a["price"]) for a in shown] == \
        [(1, "BTCUSDT", "above", float(price)), (2, "ETHUSDT", "below", 0.01)], shown

    # A symbol that goes keeps its alerts, which wait.
    assert "price alerts of it: 1, which wait" in daemon.papertape("symbol", "remove", "ETHUSDT")
    assert [a["streamed"] for a in listed(daemon).values()] == [True, False]
    assert "is not streamed" in daemon.papertape("alerts", "price", "ETHUSDT", "--below", "0.02", status=1)
    assert daemon.papertape("alerts", "remove-price", "1") == f"removed price alert 1: BTCUSDT at {price} or above\n"
    assert "removed already" in daemon.papertape("alerts", "remove-price", "1", status=1)
    assert daemon.stop(signal.SIGKILL) == -signal.SIGKILL
    daemon = start(place, folder, replay, "aggTrade, kline, bookTicker", "again")
    assert list(listed(daemon)) == [2]
    assert harness.control(daemon, "price_alert", {"symbol": "BTCUSDT", "above": price})["result"]["price_alert"] == 3
    near = ladder(daemon, 0)  # aggregated trades reach them too
    harness.wait_for(lambda: raised(daemon), "one that is raised")
    check(daemon, near)
    assert daemon.stop() == 0


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "30"))
        harness.together(folder, lambda f: lives(f, replay, "trade, kline, bookTicker", "at"),
                         lambda f: lives(f, replay, "kline\n[engine]\nfill_model = bar", "in the bar of"),
                         lambda f: refused(f, replay))
        assert replay.stop() == 0


main()
