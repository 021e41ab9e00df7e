#!/usr/bin/env python3
"""What studies propose, on a daemon over synthetic bars of a day, eight of which pass in a second (papertape-replay --bars, --clock
feed), and a scripted co-process (tests/daemon/training/fake.py). A proposal that passes its gates is a challenger, once, wherever the
daemon is killed between the event and the admission; one that does not is refused with its reason and changes nothing; the champion's
study gets a second slot; a challenger that does better is crowned after enough days, against cash and against the champion, and one
that is no better is not, nor one of another currency, which leaves the crown to the next; policies expire, and make room. An account
whose days cannot be read (failures.c) holds up neither proposals nor crowns. One whose days are worse than its backtest is reported. At the end the ledger is clean and the log gives the
same."""

import errno
import json
import math
import os
import random
import signal
import sqlite3
import struct
import sys
import time

import harness
import policy_three_ways as recorded
import trained_three_ways as trained

sys.path.insert(0, os.path.join(harness.SOURCE, "tests/daemon/training"))
from fake import Fake, Training  # noqa: E402

KILLS = 60 if harness.LONG else 3
DAYS = 1200  # more than a slow machine takes
HISTORY_DAYS = 30
CHAMPION_DAYS = 10
START_S = recorded.START_S
SYMBOL = trained.SYMBOLS[:1]
CONFIG = recorded.market(("BTCUSDT", "ETHBTC"), "1d", 0.0002, history=20) + f"""\
[feed]
refresh_s = 0
[arena]
champion_days = {CHAMPION_DAYS}
challengers_max = 4
min_trades = 10
[parity]
at = off
[trainer]
start = never
[account main]
strategy = none
[account short]
strategy = none
shorts = on
backtest_sharpe = 1
"""


def bars(path, price, rise):
    """A market that rises by about so much a day."""
    chance = random.Random(recorded.SEED)
    with open(path, "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        for i in range(DAYS):
            close = price * math.exp(rise + chance.gauss(0, 0.002))
            cells = [f"{x:.2f}" for x in (price, max(price, close) * 1.0001, min(price, close) * 0.9999, close)]
            file.write(f"{(START_S + 86400 * i) * 1000},{','.join(cells)},50.00000\n")
            price = float(cells[3])
    return path


def network(action):
    """One that always does the same."""
    def make(_, shape, widths, levels, recurrent, layer_norm):
        tensors, (observation, actions) = {}, shape
        for part, outputs in (("pi", actions), ("vf", 1)):
            inputs = observation
            for k, width in enumerate((*widths, outputs)):
                bias = action if (part, k) == ("pi", len(widths)) else 0.0
                tensors[f"{part}.{k}.weight"] = ((width, inputs), [0.0] * (width * inputs))
                tensors[f"{part}.{k}.bias"] = ((width,), [bias] * width)
                inputs = width
        tensors["log_std"] = ((actions,), [0.0] * actions)
        return tensors
    return make


def policy(folder, name, most, action=1.0, symbol=None):
    """Buys until so much of its equity is in the market, BTC's or the symbol's."""
    path, random_network = os.path.join(folder, f"{name}.safetensors"), trained.network
    trained.network = network(action)
    try:
        trained.policy(path, name, symbols=SYMBOL, max_position_pct=most, trailing_stop_pct=0, forced_exit_bars=0, cooldown_bars=0,
                       min_cash_reserve=0)
    finally:
        trained.network = random_network
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"]["interval"] = "1d"
    header["__metadata__"]["symbols"] = symbol or header["__metadata__"]["symbols"]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data[8 + size :])
    return path


def proposal(study, trial, path, **changed):
    holdout = {"from_ns": 0, "to_ns": 1, "rows": 100, "sharpe": 1.5, "sharpe_holding": 0.5, "sharpe_equal_weight": 0.5, "return_pct": 3.0,
               "drawdown_pct": -4.0, "trades": 41, **changed.pop("figures", {})}
    return {"schema": "papertape.proposal/1", "study": study, "name": study.split("@")[0], "trial": trial, "trials_proposed": [trial],
            "kind": "policy", "policy": path, "value": 1.0, "trials": 40, "complete": 40, "expires_s": None, "holdout": holdout, "pbo": 0.1,
            "probability_of_loss": 0.1, "slope": 0.1, "intercept": 0.1, "deflated_sharpe": 0.99, "expected_sharpe": 0.4, "gates": [],
            "admitted": True, "words": "admitted: so says the trainer", **changed}


class World:
    def __init__(self, folder):
        self.folder, self.path = folder, folder.path
        self.state = os.path.join(os.path.realpath(self.path), "state")
        os.mkdir(self.state, 0o750)
        self.fake = Fake(self.state)
        # What trades ETHBTC is better than what trades BTCUSDT by enough to be judged so first, whatever days it is read on.
        self.bars = [bars(os.path.join(self.path, f"{symbol}_1d.csv"), price, rise)
                     for symbol, price, rise in (("BTCUSDT", 42000.0, 0.005), ("ETHBTC", 42.0, 0.01))]
        self.policies = {name: policy(self.path, name, most) for name, most in
                         (("third", 0.1), ("more", 0.6), ("most", 0.95), ("some", 0.03), ("less", 0.04))}
        self.policies["foreign"] = policy(self.path, "foreign", 0.95, symbol="ETHBTC")
        self.failures = os.path.join(self.path, "failures")
        self.failing()
        self.env = os.environ | {"LD_PRELOAD": harness.FAILURES, "FAILURES": self.failures,
                                 "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        self.policies["nothing"] = policy(self.path, "nothing", 0.5, action=-1.0)
        self.daemon = self.replay = None

    def venue(self, from_day, days_a_second):
        where = os.path.join(self.path, f"venue-{from_day:.3f}")
        os.mkdir(where)
        self.replay = self.folder.start(harness.Replay(where, "--bars", *self.bars, "--speed", str(86400 * days_a_second), "--fault",
                                                       "age@30000h", "--from", str((START_S + math.ceil(from_day) * 86400) * 1000)))

    def start(self):
        self.daemon = self.folder.start(harness.Daemon(self.path, self.replay, CONFIG, ["--clock", "feed"], env=self.env))
        self.daemon.wait_status(lambda s: s["accounts"] and s["trainer"]["state"] == "ok", "the session")

    def failing(self, *what):
        """From now on, as failures.c has it."""
        with open(self.failures + ".new", "w") as file:
            file.writelines(f"{line}\n" for line in what)
        os.rename(self.failures + ".new", self.failures)

    def unread(self, name, code):
        (number,), = harness.wait_for(lambda: self.rows("SELECT id FROM accounts WHERE name = ?", name), f"the account {name} in the database")
        return f"account {number} {code}"

    def rows(self, sql, *values):
        with sqlite3.connect(f"file:{self.daemon.state}/papertape.db?mode=ro", uri=True, timeout=30) as base:
            return base.execute(sql, values).fetchall()

    def emit(self, study, trial, path, **changed):
        """The study's worker does."""
        name = study.split("@")[0]
        with self.fake.lock:
            training = self.fake.trainings.setdefault(name, Training(name))
            training.emit("proposal", proposal=proposal(study, trial, self.policies.get(path, path), **changed))

    def policy(self, name, status):
        found = [p for p in status["policies"] or [] if p["policy"] == name]
        return found[0] if found else None

    def becomes(self, name, role, what=None, condition=lambda p: True):
        def there(status):
            mine = self.policy(name, status)
            return mine and mine["role"] == role and condition(mine)
        return self.policy(name, self.daemon.wait_status(there, what or f"{name} is {role}"))

    def alert(self, code, *words, severity="info"):
        def there():
            texts = [text for (text,) in self.rows("SELECT text FROM alerts WHERE code = ? AND severity = ?", code, severity)]
            return [text for text in texts if all(word in text for word in words)]
        return harness.wait_for(there, f"an alert {code} with {words}")

    def now_day(self):
        return (self.daemon.status_object()["now_ns"] / 1e9 - START_S) / 86400


def gates(world):
    """Refused: nothing changes but a row and an alert, once: a warning where the study's gates had admitted it."""
    before = world.daemon.status_object()
    bad = {"overfitted": {"pbo": 0.41}, "unknown": {"deflated_sharpe": None}, "holds": {"figures": {"sharpe": 0.4}},
           "falls": {"figures": {"drawdown_pct": -31.0}}, "rare": {"figures": {"trades": 9}, "admitted": False}}
    words = {"overfitted": "pbo 0.41", "unknown": "deflated", "holds": "excess", "falls": "drawdown", "rare": "trades 9"}
    for name, changed in bad.items():
        world.emit(name, 1, "most", **changed)
    world.emit("empty", 1, "most", holdout=None)
    world.emit("relative", 1, "most.safetensors")
    world.emit("missing", 1, "/nowhere/most.safetensors")
    world.emit("main", 1, "most")
    world.emit("rules", 1, "/nowhere/strategy.ini", kind="strategy")
    words.update(empty="holdout", relative="absolute path", missing="/nowhere", main="account main", rules="a strategy's parameters, no policy")
    for name, word in words.items():
        text, = world.alert("PROPOSAL_REFUSED", f"{name}/1: refused: ", word, severity="info" if name == "rare" else "warning")
        assert text.count("refused") == 1, text
    asked = "SELECT cmd, state, key, result, args FROM commands ORDER BY id"
    harness.wait_for(lambda: [r[1] for r in world.rows(asked)] == ["refused"] * len(words), "a row of each, refused")
    rows = world.rows(asked)
    assert {r[:2] for r in rows} == {("policy_propose", "refused")}, rows
    assert len({r[2] for r in rows}) == len(rows) and all(r[2].startswith("proposal:") for r in rows), rows
    for row in rows:
        name = json.loads(row[4])["name"]
        assert words[name] in json.loads(row[3])["error"]["message"], row
    after = world.daemon.status_object()
    assert after["policies"] == [] and [a["account"] for a in after["accounts"]] == [a["account"] for a in before["accounts"]]
    print(f"gates: {len(rows)} proposals refused, each with its reason")


COPIES = f"copies {errno.ENOSPC}"
SQLITE_BUSY, SQLITE_CORRUPT = 5, 11  # may pass, does not


def put_off(world):
    """For a while the disk has no room for its copy: the proposal stays pending, and is admitted after that."""
    asked = "SELECT state FROM commands WHERE cmd = 'policy_propose' AND args LIKE '%\"waits\"%'"
    world.failing(COPIES)
    world.emit("waits", 1, "some")
    text, = harness.wait_for(lambda: world.rows("SELECT text FROM alerts WHERE code = 'PROPOSAL_PUT_OFF'"), "PROPOSAL_PUT_OFF")[0]
    assert text.startswith("waits/1: put off, and tried again until it passes: ") and "No space left" in text, text
    assert world.rows(asked) == [("pending",)], world.rows(asked)
    world.failing()
    world.becomes("waits", "challenger")
    harness.wait_for(lambda: world.rows(asked) == [("done",)], "its one row, done")
    assert len(world.alert("POLICY_ADMITTED", "waits is challenger: admitted: excess 1 ")) == 1
    assert harness.control(world.daemon, "policy_retire", {"name": "waits"})["ok"]
    print("put off: admitted once there was room for its copy")


def reported_unread(world, name, open_still=True):
    """The one alert that this account's days cannot be read."""
    def there():
        found = world.rows("SELECT text, closed_ns FROM alerts WHERE code = 'POLICY_UNREAD' AND text LIKE ?", f"the days of account {name} cannot be%")
        return found if found and (found[-1][1] is None) == open_still else None
    harness.wait_for(there, f"POLICY_UNREAD of {name}, {'open' if open_still else 'over'}")


def persons(world):
    """What a person promoted keeps its slot; a proposal gets the second one, and there the days continue."""
    answer = harness.control(world.daemon, "policy_promote", {"name": "mine", "path": world.policies["some"]})
    assert answer["ok"], answer
    mine = world.becomes("mine", "challenger")
    world.emit("mine", 1, "less")
    beside = world.becomes("mine.2", "challenger")
    assert world.policy("mine", world.daemon.status_object())["id"] == mine["id"] != beside["id"]
    for name in ("mine.2", "mine"):
        assert harness.control(world.daemon, "policy_retire", {"name": name})["ok"]
    print("persons: a proposal came in beside")


def killed(world, chance):
    """kill -9 anywhere between the event and the admission."""
    early = 0
    for i in range(KILLS):
        name, path = f"k{i}", "more" if i == 0 else "some"  # one of which there is no copy yet
        if i == 0:  # for certain while it is pending
            world.failing(COPIES)
        world.emit(name, i, path)
        world.emit(name, i, path)  # its worker was killed, and reported it again
        if i % 2 == 0:  # just when it is known, or anywhere
            harness.wait_for(lambda: world.rows("SELECT 1 FROM commands WHERE cmd = 'policy_propose' AND args LIKE ?", f'%"{name}"%'), name)
            time.sleep(chance.uniform(0, 0.3))
        else:
            time.sleep(chance.uniform(0.5, 1.5))
        world.daemon.stop(signal.SIGKILL)
        states = world.rows("SELECT state FROM commands WHERE cmd = 'policy_propose' AND args LIKE ?", f'%"{name}"%')
        if i == 0:
            assert states == [("pending",)], states
            # and no day is judged before the start, nor can be with that account: it is left out, at once or after a while
            world.failing(world.unread("waits", SQLITE_BUSY if harness.LONG else SQLITE_CORRUPT))
        else:
            early += states != [("done",)]
        world.start()
        mine = world.becomes(name, "challenger")
        if i == 0:
            reported_unread(world, "waits")
            world.failing()
        assert mine["proposal"] == f"{name}/{i}" and mine["reason"].startswith("admitted: excess 1 "), mine
        assert mine["expires_ns"] is None and mine["training"] == name and mine["account"] == name, mine
        asked = "SELECT state FROM commands WHERE cmd = 'policy_propose' AND args LIKE ?"
        harness.wait_for(lambda: world.rows(asked, f'%"{name}"%') == [("done",)], f"one row of {name}, done")
        deposits = world.rows("SELECT count(*) FROM ledger AS l JOIN accounts AS a ON a.id = l.account WHERE a.name = ? AND kind = 'deposit'", name)
        assert deposits == [(1,)], deposits
        answer = harness.control(world.daemon, "policy_retire", {"name": name})
        assert answer["ok"] and answer["result"]["policy"]["reason"] == "by command", answer
    print(f"kill -9: {KILLS} times, one of them while it was put off, {early} of the others before it was admitted: each admitted once")
    status = world.daemon.status_object()
    assert all(p["role"] == "retired" for p in status["policies"]), status["policies"]


def crowned(world):
    """Against cash, then against the champion, after enough days; an account that loses on all these days is worse than its backtest."""
    short = {"symbol": "BTCUSDT", "side": "sell", "qty": "0.001", "account": "short"}
    harness.wait_for(lambda: harness.control(world.daemon, "order", short)["ok"], "an order that loses each day")
    world.emit("third", 1, "third")
    world.emit("nothing", 1, "nothing")
    first = world.becomes("third", "challenger")
    assert first["evidence"]["against"] == "cash" and first["evidence"]["days_needed"] == CHAMPION_DAYS, first
    assert first["evidence"]["value_needed"] == 20, first
    world.becomes("nothing", "challenger")
    corrupt = world.unread("nothing", SQLITE_CORRUPT)  # to the end: the others become champions nevertheless
    world.failing(corrupt)
    reported_unread(world, "nothing")
    world.failing(corrupt, world.unread("third", SQLITE_BUSY))  # its days are waited for
    reported_unread(world, "third")
    world.failing(corrupt)
    king = world.becomes("third", "champion")
    assert king["reason"].startswith("better than cash on ") and king["evidence"] is None, king
    days = int(king["reason"].split(" on ")[1].split()[0])
    assert days >= CHAMPION_DAYS and (king["since_ns"] - first["since_ns"]) / 86400e9 > days, (king, first)
    world.alert("POLICY_CROWNED", "third is champion: better than cash")
    status = world.daemon.wait_status(lambda s: any(p["account"] == "champion" for p in s["positions"]), "the account champion trades")
    assert status["champion"]["policy"] == "third", status["champion"]

    world.emit("third@2", 4, "some")  # the champion's study: a challenger beside it
    second = world.becomes("third.2", "challenger")
    assert second["training"] == "third" and second["proposal"] == "third@2/4", second
    assert world.policy("third", world.daemon.status_object())["id"] == king["id"]
    world.becomes("third.2", "challenger", condition=lambda p: p["evidence"]["against"] == "third" and p["evidence"]["days"] >= 1)
    world.emit("third@3", 2, "less")  # and again: into its second slot, whose days continue
    swapped = world.becomes("third.2", "challenger", condition=lambda p: p["proposal"] == "third@3/2")
    assert swapped["id"] != second["id"] and swapped["since_ns"] == second["since_ns"] and swapped["evidence"]["days"] >= 1, swapped
    world.emit("foreign", 1, "foreign")
    world.becomes("foreign", "challenger")  # as good, and first, and on another currency than the account champion
    world.emit("most", 1, "most")
    world.becomes("most", "challenger")
    world.daemon.stop(signal.SIGKILL)
    world.start()
    king = world.becomes("most", "champion")
    assert king["reason"].startswith("better than third on "), king
    asked = "SELECT text FROM alerts WHERE code = 'POLICY_REFUSED' AND text LIKE 'foreign would be champion%'"
    passed = harness.wait_for(lambda: world.rows(asked), "why foreign was passed over")
    assert len(passed) == 1 and "traded here" in passed[0][0], passed
    assert harness.control(world.daemon, "policy_retire", {"name": "foreign"})["ok"]
    former = world.becomes("third", "challenger")
    assert former["reason"] == "most became champion" and former["evidence"]["against"] == "most", former
    assert former["since_ns"] == king["since_ns"], (former, king)
    reported_unread(world, "nothing")
    world.failing()
    reported_unread(world, "nothing", open_still=False)
    nothing = world.becomes("nothing", "challenger", condition=lambda p: p["evidence"]["days"] >= 1)
    assert nothing["role"] == "challenger" and nothing["evidence"]["value"] < 1, nothing
    world.alert("SHARPE_LOW", "live Sharpe below the backtest's: short: ", "1.00 in the backtest", severity="warning")
    print(f"crowned: third against cash after {days} days, most against third: {king['reason']}")


def ended(world):
    """Expired, and no room."""
    before = world.daemon.status_object()["now_ns"]
    world.emit("brief", 1, "more", expires_s=30.5 * 86400)
    world.emit("late", 1, "more")
    brief = world.becomes("brief", "challenger")
    assert brief["expires_ns"] > before + int(30.5 * 86400e9), brief
    # nothing, third, third.2, brief and late: of those that did worse for longest, one makes room
    world.daemon.wait_status(lambda s: world.policy("late", s) and sum(p["role"] == "challenger" for p in s["policies"]) == 4,
                             "four challengers")
    listed = harness.control(world.daemon, "policy_list", {})["result"]["policies"]  # a status has the first 64
    gone = [p for p in listed if p["role"] == "retired" and "the last of 5 challengers" in p["reason"]]
    assert len(gone) == 1 and gone[0]["policy"] in ("nothing", "third.2"), [(p["policy"], p["role"], p["reason"]) for p in listed]
    gone = world.becomes("brief", "retired")
    assert gone["reason"] == "expired" and gone["expires_ns"] is None and gone["since_ns"] >= brief["expires_ns"], (gone, brief)
    world.alert("POLICY_RETIRED", "brief is retired: expired")
    print("ended: one expired, one made room")


def checked(world):
    was = {p["policy"]: (p["role"], p["id"], p["reason"]) for p in world.daemon.status_object()["policies"]}
    shown = world.daemon.papertape("policy", "show", "late")
    assert "late/1" in shown and "evidence" in shown, shown
    assert world.daemon.stop() == 0
    world.start()
    assert {p["policy"]: (p["role"], p["id"], p["reason"]) for p in world.daemon.status_object()["policies"]} == was
    assert not [r for r in world.rows("SELECT state FROM commands") if r[0] == "pending"]
    assert world.daemon.stop() == 0
    print("  " + world.daemon.papertape("ledger", "verify").split("\n")[0])
    print("  " + world.daemon.papertape("parity").strip().split("\n")[-1])


def main():
    print(f"counts: {KILLS} kills, seed {recorded.SEED}" + ("" if harness.LONG else " (more with PAPERTAPE_LONG)"))
    with harness.Folder() as folder:
        world, began = World(folder), time.monotonic()

        def part(what, *arguments):
            what(world, *arguments)
            print(f"    {time.monotonic() - began:.1f} s, day {world.now_day() if world.daemon.alive() else 0:.1f}", file=sys.stderr)
        world.venue(HISTORY_DAYS, 0.01)
        world.start()
        part(gates)
        part(put_off)
        part(persons)
        part(killed, random.Random(recorded.SEED))
        day = world.now_day()
        assert world.daemon.stop() == 0
        world.venue(day, 8)
        world.start()
        part(crowned)
        part(ended)
        part(checked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
