"""Studies as work of `papertape-trainer serve`: what their workers are given, what is reported of them, how they continue, and
schedules; with a fake worker.

    studies.py PAPERTAPE_TRAINER
"""
import datetime
import json
import os
import re
import signal
import sys
import tempfile

from co_process import Client, CoProcess, check, config, done, market, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))
from program import write_market  # noqa: E402


def study(*lines):
    return market("cpu") + "[study]\n" + "\n".join(lines) + "\n[search]\nlearning_rate = 1e-5..1e-3 log\n"


def test_run(program):
    """Its worker, its figures, its proposal; stopped, resumed, killed, restarted with more trials."""
    with CoProcess(program, "--idle-s", "0", "--retry-ms", "20").begin() as co:
        co.how("s", step_ms=5, total=100000)
        started = co.ask("start", name="s", config=study("trials = 100000"))
        check(started["total_steps"] == 100000 and started["study"] == "s", f"started: {started}")
        co.wait("s", "searching", study="s")
        run = co.runs("s", "started")[0]
        words = run["arguments"]
        check(words[:4] == ["study", "s", "--state", co.state] and "--json" in words and "--report-every" not in words and run["directory"] == co.state,
              f"its arguments: {words}")
        until(lambda: co.training("s")["steps"] > 3, "trials end")
        now = co.training("s")
        check(now["return"] is None and now["total_steps"] == 100000 and now["checkpoint"] is None, f"figures: {now}")
        co.ask("stop", name="s")
        stopped = co.wait("s", "stopped")
        co.ask("resume", name="s")
        until(lambda: co.training("s")["steps"] > stopped["steps"], "it continues")
        before = co.wait("s", "searching")
        os.kill(before["pid"], signal.SIGKILL)
        again = co.wait("s", "searching", attempts=before["attempts"] + 1)
        check(again["steps"] >= before["steps"], f"after a kill: {again}")
        check({line["arguments"][1] for line in co.runs("s", "started")} == {"s"}, "the same study")
        co.refused("EINVAL", ["a study", "[study]"], "restart", name="s", config=config())
        co.how("s", step_ms=1, total=co.training("s")["steps"] + 5, proposes={"policy": "/p/a.safetensors", "trial": 3})
        co.ask("restart", name="s", config=study("trials = 200000"))
        ended = co.wait("s", "done")
        check(ended["policy"] == "/p/a.safetensors" and ended["due_ns"] is None, f"done: {ended}")
        reported = [event for event in co.events("s") if event["event"] == "proposal"]
        check(len(reported) == 1 and reported[0]["proposal"]["trial"] == 3, f"proposal: {reported}")
        co.refused("EEXIST", ["has run"], "start", name="s", config=study())
        co.ask("start", name="s", config=study(), overwrite=True)
        second = co.wait("s", "done")
        check(re.fullmatch(r"s@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", second["study"]), f"started again, its trials are others: {second}")
        co.ask("start", name="t", config=config())
        co.refused("EINVAL", ["a training", "without"], "restart", name="t", config=study())
        co.ask("stop", name="t")
        check(not any(line["kind"] == "doubled" for line in co.runs("s")), "one process at a time")


def test_children(program):
    """All processes of a study are its own: their memory, their processor time, their end."""
    with CoProcess(program, "--idle-s", "0", "--cpu-slots", "3").begin() as co:
        co.how("big", step_ms=5, child=True, allocate_mib=200)
        co.ask("start", name="big", config=study() + "[serve]\nmemory_mib = 120\n")
        failed = co.wait("big", "failed")
        check(failed["cause"] == "memory_budget", f"memory: {failed}")
        co.how("busy", step_ms=20, child=True)
        co.ask("start", name="busy", config=study() + f"[serve]\ncpu_hours = {0.5 / 3600:.6f}\n")
        failed = co.wait("busy", "failed")
        check(failed["cause"] == "cpu_budget" and failed["cpu_s"] > 0.49, f"processor time: {failed}")
        until(lambda: not co.workers(), "no process is left")


def due(training):
    return training["due_ns"] if training["state"] == "queued" else None


def test_schedule(program):
    """Run again at its time under a name of its own, after a kill and a restart of the co-process too; what fails waits for the next."""
    with CoProcess(program, "--idle-s", "0").begin() as co:
        co.how("often", step_ms=1, total=5)
        co.ask("start", name="often", config=study("every = 2s", "trials = 5"))
        runs = set()
        until(lambda: runs.add(co.training("often")["study"]) or len(runs - {None}) >= 2, "a second run")
        check(all(run is None or run.startswith("often@") for run in runs), f"names: {runs}")
        co.ask("stop", name="often")
        stopped = co.wait("often", "stopped")
        check(stopped["due_ns"] is None, f"no schedule any more: {stopped}")

        co.how("daily", step_ms=1, total=5)
        co.ask("start", name="daily", config=study("every = 1d", "trials = 5"))
        waits = until(lambda: (t := co.training("daily")) and due(t) and t, "the next run is due")
        when = datetime.datetime.fromtimestamp(waits["due_ns"] / 1e9, datetime.timezone.utc)
        check(86000e9 < waits["due_ns"] - waits["created_ns"] < 86800e9 and f"{when:%Y-%m-%dT%H:%MZ}" in waits["reason"] and "is done" in waits["reason"],
              f"tomorrow: {waits}")
        co.kill()
        co.begin()
        after = co.training("daily")
        check(after["due_ns"] == waits["due_ns"] and after["state"] == "queued" and after["study"] == waits["study"], f"kept: {after}")
        co.ask("restart", name="daily")
        until(lambda: co.training("daily")["study"] != waits["study"] and due(co.training("daily")), "a run before its time")
        check(len(co.runs("daily", "ended")) == 2 and co.runs("daily", "ended")[1]["steps"] == 5, "it was a whole one")

        co.how("fails", step_ms=1, total=5, die=1, cause="nan")
        co.ask("start", name="fails", config=study("every = 1h"))
        failed = until(lambda: (t := co.training("fails")) and due(t) and t, "it waits")
        check(failed["cause"] == "nan" and "it had to be" in failed["reason"] and "due at" in failed["reason"], f"failed: {failed}")
        co.ask("stop", name="fails")
        check(co.wait("fails", "stopped")["due_ns"] is None, "stopped while it waits")


def test_rows(program):
    """Rows too few are refused by start and check, by name, before there is a training; a plan says what it takes."""
    small = ("[training]\ntotal_steps = 2048\ndevice = cpu\n[network]\npolicy_layers = 8\nvalue_layers = 8\n[ppo]\ncopies = 4\nsteps = 64\n"
             "minibatch = 64\nepochs = 1\n[environment]\nlookback = 3\nepisode_bars = 60\nrandom_start = true\nforced_exit_bars = 0\n")
    with CoProcess(program, "--idle-s", "0", worker=None).begin() as co:
        bars = ", ".join(write_market(co.folder, n=400))

        def study_of(validation, trials=2, more=""):
            return f"{small}[data]\nbars = {bars}\nfeatures =\n{more}[study]\ntrials = {trials}\nvalidation = {validation}\n[search]\nepochs = 1..2\n"

        words = ["config: [study] validation: cpcv:5,2: split ", "an episode needs 60 (episode_bars)", "rows more"]
        few = study_of("cpcv:5,2", more="train_to = 2024-01-11T00:00:00Z\n")
        error = co.refused("EINVAL", words, "start", name="few", config=few)
        check(error["errors"][0]["section"] == "study" and error["errors"][0]["key"] == "validation", f"few: {error}")
        check(co.list() == {} and not os.path.exists(os.path.join(co.state, "studies.db")), "few: nothing began")
        errors = co.ask("check", config=few)["errors"]
        check(len(errors) == 1 and errors == error["errors"], f"few: {errors}")
        co.refused("EINVAL", ["[study] validation: cpcv:5,2: split "], "plan", config=few)
        good = study_of("auto")
        check(co.ask("check", config=good)["errors"] == [], "good: no error")
        plan = co.ask("plan", config=good)["plan"]
        check(plan["schema"] == "papertape.study-plan/1" and plan["trials"] == 2 and plan["trainings"] == 2 * plan["splits"] and plan["seconds"] > 0 and
              plan["rows"]["rows"] == 400, f"plan: {plan}")
        plan = co.ask("plan", config=f"{small}[data]\nbars = {bars}\nfeatures =\n")["plan"]
        check(plan["schema"] == "papertape.plan/1" and plan["seconds"] > 0 and plan["fits"] is None, f"plan of a training: {plan}")
        co.refused("EINVAL", ["trails"], "plan", config=good.replace("trials", "trails"))
        co.ask("start", name="good", config=good)
        co.wait("good", "done")
        check(list(co.list()) == ["good"], "good: it ran")
        # What cannot be looked at is left to its worker, which says so.
        co.ask("start", name="none", config=good.replace("AAAUSDT_1h", "ZZZUSDT_1h"))
        check("ZZZUSDT_1h" in co.wait("none", "failed")["reason"], "none: its bars are not there")


def test_end(program):
    """A co-process that ends while it looks at studies, which it does at four at a time, answers, starts nothing, and leaves no process."""
    with tempfile.TemporaryDirectory() as folder:
        slow = os.path.join(folder, "slow")
        with open(slow, "w") as file:
            file.write(f"#!/bin/sh\necho $$ >>{folder}/pids\nexec sleep 600\n")
        os.chmod(slow, 0o755)
        with CoProcess(program, "--idle-s", "0", worker=slow).begin() as co:
            asked = [json.dumps({"id": i, "cmd": cmd, "args": {"name": "s", "config": study()}}) for i, cmd in enumerate(("start", "check", "plan", "check"))]
            co.client.file.write("\n".join(asked) + "\n")
            co.client.file.flush()
            until(lambda: os.path.exists(f"{folder}/pids") and len(open(f"{folder}/pids").read().split()) == 4, "it looks")
            first, co.client = co.client, Client(co.socket)
            for cmd in ("check", "plan"):
                co.refused("EBUSY", ["4 plans and checks", "again"], cmd, config=study())
            co.client.close()
            co.client = first
            co.process.send_signal(signal.SIGTERM)
            answers = sorted((json.loads(co.client.file.readline()) for _ in asked), key=lambda answer: answer["id"])
            check([answer["ok"] for answer in answers] == [False, True, False, True] and answers[0]["error"]["code"] == "ESHUTDOWN" and
                  answers[2]["error"]["code"] == "ETIME", f"its end: {answers}")
            check(co.gone() == 0 and co.runs("s") == [], "its end: nothing was started")
            until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in open(f"{folder}/pids").read().split()), "no process is left")


program = sys.argv[1]
test_rows(program)
test_end(program)
test_run(program)
test_children(program)
test_schedule(program)
done("trainer/serve/studies")
