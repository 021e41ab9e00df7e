#!/usr/bin/env python3
"""Accounts whose orders are filled at their venue, papertape-replay, which loses, repeats and delays requests, answers and user
data, while the daemon is killed between sending and its answer: each client id is one order there or none, states, fills and
balances are the venue's at the end, the ledger adds up and a replay of the log gives it again. A wiped venue halts the account,
refused keys are reported, and other hosts are refused."""

import csv
import decimal
import hashlib
import hmac
import io
import json
import os
import random
import re
import signal
import subprocess
import time
import urllib.parse

import harness

KILLS = 200 if harness.LONG else 2
KILLS_BETWEEN = 200 if harness.LONG else 1  # sending an order and its acknowledgement
FAULTS = ("order:lost-request", "order:lost-answer", "order:twice", "order:5xx-done", "order:5xx-not-done", "order:late:12s",
          "user:drop", "user:dup", "user:reorder")
STATES = {"NEW": "OPEN", "PARTIALLY_FILLED": "PARTIAL", "FILLED": "FILLED", "CANCELED": "CANCELED", "EXPIRED": "EXPIRED",
          "new": "OPEN", "accepted": "OPEN", "partially_filled": "PARTIAL", "filled": "FILLED", "canceled": "CANCELED",
          "expired": "EXPIRED"}


class Binance:
    name, symbol, base, currency = "binance", "BTCUSDT", "BTC", "USDT"
    unsaid = ()
    doubles = True  # a client id is good again once its order has filled

    def __init__(self, folder, *faults):
        path = os.path.join(folder, "known")
        with open(path, "w", encoding="ascii") as file:
            file.write("key1 hmac hush\n")
        self.market = "[market]\nsymbols = BTCUSDT\n"
        self.replay = harness.Replay(folder, "--synthetic", "7", "--keys", path, *faults)

    def signed(self, method, path, **arguments):
        query = urllib.parse.urlencode({"symbol": self.symbol, "timestamp": int(time.time() * 1000), **arguments})
        query += "&signature=" + hmac.new(b"hush", query.encode(), hashlib.sha256).hexdigest()
        return get(self.replay, f"{path}?{query}", {"X-MBX-APIKEY": "key1"}, method)

    def elsewhere(self, side, quantity, **limit):
        """An order that is not the daemon's."""
        return self.signed("POST", "/api/v3/order", side=side, quantity=quantity, newClientOrderId="web_1" if limit else "web_2",
                           type="LIMIT" if limit else "MARKET", **limit)

    def orders(self):
        """(client id, state, filled) of all there are."""
        rows = self.signed("GET", "/api/v3/allOrders", limit=1000)
        return [(row["clientOrderId"], row["status"], float(row["executedQty"])) for row in rows]

    def fees(self, booked):
        """What it took, by asset: its fills say it."""
        return booked


class Alpaca:
    name, symbol, base, currency = "alpaca", "BTC/USD", "BTC", "USD"
    unsaid = ("VENUE_BALANCE",)  # no fill says its fee, which is less where the order rested: fees() has it
    headers = {"APCA-API-KEY-ID": "key1", "APCA-API-SECRET-KEY": "hush"}
    doubles = False

    def __init__(self, folder, *faults):
        self.market = f"[market]\nvenue = alpaca\nsymbols = BTC/USD\n[venue alpaca]\nkeys = {os.path.join(folder, 'keys')}\n"
        self.replay = harness.Replay(folder, "--venue", "alpaca", "--synthetic", "7", "--keys", "key1:hush", *faults)

    def orders(self):
        rows = get(self.replay, "/v2/orders?status=all&limit=500", self.headers)
        return [(row["client_order_id"], row["status"], float(row["filled_qty"])) for row in rows]

    def fees(self, booked):
        """0.15 % of what was received where the order rested, else 0.25 %, what is less than a unit cut off."""
        moment = lambda text: text.rstrip("Z").rstrip("0")  # with more or fewer digits
        sent = {row["id"]: moment(row["submitted_at"]) for row in get(self.replay, "/v2/orders?status=all&limit=500", self.headers)}
        fees, page = dict.fromkeys(booked, 0), None
        while page != []:
            after = f"&page_token={page[-1]['id']}" if page else ""
            page = get(self.replay, "/v2/account/activities/FILL?page_size=100" + after, self.headers)
            for row in page:
                quantity, price = decimal.Decimal(row["qty"]), decimal.Decimal(row["price"])
                asset, received = (self.base, quantity) if row["side"] == "buy" else (self.currency, quantity * price)
                rate = "0.0025" if moment(row["transaction_time"]) == sent[row["order_id"]] else "0.0015"
                fees[asset] += (received * decimal.Decimal(rate)).quantize(decimal.Decimal("1e-9"), decimal.ROUND_DOWN)
        return fees


def get(replay, path, headers, method="GET"):
    return json.loads(harness.rest(replay, path, headers=headers, method=method))


def write_keys(folder, secret):
    return harness.write_keys(folder, "keys", secret, "key1")


def start(folder, inside, venue, secret="hush", strategy="strategy = none\n", interval=""):
    keys = write_keys(inside, secret)
    urls = venue.replay.urls
    return folder.start(harness.Daemon(inside, venue.replay, f"""{venue.market}{interval}{harness.NO_LIMITS}[account paper]
currency = {venue.currency}
{strategy}execution = venue-paper
execution_keys = {keys}
execution_rest_url = {urls["rest_url"]}
execution_ws_url = {urls["ws_url"]}
execution_reconcile_s = 1
"""))


def at_venue(status):
    return status["accounts"][0]["venue_account"] if status["accounts"] else {}


def attached(daemon):
    return daemon.wait_status(lambda s: at_venue(s).get("attached") and at_venue(s)["link"] == "up" and s["symbols"][0]["bid"],
                              "an account that is attached, and a price")


def place_some(daemon, venue, draw, status):
    """Market orders and limit orders at the market, half and half; what is refused here is never sent."""
    for _ in range(draw.randint(1, 3)):
        limit = ["--limit", f"{status['symbols'][0]['bid'] * draw.uniform(0.999, 1.001):.2f}"] if draw.random() < 0.5 else []
        daemon.papertape("order", draw.choice(("buy", "buy", "sell")), venue.symbol, draw.choice(("0.01", "0.002")), *limit, status=None)


def settled(daemon):
    """All orders have ended, and the balances were compared since."""
    since = daemon.wait_status(lambda s: not s["orders"] and at_venue(s).get("attached"), "the end of all orders", 2 * harness.PATIENCE)["now_ns"]
    return daemon.wait_status(lambda s: (at_venue(s).get("reconciled") or {}).get("balances_compared")
                              and at_venue(s)["reconciled"]["at_ns"] > since + 5_000_000_000, "balances compared after it")


def compare(daemon, venue):
    """States, fills and quantities are the venue's; of a client id it has one order or none, or two where the request arrived twice,
    and then we have two as well. Returns how many orders it has, and how many of them are second ones."""
    there, here, seconds = {}, {}, 0
    scale = 10 ** daemon.query(f"SELECT qty_scale FROM symbols WHERE name = '{venue.symbol}'")[0][0]
    for client_id, state, quantity in venue.orders():
        there.setdefault(int(client_id.rsplit("-", 1)[1]), []).append((STATES[state], round(quantity * scale)))
    rows = daemon.query("SELECT id, tag, state, qty, filled FROM orders")
    assert all(filled <= qty for _, _, _, qty, filled in rows), rows
    fills = dict(daemon.query("SELECT order_id, SUM(qty) FROM fills GROUP BY order_id"))
    assert fills == {order: filled for order, _, _, _, filled in rows if filled}
    for order, tag, state, _, filled in rows:
        second = re.fullmatch(r"second of (\d+)", tag or "")
        seconds += second is not None
        here.setdefault(int(second[1]) if second else order, []).append((state, filled))
    for order, of_it in there.items():
        assert len(of_it) <= 1 + venue.doubles and sorted(here.pop(order)) == sorted(of_it), (order, of_it, rows)
    assert {row for of_it in here.values() for row in of_it} <= {("REJECTED", 0), ("CANCELED", 0)}, here
    assert len(daemon.query("SELECT 1 FROM alerts WHERE code = 'VENUE_DUPLICATE'")) == seconds
    return sum(map(len, there.values())), seconds


def compare_fees(daemon, venue):
    """What was booked as deposited since the attachment is what the venue took less than was booked as fees."""
    sums = lambda table: {asset: sum((decimal.Decimal(amount).scaleb(-scale) for _, amount, scale in rows), decimal.Decimal(0))
                          for asset in (venue.base, venue.currency)
                          for rows in [[row for row in table if row[0] == asset]]}
    booked = sums(daemon.query("SELECT asset, -amount, scale FROM ledger WHERE kind = 'fee'"))
    flows = sums(daemon.query("SELECT asset, amount, scale FROM ledger l WHERE kind = 'deposit' "
                              "AND id > (SELECT min(id) FROM ledger WHERE asset = l.asset)"))
    fees = venue.fees(booked)
    assert flows == {asset: booked[asset] - fees[asset] for asset in booked}, (flows, booked, fees)


def killed(folder, kind):
    """The venue fails, the daemon is killed at any moment."""
    inside = folder.within(kind.name)
    venue = kind(inside, *[part for name in FAULTS for part in ("--fault", name)])
    folder.start(venue.replay)
    draw = random.Random(29)
    daemon = start(folder, inside, venue)
    for kill in range(KILLS):
        status = attached(daemon)
        if kill % 10 == 9:  # each start is another wait for what is unknown
            daemon.wait_status(lambda s: not at_venue(s)["unknown"], "no order of unknown outcome")
        place_some(daemon, venue, draw, status)
        if kill % 10 == 1:  # then what follows waits for that
            daemon.papertape("order", "cancel", "--all", status=None)
        time.sleep(draw.uniform(0, 0.3))  # not to wait for anything: the moment of the kill
        daemon.stop(signal.SIGKILL)
        daemon = start(folder, inside, venue)
    attached(daemon)
    daemon.papertape("order", "cancel", "--all", status=None)
    settled(daemon)
    orders, seconds = compare(daemon, venue)
    compare_fees(daemon, venue)
    alerts = {code for code, in daemon.query("SELECT code FROM alerts WHERE code LIKE 'VENUE%' "
                                             "AND NOT (code = 'VENUE_ACCOUNT' AND text LIKE '%limit of requests is nearly used up')")}  # by many starts
    assert not daemon.query("SELECT 1 FROM alerts WHERE code = 'VENUE_LOST' AND text NOT LIKE '%: it never reached the venue'")
    assert alerts <= {"VENUE_UNKNOWN", "VENUE_REFUSED", "VENUE_LOST", *(("VENUE_DUPLICATE",) if seconds else ()), *kind.unsaid}, alerts
    daemon.papertape("ledger", "verify")
    daemon.papertape("parity")
    assert daemon.stop() == 0 and venue.replay.stop() == 0
    print(f"{kind.name}: {KILLS} kills, {orders} orders, {seconds} of them by requests that arrived twice")


def killed_between(folder, kind):
    """The daemon is killed when the venue has taken the order, and the daemon does not know it yet: by the venue's transcript, and by the
    order as the killed daemon has left it."""
    inside = folder.within(f"{kind.name}-between")
    transcript = os.path.join(inside, "transcript")
    venue = kind(inside, "--transcript", transcript)
    def arrived(client_id):
        """By what the venue says it has answered: the answer's bytes wait."""
        with open(transcript, encoding="utf-8", errors="replace") as file:
            return any(line.startswith("0 rest POST ") and f'"{client_id}"' in line for line in file)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    between = 0
    for kill in range(1, KILLS_BETWEEN + 1):
        status = attached(daemon)
        limit = ["--limit", f"{status['symbols'][0]['bid'] * 1.05:.2f}"] if kill % 4 == 0 else []  # which takes
        for text in ("slow:1B/s", "slow-answer:20B/s"):  # user data, and the answer, wait
            harness.fault(venue.replay, text)
        daemon.papertape("order", *(("sell", venue.symbol, "0.002") if kill % 4 == 2 else ("buy", venue.symbol, "0.004")), *limit)
        harness.wait_for(lambda: arrived(f"{at_venue(status)['prefix']}-{kill}"), "the request at the venue")
        daemon.stop(signal.SIGKILL)
        between += daemon.query(f"SELECT state, filled FROM orders WHERE id = {kill}") == [("PENDING", 0)]
        harness.fault(venue.replay, "none")
        daemon = start(folder, inside, venue)
    attached(daemon)
    daemon.papertape("order", "cancel", "--all", status=None)
    settled(daemon)
    assert between == KILLS_BETWEEN, f"{between} of {KILLS_BETWEEN} kills were between an order's sending and its acknowledgement"
    assert compare(daemon, venue) == (KILLS_BETWEEN, 0)
    compare_fees(daemon, venue)
    daemon.papertape("ledger", "verify")
    daemon.papertape("parity")
    assert daemon.stop() == 0 and venue.replay.stop() == 0
    print(f"{kind.name}: {between} kills between an order's sending and its acknowledgement, of {KILLS_BETWEEN} meant so")


def by_strategy(folder):
    """A strategy's orders at the venue, while it fails by a schedule and its streams fail as well, those of prices and those of the
    user: each order is one there, and the books are the venue's."""
    inside = folder.within("strategy")
    faults = ("order:lost-answer@2s+300s", "order:5xx-done@2s+300s", "dup", "reorder", "gap@book", "garbage", "close@1500",
              "user:drop@2s+300s", "user:reorder@2s+300s")
    venue = Binance(inside, *[part for name in faults for part in ("--fault", name)])
    folder.start(venue.replay)
    daemon = start(folder, inside, venue, interval="interval = 1s\n", strategy="""strategy = sma-cross-rsi
strategy.fast = 2
strategy.slow = 4
strategy.rsi_max = 100
strategy.fraction = 0.1
""")
    attached(daemon)
    stored(daemon, "SELECT 1 FROM (SELECT count(DISTINCT order_id) AS n FROM fills) WHERE n >= 6 "
                   "AND EXISTS (SELECT 1 FROM alerts WHERE code = 'VENUE_UNKNOWN')")
    daemon.papertape("pause")
    daemon.papertape("order", "cancel", "--all", status=None)
    settled(daemon)
    orders, seconds = compare(daemon, venue)
    assert orders >= 6 and seconds == 0 and not daemon.query("SELECT 1 FROM orders WHERE by_hand"), (orders, seconds)
    compare_fees(daemon, venue)
    assert not daemon.query("SELECT 1 FROM alerts WHERE code IN ('VENUE_BALANCE', 'VENUE_LOST')")
    daemon.papertape("ledger", "verify")
    daemon.papertape("parity")
    assert daemon.stop() == 0 and venue.replay.stop() == 0
    print(f"{orders} orders of a strategy, under faults of orders and of streams")


def arrives_again(venue, prefix, order, side):
    """The request of a market order, which has filled."""
    assert venue.signed("POST", "/api/v3/order", side=side, type="MARKET", quantity="0.01", newClientOrderId=f"{prefix}-{order}")["status"] == "FILLED"


def doubled(folder):
    """A request that arrives twice makes two orders of one client id: the second one is an order of its own here, found in user data, and
    after a kill by the comparison."""
    inside = folder.within("doubled")
    venue = Binance(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    prefix = at_venue(attached(daemon))["prefix"]
    second = lambda of: stored(daemon, f"SELECT id FROM orders WHERE tag = 'second of {of}' AND state = 'FILLED'")[0][0]
    def ordered(side):
        daemon.papertape("order", side, venue.symbol, "0.01")
        return stored(daemon, "SELECT max(id) FROM orders WHERE state = 'FILLED' HAVING max(id) = (SELECT max(id) FROM orders)")[0][0]
    for kill in (False, True):
        order = ordered("buy")
        if kill:
            daemon.stop(signal.SIGKILL)
        arrives_again(venue, prefix, order, "BUY")
        if kill:
            daemon = start(folder, inside, venue)
        twin = second(order)
        theirs = sorted(row["orderId"] for row in venue.signed("GET", "/api/v3/allOrders", limit=1000) if row["clientOrderId"] == f"{prefix}-{order}")
        assert len(theirs) == 2
        for one, there in ((order, theirs[0]), (twin, theirs[1])):
            assert f"at the venue: client id {prefix}-{order}, its id {there}\n" in (text := daemon.papertape("explain", str(one))), text
    harness.fault(venue.replay, "order:twice")  # every fourth
    for side in ("buy", "buy", "sell", "sell"):
        ordered(side)
    settled(daemon)
    orders, seconds = compare(daemon, venue)
    assert (orders, seconds) == (9, 3), (orders, seconds)
    compare_fees(daemon, venue)
    assert not daemon.query("SELECT 1 FROM alerts WHERE code = 'VENUE_BALANCE'")
    daemon.papertape("ledger", "verify")
    daemon.papertape("parity")
    assert daemon.stop() == 0 and venue.replay.stop() == 0


def without_log(folder, inside, venue, daemon):
    """The database alone says how the account is attached: nothing is booked again, and its order is known there."""
    rows = daemon.query("SELECT asset, SUM(amount) FROM ledger GROUP BY asset")
    assert daemon.stop() == 0
    os.rename(os.path.join(daemon.state, "events"), os.path.join(daemon.state, "events.gone"))
    daemon = start(folder, inside, venue)
    status = daemon.wait_status(lambda s: at_venue(s).get("attached") and (at_venue(s)["reconciled"] or {}).get("at_ns"),
                                "an account that was attached, compared")
    assert status["recovery"]["from"] == "database" and [o["state"] for o in status["orders"]] == ["OPEN"], status["orders"]
    assert daemon.query("SELECT asset, SUM(amount) FROM ledger GROUP BY asset") == rows
    return daemon


def wiped(folder, kind):
    """As a testnet is now and then: the account is halted, and a reset attaches it again."""
    inside = folder.within(f"{kind.name}-wiped")
    venue = kind(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    attached(daemon)
    daemon.papertape("order", "buy", venue.symbol, "0.01")
    daemon.wait_status(lambda s: s["positions"], "a position")
    daemon.papertape("order", "buy", venue.symbol, "0.01", "--limit", "50000.00")
    daemon.wait_status(lambda s: any(o["state"] == "OPEN" for o in s["orders"]), "an order that rests there")
    daemon = without_log(folder, inside, venue, daemon)
    daemon.papertape("order", "cancel", "--all")
    settled(daemon)
    assert daemon.stop() == 0
    daemon = start(folder, inside, venue)  # which knows of no order but by the engine's state
    settled(daemon)
    if kind is Binance:
        resting(daemon, venue)
    flows = "SELECT count(*) FROM ledger WHERE kind IN ('deposit', 'withdrawal')"
    (booked,), = daemon.query(flows)
    harness.fault(venue.replay, "wipe")
    if kind is Binance:  # at Alpaca its keys end
        harness.wait_for(lambda: not venue.orders(), "the wipe")
    since = time.monotonic()
    daemon.papertape("order", "buy", venue.symbol, "0.01", status=None)  # which the venue knows, until the account is halted
    daemon.wait_status(lambda s: at_venue(s).get("halted"), "an account that is halted")
    took = time.monotonic() - since
    assert took < 1 + 20 + 5 or harness.SANITIZED, f"{took} s, of execution_reconcile_s = 1 and 20 s"
    text = stored(daemon, "SELECT text FROM alerts WHERE code = 'VENUE_HALTED'")[0][0]
    assert "account paper is halted" in text, text
    if kind is Binance:
        assert "is not known there any more" in text, text
        assert stored(daemon, "SELECT 1 FROM alerts WHERE code = 'VENUE_ACCOUNT' AND text LIKE '%holds its orders back%'")
    assert daemon.query(flows) == [(booked,)], daemon.query("SELECT * FROM ledger")
    assert "not attached" in daemon.papertape("order", "buy", venue.symbol, "0.01", status=1)
    daemon.papertape("account", "reset", "paper")
    attached(daemon)
    assert daemon.stop() == 0 and venue.replay.stop() == 0


def refused(folder):
    inside = folder.within("refused")
    venue = Binance(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue, secret="other")
    daemon.wait_status(lambda s: any(a["code"] == "VENUE_ACCOUNT" for a in s["alerts_by_code"]), "an alert of keys that are refused")
    assert daemon.stop() == 0
    daemon = folder.start(harness.Daemon(inside, venue.replay, f"""{venue.market}[account paper]
execution = venue-paper
execution_keys = {os.path.join(inside, "keys")}
execution_rest_url = https://api.binance.com
""", name="production"))
    assert daemon.popen.wait(harness.PATIENCE) == 2
    assert "production.ini:6: [account paper] execution_rest_url: api.binance.com is no host of paper accounts" in daemon.log_text()
    assert venue.replay.stop() == 0


def configured(folder):
    """What the next start would refuse, --check-config and a reload refuse with file and line; and keys that were refused are
    tried again by a reload."""
    inside = folder.within("configured")
    venue = Binance(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue, secret="other")
    daemon.wait_status(lambda s: any(a["code"] == "VENUE_ACCOUNT" for a in s["alerts_by_code"]), "an alert of keys that are refused")
    assert "account paper at binance: not attached" in daemon.papertape("doctor", "daemon", status=None)
    write_keys(inside, "hush")
    assert "[account paper] execution_keys" in daemon.papertape("reload")
    status = attached(daemon)
    said = daemon.papertape("account", "deposit", "paper", "1", status=1)
    assert "the account is at its venue: money is moved there" in said, said
    assert venue.orders() == [] and len(at_venue(status)["prefix"]) == 8
    daemon.papertape("order", "buy", venue.symbol, "0.01")
    daemon.wait_status(lambda s: s["positions"], "a position")
    assert [client_id for client_id, _, _ in venue.orders()] == [at_venue(status)["prefix"] + "-1"]
    daemon.papertape("order", "buy", venue.symbol, "0.01", "--limit", "50000.00")
    assert "is reset only while it is halted or has no open orders: it has 1 (0 held here), as order 2: " \
        "order cancel --all --account paper" in (said := daemon.papertape("account", "reset", "paper", status=1)), said
    daemon.papertape("order", "cancel", "--all")
    settled(daemon)
    daemon.papertape("order", "buy", venue.symbol, "0.01", "--bracket-take-profit", "90000.00", "--bracket-stop", "30000.00")
    stop, = stored(daemon, "SELECT id FROM orders WHERE type = 'STOP' AND state = 'OPEN'")[0]
    venue.signed("DELETE", "/api/v3/order", origClientOrderId=f"{at_venue(status)['prefix']}-{stop}")
    profit = daemon.wait_status(lambda s: [o["state"] for o in s["orders"]] == ["PENDING"] and at_venue(s)["orders"] == 0,
                                "the profit, which is held here, alone")["orders"][0]["order"]
    assert f"it has 1 (1 held here), as order {profit}: order cancel --all --account paper" \
        in (said := daemon.papertape("account", "reset", "paper", status=1)), said
    again = ("order", "buy", venue.symbol, "0.01", "--limit", "50000.00", "--client-id", "again")
    daemon.papertape(*again)
    daemon.papertape("order", "cancel", "--all", "--account", "paper")
    settled(daemon)
    given, = daemon.query("SELECT id FROM orders WHERE client_id = 'again'")[0]
    assert daemon.papertape(*again) == f"order {given} CANCELED (given before)\n"
    assert json.loads(daemon.papertape(*again, "--json"))["state"] == "CANCELED"
    with open(daemon.config, encoding="utf-8") as file:
        before = file.read()
    line = before.split("\n").index("execution = venue-paper") + 1
    def becomes(text):
        with open(daemon.config, "w", encoding="utf-8") as file:
            file.write(text)
    second = os.path.join(inside, "second")
    with open(os.open(second, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write("key1\nhush\n")
    becomes(before + f"[account second]\nstrategy = none\nexecution = venue-paper\nexecution_keys = {second}\n")
    same = "[account second] execution_keys: [account paper] has these keys"
    assert same in daemon.papertape("reload", status=1)
    checked = subprocess.run([harness.DAEMON, "--check-config", "--config", daemon.config], capture_output=True, text=True,
                             timeout=harness.PATIENCE)
    last = len(before.split("\n")) + 3
    assert checked.returncode == 2 and f":{last}: {same}" in checked.stderr, (checked.stdout, checked.stderr)
    becomes("\n".join("" if row.startswith("execution_") else row.replace("venue-paper", "model") for row in before.split("\n")))
    fixed = f"{daemon.config}:{line}: [account paper] execution: the account has execution = venue-paper, which cannot change"
    assert fixed in daemon.papertape("reload", status=1)
    assert daemon.stop() == 0
    again = folder.start(harness.Daemon(inside, venue.replay, open(daemon.config, encoding="utf-8").read(), name="again"))
    assert again.popen.wait(harness.PATIENCE) == 2
    assert "[account paper] execution: the account has execution = venue-paper, which cannot change" in again.log_text()
    assert venue.replay.stop() == 0


def stored(daemon, query):
    harness.wait_for(lambda: daemon.query(query), f"a row: {query}")
    return daemon.query(query)


def listed(daemon, *verb):
    """The same rows as JSON and as CSV."""
    answer = json.loads(daemon.papertape(*verb, "--json"))
    rows = list(csv.DictReader(io.StringIO(daemon.papertape(*verb, "--csv"))))
    return next(value for value in answer.values() if isinstance(value, list)), rows


def bought_elsewhere(daemon, venue):
    """What it cost is a withdrawal, and no return."""
    assert venue.elsewhere("BUY", "1")["status"] == "FILLED"
    status = daemon.wait_status(lambda s: s["accounts"][0]["equity"] < 990000, "what was bought elsewhere in the balances")
    account = status["accounts"][0]
    stored(daemon, "SELECT 1 FROM ledger WHERE asset = 'USDT' AND amount < 0")
    for rows in listed(daemon, "ledger", "list"):
        moved, = [row for row in rows if row["kind"] == "withdrawal"]
        assert moved["asset"] == "USDT" and abs(float(moved["amount"]) - account["equity"] + 1000000) < 1e-6, rows
    assert "  withdrawal  " in daemon.papertape("ledger", "list")
    assert (account["return_pct"], account["drawdown_pct"], account["day_pnl"]) == (0, 0, 0), account
    of, = [part for part in json.loads(daemon.papertape("report", "--json"))["accounts"] if part["account"] == "paper"]
    assert (of["return_share"], of["max_drawdown_share"], float(of["pnl"])) == (0, 0, 0), of


def resting(daemon, venue):
    daemon.papertape("order", "buy", venue.symbol, "0.01", "--limit", "50000.00")
    return daemon.wait_status(lambda s: any(o["state"] == "OPEN" for o in s["orders"]), "an order that rests")["orders"][0]["order"]


def amounts(folder):
    """An amount of dollars becomes as many digits of a share, or of a coin, as the venue lists; what is not sent there."""
    inside = folder.within("amounts")
    venue = Alpaca(inside, "--from", "2026-01-15T15:00:20Z")  # in the session
    venue.market = venue.market.replace("BTC/USD", "AAPL BTC/USD")
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    attached(daemon)
    daemon.wait_status(lambda s: len(s["symbols"]) == 2 and all(row["bid"] for row in s["symbols"]), "prices of both")
    for n, symbol in enumerate(("AAPL", "BTC/USD"), 1):
        daemon.papertape("order", "buy", symbol, "--notional", "50")
        stored(daemon, f"SELECT 1 FROM orders WHERE id = {n} AND state IN ('FILLED', 'REJECTED', 'CANCELED')")
    there = {row["symbol"]: row for row in get(venue.replay, "/v2/orders?status=all", venue.headers)}
    for symbol in ("AAPL", "BTC/USD"):
        assert there[symbol]["status"] == "filled" and len(there[symbol]["filled_qty"].partition(".")[2]) > 5, there[symbol]
    assert daemon.query("SELECT state FROM orders") == [("FILLED",)] * 2
    closed(daemon)
    for words in (("oco", "sell", "AAPL", "1", "--take-profit", "400", "--stop", "10"), ("sell", "AAPL", "1", "--trail", "1%"),
                  ("buy", "AAPL", "1", "--tif", "cls")):
        said = daemon.papertape("order", *words, status=1)
        assert "orders of that kind are not sent to the venue: see docs/venue-paper.md" in said, (words, said)
    assert daemon.stop() == 0 and venue.replay.stop() == 0


def closed(daemon):
    """A position is closed with less than a lot of it left: each line of the order's states says something. What rounding makes of fees
    that the venue does not say is booked, and no alert."""
    daemon.papertape("order", "sell", "BTC/USD", "0.01", "--reduce-only")
    sale, = stored(daemon, "SELECT id FROM orders WHERE side = 'SELL' AND state = 'FILLED'")[0]
    states = [line.split("event")[0].split(None, 2)[2].strip() for line in daemon.papertape("explain", str(sale)).splitlines()
              if re.match(r"  20\d\d-", line) and "event" in line]
    assert len(states) == len(set(states)) >= 3, states
    small = [text for code, text in daemon.query("SELECT code, text FROM alerts") if code == "VENUE_BALANCE"]
    assert not small, small


def added_early(folder):
    """Before a venue has answered a reload adds no account at its venue; a start does."""
    inside = folder.within("early")
    keys = write_keys(inside, "hush")
    text = "[market]\nsymbols = BTCUSDT\nws_url = wss://127.0.0.1:1\nrest_url = https://127.0.0.1:1\n"
    daemon = folder.start(harness.Daemon(inside, None, text))
    harness.wait_for(lambda: daemon.status_object(), "a daemon without a venue")
    with open(daemon.config, "w", encoding="utf-8") as file:
        file.write(text + f"[account paper]\nstrategy = none\nexecution = venue-paper\nexecution_keys = {keys}\n")
    said = daemon.papertape("reload", status=1)
    assert f"{daemon.config}:7: [account paper] execution: before a venue has answered" in said, said
    assert daemon.stop() == 0


def explained(daemon, venue, prefix):
    """An order's ids at the venue; many fills are summed, and the first and last of them listed."""
    daemon.papertape("order", "buy", venue.symbol, "10")
    stored(daemon, "SELECT 1 FROM orders WHERE id = 1 AND state = 'FILLED'")
    there = next(row for row in venue.signed("GET", "/api/v3/allOrders", limit=1000) if row["clientOrderId"] == prefix + "-1")
    text = daemon.papertape("explain", "1")
    assert f"at the venue: client id {prefix}-1, its id {there['orderId']}\n" in text, text
    order, = json.loads(daemon.papertape("explain", "1", "--json"))["orders"]
    assert (order["venue_client_id"], order["venue_order_id"]) == (prefix + "-1", str(there["orderId"]))
    quantity, spent = float(there["executedQty"]), float(there["cummulativeQuoteQty"])
    n = len(order["fills"])
    summed = re.search(r"^Fills: (\d+), on average at ([0-9.]+), fees ([0-9.]+) BTC$", text, re.MULTILINE)
    assert int(summed[1]) == n > 10 and abs(float(summed[2]) - spent / quantity) < 1e-4, summed
    assert abs(float(summed[3]) - sum(fill["fee_base"] for fill in order["fills"])) < 1e-9, summed
    assert text.count("    fill ") == 8 and f"{n - 8} more fills, with --full" in text, text
    assert daemon.papertape("explain", "1", "--full").count("    fill ") == n
    reported, = json.loads(daemon.papertape("report", "--json"))["accounts"]
    row, = reported["symbols"]
    taken = sum(fill["fee_base"] for fill in json.loads(daemon.papertape("fills", "--json"))["fills"])
    assert row["base"] == "BTC" and abs(row["fees_base"] - taken) < 1e-9 < taken and row["fees"] == 0, row
    assert f"and fees of {taken:.8f} BTC, of what was bought" in daemon.papertape("report")
    daemon.papertape("order", "sell", venue.symbol, "99999", status=1)  # never given to the venue
    order, = json.loads(daemon.papertape("explain", "2", "--json"))["orders"]
    assert (order["venue_client_id"], order["venue_order_id"]) == ("", ""), order
    daemon.papertape("order", "buy", venue.symbol, "0.01", "--limit", "90000.00", "--post-only")
    stored(daemon, "SELECT 1 FROM orders WHERE id = 3 AND reason = 'VENUE_REFUSED'")
    words, text = "Order would immediately match and take.", daemon.papertape("explain", "3")
    assert f"\n  accepted here, and refused by the venue: VENUE_REFUSED: {words}\n" in text and "group" not in text, text
    order, = json.loads(daemon.papertape("explain", "3", "--json"))["orders"]
    assert order["verdict"]["accepted"] is True and order["venue_words"] == words and order["final"]["reason"] == "VENUE_REFUSED", order


def ended_there(daemon, venue, prefix):
    """A bracket's stop and one by hand that are cancelled at the venue: alerts, which say that the position is without it."""
    daemon.papertape("order", "buy", venue.symbol, "0.01", "--bracket-take-profit", "90000", "--bracket-stop", "30000")
    stop, = stored(daemon, "SELECT id FROM orders WHERE type = 'STOP' AND state = 'OPEN'")[0]
    assert "\nheld here (emulated): ordered at its venue once it is due\n" in daemon.papertape("explain", str(stop - 1))
    for hand in (False, True):
        if hand:
            daemon.papertape("order", "sell", venue.symbol, "0.01", "--stop", "30000.00", "--reduce-only")
            stop, = stored(daemon, f"SELECT id FROM orders WHERE type = 'STOP' AND state = 'OPEN' AND id > {stop}")[0]
        venue.signed("DELETE", "/api/v3/order", origClientOrderId=f"{prefix}-{stop}")
        (text,), = stored(daemon, f"SELECT text FROM alerts WHERE code = 'VENUE_LOST' AND text LIKE 'order {stop} %'")
        assert "canceled it, which papertape had not asked for: the position is without it" in text, text
        explained = daemon.papertape("explain", str(stop))
        assert "\nCANCELED VENUE_LOST: " in explained and "\nended at its venue, which papertape had not asked for\n" in explained, explained


def shown(folder):
    """What the status has of a venue's account is where a trader looks, orders from elsewhere too."""
    inside = folder.within("shown")
    venue = Binance(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    prefix = at_venue(attached(daemon))["prefix"]
    venue.elsewhere("BUY", "0.25", price="50000.00", timeInForce="GTC")
    daemon.wait_status(lambda s: at_venue(s)["external"] and at_venue(s)["reconciled"], "an order from elsewhere, after a comparison")
    stored(daemon, f"SELECT 1 FROM meta WHERE key = 'at_venue paper' AND value = '{prefix}'")
    words = daemon.papertape("status")
    assert "binance: attached, user data up, 0 orders, 1 external, compared " in words and f"ago, ids {prefix}-ORDER" in words, words
    for rows in listed(daemon, "account", "list"):
        assert (rows[0]["at_venue"], rows[0]["venue_prefix"], int(rows[0]["unknown_orders"])) == ("attached", prefix, 0), rows
        assert float(rows[0]["us_equity_fee_taker"]) == 0  # the last field of all
    assert f"paper         attached    {prefix}" in daemon.papertape("account", "list")
    for rows in listed(daemon, "orders", "--external"):
        assert len(rows) == 1 and [rows[0][key] for key in ("account", "symbol", "side", "type", "state", "client_id")] \
            == ["paper", venue.symbol, "BUY", "LIMIT", "NEW", "web_1"] and float(rows[0]["qty"]) == 0.25, rows
    assert "from elsewhere" in (table := daemon.papertape("orders")) and "web_1" in table, table
    bought_elsewhere(daemon, venue)
    explained(daemon, venue, prefix)
    ended_there(daemon, venue, prefix)
    said = daemon.papertape("order", "amend", str(resting(daemon, venue)), "--limit", "49000.00", status=1)
    assert "an order at a venue is not amended: cancel it and give a new one" in said, said
    daemon.papertape("order", "cancel", "--all")
    daemon.wait_status(lambda s: not s["orders"], "no order of ours")
    assert ("web_1", "NEW", 0.0) in venue.orders(), venue.orders()  # it is left alone
    assert daemon.stop() == 0 and venue.replay.stop() == 0
    assert "web_1" not in daemon.papertape("orders")


def stepped(folder):
    """The venue's clock steps either way while the daemon runs: its time is read again with the first refusal, the order is sent by it,
    and the status and CLOCK_OFFSET have the new offset; user data that are refused for their time come up, too."""
    inside = folder.within("stepped")
    venue = Binance(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    attached(daemon)
    offset = lambda s: s["venues"][0]["clock_offset_ms"] / 1000
    steps = (("clock:+30s", 30), ("clock:-30s", -30), ("none", 0))
    for order, (step, seconds) in enumerate(steps, 1):
        before = (at_venue(daemon.status_object())["reconciled"] or {}).get("at_ns", 0)
        harness.fault(venue.replay, step)
        status = daemon.wait_status(lambda s: (at_venue(s)["reconciled"] or {}).get("at_ns", 0) > before, "a comparison after it")
        assert abs(status["now_ns"] - at_venue(status)["reconciled"]["at_ns"]) < 10_000_000_000, status["now_ns"]
        daemon.papertape("order", "buy", venue.symbol, "0.01")
        daemon.wait_status(lambda s: abs(offset(s) - seconds) < 1, f"the offset after {step}")
        harness.wait_for(lambda: daemon.query(f"SELECT state FROM orders WHERE id = {order}") == [("FILLED",)], f"the order after {step}")
        latency = daemon.status_object()["venues"][0]["latency_p99_ms"]
        assert latency < 5000, f"{latency} ms after {step}: the clock's offset"
        if seconds:
            stored(daemon, "SELECT 1 FROM alerts WHERE code = 'CLOCK_OFFSET'")
    assert len(venue.orders()) == len(steps) == daemon.query("SELECT COUNT(*) FROM orders")[0][0]
    assert not daemon.query("SELECT 1 FROM alerts WHERE code = 'VENUE_REFUSED'")
    daemon.wait_status(lambda s: at_venue(s)["link"] == "up" and at_venue(s)["reconciled"]["balances_compared"], "a comparison")
    assert daemon.stop() == 0 and venue.replay.stop() == 0


def by_time(folder):
    """DAY and GTD, which the venue does not have: sent as GTC, said so, and cancelled there at their end, by the next start too."""
    inside = folder.within("by-time")
    venue = Binance(inside)
    folder.start(venue.replay)
    daemon = start(folder, inside, venue)
    attached(daemon)
    buy = ("order", "buy", venue.symbol, "0.01")
    low = (*buy, "--limit", "30000.00")
    rest = {}
    for more in (("--tif", "day"), ("--tif", "day", "--post-only"), ("--tif", "gtd", "--expire", "2099-01-01T00:00:00Z"),
                 ("--tif", "gtd", "--expire", "2099-01-01T00:00:00Z", "--stop", "99999.00")):
        words = "is sent as GTC, and cancelled at " + ("2099-01-01T00:00:00" if "gtd" in more else "20")
        assert words in (said := daemon.papertape(*low, *more, "--dry-run")), said
        assert words in (said := daemon.papertape(*low, *more)), said
        order = int(re.match(r"order (\d+) PENDING\n", said)[1])
        sent, = json.loads(daemon.papertape(*low, *more, "--json"))["sent"]
        assert (sent["order"], sent["as"]) == (order + 1, "GTC") and sent["ends_ns"] > time.time_ns(), sent
        explained = daemon.papertape("explain", str(order))
        assert "\nsent as GTC: papertape asks for its cancel at 20" in explained, explained
        rest |= dict.fromkeys((order, order + 1), "NEW")
    assert "sent" not in json.loads(daemon.papertape(*low, "--json"))
    for form in ((), ("--dry-run",)):  # what the venue does not have, and cannot be emulated, is refused here
        assert "orders of that kind are not sent to the venue" in daemon.papertape(*buy, "--tif", "fok", *form, status=1)
    states = lambda: {int(name.split("-")[1]): state for name, state, _ in venue.orders()}
    rest[max(rest) + 1] = "NEW"
    harness.wait_for(lambda: states() == rest, "all of them at the venue")
    assert {row["timeInForce"] for row in venue.signed("GET", "/api/v3/openOrders")} == {"GTC"}
    ends_in = lambda seconds: ("--tif", "gtd", "--expire", str(int(time.time()) + seconds))
    ended = json.loads(daemon.papertape(*low, *ends_in(2), "--json"))["order"]
    stored(daemon, f"SELECT 1 FROM orders WHERE id = {ended} AND state = 'CANCELED' AND reason = ''")
    daemon.papertape(*low, *(last := ends_in(10)))  # time enough to see it open, and to kill the daemon
    stored(daemon, f"SELECT 1 FROM orders WHERE id = {ended + 1} AND state = 'OPEN'")
    assert daemon.stop(signal.SIGKILL) == -signal.SIGKILL
    harness.wait_for(lambda: time.time() > int(last[-1]), "its end, without a daemon")
    assert states() == rest | {ended: "CANCELED", ended + 1: "NEW"}
    daemon = start(folder, inside, venue)
    stored(daemon, f"SELECT 1 FROM orders WHERE id = {ended + 1} AND state = 'CANCELED'")
    assert states() == rest | dict.fromkeys((ended, ended + 1), "CANCELED")
    assert not daemon.query("SELECT 1 FROM alerts WHERE code IN ('VENUE_REFUSED', 'VENUE_LOST')")
    assert daemon.stop() == 0 and venue.replay.stop() == 0


def main():
    print(f"counts: {KILLS} kills of a daemon, {KILLS_BETWEEN} between an order's sending and its acknowledgement (PAPERTAPE_LONG: 200, 200)")
    with harness.Folder() as folder:
        harness.together(folder, lambda folder: killed(folder, Binance), lambda folder: killed(folder, Alpaca),
                         lambda folder: killed_between(folder, Binance), lambda folder: killed_between(folder, Alpaca), doubled, lambda folder: wiped(folder, Binance),
                         lambda folder: wiped(folder, Alpaca), by_strategy, refused, configured, shown, added_early,
                         amounts, stepped, by_time)


if __name__ == "__main__":
    main()
