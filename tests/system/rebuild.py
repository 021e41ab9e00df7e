#!/usr/bin/env python3
"""A database that is absent, cut off, altered or another's is built again from the event log at the next start: with the
log whole its record is the lost one row for row; where the log's first segments are gone, accounts, positions, live
orders and keys are those of its oldest state, older rows are salvaged, and no account restarts. A kill in the
midst leaves the former state or the new one, and a repeated command is answered as before."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time

import harness

SEEDS = 200 if harness.LONG else 2
KILLS = 40 if harness.LONG else 1
CONFIG = harness.BUSY_CONFIG + "[events]\nsegment_mb = 1\n"
RECORD = {"orders": "id", "fills": "id", "ledger": "id", "positions": "account, symbol", "accounts": "id",
          "commands": "id", "runs": "run"}
SOCKET = "control.sock"
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "db", "schema")
OLDER = "older.db"  # a backup after the first run


rows = harness.query


def record(path):
    return {table: rows(path, f"SELECT * FROM {table} ORDER BY {order}") for table, order in RECORD.items()}


def verb(state, *arguments):
    done = subprocess.run([harness.PAPERTAPE, *arguments, "--state", state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    return done.returncode, done.stdout + done.stderr


def segments(state):
    return sorted(name for name in os.listdir(f"{state}/events") if name.endswith(".journal"))


def priced(status):
    return status.get("symbols") and all(float(symbol["last"] or 0) and float(symbol["ask"] or 0)
                                         for symbol in status["symbols"])


def run(folder, asked, number):
    """One run of the daemon: orders by hand and by a strategy, a live one, a cancelled one, transfers."""
    replay = harness.Replay(folder, "--synthetic", "3", "--rate", "600")
    daemon = harness.Daemon(folder, replay, CONFIG)
    try:
        trade(daemon, asked, number)
        assert daemon.stop() == 0, daemon.log_text()
    finally: # a check that failed leaves nothing behind
        daemon.stop(signal.SIGKILL)
        replay.stop()
    return daemon.state


def trade(daemon, asked, number):
    status = daemon.wait_status(priced, "prices")
    limit = f"{[float(x['last']) for x in status['symbols'] if x['symbol'] == 'ETHUSDT'][0] / 2:.2f}"
    for i in range(2):
        name = f"{number}-{i}"
        for arguments in (("order", "buy", "BTCUSDT", "0.01", "--account", "hand", "--client-id", f"k{name}"),
                          ("order", "buy", "ETHUSDT", "0.1", "--limit", limit, "--account", "hand", "--client-id", f"l{name}"),
                          ("account", "transfer", "main", "hand", "10", "--key", f"t{name}")):
            asked.append((arguments, daemon.papertape(*arguments)))
    daemon.papertape("order", "cancel", f"l{number}-0", "--account", "hand")
    fills = len(rows(f"{daemon.state}/papertape.db", "SELECT id FROM fills"))
    harness.wait_for(lambda: len(rows(f"{daemon.state}/papertape.db", "SELECT id FROM fills")) > fills + 2, "fills")


def make(folder):
    """A state directory of two runs: each begins a segment, and so does its last state."""
    asked = []
    state = run(folder, asked, 1)
    shutil.copy(f"{state}/papertape.db", f"{folder}/{OLDER}")
    state = run(folder, asked, 2)
    assert verb(state, "ledger", "verify")[0] == 0 and len(segments(state)) == 4
    return state, asked


class Start:
    """papertaped on a state directory, with a venue that never answers: it opens what it finds, and no event comes."""

    def __init__(self, state, **kwargs):
        self.state = state
        self.path = os.path.join(os.path.dirname(state), "start.ini")
        with open(self.path, "w") as file:
            file.write(CONFIG)
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [harness.DAEMON, "--config", self.path, "--state", state, "--venue-url", "wss://127.0.0.1:9", "--rest-url",
             "https://127.0.0.1:9"], stderr=self.log, stdin=subprocess.DEVNULL, **kwargs)

    def opened(self):
        """Waits until it has opened everything; the log's text once it has ended without."""
        harness.wait_for(lambda: os.path.exists(f"{self.state}/{SOCKET}") or self.process.poll() is not None, "a start")
        return self.process.poll() is None

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(harness.PATIENCE)
        self.log.seek(0)
        return self.log.read()


def start(state):
    """One start, ended once it has opened; what it logged."""
    if os.path.exists(f"{state}/{SOCKET}"):
        os.remove(f"{state}/{SOCKET}")
    daemon = Start(state)
    opened = daemon.opened()
    text = daemon.kill()
    assert opened, text
    return text


def sound(state):
    for arguments in (("ledger", "verify"), ("events", "verify")):
        code, text = verb(state, *arguments)
        assert code == 0, (arguments, text)
    assert rows(f"{state}/papertape.db", "PRAGMA integrity_check") == [("ok",)]


def copy(kept, folder, name, drop=0):
    state = os.path.join(folder, name, "state")
    shutil.copytree(kept, state)
    for segment in segments(state)[:drop]:
        os.remove(f"{state}/events/{segment}")
    return state


# ---- damages ----

def absent(path, rng):
    for end in ("", "-wal", "-shm"):
        if os.path.exists(path + end):
            os.remove(path + end)


def empty(path, rng):
    absent(path, rng)
    open(path, "w").close()


def foreign(path, rng):
    absent(path, rng)
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    database.close()


def no_database(path, rng):
    absent(path, rng)
    with open(path, "wb") as file:
        file.write(rng.randbytes(20000))


def truncated(path, rng):
    os.truncate(path, os.path.getsize(path) * rng.randrange(1, 9) // 10)


def flipped(path, rng):
    """Bytes of several pages, the first among them or not."""
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        for _ in range(rng.randrange(1, 40)):
            at = rng.randrange(100, size)
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << rng.randrange(8)]))


def pages_of(table):
    """Bytes in the pages of one table."""
    def damage(path, rng):
        page = rows(path, f"SELECT rootpage FROM sqlite_schema WHERE name = '{table}'")[0][0]
        size = rows(path, "PRAGMA page_size")[0][0]
        with open(path, "r+b") as file:
            file.seek((page - 1) * size)
            file.write(rng.randbytes(size))
    damage.__name__ = f"pages_of_{table}"
    return damage


def newest_gone(table):
    """The newest row of one table, of which no other says that it was there; of the commands a repeated key's."""
    def damage(path, rng):
        database = sqlite3.connect(path)
        keyed = "key <> '' AND" if table == "commands" else ""
        database.execute(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table} WHERE {keyed} 1)")
        assert database.total_changes == 1
        database.commit()
        database.close()
    damage.__name__ = f"newest_gone_of_{table}"
    return damage


GONE = [newest_gone(table) for table in ("ledger", "commands", "orders", "fills")]
DAMAGES = [absent, empty, foreign, no_database, truncated] + [pages_of(table) for table in RECORD] + GONE
WHOLE = DAMAGES if harness.LONG else [truncated, *GONE[:2]]
SHORT = DAMAGES if harness.LONG else [absent, DAMAGES[5]]


def check_whole(kept, folder):
    """The log reaches back to its beginning: the record is the lost one, row for row."""
    lost = record(f"{kept}/papertape.db")
    for damage in WHOLE:
        state = copy(kept, folder, f"whole-{damage.__name__}")
        damage(f"{state}/papertape.db", random.Random(1))
        text = start(state)
        assert "built again" in text, (damage.__name__, text)
        found = record(f"{state}/papertape.db")
        for table in RECORD:
            assert found[table] == lost[table], (damage.__name__, table, text)
        sound(state)
        asides = [name for name in os.listdir(state) if re.fullmatch(r"papertape\.db\.former-\d{8}T\d{6}Z", name)]
        assert len(asides) == (damage is not absent), asides
        sources = dict(rows(f"{state}/papertape.db", "SELECT name, source FROM rebuild_sources"))
        assert sources["orders"].startswith("event log from event 1"), sources
        check_list(state, sources, whole_from=1, lost=False)
        assert "built again" not in start(state)
        shutil.rmtree(os.path.dirname(state))


def held(path):
    """What accounts hold and have borrowed, by the ledger's own verification."""
    code, text = verb(os.path.dirname(path), "ledger", "verify", "--json")
    assert code == 0, text
    return {(b["account"], b["asset"]): (b["balance"], b["borrowed"]) for b in json.loads(text)["balances"]
            if float(b["balance"]) or float(b["borrowed"])}


def check_retention(kept, folder):
    """Segments are gone: what is held, live and keyed is there, ids continue, and nothing restarts."""
    lost = record(f"{kept}/papertape.db")
    live = "SELECT id, qty, price, client_id FROM orders WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL')"
    keys = "SELECT id, cmd, args, key, result FROM commands WHERE key <> ''"
    for damage in SHORT:
        state = copy(kept, folder, f"short-{damage.__name__}", drop=2)
        path = f"{state}/papertape.db"
        damage(path, random.Random(2))
        text = start(state)
        assert "built again" in text, (damage.__name__, text)
        sound(state)
        assert held(path) == held(f"{kept}/papertape.db"), damage.__name__
        for sql in (live, keys, "SELECT account, symbol, qty, cost, realized, fees FROM positions",
                    "SELECT id, name, currency FROM accounts"):
            assert sorted(rows(path, sql)) == sorted(rows(f"{kept}/papertape.db", sql)), (damage.__name__, sql)
        for table in ("orders", "fills", "ledger", "commands"): # what is there is what was
            known = {row[0]: row for row in lost[table]}
            for row in rows(path, f"SELECT * FROM {table}"):
                assert known[row[0]] == row, (damage.__name__, table, row)
        first, salvaged = rows(path, "SELECT first_seq FROM rebuilds")[0][0], rows(path, "SELECT count(*) FROM salvaged")[0][0]
        assert first > 0 and (salvaged > 0 or damage in (absent, empty, foreign, no_database, truncated)), damage.__name__
        gone = damage in (absent, empty, foreign, no_database)
        sources = dict(rows(path, "SELECT name, source FROM rebuild_sources"))
        assert not gone or "lost: " in sources["ledger"], sources
        base = rows(path, "SELECT event_seq FROM base")
        check_list(state, sources, whole_from=base[0][0] + 1 if base else 1, lost=gone or None)
        if gone:
            check_report(state, base[0][0])
        shutil.rmtree(os.path.dirname(state))


def check_list(state, sources, whole_from, lost):
    """`ledger verify` says when and why, from where on the record is whole, and where each table came from."""
    code, text = verb(state, "ledger", "verify", "--json")
    rebuilt = json.loads(text)["rebuilt"]
    assert code == 0 and {s["table"]: s["source"] for s in rebuilt["sources"]} == sources, (rebuilt, sources)
    assert rebuilt["whole_from"] == whole_from and rebuilt["why"] and rebuilt["ts_ns"] > 0, rebuilt
    assert lost is None or rebuilt["lost"] is lost, rebuilt
    code, text = verb(state, "ledger", "verify")
    assert code == 0 and f"whole from event {whole_from} on" in text and "built again " in text, text
    for table, source in sources.items():
        assert re.search(rf"^  {table} +{re.escape(source)}$", text, re.M), (table, source, text)


def check_report(state, base_seq):
    """What was lost is not known; a period after it is as any."""
    (base_ns, newest) = rows(f"{state}/papertape.db", "SELECT ts_ns, (SELECT max(ts_ns) FROM equity) FROM base")[0]
    code, text = verb(state, "report", "--from", "2020-01-01", "--to", str(newest + 1), "--json")
    report = json.loads(text)
    assert code == 0 and set(report["alerts"]["raised"].values()) == {None} and report["feed_silent_s"] is None, text
    for account in report["accounts"]:
        nulls = ("orders", "orders_refused", "orders_cancelled", "fills", "volume", "trades", "fees", "interest", "dividends",
                 "realized", "unrealized_change", "other")
        assert account["positions_before_known"] is False and {account[key] for key in nulls} == {None}, account
        assert set(account["flows"].values()) == {None}, account
        assert account["opening_ns"] is None or account["opening_ns"] >= base_ns or account["pnl"] is None, account
    for form in ("--text", "--summary"):
        code, text = verb(state, "report", "--from", "2020-01-01", "--to", str(newest + 1), form)
        assert code == 0 and "n/a" in text and ("trades     n/a" in text or form == "--summary"), text
        assert "alerts: n/a errors, n/a warnings" in text or form == "--text", text
    code, text = verb(state, "report", "--from", str(base_ns + 1), "--to", str(newest + 1), "--json")
    assert code == 0 and all(account["orders"] is not None for account in json.loads(text)["accounts"]), text


def check_continues(kept, folder, asked):
    """With a venue again: keys are answered as before, and new orders have new numbers."""
    state = copy(kept, folder, "on", drop=2)
    highest = {table: rows(f"{kept}/papertape.db", f"SELECT max(id) FROM {table}")[0][0]
               for table in ("orders", "fills", "ledger", "commands")}
    absent(f"{state}/papertape.db", None)
    replay = harness.Replay(os.path.dirname(state), "--synthetic", "3", "--rate", "300")
    daemon = harness.Daemon(os.path.dirname(state), replay, CONFIG)
    try:
        ask_again(kept, state, daemon, asked, highest)
        assert daemon.stop() == 0, daemon.log_text()
    finally:
        daemon.stop(signal.SIGKILL)
        replay.stop()
    sound(state)
    text = start(state) # the database alone knows the record from its base on
    assert "built again" not in text, text


def ask_again(kept, state, daemon, asked, highest):
    daemon.wait_status(priced, "prices")
    for arguments, answer in asked:
        again = daemon.papertape(*arguments)
        # of an order it has the state that it has now
        assert again.startswith(answer.strip().removesuffix("PENDING")) and again != answer, (arguments, again, answer)
    assert rows(f"{state}/papertape.db", "SELECT count(*) FROM commands WHERE key <> ''")[0][0] == \
        len(rows(f"{kept}/papertape.db", "SELECT DISTINCT key FROM commands WHERE key <> ''"))
    daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand", "--client-id", "new")
    harness.wait_for(lambda: rows(f"{state}/papertape.db", "SELECT count(*) FROM orders WHERE client_id = 'new' AND "
                                  "state = 'FILLED'")[0][0] == 1, "a fill")
    for table, number in highest.items():
        assert rows(f"{state}/papertape.db", f"SELECT max(id) FROM {table}")[0][0] > number, table
    opened = rows(f"{state}/papertape.db", "SELECT count(*) FROM ledger WHERE kind = 'deposit'")[0][0]
    assert opened == 0, "an account restarted"
    alerts = rows(f"{state}/papertape.db", "SELECT text, severity FROM alerts WHERE code = 'database-rebuilt'")
    assert [severity for text, severity in alerts if "built again" in text] == ["error"], alerts
    status = daemon.wait_status(lambda s: s["rebuilt"], "the list")["rebuilt"]
    sources = dict(rows(f"{state}/papertape.db", "SELECT name, source FROM rebuild_sources"))
    assert status["lost"] and {s["table"]: s["source"] for s in status["sources"]} == sources, status
    text = daemon.papertape("status")
    assert re.search(r"^rebuilt +.* whole from event \d+ on; rows are lost$", text, re.M), text
    assert f"ledger: {sources['ledger']}" in text, text


def check_kills(kept, folder):
    """Killed at any moment of a rebuild, the next start finishes it."""
    lost = record(f"{kept}/papertape.db")
    rng = random.Random(7)
    state = copy(kept, folder, "timed")
    truncated(f"{state}/papertape.db", rng)
    began = time.monotonic()
    start(state)
    whole = time.monotonic() - began
    for i in range(KILLS):
        state = copy(kept, folder, f"kill-{i}")
        truncated(f"{state}/papertape.db", rng)
        daemon = Start(state)
        time.sleep(rng.uniform(0, whole))
        daemon.kill()
        start(state)
        found = record(f"{state}/papertape.db")
        assert found == lost, i
        sound(state)
        left = [name for name in os.listdir(state) if "rebuilding" in name or "rebuilt" in name]
        assert not left, left
        shutil.rmtree(os.path.dirname(state))


def check_seeds(kept, folder):
    """Any damage, at any place, with any number of segments gone: after a start all is sound."""
    built = 0
    for seed in range(SEEDS):
        rng = random.Random(seed)
        drop = rng.randrange(0, len(segments(kept)) - 1)
        state = copy(kept, folder, f"seed-{seed}", drop=drop)
        damage = rng.choice(DAMAGES + [flipped] * len(DAMAGES))
        damage(f"{state}/papertape.db", rng)
        text = start(state)
        built += "built again" in text
        try:
            sound(state)
            assert held(f"{state}/papertape.db") == held(f"{kept}/papertape.db")
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {damage.__name__}, {drop} segments gone: {error}\n{text}") from None
        shutil.rmtree(os.path.dirname(state))
    return built


def check_beyond(kept, folder):
    """The log's last segments are gone and the database is damaged: what it holds beyond the log's end is salvaged where it
    is whole, else reported as lost; a key is known in both, and is not carried out twice."""
    lost = record(f"{kept}/papertape.db")
    for table, whole in (("alerts", True), ("ledger", False)):
        state = copy(kept, folder, f"beyond-{table}")
        path = f"{state}/papertape.db"
        for segment in segments(state)[2:]:
            os.remove(f"{state}/events/{segment}")
        pages_of(table)(path, random.Random(3))
        text = start(state)
        assert "built again" in text, text
        found = record(path)
        assert [row for row in found["commands"] if row[0] <= lost["commands"][-1][0]] == lost["commands"], (table, text)
        assert not whole or all(found[t] == lost[t] for t in RECORD), ([t for t in RECORD if found[t] != lost[t]], text)
        code, said = verb(state, "ledger", "verify", "--json")
        rebuilt = json.loads(said)["rebuilt"]
        assert code == 0 and rebuilt["lost"] is not whole, said
        ledger = [s["source"] for s in rebuilt["sources"] if s["table"] == "ledger"][0]
        assert ("salvaged: " if whole else "lost: after event ") in ledger, ledger
        shutil.rmtree(os.path.dirname(state))


def flip(path, tenths):
    with open(path, "r+b") as file:
        at = os.path.getsize(path) * tenths // 10
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 16]))


def event_seq(path):
    return int(rows(path, "SELECT value FROM meta WHERE key = 'event_seq'")[0][0])


def seal(_, *values):
    """Rule 2 of db/row_hash.h."""
    spelled = {int: str, float: lambda v: "r" + struct.pack(">d", v).hex(), type(None): lambda _: "n",
               str: lambda v: f"t{len(v.encode())}:{v}"}
    return hashlib.sha256("|".join(spelled[type(v)](v) for v in values).encode()).digest()


def former_schema(path):
    """The newest migration taken back: rows with the columns that there were, and accounts with the seals."""
    newer = path + ".newer"
    os.rename(path, newer)
    former = sqlite3.connect(path)
    former.create_function("seal", -1, seal, deterministic=True)
    names = sorted(name for name in os.listdir(SCHEMA) if name.endswith(".sql"))[:-1]
    for name in names:
        with open(os.path.join(SCHEMA, name), encoding="ascii") as file:
            former.executescript(file.read())
    former.executescript(f"PRAGMA application_id = {0x50415054}; PRAGMA user_version = {len(names)};")
    former.execute("ATTACH ? AS newer", (newer,))
    for (table,) in former.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        columns, there = ({row[1] for row in former.execute(f"PRAGMA {of}.table_info({table})")} for of in ("main", "newer"))
        if columns <= there:
            listed = ", ".join(sorted(columns))
            former.execute(f"DELETE FROM main.{table}")
            former.execute(f"INSERT INTO main.{table} ({listed}) SELECT {listed} FROM newer.{table}")
    former.execute("UPDATE main.accounts SET hash = seal(2, id, name, currency, currency_scale, created_ns, cash, strategy, "
                   "params, maker_e6, taker_e6, exposure_symbol, exposure_account, daily_loss, orders_per_second, drawdown, "
                   "price_band, cooldown_ns, positions, shorts, collateral_e4, maintenance_e4, borrow_rate_e6, equity_peak, "
                   "day, day_equity, killed_ns)")
    former.commit()
    former.close()
    os.remove(newer)


def check_older(kept, folder):
    """A backup, of the former schema too, is put back over a log that lacks events after it, or whose newest cannot be read:
    what the log has behind them is not rolled back, and what is lost is an error. A database that holds all of it stays."""
    lost = record(f"{kept}/papertape.db")
    last, older = event_seq(f"{kept}/papertape.db"), event_seq(f"{folder}/{OLDER}")
    live = "SELECT id, qty, price, client_id FROM orders WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL')"
    keys = "SELECT id, cmd, args, key, result FROM commands WHERE key <> ''"
    damages = {"missing": lambda path: os.remove(path), "altered": lambda path: flip(path, 8)}  # behind the state that a segment begins with
    for name, damage in damages.items():
        state = copy(kept, folder, f"older-{name}")
        path = f"{state}/papertape.db"
        damage(f"{state}/events/{segments(state)[2]}")
        text = start(state)
        assert "built again" not in text and record(path) == lost, text
        shutil.rmtree(os.path.dirname(state))
        state = copy(kept, folder, f"older-{name}")
        damage(f"{state}/events/{segments(state)[2]}")
        absent(path, None)
        shutil.copy(f"{folder}/{OLDER}", path)
        if name == "altered":
            former_schema(path)
        text = start(state)
        said = re.search(rf"error .*its state after event {last} .*lost: [0-9]+ older rows .*\(it ends at event {older}, and the "
                         rf"log lacks events ([0-9]+) to {last}\)", text)
        assert said and (int(said[1]) == older + 1) == (name == "missing"), text
        assert event_seq(path) == last and held(path) == held(f"{kept}/papertape.db"), text
        for sql in (live, keys):
            assert sorted(rows(path, sql)) == sorted(rows(f"{kept}/papertape.db", sql)), (name, sql)
        code, said = verb(state, "ledger", "verify", "--json")
        assert code == 0 and json.loads(said)["rebuilt"]["lost"] is True, said
        assert "built again" not in start(state)
        shutil.rmtree(os.path.dirname(state))
    check_older_end(kept, folder, older)


def check_older_end(kept, folder, older):
    """The newest segment is altered: a backup is played on to there, and not left where it ends."""
    state = copy(kept, folder, "older-end")
    path = f"{state}/papertape.db"
    os.remove(f"{state}/events/{segments(state)[-1]}")
    flip(f"{state}/events/{segments(state)[-1]}", 9)
    absent(path, None)
    shutil.copy(f"{folder}/{OLDER}", path)
    text = start(state)
    assert event_seq(path) > older and re.search(rf"error .*lost: .*\(it ends at event {older}, and the log that is put aside at "
                                                 rf"event {event_seq(path)}\)", text), text
    assert verb(state, "ledger", "verify")[0] == 0


def check_away(kept, folder):
    """Without its log: what closed since the newest stored bar is fetched and looked at, however little [market] history says."""
    state = copy(kept, folder, "away", drop=4)
    sql = "SELECT open_ns FROM bars WHERE symbol = 1 AND interval_ns = 1000000000 AND source = 'venue' ORDER BY open_ns"
    former = rows(f"{state}/papertape.db", sql)[-1][0]
    harness.wait_for(lambda: time.time_ns() > former + 9 * 10**9, "a time away")
    place = os.path.dirname(state)
    replay = harness.Replay(place, "--synthetic", "3", "--rate", "300")
    daemon = harness.Daemon(place, replay, CONFIG.replace("history = 50", "history = 2"))
    try:
        status = daemon.wait_status(priced, "prices")
        assert daemon.stop() == 0, daemon.log_text()
    finally:
        daemon.stop(signal.SIGKILL)
        replay.stop()
    since = [row[0] for row in rows(f"{state}/papertape.db", sql) if row[0] >= former]
    assert status["recovery"]["from"] == "database" and status["recovery"]["missed_bars"] >= 2 * 8, status["recovery"]
    assert len(since) >= 9 and all(b - a == 10**9 for a, b in zip(since, since[1:])), since


def check_contradicts(kept, folder):
    """A log of another history beside a sound database: that is the truth, the log is put aside and says why, once."""
    place = os.path.join(folder, "contradicts")
    os.makedirs(place)
    replay = harness.Replay(place, "--synthetic", "3", "--rate", "300")
    daemons = []
    try:
        for name in ("before", "first", "second"):
            if name == "first":
                shutil.rmtree(f"{daemons[0].state}/events")
                shutil.copytree(f"{kept}/events", f"{daemons[0].state}/events")
            daemons.append(harness.Daemon(place, replay, CONFIG, name=name))
            status = daemons[-1].wait_status(priced, "prices")
            assert daemons[-1].stop() == 0, daemons[-1].log_text()
    finally:
        for daemon in daemons:
            daemon.stop(signal.SIGKILL)
        replay.stop()
    state, text = daemons[0].state, daemons[1].log_text()
    words = r"the event log is put aside as (events\.damaged-\w+): it contradicts the database: at event \d+ it gives order .+: " \
            r"the database alone is the truth"
    said = re.search(words, text)
    assert said and os.path.isdir(f"{state}/{said[1]}"), text
    assert "put aside" not in daemons[2].log_text() and status["recovery"]["from"] == "log", daemons[2].log_text()
    alerts = rows(f"{state}/papertape.db", "SELECT text FROM alerts WHERE code = 'event-log'")
    assert len(alerts) == 1 and re.match(words, alerts[0][0]), alerts
    sound(state)


def check_altered(kept, folder):
    """A byte in the log's newest segment, and no database: blocks behind the altered one are there and cannot be played, so
    that their events are lost: the log, `ledger verify` and its list say which, as an error."""
    state = copy(kept, folder, "altered")
    path = f"{state}/papertape.db"
    newest = rows(path, "SELECT value FROM meta WHERE key = 'event_seq'")[0][0]
    absent(path, None)
    os.remove(f"{state}/events/{segments(state)[-1]}")
    flip(f"{state}/events/{segments(state)[-1]}", 9)
    text = start(state)
    end = event_seq(path)
    assert end < int(newest) and re.search(rf"error.*events 1 to {end};.*lost: events {end + 1} to {newest}, in an altered block "
                                           r"of the log and behind it: events\.damaged-", text), text
    code, said = verb(state, "ledger", "verify")
    assert code == 0 and f"lost: events {end + 1} to {newest}, in an altered block" in said, said
    assert json.loads(verb(state, "ledger", "verify", "--json")[1])["rebuilt"]["lost"] is True


def check_words(kept, folder):
    """What SQLite quotes of a damaged file may be no UTF-8: the list can still be printed."""
    state = copy(kept, folder, "words")
    path = f"{state}/papertape.db"
    with open(path, "rb") as file:
        content = file.read()
    at = content.index(b"INTEGER", re.search(rb'CREATE TABLE "?equity"? ', content).end()) - 1
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(b"\xa0")
    text = start(state)
    assert "built again" in text, text
    sound(state)
    code, text = verb(state, "ledger", "verify", "--json")
    assert code == 0 and json.loads(text)["rebuilt"]["why"].isascii(), text


def check_schema(kept, folder):
    """A table's definition has other letters and reads as well: a start finds it, as the verification would."""
    state = copy(kept, folder, "schema")
    path = f"{state}/papertape.db"
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "r+b") as file:
        file.seek(content.index(b"TEXT", re.search(rb'CREATE TABLE "?trainings"? ', content).end()) + 3)
        file.write(b"t")
    text = start(state)
    assert "schema: row trainings: is not as this program makes it: it is built again" in text, text
    sound(state)


def check_full(kept, folder):
    """The new file cannot be written: the start says so and ends, rather than wait for it; the next one builds it."""
    state = copy(kept, folder, "full")
    absent(f"{state}/papertape.db", None)
    failures = os.path.join(folder, "failures")
    with open(failures, "w") as file:
        file.write("building 28\n")
    daemon = Start(state, env=os.environ | {"LD_PRELOAD": harness.FAILURES, "FAILURES": failures})
    assert not daemon.opened()
    text = daemon.kill()
    assert daemon.process.returncode != 0 and "the new database: " in text, text
    assert "built again" in start(state)
    sound(state)


def check_refused(kept, folder):
    """Neither can be read: a refusal in words, and nothing restarts."""
    state = copy(kept, folder, "refused")
    for name in segments(state):
        with open(f"{state}/events/{name}", "r+b") as file:
            file.write(b"\0" * 200)
    absent(f"{state}/papertape.db", None)
    daemon = Start(state)
    assert not daemon.opened()
    text = daemon.kill()
    assert daemon.process.returncode != 0 and "cannot be built again" in text, text
    assert not os.path.exists(f"{state}/papertape.db")


def main():
    with tempfile.TemporaryDirectory() as folder:
        kept, asked = make(folder)
        check_whole(kept, folder)
        check_retention(kept, folder)
        check_continues(kept, folder, asked)
        check_kills(kept, folder)
        check_beyond(kept, folder)
        check_altered(kept, folder)
        check_older(kept, folder)
        check_contradicts(kept, folder)
        check_away(kept, folder)
        check_words(kept, folder)
        check_schema(kept, folder)
        if not harness.SANITIZED:  # its runtime comes first
            check_full(kept, folder)
        check_refused(kept, folder)
        built = check_seeds(kept, folder)
        print(f"rebuild: {len(WHOLE)} of {len(DAMAGES)} damages with the log whole, {len(SHORT)} with it cut short, {KILLS} kills, "
              f"{SEEDS} seeds of which {built} were built again: nothing acknowledged is lost")


main()
