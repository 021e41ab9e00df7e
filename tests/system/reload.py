#!/usr/bin/env python3
"""The configuration read again while the daemon trades: by the verb and by SIGHUP; a bad file changes nothing; a good one is
taken at once, with no frame lost, and the log replays to the same ledger, after a kill -9 as well, and into a new database."""

import datetime
import json
import os
import re
import signal
import subprocess

import harness

CONFIG = """[market]
symbols = {symbols}
interval = 1s
history = 30
streams = {streams}
[engine]
latency_ms = {latency}
[risk]
daily_loss = {loss}
[account main]
cash = {cash}
strategy = sma-cross
strategy.fast = {fast}
strategy.slow = 5
strategy.fraction = 0.2
[account hand]
strategy = none
[log]
level = {level}
"""
FIRST = {"symbols": "BTCUSDT", "streams": "trade kline bookTicker depth", "latency": 0, "loss": "0.05", "fast": 2, "level": "info", "cash": 100000}


ALERT = "SELECT text FROM alerts WHERE code = 'reload-refused' AND closed_ns IS NULL"


def write(daemon, **changes):
    """The file, with these differences to the first one; its path."""
    with open(daemon.config, "w") as file:
        file.write(CONFIG.format(**(FIRST | changes)))
    return daemon.config


def reload(daemon, status=0):
    """`papertape reload`: its standard output, or its standard error where it is to fail."""
    done = subprocess.run([harness.PAPERTAPE, "reload", "--state", daemon.state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr, daemon.log_text()[-3000:])
    return done.stderr if status else done.stdout


def streamed(status, symbol):
    return {s["stream"]: s["frames"] for s in status["feed"]["streams"] if s["symbol"] == symbol}


def refused(daemon):
    """Each error by file and line, in the answer and in the log; nothing has changed, and an alert says so."""
    before = daemon.status_object()
    bad = write(daemon, loss="5", fast=2000000, level="loud")
    said = reload(daemon, status=1)
    for line, key in ((9, r"\[risk\] daily_loss"), (13, r"\[account main\] strategy.fast"), (19, r"\[log\] level")):
        assert re.search(rf"reload: {re.escape(bad)}:{line}: {key}", said), said
        assert f"reload: {bad}:{line}: " in daemon.log_text()
    assert "nothing has changed" in said, said
    write(daemon, symbols="BTCUSDT, NOSUCHUSDT", loss="0.01")
    said = reload(daemon, status=1)
    assert f"{bad}:2: [market] symbols: NOSUCHUSDT: binance does not list it" in said, said
    harness.wait_for(lambda: daemon.query(ALERT), "an alert that it was refused")
    assert daemon.query("SELECT count(*) FROM commands WHERE cmd = 'reload'") == [(0,)]
    after = daemon.status_object()
    assert streamed(after, "BTCUSDT").keys() == streamed(before, "BTCUSDT").keys()
    assert not streamed(after, "NOSUCHUSDT")


def taken(daemon):
    """A symbol more, another limit and parameter at once; what needs a restart is named."""
    path = write(daemon, symbols="BTCUSDT, ETHUSDT", loss="0.01", fast=3, latency=250)
    said = reload(daemon)
    assert f"{path}:2: [market] symbols = BTCUSDT, ETHUSDT (before: BTCUSDT)" in said, said
    assert f"{path}:9: [risk] daily_loss = 0.01 (before: 0.05)" in said, said
    assert f"{path}:13: [account main] strategy.fast = 3 (before: 2)" in said, said
    assert f"{path}:7: [engine] latency_ms = 250 (before: 0): needs a restart" in said, said
    assert "3 taken, 1 need a restart" in said, said
    daemon.wait_status(lambda s: streamed(s, "ETHUSDT").get("trade", 0) > 0, "trades of the new symbol", patience=5 if not harness.SANITIZED else harness.PATIENCE)
    harness.wait_for(lambda: not daemon.query(ALERT), "the alert's end")
    state, args = daemon.query("SELECT state, args FROM commands WHERE cmd = 'reload'")[0]
    assert state == "done", (state, args)
    main_account = json.loads(daemon.papertape("account", "list", "--json"))["accounts"][0]
    assert main_account["params"]["fast"] == 3 and main_account["daily_loss"] == 0.01, main_account
    assert reload(daemon).count(": needs a restart") == 1  # again: only that


def by_signal(daemon):
    """SIGHUP: the log's level, fewer streams, and a symbol that was added by command and stays."""
    daemon.papertape("symbol", "add", "XAAAUSDT")
    write(daemon, symbols="ETHUSDT BTCUSDT", streams="trade kline bookTicker", level="debug", loss="0.01", fast=3)
    daemon.popen.send_signal(signal.SIGHUP)
    daemon.wait_status(lambda s: streamed(s, "BTCUSDT").keys() == {"trade", "kline_1s", "bookTicker"}, "fewer streams")
    assert "XAAAUSDT" in daemon.papertape("symbol", "list")
    assert f"reload: {daemon.config}:5: [market] streams = " in daemon.log_text()
    write(daemon, streams="trade kline bookTicker depth", level="info", loss="0.01", fast=3, symbols="BTCUSDT XAAAUSDT")
    reload(daemon)
    status = daemon.wait_status(lambda s: streamed(s, "BTCUSDT").get("depth", 0) > 0, "the book's differences again")
    in_use = {left["symbol"] for left in status["left_out"]}  # by the strategy, which may hold it just then
    assert streamed(status, "XAAAUSDT") and bool(streamed(status, "ETHUSDT")) == ("ETHUSDT" in in_use), status["feed"]["streams"]
    assert daemon.query("SELECT streamed FROM symbols ORDER BY name") == [(None,), (None,), (None,)]


def waits(daemon):
    """What needs a restart is remembered, and shown, until the file has again what runs."""
    (left,) = daemon.status_object()["restart"]
    assert (left["section"], left["key"], left["was"], left["now"]) == ("engine", "latency_ms", "0", "250"), left
    assert "restart   [engine] latency_ms: needs a restart" in daemon.papertape("status")
    assert "[engine] latency_ms: the file was changed, and it needs a restart" in daemon.papertape("doctor", "daemon")


def limits(daemon):
    """Of silence: in force at once."""
    limit = lambda s: {x["stream"]: x["limit_ms"] for x in s["feed"]["streams"]}["bookTicker"]  # noqa: E731
    assert limit(daemon.status_object()) == 30000
    with open(write(daemon, symbols="BTCUSDT, ETHUSDT", loss="0.01", fast=3), "a") as file:
        file.write("[feed]\nstale_s = 7\nsilence_s = 11\n")
    assert "0 need a restart" in reload(daemon)
    assert limit(daemon.status_object()) == 7000
    assert daemon.status_object()["restart"] == []


def position(daemon):
    """What the account by hand has of Bitcoin."""
    rows = json.loads(daemon.papertape("positions", "--json"))["positions"]
    row = next(row for row in rows if row["account"] == "hand" and row["symbol"] == "BTCUSDT")
    return {name: row[name] for name in row if name in ("qty", "avg_price", "average_price", "entry", "cost", "realized")}


def counted(daemon, replay):
    """Each trade and quote of the symbol that is streamed throughout is in the log, once and in order, up to the end: what the
    venue had sent last when it was stopped may not have arrived. Both have stopped. How many."""
    with open(replay.transcript) as file:
        sent = re.findall(r'^\d+ text {"stream":"btcusdt@(?:trade|bookTicker)".*?"(?:t|u)":(\d+)', file.read(), re.M)
    shown = daemon.papertape("events", "show", "--seq", "1", "--n", "1000000")
    taken_ids = re.findall(r"MARKET BTCUSDT (?:trade|best bid) .*, id (\d+)", shown)
    assert len(taken_ids) > 100 and taken_ids == sent[:len(taken_ids)], (len(taken_ids), len(sent))
    assert len(re.findall(r"COMMAND \d+ configure", shown)) == daemon.query("SELECT count(*) FROM commands WHERE cmd = 'reload'")[0][0]
    return len(taken_ids)


class Replay(harness.Replay):
    def __init__(self, folder, *arguments):
        self.transcript = os.path.join(folder, "transcript")
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=3600)
        super().__init__(folder, "--synthetic", "11", "--symbols", "3", "--rate", "400", "--to", end.isoformat(timespec="seconds"),
                         "--transcript", self.transcript, *arguments)


def equal(daemon, name, frames):
    parity = json.loads(daemon.papertape("parity", "--json"))
    assert parity["ok"] is True and parity["difference"] is None, parity
    print(f"{name}: {frames} frames, {parity['events']} events in {parity['runs']} runs, {parity['orders']} orders: equal", flush=True)


def trade_on(folder):
    """Reloads of every kind, one after the other, in one process."""
    replay = folder.start(Replay(folder.path))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(**FIRST)))
    daemon.wait_status(lambda s: streamed(s, "BTCUSDT").get("trade", 0) > 0, "trades")
    pid = daemon.popen.pid
    daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand")
    held_before = position(daemon)
    refused(daemon)
    taken(daemon)
    waits(daemon)
    limits(daemon)
    by_signal(daemon)
    assert position(daemon) == held_before, held_before
    assert daemon.popen.pid == pid and daemon.alive()
    daemon.wait_status(lambda s: streamed(s, "BTCUSDT").get("trade", 0) > 100, "trades")
    assert daemon.status_object()["feed"]["bad_frames"] == 0
    assert daemon.stop() == 0 and replay.stop() == 0
    equal(daemon, "reloaded", counted(daemon, replay))


def in_use(folder):
    """What is ordered stays though it is left out, over a reload and a start, and is named; orders stay as they are. Once it is in
    use no longer, a reload ends it. The strategy has too little cash to use one as well."""
    replay = folder.start(Replay(folder.within("used")))
    start = lambda symbols: folder.start(harness.Daemon(folder.path, replay, CONFIG.format(**(FIRST | {"symbols": symbols, "cash": 1})), name="used", state="used"))  # noqa: E731
    daemon = start("BTCUSDT XAAAUSDT")
    status = daemon.wait_status(lambda s: s["symbols"] and all(x["last"] and x["bid"] for x in s["symbols"]), "prices, and those of the stream")
    last = next(float(s["last"]) for s in status["symbols"] if s["symbol"] == "XAAAUSDT")
    daemon.papertape("order", "buy", "XAAAUSDT", str(round(100 / last) or 1), "--account", "hand", "--limit", str(round(last * 0.9, 2)))
    open_order = "SELECT id, qty FROM orders WHERE state IN ('PENDING', 'OPEN') AND account = (SELECT id FROM accounts WHERE name = 'hand')"
    before = daemon.query(open_order)
    path = write(daemon, cash=1)
    said = daemon.papertape("reload")
    assert f"{path}: XAAAUSDT is left out, and stays: account hand has an order in it\n" in said, said
    left_out = [{"symbol": "XAAAUSDT", "account": "hand", "why": "has an order in it", "streamed": True}]
    assert daemon.status_object()["left_out"] == left_out
    assert daemon.stop() == 0
    daemon = start("BTCUSDT")
    assert daemon.wait_status(lambda s: streamed(s, "XAAAUSDT").get("trade", 0) > 0, "its trades")["left_out"] == left_out
    assert "XAAAUSDT: account hand has an order in it, and the configuration leaves it out: it is streamed on" in daemon.log_text()
    assert "left out  XAAAUSDT: account hand has an order in it" in daemon.papertape("status")
    assert "XAAAUSDT: account hand has an order in it, and the configuration leaves it out" in daemon.papertape("doctor", "daemon")
    assert daemon.query(open_order) == before and len(before) == 1, before
    write(daemon, symbols="BTCUSDT XAAAUSDT", cash=1)
    reload(daemon)
    assert daemon.status_object()["left_out"] == []
    write(daemon, cash=1)
    daemon.papertape("reload")
    harness.control(daemon, "cancel", {"all": True, "account": "hand"})
    daemon.wait_status(lambda s: s["left_out"] == [], "its order's end")
    reload(daemon)
    status = daemon.status_object()
    assert not streamed(status, "XAAAUSDT") and "XAAAUSDT" not in [s["symbol"] for s in status["symbols"]], status["symbols"]
    assert daemon.stop() == 0
    equal(daemon, "in use", status["feed"]["frames"])


def killed(folder):
    """A kill -9 right after a reload was acknowledged: the next start plays it, and streams what it added."""
    after = FIRST | {"symbols": "BTCUSDT ETHUSDT XAAAUSDT", "loss": "0.02", "fast": 4}
    replay = folder.start(Replay(folder.within("venue")))
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(**FIRST), name="killed", state="killed"))
    daemon.wait_status(lambda s: streamed(s, "BTCUSDT").get("trade", 0) > 0, "trades")
    write(daemon, **after)
    reload(daemon)
    daemon.popen.kill()
    daemon.popen.wait()
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG.format(**after), name="killed", state="killed"))
    status = daemon.wait_status(lambda s: s["symbols"] and streamed(s, "ETHUSDT").get("trade", 0) > 0, "trades again")
    assert status["recovery"]["from"] == "log", status["recovery"]
    account = json.loads(daemon.papertape("account", "list", "--json"))["accounts"][0]
    assert account["params"]["fast"] == 4 and account["daily_loss"] == 0.02, account
    assert daemon.query("SELECT state FROM commands WHERE cmd = 'reload'") == [("done",)]
    assert daemon.stop() == 0
    equal(daemon, "killed", status["feed"]["frames"])
    os.remove(os.path.join(daemon.state, "papertape.db"))
    subprocess.run([harness.DAEMON, "--rebuild", "--config", daemon.config, "--state", daemon.state], check=True,
                   stdout=subprocess.DEVNULL, timeout=harness.PATIENCE)
    rebuilt = json.loads(daemon.papertape("account", "list", "--json"))["accounts"][0]
    assert rebuilt["params"] == account["params"] and rebuilt["daily_loss"] == account["daily_loss"], rebuilt
    assert daemon.query("SELECT state FROM commands WHERE cmd = 'reload'") == [("done",)]
    equal(daemon, "rebuilt", status["feed"]["frames"])


def other_certificates(folder):
    """The venue has another certificate, whose authority a reload reads: no restart, and requests and streams work again."""
    venue = folder.start(harness.Replay(folder.within("first"), "--synthetic", "3"))
    daemon = folder.start(harness.Daemon(folder.path, venue, CONFIG.format(**FIRST), name="certified", state="certified"))
    daemon.wait_status(lambda s: streamed(s, "BTCUSDT").get("trade", 0) > 0, "trades")
    pid = daemon.popen.pid
    assert venue.stop() == 0
    port = venue.urls["rest_url"].rsplit(":", 1)[1]
    again = folder.start(harness.Replay(folder.within("second"), "--synthetic", "3", "--listen", f"127.0.0.1:{port}"))
    daemon.wait_status(lambda s: "certificate" in json.dumps(s["venues"]), "a certificate that is not trusted")
    before = streamed(daemon.status_object(), "BTCUSDT")["trade"]
    with open(venue.ca, "w") as file:
        file.write("nonsense")
    assert "holds no certificate" in reload(daemon, status=1)
    os.replace(again.ca, venue.ca)
    assert "[market] ca_file: its file has other contents" in reload(daemon)
    daemon.wait_status(lambda s: s["feed"]["state"] == "ok" and streamed(s, "BTCUSDT")["trade"] > before, "trades again")
    assert daemon.popen.pid == pid and reload(daemon).endswith(": nothing has changed\n")
    assert daemon.stop() == 0


VENUE = """[venue alpaca]
symbols = {symbols}
keys = {keys}
feed = sip
ws_url = {urls[ws_url]}
rest_url = {urls[rest_url]}
"""


def indicators(daemon, names):
    """Waits for exactly these of the newest closed bar, and until that is stored; the bar, and those up to it."""
    def kept():
        answer = harness.control(daemon, "indicators", {"symbol": "BTCUSDT", "timeframe": "1s"})
        closed = answer["ok"] and answer["result"]["closed"]
        return closed if closed and sorted(closed["indicators"]) == names and closed["indicators"][names[0]] is not None else None
    bar = harness.wait_for(kept, f"indicators {names}")
    stored = lambda: [line.split(",") for line in daemon.papertape("bars", "BTCUSDT", "1s").splitlines()[1:]]
    upto = lambda: [row for row in stored() if int(row[0]) <= bar["open_time_ms"]]
    return bar, harness.wait_for(lambda: (rows := upto()) and int(rows[-1][0]) == bar["open_time_ms"] and rows, "its row")


def one_more(folder):
    """A venue more, and other indicators: what it does not list, and keys that it refuses, change nothing; a former run's bars and
    those of the moment are in the new indicators, as of a daemon that starts with them."""
    coins = folder.start(Replay(folder.within("coins")))
    stocks = folder.start(harness.Replay(folder.within("stocks"), "--venue", "alpaca", "--synthetic", "5", "--keys", "PKTEST:right"))
    good, bad = harness.write_keys(folder.path, "good", "right"), harness.write_keys(folder.path, "bad", "hush")
    ca = os.path.join(folder.path, "more.pem")
    with open(ca, "w") as file:
        file.write(open(coins.ca).read() + open(stocks.ca).read())
    urls = f"ca_file = {ca}\nws_url = {coins.urls['ws_url']}\nrest_url = {coins.urls['rest_url']}\n"
    first = CONFIG.format(**FIRST).replace("[engine]", urls + "[engine]") + "[indicators]\nspecs = sma:2\n"
    daemon = folder.start(harness.Daemon(folder.path, None, first, name="more", state="more"))

    def configured(text):
        with open(daemon.config, "w") as file:
            file.write(text)
    venue = lambda symbols, keys: first + VENUE.format(symbols=symbols, keys=keys, urls=stocks.urls)
    daemon.wait_status(lambda s: streamed(s, "BTCUSDT").get("trade", 0) > 0, "trades")
    indicators(daemon, ["sma_2"])
    configured(venue("BTC/USD, NOSUCH", good))
    line = 1 + venue("", "").split("\n").index("symbols = ")
    said = reload(daemon, status=1)
    assert f"{daemon.config}:{line}: [venue alpaca] symbols: NOSUCH: alpaca does not list it" in said, said
    configured(venue("BTC/USD", bad))
    said = reload(daemon, status=1)
    assert f"{daemon.config}:{line}: [venue alpaca] symbols: BTC/USD: " in said, said
    assert len(daemon.status_object()["venues"]) == 1
    configured(venue("BTC/USD", good).replace("specs = sma:2", "specs = sma:3 ema:5"))
    said = reload(daemon)
    assert "[venue alpaca] is new" in said and "specs = sma:3 ema:5 (before: sma:2)" in said and "0 need a restart" in said, said
    status = daemon.wait_status(lambda s: len(s["venues"]) == 2 and streamed(s, "BTC/USD").get("trade", 0) > 0, "trades of the new venue")
    assert status["uptime_s"] > 0 and streamed(status, "BTCUSDT")["trade"] > 0
    bar, rows = indicators(daemon, ["ema_5", "sma_3"])
    mean = sum(float(row[4]) for row in rows[-3:]) / 3
    assert abs(bar["indicators"]["sma_3"] - mean) < 1e-9 * mean, (bar, rows[-3:])
    assert "BTC/USD" in daemon.papertape("symbol", "list")
    for secret in ("hush", "right"):  # the file has other contents, which the next request has
        harness.write_keys(folder.path, "good", secret)
        assert "[venue alpaca] keys: its file has other contents" in reload(daemon)
    assert reload(daemon).endswith(": nothing has changed\n")
    configured(first)
    said = reload(daemon)
    assert "[venue alpaca] is gone: needs a restart" in said and "specs = sma:2 (before: sma:3 ema:5)" in said, said
    indicators(daemon, ["sma_2"])
    assert daemon.stop() == 0
    equal(daemon, "more", status["feed"]["frames"])


def before_any_answer(folder):
    """No venue has ever answered. Rules on the machine hold; a bad file is refused by file and line, also by SIGHUP; of a good one all is
    taken but what the start used already, and then its venue streams. What that does not list ends the daemon, as at a start."""
    venue = folder.start(harness.Replay(folder.within("late"), "--synthetic", "3"))
    right, wrong = venue.urls["rest_url"], "https://127.0.0.1:1"

    def text(rest, **changes):
        urls = f"ca_file = {venue.ca}\nws_url = {venue.urls['ws_url']}\nrest_url = {rest}\n"
        alerts = "[alerts]\ndisk = 0.0001%\ndisk_critical = off\n"
        return CONFIG.format(**(FIRST | changes)).replace("[engine]", urls + "[engine]") + alerts

    def configured(daemon, *arguments, **changes):
        with open(daemon.config, "w") as file:
            file.write(text(*arguments, **changes) + "[storage]\ncommit_delay_ms = 7\n")
    start = lambda name: folder.start(harness.Daemon(folder.path, None, text(wrong), name=name, state=name))
    daemon, other = start("early"), start("unlisted")
    harness.wait_for(lambda: daemon.status_object() and daemon.query("SELECT 1 FROM alerts WHERE code = 'DISK' AND closed_ns IS NULL"), "DISK")
    configured(daemon, wrong, level="loud", loss="5")
    line = lambda key: 1 + next(i for i, row in enumerate(open(daemon.config)) if row.startswith(key))
    bad = [f"{daemon.config}:{line('level')}: [log] level", f"{daemon.config}:{line('daily_loss')}: [risk] daily_loss"]
    said = reload(daemon, status=1)
    assert all(words in said for words in bad) and "nothing has changed" in said, said
    daemon.popen.send_signal(signal.SIGHUP)
    harness.wait_for(lambda: all(daemon.log_text().count(words) == 2 for words in bad), "the errors in the log again")
    harness.wait_for(lambda: daemon.query(ALERT), "the alert in the database")
    configured(daemon, wrong, level="debug")
    said = reload(daemon)
    assert "[log] level = debug (before: info)" in said and "1 taken, 1 need a restart" in said, said
    assert "[storage] commit_delay_ms = 7 (before: 5): needs a restart" in said, said
    assert not daemon.status_object()["symbols"]
    configured(daemon, right, level="debug", symbols="BTCUSDT, ETHUSDT", latency=250)
    daemon.popen.send_signal(signal.SIGHUP)
    daemon.wait_status(lambda s: streamed(s, "ETHUSDT").get("trade", 0) > 0, "trades of what the new file names")
    assert f"[market] rest_url = {right} (before: {wrong})" in daemon.log_text() and "each is asked again" in daemon.log_text()
    harness.wait_for(lambda: daemon.query("SELECT value FROM meta WHERE key = 'latency_ns'") == [("250000000",)], "the latency, stored")
    harness.wait_for(lambda: not daemon.query(ALERT), "the alert's end")
    assert "0 taken, 1 need a restart" in reload(daemon)
    assert daemon.stop() == 0
    equal(daemon, "before any answer", len(daemon.log_text()))
    other.status_object()
    configured(other, right, symbols="BTCUSDT, NOSUCHUSDT")
    assert "symbols = BTCUSDT, NOSUCHUSDT" in reload(other)
    assert other.popen.wait(harness.PATIENCE) == 2
    assert "[market] symbols: NOSUCHUSDT: binance does not list it" in other.log_text(), other.log_text()
    assert venue.stop() == 0


def main():
    with harness.Folder() as folder:
        harness.together(folder, trade_on, in_use, killed, one_more, other_certificates, before_any_answer)


main()
