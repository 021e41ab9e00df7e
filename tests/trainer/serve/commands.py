"""What the socket of `papertape-trainer serve` answers: hello, refusals, lists, events, the log; with a fake worker.

    commands.py PAPERTAPE_TRAINER
"""
import json
import os
import socket
import subprocess
import sys
import tempfile

from co_process import PATIENCE, RUNS, Client, CoProcess, Refused, check, config, done, market, until


def test_hello(co):
    result = co.ask("hello", protocol=1, client="test 1")
    check(result["protocol"] == 1 and result["version"] and result["pid"] == co.process.pid and result["state_dir"] == co.state and
          result["devices"] == [] and result["cpu_slots"] == 1 and result["memory_mib"] == 1000 and result["started_ns"] > 0, f"hello: {result}")
    co.refused("EPROTO", ["protocol 2", "speaks 1", "test 2"], "hello", protocol=2, client="test 2")
    co.refused("EINVAL", ["protocol", "client"], "hello")
    co.refused("ENOSYS", ["trains", "list"], "trains")


def test_refused(co):
    good = config()
    for name in ("", ".a", "a/b", "a b", "ä", "a" * 32, "serve.lock", "daemon", "trainer"):
        co.refused("EINVAL", ["31"], "start", name=name, config=good)
    co.refused("EINVAL", ["config"], "start", name="a")
    co.refused("EINVAL", ["name"], "start", config=good)
    co.refused("EINVAL", ["overwrite"], "start", name="a", config=good, overwrite=1)
    co.refused("EINVAL", ["priority", "100"], "start", name="a", config=good, priority=101)
    for cmd in ("stop", "resume", "restart", "config", "events", "log"):
        co.refused("ENOENT", ["none"], cmd, name="none")
        co.refused("EINVAL", ["name"], cmd)
    bad = good.replace("copies = 8", "copies = x") + "lerning_rate = 1\n"
    errors = co.ask("check", config=bad)["errors"]
    check([(error["line"], error["key"]) for error in errors] == [(6, "copies"), (9, "lerning_rate")], f"check: {errors}")
    check(co.ask("check", config=good)["errors"] == [], "check: none")
    refusal = co.refused("EINVAL", ["config:6", "[ppo] copies", "and more"], "start", name="a", config=bad)
    check(refusal["errors"] == errors, f"refused with all: {refusal}")
    refusal = co.refused("EINVAL", ["memory_mib", "1000"], "start", name="a", config=config("memory_mib = 1001"))
    check(refusal["errors"][0]["key"] == "memory_mib", f"memory: {refusal}")
    refusal = co.refused("EINVAL", ["no device", "auto"], "start", name="a", config=market("cuda"))
    check(refusal["errors"][0]["key"] == "device", f"device: {refusal}")
    refusal = co.refused("EINVAL", ["built in", "cpu"], "start", name="a", config=good + "device = cuda\n")
    check(refusal["errors"][0]["key"] == "device", f"device: {refusal}")
    check(co.ask("list")["trainings"] == [] and os.listdir(os.path.join(co.state, "trainings")) == ["serve.lock"], "nothing was started")


def test_start(co):
    co.how("one", step_ms=5, every=5, say=[
        [1, "no JSON \xff\n"], [1, "[1]\n"], [1, '{"event":7}\n'], [1, "x" * 3_000_000 + "\n"], [1, '{"event":"update","steps":-5}\n'],
        [2, "oh\n" * 200_000], [2, "last words\n"]])
    text = "; mine\n" + config("priority = 3").replace("[training]", "[training] ; of it\nname = other")
    training = co.ask("start", name="one", config=text)
    check(training["name"] == "one" and training["state"] == "loading" and training["priority"] == 3 and training["attempts"] == 1 and
          training["device"] == "cpu", f"start: {training}")
    until(lambda: training["pid"] in co.workers(), "its process")
    kept = co.ask("config", name="one")["config"]
    check(kept == open(os.path.join(co.state, "trainings/one/training.ini")).read() and
          kept == text.replace("name = other", f"name = one\noutput = {co.state}/checkpoints"), f"config: {kept}")
    co.refused("EEXIST", ["runs", "stop"], "start", name="one", config=text)
    co.refused("EEXIST", ["runs"], "start", name="one", config=text, overwrite=True)
    co.refused("EALREADY", ["runs"], "resume", name="one")

    training = until(lambda: (t := co.training("one"))["checkpoint_steps"] and t["memory_mib"] and t, "a checkpoint")
    run = co.runs("one", "started")[0]
    check(run["directory"] == co.state and run["session"] and run["device"] == "" and run["notify"] is None, f"its surroundings: {run}")
    check(run["arguments"] == ["train", "--config", f"{co.state}/trainings/one/training.ini", "--json", "--report-every", "1000",
                               "--heartbeat", "1000"], f"arguments: {run}")
    check(training["state"] in RUNS and training["total_steps"] == 1000000 and training["backend"] == "fake" and
          training["checkpoint"] == f"{co.state}/checkpoints/one-{training['checkpoint_steps']}.ckpt" and
          0 < training["steps"] and training["return"] > 0 and training["memory_mib"] < 200 and training["memory_limit_mib"] == 1000 and
          training["heard_age_ms"] < 60000 and training["expected_ms"] == 1000 and not training["stopping"], f"it runs: {training}")
    check(co.ask("list")["memory_mib"] == {"budget": 1000, "promised": 1000}, "promised")

    events = co.events("one")
    check([event["seq"] for event in events] == list(range(1, len(events) + 1)), "events are numbered")
    updates = [event["steps"] for event in events if event["event"] == "update"]
    check(updates[1:] == list(range(1, len(updates))) and updates[0] == -5, f"each update once, as it was reported: {updates[:5]}")
    some = co.ask("events", name="one", after=3, limit=4)
    check([event["seq"] for event in some["events"]] == [4, 5, 6, 7] and some["last"] >= len(events), f"a part: {some}")
    check(co.ask("events", name="one", after=10**9)["events"] == [], "none after the last")
    co.refused("EINVAL", ["limit", "10000"], "events", name="one", limit=0)
    lines = co.ask("log", name="one")["lines"]
    check(len(lines) == 200 and lines[-1] == "last words" and lines[0] == "oh", f"log: {lines[:2]} {lines[-2:]}")
    check(co.ask("log", name="one", lines=1)["lines"] == lines[-1:], "the newest line")
    log = os.path.join(co.state, "trainings/one/worker.log")
    with open(log, "ab") as file:
        file.write("nul\0 \x1b[31mred\ttab \x85 é".encode() + b" \xff\n")
    check(co.ask("log", name="one", lines=1)["lines"] == ["nul? ?[31mred\ttab ?? é ?"], "control characters and bytes that are no UTF-8")
    with open(log, "ab") as file:
        file.write("nul\0 \x85 é\n".encode())
    check(co.ask("log", name="one", lines=1)["lines"] == ["nul? ?? é"], "control characters")
    check(all(os.path.getsize(log + end) <= 1 << 18 for end in ("", ".1")), "the log is bounded")

    check(co.ask("stop", name="one")["stopping"], "stopping")
    training = co.wait("one", "stopped", reason="", cause=None, pid=None, stopping=False)
    check(training["ended_ns"] >= training["started_ns"] >= training["created_ns"] > 0 and training["steps"] == training["checkpoint_steps"],
          f"stopped: {training}")
    co.refused("EALREADY", ["does not run"], "stop", name="one")
    co.refused("EEXIST", ["stopped", "resume", "overwrite"], "start", name="one", config=text)
    last = co.events("one")[-1]
    check(last["event"] == "state" and last["state"] == "stopped", f"its last event: {last}")
    return training


def test_again(co, before):
    """resume, restart with another configuration, overwrite."""
    co.how("one", step_ms=5, total=before["steps"] + 10)
    co.ask("resume", name="one")
    training = co.wait("one", "done")
    run = co.runs("one", "started")[-1]
    check(run["steps"] == before["steps"] and "--resume latest" in " ".join(run["arguments"]) and "--changed" not in run["arguments"], f"resume: {run}")
    check(training["steps"] == before["steps"] + 10 and training["attempts"] == 2, f"done: {training}")
    co.refused("EALREADY", ["total_steps"], "resume", name="one")

    refusal = co.refused("EINVAL", ["steps", "128"], "restart", name="one", config=config().replace("steps = 128", "steps = 256"))
    check([(error["section"], error["key"]) for error in refusal["errors"]] == [("ppo", "steps")], f"does not fit: {refusal}")
    co.refused("EINVAL", ["config:"], "restart", name="one", config="[ppo]\nx = 1\n")
    co.how("one", step_ms=5)
    co.ask("restart", name="one", config=config("priority = 9", total_steps=10**7) + "[ppo]\nlearning_rate = 0.01\n")
    training = co.wait("one", "rollout", attempts=3)
    run = co.runs("one", "started")[-1]
    check("--changed" in run["arguments"] and run["steps"] == before["steps"] + 10 and training["priority"] == 9, f"restart: {run}")
    pid = training["pid"]
    check(co.ask("restart", name="one")["stopping"], "one that runs is stopped first")
    training = co.wait("one", "rollout", attempts=4)
    check(training["pid"] != pid and co.runs("one", "ended")[-1]["pid"] == pid and training["restarts"] == 0, f"restarted: {training}")
    until(lambda: co.training("one")["seq"] > training["seq"] + 4, "it continues")
    numbers = [event["seq"] for event in co.events("one")]
    check(numbers == sorted(set(numbers)), "numbers continue")

    co.ask("stop", name="one")
    stopped = co.wait("one", "stopped")
    co.how("one", step_ms=5, every=1000000, hang=[3, 0]) # no checkpoint of its own until its end, which is early
    second = co.ask("start", name="one", config=config(), overwrite=True)
    check(second["steps"] == 0 and second["attempts"] == 1 and second["created_ns"] > stopped["created_ns"] and second["checkpoint"] is None, f"overwrite: {second}")
    until(lambda: co.training("one")["steps"] == 3, "it trains")
    check("--overwrite" in co.runs("one", "started")[-1]["arguments"], "overwrite")
    check(co.events("one")[0]["seq"] == 1, "events restart")
    os.kill(co.training("one")["pid"], 9)
    until(lambda: [event["steps"] for event in co.events("one") if event["event"] == "update"].count(3) == 2, "its second process trains")
    check("--overwrite" in co.runs("one", "started")[-1]["arguments"], "it has no checkpoint of its own yet")
    co.how("one", step_ms=5)
    co.ask("restart", name="one") # which leaves one
    co.wait("one", "rollout", attempts=3)
    run = co.runs("one", "started")[-1]
    names = [name for name in os.listdir(f"{co.state}/checkpoints") if name.endswith(".ckpt")]
    check("--resume" in run["arguments"] and run["steps"] <= 3 < stopped["steps"] and f"one-{stopped['steps']}.ckpt" not in names,
          f"its own, and the older ones are gone: {run} {names}")
    co.ask("stop", name="one")
    co.wait("one", "stopped")
    check(not co.runs("one", "doubled"), "never two")


def test_output(co, folder):
    """Checkpoints in a folder that the configuration names, and those of another's training."""
    os.symlink("../trainings", os.path.join(co.state, "checkpoints", "link"))
    for outside in (os.path.join(folder, "theirs"), "../theirs", "/", "checkpoints/../../theirs", "trainings", "events", "policies/new", ".",
                    co.state, "checkpoints/..", "checkpoints/../policies", "checkpoints/link", "checkpoints/link/one"):
        words = ["not a folder for trainings", f"{co.state}/checkpoints or one below it is right"]
        co.refused("EINVAL", ["[training] output"] + words, "start", name="outside", config=config(output=outside))
        co.refused("EINVAL", ["[training] tensorboard"] + words, "start", name="outside", config=config(tensorboard=outside))
    os.unlink(os.path.join(co.state, "checkpoints", "link"))
    check(not os.path.exists(os.path.join(folder, "theirs")), "nothing is written outside")
    os.mkdir(os.path.join(co.state, "checkpoints/mine"))
    co.how("below", step_ms=1, total=3)
    co.ask("start", name="below", config=config(output="checkpoints/mine"))
    check(co.wait("below", "done")["checkpoint"] == os.path.join(co.state, "checkpoints/mine/below-3.ckpt"), "below the checkpoints' folder")
    os.mkdir(os.path.join(folder, "mine"))
    open(os.path.join(folder, "mine", "two-500.ckpt"), "w").close()
    text = config(output=os.path.join(folder, "mine"))
    co.refused("EEXIST", ["checkpoints", "overwrite"], "start", name="two", config=text)
    co.how("two-5", step_ms=1, total=3)
    co.ask("start", name="two-5", config=text)
    check(co.wait("two-5", "done")["checkpoint"] == os.path.join(folder, "mine", "two-5-3.ckpt"), "output")
    co.ask("restart", name="two-5", config=config()) # continues where its checkpoints are
    co.wait("two-5", "done", attempts=2)
    check(f"output = {folder}/mine" in co.ask("config", name="two-5")["config"], "its output stays")
    for file in os.listdir(os.path.join(folder, "mine")):
        if file.endswith(".ckpt"):
            os.unlink(os.path.join(folder, "mine", file))
    co.how("two-5", step_ms=20)
    co.ask("restart", name="two-5")
    seen = until(lambda: (t := co.training("two-5"))["reason"] and t, "a reason")
    warning = [event["message"] for event in co.events("two-5") if event["event"] == "warning"]
    check("begins at 0" in seen["reason"] and warning == [seen["reason"]], f"started again: {seen} {warning}")
    co.ask("stop", name="two-5")
    co.wait("two-5", "stopped")


def test_hangs(co):
    """A worker that lives and gets nowhere: how long it is in its state, and how long that may be by what was seen of it."""
    co.how("hung", step_ms=1, hang=[3, 75])
    co.ask("start", name="hung", config=config())
    seen = until(lambda: (t := co.training("hung"))["state_seconds"] and t, "a heartbeat")
    check(seen["state"] == "update" and seen["state_seconds"] >= 75 and seen["state_limit_seconds"] == 60, f"hangs: {seen}")
    co.ask("stop", name="hung")
    seen = co.wait("hung", "stopped")
    check(seen["state_seconds"] is None and seen["state_limit_seconds"] is None, f"ended: {seen}")


def test_hung(co):
    """One that stays so is killed by rule, restarted, and after its restarts has failed: as after a crash."""
    co.how("stuck", step_ms=1, hang=[3, 75])
    co.ask("start", name="stuck", config=config("hung_s = 1", "restarts = 1"))
    failed = co.wait("stuck", "failed", cause="hung")
    check(failed["attempts"] == 2 and failed["restarts"] == 1 and failed["pid"] is None, f"hung: {failed}")
    check("hung in update and was killed" in failed["reason"] and "hung_s" in failed["reason"] and "1 restarts" in failed["reason"], f"hung: {failed}")
    queued = [event for event in co.events("stuck") if event["event"] == "state" and event.get("cause") == "hung"]
    check([event["state"] for event in queued] == ["queued", "failed"], f"hung, reported: {queued}")


def test_full_disk(co):
    """Checkpoints that cannot be written are reported while it trains, and when it ends: with what is lost."""
    co.how("full", step_ms=5, every=5, full=10)
    co.ask("start", name="full", config=config())
    seen = until(lambda: (t := co.training("full"))["cause"] and t, "a cause")
    check(seen["cause"] == "disk" and seen["state"] in RUNS and all(word in seen["reason"] for word in ("checkpoints cannot be written", "5 steps", "No space")),
          f"full: {seen}")
    co.ask("stop", name="full")
    seen = co.wait("full", "stopped", cause="disk")
    check(f"{seen['steps'] - 5} steps are lost" in seen["reason"] and "at 5 steps" in seen["reason"], f"full, stopped: {seen}")
    co.how("full-2", step_ms=1, every=5, full=10, total=23)
    co.ask("start", name="full-2", config=config())
    seen = co.wait("full-2", "failed", cause="disk", attempts=1)
    check("18 steps are lost" in seen["reason"] and "did not say why" not in seen["reason"], f"full, done: {seen}")


def test_deep(program, folder):
    """A state directory too deep for a socket's path will do where the socket is elsewhere; where it is not, the error says so."""
    deep = os.path.join(folder, "d" * 60, "e" * 60)
    command = [program, "serve", "--state", deep, "--devices", "none", "--idle-s", "1"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    check(run.returncode == 2 and "--socket" in run.stderr and "107" in run.stderr, f"deep: {run}")
    run = subprocess.run(command + ["--socket", os.path.join(folder, "t.sock")], capture_output=True, text=True, timeout=PATIENCE)
    check(run.returncode == 0 and run.stderr == "", f"elsewhere: {run}")


def test_clients(co):
    """Many at once, in pieces, and one that is not one of ours."""
    other = Client(co.socket)
    check(other.ask("list")["trainings"] == co.ask("list")["trainings"], "two clients")
    other.socket.sendall(b'{"id":9,"cmd":"li')
    check(co.ask("list") is not None, "half a line delays no other client")
    other.socket.sendall(b'st"}\nno json\n')
    check(json.loads(other.file.readline())["ok"] and json.loads(other.file.readline())["error"]["code"] == "EINVAL", "then the rest")
    other.close()
    check(oct(os.stat(co.socket).st_mode & 0o777) == "0o660", "the socket's mode")
    if os.geteuid() == 0:
        for path in (co.folder, co.state):
            os.chmod(path, 0o755)
        os.chmod(co.socket, 0o666)
        child = os.fork()
        if child == 0: # a stranger
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            stranger = socket.socket(socket.AF_UNIX)
            stranger.connect(co.socket)
            answer = stranger.makefile("rb").read() # a line says why, and then it is closed
            os._exit(7 if json.loads(answer)["error"]["code"] == "EACCES" else 0)
        check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7, "a stranger is not answered")
        os.chmod(co.socket, 0o660)


def test_second(co):
    lock = os.path.join(co.state, "trainings/serve.lock")
    os.unlink(lock)
    until(lambda: os.path.exists(lock) and open(lock).read() == f"{co.process.pid}\n", "the lock put back")
    os.unlink(co.socket)
    until(lambda: os.path.exists(co.socket), "the socket made again")
    check("trainings" in co.ask("list"), "an answer at the socket that was made again")
    with tempfile.TemporaryDirectory() as other:
        ran = subprocess.run([co.program, "serve", "--state", other, "--socket", co.socket], capture_output=True, text=True, timeout=60)
    check(ran.returncode == 1 and "is in use by another process" in ran.stderr and co.ask("list"), f"its socket: {ran}")
    ran = subprocess.run([co.program, "serve", "--state", co.state], capture_output=True, text=True, timeout=60)
    check(ran.returncode == 1 and f"pid {co.process.pid}" in ran.stderr and ran.stderr.count("\n") == 1, f"a second one: {ran}")
    for words in (["--devices", "0,,1"], ["--cpu-slots", "0"], ["--memory-mib", "x"], ["--nothing"], ["word"],
                  ["--worker", "/none"], ["--socket", "x" * 200], ["--state", lock]):
        ran = subprocess.run([co.program, "serve", "--state", co.state, *words], capture_output=True, text=True, timeout=60)
        check(ran.returncode == 2 and ran.stderr.count("\n") == 1, f"{words}: {ran}")
    ran = subprocess.run([co.program, "serve", "--state", "/proc/none"], capture_output=True, text=True, timeout=60)
    check(ran.returncode == 1 and ran.stderr.count("\n") == 1, f"/proc: {ran}")


def test_broken(co):
    """Records that are torn or another training's, and folders without one."""
    check(co.end() == 0, "ended in order")
    folder = os.path.join(co.state, "trainings")
    os.mkdir(os.path.join(folder, "torn"))
    with open(os.path.join(folder, "torn", "record.json"), "w") as file:
        file.write('{"schema":"papertape.record/1"')
    os.mkdir(os.path.join(folder, "empty"))
    open(os.path.join(folder, "file"), "w").close()
    os.mkdir(os.path.join(folder, "moved"))
    with open(os.path.join(folder, "one", "record.json")) as file:
        record = file.read()
    with open(os.path.join(folder, "moved", "record.json"), "w") as file:
        file.write(record)
    with open(os.path.join(folder, "one", "events.jsonl"), "a") as file:
        file.write('{"seq":1000000000,"ts')
    co.begin()
    names = sorted(co.list())
    check(names == ["below", "full", "full-2", "hung", "moved", "one", "stuck", "torn", "two-5"], f"what is there: {names}")
    check(co.training("one")["state"] == "stopped", "the good one")
    for name in ("moved", "torn"):
        check(co.training(name)["state"] == "failed" and "record.json" in co.training(name)["reason"], f"{name}: {co.training(name)}")
        co.refused("EINVAL", ["overwrite"], "resume", name=name)
    co.refused("EINVAL", ["overwrite"], "restart", name="torn")
    co.how("torn", step_ms=1, total=3)
    co.ask("start", name="torn", config=config(), overwrite=True)
    co.wait("torn", "done")
    check(co.events("one")[-1]["seq"] < 10**9, "a torn line does not count")


def test_crowd(co):
    """As many connections as there may be, idle ones: it still answers; a reserve answers read-only commands, and stop."""
    crowd = [socket.socket(socket.AF_UNIX) for _ in range(55)]  # and the test's own
    for one in crowd:
        one.connect(co.socket)
        one.sendall(b'{"id":1,"cmd":"list"}\n')  # else it would go before one that asks
        check(b'"ok":true' in one.makefile("rb").readline(), "an ordinary one lists")
    client = Client(co.socket)
    check(client.ask("list")["trainings"] is not None, "a reserve lists")
    try:
        client.ask("start", name="crowded", config=config())
        check(False, "a reserve starts nothing")
    except Refused as refused:
        check(refused.code == "EBUSY" and "this reserve answers hello, list, events, stop alone" in str(refused), f"a reserve: {refused}")
    silent = socket.socket(socket.AF_UNIX)
    silent.connect(co.socket)
    check(b"first request must come within 100 ms" in silent.makefile("rb").readline(), "a silent reserve is closed")
    more = [socket.socket(socket.AF_UNIX) for _ in range(200)]
    for one in more:
        one.connect(co.socket)
    check(Client(co.socket).ask("list")["trainings"] is not None, "it answers among 256 that are silent")
    check(client.ask("list")["trainings"] is not None, "and those that asked before")
    for one in (*crowd, *more, silent):
        one.close()


program = sys.argv[1]
with CoProcess(program, "--memory-mib", "1000", "--worker-memory-mib", "1000", "--retry-ms", "20", "--idle-s", "0") as co:
    co.options += ("--outputs", f"/nonexistent,{co.folder}/mine")
    co.begin()
    test_hello(co)
    test_crowd(co)
    test_refused(co)
    test_again(co, test_start(co))
    test_output(co, co.folder)
    test_hangs(co)
    test_hung(co)
    test_full_disk(co)
    test_deep(co.program, co.folder)
    test_clients(co)
    test_second(co)
    test_broken(co)
    check(co.end() == 0, "its end")
    check(not os.path.exists(co.socket), "its socket is gone")
done("trainer/serve/commands")
