#!/usr/bin/env python3
"""A daemon, a scripted co-process and a stand-in for NVIDIA's library: a device at 81 degrees is a warning, at 86 the same alert is
an error and open again, 49 % during an update is an alert, each within ten seconds of its condition; a study without a trial, and
its new best one. A device that gives no figure, or is not there, is lost until it is back. A daemon that is killed and started
again raises nothing twice, and ends what is over. The seals hold throughout. With PAPERTAPE_LONG the utilisation has the shipped 30 s, else two."""

import os
import signal
import subprocess
import sys
import time

import harness
from fake import Fake, Training

LIBRARY = os.path.join(harness.BUILD, "tests/daemon/libfake-nvml-all.so")
WITHIN_S = 10
FOR_S = 30 if harness.LONG else 2
TRIAL_S = 4  # above the two seconds that a trial can be old when it is looked at: its list is asked for each second
CONFIG = f"""[market]
interval = 1s
history = 50
[trainer]
start = never
[gpu]
sample_s = 1
[alerts]
gpu_lost_for = 1.5s
throttled_for = 2s
gpu_utilisation_for = {FOR_S}s
recovered_for = 1s
no_trial_for = {TRIAL_S}s
[account hand]
strategy = none
"""


class World:
    def __init__(self, folder):
        self.folder = folder
        self.replay = folder.start(harness.Replay(folder.path, "--synthetic", "7"))
        self.figures = os.path.join(folder.path, "gpu")
        self.state = os.path.join(os.path.realpath(folder.path), "state")
        self.gpu(devices=1, temperature=60, utilization=97, memory_used=1024, memory_total=16384)
        os.mkdir(self.state, 0o750)
        self.fake = Fake(self.state)
        self.journal = harness.Journal(folder.path)

    def start(self):
        environment = dict(os.environ, PAPERTAPE_NVML=LIBRARY, PAPERTAPE_FAKE_NVML=self.figures, **self.journal.environment)
        self.daemon = self.folder.start(harness.Daemon(self.folder.path, self.replay, CONFIG, env=environment))
        self.daemon.wait_status(lambda s: s["symbols"] and s["trainer"]["state"] == "ok" and s["gpu"]["state"] == "ok",
                                "the session, the co-process and the device")

    def gpu(self, **figures):
        """From now on the device has these figures too."""
        self.changed = time.time_ns()
        with open(self.figures, "a") as file:
            file.write("".join(f"{key}={value}\n" for key, value in figures.items()))

    def alerts(self, code):
        return self.daemon.query(f"SELECT id, severity, text, count, acked_ns, closed_ns, ts_ns, last_ns FROM alerts WHERE code = '{code}'"
                                 " ORDER BY id")

    def wait(self, code, condition, what):
        """The newest alert of that code, once it is so."""
        return harness.wait_for(lambda: (lambda r: r[-1] if r and condition(*r[-1][:6]) else None)(self.alerts(code)), what)

    def raised(self, code, severity, words, after_s=0):
        """It was last seen in time: counted from the newest change of figures, and the time that its rule waits."""
        alert = self.wait(code, lambda _, s, text, count, acked, closed: (s, acked, closed) == (severity, None, None) and words in text, code)
        late = (alert[7] - self.changed) / 1e9 - after_s
        assert 0 <= late + 2 and late <= WITHIN_S, (alert, late)
        print(f"{alert[2]}: {late:.1f} s after its condition", flush=True)
        return alert


def begins(world):
    """A device that gets hot and idle while a training updates on it, and a study of which no trial finishes."""
    training, study = Training("ppo"), Training("search")
    training.reported.update(device="0", state="rollout")
    training.step()
    study.reported.update(state="searching", study="search", steps=0, total_steps=9, started_ns=time.time_ns())
    with world.fake.lock:
        world.fake.trainings.update(ppo=training, search=study)
    world.daemon.wait_status(lambda s: any(t["state"] == "update" for t in s["trainings"]), "the update")
    world.gpu(temperature=81, utilization=49, throttle="0x24")  # the power cap and heat
    warning = world.raised("GPU_TEMPERATURE", "warning", "Fake 0")
    assert "81 C, warning from 80 C" in warning[2] and warning[3] == 1, warning
    alert = world.raised("GPU_UTILISATION", "warning", "ppo: 49 % on Fake 0", FOR_S)
    assert f"warning below 50 % for {FOR_S}s in an update" in alert[2], alert
    alert = world.raised("GPU_THROTTLED", "warning", "Fake 0", 2)
    assert alert[2].endswith(": thermal slowdown, for 2s"), alert
    alert = world.wait("NO_TRIAL", lambda *row: row[5] is None, "a study without a trial")
    assert "no trial finished: search: " in alert[2] and f"after 0 of 9 trials, warning from {TRIAL_S}s" in alert[2], alert
    for code, training in (("GPU_UTILISATION", "ppo"), ("NO_TRIAL", "search"), ("GPU_THROTTLED", None)):
        assert world.journal.wait_alert(code).get("TRAINING") == training, code
    return warning


def trial(world, number, **members):
    with world.fake.lock:
        study = world.fake.trainings["search"]
        study.seq += 1
        study.events.append({"seq": study.seq, "ts_ns": time.time_ns(), "event": "trial", "number": number, "trials": 9,
                             "done": number + 1, "complete": number + 1, "value": number / 4, "state": "complete", **members})
        study.reported["steps"] = number + 1


def ack_refused(world, alert, words):
    call = subprocess.run([os.path.join(harness.BUILD, "tui/papertape"), "--state", world.state, "alerts", "ack", str(alert)],
                          capture_output=True, text=True)
    assert call.returncode == 1 and words in call.stderr, call


def gets_worse(world, warning):
    """What was acknowledged is an error now, and open again. The study has trials, and then no more."""
    world.daemon.papertape("alerts", "ack", str(warning[0]))
    world.wait("GPU_TEMPERATURE", lambda *row: row[4] is not None, "that it is acknowledged")
    ack_refused(world, warning[0], "it is acknowledged already")
    ack_refused(world, 999999, "no alert has that id")
    world.gpu(temperature=86)
    trial(world, 0, best_number=0)
    trial(world, 1, best_number=0)
    trial(world, 2, best_number=2)
    world.wait("NO_TRIAL", lambda *row: row[5] is not None, "that a trial ends it")
    error = world.raised("GPU_TEMPERATURE", "error", "86 C, critical from 85 C")
    assert (error[0], error[3]) == (warning[0], 2), (warning, error)
    shown = world.daemon.papertape("alerts", "list")
    assert "86 C, critical from 85 C" in shown and "  error " in shown, shown
    best = world.alerts("NEW_BEST")
    assert [row[1:4] for row in best] == [("info", "new best trial: search: trial 2 with 0.5, after 3 of 9", 1)], best
    assert world.journal.wait_alert("NEW_BEST")["TRAINING"] == "search"
    world.wait("NO_TRIAL", lambda *row: row[5] is None, "that none follows")


def restart(world):
    """What is open stays as it is: read after a later alert of the new daemon."""
    codes = ("GPU_TEMPERATURE", "GPU_UTILISATION", "GPU_THROTTLED", "NO_TRIAL", "NEW_BEST")
    before = {code: world.alerts(code) for code in codes}
    world.daemon.stop(signal.SIGKILL)
    world.start()
    world.gpu(memory_used=16000)
    world.raised("GPU_MEMORY", "warning", "97.7 % (15.6 of 16.0 GiB), warning from 95 %")
    asked = len(world.fake.asked)
    harness.wait_for(lambda: sum(cmd == "list" for cmd, _ in world.fake.asked[asked:]) > 3, "some seconds")
    after = {code: world.alerts(code) for code in codes}
    assert before == after, (before, after)


def lost(world):
    """What is known of it stays, and what is lost is said once, with its reason."""
    before = world.alerts("GPU_TEMPERATURE")
    for gone, back, reason in ((dict(lost=1), dict(lost=0), "its driver gives no figure of it"),
                               (dict(devices=0), dict(devices=1), "the device is gone"),
                               (dict(hang=1), dict(hang=0), "the driver has not answered since ")):
        world.gpu(**gone)
        alert = world.raised("GPU_LOST", "warning", reason, 1.5)
        assert alert[2].startswith("GPU lost: Fake 0 (GPU-00000000): no figure for ") and alert[3] == 1, alert
        world.gpu(**back)
        world.wait("GPU_LOST", lambda *row: row[5] is not None, "that it is back")
    assert len(world.alerts("GPU_LOST")) == 3 and world.alerts("GPU_TEMPERATURE") == before


def ends(world):
    world.gpu(temperature=81)
    world.wait("GPU_TEMPERATURE", lambda _, severity, text, *rest: severity == "warning" and "81 C; over at 77 C or less for 1s" in text,
               "that it is a warning again")
    world.gpu(temperature=60, memory_used=1024, throttle=0)
    with world.fake.lock:
        world.fake.trainings["ppo"].reported.update(state="done", ended_ns=time.time_ns())
        world.fake.trainings["search"].reported.update(state="done", ended_ns=time.time_ns())
    for code in ("GPU_TEMPERATURE", "GPU_MEMORY", "GPU_UTILISATION", "GPU_THROTTLED", "NO_TRIAL"):
        world.wait(code, lambda *row: row[5] is not None, f"the end of {code}")
    assert len(world.alerts("GPU_TEMPERATURE")) == 1 and not world.alerts("GPU_POWER_CAPPED")
    shown = world.daemon.papertape("ledger", "verify")
    assert shown, shown


def main():
    with harness.Folder() as folder:
        world = World(folder)
        world.start()
        gets_worse(world, begins(world))
        restart(world)
        lost(world)
        ends(world)
    return 0


if __name__ == "__main__":
    sys.exit(main())
