"""How `papertape-trainer train` begins and fails: beside an older training's files, beside another one that runs, and what its
lines say of a failure; its states and signs of life.

    begin.py PAPERTAPE_TRAINER
"""
import json
import os
import resource
import signal
import stat
import sys
import tempfile

from program import Trainer, check, config, done, events, lines, read

SHORT = {"training": {"total_steps": 2560, "world": "cartpole"}}


def files(folder):
    return sorted(os.listdir(os.path.join(folder, "out")))


def test_fresh(trainer, folder):
    """Refused beside an older training's checkpoints; --overwrite puts the first new one in their place."""
    config(os.path.join(folder, "F.ini"), SHORT, {"training": {"total_steps": 5120, "checkpoint_every": 5}})
    check(trainer.run("train", "--config", "F.ini").returncode == 0, "fresh: the first")
    old = files(folder)
    check(old == ["small-1280.ckpt", "small-2560.ckpt", "small-3840.ckpt", "small-5120.ckpt", "small.safetensors"][1:], f"fresh: {old}")
    kept = {name: read(folder, "out", name) for name in old}
    config(os.path.join(folder, "F.ini"), SHORT, {"training": {"seed": 9}})
    ran = trainer.run("train", "--config", "F.ini")
    check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and
          all(word in ran.stderr for word in ("small-5120.ckpt", "--resume latest", "--overwrite", "name")), f"fresh: {ran.stderr}")
    check({name: read(folder, "out", name) for name in files(folder)} == kept, "fresh: all is as it was")
    config(os.path.join(folder, "other.ini"), SHORT, {"training": {"name": "small-2"}})
    check(trainer.run("train", "--config", "other.ini").returncode == 0, "fresh: another name")

    # Stopped before anything was learnt: what was there is worth more. It has no end of its own.
    config(os.path.join(folder, "endless.ini"), SHORT, {"training": {"seed": 9, "total_steps": 1 << 30}})
    seen, error, status = trainer.end_by(signal.SIGTERM, lambda seen: True, "train", "--config", "endless.ini", "--overwrite")
    if check(status == 0 and seen[-1]["result"] == "stopped", f"stopped: {error}") and seen[-1]["steps"] == 0:
        check({name: read(folder, "out", name) for name in files(folder) if not name.startswith("small-2.")
               and not name.startswith("small-2-")} == kept, "stopped: all is as it was")
        check(not events(seen, "checkpoint") and not events(seen, "policy"), "stopped: nothing written")
    ran = trainer.run("train", "--config", "F.ini", "--overwrite")
    check(ran.returncode == 0 and ran.stderr == "", f"overwrite: {ran.stderr}")
    check(files(folder) == ["small-2-2560.ckpt", "small-2.safetensors", "small-2560.ckpt", "small.safetensors"], f"overwrite: {files(folder)}")
    check(read(folder, "out", "small.safetensors") != kept["small.safetensors"], "overwrite: the new policy")
    ran = trainer.run("train", "--config", "F.ini", "--resume", "latest")
    check(ran.returncode == 0 and events(lines(ran.stdout), "start")[0]["steps"] == 2560, f"overwrite: latest {ran.stderr}")
    ran = trainer.run("train", "--config", "F.ini", "--resume", "latest", "--overwrite")
    check(ran.returncode == 2 and "--resume" in ran.stderr, f"both: {ran.stderr}")


def test_two(trainer, folder):
    """A second one of that name is refused while the first runs; one that was killed is no hindrance."""
    config(os.path.join(folder, "two.ini"), SHORT, {"training": {"name": "two", "total_steps": 1 << 30, "checkpoint_every": 2}})
    process = trainer.start("train", "--config", "two.ini")
    for line in process.stdout:
        if '"checkpoint"' in line:
            break
    for more in ((), ("--resume", "latest"), ("--overwrite",)):
        ran = trainer.run("train", "--config", "two.ini", *more)
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and
              all(word in ran.stderr for word in ("in use", "two in out", "name")), f"two {more}: {ran.stderr}")
    process.kill()
    process.stdout.close()
    process.stderr.close()
    process.wait()
    check("two.lock" in files(folder), "killed: its lock lies there")
    for name in ("two-99.ckpt.tmp.0123abcd", "two.safetensors.new.0123abcd", "two.safetensors.new.mine"):
        with open(os.path.join(folder, "out", name), "w"):
            pass
    _, error, status = trainer.end_by(signal.SIGTERM, lambda seen: events(seen, "checkpoint"), "train", "--config", "two.ini",
                                      "--resume", "latest")
    check(status == 0 and error == "", f"killed: {error}")
    left = [name for name in files(folder) if name.startswith("two") and not name.endswith((".ckpt", ".safetensors"))]
    check(left == ["two.safetensors.new.mine"], f"killed: {left}")


def test_modes(trainer, folder):
    """Checkpoints and policies have the same mode: 0644, less the umask."""
    for mask, right in ((0o022, 0o644), (0o027, 0o640)):
        name = f"mode-{mask:o}"
        config(os.path.join(folder, "mode.ini"), SHORT, {"training": {"name": name}})
        ran = trainer.run("train", "--config", "mode.ini", umask=mask)
        for file in (f"{name}-2560.ckpt", f"{name}.safetensors"):
            mode = stat.S_IMODE(os.stat(os.path.join(folder, "out", file)).st_mode)
            check(ran.returncode == 0 and mode == right, f"{file}: {mode:o}, not {right:o}")


def test_failures(trainer, folder):
    """Whatever fails has an error and an end in the lines."""
    with open(os.path.join(folder, "AAAUSDT_1h.csv"), "w") as file:
        file.write("timestamp,open,high,low,close,volume\n" + "".join(f"{1704067200 + 3600 * i},1,1,1,1,1\n" for i in range(50)))
    data = {"training": {"world": None}, "data": {"bars": "AAAUSDT_1h.csv"}}
    trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.join(folder, "none.so")
    for word, cause, *changes in (("market15", "config", data, {"data": {"features": "market15"}}),
                                  ("none.so", "device", data, {"training": {"device": "cuda"}, "data": {"features": "", "test_share": 0, "validation_share": 0}}),
                                  ("none.csv", "config", {"training": {"world": None}, "data": {"bars": "none.csv"}}),
                                  ("/dev/null/x", "disk", {"training": {"output": "/dev/null/x"}}),
                                  ("gama", "config", {"ppo": {"gama": 1}}),
                                  ("small-2560.ckpt", "checkpoint", {"training": {"name": "small"}}),
                                  ("lookback", "config", data, {"environment": {"lookback": 60}})):
        config(os.path.join(folder, "fail.ini"), SHORT, {"training": {"name": "fail"}}, *changes)
        ran = trainer.run("train", "--config", "fail.ini")
        seen = lines(ran.stdout)
        check(ran.returncode == 1 and ran.stderr.count("\n") == 1 and word in ran.stderr, f"{word}: {ran.returncode} {ran.stderr}")
        if not check([line["event"] for line in seen[-2:]] == ["error", "end"], f"{word}: {seen}"):
            continue
        check(f"papertape-trainer: {seen[-2]['message']}\n" == ran.stderr, f"{word}: {seen[-2]}")
        check(seen[-1]["result"] == "failed" and seen[-1]["steps"] == 0 and seen[-1]["measured"] is None, f"{word}: {seen[-1]}")
        check(seen[-2]["cause"] == seen[-1]["cause"] == cause, f"{word}: {seen[-2]}")

    if b"__asan_init" in read(trainer.program): # which has a memory of its own
        return
    config(os.path.join(folder, "fail.ini"), SHORT, {"training": {"name": "fail"}, "ppo": {"copies": 4096, "steps": 4096}})
    limit = 256 << 20
    ran = trainer.run("train", "--config", "fail.ini", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    seen = lines(ran.stdout)
    check(ran.returncode == 1 and seen[-1]["event"] == "end" and seen[-1]["cause"] == "memory", f"memory: {ran.stderr} {seen[-1:]}")


def test_stopped_loading(trainer, folder):
    """SIGTERM while it reads its bars: it ends with that, is stopped, and leaves nothing, nor anything of what was there changed."""
    with open(os.path.join(folder, "LONGUSDT_1m.csv"), "w") as file:
        file.write("timestamp,open,high,low,close,volume\n")
        file.writelines(f"{1704067200 + 60 * i},1,1,1,1,1\n" for i in range(400_000))
    config(os.path.join(folder, "long.ini"), SHORT, {"training": {"world": None, "name": "long"}, "data": {"bars": "LONGUSDT_1m.csv"}})
    before = files(folder)
    for _ in range(20): # until the signal finds it there
        for name in files(folder):
            if name.startswith("long"):
                os.unlink(os.path.join(folder, "out", name))
        seen, error, status = trainer.end_by(signal.SIGTERM, lambda seen: True, "train", "--config", "long.ini", "--heartbeat", "1000")
        if len(events(seen, "state")) == 1:
            break
    end = seen[-1]
    check(status == 0 and error == "" and (end["event"], end["result"], end["steps"], end["cause"]) == ("end", "stopped", 0, None), f"loading: {error} {end}")
    check([line["state"] for line in events(seen, "state")] == ["loading"], f"loading: {events(seen, 'state')}")
    check(not events(seen, "error") and files(folder) == before, f"loading: {files(folder)}")


def test_states(trainer, folder):
    """It reports its state; often, or as seldom as it is configured to."""
    changes = {"training": {"name": "states", "checkpoint_every": 4, "evaluate_every": 5}}
    config(os.path.join(folder, "states.ini"), SHORT, changes)
    ran = trainer.run("train", "--config", "states.ini")
    seen = lines(ran.stdout)
    each, right = ["rollout", "update"], ["loading", "features"]
    for iteration in range(1, 11):
        right += each + ["evaluating"] * (iteration == 5) + ["checkpointing"] * (iteration in (4, 8, 10))
    right += ["evaluating"]
    check([line["state"] for line in events(seen, "state")] == right, f"states: {[line['state'] for line in events(seen, 'state')]}")
    steps = [line["steps"] for line in events(seen, "state")]
    check(steps == sorted(steps) and steps[-1] == 2560, f"states: {steps}")

    ran = trainer.run("train", "--config", "states.ini", "--overwrite", "--report-every", "3600000")
    seldom = lines(ran.stdout)
    check([line["steps"] for line in events(seldom, "update")] == [256, 2560], f"seldom: {[line['steps'] for line in events(seldom, 'update')]}")
    check(events(seldom, "update")[1] == {**events(seen, "update")[-1], **{key: value for key, value in events(seldom, "update")[1].items()
          if "second" in key or "bytes" in key or "utilisation" in key}}, "seldom: the last update's figures")
    states = [line["state"] for line in events(seldom, "state")]
    check(states == ["loading", "features", "rollout", "checkpointing", "rollout", "evaluating", "rollout", "checkpointing", "rollout",
                     "checkpointing", "evaluating"], f"seldom: {states}")
    check([line["event"] for line in seldom if line["event"] in ("update", "end")][-2:] == ["update", "end"], "seldom: the last one, then the end")
    for name in ("checkpoint", "policy", "evaluation", "phase"):
        check(len(events(seldom, name)) == len(events(seen, name)), f"seldom: {name}")

    config(os.path.join(folder, "states.ini"), SHORT, changes, {"training": {"name": "heartbeats", "total_steps": 1 << 30, "checkpoint_every": 0,
                                                                            "evaluate_every": 0}})
    seen, error, status = trainer.end_by(signal.SIGTERM, lambda seen: len(events(seen, "heartbeat")) >= 3, "train", "--config", "states.ini",
                                         "--report-every", "3600000", "--heartbeat", "10")
    beats = events(seen, "heartbeat")
    end = seen[-1]
    check(status == 0 and error == "" and (end["event"], end.get("result")) == ("end", "stopped"), f"heartbeats: {status} {error} {end}")
    for line in beats:
        check(line["state"] in ("loading", "features", "rollout", "update", "checkpointing") and line["rss_bytes"] > 1 << 20
              and line["state_seconds"] >= 0, f"heartbeats: {line}")
    times = [line["seconds_since_start"] for line in seen]
    check(times == sorted(times), "heartbeats: lines in the order of their times")
    steps = [line["steps"] for line in beats]
    check(steps == sorted(steps), f"heartbeats: {steps}")

    for words, *arguments in (("--report-every", "--report-every", "-1"), ("--heartbeat", "--heartbeat", "1s"), ("--resume", "--changed")):
        ran = trainer.run("train", "--config", "states.ini", *arguments)
        check(ran.returncode == 2 and ran.stderr.count("\n") == 1 and words in ran.stderr, f"{arguments}: {ran.stderr}")


def test_check(trainer, folder):
    """--check says all that is wrong, by line."""
    with open(os.path.join(folder, "check.ini"), "w") as file:
        file.write("[ppo]\ngama = 1\ngamma = 2\n[training]\nworld = cartpole\n[data]\nbars = x\n")
    ran = trainer.run("train", "--check", "--config", "check.ini")
    right = ["papertape-trainer: check.ini:2: [ppo] gama: unknown key", "papertape-trainer: check.ini:3: [ppo] gamma: \"2\": ",
             "papertape-trainer: check.ini:7: [data] bars: the world cartpole is no market"]
    reported = ran.stderr.splitlines()
    check(ran.returncode == 1 and len(reported) == 3 and all(a.startswith(b) for a, b in zip(reported, right, strict=True)), f"check: {ran.stderr}")
    for verb in (["train"], ["train", "--print-config"], ["plan"]):
        ran = trainer.run(*verb, "--config", "check.ini")
        check(ran.returncode == 1 and ran.stderr.splitlines() == reported, f"{verb}: {ran.stderr}")
    ran = trainer.run("train", "--check", "--config", "check.ini", "--json")
    reported = json.loads(ran.stdout)
    check(ran.returncode == 1 and reported["schema"] == "papertape.training-check/1" and ran.stderr == "", f"check: {ran.stderr}")
    check([(error["line"], error["section"], error["key"]) for error in reported["errors"]] ==
          [(2, "ppo", "gama"), (3, "ppo", "gamma"), (7, "data", "bars")] and all(error["message"] for error in reported["errors"]), f"check: {reported}")
    config(os.path.join(folder, "check.ini"), SHORT)
    ran = trainer.run("train", "--check", "--config", "check.ini", "--json")
    check(ran.returncode == 0 and json.loads(ran.stdout)["errors"] == json.loads(ran.stdout)["warnings"] == [], f"check: {ran.stderr}")
    # Fewer steps than one rollout has are a warning of all that read them: that one is trained.
    config(os.path.join(folder, "check.ini"), SHORT, {"training": {"name": "few", "total_steps": 10}, "ppo": {"copies": 4, "steps": 64, "minibatch": 64}})
    words = "[training] total_steps = 10 is less than a rollout of 256 steps (copies times steps): one is trained"
    ran = trainer.run("train", "--check", "--config", "check.ini")
    check(ran.returncode == 0 and ran.stderr == f"papertape-trainer: check.ini: {words}\n" and ran.stdout == "", f"few: {ran.stderr}")
    ran = trainer.run("train", "--check", "--config", "check.ini", "--json")
    check(ran.returncode == 0 and ran.stderr == "" and json.loads(ran.stdout)["warnings"] == [words], f"few: {ran.stdout}")
    ran = trainer.run("plan", "--config", "check.ini")
    check(ran.returncode == 0 and ran.stderr == "" and f"\n  {words}\n  10 steps in 1 iteration of 256\n" in ran.stdout, f"few: {ran.stdout}")
    check(json.loads(trainer.run("plan", "--config", "check.ini", "--json").stdout)["warning"] == words, "few: plan --json")
    ran = trainer.run("train", "--config", "check.ini")
    seen = lines(ran.stdout)
    check(ran.returncode == 0 and [line["message"] for line in seen if line["event"] == "warning"] == [words] and seen[-1]["steps"] == 256,
          f"few: {ran.stderr} {seen[-1]}")
    config(os.path.join(folder, "check.ini"), {"training": {"world": "market", "total_steps": 10}, "data": {"bars": "AAAUSDT_1h.csv"},
                                               "search": {"total_steps": "100 | 1000"}})
    ran = trainer.run("train", "--check", "--config", "check.ini")
    check(ran.returncode == 0 and ran.stderr == "", f"few: of a study: {ran.stderr}")
    ran = trainer.run("train", "--check", "--config", "none.ini")
    check(ran.returncode == 1 and "none.ini" in ran.stderr and ran.stderr.count("\n") == 1, f"check: {ran.stderr}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        for test in (test_fresh, test_two, test_modes, test_failures, test_stopped_loading, test_states, test_check):
            test(trainer, folder)
    done("trainer/program/begin")


main(sys.argv[1])
