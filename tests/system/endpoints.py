#!/usr/bin/env python3
"""A venue's endpoint that is refused blocks its own symbols alone: more symbols than the plan takes, a feed that it has not, a
second connection; and a symbol of the other asset class is added without a restart."""

import datetime
import os
import sys

import harness
import stock_bars
import wsclient

DAY = datetime.date(2025, 12, 1)
NAMES = [f"X{chr(65 + i // 26)}{chr(65 + i % 26)}" for i in range(31)]


def bars(path, names, minutes=380):
    """Files whose prices go up and down by a cent, from 9:32 in New York on."""
    at = stock_bars.at(DAY, 9, 32)
    paths = []
    for name in names:
        paths.append(os.path.join(path, f"{name}_1m.csv"))
        stock_bars.write(paths[-1], [stock_bars.Bar(at + 60 * i, 10000, 10001, 9999, 10000, 6000) for i in range(minutes)])
    return paths


def start(folder, name, symbols, feed, *plan, refused_s="900"):
    """A replay at five minutes a second, and what starts the daemon."""
    path = folder.within(name)
    replay = folder.start(harness.Alpaca(path, "--bars", *bars(path, [*NAMES, "BTC-USD"]), "--speed", "300", *plan))
    config = harness.alpaca_config(replay.keys, f"[feed]\nrefused_s = {refused_s}\n{harness.IDLE_ACCOUNT}",
                                   symbols=", ".join(symbols), feed=feed)
    return replay, lambda: folder.start(harness.Daemon(folder.path, replay, config, name=name, state=f"{name}-state"))


def alert(daemon, code):
    """The open alert of that code, or None."""
    rows = daemon.query(f"SELECT text FROM alerts WHERE code = '{code}' AND closed_ns IS NULL ORDER BY id DESC LIMIT 1")
    return rows[0][0] if rows else None


def trades(daemon, symbol, qty):
    """A market order in it is filled."""
    placed = harness.control(daemon, "order", {"account": "usd", "symbol": symbol, "side": "buy", "qty": qty})
    assert placed["ok"], placed
    daemon.wait_status(lambda s: any(p["symbol"] == symbol for p in s["positions"]), f"a position in {symbol}")


def said(daemon):
    return daemon.papertape("--once", status=None)


def streamed(symbol, state="ok"):
    return lambda s: any(x["symbol"] == symbol and x["stream"] == "trade" and x["frames"] > 3 and x["state"] == state
                         for x in s["feed"]["streams"])


def limit(folder):
    """31 symbols on the free plan: the last of the configuration is not subscribed, by 405's words; the rest trades."""
    _, daemon = start(folder, "limit", [*NAMES, "BTC/USD"], "iex", "--plan", "free")
    daemon = daemon()
    daemon.wait_status(lambda s: streamed(NAMES[29])(s) and streamed("BTC/USD")(s), "trades of the 30th and of BTC/USD")
    text = harness.wait_for(lambda: alert(daemon, "symbol-limit"), "the alert")
    assert f"not subscribed: {NAMES[30]}: " in text and "405 symbol limit exceeded" in text and "30 of 31" in text, text
    status = daemon.wait_status(lambda s: s["feed"]["state"] not in ("ok", "connecting"), "a state that is not ok")
    assert status["feed"]["state"] == "stale" and "405" in status["venues"][0]["detail"], status["venues"]
    assert not any(x["frames"] for x in status["feed"]["streams"] if x["symbol"] == NAMES[30])
    assert "feed      alpaca ok" not in said(daemon)
    for symbol, qty in ((NAMES[0], "10"), (NAMES[29], "10"), ("BTC/USD", "0.5")):
        trades(daemon, symbol, qty)
    assert harness.control(daemon, "symbol_remove", {"symbol": NAMES[7]})["ok"]  # makes room
    daemon.wait_status(lambda s: streamed(NAMES[30])(s) and s["feed"]["state"] == "ok", "the symbol that had no room")
    assert alert(daemon, "symbol-limit") is None
    assert daemon.stop() == 0
    print("limit:", text)


def refused(folder):
    """The consolidated feed is not the free plan's: crypto trades on, also where it is added later."""
    _, daemon = start(folder, "refused", [NAMES[0], "BTC/USD"], "sip", "--plan", "free")
    daemon = daemon()
    daemon.wait_status(lambda s: streamed("BTC/USD")(s), "trades of BTC/USD")
    text = harness.wait_for(lambda: alert(daemon, "feed"), "the alert")
    assert "1 of 2 connections are up" in text and "409 insufficient subscription" in text and "feed = iex" in text, text
    status = daemon.status_now()
    venue = status["venues"][0]
    assert (venue["state"], venue["connections"], venue["connections_up"]) == ("failed", 2, 1) and status["feed"]["state"] == "failed", venue
    assert "409" in venue["detail"] and 0 < venue["retry_in_ms"] <= 960000, venue
    assert "ok" not in said(daemon).split("feed      ")[1].split(",")[0]
    trades(daemon, "BTC/USD", "0.5")
    assert not any(x["frames"] or x["state"] == "ok" for x in status["feed"]["streams"] if x["symbol"] == NAMES[0])
    assert daemon.stop() == 0
    print("refused:", text)


def taken(folder):
    """Another program holds the connection of stocks."""
    replay, daemon = start(folder, "taken", [NAMES[0], "BTC/USD"], "iex")
    other = wsclient.WebSocket(f"{replay.urls['ws_url']}/v2/iex", replay.ca)
    other.send('{"action":"auth","key":"PKTEST","secret":"hush"}')
    while "authenticated" not in other.receive():
        pass
    daemon = daemon()
    daemon.wait_status(lambda s: streamed("BTC/USD")(s), "trades of BTC/USD")
    text = harness.wait_for(lambda: alert(daemon, "feed"), "the alert")
    assert "406 connection limit exceeded" in text and "end the other program" in text, text
    status = daemon.status_now()
    assert status["feed"]["state"] == "retry" and 0 < status["feed"]["retry_in_ms"] <= 310000, status["feed"]
    trades(daemon, "BTC/USD", "0.5")
    assert daemon.stop() == 0
    print("taken:", text)


def closed_alerts(daemon, code):
    return daemon.query(f"SELECT count, closed_ns IS NOT NULL FROM alerts WHERE code = '{code}'")


def again(folder):
    """Every endpoint is refused: tried again, and reached once the other program has ended; the alert is raised once."""
    replay, daemon = start(folder, "again", [NAMES[0]], "iex", refused_s="1")
    other = wsclient.WebSocket(f"{replay.urls['ws_url']}/v2/iex", replay.ca)
    other.send('{"action":"auth","key":"PKTEST","secret":"hush"}')
    while "authenticated" not in other.receive():
        pass
    daemon = daemon()
    daemon.wait_status(lambda s: s["feed"]["state"] == "retry", "a refusal")
    text = harness.wait_for(lambda: alert(daemon, "feed"), "the alert")
    assert "not reached yet" in text and "406 connection limit exceeded" in text, text
    status = daemon.wait_status(lambda s: s["venues"][0]["connect_budget_used"] >= 3 and s["feed"]["state"] == "retry", "the third attempt")
    assert status["venues"][0]["market"] == "regular" and closed_alerts(daemon, "feed") == [(1, 0)], status["venues"]
    assert "market regular" in said(daemon)
    other.close()
    daemon.wait_status(lambda s: streamed(NAMES[0])(s) and s["feed"]["state"] == "ok", "the connection")
    harness.wait_for(lambda: closed_alerts(daemon, "feed") == [(1, 1)], "the end of the alert")
    trades(daemon, NAMES[0], "10")
    assert daemon.stop() == 0


def planless(folder):
    """The plan has no such feed, and there is no other endpoint: tried again all the same."""
    _, daemon = start(folder, "planless", [NAMES[0]], "sip", "--plan", "free", refused_s="1")
    daemon = daemon()
    status = daemon.wait_status(lambda s: s["venues"][0]["connect_budget_used"] >= 3 and s["feed"]["state"] == "failed", "the third attempt")
    assert "409" in status["venues"][0]["detail"] and status["venues"][0]["retry_in_ms"] <= 61000, status["venues"]
    assert status["venues"][0]["market"] == "regular" and closed_alerts(daemon, "feed") == [(1, 0)], status["venues"]
    assert not closed_alerts(daemon, "venue-refused") and daemon.stop() == 0


def added(folder):
    """A stock where only crypto was streamed, and the other way round: streamed and traded, without a restart."""
    for name, first, second in (("stock", "BTC/USD", NAMES[0]), ("coin", NAMES[0], "BTC/USD")):
        _, daemon = start(folder, name, [first], "iex")
        daemon = daemon()
        daemon.wait_status(streamed(first), f"trades of {first}")
        assert harness.control(daemon, "symbol_add", {"symbol": second})["ok"]
        status = daemon.wait_status(lambda s: streamed(second)(s) and s["feed"]["state"] == "ok" and all(
            x["bars"] >= 5 for x in s["symbols"]), f"trades and bars of {second}")
        assert status["venues"][0]["market"] == "regular" and status["venues"][0]["connections"] == 2, status["venues"]
        trades(daemon, second, "0.5" if "/" in second else "10")
        trades(daemon, first, "0.5" if "/" in first else "10")
        alerts = daemon.query("SELECT code, text FROM alerts WHERE severity != 'info' AND code != 'fill'")
        assert not alerts, alerts
        assert daemon.stop() == 0


def main():
    with harness.Folder() as folder:
        harness.together(folder, limit, refused, taken, again, planless, added)


if __name__ == "__main__":
    sys.exit(main())
