"""kill -9 of `papertape-trainer serve` and of its workers: nothing is started twice, nothing beyond the last checkpoint is lost,
no step is counted twice. First with a fake worker, at moments that are set; then with the real one, at moments that are drawn,
where the policy at the end must be that of an undisturbed training, to the bit.

    kill.py PAPERTAPE_TRAINER [sanitizers]      PAPERTAPE_LONG=1: more rounds; PAPERTAPE_SEED: other moments
"""
import os
import random
import signal
import subprocess
import sys
import time

from co_process import RUNS, CoProcess, check, config, done, until


def test_outlived(program):
    """A worker that continues without its co-process is waited for, killed after its grace, and never doubled."""
    with CoProcess(program, "--idle-s", "0").begin() as co:
        co.how("a", step_ms=20, stubborn=True)
        co.ask("start", name="a", config=config())
        before = until(lambda: (t := co.training("a"))["checkpoint_steps"] and t, "a checkpoint")
        co.kill()
        check(co.workers() == [before["pid"]], "it lives on")
        co.how("a", step_ms=20)
        co.begin("--grace-s", "3") # for as long it is there to be seen
        left = co.training("a")
        check(left["state"] in RUNS and left["pid"] == before["pid"] and left["attempts"] == 1, f"it is known: {left}")
        again = co.wait("a", "rollout", attempts=2)
        check(again["pid"] != before["pid"] and co.workers() == [again["pid"]] and again["restarts"] == 0, f"in its place: {again}")
        check(len(co.runs("a", "asked")) == 1 and not co.runs("a", "doubled"), "asked once, alone")
        check(co.runs("a", "started")[1]["steps"] >= before["checkpoint_steps"], "from its checkpoint")
        co.ask("stop", name="a")
        co.wait("a", "stopped")


def test_unknown_pid(program):
    """Killed between the worker's beginning and the record of its pid: the lock shows that it lives, /proc which it is."""
    with CoProcess(program, "--idle-s", "0", "--grace-s", "1").begin() as co:
        co.how("a", step_ms=20, stubborn=True)
        co.ask("start", name="a", config=config())
        pid = co.wait("a", "rollout")["pid"]
        co.kill()
        path = os.path.join(co.state, "trainings/a/record.json")
        text = open(path).read()
        with open(path, "w") as file:
            file.write(text.replace(f'"pid": {pid},', '"pid": 0,'))
        co.how("a", step_ms=20)
        co.begin()
        again = co.wait("a", "rollout", attempts=2)
        check(co.workers() == [again["pid"]] and again["pid"] != pid and not co.runs("a", "doubled"), f"found: {again}")


def test_other_pid(program):
    """The pid belongs to another process by now: that is not killed."""
    with CoProcess(program, "--idle-s", "0", "--grace-s", "1").begin() as co:
        co.how("a", step_ms=20)
        co.ask("start", name="a", config=config())
        pid = co.wait("a", "rollout")["pid"]
        co.kill()
        until(lambda: not co.workers(), "it ends by itself: no process reads its pipe")
        check(co.runs("a", "unheard") and co.runs("a", "ended"), "with a checkpoint")
        bystander = subprocess.Popen(["sleep", "60"])
        try:
            path = os.path.join(co.state, "trainings/a/record.json")
            text = open(path).read()
            with open(path, "w") as file:
                file.write(text.replace(f'"pid": {pid},', f'"pid": {bystander.pid},'))
            co.begin()
            co.wait("a", "rollout", attempts=2)
            check(bystander.poll() is None, "a bystander lives")
        finally:
            bystander.kill()
            bystander.wait()


def test_stop_is_remembered(program):
    """Asked to stop, and the co-process dies before it has: it is stopped, and not started again. A restart continues."""
    with CoProcess(program, "--idle-s", "0", "--cpu-slots", "2").begin() as co:
        for name in ("stops", "restarts"):
            co.how(name, step_ms=20, stubborn=True)
            co.ask("start", name=name, config=config())
            co.wait(name, "rollout")
        co.ask("stop", name="stops")
        co.ask("restart", name="restarts", config=config(total_steps=777777))
        co.kill()
        co.how("restarts", step_ms=20)
        co.begin("--grace-s", "1")
        co.wait("stops", "stopped")
        again = co.wait("restarts", "rollout", attempts=2)
        check("total_steps = 777777" in co.ask("config", name="restarts")["config"] and "--changed" in co.runs("restarts", "started")[1]["arguments"],
              f"with its configuration: {again}")
        check(len(co.runs("stops", "started")) == 1 and len(co.runs("stops", "asked")) == 1, "asked once, started once")


def test_keys(program):
    """A command that comes again with its key is not carried out again, by the next co-process neither."""
    with CoProcess(program, "--idle-s", "0").begin() as co:
        co.how("a", step_ms=20)
        created = co.ask("start", name="a", config=config(), key="k1")["created_ns"]
        check(co.ask("start", name="a", config=config(), key="k1")["created_ns"] == created, "the same one")
        co.refused("EEXIST", ["runs"], "start", name="a", config=config(), key="k2")
        co.refused("EINVAL", ["k1", "start"], "stop", name="a", key="k1")
        for key in ("", 64 * "x", 7):
            co.refused("EINVAL", ["key", "63"], "stop", name="a", key=key)
        co.kill()
        co.begin()
        check(co.ask("start", name="a", config=config(), overwrite=True, key="k1")["created_ns"] == created, "after a kill, too")
        co.wait("a", "rollout")
        co.ask("stop", name="a", key="~5.1723161255342000000")
        co.wait("a", "stopped")
        co.kill()
        co.begin()
        check(co.ask("stop", name="a", key="~5.1723161255342000000")["state"] == "stopped", "stopped, not refused")
        attempts = co.training("a")["attempts"]
        for _ in range(2):
            co.ask("restart", name="a", key="r")
        co.wait("a", "rollout", attempts=attempts + 1)
        check(not co.runs("a", "doubled"), "alone")
        co.ask("stop", name="a")
        co.wait("a", "stopped")
        second = co.ask("start", name="a", config=config(), overwrite=True)
        check(second["created_ns"] > created and co.ask("start", name="a", config=config(), key="k1")["created_ns"] == second["created_ns"],
              "kept by the one in its place")


def test_ended_in_order(program):
    """SIGTERM: workers write checkpoints; the next one continues with what ran, and with what was paused or waited."""
    with CoProcess(program, "--idle-s", "0").begin() as co:
        co.how("low", step_ms=5)
        co.how("high", step_ms=5, stay_ms=200)
        co.ask("start", name="low", config=config())
        until(lambda: co.training("low")["steps"] > 5, "low trains")
        co.ask("start", name="high", config=config(), priority=1)
        co.wait("high", "rollout")
        co.ask("start", name="next", config=config(), priority=-1)
        check(co.end() == 0 and co.error == "", f"in order: {co.error}")
        ended = co.runs("high", "ended")
        check(len(ended) == 1 and f"high-{ended[0]['steps']}.ckpt" in os.listdir(f"{co.state}/checkpoints"), "with a checkpoint")
        check(not co.workers(), "no worker is left")
        co.begin()
        again = co.wait("high", "rollout")
        check(co.runs("high", "started")[1]["steps"] == ended[0]["steps"] and again["attempts"] == 2 and again["restarts"] == 0, f"unasked: {again}")
        check(co.training("low")["state"] == "paused" and co.training("next")["state"] == "queued", "the others wait as before")
        co.ask("stop", name="high")
        co.wait("low", "rollout")


class Ledger:
    """Counts steps as the daemon does: points by steps, those beyond a resumed checkpoint forgotten."""

    def __init__(self):
        self.seq, self.steps, self.points, self.saved, self.process = 0, 0, [], 0, 0

    def take(self, events):
        for event in events:
            check(event["seq"] > self.seq, f"number {event['seq']} after {self.seq}")
            self.seq = event["seq"]
            if event["event"] == "start":
                self.process += 1
                check(event["steps"] >= self.saved, f"started at {event['steps']}, a checkpoint was at {self.saved}")
                self.points = [steps for steps in self.points if steps <= event["steps"]]
                self.steps = event["steps"]
            elif event["event"] == "update":
                check(event["steps"] > self.steps, f"{event['steps']} after {self.steps}")
                self.steps = event["steps"]
                self.points.append(event["steps"])
            elif event["event"] == "checkpoint":
                self.saved = event["steps"]


def test_at_random(program, sanitizers, draw):
    rounds = 60 if os.environ.get("PAPERTAPE_LONG") else 3 if sanitizers else 7
    total = (4_000_000 if rounds > 7 else 800_000) // (4 if sanitizers else 1) // 1024 * 1024
    text = config(total_steps=total, checkpoint_every=20, seed=3, evaluate_episodes=0)
    with CoProcess(program, "--idle-s", "0", "--retry-ms", "20", worker=None).begin() as co:
        with open(os.path.join(co.folder, "alone.ini"), "w") as file:
            file.write(text.replace("[training]", f"[training]\nname = alone\noutput = {co.folder}"))
        alone = subprocess.run([co.program, "train", "--config", os.path.join(co.folder, "alone.ini")], capture_output=True, text=True, timeout=300)
        check(alone.returncode == 0, f"alone: {alone.stderr}")
        ledger, killed, most = Ledger(), {"worker": 0, "serve": 0, "both": 0}, 0
        co.ask("start", name="a", config=text)
        for i in range(rounds):
            trains, before = draw.random() < 0.7, ledger.process # else wherever it is, mostly while it loads
            deadline, patience = time.monotonic() + draw.uniform(0.01, 0.15), time.monotonic() + 60
            while time.monotonic() < deadline or (trains and ledger.process == before and time.monotonic() < patience and ledger.steps < total):
                most = max(most, len(co.workers()))
                ledger.take(co.events("a", ledger.seq))
                if trains and ledger.process == before:
                    deadline = time.monotonic() + draw.uniform(0.01, 0.15)
            kind = draw.choice(list(killed))
            killed[kind] += 1
            training = co.training("a")
            if kind != "serve" and training["pid"]:
                try:
                    os.kill(training["pid"], signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if kind != "worker":
                co.kill()
                most = max(most, len(co.workers()))
                co.begin()
        ended = co.wait("a", "done")
        ledger.take(co.events("a", ledger.seq))
        check(most <= 1, f"never two workers: {most}")
        check(ended["steps"] == total and ledger.steps == total and ledger.points == sorted(set(ledger.points)), f"each step once: {ended}")
        with open(os.path.join(co.state, "checkpoints", "a.safetensors"), "rb") as a, open(os.path.join(co.folder, "alone.safetensors"), "rb") as b:
            check(a.read() == b.read(), "the policy of an undisturbed training")
        rest = [name for name in os.listdir(os.path.join(co.state, "trainings/a")) if ".new" in name]
        check(not rest, f"no half-written files: {rest}")
        print(f"killed {killed}; {ended['attempts']} processes, {ledger.process} of them trained, {total} steps")


seed = int(os.environ.get("PAPERTAPE_SEED", "20261122"), 0)
print(f"trainer/serve/kill: PAPERTAPE_SEED={seed}")
program, sanitizers = sys.argv[1], "sanitizers" in sys.argv[2:]
test_outlived(program)
test_unknown_pid(program)
test_other_pid(program)
test_stop_is_remembered(program)
test_keys(program)
test_ended_in_order(program)
test_at_random(program, sanitizers, random.Random(seed))
done("trainer/serve/kill")
