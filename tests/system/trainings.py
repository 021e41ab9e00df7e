#!/usr/bin/env python3
"""A daemon on a synthetic market and the real co-process: a training without a configuration gets on, and its worker, the daemon, the
co-process and both are killed in the middle, while a position is held and the policy trades. Everything comes back, with one worker
at a time; no step is counted twice; the ledger is clean and what the log gives. Two daemons have a co-process each. A daemon that
stops leaves its training alone."""

import json
import os
import re
import signal
import sqlite3
import sys
import time

import harness

CONFIG = "[market]\ninterval = 1s\nhistory = 300\n[account hand]\nstrategy = none\n"


def training(daemon, name="probe"):
    status = daemon.status_object()
    return next((t for t in status["trainings"] if t["training"] == name), None) if status else None


def rows(daemon, sql):
    with sqlite3.connect(f"file:{daemon.state}/papertape.db?mode=ro", uri=True, timeout=30) as db:
        return db.execute(sql).fetchall()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def workers(daemon):
    """Processes that train for this daemon's state directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"train" in words and any(os.path.realpath(daemon.state).encode() in w for w in words) and is_alive(pid):
            found.append(int(pid))
    return found


def co_process(daemon):
    return daemon.wait_status(lambda s: s["trainer"]["state"] == "ok", "the co-process")["trainer"]["pid"]


def gets_on(daemon, beyond=0, name="probe", after=None):
    """Waits for a checkpoint beyond so many steps, reported by another worker than the process `after`; what was shown meanwhile
    never fell below the last checkpoint."""
    def look():
        seen = training(daemon, name)
        assert not seen or seen["state"] != "failed", seen
        if seen and seen["checkpoint_steps"] and seen["state"] not in ("queued", "loading", "features"):
            assert seen["steps"] >= seen["checkpoint_steps"], seen
        there = seen and (seen["checkpoint_steps"] or 0) > beyond and (after is None or seen["pid"] not in (None, after))
        return seen if there else None
    return harness.wait_for(look, f"a checkpoint beyond {beyond} steps of {name}")


def curve_is_whole(daemon):
    points = rows(daemon, "SELECT steps, ts_ns, iteration FROM training_points WHERE training = 'probe' ORDER BY steps")
    assert len(points) >= 3, points
    for (a, at, ai), (b, bt, bi) in zip(points, points[1:]):
        assert a < b and at < bt and ai < bi, ((a, at, ai), (b, bt, bi))
    per_iteration = {steps / iteration for steps, _, iteration in points}
    assert len(per_iteration) == 1, per_iteration  # each step counted once, since the first
    return points


def end_all(daemons):
    """No process is left behind, however the test ended."""
    for daemon in daemons:
        try:
            with sqlite3.connect(f"file:{daemon.state}/papertape.db?mode=ro", uri=True, timeout=30) as db:
                mark = db.execute("SELECT value FROM meta WHERE key = 'trainer_process'").fetchone()
        except sqlite3.Error:
            mark = None
        for pid in ([int(mark[0].split()[0])] if mark else []) + workers(daemon):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if b"papertape-trainer" in file.read():
                        os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        harness.wait_for(lambda: not workers(daemon), "the last worker's end")


def takes_position(daemon):
    """One by hand, and the policy as it is now on an account of its own."""
    daemon.papertape("order", "buy", "BTCUSDT", "0.01", "--account", "hand")
    answer = harness.control(daemon, "policy_promote", {"name": "probe"})
    assert answer["ok"], answer
    holds(daemon)


def holds(daemon):
    """The position by hand, and the policy in its slot."""
    def there(status):
        hand = [p for p in status["positions"] or [] if p["account"] == "hand" and p["symbol"] == "BTCUSDT"]
        return (len(hand) == 1 and abs(hand[0]["qty"] - 0.01) < 1e-9 and
                [(p["policy"], p["role"], p["state"]) for p in status["policies"] or []] == [("probe", "challenger", "trading")])
    daemon.wait_status(there, "the position and the policy")


def start_default(daemon):
    """The daemon's own configuration, for longer than the test, and with checkpoints soon after each other: until each it takes a
    processor."""
    config = harness.control(daemon, "train_config", {})["result"]["config"]
    assert config.count("\ntotal_steps = ") == 1, config
    assert config.count("\ncheckpoint_every = ") == 1, config
    config = re.sub("\ntotal_steps = .*", "\ntotal_steps = 1000000000", config)
    config = re.sub("\ncheckpoint_every = .*", "\ncheckpoint_every = 10", config)
    answer = harness.control(daemon, "train_start", {"name": "probe", "config": config})
    assert answer["ok"], answer


def kills(folder, replay, daemons):
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemons.append(daemon)
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["bars"] > 200, "bars")
    assert daemon.status_object()["trainer"]["state"] == "absent"  # it is started when it is needed
    start_default(daemon)
    seen = gets_on(daemon)
    takes_position(daemon)

    started = time.monotonic()
    os.kill(seen["pid"], signal.SIGKILL)
    daemon.wait_status(lambda s: s["trainings"][0]["cause"] == "killed" or s["trainings"][0]["attempts"] == 2, "its worker's end")
    seen = gets_on(daemon, seen["checkpoint_steps"], after=seen["pid"])
    assert seen["attempts"] == 2 and len(workers(daemon)) == 1, (seen, workers(daemon))
    harness.wait_for(lambda: rows(daemon, "SELECT 1 FROM alerts WHERE code = 'TRAINING_FAILED' AND text LIKE 'probe: %'"), "an alert")
    print(f"worker killed: it continued after {time.monotonic() - started:.1f} s")

    first, started = co_process(daemon), time.monotonic()
    reported = "SELECT steps FROM trainings WHERE name = 'probe'"
    harness.wait_for(lambda: rows(daemon, reported)[0][0] >= seen["checkpoint_steps"], "what was reported, in the database")
    daemon.stop(signal.SIGKILL)
    assert is_alive(first) and is_alive(seen["pid"])
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemons[-1] = daemon
    back = harness.wait_for(lambda: training(daemon), "the training from the database, at once")
    assert back["steps"] >= seen["checkpoint_steps"], back
    again = gets_on(daemon, seen["checkpoint_steps"])
    assert co_process(daemon) == first and again["pid"] == seen["pid"] and again["attempts"] == 2, again
    holds(daemon)
    print(f"daemon killed: it was back after {time.monotonic() - started:.1f} s, the worker the same")

    started = time.monotonic()
    os.kill(first, signal.SIGKILL)
    harness.wait_for(lambda: not is_alive(first), "its end")
    again = gets_on(daemon, again["steps"], after=again["pid"])
    second = co_process(daemon)
    assert second != first and again["attempts"] == 3 and workers(daemon) == [again["pid"]], (again, workers(daemon))
    print(f"co-process killed: another continued after {time.monotonic() - started:.1f} s")

    started = time.monotonic()
    os.kill(second, signal.SIGKILL)
    daemon.stop(signal.SIGKILL)
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemons[-1] = daemon
    again = gets_on(daemon, again["steps"], after=again["pid"])
    third = co_process(daemon)
    assert third != second and workers(daemon) == [again["pid"]], (again, workers(daemon))
    holds(daemon)
    print(f"both killed: back after {time.monotonic() - started:.1f} s")

    assert daemon.stop() == 0  # a stop in order leaves both alone
    assert is_alive(third) and workers(daemon) == [again["pid"]]
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG))
    daemons[-1] = daemon
    assert gets_on(daemon, again["checkpoint_steps"])["pid"] == again["pid"] and co_process(daemon) == third
    return daemon, third


def two_directories(folder, replay, daemons, third):
    other = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="other", state="other"))
    daemons.append(other)
    other.wait_status(lambda s: s["symbols"] and s["symbols"][0]["bars"] > 200, "bars")
    start_default(other)
    gets_on(other)
    harness.wait_for(lambda: len(rows(other, "SELECT 1 FROM training_points")) >= 3, "a curve")
    assert co_process(other) != third
    assert len(workers(other)) == 1 and not set(workers(other)) & set(workers(daemons[0]))
    return other


SPAN_S, REPORT_EVERY_S = 60 if harness.LONG else 12, 1


def phases_are_reported(folder, replay, daemons):
    """Iterations of a fraction of a second, a checkpoint every third: the reported time of rollouts and updates is what the worker
    says at its end that they took, within 5 %, and what two reports may still lack in so short a run."""
    daemon = folder.start(harness.Daemon(folder.path, replay, CONFIG, name="phases", state="phases"))
    daemons.append(daemon)
    daemon.wait_status(lambda s: s["symbols"] and s["symbols"][0]["bars"] > 200, "bars")
    config = ("[training]\nworld = pendulum\ncheckpoint_every = 3\ntotal_steps = 1000000000\ndevice = cpu\n"
              "steps = 1024\n")
    assert harness.control(daemon, "train_start", {"name": "probe", "config": config})["ok"]
    started = harness.wait_for(lambda: (t := training(daemon)) and t["checkpoint_steps"] and time.monotonic(), "a checkpoint")
    harness.wait_for(lambda: time.monotonic() - started > SPAN_S and training(daemon)["iteration"] > 3 * SPAN_S, "a while, and iterations",
                     SPAN_S + harness.PATIENCE)
    assert harness.control(daemon, "train_stop", {"name": "probe"})["ok"]
    harness.wait_for(lambda: training(daemon)["state"] == "stopped", "the stop")
    states = "SELECT state, ts_ns, utilisation FROM training_states WHERE training = 'probe' ORDER BY ts_ns"
    harness.wait_for(lambda: rows(daemon, states)[-1][0] == "stopped", "the end in the timeline")
    reported, measured, lasted = {}, 0, 0
    timeline = rows(daemon, states)
    for (state, at, utilisation), (_, after, _) in zip(timeline, timeline[1:]):
        reported[state] = reported.get(state, 0) + (after - at) / 1e9
        if state in ("rollout", "update"):
            lasted += after - at
            measured += after - at if utilisation is not None else 0
    with open(os.path.join(daemon.state, "trainings/probe/events.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    end = [event for event in events if event["event"] == "end"][-1]
    took = {name: phase["seconds"] for name, phase in end["phases"].items()}
    right = {"rollout": took["rollout"], "update": took["advantages"] + took["update"]}
    both, all_reported = sum(right.values()), reported["rollout"] + reported["update"]
    slack = 0.05 + 2 * REPORT_EVERY_S / all_reported
    print(f"phases: rollout {100 * reported['rollout'] / all_reported:.1f} % reported, {100 * right['rollout'] / both:.1f} % taken, of {all_reported:.1f} s in "
          f"{end['iterations']} iterations; utilisation known of {100 * measured / lasted:.0f} %")
    assert end["iterations"] > 3 * SPAN_S, end
    assert abs(reported["rollout"] / all_reported - right["rollout"] / both) < slack, (reported, right)
    assert measured > 0.9 * lasted, timeline
    assert daemon.stop() == 0


def main():
    daemons = []
    with harness.Folder() as folder:
        try:
            replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
            phases_are_reported(folder, replay, daemons)  # before others train: what they take is not this test's
            daemon, third = kills(folder, replay, daemons)
            other = two_directories(folder, replay, daemons, third)
            for each in (daemon, other):
                answer = harness.control(each, "train_stop", {"name": "probe"})
                assert answer["ok"], answer
            for each in (daemon, other):
                harness.wait_for(lambda: training(each)["state"] == "stopped", "the stop")
                harness.wait_for(lambda: rows(each, "SELECT state FROM training_states ORDER BY ts_ns DESC LIMIT 1") == [("stopped",)],
                                 "the end in the timeline")
                harness.wait_for(lambda: not workers(each), "its worker's end")
            points = curve_is_whole(daemon)
            curve_is_whole(other)
            stored = harness.wait_for(lambda: [row for row in rows(daemon, "SELECT steps, attempts FROM trainings")
                                               if row[0] >= points[-1][0]], f"the steps of {points[-1]} in the training's row")
            print(f"{len(points)} points, {points[-1][0]} steps, {stored[0][1]} processes: each step counted once")
            holds(daemon)
            for each in (daemon, other):
                print("  " + each.papertape("ledger", "verify").split("\n")[0])
                print("  " + each.papertape("parity").strip().split("\n")[-1])
                assert each.stop() == 0
        finally:
            end_all(daemons)
    return 0


if __name__ == "__main__":
    sys.exit(main())
