#!/usr/bin/env python3
"""Kill -9 at random moments under load, and everything acknowledged is there again: orders, fills, keys; nothing twice;
ledger, event log and database clean each time. And what an engine remembers (trailing peaks, OCO, brackets,
indicators) is the same after a kill as before; a stop that the market crossed meanwhile is stated and fills."""

import hashlib
import json
import os
import random
import resource
import signal
import socket
import sys
import time

import harness
import wsclient

ROUNDS = 500 if harness.LONG else 3 if harness.SANITIZED else 6
VENUE_ROUNDS = 5  # of starts that a venue answers within a minute: each asks for two books, which weigh much
STATE_ROUNDS = 50  # on one state directory, all of which is verified in each
SYMBOLS = ("BTCUSDT", "ETHUSDT")
CONFIG = """
[market]
interval = 1s
history = 50
[engine]
latency_ms = 5
[events]
segment_mb = 1
[risk]
orders_per_second = 0
exposure_symbol = 0
exposure_account = 0
daily_loss = 0
[account main]
cash = 1000000
strategy = sma-cross-rsi
strategy.fast = 3
strategy.slow = 8
strategy.rsi_max = 95
strategy.fraction = 0.1
[account hand]
cash = 1000000
strategy = none
"""


class Client:
    """The control socket: questions go out without waiting, answers are sorted by id."""

    def __init__(self, daemon):
        self.socket = harness.connect(daemon)
        self.next, self.data, self.answers = 0, b"", {}

    def send(self, cmd, args):
        self.next += 1
        self.socket.settimeout(harness.PATIENCE)
        self.socket.sendall(json.dumps({"id": self.next, "cmd": cmd, "args": args}).encode() + b"\n")
        return self.next

    def read(self, wait):
        """Takes what has come; False when the daemon is gone."""
        self.socket.settimeout(wait)
        try:
            part = self.socket.recv(1 << 16)
        except (socket.timeout, BlockingIOError):
            return True
        except ConnectionResetError:
            return False
        if not part:
            return False
        *whole, self.data = (self.data + part).split(b"\n")
        for line in whole:
            answer = json.loads(line)
            self.answers[answer["id"]] = answer
        return True

    def ask(self, cmd, args):
        number = self.send(cmd, args)
        while number not in self.answers:
            assert self.read(harness.PATIENCE), f"{cmd}: the daemon went away"
        return self.answers.pop(number)

    def close(self):
        self.socket.close()


def price(value):
    return f"{value:.2f}"


def random_order(rng, marks, name):
    """Arguments of one order of any type, around the last price."""
    symbol = rng.choice(SYMBOLS)
    mark, qty = marks[symbol], {"BTCUSDT": "0.01", "ETHUSDT": "0.1"}[symbol]
    above, below = price(mark * rng.uniform(1.0005, 1.02)), price(mark * rng.uniform(0.98, 0.9995))
    args = {"symbol": symbol, "side": rng.choice(("buy", "buy", "sell")), "qty": qty, "account": "hand", "client_id": name}
    buys = args["side"] == "buy"
    args |= rng.choice((
        {}, {}, {},
        {"limit": below if buys else above, "tif": rng.choice(("gtc", "day")), "post_only": rng.random() < 0.5},
        {"limit": above if buys else below, "tif": rng.choice(("ioc", "fok"))},
        {"stop": above if buys else below},
        {"stop": above if buys else below, "limit": above if buys else below},
        {"type": "take-profit", "stop": below if buys else above},
        {"trail_percent": f"{rng.uniform(0.05, 1):.2f}"},
        {"trail": price(mark * 0.001)},
        {"group": "oco", "take_profit": {"limit": below if buys else above},
         "stop_loss": {"stop": above if buys else below}},
        {"group": "bracket", "take_profit": {"limit": above if buys else below},
         "stop_loss": {"trail_percent": "0.5"}},
    ))
    return args


def load(rng, daemon, marks, name, seconds):
    """Asks as fast as it can until the time is over. Returns what was asked, in order, each with its answer or None."""
    client, asked, sent, until = Client(daemon), {}, [], time.monotonic() + seconds
    while time.monotonic() < until:
        kind = rng.random()
        live = [a["result"]["order"] for a in client.answers.values() if a["ok"] and "order" in a["result"]]
        if kind < 0.8 or not live:
            cmd, args = "order", random_order(rng, marks, f"{name}-{client.next}")
        elif kind < 0.9:
            cmd, args = "cancel", {"order": rng.choice(live), "key": f"c-{name}-{client.next}"}
        else:
            cmd, args = "amend", {"order": rng.choice(live), "qty": "0.02", "key": f"a-{name}-{client.next}"}
        number = client.send(cmd, args)
        asked[number] = (cmd, args)
        sent.append(number)
        client.read(0.0005)
        while len(sent) - len(client.answers) > 40 and time.monotonic() < until:
            client.read(0.005)
    seen = daemon.query("SELECT * FROM fills ORDER BY id"), daemon.query("SELECT * FROM ledger ORDER BY id")
    daemon.popen.kill()
    daemon.popen.wait()
    while client.read(1):  # what was answered before the kill
        pass
    client.close()
    return [(*asked[number], client.answers.get(number)) for number in sent], seen


def clean(daemon):
    report = json.loads(daemon.papertape("ledger", "verify", "--json"))
    assert report["ok"] is True, report
    daemon.papertape("events", "verify")
    assert daemon.query("PRAGMA integrity_check") == [("ok",)]
    doubled = daemon.query("SELECT account, client_id, count(*) FROM orders WHERE client_id <> '' AND state <> 'REJECTED' "
                           "GROUP BY account, client_id HAVING count(*) > 1")
    assert not doubled, doubled
    return report


def check_round(daemon, done, seen):
    """Everything that was acknowledged or committed is there; what is asked again is not done again."""
    fills, ledger = daemon.query("SELECT * FROM fills ORDER BY id"), daemon.query("SELECT * FROM ledger ORDER BY id")
    assert fills[:len(seen[0])] == seen[0], "a committed fill is not what it was"
    assert ledger[:len(seen[1])] == seen[1], "a committed ledger row is not what it was"
    orders = {(row[0]): row[1:] for row in daemon.query("SELECT id, client_id, state FROM orders")}
    acknowledged = again = 0
    for cmd, args, answer in done:
        if cmd != "order" or not answer:
            continue
        acknowledged += 1
        if answer["ok"]:
            for order in answer["result"]["orders"]:
                assert order in orders and orders[order][1] != "REJECTED", (args, answer, orders.get(order))
            assert orders[answer["result"]["order"]][0] == args["client_id"], (args, answer)
    client = Client(daemon)
    for cmd, args, answer in done[-60:]:
        repeated = client.ask(cmd, args)
        if answer is None:  # never answered: done before the kill, or done now, but not twice
            continue
        again += 1
        assert repeated["ok"] == answer["ok"], (cmd, args, answer, repeated)
        if answer["ok"]:
            assert repeated["result"].pop("repeated") is True, repeated
            if cmd == "order":  # the state is what became of it, since it was read above too
                now, then = repeated["result"].pop("state"), orders[answer["result"]["order"]][1]
                assert now == then or then in ("PENDING", "OPEN", "PARTIAL", "HELD"), (now, then, args)
                answer["result"].pop("state")
            assert repeated["result"] == answer["result"], (cmd, args, answer, repeated)
        else:
            assert repeated["error"]["code"] == answer["error"]["code"], (answer, repeated)
        other = client.ask(cmd, args | {"qty": "0.05"} if cmd == "order" else args | {"order": 999999})
        assert other["ok"] is False and other["error"]["code"] == "DUPLICATE_ID", other
    client.close()
    return acknowledged, again


def check_runs(daemon):
    """Each run has its row: it ends with its last event, before the next one begins."""
    runs = daemon.query("SELECT run, began_ns, alive_ns, state FROM runs ORDER BY run")
    assert len(runs) > 2 and [run[0] for run in runs] == list(range(1, len(runs) + 1)), runs
    assert {run[3] for run in runs[:-1]} == {"killed"} and runs[-1][3] == "stopped", runs
    assert all(run[1] < run[2] for run in runs) and all(a[2] <= b[1] for a, b in zip(runs, runs[1:])), runs
    events = daemon.query("SELECT max(created_ns) FROM orders")[0][0]
    assert any(run[1] <= events <= run[2] for run in runs), (events, runs)
    report = json.loads(daemon.papertape("report", "--from", str(runs[0][1]), "--to", str(runs[-1][2]), "--json"))
    down = sum(b[1] - a[2] for a, b in zip(runs, runs[1:]))
    assert abs(report["down_s"] - down / 1e9) < 1e-6 and report["runs_killed"] == len(runs) - 1, (report["down_s"], down)
    assert report["outages"] == sum(b[1] > a[2] for a, b in zip(runs, runs[1:])) and report["uptime_unknown_s"] == 0, report


def kills(folder, rng, state, rounds):
    """On one state directory."""
    replay = None
    acknowledged = again = unanswered = 0
    done, seen = [], ([], [])
    for number in range(rounds):
        if number % VENUE_ROUNDS == 0:
            assert not replay or replay.stop() == 0
            replay = folder.start(harness.Replay(folder.path, "--synthetic", "23", "--speed", "5"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=state, state=state))
        status = daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" and x["last"] for x in s["symbols"]),
                                    f"round {number}: books in step")
        assert status["recovery"]["from"] == ("log" if number else "nothing"), status["recovery"]
        if number:
            counts = check_round(daemon, done, seen)
            acknowledged, again = acknowledged + counts[0], again + counts[1]
            clean(daemon)
        marks = {x["symbol"]: x["last"] for x in daemon.status_object()["symbols"]}
        done, seen = load(rng, daemon, marks, f"r{number}", rng.uniform(0.02, 0.8))
        unanswered += sum(answer is None for _, _, answer in done)
        if number % 10 == 9:  # and what rests does not pile up
            daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=state, state=state))
            daemon.wait_status(lambda s: s["accounts"] and s["feed"]["state"] == "ok", "the daemon, to be emptied")
            client = Client(daemon)
            assert client.ask("cancel", {"all": True, "account": "hand"})["ok"]
            client.close()
            daemon.popen.kill()
            daemon.popen.wait()
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name=state, state=state))
    daemon.wait_status(lambda s: s["accounts"] and s["feed"]["state"] == "ok", "the daemon after all kills")
    check_round(daemon, done, seen)
    assert replay.stop() == 0
    report = clean(daemon)
    parity = json.loads(daemon.papertape("parity", "--json"))
    assert parity["ok"] is True, parity
    assert daemon.stop() == 0
    check_runs(daemon)
    print(f"kill -9: {rounds} rounds, {acknowledged} acknowledged orders, {unanswered} never answered, {again} asked again; "
          f"{report['orders']} orders, {report['fills']} fills, {report['rows']} ledger rows; parity over "
          f"{parity['events']} events, {parity['runs']} runs", flush=True)


def memory_of(status):
    """What an engine remembers, as far as a status shows it."""
    symbols = [(x["symbol"], x["bars"], x["last_bar"], x["indicators"], x["last"]) for x in status["symbols"]]
    orders = sorted(status["orders"], key=lambda o: o["order"])
    positions = [(p["account"], p["symbol"], p["qty"], p["entry"], p["fifo_entry"]) for p in status["positions"]]
    accounts = [(a["account"], a["cash"], a["deposits"], a["realized"], a["fees"]) for a in status["accounts"]]
    return {"symbols": symbols, "orders": orders, "positions": positions, "accounts": accounts}


def remembers(folder):
    """The venue goes, so that nothing moves; the daemon is killed and comes up without it."""
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "31", "--from", "2024-01-01T00:00:00Z", "--speed", "20"))
    config = CONFIG.replace("latency_ms = 5", "latency_ms = 0")
    daemon = folder.start(harness.Daemon(folder.path, replay, config, name="memory", state="memory"))
    status = daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" and x["last"] for x in s["symbols"]),
                                "books in step")
    mark = next(x["last"] for x in status["symbols"] if x["symbol"] == "BTCUSDT")
    client = Client(daemon)
    for args in ({"qty": "0.5"},
                 {"qty": "0.1", "trail_percent": "2", "side": "sell", "client_id": "trail"},
                 {"qty": "0.1", "side": "sell", "group": "oco", "take_profit": {"limit": price(mark * 1.04)},
                  "stop_loss": {"stop": price(mark * 0.9)}, "client_id": "oco"},
                 {"qty": "0.1", "limit": price(mark * 0.95), "group": "bracket",
                  "take_profit": {"limit": price(mark * 1.04)}, "stop_loss": {"trail": "900"}, "client_id": "bracket"},
                 {"qty": "0.1", "group": "bracket", "take_profit": {"limit": price(mark * 1.04)},
                  "stop_loss": {"stop": price(mark * 0.9), "limit": price(mark * 0.85)}, "client_id": "entered"}):
        answer = client.ask("order", {"symbol": "BTCUSDT", "side": "buy", "account": "hand"} | args)
        assert answer["ok"], (args, answer)
        daemon.wait_status(lambda s: len(s["positions"]) > 0, "the position")
    created = client.ask("account_create", {"name": "later", "currency": "USDT", "cash": "5000", "shorts": True,
                                            "collateral": "1.5", "strategy": "sma-cross-rsi", "params": {"fast": "3", "slow": "9"},
                                            "key": "later"})
    assert created["ok"], created
    assert client.ask("account_transfer", {"from": "hand", "to": "later", "amount": "100.5", "key": "move"})["ok"]
    refused = client.ask("account_deposit", {"account": "later", "amount": "-1000000", "key": "much"})
    assert not refused["ok"], refused

    def kinds_of(orders):
        return {(order["type"], order["state"]) for order in orders}

    def rest(orders):
        return ({("TRAILING_STOP", "OPEN"), ("STOP", "OPEN"), ("TRAILING_STOP", "HELD"), ("STOP_LIMIT", "OPEN")} <= kinds_of(orders) and
                any(order["peak"] for order in orders if order["client_id"] == "trail"))

    bars = {x["symbol"]: x["bars"] for x in daemon.status_object()["symbols"]}
    daemon.wait_status(lambda s: rest(s["orders"]) and all(x["bars"] >= bars[x["symbol"]] + 20 for x in s["symbols"]),
                       "orders at rest, and some bars more")
    assert replay.stop(signal.SIGKILL) == -signal.SIGKILL
    before = harness.wait_for(lambda: settled(daemon), "nothing moves any more")
    kinds = kinds_of(before["orders"])
    assert rest(before["orders"]), before["orders"]
    client.close()
    daemon.popen.kill()
    daemon.popen.wait()

    away = "[market]\nws_url = wss://127.0.0.1:9\nrest_url = https://127.0.0.1:9\n"
    daemon = folder.start(harness.Daemon(folder.path, None, config.replace("[market]\n", away), name="memory", state="memory"))
    status = daemon.wait_status(lambda s: s["symbols"], "the engine without its venue")
    after = memory_of(status)
    for key in before:
        assert after[key] == before[key], (key, before[key], after[key])
    assert status["recovery"]["from"] == "log", status["recovery"]
    client = Client(daemon)
    again = client.ask("account_create", {"name": "later", "currency": "USDT", "cash": "5000", "shorts": True,
                                          "collateral": "1.5", "strategy": "sma-cross-rsi", "params": {"fast": "3", "slow": "9"},
                                          "key": "later"})
    assert again["ok"] and again["result"]["repeated"] is True, again
    again = client.ask("account_deposit", {"account": "later", "amount": "-1000000", "key": "much"})
    assert not again["ok"] and again["error"]["code"] == refused["error"]["code"], again
    client.close()
    assert {a["account"] for a in status["accounts"]} == {"main", "hand", "later"}
    clean(daemon)
    assert daemon.stop() == 0
    print(f"remembered: {len(before['orders'])} orders ({', '.join(sorted({k for k, _ in kinds}))}), "
          f"{sum(len(x[3]) for x in before['symbols'])} indicator values, {len(before['positions'])} positions")
    return daemon.state


def settled(daemon):
    one = memory_of(daemon.status_object())
    time.sleep(0.3)  # a condition that must hold for a while
    return one if one == memory_of(daemon.status_object()) else None


def without_log(folder, state):
    """The log is gone, or altered: the database alone is the truth, and an alert says so."""
    name = os.path.basename(state)
    away = "[market]\nws_url = wss://127.0.0.1:9\nrest_url = https://127.0.0.1:9\n"
    config = CONFIG.replace("[market]\n", away)
    events = os.path.join(state, "events")
    newest = os.path.join(events, sorted(f for f in os.listdir(events) if f.endswith(".journal"))[-1])
    with open(newest, "r+b") as file:  # one bit in the middle
        file.seek(os.path.getsize(newest) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    report = None
    for fault in ("altered", "missing"):
        if fault == "missing":
            for file in os.listdir(events):
                os.unlink(os.path.join(events, file))
        daemon = folder.start(harness.Daemon(folder.path, None, config, name=f"log-{fault}", state=name))
        status = daemon.wait_status(lambda s: s["symbols"], f"the engine with its log {fault}")
        assert status["recovery"]["from"] == "database", status["recovery"]
        assert len(status["accounts"]) == 3 and status["orders"], status
        alerts = harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'event-log' AND "
                                                       "text LIKE '%the database alone is the truth%'"), "the alert")
        if fault == "altered":
            assert any(".journal" in text for (text,) in alerts), alerts
            assert any(d.startswith("events.damaged-2") for d in os.listdir(state)), os.listdir(state)
        report = json.loads(daemon.papertape("ledger", "verify", "--json"))
        assert report["ok"] is True, report
        assert daemon.stop() == 0
        daemon = folder.start(harness.Daemon(folder.path, None, config, name=f"after-{fault}", state=name))
        status = daemon.wait_status(lambda s: s["symbols"], "the new log")
        assert status["recovery"]["from"] == "log", status["recovery"]
        assert daemon.stop() == 0
    print(f"without its log: {report['rows']} ledger rows verified, the next start continues from the new log")


def last_price(replay, symbol):
    """The venue's own word, with no daemon in between."""
    return float(wsclient.get(f"{replay.urls['rest_url']}/api/v3/ticker/price?symbol={symbol}", replay.ca)["price"])


def crossed_while_down(folder):
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "41", "--speed", "30"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="crossed", state="crossed"))
    status = daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" and x["last"] for x in s["symbols"]),
                                "books in step")
    client = Client(daemon)
    assert client.ask("order", {"symbol": "BTCUSDT", "side": "buy", "qty": "0.5", "account": "hand"})["ok"]
    daemon.wait_status(lambda s: any(p["account"] == "hand" and p["qty"] == 0.5 for p in s["positions"]), "the position")
    for attempt in range(10):  # near enough to be crossed within seconds, far enough to rest: not always both
        mark, wide, stops = marked(daemon, "BTCUSDT"), 0.0004, []
        for side, stop in (("sell", mark * (1 - wide)), ("buy", mark * (1 + wide))):
            answer = client.ask("order", {"symbol": "BTCUSDT", "side": side, "qty": "0.02", "account": "hand", "stop": price(stop)})
            assert answer["ok"], answer
            stops.append(answer["result"]["order"])
        daemon.popen.kill()
        daemon.popen.wait()
        client.close()
        harness.wait_for(lambda: not mark * (1 - wide) < last_price(replay, "BTCUSDT") < mark * (1 + wide), "a price beyond one of them")
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="crossed", state="crossed"))
        status = daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and s["symbols"] and s["symbols"][0]["book"] == "synced" and
                                    s["symbols"][0]["last"], "the daemon again")
        if status["recovery"]["crossed"] > 0:
            break
        client = Client(daemon)
    alerts = harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'STOP_MISSED' AND closed_ns IS NOT NULL"), "a missed stop")
    filled = harness.wait_for(lambda: [i for i in stops if daemon.query(f"SELECT 1 FROM orders WHERE id = {i} AND "
                                                                        "state = 'FILLED'")], "a filled stop")
    away = harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'away'"), "how long it was away")
    clean(daemon)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    print(f"crossed while down: {len(filled)} filled; {alerts[0][0]}; {away[-1][0]}")


def marked(daemon, symbol):
    return next(x["last"] for x in daemon.status_object()["symbols"] if x["symbol"] == symbol)


def full_disk(folder):
    """A limit on the size of files stands for a full disk: nothing is opened, nothing is acknowledged, nothing is lost; and
    every command is answered at once."""
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "51", "--speed", "5"))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="full", state="full"))
    daemon.wait_status(lambda s: s["symbols"] and all(x["book"] == "synced" and x["last"] for x in s["symbols"]), "books in step")
    client = Client(daemon)
    buy = {"symbol": "BTCUSDT", "side": "buy", "qty": "0.1", "account": "hand"}
    assert client.ask("order", buy | {"client_id": "before"})["ok"]
    rests = client.ask("order", buy | {"client_id": "rests", "limit": price(marked(daemon, "BTCUSDT") * 0.9)})
    assert rests["ok"], rests
    _, hard = resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (1, hard))
    status = daemon.wait_status(lambda s: s["db"]["state"] == "failing" and s["events"]["state"] == "failing" and
                                s["feed"]["state"] == "ok", "the full disk")
    assert "event log" in status["db"]["detail"], status["db"]
    meanwhile = client.ask("order", buy | {"client_id": "meanwhile"})
    assert meanwhile["error"]["code"] == "STORAGE", meanwhile
    assert meanwhile["error"]["message"].startswith("refused, RISK_STORAGE, not stored yet: event log: "), meanwhile
    asked = [("pause", {"key": "p"}), ("cancel", {"order": rests["result"]["order"], "key": "c"}),
             ("flatten", {"confirm": "FLATTEN", "key": "f"})]
    for cmd, args in asked + asked:  # done, also when asked again, but not promised: it is not stored
        answer = client.ask(cmd, args)
        assert answer["error"]["code"] == "STORAGE", (cmd, answer)
        assert "taken, not stored yet: event log: " in answer["error"]["message"], answer
    status = daemon.wait_status(lambda s: not s["orders"], "what was asked is done")
    assert status["trading"] == "halted" and "storing fails" in status["trading_reason"], status
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (hard, hard))
    daemon.wait_status(lambda s: s["db"]["state"] == "ok" and s["events"]["state"] == "ok" and s["trading"] == "paused", "the disk again")
    assert client.ask("order", buy | {"client_id": "meanwhile"})["error"]["code"] == "RISK_STORAGE"
    for cmd, args in asked:
        answer = client.ask(cmd, args)
        assert answer["ok"] and answer["result"]["repeated"] is True, (cmd, answer)
    assert client.ask("resume", {})["ok"]
    assert client.ask("order", buy | {"client_id": "after"})["ok"]
    client.close()
    alerts = harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'storage' AND text LIKE '%event log%' AND "
                                           "closed_ns >= last_ns"), "an alert, closed since it stores again")
    assert not daemon.query("SELECT 1 FROM alerts WHERE code = 'storage' AND closed_ns IS NULL")
    clean(daemon)
    assert daemon.stop() == 0
    assert replay.stop() == 0
    parity = json.loads(daemon.papertape("parity", "--json"))
    assert parity["ok"] is True and parity["holes"] == 0, parity
    print(f"full disk: {alerts[0][0]}; {parity['events']} events, none lost")


def clock_back(folder):
    """The second run's clock is a day behind the first one's: time continues from the last event, and an alert says so."""
    last = 0
    for day in ("2024-01-02", "2024-01-01"):
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "61", "--from", f"{day}T00:00:00Z", "--to",
                                             f"{day}T00:00:20Z", "--speed", "max"))
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, ["--clock", "feed"], name="back", state="back"))
        status = daemon.wait_status(lambda s: s["symbols"] and s["feed"]["frames"] > 1000, "frames")
        assert status["now_ns"] >= last, (status["now_ns"], last)
        last = status["now_ns"]
        assert daemon.stop() == 0
        assert replay.stop() == 0
    alerts = daemon.query("SELECT text FROM alerts WHERE code = 'clock'")
    assert alerts and "behind the last event" in alerts[0][0], alerts
    clean(daemon)
    print(f"clock back: {alerts[0][0]}")


def newer_log(folder):
    """A log of a newer program is no fault of its own: nothing is touched, and the error says what would be right."""
    daemon = folder.start(harness.Daemon(folder.path, None, CONFIG, name="newer", state="back"))
    daemon.stop()
    events = os.path.join(daemon.state, "events")
    newest = os.path.join(events, sorted(f for f in os.listdir(events) if f.endswith(".journal"))[-1])
    with open(newest, "r+b") as file:
        header = bytearray(file.read(4096))
        size = int.from_bytes(header[12:16], "little")
        header[8:12] = (int.from_bytes(header[8:12], "little") + 1).to_bytes(4, "little")
        header[size - 32:size] = hashlib.sha256(header[:size - 32]).digest()
        file.seek(0)
        file.write(header)
    daemon = folder.start(harness.Daemon(folder.path, None, CONFIG, name="newer", state="back"))
    assert daemon.popen.wait(harness.PATIENCE) == 2 # systemd does not restart it
    line = [line for line in daemon.log_text().splitlines() if line.startswith("papertaped: ")][-1]
    assert f": update papertape, or move {events} away: the database is the truth then" in line, line
    assert os.path.exists(newest) and not any("events.damaged" in name for name in os.listdir(daemon.state))
    print(f"a newer log: {line}")


def fills_now(daemon, what):
    """An order by hand is given and fills."""
    client = Client(daemon)
    answer = client.ask("order", {"symbol": "BTCUSDT", "side": "buy", "qty": "0.1", "account": "hand"})
    client.close()
    assert answer["ok"], (what, answer)
    order = answer["result"]["order"]
    return harness.wait_for(lambda: daemon.query(f"SELECT updated_ns FROM orders WHERE id = {order} AND state = 'FILLED'"),
                            f"{what}: order {order} fills")[0][0]


def wall_clock_back(folder):
    """The machine's clock was half a day ahead and is set right while the daemon runs; then it is started again. Time
    neither goes back nor stands still: orders fill and strategies decide."""
    ahead = os.path.join(folder.path, "ahead")
    shifted = os.environ | {"LD_PRELOAD": harness.SHIFTED_CLOCK, "SHIFTED_CLOCK": ahead,
                            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def set_clock(seconds):
        with open(ahead + ".new", "w") as file:
            file.write(f"{seconds}")
        os.rename(ahead + ".new", ahead)

    def start():
        daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="wall", state="wall", env=shifted))
        status = daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["book"] == "synced", "books in step")
        return daemon, status["counters"]["decisions"]

    def decides(decisions, what):
        daemon.wait_status(lambda s: s["counters"]["decisions"] >= decisions + 3, f"{what}: strategies decide")

    set_clock(12 * 3600)
    replay = folder.start(harness.Replay(folder.path, "--synthetic", "71"))
    daemon, decisions = start()
    decides(decisions, "ahead")
    times = [fills_now(daemon, "ahead")]
    set_clock(0)
    decisions = daemon.status_object()["counters"]["decisions"]
    times.append(fills_now(daemon, "set back"))
    decides(decisions, "set back")
    alerts = harness.wait_for(lambda: daemon.query("SELECT text, count FROM alerts WHERE code = 'clock'"), "the alert")
    assert len(alerts) == 1 and alerts[0][1] == 1 and " 43" in alerts[0][0], alerts
    daemon.popen.kill()
    daemon.popen.wait()
    daemon, decisions = start()
    times.append(fills_now(daemon, "started again"))
    decides(decisions, "started again")
    assert times == sorted(times), times
    alerts = daemon.query("SELECT text, count FROM alerts WHERE code = 'clock' ORDER BY id")
    assert len(alerts) == 1 and "the run before" in alerts[0][0] and alerts[0][1] == 2, alerts  # it lasts
    clean(daemon)
    parity = json.loads(daemon.papertape("parity", "--json"))
    assert parity["ok"] is True, parity
    set_clock(24 * 3600)
    jumps = harness.wait_for(lambda: daemon.query("SELECT text FROM alerts WHERE code = 'clock' AND NOT lasts"), "an alert of the jump")
    assert len(jumps) == 1 and "the clock jumped forward by 43" in jumps[0][0], jumps
    harness.wait_for(lambda: daemon.query("SELECT 1 FROM alerts WHERE code = 'clock' AND lasts AND closed_ns >= last_ns"),
                     "the clock is behind no more")
    assert daemon.stop() == 0
    assert replay.stop() == 0
    print(f"wall clock back: {alerts[0][0]}; {jumps[0][0]}")


def main():
    seed = int(os.environ.get("PAPERTAPE_SEED") or time.time_ns() % 1000000)
    print(f"counts: {ROUNDS} kills; PAPERTAPE_SEED={seed}" + ("" if harness.LONG else " (--long: 500 kills)"), flush=True)
    with harness.Folder() as folder:
        rng = random.Random(seed)
        for started in range(0, ROUNDS, STATE_ROUNDS):
            kills(folder, rng, f"killed-{started}", min(STATE_ROUNDS, ROUNDS - started))
        without_log(folder, remembers(folder))
        crossed_while_down(folder)
        full_disk(folder)
        clock_back(folder)
        newer_log(folder)
        wall_clock_back(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
