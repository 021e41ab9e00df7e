#!/usr/bin/env python3
"""The control socket as strangers use it: requests in a heap, half-closed, not read, too long, not JSON; and the daemon
started while its venue is away, or silent, which still knows what it holds."""

import json
import re
import signal
import socket
import sys
import threading
from decimal import Decimal

import harness

CONFIG = "[market]\ninterval = 1s\nhistory = 50\n[engine]\nlatency_ms = 0\n[account hand]\ncash = 50000\nstrategy = none\n"
RESIDENT_GROWTH_MAX = 64 << 20  # bytes, sanitizers included; what is bounded is a MiB a client


def answers(client):
    """All the answers until the daemon closes."""
    data = b""
    while True:
        part = client.recv(1 << 16)
        if not part:
            return [json.loads(line) for line in data.splitlines()]
        data += part


BUY = {"side": "buy", "symbol": "BTCUSDT", "qty": "0.01"}
ACCOUNT = {"name": "x", "currency": "USDT", "cash": "1"}
WRONG = (  # arguments of commands that are refused before the engine is asked, or by it
    ("order", dict(BUY, type="iceberg"), "EINVAL"), ("order", dict(BUY, type="limit"), "EINVAL"),
    ("order", dict(BUY, type="market", limit="5"), "EINVAL"), ("order", dict(BUY, limit="x"), "EINVAL"),
    ("order", dict(BUY, tif="forever"), "EINVAL"), ("order", dict(BUY, limit="59000", expire_ns=-1), "EINVAL"),
    ("order", dict(BUY, limit="59000", expire_ns=1), "BAD_TIF"), ("order", dict(BUY, tif="day"), "BAD_TIF"),
    ("order", dict(BUY, client_id=37 * "x"), "EINVAL"), ("order", dict(BUY, client_id="a b"), "EINVAL"),
    ("order", dict(BUY, post_only="yes"), "EINVAL"), ("order", dict(BUY, trail="1", trail_percent="1"), "EINVAL"),
    ("order", dict(BUY, trail_percent="100"), "EINVAL"), ("order", dict(BUY, group="oto"), "EINVAL"),
    ("order", dict(BUY, group="oco", take_profit={"limit": "66000"}), "EINVAL"),
    ("order", dict(BUY, group="oco", take_profit=[], stop_loss={}), "EINVAL"),
    ("order", dict(BUY, take_profit={"limit": "66000"}), "EINVAL"), ("order", dict(BUY, nonsense=1), "EINVAL"),
    ("amend", {}, "EINVAL"), ("amend", {"order": 1}, "EINVAL"), ("amend", {"order": 999999, "qty": "1"}, "UNKNOWN_ORDER"),
    ("amend", {"client_id": "none", "qty": "1"}, "UNKNOWN_ORDER"), ("cancel", {"all": "yes"}, "EINVAL"),
    ("cancel", {"order": 1, "all": True}, "EINVAL"), ("cancel", {"all": True, "symbol": "DOGE"}, "UNKNOWN_SYMBOL"),
    ("account_create", {}, "EINVAL"), ("account_create", dict(ACCOUNT, name="a b"), "EINVAL"),
    ("account_create", dict(ACCOUNT, currency="EUR"), "EINVAL"), ("account_create", dict(ACCOUNT, cash="-1"), "EINVAL"),
    ("account_create", dict(ACCOUNT, currency="BTC"), "EINVAL"),
    ("account_create", dict(ACCOUNT, strategy="nope"), "EINVAL"), ("account_create", dict(ACCOUNT, fee_taker="2"), "EINVAL"),
    ("account_create", dict(ACCOUNT, strategy="sma-cross-rsi", params={"nope": "1"}), "EINVAL"),
    ("account_create", dict(ACCOUNT, fees="vip1", fee_taker="0"), "EINVAL"),
    ("account_create", dict(ACCOUNT, name="hand"), "BAD_ACCOUNT"),
    ("account_deposit", {"account": "hand"}, "EINVAL"), ("account_deposit", {"account": "hand", "amount": "0"}, "EINVAL"),
    ("account_deposit", {"account": "hand", "amount": "99999999999999999999"}, "EINVAL"),
    ("account_deposit", {"account": "hand", "amount": "-60000"}, "INSUFFICIENT_BALANCE"),
    ("account_deposit", {"account": "absent", "amount": "1"}, "UNKNOWN_ACCOUNT"),
    ("account_transfer", {"from": "hand", "to": "hand", "amount": "1"}, "BAD_ACCOUNT"),
    ("account_reset", {"account": "hand", "cash": "-1"}, "EINVAL"))


def wrong_arguments(daemon):
    """Each is refused with a code and one sentence, on one connection, and nothing has happened."""
    with harness.connect(daemon) as client:
        for number, (cmd, args, _) in enumerate(WRONG):
            client.sendall(json.dumps({"id": number, "cmd": cmd, "args": args}).encode() + b"\n")
        client.shutdown(socket.SHUT_WR)
        got = {answer["id"]: answer for answer in answers(client)}
    for number, (cmd, args, code) in enumerate(WRONG):
        answer = got[number]
        assert answer["ok"] is False and answer["error"]["code"] == code, (cmd, args, answer)
        assert answer["error"]["message"] and "\n" not in answer["error"]["message"], answer
    status = daemon.status_object()
    assert [a["account"] for a in status["accounts"]] == ["hand"] and not status["orders"] and not status["positions"], status
    assert status["accounts"][0]["cash"] == 50000, status["accounts"]
    print(f"{len(WRONG)} commands with wrong arguments refused")


def strangers(daemon):
    with harness.connect(daemon) as client:  # all at once, then the end: each is answered, commands in order
        client.sendall(b'{"id":1,"cmd":"pause"}\n{"id":2,"cmd":"resume"}\n{"id":"three","cmd":"ping"}')
        client.shutdown(socket.SHUT_WR)
        got = answers(client)
    assert {a["id"] for a in got} == {1, 2, "three"} and all(a["ok"] for a in got), got
    assert [a["id"] for a in got if a["id"] in (1, 2)] == [1, 2], got

    for request, code in ((b"nonsense", "EINVAL"), (b"[1]", "EINVAL"), (b'{"id":1}', "EINVAL"),
                          (b'{"id":1,"cmd":"dance"}', "ENOSYS"), (b'{"id":1,"cmd":"pause","args":[]}', "EINVAL"),
                          (b'{"id":1,"cmd":"flatten"}', "EINVAL"),
                          (b'{"id":1,"cmd":"order","args":{"side":"buy","symbol":"BTCUSDT","qty":1}}', "EINVAL"),
                          (b'{"id":1,"cmd":"order","args":{"side":"buy","symbol":"X","qty":"1"}}', "UNKNOWN_SYMBOL"),
                          (b'{"id":1,"cmd":"cancel","args":{"order":-1}}', "EINVAL"),
                          (b'{"id":1,"cmd":"book","args":{"symbol":"BTCUSDT","levels":0}}', "EINVAL"),
                          (b"\xff\xfe", "EINVAL"), (b"x" * 70000, "EMSGSIZE")):
        with harness.connect(daemon) as client:
            client.sendall(request + b"\n")
            client.shutdown(socket.SHUT_WR)
            got = answers(client)
        assert len(got) == 1 and got[0]["ok"] is False and got[0]["error"]["code"] == code, (request[:60], got)

    with harness.connect(daemon) as client:  # null is an argument that is not given
        client.sendall(b'{"id":1,"cmd":"book","args":{"symbol":"BTCUSDT","levels":null}}\n')
        client.shutdown(socket.SHUT_WR)
        got = answers(client)
    assert len(got) == 1 and got[0]["ok"] and len(got[0]["result"]["bids"]) <= 20, got

    before = daemon.resident()
    with harness.connect(daemon) as client:  # asks and asks and never reads: it waits, the daemon does not grow
        client.setblocking(False)
        asked = 0
        while True:
            try:
                asked += client.send(b'{"id":1,"cmd":"status"}\n' * 500)
            except BlockingIOError:
                break
        assert daemon.status_object() is not None
        grown = daemon.resident() - before
        assert grown < RESIDENT_GROWTH_MAX, grown
    print(f"a client that does not read: {asked} bytes of requests taken, {grown} bytes grown")


DRY_REFUSED = (  # by the venue's rules, the account, the gate; each in the words that the order gets
    dict(BUY, qty="0.0000001"), dict(BUY, qty="10"), dict(BUY, side="sell"), dict(BUY, limit="59000.001"),
    dict(BUY, limit="1000000"), dict(BUY, limit="59000", tif="day", expire_ns=1), dict(BUY, qty="0.00001"),
    dict(BUY, limit="59000", reduce_only=True), dict(BUY, limit="59000", group="oco"),
    dict(BUY, group="bracket", stop_loss={"stop": "99000"}, limit="59000"), dict(BUY, symbol="X"), dict(BUY, account="x"))


def dry_runs(daemon):
    """Nothing is ordered, stored or recorded; what is answered is what the order then is."""
    def rows():
        return [daemon.query(f"SELECT count(*) FROM {table}")[0][0] for table in ("commands", "orders", "ledger", "fills")]

    def recorded():
        shown = daemon.papertape("events", "show", "--seq", "1", "--n", "1000000").splitlines()
        return sum(" COMMAND " in line for line in shown)

    before, log = rows(), recorded()
    last = harness.control(daemon, "order", dict(BUY, limit="50000"))["result"]["order"]
    harness.wait_for(lambda: recorded() > log, "the order in the log")
    log, before = recorded(), [before[0] + 1, before[1] + 1, *before[2:]]
    assert rows() == before, (rows(), before)
    taken = harness.control(daemon, "order", dict(BUY, limit="50000", dry_run=True))["result"]
    assert taken["legs"] == [{"symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT", "tif": "GTC", "qty": "0.01", "limit": "50000"}]
    assert (taken["notional"], taken["fill"], taken["currency"]) == ("500", None, "USDT"), taken
    free, after, held = (Decimal(taken["reserve"][key]) for key in ("free", "free_after", "amount"))
    assert free - after == held == Decimal("500.5") and taken["fee"] == "0.5", taken  # 0.1 %
    fill = harness.control(daemon, "order", dict(BUY, dry_run=True, client_id="unused"))["result"]["fill"]
    price, notional, fee = (Decimal(fill[key]) for key in ("price", "notional", "fee"))
    assert fill["qty"] == "0.01" and 0 <= notional - price * Decimal("0.01") < Decimal("0.0001"), fill  # a mean, cut to 0.01
    assert 0 <= fee - notional / 1000 < Decimal("1e-7"), fill  # a level's fee is rounded up
    for args in DRY_REFUSED:
        dry = harness.control(daemon, "order", dict(args, dry_run=True))["error"]
        assert dry["message"] and "(order" not in dry["message"], dry
        args["dry"] = dry
    refused = harness.control(daemon, "order", dict(BUY, dry_run="yes"))["error"]
    assert refused["message"] == "args.dry_run: true or false is needed", refused
    text = daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--limit", "50000", "--dry-run")
    assert text.startswith("would be BUY LIMIT 0.01 BTCUSDT limit 50000 tif GTC, account hand\n") and text.endswith("nothing was ordered\n"), text
    assert rows() == before and not daemon.status_object()["positions"]
    next_one = harness.control(daemon, "order", dict(BUY, limit="50000", client_id="unused"))["result"]["order"]
    assert next_one == last + 1, (last, next_one)
    harness.wait_for(lambda: recorded() == log + 1, "one order more in the log, and no dry run")
    free_now = Decimal(harness.control(daemon, "order", dict(BUY, limit="50000", dry_run=True))["result"]["reserve"]["free"])
    assert free_now == after, (free_now, after)
    for args in DRY_REFUSED:
        dry = args.pop("dry")
        real = harness.control(daemon, "order", args)["error"]
        words = [re.sub("[0-9.]+", "N", error["message"].split(" (order ")[0]) for error in (real, dry)]  # the price moves
        assert real["code"] == dry["code"] and words[0] == words[1], (args, real, dry)
    daemon.papertape("order", "cancel", "--all")
    daemon.wait_status(lambda s: not s["orders"], "no orders")
    print(f"{len(DRY_REFUSED)} dry runs refused in the order's words; nothing was stored or recorded")


def without_venue(folder, replay):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "a book in step")
    strangers(daemon)
    wrong_arguments(daemon)
    dry_runs(daemon)
    daemon.papertape("order", "buy", "BTCUSDT", "0.05")
    daemon.wait_status(lambda s: s["positions"], "a position")
    assert daemon.stop() == 0

    away = "\nws_url = wss://127.0.0.1:9\nrest_url = https://127.0.0.1:9\n"
    daemon = folder.start(harness.Daemon(folder.path, None, CONFIG.replace("history = 50", "history = 50" + away)))
    status = daemon.wait_status(lambda s: s["positions"] and s["feed"]["state"] == "retry", "the position without the venue")
    assert status["positions"][0]["qty"] == 0.05, status
    assert status["symbols"][0]["stale"] is True, status["symbols"]
    daemon.papertape("pause")
    assert daemon.status_object()["trading"] == "paused"
    daemon.papertape("resume")
    refused = daemon.papertape("order", "sell", "BTCUSDT", "0.05", status=1)
    assert "STALE" in refused or "NO_LIQUIDITY" in refused, refused
    lines = [line for line in daemon.log_text().splitlines() if "does not answer" in line]
    assert len(lines) == 1 and "127.0.0.1" in lines[0], lines
    assert daemon.stop() == 0

    idle = "[account idle]\ncurrency = EUR\ncash = 100\n"
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG + idle))  # the venue is back
    daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["positions"], "the venue again")
    assert json.loads(daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    words = "no streamed symbol is quoted in it; quoted: USDT"
    refused = harness.control(daemon, "account_create", dict(ACCOUNT, currency="BTC"))["error"]["message"]
    assert refused == f"args.currency: BTC: {words}", refused
    daemon.papertape("account", "create", "plain")  # as the configuration has an account by default
    plain = next(a for a in json.loads(daemon.papertape("account", "list", "--json"))["accounts"] if a["account"] == "plain")
    assert (plain["currency"], plain["opening_cash"]) == ("USDT", 10000), plain
    for name, *shorts in (("long",), ("both", "--shorts")):  # of a strategy that also sells short
        text = daemon.papertape("account", "create", name, "--strategy", "binance-day-trade", *shorts)
        assert ("trades long only" in text) == (not shorts), text
        text = f"account {name}: binance-day-trade trades long only: shorts = off"
        assert (text in daemon.log_text()) == (not shorts), daemon.log_text()[-2000:]
    daemon.papertape("account", "create", "rich", "--cash", "9999999999.12345678")
    for verb, names in (("status", ("cash", "equity", "deposits")), ("account list", ("cash", "equity", "opening_cash"))):
        text = daemon.papertape(*verb.split(), "--json")  # every digit, which a double has not
        assert all(f'"{name}":9999999999.12345678,' in text for name in names), text
    text = "account idle cannot trade: no streamed symbol is quoted in its currency EUR; quoted: USDT"
    harness.wait_for(lambda: text in daemon.papertape("alerts", "list", "--json"), "the alert of the idle account")
    assert daemon.stop() == 0
    print("without the venue: the position is shown, pause and resume are taken, an order is refused")


def slow_venue(folder, replay):
    """A venue that accepts the connection and sends nothing, for longer than the timeout: holdings are still known, and the feed
    continues once it answers."""
    replay.popen.send_signal(signal.SIGSTOP)
    try:
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="slow"))
        status = daemon.wait_status(lambda s: s["positions"], "the position while the venue is silent")
        assert status["positions"][0]["qty"] == 0.05 and status["feed"]["state"] != "ok", status
        assert status["symbols"][0]["price_decimals"] == 2, status["symbols"]
    finally:
        replay.popen.send_signal(signal.SIGCONT)
    daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["symbols"][0]["book"] == "synced", "the venue's answer")
    assert daemon.stop() == 0
    print("a venue that is silent: the position is shown")


class Late:
    """Forwards what a daemon and its venue say to each other, except the second request, which waits."""
    def __init__(self, url):
        self.venue = tuple(url.rsplit("/", 1)[1].rsplit(":", 1))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self.asked, self.go, self.sent = threading.Event(), threading.Event(), 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, venue = self.listener.accept()[0], socket.create_connection(self.venue)
            threading.Thread(target=self.requests, args=(client, venue), daemon=True).start()
            threading.Thread(target=self.answers, args=(venue, client), daemon=True).start()

    def requests(self, client, venue):
        """TLS record by record: of application data the first ends the handshake."""
        try:
            records = client.makefile("rb")
            while head := records.read(5):
                self.sent += head[0] == 23
                if self.sent == 3:
                    self.asked.set()
                    self.go.wait()
                venue.sendall(head + records.read(int.from_bytes(head[3:], "big")))
            venue.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of the two is gone

    def answers(self, venue, client):
        try:
            while data := venue.recv(1 << 16):
                client.sendall(data)
        except OSError:
            pass


def late_list(folder, replay):
    """The venue gives its time, but lists its symbols only after the daemon has started without one that is new."""
    late = Late(replay.urls["rest_url"])
    config = CONFIG.replace("[market]\n", f"[market]\nsymbols = XAAAUSDT, BTCUSDT, ETHUSDT\nws_url = {replay.urls['ws_url']}\nrest_url = {late.url}\n")
    daemon = folder.start(harness.Daemon(folder.path, None, config, ["--ca-file", replay.ca], name="late"))
    status = daemon.wait_status(lambda s: s["positions"], "the position while the list is awaited")
    assert late.asked.is_set() and [x["symbol"] for x in status["symbols"]] == ["BTCUSDT", "ETHUSDT"], status["symbols"]
    late.go.set()
    status = daemon.wait_status(lambda s: len(s["symbols"]) == 3 and all(x["book"] == "synced" for x in s["symbols"]), "all symbols")
    assert [x["symbol"] for x in status["symbols"]] == ["BTCUSDT", "ETHUSDT", "XAAAUSDT"], status["symbols"]
    assert daemon.stop() == 0
    print("a venue that lists late: what is new joins what was stored")


def main():
    with harness.Folder() as folder:
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "5", "--symbols", "3"))
        without_venue(folder, replay)
        slow_venue(folder, replay)
        late_list(folder, replay)
        assert replay.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
