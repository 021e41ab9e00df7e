#!/usr/bin/env python3
"""Drives papertape in tmux as a user does, against a control server and a database of its own.

usage: dashboard.py PAPERTAPE SOURCE_ROOT [PAPERTAPED REPLAY]

Standard library and tmux only; exit status 77 without tmux. With papertaped and papertape-replay the real daemon
stands in for the fake one, on the synthetic market, and what the keys did is asked of it."""

import copy
import decimal
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../fixtures")]
import fake_daemon  # noqa: E402
import programs  # noqa: E402
import real_daemon  # noqa: E402

DEADLINE_S = programs.PATIENCE
NS = 1_000_000_000


class Tmux:
    """One tmux server of our own with one window."""

    def __init__(self, folder):
        self.socket = os.path.join(folder, "tmux.sock")

    def run(self, *args, check=True):
        result = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *args], capture_output=True,
                                text=True, check=False)
        if check and result.returncode:
            raise AssertionError(f"tmux {' '.join(args)}: {result.stderr.strip()}")
        return result.stdout

    def start(self, width, height, environment):
        extra = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        self.run("new-session", "-d", "-x", str(width), "-y", str(height), *extra, "sh")
        self.run("set-option", "-g", "remain-on-exit", "on")
        self.run("set-option", "-g", "window-size", "manual", check=False)

    def stop(self):
        self.run("kill-server", check=False)

    def keys(self, *keys):
        for key in keys:
            self.run("send-keys", key)

    def type(self, text):
        self.run("send-keys", "-l", "--", text)

    def screen(self):
        return self.run("capture-pane", "-p")

    def terminal(self):
        """Alternate screen and cursor: "1 0" in the dashboard, "0 1" when the terminal is as it was."""
        return self.run("display", "-p", "#{alternate_on} #{cursor_flag}").strip()

    def resize(self, width, height):
        """Until the terminal has that size: tmux sets it a quarter of a second later, and a key may be lost meanwhile."""
        self.run("resize-window", "-x", str(width), "-y", str(height))
        terminal = os.open(self.run("display", "-p", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY)
        try:
            wait("the terminal's size", lambda: tuple(os.get_terminal_size(terminal)) == (width, height), self.screen)
        finally:
            os.close(terminal)


def wait(what, condition, detail=lambda: ""):
    """Polls until condition() is true; fails loudly after the deadline, with what is there instead."""
    try:
        programs.wait_for(condition, what, DEADLINE_S)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{detail()}") from error


def shows(tmux, text):
    """A list's "Trainings (3)" is "Trainings (1 of 3)" where Tab has chosen it."""
    screen = tmux.screen()
    return text in screen or text in re.sub(r"\(\d+ of (\d+)\)", r"(\1)", screen)


def expect(tmux, *texts):
    wait(f"on the screen: {texts}", lambda: all(shows(tmux, text) for text in texts), tmux.screen)


def expect_gone(tmux, text):
    wait(f"gone from the screen: {text!r}", lambda: not shows(tmux, text), tmux.screen)


def confirm(tmux, key, question, *outcome):
    """What a key asks, a y, and the answer to it: what is pressed before the answer has come is for the page as it was."""
    tmux.keys(key)
    expect(tmux, *question, "y does it")
    tmux.keys("y")
    expect(tmux, *outcome)


def runs(pid):
    """Is it alive, and not only waiting for someone to take its exit status?"""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Session:
    """The dashboard in a terminal, with the daemon that it looks at."""

    def __init__(self, program, folder):
        self.program = program
        self.state = os.path.join(folder, "state")
        os.mkdir(self.state)
        self.daemon = self.pid = None
        self.tmux = Tmux(folder)

    def command(self, *options):
        return " ".join([self.program, "--state", self.state, *options])

    def launch(self, *options, prefix=""):
        """Types the command and waits for its first picture; returns the process id."""
        self.tmux.type("clear; " + prefix + self.command(*options))
        self.tmux.keys("Enter")
        expect(self.tmux, "PAPER ", "?=help")
        wait("the alternate screen", lambda: self.tmux.terminal() == "1 0")
        shell = self.tmux.run("display", "-p", "#{pane_pid}").strip()
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as children:
            self.pid = int(children.read().split()[-1])
        return self.pid

    def restored(self):
        wait("the terminal as it was", lambda: self.tmux.terminal() == "0 1", self.tmux.terminal)

    def ended(self):
        """Whole, with the leak check of sanitizers: the kernel's SIGCONT to an orphaned group, where its terminal closes
        meanwhile, can undo the SIGSTOP that such a check begins with, which then waits for ever."""
        self.restored()
        wait("the end of the process", lambda: not runs(self.pid))


def test_start_and_tabs(session):
    tmux = session.tmux
    session.launch()
    expect(tmux, "feed ok", "TRADING on", "parity ok 31d", "BTCUSDT", "61837.63", "Positions (1)", "Equity 1h", "Alerts (1)",
           "cross up", "10010.20")
    for key, text in (("2", "no trainings: s starts one"), ("3", "no GPU: no NVIDIA driver (libnvidia-ml.so.1)"),
                      ("4", "[4]Mkt"), ("5", "Accounts (1)"), ("6", "Orders (1 of"), ("7", "ETHUSDT depth is late"),
                      ("8", "7 BUY MARKET BTCUSDT"), ("1", "[1]Over")):
        tmux.keys(key)
        expect(tmux, text)
    tmux.keys("Right")
    expect(tmux, "[2]Study")
    tmux.keys("h")
    expect(tmux, "[1]Over")
    tmux.keys("j")
    expect(tmux, ">ETHUSDT")
    tmux.keys("?")
    expect(tmux, "quit, and the daemon continues")
    tmux.keys("Escape")
    expect_gone(tmux, "quit, and the daemon continues")
    tmux.keys("z")
    expect_gone(tmux, "Positions (1)")
    tmux.keys("z")
    expect(tmux, "Positions (1)")
    tmux.keys("f")
    expect(tmux, "FROZEN")
    tmux.keys("f")
    expect_gone(tmux, "FROZEN")


def test_commands(session):
    tmux, daemon = session.tmux, session.daemon
    tmux.keys("p")
    expect(tmux, "pause done", "TRADING paused")
    assert len(daemon.seen("pause")) == 1
    tmux.keys("p")
    expect(tmux, "resume done", "TRADING on")
    assert daemon.trading() == "on"
    tmux.keys("a")
    expect(tmux, "ack done")
    assert daemon.seen("ack") == [{"alert": 3}]

    for wrong in ("n", "Enter", "Escape"):
        tmux.keys("6", "x")
        expect(tmux, "order 7: SELL", "y cancels it")
        tmux.keys(wrong)
        expect(tmux, "cancel: nothing is done")
    assert daemon.seen("cancel") == []
    tmux.keys("x")
    expect(tmux, "y cancels it")
    tmux.keys("y")
    expect(tmux, "cancel done", "order 7")
    assert daemon.seen("cancel") == [{"order": 7}]
    tmux.keys("1", "x")
    expect(tmux, "choose an order first")

    for wrong in ("flatten", "FLATTER"):
        tmux.keys("F")
        expect(tmux, "Type FLATTEN", "BTCUSDT")
        tmux.type(wrong)
        tmux.keys("Enter")
        expect(tmux, "the word was not FLATTEN")
        tmux.keys("Escape")
    tmux.keys("F")
    expect(tmux, "Type FLATTEN")
    tmux.type("FLATTEN")
    tmux.keys("Escape")
    expect_gone(tmux, "Type FLATTEN")
    assert daemon.seen("flatten") == []
    tmux.keys("F")
    expect(tmux, "Type FLATTEN")
    tmux.type("FLATTEN")
    tmux.keys("Enter")
    expect(tmux, "flatten done", "1 canceled, 1 closing orders", "Positions (0)", "TRADING paused")
    assert daemon.seen("flatten") == [{"confirm": "FLATTEN"}]


def test_parity(session):
    tmux, daemon = session.tmux, session.daemon
    for parity, words in (({"state": "failed", "days": None, "checked_ns": 1, "detail": "fills 42"}, "parity FAILED"),
                          ({"state": "none", "days": None, "checked_ns": None, "detail": ""}, "parity -"),
                          (daemon.status["parity"], "parity ok 31d")):
        kept = daemon.status["parity"]
        with daemon.lock:
            daemon.status["parity"] = parity
        tmux.resize(120, 40)
        expect(tmux, words)
        with daemon.lock:
            daemon.status["parity"] = kept
    tmux.resize(80, 24)
    expect(tmux, "parity ok 31d")
    assert "parity    ok 31d, compared " in run_verb(session, "status")[0]


def test_sizes(session):
    tmux = session.tmux
    tmux.keys("Escape")  # the last command's outcome makes room for the keys
    tmux.resize(40, 10)
    expect(tmux, "PAPER", "Prices (2)", "q quit")
    tmux.resize(200, 60)
    expect(tmux, "Streams (8)", "Log", "Accounts (1)", "q quit")
    wait("the last line at the bottom", lambda: "q quit" in tmux.screen().split("\n")[59])
    tmux.resize(39, 9)
    expect(tmux, "39x9: needs 40x10")
    tmux.resize(80, 24)
    expect(tmux, "Equity 1h", "?=help")


def test_stale_and_back(session):
    tmux, daemon = session.tmux, session.daemon
    daemon.silent = True
    expect(tmux, "STALE")
    tmux.keys("p")  # trading is paused: p resumes
    expect(tmux, "resume pending")
    expect(tmux, "unanswered", "timed out")
    tmux.keys("Escape")  # else its words stay for a minute, over the daemon's
    daemon.stop()
    expect(tmux, "NO DAEMON", "no daemon is listening", "BTCUSDT")
    tmux.keys("p")
    expect(tmux, " refused", "no daemon is listening")
    daemon.silent = False
    daemon.start()
    expect(tmux, "feed ok")


def test_quit_and_signals(session):
    tmux = session.tmux
    tmux.keys("q")
    session.ended()
    tmux.type("echo status=$?")
    tmux.keys("Enter")
    expect(tmux, "status=0")
    pid = session.launch()
    os.kill(pid, signal.SIGTERM)
    session.ended()
    tmux.type("echo status=$?")
    tmux.keys("Enter")
    expect(tmux, f"status={128 + signal.SIGTERM}")
    pid = session.launch()
    tmux.keys("C-z")
    session.restored()
    tmux.type("fg")
    tmux.keys("Enter")
    expect(tmux, "PAPER ", "q quit")
    os.kill(pid, signal.SIGABRT)
    session.ended()
    session.launch()
    tmux.keys("C-c")
    session.ended()
    # The words are put together by the shell, so that only its answer holds them, wherever its prompt comes.
    tmux.type("stty -a | grep -qw -- '-icanon\\|-echo' && echo line'-'raw || echo line'-'sane")
    tmux.keys("Enter")
    wait("a sane line discipline", lambda: "line-sane" in tmux.screen(), tmux.screen)
    session.launch("--readonly")
    expect(tmux, "read-only")
    tmux.keys("p")
    expect(tmux, "started with --readonly")
    tmux.keys("q")
    session.ended()


def test_plain_terminals(session):
    tmux = session.tmux
    for said, sent, other in ("", "\x1b[38;5;", "\x1b[38;2;"), ("truecolor", "\x1b[38;2;", "\x1b[38;5;"):
        session.launch(prefix=f"COLORTERM={said} ")
        shown = tmux.run("capture-pane", "-p", "-e")
        assert sent in shown and other not in shown, (said, shown)
        tmux.keys("F2", "Down", "Right", *["Right"] * (said == "truecolor"))  # true, 256
        wait("other colours", lambda: other in (shown := tmux.run("capture-pane", "-p", "-e")) and sent not in shown, tmux.screen)
        tmux.keys("Escape", "q")
        session.ended()
    session.launch(prefix="NO_COLOR=1 COLORTERM=truecolor ")
    coloured = re.findall("\x1b\\[(?:[0-9]+;)*(?:[34][0-8]|9[0-7])[;m]", tmux.run("capture-pane", "-p", "-e"))
    assert not coloured, coloured[:3]
    tmux.keys("q")
    session.ended()
    session.launch("--glyphs ascii", prefix="LC_ALL=C ")
    assert tmux.screen().isascii()
    tmux.keys("q")
    session.ended()
    tmux.type("clear; TERM=dumb " + session.command())
    tmux.keys("Enter")
    expect(tmux, "price     BTCUSDT last 61837.63")
    assert tmux.terminal() == "0 1"


def test_hang_up(session):
    """The terminal goes away: the dashboard ends, and does not poll a dead terminal for ever."""
    pid = session.launch()
    os.kill(pid, signal.SIGHUP)
    session.ended()
    session.tmux.type("echo status=$?")
    session.tmux.keys("Enter")
    expect(session.tmux, f"status={128 + signal.SIGHUP}")
    # No leak check here, as its terminal is closed (Session.ended()); every other end has one.
    pid = session.launch(prefix="ASAN_OPTIONS=detect_leaks=0 ")
    session.tmux.run("kill-server")
    wait("the end of an orphaned dashboard", lambda: not runs(pid))


def test_venue_absent(session):
    """The daemon does not know yet what it holds: the database's last stands in, as old as it is."""
    tmux, daemon = session.tmux, session.daemon
    known = copy.deepcopy(daemon.status)
    unknown = dict.fromkeys(("accounts", "symbols", "positions", "orders", "counters"))
    feed = dict(known["feed"], state="retry", retry_in_ms=11200, age_ms=None, streams=[],
                detail="https://127.0.0.1:9443/api/v3/exchangeInfo: Connection refused")
    with daemon.lock:
        daemon.status.update(unknown, feed=feed)
    session.launch()
    expect(tmux, "feed retry in 1", "binance retry in 1", "Connection", "Prices (1)", "Positions (1)",
           "BTCUSDT   L", "0.08", "STALE", "TRADING ", "fills n/a")
    assert "flat " not in tmux.screen() and "no symbols" not in tmux.screen(), tmux.screen()
    tmux.keys("q")
    session.ended()
    out, _ = run_verb(session, "status")
    assert "position  main BTCUSDT L qty 0.08" in out and "STALE" in out and "flat" not in out, out
    assert "feed      binance retry, retry in 11s, age n/a" in out and "orders    n/a, fills n/a" in out, out
    assert " -1" not in out, out
    out, _ = run_verb(session, "--json", status=4)
    whole = json.loads(out)
    assert whole["status"]["positions"] is None and whole["positions"][0]["qty"] == 0.08, out
    with daemon.lock:
        daemon.status.update(known)


def run_verb(session, *words, status=0):
    result = subprocess.run([session.program, *words, "--state", session.state], capture_output=True, text=True,
                            timeout=DEADLINE_S, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode == status, f"{words}: {result.returncode}: {result.stderr}{result.stdout}"
    assert (status == 0) == (result.stderr == "") or words[0].startswith("--"), f"{words}: {result.stderr}"
    return result.stdout, result.stderr


def test_verbs(session):
    daemon = session.daemon
    out, _ = run_verb(session, "status")
    assert "feed      binance ok" in out and "trading   " in out, out
    out, _ = run_verb(session, "status", "--json")
    assert json.loads(out)["schema"] == "papertape.status/1"
    run_verb(session, "pause")
    assert daemon.trading() == "paused"
    run_verb(session, "resume")
    _, err = run_verb(session, "flatten", status=2)
    assert "--yes" in err and len(err.splitlines()) == 1
    before = len(daemon.seen("flatten"))
    run_verb(session, "flatten", "--yes")
    assert len(daemon.seen("flatten")) == before + 1
    out, _ = run_verb(session, "order", "buy", "BTCUSDT", "0.01", "--limit", "61000.5")
    assert out == "order 9 PENDING\n", out
    assert daemon.seen("order")[-1] == {"side": "buy", "symbol": "BTCUSDT", "qty": "0.01", "limit": "61000.5"}
    _, err = run_verb(session, "order", "buy", "BTCUSDT", "0.000001", status=1)
    assert "LOT_SIZE" in err, err
    for wrong in (("order",), ("order", "buy", "BTCUSDT"), ("stauts",), ("status", "more"), ("book",)):
        _, err = run_verb(session, *wrong, status=2)
        assert len(err.splitlines()) == 1 and err.startswith("papertape: "), err
    assert 'did you mean status?' in run_verb(session, "stauts", status=2)[1]
    for verb in ([], ["account"], ["account", "list"], ["alerts", "list"], ["bars"], ["book"], ["fills"], ["flatten"],
                 ["indicators"], ["ledger"], ["order"], ["pause"], ["status"]):
        name = f"{verb[0]}: " if verb else ""
        advice = f"see papertape {verb[0]} --help" if verb else "see papertape --help"
        for word, why in (("--nonsense", "unknown option"), ("-x", "unknown option"), ("--help=1", "takes no value")):
            _, err = run_verb(session, *verb, word, status=2)
            assert err == f"papertape: {name}{word}: {why}: {advice}\n", err
    out, _ = run_verb(session, "order", "cancel", "7")
    assert daemon.seen("cancel")[-1] == {"order": 7} and out == "canceled 7\n", out
    out, _ = run_verb(session, "book", "BTCUSDT")
    assert "61837.63" in out and "3.78826" in out
    out, _ = run_verb(session, "alerts", "list")
    assert "ETHUSDT depth is late" in out
    out, _ = run_verb(session, "alerts", "list", "--json")
    assert json.loads(out)["alerts"][0]["alert"] == 3
    run_verb(session, "alerts", "ack", "3")
    stored_meanwhile(session)
    out, _ = run_verb(session, "account", "list", "--json")
    account = json.loads(out)["accounts"][0]
    assert account["account"] == "main" and account["equity"] == 10099 and account["strategy"] == "sma-cross-rsi", out
    out, _ = run_verb(session, "account", "list", "--csv")
    assert out.splitlines()[1].startswith("main,USDT,0.00000000,10099.00000000,"), out
    out, _ = run_verb(session, "account", "list")
    assert "10099" in out and "sma-cross-rsi" in out, out
    out, _ = run_verb(session, "--once")
    assert "price     BTCUSDT last 61837.63" in out and "fill      " in out, out
    out, _ = run_verb(session, "--loop", "2", "--interval", "0.25")
    assert out.count("trading   ") == 2
    out, _ = run_verb(session, "--json")
    whole = json.loads(out)
    assert whole["schema"] == "papertape.dashboard/1" and whole["status"]["pid"] == 4242
    assert whole["fills"][0]["price"] == 61700 and len(whole["equity"]) == 100
    out, _ = run_verb(session, "--dump-screen", "80x24")
    assert out.count("\n") == 24 and "PAPER" in out
    daemon.status["feed"]["state"] = "retry"
    run_verb(session, "--once", status=4)
    daemon.status["feed"]["state"] = "ok"

    daemon.stop()
    _, err = run_verb(session, "status", status=3)
    assert len(err.splitlines()) == 1 and "no daemon" in err, err
    out, err = run_verb(session, "--json", status=3)
    assert json.loads(out)["status"] is None and json.loads(out)["positions"][0]["qty"] == 0.08
    out, _ = run_verb(session, "--once", status=3)
    assert "position  main BTCUSDT L" in out, out
    run_verb(session, "alerts", "list")
    trainings_stored(session)
    daemon.start()


def stored_meanwhile(session):
    """An alert that is stored while they are listed is in the database or in the status, and never in neither."""
    now = time.time_ns()

    def store():
        session.daemon.before_status = None
        db = sqlite3.connect(os.path.join(session.state, "papertape.db"), timeout=DEADLINE_S)
        with db:
            fake_daemon.insert_row(db, "alerts", id=4, ts_ns=now, last_ns=now, count=1, code="gap", severity="warning",
                                   text="BTCUSDT: 3 trades are missing", acked_ns=now, closed_ns=now)
        db.close()

    session.daemon.before_status = store
    out, err = run_verb(session, "alerts", "list", "--json")
    assert [alert["alert"] for alert in json.loads(out)["alerts"]] == [3, 4] and not err, (out, err)


def trainings_stored(session):
    """What the database knows is as old everywhere: on --once, in the list, and as JSON."""
    now = time.time_ns()
    db = sqlite3.connect(os.path.join(session.state, "papertape.db"), timeout=DEADLINE_S)

    def insert(table, **given):
        known = db.execute(f"PRAGMA table_info({table})").fetchall()
        row = {name: given.pop(name, {"TEXT": "", "BLOB": bytes(32)}.get(kind, 1)) for _, name, kind, *_ in known}
        assert not given, given
        db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", list(row.values()))

    try:
        for name, state, reported_s, ended_s in (("old", "rollout", 3600, 0), ("future", "update", -60, 0), ("waits", "queued", 900, 0),
                                              ("over", "done", 900, 7200)):
            insert("trainings", name=name, state=state, steps=1200000, total_steps=5000000, heard_ns=now - reported_s * NS,
                   ended_ns=now - ended_s * NS if ended_s else 0, created_ns=now - 10000 * NS)
        insert("policies", name="old", role="champion", account="main")
        db.commit()
        once, _ = run_verb(session, "--once", status=3)
        listed, _ = run_verb(session, "train", "list", status=3)
        reported = json.loads(run_verb(session, "--json", status=3)[0])
        rows = json.loads(run_verb(session, "train", "list", "--json", status=3)[0])["trainings"]
    finally:
        db.execute("DELETE FROM trainings")
        db.execute("DELETE FROM policies")
        db.commit()
        db.close()
    lines = {line.split()[1]: line for line in once.splitlines() if line.startswith("training  ")}
    assert lines["old"].startswith("training  old STALE steps - return - ") and "age 6" in lines["old"], lines  # 60 min, and some more
    assert "STALE steps - " in lines["future"] and "age n/a" in lines["future"], lines
    assert "waits queued steps 1.2M" in lines["waits"] and "done steps 1.2M" in lines["over"] and "age 2h" in lines["over"], lines
    lines = {line.split()[0]: line.split() for line in listed.splitlines()}
    assert lines["old"][:6] == ["old", "rollout", "-", "-", "-", "-"] and lines["old"][7] == "STALE", lines
    assert "STALE" in lines["future"] and "STALE" not in lines["waits"] + lines["over"] and "2h" in lines["over"], lines
    for rows in (rows, reported["trainings"]):
        columns = {row.get("name", row.get("training")): (row["stale"], row["age_ms"]) for row in rows}
        assert [columns[n][0] for n in ("old", "future", "waits", "over")] == [True, True, False, False], columns
        assert columns["future"][1] is None and 7200000 <= columns["over"][1] < 7290000, columns
    assert [p["policy"] for p in reported["policies"]] == ["old"] and reported["policies"][0]["role"] == "champion", reported["policies"]


def stored_prices(session):
    db = sqlite3.connect(os.path.join(session.state, "papertape.db"), timeout=DEADLINE_S)
    try:
        return db.execute("SELECT count(*) FROM prices").fetchone()[0]
    finally:
        db.close()


def test_live(session):
    """The same keys with the real daemon: what it says afterwards is what counts."""
    def status():
        return json.loads(run_verb(session, "status", "--json")[0])

    def priced():
        symbols = status()["symbols"]  # null until the market is known
        return symbols and all(s["last"] and s["book"] == "synced" for s in symbols)

    tmux = session.tmux
    wait("prices and a synced book", priced, session.daemon.log)
    session.launch()
    expect(tmux, "feed ok", "TRADING on", "BTCUSDT", "synced", "Equity")
    for key, text in (("4", "BTCUSDT 1m"), ("5", "Accounts (1)"), ("8", "Log"), ("1", "[1]Over")):
        tmux.keys(key)
        expect(tmux, text)
    for size in ((40, 10), (200, 60), (80, 24)):
        tmux.resize(*size)
        wait("the last line at the bottom", lambda: "q quit" in tmux.screen().split("\n")[size[1] - 1], tmux.screen)
    out, _ = run_verb(session, "order", "buy", "BTCUSDT", "0.01")
    assert out.endswith(" PENDING\n"), out
    wait("a position", lambda: any(p["symbol"] == "BTCUSDT" for p in status()["positions"]), session.daemon.log)
    tmux.keys("6")
    expect(tmux, "BUY", "FILLED")
    last = status()["symbols"][0]["last"]
    out, _ = run_verb(session, "order", "buy", "BTCUSDT", "0.01", "--limit", f"{last * 0.9:.2f}", "--client-id", "low")
    number = int(out.split()[1])
    expect(tmux, "LIMIT", "OPEN")
    tmux.keys("g", "g", *["j"] * [order["order"] for order in status()["orders"]].index(number), "x")
    expect(tmux, f"order {number}: BUY", "y cancels it")
    tmux.keys("y")
    expect(tmux, "cancel done", f"order {number}")
    wait("the cancel", lambda: all(order["order"] != number for order in status()["orders"]), session.daemon.log)
    tmux.resize(100, 120)  # the whole page at once
    tmux.keys("G", "Enter")
    expect(tmux, "Orders > order 1", "MARKET", "Fills", "taker", "Ledger", "Explained from the event log", "equal to the record")
    bought = re.findall(r"trade \+(0\.\d+)", tmux.screen())  # in one fill or more, as the market is
    ordered = re.search(r"^ qty +(\S+)", tmux.screen(), re.MULTILINE)[1]  # the first may be the strategy's, where a minute ended
    assert bought and sum(map(decimal.Decimal, bought)) == decimal.Decimal(ordered), tmux.screen()
    tmux.keys("Escape")
    expect_gone(tmux, "Orders > order 1")
    tmux.resize(80, 24)
    out, _ = run_verb(session, "parity", "--daemon")
    assert out == "parity ok\n", out
    out, _ = run_verb(session, "parity", "--daemon", "--json")
    assert json.loads(out)["ok"] is True and json.loads(out)["state"] == "ok", out
    expect(tmux, "parity ok")
    tmux.keys("1", "p")
    expect(tmux, "pause done", "TRADING paused")
    assert status()["trading"] == "paused"
    tmux.keys("p")
    expect(tmux, "resume done", "TRADING on")
    assert status()["trading"] == "on"
    wait("a stored price", lambda: stored_prices(session) == 2)
    session.daemon.stop()
    expect(tmux, "NO DAEMON", "BTCUSDT   L    0.01000")  # the strategy may hold the other symbol by then
    session.daemon.start(venue=False)
    expect(tmux, "feed retry", "binance retry", "BTCUSDT   L    0.01000")
    out, _ = run_verb(session, "status")
    assert "price     BTCUSDT last " in out, out
    assert "age STALE n/a" not in out, out  # received or stored, it has an age
    assert "position  main BTCUSDT L" in out and " flat" not in out and not re.search(r" -1(?![.\d])", out), out
    session.daemon.stop()
    session.daemon.start()
    expect(tmux, "feed ok", "synced")
    tmux.keys("F")
    expect(tmux, "Type FLATTEN", "BTCUSDT")
    tmux.type("FLATTEN")
    tmux.keys("Enter")
    expect(tmux, "flatten done", "TRADING paused")
    wait("no position", lambda: not status()["positions"], session.daemon.log)
    expect(tmux, "Positions (0)")
    session.daemon.stop()
    expect(tmux, "NO DAEMON")
    session.daemon.start()
    expect(tmux, "feed ok")
    tmux.keys("q")
    session.ended()


FAKE_TESTS = (test_start_and_tabs, test_commands, test_parity, test_sizes, test_stale_and_back, test_quit_and_signals,
              test_plain_terminals, test_venue_absent, test_verbs, test_hang_up)
REAL_TESTS = (test_live,)


def run_tests(fake_tests, real_tests=(), fake_ready=lambda daemon: None, ended=lambda session: None):
    """The tests of a script like this one, by its arguments: PAPERTAPE SOURCE_ROOT, and the real daemon's programs where the
    real tests are meant. fake_ready() sets a fake daemon up before it starts; ended() follows the daemon's end."""
    if not shutil.which("tmux"):
        print("skipped: tmux is not installed")
        return 77
    program, source, *servers = [os.path.abspath(path) for path in sys.argv[1:]]
    folders = [os.path.dirname(path) for path in (program, *servers)]
    os.environ["PATH"] = os.pathsep.join([*folders, os.environ["PATH"]])  # the daemon starts parity and the co-process
    os.environ["LANG"] = os.environ["LC_ALL"] = "C.UTF-8"
    os.environ.pop("RUNTIME_DIRECTORY", None)
    with tempfile.TemporaryDirectory(prefix="pt-") as folder:
        session = Session(program, folder)
        if servers:
            session.daemon = real_daemon.Daemon(session.state, *servers[:2])
        else:
            fake_daemon.make_database(source, os.path.join(session.state, "papertape.db"))
            session.daemon = fake_daemon.Daemon(session.state)
            fake_ready(session.daemon)
        try:
            session.daemon.start()
            session.tmux.start(80, 24, {"LC_ALL": "C.UTF-8", "TERM": "screen-256color"})
            for test in real_tests if servers else fake_tests:
                start = time.monotonic()
                test(session)
                print(f"{test.__name__}: passed in {time.monotonic() - start:.1f} s", flush=True)
        finally:
            session.tmux.stop()
            session.daemon.stop()
            ended(session)
    return 0


if __name__ == "__main__":
    sys.exit(run_tests(FAKE_TESTS, REAL_TESTS))
