#!/usr/bin/env python3
"""The daemon and a scripted co-process: what is stored, answered and shown; a co-process that is absent, hung, of another version, or
lies; the daemon's own end, and records that restarted."""

import json
import os
import random
import signal
import socket
import sqlite3
import sys
import threading
import time
import traceback

import harness
from fake import Fake, Training

CONFIG = "[market]\ninterval = 1s\nhistory = 50\n[trainer]\nstart = never\n[account hand]\nstrategy = none\n"
KILLS = 24 if harness.LONG else 4
TRIES = 120 if harness.LONG else 12


PARTS = ("kills", "ends", "hung", "progress", "lies", "alerts", "commands", "many", "off")


class World:
    """A daemon with a state directory of its own, and its co-process."""

    def __init__(self, folder, replay, name):
        self.folder, self.replay, self.name = folder, replay, name
        self.daemon = self.fake = None

    def start(self):
        self.daemon = self.folder.start(harness.Daemon(self.folder.path, self.replay, CONFIG, name=self.name, state=self.name))
        self.daemon.wait_status(lambda s: s["symbols"], "the session's begin")

    def begin(self, *names):
        """With a co-process that knows these trainings."""
        state = os.path.join(os.path.realpath(self.folder.path), self.name)
        os.mkdir(state, 0o750)
        self.fake = Fake(state)
        for name in names:
            self.fake.trainings[name] = Training(name)
        self.start()
        self.wait_trainer("ok")
        for name in names:
            self.wait_rows(lambda r: len(r) == 1, name, "SELECT 1 FROM trainings WHERE name = ?", name)

    def ask(self, cmd, **args):
        return harness.control(self.daemon, cmd, args)

    def refused(self, code, cmd, **args):
        answer = self.ask(cmd, **args)
        assert answer["ok"] is False and answer["error"]["code"] == code, (cmd, args, answer)
        assert "\n" not in answer["error"]["message"] and len(answer["error"]["message"]) > 10, answer
        return answer["error"]["message"]

    def rows(self, sql, *values):
        with sqlite3.connect(f"file:{self.daemon.state}/papertape.db?mode=ro", uri=True, timeout=30) as db:
            return db.execute(sql, values).fetchall()

    def wait_rows(self, condition, what, sql, *values):
        return harness.wait_for(lambda: (lambda r: r if condition(r) else None)(self.rows(sql, *values)), what)

    def wait_trainer(self, state):
        return self.daemon.wait_status(lambda s: s["trainer"]["state"] == state, f"the co-process {state}")["trainer"]

    def training(self, name, condition, what):
        def there(status):
            return any(t["training"] == name and condition(t) for t in status["trainings"])
        status = self.daemon.wait_status(there, what)
        return next(t for t in status["trainings"] if t["training"] == name)


def many(world):
    """More trainings than the status shows: what runs is never left out, nor what waits; the list has all."""
    world.begin()
    started = time.time_ns() - 10**12
    with world.fake.lock:
        for i in range(90):
            training = Training(f"t{i:02}", started + i * 10**9)
            ended = i > 6
            training.reported.update(state="done" if ended else ("queued", "update")[i % 2],
                                     ended_ns=started + 10**11 - i * 10**9 if ended else None)
            world.fake.trainings[training.reported["name"]] = training
    status = world.daemon.wait_status(lambda s: s["trainings_total"] == 90, "90 trainings")
    names = [t["training"] for t in status["trainings"]]
    assert names == [f"t{i:02}" for i in range(64)], names  # the others ended first
    aged = [t for t in world.ask("train_list")["result"]["trainings"] if t["state"] == "done"][-1]
    since = (time.time_ns() - aged["ended_ns"]) // 10**6
    assert since - 60000 < aged["age_ms"] <= since, (aged["age_ms"], since)  # since its end
    listed = world.ask("train_list")["result"]
    assert [t["training"] for t in listed["trainings"]] == [f"t{i:02}" for i in range(90)], len(listed["trainings"])
    assert listed["trainings_total"] == 90
    print(f"  {len(names)} of {status['trainings_total']} in the status, those that run and wait among them; all in the list")


def off(world):
    world.start()
    trainer = world.wait_trainer("off")
    assert "start = never" in trainer["detail"] and trainer["pid"] is None, trainer
    started = time.monotonic()
    assert "start = never" in world.refused("ENOENT", "train_start", name="x")
    assert time.monotonic() - started < 9, "refused at once, not after the time for an answer"
    world.refused("ENOENT", "train_log", name="x")
    assert world.ask("train_list") == {"id": 1, "ok": True, "result": {"trainings": [], "trainings_total": 0}}
    config = world.ask("train_config")["result"]["config"]
    assert f"state = {os.path.realpath(world.daemon.state)}" in config and "policy_layers = 64,64" in config, config
    for args in ({}, {"name": 5}, {"name": "a b"}, {"name": ".x"}, {"name": 40 * "x"}, {"name": "x", "config": 7},
                 {"name": "x", "priority": 101}, {"name": "x", "priority": "1"}, {"name": "x", "overwrite": "yes"},
                 {"name": "x", "nonsense": 1}, {"name": "x", "config": ""}):
        world.refused("EINVAL", "train_start", **args)
    world.refused("EINVAL", "train_log", name="x", lines=0)
    world.refused("EINVAL", "train_check")
    rows = world.rows("SELECT cmd, state, result FROM commands ORDER BY id")
    assert [r[:2] for r in rows] == [("train_start", "refused")], rows
    assert json.loads(rows[0][2])["error"]["code"] == "ENOENT", rows


def commands(world):
    world.begin()
    fake = world.fake
    trainer = world.wait_trainer("ok")
    assert trainer["version"] == "0.0.fake" and trainer["pid"] == os.getpid() and trainer["detail"] == "", trainer
    answer = world.ask("train_start", name="first", config="[ppo]\n", key="k1")
    assert answer["ok"] and answer["result"]["training"]["training"] == "first", answer
    again = world.ask("train_start", name="first", config="[ppo]\n", key="k1")
    assert again["ok"] and again["result"]["repeated"] is True, again
    assert sum(cmd == "start" for cmd, _ in fake.asked) == 1, fake.asked
    world.refused("EEXIST", "train_start", name="first")
    world.refused("ENOENT", "train_stop", name="absent")
    assert world.ask("train_stop", name="first")["result"]["training"]["state"] == "stopped"
    assert world.ask("train_resume", name="first")["result"]["training"]["attempts"] == 2
    assert world.ask("train_restart", name="first", config="[ppo]\nlearning_rate = 1\n")["ok"]
    assert world.ask("train_config", name="first")["result"]["config"] == "[ppo]\nlearning_rate = 1\n"
    assert world.ask("train_log", name="first", lines=1)["result"]["lines"] == ["two"]
    assert world.ask("train_check", config="bad")["result"]["errors"][0]["line"] == 1
    with fake.lock:
        fake.answers["start"] = {"error": {"code": "EINVAL", "message": "line 3 is wrong", "errors": [
            {"line": 3, "section": "ppo", "key": "x", "message": "no such key"}]}}
    error = world.ask("train_start", name="second", config="x")["error"]
    assert error["code"] == "EINVAL" and error["errors"][0]["line"] == 3, error
    with fake.lock:
        del fake.answers["start"]
    rows = world.rows("SELECT cmd, state FROM commands ORDER BY id")
    assert rows == [("train_start", "done"), ("train_start", "refused"), ("train_stop", "refused"), ("train_stop", "done"),
                    ("train_resume", "done"), ("train_restart", "done"), ("train_start", "refused")], rows
    world.wait_rows(lambda r: r == [("[ppo]\nlearning_rate = 1\n",)], "the configuration in the database",
                    "SELECT config FROM trainings WHERE name = 'first'")
    world.wait_rows(lambda r: [s for s, in r][-1:] == ["queued"], "the timeline",
                    "SELECT state FROM training_states WHERE training = 'first' ORDER BY ts_ns")


def progress(world):
    """Daemons are killed while a training reports and sometimes returns to its checkpoint: each valid step is stored once, and no other."""
    world.begin()
    fake, draw = world.fake, random.Random(int(os.environ.get("PAPERTAPE_SEED", "11")))
    training = Training("reporting")
    stands = []

    def advance():
        for _ in range(draw.randrange(1, 300)):
            if training.seq == 0 or draw.random() < 0.02:
                checkpoint = draw.choice([0] + stands) // 100 * 100
                training.emit("start", steps=checkpoint)
                stands[:] = [s for s in stands if s <= checkpoint]
            training.step()
            stands.append(training.reported["steps"])
    with fake.lock:
        fake.trainings["reporting"] = training
        fake.on_list = advance
    for _ in range(KILLS):
        seen = world.rows("SELECT seq FROM trainings WHERE name = 'reporting'") or [(0,)]
        world.wait_rows(lambda r: r and r[0][0] > seen[0][0] + draw.randrange(60), "more events in the database",
                        "SELECT seq FROM trainings WHERE name = 'reporting'")
        world.daemon.stop(signal.SIGKILL)
        points = world.rows("SELECT seq FROM trainings WHERE name = 'reporting'")
        world.start()
        assert world.rows("SELECT seq FROM trainings WHERE name = 'reporting'") >= points
    with fake.lock:
        fake.on_list = None
        expected = [(s, s // 10, 1 / s, s / 7) for s in stands]
        last = training.seq
    world.wait_rows(lambda r: r == [(last,)], "the last event", "SELECT seq FROM trainings WHERE name = 'reporting'")
    got = world.rows("SELECT steps, iteration, loss, return FROM training_points WHERE training = 'reporting' ORDER BY steps")
    assert got == expected, (len(got), len(expected), got[:5], expected[:5])
    print(f"{KILLS} daemons killed in {last} events: {len(got)} points stand, each once")

    with fake.lock:  # another training of that name
        fake.trainings["reporting"] = second = Training("reporting", training.reported["created_ns"] + 1)
        second.step()
    world.wait_rows(lambda r: r == [(10,)], "the new one's rows alone",
                    "SELECT steps FROM training_points WHERE training = 'reporting'")
    with fake.lock:
        second.step()
        second.step()
    world.wait_rows(lambda r: len(r) == 3, "more of it", "SELECT steps FROM training_points WHERE training = 'reporting'")
    with fake.lock:  # numbers that fall: its records restarted
        second.events, second.seq = [], 0
        second.reported["steps"] = 500
        second.step()
    world.wait_rows(lambda r: r == [(510,)], "rows of the records that are",
                    "SELECT steps FROM training_points WHERE training = 'reporting'")


def alerts(world):
    world.begin()
    fake = world.fake
    causes = {"nan": "TRAINING_NAN", "memory_budget": "TRAINING_MEMORY", "device": "TRAINING_DEVICE", "crash": "TRAINING_FAILED"}
    with fake.lock:
        for cause in causes:
            fake.trainings[f"f-{cause}"] = failed = Training(f"f-{cause}")
            failed.reported.update(state="failed", cause=cause, reason=f"for {cause}", ended_ns=time.time_ns())
        fake.trainings["mute"] = mute = Training("mute")
        mute.step()
        mute.reported["heard_age_ms"] = 70000
    for cause, code in causes.items():
        world.wait_rows(lambda r: len(r) == 1, f"the alert {code}", "SELECT text FROM alerts WHERE code = ? AND text = ?",
                        code, f"f-{cause}: for {cause}")
    world.wait_rows(lambda r: len(r) == 1, "the alert of one that stalled",
                    "SELECT text FROM alerts WHERE code = 'TRAINING_STALLED' AND text LIKE 'training stalled: mute: %'")
    assert world.training("mute", lambda t: True, "it")["stale"] is True
    with fake.lock:  # over before the next list is asked for, all of them
        fake.trainings["brief"] = brief = Training("brief")
        for _ in range(7):
            brief.emit("start", steps=0)
            brief.emit("state", state="failed", cause="memory", reason="no memory")
            brief.emit("state", state="queued", cause=None, reason="")
        brief.step()
    counted = "SELECT sum(count) FROM alerts WHERE code = 'TRAINING_MEMORY' AND text LIKE 'brief: %'"
    world.wait_rows(lambda r: r == [(7,)], "seven alerts", counted)
    world.daemon.stop(signal.SIGKILL)  # reported once, not by each daemon
    with fake.lock:
        brief.emit("state", state="failed", cause="memory", reason="no memory")
        brief.emit("state", state="queued", cause=None, reason="")
        brief.step()
    world.start()
    world.wait_trainer("ok")
    lists = len(fake.asked)
    harness.wait_for(lambda: sum(cmd == "list" for cmd, _ in fake.asked[lists:]) > 4, "as many lists as a stall takes")
    assert world.rows("SELECT count, closed_ns FROM alerts WHERE code = 'TRAINING_STALLED'") == [(1, None)]
    with fake.lock:
        lists = len(fake.asked)
        del fake.trainings["mute"]
    world.training("mute", lambda t: t["state"] == "failed" and "knows nothing" in t["reason"], "one that is gone")
    harness.wait_for(lambda: sum(cmd == "list" for cmd, _ in fake.asked[lists:]) > 1, "two more lists")
    world.wait_rows(lambda r: r == [(8,)], "the one that the daemon did not live to see", counted)
    world.wait_rows(lambda r: r == [(1,)], "its alert, raised once by two daemons, is over",
                    "SELECT count FROM alerts WHERE code = 'TRAINING_STALLED' AND closed_ns IS NOT NULL")
    assert len(world.rows("SELECT 1 FROM alerts WHERE code = 'TRAINING_STALLED'")) == 1
    counts = world.rows("SELECT count FROM alerts WHERE text LIKE 'f-%'")
    assert counts == [(1,)] * len(causes), counts


def lies(world):
    world.begin("first")
    fake = world.fake
    good = fake.trainings

    def answer_in_turn(cmd, reported):
        """One false answer each time it is asked; returns once all were given and read."""
        reported = list(reported)
        with fake.lock:
            fake.lies = {cmd: reported}
        harness.wait_for(lambda: not reported, f"{cmd} asked for once more")
        before = len(fake.asked)
        harness.wait_for(lambda: any(c == "list" for c, _ in fake.asked[before:]), "the next list")
    answer_in_turn("list", (
        {"trainings": 5},
        {"trainings": [5, None, {}, {"name": "x"}, {"name": "../x", "state": "done", "created_ns": 1},
                       dict(Training("odd").object(), steps="many", total_steps=1e400, reason=7, cause=[], seq=-4, heard_age_ms=-1,
                            expected_ms=10 ** 30)]},
        {"trainings": [dict(Training(f"many-{i}", i + 1).object(), state="done") for i in range(1500)]}))
    status = world.daemon.status_object()
    assert len(status["trainings"]) == 64, len(status["trainings"])
    listed = world.ask("train_list")["result"]  # as far as an answer may be long
    assert 900 <= len(listed["trainings"]) <= listed["trainings_total"] == 1000, len(listed["trainings"])
    stuck = Training("stuck")
    for _ in range(3):
        stuck.step()
    with fake.lock:
        fake.trainings = dict(good, stuck=stuck)
        before = len(fake.asked)
    answer_in_turn("events", ({"events": "x"}, {"events": [7, {"seq": 5, "ts_ns": 1}]}))
    asked = fake.asked[before:]
    assert sum(cmd == "events" for cmd, _ in asked) <= sum(cmd == "list" for cmd, _ in asked) + 2, "no more often than the list"
    world.wait_rows(lambda r: r == [(10,), (20,), (30,)], "its points after all",
                    "SELECT steps FROM training_points WHERE training = 'stuck'")
    # One bad answer is one request's; a NUL and an escape in a text are no harm.
    asked = len([c for c, _ in fake.asked if c == "hello"])
    with fake.lock:
        fake.answers = {"log": {"lines": ["a\0b\x1b[31mc\td"]}, "check": "no object", "config": [7], "stop": {"error": {"code": 7}}}
    assert world.ask("train_log", name="first")["result"]["lines"] == ["a?b?[31mc\td"]
    assert "docs/serve.md" in world.refused("EBADMSG", "train_check", config="x")
    assert "answers to stop" in world.refused("EBADMSG", "train_stop", name="first")
    harness.wait_for(lambda: world.rows("SELECT 1 FROM alerts WHERE code = 'TRAINER_ANSWER'"), "an alert")
    with fake.lock:
        fake.answers = {}
    assert world.ask("train_check", config="x")["ok"]
    assert world.wait_trainer("ok") and len([c for c, _ in fake.asked if c == "hello"]) == asked, "the connection stays"
    with fake.lock:
        fake.answers = {"list": b"rubbish \xff\xfe" + 40 * "\u00e9".encode() + b"\n"}
    trainer = world.wait_trainer("silent")
    assert "docs/serve.md" in trainer["detail"], trainer

    def refused_at_once():
        """A request that is sent while the daemon tries again ends with that connection, by the same words."""
        error = world.ask("train_stop", name="first")["error"]
        assert error["code"] in ("EPROTO", "ECONNRESET") and "docs/serve.md" in error["message"], error
        return error["code"] == "EPROTO"
    harness.wait_for(refused_at_once, "EPROTO")
    with fake.lock:
        fake.answers = {}
    world.wait_trainer("ok")


def hung(world):
    """Only the clients that asked wait for it, and they for ten seconds."""
    world.begin("first")
    fake, got = world.fake, []
    with fake.lock:
        fake.held = True
        fake.trainings["first"].reported["state"] = "rollout"
    threads = [threading.Thread(target=lambda cmd=cmd: got.append(world.ask(cmd, name="first", key=cmd)))
               for cmd in ("train_stop", "train_resume")]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    harness.wait_for(lambda: len(world.rows("SELECT 1 FROM commands WHERE state = 'pending'")) == 2, "the pending rows")
    world.refused("EBUSY", "train_stop", name="first", key="train_stop")
    world.wait_trainer("silent")
    world.wait_rows(lambda r: len(r) == 1, "the alert", "SELECT 1 FROM alerts WHERE code = 'TRAINER_SILENT' AND text LIKE '%does not answer%'")
    for thread in threads:
        thread.join()
    assert time.monotonic() - started > 9, "given up too early"
    assert len(got) == 2 and all(not a["ok"] and a["error"]["code"] == "ETIMEDOUT" for a in got), got
    assert world.rows("SELECT count(*) FROM commands WHERE state = 'pending'") == [(2,)], "it may still do it"
    assert world.training("first", lambda t: t["stale"], "a stale training")["age_ms"] > 3000
    with fake.lock:
        fake.held = False
    world.wait_trainer("ok")
    world.wait_rows(lambda r: r == [("done",), ("done",)], "their outcome", "SELECT state FROM commands")
    assert sorted(cmd for cmd, _ in fake.done) == ["resume", "stop"], fake.done
    assert world.ask("train_stop", name="first", key="train_stop")["result"]["repeated"] is True


def kills(world):
    """kill -9 of the daemon within 20 ms of a command: it is carried out once, its row is there once and says so. Asked again
    with its key by a client that got no answer; without a key it has a row only if it was carried out."""
    world.begin()
    fake, draw = world.fake, random.Random(int(os.environ.get("PAPERTAPE_SEED", "11")))
    fake.pause = lambda: draw.uniform(0, 0.008)
    counts = {"carried out before the end": 0, "rows before the end": 0}
    for i in range(TRIES):
        name, keyed = f"t{i}", i % 3 != 0
        args = {"name": name, "config": "[ppo]\n", **({"key": f"k{i}"} if keyed else {})}
        client = socket.socket(socket.AF_UNIX)
        client.connect(os.path.join(world.daemon.state, "control.sock"))
        client.sendall(json.dumps({"id": 1, "cmd": "train_start", "args": args}).encode() + b"\n")
        time.sleep(draw.uniform(0, 0.02))
        world.daemon.stop(signal.SIGKILL)
        client.close()
        row = "SELECT state FROM commands WHERE args LIKE ?"
        counts["rows before the end"] += len(world.rows(row, f'%"{name}"%'))
        counts["carried out before the end"] += ("start", name) in fake.done
        world.start()
        if keyed:
            def answered():
                answer = world.ask("train_start", **args)
                assert answer["ok"] or answer["error"]["code"] in ("EBUSY", "EAGAIN"), answer
                return answer["ok"]
            harness.wait_for(answered, "the answer")
        rows = harness.wait_for(lambda: (lambda r: ("pending",) not in r and [r])(world.rows(row, f'%"{name}"%')), "its row settled")[0]
        done = fake.done.count(("start", name))
        assert rows == done * [("done",)] and done <= 1 and (done == 1 or not keyed), (name, keyed, rows, fake.done)
    print(f"{TRIES} daemons killed within 20 ms of a command: {counts}")


def ends(world):
    """The daemon's end in the middle of a command; what it knows without the co-process."""
    world.begin("first", "reporting")
    fake, got = world.fake, []
    with fake.lock:
        fake.held = "stop"
        fake.trainings["first"].step()
    thread = threading.Thread(target=lambda: got.append(world.ask("train_stop", name="first")))
    thread.start()
    harness.wait_for(lambda: world.rows("SELECT 1 FROM commands WHERE state = 'pending'"), "a pending row")
    harness.wait_for(lambda: any(cmd == "stop" for cmd, _ in fake.asked), "the request, without which the end refuses it")
    assert world.daemon.stop() == 0
    thread.join()
    assert got[0]["error"]["code"] in ("ESHUTDOWN", "ECONNRESET"), got
    assert world.rows("SELECT count(*) FROM commands WHERE state = 'pending'") == [(1,)]
    world.start()
    world.wait_trainer("ok")
    with fake.lock:
        fake.held = False
    world.wait_rows(lambda r: r == [("done",)], "its outcome", "SELECT state FROM commands")
    assert fake.done == [("stop", "first")], fake.done
    with fake.lock:
        fake.held = "stop"
    client = socket.socket(socket.AF_UNIX)
    client.connect(os.path.join(world.daemon.state, "control.sock"))
    client.sendall(b'{"id":1,"cmd":"train_stop","args":{"name":"first"}}\n')
    harness.wait_for(lambda: world.rows("SELECT 1 FROM commands WHERE state = 'pending'"), "a pending row")
    world.daemon.stop(signal.SIGKILL)
    client.close()
    assert world.rows("SELECT count(*) FROM commands WHERE state = 'pending'") == [(1,)]
    fake.close()
    world.start()
    status = world.daemon.wait_status(lambda s: s["trainer"]["state"] == "off", "no co-process")
    stored = {n: s for n, s in world.rows("SELECT name, steps FROM trainings")}
    shown = {t["training"]: t for t in status["trainings"]}
    assert shown["reporting"]["steps"] == stored["reporting"] and len(shown) == min(64, len(stored)), shown.keys()
    assert shown["first"]["steps"] == stored["first"]
    world.wait_rows(lambda r: len(r) == 1, "the alert", "SELECT 1 FROM alerts WHERE code = 'TRAINER_ABSENT'")
    with fake.lock:
        fake.held, fake.protocol = False, 2
    fake.open()
    detail = world.wait_trainer("version")["detail"]
    world.daemon.stop()  # an upgrade, and back
    world.start()
    assert world.wait_trainer("version")["pid"] is None
    assert {t["training"] for t in world.daemon.status_object()["trainings"]} == set(shown), "what is stored is shown"
    assert "protocol 2" in detail and "0.0.fake" in detail, detail
    assert "protocol 2" in world.refused("EPROTO", "train_stop", name="first")
    world.wait_rows(lambda r: len(r) == 1, "the alert",
                    "SELECT 1 FROM alerts WHERE code = 'TRAINER_VERSION' AND closed_ns IS NULL")  # the former run may have raised it too
    started = time.monotonic()
    with fake.lock:
        fake.protocol = 1
    world.wait_trainer("ok")
    assert time.monotonic() - started < 60, "looked at again before long"
    world.wait_rows(lambda r: ("pending",) not in r and [("done",)], "what the former run asked", "SELECT state FROM commands")
    assert world.ask("train_resume", name="first")["ok"]
    assert json.loads(world.daemon.papertape("ledger", "verify", "--json"))["ok"] is True
    assert world.daemon.stop() == 0


def main():
    """All at once, each with a daemon of its own: most of it is waiting."""
    failures = []

    def run(part, folder, replay):
        started = time.monotonic()
        try:
            part(World(folder, replay, part.__name__))
        except BaseException:
            failures.append(part.__name__)
            traceback.print_exc()
        print(f"{part.__name__}: {time.monotonic() - started:.1f} s", flush=True)
    with harness.Folder() as folder:
        for name in ("own", "killed"):
            os.mkdir(os.path.join(folder.path, name))
        replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        own = {progress: folder.start(harness.Replay(os.path.join(folder.path, "own"), "--synthetic", "8")),
               kills: folder.start(harness.Replay(os.path.join(folder.path, "killed"), "--synthetic", "9"))}
        threads = [threading.Thread(target=run, args=(part, folder, own.get(part, replay)))
                   for part in (kills, ends, hung, progress, lies, alerts, commands, many, off) if part.__name__ in (sys.argv[1:] or PARTS)]
        for thread in threads:  # a venue takes only so many requests a minute: some have their own
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
    return 0


if __name__ == "__main__":
    sys.exit(main())
