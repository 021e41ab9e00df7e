"""`papertape-trainer train` and `plan` as scripts meet them: JSON lines, event files, a terminal, the errors for bad
input, of a disk that is full, of losses that are no numbers.

    input.py PAPERTAPE_TRAINER EXAMPLE.ini PAPERTAPE
"""
import fcntl
import glob
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios

import events as board
from program import Trainer, check, config, done, events, figures, lines, read, write_market

SHORT = {"training": {"total_steps": 2560, "world": "cartpole"}}
MARKET = {"training": {"total_steps": 2560}, "environment": {"lookback": 2}}

NUMBER, TEXT, WHOLE, SWITCH, OBJECT = (int, float), str, int, bool, dict
PHASE = {"phase": TEXT, "seconds": NUMBER, "peak_rss_bytes": WHOLE, "learner_bytes": (int, type(None)),
         "cpu_utilisation": (int, float, type(None)), "device_utilisation": type(None)}
PLAN = {"backend": TEXT, "precision": TEXT, "note": TEXT, "copies": WHOLE, "total_steps": WHOLE, "iterations": WHOLE, "rollout_rows": WHOLE, "fits": type(None),
        **{key: type(None) for key in ("host_note", "device_bytes", "device_parts", "device_memory_bytes", "device_time",
                                         "device_steps_per_second")},
        "host_bytes": WHOLE, "steps_per_second": NUMBER, "seconds": NUMBER, "cpu_seconds": NUMBER, "rollout_seconds": NUMBER,
        "environment_seconds": NUMBER, "advantages_seconds": NUMBER, "update_seconds": NUMBER, "rollout_flop": NUMBER,
        "update_flop": NUMBER, "update_flop_per_second": NUMBER, "measuring_seconds": NUMBER}
MAYBE = (int, float, type(None))
VERDICT = {"verdict": (str, type(None)), "verdict_text": (str, type(None)), "verdict_figures": (dict, type(None))}
EVENTS = {
    "start": {"version": TEXT, "name": TEXT, "world": TEXT, "backend": TEXT, "resumed_from": (str, type(None)), "steps": WHOLE,
              "observation": WHOLE, "actions": WHOLE, "levels": WHOLE, "parameters": WHOLE, "output": TEXT,
              "predicted": OBJECT, "config": OBJECT, "ranges": (dict, type(None))},
    "phase": PHASE,
    "update": {"iteration": WHOLE, "steps": WHOLE, "minibatches": WHOLE, "skipped": WHOLE, "skipped_total": WHOLE,
               "epochs": WHOLE, "kl_stop": SWITCH, "episodes": WHOLE, "peak_rss_bytes": WHOLE, "learner_bytes": WHOLE,
               **{key: NUMBER for key in ("policy_loss", "value_loss", "entropy_loss", "loss", "old_kl", "kl", "clip_fraction",
                                          "grad_norm", "learning_rate", "clip_range", "ent_coef", "rollout_seconds",
                                          "advantages_seconds", "update_seconds", "reward", "steps_per_second",
                                          "cpu_utilisation")},
               **{key: MAYBE for key in ("explained_variance", "std", "episode_return", "episode_return_std",
                                         "episode_steps")}, "device_utilisation": type(None)},
    "checkpoint": {"steps": WHOLE, "path": TEXT, "seconds": NUMBER},
    "policy": {"steps": WHOLE, "path": TEXT},
    "end": {"result": TEXT, "steps": WHOLE, "iterations": WHOLE, "predicted": OBJECT, "measured": OBJECT, "phases": OBJECT,
            "evaluation": (dict, type(None)), "checkpoint": (str, type(None)), "output": TEXT, "cause": (str, type(None)),
            "early": SWITCH, "kept_steps": WHOLE, **VERDICT},
    "state": {"state": TEXT, "steps": WHOLE},
    "heartbeat": {"state": TEXT, "steps": WHOLE, "state_seconds": NUMBER, "rss_bytes": WHOLE},
    "warning": {"message": TEXT}, "error": {"message": TEXT, "cause": (str, type(None))},
}
WORLD = {"episodes": WHOLE, "evaluated_steps": WHOLE, "reward": NUMBER, "reward_std": NUMBER, "reward_min": NUMBER,
         "reward_max": NUMBER, "episode_steps": NUMBER, **VERDICT}
TESTED = {"range": TEXT, "episodes": WHOLE, "evaluated_steps": WHOLE, "from": TEXT, "to": TEXT, "reward": NUMBER, "buys": WHOLE, "sells": WHOLE,
          **{key: NUMBER for key in ("initial_equity", "equity", "return", "benchmark_equity", "benchmark_return", "fees",
                                     "drawdown", "exposure", "invested")}, **VERDICT}
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs")


def shape(what, got, right):
    check(set(got) == set(right), f"{what}: keys {set(got) ^ set(right)}")
    for key in set(got) & set(right):
        good = isinstance(got[key], right[key]) and (right[key] is SWITCH or not isinstance(got[key], bool))
        check(good, f"{what}: {key} is {got[key]!r}")


def test_lines(trainer, folder, example):
    evaluated = {"training": {"evaluate_every": 4, "tensorboard": "board", "checkpoint_every": 3}}
    bars = write_market(folder)
    for name, changes, tested in (("w", SHORT, WORLD), ("m", {**MARKET, "data": {"bars": ",".join(bars), "test_from": "2024-02-01"}}, TESTED)):
        config(os.path.join(folder, f"{name}.ini"), changes, evaluated, {"training": {"name": name}})
        ran = trainer.run("train", "--config", f"{name}.ini")
        if not check(ran.returncode == 0 and ran.stderr == "", f"{name}: {ran.returncode} {ran.stderr}"):
            continue
        seen = lines(ran.stdout)
        for index, line in enumerate(seen):
            rest = {key: value for key, value in line.items() if key not in ("schema", "event", "seconds_since_start")}
            check(list(line)[:3] == ["schema", "event", "seconds_since_start"] and line["schema"] == "papertape.training/1", str(line))
            check(index == 0 or line["seconds_since_start"] >= seen[index - 1]["seconds_since_start"], "time does not go back")
            right = {**tested, "steps": WHOLE} if line["event"] == "evaluation" else EVENTS.get(line["event"], {})
            shape(f"{name} {line['event']}", rest, right)
        start, end = events(seen, "start")[0], seen[-1]
        shape("predicted", start["predicted"], PLAN)
        check(end["event"] == "end" and end["result"] == "done" and end["predicted"] == start["predicted"], f"{name}: {end}")
        check(set(end["phases"]) == {"loading", "features", "rollout", "advantages", "update", "evaluation"}, f"{name}: phases")
        for phase in end["phases"].values():
            shape("a phase", phase, PHASE)
        shape("evaluation", end["evaluation"], {key: kind for key, kind in tested.items() if key != "range"})
        check(all(end[key] == end["evaluation"][key] and (end[key] is None) == (name == "w") for key in VERDICT), f"{name}: its verdict: {end}")
        measured = end["measured"]
        check(measured["steps_per_second"] > 0 and measured["steps_per_second_of_predicted"] > 0, f"{name}: {measured}")
        check(abs(measured["steps_per_second"] / end["predicted"]["steps_per_second"]
                  - measured["steps_per_second_of_predicted"]) < 1e-6, f"{name}: {measured}")
        check([line["event"] for line in seen[:5]] == ["state", "phase", "state", "phase", "start"], f"{name}: how it begins")
        check([line["phase"] for line in events(seen, "phase")[:2]] == ["loading", "features"], f"{name}: the first phases")
        check(end["cause"] is None, f"{name}: {end['cause']}")
        updates = events(seen, "update")
        check([line["steps"] for line in updates] == list(range(256, 2561, 256)), f"{name}: updates")
        check([line["iteration"] for line in updates] == list(range(1, 11)), f"{name}: iterations")
        check([line["steps"] for line in events(seen, "checkpoint")] == [768, 1536, 2304, 2560], f"{name}: checkpoints")
        check([line["steps"] for line in events(seen, "evaluation")] == [1024, 2048, 2560], f"{name}: evaluations")
        test_config(trainer, folder, name, start)
        test_board(folder, name, updates, events(seen, "evaluation"))
        test_policy(folder, name)
    config_keys = json.loads(trainer.run("train", "--list-keys", "--json").stdout)
    check(config_keys["schema"] == "papertape.training-keys/1" and len(config_keys["keys"]) > 100, "--list-keys --json")
    with open(example) as file:
        written = file.read()
    table = trainer.run("train", "--list-keys").stdout
    for key in config_keys["keys"]:
        check(f"\n{key['key']} =" in written and f"| `{key['key']}` |" in table, f"{key['key']} in the example and the table")
    with open(os.path.join(DOCS, "studies.md")) as file:
        documented = file.read()
    for key in config_keys["study"] + config_keys["search"]:
        row = next((row for row in table.splitlines() if row.startswith(f"| `{key['key']}` |") and row in documented), None)
        check(f"\n#{key['key']} =" in written and row, f"{key['key']} of a study in the example and docs/studies.md")


def test_documented():
    """docs/training.md names every event and every key of an update and an evaluation."""
    with open(os.path.join(DOCS, "training.md")) as file:
        text = file.read()
    for key in [*EVENTS, "evaluation", *EVENTS["start"], *EVENTS["update"], *EVENTS["end"], *EVENTS["heartbeat"], *WORLD, *TESTED]:
        if key not in ("observation", "actions", "levels"):
            check(f"`{key}`" in text, f"docs/training.md: {key}")


def test_config(trainer, folder, name, start):
    """What the run embeds is the configuration that it ran with."""
    printed = trainer.run("train", "--config", f"{name}.ini", "--print-config").stdout
    sections, section = {}, None
    for line in printed.splitlines():
        if line.startswith("["):
            section = sections.setdefault(line[1:-1], {})
        elif line:
            key, _, value = line.partition(" =")
            section[key] = value.strip()
    check(sections == start["config"], f"{name}: its configuration")
    check(sections["ppo"]["copies"] == "4" and sections["network"]["policy_layers"] == "16,16", f"{name}: {sections['ppo']}")
    with open(os.path.join(folder, f"{name}-printed.ini"), "w") as file:
        file.write(printed)
    check(trainer.run("train", "--config", f"{name}-printed.ini", "--print-config").stdout == printed, f"{name}: read back")


def test_board(folder, name, updates, evaluations):
    (path,) = glob.glob(os.path.join(folder, "board", name, "events.out.tfevents.*"))
    scalars, starts = board.read(path)
    check(starts == [] and [step for step, _ in scalars if step] == [step for step, _ in scalars], f"{name}: steps of events")
    found = [(step, values) for step, values in scalars if "loss/policy" in values]
    check([step for step, _ in found] == [line["steps"] for line in updates], f"{name}: events of updates")
    for (_, values), line in zip(found, updates, strict=True):
        for tag, key in (("loss/policy", "policy_loss"), ("update/grad_norm", "grad_norm"), ("rollout/reward", "reward")):
            right = struct.unpack("f", struct.pack("f", line[key]))[0]
            check(abs(values[tag] - right) <= 1e-6 * abs(right), f"{name}: {tag} is {values[tag]}, not {right}")
        check(("rollout/episode_return" in values) == (line["episode_return"] is not None), f"{name}: no NaN")
    check([step for step, values in scalars if "evaluation/reward" in values] == [line["steps"] for line in evaluations],
          f"{name}: events of evaluations")


def test_policy(folder, name):
    data = read(folder, "out", f"{name}.safetensors")
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    meta = header["__metadata__"]
    check({"pi.0.weight", "vf.0.weight", "observation.mean", "observation.scale"} <= set(header), f"{name}: {set(header)}")
    check(meta["format"] == "papertape.policy/1" and meta["trained_steps"] == "2560" and meta["seed"] == "5", f"{name}: {meta}")
    check(meta.get("world") == "cartpole" if name == "w" else meta["symbols"] == "AAAUSDT,BBBUSDT" and meta["interval"] == "1h"
          and "lookback=2\n" in meta["environment"], f"{name}: {meta}")
    check(not [left for left in os.listdir(os.path.join(folder, "out")) if left.endswith(".tmp")], f"{name}: left over")


# ---- Bad input.


def refused(trainer, words, *arguments, status=1, **options):
    ran = trainer.run(*arguments, **options)
    line = ran.stderr
    check(ran.returncode == status, f"{words}: exit {ran.returncode}: {line}")
    check(line.startswith("papertape-trainer: ") and line.count("\n") == 1 and line.endswith("\n"), f"one line: {line!r}")
    check(all(word in line for word in words), f"{words}: {line!r}")
    check(line.count(": ") >= 2, f"what: where: what would be right: {line!r}")
    return ran


def test_refused(trainer, folder):
    def bad(words, *changes, verb="train", more=()):
        config(os.path.join(folder, "bad.ini"), SHORT, *changes)
        return refused(trainer, words, verb, "--config", "bad.ini", *more)

    bars = write_market(folder)
    data = {"training": {"world": None}, "data": {"bars": bars[0]}}
    for verb in ("train", "plan"):
        refused(trainer, ["--config"], verb, status=2)
        refused(trainer, ["--verbose", verb], verb, "--verbose", status=2)
        refused(trainer, ["--config", "value"], verb, "--config", status=2)
        refused(trainer, ["left", "no argument is expected"], verb, "left", status=2)
        refused(trainer, ["none.ini", "INI"], verb, "--config", "none.ini")
        bad(["bad.ini:", "[ppo] gama", "did you mean gamma?"], {"ppo": {"gama": 1}}, verb=verb)
        bad(["bad.ini:", "[ppo] lr", "learning_rate is its name"], {"ppo": {"lr": 0.1}}, verb=verb)
        bad(["bad.ini:", "[training] batch_size", "minibatch is its name"], {"training": {"batch_size": 64}}, verb=verb)
        bad(["bad.ini:", "[environment] n_envs", "copies of [ppo] is its name"], data, {"environment": {"n_envs": 4}}, verb=verb)
        bad(["bad.ini:", "[ppo] net_dim", "net_dimension of [search] is its name"], {"ppo": {"net_dim": 64}}, verb=verb)
        bad(["bad.ini:", "[training] device", "\"gpu\": did you mean cuda?"], {"training": {"device": "gpu"}}, verb=verb)
        bad(["bad.ini:", "gamma", "1.5", "0 to 1"], {"ppo": {"gamma": 1.5}}, verb=verb)
        bad(["bad.ini:", "[netwrk]", "did you mean network?"], {"netwrk": {"recurrent": 16}}, verb=verb)
        bad(["cartpol", "cartpole"], {"training": {"world": "cartpol"}}, verb=verb)
        bad(["[training] world", "markt", "mean market"], data, {"training": {"world": "markt"}}, verb=verb)
        bad(["[training] world", "pendulm", "mean pendulum"], data, {"training": {"world": "pendulm"}}, verb=verb)
        large = {"network": {"policy_layers": "8192,8192"}, "ppo": {"copies": 262144, "steps": 4096, "minibatch": 1 << 24}}
        bad(["[ppo] copies", "262144", "MiB", "fewer"], large, verb=verb)
        bad(["[ppo] copies", "262144", "MiB", "fewer"], data, large, verb=verb)
        bad(["AAAUSDT_5m.csv"], data, {"data": {"bars": "AAAUSDT_5m.csv"}}, verb=verb)
        bad(["sequence", "steps"], {"network": {"recurrent": 16, "sequence": 48}}, verb=verb)
        bad(["minibatch", "256"], {"ppo": {"minibatch": 4096}}, verb=verb)
    refused(trainer, ["tran", "train"], "tran", status=2)
    refused(trainer, ["--output"], "train", "--config", "bad.ini", "--output", "", status=2)
    config(os.path.join(folder, "bad.ini"), SHORT)
    for output in ("a ;b", "a\nb", ";", "x" * 2000):
        ran = trainer.run("train", "--config", "bad.ini", "--output", output)
        check(ran.returncode == 2 and "--output" in ran.stderr, f"--output {output}: {ran.stderr}")

    # Data.
    bad(["interval", "1h"], data, {"data": {"interval": "5m"}})
    bad(["[data] train_from", "2024-01-01", "no bars"], data, {"data": {"train_from": "2033-01-01"}})
    bad(["[data] test_from", "no bars"], data, {"data": {"test_from": "2033-01-01"}})
    bad(["symbols", "as many as bars"], data, {"data": {"symbols": "A,B"}})
    bad(["[data] bars"], data, {"data": {"bars": f"{bars[0]},,{bars[1]}"}})
    bad(["least_quantities", "one a symbol"], data, {"data": {"least_quantities": "1,2"}})
    bad(["least_quantities", "some"], data, {"data": {"least_quantities": "some"}})
    bad(["no-such-set", "market14"], data, {"data": {"features": "no-such-set"}})
    bad(["train", "lookback"], data, {"data": {"train_to": "2024-01-01T03:00:00Z", "features": ""}})
    bad(["test_share", "lookback 20", "more bars"], data, {"data": {"to": "2024-01-03"}, "environment": {"lookback": 20}})
    bad(["0 to train on", "more bars"], data, {"data": {"to": "2024-01-01T05:00"}})
    bad(["99 are before the features' first values", "more bars"], data, {"data": {"to": "2024-01-09"}})
    bad(["patience", "validation"], data, {"data": {"test_from": "2024-02-01"}, "training": {"patience": 3}})
    bad(["day-trade"], data, {"data": {"bars": ",".join(bars)}, "environment": {"task": "day-trade", "execution": "reference"}})
    bad(["papertape.db"], data, {"data": {"bars": None, "state": folder, "symbols": "A", "interval": "1h"}})
    broken = os.path.join(folder, "BADUSDT_1h.csv")
    with open(bars[0]) as file, open(broken, "w") as out:
        rows = file.read().split("\n")
        rows[40] = rows[40].replace(",", ",x", 1)
        out.write("\n".join(rows))
    bad(["BADUSDT_1h.csv:41"], data, {"data": {"bars": broken}})

    # Devices.
    trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.join(folder, "none.so")
    bad(["[training] device", "cartpole", "cpu"], {"training": {"device": "cuda"}})
    bad(["none.so"], data, {"training": {"device": "cuda"}})
    config(os.path.join(folder, "auto.ini"), SHORT, data, {"training": {"device": "auto", "name": "auto"}})
    ran = trainer.run("train", "--config", "auto.ini")
    warnings = events(lines(ran.stdout), "warning")
    check(ran.returncode == 0 and len(warnings) == 1 and "none.so" in warnings[0]["message"] and "CPU" in ran.stderr,
          f"auto: {ran.stderr}")

    # Folders.
    with open(os.path.join(folder, "file"), "w"):
        pass
    bad(["output", "file"], more=("--output", os.path.join("file", "x")))
    bad(["event files", "file"], {"training": {"tensorboard": "file/x"}})

    # What it cannot continue from.
    config(os.path.join(folder, "good.ini"), SHORT)
    check(trainer.run("train", "--config", "good.ini").returncode == 0, "a good one")
    kept = os.path.join("out", "small-2560.ckpt")
    for section, key, value, before in (("ppo", "copies", "8", "4"), ("network", "policy_layers", "8", "16,16"),
                                        ("training", "seed", "6", "5"), ("training", "world", "pendulum", "cartpole"),
                                        ("training", "name", "other", "small"), ("ppo", "gamma", "0.9", "0.99")):
        bad([kept, f"[{section}] {key}", value, before], {section: {key: value}}, more=("--resume", kept))
    bad(["none.ckpt"], more=("--resume", "none.ckpt"))
    bad(["no checkpoint", "bad.ini"], more=("--resume", "bad.ini"))
    bad(["no checkpoint", "empty"], more=("--resume", "latest", "--output", "empty"))
    # The same words, but other features, or other bars.
    def with_set(text):
        with open(os.path.join(folder, "set.txt"), "w") as file:
            file.write(f"set test\n{text}\n")

    named = {**data, "training": {"world": None, "name": "shapes"}, "data": {"bars": bars[0], "features": "set.txt"}}
    config(os.path.join(folder, "shapes.ini"), SHORT, named)
    with_set("close /close-1\nrsi:7 /100")
    check(trainer.run("train", "--config", "shapes.ini").returncode == 0, "shapes: the first run")
    with_set("close /close-1")
    bad(["shapes-2560.ckpt", "normaliser", "bytes", "right"], named, more=("--resume", "latest"))
    with_set("close /close-1\nrsi:7 raw")
    bad(["shapes-2560.ckpt", "market"], named, more=("--resume", "latest"))
    with_set("close /close-1\nrsi:7 /100")
    write_market(folder, names=("CCCUSDT", "AAAUSDT")) # another walk
    bad(["shapes-2560.ckpt", "market"], named, more=("--resume", "latest"))
    write_market(folder)

    whole = read(folder, kept)
    for name, data_of, word in (("cut", whole[:-1], "truncated"), ("empty.ckpt", b"", "truncated"),
                                ("bit", whole[:999] + bytes([whole[999] ^ 1]) + whole[1000:], "altered"),
                                ("version", whole[:8] + b"\2" + whole[9:], "version 2")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data_of)
        bad([name, word], more=("--resume", name))


# ---- What happens on the way.


def test_not_finite(trainer, folder):
    """Losses that are no numbers end it, and the last good checkpoint is named."""
    changes = {"training": {"world": "pendulum", "total_steps": 256000, "checkpoint_every": 1},
               "network": {"activation": "relu", "value_layers": "64,64,64,64,64,64,64,64"},
               "ppo": {"learning_rate": 10, "max_grad_norm": 0, "normalise_rewards": "false", "bad_updates": 2}}
    config(os.path.join(folder, "nan.ini"), changes, {"training": {"name": "nan"}})
    ran = trainer.run("train", "--config", "nan.ini")
    seen = lines(ran.stdout)
    kept = events(seen, "checkpoint")
    last = kept[-1]["path"] if kept else "none"
    check(ran.returncode == 1 and ran.stderr.count("\n") == 1, f"not finite: {ran.returncode} {ran.stderr}")
    check("not finite" in ran.stderr and f"the last good checkpoint: {last}" in ran.stderr, f"not finite: {ran.stderr}")
    check(seen[-1]["event"] == "end" and seen[-1]["result"] == "failed" and seen[-1]["cause"] == events(seen, "error")[0]["cause"] == "nan",
          "not finite: its end")
    check(events(seen, "error")[0]["message"] in ran.stderr, "not finite: its event")
    check(last == "none" or os.path.exists(os.path.join(folder, last)), "not finite: the checkpoint is there")


def test_full(trainer, folder):
    """The disk is full from some moment on: warnings, the older checkpoint stays, and exit 1 at the end."""
    config(os.path.join(folder, "full.ini"), SHORT, {"training": {"name": "full"}})
    check(trainer.run("train", "--config", "full.ini").returncode == 0, "full: the first part")
    out = os.path.join(folder, "out")
    kept, policy = read(out, "full-2560.ckpt"), read(out, "full.safetensors")
    config(os.path.join(folder, "full.ini"), SHORT, {"training": {"name": "full", "total_steps": 5120, "checkpoint_every": 5}})

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    ran = trainer.run("train", "--config", "full.ini", "--resume", "latest", preexec_fn=limit)
    seen = lines(ran.stdout)
    warnings = [line["message"] for line in events(seen, "warning")]
    check(ran.returncode == 1, f"full: exit {ran.returncode}")
    check(len(events(seen, "update")) == 10, "full: the training continues")
    check(len(warnings) == 2 and "full-" in warnings[0] and "full.safetensors" in warnings[1], f"full: {warnings}")
    check("full-2560.ckpt" in ran.stderr.splitlines()[-1] and seen[-1]["checkpoint"].endswith("full-2560.ckpt"), f"full: {ran.stderr}")
    check(read(out, "full-2560.ckpt") == kept and read(out, "full.safetensors") == policy, "full: what was there")
    check(sorted(name for name in os.listdir(out) if name.startswith("full")) == ["full-2560.ckpt", "full.safetensors"], "full: no more")
    ran = trainer.run("train", "--config", "full.ini", "--resume", "latest")
    check(ran.returncode == 0 and os.path.exists(os.path.join(out, "full-5120.ckpt")), "full: with room again")


def test_full_stdout(trainer, folder):
    """There is room for checkpoints, but no more for lines: it trains to the end, and the lines that are there are whole."""
    config(os.path.join(folder, "lines.ini"), SHORT, {"training": {"name": "lines", "total_steps": 51200}})

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    with open(os.path.join(folder, "lines.jsonl"), "w") as file:
        ran = subprocess.run([trainer.program, "train", "--config", "lines.ini"], stdout=file, stderr=subprocess.PIPE, text=True,
                             cwd=folder, env=trainer.environment, preexec_fn=limit, timeout=300)
    check(ran.returncode == 1 and ran.stderr.count("\n") == 2 and "stdout" in ran.stderr and "51200" in ran.stderr, ran.stderr)
    with open(os.path.join(folder, "lines.jsonl")) as file:
        text = file.read()
    check(len(text) == 100000, f"lines: {len(text)} bytes")
    check(len(lines(text[:text.rindex("\n")])) > 50 and os.path.exists(os.path.join(folder, "out", "lines-51200.ckpt")), "lines: whole")


def test_reader(trainer, folder):
    """A reader that goes away ends it in order: what was learnt is kept."""
    config(os.path.join(folder, "pipe.ini"), SHORT, {"training": {"name": "pipe", "total_steps": 51200}})
    process = trainer.start("train", "--config", "pipe.ini")
    while '"update"' not in process.stdout.readline():
        pass
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    check(process.wait() == 1 and "stdout" in error and "pipe-" in error and error.count("\n") == 1, f"pipe: {error}")
    check(glob.glob(os.path.join(folder, "out", "pipe-*.ckpt")) != [], "pipe: its checkpoint")


def on_terminal(trainer, *arguments, columns=0, stderr=None):
    """All that it writes to a terminal, and its exit status."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 25, columns, 0, 0))
        if stderr:
            os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT, 0o644), 2)
        os.chdir(trainer.folder)
        os.execve(trainer.program, [trainer.program, *arguments], trainer.environment)
    text = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            more = b""
        if not more:
            break
        text += more
    os.close(terminal)
    return text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_terminal(trainer, folder):
    config(os.path.join(folder, "bar.ini"), SHORT, {"training": {"name": "bar"}})
    text, status = on_terminal(trainer, "train", "--config", "bar.ini")
    check(status == 0 and "{" not in text and "bar [" in text and "steps/s" in text, f"bar: {status} {text!r}")
    last = text.replace("\x1b[K", "\r").split("\r")[-3:]
    check("bar: done after 2560 steps" in text and "out/bar.safetensors" in text, f"bar: {last}")
    for columns in (40, 66, 0, 200):
        text, status = on_terminal(trainer, "train", "--config", "bar.ini", "--overwrite", columns=columns)
        drawn = [part.split("\n")[0] for part in text.replace("\x1b[K", "").split("\r") if part.startswith("bar [")]
        check(status == 0 and drawn and all(20 < len(part) < (columns or 80) for part in drawn), f"bar of {columns}: {drawn}")
    text, status = on_terminal(trainer, "train", "--config", "bar.ini", "--overwrite", stderr=os.path.join(folder, "stderr.txt"))
    seen = lines(text.replace("\r", ""))
    check(status == 0 and seen[-1]["event"] == "end" and read(folder, "stderr.txt") == b"", "no bar: the lines")
    text, status = on_terminal(trainer, "train", "--config", "bar.ini", "--json", "--overwrite")
    seen = lines(text.replace("\r", ""))
    check(status == 0 and seen[-1]["event"] == "end" and len(events(seen, "update")) == 10, "bar: --json")


def test_plan(trainer, folder):
    config(os.path.join(folder, "plan.ini"), SHORT)
    ran = trainer.run("plan", "--config", "plan.ini", "--json")
    plan = json.loads(ran.stdout)
    check(ran.returncode == 0 and plan.pop("schema") == "papertape.plan/1", f"plan: {ran.stderr}")
    check(plan.pop("warning") is None, f"plan: {plan}")
    shape("plan", plan, PLAN)
    check(plan["iterations"] == 10 and plan["rollout_rows"] == 256 and plan["total_steps"] == 2560, f"plan: {plan}")
    # 4 inputs, 16, 16, 2 logits; 4, 16, 1: products of a row, each twice, and a row of an epoch has three but the first's.
    pi, vf = (4 * 16, 16 * 16, 16 * 2), (4 * 16, 16 * 1)
    check(plan["rollout_flop"] == 256 * 2 * (sum(pi) + sum(vf)), f"plan: {plan['rollout_flop']}")
    check(plan["update_flop"] == 512 * 2 * (3 * (sum(pi) + sum(vf)) - pi[0] - vf[0]), f"plan: {plan['update_flop']}")
    check(0 < plan["measuring_seconds"] < 60 and plan["seconds"] > 0 and plan["host_bytes"] > 4 * 3 * 400, f"plan: {plan}")
    check(0 < plan["environment_seconds"] <= plan["rollout_seconds"], f"plan: {plan}")
    check(not os.path.exists(os.path.join(folder, "state")), "plan: it writes nothing")
    text = trainer.run("plan", "--config", "plan.ini").stdout
    check("steps/s" in text and "update" in text and "memory" in text, f"plan: {text}")
    check("CPU: the world cartpole" in text and "float32" in text and "bf16" in text, f"plan: {text}")
    bars = write_market(folder)
    trainer.environment["PAPERTAPE_GPU_MODULE"] = os.path.join(folder, "none.so")
    for device, word in (("auto", "none.so"), ("cpu", "device = cpu")):
        config(os.path.join(folder, "plan.ini"), MARKET, {"training": {"device": device}, "data": {"bars": bars[0]}})
        plan = json.loads(trainer.run("plan", "--config", "plan.ini", "--json").stdout)
        check("CPU" in plan["note"] and word in plan["note"] and plan["precision"] == "float32", f"plan {device}: {plan}")
        check(word in trainer.run("plan", "--config", "plan.ini").stdout, f"plan {device}: its text")


def test_gaps(trainer, folder):
    """Missing bars are reported, a symbol a line, and stay missing."""
    bars = write_market(folder)
    for path, holes in zip(bars, ((), range(100, 107))):
        with open(path) as file:
            rows = file.read().split("\n")
        with open(path, "w") as file:
            file.write("\n".join(row for index, row in enumerate(rows) if index not in holes))
    config(os.path.join(folder, "gaps.ini"), MARKET, {"training": {"name": "gaps"}, "data": {"bars": ",".join(bars)}})
    ran = trainer.run("train", "--config", "gaps.ini")
    warnings = [line["message"] for line in events(lines(ran.stdout), "warning")]
    check(ran.returncode == 0 and len(warnings) == 1 and warnings[0].startswith("BBBUSDT: 7 "), f"gaps: {warnings} {ran.stderr}")
    check(ran.stderr == f"papertape-trainer: {warnings[0]}\n", f"gaps: {ran.stderr}")
    with open(bars[1], "w") as file: # a year later
        file.write("timestamp,open,high,low,close,volume\n" + "".join(f"{1735689600 + 3600 * i},1,1,1,1,1\n" for i in range(50)))
    refused(trainer, ["AAAUSDT and BBBUSDT", "same time"], "train", "--config", "gaps.ini", "--overwrite")
    with open(bars[1], "w") as file:
        file.write("timestamp,open,high,low,close,volume\n" + "".join(f"{1735689600 + 300 * i},1,1,1,1,1\n" for i in range(50)))
    ran = refused(trainer, ["intervals differ", "5m", "1h"], "train", "--config", "gaps.ini", "--overwrite")
    check("--interval" not in ran.stderr, f"gaps: {ran.stderr}")


def test_sources(trainer, folder, papertape):
    """Bars of files and of a state's database are the same bars; so is a day trade's, and one of levels, a training."""
    bars = write_market(folder)
    saved = subprocess.run([papertape, "backtest", "--strategy", "buy-and-hold", "--bars", ",".join(bars), "--save", "saved"],
                           cwd=folder, capture_output=True, text=True, env=trainer.environment)
    check(saved.returncode == 0, f"backtest --save: {saved.stderr}")
    sources = {"files": {"bars": ",".join(bars)}, "state": {"state": "saved", "symbols": "AAAUSDT, BBBUSDT", "interval": "1h"}}
    seen = {}
    for name, data in sources.items():
        config(os.path.join(folder, f"{name}.ini"), MARKET, {"training": {"name": name}, "data": {**data, "test_from": "2024-02-01"}})
        ran = trainer.run("train", "--config", f"{name}.ini")
        check(ran.returncode == 0 and ran.stderr == "", f"{name}: {ran.stderr}")
        seen[name] = lines(ran.stdout)
    check(len(figures(seen["files"])) == 10 and figures(seen["files"]) == figures(seen["state"]), "files and state: the same figures")
    check(seen["files"][-1]["evaluation"] == seen["state"][-1]["evaluation"], "files and state: the same evaluation")
    for name, environment, data in (("levels", {"actions": "discrete", "levels": 5}, sources["state"]),
                                    ("day", {"preset": "day-trade"}, {"bars": bars[0], "features": "market14"})):
        config(os.path.join(folder, f"{name}.ini"), MARKET, {"training": {"name": name}, "environment": environment,
                                                            "data": {**data, "test_from": "2024-02-01"}})
        ran = trainer.run("train", "--config", f"{name}.ini")
        warned = ran.stderr.count("\n") == 1 and "evaluated, and not backtested" in ran.stderr if name == "day" else ran.stderr == ""
        check(ran.returncode == 0 and warned, f"{name}: {ran.stderr}")
        start, tested = events(lines(ran.stdout), "start")[0], events(lines(ran.stdout), "evaluation")
        check((start["actions"], start["levels"]) == ((2, 5) if name == "levels" else (2, 0)), f"{name}: {start['actions']}")
        shape(name, tested[-1], {**TESTED, "steps": WHOLE, "schema": TEXT, "event": TEXT, "seconds_since_start": NUMBER})


def main(program, example, papertape):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        for test in (test_refused, test_not_finite, test_full, test_full_stdout, test_reader, test_terminal, test_plan, test_gaps):
            test(trainer, folder)
            shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
        test_lines(trainer, folder, example)
        test_documented()
        test_sources(trainer, folder, os.path.abspath(papertape))
    done("trainer/program/input")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main(*sys.argv[1:4])
