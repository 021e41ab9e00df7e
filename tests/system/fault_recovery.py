#!/usr/bin/env python3
"""Each fault of papertape-replay(1) at both venues, alone and in seeded pairs, and then its end: the daemon lives, every bar that it
keeps is the source's, without a hole, attempts to connect and requests stay within the venue's limits, and it measures how
long its bars took to come back. The source is the same market, played once more without a fault. With PAPERTAPE_LONG all faults
alone and 60 pairs, else some."""

import concurrent.futures
import datetime
import decimal
import http.client
import json
import os
import random
import re
import sys
import time

import harness
import wsclient

SEED = int(os.environ.get("PAPERTAPE_SEED", "29"))
PAIRS = int(os.environ.get("PAPERTAPE_PAIRS") or (60 if harness.LONG else 3))
AT_ONCE = int(os.environ.get("PAPERTAPE_AT_ONCE") or (4 if harness.LONG else 6))  # scenarios; they wait most of the time
BUDGET = 60     # attempts in five minutes, of which the venue takes 300: BUDGET_ATTEMPTS_DEFAULT
REFUSED_MAX = 10  # refusals for passing a limit after which Binance bans

KEYS = {"APCA-API-KEY-ID": "PKTEST", "APCA-API-SECRET-KEY": "hush"}
LIMITS = "[feed]\nstale_s = {stale}\nstale_trade_s = {trade}\nsilence_s = {silence}\nrefresh_s = 3\n[account main]\ncurrency = {{currency}}\nstrategy = none\n"


class Fault:
    """`text` is of --fault; {s}: so many seconds after the replay's start. `first`: from its start on, where it matters most, or since
    it can be given there only. `cuts`: it takes something away that a daemon must notice. `until`: its end, where
    the venue knows it from the start. `alone`: in no pair. `slow`: the wait that the
    venue asks for is as long as a minute."""

    def __init__(self, text, first=False, cuts=False, until=None, alone=False, slow=False):
        self.text, self.first, self.cuts, self.until, self.alone, self.slow = text, first, cuts, until, alone, slow


class Venue:
    """What the scenarios need to know of one."""
    limits = LIMITS.format(stale=2, trade=4, silence=2)
    calm_s = 14.0  # for data before the fault, at most
    lasts_s = 4.0  # a fault, before it ends: longer than the limits of silence

    def json(self, replay, path, headers=None):
        return json.loads(harness.rest(replay, path, headers=headers or {}), parse_float=decimal.Decimal)


class Binance(Venue):
    """On the wall's clock, with bars of a second."""
    name, label, interval_s, symbols = "binance", "binance", 1, ["BTCUSDT", "ETHUSDT"]
    upgrade = re.compile(r"GET /(stream|ws)\b")
    faults = [Fault("silence@0s", cuts=True), Fault("silence:btcusdt@kline_1s@0s", cuts=True), Fault("silence:ethusdt@bookTicker@0s", cuts=True),
              Fault("freeze@0s", cuts=True), Fault("close@1", cuts=True), Fault("half-frame", cuts=True), Fault("slow:64B/s", cuts=True),
              Fault("gap@book"), Fault("garbage"), Fault("dup"), Fault("reorder"), Fault("fragment"), Fault("deflate"),
              Fault("huge:10MB", first=True), Fault("half-answer", first=True), Fault("slow-answer:20kB/s", first=True),
              Fault("5xx", first=True), Fault("5xx:klines", first=True), Fault("clock:+3s", first=True), Fault("clock:-250ms", first=True),
              Fault("429:{s}s", first=True), Fault("429:{s}s"), Fault("418:{s}s", first=True), Fault("418:{s}s"), Fault("ban@8+4s", first=True), Fault("shutdown@0s+2s"), Fault("age@6s", first=True),
              Fault("status@6s:BTCUSDT=HALT", first=True, until="status@10s:BTCUSDT=TRADING"), Fault("filters@6s:BTCUSDT", first=True),
              Fault("delist@6s:ETHUSDT", first=True), Fault("tls-expired", first=True, alone=True)]

    def start(self, folder, inside, *arguments):
        """A market of now, which moves once it is subscribed to: so it can be played again."""
        start_s = int(time.time() + 3)
        replay = folder.start(harness.Replay(inside, "--synthetic", str(SEED), "--from", str(start_s), *arguments))
        replay.start_s = start_s
        return replay

    def move(self, replay):
        """Starts the play, where it is not late already so that the market is ahead of the wall's clock: with clock:+3s one clock is
        wrong, not both. `late_s`: how much later than that it is."""
        time.sleep(max(0, replay.start_s - 0.3 - time.time()))
        socket = wsclient.WebSocket(replay.urls["ws_url"] + "/ws/btcusdt@bookTicker", replay.ca)
        replay.late_s = time.time() - replay.start_s
        socket.close()

    def config(self, inside):
        return "[market]\nsymbols = BTCUSDT, ETHUSDT\ninterval = 1s\nhistory = 60\n" + self.limits.format(currency="USDT")

    def market_s(self, replay, wall_ns):
        return wall_ns / 1e9 - replay.late_s

    def bars(self, replay, since_s):
        return {(symbol, row[0] * 10**6): [decimal.Decimal(x) for x in (*row[1:6], row[8])] for symbol in self.symbols for row in
                self.json(replay, f"/api/v3/klines?symbol={symbol}&interval=1s&limit=1000&startTime={since_s * 1000}")}

    def source(self, folder, inside, replay, until_s):
        """The bars of the same market by their symbol and opening, without a fault."""
        clean = folder.start(harness.Replay(inside, "--synthetic", str(SEED), "--from", str(replay.start_s), "--to", str(until_s + 3),
                                            "--speed", "max"))
        socket = wsclient.WebSocket(clean.urls["ws_url"] + "/stream?streams=btcusdt@kline_1s/ethusdt@kline_1s", clean.ca)
        left = set(self.symbols)
        while left:
            kline = json.loads(socket.receive())["data"]["k"]
            if kline["x"] and kline["t"] >= until_s * 1000:
                left.discard(kline["s"])
        bars = self.bars(clean, replay.start_s - 100)
        socket.close()
        assert clean.stop() == 0
        return bars


class Alpaca(Venue):
    """On the feed's clock, with four minutes of the market a second: only minutes are streamed."""
    name, label, interval_s, symbols = "alpaca", "alpaca", 60, ["AAPL", "MSFT", "SPY", "BTC/USD", "ETH/USD", "DOGE/USD"]
    upgrade = re.compile(r"GET /(v2/sip|v1beta3/crypto/us)\?? ")
    from_s = int(datetime.datetime(2026, 1, 15, 15, tzinfo=datetime.timezone.utc).timestamp())
    faults = [Fault("silence@0s", cuts=True), Fault("silence:bars:BTC/USD@0s", cuts=False), Fault("freeze@0s", cuts=True),
              Fault("close@1", cuts=True), Fault("half-frame", cuts=True), Fault("slow:64B/s", cuts=True), Fault("garbage"), Fault("dup"),
              Fault("reorder"), Fault("fragment"), Fault("deflate"), Fault("huge:10MB", first=True), Fault("half-answer", first=True),
              Fault("slow-answer:20kB/s", first=True), Fault("5xx", first=True), Fault("5xx:bars", first=True), Fault("429:4s", first=True, slow=True),
              Fault("clock:+3s", first=True), Fault("actions:3", first=True), Fault("status@20m:AAPL=HALT", first=True, until="status@30m:AAPL=TRADING"),
              Fault("delist@20m:AAPL", first=True), Fault("tls-expired", first=True, alone=True)]

    def start(self, folder, inside, *arguments):
        return folder.start(harness.Replay(inside, "--venue", "alpaca", "--keys", "PKTEST:hush", "--synthetic", str(SEED), "--from",
                                           str(self.from_s), "--speed", "240", *arguments))

    def move(self, replay):
        """Its market moves with the daemon's subscription."""

    def config(self, inside):
        return harness.alpaca_config(harness.write_keys(inside, "keys", "hush"), self.limits.format(currency="USD"),
                                     symbols=", ".join(self.symbols), history=60).replace("bookTicker\n", "bookTicker, depth\n")

    def market_s(self, replay, wall_ns):
        return self.seconds(self.json(replay, "/v2/clock", KEYS)["timestamp"])

    def bars(self, replay, since_s, until_s=None):
        bars = {}
        for path in ("/v2/stocks/bars?feed=sip&", "/v1beta3/crypto/us/bars?"):
            symbols = ",".join(x for x in self.symbols if ("/" in x) == ("crypto" in path))
            if not symbols:
                continue
            span = f"&start={self.time(since_s)}" + (f"&end={self.time(until_s)}" if until_s else "")
            page = self.json(replay, f"{path}symbols={symbols}&timeframe=1Min&limit=10000{span}", KEYS)
            assert not page.get("next_page_token"), page["next_page_token"]
            for symbol, rows in page["bars"].items():
                for row in rows:
                    bars[symbol, self.seconds(row["t"]) * 10**9] = [decimal.Decimal(row[x]) for x in "ohlcvn"]
        return bars

    def source(self, folder, inside, replay, until_s):
        """Each minute is a function of the seed: a market of some hours later has them as well."""
        clean = folder.start(harness.Replay(inside, "--venue", "alpaca", "--keys", "PKTEST:hush", "--synthetic", str(SEED), "--from",
                                            str(self.from_s + 20 * 3600)))
        bars = self.bars(clean, self.from_s - 24 * 3600, until_s)
        assert clean.stop() == 0
        return bars

    def sent(self, folder, inside, until_s):
        """A stock's bars as they were sent first: with a late trade a minute's bar is sent again, which a client that is interrupted
        then does not get."""
        clean = folder.start(harness.Replay(inside, "--venue", "alpaca", "--keys", "PKTEST:hush", "--synthetic", str(SEED), "--from",
                                            str(self.from_s), "--to", str(until_s + 180), "--speed", "max"))
        socket = wsclient.WebSocket(clean.urls["ws_url"] + "/v2/sip", clean.ca)
        socket.send('{"action":"auth","key":"PKTEST","secret":"hush"}')
        socket.send('{"action":"subscribe","bars":["AAPL","MSFT","SPY"]}')
        bars, newest = {}, 0
        while newest < until_s:
            for x in json.loads(socket.receive(), parse_float=decimal.Decimal):
                if x["T"] == "b":
                    newest = self.seconds(x["t"])
                    bars[x["S"], newest * 10**9] = [decimal.Decimal(x[y]) for y in "ohlcvn"]
        socket.close()
        assert clean.stop() == 0
        return bars

    @staticmethod
    def seconds(text):
        return int(datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", text).replace("Z", "+00:00")).timestamp())

    @staticmethod
    def time(seconds):
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class AlpacaNow(Alpaca):
    """Its coins on the wall's clock, as it is run: minutes of a minute. What depends on a number of messages does not come to pass."""
    label, symbols = "alpaca, wall clock", ["BTC/USD", "ETH/USD"]
    limits = LIMITS.format(stale=5, trade=10, silence=10)
    calm_s, lasts_s = 140.0, 20.0
    from_s = int(time.time())
    faults = [Fault("silence@0s", cuts=True), Fault("silence:bars:BTC/USD@0s"), Fault("freeze@0s", cuts=True), Fault("close@1", cuts=True),
              Fault("slow:64B/s", cuts=True), Fault("fragment"), Fault("half-answer", first=True), Fault("slow-answer:20kB/s", first=True),
              Fault("5xx", first=True), Fault("5xx:bars", first=True), Fault("clock:+3s", first=True)]

    def start(self, folder, inside, *arguments):
        return folder.start(harness.Replay(inside, "--venue", "alpaca", "--keys", "PKTEST:hush", "--synthetic", str(SEED), *arguments))

    def config(self, inside):
        return super().config(inside).replace("[engine]\nclock = feed\nlatency_ms = 0\n", "")


def stored(daemon):
    """The venue's bars by symbol and opening: open, high, low, close, volume, trades."""
    rows = daemon.query("SELECT s.name, b.open_ns, b.open, b.high, b.low, b.close, b.volume, b.trades, s.price_scale, s.qty_scale "
                        "FROM bars b JOIN symbols s ON s.id = b.symbol WHERE b.source = 'venue'")
    scaled = lambda number, scale: decimal.Decimal(number).scaleb(-scale)
    return {(name, open_ns): [*(scaled(x, price) for x in prices), scaled(volume, qty), decimal.Decimal(trades)]
            for name, open_ns, *prices, volume, trades, price, qty in rows}


def newest(daemon, symbol):
    return daemon.query("SELECT coalesce(max(b.open_ns), 0) FROM bars b JOIN symbols s ON s.id = b.symbol "
                        f"WHERE b.source = 'venue' AND s.name = '{symbol}'")[0][0]


def gaps(daemon):
    return daemon.query("SELECT s.name, g.from_open_ns, g.to_open_ns FROM gaps g JOIN symbols s ON s.id = g.symbol WHERE g.filled_ns IS NULL")


def transcript(path, upgrade):
    """Of a replay that has ended: attempts to connect, requests, and how many of both were refused for passing a limit."""
    attempts = requests = refused = 0
    with open(path, errors="replace") as file:
        for line in file:
            parts = line[:400].split(" ", 5)
            if parts[1:2] == ["open"]:
                attempts += 1
            elif line.startswith("0 rest "):
                upgraded = bool(upgrade.match(line[len("0 rest "):]))
                attempts += upgraded
                requests += not upgraded
                refused += parts[4] in ("429", "418")
    return attempts, requests, refused


class Scenario:
    def __init__(self, folder, venue, faults, number):
        self.folder, self.venue, self.faults = folder, venue, faults
        self.name = f"{venue.label} " + " + ".join(("at the start " if f.first and "{s}" in f.text else "") + f.text.format(s=4) for f in faults)
        self.chance = random.Random(f"{SEED} {self.name}")
        self.inside = folder.within(f"{number}")
        self.gone = {re.split("[:=]", f.text)[1] for f in faults if f.text.startswith("delist@")}
        self.halted = {re.split("[:=]", f.text)[1] for f in faults if f.text.startswith("status@")}

    def lives(self):
        assert self.daemon.alive(), f"{self.name}: papertaped ended:\n{self.daemon.log_text()[-4000:]}"

    def live_bars(self, symbols, from_s):
        """Has each one a bar that opened then or later?"""
        self.lives()
        return os.path.exists(self.daemon.state + "/papertape.db") and all(newest(self.daemon, s) >= from_s * 10**9 for s in symbols)

    def begin(self):
        first = [x for f in self.faults if f.first and "{s}" not in f.text for text in (f.text, f.until) if text for x in ("--fault", text)]
        self.transcript = os.path.join(self.inside, "transcript")
        self.replay = self.venue.start(self.folder, self.inside, "--transcript", self.transcript, *first)
        self.began = time.monotonic()
        if not self.faults[0].alone:
            self.venue.move(self.replay)
        for fault in (f for f in self.faults if f.first and "{s}" in f.text):
            self.post(fault)
        self.daemon = self.folder.start(harness.Daemon(self.inside, self.replay, self.venue.config(self.inside)))

    def calm(self):
        """Data before the fault, where those of the beginning let any come."""
        end = time.monotonic() + (self.venue.calm_s if not any(f.first for f in self.faults) else self.venue.lasts_s)
        from_s, self.live = 0, False
        while time.monotonic() < end and not self.live:
            self.live = bool(from_s) and self.live_bars(self.venue.symbols, from_s)
            status = self.daemon.status_now()
            self.lives()
            if not from_s and status and status["feed"]["state"] == "ok" and status["symbols"]:
                from_s = self.venue.market_s(self.replay, time.time_ns()) if self.venue.name == "binance" else status["now_ns"] / 1e9
            time.sleep(0.05)

    def tell(self, text):
        """As harness.fault(); its answer may be one of those that end half way."""
        try:
            return harness.fault(self.replay, text)
        except http.client.IncompleteRead:
            return time.time_ns()

    def post(self, fault):
        self.tell(fault.text.format(s=int(time.monotonic() - self.began + self.venue.lasts_s + 1)))

    def strike(self):
        for fault in (f for f in self.faults if not f.first):
            self.post(fault)
            if len(self.faults) > 1:
                time.sleep(self.chance.random() * 2)
        time.sleep(self.venue.lasts_s)
        self.lives()
        return self.tell("none")

    def recover(self, end_ns):
        """Until a bar of each symbol that closed after the fault is stored, and nothing is missing any more."""
        at_s = self.venue.market_s(self.replay, end_ns)
        still = [s for s in self.venue.symbols if s not in self.gone]
        harness.wait_for(lambda: self.live_bars(still, at_s - self.venue.interval_s), f"{self.name}: the next bar")
        took_s = time.time() - end_ns / 1e9

        def well(status):
            venue = status["venues"][0]
            return (venue["state"] in ("ok", "stale") if self.gone or self.halted else venue["state"] == "ok") and venue["recovering"] == 0 and \
                venue["history_left"] == 0
        status = self.daemon.wait_status(well, f"{self.name}: recovered")
        try:
            harness.wait_for(lambda: not gaps(self.daemon), f"{self.name}: the missing bars", 30)
        except AssertionError:
            print(f"{self.name}: gaps are left: {gaps(self.daemon)}", flush=True)
        return took_s, status["venues"][0]

    def expire(self):
        """The certificate has expired: that venue gets no request. Then it has another, which a reload reads."""
        self.calm()
        status = self.daemon.wait_status(lambda s: "certificate" in s["venues"][0]["detail"], f"{self.name}: the reason")
        assert status["venues"][0]["connections_up"] == 0 and not status["symbols"], status
        assert self.replay.stop() == 0
        assert transcript(self.transcript, self.venue.upgrade)[:2] == (0, 0), "requests reached it"
        port = self.replay.urls["rest_url"].rsplit(":", 1)[1]
        self.replay = self.venue.start(self.folder, self.inside, "--transcript", self.transcript, "--listen", f"127.0.0.1:{port}")
        self.venue.move(self.replay)
        self.daemon.papertape("reload")
        return time.time_ns()

    def compare(self, own):
        """Every bar is the source's, without a hole from the first to the last. A halt changes the market: then the venue's
        own."""
        kept = stored(self.daemon)
        last = {symbol: max(open_ns for name, open_ns in kept if name == symbol) for symbol in self.venue.symbols}
        clean = self.folder.within(os.path.basename(self.inside) + "-clean")
        source = own or self.venue.source(self.folder, clean, self.replay, max(last.values()) // 10**9)
        wrong = [(key, bar, source.get(key)) for key, bar in kept.items() if bar != source.get(key)]
        if wrong and self.venue.name == "alpaca":
            sent = self.venue.sent(self.folder, clean, max(last.values()) // 10**9)
            wrong = [x for x in wrong if x[1] != sent.get(x[0])]
        missing = [key for key in source if key not in kept and
                   min(o for n, o in kept if n == key[0]) < key[1] < last[key[0]]]
        return len(kept), wrong, missing

    def run(self):
        self.begin()
        if self.faults[0].alone:
            end_ns = self.expire()
        else:
            self.calm()
            end_ns = self.strike()
        return self.end(*self.recover(end_ns))

    def end(self, took_s, venue):
        assert self.daemon.stop() == 0, f"{self.name}: {self.daemon.log_text()[-4000:]}"
        own = self.venue.bars(self.replay, (self.replay.start_s - 100 if self.venue.name == "binance" else self.venue.from_s - 24 * 3600)) if self.halted else None
        assert self.replay.stop() == 0
        n, wrong, missing = self.compare(own)
        attempts, requests, refused = transcript(self.transcript, self.venue.upgrade)
        attempts -= self.venue.name == "binance"  # that of move()
        row = dict(name=self.name, took_s=took_s, bars=n, wrong=wrong, missing=missing, attempts=attempts, requests=requests, refused=refused,
                   **{x: venue[x] for x in ("connects", "connects_failed", "recoveries", "recovery_last_ms", "recovery_worst_ms", "weight_used",
                                            "weight_limit")})
        return row

    def check(self, row):
        limited = any(f.text[:4] in ("429:", "418:", "ban@") for f in self.faults)
        both = "clock:+" in self.name and getattr(self.replay, "late_s", 0) > -0.1  # the wall's clock is ahead of a slow start, too
        assert not row["wrong"] or both, f"{self.name}: bars that are not the source's: {row['wrong'][:3]}"
        assert not row["missing"], f"{self.name}: bars are missing: {row['missing'][:10]}"
        assert row["attempts"] <= BUDGET and row["connects"] + row["connects_failed"] <= BUDGET, row
        assert not row["weight_limit"] or row["weight_used"] <= row["weight_limit"], row
        assert row["refused"] <= (REFUSED_MAX if limited else 0), row
        if self.live and any(f.cuts for f in self.faults):
            assert row["recoveries"] > 0, row
        assert row["recoveries"] == 0 or 0 <= row["recovery_last_ms"] <= row["recovery_worst_ms"], row


def line(row):
    seconds = lambda ms: "-" if ms is None else f"{ms / 1000:.1f}"
    return (f"{row['name']:64} {row['took_s']:6.1f} {row['recoveries']:4} {seconds(row['recovery_last_ms']):>6} "
            f"{seconds(row['recovery_worst_ms']):>6} {row['attempts']:4} {row['requests']:5} {row['refused']:4} {row['bars']:5}")


def scenarios():
    """Those that are run: (venue, faults)."""
    chance = random.Random(SEED)
    alone = [(venue, [fault]) for venue in [NOW, *VENUES] for fault in venue.faults]
    pairs = []
    if not harness.LONG:
        alone = [(venue, [fault]) for venue, (fault,) in alone if venue is not NOW and not fault.slow]
    while len(pairs) < PAIRS:
        venue = chance.choice(VENUES)
        pair = chance.sample([f for f in venue.faults if not f.alone and (harness.LONG or not f.slow)], 2)
        if not {f.text.split(":")[0].split("@")[0] for f in pair[:1]} & {f.text.split(":")[0].split("@")[0] for f in pair[1:]} and \
                (venue, pair) not in pairs:
            pairs.append((venue, pair))
    if not harness.LONG:
        alone = [(v, f) for v, f in alone if (v.name, f[0].text) in SHORT] + chance.sample(alone, 1)
    only = os.environ.get("PAPERTAPE_ONLY")
    chosen = alone + pairs
    return [s for s in chosen if not only or re.search(only, f"{s[0].label} " + " + ".join(f.text for f in s[1]))]


VENUES = [Binance(), Alpaca()]
NOW = AlpacaNow()
# What a daemon once failed: it took a bar that still formed, left bars out that it could not fetch at once, waited for five minutes
# while the venue had its former connection, and overlooked bars of an interruption that came upon another.
SHORT = {("binance", "clock:+3s"), ("binance", "5xx:klines"), ("alpaca", "huge:10MB")}


def main():
    failed = []
    print(f"system/fault_recovery: PAPERTAPE_SEED={SEED}")
    print(f"{'':64} {'bar s':>6} {'n':>4} {'last':>6} {'worst':>6} {'conn':>4} {'REST':>5} {'429':>4} {'bars':>5}", flush=True)
    with harness.Folder() as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        def one(scenario):
            try:
                row = scenario.run()
                sys.stdout.write(line(row) + "\n")
                sys.stdout.flush()
                scenario.check(row)
            except Exception as error:  # the others are run all the same
                failed.append(scenario.name)
                print(f"FAILED {scenario.name}: {type(error).__name__}: {error}", flush=True)
            finally:
                for process in [getattr(scenario, x, None) for x in ("daemon", "replay")]:
                    if process and process.alive():
                        process.stop(9)
        list(pool.map(one, [Scenario(folder, venue, faults, i) for i, (venue, faults) in enumerate(scenarios())]))
        assert not failed, failed
    return 0


if __name__ == "__main__":
    sys.exit(main())
