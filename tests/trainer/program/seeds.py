#!/usr/bin/env python3
"""`papertape-trainer train --seeds N`: each seed's training is the one that has that seed alone, and the result of all is
computed again from theirs.
usage: seeds.py PAPERTAPE-TRAINER"""
import os
import statistics
import sys
import tempfile

from program import Trainer, check, config, done, events, lines, read, write_market

N, FIRST = 3, 7
MARKET = {"training": {"world": "market", "name": "many", "total_steps": 3072, "seed": FIRST, "evaluate_every": 1},
          "environment": {"lookback": 2, "norm_action": 2, "episode_bars": 40}, "data": {"features": ""}}


def test_result(trainer, folder, data):
    config(os.path.join(folder, "many.ini"), MARKET, data)
    ran = trainer.run("train", "--config", "many.ini", "--seeds", str(N))
    check(ran.returncode == 0, f"--seeds: {ran.stderr}")
    seen = lines(ran.stdout)
    ends, end = events(seen, "seed"), seen[-1]
    check([one["seed"] for one in ends] == [FIRST + i for i in range(N)], f"seeds: {[one['seed'] for one in ends]}")
    check(end["event"] == "end" and end["result"] == "done" and sum(line["event"] == "end" for line in seen) == 1, f"end: {end}")
    judged, before = [], []
    for line in seen:
        if line["event"] == "evaluation" and line["range"] == "validation":
            before.append(line["return"])
        elif line["event"] == "seed":
            judged.append(before)
            before = []
    for one, whole, validations in zip(ends, end["seeds"], judged):
        tested = one["evaluation"]
        check(whole["seed"] == one["seed"] and whole["verdict"] == one["verdict"] is not None, f"{whole}")
        check((whole["return"], whole["benchmark_return"]) == (tested["return"], tested["benchmark_return"]), f"{whole}")
        check((whole["steps"], whole["kept_steps"]) == (one["steps"], one["kept_steps"]), f"{whole}")
        check(abs(max(validations) - whole["validation_return"]) < 1e-9, f"{whole}, of {validations}")
    returns = [one["return"] for one in end["seeds"]]
    for key, right in (("return_median", statistics.median(returns)), ("return_low", min(returns)), ("return_high", max(returns))):
        check(abs(end[key] - right) < 1e-12, f"{key}: {end[key]}, not {right}")
    best = max(end["seeds"], key=lambda one: one["validation_return"])
    check(end["best_seed"] == best["seed"], f"best: {end['best_seed']}, not {best}")
    check(end["verdict"] in {one["verdict"] for one in end["seeds"]} | {"within_luck"} and end["verdict_figures"]["seeds"] == N, f"{end}")
    return end


def test_alone(trainer, folder, data, end):
    """The same files as of a training of that seed alone; the best one's networks are the whole's."""
    out = os.path.join(folder, "out")
    for i in range(N):
        name = f"many-s{FIRST + i}"
        many = read(out, f"{name}.safetensors")
        config(os.path.join(folder, "one.ini"), MARKET, data, {"training": {"name": name, "seed": FIRST + i}})
        ran = trainer.run("train", "--config", "one.ini", "--overwrite")
        check(ran.returncode == 0 and read(out, f"{name}.safetensors") == many, f"{name}: another policy alone {ran.stderr}")
    best, whole = read(out, f"many-s{end['best_seed']}.safetensors"), read(out, "many.safetensors")
    tensors = [blob[8 + int.from_bytes(blob[:8], "little"):] for blob in (best, whole)]
    check(tensors[0] == tensors[1] and len(tensors[0]) > 1000, "the best policy is the whole's")


def test_world(trainer, folder):
    """A built-in world has neither returns nor a verdict."""
    config(os.path.join(folder, "pole.ini"), {"training": {"world": "cartpole", "name": "pole", "total_steps": 2560}})
    ran = trainer.run("train", "--config", "pole.ini", "--seeds", "2")
    end = lines(ran.stdout)[-1]
    check(ran.returncode == 0 and end["result"] == "done" and end["best_seed"] == end["seeds"][0]["seed"], f"cartpole: {ran.stderr} {end}")
    check(all(end[key] is None for key in ("return_median", "return_low", "return_high", "verdict")), f"cartpole: {end}")


def test_failed(trainer, folder):
    """A seed whose losses are no numbers is no result, and its policy is not kept; the rest does not run."""
    config(os.path.join(folder, "bad.ini"),
           {"training": {"world": "pendulum", "name": "bad", "total_steps": 256000, "checkpoint_every": 1},
            "network": {"activation": "relu", "value_layers": "64,64,64,64,64,64,64,64"},
            "ppo": {"learning_rate": 10, "max_grad_norm": 0, "normalise_rewards": "false", "bad_updates": 2}})
    ran = trainer.run("train", "--config", "bad.ini", "--seeds", "2")
    seen = lines(ran.stdout)
    check(ran.returncode == 1 and seen[-1]["event"] == "end" and seen[-1]["result"] == "failed", f"bad: {ran.returncode} {seen[-1]}")
    check([one["cause"] for one in events(seen, "seed")] == ["nan"], f"bad: {events(seen, 'seed')}")
    check(seen[-1].get("seeds") == [] and seen[-1].get("best_seed", 0) is None, f"bad: {seen[-1]}")
    check(not os.path.exists(os.path.join(folder, "out", "bad.safetensors")), "bad: no policy of a seed that failed")


def test_refused(trainer, folder):
    for words, said in ((("--seeds", "1"), "2"), (("--seeds", "x"), "--seeds"), (("--seeds", "3", "--resume", "latest"), "--resume")):
        ran = trainer.run("train", "--config", "many.ini", *words)
        check(ran.returncode == 2 and said in ran.stderr and ran.stderr.count("\n") == 1, f"{words}: {ran.returncode} {ran.stderr}")
    ran = trainer.run("train", "--config", "many.ini", "--seeds", "2")
    check(ran.returncode == 1 and "--overwrite" in ran.stderr, f"what is there: {ran.stderr}")
    check(lines(ran.stdout)[-1]["event"] == "end" and lines(ran.stdout)[-1]["result"] == "failed", f"{ran.stdout[-300:]}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        data = {"data": {"bars": write_market(folder)[0]}}
        test_alone(trainer, folder, data, test_result(trainer, folder, data))
        test_world(trainer, folder)
        test_failed(trainer, folder)
        test_refused(trainer, folder)
    done("trainer/program/seeds")


if __name__ == "__main__":
    main(*sys.argv[1:])
